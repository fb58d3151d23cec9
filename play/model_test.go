package play

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemu/fuzz"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/record"
)

// states is the states of the engine during a launch.
type states struct {
	Values  [][]string `json:"values"` // values of a register in the lanes of a warp split, the lowest first, in hexadecimal; one value if all are equal
	Moments []moment   `json:"moments"`
	index   map[string]int
}

// moment is the state of a warp before an instruction, as the engine has it.
type moment struct {
	CTA    int     `json:"cta"`
	Warp   int     `json:"warp"`
	Step   int     `json:"step"` // number of instructions of the warp before
	Splits []split `json:"splits"`
	Points []point `json:"points"` // of the reconvergence stack
}

// split is a warp split at a moment.
type split struct {
	Lanes       string         `json:"lanes"` // bit i is lane i; in hexadecimal
	Running     bool           `json:"running"`
	Instruction int            `json:"instruction"` // index in the program, -1 at the end of a function
	Function    string         `json:"function"`
	Registers   map[string]int `json:"registers"` // live registers of the function: their place in the values of states
}

// point is a reconvergence point with the lanes that wait there.
type point struct {
	Arrived     string `json:"arrived"`     // bit i is lane i; in hexadecimal
	Instruction int    `json:"instruction"` // index in the program, -1 at the end of a function
}

// pauser pauses a launch before every instruction, and counts the instructions of each warp.
type pauser struct {
	at    *probe.Event
	steps map[[2]int]int
}

func (*pauser) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore | probe.OnAfter, InOrder: true}
}
func (p *pauser) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }
func (p *pauser) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnBefore:
		p.at = &probe.Event{CTA: e.CTA, Warp: e.Warp}
		e.Pause()
	case probe.OnAfter:
		if e.Step >= 0 || !e.Instr.EndsBlock() { // the exit of lanes by a branch is no step
			p.steps[[2]int{e.CTA, e.Warp}]++
		}
	}
}

// TestModelStates writes recordings of random kernels, and the states of the engine during the same launches, for the test of the
// page's model in web/test/engine.test.ts. It writes N.gemu and N.json to the directory that GEMU_STATES names, and without it tries
// one kernel. GEMU_KERNELS is the number of kernels.
func TestModelStates(t *testing.T) {
	dir, kernels := os.Getenv("GEMU_STATES"), 1
	if dir == "" {
		dir = t.TempDir()
	} else if n, err := strconv.Atoi(os.Getenv("GEMU_KERNELS")); err != nil {
		t.Fatalf("GEMU_KERNELS: %v", err)
	} else {
		kernels = n
	}
	features, err := fuzz.ParseFeatures("all")
	if err != nil {
		t.Fatal(err)
	}
	policies := append(interp.Reconvergers(), interp.ReconvergerNamed("its:1"), interp.ReconvergerNamed("its:8"))
	moments := 0
	for seed := range kernels {
		g, err := fuzz.New(fuzz.Options{Features: features, Version: ptx.Version{Major: 8, Minor: 0}, SM: 80, Grid: 2, Block: ptx.Dim(36), Length: 8})
		if err != nil {
			t.Fatal(err)
		}
		file, states := statesOf(t, g.Program(uint64(seed)), policies[seed%len(policies)])
		text, err := json.Marshal(states)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"gemu": file, "json": text} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.%s", seed, name)), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		moments += len(states.Moments)
	}
	if moments < kernels {
		t.Errorf("%d moments of %d kernels", moments, kernels)
	}
	t.Logf("%d moments of %d kernels", moments, kernels)
}

// statesOf runs a program, and returns its recording and the state of the engine before each instruction.
func statesOf(t *testing.T, p *fuzz.Program, policy *interp.Reconverger) (recording []byte, all *states) {
	t.Helper()
	var file bytes.Buffer
	r, err := record.NewRecorder(&file, record.Options{Contents: record.Contents{Results: true, Accesses: true, Memory: true, Stack: true, Source: true}})
	if err != nil {
		t.Fatal(err)
	}
	all = &states{index: map[string]int{}}
	pauses := &pauser{steps: map[[2]int]int{}}
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r, pauses}})
	m, err := dev.Load("k.ptx", []byte(p.Source))
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.NewBuffer(dev, p.Input)
	if err != nil {
		t.Fatal(err)
	}
	out, err := interp.NewBuffer(dev, make([]byte, p.OutBytes))
	if err != nil {
		t.Fatal(err)
	}
	l := &interp.Launch{Kernel: fuzz.Kernel, Grid: p.Grid, Block: p.Block, Args: []any{in, out, fuzz.ArgN, fuzz.ArgM}, Reconverge: policy, Mode: interp.Vector}
	e, err := m.Start(l)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for {
		pauses.at = nil
		ended, err := e.Continue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			break
		}
		if at := pauses.at; at != nil {
			all.Moments = append(all.Moments, all.momentOf(t, e, at.CTA, at.Warp, pauses.steps[[2]int{at.CTA, at.Warp}]))
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), all
}

// momentOf returns the state of a warp of a paused launch.
func (all *states) momentOf(t *testing.T, e *interp.Execution, cta, warp, step int) moment {
	t.Helper()
	splits, err := e.WarpSplits()
	if err != nil {
		t.Fatal(err)
	}
	m := moment{CTA: cta, Warp: warp, Step: step}
	for i := range splits {
		s := &splits[i]
		if s.CTA != cta || s.Warp != warp {
			continue
		}
		x := split{Lanes: fmt.Sprintf("%x", s.Lanes), Running: s.Running, Instruction: s.Index, Function: s.Func.Name, Registers: map[string]int{}}
		var results []ptx.RegID // their rows may still have other registers
		if s.Instr != nil {
			results = slices.Collect(s.Instr.Defs())
		}
		for r := range s.Func.Regs {
			v, ok := s.Read(ptx.RegID(r))
			if !ok || len(v.High) > 0 || slices.Contains(results, ptx.RegID(r)) {
				continue
			}
			x.Registers[s.Func.Regs[r].Name] = all.place(s.Lanes, v.Low)
		}
		m.Splits = append(m.Splits, x)
	}
	stack, err := e.Stack(cta, warp)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stack {
		if s.Kind == probe.ReconvergencePoint {
			m.Points = append(m.Points, point{fmt.Sprintf("%x", s.Arrived), s.Index})
		}
	}
	return m
}

// place returns the place of the values of lanes in the list of all values, to which it adds them if they are new.
func (all *states) place(lanes uint64, values []uint64) int {
	var list []uint64
	for lane, v := range values {
		if lanes>>lane&1 == 1 {
			list = append(list, v)
		}
	}
	if !slices.ContainsFunc(list, func(v uint64) bool { return v != list[0] }) {
		list = list[:1]
	}
	var texts []byte
	for _, v := range list {
		texts = append(strconv.AppendUint(texts, v, 16), ' ')
	}
	i, ok := all.index[string(texts)]
	if !ok {
		i = len(all.Values)
		all.index[string(texts)] = i
		all.Values = append(all.Values, strings.Fields(string(texts)))
	}
	return i
}

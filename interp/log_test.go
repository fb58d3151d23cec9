package interp_test

// This file compares commit logs: of each program under each policy in every mode, on any number of
// the host's cores and on the oracle, byte by byte; and between policies, by thread.

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/oracle"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	tracelog "gemu/trace"
)

// logged runs a program and returns its log; prepare is called with its launches.
func logged(t *testing.T, p *corpus.Program, f tracelog.Format, prepare func(m *interp.Module, l *interp.Launch)) ([]byte, *corpus.Outcome) {
	t.Helper()
	var b bytes.Buffer
	w, err := tracelog.NewWriter(&b, f, &tracelog.Header{Version: tracelog.Version})
	if err != nil {
		t.Fatal(err)
	}
	r := tracelog.NewRecorder(w, tracelog.Filter{})
	o := p.RunModule(func(m *interp.Module, l *interp.Launch) {
		l.Probes = append(l.Probes, r)
		prepare(m, l)
	})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), o
}

// bytesSource returns a source of a log in memory.
func bytesSource(name string, b []byte) tracelog.Source {
	return tracelog.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// sameLog reports the first difference between logs that must be equal in every byte.
func sameLog(t *testing.T, name string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	d, _, err := tracelog.Compare(bytesSource("first", want), bytesSource("second", got), tracelog.Options{})
	if d != nil || err != nil {
		t.Errorf("%s: %v\n%v", name, err, d)
		return
	}
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("%s: line %d\nfirst:  %.400s\nsecond: %.400s", name, i+1, a[i], b[i])
			return
		}
	}
	t.Errorf("%s: %d and %d lines", name, len(a), len(b))
}

// logPrograms returns a share of the programs, selected by the seed.
func logPrograms(t *testing.T, share uint64, widths ...int) (list []*corpus.Program) {
	t.Helper()
	seed := part.Seed(t)
	for i, p := range programs(t, widths...) {
		if strings.HasPrefix(p.File, "@") && !part.TryAll() || p.Name == "rotate" || slices.Contains(endless, p.Name) {
			continue
		}
		if (uint64(i)+seed)%share == 0 {
			list = append(list, p)
		}
	}
	return list
}

// TestLogDoesNotDependOnMode: the log of a program under a policy is the same in every mode, and on every engine.
func TestLogDoesNotDependOnMode(t *testing.T) {
	for i, p := range logPrograms(t, uint64(part.Count(120, 40, 1)), 32, 8, 64) {
		policy := interp.Policies()[i%len(interp.Policies())]
		t.Run(p.String()+" "+policy.Name(), func(t *testing.T) {
			t.Parallel()
			run := func(mode interp.Mode, b interp.Engine) []byte {
				log, _ := logged(t, p, tracelog.Text, func(_ *interp.Module, l *interp.Launch) {
					l.Mode, l.Engine, l.Reconverge, l.CompileEagerly, l.MaxSteps = mode, b, policy, mode != interp.Vector, 1<<16
				})
				return log
			}
			want := run(interp.Vector, interp.Portable)
			sameLog(t, "check", run(interp.Check, interp.Portable), want)
			sameLog(t, "affine", run(interp.Affine, interp.Portable), want)
			if other := []interp.Mode{interp.Vector, interp.Affine, interp.Check}[i%3]; interp.Native.Available() {
				sameLog(t, other.String()+" as machine code", run(other, interp.Native), want)
			}
		})
	}
}

// TestLogOfThreadsUnderPolicies: each thread executes the same under every policy, in programs that do not observe the
// order of threads.
func TestLogOfThreadsUnderPolicies(t *testing.T) {
	for _, p := range logPrograms(t, uint64(part.Count(120, 50, 1)), 32, 8) {
		if observesOrder(p) || looking.MatchString(p.File) || slices.Contains(races, p.Name) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			var first []byte
			for _, policy := range interp.Policies() {
				b, o := logged(t, p, tracelog.Bare, func(_ *interp.Module, l *interp.Launch) { l.Mode, l.Reconverge = interp.Vector, policy })
				switch {
				case o.Err != nil:
					continue // lanes cannot wait for other lanes under this policy
				case first == nil:
					first = b
					continue
				}
				d, _, err := tracelog.Compare(bytesSource("first", first), bytesSource(policy.Name(), b), tracelog.Options{})
				if d != nil || err != nil {
					t.Errorf("%s: %v\n%v", policy.Name(), err, d)
				}
			}
		})
	}
}

// oracleLog has the steps of the threads on the oracle, launch by launch.
type oracleLog []map[[2]int][]*oracle.Step

// TestLogWithValuesOfOracle: the log of a program stays the same in every byte if its values, addresses and stores are
// replaced by the oracle's. The policy alone decides which lanes execute together.
func TestLogWithValuesOfOracle(t *testing.T) {
	for i, p := range logPrograms(t, uint64(part.Count(100, 30, 1)), 32, 8) {
		if observesOrder(p) || looking.MatchString(p.File) {
			continue
		}
		policy := interp.Policies()[i%len(interp.Policies())]
		t.Run(p.String()+" "+policy.Name(), func(t *testing.T) {
			t.Parallel()
			var log oracleLog
			got, o := logged(t, p, tracelog.Text, func(m *interp.Module, l *interp.Launch) {
				l.Mode, l.Reconverge, l.MaxSteps = interp.Vector, policy, 1<<16
				l.Progress = func(func() (int64, int64)) func() {
					steps := map[[2]int][]*oracle.Step{}
					log = append(log, steps)
					twin, err := interp.NewTwin(m)
					if err == nil {
						_, err = twin.Run(t.Context(), l, oracle.Lockstep, func(s *oracle.Step) {
							key := [2]int{s.Cta, s.Thread}
							steps[key] = append(steps[key], s)
						})
					}
					if err != nil {
						t.Skip(err)
					}
					return func() {}
				}
			})
			if o.Err != nil {
				t.Skip(o.Err)
			}
			want, err := log.rewrite(got)
			if err != nil {
				t.Fatal(err)
			}
			sameLog(t, "engine", got, want)
		})
	}
}

// rewrite returns a log of the engine with the oracle's values, addresses and stores.
func (o oracleLog) rewrite(log []byte) ([]byte, error) {
	r, err := tracelog.NewReader("engine", bytes.NewReader(log))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := tracelog.NewWriter(&b, tracelog.Text, &r.Header)
	if err != nil {
		return nil, err
	}
	var launch *tracelog.Launch
	code := map[uint64]*tracelog.Code{}
	late := map[[2]int][]oracle.Write{} // values of threads that the log has in a later record
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *tracelog.Launch:
			launch = e
			clear(code)
			clear(late)
		case *tracelog.Code:
			code[e.Index] = e
		case *tracelog.Record:
			if int(launch.Number) >= len(o) {
				return nil, fmt.Errorf("the oracle has no launch %d", launch.Number)
			}
			if err := rewriteRecord(o[launch.Number], late, launch, code[e.Code-1], e); err != nil {
				return nil, err
			}
		case *tracelog.Finish:
			err := w.Close()
			return b.Bytes(), err
		}
		if err := w.Write(e); err != nil {
			return nil, err
		}
	}
}

// rewriteRecord replaces the values of a record by the oracle's.
func rewriteRecord(steps map[[2]int][]*oracle.Step, late map[[2]int][]oracle.Write, l *tracelog.Launch, code *tracelog.Code, r *tracelog.Record) error {
	if r.Kind == tracelog.Effect || r.Kind == tracelog.Trap {
		return nil
	}
	var mine [64]*oracle.Step
	var writes [64][]oracle.Write
	for m := r.Active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		key := [2]int{int(r.CTA), int(r.Warp*l.WarpSize) + lane}
		for len(steps[key]) > 0 && steps[key][0].Instr == nil { // the end of a body
			late[key] = append(late[key], steps[key][0].Writes...)
			steps[key] = steps[key][1:]
		}
		if r.Kind != tracelog.Instruction {
			writes[lane], late[key] = late[key], nil
			continue
		}
		if len(steps[key]) == 0 {
			return fmt.Errorf("thread %v ends on the oracle before %s at line %d", key, code.Text, code.Line)
		}
		s := steps[key][0]
		steps[key] = steps[key][1:]
		if int(code.Line) != int(s.Instr.Pos.Line) || int(code.Column) != int(s.Instr.Pos.Col) || s.Skipped != (r.Lanes>>lane&1 == 0) {
			return fmt.Errorf("thread %v executes %s at %s on the oracle, skipped %v, not %s", key, s.Instr.Text, s.Instr.Pos, s.Skipped, code.Text)
		}
		mine[lane] = s
		if s.Instr.Form.Effects.Any(ptx.Calls | ptx.Barrier | ptx.Returns) {
			late[key] = s.Writes
		} else {
			writes[lane] = s.Writes
		}
	}
	for i := range r.Results {
		v := &r.Results[i]
		low, high := make([]uint64, 64), make([]uint64, 64)
		for m := r.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			found := false
			for _, w := range writes[lane] {
				if w.Func.Name == code.Func && w.Func.Regs[w.Reg].Name == v.Name {
					low[lane], high[lane], found = w.Low, w.High, true
				}
			}
			if !found {
				return fmt.Errorf("%s writes no %s on the oracle", code.Text, v.Name)
			}
		}
		if v.Bits <= 64 {
			high = nil
		}
		*v = tracelog.NewValue(v.Name, v.Bits, r.Lanes, low, high)
	}
	var used [64]int // accesses of each lane
	for i := range r.Accesses {
		a := &r.Accesses[i]
		lanes := a.Lanes
		if lanes == 0 {
			lanes = r.Lanes
		}
		addr := make([]uint64, 64)
		var given, compared [64][]byte
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if used[lane] == len(mine[lane].Accesses) {
				return fmt.Errorf("%s has %d accesses on the oracle", code.Text, used[lane])
			}
			at := mine[lane].Accesses[used[lane]]
			used[lane]++
			addr[lane] = at.Addr
			switch {
			case a.Space != "generic":
			case at.Space == ptx.Shared:
				addr[lane] += probe.SharedWindow
			case at.Space == ptx.Local:
				addr[lane] += probe.LocalWindow
			}
			if given[lane], compared[lane] = at.Stored, at.Compared; a.Kind == tracelog.Atomic {
				given[lane] = at.Operand
			}
		}
		a.Addr = tracelog.NewValue("", 64, lanes, addr, nil)
		if a.Kind == tracelog.Zero {
			n := make([]uint64, 64)
			for lane := range n {
				n[lane] = uint64(len(given[lane]))
			}
			a.Store[0] = tracelog.NewValue("", 64, lanes, n, nil)
			continue
		}
		rewriteElements(a.Store, lanes, &given)
		rewriteElements(a.Compare, lanes, &compared)
	}
	return nil
}

// rewriteElements replaces the bytes of elements by the oracle's, and omits elements that are not stored.
func rewriteElements(list []tracelog.Value, lanes uint64, data *[64][]byte) {
	for k := range list {
		if list[k].Structure == tracelog.NoValue {
			continue
		}
		low := make([]uint64, 64)
		for lane, b := range data {
			size := len(b) / len(list)
			for n, v := range b[k*size:][:size] {
				low[lane] |= uint64(v) << (8 * n)
			}
		}
		list[k] = tracelog.NewValue("", list[k].Bits, lanes, low, nil)
	}
}

// TestLogOfWarpgroup: the log has the result of a warpgroup's multiplication where its registers are written, and not
// where it is issued.
func TestLogOfWarpgroup(t *testing.T) {
	all := programs(t, 32)
	i := slices.IndexFunc(all, func(p *corpus.Program) bool { return p.File == "insn/wgmma.ptx" && !strings.Contains(p.Name, "trap") })
	b, o := logged(t, all[i], tracelog.Bare, func(_ *interp.Module, l *interp.Launch) { l.Mode = interp.Vector })
	if o.Err != nil || o.WrongResult != nil {
		t.Fatal(all[i], o.Err, o.WrongResult)
	}
	r, err := tracelog.NewReader("log", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	issued, computed := 0, 0
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		x, ok := e.(*tracelog.Record)
		switch {
		case !ok || !strings.HasPrefix(x.Name, "wgmma.mma_async"):
		case x.Kind == tracelog.Instruction:
			if issued++; len(x.Results) > 0 {
				t.Errorf("line %d has results as it is issued", x.Line)
			}
		case len(x.Results) > 0:
			if computed++; x.Lanes != 1<<32-1 || !strings.HasSuffix(x.Note, " writes") {
				t.Errorf("lanes %#x, %s", x.Lanes, x.Note)
			}
		}
	}
	if issued == 0 || issued != computed {
		t.Errorf("%s: %d are issued, %d have results", all[i], issued, computed)
	}
}

package interp

// This file runs the cases of testdata/insn, testdata/control and testdata/nvcc (see
// testdata/README.md) on every engine.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/cases"
	"gemu/internal/oracle"
	"gemu/internal/part"
	"gemu/probe"
	"gemu/ptx"
)

// engine is a way to run a launch.
type engine struct {
	name string
	run  func(m *Module, l *Launch) error

	reconverge *Reconverger // nil: the default
	early      bool         // asynchronous effects happen where they are issued
	seldom     int          // one of this number of cases runs on it, in one shape; 0 or 1: all, in all shapes
}

// engines returns all ways to run a kernel: on vectors, compact where it pays and wherever it is sound, both with comparison, in
// machine code, and on the oracle. The sample of .ci/run also has reconvergence policies and the statistics of every value
// policy; -short has three of them and the oracle.
func engines() []engine {
	few := part.Count(4, 3, 1) // engines that differ little from another one run a quarter of the cases, or a third
	list := []engine{
		inMode("vector", Launch{Mode: Vector}),
		inMode("affine", Launch{Mode: Affine}).seldomBy(few), inMode("affine eagerly", Launch{Mode: Affine, CompileEagerly: true}).seldomBy(few),
		inMode("affine counted", Launch{Mode: Affine, Structure: true}).seldomBy(3),
		inMode("check", Launch{Mode: Check}).seldomBy(3), inMode("check eagerly", Launch{Mode: Check, CompileEagerly: true}).seldomBy(part.Count(4, 2, 1)),
	}
	if Native.Available() {
		list = append(list, inMode("vector as machine code", Launch{Mode: Vector, Engine: Native}), inMode("affine as machine code", Launch{Mode: Affine, Engine: Native}).seldomBy(few),
			inMode("affine eagerly as machine code", Launch{Mode: Affine, CompileEagerly: true, Engine: Native}).seldomBy(3),
			inMode("check as machine code", Launch{Mode: Check, CompileEagerly: true, Engine: Native}).seldomBy(9))
	}
	if part.Short() {
		list = slices.DeleteFunc(list, func(e engine) bool {
			return !slices.Contains([]string{"vector", "check eagerly", "affine as machine code"}, e.name)
		})
	}
	if !part.TrySample() {
		return append(list, engine{name: "oracle", run: runOracle}.seldomBy(8))
	}
	for i, r := range Policies()[1:] {
		vectors := []engine{inMode("vector", Launch{Mode: Vector}).under(r)}
		if native := inMode("vector as machine code", Launch{Mode: Vector, Engine: Native}).under(r); Native.Available() && part.TryAll() {
			vectors = append(vectors, native)
		} else if Native.Available() && i%2 == 0 {
			vectors[0] = native
		}
		for _, vector := range vectors {
			if r.Properties().WaitsAtExit || !part.TryAll() { // the first differs from another policy where lanes end
				vector = vector.seldomBy(3)
			}
			list = append(list, vector)
		}
		list = append(list, inMode("check", Launch{Mode: Check, CompileEagerly: true}).under(r).seldomBy(3))
	}
	for _, p := range affinetrack.Policies {
		list = append(list, inMode("check "+p.Name, Launch{Mode: Check, Policy: p, Structure: true}).seldomBy(len(affinetrack.Policies)))
	}
	return append(list, engine{name: "oracle", run: runOracle})
}

// under returns the engine with a reconvergence policy.
func (e engine) under(r *Reconverger) engine {
	run := e.run
	return engine{e.name + " under " + r.Name(), func(m *Module, l *Launch) error {
		l.Reconverge = r
		return run(m, l)
	}, r, e.early, e.seldom}
}

// seldomBy returns the engine for one of n cases.
func (e engine) seldomBy(n int) engine {
	e.seldom = n
	return e
}

// earlyEngines returns engines that execute asynchronous effects when they are issued; none if the module has none.
func earlyEngines(m *ptx.Module) (list []engine) {
	if !asynchronous(m) {
		return nil
	}
	for _, launch := range []Launch{{Mode: Vector, EagerEffects: true}, {Mode: Check, CompileEagerly: true, EagerEffects: true}} {
		e := inMode(launch.Mode.String()+" early", launch).seldomBy(part.Count(2, 1, 1))
		e.early = true
		list = append(list, e)
	}
	return list
}

// asynchronous reports whether the module has asynchronous operations.
func asynchronous(m *ptx.Module) (any bool) {
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Func); ok {
			f.EachInstr(func(instr *ptx.Instr) { any = any || instr.Form.Effects.HasAll(ptx.Async) })
		}
	}
	return any
}

// inMode returns an engine that runs launches in a mode, with the settings of launch.
func inMode(name string, launch Launch) engine {
	return engine{name: name, run: func(m *Module, l *Launch) error {
		l.Mode, l.Policy, l.Structure, l.CompileEagerly, l.EagerEffects, l.Engine, l.SM = launch.Mode, launch.Policy, launch.Structure, launch.CompileEagerly, launch.EagerEffects, launch.Engine, launch.SM
		_, err := m.Run(context.Background(), l)
		return err
	}}
}

// TestConformance runs the cases of testdata: every case in vector mode, a quarter of the cases in check mode and in affine
// mode, and in a part of all widths and blocks; an eighth of the cases on the oracle. With GEMU_TEST=all it runs all of them in every mode
// and on the oracle. With -short it runs a third of the cases, each in one width and block.
func TestConformance(t *testing.T) {
	var files []string
	for _, dir := range []string{"insn", "control", "nvcc"} {
		list, err := filepath.Glob("../testdata/" + dir + "/*.ptx")
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			t.Errorf("no cases in testdata/%s", dir)
		}
		files = append(files, list...)
	}
	for number, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mod, err := ptx.Parse(filepath.Base(file), src)
			if err != nil {
				for _, e := range err.(ptx.ErrorList) {
					t.Errorf("%v\n%s", e, e.Snippet())
				}
				return
			}
			list, err := cases.Read(string(src))
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				t.Fatal("no cases")
			}
			loaded := loads(t, mod)
			for i, c := range list {
				if part.Short() && i%3 > 0 {
					continue
				}
				var machine error // the machine's error in this case
				for k, e := range append(engines(), earlyEngines(mod)...) {
					if e.reconverge != nil && strings.Contains(file, "/insn/") {
						continue // its cases are about single instructions
					}
					if e.seldom > 1 && (number+i+k)%e.seldom > 0 && !part.TryAll() { // many files have a single case
						continue
					}
					runCase(t, loaded, &c, e, &machine)
				}
			}
		})
	}
}

// loads returns a function that loads the module on a device of a compute capability. The device is new if the module has
// variables, which keep a kernel's stores, or for an oracle, which copies every allocation; otherwise all cases share it.
func loads(t *testing.T, m *ptx.Module) func(sm int, e engine) *Module {
	keeps := slices.ContainsFunc(m.Decls, func(d ptx.Decl) bool { _, ok := d.(*ptx.Var); return ok })
	loaded := map[int]*Module{}
	return func(sm int, e engine) *Module {
		mod := loaded[sm]
		if keeps || e.name == "oracle" || mod == nil {
			var err error
			if mod, err = NewDevice(Config{SM: sm}).LoadModule(m); err != nil {
				t.Fatal(err)
			}
			if e.name != "oracle" {
				loaded[sm] = mod
			}
		}
		return mod
	}
}

// runCase runs a case on an engine, in all its shapes. *machine is the machine's error, with which the oracle's must agree.
func runCase(t *testing.T, loaded func(sm int, e engine) *Module, c *cases.Case, e engine, machine *error) {
	if e.early && c.LateOnly || !e.early && c.EarlyOnly {
		return
	}
	policy := Reconvergers()[0]
	if e.reconverge != nil {
		policy = e.reconverge
	}
	if c.Policies != nil && (e.name != "oracle" && !slices.ContainsFunc(c.Policies, func(name string) bool { return name == policy.Name() || strings.HasPrefix(policy.Name(), name+":") }) || e.name == "oracle" && c.Trap != "") {
		return
	}
	var refused *LaunchError
	if e.name == "oracle" && errors.As(*machine, &refused) {
		return // only the machine decides about legal launches
	}
	for i, s := range c.Shapes(part.TryAll()) {
		if i > 0 && !part.TrySample() && (i+c.Line)%3 > 0 {
			continue
		}
		if i > 0 && (part.Short() || e.name == "oracle" && !part.TryAll() || e.reconverge != nil && s.Width != 64 || e.seldom > 1 && !part.TryAll()) {
			continue
		}
		name := fmt.Sprintf("line %d %s on %s, block %s, warp %d", c.Line, c.Kernel, e.name, s.Block, s.Width)
		err := tryCase(t, loaded(c.SM, e), c, e, s, name)
		var u *ptx.Unsupported
		if errors.As(err, &u) && s.Width != 32 && strings.Contains(u.Feature, "instead of 32") {
			continue
		}
		var missing *oracle.Unsupported
		if errors.As(err, &missing) && s.Width%32 != 0 && missing.Instr.Form.Class == ptx.ClassTensor {
			continue
		}
		var trap *oracle.Trap
		if c.Trap != "" && errors.As(err, &trap) {
			checkTrap(t, name, trap, *machine)
			continue
		}
		*machine = err
		checkError(t, name, c, err)
	}
}

// oracleKinds maps the oracle's kinds of trap to the machine's errors.
var oracleKinds = map[string][]error{
	oracle.KindMemory:     {probe.ErrOutOfBounds, probe.ErrUseAfterFree, probe.ErrWrongSpace, probe.ErrReadOnly},
	oracle.KindMisaligned: {probe.ErrMisaligned}, oracle.KindStack: {probe.ErrStackOverflow},
	oracle.KindCall: {probe.ErrBadTarget}, oracle.KindBranch: {probe.ErrBadTarget},
	oracle.KindDivergent: {probe.ErrDivergent}, oracle.KindMatrix: {probe.ErrMatrix}, oracle.KindBarrier: {probe.ErrBarrier},
	oracle.KindAsync: {probe.ErrAsync}, oracle.KindCluster: {probe.ErrCTARank}, oracle.KindExited: {probe.ErrExited},
	oracle.KindDeadlock: {probe.ErrDeadlock},
	oracle.KindSteps:    {probe.ErrStepLimit, probe.ErrDeadlock, probe.ErrEndlessLoop}, // it does not look for loops
	oracle.KindTensor:   {probe.ErrTensorMemory}, oracle.KindTexture: {probe.ErrTexture}, oracle.KindSurface: {probe.ErrSurface},
	oracle.KindHeap: {probe.ErrHeap}, oracle.KindAssert: {probe.ErrAssert}, oracle.KindTrap: {probe.ErrTrap}, oracle.KindBreak: {probe.ErrBreakpoint},
}

// checkTrap compares a trap of the oracle, which has its own wording, with the machine's. The places may differ, because
// the oracle runs the threads in sequence.
func checkTrap(t *testing.T, name string, got *oracle.Trap, machine error) {
	t.Helper()
	var want *probe.Trap
	switch {
	case !errors.As(machine, &want):
		t.Errorf("%s: %v; the machine ends with %v", name, got, machine)
	case !slices.Contains(oracleKinds[got.Kind], want.Kind):
		t.Errorf("%s: %v, which the machine calls %v", name, got, want.Kind)
	}
}

func checkError(t *testing.T, name string, c *cases.Case, err error) {
	t.Helper()
	switch {
	case c.Trap == "" && err != nil:
		if trap, ok := err.(*probe.Trap); ok {
			t.Errorf("%s: %s", name, trap.Report())
		} else {
			t.Errorf("%s: %v", name, err)
		}
	case c.Trap != "" && err == nil:
		t.Errorf("%s: no trap", name)
	case c.Trap != "" && !strings.Contains(err.Error(), c.Trap):
		t.Errorf("%s: got %v, want a trap %q", name, err, c.Trap)
	}
}

func tryCase(t *testing.T, mod *Module, c *cases.Case, e engine, s cases.Shape, name string) error {
	t.Helper()
	k, err := mod.Kernel(c.Kernel)
	if err != nil {
		t.Fatalf("line %d: %v", c.Line, err)
	}
	var buffers []*Buffer
	args, result, err := c.Arguments(k.Params, func(data []byte) (any, error) {
		b, err := NewBuffer(mod.dev, data)
		buffers = append(buffers, b)
		return b, err
	}, mod.object)
	defer func() {
		for _, b := range buffers {
			b.Free()
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	err = e.run(mod, &Launch{
		Kernel: c.Kernel, Grid: ptx.Dim(c.Grid[:]...), Block: ptx.Dim(s.Block[:]...), Args: args, Shared: c.Shared, Cooperative: c.Cooperative, Cluster: ptx.Dim3{X: c.Cluster[0], Y: c.Cluster[1], Z: c.Cluster[2]}, WarpSize: s.Width, MaxSteps: 1 << 21,
	})
	if err != nil || c.Trap != "" {
		return err
	}
	for _, bad := range c.Compare(result.(interface{ Bytes() []byte }).Bytes()) {
		t.Errorf("%s: %v", name, bad)
	}
	return nil
}

// object makes a texture, surface or sampler of a case.
func (m *Module) object(c cases.Object) (any, error) {
	return m.MakeObject(c.Name, c.Text, cases.Values)
}

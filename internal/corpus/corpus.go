package corpus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gemu/internal/cases"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// Program is a program and its inputs, at a certain extent.
type Program struct {
	File  string // in testdata: "insn/add.ptx"; or "@saxpy"
	Line  int    // line of the case; 0 without a case
	Name  string // name of the kernel; the size of a workload
	Block cases.Extent
	Width int // lanes of a warp
	SM    int // compute capability of the device; 0: the default

	Memory uint64 // memory of the device in bytes; 0: the default

	run func(r *run) error
}

// String names a program: "insn/add.ptx:12 add_u32 block 7x1x1 warp 32".
func (p *Program) String() string {
	s := p.File
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	s += " " + p.Name
	if p.Block[0] > 0 {
		s += " block " + p.Block.String()
	}
	return fmt.Sprintf("%s warp %d", s, p.Width)
}

// Outcome is the result of a run of a program.
type Outcome struct {
	Results     []*interp.Result // results of its launches, including one that trapped
	Memory      uint32           // a hash of the final buffers, variables and printed output
	Err         error            // error of a launch
	WrongResult error            // difference from the expected result
}

// run is the state of a run.
type run struct {
	Outcome
	program *Program
	prepare func(m *interp.Module, l *interp.Launch)
	stdout  hash.Hash32
	modules []*interp.Module
	buffers []memory // arguments of launches
}

// memory is an object with bytes: a buffer, a texture or a surface.
type memory interface{ Bytes() []byte }

// maxSteps is the step limit: no program executes as many instructions in a warp.
const maxSteps = 1 << 22

// Run runs a program on a new device with a single worker. prepare may change a launch before it begins, for
// example its mode.
func (p *Program) Run(prepare func(l *interp.Launch)) *Outcome {
	return p.RunModule(func(_ *interp.Module, l *interp.Launch) { prepare(l) })
}

// RunModule is Run with a prepare that receives the module of the launch, too.
func (p *Program) RunModule(prepare func(m *interp.Module, l *interp.Launch)) *Outcome {
	r := &run{program: p, prepare: prepare, stdout: fnv.New32a()}
	if err := p.run(r); r.Err == nil {
		r.WrongResult = err
	}
	sum := fnv.New32a()
	for _, b := range r.buffers {
		sum.Write(b.Bytes())
	}
	for _, m := range r.modules {
		for _, d := range m.Decls {
			if v, ok := d.(*ptx.Var); ok {
				if b := m.Var(v.Name); b != nil {
					sum.Write(b.Bytes())
				}
			}
		}
	}
	binary.Write(sum, binary.LittleEndian, r.stdout.Sum32())
	r.Memory = sum.Sum32()
	return &r.Outcome
}

func (r *run) device() *interp.Device {
	return interp.NewDevice(interp.Config{Workers: 1, Stdout: r.stdout, SM: r.program.SM, Memory: r.program.Memory})
}

// prepareLaunch prepares a launch.
func (r *run) prepareLaunch(l *interp.Launch) {
	l.WarpSize, l.MaxSteps = r.program.Width, maxSteps
	for _, a := range l.Args {
		if b, ok := a.(memory); ok {
			r.buffers = append(r.buffers, b)
		}
	}
	r.prepare(r.modules[len(r.modules)-1], l)
}

// launch runs a kernel of a module of testdata. arguments makes its arguments and returns a check of its result.
func (r *run) launch(m *ptx.Module, l *interp.Launch, arguments func(*interp.Device, *ptx.Func) (args []any, check func() error, err error)) error {
	dev := r.device()
	mod, err := dev.LoadModule(m)
	if err != nil {
		return err
	}
	k, err := mod.Kernel(l.Kernel)
	if err != nil {
		return err
	}
	r.modules = append(r.modules, mod)
	args, check, err := arguments(dev, k)
	if err != nil {
		return err
	}
	l.Args, l.Block = args, ptx.Dim(r.program.Block[:]...)
	r.prepareLaunch(l)
	result, err := mod.Run(context.Background(), l)
	if result != nil {
		r.Results = append(r.Results, result)
	}
	if r.Err = err; err != nil {
		return err
	}
	return check()
}

// Programs lists the programs in a fixed order; testdata is the path of the directory testdata.
func Programs(testdata string) ([]*Program, error) {
	files, err := Files(testdata)
	if err != nil {
		return nil, err
	}
	var list []*Program
	for _, file := range files {
		programs, err := ProgramsOf(testdata, file)
		if err != nil {
			return nil, err
		}
		list = append(list, programs...)
	}
	return list, nil
}

// Files lists the possible values of Program.File.
func Files(testdata string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(testdata, "*", "*.ptx"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no modules in %s", testdata)
	}
	var list []string
	for _, path := range paths {
		dir, name := filepath.Split(path)
		if dir := filepath.Base(dir); dir != "bad" {
			list = append(list, dir+"/"+name)
		}
	}
	for _, w := range kernels.All() {
		list = append(list, "@"+w.Name)
	}
	return list, nil
}

// ProgramsOf lists the programs of a file.
func ProgramsOf(testdata, file string) ([]*Program, error) {
	if name, ok := strings.CutPrefix(file, "@"); ok {
		w := kernels.Lookup(name)
		if w == nil {
			return nil, fmt.Errorf("no workload %s", name)
		}
		return workloadPrograms(w), nil
	}
	src, err := os.ReadFile(filepath.Join(testdata, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse(filepath.Base(file), src)
	if err != nil {
		return nil, err
	}
	stated, err := cases.Read(string(src))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return modulePrograms(file, m, stated), nil
}

// modulePrograms lists the cases of a module, and its kernels without a case.
func modulePrograms(file string, m *ptx.Module, stated []cases.Case) []*Program {
	var list []*Program
	covered := map[string]bool{}
	for _, c := range stated {
		if c.EarlyOnly { // programs run with late effects
			continue
		}
		covered[c.Kernel] = true
		for _, s := range c.Shapes(false) {
			list = append(list, &Program{File: file, Line: c.Line, Name: c.Kernel, Block: s.Block, Width: s.Width, SM: c.SM, run: func(r *run) error { return r.runCase(m, &c) }})
		}
	}
	for _, k := range m.Kernels() {
		if !covered[k.Name] {
			p := &Program{File: file, Name: k.Name, Block: requiredBlock(k), Width: 32, run: func(r *run) error { return r.runWithDefaults(m, k) }}
			if kernel, ok := compiledAs(file, k.Name); ok {
				copy(p.Block[:], kernel.block)
				p.run = func(r *run) error { return r.runCompiled(m, k, kernel) }
			}
			list = append(list, p)
		}
	}
	return list
}

// dim3 converts extents; the extents of no cluster are zero.
func dim3(n [3]int) ptx.Dim3 { return ptx.Dim3{X: n[0], Y: n[1], Z: n[2]} }

// runCase runs a case.
func (r *run) runCase(m *ptx.Module, c *cases.Case) error {
	l := &interp.Launch{Kernel: c.Kernel, Grid: ptx.Dim(c.Grid[:]...), Shared: c.Shared, Cooperative: c.Cooperative, Cluster: dim3(c.Cluster)}
	return r.launch(m, l, func(dev *interp.Device, k *ptx.Func) ([]any, func() error, error) {
		buffer := func(data []byte) (any, error) { return interp.NewBuffer(dev, data) }
		args, result, err := c.Arguments(k.Params, buffer, r.object)
		return args, func() error {
			if c.Trap != "" {
				return fmt.Errorf("no trap")
			}
			return errors.Join(c.Compare(result.(memory).Bytes())...)
		}, err
	})
}

// object makes a texture, surface or sampler of a case.
func (r *run) object(c cases.Object) (any, error) {
	o, err := r.modules[len(r.modules)-1].MakeObject(c.Name, c.Text, cases.Values)
	if err == nil && c.Name != "" {
		r.buffers = append(r.buffers, o)
	}
	return o, err
}

// runWithDefaults runs a kernel without a case: parameters that may be addresses are buffers, all other
// parameters are 1.
func (r *run) runWithDefaults(m *ptx.Module, k *ptx.Func) error {
	l := &interp.Launch{Kernel: k.Name, Grid: ptx.Dim(2)}
	return r.launch(m, l, func(dev *interp.Device, k *ptx.Func) ([]any, func() error, error) {
		var args []any
		for _, p := range k.Params {
			if p.Size() == 8 && !p.Type.IsFloat() {
				b, err := dev.Alloc(4 << 10)
				if err != nil {
					return nil, nil, err
				}
				args = append(args, b)
				continue
			}
			data := make([]byte, p.Size())
			for i := 0; i < len(data); i += max(p.Type.Size(), 1) {
				data[i] = 1
			}
			args = append(args, data)
		}
		return args, func() error { return nil }, nil
	})
}

// requiredBlock returns the block size that a kernel requires; a warp if there is no requirement.
func requiredBlock(k *ptx.Func) cases.Extent {
	e := cases.Extent{32, 1, 1}
	if args, ok := k.Directive(".reqntid"); ok {
		e = cases.Extent{1, 1, 1}
		for i, a := range args {
			fmt.Sscan(a, &e[i])
		}
	}
	return e
}

// workloadPrograms lists the runs of a workload: a run for each width that the workload allows, at a size with half-empty warps.
func workloadPrograms(w *kernels.Workload) []*Program {
	n := min(33, 1+w.N/16) // small if an element needs much work
	var list []*Program
	for _, width := range []int{32, 8, 64} {
		if w.Warp != 0 && width != w.Warp {
			continue
		}
		p := &Program{File: "@" + w.Name, Name: fmt.Sprint(n), Width: width}
		p.run = func(r *run) error {
			s, err := kernels.Start(context.Background(), w, r.device(), n)
			if err != nil {
				return err
			}
			s.Prepare = r.prepareLaunch
			r.modules = append(r.modules, s.Module)
			err = w.Run(s)
			r.Results = s.Results
			var wrong *kernels.Mismatch
			if err != nil && !errors.As(err, &wrong) {
				r.Err = err
			}
			return err
		}
		list = append(list, p)
	}
	return list
}

// Describe writes the parts of an outcome that depend neither on the host nor on message texts or file positions:
// counts, memory, the kind of a trap and its instruction.
func (o *Outcome) Describe(w io.Writer) {
	for _, r := range o.Results {
		fmt.Fprintln(w, r.Kernel, r.WarpInstructions, r.ThreadInstructions, r.LaneSlots, r.Branches, r.DivergentBranches)
		if r.Structure != nil {
			for i := range r.Structure.Instrs {
				fmt.Fprintln(w, r.Structure.Instrs[i].Counts)
			}
			fmt.Fprintln(w, r.Structure.Lanes)
		}
	}
	fmt.Fprintf(w, "%x %v\n", o.Memory, o.WrongResult)
	var t *probe.Trap
	switch {
	case errors.As(o.Err, &t):
		fmt.Fprintln(w, t.Kind, t.Instr, t.Func, t.CTA, t.Warp, t.Lanes, t.Active, t.Thread, t.Addr, t.Bytes)
	case o.Err != nil:
		fmt.Fprintf(w, "%T\n", o.Err)
	}
}

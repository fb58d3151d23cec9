package fuzz

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gemu/internal/oracle"
	"gemu/internal/random"
	"gemu/interp"
	"gemu/occupancy"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// Features are the optional parts of programs. Moves, conversions of integers, address arithmetic, and global loads
// and stores are always possible.
type Features = random.Features

// FeatureNames returns the names of the features.
func FeatureNames() []string { return random.FeatureNames }

// ParseFeatures reads a list such as "arith,float", or "all,-warp,-video", which is all features but two.
func ParseFeatures(list string) (f Features, err error) {
	for _, name := range strings.Split(list, ",") {
		bare, minus := strings.CutPrefix(strings.TrimSpace(name), "-")
		feature := random.AllFeatures
		switch i := slices.Index(random.FeatureNames, bare); {
		case i >= 0:
			feature = 1 << i
		case bare == "none" && !minus:
			feature = 0
		case bare != "all" || minus:
			return 0, fmt.Errorf("unknown feature %q: want some of %s, or none, or all", bare, strings.Join(random.FeatureNames, ", "))
		}
		if f |= feature; minus {
			f &^= feature
		}
	}
	return f, nil
}

// names returns the names of features.
func names(f Features) (list []string) {
	list = []string{}
	for i, name := range random.FeatureNames {
		if f>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return list
}

// Options describe the programs of a Generator.
type Options struct {
	Features Features    // optional parts of the programs
	Version  ptx.Version // .version of the modules
	SM       int         // number of the .target: 86 is sm_86
	Grid     int         // CTAs, in a single dimension
	Block    ptx.Dim3    // threads of a CTA
	Length   int         // approximate number of statements

	Semantics Semantics // whether the programs may depend on Differences

	TimeLimit time.Duration // limit of each launch in Verify; 0: no limit
}

// Semantics selects whether programs may depend on differences between the manual and GPUs.
type Semantics = random.Semantics

// The semantics: programs of Manual avoid all Differences; programs of Hardware contain some.
const (
	Manual   = random.Manual
	Hardware = random.Hardware
)

// ParseSemantics reads "manual" or "hardware".
func ParseSemantics(name string) (Semantics, error) {
	i := slices.Index(random.SemanticsNames, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown semantics %q: want %s", name, strings.Join(random.SemanticsNames, " or "))
	}
	return Semantics(i), nil
}

// The limits of options.
const (
	minSM      = 50
	maxThreads = 1 << 16
	maxLength  = 10000
)

// lastSM is the last known compute capability.
var lastSM = occupancy.Generations[len(occupancy.Generations)-1].SM

// Generator makes programs.
type Generator struct {
	Options
	shape    *random.Shape
	variants []*ptx.Variant
}

// lastPTX is the last version of PTX with a new instruction.
var lastPTX = sync.OnceValue(func() (last ptx.Version) {
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms() {
			if last.Less(f.MinPTX) {
				last = f.MinPTX
			}
		}
	}
	return last
})

// New returns a generator. An error names the invalid option.
func New(o Options) (*Generator, error) {
	threads := o.Block.X * o.Block.Y * o.Block.Z
	switch {
	case o.SM < minSM:
		return nil, fmt.Errorf("sm_%d: programs need sm_%d or later", o.SM, minSM)
	case o.SM > lastSM:
		return nil, fmt.Errorf("sm_%d: the latest known target is sm_%d", o.SM, lastSM)
	case o.Version.Less(ptx.Version{Major: 6}):
		return nil, fmt.Errorf("PTX %s: programs need PTX 6.0 or later", o.Version)
	case lastPTX().Less(o.Version):
		return nil, fmt.Errorf("PTX %s: the latest known version is %s", o.Version, lastPTX())
	case o.Grid < 1 || o.Block.X < 1 || o.Block.Y < 1 || o.Block.Z < 1 || o.Block.X > 1024 || o.Block.Y > 1024 || o.Block.Z > 64 || threads > 1024:
		return nil, fmt.Errorf("a grid of %d blocks of %s threads: want at least one of each, and blocks of at most 1024, with x and y up to 1024 and z up to 64", o.Grid, o.Block)
	case o.Grid > maxThreads/threads:
		return nil, fmt.Errorf("a grid of %d blocks of %s threads: want at most %d in all", o.Grid, o.Block, maxThreads)
	case o.Length < 1 || o.Length > maxLength:
		return nil, fmt.Errorf("programs of %d statements: want 1 to %d", o.Length, maxLength)
	}
	sh := &random.Shape{Features: o.Features, Version: o.Version, SM: o.SM, Grid: o.Grid, Block: [3]int{o.Block.X, o.Block.Y, o.Block.Z}, Length: o.Length, Semantics: o.Semantics, Runs: supported}
	if _, err := ptx.ParseString("target", fmt.Sprintf(".version %s\n.target sm_%d\n.address_size 64\n", o.Version, o.SM)); err != nil {
		return nil, err
	}
	return &Generator{o, sh, sh.Variants()}, nil
}

var supports sync.Map // of *ptx.Variant

// supported reports whether an opcode runs. It remembers the answer, which takes long to find.
func supported(v *ptx.Variant) bool {
	runs, ok := supports.Load(v)
	if !ok {
		_, runs = interp.SupportsVariant(v)
		supports.Store(v, runs)
	}
	return runs.(bool)
}

// Program is a kernel and its input. The kernel has the name Kernel and the parameters in, out, n and m: two
// pointers, ArgN and ArgM.
type Program struct {
	Seed        uint64    // seed of the generator; equal Options and seeds give equal programs
	Features    Features  // as in the Options
	Semantics   Semantics // as in the Options
	Source      string    // text of the module
	SM          int       // number of the .target: 86 is sm_86
	Grid, Block ptx.Dim3  // extents of the grid in CTAs, and of a CTA in threads
	Input       []byte    // contents of the buffer in before the launch
	OutBytes    int       // all 0 before the launch

	TimeLimit time.Duration // limit of each launch in Verify; 0: no limit
}

// Kernel is the name of the kernels, and ArgN and ArgM their last arguments.
const (
	Kernel = "k"         // name of the kernel of every Program
	ArgN   = random.ArgN // argument n, of 32 bits
	ArgM   = random.ArgM // argument m, of 64 bits
)

// Program returns the program of a seed, always the same.
func (g *Generator) Program(seed uint64) *Program {
	src, in := random.Defined(g.shape, g.variants, seed)
	return &Program{Seed: seed, Features: g.Features, Semantics: g.Semantics, Source: src, SM: g.SM, Grid: ptx.Dim(g.Grid), Block: g.Block, Input: in, OutBytes: g.shape.OutBytes(), TimeLimit: g.TimeLimit}
}

// ErrUndefined is the error of a program without a reliable result: it is not in the manual's syntax, does not end,
// may read unwritten memory or registers, has a finding of a sanitizer, or has another result on the oracle.
var ErrUndefined = errors.New("not a program with a defined result")

func undefined(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUndefined, fmt.Errorf(format, args...))
}

// maxSteps is the limit of instructions for a warp; programs execute far fewer.
const maxSteps = 1 << 20

// Verify runs a program and returns its result. The program must be in the manual's syntax. It must write every
// register, every byte of .shared and .local memory and every parameter before it reads it: registers and parameters
// on every path of the control flow, memory in this launch. Verify runs the program on the engine in check mode,
// which verifies lowered code and compares every compact result, under the sanitizers, on the oracle, and as machine
// code if the host has it. The error is ErrUndefined, the context's error, probe.ErrTimeLimit, or the error of a
// launch that does not run.
func (p *Program) Verify(ctx context.Context) (out []byte, err error) {
	m, err := ptx.ParseString("program.ptx", p.Source)
	if err != nil {
		return nil, undefined("%w", err)
	}
	if err := staticFault(m); err != nil {
		return nil, undefined("%w", err)
	}
	tools, err := sanitize.Parse("all")
	if err != nil {
		return nil, err
	}
	s := sanitize.New(tools, sanitize.Options{})
	written := &writtenMemory{}
	if out, err = p.run(ctx, m, &interp.Launch{Mode: interp.Check}, append(s.Probes, written)); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, probe.ErrTimeLimit) {
			return nil, err
		}
		return nil, undefined("%w", err)
	}
	s.Finish()
	if written.fault != nil {
		return nil, undefined("%w", written.fault)
	}
	if list := s.Findings(); slices.ContainsFunc(list, func(f finding.Finding) bool { return f.Severity == finding.Error }) {
		var b strings.Builder
		finding.Print(&b, list, nil, 1)
		return nil, undefined("%s", b.String())
	}
	want, err := p.oracle(ctx, m)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the oracle: %w: the launch has run for %v", probe.ErrTimeLimit, p.TimeLimit)
	case err != nil:
		return nil, undefined("oracle: %w", err)
	case !bytes.Equal(out, want):
		at := firstDifference(out, want)
		return nil, undefined("the oracle has another result in byte %d: %#x, not %#x", at, want[at], out[at])
	}
	if !interp.Native.Available() {
		return out, nil
	}
	for _, mode := range []interp.Mode{interp.Vector, interp.Affine} {
		got, err := p.run(ctx, m, &interp.Launch{Mode: mode, Engine: interp.Native}, nil)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, probe.ErrTimeLimit):
			return nil, err
		case err != nil:
			return nil, undefined("machine code in %v mode: %w", mode, err)
		case !bytes.Equal(out, got):
			at := firstDifference(out, got)
			return nil, undefined("machine code in %v mode has another result in byte %d: %#x, not %#x", mode, at, got[at], out[at])
		}
	}
	return out, nil
}

// run runs the program on the engine with the settings of a launch.
func (p *Program) run(ctx context.Context, m *ptx.Module, l *interp.Launch, probes []probe.Probe) ([]byte, error) {
	dev := interp.NewDevice(interp.Config{Workers: 1, SM: p.SM, Probes: probes, ShadowBytes: shadowBytes(probes), TimeLimit: p.TimeLimit})
	mod, err := dev.LoadModule(m)
	if err != nil {
		return nil, err
	}
	in, err1 := interp.NewBuffer(dev, p.Input)
	output, err2 := interp.NewBuffer(dev, make([]byte, p.OutBytes))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	l.Kernel, l.Grid, l.Block, l.Args, l.MaxSteps = Kernel, p.Grid, p.Block, []any{in, output, ArgN, ArgM}, maxSteps
	if _, err := mod.Run(ctx, l); err != nil {
		return nil, err
	}
	result := make([]byte, p.OutBytes)
	output.Read(0, result)
	return result, nil
}

// oracle runs the program on the oracle.
func (p *Program) oracle(ctx context.Context, m *ptx.Module) ([]byte, error) {
	dev := oracle.NewDevice(oracle.Config{SM: p.SM})
	mod, err := dev.Load(m)
	if err != nil {
		return nil, err
	}
	in, err1 := dev.Alloc(uint64(len(p.Input)))
	out, err2 := dev.Alloc(uint64(p.OutBytes))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	copy(dev.Bytes(in), p.Input)
	l := &oracle.Launch{Kernel: Kernel, Grid: [3]int{p.Grid.X, p.Grid.Y, p.Grid.Z}, Block: [3]int{p.Block.X, p.Block.Y, p.Block.Z}, WarpSize: 32, MaxSteps: maxSteps}
	for _, arg := range []any{in, out, ArgN, ArgM} {
		b, err := binary.Append(nil, binary.LittleEndian, arg)
		if err != nil {
			return nil, err
		}
		l.Args = append(l.Args, b)
	}
	if p.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.TimeLimit)
		defer cancel()
	}
	if _, err := mod.Run(ctx, l); err != nil {
		return nil, err
	}
	return dev.Bytes(out)[:p.OutBytes], nil
}

// firstDifference returns the first byte in which two results of the same length differ; -1 if they are equal.
func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// DifferencesTable returns the differences between the manual and GPUs, and the way in which programs avoid each, as
// a Markdown table.
func DifferencesTable() string { return random.DifferencesTable() }

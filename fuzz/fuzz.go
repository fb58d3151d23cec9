// Package fuzz tries out implementations of PTX with random programs. A Program has a kernel,
// inputs, and one result that PTX defines to the bit; it is made of a seed. A Rival is another
// implementation, a command. Reduce makes a program that it gets wrong small, and Blame says who
// wrote a word of a result.
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

	"gemu/internal/occupancy"
	"gemu/internal/oracle"
	"gemu/internal/random"
	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// Features are what programs may be made of, besides moves, conversions of integers, the
// arithmetic of addresses, and global loads and stores.
type Features = random.Features

// FeatureNames are what the features are called.
func FeatureNames() []string { return random.FeatureNames }

// ParseFeatures reads a list such as "arith,float", or "all,-warp,-video", which has all but those.
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
			return 0, fmt.Errorf("no feature %q: there are %s; none, or all", bare, strings.Join(random.FeatureNames, ", "))
		}
		if f |= feature; minus {
			f &^= feature
		}
	}
	return f, nil
}

// names lists features.
func names(f Features) (list []string) {
	list = []string{}
	for i, name := range random.FeatureNames {
		if f>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return list
}

// Options say what programs are like.
type Options struct {
	Features Features
	Version  ptx.Version // .version of the modules
	SM       int         // .target
	Grid     int         // CTAs, in one dimension
	Block    interp.Dim3 // threads of a CTA
	Length   int         // about so many statements

	Semantics Semantics

	TimeLimit time.Duration // that Verify lets each launch of a program run; 0: no limit
}

// Semantics says whether programs may depend on differences between the manual and GPUs.
type Semantics = random.Semantics

// The semantics: of Manual, programs avoid all Differences; of Hardware, they have some.
const (
	Manual   = random.Manual
	Hardware = random.Hardware
)

// ParseSemantics reads "manual" or "hardware".
func ParseSemantics(name string) (Semantics, error) {
	i := slices.Index(random.SemanticsNames, name)
	if i < 0 {
		return 0, fmt.Errorf("no semantics %q: want %s", name, strings.Join(random.SemanticsNames, " or "))
	}
	return Semantics(i), nil
}

// The bounds of options.
const (
	minSM      = 50
	maxThreads = 1 << 16
	maxLength  = 10000
)

// lastSM is the last compute capability that is known.
var lastSM = occupancy.Generations[len(occupancy.Generations)-1].SM

// Generator makes programs.
type Generator struct {
	Options
	shape    *random.Shape
	variants []*ptx.Variant
}

// lastPTX is the last version of PTX that brought an instruction.
var lastPTX = sync.OnceValue(func() (last ptx.Version) {
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms {
			if last.Less(f.MinPTX) {
				last = f.MinPTX
			}
		}
	}
	return last
})

// New makes a generator. The error says what is wrong with the options.
func New(o Options) (*Generator, error) {
	threads := o.Block.X * o.Block.Y * o.Block.Z
	switch {
	case o.SM < minSM:
		return nil, fmt.Errorf("sm_%d: programs want sm_%d or later", o.SM, minSM)
	case o.SM > lastSM:
		return nil, fmt.Errorf("sm_%d: the last there is is sm_%d", o.SM, lastSM)
	case o.Version.Less(ptx.Version{Major: 6}):
		return nil, fmt.Errorf("PTX %s: programs want PTX 6.0 or later", o.Version)
	case lastPTX().Less(o.Version):
		return nil, fmt.Errorf("PTX %s: programs want at most PTX %s, the last that brought an instruction", o.Version, lastPTX())
	case o.Grid < 1 || o.Block.X < 1 || o.Block.Y < 1 || o.Block.Z < 1 || o.Block.X > 1024 || o.Block.Y > 1024 || o.Block.Z > 64 || threads > 1024:
		return nil, fmt.Errorf("a grid of %d blocks of %s threads: want at least one of each, and blocks of at most 1024", o.Grid, o.Block)
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

// supported reports whether an opcode runs, which takes longer to find out than to remember.
func supported(v *ptx.Variant) bool {
	runs, ok := supports.Load(v)
	if !ok {
		_, runs = interp.SupportsVariant(v)
		supports.Store(v, runs)
	}
	return runs.(bool)
}

// Program is a kernel and its input. The kernel is Kernel, with parameters in, out, n and m: two
// pointers, ArgN and ArgM.
type Program struct {
	Seed        uint64
	Features    Features
	Semantics   Semantics
	Source      string
	SM          int
	Grid, Block interp.Dim3
	Input       []byte
	OutBytes    int // zeros, before the launch

	TimeLimit time.Duration // that Verify lets each launch run; 0: no limit
}

// Kernel is the name of the kernels, and ArgN and ArgM their last arguments.
const (
	Kernel = "k"
	ArgN   = random.ArgN
	ArgM   = random.ArgM
)

// Program makes that of a seed, always the same.
func (g *Generator) Program(seed uint64) *Program {
	src, in := random.Defined(g.shape, g.variants, seed)
	return &Program{Seed: seed, Features: g.Features, Semantics: g.Semantics, Source: src, SM: g.SM, Grid: interp.Dim(g.Grid), Block: g.Block, Input: in, OutBytes: g.shape.OutBytes(), TimeLimit: g.TimeLimit}
}

// ErrUndefined is the error of a program whose result is not to be relied on: it is not in the manual's syntax, does
// not come to its end, may read what it has not written, is found fault with by sanitizers, or means something else to the oracle.
var ErrUndefined = errors.New("not a program with a defined result")

func undefined(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUndefined, fmt.Errorf(format, args...))
}

// maxSteps are the instructions that a warp may execute; programs execute far fewer.
const maxSteps = 1 << 20

// Verify runs a program, and gives its result. The program must be in the manual's syntax. It must write every register, every
// byte of .shared and .local memory and every parameter before it reads it: registers and parameters on every path of the
// control flow, memory in this launch. It runs on the engine in check mode, which verifies
// lowered code and compares every compact result, under the sanitizers, on the oracle, and as machine code where
// there is any. The error is ErrUndefined, that of the context, interp.ErrTimeLimit, or that of a launch that does not run.
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
		if errors.Is(err, interp.ErrTimeLimit) {
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
		return nil, fmt.Errorf("the oracle: %w: the launch has run for %v", interp.ErrTimeLimit, p.TimeLimit)
	case err != nil:
		return nil, undefined("oracle: %w", err)
	case !bytes.Equal(out, want):
		at := firstDifference(out, want)
		return nil, undefined("the oracle has another result in byte %d: %#x, not %#x", at, want[at], out[at])
	}
	if interp.Native == nil {
		return out, nil
	}
	for _, mode := range []interp.Mode{interp.Vector, interp.Affine} {
		got, err := p.run(ctx, m, &interp.Launch{Mode: mode, Backend: interp.Native}, nil)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, interp.ErrTimeLimit):
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

// run runs the program on the engine, as a launch says.
func (p *Program) run(ctx context.Context, m *ptx.Module, l *interp.Launch, probes []interp.Probe) ([]byte, error) {
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

// firstDifference is the first byte in which two results of one length differ; -1 if they do not.
func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// DifferencesTable lists the places where the manual and GPUs differ, and how programs avoid each, as a table of Markdown.
func DifferencesTable() string { return random.DifferencesTable() }

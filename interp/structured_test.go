package interp

// This file runs random programs with structured values: registers have values from the thread's
// index, from parameters and constants as often as from memory. Compact execution must have the
// final memory of vector execution, and probes must see the same values: concrete ∈ γ(shadow), at
// every moment.

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/probe"
	"gemu/ptx"
)

// digest is a hash of the events of a CTA: instructions, lanes, operands and addresses of
// executions.
type digest struct {
	hash   maphash.Hash
	events int
	stop   int      // index of the event to write as text
	text   []string // the text
	all    *digests
	index  int
}

// digests are the digests of a launch, by CTA.
type digests struct {
	seed maphash.Seed
	stop map[int]int // by CTA
	ctas map[int]*digest
	sums map[int][]uint64 // after each event
}

func newDigests() *digests {
	return &digests{seed: maphash.MakeSeed(), ctas: map[int]*digest{}, sums: map[int][]uint64{}}
}

func (d *digests) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Values: true, Addresses: true, InOrder: true}
}

func (d *digests) OnEvent(*probe.Event) {}

func (d *digests) CTA(_ *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	c := &digest{all: d, index: index, stop: -1}
	if n, ok := d.stop[index]; ok {
		c.stop = n
	}
	c.hash.SetSeed(d.seed)
	d.ctas[index] = c
	return c
}

func (d *digest) OnEvent(e *probe.Event) {
	write := func(list ...uint64) {
		for _, v := range list {
			maphash.WriteComparable(&d.hash, v)
		}
		if d.events == d.stop {
			d.text = append(d.text, fmt.Sprintf("%#x", list))
		}
	}
	if d.events == d.stop {
		d.text = append(d.text, fmt.Sprintf("line %d: %s", e.Instr.Pos.Line, e.Instr.Text))
	}
	write(uint64(e.Instr.Pos.Line), uint64(e.Warp), e.Active, e.Lanes)
	values := func(list []probe.Value) {
		for i := range list {
			v := &list[i]
			write(uint64(v.Reg))
			for lane := range 64 {
				if e.Lanes>>lane&1 == 0 {
					continue
				}
				if write(v.Low[lane]); v.High != nil {
					write(v.High[lane])
				}
			}
		}
	}
	values(e.Reads)
	if c := e.Instr.Form.Class; e.Instr.Call == nil && c != ptx.ClassBarrier {
		values(e.Writes)
	}
	for _, a := range e.Accesses {
		write(uint64(a.Space), uint64(a.Bytes))
		for lane := range 64 {
			if e.Lanes>>lane&1 != 0 {
				write(a.Addr[lane])
			}
		}
	}
	d.events++
	d.all.sums[d.index] = append(d.all.sums[d.index], d.hash.Sum64())
}

// structuredRun is a launch of a structured program and its outcome.
type structuredRun struct {
	name   string
	memory []byte // output and scratch
	events *digests
}

func runStructured(m *ptx.Module, in []byte, block ptx.Dim3, e engine, width int, observe *digests) (*structuredRun, error) {
	mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
	if err != nil {
		return nil, err
	}
	bin, err1 := NewBuffer(mod.dev, in)
	bout, err2 := mod.dev.Alloc(len(in))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	l := &Launch{Kernel: "k", Grid: ptx.Dim(structuredGrid), Block: block, Args: []any{bin, bout, uint32(12), uint64(1) << 40}, WarpSize: width, MaxSteps: 1 << 20}
	if observe != nil {
		l.Probes = []probe.Probe{observe}
	}
	name := fmt.Sprintf("%s, block %s, warp %d", e.name, block, width)
	if err := e.run(mod, l); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	scratch := mod.Var("scratch")
	if scratch == nil {
		return nil, errors.New("no scratch memory") // reduced too far
	}
	return &structuredRun{name, slices.Concat(bout.Bytes(), scratch.Bytes()), observe}, nil
}

const structuredGrid = 2

// structuredBlocks are blocks that do not fill their warps, and blocks with several rows in a warp.
var structuredBlocks = []ptx.Dim3{ptx.Dim(40), ptx.Dim(7), ptx.Dim(64), ptx.Dim(5, 3), ptx.Dim(33, 2), ptx.Dim(4, 4, 3), ptx.Dim(1, 9, 2), ptx.Dim(16, 3), ptx.Dim(2, 2, 9), ptx.Dim(8, 5)}

// same compares a run with the first.
func (r *structuredRun) same(want *structuredRun) error {
	if bytes.Equal(r.memory, want.memory) {
		return nil
	}
	i := 0
	for r.memory[i] == want.memory[i] {
		i++
	}
	return fmt.Errorf("%w: memory at %d (thread %d offset %d): %s has %#x, %s %#x", errDisagree, i, i/random.Stride, i%random.Stride, r.name, r.memory[i], want.name, want.memory[i])
}

// agreeStructured runs a program on all engines and reports the first difference. For the first
// width it also compares the events.
func agreeStructured(src string, in []byte, block ptx.Dim3, widths []int, skip func(engine) bool) error {
	m, err := ptx.Parse("structured.ptx", []byte(src))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, err.(ptx.ErrorList)[0].Snippet())
	}
	for _, width := range widths {
		var want *structuredRun // programs can observe lanes and warps, so each width has its own result
		for _, e := range engines() {
			if skip(e) {
				continue
			}
			r, err := runStructured(m, in, block, e, width, nil)
			if err != nil {
				return err
			}
			if want == nil {
				want = r
			}
			if err := r.same(want); err != nil {
				return err
			}
		}
	}
	return agreeEvents(m, in, block, widths[0])
}

// agreeEvents compares the events of a program in compact execution with its events in vector
// execution.
func agreeEvents(m *ptx.Module, in []byte, block ptx.Dim3, width int) error {
	want := newDigests()
	if _, err := runStructured(m, in, block, inMode("vector", Launch{Mode: Vector}), width, want); err != nil {
		return err
	}
	for _, e := range []engine{inMode("affine", Launch{Mode: Affine}), inMode("check eagerly", Launch{Mode: Check, CompileEagerly: true, Structure: true})} {
		got := newDigests()
		got.seed = want.seed
		if _, err := runStructured(m, in, block, e, width, got); err != nil {
			return err
		}
		for cta, sums := range want.sums {
			if slices.Equal(sums, got.sums[cta]) {
				continue
			}
			at := 0
			for at < len(sums) && at < len(got.sums[cta]) && sums[at] == got.sums[cta][at] {
				at++
			}
			var text [2][]string
			for i, e := range []engine{inMode("vector", Launch{Mode: Vector}), e} {
				again := newDigests()
				again.stop = map[int]int{cta: at}
				if _, err := runStructured(m, in, block, e, width, again); err != nil {
					return err
				}
				text[i] = again.ctas[cta].text
			}
			return fmt.Errorf("%w: warp %d, cta %d, event %d:\nvector: %s\n%s: %s", errDisagree, width, cta, at, strings.Join(text[0], " "), e.name, strings.Join(text[1], " "))
		}
	}
	return nil
}

// shrinkStructured leaves out lines as long as the program still fails.
func shrinkStructured(src string, fails func(src string) bool) string {
	lines := strings.Split(src, "\n")
	for size := 16; size > 0; size /= 2 {
		for i := len(lines) - size; i >= 0; i -= size {
			without := slices.Delete(slices.Clone(lines), i, i+size)
			if fails(strings.Join(without, "\n")) {
				lines = without
			}
		}
	}
	return strings.Join(lines, "\n")
}

// TestStructuredPrograms: compact execution of random programs has the results of vector execution,
// under every policy and for warps of every width.
func TestStructuredPrograms(t *testing.T) {
	part.SkipShort(t)
	first := part.Seed(t)
	for _, c := range []struct {
		name   string
		warps  bool
		widths []int
		skip   func(engine) bool
	}{
		{"alone", false, []int{32, 4, 8, 16, 64}, func(e engine) bool { return false }},
		// Programs whose results depend on reconvergence: they differ on the oracle and between
		// policies.
		{"together", true, []int{32}, func(e engine) bool {
			return e.name == "oracle" || e.reconverge != nil && !e.reconverge.Properties().AtPostDominators
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range part.Count(12, 15, 500) {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					seed := first + uint64(i)
					block := structuredBlocks[i%len(structuredBlocks)]
					src, in := random.Structured(randomVariants(), seed, structuredGrid*block.Count(), c.warps)
					round := i % len(c.widths)
					widths := slices.Concat(c.widths[round:], c.widths[:round])
					err := agreeStructured(src, in, block, widths, c.skip)
					if err == nil {
						return
					}
					small := shrinkStructured(src, func(src string) bool {
						err2 := agreeStructured(src, in, block, widths, c.skip)
						return errors.Is(err, errDisagree) && errors.Is(err2, errDisagree) || errors.Is(err, probe.ErrMismatch) && errors.Is(err2, probe.ErrMismatch)
					})
					err = agreeStructured(small, in, block, widths, c.skip)
					var trap *probe.Trap
					if errors.As(err, &trap) {
						err = errors.New(trap.Report())
					}
					t.Fatalf("seed %#x: %v\nshrunk:\n%s", seed, err, small)
				})
			}
		})
	}
}

// TestEveryInstruction runs every opcode of random programs on affine operands, on
// every engine.
func TestEveryInstruction(t *testing.T) {
	part.SkipShort(t)
	const threads = 32
	seed, share := part.Seed(t), uint64(part.Count(50, 15, 1))
	for i, variants := range slices.Collect(slices.Chunk(randomVariants(), 24)) {
		if (uint64(i)+seed)%share > 0 {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			src, kernels := random.EveryOpcode(variants, seed+uint64(i))
			m, err := ptx.Parse("every.ptx", []byte(src))
			if err != nil {
				t.Fatalf("%v\n%s", err, err.(ptx.ErrorList)[0].Snippet())
			}
			mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
			if err != nil {
				t.Fatal(err)
			}
			output, err := mod.dev.Alloc(threads * random.Stride)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range kernels {
				var want []byte
				for _, e := range engines() {
					if e.reconverge != nil {
						continue // the lanes stay together
					}
					clear(output.Bytes())
					err = e.run(mod, &Launch{Kernel: fmt.Sprint("k", k), Grid: ptx.Dim(1), Block: ptx.Dim(threads), Args: []any{output}})
					var trap *probe.Trap
					if errors.As(err, &trap) {
						err = errors.New(trap.Report())
					}
					if err != nil {
						t.Errorf("seed %#x, kernel %d of program %d, %s on %s: %v", seed, k, i, v.Text, e.name, err)
						continue
					}
					if want == nil {
						want = slices.Clone(output.Bytes())
					}
					if got := output.Bytes(); !bytes.Equal(got, want) {
						at := 0
						for got[at] == want[at] {
							at++
						}
						t.Errorf("seed %#x, kernel %d of program %d: after %s, thread %d, offset %d: %s has %#x, vectors %#x", seed, k, i, v.Text, at/random.Stride, at%random.Stride, e.name, got[at], want[at])
					}
				}
			}
		})
	}
}

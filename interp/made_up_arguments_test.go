package interp_test

// This file runs kernels without a known host, with made-up arguments, on every engine, in every mode
// and under every policy, and compares the outcomes.

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/oracle"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

const (
	unseenSteps   = 1 << 14 // step limit
	unseenKernels = 3       // maximum number of kernels of a module
)

// unseen counts kernels by outcome.
type unseen struct{ kernels, finished, trapped, beside, ordered, timed, refused, endless int }

// TestMadeUpArguments runs kernels with made-up arguments. Under each policy, every mode has the same
// outcome, traps included. Unless the outcome depends on the order of threads, as three orders of the
// oracle show, the memory is the oracle's under every policy. GEMU_UNSEEN names files of modules,
// separated by colons; tools/assembler/unseen.py makes thousands.
func TestMadeUpArguments(t *testing.T) {
	part.SkipShort(t)
	seed := part.Seed(t)
	files := strings.Split(os.Getenv("GEMU_UNSEEN"), ":")
	if files[0] == "" {
		var err error
		if files, err = filepath.Glob("../testdata/corpus/*.ptx"); err != nil {
			t.Fatal(err)
		}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		files = files[:part.Count(2, 3, len(files))]
	}
	var count unseen
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(filepath.Base(file), src)
		if err != nil {
			continue // unseen.py only asks whether the text is PTX
		}
		programs := corpus.RandomPrograms(file, m, seed)
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
		timed := bytes.Contains(src, []byte("%clock")) || bytes.Contains(src, []byte("%globaltimer"))
		for _, p := range programs[:min(len(programs), unseenKernels)] {
			t.Run(p.String(), func(t *testing.T) { count.run(t, p, seed, timed) })
		}
	}
	t.Logf("%d kernels: %d finish and %d trap, %d of all beside the oracle, %d depend on the order of threads, %d of the others on when asynchronous effects happen; %d do not run, %d do not end", count.kernels, count.finished, count.trapped, count.beside, count.ordered, count.timed, count.refused, count.endless)
}

// run runs a program on all engines, in all modes and under all policies. A program that reads clocks
// is timed: its outcome may depend on the order of threads.
func (c *unseen) run(t *testing.T, p *corpus.Program, seed uint64, timed bool) {
	describe := func(o *corpus.Outcome) string {
		var b strings.Builder
		o.Describe(&b)
		return b.String()
	}
	c.kernels++
	first := p.Run(func(l *interp.Launch) { l.Mode, l.MaxSteps = interp.Vector, unseenSteps })
	var trap *probe.Trap
	switch errors.As(first.Err, &trap); {
	case stuck(first.Err):
		c.endless++
		return
	case len(first.Results) == 0 || first.Err != nil && trap == nil:
		c.refused++
		t.Skip(errors.Join(first.Err, first.WrongResult))
	case first.Err != nil:
		c.trapped++
	default:
		c.finished++
	}
	ordered, judged := timed, false                                                             // whether the outcome depends on the order of threads, and whether the oracle has decided this
	if !timed && first.Results[0].ThreadInstructions < int64(part.Count(1<<16, 1<<18, 1<<20)) { // few enough instructions for the oracle
		var besides orderProbe
		again := p.RunModule(func(m *interp.Module, l *interp.Launch) { besides.launch(t, m, l, seed) })
		if judged = besides.runs; judged {
			c.beside++
		}
		if ordered = besides.ordered; ordered {
			c.ordered++
		} else if besides.runs && (again.Err == nil) != (besides.trap == nil) {
			t.Errorf("engine: %v\noracle: %v", again.Err, besides.trap)
		}
		if besides.err != nil {
			t.Error(besides.err)
		}
	}
	if early := p.Run(func(l *interp.Launch) { l.Mode, l.MaxSteps, l.EagerEffects = interp.Vector, unseenSteps, true }); !ordered && first.Err == nil && early.Memory != first.Memory {
		if c.timed++; judged {
			t.Error("another memory with asynchronous effects where they are issued than with late ones")
		}
	}
	for _, policy := range interp.Policies() {
		under := map[interp.Mode]*corpus.Outcome{}
		for _, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
			under[mode] = p.Run(func(l *interp.Launch) { l.Mode, l.Reconverge, l.MaxSteps = mode, policy, 8*unseenSteps })
		}
		want := describe(under[interp.Vector])
		for _, mode := range []interp.Mode{interp.Affine, interp.Check} {
			if got := describe(under[mode]); got != want {
				t.Errorf("under %s in %v mode\n%v\n%sin vector mode\n%v\n%s", policy.Name(), mode, under[mode].Err, got, under[interp.Vector].Err, want)
			}
		}
		switch o := under[interp.Vector]; {
		case ordered || stuck(o.Err):
		case (o.Err == nil) != (first.Err == nil):
			t.Errorf("under %s: %v; under %s: %v", policy.Name(), o.Err, interp.Reconvergers()[0].Name(), first.Err)
		case o.Err == nil && o.Memory != first.Memory:
			t.Errorf("another memory under %s than under %s", policy.Name(), interp.Reconvergers()[0].Name())
		}
	}
}

// stuck reports whether a launch was stopped by a limit.
func stuck(err error) bool {
	return errors.Is(err, probe.ErrDeadlock) || errors.Is(err, probe.ErrStepLimit)
}

// orderProbe is a program that runs on the oracle, in several orders, next to the engine.
type orderProbe struct {
	runs    bool  // the oracle supports the program
	ordered bool  // its memory differs between orders of lanes or warps
	trap    error // error of the oracle
	err     error // difference to the engine's memory
}

// launch prepares a launch.
func (b *orderProbe) launch(t *testing.T, m *interp.Module, l *interp.Launch, seed uint64) {
	l.Mode, l.MaxSteps = interp.Vector, unseenSteps
	l.Progress = func(func() (int64, int64)) func() {
		var twin *interp.Twin
		var stores writers
		memories := map[string]bool{}
		for i, order := range []func() oracle.Order{oracle.Sequential, oracle.Random(seed), oracle.Lockstep} {
			var err error
			if twin, err = interp.NewTwin(m); err != nil {
				b.err = err
				return func() {}
			}
			stores = writers{}
			_, b.trap = twin.Run(t.Context(), l, order, stores.add)
			var unsupported *oracle.Unsupported
			if errors.As(b.trap, &unsupported) {
				return func() {}
			}
			left := fnv.New64a()
			if b.trap != nil {
				fmt.Fprint(left, "trap") // the progress of other threads is undefined
			} else {
				twin.Each(func(_ *mem.Allocation, _, oracle []byte) { left.Write(oracle) })
			}
			memories[string(left.Sum(nil))] = true
			b.ordered = i > 0 && len(memories) > 1
		}
		b.runs = true
		return func() {
			if b.trap != nil || b.ordered {
				return
			}
			twin.Each(func(a *mem.Allocation, engine, oracle []byte) {
				for i := range engine {
					if engine[i] == oracle[i] || b.err != nil {
						continue
					}
					if at := stores[a.Base+uint64(i)]; at != nil && at.race && at.has(engine[i]) && at.has(oracle[i]) {
						b.ordered = true // a different value of the values stored there by threads
					} else {
						b.err = fmt.Errorf("%s differs: byte %d is %#x on the engine, on the oracle %#x", a, i, engine[i], oracle[i])
					}
				}
			})
		}
	}
}

package interp_test

// This file pauses launches anywhere, saves them, and compares how they go on.

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/ptx"
)

// Save and Restore let a script go back with its launch.
func (s *script) Save() any { return s.clone() }

func (s *script) Restore(state any) { s.ctas = state.(*script).clone().ctas }

func (s *script) clone() *script {
	n := newScript(s.wants)
	n.seed = s.seed
	for i, c := range s.ctas {
		d := *c
		d.script, d.sums, d.texts, d.kinds, d.open = s, slices.Clone(c.sums), slices.Clone(c.texts), maps.Clone(c.kinds), maps.Clone(c.open)
		n.ctas[i] = &d
	}
	return n
}

// total is the number of events.
func (s *script) total() (n int) {
	for _, c := range s.ctas {
		n += len(c.sums)
	}
	return n
}

// pauser is a script that pauses the launch at some of its events.
type pauser struct {
	*script
	at []int // numbers of events; ascending
	n  int
}

func (p *pauser) CTA(index int, id interp.Dim3) interp.Sink {
	p.script.CTA(index, id)
	return sink(func(e *interp.Event) {
		p.ctas[index].Tell(e)
		if p.n++; len(p.at) > 0 && p.n >= p.at[0] {
			p.at = p.at[1:]
			e.Pause()
		}
	})
}

type sink func(e *interp.Event)

func (s sink) Tell(e *interp.Event) { s(e) }

// memoryOf is the memory that a launch works on.
func memoryOf(m *interp.Module, l *interp.Launch) []byte {
	var all []byte
	for _, a := range l.Args {
		if b, ok := a.(*interp.Buffer); ok {
			all = append(all, b.Bytes()...)
		}
	}
	for _, d := range m.Decls {
		if v, ok := d.(*ptx.Var); ok {
			if b := m.Var(v.Name); b != nil {
				all = append(all, b.Bytes()...)
			}
		}
	}
	return all
}

// finish runs an execution to its end, through all pauses.
func finish(t *testing.T, e *interp.Execution) error {
	for {
		if ended, err := e.Continue(t.Context()); ended {
			return err
		}
	}
}

// again runs a launch three times: in one go; with pauses, in one of which it is saved; and
// from there. It leaves all as it was.
func again(t *testing.T, m *interp.Module, l interp.Launch, seed uint64, hash maphash.Seed) error {
	r := rand.New(rand.NewPCG(seed, 0))
	wants := interp.Wants{Events: interp.AllEvents, Values: true, Addresses: true, InOrder: true}
	first := &pauser{script: newScript(wants)}
	first.seed = hash
	l.Probes, l.MaxSteps = []interp.Probe{first}, 1<<11
	e, err := m.Start(&l)
	if err != nil {
		return nil // of no interest here
	}
	defer e.Close()
	begin, err := e.Save()
	if err != nil {
		return nil // memory of the host
	}
	trap := finish(t, e)
	memory, counts := memoryOf(m, &l), e.Result().Counts
	want := first.clone()
	same := func(what string, err error) error {
		switch {
		case fmt.Sprint(err) != fmt.Sprint(trap):
			return fmt.Errorf("%s: %v, want %v", what, err, trap)
		case !bytes.Equal(memory, memoryOf(m, &l)):
			return fmt.Errorf("%s: other memory", what)
		case counts != e.Result().Counts:
			return fmt.Errorf("%s: counts are %+v, want %+v", what, e.Result().Counts, counts)
		}
		if err := want.same(first.script); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	if err := e.Restore(begin); err != nil {
		return err
	}
	for range 3 {
		first.at = append(first.at, 1+r.IntN(max(want.total(), 1)))
	}
	slices.Sort(first.at)
	first.n = 0
	saveAt := r.IntN(3)
	var state *interp.State
	for i := 0; ; i++ {
		ended, err := e.Continue(t.Context())
		if ended {
			if err := same("with pauses", err); err != nil {
				return err
			}
			break
		}
		if i == saveAt {
			if state, err = e.Save(); err != nil {
				return err
			}
		}
	}
	if state != nil {
		for range 2 {
			if err := e.Restore(state); err != nil {
				return err
			}
			if err := same("from the saved state", finish(t, e)); err != nil {
				return err
			}
		}
	}
	return e.Restore(begin)
}

// TestSaved: each program, paused and saved anywhere, goes on as it would have.
func TestSaved(t *testing.T) {
	part, seed, hash := uint64(16), rand.Uint64(), maphash.MakeSeed()
	if testing.Short() {
		part = 64
	}
	for i, p := range programs(t, 4, 32, 64) {
		if (uint64(i)+seed)%part > 0 && !slices.Contains(inTurns, p.File) || strings.HasPrefix(p.File, "@") && uint64(i)%4 > 0 {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			o := p.RunModule(func(m *interp.Module, l *interp.Launch) {
				c := *l
				c.Mode = interp.Mode(seed / 3 % 3)
				c.Stats = seed%2 == 0
				c.Reconverge = interp.Reconvergers[seed/9%uint64(len(interp.Reconvergers))]
				if err := again(t, m, c, seed+uint64(i), hash); err != nil {
					t.Errorf("seed %#x: %v", seed, err)
				}
			})
			if o.Wrong != nil && o.Wrong.Error() != "no trap" { // as is the case under this policy
				t.Error(o.Wrong)
			}
		})
	}
}

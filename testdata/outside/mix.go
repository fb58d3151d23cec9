package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"gemu/interp"
)

// mix is a probe that counts warp instructions by the class of the instruction.
type mix struct {
	mu     sync.Mutex
	counts map[string]int64 // of the CTAs that have ended
}

func (m *mix) Subscription() interp.Subscription {
	return interp.Subscription{Events: interp.OnAfter | interp.OnCTAEnd}
}

// CTA makes the sink of one CTA. CTAs run at the same time, so that each counts for itself.
func (m *mix) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink {
	return &mixCTA{mix: m, counts: map[string]int64{}}
}

func (m *mix) OnEvent(*interp.Event) {}

func (m *mix) Report(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, class := range slices.Sorted(maps.Keys(m.counts)) {
		if _, err := fmt.Fprintf(w, "%-12s %d\n", class, m.counts[class]); err != nil {
			return err
		}
	}
	return nil
}

type mixCTA struct {
	mix    *mix
	counts map[string]int64
}

func (c *mixCTA) OnEvent(e *interp.Event) {
	if e.Kind == interp.OnAfter {
		c.counts[e.Instr.Form.Class.String()]++
		return
	}
	c.mix.mu.Lock()
	defer c.mix.mu.Unlock()
	for class, n := range c.counts {
		c.mix.counts[class] += n
	}
}

package main

import (
	"fmt"
	"gemu/probe"
	"gemu/ptx"
	"io"
	"maps"
	"slices"
	"sync"
)

// mix is a probe that counts warp instructions by the class of the instruction.
type mix struct {
	mu     sync.Mutex
	counts map[string]int64 // of the CTAs that have ended
}

func (m *mix) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnCTAEnd}
}

// CTA makes the sink of one CTA. CTAs run at the same time, so that each counts for itself.
func (m *mix) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink {
	return &mixCTA{mix: m, counts: map[string]int64{}}
}

func (m *mix) OnEvent(*probe.Event) {}

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

func (c *mixCTA) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnAfter {
		c.counts[e.Instr.Form.Class.String()]++
		return
	}
	c.mix.mu.Lock()
	defer c.mix.mu.Unlock()
	for class, n := range c.counts {
		c.mix.counts[class] += n
	}
}

package main

import (
	"math/bits"
	"sync"

	"gemu/models"
	"gemu/probe"
	"gemu/ptx"
)

// narrow is a model of a register file that keeps a register in half a row if all lanes that were written have at most 16
// significant bits.
type narrow struct {
	mu    sync.Mutex
	total counts // of the CTAs that have ended
}

// counts is the state that is saved and restored with a launch.
type counts struct{ writes, halved int64 }

func (n *narrow) Name() string { return "narrow" }

func (n *narrow) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnReturn | probe.OnWake | probe.OnCTAEnd, Values: true}
}

func (n *narrow) CTA(l *probe.LaunchInfo, _ int, _ ptx.Dim3) probe.Sink {
	return &narrowCTA{model: n, lanes: l.WarpSize}
}

func (n *narrow) OnEvent(*probe.Event) {}

func (n *narrow) Report() *models.Report {
	n.mu.Lock()
	defer n.mu.Unlock()
	return &models.Report{Model: "narrow", Title: "registers of narrow values in half a row", Tables: []models.Table{{
		Name: "writes", Title: "Writes of registers", Unit: "writes", Columns: []string{"all", "half a row"},
		Rows: []models.Row{{Name: "registers", Values: []float64{float64(n.total.writes), float64(n.total.halved)}}},
	}}}
}

func (n *narrow) Save() any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.total
}

func (n *narrow) Restore(state any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.total = state.(counts)
}

// narrowCTA is the register file of one CTA.
type narrowCTA struct {
	model *narrow
	lanes int // of a warp
	counts
}

func (c *narrowCTA) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		c.model.total.writes += c.writes
		c.model.total.halved += c.halved
	}
}

// StoredBytes is called for each register that an instruction has written.
func (c *narrowCTA) StoredBytes(e *probe.Event, i int) int {
	v := &e.Writes[i]
	all := models.Bytes(v, c.lanes)
	c.writes++
	if v.Type.Bits() != 32 {
		return all
	}
	for left := e.Lanes; left != 0; left &= left - 1 {
		if v.Low[bits.TrailingZeros64(left)]>>16 != 0 {
			return all
		}
	}
	c.halved++
	return all / 2
}

func (c *narrowCTA) Save() any { return c.counts }

func (c *narrowCTA) Restore(state any) { c.counts = state.(counts) }

// Package traffic is a probe that counts accesses to the register file of a warp: reads and writes of compact values
// and of vectors, bank by bank. It sees the rows and the tags that the engine has in the launch's mode. It also
// serves as an example of a probe in a single file.
package traffic

import (
	"sync"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
)

// Banks is the number of banks in the model: row i of 32-bit registers is in bank i modulo Banks, row i of 64-bit
// registers in the banks 2i and 2i+1 modulo Banks.
const Banks = 16

// Counts are accesses by warps. A uniform or affine access goes to the register's base and stride, a generic access
// to its row in all lanes.
type Counts struct {
	Reads, Writes affinetrack.ClassCounts // accesses to registers, without predicates and constants

	PredicateReads, PredicateWrites int64 // guards included
	Constants                       int64 // reads of registers with a single value for the whole launch, which take no row
	Materialisations                int64 // rows written because lanes need a value that only the compact copy has

	Banks [Banks]Bank // accesses to rows, by bank
}

// Bank is the accesses to rows in a bank.
type Bank struct{ Reads, Writes int64 }

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Reads.Add(o.Reads)
	c.Writes.Add(o.Writes)
	c.PredicateReads += o.PredicateReads
	c.PredicateWrites += o.PredicateWrites
	c.Constants += o.Constants
	c.Materialisations += o.Materialisations
	for i := range c.Banks {
		c.Banks[i].Reads += o.Banks[i].Reads
		c.Banks[i].Writes += o.Banks[i].Writes
	}
}

// Counter counts the accesses of the launches that it watches. It is safe for concurrent use.
type Counter struct {
	mu    sync.Mutex
	total Counts // counts of ended CTAs
}

// Counts returns the counts of the CTAs that have ended.
func (c *Counter) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Subscription asks for instructions, late results, materialised values, and tags.
func (c *Counter) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnReturn | probe.OnWake | probe.OnMaterialise | probe.OnCTAEnd, Tags: true}
}

// CTA makes a sink that counts a CTA.
func (c *Counter) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return &cta{counter: c} }

// OnEvent does nothing: all events of interest are events of CTAs.
func (c *Counter) OnEvent(*probe.Event) {}

// Save returns the counts.
func (c *Counter) Save() any { return c.Counts() }

// Restore sets the counts that Save returned.
func (c *Counter) Restore(state any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = state.(Counts)
}

// cta counts the accesses of a CTA.
type cta struct {
	counter *Counter
	Counts
}

// Save returns the counts of a CTA that has not ended.
func (c *cta) Save() any { return c.Counts }

// Restore sets the counts that Save returned.
func (c *cta) Restore(state any) { c.Counts = state.(Counts) }

// OnEvent counts the accesses of an instruction.
func (c *cta) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnCTAEnd:
		c.counter.mu.Lock()
		c.counter.total.Add(&c.Counts)
		c.counter.mu.Unlock()
		return
	case probe.OnMaterialise:
		c.Materialisations++
		c.countBank(e.Row, false)
		return
	}
	if e.Kind == probe.OnAfter && e.Instr.Guard.Reg != ptx.NoReg {
		c.PredicateReads++
	}
	if e.Lanes == 0 {
		return
	}
	if e.Kind == probe.OnAfter {
		for i := range e.Reads {
			c.countAccess(e, &e.Reads[i], true)
		}
		if e.Instr.Call != nil || e.Instr.Form.Class == ptx.ClassBarrier {
			return // results come with OnReturn or OnWake
		}
	}
	for i := range e.Writes {
		c.countAccess(e, &e.Writes[i], false)
	}
}

// countAccess counts an access to a register.
func (c *cta) countAccess(e *probe.Event, v *probe.Value, read bool) {
	at := e.Launch.Program.LocationOf(e.Index, v.Reg)
	switch {
	case at.Kind == probe.ConstantLocation:
		if read {
			c.Constants++
		}
		return
	case v.Type == ptx.Pred && read:
		c.PredicateReads++
		return
	case v.Type == ptx.Pred:
		c.PredicateWrites++
		return
	}
	class := Class(v, e.Lanes)
	if read {
		c.Reads.Count(class)
	} else {
		c.Writes.Count(class)
	}
	if class == affinetrack.Generic {
		c.countBank(at, read)
	}
}

// countBank counts an access to a register's row.
func (c *cta) countBank(location probe.Location, read bool) {
	words := location.Bits / 32
	for i := range words {
		b := &c.Banks[(location.Row*words+i)%Banks]
		if read {
			b.Reads++
		} else {
			b.Writes++
		}
	}
}

// Class returns the class in which the engine holds the value of a register for some lanes.
func Class(v *probe.Value, lanes uint64) affinetrack.Class {
	class := affinetrack.Unknown
	for h, t := range v.Tags {
		m := uint32(lanes >> (32 * h))
		switch {
		case m == 0:
		case m&^t.Mask != 0:
			return affinetrack.Generic
		default:
			class = max(class, t.Value.Class())
		}
	}
	return class
}

// Package leak finds memory that is never freed: memory from malloc in a kernel and, on request, memory
// allocated by the host.
package leak

import (
	"fmt"
	"math/bits"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// Name is the name of this tool in findings, and the kind of its findings.
const Name = "leak"

// Probe finds leaks. Finish adds them to the log. It is safe for concurrent launches.
type Probe struct {
	log  *finding.Log
	host bool

	mu   sync.Mutex
	live []leak // in order of allocation
}

// leak is memory that is not freed yet.
type leak struct {
	memory *probe.Allocation
	event  probe.Event // CTA and launch of the allocation
	found  finding.Finding
}

// New returns a leak detector that writes its findings to log. With host, buffers that the host does not free
// are leaks, too.
func New(log *finding.Log, host bool) *Probe { return &Probe{log: log, host: host} }

// Subscription asks for allocations and releases.
func (p *Probe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAlloc | probe.OnFree}
}

// CTA returns the probe itself, which receives the allocations of all CTAs.
func (p *Probe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// OnEvent handles allocations and releases.
func (p *Probe) OnEvent(e *probe.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case probe.OnAlloc:
		f := finding.Finding{
			Tool: Name, Kind: Name, Place: finding.Place{Role: "allocated"},
			Memory: &finding.Memory{Space: e.Memory.Space().String(), Name: e.Memory.Name, Address: e.Memory.Base, Bytes: e.Bytes},
		}
		allocator := "cuMemAlloc"
		switch {
		case e.Memory.Kind == probe.HeapMemory:
			allocator = "malloc"
			f.Place = finding.PlaceOf(e, "allocated", bits.TrailingZeros64(e.Lanes))
		case e.Memory.Kind != probe.BufferMemory || !p.host:
			return
		}
		f.Message = fmt.Sprintf("memory of %s that is never freed", allocator)
		p.live = append(p.live, leak{e.Memory, probe.Event{CTA: e.CTA, Launch: e.Launch}, f})
	case probe.OnFree:
		for i := len(p.live) - 1; i >= 0; i-- {
			if p.live[i].memory == e.Memory {
				p.live = append(p.live[:i], p.live[i+1:]...)
				break
			}
		}
	}
}

// Finish adds all memory that is not freed to the log.
func (p *Probe) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.live {
		p.log.Add(&p.live[i].event, p.live[i].found)
	}
	p.live = nil
}

// Save returns a copy of the state, for launches that step back.
func (p *Probe) Save() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]leak(nil), p.live...)
}

// Restore sets the state to a state from Save.
func (p *Probe) Restore(state any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = append([]leak(nil), state.([]leak)...)
}

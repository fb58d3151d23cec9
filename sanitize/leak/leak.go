// Package leak finds memory that is allocated and never freed: by malloc in a kernel, and by
// the host if that is asked for.
package leak

import (
	"fmt"
	"math/bits"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// Name is that of the tool, and the kind of what it finds.
const Name = "leak"

// Probe is the tool. Finish tells what has leaked.
type Probe struct {
	log  *finding.Log
	host bool

	mu   sync.Mutex
	live []leak // in the order in which they were allocated by a CTA, or by the host
}

// leak is memory that has not been freed.
type leak struct {
	memory *probe.Allocation
	event  probe.Event // what is known of its allocation
	found  finding.Finding
}

// New makes the tool. With host, what the host allocates and does not free has leaked, too.
func New(log *finding.Log, host bool) *Probe { return &Probe{log: log, host: host} }

// Subscription: memory that comes and goes.
func (p *Probe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAlloc | probe.OnFree}
}

// CTA has what each CTA allocates told to the tool.
func (p *Probe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// OnEvent notes memory that has been allocated, and forgets what is freed.
func (p *Probe) OnEvent(e *probe.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case probe.OnAlloc:
		f := finding.Finding{
			Tool: Name, Kind: Name, Place: finding.Place{Role: "allocated"},
			Memory: &finding.Memory{Space: e.Memory.Space().String(), Name: e.Memory.Name, Address: e.Memory.Base, Bytes: e.Bytes},
		}
		what := "cuMemAlloc"
		switch {
		case e.Memory.Kind == probe.HeapMemory:
			what = "malloc"
			f.Place = finding.PlaceOf(e, "allocated", bits.TrailingZeros64(e.Lanes))
		case e.Memory.Kind != probe.BufferMemory || !p.host:
			return
		}
		f.Message = fmt.Sprintf("memory of %s that is never freed", what)
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

// Finish tells of the memory that has not been freed so far.
func (p *Probe) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.live {
		p.log.Add(&p.live[i].event, p.live[i].found)
	}
	p.live = nil
}

// Save and Restore let it go back with a launch.
func (p *Probe) Save() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]leak(nil), p.live...)
}

// Restore: see Save.
func (p *Probe) Restore(state any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = append([]leak(nil), state.([]leak)...)
}

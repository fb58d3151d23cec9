package core

import (
	"math/bits"

	"gemu/machine/stream"
	"gemu/probe"
)

// Residency gives the resources of a multiprocessor to its warps: a warp without them cannot issue, and registers and shared memory can be in
// memory. A multiprocessor calls it in the order of its cycles; now is the first cycle in which the event has an effect. Slots are those of Warps; sets of slots have a bit for each slot.
type Residency interface {
	// Begin begins a CTA, whose warps are in some slots, in their order.
	Begin(c *stream.CTA, place int, slots uint64, now int64)
	// Enter reports whether a warp has the resources for its next instruction. If not, Ready returns its slot later. It is called once for
	// each instruction, after the barriers before it.
	Enter(slot int, instr int32, now int64) bool
	// Ready returns the slots for which Enter has returned false, and which have their resources now; each once.
	Ready() (slots uint64)
	// Access returns the lines that a warp must load before an instruction, and those that it stores with it. It is called once for each
	// instruction, when the warp has its resources.
	Access(slot int, instr int32) (loads, stores []uint64)
	// Moves returns further lines that are loaded and stored since its last call. No warp waits for them.
	Moves() (loads, stores []uint64)
	// Wait notes that a warp waits at a barrier.
	Wait(slot int, now int64)
	// End notes the end of a warp.
	End(slot int, now int64)
	// Epoch is called every epochCycles cycles, in the next cycle with an event, with the numbers of cycles so far in which nothing was
	// issued: idle and memory (countEpoch).
	Epoch(idle, memory int64)
	// Close ends the launch before cycle now, and returns its counts. The error names a contradiction.
	Close(now int64) (ResourceCounts, error)
}

// Share is accesses to sets, and those of them that are not in memory.
type Share struct {
	Accesses int64 `json:"accesses"` // accesses to sets
	Hits     int64 `json:"hits"`     // of these, accesses to sets that are not in memory
}

// Rate returns the share of hits; 1 without accesses.
func (s Share) Rate() float64 {
	if s.Accesses == 0 {
		return 1
	}
	return float64(s.Hits) / float64(s.Accesses)
}

// ResourceCounts are the counts of a residency, over multiprocessors.
type ResourceCounts struct {
	Cycles      int64 `json:"cycles"`      // cycles of multiprocessors with a resident block
	Schedulable int64 `json:"schedulable"` // schedulable warps, summed over these cycles
	Registers   Share `json:"registers"`   // accesses to sets of registers
	Shared      Share `json:"shared"`      // accesses to sets of shared memory
	Spilled     int64 `json:"spilled"`     // sets that have moved to memory
	Reloaded    int64 `json:"reloaded"`    // sets that have moved back
	Stored      int64 `json:"stored"`      // states of warps at barriers that have moved to memory
	Threshold   int   `json:"threshold"`   // highest threshold of oversubscription, in percent of the physical resource
}

// Add adds the counts of o.
func (c *ResourceCounts) Add(o *ResourceCounts) {
	c.Cycles += o.Cycles
	c.Schedulable += o.Schedulable
	c.Registers.Accesses += o.Registers.Accesses
	c.Registers.Hits += o.Registers.Hits
	c.Shared.Accesses += o.Shared.Accesses
	c.Shared.Hits += o.Shared.Hits
	c.Spilled += o.Spilled
	c.Reloaded += o.Reloaded
	c.Stored += o.Stored
	c.Threshold = max(c.Threshold, o.Threshold)
}

// Warps returns the mean number of schedulable warps of a multiprocessor.
func (c *ResourceCounts) Warps() float64 {
	if c.Cycles == 0 {
		return 0
	}
	return float64(c.Schedulable) / float64(c.Cycles)
}

// epochCycles is the number of cycles of an epoch of a Residency (Vijaykumar 2019, table 5).
const epochCycles = 2048

// resources are what a multiprocessor with a residency knows about it.
type resources struct {
	Residency
	pending      uint64 // slots of warps without their resources, in no other set
	epoch        int64  // first cycle of the next epoch
	idle, memory int64  // cycles of countEpoch
}

// enter brings a warp with resources to its next instruction. It returns false if the warp must wait for them.
func (s *sm) enter(slot int, now int64) bool {
	w := &s.slots[slot]
	if w.next == len(w.Executed) {
		return true
	}
	if !s.resources.Enter(slot, w.Executed[w.next].Instr, now+1) {
		s.resources.pending |= 1 << slot
		s.touch(slot)
		return false
	}
	s.accessMemory(slot)
	return true
}

// accessMemory gives the memory unit the accesses of the next instruction to resources in memory. The instruction waits for its loads, because
// they write one of its registers.
func (s *sm) accessMemory(slot int) {
	w := &s.slots[slot]
	x := &w.Executed[w.next]
	loads, stores := s.resources.Access(slot, x.Instr)
	if len(loads) > 0 {
		load := int32(-1)
		if registers := s.run.program[x.Instr].registers; len(registers) > 0 {
			load = s.newLoad(slot, x.Instr)
			w.pending = append(w.pending, write{at: never, register: registers[0], instr: x.Instr, load: load, copied: noCopy})
		}
		s.move(w, x.Instr, loads, probe.AccessLoad, load)
	}
	s.move(w, x.Instr, stores, probe.AccessStore, -1)
}

// move gives the memory unit an access to whole lines. Without a load nobody waits for it.
func (s *sm) move(w *warp, instr int32, lines []uint64, kind probe.AccessKind, load int32) {
	if len(lines) == 0 {
		return
	}
	if load < 0 && kind == probe.AccessLoad {
		load = s.newLoad(noSlot, instr)
	}
	of := &stream.Warp{Requests: []stream.Request{{Instr: instr, Kind: kind, N: int32(len(lines))}}}
	for _, line := range lines {
		of.Transactions = append(of.Transactions, stream.Transaction{Line: line, Sectors: allSectors, Whole: allSectors, Bytes: stream.LineBytes})
	}
	s.queue = append(s.queue, access{warp: of, cta: w.cta, index: w.index, load: load, instr: instr, end: 1, moved: true})
	s.run.queued++
}

// noSlot is the slot of a load for which no warp waits.
const noSlot = -1

// release schedules the warps that have got their resources, from the next cycle on, and moves lines.
func (s *sm) release(now int64) {
	ready := s.resources.Ready()
	for ; ready != 0; ready &= ready - 1 {
		slot := bits.TrailingZeros64(ready)
		s.resources.pending &^= 1 << slot
		w := &s.slots[slot]
		w.from = max(w.from, now+1)
		s.accessMemory(slot)
		s.schedule(slot, now)
	}
	loads, stores := s.resources.Moves()
	if len(loads)+len(stores) > 0 {
		w := &s.slots[bits.TrailingZeros64(s.used)]
		instr := max(w.lastInstr, 0)
		s.move(w, instr, stores, probe.AccessStore, -1)
		s.move(w, instr, loads, probe.AccessLoad, -1)
	}
}

// countEpoch counts n cycles in which no scheduler issues. They are cycles of memory if all schedulers with warps that are not at barriers wait for
// the memory unit, or for a result of an instruction of memory. Otherwise they are idle if no scheduler waits for a unit.
func (s *sm) countEpoch(n int64) {
	waits := [WaitsForBarrier + 1]int{}
	for i := range s.schedulers {
		h := &s.schedulers[i]
		if h.stale {
			s.findReason(h)
		}
		waits[h.waits]++
	}
	switch {
	case waits[WaitsForMemory] > 0 && waits[WaitsForUnit] == 0 && waits[WaitsForData] == 0:
		s.resources.memory += n
	case waits[WaitsForUnit] == 0:
		s.resources.idle += n
	}
}

// lacksResources reports whether a warp waits for resources.
func (s *sm) lacksResources(slot int) bool {
	return s.resources != nil && s.resources.pending>>slot&1 != 0
}

// endEpoch ends an epoch if its cycles are over.
func (s *sm) endEpoch(now int64) {
	if now >= s.resources.epoch {
		s.resources.Epoch(s.resources.idle, s.resources.memory)
		s.resources.epoch += (now-s.resources.epoch)/epochCycles*epochCycles + epochCycles
	}
}

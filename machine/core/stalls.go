package core

// Stalls has a count for each reason, in cycles of schedulers. A cycle of a scheduler has the first reason that holds: it issues; an assist warp issues; a warp
// could issue, but its unit is busy; a warp could issue, but the memory unit is full; a warp waits for a result; none of these.
type Stalls struct {
	Active  int64 `json:"active"`  // an instruction is issued
	Compute int64 `json:"compute"` // the oldest warp that is ready waits for the unit of another class than memory
	Memory  int64 `json:"memory"`  // the oldest warp that is ready waits for a place in the memory unit
	Data    int64 `json:"data"`    // the oldest warp waits for registers, for asynchronous copies, or for the end of a branch
	Barrier int64 `json:"barrier"` // all warps wait at barriers, or have ended
	Idle    int64 `json:"idle"`    // there is no warp with a further instruction, or all such warps wait for resources

	Assist int64 `json:"assist,omitempty"` // an instruction of an assist warp is issued, for a line of this instruction
}

// Add adds the cycles of o.
func (s *Stalls) Add(o *Stalls) {
	s.Active += o.Active
	s.Compute += o.Compute
	s.Memory += o.Memory
	s.Data += o.Data
	s.Barrier += o.Barrier
	s.Idle += o.Idle
	s.Assist += o.Assist
}

// Total returns the sum of all counts.
func (s *Stalls) Total() int64 {
	return s.Active + s.Compute + s.Memory + s.Data + s.Barrier + s.Idle + s.Assist
}

// Instr is the cycles of schedulers of an instruction, over all multiprocessors. Active is the number of its executions, Idle is 0.
type Instr struct {
	Stalls
	Causes int64 // cycles of Data in which warps wait for a result of this instruction, or for the end of a branch or barrier
	Full   Full  // cycles of Memory in which the memory unit serves this instruction
}

// Full is the cycles of Memory, of any instruction, in which the memory unit serves an instruction, by the reason why it takes no other. It
// serves the latest one of which it has taken something, or wanted to, in the cycle or in the passes in progress; without one, its first.
type Full struct {
	MSHRs int64 `json:"mshrs"` // it waits for an MSHR, or for a place for a merged access
	Queue int64 `json:"queue"` // it waits for a place in the queue of the memory behind the L1
	Banks int64 `json:"banks"` // it passes over the banks of shared memory
	Lines int64 `json:"lines"` // it takes lines
}

// Add adds the cycles of o.
func (f *Full) Add(o *Full) {
	f.MSHRs += o.MSHRs
	f.Queue += o.Queue
	f.Banks += o.Banks
	f.Lines += o.Lines
}

// Total returns the sum of all counts.
func (f *Full) Total() int64 { return f.MSHRs + f.Queue + f.Banks + f.Lines }

// Counts are the accesses to the L1, in sectors. Loads = Hits + InFlight + Misses.
type Counts struct {
	Instructions int64 `json:"instructions"` // executed warp instructions
	Loads        int64 `json:"loads"`        // sectors that loads access, without those that bypass the L1
	Hits         int64 `json:"hits"`         // of these, sectors that the L1 has
	InFlight     int64 `json:"in_flight"`    // of these, sectors that have been requested and have not arrived
	Misses       int64 `json:"misses"`       // of these, other sectors
	Bypasses     int64 `json:"bypasses"`     // sectors of loads that bypass the L1
	Stores       int64 `json:"stores"`       // sectors of stores and of atomics
	Prefetches   int64 `json:"prefetches"`   // sectors that are read before they are accessed
	// UsedPrefetches are, of Prefetches, the sectors of lines that a load accesses before they leave the L1.
	UsedPrefetches int64 `json:"used_prefetches,omitempty"`
	FullMSHRs      int64 `json:"full_mshrs"` // cycles in which the memory unit waits for an entry or a place for a merged access
	FullQueue      int64 `json:"full_queue"` // cycles in which the memory unit waits for a place in the queue of the memory behind the L1

	AssistCounts
}

// AssistCounts are the counts of assist warps.
type AssistCounts struct {
	AssistFills        int64 `json:"assist_fills,omitempty"`        // lines that assist warps decompress
	AssistStores       int64 `json:"assist_stores,omitempty"`       // stores of whole lines that assist warps compress
	MergedStores       int64 `json:"merged_stores,omitempty"`       // stores of a part of a compressed line, which is decompressed, merged and compressed again
	RawStores          int64 `json:"raw_stores,omitempty"`          // stores of whole lines that are sent without a compression, because the buffer of stores is full
	CombinedStores     int64 `json:"combined_stores,omitempty"`     // stores of a part of a line that were combined with an earlier one in the buffer of stores
	AssistHits         int64 `json:"assist_hits,omitempty"`         // loads of lines that the L1 has in a form, each with an assist warp
	AssistMisses       int64 `json:"assist_misses,omitempty"`       // misses of loads that start an assist warp
	DroppedMisses      int64 `json:"dropped_misses,omitempty"`      // misses that start none, because their warp has too many of them
	EndedMisses        int64 `json:"ended_misses,omitempty"`        // of AssistMisses, those without effect, because the parent warp ended first
	AssistInstructions int64 `json:"assist_instructions,omitempty"` // instructions of assist warps
}

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Instructions += o.Instructions
	c.Loads += o.Loads
	c.Hits += o.Hits
	c.InFlight += o.InFlight
	c.Misses += o.Misses
	c.Bypasses += o.Bypasses
	c.Stores += o.Stores
	c.Prefetches += o.Prefetches
	c.UsedPrefetches += o.UsedPrefetches
	c.FullMSHRs += o.FullMSHRs
	c.FullQueue += o.FullQueue
	c.AssistCounts.Add(&o.AssistCounts)
}

// Add adds the counts of o.
func (c *AssistCounts) Add(o *AssistCounts) {
	c.AssistFills += o.AssistFills
	c.AssistStores += o.AssistStores
	c.MergedStores += o.MergedStores
	c.RawStores += o.RawStores
	c.CombinedStores += o.CombinedStores
	c.AssistHits += o.AssistHits
	c.AssistMisses += o.AssistMisses
	c.DroppedMisses += o.DroppedMisses
	c.EndedMisses += o.EndedMisses
	c.AssistInstructions += o.AssistInstructions
}

// Package machine is a model of a GPU's memory system for any kernel: which loads hit in the caches, and which data the memory
// transfers. It runs the recorded requests of a launch (package stream) on a machine (Spec). The machine never changes a result: it
// decides the order and the place of requests only.
//
// A Machine has no clock; NewClock returns one that has. A dispatcher gives CTAs to multiprocessors (package dispatch), as many as fit. All resident warps that do not wait at
// a barrier execute an instruction in each step, in the order of multiprocessors, CTAs and warps. The L1 writes through and allocates lines for loads; the L2 writes back. A line
// has four sectors of 32 bytes; a miss fills only the accessed sectors. docs/machine.md has the details.
package machine

import (
	"cmp"
	"fmt"
	"slices"

	"gemu/machine/cache"
	"gemu/machine/codec"
	"gemu/machine/dispatch"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/probe"
)

// Counts are the sectors of 32 bytes that requests transfer.
//
// Loads = L1Hits + L1Misses. L1Compulsory <= L1Misses - L1Bypasses. UsedBytes <= 32 (Loads + Stores + Atomics). StoreReads + StoreExtra + CompulsoryReads
// <= Reads.
// L1Misses + L1Extra + Stores + Atomics = L2Hits + L2Misses. Reads <= L2Misses, unless memory transfers whole lines.
type Counts struct {
	Requests   int64 `json:"requests"`    // requests of warp instructions
	Loads      int64 `json:"loads"`       // sectors that loads access
	Stores     int64 `json:"stores"`      // sectors that stores write, which all go to the L2
	Atomics    int64 `json:"atomics"`     // sectors that atomics access, all in the L2
	L1Hits     int64 `json:"l1_hits"`     // loaded sectors that the L1 has
	L1Misses   int64 `json:"l1_misses"`   // loaded sectors that come from the L2, bypasses included
	L1Bypasses int64 `json:"l1_bypasses"` // loaded sectors of instructions that do not use the L1
	L2Hits     int64 `json:"l2_hits"`     // sectors of loads, stores and atomics that the L2 has
	L2Misses   int64 `json:"l2_misses"`   // sectors that the L2 does not have
	Reads      int64 `json:"reads"`       // sectors read from memory: missing sectors, without those that a store writes whole
	WriteBacks int64 `json:"write_backs"` // sectors written to memory when their line left the L2

	L1Extra         int64 `json:"l1_extra"`         // sectors that an L1 of whole lines reads from the L2 besides the accessed ones
	L1StoreHits     int64 `json:"l1_store_hits"`    // stored sectors that the L1 has
	L2WriteHits     int64 `json:"l2_write_hits"`    // sectors of stores and atomics that the L2 has
	UsedBytes       int64 `json:"used_bytes"`       // accessed bytes of the sectors; bytes that several lanes of a request access count once
	L1Compulsory    int64 `json:"l1_compulsory"`    // L1 misses that an L1 of unlimited size would also have, without bypasses
	StoreReads      int64 `json:"store_reads"`      // reads of sectors of which a store writes a part
	StoreExtra      int64 `json:"store_extra"`      // reads of the other sectors of a line, because a store writes a part of it and memory transfers whole lines
	CompulsoryReads int64 `json:"compulsory_reads"` // other reads that an L2 of unlimited size would also have: the first use of the data
}

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Requests += o.Requests
	c.Loads += o.Loads
	c.Stores += o.Stores
	c.Atomics += o.Atomics
	c.L1Hits += o.L1Hits
	c.L1Misses += o.L1Misses
	c.L1Bypasses += o.L1Bypasses
	c.L2Hits += o.L2Hits
	c.L2Misses += o.L2Misses
	c.Reads += o.Reads
	c.WriteBacks += o.WriteBacks
	c.L1Extra += o.L1Extra
	c.L1StoreHits += o.L1StoreHits
	c.L2WriteHits += o.L2WriteHits
	c.UsedBytes += o.UsedBytes
	c.L1Compulsory += o.L1Compulsory
	c.StoreReads += o.StoreReads
	c.StoreExtra += o.StoreExtra
	c.CompulsoryReads += o.CompulsoryReads
}

// Traffic returns the number of sectors read from memory and written to it.
func (c *Counts) Traffic() int64 { return c.Reads + c.WriteBacks }

// Leaving returns the number of sectors that leave the multiprocessor, and of those that memory reads.
func (c *Counts) Leaving() int64 { return c.L1Misses + c.Stores + c.Atomics + c.Reads }

// Launch has the counts of a launch on a machine.
type Launch struct {
	*probe.LaunchInfo
	Counts
	Resident  int             // CTAs that fit on a multiprocessor at a time
	LimitedBy occupancy.Limit // resource that limits their number
	L1        int             // bytes of the L1 of each multiprocessor
	Err       error           // error that ended the launch
	Instrs    []Counts        // by index of the instruction in the program; WriteBacks are 0
	Buffers   []Buffer        // in the order of their addresses
	Uses      []Use           // buffers that instructions access, by instruction
	Dirty     int64           // sectors in the L2 that differ from memory at the end of the launch
	Image     ImageCounts     // differences between the order of the machine and the execution, if the launch was recorded with data
	Changed   map[int]int64   // by index of the instruction: transactions of loads that would have seen another value
}

// Use is an access of an instruction to a buffer.
type Use struct {
	Instr  int              // index of the instruction in the program
	Kind   probe.AccessKind // direction
	Buffer stream.Buffer    // accessed memory
}

// Buffer has the counts of a buffer. Requests are those that access the buffer.
type Buffer struct {
	stream.Buffer
	Counts
}

// Transfer is sectors of a line that move between the L2 and memory.
type Transfer struct {
	Line    uint64        // number of the line: its address divided by stream.LineBytes; an arbitrary number for local memory
	Local   bool          // local memory
	Write   bool          // the sectors go to memory
	Sectors uint8         // a bit each
	Buffer  stream.Buffer // buffer of the line
	Access  *cache.Access // access that causes the transfer; that of another line for a line that leaves the L2

	image *image
}

// Bytes reads the line of the transfer, in the order of the machine. ok is false if its bytes are unknown: local memory, a freed buffer, a
// launch without data (stream.NewDataRecorder), and asynchronous copies to global memory.
func (t *Transfer) Bytes(to *stream.Line) (ok bool) {
	return !t.Local && t.image != nil && t.image.line(t.Line, to)
}

// BytesOf reads another line at the time of the transfer, as Bytes does.
func (t *Transfer) BytesOf(line uint64, to *stream.Line) (ok bool) {
	return t.image != nil && t.image.line(line, to)
}

// Origin returns how the bytes of the line were written last, in the order of the machine, and the encodings of its registers, which the caller must not
// change. Without data, and for local memory, nothing is known: it is Copied.
func (t *Transfer) Origin() (Origin, *codec.Registers) {
	if t.Local || t.image == nil {
		return Copied, &codec.Registers{}
	}
	o := t.image.origins.of(t.Line)
	return o.Origin, &o.registers
}

// Machine is a GPU with the launches that it has run. It is a stream.Consumer. The L2 keeps its lines from launch to launch.
type Machine struct {
	spec      Spec
	parts     *Parts // of spec.Systems
	registers int
	l2        *cache.Lines[l2Line]
	launches  []*Launch
	runs      map[*stream.Launch]*run // launches in progress
	buffers   []stream.Buffer         // accessed memory of all launches
	numbers   map[stream.Buffer]int   // index in buffers
	transfers []func(*Transfer)
	l2Seen    seenLines // lines of an L2 of unlimited size
	accesses  []func(*L2Access)
	copies    []func(stream.LineRange)
	origins   origins                  // of lines of the launches that were recorded with data
	dirty     stream.Table[*imageLine] // bytes of the dirty lines of the L2 at the end of the latest launch, if it was recorded with data
	err       error                    // first error of a dispatcher or a system
}

// l1Line is the valid sectors of a line.
type l1Line struct{ valid uint8 }

// l2Line is the valid sectors of a line, and those that differ from memory.
type l2Line struct {
	valid, dirty uint8
	owner        int // index in Machine.buffers of the buffer that made the line dirty
}

// New returns a machine. registers is the number of registers of a thread, which limits the resident CTAs; 0 means that of .maxnreg, or no
// limit without it. The spec must pass its Check.
func New(s Spec, registers int) *Machine {
	s, parts := s.withSystems()
	return &Machine{spec: s, parts: parts, registers: registers, runs: map[*stream.Launch]*run{}, numbers: map[stream.Buffer]int{}, l2: cache.New[l2Line](s.L2.shape(), s.L2.Policy.New)}
}

// L2Access is an access to sectors of a line in the L2.
type L2Access struct {
	*cache.Access                  // the access; Line is an arbitrary number for local memory
	Local         bool             // local memory
	Sectors       uint8            // a bit each
	Buffer        stream.Buffer    // buffer of the line
	Kind          probe.AccessKind // load, store or atomic
	Content       *stream.Content  // bytes of a store or an atomic, which the line does not have yet; nil without data, and of loads

	image *image
}

// Bytes reads the line before the access, in the order of the machine. ok is false if its bytes are unknown, as for Transfer.Bytes.
func (a *L2Access) Bytes(to *stream.Line) (ok bool) {
	return !a.Local && a.image != nil && a.image.line(a.Line, to)
}

// OnL2 adds a function that is called with each access to the L2, in the order of the machine. It must not keep the access.
func (m *Machine) OnL2(f func(*L2Access)) { m.accesses = append(m.accesses, f) }

// OnTransfer adds a function that is called with each transfer, in the order of the machine. It must not keep the transfer. Sectors that are dirty in the L2
// at the end of all launches are not transferred (Drain).
func (m *Machine) OnTransfer(f func(*Transfer)) { m.transfers = append(m.transfers, f) }

// OnHostWrite adds a function that is called, when a launch with data begins, with each range of lines that the host has written since the launch before, or
// allocated (stream.Launch.HostWrites). A recorder without encodings knows none.
func (m *Machine) OnHostWrite(f func(stream.LineRange)) { m.copies = append(m.copies, f) }

// Drain calls f with each dirty line of the L2, in any order: a write that would follow the latest launch. It changes nothing. The bytes of
// a line are those that the last launch that wrote it has left. The transfer has no access.
func (m *Machine) Drain(f func(*Transfer)) {
	left := &image{lines: m.dirty, origins: &m.origins}
	m.l2.All(func(number uint64, line *l2Line) {
		if line.dirty != 0 {
			f(&Transfer{Line: number, Local: number >= stream.FirstLocalLine, Write: true, Sectors: line.dirty, Buffer: m.buffers[line.owner], image: left})
		}
	})
}

// keepDirty keeps the bytes of the dirty lines of the L2.
func (m *Machine) keepDirty(i *image) {
	before := &image{lines: m.dirty, origins: &m.origins}
	m.dirty = stream.Table[*imageLine]{}
	m.l2.All(func(number uint64, line *l2Line) {
		if l := cmp.Or(i.written(number), before.written(number)); line.dirty != 0 && l != nil {
			*m.dirty.At(number) = l
		}
	})
}

// transfer calls the functions of OnTransfer.
func (r *run) transfer(line uint64, write bool, set uint8, buffer int, a *cache.Access) {
	if len(r.transfers) == 0 || set == 0 {
		return
	}
	t := &Transfer{Line: line, Local: line >= stream.FirstLocalLine, Write: write, Sectors: set, Buffer: r.buffers[buffer], Access: a, image: r.image}
	for _, f := range r.transfers {
		f(t)
	}
}

// Err returns the first error of a dispatcher of another module, which has not begun each CTA once, or of a system without its descriptors: the counts of
// the launch are wrong.
func (m *Machine) Err() error { return m.err }

// TakeLaunches returns the launches that have ended since the last call, and forgets them. Launches no longer returns them.
func (m *Machine) TakeLaunches() []*Launch {
	list := m.launches
	m.launches = nil
	return list
}

// Footprint returns the number of bytes of all lines that have been in the L2. A line takes all its bytes there, whichever sectors it has.
func (m *Machine) Footprint() int64 {
	lines := int64(0)
	for _, line := range m.l2Seen.All() {
		lines += int64(*line / isSeen)
	}
	return lines * stream.LineBytes
}

// Verify returns an error if the counts of a launch contradict each other, which is a fault of this package. TakeLaunches takes launches
// out of its reach.
func (m *Machine) Verify() error {
	for _, l := range m.launches {
		instrs := Counts{WriteBacks: l.WriteBacks}
		for i := range l.Instrs {
			instrs.Add(&l.Instrs[i])
		}
		buffers := Counts{}
		for i := range l.Buffers {
			if err := l.Buffers[i].verify(&m.spec); err != nil {
				return fmt.Errorf("BUG: kernel %s on machine %s, %s: %w", l.Kernel.Name, m.spec.Name, l.Buffers[i].Name, err)
			}
			buffers.Add(&l.Buffers[i].Counts)
		}
		buffers.Requests = l.Requests // a request may access several buffers
		if instrs != l.Counts || buffers != l.Counts {
			return fmt.Errorf("BUG: kernel %s on machine %s: %+v, of instructions %+v, of buffers %+v", l.Kernel.Name, m.spec.Name, l.Counts, instrs, buffers)
		}
		changed := int64(0)
		for _, n := range l.Changed {
			changed += n
		}
		if changed != l.Image.Changed || changed > l.Image.Loads {
			return fmt.Errorf("BUG: kernel %s on machine %s: %d of %d loads would have seen another value, of instructions %d", l.Kernel.Name, m.spec.Name, l.Image.Changed, l.Image.Loads, changed)
		}
	}
	return nil
}

// verify returns an error if an equation of Counts does not hold.
func (c *Counts) verify(s *Spec) error {
	for _, rule := range []struct {
		text  string
		holds bool
	}{
		{"loads = l1_hits + l1_misses", c.Loads == c.L1Hits+c.L1Misses},
		{"l1_bypasses + l1_compulsory <= l1_misses", c.L1Bypasses+c.L1Compulsory <= c.L1Misses},
		{"l1_extra = 0 without an L1 of whole lines", c.L1Extra == 0 || s.L1Lines},
		{"l1_store_hits <= stores", c.L1StoreHits <= c.Stores},
		{"l1_misses + l1_extra + stores + atomics = l2_hits + l2_misses", c.L1Misses+c.L1Extra+c.Stores+c.Atomics == c.L2Hits+c.L2Misses},
		{"l2_write_hits <= stores + atomics", c.L2WriteHits <= c.Stores+c.Atomics},
		{"reads <= l2_misses without transfers of whole lines", c.Reads <= c.L2Misses || s.WholeLines},
		{"store_reads + store_extra + compulsory_reads <= reads", c.StoreReads+c.StoreExtra+c.CompulsoryReads <= c.Reads},
		{"store_extra = 0 without transfers of whole lines", c.StoreExtra == 0 || s.WholeLines},
		{"used_bytes <= 32 (loads + stores + atomics)", c.UsedBytes <= stream.SectorBytes*(c.Loads+c.Stores+c.Atomics)},
	} {
		if !rule.holds {
			return fmt.Errorf("the counts contradict %s: %+v", rule.text, *c)
		}
	}
	return nil
}

// Launches returns the launches that have ended.
func (m *Machine) Launches() []*Launch { return m.launches }

// BeginLaunch begins a launch.
func (m *Machine) BeginLaunch(l *stream.Launch) {
	out := &Launch{LaunchInfo: l.LaunchInfo, Instrs: make([]Counts, l.Program.Len())}
	var level Level
	out.Resident, out.LimitedBy, level = m.spec.resources(l, m.registers, m.parts)
	out.L1 = level.Bytes
	r := &run{Machine: m, launch: out, localLines: l.LocalLines, writeBacks: map[int]int64{}, arrived: map[int]*stream.CTA{}}
	r.uses, r.lastUse = map[usage]*Counts{}, make([]lastUse, l.Program.Len())
	for i := range r.lastUse {
		r.lastUse[i].buffer = -1
	}
	own, policy, err := m.parts.begin(&Run{l, m.spec.SMs}, level.Policy)
	m.err = cmp.Or(m.err, err)
	r.dispatcher = m.spec.dispatcher(l, own, max(out.Resident, 1))
	if l.Memory != nil {
		r.image, out.Changed = newImage(l, &m.origins), map[int]int64{}
		for _, written := range l.HostWrites {
			for _, f := range m.copies {
				f(written)
			}
		}
	}
	m.runs[l] = r
	r.l1Seen = make([]seenLines, m.spec.SMs)
	for range m.spec.SMs {
		r.sms = append(r.sms, cache.New[l1Line](level.shape(), policy))
	}
}

// registers returns the number of registers of a thread: n unless it is 0, that of .maxnreg, or that of Registers; 0: it is unknown.
func (s *Spec) registers(l *stream.Launch, n int) int {
	if n = cmp.Or(n, min(l.Kernel.MaxRegisters(), occupancy.MaxRegisters)); n == 0 && s.Registers != nil {
		n = min(s.Registers(l.Kernel), occupancy.LimitsOf(s.SM).PerThread) // a compiler uses no more
	}
	return n
}

// resources returns the CTAs of a launch that fit on a multiprocessor, the resource that limits them, and the L1 that their shared memory
// leaves. registers is the number of registers of a thread; 0: see Spec.registers; without any there is no limit. A thread has in addition those of
// the assist routines of the machine's systems.
func (s *Spec) resources(l *stream.Launch, registers int, parts *Parts) (resident int, by occupancy.Limit, l1 Level) {
	block := occupancy.Block{Threads: l.Block.Count(), Registers: s.registers(l, registers), Shared: l.SharedBytes}
	if block.Registers > 0 {
		block.Registers += parts.assistRegisters()
	}
	limits := s.limits()
	resident, by = limits.Resident(block)
	shared := 0
	if l.SharedBytes > 0 {
		shared = max(resident, 1) * (l.SharedBytes + limits.Reserved)
	}
	return resident, by, s.l1(shared)
}

// CTA runs the launch until a place is free and no CTA waits.
func (m *Machine) CTA(l *stream.Launch, c *stream.CTA) {
	r := m.runs[l]
	for _, b := range l.Buffers[len(r.local):] {
		n, ok := m.numbers[b]
		if !ok {
			n = len(m.buffers)
			m.buffers, m.numbers[b] = append(m.buffers, b), n
		}
		r.local = append(r.local, n)
	}
	r.arrived[c.Index] = c
	r.advance(false)
}

// EndLaunch runs the launch to its end.
func (m *Machine) EndLaunch(l *stream.Launch, err error) {
	r := m.runs[l]
	delete(m.runs, l)
	r.advance(true)
	if e := r.dispatcher.Err(); err == nil && m.err == nil && e != nil {
		m.err = fmt.Errorf("kernel %s on machine %s: %w", l.Kernel.Name, m.spec.Name, e)
	}
	out := r.launch
	out.Err = err
	if r.image != nil {
		if err == nil { // CTAs after that of a trap have not arrived
			r.image.end()
		}
		out.Image = r.image.ImageCounts
		m.keepDirty(r.image)
	}
	buffers := map[int]*Counts{}
	countsOf := func(buffer int) *Counts {
		if buffers[buffer] == nil {
			buffers[buffer] = &Counts{}
		}
		return buffers[buffer]
	}
	for u, c := range r.uses {
		out.Uses = append(out.Uses, Use{int(u.instr), u.kind, r.buffers[u.buffer]})
		countsOf(int(u.buffer)).Add(c)
		c.Requests = 0 // counted once for the instruction, and for each buffer of the request
		out.Instrs[u.instr].Add(c)
	}
	for buffer, n := range r.writeBacks {
		countsOf(buffer).WriteBacks += n
	}
	for n, c := range buffers {
		out.Counts.Add(c)
		out.Buffers = append(out.Buffers, Buffer{m.buffers[n], *c})
	}
	slices.SortFunc(out.Uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Instr, b.Instr), compareBuffers(&a.Buffer, &b.Buffer), cmp.Compare(a.Kind, b.Kind))
	})
	out.Requests = 0
	for i := range out.Instrs {
		out.Requests += out.Instrs[i].Requests
	}
	sortBuffers(out.Buffers)
	m.l2.All(func(_ uint64, line *l2Line) { out.Dirty += sectors(line.dirty) })
	m.launches = append(m.launches, out)
}

// run is a launch in progress.
type run struct {
	*Machine
	launch     *Launch
	localLines uint64        // stream.Launch.LocalLines
	local      []int         // index in Machine.buffers, by index in Launch.Buffers
	writeBacks map[int]int64 // Counts.WriteBacks, by index in Machine.buffers
	dispatcher *dispatch.Checked
	arrived    map[int]*stream.CTA    // CTAs that have not begun, by index
	waiting    *place                 // place of a CTA that has not arrived; nil: none
	places     int                    // places for which the dispatcher was asked at the beginning
	sms        []*cache.Lines[l1Line] // the L1 of each multiprocessor
	l1Seen     []seenLines            // lines of an L1 of unlimited size, by multiprocessor
	queue      queue
	uses       map[usage]*Counts // counts of accesses, without WriteBacks
	lastUse    []lastUse         // by instruction
	access     cache.Access      // reused: an access that a policy is given is on the heap
	image      *image            // nil without data
	content    *stream.Content   // bytes of the store in progress, which the image has not taken; nil: none
}

// seenLines are the lines of a cache of unlimited size, by number: their valid sectors, a bit each, and isSeen. An absent line is 0.
type seenLines = stream.Table[uint8]

// isSeen is the bit of a line that is in a cache of unlimited size, with valid sectors or without.
const isSeen = 1 << 7

// usage is an access of an instruction to the buffer with an index in Machine.buffers.
type usage struct {
	instr, buffer int32
	kind          probe.AccessKind
}

// lastUse is the latest usage of an instruction, and its counts.
type lastUse struct {
	usage
	counts *Counts
}

// countsOf returns the counts of an access.
func (r *run) countsOf(u usage) *Counts {
	last := &r.lastUse[u.instr]
	if last.usage != u {
		c := r.uses[u]
		if c == nil {
			c = &Counts{}
			r.uses[u] = c
		}
		*last = lastUse{u, c}
	}
	return last.counts
}

// lineOf returns the number of the line of a slot's transaction. The local memory of all resident warps is contiguous. A CTA has the local
// memory of the CTA before it at its place. Lines beyond the frames of all functions, in recursion, follow those of all warps.
func (r *run) lineOf(s *slot, t *stream.Transaction) uint64 {
	if !t.Local {
		return t.Line
	}
	size := max(r.localLines, 1)
	warps := uint64(len(s.cta.Warps))
	number := (uint64(s.place)*uint64(len(r.sms))+uint64(s.sm))*warps + uint64(s.warp)
	all := uint64(r.capacity()) * warps
	return stream.FirstLocalLine + (t.Line/size*all+number)*size + t.Line%size
}

// capacity returns the number of places for CTAs.
func (r *run) capacity() int { return max(r.launch.Resident, 1) * len(r.sms) }

// place is a place for a CTA on a multiprocessor.
type place struct {
	sm, number int
	step       int64 // step at which the CTA before it has ended
	index      int   // index of the next CTA
}

// slot is a resident warp. Slots are ordered by the step of their next request or meeting, then by their number, which is by multiprocessor,
// place of the CTA and warp.
type slot struct {
	step    int64
	start   int64 // step at which the CTA began, and the steps that the warp has waited at barriers
	records *stream.Warp
	cta     *resident
	next    int // index of the next request
	met     int // number of meetings that the warp has come to
	sm      int32
	place   int32
	warp    int32
	waiting int32 // number of the next warp that waits for the same meeting; -1: none
}

// resident is a CTA on a multiprocessor.
type resident struct {
	*stream.CTA
	running  int       // warps that have not ended
	meetings []meeting // by number
}

// meeting is a meeting of warps at a barrier.
type meeting struct {
	missing int32 // warps that have not come
	waiting int32 // number of the slot of a warp that waits for them; -1: none
}

// nextStep returns the step of the slot's next request or meeting, or of its warp's end.
func (s *slot) nextStep() int64 {
	w := s.records
	switch {
	case s.meets():
		return s.start + w.Meetings[s.met].Step
	case s.next < len(w.Requests):
		return s.start + w.Requests[s.next].Step
	}
	return s.start + w.Instructions
}

// meets reports whether a meeting follows, before the next request.
func (s *slot) meets() bool {
	w := s.records
	return s.met < len(w.Meetings) && (s.next == len(w.Requests) || w.Requests[s.next].Step > w.Meetings[s.met].Step)
}

// dispatcher returns the dispatcher of a launch on a machine with some places for CTAs on each multiprocessor. own is that of a system; nil is that
// of the machine.
func (s *Spec) dispatcher(l *stream.Launch, own *dispatch.Policy, places int) *dispatch.Checked {
	policy := cmp.Or(own, s.Dispatcher)
	if policy == nil {
		policy = dispatch.Rotation
	}
	out := &dispatch.Launch{Grid: l.Grid, SMs: s.SMs, Places: places}
	if !l.Ascending() {
		out.Order = func(position int) int { return l.Grid.Linear(l.CTAAt(position)) }
	}
	return dispatch.NewChecked(policy, out)
}

// advance runs warps until a place waits for a CTA that has not arrived, or to the end of the launch if all CTAs have arrived.
func (r *run) advance(all bool) {
	if p := r.waiting; p != nil {
		if r.waiting = nil; !r.begin(p, all) {
			return
		}
	}
	for places := r.capacity(); r.places < places; {
		p := &place{sm: r.places % len(r.sms), number: r.places / len(r.sms)}
		if r.places++; !r.next(p, all) {
			return
		}
	}
	for {
		number := r.queue.first()
		if number < 0 {
			return
		}
		s := &r.queue.slots[number]
		w := s.records
		if s.meets() {
			r.meet(number, &w.Meetings[s.met])
			continue
		}
		if s.next == len(w.Requests) {
			r.queue.remove(number)
			if s.cta.running--; s.cta.running == 0 {
				r.dispatcher.Ended(int(s.sm), s.cta.Index)
				if !r.next(&place{sm: int(s.sm), number: int(s.place), step: s.step}, all) {
					return
				}
			}
			continue
		}
		q := &w.Requests[s.next]
		s.next++
		var contents []stream.Content
		if r.image != nil {
			contents = w.Contents[q.First:][:q.N]
		}
		r.request(s, q, w.Transactions[q.First:][:q.N], contents)
		r.queue.move(number, s.nextStep())
	}
}

// meet brings the first warp of the queue to a meeting. A warp that waits leaves the queue until all warps have come; then all of them
// execute their next instruction in the next step.
func (r *run) meet(number int, at *stream.Meeting) {
	s := &r.queue.slots[number]
	s.met++
	m := &s.cta.meetings[at.Number]
	m.missing--
	if m.missing > 0 && at.Waits {
		r.queue.remove(number)
		s.waiting, m.waiting = m.waiting, int32(number)
		return
	}
	now := s.step
	r.queue.move(number, s.nextStep())
	if m.missing > 0 {
		return
	}
	for i := m.waiting; i >= 0; {
		w := &r.queue.slots[i]
		w.start += now - w.step
		r.queue.add(int(i), w.nextStep())
		i = w.waiting
	}
}

// next asks the dispatcher for the next CTA of a place. It returns false if the launch must wait for the CTA to arrive. If all is true, no further
// CTAs arrive.
func (r *run) next(p *place, all bool) bool {
	for !all || len(r.arrived) > 0 {
		cta, ok := r.dispatcher.Next(p.sm)
		if !ok {
			return true
		}
		if r.arrived[cta] != nil || !all {
			p.index = cta
			return r.begin(p, all)
		}
		r.dispatcher.Ended(p.sm, cta) // a trap has ended the launch before it
	}
	return true
}

// begin begins the CTA of a place. It returns false if the launch must wait for the CTA to arrive.
func (r *run) begin(p *place, all bool) bool {
	c := r.arrived[p.index]
	if c == nil {
		if all {
			r.dispatcher.Ended(p.sm, p.index)
			return r.next(p, all)
		}
		r.waiting = p
		return false
	}
	delete(r.arrived, p.index)
	if r.queue.slots == nil {
		r.queue = newQueue(r.capacity() * len(c.Warps))
	}
	cta := &resident{c, len(c.Warps), make([]meeting, c.Meetings)}
	for i := range cta.meetings {
		cta.meetings[i].waiting = -1
	}
	for w := range c.Warps {
		for i := range c.Warps[w].Meetings {
			cta.meetings[c.Warps[w].Meetings[i].Number].missing++
		}
	}
	first := (p.sm*max(r.launch.Resident, 1) + p.number) * len(c.Warps)
	for w := range c.Warps {
		s := &r.queue.slots[first+w]
		*s = slot{sm: int32(p.sm), place: int32(p.number), warp: int32(w), start: p.step, records: &c.Warps[w], cta: cta, waiting: -1}
		r.queue.add(first+w, s.nextStep())
	}
	return true
}

// request runs a request. contents has the bytes of its transactions; it is empty without data.
func (r *run) request(s *slot, q *stream.Request, list []stream.Transaction, contents []stream.Content) {
	r.launch.Instrs[q.Instr].Requests++
	lastBuffer := -1
	var counts *Counts
	a := &r.access
	*a = cache.Access{Store: q.Kind != probe.AccessLoad, SM: int(s.sm), CTA: s.cta.Index, Warp: int(s.warp), Instr: int(q.Instr)}
	for i := range list {
		t := &list[i]
		number := r.local[t.Buffer]
		if number != lastBuffer {
			counts = r.countsOf(usage{q.Instr, int32(number), q.Kind})
			counts.Requests++
			lastBuffer = number
		}
		a.Line = r.lineOf(s, t)
		if len(contents) > 0 && !t.Local {
			switch c := &contents[i]; {
			case q.Kind != probe.AccessLoad:
				r.content = c
			case !r.image.load(a.Line, c):
				r.launch.Changed[int(q.Instr)]++
			}
		}
		r.transaction(a, q, t, number, counts)
	}
}

// transaction runs the accesses to a line.
func (r *run) transaction(a *cache.Access, q *stream.Request, t *stream.Transaction, buffer int, n *Counts) {
	l1, seen := r.sms[a.SM], &r.l1Seen[a.SM]
	accessed := sectors(t.Sectors)
	n.UsedBytes += int64(t.Bytes)
	switch q.Kind {
	case probe.AccessStore:
		n.Stores += accessed
		valid := seen.Find(a.Line)
		if valid != nil && *valid != 0 {
			*valid |= t.Whole
		}
		if line := l1.Access(a); line != nil { // the L1 takes whole sectors and bytes of sectors that it has
			n.L1StoreHits += sectors(line.valid & t.Sectors)
			line.valid |= t.Whole
		}
		if r.spec.StoresEvict {
			l1.Remove(a.Line)
			if valid != nil {
				*valid = 0
			}
		}
		r.l2Access(a, q.Kind, t.Sectors, t.Whole, buffer, n)
		return
	case probe.AccessAtomic:
		n.Atomics += accessed
		if valid := seen.Find(a.Line); valid != nil {
			*valid &^= t.Sectors
		}
		if line := l1.Peek(a.Line); line != nil {
			line.valid &^= t.Sectors
		}
		r.l2Access(a, q.Kind, t.Sectors, 0, buffer, n)
		return
	}
	n.Loads += accessed
	if q.BypassL1 {
		n.L1Bypasses += accessed
		n.L1Misses += accessed
		r.l2Access(a, q.Kind, t.Sectors, 0, buffer, n)
		return
	}
	line := l1.Access(a)
	missing := t.Sectors
	if line != nil {
		missing &^= line.valid
	}
	misses := sectors(missing)
	n.L1Misses += misses
	n.L1Hits += accessed - misses
	if missing == 0 {
		return
	}
	fill := missing
	if r.spec.L1Lines {
		fill = allSectors
		if line != nil {
			fill &^= line.valid
		}
		n.L1Extra += sectors(fill) - misses
	}
	valid := seen.At(a.Line)
	if first := missing &^ *valid; first != 0 {
		n.L1Compulsory += sectors(first)
		if *valid != 0 || !q.KeepOutOfL1 {
			*valid |= fill | isSeen
		}
	}
	if line == nil && r.launch.L1 > 0 && !q.KeepOutOfL1 {
		line = l1.Insert(a, func(uint64, *l1Line) {})
	}
	if line != nil {
		line.valid |= fill
	}
	r.l2Access(a, q.Kind, fill, 0, buffer, n)
}

// allSectors is the set of all sectors of a line.
const allSectors = 1<<(stream.LineBytes/stream.SectorBytes) - 1

// l2Access accesses sectors in the L2. The sectors of whole are overwritten, so that a miss reads nothing.
func (r *run) l2Access(a *cache.Access, kind probe.AccessKind, accessed, whole uint8, buffer int, n *Counts) {
	dirty := kind != probe.AccessLoad
	if len(r.accesses) > 0 {
		access := &L2Access{a, a.Line >= stream.FirstLocalLine, accessed, r.buffers[buffer], kind, r.content, r.image}
		for _, f := range r.accesses {
			f(access)
		}
	}
	line := r.l2.Access(a)
	valid := uint8(0)
	if line != nil {
		valid = line.valid
	}
	missing := accessed &^ valid
	misses := sectors(missing)
	n.L2Misses += misses
	n.L2Hits += sectors(accessed) - misses
	if dirty {
		n.L2WriteHits += sectors(accessed) - misses
	}
	read, written := missing&^whole, accessed
	if r.spec.WholeLines {
		if written = allSectors; whole&^valid|valid != allSectors && missing != 0 {
			read = allSectors &^ valid
		}
	}
	n.Reads += sectors(read)
	if missing != 0 {
		seen := r.l2Seen.At(a.Line)
		if kind == probe.AccessStore {
			partly := sectors(missing &^ whole)
			n.StoreReads += partly
			n.StoreExtra += sectors(read) - partly
		} else {
			n.CompulsoryReads += sectors(read &^ *seen)
		}
		*seen |= accessed | read | isSeen
	}
	if line == nil && r.spec.L2.Bytes > 0 {
		line = r.l2.Insert(a, func(number uint64, old *l2Line) { r.writeBack(number, old, a) })
	}
	r.transfer(a.Line, false, read, buffer, a)
	if r.content != nil {
		r.image.write(a.Line, r.content)
		r.content = nil
	}
	if line == nil { // no cache, or the policy keeps the line out
		if dirty {
			r.writeBacks[buffer] += sectors(written)
			r.transfer(a.Line, true, written, buffer, a)
		}
		return
	}
	line.valid |= accessed | read
	if dirty {
		line.dirty |= written
		line.owner = buffer
	}
}

// writeBack writes a line that leaves the L2 because of an access. It counts for this launch and the buffer of the line, also if an earlier
// launch wrote it.
func (r *run) writeBack(number uint64, line *l2Line, a *cache.Access) {
	if line.dirty != 0 {
		r.writeBacks[line.owner] += sectors(line.dirty)
		r.transfer(number, true, line.dirty, line.owner, a)
	}
}

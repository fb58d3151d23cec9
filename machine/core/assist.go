package core

import (
	"cmp"
	"math/bits"
	"slices"

	"gemu/machine/cache"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// This file has the controller of assist warps of a multiprocessor (Vijaykumar et al. 2016, section 4). docs/design/assist-warps.md has the order
// of the events of a cycle.

// Routine is an assist routine: the instructions that assist warps execute.
type Routine struct {
	name    string
	high    bool
	program []operation
}

// NewRoutine returns a routine of a program. High: an assist warp comes before its parent warp, whose instructions wait; otherwise it issues in cycles
// in which no other warp can issue.
func NewRoutine(s *Spec, l *probe.LaunchInfo, name string, high bool) *Routine {
	return &Routine{name, high, decode(s, l)}
}

// Execution is an execution of a routine for a line.
type Execution struct {
	*Routine
	Path []int32 // executed instructions, by index in the program
}

// Forms are the compressed forms in which lines move between the L1 and the memory behind it.
type Forms interface {
	// Store returns the bursts of the form in which a store is sent as a whole line; 0: raw. c has the bytes of the store, which has a part of the line or
	// all of it. If an assist warp compresses the line, Store returns its execution, for multiprocessor sm.
	Store(sm int, line uint64, c *stream.Content) (bursts int, compress *Execution)
	// Fill returns the execution that decompresses a line which has come in a compressed form; nil: dedicated logic does it.
	Fill(sm int, line uint64) *Execution
}

// Misses are the routines that begin when loads miss the L1.
type Misses interface {
	// Miss returns the execution for a load of an instruction that misses a line, and the lines that are read ahead at its end; nil: none. A load that is
	// the first to access a line that was read ahead counts as a miss. state is the register of the warp for these routines: 4 bytes for each of 32 lanes,
	// 0 when the warp begins. Miss changes it.
	Miss(state *stream.Line, instr int32, line uint64) (*Execution, []uint64)
}

// maxMisses is the number of assist warps for misses that a warp has in the table. No source has a number.
const maxMisses = 4

// Assist has the numbers of the controllers of assist warps.
type Assist struct {
	StoreBuffer int // lines that wait for their compression; a store that finds no place is sent raw
	// CombineStores: a store of a part of a line waits in the buffer for other stores of the line. It is sent if its line is whole, if another line needs
	// the place, if the warp of the line's latest store has no further instruction, or before another access of the line: a load that the L1 sends, an
	// atomic, or a store of unknown bytes.
	CombineStores bool
	// L1Tags is the number of tags of the L1 for each of its ways. From 2 on the L1 keeps the forms of lines, as many as fit into its bytes and
	// have a tag. Each load that hits a form starts an assist warp, and a store removes a form. The policy of the L1 must be a cache.Orderer.
	L1Tags int
	// DirectLoad: an uncoalesced load takes its bytes from a form in no time, and the L1 keeps the form.
	DirectLoad bool
}

// stagedLow is the number of instructions of low priority in the instruction buffer (section 4.3 of the paper).
const stagedLow = 2

// firstPartial is the first number of requests that are stores of a part of a line.
const firstPartial = 1 << 40

// assists is the controller of a multiprocessor, with its table of assist warps and its buffer of stores.
type assists struct {
	Assist
	compress bool                     // assist warps compress and decompress lines; otherwise they run for misses only
	table    [2][maxSlots]assistQueue // for low and high priority, by slot of the parent
	used     [2]uint64                // slots of table with an assist warp
	deployed []*assistWarp            // those of table, in the order of their triggers
	triggers int64                    // assist warps that have been in table
	turn     int64                    // number of the trigger after that of the warp that was staged last
	low      int                      // staged instructions of low priority
	blocked  uint64                   // slots of parents that wait for an assist warp of high priority
	filling  []uint64                 // lines that assist warps decompress for the L1
	buffered int                      // stores in the buffer
	unsent   []*assistWarp            // compressions that have ended, and whose store the memory has not taken
	partial  []partialStore
	combined []combinedStore // stores in the buffer that wait for others of their line, the oldest first
	free     []int64         // unused elements of partial
	port     int64           // cycle in which a port of the memory unit serves an assist warp
	misses   [maxSlots]missState
}

// missState is the state of a parent warp for the routines of misses.
type missState struct {
	register stream.Line
	warps    int // assist warps in the table
}

// assistQueue are the assist warps of a priority for a parent warp. At most one of them is deployed at a time.
type assistQueue struct {
	deployed *assistWarp
	waiting  []*assistWarp // in the order of their triggers
}

// partialStore is a store of a part of a line whose reply is missing.
type partialStore struct {
	request memory.Request
	load    int32
}

// assistWarp is an entry of the table: an execution for a parent warp.
type assistWarp struct {
	*Execution
	number  int64 // of its trigger, in their order
	slot    int   // of the parent
	instr   int32 // instruction of the parent
	load    int32 // of the parent, for a store
	next    int   // index of the next instruction in Path
	staged  int   // instructions from it on that are in the instruction buffer
	from    int64 // cycle in which the next instruction can issue apart from its registers
	end     int64 // cycle of the latest result
	pending []write

	reply  memory.Reply    // the line that is decompressed
	store  *memory.Request // the store that is compressed; nil for a line that is decompressed
	merges bool            // store has a part of the line of reply: it is compressed then

	miss  bool     // it is for a miss of the parent, and ends without effect if the parent ends
	ahead []uint64 // lines that are read ahead at its end
}

// trigger adds an assist warp to the table, from which it is staged in this cycle at the earliest.
func (a *assists) trigger(w *assistWarp, now int64) {
	w.from, w.number = now, a.triggers
	a.triggers++
	q := a.queue(w)
	q.waiting = append(q.waiting, w)
	a.used[priority(w.high)] |= 1 << w.slot
}

// priority returns the index of a priority in the table.
func priority(high bool) int {
	if high {
		return 1
	}
	return 0
}

// queue returns the queue of an assist warp.
func (a *assists) queue(w *assistWarp) *assistQueue { return &a.table[priority(w.high)][w.slot] }

// assistsCompress reports whether assist warps compress and decompress the lines of a multiprocessor.
func (s *sm) assistsCompress() bool { return s.assists != nil && s.assists.compress }

// byTrigger compares an assist warp with a number of a trigger.
func byTrigger(w *assistWarp, number int64) int { return cmp.Compare(w.number, number) }

// takeReply takes a reply of the memory. It returns false if the reply has nothing to do with assist warps.
func (s *sm) takeReply(r *memory.Reply, now int64) bool {
	a := s.assists
	var w *assistWarp
	switch {
	case r.ID >= firstPartial:
		p := a.partial[r.ID-firstPartial]
		a.free = append(a.free, r.ID-firstPartial)
		if !r.Returned {
			s.run.unanswered--
			s.arrived(p.load, now)
			return true
		}
		l := &s.loads[p.load]
		w = &assistWarp{slot: int(l.slot), instr: l.instr, load: p.load, store: &p.request, merges: true}
		s.run.counts.MergedStores++
	case r.Bursts == 0 || r.ID == ignoredReply:
		return false
	default:
		load := int32(r.ID)
		if r.ID == lineReply {
			load = prefetch
			s.mshrs.All(r.Line, func(waiting int32) bool { load = waiting; return waiting == prefetch }) // the oldest that is no prefetch
			if load == prefetch {                                                                        // no warp waits for the line
				return false
			}
			if slices.Contains(a.filling, r.Line) { // sectors that were requested apart: they come with the line that is decompressed
				s.run.unanswered--
				return true
			}
			if a.DirectLoad && s.mshrs.All(r.Line, func(load int32) bool { return load == prefetch || s.loads[load].direct }) {
				return false
			}
		} else if a.DirectLoad && s.loads[load].direct {
			return false
		}
		l := &s.loads[load]
		w = &assistWarp{slot: int(l.slot), instr: l.instr}
	}
	w.reply = *r
	if w.Execution = s.run.plan.Forms.Fill(s.number, r.Line); w.Execution == nil {
		s.endAssist(w, now)
		return true
	}
	s.run.counts.AssistFills++
	if w.fillsL1() {
		a.filling = append(a.filling, r.Line)
	}
	a.trigger(w, now)
	return true
}

// fillsL1 reports whether an assist warp decompresses a line for the L1.
func (w *assistWarp) fillsL1() bool { return w.store == nil && w.reply.ID == lineReply }

// bufferStore takes a store that overwrites a whole line into the buffer, to compress it. It returns false if the store must be sent raw.
func (s *sm) bufferStore(q *memory.Request, content *stream.Content, load, instr int32, now int64) bool {
	a := s.assists
	if a.buffered >= a.StoreBuffer {
		return false
	}
	bursts, compress := s.run.plan.Forms.Store(s.number, q.Line, content)
	if compress == nil {
		return false
	}
	request := *q
	request.Bursts = bursts
	a.buffered++
	s.run.counts.AssistStores++
	s.loads[load].missing++
	a.trigger(&assistWarp{Execution: compress, slot: int(s.loads[load].slot), instr: instr, load: load, store: &request}, now)
	return true
}

// compressStore chooses how a store is sent: in a form of dedicated logic, as a part of a line, or raw. It returns true if the store is in the
// buffer, where an assist warp compresses it.
func (s *sm) compressStore(a *access, q *memory.Request, content *stream.Content, now int64) (buffered bool) {
	q.Content = content
	switch {
	case q.Kind != probe.AccessStore:
	case !s.assistsCompress() && q.Whole == allSectors:
		q.Bursts, _ = s.run.plan.Forms.Store(s.number, q.Line, content)
	case !s.assistsCompress():
	case q.Whole != allSectors && s.assists.CombineStores && content.Known() && s.combine(q, content, a.load, a.instr, now):
		return true
	case q.Whole != allSectors:
		q.Acknowledged = true
		q.ID = s.assists.newPartial(q, a.load)
	default:
		if s.assists.CombineStores {
			s.dropCombined(q.Line, now)
		}
		return s.bufferStore(q, content, a.load, a.instr, now)
	}
	return false
}

// newPartial returns the number of a request that is a store of a part of a line.
func (a *assists) newPartial(q *memory.Request, load int32) int64 {
	if n := len(a.free); n > 0 {
		i := a.free[n-1]
		a.free = a.free[:n-1]
		a.partial[i] = partialStore{*q, load}
		return firstPartial + i
	}
	a.partial = append(a.partial, partialStore{*q, load})
	return firstPartial + int64(len(a.partial)-1)
}

// stage moves instructions of an assist warp into the instruction buffer: as many as schedulers, of the next warp of the table in turn. A parent
// warp has at most one assist warp of each priority at a time.
func (a *assists) stage(width int) {
	var next *assistWarp
	for p, slots := range a.used {
		if p == 0 && a.low == stagedLow {
			continue
		}
		for ; slots != 0; slots &= slots - 1 {
			w := a.table[p][bits.TrailingZeros64(slots)].next(a.turn)
			// Numbers from turn on come first, then those before it.
			if w.toStage(width) > 0 && (next == nil || uint64(w.number-a.turn) < uint64(next.number-a.turn)) {
				next = w
			}
		}
	}
	if next == nil {
		return
	}
	count := next.toStage(width)
	if next.high {
		a.blocked |= 1 << next.slot
	} else {
		count = min(count, stagedLow-a.low)
		a.low += count
	}
	next.staged += count
	a.turn = next.number + 1
	if q := a.queue(next); q.deployed == nil {
		q.deployed = next
		i, _ := slices.BinarySearchFunc(q.waiting, next.number, byTrigger)
		q.waiting = slices.Delete(q.waiting, i, i+1)
		i, _ = slices.BinarySearchFunc(a.deployed, next.number, byTrigger)
		a.deployed = slices.Insert(a.deployed, i, next)
	}
}

// next returns the assist warp of a queue that can be staged: the deployed one, or the first whose turn it is. The queue is not empty.
func (q *assistQueue) next(turn int64) *assistWarp {
	if q.deployed != nil {
		return q.deployed
	}
	i, _ := slices.BinarySearchFunc(q.waiting, turn, byTrigger)
	return q.waiting[i%len(q.waiting)]
}

// toStage returns the number of instructions that can be staged, at most width at a time.
func (w *assistWarp) toStage(width int) int { return min(width, len(w.Path)-w.next) - w.staged }

// stepAssists ends the assist warps whose results are all there, and stages instructions of another.
func (s *sm) stepAssists(now int64) {
	a := s.assists
	for i := 0; i < len(a.deployed); {
		w := a.deployed[i]
		if w.next < len(w.Path) || max(w.end, w.from) > now {
			i++
			continue
		}
		a.deployed = slices.Delete(a.deployed, i, i+1)
		q := a.queue(w)
		if q.deployed = nil; len(q.waiting) == 0 {
			a.used[priority(w.high)] &^= 1 << w.slot
		}
		if w.high {
			a.blocked &^= 1 << w.slot
		}
		if w.fillsL1() {
			i := slices.Index(a.filling, w.reply.Line)
			a.filling = slices.Delete(a.filling, i, i+1)
		}
		s.endAssist(w, now)
	}
	a.stage(len(s.schedulers))
	for i := range s.schedulers {
		s.schedulers[i].stale = true
	}
}

// startMiss starts an assist warp for a load that misses a line.
func (s *sm) startMiss(load int32, line uint64, now int64) {
	slot, instr := int(s.loads[load].slot), s.loads[load].instr
	of := &s.assists.misses[slot]
	if of.warps == maxMisses {
		s.run.counts.DroppedMisses++
		return
	}
	x, ahead := s.run.plan.Misses.Miss(&of.register, instr, line)
	if x == nil {
		return
	}
	of.warps++
	s.run.counts.AssistMisses++
	s.assists.trigger(&assistWarp{Execution: x, slot: slot, instr: instr, miss: true, ahead: ahead}, now)
}

// dropMisses removes the assist warps for misses of a warp that ends.
func (s *sm) dropMisses(slot int) {
	a := s.assists
	if a.misses[slot].warps == 0 {
		return
	}
	s.run.counts.EndedMisses += int64(a.misses[slot].warps)
	a.misses[slot].warps = 0
	isMiss := func(w *assistWarp) bool { return w.slot == slot && w.miss }
	for _, w := range a.deployed {
		switch {
		case !isMiss(w):
		case w.high:
			a.blocked &^= 1 << slot
		default:
			a.low -= w.staged
		}
	}
	a.deployed = slices.DeleteFunc(a.deployed, isMiss)
	for p := range a.table {
		q := &a.table[p][slot]
		if q.deployed != nil && q.deployed.miss {
			q.deployed = nil
		}
		q.waiting = slices.DeleteFunc(q.waiting, isMiss)
		if q.deployed == nil && len(q.waiting) == 0 {
			a.used[p] &^= 1 << slot
		}
	}
}

// endAssist passes the line of an assist warp on.
func (s *sm) endAssist(w *assistWarp, now int64) {
	a := s.assists
	switch {
	case w.miss:
		a.misses[w.slot].warps--
		parent := &s.slots[w.slot]
		for _, line := range w.ahead {
			s.memoryUnit.access = cache.Access{SM: s.number, CTA: parent.cta.Index, Warp: parent.index, Instr: int(w.instr)}
			s.readAhead(line)
		}
	case w.store == nil:
		if a.L1Tags < 2 {
			w.reply.Bursts = 0 // the L1 has the line
		}
		s.deliver(&w.reply, now)
	case w.merges: // the line is decompressed, and is compressed with the bytes of the store
		s.run.unanswered--
		q := w.store
		content, _ := q.Content.(*stream.Content)
		bursts, compress := s.run.plan.Forms.Store(s.number, q.Line, content)
		q.Sectors, q.Whole, q.Bytes, q.Bursts, q.Acknowledged = allSectors, allSectors, stream.LineBytes, bursts, false
		a.buffered++ // also beyond StoreBuffer
		n := &assistWarp{Execution: compress, slot: w.slot, instr: w.instr, load: w.load, store: q}
		if compress == nil {
			a.unsent = append(a.unsent, n)
			return
		}
		a.trigger(n, now)
	default:
		a.unsent = append(a.unsent, w)
	}
}

// sendStores sends the stores whose compression has ended, until the memory takes no further one.
func (s *sm) sendStores(now int64) {
	a := s.assists
	if len(a.unsent) == 0 && !s.mustSendCombined() {
		return
	}
	if len(s.queue) == 0 || s.blocked {
		s.run.retry[s.number] = false
	}
	for i := 0; i < len(a.combined) && !s.run.retry[s.number]; {
		if !s.warpHasIssuedAll(&a.combined[i]) || !s.sendCombined(i, now) {
			i++
		}
	}
	for len(a.unsent) > 0 && s.send(a.unsent[0].store, now) {
		w := a.unsent[0]
		a.unsent = slices.Delete(a.unsent, 0, 1)
		a.buffered--
		s.arrived(w.load, now)
	}
}

// issueAssist issues an instruction of an assist warp of a priority, if scheduler i can: that with the oldest trigger.
func (s *sm) issueAssist(i int, high bool, now int64) bool {
	a := s.assists
	for _, w := range a.deployed {
		if w.staged == 0 || w.high != high || w.slot%len(s.schedulers) != i || w.from > now {
			continue
		}
		o := &w.program[w.Path[w.next]]
		if !s.canIssueAssist(w, o, i, now) {
			continue
		}
		at, from := int64(0), now+1
		if o.class == Memory { // a port serves it in the next cycle; the L1 has its line
			a.port = now + 1
			at = now + 1 + s.run.L1
		} else if at = s.occupy(o.class, i, now); o.class == Control {
			from = at
		}
		for _, register := range o.writes {
			w.pending = append(w.pending, write{at: at, register: register})
		}
		w.next, w.staged, w.from, w.end = w.next+1, w.staged-1, from, max(w.end, at)
		if !high {
			a.low--
		}
		s.run.instrs[w.instr].Assist++
		s.run.counts.AssistInstructions++
		return true
	}
	return false
}

// canIssueAssist reports whether the registers and the unit of the next instruction of an assist warp are there.
func (s *sm) canIssueAssist(w *assistWarp, o *operation, scheduler int, now int64) bool {
	w.pending = slices.DeleteFunc(w.pending, func(p write) bool { return p.at <= now })
	for i := range w.pending {
		if slices.Contains(o.registers, w.pending[i].register) {
			return false
		}
	}
	if o.class == Memory {
		return s.assists.port <= now
	}
	return s.free[o.unit][scheduler*len(s.free[o.unit])/len(s.schedulers)] <= now
}

// isActive reports whether the controller has something to do in the next cycle. retry: the memory has refused a request.
func (s *sm) isActive(retry bool) bool {
	a := s.assists
	return a.used != [2]uint64{} || !retry && (len(a.unsent) > 0 || s.mustSendCombined())
}

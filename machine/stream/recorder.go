package stream

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"gemu/internal/coalesce"
	"gemu/machine/codec"
	"gemu/probe"
	"gemu/ptx"
)

// Recorder is a probe that records launches, of several devices too. It holds the CTAs in flight, and CTAs that have ended before an
// earlier CTA.
type Recorder struct {
	consumer Consumer
	data     bool // record the contents of memory

	instructions bool    // record each instruction
	hostWrites   bool    // record the writes by the host
	encoder      Encoder // nil: stores have no encodings

	mu       sync.Mutex
	launches map[launchID]*launch    // in progress
	allocs   map[uint64]*allocations // by device, if the recorder records data
	written  map[uint64][]LineRange  // by device: Launch.HostWrites of the next launch
}

// NewRecorder returns a recorder for a consumer.
func NewRecorder(c Consumer) *Recorder {
	return &Recorder{consumer: c, launches: map[launchID]*launch{}, allocs: map[uint64]*allocations{}, written: map[uint64][]LineRange{}}
}

// NewDataRecorder returns a recorder that also records the bytes that stores write, and a sum of the bytes that loads see
// (Warp.Contents), and keeps the memory of the begin of each launch (Launch.Memory). Launches then run on a single host thread.
func NewDataRecorder(c Consumer) *Recorder {
	r := NewRecorder(c)
	r.data = true
	return r
}

// RecordInstructions makes the recorder record each instruction (Warp.Executed). It must be called before the first launch.
func (r *Recorder) RecordInstructions() { r.instructions = true }

// RecordHostWrites makes a recorder of data record the lines that the host writes (Launch.HostWrites). It must be called before the first launch, and needs a
// run: a recording of a run does not have them.
func (r *Recorder) RecordHostWrites() { r.hostWrites = true }

// Encode makes a recorder of data record the encodings of the registers that stores write as whole lines (Content.Registers), and the writes by the host, which
// end the encodings of lines. It must be called before the first launch, and needs a run: a recording of a run has no registers.
func (r *Recorder) Encode(x Encoder) {
	r.encoder = x
	r.RecordHostWrites()
}

// launchID identifies a launch.
type launchID struct{ device, number uint64 }

func idOf(l *probe.LaunchInfo) launchID { return launchID{l.Device, l.ID} }

// warpSizes are the numbers of records of a warp, each at most maxSize.
type warpSizes struct{ requests, transactions, executed int }

// maxSize limits the memory for a CTA that ends soon after one that does not.
const maxSize = 1 << 16

// launch is a launch in progress.
type launch struct {
	Launch
	numbers    map[Buffer]uint16
	next       int              // position, in the order in which CTAs begin, of the next CTA for the consumer
	ended      map[int]*cta     // ended CTAs from next on, by index
	clusters   map[int]*cluster // clusters of which a CTA has begun, and not all have, by the index of their first CTA
	inFlight   map[int]*cta
	readFromL2 []bool      // by index of the instruction
	keepOut    []bool      // by index of the instruction: Request.KeepOutOfL1
	arrivals   []bool      // by index of the instruction: arrives at a barrier without a wait
	notifies   []bool      // by index of the instruction: its asynchronous operations may notify mbarriers
	tests      []bool      // by index of the instruction: tests an mbarrier
	joins      bool        // the program has the barrier of the cluster
	sizes      []warpSizes // by warp, of the CTA that has ended last: probably those of the next
	atomics    int64       // recorded transactions of atomics, if the recorder records data
}

// Subscription asks for instructions and the addresses of their accesses.
func (r *Recorder) Subscription() probe.Subscription {
	s := probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnAfter | probe.OnEffect | probe.OnWake | probe.OnWarpEnd | probe.OnCTAEnd, Addresses: true}
	if r.data { // memory after an instruction has the bytes of that instruction only on a single host thread
		s.Events |= probe.OnAccess
		s.InOrder = true
	}
	if r.encoder != nil {
		s = s.Union(r.encoder.Subscription())
	}
	if r.hostWrites {
		s.Events |= probe.OnAlloc | probe.OnHostWrite
	}
	return s
}

// OnEvent begins and ends launches.
func (r *Recorder) OnEvent(e *probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case probe.OnAlloc, probe.OnHostWrite:
		if e.Bytes > 0 && e.Memory.Space() == ptx.Global {
			addr := e.Memory.Base + e.Offset
			r.written[e.Device] = append(r.written[e.Device], LineRange{addr / LineBytes, (addr+uint64(e.Bytes)-1)/LineBytes + 1})
		}
	case probe.OnLaunch:
		l := &launch{Launch: Launch{LaunchInfo: e.Launch}, numbers: map[Buffer]uint16{}, ended: map[int]*cta{}, clusters: map[int]*cluster{}, inFlight: map[int]*cta{}}
		l.UnknownPhases = map[int]bool{}
		if r.data {
			allocs := r.allocs[e.Launch.Device]
			if allocs == nil {
				allocs = newAllocations()
				r.allocs[e.Launch.Device] = allocs
			}
			l.HostWrites = r.written[e.Launch.Device]
			delete(r.written, e.Launch.Device)
			l.Memory = newMemory(allocs)
			allocs.memories[l.Memory] = true
		}
		local := uint64(16) // no variable is at offset 0
		counted := map[*ptx.Func]bool{}
		for i := range e.Launch.Program.Len() {
			instr, f := e.Launch.Program.At(i)
			l.readFromL2 = append(l.readFromL2, readsFromL2(instr))
			l.keepOut = append(l.keepOut, instr.Has("L1::no_allocate"))
			l.arrivals = append(l.arrivals, !instr.Form.Effects.HasAll(ptx.Waits))
			l.notifies = append(l.notifies, notifiesMbarrier(instr))
			l.tests = append(l.tests, testsMbarrier(instr))
			l.joins = l.joins || joinsCluster(instr)
			if !counted[f] {
				counted[f] = true
				frame := uint64(0)
				for _, v := range e.Launch.Program.Locals(f) {
					frame = max(frame, uint64(v.Offset)+uint64(v.Var.Size()))
				}
				local += (frame + 15) / 16 * 16
			}
		}
		l.LocalLines = (local*uint64(e.Launch.WarpSize) + LineBytes - 1) / LineBytes
		r.launches[idOf(e.Launch)] = l
		r.consumer.BeginLaunch(&l.Launch)
	case probe.OnLaunchEnd:
		l := r.launches[idOf(e.Launch)]
		if l == nil {
			return
		}
		for index, c := range l.inFlight {
			l.ended[index] = c
		}
		trap, last := (*probe.Trap)(nil), e.Launch.Grid.Count()
		hasTrap := errors.As(e.Err, &trap) && trap.Warp >= 0
		for ; len(l.ended) > 0 && l.next < last; l.next++ {
			at := e.Launch.CTAAt(l.next)
			if c := l.ended[e.Launch.Grid.Linear(at)]; c != nil {
				r.deliver(l, c)
			}
			if hasTrap && at == trap.CTA { // host threads may have run later CTAs
				size := e.Launch.Cluster.Count()
				last = (l.next/size + 1) * size
			}
		}
		delete(r.launches, idOf(e.Launch))
		r.consumer.EndLaunch(&l.Launch, e.Err)
		if r.data {
			delete(l.Memory.allocs.memories, l.Memory)
		}
	}
}

// CTA makes a sink that records a CTA.
func (r *Recorder) CTA(info *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.launches[idOf(info)]
	warps := (info.Block.Count() + info.WarpSize - 1) / info.WarpSize
	c := &cta{recorder: r, launch: l, CTA: CTA{Index: index, Warps: make([]Warp, warps)}, buffers: map[*probe.Allocation]uint16{}, issued: map[int64]int64{}}
	for i := range l.sizes {
		w, n := &c.Warps[i], &l.sizes[i]
		w.Requests, w.Transactions = make([]Request, 0, n.requests), make([]Transaction, 0, n.transactions)
		if r.instructions {
			w.Executed = make([]Instruction, 0, n.executed)
		}
	}
	if r.encoder != nil {
		c.encoder, c.encoderEvents = r.encoder.CTA(info, index, id), r.encoder.Subscription().Events
	}
	c.cluster = l.clusterOf(id, warps)
	c.Cluster = &c.cluster.Cluster
	if l.joins {
		c.arrivedAt = slices.Repeat([]int32{-1}, warps)
	}
	l.inFlight[index] = c
	return c
}

// clusterOf returns the cluster of a CTA that begins.
func (l *launch) clusterOf(id ptx.Dim3, warps int) *cluster {
	size := l.Cluster
	if size.Count() == 1 {
		return newCluster(1, warps)
	}
	first := l.Grid.Linear(ptx.Dim3{X: id.X / size.X * size.X, Y: id.Y / size.Y * size.Y, Z: id.Z / size.Z * size.Z})
	c := l.clusters[first]
	if c == nil {
		c = newCluster(size.Count(), warps)
		l.clusters[first] = c
	}
	return c
}

// end notes that a CTA has ended, and passes the CTAs for which all before them have been passed, and whose clusters have ended.
func (r *Recorder) end(l *launch, c *cta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(l.inFlight, c.Index)
	l.ended[c.Index] = c
	if c.cluster.running--; l.sizes == nil {
		l.sizes = make([]warpSizes, len(c.Warps))
	}
	for i := range c.Warps {
		w := &c.Warps[i]
		l.sizes[i] = warpSizes{min(len(w.Requests), maxSize), min(len(w.Transactions), maxSize), min(len(w.Executed), maxSize)}
	}
	for ; l.next < l.Grid.Count(); l.next++ {
		c := l.ended[l.Grid.Linear(l.CTAAt(l.next))]
		if c == nil || c.cluster.running > 0 {
			break
		}
		r.deliver(l, c)
	}
}

// deliver passes a CTA to the consumer.
func (r *Recorder) deliver(l *launch, c *cta) {
	c.finish()
	delete(l.ended, c.Index)
	r.consumer.CTA(&l.Launch, &c.CTA)
}

// noteUnknownPhase notes an instruction that tests an mbarrier without a use.
func (r *Recorder) noteUnknownPhase(l *launch, index int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.UnknownPhases[index] = true
}

// buffer returns the number of a buffer.
func (r *Recorder) buffer(l *launch, a *probe.Allocation) uint16 {
	b := Buffer{Name: "local memory"}
	if a != nil {
		b = Buffer{a.Label(), a.Base, a.Span}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := l.numbers[b]
	if !ok {
		n = uint16(min(len(l.Buffers), 1<<16-1)) // the last number is shared by all further buffers
		if int(n) == len(l.Buffers) {
			l.Buffers = append(l.Buffers, b)
		}
		l.numbers[b] = n
	}
	return n
}

// cta records a CTA.
type cta struct {
	CTA
	recorder *Recorder
	launch   *launch
	cluster  *cluster
	buffers  map[*probe.Allocation]uint16
	latestBuffer
	lines  lineSet                              // of an access or a bulk copy
	frames lineSet                              // of an access to local memory
	copies lineSet                              // of the copies (cp.async) of a warp's lanes, which are a single request
	banks  coalesce.Conflicts                   // of an access to shared memory, if the recorder records instructions
	addr   [64]uint64                           // addresses in shared memory of the lanes of a generic access
	latest [probe.ClusterBarrier]barrierMeeting // by barrier
	ended  []int                                // warps that have ended

	encoder       EncoderSink     // nil: stores have no encodings
	encoderEvents probe.Events    // that it needs
	registers     codec.Registers // encodings of the access in progress

	issued    map[int64]int64 // by number of an asynchronous operation that may notify an mbarrier, and has not: the step that has issued it
	arrivedAt []int32         // by warp: the phase of the barrier of the cluster at which it has arrived last; -1: none
}

// latestBuffer is the buffer of the latest transaction.
type latestBuffer struct {
	known  bool // there is one
	alloc  *probe.Allocation
	number uint16
}

// barrierMeeting is the latest meeting at a barrier.
type barrierMeeting struct {
	begun      bool // there is one
	completed  bool // a warp has waited until it completed
	generation int  // probe.WaitState.Generation
	number     int32
}

// OnEvent records an instruction.
func (c *cta) OnEvent(e *probe.Event) {
	if c.encoder != nil && e.Kind&c.encoderEvents != 0 {
		c.encoder.OnEvent(e)
	}
	switch e.Kind {
	case probe.OnAccess:
		if a := &e.Accesses[len(e.Accesses)-1]; a.Writes() && !a.Surface {
			c.keep(a, a.Lanes&e.Lanes)
		}
	case probe.OnAfter:
		w := &c.Warps[e.Warp]
		w.Instructions++
		if c.recorder.instructions {
			w.Executed = append(w.Executed, Instruction{Instr: int32(e.Index)})
		}
		for i := range e.Accesses {
			if a := &e.Accesses[i]; a.Lanes&e.Lanes != 0 && !a.Surface {
				c.access(e, a, a.Lanes&e.Lanes)
			}
		}
		c.request(e, &c.copies, probe.AccessLoad, c.launch.readFromL2[e.Index])
		if n := len(w.Requests) - 1; c.recorder.instructions && n >= 0 && w.Requests[n].Step == w.Instructions {
			w.countRequests()
		}
		if c.useMbarriers(e, w.Instructions); c.launch.tests[e.Index] && e.Lanes != 0 && len(e.Mbarriers) == 0 {
			c.recorder.noteUnknownPhase(c.launch, e.Index)
		}
	case probe.OnEffect:
		f := e.Effect
		if f.Issued && c.launch.notifies[e.Index] {
			c.issued[f.Number] = c.Warps[e.Warp].Instructions + 1 // before the event of its instruction
		}
		if f.Writes && c.launch.notifies[e.Index] {
			c.useMbarriers(e, c.issued[f.Number])
			delete(c.issued, f.Number)
		}
		if f.Issued && !f.Arrives && !f.FurtherDestination {
			c.effect(e)
		}
		if f.Writes && c.recorder.data {
			for i := range f.Segments {
				if p := &f.Segments[i]; p.To != nil && p.To.Space() == ptx.Global {
					c.launch.Memory.keep(p.To, p.ToOffset, p.Bytes)
				}
			}
		}
	case probe.OnWake:
		if e.Wait.Barrier == probe.ClusterBarrier {
			c.passCluster(e)
		} else if e.Wait.Barrier >= 0 {
			c.meet(e)
		}
	case probe.OnWarpEnd:
		if c.ended = append(c.ended, e.Warp); c.launch.joins {
			c.leaveCluster(e.Warp)
		}
	case probe.OnCTAEnd:
		c.recorder.end(c.launch, c)
	}
}

// countRequests counts the requests of the latest instruction.
func (w *Warp) countRequests() {
	x := &w.Executed[len(w.Executed)-1]
	for i := len(w.Requests) - 1; i >= 0 && w.Requests[i].Step == w.Instructions && x.Requests < ManyRequests; i-- {
		x.Requests++
	}
}

// meet records that lanes of a warp have arrived at a barrier, or have waited until it completed.
func (c *cta) meet(e *probe.Event) {
	m := &c.latest[e.Wait.Barrier]
	if !m.begun || m.generation != e.Wait.Generation {
		*m = barrierMeeting{begun: true, generation: e.Wait.Generation, number: int32(c.Meetings)}
		c.Meetings++
	}
	waits := !c.launch.arrivals[e.Index]
	if waits && !m.completed {
		m.completed = true
		if e.Wait.Threads == 0 { // the barrier has completed with the warps that had not ended
			for _, warp := range c.ended {
				c.comes(warp, m.number, false)
			}
		}
	}
	c.comes(e.Warp, m.number, waits)
}

// comes adds a meeting of a warp, unless it has it from other lanes.
func (c *cta) comes(warp int, number int32, waits bool) {
	w := &c.Warps[warp]
	if n := len(w.Meetings); n == 0 || w.Meetings[n-1].Number != number || waits && !w.Meetings[n-1].Waits {
		w.Meetings = append(w.Meetings, Meeting{w.Instructions, number, waits})
	}
}

// isPlain reports whether lanes access the same address, or elements next to each other.
func isPlain(a *probe.Access, lanes uint64) bool {
	runs := a.Runs(lanes)
	return len(runs) == 1 && (runs[0].Stride == 0 || runs[0].Stride == int64(a.Bytes))
}

// addPasses adds the passes of an access to shared or constant memory to the latest instruction of a warp.
func (c *cta) addPasses(warp int, a *probe.Access, addr []uint64, lanes uint64, space ptx.Space) {
	if !c.recorder.instructions {
		return
	}
	list := c.Warps[warp].Executed
	to := &list[len(list)-1]
	n := int64(0)
	switch {
	case space == ptx.Const:
		n = coalesce.DistinctWords(addr, lanes)
	case a.Bulk():
		for m := lanes; m != 0; m &= m - 1 {
			n += coalesce.RangePasses(uint64(a.Length(bits.TrailingZeros64(m))))
		}
	case space == a.Space && a.Kind != probe.AccessAtomic && a.Bytes <= 16 && isPlain(a, lanes):
		n = coalesce.IdealPasses(lanes, a.Bytes)
	default:
		n, _ = c.banks.Passes(addr, lanes, a.Bytes, a.Kind == probe.AccessAtomic)
	}
	to.Passes = uint16(min(int64(to.Passes)+n, math.MaxUint16))
	to.Shared = to.Shared || space == ptx.Shared
}

// contiguous returns the bytes that lanes access, if these are one range whose bytes ascend from lane to lane; n = 0 if they are not.
func contiguous(a *probe.Access, lanes uint64) (addr uint64, n int) {
	if a.Bulk() || a.SpareBytes > 0 {
		return 0, 0
	}
	first := bits.TrailingZeros64(lanes)
	switch runs := a.Runs(lanes); {
	case len(runs) != 1:
		return 0, 0
	case runs[0].Stride == 0:
		return a.Addr[first], a.Bytes
	case runs[0].Stride == int64(a.Bytes) && (lanes>>first)&(lanes>>first+1) == 0:
		return a.Addr[first], a.Bytes * bits.OnesCount64(lanes)
	}
	return 0, 0
}

// access records the accesses of lanes to memory.
func (c *cta) access(e *probe.Event, a *probe.Access, lanes uint64) {
	switch a.Space {
	case ptx.Shared, ptx.Const:
		c.addPasses(e.Warp, a, a.Addr, lanes, a.Space)
		return
	case ptx.Param: // of the kernel; those of calls are mostly in registers
		return
	}
	if addr, n := contiguous(a, lanes); n > 0 {
		if space, alloc, _, ok := a.AllocationAt(addr); ok && space == ptx.Global && addr-alloc.Base+uint64(n) <= alloc.Span {
			if c.recorder.data {
				c.launch.Memory.allocs.add(alloc)
			}
			c.lines.touch(alloc, addr, n)
			lanes = 0 // no lane is left
		}
	}
	shared := uint64(0)         // lanes that access shared memory by a generic address
	var alloc *probe.Allocation // of the lane before
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if alloc == nil || a.Addr[lane]-alloc.Base >= alloc.Span {
			switch space, found, offset, ok := a.PlaceOf(lane); {
			case !ok:
				continue
			case space == ptx.Local:
				c.frames.TouchLocal(offset, a.Length(lane), lane, e.Launch.WarpSize)
				continue
			case space == ptx.Shared:
				c.addr[lane] = offset
				shared |= 1 << lane
				continue
			case space != ptx.Global:
				continue
			default:
				alloc = found
				if c.recorder.data {
					c.launch.Memory.allocs.add(alloc)
				}
			}
		}
		c.lines.touch(alloc, a.Addr[lane], a.Length(lane))
	}
	if shared != 0 {
		c.addPasses(e.Warp, a, c.addr[:], shared, ptx.Shared)
	}
	if c.encoder != nil && a.Kind == probe.AccessStore {
		c.registers = c.encoder.Stored(e, a)
	}
	c.request(e, &c.lines, a.Kind, c.launch.readFromL2[e.Index])
	c.registers = codec.Registers{}
	c.request(e, &c.frames, a.Kind, c.launch.readFromL2[e.Index])
}

// effect records the global memory of an issued asynchronous copy. A bulk copy is a request of its own.
func (c *cta) effect(e *probe.Event) {
	for _, store := range []bool{false, true} {
		lines := &c.copies
		if e.Effect.Bulk {
			lines = &c.lines
		}
		for i := range e.Effect.Segments {
			p := &e.Effect.Segments[i]
			alloc, offset, n := p.From, p.FromOffset, p.Read
			if store {
				alloc, offset, n = p.To, p.ToOffset, p.Bytes
			}
			if alloc == nil || alloc.Space() != ptx.Global || n == 0 {
				continue
			}
			if c.recorder.data {
				c.launch.Memory.allocs.add(alloc)
			}
			lines.touch(alloc, alloc.Base+offset, n)
		}
		if !e.Effect.Bulk {
			continue
		}
		kind := probe.AccessLoad
		if store {
			kind = probe.AccessStore
			if e.Effect.Reduces {
				kind = probe.AccessAtomic
			}
		}
		c.request(e, lines, kind, true)
	}
}

// request records a request for lines, and empties their set.
func (c *cta) request(e *probe.Event, lines *lineSet, kind probe.AccessKind, bypassL1 bool) {
	if lines.Len() == 0 {
		return
	}
	w := &c.Warps[e.Warp]
	q := Request{Step: w.Instructions, Instr: int32(e.Index), Kind: kind, BypassL1: bypassL1, KeepOutOfL1: c.launch.keepOut[e.Index], First: int32(len(w.Transactions))}
	for t := range lines.All() {
		a := lines.allocation(t.Number)
		if c.recorder.data {
			w.Contents = append(w.Contents, c.content(e, &t, a, kind))
		}
		if b := &c.latestBuffer; !b.known || b.alloc != a {
			n, ok := c.buffers[a]
			if !ok {
				n = c.recorder.buffer(c.launch, a)
				c.buffers[a] = n
			}
			*b = latestBuffer{true, a, n}
		}
		w.Transactions = append(w.Transactions, Transaction{Line: t.Number, Sectors: t.Sectors, Whole: t.Whole, Bytes: uint8(t.Count()), Buffer: c.latestBuffer.number, Local: a == nil})
	}
	q.N = int32(len(w.Transactions)) - q.First
	if e.Kind == probe.OnEffect { // before the event of its instruction
		q.Step++
	}
	w.Requests = append(w.Requests, q)
	lines.reset()
}

// keep keeps the memory that lanes are about to write.
func (c *cta) keep(a *probe.Access, lanes uint64) {
	last := uint64(0)           // address after the line of the lane before
	var alloc *probe.Allocation // of the lane before
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if addr, n := a.Addr[lane], uint64(a.Length(lane)); addr+n <= last && addr+LineBytes >= last && addr-alloc.Base < alloc.Span {
			continue
		}
		if space, found, offset, ok := a.PlaceOf(lane); ok && space == ptx.Global && found != nil {
			alloc = found
			n := a.Length(lane)
			c.launch.Memory.keep(alloc, offset, n)
			last = ((a.Addr[lane]+uint64(n)-1)/LineBytes + 1) * LineBytes
		}
	}
}

// content returns the content of a transaction. The instruction has been executed, but an asynchronous copy has not written yet.
func (c *cta) content(e *probe.Event, t *coalesce.Touched, a *probe.Allocation, kind probe.AccessKind) Content {
	if a == nil || e.Kind == probe.OnEffect && kind != probe.AccessLoad {
		return Content{} // unknown
	}
	var line Line
	c.launch.Memory.Now(t.Number, &line)
	out := Content{Bytes: *t.Bytes}
	switch kind {
	case probe.AccessLoad:
		out.Sum = line.Sum(t.Bytes)
		return out
	case probe.AccessAtomic:
		c.launch.atomics++
		out.Atomic = c.launch.atomics
	}
	if out.Bytes == WholeLine {
		out.Registers = c.registers
	}
	for s := range out.Bytes {
		if out.Bytes[s] != 0 {
			out.Data = append(out.Data, line[s*SectorBytes:][:SectorBytes]...)
		}
	}
	return out
}

// lineSet is the lines of a request. Nearly all requests access a single allocation.
type lineSet struct {
	coalesce.Lines
	first  *probe.Allocation            // nil: local memory
	others map[uint64]*probe.Allocation // by line, if it is not first
}

// touch adds n bytes of an allocation.
func (l *lineSet) touch(alloc *probe.Allocation, addr uint64, n int) {
	l.Touch(addr, n)
	switch {
	case l.first == nil:
		l.first = alloc
	case l.first != alloc:
		if l.others == nil {
			l.others = map[uint64]*probe.Allocation{}
		}
		for line := addr / LineBytes; line <= (addr+uint64(n)-1)/LineBytes; line++ {
			l.others[line] = alloc
		}
	}
}

// allocation returns the allocation of a line; nil for local memory.
func (l *lineSet) allocation(line uint64) *probe.Allocation {
	if alloc := l.others[line]; alloc != nil {
		return alloc
	}
	return l.first
}

// reset empties the set.
func (l *lineSet) reset() {
	l.Reset()
	l.first = nil
	clear(l.others)
}

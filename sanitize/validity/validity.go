package validity

import (
	"runtime"
	"slices"
	"sync"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/plans"
)

// kind is a kind of use.
type kind uint8

const (
	unsetBranch kind = iota
	unsetGuard
	unsetCondition
	unsetAddress
	unsetMembermask
	unsetAtomic
	unsetPrint
	unsetCopy
	unsetCarry
	unsetStore
)

// kinds holds, for each kind, the texts of its findings.
var kinds = [...]struct {
	name, message, role string
	severity            finding.Severity
}{
	unsetBranch:     {"uninitialized branch", "the branch depends on an uninitialised value", "branch", finding.Error},
	unsetGuard:      {"uninitialized guard", "the guard depends on an uninitialised value", "guarded instruction", finding.Error},
	unsetCondition:  {"uninitialized condition", "the selection depends on an uninitialised value", "choice", finding.Error},
	unsetAddress:    {"uninitialized address", "the address depends on an uninitialised value", "access", finding.Error},
	unsetMembermask: {"uninitialized membermask", "the membermask depends on an uninitialised value", "instruction", finding.Error},
	unsetAtomic:     {"uninitialized atomic", "an atomic operation on an uninitialised value", "atomic operation", finding.Error},
	unsetPrint:      {"uninitialized print", "an argument of vprintf depends on an uninitialised value", "call", finding.Error},
	unsetCopy:       {"uninitialized copy to the host", "the host copies a value that was computed from uninitialised values", "copy", finding.Error},
	unsetCarry:      {"uninitialized carry", "the carry flag is read, but no instruction with .cc has written it", "instruction", finding.Error},
	unsetStore:      {"uninitialized store", "an uninitialised value is stored to memory that outlives the kernel", "store", finding.Notice},
}

// Name is the name of this tool in findings.
const Name = "init"

// Tool finds uses of uninitialised values. It watches the launches of a device, and is safe for concurrent
// launches.
type Tool struct {
	log *finding.Log

	plans plans.Cache[*plan]

	mu      sync.Mutex
	memory  map[*probe.Allocation]*memory
	origins []string // texts of origins in findings; numbers begin at 1
	known   map[string]uint32
	free    []*cta // contexts of ended CTAs, for reuse
}

// New returns a sanitizer that writes its findings to log.
func New(log *finding.Log) *Tool {
	return &Tool{log: log, memory: map[*probe.Allocation]*memory{}, origins: []string{""}, known: map[string]uint32{}}
}

// Subscription asks for instructions before their execution, with addresses.
func (t *Tool) Subscription() probe.Subscription {
	return probe.Subscription{
		Events: probe.OnCTA | probe.OnCTAEnd | probe.OnWarp | probe.OnBefore | probe.OnAccess | probe.OnOperation | probe.OnAfter | probe.OnCall | probe.OnReturn | probe.OnWake |
			probe.OnEffect | probe.OnPrint | probe.OnAlloc | probe.OnFree | probe.OnHostWrite | probe.OnHostRead,
		Addresses: true,
	}
}

// SelectEvents selects all instructions, because each can move values.
func (t *Tool) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	return t.plans.Get(l, newPlan).events
}

// ReducedEvents selects the events for an eased warp: only unwritten registers, and values computed from them, are invalid. Only
// instructions that handle these, and instructions with sources outside registers, can make a register invalid then.
func (t *Tool) ReducedEvents(l *probe.LaunchInfo) []probe.Events {
	return t.plans.Get(l, newPlan).easedEvents
}

// CTA returns the sink for a new CTA.
func (t *Tool) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		c := t.free[n-1]
		t.free = t.free[:n-1]
		return c
	}
	return &cta{tool: t}
}

// OnEvent handles the memory operations of the host.
func (t *Tool) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnAlloc:
		t.allocated(e)
	case probe.OnFree:
		t.mu.Lock()
		t.drop(e.Memory)
		t.mu.Unlock()
	case probe.OnHostWrite:
		t.memoryOf(e.Memory).set(e.Offset, bytesWithin(e), false, 0)
	case probe.OnHostRead:
		t.hostReads(e)
	}
}

// bytesWithin returns the number of the event's bytes that lie in its memory.
func bytesWithin(e *probe.Event) int {
	return int(min(uint64(e.Bytes), e.Memory.Size-min(e.Offset, e.Memory.Size)))
}

// allocated makes new memory invalid if its allocation is uninitialised.
func (t *Tool) allocated(e *probe.Event) {
	m := newMemory(e.Memory, e.Bytes, !e.Memory.HasUninitialised())
	t.mu.Lock()
	t.keep(m)
	t.mu.Unlock()
}

// keep stores m as the validity of its allocation. The caller must hold t.mu.
func (t *Tool) keep(m *memory) {
	t.drop(m.alloc)
	t.memory[m.alloc] = m
	if m.release != nil {
		cleanup := runtime.AddCleanup(t, func(release func()) { release() }, m.release)
		release := m.release
		m.release = func() {
			cleanup.Stop()
			release()
		}
	}
}

// drop forgets the validity of an allocation that is no longer accessed. The caller must hold t.mu.
func (t *Tool) drop(a *probe.Allocation) {
	if m := t.memory[a]; m != nil && m.release != nil {
		m.release()
	}
	delete(t.memory, a)
}

// memoryOf returns the validity of an allocation. An unknown allocation is valid.
func (t *Tool) memoryOf(a *probe.Allocation) *memory {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[a]
	if m == nil {
		m = newMemory(a, len(a.Data), true)
		t.keep(m)
	}
	return m
}

// Flags in the number of an origin: computed marks a computed value, in contrast to a copy; ofRegister marks a
// value from a register or the carry flag, in contrast to memory.
const (
	computed   = 1 << 31
	ofRegister = 1 << 30
)

// origin returns the number of an origin.
func (t *Tool) origin(text string) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.known[text]
	if n == 0 {
		n = uint32(len(t.origins))
		t.origins, t.known[text] = append(t.origins, text), n
	}
	return n
}

// originText returns the text of an origin for findings.
func (t *Tool) originText(n uint32) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.origins[n&^(computed|ofRegister)]
}

// hostReads checks memory that the host copies.
func (t *Tool) hostReads(e *probe.Event) {
	m, n := t.memoryOf(e.Memory), bytesWithin(e)
	if m.dirty.Load() == 0 {
		return
	}
	first, count, from := m.computed(e.Offset, n)
	if count == 0 {
		return
	}
	k := &kinds[unsetCopy]
	a := e.Memory
	t.log.Add(e, finding.Finding{
		Tool: Name, Kind: k.name, Message: k.message, Place: finding.Place{Role: k.role},
		Memory: &finding.Memory{Space: a.Space().String(), Name: a.Name, Offset: first, Address: a.Base + first, Bytes: count},
		Notes:  notes(t.originText(from)),
	})
}

func notes(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// cta tracks a CTA: the registers and local memory of its threads, and its shared memory.
type cta struct {
	tool    *Tool
	plan    *plan
	shared  *memory
	last    *memory // the latest result of memoryOf
	warps   []warp
	touched []touchedMemory // by instruction: the memory of its latest access
	held    map[int64]*effect
	written probe.Access // buffer of OnAccesses

	touchedShared []int // the instructions in touched whose memory is shared; its place differs in the next CTA
}

// touchedMemory is the memory of an instruction's latest access.
type touchedMemory struct {
	m        *memory
	space    ptx.Space // state space of the access
	delta    uint64    // the address of its first byte
	size     uint64
	isShared bool
}

// warp holds the registers of a warp, by call depth.
type warp struct {
	frames    []frame
	local     local
	next      int  // index of the next action of the current instruction
	changed   bool // the instruction had an operation event
	exchanged *exchanged

	eased      bool // the events are reduced: only registers that tainted instructions handle have invalid bits (frame.some)
	sinceCheck int  // instructions since the last test for this state
}

// frame holds the registers of the lanes at a call depth. The lanes may be in different functions.
type frame struct {
	dirty []uint64 // by row, the lanes with invalid bits
	rows  []*row
	local int  // offset of the running function's frame in local memory, in bytes
	some  bool // a row may be dirty; with plan.easesUnset, unwritten rows and rows that an eased warp has computed from them do not count

	fn      [64]*function // by lane: the called function
	retRows [64]int       // by lane: the offset of its frame in local memory
}

// row holds the invalid bits of a register in its dirty lanes.
type row struct {
	bits   [64]uint64 // the invalid bits, by lane
	origin [64]uint32
}

func (f *frame) grow(rows int) {
	for len(f.dirty) < rows {
		f.dirty, f.rows = append(f.dirty, 0), append(f.rows, nil)
	}
}

// invalid returns the invalid bits of a lane's register, and their origin.
func (f *frame) invalid(row, lane int) (v uint64, origin uint32) {
	if row < 0 || f.dirty[row]>>lane&1 == 0 {
		return 0, 0
	}
	r := f.rows[row]
	return r.bits[lane], r.origin[lane]
}

// set sets the invalid bits of a lane's register.
func (f *frame) set(bit, lane int, v uint64, origin uint32) {
	if bit < 0 {
		return
	}
	if v == 0 {
		f.dirty[bit] &^= 1 << lane
		return
	}
	r := f.rows[bit]
	if r == nil {
		r = new(row)
		f.rows[bit] = r
	}
	f.dirty[bit] |= 1 << lane
	f.some = true
	r.bits[lane], r.origin[lane] = v, origin
}

// easeEvery is the number of instructions of a warp between tests for invalid registers.
const easeEvery = 32

// ease reduces the events of a warp if all its registers are valid, apart from registers that have not been written.
func (w *warp) ease(e *probe.Event) {
	w.sinceCheck = 0
	anyDirty := false
	for i := range w.frames {
		f := &w.frames[i]
		dirty := slices.ContainsFunc(f.dirty, func(lanes uint64) bool { return lanes != 0 })
		if f.some = f.some && dirty; f.some {
			return
		}
		anyDirty = anyDirty || dirty
	}
	if w.eased = true; !anyDirty { // otherwise, lanes with unwritten operands may wait at a collective instruction
		w.exchanged = nil
	}
	e.ReduceEvents(true)
}

// endEase restores the full events of a warp that has an invalid register again.
func (w *warp) endEase(e *probe.Event) {
	if !w.eased {
		return
	}
	for i := range w.frames {
		if w.frames[i].some {
			w.eased = false
			e.ReduceEvents(false)
			return
		}
	}
}

// OnEvent handles the events of the CTA.
func (c *cta) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnBefore:
		c.before(e)
	case probe.OnAccess:
		if w := &c.warps[e.Warp]; w.eased {
			c.eased(e, w)
			w.endEase(e)
		}
	case probe.OnOperation:
		c.operation(e)
		c.warps[e.Warp].endEase(e)
	case probe.OnAfter:
		c.after(e)
		c.warps[e.Warp].endEase(e)
	case probe.OnCTA:
		c.begin(e)
	case probe.OnCTAEnd:
		c.tool.mu.Lock()
		c.tool.free = append(c.tool.free, c)
		c.tool.mu.Unlock()
	case probe.OnWarp:
		w := c.warp(e.Warp)
		for i := range w.frames {
			w.frames[i].some = false
		}
		c.enter(w, 0, c.plan.kernel, e.Lanes, 0)
		w.exchanged, w.sinceCheck = nil, 0
		if w.eased = !w.frames[0].some; w.eased {
			e.ReduceEvents(true)
		}
	case probe.OnCall:
		c.call(e)
		c.warps[e.Warp].endEase(e)
	case probe.OnReturn:
		c.returned(e)
		c.warps[e.Warp].endEase(e)
	case probe.OnWake:
		c.wake(e)
	case probe.OnEffect:
		c.effect(e)
	case probe.OnPrint:
		c.print(e)
	case probe.OnAlloc:
		c.tool.allocated(e)
	}
}

func (c *cta) begin(e *probe.Event) {
	t := c.tool
	p := t.plans.Get(e.Launch, newPlan)
	if c.plan != p || len(c.touched) != len(p.steps) {
		c.plan, c.touched, c.touchedShared = p, make([]touchedMemory, len(p.steps)), c.touchedShared[:0]
	}
	for _, i := range c.touchedShared {
		c.touched[i] = touchedMemory{}
	}
	c.touchedShared = c.touchedShared[:0]
	clear(c.held)
	c.last = nil
	shared := e.Shared()
	size := len(shared.Data)
	t.mu.Lock()
	m := t.memory[shared]
	if m == nil || len(m.bits) < size {
		m = newMemory(shared, size, false)
		t.keep(m)
	}
	t.mu.Unlock()
	m.invalidate(size)
	c.shared = m
}

func (c *cta) warp(i int) *warp {
	for len(c.warps) <= i {
		c.warps = append(c.warps, warp{})
	}
	return &c.warps[i]
}

// enter begins a function in lanes of a warp. Their registers and local memory become invalid.
func (c *cta) enter(w *warp, depth int, f *function, lanes uint64, bit int) {
	for len(w.frames) <= depth {
		w.frames = append(w.frames, frame{})
	}
	fr := &w.frames[depth]
	fr.grow(f.rows)
	if depth == 0 { // the warp begins
		clear(fr.dirty)
	} else {
		for i := range fr.dirty {
			fr.dirty[i] &^= lanes
		}
	}
	for i := range f.unset {
		o := &f.unset[i]
		r := f.row(o)
		if fr.rows[r] == nil {
			fr.rows[r] = new(row)
		}
		fr.dirty[r] |= lanes
		fr.some = fr.some || !c.plan.easesUnset
		all := uint64(1) // the carry flag is a single bit
		if o.Reg != ptx.NoReg {
			all = lowBits(bitsOf(f.fn.Regs[o.Reg].Type))
		}
		for lane := range 64 {
			if lanes>>lane&1 != 0 {
				fr.rows[r].bits[lane], fr.rows[r].origin[lane] = all, 0
			}
		}
	}
	w.local.forget(bit/4, lanes)
	fr.local = bit
	if depth == 0 { // nothing returns from a kernel
		return
	}
	for lane := range 64 {
		if lanes>>lane&1 != 0 {
			fr.fn[lane], fr.retRows[lane] = f, bit
		}
	}
}

// bitsOf returns the number of bits that a register of type t has in its row.
func bitsOf(t ptx.Type) int {
	if t == ptx.Pred {
		return 1
	}
	return t.Bits()
}

// before checks the values that must be valid before an instruction executes.
func (c *cta) before(e *probe.Event) {
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	if w.next, w.changed = 0, false; !w.eased {
		if w.sinceCheck++; w.sinceCheck > easeEvery {
			w.ease(e)
		}
	}
	f := &w.frames[e.Depth]
	f.local = e.Local
	if s.crossesPlaces {
		c.contributeLanes(e, w, f, s)
	}
	if s.guard >= 0 && f.dirty[s.guard]&e.Active != 0 {
		c.used(e, f, s.guard, e.Active, s.guardKind, s.instr.Guard.Reg)
	}
	if s.readsUnsetCarry {
		c.carryIn(e, f, s.fn.carry)
	}
	for i := range s.uses {
		u := &s.uses[i]
		if f.dirty[u.row]&e.Lanes != 0 {
			c.used(e, f, u.row, e.Lanes, u.kind, u.reg)
		}
		if u.high >= 0 && f.dirty[u.high]&e.Lanes != 0 {
			c.used(e, f, u.high, e.Lanes, u.kind, u.reg)
		}
	}
}

// used reports the use of a register with invalid bits by lanes. At least one lane must have such bits.
func (c *cta) used(e *probe.Event, f *frame, row int, lanes uint64, k kind, reg ptx.RegID) {
	lanes &= f.dirty[row]
	f.dirty[row] &^= lanes
	first := lowest(lanes)
	c.found(e, k, lanes, c.origin(e.Index, f.rows[row].origin[first], reg), nil)
}

// carryIn reports lanes that read an unwritten carry flag. A flag written with an invalid value counts as
// written.
func (c *cta) carryIn(e *probe.Event, f *frame, row int) {
	unset := uint64(0)
	each(f.dirty[row]&e.Lanes, func(lane int) {
		if f.rows[row].origin[lane] == 0 {
			unset |= 1 << lane
		}
	})
	if unset != 0 {
		f.dirty[row] &^= unset
		c.found(e, unsetCarry, unset, 0, nil)
	}
}

// forgetCarry makes the carry flag unwritten in lanes that return from a call (manual 9.7.2), if an instruction
// may read it then.
func (c *cta) forgetCarry(f *frame, fn *function, lanes uint64) {
	if fn.readsCarry {
		each(lanes, func(lane int) { f.set(fn.carry, lane, 1, 0) })
	}
}

// origin returns the origin of an invalid value that an instruction reads from a register. Without a known
// origin, the register is unwritten.
func (c *cta) origin(index int, origin uint32, reg ptx.RegID) uint32 {
	if origin != 0 {
		return origin
	}
	s := &c.plan.steps[index]
	if origin = s.register.Load(); origin == 0 {
		noun := "the carry flag"
		if reg != ptx.NoReg {
			noun = "register " + s.fn.fn.Regs[reg].Name
		}
		origin = ofRegister | c.tool.origin("the value was read from uninitialised "+noun+" at "+c.plan.place(index))
		s.register.Store(origin)
	}
	return origin
}

// eased handles the access of an instruction in a warp with reduced events, if it is a single access.
func (c *cta) eased(e *probe.Event, w *warp) {
	s := &c.plan.steps[e.Index]
	if !s.singleAccess {
		return
	}
	if acc := accessed(e); !acc.Bulk() && e.Lanes == acc.Lanes && c.clean(w, e.Index, acc, e.Lanes) {
		return
	}
	c.access(e, w, &w.frames[e.Depth], &s.actions[0])
}

// access handles an operation on memory.
func (c *cta) access(e *probe.Event, w *warp, f *frame, a *action) {
	switch a.behavior {
	case behaviorLoad:
		c.load(e, w, f, a)
	case behaviorStore:
		c.store(e, w, f, a)
	case behaviorAtomic:
		c.atomic(e, w, f, a)
	case behaviorTile:
		c.tile(e, w, f, a)
	}
}

// operation handles an operation before its execution.
func (c *cta) operation(e *probe.Event) {
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	a := &s.actions[w.next]
	for a.op != e.Operation { // skip actions folded into constants, which have no event
		w.next++
		a = &s.actions[w.next]
	}
	w.next++
	w.changed = true
	f := &w.frames[e.Depth]
	lanes := e.Lanes
	if a.behavior.isMemory() {
		c.access(e, w, f, a)
		return
	}
	if s.call != nil { // a call of a function that the machine provides
		each(lanes, func(lane int) {
			for i := range s.call.Rets {
				c.passTo(w, f, s.fn, &s.call.Rets[i], lane, e.Local, nil, 0)
			}
		})
		c.forgetCarry(f, s.fn, lanes)
	}
	any := uint64(0)
	for _, r := range a.sources {
		if r >= 0 {
			any |= f.dirty[r]
		}
	}
	if a.behavior >= behaviorShuffle { // depends on several lanes
		if any&lanes != 0 {
			c.exchange(e, f, a)
			f.some = f.some && !w.eased
			return
		}
	} else if a.behavior != behaviorNone && any&lanes != 0 {
		c.compute(e, f, a, any&lanes)
		f.some = f.some && !w.eased
		return
	}
	for _, r := range a.results {
		if r >= 0 {
			f.dirty[r] &^= lanes
		}
	}
}

// compute handles a lane-wise operation; any holds the lanes with invalid source bits.
func (c *cta) compute(e *probe.Event, f *frame, a *action, any uint64) {
	for _, r := range a.results { // a result may also be a source, so skip the lanes of any
		if r >= 0 {
			f.dirty[r] &^= e.Lanes &^ any
		}
	}
	if a.behavior == behaviorCompute {
		a.once.Do(func() {
			a.rule = ruleOf(a.op)
			a.rule.copies = a.rule.copies && !slices.ContainsFunc(a.results[1:], func(r int) bool { return r >= 0 })
		})
		if a.rule.copies {
			c.copyRow(e, f, a, any)
			return
		}
	}
	for ; any != 0; any &= any - 1 {
		lane := lowest(any)
		var inv, v [4]uint64
		origin := uint32(0)
		for i, r := range a.sources {
			bits, from := f.invalid(r, lane)
			if bits != 0 && origin == 0 {
				origin = c.origin(e.Index, from, a.op.Sources[i].Reg)
			}
			if i < 4 {
				inv[i] = bits
			}
		}
		if a.behavior == behaviorAny || len(a.sources) > 4 {
			for i, r := range a.results {
				f.set(r, lane, c.bitsOf(a, i), origin|computed)
			}
			continue
		}
		for i := range min(4, len(a.sources)) {
			if o := &a.op.Sources[i]; o.Kind == probe.ConstantOperand {
				v[i] = o.Value
			} else if o.Kind != probe.NoOperand {
				v[i] = e.Source(i).Lane(lane)
			}
		}
		if a.behavior == behaviorCompare {
			cmp, _ := a.op.Compute(v[0], v[1], 0, 0)
			invalid := inv[0]|inv[1] != 0 && !c.differs(a.op, v[0], v[1], inv[0]|inv[1])
			if a.op.Bool != "" && len(a.sources) > 2 {
				invalid = combined(a.op, cmp != 0, v[2] != 0, invalid, inv[2] != 0)
			}
			for i, r := range a.results {
				bits := uint64(0)
				if invalid {
					bits = c.bitsOf(a, i)
				}
				f.set(r, lane, bits, origin|computed)
			}
			continue
		}
		bits, copied := a.rule.invalid(a.op, &v, &inv)
		if !copied {
			origin |= computed
		}
		for i, r := range a.results {
			if i > 0 {
				bits = c.bitsOf(a, i)
			}
			f.set(r, lane, bits, origin)
		}
	}
}

// copyRow is compute for an operation whose result is its only source. Compilers move unwritten registers in loops.
func (c *cta) copyRow(e *probe.Event, f *frame, a *action, any uint64) {
	to := a.results[0]
	if to < 0 {
		return
	}
	if f.rows[to] == nil {
		f.rows[to] = new(row)
	}
	from, into, mask := f.rows[a.sources[0]], f.rows[to], c.bitsOf(a, 0)
	dirty := uint64(0)
	for lanes := any; lanes != 0; lanes &= lanes - 1 {
		lane := lowest(lanes) & 63
		v, origin := from.bits[lane]&mask, from.origin[lane]
		if v == 0 {
			continue
		}
		if origin == 0 {
			origin = c.origin(e.Index, 0, a.op.Sources[0].Reg)
		}
		into.bits[lane], into.origin[lane] = v, origin
		dirty |= 1 << lane
	}
	f.dirty[to] = f.dirty[to]&^any | dirty
	f.some = f.some || dirty != 0
}

// differs reports whether valid bits alone decide an equality comparison of integers.
func (c *cta) differs(o *probe.Operation, a, b, inv uint64) bool {
	return (o.Cmp == affinetrack.Eq || o.Cmp == affinetrack.Ne) && (a^b)&lowBits(int(o.Width))&^inv != 0
}

// bitsOf returns a mask of all bits of result i.
func (c *cta) bitsOf(a *action, i int) uint64 {
	if i == 0 {
		return lowBits(outBits(a.op))
	}
	return lowBits(a.op.Results[i].Bits)
}

// after handles collective instructions without operation events.
func (c *cta) after(e *probe.Event) {
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	if s.crossesPlaces && !w.changed {
		f := &w.frames[e.Depth]
		c.exchangeAcrossPlaces(e, w, f, s)
		f.some = f.some && !w.eased
	}
}

// wake handles the results of a barrier. Its operands were checked before.
func (c *cta) wake(e *probe.Event) {
	if e.Index < 0 {
		return
	}
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	if s.instr.Form.Family != ptx.FamilyBarrier {
		return
	}
	f := &w.frames[e.Depth]
	writes := c.plan.program.Operations(e.Index).Writes
	for i := range writes {
		if r := s.fn.row(&writes[i]); r >= 0 {
			f.dirty[r] &^= e.Lanes
		}
	}
}

// call copies the validity of arguments to the parameters of the called function.
func (c *cta) call(e *probe.Event) {
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	callee := c.plan.function(e.Callee)
	args := s.call.Args
	from := w.frames[e.Depth-1].local
	for len(w.frames) <= e.Depth {
		w.frames = append(w.frames, frame{})
	}
	// Arguments and parameters may overlap in memory. So read all of them first, lane by lane.
	type argument struct {
		bits   []byte
		origin uint32
	}
	var held [64][]argument
	each(e.Lanes, func(lane int) {
		for i := range args {
			bits, origin := c.passedFrom(w, &w.frames[e.Depth-1], s.fn, &args[i], lane, from, e.Index)
			held[lane] = append(held[lane], argument{bits, origin})
		}
	})
	c.enter(w, e.Depth, callee, e.Lanes, e.Local)
	f := &w.frames[e.Depth]
	each(e.Lanes, func(lane int) {
		for i := range min(len(args), len(callee.params)) {
			c.passTo(w, f, callee, &callee.params[i], lane, e.Local, held[lane][i].bits, held[lane][i].origin)
		}
	})
}

// returned copies the validity of results back to the caller.
func (c *cta) returned(e *probe.Event) {
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	to, from := &w.frames[e.Depth], &w.frames[e.Depth+1]
	each(e.Lanes, func(lane int) {
		callee := from.fn[lane]
		if callee == nil {
			return
		}
		for i := range min(len(callee.results), len(s.call.Rets)) {
			bits, origin := c.passedFrom(w, from, callee, &callee.results[i], lane, from.retRows[lane], e.Index)
			c.passTo(w, to, s.fn, &s.call.Rets[i], lane, e.Local, bits, origin)
		}
	})
	c.forgetCarry(to, s.fn, e.Lanes)
	for i := range from.dirty { // the callee's registers are dead
		from.dirty[i] &^= e.Lanes
	}
}

// passedFrom returns the invalid bits of an argument or result, by byte; nil if all are valid.
func (c *cta) passedFrom(w *warp, f *frame, fn *function, o *probe.Operand, lane, local, index int) (inv []byte, origin uint32) {
	n := (o.Bits + 7) / 8
	if o.Kind == probe.FrameOperand {
		for offset := 0; offset < n; offset += 8 {
			v, from := w.local.load(local+o.Row+offset, min(8, n-offset), lane)
			if v == 0 {
				continue
			}
			if inv == nil {
				inv, origin = make([]byte, n), from
			}
			for k := range min(8, n-offset) {
				inv[offset+k] = byte(v >> (8 * k))
			}
		}
		return inv, origin
	}
	v, from := f.invalid(fn.row(o), lane)
	if v == 0 {
		return nil, 0
	}
	for k := range n {
		inv = append(inv, byte(v>>(8*k)))
	}
	return inv, from
}

// passTo sets the invalid bits of a parameter or result.
func (c *cta) passTo(w *warp, f *frame, fn *function, o *probe.Operand, lane, local int, inv []byte, origin uint32) {
	n := (o.Bits + 7) / 8
	at := func(offset int) (v uint64) {
		for k := offset; k < min(offset+8, n, len(inv)); k++ {
			v |= uint64(inv[k]) << (8 * (k - offset))
		}
		return v
	}
	if o.Kind == probe.FrameOperand {
		for offset := 0; offset < n; offset += 8 {
			w.local.store(local+o.Row+offset, min(8, n-offset), lane, at(offset), origin)
		}
		return
	}
	f.set(fn.row(o), lane, at(0)&lowBits(o.Bits), origin)
}

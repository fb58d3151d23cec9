package structure

// This file keeps the tags of a CTA's registers: the values that the policy's machine would hold compactly. They are
// independent of the engine's compact copies. Each register has a tag of its own, even if affine mode removes the register
// or shares its row.
//
// The tags follow Kim et al. 2013, section 4, with two schemes for divergence. The paper's scheme has a single entry per
// register for the whole warp: results under divergence or a guard are written to the lanes, and if the register was
// compact before, its old value is first materialised for the remaining lanes (section 4.3). With a masked policy the
// entry also records its lanes, and results stay compact.

import (
	"math/bits"
	"slices"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// tracker contains the tags of a CTA's registers, and the counts of its instructions.
type tracker struct {
	*Probe
	tally
	unit  affinetrack.Unit
	warps []warp
	entry *frame // frame of the kernel

	step         step
	countsBefore affinetrack.Counts // counts of the current instruction before it began
	operands     [2]operandValues   // sources of the current operation, for each half
	half         half               // the current half of a warp, reused by selectHalf
	row          regfile.Row64      // memory for the values of an operand
}

// newTracker returns a tracker for the CTAs of p's launch.
func newTracker(p *Probe) *tracker {
	width := p.launch.WarpSize
	t := &tracker{
		Probe: p, tally: p.emptyTally(), unit: affinetrack.NewUnit(p.Policy, p.rules), entry: &frame{end: p.layout[p.launch.Kernel]},
		warps: make([]warp, (p.launch.Block.Count()+width-1)/width),
	}
	for i := range t.warps {
		t.warps[i].halves = make([]tags, (width+regfile.Lanes-1)/regfile.Lanes)
	}
	return t
}

// warp contains the tags of a warp, and the call frames of its lanes.
type warp struct {
	live   uint64 // lanes that have not exited, including lanes that wait at the kernel's end
	halves []tags
	frames [64]*frame // frame of each lane
}

// tags contains the tags of the registers in half a warp, for all functions in its call frames.
type tags struct {
	r, q []tag          // registers in 32-bit and in 64-bit slots
	p    []predicateTag // predicates
}

// tag is the compact value of a register in the lanes of mask; nothing is known of other lanes.
type tag struct {
	affinetrack.Value
	mask uint32
}

// predicateTag is a predicate whose value is the same in the lanes of mask; nothing is known of other lanes.
type predicateTag struct {
	mask  uint32
	value bool
	class affinetrack.Class // class of its sources: Affine if an affine value was compared
}

// grow makes room for n registers from base on.
func (t *tags) grow(base, n regfile.Size) {
	t.r, t.q, t.p = growTo(t.r, base.R+n.R), growTo(t.q, base.Q+n.Q), growTo(t.p, base.P+n.P)
}

// growTo returns s with at least n elements; new elements are zero.
func growTo[T any](s []T, n int) []T {
	if n > len(s) {
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}

// frame is a call of a function; its tags are those from base up to end. Only last changes.
type frame struct {
	caller    *frame // nil for the kernel
	callee    *ptx.Func
	base, end regfile.Size
	last      *frame // frame of the latest call from here, for reuse; nil before the first
}

// call returns the frame of a call of callee, with n registers, from this frame.
func (f *frame) call(callee *ptx.Func, n regfile.Size) *frame {
	if f.last == nil || f.last.callee != callee {
		f.last = &frame{caller: f, callee: callee, base: f.end, end: f.end.Add(n)}
	}
	return f.last
}

// reaches reports whether the frame has registers at or above base.
func (f *frame) reaches(base regfile.Size) bool {
	return f.end.R > base.R || f.end.Q > base.Q || f.end.P > base.P
}

// OnEvent updates the tags and counts for an event of the CTA.
func (t *tracker) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnCTA:
		t.beginCTA()
	case probe.OnCTAEnd:
		t.recycle(t)
	case probe.OnWarp:
		t.warps[e.Warp].live = e.Lanes
	case probe.OnExit:
		if !e.Launch.Reconverge.WaitsAtExit {
			t.warps[e.Warp].live &^= e.Lanes
		}
	case probe.OnBefore:
		t.begin(e)
	case probe.OnOperation:
		t.readOperands(e)
	case probe.OnResult:
		t.operation(e)
	case probe.OnAfter:
		t.end(e)
	case probe.OnUndo: // the PTX instruction counts as not begun
		t.counts[e.Index] = t.countsBefore
		t.lanes[bits.OnesCount64(t.step.active)]--
	case probe.OnBranch:
		t.branch(e)
	case probe.OnCall:
		t.call(e)
	case probe.OnReturn:
		w := &t.warps[e.Warp]
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			w.frames[lane] = w.frames[lane].caller
		}
		t.receive(e)
	case probe.OnWake:
		t.receive(e)
	}
}

// beginCTA discards the state of an earlier CTA.
func (t *tracker) beginCTA() {
	clear(t.counts) // counts of a CTA that has not ended
	clear(t.paths)
	clear(t.lanes)
	for i := range t.warps {
		w := &t.warps[i]
		for lane := range w.frames {
			w.frames[lane] = t.entry
		}
		for h := range w.halves {
			f := &w.halves[h]
			f.grow(regfile.Size{}, t.entry.end)
			clear(f.r)
			clear(f.q)
			clear(f.p)
		}
	}
}

// call makes the registers of the function that the lanes have entered generic. Tags of other lanes that have registers in
// the same place remain.
func (t *tracker) call(e *probe.Event) {
	w, n := &t.warps[e.Warp], t.layout[e.Callee]
	fr := w.frames[bits.TrailingZeros64(e.Lanes)].call(e.Callee, n)
	others := uint64(0)
	for m := w.live &^ e.Lanes; m != 0; m &= m - 1 {
		if lane := bits.TrailingZeros64(m); w.frames[lane].reaches(fr.base) {
			others |= 1 << lane
		}
	}
	for m := e.Lanes; m != 0; m &= m - 1 {
		w.frames[bits.TrailingZeros64(m)] = fr
	}
	for h := range w.halves {
		f := &w.halves[h]
		f.grow(fr.base, n)
		m := uint32(e.Lanes >> (32 * h))
		if uint32(others>>(32*h)) == 0 {
			m = regfile.Full
		}
		for i := range n.R {
			t.markGeneric(&f.r[fr.base.R+i], m)
		}
		for i := range n.Q {
			t.markGeneric(&f.q[fr.base.Q+i], m)
		}
		for i := range n.P {
			f.p[fr.base.P+i].mask &^= m
		}
	}
}

// receive marks the results of an instruction as generic. It is called for results that no operation writes: those of a
// call, of a barrier, or of an instruction that several warp splits execute together.
func (t *tracker) receive(e *probe.Event) {
	for h := range t.warps[e.Warp].halves {
		x := t.selectHalf(e, h, uint32(e.Lanes>>(32*h)))
		if x.mask == 0 {
			continue
		}
		for _, operand := range e.Launch.Program.Operations(e.Index).Writes {
			switch {
			case operand.Kind == probe.NoOperand:
			case operand.Bits == 1:
				x.predicateTag(&operand).mask &^= x.mask
			default:
				t.markGeneric(x.tag(operand.Bits, operand.Row), x.mask)
				if operand.Kind == probe.WideOperand {
					t.markGeneric(x.tag(operand.Bits, operand.High), x.mask)
				}
			}
		}
	}
}

// markGeneric records that the lanes of m have a new value that is not compact. Without a masked policy the whole register
// is then generic.
func (t *tracker) markGeneric(c *tag, m uint32) {
	if t.Masked {
		c.mask &^= m
	} else {
		c.mask = 0
	}
}

// half is the part of an event in half a warp.
type half struct {
	tracker      *tracker
	event        *probe.Event
	op           *probe.Operation // nil if the event has none
	index        int
	tags         *tags
	base         regfile.Size // first registers of the running function
	mask         uint32       // executing lanes
	live         uint32       // live lanes of the warp
	checksValues bool         // results may stay compact: no divergence or guard, or a masked policy
}

// selectHalf sets t.half to half h of the event's warp, for the lanes of m, and returns it.
func (t *tracker) selectHalf(e *probe.Event, h int, m uint32) *half {
	w, x := &t.warps[e.Warp], &t.half
	*x = half{tracker: t, event: e, op: e.Operation, index: h, tags: &w.halves[h], mask: m, live: uint32(w.live >> (32 * h))}
	x.checksValues = t.Masked || e.Active == w.live && e.Instr.Guard.Reg == ptx.NoReg
	if m != 0 {
		x.base = w.frames[32*h+bits.TrailingZeros32(m)].base
	}
	return x
}

// tag returns the tag of the register of the running function in the given row; slot is its width, 32 or 64 bits.
func (x *half) tag(slot, row int) *tag {
	if slot == 64 {
		return &x.tags.q[x.base.Q+row]
	}
	return &x.tags.r[x.base.R+row]
}

// predicateTag returns the tag of a predicate of the running function.
func (x *half) predicateTag(operand *probe.Operand) *predicateTag {
	return &x.tags.p[x.base.P+operand.Row]
}

// width returns the width of an operand in bits: the width of the register's type.
func (t *tracker) width(e *probe.Event, operand *probe.Operand) int {
	if operand.Reg == ptx.NoReg {
		return operand.Bits
	}
	_, f := e.Launch.Program.At(e.Index)
	return min(operand.Bits, f.Regs[operand.Reg].Type.Bits())
}

// heldTag returns the tag of an operand, which may be a constant.
func (x *half) heldTag(operand *probe.Operand) tag {
	if operand.Kind == probe.ConstantOperand {
		return tag{affinetrack.Value{Base: operand.Value}, regfile.Full}
	}
	return *x.tag(operand.Bits, operand.Row)
}

// write makes a register compact in the executing lanes.
func (x *half) write(operand *probe.Operand, v affinetrack.Value) {
	c, m := x.tag(operand.Bits, operand.Row), x.mask
	if !x.tracker.Masked { // the whole warp executes
		m = regfile.Full
	}
	switch others := c.mask &^ m & x.live; { // lanes whose old value must be kept
	case others == 0:
	case c.Value == v:
		c.mask |= m
		return
	default:
		x.tracker.step.expand++
	}
	*c = tag{v, m}
}

// overwrite records that a register or predicate has a generic value in the executing lanes.
func (x *half) overwrite(operand *probe.Operand) {
	switch {
	case x.tracker.Ideal:
	case operand.Bits == 1:
		x.predicateTag(operand).mask &^= x.mask
	case x.tracker.Masked:
		x.tag(operand.Bits, operand.Row).mask &^= x.mask
	default:
		c := x.tag(operand.Bits, operand.Row)
		if c.mask != 0 && !x.checksValues {
			x.tracker.step.expand++ // lazy expansion: the old value stays in the remaining lanes
		}
		*c = tag{}
	}
}

// setTruth records that a predicate has the same value in all executing lanes, computed from values of class c.
func (x *half) setTruth(operand *probe.Operand, value bool, c affinetrack.Class) {
	e := x.predicateTag(operand)
	if e.value != value || e.mask&^x.mask == 0 {
		e.mask, e.class = 0, affinetrack.Uniform
	}
	e.value, e.class = value, max(e.class, c)
	e.mask |= x.mask
}

// Save returns a copy of the CTA's counts and tags.
func (t *tracker) Save() any { return t.clone() }

// Restore restores the state from Save.
func (t *tracker) Restore(state any) { *t = *state.(*tracker).clone() }

func (t *tracker) clone() *tracker {
	n := *t
	n.tally, n.warps = t.tally.clone(), slices.Clone(t.warps)
	for i := range n.warps {
		w := &n.warps[i]
		w.halves = slices.Clone(w.halves)
		for h := range w.halves {
			f := &w.halves[h]
			f.r, f.q, f.p = slices.Clone(f.r), slices.Clone(f.q), slices.Clone(f.p)
		}
	}
	return &n
}

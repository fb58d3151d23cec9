package structure

// This file is the tags of a CTA's registers: what the machine of a policy would hold. They have
// nothing to do with what the engine holds. Each register has a row of its own, whatever
// affine mode folds, packs or keeps elsewhere.
//
// It follows Kim et al. 2013, section 4, with two schemes for divergence. The
// paper's has one entry per register for the whole warp: results under divergence
// or a guard are written to the lanes, and if the register was compact before, its
// old value is expanded for the other lanes first (section 4.3). With a masked
// policy the entry also says which lanes it is about, and results stay compact.

import (
	"math/bits"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/simt"
	"gemu/ptx"
	"gemu/regfile"
)

// tracker is the tags of a CTA's registers, and what is counted of them.
type tracker struct {
	*Probe
	tally
	unit  affinetrack.Unit
	warps []warp
	entry *frame

	step         step
	countsBefore affinetrack.Counts // of its instruction, before it
	operands     [2]operandValues   // of its present operation, by half
	half         half               // the present one
	row          regfile.Row64
}

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

// warp is the tags of a warp, and where its lanes are.
type warp struct {
	live   uint64 // lanes that have not ended, or wait at the kernel's end
	halves []tags
	frames [64]*frame // by lane
}

// tags are those of half a warp's registers, of all functions under way.
type tags struct {
	r, q []tag
	p    []predicateTag
}

// tag is what is held of a register, for lanes of mask; of the others nothing.
type tag struct {
	affinetrack.Value
	mask uint32
}

// predicateTag is a predicate that is known to be the same in lanes of mask.
type predicateTag struct {
	mask  uint32
	value bool
	class affinetrack.Class // of what it comes of: Affine if an affine value was compared
}

// grow makes room for the registers of a function from a base on.
func (t *tags) grow(base, n regfile.Size) {
	t.r, t.q, t.p = growTo(t.r, base.R+n.R), growTo(t.q, base.Q+n.Q), growTo(t.p, base.P+n.P)
}

func growTo[T any](s []T, n int) []T {
	if n > len(s) {
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}

// frame is a function under way: its registers are from base on, below end. It never changes.
type frame struct {
	caller    *frame
	callee    *ptx.Func
	base, end regfile.Size
	last      *frame // the last that was called from it
}

// call is the frame of a function that is called from this one.
func (f *frame) call(callee *ptx.Func, n regfile.Size) *frame {
	if f.last == nil || f.last.callee != callee {
		f.last = &frame{caller: f, callee: callee, base: f.end, end: f.end.Add(n)}
	}
	return f.last
}

// reaches reports whether it has registers behind a base.
func (f *frame) reaches(base regfile.Size) bool {
	return f.end.R > base.R || f.end.Q > base.Q || f.end.P > base.P
}

// OnEvent follows the CTA.
func (t *tracker) OnEvent(e *simt.Event) {
	switch e.Kind {
	case simt.OnCTA:
		t.beginWarp()
	case simt.OnCTAEnd:
		t.recycle(t)
	case simt.OnWarp:
		t.warps[e.Warp].live = e.Lanes
	case simt.OnExit:
		if !e.Launch.Reconverge.WaitsAtExit() {
			t.warps[e.Warp].live &^= e.Lanes
		}
	case simt.OnBefore:
		t.begin(e)
	case simt.OnOperation:
		t.readOperands(e)
	case simt.OnResult:
		t.operation(e)
	case simt.OnAfter:
		t.end(e)
	case simt.OnUndo: // the PTX instruction has not begun
		t.counts[e.Index] = t.countsBefore
		t.lanes[bits.OnesCount64(t.step.active)]--
	case simt.OnBranch:
		t.branch(e)
	case simt.OnCall:
		t.call(e)
	case simt.OnReturn:
		w := &t.warps[e.Warp]
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			w.frames[lane] = w.frames[lane].caller
		}
		t.receive(e)
	case simt.OnWake:
		t.receive(e)
	}
}

// beginWarp forgets what another CTA has left.
func (t *tracker) beginWarp() {
	clear(t.counts) // of one that has not ended
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

// call opens the registers of the function that lanes are in now. If other lanes have
// registers there, what is held of theirs stays.
func (t *tracker) call(e *simt.Event) {
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

// receive records that lanes have got the results of an instruction otherwise than by an
// operation: of a call, at a barrier, together with others.
func (t *tracker) receive(e *simt.Event) {
	for h := range t.warps[e.Warp].halves {
		x := t.selectHalf(e, h, uint32(e.Lanes>>(32*h)))
		if x.mask == 0 {
			continue
		}
		for _, operand := range e.Launch.Program.Operations(e.Index).Writes {
			switch {
			case operand.Kind == simt.NoOperand:
			case operand.Bits == 1:
				x.predicateTag(&operand).mask &^= x.mask
			default:
				t.markGeneric(x.tag(operand.Bits, operand.Row), x.mask)
				if operand.Kind == simt.WideOperand {
					t.markGeneric(x.tag(operand.Bits, operand.High), x.mask)
				}
			}
		}
	}
}

// markGeneric records that lanes have got a register's value.
func (t *tracker) markGeneric(c *tag, m uint32) {
	if t.Masked {
		c.mask &^= m
	} else {
		c.mask = 0
	}
}

// half is what an event is about in half a warp.
type half struct {
	tracker      *tracker
	event        *simt.Event
	op           *simt.Operation // nil if it is about none
	index        int
	tags         *tags
	base         regfile.Size // of the running function's
	mask         uint32       // lanes that execute
	live         uint32       // of the warp's
	checksValues bool         // results may stay compact
}

// selectHalf readies the tracker for half a warp, of which the lanes of m are meant.
func (t *tracker) selectHalf(e *simt.Event, h int, m uint32) *half {
	w, x := &t.warps[e.Warp], &t.half
	*x = half{tracker: t, event: e, op: e.Operation, index: h, tags: &w.halves[h], mask: m, live: uint32(w.live >> (32 * h))}
	x.checksValues = t.Masked || e.Active == w.live && e.Instr.Guard.Reg == ptx.NoReg
	if m != 0 {
		x.base = w.frames[32*h+bits.TrailingZeros32(m)].base
	}
	return x
}

// tag is that of a register of the running function.
func (x *half) tag(slot, row int) *tag {
	if slot == 64 {
		return &x.tags.q[x.base.Q+row]
	}
	return &x.tags.r[x.base.R+row]
}

// predicateTag is that of a predicate of the running function.
func (x *half) predicateTag(operand *simt.Operand) *predicateTag {
	return &x.tags.p[x.base.P+operand.Row]
}

// width is how many bits of an operand there are: those of the register's type.
func (t *tracker) width(e *simt.Event, operand *simt.Operand) int {
	if operand.Reg == ptx.NoReg {
		return operand.Bits
	}
	_, f := e.Launch.Program.At(e.Index)
	return min(operand.Bits, f.Regs[operand.Reg].Type.Bits())
}

// heldTag is what is held of an operand, which may be a constant.
func (x *half) heldTag(operand *simt.Operand) tag {
	if operand.Kind == simt.ConstantOperand {
		return tag{affinetrack.Value{Base: operand.Value}, regfile.Full}
	}
	return *x.tag(operand.Bits, operand.Row)
}

// write makes a register compact for the lanes of m.
func (x *half) write(operand *simt.Operand, v affinetrack.Value) {
	c, m := x.tag(operand.Bits, operand.Row), x.mask
	if !x.tracker.Masked { // the whole warp executes
		m = regfile.Full
	}
	switch rest := c.mask &^ m & x.live; {
	case rest == 0:
	case c.Value == v:
		c.mask |= m
		return
	default:
		x.tracker.step.expand++
	}
	*c = tag{v, m}
}

// overwrite records that the lanes of m hold a register's value.
func (x *half) overwrite(operand *simt.Operand) {
	switch {
	case x.tracker.Ideal:
	case operand.Bits == 1:
		x.predicateTag(operand).mask &^= x.mask
	case x.tracker.Masked:
		x.tag(operand.Bits, operand.Row).mask &^= x.mask
	default:
		c := x.tag(operand.Bits, operand.Row)
		if c.mask != 0 && !x.checksValues {
			x.tracker.step.expand++ // lazy expansion: the old value stays that of the other lanes
		}
		*c = tag{}
	}
}

// setTruth records that a predicate is the same in all lanes of m, from values of a class.
func (x *half) setTruth(operand *simt.Operand, value bool, c affinetrack.Class) {
	e := x.predicateTag(operand)
	if e.value != value || e.mask&^x.mask == 0 {
		e.mask, e.class = 0, affinetrack.Uniform
	}
	e.value, e.class = value, max(e.class, c)
	e.mask |= x.mask
}

// Save copies what the CTA has counted, and its tags.
func (t *tracker) Save() any { return t.clone() }

// Restore takes over what Save has copied.
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

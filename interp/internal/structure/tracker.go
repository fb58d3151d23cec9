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

	step   step
	before affinetrack.Counts // of its instruction, before it
	seen   [2]operands        // of its present operation, by half
	half   half               // the present one
	row    regfile.Row64
}

func newTracker(p *Probe) *tracker {
	width := p.launch.WarpSize
	t := &tracker{
		Probe: p, tally: p.none(), unit: affinetrack.NewUnit(p.Policy, p.rules), entry: &frame{end: p.layout[p.launch.Kernel]},
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
	p    []truth
}

// tag is what is held of a register, for lanes of mask; of the others nothing.
type tag struct {
	affinetrack.Value
	mask uint32
}

// truth is a predicate that is known to be the same in lanes of mask.
type truth struct {
	mask  uint32
	value bool
	class affinetrack.Class // of what it comes of: Affine if an affine value was compared
}

// open makes room for the registers of a function from a base on.
func (t *tags) open(base, n regfile.Size) {
	t.r, t.q, t.p = atLeast(t.r, base.R+n.R), atLeast(t.q, base.Q+n.Q), atLeast(t.p, base.P+n.P)
}

func atLeast[T any](s []T, n int) []T {
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

// Tell follows the CTA.
func (t *tracker) Tell(e *simt.Event) {
	switch e.Kind {
	case simt.OnCTA:
		t.begins()
	case simt.OnCTAEnd:
		t.ended(t)
	case simt.OnWarp:
		t.warps[e.Warp].live = e.Lanes
	case simt.OnExit:
		if !e.Launch.Reconverge.Waits() {
			t.warps[e.Warp].live &^= e.Lanes
		}
	case simt.OnBefore:
		t.begin(e)
	case simt.OnOperation:
		t.look(e)
	case simt.OnResult:
		t.operation(e)
	case simt.OnAfter:
		t.end(e)
	case simt.OnUndo: // the PTX instruction has not begun
		t.counts[e.Index] = t.before
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

// begins forgets what another CTA has left.
func (t *tracker) begins() {
	clear(t.counts) // of one that has not ended
	clear(t.lanes)
	for i := range t.warps {
		w := &t.warps[i]
		for lane := range w.frames {
			w.frames[lane] = t.entry
		}
		for h := range w.halves {
			f := &w.halves[h]
			f.open(regfile.Size{}, t.entry.end)
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
		f.open(fr.base, n)
		m := uint32(e.Lanes >> (32 * h))
		if uint32(others>>(32*h)) == 0 {
			m = regfile.Full
		}
		for i := range n.R {
			t.forget(&f.r[fr.base.R+i], m)
		}
		for i := range n.Q {
			t.forget(&f.q[fr.base.Q+i], m)
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
		x := t.present(e, h, uint32(e.Lanes>>(32*h)))
		if x.m == 0 {
			continue
		}
		for _, o := range e.Launch.Program.Parts(e.Index).Writes {
			switch {
			case o.Kind == simt.NoOperand:
			case o.Bits == 1:
				x.truth(&o).mask &^= x.m
			default:
				t.forget(x.tag(o.Bits, o.Row), x.m)
				if o.Kind == simt.WideOperand {
					t.forget(x.tag(o.Bits, o.High), x.m)
				}
			}
		}
	}
}

// forget records that lanes have got a register's value.
func (t *tracker) forget(c *tag, m uint32) {
	if t.Masked {
		c.mask &^= m
	} else {
		c.mask = 0
	}
}

// half is what an event is about in half a warp.
type half struct {
	t    *tracker
	e    *simt.Event
	op   *simt.Operation // nil if it is about none
	h    int
	tags *tags
	base regfile.Size // of the running function's
	m    uint32       // lanes that execute
	live uint32       // of the warp's
	keep bool         // results may stay compact
}

// present readies the tracker for half a warp, of which the lanes of m are meant.
func (t *tracker) present(e *simt.Event, h int, m uint32) *half {
	w, x := &t.warps[e.Warp], &t.half
	*x = half{t: t, e: e, op: e.Operation, h: h, tags: &w.halves[h], m: m, live: uint32(w.live >> (32 * h))}
	x.keep = t.Masked || e.Active == w.live && e.Instr.Guard.Reg == ptx.NoReg
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

// truth is that of a predicate of the running function.
func (x *half) truth(o *simt.Operand) *truth { return &x.tags.p[x.base.P+o.Row] }

// width is how many bits of an operand there are: those of the register's type.
func (t *tracker) width(e *simt.Event, o *simt.Operand) int {
	if o.Reg == ptx.NoReg {
		return o.Bits
	}
	_, f := e.Launch.Program.At(e.Index)
	return min(o.Bits, f.Regs[o.Reg].Type.Bits())
}

// held is what is held of an operand, which may be a constant.
func (x *half) held(o *simt.Operand) tag {
	if o.Kind == simt.ConstantOperand {
		return tag{affinetrack.Value{Base: o.Value}, regfile.Full}
	}
	return *x.tag(o.Bits, o.Row)
}

// write makes a register compact for the lanes of m.
func (x *half) write(o *simt.Operand, v affinetrack.Value) {
	c, m := x.tag(o.Bits, o.Row), x.m
	if !x.t.Masked { // the whole warp executes
		m = regfile.Full
	}
	switch rest := c.mask &^ m & x.live; {
	case rest == 0:
	case c.Value == v:
		c.mask |= m
		return
	default:
		x.t.step.expand++
	}
	*c = tag{v, m}
}

// overwrite records that the lanes of m hold a register's value.
func (x *half) overwrite(o *simt.Operand) {
	switch {
	case x.t.Ideal:
	case o.Bits == 1:
		x.truth(o).mask &^= x.m
	case x.t.Masked:
		x.tag(o.Bits, o.Row).mask &^= x.m
	default:
		c := x.tag(o.Bits, o.Row)
		if c.mask != 0 && !x.keep {
			x.t.step.expand++ // lazy expansion: the old value stays that of the other lanes
		}
		*c = tag{}
	}
}

// settle records that a predicate is the same in all lanes of m, from values of a class.
func (x *half) settle(o *simt.Operand, value bool, c affinetrack.Class) {
	e := x.truth(o)
	if e.value != value || e.mask&^x.m == 0 {
		e.mask, e.class = 0, affinetrack.Uniform
	}
	e.value, e.class = value, max(e.class, c)
	e.mask |= x.m
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

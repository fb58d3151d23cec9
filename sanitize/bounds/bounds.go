// Package bounds finds accesses outside the variable that their address was derived from, which
// the machine lets pass because other memory is there: the next array of shared memory, of a
// frame, a parameter, another buffer. A pointer that is an argument of the kernel stands for the
// buffer that it points into as the launch begins.
//
// What an address is derived from follows the registers: an instruction that takes the address of
// a variable, or loads a pointer that is a parameter, begins it; adding to it, selecting, shuffling, calls and local memory hand it on. A
// value that is derived from two variables, or in any other way, is one of which nothing is known,
// and is never found fault with. Nor are addresses that are loaded from other memory than a
// thread's own.
//
// Variables are followed by lane as the kernel runs. A register that always points into the buffer of
// one argument, or into one variable of shared memory, costs nothing before it is used: that is known
// beforehand, and so most of them do.
package bounds

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/plans"
)

// Name is that of the tool.
const Name = "bounds"

// The kinds of findings.
const (
	Outside = "out of variable bounds"
	Beyond  = "out of buffer bounds"
	Stale   = "stale pointer"
)

// probe is the tool.
type probe struct {
	log   *finding.Log
	plans plans.Cache[*plan]

	mu   sync.Mutex
	last *launch
}

// launch is what CTAs of a launch share.
type launch struct {
	info    *interp.LaunchInfo
	plan    *plan
	buffers []*interp.Pointer // by id from plan.buffers on
}

// launch is that of an event.
func (p *probe) launch(l *interp.LaunchInfo) *launch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil && p.last.info == l {
		return p.last
	}
	n := &launch{info: l}
	var kind []int // by pointer: its buffer, -1 if it points into none
	for i := range l.Pointers {
		pointer := &l.Pointers[i]
		k := -1
		if pointer.Memory != nil {
			if k = slices.IndexFunc(n.buffers, func(b *interp.Pointer) bool { return b.Begin == pointer.Begin }); k < 0 {
				k, n.buffers = len(n.buffers), append(n.buffers, pointer)
			}
		}
		kind = append(kind, k)
	}
	text := ""
	for i, k := range kind {
		text += fmt.Sprintf("%d:%d ", l.Pointers[i].Offset, k)
	}
	n.plan = p.plans.GetKind(l, text, func(l *interp.LaunchInfo) *plan { return newPlan(l, kind) })
	p.last = n
	return n
}

// New makes the tool.
func New(log *finding.Log) interp.Probe { return &probe{log: log} }

// Subscription: what instructions have done, where they accessed memory, and calls.
func (p *probe) Subscription() interp.Subscription {
	return interp.Subscription{Events: interp.OnAccess | interp.OnAfter | interp.OnCall | interp.OnReturn, Addresses: true}
}

// SelectEvents: instructions that make, move or use pointers to variables.
func (p *probe) SelectEvents(l *interp.LaunchInfo) []interp.Events { return p.launch(l).plan.chosen }

// OnEvent: what the host does is of no interest.
func (p *probe) OnEvent(*interp.Event) {}

// CTA follows the pointers of each CTA, if the kernel has any.
func (p *probe) CTA(l *interp.LaunchInfo, _ int, _ interp.Dim3) interp.Sink {
	launched := p.launch(l)
	plan := launched.plan
	if !slices.ContainsFunc(plan.actions, func(a action) bool { return len(a.addr) > 0 }) {
		return nil
	}
	c := &cta{log: p.log, plan: plan, bases: make([]uint64, len(plan.vars)), buffers: launched.buffers}
	for i, b := range launched.buffers {
		c.bases[int(plan.buffers)+i] = b.Begin
	}
	return c
}

// cta is what the warps of a CTA have.
type cta struct {
	log   *finding.Log
	plan  *plan
	warps []*warp
	bases []uint64 // addresses of variables that are in no window, and of buffers, by id; 0: nobody has taken it yet

	buffers []*interp.Pointer // by id from plan.buffers on

	value interp.Value // room
}

// warp is what the registers and the local memory of a warp's lanes are derived from. What a
// lane has at a depth of calls is the function's that it is in there.
type warp struct {
	rows   [][]row // by depth and row
	frames []frame // by depth
	local  []row   // by word
	calls  uint32  // so far
	plan   *plan
	caller int // where the frame begins of the instruction told of last
}

// frame is the functions that lanes are in at a depth.
type frame struct {
	call      [64]uint32 // by which they came there
	base      [64]uint32 // where it begins in local memory
	functions [64]*function
}

// Save and Restore let a CTA go back with its launch.
func (c *cta) Save() any {
	s := &cta{plan: c.plan, bases: slices.Clone(c.bases), buffers: c.buffers}
	for _, w := range c.warps {
		if w != nil {
			w = w.clone()
		}
		s.warps = append(s.warps, w)
	}
	return s
}

// Restore: see Save.
func (c *cta) Restore(state any) {
	s := state.(*cta).Save().(*cta)
	c.plan, c.warps, c.bases, c.buffers = s.plan, s.warps, s.bases, s.buffers
}

func (w *warp) clone() *warp {
	n := *w
	n.rows, n.frames, n.local = nil, slices.Clone(w.frames), clones(w.local)
	for _, list := range w.rows {
		n.rows = append(n.rows, clones(list))
	}
	return &n
}

func clones(list []row) []row {
	n := make([]row, len(list))
	for i := range list {
		n[i] = list[i].clone()
	}
	return n
}

// warp is that of an event.
func (c *cta) warp(i int) *warp {
	for len(c.warps) <= i {
		c.warps = append(c.warps, nil)
	}
	if c.warps[i] == nil {
		c.warps[i] = &warp{plan: c.plan}
		c.warps[i].rowsAt(c.plan, 0)
	}
	return c.warps[i]
}

// rowsAt is the rows at a depth.
func (w *warp) rowsAt(p *plan, depth int) []row {
	for len(w.rows) <= depth {
		w.rows = append(w.rows, make([]row, p.rows))
		w.frames = append(w.frames, frame{})
	}
	return w.rows[depth]
}

// OnEvent follows an instruction.
func (c *cta) OnEvent(e *interp.Event) {
	switch e.Kind {
	case interp.OnAccess, interp.OnAfter:
		if a := &c.plan.actions[e.Index]; a.rule != noRule && e.Lanes != 0 && !(a.plain && c.allInside(e, a)) {
			c.follow(e, a)
		}
	case interp.OnCall:
		c.enter(e)
	case interp.OnReturn:
		c.leave(e)
	}
}

// follow looks at an instruction's accesses, and follows its results.
func (c *cta) follow(e *interp.Event, a *action) {
	w := c.warp(e.Warp)
	rows := w.rowsAt(c.plan, e.Depth)
	for i := range a.addr {
		c.check(e, w, rows, &a.addr[i])
	}
	switch a.rule {
	case access:
		return
	case load, store:
		c.moveLocal(e, w, rows, a)
		return
	case ruleFixed:
		for i := range a.elems {
			rows[a.elems[i].row].set(e.Lanes, origin{id: a.elems[i].id})
		}
		return
	case call:
		if w.caller = e.Local; a.builtin {
			c.clearResults(e, w, rows)
		}
		return
	}
	if len(a.results) == 1 && len(a.more) == 0 {
		c.result(e, w, rows, a, &rows[a.results[0]])
		return
	}
	var d row
	c.result(e, w, rows, a, &d)
	for _, r := range a.results {
		rows[r].copy(&d, e.Lanes)
	}
}

// origin is that of the address of a variable that an instruction names.
func (c *cta) origin(e *interp.Event, id uint32) origin {
	o := origin{id: id}
	if c.plan.vars[id].frame {
		o.base, o.depth, o.call = uint32(e.Local), uint32(e.Depth), c.warps[e.Warp].frames[e.Depth].call[bits.TrailingZeros64(e.Lanes)]
	}
	return o
}

// result gives a row what an instruction's rule says.
func (c *cta) result(e *interp.Event, w *warp, rows []row, a *action, d *row) {
	lanes := e.Lanes
	// Mostly there is at most one source that is derived from something.
	var src *row
	which, n := 0, 0
	for i := range a.sources {
		s := &a.sources[i]
		switch {
		case s.id != notPointer:
			which, n = i, n+1
			if a.rule == ruleCopy && s.id >= firstID && c.bases[s.id] == 0 {
				c.noteAddress(e, s.id)
			}
		case s.row >= 0 && rows[s.row].lanes&lanes != 0:
			src, which, n = &rows[s.row], i, n+1
		}
	}
	for i := range a.more {
		if s := &a.more[i]; s.id != notPointer || s.row >= 0 && rows[s.row].lanes&lanes != 0 {
			src, n = nil, n+2
		}
	}
	switch {
	case n == 0:
		d.set(lanes, c.plan.derive(a.rule, origin{}, origin{}, origin{}))
		return
	case a.rule == exchange && src != nil:
		o, same := src.all(lanes)
		for m := lanes; m != 0 && !same; m &= m - 1 {
			o = c.plan.combineOrigins(o, src.originOf(bits.TrailingZeros64(m)))
		}
		d.set(lanes, o)
		return
	case n == 1 && (a.rule == ruleCopy || a.rule == sum || a.rule == diff && which == 0 || a.rule == addend && which == 2) && src != nil:
		d.copy(src, lanes)
		return
	case n == 1 && a.rule != ruleSelect && a.rule != pack && (src == nil || !src.perLane):
		m := lanes
		var from [3]origin
		if src != nil {
			m &= src.lanes
			from[which] = src.origin
		} else {
			from[which] = c.origin(e, a.sources[which].id)
		}
		o := c.plan.derive(a.rule, from[0], from[1], from[2])
		d.lanes &^= lanes
		d.set(m, o)
		return
	}
	var predicate uint64
	if a.rule == ruleSelect {
		predicate = c.predicate(e, a)
	}
	originOf := func(s *source, lane int) origin {
		switch {
		case s.id != notPointer:
			return c.origin(e, s.id)
		case s.row >= 0:
			return rows[s.row].originOf(lane)
		}
		return origin{}
	}
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		x, y := originOf(&a.sources[0], lane), originOf(&a.sources[1], lane)
		var o origin
		if a.rule == ruleSelect {
			if o = x; predicate>>lane&1 == 0 {
				o = y
			}
		} else {
			o = c.plan.derive(a.rule, x, y, originOf(&a.sources[2], lane))
			for i := range a.more {
				o = c.plan.addSource(a.rule, o, originOf(&a.more[i], lane))
			}
		}
		d.set(1<<lane, o)
	}
}

// predicate is the lanes that take the first source.
func (c *cta) predicate(e *interp.Event, a *action) uint64 {
	m := uint64(0)
	if e.ReadTo(&c.value, a.pred) {
		for n := e.Lanes; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			m |= (c.value.Low[lane] & 1) << lane
		}
	}
	return m
}

// noteAddress notes where a variable is that lies in no window, as an instruction takes its address.
func (c *cta) noteAddress(e *interp.Event, id uint32) {
	v := &c.plan.vars[id]
	if v.Space == ptx.Shared || v.Space == ptx.Local {
		return
	}
	for i := range e.Instr.Ops {
		o := &e.Instr.Ops[i]
		if o.Kind != ptx.SymOperand {
			continue
		}
		for r := range e.Instr.Defs() {
			if e.ReadTo(&c.value, r) {
				c.bases[id] = c.value.Low[bits.TrailingZeros64(e.Lanes)] - uint64(o.Offset())
			}
		}
	}
}

// word is a word of local memory.
func (w *warp) word(offset uint64) *row {
	for uint64(len(w.local)) <= offset/4 {
		w.local = append(w.local, row{})
	}
	return &w.local[offset/4]
}

// moveLocal follows what a load or store of local memory moves.
func (c *cta) moveLocal(e *interp.Event, w *warp, rows []row, a *action) {
	if len(e.Accesses) == 0 {
		return
	}
	to := &e.Accesses[len(e.Accesses)-1]
	local := uint64(0)
	if to.Space == ptx.Generic {
		local = interp.LocalWindow
	} else if to.Space != ptx.Local {
		for i := range a.elems {
			if a.rule == load && a.elems[i].row >= 0 {
				rows[a.elems[i].row].set(e.Lanes, origin{id: a.elems[i].id})
			}
		}
		return
	}
	for remaining := to.Lanes; remaining != 0; { // lanes that go to the same place, mostly all
		offset := to.Addr[bits.TrailingZeros64(remaining)] - local
		m := uint64(0)
		for n := remaining; n != 0; n &= n - 1 {
			if lane := bits.TrailingZeros64(n); to.Addr[lane]-local == offset {
				m |= 1 << lane
			}
		}
		remaining &^= m
		for i, x := range a.elems {
			byteOffset := offset + uint64(i*a.size)
			switch {
			case offset >= interp.WindowSize: // of other memory
				if a.rule == load && x.row >= 0 {
					rows[x.row].set(m, origin{id: x.id})
				}
			case a.rule == load:
				if x.row >= 0 {
					w.load(&rows[x.row], byteOffset, a.size, m)
				}
			default:
				for n := byteOffset &^ 3; n < byteOffset+uint64(a.size); n += 4 {
					if x.id != notPointer && a.size >= 4 {
						w.word(n).set(m, origin{id: x.id})
						continue
					}
					if x.row < 0 || a.size < 4 || rows[x.row].lanes&m == 0 {
						if int(n/4) < len(w.local) {
							w.local[n/4].lanes &^= m
						}
						continue
					}
					w.word(n).copy(&rows[x.row], m)
				}
			}
		}
	}
}

// load gives lanes of a row what is at a place in local memory.
func (w *warp) load(d *row, byteOffset uint64, size int, m uint64) {
	d.lanes &^= m
	if size < 4 || int(byteOffset/4) >= len(w.local) {
		return
	}
	d.copy(w.word(byteOffset), m)
	if size == 8 { // half of a pointer is none
		high := w.word(byteOffset + 4)
		for n := m & (d.lanes | high.lanes); n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			if x, y := d.originOf(lane), high.originOf(lane); x != y {
				d.set(1<<lane, w.plan.combineOrigins(x, y))
			}
		}
	}
}

// place is where an argument or a result is: in a register, or in local memory.
type place struct {
	row  *row   // nil: of which nothing is followed
	id   uint32 // … but what it is always derived from
	off  uint64 // in local memory
	size uint64 // there; 0: it is in a register, or a constant
}

// variable is the place of a parameter or result of a function whose frame begins at base.
func (f *function) variable(v *ptx.Var, rows []row, base uint64) place {
	if v.Space == ptx.RegSpace {
		return f.register(v.Reg, rows)
	}
	offset := f.places[v]
	return place{off: base + offset, size: uint64(v.Size()+3) / 4}
}

func (f *function) register(r ptx.RegID, rows []row) place {
	if i := f.row(r); i >= 0 {
		return place{row: &rows[i]}
	}
	return place{id: f.fixedOrigin[r]}
}

// argumentPlace is the place of an operand of a call.
func (f *function) argumentPlace(o *ptx.Operand, rows []row, base uint64) place {
	if v := symbolOf(o); v != nil && f.places != nil {
		if _, ok := f.places[v]; ok {
			return f.variable(v, rows, base)
		}
	}
	if o.Kind == ptx.RegOperand {
		return f.register(o.Reg, rows)
	}
	return place{}
}

// hand hands on what lanes have at a place.
func (w *warp) hand(to, from place, lanes uint64) {
	if !w.plan.spills && (to.size > 0 || from.size > 0) {
		if to.row != nil {
			to.row.lanes &^= lanes
		}
		return
	}
	switch {
	case to.size > 0 && from.size > 0:
		n := min(to.size, from.size)
		w.word(max(to.off, from.off) + 4*n)
		for i := range n {
			w.word(to.off+4*i).copy(w.word(from.off+4*i), lanes)
		}
	case to.size > 0:
		for i := range min(to.size, 2) {
			if target := w.word(to.off + 4*i); from.row != nil {
				target.copy(from.row, lanes)
			} else {
				target.set(lanes, origin{id: from.id})
			}
		}
	case to.row == nil:
	case from.size > 0:
		w.load(to.row, from.off, 4*int(min(from.size, 2)), lanes)
	case from.row != nil:
		to.row.copy(from.row, lanes)
	default:
		to.row.set(lanes, origin{id: from.id})
	}
}

// clearResults: of the results of what the machine provides nothing is known.
func (c *cta) clearResults(e *interp.Event, w *warp, rows []row) {
	f := c.plan.functionOf[e.Index]
	for i := range e.Instr.Call.Rets {
		w.hand(f.argumentPlace(&e.Instr.Call.Rets[i], rows, uint64(w.caller)), place{id: c.plan.unknownOrigin(8)}, e.Lanes)
	}
}

// wipe forgets what is between two places in local memory.
func (w *warp) wipe(from, to uint64, lanes uint64) {
	for n := from / 4; n < to/4 && n < uint64(len(w.local)); n++ {
		w.local[n].lanes &^= lanes
	}
}

// enter hands what arguments are derived from on to a function.
func (c *cta) enter(e *interp.Event) {
	w := c.warp(e.Warp)
	callee := c.plan.funcs[e.Callee]
	w.rowsAt(c.plan, e.Depth)
	to, from, fr := w.rows[e.Depth], w.rows[e.Depth-1], &w.frames[e.Depth]
	w.calls++
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		fr.call[lane], fr.base[lane], fr.functions[lane] = w.calls, uint32(e.Local), callee
	}
	for i := range to {
		to[i].lanes &^= e.Lanes
	}
	w.wipe(uint64(e.Local), uint64(4*len(w.local)), e.Lanes)
	if callee == nil {
		return
	}
	f := c.plan.functionOf[e.Index]
	for i := range min(len(e.Instr.Call.Args), len(callee.Params)) {
		w.hand(callee.variable(callee.Params[i], to, uint64(e.Local)), f.argumentPlace(&e.Instr.Call.Args[i], from, uint64(w.caller)), e.Lanes)
	}
}

// leave hands what results are derived from back.
func (c *cta) leave(e *interp.Event) {
	w := c.warp(e.Warp)
	if len(w.rows) <= e.Depth+1 || e.Instr == nil || e.Lanes == 0 {
		return
	}
	fr := &w.frames[e.Depth+1]
	lane := bits.TrailingZeros64(e.Lanes)
	callee := fr.functions[lane]
	if callee == nil {
		return
	}
	f := c.plan.functionOf[e.Index]
	for i := range min(len(e.Instr.Call.Rets), len(callee.Rets)) {
		w.hand(f.argumentPlace(&e.Instr.Call.Rets[i], w.rows[e.Depth], uint64(e.Local)), callee.variable(callee.Rets[i], w.rows[e.Depth+1], uint64(fr.base[lane])), e.Lanes)
	}
}

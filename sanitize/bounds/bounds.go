package bounds

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/plans"
)

// Name is the name of this tool in findings.
const Name = "bounds"

// The kinds of findings.
const (
	Outside = "out of variable bounds" // the address left the variable from which it was derived
	Beyond  = "out of buffer bounds"   // the address left the buffer from which it was derived
	Stale   = "stale pointer"          // the variable belongs to a call that has returned
)

// tool is the bounds checker.
type tool struct {
	log   *finding.Log
	plans plans.Cache[*plan]

	mu   sync.Mutex
	last *launch
}

// launch is the state that the CTAs of a launch share.
type launch struct {
	info    *probe.LaunchInfo
	plan    *plan
	buffers []*probe.Pointer // by id, less plan.buffers
	bases   []uint64         // cta.bases of a CTA that begins
}

// launch returns the state of a launch.
func (p *tool) launch(l *probe.LaunchInfo) *launch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil && p.last.info == l {
		return p.last
	}
	n := &launch{info: l}
	var kind []int // by pointer: index in buffers, -1 if it points into no buffer
	for i := range l.Pointers {
		pointer := &l.Pointers[i]
		k := -1
		if pointer.Memory != nil {
			if k = slices.IndexFunc(n.buffers, func(b *probe.Pointer) bool { return b.Begin == pointer.Begin }); k < 0 {
				k, n.buffers = len(n.buffers), append(n.buffers, pointer)
			}
		}
		kind = append(kind, k)
	}
	text := ""
	for i, k := range kind {
		text += fmt.Sprintf("%d:%d ", l.Pointers[i].Offset, k)
	}
	n.plan = p.plans.GetKind(l, text, func(l *probe.LaunchInfo) *plan { return newPlan(l, kind) })
	n.bases = make([]uint64, len(n.plan.vars))
	for i := range n.plan.vars {
		if v := &n.plan.vars[i]; v.Var != nil && (v.Space == ptx.Global || v.Space == ptx.Const) {
			n.bases[i] = v.off
		}
	}
	for i, b := range n.buffers {
		n.bases[int(n.plan.buffers)+i] = b.Begin
	}
	p.last = n
	return n
}

// New returns a bounds checker that writes its findings to log.
func New(log *finding.Log) probe.Probe { return &tool{log: log} }

// Subscription asks for accesses with addresses, executed instructions, and calls.
func (p *tool) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAccess | probe.OnAfter | probe.OnCall | probe.OnReturn, Addresses: true}
}

// SelectEvents selects the instructions that create, move or use tracked pointers.
func (p *tool) SelectEvents(l *probe.LaunchInfo) []probe.Events { return p.launch(l).plan.chosen }

// OnEvent ignores the events of the host.
func (p *tool) OnEvent(*probe.Event) {}

// CTA returns a sink that tracks the pointers of a CTA, or nil if the kernel has no access to check.
func (p *tool) CTA(l *probe.LaunchInfo, _ int, _ ptx.Dim3) probe.Sink {
	launched := p.launch(l)
	plan := launched.plan
	if !plan.isNeeded {
		return nil
	}
	return &cta{log: p.log, plan: plan, bases: slices.Clone(launched.bases), buffers: launched.buffers}
}

// cta tracks a CTA.
type cta struct {
	log   *finding.Log
	plan  *plan
	warps []*warp
	bases []uint64 // addresses of variables outside shared and local memory, and of buffers, by id; 0: not known yet

	buffers []*probe.Pointer // by id, less plan.buffers

	value probe.Value // scratch space
}

// warp holds the origins of the values in registers and local memory. The rows at a call depth belong to the
// function that the lane executes there.
type warp struct {
	rows   [][]row // by call depth and row
	frames []frame // by call depth
	local  []row   // by word
	calls  uint32  // number of calls so far
	plan   *plan
	caller int // where the frame of the latest calling instruction begins in local memory
}

// frame describes the lanes at a call depth.
type frame struct {
	call      [64]uint32 // by lane: the number of the call
	base      [64]uint32 // by lane: where the frame begins in local memory, in bytes
	functions [64]*function
}

// Save returns a copy of the CTA's state, for launches that step back.
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

// Restore sets the state to a state from Save.
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

// warp returns the state of a warp, and creates it if necessary.
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

// rowsAt returns the rows at a call depth.
func (w *warp) rowsAt(p *plan, depth int) []row {
	for len(w.rows) <= depth {
		w.rows = append(w.rows, make([]row, p.rows))
		w.frames = append(w.frames, frame{})
	}
	return w.rows[depth]
}

// OnEvent handles the events of the CTA.
func (c *cta) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnAccess, probe.OnAfter:
		if a := &c.plan.actions[e.Index]; a.rule != noRule && e.Lanes != 0 && !(a.plain && c.allInside(e, a)) {
			c.follow(e, a)
		}
	case probe.OnCall:
		c.enter(e)
	case probe.OnReturn:
		c.leave(e)
	}
}

// follow checks an instruction's accesses and sets the origins of its results.
func (c *cta) follow(e *probe.Event, a *action) {
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

// origin returns the origin of the address of a variable that an instruction names.
func (c *cta) origin(e *probe.Event, id uint32) origin {
	o := origin{id: id}
	if c.plan.vars[id].frame {
		o.base, o.depth, o.call = uint32(e.Local), uint32(e.Depth), c.warps[e.Warp].frames[e.Depth].call[bits.TrailingZeros64(e.Lanes)]
	}
	return o
}

// result sets the origins of a result row by the instruction's rule.
func (c *cta) result(e *probe.Event, w *warp, rows []row, a *action, d *row) {
	lanes := e.Lanes
	// Mostly at most one source has an origin: then it is source number which, with its origins in the row src, or constant if
	// src is nil. n counts the sources with an origin.
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
		if chosen := predicate & lanes; chosen == lanes || chosen == 0 { // all lanes select the same source
			s := &a.sources[0]
			if chosen == 0 {
				s = &a.sources[1]
			}
			switch {
			case s.id != notPointer:
				d.set(lanes, c.origin(e, s.id))
			case s.row >= 0:
				d.copy(&rows[s.row], lanes)
			default:
				d.set(lanes, origin{})
			}
			return
		}
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

// predicate returns the lanes that select the first source.
func (c *cta) predicate(e *probe.Event, a *action) uint64 {
	m := uint64(0)
	if e.ReadTo(&c.value, a.pred) {
		for n := e.Lanes; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			m |= (c.value.Low[lane] & 1) << lane
		}
	}
	return m
}

// noteAddress stores the address of a parameter of the kernel when an instruction takes it.
func (c *cta) noteAddress(e *probe.Event, id uint32) {
	if c.plan.vars[id].Space != ptx.Param {
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

// word returns the row of a word of local memory.
func (w *warp) word(offset uint64) *row {
	for uint64(len(w.local)) <= offset/4 {
		w.local = append(w.local, row{})
	}
	return &w.local[offset/4]
}

// moveLocal moves origins between registers and local memory at a load or store.
func (c *cta) moveLocal(e *probe.Event, w *warp, rows []row, a *action) {
	if len(e.Accesses) == 0 {
		return
	}
	last := &e.Accesses[len(e.Accesses)-1]
	local := uint64(0)
	if last.Space == ptx.Generic {
		local = probe.LocalWindow
	} else if last.Space != ptx.Local {
		for i := range a.elems {
			if a.rule == load && a.elems[i].row >= 0 {
				rows[a.elems[i].row].set(e.Lanes, origin{id: a.elems[i].id})
			}
		}
		return
	}
	for remaining := last.Lanes; remaining != 0; { // handle the lanes with the same offset together; mostly all
		offset := last.Addr[bits.TrailingZeros64(remaining)] - local
		m := uint64(0)
		for n := remaining; n != 0; n &= n - 1 {
			if lane := bits.TrailingZeros64(n); last.Addr[lane]-local == offset {
				m |= 1 << lane
			}
		}
		remaining &^= m
		for i, x := range a.elems {
			byteOffset := offset + uint64(i*a.size)
			switch {
			case offset >= probe.WindowSize: // not local memory
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

// load copies the origins at an offset in local memory to lanes of a row.
func (w *warp) load(d *row, byteOffset uint64, size int, m uint64) {
	d.lanes &^= m
	if size < 4 || int(byteOffset/4) >= len(w.local) {
		return
	}
	d.copy(w.word(byteOffset), m)
	if size == 8 { // both halves of a pointer must have the same origin
		high := w.word(byteOffset + 4)
		for n := m & (d.lanes | high.lanes); n != 0; n &= n - 1 {
			lane := bits.TrailingZeros64(n)
			if x, y := d.originOf(lane), high.originOf(lane); x != y {
				d.set(1<<lane, w.plan.combineOrigins(x, y))
			}
		}
	}
}

// place is the location of an argument or a result: a register or local memory.
type place struct {
	row  *row   // nil: no tracked register
	id   uint32 // the constant origin if row is nil
	off  uint64 // offset in local memory
	size uint64 // number of words in local memory; 0: in a register, or a constant
}

// variable returns the place of a parameter or result of a function whose frame begins at base.
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

// argumentPlace returns the place of an operand of a call.
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

// copyOrigins copies the origins of lanes from a place to another.
func (w *warp) copyOrigins(to, from place, lanes uint64) {
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

// clearResults makes the origins of results unknown after a call of a function that the machine provides.
func (c *cta) clearResults(e *probe.Event, w *warp, rows []row) {
	f := c.plan.functionOf[e.Index]
	for i := range e.Instr.Call.Rets {
		w.copyOrigins(f.argumentPlace(&e.Instr.Call.Rets[i], rows, uint64(w.caller)), place{id: c.plan.unknownOrigin(8)}, e.Lanes)
	}
}

// wipe clears the origins in local memory between two offsets.
func (w *warp) wipe(from, to uint64, lanes uint64) {
	for n := from / 4; n < to/4 && n < uint64(len(w.local)); n++ {
		w.local[n].lanes &^= lanes
	}
}

// enter copies the origins of arguments to the parameters of the called function.
func (c *cta) enter(e *probe.Event) {
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
		w.copyOrigins(callee.variable(callee.Params[i], to, uint64(e.Local)), f.argumentPlace(&e.Instr.Call.Args[i], from, uint64(w.caller)), e.Lanes)
	}
}

// leave copies the origins of results back to the caller.
func (c *cta) leave(e *probe.Event) {
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
		w.copyOrigins(f.argumentPlace(&e.Instr.Call.Rets[i], w.rows[e.Depth], uint64(e.Local)), callee.variable(callee.Rets[i], w.rows[e.Depth+1], uint64(fr.base[lane])), e.Lanes)
	}
}

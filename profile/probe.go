package profile

// This file implements the probe, which counts CTA by CTA.

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"gemu/internal/coalesce"
	"gemu/probe"
	"gemu/ptx"
)

// Probe counts the work of launches. It is safe for concurrent launches. It cannot step back with a restored
// launch.
type Probe struct {
	mu       sync.Mutex
	profile  Profile
	runs     map[*probe.LaunchInfo]*run
	programs map[*ptx.Func]*function
}

// New returns a probe without counts.
func New() *Probe {
	return &Probe{runs: map[*probe.LaunchInfo]*run{}, programs: map[*ptx.Func]*function{}}
}

// Profile returns a copy of the counts so far. A running launch contributes the CTAs before which all CTAs have
// ended. A trapped launch contributes the CTAs up to the trapped CTA, without the trapped instruction. So the
// result does not depend on the number of host cores.
func (p *Probe) Profile() *Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &Profile{WarpSize: p.profile.WarpSize, Launches: slices.Clone(p.profile.Launches), Err: p.profile.Err}
	for _, r := range p.profile.Roots {
		c := newNode(r.fn, nil, nil)
		c.add(r)
		c.order()
		n.Roots = append(n.Roots, c)
	}
	return n
}

// Subscription asks for executed instructions with addresses, branches, calls and asynchronous copies.
func (p *Probe) Subscription() probe.Subscription {
	return probe.Subscription{
		Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnWarp | probe.OnExit | probe.OnAfter |
			probe.OnBranch | probe.OnCall | probe.OnReturn | probe.OnEffect,
		Addresses: true,
	}
}

// run is a running launch.
type run struct {
	*Probe
	root       *function
	warps      int
	numbers    []int // number of the instruction in its function, by index in the program
	functionOf []*function
	texture    []bool
	tables     []bool // branches with a list of targets
	functions  map[*ptx.Func]*function
	begun      []*cta // running CTAs, and ended CTAs after a running CTA, sorted by index
	spare      []*cta
}

// function is a function with its instructions in source order.
type function struct {
	fn     *ptx.Func
	instrs []*ptx.Instr
	number map[*ptx.Instr]int
}

func (p *Probe) function(f *ptx.Func) *function {
	n := p.programs[f]
	if n == nil {
		n = &function{fn: f, number: map[*ptx.Instr]int{}}
		f.EachInstr(func(instr *ptx.Instr) {
			n.number[instr] = len(n.instrs)
			n.instrs = append(n.instrs, instr)
		})
		p.programs[f] = n
	}
	return n
}

// OnEvent handles the beginning and end of launches.
func (p *Probe) OnEvent(e *probe.Event) {
	if e.Launch == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind == probe.OnLaunchEnd {
		if r := p.runs[e.Launch]; r != nil && e.Err != nil {
			r.stopped(e.Trap)
			p.profile.Err = cmp.Or(p.profile.Err, e.Err)
		}
		delete(p.runs, e.Launch)
		return
	}
	l := e.Launch
	r := &run{Probe: p, root: p.function(l.Kernel), warps: (l.Block.Count() + l.WarpSize - 1) / l.WarpSize, functions: map[*ptx.Func]*function{}}
	for i := range l.Program.Len() {
		instr, f := l.Program.At(i)
		fn := p.function(f)
		r.functions[f] = fn
		r.functionOf, r.numbers = append(r.functionOf, fn), append(r.numbers, fn.number[instr])
		r.texture = append(r.texture, instr.Form.Family == ptx.FamilyTexture || instr.Form.Family == ptx.FamilySurface)
		r.tables = append(r.tables, instr.Form.Effects.HasAll(ptx.Jumps) && len(instr.Targets()) > 1)
	}
	p.runs[l] = r
	p.profile.WarpSize = l.WarpSize
	p.profile.launched(l)
}

// CTA returns the sink for a CTA, a reused sink if possible.
func (p *Probe) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.runs[l]
	var c *cta
	if n := len(r.spare); n > 0 {
		c = r.spare[n-1]
		r.spare = r.spare[:n-1]
	} else {
		c = &cta{run: r, root: newNode(r.root, nil, nil), warps: make([]warp, r.warps)}
	}
	c.index, c.id, c.hasEnded = index, id, false
	i, _ := slices.BinarySearchFunc(r.begun, index, func(c *cta, index int) int { return cmp.Compare(c.index, index) })
	r.begun = slices.Insert(r.begun, i, c)
	return c
}

// ended handles the end of a CTA, and adds its counts once all CTAs before it have ended.
func (r *run) ended(c *cta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.hasEnded = true
	i := slices.Index(r.begun, c)
	if i+1 < len(r.begun) && r.begun[i+1].hasEnded {
		r.merge(i)
	}
	if i > 0 && r.begun[i-1].hasEnded {
		r.merge(i - 1)
	}
	if r.begun[0].hasEnded { // CTAs after it must wait
		r.add(r.begun[0])
		r.begun = slices.Delete(r.begun, 0, 1)
	}
}

// merge joins an ended CTA with the ended CTA after it, so that few CTAs are kept.
func (r *run) merge(i int) {
	c := r.begun[i+1]
	r.begun[i].root.add(c.root)
	c.root.clear()
	r.spare = append(r.spare, c)
	r.begun = slices.Delete(r.begun, i+1, i+2)
}

// stopped adds the counts of the CTAs of a failed launch. CTAs after the trapped CTA may or may not have run,
// so they are left out.
func (r *run) stopped(t *probe.Trap) {
	for _, c := range r.begun {
		r.add(c)
		if t != nil && c.id == t.CTA {
			break
		}
	}
	r.begun = nil
}

// add adds the counts of a CTA.
func (r *run) add(c *cta) {
	p := r.Probe
	i := slices.IndexFunc(p.profile.Roots, func(n *Node) bool { return n.Func == c.root.Func })
	if i < 0 {
		i = len(p.profile.Roots)
		p.profile.Roots = append(p.profile.Roots, newNode(c.root.fn, nil, nil))
	}
	p.profile.Roots[i].add(c.root)
	c.root.clear()
	c.spare = append(c.spare, c)
}

// cta counts the work of a CTA.
type cta struct {
	*run
	index    int
	id       ptx.Dim3
	hasEnded bool // the CTA has ended
	root     *Node
	warps    []warp
	lines    coalesce.Lines // lines of the current request
	copies   coalesce.Lines // lines of the asynchronous copies of the current instruction
	banks    coalesce.Conflicts
}

// warp holds the live lanes of a warp, and the node of each lane.
type warp struct {
	live    uint64
	nodes   [64]*Node
	callers [64][]*Node // the callers' nodes
}

// OnEvent counts the events of the CTA.
func (c *cta) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnAfter:
		c.instruction(e)
	case probe.OnBranch:
		c.branch(e)
	case probe.OnCall:
		c.call(e)
	case probe.OnReturn:
		w := &c.warps[e.Warp]
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			last := len(w.callers[lane]) - 1
			w.nodes[lane], w.callers[lane] = w.callers[lane][last], w.callers[lane][:last]
		}
	case probe.OnEffect:
		if f := e.Effect; f.Issued && !f.Arrives && !f.FurtherDestination {
			c.effect(e)
		}
	case probe.OnWarp:
		w := &c.warps[e.Warp]
		w.live = e.Lanes
		for lane := range w.nodes {
			w.nodes[lane], w.callers[lane] = c.root, w.callers[lane][:0]
		}
		c.root.Calls++
	case probe.OnExit:
		if !e.Launch.Reconverge.WaitsAtExit {
			c.warps[e.Warp].live &^= e.Lanes
		}
	case probe.OnCTAEnd:
		c.ended(c)
	}
}

// call moves lanes to the node of a called function.
func (c *cta) call(e *probe.Event) {
	w := &c.warps[e.Warp]
	var from, to *Node
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if w.nodes[lane] != from {
			from = w.nodes[lane]
			to = from.call(c.functions[e.Callee], e.Instr)
		}
		w.nodes[lane], w.callers[lane] = to, append(w.callers[lane], from)
	}
	to.Calls++
}

// countsAt returns the counts of the event's instruction at its lanes' node.
func (c *cta) countsAt(e *probe.Event) *Counts {
	return &c.warps[e.Warp].nodes[bits.TrailingZeros64(e.Active)].Counts[c.numbers[e.Index]]
}

// instruction counts an executed instruction.
func (c *cta) instruction(e *probe.Event) {
	n := c.countsAt(e)
	n.Execs++
	n.Active += int64(bits.OnesCount64(e.Active))
	switch effects := e.Instr.Form.Effects; {
	case effects.Any(ptx.Returns | ptx.Exits):
		n.Taken += int64(bits.OnesCount64(e.Lanes))
		fallthrough
	case e.Instr.EndsBlock():
		n.Lanes += int64(bits.OnesCount64(e.Active))
	default:
		n.Lanes += int64(bits.OnesCount64(e.Lanes))
	}
	if e.Active != c.warps[e.Warp].live {
		n.Diverged++
	}
	if c.texture[e.Index] && e.Lanes != 0 {
		n.Texture++
	}
	for i := range e.Accesses {
		if a := &e.Accesses[i]; a.Lanes&e.Lanes != 0 && !a.Surface {
			c.access(n, e, a, a.Lanes&e.Lanes)
		}
	}
	if c.copies.Len() > 0 {
		n.Global.Requests++
		n.Global.count(&c.copies)
		c.copies.Reset()
	}
}

// branch counts a branch.
func (c *cta) branch(e *probe.Event) {
	n := c.countsAt(e)
	n.Branches++
	if e.Instr.Form.Effects.HasAll(ptx.Jumps) {
		n.Taken += int64(bits.OnesCount64(e.Lanes))
	}
	if slices.ContainsFunc(e.Groups, func(w probe.LaneGroup) bool { return w.To != e.Groups[0].To }) {
		n.Divergent++
	}
	if !c.tables[e.Index] {
		return
	}
	node := c.warps[e.Warp].nodes[bits.TrailingZeros64(e.Active)]
	for _, w := range e.Groups {
		if w.To >= 0 && c.functionOf[w.To] == c.functionOf[e.Index] {
			node.addBranch(c.numbers[e.Index], c.numbers[w.To], int64(bits.OnesCount64(w.Lanes)))
		}
	}
}

// effect counts an issued asynchronous copy.
func (c *cta) effect(e *probe.Event) {
	if len(e.Effect.Segments) > 0 {
		c.issued(c.countsAt(e), e.Effect)
	}
}

// global reports whether an allocation is in global memory.
func global(a *probe.Allocation) bool { return a.Space() == ptx.Global }

// access counts a memory access. An access with generic addresses may be several requests.
func (c *cta) access(n *Counts, e *probe.Event, a *probe.Access, lanes uint64) {
	if a.Space != ptx.Generic && a.Space != ptx.Param {
		c.request(n, e, a, a.Space, lanes)
		return
	}
	var of [4]uint64 // lanes by space: global, shared, local, constant
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		space, _, _, ok := a.PlaceOf(lane)
		switch {
		case !ok:
		case space == ptx.Shared:
			of[1] |= 1 << lane
		case space == ptx.Local && a.Space == ptx.Param: // parameters of calls are mostly in registers
		case space == ptx.Local:
			of[2] |= 1 << lane
		case space == ptx.Const || space == ptx.Param:
			of[3] |= 1 << lane
		default:
			of[0] |= 1 << lane
		}
	}
	for i, space := range [4]ptx.Space{ptx.Global, ptx.Shared, ptx.Local, ptx.Const} {
		if of[i] != 0 {
			c.request(n, e, a, space, of[i])
		}
	}
}

// request counts a request to a state space.
func (c *cta) request(n *Counts, e *probe.Event, a *probe.Access, space ptx.Space, lanes uint64) {
	var atomics, maximum int64
	if a.Kind == probe.AccessAtomic {
		atomics, maximum = 1, coalesce.MaxSameAddress(a.Addr, lanes)
	}
	switch space {
	case ptx.Shared, ptx.Const:
		t := &n.Shared
		if space == ptx.Const {
			t = &n.Constant
		}
		t.Requests, t.Atomics, t.SameAddress = t.Requests+1, t.Atomics+atomics, t.SameAddress+maximum
		c.banked(t, a, space, lanes)
	default:
		t := &n.Global
		if space == ptx.Local {
			t = &n.Local
		}
		t.Requests, t.Atomics, t.SameAddress = t.Requests+1, t.Atomics+atomics, t.SameAddress+maximum
		c.traffic(t, e, a, space, lanes)
	}
}

// banked counts the passes of a request to shared or constant memory.
func (c *cta) banked(t *Banked, a *probe.Access, space ptx.Space, lanes uint64) {
	if a.Bulk() { // in units of 128 bytes
		for m := lanes; m != 0; m &= m - 1 {
			n := uint64(a.Length(bits.TrailingZeros64(m)))
			passes := coalesce.RangePasses(n)
			t.Bytes, t.Passes, t.Ideal = t.Bytes+int64(n), t.Passes+passes, t.Ideal+passes
		}
		return
	}
	if space == ptx.Const {
		t.Passes += coalesce.DistinctWords(a.Addr, lanes)
		t.Ideal++
	} else {
		passes, ideal := c.banks.Passes(a.Addr, lanes, a.Bytes, a.Kind == probe.AccessAtomic)
		t.Passes, t.Ideal = t.Passes+passes, t.Ideal+ideal
	}
	c.lines.Reset()
	for m := lanes; m != 0; m &= m - 1 {
		c.lines.Touch(a.Addr[bits.TrailingZeros64(m)], a.Bytes)
	}
	t.Bytes += int64(c.lines.Bytes())
}

// traffic counts the sectors of a request to global or local memory.
func (c *cta) traffic(t *Traffic, e *probe.Event, a *probe.Access, space ptx.Space, lanes uint64) {
	c.lines.Reset()
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		switch {
		case space == ptx.Local:
			c.lines.TouchLocal(a.Addr[lane], a.Length(lane), lane, e.Launch.WarpSize)
		case a.Bulk():
			t.region(a.Addr[lane], uint64(a.Length(lane)))
		default:
			c.lines.Touch(a.Addr[lane], a.Bytes)
		}
	}
	t.count(&c.lines)
}

package simt

// This file is the multiplications of a warpgroup (manual 9.7.15), four warps that execute the
// same instructions. Each warp executes them when it comes to them, and multiplies its own
// rows. What they read and write, registers as well as shared memory, they do at the wait for
// their group, or with Launch.EagerEffects where they are issued. A multiplication is one of the whole
// warpgroup: who waits for it waits until all four warps have issued it, and then it has read
// shared memory for all of them.

import (
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/regfile"
)

// warpgroup is what four warps have executed of wgmma.
type warpgroup struct {
	firstNumber int           // number of the first of joint
	pending     []*groupInstr // that not all warps have executed
	warps       [matrix.Warps]warpgroupWarp
}

// warpgroupWarp is a warp of a warpgroup.
type warpgroupWarp struct {
	executed int // of its instructions
	pending  []*pendingProduct
	groups   int // committed
	fenced   bool
}

// groupInstr is an instruction of a warpgroup.
type groupInstr struct {
	number int
	source *code.Source
	a, b   matrix.Descriptor
}

// pendingProduct is a multiplication that is pending, for a warp.
type pendingProduct struct {
	*groupInstr
	side       int32 // of its instruction, in Tables.Fragments
	group      int   // of its warp, as many as were committed before
	accumulate bool
	stored     []uint8  // columns of a sparse A
	rows       []uint32 // of A, if that is in shared memory and has been read
	columns    []uint32 // of B, if that has been read
	executed   bool     // where it was issued; but who waits for it still waits for the others of the group

	// For probes: its number among asynchronous operations, whether they know that it has read, and
	// the lanes that have issued it.
	seq          int64
	readReported bool
	warp         int
	active       uint64
	depth        int
}

// rank is the number of a warp of 32 lanes in the CTA: of warps of 64 lanes each half is one.
func (w *warp) rank(h int) int { return w.id*len(w.files) + h }

// warpgroup is that of half h, with the number of the warp in it. ok is false if it is not
// whole, which is a trap.
func (w *warp) warpgroup(h int, instr *code.Instr, m uint32) (g *warpgroup, i int, ok bool) {
	if !w.requireAllLanes(h, instr, m) {
		return nil, 0, false
	}
	c, rank := w.cta, w.rank(h)
	first, threads := rank/matrix.Warps*matrix.Warps*matrix.Lanes, matrix.Warps*matrix.Lanes
	switch {
	case w.mask != w.live: // halves of a warp of 64 lanes
		t := w.fail(w.sourceOf(instr), w.mask, probe.ErrDivergent, "%v: %s takes a warpgroup together, and not without lanes %s of warp %d", probe.ErrDivergent, w.sourceOf(instr).Text, probe.LaneList(w.live&^w.mask), w.id)
		t.Notes = append(t.Notes, w.whereabouts(w.live&^w.mask)...)
		return nil, 0, false
	case first+threads > c.grid.threads:
		w.fail(w.sourceOf(instr), uint64(m)<<(32*h), probe.ErrDivergent, "%v: %s takes a warpgroup of %d threads together, of which the CTA has %d", probe.ErrDivergent, w.sourceOf(instr).Text, threads, c.grid.threads-first)
		return nil, 0, false
	}
	if n := rank/matrix.Warps + 1; len(c.asyncState.warpgroups) < n {
		c.asyncState.warpgroups = append(c.asyncState.warpgroups, make([]warpgroup, n-len(c.asyncState.warpgroups))...)
	}
	return &c.asyncState.warpgroups[rank/matrix.Warps], rank % matrix.Warps, true
}

// issueInGroup notes that a warp executes an instruction of its warpgroup, which must be the one that
// the others have executed in its place, with the same matrices.
func (w *warp) issueInGroup(h int, instr *code.Instr, m uint32, a, b matrix.Descriptor) (g *warpgroup, member *warpgroupWarp, j *groupInstr, ok bool) {
	g, i, ok := w.warpgroup(h, instr, m)
	if !ok {
		return nil, nil, nil, false
	}
	member, src := &g.warps[i], w.sourceOf(instr)
	if k := member.executed - g.firstNumber; k < len(g.pending) {
		j = g.pending[k]
		other := slices.IndexFunc(g.warps[:], func(o warpgroupWarp) bool { return o.executed > member.executed })
		name := fmt.Sprintf("warp %d of its warpgroup", w.rank(h)/matrix.Warps*matrix.Warps+other)
		switch {
		case j.source != src:
			w.fail(src, w.mask, probe.ErrDivergent, "%v: %s takes a warpgroup together, and %s has come to %s at %s instead", probe.ErrDivergent, src.Text, name, j.source.Text, j.source.Pos)
			return nil, nil, nil, false
		case j.a != a || j.b != b:
			w.fail(src, w.mask, probe.ErrAsync, "%v: its matrix descriptors are %s, and %s has %s", probe.ErrAsync, descriptors(a, b), name, descriptors(j.a, j.b))
			return nil, nil, nil, false
		}
	} else {
		j = &groupInstr{number: member.executed, source: src, a: a, b: b}
		g.pending = append(g.pending, j)
	}
	member.executed++
	for n := g.issuedByAll(); g.firstNumber < n; g.firstNumber++ {
		g.pending = g.pending[1:]
	}
	c := w.cta
	c.changed = true
	for k := range c.warps { // one may have waited for this
		if other := &c.warps[k]; other.state == atGroup && other.rank(0)/matrix.Warps == w.rank(h)/matrix.Warps {
			other.state = ready
		}
	}
	return g, member, j, true
}

func descriptors(a, b matrix.Descriptor) string {
	return fmt.Sprintf("%#x and %#x", uint64(a), uint64(b))
}

// issuedByAll is how many instructions all warps have executed.
func (g *warpgroup) issuedByAll() int {
	n := g.warps[0].executed
	for i := range g.warps {
		n = min(n, g.warps[i].executed)
	}
	return n
}

// awaited is the pending multiplications that a wait completes.
func (p *warpgroupWarp) awaited(a code.WaitGroups) []*pendingProduct {
	n := 0
	for n < len(p.pending) && (a.All || p.pending[n].group < p.groups-a.Last) {
		n++
	}
	return p.pending[:n]
}

func wgmmaFence(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if _, member, _, ok := w.issueInGroup(h, instr, m, 0, 0); ok {
		member.fenced = true
	}
}

func wgmmaCommit(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if _, member, _, ok := w.issueInGroup(h, instr, m, 0, 0); ok {
		member.groups++
	}
}

// wgmmaIssue executes wgmma.mma_async.
func wgmmaIssue(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	src, lanes := w.sourceOf(instr), uint64(m)<<(32*h)
	uniform := func(row int32, what string) matrix.Descriptor {
		list := f.Src64(row)
		for lane, v := range list {
			if v != list[0] && w.err == nil {
				w.fail(src, (1|1<<lane)<<(32*h), probe.ErrAsync, "%v: the descriptor of matrix %s differs between the lanes of a warp", probe.ErrAsync, what)
			}
		}
		return matrix.Descriptor(list[0])
	}
	a, b, scale := uniform(instr.A, "A"), uniform(instr.B, "B"), f.SrcP(instr.E)
	if scale != 0 && scale != regfile.Full && w.err == nil {
		w.fail(src, uint64(scale)<<(32*h), probe.ErrAsync, "%v: scale-d differs between the lanes of a warp", probe.ErrAsync)
	}
	if w.err != nil {
		return
	}
	_, member, j, ok := w.issueInGroup(h, instr, m, a, b)
	if !ok {
		return
	}
	if !member.fenced {
		w.fail(src, lanes, probe.ErrAsync, "%v: no wgmma.fence comes before it: without, it may not see what registers hold", probe.ErrAsync)
		return
	}
	p := &pendingProduct{groupInstr: j, side: instr.Side, group: member.groups, accumulate: scale != 0}
	frags := &w.cta.code.Fragments[instr.Side]
	if !w.checkWgmmaMemory(h, frags.Wgmma, p, len(frags.A) == 0) {
		return
	}
	if frags.Wgmma.Sparse != nil {
		var u *matrix.Undefined
		if p.stored, u = frags.Wgmma.Sparse.SelectedIndices((*[matrix.Lanes]uint32)(f.Src32(instr.C))); u != nil {
			w.fail(src, uint64(u.Lanes)<<(32*h), probe.ErrMatrix, "%v: %s: the manual leaves open what it gives", probe.ErrMatrix, u.Description)
			return
		}
	}
	cl := w.cta.cluster
	p.seq, p.warp, p.active, p.depth = cl.seq, w.id, lanes, w.frame.depth
	cl.seq++
	w.cta.emitProduct(w.rank(h)%matrix.Warps, p, stageIssued)
	if w.cta.grid.eagerEffects {
		w.multiply(h, f, p)
	}
	member.pending = append(member.pending, p)
}

// checkWgmmaMemory traps unless the matrices lie in shared memory.
func (w *warp) checkWgmmaMemory(h int, o *matrix.Wgmma, p *pendingProduct, inShared bool) bool {
	size := uint64(len(w.cta.shared))
	what, d := "A", p.a
	addr, outside := uint64(0), false
	if inShared {
		addr, outside = o.SharedA.Outside(p.a.Placement(), w.rank(h)%matrix.Warps*matrix.WarpRows, matrix.WarpRows, size)
	}
	if !outside {
		what, d = "B", p.b
		addr, outside = o.SharedB.Outside(p.b.Placement(), 0, o.N, size)
	}
	if !outside {
		return true
	}
	t := w.fail(p.source, w.mask, probe.ErrOutOfBounds, "%v: matrix %s, from shared memory %s on, has elements at %s, and the CTA has %d bytes: descriptor %#x, leading dimension byte offset %d, stride dimension byte offset %d, %s",
		probe.ErrOutOfBounds, what, hexAddr(d.Start()), hexAddr(addr), size, uint64(d), d.Leading(), d.Stride(), swizzling(d))
	t.Addr, t.Bytes = addr, matrix.Chunk
	return false
}

func swizzling(d matrix.Descriptor) string {
	if n := d.Swizzle(); n > matrix.Chunk {
		return fmt.Sprintf("%d-byte swizzling", n)
	}
	return "no swizzling"
}

// readOperands reads what a multiplication wants of shared memory, for a warp of its group.
func (c *cta) readOperands(i int, p *pendingProduct) {
	frags := &c.code.Fragments[p.side]
	if !p.readReported {
		p.readReported = true
		c.emitProduct(i, p, stageReads)
	}
	if p.rows == nil && len(frags.A) == 0 {
		p.rows = frags.Wgmma.SharedA.Load(c.shared, p.a.Placement(), i*matrix.WarpRows, matrix.WarpRows)
	}
	if p.columns == nil {
		p.columns = frags.Wgmma.SharedB.Load(c.shared, p.b.Placement(), 0, frags.Wgmma.N)
	}
}

// multiply multiplies for a warp. Nobody else has its matrices, and it does not need them again.
func (w *warp) multiply(h int, f *regfile.File, p *pendingProduct) {
	w.cta.readOperands(w.rank(h)%matrix.Warps, p)
	frags := &w.cta.code.Fragments[p.side]
	var noLanes regfile.Row32
	rows := func(list []code.Elem, to []*regfile.Row32) []*regfile.Row32 {
		for i, e := range list {
			if to[i] = &noLanes; e.Slot == code.R {
				to[i] = f.Src32(e.Row)
			}
		}
		return to[:len(list)]
	}
	var d, a [matrix.GroupRegisters]*regfile.Row32
	frags.Wgmma.Execute(rows(frags.D, d[:]), rows(frags.A, a[:]), p.rows, p.columns, p.stored, p.accumulate)
	p.executed, p.rows, p.columns, p.stored = true, nil, nil, nil
	w.cta.emitProduct(w.rank(h)%matrix.Warps, p, stageWrites)
}

// wgmmaWait executes wgmma.wait_group, and completes what may be pending where a function is
// called that has groups of its own.
func wgmmaWait(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := code.WaitGroupsOf(instr.Imm)
	if !a.All {
		if _, _, _, ok := w.issueInGroup(h, instr, m, 0, 0); !ok {
			return
		}
	}
	g, i := w.group(h)
	if a.All {
		if g == nil || len(g.warps[i].pending) == 0 {
			return
		}
		if _, _, ok := w.warpgroup(h, instr, m); !ok {
			return
		}
	}
	member := &g.warps[i]
	list := member.awaited(a)
	for _, p := range list {
		switch {
		case p.executed:
			continue
		case !a.All:
			w.cta.readOperandsOf(g, p)
		}
		w.multiply(h, f, p)
	}
	member.pending = member.pending[len(list):]
}

// readOperandsOf reads what a multiplication that a warp has waited for wants of shared memory, for all
// warps.
func (c *cta) readOperandsOf(g *warpgroup, p *pendingProduct) {
	for i := range g.warps {
		for _, other := range g.warps[i].pending {
			if other.groupInstr == p.groupInstr {
				other.columns = p.columns // the same, and read once
				c.readOperands(i, other)
				p.columns = other.columns
			}
		}
	}
}

// group is the warpgroup of half h, nil if it has executed nothing, with the number of the warp
// in it.
func (w *warp) group(h int) (*warpgroup, int) {
	n := w.rank(h)
	if list := w.cta.asyncState.warpgroups; n/matrix.Warps < len(list) {
		return &list[n/matrix.Warps], n % matrix.Warps
	}
	return nil, 0
}

// grouped reports whether a warp may execute the wait that a block begins with: whether its
// warpgroup has issued what it waits for.
func (w *warp) grouped(b *code.Block) bool { return w.unissuedProduct(b) == nil }

// unissuedProduct is a multiplication that a warp waits for, at the wait that a block begins with, and
// that others of its warpgroup have yet to issue; nil if there is none.
func (w *warp) unissuedProduct(b *code.Block) *pendingProduct {
	k := slices.IndexFunc(b.Body, func(instr code.Instr) bool { return instr.Op == code.WgmmaWait })
	instr := &b.Body[k]
	for h := range w.files {
		m := w.files[h].Active()
		if instr.Guard != 0 {
			m &= guardMask(&w.files[h], instr.Guard)
		}
		g, i := w.group(h)
		if m == 0 || g == nil {
			continue
		}
		for _, p := range g.warps[i].awaited(code.WaitGroupsOf(instr.Imm)) {
			if p.number >= g.issuedByAll() {
				return p
			}
		}
	}
	return nil
}

// wgmmaDisturb traps if registers of a multiplication are come to that is pending.
func wgmmaDisturb(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	g, i := w.group(h)
	if g == nil {
		return
	}
	for _, p := range g.warps[i].pending {
		if !p.executed && slices.Contains(w.cta.code.Fragments[instr.Side].Pending, p.side) {
			t := w.fail(w.sourceOf(instr), uint64(m)<<(32*h), probe.ErrAsync, "%v: it comes to registers of %s at %s, which has not been waited for", probe.ErrAsync, p.source.Text, p.source.Pos)
			t.Notes = append(t.Notes, "until wgmma.wait_group the manual leaves open what they hold; where effects are early they are there")
			return
		}
	}
}

// forgetProducts drops what is pending of a function that the running warp split returns from: nobody has
// its registers any more.
func (w *warp) forgetProducts() {
	for h := range w.files {
		if g, i := w.group(h); g != nil && uint32(w.mask>>(32*h)) != 0 {
			g.warps[i].pending = nil
		}
	}
}

// missing lists the warps of a warpgroup that have not executed an instruction.
func (g *warpgroup) missing(number int) (list []int) {
	for i := range g.warps {
		if g.warps[i].executed <= number {
			list = append(list, i)
		}
	}
	return list
}

// ranks adds the number of a warpgroup's first warp to numbers of its warps, and writes them.
func ranks(group int, list []int) string {
	all := make([]int, len(list))
	for i, n := range list {
		all[i] = group*matrix.Warps + n
	}
	if len(all) == 1 {
		return fmt.Sprintf("warp %d has", all[0])
	}
	return fmt.Sprintf("warps %s have", intRanges(all))
}

// finishGroups traps if a warp of a warpgroup has ended without an instruction that another has
// executed.
func (c *cta) finishGroups() error {
	for k := range c.asyncState.warpgroups {
		g := &c.asyncState.warpgroups[k]
		if len(g.pending) > 0 {
			j := g.pending[0]
			return c.newTrap(j.source, probe.ErrDivergent, "%v: %s takes a warpgroup together, and %s not executed it", probe.ErrDivergent, j.source.Text, ranks(k, g.missing(j.number)))
		}
	}
	return nil
}

// standstill is the trap of a warp that waits for others, where no warp can run.
func (c *cta) standstill(w *warp) *probe.Trap {
	if instr := w.awaitedAlloc(); instr != nil {
		return w.tensorMemoryDeadlock(instr)
	}
	return c.groupDeadlock(w)
}

// groupDeadlock is the trap of a warp that waits for its warpgroup.
func (c *cta) groupDeadlock(w *warp) *probe.Trap {
	b := c.code.Block(w.pc)
	p := w.unissuedProduct(b)
	src := c.code.source(b.Sources.First)
	h := 0
	for ; ; h++ {
		if g, i := w.group(h); g != nil && slices.Contains(g.warps[i].pending, p) {
			t := w.fail(src, w.mask, probe.ErrDeadlock, "%v: it waits for %s at %s, which %s not executed", probe.ErrDeadlock, p.source.Text, p.source.Pos, ranks(w.rank(h)/matrix.Warps, g.missing(p.number)))
			for n := range c.warps {
				switch other := &c.warps[n]; {
				case other == w:
				case other.state == ended:
					t.Notes = append(t.Notes, fmt.Sprintf("warp %d has ended", n))
				case other.state == atGroup:
					t.Notes = append(t.Notes, fmt.Sprintf("warp %d waits at %s:%s", n, c.code.module.Name, c.code.source(c.code.Block(other.pc).Sources.First).Pos))
				default:
					for k := range other.waitingSplits {
						if wait := other.waitingSplits[k].wait; wait != nil {
							t.Notes = append(t.Notes, fmt.Sprintf("warp %d, lanes %s, waits at barrier %d, %s:%s", n, probe.LaneList(other.waitingSplits[k].mask), wait.id, c.code.module.Name, wait.src.Pos))
						}
					}
				}
			}
			return t
		}
	}
}

// cloneGroups is a copy that shares nothing which changes.
func cloneGroups(list []warpgroup) []warpgroup {
	list = slices.Clone(list)
	for k := range list {
		g := &list[k]
		g.pending = slices.Clone(g.pending) // what they point to does not change
		for i := range g.warps {
			pending := slices.Clone(g.warps[i].pending)
			for n, p := range pending {
				q := *p
				pending[n] = &q
			}
			g.warps[i].pending = pending
		}
	}
	return list
}

package oracle

// This file executes the multiplications of a warpgroup (manual 9.7.15): four warps, of which
// the first has a number that is a multiple of four. The threads of a warp come to each of its
// instructions together; one that waits for a group goes on when all four warps have issued
// what is in it. Then the multiplications read what they want and write their results. Matrices
// in shared memory are laid out by the canonical layouts of 9.7.15.5.1.2.1.3, as CuTe has them.

import (
	"slices"

	"gemu/ptx"
)

// warpgroup is four warps, by what each has executed and is still to do.
type warpgroup struct {
	done  [4][]*ptx.Instr // wgmma instructions
	descs [4][][2]uint64  // the matrix descriptors of each
	later [4][]*multiplication
	count [4]int // groups committed
	begun [4]bool
}

// multiplication is one of a warp that is still to come.
type multiplication struct {
	in     *ptx.Instr
	number int // among the instructions of its warpgroup
	group  int
	depth  int      // of the calls that its threads were in
	frames []*frame // … their frames
	a, b   uint64   // descriptors
	add    bool     // to what is in D
	meta   []uint64 // of the threads, where A is sparse
	ma, mb matrix   // the matrices, if they have been read
}

// groupOf is the warpgroup of some threads, with the number of the warp in it. All of the
// warpgroup must be there.
func (g group) groupOf() (*warpgroup, int) {
	t := g[0]
	rank := t.linear / tensorLanes
	if len(t.cta.threads) < (rank/4+1)*4*tensorLanes {
		t.trap(KindDivergent, "a warpgroup of less than 128 threads")
	}
	if t.cta.warpgroups == nil {
		t.cta.warpgroups = map[int]*warpgroup{}
	}
	if t.cta.warpgroups[rank/4] == nil {
		t.cta.warpgroups[rank/4] = &warpgroup{}
	}
	return t.cta.warpgroups[rank/4], rank % 4
}

// wgmma (9.7.15.5.2, 9.7.15.7).
func wgmma(g group) {
	g.whole()
	wg, i := g.groupOf()
	t := g[0]
	in, descs := t.in, [2]uint64{}
	multiplies := in.Has("mma_async")
	if multiplies {
		descs = g.descriptors()
	}
	for k := range wg.done {
		if n := len(wg.done[i]); n < len(wg.done[k]) {
			if wg.done[k][n] != in {
				t.trap(KindDivergent, "another warp of the warpgroup has come to %s", wg.done[k][n].Text)
			}
			if wg.descs[k][n] != descs {
				t.trap(KindAsync, "another warp of the warpgroup has other descriptors")
			}
		}
	}
	wg.done[i], wg.descs[i] = append(wg.done[i], in), append(wg.descs[i], descs)
	switch {
	case in.Has("fence"):
		wg.begun[i] = true
	case in.Has("commit_group"):
		wg.count[i]++
	case in.Has("wait_group"):
		for len(wg.later[i]) > 0 && wg.later[i][0].group < wg.count[i]-int(t.arg("a")) {
			p := wg.later[i][0]
			for k := range wg.later {
				for _, o := range wg.later[k] {
					if o.number == p.number {
						t.cta.fetch(o, k)
					}
				}
			}
			wg.later[i] = wg.later[i][1:]
			g.multiply(p, i)
		}
	default:
		if !wg.begun[i] {
			t.trap(KindAsync, "no wgmma.fence before it")
		}
		p := &multiplication{in: in, number: len(wg.done[i]) - 1, group: wg.count[i], depth: len(t.frames), a: descs[0], b: descs[1], add: t.pred("c")}
		for _, t := range g {
			p.frames = append(p.frames, t.top())
		}
		if in.Has("sp") {
			p.meta = g.gather("e")
			for row := range 16 {
				for i := range in.Extent('k') / 2 {
					p.column(t, row, i)
				}
			}
		}
		for _, n := range []string{"a", "b"} {
			if o, _ := t.operand(n); o.Kind != ptx.VecOperand {
				t.cta.load(p, n, i, t)
			}
		}
		wg.later[i] = append(wg.later[i], p)
	}
	for _, t := range g {
		for r := range in.Defs() {
			t.logWrite(t.top().fn, r, t.top().regs[r])
		}
	}
}

// others completes what other warps have waited for the threads to issue.
func (g group) others() {
	for _, c := range g[0].cta.cluster.ctas {
		for _, w := range c.warps {
			if w != g[0].warp {
				w.settle()
			}
		}
	}
}

// column is the column of a sparse A that the i-th stored element of a row is in (9.7.15.6.1,
// 9.7.15.6.2): each chunk of four has two, with an index of two bits each; of .tf32 each chunk of
// two has one, with an index of four bits.
func (p *multiplication) column(t *thread, row, i int) int {
	types, k := p.in.Types(), p.in.Extent('k')
	bits, sel := types[1].Bits(), int(p.in.Arg("f").Imm.Bits)
	group, lower := row%8, row >= 8
	nibble := func(chunk, chunks int) uint64 { // of so many in a row
		if bits == 8 { // threads 0 and 1 of a group have the two rows from column 0 on, 2 and 3 from column 32 on
			thread := when(lower, 1, 0) + when(chunk < 8, 0, 2)
			return p.meta[group*4+thread] >> (chunk % 8 * 4) & 15
		}
		thread := 2*sel + when(chunk < chunks/2, 0, 1)
		return p.meta[group*4+thread] >> (when(lower, 16, 0) + chunk%(chunks/2)*4) & 15
	}
	if bits == 32 {
		switch nibble(i, k/2) {
		case 0b0100:
			return 2 * i
		case 0b1110:
			return 2*i + 1
		}
		t.trap(KindAsync, "metadata of .tf32 that is neither 0b1110 nor 0b0100")
	}
	both := nibble(i/2, k/4)
	if both>>2 == both&3 {
		t.trap(KindAsync, "metadata %#b", both)
	}
	return i/2*4 + int(both>>(2*(i%2))&3)
}

// descriptors are those of A, 0 if it is in registers, and B, which all threads share.
func (g group) descriptors() (d [2]uint64) {
	for i, name := range []string{"a", "b"} {
		if o, _ := g[0].operand(name); o.Kind == ptx.VecOperand {
			continue
		}
		all := g.gather(name)
		for _, v := range all {
			if v != all[0] {
				g[0].trap(KindAsync, "descriptors differ between threads")
			}
		}
		d[i] = all[0]
	}
	for _, t := range g {
		if t.pred("c") != g[0].pred("c") {
			t.trap(KindAsync, "scale-d differs between threads")
		}
	}
	return d
}

// held reports whether a wait of the threads is for what another warp has yet to issue.
func (g group) held() bool {
	t := g[0]
	if t.in.Mnemonic() != "wgmma" || !t.in.Has("wait_group") {
		return false
	}
	wg, i := t.cta.warpgroups[t.linear/tensorLanes/4], t.linear/tensorLanes%4
	if wg == nil {
		return false
	}
	for _, p := range wg.later[i] {
		for k := range wg.done {
			if p.group < wg.count[i]-int(t.arg("a")) && len(wg.done[k]) <= p.number {
				return true
			}
		}
	}
	return false
}

// mode is an extent of a layout, with its stride in elements.
type mode struct{ size, stride int }

// layoutOf is the canonical layout of a matrix in shared memory in CuTe's terms, rows and columns, with
// the bits that its swizzle exchanges: the table of 9.7.15.5.1.2.1.3. The last mode of each
// goes on.
func layoutOf(desc uint64, bits int, across bool) (rows, cols []mode, swizzle int) {
	t := 128 / bits
	bytes := func(at int) int { return int(desc>>at&0x3fff) << 4 * 8 / bits }
	lbo, sbo := bytes(16), bytes(32)
	if swizzle = []int{0, 3, 2, 1}[desc>>62]; swizzle == 0 {
		if across {
			return []mode{{t, 1}, {1, t}, {0, sbo}}, []mode{{8, t}, {0, lbo}}, 0
		}
		return []mode{{8, t}, {0, sbo}}, []mode{{t, 1}, {0, lbo}}, 0
	}
	w := 1 << swizzle
	if across {
		return []mode{{t, 1}, {w, t}, {0, lbo}}, []mode{{8, w * t}, {0, sbo}}, swizzle
	}
	return []mode{{8, w * t}, {0, sbo}}, []mode{{t, 1}, {0, t}}, swizzle
}

// offset is where a layout has an index.
func offset(modes []mode, i int) (off int) {
	for _, m := range modes {
		if m.size == 0 {
			return off + i*m.stride
		}
		off += i % m.size * m.stride
		i /= m.size
	}
	return off
}

// swizzled exchanges bits of an address as Swizzle<b,4,3> does, in patterns that begin base lines
// of 128 bytes behind multiples of their size.
func swizzled(addr, b, base int) int {
	addr -= base << 7
	lines := addr & ((1<<b - 1) << 7)
	return (addr ^ lines>>3) + base<<7
}

// element reads an element of a matrix in shared memory, or traps.
func (c *cta) element(t *thread, desc uint64, bits, row, col int, across bool) uint64 {
	rows, cols, b := layoutOf(desc, bits, across)
	at := (offset(rows, row) + offset(cols, col)) * bits
	addr := int(desc&0x3fff)<<4 + at/8
	if b > 0 {
		addr = swizzled(addr, b, int(desc>>49&7))
	}
	if addr < 0 || addr+(bits+7)/8 > len(c.shared) {
		t.trap(KindMemory, "a matrix has an element at %#x, outside shared memory", addr)
	}
	v := uint64(0)
	for i := range (bits + 7) / 8 {
		v |= uint64(c.shared[addr+i]) << (8 * i)
	}
	return low(v>>(at%8), bits)
}

// load reads a matrix of a multiplication from shared memory: of A the 16 rows of a warp.
func (c *cta) load(p *multiplication, name string, warp int, t *thread) matrix {
	types, m := p.in.Types(), matrix{}
	n, k := p.in.Extent('n'), p.in.Extent('k')
	if name == "a" && p.meta != nil {
		k /= 2
	}
	constant := func(name string) bool {
		i := p.in.Form.Operand(name)
		return i >= 0 && p.in.Ops[i].Kind == ptx.ImmOperand && p.in.Ops[i].Imm.Bits == 1
	}
	inRegisters := p.in.Arg("a").Kind == ptx.VecOperand
	if name == "a" {
		for row := range 16 {
			for col := range k {
				m[[3]int{0, row, col}] = c.element(t, p.a, types[1].Bits(), 16*warp+row, col, constant("i"))
			}
		}
		return m
	}
	across := constant("i")
	if !inRegisters {
		across = constant("j")
	}
	for row := range k {
		for col := range n {
			m[[3]int{0, row, col}] = c.element(t, p.b, types[2].Bits(), col, row, across)
		}
	}
	return m
}

// fetch reads what a multiplication of a warp wants of shared memory.
func (c *cta) fetch(p *multiplication, warp int) {
	t := c.threads[0]
	if p.ma == nil && p.in.Arg("a").Kind != ptx.VecOperand {
		p.ma = c.load(p, "a", warp, t)
	}
	if p.mb == nil {
		p.mb = c.load(p, "b", warp, t)
	}
}

// multiply does a multiplication for a warp, whose threads may have left the function that it is
// in: then nobody has its registers.
func (g group) multiply(p *multiplication, warp int) {
	for i, t := range g {
		if len(t.frames) < p.depth || t.frames[p.depth-1] != p.frames[i] {
			return
		}
	}
	type was struct {
		in     *ptx.Instr
		frames []*frame
		log    *Step
	}
	var now []was
	for _, t := range g {
		now = append(now, was{t.in, t.frames, t.log})
		t.in, t.frames, t.log = p.in, t.frames[:p.depth], nil
	}
	g.product(p, warp)
	for i, t := range g {
		t.in, t.frames, t.log = now[i].in, now[i].frames, now[i].log
	}
}

// product multiplies: a warp has the rows from 16·warp on, of which lane l has those of
// figures 148 to 155.
func (g group) product(p *multiplication, warp int) {
	t, types := g[0], p.in.Types()
	d, a, b := types[0], types[1], types[2]
	n, k := p.in.Extent('n'), p.in.Extent('k')
	if p.meta != nil { // as many products as A has elements that are stored
		k /= 2
	}
	t.cta.fetch(p, warp)
	nowhere := func(int) int { return 0 }
	sums := func(_, group, thread, i int) (int, int) { return group + i/2%2*8, i/4*8 + thread*2 + i%2 }
	ma := p.ma
	if ma == nil {
		per := 32 / a.Bits()
		ma = g.collect("a", a.Bits(), func(_, group, thread, i int) (int, int) {
			r := i / per
			return group + r%2*8, r/2*4*per + thread*per + i%per
		}, nowhere)
	}
	c := matrix{}
	if p.add {
		c = g.collect("d", d.Bits(), sums, nowhere)
	}
	sign := func(operand string, t ptx.Type) uint64 {
		if i := p.in.Form.Operand(operand); i >= 0 && int64(p.in.Ops[i].Imm.Bits) == -1 {
			return 1 << (t.Bits() - 1)
		}
		return 0
	}
	sa, sb := sign("g", a), sign("h", b)
	md := matrix{}
	for row := range 16 {
		for col := range n {
			var va, vb []uint64
			for i := range k {
				at := i
				if p.meta != nil {
					at = p.column(t, row, i)
				}
				va, vb = append(va, ma[[3]int{0, row, i}]^sa), append(vb, p.mb[[3]int{0, at, col}]^sb)
			}
			at := [3]int{0, row, col}
			md[at] = t.grouped(va, vb, c[at], d, a, b)
		}
	}
	g.hand("d", d.Bits(), sums, nowhere, md)
}

// grouped is a row times a column, plus c, as the tensor cores of sm_90 add for a warpgroup
// (docs/tensor.md).
func (t *thread) grouped(a, b []uint64, c uint64, td, ta, tb ptx.Type) uint64 {
	if ta.IsInt() || ta == ptx.B1 {
		return t.inner(a, b, c, td, ta, tb, td)
	}
	how := adder{32, 13, 13, newest}
	switch ta.Bits() {
	case 32:
		how = adder{8, 25, 23, newest}
	case 16:
		how = adder{16, 25, 23, newest}
	}
	for ; len(a) > 0; a, b = a[min(how.block, len(a)):], b[min(how.block, len(b)):] {
		n := min(how.block, len(a))
		c = how.add(a[:n], b[:n], c, td, ta, tb, td)
	}
	return c
}

// undisturbed traps if the current instruction comes to registers of a multiplication that the
// thread has not waited for.
func (t *thread) undisturbed() {
	wg := t.cta.warpgroups[t.linear/tensorLanes/4]
	if wg == nil {
		return
	}
	for _, p := range wg.later[t.linear/tensorLanes%4] {
		if p.depth != len(t.frames) || p.frames[t.lane%tensorLanes] != t.top() || t.in.Mnemonic() == "wgmma" && !t.in.Has("mma_async") ||
			t.in.Pending != nil && slices.Contains(t.in.Pending.Completes, p.in) { // a call, which completes it
			continue
		}
		has := func(in *ptx.Instr, operand string, r ptx.RegID) bool {
			o := in.Arg(operand)
			return o.Kind == ptx.VecOperand && slices.ContainsFunc(o.Elems(), func(e ptx.Operand) bool { return e.Kind == ptx.RegOperand && e.Reg == r })
		}
		same := func(a, b ptx.Operand) bool { return a.Kind == b.Kind && a.Reg == b.Reg }
		chained := t.in.Mnemonic() == "wgmma" && t.in.Types()[0] == p.in.Types()[0] && slices.EqualFunc(t.in.Arg("d").Elems(), p.in.Arg("d").Elems(), same)
		for r := range t.in.Defs() {
			if has(p.in, "a", r) || has(p.in, "d", r) && !chained {
				t.trap(KindAsync, "it writes registers of %s at %s, which has not been waited for", p.in.Text, p.in.Pos)
			}
		}
		for r := range t.in.Uses() {
			added := chained && !has(t.in, "a", r) && !(t.in.Has("sp") && t.in.Arg("e").Reg == r)
			if has(p.in, "d", r) && !added {
				t.trap(KindAsync, "it reads registers of %s at %s, which has not been waited for", p.in.Text, p.in.Pos)
			}
		}
	}
}

// endGroups traps if warps of a warpgroup have not executed the same.
func (c *cta) endGroups() {
	for rank := 0; rank < len(c.threads)/tensorLanes; rank++ {
		if wg := c.warpgroups[rank/4]; wg != nil {
			for k := range wg.done {
				if n := len(wg.done[rank%4]); n < len(wg.done[k]) {
					t := c.threads[rank*tensorLanes]
					t.trap(KindDivergent, "it has not executed %s, as others of its warpgroup have", wg.done[k][n].Text)
				}
			}
		}
	}
}

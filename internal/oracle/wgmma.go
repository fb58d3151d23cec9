package oracle

// This file executes the multiplications of a warpgroup (manual 9.7.15): four warps, of which the first has a number
// that is a multiple of four. The threads of a warp execute each of its instructions together. A wait for a group
// completes when all four warps have issued the instructions of the group; then the multiplications read their operands
// and write their results. Matrices in shared memory have the canonical layouts of 9.7.15.5.1.2.1.3, in CuTe's terms.

import (
	"slices"

	"gemu/ptx"
)

// warpgroup is the state of four warps: issued instructions and pending multiplications, by warp.
type warpgroup struct {
	issued    [4][]*ptx.Instr // wgmma instructions
	descs     [4][][2]uint64  // matrix descriptors of each instruction
	pending   [4][]*multiplication
	committed [4]int // number of committed groups
	fenced    [4]bool
}

// multiplication is a pending multiplication of a warp.
type multiplication struct {
	instr      *ptx.Instr
	number     int // number among the instructions of its warpgroup
	group      int
	callDepth  int      // number of frames of its threads
	frames     []*frame // current frame of each thread
	a, b       uint64   // descriptors
	accumulate bool     // adds to D
	meta       []uint64 // metadata of the threads if A is sparse
	ma, mb     matrix   // the matrices, once they have been read
}

// warpgroup returns the warpgroup of the threads, and the number of their warp in it. The warpgroup must be complete.
func (g group) warpgroup() (*warpgroup, int) {
	t := g[0]
	rank := t.index / tensorLanes
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
	g.checkWholeWarp()
	wg, i := g.warpgroup()
	t := g[0]
	instr, descs := t.instr, [2]uint64{}
	multiplies := instr.Has("mma_async")
	if multiplies {
		descs = g.descriptors()
	}
	for k := range wg.issued {
		if n := len(wg.issued[i]); n < len(wg.issued[k]) {
			if wg.issued[k][n] != instr {
				t.trap(KindDivergent, "another warp of the warpgroup has come to %s", wg.issued[k][n].Text)
			}
			if wg.descs[k][n] != descs {
				t.trap(KindAsync, "another warp of the warpgroup has other descriptors")
			}
		}
	}
	wg.issued[i], wg.descs[i] = append(wg.issued[i], instr), append(wg.descs[i], descs)
	switch {
	case instr.Has("fence"):
		wg.fenced[i] = true
	case instr.Has("commit_group"):
		wg.committed[i]++
	case instr.Has("wait_group"):
		for len(wg.pending[i]) > 0 && wg.pending[i][0].group < wg.committed[i]-int(t.operandValue("a")) {
			p := wg.pending[i][0]
			for k := range wg.pending {
				for _, o := range wg.pending[k] {
					if o.number == p.number {
						t.cta.loadOperands(o, k)
					}
				}
			}
			wg.pending[i] = wg.pending[i][1:]
			g.completeMultiplication(p, i)
		}
	default:
		if !wg.fenced[i] {
			t.trap(KindAsync, "no wgmma.fence before it")
		}
		p := &multiplication{instr: instr, number: len(wg.issued[i]) - 1, group: wg.committed[i], callDepth: len(t.frames), a: descs[0], b: descs[1], accumulate: t.predOperand("c")}
		for _, t := range g {
			p.frames = append(p.frames, t.currentFrame())
		}
		if instr.Has("sp") {
			p.meta = g.operandValues("e")
			for row := range 16 {
				for i := range instr.Extent('k') / 2 {
					p.column(t, row, i)
				}
			}
		}
		for _, n := range []string{"a", "b"} {
			if o, _ := t.operand(n); o.Kind != ptx.VecOperand {
				t.cta.load(p, n, i, t)
			}
		}
		wg.pending[i] = append(wg.pending[i], p)
	}
	for _, t := range g {
		for r := range instr.Defs() {
			t.logWrite(t.currentFrame().fn, r, t.currentFrame().regs[r])
		}
	}
}

// completeOtherWarps lets the warpgroup's other warps complete waits for instructions issued by this warp.
func (g group) completeOtherWarps() {
	for _, c := range g[0].cta.cluster.ctas {
		for _, w := range c.warps {
			if w != g[0].warp {
				w.completeWaits()
			}
		}
	}
}

// column returns the column of the i-th stored element in a row of a sparse A (9.7.15.6.1, 9.7.15.6.2). Each chunk of
// four has two stored elements, with an index of two bits each; each chunk of two of .tf32 has a single stored element,
// with an index of four bits.
func (p *multiplication) column(t *thread, row, i int) int {
	types, k := p.instr.Types(), p.instr.Extent('k')
	bits, sel := types[1].Bits(), int(p.instr.Arg("f").Imm.Bits)
	group, lower := row%8, row >= 8
	nibble := func(chunk, chunks int) uint64 { // chunks: number in a row
		if bits == 8 { // threads 0 and 1 of a group have two rows from column 0 on, threads 2 and 3 from column 32 on
			thread := choose(lower, 1, 0) + choose(chunk < 8, 0, 2)
			return p.meta[group*4+thread] >> (chunk % 8 * 4) & 15
		}
		thread := 2*sel + choose(chunk < chunks/2, 0, 1)
		return p.meta[group*4+thread] >> (choose(lower, 16, 0) + chunk%(chunks/2)*4) & 15
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
	nibble2 := nibble(i/2, k/4)
	if nibble2>>2 == nibble2&3 {
		t.trap(KindAsync, "metadata %#b", nibble2)
	}
	return i/2*4 + int(nibble2>>(2*(i%2))&3)
}

// descriptors returns the descriptors of A (0 if it is in registers) and B, which must be the same in all threads.
func (g group) descriptors() (d [2]uint64) {
	for i, name := range []string{"a", "b"} {
		if o, _ := g[0].operand(name); o.Kind == ptx.VecOperand {
			continue
		}
		all := g.operandValues(name)
		for _, v := range all {
			if v != all[0] {
				g[0].trap(KindAsync, "descriptors differ between threads")
			}
		}
		d[i] = all[0]
	}
	for _, t := range g {
		if t.predOperand("c") != g[0].predOperand("c") {
			t.trap(KindAsync, "scale-d differs between threads")
		}
	}
	return d
}

// waitsForWarps reports whether the threads wait for instructions not yet issued by a warp.
func (g group) waitsForWarps() bool {
	t := g[0]
	if t.instr.Mnemonic() != "wgmma" || !t.instr.Has("wait_group") {
		return false
	}
	wg, i := t.cta.warpgroups[t.index/tensorLanes/4], t.index/tensorLanes%4
	if wg == nil {
		return false
	}
	for _, p := range wg.pending[i] {
		for k := range wg.issued {
			if p.group < wg.committed[i]-int(t.operandValue("a")) && len(wg.issued[k]) <= p.number {
				return true
			}
		}
	}
	return false
}

// layoutMode is an extent of a layout, with its stride in elements.
type layoutMode struct{ size, stride int }

// layoutOf returns the canonical layout of a matrix in shared memory in CuTe's terms, rows and columns, with the number
// of bits that its swizzle exchanges: the table of 9.7.15.5.1.2.1.3. The last mode of each is unbounded (size 0).
func layoutOf(desc uint64, bits int, transposed bool) (rows, cols []layoutMode, swizzle int) {
	t := 128 / bits
	bytes := func(shift int) int { return int(desc>>shift&0x3fff) << 4 * 8 / bits }
	lbo, sbo := bytes(16), bytes(32)
	if swizzle = []int{0, 3, 2, 1}[desc>>62]; swizzle == 0 {
		if transposed {
			return []layoutMode{{t, 1}, {1, t}, {0, sbo}}, []layoutMode{{8, t}, {0, lbo}}, 0
		}
		return []layoutMode{{8, t}, {0, sbo}}, []layoutMode{{t, 1}, {0, lbo}}, 0
	}
	w := 1 << swizzle
	if transposed {
		return []layoutMode{{t, 1}, {w, t}, {0, lbo}}, []layoutMode{{8, w * t}, {0, sbo}}, swizzle
	}
	return []layoutMode{{8, w * t}, {0, sbo}}, []layoutMode{{t, 1}, {0, t}}, swizzle
}

// offset returns the offset of index i in a layout.
func offset(modes []layoutMode, i int) (offset int) {
	for _, m := range modes {
		if m.size == 0 {
			return offset + i*m.stride
		}
		offset += i % m.size * m.stride
		i /= m.size
	}
	return offset
}

// swizzled exchanges bits of an address as Swizzle<b,4,3> does, in patterns that begin base 128-byte lines after
// multiples of their size.
func swizzled(addr, b, base int) int {
	addr -= base << 7
	lines := addr & ((1<<b - 1) << 7)
	return (addr ^ lines>>3) + base<<7
}

// descriptorElement reads an element of a matrix in shared memory; it traps outside.
func (c *cta) descriptorElement(t *thread, desc uint64, bits, row, col int, transposed bool) uint64 {
	rows, cols, b := layoutOf(desc, bits, transposed)
	bit := (offset(rows, row) + offset(cols, col)) * bits
	addr := int(desc&0x3fff)<<4 + bit/8
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
	return low(v>>(bit%8), bits)
}

// load reads a matrix of a multiplication from shared memory: the 16 rows of A of a warp, or B.
func (c *cta) load(p *multiplication, name string, warp int, t *thread) matrix {
	types, m := p.instr.Types(), matrix{}
	n, k := p.instr.Extent('n'), p.instr.Extent('k')
	if name == "a" && p.meta != nil {
		k /= 2
	}
	constant := func(name string) bool {
		i := p.instr.Form.Operand(name)
		return i >= 0 && p.instr.Ops[i].Kind == ptx.ImmOperand && p.instr.Ops[i].Imm.Bits == 1
	}
	inRegisters := p.instr.Arg("a").Kind == ptx.VecOperand
	if name == "a" {
		for row := range 16 {
			for col := range k {
				m[[3]int{0, row, col}] = c.descriptorElement(t, p.a, types[1].Bits(), 16*warp+row, col, constant("i"))
			}
		}
		return m
	}
	transposed := constant("i")
	if !inRegisters {
		transposed = constant("j")
	}
	for row := range k {
		for col := range n {
			m[[3]int{0, row, col}] = c.descriptorElement(t, p.b, types[2].Bits(), col, row, transposed)
		}
	}
	return m
}

// loadOperands reads the operands of a multiplication of a warp that are in shared memory.
func (c *cta) loadOperands(p *multiplication, warp int) {
	t := c.threads[0]
	if p.ma == nil && p.instr.Arg("a").Kind != ptx.VecOperand {
		p.ma = c.load(p, "a", warp, t)
	}
	if p.mb == nil {
		p.mb = c.load(p, "b", warp, t)
	}
}

// completeMultiplication executes a multiplication for a warp. If its threads have left the function of the
// instruction, its registers do not exist any more, and nothing happens.
func (g group) completeMultiplication(p *multiplication, warp int) {
	for i, t := range g {
		if len(t.frames) < p.callDepth || t.frames[p.callDepth-1] != p.frames[i] {
			return
		}
	}
	type savedState struct {
		in     *ptx.Instr
		frames []*frame
		log    *Step
	}
	var saved []savedState
	for _, t := range g {
		saved = append(saved, savedState{t.instr, t.frames, t.log})
		t.instr, t.frames, t.log = p.instr, t.frames[:p.callDepth], nil
	}
	g.product(p, warp)
	for i, t := range g {
		t.instr, t.frames, t.log = saved[i].in, saved[i].frames, saved[i].log
	}
}

// product multiplies for a warp, which has the rows from 16·warp on; figures 148 to 155 show the elements of each lane.
func (g group) product(p *multiplication, warp int) {
	t, types := g[0], p.instr.Types()
	d, a, b := types[0], types[1], types[2]
	n, k := p.instr.Extent('n'), p.instr.Extent('k')
	if p.meta != nil { // a product for each stored element of A
		k /= 2
	}
	t.cta.loadOperands(p, warp)
	noPart := func(int) int { return 0 }
	sums := func(_, group, thread, i int) (int, int) { return group + i/2%2*8, i/4*8 + thread*2 + i%2 }
	ma := p.ma
	if ma == nil {
		perUnit := 32 / a.Bits()
		ma = g.collectMatrix("a", a.Bits(), func(_, group, thread, i int) (int, int) {
			r := i / perUnit
			return group + r%2*8, r/2*4*perUnit + thread*perUnit + i%perUnit
		}, noPart)
	}
	c := matrix{}
	if p.accumulate {
		c = g.collectMatrix("d", d.Bits(), sums, noPart)
	}
	sign := func(operand string, t ptx.Type) uint64 {
		if i := p.instr.Form.Operand(operand); i >= 0 && int64(p.instr.Ops[i].Imm.Bits) == -1 {
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
				index := i
				if p.meta != nil {
					index = p.column(t, row, i)
				}
				va, vb = append(va, ma[[3]int{0, row, i}]^sa), append(vb, p.mb[[3]int{0, index, col}]^sb)
			}
			pos := [3]int{0, row, col}
			md[pos] = t.wgmmaDot(va, vb, c[pos], d, a, b)
		}
	}
	g.distributeMatrix("d", d.Bits(), sums, noPart, md)
}

// wgmmaDot returns a row times a column, plus c, in the arithmetic of the tensor cores of sm_90 for a warpgroup
// (docs/tensor.md).
func (t *thread) wgmmaDot(a, b []uint64, c uint64, td, ta, tb ptx.Type) uint64 {
	if ta.IsInt() || ta == ptx.B1 {
		return t.dotProduct(a, b, c, td, ta, tb, td)
	}
	h := adder{32, 13, 13, minExponentsHopper}
	switch ta.Bits() {
	case 32:
		h = adder{8, 25, 23, minExponentsHopper}
	case 16:
		h = adder{16, 25, 23, minExponentsHopper}
	}
	for ; len(a) > 0; a, b = a[min(h.blockSize, len(a)):], b[min(h.blockSize, len(b)):] {
		n := min(h.blockSize, len(a))
		c = h.add(a[:n], b[:n], c, td, ta, tb, td)
	}
	return c
}

// checkPendingRegs traps if the current instruction accesses registers of a pending multiplication for which the thread
// has not waited.
func (t *thread) checkPendingRegs() {
	wg := t.cta.warpgroups[t.index/tensorLanes/4]
	if wg == nil {
		return
	}
	for _, p := range wg.pending[t.index/tensorLanes%4] {
		if p.callDepth != len(t.frames) || p.frames[t.lane%tensorLanes] != t.currentFrame() || t.instr.Mnemonic() == "wgmma" && !t.instr.Has("mma_async") ||
			t.instr.Pending != nil && slices.Contains(t.instr.Pending.Completes, p.instr) { // a call that completes it
			continue
		}
		usesReg := func(instr *ptx.Instr, operand string, r ptx.RegID) bool {
			o := instr.Arg(operand)
			return o.Kind == ptx.VecOperand && slices.ContainsFunc(o.Elems(), func(e ptx.Operand) bool { return e.Kind == ptx.RegOperand && e.Reg == r })
		}
		same := func(a, b ptx.Operand) bool { return a.Kind == b.Kind && a.Reg == b.Reg }
		chained := t.instr.Mnemonic() == "wgmma" && t.instr.Types()[0] == p.instr.Types()[0] && slices.EqualFunc(t.instr.Arg("d").Elems(), p.instr.Arg("d").Elems(), same)
		for r := range t.instr.Defs() {
			if usesReg(p.instr, "a", r) || usesReg(p.instr, "d", r) && !chained {
				t.trap(KindAsync, "it writes registers of %s at %s, which has not been waited for", p.instr.Text, p.instr.Pos)
			}
		}
		for r := range t.instr.Uses() {
			added := chained && !usesReg(t.instr, "a", r) && !(t.instr.Has("sp") && t.instr.Arg("e").Reg == r)
			if usesReg(p.instr, "d", r) && !added {
				t.trap(KindAsync, "it reads registers of %s at %s, which has not been waited for", p.instr.Text, p.instr.Pos)
			}
		}
	}
}

// checkWarpgroups traps if the warps of a warpgroup have not executed the same instructions.
func (c *cta) checkWarpgroups() {
	for rank := 0; rank < len(c.threads)/tensorLanes; rank++ {
		if wg := c.warpgroups[rank/4]; wg != nil {
			for k := range wg.issued {
				if n := len(wg.issued[rank%4]); n < len(wg.issued[k]) {
					t := c.threads[rank*tensorLanes]
					t.trap(KindDivergent, "it has not executed %s, as others of its warpgroup have", wg.issued[k][n].Text)
				}
			}
		}
	}
}

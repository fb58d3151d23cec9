package oracle

// This file executes the tensor cores of the fifth generation and their memory (manual 9.7.16). A load of a warp takes
// effect at once; every use of the loaded registers requires a wait (9.7.16.6.4.5). A store takes effect at
// tcgen05.wait::st. Instructions issued by a single thread for the tensor cores are tasks. They run, in the order of
// both CTAs of the pair, with the first later tcgen05.commit that completes the phase of an mbarrier.

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// cell is a lane and a column of tensor memory.
type cell struct{ lane, column int }

// tensorMemory is the tensor memory of a CTA: the written cells, and the allocations.
type tensorMemory struct {
	cells           map[cell]uint64
	owner           [576]int // number of the allocation of each column, from 1 on; 0: free
	size            map[int]int
	alone           int          // number of the exclusive allocation; 0: none
	pair            map[int]bool // allocations of a CTA pair
	returned        map[int]bool // allocations of the pair that this CTA has deallocated
	granted         []int        // allocations that the other CTA has made and this CTA has yet to make
	allocationCount int
	relinquished    bool

	stores map[int][]func()      // pending stores, by warp
	loads  map[int]map[cell]bool // loaded cells before tcgen05.wait::ld, by warp
}

func (c *cta) tensorMemory() *tensorMemory {
	if c.tmem == nil {
		c.tmem = &tensorMemory{
			cells: map[cell]uint64{}, size: map[int]int{}, pair: map[int]bool{}, returned: map[int]bool{},
			stores: map[int][]func(){}, loads: map[int]map[cell]bool{},
		}
	}
	return c.tmem
}

// checkCell traps unless the cell exists and is allocated.
func (m *tensorMemory) checkCell(t *thread, p cell) cell {
	if p.lane < 0 || p.lane > 127 || p.column < 0 || p.column > 575 || m.owner[p.column] == 0 {
		t.trap(KindTensor, "lane %d, column %d of tensor memory is not allocated", p.lane, p.column)
	}
	return p
}

// checkNoPendingLoad traps if a warp has loaded the cell and not waited for the load.
func (m *tensorMemory) checkNoPendingLoad(t *thread, p cell) cell {
	for _, l := range m.loads {
		if l[p] {
			t.trap(KindAsync, "lane %d, column %d of tensor memory is overwritten before tcgen05.wait::ld", p.lane, p.column)
		}
	}
	return m.checkCell(t, p)
}

// ctaPair returns the CTA of the thread, or both CTAs of its pair, the even one first.
func (t *thread) ctaPair() []*cta {
	if !t.hasModifier("cta_group::2") {
		return []*cta{t.cta}
	}
	even := t.cta.rank &^ 1
	if even+1 >= len(t.cta.cluster.ctas) {
		t.trap(KindCluster, "a CTA without another one in its pair")
	}
	list := t.cta.cluster.ctas[even:][:2]
	for _, c := range list {
		if c.done {
			t.trap(KindCluster, "cta %v of the pair has exited", c.id)
		}
	}
	return list
}

// tcgen05 executes instructions of a single thread; all other instructions begin to wait for the warp.
func tcgen05(t *thread) {
	switch {
	case t.instr.Form.Family == ptx.FamilyNone:
		t.unsupported()
	case t.hasModifier("sync"):
		tensor(t)
	case t.hasModifier("commit"):
		t.commitTensor()
	case t.hasModifier("cp"):
		t.copyTensor()
	case t.hasModifier("shift"):
		t.shiftTensor()
	case t.hasModifier("mma"):
		t.multiplyTensor()
	}
}

// uniformOperand returns an operand, which must be the same in all threads.
func (g group) uniformOperand(name string) uint64 {
	get := func(t *thread) uint64 {
		if o, _ := t.operand(name); o.Kind == ptx.AddrOperand {
			_, addr := t.address(name)
			return low(addr, 32)
		}
		return low(t.operandValue(name), 32)
	}
	for _, t := range g {
		if get(t) != get(g[0]) {
			t.trap(KindTensor, "operand %s differs between threads", name)
		}
	}
	return get(g[0])
}

// tensorRank is the number of the threads' warp (of 32 threads) in their CTA.
func (g group) tensorRank() int { return g[0].index / tensorLanes }

// tcgen05Warp executes instructions of a whole warp.
func tcgen05Warp(g group) {
	g.checkWholeWarp()
	t := g[0]
	m := t.cta.tensorMemory()
	switch {
	case t.hasModifier("alloc"):
		g.allocate(m)
	case t.hasModifier("dealloc"):
		g.deallocate(m)
	case t.hasModifier("relinquish_alloc_permit"):
		m.relinquished = true
	case t.hasModifier("wait::ld"):
		delete(m.loads, g.tensorRank())
	case t.hasModifier("wait::st"):
		list := m.stores[g.tensorRank()]
		delete(m.stores, g.tensorRank())
		for _, f := range list {
			f()
		}
	case t.hasModifier("ld"):
		g.loadTensor(m)
	default:
		g.storeTensor(m)
	}
}

// columnCount is the number of columns to allocate or deallocate.
func (g group) columnCount() int {
	n := int(g.uniformOperand("b"))
	if g[0].hasModifier("exclusive") { // table 58
		sm := g[0].machine.mod.SM()
		if n%32 != 0 || n < 32 || n > choose(107 <= sm && sm < 110, 576, 512) {
			g[0].trap(KindTensor, "%d columns", n)
		}
		return n
	}
	if bits.OnesCount(uint(n)) != 1 || n < 32 || n > 512 {
		g[0].trap(KindTensor, "%d columns", n)
	}
	return n
}

// freeColumns finds columns that are free in all CTAs of the list, or -1. An exclusive allocation (alone) requires that
// no column is allocated, and prevents further allocations.
func freeColumns(list []*cta, n int, alone bool) int {
	for _, c := range list {
		if m := c.tensorMemory(); m.alone != 0 || alone && len(m.size) > 0 {
			return -1
		}
	}
	if alone {
		return 0
	}
next:
	for first := 0; first+n <= 512; first += 32 {
		for _, c := range list {
			for i := first; i < first+n; i++ {
				if c.tensorMemory().owner[i] != 0 {
					continue next
				}
			}
		}
		return first
	}
	return -1
}

// waitsForColumns reports whether the threads have to wait for free columns.
func (g group) waitsForColumns() bool {
	t := g[0]
	if t.instr.Form.Family != ptx.FamilyTensorAlloc || !t.hasModifier("alloc") || len(g) != tensorLanes {
		return false
	}
	m := t.cta.tensorMemory()
	return !m.relinquished && !(t.hasModifier("cta_group::2") && len(m.granted) > 0) && freeColumns(t.ctaPair(), g.columnCount(), t.hasModifier("exclusive")) < 0
}

func (g group) allocate(m *tensorMemory) {
	t := g[0]
	n := g.columnCount()
	space, addr := t.address("a")
	if space == ptx.Generic {
		if space, addr = t.machine.resolve(addr); space == ptx.Shared && addr>>rankShift != uint64(t.cta.rank) {
			space = ptx.Generic
		}
	}
	if space != ptx.Shared {
		t.trap(KindMemory, "the address is not in the CTA's shared memory")
	}
	if m.relinquished {
		t.trap(KindTensor, "the right to allocate has been given up")
	}
	first := -1
	if t.hasModifier("cta_group::2") && len(m.granted) > 0 {
		id := m.granted[0]
		m.granted = m.granted[1:]
		if m.size[id] != n || (m.alone == id) != t.hasModifier("exclusive") {
			t.trap(KindDivergent, "the other CTA of the pair has allocated %d columns", m.size[id])
		}
		first = slices.Index(m.owner[:], id)
	} else {
		list := t.ctaPair()
		first = freeColumns(list, n, t.hasModifier("exclusive"))
		for _, c := range list {
			o := c.tensorMemory()
			o.allocationCount++
			for i := first; i < first+n; i++ {
				o.owner[i] = o.allocationCount
			}
			o.size[o.allocationCount], o.pair[o.allocationCount] = n, len(list) == 2
			if t.hasModifier("exclusive") {
				o.alone = o.allocationCount
			}
			if c != t.cta {
				o.granted = append(o.granted, o.allocationCount)
			}
		}
	}
	copy(g[0].access(space, addr, 4, writeAccess), bytesOf(value{lo: uint64(first)}, 4))
}

func (m *tensorMemory) release(id int) {
	for i := range m.owner {
		if m.owner[i] == id {
			m.owner[i] = 0
		}
	}
	delete(m.size, id)
	delete(m.returned, id)
	if m.alone == id {
		m.alone = 0
	}
}

func (g group) deallocate(m *tensorMemory) {
	t := g[0]
	n, column := g.columnCount(), int(g.uniformOperand("a"))
	id := 0
	if column < 576 {
		id = m.owner[column]
	}
	if id == 0 || m.size[id] != n || column > 0 && m.owner[column-1] == id || m.returned[id] || m.pair[id] != t.hasModifier("cta_group::2") || (m.alone == id) != t.hasModifier("exclusive") {
		t.trap(KindTensor, "no such columns are allocated")
	}
	if !m.pair[id] {
		m.release(id)
		return
	}
	o := t.cta.cluster.ctas[t.cta.rank^1].tensorMemory() // it may have exited since
	if owner := o.owner[column]; o.returned[owner] {
		m.release(id)
		o.release(owner)
		return
	}
	m.returned[id] = true
}

// checkTensorMemory traps if the CTA has not deallocated all its columns.
func (c *cta) checkTensorMemory() {
	if c.tmem == nil {
		return
	}
	for id := range c.tmem.size {
		if !c.tmem.returned[id] {
			c.threads[0].trap(KindTensor, "%d columns have not been deallocated", c.tmem.size[id])
		}
	}
}

// fragmentCells returns the cell of a register of a lane, by the manual's figures 183 to 187; two cells if it is
// packed.
func (g group) fragmentCells(reg, lane int, split int) []cell {
	t := g[0]
	width := 1
	if t.hasModifier("pack::16b") || t.hasModifier("unpack::16b") {
		width = 2
	}
	var p cell
	switch {
	case t.hasModifier("32x32b"):
		p = cell{lane, reg * width}
	case t.hasModifier("16x32bx2"):
		p = cell{lane & 15, reg*width + choose(lane < 16, 0, split)}
	case t.hasModifier("16x64b"):
		p = cell{choose(lane&1 == 0, 0, 8) + lane>>2, (reg*2 + lane>>1&1) * width}
	case t.hasModifier("16x128b"):
		p = cell{choose(reg&1 == 0, 0, 8) + lane>>2, (reg>>1*4 + lane&3) * width}
	default:
		p = cell{choose(reg&2 == 0, 0, 8) + lane>>2, (reg>>2*8 + lane&3*2 + reg&1) * width}
	}
	if width == 2 {
		return []cell{p, {p.lane, p.column + 1}}
	}
	return []cell{p}
}

// base returns the first cell of a load or store of a warp, in the warp's quarter of the lanes.
func (g group) base() cell {
	t := g[0]
	a := int(g.uniformOperand("a"))
	p := cell{a >> 16, a & 0xffff}
	quarter := g.tensorRank() % 4 * 32
	if p.lane < 32 {
		p.lane += quarter
	}
	rows := choose(t.hasModifier("32x32b"), 32, 16)
	if p.lane%16 != 0 || p.lane < quarter || p.lane+rows > quarter+32 {
		t.trap(KindTensor, "lane %d, where the warp has %d and 31 more", p.lane, quarter)
	}
	return p
}

func (g group) splitOffset(name string) int {
	if !g[0].hasModifier("16x32bx2") {
		return 0
	}
	return int(low(g[0].operandValue(name), 32))
}

func (g group) loadTensor(m *tensorMemory) {
	base, split := g.base(), g.splitOffset("b")
	loads := m.loads[g.tensorRank()]
	if loads == nil {
		loads = map[cell]bool{}
		m.loads[g.tensorRank()] = loads
	}
	for lane, t := range g {
		o, _ := t.operand("d")
		to := elements(o)
		if t.hasModifier("spcompress") {
			num, _ := strconv.Atoi(t.instr.Slot("num")[1:])
			to = make([]*ptx.Operand, num)
		}
		var all []uint64
		for reg, e := range to {
			v := uint64(0)
			for i, p := range g.fragmentCells(reg, lane, split) {
				pos := m.checkCell(t, cell{base.lane + p.lane, base.column + p.column})
				loads[pos] = true
				if v |= m.cells[pos] << (16 * i); len(g.fragmentCells(reg, lane, split)) == 2 && i == 0 {
					v = low(v, 16)
				}
			}
			all = append(all, low(v, 32))
			if e != nil {
				t.write(e, ptx.B32, value{lo: low(v, 32)})
			}
		}
		if t.hasModifier("spcompress") {
			kept, indices := selection{ptx.F32, t.hasModifier("min"), t.hasModifier("abs")}.compressed(all)
			t.putWords("d", indices, 2)
			t.putWords("p", kept, 32)
		}
		if t.hasModifier("red") {
			q, _ := t.operand("q")
			r := all[0]
			for _, v := range all {
				r = t.reduce(r, v)
			}
			t.write(q, ptx.B32, value{lo: low(r, 32)})
		}
	}
}

func (g group) storeTensor(m *tensorMemory) {
	base, split := g.base(), g.splitOffset("c")
	type stored struct {
		at cell
		v  uint64
	}
	var list []stored
	for lane, t := range g {
		o, _ := t.operand("b")
		for reg, e := range elements(o) {
			v := t.read(e, ptx.B32).lo
			places := g.fragmentCells(reg, lane, split)
			for i, p := range places {
				pos := m.checkCell(t, cell{base.lane + p.lane, base.column + p.column})
				if len(places) == 2 {
					list = append(list, stored{pos, low(v>>(16*i), 16)})
				} else {
					list = append(list, stored{pos, v})
				}
			}
		}
	}
	t, instr := g[0], g[0].instr
	m.stores[g.tensorRank()] = append(m.stores[g.tensorRank()], func() {
		saved := t.instr
		t.instr = instr
		for _, s := range list {
			m.cells[m.checkNoPendingLoad(t, s.at)] = s.v
		}
		t.instr = saved
	})
}

// commitTensor (9.7.16.12): the mbarrier is notified when all earlier operations are complete; with .multicast::cluster
// also the mbarriers at the same offset in further CTAs.
func (t *thread) commitTensor() {
	t.ctaPair()
	onlyA := t.hasModifier("sync_restrict::shared::read::mma::a")
	if !t.isMulticast() {
		t.issue(&task{mbarrier: t.notifiedMbarrier(t.mbarrierAt("a")), isArrival: true, tensorCore: true, onlyA: onlyA})
		return
	}
	space, addr := t.address("a")
	if space == ptx.Generic {
		space, addr = t.machine.resolve(addr)
	}
	if space != ptx.Shared {
		t.trap(KindMemory, "an mbarrier at %#x of %s memory", addr, space)
	}
	mask, bits := t.operandValue("b"), 16
	if t.hasModifier("multicast::cluster::32b") {
		bits = 32
	}
	for rank := range bits {
		switch {
		case mask>>rank&1 == 0:
		case rank >= len(t.cta.cluster.ctas):
			t.trap(KindCluster, "there is no CTA of rank %d", rank)
		default:
			p := t.asyncBytes(ptx.Shared, low(addr, rankShift)|uint64(rank)<<rankShift, 8, 8, updateAccess)
			t.issue(&task{mbarrier: t.notifiedMbarrier(p), isArrival: true, tensorCore: true, onlyA: onlyA})
		}
	}
}

// notifiedMbarrier traps unless the eight bytes are an mbarrier.
func (t *thread) notifiedMbarrier(p []byte) []byte {
	t.mbarrierIn(p)
	return p
}

// issueToTensorCore issues a task for the tensor cores.
func (t *thread) issueToTensorCore(f func()) { t.issue(&task{tensorCore: true, execute: f}) }

// tensorAddress returns an operand that is an address in tensor memory.
func (t *thread) tensorAddress(name string) cell {
	_, addr := t.address(name)
	return cell{int(addr >> 16 & 0xffff), int(addr & 0xffff)}
}

// tcgen05Offset returns the address of unit u (16 bytes) in row r of the matrix of a descriptor (9.7.16.4.1, 9.7.16.3).
func (t *thread) tcgen05Offset(desc uint64, r, u int) int {
	field := func(shift int) int { return int(desc>>shift&0x3fff) << 4 }
	swizzle := map[uint64]int{0: 0, 2: 3, 4: 2, 6: 1}[desc>>61]
	addr := field(0) + r/8*field(32)
	if swizzle == 0 {
		return addr + r%8*16 + u*field(16)
	}
	return swizzled(addr+r%8*(16<<swizzle)+u*16, swizzle, int(desc>>49&7))
}

// checkTcgen05Descriptor traps if a descriptor is invalid.
func (t *thread) checkTcgen05Descriptor(desc uint64) {
	if desc>>46&7 != 1 || desc>>53&0xff != 0 || !slices.Contains([]uint64{0, 1, 2, 4, 6}, desc>>61) || desc>>52&1 != 0 {
		t.trap(KindTensor, "descriptor %#x", desc)
	}
}

func (c *cta) sharedBytes(t *thread, at, n int) []byte {
	if at < 0 || at+n > len(c.shared) {
		t.trap(KindMemory, "a matrix has bytes at %#x, outside shared memory", at)
	}
	return c.shared[at:][:n]
}

// copyTensor (9.7.16.9.2).
func (t *thread) copyTensor() {
	to, desc := t.tensorAddress("a"), t.operandValue("b")
	var rows, width int
	shape := strings.Split(strings.TrimSuffix(t.instr.Slot("shape"), "b"), "x")
	rows, _ = strconv.Atoi(shape[0])
	width, _ = strconv.Atoi(shape[1])
	lanes := func(r int) []int {
		switch t.instr.Slot("multicast") {
		case "warpx2::02_13":
			return []int{r, r + 64}
		case "warpx2::01_23":
			return []int{r%32 + r/32*64, r%32 + r/32*64 + 32}
		case "warpx4":
			return []int{r, r + 32, r + 64, r + 96}
		}
		return []int{choose(rows == 4, 32*r, r)}
	}
	t.checkTcgen05Descriptor(desc)
	if desc>>61 == 1 || rows > 4 && to.lane != 0 {
		t.trap(KindTensor, "descriptor %#x, lane %d", desc, to.lane)
	}
	bits := 8
	if t.hasModifier("b6x16_p32") {
		bits = 6
	} else if t.hasModifier("b4x16_p64") {
		bits = 4
	}
	list := t.ctaPair()
	each := func(f func(m *tensorMemory, pos cell, v uint64)) {
		for _, c := range list {
			m := c.tensorMemory()
			for r := range rows {
				for u := range width / 128 {
					chunk := c.sharedBytes(t, t.tcgen05Offset(desc, r, u), 16)
					for w := range 4 {
						v := uint64(0)
						for i := range 4 {
							v |= uint64(unpackByte(chunk, bits, 4*w+i)) << (8 * i)
						}
						for _, l := range lanes(r) {
							f(m, cell{to.lane + l, to.column + 4*u + w}, v)
						}
					}
				}
			}
		}
	}
	each(func(m *tensorMemory, pos cell, _ uint64) { m.checkNoPendingLoad(t, pos) })
	t.issueToTensorCore(func() { each(func(m *tensorMemory, pos cell, v uint64) { m.cells[m.checkNoPendingLoad(t, pos)] = v }) })
}

// shiftTensor (9.7.16.9.3): each row moves down to the next; the last is overwritten, the first stays.
func (t *thread) shiftTensor() {
	pos := t.tensorAddress("a")
	if pos.lane%32 != 0 {
		t.trap(KindTensor, "rows from lane %d on", pos.lane)
	}
	list := t.ctaPair()
	each := func(f func(m *tensorMemory, p, above cell)) {
		for _, c := range list {
			for row := 31; row >= 0; row-- {
				for col := range 8 {
					m := c.tensorMemory()
					f(m, m.checkNoPendingLoad(t, cell{pos.lane + row, pos.column + col}), cell{pos.lane + row - 1, pos.column + col})
				}
			}
		}
	}
	each(func(*tensorMemory, cell, cell) {})
	t.issueToTensorCore(func() {
		each(func(m *tensorMemory, p, above cell) {
			if p.lane > pos.lane {
				m.cells[p] = m.cells[above]
			}
		})
	})
}

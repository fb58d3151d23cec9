package oracle

// This file executes the tensor cores of the fifth generation and their memory (manual 9.7.16).
// A warp loads at once: whoever uses what it has loaded waits for it (9.7.16.6.4.5). It stores at
// tcgen05.wait::st. What one thread issues for the tensor cores is a task, which is done with the
// first tcgen05.commit behind it that an mbarrier lacks, those of its CTA and of the other one
// of the pair in their order.

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// cell is a lane and a column of tensor memory.
type cell struct{ lane, column int }

// tensorMemory is that of a CTA, as far as it has been written, and who has which columns.
type tensorMemory struct {
	cells   map[cell]uint64
	owner   [576]int // of a column: number of the allocation, from 1 on
	size    map[int]int
	alone   int          // the allocation that is exclusive; 0: none
	pair    map[int]bool // allocations of the pair
	left    map[int]bool // … that this CTA has given back
	granted []int        // … that the other CTA has made, and this one has yet to
	made    int
	over    bool

	stores map[int][]func()      // by warp, to come
	loads  map[int]map[cell]bool // by warp, not waited for
}

func (c *cta) tensorMemory() *tensorMemory {
	if c.fifth == nil {
		c.fifth = &tensorMemory{
			cells: map[cell]uint64{}, size: map[int]int{}, pair: map[int]bool{}, left: map[int]bool{},
			stores: map[int][]func(){}, loads: map[int]map[cell]bool{},
		}
	}
	return c.fifth
}

// at traps unless a cell is there and allocated.
func (m *tensorMemory) at(t *thread, p cell) cell {
	if p.lane < 0 || p.lane > 127 || p.column < 0 || p.column > 575 || m.owner[p.column] == 0 {
		t.trap(KindTensor, "lane %d, column %d of tensor memory is not allocated", p.lane, p.column)
	}
	return p
}

// unread traps if somebody has loaded a cell, and has not waited for that.
func (m *tensorMemory) unread(t *thread, p cell) cell {
	for _, l := range m.loads {
		if l[p] {
			t.trap(KindAsync, "lane %d, column %d of tensor memory is overwritten before tcgen05.wait::ld", p.lane, p.column)
		}
	}
	return m.at(t, p)
}

// twins is the CTA of the thread, or those of its pair, the even one first.
func (t *thread) twins() []*cta {
	if !t.has("cta_group::2") {
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

// tcgen05 executes what a single thread does, and begins to wait for the warp else.
func tcgen05(t *thread) {
	switch {
	case t.in.Form.Family == ptx.FamilyNone:
		t.unsupported()
	case t.has("sync"):
		tensor(t)
	case t.has("commit"):
		t.commitTensor()
	case t.has("cp"):
		t.copyTensor()
	case t.has("shift"):
		t.shiftTensor()
	case t.has("mma"):
		t.multiplyTensor()
	}
}

// agreed is an operand that all threads must have alike.
func (g group) agreed(name string) uint64 {
	get := func(t *thread) uint64 {
		if o, _ := t.operand(name); o.Kind == ptx.AddrOperand {
			_, addr := t.address(name)
			return low(addr, 32)
		}
		return low(t.arg(name), 32)
	}
	for _, t := range g {
		if get(t) != get(g[0]) {
			t.trap(KindTensor, "operand %s differs between threads", name)
		}
	}
	return get(g[0])
}

// tensorRank is the number of the threads' warp of 32 in their CTA.
func (g group) tensorRank() int { return g[0].linear / tensorLanes }

// fifth executes what a warp does together.
func fifth(g group) {
	g.whole()
	t := g[0]
	m := t.cta.tensorMemory()
	switch {
	case t.has("alloc"):
		g.allocate(m)
	case t.has("dealloc"):
		g.deallocate(m)
	case t.has("relinquish_alloc_permit"):
		m.over = true
	case t.has("wait::ld"):
		delete(m.loads, g.tensorRank())
	case t.has("wait::st"):
		list := m.stores[g.tensorRank()]
		delete(m.stores, g.tensorRank())
		for _, do := range list {
			do()
		}
	case t.has("ld"):
		g.loadTensor(m)
	default:
		g.storeTensor(m)
	}
}

// columnCount is the number of columns that an instruction is about.
func (g group) columnCount() int {
	n := int(g.agreed("b"))
	if g[0].has("exclusive") { // table 58
		sm := g[0].m.mod.SM()
		if n%32 != 0 || n < 32 || n > when(107 <= sm && sm < 110, 576, 512) {
			g[0].trap(KindTensor, "%d columns", n)
		}
		return n
	}
	if bits.OnesCount(uint(n)) != 1 || n < 32 || n > 512 {
		g[0].trap(KindTensor, "%d columns", n)
	}
	return n
}

// room finds columns that no CTA of the list has given away; -1 if there are none. An exclusive allocation wants that
// no column is given away, and keeps the others from being so.
func room(list []*cta, n int, alone bool) int {
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

// starved reports whether the threads have to wait for columns.
func (g group) starved() bool {
	t := g[0]
	if t.in.Form.Family != ptx.FamilyTensorAlloc || !t.has("alloc") || len(g) != tensorLanes {
		return false
	}
	m := t.cta.tensorMemory()
	return !m.over && !(t.has("cta_group::2") && len(m.granted) > 0) && room(t.twins(), g.columnCount(), t.has("exclusive")) < 0
}

func (g group) allocate(m *tensorMemory) {
	t := g[0]
	n := g.columnCount()
	space, addr := t.address("a")
	if space == ptx.Generic {
		if space, addr = t.m.resolve(addr); space == ptx.Shared && addr>>rankShift != uint64(t.cta.rank) {
			space = ptx.Generic
		}
	}
	if space != ptx.Shared {
		t.trap(KindMemory, "the address is not in the CTA's shared memory")
	}
	if m.over {
		t.trap(KindTensor, "the right to allocate has been given up")
	}
	first := -1
	if t.has("cta_group::2") && len(m.granted) > 0 {
		id := m.granted[0]
		m.granted = m.granted[1:]
		if m.size[id] != n || (m.alone == id) != t.has("exclusive") {
			t.trap(KindDivergent, "the other CTA of the pair has allocated %d columns", m.size[id])
		}
		first = slices.Index(m.owner[:], id)
	} else {
		list := t.twins()
		first = room(list, n, t.has("exclusive"))
		for _, c := range list {
			o := c.tensorMemory()
			o.made++
			for i := first; i < first+n; i++ {
				o.owner[i] = o.made
			}
			o.size[o.made], o.pair[o.made] = n, len(list) == 2
			if t.has("exclusive") {
				o.alone = o.made
			}
			if c != t.cta {
				o.granted = append(o.granted, o.made)
			}
		}
	}
	copy(g[0].reach(space, addr, 4, writes), bytesOf(value{lo: uint64(first)}, 4))
}

func (m *tensorMemory) release(id int) {
	for i := range m.owner {
		if m.owner[i] == id {
			m.owner[i] = 0
		}
	}
	delete(m.size, id)
	delete(m.left, id)
	if m.alone == id {
		m.alone = 0
	}
}

func (g group) deallocate(m *tensorMemory) {
	t := g[0]
	n, at := g.columnCount(), int(g.agreed("a"))
	id := 0
	if at < 576 {
		id = m.owner[at]
	}
	if id == 0 || m.size[id] != n || at > 0 && m.owner[at-1] == id || m.left[id] || m.pair[id] != t.has("cta_group::2") || (m.alone == id) != t.has("exclusive") {
		t.trap(KindTensor, "no such columns are allocated")
	}
	if !m.pair[id] {
		m.release(id)
		return
	}
	o := t.cta.cluster.ctas[t.cta.rank^1].tensorMemory() // which may have exited since
	if theirs := o.owner[at]; o.left[theirs] {
		m.release(id)
		o.release(theirs)
		return
	}
	m.left[id] = true
}

// endTensor traps if the CTA has allocated columns that it has not given back.
func (c *cta) endTensor() {
	if c.fifth == nil {
		return
	}
	for id := range c.fifth.size {
		if !c.fifth.left[id] {
			c.threads[0].trap(KindTensor, "%d columns have not been deallocated", c.fifth.size[id])
		}
	}
}

// fragmentCells is the cells of a register of each lane, in the manual's figures 183 to 187: two if it
// is packed.
func (g group) fragmentCells(reg, lane int, split int) []cell {
	t := g[0]
	width := 1
	if t.has("pack::16b") || t.has("unpack::16b") {
		width = 2
	}
	var p cell
	switch {
	case t.has("32x32b"):
		p = cell{lane, reg * width}
	case t.has("16x32bx2"):
		p = cell{lane & 15, reg*width + when(lane < 16, 0, split)}
	case t.has("16x64b"):
		p = cell{when(lane&1 == 0, 0, 8) + lane>>2, (reg*2 + lane>>1&1) * width}
	case t.has("16x128b"):
		p = cell{when(reg&1 == 0, 0, 8) + lane>>2, (reg>>1*4 + lane&3) * width}
	default:
		p = cell{when(reg&2 == 0, 0, 8) + lane>>2, (reg>>2*8 + lane&3*2 + reg&1) * width}
	}
	if width == 2 {
		return []cell{p, {p.lane, p.column + 1}}
	}
	return []cell{p}
}

// base is the cell that a load or store of a warp begins at, in its quarter of the lanes.
func (g group) base() cell {
	t := g[0]
	a := int(g.agreed("a"))
	p := cell{a >> 16, a & 0xffff}
	quarter := g.tensorRank() % 4 * 32
	if p.lane < 32 {
		p.lane += quarter
	}
	rows := when(t.has("32x32b"), 32, 16)
	if p.lane%16 != 0 || p.lane < quarter || p.lane+rows > quarter+32 {
		t.trap(KindTensor, "lane %d, where the warp has %d and 31 more", p.lane, quarter)
	}
	return p
}

func (g group) splitOff(name string) int {
	if !g[0].has("16x32bx2") {
		return 0
	}
	return int(low(g[0].arg(name), 32))
}

func (g group) loadTensor(m *tensorMemory) {
	base, split := g.base(), g.splitOff("b")
	loads := m.loads[g.tensorRank()]
	if loads == nil {
		loads = map[cell]bool{}
		m.loads[g.tensorRank()] = loads
	}
	for lane, t := range g {
		o, _ := t.operand("d")
		to := elements(o)
		if t.has("spcompress") {
			num, _ := strconv.Atoi(t.in.Slot("num")[1:])
			to = make([]*ptx.Operand, num)
		}
		var all []uint64
		for reg, e := range to {
			v := uint64(0)
			for i, p := range g.fragmentCells(reg, lane, split) {
				at := m.at(t, cell{base.lane + p.lane, base.column + p.column})
				loads[at] = true
				if v |= m.cells[at] << (16 * i); len(g.fragmentCells(reg, lane, split)) == 2 && i == 0 {
					v = low(v, 16)
				}
			}
			all = append(all, low(v, 32))
			if e != nil {
				t.write(e, ptx.B32, value{lo: low(v, 32)})
			}
		}
		if t.has("spcompress") {
			kept, indices := selection{ptx.F32, t.has("min"), t.has("abs")}.compressed(all)
			t.putWords("d", indices, 2)
			t.putWords("p", kept, 32)
		}
		if t.has("red") {
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
	base, split := g.base(), g.splitOff("c")
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
				at := m.at(t, cell{base.lane + p.lane, base.column + p.column})
				if len(places) == 2 {
					list = append(list, stored{at, low(v>>(16*i), 16)})
				} else {
					list = append(list, stored{at, v})
				}
			}
		}
	}
	t, in := g[0], g[0].in
	m.stores[g.tensorRank()] = append(m.stores[g.tensorRank()], func() {
		now := t.in
		t.in = in
		for _, s := range list {
			m.cells[m.unread(t, s.at)] = s.v
		}
		t.in = now
	})
}

// commitTensor (9.7.16.12): the mbarrier is told when what came before has been done; with
// .multicast::cluster those at its place in other CTAs too.
func (t *thread) commitTensor() {
	t.twins()
	onlyA := t.has("sync_restrict::shared::read::mma::a")
	if !t.multicasts() {
		t.issue(&task{bar: t.told(t.mbarrierAt("a")), arrive: true, pipe: true, onlyA: onlyA})
		return
	}
	space, addr := t.address("a")
	if space == ptx.Generic {
		space, addr = t.m.resolve(addr)
	}
	if space != ptx.Shared {
		t.trap(KindMemory, "an mbarrier at %#x of %s memory", addr, space)
	}
	mask, bits := t.arg("b"), 16
	if t.has("multicast::cluster::32b") {
		bits = 32
	}
	for rank := range bits {
		switch {
		case mask>>rank&1 == 0:
		case rank >= len(t.cta.cluster.ctas):
			t.trap(KindCluster, "there is no CTA of rank %d", rank)
		default:
			p := t.span(ptx.Shared, low(addr, rankShift)|uint64(rank)<<rankShift, 8, 8, updates)
			t.issue(&task{bar: t.told(p), arrive: true, pipe: true, onlyA: onlyA})
		}
	}
}

// told traps unless there is an mbarrier in eight bytes.
func (t *thread) told(p []byte) []byte {
	t.mbarrierIn(p)
	return p
}

// pipeline issues a task for the tensor cores.
func (t *thread) pipeline(do func()) { t.issue(&task{pipe: true, do: do}) }

// tensorAddress is an operand that is an address in tensor memory.
func (t *thread) tensorAddress(name string) cell {
	_, addr := t.address(name)
	return cell{int(addr >> 16 & 0xffff), int(addr & 0xffff)}
}

// fifthPlace is the address of a byte of a matrix of 16-byte units that a descriptor describes
// (9.7.16.4.1, 9.7.16.3): unit u of row r.
func (t *thread) fifthPlace(desc uint64, r, u int) int {
	field := func(at int) int { return int(desc>>at&0x3fff) << 4 }
	swizzle := map[uint64]int{0: 0, 2: 3, 4: 2, 6: 1}[desc>>61]
	at := field(0) + r/8*field(32)
	if swizzle == 0 {
		return at + r%8*16 + u*field(16)
	}
	return swizzled(at+r%8*(16<<swizzle)+u*16, swizzle, int(desc>>49&7))
}

// fifthDescriptor traps unless a descriptor is one.
func (t *thread) fifthDescriptor(desc uint64) {
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
	to, desc := t.tensorAddress("a"), t.arg("b")
	var rows, width int
	shape := strings.Split(strings.TrimSuffix(t.in.Slot("shape"), "b"), "x")
	rows, _ = strconv.Atoi(shape[0])
	width, _ = strconv.Atoi(shape[1])
	lanes := func(r int) []int {
		switch t.in.Slot("multicast") {
		case "warpx2::02_13":
			return []int{r, r + 64}
		case "warpx2::01_23":
			return []int{r%32 + r/32*64, r%32 + r/32*64 + 32}
		case "warpx4":
			return []int{r, r + 32, r + 64, r + 96}
		}
		return []int{when(rows == 4, 32*r, r)}
	}
	t.fifthDescriptor(desc)
	if desc>>61 == 1 || rows > 4 && to.lane != 0 {
		t.trap(KindTensor, "descriptor %#x, lane %d", desc, to.lane)
	}
	bits := 8
	if t.has("b6x16_p32") {
		bits = 6
	} else if t.has("b4x16_p64") {
		bits = 4
	}
	list := t.twins()
	each := func(f func(m *tensorMemory, at cell, v uint64)) {
		for _, c := range list {
			m := c.tensorMemory()
			for r := range rows {
				for u := range width / 128 {
					chunk := c.sharedBytes(t, t.fifthPlace(desc, r, u), 16)
					for w := range 4 {
						v := uint64(0)
						for i := range 4 {
							v |= uint64(unpackedAs(chunk, bits, 4*w+i)) << (8 * i)
						}
						for _, l := range lanes(r) {
							f(m, cell{to.lane + l, to.column + 4*u + w}, v)
						}
					}
				}
			}
		}
	}
	each(func(m *tensorMemory, at cell, _ uint64) { m.unread(t, at) })
	t.pipeline(func() { each(func(m *tensorMemory, at cell, v uint64) { m.cells[m.unread(t, at)] = v }) })
}

// shiftTensor (9.7.16.9.3): rows go down to the next, but for the last.
func (t *thread) shiftTensor() {
	at := t.tensorAddress("a")
	if at.lane%32 != 0 {
		t.trap(KindTensor, "rows from lane %d on", at.lane)
	}
	list := t.twins()
	each := func(f func(m *tensorMemory, p, above cell)) {
		for _, c := range list {
			for row := 31; row >= 0; row-- {
				for col := range 8 {
					m := c.tensorMemory()
					f(m, m.unread(t, cell{at.lane + row, at.column + col}), cell{at.lane + row - 1, at.column + col})
				}
			}
		}
	}
	each(func(*tensorMemory, cell, cell) {})
	t.pipeline(func() {
		each(func(m *tensorMemory, p, above cell) {
			if p.lane > at.lane {
				m.cells[p] = m.cells[above]
			}
		})
	})
}

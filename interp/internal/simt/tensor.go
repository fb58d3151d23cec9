package simt

// This file is tensor memory and the tensor cores that work on it (manual 9.7.16). A warp loads and
// stores a quarter of the lanes: loads happen where they are issued, for whoever uses a register
// that is loaded waits for it (9.7.16.6.4.5), stores at tcgen05.wait::st. Copies, shifts and
// multiplications happen in the order of issue, when somebody looks in vain at an mbarrier that
// a later tcgen05.commit tells of it. With Launch.EagerEffects all happen where they are issued.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// tensorState is the tensor memory of a CTA, and what its warps have under way with it.
type tensorState struct {
	memory       *matrix.TensorMemory // nil until some is allocated
	blocks       []tensorBlock        // that are allocated
	fromPair     []tensorBlock        // those that the other CTA of the pair has allocated here, and this one has yet to
	relinquished bool                 // no more is allocated
	warps        []tensorWarp         // those of 32 lanes, up to the last that has accessed it
}

// tensorBlock is columns that have been allocated together.
type tensorBlock struct {
	column, columns int
	pair            bool // of CTAs
	exclusive       bool // no others are allocated meanwhile
	rank            int  // of the CTA that has allocated it
	deallocatedHere bool // one of a pair, which the CTA has deallocated, and the other has not
	src             *code.Source
	warp            int
}

func (b *tensorBlock) String() string {
	reduction := "allocated"
	if b.exclusive {
		reduction = "allocated exclusively"
	}
	return fmt.Sprintf("columns %d to %d, %s at %s", b.column, b.column+b.columns-1, reduction, b.src.Pos)
}

// maxPendingTensor is how many loads, and how many stores, of a warp are kept that it has not waited for.
// Of more, the oldest store happens, which it may at any time, and the oldest load is forgotten.
const maxPendingTensor = 32

// tensorCells is what a store has, at most.
type tensorCells [2 * 128 * matrix.Lanes]matrix.Cell

// tensorWarp is loads and stores of a warp that it has not waited for.
type tensorWarp struct {
	loads  []pendingTensorLoad
	stores []pendingTensorStore
}

type pendingTensorLoad struct {
	src     *code.Source
	regions []matrix.Region
}

type pendingTensorStore struct {
	issueOrigin
	regions []matrix.Region
	cells   []matrix.Cell
}

// issueOrigin is what a trap says of where something was issued.
type issueOrigin struct {
	cta    *cta
	src    *code.Source
	warp   int
	lanes  uint64
	active uint64
}

func (issued *issueOrigin) trap(kind error, format string, args ...any) *probe.Trap {
	c := issued.cta
	t := c.newTrap(issued.src, kind, "%v: %s", kind, fmt.Sprintf(format, args...))
	t.Warp, t.Lanes, t.Active = issued.warp, issued.lanes, issued.active
	if issued.lanes != 0 {
		t.Thread = c.thread(issued.warp*c.code.Width + bits.TrailingZeros64(issued.lanes))
	}
	return t
}

// clone is a copy that shares nothing which changes. The CTA of stores is set by who asks.
func (s tensorState) clone() tensorState {
	if s.memory != nil {
		m := *s.memory
		s.memory = &m
	}
	s.blocks, s.fromPair, s.warps = slices.Clone(s.blocks), slices.Clone(s.fromPair), slices.Clone(s.warps)
	for i := range s.warps {
		w := &s.warps[i]
		w.loads, w.stores = slices.Clone(w.loads), slices.Clone(w.stores)
	}
	return s
}

// pairCTA is the other CTA of the pair, nil if there is none (manual 9.7.16.5.1).
func (c *cta) pairCTA() *cta {
	if r := c.rank ^ 1; c.grid.clustered() && r < len(c.cluster.ctas) {
		return c.cluster.ctas[r]
	}
	return nil
}

// lanePair is the CTAs that an instruction is about, the even one first, or why there is no pair.
func (c *cta) pairOf(pair bool) ([]*cta, string) {
	if !pair {
		return []*cta{c}, ""
	}
	p := c.pairCTA()
	switch {
	case p == nil:
		return nil, fmt.Sprintf("cta %s has no other one in its pair, in a cluster of %s", c.id, c.grid.clusterSizeText())
	case p.done:
		return nil, fmt.Sprintf("cta %s, the other one of the pair, has exited", p.id)
	case c.rank%2 == 0:
		return []*cta{c, p}, ""
	}
	return []*cta{p, c}, ""
}

// tensorWarpOf is what a warp has under way.
func (w *warp) tensorWarpOf(h int) *tensorWarp {
	s, n := &w.cta.asyncState.tensor, w.rank(h)
	if len(s.warps) <= n {
		s.warps = append(s.warps, make([]tensorWarp, n+1-len(s.warps))...)
	}
	return &s.warps[n]
}

// unallocated says what of regions is no tensor memory that is allocated.
func (s *tensorState) unallocated(list []matrix.Region) string {
	columns := matrix.TensorColumns
	for _, b := range s.blocks {
		columns = max(columns, b.column+b.columns)
	}
	for _, r := range list {
		if r.Lane < 0 || r.Lane+r.Lanes > matrix.TensorLanes || r.Column < 0 || r.Column+r.Columns > columns {
			return fmt.Sprintf("%v, of %d lanes and %d columns that there are", r, matrix.TensorLanes, columns)
		}
		for column := r.Column; column < r.Column+r.Columns; column++ {
			if !slices.ContainsFunc(s.blocks, func(b tensorBlock) bool { return b.column <= column && column < b.column+b.columns }) {
				text := fmt.Sprintf("%v, and column %d is not allocated", r, column)
				for i := range s.blocks {
					text += "; " + s.blocks[i].String()
				}
				return text
			}
		}
	}
	return ""
}

// pendingLoad finds a load that reads what is about to be written, and has not been waited for.
func (s *tensorState) pendingLoad(list []matrix.Region) *pendingTensorLoad {
	for i := range s.warps {
		for k := range s.warps[i].loads {
			l := &s.warps[i].loads[k]
			for _, r := range l.regions {
				if slices.ContainsFunc(list, r.Overlaps) {
					return l
				}
			}
		}
	}
	return nil
}

// mayAccess traps if regions are not allocated, or if what is written has yet to be read.
func (issued *issueOrigin) mayAccess(c *cta, read, written []matrix.Region) error {
	s := &c.asyncState.tensor
	for i, list := range [][]matrix.Region{read, written} {
		what := [...]string{"reads", "writes"}[i]
		if bad := s.unallocated(list); bad != "" {
			return issued.trap(probe.ErrTensorMemory, "it %s %s", what, bad)
		}
	}
	if l := s.pendingLoad(written); l != nil {
		return issued.trap(probe.ErrAsync, "it writes tensor memory that %s at %s reads, for which no tcgen05.wait::ld has waited", l.src.Text, l.src.Pos)
	}
	return nil
}

// sameInAll is the value of a row that all lanes have, or traps.
func (w *warp) sameInAll(h int, f *regfile.File, instr *code.Instr, row int32, what string) (uint32, bool) {
	list := f.Src32(row)
	for lane, v := range list {
		if v != list[0] {
			w.fail(w.sourceOf(instr), (1|1<<lane)<<(32*h), probe.ErrTensorMemory, "%v: %s differs between the lanes of a warp: %#x and %#x", probe.ErrTensorMemory, what, list[0], v)
			return 0, false
		}
	}
	return list[0], true
}

// errNoTensorMemory is the answer of an allocation, w.away, for which there is not enough tensor memory.
var errNoTensorMemory = errors.New("not enough tensor memory")

// columnsOf is how many columns an instruction is about, or traps.
func (w *warp) columnsOf(h int, f *regfile.File, instr *code.Instr) (int, bool) {
	n, ok := w.sameInAll(h, f, instr, instr.B, "the number of columns")
	if imm := code.TensorImmOf(instr.Imm); imm.Exclusive {
		if ok && (n == 0 || n > uint32(imm.Columns) || n%matrix.TensorUnit != 0) {
			w.fail(w.sourceOf(instr), 0, probe.ErrTensorMemory, "%v: %d columns, where with .exclusive a multiple of %d is wanted, up to %d with the module's .target", probe.ErrTensorMemory, n, matrix.TensorUnit, imm.Columns)
			return 0, false
		}
		return int(n), ok
	}
	if ok && (n < matrix.TensorUnit || n > matrix.TensorColumns || n&(n-1) != 0) {
		w.fail(w.sourceOf(instr), 0, probe.ErrTensorMemory, "%v: %d columns, where a power of two is wanted, from %d to %d", probe.ErrTensorMemory, n, matrix.TensorUnit, matrix.TensorColumns)
		return 0, false
	}
	return int(n), ok
}

func (w *warp) issueOrigin(h int, instr *code.Instr, m uint32) issueOrigin {
	return issueOrigin{w.cta, w.sourceOf(instr), w.id, uint64(m) << (32 * h), w.mask}
}

// tensorAlloc executes tcgen05.alloc, but for the store.
func tensorAlloc(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	c, imm := w.cta, code.TensorImmOf(instr.Imm)
	n, ok := w.columnsOf(h, f, instr)
	if !ok {
		return
	}
	place, ok := w.placeAt(h, instr, 0, &mem.Access{Request: probe.Request{Space: imm.Space, Bytes: 4, Kind: probe.AccessStore}}, f.Src64(instr.A)[0])
	if !ok {
		return
	}
	issued := w.issueOrigin(h, instr, m)
	fromPair := imm.Pair && len(c.asyncState.tensor.fromPair) > 0 // the other has allocated for both, and may have exited since
	ctas, bad := c.pairOf(imm.Pair && !fromPair)
	switch {
	case place.Alloc == nil || place.Alloc != c.sharedMem:
		w.err = issued.trap(probe.ErrWrongSpace, "%s is not in the shared memory of the CTA", hexAddr(f.Src64(instr.A)[0]))
	case bad != "":
		w.err = issued.trap(probe.ErrCTARank, "%s", bad)
	case c.asyncState.tensor.relinquished:
		w.err = issued.trap(probe.ErrTensorMemory, "the CTA has given up the right to allocate")
	}
	if w.err != nil {
		return
	}
	b, ok := tensorBlock{}, true
	if s := &c.asyncState.tensor; fromPair {
		if b = s.fromPair[0]; b.columns != n || b.exclusive != imm.Exclusive {
			reduction := ""
			if b.exclusive {
				reduction = "exclusively "
			}
			w.err = issued.trap(probe.ErrDivergent, "%d columns, where the other CTA of the pair has allocated %d %sat %s", n, b.columns, reduction, b.src.Pos)
			return
		}
		s.fromPair = s.fromPair[1:]
	} else if b, ok = freeColumns(ctas, n, imm.Exclusive); !ok {
		w.err, w.blockedInstr = errNoTensorMemory, instr
		if len(w.files) > 1 { // halves of a warp of 64 lanes cannot wait for each other
			w.err = issued.trap(probe.ErrDeadlock, "%s", w.tensorMemoryWait(instr))
		}
		return
	} else {
		b.pair, b.exclusive, b.src, b.rank, b.warp = imm.Pair, imm.Exclusive, w.sourceOf(instr), c.rank, w.id
		for _, owner := range ctas {
			t := &owner.asyncState.tensor
			if t.memory == nil {
				t.memory = new(matrix.TensorMemory)
			}
			t.blocks = append(t.blocks, b)
			if owner != c {
				t.fromPair = append(t.fromPair, b)
			}
		}
	}
	row := f.Row32(instr.D)
	for lane := range row {
		row[lane] = uint32(b.column)
	}
	c.changed = true
}

// freeColumns finds neighbouring columns that are free in some CTAs. An exclusive allocation has room where no other is,
// and while there is one no other has (manual of PTX 9.4, 9.7.18.7.1).
func freeColumns(ctas []*cta, n int, exclusive bool) (tensorBlock, bool) {
	if exclusive {
		free := !slices.ContainsFunc(ctas, func(c *cta) bool { return len(c.asyncState.tensor.blocks) > 0 })
		return tensorBlock{columns: n}, free
	}
	for column := 0; column+n <= matrix.TensorColumns; column += matrix.TensorUnit {
		taken := false
		for _, c := range ctas {
			for _, b := range c.asyncState.tensor.blocks {
				taken = taken || b.exclusive || b.column < column+n && column < b.column+b.columns
			}
		}
		if !taken {
			return tensorBlock{column: column, columns: n}, true
		}
	}
	return tensorBlock{}, false
}

// awaitedAlloc is the allocation at which the warp waits for tensor memory; nil if it does not.
func (w *warp) awaitedAlloc() *code.Instr {
	if w.state != atGroup || w.uncounted == 0 { // for its warpgroup a warp waits before a block
		return nil
	}
	return &w.cta.code.Instrs[w.pc]
}

// tensorMemoryWait says what the warp waits for at an allocation, and who has it.
func (w *warp) tensorMemoryWait(instr *code.Instr) string {
	c, imm := w.cta, code.TensorImmOf(instr.Imm)
	pair := imm.Pair
	text := fmt.Sprintf("it waits for %d free columns of tensor memory", w.files[0].Src32(instr.B)[0])
	if imm.Exclusive {
		text += ", and until no other ones are allocated"
	}
	ctas, _ := c.pairOf(pair)
	for _, owner := range ctas {
		for i := range owner.asyncState.tensor.blocks {
			b := &owner.asyncState.tensor.blocks[i]
			text += "; "
			if pair {
				text += fmt.Sprintf("of cta %s ", owner.id)
			}
			text += fmt.Sprintf("%v by warp %d", b, b.warp)
			if b.rank != c.rank {
				text += fmt.Sprintf(" of cta %s", c.cluster.ctas[b.rank].id)
			}
		}
	}
	return text
}

// tensorMemoryDeadlock is the trap of a warp that waits for tensor memory which nobody will deallocate.
func (w *warp) tensorMemoryDeadlock(instr *code.Instr) *probe.Trap {
	return w.fail(w.sourceOf(instr), w.mask, probe.ErrDeadlock, "%v: %s", probe.ErrDeadlock, w.tensorMemoryWait(instr))
}

// tensorDealloc executes tcgen05.dealloc.
func tensorDealloc(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	n, ok := w.columnsOf(h, f, instr)
	if !ok {
		return
	}
	at, ok := w.sameInAll(h, f, instr, instr.A, "the address")
	if !ok {
		return
	}
	issued, imm := w.issueOrigin(h, instr, m), code.TensorImmOf(instr.Imm)
	s := &w.cta.asyncState.tensor
	i := slices.IndexFunc(s.blocks, func(b tensorBlock) bool { return uint32(b.column) == at && b.columns == n && !b.deallocatedHere })
	switch {
	case i < 0:
		text := fmt.Sprintf("no %d columns have been allocated at %v", n, matrix.TensorAddress(at))
		for k := range s.blocks {
			text += "; " + s.blocks[k].String()
		}
		w.err = issued.trap(probe.ErrTensorMemory, "%s", text)
		return
	case s.blocks[i].pair != imm.Pair:
		w.err = issued.trap(probe.ErrTensorMemory, "%v, with another .cta_group", &s.blocks[i])
		return
	case s.blocks[i].exclusive != imm.Exclusive:
		w.err = issued.trap(probe.ErrTensorMemory, "%v: .exclusive stands at an allocation and its deallocation, or at neither", &s.blocks[i])
		return
	}
	free := func(c *cta, column int) {
		t := &c.asyncState.tensor
		t.blocks = slices.DeleteFunc(t.blocks, func(b tensorBlock) bool { return b.column == column })
		for k := range c.warps {
			if other := &c.warps[k]; other.state == atGroup { // it may have waited for this
				other.state = ready
			}
		}
		c.changed = true
	}
	if !imm.Pair {
		free(w.cta, s.blocks[i].column)
		return
	}
	p := w.cta.pairCTA()
	column := s.blocks[i].column
	s.blocks[i].deallocatedHere = true
	if k := slices.IndexFunc(p.asyncState.tensor.blocks, func(b tensorBlock) bool { return b.column == column }); k < 0 || p.asyncState.tensor.blocks[k].deallocatedHere {
		free(w.cta, column)
		free(p, column)
	}
	w.cta.changed = true
}

// tensorRelinquish executes tcgen05.relinquish_alloc_permit.
func tensorRelinquish(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if w.requireAllLanes(h, instr, m) {
		w.cta.asyncState.tensor.relinquished = true
	}
}

// quarter is the address that a warp accesses, which must be in its quarter of the lanes (manual
// 9.7.16.8.1). With a lane below 32 it is counted from there, as GPUs do and programs rely on.
func (w *warp) quarter(h int, f *regfile.File, instr *code.Instr, m uint32, t *code.TensorAccess) (matrix.TensorAddress, []matrix.Region, bool) {
	v, ok := w.sameInAll(h, f, instr, w.cta.code.Fragments[instr.Side].E[0].Row, "the address")
	if !ok {
		return 0, nil, false
	}
	a, own := matrix.TensorAddress(v), w.rank(h)%matrix.Warps*matrix.Lanes
	if a.Lane() < matrix.Lanes {
		a += matrix.TensorAddress(own) << 16
	}
	issued := w.issueOrigin(h, instr, m)
	if in := a.Lane() - own; in < 0 || in+t.Tile.Rows > matrix.Lanes || in%16 != 0 {
		w.err = issued.trap(probe.ErrTensorMemory, "it accesses %d lanes from %v on; warp %d can access lanes %d to %d, from a multiple of 16 on", t.Tile.Rows, a, w.rank(h), own, own+matrix.Lanes-1)
		return 0, nil, false
	}
	regions := t.Tile.Regions(a)
	if bad := w.cta.asyncState.tensor.unallocated(regions); bad != "" {
		w.err = issued.trap(probe.ErrTensorMemory, "it accesses %s", bad)
		return 0, nil, false
	}
	return a, regions, true
}

// tensorRows are the rows of registers.
func tensorRows(f *regfile.File, list []code.Elem, own bool) []*regfile.Row32 {
	rows := make([]*regfile.Row32, len(list))
	for i, e := range list {
		switch {
		case own && e.Row < 0:
			rows[i] = new(regfile.Row32)
		case own:
			rows[i] = f.Row32(e.Row)
		default:
			rows[i] = f.Src32(e.Row)
		}
	}
	return rows
}

// tensorLoad executes tcgen05.ld.
func tensorLoad(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	frags := &w.cta.code.Fragments[instr.Side]
	t := frags.Memory
	a, regions, ok := w.quarter(h, f, instr, m, t)
	if !ok {
		return
	}
	rows := tensorRows(f, frags.D, true)
	loaded := rows
	if t.Reduce != nil {
		loaded = rows[:len(rows)-1]
	}
	kept := loaded
	if t.Compress != nil {
		dense := make([]regfile.Row32, t.Tile.Registers)
		loaded = make([]*regfile.Row32, len(dense))
		for i := range dense {
			loaded[i] = &dense[i]
		}
	}
	t.Tile.Load(w.cta.asyncState.tensor.memory, a, loaded)
	if t.Compress != nil {
		compressRows(t.Compress, loaded, kept)
	}
	if t.Reduce != nil {
		reduceRows(t.Reduce, loaded, rows[len(rows)-1])
	}
	if !w.cta.grid.eagerEffects {
		s := w.tensorWarpOf(h)
		if len(s.loads) == maxPendingTensor {
			s.loads = slices.Delete(s.loads, 0, 1)
		}
		s.loads = append(s.loads, pendingTensorLoad{w.sourceOf(instr), regions})
	}
}

// tensorStore executes tcgen05.st.
func tensorStore(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	frags := &w.cta.code.Fragments[instr.Side]
	a, regions, ok := w.quarter(h, f, instr, m, frags.Memory)
	if !ok {
		return
	}
	st := pendingTensorStore{w.issueOrigin(h, instr, m), regions, frags.Memory.Tile.Cells(a, tensorRows(f, frags.A, false))}
	w.cta.changed = true
	if w.cta.grid.eagerEffects {
		w.err = st.execute(w.cta)
		return
	}
	s := w.tensorWarpOf(h)
	if len(s.stores) == maxPendingTensor {
		oldest := s.stores[0]
		s.stores = slices.Delete(s.stores, 0, 1)
		if w.err = oldest.execute(w.cta); w.err != nil {
			return
		}
	}
	s.stores = append(s.stores, st)
}

// execute stores. The error is a *Trap.
func (st *pendingTensorStore) execute(c *cta) error {
	st.cta = c
	if err := st.mayAccess(c, nil, st.regions); err != nil {
		return err
	}
	c.asyncState.tensor.memory.Put(st.cells)
	c.changed = true
	return nil
}

// tensorWait executes tcgen05.wait.
func tensorWait(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.requireAllLanes(h, instr, m) {
		return
	}
	s := w.tensorWarpOf(h)
	if !code.TensorImmOf(instr.Imm).Store {
		s.loads = nil
		return
	}
	stores := s.stores
	s.stores = nil
	for i := range stores {
		if w.err = stores[i].execute(w.cta); w.err != nil {
			return
		}
	}
}

// pipeOp is a copy, a shift or a multiplication. It does not change.
type pipeOp struct {
	pair     bool
	access   *code.TensorAccess // nil: a shift
	address  matrix.TensorAddress
	from     matrix.TensorDescriptor // of a copy
	product  *matrix.TensorProduct
	operands matrix.TensorOperands
}

// tensorOperation executes tcgen05.cp, .shift and .mma.
func tensorOperation(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, code.Async{})
		p := &pipeOp{pair: code.TensorImmOf(instr.Imm).Pair}
		e.pipeOp = p
		switch instr.Op {
		case code.TensorShift:
			p.address = matrix.TensorAddress(f.Src32(instr.A)[lane])
		case code.TensorCopy:
			p.access = w.cta.code.Fragments[instr.Side].Memory
			p.address, p.from = matrix.TensorAddress(f.Src32(instr.A)[lane]), matrix.TensorDescriptor(f.Src64(instr.B)[lane])
		default:
			p.setMultiplication(w, f, instr, lane)
			product, bad := p.access.Mma.Product(f.Src32(instr.C)[lane])
			if bad == nil {
				bad = product.Check(&p.operands)
			}
			if bad != nil {
				w.err = e.refusalTrap(bad)
				return
			}
			p.product = product
		}
		if err := e.checkPipeOp(); err != nil {
			w.err = err
			return
		}
		w.issue(e)
	}
}

// setMultiplication reads the operands of one.
func (p *pipeOp) setMultiplication(w *warp, f *regfile.File, instr *code.Instr, lane int) {
	frags := &w.cta.code.Fragments[instr.Side]
	p.access = frags.Memory
	word := func(i int) uint32 { return f.Src32(frags.E[i].Row)[lane] }
	address := func(i int) matrix.TensorAddress { return matrix.TensorAddress(word(i)) }
	x := &p.operands
	x.D, x.A, x.Meta = address(code.TensorD), address(code.TensorA), address(code.TensorMeta)
	// The upper two bits are which byte of a cell they are in, which the instruction descriptor
	// says: programs leave them there.
	x.ScaleA, x.ScaleB = address(code.TensorScaleA)&^(3<<30), address(code.TensorScaleB)&^(3<<30)
	x.DescA, x.DescB = matrix.TensorDescriptor(f.Src64(instr.A)[lane]), matrix.TensorDescriptor(f.Src64(instr.B)[lane])
	x.Add = f.SrcP(instr.E)>>lane&1 != 0
	for i := range x.Disabled {
		x.Disabled[i] = word(code.TensorDisabled + i)
	}
	x.Zero = matrix.ZeroMask(f.Src64(frags.E[code.TensorZero].Row)[lane])
}

// refusalTrap is the trap of a multiplication that cannot be, or that does not run.
func (e *effect) refusalTrap(r *matrix.Refusal) *probe.Trap {
	if r.NotImplemented {
		return e.trap(probe.ErrTensorMemory, "%v: %s, which is legal and gemu does not run", probe.ErrTensorMemory, r.Description)
	}
	return e.trap(probe.ErrTensorMemory, "%v: %s", probe.ErrTensorMemory, r.Description)
}

func (e *effect) origin() *issueOrigin {
	return &issueOrigin{e.cta, e.src, e.warp, 1 << e.lane, e.active}
}

// checkPipeOp traps if an operation goes where it cannot go.
func (e *effect) checkPipeOp() error {
	p, issued := e.pipeOp, e.origin()
	ctas, bad := e.cta.pairOf(p.pair)
	if bad != "" {
		return issued.trap(probe.ErrCTARank, "%s", bad)
	}
	var read, written []matrix.Region
	switch {
	case p.product != nil:
		read, written = p.product.Regions(&p.operands)
	case p.access != nil:
		written = p.access.Copy.Regions(p.address)
		if p.address.Lane() != 0 && len(written) == 1 {
			return issued.trap(probe.ErrTensorMemory, "it copies to %v: a lane that is not 0", p.address)
		}
		if _, bad := p.from.Placement(); bad != "" {
			return issued.trap(probe.ErrTensorMemory, "descriptor %#x: %s", uint64(p.from), bad)
		}
		if p.from.Absolute() || p.from>>61 == 1 {
			return e.refusalTrap(&matrix.Refusal{Description: fmt.Sprintf("descriptor %#x: an absolute leading dimension, or swizzling mode 1, of a copy", uint64(p.from)), NotImplemented: true})
		}
	default:
		if p.address.Lane()%matrix.Lanes != 0 {
			return issued.trap(probe.ErrTensorMemory, "it shifts rows from %v on: a lane that is no multiple of 32", p.address)
		}
		written = []matrix.Region{matrix.ShiftRegion(p.address)}
	}
	for _, c := range ctas {
		if err := issued.mayAccess(c, read, written); err != nil {
			return err
		}
		size := uint64(len(c.shared))
		name, desc, addr, outside := "", matrix.TensorDescriptor(0), uint64(0), false
		switch {
		case p.product != nil:
			if name, addr, outside = p.product.Outside(&p.operands, size); name == "A" {
				desc = p.operands.DescA
			} else {
				desc = p.operands.DescB
			}
			name = "matrix " + name
		case p.access != nil:
			place, _ := p.from.Placement()
			addr, outside = p.access.Copy.Outside(place, size)
			name, desc = "what it copies", p.from
		}
		if outside {
			d, _ := desc.Placement()
			t := issued.trap(probe.ErrOutOfBounds, "%s, from shared memory %s on, has elements at %s, and cta %s has %d bytes: descriptor %#x, leading dimension byte offset %d, stride dimension byte offset %d, swizzling mode %d",
				name, hexAddr(d.Start), hexAddr(addr), c.id, size, uint64(desc), d.Leading, d.Stride, uint64(desc>>61))
			t.Addr, t.Bytes = addr, matrix.Chunk
			return t
		}
	}
	return nil
}

// isPipeOp reports whether the effect is one of tensor cores, or tells of those before it.
func (e *effect) isPipeOp() bool { return e.pipeOp != nil || e.commits }

// runPipe has the effects of tensor cores that came before one, and that, in the order of issue:
// those of its CTA, and of the other of the pair. Mbarriers are told in that order, too.
func (cl *cluster) runPipe(upTo *effect) error {
	run := []*effect{upTo}
	if pair := upTo.cta.rank / 2; cl.pipes != nil {
		list := cl.pipes[pair]
		n, _ := slices.BinarySearchFunc(list, upTo.seq, func(e *effect, seq int64) int { return cmp.Compare(e.seq, seq) })
		if upTo.readsA {
			for _, e := range list[:n] {
				e.readA()
			}
			cl.pipes[pair] = slices.DeleteFunc(slices.Clone(list), func(e *effect) bool { return e == upTo })
		} else {
			run = append(slices.Clone(list[:n]), upTo)
			if n < len(list) && list[n] == upTo {
				n++
			}
			cl.pipes[pair] = list[n:]
		}
	}
	var mbarriers []uint64 // mbarriers, besides that of upTo
	for _, e := range run {
		e.done = true
		e.cta.asyncState.keptBytes -= e.keptBytes
		e.cta.changed = true
		var err error
		if e.pipeOp != nil {
			err = e.executePipeOp()
		} else {
			e.emit(stageWrites)
			err = e.arriveAt()
		}
		if err != nil {
			return err
		}
		if e.commits && e != upTo {
			mbarriers = append(mbarriers, e.mbarrier)
		}
	}
	slices.Sort(mbarriers)
	for _, addr := range slices.Compact(mbarriers) {
		cl.dropEffectsAt(addr, func(e *effect) bool { return e.done && e.commits })
	}
	return nil
}

// readA reads matrix A of a multiplication, if it is in shared memory and that has not been done.
func (e *effect) readA() {
	p := e.pipeOp
	if p == nil || p.product == nil || p.product.InTensor || e.factorA != nil {
		return
	}
	e.emit(stageReads)
	ctas, _ := e.cta.pairOf(p.pair)
	for _, c := range ctas {
		list := p.product.LoadA(c.shared, &p.operands)
		e.factorA = append(e.factorA, list)
		e.charge(4 * uint64(len(list)))
	}
}

// executePipeOp does an operation.
func (e *effect) executePipeOp() error {
	if err := e.checkPipeOp(); err != nil {
		return err
	}
	e.emit(stageReads | stageWrites)
	p := e.pipeOp
	ctas, _ := e.cta.pairOf(p.pair)
	for _, c := range ctas {
		c.changed = true
		switch {
		case p.product != nil:
		case p.access != nil:
			place, _ := p.from.Placement()
			p.access.Copy.Execute(c.asyncState.tensor.memory, p.address, c.shared, place)
		default:
			c.asyncState.tensor.memory.ShiftDown(p.address)
		}
	}
	if p.product == nil {
		return nil
	}
	var list []matrix.TensorCTA
	for i, c := range ctas {
		list = append(list, matrix.TensorCTA{Memory: c.asyncState.tensor.memory, Shared: c.shared})
		if e.factorA != nil {
			list[i].A = e.factorA[i]
		}
	}
	if u := p.product.Execute(list, &p.operands); u != nil {
		return e.trap(probe.ErrMatrix, "%v: %s: the manual leaves open what it gives", probe.ErrMatrix, u.Description)
	}
	return nil
}

// tensorCommit executes tcgen05.commit.
func tensorCommit(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	imm := code.TensorImmOf(instr.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, instr, lane, code.Async{})
		e.arrives, e.commits, e.readsA = true, true, imm.ReadA
		if _, bad := w.cta.pairOf(imm.Pair); bad != "" {
			w.err = e.origin().trap(probe.ErrCTARank, "%s", bad)
			return
		}
		addr := f.Src64(instr.A)[lane]
		if !imm.Multicast {
			if w.findMbarrier(h, instr, e, imm.Space, addr, false) {
				w.issue(e)
			}
			continue
		}
		at, ok := w.mbarrierAt(h, instr, lane, imm.Space, addr, false)
		if !ok {
			return
		}
		ranks := f.Src32(instr.B)[lane]
		if !imm.Wide {
			ranks &= math.MaxUint16
		}
		for ; ranks != 0 && w.err == nil; ranks &= ranks - 1 {
			rank := bits.TrailingZeros32(ranks)
			if rank >= w.cta.grid.clusterSize {
				w.fail(e.src, 1<<e.lane, probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank, w.cta.grid.clusterSizeText())
				return
			}
			to := *e
			if to.mbarrier = addressInRank(at, rank); !w.cta.mbarrier(to.mbarrier).valid() {
				w.failMbarrier(h, instr, lane, to.mbarrier, notAnMbarrier)
				return
			}
			w.issue(&to)
		}
	}
}

// finishTensor traps if the CTA ends with tensor memory that it has allocated.
func (c *cta) finishTensor() error {
	for i := range c.asyncState.tensor.blocks {
		if b := &c.asyncState.tensor.blocks[i]; !b.deallocatedHere {
			issued := issueOrigin{cta: c, src: b.src, warp: b.warp}
			return issued.trap(probe.ErrTensorMemory, "the CTA ends, and has not deallocated %v", b)
		}
	}
	return nil
}

// reduceRows combines, for each lane, what registers have. What is reduced is as redux has it.
func reduceRows(r *code.TensorReduction, rows []*regfile.Row32, last *regfile.Row32) {
	step := func(a, b uint64) uint64 { return applyReduction(r.Integer, widthMask(ptx.B32), a, b, 0) }
	if r.Float.Op != code.Invalid {
		step = func(a, b uint64) uint64 {
			v, _ := alu.Single[r.Float.Op](a, b, 0, 0, uint64(r.Float.Imm))
			return v
		}
	}
	for lane := range last {
		v := uint64(rows[0][lane])
		for _, row := range rows { // the first twice, for its sign
			v = step(v, uint64(row[lane]))
		}
		if x := math.Float32frombits(uint32(v)); r.Float.Op != code.Invalid && x != x {
			v = 0x7fffffff
		}
		last[lane] = uint32(v)
	}
}

package simt

// This file is tensor memory and the tensor cores that work on it (manual 9.7.16). A warp loads and
// stores a quarter of the lanes: loads happen where they are issued, for whoever uses a register
// that is loaded waits for it (9.7.16.6.4.5), stores at tcgen05.wait::st. Copies, shifts and
// multiplications happen in the order of issue, when somebody looks in vain at an mbarrier that
// a later tcgen05.commit tells of it. With Launch.Early all happen where they are issued.

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
	"gemu/ptx"
	"gemu/regfile"
)

// tensorState is the tensor memory of a CTA, and what its warps have under way with it.
type tensorState struct {
	memory *matrix.TensorMemory // nil until some is allocated
	blocks []tensorBlock        // that are allocated
	given  []tensorBlock        // those that the other CTA of the pair has allocated here, and this one has yet to
	ended  bool                 // no more is allocated
	warps  []tensorWarp         // those of 32 lanes, up to the last that has accessed it
}

// tensorBlock is columns that have been allocated together.
type tensorBlock struct {
	column, columns int
	pair            bool // of CTAs
	exclusive       bool // no others are allocated meanwhile
	rank            int  // of the CTA that has allocated it
	left            bool // one of a pair, which the CTA has deallocated, and the other has not
	src             *code.Source
	warp            int
}

func (b *tensorBlock) String() string {
	how := "allocated"
	if b.exclusive {
		how = "allocated exclusively"
	}
	return fmt.Sprintf("columns %d to %d, %s at %s", b.column, b.column+b.columns-1, how, b.src.Pos)
}

// mostUnawaited is how many loads, and how many stores, of a warp are kept that it has not waited for.
// Of more, the oldest store happens, which it may at any time, and the oldest load is forgotten.
const mostUnawaited = 32

// tensorCells is what a store has, at most.
type tensorCells [2 * 128 * matrix.Lanes]matrix.Cell

// tensorWarp is loads and stores of a warp that it has not waited for.
type tensorWarp struct {
	loads  []tensorLoading
	stores []tensorStoring
}

type tensorLoading struct {
	src     *code.Source
	regions []matrix.Region
}

type tensorStoring struct {
	origin
	regions []matrix.Region
	cells   []matrix.Cell
}

// origin is what a trap says of where something was issued.
type origin struct {
	cta    *cta
	src    *code.Source
	warp   int
	lanes  uint64
	active uint64
}

func (o *origin) trap(kind error, format string, args ...any) *Trap {
	c := o.cta
	t := c.newTrap(o.src, kind, "%v: %s", kind, fmt.Sprintf(format, args...))
	t.Warp, t.Lanes, t.Active = o.warp, o.lanes, o.active
	if o.lanes != 0 {
		t.Thread = c.thread(o.warp*c.code.Width + bits.TrailingZeros64(o.lanes))
	}
	return t
}

// clone is a copy that shares nothing which changes. The CTA of stores is set by who asks.
func (s tensorState) clone() tensorState {
	if s.memory != nil {
		m := *s.memory
		s.memory = &m
	}
	s.blocks, s.given, s.warps = slices.Clone(s.blocks), slices.Clone(s.given), slices.Clone(s.warps)
	for i := range s.warps {
		w := &s.warps[i]
		w.loads, w.stores = slices.Clone(w.loads), slices.Clone(w.stores)
	}
	return s
}

// peer is the other CTA of the pair, nil if there is none (manual 9.7.16.5.1).
func (c *cta) peer() *cta {
	if r := c.rank ^ 1; c.grid.clustered() && r < len(c.cluster.ctas) {
		return c.cluster.ctas[r]
	}
	return nil
}

// pairOf is the CTAs that an instruction is about, the even one first, or why there is no pair.
func (c *cta) pairOf(pair bool) ([]*cta, string) {
	if !pair {
		return []*cta{c}, ""
	}
	p := c.peer()
	switch {
	case p == nil:
		return nil, fmt.Sprintf("cta %s has no other one in its pair, in a cluster of %s", c.id, c.grid.teamSize())
	case p.done:
		return nil, fmt.Sprintf("cta %s, the other one of the pair, has exited", p.id)
	case c.rank%2 == 0:
		return []*cta{c, p}, ""
	}
	return []*cta{p, c}, ""
}

// tensorWarpOf is what a warp has under way.
func (w *warp) tensorWarpOf(h int) *tensorWarp {
	s, n := &w.cta.async.tensor, w.rank(h)
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

// waitedFor finds a load that reads what is about to be written, and has not been waited for.
func (s *tensorState) waitedFor(list []matrix.Region) *tensorLoading {
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
func (o *origin) mayAccess(c *cta, read, written []matrix.Region) error {
	s := &c.async.tensor
	for i, list := range [][]matrix.Region{read, written} {
		what := [...]string{"reads", "writes"}[i]
		if bad := s.unallocated(list); bad != "" {
			return o.trap(ErrTensorMemory, "it %s %s", what, bad)
		}
	}
	if l := s.waitedFor(written); l != nil {
		return o.trap(ErrAsync, "it writes tensor memory that %s at %s reads, for which no tcgen05.wait::ld has waited", l.src.Text, l.src.Pos)
	}
	return nil
}

// sameInAll is the value of a row that all lanes have, or traps.
func (w *warp) sameInAll(h int, f *regfile.File, in *code.Instr, row int32, what string) (uint32, bool) {
	list := f.Src32(row)
	for lane, v := range list {
		if v != list[0] {
			w.fail(w.src(in), (1|1<<lane)<<(32*h), ErrTensorMemory, "%v: %s differs between the lanes of a warp: %#x and %#x", ErrTensorMemory, what, list[0], v)
			return 0, false
		}
	}
	return list[0], true
}

// errNoRoom is the answer of an allocation, w.away, for which there is not enough tensor memory.
var errNoRoom = errors.New("not enough tensor memory")

// columnsOf is how many columns an instruction is about, or traps.
func (w *warp) columnsOf(h int, f *regfile.File, in *code.Instr) (int, bool) {
	n, ok := w.sameInAll(h, f, in, in.B, "the number of columns")
	if imm := code.TensorImmOf(in.Imm); imm.Exclusive {
		if ok && (n == 0 || n > uint32(imm.Columns) || n%matrix.TensorUnit != 0) {
			w.fail(w.src(in), 0, ErrTensorMemory, "%v: %d columns, where with .exclusive a multiple of %d is wanted, up to %d with the module's .target", ErrTensorMemory, n, matrix.TensorUnit, imm.Columns)
			return 0, false
		}
		return int(n), ok
	}
	if ok && (n < matrix.TensorUnit || n > matrix.TensorColumns || n&(n-1) != 0) {
		w.fail(w.src(in), 0, ErrTensorMemory, "%v: %d columns, where a power of two is wanted, from %d to %d", ErrTensorMemory, n, matrix.TensorUnit, matrix.TensorColumns)
		return 0, false
	}
	return int(n), ok
}

func (w *warp) origin(h int, in *code.Instr, m uint32) origin {
	return origin{w.cta, w.src(in), w.id, uint64(m) << (32 * h), w.mask}
}

// tensorAlloc executes tcgen05.alloc, but for the store.
func tensorAlloc(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	if !w.whole(h, in, m) {
		return
	}
	c, imm := w.cta, code.TensorImmOf(in.Imm)
	n, ok := w.columnsOf(h, f, in)
	if !ok {
		return
	}
	place, ok := w.placeAt(h, in, 0, &mem.Access{Space: imm.Space, Bytes: 4, Kind: mem.Store}, f.Src64(in.A)[0])
	if !ok {
		return
	}
	o := w.origin(h, in, m)
	given := imm.Pair && len(c.async.tensor.given) > 0 // the other has allocated for both, and may have exited since
	ctas, bad := c.pairOf(imm.Pair && !given)
	switch {
	case place.Alloc == nil || place.Alloc != c.sharedMem:
		w.err = o.trap(ErrWrongSpace, "%s is not in the shared memory of the CTA", hexAddr(f.Src64(in.A)[0]))
	case bad != "":
		w.err = o.trap(ErrCTARank, "%s", bad)
	case c.async.tensor.ended:
		w.err = o.trap(ErrTensorMemory, "the CTA has given up the right to allocate")
	}
	if w.err != nil {
		return
	}
	b, ok := tensorBlock{}, true
	if s := &c.async.tensor; given {
		if b = s.given[0]; b.columns != n || b.exclusive != imm.Exclusive {
			how := ""
			if b.exclusive {
				how = "exclusively "
			}
			w.err = o.trap(ErrDivergent, "%d columns, where the other CTA of the pair has allocated %d %sat %s", n, b.columns, how, b.src.Pos)
			return
		}
		s.given = s.given[1:]
	} else if b, ok = freeColumns(ctas, n, imm.Exclusive); !ok {
		w.err, w.away = errNoRoom, in
		if len(w.files) > 1 { // halves of a warp of 64 lanes cannot wait for each other
			w.err = o.trap(ErrDeadlock, "%s", w.lacksRoom(in))
		}
		return
	} else {
		b.pair, b.exclusive, b.src, b.rank, b.warp = imm.Pair, imm.Exclusive, w.src(in), c.rank, w.id
		for _, of := range ctas {
			t := &of.async.tensor
			if t.memory == nil {
				t.memory = new(matrix.TensorMemory)
			}
			t.blocks = append(t.blocks, b)
			if of != c {
				t.given = append(t.given, b)
			}
		}
	}
	row := f.Row32(in.D)
	for lane := range row {
		row[lane] = uint32(b.column)
	}
	c.changed = true
}

// freeColumns finds neighbouring columns that are free in some CTAs. An exclusive allocation has room where no other is,
// and while there is one no other has (manual of PTX 9.4, 9.7.18.7.1).
func freeColumns(ctas []*cta, n int, exclusive bool) (tensorBlock, bool) {
	if exclusive {
		free := !slices.ContainsFunc(ctas, func(c *cta) bool { return len(c.async.tensor.blocks) > 0 })
		return tensorBlock{columns: n}, free
	}
	for column := 0; column+n <= matrix.TensorColumns; column += matrix.TensorUnit {
		taken := false
		for _, c := range ctas {
			for _, b := range c.async.tensor.blocks {
				taken = taken || b.exclusive || b.column < column+n && column < b.column+b.columns
			}
		}
		if !taken {
			return tensorBlock{column: column, columns: n}, true
		}
	}
	return tensorBlock{}, false
}

// awaitsRoom is the allocation at which the warp waits for tensor memory; nil if it does not.
func (w *warp) awaitsRoom() *code.Instr {
	if w.state != atGroup || w.owed == 0 { // for its warpgroup a warp waits before a block
		return nil
	}
	return &w.cta.code.Instrs[w.pc]
}

// lacksRoom says what the warp waits for at an allocation, and who has it.
func (w *warp) lacksRoom(in *code.Instr) string {
	c, imm := w.cta, code.TensorImmOf(in.Imm)
	pair := imm.Pair
	text := fmt.Sprintf("it waits for %d free columns of tensor memory", w.files[0].Src32(in.B)[0])
	if imm.Exclusive {
		text += ", and until no other ones are allocated"
	}
	ctas, _ := c.pairOf(pair)
	for _, of := range ctas {
		for i := range of.async.tensor.blocks {
			b := &of.async.tensor.blocks[i]
			text += "; "
			if pair {
				text += fmt.Sprintf("of cta %s ", of.id)
			}
			text += fmt.Sprintf("%v by warp %d", b, b.warp)
			if b.rank != c.rank {
				text += fmt.Sprintf(" of cta %s", c.cluster.ctas[b.rank].id)
			}
		}
	}
	return text
}

// roomDeadlock is the trap of a warp that waits for tensor memory which nobody will deallocate.
func (w *warp) roomDeadlock(in *code.Instr) *Trap {
	return w.fail(w.src(in), w.mask, ErrDeadlock, "%v: %s", ErrDeadlock, w.lacksRoom(in))
}

// tensorDealloc executes tcgen05.dealloc.
func tensorDealloc(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	if !w.whole(h, in, m) {
		return
	}
	n, ok := w.columnsOf(h, f, in)
	if !ok {
		return
	}
	at, ok := w.sameInAll(h, f, in, in.A, "the address")
	if !ok {
		return
	}
	o, imm := w.origin(h, in, m), code.TensorImmOf(in.Imm)
	s := &w.cta.async.tensor
	i := slices.IndexFunc(s.blocks, func(b tensorBlock) bool { return uint32(b.column) == at && b.columns == n && !b.left })
	switch {
	case i < 0:
		text := fmt.Sprintf("no %d columns have been allocated at %v", n, matrix.TensorAddress(at))
		for k := range s.blocks {
			text += "; " + s.blocks[k].String()
		}
		w.err = o.trap(ErrTensorMemory, "%s", text)
		return
	case s.blocks[i].pair != imm.Pair:
		w.err = o.trap(ErrTensorMemory, "%v, with another .cta_group", &s.blocks[i])
		return
	case s.blocks[i].exclusive != imm.Exclusive:
		w.err = o.trap(ErrTensorMemory, "%v: .exclusive stands at an allocation and its deallocation, or at neither", &s.blocks[i])
		return
	}
	free := func(c *cta, column int) {
		t := &c.async.tensor
		t.blocks = slices.DeleteFunc(t.blocks, func(b tensorBlock) bool { return b.column == column })
		for k := range c.warps {
			if o := &c.warps[k]; o.state == atGroup { // it may have waited for this
				o.state = ready
			}
		}
		c.changed = true
	}
	if !imm.Pair {
		free(w.cta, s.blocks[i].column)
		return
	}
	p := w.cta.peer()
	column := s.blocks[i].column
	s.blocks[i].left = true
	if k := slices.IndexFunc(p.async.tensor.blocks, func(b tensorBlock) bool { return b.column == column }); k < 0 || p.async.tensor.blocks[k].left {
		free(w.cta, column)
		free(p, column)
	}
	w.cta.changed = true
}

// tensorRelinquish executes tcgen05.relinquish_alloc_permit.
func tensorRelinquish(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	if w.whole(h, in, m) {
		w.cta.async.tensor.ended = true
	}
}

// quarter is the address that a warp accesses, which must be in its quarter of the lanes (manual
// 9.7.16.8.1). With a lane below 32 it is counted from there, as GPUs do and programs rely on.
func (w *warp) quarter(h int, f *regfile.File, in *code.Instr, m uint32, t *code.TensorAccess) (matrix.TensorAddress, []matrix.Region, bool) {
	v, ok := w.sameInAll(h, f, in, w.cta.code.Fragments[in.Side].E[0].Row, "the address")
	if !ok {
		return 0, nil, false
	}
	a, own := matrix.TensorAddress(v), w.rank(h)%matrix.Warps*matrix.Lanes
	if a.Lane() < matrix.Lanes {
		a += matrix.TensorAddress(own) << 16
	}
	o := w.origin(h, in, m)
	if in := a.Lane() - own; in < 0 || in+t.Tile.Rows > matrix.Lanes || in%16 != 0 {
		w.err = o.trap(ErrTensorMemory, "it accesses %d lanes from %v on; warp %d can access lanes %d to %d, from a multiple of 16 on", t.Tile.Rows, a, w.rank(h), own, own+matrix.Lanes-1)
		return 0, nil, false
	}
	regions := t.Tile.Regions(a)
	if bad := w.cta.async.tensor.unallocated(regions); bad != "" {
		w.err = o.trap(ErrTensorMemory, "it accesses %s", bad)
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
func tensorLoad(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	if !w.whole(h, in, m) {
		return
	}
	o := &w.cta.code.Fragments[in.Side]
	t := o.Memory
	a, regions, ok := w.quarter(h, f, in, m, t)
	if !ok {
		return
	}
	rows := tensorRows(f, o.D, true)
	loaded := rows
	if t.Reduce != nil {
		loaded = rows[:len(rows)-1]
	}
	kept := loaded
	if t.Compress != nil {
		loaded = make([]*regfile.Row32, t.Tile.Registers)
		for i := range loaded {
			loaded[i] = new(regfile.Row32)
		}
	}
	t.Tile.Load(w.cta.async.tensor.memory, a, loaded)
	if t.Compress != nil {
		compressRows(t.Compress, loaded, kept)
	}
	if t.Reduce != nil {
		reduceRows(t.Reduce, loaded, rows[len(rows)-1])
	}
	if !w.cta.grid.early {
		s := w.tensorWarpOf(h)
		if len(s.loads) == mostUnawaited {
			s.loads = slices.Delete(s.loads, 0, 1)
		}
		s.loads = append(s.loads, tensorLoading{w.src(in), regions})
	}
}

// tensorStore executes tcgen05.st.
func tensorStore(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	if !w.whole(h, in, m) {
		return
	}
	o := &w.cta.code.Fragments[in.Side]
	a, regions, ok := w.quarter(h, f, in, m, o.Memory)
	if !ok {
		return
	}
	st := tensorStoring{w.origin(h, in, m), regions, o.Memory.Tile.Cells(a, tensorRows(f, o.A, false))}
	w.cta.changed = true
	if w.cta.grid.early {
		w.err = st.happen(w.cta)
		return
	}
	s := w.tensorWarpOf(h)
	if len(s.stores) == mostUnawaited {
		oldest := s.stores[0]
		s.stores = slices.Delete(s.stores, 0, 1)
		if w.err = oldest.happen(w.cta); w.err != nil {
			return
		}
	}
	s.stores = append(s.stores, st)
}

// happen stores. The error is a *Trap.
func (st *tensorStoring) happen(c *cta) error {
	st.cta = c
	if err := st.mayAccess(c, nil, st.regions); err != nil {
		return err
	}
	c.async.tensor.memory.Put(st.cells)
	c.changed = true
	return nil
}

// tensorWait executes tcgen05.wait.
func tensorWait(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	if !w.whole(h, in, m) {
		return
	}
	s := w.tensorWarpOf(h)
	if !code.TensorImmOf(in.Imm).Store {
		s.loads = nil
		return
	}
	stores := s.stores
	s.stores = nil
	for i := range stores {
		if w.err = stores[i].happen(w.cta); w.err != nil {
			return
		}
	}
}

// piped is a copy, a shift or a multiplication. It does not change.
type piped struct {
	pair     bool
	access   *code.TensorAccess // nil: a shift
	at       matrix.TensorAddress
	from     matrix.TensorDescriptor // of a copy
	product  *matrix.TensorProduct
	operands matrix.TensorOperands
}

// tensorOperation executes tcgen05.cp, .shift and .mma.
func tensorOperation(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, code.Async{})
		p := &piped{pair: code.TensorImmOf(in.Imm).Pair}
		e.piped = p
		switch in.Op {
		case code.TensorShift:
			p.at = matrix.TensorAddress(f.Src32(in.A)[lane])
		case code.TensorCopy:
			p.access = w.cta.code.Fragments[in.Side].Memory
			p.at, p.from = matrix.TensorAddress(f.Src32(in.A)[lane]), matrix.TensorDescriptor(f.Src64(in.B)[lane])
		default:
			p.multiplication(w, f, in, lane)
			product, bad := p.access.Mma.Product(f.Src32(in.C)[lane])
			if bad == nil {
				bad = product.Check(&p.operands)
			}
			if bad != nil {
				w.err = e.refused(bad)
				return
			}
			p.product = product
		}
		if err := e.piping(); err != nil {
			w.err = err
			return
		}
		w.issue(e)
	}
}

// multiplication reads the operands of one.
func (p *piped) multiplication(w *warp, f *regfile.File, in *code.Instr, lane int) {
	o := &w.cta.code.Fragments[in.Side]
	p.access = o.Memory
	word := func(i int) uint32 { return f.Src32(o.E[i].Row)[lane] }
	address := func(i int) matrix.TensorAddress { return matrix.TensorAddress(word(i)) }
	x := &p.operands
	x.D, x.A, x.Meta = address(code.TensorD), address(code.TensorA), address(code.TensorMeta)
	// The upper two bits are which byte of a cell they are in, which the instruction descriptor
	// says: programs leave them there.
	x.ScaleA, x.ScaleB = address(code.TensorScaleA)&^(3<<30), address(code.TensorScaleB)&^(3<<30)
	x.DescA, x.DescB = matrix.TensorDescriptor(f.Src64(in.A)[lane]), matrix.TensorDescriptor(f.Src64(in.B)[lane])
	x.Add = f.SrcP(in.E)>>lane&1 != 0
	for i := range x.Disabled {
		x.Disabled[i] = word(code.TensorDisabled + i)
	}
	x.Zero = matrix.ZeroMask(f.Src64(o.E[code.TensorZero].Row)[lane])
}

// refused is the trap of a multiplication that cannot be, or that does not run.
func (e *effect) refused(r *matrix.Refusal) *Trap {
	if r.Later {
		return e.trap(ErrTensorMemory, "%v: %s, which is legal and gemu does not run", ErrTensorMemory, r.What)
	}
	return e.trap(ErrTensorMemory, "%v: %s", ErrTensorMemory, r.What)
}

func (e *effect) origin() *origin {
	return &origin{e.cta, e.src, e.warp, 1 << e.lane, e.active}
}

// piping traps if an operation goes where it cannot go.
func (e *effect) piping() error {
	p, o := e.piped, e.origin()
	ctas, bad := e.cta.pairOf(p.pair)
	if bad != "" {
		return o.trap(ErrCTARank, "%s", bad)
	}
	var read, written []matrix.Region
	switch {
	case p.product != nil:
		read, written = p.product.Regions(&p.operands)
	case p.access != nil:
		written = p.access.Copy.Regions(p.at)
		if p.at.Lane() != 0 && len(written) == 1 {
			return o.trap(ErrTensorMemory, "it copies to %v: a lane that is not 0", p.at)
		}
		if _, bad := p.from.Placement(); bad != "" {
			return o.trap(ErrTensorMemory, "descriptor %#x: %s", uint64(p.from), bad)
		}
		if p.from.Absolute() || p.from>>61 == 1 {
			return e.refused(&matrix.Refusal{What: fmt.Sprintf("descriptor %#x: an absolute leading dimension, or swizzling mode 1, of a copy", uint64(p.from)), Later: true})
		}
	default:
		if p.at.Lane()%matrix.Lanes != 0 {
			return o.trap(ErrTensorMemory, "it shifts rows from %v on: a lane that is no multiple of 32", p.at)
		}
		written = []matrix.Region{matrix.ShiftRegion(p.at)}
	}
	for _, c := range ctas {
		if err := o.mayAccess(c, read, written); err != nil {
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
			t := o.trap(ErrOutOfBounds, "%s, from shared memory %s on, has elements at %s, and cta %s has %d bytes: descriptor %#x, leading dimension byte offset %d, stride dimension byte offset %d, swizzling mode %d",
				name, hexAddr(d.Start), hexAddr(addr), c.id, size, uint64(desc), d.Leading, d.Stride, uint64(desc>>61))
			t.Addr, t.Bytes = addr, matrix.Chunk
			return t
		}
	}
	return nil
}

// pipes reports whether the effect is one of tensor cores, or tells of those before it.
func (e *effect) pipes() bool { return e.piped != nil || e.commits }

// runPipe has the effects of tensor cores that came before one, and that, in the order of issue:
// those of its CTA, and of the other of the pair. Mbarriers are told in that order, too.
func (cl *cluster) runPipe(upTo *effect) error {
	run := []*effect{upTo}
	if pair := upTo.cta.rank / 2; cl.piped != nil {
		list := cl.piped[pair]
		n, _ := slices.BinarySearchFunc(list, upTo.seq, func(e *effect, seq int64) int { return cmp.Compare(e.seq, seq) })
		if upTo.readsA {
			for _, e := range list[:n] {
				e.readA()
			}
			cl.piped[pair] = slices.DeleteFunc(slices.Clone(list), func(e *effect) bool { return e == upTo })
		} else {
			run = append(slices.Clone(list[:n]), upTo)
			if n < len(list) && list[n] == upTo {
				n++
			}
			cl.piped[pair] = list[n:]
		}
	}
	var told []uint64 // mbarriers, besides that of upTo
	for _, e := range run {
		e.done = true
		e.cta.async.kept -= e.kept
		e.cta.changed = true
		do := e.arriveAt
		if e.piped != nil {
			do = e.pipe
		} else {
			e.inform(writes)
		}
		if err := do(); err != nil {
			return err
		}
		if e.commits && e != upTo {
			told = append(told, e.told)
		}
	}
	slices.Sort(told)
	for _, at := range slices.Compact(told) {
		cl.forgetAt(at, func(e *effect) bool { return e.done && e.commits })
	}
	return nil
}

// readA reads matrix A of a multiplication, if it is in shared memory and that has not been done.
func (e *effect) readA() {
	p := e.piped
	if p == nil || p.product == nil || p.product.InTensor || e.factorA != nil {
		return
	}
	e.inform(reads)
	ctas, _ := e.cta.pairOf(p.pair)
	for _, c := range ctas {
		list := p.product.LoadA(c.shared, &p.operands)
		e.factorA = append(e.factorA, list)
		e.keep(4 * uint64(len(list)))
	}
}

// pipe does an operation.
func (e *effect) pipe() error {
	if err := e.piping(); err != nil {
		return err
	}
	e.inform(reads | writes)
	p := e.piped
	ctas, _ := e.cta.pairOf(p.pair)
	for _, c := range ctas {
		c.changed = true
		switch {
		case p.product != nil:
		case p.access != nil:
			place, _ := p.from.Placement()
			p.access.Copy.Execute(c.async.tensor.memory, p.at, c.shared, place)
		default:
			c.async.tensor.memory.ShiftDown(p.at)
		}
	}
	if p.product == nil {
		return nil
	}
	var list []matrix.TensorCTA
	for i, c := range ctas {
		list = append(list, matrix.TensorCTA{Memory: c.async.tensor.memory, Shared: c.shared})
		if e.factorA != nil {
			list[i].A = e.factorA[i]
		}
	}
	if u := p.product.Execute(list, &p.operands); u != nil {
		return e.trap(ErrMatrix, "%v: %s: the manual leaves open what it gives", ErrMatrix, u.What)
	}
	return nil
}

// tensorCommit executes tcgen05.commit.
func tensorCommit(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	imm := code.TensorImmOf(in.Imm)
	for ; m != 0 && w.err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := w.effect(h, in, lane, code.Async{})
		e.arrives, e.commits, e.readsA = true, true, imm.ReadA
		if _, bad := w.cta.pairOf(imm.Pair); bad != "" {
			w.err = e.origin().trap(ErrCTARank, "%s", bad)
			return
		}
		addr := f.Src64(in.A)[lane]
		if !imm.Multicast {
			if w.tells(h, in, e, imm.Space, addr, false) {
				w.issue(e)
			}
			continue
		}
		at, ok := w.mbarrierAt(h, in, lane, imm.Space, addr, false)
		if !ok {
			return
		}
		ranks := f.Src32(in.B)[lane]
		if !imm.Wide {
			ranks &= math.MaxUint16
		}
		for ; ranks != 0 && w.err == nil; ranks &= ranks - 1 {
			rank := bits.TrailingZeros32(ranks)
			if rank >= w.cta.grid.size {
				w.fail(e.src, 1<<e.lane, ErrCTARank, "%v: %d, in a cluster of %s", ErrCTARank, rank, w.cta.grid.teamSize())
				return
			}
			to := *e
			if to.told = alongside(at, rank); !w.cta.mbarrier(to.told).valid() {
				w.badMbarrier(h, in, lane, to.told, notAnMbarrier)
				return
			}
			w.issue(&to)
		}
	}
}

// finishTensor traps if the CTA ends with tensor memory that it has allocated.
func (c *cta) finishTensor() error {
	for i := range c.async.tensor.blocks {
		if b := &c.async.tensor.blocks[i]; !b.left {
			o := origin{cta: c, src: b.src, warp: b.warp}
			return o.trap(ErrTensorMemory, "the CTA ends, and has not deallocated %v", b)
		}
	}
	return nil
}

// reduceRows combines, for each lane, what registers have. What is reduced is as redux has it.
func reduceRows(r *code.TensorReduction, rows []*regfile.Row32, last *regfile.Row32) {
	step := func(a, b uint64) uint64 { return apply(r.Integer, widthMask(ptx.B32), a, b, 0) }
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

package async

// This file executes operations on tensor memory (manual 9.7.16). A warp loads and stores a quarter of the lanes. Loads
// happen at issue, because a program must wait before it uses a loaded register (9.7.16.6.4.5); stores happen at
// tcgen05.wait::st. Copies, shifts and multiplications happen in the order of issue, after a failed test of an mbarrier at
// which a later tcgen05.commit arrives. With Launch.EagerEffects all happen at issue.

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gemu/interp/internal/access"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// MaxPendingTensor is the maximum number of pending loads, and of pending stores, of a warp. Beyond it the oldest store
// happens, which is allowed at any time, and the oldest load is forgotten.
const MaxPendingTensor = 32

func originTrap(issued *machine.IssueOrigin, kind error, format string, args ...any) *probe.Trap {
	c := issued.CTA
	t := c.NewTrap(issued.Src, kind, "%v: %s", kind, fmt.Sprintf(format, args...))
	t.Warp, t.Lanes, t.Active = issued.Warp, issued.Lanes, issued.Active
	if issued.Lanes != 0 {
		t.Thread = c.ThreadID(issued.Warp*c.Code.Width + bits.TrailingZeros64(issued.Lanes))
	}
	return t
}

// cloneTensorState returns a copy that shares nothing mutable with the original. The caller must set the CTA of stores.
func cloneTensorState(s machine.TensorState) machine.TensorState {
	if s.Memory != nil {
		m := *s.Memory
		s.Memory = &m
	}
	s.Blocks, s.FromPair, s.Warps = slices.Clone(s.Blocks), slices.Clone(s.FromPair), slices.Clone(s.Warps)
	for i := range s.Warps {
		w := &s.Warps[i]
		w.Loads, w.Stores = slices.Clone(w.Loads), slices.Clone(w.Stores)
	}
	return s
}

// pairedCTA returns the other CTA of the pair, or nil if there is none (manual 9.7.16.5.1).
func pairedCTA(c *machine.CTA) *machine.CTA {
	if r := c.Rank ^ 1; c.Grid.Clustered() && r < len(c.Cluster.CTAs) {
		return c.Cluster.CTAs[r]
	}
	return nil
}

// pairIndex returns the CTAs of an instruction, the even rank first, or the reason why there is no pair.
func pairIndex(c *machine.CTA, pair bool) ([]*machine.CTA, string) {
	if !pair {
		return []*machine.CTA{c}, ""
	}
	p := pairedCTA(c)
	switch {
	case p == nil:
		return nil, fmt.Sprintf("cta %s has no other CTA for its pair in a cluster of %s", c.ID, c.Grid.ClusterSizeText())
	case p.Done:
		return nil, fmt.Sprintf("cta %s, the other CTA of the pair, has exited", p.ID)
	case c.Rank%2 == 0:
		return []*machine.CTA{c, p}, ""
	}
	return []*machine.CTA{p, c}, ""
}

// tensorWarpOf returns the pending loads and stores of a warp.
func tensorWarpOf(w *machine.Warp, h int) *machine.TensorWarp {
	s, n := &w.CTA.AsyncState.Tensor, rankInWarpgroup(w, h)
	if len(s.Warps) <= n {
		s.Warps = append(s.Warps, make([]machine.TensorWarp, n+1-len(s.Warps))...)
	}
	return &s.Warps[n]
}

// unallocatedColumns describes the parts of regions outside allocated tensor memory.
func unallocatedColumns(s *machine.TensorState, list []matrix.Region) string {
	columns := matrix.TensorColumns
	for _, b := range s.Blocks {
		columns = max(columns, b.Column+b.Columns)
	}
	for _, r := range list {
		if r.Lane < 0 || r.Lane+r.Lanes > matrix.TensorLanes || r.Column < 0 || r.Column+r.Columns > columns {
			return fmt.Sprintf("%v: tensor memory has %d lanes and %d columns", r, matrix.TensorLanes, columns)
		}
		for column := r.Column; column < r.Column+r.Columns; column++ {
			if !slices.ContainsFunc(s.Blocks, func(b machine.TensorBlock) bool { return b.Column <= column && column < b.Column+b.Columns }) {
				text := fmt.Sprintf("%v: column %d is not allocated", r, column)
				for i := range s.Blocks {
					text += "; " + s.Blocks[i].String()
				}
				return text
			}
		}
	}
	return ""
}

// pendingLoadOf finds a pending load of regions that are about to be written.
func pendingLoadOf(s *machine.TensorState, list []matrix.Region) *machine.PendingTensorLoad {
	for i := range s.Warps {
		for k := range s.Warps[i].Loads {
			l := &s.Warps[i].Loads[k]
			for _, r := range l.Regions {
				if slices.ContainsFunc(list, r.Overlaps) {
					return l
				}
			}
		}
	}
	return nil
}

// mayAccess traps if regions are not allocated, or if a written region has a pending load.
func mayAccess(issued *machine.IssueOrigin, c *machine.CTA, read, written []matrix.Region) error {
	s := &c.AsyncState.Tensor
	for i, list := range [][]matrix.Region{read, written} {
		what := [...]string{"reads", "writes"}[i]
		if bad := unallocatedColumns(s, list); bad != "" {
			return originTrap(issued, probe.ErrTensorMemory, "it %s %s", what, bad)
		}
	}
	if l := pendingLoadOf(s, written); l != nil {
		return originTrap(issued, probe.ErrAsync, "it overwrites tensor memory that %s at %s reads: tcgen05.wait::ld is missing", l.Src.Text, l.Src.Pos)
	}
	return nil
}

// sameInAll returns the common value of all lanes of a row, or traps if they differ.
func sameInAll(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, row int32, what string) (uint32, bool) {
	list := f.Src32(row)
	for lane, v := range list {
		if v != list[0] {
			w.Fail(w.SourceOf(instr), (1|1<<lane)<<(32*h), probe.ErrTensorMemory, "%v: %s differs between the lanes of a warp: %#x and %#x", probe.ErrTensorMemory, what, list[0], v)
			return 0, false
		}
	}
	return list[0], true
}

// columnsOf returns the number of columns of an instruction, or traps.
func columnsOf(w *machine.Warp, h int, f *regfile.File, instr *code.Instr) (int, bool) {
	n, ok := sameInAll(w, h, f, instr, instr.B, "the number of columns")
	if imm := code.TensorImmOf(instr.Imm); imm.Exclusive {
		if ok && (n == 0 || n > uint32(imm.Columns) || n%matrix.TensorUnit != 0) {
			w.Fail(w.SourceOf(instr), 0, probe.ErrTensorMemory, "%v: %d columns: with .exclusive the number must be a multiple of %d, at most %d for the module's .target", probe.ErrTensorMemory, n, matrix.TensorUnit, imm.Columns)
			return 0, false
		}
		return int(n), ok
	}
	if ok && (n < matrix.TensorUnit || n > matrix.TensorColumns || n&(n-1) != 0) {
		w.Fail(w.SourceOf(instr), 0, probe.ErrTensorMemory, "%v: %d columns: the number must be a power of two from %d to %d", probe.ErrTensorMemory, n, matrix.TensorUnit, matrix.TensorColumns)
		return 0, false
	}
	return int(n), ok
}

func issueOrigin(w *machine.Warp, h int, instr *code.Instr, m uint32) machine.IssueOrigin {
	return machine.IssueOrigin{CTA: w.CTA, Src: w.SourceOf(instr), Warp: w.ID, Lanes: uint64(m) << (32 * h), Active: w.Mask}
}

// TensorAlloc executes tcgen05.alloc without its store.
func TensorAlloc(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	c, imm := w.CTA, code.TensorImmOf(instr.Imm)
	n, ok := columnsOf(w, h, f, instr)
	if !ok {
		return
	}
	place, ok := placeOfMbarrier(w, h, instr, 0, &mem.Access{Request: probe.Request{Space: imm.Space, Bytes: 4, Kind: probe.AccessStore}}, f.Src64(instr.A)[0])
	if !ok {
		return
	}
	issued := issueOrigin(w, h, instr, m)
	fromPair := imm.Pair && len(c.AsyncState.Tensor.FromPair) > 0 // its partner has allocated for both, and may have exited since
	ctas, bad := pairIndex(c, imm.Pair && !fromPair)
	switch {
	case place.Alloc == nil || place.Alloc != c.SharedMem:
		w.Err = originTrap(&issued, probe.ErrWrongSpace, "%s is not in the shared memory of the CTA", machine.HexAddr(f.Src64(instr.A)[0]))
	case bad != "":
		w.Err = originTrap(&issued, probe.ErrCTARank, "%s", bad)
	case c.AsyncState.Tensor.Relinquished:
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "the CTA has given up the right to allocate (tcgen05.relinquish_alloc_permit)")
	}
	if w.Err != nil {
		return
	}
	b, ok := machine.TensorBlock{}, true
	if s := &c.AsyncState.Tensor; fromPair {
		if b = s.FromPair[0]; b.Columns != n || b.Exclusive != imm.Exclusive {
			reduction := ""
			if b.Exclusive {
				reduction = "exclusively "
			}
			w.Err = originTrap(&issued, probe.ErrDivergent, "%d columns, but the other CTA of the pair has allocated %d %sat %s", n, b.Columns, reduction, b.Src.Pos)
			return
		}
		s.FromPair = s.FromPair[1:]
	} else if b, ok = freeColumns(ctas, n, imm.Exclusive); !ok {
		w.Err, w.BlockedInstr = machine.ErrNoTensorMemory, instr
		if len(w.Files) > 1 { // halves of a warp of 64 lanes cannot wait for each other
			w.Err = originTrap(&issued, probe.ErrDeadlock, "%s", TensorMemoryWait(w, instr))
		}
		return
	} else {
		b.Pair, b.Exclusive, b.Src, b.Rank, b.Warp = imm.Pair, imm.Exclusive, w.SourceOf(instr), c.Rank, w.ID
		for _, owner := range ctas {
			t := &owner.AsyncState.Tensor
			if t.Memory == nil {
				t.Memory = new(matrix.TensorMemory)
			}
			t.Blocks = append(t.Blocks, b)
			if owner != c {
				t.FromPair = append(t.FromPair, b)
			}
		}
	}
	row := f.Row32(instr.D)
	for lane := range row {
		row[lane] = uint32(b.Column)
	}
	c.Changed = true
}

// freeColumns finds neighbouring columns that are free in all given CTAs. An exclusive allocation needs CTAs without
// allocations, and excludes further allocations while it lasts (manual of PTX 9.4, 9.7.18.7.1).
func freeColumns(ctas []*machine.CTA, n int, exclusive bool) (machine.TensorBlock, bool) {
	if exclusive {
		free := !slices.ContainsFunc(ctas, func(c *machine.CTA) bool { return len(c.AsyncState.Tensor.Blocks) > 0 })
		return machine.TensorBlock{Columns: n}, free
	}
	for column := 0; column+n <= matrix.TensorColumns; column += matrix.TensorUnit {
		taken := false
		for _, c := range ctas {
			for _, b := range c.AsyncState.Tensor.Blocks {
				taken = taken || b.Exclusive || b.Column < column+n && column < b.Column+b.Columns
			}
		}
		if !taken {
			return machine.TensorBlock{Column: column, Columns: n}, true
		}
	}
	return machine.TensorBlock{}, false
}

// AwaitedAllocation returns the allocation at which the warp waits for tensor memory, or nil.
func AwaitedAllocation(w *machine.Warp) *code.Instr {
	if w.State != machine.AtGroup || w.Uncounted == 0 { // a wait for the warpgroup is before a block
		return nil
	}
	return &w.CTA.Code.Instrs[w.PC]
}

// TensorMemoryWait describes an allocation that waits, and the blocks that hold the tensor memory.
func TensorMemoryWait(w *machine.Warp, instr *code.Instr) string {
	c, imm := w.CTA, code.TensorImmOf(instr.Imm)
	pair := imm.Pair
	text := fmt.Sprintf("it waits for %d free columns of tensor memory", w.Files[0].Src32(instr.B)[0])
	if imm.Exclusive {
		text += ", and for the deallocation of all other columns"
	}
	ctas, _ := pairIndex(c, pair)
	for _, owner := range ctas {
		for i := range owner.AsyncState.Tensor.Blocks {
			b := &owner.AsyncState.Tensor.Blocks[i]
			text += "; "
			if pair {
				text += fmt.Sprintf("of cta %s ", owner.ID)
			}
			text += fmt.Sprintf("%v by warp %d", b, b.Warp)
			if b.Rank != c.Rank {
				text += fmt.Sprintf(" of cta %s", c.Cluster.CTAs[b.Rank].ID)
			}
		}
	}
	return text
}

// tensorMemoryDeadlock makes a trap for a warp that waits for tensor memory which no warp can deallocate.
func tensorMemoryDeadlock(w *machine.Warp, instr *code.Instr) *probe.Trap {
	return w.Fail(w.SourceOf(instr), w.Mask, probe.ErrDeadlock, "%v: %s", probe.ErrDeadlock, TensorMemoryWait(w, instr))
}

// TensorDealloc executes tcgen05.dealloc.
func TensorDealloc(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	n, ok := columnsOf(w, h, f, instr)
	if !ok {
		return
	}
	at, ok := sameInAll(w, h, f, instr, instr.A, "the address")
	if !ok {
		return
	}
	issued, imm := issueOrigin(w, h, instr, m), code.TensorImmOf(instr.Imm)
	s := &w.CTA.AsyncState.Tensor
	i := slices.IndexFunc(s.Blocks, func(b machine.TensorBlock) bool {
		return uint32(b.Column) == at && b.Columns == n && !b.DeallocatedHere
	})
	switch {
	case i < 0:
		text := fmt.Sprintf("no allocation of %d columns begins at %v", n, matrix.TensorAddress(at))
		for k := range s.Blocks {
			text += "; " + s.Blocks[k].String()
		}
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "%s", text)
		return
	case s.Blocks[i].Pair != imm.Pair:
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "%v: the allocation has a different .cta_group", &s.Blocks[i])
		return
	case s.Blocks[i].Exclusive != imm.Exclusive:
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "%v: an allocation and its deallocation must both have .exclusive, or neither", &s.Blocks[i])
		return
	}
	free := func(c *machine.CTA, column int) {
		t := &c.AsyncState.Tensor
		t.Blocks = slices.DeleteFunc(t.Blocks, func(b machine.TensorBlock) bool { return b.Column == column })
		for k := range c.Warps {
			if other := &c.Warps[k]; other.State == machine.AtGroup { // it may have waited for free columns
				other.State = machine.ReadyToRun
			}
		}
		c.Changed = true
	}
	if !imm.Pair {
		free(w.CTA, s.Blocks[i].Column)
		return
	}
	p := pairedCTA(w.CTA)
	column := s.Blocks[i].Column
	s.Blocks[i].DeallocatedHere = true
	if k := slices.IndexFunc(p.AsyncState.Tensor.Blocks, func(b machine.TensorBlock) bool { return b.Column == column }); k < 0 || p.AsyncState.Tensor.Blocks[k].DeallocatedHere {
		free(w.CTA, column)
		free(p, column)
	}
	w.CTA.Changed = true
}

// TensorRelinquish executes tcgen05.relinquish_alloc_permit.
func TensorRelinquish(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if w.RequireAllLanes(h, instr, m) {
		w.CTA.AsyncState.Tensor.Relinquished = true
	}
}

// laneQuarter returns the address that a warp accesses, which must be in its quarter of the lanes (manual 9.7.16.8.1). A
// lane below 32 counts from the beginning of the quarter, as on GPUs; programs rely on it.
func laneQuarter(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32, t *code.TensorAccess) (matrix.TensorAddress, []matrix.Region, bool) {
	v, ok := sameInAll(w, h, f, instr, w.CTA.Code.Fragments[instr.Side].E[0].Row, "the address")
	if !ok {
		return 0, nil, false
	}
	a, own := matrix.TensorAddress(v), rankInWarpgroup(w, h)%matrix.Warps*matrix.Lanes
	if a.Lane() < matrix.Lanes {
		a += matrix.TensorAddress(own) << 16
	}
	issued := issueOrigin(w, h, instr, m)
	if in := a.Lane() - own; in < 0 || in+t.Tile.Rows > matrix.Lanes || in%16 != 0 {
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "it accesses %d lanes beginning at %v; warp %d can access lanes %d to %d, beginning at a multiple of 16", t.Tile.Rows, a, rankInWarpgroup(w, h), own, own+matrix.Lanes-1)
		return 0, nil, false
	}
	regions := t.Tile.Regions(a)
	if bad := unallocatedColumns(&w.CTA.AsyncState.Tensor, regions); bad != "" {
		w.Err = originTrap(&issued, probe.ErrTensorMemory, "it accesses %s", bad)
		return 0, nil, false
	}
	return a, regions, true
}

// TensorRows returns the rows of registers.
func TensorRows(f *regfile.File, list []code.Elem, own bool) []*regfile.Row32 {
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

// TensorLoad executes tcgen05.ld.
func TensorLoad(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	frags := &w.CTA.Code.Fragments[instr.Side]
	t := frags.Memory
	a, regions, ok := laneQuarter(w, h, f, instr, m, t)
	if !ok {
		return
	}
	rows := TensorRows(f, frags.D, true)
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
	t.Tile.Load(w.CTA.AsyncState.Tensor.Memory, a, loaded)
	if t.Compress != nil {
		machine.CompressRows(t.Compress, loaded, kept)
	}
	if t.Reduce != nil {
		reduceRows(t.Reduce, loaded, rows[len(rows)-1])
	}
	if !w.CTA.Grid.EagerEffects {
		s := tensorWarpOf(w, h)
		if len(s.Loads) == MaxPendingTensor {
			s.Loads = slices.Delete(s.Loads, 0, 1)
		}
		s.Loads = append(s.Loads, machine.PendingTensorLoad{Src: w.SourceOf(instr), Regions: regions})
	}
}

// TensorStore executes tcgen05.st.
func TensorStore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	frags := &w.CTA.Code.Fragments[instr.Side]
	a, regions, ok := laneQuarter(w, h, f, instr, m, frags.Memory)
	if !ok {
		return
	}
	st := machine.PendingTensorStore{IssueOrigin: issueOrigin(w, h, instr, m), Regions: regions, Cells: frags.Memory.Tile.Cells(a, TensorRows(f, frags.A, false))}
	w.CTA.Changed = true
	if w.CTA.Grid.EagerEffects {
		w.Err = executeTensorStore(&st, w.CTA)
		return
	}
	s := tensorWarpOf(w, h)
	if len(s.Stores) == MaxPendingTensor {
		oldest := s.Stores[0]
		s.Stores = slices.Delete(s.Stores, 0, 1)
		if w.Err = executeTensorStore(&oldest, w.CTA); w.Err != nil {
			return
		}
	}
	s.Stores = append(s.Stores, st)
}

// executeTensorStore executes a pending store. The error is a *Trap.
func executeTensorStore(st *machine.PendingTensorStore, c *machine.CTA) error {
	st.CTA = c
	if err := mayAccess(&st.IssueOrigin, c, nil, st.Regions); err != nil {
		return err
	}
	c.AsyncState.Tensor.Memory.Put(st.Cells)
	c.Changed = true
	return nil
}

// TensorWait executes tcgen05.wait.
func TensorWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.RequireAllLanes(h, instr, m) {
		return
	}
	s := tensorWarpOf(w, h)
	if !code.TensorImmOf(instr.Imm).Store {
		s.Loads = nil
		return
	}
	stores := s.Stores
	s.Stores = nil
	for i := range stores {
		if w.Err = executeTensorStore(&stores[i], w.CTA); w.Err != nil {
			return
		}
	}
}

// TensorOperation executes tcgen05.cp, .shift and .mma.
func TensorOperation(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, code.Async{})
		p := &machine.PipeOp{Pair: code.TensorImmOf(instr.Imm).Pair}
		e.PipeOp = p
		switch instr.Op {
		case code.TensorShift:
			p.Address = matrix.TensorAddress(f.Src32(instr.A)[lane])
		case code.TensorCopy:
			p.Access = w.CTA.Code.Fragments[instr.Side].Memory
			p.Address, p.From = matrix.TensorAddress(f.Src32(instr.A)[lane]), matrix.TensorDescriptor(f.Src64(instr.B)[lane])
		default:
			setMultiplication(p, w, f, instr, lane)
			product, bad := p.Access.Mma.Product(f.Src32(instr.C)[lane])
			if bad == nil {
				bad = product.Check(&p.Operands)
			}
			if bad != nil {
				w.Err = refusalTrap(e, bad)
				return
			}
			p.Product = product
		}
		if err := checkPipeOp(e); err != nil {
			w.Err = err
			return
		}
		issueEffect(w, e)
	}
}

// setMultiplication reads the operands of a multiplication.
func setMultiplication(p *machine.PipeOp, w *machine.Warp, f *regfile.File, instr *code.Instr, lane int) {
	frags := &w.CTA.Code.Fragments[instr.Side]
	p.Access = frags.Memory
	word := func(i int) uint32 { return f.Src32(frags.E[i].Row)[lane] }
	address := func(i int) matrix.TensorAddress { return matrix.TensorAddress(word(i)) }
	x := &p.Operands
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

// refusalTrap makes a trap for a multiplication that is invalid or not supported.
func refusalTrap(e *machine.AsyncEffect, r *matrix.Refusal) *probe.Trap {
	if r.NotImplemented {
		return effectTrap(e, probe.ErrTensorMemory, "%v: %s: this is legal PTX that gemu does not run", probe.ErrTensorMemory, r.Description)
	}
	return effectTrap(e, probe.ErrTensorMemory, "%v: %s", probe.ErrTensorMemory, r.Description)
}

func originOf(e *machine.AsyncEffect) *machine.IssueOrigin {
	return &machine.IssueOrigin{CTA: e.CTA, Src: e.Src, Warp: e.Warp, Lanes: 1 << e.Lane, Active: e.Active}
}

// checkPipeOp traps if the memory of an operation is invalid.
func checkPipeOp(e *machine.AsyncEffect) error {
	p, issued := e.PipeOp, originOf(e)
	ctas, bad := pairIndex(e.CTA, p.Pair)
	if bad != "" {
		return originTrap(issued, probe.ErrCTARank, "%s", bad)
	}
	var read, written []matrix.Region
	switch {
	case p.Product != nil:
		read, written = p.Product.Regions(&p.Operands)
	case p.Access != nil:
		written = p.Access.Copy.Regions(p.Address)
		if p.Address.Lane() != 0 && len(written) == 1 {
			return originTrap(issued, probe.ErrTensorMemory, "it copies to %v: the lane must be 0", p.Address)
		}
		if _, bad := p.From.Placement(); bad != "" {
			return originTrap(issued, probe.ErrTensorMemory, "descriptor %#x: %s", uint64(p.From), bad)
		}
		if p.From.Absolute() || p.From>>61 == 1 {
			return refusalTrap(e, &matrix.Refusal{Description: fmt.Sprintf("descriptor %#x: a copy with an absolute leading dimension or swizzling mode 1", uint64(p.From)), NotImplemented: true})
		}
	default:
		if p.Address.Lane()%matrix.Lanes != 0 {
			return originTrap(issued, probe.ErrTensorMemory, "it shifts rows beginning at %v: the lane must be a multiple of 32", p.Address)
		}
		written = []matrix.Region{matrix.ShiftRegion(p.Address)}
	}
	for _, c := range ctas {
		if err := mayAccess(issued, c, read, written); err != nil {
			return err
		}
		size := uint64(len(c.Shared))
		name, desc, addr, outside := "", matrix.TensorDescriptor(0), uint64(0), false
		switch {
		case p.Product != nil:
			if name, addr, outside = p.Product.Outside(&p.Operands, size); name == "A" {
				desc = p.Operands.DescA
			} else {
				desc = p.Operands.DescB
			}
			name = "matrix " + name
		case p.Access != nil:
			place, _ := p.From.Placement()
			addr, outside = p.Access.Copy.Outside(place, size)
			name, desc = "the source of the copy", p.From
		}
		if outside {
			d, _ := desc.Placement()
			t := originTrap(issued, probe.ErrOutOfBounds, "%s, which begins at shared memory %s, has elements at %s, but cta %s has %d bytes: descriptor %#x, leading dimension byte offset %d, stride dimension byte offset %d, swizzling mode %d",
				name, machine.HexAddr(d.Start), machine.HexAddr(addr), c.ID, size, uint64(desc), d.Leading, d.Stride, uint64(desc>>61))
			t.Addr, t.Bytes = addr, matrix.Chunk
			return t
		}
	}
	return nil
}

// isPipeOp reports whether the effect is a tensor-core operation or a commit of earlier operations.
func isPipeOp(e *machine.AsyncEffect) bool { return e.PipeOp != nil || e.Commits }

// runPipe executes the tensor-core effects of both CTAs of a pair up to and including the given effect, in the order of
// issue. Arrivals at mbarriers happen in the same order. A commit with ReadsA executes alone: earlier multiplications only
// read their matrices A.
func runPipe(cl *machine.Cluster, upTo *machine.AsyncEffect) error {
	run := []*machine.AsyncEffect{upTo}
	if pair := upTo.CTA.Rank / 2; cl.Pipes != nil {
		list := cl.Pipes[pair]
		n, _ := slices.BinarySearchFunc(list, upTo.Sequence, func(e *machine.AsyncEffect, seq int64) int { return cmp.Compare(e.Sequence, seq) })
		if upTo.ReadsA {
			for _, e := range list[:n] {
				readMatrixA(e)
			}
			cl.Pipes[pair] = slices.DeleteFunc(slices.Clone(list), func(e *machine.AsyncEffect) bool { return e == upTo })
		} else {
			run = append(slices.Clone(list[:n]), upTo)
			if n < len(list) && list[n] == upTo {
				n++
			}
			cl.Pipes[pair] = list[n:]
		}
	}
	var mbarriers []uint64 // mbarriers, besides that of upTo
	for _, e := range run {
		e.Done = true
		e.CTA.AsyncState.KeptBytes -= e.KeptBytes
		e.CTA.Changed = true
		var err error
		if e.PipeOp != nil {
			err = executePipeOp(e)
		} else {
			emitEffect(e, machine.StageWrites)
			err = arriveAtMbarrier(e)
		}
		if err != nil {
			return err
		}
		if e.Commits && e != upTo {
			mbarriers = append(mbarriers, e.Mbarrier)
		}
	}
	slices.Sort(mbarriers)
	for _, addr := range slices.Compact(mbarriers) {
		dropEffectsAt(cl, addr, func(e *machine.AsyncEffect) bool { return e.Done && e.Commits })
	}
	return nil
}

// readMatrixA reads matrix A of a multiplication, if it is in shared memory and has not been read.
func readMatrixA(e *machine.AsyncEffect) {
	p := e.PipeOp
	if p == nil || p.Product == nil || p.Product.InTensor || e.FactorA != nil {
		return
	}
	emitEffect(e, machine.StageReads)
	ctas, _ := pairIndex(e.CTA, p.Pair)
	for _, c := range ctas {
		list := p.Product.LoadA(c.Shared, &p.Operands)
		e.FactorA = append(e.FactorA, list)
		chargeEffect(e, 4*uint64(len(list)))
	}
}

// executePipeOp executes a tensor-core operation.
func executePipeOp(e *machine.AsyncEffect) error {
	if err := checkPipeOp(e); err != nil {
		return err
	}
	emitEffect(e, machine.StageReads|machine.StageWrites)
	p := e.PipeOp
	ctas, _ := pairIndex(e.CTA, p.Pair)
	for _, c := range ctas {
		c.Changed = true
		switch {
		case p.Product != nil:
		case p.Access != nil:
			place, _ := p.From.Placement()
			p.Access.Copy.Execute(c.AsyncState.Tensor.Memory, p.Address, c.Shared, place)
		default:
			c.AsyncState.Tensor.Memory.ShiftDown(p.Address)
		}
	}
	if p.Product == nil {
		return nil
	}
	var list []matrix.TensorCTA
	for i, c := range ctas {
		list = append(list, matrix.TensorCTA{Memory: c.AsyncState.Tensor.Memory, Shared: c.Shared})
		if e.FactorA != nil {
			list[i].A = e.FactorA[i]
		}
	}
	if u := p.Product.Execute(list, &p.Operands); u != nil {
		return effectTrap(e, probe.ErrMatrix, "%v: %s: the manual does not define the result", probe.ErrMatrix, u.Description)
	}
	return nil
}

// TensorCommit executes tcgen05.commit.
func TensorCommit(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	imm := code.TensorImmOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, code.Async{})
		e.Arrives, e.Commits, e.ReadsA = true, true, imm.ReadA
		if _, bad := pairIndex(w.CTA, imm.Pair); bad != "" {
			w.Err = originTrap(originOf(e), probe.ErrCTARank, "%s", bad)
			return
		}
		addr := f.Src64(instr.A)[lane]
		if !imm.Multicast {
			if findMbarrier(w, h, instr, e, imm.Space, addr, false) {
				issueEffect(w, e)
			}
			continue
		}
		at, ok := mbarrierAt(w, h, instr, lane, imm.Space, addr, false)
		if !ok {
			return
		}
		ranks := f.Src32(instr.B)[lane]
		if !imm.Wide {
			ranks &= math.MaxUint16
		}
		for ; ranks != 0 && w.Err == nil; ranks &= ranks - 1 {
			rank := bits.TrailingZeros32(ranks)
			if rank >= w.CTA.Grid.ClusterSize {
				w.Fail(e.Src, 1<<e.Lane, probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank, w.CTA.Grid.ClusterSizeText())
				return
			}
			to := *e
			if to.Mbarrier = machine.AddressInRank(at, rank); !mbarrierOf(w.CTA, to.Mbarrier).valid() {
				failMbarrier(w, h, instr, lane, to.Mbarrier, notAnMbarrier)
				return
			}
			issueEffect(w, &to)
		}
	}
}

// finishTensor traps if the CTA ends with allocated tensor memory.
func finishTensor(c *machine.CTA) error {
	for i := range c.AsyncState.Tensor.Blocks {
		if b := &c.AsyncState.Tensor.Blocks[i]; !b.DeallocatedHere {
			issued := machine.IssueOrigin{CTA: c, Src: b.Src, Warp: b.Warp}
			return originTrap(&issued, probe.ErrTensorMemory, "the CTA ends without deallocating %v", b)
		}
	}
	return nil
}

// reduceRows combines the values of registers, lane by lane, with the operations of redux.
func reduceRows(r *code.TensorReduction, rows []*regfile.Row32, last *regfile.Row32) {
	step := func(a, b uint64) uint64 { return access.ApplyReduction(r.Integer, access.WidthMask(ptx.B32), a, b, 0) }
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

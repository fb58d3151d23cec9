package async

// This file executes the tensor-core operations: tcgen05.cp, .shift and .mma, and tcgen05.commit. Both CTAs of a pair share
// a pipe: a queue of pending operations in the order of issue.

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/regfile"
)

// TensorOperation executes tcgen05.cp, .shift and .mma: each lane issues an operation.
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

// setMultiplication reads the operands of a multiplication for a lane.
func setMultiplication(p *machine.PipeOp, w *machine.Warp, f *regfile.File, instr *code.Instr, lane int) {
	frags := &w.CTA.Code.Fragments[instr.Side]
	p.Access = frags.Memory
	word := func(i int) uint32 { return f.Src32(frags.E[i].Row)[lane] }
	address := func(i int) matrix.TensorAddress { return matrix.TensorAddress(word(i)) }
	x := &p.Operands
	x.D, x.A, x.Meta = address(code.TensorD), address(code.TensorA), address(code.TensorMeta)
	// The upper two bits of a scale's address select a byte of a cell. The instruction descriptor has them, too, so they are
	// ignored here; programs do not clear them.
	x.ScaleA, x.ScaleB = address(code.TensorScaleA)&^(3<<30), address(code.TensorScaleB)&^(3<<30)
	x.DescA, x.DescB = matrix.TensorDescriptor(f.Src64(instr.A)[lane]), matrix.TensorDescriptor(f.Src64(instr.B)[lane])
	x.Add = f.SrcP(instr.E)>>lane&1 != 0
	for i := range x.Disabled {
		x.Disabled[i] = word(code.TensorDisabled + i)
	}
	x.Zero = matrix.ZeroMask(f.Src64(frags.E[code.TensorZero].Row)[lane])
}

// refusalTrap makes the trap for a multiplication that is invalid, or that gemu does not run.
func refusalTrap(e *machine.AsyncEffect, r *matrix.Refusal) *probe.Trap {
	if r.NotImplemented {
		return effectTrap(e, probe.ErrTensorMemory, "%v: %s: this is legal PTX that gemu does not run", probe.ErrTensorMemory, r.Description)
	}
	return effectTrap(e, probe.ErrTensorMemory, "%v: %s", probe.ErrTensorMemory, r.Description)
}

func originOf(e *machine.AsyncEffect) *machine.IssueOrigin {
	return &machine.IssueOrigin{CTA: e.CTA, Src: e.Src, Warp: e.Warp, Lanes: 1 << e.Lane, Active: e.Active}
}

// checkPipeOp returns a trap if the memory of an operation is invalid.
func checkPipeOp(e *machine.AsyncEffect) error {
	p, issued := e.PipeOp, originOf(e)
	ctas, bad := ctasOf(e.CTA, p.Pair)
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
		if err := checkTensorAccess(issued, c, read, written); err != nil {
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

// isPipeOp reports whether the effect is in a pipe: a tensor-core operation, or a commit of earlier operations.
func isPipeOp(e *machine.AsyncEffect) bool { return e.PipeOp != nil || e.Commits }

// TensorCommit executes tcgen05.commit: each lane issues an arrival, or with .multicast::cluster an arrival for each CTA of
// a mask.
func TensorCommit(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	imm := code.TensorImmOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, code.Async{})
		e.Arrives, e.Commits, e.ReadsA = true, true, imm.ReadA
		if _, bad := ctasOf(w.CTA, imm.Pair); bad != "" {
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
		base, ok := mbarrierAt(w, h, instr, lane, imm.Space, addr, false)
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
			if to.Mbarrier = machine.AddressInRank(base, rank); !mbarrierOf(w.CTA, to.Mbarrier).valid() {
				failMbarrier(w, h, instr, lane, to.Mbarrier, notAnMbarrier)
				return
			}
			issueEffect(w, &to)
		}
	}
}

// runPipe executes the effects of a pair's pipe in the order of issue, up to and including upTo. Arrivals at mbarriers
// happen in the same order. A commit with ReadsA only makes the earlier multiplications read their matrices A, and then
// executes alone.
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
	var mbarriers []uint64 // mbarriers of the executed commits except upTo
	for _, e := range run {
		e.Done = true
		e.CTA.AsyncState.KeptBytes -= e.KeptBytes
		e.CTA.Changed = true
		var err error
		if e.PipeOp != nil {
			err = executePipeOp(e)
		} else {
			emitEffect(e, machine.StageWrites)
			err = notifyMbarrier(e)
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

// readMatrixA makes a multiplication read its matrix A, if it is in shared memory and has not been read.
func readMatrixA(e *machine.AsyncEffect) {
	p := e.PipeOp
	if p == nil || p.Product == nil || p.Product.InTensor || e.FactorA != nil {
		return
	}
	emitEffect(e, machine.StageReads)
	ctas, _ := ctasOf(e.CTA, p.Pair)
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
	ctas, _ := ctasOf(e.CTA, p.Pair)
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
	if u := multiplyTensor(e.CTA.Grid, p, list); u != nil {
		return effectTrap(e, probe.ErrMatrix, "%v: %s: the manual does not define the result", probe.ErrMatrix, u.Description)
	}
	return nil
}

// multiplyTensor executes a multiplication, in machine code if possible.
func multiplyTensor(g *machine.Grid, p *machine.PipeOp, list []matrix.TensorCTA) *matrix.Undefined {
	if panels, ok := p.Product.Panels(&p.Operands); ok && g.MatricesInMachineCode {
		if s := native.TensorPanels(panels); s != nil {
			x := s.Begin()
			defer x.End()
			return p.Product.ExecuteByPanels(list, &p.Operands, x)
		}
	}
	return p.Product.Execute(list, &p.Operands)
}

package lanes

// This file reads the special registers (manual chapter 10).

import (
	"math"
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// The address of the workspace of a cooperative launch is in two %envreg registers (load_env_reg64 of CUDA's
// cooperative_groups/details/driver_abi.h).
const (
	workspaceHigh = ptx.EnvReg0 + 1
	workspaceLow  = ptx.EnvReg0 + 2
)

func sregLane32(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	SregRow(w, h, f.Row32(instr.D), instr, ^uint32(0), m)
}

// sregLane16 reads 16 bits, as in PTX 1.x.
func sregLane16(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	SregRow(w, h, f.Row32(instr.D), instr, 0xffff, m)
}

func sregLane64(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	SregRow(w, h, f.Row64(instr.D), instr, ^uint64(0), m)
}

// SregSource returns the special register of an instruction as a compact value, for the lanes of m in half h. The register
// must be uniform or affine in every warp (manual 10.1, 10.4).
func SregSource(w *machine.Warp, h int, instr *code.Instr, m uint32) affinetrack.Value {
	r := ptx.SpecialReg(instr.Imm)
	switch {
	case !r.PerLane():
		return affinetrack.Value{Base: UniformSpecial(w, instr) & (1<<instr.Op.Signature().Width - 1)}
	case r == ptx.LaneID:
		return affinetrack.Value{Base: uint64(32 * h), Stride: 1}
	}
	first := bits.TrailingZeros32(m)
	v, _ := affinetrack.ThreadIndex(w.CTA.Grid.Block.Dims(), int(r-ptx.TidX), w.ThreadIndex(32*h+first), first, bits.Len32(m)-1-first)
	return v
}

// SregRow writes the special register of an instruction to d, for the lanes of m. mask has the bits of the register that
// the instruction reads.
func SregRow[T mem.Slot](w *machine.Warp, h int, d *[regfile.Lanes]T, instr *code.Instr, mask T, m uint32) {
	r := ptx.SpecialReg(instr.Imm)
	if !r.PerLane() {
		mem.FillRow(d, T(UniformSpecial(w, instr))&mask, m)
		return
	}
	if r >= ptx.TidX && r <= ptx.TidZ {
		block := w.CTA.Grid.Block
		t := block.At(w.ThreadIndex(32 * h))
		for i := range bits.Len32(m) {
			if m>>i&1 != 0 {
				d[i] = T(uint32(t.Dims()[int(r-ptx.TidX)])) & mask
			}
			if t.X++; t.X == block.X {
				t.X = 0
				if t.Y++; t.Y == block.Y {
					t.Y = 0
					t.Z++
				}
			}
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := 0
		switch r {
		case ptx.LaneID:
			v = 32*h + i
		case ptx.LanemaskEq:
			v = 1 << i
		case ptx.LanemaskLe:
			v = 2<<i - 1
		case ptx.LanemaskLt:
			v = 1<<i - 1
		case ptx.LanemaskGe:
			v = -1 << i
		case ptx.LanemaskGt:
			v = -2 << i
		}
		d[i] = T(uint32(v)) & mask
	}
}

// UniformSpecial returns the special register of an instruction. The register must be the same in all lanes of a warp.
func UniformSpecial(w *machine.Warp, instr *code.Instr) uint64 {
	c, r := w.CTA, ptx.SpecialReg(instr.Imm)
	switch {
	case r >= ptx.CtaidX && r <= ptx.CtaidZ:
		return uint64(c.ID.Dims()[int(r-ptx.CtaidX)])
	// Without explicit clusters every CTA is a cluster.
	case r >= ptx.ClusterIDX && r <= ptx.ClusterIDZ:
		i := int(r - ptx.ClusterIDX)
		return uint64(c.ID.Dims()[i] / c.Grid.ClusterDim.Dims()[i])
	case r >= ptx.ClusterCtaidX && r <= ptx.ClusterCtaidZ:
		i := int(r - ptx.ClusterCtaidX)
		return uint64(c.ID.Dims()[i] % c.Grid.ClusterDim.Dims()[i])
	}
	switch r {
	case ptx.PerCTAMemoryOffset:
		return ctaMemorySlice(c.Grid, c.ID)
	case ptx.ClusterCtarank:
		return uint64(c.Rank)
	case ptx.WarpID:
		return uint64(w.ID)
	case ptx.SMID:
		return uint64(c.Index % machine.Multiprocessors)
	case ptx.Clock, ptx.GlobalTimerLo:
		return uint64(uint32(clockOf(w, instr)))
	case ptx.ClockHi, ptx.GlobalTimerHi:
		return clockOf(w, instr) >> 32
	case ptx.Clock64, ptx.GlobalTimer:
		return clockOf(w, instr)
	}
	return gridSpecial(c.Grid, r)
}

// gridSpecial returns a special register that is the same in all warps of a launch.
func gridSpecial(g *machine.Grid, r ptx.SpecialReg) uint64 {
	switch {
	case r >= ptx.NtidX && r <= ptx.NtidZ:
		return uint64(g.Block.Dims()[int(r-ptx.NtidX)])
	case r >= ptx.NctaidX && r <= ptx.NctaidZ:
		return uint64(g.Dim.Dims()[int(r-ptx.NctaidX)])
	case r >= ptx.NClusterIDX && r <= ptx.NClusterIDZ:
		return uint64(g.Clusters().Dims()[int(r-ptx.NClusterIDX)])
	case r >= ptx.ClusterNctaidX && r <= ptx.ClusterNctaidZ:
		return uint64(g.ClusterDim.Dims()[int(r-ptx.ClusterNctaidX)])
	}
	switch r {
	case ptx.NWarpID:
		return uint64((g.Threads + g.Kernel.Width - 1) / g.Kernel.Width)
	case ptx.NSMID:
		return machine.Multiprocessors
	case ptx.GridID:
		return g.GridID
	case ptx.ClusterNctarank:
		return uint64(g.ClusterSize)
	case ptx.TotalSmemSize, ptx.AggrSmemSize:
		return g.SharedLen
	case ptx.DynamicSmemSize:
		return g.DynShared
	case ptx.PerCTAMemorySize:
		return g.Kernel.SliceSize()
	case workspaceHigh, workspaceLow:
		switch {
		case g.Workspace == nil:
			return 0
		case r == workspaceHigh:
			return g.Workspace.Base >> 32
		}
		return g.Workspace.Base & math.MaxUint32
	}
	// All other registers count events that never happen here, or describe resources that gemu does not reserve: 0.
	return 0
}

// clockOf returns the time at which the warp executes an instruction. A unit is a cycle and also a nanosecond. The time is
// the number of instructions that the warps of the CTA have executed before, plus the time that they have slept. It is the
// same in every run.
func clockOf(w *machine.Warp, instr *code.Instr) uint64 {
	c := w.CTA
	c.ReadClock = true // a loop that reads the clock makes progress
	n := c.Slept
	for i := range c.Warps {
		n += c.Warps[i].Count.WarpInstructions
	}
	return uint64(n - int64(c.Code.Block(w.PC).Sources.End-instr.Src)) // subtracts the remainder of the block: a block is counted when it begins
}

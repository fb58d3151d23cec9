package lanes

// This file has the tables of functions that execute an instruction: by operation (on lanes), and by the execution that the
// plan chooses.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/access"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// LaneFuncs has the function of each operation on lanes; nil for the kernels of package alu.
var LaneFuncs [code.Count]machine.LaneFunc

// execFuncs has the function of each execution that a plan can choose, except execution on lanes.
var execFuncs = [code.ExecCount]machine.LaneFunc{
	code.Materialised:   affineGeneric,
	code.CompactOne:     affineUnary,
	code.CompactTwo:     affineBinary,
	code.CompactThree:   affineTernary,
	code.CompactMixed:   affineMixed,
	code.CompactCompare: affineCompare,
	code.CompactSource:  affineSource,
	code.CompactLoad:    affineLoad,
	code.CompactStore:   affineStore,
	code.CompactLocal:   affineLocal,
	code.ProvedOne:      provedUnary,
	code.ProvedTwo:      provedBinary,
	code.ProvedThree:    provedTernary,
	code.ProvedFour:     provedQuaternary,
}

func init() {
	LaneFuncs = [code.Count]machine.LaneFunc{
		code.Sreg16: sregLane16, code.Sreg32: sregLane32, code.Sreg64: sregLane64,
		code.Frame32: access.FrameAddress32, code.Frame64: access.FrameAddress64, code.Shared32: access.SharedAddress32, code.Shared64: access.SharedAddress64,
		code.Isspacep: access.Isspacep, code.CheckRank: access.CheckRank, code.CheckSame: access.CheckSame,
		code.Stacksave32: access.Stacksave, code.Stacksave64: access.Stacksave,
		code.Stackrestore32: access.Stackrestore, code.Stackrestore64: access.Stackrestore,
		code.Alloca32: access.Alloca, code.Alloca64: access.Alloca,
		code.LoadVector: access.LoadVector, code.LoadFixed: access.LoadFixed, code.LoadFrame: access.FrameAccess,
		code.LoadLocal: access.LocalAccess, code.LoadEach: access.AccessEach, code.LoadWide: access.AccessEach,
		code.StoreVector: access.StoreVector, code.StoreFrame: access.FrameAccess,
		code.StoreLocal: access.LocalAccess, code.StoreEach: access.AccessEach, code.StoreWide: access.AccessEach,
		code.StoreBulk: access.StoreBulk,
		code.Atomic:    access.AtomLane,
		code.Shfl:      shfl, code.ShflSync: shfl,
		code.Vote: vote, code.VoteSync: vote, code.Ballot: vote, code.BallotSync: vote,
		code.Match32: match, code.Match64: match,
		code.Activemask: activemask, code.Redux: redux, code.ReduxFloat: reduxFloat, code.Elect: elect,
		code.MbarrierInit: async.MbarrierLanes, code.MbarrierInval: async.MbarrierLanes, code.MbarrierArrive: async.MbarrierLanes, code.MbarrierTx: async.MbarrierLanes,
		code.MbarrierTest: async.MbarrierWait, code.MbarrierParity: async.MbarrierWait, code.MbarrierLayout: async.MbarrierLayout, code.MbarrierMany: async.MbarrierMany,
		code.LoadMatrix: loadMatrix, code.StoreMatrix: storeMatrix, code.MoveMatrix: moveMatrix, code.Multiply: executeMultiply, code.Sparse: sparse,
		code.AsyncCopy: async.AsyncCopy, code.AsyncArrive: async.AsyncArrive, code.AsyncCommit: async.AsyncCommit, code.AsyncWait: async.AsyncWait,
		code.AsyncBulk: async.AsyncBulk, code.AsyncMasked: async.AsyncBulk, code.AsyncCancel: async.AsyncCancel, code.AsyncStore: async.AsyncStore,
		code.TextureFetch: access.TextureFetch, code.TextureQuery: access.TextureQuery, code.SurfaceQuery: access.TextureQuery, code.IsObject: access.IsObject,
		code.SurfaceLoad: access.SurfaceLoad, code.SurfaceStore: access.SurfaceStore, code.SurfaceReduce: access.SurfaceReduce,
		code.WgmmaFence: async.WgmmaFence, code.WgmmaIssue: async.WgmmaIssue, code.WgmmaCommit: async.WgmmaCommit, code.WgmmaWait: async.WgmmaWait, code.WgmmaDisturb: async.WgmmaDisturb,
		code.TensorAlloc: async.TensorAlloc, code.TensorDealloc: async.TensorDealloc, code.TensorRelinquish: async.TensorRelinquish,
		code.TensorLoad: async.TensorLoad, code.TensorStore: async.TensorStore, code.TensorWait: async.TensorWait,
		code.TensorCopy: async.TensorOperation, code.TensorShift: async.TensorOperation, code.TensorMma: async.TensorOperation, code.TensorCommit: async.TensorCommit,
		code.AsyncTensor: async.AsyncTensor, code.MapReplace: async.MapReplace, code.MapCopy: async.MapCopy, code.MapLarge: async.MapLarge,
		code.Vprintf: vprintf, code.Malloc: malloc, code.Free: free, code.AssertFail: assertFail,
		code.Trap: access.TrapLane, code.Brkpt: access.TrapLane, code.Nanosleep: access.SleepLane, code.NoOp: access.NoOp,
	}
	for _, addr := range []code.Slot{code.R, code.Q} {
		for _, data := range []code.Slot{code.R, code.Q} {
			switch {
			case addr == code.R && data == code.R:
				accesses[uint32, uint32](addr, data)
			case addr == code.R:
				accesses[uint32, uint64](addr, data)
			case data == code.R:
				accesses[uint64, uint32](addr, data)
			default:
				accesses[uint64, uint64](addr, data)
			}
		}
	}
}

// accesses adds the loads and stores of one element to LaneFuncs, for addresses of type A and data of type D.
func accesses[A, D mem.Slot](addr, data code.Slot) {
	LaneFuncs[code.LoadOp(1, false, addr, data)] = access.AccessOne[uint8, A, D]
	LaneFuncs[code.LoadOp(1, true, addr, data)] = access.AccessOne[int8, A, D]
	LaneFuncs[code.LoadOp(2, false, addr, data)] = access.AccessOne[uint16, A, D]
	LaneFuncs[code.LoadOp(2, true, addr, data)] = access.AccessOne[int16, A, D]
	LaneFuncs[code.LoadOp(4, false, addr, data)] = access.AccessOne[uint32, A, D]
	LaneFuncs[code.LoadOp(4, true, addr, data)] = access.AccessOne[int32, A, D]
	LaneFuncs[code.LoadOp(8, false, addr, data)] = access.AccessOne[uint64, A, D]
	LaneFuncs[code.LoadOp(8, true, addr, data)] = access.AccessOne[uint64, A, D]
	LaneFuncs[code.StoreOp(1, addr, data)] = access.AccessOne[uint8, A, D]
	LaneFuncs[code.StoreOp(2, addr, data)] = access.AccessOne[uint16, A, D]
	LaneFuncs[code.StoreOp(4, addr, data)] = access.AccessOne[uint32, A, D]
	LaneFuncs[code.StoreOp(8, addr, data)] = access.AccessOne[uint64, A, D]
}

// executeInstr executes an instruction as the plan says.
func executeInstr(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.Plan.Exec != code.OnLanes {
		execFuncs[instr.Plan.Exec](w, h, f, instr, m)
		return
	}
	ExecuteOnLanes(w, h, f, instr, m)
}

// ExecuteOnLanes executes an instruction on the lanes of m. It reads and writes rows only, no shadows.
func ExecuteOnLanes(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if k := alu.Vec[instr.Op]; k != nil {
		k(f, instr, m)
		return
	}
	LaneFuncs[instr.Op](w, h, f, instr, m)
}

// sourceValue returns the value of an operation of kind Read for the lanes of m in half h. The value must be uniform or
// affine in every warp.
func sourceValue(w *machine.Warp, h int, instr *code.Instr, m uint32) affinetrack.Value {
	switch instr.Op {
	case code.Frame32, code.Frame64:
		return access.FrameSource(w, h, instr, m)
	case code.Shared32, code.Shared64:
		return affinetrack.Value{Base: w.CTA.AddressOf(instr.Imm)}
	}
	return SregSource(w, h, instr, m)
}

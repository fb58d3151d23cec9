package simt

// This file finds what executes an operation: tables by operation, and by the way the
// plan has chosen.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// lane executes an instruction that is more than a kernel for the lanes of m in
// half h of the warp (lanes 32h to 32h+31).
type lane func(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32)

// laneFuncs are the operations of the machine; nil for kernels of package alu.
var laneFuncs [code.Count]lane

// execFuncs are the ways to execute an instruction but on its lanes.
var execFuncs = [code.ExecCount]lane{
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
	laneFuncs = [code.Count]lane{
		code.Sreg16: sregLane16, code.Sreg32: sregLane32, code.Sreg64: sregLane64,
		code.Frame32: frameAddress32, code.Frame64: frameAddress64, code.Shared32: sharedAddress32, code.Shared64: sharedAddress64,
		code.Isspacep: isspacep, code.CheckRank: checkRank, code.CheckSame: checkSame,
		code.Stacksave32: stacksave, code.Stacksave64: stacksave,
		code.Stackrestore32: stackrestore, code.Stackrestore64: stackrestore,
		code.Alloca32: alloca, code.Alloca64: alloca,
		code.LoadVector: loadVector, code.LoadFixed: loadFixed, code.LoadFrame: frameAccess,
		code.LoadLocal: localAccess, code.LoadEach: accessEach, code.LoadWide: accessEach,
		code.StoreVector: storeVector, code.StoreFrame: frameAccess,
		code.StoreLocal: localAccess, code.StoreEach: accessEach, code.StoreWide: accessEach,
		code.StoreBulk: storeBulk,
		code.Atomic:    atomLane,
		code.Shfl:      shfl, code.ShflSync: shfl,
		code.Vote: vote, code.VoteSync: vote, code.Ballot: vote, code.BallotSync: vote,
		code.Match32: match, code.Match64: match,
		code.Activemask: activemask, code.Redux: redux, code.ReduxFloat: reduxFloat, code.Elect: elect,
		code.MbarrierInit: mbarrierLanes, code.MbarrierInval: mbarrierLanes, code.MbarrierArrive: mbarrierLanes, code.MbarrierTx: mbarrierLanes,
		code.MbarrierTest: mbarrierWait, code.MbarrierParity: mbarrierWait, code.MbarrierLayout: mbarrierLayout, code.MbarrierMany: mbarrierMany,
		code.LoadMatrix: loadMatrix, code.StoreMatrix: storeMatrix, code.MoveMatrix: moveMatrix, code.Multiply: executeMultiply, code.Sparse: sparse,
		code.AsyncCopy: asyncCopy, code.AsyncArrive: asyncArrive, code.AsyncCommit: asyncCommit, code.AsyncWait: asyncWait,
		code.AsyncBulk: asyncBulk, code.AsyncMasked: asyncBulk, code.AsyncCancel: asyncCancel, code.AsyncStore: asyncStore,
		code.TextureFetch: textureFetch, code.TextureQuery: textureQuery, code.SurfaceQuery: textureQuery, code.IsObject: isObject,
		code.SurfaceLoad: surfaceLoad, code.SurfaceStore: surfaceStore, code.SurfaceReduce: surfaceReduce,
		code.WgmmaFence: wgmmaFence, code.WgmmaIssue: wgmmaIssue, code.WgmmaCommit: wgmmaCommit, code.WgmmaWait: wgmmaWait, code.WgmmaDisturb: wgmmaDisturb,
		code.TensorAlloc: tensorAlloc, code.TensorDealloc: tensorDealloc, code.TensorRelinquish: tensorRelinquish,
		code.TensorLoad: tensorLoad, code.TensorStore: tensorStore, code.TensorWait: tensorWait,
		code.TensorCopy: tensorOperation, code.TensorShift: tensorOperation, code.TensorMma: tensorOperation, code.TensorCommit: tensorCommit,
		code.AsyncTensor: asyncTensor, code.MapReplace: mapReplace, code.MapCopy: mapCopy, code.MapLarge: mapLarge,
		code.Vprintf: vprintf, code.Malloc: malloc, code.Free: free, code.AssertFail: assertFail,
		code.Trap: trapLane, code.Brkpt: trapLane, code.Nanosleep: sleepLane, code.NoOp: noOp,
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

// accesses enters the loads and stores of one element for addresses of type A and data
// of type D.
func accesses[A, D mem.Slot](addr, data code.Slot) {
	laneFuncs[code.LoadOp(1, false, addr, data)] = accessOne[uint8, A, D]
	laneFuncs[code.LoadOp(1, true, addr, data)] = accessOne[int8, A, D]
	laneFuncs[code.LoadOp(2, false, addr, data)] = accessOne[uint16, A, D]
	laneFuncs[code.LoadOp(2, true, addr, data)] = accessOne[int16, A, D]
	laneFuncs[code.LoadOp(4, false, addr, data)] = accessOne[uint32, A, D]
	laneFuncs[code.LoadOp(4, true, addr, data)] = accessOne[int32, A, D]
	laneFuncs[code.LoadOp(8, false, addr, data)] = accessOne[uint64, A, D]
	laneFuncs[code.LoadOp(8, true, addr, data)] = accessOne[uint64, A, D]
	laneFuncs[code.StoreOp(1, addr, data)] = accessOne[uint8, A, D]
	laneFuncs[code.StoreOp(2, addr, data)] = accessOne[uint16, A, D]
	laneFuncs[code.StoreOp(4, addr, data)] = accessOne[uint32, A, D]
	laneFuncs[code.StoreOp(8, addr, data)] = accessOne[uint64, A, D]
}

// exec executes an instruction as the plan says.
func (w *warp) exec(h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.Plan.Exec != code.OnLanes {
		execFuncs[instr.Plan.Exec](w, h, f, instr, m)
		return
	}
	w.onLanes(h, f, instr, m)
}

// onLanes executes an instruction on the lanes, without a look at shadows.
func (w *warp) onLanes(h int, f *regfile.File, instr *code.Instr, m uint32) {
	if k := alu.Vec[instr.Op]; k != nil {
		k(f, instr, m)
		return
	}
	laneFuncs[instr.Op](w, h, f, instr, m)
}

// sourceValue is what an operation of kind Read reads for the lanes of m in half h, where
// it is uniform or affine in all warps.
func (w *warp) sourceValue(h int, instr *code.Instr, m uint32) affinetrack.Value {
	switch instr.Op {
	case code.Frame32, code.Frame64:
		return frameSource(w, h, instr, m)
	case code.Shared32, code.Shared64:
		return affinetrack.Value{Base: w.cta.addressOf(instr.Imm)}
	}
	return sregSource(w, h, instr, m)
}

// sourceOf is the PTX instruction that an instruction is part of.
func (w *warp) sourceOf(instr *code.Instr) *code.Source { return &w.cta.code.Sources[instr.Src] }

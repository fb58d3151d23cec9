package machine

import (
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// NativeState is the state of a CTA for machine code.
type NativeState struct {
	Scheduler    native.Scheduler
	Exported     []ExportedWarp     // by warp; nil before the first entry
	Contexts     []*native.Context  // the contexts of exported
	ThreadIDs    [][3]regfile.Row32 // thread index of the lanes, by warp
	Index        [][3]native.Source // thread index as base and stride, by warp; not every dimension is affine
	HasThreadIDs []bool             // tid and index are set, by warp
	Uniform      [native.Registers]uint64
	UniformCTA   int   // 1 + index of the CTA of these special registers
	EnterCount   int64 // entries into machine code not yet counted in Entered
	AnyInNative  bool  // some warp may be ready or waiting in machine code
	Resumed      *Warp // the last warp to which machine code switched in the ended run
}

// ExportedWarp is the state of a warp for machine code.
type ExportedWarp struct {
	native.Context

	NumberedReconvergences ExportedReconvergences
	InNative               bool                      // the warp splits of the warp are here, not in warp
	ConstantsSet           bool                      // the fields common to all CTAs are set
	Filled                 bool                      // the addresses of registers are set
	Uniform                *[native.Registers]uint64 // special registers, if they differ from the CTA's
}

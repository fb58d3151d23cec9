package machine

import (
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// NativeState is the state of a CTA for machine code.
type NativeState struct {
	Scheduler    native.Scheduler
	Exported     []ExportedWarp           // by warp; nil before the first entry
	Contexts     []*native.Context        // contexts of Exported
	ThreadIDs    [][3]regfile.Row32       // %tid.x, %tid.y and %tid.z of the lanes, by warp
	Index        [][3]native.Source       // the same as base and stride, by warp; only for dimensions in which they are affine
	HasThreadIDs []bool                   // ThreadIDs and Index are set, by warp
	Uniform      [native.Registers]uint64 // special registers with the same value in all threads of a CTA
	UniformCTA   int                      // 1 + index of the CTA whose values Uniform has; 0: none
	Fragments    *native.Fragments        // working memory of the warps' matrix instructions; nil: the kernel has none
	EnterCount   int64                    // number of entries into machine code not yet counted in exchange.Entered
	AnyInNative  bool                     // a warp may be ready or waiting in machine code
	Resumed      *Warp                    // the last warp to which machine code switched in the ended run; nil: it did not switch
}

// ExportedWarp is the state of a warp for machine code.
type ExportedWarp struct {
	native.Context

	NumberedReconvergences ExportedReconvergences
	InNative               bool                      // machine code holds the state of the warp: Context is newer than Warp
	ConstantsSet           bool                      // the fields of Context that are the same in all CTAs of the launch are set
	Filled                 bool                      // the fields of Context with addresses of registers are set
	Uniform                *[native.Registers]uint64 // special registers that are the same in all lanes of the warp; nil: NativeState.Uniform has them
}

package grid

import (
	"gemu/affinetrack"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
	"gemu/ptx"
)

// Lowering returns the options with which the launch's kernel must be lowered. In check mode, and for probes that receive
// operations, the code has a reference.
func Lowering(l *machine.Launch) lower.Options {
	opt := lower.Options{
		Width: l.WarpSize, Pack: true, Reference: l.Mode == machine.Check || event.SubscribesToOperations(l.Probes),
		ExplicitCluster: l.Cluster != ptx.Dim3{}, Cluster: l.Cluster.Count() > 1,
		TID: affinetrack.ThreadSpacing(l.Block.Dims(), l.WarpSize), Reconvergence: l.Reconverge.Reconvergence, SingleInstrs: l.Reconverge.ExactSlices,
	}
	if l.Mode != machine.Vector && (min(l.WarpSize, l.Block.Count()) > machine.FewLanes || l.CompileEagerly) {
		opt.Affine, opt.Eager = true, l.CompileEagerly
	}
	return opt
}

package warp

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// arriveAtClusterBarrier executes the barrier.cluster of all lanes of the warp.
func arriveAtClusterBarrier(w *machine.Warp) {
	cl, arrives := w.CTA.Cluster, w.WaitingSplits[0].Wait.Op.Kind == code.BarClusterArrive
	for i := range w.WaitingSplits {
		b := w.WaitingSplits[i].Wait
		if arrives != (b.Op.Kind == code.BarClusterArrive) {
			return // a part of the lanes arrives, a part waits: none continues
		}
		b.Generation = cl.Completed
	}
	src, lanes := w.WaitingSplits[0].Wait.Src, w.WaitingSplits[0].Mask
	w.CTA.BarrierUsed = true
	switch {
	case arrives && w.ClusterArrival > 0:
		w.Fail(src, lanes, probe.ErrBarrier, "%v: warp %d arrives again at the barrier of the cluster, without barrier.cluster.wait in between", probe.ErrBarrier, w.ID)
	case arrives:
		w.ClusterArrival = 1 + cl.Completed
		passClusterBarrier(w)
		cl.Missing--
		completeClusterBarrier(cl)
	case w.ClusterArrival == 0:
		w.Fail(src, lanes, probe.ErrBarrier, "%v: warp %d waits at the barrier of the cluster without having arrived", probe.ErrBarrier, w.ID)
	case w.ClusterArrival != 1+cl.Completed:
		w.ClusterArrival = 0
		passClusterBarrier(w)
	default:
		for i := range w.WaitingSplits {
			w.WaitingSplits[i].Wait.Arrived = true
		}
	}
}

// passClusterBarrier lets a warp continue whose warp splits all wait.
func passClusterBarrier(w *machine.Warp) {
	for i := range w.WaitingSplits {
		wakeSplit(w, &w.WaitingSplits[i])
	}
	mergeSplits(w)
	w.State = machine.ReadyToRun
	scheduleSplit(w)
}

// completeClusterBarrier completes the barrier if no warp is missing, and releases the warps waiting there.
func completeClusterBarrier(cl *machine.Cluster) {
	if cl.Missing > 0 || cl.Live == 0 {
		return
	}
	cl.Missing = cl.Live
	cl.Completed++
	for _, c := range cl.CTAs {
		for i := range c.Warps {
			w := &c.Warps[i]
			if w.State == machine.AtBarrier && IsAtClusterBarrier(w) {
				w.ClusterArrival = 0
				passClusterBarrier(w)
			}
		}
	}
}

// IsAtClusterBarrier reports whether the warp waits for the barrier of the cluster to complete.
func IsAtClusterBarrier(w *machine.Warp) bool {
	if len(w.WaitingSplits) == 0 { // machine code has it wait, at a barrier of the CTA
		return false
	}
	b := w.WaitingSplits[0].Wait
	return b.Op != nil && b.ID == machine.ClusterBarrier && b.Arrived
}

// LeaveCluster removes an ended warp from the missing warps of the barrier.
func LeaveCluster(cl *machine.Cluster, w *machine.Warp) {
	cl.Live--
	if w.ClusterArrival != 1+cl.Completed {
		cl.Missing--
	}
	if cl.Missing == 0 {
		completeClusterBarrier(cl)
	}
}

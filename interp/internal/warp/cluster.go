package warp

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// arriveAtClusterBarrier executes barrier.cluster for a warp whose live lanes all wait at it.
func arriveAtClusterBarrier(w *machine.Warp) {
	cluster, arrives := w.CTA.Cluster, w.WaitingSplits[0].Wait.Op.Kind == code.BarClusterArrive
	for i := range w.WaitingSplits {
		b := w.WaitingSplits[i].Wait
		if arrives != (b.Op.Kind == code.BarClusterArrive) {
			return // some lanes are at an arrival and some at a wait, so none can continue
		}
		b.Generation = cluster.Completed
	}
	src, lanes := w.WaitingSplits[0].Wait.Src, w.WaitingSplits[0].Mask
	w.CTA.BarrierUsed = true
	switch {
	case arrives && w.ClusterArrival > 0:
		w.Fail(src, lanes, probe.ErrBarrier, "%v: warp %d arrives again at the barrier of the cluster, without barrier.cluster.wait in between", probe.ErrBarrier, w.ID)
	case arrives:
		w.ClusterArrival = 1 + cluster.Completed
		passClusterBarrier(w)
		cluster.Missing--
		completeClusterBarrier(cluster)
	case w.ClusterArrival == 0:
		w.Fail(src, lanes, probe.ErrBarrier, "%v: warp %d waits at the barrier of the cluster without having arrived", probe.ErrBarrier, w.ID)
	case w.ClusterArrival != 1+cluster.Completed:
		w.ClusterArrival = 0
		passClusterBarrier(w)
	default:
		for i := range w.WaitingSplits {
			w.WaitingSplits[i].Wait.Arrived = true
		}
	}
}

// passClusterBarrier ends the waits of all warp splits of a warp, so that the warp continues.
func passClusterBarrier(w *machine.Warp) {
	for i := range w.WaitingSplits {
		wakeSplit(w, &w.WaitingSplits[i])
	}
	mergeSplits(w)
	w.State = machine.ReadyToRun
	scheduleSplit(w)
}

// completeClusterBarrier completes the barrier if no warp is missing, and releases the warps waiting there.
func completeClusterBarrier(cluster *machine.Cluster) {
	if cluster.Missing > 0 || cluster.Live == 0 {
		return
	}
	cluster.Missing = cluster.Live
	cluster.Completed++
	for _, c := range cluster.CTAs {
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
	if len(w.WaitingSplits) == 0 { // the warp waits in machine code, at a barrier of the CTA
		return false
	}
	b := w.WaitingSplits[0].Wait
	return b.Op != nil && b.ID == probe.ClusterBarrier && b.Arrived
}

// LeaveCluster removes an ended warp from the live warps of the cluster, and from the missing warps of its barrier.
func LeaveCluster(cluster *machine.Cluster, w *machine.Warp) {
	cluster.Live--
	if w.ClusterArrival != 1+cluster.Completed {
		cluster.Missing--
	}
	if cluster.Missing == 0 {
		completeClusterBarrier(cluster)
	}
}

package grid

// This file runs clusters (manual 3.2.1): CTAs that are admitted together, have a common barrier, and reach each other's
// shared memory. A single worker runs a cluster, CTA after CTA: it runs every warp of a CTA once, or until the warp waits,
// and then continues with the next CTA.

import (
	"fmt"

	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// newCluster makes a cluster of CTA contexts, listed in the order of their ranks.
func newCluster(ctas []*machine.CTA) *machine.Cluster {
	cl := &machine.Cluster{CTAs: ctas, InstrsLeft: make([]int, len(ctas))}
	for r, c := range ctas {
		c.Cluster, c.Rank = cl, r
		cl.Shared = append(cl.Shared, c.SharedMem)
		cl.Live += len(c.Warps)
	}
	cl.Missing = cl.Live
	return cl
}

// beginCluster starts all CTAs of a cluster, before any of them runs.
func beginCluster(g *machine.Grid, flights []machine.Flight) {
	ctas := make([]*machine.CTA, len(flights))
	for i := range flights {
		ctas[i] = takeContext(g)
		flights[i].CTA = ctas[i]
	}
	newCluster(ctas)
	for i := range flights {
		startCTA(ctas[i], flights[i].Index)
	}
}

// parallelCluster runs a cluster in the parallel half of a round. It reports whether a CTA of the cluster pauses.
func parallelCluster(g *machine.Grid, flights []machine.Flight) (paused bool) {
	if flights[0].CTA == nil {
		beginCluster(g, flights)
	}
	cl := flights[0].CTA.Cluster
	if !cl.HalfUnderway {
		cl.HalfUnderway, cl.NextCTA, cl.AnyExecuted, cl.AnyProgress = true, 0, false, false
		for r := range cl.InstrsLeft {
			cl.InstrsLeft[r] = machine.ParallelInstrsPerCTA
		}
	}
	for {
		for ; cl.NextCTA < len(flights); cl.NextCTA++ {
			f, instrsLeft := &flights[cl.NextCTA], &cl.InstrsLeft[cl.NextCTA]
			if f.Status == machine.CTAEnded || *instrsLeft <= 0 && f.Status != machine.CTAPaused {
				continue
			}
			before, completed := *instrsLeft, cl.Completed
			changedEarlier := f.CTA.ChangedBefore || f.CTA.Changed
			f.CTA.ChangedBefore, f.CTA.Changed = false, false
			advanceFlight(g, f, before, false)
			*instrsLeft = f.CTA.InstrsLeft
			changed := f.CTA.ChangedBefore || f.CTA.Changed
			f.CTA.ChangedBefore = f.CTA.ChangedBefore || changedEarlier
			cl.AnyExecuted = cl.AnyExecuted || *instrsLeft != before
			cl.AnyProgress = cl.AnyProgress || changed || cl.Completed != completed
			switch f.Status {
			case machine.CTAPaused:
				return true
			case machine.CTAFailed:
				cl.HalfUnderway = false
				return false
			}
			cl.AnyProgress = cl.AnyProgress || !ctaSpins(f.CTA)
		}
		if !cl.AnyExecuted || !cl.AnyProgress { // its warps may wait for CTAs outside the cluster
			break
		}
		cl.NextCTA, cl.AnyExecuted, cl.AnyProgress = 0, false, false
	}
	cl.HalfUnderway = false
	if trapFlight := stuckFlight(cl, flights); trapFlight != nil {
		trapFlight.CTA.Err = clusterDeadlock(trapFlight.CTA)
		trapFlight.Status = machine.CTAFailed
		event.EmitTrap(trapFlight.CTA, trapFlight.CTA.Err.(*probe.Trap))
		recordFailure(g, trapFlight)
	}
	return false
}

// ctaSpins reports whether every warp of the CTA that could run is in a loop that may be a spin-wait.
func ctaSpins(c *machine.CTA) bool {
	for i := range c.Warps {
		if w := &c.Warps[i]; w.State == machine.ReadyToRun && !warpSpins(w) {
			return false
		}
	}
	return true
}

// stuckFlight returns the first CTA of a cluster that can never continue, because every CTA of the cluster has ended or
// waits for the cluster's barrier. It returns nil if a CTA can continue, or all have ended.
func stuckFlight(cl *machine.Cluster, flights []machine.Flight) *machine.Flight {
	var first *machine.Flight
	for i := range flights {
		switch f := &flights[i]; f.Status {
		case machine.CTAEnded:
		case machine.WaitsForCluster:
			if first == nil {
				first = f
			}
		default:
			return nil
		}
	}
	return first
}

// clusterDeadlock returns the trap of a stuck cluster. It names the places at which the cluster's warps wait.
func clusterDeadlock(c *machine.CTA) *probe.Trap {
	var all warp.StuckWarps
	var trap *probe.Trap
	for _, other := range c.Cluster.CTAs {
		exited := 0
		for i := range other.Warps {
			w := &other.Warps[i]
			if w.State == machine.HasEnded {
				exited++
				continue
			}
			if trap == nil && w.State == machine.AtBarrier && warp.IsAtClusterBarrier(w) {
				split := &w.WaitingSplits[0]
				trap = w.Fail(split.Wait.Src, split.Mask, probe.ErrDeadlock, "%v: the barrier of the cluster can never complete: %d of %d warps have not arrived", probe.ErrDeadlock, c.Cluster.Missing, c.Cluster.Live)
				trap.Active = split.Mask
			}
			all.Add(w)
		}
		if exited == len(other.Warps) {
			all.Notes = append(all.Notes, fmt.Sprintf("cta %s has exited", other.ID))
		}
	}
	all.AddTo(trap)
	return trap
}

package barriers

// This file checks whether a CTA may end while other CTAs of its cluster still access its shared memory.

import (
	"fmt"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// cluster tracks the accesses of the CTAs of a cluster to each other's shared memory.
type cluster struct {
	mu     sync.Mutex
	ranks  map[int]*remoteAccess // by rank of the accessed CTA
	waited map[int]int           // by rank: number of completed waits for the cluster's barrier
}

// remoteAccess is the latest access to a CTA's shared memory by another CTA. arrivals counts the arrivals of
// the accessing warp at the cluster's barrier before the access.
type remoteAccess struct {
	accessor *cta
	arrivals int
	place    finding.Place
}

// clusterOf returns the cluster of a CTA, and the CTA's rank in it.
func (p *tool) clusterOf(l *probe.LaunchInfo, id ptx.Dim3) (*cluster, int) {
	c := l.Cluster
	clusterID := ptx.Dim3{X: id.X / c.X, Y: id.Y / c.Y, Z: id.Z / c.Z}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.launch != l {
		p.launch, p.clusters = l, map[ptx.Dim3]*cluster{}
	}
	if p.clusters[clusterID] == nil {
		p.clusters[clusterID] = &cluster{ranks: map[int]*remoteAccess{}, waited: map[int]int{}}
	}
	return p.clusters[clusterID], id.X%c.X + c.X*(id.Y%c.Y+c.Y*(id.Z%c.Z))
}

// accessed notes an access of a lane to the shared memory of another CTA.
func (l *cluster) accessed(accessor *cta, e *probe.Event, rank, arrivals int, s spot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.ranks[rank]; r == nil || arrivals > r.arrivals {
		l.ranks[rank] = &remoteAccess{accessor, arrivals, accessor.place(e, s, "access")}
	}
}

// passCluster handles lanes that leave an arrival or a wait at the cluster's barrier.
func (c *cta) passCluster(e *probe.Event, waits bool) {
	w := c.warp(e.Warp)
	if !waits {
		w.arrived = e.Wait.Generation + 1
		return
	}
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	c.cluster.waited[c.rank] = max(c.cluster.waited[c.rank], w.arrived)
}

// ctaEnds checks the end of a CTA: all warps that accessed its memory must have arrived at the cluster's
// barrier since, and the CTA must have waited there.
func (l *cluster) ctaEnds(c *cta, e *probe.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.ranks[c.rank]
	if r == nil || l.waited[c.rank] > r.arrivals {
		return
	}
	c.log.Add(e, finding.Finding{
		Tool: Name, Kind: Cluster, Place: r.place,
		Message: fmt.Sprintf("shared memory of cta (%d,%d,%d) is accessed by another of its cluster, and that CTA may exit before the access", e.ID.X, e.ID.Y, e.ID.Z),
	})
}

package barriers

// This file is clusters: whether a CTA may end while others still access its shared memory.

import (
	"fmt"
	"sync"

	"gemu/interp"
	"gemu/sanitize/finding"
)

// cluster is what the CTAs of a cluster have done to each other's shared memory.
type cluster struct {
	mu     sync.Mutex
	ranks  map[int]*remote // by rank of the CTA whose memory it is
	waited map[int]int     // by rank, how many times it has waited for all
}

// remote is the last access to a CTA's shared memory by another: after how many arrivals of the
// warp at the cluster's barrier.
type remote struct {
	by       *cta
	arrivals int
	place    finding.Place
}

// clusterOf is the cluster of a CTA, and its rank there.
func (p *probe) clusterOf(l *interp.LaunchInfo, id interp.Dim3) (*cluster, int) {
	c := l.Cluster
	at := interp.Dim3{X: id.X / c.X, Y: id.Y / c.Y, Z: id.Z / c.Z}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.launch != l {
		p.launch, p.clusters = l, map[interp.Dim3]*cluster{}
	}
	if p.clusters[at] == nil {
		p.clusters[at] = &cluster{ranks: map[int]*remote{}, waited: map[int]int{}}
	}
	return p.clusters[at], id.X%c.X + c.X*(id.Y%c.Y+c.Y*(id.Z%c.Z))
}

// accessed: a lane of a CTA has accessed the memory of another.
func (l *cluster) accessed(by *cta, e *interp.Event, rank, arrivals int, s spot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.ranks[rank]; r == nil || arrivals > r.arrivals {
		l.ranks[rank] = &remote{by, arrivals, by.place(e, s, "access")}
	}
}

// meets: lanes go on behind an arrival or a wait at the cluster's barrier.
func (c *cta) meets(e *interp.Event, waits bool) {
	w := c.warp(e.Warp)
	if !waits {
		w.arrived = e.Waits.Generation + 1
		return
	}
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	c.cluster.waited[c.rank] = max(c.cluster.waited[c.rank], w.arrived)
}

// leaves: a CTA ends. Who has accessed its memory must have arrived at the barrier since, and
// it must have waited there.
func (l *cluster) leaves(c *cta, e *interp.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.ranks[c.rank]
	if r == nil || l.waited[c.rank] > r.arrivals {
		return
	}
	c.log.Add(e, finding.Finding{
		Tool: Name, Kind: Cluster, At: r.place,
		Message: fmt.Sprintf("shared memory of cta (%d,%d,%d) is accessed by another of its cluster, and nothing keeps that from exiting before", e.ID.X, e.ID.Y, e.ID.Z),
	})
}

package oracle

// This file has clusters (manual 3.2.1, 9.7.13.3): CTAs that can access each other's shared memory and share a barrier.
// Without clusters, each CTA is a cluster of its own.

import (
	"maps"
	"strconv"
	"strings"

	"gemu/ptx"
)

// cluster is a group of CTAs that run together.
type cluster struct {
	machine  *machine
	ctas     []*cta // by rank
	firstCTA int    // number of the first CTA in the order of clusters
	tasks    []*task
	phase    int // number of completions of the barrier
}

// clusterDim returns the extents of a cluster: given by the launch, or required by the kernel (manual 11.7.1), or a
// single CTA.
func (l *Launch) clusterDim(k *ptx.Func) [3]int {
	n := l.Cluster
	if args, ok := k.Directive(".reqnctapercluster"); ok && n == [3]int{} {
		n = [3]int{1, 1, 1}
		for i, a := range args {
			n[i], _ = strconv.Atoi(a)
		}
	}
	if n == [3]int{} {
		n = [3]int{1, 1, 1}
	}
	return n
}

// withGridInCTAs returns the launch with its grid in CTAs: a kernel with .blocksareclusters is launched with a grid of
// clusters (manual 11.8.1). A tile kernel, launched with a single thread, gets the threads it requires.
func (l *Launch) withGridInCTAs(k *ptx.Func) *Launch {
	if k == nil {
		return l
	}
	launch := *l
	if _, ok := k.Directive(".blocksareclusters"); ok {
		for i, n := range l.clusterDim(k) {
			launch.Grid[i] *= n
		}
	}
	if args, ok := k.Directive(".reqntid"); ok && k.Tile() && l.Block == [3]int{1, 1, 1} {
		for i, a := range args {
			launch.Block[i], _ = strconv.Atoi(a)
		}
	}
	return &launch
}

// hasExplicitClusters reports whether the launch or the kernel specifies clusters.
func (m *machine) hasExplicitClusters() bool {
	_, ok := m.kernel.Directive(".reqnctapercluster")
	return ok || m.Cluster != [3]int{}
}

func (m *machine) clusterSize() int { return m.clusterDim[0] * m.clusterDim[1] * m.clusterDim[2] }

// clusterGrid returns the number of clusters in each dimension.
func (m *machine) clusterGrid() (n [3]int) {
	for i := range n {
		n[i] = m.Grid[i] / m.clusterDim[i]
	}
	return n
}

func (m *machine) newCluster(linear int) *cluster {
	g := &cluster{machine: m, firstCTA: linear * m.clusterSize()}
	pos := coordinates(linear, m.clusterGrid())
	for rank := range m.clusterSize() {
		id := coordinates(rank, m.clusterDim)
		for i := range id {
			id[i] += pos[i] * m.clusterDim[i]
		}
		c := m.newCTA(id)
		c.cluster, c.rank = g, rank
		g.ctas = append(g.ctas, c)
	}
	return g
}

// threads returns the threads of all CTAs.
func (g *cluster) threads() (list []*thread) {
	for _, c := range g.ctas {
		list = append(list, c.threads...)
	}
	return list
}

// runRounds runs the CTAs for some rounds. It reports whether all have ended.
func (g *cluster) runRounds() (done bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.err
			last := g.firstCTA
			if t, ok := err.(*Trap); ok {
				for i, c := range g.ctas {
					if c.id == t.Cta {
						last += i
					}
				}
			}
			maps.DeleteFunc(g.machine.printed, func(cta int, _ string) bool { return cta > last })
		}
	}()
	for range roundsPerCluster {
		if err := g.machine.ctx.Err(); err != nil {
			return false, err
		}
		progressed, done := false, true
		for _, c := range g.ctas {
			if !c.done {
				progressed = c.runRound() || progressed
			}
			done = done && c.done
		}
		if done {
			return true, nil
		}
		if !progressed {
			g.trapDeadlock()
		}
	}
	for _, c := range g.ctas {
		for _, w := range c.warps {
			w.endTurn()
		}
	}
	return false, nil
}

// rankShift is the position of the CTA's rank in an address of shared memory (docs/addresses.md).
const rankShift = 24

// sharedBase is the address of the CTA's shared memory in .shared space.
func (c *cta) sharedBase() uint64 { return uint64(c.rank) << rankShift }

// ctaOfShared returns the CTA whose shared memory contains an address in .shared space: the thread's own, or, if
// cluster is set, any CTA of its cluster.
func (t *thread) ctaOfShared(addr uint64, cluster bool) *cta {
	c := t.cta
	if rank := addr >> rankShift; cluster && rank < uint64(len(c.cluster.ctas)) {
		c = c.cluster.ctas[rank]
	}
	if c.done {
		t.trap(KindExited, "cta %v has exited, whose shared memory has address %#x", c.id, addr)
	}
	return c
}

// reachesCluster reports whether the current instruction may access shared memory of the whole cluster.
func (t *thread) reachesCluster() bool {
	space, _ := t.instr.Space()
	return space == ptx.Generic || t.hasModifier("shared::cluster")
}

// clusterArrival is the state of a thread at the barrier of its cluster.
type clusterArrival struct {
	pending bool // it has arrived, and not waited yet
	phase   int  // phase of the barrier at the arrival
}

// atCluster is the number of the cluster's barrier, which differs from the numbers of CTA barriers.
const atCluster = 16

// clusterBarrier (9.7.13.3): the thread waits for its warp, then arrives, or waits for the whole cluster.
func clusterBarrier(t *thread) {
	t.arrival = arrival{id: atCluster, isWait: t.hasModifier("wait")}
	t.state = atBarrier
}

// arriveAtCluster handles a warp whose threads are all at barrier.cluster.arrive, or all at barrier.cluster.wait. It
// reports whether they were.
func (w *Warp) arriveAtCluster() bool {
	threads := w.liveThreads()
	for _, t := range threads {
		if t.arrival.isWait != threads[0].arrival.isWait {
			return false
		}
	}
	g := w.cta.cluster
	for _, t := range threads {
		switch {
		case t.arrival.isWait && !t.clusterArrival.pending:
			t.trap(KindBarrier, "it waits at the cluster's barrier without having arrived")
		case t.arrival.isWait:
			t.arrival.warpArrived = true
		case t.clusterArrival.pending:
			t.trap(KindBarrier, "it arrives twice at the cluster's barrier")
		default:
			t.clusterArrival = clusterArrival{true, g.phase}
			t.endWait()
		}
	}
	g.completeBarrier()
	return true
}

// completeBarrier completes the barrier if every live thread has arrived, and releases the threads that wait for it.
func (g *cluster) completeBarrier() {
	complete, anyLive := true, false
	for _, t := range g.threads() {
		if t.state != exited {
			anyLive = true
			complete = complete && t.clusterArrival.pending && t.clusterArrival.phase == g.phase
		}
	}
	if complete && anyLive {
		g.phase++
	}
	for _, t := range g.threads() {
		if t.state == atBarrier && t.arrival.id == atCluster && t.arrival.warpArrived && t.clusterArrival.phase < g.phase {
			t.clusterArrival.pending = false
			t.endWait()
		}
	}
}

// launchControl executes clusterlaunchcontrol (9.7.13.17). The manual leaves the response opaque; here it is x, y and z
// of the first CTA of the cluster that will not begin, and 1; or 0 (docs/clusters.md).
func launchControl(t *thread) {
	switch {
	case t.hasModifier("try_cancel"):
		t.tryCancel()
	case t.hasModifier("is_canceled"):
		t.setPred("p", t.cancelResponse()[3] != 0)
	case t.hasModifier("v4"):
		words := t.cancelResponse()
		words[3] = 0
		d, typ := t.operand("d")
		for i, e := range elements(d) {
			t.write(e, typ, value{lo: words[i]})
		}
	default:
		t.setOperand("d", t.cancelResponse()[strings.IndexByte("xyz", t.instr.Slot("op")[len("get_first_ctaid::")])])
	}
}

// cancelResponse returns the four words of a response.
func (t *thread) cancelResponse() [4]uint64 {
	o, typ := t.operand("a")
	v := t.read(o, typ)
	return [4]uint64{low(v.lo, 32), v.lo >> 32, low(v.hi, 32), v.hi >> 32}
}

// tryCancel cancels a cluster that has not begun.
func (t *thread) tryCancel() {
	var answer value
	if m := t.machine; m.nextCluster < m.clusterCount() {
		first := coordinates(m.nextCluster, m.clusterGrid())
		for i := range first {
			first[i] *= m.clusterDim[i]
		}
		answer = value{uint64(first[0]) | uint64(first[1])<<32, uint64(first[2]) | 1<<32}
		m.nextCluster++
	}
	p := t.ownMbarrier("b")
	t.mbarrierIn(p)
	bs, bar := t.address("b")
	ts, to := t.address("a")
	ctas := []*cta{t.cta}
	if t.hasModifier("multicast::cluster::all") {
		ctas = t.cta.cluster.ctas
	}
	for _, c := range ctas {
		shift := (uint64(c.rank) - uint64(t.cta.rank)) << rankShift
		target := func() []byte {
			if inSpace, _ := t.machine.resolve(to + shift); ts == ptx.Generic && inSpace != ptx.Shared {
				t.trap(KindMemory, "%#x is not in shared memory", to+shift)
			}
			return t.inCluster(ts, to+shift, 16, 16)
		}
		target()
		k := &task{mbarrier: t.inCluster(bs, bar+shift, 8, 8), txBytes: 16}
		t.mbarrierIn(k.mbarrier)
		k.execute = func() { copy(target(), bytesOf(answer, 16)) }
		t.issue(k)
	}
}

// inCluster returns n bytes of shared memory of any CTA of the cluster.
func (t *thread) inCluster(space ptx.Space, addr uint64, n, alignment int) []byte {
	if space == ptx.Shared {
		addr += sharedWindow
	}
	_, addr = t.machine.resolve(addr)
	c := t.ctaOfShared(addr, true)
	offset := addr - c.sharedBase()
	switch {
	case addr%uint64(alignment) != 0:
		t.trap(KindMisaligned, "address %#x is not a multiple of %d", addr, alignment)
	case offset > uint64(len(c.shared)) || uint64(len(c.shared))-offset < uint64(n):
		t.trap(KindMemory, "%d bytes at %#x are outside shared memory", n, addr)
	}
	return c.shared[offset:][:n]
}

package papers

import (
	"fmt"
	"math/bits"
	"sync"

	"gemu/internal/coalesce"
	"gemu/probe"
	"gemu/ptx"
)

// accessCounts are the accesses of the launches of a kernel, as docs/gv100.md defines them.
type accessCounts struct {
	launches      int64
	loads, stores int64 // sectors of global loads and stores, by warp instruction
	first         int64 // sectors that a CTA loads for the first time, also by textures
	placed        int64 // sectors that a multiprocessor loads for the first time
	distinct      int64 // distinct sectors that a launch loads
	shared        int64 // warp instructions that access shared memory
	passes        int64 // their passes
}

func (n *accessCounts) add(o *accessCounts) {
	n.launches += o.launches
	n.loads += o.loads
	n.stores += o.stores
	n.first += o.first
	n.placed += o.placed
	n.distinct += o.distinct
	n.shared += o.shared
	n.passes += o.passes
}

// verify returns an error if the counts contradict each other, which is a fault of this package: a sector that a launch loads is loaded by a
// multiprocessor, and that one by a CTA.
func (n *accessCounts) verify() error {
	if n.distinct > n.placed || n.placed > n.first {
		return fmt.Errorf("BUG: %d distinct sectors of launches, %d of multiprocessors and %d of CTAs contradict distinct <= placed <= first", n.distinct, n.placed, n.first)
	}
	return nil
}

// mean returns the mean of a sum over the launches.
func (n *accessCounts) mean(sum int64) float64 { return float64(sum) / float64(n.launches) }

// accessProbe counts the accesses of launches, by kernel.
type accessProbe struct {
	mu      sync.Mutex
	kernels map[string]*accessCounts
	running map[*probe.LaunchInfo]*accessLaunch
}

// multiprocessors is the number of multiprocessors of a Quadro GV100. CTA i of a launch is on multiprocessor i modulo this
// number.
const multiprocessors = 80

// accessLaunch is a running launch, with the sectors that it loads, in all and by multiprocessor.
type accessLaunch struct {
	accessCounts
	all           sectorSet
	placedSectors [multiprocessors]sectorSet
}

// sectorSet is a set of sectors: pages of bits, by the number of the sector divided by sectorsOfPage.
type sectorSet map[uint64]*[sectorsOfPage / 64]uint64

const sectorsOfPage = 1 << 12

// add adds a sector to the set, and reports whether it is new.
func (s *sectorSet) add(sector uint64) bool {
	if *s == nil {
		*s = sectorSet{}
	}
	page := (*s)[sector/sectorsOfPage]
	if page == nil {
		page = new([sectorsOfPage / 64]uint64)
		(*s)[sector/sectorsOfPage] = page
	}
	word, bit := &page[sector%sectorsOfPage/64], uint64(1)<<(sector%64)
	isNew := *word&bit == 0
	*word |= bit
	return isNew
}

func newAccessProbe() *accessProbe {
	return &accessProbe{kernels: map[string]*accessCounts{}, running: map[*probe.LaunchInfo]*accessLaunch{}}
}

// Subscription asks for accesses with their addresses, and for texels.
func (p *accessProbe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnAccess | probe.OnTexels, Addresses: true}
}

// OnEvent handles the beginning and end of launches.
func (p *accessProbe) OnEvent(e *probe.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		p.running[e.Launch] = &accessLaunch{accessCounts: accessCounts{launches: 1}}
	case probe.OnLaunchEnd:
		n := p.kernels[e.Launch.Kernel.Name]
		if n == nil {
			n = &accessCounts{}
			p.kernels[e.Launch.Kernel.Name] = n
		}
		n.add(&p.running[e.Launch].accessCounts)
		delete(p.running, e.Launch)
	}
}

// CTA returns the counter of a CTA.
func (p *accessProbe) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &accessCTA{accessProbe: p, launch: p.running[l], index: index, seen: map[uint64]struct{}{}}
}

// ended adds the counts of a CTA to its launch.
func (p *accessProbe) ended(c *accessCTA) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.first = int64(len(c.seen))
	for sector := range c.seen {
		if c.launch.all.add(sector) {
			c.distinct++
		}
		if c.launch.placedSectors[c.index%multiprocessors].add(sector) {
			c.placed++
		}
	}
	c.launch.add(&c.accessCounts)
}

// accessCTA counts the accesses of a CTA.
type accessCTA struct {
	*accessProbe
	launch *accessLaunch
	index  int
	accessCounts
	seen    map[uint64]struct{} // loaded sectors
	lines   coalesce.Lines
	sectors []uint64 // of the current access
	banks   coalesce.Conflicts
}

// OnEvent counts an access, or notes texels. The kernels of the comparison name the state space of each access.
func (c *accessCTA) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnCTAEnd:
		c.ended(c)
		return
	case probe.OnTexels: // textures are no global loads, but read by way of L1
		last := ^uint64(0) // sector of the texel before
		for i := range e.Texels {
			t := &e.Texels[i]
			if sector := (t.Memory.Base + t.Offset) / coalesce.SectorBytes; sector != last {
				c.seen[sector], last = struct{}{}, sector
			}
		}
		return
	}
	a := &e.Accesses[len(e.Accesses)-1]
	lanes := a.Lanes & e.Lanes
	if lanes == 0 {
		return
	}
	switch a.Space {
	case ptx.Shared:
		passes, _ := c.banks.Passes(a.Addr, lanes, a.Bytes, a.Kind == probe.AccessAtomic)
		c.shared++
		c.passes += passes
	case ptx.Global:
		c.lines.Reset()
		for m := lanes; m != 0; m &= m - 1 {
			c.lines.Touch(a.Addr[bits.TrailingZeros64(m)], a.Bytes)
		}
		if a.Kind == probe.AccessStore {
			c.stores += int64(c.lines.Sectors())
			return
		}
		c.sectors = c.lines.AppendSectors(c.sectors[:0])
		c.loads += int64(len(c.sectors))
		for _, sector := range c.sectors {
			c.seen[sector] = struct{}{}
		}
	}
}

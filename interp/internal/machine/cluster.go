package machine

import (
	"encoding/binary"
	"fmt"

	"gemu/interp/internal/mem"
	"gemu/probe"
)

// Cluster is the CTAs of one. Without clusters a CTA has one for itself.
type Cluster struct {
	CTAs   []*CTA            // by rank
	Shared []*mem.Allocation // their shared memory; nil for one CTA

	// The barrier. It completes when no warp is missing.
	Missing   int // warps that have neither ended nor arrived
	Live      int // warps that have not ended
	Completed int // how often it has

	// What the CTAs have issued that mbarriers are told of.
	Sequence int64
	Pending  map[uint64][]*AsyncEffect // by the address of the mbarrier in .shared space; in the order of issue

	Pipes [][]*AsyncEffect // by pair of CTAs: what tensor cores are to do, and to tell mbarriers, in the order of issue

	// The half of a round under way.
	HalfUnderway bool
	NextCTA      int   // the CTA whose turn it is
	InstrsLeft   []int // by rank: instructions of its slice
	AnyExecuted  bool  // one of the CTAs has executed something since the first had its turn,
	AnyProgress  bool  // … and not only in loops that may wait, without a change of memory

	ChangedSinceSave bool // something may have changed since the launch was saved or restored last
	StateRefs        int  // of a context of states: how many have it
}

// ClusterBarrier is the number of the barrier of the cluster, where those of the CTA are 0 to 15.
const ClusterBarrier = 16

// ClusterSizeText says how many CTAs a cluster has.
func (g *Grid) ClusterSizeText() string {
	if g.ClusterSize == 1 {
		return "one cta"
	}
	return fmt.Sprintf("%d ctas", g.ClusterSize)
}

// CTAAt is the CTA whose shared memory an address in .shared space is in.
func (c *CTA) CTAAt(addr uint64) *CTA { return c.Cluster.CTAs[addr>>probe.RankShift] }

// AddressOf is the address in .shared space for an offset in the CTA's shared memory.
func (c *CTA) AddressOf(offset uint64) uint64 { return uint64(c.Rank)<<probe.RankShift + offset }

// AddressInRank is the address in .shared space that is in the CTA of a rank what another is in its
// own.
func AddressInRank(addr uint64, rank int) uint64 {
	return addr&(1<<probe.RankShift-1) + uint64(rank)<<probe.RankShift
}

// Cancel takes the cluster that would begin next out of the launch, if one would. It gives what
// lowerQueryCancel says of it. CTAs call it in their turns, when which is next does not depend on
// the host.
func (g *Grid) Cancel() []byte {
	var words [4]uint32
	if g.Next < g.NumCTAs {
		id := g.CTAID(g.Next)
		words = [...]uint32{uint32(id.X), uint32(id.Y), uint32(id.Z), 1}
		g.Next += g.ClusterSize
		g.Finished.Add(int64(g.ClusterSize)) // with them: they will never be waited for
	}
	var data []byte
	for _, v := range words {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return data
}

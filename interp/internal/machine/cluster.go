package machine

import (
	"encoding/binary"
	"fmt"

	"gemu/interp/internal/mem"
	"gemu/probe"
)

// Cluster is a cluster of CTAs. In a launch without clusters each CTA has a cluster of its own.
type Cluster struct {
	CTAs   []*CTA            // by rank
	Shared []*mem.Allocation // their shared memory; nil for one CTA

	// The barrier of the cluster. It completes when no warp is missing.
	Missing   int // number of warps that have neither ended nor arrived
	Live      int // number of warps that have not ended
	Completed int // number of completions

	Sequence int64                     // number of asynchronous effects issued so far: see AsyncEffect.Sequence
	Pending  map[uint64][]*AsyncEffect // pending effects that complete at mbarriers, by address of the mbarrier in .shared space, in the order of issue

	Pipes [][]*AsyncEffect // by pair of CTAs: pending tensor-core operations and their arrivals at mbarriers, in the order of issue

	FreeEffects []*AsyncEffect // unused objects
	FreeTensors []*TensorCopy  // unused objects
	LastMap     DecodedMap     // the tensor map that was decoded last

	// The half of a round under way.
	HalfUnderway bool
	NextCTA      int   // rank of the CTA that runs next
	InstrsLeft   []int // by rank: instructions left of the CTA's slice
	AnyExecuted  bool  // a CTA has executed an instruction in this pass over the CTAs
	AnyProgress  bool  // a CTA has changed memory, or executed instructions outside possible spin-waits, in this pass

	ChangedSinceSave bool // the cluster may have changed since the launch was last saved or restored
	StateRefs        int  // number of saved states that share this object
}

// ClusterSizeText returns the number of CTAs of a cluster as text.
func (g *Grid) ClusterSizeText() string {
	if g.ClusterSize == 1 {
		return "one cta"
	}
	return fmt.Sprintf("%d ctas", g.ClusterSize)
}

// CTAAt returns the CTA whose shared memory contains an address in .shared space.
func (c *CTA) CTAAt(addr uint64) *CTA { return c.Cluster.CTAs[addr>>probe.RankShift] }

// AddressOf returns the address in .shared space of an offset in the CTA's shared memory.
func (c *CTA) AddressOf(offset uint64) uint64 { return uint64(c.Rank)<<probe.RankShift + offset }

// AddressInRank returns the address in .shared space with the same offset in the shared memory of another rank.
func AddressInRank(addr uint64, rank int) uint64 {
	return addr&(1<<probe.RankShift-1) + uint64(rank)<<probe.RankShift
}

// Cancel removes the next cluster that has not begun from the launch, if there is one. It returns the response of
// clusterlaunchcontrol, in the layout of lowerQueryCancel of package lower. CTAs must call it in the ordered half of a
// round, where the next cluster does not depend on timing on the host.
func (g *Grid) Cancel() []byte {
	var words [4]uint32
	if g.Next < g.NumCTAs {
		id := g.CTAID(g.Next)
		words = [...]uint32{uint32(id.X), uint32(id.Y), uint32(id.Z), 1}
		g.Next += g.ClusterSize
		g.Finished.Add(int64(g.ClusterSize)) // the launch does not wait for cancelled CTAs
	}
	var data []byte
	for _, v := range words {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return data
}

package cache

// This file has the policies.

import (
	"math"
	"math/bits"
)

// lru replaces the line whose last access is the oldest.
type lru struct {
	ways int
	bits int // of the number of a way
	now  uint64
	used []uint64 // by set and way: time of the last access, then the number of the way, so that the minimum is the victim
}

// LRU returns the policy that replaces the least recently used line.
func LRU(s Shape) Policy {
	return &lru{ways: s.Ways, bits: bits.Len(uint(s.Ways)), used: make([]uint64, s.Sets*s.Ways)}
}

func (p *lru) Hit(set, way int, _ *Access) {
	p.now++
	p.used[set*p.ways+way] = p.now<<p.bits | uint64(way)
}

func (p *lru) Fill(set, way int, a *Access) { p.Hit(set, way, a) }

func (p *lru) Victim(set int, _ *Access) (way int, bypass bool) {
	oldest := uint64(math.MaxUint64)
	for _, used := range p.used[set*p.ways:][:p.ways] {
		oldest = min(oldest, used)
	}
	return int(oldest & (1<<p.bits - 1)), false
}

// Oldest implements Orderer.
func (p *lru) Oldest(set int, candidates uint64) (way int) {
	oldest := uint64(math.MaxUint64)
	for ; candidates != 0; candidates &= candidates - 1 {
		oldest = min(oldest, p.used[set*p.ways+bits.TrailingZeros64(candidates)])
	}
	return int(oldest & (1<<p.bits - 1))
}

// treePLRU has a tree for each set. A tree over n ways has a bit for each node. The children of node i are nodes 2i and 2i+1, from
// node 1 on. A clear bit selects the left half for replacement, a set bit the right half. The left half is the larger half: 3 ways are
// 2+1, 5 are 3+2, 6 are 3+3.
type treePLRU struct {
	ways  int
	trees []uint64
}

// TreePLRU returns the policy of a tree of bits that points away from recently used lines. A cache must have at most 32 ways.
func TreePLRU(s Shape) Policy {
	if s.Ways > 32 {
		panic("BUG: a tree of more than 32 ways")
	}
	return &treePLRU{ways: s.Ways, trees: make([]uint64, s.Sets)}
}

// Hit points the nodes above a way to the opposite half.
func (p *treePLRU) Hit(set, way int, _ *Access) {
	tree, n := p.trees[set], p.ways
	node, from := 1, 0
	for n > 1 {
		leftWays := (n + 1) / 2
		if way < from+leftWays {
			tree |= 1 << node
			node, n = 2*node, leftWays
		} else {
			tree &^= 1 << node
			node, from, n = 2*node+1, from+leftWays, n-leftWays
		}
	}
	p.trees[set] = tree
}

func (p *treePLRU) Fill(set, way int, a *Access) { p.Hit(set, way, a) }

// Victim returns the way to which the nodes point.
func (p *treePLRU) Victim(set int, _ *Access) (way int, bypass bool) {
	tree, n := p.trees[set], p.ways
	node, from := 1, 0
	for n > 1 {
		leftWays := (n + 1) / 2
		if tree>>node&1 == 0 {
			node, n = 2*node, leftWays
		} else {
			node, from, n = 2*node+1, from+leftWays, n-leftWays
		}
	}
	return from, false
}

// Predictions of RRIP (Jaleel, Theobald, Steely and Emer, "High Performance Cache Replacement Using Re-Reference Interval Prediction",
// ISCA 2010), with two bits for each line.
const (
	near    = 0 // the line is expected to be accessed again soon
	long    = 2
	distant = 3
)

// rrip replaces the first line whose next access is predicted in the distant future. A hit predicts a near access ("hit priority" in
// the paper).
type rrip struct {
	shape       Shape
	predictions []uint8 // by set and way
	insertion   func(set int) uint8
}

func newRRIP(s Shape) *rrip {
	return &rrip{shape: s, predictions: make([]uint8, s.Sets*s.Ways)}
}

// SRRIP returns the static policy of RRIP: new lines have the prediction "long".
func SRRIP(s Shape) Policy {
	p := newRRIP(s)
	p.insertion = func(int) uint8 { return long }
	return p
}

// BRRIP returns the bimodal policy of RRIP: new lines have the prediction "distant", one of 32 has "long".
func BRRIP(s Shape) Policy {
	p := newRRIP(s)
	p.insertion = p.bimodal()
	return p
}

// bimodal returns the insertion of BRRIP. The paper chooses the one of 32 at random; here it is every 32nd, so that a run can be repeated.
func (p *rrip) bimodal() func(int) uint8 {
	filled := 0
	return func(int) uint8 {
		if filled++; filled%32 == 0 {
			return long
		}
		return distant
	}
}

// Constants of DRRIP in the paper: 32 sets always follow one policy, and 32 the other. A counter of ten bits chooses for all other sets.
const (
	leaders      = 32
	counterLimit = 1 << 10
)

// DRRIP returns the dynamic policy of RRIP. Some sets use SRRIP, as many use BRRIP, and the other sets use the policy with fewer misses
// in those: 32 sets for each policy, or an eighth of the sets if the cache has fewer than 256.
func DRRIP(s Shape) Policy {
	p := newRRIP(s)
	bimodal := p.bimodal()
	region := s.Sets / max(1, min(leaders, s.Sets/8)) // sets of a region, which has a leader for each policy
	counter := counterLimit/2 - 1                     // counts misses of the leaders of SRRIP up, and those of BRRIP down
	p.insertion = func(set int) uint8 {               // a line enters after a miss
		static := set / region % region // place of the leader of SRRIP, which differs from region to region
		switch set % region {
		case static:
			counter = min(counter+1, counterLimit-1)
			return long
		case (static + region/2) % region:
			counter = max(counter-1, 0)
			return bimodal(set)
		}
		if counter >= counterLimit/2 {
			return bimodal(set)
		}
		return long
	}
	return p
}

func (p *rrip) Hit(set, way int, _ *Access) { p.predictions[set*p.shape.Ways+way] = near }

func (p *rrip) Fill(set, way int, _ *Access) {
	p.predictions[set*p.shape.Ways+way] = p.insertion(set)
}

// Victim returns the first way with the prediction "distant". If there is none, all predictions become more distant first.
func (p *rrip) Victim(set int, _ *Access) (way int, bypass bool) {
	predictions := p.predictions[set*p.shape.Ways:][:p.shape.Ways]
	for {
		for w, prediction := range predictions {
			if prediction == distant {
				return w, false
			}
		}
		for w := range predictions {
			predictions[w]++
		}
	}
}

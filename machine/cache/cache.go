// Package cache has the lines of a set-associative cache and the policies that choose the line to replace. It counts nothing and knows
// no time: a model of a memory system decides the cost of a hit and of a miss, and the contents of a line.
package cache

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Shape is the size and the index function of a cache.
type Shape struct {
	Sets  int   // number of sets
	Ways  int   // lines of a set
	Index Index // set of a line; nil: Modulo
}

// Index returns the set of a line, from 0 to sets-1.
type Index func(line uint64, sets int) int

// Modulo takes the set from the last bits of a line's number.
func Modulo(line uint64, sets int) int {
	if line <= math.MaxUint32 && uint64(sets) <= math.MaxUint32 { // a division of 32 bits is faster
		return int(uint32(line) % uint32(sets))
	}
	return int(line % uint64(sets))
}

// XOR combines all bits of a line's number, so that lines whose distance is a large power of two do not meet in a set. It divides the
// number into digits, one for each set, and combines them: by exclusive or if sets is a power of two, otherwise by addition. Any sets
// successive lines from a multiple of sets on are in different sets.
func XOR(line uint64, sets int) int {
	n := uint64(sets)
	set := uint64(0)
	switch {
	case n == 1:
	case n&(n-1) == 0:
		for digit := bits.TrailingZeros64(n); line != 0; line >>= digit {
			set ^= line
		}
		return int(set & (n - 1))
	default:
		for ; line != 0; line /= n {
			set += line % n
		}
	}
	return int(set % n)
}

// Access is an access to a line.
type Access struct {
	Line  uint64 // number of the line: its address divided by the size of a line; less than 1<<64 - 1
	Store bool   // the access writes
	SM    int    // number of the multiprocessor
	CTA   int    // index of the CTA in its grid
	Warp  int    // index of the warp in its CTA
	Instr int    // index of the instruction in the program of its launch
}

// Policy chooses lines to replace. A policy has the state of all sets of a cache. Another module can add one.
type Policy interface {
	// Hit notes an access to a line in the cache.
	Hit(set, way int, a *Access)
	// Victim returns the way whose line leaves the cache for the line of a. All ways of the set have lines. If bypass is true, no line
	// leaves, and the line of a does not enter the cache.
	Victim(set int, a *Access) (way int, bypass bool)
	// Fill notes that the line of a has entered the cache, in a way without a line or after Victim.
	Fill(set, way int, a *Access)
}

// Admitter is a policy that keeps lines out of the cache, also if their set has room for them.
type Admitter interface {
	// Admits reports whether the line of a may enter the cache.
	Admits(a *Access) bool
}

// Orderer is a policy that chooses among some lines of a set. A cache whose lines have different sizes needs one (Lines.Trim).
type Orderer interface {
	// Oldest returns the way whose line should leave next. candidates has a bit for each way whose line may leave, at least one.
	Oldest(set int, candidates uint64) (way int)
}

// Lines are the lines of a cache, with contents of type L.
type Lines[L any] struct {
	shape    Shape
	policy   Policy
	admitter Admitter // the policy, if it is one
	tags     []uint64 // by set, then way: 1 + the number of the line; 0 without a line. A search reads nothing else.
	contents []L      // by set, then way

	lastLine uint64 // line of the last setOf, and its set: an insertion follows an access
	lastSet  int
	lastWay  int // way of lastLine; -1: it is absent; unknownWay
}

// unknownWay means that the way of a line has not been looked for.
const unknownWay = -2

// New returns an empty cache. A cache without ways never has a line; Insert must not be called on it.
func New[L any](s Shape, newPolicy func(Shape) Policy) *Lines[L] {
	if s.Sets < 1 || s.Ways < 0 {
		panic(fmt.Sprintf("BUG: a cache of %d sets and %d ways", s.Sets, s.Ways))
	}
	if s.Index == nil {
		s.Index = Modulo
	}
	n, policy := s.Sets*s.Ways, newPolicy(s)
	admitter, _ := policy.(Admitter)
	return &Lines[L]{shape: s, policy: policy, admitter: admitter, tags: make([]uint64, n), contents: make([]L, n), lastSet: s.Index(0, s.Sets), lastWay: unknownWay}
}

// Ways returns the number of ways.
func (c *Lines[L]) Ways() int { return c.shape.Ways }

// setOf returns the set of a line, and the index of its first way in tags.
func (c *Lines[L]) setOf(line uint64) (set, first int) {
	if line != c.lastLine {
		c.lastLine, c.lastSet, c.lastWay = line, c.shape.Index(line, c.shape.Sets), unknownWay
	}
	return c.lastSet, c.lastSet * c.shape.Ways
}

// find returns the set of a line, the index of its first way in tags, and the way of the line; -1 if the line is absent.
func (c *Lines[L]) find(line uint64) (set, first, way int) {
	set, first = c.setOf(line)
	if c.lastWay == unknownWay {
		c.lastWay = slices.Index(c.tags[first:][:c.shape.Ways], line+1)
	}
	return set, first, c.lastWay
}

// Peek returns the contents of a line without an access to it; nil if the line is absent.
func (c *Lines[L]) Peek(line uint64) *L {
	_, first, way := c.find(line)
	if way < 0 {
		return nil
	}
	return &c.contents[first+way]
}

// Access returns the contents of the accessed line; nil if the line is absent.
func (c *Lines[L]) Access(a *Access) *L {
	set, first, way := c.find(a.Line)
	if way < 0 {
		return nil
	}
	c.policy.Hit(set, way, a)
	return &c.contents[first+way]
}

// Insert makes room for a line that is absent, and returns its zero contents; nil if the policy keeps the line out. It uses the first
// way without a line. If there is none, it calls evicted with the line that leaves; evicted must not change the cache.
func (c *Lines[L]) Insert(a *Access, evicted func(line uint64, contents *L)) *L {
	if c.admitter != nil && !c.admitter.Admits(a) {
		return nil
	}
	set, first := c.setOf(a.Line)
	way := slices.Index(c.tags[first:][:c.shape.Ways], 0)
	if way < 0 {
		var bypass bool
		if way, bypass = c.policy.Victim(set, a); bypass {
			return nil
		}
		evicted(c.tags[first+way]-1, &c.contents[first+way])
	}
	c.tags[first+way], c.lastWay = a.Line+1, way
	var empty L
	c.contents[first+way] = empty
	c.policy.Fill(set, way, a)
	return &c.contents[first+way]
}

// Trims reports whether Trim can be called: the policy is an Orderer, and a set has at most 64 ways.
func (c *Lines[L]) Trims() bool {
	_, ok := c.policy.(Orderer)
	return ok && c.shape.Ways <= 64
}

// Trim removes lines from the set of a line until the sizes of the set's lines are at most limit in total. It calls evicted with each of them,
// which must not change the cache. The line itself stays, and lines of size 0 do. Trims must be true.
func (c *Lines[L]) Trim(line uint64, limit int, size func(*L) int, evicted func(line uint64, contents *L)) {
	set, first, own := c.find(line)
	total, candidates := 0, uint64(0)
	for way, tag := range c.tags[first:][:c.shape.Ways] {
		if tag == 0 {
			continue
		}
		n := size(&c.contents[first+way])
		if total += n; n > 0 && way != own {
			candidates |= 1 << way
		}
	}
	for total > limit && candidates != 0 {
		way := c.policy.(Orderer).Oldest(set, candidates)
		candidates &^= 1 << way
		total -= size(&c.contents[first+way])
		evicted(c.tags[first+way]-1, &c.contents[first+way])
		c.tags[first+way] = 0
	}
}

// Remove removes a line, if it is in the cache.
func (c *Lines[L]) Remove(line uint64) {
	if _, first, way := c.find(line); way >= 0 {
		c.tags[first+way], c.lastWay = 0, -1
	}
}

// All calls visit with each line, by set and way.
func (c *Lines[L]) All(visit func(line uint64, contents *L)) {
	for i, tag := range c.tags {
		if tag != 0 {
			visit(tag-1, &c.contents[i])
		}
	}
}

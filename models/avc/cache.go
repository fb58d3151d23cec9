package avc

import "math/bits"

// This file is the caches: algorithms 1 and 2.

// Sets is how many sets each cache has: all four configurations of table 3 have as many.
const Sets = 64

// LineVectors is how many vectors a line of the AVC holds, side by side in memory (section 4.2).
const LineVectors = 16

// Config is the caches of a multiprocessor.
type Config struct {
	Name    string
	L1, AVC int  // ways; 8 KB each of L1. No ways of the AVC: there is none
	LRU     bool // exact, in place of the tree
}

// Configs are those of table 3: the baseline, and three that give 8, 16 and 24 of its 48 KB to
// the AVC.
var Configs = []Config{{Name: "B", L1: 6}, {Name: "1", L1: 5, AVC: 1}, {Name: "2", L1: 4, AVC: 2}, {Name: "3", L1: 3, AVC: 3}}

// Stats is what caches count. Lookups = AVCHits + L1Hits + Fills; Reads + Replays = Lookups;
// Writes = AVCWrites + L1Writes.
type Stats struct {
	Reads, Writes       int64 // requests
	Lookups             int64 // of reads
	Replays             int64 // for lanes that a hit in the AVC has left over
	AVCHits, L1Hits     int64
	AVCWrites, L1Writes int64
	Conflicts           int64 // vectors of the AVC that another code takes the place of
	Fills, WriteBacks   int64 // blocks of 128 bytes
}

// Traffic is blocks to and from what lies below.
func (s *Stats) Traffic() int64 { return s.Fills + s.WriteBacks }

// Caches are an L1 and an AVC above a memory of blocks.
type Caches struct {
	Stats
	l1     array[l1Line]
	avc    array[avcLine]
	memory map[uint64]*Vector
}

// NewCaches makes empty ones.
func NewCaches(c Config) *Caches {
	return &Caches{l1: newArray[l1Line](c.L1, c.LRU), avc: newArray[avcLine](c.AVC, c.LRU), memory: map[uint64]*Vector{}}
}

// l1Line is a block, with a bit of each word for valid and one for dirty.
type l1Line struct {
	valid, dirty uint32
	data         Vector
}

// avcLine is 16 blocks.
type avcLine struct{ vectors [LineVectors]avcVector }

// avcVector is a block as a code: Code has its words of valid.
type avcVector struct {
	Code
	valid uint32
	dirty bool
}

// Read gives what a block has in the lanes of m (algorithm 1).
func (c *Caches) Read(block uint64, m uint32) (d Vector) {
	c.read(block, m, &d)
	return d
}

func (c *Caches) read(block uint64, m uint32, d *Vector) {
	c.Reads++
	for {
		c.Lookups++
		hit := uint32(0)
		if v := c.vector(block); v != nil {
			hit = m & v.valid
			if hit != 0 {
				c.AVCHits++
				decoded := v.Decode()
				merge(d, &decoded, hit)
			}
		}
		if hit == m {
			return
		}
		if hit == 0 {
			break
		}
		c.Replays++
		m &^= hit
	}
	line := c.l1.find(block)
	if line != nil && m&^line.valid == 0 {
		c.L1Hits++
		merge(d, &line.data, m)
		return
	}
	c.Fills++
	filled := *c.block(block)
	if line != nil {
		merge(&filled, &line.data, line.valid)
	}
	merge(d, &filled, m)
	if code, ok := Encode(&filled, m); ok && c.avc.ways > 0 {
		c.insert(block, m, code, false)
		return
	}
	if line == nil {
		line = c.allocate(block)
	}
	valid := ^uint32(0)
	if v := c.peek(block); v != nil {
		valid &^= v.valid
	}
	merge(&line.data, &filled, valid&^line.valid)
	line.valid |= valid
}

// Write stores the lanes of m to a block (algorithm 2).
func (c *Caches) Write(block uint64, m uint32, d *Vector) {
	if m == 0 {
		return
	}
	code, ok := Encode(d, m)
	c.write(block, m, d, code, ok)
}

// write is Write of what has the code, if it has one.
func (c *Caches) write(block uint64, m uint32, d *Vector, code Code, ok bool) {
	c.Writes++
	if ok && c.avc.ways > 0 {
		c.AVCWrites++
		c.insert(block, m, code, true)
		return
	}
	c.L1Writes++
	line := c.l1.find(block)
	if line == nil {
		line = c.allocate(block)
	}
	merge(&line.data, d, m)
	line.valid |= m
	line.dirty |= m
	if v := c.peek(block); v != nil {
		v.clear(m)
	}
}

// clear has lanes of a vector no longer be valid.
func (v *avcVector) clear(m uint32) {
	if v.valid &^= m; v.valid == 0 {
		*v = avcVector{}
	}
}

// insert has the AVC hold lanes of a block by a code. What they have in L1 is replaced, and dirty if that
// was and they were not written now.
func (c *Caches) insert(block uint64, m uint32, code Code, dirty bool) {
	v := c.vector(block)
	if v == nil {
		at := c.avc.replace(block/LineVectors, func(tag uint64, old *avcLine) {
			for i := range old.vectors {
				c.evict(tag*LineVectors+uint64(i), &old.vectors[i])
			}
		})
		v = &at.vectors[block%LineVectors]
	}
	if v.valid&^m != 0 && v.Code != code {
		c.Conflicts++
		c.evict(block, v)
	}
	if v.valid&^m == 0 {
		*v = avcVector{}
	}
	if line := c.l1.peek(block); line != nil {
		dirty = dirty || line.dirty&m != 0
		line.valid &^= m
		line.dirty &^= m
		if line.valid == 0 {
			c.l1.remove(block)
		}
	}
	v.Code = code
	v.valid |= m
	v.dirty = v.dirty || dirty
}

// evict has a vector leave the AVC, and L1's part of the block with it: both are one write-back, if either
// is dirty.
func (c *Caches) evict(block uint64, v *avcVector) {
	if v.valid == 0 {
		return
	}
	dirty := v.dirty
	if dirty {
		decoded := v.Decode()
		merge(c.block(block), &decoded, v.valid)
	}
	if line := c.l1.peek(block); line != nil {
		dirty = dirty || line.dirty != 0
		merge(c.block(block), &line.data, line.dirty)
		c.l1.remove(block)
	}
	if dirty {
		c.WriteBacks++
	}
	*v = avcVector{}
}

// allocate makes room for a block in L1.
func (c *Caches) allocate(block uint64) *l1Line {
	return c.l1.replace(block, func(tag uint64, old *l1Line) {
		if old.dirty != 0 {
			c.WriteBacks++
			merge(c.block(tag), &old.data, old.dirty)
		}
	})
}

// vector finds the vector of a block whose line is in the AVC, and uses the line.
func (c *Caches) vector(block uint64) *avcVector {
	if line := c.avc.find(block / LineVectors); line != nil {
		return &line.vectors[block%LineVectors]
	}
	return nil
}

// peek is vector without a use.
func (c *Caches) peek(block uint64) *avcVector {
	if line := c.avc.peek(block / LineVectors); line != nil {
		return &line.vectors[block%LineVectors]
	}
	return nil
}

// block is what memory has.
func (c *Caches) block(block uint64) *Vector {
	v := c.memory[block]
	if v == nil {
		v = new(Vector)
		c.memory[block] = v
	}
	return v
}

// merge copies the lanes of m.
func merge(to, from *Vector, m uint32) {
	if m == ^uint32(0) {
		*to = *from
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to[i] = from[i]
	}
}

// array is the lines of a cache.
type array[L any] struct {
	ways int
	lru  bool
	sets []cacheSet[L]
	now  uint64
}

// cacheSet is a set: its lines, and who is to leave next.
type cacheSet[L any] struct {
	lines []entry[L]
	tree  uint32
}

type entry[L any] struct {
	valid bool
	tag   uint64
	used  uint64
	line  L
}

func newArray[L any](ways int, lru bool) array[L] {
	a := array[L]{ways: ways, lru: lru, sets: make([]cacheSet[L], Sets)}
	for i := range a.sets {
		a.sets[i].lines = make([]entry[L], ways)
	}
	return a
}

// findWay finds the way of a line in its set; -1: it is not there.
func (a *array[L]) findWay(tag uint64) (*cacheSet[L], int) {
	s := &a.sets[tag%Sets]
	for w := range s.lines {
		if e := &s.lines[w]; e.valid && e.tag == tag {
			return s, w
		}
	}
	return s, -1
}

// peek finds a line, without using it; nil if it is not there.
func (a *array[L]) peek(tag uint64) *L {
	if s, w := a.findWay(tag); w >= 0 {
		return &s.lines[w].line
	}
	return nil
}

// find finds a line and uses it.
func (a *array[L]) find(tag uint64) *L {
	s, w := a.findWay(tag)
	if w < 0 {
		return nil
	}
	a.markUsed(s, w)
	return &s.lines[w].line
}

func (a *array[L]) markUsed(s *cacheSet[L], w int) {
	a.now++
	s.lines[w].used = a.now
	s.tree = markTreeUsed(s.tree, a.ways, w)
}

// remove has a line no longer be there.
func (a *array[L]) remove(tag uint64) {
	if s, w := a.findWay(tag); w >= 0 {
		s.lines[w] = entry[L]{}
	}
}

// replace makes room for a line that is not there: invalid ways first; what leaves is told.
func (a *array[L]) replace(tag uint64, evicted func(tag uint64, line *L)) *L {
	s := &a.sets[tag%Sets]
	way := -1
	for w := range s.lines {
		if !s.lines[w].valid {
			way = w
			break
		}
	}
	if way < 0 {
		way = victim(s.tree, a.ways)
		if a.lru {
			for w := range s.lines {
				if s.lines[w].used < s.lines[way].used {
					way = w
				}
			}
		}
		evicted(s.lines[way].tag, &s.lines[way].line)
	}
	s.lines[way] = entry[L]{valid: true, tag: tag}
	a.markUsed(s, way)
	return &s.lines[way].line
}

// A tree over n ways is a bit for each node, node i over nodes 2i and 2i+1 from 1 on: set if who is to
// leave is on the right. The left half is the larger one: of 3 ways 2+1, of 5 3+2, of 6 3+3.

// markTreeUsed turns the nodes above a way away from it.
func markTreeUsed(tree uint32, n, way int) uint32 {
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
	return tree
}

// victim goes where the nodes point.
func victim(tree uint32, n int) int {
	node, from := 1, 0
	for n > 1 {
		leftWays := (n + 1) / 2
		if tree>>node&1 == 0 {
			node, n = 2*node, leftWays
		} else {
			node, from, n = 2*node+1, from+leftWays, n-leftWays
		}
	}
	return from
}

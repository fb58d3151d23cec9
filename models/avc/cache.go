package avc

import "math/bits"

// This file has the caches: algorithms 1 and 2 of the paper.

// Sets is the number of sets of each cache, in all four configurations of table 3.
const Sets = 64

// LineVectors is the number of vectors in a line of the AVC, consecutive in memory (section 4.2).
const LineVectors = 16

// Config is the caches of a multiprocessor.
type Config struct {
	Name    string // configuration in table 3: "B", "1", "2" or "3"
	L1, AVC int    // ways of L1 and of the AVC, of 8 KB each; 0 ways of AVC: no AVC
	LRU     bool   // exact replacement in place of the tree
}

// Configs are the configurations of table 3: the baseline, and three that give 8, 16 and 24 of its 48 KB to the AVC.
var Configs = []Config{{Name: "B", L1: 6}, {Name: "1", L1: 5, AVC: 1}, {Name: "2", L1: 4, AVC: 2}, {Name: "3", L1: 3, AVC: 3}}

// Stats are the counts of caches. Lookups = AVCHits + L1Hits + Fills; Reads + Replays = Lookups; Writes = AVCWrites +
// L1Writes.
type Stats struct {
	Reads, Writes       int64 // requests
	Lookups             int64 // lookups of reads
	Replays             int64 // further lookups for lanes that a hit in the AVC does not have
	AVCHits, L1Hits     int64 // lookups with at least one lane in the AVC; other lookups with all lanes in L1
	AVCWrites, L1Writes int64 // writes that went to the AVC, and to L1
	Conflicts           int64 // vectors of the AVC replaced because a write had another code
	Fills, WriteBacks   int64 // blocks of 128 bytes read from memory, and written to it
}

// Traffic returns the number of blocks read from memory or written to it.
func (s *Stats) Traffic() int64 { return s.Fills + s.WriteBacks }

// Caches are an L1 and an AVC above a memory of blocks.
type Caches struct {
	Stats
	l1     array[l1Line]
	avc    array[avcLine]
	memory map[uint64]*Vector
}

// NewCaches returns empty caches.
func NewCaches(c Config) *Caches {
	return &Caches{l1: newArray[l1Line](c.L1, c.LRU), avc: newArray[avcLine](c.AVC, c.LRU), memory: map[uint64]*Vector{}}
}

// l1Line is a block, with a valid bit and a dirty bit for each word.
type l1Line struct {
	valid, dirty uint32
	data         Vector
}

// avcLine is 16 blocks.
type avcLine struct{ vectors [LineVectors]avcVector }

// avcVector is a compressed block: the Code has the words in valid.
type avcVector struct {
	Code
	valid uint32
	dirty bool
}

// Read returns the values of a block in the lanes of m (algorithm 1).
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

// write is Write with the code of the vector; ok is false if it has none.
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

// clear makes lanes of a vector invalid.
func (v *avcVector) clear(m uint32) {
	if v.valid &^= m; v.valid == 0 {
		*v = avcVector{}
	}
}

// insert puts lanes of a block with a code into the AVC. It removes these lanes from L1; the vector is dirty if they
// were dirty there.
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

// evict removes a vector from the AVC, and L1's part of the block with it. Both together are a single write-back if
// either is dirty.
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

// vector returns the vector of a block whose line is in the AVC, and marks the line as used.
func (c *Caches) vector(block uint64) *avcVector {
	if line := c.avc.find(block / LineVectors); line != nil {
		return &line.vectors[block%LineVectors]
	}
	return nil
}

// peek is vector without marking the line.
func (c *Caches) peek(block uint64) *avcVector {
	if line := c.avc.peek(block / LineVectors); line != nil {
		return &line.vectors[block%LineVectors]
	}
	return nil
}

// block returns the memory's copy of a block.
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

// cacheSet is a set: its lines, and the tree that selects the next line to replace.
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

// findWay returns the way of a line in its set, or -1 if the line is absent.
func (a *array[L]) findWay(tag uint64) (*cacheSet[L], int) {
	s := &a.sets[tag%Sets]
	for w := range s.lines {
		if e := &s.lines[w]; e.valid && e.tag == tag {
			return s, w
		}
	}
	return s, -1
}

// peek returns a line without marking it as used; nil if it is absent.
func (a *array[L]) peek(tag uint64) *L {
	if s, w := a.findWay(tag); w >= 0 {
		return &s.lines[w].line
	}
	return nil
}

// find returns a line and marks it as used; nil if it is absent.
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

// remove makes a line invalid.
func (a *array[L]) remove(tag uint64) {
	if s, w := a.findWay(tag); w >= 0 {
		s.lines[w] = entry[L]{}
	}
}

// replace makes room for a line that is absent, in an invalid way, if any. It calls evicted for a valid line that it
// replaces.
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

// A tree over n ways has a bit for each node. The children of node i are nodes 2i and 2i+1, from node 1 on. A clear
// bit selects the left half for replacement, a set bit the right half. The left half is the larger half: 3 ways are
// 2+1, 5 are 3+2, 6 are 3+3.

// markTreeUsed points the nodes above a way to the opposite half.
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

// victim returns the way to which the nodes point.
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

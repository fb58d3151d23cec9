package avc

import (
	"math/bits"

	"gemu/machine/cache"
)

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
	l1     *cache.Lines[l1Line]
	avc    *cache.Lines[avcLine] // by the number of the line, which is that of its first block divided by LineVectors
	memory map[uint64]*Vector
}

// NewCaches returns empty caches.
func NewCaches(c Config) *Caches {
	policy := cache.TreePLRU
	if c.LRU {
		policy = cache.LRU
	}
	return &Caches{
		l1:     cache.New[l1Line](cache.Shape{Sets: Sets, Ways: c.L1}, policy),
		avc:    cache.New[avcLine](cache.Shape{Sets: Sets, Ways: c.AVC}, policy),
		memory: map[uint64]*Vector{},
	}
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
	line := c.l1.Access(&cache.Access{Line: block})
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
	if code, ok := Encode(&filled, m); ok && c.avc.Ways() > 0 {
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
	if ok && c.avc.Ways() > 0 {
		c.AVCWrites++
		c.insert(block, m, code, true)
		return
	}
	c.L1Writes++
	line := c.l1.Access(&cache.Access{Line: block})
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
		at := c.avc.Insert(&cache.Access{Line: block / LineVectors}, func(tag uint64, old *avcLine) {
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
	if line := c.l1.Peek(block); line != nil {
		dirty = dirty || line.dirty&m != 0
		line.valid &^= m
		line.dirty &^= m
		if line.valid == 0 {
			c.l1.Remove(block)
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
	if line := c.l1.Peek(block); line != nil {
		dirty = dirty || line.dirty != 0
		merge(c.block(block), &line.data, line.dirty)
		c.l1.Remove(block)
	}
	if dirty {
		c.WriteBacks++
	}
	*v = avcVector{}
}

// allocate makes room for a block in L1.
func (c *Caches) allocate(block uint64) *l1Line {
	return c.l1.Insert(&cache.Access{Line: block}, func(tag uint64, old *l1Line) {
		if old.dirty != 0 {
			c.WriteBacks++
			merge(c.block(tag), &old.data, old.dirty)
		}
	})
}

// vector returns the vector of a block whose line is in the AVC, and marks the line as used.
func (c *Caches) vector(block uint64) *avcVector {
	if line := c.avc.Access(&cache.Access{Line: block / LineVectors}); line != nil {
		return &line.vectors[block%LineVectors]
	}
	return nil
}

// peek is vector without marking the line.
func (c *Caches) peek(block uint64) *avcVector {
	if line := c.avc.Peek(block / LineVectors); line != nil {
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

package recount

// This file has the Affine Vector Cache: private memory of warps, and sections 4.1 to 4.3 and algorithms 1 and 2 of
// Collange and Kouyoumdjian 2011, in the interpretations of docs/avc.md.

import (
	"fmt"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Word is a word of private memory in the lanes of a warp; some lanes may lack it.
type Word struct {
	Present [32]bool
	Value   [32]uint32
}

// findLine returns the base and stride of the lanes that have the word. ok is false if there are none by the rules of
// section 2.3: the stride is 0 or 2^0 to 2^6, and the base a multiple of it.
func (w *Word) findLine() (base, stride uint32, ok bool) {
	first, n := -1, 0
	for i := range w.Present {
		if w.Present[i] {
			n++
			if first < 0 {
				first = i
			}
		}
	}
	if n == 0 {
		return 0, 0, false
	}
	for _, stride := range []uint32{0, 1, 2, 4, 8, 16, 32, 64} {
		base := w.Value[first] - uint32(first)*stride
		fits := stride == 0 || base%stride == 0
		for i := range w.Present {
			fits = fits && (!w.Present[i] || w.Value[i] == base+uint32(i)*stride)
		}
		if fits {
			return base, stride, true
		}
	}
	return 0, 0, false
}

// class returns the class in figure 1.
func (w *Word) class() string {
	base, stride, ok := w.findLine()
	switch {
	case !ok:
		return "generic"
	case stride != 0:
		return "affine"
	case base != 0:
		return "uniform"
	}
	return "zero"
}

// hasStride reports whether the lanes are affine modulo 2^32, for any base and stride. It finds the stride bit by bit:
// from the strides that fit modulo 2^b, it keeps the strides that fit modulo 2^(b+1), with or without bit b.
func (w *Word) hasStride() bool {
	list := w.lanes()
	strides := []int64{0}
	for b := range 32 {
		var longer []int64
		for _, s := range strides {
			for _, s := range []int64{s, s | 1<<b} {
				fits := true
				for _, i := range list {
					fits = fits && (int64(w.Value[list[0]])+int64(i-list[0])*s-int64(w.Value[i]))%(1<<(b+1)) == 0
				}
				if fits {
					longer = append(longer, s)
				}
			}
		}
		strides = longer
	}
	return len(strides) > 0
}

// lanes returns the lanes that have the word.
func (w *Word) lanes() (list []int) {
	for i := range w.Present {
		if w.Present[i] {
			list = append(list, i)
		}
	}
	return list
}

// hasGaps reports whether lanes are missing between the first and the last.
func (w *Word) hasGaps() bool {
	list := w.lanes()
	return list[len(list)-1]-list[0] != len(list)-1
}

// hasXorStride reports whether the unit of section 5.2 detects an affine word: the first pair of lanes 2i and 2i+1
// gives the stride.
func (w *Word) hasXorStride() bool {
	list := w.lanes()
	stride := uint32(0)
	for i := 0; i < 32; i += 2 {
		if w.Present[i] && w.Present[i+1] {
			stride = w.Value[i] ^ w.Value[i+1]
			break
		}
	}
	if !slices.Contains([]uint32{0, 1, 2, 4, 8, 16, 32, 64}, stride) {
		return false
	}
	for _, i := range list {
		if w.Value[list[0]]+uint32(i-list[0])*stride != w.Value[i] {
			return false
		}
	}
	return true
}

// Private is a probe of the private memory of a launch's warps. A load or store makes one transaction for each word and
// each distinct address among lanes.
type Private struct {
	mu      sync.Mutex
	Kernels map[string]*PrivateKernel
}

// PrivateKernel counts the launches of a kernel.
type PrivateKernel struct {
	Instructions  int
	Loads, Stores map[string]int // transactions, by class
	LowWords      map[string]int // class of the first word of each access

	AnyStride int // generic words that are affine with any stride and base
	Xor       int // words that the unit of section 5.2 detects
	NonDense  int // words that are not generic, in lanes with gaps
	Global    int // 128-byte blocks of accesses to global memory

	launches []*privateLaunch
}

// privateLaunch is a launch of a kernel.
type privateLaunch struct {
	id     uint64
	perCTA int
	warps  map[[2]int]*privateWarp // by CTA and warp
}

// privateWarp is the private memory of a warp, and its requests.
type privateWarp struct {
	instructions int
	requests     []request
	memory       [32]map[uint64]uint32 // words, by lane and by address divided by 4
}

// request is a transaction.
type request struct {
	step  int // number of the instruction
	word  uint64
	store bool
	Word
}

// Subscription selects all instructions, with values and addresses.
func (p *Private) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Values: true, Addresses: true}
}

// CTA returns the probe itself for all CTAs.
func (p *Private) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

// OnEvent records the accesses of an instruction to private memory.
func (p *Private) OnEvent(e *probe.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Kernels == nil {
		p.Kernels = map[string]*PrivateKernel{}
	}
	k := p.Kernels[e.Launch.Kernel.Name]
	if k == nil {
		k = &PrivateKernel{Loads: map[string]int{}, Stores: map[string]int{}, LowWords: map[string]int{}}
		p.Kernels[e.Launch.Kernel.Name] = k
	}
	index := slices.IndexFunc(k.launches, func(l *privateLaunch) bool { return l.id == e.Launch.ID })
	if index < 0 {
		index = len(k.launches)
		k.launches = append(k.launches, &privateLaunch{e.Launch.ID, (e.Launch.Block.Count() + 31) / 32, map[[2]int]*privateWarp{}})
	}
	l := k.launches[index]
	w := l.warps[[2]int{e.CTA, e.Warp}]
	if w == nil {
		w = &privateWarp{}
		for i := range w.memory {
			w.memory[i] = map[uint64]uint32{}
		}
		l.warps[[2]int{e.CTA, e.Warp}] = w
	}
	step := w.instructions
	w.instructions++
	k.Instructions++
	space, _ := e.Instr.Space()
	if space != ptx.Local && space != ptx.Generic && space != ptx.Global || len(e.Accesses) == 0 {
		return
	}
	if len(e.Accesses) != 1 {
		panic(fmt.Sprintf("%s: %d accesses", e.Instr.Text, len(e.Accesses)))
	}
	access := &e.Accesses[0]
	store := e.Instr.Form.Effects.HasAll(ptx.Writes)
	bytes := map[int][]byte{} // stored bytes by lane; for loads only their number counts
	from := map[int]uint64{}  // address by lane
	blocks := map[uint64]bool{}
	for lane := range 32 {
		address := access.Addr[lane]
		switch {
		case access.Lanes>>lane%2 == 0:
			continue
		case access.Space == ptx.Local:
		case address >= probe.LocalWindow && address < probe.LocalWindow+probe.WindowSize:
			address -= probe.LocalWindow
		default:
			if access.Space == ptx.Global || address >= probe.FirstAddress {
				for b := range access.Bytes {
					blocks[(address+uint64(b))/128] = true
				}
			}
			continue
		}
		from[lane] = address
		bytes[lane] = make([]byte, access.Bytes)
		if store {
			bytes[lane] = storedBytes(e, lane, access.Bytes)
		}
	}
	k.Global += len(blocks)
	if len(from) == 0 {
		return
	}
	words := 0
	for lane, list := range bytes {
		for b, v := range list {
			word, shift := (from[lane]+uint64(b))/4, (from[lane]+uint64(b))%4*8
			old := w.memory[lane][word]
			if store {
				w.memory[lane][word] = old&^(0xff<<shift) | uint32(v)<<shift
			}
			words = max(words, int(word-from[lane]/4)+1)
		}
	}
	for n := range words {
		done := map[int]bool{}
		for first := range 32 {
			if _, present := from[first]; !present || done[first] {
				continue
			}
			r := request{step: step, word: from[first]/4 + uint64(n), store: store}
			for lane := range 32 {
				if address, present := from[lane]; present && address/4 == from[first]/4 {
					done[lane] = true
					r.Present[lane], r.Value[lane] = true, w.memory[lane][r.word]
				}
			}
			class := r.class()
			if store {
				k.Stores[class]++
			} else {
				k.Loads[class]++
			}
			if n == 0 {
				k.LowWords[class]++
			}
			if class == "generic" && r.hasStride() {
				k.AnyStride++
			}
			if class != "generic" && r.hasGaps() {
				k.NonDense++
			}
			if r.hasXorStride() {
				k.Xor++
			}
			w.requests = append(w.requests, r)
		}
	}
}

// storedBytes returns the bytes that a lane stores: the low bytes of each element of the operand that is not the
// address.
func storedBytes(e *probe.Event, lane, size int) (list []byte) {
	var elems []ptx.Operand
	for _, o := range e.Instr.Ops {
		switch o.Kind {
		case ptx.VecOperand:
			elems = o.Elems()
		case ptx.RegOperand, ptx.ImmOperand:
			elems = []ptx.Operand{o}
		}
	}
	for _, o := range elems {
		v := o.Imm.Encode(e.Instr.Type())
		if o.Kind == ptx.RegOperand {
			v = e.Reads[slices.IndexFunc(e.Reads, func(v probe.Value) bool { return v.Reg == o.Reg })].Low[lane]
		}
		for range size / len(elems) {
			list = append(list, byte(v))
			v >>= 8
		}
	}
	return list
}

// CacheSetup is a configuration of table 3 and a schedule of warps, by the rows of docs/avc.md.
type CacheSetup struct {
	L1, AVC                       int // ways
	LRU                           bool
	Regs                          int
	Greedy, WarpByWarp, WholeCTAs bool
	Warps                         int // warps of a launch that use the caches: the first warps, in whole CTAs
}

// CacheCounts counts the events of the caches.
type CacheCounts struct {
	Instructions            int
	Reads, Writes           int // requests
	PartialHits             int // reads of which the AVC held only a part
	AVCHits, L1Hits, Misses int
	AVCWrites, L1Writes     int
	Conflicts               int
	WriteBacks              int
}

// cell is a word of L1.
type cell struct {
	valid, dirty bool
	value        uint32
}

// l1Line is a line of L1.
type l1Line struct {
	block uint64
	words [32]cell
}

// avcLine is 16 vectors that are adjacent in memory.
type avcLine struct {
	number  uint64 // number of its first block, divided by 16
	vectors [16]avcVector
}

// avcVector is the compact content of a block in some lanes.
type avcVector struct {
	base, stride uint32
	lanes        [32]bool
	dirty        bool
}

func (v *avcVector) isValid() bool { return slices.Contains(v.lanes[:], true) }

// replacementTree is the replacement order of ways: a leaf, or two subtrees and the less recently used of them.
type replacementTree struct {
	way         int
	left, right *replacementTree
	older       *replacementTree
}

// newTree makes a tree of n ways beginning at from; the larger half goes left.
func newTree(from, n int) *replacementTree {
	if n == 1 {
		return &replacementTree{way: from}
	}
	t := &replacementTree{left: newTree(from, (n+1)/2), right: newTree(from+(n+1)/2, n/2)}
	t.older = t.left
	return t
}

// markUsed marks a way as used. It reports whether the tree has the way.
func (t *replacementTree) markUsed(way int) bool {
	switch {
	case t.left == nil:
		return t.way == way
	case t.left.markUsed(way):
		t.older = t.right
		return true
	case t.right.markUsed(way):
		t.older = t.left
		return true
	}
	return false
}

func (t *replacementTree) oldest() int {
	for t.left != nil {
		t = t.older
	}
	return t.way
}

// cacheSet is a set of a cache.
type cacheSet[T any] struct {
	lines   []*T // nil: empty
	tree    *replacementTree
	lastUse []int // for exact LRU
}

// Caches has both caches and the memory below them.
type Caches struct {
	setup  CacheSetup
	l1     map[uint64]*cacheSet[l1Line]
	avc    map[uint64]*cacheSet[avcLine]
	memory map[uint64]*[32]uint32
	now    int
	CacheCounts
}

// NewCaches makes empty caches above a memory of zeros.
func NewCaches(s CacheSetup) *Caches {
	return &Caches{setup: s, l1: map[uint64]*cacheSet[l1Line]{}, avc: map[uint64]*cacheSet[avcLine]{}, memory: map[uint64]*[32]uint32{}}
}

func findSet[T any](c *Caches, sets map[uint64]*cacheSet[T], number uint64, n int) *cacheSet[T] {
	s := sets[number%64]
	if s == nil {
		s = &cacheSet[T]{lines: make([]*T, n), tree: newTree(0, n), lastUse: make([]int, n)}
		sets[number%64] = s
	}
	return s
}

func markUsed[T any](c *Caches, s *cacheSet[T], line *T) {
	c.now++
	for i := range s.lines {
		if line != nil && s.lines[i] == line {
			s.tree.markUsed(i)
			s.lastUse[i] = c.now
		}
	}
}

// insert puts a line into a set. It returns the evicted line; nil if there was a free way.
func insert[T any](c *Caches, s *cacheSet[T], line *T) (evicted *T) {
	way := slices.Index(s.lines, nil)
	switch {
	case way >= 0:
	case c.setup.LRU:
		way = slices.Index(s.lastUse, slices.Min(s.lastUse))
	default:
		way = s.tree.oldest()
	}
	evicted, s.lines[way] = s.lines[way], line
	return evicted
}

func (c *Caches) memoryBlock(block uint64) *[32]uint32 {
	if c.memory[block] == nil {
		c.memory[block] = &[32]uint32{}
	}
	return c.memory[block]
}

func (c *Caches) findL1(block uint64) *l1Line {
	for _, line := range findSet(c, c.l1, block, c.setup.L1).lines {
		if line != nil && line.block == block {
			return line
		}
	}
	return nil
}

// invalidate removes words of a line; if none is left, it frees the way. It reports whether a removed word was dirty.
func (c *Caches) invalidate(line *l1Line, lanes [32]bool) (dirty bool) {
	anyLeft := false
	for i := range lanes {
		if lanes[i] {
			dirty = dirty || line.words[i].dirty
			line.words[i] = cell{}
		}
		anyLeft = anyLeft || line.words[i].valid
	}
	if s := findSet(c, c.l1, line.block, c.setup.L1); !anyLeft {
		for i := range s.lines {
			if s.lines[i] == line {
				s.lines[i] = nil
			}
		}
	}
	return dirty
}

func (c *Caches) findAVC(block uint64) (*avcLine, *avcVector) {
	if c.setup.AVC == 0 {
		return nil, nil
	}
	for _, line := range findSet(c, c.avc, block/16, c.setup.AVC).lines {
		if line != nil && line.number == block/16 {
			return line, &line.vectors[block%16]
		}
	}
	return nil, nil
}

// getL1 returns the line of a block, and allocates it if necessary.
func (c *Caches) getL1(block uint64) *l1Line {
	line := c.findL1(block)
	if line == nil {
		line = &l1Line{block: block}
		if evicted := insert(c, findSet(c, c.l1, block, c.setup.L1), line); evicted != nil {
			if c.drainL1(evicted) {
				c.WriteBacks++
			}
		}
	}
	return line
}

// drainL1 writes a line's dirty words to memory and removes the line. It reports whether there were any.
func (c *Caches) drainL1(line *l1Line) (dirty bool) {
	all := [32]bool{}
	for i := range line.words {
		all[i] = true
		if line.words[i].dirty {
			c.memoryBlock(line.block)[i] = line.words[i].value
		}
	}
	return c.invalidate(line, all)
}

// getAVC returns the line of a block, and allocates it if necessary. Vectors of an evicted line leave the AVC, and
// their words leave L1.
func (c *Caches) getAVC(block uint64) (*avcLine, *avcVector) {
	line, v := c.findAVC(block)
	if line == nil {
		line = &avcLine{number: block / 16}
		v = &line.vectors[block%16]
		if evicted := insert(c, findSet(c, c.avc, block/16, c.setup.AVC), line); evicted != nil {
			for i := range evicted.vectors {
				c.evictVector(16*evicted.number+uint64(i), &evicted.vectors[i])
			}
		}
	}
	return line, v
}

// evictVector removes a vector with valid lanes from the AVC, and the words of its block from L1.
func (c *Caches) evictVector(block uint64, v *avcVector) {
	if !v.isValid() {
		return
	}
	dirty := v.dirty
	for i := range v.lanes {
		if v.lanes[i] && v.dirty {
			c.memoryBlock(block)[i] = v.base + uint32(i)*v.stride
		}
	}
	if line := c.findL1(block); line != nil && c.drainL1(line) {
		dirty = true
	}
	if dirty {
		c.WriteBacks++
	}
	*v = avcVector{}
}

// Read executes algorithm 1: it returns the words of a block in the lanes of want.
func (c *Caches) Read(block uint64, want [32]bool) (got [32]uint32) {
	c.Reads++
	if line, v := c.findAVC(block); v != nil {
		markUsed(c, findSet(c, c.avc, block/16, c.setup.AVC), line)
		hit, missing := false, false
		for i := range want {
			switch {
			case want[i] && v.lanes[i]:
				got[i], want[i], hit = v.base+uint32(i)*v.stride, false, true
			case want[i]:
				missing = true
			}
		}
		if hit {
			c.AVCHits++
			if !missing {
				return got
			}
			c.PartialHits++
		}
	}
	line := c.findL1(block)
	markUsed(c, findSet(c, c.l1, block, c.setup.L1), line)
	hit := line != nil
	found := Word{Present: want}
	for i := range want {
		if !want[i] {
			continue
		}
		if line != nil && line.words[i].valid {
			got[i] = line.words[i].value
		} else {
			hit = false
			got[i] = c.memoryBlock(block)[i]
		}
		found.Value[i] = got[i]
	}
	if hit {
		c.L1Hits++
		return got
	}
	c.Misses++
	if base, stride, ok := found.findLine(); ok && c.setup.AVC > 0 {
		dirty := false
		if _, v := c.findAVC(block); v != nil && v.isValid() && (v.base != base || v.stride != stride) {
			c.Conflicts++
			c.evictVector(block, v)
		} else if line != nil { // the moved words stay dirty
			dirty = c.invalidate(line, want)
		}
		line, v := c.getAVC(block)
		c.setAVC(line, v, base, stride, want, dirty)
		return got
	}
	line = c.getL1(block)
	_, v := c.findAVC(block)
	for i := range line.words {
		if !line.words[i].valid && (v == nil || !v.lanes[i]) {
			line.words[i] = cell{valid: true, value: c.memoryBlock(block)[i]}
		}
	}
	markUsed(c, findSet(c, c.l1, block, c.setup.L1), line)
	return got
}

// setAVC sets base and stride of a vector, and adds lanes.
func (c *Caches) setAVC(line *avcLine, v *avcVector, base, stride uint32, lanes [32]bool, dirty bool) {
	v.base, v.stride = base, stride
	v.dirty = v.dirty || dirty
	for i := range lanes {
		v.lanes[i] = v.lanes[i] || lanes[i]
	}
	markUsed(c, findSet(c, c.avc, line.number, c.setup.AVC), line)
}

// Write executes algorithm 2: it stores a word to the lanes of a block.
func (c *Caches) Write(block uint64, w *Word) {
	c.Writes++
	base, stride, ok := w.findLine()
	if ok && c.setup.AVC > 0 {
		c.AVCWrites++
		if _, v := c.findAVC(block); v != nil && (v.base != base || v.stride != stride) {
			otherDirty := false
			for i := range w.Present {
				otherDirty = otherDirty || v.lanes[i] && !w.Present[i]
			}
			if otherDirty {
				c.Conflicts++
				c.evictVector(block, v)
			}
			*v = avcVector{}
		}
		line, v := c.getAVC(block)
		c.setAVC(line, v, base, stride, w.Present, true)
		if line := c.findL1(block); line != nil {
			c.invalidate(line, w.Present)
		}
		return
	}
	c.L1Writes++
	line := c.getL1(block)
	for i := range w.Present {
		if w.Present[i] {
			line.words[i] = cell{true, true, w.Value[i]}
		}
	}
	markUsed(c, findSet(c, c.l1, block, c.setup.L1), line)
	if _, v := c.findAVC(block); v != nil {
		for i := range w.Present {
			v.lanes[i] = v.lanes[i] && !w.Present[i]
		}
		if !v.isValid() {
			*v = avcVector{}
		}
	}
}

// resident is a warp in a slot.
type resident struct {
	warp   *privateWarp
	step   int
	next   int // index of its next request
	stored map[uint64]*[32]bool
}

// Replay runs the launches through the caches.
func (k *PrivateKernel) Replay(s CacheSetup) (CacheCounts, error) {
	c := NewCaches(s)
	frame := uint64(16)
	queues := make([][]*privateWarp, len(k.launches)) // warps of each launch
	slices.SortFunc(k.launches, func(a, b *privateLaunch) int { return int(a.id) - int(b.id) })
	for i, l := range k.launches {
		ctas := (s.Warps + l.perCTA - 1) / l.perCTA
		for cta := range ctas {
			for warp := range l.perCTA {
				if w := l.warps[[2]int{cta, warp}]; w != nil {
					queues[i] = append(queues[i], w)
					for _, r := range w.requests {
						for r.word >= frame {
							frame *= 2
						}
					}
				}
			}
		}
	}
	for i, l := range k.launches {
		if err := c.runLaunch(queues[i], l.perCTA, frame); err != nil {
			return c.CacheCounts, err
		}
	}
	return c.CacheCounts, nil
}

func (c *Caches) runLaunch(queue []*privateWarp, perCTA int, frame uint64) error {
	n := min(48, 512/c.setup.Regs)
	if c.setup.WholeCTAs {
		n = max(n/perCTA*perCTA, perCTA)
	}
	slots := make([]*resident, n)
	for {
		idle := true
		for k := range slots {
			if slots[k] == nil && len(queue) > 0 {
				slots[k], queue = &resident{warp: queue[0], stored: map[uint64]*[32]bool{}}, queue[1:]
			}
		}
		for k := range slots {
			for r := slots[k]; r != nil; {
				idle = false
				for r.next < len(r.warp.requests) && r.warp.requests[r.next].step == r.step {
					q := &r.warp.requests[r.next]
					block := q.word*uint64(n) + uint64(k)
					if c.setup.WarpByWarp {
						block = uint64(k)*frame + q.word
					}
					if err := c.serve(r, q, block); err != nil {
						return err
					}
					r.next++
				}
				r.step++
				c.Instructions++
				if r.step >= r.warp.instructions {
					slots[k], r = nil, nil
					if len(queue) > 0 {
						slots[k], queue = &resident{warp: queue[0], stored: map[uint64]*[32]bool{}}, queue[1:]
					}
				}
				if !c.setup.Greedy {
					break
				}
			}
		}
		if idle {
			return nil
		}
	}
}

func (c *Caches) serve(r *resident, q *request, block uint64) error {
	if r.stored[q.word] == nil {
		r.stored[q.word] = &[32]bool{}
	}
	if q.store {
		for i := range q.Present {
			r.stored[q.word][i] = r.stored[q.word][i] || q.Present[i]
		}
		c.Write(block, &q.Word)
		return nil
	}
	got := c.Read(block, q.Present)
	for i := range got {
		if q.Present[i] && r.stored[q.word][i] && got[i] != q.Value[i] {
			return fmt.Errorf("word %d, lane %d: %#x, want %#x", q.word, i, got[i], q.Value[i])
		}
	}
	return nil
}

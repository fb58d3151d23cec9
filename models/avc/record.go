package avc

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Counts are the private transactions of launches.
type Counts struct {
	Instructions int64          // instructions executed by warps
	Loads        [Classes]int64 // load transactions, by class
	Stores       [Classes]int64 // store transactions, by class
	First        [Classes]int64 // load and store transactions of the first word of each access, by class

	AnyStride int64 // transactions that are generic by the paper's rules, but affine with another stride or base
	Xor       int64 // transactions for which the xor encoder finds a code
	NonDense  int64 // compact transactions of several lanes that are not consecutive
	Global    int64 // blocks of 128 bytes of accesses to global memory, for reference
}

// Total returns the loads and stores of a class.
func (c *Counts) Total(k Class) int64 { return c.Loads[k] + c.Stores[k] }

// Transactions returns the loads and stores of all classes.
func (c *Counts) Transactions() (n int64) {
	for k := range Classes {
		n += c.Total(k)
	}
	return n
}

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	for k := range Classes {
		c.Loads[k] += o.Loads[k]
		c.Stores[k] += o.Stores[k]
		c.First[k] += o.First[k]
	}
	c.Instructions += o.Instructions
	c.AnyStride += o.AnyStride
	c.Xor += o.Xor
	c.NonDense += o.NonDense
	c.Global += o.Global
}

// Kernel is the recorded launches of a kernel.
type Kernel struct {
	Name     string       // name of the kernel
	Launches []*Recording // launches, in order
	Counts
}

// Recording is the recorded accesses of a launch.
type Recording struct {
	Warps  []*Warp // recorded warps, in the order of CTAs and of warps within a CTA
	PerCTA int     // warps of a CTA
	id     uint64
}

// Warp is the accesses of a warp to private memory.
type Warp struct {
	Instructions int64    // instructions executed by the warp
	Accesses     []Access // accesses, in order
	cta, index   int      // linear index of the CTA, and index of the warp in it
	generic      []Vector // vectors without a code
}

// Access is a transaction: the lanes of Mask load or store a word.
type Access struct {
	Step      int64  // index of the instruction among the instructions of the warp, from 0
	Word      uint32 // private address divided by 4
	Mask      uint32 // set of lanes: bit i is lane i
	Store     bool   // a store, else a load
	code      Code   // code of the vector, if codeIndex is -1
	codeIndex int32  // index of the vector in Warp.generic; -1 if the vector has a code
}

// Vector returns the values that an access loads or stores.
func (w *Warp) Vector(a *Access) Vector {
	if a.codeIndex < 0 {
		return a.code.Decode()
	}
	return w.generic[a.codeIndex]
}

// Recorder is a probe that records launches. It records warps of 32 lanes only.
type Recorder struct {
	// Warps is the number of warps of each launch that are recorded for Replay, from the first on. All warps
	// are counted.
	Warps int
	// RecordedOnly leaves out CTAs without a recorded warp.
	RecordedOnly bool

	mu      sync.Mutex
	kernels []*Kernel
}

// Kernels returns the kernels with ended CTAs, in the order of their first launches.
func (r *Recorder) Kernels() []*Kernel {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kernels {
		slices.SortFunc(k.Launches, func(a, b *Recording) int { return cmp.Compare(a.id, b.id) })
		for _, l := range k.Launches {
			slices.SortFunc(l.Warps, func(a, b *Warp) int { return cmp.Or(cmp.Compare(a.cta, b.cta), cmp.Compare(a.index, b.index)) })
		}
	}
	slices.SortStableFunc(r.kernels, func(a, b *Kernel) int { return cmp.Compare(a.Launches[0].id, b.Launches[0].id) })
	return slices.Clone(r.kernels)
}

// Save returns the recordings.
func (r *Recorder) Save() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cloned(r.kernels)
}

// Restore sets the recordings that Save returned.
func (r *Recorder) Restore(state any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kernels = cloned(state.([]*Kernel))
}

// cloned returns kernels whose recordings grow independently. Warps of ended CTAs do not change and are shared.
func cloned(kernels []*Kernel) (list []*Kernel) {
	for _, k := range kernels {
		n := *k
		n.Launches = nil
		for _, l := range k.Launches {
			m := *l
			m.Warps = slices.Clone(l.Warps)
			n.Launches = append(n.Launches, &m)
		}
		list = append(list, &n)
	}
	return list
}

// Subscription asks for all instructions, with addresses of memory.
func (r *Recorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnCTAEnd, Addresses: true}
}

// OnEvent does nothing: all events of interest are events of CTAs.
func (r *Recorder) OnEvent(*probe.Event) {}

// CTA makes a sink that records a CTA.
func (r *Recorder) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	if l.WarpSize != Lanes {
		return nil
	}
	n := (l.Block.Count() + Lanes - 1) / Lanes
	c := &cta{recorder: r, warps: make([]*Warp, n), record: index*n < r.Warps}
	if r.RecordedOnly && !c.record {
		return nil
	}
	for i := range c.warps {
		c.warps[i] = &Warp{cta: index, index: i}
	}
	return c
}

// cta records a CTA.
type cta struct {
	recorder *Recorder
	warps    []*Warp
	record   bool
	counts   Counts
}

// Save returns the state of the CTA.
func (c *cta) Save() any {
	s := *c
	s.warps = nil
	for _, w := range c.warps {
		s.warps = append(s.warps, w.clone())
	}
	return &s
}

// Restore sets the state that Save returned. It copies the warps, because the present warps may be part of a
// recording.
func (c *cta) Restore(state any) { *c = *state.(*cta).Save().(*cta) }

// clone returns a warp that grows independently. It shares the recorded accesses, which do not change.
func (w *Warp) clone() *Warp {
	n := *w
	n.Accesses, n.generic = slices.Clip(w.Accesses), slices.Clip(w.generic)
	return &n
}

// OnEvent records an instruction.
func (c *cta) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		c.endCTA(e)
		return
	}
	w := c.warps[e.Warp]
	for i := range e.Accesses {
		a := &e.Accesses[i]
		switch a.Space {
		case ptx.Local:
			c.recordPrivate(e, w, a, a.Lanes)
		case ptx.Global:
			c.countGlobal(a, a.Lanes)
		case ptx.Generic:
			var private, global uint64
			for m := a.Lanes; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros64(m)
				switch space, _, _, ok := a.PlaceOf(lane); {
				case ok && space == ptx.Local:
					private |= 1 << lane
				case ok && space == ptx.Global:
					global |= 1 << lane
				}
			}
			c.recordPrivate(e, w, a, private)
			c.countGlobal(a, global)
		}
	}
	w.Instructions++
	c.counts.Instructions++
}

// recordPrivate records an access to private memory: a transaction for each word and each distinct address.
func (c *cta) recordPrivate(e *probe.Event, w *Warp, a *probe.Access, lanes uint64) {
	for remaining := lanes; remaining != 0; {
		first := bits.TrailingZeros64(remaining)
		_, _, offset, ok := a.PlaceOf(first)
		if !ok {
			remaining &^= 1 << first
			continue
		}
		// All lanes at the first lane's word form a single transaction. Where a register is spilled, these
		// are all lanes.
		mask, words := uint64(0), 0
		for m := remaining; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if at := offset + a.Addr[lane] - a.Addr[first]; at/4 == offset/4 {
				mask |= 1 << lane
				words = max(words, (int(at%4)+a.Length(lane)+3)/4)
			}
		}
		remaining &^= mask
		for k := range words {
			word := offset/4 + uint64(k)
			d := (*Vector)(e.LocalWords(word))
			if d == nil {
				break
			}
			if a.Kind != probe.AccessStore {
				c.transaction(w, uint32(word), uint32(mask), false, d, k)
			}
			if a.Kind != probe.AccessLoad {
				c.transaction(w, uint32(word), uint32(mask), true, d, k)
			}
		}
	}
}

// transaction counts a transaction, the k-th word of its access, and records it.
func (c *cta) transaction(w *Warp, word, mask uint32, store bool, d *Vector, k int) {
	base, step, straight := line(d, mask)
	code, ok := codeOf(base, step)
	ok = ok && straight
	class := Generic
	if ok {
		class = code.class()
	}
	if store {
		c.counts.Stores[class]++
	} else {
		c.counts.Loads[class]++
	}
	if k == 0 {
		c.counts.First[class]++
	}
	if _, ok := EncodeXor(d, mask); ok {
		c.counts.Xor++
	}
	if straight && !ok {
		c.counts.AnyStride++
	}
	if ok && !dense(mask) {
		c.counts.NonDense++
	}
	if !c.record {
		return
	}
	a := Access{Step: w.Instructions, Word: word, Mask: mask, Store: store, code: code, codeIndex: -1}
	if !ok {
		a.codeIndex = int32(len(w.generic))
		w.generic = append(w.generic, *d)
	}
	w.Accesses = append(w.Accesses, a)
}

// countGlobal counts the blocks of 128 bytes of an access to global memory.
func (c *cta) countGlobal(a *probe.Access, lanes uint64) {
	var blocks [2 * Lanes]uint64
	n := 0
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		from := a.Addr[lane] / 128
		for b := from; b <= (a.Addr[lane]+uint64(max(a.Length(lane), 1))-1)/128 && b < from+2; b++ {
			if !slices.Contains(blocks[:n], b) {
				blocks[n] = b
				n++
			}
		}
	}
	c.counts.Global += int64(n)
}

// endCTA adds the CTA's counts and recorded warps to its kernel.
func (c *cta) endCTA(e *probe.Event) {
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.kernels, func(k *Kernel) bool { return k.Name == e.Launch.Kernel.Name })
	if i < 0 {
		i = len(r.kernels)
		r.kernels = append(r.kernels, &Kernel{Name: e.Launch.Kernel.Name})
	}
	k := r.kernels[i]
	k.Counts.Add(&c.counts)
	i = slices.IndexFunc(k.Launches, func(l *Recording) bool { return l.id == e.Launch.ID })
	if i < 0 {
		i = len(k.Launches)
		k.Launches = append(k.Launches, &Recording{id: e.Launch.ID, PerCTA: len(c.warps)})
	}
	if c.record {
		k.Launches[i].Warps = append(k.Launches[i].Warps, c.warps...)
	}
}

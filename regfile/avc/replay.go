package avc

import (
	"container/heap"
	"fmt"
	"math/bits"
)

// Schedule says how the streams of warps are interleaved, and where their words lie.
type Schedule struct {
	Regs       int  // registers of a thread: how many warps are resident
	Greedy     bool // the same warp until it ends, in place of one instruction of each in turn
	WarpByWarp bool // a warp's words lie side by side, in place of a word's warps
	WholeCTAs  bool // only as many warps are resident as make whole CTAs, at least one
}

// The multiprocessor of table 2.
const (
	MaxWarps  = 48
	Registers = 512 // of a vector each
)

// Resident is how many warps of a thread's registers are resident: at least one.
func Resident(regs int) int { return max(1, min(MaxWarps, Registers/max(regs, 1))) }

// Outcome is what a replay has counted.
type Outcome struct {
	Stats
	Instructions int64 // of warps
}

// PerInstruction is traffic by instructions: blocks of 128 bytes to each of a warp.
func (o *Outcome) PerInstruction() float64 {
	if o.Instructions == 0 {
		return 0
	}
	return float64(o.Traffic()) / float64(o.Instructions)
}

// slot is a place for a resident warp.
type slot struct {
	warp    *Warp
	start   int64    // the turn in which it began
	next    int      // access
	written []uint32 // by word: lanes that the warp has stored to
}

// Replay runs the launches of a kernel through caches. Each load has to give what was
// recorded, in lanes that the warp has stored to: an error is a bug of the caches.
func Replay(k *Kernel, c Config, s Schedule) (*Outcome, error) {
	list, err := ReplayAll(k, s, c)
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// ReplayAll is Replay through several caches, each by itself, in one pass.
func ReplayAll(k *Kernel, s Schedule, configs ...Config) ([]Outcome, error) {
	r := &replay{schedule: s}
	for _, c := range configs {
		r.caches = append(r.caches, NewCaches(c))
	}
	r.frame = LineVectors
	for _, l := range k.Launches {
		for _, w := range l.Warps {
			for i := range w.Accesses {
				for int(w.Accesses[i].Word) >= r.frame {
					r.frame *= 2
				}
			}
		}
	}
	for _, l := range k.Launches {
		if err := r.launch(l, r.access); err != nil {
			return nil, fmt.Errorf("BUG: %s: %w", k.Name, err)
		}
	}
	var out []Outcome
	for _, c := range r.caches {
		out = append(out, Outcome{c.Stats, r.instructions})
	}
	return out, nil
}

type replay struct {
	caches       []*Caches
	schedule     Schedule
	frame        int // blocks of a warp, with WarpByWarp
	slots        []slot
	instructions int64
}

// launch runs the warps of a launch: those that are resident, and as each ends another in its slot. What
// they do next is done by access.
func (r *replay) launch(l *Recording, access func(at int, s *slot) error) error {
	n := Resident(r.schedule.Regs)
	if r.schedule.WholeCTAs && l.PerCTA > 0 {
		n = max(l.PerCTA, n/l.PerCTA*l.PerCTA)
	}
	r.slots = make([]slot, n)
	warps := l.Warps
	fill := func(s *slot, turn int64) {
		*s = slot{start: turn}
		if len(warps) > 0 {
			s.warp, s.written = warps[0], make([]uint32, r.frame)
			r.instructions += warps[0].Instructions
			warps = warps[1:]
		}
	}
	for i := range r.slots {
		fill(&r.slots[i], 0)
	}
	if r.schedule.Greedy {
		return r.greedy(fill, access)
	}
	var next turns
	for i := range r.slots {
		if s := &r.slots[i]; s.warp != nil {
			heap.Push(&next, turn{s.turn(), i})
		}
	}
	for len(next) > 0 {
		t := &next[0]
		s := &r.slots[t.slot]
		if s.next == len(s.warp.Accesses) {
			if fill(s, t.at); s.warp == nil {
				heap.Pop(&next)
				continue
			}
		} else if err := access(t.slot, s); err != nil {
			return err
		}
		t.at = s.turn()
		heap.Fix(&next, 0)
	}
	return nil
}

// greedy runs the warp of each slot until it ends, slot after slot.
func (r *replay) greedy(fill func(s *slot, turn int64), access func(at int, s *slot) error) error {
	for i, idle := 0, 0; idle < len(r.slots); i = (i + 1) % len(r.slots) {
		s := &r.slots[i]
		if s.warp == nil {
			idle++
			continue
		}
		idle = 0
		for s.next < len(s.warp.Accesses) {
			if err := access(i, s); err != nil {
				return err
			}
		}
		fill(s, 0)
	}
	return nil
}

// turn is when a slot does something next: an access, or its warp ends.
func (s *slot) turn() int64 {
	if s.next < len(s.warp.Accesses) {
		return s.start + s.warp.Accesses[s.next].Step
	}
	return s.start + s.warp.Instructions
}

// turn is what a slot does next. In one turn slots come in order.
type turn struct {
	at   int64
	slot int
}

// turns is a heap of them.
type turns []turn

func (h turns) Len() int { return len(h) }
func (h turns) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].slot < h[j].slot
}
func (h turns) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *turns) Push(t any)   { *h = append(*h, t.(turn)) }
func (h *turns) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}

// access does the next access of a slot.
func (r *replay) access(at int, s *slot) error {
	a := &s.warp.Accesses[s.next]
	s.next++
	block := uint64(a.Word)*uint64(len(r.slots)) + uint64(at)
	if r.schedule.WarpByWarp {
		block = uint64(at)*uint64(r.frame) + uint64(a.Word)
	}
	d := s.warp.Vector(a)
	if a.Store {
		for _, c := range r.caches {
			c.write(block, a.Mask, &d, a.code, a.at < 0)
		}
		s.written[a.Word] |= a.Mask
		return nil
	}
	known := a.Mask & s.written[a.Word]
	for _, c := range r.caches {
		var got Vector
		if c.read(block, a.Mask, &got); got == d {
			continue
		}
		for left := known; left != 0; left &= left - 1 {
			if lane := bits.TrailingZeros32(left); got[lane] != d[lane] {
				return fmt.Errorf("word %d, lane %d: %#x was stored, and the caches have %#x", a.Word, lane, d[lane], got[lane])
			}
		}
	}
	return nil
}

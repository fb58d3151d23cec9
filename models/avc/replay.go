package avc

import (
	"container/heap"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Schedule is the interleaving of warps and the placement of their words.
type Schedule struct {
	Regs       int  // registers of a thread, which determine the number of resident warps
	Greedy     bool // run each warp until it ends; otherwise each warp executes an instruction in rotation
	WarpByWarp bool // the words of a warp are neighbours in memory; otherwise the same word of all warps
	WholeCTAs  bool // only whole CTAs are resident, at least one
}

// The multiprocessor of table 2.
const (
	MaxWarps  = 48  // resident warps
	Registers = 512 // vector registers
)

// Resident returns the number of resident warps with regs registers a thread, at least 1.
func Resident(regs int) int { return max(1, min(MaxWarps, Registers/max(regs, 1))) }

// Outcome is the counts of a replay.
type Outcome struct {
	Stats
	Instructions int64 // instructions executed by warps
}

// PerInstruction returns the traffic, in blocks of 128 bytes, per instruction of a warp.
func (o *Outcome) PerInstruction() float64 {
	if o.Instructions == 0 {
		return 0
	}
	return float64(o.Traffic()) / float64(o.Instructions)
}

// slot is the place of a resident warp.
type slot struct {
	warp    *Warp
	start   int64    // step at which the warp began
	next    int      // index of the next access
	written []uint32 // by word: lanes in which the warp has stored the word
}

// Replay runs the launches of a kernel through caches. It compares each load with the recording, in the lanes in which
// the warp has stored the word before. An error is a bug of the caches.
func Replay(k *Kernel, c Config, s Schedule) (*Outcome, error) {
	list, err := ReplayAll(k, s, c)
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// ReplayAll is Replay through several independent caches in a single pass.
func ReplayAll(k *Kernel, s Schedule, configs ...Config) ([]Outcome, error) {
	r := newReplay(k, s, configs)
	if err := r.run(k, r.access); err != nil {
		return nil, err
	}
	var out []Outcome
	for _, c := range r.caches {
		out = append(out, Outcome{c.Stats, r.instructions})
	}
	return out, nil
}

// errAllBusy ends a replay in which every cache has too much traffic.
var errAllBusy = errors.New("all caches have too much traffic")

// Negligible reports for each configuration whether ReplayAll gives less than limit blocks per instruction of a warp. It
// stops as soon as this is known.
func Negligible(k *Kernel, s Schedule, limit float64, configs ...Config) ([]bool, error) {
	r := newReplay(k, s, configs)
	whole := Outcome{}
	for _, l := range k.Launches {
		for _, w := range l.Warps {
			whole.Instructions += w.Instructions
		}
	}
	list := make([]bool, len(configs))
	for i := range list {
		list[i] = true
	}
	caches := slices.Clone(r.caches)
	err := r.run(k, func(slotIndex int, s *slot) error {
		if err := r.access(slotIndex, s); err != nil {
			return err
		}
		for i, c := range caches {
			if whole.Stats = c.Stats; list[i] && whole.PerInstruction() >= limit {
				list[i] = false
				if r.caches = slices.DeleteFunc(r.caches, func(o *Caches) bool { return o == c }); len(r.caches) == 0 {
					return errAllBusy
				}
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAllBusy) {
		return nil, err
	}
	return list, nil
}

func newReplay(k *Kernel, s Schedule, configs []Config) *replay {
	r := &replay{schedule: s}
	for _, c := range configs {
		r.caches = append(r.caches, NewCaches(c))
	}
	r.frameBlocks = LineVectors
	for _, l := range k.Launches {
		for _, w := range l.Warps {
			for i := range w.Accesses {
				for int(w.Accesses[i].Word) >= r.frameBlocks {
					r.frameBlocks *= 2
				}
			}
		}
	}
	return r
}

// run runs the launches of a kernel. It calls access for each access in order.
func (r *replay) run(k *Kernel, access func(slotIndex int, s *slot) error) error {
	for _, l := range k.Launches {
		switch err := r.runLaunch(l, access); {
		case errors.Is(err, errAllBusy):
			return err
		case err != nil:
			return fmt.Errorf("BUG: %s: %w", k.Name, err)
		}
	}
	return nil
}

type replay struct {
	caches       []*Caches
	schedule     Schedule
	frameBlocks  int // blocks of a warp's frame, with WarpByWarp
	slots        []slot
	instructions int64
}

// runLaunch runs the warps of a launch. When a resident warp ends, the next warp takes its slot. It calls access
// for each access in order.
func (r *replay) runLaunch(l *Recording, access func(slotIndex int, s *slot) error) error {
	n := Resident(r.schedule.Regs)
	if r.schedule.WholeCTAs && l.PerCTA > 0 {
		n = max(l.PerCTA, n/l.PerCTA*l.PerCTA)
	}
	r.slots = make([]slot, n)
	warps := l.Warps
	fill := func(s *slot, step int64) {
		*s = slot{start: step}
		if len(warps) > 0 {
			s.warp, s.written = warps[0], make([]uint32, r.frameBlocks)
			r.instructions += warps[0].Instructions
			warps = warps[1:]
		}
	}
	for i := range r.slots {
		fill(&r.slots[i], 0)
	}
	if r.schedule.Greedy {
		return r.runGreedy(fill, access)
	}
	var next eventQueue
	for i := range r.slots {
		if s := &r.slots[i]; s.warp != nil {
			heap.Push(&next, event{s.nextStep(), i})
		}
	}
	for len(next) > 0 {
		t := &next[0]
		s := &r.slots[t.slot]
		if s.next == len(s.warp.Accesses) {
			if fill(s, t.step); s.warp == nil {
				heap.Pop(&next)
				continue
			}
		} else if err := access(t.slot, s); err != nil {
			return err
		}
		t.step = s.nextStep()
		heap.Fix(&next, 0)
	}
	return nil
}

// runGreedy runs the warp of each slot until it ends, slot after slot.
func (r *replay) runGreedy(fill func(s *slot, step int64), access func(slotIndex int, s *slot) error) error {
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

// nextStep returns the step of the slot's next access, or of its warp's end.
func (s *slot) nextStep() int64 {
	if s.next < len(s.warp.Accesses) {
		return s.start + s.warp.Accesses[s.next].Step
	}
	return s.start + s.warp.Instructions
}

// event is the next step of a slot. Events of one step are ordered by slot.
type event struct {
	step int64
	slot int
}

// eventQueue is a heap of events.
type eventQueue []event

func (h eventQueue) Len() int { return len(h) }
func (h eventQueue) Less(i, j int) bool {
	return h[i].step < h[j].step || h[i].step == h[j].step && h[i].slot < h[j].slot
}
func (h eventQueue) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventQueue) Push(t any)   { *h = append(*h, t.(event)) }
func (h *eventQueue) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}

// access executes the next access of a slot.
func (r *replay) access(slotIndex int, s *slot) error {
	a := &s.warp.Accesses[s.next]
	s.next++
	block := uint64(a.Word)*uint64(len(r.slots)) + uint64(slotIndex)
	if r.schedule.WarpByWarp {
		block = uint64(slotIndex)*uint64(r.frameBlocks) + uint64(a.Word)
	}
	d := s.warp.Vector(a)
	if a.Store {
		for _, c := range r.caches {
			c.write(block, a.Mask, &d, a.code, a.codeIndex < 0)
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
		for remaining := known; remaining != 0; remaining &= remaining - 1 {
			if lane := bits.TrailingZeros32(remaining); got[lane] != d[lane] {
				return fmt.Errorf("word %d, lane %d: %#x was stored, and the caches have %#x", a.Word, lane, d[lane], got[lane])
			}
		}
	}
	return nil
}

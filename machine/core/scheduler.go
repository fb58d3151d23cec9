package core

import "math/bits"

// Scheduler chooses warps of the slots of a scheduler of a multiprocessor. Another module can add one (Policy).
type Scheduler interface {
	// Pick returns the slot whose warp issues in cycle now: an element of ready, which has at least one. It is called in each cycle in which a
	// warp can issue.
	Pick(w *Warps, ready uint64, now int64) (slot int)
}

// Policy makes schedulers.
type Policy struct {
	Name string // name in parameters
	Doc  string // the warp that issues, for help
	// New returns the scheduler of some slots of a multiprocessor.
	New func(slots uint64) Scheduler
}

// Policies are the policies of this package.
var Policies = []*Policy{GTO, Loose, TwoLevel, OldestFirst}

// Warps are the warps of a multiprocessor, by slot, as a scheduler sees them. Sets of slots have a bit for each slot.
type Warps struct {
	ages  [maxSlots]int64 // number of the warp among all warps of the multiprocessor, from 1 on
	begun int64
}

// maxSlots is the maximum number of warp slots of a multiprocessor.
const maxSlots = 64

// Age returns the number of the warp in a slot: 1 for the first warp of the multiprocessor, and so on. The warps of a CTA begin in their
// order.
func (w *Warps) Age(slot int) int64 { return w.ages[slot] }

// Oldest returns the slot of a set whose warp began first. The set must not be empty.
func (w *Warps) Oldest(set uint64) (slot int) {
	slot = bits.TrailingZeros64(set)
	for set &= set - 1; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); w.ages[i] < w.ages[slot] {
			slot = i
		}
	}
	return slot
}

// GTO continues with the warp that issued last while it can issue, and then with the oldest (greedy then oldest: Rogers, O'Connor and
// Aamodt, MICRO 2012).
var GTO = &Policy{Name: "gto", Doc: "the warp that issued last, or the oldest", New: func(uint64) Scheduler { return &greedy{slot: -1} }}

// greedy keeps the warp that issued last: its slot, and its age, because another warp can follow it in the slot.
type greedy struct {
	slot int
	age  int64
}

func (g *greedy) Pick(w *Warps, ready uint64, _ int64) int {
	if g.slot < 0 || ready>>g.slot&1 == 0 || w.ages[g.slot] != g.age {
		g.slot = w.Oldest(ready)
		g.age = w.ages[g.slot]
	}
	return g.slot
}

// Loose gives slots turns, and passes over warps that cannot issue (loose round robin).
var Loose = &Policy{Name: "lrr", Doc: "slots in turn", New: func(uint64) Scheduler { return &rotation{} }}

type rotation struct{ next int } // slot after the one that issued last

func (r *rotation) Pick(_ *Warps, ready uint64, _ int64) int {
	slot := after(ready, r.next)
	r.next = slot + 1
	return slot
}

// after returns the first element of a set from a slot on, or the first of all.
func after(set uint64, slot int) int {
	if rest := set >> slot << slot; rest != 0 {
		return bits.TrailingZeros64(rest)
	}
	return bits.TrailingZeros64(set)
}

// OldestFirst takes the warp that began first.
var OldestFirst = &Policy{Name: "oldest", Doc: "the oldest warp", New: func(uint64) Scheduler { return oldest{} }}

type oldest struct{}

func (oldest) Pick(w *Warps, ready uint64, _ int64) int { return w.Oldest(ready) }

// TwoLevel divides the slots of a scheduler into groups of eight. It gives the slots of a group turns, and goes on to the next group when no
// warp of the group can issue (Narasiman et al., MICRO 2011).
var TwoLevel = &Policy{Name: "two-level", Doc: "the slots of a group of eight in turn, then the next group", New: func(slots uint64) Scheduler {
	s := &twoLevel{}
	for slots != 0 {
		group := uint64(0)
		for range groupSlots {
			group |= slots & -slots
			slots &= slots - 1
		}
		s.groups = append(s.groups, group)
	}
	return s
}}

// groupSlots is the number of slots of a group.
const groupSlots = 8

type twoLevel struct {
	groups []uint64 // slots
	group  int      // index of the group whose turn it is
	rotation
}

func (s *twoLevel) Pick(w *Warps, ready uint64, now int64) int {
	for ready&s.groups[s.group] == 0 {
		s.group = (s.group + 1) % len(s.groups)
		s.next = 0
	}
	return s.rotation.Pick(w, ready&s.groups[s.group], now)
}

package oracle

// This file says in which order the threads of a warp run. None of it is the manual's:
// threads are independent of each other (manual 3.1). An order shows in programs whose
// result depends on it, so one that a machine has can be had here too.

import (
	"math/rand/v2"

	"gemu/ptx"
)

// Order says which lane of a warp goes next. Each warp has an order of its own, which is
// asked until no lane can run. Whatever it says, lanes that wait at a barrier or a
// collective give way to others; that a lane can wait for another by looking at memory
// takes an order that leaves none out for ever.
type Order interface {
	// Next is a lane that can run, and how many instructions it may execute before Next
	// is asked again.
	Next(w *Warp) (lane, limit int)
}

// Lanes is the number of lanes that the warp has threads for.
func (w *Warp) Lanes() int { return len(w.threads) }

// CanRun reports whether a lane neither waits nor has exited.
func (w *Warp) CanRun(lane int) bool { return w.threads[lane].state == ready }

// Place is where in a function a thread is: before instruction Index of a block; in a
// frame that is not the innermost, behind the call.
type Place struct {
	Func  *ptx.Func
	Block *ptx.Block
	Index int
}

// Places is where a lane is, in each of its frames, the kernel's first.
func (w *Warp) Places(lane int) []Place {
	var list []Place
	for _, f := range w.threads[lane].frames {
		list = append(list, Place{f.fn, f.block, f.index})
	}
	return list
}

// Compare orders lanes by their places: those of the outer frames first, in the order of
// the source; and behind a call, what is called comes first.
func (w *Warp) Compare(lane, other int) int { return w.threads[lane].compare(w.threads[other]) }

// sequential is the order of Alone.
type sequential struct{ next int }

// Sequential runs one lane after the other, each as far as it can go, but no further than its
// slice if others can run.
func Sequential() Order { return &sequential{} }

func (o *sequential) Next(w *Warp) (lane, limit int) {
	for !w.CanRun(o.next) {
		o.next = (o.next + 1) % w.Lanes()
	}
	lane = o.next
	o.next = (o.next + 1) % w.Lanes()
	return lane, threadSlice
}

// lockstep is the order of Together.
type lockstep struct {
	group []int   // of lanes at one place: those that have not executed it yet
	age   [64]int // rounds since the lane was in a group
}

// favour is how many rounds a lane that can run is left out before it comes first, and for
// how many rounds it does.
const (
	maxRoundsWaiting = 2000
	favouredRounds   = 100
)

// Lockstep runs the lanes at the earliest place one instruction each, so that those of an
// if meet behind it. Lanes that are later are left out as long as others loop before
// them, but not for ever.
func Lockstep() Order { return &lockstep{} }

func (o *lockstep) Next(w *Warp) (lane, limit int) {
	if len(o.group) == 0 {
		o.chooseGroup(w)
	}
	lane, o.group = o.group[0], o.group[1:]
	return lane, 1
}

// chooseGroup finds the lanes that go next.
func (o *lockstep) chooseGroup(w *Warp) {
	first := -1
	for lane := range w.Lanes() {
		switch {
		case !w.CanRun(lane):
			o.age[lane] = 0
			continue
		case o.age[lane] > maxRoundsWaiting+favouredRounds:
			o.age[lane] = 0
		}
		o.age[lane]++
		before := func() int {
			if a, b := o.age[lane] > maxRoundsWaiting, o.age[first] > maxRoundsWaiting; a != b {
				if a {
					return -1
				}
				return 1
			}
			return w.Compare(lane, first)
		}
		if first < 0 || before() < 0 {
			first, o.group = lane, o.group[:0]
		}
		if lane == first || w.Compare(lane, first) == 0 {
			o.group = append(o.group, lane)
		}
	}
	for _, lane := range o.group {
		if o.age[lane] <= maxRoundsWaiting {
			o.age[lane] = 0
		}
	}
}

// random is the order of Random.
type random struct{ *rand.Rand }

// Random runs lanes by chance, a few instructions at a time; the warps of a launch differ.
func Random(seed uint64) func() Order {
	r := rand.New(rand.NewPCG(seed, 0))
	return func() Order { return random{r} }
}

func (o random) Next(w *Warp) (lane, limit int) {
	for lane = o.IntN(w.Lanes()); !w.CanRun(lane); {
		lane = (lane + 1) % w.Lanes()
	}
	return lane, 1 + o.IntN(8)
}

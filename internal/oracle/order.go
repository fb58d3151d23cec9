package oracle

// This file has the orders in which the threads of a warp run. The manual prescribes none: threads are independent of
// each other (manual 3.1). The result of some programs depends on the order; therefore the oracle can also run in the
// order of a machine.

import (
	"math/rand/v2"

	"gemu/ptx"
)

// Order chooses the next lane of a warp. Each warp has an Order of its own, which is called until no lane can run.
// Lanes that wait at a barrier or a collective give way to other lanes under every order. A lane can wait for another
// lane by polling memory only if the order leaves no lane out for ever.
type Order interface {
	// Next returns a lane that can run, and the number of instructions that it may execute before the next call.
	Next(w *Warp) (lane, limit int)
}

// Lanes is the number of threads in the warp.
func (w *Warp) Lanes() int { return len(w.threads) }

// CanRun reports whether a lane neither waits nor has exited.
func (w *Warp) CanRun(lane int) bool { return w.threads[lane].state == ready }

// Place is the place of a thread in a function: before instruction Index of a block. In an outer frame it is after the
// call.
type Place struct {
	Func  *ptx.Func
	Block *ptx.Block
	Index int
}

// Places returns the place of a lane in each of its frames, the kernel's first.
func (w *Warp) Places(lane int) []Place {
	var list []Place
	for _, f := range w.threads[lane].frames {
		list = append(list, Place{f.fn, f.block, f.index})
	}
	return list
}

// Compare orders lanes by their places: outer frames first, in the order of the source. At the same call, a lane in the
// called function comes before a returned lane.
func (w *Warp) Compare(lane, other int) int { return w.threads[lane].compare(w.threads[other]) }

// sequential is the order of Sequential.
type sequential struct{ next int }

// Sequential runs the lanes in sequence, each as far as possible, but at most for its slice if more lanes can run.
func Sequential() Order { return &sequential{} }

func (o *sequential) Next(w *Warp) (lane, limit int) {
	for !w.CanRun(o.next) {
		o.next = (o.next + 1) % w.Lanes()
	}
	lane = o.next
	o.next = (o.next + 1) % w.Lanes()
	return lane, threadSlice
}

// lockstep is the order of Lockstep.
type lockstep struct {
	group []int   // lanes at the same place that have still to execute its instruction
	age   [64]int // rounds since the lane was in a group
}

// A lane that can run is favoured after it was left out for maxRoundsWaiting rounds, and stays so for favouredRounds
// rounds.
const (
	maxRoundsWaiting = 2000
	favouredRounds   = 100
)

// Lockstep runs the lanes at the earliest place, an instruction each: thus the lanes of an if reconverge after it.
// Later lanes are left out while earlier lanes loop, but not for ever.
func Lockstep() Order { return &lockstep{} }

func (o *lockstep) Next(w *Warp) (lane, limit int) {
	if len(o.group) == 0 {
		o.chooseGroup(w)
	}
	lane, o.group = o.group[0], o.group[1:]
	return lane, 1
}

// chooseGroup selects the lanes that run next.
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

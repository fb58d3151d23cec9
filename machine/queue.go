package machine

import (
	"fmt"
	"math/bits"
)

// queue has the slots of a launch, and the order of those that have a next step: by step, then by number. The slots of each of the next steps
// are a set, so that a step costs a few operations however many slots there are.
type queue struct {
	slots    []slot               // by number
	sets     [queueSteps][]uint64 // by step modulo queueSteps: slots with this step or, in the last set, a later one, a bit each
	sizes    [queueSteps]int      // number of slots of each set
	nonEmpty uint64               // sets with slots, a bit each
	now      int64                // step of the slot that was first at the latest call of first
	word     int                  // the set of this step has no slot before this word
}

// queueSteps is the number of steps for which a queue has sets.
const queueSteps = 64

// newQueue returns a queue for some slots.
func newQueue(slots int) queue {
	q := queue{slots: make([]slot, slots)}
	words := (slots + 63) / 64
	all := make([]uint64, queueSteps*words)
	for i := range q.sets {
		q.sets[i] = all[i*words:][:words:words]
	}
	return q
}

// first returns the number of the first slot; -1: the queue is empty.
func (q *queue) first() (number int) {
	for {
		i := int(q.now % queueSteps)
		if q.sizes[i] == 0 {
			if q.nonEmpty == 0 {
				return -1
			}
			q.now += int64(bits.TrailingZeros64(bits.RotateLeft64(q.nonEmpty, -i)))
			q.word = 0
			continue
		}
		set := q.sets[i]
		for set[q.word] == 0 {
			q.word++
		}
		number = q.word*64 + bits.TrailingZeros64(set[q.word])
		s := &q.slots[number]
		if s.step == q.now {
			return number
		}
		q.take(i, number)
		q.put(number, s.step)
	}
}

// add adds a slot with its next step, which must not be before that of the first slot.
func (q *queue) add(number int, step int64) {
	if step < q.now {
		panic(fmt.Sprintf("BUG: a slot has step %d after step %d", step, q.now))
	}
	q.slots[number].step = step
	q.put(number, step)
}

// remove removes the first slot.
func (q *queue) remove(number int) { q.take(q.setOf(q.slots[number].step), number) }

// move changes the step of the first slot.
func (q *queue) move(number int, step int64) {
	if step == q.slots[number].step {
		return
	}
	q.remove(number)
	q.add(number, step)
}

// setOf returns the index of the set of a step.
func (q *queue) setOf(step int64) int { return int(min(step, q.now+queueSteps-1) % queueSteps) }

// put adds a slot to the set of a step.
func (q *queue) put(number int, step int64) {
	i := q.setOf(step)
	q.sets[i][number/64] |= 1 << (number % 64)
	q.sizes[i]++
	q.nonEmpty |= 1 << i
	if step == q.now {
		q.word = min(q.word, number/64)
	}
}

// take removes a slot from a set.
func (q *queue) take(i, number int) {
	q.sets[i][number/64] &^= 1 << (number % 64)
	if q.sizes[i]--; q.sizes[i] == 0 {
		q.nonEmpty &^= 1 << i
	}
}

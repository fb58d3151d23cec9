package machine

import (
	"math/rand/v2"
	"testing"
)

// TestQueue compares a queue with a search for the first of all slots, in random sequences with steps that are near and far.
func TestQueue(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		slots := 1 + rnd.IntN(200)
		q := newQueue(slots)
		steps := map[int]int64{} // by number, of the slots in the queue
		later := func(from int64) int64 { return from + int64(rnd.IntN(1<<rnd.IntN(9))) }
		now := int64(0)
		for range 1000 {
			first := -1
			for number := range slots {
				if step, ok := steps[number]; ok && (first < 0 || step < steps[first]) {
					first = number
				}
			}
			if got := q.first(); got != first {
				t.Fatalf("seed %d: slot %d is first, want %d of %v", seed, got, first, steps)
			}
			if first >= 0 {
				now = steps[first]
			}
			switch number := rnd.IntN(slots); {
			case first >= 0 && rnd.IntN(4) > 0:
				steps[first] = later(now)
				q.move(first, steps[first])
			case first >= 0 && rnd.IntN(2) == 0:
				q.remove(first)
				delete(steps, first)
			default:
				if _, ok := steps[number]; !ok {
					steps[number] = later(now)
					q.add(number, steps[number])
				}
			}
		}
	}
}

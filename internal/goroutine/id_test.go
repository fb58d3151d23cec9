package goroutine

import (
	"sync"
	"testing"
)

// TestNumberOfGoroutine: a goroutine has one number, and goroutines that run at the same time have different numbers.
func TestNumberOfGoroutine(t *testing.T) {
	const n = 8
	var ids [n]uint64
	var started, ended sync.WaitGroup
	started.Add(n)
	for i := range n {
		ended.Go(func() {
			ids[i] = ID()
			started.Done()
			started.Wait()
			if ID() != ids[i] {
				t.Errorf("goroutine %d is %d, then %d", i, ids[i], ID())
			}
		})
	}
	ended.Wait()
	seen := map[uint64]bool{0: true}
	for i, id := range ids {
		if seen[id] {
			t.Errorf("goroutine %d has number %d: none, or of another", i, id)
		}
		seen[id] = true
	}
}

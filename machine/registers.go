package machine

import (
	"context"
	"sync"

	"gemu/occupancy"
	"gemu/ptx"
	"gemu/spill"
)

// EstimateRegisters returns, for Spec.Registers, the least number of registers of a thread without spilling (spill.RangeOf), at most
// occupancy.MaxRegisters; 0 if package spill does not support the kernel. It remembers its results.
func EstimateRegisters() func(*ptx.Func) int {
	var mu sync.Mutex
	known := map[*ptx.Func]int{}
	return func(f *ptx.Func) int {
		mu.Lock()
		defer mu.Unlock()
		n, ok := known[f]
		if !ok {
			if r, err := spill.RangeOf(context.Background(), f); err == nil {
				n = min(r.Base, occupancy.MaxRegisters)
			}
			known[f] = n
		}
		return n
	}
}

// NeedsClock reports whether a system changes only machines with a clock. Without one, compressed lines are counted at most.
func (s *System) NeedsClock() bool {
	return s.GivesResources() || s.Compresses() || s.New().Misses != nil
}

// HasAssists reports whether a system has assist warps on a machine with a clock.
func (s *System) HasAssists() bool {
	p := s.New()
	return p.assistRegisters() > 0
}

// Compresses reports whether a system has compressed lines on a machine with a clock (Parts.Compressed).
func (s *System) Compresses() bool { return s.New().Compressed != nil }

// GivesResources reports whether a system gives resources to warps (Parts.Residency).
func (s *System) GivesResources() bool { return s.New().Residency != nil }

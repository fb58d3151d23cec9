// Package backends numbers the backends of the machine, so that a launch of package interp names its backend by value. Tests
// of the machine add backends of their own.
package backends

import (
	"sync"

	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
)

// The numbers of the backends, which are the values of interp.Engine.
const (
	Default  uint8 = iota // another setting decides
	Portable              // in Go, for every host
	Native                // in machine code
	Auto                  // Native if the host has it, otherwise Portable
	added                 // the first backend of a test
)

var (
	mu    sync.Mutex
	tests []machine.Backend // backends of tests, by number - added
)

// Add adds the backend of a test and returns its number. It panics if there is no number left.
func Add(b machine.Backend) uint8 {
	mu.Lock()
	defer mu.Unlock()
	if len(tests) == 256-int(added) {
		panic("BUG: more backends of tests than numbers")
	}
	tests = append(tests, b)
	return added + uint8(len(tests)-1)
}

// Backend returns the backend of a number other than Default; nil if the host does not have it.
func Backend(number uint8) machine.Backend {
	switch {
	case number == Portable, number == Auto && exchange.Native == nil:
		return warp.Portable
	case number == Native, number == Auto:
		return exchange.Native
	}
	mu.Lock()
	defer mu.Unlock()
	if i := int(number) - int(added); i >= 0 && i < len(tests) {
		return tests[i]
	}
	return nil
}

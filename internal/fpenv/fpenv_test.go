package fpenv

import (
	"math"
	"runtime"
	"testing"
)

//go:noinline
func sum(x, y float32) float32 { return x + y }

// TestEnvironment: another environment changes sums, the default one does not, and restore gives back the first.
func TestEnvironment(t *testing.T) {
	if Upward == 0 {
		t.Skip("the environment of this architecture is not known")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := Control()
	defer SetControl(before)
	results := func() [2]float32 {
		return [2]float32{sum(1, 0x1p-30), sum(math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32)}
	}
	// IEEE 754: the sum is 1 to nearest, and the next number upward; a subnormal sum is exact, or flushed to zero.
	nearest, other := [2]float32{1, 0x1p-148}, [2]float32{1 + 0x1p-23, 0}
	SetControl(defaultControl | Upward | FlushSubnormals)
	if got := results(); got != other {
		t.Errorf("upward and flushed: %v, want %v", got, other)
	}
	restore := UseDefault()
	if got := results(); got != nearest {
		t.Errorf("default: %v, want %v", got, nearest)
	}
	restore()
	if got := results(); got != other {
		t.Errorf("restored: %v, want %v", got, other)
	}
	SetControl(before)
}

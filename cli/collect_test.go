package cli

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// TestGarbageLimit: for any amount of live memory, 64 MiB of garbage are permitted, and as much as is live, and the
// percentage is valid for Go.
func TestGarbageLimit(t *testing.T) {
	for live := uint64(1); live < 1<<40; live *= 3 {
		p := growth(live)
		if got := max(live, 1<<20) * uint64(p) / 100; got < min(live, gcThreshold) || live >= gcThreshold && p != 100 || live < gcThreshold && got < gcThreshold*99/100 || p > math.MaxInt32 {
			t.Errorf("%d bytes live: %d percent", live, p)
		}
	}
}

// TestGarbageLimitWithMuchMemory: with much live memory, garbage is collected at Go's default.
func TestGarbageLimitWithMuchMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	relax()
	defer collectAt(100)
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(percent); percent[0].Value.Uint64() <= 100 {
		t.Errorf("%d percent at the beginning", percent[0].Value.Uint64())
	}
	big := make([]byte, 2*gcThreshold)
	for range 100 { // the end of a collection is reported with a delay
		if runtime.GC(); percent[0].Value.Uint64() == 100 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		metrics.Read(percent)
	}
	if percent[0].Value.Uint64() != 100 {
		t.Errorf("%d percent of %d bytes", percent[0].Value.Uint64(), len(big))
	}
	runtime.KeepAlive(big)
}

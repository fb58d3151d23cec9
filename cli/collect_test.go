package cli

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// However much lives, there may be 64 MiB of garbage, and as much as lives, and a percentage is one that Go takes.
func TestGarbageLimit(t *testing.T) {
	for live := uint64(1); live < 1<<40; live *= 3 {
		p := growth(live)
		if got := max(live, 1<<20) * uint64(p) / 100; got < min(live, gcThreshold) || live >= gcThreshold && p != 100 || live < gcThreshold && got < gcThreshold*99/100 || p > math.MaxInt32 {
			t.Errorf("%d bytes live: %d percent", live, p)
		}
	}
}

// Once much lives, garbage is collected as Go does it.
func TestGarbageLimitWithMuchMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	relax()
	defer collectAt(100)
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(percent); percent[0].Value.Uint64() <= 100 {
		t.Errorf("%d percent at the beginning", percent[0].Value.Uint64())
	}
	big := make([]byte, 2*gcThreshold)
	for range 100 { // the end of a collection is told by and by
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

package notation

import (
	"testing"
	"time"
)

// TestParseDurations shows the durations that are accepted, and the texts that are refused.
func TestParseDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "90s": 90 * time.Second, "1m30s": 90 * time.Second, "1.5": 1500 * time.Millisecond, "500ms": 500 * time.Millisecond, "2h": 2 * time.Hour,
	} {
		if d, err := ParseSpan(text); err != nil || d != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"0.1ns", "0.0000000001", "", "soon", "-1", "-1s", "1 s", "1e3", ".", "1..5", "NaN", "10000000000", "9999999h", "5m30", "s"} {
		if d, err := ParseSpan(text); err == nil {
			t.Errorf("%q: %v", text, d)
		}
	}
}

package notation

import "testing"

// TestParseSizes shows the sizes that are accepted, in bytes, and the texts that are refused.
func TestParseSizes(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1, "4096": 4096, "3K": 3 << 10, "512M": 512 << 20, "16G": 16 << 30, "64T": 64 << 40} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "0", "K", "1KK", "-1", "1.5G", "65T", "1k", "99999999999999999999"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
}

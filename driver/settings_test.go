package driver

import (
	"strings"
	"testing"
)

// TestPlainMessages: with GEMU_PLAIN messages are plain text, and a wrong value is refused.
func TestPlainMessages(t *testing.T) {
	var messages strings.Builder
	c := newClient(t, func(s *Settings) {
		s.Stderr = &messages
		if err := s.Environment(func(name string) string { return map[string]string{"GEMU_PLAIN": "1"}[name] }); err != nil {
			t.Fatal(err)
		}
	})
	c.d.message("lanes 0-3,7 → 4×4 …")
	if want := "gemu: lanes 0 to 3 and 7 -> 4x4 ...\n"; messages.String() != want {
		t.Errorf("got %q, want %q", messages.String(), want)
	}
	var s Settings
	if err := s.Environment(func(name string) string { return map[string]string{"GEMU_PLAIN": "often"}[name] }); err == nil || err.Error() != "GEMU_PLAIN=often: want 0 or 1" {
		t.Errorf("GEMU_PLAIN=often: %v", err)
	}
}

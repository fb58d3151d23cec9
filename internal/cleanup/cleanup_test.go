package cleanup

import (
	"os"
	"testing"
)

// TestActionsRunAtExit: actions that were not removed run.
func TestActionsRunAtExit(t *testing.T) {
	parent := t.TempDir()
	exists := func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	}
	left, _, err := Dir(parent, "left-*")
	if err != nil {
		t.Fatal(err)
	}
	removed, remove, err := Dir(parent, "removed-*")
	if err != nil {
		t.Fatal(err)
	}
	if remove(); exists(removed) {
		t.Error("a removed directory is there")
	}
	ran := 0
	Add(func() { ran++ })
	forget := Add(func() { ran += 10 })
	forget()
	mu.Lock()
	run()
	mu.Unlock()
	if ran != 1 || exists(left) {
		t.Errorf("actions ran for %d, want 1; the directory is there: %v", ran, exists(left))
	}
}

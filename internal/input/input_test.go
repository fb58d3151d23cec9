package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadFileUpToLimit shows that a file is read up to a limit, and that a longer file is refused.
func TestReadFileUpToLimit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	text := strings.Repeat("x", 1<<20)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(t.Context(), name, 1<<20); err != nil || string(b) != text {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := ReadFile(t.Context(), name, 1<<20-1); err == nil || err.Error() != "more than 0 MiB" {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := ReadFile(t.Context(), name+"0", 1); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

// TestReadMoreThanStated reads files that are longer than their stated size, and files without an end.
func TestReadMoreThanStated(t *testing.T) {
	if b, err := Read(strings.NewReader("four"), 4, 1); err != nil || string(b) != "four" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(endless{}, 4<<20, 0); err == nil || err.Error() != "more than 4 MiB" {
		t.Errorf("without end: %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

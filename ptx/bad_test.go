package ptx

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var expectation = regexp.MustCompile(`// ERROR "((?:[^"\\]|\\.)+)"`)

// TestErrorsOnMarkedLines parses every file of testdata/bad. Problems must be reported on exactly the lines marked with
// ERROR comments.
func TestErrorsOnMarkedLines(t *testing.T) {
	files, err := filepath.Glob("../testdata/bad/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int]string{}
			for i, line := range strings.Split(string(src), "\n") {
				if m := expectation.FindStringSubmatch(line); m != nil {
					want[i+1] = strings.ReplaceAll(m[1], `\"`, `"`)
				}
			}
			_, err = Parse(filepath.Base(file), src)
			list, _ := err.(ErrorList)
			seen := map[int]bool{}
			for _, e := range list {
				n := int(e.Pos.Line)
				seen[n] = true
				text, ok := want[n]
				switch {
				case !ok:
					t.Errorf("unexpected error: %v", e)
				case !strings.Contains(e.Error(), text):
					t.Errorf("line %d: got %q, want %q", n, e.Error(), text)
				}
			}
			for n, text := range want {
				if !seen[n] {
					t.Errorf("line %d: no error %q", n, text)
				}
			}
		})
	}
}

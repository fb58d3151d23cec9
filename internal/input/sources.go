package input

import (
	"os"
	"path/filepath"
	"strings"
)

// Sources reads the files that PTX was made of, which its .file directives name.
type Sources struct {
	dir   string // of the PTX
	files map[string][]string
}

// NewSources makes one for a PTX file.
func NewSources(ptx string) *Sources {
	return &Sources{dir: filepath.Dir(ptx), files: map[string][]string{}}
}

// Path is where a file is: where the PTX says, or beside it.
func (s *Sources) Path(name string) string {
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) {
		return name
	}
	beside := filepath.Join(s.dir, name)
	if _, err := os.Stat(beside); err != nil {
		return name
	}
	return beside
}

// Lines are those of a file; none if it cannot be had.
func (s *Sources) Lines(name string) []string {
	lines, ok := s.files[name]
	if !ok {
		if b, err := ReadFile(s.Path(name), MaxText); err == nil {
			lines = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		}
		s.files[name] = lines
	}
	return lines
}

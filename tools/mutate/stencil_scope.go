package main

// This file reads the families of stencils of a scope.

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stencilFamily is a line of a scope of stencils: the name of a family, and the patterns of its stencils.
type stencilFamily struct {
	name     string
	patterns []string
}

// readFamilies reads the families of a scope of stencils. A # begins a comment.
func readFamilies(name string) (list []stencilFamily, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for n := 1; s.Scan(); n++ {
		text, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 {
			return nil, fmt.Errorf("%s:%d: a family must have a name and patterns of stencils, but there is only %q", name, n, words[0])
		}
		for _, w := range words[1:] {
			if _, err := filepath.Match(w, ""); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", name, n, w, err)
			}
		}
		list = append(list, stencilFamily{words[0], words[1:]})
	}
	return list, s.Err()
}

// has reports whether a stencil belongs to the family.
func (f *stencilFamily) has(stencil string) bool {
	for _, p := range f.patterns {
		if matches(p, stencil) {
			return true
		}
	}
	return false
}

// assignFamilies sets the families of stencils, and returns the stencils that have one: the first family that has the
// stencil. A pattern that matches none of the names is an error.
func assignFamilies(families []stencilFamily, lines []*stencilLine, names []string) (assigned []*stencilLine, err error) {
	for _, f := range families {
		for _, p := range f.patterns {
			if !matchesAny(p, names) {
				return nil, fmt.Errorf("no stencil matches %s, a pattern of family %s", p, f.name)
			}
		}
	}
	for _, l := range lines {
		for i := range families {
			if families[i].has(l.name) {
				l.family = families[i].name
				assigned = append(assigned, l)
				break
			}
		}
	}
	return assigned, nil
}

// matches reports whether a name matches a pattern.
func matches(pattern, name string) bool {
	ok, err := filepath.Match(pattern, name)
	return ok && err == nil
}

// matchesAny reports whether one of the names matches a pattern.
func matchesAny(pattern string, names []string) bool {
	for _, n := range names {
		if matches(pattern, n) {
			return true
		}
	}
	return false
}

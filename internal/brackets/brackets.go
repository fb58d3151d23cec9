// Package brackets splits texts at what stands outside brackets.
package brackets

import "strings"

// Cut is strings.Cut at the first separator that is outside of (), [], {} and <>.
func Cut(s, sep string) (before, after string, found bool) {
	depth := 0
	for i := range len(s) {
		switch {
		case strings.IndexByte("([{<", s[i]) >= 0:
			depth++
		case strings.IndexByte(")]}>", s[i]) >= 0:
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], sep):
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

// Split is strings.Split at those separators.
func Split(s, sep string) []string {
	var list []string
	for {
		before, after, found := Cut(s, sep)
		list = append(list, before)
		if !found {
			return list
		}
		s = after
	}
}

// Fields are the parts between commas, without the space around them and without empty ones.
func Fields(s string) []string {
	var list []string
	for _, part := range Split(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

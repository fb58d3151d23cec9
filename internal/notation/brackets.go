package notation

import (
	"errors"
	"strings"
)

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

// Split is strings.Split at the separators outside of brackets.
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

// Fields are the parts between commas, without the space around them; empty parts are left out.
func Fields(s string) []string {
	var list []string
	for _, part := range Split(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// Field is a part of a text between commas.
type Field struct {
	Text   string
	Offset int // in the text, in bytes
}

// FieldsAt is Fields with the places of the parts.
func FieldsAt(s string) (list []Field) {
	offset := 0
	for _, part := range Split(s, ",") {
		if text := strings.TrimSpace(part); text != "" {
			list = append(list, Field{text, offset + strings.Index(part, text)})
		}
		offset += len(part) + len(",")
	}
	return list
}

// Error is an error at a place of a text.
type Error struct {
	Offset int // in the text, in bytes
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its place.
func (e *Error) Unwrap() error { return e.Err }

// At gives an error of a part of a text its place in the text: the error's place in the part, or the beginning of the part.
// The part begins at offset. It returns nil for nil.
func At(offset int, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		offset += e.Offset
	}
	return &Error{offset, err}
}

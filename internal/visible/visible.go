// Package visible makes control characters visible in text for a terminal. A file name, a source line or the output of
// a kernel may contain escape sequences that move the cursor, rewrite lines or make the terminal send input.
//
// A character that is not graphic (Unicode categories L, M, N, P, S and Zs), except newline and tab, is written as a Go
// escape: \x1b, \u202e. So is a byte that is not UTF-8. A carriage return is kept only before a newline.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns the text with its control characters made visible.
func Text(s string) string {
	if isVisible(s) {
		return s
	}
	b, pending := appendVisible(nil, []byte(s), nil)
	return string(appendBytes(b, pending))
}

// isVisible reports whether Text would not change the text.
func isVisible(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !isShown(r) {
			return false
		}
	}
	return true
}

// isShown reports whether a character is written unchanged.
func isShown(r rune) bool { return r == '\n' || r == '\t' || unicode.IsGraphic(r) }

// appendVisible appends the visible form of text to b. pending is the end of text if its form depends on the following
// text: an incomplete character, an incomplete sequence of keep, or a carriage return.
func appendVisible(b, text []byte, keep []string) (out, pending []byte) {
	for len(text) > 0 {
		if text[0] == 0x1b {
			n, incomplete := allowedPrefix(text, keep)
			if incomplete {
				return b, text
			}
			if n > 0 {
				b, text = append(b, text[:n]...), text[n:]
				continue
			}
		}
		if !utf8.FullRune(text) || len(text) == 1 && text[0] == '\r' {
			return b, text
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			b = appendBytes(b, text[:1])
		case isShown(r), r == '\r' && text[1] == '\n':
			b = append(b, text[:n]...)
		case r < utf8.RuneSelf:
			b = appendBytes(b, text[:1])
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		text = text[n:]
	}
	return b, nil
}

// allowedPrefix returns the length of the sequence of keep at the beginning of text. incomplete reports whether more
// text may complete the sequence.
func allowedPrefix(text []byte, keep []string) (n int, incomplete bool) {
	for _, k := range keep {
		switch {
		case len(text) >= len(k) && string(text[:len(k)]) == k:
			return len(k), false
		case strings.HasPrefix(k, string(text)):
			incomplete = true
		}
	}
	return 0, incomplete
}

// appendBytes appends bytes as escapes.
func appendBytes(b, text []byte) []byte {
	for _, c := range text {
		b = fmt.Appendf(b, `\x%02x`, c)
	}
	return b
}

// Writer makes control characters visible and writes the result to another writer.
type Writer struct {
	w       io.Writer
	allowed []string
	pending []byte // not written yet: its form depends on the following text
}

// NewWriter makes a Writer that writes to dst. The escape sequences in keep are written unchanged. Close writes the end
// of a text that ends within a character.
func NewWriter(dst io.Writer, keep ...string) *Writer { return &Writer{w: dst, allowed: keep} }

// Write writes text. The error comes from the underlying writer.
func (w *Writer) Write(text []byte) (int, error) {
	out, pending := appendVisible(make([]byte, 0, len(w.pending)+len(text)), append(w.pending, text...), w.allowed)
	w.pending = append([]byte(nil), pending...)
	if len(out) == 0 {
		return len(text), nil
	}
	if _, err := w.w.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close writes the pending text. It does not close the underlying writer.
func (w *Writer) Close() error {
	if len(w.pending) == 0 {
		return nil
	}
	_, err := w.w.Write(appendBytes(nil, w.pending))
	w.pending = nil
	return err
}

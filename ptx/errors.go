package ptx

import (
	"fmt"
	"strings"
)

// Error is a problem that makes a source invalid PTX. Its one-line form is "file:line:col: message".
type Error struct {
	File string // name given to Parse
	Pos  Pos    // place of the problem in the source
	Msg  string // the problem, without its place
	Hint string // the probably intended word, "" if unknown
	Line string // text of the source line at Pos; "" if the source has no such line
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%s: %s", e.File, e.Pos, e.Msg)
	if e.Hint != "" {
		s += fmt.Sprintf(" (did you mean %s?)", e.Hint)
	}
	return s
}

// Snippet returns the source line with a caret under the column, as two lines.
func (e *Error) Snippet() string { return Snippet(e.Line, e.Pos) }

// Snippet returns a source line with its number and a caret under the column of pos, as two lines; "" if line is empty.
func Snippet(line string, pos Pos) string {
	if line == "" {
		return ""
	}
	line = printable(line)
	pad := make([]byte, 0, len(line))
	for i := 0; i < int(pos.Col)-1 && i < len(line); i++ {
		if line[i] == '\t' {
			pad = append(pad, '\t')
		} else {
			pad = append(pad, ' ')
		}
	}
	return fmt.Sprintf("%5d | %s\n      | %s^", pos.Line, line, pad)
}

// printable makes a line fit to print: bytes outside printable ASCII become "?", and a long line is cut. Columns stay
// the same.
func printable(line string) string {
	const most = 300
	b := []byte(line)
	if len(b) > most {
		b = b[:most]
	}
	for i, c := range b {
		if c < ' ' && c != '\t' || c >= 0x7f {
			b[i] = '?'
		}
	}
	return string(b)
}

// ErrorList contains all problems found in a source, ordered by place.
type ErrorList []*Error

// Error returns the first problem and the number of further problems.
func (l ErrorList) Error() string {
	switch len(l) {
	case 0:
		return "no errors"
	case 1:
		return l[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", l[0], len(l)-1)
}

// Unsupported is legal PTX that gemu does not run. Preparing a kernel for a launch fails with this error if the kernel
// uses it; the module's remaining kernels run.
type Unsupported struct {
	File    string // name of the module, as given to Parse
	Pos     Pos    // place of the instruction or declaration
	Feature string // name of the instruction or feature, as in messages
	Why     string // the reason, as a sentence without its full stop; may be ""
	Line    string // text of the source line at Pos
	Kernel  string // name of the kernel that cannot run; the place may be in a function that it calls
}

func (e *Unsupported) Error() string {
	msg := fmt.Sprintf("%s:%s: kernel %s: %s is legal PTX that gemu does not run", e.File, e.Pos, e.Kernel, e.Feature)
	if e.Why != "" {
		msg += ": " + e.Why
	}
	return msg
}

// Snippet returns the source line with a caret under the column, as two lines.
func (e *Unsupported) Snippet() string { return Snippet(e.Line, e.Pos) }

// sourceLine returns line n of src, from 1.
func sourceLine(src string, n int) string {
	for ; n > 1; n-- {
		i := strings.IndexByte(src, '\n')
		if i < 0 {
			return ""
		}
		src = src[i+1:]
	}
	line, _, _ := strings.Cut(src, "\n")
	return strings.TrimSuffix(line, "\r")
}

package argument

import (
	"errors"
	"fmt"
	"strings"

	"gemu/internal/notation"
	"gemu/ptx"
)

// Error is the error of an argument that is invalid, does not fit its parameter, or cannot be made.
type Error struct {
	Text   string   // the argument as written
	Offset int      // offset in Text of the invalid part, in bytes; 0 if the error concerns the whole argument
	Index  int      // index of the kernel's argument, from 0; -1 for a text that belongs to no kernel
	Param  *ptx.Var // the kernel parameter; nil if Index is -1
	Err    error    // the cause
}

// Error names the argument, unless Index is -1, and the cause.
func (e *Error) Error() string {
	if e.Param == nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("argument %d (%s %s) %q: %v", e.Index, e.Param.Type, e.Param.Name, e.Text, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Snippet returns Text and, in a second line, a caret under the byte at Offset. It is empty if the error concerns the whole
// argument.
func (e *Error) Snippet() string {
	if e.Offset <= 0 || e.Offset > len(e.Text) {
		return ""
	}
	return "   " + e.Text + "\n   " + strings.Repeat(" ", len([]rune(e.Text[:e.Offset]))) + "^"
}

// CountError is the error of a list with more or fewer arguments than the kernel has parameters.
type CountError struct {
	Kernel *ptx.Func // kernel with its parameters
	Given  int       // number of arguments
}

// Error lists the parameters.
func (e *CountError) Error() string {
	n, plural := len(e.Kernel.Params), "s"
	if n == 1 {
		plural = ""
	}
	s := fmt.Sprintf("kernel %s has %d parameter%s, %d given", e.Kernel.Name, n, plural, e.Given)
	for i, p := range e.Kernel.Params {
		s += fmt.Sprintf("\n   %d: %s %s", i, p.Type, p.Name)
		if len(p.Dims) > 0 {
			s += fmt.Sprintf("[%d]", p.Size()/p.ElemSize())
		}
	}
	return s
}

// at adds the offset of the invalid part, in bytes, to an error; locate makes an *Error of it.
func at(offset int, err error) error { return notation.At(offset, err) }

// locate returns err, the error of parsing or making the argument text, as an *Error. It returns nil for nil.
func locate(text string, err error) error {
	if _, ok := err.(*Error); ok || err == nil {
		return err
	}
	e := &Error{Text: text, Index: -1, Err: err}
	var placed *notation.Error
	if errors.As(err, &placed) {
		e.Offset = placed.Offset
	}
	return e
}

//go:build !linux || !(amd64 || arm64)

package native

import (
	"unsafe"

	"gemu/regfile"
)

// levels has one level without tables: this host has no stencils.
var levels = []*Level{{Name: "none"}}

// host stands for the encoding of instructions, which this host does not need.
var host = &amd64

// Supported reports false: there are no stencils for this host.
func Supported() bool { return false }

// text stands for machine code. Its memory is always nil.
type text struct{ memory []byte }

// Executable returns nil: there is no machine code to execute.
func Executable() error { return nil }

func newText([]byte) *text { return &text{} }

func (*text) address(int32) unsafe.Pointer { panic("BUG: no machine code on this host") }

func (c *Code) run(*Context, *regfile.File, *body, int32) { panic("BUG: no machine code on this host") }

//go:build !linux || !(amd64 || arm64)

package native

import (
	"unsafe"

	"gemu/regfile"
)

// levels are those of the stencils of this host: there are none.
var levels = []*Level{{Name: "none"}}

// host is how their instructions would be encoded.
var host = &amd64

// Supported reports whether this host has what the stencils are compiled for.
func Supported() bool { return false }

// text is machine code.
type text struct{ memory []byte }

// Executable: there is no machine code to execute.
func Executable() error { return nil }

func newText([]byte) *text { return &text{} }

func (*text) address(int32) unsafe.Pointer { panic("BUG: no machine code on this host") }

func (c *Code) run(*Context, *regfile.File, *body, int32) { panic("BUG: no machine code on this host") }

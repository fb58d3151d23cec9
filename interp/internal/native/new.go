//go:build !js

package native

import "gemu/interp/internal/code"

// New returns the machine code of a program, from the stencils of this host's library. The program's constants must be laid
// out.
func New(p *code.Program) *Code { return HostLibrary().New(p) }

//go:build linux && (amd64 || arm64)

package native

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"
)

// TestEnter: what native code takes of the stack is of the entry's frame, for which Go has made room: it begins less than
// the frame's size, and what a stencil may not take of it, below the frame of who enters.
func TestEnter(t *testing.T) {
	machine := map[string][]byte{
		"amd64": {0x49, 0x89, 0x24, 0x24, 0xc3}, // movq %rsp, (%r12); ret
		"arm64": binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil,
			0x910003e9), 0xf9000289), 0xd65f03c0), // mov x9, sp; str x9, [x20]; ret
	}[runtime.GOARCH]
	text := newText(machine)
	if text.memory == nil {
		t.Skip("this host gives no memory for machine code")
	}
	var ctx Context
	enter(text.at(0), &ctx)
	here := uintptr(unsafe.Pointer(&ctx))
	const frame, bound = 1552, 1024
	if below := here - uintptr(ctx.Count); below > frame-bound {
		t.Errorf("it begins %d bytes below the frame of who enters it, want %d at most", below, frame-bound)
	}
	runtime.KeepAlive(text)
}

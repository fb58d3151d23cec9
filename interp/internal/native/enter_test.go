//go:build linux && (amd64 || arm64)

package native

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// TestEnter checks that machine code uses only the entry function's stack frame, for which Go has made room: the stack pointer is
// at most the frame's size, less the part that stencils must not use, below the caller's frame.
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
	enter(text.address(0), &ctx)
	here := uintptr(unsafe.Pointer(&ctx))
	const frame, bound = 1552, 1024
	if below := here - uintptr(ctx.Count); below > frame-bound {
		t.Errorf("it begins %d bytes below the frame of who enters it, want %d at most", below, frame-bound)
	}
	runtime.KeepAlive(text)
}

// TestUnmapped checks that the memory of machine code is unmapped when the code is collected.
func TestUnmapped(t *testing.T) {
	const pieces, size = 64, 1 << 20
	mapped := func() (n int) {
		list, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		for line := range strings.Lines(string(list)) {
			var from, to uint64
			var may string
			if fmt.Sscanf(line, "%x-%x %s", &from, &to, &may); strings.Contains(may, "x") {
				n += int(to - from)
			}
		}
		return n
	}
	if newText(make([]byte, size)).memory == nil {
		t.Skip("this host gives no memory for machine code")
	}
	runtime.GC() // collect the code of other tests
	before := mapped()
	list := make([]*text, pieces)
	for i := range list {
		list[i] = newText(make([]byte, size))
	}
	if grown := mapped() - before; grown < pieces/2*size {
		t.Errorf("%d bytes of machine code are in %d", pieces*size, grown)
	}
	runtime.KeepAlive(list)
	clear(list)
	for end := time.Now().Add(10 * time.Second); mapped()-before > size; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d bytes are kept of machine code that nobody has", mapped()-before)
		}
	}
}

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
	enter(text.address(0), &ctx)
	here := uintptr(unsafe.Pointer(&ctx))
	const frame, bound = 1552, 1024
	if below := here - uintptr(ctx.Count); below > frame-bound {
		t.Errorf("it begins %d bytes below the frame of who enters it, want %d at most", below, frame-bound)
	}
	runtime.KeepAlive(text)
}

// TestUnmapped: memory of machine code goes with it.
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
	runtime.GC() // of what other tests have had
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

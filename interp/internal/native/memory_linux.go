//go:build amd64 || arm64

package native

// This file places machine code in executable memory and enters it.

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"gemu/regfile"
)

// text is machine code. Its memory is unmapped when the text is collected.
type text struct {
	memory []byte // nil: the host gives no executable memory
}

// Executable returns an error if the host forbids the execution of memory written by the process, as on hardened systems
// and in sandboxes. Machine code does not run there.
var Executable = sync.OnceValue(func() error {
	memory, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(memory)
	return unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC)
})

// newText copies code into executable memory, if there is any code. The memory is no longer writable.
func newText(machine []byte) *text {
	if len(machine) == 0 {
		return &text{}
	}
	memory, err := unix.Mmap(-1, 0, len(machine), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return &text{}
	}
	copy(memory, machine)
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		unix.Munmap(memory)
		return &text{}
	}
	syncInstructionCache(memory)
	t := &text{memory}
	runtime.AddCleanup(t, func(m []byte) {
		forgetText(m)
		unix.Munmap(m)
	}, memory)
	return t
}

// address returns the address of a place: an offset in bytes.
func (t *text) address(place int32) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.memory)), place)
}

//go:noescape
func enter(code unsafe.Pointer, c *Context)

// run enters the code at a place and returns after its exit.
func (c *Code) run(ctx *Context, f *regfile.File, b *body, place int32) {
	c.FillContext(ctx, f)
	enter(b.text.address(place), ctx)
	runtime.KeepAlive(c)
	runtime.KeepAlive(b)
}

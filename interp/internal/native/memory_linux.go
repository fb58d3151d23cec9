//go:build amd64 || arm64

package native

// This file has machine code in memory that the host executes, and executes it.

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"gemu/regfile"
)

// text is machine code. Its memory goes with it.
type text struct {
	memory []byte // nil: the host gives none that it would execute
}

// Executable returns an error if the host does not let the process execute memory that it has written: hardened systems and
// sandboxes do not. Machine code does not run there.
var Executable = sync.OnceValue(func() error {
	memory, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(memory)
	return unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC)
})

// newText makes code executable, if there is any. From then on it cannot be written.
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
	runtime.AddCleanup(t, func(m []byte) { unix.Munmap(m) }, memory)
	return t
}

// address is the address of a place.
func (t *text) address(place int32) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.memory)), place)
}

//go:noescape
func enter(code unsafe.Pointer, c *Context)

// run executes from a place of the code on, until native code comes back.
func (c *Code) run(ctx *Context, f *regfile.File, b *body, place int32) {
	c.FillContext(ctx, f)
	enter(b.text.address(place), ctx)
	runtime.KeepAlive(c)
	runtime.KeepAlive(b)
}

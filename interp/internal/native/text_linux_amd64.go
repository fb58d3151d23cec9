package native

// This file has machine code in memory that the host executes.

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// text is machine code. Its memory goes with it.
type text struct {
	memory []byte // nil: the host gives none that it would execute
}

// newText makes code executable. From then on it cannot be written.
func newText(machine []byte) *text {
	memory, err := unix.Mmap(-1, 0, max(len(machine), 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return &text{}
	}
	copy(memory, machine)
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		unix.Munmap(memory)
		return &text{}
	}
	t := &text{memory}
	runtime.AddCleanup(t, func(m []byte) { unix.Munmap(m) }, memory)
	return t
}

// at is the address of a place.
func (t *text) at(place int32) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.memory)), place)
}

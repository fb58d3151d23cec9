package driver

import (
	"runtime"
	"sync"
	"unsafe"
)

// ClientMemory is memory that a client is given to read for as long as something of the driver's lasts. The
// driver keeps the loan with what it is of; who gives the memory to the client says how it is made.
type ClientMemory struct {
	once    sync.Once
	pointer unsafe.Pointer
}

// Allocate is what is lent. It is made when it is first asked for, outside of Go's memory, and freed
// some time after what it is of has gone.
func (l *ClientMemory) Allocate(create func() unsafe.Pointer, free func(unsafe.Pointer)) unsafe.Pointer {
	l.once.Do(func() {
		l.pointer = create()
		runtime.AddCleanup(l, free, l.pointer)
	})
	return l.pointer
}

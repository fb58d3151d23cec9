//go:build unix

package hostfault

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// TestCatchFaults shows that a fault is returned with its address, and that other panics pass.
func TestCatchFaults(t *testing.T) {
	p, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(p)
	if addr, faulted := Catch(func() { p[8] = 1 }); !faulted || addr != uint64(uintptr(unsafe.Pointer(&p[8]))) {
		t.Errorf("a store to memory that is read-only: %#x, %v", addr, faulted)
	}
	ran := false
	if _, faulted := Catch(func() { ran = p[8] == 0 }); faulted || !ran {
		t.Errorf("a load from it: faulted %v, ran %v", faulted, ran)
	}
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("another panic came out as %v", r)
		}
	}()
	Catch(func() { panic("mine") })
	t.Error("another panic was caught")
}

//go:build unix

package driver

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"gemu/driver/internal/sharedmem"
)

// The trap of an access to missing or read-only memory names the instruction and the lanes.
func TestHostFault(t *testing.T) {
	d := New(DefaultSettings())
	defer d.Close()
	page := uint64(os.Getpagesize())
	mem := pagesOf(t, max(2*page, sharedmem.SmallBlock+1))
	at := address(pointerTo(mem)) + page
	for prot, want := range map[int][]string{
		syscall.PROT_NONE: {"out-of-bounds access", "ld.global.u32 %r4", "warp 0", "(1 of 32 active lanes), first thread (16,0,0)"},
		syscall.PROT_READ: {"store to read-only memory", "14:52", "(1 of 32 active lanes), first thread (16,0,0)"},
	} {
		if err := syscall.Mprotect(mem[page:2*page], prot); err != nil {
			t.Fatal(err)
		}
		err := d.RunHost(hostLaunch(32, at-64, 1)) // the first 16 lanes have memory
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("no %q in %v", part, err)
			}
		}
	}
}

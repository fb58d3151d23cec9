package hostmem

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                                                uint32
	totalPhys, availPhys, totalPageFile, availPageFile, totalVirtual, availVirt uint64
	availExtended                                                               uint64
}

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// systemLimits returns the physical memory and the commit limit.
func systemLimits() []Limit {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return nil
	}
	return []Limit{{Bytes: s.totalPhys, Name: "physical memory"}, {Bytes: s.totalPageFile, Name: "the commit limit", mapped: true}}
}

// used returns Go's memory: memory outside its heap counts when it is touched.
func used() (mapped, touched uint64) {
	n, _ := goMemory()
	return n, n
}

// reserve commits memory: the system guarantees it, and provides it when it is touched.
func reserve(size uint64) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), size), nil
}

func release(b []byte) {
	if err := windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE); err != nil {
		panic("BUG: VirtualFree: " + err.Error())
	}
}

func zero(b []byte) { ZeroTouched(b) }

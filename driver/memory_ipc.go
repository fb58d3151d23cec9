package driver

// This file implements memory shared between processes of a machine by handles (driver API, "Memory Management",
// cuIpc…). A plain allocation becomes a file without a name when its handle is first requested. A handle holds a
// process and its descriptor of the file; the opening process finds the descriptor in /proc.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"gemu/driver/internal/sharedmem"
)

// Names of the files in memory, by use: a file of one use is never taken for a file of another.
const (
	createdFile    = "gemu-memory"
	allocationFile = "gemu-allocation"
	poolFile       = "gemu-pool"
	eventFile      = "gemu-event"
)

// IPCHandle is a CUipcMemHandle or a CUipcEventHandle.
type IPCHandle [64]byte

// origin is the content of a handle: the place of a file in another process.
type origin struct {
	PID     int32
	FD      int32
	Started uint64 // start time of the process; see sharedmem.ProcessStart
	File    uint64 // see sharedmem.FileID
	Size    uint64 // size of the allocation, in bytes
	Addr    uint64 // address of the allocation in its process
	Device  int32  // ordinal in its process
	Kind    [12]byte
}

// The kinds of handle.
var (
	memoryHandle = [12]byte([]byte("gemu memory "))
	eventHandle  = [12]byte([]byte("gemu event  "))
)

// errNoProcesses is the error of all calls on systems where processes cannot share memory.
var errNoProcesses = fail(NotSupported, "sharing between processes, which works on Linux only")

// ownStart is sharedmem.ProcessStart for this process.
var ownStart = sync.OnceValues(func() (uint64, error) { return sharedmem.ProcessStart(os.Getpid()) })

// handle completes o with the place of a file of this process, and returns it as a handle.
func (o *origin) handle(file *os.File) (h IPCHandle, err error) {
	o.PID, o.FD = int32(os.Getpid()), int32(file.Fd())
	if o.Started, err = ownStart(); err == nil {
		o.File, err = sharedmem.FileID(file)
	}
	if err == nil {
		_, err = binary.Encode(h[:], binary.LittleEndian, o)
	}
	if err != nil {
		return h, fail(OperatingSystem, "%v", err)
	}
	return h, nil
}

// origin decodes a handle of a kind.
func (h *IPCHandle) origin(kind [12]byte) (o origin, err error) {
	if _, err := binary.Decode(h[:], binary.LittleEndian, &o); err != nil || o.Kind != kind {
		return o, fail(InvalidHandle, "the handle, %x…, is not a handle of %sfrom gemu", h[:8], bytes.TrimPrefix(kind[:], []byte("gemu ")))
	}
	return o, nil
}

// sameProcess reports whether both files belong to the same device of the same process.
func (o *origin) sameProcess(other *origin) bool {
	return o.PID == other.PID && o.Started == other.Started && o.Device == other.Device
}

// open opens the file, if it still exists.
func (o *origin) open(name string) (*os.File, uint64, error) {
	started, err := sharedmem.ProcessStart(int(o.PID))
	switch {
	case err != nil || started != o.Started:
		return nil, 0, fail(InvalidHandle, "process %d, which exported the handle, has ended", o.PID)
	case int(o.PID) == os.Getpid():
		return nil, 0, fail(InvalidContext, "the handle was exported by this process: open it in another process")
	}
	file, size, err := sharedmem.OpenFromProcess(int(o.PID), int(o.FD), name)
	if err != nil {
		return nil, 0, fail(InvalidHandle, "the memory or event of the handle of process %d was freed: %v", o.PID, err)
	}
	if id, err := sharedmem.FileID(file); err != nil || id != o.File {
		file.Close()
		return nil, 0, fail(InvalidHandle, "the memory or event of the handle of process %d was freed", o.PID)
	}
	return file, size, nil
}

// openedMemory is memory of another process.
type openedMemory struct {
	origin origin
	times  int // number of opens less number of closes
}

// isPlain reports whether the region is memory of cuMemAlloc: only such memory has handles.
func (r *region) isPlain() bool { return r.kind == deviceRegion && r.pool == nil && r.graph == nil }

// plainAllocation returns the plain allocation at an address. The caller must hold d.mu.
func (d *Driver) plainAllocation(addr uint64) (*region, error) {
	r := d.regions.find(addr)
	switch {
	case !sharedmem.Supported:
		return nil, errNoProcesses
	case r == nil || !r.isPlain():
		return nil, fail(InvalidValue, "%#x is not in memory of cuMemAlloc: no other memory has handles of this kind", addr)
	}
	return r, nil
}

// IPCGetMemHandle is cuIpcGetMemHandle: it returns the handle of the allocation at an address. The first call for an
// allocation waits for all work.
func (t *Thread) IPCGetMemHandle(addr uint64) (h IPCHandle, err error) {
	if _, err = t.enter(); err != nil {
		return h, err
	}
	d := t.d
	defer d.mu.Unlock()
	r, err := d.plainAllocation(addr)
	if err != nil {
		return h, err
	}
	file := d.pages.File(r.data)
	if file == nil {
		defer d.resume(d.pause())
		if r, err = d.plainAllocation(addr); err != nil { // another thread may have freed it
			return h, err
		}
		if file, err = d.pages.Share(r.data, allocationFile); err != nil {
			return h, fail(OutOfMemory, "%v", err)
		}
	}
	o := origin{Kind: memoryHandle, Size: r.size, Addr: r.addr, Device: int32(r.ctx.dev.ordinal)}
	return o.handle(file)
}

// lazyPeerAccess is CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, a flag required in every call.
const lazyPeerAccess = 1

// find returns the region as which memory of another process is open in a context, or nil. It fails if a second context
// of the device has opened memory of the same device of the other process. The caller must hold d.mu.
func (c *Context) find(o *origin) (*region, error) {
	for _, r := range c.dev.d.regions {
		switch {
		case r.opened == nil:
		case r.opened.origin == *o && r.ctx == c:
			return r, nil
		case r.opened.origin.sameProcess(o) && r.ctx != c && r.ctx.dev == c.dev:
			return nil, fail(InvalidContext, "another context of the device has opened memory of process %d", o.PID)
		}
	}
	return nil, nil
}

// IPCOpenMemHandle is cuIpcOpenMemHandle: it returns the address in this process of the start of the other process's
// allocation. If it is open already, the address is the same, and it must be closed as many times as it was opened. The
// memory stays valid in any case, and counts as used there.
func (t *Thread) IPCOpenMemHandle(h IPCHandle, flags uint32) (uint64, error) {
	d := t.d
	d.openMu.Lock()
	defer d.openMu.Unlock()
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	o, err := h.origin(memoryHandle)
	var r *region
	switch {
	case flags != lazyPeerAccess:
		err = fail(InvalidValue, "flags %#x, want CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS", flags)
	case !sharedmem.Supported:
		err = errNoProcesses
	case err == nil:
		r, err = c.find(&o)
	}
	if r != nil {
		r.opened.times++
	}
	if err != nil || r != nil {
		defer d.mu.Unlock()
		if err != nil {
			return 0, err
		}
		return r.addr, nil
	}
	r = &region{size: o.Size, kind: openedRegion, ctx: c, opened: &openedMemory{o, 1}}
	d.mu.Unlock()

	file, size, err := o.open(allocationFile)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if o.Size == 0 || o.Size > size {
		return 0, fail(InvalidHandle, "%d bytes requested of memory with %d", o.Size, size)
	}
	d.mu.Lock()
	r.addr = d.poolAddress(o.Size)
	d.mu.Unlock()
	if err := d.mapRegion(r, file, 0, fmt.Sprintf("memory of process %d (%#x there)", o.PID, o.Addr)); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addRegion(r)
	return r.addr, nil
}

// mapRegion maps a file from an offset on as the memory of a region, at the region's address. The offset must be a
// multiple of the page size. The caller must not hold d.mu.
func (d *Driver) mapRegion(r *region, file *os.File, from uint64, name string) error {
	mem, err := sharedmem.Map(file, from, sharedmem.WholePages(r.size))
	if err != nil {
		return fail(OutOfMemory, "%v", err)
	}
	r.data, r.pages = mem[:r.size:r.size], func() { sharedmem.FreeAddresses(mem) }
	if r.buf, err = d.gpu.Map(r.addr, r.data, name, 0); err != nil { // waits for a running launch
		r.pages()
		return fail(OutOfMemory, "%v", err)
	}
	return nil
}

// IPCCloseMemHandle is cuIpcCloseMemHandle.
func (t *Thread) IPCCloseMemHandle(addr uint64) error {
	return t.release(addr, InvalidValue, func(r *region) bool { return r.opened != nil })
}

// userCount counts the users of a resource. The zero value has no users.
type userCount struct{ n atomic.Int64 }

// add adds a user.
func (u *userCount) add() { u.n.Add(1) }

// release removes a user, and reports whether it was the last.
func (u *userCount) release() bool { return u.n.Add(-1) == 0 }

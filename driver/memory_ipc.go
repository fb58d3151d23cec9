package driver

// This file implements memory shared between processes of a machine by handles (driver API, "Memory Management",
// cuIpc…). An allocation of cuMemAlloc becomes an unnamed file when its handle is first requested. The handle names the
// process and the process's descriptor of the file. The opening process opens the descriptor in /proc.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"gemu/driver/internal/sharedmem"
)

// Names of the unnamed files in memory, for each use. Opening a file checks its name, so that it is not mistaken for a
// file of another use.
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
	Started uint64   // start time of the process; see sharedmem.ProcessStart
	File    uint64   // see sharedmem.FileID
	Size    uint64   // size of the allocation, in bytes
	Addr    uint64   // address of the allocation in its process
	Device  int32    // ordinal of the device in its process
	Kind    [12]byte // memoryHandle or eventHandle
}

// The kinds of handle.
var (
	memoryHandle = [12]byte([]byte("gemu memory "))
	eventHandle  = [12]byte([]byte("gemu event  "))
)

// errNoProcesses is the error of all calls on systems where processes cannot share memory.
var errNoProcesses = fail(NotSupported, "gemu shares memory and events between processes only on Linux")

// ownStart is sharedmem.ProcessStart for this process.
var ownStart = sync.OnceValues(func() (uint64, error) { return sharedmem.ProcessStart(os.Getpid()) })

// handle adds this process and its file to o, and returns o as a handle.
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

// sameDevice reports whether both files belong to the same device of the same process.
func (o *origin) sameDevice(other *origin) bool {
	return o.PID == other.PID && o.Started == other.Started && o.Device == other.Device
}

// open opens the file of a handle. name is the expected name of the file; the result includes its size in bytes. It
// fails if the process has ended, or has freed the memory or event.
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
	times  int // number of calls that opened the memory, less the calls that closed it
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
		return nil, fail(InvalidValue, "%#x is not in memory of cuMemAlloc: only such memory has a handle of this kind", addr)
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

// lazyPeerAccess is CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the flag that IPCOpenMemHandle requires.
const lazyPeerAccess = 1

// findOpened returns the region of an allocation of another process that the context has already opened, or nil. It fails
// if another context of the same device has opened memory of o's process and device. The caller must hold d.mu.
func (c *Context) findOpened(o *origin) (*region, error) {
	for _, r := range c.dev.d.regions {
		switch {
		case r.opened == nil:
		case r.opened.origin == *o && r.ctx == c:
			return r, nil
		case r.opened.origin.sameDevice(o) && r.ctx != c && r.ctx.dev == c.dev:
			return nil, fail(InvalidContext, "another context of the device has opened memory of process %d", o.PID)
		}
	}
	return nil, nil
}

// IPCOpenMemHandle is cuIpcOpenMemHandle: it returns the address at which this process can access the start of another
// process's allocation. Opening the same allocation again returns the same address; each open needs a close. The memory
// stays valid until it is closed, even if the other process frees it or ends. It counts as used only in the other
// process.
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
		r, err = c.findOpened(&o)
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
		return 0, fail(InvalidHandle, "the handle is for %d bytes, but the memory has %d", o.Size, size)
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

// mapRegion maps part of a file as the memory of a region, at the region's address. The part begins at offset, which must
// be a multiple of the page size. name is the region's name in messages. The caller must not hold d.mu.
func (d *Driver) mapRegion(r *region, file *os.File, offset uint64, name string) error {
	mem, err := sharedmem.Map(file, offset, sharedmem.WholePages(r.size))
	if err != nil {
		return fail(OutOfMemory, "%v", err)
	}
	r.data, r.pages = mem[:r.size:r.size], func() { sharedmem.FreeAddresses(mem) }
	if r.buf, err = d.gpu.Map(r.addr, r.data, name, fileMapping(file, offset+r.size)); err != nil { // waits for a running launch
		r.pages()
		return fail(OutOfMemory, "%v", err)
	}
	return nil
}

// IPCCloseMemHandle is cuIpcCloseMemHandle.
func (t *Thread) IPCCloseMemHandle(addr uint64) error {
	return t.release(addr, InvalidValue, "memory of cuIpcOpenMemHandle", func(r *region) bool { return r.opened != nil })
}

// userCount counts the users of a resource. The zero value has no users.
type userCount struct{ n atomic.Int64 }

// add adds a user.
func (u *userCount) add() { u.n.Add(1) }

// release removes a user, and reports whether it was the last.
func (u *userCount) release() bool { return u.n.Add(-1) == 0 }

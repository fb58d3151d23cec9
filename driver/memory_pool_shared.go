package driver

// This file implements memory pools shared by several processes. Such a pool is an unnamed file. Each allocation is a
// range of the file, and no range is used twice. A process that has the file and the range can access the memory.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"gemu/driver/internal/sharedmem"
)

// poolMemory is the file of a pool.
type poolMemory struct {
	file     *os.File
	id       uint64 // see sharedmem.FileID
	imported bool   // the pool belongs to another process; only that process allocates

	userCount // counts the pool itself and each range in use in this process; the last release closes the file

	mu  sync.Mutex
	end uint64 // end of the last range
}

// newPoolMemory makes the memory of a pool from a file, which it owns from then on.
func newPoolMemory(file *os.File, imported bool) (*poolMemory, error) {
	id, err := sharedmem.FileID(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	m := &poolMemory{file: file, id: id, imported: imported}
	m.add()
	return m, nil
}

// allocate is sharedmem.Allocator.Allocate for memory of the pool. offset is the position of the memory in the file, in
// bytes.
func (m *poolMemory) allocate(size uint64) (data []byte, release func(), offset uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := sharedmem.WholePages(size)
	offset = m.end
	if err := m.file.Truncate(int64(offset + n)); err != nil {
		return nil, nil, 0, err
	}
	mem, err := sharedmem.Map(m.file, offset, n)
	if err != nil {
		return nil, nil, 0, err
	}
	m.end += n
	m.add()
	return mem[:size:size], func() {
		sharedmem.FreeAddresses(mem)
		sharedmem.Discard(m.file, offset, n) // in all processes with a mapping
		m.drop()
	}, offset, nil
}

// drop ends a use of the file, and closes the file after the last use.
func (m *poolMemory) drop() {
	if m.release() {
		m.file.Close()
	}
}

// checkOwned returns an error if the pool belongs to another process: only that process can allocate from it.
func (p *Pool) checkOwned() error {
	if p.memory != nil && p.memory.imported {
		return fail(InvalidValue, "the pool belongs to another process, and only that process can allocate from it")
	}
	return nil
}

// handleTypes returns the types of handle that MemPoolExport may make of the pool.
func (p *Pool) handleTypes() HandleTypes {
	if p.memory != nil {
		return FileDescriptor
	}
	return 0
}

// share makes a new pool shareable between processes. The caller must hold d.mu.
func (p *Pool) share(types HandleTypes) error {
	switch {
	case types&^FileDescriptor != 0:
		return unsupportedHandles(types)
	case !sharedmem.Supported:
		return errNoProcesses
	case p.place.kind != deviceRegion:
		return fail(NotSupported, "only a pool of device memory can have shareable handles: create this pool with handle types of 0")
	}
	file, err := sharedmem.Create(poolFile, 0)
	if err == nil {
		p.memory, err = newPoolMemory(file, false)
	}
	if err != nil {
		return fail(OutOfMemory, "%v", err)
	}
	return nil
}

// MemPoolExport is cuMemPoolExportToShareableHandle for file descriptors. The client owns the returned descriptor.
func (d *Driver) MemPoolExport(h Handle, kind HandleTypes, flags uint64) (fd int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	if err == nil {
		err = checkHandleType(kind, flags)
	}
	switch {
	case err != nil:
		return 0, err
	case p.memory == nil:
		return 0, fail(InvalidValue, "the pool was created without handles of type %#x", kind)
	}
	if err := p.checkOwned(); err != nil {
		return 0, err
	}
	if fd, err = sharedmem.Duplicate(int(p.memory.file.Fd())); err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	return fd, nil
}

// MemPoolImport is cuMemPoolImportFromShareableHandle for file descriptors. The client keeps its descriptor. The pool
// is on the device of the current context, or on device 0 if no context is current. Nothing can be allocated from it in
// this process.
func (t *Thread) MemPoolImport(fd int, kind HandleTypes, flags uint64) (Handle, error) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	dev, err := d.device(0)
	if err == nil {
		err = checkHandleType(kind, flags)
	}
	switch {
	case err != nil:
		return 0, err
	case !sharedmem.Supported:
		return 0, errNoProcesses
	}
	if c := t.top(); c != nil {
		dev = c.dev
	}
	file, _, err := sharedmem.Open(poolFile, fd)
	if err != nil {
		return 0, fail(InvalidValue, "%v", err)
	}
	memory, err := newPoolMemory(file, true)
	if err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	p := d.newPool(poolPlace{deviceRegion, dev}, 0)
	p.memory = memory
	return p.handle, nil
}

// PoolPointer is a CUmemPoolPtrExportData.
type PoolPointer [64]byte

// poolRange is the content of a PoolPointer.
type poolRange struct {
	Kind       [12]byte // pointerKind
	PID        int32
	File       uint64 // identifies the file of the pool; see sharedmem.FileID
	From, Size uint64 // offset and size of the range in the file, in bytes
	Addr       uint64 // address in the exporting process
}

// pointerKind marks a PoolPointer of gemu.
var pointerKind = [12]byte([]byte("gemu pointer"))

// MemPoolExportPointer is cuMemPoolExportPointer. addr must be the start of an allocation.
func (d *Driver) MemPoolExportPointer(addr uint64) (data PoolPointer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ready {
		return data, fail(NotInitialized, "cuInit was not called")
	}
	r := d.regions.find(addr)
	if r == nil || r.addr != addr || r.pool == nil || r.pool.memory == nil {
		return data, fail(InvalidValue, "no memory of a pool with shareable handles begins at %#x", addr)
	}
	if err := r.pool.checkOwned(); err != nil {
		return data, err
	}
	_, err = binary.Encode(data[:], binary.LittleEndian, poolRange{pointerKind, int32(os.Getpid()), r.pool.memory.id, r.fileOffset, r.size, r.addr})
	return data, err
}

// MemPoolImportPointer is cuMemPoolImportPointer. Both processes must free the memory, in any order.
func (t *Thread) MemPoolImportPointer(h Handle, data PoolPointer) (uint64, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	d := t.d
	var exported poolRange
	p, err := d.pool(h)
	if err == nil {
		_, err = binary.Decode(data[:], binary.LittleEndian, &exported)
	}
	switch {
	case err != nil:
	case p.memory == nil || !p.memory.imported:
		err = fail(InvalidValue, "the pool was not imported from another process")
	case exported.Kind != pointerKind:
		err = fail(InvalidValue, "the pointer data, %x…, were not exported by gemu", data[:8])
	case exported.File != p.memory.id:
		err = fail(InvalidValue, "pointer %#x of process %d belongs to another pool", exported.Addr, exported.PID)
	}
	if err != nil {
		d.mu.Unlock()
		return 0, err
	}
	memory := p.memory
	memory.add()
	r := &region{size: exported.Size, kind: deviceRegion, ctx: c, pool: p, fileOffset: exported.From}
	d.mu.Unlock()

	info, err := memory.file.Stat()
	switch {
	case err != nil:
		err = fail(OperatingSystem, "%v", err)
	case exported.Size == 0 || exported.From > uint64(info.Size()) || exported.Size > uint64(info.Size())-exported.From:
		err = fail(InvalidValue, "%d bytes at offset %d do not fit a pool of %d bytes", exported.Size, exported.From, info.Size())
	default:
		d.mu.Lock()
		r.addr = d.poolAddress(exported.Size)
		d.mu.Unlock()
		err = d.mapRegion(r, memory.file, exported.From, fmt.Sprintf("memory of a pool of process %d (%#x there)", exported.PID, exported.Addr))
	}
	if err != nil {
		memory.drop()
		return 0, err
	}
	unmap := r.pages
	r.pages = func() {
		unmap()
		memory.drop()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p.count(r.size)
	d.addRegion(r)
	return r.addr, nil
}

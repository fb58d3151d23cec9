package driver

import (
	"testing"

	"gemu/driver/internal/sharedmem"
	"gemu/interp"
)

// onDevice0 has the properties of memory on the first device.
var onDevice0 = MemoryProperties{Type: PinnedMemory, Location: Location{OnDevice, 0}}

// virtualClient makes a client, and skips the test on systems without virtual memory management.
func virtualClient(t *testing.T) *client {
	if !sharedmem.Supported {
		t.Skip("none on this system")
	}
	return newClient(t, nil)
}

func (c *client) access(addr, size uint64, a MemoryAccess) error {
	return c.d.MemSetAccess(addr, size, []MemAccessDesc{{Location{OnDevice, 0}, a}})
}

// Memory is accessible where it is mapped, and not after the unmap. Copies and kernels cross from one mapping to the
// next. Memory that is mapped twice is the same memory.
func TestVirtualMemory(t *testing.T) {
	c := virtualClient(t)
	const size = granularity
	at := must(c.d.MemAddressReserve(4*size, 0, 0, 0))(t)
	if at%granularity != 0 {
		t.Errorf("reserved %#x", at)
	}
	a := must(c.d.MemCreate(size, onDevice0, 0))(t)
	b := must(c.d.MemCreate(size, onDevice0, 0))(t)
	if m := must(object[*Memory](c.d, a))(t); fileMapping(m.file, size) != interp.Permanent {
		t.Error("accesses to created memory may fault, so machine code leaves them to Go")
	}
	if free, total, err := c.MemGetInfo(); err != nil || total-free != 2*size {
		t.Errorf("%d of %d bytes are free, %v", free, total, err)
	}
	c.ok(c.d.MemMap(at, size, 0, a, 0))
	c.ok(c.d.MemMap(at+size, size, 0, b, 0))
	c.ok(c.d.MemMap(at+3*size, size, 0, a, 0)) // a second mapping
	c.want(InvalidValue, "are not inside an allocation", c.Memset(&Fill2D{Dst: at, Value: 7, Size: 4, Width: 1, Height: 1}, 0, false))
	c.ok(c.access(at, 2*size, ReadWrite))
	c.ok(c.access(at+3*size, size, Read))

	border := at + size - 8
	c.write(border, 1, 2, 3, 4)
	c.ok(c.launch("add", 1, 4, border, 10))
	c.expect(border, 11, 12, 13, 14)
	c.expect(at+4*size-8, 11, 12)
	c.want(InvalidValue, "are not inside", c.Memset(&Fill2D{Dst: at + 2*size - 4, Value: 7, Size: 4, Width: 2, Height: 1}, 0, false))

	for _, want := range []struct {
		attribute PointerAttribute
		value     uint64
	}{
		{PointerContext, 0}, {PointerMemoryType, uint64(DevicePlace)}, {PointerDeviceOrdinal, 0}, {PointerMapped, 1},
		{PointerRangeStart, at}, {PointerRangeSize, 4 * size}, {PointerMappingStart, at + 3*size}, {PointerMappingSize, size},
		{PointerAccessFlags, uint64(Read)}, {PointerMemoryBlockID, uint64(a)},
	} {
		if got := must(c.PointerGetAttribute(want.attribute, at+3*size+100))(t); got != want.value {
			t.Errorf("pointer attribute %d is %#x, want %#x", want.attribute, got, want.value)
		}
	}
	for addr, want := range map[uint64]MemoryAccess{at: ReadWrite, at + 3*size: Read} {
		if got := must(c.d.MemGetAccess(Location{OnDevice, 0}, addr))(t); got != want {
			t.Errorf("the access at %#x is %d, want %d", addr, got, want)
		}
	}

	// The memory lives as long as it is mapped; a handle can be retained again.
	c.ok(c.d.MemRelease(a))
	c.want(InvalidValue, "memory from cuMemCreate", c.d.MemRelease(a))
	if again := must(c.d.MemRetainAllocationHandle(at + 100))(t); again != a {
		t.Errorf("the memory is %#x, want %#x", again, a)
	}
	c.ok(c.d.MemRelease(a))
	c.ok(c.d.MemRelease(b))
	c.want(InvalidValue, "whole mappings", c.d.MemUnmap(at, size/2))
	c.want(InvalidValue, "is still mapped", c.d.MemAddressFree(at, 4*size))
	c.ok(c.d.MemUnmap(at, 2*size))
	c.expect(at+4*size-8, 11, 12)
	c.ok(c.d.MemUnmap(at+3*size, size))
	if free, total, err := c.MemGetInfo(); err != nil || free != total {
		t.Errorf("%d of %d bytes are free, %v", free, total, err)
	}

	// New memory at the same addresses is zero.
	z := must(c.d.MemCreate(size, onDevice0, 0))(t)
	c.ok(c.d.MemMap(at, size, 0, z, 0))
	c.ok(c.access(at, size, ReadWrite))
	c.expect(at+size-8, 0, 0)
	c.ok(c.d.MemUnmap(at, size))
	c.ok(c.d.MemRelease(z))
	c.ok(c.launch("add", 1, 1, at, 1))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
	c.ok(c.d.MemAddressFree(at, 4*size))
}

// Read-only memory cannot be written.
func TestVirtualMemoryReadOnly(t *testing.T) {
	c := virtualClient(t)
	at := must(c.d.MemAddressReserve(granularity, 0, 0, 0))(t)
	c.ok(c.d.MemMap(at, granularity, 0, must(c.d.MemCreate(granularity, onDevice0, 0))(t), 0))
	c.ok(c.access(at, granularity, Read))
	c.ok(c.launch("add", 1, 1, at, 1))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
}

// A reservation is at the requested address if that is free.
func TestVirtualAddresses(t *testing.T) {
	c := virtualClient(t)
	a := must(c.d.MemAddressReserve(granularity, 0, 0, 0))(t)
	if b := must(c.d.MemAddressReserve(granularity, 0, a+granularity, 0))(t); b != a+granularity {
		t.Errorf("reserved %#x, want %#x", b, a+granularity)
	}
	if b := must(c.d.MemAddressReserve(granularity, 0, a, 0))(t); b <= a+granularity {
		t.Errorf("reserved %#x twice", b)
	}
	if b := must(c.d.MemAddressReserve(pageGranularity, 1<<30, 0, 0))(t); b%(1<<30) != 0 {
		t.Errorf("reserved %#x, want a multiple of 1 GiB", b)
	}
	c.ok(c.d.MemAddressFree(a, granularity))
	if b := must(c.d.MemAddressReserve(granularity, 0, a, 0))(t); b != a {
		t.Errorf("reserved %#x, want %#x", b, a)
	}
}

// Imported memory is the exported memory.
func TestVirtualMemoryHandle(t *testing.T) {
	c := virtualClient(t)
	p := onDevice0
	p.HandleTypes = FileDescriptor
	memory := must(c.d.MemCreate(granularity, p, 0))(t)
	fd := must(c.d.MemExport(memory, FileDescriptor, 0))(t)
	other := newClient(t, nil)
	imported := must(other.MemImport(fd, FileDescriptor))(t)
	if got := must(other.d.MemGetAllocationProperties(imported))(t); got != p {
		t.Errorf("imported %+v, want %+v", got, p)
	}
	var at [2]uint64
	for i, x := range []struct {
		c *client
		h Handle
	}{{c, memory}, {other, imported}} {
		at[i] = must(x.c.d.MemAddressReserve(granularity, 0, 0, 0))(t)
		x.c.ok(x.c.d.MemMap(at[i], granularity, 0, x.h, 0))
		x.c.ok(x.c.access(at[i], granularity, ReadWrite))
	}
	c.write(at[0], 1, 2, 3)
	other.ok(other.launch("add", 1, 3, at[1], 4))
	other.ok(other.CtxSynchronize(0))
	c.expect(at[0], 5, 6, 7)
	_, err := c.MemImport(0, FileDescriptor)
	c.want(InvalidValue, "not memory that was exported", err)
	plain := must(c.d.MemCreate(granularity, onDevice0, 0))(t)
	_, err = c.d.MemExport(plain, FileDescriptor, 0)
	c.want(InvalidValue, "without handles", err)
}

// TestVirtualMemoryErrors shows the results of invalid reservations, handles and mappings.
func TestVirtualMemoryErrors(t *testing.T) {
	c := virtualClient(t)
	at := must(c.d.MemAddressReserve(granularity, 0, 0, 0))(t)
	memory := must(c.d.MemCreate(granularity, onDevice0, 0))(t)
	for _, bad := range [][3]uint64{{0, 0, 0}, {100, 0, 0}, {granularity, 3, 0}, {granularity, 0, 1}} {
		_, err := c.d.MemAddressReserve(bad[0], bad[1], 0, bad[2])
		c.want(InvalidValue, "", err)
	}
	_, err := c.d.MemAddressReserve(1<<60, 0, 0, 0)
	c.want(OutOfMemory, "", err)
	for _, bad := range []struct {
		result Result
		reason string
		size   uint64
		change func(*MemoryProperties)
	}{
		{InvalidValue, "want a positive multiple of", 4096, func(*MemoryProperties) {}},
		{OutOfMemory, "requested", 1 << 30, func(*MemoryProperties) {}},
		{InvalidValue, "memory type 2", granularity, func(p *MemoryProperties) { p.Type = 2 }},
		{NotSupported, "handles of type 0x8", granularity, func(p *MemoryProperties) { p.HandleTypes = 8 }},
		{NotSupported, "location of type 2", granularity, func(p *MemoryProperties) { p.Location.Type = 2 }},
		{InvalidDevice, "", granularity, func(p *MemoryProperties) { p.Location.ID = 1 }},
		{NotSupported, "usage", granularity, func(p *MemoryProperties) { p.Usage = 1 }},
	} {
		p := onDevice0
		bad.change(&p)
		_, err := c.d.MemCreate(bad.size, p, 0)
		c.want(bad.result, bad.reason, err)
	}
	c.want(InvalidValue, "not reserved", c.d.MemMap(at+granularity, granularity, 0, memory, 0))
	c.want(InvalidValue, "offset", c.d.MemMap(at, granularity, granularity, memory, 0))
	c.want(InvalidValue, "memory from cuMemCreate", c.d.MemMap(at, granularity, 0, 12345, 0))
	c.want(InvalidValue, "not a whole reservation", c.d.MemAddressFree(at, granularity/2))
	c.ok(c.d.MemMap(at, granularity, 0, memory, 0))
	c.want(InvalidValue, "overlap memory that is mapped", c.d.MemMap(at, granularity, 0, memory, 0))
	c.want(InvalidValue, "access 2", c.access(at, granularity, 2))
	c.want(NotSupported, "is not a device", c.d.MemSetAccess(at, granularity, []MemAccessDesc{{Location{2, 0}, Read}}))
	c.want(InvalidValue, "no device or managed memory begins", c.MemFree(at))
}

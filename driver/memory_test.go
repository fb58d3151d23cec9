package driver

// This file tests allocations and stream-ordered memory.

import (
	"strings"
	"testing"
	"unsafe"

	"gemu/driver/internal/sharedmem"
)

// TestAllocateAndCopy shows that allocations, copies and fills change memory and the free bytes as asked, and that
// invalid ranges are refused.
func TestAllocateAndCopy(t *testing.T) {
	c := newClient(t, nil)
	free, total, err := c.MemGetInfo()
	if err != nil || total != 64<<20 {
		t.Fatalf("%d of %d, %v", free, total, err)
	}
	x := c.alloc(1 << 20)
	if now, _, _ := c.MemGetInfo(); now != free-1<<20 {
		t.Errorf("%d bytes are free, %d were", now, free)
	}
	_, err = c.MemAlloc(64 << 20)
	c.want(OutOfMemory, "", err)
	_, err = c.MemAlloc(0)
	c.want(InvalidValue, "", err)
	c.expect(x, 0, 0)
	c.write(x, 1, 2, 3, 4, 5, 6)
	c.ok(c.Memcpy(Place{Kind: DevicePlace, Device: x + 4}, Place{Kind: DevicePlace, Device: x}, 16, 0, false)) // overlaps: behaves like memmove
	c.expect(x, 1, 1, 2, 3, 4, 6)
	c.want(InvalidValue, "are not inside an allocation", c.Memcpy(Place{Kind: DevicePlace, Device: x + 1<<20 - 4}, Place{Kind: DevicePlace, Device: x}, 8, 0, false))
	c.want(InvalidValue, "the host has no memory", c.Memcpy(Place{Kind: DevicePlace, Device: x}, Place{Kind: HostPlace, Host: pointer(1 << 20)}, 8, 0, false))
	if base, size, err := c.MemGetAddressRange(x + 77); err != nil || base != x || size != 1<<20 {
		t.Errorf("%#x, %d, %v", base, size, err)
	}
	c.want(InvalidValue, "", c.MemFree(x+4))
	c.ok(c.MemFree(x))
	c.want(InvalidValue, "", c.MemFree(x))
	if now, _, _ := c.MemGetInfo(); now != free {
		t.Errorf("%d bytes are free, %d were", now, free)
	}
	y, pitch, err := c.MemAllocPitch(100, 3, 4)
	if err != nil || pitch < 100 || pitch%4 != 0 {
		t.Fatalf("pitch %d, %v", pitch, err)
	}
	c.ok(c.Memset(&Fill2D{Dst: y, Pitch: pitch, Value: 0x1234, Size: 2, Width: 3, Height: 2}, 0, false))
	c.expect(y, 0x12341234, 0x1234, 0)
	c.expect(y+pitch, 0x12341234, 0x1234, 0)
	c.expect(y+2*pitch, 0)
	// Two columns of the second and third row, to packed memory.
	c.write(y+pitch+4, 1, 2)
	c.write(y+2*pitch+4, 3, 4)
	var out [4]uint32
	c.ok(c.Memcpy3D(&Copy3D{
		Src:   Side{Place: Place{Kind: DevicePlace, Device: y}, X: 4, Y: 1, Pitch: pitch},
		Dst:   Side{Place: Place{Kind: HostPlace, Host: unsafe.Pointer(&out)}, Pitch: 8},
		Width: 8, Height: 2, Depth: 1,
	}, 0, false))
	if out != [4]uint32{1, 2, 3, 4} {
		t.Errorf("got %v", out)
	}
}

// Memory is aligned for textures (attribute 14), and large allocations are aligned to 2 MiB, the page size of a GPU.
func TestAlignmentOfAllocations(t *testing.T) {
	c := newClient(t, nil)
	texture := must(c.d.DeviceGetAttribute(14, 0))(t)
	for _, size := range []uint64{1, 300, 4096, 1 << 20, 5, 3 << 20} {
		align := uint64(texture)
		if size >= 1<<20 {
			align = 2 << 20
		}
		if x := c.alloc(size); x%align != 0 {
			t.Errorf("%d bytes are at %#x, want a multiple of %d", size, x, align)
		}
	}
}

// Stream-ordered memory is accessible from its allocation to its free, in the order of the stream. The host waits for
// neither.
func TestStreamOrderedMemory(t *testing.T) {
	c := newClient(t, nil)
	if got := must(c.d.DeviceGetAttribute(115, 0))(t); got != 1 {
		t.Errorf("MEMORY_POOLS_SUPPORTED is %d", got)
	}
	pool := must(c.d.MemGetMemPool(Location{OnDevice, 0}, PinnedMemory))(t)
	attribute := func(a PoolAttribute, want uint64) {
		t.Helper()
		if got := must(c.d.MemPoolGetAttribute(pool, a))(t); got != want {
			t.Errorf("attribute %d is %d, want %d", a, got, want)
		}
	}
	free, _, err := c.MemGetInfo()
	c.ok(err)
	s := must(c.StreamCreate(1, 0))(t)
	gate := make(chan struct{})
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() { <-gate }}))
	x := must(c.MemAllocAsync(1000, 0, s))(t)
	y := must(c.MemAllocAsync(3<<20, 0, s))(t)
	if x%512 != 0 || y%(2<<20) != 0 {
		t.Errorf("at %#x and %#x", x, y)
	}
	attribute(PoolUsed, 1000+3<<20)
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, x+996, 7), s))
	word := must(c.MemHostAlloc(4, 0))(t)
	c.ok(c.Memcpy(Place{Kind: HostPlace, Host: word}, Place{Kind: DevicePlace, Device: x + 996}, 4, s, true))
	c.ok(c.MemFreeAsync(x, s))
	if now, _, _ := c.MemGetInfo(); free-now != 3<<20 {
		t.Errorf("%d bytes are in use", free-now)
	}
	attribute(PoolUsed, 3<<20)
	attribute(PoolUsedHigh, 1000+3<<20)
	c.ok(c.d.MemPoolSetAttribute(pool, PoolUsedHigh, 0))
	attribute(PoolUsedHigh, 3<<20)
	c.want(NotReady, "", c.StreamQuery(s))
	close(gate)
	c.ok(c.StreamSynchronize(s))
	if got := *(*uint32)(word); got != 7 {
		t.Errorf("got %d", got)
	}
	c.want(InvalidValue, "", c.MemFreeAsync(x, s))
	c.ok(c.MemFree(y)) // MemFree may free it, and MemFreeAsync may free memory of MemAlloc
	c.ok(c.MemFreeAsync(c.alloc(8), 0))
	attribute(PoolUsed, 0)

	mine := must(c.d.MemPoolCreate(Location{OnDevice, 0}, PinnedMemory, 0, 5000))(t)
	c.ok(c.d.MemSetMemPool(Location{OnDevice, 0}, PinnedMemory, mine))
	z := must(c.MemAllocAsync(4000, 0, s))(t)
	if got := must(c.PointerGetAttribute(PointerMemPool, z))(t); got != uint64(mine) {
		t.Errorf("of pool %#x, want %#x", got, mine)
	}
	_, err = c.MemAllocAsync(1001, 0, s)
	c.want(OutOfMemory, "4000 of the pool's limit of 5000 bytes are in use", err)
	c.ok(c.d.MemPoolDestroy(mine))
	c.want(InvalidValue, "", c.d.MemPoolDestroy(mine))
	c.want(InvalidValue, "default", c.d.MemPoolDestroy(pool))
	if got := must(c.d.MemGetMemPool(Location{OnDevice, 0}, PinnedMemory))(t); got != pool {
		t.Errorf("pool %#x is current, want %#x", got, pool)
	}
	c.ok(c.MemFreeAsync(z, s))
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, z, 7), s)) // too late
	c.want(IllegalAddress, "", c.StreamSynchronize(s))
	if !strings.Contains(c.messages.String(), "has been freed") {
		t.Errorf("told: %s", c.messages)
	}
}

// Stream-ordered host memory and managed memory have host addresses, and the host reads them there.
func TestStreamOrderedHostMemory(t *testing.T) {
	c := newClient(t, nil)
	for _, of := range []struct {
		where  Location
		kind   MemoryType
		charge uint64
	}{{Location{Type: 2}, PinnedMemory, 0}, {Location{Type: 3}, PinnedMemory, 0}, {Location{}, ManagedMemory, 400}, {Location{OnDevice, 0}, ManagedMemory, 400}} {
		pool := must(c.d.MemGetDefaultMemPool(of.where, of.kind))(t)
		s := must(c.StreamCreate(1, 0))(t)
		x := must(c.MemAllocAsync(400, pool, s))(t)
		c.ok(c.LaunchKernel(launchParams(c.function("add"), 1, 100, x, 5), s))
		c.ok(c.StreamSynchronize(s))
		if got := *(*uint32)(pointer(x + 396)); got != 5 {
			t.Errorf("%+v: got %d, want 5", of, got)
		}
		if free, total, err := c.MemGetInfo(); err != nil || total-free != of.charge {
			t.Errorf("%+v: %d of %d bytes are free, %v", of, free, total, err)
		}
		if got := must(c.d.MemPoolGetAttribute(pool, PoolMemoryType))(t); got != uint64(of.kind) {
			t.Errorf("%+v: the memory is of type %d", of, got)
		}
		c.want(InvalidValue, "no memory of cuMemHostAlloc or cuMemAllocHost begins at", c.MemFreeHost(pointer(x)))
		c.ok(c.MemFreeAsync(x, s))
		c.ok(c.StreamSynchronize(s))
		if free, total, err := c.MemGetInfo(); err != nil || free != total {
			t.Errorf("%+v: %d of %d bytes are free, %v", of, free, total, err)
		}
	}
	_, err := c.d.MemGetMemPool(Location{OnDevice, 1}, ManagedMemory)
	c.want(InvalidDevice, "", err)
	_, err = c.d.MemGetMemPool(Location{}, PinnedMemory)
	c.want(NotSupported, "location of type 0", err)
	_, err = c.d.MemGetMemPool(Location{OnDevice, 0}, 3)
	c.want(InvalidValue, "type 3", err)
}

// Host memory from the driver and registered host memory have the same address on host and device.
func TestHostMemory(t *testing.T) {
	c := newClient(t, nil)
	p := must(c.MemHostAlloc(64, 0))(t)
	words := unsafe.Slice((*uint32)(p), 16)
	words[3] = 5
	addr := must(c.MemHostGetDevicePointer(p, 0))(t)
	c.ok(c.launch("add", 1, 16, addr, 2))
	c.ok(c.CtxSynchronize(0))
	if words[3] != 7 || words[15] != 2 {
		t.Errorf("got %v", words)
	}
	c.ok(c.Memset(&Fill2D{Dst: addr, Value: 3, Size: 4, Width: 16, Height: 1}, 0, false))
	if words[15] != 3 {
		t.Errorf("a fill that the host sees has not waited: %v", words)
	}
	if kind, err := c.PointerGetAttribute(PointerMemoryType, addr); err != nil || PlaceKind(kind) != HostPlace {
		t.Errorf("got %d, %v", kind, err)
	}
	c.ok(c.MemFreeHost(p))
	c.want(InvalidValue, "", c.MemFreeHost(p))

	data, release, err := new(sharedmem.Allocator).Allocate(1 << 17)
	c.ok(err)
	defer release()
	mine := unsafe.Pointer(&data[0])
	c.ok(c.MemHostRegister(mine, 4096, 0))
	c.want(HostMemoryAlreadyRegistered, "", c.MemHostRegister(unsafe.Add(mine, 100), 8, 0))
	c.ok(c.launch("poke", 1, 1, address(mine), 9))
	c.ok(c.CtxSynchronize(0))
	if data[0] != 9 {
		t.Errorf("got %d", data[0])
	}
	c.ok(c.MemHostUnregister(mine))
	c.want(HostMemoryNotRegistered, "", c.MemHostUnregister(mine))
	m := must(c.MemAllocManaged(128, 1))(t)
	*(*uint32)(pointer(m)) = 40
	c.ok(c.launch("add", 1, 1, m, 2))
	c.ok(c.CtxSynchronize(0))
	if got := *(*uint32)(pointer(m)); got != 42 {
		t.Errorf("got %d", got)
	}
	c.ok(c.launch("poke", 1, 1, address(mine), 9))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
}

// A .managed variable has one address for kernels and the host (driver API, "Unified Addressing": the pointers of
// managed memory are valid on both).
func TestManagedVariable(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(strings.Replace(kernels, ".align 4 .u32 v[4]", ".attribute(.managed) .align 128 .u32 v[4]", 1))
	v, size, err := c.ModuleGetGlobal(c.mod, "v")
	if err != nil || size != 16 || v%128 != 0 || v >= firstAddress {
		t.Fatalf("%d bytes at %#x, %v", size, v, err)
	}
	words := unsafe.Slice((*uint32)(pointer(v)), 4)
	if words[2] != 33 {
		t.Errorf("the host reads %v", words)
	}
	words[1] = 700
	x := c.alloc(4)
	c.ok(c.launch("get", 1, 1, x)) // v[1] + 5
	c.expect(x, 705)
	c.ok(c.launch("poke", 1, 1, v+12, 9))
	c.ok(c.CtxSynchronize(0))
	if words[3] != 9 {
		t.Errorf("the host reads %v", words)
	}
	if got := must(c.PointerGetAttribute(PointerIsManaged, v))(t); got != 1 {
		t.Errorf("managed: %d", got)
	}
	c.ok(c.MemAdvise(v, 16, SetReadMostly, 0))
	c.want(InvalidValue, "", c.MemFree(v))
	c.ok(c.ModuleUnload(c.mod))
	if _, _, err := c.MemGetAddressRange(v); err == nil {
		t.Error("the variable of an unloaded module is known")
	}
}

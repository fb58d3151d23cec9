package mem

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gemu/probe"
	"gemu/ptx"

	"pgregory.net/rapid"
)

// alloc allocates memory and fails the test if this is impossible.
func alloc(t *testing.T, m *Map, size uint64, k probe.AllocationKind, name string) *Allocation {
	t.Helper()
	a, err := m.Alloc(size, k, name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMeaningOfAddresses has an access for every meaning of an address, and every fault; the rules are in the manual,
// section 9.7.9 (state spaces, generic addressing, alignment).
func TestMeaningOfAddresses(t *testing.T) {
	m := NewMap(probe.FirstAddress, 1<<20, nil)
	buf := alloc(t, m, 100, probe.BufferMemory, "x")
	con := alloc(t, m, 16, probe.ConstantMemory, "c")
	par := m.SizeParams(16)
	exited := alloc(t, m, 64, probe.BufferMemory, "y")
	m.Free(exited)
	host, err := m.Attach(0x7000_0000, AlignedBytes(64), "", ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Map: m, Shared: m.NewShared(48), LocalBegin: 16, LocalEnd: 80}
	for _, c := range []struct {
		space ptx.Space
		kind  probe.AccessKind
		bytes int
		addr  uint64
		want  *Allocation
		off   uint64
		fault error
		text  string // part of the message or of the nearest allocation
	}{
		{space: ptx.Global, bytes: 4, addr: buf.Base + 96, want: buf, off: 96},
		{space: ptx.Generic, kind: probe.AccessAtomic, bytes: 8, addr: buf.Base, want: buf},
		{space: ptx.Global, bytes: 4, addr: buf.Base + 100, fault: probe.ErrOutOfBounds, text: "ends 0 bytes before"},
		{space: ptx.Global, bytes: 8, addr: buf.Base + 96, fault: probe.ErrOutOfBounds, text: "the access begins in its last 4 bytes"},
		{space: ptx.Global, bytes: 4, addr: buf.Base - 4, fault: probe.ErrOutOfBounds, text: "begins 4 bytes after"},
		{space: ptx.Global, bytes: 4, addr: buf.Base + 2, fault: probe.ErrMisaligned},
		{space: ptx.Global, bytes: 4, addr: exited.Base, fault: probe.ErrUseAfterFree, text: "y"},
		{space: ptx.Global, bytes: 4, addr: con.Base, fault: probe.ErrWrongSpace},
		{space: ptx.Generic, bytes: 4, addr: con.Base, want: con},
		{space: ptx.Const, bytes: 4, addr: con.Base + 12, want: con, off: 12},
		{space: ptx.Const, bytes: 4, addr: buf.Base, fault: probe.ErrWrongSpace},
		{space: ptx.Generic, kind: probe.AccessStore, bytes: 4, addr: con.Base, fault: probe.ErrReadOnly},
		{space: ptx.Param, bytes: 8, addr: par.Base + 8, want: par, off: 8},
		{space: ptx.Param, bytes: 8, addr: buf.Base, fault: probe.ErrWrongSpace},
		{space: ptx.Generic, kind: probe.AccessStore, bytes: 8, addr: par.Base, fault: probe.ErrReadOnly},
		{space: ptx.Global, bytes: 4, addr: host.Base, want: host},
		{space: ptx.Global, kind: probe.AccessStore, bytes: 4, addr: host.Base, fault: probe.ErrReadOnly},
		{space: ptx.Shared, bytes: 16, addr: 32, want: v.Shared, off: 32},
		{space: ptx.Shared, bytes: 4, addr: 48, fault: probe.ErrOutOfBounds},
		{space: ptx.Generic, bytes: 4, addr: probe.SharedWindow + 44, want: v.Shared, off: 44},
		{space: ptx.Generic, bytes: 4, addr: probe.SharedWindow + 48, fault: probe.ErrOutOfBounds},
		{space: ptx.Global, bytes: 4, addr: probe.SharedWindow, fault: probe.ErrOutOfBounds},
		{space: ptx.Local, bytes: 8, addr: 72, off: 72},
		{space: ptx.Local, bytes: 8, addr: 8, fault: probe.ErrOutOfBounds},
		{space: ptx.Local, bytes: 8, addr: 80, fault: probe.ErrOutOfBounds},
		{space: ptx.Generic, kind: probe.AccessStore, bytes: 4, addr: probe.LocalWindow + 16, off: 16},
		{space: ptx.Generic, kind: probe.AccessAtomic, bytes: 4, addr: probe.LocalWindow + 16, fault: probe.ErrWrongSpace},
		{space: ptx.Global, bytes: 4, addr: ^uint64(3), fault: probe.ErrOutOfBounds},
	} {
		p, fault := v.Resolve(&Access{Request: probe.Request{Space: c.space, Bytes: c.bytes, Kind: c.kind}}, c.addr)
		switch {
		case c.fault != nil && (fault == nil || !errors.Is(fault.Kind, c.fault) || !strings.Contains(fault.Msg+fault.Near, c.text)):
			t.Errorf("%s %s of %d bytes at %#x: %+v, want %v … %s", c.space, c.kind, c.bytes, c.addr, fault, c.fault, c.text)
		case c.fault == nil && (fault != nil || p.Alloc != c.want || p.Offset != c.off):
			t.Errorf("%s %s of %d bytes at %#x: %+v %+v, want %v at %d", c.space, c.kind, c.bytes, c.addr, p, fault, c.want, c.off)
		}
	}
}

// TestRowAccesses compares row accesses with an access per lane, for elements in bounds and out of bounds.
func TestRowAccesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const elems = 40
		var memory, want [elems]uint16
		for i := range memory {
			memory[i] = uint16(0x1000 + i)
		}
		want = memory
		base := uint64(0x500)
		var addr [Lanes]uint64
		var d, row [Lanes]uint32
		for i := range addr {
			addr[i] = base + 2*uint64(rapid.IntRange(0, elems-1).Draw(t, "element"))
			if rapid.IntRange(0, 60).Draw(t, "wrong") == 0 {
				addr[i] = rapid.SampledFrom([]uint64{base - 2, base + 1, base + 2*elems, base + 2*elems - 1}).Draw(t, "address")
			}
			row[i] = uint32(0xabcd0000 + i)
		}
		m := rapid.OneOf(rapid.Just(uint32(fullMask)), rapid.Uint32()).Draw(t, "lanes")
		p := unsafe.Pointer(&memory)
		good := uint32(0) // lanes before the first failing lane
		for n := m; n != 0; n &= n - 1 {
			offset := addr[bits.TrailingZeros32(n)] - base
			if offset%2 != 0 || offset > 2*(elems-1) {
				break
			}
			good |= n & -n
		}
		rest := Gather[uint16](&d, &addr, -base, p, elems-1, m)
		if rest != m&^good {
			t.Fatalf("Gather of lanes %#x leaves %#x, want %#x", m, rest, m&^good)
		}
		for i := range d {
			v := uint32(0)
			if good>>i&1 != 0 {
				v = uint32(memory[(addr[i]-base)/2])
			}
			if d[i] != v {
				t.Fatalf("Gather: lane %d has %#x, want %#x", i, d[i], v)
			}
		}
		if rest := Scatter[uint16](&row, &addr, -base, p, elems-1, m); rest != m&^good {
			t.Fatalf("Scatter of lanes %#x leaves %#x, want %#x", m, rest, m&^good)
		}
		for n := good; n != 0; n &= n - 1 {
			i := bits.TrailingZeros32(n)
			want[(addr[i]-base)/2] = uint16(row[i])
		}
		if memory != want {
			t.Fatalf("Scatter leaves %x, want %x", memory, want)
		}
		if in, rest := LanesInRange(&addr, base, elems-1, 2, m); in != good || rest != m&^good {
			t.Fatalf("LanesInRange splits %#x into %#x and %#x, want %#x and %#x", m, in, rest, good, m&^good)
		}
	})
}

// TestBoundsOfStridedAccess compares ContainsStrided with checks of the single elements. For a single element
// ContainsStrided also depends on the stride, and may refuse a valid access.
func TestBoundsOfStridedAccess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &Allocation{Allocation: probe.Allocation{Size: uint64(rapid.IntRange(0, 200).Draw(t, "size"))}}
		bytes := 1 << rapid.IntRange(0, 4).Draw(t, "log bytes")
		from := uint64(rapid.IntRange(-40, 240).Draw(t, "from"))
		stride := int64(rapid.OneOf(rapid.IntRange(-20, 20), rapid.IntRange(-1<<31, 1<<31-1)).Draw(t, "by"))
		n := int64(rapid.IntRange(0, 31).Draw(t, "n"))
		want := true
		for i := range n + 1 {
			offset := from + uint64(i*stride)
			want = want && offset%uint64(bytes) == 0 && isWithin(offset, uint64(bytes), 0, a.Size)
		}
		if got := a.ContainsStrided(from, stride, n, bytes); got != want && !(want && n == 0) {
			t.Fatalf("%d accesses of %d bytes from %d by %d in %d bytes: %v, want %v", n+1, bytes, int64(from), stride, a.Size, got, want)
		}
	})
}

// TestLocalMemory stores to local memory lane by lane and by rows, in all sizes.
func TestLocalMemory(t *testing.T) {
	l := make(Local, 4)
	l.Store(8, 3, 8, 0x1122334455667788)
	for _, c := range []struct {
		off, size int
		want      uint64
	}{{8, 4, 0x55667788}, {12, 4, 0x11223344}, {10, 2, 0x5566}, {15, 1, 0x11}} {
		if got := l.Load(c.off, 3, c.size); got != c.want {
			t.Errorf("%d bytes at %d are %#x, want %#x", c.size, c.off, got, c.want)
		}
	}
	l.Store(9, 3, 1, 0xee)
	var row, back [Lanes]uint64
	l.LoadRow64(&row, 8, 1<<3)
	if row[3] != 0x112233445566ee88 || row[2] != 0 {
		t.Errorf("lane 3 holds %#x, lane 2 %#x", row[3], row[2])
	}
	for i := range row {
		row[i] = uint64(i) << 32
	}
	l.StoreRow64(&row, 0, fullMask)
	if l.LoadRow64(&back, 0, fullMask); back != row {
		t.Errorf("stored %x, loaded %x", row, back)
	}
}

// TestShadowBytesOfAllocation checks that shadow bytes live as long as the allocation, and begin as zero.
func TestShadowBytesOfAllocation(t *testing.T) {
	m := NewMap(probe.FirstAddress, 1<<20, nil)
	before := alloc(t, m, 8, probe.BufferMemory, "")
	m.ShadowBytes = 2
	a := alloc(t, m, 8, probe.BufferMemory, "")
	if before.Shadow != nil || len(a.Shadow) != 16 {
		t.Fatalf("shadows of %d and %d bytes, want none and 16", len(before.Shadow), len(a.Shadow))
	}
	if m.Free(a); a.Shadow != nil {
		t.Error("a freed allocation has a shadow")
	}
}

// TestAddressesOfAllocations checks the addresses of docs/addresses.md: 256 bytes after the end of the previous
// allocation, at a multiple of 512, or of 2 MiB from 1 MiB on; after mapped memory in the way.
func TestAddressesOfAllocations(t *testing.T) {
	m := NewMap(probe.FirstAddress, 1<<30, nil)
	if _, err := m.Attach(0x1090_0800, AlignedBytes(64), "", 0); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ size, want uint64 }{
		{100, 0x1000_0000},
		{0, 0x1000_0200},
		{256, 0x1000_0400},
		{257, 0x1000_0600},
		{1, 0x1000_0a00},
		{1 << 20, 0x1020_0000},
		{1<<20 - 1, 0x1030_0200},
		{3 << 20, 0x1060_0000},
		{1024, 0x1090_0200},
		{1, 0x1090_0a00}, // mapped memory is at 0x1090_0800
	} {
		if a := alloc(t, m, k.size, probe.BufferMemory, ""); a.Base != k.want {
			t.Errorf("%#x bytes are at %#x, want %#x", k.size, a.Base, k.want)
		}
	}
}

// TestMemoryHoldsRow stores a row lane by lane and finds it, until a byte of an active lane changes.
func TestMemoryHoldsRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "size")
		m := rapid.OneOf(rapid.Just(uint32(fullMask)), rapid.Uint32Range(1, fullMask)).Draw(t, "lanes")
		first, last := bits.TrailingZeros32(m), 31-bits.LeadingZeros32(m)
		step := size * rapid.SampledFrom([]int{1, -1, 2, 3}).Draw(t, "step")
		buf := make([]uint64, 32*3+1)
		p := unsafe.Pointer(&buf[0])
		if step < 0 {
			p = unsafe.Add(p, -step*(last-first))
		}
		var row [Lanes]uint64
		var narrow [Lanes]uint32
		for i := range row {
			row[i] = rapid.Uint64().Draw(t, "value")
			narrow[i] = uint32(row[i])
			if m>>i&1 != 0 {
				StoreBits(unsafe.Add(p, (i-first)*step), size, row[i])
			}
		}
		holds := func() bool {
			switch size {
			case 1:
				return HoldsRow[uint8](&row, p, first, step, m) && HoldsRow[uint8](&narrow, p, first, step, m)
			case 2:
				return HoldsRow[uint16](&row, p, first, step, m) && HoldsRow[uint16](&narrow, p, first, step, m)
			case 4:
				return HoldsRow[uint32](&row, p, first, step, m) && HoldsRow[uint32](&narrow, p, first, step, m)
			}
			return HoldsRow[uint64](&row, p, first, step, m)
		}
		if !holds() {
			t.Fatalf("lanes %#x, size %d, step %d: not found", m, size, step)
		}
		lane := rapid.IntRange(first, last).Draw(t, "lane")
		*(*uint8)(unsafe.Add(p, (lane-first)*step+rapid.IntRange(0, size-1).Draw(t, "byte"))) ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if want := m>>lane&1 == 0; holds() != want {
			t.Fatalf("lanes %#x, size %d, step %d, another bit in lane %d: found %v", m, size, step, lane, !want)
		}
	})
}

// TestHostMemoryThatMayFault checks that MayFault is true while host memory without Permanent is mapped, and only then.
func TestHostMemoryThatMayFault(t *testing.T) {
	m := NewMap(probe.FirstAddress, 1<<20, nil)
	alloc(t, m, 16, probe.BufferMemory, "")
	if _, err := m.AllocOnHost(16, "managed"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mapping Mapping
		want    bool
	}{{0, true}, {ReadOnly, true}, {Permanent, false}, {Permanent | ReadOnly, false}} {
		a, err := m.Attach(0x7000_0000, AlignedBytes(64), "", c.mapping)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.MayFault(); got != c.want {
			t.Errorf("mapping %b: MayFault is %v, want %v", c.mapping, got, c.want)
		}
		if m.Free(a); m.MayFault() {
			t.Errorf("mapping %b: MayFault is true after it has been unmapped", c.mapping)
		}
	}
}

// TestPointersInParameters checks which parameter words Pointers lists, and the memory to which they point. Adjoining mapped
// allocations are one block. Addresses of freed memory, of texels and of gaps between allocations have no memory.
func TestPointersInParameters(t *testing.T) {
	m := NewMap(probe.FirstAddress, 1<<30, nil)
	if list := m.Pointers(8); list != nil {
		t.Errorf("without memory there is %v", list)
	}
	a, freed, array := alloc(t, m, 100, probe.BufferMemory, ""), alloc(t, m, 64, probe.BufferMemory, ""), alloc(t, m, 64, probe.ArrayMemory, "")
	var mapped []*Allocation
	for _, addr := range []uint64{0x7000_0000_0000, 0x7000_0000_1000, 0x7000_0000_3000} {
		p, err := m.Attach(addr, AlignedBytes(0x1000), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		mapped = append(mapped, p)
	}
	m.Free(freed)
	words := []uint64{a.Base + 99, 5, a.Base + 100, freed.Base, array.Base, mapped[1].Base + 8, mapped[2].Base, probe.SharedWindow, ^uint64(0)}
	params := m.SizeParams(8 * len(words))
	for i, v := range words {
		binary.LittleEndian.PutUint64(params.Data[8*i:], v)
	}
	want := []probe.Pointer{
		{Memory: a.Public(), Begin: a.Base, End: a.Base + 100}, {Offset: 16}, {Offset: 24}, {Offset: 32},
		{Offset: 40, Memory: mapped[1].Public(), Begin: mapped[0].Base, End: mapped[1].Base + 0x1000}, {Offset: 48, Memory: mapped[2].Public(), Begin: mapped[2].Base, End: mapped[2].Base + 0x1000},
	}
	if got := m.Pointers(8); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

package driver

// This file implements copies and fills.

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"gemu/probe"
)

// Place is the source or destination of a copy.
type Place struct {
	Kind   PlaceKind      // decides which of the other fields are used
	Device uint64         // address of a DevicePlace or UnifiedPlace; offset in an ArrayPlace, in bytes
	Host   unsafe.Pointer // pointer of a HostPlace
	Array  Handle         // handle of an ArrayPlace
}

// PlaceKind is a kind of memory; the numbers are the values of CUmemorytype.
type PlaceKind uint32

// The kinds of place.
const (
	HostPlace    PlaceKind = 1 // memory of the host
	DevicePlace  PlaceKind = 2 // memory of a device, by address
	ArrayPlace   PlaceKind = 3 // an array of texels, by handle
	UnifiedPlace PlaceKind = 4 // Device is an address on the host or on a device
)

// bytes returns n bytes at a place. locate must have replaced the offset of an ArrayPlace. asynchronous reports whether
// the memory is page-locked or on the device: the driver may use such memory after the call returns. The caller must
// hold d.mu.
func (d *Driver) bytes(p Place, n uint64) (b []byte, asynchronous bool, err error) {
	switch p.Kind {
	case UnifiedPlace:
		if d.regions.find(p.Device) != nil || p.Device >= firstAddress {
			return d.bytes(Place{Kind: DevicePlace, Device: p.Device}, n)
		}
		return d.bytes(Place{Kind: HostPlace, Host: pointer(p.Device)}, n)
	case DevicePlace:
		b, err = d.deviceBytes(p.Device, n)
		return b, true, err
	case ArrayPlace:
		a, err := object[*array](d, p.Array)
		if err != nil {
			return nil, false, err
		}
		all := a.bytes()
		if offset := p.Device - a.addr(); offset <= uint64(len(all)) && n <= uint64(len(all))-offset {
			return all[offset:][:n:n], true, nil
		}
		return nil, false, fail(InvalidValue, "%d bytes at offset %d do not fit an array of %d bytes", n, p.Device-a.addr(), len(all))
	case HostPlace:
		addr := address(p.Host)
		if addr < noMemoryBelow || addr+n < addr || addr+n > firstAddress {
			return nil, false, fail(InvalidValue, "%#x is not an address of the host", addr)
		}
		r := d.regions.find(addr)
		return hostBytes(p.Host, n), r != nil && n <= r.size-(addr-r.addr), nil
	}
	return nil, false, fail(InvalidValue, "memory of kind %d, want a CUmemorytype from 1 to 4", p.Kind)
}

// locate replaces the offset of an ArrayPlace by an address. The caller must hold d.mu.
func (d *Driver) locate(p *Place) error {
	if p.Kind != ArrayPlace {
		return nil
	}
	a, err := object[*array](d, p.Array)
	if err == nil {
		p.Device += a.addr()
	}
	return err
}

// reportHostAccess notifies the probes of an access by the host to n bytes, which begin at an offset in bytes from a
// place. If written is true, the access is a finished write, otherwise a read. Memory that kernels cannot access is
// ignored.
func (d *Driver) reportHostAccess(o *probe.HostOrder, p *Place, offset, n uint64, written bool) {
	addr := p.Device
	if p.Kind == HostPlace {
		addr = address(p.Host)
	}
	if written {
		d.gpu.HostWrite(addr+offset, int(n), o)
	} else {
		d.gpu.HostRead(addr+offset, int(n), o)
	}
}

// copyKnowledge tells which work has ended for certain, for the client, when a call for a copy returns.
type copyKnowledge uint8

const (
	knowsNothing copyKnowledge = iota // nothing is certain
	knowsBefore                       // all work before the copy has ended
	knowsCopied                       // the copy has ended
)

// knownAfter returns the work that has ended for certain after a call for a copy (driver API, "API synchronization
// behavior"). A copy to host memory has ended, except an asynchronous one to page-locked memory. A synchronous copy from
// page-locked memory has ended. A synchronous copy from pageable memory has read it, but the data may not have reached
// the device: only the work before the copy has ended. The caller must hold d.mu.
func (d *Driver) knownAfter(dst, src *Place, async Async) copyKnowledge {
	isOnHost := func(p *Place) (host, locked bool) {
		addr := p.Device
		switch p.Kind {
		case ArrayPlace:
			return false, false
		case HostPlace:
			addr = address(p.Host)
		}
		r := d.regions.find(addr)
		locked = r != nil && (r.onHost() || r.kind == managedRegion)
		return locked || p.Kind == HostPlace || p.Kind == UnifiedPlace && addr < firstAddress, locked
	}
	toHost, toLocked := isOnHost(dst)
	fromHost, fromLocked := isOnHost(src)
	switch {
	case toHost && !(bool(async) && toLocked), fromHost && fromLocked && !bool(async):
		return knowsCopied
	case fromHost && !bool(async):
		return knowsBefore
	}
	return knowsNothing
}

// deviceOf returns the device with the memory at a place; nil for host memory and managed memory. The caller must hold
// d.mu.
func (d *Driver) deviceOf(p *Place) *Device {
	switch p.Kind {
	case ArrayPlace:
		if a, err := object[*array](d, p.Array); err == nil {
			return a.ctx.dev
		}
	case DevicePlace, UnifiedPlace:
		if r := d.regions.find(p.Device); r != nil && !r.onHost() && r.kind != managedRegion {
			return r.device(d)
		}
	}
	return nil
}

// contextsBetween lists the contexts of both devices, except the stream's own, for a copy between two devices on a
// default stream. Such a copy comes after all earlier work on either device and before all later work (CUDA C++
// Programming Guide, "Peer-to-Peer Memory Copy"). Otherwise the list is empty. The caller must hold d.mu.
func (s *Stream) contextsBetween(to, from *Place) (list []*Context) {
	d := s.ctx.dev.d
	a, b := d.deviceOf(to), d.deviceOf(from)
	if s != s.ctx.legacy || a == nil || b == nil || a == b {
		return nil
	}
	for _, o := range d.objects {
		if c, ok := o.(*Context); ok && !c.dead && c != s.ctx && (c.dev == a || c.dev == b) {
			list = append(list, c)
		}
	}
	return list
}

// Async reports whether a call may return before its work has ended.
type Async bool

// Memcpy implements the cuMemcpy functions for linear memory: it copies n bytes on a stream. It waits for the copy if
// async is false or if either place is pageable host memory.
func (t *Thread) Memcpy(dst, src Place, n uint64, stream Handle, async Async) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if n == 0 {
		t.d.mu.Unlock()
		return nil
	}
	if s.capture != nil {
		return s.recordTransfer(MemcpyNode, &copyWork{Copy3D{Src: Side{Place: src}, Dst: Side{Place: dst}, Width: n, Height: 1, Depth: 1}}, async)
	}
	var to, from []byte
	var toAsync, fromAsync bool
	if err = errors.Join(t.d.locate(&dst), t.d.locate(&src)); err == nil {
		to, toAsync, err = t.d.bytes(dst, n)
	}
	if err == nil {
		from, fromAsync, err = t.d.bytes(src, n)
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	return t.transfer(s, "a copy", s.contextsBetween(&dst, &src), bool(async) && toAsync && fromAsync, t.d.knownAfter(&dst, &src, async), func(o *probe.HostOrder) {
		t.d.reportHostAccess(o, &src, 0, n, false)
		copy(to, from)
		t.d.reportHostAccess(o, &dst, 0, n, true)
	})
}

// MemcpyEager copies n bytes between unified addresses. The source has been read when MemcpyEager returns
// (CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL). Pageable host memory is read without waiting for earlier work on the
// stream; from other memory the copy is synchronous. The call cannot be captured.
func (t *Thread) MemcpyEager(dst, src, n uint64, stream Handle) error {
	to, from := Place{Kind: UnifiedPlace, Device: dst}, Place{Kind: UnifiedPlace, Device: src}
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if err := s.forbidCapture(); err != nil {
		t.d.mu.Unlock()
		return err
	}
	if n == 0 || src >= firstAddress || t.d.regions.find(src) != nil {
		t.d.mu.Unlock()
		return t.Memcpy(to, from, n, stream, false)
	}
	data, _, err := t.d.bytes(from, n)
	snapshot := make([]byte, len(data))
	if err == nil {
		err = safely(func() { copy(snapshot, data) })
	}
	var target []byte
	var asynchronous bool
	if err == nil {
		target, asynchronous, err = t.d.bytes(to, n)
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	return t.transfer(s, "a copy", nil, asynchronous, t.d.knownAfter(&to, &from, true), func(o *probe.HostOrder) {
		copy(target, snapshot)
		t.d.reportHostAccess(o, &to, 0, n, true)
	})
}

// Peek reads device memory immediately, without waiting for running work. The caller must know that a launch is
// waiting.
func (t *Thread) Peek(to []byte, from uint64) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	b, err := t.d.deviceBytes(from, uint64(len(to)))
	if err != nil {
		return err
	}
	copy(to, b)
	return nil
}

// transfer submits a copy or a fill to a stream, and waits for it unless async is true. The work is also ordered with
// the default streams of the given contexts. knowledge is the part of the work that has ended for certain after a
// synchronous call of the API; it is used only if transfer waits, which it may do longer than the API promises. A fault
// of the work, for instance unmapped host memory, is the error of the call if transfer waits, and otherwise the error of
// the context. The caller must hold d.mu; transfer unlocks it.
func (t *Thread) transfer(s *Stream, name string, contexts []*Context, async bool, knowledge copyKnowledge, work func(*probe.HostOrder)) error {
	if async {
		return s.finish(s.submitToAll(contexts, false, name, func(o *probe.HostOrder) error { return safely(func() { work(o) }) }), false)
	}
	var workErr error
	submitted := s.submitToAll(contexts, true, name, func(o *probe.HostOrder) error {
		workErr = safely(func() { work(o) })
		return nil
	})
	t.d.mu.Unlock()
	t.d.awaitTasks([]*task{submitted})
	t.d.kernelOutput.flush()
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch knowledge {
	case knowsCopied:
		t.d.ordering.learn([]*task{submitted})
	case knowsBefore:
		t.d.ordering.learnBefore(submitted.order)
	}
	if err := s.ctx.outcome(); err != nil {
		return err
	}
	return workErr
}

// Copy3D is a copy of Depth slices of Height rows of Width bytes, as in CUDA_MEMCPY3D.
type Copy3D struct {
	Src, Dst      Side   // source and destination
	Width         uint64 // in bytes
	Height, Depth uint64 // in rows and slices; 0: nothing is copied
}

// Side is the source or the destination of a Copy3D: a position in a block of rows and slices that begins at Place.
type Side struct {
	Place
	X, Y, Z       uint64 // start of the copy in the block: X in bytes, Y in rows, Z in slices
	Pitch, Height uint64 // distance of rows in bytes, and of slices in rows; 0: no gaps; unused for an ArrayPlace
}

// layout gives the offsets of a side's rows from its Place, in bytes: row y of slice z of the copy is at
// start + y·pitch + z·slice.
type layout struct {
	start, pitch, slice uint64
	bytes               uint64 // from the Place to the end of the last row
}

// layout returns the layout of a side in linear memory.
func (s *Side) layout(c *Copy3D) (l layout, err error) {
	const most = 1 << 46 // limit on sizes, so that products do not overflow
	l.pitch = s.Pitch
	if l.pitch == 0 {
		l.pitch = s.X + c.Width
	}
	rows := s.Height
	if rows == 0 {
		rows = s.Y + c.Height
	}
	for _, v := range []uint64{s.X, s.Y, s.Z, c.Width, c.Height, c.Depth, l.pitch, rows} {
		if v > most {
			return l, fail(InvalidValue, "a copy of %d×%d×%d bytes with a pitch of %d is too large", c.Width, c.Height, c.Depth, s.Pitch)
		}
	}
	if s.X+c.Width > l.pitch && c.Height*c.Depth > 1 {
		return l, fail(InvalidValue, "rows of %d bytes at offset %d do not fit a pitch of %d", c.Width, s.X, l.pitch)
	}
	if c.Depth > 1 && s.Y+c.Height > rows {
		return l, fail(InvalidValue, "%d rows from row %d do not fit a height of %d", c.Height, s.Y, rows)
	}
	if l.pitch > 0 && rows > most/l.pitch {
		return l, fail(InvalidValue, "a slice of %d rows with a pitch of %d bytes is too large", rows, l.pitch)
	}
	l.slice = l.pitch * rows
	if l.slice > 0 && s.Z+c.Depth > most/l.slice {
		return l, fail(InvalidValue, "%d slices of %d bytes are too large", s.Z+c.Depth, l.slice)
	}
	l.start = s.X + s.Y*l.pitch + s.Z*l.slice
	l.bytes = l.start + (c.Height-1)*l.pitch + (c.Depth-1)*l.slice + c.Width
	return l, nil
}

// layout returns the layout of a side in linear memory or in an array. The caller must hold d.mu.
func (d *Driver) layout(s *Side, c *Copy3D) (layout, error) {
	if s.Kind != ArrayPlace {
		return s.layout(c)
	}
	a, err := object[*array](d, s.Array)
	if err != nil {
		return layout{}, err
	}
	return a.layout(s, c)
}

// plan checks a copy and returns the function that performs it. asynchronous reports whether the function may run after
// the call of the client has returned. The caller must hold d.mu.
func (d *Driver) plan(c *Copy3D) (work func(*probe.HostOrder), asynchronous bool, err error) {
	if c.Width == 0 || c.Height == 0 || c.Depth == 0 {
		return func(*probe.HostOrder) {}, true, nil
	}
	target, source := c.Dst.Place, c.Src.Place
	if err := errors.Join(d.locate(&target), d.locate(&source)); err != nil {
		return nil, false, err
	}
	to, err := d.layout(&c.Dst, c)
	if err != nil {
		return nil, false, err
	}
	from, err := d.layout(&c.Src, c)
	if err != nil {
		return nil, false, err
	}
	dst, toAsync, err := d.bytes(target, to.bytes)
	if err != nil {
		return nil, false, err
	}
	src, fromAsync, err := d.bytes(source, from.bytes)
	if err != nil {
		return nil, false, err
	}
	width, height, depth := c.Width, c.Height, c.Depth
	return func(o *probe.HostOrder) {
		for z := range depth {
			for y := range height {
				dstRow, srcRow := to.start+y*to.pitch+z*to.slice, from.start+y*from.pitch+z*from.slice
				d.reportHostAccess(o, &source, srcRow, width, false)
				copy(dst[dstRow:][:width], src[srcRow:])
				d.reportHostAccess(o, &target, dstRow, width, true)
			}
		}
	}, toAsync && fromAsync, nil
}

// Memcpy3D is cuMemcpy3D, and cuMemcpy2D with a single slice.
func (t *Thread) Memcpy3D(c *Copy3D, stream Handle, async Async) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if s.capture != nil {
		return s.recordTransfer(MemcpyNode, &copyWork{*c}, async)
	}
	work, asynchronous, err := t.d.plan(c)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	return t.transfer(s, "a copy", s.contextsBetween(&c.Dst.Place, &c.Src.Place), bool(async) && asynchronous, t.d.knownAfter(&c.Dst.Place, &c.Src.Place, async), work)
}

// Fill2D is a fill of Height rows of Width elements with the same value.
type Fill2D struct {
	Dst           uint64 // device address, aligned to Size
	Pitch         uint64 // distance of rows in bytes, a multiple of Size; unused for a single row
	Value         uint32 // the low Size bytes are the value of each element
	Size          uint32 // bytes of an element: 1, 2 or 4
	Width, Height uint64 // in elements and in rows; 0: nothing is filled
}

// fill checks a fill and returns the function that performs it. The caller must hold d.mu.
func (d *Driver) fill(f *Fill2D) (work func(*probe.HostOrder), err error) {
	size := uint64(f.Size)
	switch {
	case size != 1 && size != 2 && size != 4:
		return nil, fail(InvalidValue, "elements of %d bytes, want 1, 2 or 4", size)
	case f.Dst%size != 0 || f.Height > 1 && f.Pitch%size != 0:
		return nil, fail(InvalidValue, "%#x, with a pitch of %d, is not aligned to elements of %d bytes", f.Dst, f.Pitch, size)
	case f.Width > 1<<46 || f.Height > 1<<46 || f.Pitch > 1<<46 || f.Height > 0 && f.Pitch > 1<<46/f.Height:
		return nil, fail(InvalidValue, "a fill of %d rows of %d elements with a pitch of %d bytes is too large", f.Height, f.Width, f.Pitch)
	case f.Height > 1 && f.Pitch < f.Width*size:
		return nil, fail(InvalidValue, "rows of %d bytes do not fit a pitch of %d", f.Width*size, f.Pitch)
	case f.Width == 0 || f.Height == 0:
		return func(*probe.HostOrder) {}, nil
	}
	n := f.Width * size
	dst, err := d.deviceBytes(f.Dst, (f.Height-1)*f.Pitch+n)
	if err != nil {
		return nil, err
	}
	pitch, height, value := f.Pitch, f.Height, f.Value
	target := Place{Kind: DevicePlace, Device: f.Dst}
	return func(o *probe.HostOrder) {
		for y := range height {
			fillRow(dst[y*pitch:][:n], value, int(size))
			d.reportHostAccess(o, &target, y*pitch, n, true)
		}
	}, nil
}

// fillRow fills a row with copies of the low size bytes of value.
func fillRow(row []byte, value uint32, size int) {
	var pattern [4]byte
	binary.LittleEndian.PutUint32(pattern[:], value)
	for done := copy(row, pattern[:size]); done < len(row); done *= 2 {
		copy(row[done:], row[:done])
	}
}

// Memset implements the cuMemset functions. If async is false, it waits for a fill of memory that the host can access.
func (t *Thread) Memset(f *Fill2D, stream Handle, async Async) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if s.capture != nil {
		return s.recordTransfer(MemsetNode, &fillWork{*f}, async)
	}
	work, err := t.d.fill(f)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	r := t.d.regions.find(f.Dst)
	hostAccessible := r != nil && (r.onHost() || r.kind == managedRegion)
	return t.transfer(s, "a fill", nil, bool(async) || !hostAccessible, knowsCopied, work)
}

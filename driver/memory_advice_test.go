package driver

import (
	"slices"
	"testing"
)

// TestMemoryAdvice shows that cuMemAdvise and cuMemPrefetchAsync set the attributes of ranges of managed memory.
func TestMemoryAdvice(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.Devices = 2 })
	const size = 1 << 16
	p := must(c.MemAllocManaged(size, 1))(t)
	is := func(a RangeAttribute, from, n uint64, want ...int32) {
		t.Helper()
		if got := must(c.MemRangeGetAttribute(a, p+from, n))(t); !slices.Equal(got, want) {
			t.Errorf("attribute %d of %d bytes from %d on is %d, want %d", a, n, from, got, want)
		}
	}
	is(RangeReadMostly, 0, size, 0)
	is(RangePreferredLocation, 0, size, -2)
	is(RangePreferredLocationType, 0, size, 0)
	is(RangeAccessedBy, 0, size)
	is(RangeLastPrefetch, 0, size, -2)

	c.ok(c.MemAdvise(p+4096, 8192, SetReadMostly, 0))
	is(RangeReadMostly, 4096, 8192, 1)
	is(RangeReadMostly, 4096, 1, 1)
	is(RangeReadMostly, 4095, 2, 0)
	is(RangeReadMostly, 12287, 1, 1)
	is(RangeReadMostly, 0, size, 0)
	c.ok(c.MemAdvise(p+8192, 4096, UnsetReadMostly, 0))
	is(RangeReadMostly, 4096, 4096, 1)
	is(RangeReadMostly, 4096, 8192, 0)

	c.ok(c.MemAdvise(p, size, SetPreferredLocation, 1))
	is(RangePreferredLocation, 100, size-200, 1)
	is(RangePreferredLocationType, 0, size, 1)
	is(RangePreferredLocationID, 0, size, 1)
	c.ok(c.MemAdvise(p, 4096, SetPreferredLocation, -1))
	is(RangePreferredLocation, 0, 4096, -1)
	is(RangePreferredLocationType, 0, 4096, 2)
	is(RangePreferredLocation, 0, 8192, -2)
	c.ok(c.MemAdvise(p, size, UnsetPreferredLocation, 0))
	is(RangePreferredLocation, 0, size, -2)

	for _, place := range []int32{1, -1, 0, 1} {
		c.ok(c.MemAdvise(p, 8192, SetAccessedBy, place))
	}
	c.ok(c.MemAdvise(p+4096, 4096, UnsetAccessedBy, 0))
	is(RangeAccessedBy, 0, 4096, -1, 0, 1)
	is(RangeAccessedBy, 0, 8192, -1, 1)
	is(RangeAccessedBy, 0, size)

	// One range is now two ranges with nothing in common.
	for _, place := range []int32{0, 1} {
		c.ok(c.MemAdvise(p+20480, 8192, SetAccessedBy, place))
	}
	c.ok(c.MemAdvise(p+24576, 100, UnsetAccessedBy, 0)) // rounds to a page
	is(RangeAccessedBy, 20480, 4096, 0, 1)
	is(RangeAccessedBy, 24576, 4096, 1)
	if r := c.d.regions.find(p); len(r.hints) != 6 {
		t.Errorf("%d pieces: %+v", len(r.hints), r.hints)
	}

	s := must(c.StreamCreate(0, 0))(t)
	c.ok(c.MemPrefetch(p, size, 0, s))
	is(RangeLastPrefetch, 0, size, 0)
	c.ok(c.MemPrefetch(p, size/2, -1, s))
	is(RangeLastPrefetch, 0, size/2, -1)
	is(RangeLastPrefetchType, 0, size/2, 2)
	is(RangeLastPrefetch, 0, size, -2)

	captured := c.capturing()
	c.want(StreamCaptureUnsupported, "", c.MemPrefetch(p, size, 0, captured))
	c.endInvalid([]Handle{captured})

	c.want(InvalidDevice, "", c.MemAdvise(p, size, SetPreferredLocation, 2))
	c.want(InvalidDevice, "", c.MemPrefetch(p, size, -2, s))
	c.want(InvalidValue, "advice 7", c.MemAdvise(p, size, 7, 0))
	c.want(InvalidValue, "not managed", c.MemAdvise(p, size+1, SetReadMostly, 0))
	c.want(InvalidValue, "not managed", c.MemAdvise(c.alloc(size), size, SetReadMostly, 0))
	_, err := c.MemRangeGetAttribute(9, p, size)
	c.want(InvalidValue, "attribute 9", err)
	_, err = c.MemRangeGetAttribute(RangeReadMostly, p, 0)
	c.want(InvalidValue, "not managed", err)
}

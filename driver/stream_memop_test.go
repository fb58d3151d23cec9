package driver

import (
	"testing"
	"time"

	"gemu/sanitize"
)

// A stream waits until a second stream writes a word; a kernel sees such a write.
func TestStreamWaitsForWord(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(64)
	a, b := must(c.StreamCreate(1, 0))(t), must(c.StreamCreate(1, 0))(t)
	one := func(s Handle, op MemoryOp) { t.Helper(); c.ok(c.StreamMemoryOps(s, []MemoryOp{op}, 0)) }
	for _, wait := range []struct {
		name    string
		kind    MemoryOpKind
		flags   uint32
		value   uint64
		no, yes uint64 // values for which the condition fails and holds
	}{
		{"greater or equal", WaitValue32, 0, 5, 4, 5},
		{"greater or equal, wrapping around 2^32", WaitValue32, 0, 0xffff_fff0, 0xffff_ffef, 3},
		{"equal", WaitValue32, 1, 5, 6, 5},
		{"and", WaitValue32, 2, 6, 9, 4},
		{"nor", WaitValue32, 3, 0xffff_0000, 0xffff, 0xfffe},
		{"garbage above 32 bits", WaitValue32, 1, 7<<32 | 5, 6, 5},
		{"greater or equal of 64", WaitValue64, 0, 1 << 40, 1<<40 - 1, 1 << 41},
		{"equal of 64", WaitValue64, 1, 1 << 40, 0, 1 << 40},
		{"and of 64", WaitValue64, 2, 1 << 40, 0xff, 1 << 40},
		{"nor of 64", WaitValue64, 3, 1 << 63, 1<<63 - 1, 1<<62 - 1},
	} {
		write := wait.kind + 1 // the kind of a write is the kind of its wait plus 1
		one(b, MemoryOp{Kind: write, Addr: x, Value: wait.no})
		c.ok(c.StreamSynchronize(b))
		one(a, MemoryOp{Kind: wait.kind, Addr: x, Value: wait.value, Flags: wait.flags})
		one(a, MemoryOp{Kind: WriteValue32, Addr: x + 8, Value: 1})
		time.Sleep(2 * time.Millisecond)
		if err := c.StreamQuery(a); err != NotReady {
			t.Errorf("%s: %v before the condition holds", wait.name, err)
		}
		one(b, MemoryOp{Kind: write, Addr: x, Value: wait.yes})
		c.ok(c.StreamSynchronize(a))
		c.expect(x+8, 1)
	}

	// A spinning kernel sees the value that a stream writes, even after a long time.
	c.write(x, 0, 0)
	c.ok(c.LaunchKernel(launchParams(c.function("spin"), 1, 1, x), a))
	time.Sleep(50 * time.Millisecond)
	c.ok(c.StreamMemoryOps(b, []MemoryOp{{Kind: WriteValue32, Addr: x, Value: 1}, {Kind: MemoryBarrier}, {Kind: WriteValue64, Addr: x + 8, Value: 1 << 33}}, 0))
	c.ok(c.StreamSynchronize(a))
	c.ok(c.StreamSynchronize(b))
	c.expect(x, 1, 0, 0, 2)
}

// A wait ends with its context, and invalid operations are refused.
func TestInvalidWaits(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(64)
	for _, bad := range []struct {
		result Result
		reason string
		op     MemoryOp
	}{
		{NotSupported, "memory operation 3", MemoryOp{Kind: 3}},
		{NotSupported, "memory operation 8", MemoryOp{Kind: 8, Addr: x}},
		{NotSupported, "CU_STREAM_WAIT_VALUE_FLUSH", MemoryOp{Kind: WaitValue32, Addr: x, Flags: 1 << 30}},
		{InvalidValue, "flags 0x4", MemoryOp{Kind: WaitValue32, Addr: x, Flags: 4}},
		{InvalidValue, "flags 0x2", MemoryOp{Kind: WriteValue32, Addr: x, Flags: 2}},
		{InvalidValue, "flags 0x2", MemoryOp{Kind: MemoryBarrier, Flags: 2}},
		{InvalidValue, "not a multiple of 4", MemoryOp{Kind: WriteValue32, Addr: x + 2}},
		{InvalidValue, "not a multiple of 8", MemoryOp{Kind: WaitValue64, Addr: x + 4}},
		{InvalidValue, "are not inside", MemoryOp{Kind: WriteValue32, Addr: x + 64}},
	} {
		c.want(bad.result, bad.reason, c.StreamMemoryOps(0, []MemoryOp{bad.op}, 0))
	}
	c.want(InvalidValue, "flags", c.StreamMemoryOps(0, []MemoryOp{{Kind: MemoryBarrier}}, 1))
	c.want(InvalidValue, "operations", c.StreamMemoryOps(0, nil, 0))
	c.ok(c.StreamMemoryOps(0, []MemoryOp{{Kind: WaitValue32, Addr: x, Value: 1}}, 0))
	c.ok(c.CtxDestroy(c.ctx))
}

// With race detection, work runs in the order of the calls, so waits are refused.
func TestWaitsWithRaceDetection(t *testing.T) {
	tools := must(sanitize.Parse("race"))(t)
	c := newClient(t, func(s *Settings) { s.Sanitize = tools })
	x := c.alloc(4)
	c.want(NotSupported, "race detection", c.StreamMemoryOps(0, []MemoryOp{{Kind: WaitValue32, Addr: x}}, 0))
	c.ok(c.StreamMemoryOps(0, []MemoryOp{{Kind: WriteValue32, Addr: x, Value: 3}}, 0))
	c.expect(x, 3)
}

package core_test

import (
	"testing"

	"gemu/machine/cache"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/ptx"
)

// full is a memory of fixed latency that takes one request in a cycle, or any number.
type full struct {
	*memory.Fixed
	one  bool
	last int64 // cycle of the latest request
}

func (f *full) Send(now int64, r *memory.Request) bool {
	if f.one && f.last == now {
		return false
	}
	f.last = now
	return f.Fixed.Send(now, r)
}

// TestPrefetch: a warp loads a line, and then, with its value, the next line. With a prefetch of the next line at the miss, both arrive at
// the same time, and the second load hits; the line after it is in the L1 then, and causes no further miss. A prefetch without a free MSHR
// is dropped, as is one of a line that is in the L1, or without a place in the memory: full refuses the second of two requests in a cycle.
func TestPrefetch(t *testing.T) {
	text := program(`	ld.param.u64 %b, [in];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %q, %t, 4;
	add.u64 %p, %b, %q;
	ld.global.u32 %x0, [%p];
	and.b32 %x0, %x0, 0;
	cvt.u64.u32 %q, %x0;
	add.u64 %p, %p, %q;
	ld.global.u32 %x1, [%p+128];
	add.u32 %x1, %x1, 1;
`)
	run := func(change func(*core.Config, *core.Plan)) *core.Launch {
		var m *core.Machine
		c := &perLaunch{make: func() stream.Consumer {
			config := config(core.Volta, 1, 1, cache.Shape{Sets: 4, Ways: 4}, &full{memory.NewFixed(100), false, -1})
			plan := config.Plan
			config.Plan = func(l *stream.Launch) core.Plan {
				p := plan(l)
				change(&config, &p)
				return p
			}
			change(&config, &core.Plan{})
			m = core.New(config)
			return m
		}, done: func(stream.Consumer) {}}
		record(t, text, ptx.Dim(1), ptx.Dim(32), c)
		if err := m.Err(); err != nil {
			t.Fatal(err)
		}
		return m.Launches()[0]
	}
	next := func(line uint64) (uint64, bool) { return line + 1, true }
	base := run(func(*core.Config, *core.Plan) {})
	ahead := run(func(_ *core.Config, p *core.Plan) { p.Prefetch = next })
	if base.Misses != 8 || base.Prefetches != 0 || ahead.Misses != 4 || ahead.Hits != 4 || ahead.Prefetches != 4 || base.Cycles-ahead.Cycles < 60 {
		t.Errorf("%d cycles, %+v; with prefetches %d, %+v", base.Cycles, base.Counts, ahead.Cycles, ahead.Counts)
	}
	for name, change := range map[string]func(*core.Config, *core.Plan){
		"no MSHR":  func(c *core.Config, p *core.Plan) { p.Prefetch, c.MSHRs = next, 1 },
		"no place": func(c *core.Config, p *core.Plan) { p.Prefetch, c.Memory.(*full).one = next, true },
		"the line itself": func(_ *core.Config, p *core.Plan) {
			p.Prefetch = func(line uint64) (uint64, bool) { return line, true }
		},
		"a valid line": func(_ *core.Config, p *core.Plan) {
			p.Prefetch = func(line uint64) (uint64, bool) { return line &^ 1, line%2 == 1 }
		},
		"none": func(_ *core.Config, p *core.Plan) { p.Prefetch = func(uint64) (uint64, bool) { return 0, false } },
	} {
		if got := run(change); got.Counts != base.Counts || got.Cycles != base.Cycles {
			t.Errorf("%s: %d cycles, %+v; want %d, %+v", name, got.Cycles, got.Counts, base.Cycles, base.Counts)
		}
	}
}

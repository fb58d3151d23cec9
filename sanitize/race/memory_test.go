package race

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/sanitize/finding"
)

// growing are kernels of which each CTA hands on what it knows to those that come later: by a counter
// with fences, as the last block does, and by one with acq_rel. Each uses an mbarrier and
// asynchronous copies of its own besides.
const growing = `.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter;
.visible .entry last(.param .u64 x)
{
	.shared .align 8 .b64 bar; .shared .align 16 .b8 tile[512]; .shared .u32 flag;
	.reg .u32 %r<8>; .reg .u64 %rd<6>; .reg .pred %p;
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd2, %r3, 16; add.u64 %rd2, %rd0, %rd2;
	shl.b32 %r4, %r0, 4; mov.u32 %r5, tile; add.u32 %r5, %r5, %r4;
	cp.async.ca.shared.global [%r5], [%rd2], 16;
	cp.async.wait_all;
	setp.ne.u32 %p, %r0, 0;
	@!%p mbarrier.init.shared.b64 [bar], 32;
	bar.sync 0;
	mbarrier.arrive.shared.b64 _, [bar];
	bar.sync 0;
	@%p ret;
	st.release.cta.shared.u32 [flag], 1;
	FENCE
	ATOM.u32 %r6, [counter], 1;
	FENCE
	ret;
}
`

// spy sees what is known as a launch ends.
type spy struct {
	*Probe
	look func(r *run)
}

func (s *spy) Tell(e *interp.Event) {
	if e.Kind == interp.OnLaunchEnd {
		s.look(s.run(e.Launch))
	}
	s.Probe.Tell(e)
}

// grown runs such a kernel and gives the bytes that were allocated in all, and the entries of the clocks that
// are left.
func grown(t *testing.T, src string, ctas int) (bytes uint64, entries int) {
	t.Helper()
	var log finding.Log
	probe := &spy{Probe: New(&log, 0), look: func(r *run) {
		seen := map[*clock]bool{}
		var count func(c *clock)
		count = func(c *clock) {
			if c != nil && !seen[c] {
				seen[c] = true
				entries++
				count(c.left)
				count(c.right)
			}
		}
		for _, at := range r.syncs {
			for _, v := range at {
				count(v.wide)
				for _, x := range v.list {
					count(x.clock)
				}
				entries += len(v.list)
			}
		}
		if len(r.alive)+len(r.clusters)+len(r.mbarriers) > 0 {
			t.Errorf("of %d CTAs that have ended %d are alive, in %d clusters, with %d mbarriers", ctas, len(r.alive), len(r.clusters), len(r.mbarriers))
		}
		if len(r.syncs) != 1 {
			t.Errorf("variables in %d allocations are left, want 1", len(r.syncs))
		}
	}}
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []interp.Probe{probe}})
	m, err := dev.Load("growing.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	x, err := dev.Alloc(ctas * 32 * 16)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := m.Run(context.Background(), &interp.Launch{Kernel: "last", Grid: interp.Dim(ctas), Block: interp.Dim(32), Args: []any{x}, Mode: interp.Vector}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := len(log.Findings()); n > 0 {
		t.Errorf("%d races found", n)
	}
	return after.TotalAlloc - before.TotalAlloc, entries
}

// TestMemoryGrows: what is allocated, and what is kept, grows as the CTAs do, and not with their square.
func TestMemoryGrows(t *testing.T) {
	for name, r := range map[string]*strings.Replacer{
		"fences":  strings.NewReplacer("FENCE", "fence.acq_rel.gpu;", "ATOM", "atom.relaxed.gpu.global.add"),
		"acq_rel": strings.NewReplacer("FENCE", "", "ATOM", "atom.acq_rel.gpu.global.add"),
	} {
		src := r.Replace(growing)
		const n, times = 256, 8
		few, fewEntries := grown(t, src, n)
		many, manyEntries := grown(t, src, times*n)
		t.Logf("%s: %d CTAs %d bytes, %d entries; %d CTAs %d bytes, %d entries", name, n, few, fewEntries, times*n, many, manyEntries)
		if many > times*few*9/8 {
			t.Errorf("%s: %d CTAs took %d bytes, and %d of them %d", name, n, few, times*n, many)
		}
		if manyEntries > 2*times*n+100 || fewEntries < n {
			t.Errorf("%s: %d clocks are left of %d CTAs, and of %d of them %d", name, fewEntries, n, times*n, manyEntries)
		}
	}
}

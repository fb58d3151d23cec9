package machine

import (
	"bytes"
	"testing"

	"gemu/interp"
	"gemu/machine/codec"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// noRoutines compresses and decompresses in no time, by an algorithm.
type noRoutines struct{ codec codec.Codec }

func (noRoutines) Fill(*codec.Line) (*core.Execution, error) { return nil, nil }
func (r noRoutines) Store(_ int, l *codec.Line) (int, *core.Execution, error) {
	return r.size(l), nil, nil
}

// size returns the bytes of the form of a line. BDI compresses; with another codec every line is raw.
func (r noRoutines) size(l *codec.Line) int {
	if r.codec != codec.BDI {
		return codec.LineBytes
	}
	bytes, _ := codec.BDI.Size(l)
	return bytes
}

// combineClock returns machine caba with two multiprocessors, with a choice for stores of parts of a line and a number of places of their buffer.
func combineClock(t *testing.T, routines noRoutines, partial, buffer string) *Clock {
	t.Helper()
	s, _ := Find("caba")
	for name, value := range map[string]string{"assist.partial": partial, "assist.stores": buffer, "sms": "2"} {
		if err := s.Set(name, value, Policies{}); err != nil {
			t.Fatal(err)
		}
	}
	s.Systems = []*System{{Name: "test", New: func() Parts {
		return Parts{Codec: func(_ uint64, l *codec.Line) int { return routines.size(l) }, Compressed: &Compressed{L2: true, Assist: &AssistWarps{New: func(*core.Spec) AssistRoutines { return routines }}}}
	}}}
	c, err := NewClock(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runCombined runs kernel k with an allocation for a clock, and waits until all stores are in memory. args returns the arguments. The allocation lives until the
// end of the test.
func runCombined(t *testing.T, c *Clock, text string, grid, block, bytes int, args func(out *interp.Buffer) []any) (out *interp.Buffer) {
	t.Helper()
	recorder := stream.NewDataRecorder(c)
	recorder.RecordInstructions()
	d := interp.NewDevice(interp.Config{})
	t.Cleanup(func() { d.Close() })
	module, err := d.Load("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if out, err = d.Alloc(bytes); err != nil {
		t.Fatal(err)
	}
	if _, err := module.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(grid), Block: ptx.Dim(block), Args: args(out), Probes: []probe.Probe{recorder}}); err != nil {
		t.Fatal(err)
	}
	for c.system.Next() != memory.Never { // stores are still on their way
		c.system.Advance(c.system.Next(), nil)
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCombinedStores: with stores that wait for each other, memory has all bytes of the kernel at the end. Its four warps write a byte of each word
// of the same lines, then halves of lines, and then change each word of these lines by an atomic. If lines are compressed, these lines are not compared: a store that
// comes back can overtake an atomic (docs/caba.md). Fewer requests reach the L2.
func TestCombinedStores(t *testing.T) {
	const text = `.version 6.0
.target sm_30
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %t, %lane, %warp, %v, %i;
	.reg .b64 %out, %p, %q;
	.reg .pred %more;
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %v, %ctaid.x;
	mad.wide.u32 %out, %v, 4096, %out;
	and.b32 %lane, %t, 31;
	shr.u32 %warp, %t, 5;
	mad.wide.u32 %p, %lane, 4, %out;
	cvt.u64.u32 %q, %warp;
	add.u64 %p, %p, %q;
	mov.u32 %i, 0;
again:
	add.u32 %v, %t, %i;
	st.global.u8 [%p], %v;
	add.u64 %p, %p, 128;
	add.u32 %i, %i, 1;
	setp.lt.u32 %more, %i, 8;
	@%more bra again;
	mad.wide.u32 %p, %t, 4, %out;
	setp.lt.u32 %more, %lane, 16;
	@%more st.global.u32 [%p+2048], %t;
	atom.global.add.u32 %v, [%p+2048], 1;
	ret;
}
`
	for _, routines := range []noRoutines{{codec.BDI}, {codec.FPC}} {
		var requests []int64
		for _, partial := range []string{"send", "combine"} {
			for _, buffer := range []string{"1", "3", "64"} {
				c := combineClock(t, routines, partial, buffer)
				out := runCombined(t, c, text, 8, 128, 8*4096, func(out *interp.Buffer) []any { return []any{out} })
				different := 0
				for at := 0; at < len(out.Bytes()); at += stream.LineBytes {
					if routines.codec == codec.BDI && at%4096 >= 2048 {
						continue
					}
					var line stream.Line
					if !c.forms.image.line((out.Addr()+uint64(at))/stream.LineBytes, &line) || !bytes.Equal(line[:], out.Bytes()[at:][:stream.LineBytes]) {
						different++
					}
				}
				n := c.Launches()[0].Counts
				if different != 0 {
					t.Errorf("assist.partial=%s, %s places: %d lines are not those of the execution", partial, buffer, different)
				}
				if (n.CombinedStores > 0) != (partial == "combine") {
					t.Errorf("assist.partial=%s, %s places: %d combined stores", partial, buffer, n.CombinedStores)
				}
				requests = append(requests, c.system.Counts.Stores)
			}
		}
		if requests[0] != requests[2] || requests[3] >= requests[0] || requests[5] >= requests[3] {
			t.Errorf("%d stores: want the same without combining, fewer with it, and fewest with many places", requests)
		}
	}
}

// TestCombinedStoresBeforeCopy: an asynchronous copy, whose bytes are unknown, between stores of the halves of a line. The first half is sent before the copy, and the
// second at the end of the warp: three stores reach the L2. A copy to another line leaves the first half in the buffer, where it meets the second.
func TestCombinedStoresBeforeCopy(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 copied)
{
	.reg .b32 %lane;
	.reg .b64 %p, %q, %offset;
	.reg .pred %first;
	.shared .align 16 .b8 s[16];
	ld.param.u64 %p, [out];
	ld.param.u64 %q, [copied];
	mov.u32 %lane, %tid.x;
	setp.eq.u32 %first, %lane, 0;
	mul.wide.u32 %offset, %lane, 4;
	add.u64 %p, %p, %offset;
	@%first st.shared.u32 [s], 6;
	fence.proxy.async;
	st.global.u32 [%p], %lane;
	@%first cp.async.bulk.global.shared::cta.bulk_group [%q], [s], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	st.global.u32 [%p+64], %lane;
	ret;
}
`
	for _, at := range []struct{ copied, stores, combined int64 }{{0, 3, 0}, {128, 2, 1}} {
		c := combineClock(t, noRoutines{codec.FPC}, "combine", "16")
		runCombined(t, c, text, 1, 16, 256, func(out *interp.Buffer) []any { return []any{out, out.Addr() + uint64(at.copied)} })
		if n := c.Launches()[0].CombinedStores; n != at.combined || c.system.Counts.Stores != at.stores {
			t.Errorf("a copy %d bytes after the line's first: %d stores, of them %d combined; want %d and %d", at.copied, c.system.Counts.Stores, n, at.stores, at.combined)
		}
	}
}

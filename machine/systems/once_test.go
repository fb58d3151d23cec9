package systems

import (
	"testing"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/models/gscalar"
	"gemu/probe"
	"gemu/ptx"
)

// onceLines stores a line by each warp: a constant in all lanes, which is a burst, or with odd CTAs the number of the lane times 1000, which is raw.
const onceLines = `.version 7.0
.target sm_70
.address_size 64
.visible .entry lines(.param .u64 to)
{
	.reg .b32 %lane, %cta, %v, %odd;
	.reg .b64 %base, %at;
	.reg .pred %p;
	ld.param.u64 %base, [to];
	mov.u32 %lane, %laneid;
	mov.u32 %cta, %ctaid.x;
	mul.wide.u32 %at, %cta, 128;
	add.u64 %base, %base, %at;
	mul.wide.u32 %at, %lane, 4;
	add.u64 %at, %base, %at;
	and.b32 %odd, %cta, 1;
	setp.eq.u32 %p, %odd, 1;
	mul.lo.u32 %v, %lane, 100000000;
	selp.u32 %v, %v, 7, %p;
	st.global.u32 [%at], %v;
	ret;
}`

// TestOnceByHand: a line of a constant leaves the L2 in one burst, another in four, and no routine runs. Without the encodings of registers all
// lines are raw.
func TestOnceByHand(t *testing.T) {
	system, err := once("")
	if err != nil {
		t.Fatal(err)
	}
	for _, encode := range []bool{true, false} {
		spec, _ := machine.Find("caba")
		spec.Systems = []*machine.System{system}
		c, err := machine.NewClock(spec, 0)
		if err != nil {
			t.Fatal(err)
		}
		recorder := stream.NewDataRecorder(c)
		recorder.RecordInstructions()
		if encode {
			recorder.Encode(gscalar.NewEncodings())
		}
		d := interp.NewDevice(interp.Config{Probes: []probe.Probe{recorder}})
		defer d.Close()
		module, err := d.Load("lines.ptx", []byte(onceLines))
		if err != nil {
			t.Fatal(err)
		}
		const lines = 8 << 10 // 1 MiB, of which the L2 keeps 768 KiB; some of the other 2048 are under way at the end
		to, err := d.Alloc(lines * 128)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := module.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(lines), Block: ptx.Dim(32), Args: []any{to}}); err != nil {
			t.Fatal(err)
		}
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		n := c.Memory().Total()
		written := n.WriteBacks / 4 // lines
		bursts := n.Bursts - n.MetadataMisses - n.MetadataWrites
		counts, assist := countsOf(c)
		if written < 1900 || written > 2100 || n.Reads != 0 || assist != 0 || counts.AssistInstructions != 0 {
			t.Errorf("%d lines written, want about 2048; %d sectors read, %d assist instructions", written, n.Reads, counts.AssistInstructions)
		}
		want := 4 * written
		if encode { // lines of both kinds leave the L2 alike, up to a set of 16 ways
			want = (1 + 4) * written / 2
		}
		if bursts < want-want/20 || bursts > want+want/20 || !encode && bursts != want {
			t.Errorf("with encodings %t: %d bursts, want about %d", encode, bursts, want)
		}
	}
	if _, err := once("bdi"); err == nil {
		t.Error("once has no value")
	}
}

package stream_test

import (
	"fmt"
	"slices"
	"testing"

	"gemu/interp"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

const instructionsText = `.version 8.0
.target sm_70
.address_size 64
.const .align 4 .b8 table[256];
.global .u32 sink;
.entry k()
{
	.shared .align 16 .b8 tile[8192];
	.reg .u32 %t, %s, %x, %y;
	.reg .u64 %g;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	shl.b32 %s, %t, 3;
	ld.shared.u32 %x, [%s];
	shl.b32 %s, %t, 7;
	st.shared.u32 [%s], %x;
	cvt.u64.u32 %g, %s;
	cvta.shared.u64 %g, %g;
	setp.lt.u32 %p, %t, 8;
	@%p ld.u32 %x, [%g];
	and.b32 %s, %t, 7;
	mov.u32 %y, table;
	mad.lo.u32 %s, %s, 4, %y;
	ld.const.u32 %x, [%s];
	@%p bra L;
	add.u32 %x, %x, 1;
	st.global.u32 [sink], %x;
L:
	ret;
}
`

// TestInstructions has each instruction of a warp with its passes and requests, by hand: a distance of two words between lanes takes two
// passes, one of 32 words a pass for each lane, and lanes read 8 words of constant memory.
func TestInstructions(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(instructionsText))
	if err != nil {
		t.Fatal(err)
	}
	c := &executed{}
	r := stream.NewRecorder(c)
	r.RecordInstructions()
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Probes: []probe.Probe{r}}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"mov 0 false 0", "shl 0 false 0", "ld 2 true 0", "shl 0 false 0", "st 32 true 0", "cvt 0 false 0", "cvta 0 false 0", "setp 0 false 0", "ld 8 true 0",
		"and 0 false 0", "mov 0 false 0", "mad 0 false 0", "ld 8 false 0", "bra 0 false 0", "ret 0 false 0", "add 0 false 0", "st 0 false 1", "ret 0 false 0",
	}
	if !slices.Equal(c.list, want) {
		t.Errorf("%q, want %q", c.list, want)
	}
	if c.instructions != int64(len(want)) {
		t.Errorf("%d instructions, want %d", c.instructions, len(want))
	}
}

// executed is the instructions of the first warp.
type executed struct {
	list         []string
	instructions int64
}

func (c *executed) BeginLaunch(*stream.Launch) {}
func (c *executed) CTA(l *stream.Launch, cta *stream.CTA) {
	w := &cta.Warps[0]
	c.instructions = w.Instructions // lanes return where they are
	for _, i := range w.Executed {
		instr, _ := l.Program.At(int(i.Instr))
		c.list = append(c.list, fmt.Sprintf("%s %d %t %d", instr.Op.Name, i.Passes, i.Shared, i.Requests))
	}
}
func (c *executed) EndLaunch(*stream.Launch, error) {}

const gapsText = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .u32 %r<4>;
	.reg .u64 %rd<4>;
	.reg .pred %p;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r0;
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p, %r1, 0;
	@%p st.global.u32 [%rd2], %r0;
	st.global.u32 [%rd0], %r0;
	ret;
}
`

// TestContiguousLanes: lanes next to each other access all bytes of their range, lanes with gaps do not, and all lanes may access one word.
func TestContiguousLanes(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(gapsText))
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	c := &kept{}
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{out}, Probes: []probe.Probe{stream.NewRecorder(c)}}); err != nil {
		t.Fatal(err)
	}
	type request struct{ sectors, whole, bytes uint8 }
	var got []request
	for _, x := range c.ctas[0].Warps[0].Transactions {
		got = append(got, request{x.Sectors, x.Whole, x.Bytes})
	}
	if want := []request{{15, 15, 128}, {15, 0, 64}, {1, 0, 4}}; !slices.Equal(got, want) {
		t.Errorf("requests %v, want %v", got, want)
	}
}

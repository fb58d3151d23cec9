package race

import (
	"slices"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

// private is a kernel with accesses to memory that threads share, to memory of a thread and to constant memory, and barriers.
const private = `.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 c[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 p)
{
	.reg .u32 %x; .reg .u64 %p;
	.local .u32 l; .shared .u32 s;
	ld.param.u64 %p, [p];
	ld.const.u32 %x, [c+4];
	st.local.u32 [l], %x;
	ld.local.u32 %x, [l];
	st.shared.u32 [s], %x;
	st.global.u32 [%p], %x;
	ld.u32 %x, [%p];
	bar.sync 0;
	bar.warp.sync -1;
	ret;
}
`

// TestPrivateAccessesHaveNoEvents: race selects no events of accesses to parameters, local memory and constant memory, nor of
// barriers of the CTA, whose lanes have events when they wait and continue.
func TestPrivateAccessesHaveNoEvents(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	mod, err := d.Load("k.ptx", []byte(private))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	race := New(new(finding.Log), 0)
	s := &planted.Selected{Of: race}
	if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{b}, Probes: []probe.Probe{race, s}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"st.shared.u32", "st.global.u32", "ld.u32", "bar.warp.sync"}; !slices.Equal(s.Opcodes, want) {
		t.Errorf("race selects %q, want %q", s.Opcodes, want)
	}
}

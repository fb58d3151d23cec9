package interp

import (
	"testing"

	"gemu/ptx"
)

// TestSaturatedSourceInWiderRegister: cvt.sat takes the low bits of a source register that is wider than the source type
// (manual 9.4.1).
func TestSaturatedSourceInWiderRegister(t *testing.T) {
	const src = `.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u32 a, .param .u64 out)
{
	.reg .u32 %a, %d<4>; .reg .u16 %h; .reg .u64 %o;
	ld.param.u32 %a, [a];
	ld.param.u64 %o, [out];
	cvt.u16.u32 %h, %a;
	cvt.sat.u8.u16 %d0, %a;
	cvt.sat.s8.u8 %d1, %h;
	cvt.sat.u8.s16 %d2, %a;
	cvt.sat.s16.u16 %d3, %a;
	st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3};
	ret;
}`
	for _, mode := range Modes() {
		for _, engine := range []Engine{Portable, DefaultEngine} {
			for a, want := range map[uint32][4]uint32{
				0x10001:    {1, 1, 1, 1},
				0x100:      {255, 0, 255, 256},
				0x7fff0080: {128, 127, 128, 128},
				0x1ffff:    {255, 127, 0, 0x7fff},
			} {
				mod, err := NewDevice(Config{Engine: engine}).Load("t.ptx", []byte(src))
				if err != nil {
					t.Fatal(err)
				}
				b, err := NewBuffer(mod.Device(), make([]uint32, 4))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Mode: mode, Args: []any{a, b}}); err != nil {
					t.Fatal(err)
				}
				if got := [4]uint32(Slice[uint32](b)); got != want {
					t.Errorf("%v, %v, %#x: %v, want %v", mode, engine, a, got, want)
				}
			}
		}
	}
}

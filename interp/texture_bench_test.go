package interp

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"gemu/ptx"
	"gemu/texture"
)

// BenchmarkTexture measures lanes of tex.2d per second: a kernel that does little else, on textures
// of 64×48 texels; lanes look up adjacent places.
func BenchmarkTexture(b *testing.B) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.visible .entry look(.param .u64 t, .param .u64 out)
{
	.reg .u64 %t, %p; .reg .u32 %i, %n; .reg .f32 %x, %y, %s, %f<4>; .reg .pred %q;
	ld.param.u64 %t, [t]; ld.param.u64 %p, [out];
	mov.u32 %i, %tid.x;
	cvt.rn.f32.u32 %x, %i;
	mov.f32 %y, 0f3EA00000;
	mov.f32 %s, 0f00000000;
	mov.u32 %n, 0;
L:	tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}];
	add.f32 %s, %s, %f0;
	add.f32 %y, %y, 0f3E400000;
	add.u32 %n, %n, 1;
	setp.lt.u32 %q, %n, 256;
	@%q bra L;
	mad.wide.u32 %p, %i, 4, %p;
	st.global.f32 [%p], %s;
	ret;
}`
	m, err := ptx.Parse("look.ptx", []byte(src))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, texture string }{
		{"bytes", "tex.2d(u8x4[48x64]=,float,filter=linear)"},
		{"floats", "tex.2d(f32x4[48x64]=,filter=linear)"},
		{"nearest", "tex.2d(u8x4[48x64]=,float)"},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := NewDevice(Config{Workers: 1})
			mod, err := d.LoadModule(m)
			if err != nil {
				b.Fatal(err)
			}
			o, err := ParseObject(c.texture, texture.DefaultSampler(), false)
			if err != nil {
				b.Fatal(err)
			}
			var data []byte
			for i := range o.Bytes() / 4 {
				v := uint32(i * 2654435761)
				if o.Image.Format.Kind == texture.Float {
					v = math.Float32bits(float32(v>>20) / 8)
				}
				data = binary.LittleEndian.AppendUint32(data, v)
			}
			t, err := o.Make(d, c.name, data)
			if err != nil {
				b.Fatal(err)
			}
			output, err := d.Alloc(4 * 32)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := mod.Run(context.Background(), &Launch{Kernel: "look", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{t, output}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*256*32/b.Elapsed().Seconds(), "lane-instr/s")
		})
	}
}

package race

import (
	"fmt"
	"slices"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/texture"
)

// textureParams holds the parameters and registers of the kernels of textureKernel.
const textureParams = `(.param .u64 tex, .param .u64 surf, .param .u32 x, .param .f32 u)
{
	.reg .u32 %c, %x;
	.reg .f32 %u, %v, %r<4>;
	.reg .u64 %t, %s;
	.reg .pred %q;
	ld.param.u64 %t, [tex];
	ld.param.u64 %s, [surf];
	ld.param.u32 %x, [x];
	ld.param.f32 %u, [u];
	mov.f32 %v, 0f3f000000;
`

// textureKernel is a kernel in which one thread writes a texel of a surface, while other threads sample a
// texture of the same array: in another CTA, or after a barrier.
const textureKernel = `.version 8.6
.target sm_90, texmode_unified
.address_size 64
.entry beside` + textureParams + `	mov.u32 %c, %ctaid.x;
	setp.eq.u32 %q, %c, 0;
	@%q sust.b.2d.b32.trap [%s, {%x, 0}], 7;
	@!%q tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%u, %v}];
	ret;
}
.entry gather` + textureParams + `	mov.u32 %c, %ctaid.x;
	setp.ne.u32 %q, %c, 0;
	@!%q tld4.r.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%u, %v}];
	@%q sust.b.2d.b32.trap [%s, {%x, 0}], 7;
	ret;
}
.entry met` + textureParams + `	mov.u32 %c, %tid.x;
	setp.eq.u32 %q, %c, 0;
	@%q sust.b.2d.b32.trap [%s, {%x, 0}], 7;
	bar.sync 0;
	tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%u, %v}];
	ret;
}
`

// TestRacesWithTextureReads checks that a texture read races with a write to each texel that the filter combines, and
// with no other texel, in every mode.
func TestRacesWithTextureReads(t *testing.T) {
	for _, c := range []struct {
		kernel string
		linear bool
		texel  int     // written by one thread, 0 to 7
		u      float32 // texture coordinate; the centre of texel i is i+0.5
		want   string
	}{
		{"beside", false, 3, 3.5, "read after write"},
		{"beside", false, 3, 4.5, ""},
		{"beside", false, 2, 3.0, ""},
		{"beside", true, 2, 3.0, "read after write"}, // between texels 2 and 3
		{"beside", true, 3, 3.0, "read after write"},
		{"beside", true, 4, 3.0, ""},
		{"beside", true, 4, 4.5, "read after write"}, // texel 4 alone
		{"beside", true, 5, 4.5, ""},
		{"beside", false, 7, 20, "read after write"}, // clamped
		{"gather", false, 3, 3.0, "write after read"},
		{"gather", false, 2, 3.0, "write after read"},
		{"gather", false, 4, 3.0, ""},
		{"met", true, 3, 3.0, ""},
	} {
		for _, mode := range interp.Modes() {
			name := mode.String()
			var log finding.Log
			dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{New(&log, 0)}})
			mod, err := dev.Load("texture.ptx", []byte(textureKernel))
			if err != nil {
				t.Fatal(err)
			}
			array, err := dev.NewArray("image", texture.Image{Geometry: texture.Image2D, Format: texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, Width: 8, Height: 2})
			if err != nil {
				t.Fatal(err)
			}
			texture, err := dev.NewTexture(interp.TextureDesc{Array: array, Sampler: texture.Sampler{Linear: c.linear, Address: [3]texture.AddressMode{texture.ClampToEdge, texture.ClampToEdge, texture.ClampToEdge}}})
			if err != nil {
				t.Fatal(err)
			}
			surface, err := dev.NewSurface("", array, 0, false)
			if err != nil {
				t.Fatal(err)
			}
			l := &interp.Launch{Kernel: c.kernel, Grid: ptx.Dim(2), Block: ptx.Dim(1), Args: []any{texture, surface, 4 * c.texel, c.u}, Mode: mode}
			if c.kernel == "met" {
				l.Grid, l.Block = ptx.Dim(1), ptx.Dim(64)
			}
			if _, err := mod.Run(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, f := range log.Findings() {
				got = append(got, fmt.Sprint(f.Kind, ", ", f.Count))
			}
			if c.want != "" {
				want = []string{c.want + ", 1"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, linear %v, %s: texel %d is written, and %g looked up: %q, want %q", c.kernel, c.linear, name, c.texel, c.u, got, want)
			}
		}
	}
}

package observe

import (
	"math/bits"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// emitTexels emits the texels that tex or tld4 is about to read.
func emitTexels(s *machine.EventStream, w *machine.Warp, instr *code.Instr) {
	if !w.CTA.IsSubscribed(probe.OnTexels) {
		return
	}
	x, list := &w.CTA.Code.Textures[instr.Side], s.Texels[:0]
	var offs []uint64
	for m := s.Step.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		f := &w.Files[lane/regfile.Lanes]
		object := func(list []code.Elem, t ptx.Type) *machine.Object {
			obj, _, _ := access.ObjectOf(w, machine.LaneValue(f, code.Row{Slot: list[0].Slot, Row: list[0].Row}, lane%regfile.Lanes))
			if obj == nil || obj.Type != t {
				return nil
			}
			return obj
		}
		obj := object(x.Sources[code.TextureObject], ptx.TexRef)
		if obj == nil {
			continue // the instruction traps
		}
		t := obj.Texture
		if named := x.Sources[code.TextureSampler]; len(named) > 0 {
			sharer := object(named, ptx.SamplerRef)
			if sharer == nil {
				continue
			}
			if t.Sampler = sharer.Texture.Sampler; t.CheckSampling() != "" {
				continue
			}
		}
		a := access.LookupArgs(f, x, lane%regfile.Lanes)
		offs = t.Texels(offs[:0], &x.Lookup, &a)
		for _, offset := range offs {
			list = append(list, probe.Texel{Lane: lane, Memory: obj.Memory.Public(), Offset: obj.Offset + offset, Bytes: t.Format.Bytes()})
		}
	}
	if s.Texels = list; len(list) > 0 {
		s.Step.Texels = list
		event.Emit(s, &s.Step, probe.OnTexels)
		s.Step.Texels = nil
	}
}

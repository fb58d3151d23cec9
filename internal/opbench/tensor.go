package opbench

import (
	"fmt"
	"strings"

	"gemu/ptx"
)

// allocate allocates 512 columns of tensor memory, and makes descriptors of matrices in shared memory, without swizzling.
const allocate = `	@%lead mbarrier.init.shared.b64 [bar], 1;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 512;
	ld.shared.b32 %tm, [where];
	mov.u64 %desc, s;
	shr.u64 %desc, %desc, 4;
	and.b64 %desc, %desc, 0x3fff;
	or.b64 %desc, %desc, 0x400800800000;
	mov.b32 %phase, 0;
	mov.b32 %three, 192;
	add.u32 %three, %three, %tm;
	bar.sync 0;
`

// fillTensorMemory stores metadata and scales in tensor memory, in columns 192 and 256: each chunk has its first two elements, or the
// first, and each scale of .ue8m0 is 1.
const fillTensorMemory = `	mov.u32 %sa, filled;
	mad.lo.u32 %sa, %tid, 16, %sa;
	st.shared.v4.u32 [%sa], {0x44444444, 0x44444444, 0x44444444, 0x44444444};
	st.shared.v4.u32 [%sa+512], {0x7f7f7f7f, 0x7f7f7f7f, 0x7f7f7f7f, 0x7f7f7f7f};
	mov.u32 %sa, s;
	mov.u64 %fill, filled;
	shr.u64 %fill, %fill, 4;
	and.b64 %fill, %fill, 0x3fff;
	or.b64 %fill, %fill, 0x400800800000;
	bar.sync 0;
	@%lead tcgen05.cp.cta_group::1.32x128b.warpx4 [%three], %fill;
	add.u64 %fill, %fill, 32;
	mov.b32 %scales, 256;
	add.u32 %scales, %scales, %tm;
	@%lead tcgen05.cp.cta_group::1.32x128b.warpx4 [%scales], %fill;
	@%lead tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
`

// tensor prepares the instructions of tensor memory. One warp allocates it; the first thread issues multiplications.
func (s *setup) tensor(v *ptx.Variant) {
	if v.Has("cta_group::2") {
		s.skip = "it needs a pair of CTAs"
		return
	}
	s.shared = true
	s.module = mbarrierVariable + ".shared .align 4 .b32 where;\n"
	s.decls = "\t.reg .b32 %tm, %phase, %idesc, %three;\n\t.reg .b64 %desc;\n\t.reg .pred %done;\n"
	s.before = fillShared + allocate
	s.finish = "\ttcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 512;\n"
	s.each = together
	commit := "\t@%lead tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
	s.args["a"] = "%tm"
	switch v.Form.Family {
	case ptx.FamilyTensorLoad:
		s.args["b"] = "0"
		s.after, s.with = "\ttcgen05.wait::ld.sync.aligned;\n", "tcgen05.wait::ld"
	case ptx.FamilyTensorStore:
		s.args["c"] = "0"
		s.after, s.with = "\ttcgen05.wait::st.sync.aligned;\n", "tcgen05.wait::st"
	case ptx.FamilyTensorWait:
	case ptx.FamilyTensorCommit:
		s.args["a"], s.args["b"] = "bar", "1"
		s.guard = "@%lead "
		s.after, s.with = waitForPhase, "mbarrier.try_wait"
	case ptx.FamilyTensorCopy, ptx.FamilyTensorShift:
		s.args["b"] = "%desc"
		s.guard = "@%lead "
		s.after, s.with = commit+waitForPhase, "tcgen05.commit, mbarrier.try_wait"
	case ptx.FamilyTensorMma:
		s.args["d"], s.args["a"], s.args["b"], s.args["c"] = "%tm", "%desc", "%desc", "%idesc"
		s.args["e"] = "%three"
		s.copies = 1
		// D of .f32, or .s32 for kind::i8; M = 128, N = 64. Types of A and B are 0, except for kind::tf32, and .e2m1 for kinds of 4 bits.
		idesc := uint32(8<<24 | 8<<17)
		switch {
		case v.Has("kind::mxf8f6f4"):
			idesc = 1<<27 | 1<<23 | 8<<17
		case v.Has("block_scale"):
			idesc = 1<<27 | 1<<23 | 8<<17 | 1<<7 | 1<<10
		case v.Has("kind::i8"):
			idesc |= 2 << 4
		case v.Has("kind::tf32"):
			idesc |= 1<<4 | 2<<7 | 2<<10
		default:
			idesc |= 1 << 4
		}
		if v.Has("sp") {
			idesc |= 1 << 2
		}
		if v.Has("sp") || v.Has("block_scale") {
			s.module += ".shared .align 128 .b32 filled[256];\n"
			s.decls += "\t.reg .b32 %scales;\n\t.reg .b64 %fill;\n"
			s.before += fillTensorMemory + strings.ReplaceAll(waitForPhase, "@N", "_FILLED")
			if v.Has("block_scale") {
				s.args["f"], s.args["g"] = "%scales", "%scales"
			}
		}
		s.skip = tensorSkip(v)
		s.before += "\tmov.b32 %idesc, " + fmt.Sprintf("%#x", idesc) + ";\n"
		s.guard = "@%lead "
		s.after, s.with = commit+waitForPhase, "tcgen05.commit, mbarrier.try_wait"
	}
}

// tensorSkip returns the reason why a multiplication is not measured, or "".
func tensorSkip(v *ptx.Variant) string {
	for _, m := range v.Modifiers() {
		switch {
		case m == "ashift", strings.HasPrefix(m, "decompress"), strings.HasPrefix(m, "collector"), m == "kind::ti16":
			return "gemu bench prepares no such operands in tensor memory"
		}
	}
	return ""
}

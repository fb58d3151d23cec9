package ptx

import "strings"

// Manual sections 9.7.14 to 9.7.16: matrix instructions. Their operands are
// register lists whose length depends on shape and type; the table leaves them
// open ("...").
var matrixRows = []row{
	{"wmma", "9.7.14.4", ClassTensor, AffineNone, `
		wmma.load.m.sync.aligned.layout.shape{.ss}.type ...;      .m = a b c; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128; .ss = global shared shared::cta; .type = f16 bf16 tf32 f32 f64 s8 u8 s4 u4 b1 s32; ptx 6.0; sm 70
		wmma.store.d.sync.aligned.layout.shape{.ss}.type ...;     .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128; .ss = global shared shared::cta; .type = f16 f32 f64 s32; ptx 6.0; sm 70
		wmma.mma{.bitop}{.popc}.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype{.btype}{.ctype}{.satfinite} ...; .bitop = xor and; .alayout = row col; .blayout = row col; .shape = m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128; .dtype = f16 f32 f64 s32; .atype = f16 f32 bf16 tf32 f64 s8 u8 s4 u4 b1; .btype = f16 f32 bf16 tf32 f64 s8 u8 s4 u4 b1; .ctype = f16 f32 f64 s32; ptx 6.0; sm 70`},
	{"mma", "9.7.14.5", ClassTensor, AffineNone, `
		mma.sync.aligned.shape.alayout.blayout{.rnd}{.satfinite}{.kind}{.block_scale}{.scale}.dtype.atype.btype.ctype{.stype}{.bitop}{.popc} ...; .shape = m8n8k4 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m8n8k16 m8n8k32 m8n8k128 m16n8k128 m16n8k256; .alayout = row col; .blayout = row col; .kind = kind::f8f6f4 kind::mxf4 kind::mxf4nvf4 kind::mxf8f6f4; .scale = scale_vec::1X scale_vec::2X scale_vec::4X; .dtype = f16 f32 f64 s32; .atype = f16 bf16 tf32 f64 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4 b1; .btype = f16 bf16 tf32 f64 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4 b1; .ctype = f16 f32 f64 s32; .stype = ue8m0 ue4m3; .bitop = xor and; ptx 6.4; sm 70
		mma.sp.sync.aligned.shape.alayout.blayout{.satfinite}{.kind}{.block_scale}{.scale}.dtype.atype.btype.ctype{.stype} ...; .shape = m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128; .alayout = row; .blayout = col; .kind = kind::f8f6f4 kind::mxf4 kind::mxf4nvf4 kind::mxf8f6f4; .scale = scale_vec::1X scale_vec::2X scale_vec::4X; .dtype = f16 f32 s32; .atype = f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4; .btype = f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4; .ctype = f16 f32 s32; .stype = ue8m0 ue4m3; ptx 7.1; sm 80
		mma.sp::ordered_metadata.sync.aligned.shape.alayout.blayout{.satfinite}{.kind}{.block_scale}{.scale}.dtype.atype.btype.ctype{.stype} ...; .shape = m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128; .alayout = row; .blayout = col; .kind = kind::f8f6f4 kind::mxf4 kind::mxf4nvf4 kind::mxf8f6f4; .scale = scale_vec::1X scale_vec::2X scale_vec::4X; .dtype = f16 f32 s32; .atype = f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4; .btype = f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4; .ctype = f16 f32 s32; .stype = ue8m0 ue4m3; ptx 8.5; sm 80`},
	{"ldmatrix", "9.7.14.5.15", ClassTensor, AffineNone, `
		ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type ...;    .shape = m8n8 m16n16; .num = x1 x2 x4; .ss = shared shared::cta; .type = b16 b8; ptx 6.5; sm 75
		ldmatrix.sync.aligned.shape.num{.trans}{.ss}.dfmt.sfmt ...; .shape = m8n16 m16n16; .num = x1 x2 x4; .ss = shared shared::cta; .dfmt = b8x16; .sfmt = b6x16_p32 b4x16_p64; ptx 8.6; sm 100`},
	{"stmatrix", "9.7.14.5.16", ClassTensor, AffineNone, `
		stmatrix.sync.aligned.shape.num{.trans}{.ss}.type ...;    .shape = m8n8 m16n8; .num = x1 x2 x4; .ss = shared shared::cta; .type = b16 b8; ptx 7.8; sm 90`},
	{"movmatrix", "9.7.14.5.17", ClassTensor, AffineNone, `
		movmatrix.sync.aligned.m8n8.trans.b16 d:b32, a:b32;       ptx 7.8; sm 75`},
	{"wgmma", "9.7.15.5", ClassTensor, AffineNone, `
		wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype{.op}{.popc} ...; .shape = ` + wgmmaShapes + `; .dtype = f16 f32 s32; .atype = f16 bf16 tf32 e4m3 e5m2 s8 u8 b1; .btype = f16 bf16 tf32 e4m3 e5m2 s8 u8 b1; .op = and; ptx 8.0; sm 90
		wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.dtype.atype.btype ...; .shape = ` + wgmmaShapes + `; .dtype = f16 f32 s32; .atype = f16 bf16 tf32 e4m3 e5m2 s8 u8; .btype = f16 bf16 tf32 e4m3 e5m2 s8 u8; ptx 8.2; sm 90
		wgmma.fence.sync.aligned;                                 ptx 8.0; sm 90
		wgmma.commit_group.sync.aligned;                          ptx 8.0; sm 90
		wgmma.wait_group.sync.aligned #a:u32;                     ptx 8.0; sm 90`},
	{"tcgen05", "9.7.16", ClassTensor, AffineNone, `
		tcgen05.alloc.group.sync.aligned{.shared::cta}.b32 ...;   .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		tcgen05.dealloc.group.sync.aligned.b32 ...;               .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		tcgen05.relinquish_alloc_permit.group.sync.aligned;       .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		tcgen05.ld{.red}.sync.aligned.shape.num{.mod}{.redop}{.abs}{.NaN}.type ...; .shape = 16x64b 16x128b 16x256b 32x32b 16x32bx2; .num = x1 x2 x4 x8 x16 x32 x64 x128; .mod = pack::16b; .redop = min max; .type = b32 u32 s32 f32; ptx 8.6; sm 100
		tcgen05.st.sync.aligned.shape.num{.mod}.b32 ...;          .shape = 16x64b 16x128b 16x256b 32x32b 16x32bx2; .num = x1 x2 x4 x8 x16 x32 x64 x128; .mod = unpack::16b; ptx 8.6; sm 100
		tcgen05.op.sync.aligned;                                  .op = wait::ld wait::st; ptx 8.6; sm 100
		tcgen05.cp.group.shape{.multicast}{.dfmt}{.sfmt} ...;     .group = cta_group::1 cta_group::2; .shape = 128x256b 4x256b 128x128b 64x128b 32x128b; .multicast = warpx2::02_13 warpx2::01_23 warpx4; .dfmt = b8x16; .sfmt = b6x16_p32 b4x16_p64; ptx 8.6; sm 100
		tcgen05.shift.group.down ...;                             .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		tcgen05.mma{.sp}{.ws}.group.kind{.block_scale}{.scale}{.ashift}{.acol}{.bcol} ...; .group = cta_group::1 cta_group::2; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4; .scale = scale_vec::1X scale_vec::2X scale_vec::4X block16 block32; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; .bcol = collector::b0::fill collector::b0::use collector::b0::lastuse collector::b0::discard collector::b1::fill collector::b1::use collector::b1::lastuse collector::b1::discard collector::b2::fill collector::b2::use collector::b2::lastuse collector::b2::discard collector::b3::fill collector::b3::use collector::b3::lastuse collector::b3::discard; ptx 8.6; sm 100
		tcgen05.when;                                             .when = fence::before_thread_sync fence::after_thread_sync; ptx 8.6; sm 100
		tcgen05.commit.group.mech{.ss}{.multicast::cluster}.b64 ...; .group = cta_group::1 cta_group::2; .mech = mbarrier::arrive::one; .ss = shared::cluster; ptx 8.6; sm 100`},
}

const wgmmaShapes = "m64n8k16 m64n16k16 m64n24k16 m64n32k16 m64n40k16 m64n48k16 m64n56k16 m64n64k16 m64n72k16 m64n80k16 m64n88k16 m64n96k16 m64n104k16 m64n112k16 m64n120k16 m64n128k16 m64n136k16 m64n144k16 m64n152k16 m64n160k16 m64n168k16 m64n176k16 m64n184k16 m64n192k16 m64n200k16 m64n208k16 m64n216k16 m64n224k16 m64n232k16 m64n240k16 m64n248k16 m64n256k16 " +
	"m64n8k8 m64n16k8 m64n24k8 m64n32k8 m64n40k8 m64n48k8 m64n56k8 m64n64k8 m64n72k8 m64n80k8 m64n88k8 m64n96k8 m64n104k8 m64n112k8 m64n120k8 m64n128k8 m64n136k8 m64n144k8 m64n152k8 m64n160k8 m64n168k8 m64n176k8 m64n184k8 m64n192k8 m64n200k8 m64n208k8 m64n216k8 m64n224k8 m64n232k8 m64n240k8 m64n248k8 m64n256k8 " +
	"m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n40k32 m64n48k32 m64n56k32 m64n64k32 m64n72k32 m64n80k32 m64n88k32 m64n96k32 m64n104k32 m64n112k32 m64n120k32 m64n128k32 m64n136k32 m64n144k32 m64n152k32 m64n160k32 m64n168k32 m64n176k32 m64n184k32 m64n192k32 m64n200k32 m64n208k32 m64n216k32 m64n224k32 m64n232k32 m64n240k32 m64n248k32 m64n256k32 " +
	"m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n48k64 m64n64k64 m64n80k64 m64n96k64 m64n112k64 m64n128k64 m64n144k64 m64n160k64 m64n176k64 m64n192k64 m64n208k64 m64n224k64 m64n240k64 m64n256k64 " +
	"m64n8k256 m64n16k256 m64n24k256 m64n32k256 m64n48k256 m64n64k256 m64n80k256 m64n96k256 m64n112k256 m64n128k256 m64n144k256 m64n160k256 m64n176k256 m64n192k256 m64n208k256 m64n224k256 m64n240k256 m64n256k256"

// Manual sections 9.7.10 and 9.7.11: textures and surfaces.
var textureRows = []row{
	{"tex", "9.7.10.3", ClassTexture, AffineNone, `
		tex{.lod}.geom.vec.dtype.ctype ...;   .lod = base level grad; .geom = 1d 2d 3d a1d a2d cube acube 2dms a2dms; .vec = v2 v4; .dtype = u32 s32 f16 f32 f16x2; .ctype = s32 f32`},
	{"tld4", "9.7.10.4", ClassTexture, AffineNone, `
		tld4.comp.geom.v4.dtype.f32 ...;      .comp = r g b a; .geom = 2d a2d cube acube; .dtype = u32 s32 f32; ptx 2.2; sm 20`},
	{"txq", "9.7.10.5", ClassTexture, AffineNone, `
		txq{.level}.query.b32 ...;            .query = width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2; ptx 1.5`},
	{"istypep", "9.7.10.6", ClassTexture, AffineNone, `
		istypep.type p:pred, a:b64;           .type = texref samplerref surfref; ptx 4.0; sm 30`},
	{"suld", "9.7.11.1", ClassTexture, AffineNone, `
		suld.b.geom{.cop}{.vec}.dtype.clamp ...; .geom = 1d 2d 3d a1d a2d; .cop = ca cg cs cv; .vec = v2 v4; .dtype = b8 b16 b32 b64; .clamp = trap clamp zero; ptx 1.5`},
	{"sust", "9.7.11.2", ClassTexture, AffineNone, `
		sust.mode.geom{.cop}{.vec}.ctype.clamp ...; .mode = b p; .geom = 1d 2d 3d a1d a2d; .cop = wb cg cs wt; .vec = v2 v4; .ctype = b8 b16 b32 b64; .clamp = trap clamp zero; ptx 1.5`},
	{"sured", "9.7.11.3", ClassTexture, AffineNone, `
		sured.mode.op.geom.ctype.clamp ...;   .mode = b p; .op = add min max and or; .geom = 1d 2d 3d; .ctype = u32 u64 s32 b32 s64 b64; .clamp = trap clamp zero; ptx 2.0; sm 20`},
	{"suq", "9.7.11.4", ClassTexture, AffineNone, `
		suq.query.b32 ...;                    .query = width height depth channel_data_type channel_order array_size memory_layout; ptx 1.5`},
}

// Manual section 9.7.18: video. Operand selectors (a.b0, b.h10) make the
// operands open.
var videoRows = func() []row {
	const scalar = `
		$.dtype.atype.btype{.sat}{.op2} ...;  .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; .op2 = add min max; ptx 2.0; sm 20`
	const packed = `
		$.dtype.atype.btype{.sat}{.add} ...;  .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; ptx 3.0; sm 30`
	var rows []row
	add := func(section, forms string, names ...string) {
		for _, n := range names {
			rows = append(rows, row{n, section, ClassVideo, AffineNone, strings.ReplaceAll(forms, "$", n)})
		}
	}
	add("9.7.18.1.1", scalar, "vadd", "vsub", "vabsdiff", "vmin", "vmax")
	add("9.7.18.1.2", `
		$.dtype.atype.u32{.sat}.mode{.op2} ...; .dtype = u32 s32; .atype = u32 s32; .mode = clamp wrap; .op2 = add min max; ptx 2.0; sm 20`, "vshl", "vshr")
	add("9.7.18.1.3", `
		$.dtype.atype.btype{.po}{.sat}{.scale} ...; .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; .scale = shr7 shr15; ptx 2.0; sm 20`, "vmad")
	add("9.7.18.1.4", `
		$.atype.btype.cmp{.op2} ...;          .atype = u32 s32; .btype = u32 s32; .cmp = eq ne lt le gt ge; .op2 = add min max; ptx 2.0; sm 20`, "vset")
	add("9.7.18.2.1", packed, "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2")
	add("9.7.18.2.2", `
		$.atype.btype.cmp{.add} ...;          .atype = u32 s32; .btype = u32 s32; .cmp = eq ne lt le gt ge; ptx 3.0; sm 30`, "vset2", "vset4")
	add("9.7.18.2.3", packed, "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4")
	return rows
}()

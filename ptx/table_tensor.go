package ptx

import (
	"fmt"
	"strings"
)

// Manual sections 9.7.14 to 9.7.16: matrix instructions. The lanes of a warp hold a matrix in fragments: <a*mk> are the
// registers in which each lane keeps its part of the m×k elements (see count). No matrix instruction computes lane by
// lane: a result depends on elements in other lanes, so it is never uniform or affine.
var matrixRows = []row{
	{"wmma", "9.7.14.4.3", ClassTensor, AffineNone, FamilyFragment, Collective | Aligned | Reads | MayTrap, `
		wmma.load.m!.sync.aligned.layout.shape{.ss}.f16 <d*8>:f16x2, [a], b?:u32; .m = a b; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared shared::cta; ptx 6.0; sm 70
		wmma.load.a!.sync.aligned.layout.shape{.ss}.type <d*mk>:type-, [a], b?:u32; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared shared::cta; .type = bf16 s8 u8; ptx 6.3; sm 72
		wmma.load.a!.sync.aligned.layout.m16n16k8{.ss}.tf32 <d*mk>:tf32, [a], b?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.load.a!.sync.aligned.layout.m8n8k4{.ss}.f64 <d*mk>:f64, [a], b?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.load.a!.sync.aligned.row.m8n8k32{.ss}.type <d*mk>, [a], b?:u32; .ss = global shared shared::cta; .type = s4 u4; ptx 6.3; sm 75
		wmma.load.a!.sync.aligned.row.m8n8k128{.ss}.b1 <d*mk>:b1, [a], b?:u32; .ss = global shared shared::cta; ptx 6.3; sm 75
		wmma.load.b!.sync.aligned.layout.shape{.ss}.type <d*kn>:type-, [a], b?:u32; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared shared::cta; .type = bf16 s8 u8; ptx 6.3; sm 72
		wmma.load.b!.sync.aligned.layout.m16n16k8{.ss}.tf32 <d*kn>:tf32, [a], b?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.load.b!.sync.aligned.layout.m8n8k4{.ss}.f64 <d*kn>:f64, [a], b?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.load.b!.sync.aligned.col.m8n8k32{.ss}.type <d*kn>, [a], b?:u32; .ss = global shared shared::cta; .type = s4 u4; ptx 6.3; sm 75
		wmma.load.b!.sync.aligned.col.m8n8k128{.ss}.b1 <d*kn>:b1, [a], b?:u32; .ss = global shared shared::cta; ptx 6.3; sm 75
		wmma.load.c!.sync.aligned.layout.shape{.ss}.type <d*mn>:type-, [a], b?:u32; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared shared::cta; .type = f16 f32 s32; ptx 6.0; sm 70
		wmma.load.c!.sync.aligned.layout.m16n16k8{.ss}.f32 <d*mn>:f32, [a], b?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.load.c!.sync.aligned.layout.m8n8k4{.ss}.f64 <d*mn>:f64, [a], b?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.load.c!.sync.aligned.layout.shape{.ss}.s32 <d*mn>:s32, [a], b?:u32; .layout = row col; .shape = m8n8k32 m8n8k128; .ss = global shared shared::cta; ptx 6.3; sm 75
		wmma.load.m!.sync.layout.shape{.ss}.f16 <d*8>:f16x2, [a], b?:u32; .m = a b; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared; ptx 6.0; sm 70; until ptx 6.2 sm 62
		wmma.load.c!.sync.layout.shape{.ss}.type <d*mn>, [a], b?:u32; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared; .type = f16 f32; ptx 6.0; sm 70; until ptx 6.2 sm 62`},
	{"wmma", "9.7.14.4.4", ClassTensor, AffineNone, FamilyFragment, Collective | Aligned | Writes | MayTrap, `
		wmma.store.d!.sync.aligned.layout.shape{.ss}.type [a], <b*mn>:type-, c?:u32; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared shared::cta; .type = f16 f32 s32; ptx 6.0; sm 70
		wmma.store.d!.sync.aligned.layout.m16n16k8{.ss}.f32 [a], <b*mn>:f32, c?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.store.d!.sync.aligned.layout.m8n8k4{.ss}.f64 [a], <b*mn>:f64, c?:u32; .layout = row col; .ss = global shared shared::cta; ptx 7.0; sm 80
		wmma.store.d!.sync.aligned.layout.shape{.ss}.s32 [a], <b*mn>:s32, c?:u32; .layout = row col; .shape = m8n8k32 m8n8k128; .ss = global shared shared::cta; ptx 6.3; sm 75
		wmma.store.d!.sync.layout.shape{.ss}.type [a], <b*mn>, c?:u32; .layout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .ss = global shared; .type = f16 f32; ptx 6.0; sm 70; until ptx 6.2 sm 62`},
	{"wmma", "9.7.14.4.5", ClassTensor, AffineNone, FamilyWmma, Collective | Aligned, `
		wmma.mma!.sync.aligned.alayout.blayout.shape.dtype.ctype <d*mn>:dtype, <a*8>:f16x2, <b*8>:f16x2, <c*mn>:ctype; .alayout = row col; .blayout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .dtype = f16 f32; .ctype = f16 f32; ptx 6.0; sm 70
		wmma.mma!.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32 <d*mn>:f32, <a*mk>:bf16, <b*kn>:bf16, <c*mn>:f32; .alayout = row col; .blayout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; ptx 7.0; sm 80
		wmma.mma!.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32 <d*mn>:f32, <a*mk>:tf32, <b*kn>:tf32, <c*mn>:f32; .alayout = row col; .blayout = row col; ptx 7.0; sm 80
		wmma.mma!.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64 <d*mn>:f64, <a*mk>:f64, <b*kn>:f64, <c*mn>:f64; .alayout = row col; .blayout = row col; ptx 7.0; sm 80
		wmma.mma!.sync.aligned.alayout.blayout.shape.s32.s8.s8.s32{.satfinite} <d*mn>:s32, <a*mk>:s8-, <b*kn>:s8-, <c*mn>:s32; .alayout = row col; .blayout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; ptx 6.3; sm 72
		wmma.mma!.sync.aligned.alayout.blayout.shape.s32.u8.u8.s32{.satfinite} <d*mn>:s32, <a*mk>:u8-, <b*kn>:u8-, <c*mn>:s32; .alayout = row col; .blayout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; ptx 6.3; sm 72
		wmma.mma!.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32{.satfinite} <d*mn>:s32, <a*mk>:s4-, <b*kn>:s4-, <c*mn>:s32; ptx 6.3; sm 75
		wmma.mma!.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32{.satfinite} <d*mn>:s32, <a*mk>:u4-, <b*kn>:u4-, <c*mn>:s32; ptx 6.3; sm 75
		wmma.mma!.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 <d*mn>:s32, <a*mk>:b1-, <b*kn>:b1-, <c*mn>:s32; .op = xor and; ptx 6.3; sm 75
		wmma.mma!.sync{.aligned}.alayout.blayout.shape.dtype.ctype{.satfinite} <d*mn>:dtype, <a*8>:f16x2, <b*8>:f16x2, <c*mn>:ctype; .alayout = row col; .blayout = row col; .shape = m16n16k16 m8n32k16 m32n8k16; .dtype = f16 f32; .ctype = f16 f32; ptx 6.0; sm 70; until ptx 6.4 sm 62`},
	{"mma", "9.7.14.5.14", ClassTensor, AffineNone, FamilyMma, Collective | Aligned, `
		mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype <d*4mn>:dtype, <a*4mk>:f16, <b*4kn>:f16, <c*4mn>:ctype; .alayout = row col; .blayout = row col; .dtype = f16 f32; .ctype = f16 f32; ptx 6.4; sm 70
		mma.sync.aligned.shape.row.col.dtype.f16.f16.ctype <d*mn>:dtype, <a*mk>:f16, <b*kn>:f16, <c*mn>:ctype; .shape = m16n8k8 m16n8k16; .dtype = f16 f32; .ctype = f16 f32; ptx 6.5; sm 75
		mma.sync.aligned.shape.row.col.f32.bf16.bf16.f32 <d*mn>:f32, <a*mk>:bf16, <b*kn>:bf16, <c*mn>:f32; .shape = m16n8k8 m16n8k16; ptx 7.0; sm 80
		mma.sync.aligned.shape.row.col.f32.tf32.tf32.f32 <d*mn>:f32, <a*mk>:tf32, <b*kn>:tf32, <c*mn>:f32; .shape = m16n8k4 m16n8k8; ptx 7.0; sm 80
		mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype <d*mn>:dtype, <a*mk>:atype, <b*kn>:btype, <c*mn>:ctype; .shape = m16n8k16 m16n8k32; .atype = e4m3 e5m2; .btype = e4m3 e5m2; .dtype = f16 f32; .ctype = f16 f32; ptx 8.4; sm 89
		mma.sync.aligned.shape.row.col{.rnd}.f64.f64.f64.f64 <d*mn>:f64, <a*mk>:f64, <b*kn>:f64, <c*mn>:f64; .shape = m8n8k4 m16n8k4 m16n8k8 m16n8k16; ptx 7.0; sm 80
		mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk>:atype-, <b*kn>:btype, <c*mn>:s32; .atype = s8 u8; .btype = s8 u8; ptx 6.5; sm 75
		mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk>:atype, <b*kn>:btype, <c*mn>:s32; .shape = m16n8k16 m16n8k32; .atype = s8 u8; .btype = s8 u8; ptx 6.5; sm 75
		mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk>:atype, <b*kn>:btype, <c*mn>:s32; .shape = m8n8k32 m16n8k32 m16n8k64; .atype = s4 u4; .btype = s4 u4; ptx 6.5; sm 75
		mma.sync.aligned.shape.row.col.s32.b1.b1.s32.op.popc <d*mn>:s32, <a*mk>:b1, <b*kn>:b1, <c*mn>:s32; .shape = m8n8k128 m16n8k128 m16n8k256; .op = xor and; ptx 7.0; sm 75
		mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.dtype.atype.btype.ctype <d*mn>:dtype, <a*4>:b32, <b*2>:b32, <c*mn>:ctype; .dtype = f16 f32; .ctype = f16 f32; .atype = e4m3 e5m2 e3m2 e2m3 e2m1; .btype = e4m3 e5m2 e3m2 e2m3 e2m1; ptx 8.7; sm 120`},
	{"mma", "9.7.14.5.14", ClassTensor, AffineNone, FamilyMma, Collective | Aligned | MayTrap, `
		mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0 <d*4>:f32, <a*4>:b32!, <b*2>:b32!, <c*4>:f32, %<e*1>:b32, <f*2>:u16, %<g*1>:b32, <h*2>:u16; .atype = e4m3 e5m2 e3m2 e2m3 e2m1; .btype = e4m3 e5m2 e3m2 e2m3 e2m1; ptx 8.7; sm 120
		mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 <d*4>:f32, <a*mk>:e2m1, <b*kn>:e2m1, <c*4>:f32, %<e*1>:b32, <f*2>:u16, %<g*1>:b32, <h*2>:u16; ptx 8.7; sm 120
		mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale.f32.e2m1.e2m1.f32.ue8m0 <d*4>:f32, <a*mk>:e2m1, <b*kn>:e2m1, <c*4>:f32, %<e*1>:b32, <f*2>:u16, %<g*1>:b32, <h*2>:u16; .scale = scale_vec::2X scale_vec::4X; ptx 8.7; sm 120
		mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 <d*4>:f32, <a*mk>:e2m1, <b*kn>:e2m1, <c*4>:f32, %<e*1>:b32, <f*2>:u16, %<g*1>:b32, <h*2>:u16; ptx 8.7; sm 120`},
	{"mma", "9.7.14.6.3", ClassTensor, AffineNone, FamilyMma, Collective | Aligned | MayTrap, `
		mma.sp.sync.aligned.shape.row.col.f32.f16.f16.f32 <d*mn>:f32, <a*mk/2>:f16, <b*kn>:f16, <c*mn>:f32, %<e*1>:b32, #f=0..3:u32; .sp = sp sp::ordered_metadata; .shape = m16n8k16 m16n8k32; ptx 7.1; sm 80
		mma.sp.sync.aligned.shape.row.col.f16.f16.f16.f16 <d*mn>:f16, <a*mk/2>:f16, <b*kn>:f16, <c*mn>:f16, %<e*1>:b32, #f=0..3:u32; .sp = sp sp::ordered_metadata; .shape = m16n8k16 m16n8k32; ptx 7.1; sm 80
		mma.sp.sync.aligned.shape.row.col.f32.bf16.bf16.f32 <d*mn>:f32, <a*mk/2>:bf16, <b*kn>:bf16, <c*mn>:f32, %<e*1>:b32, #f=0..3:u32; .sp = sp sp::ordered_metadata; .shape = m16n8k16 m16n8k32; ptx 7.1; sm 80
		mma.sp.sync.aligned.shape.row.col.f32.tf32.tf32.f32 <d*mn>:f32, <a*mk/2>:tf32, <b*kn>:tf32, <c*mn>:f32, %<e*1>:b32, #f=0..3:u32; .sp = sp sp::ordered_metadata; .shape = m16n8k8 m16n8k16; ptx 7.1; sm 80
		mma.sp.sync.aligned.m16n8k64.row.col.f32.atype.btype.f32 <d*mn>:f32, <a*mk/2>:atype, <b*kn>:btype, <c*mn>:f32, %<e*1>:b32, #f=0:u32; .sp = sp sp::ordered_metadata; .atype = e4m3 e5m2; .btype = e4m3 e5m2; ptx 8.4; sm 89
		mma.sp.sync.aligned.m16n8k64.row.col.f16.atype.btype.f16 <d*mn>:f16, <a*mk/2>:atype, <b*kn>:btype, <c*mn>:f16, %<e*1>:b32, #f=0:u32; .sp = sp::ordered_metadata; .atype = e4m3 e5m2; .btype = e4m3 e5m2; ptx 8.7; sm 89
		mma.sp.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk/2>:atype, <b*kn>:btype, <c*mn>:s32, %<e*1>:b32, #f=0..1:u32; .sp = sp sp::ordered_metadata; .atype = s8 u8; .btype = s8 u8; ptx 7.1; sm 80
		mma.sp.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk/2>:atype, <b*kn>:btype, <c*mn>:s32, %<e*1>:b32, #f=0:u32; .sp = sp sp::ordered_metadata; .atype = s8 u8; .btype = s8 u8; ptx 7.1; sm 80
		mma.sp.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk/2>:atype, <b*kn>:btype, <c*mn>:s32, %<e*1>:b32, #f=0..1:u32; .sp = sp sp::ordered_metadata; .atype = s4 u4; .btype = s4 u4; ptx 7.1; sm 80
		mma.sp.sync.aligned.m16n8k128.row.col{.satfinite}.s32.atype.btype.s32 <d*mn>:s32, <a*mk/2>:atype, <b*kn>:btype, <c*mn>:s32, %<e*1>:b32, #f=0:u32; .sp = sp sp::ordered_metadata; .atype = s4 u4; .btype = s4 u4; ptx 7.1; sm 80
		mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.atype.btype.f32 <d*mn>:f32, <a*4>:b32, <b*4>:b32, <c*mn>:f32, %<e*1>:b32, #f=0:u32; .sp = sp::ordered_metadata; .atype = e4m3 e5m2 e3m2 e2m3 e2m1; .btype = e4m3 e5m2 e3m2 e2m3 e2m1; ptx 8.7; sm 120
		mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.atype.btype.f16 <d*mn>:f16, <a*4>:b32, <b*4>:b32, <c*mn>:f16, %<e*1>:b32, #f=0:u32; .sp = sp::ordered_metadata; .atype = e4m3 e5m2 e3m2 e2m3 e2m1; .btype = e4m3 e5m2 e3m2 e2m3 e2m1; ptx 8.7; sm 120
		mma.sp.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0 <d*4>:f32, <a*4>:b32!, <b*4>:b32!, <c*4>:f32, %<e*1>:b32, #f=0:u32, %<g*1>:b32, <h*2>:u16, %<i*1>:b32, <j*2>:u16; .sp = sp::ordered_metadata; .atype = e4m3 e5m2 e3m2 e2m3 e2m1; .btype = e4m3 e5m2 e3m2 e2m3 e2m1; ptx 8.7; sm 120
		mma.sp.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 <d*4>:f32, <a*mk/2>:e2m1, <b*kn>:e2m1, <c*4>:f32, %<e*1>:b32, #f=0:u32, %<g*1>:b32, <h*2>:u16, %<i*1>:b32, <j*2>:u16; .sp = sp::ordered_metadata; ptx 8.7; sm 120
		mma.sp.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale.f32.e2m1.e2m1.f32.ue8m0 <d*4>:f32, <a*mk/2>:e2m1, <b*kn>:e2m1, <c*4>:f32, %<e*1>:b32, #f=0:u32, %<g*1>:b32, <h*2>:u16, %<i*1>:b32, <j*2>:u16; .sp = sp::ordered_metadata; .scale = scale_vec::2X scale_vec::4X; ptx 8.7; sm 120
		mma.sp.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 <d*4>:f32, <a*mk/2>:e2m1, <b*kn>:e2m1, <c*4>:f32, %<e*1>:b32, #f=0:u32, %<g*1>:b32, <h*2>:u16, %<i*1>:b32, <j*2>:u16; .sp = sp::ordered_metadata; ptx 8.7; sm 120`},
	{"ldmatrix", "9.7.14.5.15", ClassTensor, AffineNone, FamilyTile, Collective | Aligned | Reads | MayTrap, `
		ldmatrix.sync.aligned.shape.num{.trans}{.ss}.b16 <d*num>:b32, [a]; .shape = m8n8; .num = x1 x2 x4; .ss = shared shared::cta; ptx 6.5; sm 75
		ldmatrix.sync.aligned.shape.num.trans{.ss}.b8 <d*2num>:b32, [a]; .shape = m16n16; .num = x1 x2; .ss = shared shared::cta; ptx 8.6; sm 100
		ldmatrix.sync.aligned.shape.num{.ss}.b8x16.sfmt <d*num>:b32, [a]; .shape = m8n16; .num = x1 x2 x4; .ss = shared shared::cta; .sfmt = b6x16_p32 b4x16_p64; ptx 8.6; sm 100
		ldmatrix.sync.aligned.shape.num.trans{.ss}.b8x16.sfmt <d*2num>:b32, [a]; .shape = m16n16; .num = x1 x2; .ss = shared shared::cta; .sfmt = b6x16_p32 b4x16_p64; ptx 8.6; sm 100`},
	{"stmatrix", "9.7.14.5.16", ClassTensor, AffineNone, FamilyTile, Collective | Aligned | Writes | MayTrap, `
		stmatrix.sync.aligned.shape.num{.trans}{.ss}.b16 [a], <b*num>:b32; .shape = m8n8; .num = x1 x2 x4; .ss = shared shared::cta; ptx 7.8; sm 90
		stmatrix.sync.aligned.shape.num.trans{.ss}.b8 [a], <b*num>:b32; .shape = m16n8; .num = x1 x2 x4; .ss = shared shared::cta; ptx 8.6; sm 100`},
	{"movmatrix", "9.7.14.5.17", ClassTensor, AffineNone, FamilyMovmatrix, Collective | Aligned, `
		movmatrix.sync.aligned.m8n8.trans.b16 d:b32, %a:b32;       ptx 7.8; sm 75`},
	{"wgmma", "9.7.15.5.2", ClassTensor, AffineNone, FamilyWgmma, Collective | Aligned | Reads | Async | MayTrap, `
		wgmma.mma_async!.sync.aligned.shape.dtype.f16.f16 +<d*mn/4>:dtype, a:u64 or <a*4>:f16x2, b:u64, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32, #i=0..1:u32, #j=0..1?:u32; .shape = ` + wgmmaShapes(16) + `; .dtype = f16 f32; ptx 8.0; sm 90
		wgmma.mma_async!.sync.aligned.shape.f32.bf16.bf16 +<d*mn/4>:f32, a:u64 or <a*4>:f16x2, b:u64, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32, #i=0..1:u32, #j=0..1?:u32; .shape = ` + wgmmaShapes(16) + `; ptx 8.0; sm 90
		wgmma.mma_async!.sync.aligned.shape.f32.tf32.tf32 +<d*mn/4>:f32, a:u64 or <a*4>:f16x2, b:u64, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32; .shape = ` + wgmmaShapes(8) + `; ptx 8.0; sm 90
		wgmma.mma_async!.sync.aligned.shape.dtype.atype.btype +<d*mn/4>:dtype, a:u64 or <a*4>:f16x2, b:u64, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32; .shape = ` + wgmmaShapes(32) + `; .dtype = f16 f32; .atype = e4m3 e5m2; .btype = e4m3 e5m2; ptx 8.0; sm 90
		wgmma.mma_async!.sync.aligned.shape{.satfinite}.s32.atype.btype +<d*mn/4>:s32, a:u64 or <a*4>:b32, b:u64, !c:pred; .shape = ` + wgmmaIntegerShapes(32) + `; .atype = s8 u8; .btype = s8 u8; ptx 8.0; sm 90
		wgmma.mma_async!.sync.aligned.shape.s32.b1.b1.and.popc +<d*mn/4>:s32, a:u64 or <a*4>:b32, b:u64, !c:pred; .shape = ` + wgmmaIntegerShapes(256) + `; ptx 8.0; sm 90`},
	{"wgmma", "9.7.15.6.3", ClassTensor, AffineNone, FamilyWgmma, Collective | Aligned | Reads | Async | MayTrap, `
		wgmma.mma_async!.sp.sync.aligned.shape.dtype.f16.f16 +<d*mn/4>:dtype, a:u64 or <a*4>:f16x2, b:u64, %<e*1>:b32, #f=0..1:u32, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32, #i=0..1:u32, #j=0..1?:u32; .shape = ` + wgmmaShapes(32) + `; .dtype = f16 f32; ptx 8.2; sm 90
		wgmma.mma_async!.sp.sync.aligned.shape.f32.bf16.bf16 +<d*mn/4>:f32, a:u64 or <a*4>:f16x2, b:u64, %<e*1>:b32, #f=0..1:u32, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32, #i=0..1:u32, #j=0..1?:u32; .shape = ` + wgmmaShapes(32) + `; ptx 8.2; sm 90
		wgmma.mma_async!.sp.sync.aligned.shape.f32.tf32.tf32 +<d*mn/4>:f32, a:u64 or <a*4>:f16x2, b:u64, %<e*1>:b32, #f=0..1:u32, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32; .shape = ` + wgmmaShapes(16) + `; ptx 8.2; sm 90
		wgmma.mma_async!.sp.sync.aligned.shape.dtype.atype.btype +<d*mn/4>:dtype, a:u64 or <a*4>:f16x2, b:u64, %<e*1>:b32, #f=0:u32, !c:pred, #g=-1..1/2:s32, #h=-1..1/2:s32; .shape = ` + wgmmaShapes(64) + `; .dtype = f16 f32; .atype = e4m3 e5m2; .btype = e4m3 e5m2; ptx 8.2; sm 90
		wgmma.mma_async!.sp.sync.aligned.shape{.satfinite}.s32.atype.btype +<d*mn/4>:s32, a:u64 or <a*4>:b32, b:u64, %<e*1>:b32, #f=0:u32, !c:pred; .shape = ` + wgmmaIntegerShapes(64) + `; .atype = s8 u8; .btype = s8 u8; ptx 8.2; sm 90`},
	{"wgmma", "9.7.15.7", ClassTensor, AffineNone, FamilyWgmmaFence, Collective | Aligned | Async, `
		wgmma.fence!.sync.aligned;                                 ptx 8.0; sm 90`},
	{"wgmma", "9.7.15.7", ClassTensor, AffineNone, FamilyWgmmaCommit, Collective | Aligned | Async, `
		wgmma.commit_group!.sync.aligned;                          ptx 8.0; sm 90`},
	{"wgmma", "9.7.15.7", ClassTensor, AffineNone, FamilyWgmmaWait, Collective | Aligned | Waits, `
		wgmma.wait_group!.sync.aligned #a=0..4294967295:u32;       ptx 8.0; sm 90`},
	{"tcgen05", "9.7.16.7", ClassTensor, AffineNone, FamilyTensorAlloc, Collective | Aligned | Writes | Waits | MayTrap, `
		tcgen05.alloc!.group.sync.aligned{.ss}.b32 [a], b=32..512/32:u32; .group = cta_group::1 cta_group::2; .ss = shared::cta; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.7", ClassTensor, AffineNone, FamilyTensorAlloc, Collective | Aligned | SideEffect | MayTrap, `
		tcgen05.dealloc!.group.sync.aligned.b32 a:u32, b=32..512/32:u32; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		tcgen05.relinquish_alloc_permit!.group.sync.aligned; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.8", ClassTensor, AffineNone, FamilyTensorLoad, Collective | Aligned | Reads | Async | MayTrap, `
		tcgen05.ld!.sync.aligned.shape.num{.pack::16b}.b32 <d*num>:b32, [a]:u32; .shape = 16x64b 32x32b; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.ld!.sync.aligned.shape.num{.pack::16b}.b32 <d*2num>:b32, [a]:u32; .shape = 16x128b; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.ld!.sync.aligned.shape.num{.pack::16b}.b32 <d*4num>:b32, [a]:u32; .shape = 16x256b; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.ld!.sync.aligned.16x32bx2.num{.pack::16b}.b32 <d*num>:b32, [a]:u32, #b:u32; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.ld!.red.sync.aligned.32x32b.num.op{.abs}{.NaN}.type <d*num>:b32, q:b32, [a]:u32; .num = x1 x2 x4 x8 x16 x32 x64 x128; .op = min max; .type = u32 s32 f32; ptx 8.8; sm 101
		tcgen05.ld!.red.sync.aligned.16x32bx2.num.op{.abs}{.NaN}.type <d*num>:b32, q:b32, [a]:u32, #b:u32; .num = x1 x2 x4 x8 x16 x32 x64 x128; .op = min max; .type = u32 s32 f32; ptx 8.8; sm 101`},
	{"tcgen05", "9.7.16.8", ClassTensor, AffineNone, FamilyTensorStore, Collective | Aligned | Writes | Async | MayTrap, `
		tcgen05.st!.sync.aligned.shape.num{.unpack::16b}.b32 [a]:u32, <b*num>; .shape = 16x64b 32x32b; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.st!.sync.aligned.shape.num{.unpack::16b}.b32 [a]:u32, <b*2num>; .shape = 16x128b; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.st!.sync.aligned.shape.num{.unpack::16b}.b32 [a]:u32, <b*4num>; .shape = 16x256b; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100
		tcgen05.st!.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [a]:u32, #c:u32, <b*num>; .num = x1 x2 x4 x8 x16 x32 x64 x128; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.8", ClassTensor, AffineNone, FamilyTensorWait, Collective | Aligned | Waits, `
		tcgen05.op!.sync.aligned; .op = wait::ld wait::st; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.9", ClassTensor, AffineNone, FamilyTensorCopy, Reads | Writes | Async | MayTrap, `
		tcgen05.cp!.group.shape{.multicast}{.dfmt}{.sfmt} [a]:u32, b:u64; .group = cta_group::1 cta_group::2; .shape = 128x256b 4x256b 128x128b 64x128b 32x128b; .multicast = warpx2::02_13 warpx2::01_23 warpx4; .dfmt = b8x16; .sfmt = b6x16_p32 b4x16_p64; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.9", ClassTensor, AffineNone, FamilyTensorShift, Reads | Writes | Async | MayTrap, `
		tcgen05.shift!.group.down [a]:u32; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.10", ClassTensor, AffineNone, FamilyTensorMma, Reads | Writes | Async | MayTrap, `
		tcgen05.mma!.group.kind{.acol} [d]:b32, a:u64 or [a]:b32, b:u64, c:u32, <f*4>?:b32, !g:pred, #h?:u32; .group = cta_group::1; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.group.kind{.acol} [d]:b32, a:u64 or [a]:b32, b:u64, c:u32, <f*8>?:b32, !g:pred, #h?:u32; .group = cta_group::2; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.group.kind.block_scale{.scale}{.acol} [d]:b32, a:u64 or [a]:b32, b:u64, c:u32, [f]:b32, [g]:b32, !h:pred; .group = cta_group::1 cta_group::2; .kind = kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4; .scale = scale_vec::1X scale_vec::2X scale_vec::4X block16 block32; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma.ws!.cta_group::1.kind{.bcol} [d]:b32, a:u64 or [a]:b32, b:u64, c:u32, !g:pred, h?:u64; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .bcol = collector::b0::fill collector::b0::use collector::b0::lastuse collector::b0::discard collector::b1::fill collector::b1::use collector::b1::lastuse collector::b1::discard collector::b2::fill collector::b2::use collector::b2::lastuse collector::b2::discard collector::b3::fill collector::b3::use collector::b3::lastuse collector::b3::discard; ptx 8.6; sm 100
		tcgen05.mma!.sp.group.kind{.acol} [d]:b32, a:u64 or [a]:b32, b:u64, [e]:b32, c:u32, <f*4>?:b32, !g:pred, #h?:u32; .group = cta_group::1; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.sp.group.kind{.acol} [d]:b32, a:u64 or [a]:b32, b:u64, [e]:b32, c:u32, <f*8>?:b32, !g:pred, #h?:u32; .group = cta_group::2; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.sp.group.kind.block_scale{.scale}{.acol} [d]:b32, a:u64 or [a]:b32, b:u64, [e]:b32, c:u32, [f]:b32, [g]:b32, !h:pred; .group = cta_group::1 cta_group::2; .kind = kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4; .scale = scale_vec::1X scale_vec::2X scale_vec::4X block16 block32; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma.ws!.sp.cta_group::1.kind{.bcol} [d]:b32, a:u64 or [a]:b32, b:u64, [e]:b32, c:u32, !g:pred, h?:u64; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .bcol = collector::b0::fill collector::b0::use collector::b0::lastuse collector::b0::discard collector::b1::fill collector::b1::use collector::b1::lastuse collector::b1::discard collector::b2::fill collector::b2::use collector::b2::lastuse collector::b2::discard collector::b3::fill collector::b3::use collector::b3::lastuse collector::b3::discard; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.10", ClassTensor, AffineNone, FamilyTensorMma, Reads | Writes | Async | MayTrap, `
		tcgen05.mma!.group.kind.ashift{.acol} [d]:b32, [a]:b32, b:u64, c:u32, <f*4>?:b32, !g:pred, #h?:u32; .group = cta_group::1; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.group.kind.ashift{.acol} [d]:b32, [a]:b32, b:u64, c:u32, <f*8>?:b32, !g:pred, #h?:u32; .group = cta_group::2; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.sp.group.kind.ashift{.acol} [d]:b32, [a]:b32, b:u64, [e]:b32, c:u32, <f*4>?:b32, !g:pred, #h?:u32; .group = cta_group::1; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::lastuse collector::a::discard; ptx 8.6; sm 100
		tcgen05.mma!.sp.group.kind.ashift{.acol} [d]:b32, [a]:b32, b:u64, [e]:b32, c:u32, <f*8>?:b32, !g:pred, #h?:u32; .group = cta_group::2; .kind = kind::f16 kind::tf32 kind::f8f6f4 kind::i8; .acol = collector::a::lastuse collector::a::discard; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.11", ClassTensor, AffineNone, FamilyNothing, Fences, `
		tcgen05.when!; .when = fence::before_thread_sync fence::after_thread_sync; ptx 8.6; sm 100`},
	{"tcgen05", "9.7.16.12", ClassTensor, AffineNone, FamilyTensorCommit, Barrier | Writes | Async | MayTrap, `
		tcgen05.commit!.group.mbarrier::arrive::one{.ss}{.multicast}.b64 [a], b?multicast:u16; .group = cta_group::1 cta_group::2; .ss = shared::cluster; .multicast = multicast::cluster; ptx 8.6; sm 100`},
}

// wgmmaShapes returns the matrix shapes of wgmma with the given k (manual 9.7.15.3).
func wgmmaShapes(k int) string {
	var list []string
	for n := 8; n <= 256; n += 8 {
		list = append(list, fmt.Sprintf("m64n%dk%d", n, k))
	}
	return strings.Join(list, " ")
}

// wgmmaIntegerShapes returns the matrix shapes of wgmma with the given k for integer and single-bit types, which above n = 32
// have only every second n.
func wgmmaIntegerShapes(k int) string {
	list := []string{fmt.Sprintf("m64n8k%d", k), fmt.Sprintf("m64n24k%d", k)}
	for n := 16; n <= 256; n += 16 {
		list = append(list, fmt.Sprintf("m64n%dk%d", n, k))
	}
	return strings.Join(list, " ")
}

// Manual sections 9.7.10 and 9.7.11: textures and surfaces. Textures do not change while a kernel runs, so a fetch at
// uniform coordinates is uniform. Surfaces can change.
var textureRows = []row{
	{"tex", "9.7.10.3", ClassTexture, AffineUniform, FamilyTexture, Reads | MayTrap,
		texForms("{.base}!", "", " 2dms a2dms", "") + texForms(".level!", ", g:ctype", "", "; ptx 2.0") + texForms(".grad!", ", <g*xyz>:f32, <h*xyz>:f32", "", "; ptx 2.0")},
	{"tld4", "9.7.10.4", ClassTexture, AffineUniform, FamilyTexture, Reads | MayTrap, `
		tld4.comp.geom.v4.dtype.f32 <d*4>:dtype|p?:pred, [a, @b?:u64, <c*geom>:f32], <e*xyz>?:s32, f?:f32; .comp = r g b a; .geom = 2d a2d; .dtype = u32 s32 f32; ptx 2.2; sm 20
		tld4.comp.geom.v4.dtype.f32 <d*4>:dtype|p?:pred, [a, @b?:u64, <c*geom>:f32], f?:f32; .comp = r g b a; .geom = cube acube; .dtype = u32 s32 f32; ptx 2.2; sm 20`},
	{"txq", "9.7.10.5", ClassTexture, AffineUniform, FamilyTextureQuery, Reads | MayTrap, `
		txq.query.b32 d:b32, [a]; .query = width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2; ptx 1.5
		txq.level!.query.b32 d:b32, [a], b:u32; .query = width height depth; ptx 4.3`},
	{"istypep", "9.7.10.6", ClassTexture, AffineUniform, FamilyIstypep, Pure, `
		istypep.type p:pred, a:u64;           .type = texref samplerref surfref; ptx 4.0; sm 30`},
	{"suld", "9.7.11.1", ClassTexture, AffineNone, FamilySurface, Reads | MayTrap, `
		suld.b!.geom{.cop}{.vec}.dtype.clamp <d>:dtype+, [a, <b*geom>:u32]; .geom = 1d 2d 3d a1d a2d; .cop = ca cg cs cv; .vec = v2 v4; .dtype = b8 b16 b32; .clamp = trap clamp zero; ptx 1.5
		suld.b!.geom{.cop}{.vec}.dtype.clamp <d>:dtype+, [a, <b*geom>:u32]; .geom = 1d 2d 3d a1d a2d; .cop = ca cg cs cv; .vec = v2; .dtype = b64; .clamp = trap clamp zero; ptx 1.5`},
	{"sust", "9.7.11.2", ClassTexture, AffineNone, FamilySurface, Writes | MayTrap, `
		sust.mode!.geom{.cop}{.vec}.ctype.clamp [a, <b*geom>:u32], <c>:ctype+; .mode = b; .geom = 1d 2d 3d a1d a2d; .cop = wb cg cs wt; .vec = v2 v4; .ctype = b8 b16 b32; .clamp = trap clamp zero; ptx 1.5
		sust.mode!.geom{.cop}{.vec}.ctype.clamp [a, <b*geom>:u32], <c>:ctype+; .mode = b; .geom = 1d 2d 3d a1d a2d; .cop = wb cg cs wt; .vec = v2; .ctype = b64; .clamp = trap clamp zero; ptx 1.5
		sust.mode!.geom{.cop}{.vec}.ctype.clamp [a, <b*geom>:u32], <c>:ctype+; .mode = p; .geom = 1d 2d 3d a1d a2d; .cop = wb cg cs wt; .vec = v2 v4; .ctype = b32; .clamp = trap clamp zero; ptx 1.5`},
	{"sured", "9.7.11.3", ClassTexture, AffineNone, FamilySurface, Reads | Writes | Atomic | MayTrap, `
		sured.mode!.op.geom.ctype.clamp [a, <b*geom>:u32], c:ctype+; .mode = b; .op = add; .geom = 1d 2d 3d; .ctype = u32 s32 u64; .clamp = trap clamp zero; ptx 2.0; sm 20
		sured.mode!.op.geom.ctype.clamp [a, <b*geom>:u32], c:ctype+; .mode = b; .op = min max; .geom = 1d 2d 3d; .ctype = u32 s32 u64 s64; .clamp = trap clamp zero; ptx 2.0; sm 20
		sured.mode!.op.geom.ctype.clamp [a, <b*geom>:u32], c:ctype+; .mode = b p; .op = and or; .geom = 1d 2d 3d; .ctype = b32; .clamp = trap clamp zero; ptx 2.0; sm 20
		sured.mode!.op.geom.ctype.clamp [a, <b*geom>:u32], c:ctype+; .mode = p; .op = add min max; .geom = 1d 2d 3d; .ctype = b32; .clamp = trap clamp zero; ptx 2.0; sm 20
		sured.mode!.op.geom.ctype.clamp [a, <b*geom>:u32], c:ctype+; .mode = p; .op = min max; .geom = 1d 2d 3d; .ctype = b64; .clamp = trap clamp zero; ptx 2.0; sm 20`},
	{"suq", "9.7.11.4", ClassTexture, AffineUniform, FamilySurfaceQuery, Reads | MayTrap, `
		suq.query.b32 d:b32, [a]; .query = width height depth channel_data_type channel_order array_size memory_layout; ptx 1.5`},
}

// texForms returns the forms of a kind of tex. suffix contains the operands after the coordinates, more lists additional
// geometries with integer coordinates, and since is the end of each form. Results are .v4, or .v2 of .f16x2. Coordinates
// are integers or floats; a cube requires floats. Only forms with float coordinates can compare depths, and not in 3D. A
// cube has no offsets.
func texForms(kind, suffix, more, since string) string {
	var forms strings.Builder
	for _, result := range []string{".vec = v4; .dtype = u32 s32 f16 f32", ".vec = v2; .dtype = f16x2"} {
		for _, c := range []struct{ geometries, coordinates, optional string }{
			{"1d 2d 3d a1d a2d" + more, "s32", ", <e*xyz>?:s32"},
			{"3d", "f32", ", <e*xyz>?:s32"},
			{"1d 2d a1d a2d", "f32", ", <e*xyz>?:s32, f?:f32"},
			{"cube acube", "f32", ", f?:f32"},
		} {
			fmt.Fprintf(&forms, "\ntex%s.geom.vec.dtype.ctype <d>:dtype|p?:pred, [a, @b?:u64, <c*geom>:ctype]%s%s; .geom = %s; .ctype = %s; %s%s",
				kind, suffix, c.optional, c.geometries, c.coordinates, result, since)
		}
	}
	return forms.String()
}

// Manual section 9.7.18: video. Selectors choose bytes and halves of the operands (a.b0, b.h10); ruleVideo checks them.
var videoRows = func() []row {
	const scalar = `
		$.dtype.atype.btype{.sat} d.sel:dtype, a.sel:atype, b.sel:btype, c?:dtype; .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; ptx 2.0; sm 20
		$.dtype.atype.btype{.sat}.op2 d:dtype, a.sel:atype, b.sel:btype, c:dtype; .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; .op2 = add min max; ptx 2.0; sm 20`
	const packed = `
		$.dtype.atype.btype{.sat} d.sel:dtype, %a.sel:atype, %b.sel:btype, %%c:dtype; .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; ptx 3.0; sm 30
		$.dtype.atype.btype.add d.sel:dtype, %a.sel:atype, %b.sel:btype, %%c:dtype; .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; ptx 3.0; sm 30`
	const compared = `
		$.atype.btype.cmp{.add} d.sel:u32, %a.sel:atype, %b.sel:btype, %%c:u32;         .atype = u32 s32; .btype = u32 s32; .cmp = eq ne lt le gt ge; ptx 3.0; sm 30`
	var rows []row
	add := func(section string, family Family, forms string, names ...string) {
		for _, n := range names {
			rows = append(rows, row{n, section, ClassVideo, AffineUniform, family, Pure, strings.ReplaceAll(forms, "$", n)})
		}
	}
	add("9.7.18.1.1", FamilyVideo, scalar, "vadd", "vsub", "vabsdiff", "vmin", "vmax")
	add("9.7.18.1.2", FamilyVideo, `
		$.dtype.atype.u32{.sat}.mode d.sel:dtype, a.sel:atype, b.sel:u32, c?:dtype; .dtype = u32 s32; .atype = u32 s32; .mode = clamp wrap; ptx 2.0; sm 20
		$.dtype.atype.u32{.sat}.mode.op2 d:dtype, a.sel:atype, b.sel:u32, c:dtype; .dtype = u32 s32; .atype = u32 s32; .mode = clamp wrap; .op2 = add min max; ptx 2.0; sm 20`, "vshl", "vshr")
	add("9.7.18.1.3", FamilyVmad, `
		$.dtype.atype.btype{.po}{.sat}{.scale} d:dtype, -a.sel:atype, -b.sel:btype, -c:dtype; .dtype = u32 s32; .atype = u32 s32; .btype = u32 s32; .scale = shr7 shr15; ptx 2.0; sm 20`, "vmad")
	add("9.7.18.1.4", FamilyVideo, `
		$.atype.btype.cmp d.sel:u32, a.sel:atype, b.sel:btype, c?:u32;         .atype = u32 s32; .btype = u32 s32; .cmp = eq ne lt le gt ge; ptx 2.0; sm 20
		$.atype.btype.cmp.op2 d:u32, a.sel:atype, b.sel:btype, c:u32;          .atype = u32 s32; .btype = u32 s32; .cmp = eq ne lt le gt ge; .op2 = add min max; ptx 2.0; sm 20`, "vset")
	add("9.7.18.2.1", FamilyVideo2, packed, "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2")
	add("9.7.18.2.2", FamilyVideo2, compared, "vset2")
	add("9.7.18.2.3", FamilyVideo4, packed, "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4")
	add("9.7.18.2.4", FamilyVideo4, compared, "vset4")
	return rows
}()

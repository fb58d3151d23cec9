package ptx

// Manual section 9.7.1 and 9.7.2: integer and extended-precision arithmetic.
var integerRows = []row{
	{"add", "9.7.1.1", ClassInt, AffineAdd, FamilyCompute, Pure, `
		add.type d, a, b;                     .type = u16 u32 u64 s16 s32 s64`},
	{"add", "9.7.1.1", ClassInt, AffineUniform, FamilyCompute, Pure, `
		add.x2 d, a, b;                       .x2 = u16x2 s16x2; ptx 8.0; sm 90
		add.sat.s32 d, a, b
		add.sat.type d, a, b;                 .type = u32 u16x2 s16x2; ptx 9.2; sm 120
		add{.sat}.type d, a, b;               .type = u8x4 s8x4; ptx 9.2; sm 120`},
	{"sub", "9.7.1.2", ClassInt, AffineSub, FamilyCompute, Pure, `
		sub.type d, a, b;                     .type = u16 u32 u64 s16 s32 s64`},
	{"sub", "9.7.1.2", ClassInt, AffineUniform, FamilyCompute, Pure, `
		sub.sat.s32 d, a, b
		sub{.sat}.type d, a, b;               .type = u8x4 s8x4; ptx 9.2; sm 120`},
	{"mul", "9.7.1.3", ClassMul, AffineMul, FamilyCompute, Pure, `
		mul.lo!.type d, a, b;                  .type = u16 u32 u64 s16 s32 s64
		mul.wide!.type d:type*2, a, b;         .type = u16 u32 s16 s32`},
	{"mul", "9.7.1.3", ClassMul, AffineUniform, FamilyCompute, Pure, `
		mul.hi!.type d, a, b;                  .type = u16 u32 u64 s16 s32 s64`},
	{"mad", "9.7.1.4", ClassMul, AffineMad, FamilyCompute, Pure, `
		mad.lo!.type d, a, b, c;               .type = u16 u32 u64 s16 s32 s64
		mad.wide!.type d:type*2, a, b, c:type*2; .type = u16 u32 s16 s32`},
	{"mad", "9.7.1.4", ClassMul, AffineUniform, FamilyCompute, Pure, `
		mad.hi!.type d, a, b, c;               .type = u16 u32 u64 s16 s32 s64
		mad.hi!.sat.s32 d, a, b, c`},
	{"clmad", "9.7.1.5", ClassMul, AffineUniform, FamilyCompute, Pure, `
		clmad.mode!.u64 d, a, b, c;            .mode = hi lo; ptx 9.3; sm 80`}, // section of the PTX 9.3 manual
	{"mul24", "9.7.1.5", ClassMul, AffineUniform, FamilyCompute, Pure, `
		mul24.mode!.type d, a, b;              .mode = hi lo; .type = u32 s32`},
	{"mad24", "9.7.1.6", ClassMul, AffineUniform, FamilyCompute, Pure, `
		mad24.mode!.type d, a, b, c;           .mode = hi lo; .type = u32 s32
		mad24.hi!.sat.s32 d, a, b, c`},
	{"sad", "9.7.1.7", ClassInt, AffineUniform, FamilyCompute, Pure, `
		sad.type d, a, b, c;                  .type = u16 u32 u64 s16 s32 s64`},
	{"div", "9.7.1.8", ClassSFU, AffineDiv, FamilyCompute, Pure | Partial, `
		div.type d, a, b;                     .type = u16 u32 u64 s16 s32 s64`},
	{"rem", "9.7.1.9", ClassSFU, AffineRem, FamilyCompute, Pure | Partial, `
		rem.type d, a, b;                     .type = u16 u32 u64 s16 s32 s64`},
	{"abs", "9.7.1.10", ClassInt, AffineAbs, FamilyCompute, Pure, `
		abs.type d, a;                        .type = s16 s32 s64`},
	{"neg", "9.7.1.11", ClassInt, AffineNeg, FamilyCompute, Pure, `
		neg.type d, a;                        .type = s16 s32 s64`},
	{"neg", "9.7.1.11", ClassInt, AffineUniform, FamilyCompute, Pure, `
		neg.s8x4 d, a;                        ptx 9.2; sm 120`},
	{"min", "9.7.1.12", ClassInt, AffineMin, FamilyCompute, Pure, `
		min.type d, a, b;                     .type = u16 u32 u64 s16 s32 s64`},
	{"min", "9.7.1.12", ClassInt, AffineUniform, FamilyCompute, Pure, `
		min.relu.s32 d, a, b;                 ptx 8.0; sm 90
		min.x2 d, a, b;                       .x2 = u16x2 s16x2; ptx 8.0; sm 90
		min.relu.s16x2 d, a, b;               ptx 8.0; sm 90
		min.type d, a, b;                     .type = u8x4 s8x4; ptx 9.2; sm 120
		min.relu.s8x4 d, a, b;                ptx 9.2; sm 120`},
	{"max", "9.7.1.13", ClassInt, AffineMax, FamilyCompute, Pure, `
		max.type d, a, b;                     .type = u16 u32 u64 s16 s32 s64`},
	{"max", "9.7.1.13", ClassInt, AffineUniform, FamilyCompute, Pure, `
		max.relu.s32 d, a, b;                 ptx 8.0; sm 90
		max.x2 d, a, b;                       .x2 = u16x2 s16x2; ptx 8.0; sm 90
		max.relu.s16x2 d, a, b;               ptx 8.0; sm 90
		max.type d, a, b;                     .type = u8x4 s8x4; ptx 9.2; sm 120
		max.relu.s8x4 d, a, b;                ptx 9.2; sm 120`},
	{"popc", "9.7.1.14", ClassInt, AffineUniform, FamilyCompute, Pure, `
		popc.type d:u32, a;                   .type = b32 b64; ptx 2.0; sm 20`},
	{"clz", "9.7.1.15", ClassInt, AffineUniform, FamilyCompute, Pure, `
		clz.type d:u32, a;                    .type = b32 b64; ptx 2.0; sm 20`},
	{"bfind", "9.7.1.16", ClassInt, AffineUniform, FamilyCompute, Pure, `
		bfind{.shiftamt}.type d:u32, a;       .type = u32 u64 s32 s64; ptx 2.0; sm 20`},
	{"fns", "9.7.1.17", ClassInt, AffineUniform, FamilyCompute, Pure | Partial, `
		fns.b32 d, a, b:b32, c:s32;           ptx 6.0; sm 30`},
	{"brev", "9.7.1.18", ClassInt, AffineUniform, FamilyCompute, Pure, `
		brev.type d, a;                       .type = b32 b64; ptx 2.0; sm 20`},
	{"bfe", "9.7.1.19", ClassInt, AffineBfe, FamilyCompute, Pure, `
		bfe.type d, a, b=0..255:u32, c=0..255:u32;.type = u32 u64 s32 s64; ptx 2.0; sm 20`},
	{"bfi", "9.7.1.20", ClassInt, AffineUniform, FamilyCompute, Pure, `
		bfi.type d, a, b, c=0..255:u32, e=0..255:u32;.type = b32 b64; ptx 2.0; sm 20`},
	{"szext", "9.7.1.21", ClassInt, AffineUniform, FamilyCompute, Pure, `
		szext.mode.type d, a, b:u32;          .mode = clamp wrap; .type = u32 s32; ptx 7.6; sm 70`},
	{"bmsk", "9.7.1.22", ClassInt, AffineUniform, FamilyCompute, Pure, `
		bmsk.mode.b32 d:type-, a:type-, b:type-; .mode = clamp wrap; ptx 7.6; sm 70`},
	{"dp4a", "9.7.1.23", ClassMul, AffineUniform, FamilyCompute, Pure, `
		dp4a.atype.btype d:u32, a:atype, b:btype, c:u32;      .atype = u32 s32; .btype = u32 s32; ptx 5.0; sm 61`},
	{"dp2a", "9.7.1.24", ClassMul, AffineUniform, FamilyCompute, Pure, `
		dp2a.mode!.atype.btype d:u32, a:atype, b:btype, c:u32; .mode = lo hi; .atype = u32 s32; .btype = u32 s32; ptx 5.0; sm 61`},

	{"add", "9.7.2.1", ClassInt, AffineUniform, FamilyCompute, Pure | CarryOut, `
		add.cc.type d, a, b;                  .type = u32 s32 u64 s64; ptx 1.2`},
	{"addc", "9.7.2.2", ClassInt, AffineUniform, FamilyCompute, Pure | CarryIn, `
		addc.type d, a, b;                    .type = u32 s32 u64 s64; ptx 1.2
		addc.type d, a, b;                    .type = u16 s16; ptx 1.2; undocumented`},
	{"addc", "9.7.2.2", ClassInt, AffineUniform, FamilyCompute, Pure | CarryIn | CarryOut, `
		addc.cc.type d, a, b;                 .type = u32 s32 u64 s64; ptx 1.2`},
	{"sub", "9.7.2.3", ClassInt, AffineUniform, FamilyCompute, Pure | CarryOut, `
		sub.cc.type d, a, b;                  .type = u32 s32 u64 s64; ptx 1.2`},
	{"subc", "9.7.2.4", ClassInt, AffineUniform, FamilyCompute, Pure | CarryIn, `
		subc.type d, a, b;                    .type = u32 s32 u64 s64; ptx 1.2
		subc.type d, a, b;                    .type = u16 s16; ptx 1.2; undocumented`},
	{"subc", "9.7.2.4", ClassInt, AffineUniform, FamilyCompute, Pure | CarryIn | CarryOut, `
		subc.cc.type d, a, b;                 .type = u32 s32 u64 s64; ptx 1.2`},
	{"mad", "9.7.2.5", ClassMul, AffineUniform, FamilyCompute, Pure | CarryOut, `
		mad.half!.cc.type d, a, b, c;          .half = hi lo; .type = u32 s32 u64 s64; ptx 3.0; sm 20`},
	{"madc", "9.7.2.6", ClassMul, AffineUniform, FamilyCompute, Pure | CarryIn, `
		madc.half!.type d, a, b, c;            .half = hi lo; .type = u32 s32 u64 s64; ptx 3.0; sm 20
		madc.half!.type d, a, b, c;            .half = hi lo; .type = u16 s16; ptx 3.0; sm 20; undocumented`},
	{"madc", "9.7.2.6", ClassMul, AffineUniform, FamilyCompute, Pure | CarryIn | CarryOut, `
		madc.half!.cc.type d, a, b, c;         .half = hi lo; .type = u32 s32 u64 s64; ptx 3.0; sm 20`},
}

// Manual section 9.7.3: floating point, single and double precision.
var floatRows = []row{
	{"testp", "9.7.3.1", ClassFP, AffineUniform, FamilyCompute, Pure, `
		testp.op.type p:pred, a;              .op = finite infinite number notanumber normal subnormal; .type = f32 f64; ptx 2.0; sm 20`},
	{"copysign", "9.7.3.2", ClassFP, AffineUniform, FamilyCompute, Pure, `
		copysign.type d, a, b;                .type = f32 f64; ptx 2.0; sm 20`},
	{"add", "9.7.3.3", ClassFP, AffineUniform, FamilyCompute, Pure, `
		add{.rnd}{.ftz}{.sat}.f32 d, a, b
		add{.rnd}.f64 d, a, b
		add{.rnd}{.ftz}.f32x2 d, a, b;        ptx 8.6; sm 100`},
	{"sub", "9.7.3.4", ClassFP, AffineUniform, FamilyCompute, Pure, `
		sub{.rnd}{.ftz}{.sat}.f32 d, a, b
		sub{.rnd}.f64 d, a, b
		sub{.rnd}{.ftz}.f32x2 d, a, b;        ptx 8.6; sm 100`},
	{"mul", "9.7.3.5", ClassFP, AffineUniform, FamilyCompute, Pure, `
		mul{.rnd}{.ftz}{.sat}.f32 d, a, b
		mul{.rnd}.f64 d, a, b
		mul{.rnd}{.ftz}.f32x2 d, a, b;        ptx 8.6; sm 100`},
	{"fma", "9.7.3.6", ClassFP, AffineUniform, FamilyCompute, Pure, `
		fma.rnd{.ftz}{.sat}.f32 d, a, b, c
		fma.rnd.f64 d, a, b, c
		fma.rnd{.ftz}.f32x2 d, a, b, c;       ptx 8.6; sm 100`},
	{"mad", "9.7.3.7", ClassFP, AffineUniform, FamilyCompute, Pure, `
		mad.rnd{.ftz}{.sat}.f32 d, a, b, c
		mad.rnd.f64 d, a, b, c
		mad{.ftz}{.sat}.f32 d, a, b, c;       until ptx 3.1 sm 13
		mad.f64 d, a, b, c;                   until ptx 1.3 sm 0`},
	{"div", "9.7.3.8", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		div.mode{.ftz}.f32 d, a, b;           .mode = approx rn rz rm rp
		div.full!{.ftz}.f32 d, a, b
		div.rnd.f64 d, a, b`},
	{"abs", "9.7.3.9", ClassFP, AffineUniform, FamilyCompute, Pure, `
		abs{.ftz}.f32 d, a
		abs.f64 d, a`},
	{"neg", "9.7.3.10", ClassFP, AffineUniform, FamilyCompute, Pure, `
		neg{.ftz}.f32 d, a
		neg.f64 d, a`},
	{"min", "9.7.3.11", ClassFP, AffineUniform, FamilyCompute, Pure, `
		min{.ftz}.f32 d, a, b, c?
		min{.ftz}.NaN.f32 d, a, b, c?;          ptx 7.0; sm 80
		min{.ftz}{.NaN}{.xorsign}{.abs}.f32 d, a, b, c?; ptx 7.2; sm 86
		min.f64 d, a, b`},
	{"max", "9.7.3.12", ClassFP, AffineUniform, FamilyCompute, Pure, `
		max{.ftz}.f32 d, a, b, c?
		max{.ftz}.NaN.f32 d, a, b, c?;          ptx 7.0; sm 80
		max{.ftz}{.NaN}{.xorsign}{.abs}.f32 d, a, b, c?; ptx 7.2; sm 86
		max.f64 d, a, b`},
	{"rcp", "9.7.3.13", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		rcp.mode{.ftz}.f32 d, a;              .mode = approx rn rz rm rp
		rcp.rnd.f64 d, a
		rcp.approx.ftz.f64 d, a;              ptx 2.1; sm 20`},
	{"sqrt", "9.7.3.15", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		sqrt.mode{.ftz}.f32 d, a;             .mode = approx rn rz rm rp
		sqrt.rnd.f64 d, a`},
	{"rsqrt", "9.7.3.16", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		rsqrt.approx{.ftz}.f32 d, a
		rsqrt.approx{.ftz}.f64 d, a`},
	{"sin", "9.7.3.18", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		sin.approx{.ftz}.f32 d, a`},
	{"sin", "9.7.3.18", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		sin.approx.ftz.turns.f32 d, a;        .turns = 2pi; ptx 9.5`},
	{"cos", "9.7.3.19", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		cos.approx{.ftz}.f32 d, a`},
	{"cos", "9.7.3.19", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		cos.approx.ftz.turns.f32 d, a;        .turns = 2pi; ptx 9.5`},
	{"lg2", "9.7.3.20", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		lg2.approx{.ftz}.f32 d, a`},
	{"ex2", "9.7.3.21", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		ex2.approx{.ftz}.f32 d, a`},
	{"tanh", "9.7.3.22", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		tanh.approx.f32 d, a;                 ptx 7.0; sm 75`},
}

// Manual section 9.7.4 and 9.7.5: half and mixed precision.
var halfRows = []row{
	{"add", "9.7.4.1", ClassFP, AffineUniform, FamilyCompute, Pure, `
		add{.rnd}{.ftz}{.sat}.type d, a, b;   .rnd = rn; .type = f16 f16x2; ptx 4.2; sm 53
		add{.rnd}.type d, a, b;               .rnd = rn; .type = bf16 bf16x2; ptx 7.8; sm 90`},
	{"sub", "9.7.4.2", ClassFP, AffineUniform, FamilyCompute, Pure, `
		sub{.rnd}{.ftz}{.sat}.type d, a, b;   .rnd = rn; .type = f16 f16x2; ptx 4.2; sm 53
		sub{.rnd}.type d, a, b;               .rnd = rn; .type = bf16 bf16x2; ptx 7.8; sm 90`},
	{"mul", "9.7.4.3", ClassFP, AffineUniform, FamilyCompute, Pure, `
		mul{.rnd}{.ftz}{.sat}.type d, a, b;   .rnd = rn; .type = f16 f16x2; ptx 4.2; sm 53
		mul{.rnd}.type d, a, b;               .rnd = rn; .type = bf16 bf16x2; ptx 7.8; sm 90`},
	{"fma", "9.7.4.4", ClassFP, AffineUniform, FamilyCompute, Pure, `
		fma.rn{.ftz}{.sat}.type d, a, b, c;   .type = f16 f16x2; ptx 4.2; sm 53
		fma.rn{.ftz}.relu.type d, a, b, c;    .type = f16 f16x2; ptx 7.0; sm 80
		fma.rnd{.relu}.type d, a, b, c;       .rnd = rn; .type = bf16 bf16x2; ptx 7.0; sm 80
		fma.rnd{.relu}.type d, a, b, c;       .rnd = rz rm rp; .type = bf16 bf16x2; ptx 7.0; sm 80; undocumented
		fma.rn.oob{.sat}.type d, a, b, c;     .type = f16 f16x2; ptx 8.1; sm 90
		fma.rn.oob.relu.type d, a, b, c;      .type = f16 f16x2; ptx 8.1; sm 90
		fma.rnd.oob{.relu}.type d, a, b, c;   .rnd = rn; .type = bf16 bf16x2; ptx 8.1; sm 90
		fma.rnd.oob{.relu}.type d, a, b, c;   .rnd = rz rm rp; .type = bf16 bf16x2; ptx 8.1; sm 90; undocumented`},
	{"neg", "9.7.4.5", ClassFP, AffineUniform, FamilyCompute, Pure, `
		neg{.ftz}.type d, a;                  .type = f16 f16x2; ptx 6.0; sm 53
		neg.type d, a;                        .type = bf16 bf16x2; ptx 7.0; sm 80`},
	{"abs", "9.7.4.6", ClassFP, AffineUniform, FamilyCompute, Pure, `
		abs{.ftz}.type d, a;                  .type = f16 f16x2; ptx 6.5; sm 53
		abs.type d, a;                        .type = bf16 bf16x2; ptx 7.0; sm 80`},
	{"min", "9.7.4.7", ClassFP, AffineUniform, FamilyCompute, Pure, `
		min{.ftz}{.NaN}.type d, a, b;           .type = f16 f16x2; ptx 7.0; sm 80
		min{.NaN}.type d, a, b;                 .type = bf16 bf16x2; ptx 7.0; sm 80
		min{.ftz}{.NaN}.xorsign.abs.type d, a, b; .type = f16 f16x2; ptx 7.2; sm 86
		min{.NaN}.xorsign.abs.type d, a, b;     .type = bf16 bf16x2; ptx 7.2; sm 86`},
	{"max", "9.7.4.8", ClassFP, AffineUniform, FamilyCompute, Pure, `
		max{.ftz}{.NaN}.type d, a, b;           .type = f16 f16x2; ptx 7.0; sm 80
		max{.NaN}.type d, a, b;                 .type = bf16 bf16x2; ptx 7.0; sm 80
		max{.ftz}{.NaN}.xorsign.abs.type d, a, b; .type = f16 f16x2; ptx 7.2; sm 86
		max{.NaN}.xorsign.abs.type d, a, b;     .type = bf16 bf16x2; ptx 7.2; sm 86`},
	{"tanh", "9.7.4.9", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		tanh.approx.type d, a;                .type = f16 f16x2 bf16 bf16x2; ptx 7.0; sm 75`},
	{"ex2", "9.7.4.10", ClassSFU, AffineUniform, FamilyCompute, Pure, `
		ex2.approx.type d, a;                 .type = f16 f16x2; ptx 7.0; sm 75
		ex2.approx.ftz.type d, a;             .type = bf16 bf16x2; ptx 7.8; sm 90`},

	{"add", "9.7.5.1", ClassFP, AffineUniform, FamilyCompute, Pure, `
		add{.rnd}{.sat}.f32.atype d:f32, a:atype, c:f32;          .atype = f16 bf16; ptx 8.6; sm 100`},
	{"sub", "9.7.5.2", ClassFP, AffineUniform, FamilyCompute, Pure, `
		sub{.rnd}{.sat}.f32.atype d:f32, a:atype, c:f32;          .atype = f16 bf16; ptx 8.6; sm 100`},
	{"fma", "9.7.5.3", ClassFP, AffineUniform, FamilyCompute, Pure, `
		fma.rnd{.sat}.f32.atype d:f32, a:atype, b:atype, c:f32;   .atype = f16 bf16; ptx 8.6; sm 100`},

	// Pairs. The sections are from the PTX 9.4 manual.
	{"add", "9.7.5.1", ClassFP, AffineUniform, FamilyMixed, Pure, `
		add{.rnd}.f32x2.atype.f32x2 d:f32x2, a:atype, c:f32x2;    .atype = f16x2 bf16x2; ptx 9.4; sm 107
		add.rz.ftz.f16x2.f32x2.f32x2 d:f16x2, a:f32x2, c:f32x2;   ptx 9.4; sm 107
		add.rz.bf16x2.f32x2.f32x2 d:bf16x2, a:f32x2, c:f32x2;     ptx 9.4; sm 107`},
	{"sub", "9.7.5.2", ClassFP, AffineUniform, FamilyMixed, Pure, `
		sub{.rnd}.f32x2.atype.f32x2 d:f32x2, a:atype, c:f32x2;    .atype = f16x2 bf16x2; ptx 9.4; sm 107
		sub.rz.ftz.f16x2.f32x2.f32x2 d:f16x2, a:f32x2, c:f32x2;   ptx 9.4; sm 107
		sub.rz.bf16x2.f32x2.f32x2 d:bf16x2, a:f32x2, c:f32x2;     ptx 9.4; sm 107`},
	{"fma", "9.7.5.3", ClassFP, AffineUniform, FamilyMixed, Pure, `
		fma.rnd.f32x2.atype.f32x2.f32x2 d:f32x2, a:atype, b:f32x2, c:f32x2; .atype = f16x2 bf16x2; ptx 9.4; sm 107`},
	{"mul", "9.7.5.4", ClassFP, AffineUniform, FamilyMixed, Pure, `
		mul.rz.ftz.f16x2.f32x2.f32x2 d:f16x2, a:f32x2, c:f32x2;   ptx 9.4; sm 107
		mul.rz.bf16x2.f32x2.f32x2 d:bf16x2, a:f32x2, c:f32x2;     ptx 9.4; sm 107
		mul.bf16x2.bf16x2.f16x2 d:bf16x2, a:bf16x2, c:f16x2;      ptx 9.4; sm 107
		mul.f16x2.f16x2.bf16x2 d:f16x2, a:f16x2, c:bf16x2;        ptx 9.4; sm 107`},
}

// Manual of PTX 9.4, section 9.7.6: quadruples of numbers of at most 8 bits.
var alternateRows = []row{
	{"add", "9.7.6.1", ClassFP, AffineUniform, FamilyMixed, Pure, alternate("add", "atype", "%a:atype!, %c:dtype!")},
	{"sub", "9.7.6.2", ClassFP, AffineUniform, FamilyMixed, Pure, alternate("sub", "atype", "%a:atype!, %c:dtype!")},
	{"mul", "9.7.6.3", ClassFP, AffineUniform, FamilyMixed, Pure, alternate("mul", "atype.btype", "%a:atype!, %b:btype!")},
	{"fma", "9.7.6.4", ClassFP, AffineUniform, FamilyMixed, Pure, alternate("fma", "atype.btype", "%a:atype!, %b:btype!, %c:dtype!")},
}

// alternate returns the form of an instruction on quadruples. types lists the slots of the source types, each of which may
// be any of seven types; sources lists the operands after d.
func alternate(op, types, sources string) string {
	const any = "e5m2x4 e4m3x4 e3m2x4 e2m3x4 e2m1x4 e2m1p4x4 ue8m0x4"
	return op + "{.rn}{.satfinite}.dtype." + types + " d:dtype!, " + sources +
		"; .dtype = e5m2x4 e4m3x4; .atype = " + any + "; .btype = " + any + "; ptx 9.4; sm 100"
}

// Manual section 9.7.6 and 9.7.7: comparison and selection.
var compareRows = []row{
	{"set", "9.7.6.1", ClassInt, AffineUniform, FamilySet, Pure, `
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne; .dtype = u32 s32 f32; .stype = b16 b32 b64
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge lo ls hi hs; .dtype = u32 s32 f32; .stype = u16 u32 u64
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge; .dtype = u32 s32 f32; .stype = s16 s32 s64
		set.cmp{.bool}{.ftz}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = u32 s32 f32; .stype = f32
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = u32 s32 f32; .stype = f64`},
	{"set", "9.7.6.1", ClassInt, AffineUniform, FamilySet, Pure, `
		set.cmp.type d, a, b;  .cmp = eq ne lt le gt ge lo ls hi hs; .type = u8x4 u16x2; ptx 9.4; sm 107
		set.cmp.type d, a, b;  .cmp = eq ne lt le gt ge; .type = s8x4 s16x2; ptx 9.4; sm 107`},
	{"setp", "9.7.6.2", ClassInt, AffineCompare, FamilySetp, Pure, `
		setp.cmp{.bool}.type _p:pred|_q?:pred, a, b, !c?bool:pred;  .cmp = eq ne; .type = b16 b32 b64
		setp.cmp{.bool}.type _p:pred|_q?:pred, a, b, !c?bool:pred;  .cmp = eq ne lt le gt ge lo ls hi hs; .type = u16 u32 u64
		setp.cmp{.bool}.type _p:pred|_q?:pred, a, b, !c?bool:pred;  .cmp = eq ne lt le gt ge; .type = s16 s32 s64
		setp.cmp{.bool}{.ftz}.type _p:pred|_q?:pred, a, b, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .type = f32
		setp.cmp{.bool}.type _p:pred|_q?:pred, a, b, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .type = f64`},
	{"selp", "9.7.6.3", ClassInt, AffineSelect, FamilyCompute, Pure, `
		selp.type d, a, b, !!c:pred;          .type = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64`},
	{"slct", "9.7.6.4", ClassInt, AffineUniform, FamilySlct, Pure, `
		slct.dtype.s32 d:dtype, a:dtype, b:dtype, c:s32;          .dtype = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64
		slct{.ftz}.dtype.f32 d:dtype, a:dtype, b:dtype, c:f32;    .dtype = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64`},

	{"set", "9.7.7.1", ClassFP, AffineUniform, FamilySet, Pure, `
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne; .dtype = f16; .stype = b16 b32 b64; ptx 4.2; sm 53
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge lo ls hi hs; .dtype = f16; .stype = u16 u32 u64; ptx 4.2; sm 53
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge; .dtype = f16; .stype = s16 s32 s64; ptx 4.2; sm 53
		set.cmp{.bool}{.ftz}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = f16; .stype = f16 f32; ptx 4.2; sm 53
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = f16; .stype = f64; ptx 4.2; sm 53
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne; .dtype = bf16; .stype = b16 b32 b64; ptx 7.8; sm 90
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne lt le gt ge lo ls hi hs; .dtype = bf16; .stype = u16 u32 u64; ptx 7.8; sm 90
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne lt le gt ge; .dtype = bf16; .stype = s16 s32 s64; ptx 7.8; sm 90
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = bf16; .stype = f16 f32; ptx 7.8; sm 90
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = bf16; .stype = f64; ptx 7.8; sm 90
		set.cmp{.bool}{.ftz}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = u16 s16 u32 s32; .stype = f16; ptx 6.5; sm 53
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = bf16 u16 s16 u32 s32; .stype = bf16; ptx 7.8; sm 90
		set.cmp{.bool}{.ftz}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = f16x2; .stype = f16x2; ptx 4.2; sm 53
		set.cmp{.bool}{.ftz}.dtype.stype d:dtype, a:stype, b:stype, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = u32 s32; .stype = f16x2; ptx 6.5; sm 53
		set.cmp{.bool}.dtype.stype d:dtype, a:stype, b:stype, %!c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .dtype = bf16x2 u32 s32; .stype = bf16x2; ptx 7.8; sm 90`},
	{"setp", "9.7.7.2", ClassFP, AffineUniform, FamilySetp, Pure, `
		setp.cmp{.bool}{.ftz}.type _p:pred, a, b, !c?bool:pred;           .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .type = f16; ptx 4.2; sm 53
		setp.cmp{.bool}{.ftz}.type _p:pred|_q?:pred, a, b, !c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .type = f16x2; ptx 4.2; sm 53
		setp.cmp{.bool}.type _p:pred, a, b, %!c?bool:pred;           .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .type = bf16; ptx 7.8; sm 90
		setp.cmp{.bool}.type _p:pred|_q?:pred, a, b, %!c?bool:pred;  .cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan; .type = bf16x2; ptx 7.8; sm 90`},
}

// Manual section 9.7.8: logic and shift.
var logicRows = []row{
	{"and", "9.7.8.1", ClassInt, AffineAnd, FamilyCompute, Pure, `
		and.type d, a, b;                      .type = b16 b32 b64
		and.pred d:pred, !!a:pred, !!b:pred`},
	{"or", "9.7.8.2", ClassInt, AffineOr, FamilyCompute, Pure, `
		or.type d, a, b;                       .type = b16 b32 b64
		or.pred d:pred, !!a:pred, !!b:pred`},
	{"xor", "9.7.8.3", ClassInt, AffineXor, FamilyCompute, Pure, `
		xor.type d, a, b;                      .type = b16 b32 b64
		xor.pred d:pred, !!a:pred, !!b:pred`},
	{"not", "9.7.8.4", ClassInt, AffineNot, FamilyCompute, Pure, `
		not.type d, a;                        .type = b16 b32 b64
		not.pred d:pred, !!a:pred`},
	{"cnot", "9.7.8.5", ClassInt, AffineUniform, FamilyCompute, Pure, `
		cnot.type d, a;                       .type = b16 b32 b64`},
	{"lop3", "9.7.8.6", ClassInt, AffineUniform, FamilyCompute, Pure, `
		lop3.b32 _d, a, b, c, #e=0..255:u32;                            ptx 4.3; sm 50`},
	{"lop3", "9.7.8.6", ClassInt, AffineUniform, FamilyLop3, Pure, `
		lop3.bool.b32 _d|p:pred, a, b, c, #e=0..255:u32, !!f:pred;      .bool = or and; ptx 8.2; sm 70`},
	{"shf", "9.7.8.7", ClassInt, AffineUniform, FamilyCompute, Pure, `
		shf.dir!.mode.b32 d, a, b, c:u32;      .dir = l r; .mode = clamp wrap; ptx 3.1; sm 32`},
	{"shl", "9.7.8.8", ClassInt, AffineShl, FamilyCompute, Pure, `
		shl.type d, a, b:u32;                 .type = b16 b32 b64`},
	{"shr", "9.7.8.9", ClassInt, AffineShr, FamilyCompute, Pure, `
		shr.type d, a, b:u32;                 .type = b16 b32 b64 u16 u32 u64 s16 s32 s64`},
}

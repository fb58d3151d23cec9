package ptx

// Manual section 9.7.9: data movement and conversion within the registers.
var moveRows = []row{
	{"mov", "9.7.9.3", ClassInt, AffineMove, FamilyMove, Pure, `
		mov.type <d*>, <@a*>;                 .type = b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f32 f64
		mov.pred d:pred, !!a:pred
		mov.vec.type <d>, <@a>;               .vec = v2 v4; .type = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64`},
	{"prmt", "9.7.9.7", ClassInt, AffineUniform, FamilyCompute, Pure, `
		prmt.b32{.mode} d, a, b, c;           .mode = f4e b4e rc8 ecl ecr rc16; ptx 2.0; sm 20`},
	{"isspacep", "9.7.9.19", ClassInt, AffineUniform, FamilyIsspacep, Pure, `
		isspacep.ss p:pred, a:int;            .ss = const global local shared shared::cta shared::cluster param param::entry; ptx 2.0; sm 20`},
	{"cvta", "9.7.9.20", ClassInt, AffineAddress, FamilyAddress, Pure, `
		cvta.ss.type d, @a;                    .ss = const global local shared shared::cta shared::cluster param param::entry; .type = u32 u64; ptx 2.0; sm 20
		cvta.to!.ss.type d, a;                 .ss = const global local shared shared::cta shared::cluster param param::entry; .type = u32 u64; ptx 2.0; sm 20`},
	{"cvt", "9.7.9.21", ClassInt, AffineConvert, FamilyConvert, Pure, `
		cvt.dtype.atype d:dtype+, a:atype+;         .dtype = u8 u16 u32 u64 s8 s16 s32 s64; .atype = u8 u16 u32 u64 s8 s16 s32 s64`},
	{"cvt", "9.7.9.21", ClassInt, AffineUniform, FamilyConvert, Pure, `
		cvt.sat.dtype.atype d:dtype+, a:atype+;     .dtype = u8 u16 u32 u64 s8 s16 s32 s64; .atype = u8 u16 u32 u64 s8 s16 s32 s64`},
	{"cvt", "9.7.9.21", ClassFP, AffineUniform, FamilyConvert, Pure, `
		cvt{.rnd}{.ftz}{.sat}.dtype.atype d:dtype+, a:atype+; .rnd = rni rzi rmi rpi rn rz rm rp; .dtype = u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64; .atype = u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64
		cvt{.rnd}{.ftz}{.sat}.dtype.atype d:dtype+, a:atype+; .rnd = rni rzi rmi rpi rn rz rm rp; .dtype = f32; .atype = bf16; ptx 7.1; sm 80
		cvt{.rnd}{.ftz}{.sat}.dtype.atype d:dtype+, a:atype+; .rnd = rn rz rm rp; .dtype = bf16; .atype = f32; ptx 7.0; sm 80
		cvt{.rnd}{.ftz}{.sat}.dtype.atype d:dtype+, a:atype+; .rnd = rni rzi rmi rpi rn rz rm rp; .dtype = bf16; .atype = u8 u16 u32 u64 s8 s16 s32 s64 bf16 f16 f64; ptx 7.8; sm 90
		cvt{.rnd}{.ftz}{.sat}.dtype.atype d:dtype+, a:atype+; .rnd = rni rzi rmi rpi rn rz rm rp; .dtype = u8 u16 u32 u64 s8 s16 s32 s64 f16 f64; .atype = bf16; ptx 7.8; sm 90
		cvt.rnd{.relu}{.satfinite}.dtype.f32 d:dtype+, a:f32;                  .rnd = rn rz; .dtype = f16 bf16; ptx 7.0; sm 80
		cvt.rnd{.relu}{.satfinite}.dtype.f32 d:b32, a:f32, b:f32;              .rnd = rn rz; .dtype = f16x2 bf16x2; ptx 7.0; sm 80
		cvt.rs{.relu}{.satfinite}.dtype.f32 d:b32, a:f32, b:f32, c:b32;        .dtype = f16x2 bf16x2; ptx 8.7; sm 100
		cvt.rna{.satfinite}.tf32.f32 d:b32, a:f32;                             ptx 7.0; sm 80
		cvt.rnd{.satfinite}{.relu}.tf32.f32 d:b32, a:f32;                      .rnd = rn rz; ptx 7.8; sm 90
		cvt.rn.satfinite{.relu}.dtype.f32 d:b16, a:f32, b:f32;                 .dtype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; ptx 7.8; sm 89
		cvt.rn.satfinite{.relu}.dtype.atype d:b16, a:b32;                      .dtype = e4m3x2 e5m2x2; .atype = f16x2; ptx 7.8; sm 89
		cvt.rn.satfinite{.relu}.dtype.atype d:b16, a:b32;                      .dtype = e2m3x2 e3m2x2; .atype = f16x2; ptx 9.1; sm 100
		cvt.rn.satfinite{.relu}.dtype.atype d:b16, a:b32;                      .dtype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; .atype = bf16x2; ptx 9.1; sm 100
		cvt.rn{.relu}.f16x2.atype d:b32, a:b16;                                .atype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; ptx 7.8; sm 89
		cvt.rn.satfinite{.relu}.e2m1x2.f32 d:b8, a:f32, b:f32;                 ptx 8.6; sm 100
		cvt.rn.satfinite{.relu}.e2m1x2.atype d:b8, a:b32;                      .atype = f16x2 bf16x2; ptx 9.1; sm 100
		cvt.rn{.relu}.f16x2.e2m1x2 d:b32, a:b8;                                ptx 8.6; sm 100
		cvt.rn{.satfinite}{.relu}{.scaled}.bf16x2.atype d:b32, a:b16, b?scaled:b16;  .atype = e4m3x2 e5m2x2 e2m3x2 e3m2x2 s2f6x2; .scaled = scaled::n2::ue8m0; ptx 9.1; sm 100
		cvt.rn{.satfinite}{.relu}{.scaled}.bf16x2.e2m1x2 d:b32, a:b8, b?scaled:b16;  .scaled = scaled::n2::ue8m0; ptx 9.2; sm 100
		cvt.rn.satfinite{.relu}{.scaled}.s2f6x2.f32 d:b16, a:f32, b:f32, c?scaled:b16;  .scaled = scaled::n2::ue8m0; ptx 9.1; sm 100
		cvt.rn.satfinite{.relu}{.scaled}.s2f6x2.bf16x2 d:b16, a:b32, b?scaled:b16;      .scaled = scaled::n2::ue8m0; ptx 9.1; sm 100
		cvt.rs{.relu}.satfinite.dtype.f32 d:b32, <a*4>:f32, c:b32;               .dtype = e4m3x4 e5m2x4 e2m3x4 e3m2x4; ptx 8.7; sm 100
		cvt.rs{.relu}.satfinite.e2m1x4.f32 d:b16, <a*4>:f32, c:b32;              ptx 8.7; sm 100
		cvt.rnd.satfinite{.relu}{.pzo}.dtype.f32 d:b16, a:f32, b:f32;  .rnd = rn rz; .dtype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; ptx 9.4; sm 107
		cvt.rnd.satfinite{.relu}{.pzo}.e2m1x2.f32 d:b8, a:f32, b:f32;  .rnd = rn rz; ptx 9.4; sm 107
		cvt.rnd.satfinite{.relu}{.pzo}.dtype.atype d:b16, a:b32;  .rnd = rn rz; .dtype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; .atype = f16x2 bf16x2; ptx 9.4; sm 107
		cvt.rnd.satfinite{.relu}{.pzo}.e2m1x2.atype d:b8, a:b32;  .rnd = rn rz; .atype = f16x2 bf16x2; ptx 9.4; sm 107
		cvt.rnd{.relu}{.satfinite}.pzo.dtype.f32 d:dtype+, a:f32;              .rnd = rn rz; .dtype = f16 bf16; ptx 9.4; sm 107
		cvt.rnd{.relu}{.satfinite}.pzo.dtype.f32 d:b32, a:f32, b:f32;          .rnd = rn rz; .dtype = f16x2 bf16x2; ptx 9.4; sm 107
		cvt.rnd{.satfinite}{.relu}.pzo.tf32.f32 d:b32, a:f32;                  .rnd = rn rz; ptx 9.4; sm 107
		cvt.rnd{.satfinite}.ue8m0x2.f32 d:b16, a:f32, b:f32;                   .rnd = rz rp; ptx 8.6; sm 100
		cvt.rnd{.satfinite}.ue8m0x2.bf16x2 d:b16, a:b32;                       .rnd = rz rp; ptx 8.6; sm 100
		cvt.rn.bf16x2.ue8m0x2 d:b32, a:b16;                                    ptx 8.6; sm 100`},
	{"cvt", "9.7.9.21", ClassFP, AffineUniform, FamilyConvert, Pure, `
		cvt.rnd.satfinite{.relu}{.pzo}.scaled.dtype.f32 d:b16, a:f32, b:f32, c:b8;  .rnd = rn rz; .dtype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; .scaled = scaled::n1::ue8m0; ptx 9.4; sm 107
		cvt.rnd.satfinite{.relu}{.pzo}.scaled.e2m1x2.f32 d:b8, a:f32, b:f32, c:b8;  .rnd = rn rz; .scaled = scaled::n1::ue8m0; ptx 9.4; sm 107
		cvt.rnd.satfinite{.relu}{.pzo}.scaled.dtype.atype d:b16, a:b32, b:b8;  .rnd = rn rz; .dtype = e4m3x2 e5m2x2 e2m3x2 e3m2x2; .atype = f16x2 bf16x2; .scaled = scaled::n1::ue8m0; ptx 9.4; sm 107
		cvt.rnd.satfinite{.relu}{.pzo}.scaled.e2m1x2.atype d:b8, a:b32, b:b8;  .rnd = rn rz; .atype = f16x2 bf16x2; .scaled = scaled::n1::ue8m0; ptx 9.4; sm 107
		cvt.rnd{.satfinite}.ue5m3x2.f32 d:b16, a:f32, b:f32;                   .rnd = rn rz rp; ptx 9.4; sm 107
		cvt.rnd{.satfinite}.ue5m3x2.atype d:b16, a:b32;                        .rnd = rn rz rp; .atype = f16x2 bf16x2; ptx 9.4; sm 107
		cvt.rnd{.satfinite}.scaled::n1::ue8m0.ue5m3x2.f32 d:b16, a:f32, b:f32, c:b8;  .rnd = rn rz; ptx 9.4; sm 107
		cvt.rnd{.satfinite}.scaled::n1::ue8m0.ue5m3x2.atype d:b16, a:b32, b:b8;  .rnd = rn rz; .atype = f16x2 bf16x2; ptx 9.4; sm 107
		cvt.rn.f16x2.ue5m3x2 d:b32, a:b16;                                     ptx 9.4; sm 107
		cvt.rn{.satfinite}{.scaled}.bf16x2.ue5m3x2 d:b32, a:b16, b?scaled:b16;  .scaled = scaled::n2::ue8m0; ptx 9.4; sm 107`},
	{"cvt", "9.7.9.22", ClassInt, AffineUniform, FamilyPack, Pure, `
		cvt.pack!.sat.dtype.stype d:b32-, a:stype, b:stype;               .dtype = u16 s16; .stype = s32; ptx 6.5; sm 72
		cvt.pack!.sat.dtype.stype.b32 d:b32-, a:stype, b:stype, c:b32;    .dtype = u2 s2 u4 s4 u8 s8; .stype = s32; ptx 6.5; sm 72`},
	{"mapa", "9.7.9.23", ClassInt, AffineUniform, FamilyMapa, Pure, `
		mapa{.shared::cluster}.type d, @a, b:u32;      .type = u32 u64; ptx 7.8; sm 90`},
	{"getctarank", "9.7.9.24", ClassInt, AffineUniform, FamilyGetctarank, Pure, `
		getctarank{.shared::cluster}.type d:u32, @a;   .type = u32 u64; ptx 7.8; sm 90`},
}

// Manual sections 9.7.9.8 to 9.7.9.30, 9.7.13.5 to 9.7.13.7 and 9.7.17: memory. The fraction of createpolicy is a
// float, but an example in the manual writes it as an integer.
var memoryRows = []row{
	{"ld", "9.7.9.8", ClassMemory, AffineLoad, FamilyLoad, Reads | MayTrap, `
		ld{.weak}{.ss}{.cop}{.l1}{.l2}{.hint}{.pf}{.vec}.type <d>:type+, [a], e?hint:b64-;  .ss = const global local param param::entry param::func shared shared::cta shared::cluster; .cop = ca cg cs lu; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64`},
	{"ld", "9.7.9.8", ClassMemory, AffineLoad, FamilyLoad, Reads | Strong | MayTrap, `
		ld{.weak}{.ss}.cv{.l1}{.l2}{.hint}{.pf}{.vec}.type <d>:type+, [a], e?hint:b64-;  .ss = const global local param param::entry param::func shared shared::cta shared::cluster; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64
		ld.volatile{.ss}{.pf}{.vec}.type <d>:type+, [a];                         .ss = global local shared shared::cta shared::cluster; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64
		ld.sem.scope{.ss}{.l1}{.l2}{.hint}{.pf}{.vec}.type <d>:type+, [a], e?hint:b64-;  .sem = relaxed acquire; .ss = global shared shared::cta shared::cluster; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 6.0; sm 70
		ld.mmio.sem.sys{.global}.type d:type+, [a];                              .sem = relaxed acquire; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 8.2; sm 70`},
	{"ld", "9.7.9.9", ClassMemory, AffineLoad, FamilyLoad, Reads | MayTrap, `
		ld.global{.cop}.nc{.l1}{.l2}{.hint}{.pf}{.vec}.type <d>:type+, [a], e?hint:b64-;  .cop = ca cg cs; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 3.1; sm 32
		ld.proxy::readonly{.vec}.type <d>:type+, [a];                            .type = b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 9.4; sm 90
		ld.global{.nc}.proxy::readonly{.vec}.type <d>:type+, [a];                .type = b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 9.4; sm 90`},
	{"ldu", "9.7.9.10", ClassMemory, AffineLoad, FamilyLoad, Reads | MayTrap, `
		ldu{.global}{.vec}.type <d>:type+, [a];                                  .vec = v2 v4; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 2.0; sm 20`},
	{"st", "9.7.9.11", ClassMemory, AffineStore, FamilyStore, Writes | MayTrap, `
		st{.weak}{.ss}{.cop}{.l1}{.l2}{.hint}{.vec}.type [a], <b>:type+, e?hint:b64-;  .ss = global local param param::func shared shared::cta shared::cluster; .cop = wb cg cs wt; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64`},
	{"st", "9.7.9.11", ClassMemory, AffineStore, FamilyStore, Writes | Strong | MayTrap, `
		st.volatile{.ss}{.vec}.type [a], <b>:type+;                              .ss = global local shared shared::cta shared::cluster; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64
		st.sem.scope{.ss}{.l1}{.l2}{.hint}{.vec}.type [a], <b>:type+, e?hint:b64-;  .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 6.0; sm 70
		st.mmio.sem.sys{.global}.type [a], b:type+;                              .sem = relaxed release; .type = b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 8.2; sm 70`},
	{"st", "9.7.9.12", ClassMemory, AffineNone, FamilyAsyncStore, Writes | Strong | Async | MayTrap, `
		st.async!{.scope}{.ss}.mech{.vec}.type [a], <b>, [c];                    .scope = weak cluster; .ss = shared::cluster; .mech = mbarrier::complete_tx::bytes; .vec = v2 v4; .type = b32 b64 u32 u64 s32 s64 f32 f64; ptx 8.1; sm 90`},
	{"st", "9.7.9.12", ClassMemory, AffineNone, FamilyAsyncStore, Writes | Strong | Async | MayTrap, `
		st.async!{.scope}{.ss}.mech.b128 [a], b, [c];                            .scope = weak cluster; .ss = shared::cluster; .mech = mbarrier::complete_tx::bytes; ptx 9.2; sm 90`},
	{"st", "9.7.9.12", ClassMemory, AffineNone, FamilyStore, Writes | Strong | MayTrap, `
		st.async!.release.scope{.global}.type [a], b;                             .scope = gpu sys; .type = b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 8.7; sm 100
		st.async!.mmio.release.sys{.global}.type [a], b;                          .type = b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 8.7; sm 100`},
	{"st", "9.7.9.13", ClassMemory, AffineNone, FamilyStore, Writes | MayTrap, `
		st.bulk!{.weak}{.ss} [a], b=0..16777216/8:int, #c=0:u64;                                 .ss = shared::cta; ptx 8.6; sm 100`},
	{"multimem", "9.7.9.14", ClassMemory, AffineLoad, FamilyLoad, Reads | Strong | MayTrap, `
		multimem.ld_reduce!{.sem}{.scope}{.global}.op.type d, [a]; .sem = weak relaxed acquire; .op = and or xor; .type = b32 b64; ptx 8.1; sm 90
		multimem.ld_reduce!{.sem}{.scope}{.global}.add.type d, [a]; .sem = weak relaxed acquire; .type = u32 s32 u64; ptx 8.1; sm 90
		multimem.ld_reduce!{.sem}{.scope}{.global}.op.type d, [a]; .sem = weak relaxed acquire; .op = min max; .type = u32 s32 u64 s64; ptx 8.1; sm 90
		multimem.ld_reduce!{.sem}{.scope}{.global}.op{.vec}.type <d>, [a]; .sem = weak relaxed acquire; .op = min max; .type = f16 f16x2 bf16 bf16x2 e5m2 e5m2x2 e5m2x4 e4m3 e4m3x2 e4m3x4; ptx 8.1; sm 90
		multimem.ld_reduce!{.sem}{.scope}{.global}.add{.acc}{.vec}.type <d>, [a]; .sem = weak relaxed acquire; .acc = acc::f32; .type = f16 f16x2 bf16 bf16x2; ptx 8.1; sm 90
		multimem.ld_reduce!{.sem}{.scope}{.global}.add{.acc}{.vec}.type <d>, [a]; .sem = weak relaxed acquire; .acc = acc::f16; .type = e5m2 e5m2x2 e5m2x4 e4m3 e4m3x2 e4m3x4; ptx 8.6; sm 100
		multimem.ld_reduce!{.sem}{.scope}{.global}.add{.vec}.type <d>, [a]; .sem = weak relaxed acquire; .type = f32 f64; ptx 8.1; sm 90`},
	{"multimem", "9.7.9.14", ClassMemory, AffineStore, FamilyStore, Writes | Strong | MayTrap, `
		multimem.st!{.sem}{.scope}{.global}.type [a], b; .sem = weak relaxed release; .type = b32 b64 u32 u64 s32 s64; ptx 8.1; sm 90
		multimem.st!{.sem}{.scope}{.global}{.vec}.type [a], <b>; .sem = weak relaxed release; .type = f16 f16x2 bf16 bf16x2 f32 f64 e5m2 e5m2x2 e5m2x4 e4m3 e4m3x2 e4m3x4; ptx 8.1; sm 90
		multimem.st.async!.release.scope{.global}.type [a], b; .scope = gpu sys; .type = b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; ptx 9.3; sm 100`},
	{"multimem", "9.7.9.14", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | MayTrap, `
		multimem.red!{.sem}{.scope}{.global}.op.type [a], b; .sem = relaxed release; .op = and or xor; .type = b32 b64; ptx 8.1; sm 90
		multimem.red!{.sem}{.scope}{.global}.add.type [a], b; .sem = relaxed release; .type = u32 s32 u64; ptx 8.1; sm 90
		multimem.red!{.sem}{.scope}{.global}.op.type [a], b; .sem = relaxed release; .op = min max; .type = u32 s32 u64 s64; ptx 8.1; sm 90
		multimem.red!{.sem}{.scope}{.global}.add{.vec}.type [a], <b>; .sem = relaxed release; .type = f16 f16x2 bf16 bf16x2 f32 f64; ptx 8.1; sm 90
		multimem.red!{.sem}{.scope}{.global}.op.vec.type [a], <b>; .sem = relaxed release; .op = min max; .type = f16 f16x2 bf16 bf16x2; ptx 8.1; sm 90
		multimem.red.async!.release.scope{.global}.add.type [a], b; .scope = gpu sys; .type = u32 s32 u64; ptx 9.3; sm 100`},
	{"prefetch", "9.7.9.15", ClassMemory, AffineNone, FamilyHint, Hint, `
		prefetch{.ss}.level [a];                                                 .ss = global local; .level = L1 L2; ptx 2.0; sm 20
		prefetch{.global}.level [a];                                             .level = L2::evict_last L2::evict_normal; ptx 7.4; sm 80
		prefetch{.ss}.tensormap [a];                                             .ss = const param; ptx 8.0; sm 90
		prefetch{.global}.L1::32B.valid_addr [a];                                ptx 9.4; sm 90`},
	{"prefetchu", "9.7.9.15", ClassMemory, AffineNone, FamilyHint, Hint, `
		prefetchu.L1 [a];                                                        ptx 2.0; sm 20`},
	{"applypriority", "9.7.9.16", ClassMemory, AffineNone, FamilyHint, Hint, `
		applypriority{.global}.level [a], #b=128:u32;                            .level = L2::evict_normal; ptx 7.4; sm 80
		applypriority.async.bulk!{.global}.bulk_group.level [a], b=0..1048560/16:u32; .level = L2::evict_normal; ptx 9.4; sm 107`},
	{"discard", "9.7.9.17", ClassMemory, AffineNone, FamilyHint, Writes, `
		discard{.global}.L2 [a], #b=128:u32;                                     ptx 7.4; sm 80`},
	{"createpolicy", "9.7.9.18", ClassMisc, AffineUniform, FamilyCreatepolicy, Pure, `
		createpolicy.range!{.global}.first{.second}.b64 d:type-, [a], b:u32, c:u32;     .first = L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged; .second = L2::evict_first L2::evict_unchanged; ptx 7.4; sm 80
		createpolicy.fractional!.first{.second}.b64 d:type-, b?:any;                    .first = L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged; .second = L2::evict_first L2::evict_unchanged; ptx 7.4; sm 80
		createpolicy.cvt!.L2.b64 d:type-, a:b64-;                                       ptx 7.4; sm 80`},
	{"cp", "9.7.9.25.3", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Async | MayTrap, `
		cp.async!.ca.smem.global{.hint}{.pf} [a]:smem, [b]:global, #c=4..16/4:u32, !e?:any, f?hint:b64-;  .smem = shared shared::cta; ptx 7.0; sm 80
		cp.async!.cg.smem.global{.hint}{.pf} [a]:smem, [b]:global, #c=16:u32, !e?:any, f?hint:b64-;  .smem = shared shared::cta; ptx 7.0; sm 80`},
	{"cp", "9.7.9.25.3", ClassMemory, AffineNone, FamilyAsync, Async, `
		cp.async.commit_group!;                                                   ptx 7.0; sm 80`},
	{"cp", "9.7.9.25.3", ClassMemory, AffineNone, FamilyAsync, Waits, `
		cp.async.wait_group! #a:u32;                                              ptx 7.0; sm 80
		cp.async.wait_all!;                                                       ptx 7.0; sm 80`},
	{"cp", "9.7.13.15.15", ClassMemory, AffineNone, FamilyAsync, Barrier | Async | MayTrap, `
		cp.async.mbarrier.arrive!{.noinc}{.smem}.b64 [a];                         .smem = shared shared::cta; ptx 7.0; sm 80`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Async | MayTrap, `
		cp.async.bulk!.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast}{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f?multicast:b16, g?hint:b64-;  .multicast = multicast::cluster; ptx 8.0; sm 90
		cp.async.bulk!.shared::cta.global.mbarrier::complete_tx::bytes{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, g?hint:b64-;  ptx 8.6; sm 90
		cp.async.bulk!.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [a]:shared, [b]:shared, c=0..1048560/16:u32, [e]:shared;  ptx 8.0; sm 90
		cp.async.bulk!.global.shared::cta.bulk_group{.hint}{.cp_mask} [a]:global, [b]:shared, c=0..1048560/16:u32, g?hint:b64-, f?cp_mask:b16;  .cp_mask = cp_mask; ptx 8.0; sm 90
		cp.async.bulk!.weak.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast}{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f?multicast:b16, g?hint:b64-;  .multicast = multicast::cluster; ptx 9.3; sm 90
		cp.async.bulk!{.relaxed.scope}.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast}{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f?multicast:b16, g?hint:b64-;  .multicast = multicast::cluster; ptx 9.3; sm 90
		cp.async.bulk!.weak.shared::cta.global.mbarrier::complete_tx::bytes{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, g?hint:b64-;  ptx 9.3; sm 90
		cp.async.bulk!{.relaxed.scope}.shared::cta.global.mbarrier::complete_tx::bytes{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, g?hint:b64-;  ptx 9.3; sm 90
		cp.async.bulk!.weak.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [a]:shared, [b]:shared, c=0..1048560/16:u32, [e]:shared;  ptx 9.3; sm 90
		cp.async.bulk!{.relaxed.scope}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.b128 [a]:shared, [b]:shared, c=0..1048560/16:u32, [e]:shared;  .scope = cta cluster; ptx 9.3; sm 90
		cp.async.bulk!.weak.global.shared::cta.bulk_group{.hint}{.cp_mask} [a]:global, [b]:shared, c=0..1048560/16:u32, g?hint:b64-, f?cp_mask:b16;  .cp_mask = cp_mask; ptx 9.3; sm 90
		cp.async.bulk!{.relaxed.scope}.global.shared::cta.bulk_group{.hint}{.cp_mask}.b128 [a]:global, [b]:shared, c=0..1048560/16:u32, g?hint:b64-, f?cp_mask:b16;  .cp_mask = cp_mask; ptx 9.3; sm 90
		cp.async.bulk!.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, h=0..15:u32, i=0..15:u32, [e]:shared, g?hint:b64-;  ptx 9.2; sm 90
		cp.async.bulk!.weak.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, h=0..15:u32, i=0..15:u32, [e]:shared, g?hint:b64-;  ptx 9.3; sm 90
		cp.async.bulk!{.relaxed.scope}.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, h=0..15:u32, i=0..15:u32, [e]:shared, g?hint:b64-;  ptx 9.3; sm 90
		cp.async.bulk!{.weak}.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::disabled.ignore_oob{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, h=0..15:u32, i=0..15:u32, [e]:shared, g?hint:b64-;  ptx 9.4; sm 107
		cp.async.bulk!{.relaxed.scope}.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::disabled.ignore_oob{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, h=0..15:u32, i=0..15:u32, [e]:shared, g?hint:b64-;  ptx 9.4; sm 107
		cp.async.bulk!{.weak}.shared::cta.global.mbarrier::complete_tx::bytes.report{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, g?hint:b64-;  ptx 9.4; sm 107
		cp.async.bulk!{.relaxed.scope}.shared::cta.global.mbarrier::complete_tx::bytes.report{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, g?hint:b64-;  ptx 9.4; sm 107
		cp.async.bulk!{.weak}.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::16b{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f:b16, g?hint:b64-;  ptx 9.4; sm 90
		cp.async.bulk!{.relaxed.scope}.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::16b{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f:b16, g?hint:b64-;  ptx 9.4; sm 90
		cp.async.bulk!{.weak}.shared::cluster.global.mbarrier::complete_tx::bytes.report{.multicast}{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f?multicast:b16, g?hint:b64-;  .multicast = multicast::cluster multicast::cluster::16b; ptx 9.4; sm 107
		cp.async.bulk!{.relaxed.scope}.shared::cluster.global.mbarrier::complete_tx::bytes.report{.multicast}{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f?multicast:b16, g?hint:b64-;  .multicast = multicast::cluster multicast::cluster::16b; ptx 9.4; sm 107
		cp.async.bulk!{.weak}.shared::cluster.global.mbarrier::complete_tx::bytes{.report}.multicast::cluster::32b{.hint} [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f:b32, g?hint:b64-;  ptx 9.4; sm 107
		cp.async.bulk!{.relaxed.scope}.shared::cluster.global.mbarrier::complete_tx::bytes{.report}.multicast::cluster::32b{.hint}.b128 [a]:shared, [b]:global, c=0..1048560/16:u32, [e]:shared, f:b32, g?hint:b64-;  ptx 9.4; sm 107
		cp.reduce.async.bulk!.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.b32 [a], [b], c=0..1048560/16:u32, [e];  .op = and or xor; ptx 8.0; sm 90
		cp.reduce.async.bulk!.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.type [a], [b], c=0..1048560/16:u32, [e];  .type = u32 s32 u64; ptx 8.0; sm 90
		cp.reduce.async.bulk!.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.u32 [a], [b], c=0..1048560/16:u32, [e];  .op = inc dec; ptx 8.0; sm 90
		cp.reduce.async.bulk!.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [a], [b], c=0..1048560/16:u32, [e];  .op = min max; .type = u32 s32; ptx 8.0; sm 90`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Atomic | Async | MayTrap, `
		cp.reduce.async.bulk!.global.shared::cta.bulk_group{.hint}.op.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .op = and or xor; .type = b32 b64; ptx 8.0; sm 90
		cp.reduce.async.bulk!.global.shared::cta.bulk_group{.hint}.add.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .type = u32 s32 u64 f32 f64; ptx 8.0; sm 90
		cp.reduce.async.bulk!.global.shared::cta.bulk_group{.hint}.add.noftz.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .type = f16 bf16; ptx 8.0; sm 90
		cp.reduce.async.bulk!.global.shared::cta.bulk_group{.hint}.op.u32 [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .op = inc dec; ptx 8.0; sm 90
		cp.reduce.async.bulk!.global.shared::cta.bulk_group{.hint}.op.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .op = min max; .type = u32 s32 u64 s64 f16 bf16; ptx 8.0; sm 90`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Atomic | Async | MayTrap, `
		cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group{.hint}.op.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .op = and or xor; .type = b32 b64; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group{.hint}.op.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .op = inc dec; .type = u32; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group{.hint}.op.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .op = min max; .type = u32 s32 u64 s64 f16 bf16; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group{.hint}.add.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .type = u32 s32 u64 f32 f64; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group{.hint}.add.noftz.type [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  .type = f16 bf16; ptx 9.3; sm 90
		cp.reduce.async.bulk!{.relaxed.scope}.global.shared::cta.bulk_group{.hint}.add.noftz.f32 [a]:global, [b]:shared, c=0..1048560/16:u32, e?hint:b64-;  ptx 9.4; sm 90`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Async | MayTrap, `
		cp.reduce.async.bulk!.relaxed.scope.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [a], [b], c=0..1048560/16:u32, [e];  .scope = cta cluster; .op = and or xor; .type = b32; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [a], [b], c=0..1048560/16:u32, [e];  .scope = cta cluster; .op = add; .type = u32 s32 u64; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [a], [b], c=0..1048560/16:u32, [e];  .scope = cta cluster; .op = inc dec; .type = u32; ptx 9.3; sm 90
		cp.reduce.async.bulk!.relaxed.scope.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [a], [b], c=0..1048560/16:u32, [e];  .scope = cta cluster; .op = min max; .type = u32 s32; ptx 9.3; sm 90`},
	{"multimem", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Async | MayTrap, `
		multimem.cp.async.bulk!.global.shared::cta.bulk_group{.cp_mask} [a]:global, [b]:shared, c=0..1048560/16:u32, f?cp_mask:b16;  .cp_mask = cp_mask; ptx 9.1; sm 90
		multimem.cp.async.bulk!.weak.global.shared::cta.bulk_group{.cp_mask} [a]:global, [b]:shared, c=0..1048560/16:u32, f?cp_mask:b16;  .cp_mask = cp_mask; ptx 9.3; sm 90
		multimem.cp.async.bulk!{.relaxed.scope}.global.shared::cta.bulk_group{.cp_mask}.b128 [a]:global, [b]:shared, c=0..1048560/16:u32, f?cp_mask:b16;  .cp_mask = cp_mask; ptx 9.3; sm 90`},
	{"multimem", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Atomic | Async | MayTrap, `
		multimem.cp.reduce.async.bulk!.global.shared::cta.bulk_group.op.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .op = and or xor; .type = b32 b64; ptx 9.1; sm 90
		multimem.cp.reduce.async.bulk!.global.shared::cta.bulk_group.op.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .op = inc dec; .type = u32; ptx 9.1; sm 90
		multimem.cp.reduce.async.bulk!.global.shared::cta.bulk_group.op.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .op = min max; .type = u32 s32 u64 s64 f16 bf16; ptx 9.1; sm 90
		multimem.cp.reduce.async.bulk!.global.shared::cta.bulk_group.add.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .type = u32 s32 u64 f32 f64; ptx 9.1; sm 90
		multimem.cp.reduce.async.bulk!.global.shared::cta.bulk_group.add.noftz.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .type = f16 bf16; ptx 9.1; sm 90
		multimem.cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group.op.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .op = and or xor; .type = b32 b64; ptx 9.3; sm 90
		multimem.cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group.op.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .op = inc dec; .type = u32; ptx 9.3; sm 90
		multimem.cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group.op.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .op = min max; .type = u32 s32 u64 s64 f16 bf16; ptx 9.3; sm 90
		multimem.cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group.add.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .type = u32 s32 u64 f32 f64; ptx 9.3; sm 90
		multimem.cp.reduce.async.bulk!.relaxed.scope.global.shared::cta.bulk_group.add.noftz.type [a]:global, [b]:shared, c=0..1048560/16:u32;  .type = f16 bf16; ptx 9.3; sm 90
		multimem.cp.reduce.async.bulk!{.relaxed.scope}.global.shared::cta.bulk_group.add.noftz.f32 [a]:global, [b]:shared, c=0..1048560/16:u32;  ptx 9.4; sm 90`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyHint, Hint, `
		cp.async.bulk.prefetch!.L2.global{.hint} [a], b=0..1048560/16:u32, e?hint:b64-;          ptx 8.0; sm 90
		cp.async.bulk.prefetch!.L2.global.L2::evict_last [a], b=0..1048560/16:u32;               ptx 9.4; sm 107`},
	{"cp", "9.7.9.25.5", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Async | MayTrap, `
		cp.async.bulk.tensor!.dim.dst.global{.tile}.mbarrier::complete_tx::bytes{.multicast}{.group}{.hint} [a]:dst, [b, <c*dim>:s32]:global, [e]:shared, g?multicast:b16, h?hint:b64-;  .dim = 1d 2d 3d 4d 5d; .dst = shared::cluster; .multicast = multicast::cluster; .group = cta_group::1 cta_group::2; ptx 8.0; sm 90
		cp.async.bulk.tensor!.dim.dst.global{.tile}.mbarrier::complete_tx::bytes{.group}{.hint} [a]:dst, [b, <c*dim>:s32]:global, [e]:shared, h?hint:b64-;  .dim = 1d 2d 3d 4d 5d; .dst = shared::cta; .group = cta_group::1 cta_group::2; ptx 8.0; sm 90
		cp.async.bulk.tensor!.dim.dst.global.im2col.mbarrier::complete_tx::bytes{.multicast}{.group}{.hint} [a]:dst, [b, <c*dim>:s32]:global, [e]:shared, <f*dhw>:u16, g?multicast:b16, h?hint:b64-;  .dim = 3d 4d 5d; .dst = shared::cluster; .multicast = multicast::cluster; .group = cta_group::1 cta_group::2; ptx 8.0; sm 90
		cp.async.bulk.tensor!.dim.dst.global.im2col.mbarrier::complete_tx::bytes{.group}{.hint} [a]:dst, [b, <c*dim>:s32]:global, [e]:shared, <f*dhw>:u16, h?hint:b64-;  .dim = 3d 4d 5d; .dst = shared::cta; .group = cta_group::1 cta_group::2; ptx 8.0; sm 90
		cp.async.bulk.tensor!.dim.dst.global.mode.mbarrier::complete_tx::bytes{.multicast}{.group}{.hint} [a]:dst, [b, <c*dim>:s32]:global, [e]:shared, <f*2>:u16, g?multicast:b16, h?hint:b64-;  .dim = 3d 4d 5d; .mode = im2col::w im2col::w::128; .dst = shared::cluster; .multicast = multicast::cluster; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		cp.async.bulk.tensor!.dim.dst.global.mode.mbarrier::complete_tx::bytes{.group}{.hint} [a]:dst, [b, <c*dim>:s32]:global, [e]:shared, <f*2>:u16, h?hint:b64-;  .dim = 3d 4d 5d; .mode = im2col::w im2col::w::128; .dst = shared::cta; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		cp.async.bulk.tensor!.2d.dst.global.tile::gather4.mbarrier::complete_tx::bytes{.multicast}{.group}{.hint} [a]:dst, [b, <c*5>:s32]:global, [e]:shared, g?multicast:b16, h?hint:b64-;  .dst = shared::cluster; .multicast = multicast::cluster; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		cp.async.bulk.tensor!.2d.dst.global.tile::gather4.mbarrier::complete_tx::bytes{.group}{.hint} [a]:dst, [b, <c*5>:s32]:global, [e]:shared, h?hint:b64-;  .dst = shared::cta; .group = cta_group::1 cta_group::2; ptx 8.6; sm 100
		cp.async.bulk.tensor!.dim.global.shared::cta{.tile}.bulk_group{.hint} [a, <b*dim>:s32]:global, [c]:shared, e?hint:b64-;  .dim = 1d 2d 3d 4d 5d; ptx 8.0; sm 90
		cp.async.bulk.tensor!.dim.global.shared::cta.im2col_no_offs.bulk_group{.hint} [a, <b*dim>:s32]:global, [c]:shared, e?hint:b64-;  .dim = 3d 4d 5d; ptx 8.0; sm 90
		cp.async.bulk.tensor!.2d.global.shared::cta.tile::scatter4.bulk_group{.hint} [a, <b*5>:s32]:global, [c]:shared, e?hint:b64-;  ptx 8.6; sm 100`},
	{"cp", "9.7.9.25.5", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Atomic | Async | MayTrap, `
		cp.reduce.async.bulk.tensor!.dim.global.shared::cta.op{.tile}.bulk_group{.hint} [a, <b*dim>:s32]:global, [c]:shared, e?hint:b64-;  .dim = 1d 2d 3d 4d 5d; .op = and or xor add inc dec min max; ptx 8.0; sm 90
		cp.reduce.async.bulk.tensor!.dim.global.shared::cta.op.im2col_no_offs.bulk_group{.hint} [a, <b*dim>:s32]:global, [c]:shared, e?hint:b64-;  .dim = 3d 4d 5d; .op = and or xor add inc dec min max; ptx 8.0; sm 90`},
	{"cp", "9.7.9.25.5", ClassMemory, AffineNone, FamilyHint, Hint, `
		cp.async.bulk.prefetch.tensor!.dim.L2.global{.tile}{.hint} [a, <b*dim>:s32]:global, e?hint:b64-;  .dim = 1d 2d 3d 4d 5d; ptx 8.0; sm 90
		cp.async.bulk.prefetch.tensor!.dim.L2.global.im2col{.hint} [a, <b*dim>:s32]:global, <c*dhw>:u16, e?hint:b64-;  .dim = 3d 4d 5d; ptx 8.0; sm 90
		cp.async.bulk.prefetch.tensor!.dim.L2.global.mode{.hint} [a, <b*dim>:s32]:global, <c*2>:u16, e?hint:b64-;  .dim = 3d 4d 5d; .mode = im2col::w im2col::w::128; ptx 8.6; sm 100
		cp.async.bulk.prefetch.tensor!.2d.L2.global.tile::gather4{.hint} [a, <b*5>:s32]:global, e?hint:b64-;  ptx 8.6; sm 100`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Async, `
		cp.async.bulk.commit_group!;                                              ptx 8.0; sm 90`},
	{"cp", "9.7.9.25.4", ClassMemory, AffineNone, FamilyAsync, Waits, `
		cp.async.bulk.wait_group!{.read} #a:u32;                                  ptx 8.0; sm 90
		cp.async.bulk.wait_group!.sync_restrict::proxy::async #a:u32;             ptx 9.5; sm 100`},
	{"tensormap", "9.7.9.27", ClassMemory, AffineNone, FamilyTensormap, Reads | Writes | MayTrap, `
		tensormap.replace!.tile.field{.ss}.b1024.type [a], b:type;                .field = global_address; .ss = global shared::cta; .type = b64; ptx 8.3; sm 90
		tensormap.replace!.tile.field{.ss}.b1024.type [a], b:type;                .field = rank; .ss = global shared::cta; .type = b32; ptx 8.3; sm 90
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..15:type;         .field = elemtype; .ss = global shared::cta; .type = b32; ptx 8.3; sm 90; b 13 ptx 8.7 sm 100
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..2:type;          .field = interleave_layout; .ss = global shared::cta; .type = b32; ptx 8.3; sm 90
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..4:type;          .field = swizzle_mode; .ss = global shared::cta; .type = b32; ptx 8.3; sm 90; b 4 ptx 8.8 sm 103
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..3:type;          .field = swizzle_atomicity; .ss = global shared::cta; .type = b32; ptx 8.6; sm 100
		tensormap.replace!.tile.field.class{.ss}.b1024.b64 [a], b:b64;            .field = global_address; .class = alloc_small alloc_large alloc_same; .ss = global shared::cta; ptx 9.5; sm 90
		tensormap.replace!.tile.class{.ss}.b1024 [a];                             .class = alloc_small alloc_large; .ss = global shared::cta; ptx 9.5; sm 90
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..1:type;          .field = fill_mode; .ss = global shared::cta; .type = b32; ptx 8.3; sm 90
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..4:u32, c:type;    .field = box_dim global_dim element_stride; .ss = global shared::cta; .type = b32; ptx 8.3; sm 90
		tensormap.replace!.tile.field{.ss}.b1024.type [a], #b=0..4:u32, c:type;    .field = global_stride; .ss = global shared::cta; .type = b64; ptx 8.3; sm 90`},
	{"tensormap", "9.7.13.16", ClassMemory, AffineNone, FamilyTensormap, Collective | Aligned | Reads | Writes | Strong | Fences | MayTrap, `
		tensormap.cp_fenceproxy!.global.shared::cta.tensormap::generic.release.scope.sync.aligned [a]:global, [b]:shared, #c=128:u32;  ptx 8.3; sm 90`},
	{"atom", "9.7.13.5", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | Commutes | MayTrap, `
		atom{.sem}{.scope}{.ss}.op{.hint}.type _d, [a], b, e?hint:b64-;            .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .op = and or xor; .type = b32 b64
		atom{.sem}{.scope}{.ss}.add{.hint}.type _d, [a], b, e?hint:b64-;           .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .type = u32 s32 u64
		atom{.sem}{.scope}{.ss}.op{.hint}.type _d, [a], b, e?hint:b64-;            .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .op = min max; .type = u32 s32 u64 s64`},
	{"atom", "9.7.13.5", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | MayTrap, `
		atom{.sem}{.scope}{.ss}.exch{.hint}.type _d, [a], b, e?hint:b64-;          .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .type = b32 b64 b128
		atom{.sem}{.scope}{.ss}.cas.type _d, [a], b, c;                           .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .type = b16 b32 b64 b128
		atom{.sem}{.scope}{.ss}.add{.hint}.type _d, [a], b, e?hint:b64-;           .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .type = f32 f64
		atom{.sem}{.scope}{.ss}.op{.hint}.type _d, [a], b, e?hint:b64-;            .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .op = inc dec; .type = u32
		atom{.sem}{.scope}{.ss}.add.noftz{.hint}.type _d, [a], b, e?hint:b64-;     .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; .type = f16 f16x2 bf16 bf16x2; ptx 6.2; sm 70
		atom{.sem}{.scope}{.ss}.add.noftz{.hint}.f32 _d, [a], b, e?hint:b64-;      .sem = relaxed acquire release acq_rel; .ss = global shared shared::cta shared::cluster; ptx 9.4; sm 90
		atom{.sem}{.scope}{.global}.add.noftz{.hint}.vec.f32 _<d>, [a], <b>, e?hint:b64-;  .sem = relaxed acquire release acq_rel; .vec = v2 v4; ptx 9.4; sm 90
		atom{.sem}{.scope}{.global}.add{.hint}.vec.f32 _<d>, [a], <b>, e?hint:b64-;  .sem = relaxed acquire release acq_rel; .vec = v2 v4; ptx 8.1; sm 90
		atom{.sem}{.scope}{.global}.op.noftz{.hint}.vec.type _<d>, [a], <b>, e?hint:b64-;  .sem = relaxed acquire release acq_rel; .op = add min max; .type = f16 bf16 f16x2 bf16x2; ptx 8.1; sm 90`},
	{"red", "9.7.13.6", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | Commutes | MayTrap, `
		red{.sem}{.scope}{.ss}.op{.hint}.type [a], b, e?hint:b64-;                .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .op = and or xor; .type = b32 b64
		red{.sem}{.scope}{.ss}.add{.hint}.type [a], b, e?hint:b64-;               .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .type = u32 s32 u64
		red{.sem}{.scope}{.ss}.op{.hint}.type [a], b, e?hint:b64-;                .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .op = min max; .type = u32 s32 u64 s64`},
	{"red", "9.7.13.6", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | MayTrap, `
		red{.sem}{.scope}{.ss}.add{.hint}.type [a], b, e?hint:b64-;               .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .type = f32 f64
		red{.sem}{.scope}{.ss}.op{.hint}.type [a], b, e?hint:b64-;                .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .op = inc dec; .type = u32
		red{.sem}{.scope}{.ss}.add.noftz{.hint}.type [a], b, e?hint:b64-;         .sem = relaxed release; .ss = global shared shared::cta shared::cluster; .type = f16 f16x2 bf16 bf16x2; ptx 6.2; sm 70
		red{.sem}{.scope}{.ss}.add.noftz{.hint}.f32 [a], b, e?hint:b64-;          .sem = relaxed release; .ss = global shared shared::cta shared::cluster; ptx 9.4; sm 90
		red{.sem}{.scope}{.global}.add.noftz{.hint}.vec.f32 [a], <b>, e?hint:b64-;  .sem = relaxed release; .vec = v2 v4; ptx 9.4; sm 90
		red{.sem}{.scope}{.global}.add{.hint}.vec.f32 [a], <b>, e?hint:b64-;      .sem = relaxed release; .vec = v2 v4; ptx 8.1; sm 90
		red{.sem}{.scope}{.global}.op.noftz{.hint}.vec.type [a], <b>, e?hint:b64-;  .sem = relaxed release; .op = add min max; .type = f16 bf16 f16x2 bf16x2; ptx 8.1; sm 90`},
	{"red", "9.7.13.7", ClassMemory, AffineNone, FamilyAsyncStore, Reads | Writes | Atomic | Async | MayTrap, `
		red.async!.relaxed.cluster{.ss}.mech.op.u32 [a], b:u32, [c];              .op = inc dec; .ss = shared::cluster; .mech = mbarrier::complete_tx::bytes; ptx 8.1; sm 90
		red.async!.relaxed.cluster{.ss}.mech.op.type [a], b, [c];                 .op = min max; .type = u32 s32; .ss = shared::cluster; .mech = mbarrier::complete_tx::bytes; ptx 8.1; sm 90
		red.async!.relaxed.cluster{.ss}.mech.op.b32 [a], b:b32, [c];              .op = and or xor; .ss = shared::cluster; .mech = mbarrier::complete_tx::bytes; ptx 8.1; sm 90
		red.async!.relaxed.cluster{.ss}.mech.add.type [a], b, [c];                .type = u32 s32 u64; .ss = shared::cluster; .mech = mbarrier::complete_tx::bytes; ptx 8.1; sm 90`},
	{"red", "9.7.13.7", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | Commutes | MayTrap, `
		red.async!.release.scope{.global}.add.type [a], b;                        .scope = gpu sys; .type = u32 s32 u64 s64; ptx 8.7; sm 100
		red.async!.mmio.release.sys{.global}.add.type [a], b;                     .type = u32 s32 u64 s64; ptx 8.7; sm 100
		red.async!.release.scope{.global}.op.type [a], b;                         .scope = gpu sys; .op = min max; .type = u32 s32; ptx 8.7; sm 100
		red.async!.release.scope{.global}.op.type [a], b;                         .scope = gpu sys; .op = and or xor; .type = b32; ptx 8.7; sm 100
		red.async!.mmio.release.sys{.global}.op.type [a], b;                      .op = min max; .type = u32 s32; ptx 8.7; sm 100
		red.async!.mmio.release.sys{.global}.op.type [a], b;                      .op = and or xor; .type = b32; ptx 8.7; sm 100`},
	{"red", "9.7.13.7", ClassMemory, AffineNone, FamilyAtomic, Reads | Writes | Atomic | MayTrap, `
		red.async!.release.scope{.global}.op.u32 [a], b:u32;                      .scope = gpu sys; .op = inc dec; ptx 8.7; sm 100
		red.async!.mmio.release.sys{.global}.op.u32 [a], b:u32;                   .op = inc dec; ptx 8.7; sm 100`},

	{"fabric", "9.7.10.5.5", ClassMemory, AffineNone, FamilyNothing, SideEffect, `
		fabric.submit!{.restrict};                                               .restrict = op_restrict::fetching; ptx 9.3; sm 100
		fabric.submit!.commit_group;                                             ptx 9.5; sm 100`},
	{"fabric", "9.7.10.5.6", ClassMemory, AffineNone, FamilyNothing, Waits, `
		fabric.wait!.sync_restrict::reads #a?:u32;                               ptx 9.3; sm 100
		fabric.wait!.sync_restrict::read #a:u32;                                 ptx 9.5; sm 100`},
	{"stacksave", "9.7.17.1", ClassMisc, AffineNone, FamilyStacksave, Pure, `
		stacksave.type d;                                                        .type = u32 u64; ptx 7.3; sm 52`},
	{"stackrestore", "9.7.17.2", ClassMisc, AffineNone, FamilyStackrestore, Stack | MayTrap, `
		stackrestore.type %%a;                                                    .type = u32 u64; ptx 7.3; sm 52`},
	{"alloca", "9.7.17.3", ClassMisc, AffineNone, FamilyAlloca, Stack | MayTrap, `
		alloca.type d, a, #b?:u32;                                               .type = u32 u64; ptx 7.3; sm 52`},
}

package ptx

// Manual section 9.7.12: control flow.
var controlRows = []row{
	{"bra", "9.7.12.3", ClassControl, AffineBranch, FamilyBra, Jumps, `
		bra{.uni} &a`},
	{"brx", "9.7.12.4", ClassControl, AffineBranch, FamilyBrx, Jumps | MayTrap, `
		brx.idx!{.uni} a:u32, &*b;             ptx 6.0; sm 30`},
	{"call", "9.7.12.5", ClassControl, AffineNone, FamilyCall, Calls | MayTrap, `
		call{.uni} (d)?, a:any, (b)?, &*c?`},
	{"ret", "9.7.12.6", ClassControl, AffineBranch, FamilyRet, Returns, `
		ret{.uni}`},
	{"exit", "9.7.12.7", ClassControl, AffineBranch, FamilyExit, Exits, `
		exit`},
}

// Manual section 9.7.13: synchronisation and communication.
var syncRows = []row{
	{"bar", "9.7.13.1", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Waits | Aligned | MayTrap, `
		bar{.cta}!.sync a:u32, b?:u32
		bar{.cta}.red!.popc.u32 d:u32, a:u32, b?:u32, !c:pred
		bar{.cta}.red!.op.pred p:pred, a:u32, b?:u32, !c:pred;             .op = and or`},
	{"bar", "9.7.13.1", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Aligned | MayTrap, `
		bar{.cta}.arrive! a:u32, b:u32`},
	{"bar", "9.7.13.2", ClassBarrier, AffineNone, FamilyBarrier, Collective | Waits | MayTrap, `
		bar.warp!.sync a:b32-;                 ptx 6.0; sm 30`},
	{"barrier", "9.7.13.1", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Waits | MayTrap, `
		barrier{.cta}!.sync a:u32, b?:u32;                       ptx 6.0; sm 30
		barrier{.cta}.red!.popc.u32 d:u32, a:u32, b?:u32, !c:pred; ptx 6.0; sm 30
		barrier{.cta}.red!.op.pred p:pred, a:u32, b?:u32, !c:pred; .op = and or; ptx 6.0; sm 30`},
	{"barrier", "9.7.13.1", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Waits | Aligned | MayTrap, `
		barrier{.cta}!.sync.aligned a:u32, b?:u32;               ptx 6.0; sm 30
		barrier{.cta}.red!.popc.aligned.u32 d:u32, a:u32, b?:u32, !c:pred; ptx 6.0; sm 30
		barrier{.cta}.red!.op.aligned.pred p:pred, a:u32, b?:u32, !c:pred; .op = and or; ptx 6.0; sm 30`},
	{"barrier", "9.7.13.1", ClassBarrier, AffineNone, FamilyBarrier, Barrier | MayTrap, `
		barrier{.cta}.arrive! a:u32, b:u32;                      ptx 6.0; sm 30`},
	{"barrier", "9.7.13.1", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Aligned | MayTrap, `
		barrier{.cta}.arrive!.aligned a:u32, b:u32;              ptx 6.0; sm 30`},
	{"barrier", "9.7.13.3", ClassBarrier, AffineNone, FamilyBarrier, Barrier | MayTrap, `
		barrier.cluster.arrive!{.sem};         .sem = release relaxed; ptx 7.8; sm 90`},
	{"barrier", "9.7.13.3", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Aligned | MayTrap, `
		barrier.cluster.arrive!{.sem}.aligned; .sem = release relaxed; ptx 7.8; sm 90`},
	{"barrier", "9.7.13.3", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Waits | MayTrap, `
		barrier.cluster.wait!{.acquire};       ptx 7.8; sm 90`},
	{"barrier", "9.7.13.3", ClassBarrier, AffineNone, FamilyBarrier, Barrier | Waits | Aligned | MayTrap, `
		barrier.cluster.wait!{.acquire}.aligned; ptx 7.8; sm 90`},
	{"membar", "9.7.13.4", ClassBarrier, AffineNone, FamilyNothing, Fences, `
		membar.level;                         .level = cta gl sys
		membar.proxy!.kind;                    .kind = alias async; ptx 7.5; sm 70`},
	{"fence", "9.7.13.4", ClassBarrier, AffineNone, FamilyNothing, Fences, `
		fence{.sem}.scope;                    .sem = sc acq_rel acquire release; ptx 6.0; sm 70
		fence.acquire.sync_restrict::shared::cluster.cluster; ptx 8.6; sm 90
		fence.release.sync_restrict::shared::cta.cluster; ptx 8.6; sm 90
		fence.mbarrier_init.release.cluster;  ptx 8.0; sm 90
		fence.proxy!.alias;                    ptx 7.5; sm 70
		fence.proxy!.alias.sem.sys;            .sem = acquire release; ptx 9.4; sm 90
		fence.alias.sync_restrict::read.release.sys; ptx 9.5; sm 90
		fence.proxy!.between.alias.sem.sys;    .between = generic::fabric fabric::generic fabric::fabric; .sem = acquire release; ptx 9.3; sm 100
		fence.proxy!.async{.where};            .where = global shared::cta shared::cluster; ptx 8.0; sm 90
		fence.proxy!.tensormap::generic.release.scope; ptx 8.3; sm 90
		fence.proxy!.tensormap::generic.acquire.scope [a], #b=128:u32; ptx 8.3; sm 90
		fence.proxy!.async::generic.acquire.sync_restrict::shared::cluster.cluster; ptx 8.6; sm 90
		fence.proxy!.async::generic.release.sync_restrict::shared::cta.cluster; ptx 8.6; sm 90
		fence.proxy!.async::generic.release.sync_restrict::shared::cluster::read.scope; .scope = cta cluster; ptx 9.4; sm 90`},
	{"vote", "9.7.13.8", ClassWarp, AffineWarp, FamilyVote, Collective, `
		vote.mode.pred d, !a:pred;            .mode = all any uni; ptx 1.2
		vote.ballot.b32 d, !a:pred;           ptx 2.0; sm 20`},
	{"vote", "9.7.13.9", ClassWarp, AffineWarp, FamilyVote, Collective | MayTrap, `
		vote.sync.mode.pred d, !a:pred, b:u32; .mode = all any uni; ptx 6.0; sm 30
		vote.sync.ballot.b32 d, !a:pred, b:u32; ptx 6.0; sm 30`},
	{"match", "9.7.13.10", ClassWarp, AffineNone, FamilyMatch, Collective | MayTrap, `
		match.any.sync.type d:u32, a, b:u32;         .type = b32 b64; ptx 6.0; sm 70
		match.all.sync.type _d:u32|_p?:pred, a, b:u32; .type = b32 b64; ptx 6.0; sm 70`},
	{"activemask", "9.7.13.11", ClassWarp, AffineWarp, FamilyActivemask, Collective, `
		activemask.b32 d;                     ptx 6.2; sm 30`},
	{"redux", "9.7.13.12", ClassWarp, AffineWarp, FamilyRedux, Collective | MayTrap, `
		redux.sync.op.u32 d:u32, a:u32, b:u32; .op = add min max; ptx 7.0; sm 80
		redux.sync.op.s32 d:s32, a:s32, b:u32; .op = add min max; ptx 7.0; sm 80
		redux.sync.op.b32 d:u32, a:u32, b:u32; .op = and or xor; ptx 7.0; sm 80
		redux.sync.op{.abs}{.NaN}.f32 d, a, b:u32; .op = min max; ptx 8.6; sm 100`},
	{"griddepcontrol", "9.7.13.13", ClassMisc, AffineNone, FamilyNothing, SideEffect, `
		griddepcontrol.launch_dependents!;     ptx 7.8; sm 90`},
	{"griddepcontrol", "9.7.13.13", ClassMisc, AffineNone, FamilyNothing, Waits, `
		griddepcontrol.wait!;                  ptx 7.8; sm 90`},
	{"elect", "9.7.13.14", ClassWarp, AffineNone, FamilyElect, Collective | MayTrap, `
		elect.sync _d:b32-|p:pred, b:b32-;     ptx 8.0; sm 90`},
	{"shfl", "9.7.9.5", ClassWarp, AffineNone, FamilyShfl, Collective, `
		shfl.mode.b32 d|_p?:pred, a, b, c;     .mode = up down bfly idx; ptx 3.0; sm 30`},
	{"shfl", "9.7.9.6", ClassWarp, AffineNone, FamilyShfl, Collective | MayTrap, `
		shfl.sync.mode.b32 d|_p?:pred, a, b, c, e:u32; .mode = up down bfly idx; ptx 6.0; sm 30`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Writes | MayTrap, `
		mbarrier.init!{.ss}.b64 [a], b=1..1048575:u32;                              .ss = shared shared::cta; ptx 7.0; sm 80
		mbarrier.init!.layout::v0{.ss}.b64 [a], b=1..1048575:u32;                    .ss = shared shared::cta; ptx 9.3; sm 90
		mbarrier.init!.layout::v1{.ss}.b64 [a], b=1..511:u32;                        .ss = shared shared::cta; ptx 9.3; sm 90
		mbarrier.inval!{.ss}.b64 [a];                                    .ss = shared shared::cta; ptx 7.0; sm 80`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Barrier | Reads | Writes | Atomic | MayTrap, `
		mbarrier.op!{.sem.scope}{.ss}.b64 [a], b:u32;                  .op = expect_tx complete_tx; .sem = relaxed; .scope = cta cluster; .ss = shared shared::cta shared::cluster; ptx 8.0; sm 90
		mbarrier.op!{.sem.scope}{.ss}.b64 _d:type-, [a], b=1..4294967295?:u32;              .op = arrive arrive_drop; .sem = release relaxed; .scope = cta cluster; .ss = shared shared::cta shared::cluster; ptx 7.0; sm 80
		mbarrier.op.expect_tx!{.sem.scope}{.ss}.b64 _d:type-, [a], b:u32;     .op = arrive arrive_drop; .sem = release relaxed; .scope = cta cluster; .ss = shared shared::cta shared::cluster; ptx 8.0; sm 90
		mbarrier.op!.noComplete{.sem.scope}{.ss}.b64 _d:type-, [a], b=1..4294967295:u32;    .op = arrive arrive_drop; .sem = release; .scope = cta; .ss = shared shared::cta; ptx 7.0; sm 80`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Barrier | Reads | Strong | MayTrap, `
		mbarrier.test_wait!{.sem.scope}{.ss}.b64 p:pred, [a], b:type-;       .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 7.0; sm 80
		mbarrier.test_wait.parity!{.sem.scope}{.ss}.b64 p:pred, [a], b=0..1:u32; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 7.1; sm 80`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Barrier | Waits | Reads | Strong | MayTrap, `
		mbarrier.try_wait!{.sem.scope}{.ss}.b64 p:pred, [a], b:type-, c?:u32; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 7.8; sm 90
		mbarrier.try_wait.parity!{.sem.scope}{.ss}.b64 p:pred, [a], b=0..1:u32, c?:u32; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 7.8; sm 90`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Barrier | Reads | Writes | Atomic | MayTrap, `
		mbarrier.op!{.relaxed.scope}{.ss}.multicast::cluster::32b.b64 [a], b:u32, e:u32;  .op = expect_tx complete_tx; .scope = cta cluster; .ss = shared::cluster; ptx 9.4; sm 107
		mbarrier.op!{.sem.scope}{.ss}.multicast::cluster::32b.b64 _d:type-, [a], b?:u32, e:u32; .op = arrive arrive_drop; .sem = release relaxed; .scope = cta cluster; .ss = shared::cluster; ptx 9.4; sm 107
		mbarrier.op.expect_tx!{.sem.scope}{.ss}.multicast::cluster::32b.b64 _d:type-, [a], b:u32, e:u32; .op = arrive arrive_drop; .sem = release relaxed; .scope = cta cluster; .ss = shared::cluster; ptx 9.4; sm 107`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Barrier | Reads | Strong | MayTrap, `
		mbarrier.test_wait!.phase_type::primary{.sem.scope}{.ss}.b64 p:pred|q?:pred, d?:b8, [a], b:type-; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 9.3; sm 90
		mbarrier.test_wait.parity!.phase_type{.sem.scope}{.ss}.b64 p:pred|q?:pred, d?:b8, [a], b=0..1:u32; .phase_type = phase_type::primary phase_type::conditional; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 9.3; sm 90
		mbarrier.check_layout!.layout{.shared::cta}.b64 p:pred, [a];      .layout = layout::v0 layout::v1; ptx 9.3; sm 90`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineNone, FamilyMbarrier, Barrier | Waits | Reads | Strong | MayTrap, `
		mbarrier.try_wait!.phase_type::primary{.sem.scope}{.ss}.b64 p:pred|q?:pred, d?:b8, [a], b:type-, c?:u32; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 9.3; sm 90
		mbarrier.try_wait.parity!.phase_type{.sem.scope}{.ss}.b64 p:pred|q?:pred, d?:b8, [a], b=0..1:u32, c?:u32; .phase_type = phase_type::primary phase_type::conditional; .sem = acquire relaxed; .scope = cta cluster; .ss = shared shared::cta; ptx 9.3; sm 90`},
	{"mbarrier", "9.7.13.15", ClassBarrier, AffineUniform, FamilyCompute, Pure, `
		mbarrier.pending_count!.b64 d:u32, a:type-;                            ptx 7.0; sm 80
		mbarrier.pending_count!.layout::v0.b64 d:u32, a:type-;                 ptx 9.3; sm 90`},
	{"clusterlaunchcontrol", "9.7.13.17", ClassMisc, AffineNone, FamilyTryCancel, Writes | Async | MayTrap | SideEffect, `
		clusterlaunchcontrol.try_cancel.async!{.ss}.mech{.multicast::cluster::all}.b128 [a], [b]; .ss = shared::cta; .mech = mbarrier::complete_tx::bytes; ptx 8.6; sm 100`},
	{"clusterlaunchcontrol", "9.7.13.17", ClassMisc, AffineNone, FamilyQueryCancel, Pure, `
		clusterlaunchcontrol.query_cancel!.is_canceled.pred.b128 p:pred, a:b128; ptx 8.6; sm 100
		clusterlaunchcontrol.query_cancel!.get_first_ctaid.v4.b32.b128 <d*4>:b32, a:b128; ptx 8.6; sm 100
		clusterlaunchcontrol.query_cancel!.op.b32.b128 d:b32, a:b128;    .op = get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z; ptx 8.6; sm 100`},
}

// Manual section 9.7.19: miscellaneous.
var miscRows = []row{
	{"brkpt", "9.7.19.1", ClassControl, AffineNone, FamilyBrkpt, MayTrap | SideEffect, `
		brkpt;                                sm 11`},
	{"nanosleep", "9.7.19.2", ClassMisc, AffineNone, FamilyNanosleep, Yields, `
		nanosleep.u32 a:u32;                      ptx 6.3; sm 70`},
	{"pmevent", "9.7.19.3", ClassMisc, AffineNone, FamilyNothing, SideEffect, `
		pmevent #a=0..15:u32;                 ptx 1.4
		pmevent.mask! #a=0..65535:u32;         ptx 3.0; sm 20`},
	{"trap", "9.7.19.4", ClassControl, AffineNone, FamilyTrap, MayTrap | SideEffect, `
		trap`},
	{"setmaxnreg", "9.7.19.5", ClassMisc, AffineNone, FamilyNothing, Collective | Aligned | Waits | SideEffect, `
		setmaxnreg.action!.sync.aligned.u32 #a=24..256/8:u32; .action = inc dec; ptx 8.0; sm 90`},
}

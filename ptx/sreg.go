package ptx

import "fmt"

// SpecialReg is a special register (manual chapter 10).
type SpecialReg uint8

// The special registers. A constant has the name of its register: TidX is %tid.x, LanemaskEq is %lanemask_eq. NoSReg is none.
const (
	NoSReg SpecialReg = iota
	TidX
	TidY
	TidZ
	NtidX
	NtidY
	NtidZ
	CtaidX
	CtaidY
	CtaidZ
	NctaidX
	NctaidY
	NctaidZ
	LaneID
	WarpID
	NWarpID
	SMID
	NSMID
	GridID
	IsExplicitCluster
	ClusterIDX
	ClusterIDY
	ClusterIDZ
	NClusterIDX
	NClusterIDY
	NClusterIDZ
	ClusterCtaidX
	ClusterCtaidY
	ClusterCtaidZ
	ClusterNctaidX
	ClusterNctaidY
	ClusterNctaidZ
	ClusterCtarank
	ClusterNctarank
	LanemaskEq
	LanemaskLe
	LanemaskLt
	LanemaskGe
	LanemaskGt
	Clock
	ClockHi
	Clock64
	GlobalTimer
	GlobalTimerLo
	GlobalTimerHi
	ReservedSmemBegin
	ReservedSmemEnd
	ReservedSmemCap
	ReservedSmem0
	ReservedSmem1
	TotalSmemSize
	AggrSmemSize
	DynamicSmemSize
	CurrentGraphExec
	PerCTAMemoryOffset
	PerCTAMemorySize
	LocalityDomainID
	LocalityDomainSupplementalSM
	PM0                     // %pm0; %pm1 … %pm7 follow it
	PM0x64   = PM0 + 8      // %pm0_64; %pm1_64 … %pm7_64 follow it
	EnvReg0  = PM0x64 + 8   // %envreg0; %envreg1 … %envreg31 follow it
	ZeroReg  = EnvReg0 + 32 // fourth component of vector special registers: always 0
	sregStop = ZeroReg + 1
)

var sregInfo = func() [sregStop]struct {
	name string
	typ  Type
} {
	type info = struct {
		name string
		typ  Type
	}
	t := [sregStop]info{
		IsExplicitCluster: {"%is_explicit_cluster", Pred},
		LaneID:            {"%laneid", U32},
		WarpID:            {"%warpid", U32},
		NWarpID:           {"%nwarpid", U32},
		SMID:              {"%smid", U32},
		NSMID:             {"%nsmid", U32},
		GridID:            {"%gridid", U64},
		ClusterCtarank:    {"%cluster_ctarank", U32},
		ClusterNctarank:   {"%cluster_nctarank", U32},
		LanemaskEq:        {"%lanemask_eq", U32},
		LanemaskLe:        {"%lanemask_le", U32},
		LanemaskLt:        {"%lanemask_lt", U32},
		LanemaskGe:        {"%lanemask_ge", U32},
		LanemaskGt:        {"%lanemask_gt", U32},
		Clock:             {"%clock", U32},
		ClockHi:           {"%clock_hi", U32},
		Clock64:           {"%clock64", U64},
		GlobalTimer:       {"%globaltimer", U64},
		GlobalTimerLo:     {"%globaltimer_lo", U32},
		GlobalTimerHi:     {"%globaltimer_hi", U32},
		ReservedSmemBegin: {"%reserved_smem_offset_begin", U32},
		ReservedSmemEnd:   {"%reserved_smem_offset_end", U32},
		ReservedSmemCap:   {"%reserved_smem_offset_cap", U32},
		ReservedSmem0:     {"%reserved_smem_offset_0", U32},
		ReservedSmem1:     {"%reserved_smem_offset_1", U32},
		TotalSmemSize:     {"%total_smem_size", U32},
		AggrSmemSize:      {"%aggr_smem_size", U32},
		DynamicSmemSize:   {"%dynamic_smem_size", U32},
		CurrentGraphExec:  {"%current_graph_exec", U64},
		ZeroReg:           {"%tid.w", U32},

		PerCTAMemoryOffset: {"%perctamemoryoffset", U64},
		PerCTAMemorySize:   {"%perctamemorysize", U32},

		LocalityDomainID:             {"%locality_domain_id", U32},
		LocalityDomainSupplementalSM: {"%locality_domain_supplemental_sm", U32},
	}
	for _, v := range []struct {
		name  string
		first SpecialReg
	}{
		{"%tid", TidX}, {"%ntid", NtidX}, {"%ctaid", CtaidX}, {"%nctaid", NctaidX},
		{"%clusterid", ClusterIDX}, {"%nclusterid", NClusterIDX},
		{"%cluster_ctaid", ClusterCtaidX}, {"%cluster_nctaid", ClusterNctaidX},
	} {
		for i, c := range []string{".x", ".y", ".z"} {
			t[v.first+SpecialReg(i)] = info{v.name + c, U32}
		}
	}
	for i := range SpecialReg(8) {
		t[PM0+i] = info{fmt.Sprintf("%%pm%d", i), U32}
		t[PM0x64+i] = info{fmt.Sprintf("%%pm%d_64", i), U64}
	}
	for i := range SpecialReg(32) {
		t[EnvReg0+i] = info{fmt.Sprintf("%%envreg%d", i), B32}
	}
	return t
}()

var sregByName = func() map[string]SpecialReg {
	m := map[string]SpecialReg{}
	for r := NoSReg + 1; r < sregStop; r++ {
		m[sregInfo[r].name] = r
	}
	for _, v := range []string{"%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"} {
		m[v+".w"] = ZeroReg
	}
	return m
}()

// String returns the register's name, with its percent sign.
func (r SpecialReg) String() string { return sregInfo[r].name }

// Type returns the type of the register.
func (r SpecialReg) Type() Type { return sregInfo[r].typ }

// PerCTAMemory reports whether a kernel needs the directive .minperctamemory to read the register.
func (r SpecialReg) PerCTAMemory() bool { return r == PerCTAMemoryOffset || r == PerCTAMemorySize }

// Measures reports whether the register measures the machine: elapsed time or events.
func (r SpecialReg) Measures() bool {
	return Clock <= r && r <= GlobalTimerHi || PM0 <= r && r < EnvReg0
}

// PerLane reports whether the register differs between the lanes of a warp.
func (r SpecialReg) PerLane() bool {
	return r == LaneID || r >= TidX && r <= TidZ || r >= LanemaskEq && r <= LanemaskGt
}

// Fixed reports whether the register has the same value everywhere and at all times in a launch.
func (r SpecialReg) Fixed() bool {
	return r >= NtidX && r <= NtidZ || r >= NctaidX && r <= NctaidZ || r == NWarpID || r == GridID ||
		r >= EnvReg0 && r < EnvReg0+32
}

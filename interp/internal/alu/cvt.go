package alu

// This file holds the conversions that compilers emit (manual section 9.7.9.21). slow.go has all other conversions
// (convert).

import (
	"math"

	"golang.org/x/exp/constraints"

	"gemu/interp/internal/fp"
)

// cvt converts between integers: it extends the source according to the source's type, and truncates it to the destination.
//
//gemu:kernel cvt.$D.$S; D = u32|s32 u64|s64; S = u32 s32 u64|s64
//gemu:kernel cvt.$D.$S; D = u32|s32 u64|s64; S = u8 s8 u16 s16
//gemu:kernel cvt.$D.$S; D = u8|s8 u16|s16; S = u8 s8 u16 s16 u32|s32 u64|s64 slow
func cvt[D, S constraints.Integer](a S) D { return D(a) }

//gemu:kernel cvt.rn.f32.$S; S = s32 u32 s64 u64 u16 s16 u8 s8
func cvtF32Int[S constraints.Integer](a S) float32 { return float32(a) }

//gemu:kernel cvt.rn.f64.$S; S = s32 u32 s64 u64 u16 s16 u8 s8
func cvtF64Int[S constraints.Integer](a S) float64 { return float64(a) }

//gemu:kernel cvt.f64.f32
func cvtF64F32(a float32) float64 { return fp.F32ToF64(a) }

//gemu:kernel cvt.rn.f32.f64
func cvtF32F64(a float64) float32 { return fp.NarrowF64(a) }

//gemu:kernel cvt.rzi.s32.f32
func cvtRziS32F32(a float32) int32 {
	if a > -1<<31 && a < 1<<31 {
		return int32(a)
	}
	return int32(fp.F32ToInt(a, fp.RZ, 32, true))
}

//gemu:kernel cvt.rzi.u32.f32
func cvtRziU32F32(a float32) uint32 {
	if a > -1 && a < 1<<32 {
		return uint32(int64(a))
	}
	return uint32(fp.F32ToInt(a, fp.RZ, 32, false))
}

//gemu:kernel cvt.rzi.s32.f64
func cvtRziS32F64(a float64) int32 {
	if a > -1<<31 && a < 1<<31 {
		return int32(a)
	}
	return int32(fp.F64ToInt(a, fp.RZ, 32, true))
}

//gemu:kernel cvt.rzi.s64.f64
func cvtRziS64F64(a float64) int64 {
	if a > -1<<63 && a < 1<<63 {
		return int64(a)
	}
	return int64(fp.F64ToInt(a, fp.RZ, 64, true))
}

// The following functions round to integral values: rint (rni), trunc (rzi), floor (rmi) and ceil (rpi).
//
//gemu:kernel cvt.rni{ftz}.f32.f32
func cvtRniF32(a float32) float32 { return fp.RoundIntegral32(a, fp.RN) }

//gemu:kernel cvt.rzi{ftz}.f32.f32
func cvtRziF32(a float32) float32 { return fp.RoundIntegral32(a, fp.RZ) }

//gemu:kernel cvt.rmi{ftz}.f32.f32
func cvtRmiF32(a float32) float32 { return fp.RoundIntegral32(a, fp.RM) }

//gemu:kernel cvt.rpi{ftz}.f32.f32
func cvtRpiF32(a float32) float32 { return fp.RoundIntegral32(a, fp.RP) }

//gemu:kernel cvt.rni.f64.f64
func cvtRniF64(a float64) float64 { return fp.RoundIntegral64(a, fp.RN) }

//gemu:kernel cvt.rzi.f64.f64
func cvtRziF64(a float64) float64 { return fp.RoundIntegral64(a, fp.RZ) }

//gemu:kernel cvt.rmi.f64.f64
func cvtRmiF64(a float64) float64 { return fp.RoundIntegral64(a, fp.RM) }

//gemu:kernel cvt.rpi.f64.f64
func cvtRpiF64(a float64) float64 { return fp.RoundIntegral64(a, fp.RP) }

//gemu:kernel cvt.rni.s32.f32
func cvtRniS32F32(a float32) int32 { return int32(fp.F32ToInt(a, fp.RN, 32, true)) }

//gemu:kernel cvt.rmi.s32.f32
func cvtRmiS32F32(a float32) int32 { return int32(fp.F32ToInt(a, fp.RM, 32, true)) }

//gemu:kernel cvt.rpi.s32.f32
func cvtRpiS32F32(a float32) int32 { return int32(fp.F32ToInt(a, fp.RP, 32, true)) }

//gemu:kernel cvt.f32.f16
func cvtF32F16(a uint16) float32 {
	if f16.isNaN(a) {
		return math.Float32frombits(fp.NaN32)
	}
	return fp.WidenF16(a)
}

//gemu:kernel cvt.f32.bf16
func cvtF32BF16(a uint16) float32 { return fp.BF16ToF32(a) }

//gemu:kernel cvt.rn.f16.f32
func cvtF16F32(a float32) uint16 { return fp.F32ToF16(a, fp.RN) }

// Conversions between halves: f32 has all numbers of both formats.
//
//gemu:kernel cvt.bf16.f16 slow
func cvtBF16F16(a uint16) uint16 { return fp.F32ToBF16(fp.WidenF16(a), fp.RN) }

//gemu:kernel cvt.f16.bf16 slow
func cvtF16BF16(a uint16) uint16 { return fp.F32ToF16(fp.BF16ToF32(a), fp.RN) }

//gemu:kernel cvt.f64.bf16 slow
func cvtF64BF16(a uint16) float64 { return fp.F32ToF64(fp.BF16ToF32(a)) }

//gemu:kernel cvt.sat.f32.f32
func cvtSatF32(a float32) float32 { return fp.Sat32(a) }

// widenS8B16, widenB32 and widenB64 extend a narrow result of cvt to its register, if the register is wider than the
// destination type (manual 9.4.1).
//
//gemu:kernel widen.s8.b16; rule = convert
func widenS8B16(a int8) uint16 { return uint16(a) }

//gemu:kernel widen.$S.b32; S = s8 s16; rule = convert
func widenB32[S constraints.Integer](a S) uint32 { return uint32(a) }

//gemu:kernel widen.$S.b64; S = s8 s16 s32 u8 u16 u32; rule = convert
func widenB64[S constraints.Integer](a S) uint64 { return uint64(a) }

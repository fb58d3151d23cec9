package interp

import "gemu/interp/internal/fp"

// Float16 is the value of an IEEE binary16.
func Float16(bits uint16) float64 { return fp.F16ToF64(bits) }

// Float16Bits rounds a value to the nearest binary16, ties to even.
func Float16Bits(f float64) uint16 { return fp.F64ToF16(f, fp.RN) }

// BFloat16 is the value of a bfloat16.
func BFloat16(bits uint16) float64 { return fp.BF16ToF64(bits) }

// BFloat16Bits rounds a value to the nearest bfloat16, ties to even.
func BFloat16Bits(f float64) uint16 { return fp.F64ToBF16(f, fp.RN) }

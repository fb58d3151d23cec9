// This file holds min and max.

package fp

import "math"

// Min32 returns the lesser of a and b as min.f32 does. -0 is less than +0. If one of them is a NaN, the result is the
// other; two NaNs give the canonical NaN.
func Min32(a, b float32) float32 {
	switch {
	case a < b || b != b:
		return Canon32(a)
	case b < a || a != a:
		return b
	}
	// a equals b: the bits are the same, or both are zeros. The result is -0 if one of them is.
	return math.Float32frombits(math.Float32bits(a) | math.Float32bits(b))
}

// Max32 returns the greater of a and b as max.f32 does, with the rules of [Min32].
func Max32(a, b float32) float32 {
	switch {
	case a > b || b != b:
		return Canon32(a)
	case b > a || a != a:
		return b
	}
	return math.Float32frombits(math.Float32bits(a) & math.Float32bits(b))
}

// Min64 is [Min32] for f64. Two NaNs give the second, made quiet.
func Min64(a, b float64) float64 {
	switch {
	case b < a || a != a:
		return Quiet64(b)
	case a < b || b != b:
		return a
	}
	return math.Float64frombits(math.Float64bits(a) | math.Float64bits(b))
}

// Max64 is [Max32] for f64, with the NaN of [Min64].
func Max64(a, b float64) float64 {
	switch {
	case b > a || a != a:
		return Quiet64(b)
	case a > b || b != b:
		return a
	}
	return math.Float64frombits(math.Float64bits(a) & math.Float64bits(b))
}

// MinNaN32 is min.NaN.f32: the canonical NaN if a or b is NaN, otherwise [Min32].
func MinNaN32(a, b float32) float32 {
	if a != a || b != b {
		return math.Float32frombits(NaN32)
	}
	return Min32(a, b)
}

// MaxNaN32 is max.NaN.f32: the canonical NaN if a or b is NaN, otherwise [Max32].
func MaxNaN32(a, b float32) float32 {
	if a != a || b != b {
		return math.Float32frombits(NaN32)
	}
	return Max32(a, b)
}

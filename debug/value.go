package debug

// This file has the values that conditions compute with.

import (
	"fmt"
	"math"
	"strconv"

	"gemu/interp"
	"gemu/ptx"
)

// value is a number or a truth value.
type value struct {
	class  class
	bits   uint64   // bits of an integer; 0 or 1 for a truth value
	signed bool     // the integer is int64(bits)
	f      float64  // value of a float
	typ    ptx.Type // type of the register or memory; NoType for a computed value
}

// class is the kind of a value.
type class uint8

const (
	integer class = iota
	float
	boolClass
)

// valueOf returns the value of type t with the given bits.
func valueOf(t ptx.Type, bits uint64) value {
	v := value{typ: t}
	switch {
	case t == ptx.Pred:
		v.class, v.bits = boolClass, bits&1
	case t == ptx.F64:
		v.class, v.f = float, math.Float64frombits(bits)
	case t == ptx.F32:
		v.class, v.f = float, float64(math.Float32frombits(uint32(bits)))
	case t == ptx.F16:
		v.class, v.f = float, interp.Float16(uint16(bits))
	case t == ptx.BF16:
		v.class, v.f = float, interp.BFloat16(uint16(bits))
	case t.IsSigned():
		shift := 64 - t.Bits()
		v.bits, v.signed = uint64(int64(bits<<shift)>>shift), true
	default:
		v.bits = bits
		if n := t.Bits(); n < 64 {
			v.bits &= 1<<n - 1
		}
	}
	return v
}

// String returns the value in the notation of its type.
func (v value) String() string {
	switch {
	case v.class == float && v.typ == ptx.F64, v.class == float && v.typ == ptx.NoType:
		return strconv.FormatFloat(v.f, 'g', -1, 64)
	case v.class == float && v.typ == ptx.F32:
		return strconv.FormatFloat(v.f, 'g', -1, 32)
	case v.class == float:
		return strconv.FormatFloat(v.f, 'g', 5, 64)
	case v.signed:
		return strconv.FormatInt(int64(v.bits), 10)
	case v.typ.Kind() == ptx.Bits && v.typ != ptx.NoType:
		return fmt.Sprintf("%#x", v.bits)
	}
	return strconv.FormatUint(v.bits, 10)
}

func (v value) isTrue() bool {
	if v.class == float {
		return v.f != 0
	}
	return v.bits != 0
}

func (v value) float() float64 {
	switch {
	case v.class == float:
		return v.f
	case v.signed:
		return float64(int64(v.bits))
	}
	return float64(v.bits)
}

func boolValue(b bool) value {
	if b {
		return value{class: boolClass, bits: 1}
	}
	return value{class: boolClass}
}

// compareTo returns -1, 0 or 1; ok is false if a value is NaN.
func (v value) compareTo(o value) (c int, ok bool) {
	if v.class == float || o.class == float {
		a, b := v.float(), o.float()
		switch {
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
		return 0, a == b
	}
	negative := func(v value) bool { return v.signed && int64(v.bits) < 0 }
	switch {
	case negative(v) != negative(o):
		if negative(v) {
			return -1, true
		}
		return 1, true
	case v.bits < o.bits:
		return -1, true
	case v.bits > o.bits:
		return 1, true
	}
	return 0, true
}

package affinetrack

// This file contains the domain of spacings: the distance of a register's values from lane to lane, as far as it is
// known before a launch. The field Spacing of a rule lists its transfers on this domain. The tests compare them with
// lane-by-lane execution.

// Spacing describes the values of a warp's lanes in groups of neighbours. In a group, the value of a lane is that of the
// preceding lane plus Stride, modulo 2^w, where w is the width of the register. In the zero value nothing is known.
type Spacing struct {
	Stride int64 // distance of neighbouring lanes, in two's complement; 0 if nothing is known
	Group  uint8 // lanes in a group: HalfRow or WholeRow; 0 if nothing is known

	// Wraps says that 32-bit numbers, which may have wrapped between two lanes of a group, were extended to 64 bits. The
	// difference of two lanes is then Stride times their distance plus a multiple of 2³². The multiple is 0 unless the
	// numbers wrap between the two lanes.
	Wraps bool

	Bound Bound // clamping of the values after the stride was formed; Unbound if there is none
}

// Groups of lanes.
const (
	HalfRow  = WholeRow / 2 // half of the warp or, in a warp of 64 lanes, half of a row of 32
	WholeRow = 32           // the whole warp or, in a warp of 64 lanes, a row of 32
)

// Bound records the clamping of numbers to bounds common to all lanes. The distance from one lane to the next is then at
// most Stride, and smaller only if the outermost lanes of a group are closer, too. For this to hold for 32-bit differences,
// the numbers must have a lower bound of zero or more.
type Bound uint8

// The kinds of bounds.
const (
	Unbound      Bound = iota // not clamped
	BoundAbove                // an upper bound, no lower bound; nothing is known of the distances
	BoundBetween              // an upper and a lower bound; the lower bound is not negative, and the same in all lanes
	Shifted                   // as BoundBetween, and then the same number was added in all lanes
)

// unwritten is the least element of the domain.
var unwritten = Spacing{Group: 2 * WholeRow}

// Unwritten returns the spacing of a register before its first write: it allows no values, and merges to the other
// spacing.
func Unwritten() Spacing { return unwritten }

// IsUnwritten reports whether s is the spacing of a register before its first write.
func (s Spacing) IsUnwritten() bool { return s == unwritten }

// Class returns the class of values with this spacing.
func (s Spacing) Class() Class {
	switch {
	case s.Group < WholeRow || s.Wraps || s.Bound != Unbound:
		return Generic
	case s.Stride == 0:
		return Uniform
	}
	return Affine
}

// IsUniform reports whether all lanes have the same value. An unwritten register is uniform.
func (s Spacing) IsUniform() bool { return s.Class() == Uniform }

// IsUniformInGroup reports whether the lanes of a group have the same value.
func (s Spacing) IsUniformInGroup() bool { return s.Group >= HalfRow && s == Spacing{Group: s.Group} }

// Merge returns the spacing of values that are s in all lanes or t in all lanes: the join of the domain.
func (s Spacing) Merge(t Spacing) Spacing {
	switch {
	case s == unwritten:
		return t
	case t == unwritten:
		return s
	case s.Stride != t.Stride || s.Bound != t.Bound:
		return Spacing{}
	}
	return Spacing{Stride: s.Stride, Group: min(s.Group, t.Group), Wraps: s.Wraps || t.Wraps, Bound: s.Bound}
}

// SpacingArgs is an instruction with the spacings of its operands. A missing operand has the spacing of a constant.
type SpacingArgs struct {
	Operation
	Spacings  [4]Spacing  // spacings of the operands, in the order of the instruction
	Constants [4]Constant // values of constant operands
}

// Constant is the value of a constant operand as the operation reads it: 32 bits are sign-extended if the operation is
// signed, otherwise zero-extended.
type Constant struct {
	Value int64 // 0 if the operand is no constant
	Known bool  // the operand is a constant
}

// constantSpacing is the spacing of a constant.
var constantSpacing = Spacing{Group: WholeRow}

// SpacingForm is the transfer of a rule on spacings, for operands and results of certain widths.
type SpacingForm struct {
	Widths Widths // operations to which the form applies

	// Transfer returns the spacing of the result before it is truncated to its slot. Some operand is not uniform in its
	// group, and none is unwritten.
	Transfer func(a *SpacingArgs) Spacing
}

// TransferSpacing returns the spacing of an instruction's result. If all operands are the same in the lanes of a group, the
// result is, too, under every rule.
func (t *Table) TransferSpacing(a *SpacingArgs) Spacing {
	uniform := constantSpacing // the spacing of the result if each operand is uniform
	for _, s := range a.Spacings {
		switch {
		case s == unwritten:
			return unwritten // until the operand is written
		case !s.IsUniformInGroup():
			uniform = Spacing{}
		default:
			uniform.Group = min(uniform.Group, s.Group)
		}
	}
	if uniform.IsUniformInGroup() {
		return uniform
	}
	for _, f := range t[a.Rule].Spacing {
		if f.Widths.Match(&a.Operation) {
			return f.Transfer(a).truncate(int(a.Slot))
		}
	}
	return Spacing{}
}

// truncate returns the spacing of numbers computed in a slot: in 32 bits multiples of 2³² vanish.
func (s Spacing) truncate(slot int) Spacing {
	if slot == 32 {
		s.Stride, s.Wraps = int64(int32(s.Stride)), false
	}
	return s
}

// operand returns the spacing of operand i for arithmetic. For numbers without a lower bound it is the zero value.
func (a *SpacingArgs) operand(i int) Spacing {
	if s := a.Spacings[i]; s.Bound != BoundAbove {
		return s
	}
	return Spacing{}
}

// The functions xSpacing are SpacingForm.Transfer for the rules of the same names.

func moveSpacing(a *SpacingArgs) Spacing { return a.operand(0) }

// narrowSpacing truncates to 32 bits. Bound numbers of 64 bits may have been multiplied, and then nothing is known of their
// differences modulo 2³².
func narrowSpacing(a *SpacingArgs) Spacing {
	if s := a.operand(0); s.Bound == Unbound {
		return s
	}
	return Spacing{}
}

func widenSpacing(a *SpacingArgs) Spacing { return a.operand(0).widen() }

func addSpacing(a *SpacingArgs) Spacing { return a.operand(0).add(a.operand(1)) }

func subSpacing(a *SpacingArgs) Spacing { return a.operand(0).add(a.operand(1).scale(-1)) }

// −v, and ¬v = −v − 1.
func negSpacing(a *SpacingArgs) Spacing { return a.operand(0).scale(-1) }

func mulSpacing(a *SpacingArgs) Spacing { return a.product(a.operand(0), a.operand(1)) }

func mulWideSpacing(a *SpacingArgs) Spacing {
	return a.product(a.operand(0).widen(), a.operand(1).widen())
}

func madSpacing(a *SpacingArgs) Spacing { return mulSpacing(a).add(a.operand(2)) }

func madWideSpacing(a *SpacingArgs) Spacing { return mulWideSpacing(a).add(a.operand(2)) }

// A shift by a constant amount below the width.
func shlSpacing(a *SpacingArgs) Spacing {
	if k := a.Constants[1]; k.Known && 0 <= k.Value && k.Value < int64(a.Slot) {
		return a.multiple(a.operand(0), 1<<k.Value)
	}
	return Spacing{}
}

// If all lanes select the same operand.
func selectSpacing(a *SpacingArgs) Spacing {
	if a.Spacings[2].IsUniform() {
		return a.Spacings[0].Merge(a.Spacings[1])
	}
	return Spacing{}
}

func minSpacing(a *SpacingArgs) Spacing { return a.clamp(false) }

func maxSpacing(a *SpacingArgs) Spacing { return a.clamp(true) }

// product returns the spacing of the product of the first two operands, which have the spacings x and y.
func (a *SpacingArgs) product(x, y Spacing) Spacing {
	switch {
	case x.IsUniformInGroup() && y.IsUniformInGroup():
		return Spacing{Group: min(x.Group, y.Group)}
	case a.Constants[1].Known:
		return a.multiple(x, a.Constants[1].Value)
	case a.Constants[0].Known:
		return a.multiple(y, a.Constants[0].Value)
	}
	return Spacing{}
}

// multiple returns the spacing of n times the numbers with spacing s. Nothing is known of multiples of bound numbers modulo
// 2³².
func (a *SpacingArgs) multiple(s Spacing, n int64) Spacing {
	if a.Slot == 32 && s.Bound != Unbound {
		return Spacing{}
	}
	return s.scale(n)
}

// clamp returns the spacing of the minimum of the first two operands, or of the maximum if below is set, as signed
// 32-bit numbers.
func (a *SpacingArgs) clamp(below bool) Spacing {
	if !a.Signed || a.Width != 32 {
		return Spacing{}
	}
	s, bound := 0, 1 // indices of the operands
	if a.Spacings[0].IsUniformInGroup() {
		s, bound = 1, 0
	}
	n := a.Constants[bound]
	return a.Spacings[s].clamp(a.Spacings[bound], below && n.Known && n.Value >= 0)
}

// add returns the spacing of a sum. Nothing is known if both numbers may have wrapped in different lanes, or are bound
// in different lanes.
func (s Spacing) add(t Spacing) Spacing {
	sum := Spacing{Stride: s.Stride + t.Stride, Group: min(s.Group, t.Group), Wraps: s.Wraps || t.Wraps}
	if s.Bound != Unbound || t.Bound != Unbound {
		sum.Bound = Shifted
		if !s.IsUniformInGroup() && !t.IsUniformInGroup() {
			return Spacing{}
		}
	}
	if sum.Group < HalfRow || s.Wraps && t.Wraps {
		return Spacing{}
	}
	return sum
}

// maxBound limits the stride of bound numbers, to keep 32-bit differences from being a multiple of 2^w.
const maxBound = 1 << 31

// scale returns the spacing of n times the numbers.
func (s Spacing) scale(n int64) Spacing {
	by := s.Stride * n
	if s.Group < HalfRow || s.Bound != Unbound && (n < 1 || n > maxBound || by > maxBound) {
		return Spacing{}
	}
	s.Stride = by
	return s
}

// widen returns the spacing of 32-bit numbers extended to 64 bits. Within a group they may wrap at most once.
func (s Spacing) widen() Spacing {
	if !s.wrapsOnce() {
		return Spacing{}
	}
	s.Wraps = s.Stride != 0
	return s
}

// wrapsOnce reports whether 32-bit numbers wrap at most once from the first lane of a group to the last.
func (s Spacing) wrapsOnce() bool {
	const limit = 1 << 31 / WholeRow
	return s.Group >= HalfRow && -limit <= s.Stride && s.Stride <= limit
}

// clamp returns the spacing of the minimum or maximum of each number and a number of b, as signed numbers. notNegative
// means that it is the maximum with a constant of at least 0.
func (s Spacing) clamp(b Spacing, notNegative bool) Spacing {
	switch {
	case !b.IsUniformInGroup() || !s.wrapsOnce() || s.Stride <= 0 || s.Bound == Shifted:
		return Spacing{}
	case s.Bound == BoundBetween:
	case notNegative:
		s.Bound = BoundBetween
	default:
		s.Bound = BoundAbove
	}
	s.Group = min(s.Group, b.Group)
	return s
}

// ThreadSpacing returns the spacing of each dimension of the thread index (manual 10.1), in the least regular warp of a
// block of this extent. width is the number of lanes of a warp.
func ThreadSpacing(extent [3]int, width int) (worst [3]Spacing) {
	threads := extent[0] * extent[1] * extent[2]
	weight := 1 // weight of the digit: see ThreadIndex
	for d := range worst {
		n := extent[d]
		for _, group := range []int{WholeRow, HalfRow} {
			lanes := min(width, group)
			s := &worst[d]
			switch {
			case s.Group != 0:
			case n == 1 || weight%lanes == 0: // the digit changes only between groups
				*s = Spacing{Group: uint8(group)}
			case weight == 1 && (n%lanes == 0 || n == threads): // the digit carries only between groups
				*s = Spacing{Stride: 1, Group: uint8(group)}
			}
		}
		weight *= n
	}
	return worst
}

package affinetrack

import "gemu/ptx"

// Transfer is a rule on classes: the class that the result of an instruction can
// have at best, given those of its operands. A predicate is Uniform if every lane has
// the same, Affine if that may be, Generic if it is not known to be ever so. It is what
// a static analysis executes. Where it says Uniform, executions on such operands always
// have a uniform result; where it says Affine, the rule's condition decides.
func Transfer(rule ptx.Affine, operands []Class) Class {
	affine := uint8(0)
	for i, c := range operands {
		switch {
		case c == Generic:
			return Generic
		case c > Uniform:
			affine |= 1 << i
		}
	}
	switch {
	case rule == ptx.AffineNone:
		return Generic
	case affine == 0:
		return Uniform
	case Rules[rule].AffineOperands.Allows(affine):
		return Affine
	}
	return Generic
}

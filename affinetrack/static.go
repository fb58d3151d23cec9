package affinetrack

import "gemu/ptx"

// Transfer is a rule on classes, for static analysis: it returns the best class that the result of an instruction can
// have, given the classes of its operands. A predicate is Uniform if it is the same in every lane, Affine if that is
// possible, and Generic if it is not known to be possible. If Transfer returns Uniform, every execution on such
// operands has a uniform result. If it returns Affine, the rule's condition decides during execution.
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

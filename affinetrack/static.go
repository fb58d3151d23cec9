package affinetrack

import "gemu/ptx"

// Transfer is a rule on classes: the class that the result of an instruction can
// have at best, given those of its operands, and, of a selection, of its
// predicate (Uniform if every lane has the same, Affine if that may be, Generic
// if it is not known to be ever so). It is what a static analysis executes. Where
// it says Uniform, executions on such operands always have a uniform result;
// where it says Affine, the rule's condition decides.
func Transfer(rule ptx.Affine, operands []Class, pred Class) Class {
	worst, varying := Uniform, 0
	for _, c := range operands {
		worst = max(worst, c)
		if c > Uniform {
			varying++
		}
	}
	switch {
	case rule == ptx.AffineNone || worst == Generic || pred == Generic:
		return Generic
	case worst == Uniform && pred <= Uniform:
		return Uniform
	}
	rest := func(from int) bool { return len(operands) > from && operands[from] > Uniform }
	ok := false
	switch rule {
	case ptx.AffineMove, ptx.AffineNeg, ptx.AffineNot, ptx.AffineAbs, ptx.AffineConvert, ptx.AffineAdd, ptx.AffineSub, ptx.AffineMin, ptx.AffineMax, ptx.AffineSelect, ptx.AffineCompare:
		ok = true
	case ptx.AffineMul, ptx.AffineMad:
		ok = !rest(0) || !rest(1)
	case ptx.AffineShl, ptx.AffineShr, ptx.AffineDiv, ptx.AffineRem:
		ok = !rest(1)
	case ptx.AffineBfe:
		ok = !rest(1) && !rest(2)
	case ptx.AffineAnd, ptx.AffineOr, ptx.AffineXor:
		ok = varying == 1
	}
	if !ok {
		return Generic
	}
	return Affine
}

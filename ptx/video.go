package ptx

// This file contains the rules for video instructions (manual 9.7.18).

import (
	"slices"
	"strings"
)

// VideoLanes returns the number of results computed at once by a video instruction.
func (v *Variant) VideoLanes() int {
	switch v.Form.Family {
	case FamilyVideo2:
		return 2
	case FamilyVideo4:
		return 4
	}
	return 1
}

func init() {
	for _, r := range videoRows {
		rules[r.name] = ruleVideo
	}
}

// selectors lists the selectors of scalar instructions.
var selectors = []string{"b0", "b1", "b2", "b3", "h0", "h1"}

// ruleVideo checks selectors and negations. The number of lanes determines the allowed selectors; a constant has none.
// In vmad, the product or operand c may be negated, but not both.
func ruleVideo(f *Func, instr *Instr) string {
	lanes := instr.VideoLanes()
	for i := range instr.Ops {
		s := instr.Ops[i].Sel()
		if s == "" {
			continue
		}
		valid := false
		digits := s[1:]
		switch {
		case lanes == 1:
			valid = slices.Contains(selectors, s)
		case s[0] != " hhbb"[lanes]:
		case instr.Form.Operands[i].Writes(): // the numbers of the lanes to write, the highest first
			valid = digits[0] < byte('0'+lanes)
			for j := range digits[1:] {
				valid = valid && digits[j+1] < digits[j]
			}
		default: // for each lane, the number of an element: operand a has the first elements, b the following ones
			valid = len(digits) == lanes && strings.Trim(digits, "01234567"[:2*lanes]) == ""
		}
		if !valid {
			return "operand " + instr.Form.Operands[i].Name + ": selector ." + s + " is not allowed"
		}
	}
	negated := func(name string) bool { return instr.Arg(name).Neg }
	switch {
	case instr.Ops[0].Sel() != "" && instr.Arg("c").Kind == NoOperand:
		return "a destination with a selector requires operand c, with which the result is merged"
	case instr.Has("po") && (negated("a") || negated("b") || negated("c")):
		return ".po excludes negated operands"
	case instr.Form.Family == FamilyVmad && negated("a") != negated("b") && negated("c"):
		return "either the product or operand c may be negated"
	}
	return ""
}

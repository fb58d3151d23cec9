package code

import (
	"reflect"
	"testing"

	"gemu/ptx"
)

// TestInstructionIsSmall checks that an instruction is small, of a fixed size, and without pointers.
func TestInstructionIsSmall(t *testing.T) {
	in := reflect.TypeFor[Instr]()
	if in.Size() > 56 {
		t.Errorf("%d bytes, want at most 56", in.Size())
	}
	var visit func(path string, u reflect.Type)
	visit = func(path string, u reflect.Type) {
		switch k := u.Kind(); {
		case k == reflect.Struct:
			for i := range u.NumField() {
				visit(path+"."+u.Field(i).Name, u.Field(i).Type)
			}
		case k != reflect.Bool && (k < reflect.Int || k > reflect.Uint64):
			t.Errorf("%s is a %s", path, u)
		}
	}
	visit("Instr", in)
}

// TestSignaturesAndNames checks that every operation has a signature and a unique name.
func TestSignaturesAndNames(t *testing.T) {
	for op := Invalid; op < Count; op++ {
		s := op.Signature()
		switch {
		case s.Name == "":
			t.Errorf("operation %d has no signature", op)
		case OpNamed(s.Name) != op:
			t.Errorf("%s is operation %d, and %d too", s.Name, op, OpNamed(s.Name))
		case s.Kind == Arithmetic && s.Rule == ptx.AffineNone:
			t.Errorf("%s has no affine rule", s.Name)
		}
	}
}

// TestRulesOfWholeInstructions checks that an operation that is a whole PTX instruction has the affine rule of the
// instruction table.
func TestRulesOfWholeInstructions(t *testing.T) {
	n := 0
	for _, family := range ptx.Ops() {
		for _, f := range family.Forms() {
			for _, v := range f.Variants() {
				s := OpOf(v).Signature()
				if s.Kind != Arithmetic {
					continue
				}
				n++
				if s.Rule != v.Form.Affine {
					t.Errorf("%s has rule %s, %s %s", v.Text, v.Form.Affine, s.Name, s.Rule)
				}
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d instructions are one operation", n)
	}
}

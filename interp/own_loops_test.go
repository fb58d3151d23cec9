package interp

import (
	"slices"
	"strings"
	"testing"

	"gemu/interp/internal/alu/directive"
	"gemu/interp/internal/code"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/ptx"
)

// TestOwnLoops: an instruction uses each loop that machine code has for some values of Instr.Imm.
func TestOwnLoops(t *testing.T) {
	t.Parallel()
	kernels := slices.DeleteFunc(directive.Read("internal/alu"), func(k directive.Kernel) bool { return len(k.OwnImms) == 0 })
	if len(kernels) == 0 {
		t.Fatal("no kernel has a loop of its own for a value of Imm")
	}
	used := map[code.Op][]uint64{} // values of Imm
	for _, op := range ptx.Ops() {
		if !slices.ContainsFunc(kernels, func(k directive.Kernel) bool { return strings.HasPrefix(k.Ops[0].Key, op.Name+".") }) && op.Name != "cvt" {
			continue
		}
		for _, form := range op.Forms() {
			for _, v := range form.Variants() {
				if _, runs := SupportsVariant(v); !runs {
					continue
				}
				k := lowerExample(t, v)
				for _, instr := range k.Instrs {
					used[instr.Op] = append(used[instr.Op], instr.Imm)
				}
			}
		}
	}
	for _, k := range kernels {
		for _, o := range k.Ops {
			for _, own := range k.OwnImms {
				if !slices.ContainsFunc(used[code.OpNamed(o.Key)], func(imm uint64) bool { return imm&own.Mask == own.Value }) {
					t.Errorf("%s: no instruction has Imm %#x", o.Key, own)
				}
			}
		}
	}
}

// lowerExample lowers the kernel that executes the example of a variant.
func lowerExample(t *testing.T, v *ptx.Variant) *machine.Kernel {
	t.Helper()
	m, err := NewDevice(Config{}).Load("example.ptx", []byte(v.Example()))
	if err != nil {
		t.Fatal(err)
	}
	launch := machine.Launch{Block: ptx.Dim(1), WarpSize: 32, Mode: machine.Vector, Reconverge: Reconvergers()[0].policy}
	k, err := m.lower(m.Kernels()[0], grid.Lowering(&launch))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

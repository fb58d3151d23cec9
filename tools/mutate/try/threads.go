package main

// This file makes inputs of special registers, in blocks of all shapes: the thread index is
// uniform or affine in some of their warps.

import (
	"fmt"
	"strings"

	"gemu/internal/trial"
	"gemu/ptx"
)

const threads = "threads"

// threadInputs returns the inputs of special registers.
func threadInputs() ([]trial.Input, error) {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n")
	parts := []string{"", "\tand.b32 %w, %t, 5;\n\tsetp.eq.u32 %p, %w, 4;\n\t@%p bra END;\n", "\tsetp.lt.u32 %p, %t, 3;\n\t@%p bra END;\n", "\tsetp.gt.u32 %p, %t, 20;\n\t@%p bra END;\n"}
	for i := range 2 * len(parts) {
		part := parts[i%len(parts)]
		fmt.Fprintf(&b, ".entry k%d()\n{\n\t.local .align 16 .b32 mine[4];\n\t.reg .b16 %%h<30>;\n\t.reg .b32 %%t, %%w, %%x<31>, %%y<31>, %%z<30>;\n\t.reg .b64 %%l<32>;\n\t.reg .pred %%p;\n\tst.local.u32 [mine], 1;\n\tmov.u32 %%t, %%laneid;\n%s", i, part)
		for k, r := range []string{"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%envreg1", "%dynamic_smem_size"} {
			if i >= len(parts) && strings.HasPrefix(r, "%lanemask") {
				continue // only warps of 32 lanes have lane masks
			}
			size := "u32"
			d := "%x" // a register for each: a register with some generic value is generic
			if r == "%gridid" {
				size, d = "u64", "%l"
			}
			fmt.Fprintf(&b, "\tmov.%[1]s %[2]s%[4]d, %[3]s;\n\tadd.u32 %%y%[4]d, %%x%[4]d, %%t;\n", size, d, r, k)
			if strings.Contains(r, "id.") {
				fmt.Fprintf(&b, "\tmov.u16 %%h%[2]d, %[1]s;\n\tcvt.u32.u16 %%z%[2]d, %%h%[2]d;\n", r, k)
			}
		}
		b.WriteString("\tmov.u64 %l30, mine;\n\tmov.u32 %x30, mine;\n\tadd.u32 %y30, %x30, %t;\n\tadd.u64 %l31, %l30, 4;\nEND:\n\tret;\n}\n")
	}
	mod, err := load(threads, b.String())
	if err != nil {
		return nil, err
	}
	var list []trial.Input
	for i, block := range []ptx.Dim3{
		ptx.Dim(32), ptx.Dim(64), ptx.Dim(33), ptx.Dim(96), ptx.Dim(1, 32), ptx.Dim(1, 1, 32), ptx.Dim(32, 2), ptx.Dim(64, 2),
		ptx.Dim(16, 4), ptx.Dim(8, 1, 8), ptx.Dim(1, 8, 8), ptx.Dim(4, 8, 2), ptx.Dim(5, 7, 2), ptx.Dim(2, 1, 40), ptx.Dim(40, 3), ptx.Dim(31, 2), ptx.Dim(33, 2),
		ptx.Dim(32, 1, 3), ptx.Dim(128), ptx.Dim(48, 2), ptx.Dim(2, 16, 2), ptx.Dim(7), ptx.Dim(1), ptx.Dim(16),
	} {
		for k := range 2 * len(parts) {
			for n, width := range []int{32, 16, 64, 8} {
				if k >= len(parts) != (width != 32) {
					continue
				}
				l := warp(k, (i+k+n)%2 == 0)
				l.Grid, l.Block, l.Shared, l.WarpSize = ptx.Dim(2, 1, 2), block, 70000, width
				name := fmt.Sprintf("threads %d of %v in warps of %d", k, block, width)
				list = append(list, input(name, mod, l))
				if k%len(parts) == 0 {
					// With statistics the engine also computes the class of the thread index itself.
					aimed := underKim(name, mod, l)
					aimed.Kind = trial.Targeted
					list = append(list, aimed)
				}
			}
		}
	}
	return list, nil
}

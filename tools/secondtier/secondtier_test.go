package main

import (
	"os/exec"
	"strings"
	"testing"

	"gemu/kernels"
	"gemu/ptx"
)

// blockSource is a block with an instruction that is not translated between translated ones.
const blockSource = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 p)
{
	.reg .b32 %a, %b, %c;
	.reg .b64 %p;
	ld.param.u64 %p, [p];
	add.s32 %a, %b, 1;
	mul.lo.s32 %c, %a, %a;
	st.global.u32 [%p], %a;
	xor.b32 %c, %c, %a;
	st.global.u32 [%p+4], %c;
	ret;
}
`

// TestUntranslatedInstructionsReadRows: before a store its register is written to its row, in both forms with registers; a
// value that is not read outside of registers is never written; and with groups of lanes the store ends the loop.
func TestUntranslatedInstructionsReadRows(t *testing.T) {
	m, err := ptx.ParseString("k.ptx", blockSource)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []*block
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Func); ok {
			blocks = findBlocks(f)
		}
	}
	if len(blocks) != 1 || blocks[0].translated != 3 {
		t.Fatalf("%d blocks, want one with 3 translated instructions", len(blocks))
	}
	for form, want := range map[int]string{
		registers: "for BARRIER v1= SET SET ROW0 BARRIER SET ROW2 BARRIER BARRIER",
		groups:    "for v1= SET SET ROW0 ROW2 for v2= v0= SET ROW2 for",
	} {
		var got []string
		text := source(blocks, form, 8)
		_, text, _ = strings.Cut(text, "rows) {")
		for line := range strings.Lines(text) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "for"):
				got = append(got, "for")
			case strings.HasPrefix(line, "BARRIER"):
				got = append(got, "BARRIER")
			case strings.HasPrefix(line, "SET"):
				got = append(got, "SET")
			case strings.HasPrefix(line, "ROW"):
				got = append(got, "ROW"+strings.Trim(strings.Split(line, ",")[1][:3], " )="))
			case strings.Contains(line, "= ROW"):
				got = append(got, line[:3]+"=")
			}
		}
		if s := strings.ReplaceAll(strings.Join(got, " "), " =", "="); s != want {
			t.Errorf("form %d is %q, want %q", form, s, want)
		}
	}
}

// TestMeasuredFormsAgree measures a workload: its program fails if the forms have different results.
func TestMeasuredFormsAgree(t *testing.T) {
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip(err)
	}
	r, err := measure(t.Context(), kernels.Lookup("mandelbrot"), "x86-64-v3")
	if err != nil {
		t.Fatal(err)
	}
	if r.translated == 0 || r.translated > r.all || r.forms[rows] <= 0 || r.forms[registers] <= 0 || r.forms[groups] <= 0 {
		t.Errorf("%+v", r)
	}
}

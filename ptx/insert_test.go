package ptx_test

import (
	"testing"

	"gemu/ptx"
)

// TestInsertText: texts before instructions, with guards and comments, on lines of their own or not.
func TestInsertText(t *testing.T) {
	const text = ".version 6.0\n.target sm_30\n.address_size 64\n.entry k() {\n\t.reg .pred %p; .reg .b32 %r; mov.b32 %r, 0;\n\t@%p\n\tmov.b32 %r, 1;\n" +
		"\t@ ! %p /* @%p */ // then @%p\n mov.b32 %r, 2; @%p mov.b32 %r, 3; /* @%p */ mov.b32 %r, 4;\n\tret;\n}\n"
	const want = ".version 6.0\n.target sm_30\n.address_size 64\n.entry k() {\n\t.reg .pred %p; .reg .b32 %r; A0; B0; mov.b32 %r, 0;\n\tA1;\n\tB1;\n\t@%p\n\tmov.b32 %r, 1;\n" +
		"\tA2;\n\tB2;\n\t@ ! %p /* @%p */ // then @%p\n mov.b32 %r, 2; A3; B3; @%p mov.b32 %r, 3; /* @%p */ A4; B4; mov.b32 %r, 4;\n\tA5;\n\tB5;\n\tret;\n}\n"
	m, err := ptx.ParseString("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	var list []ptx.Insertion
	for _, name := range []string{"A", "B"} {
		n := '0'
		m.Kernels()[0].EachInstr(func(instr *ptx.Instr) {
			list = append(list, ptx.Insertion{Before: instr, Text: name + string(n) + ";"})
			n++
		})
	}
	got, err := ptx.InsertText(text, list)
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if _, err := ptx.InsertText(".entry", []ptx.Insertion{{Before: &ptx.Instr{Variant: list[1].Before.Variant, Pos: ptx.Pos{Line: 1, Col: 3}, Guard: list[1].Before.Guard}}}); err == nil {
		t.Error("a text without the guard of an instruction is no error")
	}
}

package ptx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestUnwrittenReads checks that a read is found exactly if some path to it does not write the value.
func TestUnwrittenReads(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       string // line: value, of the body's lines from 1
	}{
		{"written", "mov.u32 %a, 1;\nst.global.u32 [%o], %a;", ""},
		{"never", "st.global.u32 [%o], %a;", "1: register %a"},
		{"a predicate of selp", "selp.u32 %a, 1, 0, %p;\nst.global.u32 [%o], %a;", "1: register %p"},
		{"a guard", "@%p mov.u32 %a, 1;", "1: register %p"},
		{"under a guard", "setp.eq.u32 %p, 1, 1;\n@%p mov.u32 %a, 1;\nst.global.u32 [%o], %a;", "3: register %a"},
		{"its own operand", "add.u32 %a, %a, 1;", "1: register %a"},
		{"written on one path", "setp.eq.u32 %p, 1, 1;\n@%p bra L;\nmov.u32 %a, 1;\nL: mov.u32 %b, %a;", "4: register %a"},
		{"written on both paths", "setp.eq.u32 %p, 1, 1;\n@%p bra L;\nmov.u32 %a, 1;\nbra M;\nL: mov.u32 %a, 2;\nM: mov.u32 %b, %a;", ""},
		{"a loop in whose first iteration it is unwritten", "setp.eq.u32 %p, 1, 1;\nL: @!%p bra M;\nmov.u32 %b, %a;\nM: mov.u32 %a, 2;\n@%p bra L;", "3: register %a"},
		{"written in a loop's first iteration", "setp.eq.u32 %p, 1, 1;\nL: mov.u32 %a, 2;\nmov.u32 %b, %a;\n@%p bra L;\nmov.u32 %c, %a;", ""},
		{"part of a vector", "mov.u32 %a, 1;\nst.global.v2.u32 [%o], {%a, %b};", "2: register %b"},
		{"a vector's elements", "ld.global.v2.u32 {%a, %b}, [%o];\nadd.u32 %c, %a, %b;", ""},
		{"an address", "st.global.u32 [%q], 1;", "1: register %q"},
		{"code that is not reached", "bra M;\nL: mov.u32 %b, %a;\nM: mov.u32 %c, 1;", ""},
		{"the carry flag", "addc.u32 %a, 1, 1;", "1: the carry flag"},
		{"a carry flag that is set", "add.cc.u32 %a, 1, 1;\naddc.cc.u32 %a, 1, 1;\naddc.u32 %a, 1, 1;", ""},
		{"a carry flag set on one path", "setp.eq.u32 %p, 1, 1;\n@%p add.cc.u32 %a, 1, 1;\naddc.u32 %a, 1, 1;", "3: the carry flag"},
		{"a carry flag after a call", "add.cc.u32 %a, 1, 1;\ncall g;\naddc.u32 %a, 1, 1;", "3: the carry flag"},
		{"an argument", "{ .param .b32 x; .param .b32 z;\ncall (z), f, (x);\nld.param.b32 %a, [z]; }",
			"2: byte 0 of parameter x, 2: byte 1 of parameter x, 2: byte 2 of parameter x, 2: byte 3 of parameter x"},
		{"half of an argument", "{ .param .b32 x; .param .b32 z; st.param.b16 [x+2], 1;\ncall (z), f, (x);\nld.param.b32 %a, [z]; }",
			"2: byte 0 of parameter x, 2: byte 1 of parameter x"},
		{"a result before the call", "{ .param .b32 x; .param .b32 z; st.param.b32 [x], 1;\nld.param.b8 %a, [z];\ncall (z), f, (x); }", "2: byte 0 of parameter z"},
		{"an argument and a result", "{ .param .b32 x; .param .b32 z; st.param.b32 [x], 1;\ncall (z), f, (x);\nld.param.b32 %a, [z]; }", ""},
	} {
		src := ".version 7.0\n.target sm_80\n.address_size 64\n.func g() { ret; }\n" +
			".func (.param .b32 z) f(.param .b32 x)\n{ .reg .b32 %a; ld.param.b32 %a, [x]; st.param.b32 [z], %a; ret; }\n" +
			".entry k(.param .u64 out)\n{ .reg .b32 %a, %b, %c; .reg .b64 %o, %q; .reg .pred %p; ld.param.u64 %o, [out];\n" + c.body + "\nret; }\n"
		m, err := ParseString("k.ptx", src)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		const before = 8 // lines before the body
		var got []string
		for _, u := range m.Lookup("k").(*Func).UnwrittenReads() {
			got = append(got, fmt.Sprintf("%d: %s", u.Instr.Pos.Line-before, u.Value))
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// TestUnwrittenFunctionResults checks that a result which may be unwritten when the function returns is found.
func TestUnwrittenFunctionResults(t *testing.T) {
	for _, c := range []struct{ function, want string }{
		{"(.param .b32 z) f(.param .b16 x) { ret; }", "4:42: ret: byte 0 of parameter z"},
		{"(.param .b32 z) f() { .reg .b32 %a; }", "where the function ends: byte 0 of parameter z"},
		{"(.reg .b32 %z) f(.reg .b32 %x) { .reg .pred %p; setp.eq.u32 %p, %x, 0; @%p ret; mov.b32 %z, %x; ret; }", "register %z"},
		{"(.reg .b32 %z) f(.reg .b32 %x) { .reg .pred %p; setp.eq.u32 %p, %x, 0; @%p exit; mov.b32 %z, %x; ret; }", ""},
		{"(.param .b32 z) f(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; st.param.b32 [z], %a; ret; }", ""},
	} {
		m, err := ParseString("k.ptx", ".version 7.0\n.target sm_80\n.address_size 64\n.func "+c.function+"\n")
		if err != nil {
			t.Errorf("%s: %v", c.function, err)
			continue
		}
		list := m.Lookup("f").(*Func).UnwrittenReads()
		if c.want == "" && len(list) > 0 || c.want != "" && (len(list) == 0 || !strings.Contains(list[0].String(), c.want)) {
			t.Errorf("%s: %v, want %q", c.function, list, c.want)
		}
	}
}

package ptx

import (
	"reflect"
	"strings"
	"testing"
)

// TestAttributes: .attribute has a list of .managed and .unified(NUMBER, NUMBER) (manual 5.4.8).
func TestAttributes(t *testing.T) {
	for text, want := range map[string]bool{
		".managed": true, ".unified ( 19 , 95 )": true, ".managed , .unified ( 1 , 2 )": true, ".unified ( 1 , 2 ) , .managed": true,
		"": false, ".managed .managed": false, ".managed ,": false, ", .managed": false, ".file": false,
		".unified": false, ".unified ( 1 )": false, ".unified ( a , 2 )": false, ".unified ( 1 , 2": false, ".unified ( 1 , 2 ) )": false,
	} {
		if got := areAttributes(strings.Fields(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestPragmaPlaces: each .pragma has the place of its directive: at module level, in the head of a function, and in its body, after others
// with the same text.
func TestPragmaPlaces(t *testing.T) {
	m, err := Parse("p.ptx", []byte(".version 8.0\n.target sm_80\n\n .pragma \"a\";\n.visible .entry k() .pragma \"a\";\n{\n\t// .pragma \"a\";\n\t.pragma \"a\", \"b\";\n\tret;\n\t.pragma \"a\";\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	k := m.Kernels()[0]
	got := []Pragma{m.Decls[0].(Pragma)}
	for _, d := range k.Directives {
		got = append(got, Pragma{d.Pos, d.Args})
	}
	got = append(got, k.Pragmas...)
	want := []Pragma{{Pos{4, 2}, []string{"a"}}, {Pos{5, 21}, []string{`"a"`}}, {Pos{8, 2}, []string{"a", "b"}}, {Pos{10, 2}, []string{"a"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

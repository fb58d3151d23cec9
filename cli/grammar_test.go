package cli

import (
	"reflect"
	"slices"
	"testing"
)

// TestFlagsAtAnyPlace: the command at the beginning of the arguments has its flags; if there is none, all commands have
// their flags.
func TestFlagsAtAnyPlace(t *testing.T) {
	all := reflect.TypeFor[cli]()
	for _, args := range [][]string{nil, {"--help"}, {"--help", "run"}, {"ru"}, {"gemu", "run"}} {
		if _, ok := grammar(args).(*cli); !ok {
			t.Errorf("%q: commands lack flags", args)
		}
	}
	for name, field := range map[string]string{"run": "Run", "isa": "ISA", "completion": "Completion"} {
		got := reflect.TypeOf(grammar([]string{name, "--help"})).Elem()
		var full []string
		for i := range got.NumField() {
			f, whole := got.Field(i), all.Field(i)
			if f.Name != whole.Name || f.Tag != whole.Tag {
				t.Errorf("%s: field %s is %s", name, whole.Name, f.Name)
			}
			if f.Type == whole.Type {
				full = append(full, f.Name)
			}
		}
		full = slices.DeleteFunc(full, func(name string) bool { return name == "Ptxas" }) // has no flags to read
		if want := []string{field, "Plain", "Version", "Man"}; !slices.Equal(full, want) {
			t.Errorf("%s: %v are whole, want %v", name, full, want)
		}
	}
	t.Setenv("COMP_LINE", "gemu run --si")
	if _, ok := grammar([]string{"run"}).(*cli); !ok {
		t.Error("completion does not see all flags")
	}
}

package finding

import (
	"strings"
	"testing"

	"gemu/probe"
)

// TestNamesInFindings checks that names are demangled, and that the PTX of a source compiled for the run is not
// mentioned.
func TestNamesInFindings(t *testing.T) {
	f := Finding{
		Tool: "race", Message: "…", Place: Place{
			Role: "write", Kernel: "_Z4histPKiPi", Function: "_ZN4tile3addILi4EEEvi", File: "a/hist.cu.ptx", Line: 71, Column: 2, Instr: "st.shared.u32 [%r], %r;", Source: "./a/hist.cu:4:26",
		},
		Memory: &Memory{Space: "shared", Name: "_ZZ4histPKiPiE4tile", Offset: 4, Bytes: 4},
	}
	print := func() string {
		var b strings.Builder
		if err := Print(&b, []Finding{f}, nil, 0); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	has := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	got := print()
	has(got, "write at a/hist.cu:4:26 in hist(int const*, int*), in function void tile::add<4>(int)\n")
	has(got, "byte 4 of hist(int const*, int*)::tile\n")
	if strings.Contains(got, ".ptx") {
		t.Errorf("nobody has the PTX of\n%s", got)
	}
	for source, want := range map[string]string{
		"/usr/include/add.h:7:1": "write at /usr/include/add.h:7:1 in",
		"odd":                    "write at odd in",
		"":                       "write at a/hist.cu.ptx:71:2 in",
	} {
		f.Place.Source = source
		has(print(), want)
	}
	f.Place.File, f.Place.Source, f.Place.Kernel, f.Place.Function = "hist.ptx", "hist.cu:4:26", "_Zebra", ""
	got = print()
	has(got, "write at hist.ptx:71:2 in _Zebra\n")
	has(got, "from hist.cu:4:26\n")
}

// TestFindingsMergedByOtherPlace checks that findings merged by their other place become one, with the first place and
// the number of places.
func TestFindingsMergedByOtherPlace(t *testing.T) {
	var l Log
	at := func(line int) Place { return Place{Role: "executed", File: "k.ptx", Line: line} }
	exit := at(3)
	for _, line := range []int{5, 7, 5} {
		l.Add(&probe.Event{}, Finding{Tool: "sync", Kind: "k", Place: at(line), OtherPlace: &exit, MergeByOther: true})
	}
	another := at(4)
	l.Add(&probe.Event{}, Finding{Tool: "sync", Kind: "k", Place: at(7), OtherPlace: &another, MergeByOther: true})
	for range 2 { // a call of Findings does not change the log
		list := l.Findings()
		if len(list) != 2 || list[0].Place.Line != 5 || list[0].Count != 3 || len(list[0].Notes) != 1 || list[0].Notes[0] != "found at 2 such instructions; this is the first" {
			t.Fatalf("%+v", list)
		}
		if list[1].Place.Line != 7 || list[1].Count != 1 || len(list[1].Notes) != 0 {
			t.Fatalf("%+v", list)
		}
	}
}

package report

import (
	"strings"
	"testing"

	"gemu/driver"
	"gemu/sanitize/finding"
)

// A rule matches a finding if all its fields do.
func TestRulesMatch(t *testing.T) {
	second := race
	second.OtherPlace = &finding.Place{Instr: "ld.global.u32 %r2, [%rd1];"}
	for line, want := range map[string]bool{
		`tool=race`:                                   true,
		`tool=init`:                                   false,
		`kind="write*"`:                               true,
		`kind="* write"`:                              true,
		`kind=write`:                                  false,
		`kind="write after write" kernel=*hist*`:      true,
		`kind="write after write" kernel=*scan*`:      false,
		`name=hist(int?)`:                             true, // int*
		`source=*/hist.cu:7`:                          true,
		`source=/src/hist.cu:*`:                       true,
		`source=*/hist.cu:12`:                         false,
		`file=hist.cu`:                                true,
		`ptx=m.ptx:12`:                                true,
		`instruction="st.global.u32 [%rd1], %r1;"`:    true,
		`instruction="st.global.u32 [%rd1], \\*r1;"`:  false,
		`other=ld.global.*`:                           true,
		`message="*not ordered" # a comment, "quoted`: true,
		`function=?*`:                                 false,
		`instruction="st.global.u32 [%], %;"`:         true,
		`instruction="st.global.u32 [%+4], %;"`:       false,
		`instruction="ld.global.u32 [%], %;"`:         false,
		`instruction="st.global.u32 [%*], %r?;"`:      true,
		`instruction="st.global.u32 [%r], %r1;"`:      false,
		`other="ld.global.u32 %, [%];"`:               true,
		`*`:                                           false,
	} {
		rules, err := ParseRules("rules", "# comment\n\n"+line+"\n")
		if line == "*" {
			if err == nil {
				t.Error("a rule without a field is no error")
			}
			continue
		}
		if err != nil || len(rules) != 1 {
			t.Errorf("%s: %v, %v", line, rules, err)
		} else if got := rules[0].matches(&second); got != want {
			t.Errorf("%s: matches: %t, want %t", line, got, want)
		}
	}
}

// Wrong rules are errors with their line.
func TestWrongRules(t *testing.T) {
	for text, want := range map[string]string{
		"tool=race\nkind":      `f:2: "kind": want FIELD=PATTERN`,
		"lane=3":               `f:1: unknown field "lane": want some of tool, kind,`,
		"tool=race tool=init":  "f:1: the field tool is there twice",
		`kind="write`:          "f:1: a quotation mark is not closed",
		"\n\n" + `kind="a\zb"`: "f:3: ",
	} {
		if _, err := ParseRules("f", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Suppressed and known findings do not count, the baseline written from a report marks all of its findings, also with other lines
// and addresses, and unused rules are named.
func TestStatesOfFindings(t *testing.T) {
	notice := race
	notice.Kind, notice.Severity, notice.Place.Instr = "same value written", finding.Notice, `st.global.u32 [%rd1], "*?\";`
	r := New(nil, 0, []*driver.ProcessReport{process(5, true, []string{"race"}, race, notice)})
	if r.Errors != 1 || r.Notices != 1 || r.Suppressed+r.Known != 0 {
		t.Fatalf("without rules: %+v", r)
	}
	suppress, err := ParseRules("s", "kind=same*  # harmless\ntool=sync # never\n")
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(suppress, nil)
	if r.Errors != 1 || r.Notices != 0 || r.Suppressed != 1 || len(r.Unused) != 1 || r.Unused[0] != "s:2: tool=sync" || r.Findings[1].Rule.Reason != "harmless" {
		t.Errorf("with suppressions: %+v", r)
	}
	r.Apply(nil, nil)
	text := r.Baseline()
	baseline, err := ParseRules("b", text)
	if err != nil || len(baseline) != 2 {
		t.Fatalf("%v\n%s", err, text)
	}
	moved := race
	moved.Place.Line, moved.Place.Source, moved.Message, moved.Place.Thread = 99, "/elsewhere/hist.cu:70:5", "at another address", [3]int{3, 0, 0}
	r = New(nil, 0, []*driver.ProcessReport{process(6, true, []string{"race"}, moved, notice)})
	if r.Apply(nil, baseline); r.Known != 2 || r.Errors+r.Notices != 0 || r.Unused != nil {
		t.Errorf("with the baseline\n%s\n%+v", text, r)
	}
	other := race
	other.Place.Kernel = "scan"
	r = New(nil, 0, []*driver.ProcessReport{process(6, true, []string{"race"}, other)})
	baseline, err = ParseRules("b", text)
	if err != nil {
		t.Fatal(err)
	}
	if r.Apply(nil, baseline); r.Known != 0 || r.Errors != 1 || len(r.Unused) != 2 {
		t.Errorf("another finding: %+v", r)
	}
}

// A baseline matches the findings that it was written from, also if registers have other names, and no findings in other files or about
// other places.
func TestBaseline(t *testing.T) {
	noSource := func(file, instruction string) finding.Finding {
		f := race
		f.Place.Source, f.Place.File, f.Place.Instr = "", file, instruction
		return f
	}
	withOther := race
	withOther.OtherPlace = &finding.Place{Instr: "ld.global.u32 %r2, [%rd1];"}
	inFunction := race
	inFunction.Place.Function = "f"
	umlaut := race
	umlaut.Place.Source = "/src/größe.cu:7:5"
	blank := withOther
	blank.OtherPlace = &finding.Place{Instr: "bar.sync;\u00a0"}
	for _, c := range []struct {
		name         string
		known, found finding.Finding
		want         bool
	}{
		{"same", race, race, true},
		{"not ASCII", umlaut, umlaut, true},
		{"a blank of Unicode at the end", blank, blank, true},
		{"other name", umlaut, race, false},
		{"registers", noSource("d/m.ptx", "st.global.u32 [%b], %v;"), noSource("m.ptx", "st.global.u32 [%bb], %vv2;"), true},
		{"offset", noSource("m.ptx", "st.global.u32 [%b], %v;"), noSource("m.ptx", "st.global.u32 [%b+4], %v;"), false},
		{"a percent sign", noSource("m.ptx", "st.global.u32 [%b], 1; // 100% *"), noSource("m.ptx", "st.global.u32 [%c], 1; // 100% *"), true},
		{"PTX", noSource("race.ptx", "st.global.u32 [%b], %v;"), noSource("other.ptx", "st.global.u32 [%b], %v;"), false},
		{"module from memory", noSource("module-12ab34cd.ptx", "st.global.u32 [%b], %v;"), noSource("module-00ab34cd.ptx", "st.global.u32 [%b], %v;"), true},
		{"further place", race, withOther, false},
		{"function", race, inFunction, false},
	} {
		text := New(nil, 0, []*driver.ProcessReport{process(5, true, nil, c.known)}).Baseline()
		for _, text := range []string{text, "\ufeff" + text} {
			rules, err := ParseRules("b", text)
			if err != nil || len(rules) != 1 {
				t.Fatalf("%s: %v\n%s", c.name, err, text)
			}
			r := New(nil, 0, []*driver.ProcessReport{process(6, true, nil, c.found)})
			if r.Apply(nil, rules); (r.Known == 1) != c.want {
				t.Errorf("%s: known: %t, want %t:\n%s", c.name, r.Known == 1, c.want, text)
			}
		}
	}
	if text := New(nil, 0, []*driver.ProcessReport{process(5, false, []string{"race"})}).Baseline(); text != baselineHead {
		t.Errorf("a process that was not judged is known:\n%s", text)
	}
}

// GitHub's annotations have the place in the source, escaped texts, and only findings that count.
func TestGitHub(t *testing.T) {
	f := race
	f.Message, f.Place.Source = "100% wrong\nreally", "sub/a,b:c.cu:7:5"
	known := race
	known.Place.Kernel = "known"
	r := New(nil, 0, []*driver.ProcessReport{process(5, false, nil, f, known)})
	rules, err := ParseRules("s", "kernel=known")
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(rules, nil)
	var b strings.Builder
	if err := r.GitHub(&b); err != nil {
		t.Fatal(err)
	}
	want := "::error file=sub/a%2Cb%3Ac.cu,line=7,col=5,title=gemu race%3A write after write::100%25 wrong%0Areally; write in hist(int*); 3 times\n" +
		"::notice title=gemu launch%3A process not judged::python3 a.py runs on, or it ended without its exit handlers (a signal, exec): only failures up to then are known\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

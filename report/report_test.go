package report

import (
	"strings"
	"testing"

	"gemu/driver"
	"gemu/internal/document"
	"gemu/profile"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// process returns the report of a process with the given findings.
func process(number int, ended bool, tools []string, list ...finding.Finding) *driver.ProcessReport {
	p := &driver.ProcessReport{
		Process: number, Program: []string{"/usr/bin/python3", "a.py"}, Ended: ended,
		Findings: sanitize.NewReport(list, finding.Coverage{Tools: tools, Judged: 2}), Refused: []driver.RefusedCall{{Call: "cuModuleLoadData", Reason: "machine code", Count: 2}},
		Statistics: &driver.Statistics{Kernels: []driver.KernelStat{{Module: "m.ptx", Kernel: "k"}}},
	}
	p.Statistics.Total.Launches = 2
	return p
}

var race = finding.Finding{
	Tool: "race", Kind: "write after write", Message: "the accesses are not ordered", Count: 3,
	Place: finding.Place{Role: "write", Kernel: "_Z4histPi", File: "m.ptx", Line: 12, Column: 3, Instr: "st.global.u32 [%rd1], %r1;", Source: "/src/hist.cu:7:5"},
}

var leak = finding.Finding{Tool: "leak", Kind: "leak", Message: "4 bytes were not freed", Count: 1}

var withoutLines = finding.Finding{Tool: "race", Kind: "write after write", Place: finding.Place{File: "module-0123abcd.ptx", Line: 3, Instr: "st.global.u32 [%rd1], %r1;"}}

// of returns a finding about the memory of a buffer.
func of(f finding.Finding, buffer string) finding.Finding {
	f.Memory = &finding.Memory{Space: "global", Name: buffer, Bytes: 4}
	return f
}

// The text has the findings with their processes, the processes, and sums over them.
func TestText(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes []*driver.ProcessReport
		want      []string
		not       string
	}{
		{"none", nil, []string{"no process has used gemu's driver"}, "launch"},
		{"one", []*driver.ProcessReport{process(5, true, nil)}, []string{"gemu: 1 process, 2 launches of 1 kernel: 0 errors, 0 notices; no sanitizers", "not supported: cuModuleLoadData: machine code (2 times)"}, "process 5"},
		{
			"two", []*driver.ProcessReport{process(5, true, []string{"race"}, race), process(6, false, []string{"race"})},
			[]string{
				"Error: race: the accesses are not ordered", "in process 5: python3 a.py\n", "process 5: python3 a.py: 2 launches of 1 kernel, 1 error\n", "4 launches judged by race", "machine code (4 times)",
				"process 6: python3 a.py: 2 launches of 1 kernel, 1 error; it runs on", "Error: launch: python3 a.py runs on", "2 processes, 4 launches of 1 kernel: 2 errors, 0 notices; sanitizers: race",
			}, "no sanitizers",
		},
		{
			"equal findings", []*driver.ProcessReport{process(5, true, []string{"race"}, race, race), process(6, true, []string{"race"}, race, leak), process(7, true, []string{"race"}, leak)},
			[]string{
				"in process 5: python3 a.py, and in 1 further process\n", "in process 5: python3 a.py\n", "in process 6: python3 a.py\n", "in process 7: python3 a.py\n", "6 times",
				"process 6: python3 a.py: 2 launches of 1 kernel, 2 errors", "ERROR SUMMARY: 4 errors", "3 processes, 6 launches of 1 kernel: 5 errors (4 different)",
			}, "in 2 further",
		},
		{
			"other memory", []*driver.ProcessReport{process(5, true, []string{"race"}, of(race, "a")), process(6, true, []string{"race"}, of(race, "b"), of(race, "a"))},
			[]string{
				"byte 0 of a\n", "byte 0 of b\n", "in process 5: python3 a.py, and in 1 further process\n", "in process 6: python3 a.py\n", "3 errors (2 different)",
			}, "in 2 further",
		},
		{"no lines", []*driver.ProcessReport{process(5, true, nil, withoutLines)}, []string{"names no lines of the source: nvcc -lineinfo"}, "in process"},
		{"lines", []*driver.ProcessReport{process(5, true, nil, race)}, []string{"1 process"}, "-lineinfo"},
		{"killed without sanitizers", []*driver.ProcessReport{process(6, false, nil)}, []string{"Notice: launch: python3 a.py runs on", "0 errors, 1 notice"}, "judged by"},
	} {
		r := New([]string{"python3"}, 0, c.processes)
		var b strings.Builder
		if err := r.Text(&b, 0); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, b.String())
			}
		}
		if strings.Contains(b.String(), c.not) {
			t.Errorf("%s: %q is in\n%s", c.name, c.not, b.String())
		}
	}
}

// Control characters of a command line do not reach a terminal.
func TestCommandText(t *testing.T) {
	if got, want := commandText([]string{"/bin/a", "\x1b[31mred\x07"}), `a \x1b[31mred\x07`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A process that runs on after the program's end is a notice, unless it has a report: then its report says so.
func TestSurvivors(t *testing.T) {
	r := New([]string{"sh"}, 0, nil)
	r.AddSurvivor(7, []string{"/bin/sleep", "9"})
	if r.Notices != 1 || r.Errors != 0 || r.Findings[0].Process != 7 || !strings.Contains(r.Findings[0].Message, "process 7, sleep 9, runs on") || !strings.HasSuffix(r.Summary(), ", and 1 process runs on") {
		t.Errorf("%+v, %q", r, r.Summary())
	}
	r = New([]string{"sh"}, 0, []*driver.ProcessReport{process(5, false, nil)})
	r.AddSurvivor(5, []string{"a.out"})
	r.AddSurvivor(6, []string{"b.out"})
	if r.Notices != 2 || r.Findings[0].Process != 5 || r.Findings[1].Process != 6 {
		t.Errorf("%+v", r.Findings)
	}
}

// The profiles of processes are summed up by kernel and line, and those of the processes do not change.
func TestProfile(t *testing.T) {
	line := func(file string, n int, execs, g int64) document.KernelLine {
		return document.KernelLine{ProfileLine: document.ProfileLine{File: file, Line: n, Counts: profile.Counts{Execs: execs}, G: g}}
	}
	var list []*driver.ProcessReport
	for range 2 {
		p := process(5, true, nil)
		p.Statistics.Profile = []*document.KernelProfile{
			{Module: "m.ptx", Kernel: "k", Launches: 2, Warps: 4, Total: profile.Counts{Execs: 12}, Lines: []document.KernelLine{line("a.cu", 3, 8, 1), line("a.cu", 7, 4, 0)}},
		}
		list = append(list, p)
	}
	list[1].Statistics.Profile[0].Lines[0].Line = 5
	list[1].Statistics.Profile = append(list[1].Statistics.Profile, &document.KernelProfile{Module: "n.ptx", Kernel: "k", Launches: 1})
	r := New(nil, 0, list)
	if len(r.Profile) != 2 || r.Profile[1].Module != "n.ptx" {
		t.Fatalf("%+v", r.Profile)
	}
	k := r.Profile[0]
	if k.Launches != 4 || k.Warps != 8 || k.Total.Execs != 24 || len(k.Lines) != 3 {
		t.Fatalf("%+v", k)
	}
	for i, want := range []document.KernelLine{line("a.cu", 3, 8, 1), line("a.cu", 5, 8, 1), line("a.cu", 7, 8, 0)} {
		if k.Lines[i] != want {
			t.Errorf("%+v, want %+v", k.Lines[i], want)
		}
	}
	if p := list[0].Statistics.Profile[0]; p.Launches != 2 || p.Lines[1].Counts.Execs != 4 {
		t.Errorf("the process has %+v", p)
	}
}

// Equal findings of several processes are one annotation and one result, and the suites of JUnit have no numbers that change with each run.
func TestEqualFindings(t *testing.T) {
	other := race
	other.Place.Line++
	list := []*driver.ProcessReport{process(5, true, []string{"race"}, race, other), process(6, true, []string{"race"}, race)}
	for _, p := range list {
		p.Statistics.Kernels = []driver.KernelStat{{Module: "module-0123abcd.ptx", Kernel: "k"}, {Module: "module-89abcdef.ptx", Kernel: "k"}}
	}
	r := New([]string{"/usr/bin/python3", "a.py"}, 0, list)
	outputs := map[string]string{}
	for name, write := range map[string]func(w *strings.Builder) error{
		"github": func(w *strings.Builder) error { return r.GitHub(w) },
		"sarif":  func(w *strings.Builder) error { return r.SARIF(w, "1") },
		"junit":  func(w *strings.Builder) error { return r.JUnit(w) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		outputs[name] = b.String()
	}
	for _, c := range []struct {
		output, text string
		count        int
	}{
		{"github", "::error ", 2},
		{"github", " (in 2 processes)", 1},
		{"sarif", `"ruleId"`, 2},
		{"sarif", `"occurrenceCount": 6`, 1},
		{"junit", `testsuite name="python3 a.py"`, 1},
		{"junit", `testsuite name="python3 a.py (2)"`, 1},
		{"junit", `testsuite name="python3 a.py (3)"`, 1},
		{"junit", `classname="module" name="k"`, 2},
		{"junit", `classname="module" name="k (2)"`, 2},
		{"junit", "<failure ", 3},
		{"junit", "process 5", 0},
	} {
		if n := strings.Count(outputs[c.output], c.text); n != c.count {
			t.Errorf("%q is %d times in the output %s, want %d times:\n%s", c.text, n, c.output, c.count, outputs[c.output])
		}
	}
}

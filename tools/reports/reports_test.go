package reports

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/xeipuuv/gojsonschema"

	"gemu/driver"
	"gemu/report"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// example returns a report with findings of each state and severity, with and without places.
func example(t *testing.T) *report.Report {
	place := finding.Place{Role: "write", Kernel: "_Z4histPi", File: "module-1.ptx", Line: 12, Column: 3, Instr: "st.global.u32 [%rd1], %r1; // \x01 <&>", Source: "src/hist file.cu:7:5"}
	list := []finding.Finding{
		{Tool: "race", Kind: "write after write", Message: "not ordered", Place: place, OtherPlace: &place, Memory: &finding.Memory{Space: "global", Bytes: 4}, Notes: []string{"a note"}, Count: 3},
		{Tool: "race", Kind: "same value written", Severity: finding.Notice, Message: "a notice", Place: place, Count: 1},
		{Tool: "init", Kind: "suppressed", Message: "suppressed", Place: finding.Place{Role: "read", Kernel: "k", File: "/abs/k.ptx", Line: 1}, Count: 1},
		{Tool: "bounds", Kind: "known", Message: "known", Place: finding.Place{Role: "read", Kernel: "k", File: "k.ptx"}, Count: 1},
		{Tool: "leak", Kind: "leak", Message: "a leak", Place: finding.Place{Role: "allocation"}, Count: 1},
	}
	p := &driver.ProcessReport{
		Process: 5, Program: []string{"/usr/bin/python3", "a.py"}, Ended: false, Started: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		Findings: sanitize.NewReport(list, finding.Coverage{Tools: []string{"race"}, Judged: 2}), Statistics: &driver.Statistics{Kernels: []driver.KernelStat{{Module: "module-1.ptx", Kernel: "_Z4histPi"}, {Module: "module-1.ptx", Kernel: "clean"}}},
	}
	r := report.New([]string{"python3", "a.py"}, 1, []*driver.ProcessReport{p})
	suppressions, err := report.ParseRules("s", "kind=suppressed # with a reason")
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := report.ParseRules("b", "kind=known")
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(suppressions, baseline)
	return r
}

// The SARIF follows the public schema, and has no fields that the schema does not know.
func TestSARIF(t *testing.T) {
	schema := publicSchema(t)
	for name, r := range map[string]*report.Report{"findings": example(t), "nothing": report.New([]string{"true"}, 0, nil)} {
		var b bytes.Buffer
		if err := r.SARIF(&b, "gemu 1.2.3"); err != nil {
			t.Fatal(err)
		}
		log, err := sarif.FromBytes(b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b.String())
		}
		result, err := gojsonschema.Validate(gojsonschema.NewStringLoader(schema), gojsonschema.NewBytesLoader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range result.Errors() {
			t.Errorf("%s: %v", name, e)
		}
		if name == "nothing" {
			continue
		}
		var states []string
		for _, result := range log.Runs[0].Results {
			state := result.Level + " "
			if result.BaselineState != nil {
				state += *result.BaselineState
			}
			if len(result.Suppressions) > 0 {
				state += *result.Suppressions[0].Justification
			}
			states = append(states, state)
		}
		if want := []string{"error new", "note new", "error newwith a reason", "error unchanged"}; !cmp.Equal(states, want) {
			t.Errorf("%s: the results are %q, want %q", name, states, want)
		}
		if n := len(log.Runs[0].Invocations[0].ToolExecutionNotifications); n != 2 {
			t.Errorf("%s: %d notifications, want a leak and a process that was not judged", name, n)
		}
		region := log.Runs[0].Results[0].Locations[0].PhysicalLocation
		if *region.ArtifactLocation.URI != "src/hist%20file.cu" || *region.Region.StartLine != 7 {
			t.Errorf("%s: the place is %s", name, b.String())
		}
	}
}

// publicSchema returns the schema of SARIF 2.1.0 from the source of package sarif, whose own check adds fields before it validates.
func publicSchema(t *testing.T) string {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	schema := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && len(text.Value) > len(schema) {
			schema = text.Value
		}
		return true
	})
	schema, err = strconv.Unquote(schema)
	if err != nil || len(schema) < 50_000 {
		t.Fatalf("the schema has %d bytes: %v", len(schema), err)
	}
	return schema
}

// JUnit's XML has a case for each kernel and for the program, which fail by errors that count.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := example(t).JUnit(&b); err != nil {
		t.Fatal(err)
	}
	if totals := `<testsuites name="gemu" tests="5" failures="3" errors="0"`; !strings.Contains(b.String(), totals) { // the parser counts by itself
		t.Errorf("no %s", totals)
	}
	suites, err := junit.Ingest(b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	got := map[string]junit.Status{}
	for _, s := range suites {
		for _, c := range s.Tests {
			got[c.Name] = c.Status
		}
	}
	want := map[string]junit.Status{"program": junit.StatusFailed, "hist(int*)": junit.StatusFailed, "clean": junit.StatusPassed, "k": junit.StatusPassed, "process": junit.StatusFailed}
	if !cmp.Equal(got, want) || len(suites) != 2 || suites[1].Totals.Tests != 4 || suites[1].Totals.Failed != 2 {
		t.Errorf("(-want +got):\n%s\n%s", cmp.Diff(want, got), b.String())
	}
}

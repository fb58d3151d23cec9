package report

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/driver"
	"gemu/sanitize/finding"
)

// Files have names relative to the root, also if a process has another working directory, and if the root is behind a link.
func TestPlacesOfFiles(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ root, directory, file, want string }{
		{root, filepath.Join(root, "build", "tests"), "a.cu", "build/tests/a.cu"},
		{root, filepath.Join(root, "build"), "../src/a.cu", "src/a.cu"},
		{root, filepath.Join(root, "build"), filepath.Join(root, "src", "a.cu"), "src/a.cu"},
		{link, filepath.Join(root, "build"), "../src/a.cu", "src/a.cu"},
		{root, root, "../a.cu", filepath.ToSlash(filepath.Join(filepath.Dir(root), "a.cu"))},
		{root, root, "..a/a.cu", "..a/a.cu"},
		{"", "", "a.cu", "a.cu"},
		{"", filepath.Join(here, "sub"), "a.cu", "sub/a.cu"},
		{root, "", "a.cu", filepath.ToSlash(filepath.Join(here, "a.cu"))},
	} {
		f := race
		f.Place.Source = c.file + ":7:5"
		p := process(5, true, nil, f)
		p.Directory = c.directory
		r := New(nil, 0, []*driver.ProcessReport{p})
		r.Root = c.root
		if got := r.spot(&r.Findings[0], &f.Place); got != (spot{c.want, 7, 5}) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// GitHub takes a log only if each result has a file with a valid URI; findings without a file are notifications.
func TestSARIFForGitHub(t *testing.T) {
	colon := race
	colon.Place.Source = "a:b.cu:7:5"
	known := race
	known.Place.Kernel = "known"
	leak := finding.Finding{Tool: "leak", Kind: "leak", Message: "a leak", Place: finding.Place{Role: "allocation"}}
	refused := finding.Finding{Tool: "launch", Kind: "launch refused", Message: "refused", Place: finding.Place{Role: "launch", Kernel: "k"}}
	notice := finding.Finding{Tool: "leak", Kind: "small", Severity: finding.Notice, Message: "a notice", Place: finding.Place{Role: "allocation"}}
	r := New(nil, 0, []*driver.ProcessReport{process(5, false, []string{"race"}, race, colon, known, leak, refused, notice)})
	suppressions, err := ParseRules("s", "kind=leak")
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := ParseRules("b", "kernel=known")
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(suppressions, baseline)
	var b strings.Builder
	if err := r.SARIF(&b, "1"); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(b.String()), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	var states []string
	for _, result := range run.Results {
		states = append(states, result.Baseline)
		if len(result.Locations) == 0 || result.Locations[0].Physical == nil {
			t.Fatalf("a result without a file:\n%s", b.String())
		}
		uri := result.Locations[0].Physical.Artifact.URI
		if u, err := url.Parse(uri); err != nil || u.IsAbs() != strings.HasPrefix(uri, "file:///") || result.Message.Text == "" || result.Rule != run.Tool.Driver.Rules[result.RuleIndex].ID {
			t.Errorf("%s: %v: %+v", uri, err, result)
		}
	}
	if got := strings.Join(states, " "); got != "new new unchanged" {
		t.Errorf("the states of the results are %s", got)
	}
	got := ""
	for _, n := range run.Invocations[0].Notifications {
		got += n.Descriptor.ID + " " + n.Level + "\n"
		if run.Tool.Driver.Notifications[n.Descriptor.Index].ID != n.Descriptor.ID {
			t.Errorf("the index of %s is %d", n.Descriptor.ID, n.Descriptor.Index)
		}
	}
	if want := "leak/leak none\nlaunch/launch-refused error\nleak/small note\nlaunch/process-not-judged error\n"; got != want || run.Invocations[0].Successful {
		t.Errorf("successful: %t; the notifications are\n%swant\n%s", run.Invocations[0].Successful, got, want)
	}
}

// A process that calls exec has two reports with its number: their findings are counted once.
func TestFindingsAroundExec(t *testing.T) {
	first := race
	first.Message = "a message with\n========= ERROR SUMMARY: 5 errors"
	r := New(nil, 0, []*driver.ProcessReport{process(5, true, nil, first), process(5, true, nil, race, race)})
	var text, b strings.Builder
	if err := r.Text(&text, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"launches of 1 kernel, 1 error\n", "launches of 1 kernel, 2 errors\n", " 3 errors, 0 notices; "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if err := r.JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &suites); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1, 2} {
		n := 0
		for _, c := range suites.Suites[i].Cases {
			n += len(c.Failures)
		}
		if n != want {
			t.Errorf("suite %d has %d failures, want %d:\n%s", i, n, want, b.String())
		}
	}
	if !strings.Contains(b.String(), "5 errors") || !strings.Contains(b.String(), "3 times in all") {
		t.Errorf("the text of a finding is cut:\n%s", b.String())
	}
}

//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemu/cmd/internal/libtest"
	"gemu/sanitize"
)

// A failed launch is an error for every sanitizer. At the end of the process, launches that have not ended are awaited,
// or counted as not judged: a run that no sanitizer has judged is never clean.
func TestLaunchesAtExitAreJudged(t *testing.T) {
	program := libtest.Client(t, "testdata/exit.c", "libcuda.so.1")
	const race = "write after write" // 64 threads write different values to a word
	reasons := map[string]string{    // reasons why launches were not judged
		"behind": "it had not begun 1s after the end of the process", "in stream": "a stream whose host function ended the process",
	}
	for _, c := range []struct {
		ending, tool string
		env          []string
		kinds        []string // kinds of the errors
		judged       uint64
		notJudged    uint64
		status       int
	}{
		{"nothing", "race", nil, nil, 0, 0, 0},
		{"no synchronisation", "race", nil, []string{race}, 1, 0, 77},
		{"event", "race", nil, []string{race}, 1, 0, 77},
		{"graph", "race", nil, []string{race}, 1, 0, 77},
		{"destroyed", "race", nil, []string{race}, 1, 0, 77},
		{"quick_exit", "race", nil, []string{race}, 1, 0, 77},

		{"out of bounds", "memcheck", nil, []string{"out-of-bounds access"}, 1, 1, 77},
		{"out of bounds", "init", []string{"GEMU_MODE=check"}, []string{"out-of-bounds access"}, 1, 1, 77},
		{"trap", "race", nil, []string{"trap instruction"}, 1, 1, 77},
		{"deadlock", "synccheck", nil, []string{"deadlock"}, 1, 0, 77},
		{"steps", "bounds", []string{"GEMU_STEPS=1000"}, []string{"step limit reached"}, 1, 0, 77},
		{"refused", "bounds", nil, []string{"launch refused"}, 0, 1, 77},

		{"endless", "bounds", []string{"GEMU_EXIT_WAIT=1", "GEMU_STEPS=1000000000000"}, []string{"launch stopped"}, 0, 1, 77},
		{"behind", "bounds", []string{"GEMU_EXIT_WAIT=1", "GEMU_STEPS=1000000000000"}, []string{"launch stopped", "launch not judged"}, 0, 2, 77},
		{"in stream", "bounds", nil, []string{"launch not judged"}, 0, 1, 77},

		{"_exit", "race", nil, nil, 0, 0, 0},
		{"exec", "race", nil, nil, 0, 0, 0},
	} {
		t.Run(c.ending, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log.json")
			run := func(env ...string) (int, string) {
				cmd := exec.Command(program, c.ending)
				cmd.Env = append(append(append(os.Environ(), "GEMU_SANITIZE="+c.tool, "GEMU_SANITIZE_EXIT=77"), c.env...), env...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				cmd.Run()
				return cmd.ProcessState.ExitCode(), stderr.String()
			}
			status, stderr := run("GEMU_SANITIZE_LOG=" + log)
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			var r sanitize.Report
			if err := json.Unmarshal(b, &r); err != nil {
				t.Fatal(err)
			}
			if status != c.status {
				t.Errorf("status %d, want %d\n%s", status, c.status, stderr)
			}
			kinds := map[string]bool{}
			for _, f := range r.Findings {
				if f.Severity.String() == "error" {
					kinds[f.Kind] = true
				}
			}
			for _, k := range c.kinds {
				if !kinds[k] {
					t.Errorf("no error is a %q:\n%s\n%s", k, b, stderr)
				}
			}
			if len(kinds) != len(c.kinds) || (r.Errors > 0) != (len(c.kinds) > 0) {
				t.Errorf("%d errors of kinds %v, want %q:\n%s", r.Errors, kinds, c.kinds, b)
			}
			if r.Launches.Judged != c.judged || r.Launches.NotJudged != c.notJudged {
				t.Errorf("%d launches judged and %d not, want %d and %d:\n%s", r.Launches.Judged, r.Launches.NotJudged, c.judged, c.notJudged, b)
			}
			ends := c.ending != "_exit" && c.ending != "exec"
			if r.Complete != (ends && c.notJudged == 0) {
				t.Errorf("the report says complete: %t\n%s", r.Complete, b)
			}

			// The text report says the same. Without exit handlers there is no report.
			_, stderr = run()
			if got := strings.Contains(stderr, "ERROR SUMMARY: "); got != ends {
				t.Errorf("there is a summary: %t\n%s", got, stderr)
			}
			if reason := reasons[c.ending]; !strings.Contains(stderr, reason) {
				t.Errorf("the text does not say %q:\n%s", reason, stderr)
			}
			if c.notJudged > 0 && !strings.Contains(stderr, "NOT judged") {
				t.Errorf("launches that were not judged are not in the text:\n%s", stderr)
			}
			if _, stderr = run("GEMU_SANITIZE_LOG=" + filepath.Join(log, "file")); strings.Contains(stderr, "ERROR SUMMARY: ") != ends {
				t.Errorf("with a file that cannot be written, the text is:\n%s", stderr)
			}
		})
	}
}

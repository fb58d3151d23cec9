package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
)

// runText runs the command and returns its standard output and its messages. It fails unless the status is as wanted.
func runText(t *testing.T, status int, args ...string) (out, messages string) {
	t.Helper()
	var o, e bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &o, &e); got != status {
		t.Fatalf("%v: status %d, want %d: %s", args, got, status, &e)
	}
	return o.String(), e.String()
}

// TestMachineFrom: the report on a recording is that on the run, byte for byte: several launches, an order of CTAs, atomics, clusters,
// asynchronous copies, one to the last of several buffers, calls with local memory, and a trap; with a clock and with a system of a paper.
func TestMachineFrom(t *testing.T) {
	part.SkipShort(t)
	for _, c := range []struct {
		status int
		args   []string
	}{
		{exitGood, []string{"@bfs", "--size", "256"}},
		{exitGood, []string{"@histogram", "--size", "4096", "--order", "cluster:2x1x1"}},
		{exitGood, []string{"@gemm_wgmma", "--size", "64"}},
		{exitGood, []string{"@nqueens", "--size", "4"}},
		{exitGood, []string{"../testdata/control/tensor_async.ptx", "-k", "stored", "-g", "1", "-b", "1", "-a", "tma(2,u32[32],box=32)", "u32[32]=iota", "u32[32]"}},
		{exitGood, []string{"../docs/histo.ptx", "-g", "8,4", "-b", "64", "-a", "u32[8192]=iota", "u32[8192]", "8192"}},
		{exitFailed, []string{"../docs/histo.ptx", "-g", "8,4", "-b", "64", "-a", "u32[2048]=iota", "u32[8192]", "8192"}},
	} {
		file := filepath.Join(t.TempDir(), "run.gemu")
		runText(t, c.status, slices.Concat([]string{"record", "--with", "accesses,source,memory", "-o", file}, c.args)...)
		for _, flags := range [][]string{{"--show", "total,lines,buffers,limits,locality,rows,compression", "--sweep", "l2=16K,64K"}, {"--show", "cycles", "--with", "ldesc=auto"}, {"--events", "-"}, {"--addresses", "-"}} {
			want, _ := runText(t, c.status, slices.Concat([]string{"machine"}, c.args, flags)...)
			got, _ := runText(t, c.status, slices.Concat([]string{"machine", "--from", file}, flags)...)
			if got, want = withoutOnce(got), withoutOnce(want); got != want {
				t.Errorf("%v %v: got\n%s\nwant\n%s", c.args, flags, got, want)
			}
		}
	}
}

// withoutOnce blanks column once of the tables of --show compression: a recording has no registers, and then the column has no values.
func withoutOnce(text string) string {
	const head = "  once"
	column := -1
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch at := strings.Index(line, head); {
		case at >= 0:
			column = at
		case line == "":
			column = -1
		case column >= 0 && len(line) >= column+len(head):
			lines[i] = line[:column] + strings.Repeat(" ", len(head)) + line[column+len(head):]
		}
	}
	return strings.Join(lines, "\n")
}

// TestMachineFromMissing: a file that lacks what the machine needs is an error, which says how to record the run.
func TestMachineFromMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.gemu")
	log := filepath.Join(t.TempDir(), "run.gtr")
	kernel := []string{"../docs/histo.ptx", "-g", "8,4", "-b", "64", "-a", "u32[8192]=iota", "u32[8192]", "8192"}
	runText(t, exitGood, slices.Concat([]string{"trace", "-o", log, "--cta", "0"}, kernel)...)
	for _, c := range []struct {
		record, machine []string
		message         string
	}{
		{[]string{"--with", "source"}, nil, "lacks accesses; record the run again: gemu record … --with accesses,source"},
		{[]string{"--with", "accesses,source"}, []string{"--show", "compression"}, "lacks memory; record the run again: gemu record … --with accesses,source,memory"},
		{[]string{"--with", "accesses,source", "--cta", "0"}, nil, "a part of the run only (CTAs 0)"},
		{[]string{"--with", "accesses,source", "--max-events", "100"}, nil, "has reached a limit"},
		{[]string{"--with", "all"}, []string{"-g", "3"}, "--grid does not apply"},
		{[]string{"--with", "all"}, []string{"@spmv"}, "give one input"},
	} {
		runText(t, exitGood, slices.Concat([]string{"record", "-o", file}, c.record, kernel)...)
		if _, got := runText(t, exitBad, append([]string{"machine", "--from", file}, c.machine...)...); !strings.Contains(got, c.message) {
			t.Errorf("%v: %q, want %q", c.record, got, c.message)
		}
	}
	if _, got := runText(t, exitBad, "machine", "--from", log); !strings.Contains(got, "a log of gemu trace has no allocations and no memory") {
		t.Errorf("a log: %q", got)
	}
	runText(t, exitGood, "record", "--from", log, "-o", file)
	if _, got := runText(t, exitBad, "machine", "--from", file); !strings.Contains(got, "converted log") {
		t.Errorf("a converted log: %q", got)
	}
}

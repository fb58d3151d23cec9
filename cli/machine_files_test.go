package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gemu/machine"
)

// saxpyWarp is saxpy of a single warp: it loads x and y, 128 bytes each, and stores y.
var saxpyWarp = []string{"machine", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "32", "-a", "32", "2.0", "f32[32]", "f32[32]"}

// TestMachineFiles has the events and the addresses of a warp by hand. The stored sectors are in both caches.
func TestMachineFiles(t *testing.T) {
	dir := t.TempDir()
	events, addresses := filepath.Join(dir, "events.csv"), filepath.Join(dir, "trace.txt")
	var out, errs bytes.Buffer
	if status := run(t.Context(), append(saxpyWarp, "--base", "0x10000000", "--events", events, "--addresses", addresses), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	for _, f := range []struct{ name, want string }{
		{events, "machine,launch,kernel,L1_RH,L1_RM,L1_WH,L1_WM,L2_RH,L2_RM,L2_WH,L2_WM,DRAM_R,DRAM_W\nv100,1,saxpy,0,8,4,0,0,8,4,0,8,0\n"},
		{addresses, "0x10000000 R\n0x10000020 R\n0x10000040 R\n0x10000060 R\n0x10000200 R\n0x10000220 R\n0x10000240 R\n0x10000260 R\n"},
	} {
		if got, err := os.ReadFile(f.name); err != nil || string(got) != f.want {
			t.Errorf("%s: %v, want %s", got, err, f.want)
		}
	}
}

// TestMachineCSV: the lines and the buffers of each machine add up to its totals, and DRAM writes are in the address trace.
func TestMachineCSV(t *testing.T) {
	var out, errs bytes.Buffer
	addresses := filepath.Join(t.TempDir(), "trace.txt")
	if status := run(t.Context(), []string{"machine", "@spmv", "--sweep", "l2=32K,1M", "--csv", "-", "--addresses", addresses}, strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[[3]string]int{}
	for _, r := range records[1:] {
		n, err := strconv.Atoi(r[4])
		if err != nil {
			t.Fatal(err)
		}
		sums[[3]string{r[0], r[1], r[3]}] += n
	}
	for _, m := range []string{"v100 l2=32K", "v100 l2=1M"} {
		for _, count := range []string{"loads", "stores", "l1_hits", "l2_hits", "reads", "compulsory_reads", "used_bytes"} {
			total := sums[[3]string{m, "total", count}]
			if l, b := sums[[3]string{m, "line", count}], sums[[3]string{m, "buffer", count}]; total == 0 || l != total || b != total {
				t.Errorf("%s: %s %d, lines %d, buffers %d", m, count, total, l, b)
			}
		}
	}
	trace, err := os.ReadFile(addresses)
	if err != nil {
		t.Fatal(err)
	}
	for kind, count := range map[string]string{" R\n": "reads", " W\n": "write_backs"} {
		if n, want := strings.Count(string(trace), kind), sums[[3]string{"v100 l2=32K", "total", count}]; n != want || n == 0 {
			t.Errorf("%d lines %q, want %d", n, kind, want)
		}
	}
}

// TestDifferences orders entries by the difference of traffic, then of misses, and leaves out equal ones.
func TestDifferences(t *testing.T) {
	list := unequalPairs([]countsPair{
		{"equal", machine.Counts{Loads: 1, Reads: 4}, machine.Counts{Loads: 2, Reads: 4}},
		{"misses", machine.Counts{L1Misses: 90}, machine.Counts{}},
		{"reads", machine.Counts{Reads: 4}, machine.Counts{Reads: 10}},
		{"writes", machine.Counts{WriteBacks: 9}, machine.Counts{Reads: 1}},
	})
	var got []string
	for _, d := range list {
		got = append(got, d.text)
	}
	if want := "writes reads misses"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestMachineTimeline: the timeline has the launch and the lines of the PTX, with or without another part with a clock, and from a
// recording.
func TestMachineTimeline(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "timeline.json")
	timelineOf := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitGood {
			t.Fatalf("status %d: %s", status, &errs)
		}
		if want := "gemu: --timeline: 4 of 80 multiprocessors are shown\n"; errs.String() != want {
			t.Errorf("%q, want %q", &errs, want)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := timelineOf(append(saxpyWarp, "--timeline", name)...)
	for _, part := range []string{`"name":"launch 1 saxpy"`, `"name":"st.global.f32 saxpy.`, `"ptx":"saxpy.ptx:`, `"name":"data: saxpy.`} {
		if !strings.Contains(want, part) {
			t.Errorf("the timeline has no %s", part)
		}
	}
	if got := timelineOf(append(saxpyWarp, "--timeline", name, "--show", "cycles")...); got != want {
		t.Error("the timeline with --show cycles is another")
	}
	recording := filepath.Join(dir, "run.gemu")
	var out, errs bytes.Buffer
	if status := run(t.Context(), append(append([]string{"record"}, saxpyWarp[1:]...), "--with", "accesses,source", "-o", recording), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	if got := timelineOf("machine", "--from", recording, "--timeline", name); got != want {
		t.Error("the timeline of a recording is another")
	}
	for _, bad := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--timeline-cycles", "1-2"}, "--timeline-cycles needs --timeline FILE"},
		{[]string{"--timeline", name, "--timeline-cycles", "5-5"}, "5-5: want A-B, cycles from 0 on with A below B, as in 1000-5000"},
		{[]string{"--timeline", name, "--timeline-cycles", "900000-900001"}, "--timeline-cycles 900000-900001: the timeline has cycles 0 to "},
		{[]string{"--timeline", filepath.Join(dir, "no", "file")}, "no directory"},
	} {
		errs.Reset()
		if status := run(t.Context(), append(saxpyWarp, bad.flags...), strings.NewReader(""), &out, &errs); status != exitBad || !strings.Contains(errs.String(), bad.want) {
			t.Errorf("%q: status %d: %s, want %q", bad.flags, status, &errs, bad.want)
		}
	}
}

package corpus

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
)

const engineHead = `# How the compact engine executes the programs of each file, at all their extents, in check
# mode: as it pays, and eagerly. A change that leaves results as they are may still make
# execution less compact, or materialise more; here it is seen. "GEMU_TEST=ci go test
# ./internal/corpus -run TestEngineCounts$ -update" writes this file; the commit must say why.
#
# FILE: fixed, proved, compact, of these by fast forms, lanes kept; on the lanes, lanes
# materialised, bytes of frames, claims of the plan. See probe.EngineCounts.
`

// TestEngineCounts compares the statistics of the compact engine with testdata/engine.txt.
func TestEngineCounts(t *testing.T) {
	part.SkipLong(t)
	files, err := Files("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, len(files))
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				lines[i] = engineLine(t, files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wait.Wait()
	const path = "testdata/engine.txt"
	got := engineHead + strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compareRecords(t, string(want), got, 1)
}

// engineLine returns the line of a file.
func engineLine(t *testing.T, file string) string {
	programs, err := ProgramsOf("../../testdata", file)
	if err != nil {
		t.Error(err)
	}
	line := file + ":"
	for i, prepare := range []func(l *interp.Launch){func(l *interp.Launch) {}, func(l *interp.Launch) { l.CompileEagerly = true }} {
		var n probe.Counts
		for _, p := range programs {
			for _, r := range p.Run(prepare).Results {
				n.Add(&r.Counts)
			}
		}
		if i > 0 {
			line += ";"
		}
		e := n.Engine
		line += fmt.Sprintf(" %d %d %d %d %d, %d %d %d %d", e.Fixed, e.Proved, e.Compact, e.FastForm, e.ShadowLanes, e.VectorExecuted, e.MaterialisedLanes, e.FrameBytes, e.Claims)
	}
	return line + "\n"
}

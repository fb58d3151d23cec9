package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
	"gemu/internal/traceevent"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// trace is a timeline read from its file.
type trace struct {
	Other  map[string]string  `json:"otherData"`
	Events []traceevent.Event `json:"traceEvents"`
}

// drawn runs a kernel with a timeline.
func drawn(t *testing.T, src string, prepare func(l *interp.Launch)) (*trace, *Timeline) {
	t.Helper()
	line := NewTimeline()
	profiled(t, src, func(l *interp.Launch) {
		l.Probes = append(l.Probes, line)
		if prepare != nil {
			prepare(l)
		}
	})
	return readBack(t, line), line
}

func readBack(t *testing.T, line *Timeline) *trace {
	t.Helper()
	var b bytes.Buffer
	if err := line.Write(&b); err != nil {
		t.Fatal(err)
	}
	var n trace
	if err := json.Unmarshal(b.Bytes(), &n); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	return &n
}

// nested checks that spans of a thread are nested or disjoint, and in the order of their times.
func (n *trace) nested(t *testing.T) {
	t.Helper()
	type thread struct{ pid, tid int }
	open := map[thread][]int64{} // ends
	last := map[thread]int64{}
	for _, e := range n.Events {
		if e.Phase != "X" {
			continue
		}
		k := thread{e.PID, e.TID}
		if e.Time < last[k] || e.Dur <= 0 {
			t.Fatalf("%+v comes after time %d", e, last[k])
		}
		last[k] = e.Time
		s := open[k]
		for len(s) > 0 && s[len(s)-1] <= e.Time {
			s = s[:len(s)-1]
		}
		if len(s) > 0 && e.Time+e.Dur > s[len(s)-1] {
			t.Fatalf("%+v ends after what it is in, at %d", e, s[len(s)-1])
		}
		open[k] = append(s, e.Time+e.Dur)
	}
}

// TestTimelineOfOneWarp: a single warp, a loop with a call, and a diverged tail.
func TestTimelineOfOneWarp(t *testing.T) {
	n, line := drawn(t, kernel(`
	mov.u32 %i, 0;
AGAIN:
	call inner, (%i);
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 2;
	@%q bra AGAIN;
	setp.lt.u32 %q, %t, 8;
	@%q bra END;
	add.u32 %x, %x, 4;
	add.u32 %x, %x, 4;
END:
`), nil)
	if omitted := line.Omitted(); omitted != "" {
		t.Error(omitted)
	}
	n.nested(t)
	var got []string
	for _, e := range n.Events {
		got = append(got, fmt.Sprint(e.Phase, " ", e.PID, " ", e.TID, " ", e.Name, " ", e.Time, "+", e.Dur, " ", e.Args))
	}
	// Three instructions before the loop and one to begin it; in it a call, inner's add and ret, and three
	// more, twice; setp and bra by 32 lanes. The eight lanes that branch to the end have ended then, and 24
	// lanes continue.
	want := []string{
		"M 1 0 process_name 0+0 map[name:launch 1 k cta (0,0,0)]",
		"M 1 1 thread_name 0+0 map[name:warp 0]",
		"X 1 1 k 0+22 map[]",
		"X 1 1 loop at k.ptx:25 4+12 map[]",
		"X 1 1 inner 5+2 map[]",
		"X 1 1 inner 11+2 map[]",
		"C 1 0 lanes of warp 0 0+0 map[lanes:32]",
		"C 1 0 lanes of warp 0 18+0 map[lanes:8]",
		"C 1 0 lanes of warp 0 19+0 map[lanes:24]",
		"C 1 0 lanes of warp 0 22+0 map[lanes:0]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTimelineOfABarrier: the first of two warps waits at a barrier for the second.
func TestTimelineOfABarrier(t *testing.T) {
	n, _ := drawn(t, kernel("bar.sync 3;\n"), func(l *interp.Launch) { l.Block = ptx.Dim(64) })
	n.nested(t)
	var waits []string
	for _, e := range n.Events {
		if e.Cat == "wait" {
			waits = append(waits, fmt.Sprintf("%s, thread %d: %d+%d", e.Name, e.TID, e.Time, e.Dur))
		}
	}
	// Each warp executes four instructions up to the barrier. The last warp does not wait.
	if want := []string{"wait for barrier 3, thread 1: 4+4"}; !cmp.Equal(want, waits) {
		t.Errorf("%q, want %q", waits, want)
	}
}

// TestTimelineIsBounded: a timeline beyond its bound is shortened, and reports this.
func TestTimelineIsBounded(t *testing.T) {
	part.SkipShort(t)
	n, line := drawn(t, kernel(`
	mov.u32 %i, 0;
AGAIN:
	call inner, (%i);
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 5000;
	@%q bra AGAIN;
`), func(l *interp.Launch) { l.Grid = ptx.Dim(MaxFirst + 4) })
	n.nested(t)
	spans, ctas := map[int]int{}, map[int]bool{}
	for _, e := range n.Events {
		ctas[e.PID] = true
		if e.Phase == "X" {
			spans[e.PID]++
		}
	}
	if len(ctas) != MaxFirst || spans[1] != 2 { // the kernel and its loop
		t.Errorf("%d CTAs, the first with %d spans", len(ctas), spans[1])
	}
	const want = "16 of 20 CTAs are shown; 80000 spans shorter than 4 instructions are left out"
	if omitted := line.Omitted(); omitted != want || n.Other["left out"] != want {
		t.Errorf("%q, in the file %q, want %q", omitted, n.Other["left out"], want)
	}
}

// TestTimelineDoesNotDependOnWorkers: a timeline does not depend on the number of the host's cores.
func TestTimelineDoesNotDependOnWorkers(t *testing.T) {
	var want string
	for workers := 1; workers <= 2; workers++ {
		line := NewTimeline()
		w := kernels.Lookup("bfs")
		s, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Workers: workers, Probes: []probe.Probe{line}}), 1024)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		readBack(t, line).nested(t)
		var b strings.Builder
		if err := line.Write(&b); err != nil {
			t.Fatal(err)
		}
		if workers == 1 {
			want = b.String()
		} else if b.String() != want {
			t.Error("it is another with two workers")
		}
	}
}

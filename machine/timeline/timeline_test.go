package timeline_test

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
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/machine/timeline"
	"gemu/probe"
	"gemu/ptx"
)

// file is a timeline that was read.
type file struct {
	Other  map[string]string  `json:"otherData"`
	Events []traceevent.Event `json:"traceEvents"`
}

// read writes a timeline, reads it, and checks that the spans of a thread are disjoint and ascending.
func read(t *testing.T, l *timeline.Timeline) *file {
	t.Helper()
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	var f file
	if err := json.Unmarshal(b.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	type thread struct{ pid, tid int }
	ends := map[thread]int64{}
	for _, e := range f.Events {
		if k := (thread{e.PID, e.TID}); e.Phase == "X" {
			if e.Time < ends[k] || e.Dur <= 0 {
				t.Fatalf("%+v comes after time %d", e, ends[k])
			}
			ends[k] = e.Time + e.Dur
		}
	}
	return &f
}

// clock returns v100 with a number of multiprocessors and a clock.
func clock(t *testing.T, sms int) *machine.Clock {
	t.Helper()
	s, ok := machine.Find("v100")
	if !ok {
		t.Fatal("no machine v100")
	}
	s.SMs = sms
	c, err := machine.NewClock(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// small loads a line and stores it, once in each of two launches. The store is of the line of the load, so that memory is read once.
const small = `.version 8.0
.target sm_70
.address_size 64
.entry k(.param .u64 in)
{
	.reg .u32 %t, %x;
	.reg .u64 %b, %p;
	ld.param.u64 %b, [in];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %p, %t, 4;
	add.u64 %p, %p, %b;
	ld.global.u32 %x, [%p];
	st.global.u32 [%p], %x;
	ret;
}
`

// runSmall runs small on a machine, in some launches.
func runSmall(t *testing.T, c *machine.Clock, launches int) {
	t.Helper()
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("dir/small.ptx", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	r := stream.NewRecorder(c)
	r.RecordInstructions()
	for range launches {
		if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Probes: []probe.Probe{r}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTimeline has the timeline of a warp up to its load by hand: v100 needs 8 cycles for the parameter, 4 for an integer and 5 for a product.
// The product begins when %tid.x is there, in cycle 1 + 4, and the sum when the product is, in 10; the parameter is there in 8.
func TestTimeline(t *testing.T) {
	c := clock(t, 1)
	line := timeline.New(c, timeline.Options{})
	runSmall(t, c, 1)
	f := read(t, line)
	var got []string
	last := map[string]traceevent.Event{}
	bytes := 0.0 // of all channels
	counters := map[string]traceevent.Event{}
	for _, e := range f.Events {
		switch {
		case e.Phase == "X" && len(got) < 16:
			got = append(got, fmt.Sprintf("%d %d %s %d+%d", e.PID, e.TID, e.Name, e.Time, e.Dur))
		case e.Phase == "C":
			if before, ok := counters[e.Name]; ok && strings.HasSuffix(e.Name, "bytes in a cycle") {
				bytes += before.Args["bytes"].(float64) * float64(e.Time-before.Time)
			}
			counters[e.Name] = e
		}
		last[e.Name] = e
	}
	cycles := c.Launches()[0].Cycles
	wait := last["data: small.ptx:12"] // the store waits for the load, and the warp ends after the store
	want := []string{
		fmt.Sprintf("1 1 launch 1 k 0+%d", cycles),
		fmt.Sprintf("10 1 CTA 0 0+%d", wait.Time+wait.Dur+2),
		"10 101 ld.param.u64 small.ptx:8 0+1",
		"10 101 mov.u32 small.ptx:9 1+1",
		"10 101 data: small.ptx:9 2+3",
		"10 101 mul.wide.u32 small.ptx:10 5+1",
		"10 101 data: small.ptx:10 6+4",
		"10 101 add.u64 small.ptx:11 10+1",
		"10 101 data: small.ptx:11 11+3",
		"10 101 ld.global.u32 small.ptx:12 14+1",
		fmt.Sprintf("10 101 data: small.ptx:12 15+%d", wait.Dur),
		fmt.Sprintf("10 101 st.global.u32 small.ptx:13 %d+1", 15+wait.Dur),
		fmt.Sprintf("10 101 ret small.ptx:14 %d+1", 16+wait.Dur),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	args := map[string]any{"cta": 0.0, "warp": 0.0, "instruction": "st.global.u32 [%p], %x;", "ptx": "small.ptx:13", "source": "small.ptx:13",
		"cause": "ld.global.u32 %x, [%p];", "cause ptx": "small.ptx:12", "cause source": "small.ptx:12"}
	if diff := cmp.Diff(args, wait.Args); diff != "" {
		t.Errorf("the wait for the load (-want +got):\n%s", diff)
	}
	// Four sectors are read. The launch ends when the store has left the multiprocessor, so that it is still on the way to the L2.
	if l2, requests := counters["sectors of the L2"].Args, counters["requests behind the L1"].Args; l2["clean"] != 4.0 || l2["dirty"] != 0.0 || requests["requests"] != 1.0 {
		t.Errorf("the L2 ends with %v, and %v", l2, requests)
	}
	if bytes < 127.5 || bytes > 128.5 {
		t.Errorf("memory transfers %v bytes, want 128", bytes)
	}
	if line.Omitted() != "" || f.Other["left out"] != "" {
		t.Errorf("%q is left out", line.Omitted())
	}
}

// TestOptions: a single launch, and a range of its cycles.
func TestOptions(t *testing.T) {
	c := clock(t, 1)
	line := timeline.New(c, timeline.Options{Launch: 2, From: 10, To: 12})
	runSmall(t, c, 3)
	var got []string
	for _, e := range read(t, line).Events {
		if e.Phase == "X" {
			got = append(got, fmt.Sprintf("%s %d+%d", e.Name, e.Time, e.Dur))
		}
	}
	want := []string{"launch 2 k 10+3", "CTA 0 10+3", "add.u64 small.ptx:11 10+1", "data: small.ptx:11 11+2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := line.Omitted(), "only cycles 10 to 12 are shown"; got != want {
		t.Errorf("left out: %q, want %q", got, want)
	}
	if line.Cycles() != c.Launches()[1].Cycles {
		t.Errorf("%d cycles, want %d", line.Cycles(), c.Launches()[1].Cycles)
	}
}

// TestLimits: a long timeline has the first multiprocessors, and the longest spans, and says so.
func TestLimits(t *testing.T) {
	part.SkipShort(t)
	c := clock(t, timeline.MaxSMs+1)
	line := timeline.New(c, timeline.Options{})
	w := kernels.Lookup("hotspot")
	r := stream.NewRecorder(c)
	r.RecordInstructions()
	s, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{r}}), 160)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
	spans, issues, samples := map[int]int{}, 0, 0
	for _, e := range read(t, line).Events {
		switch {
		case e.Phase == "X" && e.TID > 100:
			spans[e.PID]++
			if e.Cat == "issue" {
				issues++
			}
		case e.Phase == "C" && e.Name == "sectors of the L2":
			samples++
		}
	}
	if len(spans) != timeline.MaxSMs || issues != 0 || samples == 0 || samples > timeline.MaxSamples {
		t.Errorf("%d multiprocessors, %d issues, %d samples", len(spans), issues, samples)
	}
	for pid, n := range spans {
		if n == 0 || n > timeline.MaxSpans {
			t.Errorf("process %d has %d spans", pid, n)
		}
	}
	if got := line.Omitted(); !strings.HasPrefix(got, "4 of 5 multiprocessors are shown; ") || !strings.Contains(got, " spans shorter than ") {
		t.Errorf("left out: %q", got)
	}
}

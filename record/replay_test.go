package record_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gemu/internal/corpus"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/record"
)

// seen is what a consumer of the stream, and a probe of addresses, have received, as text.
type seen struct{ strings.Builder }

func (s *seen) BeginLaunch(l *stream.Launch) {
	fmt.Fprintf(s, "launch %d %s %v %v %v warps of %d, %d local lines, %d of shared memory, %v\n", l.ID, l.Kernel.Name, l.Grid, l.Block, l.Cluster, l.WarpSize, l.LocalLines, l.SharedBytes, l.Dispatch)
}

func (s *seen) CTA(l *stream.Launch, c *stream.CTA) {
	fmt.Fprintf(s, "CTA %d, %d meetings\n", c.Index, c.Meetings)
	for i := range c.Warps {
		w := &c.Warps[i]
		fmt.Fprintf(s, "%d instructions, meetings %v, requests %+v\n", w.Instructions, w.Meetings, w.Requests)
		for k := range w.Transactions {
			t := w.Transactions[k]
			b := l.Buffers[t.Buffer]
			t.Buffer = 0 // its number depends on the order of CTAs
			fmt.Fprintf(s, "%+v in %+v\n", t, b)
			if len(w.Contents) > 0 {
				fmt.Fprintf(s, "%+v\n", w.Contents[k])
			}
		}
	}
}

func (s *seen) EndLaunch(l *stream.Launch, err error) { fmt.Fprintf(s, "end: %v\n", err) }

// addForms adds the forms of a launch.
func (s *seen) addForms(_ *probe.LaunchInfo, list []locality.Form) {
	for _, f := range list {
		name := ""
		if f.Buffer != nil {
			name = f.Buffer.String()
		}
		f.Buffer = nil
		fmt.Fprintf(s, "%+v in %s\n", f, name)
	}
}

// TestReplay: the machine model gets the same requests, barriers and addresses from the recording of a program as from its execution.
func TestReplay(t *testing.T) {
	part.SkipShort(t)
	every, err := corpus.Programs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	isTried := part.Share(t, 1024, 256, 1)
	for i, p := range every {
		if !isTried(i) || strings.HasPrefix(p.String(), "insn/ld_behind_end.ptx") { // a recording does not have the end of local memory
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			var file bytes.Buffer
			r, err := record.NewRecorder(&file, record.Options{Contents: record.Contents{Accesses: true, Source: true}, MaxEvents: -1})
			if err != nil {
				t.Fatal(err)
			}
			want, got := &seen{}, &seen{}
			p.Run(func(l *interp.Launch) {
				l.Probes = []probe.Probe{r, stream.NewRecorder(want), locality.NewFitter(want.addForms)}
			})
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := record.Open("run.gemu", bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := record.Replay(t.Context(), f, false, stream.NewRecorder(got), locality.NewFitter(got.addForms)); err != nil {
				if want.Len() > 0 && !strings.Contains(err.Error(), "PTX of kernel") {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			a, b := strings.Split(want.String(), "\n"), strings.Split(got.String(), "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Fatalf("line %d: got\n%s\nwant\n%s", i, b[i], a[i])
				}
			}
			if len(a) != len(b) {
				t.Fatalf("%d lines, want %d", len(b), len(a))
			}
		})
	}
}

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
	"gemu/ptx"
	"gemu/record"
)

// seen is what a consumer of the stream, and a probe of addresses, have received, as text.
type seen struct{ strings.Builder }

func (s *seen) BeginLaunch(l *stream.Launch) {
	fmt.Fprintf(s, "launch %d %s %v %v %v warps of %d, %d local lines, %d of shared memory, %v\n", l.ID, l.Kernel.Name, l.Grid, l.Block, l.Cluster, l.WarpSize, l.LocalLines, l.SharedBytes, l.Dispatch)
}

func (s *seen) CTA(l *stream.Launch, c *stream.CTA) {
	fmt.Fprintf(s, "CTA %d, %d meetings, phases %v of %d CTAs\n", c.Index, c.Meetings, c.Cluster.Phases, c.Cluster.CTAs)
	for i := range c.Warps {
		w := &c.Warps[i]
		fmt.Fprintf(s, "%d instructions, meetings %v, phases %v, arrivals %v, requests %+v\n", w.Instructions, w.Meetings, w.Phases, w.Arrivals, w.Requests)
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

// effectProbe keeps the destination of the latest asynchronous write to global memory, and its bytes at the end of the launch.
type effectProbe struct {
	to   *probe.Allocation
	data []byte
}

func (*effectProbe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnEffect | probe.OnLaunchEnd}
}

func (p *effectProbe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *effectProbe) OnEvent(e *probe.Event) {
	switch {
	case e.Kind == probe.OnLaunchEnd:
		p.data = bytes.Clone(p.to.Data)
	case e.Effect.Writes:
		p.to = e.Effect.Segments[0].To
	}
}

// TestReplayOfReusedMemory: an asynchronous write to memory whose addresses belonged to another, freed allocation before goes to the
// allocation that is there now.
func TestReplayOfReusedMemory(t *testing.T) {
	const src = `
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.shared .align 16 .b32 s[4];
	.reg .u64 %o;
	ld.param.u64 %o, [out];
	st.shared.v4.u32 [s], {11, 12, 13, 14};
	fence.proxy.async.shared::cta;
	cp.async.bulk.global.shared::cta.bulk_group [%o+16], [s], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}`
	var file bytes.Buffer
	r, err := record.NewRecorder(&file, record.Options{Contents: record.Contents{Accesses: true, Memory: true, Source: true}})
	if err != nil {
		t.Fatal(err)
	}
	config := interp.Config{Probes: []probe.Probe{r}, SM: 90}
	if _, err := interp.NewDevice(config).Alloc(1 << 20); err != nil { // another device has memory at all addresses of the test
		t.Fatal(err)
	}
	dev := interp.NewDevice(config)
	mod, err := dev.Load("test.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	launch := func(out *interp.Buffer) {
		t.Helper()
		if _, err := mod.Launch(t.Context(), "k", ptx.Dim(1), ptx.Dim(1), out); err != nil {
			t.Fatal(err)
		}
	}
	first, err := dev.Alloc(32)
	if err != nil {
		t.Fatal(err)
	}
	// Each mapping makes the device forget the freed one before. So only the 16 addresses of the last one are not used again soon.
	begin := first.Addr() + 4096
	for i, size := range []int{1 << 16, 1 << 16, 16} {
		mapped, err := dev.Map(begin, make([]byte, size), "", interp.Permanent)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // a replay looks for memory while it knows this mapping, and only after the others are freed
			launch(first)
		}
		if err := mapped.Free(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := dev.Alloc(8192)
	if err != nil {
		t.Fatal(err)
	}
	if at := out.Addr() - begin; at >= 1<<16 {
		t.Fatalf("the buffer is at %#x: no address is used again", out.Addr())
	}
	launch(out)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := record.Open("run.gemu", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	p := &effectProbe{}
	if _, err := record.Replay(t.Context(), f, true, p); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 8192)
	for i := range 4 {
		want[16+4*i] = byte(11 + i)
	}
	if p.to.Base != out.Addr() || p.to.Freed || !bytes.Equal(p.data, want) {
		t.Errorf("the write goes to %s, which begins with %v", p.to, p.data[:min(48, len(p.data))])
	}
}

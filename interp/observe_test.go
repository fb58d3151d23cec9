package interp_test

// This file compares the events of a kernel with events derived by hand.

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	. "gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// recorder records events by CTA.
type recorder struct {
	buf   uint64 // address of the buffer, which the texts omit
	skip  func(index int) bool
	reads bool // subscribe to the registers that an instruction reads, too
	mu    sync.Mutex
	texts map[int][]string
}

func (r *recorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnCTAEnd, Values: r.reads, Results: !r.reads, Addresses: true}
}

func (r *recorder) OnEvent(*probe.Event) {}

func (r *recorder) CTA(_ *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	if r.skip != nil && r.skip(index) {
		return nil
	}
	return &watcher{r, index, []string{fmt.Sprint("begin ", id)}}
}

type watcher struct {
	*recorder
	index int
	lines []string
}

// OnEvent writes the warp, the line, the active lanes and the executing lanes, lane 0 first; then
// registers before, addresses, registers after.
func (w *watcher) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.texts == nil {
			w.texts = map[int][]string{}
		}
		w.texts[w.index] = append(w.lines, "end")
		return
	}
	s := fmt.Sprintf("w%d line %d %s %s", e.Warp, e.Instr.Pos.Line, mask(e.Active), mask(e.Lanes))
	values := func(list []probe.Value) {
		for _, v := range list {
			s += " " + e.Func.Regs[v.Reg].Name
			for lane := range 4 {
				if e.Lanes>>lane&1 != 0 {
					s += fmt.Sprintf(" %s", w.number(v.Low[lane]))
				}
			}
		}
	}
	values(e.Reads)
	for _, a := range e.Accesses {
		if a.Bytes != 4 {
			continue
		}
		s += fmt.Sprintf(" [%s", a.Space)
		for lane := range 4 {
			if e.Lanes>>lane&1 != 0 {
				s += " " + w.number(a.Addr[lane])
			}
		}
		s += "]"
	}
	if len(e.Writes) > 0 {
		s += " ->"
	}
	values(e.Writes)
	w.lines = append(w.lines, s)
}

// number writes addresses of the buffer as b+offset.
func (w *watcher) number(v uint64) string {
	if v >= w.buf && v < w.buf+1024 {
		return fmt.Sprintf("b+%d", v-w.buf)
	}
	return fmt.Sprint(v)
}

func mask(m uint64) string {
	var s strings.Builder
	for lane := range 4 {
		s.WriteByte("-x"[m>>lane&1])
	}
	return s.String()
}

// watchedKernel has lines whose numbers the expected events name.
const watchedKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 buf)
{
	.reg .u32 %t, %x;
	.reg .u64 %p;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [buf];
	mad.wide.u32 %p, %t, 4, %p;
	ld.global.u32 %x, [%p];
	setp.lt.u32 %q, %t, 2;
	@%q bra LOW;
	add.u32 %x, %x, 100;
	bra MEET;
LOW:
	add.u32 %x, %x, %t;
MEET:
	@!%q st.global.u32 [%p+64], %x;
	@%q exit;
	ret;
}
`

// watchedEvents are the expected events of a block of six threads in warps of four; the buffer has
// 0, 10, 20, …. Where the first warp diverges, the lanes that do not take the branch run first.
var watchedEvents = map[int][]string{
	0: {
		"w0 line 9 xxxx xxxx -> %t 0 1 2 3",
		"w0 line 10 xxxx xxxx -> %p b+0 b+0 b+0 b+0",
		"w0 line 11 xxxx xxxx %t 0 1 2 3 %p b+0 b+0 b+0 b+0 -> %p b+0 b+4 b+8 b+12",
		"w0 line 12 xxxx xxxx %p b+0 b+4 b+8 b+12 [global b+0 b+4 b+8 b+12] -> %x 0 10 20 30",
		"w0 line 13 xxxx xxxx %t 0 1 2 3 -> %q 1 1 0 0",
		"w0 line 14 xxxx xx--",
		"w0 line 15 --xx --xx %x 20 30 -> %x 120 130",
		"w0 line 16 --xx --xx",
		"w0 line 18 xx-- xx-- %x 0 10 %t 0 1 -> %x 0 11",
		"w0 line 20 xxxx --xx %p b+8 b+12 %x 120 130 [global b+72 b+76]",
		"w0 line 21 xxxx xx--",
		"w0 line 22 --xx --xx",
	},
	1: {
		"w1 line 9 xx-- xx-- -> %t 4 5",
		"w1 line 10 xx-- xx-- -> %p b+0 b+0",
		"w1 line 11 xx-- xx-- %t 4 5 %p b+0 b+0 -> %p b+16 b+20",
		"w1 line 12 xx-- xx-- %p b+16 b+20 [global b+16 b+20] -> %x 40 50",
		"w1 line 13 xx-- xx-- %t 4 5 -> %q 0 0",
		"w1 line 14 xx-- ----",
		"w1 line 15 xx-- xx-- %x 40 50 -> %x 140 150",
		"w1 line 16 xx-- xx--",
		"w1 line 20 xx-- xx-- %p b+16 b+20 %x 140 150 [global b+80 b+84]",
		"w1 line 21 xx-- ----",
		"w1 line 22 xx-- xx--",
	},
}

// TestEventsOfWarps compares the events of every CTA, warp by warp, with those derived
// by hand, in every mode.
func TestEventsOfWarps(t *testing.T) {
	type group struct {
		mode   Mode
		policy *affinetrack.Policy
	}
	groups := []group{{Vector, nil}}
	for _, p := range affinetrack.Policies {
		groups = append(groups, group{Check, p})
		groups = append(groups, group{Affine, p})
	}
	for _, w := range groups {
		name := w.mode.String()
		if w.policy != nil {
			name += " " + w.policy.Name
		}
		t.Run(name, func(t *testing.T) {
			var first map[int][]string
			for _, workers := range []int{1, 4} {
				mod, err := NewDevice(Config{Workers: workers}).Load("watched.ptx", []byte(watchedKernel))
				if err != nil {
					t.Fatal(err)
				}
				data := make([]uint32, 32)
				for i := range data {
					data[i] = uint32(10 * i)
				}
				b, err := NewBuffer(mod.Device(), data)
				if err != nil {
					t.Fatal(err)
				}
				r := &recorder{buf: b.Addr(), reads: true, skip: func(index int) bool { return index == 1 }}
				if _, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(3, 2), Block: ptx.Dim(6), WarpSize: 4, Args: []any{b}, Mode: w.mode, Policy: w.policy, Probes: []probe.Probe{r}}); err != nil {
					t.Fatal(err)
				}
				if len(r.texts) != 5 {
					t.Errorf("%d of 6 CTAs watched to the end, want all but one", len(r.texts))
				}
				for index, lines := range r.texts {
					if begin := fmt.Sprint("begin ", ptx.Dim3{X: index % 3, Y: index / 3}); lines[0] != begin || lines[len(lines)-1] != "end" {
						t.Errorf("CTA %d: from %q to %q, want from %q to end", index, lines[0], lines[len(lines)-1], begin)
					}
					warps := map[int][]string{}
					for _, line := range lines[1 : len(lines)-1] {
						var warp int
						fmt.Sscanf(line, "w%d", &warp)
						warps[warp] = append(warps[warp], line)
					}
					if diff := cmp.Diff(watchedEvents, warps); diff != "" {
						t.Fatalf("%d workers, CTA %d (-want +got):\n%s", workers, index, diff)
					}
				}
				if first == nil {
					first = r.texts
				} else if diff := cmp.Diff(first, r.texts); diff != "" {
					t.Errorf("1 and 4 workers, the order of warps (-1 +4):\n%s", diff)
				}
			}
		})
	}
}

// TestEventsWithResults compares the events of a subscription to results alone with the expected events, without the registers
// before the instruction.
func TestEventsWithResults(t *testing.T) {
	mod, err := NewDevice(Config{}).Load("watched.ptx", []byte(watchedKernel))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]uint32, 32)
	for i := range data {
		data[i] = uint32(10 * i)
	}
	b, err := NewBuffer(mod.Device(), data)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{buf: b.Addr()}
	if _, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(6), WarpSize: 4, Args: []any{b}, Probes: []probe.Probe{r}}); err != nil {
		t.Fatal(err)
	}
	want, got := map[int][]string{}, map[int][]string{}
	for warp, lines := range watchedEvents {
		for _, line := range lines {
			head := strings.Join(strings.Fields(line)[:5], " ")
			if i := strings.IndexAny(line, "[>"); i >= 0 {
				head += " " + strings.TrimPrefix(line[i-1:], " ")
			}
			want[warp] = append(want[warp], head)
		}
	}
	lines := r.texts[0]
	for _, line := range lines[1 : len(lines)-1] {
		var warp int
		fmt.Sscanf(line, "w%d", &warp)
		got[warp] = append(got[warp], line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

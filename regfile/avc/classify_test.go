package avc_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
	"gemu/ptx/spill"
	"gemu/regfile/avc"
)

// watcher counts classes in its own way: of the registers that spills load and store, and by trying
// all strides.
type watcher struct {
	mu     sync.Mutex
	counts map[string]*avc.Counts // by kernel
}

func (w *watcher) Wants() interp.Wants {
	return interp.Wants{Events: interp.OnAfter, Values: true}
}

func (w *watcher) Tell(*interp.Event) {}

func (w *watcher) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink { return watched{w} }

type watched struct{ *watcher }

func (w watched) Tell(e *interp.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := e.Launch.Kernel.Name
	if w.counts[name] == nil {
		w.counts[name] = &avc.Counts{}
	}
	n := w.counts[name]
	n.Instructions++
	if space, _ := e.Instr.Space(); space != ptx.Local || e.Lanes == 0 {
		return
	}
	values, to := e.Writes, &n.Loads
	if e.Instr.Form.Effects.Has(ptx.Writes) {
		values, to = e.Reads, &n.Stores
	}
	for i := range values {
		for k := range max(1, values[i].Type.Bits()/32) {
			var list []int64 // lane, word
			for lane := range avc.Lanes {
				if e.Lanes>>lane&1 != 0 {
					list = append(list, int64(lane), int64(uint32(values[i].Low[lane]>>(32*k))))
				}
			}
			class := naive(list)
			to[class]++
			if class == avc.Generic && anyStride(list) {
				n.AnyStride++
			}
			if class != avc.Generic && gaps(list) {
				n.NonDense++
			}
			if byXor(list) {
				n.Xor++
			}
		}
	}
}

// anyStride reports whether words lie on a line, modulo 2^32, by finding its stride bit by bit: of the
// strides that fit modulo 2^b, those that with or without bit b fit modulo 2^(b+1).
func anyStride(list []int64) bool {
	strides := []int64{0}
	for b := range 32 {
		var longer []int64
		for _, s := range strides {
			for _, s := range []int64{s, s | 1<<b} {
				fits := true
				for i := 0; i < len(list); i += 2 {
					fits = fits && (list[1]+(list[i]-list[0])*s-list[i+1])%(1<<(b+1)) == 0
				}
				if fits {
					longer = append(longer, s)
				}
			}
		}
		strides = longer
	}
	return len(strides) > 0
}

// gaps reports whether a lane between two of the list is not there.
func gaps(list []int64) bool {
	return list[len(list)-2]-list[0] != int64(len(list)/2-1)
}

// byXor is what the unit of section 5.2 finds: lanes 2i and 2i+1, the first such pair, give the stride.
func byXor(list []int64) bool {
	stride := int64(0)
	for i := 0; i+2 < len(list); i += 2 {
		if list[i]%2 == 0 && list[i+2] == list[i]+1 {
			stride = list[i+1] ^ list[i+3]
			break
		}
	}
	if !slices.Contains([]int64{0, 1, 2, 4, 8, 16, 32, 64}, stride) {
		return false
	}
	for i := 0; i < len(list); i += 2 {
		if (list[1]+(list[i]-list[0])*stride-list[i+1])&0xffffffff != 0 {
			return false
		}
	}
	return true
}

// naive is a class by the words of section 2.3.
func naive(list []int64) avc.Class {
	fits := func(s int64) bool {
		base := (list[1] - list[0]*s) & 0xffffffff
		for i := 0; i < len(list); i += 2 {
			if (base+list[i]*s)&0xffffffff != list[i+1] {
				return false
			}
		}
		return s == 0 || base%s == 0
	}
	switch {
	case fits(0) && list[1] == 0:
		return avc.Zero
	case fits(0):
		return avc.Uniform
	case slices.ContainsFunc([]int64{1, 2, 4, 8, 16, 32, 64}, fits):
		return avc.Affine
	}
	return avc.Generic
}

// TestIndependent compares the recorder's counts of spilled workloads with the watcher's, and replays
// them through every configuration: what was stored comes back.
func TestIndependent(t *testing.T) {
	for _, name := range []string{"sgemm", "srad", "nw", "kmeans"} {
		w := kernels.Lookup(name)
		m, err := ptx.ParseString(name+".ptx", w.PTX())
		if err != nil {
			t.Fatal(err)
		}
		src, _, err := spill.Module(t.Context(), m, 9)
		if err != nil {
			t.Fatal(err)
		}
		recorder, watcher := &avc.Recorder{Warps: 64}, &watcher{counts: map[string]*avc.Counts{}}
		dev := interp.NewDevice(interp.Config{Probes: []interp.Probe{recorder, watcher}})
		s, err := kernels.Start(t.Context(), w, dev, 33)
		if err != nil {
			t.Fatal(err)
		}
		if s.Module, err = dev.Load(name+".ptx", []byte(src)); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		for _, k := range recorder.Kernels() {
			got := k.Counts
			got.First, got.Global = [avc.Classes]int64{}, 0 // the watcher does not see them
			if diff := cmp.Diff(watcher.counts[k.Name], &got); diff != "" {
				t.Errorf("%s (-watcher +recorder):\n%s", k.Name, diff)
			}
			if k.Transactions() == 0 {
				t.Errorf("%s: nothing is spilled", k.Name)
			}
			for _, c := range avc.Configs {
				for _, schedule := range []avc.Schedule{{Regs: 9}, {Regs: 9, Greedy: true}, {Regs: 9, WarpByWarp: true}} {
					o, err := avc.Replay(k, c, schedule)
					if err != nil {
						t.Error(err)
						continue
					}
					if o.Lookups != o.AVCHits+o.L1Hits+o.Fills || o.Writes != o.AVCWrites+o.L1Writes || o.Reads+o.Replays != o.Lookups {
						t.Errorf("%s %+v: %+v", k.Name, c, o)
					}
				}
			}
		}
	}
}

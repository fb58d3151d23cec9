package papers

import (
	"math"
	"reflect"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/phases"
	"gemu/probe"
	"gemu/ptx"
)

// TestUse is a sequence worked out by hand: blocks of one warp with 4 registers and 64 bytes, on a multiprocessor of 32 registers in a warp's width and 256
// bytes. Block 0 is resident in cycles 0 to 899, block 1 in 100 to 499, and block 2 in 900 to 999 in the place of block 0.
func TestUse(t *testing.T) {
	accesses := &sharedRecorder{1, map[useWarp]*sharedWarp{}}
	o := &useObserver{accesses: accesses, progress: map[useWarp]*useProgress{}, limits: &occupancy.Limits{WarpSize: 32, FileSize: 1024, Shared: 256}, sms: 1}
	o.launch = &stream.Launch{LaunchInfo: &probe.LaunchInfo{SharedBytes: 64}}
	o.of, o.warps = 4, 1
	o.uses = []phases.RegisterNumbers{{0b0001}, {0b0110}, {0b1111}}
	o.beginEpochs()
	access := func(cta, step int, instr int32, at uint64, n int) {
		var set byteSet
		set.add(at, n)
		accesses.add(useWarp{0, cta, 0}, sharedAccess{step, instr, set})
	}
	issue := func(cta, slot int, instr int32, at int64) {
		o.Warp(&core.WarpSpan{CTA: cta, Slot: slot, From: at, To: at + 1, WarpState: core.WarpState{Reason: core.Issues, Instr: instr}})
	}
	access(0, 2, 1, 0, 8)
	access(0, 4, 1, 4, 8) // the third instruction is off in all lanes
	access(2, 1, 2, 60, 4)
	issue(0, 0, 0, 0)
	issue(0, 0, 1, 10) // registers 0, 1, 2 and bytes 0 to 7 of epoch 0
	issue(0, 0, 1, 20) // off: the same registers, and no bytes
	issue(1, 1, 0, 100)
	issue(1, 1, 0, 499) // register 0 of epoch 0
	o.CTA(&core.CTASpan{CTA: 1, Place: 1, From: 100, To: 500})
	issue(0, 0, 1, 700) // registers 1 and 2 and bytes 4 to 11 of epoch 1
	o.CTA(&core.CTASpan{CTA: 0, From: 0, To: 900})
	issue(2, 0, 2, 950) // registers 0 to 3 of the same place, and bytes 60 to 63
	o.CTA(&core.CTASpan{CTA: 2, From: 900, To: 1000})
	o.End(1000)
	for i, want := range [2][2]useCounts{
		{{3 + 1 + 4, 4 * (2 + 1), 2 * 32}, {4 + 1, 4 * 2, 32}},
		{{8 + 12, 64 * (2 + 1), 2 * 256}, {16, 64 * 2, 256}},
	} {
		for k := range want {
			if o.counts[i][k] != want[k] {
				t.Errorf("resource %d, epochs of %d cycles: %+v, want %+v", i, useEpochs[k], o.counts[i][k], want[k])
			}
		}
	}
	if len(accesses.warps) != 0 || len(o.progress) != 0 || o.err != nil {
		t.Errorf("%d and %d warps are kept, %v", len(accesses.warps), len(o.progress), o.err)
	}
	access(3, 2, 1, 0, 4)
	issue(3, 0, 1, 1000)
	o.CTA(&core.CTASpan{CTA: 3, From: 1000, To: 1001})
	if o.err == nil {
		t.Error("no error with an access left")
	}
	o.err = nil
	access(4, 1, 1, 0, 4)
	if issue(4, 0, 2, 1000); o.err == nil {
		t.Error("no error with an access of another instruction")
	}
}

// TestSharedSteps: an instruction whose guard is off in all lanes is a step of the recorder of accesses as of the machine. The kernel stores to
// other bytes in each pass of a loop, but not in the first.
func TestSharedSteps(t *testing.T) {
	const text = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<3>;
	.reg .pred %p<3>;
	.shared .b32 s[4];
	mov.u32 %r1, 0;
loop:
	setp.ne.u32 %p1, %r1, 0;
	shl.b32 %r2, %r1, 2;
	@%p1 st.shared.u32 [%r2], %r1;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p2, %r1, 3;
	@%p2 bra loop;
	ret;
}
`
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := &sharedRecorder{2, map[useWarp]*sharedWarp{}}
	if _, err := m.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Probes: []probe.Probe{r}}); err != nil {
		t.Fatal(err)
	}
	if len(r.warps) != 1 {
		t.Errorf("%d warps", len(r.warps))
	}
	for key, w := range r.warps {
		list := w.list
		if len(list) != 2 || list[0].step != 1+6+3 || list[1].step != 1+6+6+3 || list[0].bytes[0] != 0xf0 || list[1].bytes[0] != 0xf00 {
			t.Errorf("%+v", list)
		}
		if r.end(key); len(r.of(key)) != 2 {
			t.Error("the accesses are forgotten before the second machine has ended the warp")
		}
		if r.end(key); len(r.of(key)) != 0 {
			t.Error("the accesses are kept after both machines have ended the warp")
		}
	}
}

// TestCliffBlocks: 48 registers of 32 lanes are 1536 of the 16384 of a partition, so 10 warps fit there, and 40 on a multiprocessor: two blocks of 14 to 20
// warps. The 65536 registers of all partitions hold 42 warps: two blocks of 21, and not of 22. The thesis has two blocks of MST from 480 to 640 threads, and
// does not give the registers of a thread.
func TestCliffBlocks(t *testing.T) {
	if n := cliffBlocks(occupancy.LimitsOf(50)); n != [3]int{448, 640, 704} {
		t.Errorf("%d", n)
	}
}

// TestCliffModule: the largest phase of each kernel has the registers of a thread with the other systems, and the phases keep their ratios.
func TestCliffModule(t *testing.T) {
	for _, row := range cliffPrograms {
		w := kernels.Lookup(row.Workload)
		text, err := cliffModule(w)
		if err != nil {
			t.Fatal(err)
		}
		scaled, err := ptx.ParseString(w.Name, text)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := ptx.ParseString(w.Name, w.PTX())
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range scaled.Kernels() {
			to, err := phases.Divide(f, 0)
			if err != nil {
				t.Fatal(err)
			}
			from, err := phases.Divide(plain.Kernels()[i], 0)
			if err != nil {
				t.Fatal(err)
			}
			most := 0
			for n, p := range to.Phases {
				most = max(most, p.Registers)
				if ratio := float64(p.Registers) / float64(from.Phases[n].Registers); math.Abs(ratio*float64(from.Most.Registers)-cliffRegisters) >= float64(from.Most.Registers)/float64(from.Phases[n].Registers) {
					t.Errorf("%s: phase %d has %d registers, from %d of %d", f.Name, n, p.Registers, from.Phases[n].Registers, from.Most.Registers)
				}
			}
			if most != cliffRegisters || len(to.Phases) != len(from.Phases) {
				t.Errorf("%s: at most %d registers in %d phases", f.Name, most, len(to.Phases))
			}
		}
	}
}

// heldCTAs keeps the launches of a recorder.
type heldCTAs struct {
	launches []*stream.Launch
	ctas     map[*stream.Launch][]*stream.CTA
}

func (h *heldCTAs) BeginLaunch(l *stream.Launch) { h.launches = append(h.launches, l) }
func (h *heldCTAs) CTA(l *stream.Launch, c *stream.CTA) {
	h.ctas[l] = append(h.ctas[l], c)
}
func (h *heldCTAs) EndLaunch(*stream.Launch, error) {}

// TestFirstCTAs: launches have the CTAs of a whole recording up to the eighth, and a grid of these.
func TestFirstCTAs(t *testing.T) {
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	whole, first := &heldCTAs{ctas: map[*stream.Launch][]*stream.CTA{}}, &heldCTAs{ctas: map[*stream.Launch][]*stream.CTA{}}
	all, part := stream.NewRecorder(whole), firstCTAs{stream.NewRecorder(first)}
	all.RecordInstructions()
	part.RecordInstructions()
	const size = 1000 // variables: 4 blocks of 256 threads, and 17 for the clauses
	if err := m.run("caba/sp", size, func(*interp.Launch) {}, all, part); err != nil {
		t.Fatal(err)
	}
	if len(first.launches) != 8 || len(whole.launches) != 8 {
		t.Fatalf("%d and %d launches, want 8", len(first.launches), len(whole.launches))
	}
	for i, l := range first.launches {
		from := whole.ctas[whole.launches[i]]
		want := from[:min(len(from), cliffCTAs)]
		if n := l.Grid.Count(); n != len(want) || len(from) != []int{4, 17}[i%2] {
			t.Errorf("launch %d has a grid of %d of %d CTAs", i, n, len(from))
		}
		if !reflect.DeepEqual(first.ctas[l], want) {
			t.Errorf("launch %d: other CTAs than those of the whole recording", i)
		}
	}
}

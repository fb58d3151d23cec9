package kim

// This file replays the execution of kernels on machines.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// recordingMachine is a machine that keeps its input.
type recordingMachine struct {
	ctas          []*ctaRecord
	endedLaunches int
}

func (k *recordingMachine) runCTA(c *ctaRecord) int { k.ctas = append(k.ctas, c); return len(k.ctas) }
func (k *recordingMachine) endLaunch()              { k.endedLaunches++ }

// accessesPTX accesses memory so that the lines, words and banks are evident: an array that begins at a line, and shared memory
// that does, too.
const accessesPTX = `
.version 7.8
.target sm_80
.address_size 64
.const .u32 table[64];
.visible .entry accesses(.param .u64 a, .param .u32 n)
{
	.reg .u64 %p, %q, %s, %t;
	.reg .u32 %i, %v, %o, %w;
	.reg .pred %even;
	.shared .align 128 .u32 tile[1024];
	ld.param.u64 %p, [a];
	mov.u32 %i, %tid.x;
	mul.wide.u32 %q, %i, 4;
	add.u64 %q, %p, %q;
	ld.global.u32 %v, [%q];
	ld.global.u32 %v, [%q+4];
	mul.wide.u32 %s, %i, 128;
	add.u64 %s, %p, %s;
	ld.global.u32 %v, [%s];
	ld.global.u32 %v, [%p];
	atom.global.add.u32 %v, [%p], 1;
	mov.u32 %o, tile;
	mad.lo.u32 %w, %i, 4, %o;
	st.shared.u32 [%w], %v;
	mad.lo.u32 %w, %i, 64, %o;
	st.shared.u32 [%w], %v;
	ld.shared.u32 %v, [%o];
	atom.shared.add.u32 %v, [%o], 1;
	ld.const.u32 %v, [table];
	and.b32 %w, %i, 1;
	setp.eq.u32 %even, %w, 0;
	bar.sync 0;
	@%even bra DONE;
	add.u32 %i, %i, 1;
DONE:
	ret;
}
`

// run runs a kernel of PTX under a replay.
func run(t *testing.T, r *Replay, text, kernel string, workers int, grid, block ptx.Dim3, args ...any) *interp.Result {
	t.Helper()
	dev := interp.NewDevice(interp.Config{Workers: workers})
	m, err := dev.Load(kernel+".ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range args {
		if words, ok := a.([]uint32); ok {
			if args[i], err = interp.NewBuffer(dev, words); err != nil {
				t.Fatal(err)
			}
		}
	}
	result, err := m.Run(t.Context(), &interp.Launch{
		Kernel: kernel, Grid: grid, Block: block, Args: args, Probes: []probe.Probe{r},
		Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Structure: true, Policy: r.policy,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestAccessRecords: the records of accesses, as counted by hand.
func TestAccessRecords(t *testing.T) {
	type access struct{ lines, bankCycles, bytes int }
	// Loads: a parameter; 32 words of a whole line of 128 bytes; 32 words from the second on; 32 lines; a single word. Then
	// an atomic on this word; stores to 32 words, two in each of 16 banks; to 32 words of a single bank; of all lanes to a
	// word; an atomic on it; a constant.
	for _, c := range []struct {
		name string
		line uint64
		want []access
	}{
		{"GP-SIMT", gpLine, []access{{0, 1, 256}, {1, 0, 128}, {2, 0, 128}, {32, 0, 128}, {1, 0, 128}, {32, 0, 128}, {0, 2, 128}, {0, 32, 128}, {0, 1, 128}, {0, 32, 128}, {0, 1, 128}}},
		// Eight lanes at a time: two of a parameter's words for each; a line; seven words of a line and one of the next, in
		// banks that serve one each; addresses 4 lines apart, in two of the 8 banks; a word for all; an atomic for each;
		// lines; addresses two lines apart, in four banks; a word; an atomic for each; a word.
		{"FG-SIMT", fgLine, []access{{1, 8, 256}, {4, 4, 128}, {5, 28, 128}, {32, 16, 128}, {1, 4, 128}, {1, 32, 128}, {4, 4, 128}, {32, 8, 128}, {1, 4, 128}, {1, 32, 128}, {1, 4, 128}}},
	} {
		r, k := newReplay(affinetrack.PolicyByName("kim"), c.line), &recordingMachine{}
		r.machines = []machine{k}
		r.CountRegisters = func(l *probe.LaunchInfo) int { return len(l.Kernel.Name) - 3 } // accesses: 5
		run(t, r, accessesPTX, "accesses", 1, ptx.Dim(1), ptx.Dim(40), make([]uint32, 4096), 1)
		if len(k.ctas) != 1 || k.endedLaunches != 1 {
			t.Fatalf("%s: %d CTAs, %d launches", c.name, len(k.ctas), k.endedLaunches)
		}
		cta := k.ctas[0]
		// mul.wide.u32 %q, %i, 4: a 32-bit register, and a 64-bit register, also in the next bank; tile and no dynamic
		// shared memory.
		if instr := &cta.program[2]; len(instr.reads) != 1 || instr.reads[0].banks != 1 || len(instr.writes) != 1 || instr.writes[0].banks != 2 || instr.latency != longLatency || instr.unit != arithmeticUnit {
			t.Errorf("%s: mul.wide is %+v", c.name, instr)
		}
		for w, groups := range []uint8{4, 1} {
			if got := cta.warps[w].records[0].groups; got != groups {
				t.Errorf("%s: warp %d has %d groups of eight lanes, want %d", c.name, w, got, groups)
			}
		}
		waits := 0
		for i := range cta.program {
			if instr := &cta.program[i]; instr.waits && instr.control {
				waits++
			}
		}
		if waits != 1 {
			t.Errorf("%s: %d branches wait for a predicate, want one", c.name, waits)
		}
		if cta.allocated != 2*32*8 { // rounded up to a multiple of 4
			t.Errorf("%s: %d registers are allocated, want 512", c.name, cta.allocated)
		}
		if cta.shared != 4096 {
			t.Errorf("%s: %d bytes of shared memory, want those of tile", c.name, cta.shared)
		}
		if diff := cmp.Diff([]int{2}, cta.barriers); diff != "" {
			t.Errorf("%s: meetings (-want +got):\n%s", c.name, diff)
		}
		var got []access
		for i := range cta.warps[0].records {
			if rec := &cta.warps[0].records[i]; rec.flags&isBarrier == 0 && cta.program[rec.instr].unit == memoryUnit {
				got = append(got, access{int(rec.lines), int(rec.bankCycles), int(rec.bytes)})
			}
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(access{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestFlagsOfThreshold: the affine results of the policy in threshold.ptx (docs/value-structure.md walks through it), and
// the origins of operands: the product has a loaded value and a parameter.
func TestFlagsOfThreshold(t *testing.T) {
	r, k := newReplay(affinetrack.PolicyByName("kim"), gpLine), &recordingMachine{}
	r.machines = []machine{k}
	run(t, r, kernels.Lookup("threshold").PTX(), "ex_gpsimt_kernel", 1, ptx.Dim(1), ptx.Dim(32), make([]uint32, 32), 3)
	w, program := k.ctas[0].warps[0], k.ctas[0].program
	compact, product := 0, -1
	for i := range w.records {
		instr := &program[w.records[i].instr]
		if w.records[i].flags&isCompact != 0 {
			compact++
		}
		if instr.latency == longLatency && w.records[i].flags&isCompact == 0 {
			product = i
		}
	}
	// Two parameters; cvta, mov of the block's size and index and of the thread's; mad, shl, add.
	if compact != 9 {
		t.Errorf("%d instructions are compact, want 9", compact)
	}
	if product < 0 || w.records[product].compact != 2 {
		t.Errorf("the product: record %d, %+v, want its second operand compact", product, w.records)
	}
}

// small are workloads at sizes that take a moment, with barriers, loops, divergence, atomics and expansions.
var small = []struct {
	name string
	size int
}{{"sgemm", 32}, {"bsearch", 64}, {"kmeans", 64}, {"kmeansum", 64}, {"dither", 32}, {"conv", 512}, {"rsort", 256}, {"bfs", 256}}

// replayed runs a workload under a replay.
func replayed(t *testing.T, r *Replay, name string, size int, reconverge string, workers int) *structure.Structure {
	t.Helper()
	w := kernels.Lookup(name)
	s, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Workers: workers}), size)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) {
		l.Probes, l.Mode, l.Reconverge = append(l.Probes, r), interp.Vector, interp.ReconvergerNamed(reconverge)
	}
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
	return r.Structure()
}

// TestInvariantsOfMachines: machines execute all instructions; they take at least the cycles of their busiest unit; affine
// execution takes at most its materialisations more of the units, and reads and writes no more banks; caches have no more
// misses than requests. The policy changes nothing else in the execution.
func TestInvariantsOfMachines(t *testing.T) {
	for _, w := range small {
		t.Run(w.name, func(t *testing.T) {
			var machines []*GPMachine
			for _, lanes := range []int{8, 16, 32} {
				for _, memory := range []bool{false, true} {
					for _, affine := range []bool{false, true} {
						c := NewGPConfig(lanes, affine)
						c.Memory = memory
						machines = append(machines, NewGPMachine(c))
					}
				}
			}
			s := replayed(t, GPReplay(affinetrack.PolicyByName("kim"), machines...), w.name, w.size, "stack", 1)
			u, all := ComputeUse(s), s.Total()
			for i, m := range machines {
				n, c := m.Time(), m.GPConfig
				name := fmt.Sprintf("%d lanes, affine %v, memory %v", c.Lanes, c.Affine, c.Memory)
				if n.Issued != all.Execs {
					t.Errorf("%s: %d instructions of %d", name, n.Issued, all.Execs)
				}
				if bound := c.GPSIMT.Cycles(u) / float64(c.SMs); float64(n.Cycles) < bound {
					t.Errorf("%s: %d cycles, less than the %g of the busiest unit", name, n.Cycles, bound)
				}
				if n.BusyCycles > n.Issues || n.Issued > gpIssue*n.BusyCycles || n.L1Misses > n.Lines || n.L2Misses > n.Lines || !c.Memory && n.L2Misses > 0 {
					t.Errorf("%s: %+v", name, n)
				}
				if !c.Affine {
					if n.Affine != 0 {
						t.Errorf("%s: %d affine", name, n.Affine)
					}
					continue
				}
				base := machines[i-1].Time()
				if most := base.Arithmetic + 32/int64(c.Lanes)*all.Materialisations; n.Arithmetic > most || n.Special > base.Special || n.Memory != base.Memory || n.Lines != base.Lines {
					t.Errorf("%s: %+v, and without affine execution %+v", name, n, base)
				}
				if n.Affine == 0 || n.BankReads > base.BankReads || n.BankWrites > base.BankWrites {
					t.Errorf("%s: %+v, and without affine execution %+v", name, n, base)
				}
			}
			var engines []*FGMachine
			for _, f := range []FGSIMT{{}, {Arithmetic: true}, {Arithmetic: true, Branches: true}, {Arithmetic: true, Branches: true, Memory: true}} {
				engines = append(engines, NewFGMachine(NewFGConfig(f)))
			}
			s = replayed(t, FGReplay(affinetrack.PolicyByName("fgsimt"), engines...), w.name, w.size, "pc2", 1)
			u, all = ComputeUse(s), s.Total()
			u.Branches, u.Decided = 0, 0 // the bound waits for each; comparisons may be long over
			shared := int64(0)
			for i := range s.Instrs {
				instr := &s.Instrs[i]
				if space, _ := instr.Space(); space == ptx.Param && instr.Form.Affine == ptx.AffineLoad {
					shared += instr.Compact
				}
			}
			for i, m := range engines {
				n, use := m.Time(), u
				if i > 0 {
					use.Loads -= shared // on the control processor
				}
				if n.Issued != all.Execs {
					t.Errorf("%+v: %d instructions of %d", m.FGSIMT, n.Issued, all.Execs)
				}
				if bound := m.FGSIMT.Cycles(use); float64(n.Cycles) < bound {
					t.Errorf("%+v: %d cycles, less than the %g of the busiest unit", m.FGSIMT, n.Cycles, bound)
				}
				if i > 0 {
					before := engines[i-1].Time()
					most := before.Arithmetic
					if i == 1 {
						most += fgGroups * all.Materialisations
					}
					if n.Arithmetic > most || n.Memory > before.Memory || n.Affine < before.Affine {
						t.Errorf("%+v: %+v, and with less affine execution %+v", m.FGSIMT, n, before)
					}
				}
			}
		})
	}
}

// TestRecordsAddUp: the records of instructions add up to the policy's counts.
func TestRecordsAddUp(t *testing.T) {
	type counts struct{ execs, compact, suppressed, expansions, decided, vectors int64 }
	seen := counts{}
	for _, policy := range []string{"kim", "fgsimt"} {
		for _, w := range small {
			r, k := newReplay(affinetrack.PolicyByName(policy), gpLine), &recordingMachine{}
			r.machines = []machine{k}
			s := replayed(t, r, w.name, w.size, "stack", 1)
			all := s.Total()
			want, got := counts{all.Execs, all.Compact, all.Suppressed, all.Materialisations, all.Decided, 0}, counts{}
			for i := range s.Instrs {
				if instr := &s.Instrs[i]; instr.Form.Affine == ptx.AffineLoad {
					want.vectors += instr.Addresses.Affine
				}
			}
			for _, c := range k.ctas {
				for i := range c.warps {
					for _, rec := range c.warps[i].records {
						if rec.flags&isBarrier != 0 {
							continue
						}
						got.execs++
						got.expansions += int64(rec.materialises)
						for f, n := range map[flags]*int64{isCompact: &got.compact, isSuppressed: &got.suppressed, isDecided: &got.decided, isVector: &got.vectors} {
							if rec.flags&f != 0 {
								*n++
							}
						}
					}
				}
			}
			if got != want {
				t.Errorf("%s under %s: %+v, want %+v", w.name, policy, got, want)
			}
			seen.suppressed, seen.expansions, seen.decided, seen.vectors = seen.suppressed+want.suppressed, seen.expansions+want.expansions, seen.decided+want.decided, seen.vectors+want.vectors
		}
	}
	if seen.suppressed == 0 || seen.expansions == 0 || seen.decided == 0 || seen.vectors == 0 {
		t.Errorf("%+v: some have nothing of it", seen)
	}
}

// TestCrossedBarriers: warps that meet at two barriers in opposite orders, and lanes of a warp that wait at a barrier
// twice, as a program may, do not deadlock.
func TestCrossedBarriers(t *testing.T) {
	c := &recorder{cta: ctaRecord{warps: make([]warp, 2)}, last: make([]int, 2)}
	for _, w := range []struct{ warp, barrier int }{{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {1, probe.ClusterBarrier}} {
		c.recordBarrier(&probe.Event{Warp: w.warp, Wait: probe.WaitState{Barrier: w.barrier}})
	}
	if diff := cmp.Diff([]int{1, 2}, c.cta.barriers); diff != "" {
		t.Errorf("meetings (-want +got):\n%s", diff)
	}
	if n := NewGPConfig(16, false); gp(n, &c.cta).Cycles != 0 {
		t.Error("they take time")
	}
}

// TestTimesDoNotDependOnWorkers: times do not depend on the threads of the host, because machines receive CTAs in a single
// order.
func TestTimesDoNotDependOnWorkers(t *testing.T) {
	if !GPReplay(affinetrack.PolicyByName("kim")).Subscription().InOrder {
		t.Error("CTAs may end in any order")
	}
	var want Time
	for _, workers := range []int{1, 2, 5} {
		c := NewGPConfig(16, true)
		c.Memory = true
		m := NewGPMachine(c)
		replayed(t, GPReplay(affinetrack.PolicyByName("kim"), m), "bfs", 512, "stack", workers)
		if workers == 1 {
			want = m.Time()
		} else if got := m.Time(); got != want {
			t.Errorf("%d threads: %+v, want %+v", workers, got, want)
		}
	}
}

// TestRecordsHeldAreBounded: a launch of many CTAs never keeps more records than a machine has room for, and none at
// its end.
func TestRecordsHeldAreBounded(t *testing.T) {
	m, one := NewGPMachine(NewGPConfig(16, false)), NewGPMachine(func() GPConfig { c := NewGPConfig(8, true); c.CTAs = 1; return c }())
	r := GPReplay(affinetrack.PolicyByName("kim"), m, one)
	const ctas, room = 3000, 4 * gpWarps / 2
	run(t, r, kernels.Lookup("threshold").PTX(), "ex_gpsimt_kernel", 1, ptx.Dim(ctas), ptx.Dim(64), make([]uint32, 64*ctas), 3)
	if r.maxKeptCTAs != room {
		t.Errorf("%d CTAs of two warps were kept at a time, want %d", r.maxKeptCTAs, room)
	}
	if m.Time().Issued != 15*2*ctas {
		t.Errorf("%d instructions of %d", m.Time().Issued, 15*2*ctas)
	}
	for _, m := range []*GPMachine{m, one} {
		for i := range m.sms {
			for k := range m.sms[i].warps {
				if w := &m.sms[i].warps[k]; w.warp != nil || w.cta != nil {
					t.Fatalf("multiprocessor %d still has warp %d", i, k)
				}
			}
		}
	}
	if len(r.launches) != 0 {
		t.Errorf("%d launches are kept", len(r.launches))
	}
}

// TestLatencyIsHidden: 48 warps load a line each and use it. Loads start in cycles 2, 4 … 96; the data are there 140
// later; the last is used at 236, read in 237, its lanes in 238 and 239, written in 243. A warp alone takes 2 + 140 +
// 8.
func TestLatencyIsHidden(t *testing.T) {
	c := NewGPConfig(16, false)
	c.Memory, c.LineCycles = true, 0
	load := executions(loadR7, useR7)
	load[0].bankCycles = 0
	warps := inCTA(repeatWarps(gpWarps, load)...)
	for i := range warps.warps {
		warps.warps[i].lines = []uint32{uint32(i)}
	}
	if n := gp(c, warps).Cycles; n != 244 {
		t.Errorf("48 warps take %d cycles, want 244", n)
	}
	if n := gp(c, inCTA(slices.Clone(load))).Cycles; n != 150 {
		t.Errorf("a warp takes %d cycles, want 150", n)
	}
	// Two controllers that transfer a line in 6 cycles: four lines belong to the first, and the next four to the second.
	// The first request is in cycle 2; the 24 lines of the first are transferred in 2, 8 …, and the second's from 10 on;
	// its last transfer is in 10 + 23·6 = 148, ready in 288. Its use by warp 47 reads r7 in bank 54 modulo 16 = 6, and not in
	// 289: warp 46 writes r8 in this bank then, after its data in 282. So it is written in 296.
	c.LineCycles = 6
	if n := gp(c, warps).Cycles; n != 297 {
		t.Errorf("48 warps take %d cycles with a limit of bandwidth, want 297", n)
	}
}

// TestWakeBeyondTheWheel: a warp wakes beyond the horizon of a wheel, while a warp on another multiprocessor issues all
// the time.
func TestWakeBeyondTheWheel(t *testing.T) {
	for _, frontEnd := range []int64{1, 2, 4} {
		c := NewGPConfig(16, false)
		c.Memory, c.DRAM, c.FrontEnd = true, 5000, frontEnd
		want := int64(2 + 5020)
		want += -want & (frontEnd - 1) // the use waits for a cycle of the front end
		want += 8                      // written in the last of these
		want += -want & (frontEnd - 1) // and so does the end
		const jumps = 1200
		n := gp(c, inCTA(executions(loadR7, useR7)), inCTA(executions(slices.Repeat([]uint32{jumpInstr}, jumps)...)))
		if n.Cycles != want || n.BusyCycles != want/frontEnd+jumps {
			t.Errorf("front end %d: %d cycles, want %d; busy for %d, want %d", frontEnd, n.Cycles, want, n.BusyCycles, want/frontEnd+jumps)
		}
	}
}

// TestPortsOfBanks compares banks with a list of the cycles in which each was taken.
func TestPortsOfBanks(t *testing.T) {
	var p ports
	taken := map[[2]int64]bool{}
	state := uint32(1)
	random := func(n uint32) int64 { state = state*1664525 + 1013904223; return int64(state >> 8 % n) }
	for now := int64(0); now < 6000; now += 1 + random(90)/60*random(700) {
		p.advance(now)
		for range 3 {
			bank, from := random(3), now+random(200)
			want := from
			for taken[[2]int64{bank, want}] {
				want++
			}
			taken[[2]int64{bank, want}] = true
			if got := p.reserve(int(bank), from); got != want {
				t.Fatalf("bank %d from %d on: %d, want %d", bank, from, got, want)
			}
		}
	}
	if got := p.reserve(0, p.now+5*horizon); got != p.now+5*horizon {
		t.Errorf("beyond the horizon: %d", got)
	}
}

// TestCacheEviction: with five lines in a set of four, the least recently used line is evicted; a written line is dirty
// at its eviction.
func TestCacheEviction(t *testing.T) {
	c := newLineCache(2, 4, MSHRs{})
	left, leftDirty := []uint64(nil), false
	access := func(line uint32) (l *cachedLine, hit bool) {
		return c.access(line, func(line uint64, old *cachedLine) { left, leftDirty = append(left, line), old.dirty })
	}
	for i, line := range []uint32{0, 2, 4, 6, 0} {
		if l, hit := access(line); hit != (i == 4) {
			t.Errorf("line %d: hit %v", line, hit)
		} else if line == 2 {
			l.dirty = true
		}
	}
	if _, hit := access(1); hit {
		t.Error("line 1 is in another set, and was there")
	}
	if _, hit := access(8); hit || !slices.Equal(left, []uint64{2}) || !leftDirty {
		t.Errorf("line 8 is there: %v, and %v are gone, dirty: %v, want line 2, dirty", hit, left, leftDirty)
	}
	if _, hit := access(0); !hit {
		t.Error("line 0 is gone")
	}

	// The same through a machine: a load misses; a second of the warp hits; a store goes through and leaves nothing in the
	// L1; the load after it misses there only.
	config := NewGPConfig(16, false)
	config.Memory = true
	list := executions(loadR7, loadR7, storeR8, loadR7)
	w := inCTA(list)
	w.warps[0].lines = []uint32{5, 5, 9, 9}
	n := gp(config, w)
	if n.Lines != 4 || n.L1Misses != 2 || n.L2Misses != 2 {
		t.Errorf("%+v, want 2 misses in each of the caches", n)
	}
}

package systems

import (
	"fmt"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// clocks runs a workload on machines with a clock, one multiprocessor of a GTX 480 with each of some systems, and returns their launches.
func clocks(t *testing.T, workload string, size, registers int, names ...string) (list [][]*core.Launch) {
	t.Helper()
	var all []*machine.Clock
	var consumers stream.Consumers
	for _, name := range names {
		spec, _ := machine.Find("gtx480")
		var err error
		spec.SMs, spec.Registers = 1, machine.EstimateRegisters()
		if name != "" {
			if spec.Systems, err = Find(name, nil); err != nil {
				t.Fatal(err)
			}
		}
		c, err := machine.NewClock(spec, registers)
		if err != nil {
			t.Fatal(err)
		}
		all, consumers = append(all, c), append(consumers, c)
	}
	r := stream.NewDataRecorder(consumers)
	r.RecordInstructions()
	run(t, workload, size, r)
	for i, c := range all {
		if err := c.Err(); err != nil {
			t.Errorf("%s with %s: %v", workload, names[i], err)
		}
		list = append(list, c.Launches())
	}
	return list
}

// TestWarpResources: resources for blocks give the cycles of the machine without a system; with each system all instructions are executed, sets of registers
// are accessed as often as without memory, and a kernel has more schedulable warps with noswap than with blocks if registers limit it.
func TestWarpResources(t *testing.T) {
	for _, w := range []struct {
		name            string
		size, registers int
	}{{"nqueens", 7, 0}, {"reduce", 1 << 13, 60}, {"hotspot", 32, 0}} {
		list := clocks(t, w.name, w.size, w.registers, "", "static", "wlm", "zorua", "zorua=noswap")
		for i, base := range list[0] {
			if base.Resources != nil || list[1][i].Cycles != base.Cycles || list[1][i].Counts != base.Counts {
				t.Errorf("%s: %d cycles with blocks, want %d", w.name, list[1][i].Cycles, base.Cycles)
			}
			for _, l := range list[1:] {
				if l[i].Instructions != base.Instructions || l[i].Resources.Cycles > l[i].Cycles || l[i].Resources.Schedulable > 64*l[i].Resources.Cycles {
					t.Errorf("%s: %d instructions, want %d; %+v", w.name, l[i].Instructions, base.Instructions, l[i].Resources)
				}
			}
			if a, b := list[3][i].Resources, list[4][i].Resources; a.Registers.Accesses != b.Registers.Accesses || a.Registers.Accesses == 0 {
				t.Errorf("%s: %d accesses to registers with memory, %d without", w.name, a.Registers.Accesses, b.Registers.Accesses)
			}
			if w.name == "reduce" && list[4][i].Resources.Warps() <= list[1][i].Resources.Warps() {
				t.Errorf("%s: %.1f schedulable warps with phases, %.1f with blocks", w.name, list[4][i].Resources.Warps(), list[1][i].Resources.Warps())
			}
		}
	}
}

// TestAssistsWithWarpResources: with resources for blocks a machine with assist warps has its cycles; with resources for warps and sets in memory, too, all
// instructions are executed, and the assist warps of all compressible lines.
func TestAssistsWithWarpResources(t *testing.T) {
	list := clocks(t, "pathfinder", 1000, 0, "caba=bdi", "caba=bdi+static", "caba=bdi+wlm", "caba=bdi+zorua", "caba=bdi+zorua=noswap", "caba=hw", "caba=hw+static", "caba=hw+zorua")
	moved := int64(0)
	for i, base := range list[0] {
		if l := list[1][i]; l.Cycles != base.Cycles || l.Counts != base.Counts {
			t.Errorf("%d cycles with assist warps and blocks, want %d", l.Cycles, base.Cycles)
		}
		if l, hw := list[6][i], list[5][i]; l.Cycles != hw.Cycles || l.Counts != hw.Counts {
			t.Errorf("%d cycles with dedicated logic and blocks, want %d", l.Cycles, hw.Cycles)
		}
		for k, l := range list[1:] {
			if l[i].Instructions != base.Instructions || k < 4 && (l[i].AssistFills == 0 || l[i].AssistStores+l[i].RawStores != base.AssistStores+base.RawStores) {
				t.Errorf("machine %d: %+v, want as %+v", k+1, l[i].Counts, base.Counts)
			}
		}
		moved += list[3][i].Resources.Spilled
	}
	if moved == 0 {
		t.Error("no set has moved to memory")
	}
}

// TestManyRegisters: a kernel whose warps need more registers than the table has for each, and whose warps wait for each other, ends: with as many blocks as
// the table has entries for, and with a block that needs more than the table has. 512 threads have at most 63 registers each on this machine, as a
// compiler would limit them. A block that does not fit with its registers is an error; with the 30 registers of --regs it fits.
func TestManyRegisters(t *testing.T) {
	for _, test := range []struct {
		registers, threads int
		given              int // registers of a thread; 0: estimated
		want               string
	}{{98, 512, 0, ""}, {200, 1024, 30, ""}, {200, 1024, 0, "a block of 1024 threads with 63 registers and 0 bytes of shared memory does not fit"}} {
		text := fmt.Sprintf(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %%x<%d>;\n\tmov.u32 %%x0, %%tid.x;\n", test.registers)
		for i := 1; i < test.registers; i++ {
			text += fmt.Sprintf("\tmad.lo.u32 %%x%d, %%x%d, 3, %d;\n", i, i-1, i)
		}
		text += "\tbar.sync 0;\n"
		for i := test.registers - 1; i > 0; i-- {
			text += fmt.Sprintf("\tadd.u32 %%x0, %%x0, %%x%d;\n", i)
		}
		d := interp.NewDevice(interp.Config{})
		defer d.Close()
		m, err := d.Load("k.ptx", []byte(text+"\tret;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		spec, _ := machine.Find("gtx480")
		spec.SMs, spec.Registers = 1, machine.EstimateRegisters()
		if spec.Systems, err = Find("zorua", nil); err != nil {
			t.Fatal(err)
		}
		c, err := machine.NewClock(spec, test.given)
		if err != nil {
			t.Fatal(err)
		}
		r := stream.NewRecorder(c)
		r.RecordInstructions()
		if _, err := m.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(6), Block: ptx.Dim(test.threads), Probes: []probe.Probe{r}}); err != nil {
			t.Fatal(err)
		}
		if test.want != "" {
			if err := c.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%d registers: %v, want %q", test.registers, err, test.want)
			}
			continue
		}
		if err := c.Err(); err != nil || c.Launches()[0].Resources.Spilled == 0 {
			t.Errorf("%d registers: %v, %+v", test.registers, err, c.Launches()[0].Resources)
		}
	}
}

// TestWarpResourcesErrors: wrong values of the systems.
func TestWarpResourcesErrors(t *testing.T) {
	for text, want := range map[string]string{"wlm=1": "wlm has no values", "zorua=1": "want zorua or zorua=noswap", "zorua+wlm": "zorua and wlm both replace the resources of warps: leave one of them out"} {
		if _, err := Find(text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// schedulableSpans adds up the cycles of warps that neither wait at a barrier nor for resources, as a timeline sees them. In the cycle in which the last
// warp comes to a barrier the others do not wait there any more, but are not schedulable yet. A warp that waits for its last result is schedulable in the cycle in which
// the result comes and the warp ends; its span ends before.
type schedulableSpans struct {
	cycles int64
	before [64]core.Reason // of each slot
}

func (o *schedulableSpans) Begin(*stream.Launch, int64) {}
func (o *schedulableSpans) CTA(*core.CTASpan)           {}
func (o *schedulableSpans) Cycle(int64)                 {}
func (o *schedulableSpans) End(int64)                   {}
func (o *schedulableSpans) Warp(w *core.WarpSpan) {
	if w.Reason != core.WaitsForBarrier && w.Reason != core.WaitsForResources {
		o.cycles += w.To - w.From
		if o.before[w.Slot] == core.WaitsForBarrier {
			o.cycles--
		}
		if w.Instr < 0 {
			o.cycles++
		}
	}
	o.before[w.Slot] = w.Reason
}

// TestSchedulableWarps counts the schedulable warps again, from the spans of an observer, which knows nothing of coordinators.
func TestSchedulableWarps(t *testing.T) {
	for _, system := range []string{"static", "wlm", "zorua"} {
		spec, _ := machine.Find("gtx480")
		spec.SMs, spec.Registers = 1, machine.EstimateRegisters()
		var err error
		if spec.Systems, err = Find(system, nil); err != nil {
			t.Fatal(err)
		}
		c, err := machine.NewClock(spec, 0)
		if err != nil {
			t.Fatal(err)
		}
		spans := &schedulableSpans{}
		c.Observer = spans
		r := stream.NewRecorder(c)
		r.RecordInstructions()
		run(t, "nqueens", 8, r)
		all := core.ResourceCounts{}
		for _, l := range c.Launches() {
			all.Add(l.Resources)
		}
		if err := c.Err(); err != nil || all.Schedulable != spans.cycles {
			t.Errorf("%s: %d cycles of schedulable warps, %d in the spans, %v", system, all.Schedulable, spans.cycles, err)
		}
	}
}

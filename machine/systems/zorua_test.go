package systems

import (
	"context"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/probe"
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
	r := stream.NewRecorder(consumers)
	r.RecordInstructions()
	w := kernels.Lookup(workload)
	session, err := kernels.Start(context.Background(), w, interp.NewDevice(interp.Config{Probes: []probe.Probe{r}}), size)
	if err == nil {
		err = w.Run(session)
	}
	if err != nil {
		t.Fatal(err)
	}
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

// TestWarpResourcesErrors: wrong values of the systems.
func TestWarpResourcesErrors(t *testing.T) {
	for text, want := range map[string]string{"wlm=1": "wlm has no values", "zorua=1": "want zorua or zorua=noswap", "zorua+wlm": "zorua and wlm both replace the resources of warps: leave one of them out"} {
		if _, err := Find(text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

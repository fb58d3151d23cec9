package systems

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/assist"
	"gemu/machine/codec"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// cabaClocks runs a workload on the machine of the paper with each of some designs, "" for none. It returns the clocks in their order, and
// the bursts of the machine without a clock.
func cabaClocks(t *testing.T, workload string, size int, designs ...string) (list []*machine.Clock, unclocked machine.BurstCounts) {
	t.Helper()
	var consumers stream.Consumers
	spec, _ := machine.Find("caba")
	for _, name := range designs {
		s := spec
		if name != "" {
			system, err := caba(name)
			if err != nil {
				t.Fatal(err)
			}
			s.Systems = []*machine.System{system}
		}
		c, err := machine.NewClock(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		list, consumers = append(list, c), append(consumers, c)
	}
	m := machine.New(spec, 0)
	counts := machine.NewCompression(m)
	recorder := stream.NewDataRecorder(append(consumers, m))
	recorder.RecordInstructions()
	run(t, workload, size, recorder)
	for i, c := range list {
		if err := c.Err(); err != nil {
			t.Errorf("%s: %v", designs[i], err)
		}
	}
	return list, counts.Total()
}

// run runs a workload.
func run(t *testing.T, workload string, size int, recorder *stream.Recorder) {
	t.Helper()
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	w := kernels.Lookup(workload)
	s, err := kernels.Start(t.Context(), w, d, size)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode, l.Probes = interp.Vector, append(l.Probes, recorder) }
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
}

// countsOf returns the counts of all launches, and the cycles in which assist warps issue.
func countsOf(c *machine.Clock) (counts core.Counts, assist int64) {
	for _, l := range c.Launches() {
		counts.Add(&l.Counts)
		assist += l.Stalls.Assist
	}
	return counts, assist
}

// TestCompressedTransfers: if all data fit in the L2, each line is read once, in the same form as without a clock. Dedicated logic has the bursts
// of the ideal design, and those of metadata. Without compression a line has four bursts.
func TestCompressedTransfers(t *testing.T) {
	for workload, size := range map[string]int{"caba/sla": 1 << 12, "spmv": 256} {
		t.Run(workload, func(t *testing.T) {
			list, want := cabaClocks(t, workload, size, "", "hw-mem", "hw", "ideal")
			var n []memory.Counts
			for _, c := range list {
				n = append(n, c.Memory().Total())
			}
			if base := n[0].Reads + n[0].WriteBacks; base != want.Bursts() || n[3].Bursts != want.BDI {
				t.Errorf("%d bursts, %d ideal; want %d and %d", base, n[3].Bursts, want.Bursts(), want.BDI)
			}
			for i, name := range []string{"hw-mem", "hw"} {
				hw := n[1+i]
				if hw.Bursts != want.BDI+hw.MetadataMisses+hw.MetadataWrites || hw.MetadataMisses == 0 {
					t.Errorf("%s: %d bursts with %d of metadata; want %d besides", name, hw.Bursts, hw.MetadataMisses+hw.MetadataWrites, want.BDI)
				}
			}
			if want.BDI < want.Bursts() && n[2].ReplyBytes >= n[1].ReplyBytes {
				t.Errorf("replies of %d bytes with forms in the network, %d without", n[2].ReplyBytes, n[1].ReplyBytes)
			}
		})
	}
}

// TestAssistDesigns: memory transfers the fewest bursts in the ideal design, then with dedicated logic, then with assist warps, and most without
// compression, as all data fit in the L2. Kernels execute the same instructions. Each cycle of an assist warp belongs to an instruction.
func TestAssistDesigns(t *testing.T) {
	list, _ := cabaClocks(t, "caba/sla", 1<<12, "ideal", "hw", "bdi", "")
	base, _ := countsOf(list[3])
	before := int64(0)
	for i, c := range list {
		total := c.Memory().Total().Memory
		if bursts := total.ReadBursts + total.WriteBursts; bursts < before {
			t.Errorf("design %d has %d bursts, the one before it %d", i, bursts, before)
		} else {
			before = bursts
		}
		n, assist := countsOf(c)
		if n.Instructions != base.Instructions || n.AssistInstructions != assist || c.HasAssists() != (assist > 0 && n.AssistFills > 0 && n.AssistStores > 0) {
			t.Errorf("design %d: %+v, %d cycles of assist warps; want %d instructions", i, n, assist, base.Instructions)
		}
	}
}

// TestOwnAssists: the routine of a file is executed, and a wrong one is an error with its name and line.
func TestOwnAssists(t *testing.T) {
	const head = ".version 6.0\n.target sm_30\n.address_size 64\n"
	zeros := func(value, more string) string {
		return head + ".func own(.reg .b64 %form, .reg .b64 %line)\n{\n\t.pragma \"gemu.assist priority=high trigger=fill:bdi:zeros\";\n\t.reg .b64 %to;\n\t.reg .b32 %lane;\n" +
			"\tmov.u32 %lane, %laneid;\n\tmad.wide.u32 %to, %lane, 4, %line;\n\tst.b32 [%to" + more + "], " + value + ";\n\tret;\n}\n"
	}
	for text, want := range map[string]string{
		zeros("0", ""):    "",
		zeros("1", ""):    "own.ptx:4: assist routine: own: 0100",
		zeros("0", "+64"): "own.ptx:4: assist routine: ",
		"kernel":          "own.ptx:1:1: ",
		zeros("0", "") + ".visible .entry gemu_assist_own() { ret; }\n": "own.ptx:14: gemu_assist_own is the name of the kernel that gemu adds",
		head: "own.ptx: no .func has .pragma",
		strings.ReplaceAll(zeros("0", ""), "bdi:zeros", "byte-wise:4"):        "own.ptx:6: .pragma \"gemu.assist\": trigger=fill:byte-wise:4",
		strings.ReplaceAll(zeros("0", ""), "bdi:zeros", "byte-wise:4 shared"): "own.ptx:6: .pragma",
	} {
		file := filepath.Join(t.TempDir(), "own.ptx")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OwnAssists("own", file)
		if err == nil {
			err = runOwn(t, s)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
	if _, err := OwnAssists("own", "absent.ptx"); err == nil || !strings.Contains(err.Error(), "absent.ptx") {
		t.Errorf("%v", err)
	}
}

// TestAssistRegisters: a routine that is replaced by another needs no registers. A launch is an error if the registers of the routines leave it no place.
func TestAssistRegisters(t *testing.T) {
	const text = ".version 6.0\n.target sm_30\n.address_size 64\n.func (.reg .b32 %n) raw(.reg .b64 %line, .reg .b64 %form)\n{\n" +
		"\t.pragma \"gemu.assist priority=low trigger=store:bdi\";\n\tmov.u32 %n, 128;\n\tret;\n}\n"
	sandbox, err := assist.NewSandbox(append([]assist.Source{{Name: "raw.ptx", Text: []byte(text)}}, assist.Standard()...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	fills := 0
	for _, r := range sandbox.Routines() {
		if r.Codec() == codec.BDI && r.Event() == assist.Fill {
			fills = max(fills, r.Registers())
		}
	}
	raw := sandbox.Routines()[0].Registers()
	file := filepath.Join(t.TempDir(), "raw.ptx")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	system, err := OwnAssists("own", file)
	if err != nil {
		t.Fatal(err)
	}
	if n := system.New().Compressed.Assist.Registers; n != fills+raw {
		t.Errorf("%d registers; want %d and %d", n, fills, raw)
	}
	s, _ := machine.Find("caba")
	s.Systems = []*machine.System{system}
	for registers, want := range map[int]string{63 - fills - raw: "", 64 - fills - raw: "for assist routines, does not fit: registers"} {
		c, err := machine.NewClock(s, registers)
		if err != nil {
			t.Fatal(err)
		}
		recorder := stream.NewDataRecorder(c)
		recorder.RecordInstructions()
		run(t, "caba/sla", 1<<10, recorder)
		if err := c.Err(); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d registers: %v", registers, err)
		} else if want == "" && err != nil && strings.Contains(err.Error(), "registers") {
			t.Errorf("%d registers: %v", registers, err)
		}
	}
}

// runOwn runs a workload that reads lines of zeros on a machine with a system, and returns the error of the machine.
func runOwn(t *testing.T, system *machine.System) error {
	t.Helper()
	s, _ := machine.Find("caba")
	s.Systems = []*machine.System{system}
	c, err := machine.NewClock(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	recorder := stream.NewDataRecorder(c)
	recorder.RecordInstructions()
	run(t, "caba/sla", 1<<10, recorder)
	return c.Err()
}

// TestCabaErrors: an unknown design is an error that names the designs.
func TestCabaErrors(t *testing.T) {
	for _, text := range []string{"caba", "caba=", "caba=bd"} {
		if _, err := Find(text, nil); err == nil || !strings.HasPrefix(err.Error(), "want one of caba=") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCabaSpec: the machine has the clocks and the shared memory of table 1 of the paper: two CTAs with 16 KiB of shared memory each take its 32 KiB.
func TestCabaSpec(t *testing.T) {
	s, _ := machine.Find("caba")
	if n := s.Timing; n.CoreMHz != 1400 || n.NetworkMHz != 1400 {
		t.Errorf("clocks of %d and %d MHz", n.CoreMHz, n.NetworkMHz)
	}
	const text = ".version 6.0\n.target sm_20\n.visible .entry k()\n{\n\t.shared .b8 tile[16384];\n\tret;\n}\n"
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{s.SharedBytes: 2, 0: 3} {
		s.SharedBytes = size
		model := machine.New(s, 0)
		if _, err := m.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Probes: []probe.Probe{stream.NewRecorder(model)}}); err != nil {
			t.Fatal(err)
		}
		if n := model.Launches()[0].Resident; n != want {
			t.Errorf("%d CTAs fit with %d bytes; want %d", n, size, want)
		}
	}
}

// TestStoreBuffer: with a place for each line of the workload no store is raw; with a single place some are.
func TestStoreBuffer(t *testing.T) {
	for _, places := range []string{"1", "1024"} {
		system, err := caba("bdi")
		if err != nil {
			t.Fatal(err)
		}
		s, _ := machine.Find("caba")
		s.Systems = []*machine.System{system}
		if err := s.Set("assist.stores", places, machine.Policies{}); err != nil {
			t.Fatal(err)
		}
		c, err := machine.NewClock(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		recorder := stream.NewDataRecorder(c)
		recorder.RecordInstructions()
		run(t, "caba/sla", 1<<10, recorder)
		if n, _ := countsOf(c); c.Err() != nil || (n.RawStores > 0) != (places == "1") || n.AssistStores == 0 {
			t.Errorf("%s places: %d raw stores, %d others, %v", places, n.RawStores, n.AssistStores, c.Err())
		}
	}
}

// TestCabaLevels: each variant of CABA-BDI executes the same instructions and has an effect of its own. A compressed L2 has no more misses than
// another, if its tags are four times as many. A compressed L1 decompresses what it hits, and Direct-Load fewer lines. An L2 of whole lines returns fewer stores.
func TestCabaLevels(t *testing.T) {
	designs := []string{"bdi", "bdi-l1x4", "bdi-l2x4", "bdi-uncompressed", "bdi-direct"}
	var counts []core.Counts
	var memories []memory.Counts
	clocks, _ := cabaClocks(t, "caba/bfs", 1<<10, designs...)
	for i, c := range clocks {
		n, _ := countsOf(c)
		counts, memories = append(counts, n), append(memories, c.Memory().Total())
		if n.Instructions != counts[0].Instructions {
			t.Errorf("%s: %d instructions, want %d", designs[i], n.Instructions, counts[0].Instructions)
		}
	}
	switch {
	case counts[0].AssistHits != 0 || counts[1].AssistHits == 0 || counts[1].AssistFills < counts[1].AssistHits:
		t.Errorf("bdi-l1x4: %+v", counts[1])
	case memories[2].Misses > memories[0].Misses:
		t.Errorf("bdi-l2x4: %d misses, %d without", memories[2].Misses, memories[0].Misses)
	case memories[3].Returned > memories[0].Returned || memories[3].ReplyBytes == memories[0].ReplyBytes:
		t.Errorf("bdi-uncompressed: %+v", memories[3])
	case counts[4].AssistFills >= counts[0].AssistFills:
		t.Errorf("bdi-direct: %d lines, %d without", counts[4].AssistFills, counts[0].AssistFills)
	}
}

// TestCloseSystems: after its end, a system with assist routines executes none: a launch is an error.
func TestCloseSystems(t *testing.T) {
	system, err := caba("bdi")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := machine.Find("caba")
	s.Systems = []*machine.System{system, {Name: "without an end"}}
	for range 2 {
		if err := s.CloseSystems(); err != nil {
			t.Fatal(err)
		}
	}
	if err := runOwn(t, system); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
}

package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/dispatch"
	"gemu/machine/dram"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// machineOf runs "gemu machine" and returns its JSON.
func machineOf(t *testing.T, args ...string) *machineJSON {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"machine", "--json", "-"}, args...), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	var j machineJSON
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		t.Fatal(err)
	}
	return &j
}

// TestMachineAddsUp: lines and buffers add up to the totals, for each machine of a sweep. The machines get the same requests.
func TestMachineAddsUp(t *testing.T) {
	for _, args := range [][]string{{"@spmv"}, {"@bfs", "--size", "256"}} {
		j := machineOf(t, append(args, "--spec", "v100,h100", "--sweep", "l2=32K,64K", "--sweep", "sms=2")...)
		if len(j.Machines) != 4 || j.Machines[1].Name != "v100 l2=64K sms=2" || j.Machines[3].L2.Bytes != 64<<10 || j.Machines[3].SMs != 2 {
			t.Fatalf("machines %+v", j.Machines)
		}
		for _, m := range j.Machines {
			var lines, buffers machine.Counts
			for i := range m.Lines {
				lines.Add(&m.Lines[i].Counts)
			}
			for i := range m.Buffers {
				buffers.Add(&m.Buffers[i].Counts)
			}
			buffers.Requests = m.Total.Requests // a request may access several buffers
			lines.WriteBacks = m.Total.WriteBacks
			if lines != m.Total {
				t.Errorf("%s: lines %+v, want %+v", m.Name, lines, m.Total)
			}
			if buffers != m.Total {
				t.Errorf("%s: buffers %+v, want %+v", m.Name, buffers, m.Total)
			}
			if first := j.Machines[0].Total; m.Total.Loads != first.Loads || m.Total.Stores != first.Stores || m.Total.Requests != first.Requests {
				t.Errorf("%s has other requests than %s", m.Name, j.Machines[0].Name)
			}
		}
	}
}

// TestMachineLocality: the tiles of histo are those that the thesis of Vijaykumar annotates by hand, and the working sets are those by hand.
// 8 columns of 4 CTAs are on 4 multiprocessors. Each column reads 10 rows of 256 pixels, which are 10·8 lines. All pixels are 0.
func TestMachineLocality(t *testing.T) {
	j := machineOf(t, "../docs/histo.ptx", "-g", "8,4", "-b", "256", "-a", "u32[20480]", "u32[256]", "20480", "--show", "locality", "--sweep", "sms=4", "--sweep", "l1=32K")
	g := j.Locality[0]
	d := g.Descriptors[0]
	if d.Type != "INTER_THREAD" || d.Sharing != "COACCESSED" || !d.Regular || d.DTile != [3]int{256, 10, 1} || d.CTile != [3]int{1, 4, 1} || d.Map != [3]int{1, 0, 0} || d.Stride != 2048 || d.Element != 4 {
		t.Errorf("%+v", d)
	}
	// In rotation, CTA i is on multiprocessor i modulo 4: columns m and m+4, two columns of 80 lines. The row 0 of CTAs, eight CTAs, also
	// accesses the line of bin 0.
	if want := 2*80 + 1.0; g.Rotation != want {
		t.Errorf("rotation has %v lines, want %v", g.Rotation, want)
	}
	for _, s := range g.Shapes {
		if s.Shape == [3]int{1, 4, 1} && s.Lines != 2*80+1 || s.Shape == [3]int{8, 1, 1} && s.Lines != 8*80+0.25 {
			t.Errorf("%v has %v lines", s.Shape, s.Lines)
		}
	}
	if g.Counts != j.Machines[0].Total || g.BestCounts == nil || g.TileCounts.Loads != g.Counts.Loads {
		t.Errorf("%+v, %+v, %+v", g.Counts, g.BestCounts, g.TileCounts)
	}
	// The lines of the machine's own dispatcher and order. Two columns of 4 CTAs have 2·80 lines and the line of bin 0.
	if own := machineOf(t, "../docs/histo.ptx", "-g", "8,4", "-b", "256", "-a", "u32[20480]", "u32[256]", "20480", "--show", "locality", "--sweep", "sms=4", "--sweep", "dispatch=cluster:1x4x1").Locality[0]; own.Own != 2*80+1 || own.Counts != *own.BestCounts || own.Best != [3]int{1, 1, 1} {
		t.Errorf("own dispatcher: %+v", own)
	}
	if rows := machineOf(t, "../docs/histo.ptx", "-g", "8,4", "-b", "256", "-a", "u32[20480]", "u32[256]", "20480", "--show", "locality", "--sweep", "sms=4", "--sweep", "dispatch=cluster:8x1x1").Locality[0]; rows.Own != 8*80+0.25 || rows.Rotation != 2*80+1 {
		t.Errorf("rows: %v lines, rotation %v", rows.Own, rows.Rotation)
	}
	histo := []string{"../docs/histo.ptx", "-g", "9,4", "-b", "256", "-a", "u32[20480]", "u32[256]", "20480", "--sweep", "sms=4", "--sweep", "l1=32K"}
	j = machineOf(t, slices.Concat(histo, []string{"--show", "locality"})...)
	ordered := machineOf(t, slices.Concat(histo, []string{"--show", "locality", "--order", dispatch.Clusters(ptx.Dim3{X: j.Locality[0].Best[0], Y: j.Locality[0].Best[1], Z: j.Locality[0].Best[2]}).Name})...)
	if got, want := j.Locality[0], ordered.Locality[0]; *got.OrderCounts != want.Counts || got.OrderLines != want.Own || *got.OrderCounts == got.Counts {
		t.Errorf("order: %+v with %v lines, want %+v with %v", *got.OrderCounts, got.OrderLines, want.Counts, want.Own)
	}
	// The counts of the groups are those of the dispatcher.
	j = machineOf(t, "../docs/histo.ptx", "-g", "9,4", "-b", "256", "-a", "u32[20480]", "u32[256]", "20480", "--show", "locality", "--sweep", "sms=4", "--sweep", "l1=32K")
	g = j.Locality[0]
	direct := machineOf(t, "../docs/histo.ptx", "-g", "9,4", "-b", "256", "-a", "u32[20480]", "u32[256]", "20480", "--sweep", "sms=4", "--sweep", "l1=32K", "--sweep", fmt.Sprintf("dispatch=cluster:%dx%dx%d", g.Best[0], g.Best[1], g.Best[2]))
	if *g.BestCounts != direct.Machines[0].Total || g.Best == [3]int{1, 1, 1} {
		t.Errorf("%v: %+v, want %+v", g.Best, *g.BestCounts, direct.Machines[0].Total)
	}
}

// TestLocalityBest: the best shape has the fewest lines in the sum of all launches, and fewer than the machine's dispatcher.
func TestLocalityBest(t *testing.T) {
	for _, c := range []struct {
		own  float64
		want ptx.Dim3
	}{{12, ptx.Dim(1, 2)}, {10, ptx.Dim(1)}} {
		// In a first launch of 3 and 7 lines, and a second of 9 and 3, the first shape has fewer lines in the first launch only.
		g := &localityGroup{ownLines: c.own, shapes: []locality.Shape{{Dim3: ptx.Dim(2), WorkingSet: 3 + 9}, {Dim3: ptx.Dim(1, 2), WorkingSet: 7 + 3}}, orders: []float64{20, 30}}
		v := &localityView{groups: []*localityGroup{g}}
		if v.end(); g.best != c.want {
			t.Errorf("best %s of %v lines, want %s", g.best, c.own, c.want)
		}
		if want := map[ptx.Dim3]float64{ptx.Dim(1, 2): 30, ptx.Dim(1): 10}[g.best]; g.orderLines() != want {
			t.Errorf("%v lines in order, want %v", g.orderLines(), want)
		}
	}
}

// TestMachineStalls: the reasons are the cycles of all schedulers, lines add up to the totals, and a recording has the same cycles for any
// number of host threads.
func TestMachineStalls(t *testing.T) {
	args := []string{"@reduce", "--size", "5000", "--show", "stalls", "--spec", "v100,gtx480", "--sweep", "sms=3"}
	j := machineOf(t, args...)
	if again := machineOf(t, append(args, "--workers", "1")...); !reflect.DeepEqual(again.Machines, j.Machines) {
		t.Error("one host thread has other cycles")
	}
	for i, schedulers := range []int64{3 * 4, 3 * 2} {
		c := j.Machines[i].Clock
		var lines core.Stalls
		causes := int64(0)
		for _, l := range c.Lines {
			lines.Add(&l.Stalls)
			causes += l.Causes
		}
		lines.Idle = c.Stalls.Idle
		if c.Cycles == 0 || c.Stalls.Total() != schedulers*c.Cycles || lines != c.Stalls || causes > c.Stalls.Data || c.Stalls.Barrier == 0 {
			t.Errorf("%s: %d cycles, %+v, lines %+v, causes %d", j.Machines[i].Name, c.Cycles, c.Stalls, lines, causes)
		}
		if c.Fast > c.Slow || len(c.Readings) == 0 || c.Counts.Loads == 0 || c.Counts.Hits+c.Counts.InFlight+c.Counts.Misses != c.Counts.Loads {
			t.Errorf("%s: %+v", j.Machines[i].Name, c)
		}
	}
	if machineOf(t, "@reduce", "--size", "5000").Machines[0].Clock != nil {
		t.Error("cycles that nobody asked for")
	}
}

// TestCauseText: the advice for a wait is that of the instruction which causes it. A fence and a barrier of a warp have no last warp that arrives.
func TestCauseText(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .u32 %x; .reg .f64 %d; .reg .u64 %a; .reg .pred %q;
	ld.param.u64 %a, [p];
	ld.global.u32 %x, [%a];
	atom.global.add.u32 %x, [%a], 1;
	add.u32 %x, %x, 1;
	add.f64 %d, %d, %d;
	membar.gl;
	bar.warp.sync -1;
	bar.arrive 1, 64;
	bar.sync 0;
	@%q bra END;
END:
	ret;
}
`
	want := map[string]string{
		"ld.param": "warps wait for a result of this line (constant). ", "ld.global": "warps wait for data that this line loads. ", "atom.global": "warps wait for data that this line loads. ",
		"add.u32": "warps wait for a result of this line (int). ", "add.f64": "warps wait for a result of this line (double). ",
		"membar.gl": "warps wait until this line (control) has ended ", "bar.warp": "warps wait until this line (control) has ended ", "bar.arrive": "warps wait until this line (control) has ended ",
		"bar.sync": "warps wait for the end of this barrier, after the last warp has arrived. ", "bra": "warps wait until this line (control) has ended ", "ret": "warps wait until this line (control) has ended ",
	}
	m, err := ptx.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range m.Kernels()[0].Blocks {
		for _, instr := range b.Instrs {
			name := strings.Join(strings.SplitN(strings.Fields(instr.Text)[0], ".", 3)[:min(2, 1+strings.Count(instr.Text, "."))], ".")
			if got := causeText(instr); !strings.HasPrefix(got, want[name]) || want[name] == "" {
				t.Errorf("%s: %q, want %q", name, got, want[name])
			}
			n++
		}
	}
	if n != len(want) {
		t.Errorf("%d instructions, want %d", n, len(want))
	}
}

// TestMachineStallAdvice: the conflicts of a tile whose columns are in one bank fill the memory unit, and the advice for their line names the
// banks. With one more column there are none. A transposition without a tile has a line for each lane, or waits for a short queue.
func TestMachineStallAdvice(t *testing.T) {
	for _, c := range []struct {
		kernel, queue string
		line          int
		want          string
	}{
		{"naive", "8", 17, "access fewer lines"}, {"naive", "1", 17, "takes no more requests"}, {"tiled", "8", 27, "other banks"}, {"padded", "8", 37, ""},
	} {
		m := machineOf(t, "../docs/transposes.ptx", "-k", c.kernel, "-g", "4,4", "-b", "32,32", "-a", "f32[128x128]=iota", "f32[16384]", "128", "--show", "stalls", "--sweep", "sms=4", "--sweep", "net.queue="+c.queue).Machines[0].Clock
		full := int64(0)
		for i := range m.Lines {
			l := &m.Lines[i]
			full += l.Full.Total()
			if l.Line != c.line {
				continue
			}
			most := ""
			for n, text := range map[int64]string{l.Full.Lines: "access fewer lines", l.Full.Queue: "takes no more requests", l.Full.MSHRs: "waits for an MSHR", l.Full.Banks: "other banks"} {
				if n == max(l.Full.Lines, l.Full.Queue, l.Full.MSHRs, l.Full.Banks) && 20*n >= m.Stalls.Total() {
					most = text
				}
			}
			if advice := strings.Join(l.limits(m), " "); most != c.want || !strings.Contains(advice, c.want) || c.want != "other banks" && strings.Contains(advice, "other banks") {
				t.Errorf("%s, queue of %s: most cycles are of %q, want %q; %+v; %s", c.kernel, c.queue, most, c.want, l.Full, advice)
			}
		}
		if full != m.Stalls.Memory {
			t.Errorf("%s: lines have %d of the %d cycles of a full memory unit", c.kernel, full, m.Stalls.Memory)
		}
	}
}

// TestMachineReadings: cycles have the number of readings, and a part lists them: once for machines with the same ones. The report says which
// parts have a clock.
func TestMachineReadings(t *testing.T) {
	for _, c := range []struct {
		args       []string
		want, none []string
	}{
		{[]string{"--show", "memory,readings", "--spec", "v100,gtx480"}, []string{"readings of v100: ", "\nspecial.latency                       39       20      100\n", "\nclock.core, clock.net, clock.l2     1447     1132     1628\n", "readings of gtx480: ", "they are in the order of the clock"}, []string{"no clock", "all fast"}},
		{[]string{"--show", "cycles,total", "--sweep", "scheduler=gto,lrr"}, []string{"all slow: 19 readings (", "those of cycles are in the order of the clock, those of total have no clock"}, []string{"readings of "}},
		{[]string{"--show", "cycles,readings", "--sweep", "barrier=10", "--sweep", "scheduler=gto,lrr"}, []string{"all slow: 18 readings (", "readings of all machines: ", "\nlsu.ports "}, []string{"readings of v100", "\nbarrier "}},
		{[]string{"--show", "stalls", "--spec", "v100,gtx480"}, []string{"all slow: 15 to 19 readings ("}, []string{"readings of "}},
		{[]string{"--show", "total"}, []string{"there is no clock"}, []string{"readings"}},
	} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), append([]string{"machine", "@reduce", "--size", "500"}, c.args...), strings.NewReader(""), &out, &errs); status != exitGood {
			t.Fatalf("status %d: %s", status, &errs)
		}
		for _, text := range c.want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%q: no %q in %s", c.args, text, &out)
			}
		}
		for _, text := range c.none {
			if strings.Contains(out.String(), text) {
				t.Errorf("%q: %q in %s", c.args, text, &out)
			}
		}
	}
}

// wrongScheduler picks a slot that does not exist.
type wrongScheduler struct{}

func (wrongScheduler) Pick(*core.Warps, uint64, int64) int { return -1 }

// TestMachineClockErrors: an error of the machine at an end of its readings fails each part with a clock.
func TestMachineClockErrors(t *testing.T) {
	spec, _ := machine.Find("v100")
	spec.SMs = 1
	wrong := spec
	wrong.Clock.Policy = &core.Policy{Name: "wrong", New: func(uint64) core.Scheduler { return wrongScheduler{} }}
	var clock machineClock
	for i, s := range []machine.Spec{spec, spec, wrong} {
		m, err := machine.NewClock(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		clock[i] = m
		recorder := stream.NewRecorder(m)
		recorder.RecordInstructions()
		w := kernels.Lookup("saxpy")
		session, err := kernels.Start(t.Context(), w, interp.NewDevice(interp.Config{Probes: []probe.Probe{recorder}}), 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(session); err != nil {
			t.Fatal(err)
		}
	}
	r := &machineReport{machineJSON: machineJSON{Machines: []machineResultJSON{{Name: "v100"}}}, flags: &machineCmd{}, specs: []machine.Spec{spec}}
	clocks := []machineClock{clock}
	for _, v := range []machineView{cyclesView{"cycles", clocks}, stallsView{cyclesView{"stalls", clocks}}, memoryView{clocks}} {
		if err := v.addJSON(r); err == nil || !strings.Contains(err.Error(), "machine v100: all readings slow: ") || !strings.Contains(err.Error(), "slot -1") {
			t.Errorf("%T: error %v", v, err)
		}
	}
}

// TestMachineRows: each address map has all bursts between the L2 and memory, and pairs have all conflicts.
func TestMachineRows(t *testing.T) {
	j := machineOf(t, "@transpose", "--size", "128", "--show", "rows", "--spec", "v100,a100", "--sweep", "l2=16K", "--sweep", "dram.banks=4", "--sweep", "dram.pages=random:3")
	for i, m := range j.Machines {
		want := m.Total.Reads + m.Total.WriteBacks
		channels := []int{32, 40}[i]
		if got := m.Rows.Total; got.Bursts() != want || want == 0 || got.Writes != m.Total.WriteBacks || len(m.Rows.Channels) != channels || m.Rows.Pages != "random:3" {
			t.Errorf("%s: %+v of %d", m.Name, m.Rows, want)
		}
		conflicts := int64(0)
		for _, p := range m.Rows.Pairs {
			conflicts += p.Conflicts
		}
		if conflicts != m.Rows.Total.Conflicts || conflicts == 0 {
			t.Errorf("%s: %d conflicts of pairs, %+v", m.Name, conflicts, m.Rows.Total)
		}
		if n := len(m.Rows.Maps); i == 0 && n != 18 || i > 0 && n != 0 {
			t.Errorf("%s: %d maps", m.Name, n)
		}
		for _, x := range m.Rows.Maps {
			if x.Total.Bursts() != want || x.Balance < 1 || x.Balance > float64(channels) {
				t.Errorf("%s, %s: %+v", m.Name, x.Map, x)
			}
		}
	}
	if j := machineOf(t, "@transpose", "--size", "128"); j.Machines[0].Rows != nil {
		t.Error("rows without --show rows")
	}
	// All data are in one row of 256 KiB of a single bank.
	if j := machineOf(t, "@transpose", "--size", "32", "--show", "rows", "--sweep", "dram.channels=1", "--sweep", "dram.banks=1", "--sweep", "dram.row=256K", "--sweep", "dram.pages=first-touch"); j.Machines[0].Rows.Total.Activations() != 1 {
		t.Errorf("%+v", j.Machines[0].Rows.Total)
	}
}

// TestMachineCompression has the forms of buffers by hand. A kernel copies numbers in steps of one: lines of 32 words of 4 bytes, whose differences
// from zero or from the first word are at most 127: BDI has 2 bursts. Only the first lines have no more bursts as signed bytes (FPC: 127 is the
// largest) or with a dictionary of four words and a low byte. The L2 has a single line, so that each line of the output is read, as zeros,
// and written.
func TestMachineCompression(t *testing.T) {
	const src = `.version 7.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out) {
	.reg .u32 %i, %x;
	.reg .u64 %a, %b, %o;
	mov.u32 %i, %tid.x;
	ld.param.u64 %a, [in];
	ld.param.u64 %b, [out];
	mul.wide.u32 %o, %i, 4;
	add.u64 %a, %a, %o;
	add.u64 %b, %b, %o;
	ld.global.u32 %x, [%a];
	st.global.u16 [%b], %x;
	ret;
}`
	file := filepath.Join(t.TempDir(), "copy.ptx")
	if err := os.WriteFile(file, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	j := machineOf(t, file, "-b", "256", "-g", "1", "-a", "u32[256]=iota", "u32[256]", "--show", "compression,total", "--spec", "v100,caba", "--sweep", "l2=128", "--sweep", "l2.ways=1", "--sweep", "l1=128", "--sweep", "l1.ways=1", "--sweep", "sms=1")
	for _, m := range j.Machines {
		c := m.Compression
		if c == nil || len(c.Buffers) != 2 {
			t.Fatalf("%s: %+v", m.Name, c)
		}
		// Words 0 to 127, four lines, are 2 bursts in all forms. C-Pack has a word of the dictionary for words 128 to 255, which are low bytes too.
		// FPC has 16 bits for each word from 128 on, and 66 bytes are 3 bursts. Common bytes: three in each line.
		in := machine.BurstCounts{Reads: 8, BDI: 16, FPC: 4*2 + 4*3, CPack: 16, Bytewise: 16, Best: 16, Listing: 16, Once: 4 * 8}
		if c.Buffers[0].Counts != in || c.Buffers[0].Fits != "bdi" || c.Buffers[0].Encodings["4-1"] != 8 || c.Buffers[0].ReadBy[0].Line != 13 || len(c.Buffers[0].WrittenBy) != 0 || c.Buffers[0].Types[0] != "u32" {
			t.Errorf("%s: %+v, want %+v", m.Name, c.Buffers[0], in)
		}
		// No register is stored whole, so codec once has raw lines. The last line stays in the L2. The others are written: 0 to 31 and so on.
		out := machine.BurstCounts{Reads: 8, Writes: 7, BDI: 8 + 14, FPC: 8 + 4*2 + 3*3, CPack: 8 + 14, Bytewise: 8 + 14, Best: 8 + 14, Listing: 8 + 14, Once: 4 * 15}
		if c.Buffers[1].Counts != out || c.Buffers[1].Encodings["zeros"] != 8 || c.Buffers[1].WrittenBy[0].Line != 14 || len(c.Buffers[1].ReadBy) != 0 {
			t.Errorf("%s: %+v, want %+v", m.Name, c.Buffers[1], out)
		}
		if c.Image.Changed != 0 || c.Image.Different != 0 || c.Image.Loads != 8 || c.Metadata.Lookups != 23 || c.Metadata.Hits != 22 { // all lines are in 16 KiB
			t.Errorf("%s: %+v, %+v", m.Name, c.Image, c.Metadata)
		}
	}
	if j := machineOf(t, "@transpose", "--size", "32"); j.Machines[0].Compression != nil {
		t.Error("compression without --show compression")
	}
}

// TestMachineLaunch: the reported launches add up to all launches, and each is a record of the events. A range of lines has the counts of
// its lines.
func TestMachineLaunch(t *testing.T) {
	flags := []string{"@bfs", "--size", "256", "--sweep", "l2=4K", "--show", "total,rows,compression,locality"}
	addresses := func(args ...string) string {
		out, _ := runText(t, exitGood, append([]string{"machine", "@bfs", "--size", "256", "--sweep", "l2=4K", "--addresses", "-"}, args...)...)
		return out
	}
	all := machineOf(t, flags...)
	var sum machine.Counts
	var bursts machine.BurstCounts
	var rows dram.Counts
	trace := ""
	for n := range all.Launches {
		j := machineOf(t, append(slices.Clip(flags), "--launch", strconv.Itoa(n+1))...)
		m := &j.Machines[0]
		bursts.Add(&m.Compression.Total)
		rows.Add(&m.Rows.Total)
		trace += addresses("--launch", strconv.Itoa(n+1))
		if c := m.Compression; c.Metadata.Lookups != c.Total.Reads+c.Total.Writes || m.Rows.Total.Bursts() != m.Total.Reads+m.Total.WriteBacks {
			t.Errorf("launch %d: %+v, rows %+v", n+1, c, m.Rows.Total)
		}
		if l := j.Locality; len(l) != 1 || l[0].Launches != 1 || l[0].Counts != m.Total || l[0].OrderCounts == nil || l[0].OrderCounts.Loads != m.Total.Loads {
			t.Errorf("launch %d: locality %+v", n+1, l)
		}
		if j.Only != n+1 || j.Machines[0].Total.Requests == 0 {
			t.Fatalf("launch %d: %+v", n+1, j)
		}
		sum.Add(&j.Machines[0].Total)
	}
	if sum != all.Machines[0].Total || all.Launches < 2 {
		t.Errorf("launches add up to %+v, want %+v", sum, all.Machines[0].Total)
	}
	if m := &all.Machines[0]; bursts != m.Compression.Total || rows != m.Rows.Total || bursts.Writes == 0 {
		t.Errorf("launches add up to %+v and %+v, want %+v and %+v", bursts, rows, m.Compression.Total, m.Rows.Total)
	}
	if want := addresses(); trace != want {
		t.Errorf("addresses of the launches have %d bytes, of all %d", len(trace), len(want))
	}
	lines := all.Machines[0].Lines
	first, last := lines[1], lines[2]
	j := machineOf(t, "@bfs", "--size", "256", "--sweep", "l2=4K", "--lines", fmt.Sprintf("%s:%d-%d", filepath.Base(first.File), first.Line, last.Line))
	if !slices.Equal(j.Machines[0].Lines, lines[1:3]) || j.Machines[0].Total != all.Machines[0].Total {
		t.Errorf("%+v, want %+v", j.Machines[0].Lines, lines[1:3])
	}
	var out, errs bytes.Buffer
	if run(t.Context(), []string{"machine", "@bfs", "--size", "256", "--launch", "2", "--events", "-"}, strings.NewReader(""), &out, &errs); strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), "\nv100,2,bfs") {
		t.Errorf("%s%s", &out, &errs)
	}
}

// TestMachineTrap: a launch that traps has counts up to the trap, and the trap.
func TestMachineTrap(t *testing.T) {
	var out, errs bytes.Buffer
	status := run(t.Context(), []string{"machine", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "32", "-a", "32", "2.0", "f32[32]", "f32[20]"}, strings.NewReader(""), &out, &errs)
	if status != exitFailed || !strings.Contains(out.String(), "the launch trapped") || !strings.Contains(errs.String(), "out-of-bounds global load") {
		t.Errorf("status %d\n%s\n%s", status, &out, &errs)
	}
}

// TestMachineInput: errors of the command line and of machine files.
func TestMachineInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.txt")
	if err := os.WriteFile(file, []byte("base = v100\nsms = 1\nl1 = 1K\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if j := machineOf(t, "@saxpy", "--spec", file); j.Machines[0].SMs != 1 || j.Machines[0].L1.Bytes != 1024 {
		t.Errorf("%+v", j.Machines[0])
	}
	if err := os.WriteFile(file, []byte("base = v100\n\nl1 = 1X\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--spec", "v200"}, "--spec v200: no such machine or file; want one of v100, a100, h100, gtx480, caba, or a file"},
		{[]string{"--spec", file}, "mine.txt:3: l1=1X: want a number of bytes, or a size"},
		{[]string{"--spec", filepath.Dir(file)}, "it is a directory; want one of v100, a100"},
		{[]string{"--json"}, "--json: no value; want --json=VALUE"},
		{[]string{"--top"}, "--top: no value; want --top=VALUE"},
		{[]string{"--sweep", "l2"}, "--sweep l2: want NAME=VALUE"},
		{[]string{"--sweep", "l2="}, "--sweep l2=: want NAME=VALUE"},
		{[]string{"--sweep", "l3=1M"}, `unknown parameter "l3"`},
		{[]string{"--sweep", "l2=1M,big"}, "l2=big: want a number of bytes, or a size"},
		{[]string{"--sweep", "l2.policy=none"}, "unknown policy; want one of lru"},
		{[]string{"--sweep", "l2.index=sum"}, `unknown index "sum"`},
		{[]string{"--sweep", "l1.transfer=bytes"}, "l1.transfer=bytes: want lines or sectors"},
		{[]string{"--sweep", "l1.store=keep"}, "l1.store=keep: want evict or update"},
		{[]string{"--sweep", "sms=0"}, "sms = 0"},
		{[]string{"--sweep", "sm=7.0"}, "70 for 7.0"},
		{[]string{"--sweep", "l1=16G"}, "at most 1024 MiB"},
		{[]string{"--sweep", "l2=100"}, "want a multiple of 2048"},
		{[]string{"--sweep", "l2=1K" + strings.Repeat(",1K", 70)}, "want at most 64"},
		{[]string{"--sweep", "dispatch=spiral"}, "dispatch=spiral: unknown dispatcher; want rotation, pairs"},
		{[]string{"--sweep", "dispatch=parts:8", "--sweep", "sms=4"}, "dispatch = parts:8: want at least 8 multiprocessors, not 4"},
		{[]string{"--sweep", "dram.map=scheme0"}, `dram: address map "scheme0": want one of scheme1`},
		{[]string{"--sweep", "dram.pages=random:x"}, "dram: pages = random:x: want random:SEED"},
		{[]string{"--sweep", "dram.rows=1", "--sweep", "dram.page=2M", "--sweep", "dram.pages=first-touch"}, "dram: page = 2097152: the memory has 1048576 bytes"},
		{[]string{"--show", "rows", "--sweep", "dram.rows=2", "--sweep", "dram.row=128", "--sweep", "dram.banks=1", "--sweep", "dram.channels=1", "--sweep", "dram.page=128", "--sweep", "dram.pages=random:1"}, "pages of 128 bytes, and the memory has 2 frames: want a larger dram.rows"},
		{[]string{"--launch", "2"}, "--launch 2: the run has 1 launch"},
		{[]string{"--launch", "-1"}, "--launch"},
		{[]string{"--launch", "x"}, "--launch"},
		{[]string{"--launch", "1", "--show", "memory"}, "--launch: --show memory counts all launches"},
		{[]string{"--lines", "saxpy.ptx"}, "--lines: saxpy.ptx: want FILE:A-B"},
		{[]string{"--lines", "saxpy.ptx:a-b"}, "want FILE:A-B"},
		{[]string{"--lines", "saxpy.ptx:5-3"}, "lines 5 to 3; want numbers from 1 on"},
		{[]string{"--lines", "saxpy.ptx:0-3"}, "lines 0 to 3; want numbers from 1 on"},
		{[]string{"--lines", "saxpy.ptx:1-2"}, "--lines saxpy.ptx:1-2: none of these lines accesses memory; files with accesses: saxpy.ptx"},
		{[]string{"--sweep", "dram.banks=3"}, "dram: banks = 3: want a power of two"},
		{[]string{"--sweep", "L2=1M"}, `unknown parameter "L2" (did you mean l2?)`},
		{[]string{"--sweep", "l2=1M", "--sweep", "l2=2M"}, "--sweep l2=2M: l2 has values already"},
		{[]string{"--sweep", "l2=1M,1M"}, "machine v100 l2=1M is listed twice"},
		{[]string{"--spec", "v100,v100"}, "machine v100 is listed twice"},
		{[]string{"--sweep", "l2.ways=0"}, "l2: 0 ways: want at least 1"},
		{[]string{"--sweep", "dram.speed=3"}, `unknown parameter "dram.speed"`},
		{[]string{"--order", "spiral"}, "--order spiral: want linear"},
		{[]string{"--regs", "256"}, "--regs 256"},
		{[]string{"--top", "-1"}, "--top"},
		{[]string{"--show", "all"}, "--show"},
		{[]string{"--show", "differences"}, "--show differences: want two machines"},
		{[]string{"--csv", "same", "--events", "same"}, "--csv and --events are the same file"},
		{[]string{"--csv", "-", "--addresses", "-"}, "only one of them can write to standard output"},
		{[]string{"--addresses", "no/such/file"}, "--addresses no/such/file: no directory"},
	} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), append([]string{"machine", "@saxpy"}, c.args...), strings.NewReader(""), &out, &errs); status != exitBad || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: status %d, %s; want %s", c.args, status, &errs, c.want)
		}
	}
}

// TestMachinePage: each part of the report has a section on the page. Each chart has a table: of a row for each bar, for each line of a plot,
// and for each row of a map. The bars of lines add up to the reads, and a plot has the counts of the machines.
func TestMachinePage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	j := machineOf(t, "../docs/transposes.ptx", "-k", "naive", "-g", "4,4", "-b", "32,32", "-a", "f32[128x128]=iota", "f32[16384]", "128", "--html", name, "--show", "total,lines,buffers,limits,differences,locality,rows,compression", "--sweep", "sms=2,4,8", "--sweep", "l2=2K,64K", "--top", "3")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := pageOf(t, b)
	if d.Sources[0].Rows[0].Kind != "line" || !d.Sources[0].Plain {
		t.Errorf("%+v", d.Sources[0].Rows[0])
	}
	var titles []string
	for _, s := range d.Sections {
		titles = append(titles, strings.Fields(s.Title)[0])
		for _, b := range s.Blocks {
			rows := 0
			switch {
			case b.Bars != nil:
				rows = len(b.Bars.Rows)
				for i, r := range b.Bars.Rows {
					sum := 0.0
					for _, v := range r.Values {
						sum += v
					}
					if s.Title == "Lines on v100 sms=2 l2=2K" && countText(int64(sum)) != b.Table.Rows[i][6] {
						t.Errorf("%s: parts of %v, want %s reads", r.Name, r.Values, b.Table.Rows[i][6])
					}
				}
			case b.Plot != nil:
				rows = len(b.Plot.Lines)
			case b.Heat != nil:
				rows = len(b.Heat.Rows)
			}
			if rows > 0 && (b.Table == nil || len(b.Table.Rows) != rows) {
				t.Errorf("%s, %s: a chart of %d rows, with the table %+v", s.Title, b.Title, rows, b.Table)
			}
			if b.Title == "Sectors read from memory by sms" {
				for i, l := range b.Plot.Lines {
					for k, v := range l.Values {
						if m := &j.Machines[i+2*k]; v != float64(m.Total.Reads) || m.Name != strings.Replace(l.Name, " ", " sms="+b.Plot.Ticks[k]+" ", 1) {
							t.Errorf("%s at %s: %v reads, want %d of %s", l.Name, b.Plot.Ticks[k], v, m.Total.Reads, m.Name)
						}
					}
				}
			}
		}
	}
	if want := []string{"Machines", "Sweeps", "Lines", "Buffers", "Limits", "Differences", "Locality", "Rows", "Compression"}; !slices.Equal(titles, want) {
		t.Errorf("sections %v, want %v", titles, want)
	}
}

// TestMachineWith: inferred descriptors are those of a written file; they choose the groups of CTAs that --show locality measures by the tiles;
// an edited descriptor without reuse keeps its buffer out of the L1.
func TestMachineWith(t *testing.T) {
	dir := t.TempDir()
	file, edited := filepath.Join(dir, "d.json"), filepath.Join(dir, "e.json")
	histo := []string{"../docs/histo.ptx", "-g", "24,4", "-b", "256", "-a", "u32[61440]=iota", "u32[61440]", "61440", "--sweep", "sms=15", "--sweep", "l1=64K"}
	first := machineOf(t, append(histo, "--with", "ldesc=auto", "--show", "locality", "--write-descriptors", file)...)
	g := first.Locality[0]
	if inferred := first.Machines[1]; inferred.Name != "v100 sms=15 l1=64K ldesc=auto" || g.Tiles == [3]int{1, 1, 1} || inferred.Total != *g.TileCounts || inferred.Total.L1Hits <= first.Machines[0].Total.L1Hits {
		t.Errorf("%+v, want the counts by the tiles %v, %+v", inferred, g.Tiles, g.TileCounts)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"type": "INTER_THREAD",
      "sharing": "COACCESSED",`), []byte(`"type": "NO_REUSE",`), 1)
	if err := os.WriteFile(edited, text, 0o666); err != nil {
		t.Fatal(err)
	}
	second := machineOf(t, append(histo, "--with", "ldesc="+file+",ldesc="+edited+",ldesc=auto+xmem="+file)...)
	if second.Machines[0].Total != first.Machines[0].Total || second.Machines[1].Total != first.Machines[1].Total {
		t.Errorf("%+v, want the counts of inferred descriptors, %+v", second.Machines[1].Total, first.Machines[1].Total)
	}
	if c := second.Machines[2].Buffers[0].Counts; c.Loads == 0 || c.L1Hits != 0 {
		t.Errorf("the buffer without reuse has %d hits of %d loads", c.L1Hits, c.Loads)
	}
	if both := second.Machines[3]; both.Total.L1Hits != first.Machines[1].Total.L1Hits {
		t.Errorf("%+v, want the L1 hits of ldesc=auto", both.Total)
	}
	// A policy that a system replaces has the name of the system.
	named := machineOf(t, "@transpose", "--size", "64", "--sweep", "dispatch=pairs", "--sweep", "l1.policy=srrip", "--sweep", "l2.policy=brrip", "--with", "ldesc="+edited+",xmem="+file)
	for i, want := range [][3]string{{"pairs", "srrip", "brrip"}, {"ldesc=" + edited + ", else pairs", "ldesc=" + edited, "brrip"}, {"pairs", "srrip", "xmem=" + file}} {
		if m := named.Machines[i]; m.Dispatcher != want[0] || m.L1.Policy != want[1] || m.L2.Policy != want[2] {
			t.Errorf("%s: dispatcher %q, policies %q and %q, want %q", m.Name, m.Dispatcher, m.L1.Policy, m.L2.Policy, want)
		}
	}
	for _, c := range []struct{ with, want string }{
		{"ldesc=auto+ldesc=" + file, "ldesc=auto and ldesc=" + file + " both replace the dispatcher: leave one of them out"},
		{"ldsc=auto", `unknown system "ldsc" (did you mean ldesc?); want one of ldesc, xmem`},
		{"ldesc", "want ldesc=auto, ldesc=program or ldesc=FILE"},
		{"xmem=auto", "want xmem=FILE or xmem=program; gemu machine --write-descriptors writes a file with atoms"},
		{"xmem=" + dir + "/none", "no such file"},
		{"xmem=../docs/histo.ptx", "histo.ptx:1: "},
		{"ldesc=auto,ldesc=auto", "is listed twice: change --spec, --sweep or --with"},
	} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), append([]string{"machine", "--with", c.with}, histo...), strings.NewReader(""), &out, &errs); status != exitBad || !strings.Contains(errs.String(), c.want) {
			t.Errorf("--with %s: status %d, %s\nwant %s", c.with, status, &errs, c.want)
		}
	}
}

// TestMachineMemory: the memory with a clock serves what the L2 reads and writes, and its channels add up.
func TestMachineMemory(t *testing.T) {
	j := machineOf(t, "@transpose", "--size", "64", "--show", "memory", "--sweep", "l2=16K,32K")
	for _, m := range j.Machines {
		c, channels := m.Memory.Counts, int64(0)
		for i := range m.Memory.Channels {
			channels += m.Memory.Channels[i].ReadBursts
		}
		if c.Accesses != c.Hits+c.InFlight+c.Misses || c.Reads == 0 || channels != c.Memory.ReadBursts || c.Memory.ReadBursts != c.Reads || len(m.Memory.Channels) != 32 {
			t.Errorf("%s: %+v, %d bursts of channels", m.Name, c, channels)
		}
		if m.Memory.ReadLatency <= m.Memory.QueueWait || m.Memory.BankParallelism < 1 || m.Memory.BusShare <= 0 || m.Memory.BusShare > 100 {
			t.Errorf("%s: %+v", m.Name, m.Memory)
		}
	}
	if j := machineOf(t, "@transpose", "--size", "64"); j.Machines[0].Memory != nil {
		t.Error("memory without --show memory")
	}
}

// TestMachineMissingWaits: warps wait at mbarriers. On a recording without their phases they do not, and the cycles name the lines, also with
// --lines, and on the page.
func TestMachineMissingWaits(t *testing.T) {
	const message = "The machine does not wait at async.ptx:71 (mbarrier): the cycles may be too few."
	dir := t.TempDir()
	file, page := filepath.Join(dir, "run.gemu"), filepath.Join(dir, "page.html")
	kernel := []string{"../docs/async.ptx", "-k", "tile", "-g", "1", "-b", "64", "tma(u32[12x16]=iota,box=8x8,swizzle=32)", "11", "5", "u32[8x8]"}
	runText(t, exitGood, append([]string{"record", "--uncompressed", "--with", "accesses,source", "-o", file}, kernel...)...)
	view := []string{"--show", "cycles", "--lines", "async.ptx:75-79", "--html", page}
	want, _ := runText(t, exitGood, slices.Concat([]string{"machine"}, kernel, view)...)
	if got, _ := runText(t, exitGood, slices.Concat([]string{"machine", "--from", file}, view)...); got != want || strings.Contains(got, "does not wait") {
		t.Errorf("from a recording:\n%s\nwant\n%s", got, want)
	}
	// In the recording of an earlier gemu, the table of uses is unknown: here by its name, in the first column of the first block, which follows
	// a header of 32 bytes, whose bytes 24 to 27 are a checksum, and three descriptors of 24 bytes.
	recording, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header, descriptors, names := recording[8:][:32], recording[40:][:3*24], recording[112:]
	names = names[:binary.LittleEndian.Uint32(descriptors[4:])]
	copy(names, bytes.ReplaceAll(names, []byte("mbarriers"), []byte("unknown-t")))
	binary.LittleEndian.PutUint32(descriptors[12:], crc32.ChecksumIEEE(names))
	binary.LittleEndian.PutUint32(header[24:], crc32.Update(crc32.ChecksumIEEE(header[:24]), crc32.IEEETable, descriptors))
	if err := os.WriteFile(file, recording, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, _ := runText(t, exitGood, slices.Concat([]string{"machine", "--from", file}, view)...); !strings.Contains(strings.Join(strings.Fields(got), " "), message) {
		t.Errorf("from an old recording:\n%s", got)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), message) {
		t.Errorf("the page does not name the lines: %v", err)
	}
}

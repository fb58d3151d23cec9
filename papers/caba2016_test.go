package papers

import (
	"math"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/probe"
)

// TestCABAUnallocated has the registers that no CTA has by hand: 32768 registers, 1536 threads, 8 CTAs, 32 KB of shared memory.
func TestCABAUnallocated(t *testing.T) {
	for _, c := range []struct {
		block   occupancy.Block
		percent float64
		threads int
	}{
		{occupancy.Block{Threads: 256, Registers: 20}, 100 * (1 - 6*256*20/32768.), 1536},                  // threads are the limit
		{occupancy.Block{Threads: 256, Registers: 19}, 100 * (1 - 6*256*20/32768.), 1536},                  // an even number
		{occupancy.Block{Threads: 256, Registers: 32}, 0, 1024},                                            // registers
		{occupancy.Block{Threads: 512, Registers: 34}, 100 * (1 - 512*34/32768.), 512},                     // one CTA, two do not fit
		{occupancy.Block{Threads: 64, Registers: 16}, 75, 512},                                             // CTAs
		{occupancy.Block{Threads: 16, Registers: 16}, 100 * (1 - 8*32*16/32768.), 128},                     // half a warp has the registers of a warp
		{occupancy.Block{Threads: 256, Registers: 16, Shared: 12 << 10}, 100 * (1 - 2*256*16/32768.), 512}, // shared memory
	} {
		if percent, threads := cabaUnallocated(c.block); math.Abs(percent-c.percent) > 1e-9 || threads != c.threads {
			t.Errorf("%+v: %v %%, %d threads; want %v %%, %d", c.block, percent, threads, c.percent, c.threads)
		}
	}
}

// TestCABATables measures a program at a small size: values agree between the interpretations, and a mean of one program is the program.
func TestCABATables(t *testing.T) {
	part.SkipShort(t)
	defer func(list []cabaProgram) { cabaPrograms = list }(cabaPrograms)
	cabaPrograms = []cabaProgram{{name: "nw", workload: "nw", size: 128, better: "other"}}
	m := NewMeter(t.Context(), 0, 0, nil)
	defer m.Close()
	values := map[string]map[string]float64{} // by table and interpretation
	for _, table := range caba2016().Tables {
		if slices.Contains([]string{"speed", "levels", "large"}, table.Name) { // TestCABASpeed has less of them
			continue
		}
		for i := range table.Interpretations {
			r := &table.Interpretations[i]
			for j := range table.Rows {
				row := &table.Rows[j]
				if row.Name == cabaCompressible {
					continue
				}
				v, err := table.Measure(m, row, r)
				if err != nil {
					t.Fatal(err)
				}
				if row.Name == cabaMean {
					delete(values[table.Name+" "+r.Name], "better")
					sameValues(t, table.Name, v, values[table.Name+" "+r.Name])
				}
				values[table.Name+" "+r.Name] = v
			}
		}
	}
	head, listing, metadata := values["bursts headline"], values["bursts "+cabaListing], values["bursts "+cabaWithMD]
	if head["bdi"] < listing["bdi"] || head["bdi"] <= metadata["bdi"] || head["best"] < max(head["bdi"], head["fpc"], head["c_pack"]) || head["bdi"] < 1.5 || head["changed"] != 0 {
		t.Errorf("%v, %v, %v", head, listing, metadata)
	}
	// Lines of bfs begin with zero, so that the listing has a base that is none.
	bursts, graph := caba2016().Table("bursts"), cabaProgram{name: "BFS", workload: "bfs", size: 1 << 10}
	cabaPrograms = []cabaProgram{graph}
	byBoth := map[string]float64{}
	for _, name := range []string{cabaHeadline, cabaListing} {
		v, err := bursts.Measure(m, &Row{Name: "BFS", Workload: "bfs"}, &Interpretation{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		byBoth[name] = v["bdi"]
	}
	if byBoth[cabaHeadline] <= byBoth[cabaListing] {
		t.Errorf("%v", byBoth)
	}
	// All matrices of nw have less than 4 MB: each line of metadata misses once.
	md := values["md headline"]
	misses := md["lookups"] * (1 - md["hits"]/100)
	if bytes := 4.0 * 129 * 129 * 2; misses < bytes/(128*128) || misses > bytes/(128*128)+6 {
		t.Errorf("%v misses, %v", misses, md)
	}
	if wide := values["md "+cabaLine128]; wide["hits"] < md["hits"] || wide["lookups"] != md["lookups"] {
		t.Errorf("%v, %v", wide, md)
	}
}

// TestCABAMeans: a program without a value is not in the mean.
func TestCABAMeans(t *testing.T) {
	defer func(list []cabaProgram) { cabaPrograms = list }(cabaPrograms)
	cabaPrograms = []cabaProgram{{name: "a"}, {name: "b"}, {name: "c"}}
	values := map[string]map[string]float64{"a": {"x": 1, "y": 5}, "b": {"x": 2}, "c": {"x": 6, "y": 7}}
	got, err := cabaMeans(func(p *cabaProgram) (map[string]float64, error) { return values[p.name], nil }, func(map[string]float64) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	sameValues(t, "means", got, map[string]float64{"x": 3, "y": 6})
}

// TestRecountOfCABABursts recounts the table bursts of small programs: each line that the machine transfers is compressed again.
func TestRecountOfCABABursts(t *testing.T) {
	part.SkipShort(t)
	defer func(list []cabaProgram) { cabaPrograms = list }(cabaPrograms)
	table := caba2016().Table("bursts")
	for _, p := range []cabaProgram{{name: "nw", workload: "nw", size: 64}, {name: "BFS", workload: "bfs", size: 512}, {name: "backprop", workload: "backprop", size: 256}} {
		cabaPrograms = []cabaProgram{p}
		spec, _ := machine.Find("caba")
		again := machine.New(spec, 0)
		var n recount.Bursts
		again.OnTransfer(func(x *machine.Transfer) {
			if line := new([128]byte); x.Bytes((*stream.Line)(line)) {
				n.Add(recount.BurstsOf(line))
			} else {
				n.Add(recount.BurstsOf(nil))
			}
		})
		s, err := kernels.Start(t.Context(), kernels.Lookup(p.workload), interp.NewDevice(interp.Config{Probes: []probe.Probe{stream.NewDataRecorder(again)}}), p.size)
		if err != nil {
			t.Fatal(err)
		}
		s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
		if err := kernels.Lookup(p.workload).Run(s); err != nil {
			t.Fatal(err)
		}
		m := NewMeter(t.Context(), 0, 0, nil)
		defer m.Close()
		for _, name := range []string{cabaHeadline, cabaListing} {
			got, err := table.Measure(m, &Row{Name: p.name, Workload: p.workload}, &Interpretation{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			ratio := func(bursts int64) float64 { return float64(4*n.Lines) / float64(bursts) }
			want := map[string]float64{"bdi": ratio(n.BDI), "fpc": ratio(n.FPC), "c_pack": ratio(n.CPack), "best": ratio(n.Best), "byte_wise": ratio(n.Bytewise), "raw": share(n.Raw, n.Lines), "better": 0, "changed": 0}
			bdi := n.BDI
			if name == cabaListing {
				bdi = n.Listing
				want["bdi"] = ratio(bdi)
				delete(want, "best")
			}
			if bdi <= min(n.FPC, n.CPack) {
				want["better"] = 1
			}
			sameValues(t, p.name+", "+name, got, want)
		}
	}
}

// TestCABASpeed: a program has all columns of table speed, and no design with the bytes of the ideal one transfers fewer bursts. The widths of the data
// buses are half and twice those of the machine.
func TestCABASpeed(t *testing.T) {
	part.SkipShort(t)
	m := NewMeter(t.Context(), 0, 0, nil)
	defer m.Close()
	table := cabaSpeedTable()
	v, err := table.Measure(m, &Row{Name: "SLA", Workload: "caba/sla", Size: 1 << 10}, &table.Interpretations[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Columns {
		if v[c.Name] <= 0 {
			t.Errorf("%s: %v", c.Name, v[c.Name])
		}
	}
	if v["traffic"] < 1 || v["best_traffic"] < 1 {
		t.Errorf("traffic rises: %v", v)
	}
	for _, table := range []*Table{cabaLevels(), cabaLargeTable()} {
		v, err := table.Measure(m, &Row{Name: "SLA", Workload: "caba/sla", Size: 1 << 10}, &table.Interpretations[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range table.Columns {
			if v[c.Name] <= 0 && c.Name != "as_named" {
				t.Errorf("%s: %s: %v", table.Name, c.Name, v[c.Name])
			}
		}
	}
	for _, c := range []struct {
		program     string
		twice, four float64
		want        int
	}{{"LPS", 0.5, 1.5, 0}, {"LPS", 0.5, 0.9, 1}, {"bfs", 0.5, 1.5, 1}, {"bfs", 1, 1.005, 0}} {
		if agree, named := countDirections(c.program, map[string]float64{"l1x2": c.twice, "l1x4": c.four}); agree != c.want || named != 1 {
			t.Errorf("%+v: %d of %d effects as the text names them; want %d of 1", c, agree, named, c.want)
		}
	}
	for name, want := range map[string]int{"headline": 32, cabaHalf: 16, cabaDouble: 64} {
		spec := cabaClockSpec(&Interpretation{Name: name})
		if spec.Timing.BusBytes != want || !spec.L1Lines {
			t.Errorf("%s: %d bytes", name, spec.Timing.BusBytes)
		}
	}
}

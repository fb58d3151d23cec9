package papers

// This file has Vijaykumar et al. 2016, assist warps for compressed memory (CABA). docs/caba.md defines the columns and
// interpretations.

import (
	"maps"
	"slices"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/probe"
	"gemu/ptx"
	"gemu/spill"
)

// cabaProgram is a program of the paper.
type cabaProgram struct {
	name     string // in the paper
	workload string // in the library
	size     int    // larger than the L2
	better   string // algorithm with the higher ratio in section 7.3: "bdi", or "other" for FPC or C-Pack; "" if the text does not say
}

var cabaPrograms = []cabaProgram{
	{name: "BFS", workload: "bfs", size: 1 << 16},
	{name: "CONS", workload: "conv", size: 1 << 19},
	{name: "JPEG", workload: "caba/jpeg", size: 1536, better: "other"},
	{name: "LPS", workload: "lps", size: 100, better: "other"},
	{name: "MUM", workload: "caba/mum", size: 1 << 17, better: "other"},
	{name: "RAY", workload: "caba/ray", size: 512},
	{name: "SLA", workload: "caba/sla", size: 1 << 21},
	{name: "TRA", workload: "transpose", size: 1536},
	{name: "hs", workload: "hotspot", size: 768},
	{name: "nw", workload: "nw", size: 768, better: "other"},
	{name: "KM", workload: "caba/km", size: 1 << 16},
	{name: "MM", workload: "caba/mm", size: 512, better: "bdi"},
	{name: "PVC", workload: "caba/pvc", size: 1 << 17, better: "bdi"},
	{name: "PVR", workload: "caba/pvr", size: 1 << 17, better: "bdi"},
	{name: "SS", workload: "caba/ss", size: 512},
	{name: "bfs", workload: "caba/bfs", size: 1 << 17},
	{name: "bh", workload: "caba/bh", size: 1 << 12},
	{name: "mst", workload: "caba/mst", size: 1 << 17},
	{name: "sp", workload: "caba/sp", size: 1 << 15},
	{name: "sssp", workload: "caba/sssp", size: 1 << 17},
}

// Names of the rows that are means of programs.
const (
	cabaMean         = "mean"
	cabaCompressible = "mean≥1.1" // of programs with a ratio of at least 1.1; section 6: "at least 10%"
)

// cabaRows returns the programs, and means with the paper's values.
func cabaRows(values func(p *cabaProgram) map[string]float64, means ...Row) (rows []Row) {
	for i := range cabaPrograms {
		p := &cabaPrograms[i]
		row := Row{Name: p.name, Workload: p.workload, Size: p.size, Values: map[string]float64{}}
		if values != nil {
			row.Values = values(p)
		}
		rows = append(rows, row)
	}
	for _, m := range means {
		m.Summary = true
		rows = append(rows, m)
	}
	return rows
}

// cabaMeans returns the means of measured values over the programs that chosen accepts. A program without a value is not in its mean.
func cabaMeans(measure func(p *cabaProgram) (map[string]float64, error), chosen func(values map[string]float64) bool) (map[string]float64, error) {
	sums, n := map[string]float64{}, map[string]float64{}
	for i := range cabaPrograms {
		p := &cabaPrograms[i]
		values, err := measure(p)
		if err != nil {
			return nil, err
		}
		if !chosen(values) {
			continue
		}
		for name, v := range values {
			sums[name] += v
			n[name]++
		}
	}
	for name := range sums {
		sums[name] /= n[name]
	}
	delete(sums, "better") // of a single program
	return sums, nil
}

// cabaMeasure returns a Table.Measure of the values of a program.
func cabaMeasure(values func(m *Meter, p *cabaProgram, r *Interpretation) (map[string]float64, error)) func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
	return func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		of := func(p *cabaProgram) (map[string]float64, error) { return values(m, p, r) }
		switch row.Name {
		case cabaMean:
			return cabaMeans(of, func(map[string]float64) bool { return true })
		case cabaCompressible:
			return cabaMeans(of, func(values map[string]float64) bool {
				return max(values["bdi"], values["fpc"], values["c_pack"]) >= 1.1
			})
		}
		return of(&cabaPrograms[slices.IndexFunc(cabaPrograms, func(p cabaProgram) bool { return p.name == row.Name })])
	}
}

// caba2016 returns the comparison.
func caba2016() *Paper {
	return &Paper{Name: "caba2016", Study: "vijaykumar2016", Title: "Vijaykumar et al., 2016: assist warps for compressed memory (CABA)", Tables: []*Table{cabaRegisters(), cabaBursts(), cabaMetadata(), cabaRoutines(), cabaAssistCosts(), cabaSpeedTable(), cabaLevels(), cabaLargeTable()}}
}

// Table "registers".

const cabaAtOnce = "at once"

func cabaRegisters() *Table {
	return &Table{
		Name: "registers", Title: "registers of a multiprocessor that no CTA has, with 1536 threads and 8 CTAs (figure 3)",
		Note: "The paper states the mean over 27 programs.",
		Columns: []Column{
			{Name: "unallocated", Head: [2]string{"unal-", "located"}, Digits: 1, Doc: "registers without a CTA, share of 32768, as the mean of the program's kernels"},
			{Name: "registers", Head: [2]string{"", "regs"}, Digits: 1, Doc: "registers of a thread, as the mean of the program's kernels", NotRanked: true},
			{Name: "threads", Head: [2]string{"", "threads"}, Digits: 0, Doc: "resident threads of a multiprocessor, as the mean of the program's kernels", NotRanked: true},
		},
		Rows: cabaRows(nil, Row{Name: cabaMean, Values: map[string]float64{"unallocated": 24}}),
		Interpretations: []Interpretation{
			{"headline", "a thread has r_base registers, rounded up to an even number"},
			{cabaAtOnce, "a thread has as many registers as have a value at the same place"},
		},
		Measure: cabaMeasure(func(m *Meter, p *cabaProgram, r *Interpretation) (map[string]float64, error) {
			blocks, err := cabaBlocks(m, p.workload)
			if err != nil {
				return nil, err
			}
			values := map[string]float64{}
			for _, b := range blocks {
				regs := b.registers.Base
				if r.Name == cabaAtOnce {
					regs = b.registers.Pressure
				}
				unallocated, threads := cabaUnallocated(occupancy.Block{Threads: b.threads, Registers: regs, Shared: b.shared})
				n := float64(len(blocks))
				values["unallocated"] += unallocated / n
				values["registers"] += float64(regs) / n
				values["threads"] += float64(threads) / n
			}
			return values, nil
		}),
	}
}

// cabaLimits are the resources of a multiprocessor in table 1 and section 3.
var cabaLimits = func() occupancy.Limits {
	l := *occupancy.LimitsOf(20)
	l.Shared, l.PerBlock = 32<<10, 32<<10
	return l
}()

// cabaUnallocated returns the share of registers without a CTA, in percent, and the resident threads. It rounds the registers of a thread up to
// an even number.
func cabaUnallocated(b occupancy.Block) (percent float64, threads int) {
	b.Registers = (b.Registers + 1) / 2 * 2
	n, _ := cabaLimits.Resident(b)
	warps := (b.Threads + 31) / 32
	return 100 - share(int64(n*warps*32*b.Registers), int64(cabaLimits.FileSize)), n * b.Threads
}

// cabaBlock is the blocks of a kernel.
type cabaBlock struct {
	threads, shared int
	registers       spill.Range
}

// cabaBlocks returns the blocks of the kernels of a workload, by the name of the kernel.
func cabaBlocks(m *Meter, workload string) ([]cabaBlock, error) {
	return measureOnce(m, "caba2016 blocks "+workload, func() ([]cabaBlock, error) {
		launches := &launchProbe{list: map[string]*probe.LaunchInfo{}}
		if err := m.run(workload, 0, func(*interp.Launch) {}, launches); err != nil {
			return nil, err
		}
		module, err := ptx.ParseString(workload+".ptx", kernels.Lookup(workload).PTX())
		if err != nil {
			return nil, err
		}
		var list []cabaBlock
		for _, name := range slices.Sorted(maps.Keys(launches.list)) {
			l := launches.list[name]
			r, err := spill.RangeOf(m.ctx, module.Lookup(name).(*ptx.Func))
			if err != nil {
				return nil, err
			}
			list = append(list, cabaBlock{l.Block.Count(), l.SharedBytes, r})
		}
		return list, nil
	})
}

// launchProbe keeps the last launch of each kernel.
type launchProbe struct{ list map[string]*probe.LaunchInfo }

func (p *launchProbe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch}
}
func (p *launchProbe) OnEvent(e *probe.Event) { p.list[e.Launch.Kernel.Name] = e.Launch }

func (p *launchProbe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

// Tables "bursts" and "md".

// Interpretations of these tables.
const (
	cabaListing  = "listing"
	cabaWithMD   = "with metadata"
	cabaLine64   = "lines of 64 bytes"
	cabaLine128  = "lines of 128 bytes"
	cabaHeadline = "headline"
)

// cabaMetadataLines are the sizes of a line of metadata, by interpretation.
var cabaMetadataLines = map[string]int{cabaHeadline: 32, cabaLine64: 64, cabaLine128: 128}

// cabaCounts are the transfers of a program.
type cabaCounts struct {
	total    machine.BurstCounts
	metadata map[string]machine.MetadataCounts // by interpretation
	image    machine.ImageCounts
}

// cabaRun runs a program on the paper's machine.
func cabaRun(m *Meter, p *cabaProgram) (*cabaCounts, error) {
	return measureOnce(m, "caba2016 "+p.workload, func() (*cabaCounts, error) {
		spec, _ := machine.Find("caba")
		on := machine.New(spec, 0)
		counts := machine.NewCompression(on)
		metadata := map[string]*machine.MetadataCounts{}
		for name, bytes := range cabaMetadataLines {
			cache := machine.MetadataOfCABA
			cache.LineBytes = bytes
			metadata[name] = counts.AddMetadata(cache)
		}
		recorder := stream.NewDataRecorder(on)
		recorder.RecordHostWrites() // they change metadata
		if err := m.run(p.workload, p.size, func(*interp.Launch) {}, recorder); err != nil {
			return nil, err
		}
		if err := m.verify.machine(on); err != nil {
			return nil, err
		}
		if err := counts.Verify(); err != nil {
			return nil, err
		}
		out := &cabaCounts{total: counts.Total(), metadata: map[string]machine.MetadataCounts{}}
		for name, c := range metadata {
			out.metadata[name] = *c
		}
		for _, l := range on.Launches() {
			out.image.Add(&l.Image)
		}
		return out, nil
	})
}

func cabaBursts() *Table {
	ratio := func(name, head, doc string) Column {
		return Column{Name: name, Head: [2]string{"", head}, Digits: 2, Doc: "bursts without compression by bursts " + doc}
	}
	return &Table{
		Name: "bursts", Title: "bursts of memory without compression by bursts with it (figure 13, section 7.3)",
		Note: "The paper states its mean in words, and for seven programs the better algorithm. Column bdi better: 1 if BDI is at least as good as FPC and C-Pack.",
		Columns: []Column{
			ratio("bdi", "BDI", "in forms of BDI"),
			ratio("fpc", "FPC", "in forms of FPC"),
			ratio("c_pack", "C-Pack", "in forms of C-Pack"),
			ratio("best", "best", "in the smallest form of the three for each line"),
			{Name: "byte_wise", Head: [2]string{"byte-", "wise"}, Digits: 2, Doc: "bursts without compression by bursts in byte-wise forms, which the paper does not have", NotRanked: true},
			{Name: "better", Head: [2]string{"bdi", "better"}, Doc: "1 if BDI has at most the bursts of FPC and of C-Pack, otherwise 0", NotRanked: true},
			{Name: "raw", Head: [2]string{"raw", "lines"}, Digits: 1, Doc: "lines that no algorithm makes smaller, share of transferred lines", NotRanked: true},
			{Name: "changed", Head: [2]string{"other", "order"}, Digits: 2, Doc: "loads of lines that would have seen another value in the order of the machine, share of all", NotRanked: true},
		},
		Rows: cabaRows(func(p *cabaProgram) map[string]float64 {
			switch p.better {
			case "bdi":
				return map[string]float64{"better": 1}
			case "other":
				return map[string]float64{"better": 0}
			}
			return map[string]float64{}
		}, Row{Name: cabaMean, Values: map[string]float64{}}, Row{Name: cabaCompressible, Values: map[string]float64{"bdi": 2.1}}),
		Interpretations: []Interpretation{
			{cabaHeadline, "lines that the L2 reads and writes back"},
			{cabaListing, "BDI to the letter of algorithm 2: the first value is the base, and the first encoding that fits is used"},
			{cabaWithMD, "bursts of metadata count too, with compression"},
		},
		Measure: cabaMeasure(func(m *Meter, p *cabaProgram, r *Interpretation) (map[string]float64, error) {
			n, err := cabaRun(m, p)
			if err != nil {
				return nil, err
			}
			t := n.total
			if r.Name == cabaListing {
				t.BDI = t.Listing
				t.Best = 0
			}
			extra := int64(0)
			if r.Name == cabaWithMD {
				md := n.metadata[cabaHeadline]
				extra = md.Lookups - md.Hits + md.Writes
			}
			values := map[string]float64{}
			for name, bursts := range map[string]int64{"bdi": t.BDI, "fpc": t.FPC, "c_pack": t.CPack, "best": t.Best, "byte_wise": t.Bytewise} {
				if bursts > 0 { // no smallest form was counted with the listing's
					values[name] = float64(t.Bursts()) / float64(bursts+extra)
				}
			}
			values["better"] = 0
			if t.BDI <= min(t.FPC, t.CPack) {
				values["better"] = 1
			}
			values["raw"] = share(t.Raw, t.Reads+t.Writes)
			values["changed"] = share(n.image.Changed, n.image.Loads)
			return values, nil
		}),
	}
}

func cabaMetadata() *Table {
	return &Table{
		Name: "md", Title: "hits in a cache of metadata of 8 KB in 4 ways (section 5.3.2)",
		Note: "The paper states the mean, and over 99 % for many programs. 8 KB reach 4 MB of data.",
		Columns: []Column{
			{Name: "hits", Head: [2]string{"", "hits"}, Digits: 1, Doc: "lookups whose line of metadata is in the cache, share of transferred lines"},
			{Name: "lookups", Head: [2]string{"", "lookups"}, Doc: "transferred lines", NotRanked: true},
			{Name: "written", Head: [2]string{"lines", "written"}, Doc: "lines of metadata that are written to memory", NotRanked: true},
		},
		Rows: cabaRows(nil, Row{Name: cabaMean, Values: map[string]float64{"hits": 85}}),
		Interpretations: []Interpretation{
			{cabaHeadline, "lines of 32 bytes, each for 128 lines of data"},
			{cabaLine64, "lines of 64 bytes"},
			{cabaLine128, "lines of 128 bytes"},
		},
		Measure: cabaMeasure(func(m *Meter, p *cabaProgram, r *Interpretation) (map[string]float64, error) {
			n, err := cabaRun(m, p)
			if err != nil {
				return nil, err
			}
			md := n.metadata[r.Name]
			return map[string]float64{"hits": share(md.Hits, md.Lookups), "lookups": float64(md.Lookups), "written": float64(md.Writes)}, nil
		}),
	}
}

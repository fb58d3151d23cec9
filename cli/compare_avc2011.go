package cli

// This file is Collange and Kouyoumdjian 2011, the Affine Vector Cache: what is compared with it,
// and by which reading, is in docs/avc.md.

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"gemu/interp"
	"gemu/kernels"
	"gemu/models/avc"
	"gemu/ptx"
	"gemu/spill"
)

//go:embed papers/avc2011_table4.csv
var avc2011Table4 []byte

// avcKernel is a kernel of the paper: its name in table 4, a shorter one, and what it is here.
type avcKernel struct{ paper, short, workload, kernel, application string }

var avcKernels = []avcKernel{
	{"Backprop2", "bprop2", "backprop", "backprop_adjust", "Backprop"},
	{"CFD2", "cfd2", "cfd", "cfd_flux", "CFD"},
	{"FDTD3D", "fdtd3d", "fdtd3d", "fdtd3d", "FDTD3D"},
	{"SRAD2", "srad2", "srad", "srad_diffuse", "SRAD"},
	{"SRAD1", "srad1", "srad", "srad_coefficient", "SRAD"},
	{"Backprop1", "bprop1", "backprop", "backprop_forward", "Backprop"},
	{"Hotspot", "hotspot", "hotspot", "hotspot", "Hotspot"},
	{"FastWalshTransform2", "fwt2", "fwt", "fwt_shared", "FastWalshTransform"},
	{"BlackScholes", "blacksch", "blackscholes", "blackscholes", "BlackScholes"},
	{"FastWalshTransform3", "fwt3", "fwt", "fwt_modulate", "FastWalshTransform"},
	{"Heartwall", "heartwal", "heartwall", "heartwall", "Heartwall"},
	{"LUD3", "lud3", "lud", "lud_internal", "LUD"},
	{"NeedlemanWunsch1", "nw1", "nw", "nw_grow", "NeedlemanWunsch"},
	{"BinomialOptions", "binomial", "binomial", "binomial", "BinomialOptions"},
}

// avcWide are those that section 3.2 looks at in blocks of 32 × 32 too.
var avcWide = func() (list []avcKernel) {
	for _, k := range avcKernels {
		switch k.application {
		case "Backprop", "Hotspot", "SRAD":
			k.paper, k.short, k.workload = "", k.short+"w", k.workload+"32"
			list = append(list, k)
		}
	}
	return list
}()

// avcSizes are the sizes of workloads that the numbers of docs/avc.md are of: at least two waves of 48
// warps. The library's own may change without them.
var avcSizes = map[string]int{
	"backprop": 1 << 12, "binomial": 256, "blackscholes": 1 << 16, "cfd": 1 << 12, "fdtd3d": 64, "fwt": 1 << 15,
	"heartwall": 24, "hotspot": 192, "lud": 128, "nw": 48 * 16, "srad": 128,
	"backprop32": 1 << 12, "hotspot32": 192, "srad32": 128,
}

// avcInterpretations are the readings of the cache and of how warps run on it; the first is the headline.
var avcInterpretations = []struct {
	paperInterpretation
	schedule avc.Schedule
	lru      bool
}{
	{paperInterpretation{"headline", "tree pseudo-LRU, a word's warps side by side, one instruction of each warp in turn"}, avc.Schedule{}, false},
	{paperInterpretation{"LRU", "exact, in place of the tree"}, avc.Schedule{}, true},
	{paperInterpretation{"warp by warp", "a warp's words side by side, in frames of a power of two"}, avc.Schedule{WarpByWarp: true}, false},
	{paperInterpretation{"greedy", "the same warp until it ends"}, avc.Schedule{Greedy: true}, false},
	{paperInterpretation{"whole CTAs", "only as many warps resident as make whole CTAs"}, avc.Schedule{WholeCTAs: true}, false},
}

// avcLetter is the text's wording, of r_cache.
var avcLetter = paperInterpretation{"to the letter", "the smallest register count with so little traffic, whatever greater ones have"}

// avcShares are the shares of r_base that figures 1, 2 and 6 are looked at.
var avcShares = []float64{0.5, 0.75, 0.25}

// avcProfiled are the kernels, of those that the text says something about, whose traffic is shown over
// registers, and avcSteps the shares of r_base.
var (
	avcProfiled = []string{"cfd2", "fdtd3d", "hotspot", "heartwal", "nw1", "srad1"}
	avcSteps    = []float64{1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25}
)

// avcKept is how many warps of a launch the caches are given: three waves.
const avcKept = 3 * avc.MaxWarps

// negligible is the traffic, in blocks to an instruction, that section 5.1 neglects.
const negligible = 1e-4

// avcResult is what has been measured of a kernel.
type avcResult struct {
	base, minRegs int
	points        map[int]*avcPoint // by registers: those that figures look at

	profiled bool
	cached   [][]int // r_cache, by reading and configuration; none of a version that table 4 does not have
	literal  []int   // to the letter
	compact  int     // the least registers from which on no vector in private memory is generic
	live     int     // the most registers that hold what is generic at once, before anything is spilled
}

// avcPoint is a kernel with some registers.
type avcPoint struct {
	avc.Counts
	traffic []float64   // by configuration, of the headline: blocks to an instruction
	second  avc.Outcome // of configuration 2
}

// registersAt is the registers of a share of r_base: rounded half up, and no less than the least.
func (r *avcResult) registersAt(share float64) int { return max(r.minRegs, r.rounded(share)) }

func (r *avcResult) rounded(share float64) int { return int(share*float64(r.base) + 0.5) }

// avcMeasure measures the kernels of a workload that the paper has, by name.
func avcMeasure(m *meter, workload string) (map[string]*avcResult, error) {
	return measureOnce(m, "avc2011 "+workload, func() (map[string]*avcResult, error) {
		w := kernels.Lookup(workload)
		module, err := ptx.ParseString(workload+".ptx", w.PTX())
		if err != nil {
			return nil, err
		}
		out := map[string]*avcResult{}
		maximum, minimum := 0, 1
		for _, f := range module.Kernels() {
			r, err := spill.RangeOf(m.app.ctx, f)
			if err != nil {
				return nil, err
			}
			minimum = max(minimum, r.Min)
			for _, k := range slices.Concat(avcKernels, avcWide) {
				if k.workload != workload || k.kernel != f.Name {
					continue
				}
				result := &avcResult{base: r.Base, points: map[int]*avcPoint{}, profiled: slices.Contains(avcProfiled, k.short)}
				if k.paper != "" {
					for range avcInterpretations {
						result.cached = append(result.cached, make([]int, len(avc.Configs))) // 0: not known yet
					}
					result.literal = make([]int, len(avc.Configs))
				}
				out[f.Name] = result
				maximum = max(maximum, r.Base)
			}
		}
		for _, r := range out {
			r.minRegs = minimum
		}
		for regs := maximum; regs >= minimum; regs-- {
			list := slices.Collect(maps.Values(out))
			if !slices.ContainsFunc(list, func(r *avcResult) bool { return r.isWanted(regs) }) {
				continue
			}
			if err := avcRun(m, w, module, regs, out); err != nil {
				return nil, fmt.Errorf("%s with %d registers: %w", workload, regs, err)
			}
		}
		working := &avc.WorkingSet{Warps: avcKept}
		if err := avcWatch(m, w, w.PTX(), working); err != nil {
			return nil, err
		}
		for name, r := range out {
			r.finish()
			r.live = working.Generic(name)
		}
		return out, nil
	})
}

// finish says what was found for all registers.
func (r *avcResult) finish() {
	for _, list := range r.cached {
		for c := range list {
			if list[c] == 0 {
				list[c] = r.minRegs
			}
		}
	}
	if r.compact == 0 {
		r.compact = r.minRegs
	}
}

// isWanted reports whether the kernel has to be run with so many registers: a figure looks at it, or
// r_cache is looked for.
func (r *avcResult) isWanted(regs int) bool {
	return regs <= r.base && (r.shown(regs) || r.cached != nil)
}

// shown reports whether a figure looks at so many registers.
func (r *avcResult) shown(regs int) bool {
	at := func(s float64) bool { return r.registersAt(s) == regs }
	return slices.ContainsFunc(avcShares, at) || r.profiled && slices.ContainsFunc(avcSteps, at)
}

// avcRun runs a workload with so many registers.
func avcRun(m *meter, w *kernels.Workload, module *ptx.Module, regs int, out map[string]*avcResult) error {
	src, _, err := spill.Module(m.app.ctx, module, regs)
	if err != nil {
		return err
	}
	recorder := &avc.Recorder{Warps: avcKept, CompressedOnly: true}
	for _, r := range out {
		if r.shown(regs) {
			recorder.CompressedOnly = false
		}
	}
	if err := avcWatch(m, w, src, recorder); err != nil {
		return err
	}
	for _, k := range recorder.Kernels() {
		r := out[k.Name]
		if r == nil || !r.isWanted(regs) {
			continue
		}
		p := &avcPoint{Counts: k.Counts, traffic: make([]float64, len(avc.Configs))}
		if err := r.replay(k, regs, p); err != nil {
			return err
		}
		if r.compact == 0 && p.Total(avc.Generic) > 0 {
			r.compact = regs + 1
		}
		if r.shown(regs) {
			r.points[regs] = p
		}
	}
	return nil
}

// avcWatch runs a workload with other PTX, watched by a probe.
func avcWatch(m *meter, w *kernels.Workload, src string, p interp.Probe) error {
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []interp.Probe{p}, TimeLimit: time.Duration(m.limit)})
	s, err := kernels.Start(m.app.ctx, w, dev, avcSizes[w.Name])
	if err != nil {
		return err
	}
	if s.Module, err = dev.Load(w.Name+".ptx", []byte(src)); err != nil {
		return err
	}
	s.Prepare = func(l *interp.Launch) {
		l.Mode, l.Reconverge = interp.Vector, interp.ReconvergerNamed("stack")
	}
	return w.Run(s)
}

// replay runs a kernel's warps through the caches: those of the headline, and those of other readings
// whose r_cache is not known. Readings that differ in the caches only go together.
func (r *avcResult) replay(k *avc.Kernel, regs int, p *avcPoint) error {
	type cache struct{ interpretation, config int }
	var schedules []avc.Schedule
	caches := map[avc.Schedule][]cache{}
	for i := range avcInterpretations {
		for c := range avc.Configs {
			if i > 0 && (r.cached == nil || r.cached[i][c] != 0) {
				continue
			}
			s := avcInterpretations[i].schedule
			s.Regs = regs
			if caches[s] == nil {
				schedules = append(schedules, s)
			}
			caches[s] = append(caches[s], cache{i, c})
		}
	}
	for _, s := range schedules {
		var configs []avc.Config
		for _, c := range caches[s] {
			config := avc.Configs[c.config]
			config.LRU = avcInterpretations[c.interpretation].lru
			configs = append(configs, config)
		}
		list, err := avc.ReplayAll(k, s, configs...)
		if err != nil {
			return err
		}
		for i, c := range caches[s] {
			r.note(c.interpretation, c.config, regs, list[i].PerInstruction(), p)
			if c == (cache{0, 2}) {
				p.second = list[i]
			}
		}
	}
	return nil
}

// note notes the traffic of a reading and configuration. Registers become fewer from one to the next.
func (r *avcResult) note(reading, config, regs int, traffic float64, p *avcPoint) {
	if reading == 0 {
		p.traffic[config] = traffic
	}
	switch {
	case r.cached == nil:
	case traffic < negligible:
		if reading == 0 {
			r.literal[config] = regs
		}
	case r.cached[reading][config] == 0:
		r.cached[reading][config] = regs + 1
	}
}

// avcOf is what has been measured of a row's kernel.
func avcOf(m *meter, row *paperRow) (*avcResult, error) {
	return avcNamed(m, row.name)
}

// avcNamed is what has been measured of a kernel, by its shorter name.
func avcNamed(m *meter, short string) (*avcResult, error) {
	for _, k := range slices.Concat(avcKernels, avcWide) {
		if k.short == short {
			all, err := avcMeasure(m, k.workload)
			return all[k.kernel], err
		}
	}
	panic("BUG: no kernel " + short)
}

// avcRows are the kernels, with the paper's values of table 4 if they are wanted.
func avcRows(values bool) []paperRow {
	rows := readRows(avc2011Table4, nil)
	for i := range rows {
		for _, k := range avcKernels {
			if k.paper == rows[i].name {
				rows[i].name, rows[i].workload = k.short, k.workload
			}
		}
		if !values {
			rows[i].values, rows[i].bound = map[string]float64{}, nil
		}
	}
	return rows
}

// avcWideRows are those in blocks of 32 × 32.
func avcWideRows() (rows []paperRow) {
	for _, k := range avcWide {
		rows = append(rows, paperRow{name: k.short, workload: k.workload, values: map[string]float64{}})
	}
	return rows
}

// avcWidened are the kernels of the paper, in blocks of 32 × 32 where it has them.
func avcWidened() []avcKernel {
	list := slices.Clone(avcKernels)
	for i := range list {
		for _, k := range avcWide {
			if k.kernel == list[i].kernel {
				list[i] = k
			}
		}
	}
	return list
}

// avcMean is the mean of a value of some kernels, by application, in each of which kernels weigh alike, or by kernel.
func avcMean(m *meter, kernels []avcKernel, byKernel bool, value func(r *avcResult) (v float64, ok bool)) (float64, error) {
	type sum struct{ total, n float64 }
	var names []string
	sums := map[string]*sum{}
	for i, k := range kernels {
		all, err := avcMeasure(m, k.workload)
		if err != nil {
			return 0, err
		}
		v, ok := value(all[k.kernel])
		if !ok {
			continue
		}
		name := k.application
		if byKernel {
			name = fmt.Sprint(i)
		}
		if sums[name] == nil {
			sums[name] = &sum{}
			names = append(names, name)
		}
		sums[name].total += v
		sums[name].n++
	}
	total := 0.0
	for _, name := range names {
		total += sums[name].total / sums[name].n
	}
	return total / float64(max(len(names), 1)), nil
}

// avcPercent is a share; ok is false of nothing.
func avcPercent(part, all int64) (v float64, ok bool) {
	return share(part, all), all > 0
}

// avcFigure1 are the columns of figure 1, of a kernel; ok is false where there is no private traffic.
var avcFigure1 = []struct {
	paperColumn
	measured func(r *avcResult) (v float64, ok bool)
}{
	{paperColumn{name: "r_base", head: [2]string{"", "r_base"}, doc: "fewest registers with which nothing is loaded back"}, func(r *avcResult) (float64, bool) { return float64(r.base), true }},
	{paperColumn{name: "zero", head: [2]string{"", "zero"}, digits: 1, doc: "0 in all active lanes, of private transactions at r = 0.5 r_base"}, avcClass(avc.Zero)},
	{paperColumn{name: "uniform", head: [2]string{"uni-", "form"}, digits: 1, doc: "the same and not 0, of them"}, avcClass(avc.Uniform)},
	{paperColumn{name: "affine", head: [2]string{"", "affine"}, digits: 1, doc: "affine and not uniform, of them"}, avcClass(avc.Affine)},
	{paperColumn{name: "ratio", head: [2]string{"all", "three"}, digits: 1, doc: "zero, uniform and affine, of them: the paper's affine ratio"}, avcRatio(0.5)},
	{paperColumn{name: "ratio75", head: [2]string{"three", "at .75"}, digits: 1, doc: "the same at r = 0.75 r_base"}, avcRatio(0.75)},
	{paperColumn{name: "ratio_low", head: [2]string{"low", "words"}, digits: 1, doc: "the ratio where accesses wider than 32 bits count with their first word", wholeColumn: "ratio"}, func(r *avcResult) (float64, bool) {
		n := r.points[r.registersAt(0.5)].First
		return avcPercent(n[avc.Zero]+n[avc.Uniform]+n[avc.Affine], n[avc.Zero]+n[avc.Uniform]+n[avc.Affine]+n[avc.Generic])
	}},
	{paperColumn{name: "ratio_xor", head: [2]string{"xor", "encod."}, digits: 1, doc: "the ratio as the encoder of section 5.2 finds it, to the letter", wholeColumn: "ratio"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.Xor, p.Transactions())
	}},
	{paperColumn{name: "any_stride", head: [2]string{"other", "stride"}, digits: 1, doc: "affine by other strides and bases, of what is zero, uniform or affine by any"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.AnyStride, p.AnyStride+p.Transactions()-p.Total(avc.Generic))
	}},
	{paperColumn{name: "non_dense", head: [2]string{"non-", "dense"}, digits: 1, doc: "of several lanes that do not lie side by side, of what is zero, uniform or affine"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.NonDense, p.Transactions()-p.Total(avc.Generic))
	}},
}

// avcClass and avcRatio are the share of a class at r = 0.5 r_base, and of the three of the paper's
// affine ratio.
func avcClass(k avc.Class) func(r *avcResult) (float64, bool) {
	return func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.Total(k), p.Transactions())
	}
}

func avcRatio(share float64) func(r *avcResult) (float64, bool) {
	return func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(share)]
		return avcPercent(p.Transactions()-p.Total(avc.Generic), p.Transactions())
	}
}

func init() {
	var figure1, figure2, figure6 []paperColumn
	for i := range avcFigure1 { // the paper has no numbers by kernel
		c := avcFigure1[i].paperColumn
		c.notRanked = true
		if k := avc.Class(i - 1); i > 0 && k < avc.Generic { // the columns behind r_base
			c.stack, c.series = "by class", k.String()
		}
		figure1 = append(figure1, c)
	}
	for k := range avc.Classes {
		figure2 = append(figure2, paperColumn{name: k.String(), head: [2]string{"", k.String()}, digits: 1, doc: "private transactions, of 1000 instructions of a warp", notRanked: true, stack: "private", series: k.String()})
	}
	figure2 = append(figure2, paperColumn{name: "global", head: [2]string{"", "global"}, digits: 1, doc: "blocks of 128 bytes of global memory, of 1000 instructions", notRanked: true})
	minimumColumn := paperColumn{name: "least", head: [2]string{"", "least"}, doc: "fewest registers that can be allocated", notRanked: true}
	registers := []paperColumn{{name: "r_base", head: [2]string{"", "r_base"}, doc: "fewest registers with which nothing is loaded back", notRanked: true}, minimumColumn}
	capacity := []paperColumn{}
	for i, c := range avc.Configs {
		key := c.Name
		if i > 0 {
			key = "c" + c.Name
			capacity = append(capacity,
				paperColumn{name: "more_" + key, head: [2]string{"more", key}, digits: 1, doc: "registers more that fit with configuration " + c.Name + " than with the baseline, in the mean", notRanked: true},
				paperColumn{name: "larger_" + key, head: [2]string{"% more", key}, digits: 0, doc: "them, of those that fit with the baseline", notRanked: true})
		}
		registers = append(registers, paperColumn{name: key, head: [2]string{"", key}, doc: "fewest registers with less than 1 block in 10000 instructions filled or written back, configuration " + c.Name})
		figure6 = append(figure6, paperColumn{name: key, head: [2]string{"", fmt.Sprintf("%6s", key)}, digits: 1, doc: "blocks filled or written back, of 10000 instructions, configuration " + c.Name, notRanked: true})
	}
	var readings, interpretations []paperInterpretation
	for _, r := range avcInterpretations {
		readings = append(readings, r.paperInterpretation)
	}
	readings = append(readings, avcLetter)
	for _, s := range avcShares {
		interpretations = append(interpretations, paperInterpretation{fmt.Sprintf("r = %g r_base", s), "registers, rounded half up, and no less than instructions need"})
	}
	var profiled []paperInterpretation
	for _, name := range avcProfiled {
		profiled = append(profiled, paperInterpretation{name, "the kernel, by its share of r_base"})
	}
	var steps []paperRow
	for _, s := range avcSteps {
		steps = append(steps, paperRow{name: fmt.Sprint(s), all: true, values: map[string]float64{}})
	}
	r := paperColumn{name: "registers", head: [2]string{"", "r"}, doc: "registers of a thread", notRanked: true}
	generic := avcRows(false)
	for i := range generic {
		if generic[i].name == "nw1" {
			generic[i].values["live"] = 3
		}
	}
	papers = append(papers, &paper{
		name: "avc2011", study: "collange2011", title: "Collange and Kouyoumdjian, 2011",
		tables: []*paperTable{
			{
				name: "figure1", title: "private memory traffic by class, in percent", columns: figure1,
				rows: append(slices.Concat(avcRows(false), avcWideRows()),
					paperRow{name: "mean", all: true, values: map[string]float64{"ratio": 67, "ratio75": 66, "any_stride": 3, "non_dense": 0.1}},
					paperRow{name: "32 wide", all: true, values: map[string]float64{"ratio": 80}},
					paperRow{name: "only 32", all: true, values: map[string]float64{"ratio": 80}}),
				note:            "The means give applications the same weight: as they are, with backprop, hotspot and srad in blocks of 32 × 32 (those with a w), and these three alone. The paper says less than 3 and less than 0.1 of other strides and masks that are not dense.",
				interpretations: []paperInterpretation{{"r = 0.5 r_base", "rounded half up, and no less than instructions need"}},
				measure:         measureAVCFigure1,
			},
			{name: "figure2", title: "private and global memory traffic", columns: figure2, rows: slices.Concat(avcRows(false), avcWideRows()), interpretations: interpretations, measure: measureAVCFigure2},
			{name: "figure2-r", title: "private and global memory traffic over registers", columns: append([]paperColumn{r}, figure2...), rows: steps, interpretations: profiled, note: "A row is a share of r_base.", measure: measureAVCSteps((*avcPoint).classes)},
			{name: "figure6", title: "blocks filled and written back", columns: figure6, rows: avcRows(false), interpretations: interpretations, measure: measureAVCFigure6},
			{
				name: "conflicts", title: "what the blocks of configuration 2 are", rows: avcRows(false), interpretations: interpretations, measure: measureAVCConflicts,
				columns: []paperColumn{
					{name: "fills", head: [2]string{"", "fills"}, digits: 1, doc: "blocks filled, of 10000 instructions", notRanked: true},
					{name: "write_backs", head: [2]string{"write-", "backs"}, digits: 1, doc: "blocks written back, of 10000 instructions", notRanked: true},
					{name: "conflicts", head: [2]string{"con-", "flicts"}, digits: 1, doc: "vectors of the AVC that another code takes the place of, of 10000 instructions: a write-back each if they are dirty", notRanked: true},
				},
			},
			{name: "figure6-r", title: "blocks filled and written back over registers", columns: append([]paperColumn{r}, figure6...), rows: steps, interpretations: profiled, note: "A row is a share of r_base.", measure: measureAVCSteps((*avcPoint).blocks)},
			{name: "table4", title: "tolerable register pressure", columns: registers, rows: avcRows(true), interpretations: readings, measure: measureAVCTable4,
				note: "* is the fewest registers that can be allocated, in the paper and here.", bound: "least"},
			{
				name: "generic", title: "registers that hold what is generic", rows: generic,
				columns: []paperColumn{minimumColumn,
					{name: "live", head: [2]string{"at", "once"}, doc: "the most registers whose values are wanted at once and are generic, before anything is spilled"},
					{name: "compact", head: [2]string{"com-", "pact"}, doc: "fewest registers, with all greater numbers of them, with which no vector in private memory is generic", wholeColumn: "live"}},
				interpretations: []paperInterpretation{{"kept warps", "those that go through the caches"}},
				note:            "* is the fewest registers that can be allocated.", bound: "least",
				measure: measureAVCGeneric,
			},
			{
				name: "capacity", title: "what fits besides, by table 4", columns: capacity,
				rows: []paperRow{
					{name: "by app.", all: true, values: map[string]float64{"more_c1": 3.2, "more_c2": 3.9, "more_c3": 3.3, "larger_c1": 47, "larger_c2": 57, "larger_c3": 49}},
					{name: "by kernel", all: true, values: map[string]float64{"more_c1": 2.6, "more_c2": 3.2, "more_c3": 2.7}},
					{name: "text", all: true, values: map[string]float64{"more_c1": 3.7, "more_c2": 4.3, "more_c3": 3.7, "larger_c1": 50, "larger_c2": 59, "larger_c3": 50}},
				},
				note:            "By application and by kernel are means of the paper's table 4, text is what section 5.1 says they are; ours beside it is by application.",
				interpretations: readings, measure: measureAVCCapacity,
			},
		},
	})
}

func measureAVCFigure1(m *meter, row *paperRow, _ *paperInterpretation) (map[string]float64, error) {
	measured := map[string]float64{}
	for _, c := range avcFigure1 {
		if row.all {
			kernels := map[string][]avcKernel{"mean": avcKernels, "32 wide": avcWidened(), "only 32": avcWide}[row.name]
			v, err := avcMean(m, kernels, false, c.measured)
			if err != nil {
				return nil, err
			}
			measured[c.name] = v
			continue
		}
		r, err := avcOf(m, row)
		if err != nil {
			return nil, err
		}
		if v, ok := c.measured(r); ok {
			measured[c.name] = v
		}
	}
	return measured, nil
}

// avcShare is the share that a reading's name says.
func avcShare(r *paperInterpretation) (share float64) {
	fmt.Sscanf(r.name, "r = %g r_base", &share)
	return share
}

func measureAVCFigure2(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	return r.points[r.registersAt(avcShare(reading))].classes(), nil
}

// classes are the columns of figure 2.
func (p *avcPoint) classes() map[string]float64 {
	per := 1000 / float64(max(p.Instructions, 1))
	measured := map[string]float64{"global": per * float64(p.Global)}
	for k := range avc.Classes {
		measured[k.String()] = per * float64(p.Total(k))
	}
	return measured
}

func measureAVCFigure6(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	return r.points[r.registersAt(avcShare(reading))].blocks(), nil
}

// blocks are the columns of figure 6.
func (p *avcPoint) blocks() map[string]float64 {
	measured := map[string]float64{}
	for i, v := range p.traffic {
		measured[avcKey(i)] = 1e4 * v
	}
	return measured
}

func measureAVCConflicts(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	o := &r.points[r.registersAt(avcShare(reading))].second
	per := 1e4 / float64(max(o.Instructions, 1))
	return map[string]float64{"fills": per * float64(o.Fills), "write_backs": per * float64(o.WriteBacks), "conflicts": per * float64(o.Conflicts)}, nil
}

// measureAVCSteps measures a figure over registers: rows are shares of r_base, readings kernels. With fewer
// registers than can be allocated there is nothing.
func measureAVCSteps(of func(p *avcPoint) map[string]float64) func(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
	return func(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
		r, err := avcNamed(m, reading.name)
		if err != nil {
			return nil, err
		}
		share, err := strconv.ParseFloat(row.name, 64)
		if err != nil {
			return nil, err
		}
		if r.rounded(share) < r.minRegs {
			return nil, nil
		}
		measured := of(r.points[r.registersAt(share)])
		measured["registers"] = float64(r.registersAt(share))
		return measured, nil
	}
}

// avcKey is the column of a configuration.
func avcKey(i int) string {
	if i == 0 {
		return avc.Configs[0].Name
	}
	return "c" + avc.Configs[i].Name
}

// cache is r_cache by configuration, by a reading.
func (r *avcResult) cache(reading *paperInterpretation) []int {
	if reading.name == avcLetter.name {
		return r.literal
	}
	for i := range avcInterpretations {
		if avcInterpretations[i].name == reading.name {
			return r.cached[i]
		}
	}
	panic("BUG: no reading " + reading.name)
}

func measureAVCTable4(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	measured := map[string]float64{"r_base": float64(r.base), "least": float64(r.minRegs)}
	for i, n := range r.cache(reading) {
		measured[avcKey(i)] = float64(n)
	}
	return measured, nil
}

func measureAVCGeneric(m *meter, row *paperRow, _ *paperInterpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	return map[string]float64{"least": float64(r.minRegs), "live": float64(r.live), "compact": float64(r.compact)}, nil
}

func measureAVCCapacity(m *meter, row *paperRow, reading *paperInterpretation) (map[string]float64, error) {
	byKernel := row.name == "by kernel"
	fits, err := avcMean(m, avcKernels, byKernel, func(r *avcResult) (float64, bool) { return float64(r.base - r.cache(reading)[0]), true })
	if err != nil {
		return nil, err
	}
	measured := map[string]float64{}
	for i := 1; i < len(avc.Configs); i++ {
		more, err := avcMean(m, avcKernels, byKernel, func(r *avcResult) (float64, bool) { return float64(r.cache(reading)[0] - r.cache(reading)[i]), true })
		if err != nil {
			return nil, err
		}
		measured["more_"+avcKey(i)] = more
		if fits > 0 {
			measured["larger_"+avcKey(i)] = 100 * more / fits
		}
	}
	return measured, nil
}

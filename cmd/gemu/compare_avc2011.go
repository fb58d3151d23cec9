package main

// This file is Collange and Kouyoumdjian 2011, the Affine Vector Cache: what is compared with it,
// and by which reading, is in docs/avc.md.

import (
	_ "embed"
	"fmt"
	"slices"

	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
	"gemu/ptx/spill"
	"gemu/regfile/avc"
)

//go:embed papers/avc2011_table4.csv
var avc2011Table4 []byte

// avcKernels are the kernels of the paper: the names in table 4, shorter ones, and what they are here.
var avcKernels = []struct{ paper, short, workload, kernel, application string }{
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

// avcSizes are the sizes of workloads that the numbers of docs/avc.md are of: at least two waves of 48
// warps. The library's own may change without them.
var avcSizes = map[string]int{
	"backprop": 1 << 12, "binomial": 256, "blackscholes": 1 << 16, "cfd": 1 << 12, "fdtd3d": 64, "fwt": 1 << 15,
	"heartwall": 24, "hotspot": 192, "lud": 128, "nw": 48 * 16, "srad": 128,
}

// avcReadings are the readings of the cache and of how warps run on it; the first is the headline.
var avcReadings = []struct {
	paperReading
	schedule avc.Schedule
	lru      bool
}{
	{paperReading{"headline", "tree pseudo-LRU, a word's warps side by side, one instruction of each warp in turn"}, avc.Schedule{}, false},
	{paperReading{"LRU", "exact, in place of the tree"}, avc.Schedule{}, true},
	{paperReading{"warp by warp", "a warp's words side by side, in frames of a power of two"}, avc.Schedule{WarpByWarp: true}, false},
	{paperReading{"greedy", "the same warp until it ends"}, avc.Schedule{Greedy: true}, false},
	{paperReading{"whole CTAs", "only as many warps resident as make whole CTAs"}, avc.Schedule{WholeCTAs: true}, false},
}

// avcShares are the shares of r_base that figures 1, 2 and 6 are looked at.
var avcShares = []float64{0.5, 0.75, 0.25}

// avcKept is how many warps of a launch the caches are given: three waves.
const avcKept = 3 * avc.MaxWarps

// negligible is the traffic, in blocks to an instruction, that section 5.1 neglects.
const negligible = 1e-4

// avcResult is what has been measured of a kernel.
type avcResult struct {
	base, least int
	points      map[int]*avcPoint // by registers: those of avcShares
	cached      [][]int           // r_cache, by reading and configuration
}

// avcPoint is a kernel with some registers.
type avcPoint struct {
	avc.Counts
	traffic []float64 // by configuration, of the headline: blocks to an instruction
}

// at is the registers of a share of r_base: rounded half up, and no less than the least.
func (r *avcResult) at(share float64) int { return max(r.least, int(share*float64(r.base)+0.5)) }

// avcMeasure measures the kernels of a workload that the paper has, by name.
func avcMeasure(m *meter, workload string) (map[string]*avcResult, error) {
	return once(m, "avc2011 "+workload, func() (map[string]*avcResult, error) {
		w := kernels.Lookup(workload)
		module, err := ptx.ParseString(workload+".ptx", w.PTX())
		if err != nil {
			return nil, err
		}
		out := map[string]*avcResult{}
		most, least := 0, 1
		for _, f := range module.Kernels() {
			r, err := spill.RangeOf(m.app.ctx, f)
			if err != nil {
				return nil, err
			}
			least = max(least, r.Least)
			if slices.ContainsFunc(avcKernels, func(k struct{ paper, short, workload, kernel, application string }) bool { return k.kernel == f.Name }) {
				out[f.Name] = &avcResult{base: r.Base, points: map[int]*avcPoint{}, cached: make([][]int, len(avcReadings))}
				most = max(most, r.Base)
			}
		}
		for _, r := range out {
			r.least = least
			for i := range r.cached {
				r.cached[i] = make([]int, len(avc.Configs)) // 0: not known yet
			}
		}
		for regs := most; regs >= least; regs-- {
			if !slices.ContainsFunc(mapValues(out), func(r *avcResult) bool { return r.wants(regs) }) {
				continue
			}
			if err := avcRun(m, w, module, regs, out); err != nil {
				return nil, fmt.Errorf("%s with %d registers: %w", workload, regs, err)
			}
		}
		for _, r := range out {
			for i := range r.cached {
				for c := range r.cached[i] {
					if r.cached[i][c] == 0 {
						r.cached[i][c] = r.least
					}
				}
			}
		}
		return out, nil
	})
}

func mapValues(m map[string]*avcResult) (list []*avcResult) {
	for _, r := range m {
		list = append(list, r)
	}
	return list
}

// wants reports whether the kernel has to be run with so many registers: a figure looks at it, or
// r_cache is not known for all readings.
func (r *avcResult) wants(regs int) bool {
	return regs <= r.base && (r.shown(regs) || slices.ContainsFunc(r.cached, func(list []int) bool { return slices.Contains(list, 0) }))
}

// shown reports whether a figure looks at so many registers.
func (r *avcResult) shown(regs int) bool {
	return slices.ContainsFunc(avcShares, func(s float64) bool { return r.at(s) == regs })
}

// avcRun runs a workload with so many registers.
func avcRun(m *meter, w *kernels.Workload, module *ptx.Module, regs int, out map[string]*avcResult) error {
	src, _, err := spill.Module(m.app.ctx, module, regs)
	if err != nil {
		return err
	}
	recorder := &avc.Recorder{Warps: avcKept}
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []interp.Probe{recorder}})
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
	if err := w.Run(s); err != nil {
		return err
	}
	for _, k := range recorder.Kernels() {
		r := out[k.Name]
		if r == nil || !r.wants(regs) {
			continue
		}
		p := &avcPoint{Counts: k.Counts, traffic: make([]float64, len(avc.Configs))}
		if err := r.replay(k, regs, p); err != nil {
			return err
		}
		if r.shown(regs) {
			r.points[regs] = p
		}
	}
	return nil
}

// replay runs a kernel's warps through the caches whose r_cache is not known, and for the figures through those
// of the headline.
func (r *avcResult) replay(k *avc.Kernel, regs int, p *avcPoint) error {
	for i, reading := range avcReadings {
		for c, config := range avc.Configs {
			if r.cached[i][c] != 0 && (i > 0 || !r.shown(regs)) {
				continue
			}
			config.LRU = reading.lru
			schedule := reading.schedule
			schedule.Regs = regs
			o, err := avc.Replay(k, config, schedule)
			if err != nil {
				return err
			}
			if i == 0 {
				p.traffic[c] = o.PerInstruction()
			}
			if r.cached[i][c] == 0 && o.PerInstruction() >= negligible {
				r.cached[i][c] = regs + 1
			}
		}
	}
	return nil
}

// avcOf is what has been measured of a row's kernel.
func avcOf(m *meter, row *paperRow) (*avcResult, error) {
	for _, k := range avcKernels {
		if k.short == row.name {
			all, err := avcMeasure(m, k.workload)
			return all[k.kernel], err
		}
	}
	panic("BUG: no kernel " + row.name)
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
			rows[i].values = map[string]float64{}
		}
	}
	return rows
}

// avcMean is the mean of a value by application, in each of which kernels weigh alike, or by kernel.
func avcMean(m *meter, byKernel bool, value func(r *avcResult) (v float64, ok bool)) (float64, error) {
	type sum struct{ total, n float64 }
	var names []string
	sums := map[string]*sum{}
	for i, k := range avcKernels {
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
	ours func(r *avcResult) (v float64, ok bool)
}{
	{paperColumn{name: "r_base", head: [2]string{"", "r_base"}, doc: "fewest registers with which nothing is loaded back"}, func(r *avcResult) (float64, bool) { return float64(r.base), true }},
	{paperColumn{name: "zero", head: [2]string{"", "zero"}, digits: 1, doc: "0 in all active lanes, of private transactions at r = 0.5 r_base"}, avcClass(avc.Zero)},
	{paperColumn{name: "uniform", head: [2]string{"uni-", "form"}, digits: 1, doc: "the same and not 0, of them"}, avcClass(avc.Uniform)},
	{paperColumn{name: "affine", head: [2]string{"", "affine"}, digits: 1, doc: "affine and not uniform, of them"}, avcClass(avc.Affine)},
	{paperColumn{name: "ratio", head: [2]string{"all", "three"}, digits: 1, doc: "zero, uniform and affine, of them: the paper's affine ratio"}, avcRatio(0.5)},
	{paperColumn{name: "ratio75", head: [2]string{"three", "at .75"}, digits: 1, doc: "the same at r = 0.75 r_base"}, avcRatio(0.75)},
	{paperColumn{name: "ratio_low", head: [2]string{"low", "words"}, digits: 1, doc: "the ratio where accesses wider than 32 bits count with their first word", of: "ratio"}, func(r *avcResult) (float64, bool) {
		n := r.points[r.at(0.5)].First
		return avcPercent(n[avc.Zero]+n[avc.Uniform]+n[avc.Affine], n[avc.Zero]+n[avc.Uniform]+n[avc.Affine]+n[avc.Generic])
	}},
	{paperColumn{name: "ratio_xor", head: [2]string{"xor", "encod."}, digits: 1, doc: "the ratio as the encoder of section 5.2 finds it, to the letter", of: "ratio"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.at(0.5)]
		return avcPercent(p.Xor, p.Transactions())
	}},
	{paperColumn{name: "any_stride", head: [2]string{"other", "stride"}, digits: 1, doc: "affine by other strides and bases, of what is zero, uniform or affine by any"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.at(0.5)]
		return avcPercent(p.AnyStride, p.AnyStride+p.Transactions()-p.Total(avc.Generic))
	}},
	{paperColumn{name: "non_dense", head: [2]string{"non-", "dense"}, digits: 1, doc: "of several lanes that do not lie side by side, of what is zero, uniform or affine"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.at(0.5)]
		return avcPercent(p.NonDense, p.Transactions()-p.Total(avc.Generic))
	}},
}

// avcClass and avcRatio are the share of a class at r = 0.5 r_base, and of the three of the paper's
// affine ratio.
func avcClass(k avc.Class) func(r *avcResult) (float64, bool) {
	return func(r *avcResult) (float64, bool) {
		p := r.points[r.at(0.5)]
		return avcPercent(p.Total(k), p.Transactions())
	}
}

func avcRatio(share float64) func(r *avcResult) (float64, bool) {
	return func(r *avcResult) (float64, bool) {
		p := r.points[r.at(share)]
		return avcPercent(p.Transactions()-p.Total(avc.Generic), p.Transactions())
	}
}

func init() {
	var figure1, figure2, figure6 []paperColumn
	for i := range avcFigure1 { // the paper has no numbers by kernel
		c := avcFigure1[i].paperColumn
		c.apart = true
		if k := avc.Class(i - 1); i > 0 && k < avc.Generic { // the columns behind r_base
			c.stack, c.part = "by class", k.String()
		}
		figure1 = append(figure1, c)
	}
	for k := range avc.Classes {
		figure2 = append(figure2, paperColumn{name: k.String(), head: [2]string{"", k.String()}, digits: 1, doc: "private transactions, of 1000 instructions of a warp", apart: true, stack: "private", part: k.String()})
	}
	figure2 = append(figure2, paperColumn{name: "global", head: [2]string{"", "global"}, digits: 1, doc: "blocks of 128 bytes of global memory, of 1000 instructions", apart: true})
	registers := []paperColumn{{name: "r_base", head: [2]string{"", "r_base"}, doc: "fewest registers with which nothing is loaded back", apart: true}}
	capacity := []paperColumn{}
	for i, c := range avc.Configs {
		key := c.Name
		if i > 0 {
			key = "c" + c.Name
			capacity = append(capacity,
				paperColumn{name: "more_" + key, head: [2]string{"more", key}, digits: 1, doc: "registers more that fit with configuration " + c.Name + " than with the baseline, in the mean", apart: true},
				paperColumn{name: "larger_" + key, head: [2]string{"% more", key}, digits: 0, doc: "them, of those that fit with the baseline", apart: true})
		}
		registers = append(registers, paperColumn{name: key, head: [2]string{"", key}, doc: "fewest registers with less than 1 block in 10000 instructions filled or written back, configuration " + c.Name})
		figure6 = append(figure6, paperColumn{name: key, head: [2]string{"", fmt.Sprintf("%6s", key)}, digits: 1, doc: "blocks filled or written back, of 10000 instructions, configuration " + c.Name, apart: true})
	}
	var readings, shares []paperReading
	for _, r := range avcReadings {
		readings = append(readings, r.paperReading)
	}
	for _, s := range avcShares {
		shares = append(shares, paperReading{fmt.Sprintf("r = %g r_base", s), "registers, rounded half up, and no less than instructions need"})
	}
	papers = append(papers, &paper{
		name: "avc2011", study: "collange2011", title: "Collange and Kouyoumdjian, 2011",
		tables: []*paperTable{
			{
				name: "figure1", title: "private memory traffic by class, in percent", columns: figure1,
				rows: append(avcRows(false),
					paperRow{name: "mean", all: true, values: map[string]float64{"ratio": 67, "ratio75": 66, "any_stride": 3, "non_dense": 0.1}},
					paperRow{name: "32 wide", values: map[string]float64{"ratio": 80}, absent: "the library's backprop, hotspot and srad have blocks of 16 × 16 only"}),
				note:     "The mean gives applications the same weight. The paper says less than 3 and less than 0.1 of other strides and masks that are not dense.",
				readings: []paperReading{{"r = 0.5 r_base", "rounded half up, and no less than instructions need"}},
				measure:  measureAVCFigure1,
			},
			{name: "figure2", title: "private and global memory traffic", columns: figure2, rows: avcRows(false), readings: shares, measure: measureAVCFigure2},
			{name: "figure6", title: "blocks filled and written back", columns: figure6, rows: avcRows(false), readings: shares, measure: measureAVCFigure6},
			{name: "table4", title: "tolerable register pressure", columns: registers, rows: avcRows(true), readings: readings, measure: measureAVCTable4},
			{
				name: "capacity", title: "what fits besides, by table 4", columns: capacity,
				rows: []paperRow{
					{name: "by app.", all: true, values: map[string]float64{"more_c1": 3.2, "more_c2": 3.9, "more_c3": 3.3, "larger_c1": 47, "larger_c2": 57, "larger_c3": 49}},
					{name: "by kernel", all: true, values: map[string]float64{"more_c1": 2.6, "more_c2": 3.2, "more_c3": 2.7}},
					{name: "text", all: true, values: map[string]float64{"more_c1": 3.7, "more_c2": 4.3, "more_c3": 3.7, "larger_c1": 50, "larger_c2": 59, "larger_c3": 50}},
				},
				note:     "By application and by kernel are means of the paper's table 4, text is what section 5.1 says they are; ours beside it is by application.",
				readings: readings, measure: measureAVCCapacity,
			},
		},
	})
}

func measureAVCFigure1(m *meter, row *paperRow, _ *paperReading) (map[string]float64, error) {
	ours := map[string]float64{}
	for _, c := range avcFigure1 {
		if row.all {
			v, err := avcMean(m, false, c.ours)
			if err != nil {
				return nil, err
			}
			ours[c.name] = v
			continue
		}
		r, err := avcOf(m, row)
		if err != nil {
			return nil, err
		}
		if v, ok := c.ours(r); ok {
			ours[c.name] = v
		}
	}
	return ours, nil
}

// avcShare is the share that a reading's name says.
func avcShare(r *paperReading) (share float64) {
	fmt.Sscanf(r.name, "r = %g r_base", &share)
	return share
}

func measureAVCFigure2(m *meter, row *paperRow, reading *paperReading) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	p := r.points[r.at(avcShare(reading))]
	per := 1000 / float64(max(p.Instructions, 1))
	ours := map[string]float64{"global": per * float64(p.Global)}
	for k := range avc.Classes {
		ours[k.String()] = per * float64(p.Total(k))
	}
	return ours, nil
}

func measureAVCFigure6(m *meter, row *paperRow, reading *paperReading) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	ours := map[string]float64{}
	for i, v := range r.points[r.at(avcShare(reading))].traffic {
		ours[avcKey(i)] = 1e4 * v
	}
	return ours, nil
}

// avcKey is the column of a configuration.
func avcKey(i int) string {
	if i == 0 {
		return avc.Configs[0].Name
	}
	return "c" + avc.Configs[i].Name
}

// avcReading is a reading's place among avcReadings.
func avcReading(r *paperReading) int {
	for i := range avcReadings {
		if avcReadings[i].name == r.name {
			return i
		}
	}
	panic("BUG: no reading " + r.name)
}

func measureAVCTable4(m *meter, row *paperRow, reading *paperReading) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	ours := map[string]float64{"r_base": float64(r.base)}
	for i, n := range r.cached[avcReading(reading)] {
		ours[avcKey(i)] = float64(n)
	}
	return ours, nil
}

func measureAVCCapacity(m *meter, row *paperRow, reading *paperReading) (map[string]float64, error) {
	at := avcReading(reading)
	byKernel := row.name == "by kernel"
	fits, err := avcMean(m, byKernel, func(r *avcResult) (float64, bool) { return float64(r.base - r.cached[at][0]), true })
	if err != nil {
		return nil, err
	}
	ours := map[string]float64{}
	for i := 1; i < len(avc.Configs); i++ {
		more, err := avcMean(m, byKernel, func(r *avcResult) (float64, bool) { return float64(r.cached[at][0] - r.cached[at][i]), true })
		if err != nil {
			return nil, err
		}
		ours["more_"+avcKey(i)] = more
		if fits > 0 {
			ours["larger_"+avcKey(i)] = 100 * more / fits
		}
	}
	return ours, nil
}

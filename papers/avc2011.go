package papers

// This file has Collange and Kouyoumdjian 2011, the Affine Vector Cache. docs/avc.md defines the columns and
// interpretations.

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"gemu/interp"
	"gemu/kernels"
	"gemu/models/avc"
	"gemu/probe"
	"gemu/ptx"
	"gemu/spill"
)

//go:embed data/avc2011_table4.csv
var avc2011Table4 []byte

// avcKernel is a kernel of the paper: its name in table 4, a shorter name, and its workload and kernel in the
// library.
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

// avcWide are the kernels that section 3.2 also examines in blocks of 32 × 32.
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

// avcSizes are the sizes of workloads for the numbers of docs/avc.md: at least two waves of 48 warps. They are
// independent of the library's own sizes.
var avcSizes = map[string]int{
	"backprop": 1 << 12, "binomial": 256, "blackscholes": 1 << 16, "cfd": 1 << 12, "fdtd3d": 64, "fwt": 1 << 15,
	"heartwall": 24, "hotspot": 192, "lud": 128, "nw": 48 * 16, "srad": 128,
	"backprop32": 1 << 12, "hotspot32": 192, "srad32": 128,
}

// avcInterpretations are the interpretations of the cache and of the schedule; the first is the headline.
var avcInterpretations = []struct {
	Interpretation
	schedule avc.Schedule
	lru      bool
}{
	{Interpretation{"headline", "the smallest register count with this little traffic, even if greater counts have more; tree pseudo-LRU; a word of all warps is adjacent in memory; warps execute one instruction each in turn"}, avc.Schedule{}, false},
	{Interpretation{"LRU", "exact LRU instead of the tree"}, avc.Schedule{}, true},
	{Interpretation{"warp by warp", "all words of a warp are adjacent in memory, in frames of a power of two"}, avc.Schedule{WarpByWarp: true}, false},
	{Interpretation{"greedy", "each warp executes until it ends"}, avc.Schedule{Greedy: true}, false},
	{Interpretation{"whole CTAs", "resident warps are those of whole CTAs only"}, avc.Schedule{WholeCTAs: true}, false},
}

// avcAllGreater is r_cache with regard to the traffic of greater counts.
var avcAllGreater = Interpretation{"all greater counts", "the smallest register count with this little traffic, at it and at all greater counts"}

// avcShares are the shares of r_base in figures 1, 2 and 6.
var avcShares = []float64{0.5, 0.75, 0.25}

// avcProfiled are kernels that the text discusses and whose traffic is shown over registers; avcSteps are the shares
// of r_base.
var (
	avcProfiled = []string{"cfd2", "fdtd3d", "hotspot", "heartwal", "nw1", "srad1"}
	avcSteps    = []float64{1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25}
)

// avcKept is the number of recorded warps of a launch: three waves.
const avcKept = 3 * avc.MaxWarps

// negligible is the traffic, in blocks per instruction, that section 5.1 neglects.
const negligible = 1e-4

// avcResult is the measurement of a kernel.
type avcResult struct {
	base, minRegs int
	points        map[int]*avcPoint // by registers, for the figures

	profiled bool
	cached   [][]int // r_cache, by interpretation and configuration; nil for a version that table 4 lacks
	stable   []int   // by avcAllGreater
	compact  int     // fewest registers from which on no vector in private memory is generic
	live     int     // largest number of registers with generic values at once, before anything is spilled
}

// avcPoint is the measurement of a kernel with a number of registers.
type avcPoint struct {
	avc.Counts
	traffic []float64   // traffic of the headline, by configuration: blocks per instruction
	second  avc.Outcome // the headline's result of configuration 2
}

// registersAt returns the registers of a share of r_base, rounded half up, and at least the minimum.
func (r *avcResult) registersAt(share float64) int { return max(r.minRegs, r.rounded(share)) }

func (r *avcResult) rounded(share float64) int { return int(share*float64(r.base) + 0.5) }

// avcMeasure measures the paper's kernels of a workload, by name.
func avcMeasure(m *Meter, workload string) (map[string]*avcResult, error) {
	return measureOnce(m, "avc2011 "+workload, func() (map[string]*avcResult, error) {
		w := kernels.Lookup(workload)
		module, err := ptx.ParseString(workload+".ptx", w.PTX())
		if err != nil {
			return nil, err
		}
		out := map[string]*avcResult{}
		maximum, minimum := 0, 1
		for _, f := range module.Kernels() {
			r, err := spill.RangeOf(m.ctx, f)
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
						result.cached = append(result.cached, make([]int, len(avc.Configs))) // 0: unknown
					}
					result.stable = make([]int, len(avc.Configs))
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

// finish sets the results that no number of registers has decided.
func (r *avcResult) finish() {
	for _, list := range r.cached {
		for c := range list {
			if list[c] == 0 { // even r_base has traffic
				list[c] = r.base + 1
			}
		}
	}
	for c := range r.stable {
		if r.stable[c] == 0 {
			r.stable[c] = r.minRegs
		}
	}
	if r.compact == 0 {
		r.compact = r.minRegs
	}
}

// isWanted reports whether the kernel must be run with regs registers, for a figure or to find r_cache.
func (r *avcResult) isWanted(regs int) bool {
	return regs <= r.base && (r.shown(regs) || r.cached != nil)
}

// shown reports whether a figure shows regs registers.
func (r *avcResult) shown(regs int) bool {
	at := func(s float64) bool { return r.registersAt(s) == regs }
	return slices.ContainsFunc(avcShares, at) || r.profiled && slices.ContainsFunc(avcSteps, at)
}

// avcRun runs a workload with regs registers.
func avcRun(m *Meter, w *kernels.Workload, module *ptx.Module, regs int, out map[string]*avcResult) error {
	src, _, err := spill.Module(m.ctx, module, regs)
	if err != nil {
		return err
	}
	recorder := &avc.Recorder{Warps: avcKept, RecordedOnly: true}
	for _, r := range out {
		if r.shown(regs) {
			recorder.RecordedOnly = false
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

// avcWatch runs a workload with given PTX, watched by a probe.
func avcWatch(m *Meter, w *kernels.Workload, src string, p probe.Probe) error {
	return m.runModule(w, src, avcSizes[w.Name], func(l *interp.Launch) { l.Reconverge = interp.ReconvergerNamed("stack") }, p)
}

// replay runs a kernel's warps through the caches of all interpretations. The other interpretations than the headline need
// only whether the traffic is negligible.
func (r *avcResult) replay(k *avc.Kernel, regs int, p *avcPoint) error {
	for i := range avcInterpretations {
		if i > 0 && r.cached == nil {
			break
		}
		schedule := avcInterpretations[i].schedule
		schedule.Regs = regs
		configs := slices.Clone(avc.Configs)
		for c := range configs {
			configs[c].LRU = avcInterpretations[i].lru
		}
		if i > 0 {
			list, err := avc.Negligible(k, schedule, negligible, configs...)
			if err != nil {
				return err
			}
			for c := range list {
				r.note(i, c, regs, list[c])
			}
			continue
		}
		list, err := avc.ReplayAll(k, schedule, configs...)
		if err != nil {
			return err
		}
		for c := range list {
			p.traffic[c] = list[c].PerInstruction()
			r.note(i, c, regs, p.traffic[c] < negligible)
		}
		p.second = list[2]
	}
	return nil
}

// note records whether the traffic of an interpretation and configuration is negligible. Calls must be in order of falling
// registers.
func (r *avcResult) note(reading, config, regs int, negligible bool) {
	switch {
	case r.cached == nil:
	case negligible:
		r.cached[reading][config] = regs
	case reading == 0 && r.stable[config] == 0:
		r.stable[config] = regs + 1
	}
}

// avcOf returns the measurement of a row's kernel.
func avcOf(m *Meter, row *Row) (*avcResult, error) {
	return avcNamed(m, row.Name)
}

// avcNamed returns the measurement of a kernel by its shorter name.
func avcNamed(m *Meter, short string) (*avcResult, error) {
	for _, k := range slices.Concat(avcKernels, avcWide) {
		if k.short == short {
			all, err := avcMeasure(m, k.workload)
			return all[k.kernel], err
		}
	}
	panic("BUG: no kernel " + short)
}

// avcRows returns the kernels, with the paper's values of table 4 if values is set.
func avcRows(values bool) []Row {
	rows := readRows(avc2011Table4, nil)
	for i := range rows {
		for _, k := range avcKernels {
			if k.paper == rows[i].Name {
				rows[i].Name, rows[i].Workload = k.short, k.workload
			}
		}
		if !values {
			rows[i].Values, rows[i].Bounds = map[string]float64{}, nil
		}
	}
	return rows
}

// avcWideRows returns the kernels in blocks of 32 × 32.
func avcWideRows() (rows []Row) {
	for _, k := range avcWide {
		rows = append(rows, Row{Name: k.short, Workload: k.workload, Values: map[string]float64{}})
	}
	return rows
}

// avcWidened returns the paper's kernels, in blocks of 32 × 32 where it has such blocks.
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

// avcMean returns the mean of a value over kernels. byKernel gives each kernel the same weight; otherwise each
// application has the same weight, and its kernels share it.
func avcMean(m *Meter, kernels []avcKernel, byKernel bool, value func(r *avcResult) (v float64, ok bool)) (float64, error) {
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

// avcPercent returns a share in percent; ok is false if all is 0.
func avcPercent(part, all int64) (v float64, ok bool) {
	return share(part, all), all > 0
}

// avcFigure1 are the columns of figure 1 for a kernel; ok is false without private traffic.
var avcFigure1 = []struct {
	Column
	measured func(r *avcResult) (v float64, ok bool)
}{
	{Column{Name: "r_base", Head: [2]string{"", "r_base"}, Doc: "fewest registers without loads of spilled values"}, func(r *avcResult) (float64, bool) { return float64(r.base), true }},
	{Column{Name: "zero", Head: [2]string{"", "zero"}, Digits: 1, Doc: "0 in all active lanes, share of private transactions at r = 0.5 r_base"}, avcClass(avc.Zero)},
	{Column{Name: "uniform", Head: [2]string{"uni-", "form"}, Digits: 1, Doc: "the same value in all active lanes, not 0, share of these transactions"}, avcClass(avc.Uniform)},
	{Column{Name: "affine", Head: [2]string{"", "affine"}, Digits: 1, Doc: "affine and not uniform, share of these transactions"}, avcClass(avc.Affine)},
	{Column{Name: "ratio", Head: [2]string{"all", "three"}, Digits: 1, Doc: "zero, uniform or affine, share of these transactions: the paper's affine ratio"}, avcRatio(0.5)},
	{Column{Name: "ratio75", Head: [2]string{"three", "at .75"}, Digits: 1, Doc: "the affine ratio at r = 0.75 r_base"}, avcRatio(0.75)},
	{Column{Name: "ratio_low", Head: [2]string{"low", "words"}, Digits: 1, Doc: "the affine ratio, with only the first word of accesses wider than 32 bits", WholeColumn: "ratio"}, func(r *avcResult) (float64, bool) {
		n := r.points[r.registersAt(0.5)].First
		return avcPercent(n[avc.Zero]+n[avc.Uniform]+n[avc.Affine], n[avc.Zero]+n[avc.Uniform]+n[avc.Affine]+n[avc.Generic])
	}},
	{Column{Name: "ratio_xor", Head: [2]string{"xor", "encod."}, Digits: 1, Doc: "the affine ratio of the encoder of section 5.2, to the letter", WholeColumn: "ratio"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.Xor, p.Transactions())
	}},
	{Column{Name: "any_stride", Head: [2]string{"other", "stride"}, Digits: 1, Doc: "with other strides and bases, share of vectors that are zero, uniform or affine"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.AnyStride, p.AnyStride+p.Transactions()-p.Total(avc.Generic))
	}},
	{Column{Name: "non_dense", Head: [2]string{"non-", "dense"}, Digits: 1, Doc: "with several active lanes that are not adjacent, share of vectors that are zero, uniform or affine"}, func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.NonDense, p.Transactions()-p.Total(avc.Generic))
	}},
}

// avcClass returns the share of a class at r = 0.5 r_base.
func avcClass(k avc.Class) func(r *avcResult) (float64, bool) {
	return func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(0.5)]
		return avcPercent(p.Total(k), p.Transactions())
	}
}

// avcRatio returns the share of zero, uniform and affine vectors, the paper's affine ratio.
func avcRatio(share float64) func(r *avcResult) (float64, bool) {
	return func(r *avcResult) (float64, bool) {
		p := r.points[r.registersAt(share)]
		return avcPercent(p.Transactions()-p.Total(avc.Generic), p.Transactions())
	}
}

// avc2011 returns the paper.
func avc2011() *Paper {
	var figure1, figure2, figure6 []Column
	for i := range avcFigure1 { // the paper has no numbers by kernel
		c := avcFigure1[i].Column
		c.NotRanked = true
		if k := avc.Class(i - 1); i > 0 && k < avc.Generic { // the columns after r_base
			c.Stack, c.Series = "by class", k.String()
		}
		figure1 = append(figure1, c)
	}
	for k := range avc.Classes {
		figure2 = append(figure2, Column{Name: k.String(), Head: [2]string{"", k.String()}, Digits: 1, Doc: "private transactions per 1000 instructions of a warp", NotRanked: true, Stack: "private", Series: k.String()})
	}
	figure2 = append(figure2, Column{Name: "global", Head: [2]string{"", "global"}, Digits: 1, Doc: "blocks of 128 bytes of global memory per 1000 instructions", NotRanked: true})
	minimumColumn := Column{Name: "least", Head: [2]string{"", "least"}, Doc: "fewest registers that can be allocated", NotRanked: true}
	registers := []Column{{Name: "r_base", Head: [2]string{"", "r_base"}, Doc: "fewest registers without loads of spilled values", NotRanked: true}, minimumColumn}
	capacity := []Column{}
	for i, c := range avc.Configs {
		key := c.Name
		if i > 0 {
			key = "c" + c.Name
			capacity = append(capacity,
				Column{Name: "more_" + key, Head: [2]string{"more", key}, Digits: 1, Doc: "registers that fit in addition with configuration " + c.Name + ", compared with the baseline, on average", NotRanked: true},
				Column{Name: "larger_" + key, Head: [2]string{"% more", key}, Digits: 0, Doc: "these registers in percent of the registers that fit with the baseline", NotRanked: true})
		}
		registers = append(registers, Column{Name: key, Head: [2]string{"", key}, Doc: "fewest registers with less than 1 block filled or written back per 10000 instructions, configuration " + c.Name})
		figure6 = append(figure6, Column{Name: key, Head: [2]string{"", fmt.Sprintf("%6s", key)}, Digits: 1, Doc: "blocks filled or written back per 10000 instructions, configuration " + c.Name, NotRanked: true})
	}
	var readings, interpretations []Interpretation
	for _, r := range avcInterpretations {
		readings = append(readings, r.Interpretation)
	}
	readings = append(readings, avcAllGreater)
	for _, s := range avcShares {
		interpretations = append(interpretations, Interpretation{fmt.Sprintf("r = %g r_base", s), "registers, rounded half up, but at least as many as instructions need"})
	}
	var profiled []Interpretation
	for _, name := range avcProfiled {
		profiled = append(profiled, Interpretation{name, "the kernel, by its share of r_base"})
	}
	var steps []Row
	for _, s := range avcSteps {
		steps = append(steps, Row{Name: fmt.Sprint(s), Summary: true, Values: map[string]float64{}})
	}
	r := Column{Name: "registers", Head: [2]string{"", "r"}, Doc: "registers of a thread", NotRanked: true}
	generic := avcRows(false)
	for i := range generic {
		if generic[i].Name == "nw1" {
			generic[i].Values["live"] = 3
		}
	}
	return &Paper{
		Name: "avc2011", Study: "collange2011", Title: "Collange and Kouyoumdjian, 2011",
		Tables: []*Table{
			{
				Name: "figure1", Title: "private memory traffic by class, in percent", Columns: figure1,
				Rows: append(slices.Concat(avcRows(false), avcWideRows()),
					Row{Name: "mean", Summary: true, Values: map[string]float64{"ratio": 67, "ratio75": 66, "any_stride": 3, "non_dense": 0.1}},
					Row{Name: "32 wide", Summary: true, Values: map[string]float64{"ratio": 80}},
					Row{Name: "only 32", Summary: true, Values: map[string]float64{"ratio": 80}}),
				Note:            "All applications have the same weight in the means. The three means are of all applications, of all with backprop, hotspot and srad in blocks of 32 × 32 (names with a w), and of these three alone. The paper says less than 3 for other strides, and less than 0.1 for masks that are not dense.",
				Interpretations: []Interpretation{{"r = 0.5 r_base", "rounded half up, but at least as many as instructions need"}},
				Measure:         measureAVCFigure1,
			},
			{Name: "figure2", Title: "private and global memory traffic", Columns: figure2, Rows: slices.Concat(avcRows(false), avcWideRows()), Interpretations: interpretations, Measure: measureAVCFigure2},
			{Name: "figure2-r", Title: "private and global memory traffic over registers", Columns: append([]Column{r}, figure2...), Rows: steps, Interpretations: profiled, Note: "A row is a share of r_base.", Measure: measureAVCSteps((*avcPoint).classes)},
			{Name: "figure6", Title: "blocks filled and written back", Columns: figure6, Rows: avcRows(false), Interpretations: interpretations, Measure: measureAVCFigure6},
			{
				Name: "conflicts", Title: "blocks of configuration 2, by cause", Rows: avcRows(false), Interpretations: interpretations, Measure: measureAVCConflicts,
				Columns: []Column{
					{Name: "fills", Head: [2]string{"", "fills"}, Digits: 1, Doc: "blocks filled per 10000 instructions", NotRanked: true},
					{Name: "write_backs", Head: [2]string{"write-", "backs"}, Digits: 1, Doc: "blocks written back per 10000 instructions", NotRanked: true},
					{Name: "conflicts", Head: [2]string{"con-", "flicts"}, Digits: 1, Doc: "vectors of the AVC that another encoding replaces, per 10000 instructions; a dirty vector costs a write-back", NotRanked: true},
				},
			},
			{Name: "figure6-r", Title: "blocks filled and written back over registers", Columns: append([]Column{r}, figure6...), Rows: steps, Interpretations: profiled, Note: "A row is a share of r_base.", Measure: measureAVCSteps((*avcPoint).blocks)},
			{Name: "table4", Title: "tolerable register pressure", Columns: registers, Rows: avcRows(true), Interpretations: readings, Measure: measureAVCTable4,
				Note: "* marks the fewest registers that can be allocated, in the paper and here.", Bound: "least"},
			{
				Name: "generic", Title: "registers with generic values", Rows: generic,
				Columns: []Column{minimumColumn,
					{Name: "live", Head: [2]string{"at", "once"}, Doc: "the most registers that are live at once with generic values, before spills"},
					{Name: "compact", Head: [2]string{"com-", "pact"}, Doc: "fewest registers from which on no vector in private memory is generic", WholeColumn: "live"}},
				Interpretations: []Interpretation{{"kept warps", "only the warps that use the caches"}},
				Note:            "* marks the fewest registers that can be allocated.", Bound: "least",
				Measure: measureAVCGeneric,
			},
			{
				Name: "capacity", Title: "registers that fit in addition, by table 4", Columns: capacity,
				Rows: []Row{
					{Name: "by app.", Summary: true, Values: map[string]float64{"more_c1": 3.2, "more_c2": 3.9, "more_c3": 3.3, "larger_c1": 47, "larger_c2": 57, "larger_c3": 49}},
					{Name: "by kernel", Summary: true, Values: map[string]float64{"more_c1": 2.6, "more_c2": 3.2, "more_c3": 2.7}},
					{Name: "text", Summary: true, Values: map[string]float64{"more_c1": 3.7, "more_c2": 4.3, "more_c3": 3.7, "larger_c1": 50, "larger_c2": 59, "larger_c3": 50}},
				},
				Note:            "by app. and by kernel are means of the paper's table 4; text is the mean that section 5.1 states, next to gemu's mean by application.",
				Interpretations: readings, Measure: measureAVCCapacity,
			},
		},
	}
}

func measureAVCFigure1(m *Meter, row *Row, _ *Interpretation) (map[string]float64, error) {
	measured := map[string]float64{}
	for _, c := range avcFigure1 {
		if row.Summary {
			kernels := map[string][]avcKernel{"mean": avcKernels, "32 wide": avcWidened(), "only 32": avcWide}[row.Name]
			v, err := avcMean(m, kernels, false, c.measured)
			if err != nil {
				return nil, err
			}
			measured[c.Name] = v
			continue
		}
		r, err := avcOf(m, row)
		if err != nil {
			return nil, err
		}
		if v, ok := c.measured(r); ok {
			measured[c.Name] = v
		}
	}
	return measured, nil
}

// avcShare returns the share in an interpretation's name.
func avcShare(r *Interpretation) (share float64) {
	fmt.Sscanf(r.Name, "r = %g r_base", &share)
	return share
}

func measureAVCFigure2(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	return r.points[r.registersAt(avcShare(reading))].classes(), nil
}

// classes returns the columns of figure 2.
func (p *avcPoint) classes() map[string]float64 {
	per := 1000 / float64(max(p.Instructions, 1))
	measured := map[string]float64{"global": per * float64(p.Global)}
	for k := range avc.Classes {
		measured[k.String()] = per * float64(p.Total(k))
	}
	return measured
}

func measureAVCFigure6(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	return r.points[r.registersAt(avcShare(reading))].blocks(), nil
}

// blocks returns the columns of figure 6.
func (p *avcPoint) blocks() map[string]float64 {
	measured := map[string]float64{}
	for i, v := range p.traffic {
		measured[avcKey(i)] = 1e4 * v
	}
	return measured
}

func measureAVCConflicts(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	o := &r.points[r.registersAt(avcShare(reading))].second
	per := 1e4 / float64(max(o.Instructions, 1))
	return map[string]float64{"fills": per * float64(o.Fills), "write_backs": per * float64(o.WriteBacks), "conflicts": per * float64(o.Conflicts)}, nil
}

// measureAVCSteps measures a figure over registers: rows are shares of r_base, interpretations are kernels. It has no
// values below the minimum of registers.
func measureAVCSteps(of func(p *avcPoint) map[string]float64) func(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
	return func(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
		r, err := avcNamed(m, reading.Name)
		if err != nil {
			return nil, err
		}
		share, err := strconv.ParseFloat(row.Name, 64)
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

// avcKey returns the column of a configuration.
func avcKey(i int) string {
	if i == 0 {
		return avc.Configs[0].Name
	}
	return "c" + avc.Configs[i].Name
}

// cache returns r_cache by configuration, under an interpretation.
func (r *avcResult) cache(reading *Interpretation) []int {
	if reading.Name == avcAllGreater.Name {
		return r.stable
	}
	for i := range avcInterpretations {
		if avcInterpretations[i].Name == reading.Name {
			return r.cached[i]
		}
	}
	panic("BUG: no reading " + reading.Name)
}

func measureAVCTable4(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
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

func measureAVCGeneric(m *Meter, row *Row, _ *Interpretation) (map[string]float64, error) {
	r, err := avcOf(m, row)
	if err != nil {
		return nil, err
	}
	return map[string]float64{"least": float64(r.minRegs), "live": float64(r.live), "compact": float64(r.compact)}, nil
}

func measureAVCCapacity(m *Meter, row *Row, reading *Interpretation) (map[string]float64, error) {
	byKernel := row.Name == "by kernel"
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

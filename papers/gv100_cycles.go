package papers

// This file has the cycles of the kernels on the machine v100, for the comparison with a Quadro GV100. docs/gv100.md defines them.

import (
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/stream"
)

// cyclesAbsent has the reasons for rows without cycles, besides gv100Absent.
var cyclesAbsent = map[string]string{
	"kmeans": "all its loads are of a texture, for which the clock has a latency and no requests",
	"mriq":   "the workload has 16 samples, the measured launch has more, which add arithmetic",
}

// cyclesInterpretations are the machines of a launch, in the order of BeginLaunch.
var cyclesInterpretations = []Interpretation{
	{"headline", "the machine v100 with a clock, with empty caches when a launch begins"},
	{"fast", "the same, with all unknown numbers at the end of their ranges for the faster machine; a corner, no lower bound"},
	{"slow", "the same, with all unknown numbers at the other end; no upper bound"},
}

// gv100Cycles returns the table of cycles.
func gv100Cycles() *Table {
	t := &Table{
		Name: "cycles", Title: "cycles, mean of the kernel's launches", Source: "GV100", OnlyIfNamed: true, PrintRows: true,
		Note:            "The GPU's cycles have the begin and the end of a launch. docs/gv100.md has the definitions.",
		Interpretations: cyclesInterpretations,
		Columns: []Column{
			{Name: "cycles", Head: [2]string{"", "cycles"}, Doc: "cycles of a launch; the GPU's are Elapsed_Cycles"},
			{Name: "ratio", Head: [2]string{"", "ratio"}, Digits: 2, Doc: "gemu's cycles divided by those of the GPU", NotRanked: true},
		},
	}
	for _, row := range readRows(gv100Values, nil) {
		elapsed := row.Values["Elapsed_Cycles"]
		row.Workload, row.Absent, row.Values = gv100Kernels[row.Name].workload, gv100Absent[row.Name], map[string]float64{"cycles": elapsed}
		if reason := cyclesAbsent[row.Name]; reason != "" {
			row.Workload, row.Absent = "", reason
		}
		t.Rows = append(t.Rows, row)
	}
	t.Measure = func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
		kernels, err := measureOnce(m, cyclesKey{row.Workload}, func() (map[string]*launchCycles, error) {
			c := &launchClocks{kernels: map[string]*launchCycles{}, running: map[*stream.Launch][]*machine.Clock{}, verify: m.verify.clock}
			recorder := stream.NewRecorder(c)
			recorder.RecordInstructions()
			err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, recorder)
			if err == nil {
				err = c.err
			}
			return c.kernels, err
		})
		if err != nil {
			return nil, err
		}
		n := kernels[gv100Kernels[row.Name].kernel]
		mean := float64(n.cycles[t.interpretation(r)]) / float64(n.launches)
		return map[string]float64{"cycles": mean, "ratio": mean / row.Values["cycles"]}, nil
	}
	return t
}

// cyclesKey is a run of a workload.
type cyclesKey struct{ workload string }

// launchCycles is the cycles of the launches of a kernel.
type launchCycles struct {
	launches int64
	cycles   [3]int64 // by interpretation
}

// launchClocks runs each launch on new machines. It is a stream.Consumer.
type launchClocks struct {
	kernels map[string]*launchCycles
	running map[*stream.Launch][]*machine.Clock
	verify  func(*machine.Clock) error
	err     error
}

// BeginLaunch makes the machines of a launch.
func (c *launchClocks) BeginLaunch(l *stream.Launch) {
	own, _ := machine.Find("v100")
	fast, slow := own.ClockEnds()
	for _, s := range []machine.Spec{own, fast, slow} {
		m, err := machine.NewClock(s, 0)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		m.BeginLaunch(l)
		c.running[l] = append(c.running[l], m)
	}
}

// CTA passes a CTA to the machines of its launch.
func (c *launchClocks) CTA(l *stream.Launch, cta *stream.CTA) {
	for _, m := range c.running[l] {
		m.CTA(l, cta)
	}
}

// EndLaunch adds the cycles of a launch.
func (c *launchClocks) EndLaunch(l *stream.Launch, err error) {
	n := c.kernels[l.Kernel.Name]
	if n == nil {
		n = &launchCycles{}
		c.kernels[l.Kernel.Name] = n
	}
	n.launches++
	for i, m := range c.running[l] {
		m.EndLaunch(l, err)
		if e := c.verify(m); e != nil && c.err == nil {
			c.err = e
		}
		for _, ended := range m.TakeLaunches() {
			n.cycles[i] += ended.Cycles
		}
	}
	delete(c.running, l)
}

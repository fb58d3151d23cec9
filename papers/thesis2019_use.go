package papers

// This file has the use of resources by Zorua's programs (section 4.2.3 of Vijaykumar 2019). docs/zorua.md has the definitions.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/phases"
	"gemu/probe"
	"gemu/ptx"
)

// useEpochs are the lengths of epochs in cycles.
var useEpochs = [...]int64{500, 4000}

// Indices in the interpretations of zorua-use after clockEnds.
const useFile = clockEnds

// useCounts are registers of warps, or bytes of shared memory, summed over epochs and multiprocessors.
type useCounts struct {
	used      int64 // accessed in the epoch
	allocated int64 // of the places with a block at any time of the epoch
	all       int64 // of the multiprocessor
}

// share returns the used part in percent of the allocated ones, or of all.
func (u *useCounts) share(ofAll bool) float64 {
	if ofAll {
		return 100 * float64(u.used) / float64(u.all)
	}
	return 100 * float64(u.used) / float64(u.allocated)
}

// useRun is the use of resources by a program.
type useRun struct {
	registers, shared [clockEnds][len(useEpochs)]useCounts
}

// sharedAccess is an access of a warp to shared memory.
type sharedAccess struct {
	step  int // number of instructions that the warp has executed, with this one
	instr int32
	bytes byteSet
}

// byteSet is a set of bytes of the shared memory of a block.
type byteSet []uint64

// add adds n bytes from a place on.
func (s *byteSet) add(at uint64, n int) {
	for i := at; i < at+uint64(n); i++ {
		for uint64(len(*s)) <= i/64 {
			*s = append(*s, 0)
		}
		(*s)[i/64] |= 1 << (i % 64)
	}
}

// union adds the bytes of another set.
func (s *byteSet) union(o byteSet) {
	for len(*s) < len(o) {
		*s = append(*s, 0)
	}
	for i := range o {
		(*s)[i] |= o[i]
	}
}

// count returns the number of bytes.
func (s byteSet) count() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// sharedRecorder is a probe that records the accesses of warps to shared memory for several machines. Its subscription is that of a launch in order.
type sharedRecorder struct {
	machines int
	warps    map[useWarp]*sharedWarp
}

// sharedWarp is the accesses of a warp.
type sharedWarp struct {
	list  []sharedAccess
	ended int // machines on which the warp has ended
}

// add adds an access of a warp.
func (r *sharedRecorder) add(key useWarp, a sharedAccess) {
	w := r.warps[key]
	if w == nil {
		w = &sharedWarp{}
		r.warps[key] = w
	}
	w.list = append(w.list, a)
}

// of returns the accesses of a warp.
func (r *sharedRecorder) of(key useWarp) []sharedAccess {
	if w := r.warps[key]; w != nil {
		return w.list
	}
	return nil
}

// end notes that a warp has ended on a machine. After the last machine its accesses are forgotten.
func (r *sharedRecorder) end(key useWarp) {
	if w := r.warps[key]; w != nil {
		if w.ended++; w.ended == r.machines {
			delete(r.warps, key)
		}
	}
}

// useWarp identifies a warp.
type useWarp struct {
	launch    uint64
	cta, warp int
}

// Subscription asks for accesses.
func (r *sharedRecorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Addresses: true, InOrder: true}
}

// OnEvent implements probe.Probe.
func (r *sharedRecorder) OnEvent(*probe.Event) {}

// CTA returns the recorder of a block.
func (r *sharedRecorder) CTA(l *probe.LaunchInfo, cta int, _ ptx.Dim3) probe.Sink {
	return &sharedSink{r, useWarp{launch: l.ID, cta: cta}, map[int]int{}}
}

// sharedSink records the accesses of a block.
type sharedSink struct {
	*sharedRecorder
	warp  useWarp
	steps map[int]int // executed instructions, by warp
}

// OnEvent records the accesses of an instruction, and counts it also if it has no lanes.
func (s *sharedSink) OnEvent(e *probe.Event) {
	if e.Kind != probe.OnAfter {
		return
	}
	s.steps[e.Warp]++
	var set byteSet
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Space != ptx.Shared {
			continue
		}
		for m := a.Lanes & e.Lanes; m != 0; m &= m - 1 {
			set.add(a.Addr[bits.TrailingZeros64(m)], a.Bytes)
		}
	}
	if set != nil {
		s.warp.warp = e.Warp
		s.add(s.warp, sharedAccess{s.steps[e.Warp], int32(e.Index), set})
	}
}

// useObserver counts the use of resources on a machine with a clock.
type useObserver struct {
	accesses  *sharedRecorder
	progress  map[useWarp]*useProgress
	registers func(*ptx.Func) int
	limits    *occupancy.Limits
	sms       int

	launch *stream.Launch
	begin  int64
	of     int                      // registers of a thread
	uses   []phases.RegisterNumbers // by index of the instruction
	warps  int                      // of a block
	epochs [len(useEpochs)]useEpoch

	counts [2][len(useEpochs)]useCounts // registers, shared memory
	err    error
}

// useProgress is the progress of a warp on the machine.
type useProgress struct {
	steps int // issued instructions
	next  int // index of the next access
}

// useEpoch is what is accessed in epochs of a length.
type useEpoch struct {
	slots  map[[2]int]*slotUse     // by multiprocessor and slot
	places map[[2]int]*placeUse    // by multiprocessor and place
	held   map[int]map[int64]int64 // by multiprocessor and epoch: set of places with a block
}

// slotUse is the registers that are accessed in an epoch.
type slotUse struct {
	epoch int64
	phases.RegisterNumbers
}

// placeUse is the bytes of shared memory that are accessed in an epoch.
type placeUse struct {
	epoch int64
	byteSet
}

// Begin begins a launch.
func (o *useObserver) Begin(l *stream.Launch, at int64) {
	o.launch, o.begin, o.of = l, at, o.registers(l.Kernel)
	o.warps = o.limits.WarpsOf(occupancy.Block{Threads: l.Block.Count()})
	o.uses = make([]phases.RegisterNumbers, l.Program.Len())
	k, err := phases.Divide(l.Kernel, l.SharedBytes)
	if err != nil {
		o.err = err
		return
	}
	for i := range o.uses {
		instr, _ := l.Program.At(i)
		if n := k.Index(instr); n >= 0 {
			o.uses[i] = k.Instrs[n].Numbers
		}
	}
	o.beginEpochs()
}

// beginEpochs makes the epochs of a launch.
func (o *useObserver) beginEpochs() {
	for i := range o.epochs {
		o.epochs[i] = useEpoch{map[[2]int]*slotUse{}, map[[2]int]*placeUse{}, map[int]map[int64]int64{}}
	}
}

// Warp counts an instruction.
func (o *useObserver) Warp(w *core.WarpSpan) {
	if w.Reason != core.Issues {
		return
	}
	place := w.Slot / o.warps // the warps of a block have the slots of its place
	bytes := o.accessOf(useWarp{o.launch.ID, w.CTA, w.Warp}, w.Instr)
	for i, cycles := range useEpochs {
		e, epoch := &o.epochs[i], (w.From-o.begin)/cycles
		s := e.slots[[2]int{w.SM, w.Slot}]
		if s == nil {
			s = &slotUse{}
			e.slots[[2]int{w.SM, w.Slot}] = s
		}
		if s.epoch != epoch {
			o.endSlot(i, s)
			s.epoch = epoch
		}
		s.Add(&o.uses[w.Instr])
		if bytes == nil {
			continue
		}
		p := e.places[[2]int{w.SM, place}]
		if p == nil {
			p = &placeUse{}
			e.places[[2]int{w.SM, place}] = p
		}
		if epoch > p.epoch { // warps of a block can pass their spans a few cycles late
			o.endPlace(i, p)
			p.epoch = epoch
		}
		p.union(bytes)
	}
}

// accessOf returns the bytes that the next instruction of a warp accesses; nil if it accesses none.
func (o *useObserver) accessOf(key useWarp, instr int32) byteSet {
	p := o.progress[key]
	if p == nil {
		p = &useProgress{}
		o.progress[key] = p
	}
	p.steps++
	list := o.accesses.of(key)
	if p.next == len(list) || list[p.next].step != p.steps {
		return nil
	}
	a := &list[p.next]
	p.next++
	if a.instr != instr && o.err == nil {
		o.err = fmt.Errorf("BUG: instruction %d of warp %d of block %d has index %d on the machine, and %d in the recording", p.steps, key.warp, key.cta, instr, a.instr)
	}
	return a.bytes
}

// endSlot counts the registers of an epoch.
func (o *useObserver) endSlot(i int, s *slotUse) {
	o.counts[0][i].used += int64(min(s.Count(), o.of))
	s.RegisterNumbers = phases.RegisterNumbers{}
}

// endPlace counts the bytes of an epoch.
func (o *useObserver) endPlace(i int, p *placeUse) {
	o.counts[1][i].used += p.count()
	clear(p.byteSet)
}

// CTA notes the epochs of a block.
func (o *useObserver) CTA(c *core.CTASpan) {
	for i, cycles := range useEpochs {
		held := o.epochs[i].held[c.SM]
		if held == nil {
			held = map[int64]int64{}
			o.epochs[i].held[c.SM] = held
		}
		for e := (c.From - o.begin) / cycles; e <= (c.To-1-o.begin)/cycles; e++ {
			held[e] |= 1 << c.Place
		}
	}
	for w := range o.warps {
		key := useWarp{o.launch.ID, c.CTA, w}
		used := 0
		if p := o.progress[key]; p != nil {
			used = p.next
		}
		if left := len(o.accesses.of(key)) - used; left > 0 && o.err == nil {
			o.err = fmt.Errorf("BUG: warp %d of block %d has ended on the machine with %d accesses to shared memory left", w, c.CTA, left)
		}
		o.accesses.end(key)
		delete(o.progress, key)
	}
}

// Cycle implements core.Observer.
func (o *useObserver) Cycle(int64) {}

// End ends a launch.
func (o *useObserver) End(at int64) {
	for i, cycles := range useEpochs {
		e := &o.epochs[i]
		for _, s := range e.slots {
			o.endSlot(i, s)
		}
		for _, p := range e.places {
			o.endPlace(i, p)
		}
		blocks := int64(0)
		for _, held := range e.held {
			for _, places := range held {
				blocks += int64(bits.OnesCount64(uint64(places)))
			}
		}
		epochs := (at - o.begin + cycles - 1) / cycles * int64(o.sms)
		registers, shared := &o.counts[0][i], &o.counts[1][i]
		registers.allocated += blocks * int64(o.warps*o.of)
		registers.all += epochs * int64(o.limits.FileSize/o.limits.WarpSize)
		shared.allocated += blocks * int64(o.launch.SharedBytes)
		if o.launch.SharedBytes > 0 {
			shared.all += epochs * int64(o.limits.Shared)
		}
	}
}

// measureUse measures the use of resources by a program.
func measureUse(m *Meter, row *Row) (*useRun, error) {
	return measureOnce(m, "thesis2019 use "+row.Workload, func() (*useRun, error) {
		registers, out := machine.EstimateRegisters(), &useRun{}
		var consumers stream.Consumers
		var clocks []*machine.Clock
		var observers []*useObserver
		accesses := &sharedRecorder{clockEnds, map[useWarp]*sharedWarp{}}
		for reading := range clockEnds {
			s := zoruaMachine(zoruaMachines[0], zoruaStatic, reading, registers)
			c, err := machine.NewClock(s, 0)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			o := &useObserver{accesses: accesses, progress: map[useWarp]*useProgress{}, registers: registers, limits: occupancy.LimitsOf(s.SM), sms: s.SMs}
			c.Observer = o
			clocks, observers, consumers = append(clocks, c), append(observers, o), append(consumers, c)
		}
		recorder := stream.NewRecorder(consumers)
		recorder.RecordInstructions()
		if err := m.run(row.Workload, row.Size, func(*interp.Launch) {}, accesses, recorder); err != nil {
			return nil, err
		}
		for i, c := range clocks {
			if err := m.verify.clock(c); err != nil {
				return nil, fmt.Errorf("%s: %w", row.Workload, err)
			}
			if err := observers[i].err; err != nil {
				return nil, fmt.Errorf("%s: %w", row.Workload, err)
			}
			out.registers[i], out.shared[i] = observers[i].counts[0], observers[i].counts[1]
		}
		return out, nil
	})
}

// zoruaUse returns the table of used registers and shared memory.
func zoruaUse() *Table {
	added := []thesisProgram{{"cutcp", "cutcp"}, {"hw", "heartwall"}, {"tpacf", "tpacf"}}
	isAdded := func(row string) bool {
		return slices.ContainsFunc(added, func(p thesisProgram) bool { return p.name == row })
	}
	programs := append(zoruaSingle[:len(zoruaSingle):len(zoruaSingle)], zoruaBlocks[:4]...)
	programs = append(programs, added...)
	var columns []Column
	for _, cycles := range useEpochs {
		head := fmt.Sprint(cycles, " cycles,")
		columns = append(columns,
			percent(fmt.Sprint("registers_", cycles), head, "registers", fmt.Sprintf("registers that are accessed in an epoch of %d cycles, of those of places with a block", cycles)),
			percent(fmt.Sprint("shared_", cycles), head, "shared", "the same for bytes of shared memory; missing without shared memory"))
	}
	columns = append(columns,
		percent("below_70", "below 70", "registers", "70 minus the registers of 4000 cycles: more than 0 in the thesis"),
		percent("below_50", "below 50", "shared", "50 minus the shared memory of 4000 cycles: more than 0 in the thesis"),
		percent("below_15", "below 15", "shared", "15 minus the larger share of shared memory, only of cutcp, hw and tpacf: more than 0 in the thesis"))
	const seven = "mean of 7"
	means := map[string]float64{"registers_500": 37, "shared_500": 12}
	return summarised(Table{
		Name: "zorua-use", Title: "Zorua: registers and shared memory that are used in an epoch, with allocation to blocks on Fermi (figure 28)",
		Note:            "The thesis does not name its programs but cutcp, hw and tpacf, which it gives as examples of little use; the mean of 7 is without them. MST, BH, SSSP and SP have no shared memory.",
		Columns:         columns,
		Rows:            zoruaRows(programs, Row{Name: "mean", Summary: true, Values: means}, Row{Name: seven, Summary: true, Values: means}),
		Interpretations: append(clockReadings[:clockEnds:clockEnds], Interpretation{"file", "as the headline; as a share of all registers and all shared memory of a multiprocessor"}), OnlyIfNamed: true,
	}, func(m *Meter, row *Row, reading int) (map[string]float64, error) {
		run, err := measureUse(m, row)
		if err != nil {
			return nil, err
		}
		clock := reading
		if reading == useFile {
			clock = clockHeadline
		}
		v := map[string]float64{}
		for i, cycles := range useEpochs {
			v[fmt.Sprint("registers_", cycles)] = run.registers[clock][i].share(reading == useFile)
			if run.shared[clock][i].allocated > 0 {
				v[fmt.Sprint("shared_", cycles)] = run.shared[clock][i].share(reading == useFile)
			}
		}
		v["below_70"] = 70 - v["registers_4000"]
		if run.shared[clock][0].allocated > 0 {
			v["below_50"] = 50 - v["shared_4000"]
			if isAdded(row.Name) {
				v["below_15"] = 15 - max(v["shared_500"], v["shared_4000"])
			}
		}
		return v, nil
	}, map[string]func(string, map[string]float64) bool{seven: func(row string, _ map[string]float64) bool { return !isAdded(row) }})
}

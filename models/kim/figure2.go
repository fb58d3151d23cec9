package kim

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
)

// Figure2 is a probe that classifies values as if all threads of a launch were one warp with ideal reconvergence
// (section 2.4: "an infinitely long warp size", "all threads with the same dynamic instruction identifier are assumed
// to execute together"). The paper does not define the identifier. Here it is the instruction and the number of its
// earlier executions by the thread. A thread's index is its index in the launch, CTA by CTA.
//
// It needs some words for each operand of each such instruction. Use it for launches whose threads execute at most
// some hundreds of thousands of instructions.
type Figure2 struct {
	// Blocks makes the threads of a CTA one warp; a thread's index is then its index in the CTA.
	Blocks bool

	mu      sync.Mutex
	open    map[uint64]*launch // launches in progress
	groups  Groups
	threads Groups
}

// Groups counts instructions of the infinitely long warp by class.
type Groups struct {
	LoadAddresses, StoreAddresses affinetrack.ClassCounts // without parameters
	LoadData, StoreData           affinetrack.ClassCounts // loaded and stored values, without parameters
	RegisterReads, RegisterWrites affinetrack.ClassCounts // without predicates
	Instructions                  affinetrack.ClassCounts // by possible compact execution, as in figure 1

	// Active counts instructions by the share of the launch's threads that execute them: up to 10 %, up to 20 %, and
	// so on.
	Active [10]int64
	// Parts is the sum of these shares; Parts/Count() is the mean.
	Parts float64
}

// Count returns the number of counted instructions.
func (g *Groups) Count() int64 {
	n := int64(0)
	for _, k := range g.Active {
		n += k
	}
	return n
}

// launch is a launch in progress.
type launch struct {
	threads int
	width   int
	done    [][]uint32 // by instruction and thread: number of executions
	groups  [][]group  // by instruction and number of execution
	instrs  []*ptx.Instr
}

// group is the threads that execute an instruction for the n-th time.
type group struct {
	threads       int64
	reads, writes []operand
	address       affinetrack.Fit
	stored        int // index of the first stored register in reads
}

// operand is a register in all threads of a group; a 128-bit register has two halves.
type operand struct {
	predicate bool
	low, high affinetrack.Fit
}

func (o *operand) class() affinetrack.Class { return max(o.low.Class(), o.high.Class()) }

// Groups returns the counts of ended launches.
func (f *Figure2) Groups() Groups {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.groups
}

// Threads returns the counts with each instruction counted once for each executing thread.
func (f *Figure2) Threads() Groups {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.threads
}

// Subscription asks for instructions with register values and addresses, in a fixed order of CTAs.
func (f *Figure2) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnAfter | probe.OnReturn | probe.OnWake, Values: true, Addresses: true, InOrder: true}
}

// OnEvent begins and ends launches.
func (f *Figure2) OnEvent(e *probe.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		if f.open == nil {
			f.open = map[uint64]*launch{}
		}
		f.open[e.Launch.ID] = newLaunch(e.Launch, e.Launch.Grid.Count()*e.Launch.Block.Count())
	case probe.OnLaunchEnd:
		if l := f.open[e.Launch.ID]; l != nil && e.Err == nil {
			f.count(l)
		}
		delete(f.open, e.Launch.ID)
	}
}

func newLaunch(l *probe.LaunchInfo, threads int) *launch {
	n := l.Program.Len()
	return &launch{threads: threads, width: l.WarpSize, done: make([][]uint32, n), groups: make([][]group, n), instrs: make([]*ptx.Instr, n)}
}

// count counts the groups of a launch, or of a CTA, that has ended.
func (f *Figure2) count(l *launch) {
	for i, list := range l.groups {
		for k := range list {
			g := &list[k]
			f.groups.count(l.instrs[i], g, l.threads, 1)
			f.threads.count(l.instrs[i], g, l.threads, g.threads)
		}
	}
}

// Save returns the counts and the launches in progress.
func (f *Figure2) Save() any {
	open := map[uint64]*launch{}
	for id, l := range f.open {
		open[id] = l.clone()
	}
	return &Figure2{open: open, groups: f.groups, threads: f.threads}
}

// Restore sets the state that Save returned.
func (f *Figure2) Restore(state any) {
	s := state.(*Figure2)
	f.groups, f.threads, f.open = s.groups, s.threads, map[uint64]*launch{}
	for id, l := range s.open {
		f.open[id] = l.clone()
	}
}

func (l *launch) clone() *launch {
	n := *l
	n.done, n.groups, n.instrs = slices.Clone(l.done), slices.Clone(l.groups), slices.Clone(l.instrs)
	for i := range n.done {
		n.done[i], n.groups[i] = slices.Clone(n.done[i]), slices.Clone(n.groups[i])
		for k := range n.groups[i] {
			g := &n.groups[i][k]
			g.reads, g.writes = slices.Clone(g.reads), slices.Clone(g.writes)
		}
	}
	return &n
}

// CTA makes a sink that groups the instructions of a CTA.
func (f *Figure2) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	if f.Blocks {
		return &cta{model: f, launch: newLaunch(l, l.Block.Count())}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &cta{model: f, launch: f.open[l.ID], first: index * l.Block.Count()}
}

// cta is a CTA of a launch; first is the index of its first thread.
type cta struct {
	model *Figure2
	*launch
	first int
}

// Save returns the groups of the CTA, if Blocks is set. Otherwise the launch saves them.
func (c *cta) Save() any {
	if c.model.Blocks {
		return c.launch.clone()
	}
	return nil
}

// Restore sets the state that Save returned.
func (c *cta) Restore(state any) {
	if l, ok := state.(*launch); ok {
		c.launch = l.clone()
	}
}

// OnEvent adds an instruction to the groups of its threads.
func (c *cta) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		if c.model.Blocks {
			c.model.mu.Lock()
			defer c.model.mu.Unlock()
			c.model.count(c.launch)
		}
		return
	}
	returning := e.Kind != probe.OnAfter // the event has results of an earlier instruction
	if c.done[e.Index] == nil {
		c.done[e.Index], c.instrs[e.Index] = make([]uint32, c.threads), e.Instr
	}
	done := c.done[e.Index]
	lanes := e.Active
	if returning {
		lanes = e.Lanes
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		thread := c.first + e.Warp*c.width + lane
		n := int(done[thread])
		if returning {
			n--
		} else {
			done[thread]++
		}
		for len(c.groups[e.Index]) <= n {
			c.groups[e.Index] = append(c.groups[e.Index], group{stored: -1})
		}
		g := &c.groups[e.Index][n]
		if !returning {
			g.threads++
		}
		if e.Lanes>>lane&1 != 0 {
			g.addThread(e, uint64(thread), lane, returning)
		}
	}
}

// addThread adds a thread's values to a group.
func (g *group) addThread(e *probe.Event, thread uint64, lane int, returning bool) {
	if !returning {
		registers(&g.reads, e.Reads, thread, lane)
		if len(e.Accesses) > 0 && e.Accesses[0].Addr != nil && e.Accesses[0].Lanes>>lane&1 != 0 {
			g.address.Add(thread, e.Accesses[0].Addr[lane], 64)
		}
		if g.stored < 0 && e.Instr.Form.Affine == ptx.AffineStore {
			g.stored = 0
			for i := range e.Instr.Ops { // the address is read before the stored registers
				if o := &e.Instr.Ops[i]; o.Kind == ptx.AddrOperand && o.Reg != ptx.NoReg {
					g.stored++
				}
			}
		}
	}
	if countsNow := e.Instr.Call == nil && e.Instr.Form.Class != ptx.ClassBarrier; countsNow != returning {
		registers(&g.writes, e.Writes, thread, lane)
	}
}

// registers adds the registers of a thread.
func registers(list *[]operand, values []probe.Value, thread uint64, lane int) {
	if *list == nil && len(values) > 0 {
		*list = make([]operand, len(values))
	}
	for i := range values {
		v, o := &values[i], &(*list)[i]
		width := v.Type.Bits()
		if o.predicate = v.Type == ptx.Pred; o.predicate {
			width = 8 // true or false, not a number modulo two
		}
		o.low.Add(thread, v.Low[lane], min(width, 64))
		if width > 64 {
			o.high.Add(thread, v.High[lane], 64)
		}
	}
}

// count adds a group of a launch with the given number of threads, weight times.
func (n *Groups) count(instr *ptx.Instr, g *group, threads int, weight int64) {
	count := func(s *affinetrack.ClassCounts, c affinetrack.Class) {
		var counts affinetrack.ClassCounts
		counts.Count(c)
		s.Add(affinetrack.ClassCounts{Uniform: weight * counts.Uniform, Affine: weight * counts.Affine, Generic: weight * counts.Generic})
	}
	part := float64(g.threads) / float64(threads)
	n.Active[min(int((10*g.threads-1)/int64(threads)), 9)] += weight
	n.Parts += part * float64(weight)
	class := affinetrack.Uniform
	for i := range g.reads {
		c := g.reads[i].class()
		class = max(class, logical(&g.reads[i], c))
		if !g.reads[i].predicate {
			count(&n.RegisterReads, c)
		}
	}
	data := affinetrack.Unknown
	for i := range g.writes {
		c := g.writes[i].class()
		class = max(class, logical(&g.writes[i], c))
		if !g.writes[i].predicate {
			count(&n.RegisterWrites, c)
			data = max(data, c)
		}
	}
	address := g.address.Class()
	if space, _ := instr.Space(); space != ptx.Param {
		switch instr.Form.Affine {
		case ptx.AffineLoad:
			count(&n.LoadAddresses, address)
			count(&n.LoadData, data)
		case ptx.AffineStore:
			count(&n.StoreAddresses, address)
			count(&n.StoreData, g.storedClass())
		}
	}
	switch c := instr.Form.Class; {
	case c == ptx.ClassControl || c == ptx.ClassBarrier || c == ptx.ClassMisc:
		class = affinetrack.Uniform
	case c == ptx.ClassMemory && address != affinetrack.Unknown:
		class = address
	case class == affinetrack.Affine && (c == ptx.ClassFP || c == ptx.ClassSFU) && !instr.OperandType(0).IsInt():
		class = affinetrack.Generic // floating-point values can be uniform only (section 4.1)
	}
	count(&n.Instructions, class)
}

// logical returns the class that an operand allows for its instruction: a predicate must be uniform.
func logical(o *operand, c affinetrack.Class) affinetrack.Class {
	if o.predicate && c == affinetrack.Affine {
		return affinetrack.Generic
	}
	return c
}

// storedClass returns the class of the stored value; a constant is uniform.
func (g *group) storedClass() affinetrack.Class {
	class := affinetrack.Uniform
	for i := max(g.stored, 0); i < len(g.reads); i++ {
		class = max(class, g.reads[i].class())
	}
	return class
}

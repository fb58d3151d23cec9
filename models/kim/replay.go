package kim

// This file records the instructions of warps, with their execution under a policy, for the machines.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/affinetrack"
	"gemu/internal/coalesce"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// machine counts the cycles of recorded CTAs. Its clock starts at 0 and continues from launch to launch.
type machine interface {
	// runCTA runs a CTA. The machine may keep the CTA until the end of the launch. It returns the number of CTAs that
	// it keeps.
	runCTA(c *ctaRecord) int
	// endLaunch runs the CTAs that the machine keeps.
	endLaunch()
}

// Replay is a probe that runs the CTAs of launches on machines, in the order in which the CTAs end. It holds only the
// CTAs not yet run by all machines: at most the number of CTAs that a machine holds at a time, and the running one.
// It requires warps of 32 lanes.
type Replay struct {
	policy   *affinetrack.Policy
	line     uint64 // bytes of a line of the machines' memory
	machines []machine

	// CountRegisters, if not nil, returns the 32-bit registers of a thread, for machines whose registers limit their CTAs.
	CountRegisters func(l *probe.LaunchInfo) int

	mu          sync.Mutex
	launches    map[uint64]*launchReplay // in progress
	total       structure.Structure
	maxKeptCTAs int // largest number of CTAs that a machine has kept
}

// GPReplay returns a replay on GP-SIMT machines under a policy.
func GPReplay(p *affinetrack.Policy, machines ...*GPMachine) *Replay {
	r := newReplay(p, gpLine)
	for _, m := range machines {
		r.machines = append(r.machines, m)
	}
	return r
}

// FGReplay returns a replay on FG-SIMT machines under a policy.
func FGReplay(p *affinetrack.Policy, machines ...*FGMachine) *Replay {
	r := newReplay(p, fgLine)
	for _, m := range machines {
		r.machines = append(r.machines, m)
	}
	return r
}

func newReplay(p *affinetrack.Policy, line uint64) *Replay {
	return &Replay{policy: p, line: line, launches: map[uint64]*launchReplay{}, total: structure.Structure{Policy: p}}
}

// Structure returns the value structure of the ended launches under the policy.
func (r *Replay) Structure() *structure.Structure {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &structure.Structure{Policy: r.policy}
	s.Add(&r.total)
	return s
}

// launchReplay is a launch in progress.
type launchReplay struct {
	structure *structure.Probe
	program   []instr
	registers int
	allocated int // registers of a thread, as allocated
}

// unit is the unit that executes an instruction.
type unit uint8

const (
	noUnit         unit = iota // issue slot only
	arithmeticUnit             // two of them
	specialUnit                // GP-SIMT: special functions and divisions
	memoryUnit
	affineUnit // GP-SIMT: compact execution
	unitCount
)

// latency is a class of latencies.
type latency uint8

const (
	simpleLatency  latency = iota // integers
	longLatency                   // multiplications, floating point
	specialLatency                // special functions, divisions
	latencyCount                  // number of classes; the latency of memory is the machine's
)

// instr is an instruction of a program, with the facts that machines need.
type instr struct {
	unit          unit
	latency       latency
	compares      bool // its results are predicates
	control       bool
	waits         bool // control continues only when the guard is known
	load, store   bool // atomics are both
	shared        bool // a load of a parameter
	uses, defs    []uint32
	reads, writes []bankAccess
}

// bankAccess is a register in the banks from number reg on.
type bankAccess struct{ reg, banks uint8 }

// record is an execution of an instruction by a warp, or a barrier.
type record struct {
	instr        uint32 // index of the instruction, or number of the barrier's generation
	bytes        uint32 // loaded and stored by lanes
	lines        uint16 // lines of accessed memory; with GP-SIMT their numbers are in warp.lines
	bankCycles   uint16 // cycles of memory banks, or of the cache of constants
	flags        flags
	compact      uint8 // compact register reads, a bit each; the ninth and later reads count as generic
	materialises uint8
	groups       uint8 // groups of eight lanes with an active lane
}

type flags uint8

const (
	isBarrier    flags = 1 << iota
	isCompact          // results written compactly
	isSuppressed       // results could have been written compactly
	isDecided          // a branch decided by compact values
	isAtCompact        // a load at a compact address
	isVector           // a load at an affine address that is not uniform
)

// warp is the records of a warp.
type warp struct {
	records []record
	lines   []uint32
}

// ctaRecord is the records of a CTA.
type ctaRecord struct {
	program   []instr
	registers int // registers of the program
	allocated int // 32-bit registers of a multiprocessor that it takes
	shared    int // bytes of shared memory
	warps     []warp
	barriers  []int // by number: warps that meet at the barrier
}

// Subscription adds addresses and a fixed order of CTAs to the events of the policy's structure probe.
func (r *Replay) Subscription() probe.Subscription {
	w := structure.NewProbe(r.policy).Subscription()
	w.Events |= probe.OnLaunch | probe.OnLaunchEnd | probe.OnWake
	w.Addresses, w.InOrder = true, true
	return w
}

// OnEvent begins and ends launches.
func (r *Replay) OnEvent(e *probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		l := &launchReplay{structure: structure.NewProbe(r.policy)}
		if r.CountRegisters != nil {
			l.allocated = (r.CountRegisters(e.Launch) + 3) &^ 3 // GPGPU-Sim, shader_core_config::max_cta
		}
		l.structure.OnEvent(e)
		r.launches[e.Launch.ID] = l
	case probe.OnLaunchEnd:
		if l := r.launches[e.Launch.ID]; l != nil {
			for _, m := range r.machines {
				m.endLaunch()
			}
			r.total.Add(l.structure.Structure())
			delete(r.launches, e.Launch.ID)
		}
	}
}

// CTA makes a sink that records a CTA.
func (r *Replay) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	if l.WarpSize != 32 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	replay := r.launches[l.ID]
	if replay.program == nil {
		replay.program, replay.registers = instructions(l)
	}
	n := (l.Block.Count() + 31) / 32
	return &recorder{
		replay: r, tracker: replay.structure.CTA(l, index, id).(structure.Results), first: uint32(index * n),
		cta:  ctaRecord{program: replay.program, registers: replay.registers, allocated: 32 * n * replay.allocated, shared: sharedBytes(l), warps: make([]warp, n)},
		last: make([]int, n),
	}
}

// sharedBytes returns the bytes of shared memory of a CTA.
func sharedBytes(l *probe.LaunchInfo) int {
	n := 0
	for _, v := range l.Program.Shared() {
		n = max(n, v.Offset+v.Var.Size())
	}
	return n + l.Shared
}

// instructions returns the instructions of a program for machines, and the number of registers of all its functions.
// The registers of the functions are numbered in sequence.
func instructions(l *probe.LaunchInfo) (list []instr, registers int) {
	base := map[*ptx.Func]int{}
	for i := range l.Program.Len() {
		instr, f := l.Program.At(i)
		if _, ok := base[f]; !ok {
			base[f] = registers
			registers += len(f.Regs)
		}
		list = append(list, newInstr(instr, l.Program.Operations(i), base[f]))
	}
	return list, registers
}

// newInstr describes an instruction of a function whose registers have numbers from base on. The units are the units
// of ComputeUse.
func newInstr(in *ptx.Instr, operations *probe.Operations, base int) instr {
	n := instr{compares: in.Form.Affine == ptx.AffineCompare}
	switch in.Form.Class {
	case ptx.ClassInt:
		n.unit = arithmeticUnit
	case ptx.ClassMul, ptx.ClassFP:
		n.unit, n.latency = arithmeticUnit, longLatency
	case ptx.ClassSFU:
		n.unit, n.latency = specialUnit, specialLatency
	case ptx.ClassMemory, ptx.ClassTexture:
		space, _ := in.Space()
		n.unit = memoryUnit
		n.load = in.Form.Affine == ptx.AffineLoad || len(slices.Collect(in.Defs())) > 0
		n.store = in.Form.Affine != ptx.AffineLoad
		n.shared = n.load && !n.store && space == ptx.Param
	case ptx.ClassControl:
		n.control = true
		n.waits = in.Guard.Reg != ptx.NoReg
	}
	for r := range in.Uses() {
		n.uses = append(n.uses, uint32(base+int(r)))
	}
	for r := range in.Defs() {
		n.defs = append(n.defs, uint32(base+int(r)))
	}
	n.reads, n.writes = bankAccesses(operations.Reads), bankAccesses(operations.Writes)
	return n
}

// bankAccesses returns the banks of register operands. Predicates and further operands take no bank.
func bankAccesses(operands []probe.Operand) (list []bankAccess) {
	for i := range operands {
		o := &operands[i]
		a := bankAccess{reg: uint8(int(o.Reg) % registerBanks)}
		switch {
		case o.Bits == 1 || o.Reg == ptx.NoReg:
		case o.Kind == probe.WideOperand:
			a.banks = 4
		case o.Kind == probe.RowOperand:
			a.banks = uint8(o.Bits / 32)
		}
		list = append(list, a)
	}
	return list
}

// recorder records a CTA.
type recorder struct {
	replay  *Replay
	tracker structure.Results
	cta     ctaRecord
	first   uint32         // index of its first warp in the launch
	numbers map[[2]int]int // numbers of barriers, by barrier and generation
	last    []int          // by warp: 1 + the number of its last barrier
	known   []uint64       // addresses or words of the present access
	lines   coalesce.Lines // lines of the present access
}

// OnEvent records an event.
func (c *recorder) OnEvent(e *probe.Event) {
	c.tracker.OnEvent(e)
	switch e.Kind {
	case probe.OnBefore:
		c.before(e)
	case probe.OnAfter:
		c.after(e)
	case probe.OnUndo:
		w := &c.cta.warps[e.Warp]
		w.records = w.records[:len(w.records)-1]
	case probe.OnBranch:
		if c.tracker.Step(e).Decided {
			w := &c.cta.warps[e.Warp]
			w.records[len(w.records)-1].flags |= isDecided
		}
	case probe.OnWake:
		c.recordBarrier(e)
	case probe.OnCTAEnd:
		r := c.replay
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range r.machines {
			r.maxKeptCTAs = max(r.maxKeptCTAs, m.runCTA(&c.cta))
		}
	}
}

// before begins the record of an instruction.
func (c *recorder) before(e *probe.Event) {
	r := record{instr: uint32(e.Index)}
	for g := range 4 {
		if e.Active>>(8*g)&0xff != 0 {
			r.groups++
		}
	}
	switch reads := c.tracker.Step(e).Reads; {
	case reads.Generic == 0:
		r.compact = 0xff
	case reads.Compact() > 0:
		reads := c.cta.program[r.instr].reads
		for i := range min(len(reads), 8) {
			if reads[i].banks > 0 && c.tracker.Operand(e, i) != affinetrack.Generic {
				r.compact |= 1 << i
			}
		}
	}
	w := &c.cta.warps[e.Warp]
	w.records = append(w.records, r)
}

// after completes the record.
func (c *recorder) after(e *probe.Event) {
	w := &c.cta.warps[e.Warp]
	r := &w.records[len(w.records)-1]
	s := c.tracker.Step(e)
	r.materialises = uint8(min(s.Expansions, 255))
	if s.Compact {
		r.flags |= isCompact
	}
	if s.Suppressed {
		r.flags |= isSuppressed
	}
	if instr := &c.cta.program[r.instr]; instr.load && !instr.store {
		switch s.Address {
		case affinetrack.Uniform:
			r.flags |= isAtCompact
		case affinetrack.Affine:
			r.flags |= isAtCompact | isVector
		}
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Addr == nil || a.Lanes == 0 {
			continue
		}
		for m := a.Lanes; m != 0; m &= m - 1 {
			r.bytes += uint32(a.Length(bits.TrailingZeros64(m)))
		}
		if c.replay.line == fgLine {
			c.recordFG(r, a)
		} else {
			c.recordGP(w, r, a, uint32(e.Warp))
		}
	}
}

// recordBarrier records that a warp has passed a barrier. Barriers of a warp must have ascending numbers, so waits of
// warps have no cycle. If lanes of a warp wait at different barriers, a barrier with a lower number is left out.
func (c *recorder) recordBarrier(e *probe.Event) {
	if b := e.Wait.Barrier; b < 0 || b >= probe.ClusterBarrier {
		return
	}
	key := [2]int{e.Wait.Barrier, e.Wait.Generation}
	n, ok := c.numbers[key]
	if !ok {
		if c.numbers == nil {
			c.numbers = map[[2]int]int{}
		}
		n = len(c.cta.barriers)
		c.numbers[key], c.cta.barriers = n, append(c.cta.barriers, 0)
	}
	if n < c.last[e.Warp] {
		return
	}
	c.last[e.Warp] = n + 1
	c.cta.barriers[n]++
	w := &c.cta.warps[e.Warp]
	w.records = append(w.records, record{instr: uint32(n), flags: isBarrier})
}

// recordGP records an access for GP-SIMT machines.
func (c *recorder) recordGP(w *warp, r *record, a *probe.Access, warp uint32) {
	first := bits.TrailingZeros64(a.Lanes)
	space := a.Space
	if space == ptx.Generic {
		space, _, _, _ = a.PlaceOf(first)
	}
	switch space {
	case ptx.Param, ptx.Const:
		c.known = c.known[:0]
		for m := a.Lanes; m != 0; m &= m - 1 {
			c.addKnown(a.Addr[bits.TrailingZeros64(m)])
		}
		r.bankCycles += uint16(len(c.known))
	case ptx.Shared:
		r.bankCycles += uint16(c.countPasses(a, a.Kind != probe.AccessAtomic))
	case ptx.Local:
		c.lines.Reset()
		for m := a.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			_, _, offset, _ := a.PlaceOf(lane)
			c.lines.TouchLocal(offset, a.Length(lane), lane, 32)
		}
		c.addLines(w, r, func(number uint64) uint32 { return 1<<31 | (c.first+warp)<<12 | uint32(number)&0xfff })
	default:
		c.lines.Reset()
		for m := a.Lanes; m != 0; m &= m - 1 {
			c.touch(a, bits.TrailingZeros64(m), maxLaneLines)
			if a.Kind == probe.AccessAtomic { // each lane has lines of its own
				c.addLines(w, r, globalLine)
				c.lines.Reset()
			}
		}
		c.addLines(w, r, globalLine)
	}
}

// maxLaneLines is the maximum number of lines of a lane. Only bulk accesses have more.
const maxLaneLines = 4

// globalLine returns a machine's number of a line of global memory.
func globalLine(number uint64) uint32 { return uint32(number) & (1<<31 - 1) }

// touch adds the bytes of a lane to the lines of the present access, in at most n machine lines. An access without bytes
// counts as one byte.
func (c *recorder) touch(a *probe.Access, lane int, n uint64) {
	addr, line := a.Addr[lane], c.replay.line
	c.lines.Touch(addr, int(min(uint64(max(a.Length(lane), 1)), n*line-addr%line)))
}

// addLines adds the lines of the present access to a record.
func (c *recorder) addLines(w *warp, r *record, lineOf func(number uint64) uint32) {
	for t := range c.lines.All() {
		w.lines = append(w.lines, lineOf(t.Number))
	}
	r.lines += uint16(c.lines.Len())
}

// addKnown adds v to known and reports whether it is new.
func (c *recorder) addKnown(v uint64) bool {
	if slices.Contains(c.known, v) {
		return false
	}
	c.known = append(c.known, v)
	return true
}

// countPasses returns the cycles that the banks of shared memory need. A bank serves a single word in a cycle. With
// merge, all lanes with the same word are served together.
func (c *recorder) countPasses(a *probe.Access, merge bool) (maxCount int) {
	var load [gpBanks]int
	var last [gpBanks]uint64 // last word of each bank, plus 1: lanes with the same word are often neighbours
	c.known = c.known[:0]
	for m := a.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		first := a.Addr[lane] / gpWord
		for w := first; w <= (a.Addr[lane]+uint64(max(a.Length(lane), 1))-1)/gpWord; w++ {
			b := w % gpBanks
			if merge && (last[b] == w+1 || load[b] > 0 && !c.addKnown(w)) {
				continue
			}
			if last[b] = w + 1; merge && load[b] == 0 {
				c.known = append(c.known, w)
			}
			load[b]++
			maxCount = max(maxCount, load[b])
		}
	}
	return maxCount
}

// maxLines is the maximum number of FG-SIMT's lines of an access. Only bulk accesses have more.
const maxLines = 128

// recordFG records an access for FG-SIMT machines: the requests of groups of eight lanes, and the accessed lines.
func (c *recorder) recordFG(r *record, a *probe.Access) {
	c.lines.Reset()
	for m := a.Lanes; m != 0; m &= m - 1 {
		c.touch(a, bits.TrailingZeros64(m), maxLines)
	}
	r.lines += uint16(min(c.lines.Sectors(), maxLines)) // fgLine is the size of a sector
	for g := 0; g < 32; g += fgLanes {
		lanes := a.Lanes & (0xff << g)
		switch n := (a.Bytes + fgWord - 1) / fgWord; {
		case lanes == 0:
		case a.Space == ptx.Local:
			r.bankCycles += uint16(n)
		case a.Kind == probe.AccessAtomic:
			r.bankCycles += uint16(c.countConflicts(a, lanes) * n)
		case isSameAddress(a, lanes):
			r.bankCycles += uint16(n)
		case isConsecutive(a, lanes, g):
			r.bankCycles += uint16((fgLanes*a.Bytes + fgLine - 1) / fgLine)
		default:
			r.bankCycles += uint16(c.countConflicts(a, lanes) * n)
		}
	}
}

// countConflicts returns the largest number of requests to a bank.
func (c *recorder) countConflicts(a *probe.Access, lanes uint64) (maxCount int) {
	var load [fgBanks]int
	for m := lanes; m != 0; m &= m - 1 {
		b := a.Addr[bits.TrailingZeros64(m)] / fgLine % fgBanks
		load[b]++
		maxCount = max(maxCount, load[b])
	}
	return maxCount
}

// isSameAddress reports whether lanes access the same address.
func isSameAddress(a *probe.Access, lanes uint64) bool {
	addr := a.Addr[bits.TrailingZeros64(lanes)]
	for m := lanes; m != 0; m &= m - 1 {
		if a.Addr[bits.TrailingZeros64(m)] != addr {
			return false
		}
	}
	return true
}

// isConsecutive reports whether lanes of the group that begins at lane g access consecutive elements. The group must
// begin at a line, or lie within a line if its elements are small.
func isConsecutive(a *probe.Access, lanes uint64, g int) bool {
	n := uint64(a.Bytes)
	first := bits.TrailingZeros64(lanes)
	base := a.Addr[first] - uint64(first-g)*n
	if base%min(fgLine, fgLanes*n) != 0 {
		return false
	}
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if a.Addr[lane] != base+uint64(lane-g)*n {
			return false
		}
	}
	return true
}

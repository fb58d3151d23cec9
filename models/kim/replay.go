package kim

// This file is what machines replay: the instructions of warps, with what a policy makes of them.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/ptx"
)

// machine takes time for what it runs. Its clock starts at 0 and goes on from launch to launch.
type machine interface {
	// runCTA has the machine run a CTA. It may keep it until the end of the launch, and gives back how
	// many CTAs it still has.
	runCTA(c *ctaRecord) int
	// endLaunch has the machine run all that it still has.
	endLaunch()
}

// Replay is a probe that has machines run what launches do, CTA by CTA in the order in which they
// end. It has the CTAs that some machine has not run yet, and no more: at most as many as a machine
// holds at a time, and the one that runs. It is for warps of 32 lanes.
type Replay struct {
	policy   *affinetrack.Policy
	line     uint64 // bytes of a line of the machines' memory
	machines []machine

	mu       sync.Mutex
	launches map[uint64]*launchReplay // under way
	total    interp.Structure
	maxCTAs  int // CTAs that a machine has held
}

// GPReplay has GP-SIMT machines run launches, under a policy.
func GPReplay(p *affinetrack.Policy, machines ...*GPMachine) *Replay {
	r := newReplay(p, gpLine)
	for _, m := range machines {
		r.machines = append(r.machines, m)
	}
	return r
}

// FGReplay has FG-SIMT machines run launches, under a policy.
func FGReplay(p *affinetrack.Policy, machines ...*FGMachine) *Replay {
	r := newReplay(p, fgLine)
	for _, m := range machines {
		r.machines = append(r.machines, m)
	}
	return r
}

func newReplay(p *affinetrack.Policy, line uint64) *Replay {
	return &Replay{policy: p, line: line, launches: map[uint64]*launchReplay{}, total: interp.Structure{Policy: p}}
}

// Structure is what the policy has found in the launches that have ended.
func (r *Replay) Structure() *interp.Structure {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &interp.Structure{Policy: r.policy}
	s.Add(&r.total)
	return s
}

// launchReplay is a launch under way.
type launchReplay struct {
	structure *interp.StructureProbe
	program   []instr
	registers int
}

// unit is where an instruction goes.
type unit uint8

const (
	noUnit         unit = iota // it takes a place to issue
	arithmeticUnit             // of which there are two
	specialUnit                // GP-SIMT: special functions and divisions
	memoryUnit
	affineUnit // GP-SIMT: if it executes compactly
	unitCount
)

// latency is how long a result takes.
type latency uint8

const (
	simpleLatency  latency = iota // integers
	longLatency                   // multiplications, floating point
	specialLatency                // special functions, divisions
	latencyCount                  // those of memory are the machine's
)

// instr is an instruction of a program, as far as it matters when it executes.
type instr struct {
	unit          unit
	latency       latency
	compares      bool // its results are predicates
	control       bool
	waits         bool // control goes on only when the guard is known
	load, store   bool // atomics are both
	shared        bool // a load of a parameter
	uses, defs    []uint32
	reads, writes []bankAccess
}

// bankAccess is a register that lies in banks, from number reg on so many of them.
type bankAccess struct{ reg, banks uint8 }

// record is an execution of an instruction by a warp, or where warps of a CTA meet.
type record struct {
	instr        uint32 // its index; of a meeting its number
	bytes        uint32 // that lanes load and store
	lines        uint16 // of memory that it touches; GP-SIMT: they stand in warp.lines
	bankCycles   uint16 // of banks, or of the cache of constants
	flags        flags
	compact      uint8 // reads of compact registers, by bit; a ninth is generic
	materialises uint8
	groups       uint8 // of eight lanes that have active ones
}

type flags uint8

const (
	isBarrier    flags = 1 << iota
	isCompact          // its results were written compactly
	isSuppressed       // … could have been
	isDecided          // a branch
	isAtCompact        // a load at a compact address
	isVector           // … that is not uniform
)

// warp is what a warp does.
type warp struct {
	records []record
	lines   []uint32
}

// ctaRecord is what a CTA does.
type ctaRecord struct {
	program   []instr
	registers int
	shared    int // bytes of shared memory
	warps     []warp
	barriers  []int // how many warps meet there
}

// Subscription is what the policy's probe wants, one order, and addresses.
func (r *Replay) Subscription() interp.Subscription {
	w := interp.NewStructureProbe(r.policy).Subscription()
	w.Events |= interp.OnLaunch | interp.OnLaunchEnd | interp.OnWake
	w.Addresses, w.InOrder = true, true
	return w
}

// OnEvent follows launches.
func (r *Replay) OnEvent(e *interp.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case interp.OnLaunch:
		l := &launchReplay{structure: interp.NewStructureProbe(r.policy)}
		l.structure.OnEvent(e)
		r.launches[e.Launch.ID] = l
	case interp.OnLaunchEnd:
		if l := r.launches[e.Launch.ID]; l != nil {
			for _, m := range r.machines {
				m.endLaunch()
			}
			r.total.Add(l.structure.Structure())
			delete(r.launches, e.Launch.ID)
		}
	}
}

// CTA records a CTA.
func (r *Replay) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
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
		replay: r, tracker: replay.structure.CTA(l, index, id).(interp.ResultSink), first: uint32(index * n),
		cta:  ctaRecord{program: replay.program, registers: replay.registers, shared: sharedBytes(l), warps: make([]warp, n)},
		last: make([]int, n),
	}
}

// sharedBytes is the shared memory of a CTA.
func sharedBytes(l *interp.LaunchInfo) int {
	n := 0
	for _, v := range l.Program.Shared() {
		n = max(n, v.Offset+v.Var.Size())
	}
	return n + l.Shared
}

// instructions is a program as machines want it, and how many registers there are: those of all functions, one
// after the other.
func instructions(l *interp.LaunchInfo) (list []instr, registers int) {
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

// newInstr looks at an instruction of a function whose registers have numbers from base on. Units are
// those of ComputeUse.
func newInstr(in *ptx.Instr, operations *interp.Operations, base int) instr {
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

// bankAccesses is where registers lie; predicates, and what is no register, take no bank.
func bankAccesses(operands []interp.Operand) (list []bankAccess) {
	for i := range operands {
		o := &operands[i]
		a := bankAccess{reg: uint8(int(o.Reg) % registerBanks)}
		switch {
		case o.Bits == 1 || o.Reg == ptx.NoReg:
		case o.Kind == interp.WideOperand:
			a.banks = 4
		case o.Kind == interp.RowOperand:
			a.banks = uint8(o.Bits / 32)
		}
		list = append(list, a)
	}
	return list
}

// recorder records a CTA.
type recorder struct {
	replay  *Replay
	tracker interp.ResultSink
	cta     ctaRecord
	first   uint32         // of its warps in the launch
	numbers map[[2]int]int // of meetings, by barrier and generation
	last    []int          // by warp: 1 + the number of the last meeting
	known   []uint64       // of the request under way: addresses, lines or words
}

// OnEvent records.
func (c *recorder) OnEvent(e *interp.Event) {
	c.tracker.OnEvent(e)
	switch e.Kind {
	case interp.OnBefore:
		c.before(e)
	case interp.OnAfter:
		c.after(e)
	case interp.OnUndo:
		w := &c.cta.warps[e.Warp]
		w.records = w.records[:len(w.records)-1]
	case interp.OnBranch:
		if c.tracker.Step(e).Decided {
			w := &c.cta.warps[e.Warp]
			w.records[len(w.records)-1].flags |= isDecided
		}
	case interp.OnWake:
		c.recordBarrier(e)
	case interp.OnCTAEnd:
		r := c.replay
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range r.machines {
			r.maxCTAs = max(r.maxCTAs, m.runCTA(&c.cta))
		}
	}
}

// before begins a record.
func (c *recorder) before(e *interp.Event) {
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

// after completes it.
func (c *recorder) after(e *interp.Event) {
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

// recordBarrier records that warps of the CTA have met at a barrier. The meetings of a warp have ascending numbers, so
// that no two warps wait for each other: what does not fit, when lanes of a warp wait at different barriers, is left out.
func (c *recorder) recordBarrier(e *interp.Event) {
	if b := e.Wait.Barrier; b < 0 || b >= clusterBarrier {
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

// clusterBarrier is the number of the barrier of a cluster, which is none of a CTA.
const clusterBarrier = 16

// recordGP records what an access is to a GP-SIMT machine.
func (c *recorder) recordGP(w *warp, r *record, a *interp.Access, warp uint32) {
	first := bits.TrailingZeros64(a.Lanes)
	space := a.Space
	if space == ptx.Generic {
		space, _, _, _ = a.PlaceOf(first)
	}
	c.known = c.known[:0]
	switch space {
	case ptx.Param, ptx.Const:
		for m := a.Lanes; m != 0; m &= m - 1 {
			c.addKnown(a.Addr[bits.TrailingZeros64(m)])
		}
		r.bankCycles += uint16(len(c.known))
	case ptx.Shared:
		r.bankCycles += uint16(c.countPasses(a, a.Kind != interp.AccessAtomic))
	default:
		from := len(w.lines)
		for m := a.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if space == ptx.Local { // words of a warp's lanes lie side by side
				_, _, offset, _ := a.PlaceOf(lane)
				for o := offset / 4; o <= (offset+uint64(a.Length(lane))-1)/4; o++ {
					w.line(from, 1<<31|(c.first+warp)<<12|uint32(o)&0xfff)
				}
				continue
			}
			first, last := a.Addr[lane]/gpLine, (a.Addr[lane]+uint64(max(a.Length(lane), 1))-1)/gpLine
			for l := first; l <= last && l < first+4; l++ {
				if a.Kind == interp.AccessAtomic {
					w.lines = append(w.lines, uint32(l)&(1<<31-1)) // one for each lane
				} else {
					w.line(from, uint32(l)&(1<<31-1))
				}
			}
		}
		r.lines += uint16(len(w.lines) - from)
	}
}

// line notes a line that is not yet among those from an index on.
func (w *warp) line(from int, l uint32) {
	if !slices.Contains(w.lines[from:], l) {
		w.lines = append(w.lines, l)
	}
}

// addKnown notes what has not been seen.
func (c *recorder) addKnown(v uint64) bool {
	if slices.Contains(c.known, v) {
		return false
	}
	c.known = append(c.known, v)
	return true
}

// countPasses is how many cycles the banks of shared memory need, each for one of its words in a cycle; lanes that want the same
// word get it at once if it is merged.
func (c *recorder) countPasses(a *interp.Access, merge bool) (maxCount int) {
	var load [gpBanks]int
	var last [gpBanks]uint64 // word of each bank, plus one: lanes that want the same are often neighbours
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

// recordFG records what an access is to the FG-SIMT machine: requests of groups of eight lanes, and the lines
// that it touches in all.
func (c *recorder) recordFG(r *record, a *interp.Access) {
	c.known = c.known[:0]
	for m := a.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		for l := a.Addr[lane] / fgLine; l <= (a.Addr[lane]+uint64(max(a.Length(lane), 1))-1)/fgLine && len(c.known) < 128; l++ {
			c.addKnown(l)
		}
	}
	r.lines += uint16(len(c.known))
	for g := 0; g < 32; g += fgLanes {
		lanes := a.Lanes & (0xff << g)
		switch n := (a.Bytes + fgWord - 1) / fgWord; {
		case lanes == 0:
		case a.Space == ptx.Local:
			r.bankCycles += uint16(n)
		case a.Kind == interp.AccessAtomic:
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

// countConflicts is the most requests that a bank gets from lanes.
func (c *recorder) countConflicts(a *interp.Access, lanes uint64) (maxCount int) {
	var load [fgBanks]int
	for m := lanes; m != 0; m &= m - 1 {
		b := a.Addr[bits.TrailingZeros64(m)] / fgLine % fgBanks
		load[b]++
		maxCount = max(maxCount, load[b])
	}
	return maxCount
}

// isSameAddress reports whether lanes access the same address.
func isSameAddress(a *interp.Access, lanes uint64) bool {
	addr := a.Addr[bits.TrailingZeros64(lanes)]
	for m := lanes; m != 0; m &= m - 1 {
		if a.Addr[bits.TrailingZeros64(m)] != addr {
			return false
		}
	}
	return true
}

// isConsecutive reports whether lanes of the group that begins with lane g access elements that follow each other, from a line on or, if
// they are small, within one.
func isConsecutive(a *interp.Access, lanes uint64, g int) bool {
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

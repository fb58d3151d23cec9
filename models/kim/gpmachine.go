package kim

// This file is the GP-SIMT machine of sections 3.1 and 5.1, cycle by cycle. docs/kim2013-time.md separates the
// paper's facts from our choices.

import "math/bits"

// The parts of a multiprocessor.
const (
	gpWarps       = 48
	gpShared      = 48 << 10 // bytes
	gpIssue       = 2
	gpBanks       = 16 // banks of shared memory
	gpWord        = 4  // bytes of a word of shared memory
	gpLine        = 128
	registerBanks = 16

	l1Lines, l1Ways = 16 << 10 / gpLine, 4
	l2Ways          = 8
	collectInstr    = 2 // cycles from issue to the first lanes, without bank conflicts
)

// Schedule is the order in which the warps of a multiprocessor issue.
type Schedule uint8

const (
	ByNumber Schedule = iota // the ready warp with the lowest number issues first
	InTurn                   // warps issue in rotation
	Greedy                   // two schedulers, for warps with even and odd numbers: the warp that issued last, otherwise the oldest
)

// MSHRs limits the lines under way to a cache. The zero value is no limit.
type MSHRs struct {
	Lines    int // lines under way
	Requests int // requests for a line under way, including the first
}

// GPConfig is the configuration of a GP-SIMT machine. NewGPConfig has the paper's numbers, and the first choice where
// the text leaves a number open.
type GPConfig struct {
	GPSIMT                            // configuration of each multiprocessor
	GPMemory                          // memory hierarchy of each machine
	SMs           int                 // multiprocessors
	SpecialLanes  int                 // lanes of the unit for special functions; 0: Lanes
	Registers     int                 // 32-bit registers of a multiprocessor, which limit its CTAs (Replay.CountRegisters); 0: no limit
	FrontEnd      int64               // cycles of the units for each cycle of the front end
	CTAs          int                 // limit of CTAs on a multiprocessor; 0: limited by the room alone
	Schedule      Schedule            // order in which warps issue
	BankConflicts bool                // a bank of registers serves a single access in a cycle; otherwise any number
	SameBanks     bool                // register r is in bank r modulo 16 for every warp; otherwise the warp's number is added
	ReadDelay     int64               // further cycles between the last operand and the unit
	WriteDelay    int64               // further cycles between the unit or the data and the written result
	Results       [latencyCount]int64 // cycles to a result: integers; multiplications and floating point; special functions
	Hit           int64               // cycles from the last line to the data, in the L1 and in shared memory
}

// GPMemory is the configuration of the memory hierarchy.
type GPMemory struct {
	Memory      bool  // model a memory hierarchy; false: the L1 has all data
	L2Banks     int   // banks of the L2
	L2Bytes     int   // bytes of a bank of the L2
	Controllers int   // controllers of memory
	L1MSHRs     MSHRs // limit of each L1
	L2MSHRs     MSHRs // limit of each bank of the L2
	L2, DRAM    int64 // latency of the L2 with the crossbar, and of memory, in cycles
	LineCycles  int64 // cycles in which a controller transfers a line; 0: no limit
}

// NewGPConfig returns the configuration with the given lanes, warm caches, and a front end as fast as the units.
func NewGPConfig(lanes int, affine bool) GPConfig {
	return GPConfig{
		GPSIMT: GPSIMT{lanes, affine}, SMs: 4, FrontEnd: 1, BankConflicts: true, Results: [latencyCount]int64{4, 5, 39}, Hit: 4,
		GPMemory: GPMemory{L2Banks: 4, L2Bytes: 786 << 10, Controllers: 2, L2: 20, DRAM: 120, LineCycles: 6},
	}
}

// Time is the cycles of a machine, and counts of the uses of its parts. The paper does not give their energy.
type Time struct {
	Cycles     int64 // cycles of the units
	Issues     int64 // cycles of the front ends, over all multiprocessors
	BusyCycles int64 // cycles of the front ends with a warp on the multiprocessor
	WarpCycles int64 // the same, counted once for each such warp; GP-SIMT only
	Issued     int64 // issued instructions

	Arithmetic, Special, Memory int64 // cycles in which these units are taken, over all multiprocessors
	Affine                      int64 // instructions that execute compactly
	BankReads, BankWrites       int64 // accesses to banks of 32-bit registers
	Lines                       int64 // lines that warps access: with GP-SIMT after the L1, with FG-SIMT requests
	L1Misses, L2Misses          int64 // misses of the L1 and of the L2
	Bytes                       int64 // bytes loaded and stored by lanes
}

// GPMachine is a GP-SIMT machine in operation.
type GPMachine struct {
	GPConfig
	issueCycles   int64 // cycles for which an instruction occupies a unit
	specialCycles int64 // the same for the unit for special functions
	now           int64
	sms           []sm
	nextSM        int // first multiprocessor to try for the next CTA
	residentCTAs  int // CTAs on all multiprocessors
	time          Time

	l2          []l2Bank
	controllers []int64 // cycle from which on each is free
}

// l2Bank is a bank of the L2.
type l2Bank struct {
	lineCache
	free int64 // cycle from which on it serves the next request
}

// NewGPMachine returns an idle machine.
func NewGPMachine(c GPConfig) *GPMachine {
	m := &GPMachine{GPConfig: c, issueCycles: 32 / int64(c.Lanes), sms: make([]sm, c.SMs)}
	m.specialCycles = m.issueCycles
	if c.SpecialLanes > 0 {
		m.specialCycles = 32 / int64(c.SpecialLanes)
	}
	for i := range m.sms {
		m.sms[i].machine = m
		if c.Memory {
			m.sms[i].l1 = newLineCache(l1Lines/l1Ways, l1Ways, c.L1MSHRs)
		}
	}
	if c.Memory {
		m.controllers = make([]int64, c.Controllers)
		for range c.L2Banks {
			m.l2 = append(m.l2, l2Bank{lineCache: newLineCache(c.L2Bytes/gpLine/l2Ways, l2Ways, c.L2MSHRs)})
		}
	}
	return m
}

// Time returns the cycles and counts of the ended launches.
func (m *GPMachine) Time() Time {
	t := m.time
	t.Cycles = m.now
	t.Issues = int64(m.SMs) * (m.now / m.FrontEnd)
	return t
}

// sm is a multiprocessor. A warp with a next instruction is in one of ready, or in asleep.
type sm struct {
	machine   *GPMachine
	warps     [gpWarps]resident
	used      uint64 // occupied places: all warps of resident CTAs, including ended warps
	ctas      int
	shared    int   // bytes of shared memory of its CTAs
	registers int   // registers of its CTAs
	busySince int64 // cycle from which on it has warps
	admitted  int64 // warps so far

	ready    [unitCount]uint64 // warps whose next instruction may issue, by unit
	asleep   timingWheel
	nextWarp int            // warp after the warp that has issued last
	greedy   [gpIssue]int64 // order of the warp that each scheduler has issued last (resident.order)

	arithmetic      [2]int64 // cycle from which on the unit is free
	special, memory int64
	banks           ports
	l1              lineCache
	nextCycle       int64
}

// resident is a warp on a multiprocessor.
type resident struct {
	*warp
	cta          *residentCTA
	record, line int     // index of the next record, and of its lines
	registers    []int64 // cycle from which on each register may be read and written
	order        int64   // its number among all warps of the multiprocessor, from 1 on
	beginCycle   int64
	wakeCycle    int64
	doneCycle    int64 // cycle in which all its results are written
}

// residentCTA is a CTA on a multiprocessor.
type residentCTA struct {
	*ctaRecord
	places       uint64   // places of its warps
	runningWarps int      // number of warps that have not ended
	arrived      []int    // warps that have arrived, by barrier
	waiting      []uint64 // waiting warps, by barrier
}

// runCTA runs the machine until there is room for the CTA, and places the CTA.
func (m *GPMachine) runCTA(c *ctaRecord) int {
	for !m.placeCTA(c) {
		m.step()
	}
	return m.residentCTAs
}

// endLaunch runs the machine until it is empty. The next launch begins in the cycle in which the last warp ends.
func (m *GPMachine) endLaunch() {
	if m.residentCTAs == 0 {
		return
	}
	for m.residentCTAs > 0 {
		m.step()
	}
	m.now -= m.FrontEnd
}

// placeCTA puts the CTA on a multiprocessor with enough room. A CTA that is too large for a multiprocessor is put on
// an empty multiprocessor.
func (m *GPMachine) placeCTA(c *ctaRecord) bool {
	for i := range m.sms {
		s := &m.sms[(m.nextSM+i)%m.SMs]
		free := gpWarps - bits.OnesCount64(s.used)
		full := m.Registers > 0 && s.registers+c.allocated > m.Registers
		if s.ctas > 0 && (len(c.warps) > free || s.shared+c.shared > gpShared || s.ctas == m.CTAs || full) {
			continue
		}
		m.nextSM = (m.nextSM + i + 1) % m.SMs
		m.residentCTAs++
		s.admit(c)
		return true
	}
	return false
}

// admit begins a CTA.
func (s *sm) admit(c *ctaRecord) {
	m := s.machine
	if s.ctas == 0 {
		s.busySince = m.now
	}
	s.ctas++
	s.shared += c.shared
	s.registers += c.allocated
	r := &residentCTA{ctaRecord: c, runningWarps: len(c.warps), arrived: make([]int, len(c.barriers)), waiting: make([]uint64, len(c.barriers))}
	for i := range c.warps {
		at := bits.TrailingZeros64(^s.used)
		s.used |= 1 << at
		r.places |= 1 << at
		w := &s.warps[at]
		registers := w.registers
		if cap(registers) < c.registers {
			registers = make([]int64, c.registers)
		}
		registers = registers[:c.registers]
		clear(registers)
		s.admitted++
		*w = resident{warp: &c.warps[i], cta: r, registers: registers, order: s.admitted, beginCycle: m.now, doneCycle: m.now - 1}
		s.advance(at, m.now)
	}
}

// step advances to the next cycle with an event, and executes it.
func (m *GPMachine) step() {
	next := int64(-1)
	for i := range m.sms {
		if s := &m.sms[i]; s.ctas > 0 {
			if s.nextCycle = s.nextWake(); next < 0 || s.nextCycle < next {
				next = s.nextCycle
			}
		}
	}
	if next >= neverCycle {
		panic("BUG: warps wait for each other")
	}
	m.now = max(next, m.now)
	for i := range m.sms {
		if s := &m.sms[i]; s.ctas > 0 && s.nextCycle <= m.now {
			s.cycle()
		}
	}
	m.now += m.FrontEnd
}

// nextWake returns the first cycle from now on in which a warp is ready or wakes.
func (s *sm) nextWake() int64 {
	for _, r := range s.ready {
		if r != 0 {
			return s.machine.now
		}
	}
	return s.asleep.nextCycle(s.machine.now)
}

// cycle executes a cycle of the front end.
func (s *sm) cycle() {
	m, now := s.machine, s.machine.now
	s.banks.advance(now)
	for woken := s.asleep.remove(now); woken != 0; woken &= woken - 1 {
		at := bits.TrailingZeros64(woken)
		switch w := &s.warps[at]; {
		case w.wakeCycle > now:
			s.asleep.add(now, w.wakeCycle, m.FrontEnd, at)
		case w.record == len(w.records):
			s.retire(at)
		default:
			s.ready[s.unitOf(w)] |= 1 << at
		}
	}
	odd := ^uint64(0) / 3 << 1
	affine := ^uint64(0) // warps whose affine unit is free
	start := now + collectInstr + m.ReadDelay
	for scheduler := range gpIssue {
		free := s.ready[noUnit] | s.ready[affineUnit]&affine
		if min(s.arithmetic[0], s.arithmetic[1]) <= start {
			free |= s.ready[arithmeticUnit]
		}
		if s.special <= start {
			free |= s.ready[specialUnit]
		}
		if s.memory <= start {
			free |= s.ready[memoryUnit]
		}
		if m.Schedule == Greedy {
			free &= odd >> (1 - scheduler)
		}
		if free == 0 {
			continue
		}
		at := s.choose(free, scheduler)
		u := s.unitOf(&s.warps[at])
		if u == affineUnit {
			if at%2 == 0 {
				affine &= odd
			} else {
				affine &^= odd
			}
		}
		s.ready[u] &^= 1 << at
		s.issue(at, u)
	}
}

// choose returns the warp that issues next, one of the warps free.
func (s *sm) choose(free uint64, scheduler int) int {
	at := bits.TrailingZeros64(free)
	switch s.machine.Schedule {
	case InTurn:
		if after := free &^ (1<<s.nextWarp - 1); after != 0 {
			at = bits.TrailingZeros64(after)
		}
		s.nextWarp = at + 1
	case Greedy:
		for ; free != 0; free &= free - 1 {
			i := bits.TrailingZeros64(free)
			order := s.warps[i].order
			if order == s.greedy[scheduler] {
				return i
			}
			if order < s.warps[at].order {
				at = i
			}
		}
		s.greedy[scheduler] = s.warps[at].order
	}
	return at
}

// unitOf returns the unit of a warp's next instruction.
func (s *sm) unitOf(w *resident) unit {
	r := &w.records[w.record]
	instr := &w.cta.program[r.instr]
	if s.machine.Affine && instr.unit != memoryUnit {
		switch {
		case instr.unit != noUnit && r.flags&isCompact != 0:
			return affineUnit
		case instr.unit != noUnit && r.flags&isSuppressed != 0:
			return arithmeticUnit
		}
	}
	return instr.unit
}

// issue issues the next instruction of a warp to its unit.
func (s *sm) issue(at int, u unit) {
	m, now := s.machine, s.machine.now
	w := &s.warps[at]
	r := &w.records[w.record]
	instr := &w.cta.program[r.instr]
	m.time.Issued++
	m.time.Bytes += int64(r.bytes)
	var done int64 // cycle in which the results are written
	switch {
	case u == affineUnit:
		m.time.Affine++
		done = now + m.FrontEnd
	case instr.unit == noUnit && len(instr.defs) == 0:
		done = now
	default:
		start := s.collect(at, instr, r, now) // the units for special functions and memory are free by then
		expands, cycles, result := int64(0), m.issueCycles, m.Results[instr.latency]
		if m.Affine {
			expands = int64(r.materialises)
			if r.flags&isSuppressed != 0 {
				result = m.Results[simpleLatency]
			}
		}
		if expands > 0 && u != arithmeticUnit {
			start = s.arithmeticFrom(start, m.issueCycles*expands)
		}
		switch u {
		case arithmeticUnit:
			cycles *= 1 + expands
			start = s.arithmeticFrom(start, cycles)
		case specialUnit:
			cycles = m.specialCycles
			s.special = start + cycles
			m.time.Special += cycles
		case memoryUnit:
			cycles = max(cycles, int64(r.lines), int64(r.bankCycles))
			s.memory = start + cycles
			m.time.Memory += cycles
			m.time.Lines += int64(r.lines)
			result = m.Hit
		}
		done = start + cycles - 1 + result
		if u == memoryUnit {
			if m.Memory && r.lines > 0 {
				done = max(done, s.access(instr, w.lines[w.line:w.line+int(r.lines)], start))
			}
			if !instr.load {
				done = start + cycles - 1
			}
		}
		if len(instr.defs) > 0 {
			done += m.WriteDelay
		}
		done = s.write(at, instr, r, done)
	}
	w.line += int(r.lines)
	for _, d := range instr.defs {
		w.registers[d] = done
	}
	w.doneCycle = max(w.doneCycle, done)
	w.record++
	s.advance(at, now+m.FrontEnd)
}

// arithmeticFrom reserves the arithmetic unit that is free first, for cycles, and returns the first of them.
func (s *sm) arithmeticFrom(start, cycles int64) int64 {
	i := 0
	if s.arithmetic[1] < s.arithmetic[0] {
		i = 1
	}
	start = max(start, s.arithmetic[i])
	s.arithmetic[i] = start + cycles
	s.machine.time.Arithmetic += cycles
	return start
}

// bank returns the bank of a register of a warp.
func (s *sm) bank(at int, register uint8) int {
	if s.machine.SameBanks {
		at = 0
	}
	return (int(register) + at) % registerBanks
}

// collect reads operands and returns the cycle in which the first lanes may begin.
func (s *sm) collect(at int, in *instr, r *record, now int64) int64 {
	m, last := s.machine, now+1
	if m.Affine && r.flags&isSuppressed != 0 {
		return last + 1 + m.ReadDelay // the operands are compact
	}
	for i, a := range in.reads {
		if m.Affine && (i < 8 && r.compact>>i&1 != 0) {
			continue
		}
		for b := range a.banks {
			m.time.BankReads++
			if m.BankConflicts {
				last = max(last, s.banks.reserve(s.bank(at, a.reg+b), now+1))
			}
		}
	}
	return last + 1 + m.ReadDelay
}

// write writes the results, not before from, and returns the cycle in which they are written. A load with a compact
// result writes no bank.
func (s *sm) write(at int, in *instr, r *record, from int64) int64 {
	m, last := s.machine, from
	if m.Affine && r.flags&isCompact != 0 {
		return from
	}
	for _, a := range in.writes {
		for b := range a.banks {
			m.time.BankWrites++
			if m.BankConflicts {
				last = max(last, s.banks.reserve(s.bank(at, a.reg+b), from))
			}
		}
	}
	return last
}

// advance schedules the next instruction of a warp for cycle, or for the first later cycle in which it can issue.
func (s *sm) advance(at int, cycle int64) {
	m := s.machine
	w := &s.warps[at]
	for w.record < len(w.records) && w.records[w.record].flags&isBarrier != 0 {
		n := w.records[w.record].instr
		c := w.cta
		w.record++
		c.arrived[n]++
		if c.arrived[n] < c.barriers[n] {
			c.waiting[n] |= 1 << at
			return
		}
		for waiting := c.waiting[n]; waiting != 0; waiting &= waiting - 1 {
			s.advance(bits.TrailingZeros64(waiting), cycle)
		}
	}
	if w.record == len(w.records) {
		cycle = max(cycle, w.doneCycle+1)
	} else {
		instr := &w.cta.program[w.records[w.record].instr]
		for _, u := range instr.uses {
			cycle = max(cycle, w.registers[u])
		}
		for _, d := range instr.defs {
			cycle = max(cycle, w.registers[d])
		}
	}
	if phase := cycle % m.FrontEnd; phase != 0 {
		cycle += m.FrontEnd - phase
	}
	w.wakeCycle = cycle
	s.asleep.add(m.now, cycle, m.FrontEnd, at)
}

// retire ends a warp.
func (s *sm) retire(at int) {
	m := s.machine
	c := s.warps[at].cta
	m.time.WarpCycles += (m.now - s.warps[at].beginCycle) / m.FrontEnd
	s.warps[at].warp, s.warps[at].cta = nil, nil
	if c.runningWarps--; c.runningWarps > 0 {
		return
	}
	s.used &^= c.places
	m.residentCTAs--
	s.ctas--
	s.shared -= c.shared
	s.registers -= c.allocated
	if s.ctas == 0 {
		m.time.BusyCycles += (m.now - s.busySince) / m.FrontEnd
	}
}

// access sends lines through the caches, a line in a cycle from start on, and returns the cycle in which the last
// data is available. The unit is taken longer if a line waits for the L1.
func (s *sm) access(in *instr, lines []uint32, start int64) (done int64) {
	m, cycle := s.machine, start
	for _, l := range lines {
		if in.store { // write-through, nothing waits; atomics have their results from the L2
			done = max(done, m.fromL2(l, cycle, true))
		} else {
			e, hit := s.l1.access(l, func(uint64, *cachedLine) {}) // written through: the line that leaves is not dirty
			cycle = s.l1.admit(e, hit, cycle)
			if !hit {
				m.time.L1Misses++
				s.l1.request(e, m.fromL2(l, cycle, false))
			}
			done = max(done, cycle+m.Hit, e.ready)
		}
		cycle++
	}
	if cycle > s.memory {
		m.time.Memory += cycle - s.memory
		s.memory = cycle
	}
	return done
}

// fromL2 returns the cycle in which a line that is requested in a cycle is available.
func (m *GPMachine) fromL2(l uint32, cycle int64, store bool) int64 {
	banks := uint32(m.L2Banks)
	b := &m.l2[l%banks]
	cycle = max(cycle, b.free)
	writeBack, dirty := uint32(0), false // the line that leaves
	e, hit := b.access(l/banks, func(line uint64, old *cachedLine) { writeBack, dirty = uint32(line)*banks, old.dirty })
	if !store {
		cycle = b.admit(e, hit, cycle)
	}
	b.free = cycle + 1
	if !hit {
		m.time.L2Misses++
		if dirty {
			m.transfer(writeBack, cycle)
		}
		if store { // needs no data
			e.ready = cycle
		} else {
			b.request(e, m.transfer(l, cycle)+m.DRAM)
		}
	}
	e.dirty = e.dirty || store
	return max(cycle, e.ready) + m.L2
}

// transfer returns the cycle in which memory begins to transfer a line.
func (m *GPMachine) transfer(l uint32, cycle int64) int64 {
	if m.LineCycles == 0 {
		return cycle
	}
	c := &m.controllers[int(l)/m.L2Banks%m.Controllers]
	cycle = max(cycle, *c)
	*c = cycle + m.LineCycles
	return cycle
}

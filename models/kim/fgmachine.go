package kim

// This file is the FG-SIMT machine of sections 3.2 and 5.2. It runs one warp at a time and issues in order, so the
// issue cycle of an instruction follows from the instructions before it.

const (
	fgLanes  = 8
	fgGroups = 32 / fgLanes // cycles for which an instruction occupies a unit
	fgBanks  = 8
	fgLine   = 32
	fgWord   = 4 // bytes of a narrow request
)

// FGConfig is the configuration of an FG-SIMT machine. NewFGConfig has the paper's numbers, and the first choice
// where the text leaves a number open.
type FGConfig struct {
	FGSIMT
	Queue          int                 // entries of the queue between control processor and issue
	Refetch        int64               // cycles from a resolved branch to the next instruction
	SkipIdleGroups bool                // units skip groups without active lanes
	Results        [latencyCount]int64 // cycles to a result: integers; multiplications and floating point; special functions
	Hit            int64               // cycles from the last request to the data
}

// NewFGConfig returns the configuration of a machine with affine execution of the given instructions.
func NewFGConfig(affine FGSIMT) FGConfig {
	return FGConfig{FGSIMT: affine, Queue: 4, Refetch: 1, Results: [latencyCount]int64{1, 4, 12}, Hit: 2}
}

// FGMachine is an FG-SIMT machine in operation.
type FGMachine struct {
	FGConfig
	time  Time
	fetch int64 // cycle of the control processor's next instruction
	issue int64 // first cycle in which an instruction may issue
	done  int64 // cycle in which all results so far are written

	queue                   []int64 // issue cycles of the last instructions, a ring
	queued                  int     // instructions so far
	arithmetic              [2]int64
	address, loading, banks int64           // cycle from which on the units are free; the unit for store data is free whenever the unit for addresses is
	registers               []int64         // cycle from which on the first lanes may use each register
	params                  map[uint32]bool // shared loads of the launch so far
}

// NewFGMachine returns an idle machine.
func NewFGMachine(c FGConfig) *FGMachine {
	return &FGMachine{FGConfig: c, queue: make([]int64, c.Queue), params: map[uint32]bool{}}
}

// Time returns the cycles and counts of the ended launches.
func (m *FGMachine) Time() Time {
	t := m.time
	t.Cycles, t.Issues, t.BusyCycles = m.done, m.done, m.done
	return t
}

// endLaunch empties the cache of shared loads for the next launch.
func (m *FGMachine) endLaunch() { clear(m.params) }

// runCTA runs a CTA: each warp until it ends or waits at a barrier.
func (m *FGMachine) runCTA(c *ctaRecord) int {
	for len(m.registers) < c.registers {
		m.registers = append(m.registers, 0)
	}
	arrived, at := make([]int, len(c.barriers)), make([]int, len(c.warps))
	arrivedHere := make([]bool, len(c.warps)) // by warp: it has arrived at its present barrier
	for progress := true; progress; {
		progress = false
		for i := range c.warps {
			list := c.warps[i].records
			m.fetch, m.issue = max(m.fetch, m.done), max(m.issue, m.done)
			for ; at[i] < len(list); at[i]++ {
				r := &list[at[i]]
				if r.flags&isBarrier == 0 {
					m.run(&c.program[r.instr], r)
					continue
				}
				if !arrivedHere[i] {
					arrivedHere[i] = true
					arrived[r.instr]++
				}
				if arrived[r.instr] < c.barriers[r.instr] {
					progress = true
					break
				}
				arrivedHere[i] = false
			}
		}
	}
	return 0
}

// run executes an instruction.
func (m *FGMachine) run(in *instr, r *record) {
	m.time.Issued++
	m.time.Bytes += int64(r.bytes)
	known := m.fetch // cycle in which its operands are available
	for _, u := range in.uses {
		known = max(known, m.registers[u])
	}
	switch {
	case in.control && in.waits && !(m.Branches && r.flags&isDecided != 0):
		m.fetch = max(known+fgGroups-1, m.fetch) + m.Refetch
		m.finish(m.fetch)
		return
	case in.unit == noUnit && (in.control || len(in.defs) == 0):
		m.fetch++
		m.finish(m.fetch)
		return
	case m.issuesEarly(in, r):
		m.time.Affine++
		if in.unit == memoryUnit && !m.params[r.instr] {
			m.params[r.instr] = true
			m.banks = max(m.banks, known) + 1
			m.time.Lines++
			known = m.banks - 1 + m.Hit
		}
		m.fetch = known + 1
		m.define(in, m.fetch)
		return
	}
	for range m.materialisations(r) {
		m.reserve(m.enter(m.fetch), fgGroups)
	}
	if in.unit == memoryUnit {
		m.memory(in, r)
		return
	}
	cycles := int64(fgGroups)
	if m.SkipIdleGroups {
		cycles = int64(r.groups)
	}
	result := m.Results[in.latency]
	if m.Arithmetic && r.flags&isSuppressed != 0 {
		result = m.Results[simpleLatency]
	}
	cycle := m.reserve(max(m.enter(m.fetch), known, m.overwrites(in)-result), cycles)
	m.define(in, cycle+result)
}

// issuesEarly reports whether the control processor executes the instruction.
func (m *FGMachine) issuesEarly(in *instr, r *record) bool {
	switch {
	case r.flags&isCompact == 0:
		return false
	case in.compares:
		return m.Branches
	}
	return m.Arithmetic && (in.unit != memoryUnit || in.shared)
}

// materialisations returns the number of values that the instruction materialises.
func (m *FGMachine) materialisations(r *record) int {
	if m.Arithmetic {
		return int(r.materialises)
	}
	return 0
}

// enter puts the next fetched instruction into the queue and returns the first cycle in which it can issue.
func (m *FGMachine) enter(fetched int64) int64 {
	fetched = max(fetched, m.queue[m.queued%len(m.queue)]) // an entry is free when the instruction len(m.queue) before has issued
	m.fetch = fetched + 1
	return max(fetched+1, m.issue)
}

// issued records the issue cycle of an instruction.
func (m *FGMachine) issued(cycle int64) {
	m.queue[m.queued%len(m.queue)] = cycle
	m.queued++
	m.issue = cycle + 1
}

// reserve issues an instruction to an arithmetic unit, not before from, and returns the cycle.
func (m *FGMachine) reserve(from, cycles int64) int64 {
	i := 0
	if m.arithmetic[1] < m.arithmetic[0] {
		i = 1
	}
	cycle := max(from, m.arithmetic[i])
	m.arithmetic[i] = cycle + cycles
	m.time.Arithmetic += cycles
	m.issued(cycle)
	m.finish(cycle + cycles)
	return cycle
}

// memory issues a load or a store.
func (m *FGMachine) memory(in *instr, r *record) {
	known := m.enter(m.fetch)
	for _, u := range in.uses {
		known = max(known, m.registers[u])
	}
	cycle, requests := known, int64(r.bankCycles)
	vector := m.Memory && r.flags&(isAtCompact|isVector) == isAtCompact|isVector
	if !vector {
		cycle = max(cycle, m.address)
	}
	m.issued(cycle)
	cycles := int64(fgGroups)
	if m.SkipIdleGroups {
		cycles = int64(r.groups)
	}
	first := cycle // cycle of the first request
	if vector {
		requests = int64(r.lines)
	} else {
		m.address = cycle + cycles
		m.finish(m.address)
		m.time.Memory += cycles
		first++
	}
	if in.shared && m.params[r.instr] {
		first, requests = first+cycles-1, 1
	} else {
		first = max(first, m.banks)
		m.banks = first + requests
		m.time.Lines += requests
	}
	if in.shared {
		m.params[r.instr] = true
	}
	last := max(first+requests-1, cycle)
	m.finish(last + 1)
	if in.load {
		write := max(last+m.Hit, m.loading)
		m.loading = write + cycles
		m.define(in, write+1)
		m.finish(write + cycles)
	}
}

// overwrites returns the cycle from which on the registers that an instruction writes may change.
func (m *FGMachine) overwrites(in *instr) (cycle int64) {
	for _, d := range in.defs {
		cycle = max(cycle, m.registers[d])
	}
	return cycle
}

// define sets the cycle from which on the first lanes may use the results.
func (m *FGMachine) define(in *instr, cycle int64) {
	for _, d := range in.defs {
		m.registers[d] = cycle
	}
	m.finish(cycle)
}

// finish extends the execution to a cycle.
func (m *FGMachine) finish(cycle int64) { m.done = max(m.done, cycle) }

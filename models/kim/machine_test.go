package kim

// This file runs handmade instructions on machines; the expected cycles are worked out by hand from the definitions in
// docs/kim2013-time.md.

import (
	"slices"
	"testing"
)

// The instructions of program: r3 is in bank 3, r19 too.
const (
	addR1         = iota // r1 = r0 + r0'
	addR2                // r2 = r1 + r0'
	addBanks             // r4 = r3 + r19
	mulR5                // r5 = r1 * …
	sinR6                // r6 = sin r1
	loadR7               // r7 = [r1]
	useR7                // r8 = r7 + …
	storeR8              // [r1] = r8
	compareP             // p = r1 < …
	branchP              // @p bra
	jumpInstr            // bra
	paramR9              // r9 = ld.param
	atomicR10            // r10 = atom [r1]
	barrier              // bar.sync
	exchangeR11          // r11 = shfl r1
	useR5                // r2 = r5 + …
	addR6                // r6 = r0 + …
	instructions_        // how many
)

// program has registers 0 to 11, p as 12, and r19.
var program = [instructions_]instr{
	addR1:       {unit: arithmeticUnit, uses: []uint32{0}, defs: []uint32{1}, reads: banks(0), writes: banks(1)},
	addR2:       {unit: arithmeticUnit, uses: []uint32{1}, defs: []uint32{2}, reads: banks(1), writes: banks(2)},
	addBanks:    {unit: arithmeticUnit, uses: []uint32{3, 19}, defs: []uint32{4}, reads: banks(3, 3), writes: banks(4)},
	mulR5:       {unit: arithmeticUnit, latency: longLatency, uses: []uint32{1}, defs: []uint32{5}, reads: banks(1), writes: banks(5)},
	sinR6:       {unit: specialUnit, latency: specialLatency, uses: []uint32{1}, defs: []uint32{6}, reads: banks(1), writes: banks(6)},
	loadR7:      {unit: memoryUnit, load: true, uses: []uint32{1}, defs: []uint32{7}, reads: banks(1), writes: banks(7)},
	useR7:       {unit: arithmeticUnit, uses: []uint32{7}, defs: []uint32{8}, reads: banks(7), writes: banks(8)},
	storeR8:     {unit: memoryUnit, store: true, uses: []uint32{1, 8}, reads: banks(1, 8)},
	compareP:    {unit: arithmeticUnit, compares: true, uses: []uint32{1}, defs: []uint32{12}, reads: banks(1)},
	branchP:     {control: true, waits: true, uses: []uint32{12}},
	jumpInstr:   {control: true},
	paramR9:     {unit: memoryUnit, load: true, shared: true, defs: []uint32{9}, writes: banks(9)},
	atomicR10:   {unit: memoryUnit, load: true, store: true, uses: []uint32{1}, defs: []uint32{10}, reads: banks(1), writes: banks(10)},
	barrier:     {},
	useR5:       {unit: arithmeticUnit, uses: []uint32{5}, defs: []uint32{2}, reads: banks(5), writes: banks(2)},
	addR6:       {unit: arithmeticUnit, uses: []uint32{0}, defs: []uint32{6}, reads: banks(0), writes: banks(6)},
	exchangeR11: {uses: []uint32{1}, defs: []uint32{11}, reads: banks(1), writes: banks(11)},
}

// banks returns accesses of 32-bit registers in these banks.
func banks(list ...uint8) (a []bankAccess) {
	for _, b := range list {
		a = append(a, bankAccess{b, 1})
	}
	return a
}

// executions returns records of instructions without further details; lines of memory are 0, 1 ….
func executions(list ...uint32) (records []record) {
	for _, i := range list {
		r := record{instr: i, groups: 4}
		if program[i].unit == memoryUnit {
			r.lines, r.bankCycles = 1, 4
		}
		records = append(records, r)
	}
	return records
}

// withFlags marks all of some records.
func withFlags(f flags, records []record) []record {
	for i := range records {
		records[i].flags |= f
	}
	return records
}

// barrierRecords returns the record of the n-th barrier of a CTA's warps.
func barrierRecords(n uint32) []record { return []record{{instr: n, flags: isBarrier}} }

// inCTA returns a CTA whose warps have these records.
func inCTA(warps ...[]record) *ctaRecord {
	c := &ctaRecord{program: program[:], registers: 20}
	for _, records := range warps {
		w := warp{records: records}
		for i := range records {
			if r := &records[i]; r.flags&isBarrier != 0 {
				for len(c.barriers) <= int(r.instr) {
					c.barriers = append(c.barriers, 0)
				}
				c.barriers[r.instr]++
			} else if program[r.instr].unit == memoryUnit {
				for range r.lines {
					w.lines = append(w.lines, uint32(len(w.lines)))
				}
			}
		}
		c.warps = append(c.warps, w)
	}
	return c
}

// repeatWarps returns n warps with the same records.
func repeatWarps(n int, records []record) (list [][]record) {
	for range n {
		list = append(list, slices.Clone(records))
	}
	return list
}

// gp runs CTAs on a GP-SIMT machine.
func gp(c GPConfig, ctas ...*ctaRecord) Time {
	m := NewGPMachine(c)
	for _, c := range ctas {
		m.runCTA(c)
	}
	m.endLaunch()
	return m.Time()
}

// TestCyclesOfGPMachine: an instruction issues in cycle t, reads in t+1, starts in t+2; 16 lanes take it in two
// cycles, t+2 and t+3, and an addition is written 4 later, in t+7, when the next may issue. Time
// ends with the last cycle in which something is written.
func TestCyclesOfGPMachine(t *testing.T) {
	l16, l8 := NewGPConfig(16, false), NewGPConfig(8, false)
	affine16, affine8 := NewGPConfig(16, true), NewGPConfig(8, true)
	change := func(c GPConfig, f func(c *GPConfig)) GPConfig { f(&c); return c }
	slow := func(n int64) func(c *GPConfig) { return func(c *GPConfig) { c.FrontEnd = n } }
	suppressed := withFlags(isSuppressed, executions(addR1))
	suppressed[0].materialises = 1
	two := executions(loadR7)
	two[0].lines = 2
	threeLines := executions(loadR7)
	threeLines[0].lines = 3
	sameLine := inCTA(executions(loadR7, paramR9), executions(loadR7))
	sameLine.warps[0].lines, sameLine.warps[1].lines = []uint32{0, 0}, []uint32{0}
	bankConflict := executions(loadR7)
	bankConflict[0].lines, bankConflict[0].bankCycles = 0, 32
	five := executions(loadR7)
	five[0].lines, five[0].bankCycles = 5, 0
	at := func(lines []uint32, records []record) *ctaRecord { // they access these lines
		c := inCTA(records)
		c.warps[0].lines = lines
		return c
	}
	sharing := func(bytes int, list ...*ctaRecord) []*ctaRecord {
		for _, c := range list {
			c.shared = bytes
		}
		return list
	}
	real := change(l16, func(c *GPConfig) { c.Memory = true })
	dirty := executions(storeR8, loadR7)
	dirty[0].lines = 8
	set := uint32(real.L2Banks * (real.L2Bytes / gpLine / l2Ways)) // lines at this distance are in the same set of the L2, and of the same controller
	sameBanks := change(l16, func(c *GPConfig) { c.SameBanks = true })
	allocating := func(registers int) *ctaRecord {
		c := inCTA(executions(addR1))
		c.allocated = registers
		return c
	}
	three := func() *ctaRecord { return inCTA(executions(addR1, addR1, addR1)) }
	longer := three()
	longer.allocated = 500
	behind := inCTA(executions(loadR7, paramR9), executions(storeR8))
	behind.warps[1].records[0].lines = 16
	behind.warps[0].lines, behind.warps[1].lines = []uint32{0, 0}, []uint32{32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47}
	for _, c := range []struct {
		name   string
		config GPConfig
		ctas   []*ctaRecord
		want   int64
	}{
		{"an addition", l16, []*ctaRecord{inCTA(executions(addR1))}, 8},                                             // written in 7
		{"an addition, 8 lanes", l8, []*ctaRecord{inCTA(executions(addR1))}, 10},                                    // lanes in 2 to 5, written in 9
		{"two dependent", l16, []*ctaRecord{inCTA(executions(addR1, addR2))}, 15},                                   // the second issues in 7, written in 14
		{"two dependent, affine", affine16, []*ctaRecord{inCTA(withFlags(isCompact, executions(addR1, addR2)))}, 3}, // in 0 and 1, there in 2
		{"generic after affine", affine16, []*ctaRecord{inCTA(append(withFlags(isCompact, executions(addR1)), executions(addR2)...))}, 9},
		{"nothing is compact for gpsimt", l16, []*ctaRecord{inCTA(withFlags(isCompact, executions(addR1, addR2)))}, 15},
		{"a multiplication", l16, []*ctaRecord{inCTA(executions(mulR5))}, 9},
		{"a special function", l16, []*ctaRecord{inCTA(executions(sinR6))}, 43},
		{"two warps, two slots, two units", l16, []*ctaRecord{inCTA(repeatWarps(2, executions(addR1))...)}, 8},       // issued together; r0 is in bank 0 of the first and in bank 1 of the second
		{"… in the same bank for both", sameBanks, []*ctaRecord{inCTA(repeatWarps(2, executions(addR1))...)}, 8 + 1}, // read in 1 and 2
		{"r1 and the next warp's r0", l16, []*ctaRecord{inCTA(executions(addR2), executions(addR1))}, 8 + 1},         // both in bank 1
		{"… in the same bank for both, of different numbers", sameBanks, []*ctaRecord{inCTA(executions(addR2), executions(addR1))}, 8},
		{"four warps", l16, []*ctaRecord{inCTA(repeatWarps(4, executions(addR1))...)}, 8 + 2},                                                                  // in four banks: starts in 2, 2, 4, 4
		{"four warps, in the same bank for all", sameBanks, []*ctaRecord{inCTA(repeatWarps(4, executions(addR1))...)}, 8 + 3},                                  // bank 0 in 1 to 4: starts in 2, 3, 4, 5
		{"no banks: four warps", change(l16, func(c *GPConfig) { c.BankConflicts = false }), []*ctaRecord{inCTA(repeatWarps(4, executions(addR1))...)}, 8 + 2}, // starts in 2, 2, 4, 4
		{"a bank conflict", l16, []*ctaRecord{inCTA(executions(addBanks))}, 9},                                                                                 // read in 1 and 2
		{"a bank conflict with compact operands", affine16, []*ctaRecord{inCTA([]record{{instr: addBanks, compact: 3}})}, 8},
		{"… one of them", affine16, []*ctaRecord{inCTA([]record{{instr: addBanks, compact: 1}})}, 8},
		{"six warps, affine", affine16, []*ctaRecord{inCTA(repeatWarps(6, withFlags(isCompact, executions(addR1)))...)}, 3 + 1}, // an even and an odd warp in each of the cycles 0, 1, 2
		{"jumps", l16, []*ctaRecord{inCTA(repeatWarps(6, executions(jumpInstr))...)}, 3},                                        // two in each of 0, 1, 2, and nothing is written
		{"a warp by itself does not issue twice", l16, []*ctaRecord{inCTA(executions(jumpInstr, jumpInstr, jumpInstr))}, 3},
		{"one memory unit", l16, []*ctaRecord{inCTA(repeatWarps(2, executions(storeR8))...)}, 10}, // 4 cycles each, from 2 and 6 on, the second until 9
		{"a branch", l16, []*ctaRecord{inCTA(executions(compareP, branchP, jumpInstr))}, 9},       // written in 7, when it issues; 8
		{"a decided one", affine16, []*ctaRecord{inCTA(append(withFlags(isCompact, executions(compareP)), executions(branchP, jumpInstr)...))}, 3},
		{"suppressed, with an expansion", affine16, []*ctaRecord{inCTA(slices.Clone(suppressed))}, 10}, // a unit in 2 to 5, written in 9
		{"the same in gpsimt", l16, []*ctaRecord{inCTA(slices.Clone(suppressed))}, 8},
		{"a warm load and its use", l16, []*ctaRecord{inCTA(executions(loadR7, useR7))}, 1 + 9 + 7},                                                                  // four cycles: lanes in 2 to 5, data in 9
		{"a real one", change(l16, func(c *GPConfig) { c.Memory = true }), []*ctaRecord{inCTA(executions(loadR7, useR7))}, 1 + 142 + 7},                              // asked for in 2, 20 + 120 later there
		{"the same line again", change(l16, func(c *GPConfig) { c.Memory = true }), []*ctaRecord{inCTA(executions(loadR7)), inCTA(executions(loadR7))}, 1 + 2 + 140}, // on another SM: in the L2, on its way
		{"two lines", change(l16, func(c *GPConfig) { c.Memory = true }), []*ctaRecord{inCTA(two)}, 1 + 3 + 140 + 5},                                                 // requested in 2 and 3, from a controller that is free in 8
		{"… without a limit", change(l16, func(c *GPConfig) { c.Memory, c.LineCycles = true, 0 }), []*ctaRecord{inCTA(slices.Clone(two))}, 1 + 3 + 140},
		{"a conflict in shared memory", l16, []*ctaRecord{inCTA(bankConflict)}, 1 + 2 + 31 + 4},
		{"slow: dependent, affine", change(affine16, slow(2)), []*ctaRecord{inCTA(withFlags(isCompact, executions(addR1, addR2)))}, 6}, // in 0 and 2; there in 4
		{"slow: dependent", change(l16, slow(2)), []*ctaRecord{inCTA(executions(addR1, addR2))}, 1 + 8 + 7},                            // the second waits for 8
		{"slow: 8 lanes", change(affine8, slow(4)), []*ctaRecord{inCTA(withFlags(isCompact, executions(addR1, addR2)))}, 12},
		{"a barrier", l16, []*ctaRecord{inCTA(slices.Concat(executions(addR1, barrier), barrierRecords(0), executions(jumpInstr)), slices.Concat(executions(barrier), barrierRecords(0), executions(jumpInstr)))}, 8},
		{"a barrier waits", l16, []*ctaRecord{inCTA(slices.Concat(executions(addR1, addR2, barrier), barrierRecords(0), executions(addR1)), slices.Concat(executions(barrier), barrierRecords(0), executions(addR1)))}, 1 + 16}, // met in 8, both issue in 9
		{"four multiprocessors", l16, []*ctaRecord{inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1))}, 8},
		{"a fifth CTA is the second of one", l16, []*ctaRecord{inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1))}, 8},
		{"one CTA at a time", change(l16, func(c *GPConfig) { c.CTAs = 1 }), []*ctaRecord{inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1))}, 8 + 1 + 8},
		{"an exchange", l16, []*ctaRecord{inCTA(executions(exchangeR11))}, 8},
		{"nothing", l16, nil, 0},
		{"by number", l16, []*ctaRecord{inCTA(repeatWarps(3, executions(jumpInstr, jumpInstr))...)}, 4},                                                  // 0 and 1; 0 and 1; 2; 2
		{"in turn", change(l16, func(c *GPConfig) { c.Schedule = InTurn }), []*ctaRecord{inCTA(repeatWarps(3, executions(jumpInstr, jumpInstr))...)}, 3}, // 0 and 1; 2 and 0; 1 and 2
		{"two even ones", affine16, []*ctaRecord{inCTA(withFlags(isCompact, executions(addR1)), nil, withFlags(isCompact, executions(addR1)))}, 3},       // in 0 and 1, there in 2
		{"two odd ones", affine16, []*ctaRecord{inCTA(nil, withFlags(isCompact, executions(addR1)), nil, withFlags(isCompact, executions(addR1)))}, 3},   //
		{"an even and an odd one", affine16, []*ctaRecord{inCTA(repeatWarps(2, withFlags(isCompact, executions(addR1)))...)}, 2},                         //
		{"a suppressed multiplication", affine16, []*ctaRecord{inCTA(withFlags(isSuppressed, executions(mulR5)))}, 8},                                    // the front end multiplies
		{"two special functions", l16, []*ctaRecord{inCTA(repeatWarps(2, executions(sinR6))...)}, 45},                                                    // the second issues in 2, lanes in 4 and 5
		{"five lines", l16, []*ctaRecord{inCTA(five)}, 11},                                                                                               // 2 to 6, there in 10
		{"two loads to one register", l16, []*ctaRecord{inCTA(executions(loadR7, loadR7))}, 19},                                                          // there in 9, which the second waits for; 11 to 14, there in 18
		{"a bank of the L2", real, []*ctaRecord{at([]uint32{0}, executions(loadR7)), at([]uint32{4}, executions(loadR7))}, 144},                          // both request in 2, the second is served in 3
		{"two banks", real, []*ctaRecord{at([]uint32{0}, executions(loadR7)), at([]uint32{5}, executions(loadR7))}, 143},                                 // of two controllers, too
		{"what was written goes", real, []*ctaRecord{at([]uint32{0, set, 2 * set, 3 * set, 4 * set, 5 * set, 6 * set, 7 * set, 8 * set}, dirty)}, 157},   // stored in 2 to 9; requested in 10, when a line is evicted, until 16
		{"shared memory is full", l16, sharing(gpShared, inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1))), 17},
		// Two have room in each multiprocessor. The second of each ends in 8; the ninth begins in 9, and issues in 9, 16 and 23.
		{"… and is free again", l16, sharing(gpShared/2, three(), three(), three(), three(), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), three()), 31},
		// Two lines of one L1 with room for one under way: the first is requested in 2 and there in 142, when the second is requested.
		{"one line under way", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{1, 8} }), []*ctaRecord{inCTA(slices.Clone(two))}, 1 + 282},
		{"three lines, one under way", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{1, 8} }), []*ctaRecord{inCTA(slices.Clone(threeLines))}, 1 + 422},
		// The third request, of the second warp, comes in 10 and waits for 142.
		{"three requests, two for a line", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{32, 2} }), []*ctaRecord{sameLine}, 1 + 146},
		{"two lines under way", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{2, 8} }), []*ctaRecord{inCTA(slices.Clone(two))}, 1 + 3 + 140 + 5},
		// The second request of a line comes in 6. With one request for a line it waits for 142, and has its data 4 cycles later.
		{"one request for a line", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{32, 1} }), []*ctaRecord{at([]uint32{0, 0}, executions(loadR7, paramR9))}, 1 + 146},
		{"two requests for a line", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{32, 2} }), []*ctaRecord{at([]uint32{0, 0}, executions(loadR7, paramR9))}, 1 + 142},
		// Lines 0 and 4 are in bank 0 of the L2. The first is there in 122, when the bank requests the second.
		{"one line under way to a bank", change(real, func(c *GPConfig) { c.L2MSHRs = MSHRs{1, 4} }), []*ctaRecord{at([]uint32{0}, executions(loadR7)), at([]uint32{4}, executions(loadR7))}, 1 + 122 + 140},
		// The second request for line 0 waits for 122, and the request for line 4 is served in 123.
		{"one request for a line of a bank", change(real, func(c *GPConfig) { c.L2MSHRs = MSHRs{32, 1} }), []*ctaRecord{at([]uint32{0}, executions(loadR7)), at([]uint32{0}, executions(loadR7)), at([]uint32{4}, executions(loadR7))}, 1 + 123 + 140},
		{"stores need no room", change(real, func(c *GPConfig) { c.L2MSHRs = MSHRs{1, 1} }), []*ctaRecord{at([]uint32{0}, executions(loadR7)), at([]uint32{4, 8}, executions(storeR8, storeR8))}, 1 + 142},
		// The bank serves the store in 3; the second load waits for 122.
		{"… nor do they wait for it", change(real, func(c *GPConfig) { c.L2MSHRs = MSHRs{1, 4} }), []*ctaRecord{at([]uint32{0}, executions(loadR7)), at([]uint32{4}, executions(storeR8)), at([]uint32{12}, executions(loadR7))}, 1 + 122 + 140},
		// The second load of a line takes the unit until 142, and the store of 16 lines from 143 to 158.
		{"a request that waits takes the unit", change(real, func(c *GPConfig) { c.L1MSHRs = MSHRs{32, 1} }), []*ctaRecord{behind}, 1 + 158},
		{"results 3 cycles later", change(l16, func(c *GPConfig) { c.WriteDelay = 3 }), []*ctaRecord{inCTA(executions(addR1, addR2))}, 21}, // written in 10 and 20
		{"units 2 cycles later, results 1", change(l16, func(c *GPConfig) { c.ReadDelay, c.WriteDelay = 2, 1 }), []*ctaRecord{inCTA(executions(addR1, addR2))}, 21},
		{"stores have no result", change(l16, func(c *GPConfig) { c.WriteDelay = 3 }), []*ctaRecord{inCTA(repeatWarps(2, executions(storeR8))...)}, 10},
		{"stores 2 cycles later", change(l16, func(c *GPConfig) { c.ReadDelay = 2 }), []*ctaRecord{inCTA(repeatWarps(2, executions(storeR8))...)}, 12},
		{"a load 3 cycles later", change(real, func(c *GPConfig) { c.WriteDelay = 3 }), []*ctaRecord{inCTA(executions(loadR7, useR7))}, 1 + 145 + 7 + 3},
		{"a branch 3 cycles later", change(l16, func(c *GPConfig) { c.WriteDelay = 3 }), []*ctaRecord{inCTA(executions(compareP, branchP, jumpInstr))}, 12},
		{"a special function on 4 lanes", change(l16, func(c *GPConfig) { c.SpecialLanes = 4 }), []*ctaRecord{inCTA(executions(sinR6))}, 49}, // lanes in 2 to 9, written 39 later
		{"one multiprocessor", change(l16, func(c *GPConfig) { c.SMs = 1 }), []*ctaRecord{inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1)), inCTA(executions(addR1))}, 8 + 2},
		{"registers for one CTA", change(l16, func(c *GPConfig) { c.SMs, c.Registers = 1, 1000 }), []*ctaRecord{allocating(501), allocating(501)}, 8 + 1 + 8},
		// The first issues in 0, 7 and 14, and ends in 21; the third begins when the second ends, not when the first does.
		{"… free again", change(l16, func(c *GPConfig) { c.SMs, c.Registers = 1, 1000 }), []*ctaRecord{longer, allocating(500), allocating(500)}, 22},
		{"registers for two", change(l16, func(c *GPConfig) { c.SMs, c.Registers = 1, 1000 }), []*ctaRecord{allocating(500), allocating(500)}, 8},
		{"two even ones, by number", l16, []*ctaRecord{inCTA(executions(jumpInstr), nil, executions(jumpInstr))}, 1},
		{"two even ones of one scheduler", change(l16, func(c *GPConfig) { c.Schedule = Greedy }), []*ctaRecord{inCTA(executions(jumpInstr), nil, executions(jumpInstr))}, 2},
		{"an even and an odd one of two", change(l16, func(c *GPConfig) { c.Schedule = Greedy }), []*ctaRecord{inCTA(executions(jumpInstr), executions(jumpInstr))}, 1},
	} {
		if got := gp(c.config, c.ctas...); got.Cycles != c.want {
			t.Errorf("%s: %d cycles, want %d", c.name, got.Cycles, c.want)
		}
	}
}

// TestUsesOfBanksAndCaches: the counts of banks and caches.
func TestUsesOfBanksAndCaches(t *testing.T) {
	c := NewGPConfig(16, false)
	c.Memory = true
	for _, w := range []struct {
		name   string
		affine bool
		list   []record
		want   Time // these counts of it
	}{
		{"an addition", false, executions(addBanks), Time{BankReads: 2, BankWrites: 1}},
		{"compact", true, withFlags(isCompact, executions(addBanks)), Time{}},
		{"suppressed", true, withFlags(isSuppressed, executions(addBanks)), Time{BankWrites: 1}},
		{"a parameter", false, withFlags(isCompact, executions(paramR9)), Time{BankWrites: 1, Lines: 1, L1Misses: 1, L2Misses: 1}},
		{"a compact one", true, withFlags(isCompact, executions(paramR9)), Time{Lines: 1, L1Misses: 1, L2Misses: 1}},
		{"a store", false, executions(storeR8), Time{BankReads: 2, Lines: 1, L2Misses: 1}}, // through
		{"an atomic", false, executions(atomicR10), Time{BankReads: 1, BankWrites: 1, Lines: 1, L2Misses: 1}},
	} {
		c.Affine = w.affine
		n := gp(c, inCTA(w.list))
		if got := (Time{BankReads: n.BankReads, BankWrites: n.BankWrites, Lines: n.Lines, L1Misses: n.L1Misses, L2Misses: n.L2Misses}); got != w.want {
			t.Errorf("%s: %+v, want %+v", w.name, got, w.want)
		}
	}
}

// TestIssueRates computes rates of issue by hand. Of two CTAs the first takes 8 cycles on its multiprocessor and the
// second 15; two multiprocessors have no CTA. A front end at half speed takes 16 cycles of the units for the second
// CTA: 8 of its own.
func TestIssueRates(t *testing.T) {
	for _, frontEnd := range []int64{1, 2} {
		c := NewGPConfig(16, false)
		c.FrontEnd = frontEnd
		n := gp(c, inCTA(executions(addR1)), inCTA(executions(addR1, addR2)))
		want := Time{Cycles: 15, Issues: 4 * 15, BusyCycles: 8 + 15, WarpCycles: 8 + 15, Issued: 3, Arithmetic: 3 * 2, BankReads: 3, BankWrites: 3}
		if frontEnd == 2 {
			want.Cycles, want.Issues, want.BusyCycles, want.WarpCycles = 16, 4*8, 4+8, 4+8
		}
		if n != want {
			t.Errorf("front end %d: %+v, want %+v", frontEnd, n, want)
		}
	}
}

// TestWaitingRequestsTakeTheUnit: a load takes the unit for loads and stores in cycles 2 to 5. A second load of the line
// follows in 6 and waits for the line, in 142, because a line can have one request.
func TestWaitingRequestsTakeTheUnit(t *testing.T) {
	c := NewGPConfig(16, false)
	c.Memory, c.L1MSHRs = true, MSHRs{32, 1}
	list := inCTA(executions(loadR7, paramR9))
	list.warps[0].lines = []uint32{0, 0}
	if got := gp(c, list).Memory; got != 4+143-6 {
		t.Errorf("the unit is busy for %d cycles, want %d", got, 4+143-6)
	}
}

// TestWarpCycles: two warps of a CTA end in cycles 8 and 15, and are counted until then.
func TestWarpCycles(t *testing.T) {
	n := gp(NewGPConfig(16, false), inCTA(executions(addR1), executions(addR1, addR2)))
	if n.BusyCycles != 15 || n.WarpCycles != 8+15 {
		t.Errorf("%d cycles, and %d of warps, want 15 and 23", n.BusyCycles, n.WarpCycles)
	}
}

// TestGreedyThenOldest: the oldest warp issues until it is not ready; then the oldest of the ready warps.
func TestGreedyThenOldest(t *testing.T) {
	c := NewGPConfig(16, false)
	c.Schedule = Greedy
	s := &NewGPMachine(c).sms[0]
	s.warps[0].order, s.warps[2].order, s.warps[4].order = 5, 3, 4
	for i, step := range []struct {
		free uint64
		want int
	}{{0b10101, 2}, {0b10001, 4}, {0b10101, 4}, {0b00101, 2}, {0b00001, 0}, {0b10101, 0}} {
		if got := s.choose(step.free, 0); got != step.want {
			t.Errorf("step %d: warp %d, want %d", i, got, step.want)
		}
	}
}

// TestBanksOfWarps: register 15 of warp 17 is in bank 0.
func TestBanksOfWarps(t *testing.T) {
	c := NewGPConfig(16, false)
	for _, want := range []int{0, 15} {
		c.SameBanks = want == 15
		if got := NewGPMachine(c).sms[0].bank(17, 15); got != want {
			t.Errorf("same banks %v: bank %d, want %d", c.SameBanks, got, want)
		}
	}
}

// fg runs a CTA on an FG-SIMT machine.
func fg(c FGConfig, ctas ...*ctaRecord) Time {
	m := NewFGMachine(c)
	for _, c := range ctas {
		m.runCTA(c)
	}
	m.endLaunch()
	return m.Time()
}

// TestCyclesOfFGMachine: an instruction fetched in cycle t issues in t+1, and takes a unit for four cycles; the first
// lanes of an addition are ready a cycle later, and the last after four. The time ends when the units are free.
func TestCyclesOfFGMachine(t *testing.T) {
	base, a := NewFGConfig(FGSIMT{}), NewFGConfig(FGSIMT{Arithmetic: true})
	ab, abm := NewFGConfig(FGSIMT{Arithmetic: true, Branches: true}), NewFGConfig(FGSIMT{Arithmetic: true, Branches: true, Memory: true})
	queue, refetch := a, base
	queue.Queue, refetch.Refetch = 1, 5
	dependent := append(executions(addR1, addR1, addR1, addR1), withFlags(isCompact, executions(slices.Repeat([]uint32{addBanks}, 10)...))...)
	skips := base
	skips.SkipIdleGroups = true
	short := executions(addR1, addR1, addR1)
	for i := range short {
		short[i].groups = 2
	}
	vector := withFlags(isAtCompact|isVector, executions(loadR7))
	vector[0].lines = 5
	expands := withFlags(isSuppressed, executions(mulR5))
	expands[0].materialises = 1
	decided := append(withFlags(isCompact, executions(compareP)), withFlags(isDecided, executions(branchP))...)
	shared := withFlags(isCompact, executions(paramR9, paramR9))
	stores := executions(storeR8, storeR8)
	stores[0].bankCycles, stores[1].bankCycles = 1, 1
	behindLoad := append(executions(loadR7), withFlags(isAtCompact|isVector, executions(loadR7))...)
	behindLoad[0].bankCycles = 1
	for _, c := range []struct {
		name   string
		config FGConfig
		ctas   []*ctaRecord
		want   int64
	}{
		{"an addition", base, []*ctaRecord{inCTA(executions(addR1))}, 5},                                                         // lanes in 1 to 4
		{"two dependent", base, []*ctaRecord{inCTA(executions(addR1, addR2))}, 6},                                                // forwarded: 2 to 5, on the other unit
		{"three", base, []*ctaRecord{inCTA(executions(addR1, addR1, addR1))}, 9},                                                 // the third has a unit from 5 on
		{"three of half the lanes", base, []*ctaRecord{inCTA(slices.Clone(short))}, 9},                                           // and takes it as long
		{"… that are skipped", skips, []*ctaRecord{inCTA(slices.Clone(short))}, 5},                                               // 1 and 2, 2 and 3, 3 and 4
		{"after a multiplication", base, []*ctaRecord{inCTA([]record{{instr: mulR5, groups: 4}, {instr: useR5, groups: 4}})}, 9}, // there in 5; 5 to 8
		{"affine", a, []*ctaRecord{inCTA(withFlags(isCompact, executions(addR1, addR2)))}, 2},
		{"generic after affine", a, []*ctaRecord{inCTA(append(withFlags(isCompact, executions(addR1)), executions(addR2)...))}, 6}, // fetched in 1, 2 to 5
		{"suppressed, with an expansion", a, []*ctaRecord{inCTA(slices.Clone(expands))}, 6},
		{"the same in fgsimt", base, []*ctaRecord{inCTA(slices.Clone(expands))}, 5},
		{"a branch", base, []*ctaRecord{inCTA(executions(compareP, branchP, addR1))}, 11}, // the last lanes are there in 5; addR1 fetched in 6, 7 to 10
		{"a decided one in fgsimt+a", a, []*ctaRecord{inCTA(append(slices.Clone(decided), executions(addR1)...))}, 11},
		{"a decided one", ab, []*ctaRecord{inCTA(append(slices.Clone(decided), executions(addR1)...))}, 7}, // 0, 1; fetched in 2, 3 to 6
		{"a jump", base, []*ctaRecord{inCTA(executions(jumpInstr, addR1))}, 6},
		{"a load", base, []*ctaRecord{inCTA(executions(loadR7))}, 11},                    // addresses in 1 to 4, requests in 2 to 5, data in 7, written in 7 to 10
		{"a load and its use", base, []*ctaRecord{inCTA(executions(loadR7, useR7))}, 12}, // first lanes there in 8, until 11
		{"a vector load", abm, []*ctaRecord{inCTA(slices.Clone(vector))}, 11},            // requests in 1 to 5, data in 7
		{"the same in fgsimt+ab", ab, []*ctaRecord{inCTA(slices.Clone(vector))}, 11},
		{"two loads", base, []*ctaRecord{inCTA(executions(loadR7, loadR7))}, 15},                            // addresses from 5 on, requests in 6 to 9, data in 11
		{"a load, then a vector load", abm, []*ctaRecord{inCTA(append(executions(loadR7), vector...))}, 16}, // requests in 6 to 10: the banks are taken
		{"a store", base, []*ctaRecord{inCTA(executions(storeR8))}, 6},                                      // requests in 2 to 5
		{"two stores of a request", base, []*ctaRecord{inCTA(slices.Clone(stores))}, 9},                     // addresses in 1 to 4 and 5 to 8
		{"a load, then a vector load of a request", abm, []*ctaRecord{inCTA(slices.Clone(behindLoad))}, 12}, // asked for in 2 and 3, there in 4 and 5, written in 4 to 7 and 8 to 11
		{"in order", base, []*ctaRecord{inCTA(executions(mulR5, useR5, addR1))}, 10},                        // the second issues in 5, the third after it
		{"a result that overtakes", base, []*ctaRecord{inCTA(executions(sinR6, addR6))}, 16},                // there in 13 both; 12 to 15
		{"affine behind a queue", a, []*ctaRecord{inCTA(slices.Clone(dependent))}, 14},                      // the four issue in 1, 2, 5, 6; the ten are fetched in 4 to 13
		{"… of one", queue, []*ctaRecord{inCTA(slices.Clone(dependent))}, 16},                               // the fourth enters as the third issues, in 5; the ten are fetched in 6 to 15
		{"a branch, and five cycles", refetch, []*ctaRecord{inCTA(executions(compareP, branchP, addR1))}, 15},
		{"shared loads", a, []*ctaRecord{inCTA(slices.Clone(shared))}, 4}, // the first is there in 2, written in 3
		{"shared loads of another warp", a, []*ctaRecord{inCTA(repeatWarps(2, shared)...)}, 6},
		{"shared loads in fgsimt", base, []*ctaRecord{inCTA(slices.Clone(shared))}, 15},
		{"two warps", base, []*ctaRecord{inCTA(repeatWarps(2, executions(addR1))...)}, 10},                                                               // the second is fetched in 5
		{"a barrier", base, []*ctaRecord{inCTA(repeatWarps(2, slices.Concat(executions(addR1, barrier), barrierRecords(0), executions(addR1)))...)}, 17}, // until 5, until 10; the second continues, fetched in 7, until 12; the first, until 17
	} {
		if got := fg(c.config, c.ctas...); got.Cycles != c.want {
			t.Errorf("%s: %d cycles, want %d", c.name, got.Cycles, c.want)
		}
	}
}

// TestCachesAcrossLaunches: shared loads are cached within a launch, but not beyond it: the first data is ready in 2,
// and the next, fetched after it, in 3; the second launch begins again.
func TestCachesAcrossLaunches(t *testing.T) {
	m := NewFGMachine(NewFGConfig(FGSIMT{Arithmetic: true}))
	for launch := range int64(2) {
		m.runCTA(inCTA(withFlags(isCompact, executions(paramR9))))
		if m.endLaunch(); m.Time().Cycles != 3*(launch+1) {
			t.Errorf("launch %d ends at %d, want %d", launch, m.Time().Cycles, 3*(launch+1))
		}
	}
	g := NewGPMachine(NewGPConfig(16, false))
	for launch := range int64(2) {
		g.runCTA(inCTA(executions(addR1)))
		if g.endLaunch(); g.Time().Cycles != 8*(launch+1) {
			t.Errorf("launch %d ends at %d, want %d", launch, g.Time().Cycles, 8*(launch+1))
		}
	}
}

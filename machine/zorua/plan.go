package zorua

import (
	"fmt"

	"gemu/machine/stream"
	"gemu/occupancy"
	"gemu/phases"
	"gemu/ptx"
)

// Mode is a way to give resources to warps.
type Mode uint8

// The modes.
const (
	Blocks    Mode = iota // all resources to blocks for their life, as a GPU does
	Registers             // registers to warps for their life, all else to blocks: warp-level management
	Phases                // all resources to warps for a phase: Zorua
	Resident              // as Phases, with sets in memory only for the least parallelism (section 4.4.3: swap can be disabled)
)

// byPhase reports whether warps get resources for a phase.
func (m Mode) byPhase() bool { return m >= Phases }

// Plan is a launch whose warps get resources.
type Plan struct {
	Places int // blocks of a multiprocessor that begin, at least 1

	mode         Mode
	limits       *occupancy.Limits
	registerSets int // of a warp, for its life
	assistSets   int // of a warp, for its assist warps, in addition to those of its phase
	entries      int // of the table of registers, for sets of phases
	phases       []needs
	instrs       []instruction // by index of the instruction in the program
}

// needs are the sets that a phase needs.
type needs struct{ registers, shared int }

// instruction is what the coordinator needs of an instruction.
type instruction struct {
	begins        int // phase that begins before it; -1: none
	reads, writes uint64
	shared        sharedAccess
}

// sharedAccess is the access of an instruction to shared memory.
type sharedAccess uint8

const (
	noShared sharedAccess = iota
	sharedLoad
	sharedStore
)

// NewPlan returns the plan of a launch. registers is the number of registers of a thread, and assist that of its assist warps in addition. The error says why
// a block does not fit, or why the kernel has no phases.
func NewPlan(mode Mode, l *stream.Launch, limits *occupancy.Limits, registers, assist int) (*Plan, error) {
	p := &Plan{mode: mode, limits: limits, registerSets: setsOf(registers + assist), instrs: make([]instruction, l.Program.Len())}
	threads := l.Block.Count()
	warps := limits.WarpsOf(occupancy.Block{Threads: threads})
	resident, by := limits.Resident(occupancy.Block{Threads: threads, Registers: registers + assist, Shared: l.SharedBytes})
	if resident == 0 {
		return nil, fmt.Errorf("a block of %d threads with %d registers and %d bytes of shared memory does not fit: %s", threads, registers+assist, l.SharedBytes, by)
	}
	for i := range p.instrs {
		p.instrs[i].begins = -1
	}
	switch mode {
	case Blocks:
		p.Places, p.registerSets = min(resident, LogicalWarps/warps), 0
	case Registers:
		n, _ := limits.Resident(occupancy.Block{Threads: 1, Shared: l.SharedBytes})
		p.Places = max(1, min(n, LogicalWarps/warps))
	case Phases, Resident:
		p.Places, p.assistSets = max(1, min(LogicalBlocks, LogicalWarps/warps)), setsOf(assist)
		if n := warps * p.assistSets; n > p.physicalRegisters() {
			return nil, fmt.Errorf("a block of %d threads needs %d sets of registers for assist routines, and a multiprocessor has %d: choose a smaller block", threads, n, p.physicalRegisters())
		}
		k, err := phases.Divide(l.Kernel, l.SharedBytes)
		if err != nil {
			return nil, err
		}
		p.divide(k, l)
		most := 0
		for _, phase := range p.phases {
			most = max(most, phase.registers)
		}
		// A warp with more sets than the table has for it takes entries of others, so that fewer blocks begin. A single block has all entries that it needs.
		p.entries = max(LogicalWarps*tableSets, warps*most)
		p.Places = min(p.Places, p.entries/max(1, warps*most))
	}
	return p, nil
}

// setsOf returns the register sets of a number of registers.
func setsOf(registers int) int { return (registers + phases.SetRegisters - 1) / phases.SetRegisters }

// divide takes the phases of a kernel.
func (p *Plan) divide(k *phases.Kernel, l *stream.Launch) {
	for _, phase := range k.Phases {
		p.phases = append(p.phases, needs{setsOf(phase.Registers), (min(phase.Shared, l.SharedBytes) + SharedSet - 1) / SharedSet})
	}
	for i := range p.instrs {
		instr, _ := l.Program.At(i)
		at := k.Index(instr)
		if at < 0 {
			continue
		}
		o := &p.instrs[i]
		o.reads, o.writes = uint64(k.Instrs[at].Reads), uint64(k.Instrs[at].Writes)
		for n := range k.Phases {
			if k.Phases[n].First == instr {
				o.begins = n
			}
		}
		if k.Instrs[at].AccessesShared() {
			if o.shared = sharedLoad; !instr.Form.Effects.Any(ptx.Reads) {
				o.shared = sharedStore
			}
		}
	}
}

// physicalRegisters returns the register sets of a multiprocessor.
func (p *Plan) physicalRegisters() int {
	return p.limits.FileSize / (phases.SetRegisters * p.limits.WarpSize)
}

// Coordinator returns the coordinator of a multiprocessor for the launch, which begins after cycle now.
func (p *Plan) Coordinator(sm int, now int64) *Coordinator {
	c := &Coordinator{Plan: p, sm: sm, last: now, slots: p.limits.Warps, blocks: make([]block, p.Places), threshold: threshold{percent: FirstThreshold}}
	registers, shared := p.physicalRegisters(), p.limits.Shared/SharedSet
	c.registers = pool{physical: registers, free: registers, most: max(registers, p.entries+LogicalWarps*p.assistSets)}
	c.shared = pool{physical: shared, free: shared, most: max(shared, LogicalBlocks*shared)}
	return c
}

package machine

import (
	"slices"
	"sync"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// Kernel is a lowered kernel.
type Kernel struct {
	*code.Program
	Module         *ptx.Module
	Kernel         *ptx.Func
	Entry          *code.Func // the kernel as a lowered function
	CheckReference *Reference // the reference, for check mode and for probes of operations; nil: none

	Native      *native.Code         // machine code of the kernel
	MemoryNeeds *MemoryNeeds         // upper bounds of the memory of a CTA; nil: not computed yet
	ContextPool sync.Pool            // idle contexts (*CTA) for later launches
	Observed    ObservedCodes        // machine code of the kernel for observed launches
	accessOf    []accessedSources    // result of Accesses; nil before its first call
	CheckOnce   func() *native.Check // returns the machine code of check mode, made at the first call
}

// ObservedCodes has the machine code of a kernel for observed launches.
type ObservedCodes struct {
	mu     sync.Mutex
	byStop map[string]*ObservedCode // by the bytes of the exits
}

// maxObservedCodes is the maximum number of codes of a kernel. A launch has few: one for each set of selected instructions.
const maxObservedCodes = 8

// Observing returns machine code that exits before the instructions that have an event in selected, by index. It may log the
// accesses for which mayLog, by index, is true.
func (k *Kernel) Observing(selected []probe.Events, mayLog []bool) *ObservedCode {
	accesses := k.Accesses()
	sources, stops := make([]int32, len(k.Instrs)), make([]byte, len(k.Instrs))
	for i := range sources {
		sources[i] = -1
	}
	for i := len(selected) - 1; i >= 0; i-- {
		if selected[i] != 0 {
			at := accesses[i].Start
			if sources[at], stops[at] = int32(i), native.AlwaysExit; mayLog[i] {
				stops[at] = native.MayLog
			}
		}
	}
	c := &k.Observed
	c.mu.Lock()
	defer c.mu.Unlock()
	key := string(stops)
	if found := c.byStop[key]; found != nil && slices.Equal(found.Sources, sources) {
		return found
	}
	if c.byStop == nil || len(c.byStop) >= maxObservedCodes {
		c.byStop = map[string]*ObservedCode{}
	}
	made := &ObservedCode{Code: k.Native.WithExits(stops), Sources: sources, Windows: make([]int32, len(stops))}
	for pc, stop := range stops {
		if made.Windows[pc] = -1; stop == native.MayLog {
			made.Windows[pc] = int32(len(made.Loads))
			made.Loads = append(made.Loads, sources[pc])
		}
	}
	c.byStop[key] = made
	return made
}

// GuardMask returns the lanes of a register file for which guard g, which must not be 0, holds.
func GuardMask(f *regfile.File, g int32) uint32 {
	p, negated := code.GuardRow(g)
	if negated {
		return ^f.Pred(p)
	}
	return f.Pred(p)
}

package simt

// This file is the backend of machine code: package native executes what it has, and Go what it
// has not.

import (
	"slices"
	"sync/atomic"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// Native is the backend that executes machine code of this host; nil where there is none. What it
// lacks, and warps of more than 32 lanes, are the portable backend's.
var Native = nativeBackend()

func nativeBackend() Backend {
	if native.Supported() {
		return machineCode{}
	}
	return nil
}

type machineCode struct{}

// span is the portable one's: spans are asked for where something looks at each instruction.
func (machineCode) span(w *warp, from, to int32) int32 { return Portable.span(w, from, to) }

// Entered is how often machine code has been entered by CTAs that count, in this process. What has it come back to Go more often
// makes it slower, and shows nowhere else.
var Entered atomic.Int64

// machine is what native code is told of a CTA.
type machine struct {
	team     native.Team
	lent     []lent             // by warp; nil: nobody has asked
	contexts []*native.Context  // of them
	tid      [][3]regfile.Row32 // by warp: the thread index
	index    [][3]native.Source // … as progressions, of which some dimensions are none
	has      []bool             // … are there
	uniform  [native.Registers]uint64
	of       int   // 1 + index of the CTA whose special registers these are
	entered  int64 // how often machine code has been entered, and Entered does not have
	out      bool  // machine code may have warps that wait, or are ready
	turned   *warp // in the run that has ended, this one has got its turn
}

// lent is what native code is told of a warp.
type lent struct {
	native.Context

	loan    loan
	out     bool                      // machine code may have it run; its strands are where that says
	told    bool                      // what is the same in all CTAs
	filled  bool                      // … and where registers are
	uniform *[native.Registers]uint64 // special registers, if those of the CTA do not do
}

// forget forgets a launch, but for the threads' indices in the block.
func (n *machine) forget() {
	clear(n.lent)
	n.team, n.of, n.out = native.Team{}, 0, false
}

// makes has the code for the lanes that a CTA's first warp begins with.
func (machineCode) makes(g *Grid) {
	k := g.code
	if k.Width > regfile.Lanes || len(g.probes) > 0 { // which Go runs
		return
	}
	masked := min(k.Width, g.threads) < regfile.Lanes
	if g.mode != Check {
		k.native.Make(masked)
	} else if m := k.checked(); m != nil {
		m.Make(masked)
	}
}

// tellNative tells native code what it wants to know of the running strand besides registers and memory that it
// has hit.
func (w *warp) tellNative() {
	c := w.cta
	n, l := &c.native, w.lent
	if n.of != 1+c.index {
		n.of = 1 + c.index
		for _, r := range c.code.native.Uniform {
			n.uniform[r] = w.uniformSreg(&code.Instr{Imm: uint64(r)})
		}
	}
	if !l.told {
		l.told = true
		w.tellOnce()
	}
	if l.uniform != nil {
		*l.uniform = n.uniform
		l.uniform[ptx.WarpID] = uint64(w.id)
	}
	l.Parallel(c.atomics())
	if !w.sourced {
		l.Read(w.readSources(c.code.native.Sources))
	}
	w.tellLocal()
}

// tellOnce tells it what is the same in all CTAs of a launch.
func (w *warp) tellOnce() {
	c := w.cta
	n, l := &c.native, w.lent
	tid, uniform := &n.tid[w.id], &n.uniform
	if !n.has[w.id] {
		n.has[w.id] = true
		there := uint32(regfile.Full) >> (regfile.Lanes - min(c.code.Width, c.grid.block.Count()-w.tid(0)))
		for i := range tid {
			in := &code.Instr{Imm: uint64(ptx.TidX) + uint64(i)}
			sregRow(w, 0, &tid[i], in, ^uint32(0), regfile.Full)
			v := sregSource(w, 0, in, there)
			n.index[w.id][i] = native.Source{Base: v.Base, Stride: v.Stride}
		}
	}
	if slices.Contains(c.code.native.Uniform, ptx.WarpID) {
		l.uniform = new([native.Registers]uint64)
		uniform = l.uniform
	}
	l.In(&n.team)
	l.Special(tid, uniform)
	l.Room(c.hits, c.sharedMem, &c.changed)
}

// tellLocal tells it of local memory, which an instruction may have moved.
func (w *warp) tellLocal() {
	from, to := w.localRange()
	w.lent.Local(w.local[0], from, to, 4*uint64(w.frame.local))
}

// readSources has the special registers that machine code reads compactly, once for each warp.
func (w *warp) readSources(list []ptx.SpecialReg) []native.Source {
	w.sourced, w.sources = true, w.sources[:0]
	n := &w.cta.native
	for _, r := range list {
		v := native.Source{Stride: 1} // the lane
		switch {
		case !r.PerLane():
			v = native.Source{Base: n.uniform[r]}
			if r == ptx.WarpID {
				v.Base = uint64(w.id)
			}
		case r <= ptx.TidZ:
			v = n.index[w.id][r-ptx.TidX]
		}
		w.sources = append(w.sources, v)
	}
	return w.sources
}

func (machineCode) run(w *warp, budget int) reason {
	w.comesHome()
	c, m := w.cta, w.cta.code.native
	if !w.fits() || !m.Ready(w.readies()) {
		return Portable.run(w, budget)
	}
	w.depart(budget)
	m.Block(w.goes(), &w.files[0], c.code.Block(w.pc).Index)
	for {
		w = w.returned(m.Block, m.Instr)
		f, ctx := &w.files[0], &w.lent.Context
		if ctx.Reason == native.Turned {
			return goesOn
		}
		w.reclaim()
		switch ctx.Reason {
		case native.Lacks:
			b := c.code.Block(w.pc)
			at := m.Next(ctx, w.pc+1)
			insts := c.code.Instrs[w.pc:at]
			w.pc = b.First
			if w.block(insts); w.err != nil {
				return w.failed(b)
			}
			w.relend()
			m.Instr(w.goes(), f, at)
		case native.Cautious:
			b := c.code.Block(w.pc)
			if why := w.barred(b); why != goesOn {
				return why
			}
			w.relend()
			m.Behind(w.goes(), f, b.Index)
		default:
			return reasons[ctx.Reason]
		}
	}
}

// reasons are those for which machine code comes back and the machine goes on.
var reasons = [...]reason{native.Used: used, native.Parts: parts, native.Meets: meets, native.Control: control, native.Nobody: nobody}

// fits reports whether a warp is of the kind that machine code runs.
func (w *warp) fits() bool {
	return len(w.files) == 1 && w.unit.Fast() && w.owed == 0 && !w.cta.parted && !w.cta.grid.dev.Memory.MayFault()
}

// readies tells native code of the running strand and its memory.
func (w *warp) readies() *native.Context {
	c := w.cta
	if c.native.lent == nil {
		c.native.make(c)
	}
	w.activate()
	ctx := &w.lent.Context
	ctx.Count, ctx.PC = w.count.WarpInstructions, w.pc
	ctx.Mask, ctx.Live, ctx.Stop, ctx.Heed = uint32(w.mask), uint32(w.live), w.stop, 0
	if w.heeds && len(w.others) > 0 {
		ctx.Heed = 1
	}
	return ctx
}

// comesHome has Go know where the strands of a warp are that machine code may have, since it was ready when another had its
// turn.
func (w *warp) comesHome() {
	if w.lent != nil && w.lent.out {
		w.reclaim()
	}
}

// make makes room for what native code is told of the CTA's warps.
func (n *machine) make(c *cta) {
	size := len(c.warps)
	n.lent, n.contexts = make([]lent, size), make([]*native.Context, size)
	n.tid, n.index, n.has = make([][3]regfile.Row32, size), make([][3]native.Source, size), make([]bool, size)
	for i := range c.warps {
		n.contexts[i] = &n.lent[i].Context
		c.warps[i].lent = &n.lent[i]
	}
}

// took is what machine code says when it comes back: where the strand is, and what it has counted.
func (w *warp) took() {
	ctx, n := &w.lent.Context, &w.count
	w.pc = ctx.PC
	n.WarpInstructions = ctx.Count
	n.ThreadInstructions += ctx.Slots - ctx.Held
	n.LaneSlots += ctx.Slots
	n.Branches += ctx.Branches
	n.DivergentBranches += ctx.Divergent
	n.Splits += ctx.Divergent - ctx.Leaves
	n.Reconvergences += ctx.Met
	w.tookEngine(&n.Engine)
	w.settled = ctx.Since
	w.unpaid += ctx.Leaves
	ctx.Counted()
}

// tookEngine adds what machine code has counted of compact execution, in check mode.
func (w *warp) tookEngine(to *EngineCounts) {
	if ctx := &w.lent.Context; w.check != nil {
		to.Expanded += ctx.Expanded
		to.Kept += ctx.Kept
		ctx.Expanded, ctx.Kept = 0, 0
	}
}

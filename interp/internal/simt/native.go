package simt

// This file is the backend of machine code: package native executes what it has, and Go what it
// has not.

import (
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

// machine is what native code is told of a CTA.
type machine struct {
	native.Context // of the warp that executes

	tid     [][3]regfile.Row32 // by warp: the thread index; nil: nobody has asked
	has     []bool             // … is there
	uniform [native.Registers]uint64
	of      int // 1 + index of the CTA whose special registers these are
}

// forget forgets a launch, but for the threads' indices in the block.
func (n *machine) forget() { n.Context, n.of = native.Context{}, 0 }

// tellNative tells native code what it wants to know of the running strand besides registers and memory that it
// has hit.
func (w *warp) tellNative() {
	c := w.cta
	n := &c.native
	if n.of != 1+c.index {
		n.of = 1 + c.index
		for _, r := range c.code.native.Uniform {
			n.uniform[r] = w.uniformSreg(&code.Instr{Imm: uint64(r)})
		}
	}
	n.uniform[ptx.WarpID] = uint64(w.id)
	if n.tid == nil {
		n.tid, n.has = make([][3]regfile.Row32, len(c.warps)), make([]bool, len(c.warps))
	}
	tid := &n.tid[w.id]
	if !n.has[w.id] {
		n.has[w.id] = true
		for i := range tid {
			sregRow(w, 0, &tid[i], &code.Instr{Imm: uint64(ptx.TidX) + uint64(i)}, ^uint32(0), regfile.Full)
		}
	}
	n.Special(tid, &n.uniform)
	n.Parallel(c.grid.atomics && !c.turn)
	if list := c.code.native.Sources; len(list) > 0 {
		n.Read(w.readSources(list))
	}
	w.tellLocal()
}

// tellLocal tells it of local memory, which an instruction may have moved.
func (w *warp) tellLocal() {
	from, to := w.localRange()
	w.cta.native.Local(w.local[0], from, to, 4*uint64(w.frame.local))
}

// readSources has the special registers that machine code reads compactly, once for each CTA.
func (w *warp) readSources(list []ptx.SpecialReg) []native.Source {
	if w.sourced {
		return w.sources
	}
	w.sourced, w.sources = true, w.sources[:0]
	width := w.cta.code.Width
	there := uint32(regfile.Full) >> (regfile.Lanes - min(width, w.cta.grid.block.Count()-w.id*width))
	for _, r := range list {
		v := sregSource(w, 0, &code.Instr{Op: code.Sreg64, Imm: uint64(r)}, there)
		w.sources = append(w.sources, native.Source{Base: v.Base, Stride: v.Stride})
	}
	return w.sources
}

func (machineCode) run(w *warp, budget int) reason {
	c := w.cta
	if len(w.files) > 1 || w.owed != 0 || w.paused || c.grid.dev.Memory.HasMapped() || c.grid.mode != Vector && !w.unit.Fast() {
		return Portable.run(w, budget)
	}
	w.activate()
	m, f, ctx := c.code.native, &w.files[0], &c.native.Context
	w.readies(ctx)
	if !m.Ready(ctx) {
		return Portable.run(w, budget)
	}
	w.tellNative()
	enough := w.count.WarpInstructions + int64(budget)
	for at, begins := w.pc, true; ; {
		ctx.Count = w.count.WarpInstructions
		ctx.Enough = min(enough, ctx.Count+native.Stretch)
		ctx.Held, ctx.Branches = 0, 0
		if begins {
			m.Block(ctx, f, c.code.Block(at).Index)
		} else {
			m.Instr(ctx, f, at)
		}
		w.count.WarpInstructions = ctx.Count
		w.count.ThreadInstructions -= ctx.Held
		w.count.Branches += ctx.Branches
		w.pc = ctx.PC
		switch ctx.Reason {
		case native.Lacks:
			b := c.code.Block(w.pc)
			at, begins = m.Next(ctx, w.pc+1), false
			insts := c.code.Instrs[w.pc:at]
			w.pc = b.First
			if w.block(insts); w.err != nil {
				return w.failed(b)
			}
			if w.frame.fn.Allocates {
				w.tellLocal()
			}
			if w.yield {
				enough = 0 // at the end of the block
			}
		case native.Cautious:
			return Portable.run(w, 1)
		case native.Parts:
			return parts
		case native.Meets:
			return meets
		case native.Control:
			return control
		case native.Used:
			if w.count.WarpInstructions >= enough || w.yield {
				return used
			}
			at, begins = w.pc, true
		}
	}
}

// readies tells native code of the running strand and its memory.
func (w *warp) readies(ctx *native.Context) {
	ctx.Mask, ctx.Live, ctx.Stop, ctx.Heed = uint32(w.mask), uint32(w.live), w.stop, 0
	if w.heeds && len(w.others) > 0 {
		ctx.Heed = 1
	}
	ctx.Room(w.cta.hits, w.cta.sharedMem, &w.cta.changed)
}

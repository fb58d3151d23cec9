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

// stretch is how many PTX instructions native code executes before it comes back to Go, which may want
// to stop it: less than 100 µs.
const stretch = 1024

// readSources has the special registers that machine code reads compactly, once for each CTA.
func (w *warp) readSources(list []ptx.SpecialReg) []native.Source {
	if w.sourcesOf == 1+w.cta.index {
		return w.sources
	}
	w.sourcesOf, w.sources = 1+w.cta.index, w.sources[:0]
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
	m, f, ctx := c.code.native, &w.files[0], &c.native
	ctx.Mask, ctx.Live, ctx.Stop, ctx.Heed = uint32(w.mask), uint32(w.live), w.stop, 0
	if w.heeds && len(w.others) > 0 {
		ctx.Heed = 1
	}
	ctx.Room(c.hits, c.sharedMem, &c.changed)
	if !m.Ready(ctx) {
		return Portable.run(w, budget)
	}
	if len(m.Sources) > 0 {
		ctx.Read(w.readSources(m.Sources))
	}
	enough := w.count.WarpInstructions + int64(budget)
	for at, begins := w.pc, true; ; {
		ctx.Count = w.count.WarpInstructions
		ctx.Enough = min(enough, ctx.Count+stretch)
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

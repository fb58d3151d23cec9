package fuzz

// This file finds out which instruction wrote a word of a result.

import (
	"context"
	"fmt"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// Writer is who wrote a word of a result last.
type Writer struct {
	Instr      *ptx.Instr
	CTA        int // index of the CTA
	Warp, Lane int
	Made       []*ptx.Instr // that had written, last before, the registers that Instr wrote to memory, in that lane
}

// String says it in a line or more.
func (w *Writer) String() string {
	if w == nil {
		return "nothing wrote it: it is zero"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "line %d wrote it, %s, in cta %d, warp %d, lane %d", w.Instr.Pos.Line, w.Instr.Text, w.CTA, w.Warp, w.Lane)
	for _, in := range w.Made {
		fmt.Fprintf(&b, "\nwhat line %d had made, %s", in.Pos.Line, in.Text)
	}
	return b.String()
}

// Blame runs a program and tells who wrote the word that a byte of its result lies in; nil if nobody did.
func (p *Program) Blame(ctx context.Context, at int) (*Writer, error) {
	m, err := ptx.ParseString("program.ptx", p.Source)
	if err != nil {
		return nil, err
	}
	b := &blame{at: uint64(at &^ 3), made: map[place]*ptx.Instr{}}
	_, err = p.run(ctx, m, &interp.Launch{Mode: interp.Vector}, []interp.Probe{b})
	return b.last, err
}

// blame is the probe.
type blame struct {
	at     uint64 // within the result
	word   uint64 // address
	buffer int    // buffers so far
	made   map[place]*ptx.Instr
	last   *Writer
}

// place is a register of a lane.
type place struct {
	cta, warp, lane, depth int
	reg                    ptx.RegID
}

func (b *blame) Wants() interp.Wants {
	return interp.Wants{Events: interp.OnAlloc | interp.OnAfter | interp.OnReturn | interp.OnWake, Values: true, Addresses: true, InOrder: true}
}

func (b *blame) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink { return b }

func (b *blame) Tell(e *interp.Event) {
	switch e.Kind {
	case interp.OnAlloc:
		if e.Memory.Kind == interp.BufferMemory {
			if b.buffer++; b.buffer == 2 {
				b.word = e.Memory.Base + b.at
			}
		}
		return
	case interp.OnAfter:
		b.wrote(e)
	}
	for i := range e.Writes {
		for lane := range 64 {
			if e.Lanes>>lane&1 != 0 {
				b.made[place{e.CTA, e.Warp, lane, e.Depth, e.Writes[i].Reg}] = e.Instr
			}
		}
	}
}

// wrote looks whether an instruction has written the word.
func (b *blame) wrote(e *interp.Event) {
	for _, a := range e.Accesses {
		if a.Kind == interp.AccessLoad {
			continue
		}
		for lane := range 64 {
			if e.Lanes&a.Lanes>>lane&1 == 0 || a.Addr[lane] >= b.word+4 || a.Addr[lane]+uint64(a.Length(lane)) <= b.word {
				continue
			}
			w := &Writer{Instr: e.Instr, CTA: e.CTA, Warp: e.Warp, Lane: lane}
			if i := e.Instr.Form.Operand("b"); i >= 0 {
				b.sources(e, &e.Instr.Ops[i], lane, w)
			}
			b.last = w
		}
	}
}

// sources finds out who made the registers of an operand.
func (b *blame) sources(e *interp.Event, o *ptx.Operand, lane int, w *Writer) {
	if o.Kind == ptx.RegOperand {
		if in := b.made[place{e.CTA, e.Warp, lane, e.Depth, o.Reg}]; in != nil {
			w.Made = append(w.Made, in)
		}
	}
	for i := range o.Elems() {
		b.sources(e, &o.Elems()[i], lane, w)
	}
}

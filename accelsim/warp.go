package accelsim

// This file writes the instructions of warps.

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// addressOpcodes are the opcodes that need addresses; a simulator stops at such an opcode without addresses.
var addressOpcodes = set("LDG LD LDS LDL LDSM LDGSTS STG ST STS STL ATOMG ATOM ATOMS RED")

// operations are the modifiers that name the operation of an atomic.
var operations = set("add exch cas and or xor min max inc dec")

// add writes an instruction. memory is the rest of the line from the width on: "0" for an instruction without access.
func (w *warp) add(pc int, lanes uint32, dest int, opcode string, sources []int, memory string, imm int64) {
	w.text = fmt.Appendf(w.text, "%04x %08x ", pc, lanes)
	if dest >= 0 {
		w.text = fmt.Appendf(w.text, "1 R%d ", dest)
	} else {
		w.text = append(w.text, "0 "...)
	}
	w.text = fmt.Appendf(w.text, "%s %d ", opcode, len(sources))
	for _, r := range sources {
		w.text = fmt.Appendf(w.text, "R%d ", r)
	}
	if strings.Contains(opcode, "GMMA") { // 0: the instruction does not close a wgmma group, because a separate instruction does
		w.text = append(w.text, "0 "...)
	}
	w.text = fmt.Appendf(w.text, "%s %d\n", memory, imm)
	w.instrs++
}

// executed writes the SASS of a PTX instruction.
func (c *cta) executed(e *probe.Event) {
	op, w := &c.ops[e.Index], &c.warps[e.Warp]
	lanes := uint32(e.Lanes)
	if op.jumps && lanes == 0 {
		lanes = uint32(e.Active) // the branch is executed but not taken
	}
	if lanes == 0 || op.exits || op.returns && e.Depth == 0 { // lanes that end have separate events
		return
	}
	for i, opcode := range op.opcodes {
		pc, sources := op.pc+i*pcStep, op.sources
		if i > 0 && op.dest >= 0 { // it depends on the result of the previous opcode
			sources = append([]int{op.dest}, sources[:min(len(sources), maxSources-1)]...)
		}
		dest := op.dest
		if !addressOpcodes[stem(opcode)] {
			w.add(pc, lanes, dest, opcode, sources, "0", op.imm)
			continue
		}
		k := 0
		line := func(opcode string, lanes uint32, bytes int, addr func(lane int) uint64) {
			w.add(pc+min(k, op.places-1)*pcStep, lanes, dest, opcode, sources, fmt.Sprintf("%d %s", bytes, addresses(lanes, addr)), 0)
			k++
		}
		for j := range e.Accesses {
			a := &e.Accesses[j]
			for offset := 0; offset < max(a.Bytes, 1); offset += 16 {
				line(c.fullOpcode(e.Instr, opcode, a.Space, min(a.Bytes, 16)), lanes&uint32(a.Lanes), min(a.Bytes, 16), func(lane int) uint64 { return a.Addr[lane] + uint64(offset) })
			}
		}
		c.copies(e.Instr, opcode, w.effects, line)
		if k == 0 {
			w.add(pc, lanes, dest, "NOP", nil, "0", 0)
		}
	}
}

// effect records the bytes that an asynchronous operation of the warp will copy.
func (c *cta) effect(e *probe.Event) {
	if !e.Effect.Issued || e.Warp < 0 {
		return
	}
	w := &c.warps[e.Warp]
	for _, p := range e.Effect.Segments {
		if p.Zeros || p.Bytes == 0 {
			continue
		}
		// The source, unless it is in shared memory; then the destination.
		f := effect{lanes: e.Lanes, addr: p.To.Base + p.ToOffset, bytes: p.Bytes, store: true}
		if p.From != nil && !shared(p.From.Base) {
			f.addr, f.store = p.From.Base+p.FromOffset, false
		}
		w.effects = append(w.effects, f)
	}
}

// shared reports whether a generic address is in shared memory.
func shared(addr uint64) bool {
	return addr >= probe.SharedWindow && addr < probe.SharedWindow+probe.WindowSize
}

// copies writes asynchronous copies. Copies of single lanes, of up to 16 bytes each, take a single line; a larger
// copy is written as if all lanes copied 16 bytes each until it is complete.
func (c *cta) copies(instr *ptx.Instr, opcode string, list []effect, line func(opcode string, lanes uint32, bytes int, addr func(lane int) uint64)) {
	var lanes uint32
	var addr [warpSize]uint64
	for i := 0; i < len(list); i++ {
		f := &list[i]
		space := ptx.Global
		op := opcode
		if f.store {
			op = "STG.E"
		}
		if base := f.addr; shared(base) {
			f.addr -= probe.SharedWindow
			space, op = ptx.Shared, "STS"
		}
		if bit := uint32(f.lanes); f.bytes <= 16 && bits.OnesCount32(bit) == 1 {
			lanes |= bit
			addr[bits.TrailingZeros32(bit)] = f.addr
			if i+1 < len(list) && list[i+1].bytes == f.bytes && list[i+1].store == f.store && lanes&uint32(list[i+1].lanes) == 0 {
				continue
			}
			line(c.fullOpcode(instr, op, space, f.bytes), lanes, f.bytes, func(lane int) uint64 { return addr[lane] })
			lanes = 0
			continue
		}
		for offset := 0; offset < f.bytes; offset += 16 * warpSize {
			n := min((f.bytes-offset+15)/16, warpSize)
			line(c.fullOpcode(instr, op, space, 16), uint32(1<<n-1), 16, func(lane int) uint64 { return f.addr + uint64(offset+16*lane) })
		}
	}
}

// fullOpcode returns a memory opcode with its modifiers: operation, width, scope.
func (c *cta) fullOpcode(instr *ptx.Instr, opcode string, space ptx.Space, bytes int) string {
	if instr.Form.Family == ptx.FamilyFragment { // the table row does not depend on the space
		opcode = map[ptx.Space]string{ptx.Global: "LDG.E", ptx.Shared: "LDS", ptx.Generic: "LD.E"}[space]
		if instr.Form.Effects.HasAll(ptx.Writes) {
			opcode = "ST" + opcode[2:]
		}
	}
	if instr.Form.Family == ptx.FamilyTile {
		return opcode
	}
	var b strings.Builder
	b.WriteString(opcode)
	if instr.Form.Effects.HasAll(ptx.Atomic) {
		for _, m := range instr.Modifiers() {
			if operations[m] {
				b.WriteString("." + strings.ToUpper(m))
			}
		}
	}
	switch bytes {
	case 1, 2:
		fmt.Fprintf(&b, ".U%d", 8*bytes)
	case 8, 16:
		fmt.Fprintf(&b, ".%d", 8*bytes)
	}
	switch {
	case instr.Has("nc"):
		b.WriteString(".CONSTANT")
	case instr.Form.Effects.Any(ptx.Strong|ptx.Atomic) && space != ptx.Shared:
		scope := map[string]string{"cta": "SM", "cluster": "SM", "sys": "SYS"}[instr.Slot("scope")]
		if scope == "" {
			if scope = "GPU"; instr.Has("volatile") {
				scope = "SYS"
			}
		}
		b.WriteString(".STRONG." + scope)
	}
	return b.String()
}

// addresses formats the addresses of lanes. The format has three forms, by the first number: 0, all addresses; 1, the first
// address and a constant stride, for consecutive lanes; 2, the first address and the differences. Form 1 is used if
// possible, otherwise the shorter form.
func addresses(lanes uint32, addr func(lane int) uint64) string {
	first := bits.TrailingZeros32(lanes)
	run := lanes >> first
	base, last := addr(first), addr(first)
	var stride int64
	even := run&(run+1) == 0
	all := []byte("0")
	deltas := fmt.Appendf(nil, "2 0x%x", base)
	for m, i := lanes, 0; m != 0; m, i = m&(m-1), i+1 {
		a := addr(bits.TrailingZeros32(m))
		all = fmt.Appendf(all, " 0x%x", a)
		if i == 0 {
			continue
		}
		d := int64(a - last)
		if i == 1 {
			stride = d
		}
		even = even && d == stride && d == int64(int32(d))
		deltas = append(deltas, ' ')
		deltas = strconv.AppendInt(deltas, d, 10)
		last = a
	}
	switch {
	case even:
		return fmt.Sprintf("1 0x%x %d", base, stride)
	case len(deltas) < len(all):
		return string(deltas)
	}
	return string(all)
}

// reader returns the text that the warp has written.
func (c *cta) reader(w *warp) io.Reader {
	var parts []io.Reader
	for _, p := range w.spilled {
		parts = append(parts, io.NewSectionReader(c.spill, p.offset, p.size))
	}
	return io.MultiReader(append(parts, bytes.NewReader(w.text))...)
}

// write writes the CTA.
func (c *cta) write() {
	defer func() { c.warps = nil }()
	if c.packer != nil {
		c.packer.cta(c.info, c.id, len(c.warps))
		for i := range c.warps {
			w := &c.warps[i]
			if c.err = c.packer.warp(w.instrs, c.reader(w)); c.err != nil {
				return
			}
			c.bytesInMemory -= len(w.text)
		}
		return
	}
	fmt.Fprintf(c.out, "#BEGIN_TB\n\nthread block = %d,%d,%d\n", c.id.X, c.id.Y, c.id.Z)
	for i := range c.warps {
		w := &c.warps[i]
		fmt.Fprintf(c.out, "\nwarp = %d\ninsts = %d\n", i, w.instrs)
		if _, err := io.Copy(c.out, c.reader(w)); err != nil {
			c.err = err
			return
		}
		c.bytesInMemory -= len(w.text)
	}
	fmt.Fprint(c.out, "\n#END_TB\n\n")
}

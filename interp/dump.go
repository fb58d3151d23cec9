package interp

// This file prints lowered code.

import (
	"fmt"
	"io"
	"strings"

	"gemu/interp/internal/code"
	"gemu/ptx"
)

// FprintLowered writes the lowered code of a kernel: its blocks, and per
// instruction the PTX it comes from and the kernels it runs with their rows (r
// 32-bit, q 64-bit, p predicate, # constant).
func (m *Module) FprintLowered(w io.Writer, k *ptx.Func) error {
	m.dev.mu.Lock()
	defer m.dev.mu.Unlock()
	c, err := m.lowered(kernelKey{k, lowerOptions{width: 32, pack: true}})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "kernel %s: %d blocks, %d constants, %d bytes of parameters, %d of static shared memory\n", k.Name, len(c.blocks), len(c.consts.R)+len(c.consts.Q)+len(c.consts.P), c.paramLen, c.sharedLen)
	if c.ordered {
		fmt.Fprintln(w, "CTAs take turns at visible instructions")
	}
	for i := range c.blocks {
		b := &c.blocks[i]
		if int32(i) == b.fn.entry {
			fmt.Fprintf(w, "\nfunction %s: rows %d r, %d q, %d p; %d words of local memory\n", b.fn.fn.Name, b.fn.frame.R, b.fn.frame.Q, b.fn.frame.P, b.fn.local)
		}
		fmt.Fprintf(w, "b%d:", i)
		if b.visible {
			fmt.Fprint(w, " visible")
		}
		fmt.Fprintln(w)
		last := int32(-1)
		for j := range b.insts {
			in := &b.insts[j]
			if in.Src != last {
				fmt.Fprintf(w, "  %4d  %s\n", c.instrs[in.Src].Pos.Line, c.instrs[in.Src].Format(b.fn.fn))
				last = in.Src
			}
			fmt.Fprintf(w, "          %s%s\n", guardText(in.Guard), c.instrText(in))
		}
		if b.src != nil && int32(b.src.index) != last {
			fmt.Fprintf(w, "  %4d  %s\n", b.src.Pos.Line, b.src.Format(b.fn.fn))
		}
		fmt.Fprintf(w, "          %s%s\n", guardText(b.guard), b.end())
	}
	return nil
}

func guardText(g int32) string {
	switch {
	case g > 0:
		return fmt.Sprintf("@p%d ", g-1)
	case g < 0:
		return fmt.Sprintf("@!p%d ", -g-1)
	}
	return ""
}

// end says how control leaves the block.
func (b *block) end() string {
	switch b.term {
	case termNext:
		return fmt.Sprintf("next b%d", b.next)
	case termBranch:
		return fmt.Sprintf("branch b%d, else b%d; meet at b%d", b.target, b.next, b.join)
	case termIndex:
		return fmt.Sprintf("index b%v; meet at b%d", b.targets, b.join)
	case termReturn:
		return fmt.Sprintf("return, else b%d", b.next)
	case termPop:
		return "pop frame"
	case termExit:
		return "exit"
	case termCall:
		if b.call.target != nil {
			return fmt.Sprintf("call %s, then b%d", b.call.target.fn.Name, b.next)
		}
		return fmt.Sprintf("call %s, then b%d", rowText(b.call.pointer.Slot, b.call.pointer.Row), b.next)
	}
	return fmt.Sprintf("barrier, then b%d", b.next)
}

func rowText(s code.Slot, i int32) string {
	if i < 0 {
		return fmt.Sprintf("#%s%d", s, ^i)
	}
	return fmt.Sprintf("%s%d", s, i)
}

// instrText names what an instruction runs and its rows.
func (c *prepared) instrText(in *code.Instr) string {
	s := in.Op.Signature()
	var operands []string
	add := func(slot code.Slot, row int32) {
		if slot != code.NoSlot && row != code.NoRow {
			operands = append(operands, rowText(slot, row))
		}
	}
	add(s.Dst, in.D)
	add(s.Dst2, in.F)
	for i, row := range in.Sources() {
		if !s.Compare || i < 2 || in.Imm != 0 {
			add(s.Src[i], row)
		}
	}
	text := s.Name + " " + strings.Join(operands, ", ")
	if s.Side != code.AccessSide {
		return text
	}
	a := &c.Access[in.Side]
	for _, e := range a.Elems {
		if e.Slot == code.NoSlot {
			operands = append(operands, "_")
		} else {
			operands = append(operands, rowText(e.Slot, e.Row))
		}
	}
	base := ""
	if a.Addr != code.NoSlot {
		base = rowText(a.Addr, in.A)
	}
	request := a.Request()
	return fmt.Sprintf("%s %s of %d bytes [%s%+d] {%s}", s.Name, &request, a.Size, base, int64(a.Off), strings.Join(operands, " "))
}

// Supports reports whether an instruction variant is legal PTX (the table's
// notation allows some combinations that a rule forbids), and whether gemu runs
// it.
func Supports(v *ptx.Variant) (legal, runs bool) {
	m, err := NewDevice(Config{}).Load("example.ptx", []byte(v.Example()))
	if err != nil {
		return false, false
	}
	return true, m.Prepare("") == nil
}

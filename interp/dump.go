package interp

// This file prints lowered code.

import (
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"

	"gemu/interp/internal/alu"
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
		var last *instr
		for j := range b.insts {
			in := &b.insts[j]
			if in.src != last {
				fmt.Fprintf(w, "  %4d  %s\n", in.src.Pos.Line, in.src.Format(b.fn.fn))
				last = in.src
			}
			fmt.Fprintf(w, "          %s%s\n", guardText(in.guard), in)
		}
		if b.src != nil && b.src != last {
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
		return fmt.Sprintf("call %s, then b%d", rowText(b.call.pointer.slot, b.call.pointer.row), b.next)
	}
	return fmt.Sprintf("barrier, then b%d", b.next)
}

func rowText(s alu.Slot, i int32) string {
	name := map[alu.Slot]string{alu.R: "r", alu.Q: "q", alu.P: "p"}[s]
	if i < 0 {
		return fmt.Sprintf("#%s%d", name, ^i)
	}
	return fmt.Sprintf("%s%d", name, i)
}

// String names what the instruction runs and its rows.
func (in *inst) String() string {
	if in.op != nil {
		s := in.op.Key
		sep := " "
		if in.D != alu.NoPred {
			s += sep + rowText(in.op.Dst, in.D)
			sep = ", "
		}
		rows := []int32{in.A, in.B, in.C, in.E}
		for i, slot := range in.op.Src {
			if slot != alu.NoSlot {
				s += sep + rowText(slot, rows[i])
				sep = ", "
			}
		}
		return s
	}
	// A lane function: its own name.
	name := runtime.FuncForPC(reflect.ValueOf(in.lane).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimPrefix(name, "interp.")
	name, _, _ = strings.Cut(name, "[")
	a := in.mem
	if a == nil || a.elems == nil {
		return name
	}
	var regs []string
	for _, e := range a.elems {
		if e.slot == alu.NoSlot {
			regs = append(regs, "_")
		} else {
			regs = append(regs, rowText(e.slot, e.row))
		}
	}
	base := ""
	if a.addr != alu.NoSlot {
		base = rowText(a.addr, a.row)
	}
	request := a.request()
	return fmt.Sprintf("%s %s of %d bytes [%s%+d] {%s}", name, &request, a.size, base, int64(a.off), strings.Join(regs, " "))
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

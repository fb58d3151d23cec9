package spill_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
	"gemu/ptx/spill"
)

// run runs a workload with other PTX than its own.
func run(t *testing.T, w *kernels.Workload, src string, n int, mode interp.Mode) error {
	t.Helper()
	dev := interp.NewDevice(interp.Config{})
	s, err := kernels.Start(t.Context(), w, dev, n)
	if err != nil {
		t.Fatal(err)
	}
	if s.Module, err = dev.Load(w.Name+".ptx", []byte(src)); err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = mode }
	return w.Run(s)
}

// TestWorkloads rewrites every workload to several numbers of registers, down to the fewest that its
// instructions need, and compares what it computes with the host's reference.
func TestWorkloads(t *testing.T) {
	for _, w := range kernels.All() {
		t.Run(w.Name, func(t *testing.T) {
			m, err := ptx.ParseString(w.Name+".ptx", w.PTX())
			if err != nil {
				t.Fatal(err)
			}
			least, base := 1, 0
			for _, f := range m.Kernels() {
				r, err := spill.RangeOf(f)
				if err != nil {
					t.Fatal(err)
				}
				least, base = max(least, r.Least), max(base, r.Base)
			}
			for i, regs := range []int{least, (least + base) / 2, base} {
				src, funcs, err := spill.Module(m, regs)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%+v", funcs)
				if err := disjoint(src, regs); err != nil {
					t.Errorf("%d registers: %v", regs, err)
				}
				if err := run(t, w, src, min(33, 1+w.N/16), []interp.Mode{interp.Check, interp.Vector}[i%2]); err != nil {
					t.Errorf("%d registers: %v", regs, err)
				}
			}
		})
	}
}

// units are the physical registers that a register's name says: %d3_7 is in 3 and 7.
func units(name string) (list []int) {
	for _, s := range strings.Split(strings.TrimLeft(name, "%_bhrdq"), "_") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// disjoint checks, by package ptx's own liveness, that registers which have the same physical
// register in their names are never live at the same time, and that there are no more than regs.
// Running would not show it: for PTX they are different registers.
func disjoint(src string, regs int) error {
	m, err := ptx.ParseString("spilled.ptx", src)
	if err != nil {
		return err
	}
	for _, f := range m.Kernels() {
		holds := make([][]int, len(f.Regs))
		for r, reg := range f.Regs {
			if reg.Type == ptx.Pred {
				continue
			}
			holds[r] = units(reg.Name)
			if want := max(1, reg.Type.Bits()/32); len(holds[r]) != want {
				return fmt.Errorf("%s is in %d registers, want %d", reg.Name, len(holds[r]), want)
			}
			for _, u := range holds[r] {
				if u >= regs {
					return fmt.Errorf("%s, and there are %d registers", reg.Name, regs)
				}
			}
		}
		l := f.Liveness()
		for b, block := range f.Blocks {
			at := make([]ptx.RegID, regs) // by physical register: who is live in it
			for u := range at {
				at[u] = ptx.NoReg
			}
			enter := func(in *ptx.Instr, r ptx.RegID) error {
				for _, u := range holds[r] {
					if at[u] != ptx.NoReg && at[u] != r {
						return fmt.Errorf("line %d: %s and %s are live", in.Pos.Line, f.Regs[r].Name, f.Regs[at[u]].Name)
					}
					at[u] = r
				}
				return nil
			}
			leave := func(r ptx.RegID) {
				for _, u := range holds[r] {
					at[u] = ptx.NoReg
				}
			}
			for r := range f.Regs {
				if l.Out(b, ptx.RegID(r)) {
					if err := enter(&ptx.Instr{}, ptx.RegID(r)); err != nil {
						return err
					}
				}
			}
			for i := len(block.Instrs) - 1; i >= 0; i-- {
				in := block.Instrs[i]
				for r := range in.Defs() {
					if err := enter(in, r); err != nil {
						return err
					}
				}
				if in.Guard.Reg == ptx.NoReg {
					for r := range in.Defs() {
						leave(r)
					}
				}
				for r := range in.Uses() {
					if err := enter(in, r); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

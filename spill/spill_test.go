package spill_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
	"gemu/spill"
)

// run runs a workload with the given PTX instead of its own.
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

// unsupported lists the workloads that cannot be rewritten.
var unsupported = []string{"gemm_tcgen05", "gemm_wgmma"}

// TestSpilledWorkloads rewrites every workload to several numbers of registers, down to the minimum of its
// instructions, and compares the results with the host's reference. Instructions of unsupported workloads use registers
// after the next instruction.
func TestSpilledWorkloads(t *testing.T) {
	part.SkipShort(t)
	for _, w := range kernels.All() {
		t.Run(w.Name, func(t *testing.T) {
			m, err := ptx.ParseString(w.Name+".ptx", w.PTX())
			if err != nil {
				t.Fatal(err)
			}
			minimum, base := 1, 0
			for _, f := range m.Kernels() {
				r, err := spill.RangeOf(t.Context(), f)
				if slices.Contains(unsupported, w.Name) {
					if err == nil || !strings.Contains(err.Error(), "uses its registers after the next instruction") {
						t.Fatal(err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				minimum, base = max(minimum, r.Min), max(base, r.Base)
			}
			for i, regs := range []int{minimum, (minimum + base) / 2, base} {
				src, funcs, err := spill.Module(t.Context(), m, regs)
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

// units returns the physical registers in a register's name: %d3_7 is in 3 and 7.
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

// disjoint checks, with the liveness analysis of package ptx, that registers with a common physical register in their
// names are never live at the same time, and that there are at most regs. Running would not show it: for PTX they are
// different registers.
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
			at := make([]ptx.RegID, regs) // by physical register: the register live in it
			for u := range at {
				at[u] = ptx.NoReg
			}
			enter := func(instr *ptx.Instr, r ptx.RegID) error {
				for _, u := range holds[r] {
					if at[u] != ptx.NoReg && at[u] != r {
						return fmt.Errorf("line %d: %s and %s are live", instr.Pos.Line, f.Regs[r].Name, f.Regs[at[u]].Name)
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
				if l.LiveOut(b, ptx.RegID(r)) {
					if err := enter(&ptx.Instr{}, ptx.RegID(r)); err != nil {
						return err
					}
				}
			}
			for i := len(block.Instrs) - 1; i >= 0; i-- {
				instr := block.Instrs[i]
				for r := range instr.Defs() {
					if err := enter(instr, r); err != nil {
						return err
					}
				}
				if instr.Guard.Reg == ptx.NoReg {
					for r := range instr.Defs() {
						leave(r)
					}
				}
				for r := range instr.Uses() {
					if err := enter(instr, r); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// TestUnsupportedFunctions checks that unsupported functions are rejected with their place.
func TestUnsupportedFunctions(t *testing.T) {
	const head = ".version 8.0\n.target sm_90a\n.address_size 64\n"
	for _, c := range []struct{ src, want string }{
		{".entry k()\n{\n\t.reg .u64 %a, %b, %c;\n\tadd.u64 %a, %b, %c;\n}\n", "k.ptx:7:2: k: this instruction needs 4 registers of 32 bits, but only 3 are available"},
		{".reg .u32 %a;\n.entry k()\n{\n\tmov.u32 %a, 1;\n}\n", "k: registers and local variables at module level"},
		{".func f(.reg .u32 %a)\n{\n\tret;\n}\n", "k.ptx:4:19: f: parameters and results in registers"},
		{".entry k()\n{\n\t.reg .b32 %r<4>;\n\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, 0, 0, 1, 1, 1, 0, 0;\n}\n", "uses its registers after the next instruction"},
	} {
		head := head
		if strings.HasPrefix(c.src, ".reg") { // a version that has them
			head = ".version 2.3\n.target sm_20\n.address_size 64\n"
		}
		m, err := ptx.ParseString("k.ptx", head+c.src)
		if err != nil {
			t.Errorf("%v\n%s", err, c.src)
			continue
		}
		_, _, err = spill.Module(t.Context(), m, 3)
		var e *spill.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q of\n%s", err, c.want, c.src)
		}
	}
}

// TestGuardedResults checks that the result of a guarded instruction is stored in the lanes that it writes, even if it
// writes its guard, and that other lanes keep their values.
func TestGuardedResults(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %x, %y, %z, %_r0, %a, %b, %c;
	.reg .u64 %p, %o;
	.reg .pred %q, %r0;
	mov.u32 %t, %tid.x;
	mad.lo.u32 %x, %t, 3, 7;
	xor.b32 %y, %x, 5;
	mul.lo.u32 %z, %y, %x;
	mul.lo.u32 %a, %x, %y;
	mul.lo.u32 %b, %x, %z;
	mul.lo.u32 %c, %z, %y;
	setp.lt.u32 %q, %t, 16;
	setp.ge.u32 %r0, %t, 8;
	@%q add.u32 %y, %y, %z;
	@%r0 shfl.sync.idx.b32 %x|%r0, %y, 9, 31, 0xffffff00;
	@!%q sub.u32 %z, %z, %x;
	ld.param.u64 %p, [out];
	mad.wide.u32 %o, %t, 16, %p;
	mov.u32 %_r0, 77;
	selp.u32 %_r0, 5, %_r0, %r0;
	xor.b32 %x, %x, %a;
	xor.b32 %y, %y, %b;
	xor.b32 %z, %z, %c;
	st.global.v4.u32 [%o], {%x, %y, %z, %_r0};
	ret;
}
`
	m, err := ptx.ParseString("k.ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	result := func(src string) []byte {
		dev := interp.NewDevice(interp.Config{})
		mod, err := dev.Load("k.ptx", []byte(src))
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		b, err := dev.Alloc(512)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mod.Launch(t.Context(), "k", ptx.Dim(1), ptx.Dim(32), b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	want := result(src)
	for regs := 6; regs < 10; regs++ {
		out, funcs, err := spill.Module(t.Context(), m, regs)
		if err != nil {
			t.Fatal(err)
		}
		if err := disjoint(out, regs); err != nil {
			t.Error(err)
		}
		if regs == 6 && funcs[0].Loads == 0 {
			t.Error("nothing is spilled")
		}
		if got := result(out); !bytes.Equal(got, want) {
			t.Errorf("%d registers: another result\n%s", regs, out)
		}
	}
}

// TestCancelledRewrite checks that cancelling the context stops the work.
func TestCancelledRewrite(t *testing.T) {
	m, err := ptx.ParseString("sgemm.ptx", kernels.Lookup("sgemm").PTX())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := spill.Module(ctx, m, 12); !errors.Is(err, context.Canceled) {
		t.Errorf("Module: %v", err)
	}
	if _, err := spill.RangeOf(ctx, m.Kernels()[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("RangeOf: %v", err)
	}
}

package interp

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/code"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
	"gemu/ptx"
)

// In tests every kernel is verified after every pass of lowering.
func init() {
	lower.Verify = true
	debug.SetGCPercent(400) // many small programs
}

// eager returns the options for the maximum of compact execution, with a reference.
func eager() lower.Options {
	launch := machine.Launch{Block: ptx.Dim(32), WarpSize: 32, Mode: machine.Check, CompileEagerly: true, Reconverge: ReconvergerNamed("stack").policy}
	return grid.Lowering(&launch)
}

// TestLoweredKernelsVerify lowers all kernels with one of four options each, with GEMU_TEST=ci with every option;
// init enables the verification.
func TestLoweredKernelsVerify(t *testing.T) {
	part.SkipShort(t)
	files, err := filepath.Glob("../testdata/*/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	workloads, err := filepath.Glob("../kernels/cuda/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	kernels := 0
	for _, name := range append(files, workloads...) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewDevice(Config{}).Load(name, src)
		if err != nil {
			continue // some kernels are invalid on purpose
		}
		costly := eager()
		costly.Eager = false
		for _, k := range m.Kernels() {
			options := []lower.Options{{Width: 32, Pack: true}, {Width: 32}, eager(), costly}
			if !part.TrySample() {
				options = options[kernels%len(options):][:1]
			}
			kernels++
			for _, opt := range options {
				var unsupported *ptx.Unsupported
				if _, err := m.lower(k, opt); err != nil && !errors.As(err, &unsupported) {
					t.Errorf("%s, kernel %s: %v", name, k.Name, err)
				}
			}
		}
	}
	if kernels < 250 {
		t.Errorf("only %d kernels", kernels)
	}
}

// TestVerifierFindsFaults: the verifier finds faults of a program.
func TestVerifierFindsFaults(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out, .param .u32 n)
{
	.reg .u32 %r<9>;
	.reg .u64 %d<9>;
	.reg .pred %p<3>;
	ld.param.u64 %d0, [out];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d1, %r1, 4;
	add.u64 %d2, %d0, %d1;
	setp.lt.u32 %p0, %r1, %r0;
	@!%p0 bra END;
	ld.global.u32 %r2, [%d2];
	add.u32 %r3, %r2, %r1;
	st.global.u32 [%d2], %r3;
END:
	ret;
}
`
	lowered := func() *code.Program {
		m, err := NewDevice(Config{}).Load("k.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.lower(m.Kernels()[0], eager())
		if err != nil {
			t.Fatal(err)
		}
		return c.Program
	}
	find := func(p *code.Program, name string) *code.Instr {
		for i := range p.Instrs {
			if p.Instrs[i].Op.String() == name {
				return &p.Instrs[i]
			}
		}
		t.Fatalf("no %s", name)
		return nil
	}
	for _, c := range []struct {
		name  string
		spoil func(p *code.Program)
		want  string
	}{
		{"nothing", func(p *code.Program) {}, ""},
		{"row", func(p *code.Program) { find(p, "add.u32").D = 1000 }, "D is row r1000, of "},
		{"constant", func(p *code.Program) { find(p, "add.u32").B = -1000 }, "source 1 is row r-1000"},
		{"slot", func(p *code.Program) { p.Access[find(p, "load.u32.qr").Side].Addr = code.P }, "addresses in predicates"},
		{"unwritten", func(p *code.Program) { find(p, "add.u32").A = find(p, "add.u32").D }, "is read before it is written"},
		{"guard", func(p *code.Program) { find(p, "cmp.lt.u32").Guard = 1 }, "its guard is 1, and not that of the PTX instruction"},
		{"negation", func(p *code.Program) { instr := find(p, "branch"); instr.Guard = -instr.Guard }, "and not that of the PTX instruction"},
		{"predicate", func(p *code.Program) { find(p, "cmp.lt.u32").D = code.NoRow }, "is read before it is written"},
		{"operation", func(p *code.Program) { find(p, "add.u32").Op = code.Invalid }, "no operation"},
		{"end", func(p *code.Program) { find(p, "add.u32").Op = code.Jump }, "a block ends at"},
		{"branch", func(p *code.Program) { p.Blocks[0].Target = 2 }, "where no block of the function begins"},
		{"join", func(p *code.Program) { p.Blocks[0].Reconverge = -1 }, "its lanes reconverge at -1"},
		{"source", func(p *code.Program) { find(p, "add.u32").Src = 0 }, "it is part of PTX instruction 0"},
		{"way", func(p *code.Program) { find(p, "store.b32.qr").Plan.Exec = code.CompactLoad }, "it cannot execute as compact"},
		{"nothing", func(p *code.Program) { find(p, "store.b32.qr").Plan = code.ExecPlan{Exec: code.Materialised} }, "it cannot execute as materialised"},
		{"expands", func(p *code.Program) { find(p, "add.u32").Plan.Materialise ^= code.OperandB }, "its operands want"},
		{"dirty", func(p *code.Program) {
			instr := find(p, "mul.wide.u32")
			instr.Plan.LeavesStale = !instr.Plan.LeavesStale
		}, "its operands want"},
		{"in its shadow", func(p *code.Program) { find(p, "add.u32").Plan = code.ExecPlan{} }, "may not be in its row"},
		{"compact", func(p *code.Program) { find(p, "mul.wide.u32").Plan = code.ExecPlan{} }, "q0 may be in its shadow as well"},
		{"proved", func(p *code.Program) {
			f := p.Funcs[0]
			f.Keeping[code.Q][find(p, "mul.wide.u32").D] |= code.StorageProved
		}, "is proved uniform, but this instruction's result is not"},
		{"not proved", func(p *code.Program) { find(p, "mul.wide.u32").Plan.Exec = code.ProvedTwo }, "an operand is not proved uniform"},
		{"fixed", func(p *code.Program) { p.Fixed[0].Guard = 1 }, "a constant of the launch has a guard"},
		{"fixed twice", func(p *code.Program) { p.Fixed = append(p.Fixed, p.Fixed[0]) }, "has another value already"},
		{"result", func(p *code.Program) { find(p, "add.u32").D = code.NoRow }, "it has no result"},
		{"formal", func(p *code.Program) { p.Funcs[0].Formals = []code.ParamPlace{{Slot: code.R, Row: 900}} }, "a parameter is in row r900, of "},
		{"stores", func(p *code.Program) { p.Access[find(p, "load.u32.qr").Side].Store = true }, "it stores: true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := lowered()
			c.spoil(p)
			err := p.Verify(p.Funcs[0])
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestVerifierFindsWrongRows: a row that does not hold the register that an instruction reads is found.
func TestVerifierFindsWrongRows(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %r<9>;
	.reg .u64 %d<9>;
	ld.param.u64 %d0, [out];
	ld.global.u32 %r0, [%d0];
	ld.global.u32 %r1, [%d0+4];
	sub.u32 %r2, %r0, %r1;
	st.global.u32 [%d0], %r2;
	ret;
}
`
	m, err := NewDevice(Config{}).Load("k.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := m.lower(m.Kernels()[0], lower.Options{Width: 32})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := m.lower(m.Kernels()[0], lower.Options{Width: 32, Pack: true})
	if err != nil {
		t.Fatal(err)
	}
	replay := func() error { return packed.Program.Replay(packed.Funcs[0], plain.Program, plain.Funcs[0]) }
	if err := replay(); err != nil {
		t.Fatal(err)
	}
	for i := range packed.Instrs {
		if instr := &packed.Instrs[i]; instr.Op == code.SubU32 {
			instr.A, instr.B = instr.B, instr.A
		}
	}
	if err := replay(); err == nil || !strings.Contains(err.Error(), "operand 0 is r1, which does not hold r0 there") {
		t.Errorf("with its operands swapped: %v", err)
	}
}

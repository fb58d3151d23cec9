package oracle

// This file has the test harness: a device with memory, and a function that applies one instruction to many operands.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"gemu/ptx"
)

const header = ".version 8.8\n.target sm_100\n.address_size 64\n"

// harness is a device with one module.
type harness struct {
	t       testing.TB
	dev     *Device
	mod     *Module
	printed strings.Builder
	launch  Launch // options of later launches
	stats   Stats
}

func newHarness(t testing.TB, src string) *harness {
	t.Helper()
	if !strings.Contains(src, ".version") {
		src = header + src
	}
	m, err := ptx.Parse("test.ptx", []byte(src))
	if err != nil {
		for _, e := range err.(ptx.ErrorList) {
			t.Errorf("%v\n%s", e, e.Snippet())
		}
		t.FailNow()
	}
	r := &harness{t: t}
	r.dev = NewDevice(Config{Stdout: &r.printed})
	if r.mod, err = r.dev.Load(m); err != nil {
		t.Fatal(err)
	}
	return r
}

// alloc allocates global memory.
func (r *harness) alloc(size int) uint64 {
	r.t.Helper()
	addr, err := r.dev.Alloc(uint64(size))
	if err != nil {
		r.t.Fatal(err)
	}
	return addr
}

// buffer allocates global memory with the given 32-bit words.
func (r *harness) buffer(words ...uint32) uint64 {
	address := r.alloc(4 * len(words))
	for i, w := range words {
		r.write(address+uint64(4*i), bytesOf(value{lo: uint64(w)}, 4))
	}
	return address
}

// read returns n bytes of memory.
func (r *harness) read(addr uint64, n int) []byte {
	r.t.Helper()
	_, b, err := r.dev.bytesAt(ptx.Generic, addr, n, false)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *harness) write(addr uint64, p []byte) {
	r.t.Helper()
	copy(r.read(addr, len(p)), p)
}

// words returns 32-bit words of memory.
func (r *harness) words(addr uint64, n int) []uint32 {
	r.t.Helper()
	b := r.read(addr, 4*n)
	w := make([]uint32, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

// tryRun launches a kernel. Arguments are integers, floats or byte slices.
func (r *harness) tryRun(kernel string, grid, block int, args ...any) error {
	r.t.Helper()
	l := r.launch
	l.Kernel = kernel
	if l.Grid == [3]int{} {
		l.Grid = [3]int{grid, 1, 1}
	}
	if l.Block == [3]int{} {
		l.Block = [3]int{block, 1, 1}
	}
	for i, p := range r.mod.Lookup(kernel).(*ptx.Func).Params {
		var bits uint64
		raw := make([]byte, 0, 8)
		switch a := args[i].(type) {
		case int:
			bits = uint64(a)
		case uint32:
			bits = uint64(a)
		case uint64:
			bits = a
		case float32:
			bits = uint64(math.Float32bits(a))
		case float64:
			bits = math.Float64bits(a)
		case []byte:
			raw = a
		default:
			r.t.Fatalf("argument %T", a)
		}
		if len(raw) == 0 {
			raw = bytesOf(value{lo: bits}, p.Size())
		}
		l.Args = append(l.Args, raw)
	}
	var err error
	r.stats, err = r.mod.Run(context.Background(), &l)
	return err
}

// mustRun launches a kernel that must not fault.
func (r *harness) mustRun(kernel string, grid, block int, args ...any) {
	r.t.Helper()
	if err := r.tryRun(kernel, grid, block, args...); err != nil {
		r.t.Fatal(err)
	}
}

// apply executes an instruction for each case, in a thread of its own. Cases hold the bits of the source operands in
// order, results the bits of the destinations. Constant operands come from the first case.
func apply(t testing.TB, opcode string, cases ...[]uint64) [][]uint64 {
	t.Helper()
	v, err := ptx.LookupVariant(opcode)
	if err != nil {
		t.Fatal(err)
	}
	const slots = 8
	var decl, load, store, ops strings.Builder
	dsts, srcs := 0, 0
	argCount := len(cases[0])
	for i, spec := range v.Form.Operands {
		bits := max(v.OperandType(i).Bits(), 1)
		wide := max(bits, 16) // width of its register
		sep := ", "
		if i == 0 {
			sep = ""
		} else if spec.Pair {
			sep = "|"
		}
		if spec.Writes() {
			name := fmt.Sprintf("%%d%d", dsts)
			if bits == 1 {
				fmt.Fprintf(&decl, ".reg .pred %s;\n", name)
				fmt.Fprintf(&store, "selp.u32 %%w, 1, 0, %s;\nst.global.u32 [%%out+%d], %%w;\n", name, 8*dsts)
			} else {
				fmt.Fprintf(&decl, ".reg .b%d %s;\n", wide, name)
				fmt.Fprintf(&store, "st.global.b%d [%%out+%d], %s;\n", wide, 8*dsts, name)
			}
			dsts++
			ops.WriteString(sep + name)
			continue
		}
		if srcs == argCount {
			continue // an absent optional operand
		}
		if spec.Const {
			fmt.Fprintf(&ops, "%s%d", sep, cases[0][srcs])
			srcs++
			continue
		}
		name := fmt.Sprintf("%%s%d", srcs)
		if bits == 1 {
			fmt.Fprintf(&decl, ".reg .pred %s;\n", name)
			fmt.Fprintf(&load, "ld.global.u32 %%w, [%%in+%d];\nsetp.ne.u32 %s, %%w, 0;\n", 8*srcs, name)
		} else {
			fmt.Fprintf(&decl, ".reg .b%d %s;\n", wide, name)
			fmt.Fprintf(&load, "ld.global.b%d %s, [%%in+%d];\n", bits, name, 8*srcs)
		}
		ops.WriteString(sep + name)
		srcs++
	}
	r := newHarness(t, fmt.Sprintf(`
.visible .entry k(.param .u64 in, .param .u64 out) {
	.reg .b32 %%w, %%t;
	.reg .b64 %%in, %%out, %%o;
	%s
	mov.u32 %%t, %%tid.x;
	mul.wide.u32 %%o, %%t, %d;
	ld.param.u64 %%in, [in];
	add.u64 %%in, %%in, %%o;
	ld.param.u64 %%out, [out];
	add.u64 %%out, %%out, %%o;
	%s
	%s %s;
	%s
	ret;
}`, decl.String(), 8*slots, load.String(), opcode, ops.String(), store.String()))
	in, out := r.alloc(8*slots*len(cases)), r.alloc(8*slots*len(cases))
	for i, c := range cases {
		for j, x := range c {
			r.write(in+uint64(8*(slots*i+j)), bytesOf(value{lo: x}, 8))
		}
	}
	r.mustRun("k", 1, len(cases), in, out)
	results := make([][]uint64, len(cases))
	for i := range results {
		for j := range dsts {
			b := r.read(out+uint64(8*(slots*i+j)), 8)
			results[i] = append(results[i], binary.LittleEndian.Uint64(b))
		}
	}
	return results
}

// u returns its arguments as operands.
func u(x ...uint64) []uint64 { return x }

// want is an instruction with operands and its result.
type want struct {
	op   string
	args []uint64
	d    []uint64
}

func checkAll(t *testing.T, tests []want) {
	t.Helper()
	for _, c := range tests {
		got := apply(t, c.op, c.args)[0]
		if fmt.Sprintf("%#x", got) != fmt.Sprintf("%#x", c.d) {
			t.Errorf("%s %#x = %#x, want %#x", c.op, c.args, got, c.d)
		}
	}
}

// checkFunc compares an instruction with a function for many operands.
func checkFunc(t *testing.T, op string, cases [][]uint64, f func(x []uint64) uint64) {
	t.Helper()
	for i, got := range apply(t, op, cases...) {
		if w := f(cases[i]); got[0] != w {
			t.Errorf("%s %#x = %#x, want %#x", op, cases[i], got[0], w)
			return
		}
	}
}

// combine returns every n-tuple of the values.
func combine(n int, values []uint64) [][]uint64 {
	cases := [][]uint64{{}}
	for range n {
		var longer [][]uint64
		for _, c := range cases {
			for _, v := range values {
				longer = append(longer, append(append([]uint64{}, c...), v))
			}
		}
		cases = longer
	}
	return cases
}

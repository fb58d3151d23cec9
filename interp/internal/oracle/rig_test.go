package oracle

// This file is the test rig: a device with memory, and a way to apply one
// instruction to many operands.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"gemu/ptx"
)

const (
	header     = ".version 8.8\n.target sm_100\n.address_size 64\n"
	sharedBase = 0x7000_0000_0000
	localBase  = 0x7100_0000_0000
	window     = 1 << 24
	codeBase   = 0x4000
)

// region is a piece of device memory.
type region struct {
	space ptx.Space
	base  uint64
	bytes []byte
}

// rig is a device with one module.
type rig struct {
	t       testing.TB
	mod     *ptx.Module
	next    uint64
	regions []*region
	symbols map[ptx.Symbol]uint64
	funcs   map[uint64]*ptx.Func
	shared  map[*ptx.Var]uint64
	size    int // of static shared memory
	printed strings.Builder
	launch  Launch // options of the next launches
	stats   Stats
}

func newRig(t testing.TB, src string) *rig {
	t.Helper()
	if !strings.Contains(src, ".version") {
		src = header + src
	}
	mod, err := ptx.Parse("test.ptx", []byte(src))
	if err != nil {
		for _, e := range err.(ptx.ErrorList) {
			t.Errorf("%v\n%s", e, e.Snippet())
		}
		t.FailNow()
	}
	r := &rig{t: t, mod: mod, next: 0x10_0000, symbols: map[ptx.Symbol]uint64{}, funcs: map[uint64]*ptx.Func{}, shared: map[*ptx.Var]uint64{}}
	for i, d := range mod.Decls {
		switch d := d.(type) {
		case *ptx.Func:
			if mod.Lookup(d.Name) == ptx.Symbol(d) {
				at := uint64(codeBase + 64*i)
				r.symbols[d], r.funcs[at] = at, d
			}
			for _, v := range d.Vars {
				r.place(v)
			}
		case *ptx.Var:
			r.place(d)
		}
	}
	for _, v := range mod.Vars() {
		r.initialise(v)
	}
	return r
}

func (r *rig) place(v *ptx.Var) {
	switch v.Space {
	case ptx.Shared:
		at := align(uint64(r.size), uint64(v.Alignment()))
		r.shared[v] = at
		r.size = int(at) + v.Size()
	case ptx.Global, ptx.Const:
		r.symbols[v] = r.alloc(v.Space, v.Size())
	}
}

func (r *rig) initialise(v *ptx.Var) {
	for _, e := range v.Init {
		bits := e.Imm.As(v.Type)
		if e.Sym != nil {
			bits = r.symbols[e.Sym] + uint64(e.Offset)
		}
		r.write(r.symbols[v]+uint64(e.Elem*v.Type.Size()), bytesOf(value{lo: bits}, v.Type.Size()))
	}
}

// alloc makes memory, 256-byte aligned with a gap behind it.
func (r *rig) alloc(space ptx.Space, size int) uint64 {
	at := r.next
	r.regions = append(r.regions, &region{space, at, make([]byte, size)})
	r.next = align(at+uint64(size)+256, 256)
	return at
}

// buffer makes global memory with these 32-bit words.
func (r *rig) buffer(words ...uint32) uint64 {
	at := r.alloc(ptx.Global, 4*len(words))
	for i, w := range words {
		r.write(at+uint64(4*i), bytesOf(value{lo: uint64(w)}, 4))
	}
	return at
}

func (r *rig) find(addr uint64, n int) ([]byte, ptx.Space, error) {
	for _, g := range r.regions {
		if addr >= g.base && addr+uint64(n) <= g.base+uint64(len(g.bytes)) {
			return g.bytes[addr-g.base:][:n], g.space, nil
		}
	}
	return nil, ptx.Generic, fmt.Errorf("nothing at %#x", addr)
}

func (r *rig) Load(space ptx.Space, addr uint64, p []byte) error {
	b, in, err := r.find(addr, len(p))
	if err == nil && space != ptx.Generic && space != in {
		err = fmt.Errorf("%#x is %s memory, not %s", addr, in, space)
	}
	copy(p, b)
	return err
}

func (r *rig) Store(space ptx.Space, addr uint64, p []byte) error {
	b, in, err := r.find(addr, len(p))
	if err == nil && in != ptx.Global {
		err = fmt.Errorf("store to %s memory", in)
	}
	if err == nil {
		copy(b, p)
	}
	return err
}

func (r *rig) SpaceOf(addr uint64) ptx.Space {
	_, space, _ := r.find(addr, 1)
	return space
}

func (r *rig) write(addr uint64, p []byte) {
	b, _, err := r.find(addr, len(p))
	if err != nil {
		r.t.Fatal(err)
	}
	copy(b, p)
}

// words reads 32-bit words.
func (r *rig) words(addr uint64, n int) []uint32 {
	r.t.Helper()
	b, _, err := r.find(addr, 4*n)
	if err != nil {
		r.t.Fatal(err)
	}
	w := make([]uint32, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

// try launches a kernel. Arguments are integers, floats or byte slices.
func (r *rig) try(kernel string, grid, block int, args ...any) error {
	r.t.Helper()
	l := r.launch
	l.Module = r.mod
	l.Kernel, _ = r.mod.Lookup(kernel).(*ptx.Func)
	if l.Grid == [3]int{} {
		l.Grid = [3]int{grid, 1, 1}
	}
	if l.Block == [3]int{} {
		l.Block = [3]int{block, 1, 1}
	}
	l.Memory = r
	l.Symbol = func(s ptx.Symbol) uint64 { return r.symbols[s] }
	l.FuncAt = func(addr uint64) *ptx.Func { return r.funcs[addr] }
	l.SharedWindow, l.LocalWindow, l.WindowSize = sharedBase, localBase, window
	l.SharedAddr = func(v *ptx.Var) (uint64, bool) {
		at, ok := r.shared[v]
		return at, ok
	}
	l.SharedSize = r.size + l.SharedBytes
	l.Printf = func(cta int, s string) { fmt.Fprintf(&r.printed, "%s", s) }
	var block0 []byte
	for i, p := range l.Kernel.Params {
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
		for len(block0)%p.Alignment() != 0 {
			block0 = append(block0, 0)
		}
		block0 = append(block0, raw...)
	}
	l.ParamBase = r.alloc(ptx.Param, len(block0))
	r.write(l.ParamBase, block0)
	var err error
	r.stats, err = Run(context.Background(), &l)
	return err
}

// run launches a kernel that must not fault.
func (r *rig) run(kernel string, grid, block int, args ...any) {
	r.t.Helper()
	if err := r.try(kernel, grid, block, args...); err != nil {
		r.t.Fatal(err)
	}
}

// apply executes an instruction for each case, a thread each: cases hold the
// bits of the source operands in order, results those of the destinations.
// Constant operands come from the first case.
func apply(t testing.TB, opcode string, cases ...[]uint64) [][]uint64 {
	t.Helper()
	v, err := ptx.LookupVariant(opcode)
	if err != nil {
		t.Fatal(err)
	}
	const slots = 8
	var decl, load, store, ops strings.Builder
	dsts, srcs := 0, 0
	given := len(cases[0])
	for i, spec := range v.Form.Operands {
		bits := max(v.OperandType(i).Bits(), 1)
		wide := max(bits, 16) // of its register
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
		if srcs == given {
			continue // an optional operand not given
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
	r := newRig(t, fmt.Sprintf(`
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
	in, out := r.alloc(ptx.Global, 8*slots*len(cases)), r.alloc(ptx.Global, 8*slots*len(cases))
	for i, c := range cases {
		for j, x := range c {
			r.write(in+uint64(8*(slots*i+j)), bytesOf(value{lo: x}, 8))
		}
	}
	r.run("k", 1, len(cases), in, out)
	results := make([][]uint64, len(cases))
	for i := range results {
		for j := range dsts {
			b, _, _ := r.find(out+uint64(8*(slots*i+j)), 8)
			results[i] = append(results[i], binary.LittleEndian.Uint64(b))
		}
	}
	return results
}

// u makes operands.
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

// checkFunc compares an instruction with a function on many operands.
func checkFunc(t *testing.T, op string, cases [][]uint64, f func(x []uint64) uint64) {
	t.Helper()
	for i, got := range apply(t, op, cases...) {
		if w := f(cases[i]); got[0] != w {
			t.Errorf("%s %#x = %#x, want %#x", op, cases[i], got[0], w)
			return
		}
	}
}

// combine makes every n-tuple of the values.
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

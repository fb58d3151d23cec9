package interp

// This file runs kernels with a possibly invalid access to memory: each state space, each kind of address, each shape over
// lanes. Every engine and the oracle must give the same result or trap, and host memory must not change.

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/oracle"
	"gemu/internal/part"
	"gemu/probe"
	"gemu/ptx"
)

// hostile writes a kernel with a possibly invalid access.
type hostile struct {
	strings.Builder
	r        *rand.Rand
	diverged bool // only a part of a warp's threads executes the access
}

func (h *hostile) f(format string, args ...any) { fmt.Fprintf(h, "\t"+format+"\n", args...) }

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Sizes in hostile kernels.
const (
	hostileBytes   = 1040 // size of a buffer
	hostileShared  = 336
	hostileLocal   = 80
	hostileThreads = 40       // threads of a CTA
	hostileGap     = 40_000   // distance to the results, out of reach of the access
	hostileMargin  = 64 << 10 // margin around an allocation, in host memory
)

// base writes a 64-bit address to a register: generic, or the offset in a space.
func (h *hostile) base(to, space string) {
	k := oneOf(h.r, 0, 0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 32, 64, 4096)
	inside := func(size int) int {
		return oneOf(h.r, 0, size/2&^15, size-16, size-8, size-4, size-1, size, -k, size-k, size+k)
	}
	number := func() uint64 {
		return oneOf(h.r, 0, 1, 4, 0xfff, 1<<32, 1<<31, 1<<63, 1<<20, 1<<21, 3<<20, 1<<40, 0x10000000, 0x2000000000000000, ^uint64(0), 1<<32) - uint64(k)
	}
	variable := func(name string, size int, into string) {
		h.f("mov.u64 %s, %s;", to, name)
		if into != "" && space == "" {
			h.f("cvta%s.u64 %s, %s;", into, to, to)
		}
		h.f("add.s64 %s, %s, %d;", to, to, inside(size))
	}
	list := []func(){
		func() { h.f("mov.u64 %s, %d;", to, number()) },
		func() { h.f("mov.u64 %s, %d;", to, -uint64(k)) },
	}
	switch space {
	case "", ".global":
		for _, p := range []string{"in", "out", "freed", "in"} {
			list = append(list, func() { h.f("ld.param.u64 %s, [%s];", to, p); h.f("add.s64 %s, %s, %d;", to, to, inside(hostileBytes)) })
		}
		list = append(list, func() { variable("gvar", 64, ".global") })
	}
	switch space {
	case "":
		list = append(list, func() { variable("svar", hostileShared, ".shared") }, func() { variable("lvar", hostileLocal, ".local") },
			func() { variable("cvar", 64, ".const") }, func() { h.f("mov.u64 %s, callee;", to) },
			func() {
				h.f("mov.u64 %s, in;", to)
				h.f("cvta.param.u64 %s, %s;", to, to)
				h.f("add.s64 %s, %s, %d;", to, to, inside(32))
			},
			func() { // another CTA's shared memory
				h.f("mov.u64 %s, svar;", to)
				h.f("cvta.shared.u64 %s, %s;", to, to)
				h.f("mapa.u64 %s, %s, %d;", to, to, oneOf(h.r, 0, 1, 1, 1, 2, 255))
				h.f("add.s64 %s, %s, %d;", to, to, inside(hostileShared))
			})
	case ".shared":
		list = append(list, func() { variable("svar", hostileShared, "") }, func() { variable("svar", hostileShared, "") }, func() { variable("dyn", 64, "") })
	case ".local":
		list = append(list, func() { variable("lvar", hostileLocal, "") }, func() { variable("lvar", hostileLocal, "") })
	case ".const":
		list = append(list, func() { variable("cvar", 64, "") }, func() { variable("cvar", 64, "") })
	case ".param":
		list = append(list, func() { variable("in", 32, "") }, func() { variable("out", 32, "") })
	}
	list[h.r.IntN(len(list))]()
}

// address writes an address of each lane to %a, in one of the shapes.
func (h *hostile) address(space string) {
	h.base("%a", space)
	stride := oneOf[int64](h.r, 1, 2, 4, 4, 8, 16, 32, -4, -8, -1, 3, 512, 65536, 1<<20, 1<<31, 1<<32, 1<<40, 1<<58, 1<<59, 1<<61, -1<<31)
	switch h.r.IntN(8) {
	case 0, 1: // uniform
	case 2, 3: // affine
		h.f("mad.lo.s64 %%a, %%t, %d, %%a;", stride)
	case 4: // alternating between lanes
		h.base("%b", space)
		h.f("and.b32 %%w, %%tid, %d; setp.eq.u32 %%p, %%w, 0; selp.b64 %%a, %%a, %%b, %%p;", oneOf(h.r, 1, 2, 16))
	case 5: // a single lane differs
		h.base("%b", space)
		h.f("setp.eq.u32 %%p, %%tid, %d; selp.b64 %%a, %%b, %%a, %%p;", h.r.IntN(hostileThreads))
	case 6: // generic
		h.f("mul.lo.u64 %%b, %%t, 2654435761; and.b64 %%b, %%b, %d; add.u64 %%a, %%a, %%b;", oneOf(h.r, 0x3c, 0x3ff, 0x3fc, 0xff8))
	case 7: // affine in a part of the lanes
		h.f("setp.lt.u32 %%p, %%tid, %d; @%%p mad.lo.s64 %%a, %%t, %d, %%a;", h.r.IntN(hostileThreads), stride)
	}
}

// access writes the access.
func (h *hostile) access(space string) {
	kinds := []func(){}
	add := func(n int, f func()) {
		for range n {
			kinds = append(kinds, f)
		}
	}
	typ := func() string { return oneOf(h.r, "u8", "u16", "u32", "u32", "u64", "f32", "f64", "s8") }
	reg := func(t string) string {
		return map[string]string{"u8": "%w", "s8": "%w", "u16": "%h", "u32": "%w", "f32": "%f", "u64": "%v", "f64": "%d", "b32": "%w", "b64": "%v"}[t]
	}
	offset := func() string {
		return oneOf(h.r, "", "", "", "+4", "+-4", "+16", "+2147483647", "+-2147483648", "+1", "+1024")
	}
	ordering := func() string {
		if space == ".const" || space == ".param" || space == ".local" {
			return ""
		}
		return oneOf(h.r, "", "", "", ".volatile", ".relaxed.gpu", ".acquire.gpu")
	}
	add(6, func() { t := typ(); h.f("@%%q ld%s%s.%s %s, [%%a%s];", ordering(), space, t, reg(t), offset()) })
	add(3, func() {
		t := oneOf(h.r, "v2.u32", "v4.u32", "v2.u64", "v4.u8", "v2.f64", "v2.u16")
		n, elem := int(t[1]-'0'), t[3:]
		regs := slices.Repeat([]string{reg(elem)}, n)
		for i := range regs {
			regs[i] += fmt.Sprint(i)
		}
		if space != ".const" && space != ".param" && h.r.IntN(2) == 0 {
			h.f("@%%q st%s.%s [%%a%s], {%s};", space, t, offset(), strings.Join(regs, ", "))
			return
		}
		h.f("@%%q ld%s.%s {%s}, [%%a%s];", space, t, strings.Join(regs, ", "), offset())
	})
	if space != ".const" && space != ".param" {
		add(6, func() {
			t := typ()
			ordering := strings.Replace(ordering(), "acquire", "release", 1)
			h.f("@%%q st%s%s.%s [%%a%s], %s;", ordering, space, t, offset(), reg(t))
		})
	}
	if space == "" || space == ".global" || space == ".shared" {
		add(2, func() {
			t := oneOf(h.r, "u32", "u64", "f32", "b32", "b64")
			switch op := map[bool]string{true: oneOf(h.r, "exch", "cas"), false: oneOf(h.r, "add", "add", "exch")}[t[0] == 'b']; {
			case op == "cas":
				h.f("@%%q atom%s.cas.%s %s, [%%a%s], %s, %s;", space, t, reg(t), offset(), reg(t), reg(t))
			case op == "exch":
				t = "b" + t[1:]
				h.f("@%%q atom%s.exch.%s %s, [%%a%s], %s;", space, t, reg(t), offset(), reg(t))
			case h.r.IntN(2) == 0:
				h.f("@%%q red%s.add.%s [%%a%s], %s;", space, t, offset(), reg(t))
			default:
				h.f("@%%q atom%s.add.%s %s, [%%a%s], %s;", space, t, reg(t), offset(), reg(t))
			}
		})
	}
	if space == "" || space == ".shared" {
		add(1, func() {
			h.f("@%%q mbarrier."+oneOf(h.r, "init%s.b64 [%%a], 1;", "inval%s.b64 [%%a];", "arrive%s.b64 %%v, [%%a];", "test_wait%s.b64 %%p, [%%a], %%v;", "arrive.expect_tx%s.b64 %%v, [%%a], 16;"), space)
		})
	}
	if space == ".shared" {
		add(1, func() {
			h.f("ld.param.u64 %%b, [in];")
			h.f("cvt.u32.u64 %%w, %%a;")
			h.f("@%%q cp.async.ca.shared.global [%%w], [%%b%s], %d; cp.async.wait_all;", offset(), oneOf(h.r, 4, 8, 16))
		})
		add(1, func() { h.f("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%%w0}, [%%a];") })
		add(1, func() { h.f("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%%a], {%%w0};") })
		add(1, func() {
			h.f("mov.u64 %%b, bar; ld.param.u64 %%v, [in];")
			h.f("@%%q mbarrier.init.shared.b64 [%%b], 1;")
			h.f("@%%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%a], [%%v], %d, [%%b];", oneOf(h.r, 16, 64, 1024, 1048560, 0))
		})
	}
	if space == ".shared" || space == ".local" { // by a 32-bit address
		add(2, func() {
			t := typ()
			h.f("cvt.u32.u64 %%w3, %%a; @%%q ld%s.%s %s, [%%w3%s];", space, t, reg(t), offset())
		})
		add(2, func() {
			t := typ()
			h.f("cvt.u32.u64 %%w3, %%a; @%%q st%s.%s [%%w3%s], %s;", space, t, offset(), reg(t))
		})
	}
	if space == ".shared" {
		add(1, func() { h.f("@%%q st.bulk.weak.shared::cta [%%a], %d, 0;", oneOf(h.r, 8, 64, 336, 1<<20)) })
		add(1, func() {
			h.f("mov.u64 %%b, bar; @%%q mbarrier.init.shared.b64 [%%b], 1;")
			h.f("mapa.shared::cluster.u64 %%a, %%a, %d; mapa.shared::cluster.u64 %%b, %%b, 1;", oneOf(h.r, 0, 1))
			h.f("@%%q st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%%a], %%w, [%%b];")
		})
		add(1, func() {
			h.f("mapa.shared::cluster.u64 %%a, %%a, %d; @%%q ld.shared::cluster.u32 %%w, [%%a%s];", oneOf(h.r, 0, 1, 1, 2, 1000), offset())
		})
	}
	if !h.diverged && (space == "" || space == ".global" || space == ".shared") {
		add(1, func() {
			h.f("wmma.load.a.sync.aligned.row.m16n16k16%s.f16 {%%x0, %%x1, %%x2, %%x3, %%x4, %%x5, %%x6, %%x7}, [%%a], %d;", space, oneOf(h.r, 16, 8, 24, 1<<28))
		})
	}
	if space == ".global" {
		add(1, func() {
			h.f("mov.u64 %%b, svar;")
			h.f("@%%q cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%%a], [%%b], %d; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", oneOf(h.r, 16, 64, 336))
		})
		add(1, func() {
			n := oneOf(h.r, 4, 8, 16)
			size := oneOf(h.r, "", "", fmt.Sprintf(", %d", h.r.IntN(n+1)))
			h.f("mov.u32 %%w, svar;")
			h.f("@%%q cp.async.ca.shared.global [%%w%s], [%%a%s], %d%s; cp.async.wait_all;", oneOf(h.r, "", "+16", "+4", "+320", "+336"), offset(), n, size)
		})
		add(1, func() {
			h.f("mov.u64 %%b, svar;")
			h.f("@%%q cp.async.bulk.global.shared::cta.bulk_group [%%a], [%%b], %d; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", oneOf(h.r, 16, 64, 336, 1024))
		})
		add(1, func() {
			h.f("mov.u64 %%b, svar; mov.u64 %%v, bar; @%%q mbarrier.init.shared.b64 [%%v], 1;")
			h.f("@%%q cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%b], [%%a, {%%w}], [%%v];")
		})
		add(1, func() { h.f("@%%q prefetch.global.L2 [%%a];") })
		add(1, func() { h.f("@%%q discard.global.L2 [%%a], 128;") })
		add(1, func() { h.f("@%%q ld.global.nc.u32 %%w, [%%a];") })
		add(1, func() { h.f("@%%q tex.1d.v4.f32.s32 {%%f0, %%f1, %%f2, %%f3}, [%%a, {%%w}];") })
		add(1, func() { h.f("@%%q suld.b.1d.b32.trap %%w, [%%a, {%%w}];") })
	}
	kinds[h.r.IntN(len(kinds))]()
}

// hostileKernel returns a kernel with one possibly invalid access.
func hostileKernel(seed uint64) string {
	h := &hostile{r: rand.New(rand.NewPCG(seed, 0xadd7e55))}
	space := oneOf(h.r, "", "", ".global", ".global", ".shared", ".shared", ".local", ".const", ".param")
	h.WriteString(`.version 8.6
.target sm_100
.address_size 64
.global .align 16 .b8 gvar[64];
.const .align 16 .b8 cvar[64] = {1, 2, 3};
.extern .shared .align 16 .b8 dyn[];
.func callee() { ret; }
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 freed, .param .u64 result)
{
	.reg .pred %p, %q;
	.reg .u16 %h, %h<4>;
	.reg .u32 %tid, %w, %w<4>;
	.reg .u64 %a, %b, %t, %v, %v<4>, %o;
	.reg .b32 %x<8>;
	.reg .f32 %f, %f<4>;
	.reg .f64 %d, %d<4>;
	.shared .align 16 .b8 svar[336];
	.shared .align 8 .b64 bar;
	.local .align 16 .b8 lvar[80];
	mov.u32 %tid, %tid.x; cvt.u64.u32 %t, %tid;
	mov.u16 %h, 1; mov.u32 %w, 7; mov.u64 %v, 9; mov.f32 %f, 0f3f800000; mov.f64 %d, 0d3ff0000000000000;
	mov.u16 %h0, 1; mov.u16 %h1, 2; mov.u16 %h2, 3; mov.u16 %h3, 4;
	mov.u32 %w0, 5; mov.u32 %w1, 6; mov.u32 %w2, 3; mov.u32 %w3, 9;
	mov.u64 %v0, 5; mov.u64 %v1, 6; mov.u64 %v2, 7; mov.u64 %v3, 8;
	mov.f32 %f0, 0f3f800000; mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f3f800000; mov.f32 %f3, 0f3f800000;
	mov.f64 %d0, 0d3ff0000000000000; mov.f64 %d1, 0d3ff0000000000000;
	st.local.u32 [lvar], %tid;
	setp.ge.u32 %q, %tid, 0;
`)
	if h.r.IntN(3) == 0 {
		h.f("setp.%s.u32 %%q, %%tid, %d;", oneOf(h.r, "lt", "ge", "eq", "ne"), h.r.IntN(hostileThreads))
	}
	h.address(space)
	if h.diverged = h.r.IntN(3) == 0; h.diverged {
		h.f("setp.lt.u32 %%p, %%tid, %d; @%%p bra skip;", h.r.IntN(hostileThreads))
	}
	loops := h.r.IntN(4) == 0
	if loops { // the second iteration of the loop is the first invalid one
		h.f("mov.u32 %%w3, 0;\nloop:")
	}
	h.access(space)
	if loops {
		h.f("add.u64 %%a, %%a, %d; add.u32 %%w3, %%w3, 1; setp.lt.u32 %%p, %%w3, 3; @%%p bra loop;", oneOf(h.r, 0, 4, 16, 64, 4096))
	}
	h.WriteString("skip:\n\tld.param.u64 %o, [result]; mov.u32 %w2, %ctaid.x; mad.lo.u32 %w2, %w2, 40, %tid; mad.wide.u32 %o, %w2, 8, %o;\n")
	h.f("cvt.u64.u32 %%b, %%w; xor.b64 %%v, %%v, %%b; mov.b32 %%w, %%f; cvt.u64.u32 %%b, %%w; xor.b64 %%v, %%v, %%b;")
	h.f("st.global.u64 [%%o], %%v;\n\tret;\n}")
	return h.String()
}

// guarded has the memory of allocations, each between margins that must not be written.
type guarded [][]byte

func (g *guarded) allocate(size uint64) ([]byte, func(), error) {
	room := bytes.Repeat([]byte{0xa5}, int(size)+2*hostileMargin)
	data := room[hostileMargin : hostileMargin+int(size) : hostileMargin+int(size)]
	clear(data)
	*g = append(*g, room)
	return data, nil, nil
}

// check returns an error if a margin was written.
func (g guarded) check() error {
	for _, room := range g {
		for _, margin := range [][]byte{room[:hostileMargin], room[len(room)-hostileMargin:]} {
			if i := slices.IndexFunc(margin, func(b byte) bool { return b != 0xa5 }); i >= 0 {
				return fmt.Errorf("memory of the host was written to, byte %d of a margin of an allocation of %d bytes", i, len(room)-2*hostileMargin)
			}
		}
	}
	return nil
}

// hostileOutcome is the outcome of a kernel on an engine.
type hostileOutcome struct {
	err    error
	memory [][]byte
}

// runHostile runs a kernel on an engine.
func runHostile(m *ptx.Module, e engine) (o hostileOutcome, err error) {
	var memory guarded
	dev := NewDevice(Config{Workers: 1, SM: 100, Memory: 1 << 20, Allocate: memory.allocate})
	mod, err := dev.LoadModule(m)
	if err != nil {
		return o, err
	}
	var list []*Buffer
	for i, size := range []int{hostileBytes, hostileBytes, hostileBytes, hostileGap, hostileBytes} {
		data := make([]byte, size)
		for k := range data {
			data[k] = byte(k*7 + i)
		}
		b, err := NewBuffer(dev, data)
		if err != nil {
			return o, err
		}
		list = append(list, b)
	}
	freed := list[2].Addr()
	list[2].Free()
	o.err = e.run(mod, &Launch{Kernel: "k", Grid: ptx.Dim(2), Cluster: ptx.Dim(2), Block: ptx.Dim(hostileThreads), Shared: 64, Args: []any{list[0], list[1], freed, list[4]}, MaxSteps: 1 << 10})
	for _, b := range []*Buffer{list[0], list[1], list[3], list[4], mod.Var("gvar")} {
		o.memory = append(o.memory, bytes.Clone(b.Bytes()))
	}
	return o, memory.check()
}

// hostileAgree runs a kernel on all engines, or on some selected by the seed, and returns an error if they disagree.
func hostileAgree(src string, seed uint64, all bool) error {
	m, err := ptx.Parse("hostile.ptx", []byte(src))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, err.(ptx.ErrorList)[0].Snippet())
	}
	var first hostileOutcome
	for i, e := range engines() {
		if i > 0 && e.name != "oracle" && !all && (seed+uint64(i))%4 != 0 {
			continue
		}
		o, err := runHostile(m, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if i == 0 {
			first = o
			continue
		}
		if err := sameHostile(first, o, e.reconverge == nil); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// sameHostile returns an error if an engine disagrees with the first: exactly, or in the kind and place of traps.
func sameHostile(want, got hostileOutcome, exactly bool) error {
	var trap, other *probe.Trap
	var oracles *oracle.Trap
	switch errors.As(want.err, &trap); {
	case errors.As(got.err, &oracles):
		if trap == nil || !sameFault(oracles.Kind, trap.Kind) || oracles.Instr != nil && oracles.Instr.Pos != trap.Pos {
			return fmt.Errorf("%v, want %v", oracles, want.err)
		}
		return nil
	case errors.As(got.err, &other):
		if trap == nil || trap.Kind != other.Kind || trap.Pos != other.Pos || exactly && trap.Report() != other.Report() {
			return fmt.Errorf("%v, want %v", other.Report(), want.err)
		}
		if !exactly {
			return nil
		}
	case (want.err == nil) != (got.err == nil) || want.err != nil && want.err.Error() != got.err.Error():
		return fmt.Errorf("%v, want %v", got.err, want.err)
	}
	for i := range want.memory {
		if !bytes.Equal(want.memory[i], got.memory[i]) {
			at := 0
			for want.memory[i][at] == got.memory[i][at] {
				at++
			}
			return fmt.Errorf("byte %d of buffer %d is %#x, want %#x (after %v)", at, i, got.memory[i][at], want.memory[i][at], got.err)
		}
	}
	return nil
}

// sameFault reports whether the oracle's kind of fault is the machine's. A misaligned address outside of memory has either kind.
func sameFault(kind string, machine error) bool {
	kinds := oracleKinds[kind]
	if kind == oracle.KindMemory || kind == oracle.KindMisaligned {
		kinds = slices.Concat(oracleKinds[oracle.KindMemory], oracleKinds[oracle.KindMisaligned])
	}
	return slices.Contains(kinds, machine)
}

// FuzzHostile: kernels with a possibly invalid access have the same outcome on every engine.
func FuzzHostile(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		src := hostileKernel(seed)
		if err := hostileAgree(src, seed, false); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}

// TestHostileKernels runs some kernels on all engines.
func TestHostileKernels(t *testing.T) {
	part.SkipShort(t)
	seed := part.Seed(t)
	traps := 0
	for i := range uint64(part.Count(25, 50, 20000)) {
		src := hostileKernel(seed + i)
		if err := hostileAgree(src, seed+i, true); err != nil {
			t.Fatalf("seed %#x: %v\n%s", seed+i, err, src)
		}
		m, _ := ptx.Parse("hostile.ptx", []byte(src))
		if o, _ := runHostile(m, engines()[0]); o.err != nil {
			traps++
		}
	}
	t.Logf("%d of them trap", traps)
}

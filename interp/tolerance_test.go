package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gemu/internal/oracle"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// tolerating are kernels with faults that GPUs ignore. Each gets a buffer of 1024 words; word i is i. The expected values
// follow from the layout of memory.
var tolerating = []struct {
	name, decl, body string
	grid, block      int
	sm               int
	shared           int             // dynamic shared memory, in bytes
	by               probe.Tolerance // tolerance needed to avoid the trap
	times            int64           // tolerated accesses of lanes; 0: it traps in any case
	want             func(i int) uint32
}{
	{"a load past the unit in the second warp", ".shared .align 4 .b8 s[8];", "mov.u32 %x, s; mad.lo.u32 %x, %i, 4, %x; ld.shared.u32 %v, [%x];", 3, 40, 86, 0, probe.SharedUnit, 0, nil},
	{"a load in the unit", ".shared .align 4 .b8 s[8];", "st.shared.u32 [s], 7; st.shared.u32 [s+4], 7; bar.sync 0; mov.u32 %x, s; mad.lo.u32 %x, %i, 4, %x; ld.shared.u32 %v, [%x]; shl.b32 %y, %i, 2; cvt.u64.u32 %b, %y; add.u64 %b, %b, %a; st.global.u32 [%b], %v;",
		3, 32, 86, 0, probe.SharedUnit, 90, func(i int) uint32 { return []uint32{7, 0}[min(i/2, 1)] }},
	{"an older device has larger units", ".shared .align 4 .b8 s[8];", "mov.u32 %x, s; mad.lo.u32 %x, %i, 4, %x; ld.shared.u32 %v, [%x]; shl.b32 %y, %i, 2; cvt.u64.u32 %b, %y; add.u64 %b, %b, %a; st.global.u32 [%b], %v;",
		1, 64, 75, 0, probe.SharedUnit, 62, func(int) uint32 { return 0 }},
	{"a generic address and elements across the end", ".shared .align 16 .b8 s[20];", "mov.u32 %y, 9; st.shared.u32 [s+16], %y; mov.u32 %x, s; cvt.u64.u32 %b, %x; cvta.shared.u64 %b, %b; ld.v4.u32 {%v, %w, %y, %z}, [%b+16]; add.u32 %w, %w, %y; add.u32 %w, %w, %z; st.global.u32 [%a], %v; st.global.u32 [%a+4], %w;",
		2, 5, 86, 0, probe.SharedUnit, 10, func(i int) uint32 { return []uint32{9, 0}[i] }},
	{"dynamic shared memory", ".extern .shared .align 4 .b8 s[];", "mov.u32 %x, s; ld.shared.u32 %v, [%x+140]; add.u32 %v, %v, 3; st.global.u32 [%a], %v;",
		1, 1, 86, 132, probe.SharedUnit, 1, func(int) uint32 { return 3 }},
	{"a fixed address in parted lanes", ".shared .align 4 .b8 s[8];", "setp.gt.u32 %p, %i, 3; @%p bra E; ld.shared.u32 %v, [s+12]; E: add.u32 %v, %v, 5; st.global.u32 [%a], %v;",
		1, 70, 86, 0, probe.SharedUnit, 4, func(int) uint32 { return 5 }},
	{"a load in a loop", ".shared .align 4 .b8 s[8];", "mov.u32 %y, 0; L: ld.shared.u32 %v, [s+8]; add.u32 %y, %y, 1; setp.lt.u32 %p, %y, 10; @%p bra L; st.global.u32 [%a], %v;",
		2, 33, 86, 0, probe.SharedUnit, 660, func(int) uint32 { return 0 }},
	{"a later warp loads first", ".shared .align 4 .b8 s[8];", "setp.lt.u32 %p, %i, 32; @!%p bra L; bar.sync 0; L: ld.shared.u32 %v, [s+8]; @%p bra E; bar.sync 0; E: st.global.u32 [%a], %v;",
		1, 64, 86, 0, probe.SharedUnit, 64, func(int) uint32 { return 0 }},
	{"a store in the unit", ".shared .align 4 .b8 s[8];", "st.shared.u32 [s+8], 1;", 1, 32, 86, 0, probe.SharedUnit, 0, nil},
	{"an atomic in the unit", ".shared .align 4 .b8 s[8];", "atom.shared.add.u32 %v, [s+8], 1;", 1, 32, 86, 0, probe.SharedUnit, 0, nil},
	{"a load past the unit", ".shared .align 4 .b8 s[8];", "ld.shared.u32 %v, [s+128];", 1, 32, 86, 0, probe.SharedUnit, 0, nil},
	{"no shared memory has no unit", "", "mov.u32 %x, 0; ld.shared.u32 %v, [%x];", 1, 32, 86, 0, probe.SharedUnit, 0, nil},
	{"a misaligned load in the unit", ".shared .align 4 .b8 s[8];", "ld.shared.u32 %v, [s+9];", 1, 32, 86, 0, probe.SharedUnit, 0, nil},
	{"ldmatrix in the unit", ".shared .align 16 .b8 s[64];", "mov.u32 %x, s; mad.lo.u32 %x, %i, 16, %x; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%x]; st.global.u32 [%a], %v;",
		1, 32, 86, 0, probe.SharedUnit, 4, func(int) uint32 { return 0 }},
	{"wmma.load of pairs", "", "add.u64 %b, %a, 4; wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%b], 16; shl.b32 %y, %i, 2; cvt.u64.u32 %b, %y; add.u64 %b, %b, %a; st.global.u32 [%b], %h0;",
		1, 32, 86, 0, probe.WMMAAlignment, 16, func(i int) uint32 { return uint32(1 + i/4*8 + i%4) }}, // row i/4 of 8 words begins at word 1
	{"wmma.store of pairs", "", "mov.u32 %h0, %i; mov.b32 %h1, 0; mov.b32 %h2, 0; mov.b32 %h3, 0; add.u64 %b, %a, 4; wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%b], {%h0,%h1,%h2,%h3}, 16;",
		1, 32, 86, 0, probe.WMMAAlignment, 16, func(i int) uint32 { // a row has 8 words: 4 words of matrix piece 0, from lane 4·row + word, and 4 zeros
			if i == 0 || (i-1)%8 >= 4 {
				return 0
			}
			return uint32((i-1)/8*4 + (i-1)%8)
		}},
	{"wmma.load of halves of a pair", "", "add.u64 %b, %a, 2; wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%b], 16;", 1, 32, 86, 0, probe.WMMAAlignment, 0, nil},
	{"wmma.load of columns", "", "add.u64 %b, %a, 2; wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%b], 16; and.b32 %h0, %h0, 65535; shl.b32 %y, %i, 2; cvt.u64.u32 %b, %y; add.u64 %b, %b, %a; st.global.u32 [%b], %h0;",
		1, 32, 86, 0, probe.WMMAAlignment, 16, func(i int) uint32 { // element (row i/4, column 2·(i%4)), in half-words from half-word 1
			half := 1 + i%4*2*16 + i/4
			return uint32(half/2) >> (half % 2 * 16) & 0xffff
		}},
	{"wmma.load misaligned by a byte", "", "add.u64 %b, %a, 1; wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%b], 16;", 1, 32, 86, 0, probe.WMMAAlignment, 0, nil},
	{"wmma.load of f32 takes pairs of 8 bytes", "", "add.u64 %b, %a, 4; wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%b], 16;", 1, 32, 86, 0, probe.WMMAAlignment, 0, nil},
	{"a misaligned load", "", "ld.global.u32 %v, [%a+2];", 1, 32, 86, 0, probe.WMMAAlignment, 0, nil},
}

// tolerance returns the notices of a launch of a kernel of tolerating, and its memory.
func tolerance(t *testing.T, src string, k int, l Launch, cfg Config) (reports []string, times int64, words []uint32, err error) {
	c := &tolerating[k]
	cfg.SM = c.sm
	cfg.OnTolerated = func(n *probe.Tolerated) {
		reports, times = append(reports, n.Report()), times+n.Count
	}
	dev := NewDevice(cfg)
	mod, err := dev.Load("tolerance.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	words = make([]uint32, 1024)
	for i := range words {
		if c.by == probe.WMMAAlignment && !strings.Contains(c.name, "store") {
			words[i] = uint32(i)
		}
	}
	buf, err := NewBuffer(dev, words)
	if err != nil {
		t.Fatal(err)
	}
	l.Kernel, l.Grid, l.Block, l.Shared, l.Args = "k", ptx.Dim(c.grid), ptx.Dim(c.block), c.shared, []any{buf}
	if l.Mode == oracleMode {
		l.Mode = Vector
		twin, err := NewTwin(mod)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := twin.Run(context.Background(), &l, nil, nil); err != nil {
			return nil, 0, nil, err
		}
		times = twin.Tolerated
		twin.Each(func(_ *mem.Allocation, engine, oracle []byte) { copy(engine, oracle) })
	} else if _, err = mod.Run(context.Background(), &l); err != nil {
		return reports, times, nil, err
	}
	return reports, times, Slice[uint32](buf), nil
}

// oracleMode stands for the oracle.
const oracleMode Mode = 255

// TestTolerance: kernels continue after tolerated faults, with the same results and notices in every mode, on every
// backend, for every number of host threads, and on the oracle; without the tolerance they trap.
func TestTolerance(t *testing.T) {
	launches := map[string]Launch{"oracle": {Mode: oracleMode}}
	for i, b := range []Engine{Portable, Native} {
		if !b.Available() {
			continue
		}
		for _, m := range []Mode{Vector, Affine, Check} {
			for _, eager := range []bool{false, m != Vector} {
				launches[fmt.Sprintf("%v, eager %t, backend %d", m, eager, i)] = Launch{Mode: m, CompileEagerly: eager, Engine: b}
			}
		}
	}
	for k, c := range tolerating {
		t.Run(c.name, func(t *testing.T) {
			src := ".version 8.0\n.target sm_75\n.address_size 64\n" + c.decl + "\n.visible .entry k(.param .u64 p) {\n.reg .pred %p; .reg .u32 %i, %v, %w, %x, %y, %z; .reg .b32 %h<8>; .reg .f32 %f<8>; .reg .u64 %a, %b;\n" +
				"ld.param.u64 %a, [p]; mov.u32 %i, %tid.x; mov.u32 %v, 0;\n" + c.body + "\nret;\n}\n"
			first := map[probe.Tolerance]string{}
			for name, l := range launches {
				for workers := 1; workers <= 3; workers += 2 {
					for _, by := range []probe.Tolerance{probe.Strict, c.by, probe.WMMAAlignment | probe.SharedUnit} {
						reports, times, words, err := tolerance(t, src, k, l, Config{Workers: workers, Tolerance: by})
						if c.times == 0 || by == probe.Strict {
							var trap *probe.Trap
							var other *oracle.Trap
							if !errors.As(err, &trap) && !errors.As(err, &other) {
								t.Fatalf("%s, tolerating %q: %v, want a trap", name, by, err)
							}
							if trap != nil && by == probe.Strict {
								want := probe.Strict
								if c.times > 0 || k == 0 { // in the first kernel, warp 0 stays in the unit, and warp 1 does not
									want = c.by
								}
								if trap.Tolerable != want {
									t.Errorf("%s: the trap names %q as tolerable, want %q", name, trap.Tolerable, want)
								}
								reports = append(reports, trap.Report())
							}
						} else {
							if err != nil {
								t.Fatalf("%s, tolerating %q: %v", name, by, err)
							}
							if times != c.times {
								t.Errorf("%s, tolerating %q: %d times, want %d", name, by, times, c.times)
							}
							for i, n := 0, resultsOf(c.name); i < n; i++ {
								if want := c.want(i); words[i] != want {
									t.Errorf("%s, tolerating %q: word %d is %d, want %d", name, by, i, words[i], want)
								}
							}
						}
						if l.Mode == oracleMode {
							continue
						}
						all := strings.Join(reports, "\n")
						if c.times > 0 && by != probe.Strict && !strings.Contains(all, "cta (0,0,0) warp 0 ") {
							t.Errorf("%s: not the first CTA and warp:\n%s", name, all)
						}
						if want, ok := first[by]; !ok {
							first[by] = all
						} else if all != want {
							t.Errorf("%s, %d workers, tolerating %q:\n%s\nwant:\n%s", name, workers, by, all, want)
						}
					}
				}
			}
		})
	}
}

// resultsOf returns the number of words of the buffer that a kernel of tolerating sets.
func resultsOf(name string) int {
	switch {
	case strings.Contains(name, "fixed"), strings.Contains(name, "loop"), strings.Contains(name, "dynamic"), strings.HasPrefix(name, "ldmatrix"):
		return 1
	case strings.HasPrefix(name, "a generic"):
		return 2
	case strings.HasPrefix(name, "wmma.store"):
		return 64
	}
	return 32
}

// TestParseTolerance: unknown names are errors that list the names.
func TestParseTolerance(t *testing.T) {
	if by, err := probe.ParseTolerance("shared-unit,wmma-alignment"); err != nil || by != probe.SharedUnit|probe.WMMAAlignment || by.String() != "wmma-alignment,shared-unit" {
		t.Error(by, err)
	}
	for _, bad := range []string{"x", "shared-unit,", "Shared-Unit"} {
		if _, err := probe.ParseTolerance(bad); err == nil || !strings.Contains(err.Error(), "wmma-alignment,shared-unit") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestToleranceOrder: notices come in the order of the source, each of the first CTA and warp that executes its instruction, for any
// number of host threads and in every mode. CTA 0 executes only the later of two instructions.
func TestToleranceOrder(t *testing.T) {
	const src = `.version 8.0
.target sm_86
.address_size 64
.visible .entry k() {
.shared .align 4 .b8 s[8];
.reg .u32 %c, %t, %v; .reg .pred %p;
mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x; shr.u32 %t, %t, 5; add.u32 %t, %t, %c;
setp.lt.u32 %p, %t, 2;
@%p bra L;
ld.shared.u32 %v, [s+8];
L: ld.shared.u32 %v, [s+12];
ret;
}
`
	for _, workers := range []int{1, 2, 4} {
		for _, mode := range []Mode{Vector, Affine, Check} {
			var reports []string
			dev := NewDevice(Config{SM: 86, Workers: workers, Tolerance: probe.SharedUnit, OnTolerated: func(n *probe.Tolerated) {
				reports = append(reports, fmt.Sprintf("line %d, cta %d, warp %d, %d times", n.First.Pos.Line, n.First.CTA.X, n.First.Warp, n.Count))
			}})
			mod, err := dev.Load("order.ptx", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := mod.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(8), Block: ptx.Dim(64), Mode: mode}); err != nil {
				t.Fatal(err)
			}
			// All 16 warps execute line 11, and all but warp 0 of CTAs 0 and 1 and warp 1 of CTA 0 line 10.
			if got, want := strings.Join(reports, "; "), "line 10, cta 1, warp 1, 416 times; line 11, cta 0, warp 0, 512 times"; got != want {
				t.Errorf("%v, %d workers: %s, want %s", mode, workers, got, want)
			}
		}
	}
}

package race

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// TestMarksOfLanes compares the marks of random accesses with a mark for each byte.
func TestMarksOfLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 3))
	const size = 2 * markBytes
	kinds := []accessEffects{0, writes, writes | atomics}
	together := 0
	for range part.Count(12, 12, 100) {
		var b backlog
		b.marks = make([]*marks, size/markBytes)
		b.marked, b.markedSize = true, size
		var model [3][size]bool // by kind and byte
		for range 40 {
			d := deferredAccess{lanes: rng.Uint64() >> rng.IntN(64) << rng.IntN(8), bytes: uint8(1 << rng.IntN(5)), effects: kinds[rng.IntN(3)]}
			if rng.IntN(4) > 0 {
				d.lanes = ^uint64(0) >> rng.IntN(64) << rng.IntN(32)
			}
			if d.lanes == 0 {
				continue
			}
			d.stride = int32(rng.IntN(80)) - 8
			if rng.IntN(2) == 0 {
				d.stride = int32(d.bytes)
			}
			base := markBytes - 128 - rng.IntN(3000) // often at the end of a page
			d.offset = uint32(base + rng.IntN(256))
			if last := d.offsetOf(1 << (63 - bits.LeadingZeros64(d.lanes))); last < 0 || last+int64(d.bytes) > size {
				continue
			}
			var want [3]bool
			d.each(nil, func(lane int, offset uint64) bool {
				for k := range model {
					for i := range uint64(d.bytes) {
						want[k] = want[k] || model[k][offset+i]
					}
				}
				return true
			})
			read, written, atomic := want[0], want[1], want[2]
			w, r, a, ok := b.markLanes(&d)
			if ok {
				together++
			} else {
				list, n := d.ranges(nil, &b.room)
				w, r, a, _ = b.markEach(list, n, d.effects, false)
			}
			kind := 0
			for kinds[kind] != d.effects {
				kind++
			}
			overlaps := d.stride < int32(d.bytes) && -d.stride < int32(d.bytes) && d.stride != 0 && d.lanes&(d.lanes-1) != 0
			if !overlaps && (w != written || r != read || a != atomic) { // of lanes that overlap, the earlier lanes count as earlier accesses
				t.Fatalf("%+v: written %v, read %v, atomic %v, want %v, %v, %v", d, w, r, a, written, read, atomic)
			}
			d.each(nil, func(lane int, offset uint64) bool {
				for i := range uint64(d.bytes) {
					model[kind][offset+i] = true
				}
				return true
			})
			for i := range uint64(size) {
				p, word, bit := b.marks[i/markBytes], i%markBytes/64, i%64
				for k := range model {
					m := false
					if p != nil {
						m = [3]*[markBytes / 64]uint64{&p.read, &p.written, &p.atomic}[k][word]>>bit&1 != 0
					}
					if m != model[k][i] {
						t.Fatalf("%+v: mark %d of byte %d is %v", d, k, i, m)
					}
				}
			}
		}
	}
	if t.Logf("%d accesses by word", together); together < 100 {
		t.Errorf("only %d accesses were marked by word", together)
	}
}

// atomicProgram returns a kernel with random atomic operations, loads, stores and barriers on shared memory, in a loop.
func atomicProgram(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_80
.address_size 64
.entry k()
{
	.reg .u32 %t, %i, %x, %y, %a, %w, %o;
	.reg .b32 %h;
	.reg .u64 %p, %l;
	.reg .pred %q;
	.shared .align 16 .b8 board[2048];
	mov.u32 %t, %tid.x;
	shr.u32 %w, %t, 5;
	mov.u32 %i, 0;
	mov.u32 %o, board;
NEXT:
`)
	addresses := []string{"shl.b32 %a, %t, 2;", "and.b32 %a, %t, 15; shl.b32 %a, %a, 2;", "mul.lo.u32 %a, %t, 52; and.b32 %a, %a, 1016;", "mov.u32 %a, 64;", "shl.b32 %a, %w, 8;",
		"sub.u32 %a, 95, %t; shl.b32 %a, %a, 2;", "shl.b32 %a, %t, 3;"}
	atomics := []string{"red.shared.add.u32 [%a], 1;", "atom.shared.max.u32 %x, [%a], %t;", "red.relaxed.cta.shared.or.b32 [%a], 3;", "atom.acq_rel.cta.shared.add.u32 %x, [%a], 1;", "cvt.u64.u32 %p, %a; cvta.shared.u64 %p, %p; red.add.u32 [%p], 1;",
		"and.b32 %a, %a, -8; atom.shared.add.u64 %l, [%a], 1;", "mov.b32 %h, %x; red.shared.add.noftz.f16x2 [%a], %h;"}
	loads := []string{"ld.shared.u32 %x, [%a];", "ld.shared.u8 %x, [%a+1];", "and.b32 %a, %a, -8; ld.shared.v2.u32 {%x, %y}, [%a];", "and.b32 %a, %a, -8; ld.shared.u64 %l, [%a];"}
	stores := []string{"st.shared.u32 [%a], %t;", "st.shared.u16 [%a+2], %t;", "and.b32 %a, %a, -8; st.shared.v2.u32 [%a], {%t, %i};"}
	kind, ordered := rng.IntN(len(atomics)+2), rng.IntN(8) // of eight other accesses, so many have barriers before and after them
	for n := range 4 + rng.IntN(10) {
		fmt.Fprintf(&b, "\t%s\n\tadd.u32 %%a, %%a, %%o;\n", addresses[rng.IntN(len(addresses))])
		k, barrier := rng.IntN(8), ""
		if k >= 5 && rng.IntN(8) <= ordered {
			barrier = "\tbar.sync 0;\n"
			if k == 6 { // each thread its own word
				b.WriteString("\tmad.lo.u32 %a, %t, 4, %o;\n")
			}
		}
		b.WriteString(barrier)
		switch rng.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "\tsetp.ne.u32 %%q, %%w, %d;\n\t@%%q bra SKIP%d;\n", rng.IntN(3), n)
		case 1:
			fmt.Fprintf(&b, "\tsetp.ne.u32 %%q, %%t, %d;\n\t@%%q bra SKIP%d;\n", rng.IntN(96), n)
		}
		switch {
		case k < 5:
			a := atomics[(kind+rng.IntN(5)/4)%len(atomics)] // mostly of one kind
			b.WriteString("\t" + a + "\n")
		case k < 6:
			b.WriteString("\t" + loads[rng.IntN(len(loads))*rng.IntN(2)] + "\n") // mostly the first
		case k < 7:
			b.WriteString("\t" + stores[rng.IntN(len(stores))*rng.IntN(2)] + "\n")
		}
		fmt.Fprintf(&b, "SKIP%d:\n%s", n, barrier)
		if rng.IntN(3) == 0 {
			b.WriteString([]string{"\tbar.sync 0;\n", "\tbar.sync 0;\n", "\tbar.warp.sync -1;\n"}[rng.IntN(3)])
		}
	}
	b.WriteString("\tadd.u32 %i, %i, 1;\n\tsetp.lt.u32 %q, %i, 5;\n\t@%q bra NEXT;\n\tret;\n}\n")
	return b.String()
}

// manyAtomics is a kernel with more atomic operations before a barrier than the raw accesses hold, and then a load by another warp.
const manyAtomics = `.version 8.0
.target sm_80
.address_size 64
.entry k()
{
	.reg .u32 %t, %i, %x, %a;
	.reg .pred %q;
	.shared .align 8 .b8 board[512];
	mov.u32 %t, %tid.x;
	mov.u32 %a, board;
	mad.lo.u32 %a, %t, 4, %a;
	mov.u32 %i, 0;
NEXT:
	red.shared.add.u32 [%a], 1;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 2600;
	@%q bra NEXT;
	ld.shared.u32 %x, [board+8];
	ret;
}
`

// TestAtomicsFindTheSame compares deferred with immediate recording over random programs with atomic operations on shared memory.
func TestAtomicsFindTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 4))
	engine := interp.Portable
	if interp.Native.Available() { // it has lists of loads
		engine = interp.Native
	}
	races, none := 0, 0
	for i := range part.Count(200, 200, 4000) {
		src := manyAtomics
		if i > 0 {
			src = atomicProgram(rng)
		}
		width := []int{32, 32, 64, 16}[rng.IntN(4)]
		if width != 32 { // only warps of 32 lanes have it
			src = strings.ReplaceAll(src, "bar.warp.sync -1;", "")
		}
		found := func(eager bool) string {
			var log finding.Log
			tool := New(&log, 0)
			tool.eager = eager
			dev := interp.NewDevice(interp.Config{Workers: 1})
			m, err := dev.Load("k.ptx", []byte(src))
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			if _, err := m.Run(context.Background(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(2), Block: ptx.Dim(96), WarpSize: width, Mode: interp.Vector, Engine: engine, Probes: []probe.Probe{tool}}); err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			// A thread's later access replaces its earlier one, and the order of a warp's lanes differs. So the earlier instruction of a
			// race may differ, and an error about a write has bytes that are a notice otherwise. The later instructions are compared.
			var later []string
			for _, f := range log.Findings() {
				later = append(later, fmt.Sprintf("a race of line %d", f.Place.Line))
			}
			slices.Sort(later)
			return strings.Join(slices.Compact(later), "\n")
		}
		put, noted := found(false), found(true)
		if put != noted {
			t.Fatalf("found\n%s\nand recorded at once\n%s\nin\n%s", put, noted, src)
		}
		if put == "" {
			none++
		} else {
			races++
		}
	}
	if t.Logf("races in %d programs, none in %d", races, none); races < 40 || none < 10 {
		t.Errorf("races in %d programs, none in %d", races, none)
	}
}

package interp_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/interp/internal/exchange"
	"gemu/probe"
	"gemu/ptx"
)

// copyKernel returns a kernel of random cp.async instructions, commits, waits and arrivals at an mbarrier. Between them it
// adds words of shared memory to a sum for each thread, so the sums depend on the time of each copy. Targets of different
// lanes overlap, and some instructions execute in some lanes only. If traps is set, a copy near the end may trap.
func copyKernel(r *rand.Rand, traps bool) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(`.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out)
{
	.reg .u64 %%a, %%b, %%out, %%from, %%offset;
	.reg .u32 %%i, %%lane, %%x, %%y, %%s, %%to, %%sum, %%n, %%bytes, %%phase;
	.reg .pred %%p, %%q, %%first;
	.shared .align 128 .b8 room[8192];
	.shared .align 8 .b64 bars[2];
	ld.param.u64 %%a, [a];
	ld.param.u64 %%b, [b];
	ld.param.u64 %%out, [out];
	mov.u32 %%i, %%tid.x;
	mov.u32 %%lane, %%laneid;
	mov.u32 %%s, room;
	mov.u32 %%sum, 1;
	mov.u32 %%phase, 0;
	setp.eq.u32 %%first, %%i, 0;
	@%%first mbarrier.init.shared.b64 [bars], 40;
	bar.sync 0;`)
	labels := 0
	guard := func() string { // executes in a random set of lanes
		if r.IntN(3) > 0 {
			return ""
		}
		put("\tshr.u32 %%x, %d, %%lane;\n\tand.b32 %%x, %%x, 1;\n\tsetp.ne.u32 %%p, %%x, 0;", r.Uint32())
		return "@%p "
	}
	offset := func(size int) { // %x: the offset of a lane
		switch r.IntN(6) {
		case 5: // rows of 2 to 16 adjacent lanes
			row := 1 + r.IntN(4)
			put("\tshr.u32 %%y, %%lane, %d;\n\tshl.b32 %%y, %%y, %d;\n\tand.b32 %%x, %%lane, %d;\n\tadd.u32 %%x, %%x, %%y;\n\tmul.lo.u32 %%x, %%x, %d;", row, row+1, 1<<row-1, size)
		case 0, 1:
			put("\tmul.lo.u32 %%x, %%lane, %d;", size)
		case 2:
			put("\tmul.lo.u32 %%x, %%lane, %d;", 64)
		case 3:
			put("\tmul.lo.u32 %%x, %%lane, %d;\n\tand.b32 %%x, %%x, 31;\n\tmul.lo.u32 %%x, %%x, %d;", 2*r.IntN(16)+1, size)
		case 4:
			put("\tand.b32 %%x, %%lane, %d;\n\tmul.lo.u32 %%x, %%x, %d;", []int{3, 7, 15, r.IntN(32)}[r.IntN(4)], size)
		}
		put("\tadd.u32 %%x, %%x, %d;", r.IntN(4)*512+r.IntN(4)*16)
	}
	copyOnce := func() {
		size := 4 << r.IntN(3)
		offset(size)
		put("\tadd.u32 %%to, %%s, %%x;")
		offset(size)
		put("\tcvt.u64.u32 %%offset, %%x;\n\tadd.u64 %%from, %%a, %%offset;")
		if r.IntN(8) == 0 { // some lanes copy from the other buffer
			put("\tshr.u32 %%y, %d, %%lane;\n\tand.b32 %%y, %%y, 1;\n\tsetp.ne.u32 %%q, %%y, 0;\n\t@%%q add.u64 %%from, %%b, %%offset;", r.Uint32())
		}
		read := ""
		switch r.IntN(8) {
		case 2, 3: // each lane reads all of its bytes or none
			put("\tshr.u32 %%y, %d, %%lane;\n\tand.b32 %%y, %%y, 1;\n\tmul.lo.u32 %%bytes, %%y, %d;", r.Uint32()|r.Uint32(), size)
			read = ", %bytes"
		case 0:
			read = fmt.Sprintf(", %d", r.IntN(size+1))
		case 1:
			put("\tmul.lo.u32 %%bytes, %%lane, %d;\n\tmin.u32 %%bytes, %%bytes, %d;", r.IntN(3), size)
			if r.IntN(2) == 0 { // the source of a lane that reads nothing may have any address
				put("\tsetp.eq.u32 %%q, %%bytes, 0;\n\t@%%q mov.u64 %%from, 12345;")
			}
			read = ", %bytes"
		}
		cache := "ca"
		if size == 16 && r.IntN(2) == 0 {
			cache = "cg"
		}
		put("\t%scp.async.%s.shared.global [%%to], [%%from], %d%s;", guard(), cache, size, read)
	}
	addUp := func() { // adds 64 bytes for each lane
		put("\tmul.lo.u32 %%x, %%lane, 64;\n\tadd.u32 %%x, %%x, %%s;")
		for i := range 16 {
			put("\tld.shared.u32 %%y, [%%x+%d];\n\tmad.lo.u32 %%sum, %%sum, 31, %%y;", 4*i)
		}
	}
	for range 20 + r.IntN(20) {
		switch k := r.IntN(12); {
		case k < 5:
			copyOnce()
		case k < 7:
			put("\t%scp.async.commit_group;", guard())
		case k < 8:
			put("\t%scp.async.wait_group %d;", guard(), r.IntN(4))
			addUp()
		case k == 8 && r.IntN(2) == 0:
			put("\t%scp.async.wait_all;", guard())
		case k == 9 && r.IntN(3) == 0:
			labels++
			put("\tcp.async.mbarrier.arrive.noinc.shared.b64 [bars];\nW%d:\tmbarrier.test_wait.parity.shared.b64 %%q, [bars], %%phase;\n\t@!%%q bra W%d;\n\txor.b32 %%phase, %%phase, 1;", labels, labels)
		case k == 10 && r.IntN(6) == 0: // the pending copies exceed the limit
			labels++
			put("\tmov.u32 %%n, 0;\nL%d:", labels)
			copyOnce()
			put("\tadd.u32 %%n, %%n, 1;\n\tadd.u32 %%s, %%s, 16;\n\tsetp.lt.u32 %%q, %%n, 220;\n\t@%%q bra L%d;\n\tsub.u32 %%s, %%s, 3520;", labels)
		default:
			addUp()
		}
	}
	put("\tmad.wide.u32 %%out, %%i, 4, %%out;\n\tst.global.u32 [%%out], %%sum;")
	if traps {
		copyOnce()
		put("\tsetp.eq.u32 %%q, %%i, %d;", r.IntN(40))
		put([]string{"\t@%%q add.u64 %%from, %%from, 1;", "\t@%%q add.u64 %%from, %%from, 1048576;", "\t@%%q add.u32 %%to, %%to, 65536;"}[r.IntN(3)])
		put("\tcp.async.ca.shared.global [%%to], [%%from], 4;")
	}
	if r.IntN(2) == 0 {
		put("\tcp.async.wait_all;")
	}
	put("\tmul.lo.u32 %%x, %%lane, 4;\n\tadd.u32 %%x, %%x, %%s;\n\tld.shared.u32 %%x, [%%x];\n\tst.global.u32 [%%out+256], %%x;\n\tret;\n}")
	return b.String()
}

// TestCopiesOfWarps: the copies of a warp's lanes have the same results and traps if they execute together, and if a probe
// makes each lane's copy execute as an effect of its own. Both happen late and early, in all modes and on both engines.
func TestCopiesOfWarps(t *testing.T) {
	for seed := range uint64(part.Count(24, 30, 4000)) {
		src := copyKernel(rand.New(rand.NewPCG(seed, 0)), seed%4 == 3)
		for _, early := range []bool{false, true} {
			run := func(l interp.Launch) (string, *probe.Counts) {
				mod, a := linker(t, interp.Config{Workers: 1}, src, 4096)
				b, err := mod.Device().Alloc(4096)
				if err != nil {
					t.Fatal(err)
				}
				out, err := mod.Device().Alloc(512)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 4096 {
					a.Bytes()[i], b.Bytes()[i] = byte(i*7+i>>8), byte(i*11+i>>7)
				}
				l.Grid, l.Block, l.Args, l.EagerEffects = ptx.Dim(1), ptx.Dim(40), []any{a, b, out}, early
				r, err := mod.Run(t.Context(), &l)
				text := fmt.Sprintf("%x\n%v", out.Bytes(), err)
				if err != nil {
					return text, nil
				}
				return text, &r.Counts
			}
			var events []string
			want, counts := run(interp.Launch{Mode: interp.Vector, Probes: []probe.Probe{&effects{&events}}})
			launches := []interp.Launch{{Mode: interp.Vector, Engine: interp.Portable}, {Mode: interp.Check, CompileEagerly: true, Engine: interp.Portable}}
			if interp.Native.Available() {
				launches = append(launches, interp.Launch{Mode: interp.Vector, Engine: interp.Native}, interp.Launch{Mode: interp.Affine, CompileEagerly: true, Engine: interp.Native}, interp.Launch{Mode: interp.Check, CompileEagerly: true, Engine: interp.Native})
			}
			for _, l := range launches {
				got, n := run(l)
				if got != want {
					t.Fatalf("seed %d, early %v, %v mode, %v: got\n%s\nwith a probe\n%s\n%s", seed, early, l.Mode, l.Engine, got, want, src)
				}
				if n != nil && (n.WarpInstructions != counts.WarpInstructions || n.ThreadInstructions != counts.ThreadInstructions) {
					t.Fatalf("seed %d, early %v, %v mode, %v: other counts than with a probe", seed, early, l.Mode, l.Engine)
				}
			}
			if i := slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, "issued") }); i != 0 {
				t.Fatalf("seed %d: of %d events, the first one that issues a copy has index %d, want 0", seed, len(events), i)
			}
		}
	}
}

// unequalGroups: threads with an odd index commit an empty group between their two copies, and one at the end, so that
// wait_group 1 is for both copies. Then threads with bit 1 of the index set wait for all groups.
const unequalGroups = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out)
{
	.shared .align 4 .b32 s[128];
	.reg .u32 %i, %w, %x, %y, %z;
	.reg .u64 %a, %o;
	.reg .pred %odd, %second;
	mov.u32 %i, %tid.x;
	and.b32 %x, %i, 1;
	setp.ne.u32 %odd, %x, 0;
	and.b32 %x, %i, 2;
	setp.ne.u32 %second, %x, 0;
	ld.param.u64 %a, [a];
	mad.wide.u32 %a, %i, 4, %a;
	mov.u32 %w, s;
	mad.lo.u32 %w, %i, 4, %w;
	cp.async.ca.shared.global [%w], [%a], 4;
	cp.async.commit_group;
@%odd	cp.async.commit_group;
	cp.async.ca.shared.global [%w+256], [%a], 4;
	cp.async.commit_group;
@%odd	cp.async.commit_group;
	cp.async.wait_group 1;
	ld.shared.u32 %x, [%w];
	ld.shared.u32 %y, [%w+256];
@%second	cp.async.wait_group 0;
	ld.shared.u32 %z, [%w+256];
	ld.param.u64 %o, [out];
	mad.wide.u32 %o, %i, 12, %o;
	st.global.u32 [%o], %x;
	st.global.u32 [%o+4], %y;
	st.global.u32 [%o+8], %z;
	ret;
}`

// TestUnequalGroups: threads of a warp may commit different numbers of groups, and wait alone.
func TestUnequalGroups(t *testing.T) {
	for _, mode := range interp.Modes() {
		mod, a := linker(t, interp.Config{}, unequalGroups, 4*64)
		out, err := mod.Device().Alloc(12 * 64)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			binary.LittleEndian.PutUint32(a.Bytes()[4*i:], uint32(100+i))
		}
		if _, err := mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(64), Args: []any{a, out}, Mode: mode}); err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			odd, second := i&1 != 0, i&2 != 0
			for k, done := range []bool{true, odd, odd || second} {
				want := uint32(0)
				if done {
					want = uint32(100 + i)
				}
				if got := binary.LittleEndian.Uint32(out.Bytes()[12*i+4*k:]); got != want {
					t.Errorf("%v mode: thread %d reads %d in load %d, want %d", mode, i, got, k, want)
				}
			}
		}
	}
}

// copyCase is a kernel of 64 threads that copies from a, whose word j is 1000+j, to its shared memory, and the words that its threads
// must read. Lane is the index of a thread in its warp, %to the address of 16 bytes of the thread's own, %from that of words 4·tid
// to 4·tid+3 of a, 16 slots of 1024 bytes apart; %r0 to %r3 are the results.
type copyCase struct {
	name, body string
	want       func(tid int, early bool) [4]uint32
}

const copyCaseHead = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out)
{
	.reg .u64 %a, %out, %from;
	.reg .u32 %i, %lane, %x, %y, %to, %s, %n, %r0, %r1, %r2, %r3;
	.reg .pred %p, %q, %odd, %first;
	.shared .align 128 .b8 room[16384];
	.shared .align 8 .b64 bar;
	ld.param.u64 %a, [a];
	ld.param.u64 %out, [out];
	mov.u32 %i, %tid.x;
	mov.u32 %lane, %laneid;
	mov.u32 %s, room;
	mad.lo.u32 %to, %i, 16, %s;
	mad.wide.u32 %from, %i, 16, %a;
	mad.wide.u32 %out, %i, 16, %out;
	and.b32 %x, %lane, 1;
	setp.ne.u32 %odd, %x, 0;
	setp.eq.u32 %first, %i, 0;
	@%first mbarrier.init.shared.b64 [bar], 64;
	bar.sync 0;
	mov.u32 %r0, 0;
	mov.u32 %r1, 0;
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
	cp.async.cg.shared.global [%to+15360], [%from], 16; // the first copy of a CTA executes in Go
	cp.async.wait_all;
`

const copyCaseEnd = `
	st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};
	ret;
}`

// word returns word 4·tid + w of slot k of a, or 0 if it has not been copied.
func word(tid, k, w int, copied bool) uint32 {
	if !copied {
		return 0
	}
	return uint32(1000 + 256*k + 4*tid + w)
}

// The expected words follow from the manual (9.7.9.25.3: a wait for all groups but the last n of the executing thread; a group has
// the copies of the thread that were in none; bytes that are not read are zeros), and from docs/async.md: without a wait, a copy
// happens at once with the early effects, and otherwise not at all.
var copyCases = []copyCase{
	{"groups", `
	cp.async.cg.shared.global [%to], [%from], 16;
	cp.async.commit_group;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	cp.async.ca.shared.global [%to+2048], [%from+2048], 8;
	cp.async.commit_group;
	cp.async.ca.shared.global [%to+3072], [%from+3072], 4;
	cp.async.wait_group 1;
	ld.shared.u32 %r0, [%to+12];
	ld.shared.u32 %r1, [%to+1024];
	cp.async.wait_group 0;
	ld.shared.u32 %r2, [%to+2052];
	ld.shared.u32 %r3, [%to+3072];`,
		func(tid int, early bool) [4]uint32 {
			return [4]uint32{word(tid, 0, 3, true), word(tid, 1, 0, early), word(tid, 2, 1, true), word(tid, 3, 0, early)}
		}},
	{"wait_all", `
	cp.async.cg.shared.global [%to], [%from], 16;
	cp.async.commit_group;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	cp.async.wait_all;
	ld.shared.u32 %r0, [%to+4];
	ld.shared.u32 %r1, [%to+1032];
	cp.async.cg.shared.global [%to+2048], [%from+2048], 16;
	cp.async.wait_group 0;
	ld.shared.u32 %r2, [%to+2048];
	cp.async.commit_group;
	cp.async.wait_group 1;
	ld.shared.u32 %r3, [%to+2048];`,
		func(tid int, early bool) [4]uint32 {
			return [4]uint32{word(tid, 0, 1, true), word(tid, 1, 2, true), word(tid, 2, 0, early), word(tid, 2, 0, early)}
		}},
	{"wait in some lanes", `
	cp.async.cg.shared.global [%to], [%from], 16;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	cp.async.commit_group;
	@!%odd bra EVEN;
	cp.async.wait_group 0;
	ld.shared.u32 %r0, [%to];
EVEN:
	ld.shared.u32 %r1, [%to+1028];
	cp.async.wait_group 0;
	ld.shared.u32 %r2, [%to+1028];`,
		func(tid int, early bool) [4]uint32 {
			odd := tid&1 != 0
			return [4]uint32{word(tid, 0, 0, odd), word(tid, 1, 1, early || odd), word(tid, 1, 1, true), 0}
		}},
	{"commit in some lanes", `
	cp.async.cg.shared.global [%to], [%from], 16;
	@%odd cp.async.commit_group;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	cp.async.wait_group 0;
	ld.shared.u32 %r0, [%to];
	ld.shared.u32 %r1, [%to+1024];
	@!%odd cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.u32 %r2, [%to+1024];
	cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.u32 %r3, [%to+1024];`,
		func(tid int, early bool) [4]uint32 {
			odd := tid&1 != 0
			return [4]uint32{word(tid, 0, 0, early || odd), word(tid, 1, 0, early), word(tid, 1, 0, early || !odd), word(tid, 1, 0, true)}
		}},
	{"copies in some lanes", `
	@%odd bra ODD;
	cp.async.cg.shared.global [%to], [%from], 16;
	bra BOTH;
ODD:
	cp.async.cg.shared.global [%to], [%from+1024], 16;
BOTH:
	setp.gt.u32 %p, %lane, 20;
	@%p cp.async.ca.shared.global [%to+1024], [%from+2048], 4;
	cp.async.commit_group;
	ld.shared.u32 %r2, [%to];
	cp.async.wait_group 0;
	ld.shared.u32 %r0, [%to+12];
	ld.shared.u32 %r1, [%to+1024];`,
		func(tid int, early bool) [4]uint32 {
			return [4]uint32{word(tid, tid&1, 3, true), word(tid, 2, 0, tid%32 > 20), word(tid, tid&1, 0, early), 0}
		}},
	{"zeros", `
	st.shared.v4.u32 [%to], {%i, %i, %i, %i};
	st.shared.v4.u32 [%to+1024], {%i, %i, %i, %i};
	selp.u32 %x, 16, 0, %odd;
	cp.async.cg.shared.global [%to], [%from], 16, %x;
	selp.u32 %x, 6, 0, %odd;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16, %x;
	cp.async.commit_group;
	ld.shared.u32 %r3, [%to];
	cp.async.wait_group 0;
	ld.shared.u32 %r0, [%to+8];
	ld.shared.u32 %r1, [%to+1024];
	ld.shared.u32 %r2, [%to+1028];`,
		func(tid int, early bool) [4]uint32 {
			odd := tid&1 != 0
			before := uint32(tid)
			if early {
				before = word(tid, 0, 0, odd)
			}
			return [4]uint32{word(tid, 0, 2, odd), word(tid, 1, 0, odd), word(tid, 1, 1, odd) & 0xffff, before}
		}},
	{"the same target", ` // the copies of a wait happen lane after lane (docs/design/asynchronous.md); early ones in the order of issue
	and.b32 %x, %i, 62;
	mad.lo.u32 %y, %x, 16, %s;
	cp.async.cg.shared.global [%y], [%from], 16;
	cp.async.cg.shared.global [%y+1024], [%from+1024], 16;
	cp.async.cg.shared.global [%y], [%from+2048], 16;
	@%odd cp.async.ca.shared.global [%y+4], [%from+3072], 4;
	@!%odd cp.async.ca.shared.global [%y+8], [%from+3072], 4;
	cp.async.commit_group;
	cp.async.wait_group 0;
	bar.warp.sync -1;
	ld.shared.u32 %r0, [%y];
	ld.shared.u32 %r1, [%y+4];
	ld.shared.u32 %r2, [%y+1024];
	ld.shared.u32 %r3, [%y+8];`,
		func(tid int, early bool) [4]uint32 {
			last, third := tid|1, word(tid|1, 2, 2, true)
			if early {
				third = word(tid&^1, 3, 0, true)
			}
			return [4]uint32{word(last, 2, 0, true), word(last, 3, 0, true), word(last, 1, 0, true), third}
		}},
	{"a barrier", ` // warp 1 copies, and warp 0 reads
	setp.lt.u32 %p, %i, 32;
	@%p bra WAIT;
	cp.async.cg.shared.global [%to], [%from], 16;
	cp.async.commit_group;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	cp.async.commit_group;
	cp.async.wait_group 1;
WAIT:
	bar.sync 0;
	xor.b32 %x, %i, 32;
	mad.lo.u32 %x, %x, 16, %s;
	@%p ld.shared.u32 %r0, [%x];
	@%p ld.shared.u32 %r1, [%x+1024];
	bar.sync 0;
	@!%p cp.async.wait_group 0;
	bar.sync 0;
	@%p ld.shared.u32 %r2, [%x+1024];`,
		func(tid int, early bool) [4]uint32 {
			return [4]uint32{word(tid^32, 0, 0, tid < 32), word(tid^32, 1, 0, tid < 32 && early), word(tid^32, 1, 0, tid < 32), 0}
		}},
	{"an mbarrier", ` // the arrival comes after the copies before it, and a wait for groups completes only copies
	cp.async.cg.shared.global [%to], [%from], 16;
	cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	ld.shared.u32 %r2, [%to];
WAIT:
	mbarrier.test_wait.parity.shared.b64 %q, [bar], 0;
	@!%q bra WAIT;
	ld.shared.u32 %r0, [%to];
	ld.shared.u32 %r3, [%to+1024];
	cp.async.wait_all;
	ld.shared.u32 %r1, [%to+1024];`,
		func(tid int, early bool) [4]uint32 {
			return [4]uint32{word(tid, 0, 0, true), word(tid, 1, 0, true), word(tid, 0, 0, early), word(tid, 1, 0, early)}
		}},
	{"many pending copies", ` // of which the last to each slot stays
	mov.u32 %n, 0;
MORE:
	and.b32 %x, %n, 7;
	shl.b32 %x, %x, 10;
	cvt.u64.u32 %a, %x;
	add.u64 %a, %a, %from;
	and.b32 %y, %n, 3;
	shl.b32 %y, %y, 10;
	add.u32 %y, %y, %to;
	cp.async.cg.shared.global [%y], [%a], 16;
	cp.async.commit_group;
	add.u32 %n, %n, 1;
	setp.lt.u32 %q, %n, 100;
	@%q bra MORE;
	cp.async.wait_group 90; // for copies 0 to 9
	ld.shared.u32 %r0, [%to+2048];
	cp.async.wait_group 3; // for copies 0 to 96
	ld.shared.u32 %r1, [%to];
	ld.shared.u32 %r2, [%to+1024];
	cp.async.wait_all;
	ld.shared.u32 %r3, [%to+1024];`,
		func(tid int, early bool) [4]uint32 {
			if early {
				return [4]uint32{word(tid, 2, 0, true), word(tid, 0, 0, true), word(tid, 1, 0, true), word(tid, 1, 0, true)}
			}
			return [4]uint32{word(tid, 6, 0, true), word(tid, 0, 0, true), word(tid, 5, 0, true), word(tid, 1, 0, true)}
		}},
}

// copyLaunches returns launches on both engines, in each mode; those of machine code come last.
func copyLaunches() (list []interp.Launch) {
	for _, engine := range []interp.Engine{interp.Portable, interp.Native} {
		if engine.Available() {
			list = append(list, interp.Launch{Mode: interp.Vector, Engine: engine}, interp.Launch{Mode: interp.Affine, CompileEagerly: true, Engine: engine}, interp.Launch{Mode: interp.Check, CompileEagerly: true, Engine: engine})
		}
	}
	return list
}

// copyInput returns a module with a kernel k, and a buffer whose word j is 1000+j.
func copyInput(t *testing.T, src string) (*interp.Module, *interp.Buffer) {
	mod, a := linker(t, interp.Config{Workers: 1}, src, 16384)
	for j := range 4096 {
		binary.LittleEndian.PutUint32(a.Bytes()[4*j:], uint32(1000+j))
	}
	return mod, a
}

// TestCopyCases: the copies of cp.async have happened where the manual says so, on both engines, in all modes, and with late and
// early effects.
func TestCopyCases(t *testing.T) {
	for _, c := range copyCases {
		for _, early := range []bool{false, true} {
			for _, l := range copyLaunches() {
				mod, a := copyInput(t, copyCaseHead+c.body+copyCaseEnd)
				out, err := mod.Device().Alloc(16 * 64)
				if err != nil {
					t.Fatal(err)
				}
				l.Grid, l.Block, l.Args, l.EagerEffects = ptx.Dim(1), ptx.Dim(64), []any{a, out}, early
				if _, err := mod.Run(t.Context(), &l); err != nil {
					t.Errorf("%s, %v, %v mode: %v", c.name, l.Engine, l.Mode, err)
					continue
				}
				for tid := range 64 {
					want := c.want(tid, early)
					for k := range want {
						if got := binary.LittleEndian.Uint32(out.Bytes()[16*tid+4*k:]); got != want[k] {
							t.Errorf("%s, %v, %v mode, early effects %v: thread %d has %d in r%d, want %d", c.name, l.Engine, l.Mode, early, tid, got, k, want[k])
						}
					}
				}
			}
		}
	}
}

// TestEffectsOfCopies: a probe receives the same effects of copies from both engines, for each lane an issue and a write.
func TestEffectsOfCopies(t *testing.T) {
	for _, c := range copyCases {
		var want []string
		for _, l := range copyLaunches() {
			if l.Mode != interp.Vector {
				continue
			}
			mod, a := copyInput(t, copyCaseHead+c.body+copyCaseEnd)
			out, err := mod.Device().Alloc(16 * 64)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			l.Grid, l.Block, l.Args, l.Probes = ptx.Dim(1), ptx.Dim(64), []any{a, out}, []probe.Probe{&effects{&got}}
			if _, err := mod.Run(t.Context(), &l); err != nil {
				t.Fatalf("%s, %v: %v", c.name, l.Engine, err)
			}
			issued := 0
			for _, e := range got {
				if strings.Contains(e, "issued") {
					issued++
				}
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || 2*issued != len(got) || issued < 2*64 {
				t.Errorf("%s, %v: %d effects, of which %d are issues, want the %d effects of the first launch", c.name, l.Engine, len(got), issued, len(want))
			}
		}
	}
}

// TestFaultsOfCopies: a copy that faults between others stops the program at its instruction and names its lanes, on both engines.
// The lanes follow from the guards below.
func TestFaultsOfCopies(t *testing.T) {
	for _, c := range []struct{ name, fault string }{
		{"misaligned source", "@%p add.u64 %from, %from, 4;"},
		{"misaligned target", "@%p add.u32 %to, %to, 4;"},
		{"source behind its allocation", "@%p add.u64 %from, %from, 1048576;"},
		{"source before its allocation", "@%p sub.u64 %from, %from, 1048576;"},
		{"target behind shared memory", "@%p add.u32 %to, %to, 65536;"},
		{"target before shared memory", "@%p sub.u32 %to, %to, 65536;"},
		{"too many bytes", "mov.u32 %n, 16;\n\t@%p mov.u32 %n, 17;"},
	} {
		size := "16"
		if strings.Contains(c.fault, "%n") {
			size = "16, %n"
		}
		src := copyCaseHead + `
	setp.eq.u32 %p, %i, 39;
	cp.async.cg.shared.global [%to], [%from], 16;
	cp.async.commit_group;
	cp.async.cg.shared.global [%to+1024], [%from+1024], 16;
	` + c.fault + `
	cp.async.cg.shared.global [%to+2048], [%from+2048], ` + size + `;
	cp.async.cg.shared.global [%to+3072], [%from+3072], 16;
	cp.async.wait_all;` + copyCaseEnd
		line := fmt.Sprintf("test.ptx:%d:", 1+strings.Count(src[:strings.Index(src, "[%to+2048]")], "\n"))
		for _, early := range []bool{false, true} {
			want := ""
			for _, l := range copyLaunches() {
				mod, a := copyInput(t, src)
				out, err := mod.Device().Alloc(16 * 64)
				if err != nil {
					t.Fatal(err)
				}
				l.Grid, l.Block, l.Args, l.EagerEffects = ptx.Dim(1), ptx.Dim(64), []any{a, out}, early
				_, err = mod.Run(t.Context(), &l)
				if want == "" {
					want = fmt.Sprint(err)
				}
				trap, _ := errors.AsType[*probe.Trap](err)
				if got := fmt.Sprint(err); got != want || !strings.HasPrefix(got, line) || trap.Warp != 1 || trap.Lanes != 1<<7 {
					t.Errorf("%s, %v, %v mode, early effects %v: got\n%s\nwant a trap at %s of lane 7, as the first launch:\n%s", c.name, l.Engine, l.Mode, early, got, line, want)
				}
			}
		}
	}
}

// freedSource copies from memory that its first thread frees before the wait.
const freedSource = `.version 8.6
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k()
{
	.reg .u64 %a, %b;
	.reg .u32 %i, %to;
	.reg .pred %q;
	.shared .align 16 .b8 room[1024];
	.shared .align 8 .b64 begin;
	mov.u32 %i, %tid.x;
	setp.ne.u32 %q, %i, 0;
	@%q bra WAIT;
	{ .param .b64 n; .param .b64 r; st.param.b64 [n], 4096; call (r), malloc, (n); ld.param.b64 %b, [r]; }
	st.shared.u64 [begin], %b;
WAIT:
	bar.sync 0;
	ld.shared.u64 %b, [begin];
	cvta.to.global.u64 %a, %b;
	mad.wide.u32 %a, %i, 16, %a;
	mov.u32 %to, room;
	mad.lo.u32 %to, %i, 16, %to;
	cp.async.cg.shared.global [%to], [%a], 16;
	cp.async.wait_all;
	cp.async.cg.shared.global [%to+512], [%a], 16;
	@%q bra FREED;
	{ .param .b64 p; st.param.b64 [p], %b; call free, (p); }
FREED:
	bar.sync 0;
	cp.async.wait_all;
	ret;
}`

// TestFreedSourceOfCopies: a copy from memory that is freed before the copy's wait stops the program at the copy.
func TestFreedSourceOfCopies(t *testing.T) {
	line := fmt.Sprintf("test.ptx:%d:", 1+strings.Count(freedSource[:strings.Index(freedSource, "[%to+512]")], "\n"))
	for _, early := range []bool{false, true} {
		want := ""
		for _, l := range copyLaunches() {
			mod, err := interp.NewDevice(interp.Config{Workers: 1}).Load("test.ptx", []byte(freedSource))
			if err != nil {
				t.Fatal(err)
			}
			l.Grid, l.Block, l.EagerEffects = ptx.Dim(1), ptx.Dim(32), early
			_, err = mod.Run(t.Context(), &l)
			got := fmt.Sprint(err)
			if want == "" {
				want = got
			}
			if got != want || early != (err == nil) || !early && (!strings.HasPrefix(got, line) || !errors.Is(err, probe.ErrUseAfterFree)) {
				t.Errorf("%v, %v mode, early effects %v: got\n%s\nwant a trap for freed memory at %s with late effects, as the first launch:\n%s", l.Engine, l.Mode, early, got, line, want)
			}
		}
	}
}

// TestCopiesStayInMachineCode: a loop of copies in several stages exits to Go only for the first copy of a warp, at barriers, and
// after each stretch of instructions.
func TestCopiesStayInMachineCode(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host executes no machine code of gemu")
	}
	const iterations = 200
	src := copyCaseHead + fmt.Sprintf(`
	mov.u32 %%n, 0;
	mov.u32 %%y, 16;
	@%%odd mov.u32 %%y, 0;
MORE:
	cp.async.cg.shared.global [%%to], [%%from], 16;
	cp.async.ca.shared.global [%%to+1024], [%%from+1024], 8;
	cp.async.cg.shared.global [%%to+2048], [%%from+2048], 16, %%y;
	@%%odd cp.async.ca.shared.global [%%to+3072], [%%from+1028], 4;
	cp.async.commit_group;
	cp.async.wait_group 2;
	ld.shared.u32 %%x, [%%to+1024];
	add.u32 %%r0, %%r0, %%x;
	add.u32 %%n, %%n, 1;
	setp.lt.u32 %%q, %%n, %d;
	@%%q bra MORE;
	cp.async.wait_all;`, iterations) + copyCaseEnd
	for _, early := range []bool{false, true} {
		mod, a := copyInput(t, src)
		out, err := mod.Device().Alloc(16 * 64)
		if err != nil {
			t.Fatal(err)
		}
		entered := exchange.Entered.Load()
		if _, err := mod.Run(t.Context(), &interp.Launch{Mode: interp.Vector, Engine: interp.Native, Grid: ptx.Dim(1), Block: ptx.Dim(64), Args: []any{a, out}, EagerEffects: early}); err != nil {
			t.Fatal(err)
		}
		if n := exchange.Entered.Load() - entered; n > iterations/5 {
			t.Errorf("early effects %v: machine code was entered %d times for %d iterations", early, n, iterations)
		}
		waited := uint32(iterations - 2)
		if early {
			waited = iterations
		}
		for tid := range 64 {
			if got, want := binary.LittleEndian.Uint32(out.Bytes()[16*tid:]), waited*word(tid, 1, 0, true); got != want {
				t.Errorf("early effects %v: thread %d has %d, want %d", early, tid, got, want)
			}
		}
	}
}

// manySources is a kernel that copies from n allocations in turn, with PENDING copies in flight. Each thread adds up the first words
// of its copies that have happened.
const manySources = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 table, .param .u32 n, .param .u64 out)
{
	.reg .u64 %t, %a, %out;
	.reg .u32 %i, %n, %k, %to, %x, %sum, %at;
	.reg .pred %p;
	.shared .align 16 .b8 room[8192];
	ld.param.u64 %t, [table];
	ld.param.u32 %n, [n];
	ld.param.u64 %out, [out];
	mov.u32 %i, %tid.x;
	mad.wide.u32 %out, %i, 4, %out;
	mov.u32 %sum, 0;
	mov.u32 %k, 0;
MORE:
	mad.wide.u32 %a, %k, 8, %t;
	ld.global.u64 %a, [%a];
	mad.wide.u32 %a, %i, 16, %a;
	mov.u32 %to, room;
	mad.lo.u32 %to, %i, 16, %to;
	and.b32 %at, %k, 15;
	mad.lo.u32 %at, %at, 512, %to;
	cp.async.cg.shared.global [%at], [%a], 16;
	cp.async.commit_group;
	cp.async.wait_group PENDING;
	setp.lt.u32 %p, %k, PENDING;
	sub.u32 %at, %k, PENDING;
	and.b32 %at, %at, 15;
	mad.lo.u32 %at, %at, 512, %to;
	ld.shared.u32 %x, [%at];
	@!%p mad.lo.u32 %sum, %sum, 31, %x;
	add.u32 %k, %k, 1;
	setp.lt.u32 %p, %k, %n;
	@%p bra MORE;
	st.global.u32 [%out], %sum;
	ret;
}`

// TestManyCopySources copies from more allocations than machine code searches, with few and with many copies in flight, and compares
// with the host.
func TestManyCopySources(t *testing.T) {
	for _, pending := range []int{0, 3, 11} {
		src := strings.ReplaceAll(manySources, "PENDING", fmt.Sprint(pending))
		for _, n := range []int{5, 9, 40} {
			for _, engine := range []interp.Engine{interp.Portable, interp.Native} {
				if !engine.Available() {
					continue
				}
				mod, table := linker(t, interp.Config{Workers: 1}, src, 8*n)
				out, err := interp.NewBuffer(mod.Device(), make([]uint32, 32))
				if err != nil {
					t.Fatal(err)
				}
				want := make([]uint32, 32)
				for k := range n {
					words := make([]uint32, 128)
					for i := range words {
						words[i] = uint32(1000*k + i)
					}
					b, err := interp.NewBuffer(mod.Device(), words)
					if err != nil {
						t.Fatal(err)
					}
					binary.LittleEndian.PutUint64(table.Bytes()[8*k:], uint64(b.Addr()))
					for lane := range want {
						if k < n-pending {
							want[lane] = 31*want[lane] + words[4*lane]
						}
					}
				}
				if _, err := mod.Run(t.Context(), &interp.Launch{Mode: interp.Vector, Engine: engine, Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{table, uint32(n), out}}); err != nil {
					t.Fatal(err)
				}
				if got := interp.Slice[uint32](out); !slices.Equal(got, want) {
					t.Errorf("%d copies in flight, %d allocations, %v engine: %d, want %d", pending, n, engine, got, want)
				}
			}
		}
	}
}

package interp_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
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
		switch r.IntN(6) {
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
	for seed := range uint64(part.Count(24, 60, 4000)) {
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
				launches = append(launches, interp.Launch{Mode: interp.Vector, Engine: interp.Native})
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

package accelsim

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/ptx"
)

// TestEveryMnemonicHasSASS: every mnemonic has a row, and its opcodes are known in every version.
func TestEveryMnemonicHasSASS(t *testing.T) {
	names := map[string]bool{}
	for _, op := range ptx.Ops() {
		names[op.Name] = true
		if rows[op.Name] == nil {
			t.Errorf("%s has no row", op.Name)
			continue
		}
		for _, f := range op.Forms() {
			for _, v := range f.Variants() {
				for _, version := range Versions() {
					list := opcodes(&ptx.Instr{Variant: v}, known[version])
					if len(list) == 0 {
						t.Fatalf("%s has no opcodes in version %d", v.Text, version)
					}
					for _, o := range list {
						if !known[version][stem(o)] {
							t.Fatalf("%s becomes %s, which version %d does not have", v.Text, o, version)
						}
					}
				}
			}
		}
	}
	for name, row := range rows {
		if !names[name] {
			t.Errorf("there is a row for %s, which is no instruction", name)
		}
		for _, c := range row {
			for _, alternatives := range c.opcodes {
				for _, o := range alternatives {
					if !known[90][stem(o)] {
						t.Errorf("%s becomes %s, which nobody knows", name, o)
					}
				}
			}
		}
	}
}

// TestSASSByModifiers: rows select by type, space and modifiers.
func TestSASSByModifiers(t *testing.T) {
	for _, c := range []struct {
		text    string
		version int
		want    string
	}{
		{"add.s32 %r, %r, 1", 80, "IADD3"}, {"add.rn.f64 %f, %f, %f", 80, "DADD"}, {"add.u64 %d, %d, 1", 80, "IADD3 IADD3.X"}, {"fma.rn.f16x2 %r, %r, %r, %r", 80, "HFMA2"},
		{"mul.wide.s32 %d, %r, 4", 80, "IMAD.WIDE"}, {"mov.u32 %r, %tid.x", 80, "S2R"}, {"mov.u32 %r, 5", 80, "MOV"}, {"and.pred %p, %p, %p", 80, "PLOP3.LUT"},
		{"ld.shared.u32 %r, [%d]", 80, "LDS"}, {"ld.u32 %r, [%d]", 80, "LD.E"}, {"ld.param.u64 %d, [p]", 80, "MOV"}, {"st.global.v4.u32 [%d], {%r, %r, %r, %r}", 80, "STG.E"},
		{"min.f16 %h, %h, %h", 70, "HSETP2"}, {"min.f16 %h, %h, %h", 80, "HMNMX2"}, {"min.s32 %r, %r, 1", 80, "IMNMX"},
		{"cvt.rzi.s32.f64 %r, %f", 80, "F2I"}, {"cvt.rni.f64.f64 %f, %f", 80, "FRND"}, {"cvt.s64.s32 %d, %r", 80, "MOV SHF.R.S32.HI"}, {"cvt.pack.sat.u16.s32 %r, %r, %r", 80, "I2IP"},
		{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r, %r}, {%r}, {%r}, {%r, %r}", 80, "IMMA"}, {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f, %f}, {%f}, {%f}, {%f, %f}", 75, "DFMA"},
		{"redux.sync.add.u32 %r, %r, -1", 75, "SHFL.BFLY"}, {"cp.async.wait_group 2", 80, "DEPBAR.LE"}, {"cp.async.ca.shared.global [%d], [%d], 16", 75, "LDG.E"}, {"bar.sync 0", 80, "BAR.SYNC"}, {"bar.arrive 0, 64", 80, "NOP"},
	} {
		m, err := ptx.ParseString("x.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { .reg .b16 %h; .reg .b32 %r; .reg .b64 %d; .reg .f64 %f; .reg .pred %p; "+c.text+"; }")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		m.Kernels()[0].EachInstr(func(instr *ptx.Instr) {
			if got := strings.Join(opcodes(instr, known[c.version]), " "); got != c.want {
				t.Errorf("%s becomes %s in version %d, want %s", c.text, got, c.version, c.want)
			}
		})
	}
}

var update = flag.Bool("update", false, "rewrite the table in docs/accelsim.md")

// TestTableIsDocumented: docs/accelsim.md has the table.
func TestTableIsDocumented(t *testing.T) {
	const file, mark = "../docs/accelsim.md", "## Which SASS does each instruction become?\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s has no table", file)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n| PTX | SASS |\n|---|---|\n", head, mark)
	for line := range strings.Lines(strings.TrimSpace(table)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(strings.TrimSpace(rest), "|", " or "))
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if b.String() != string(text) {
		t.Errorf("%s is not what the source says: go test ./accelsim -run Documented -update", file)
	}
}

// recorder records the addresses of accesses to global memory, for each warp in order.
type recorder struct {
	launches []map[warpID][]string // by warp, of each launch
}

func (r *recorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnAfter, Addresses: true, InOrder: true}
}

func (r *recorder) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return r }

func (r *recorder) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnLaunch {
		r.launches = append(r.launches, map[warpID][]string{})
		return
	}
	for _, a := range e.Accesses {
		if a.Space != ptx.Global || e.Lanes == 0 {
			continue
		}
		w, last := warpID{e.ID, e.Warp}, len(r.launches)-1
		for offset := 0; offset < a.Bytes; offset += 16 {
			s := strconv.Itoa(min(a.Bytes, 16))
			for m := e.Lanes & a.Lanes; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros64(m)
				s += " " + strconv.Itoa(lane) + "=" + strconv.FormatUint(a.Addr[lane]+uint64(offset), 16)
			}
			r.launches[last][w] = append(r.launches[last][w], s)
		}
	}
}

// warpID identifies a warp of a launch.
type warpID struct {
	cta  ptx.Dim3
	warp int
}

// runWorkload runs a workload of a size.
func runWorkload(t *testing.T, w *kernels.Workload, n int, probes ...probe.Probe) *kernels.Session {
	t.Helper()
	s, err := kernels.Start(context.Background(), w, interp.NewDevice(interp.Config{Probes: probes}), n)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = func(l *interp.Launch) { l.Mode = interp.Vector }
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// affordable returns a size of a workload with few enough instructions for a test; 0 if there is none.
func affordable(t *testing.T, w *kernels.Workload) int {
	for _, n := range []int{min(w.N, 33), 1} {
		total := int64(0)
		for _, r := range runWorkload(t, w, n).Results {
			total += r.WarpInstructions
		}
		if total < int64(part.Count(20_000, 120_000, 10_000_000)) {
			return n
		}
	}
	return 0
}

// TestTracesOfWorkloads: traces of the workloads are read back by the format's grammar. Every lane ends, opcodes are
// known, and addresses are the addresses that the kernels have accessed.
func TestTracesOfWorkloads(t *testing.T) {
	part.SkipShort(t)
	for i, w := range kernels.All() {
		t.Run(w.Name, func(t *testing.T) {
			dir := t.TempDir()
			version := Versions()[i%len(Versions())]
			if strings.Contains(w.PTX(), "cp.async") {
				version = 90 // older versions write asynchronous copies as loads, which are no accesses of events
			}
			x, err := New(dir, version)
			if err != nil {
				t.Fatal(err)
			}
			x.Packed = i%2 == 1
			n := affordable(t, w)
			if n == 0 {
				t.Skip("too long for a test; GEMU_TEST=all has it")
			}
			rec := &recorder{}
			s := runWorkload(t, w, n, x, rec)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			copies, files, err := commands(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != len(s.Results) || len(copies) == 0 {
				t.Fatalf("%d kernels and %d copies, of %d launches", len(files), len(copies), len(s.Results))
			}
			for n, file := range files {
				k, err := readKernel(filepath.Join(dir, file))
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				checkKernel(t, k, s.Results[n], version, rec.launches[n])
			}
		})
	}
}

// checkKernel compares a trace with its launch.
func checkKernel(t *testing.T, k *traced, r *interp.Result, version int, want map[warpID][]string) {
	t.Helper()
	if k.binary != version || k.tracer < 3 || k.name != r.Kernel || k.grid != [3]int{r.Grid.X, r.Grid.Y, r.Grid.Z} || k.block != [3]int{r.Block.X, r.Block.Y, r.Block.Z} || len(k.ctas) != r.Grid.Count() {
		t.Fatalf("kernel %s, version %d, grid %v of %v, %d CTAs", k.name, k.binary, k.grid, k.block, len(k.ctas))
	}
	if k.nregs < 8 || k.nregs > 255 || k.sharedBase == 0 || k.localBase <= k.sharedBase {
		t.Fatalf("nregs %d, windows %#x and %#x", k.nregs, k.sharedBase, k.localBase)
	}
	for id, warps := range k.ctas {
		for n, list := range warps {
			var ended uint32
			var accesses []string
			for i, in := range list {
				if !known[version][stem(in.opcode)] {
					t.Fatalf("%s is not known", in.opcode)
				}
				if in.pc%16 != 0 || in.mask == 0 {
					t.Fatalf("%+v", in)
				}
				if addressOpcodes[stem(in.opcode)] != (in.width > 0) {
					t.Fatalf("%s accesses %d bytes", in.opcode, in.width)
				}
				switch stem(in.opcode) {
				case "RET":
					if !slices.ContainsFunc(list[:i], func(in tracedInstr) bool { return stem(in.opcode) == "CALL" }) {
						t.Fatalf("a return without a call, of %v", id)
					}
				case "EXIT":
					if ended&in.mask != 0 {
						t.Fatalf("lanes %#x end twice", ended&in.mask)
					}
					ended |= in.mask
				case "LDG", "STG", "ATOMG", "RED":
					s := strconv.Itoa(in.width)
					for m := in.mask; m != 0; m &= m - 1 {
						lane := bits.TrailingZeros32(m)
						s += " " + strconv.Itoa(lane) + "=" + strconv.FormatUint(in.addrs[lane], 16)
					}
					accesses = append(accesses, s)
					fallthrough
				default:
					if ended&in.mask != 0 {
						t.Fatalf("instruction %d, %s, by lanes that have ended", i, in.opcode)
					}
				}
			}
			if lanes := min(32, r.Block.Count()-32*n); ended != uint32(1<<lanes-1) {
				t.Fatalf("lanes %#x of warp %d of %v end", ended, n, id)
			}
			if got := want[warpID{ptx.Dim3{X: id[0], Y: id[1], Z: id[2]}, n}]; !slices.Equal(got, accesses) {
				t.Fatalf("warp %d of %v accesses\n%s\nwant\n%s", n, id, strings.Join(accesses, "\n"), strings.Join(got, "\n"))
			}
		}
	}
}

// export runs a kernel with a pointer to a buffer of 64 words and exports it for Ampere.
func export(t *testing.T, dir string, body string, l *interp.Launch) (run, exported error) {
	t.Helper()
	x, err := New(dir, 80)
	if err != nil {
		t.Fatal(err)
	}
	run = runOn(t, x, 80, body, l)
	return run, x.Close()
}

// TestTraceOfSmallKernel: the trace of a small kernel, line by line.
func TestTraceOfSmallKernel(t *testing.T) {
	dir := t.TempDir()
	run, err := export(t, dir, `.entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	.reg .pred %p;
	ld.param.u64 %d1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 16;
	add.u64 %d1, %d1, %d2;
	mov.u32 %r2, s;
	mad.lo.u32 %r2, %r1, 16, %r2;
	cp.async.ca.shared.global [%r2], [%d1], 16;
	cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.u8 %r3, [%r2];
	setp.lt.u32 %p, %r1, 30;
	@%p st.global.v2.u32 [%d1], {%r3, %r1};
	setp.gt.u32 %p, %r1, 99;
	@%p bra L;
	red.global.add.u32 [%d1], 1;
L:
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];
	ret;
}`, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)})
	if run != nil || err != nil {
		t.Fatal(run, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "kernel-1.traceg"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "warp = 0\n")
	body, _, _ = strings.Cut(body, "\n\n")
	// Registers: %r0 to %r3 are 0 to 3, %d0 to %d3 begin at 4.
	want := `insts = 18
0000 ffffffff 1 R6 MOV 0 0 0
0010 ffffffff 1 R1 S2R 0 0 0
0020 ffffffff 1 R8 IMAD.WIDE 1 R1 0 0
0030 ffffffff 1 R6 IADD3 2 R6 R8 0 0
0040 ffffffff 1 R6 IADD3.X 3 R6 R6 R8 0 0
0050 ffffffff 1 R2 MOV 0 0 0
0060 ffffffff 1 R2 IMAD 2 R1 R2 0 0
0070 ffffffff 0 LDGSTS.E.128 2 R2 R6 16 1 0x10000000 16 0
00b0 ffffffff 0 LDGDEPBAR 0 0 0
00c0 ffffffff 0 DEPBAR.LE 0 0 0
00d0 ffffffff 1 R3 LDS.U8 1 R2 1 1 0x0 16 0
00e0 ffffffff 0 ISETP 1 R1 0 0
00f0 3fffffff 0 STG.E.64 3 R6 R3 R1 8 1 0x10000000 16 0
0100 ffffffff 0 ISETP 1 R1 0 0
0110 ffffffff 0 BRA 0 0 0
0120 ffffffff 0 RED.E.ADD.STRONG.GPU 1 R6 4 1 0x10000000 16 0
0130 000000ff 1 R3 LDSM.16.M88 1 R2 16 1 0x0 16 0
0170 ffffffff 0 EXIT 0 0 0`
	if body != want {
		t.Errorf("trace:\n%s\nwant:\n%s", body, want)
	}
	list, err := os.ReadFile(filepath.Join(dir, "kernelslist.g"))
	if want := "MemcpyHtoD,0x0000000010000000,1024\nkernel-1.traceg\n"; err != nil || string(list) != want {
		t.Errorf("kernelslist.g: %q, want %q (%v)", list, want, err)
	}
}

// TestAddressEncodings: addresses are written in the shortest form that reads back the same.
func TestAddressEncodings(t *testing.T) {
	for _, c := range []struct {
		lanes uint32
		addr  func(lane int) uint64
		want  string
	}{
		{1, func(int) uint64 { return 0x123 }, "1 0x123 0"},
		{0xf0, func(lane int) uint64 { return 0x1000 - 8*uint64(lane) }, "1 0xfe0 -8"},
		{5, func(lane int) uint64 { return 0x1000 + 4*uint64(lane) }, "2 0x1000 8"},
		{7, func(lane int) uint64 { return 0x7000_0000_0000 + uint64(lane*lane)<<33 }, "2 0x700000000000 8589934592 25769803776"},
		{3, func(lane int) uint64 { return uint64(lane) << 40 }, "0 0x0 0x10000000000"},
		{7, func(lane int) uint64 { return uint64(5 * lane * lane) }, "2 0x0 5 15"},
	} {
		got := addresses(c.lanes, c.addr)
		if got != c.want {
			t.Errorf("lanes %#x: %s, want %s", c.lanes, got, c.want)
		}
		in, err := readInstr(strings.Fields(fmt.Sprintf("0000 %08x 0 LDG.E 0 4 %s 0", c.lanes, got)))
		for lane := range 32 {
			if err != nil || c.lanes>>lane&1 != 0 && in.addrs[lane] != c.addr(lane) {
				t.Errorf("lanes %#x: %s: lane %d reads back as %#x: %v", c.lanes, got, lane, in.addrs[lane], err)
			}
		}
	}
}

// TestFailedExportLeavesNothing: a failed export returns an error, and leaves no partial trace.
func TestFailedExportLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	run, err := export(t, dir, ".entry k(.param .u64 p) { trap; }", &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1)})
	if run == nil || err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("a trap: %v", err)
	}
	_, err = export(t, dir, ".entry k(.param .u64 p) { ret; }", &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), WarpSize: 16})
	if err == nil || !strings.Contains(err.Error(), "warps of 16 lanes") {
		t.Errorf("small warps: %v", err)
	}
	if list, _ := filepath.Glob(dir + "/*.traceg"); len(list) > 0 {
		t.Errorf("%q are left", list)
	}
	if _, err := New(dir, 61); err == nil {
		t.Error("Pascal is no error")
	}
	if _, err := New(filepath.Join(dir, "none"), 80); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

// TestFailedExportKeepsEarlier: a failed export leaves an earlier export unchanged, and no further file.
func TestFailedExportKeepsEarlier(t *testing.T) {
	dir := t.TempDir()
	launch := func() *interp.Launch { return &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1)} }
	if run, err := export(t, dir, ".entry k(.param .u64 p) { ret; }", launch()); run != nil || err != nil {
		t.Fatal(run, err)
	}
	files := func() map[string]string {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, f := range list {
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[f.Name()] = string(b)
		}
		return all
	}
	before := files()
	if len(before) != 2 {
		t.Errorf("%d files", len(before))
	}
	if run, err := export(t, dir, ".entry k(.param .u64 p) { trap; }", launch()); run == nil || err == nil {
		t.Fatal(run, err)
	}
	if now := files(); !maps.Equal(before, now) {
		t.Errorf("there is now %v, was %v", now, before)
	}
}

// TestTracesMovedToFile: traces include the text of CTAs that was moved to the file.
func TestTracesMovedToFile(t *testing.T) {
	const body = `.entry k(.param .u64 p) {
	.reg .u64 %p, %q; .reg .u32 %t, %i; .reg .pred %d;
	ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 4; add.u64 %p, %p, %q; mov.u32 %i, 0;
L:	st.global.u32 [%p], %i; add.u32 %i, %i, 1; bar.sync 0; setp.lt.u32 %d, %i, 40; @%d bra L;
	setp.lt.u32 %d, %t, 9; @%d bra M; bar.warp.sync 0xffffffff; bra.uni N;
M:	bar.warp.sync 0xffffffff;
N:	ret;
}`
	text := func(room, chunk int) string {
		defer func(r, c int) { maxBytesInMemory, chunkBytes = r, c }(maxBytesInMemory, chunkBytes)
		maxBytesInMemory, chunkBytes = room, chunk
		dir := t.TempDir()
		if run, err := export(t, dir, body, &interp.Launch{Grid: ptx.Dim(3), Block: ptx.Dim(64)}); run != nil || err != nil {
			t.Fatal(run, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "kernel-1.traceg"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := text(1<<30, 1<<30)
	for _, room := range [][2]int{{0, 1}, {500, 100}, {3000, 1000}} {
		if got := text(room[0], room[1]); got != want {
			t.Errorf("with room for %d bytes, in chunks of %d, the trace is another", room[0], room[1])
		}
	}
}

// TestDevicesShareExporter: two devices run launches at the same time with one exporter, which writes a trace of each.
func TestDevicesShareExporter(t *testing.T) {
	x, err := New(t.TempDir(), 80)
	if err != nil {
		t.Fatal(err)
	}
	const launches = 50
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for range launches {
				if err := runOn(t, x, 80, ".entry k(.param .u64 p) { ret; }", &interp.Launch{Grid: ptx.Dim(64), Block: ptx.Dim(1)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := x.Kernels(); n != 2*launches {
		t.Errorf("%d traces, want %d", n, 2*launches)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

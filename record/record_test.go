package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/profile"
	"gemu/ptx"
	"gemu/trace"
)

// recorded returns the recording of a run on a device with the recorder and further probes.
func recorded(t testing.TB, o Options, run func(dev *interp.Device) error, probes ...probe.Probe) []byte {
	t.Helper()
	var b bytes.Buffer
	r, err := NewRecorder(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	dev := interp.NewDevice(interp.Config{Probes: append(probes, r)})
	if err := run(dev); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened opens a recording in memory.
func opened(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := Open("test", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// all returns the rows of a table.
func all[Row any](t testing.TB, f *File) []Row {
	t.Helper()
	list, err := Read[Row](f, 0, math.MaxUint64)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// workload runs a workload of the library.
func workload(name string, size int, change func(l *interp.Launch)) func(dev *interp.Device) error {
	return func(dev *interp.Device) error {
		w := kernels.Lookup(name)
		s, err := kernels.Start(context.Background(), w, dev, size)
		if err != nil {
			return err
		}
		s.Prepare = change
		return w.Run(s)
	}
}

// kernel runs a kernel on one CTA, with a buffer of 64 words that hold their indices.
func kernel(body string, threads int, policy string) func(dev *interp.Device) error {
	return func(dev *interp.Device) error {
		m, err := dev.Load("test.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n"+body))
		if err != nil {
			return err
		}
		data := make([]uint32, 64)
		for i := range data {
			data[i] = uint32(i)
		}
		b, err := interp.NewBuffer(dev, data)
		if err != nil {
			return err
		}
		l := &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(threads), Args: []any{b}}
		if policy != "" {
			l.Reconverge = interp.ReconvergerNamed(policy)
		}
		_, err = m.Run(context.Background(), l)
		return err
	}
}

// TestTranspose: rows that are moved to columns in batches have the values of their fields, which reflection reads.
func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, s := range schemas {
		if s.hasTexts {
			continue
		}
		got, want := tableWriter{numbers: make([][]uint64, len(s.columns))}, tableWriter{numbers: make([][]uint64, len(s.columns))}
		for n := range 100 {
			row := reflect.New(s.row).Elem()
			for k := range s.columns {
				if f := row.Field(k); f.CanInt() {
					f.SetInt(int64(r.Uint64()) >> (64 - 8*f.Type().Size()) >> r.IntN(8))
				} else {
					f.SetUint(r.Uint64() >> (64 - 8*f.Type().Size()) >> r.IntN(8))
				}
			}
			want.addFields(s, row)
			got.pending = append(got.pending, unsafe.Slice((*byte)(row.Addr().UnsafePointer()), s.row.Size())...)
			if n%30 == 0 {
				got.transpose(s)
			}
		}
		if got.transpose(s); !reflect.DeepEqual(got.numbers, want.numbers) {
			t.Errorf("table %s: the columns are not the fields of its rows", s.name)
		}
	}
}

// TestColumns: numbers and texts of all kinds survive encoding, and each encoding is used where it is the smallest.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, f func(i int) uint64) []uint64 {
		list := make([]uint64, n)
		for i := range list {
			list[i] = f(i)
		}
		return list
	}
	negative := func(n int64) uint64 { return uint64(n) }
	for _, c := range []struct {
		name   string
		typ    Type
		values []uint64
		want   encoding
		width  uint8
	}{
		{"one value", U64, []uint64{math.MaxUint64}, constant, 0},
		{"equal values", I32, []uint64{negative(-1), negative(-1)}, constant, 0},
		{"bytes", U8, random(100, func(i int) uint64 { return uint64(i*37) % 256 }), plain, 1},
		{"counting", U64, random(1000, func(i int) uint64 { return 1<<40 + uint64(i) }), differences, 1},
		{"falling", U64, random(1000, func(i int) uint64 { return 1<<40 - 100*uint64(i) }), differences, 1},
		{"a tie", U64, random(10, func(i int) uint64 { return 381 * uint64(i) }), plain, 2},
		{"step of -128", U32, random(1000, func(i int) uint64 { return 1<<20 - 128*uint64(i) }), differences, 1},
		{"step of 128", U32, random(1000, func(i int) uint64 { return 128 * uint64(i) }), differences, 2},
		{"around zero", I64, []uint64{negative(-100), 100, negative(-28), 0, 27}, plain, 1},
		{"extremes", I64, []uint64{1 << 63, math.MaxInt64, 0}, plain, 8},
		{"unsigned extremes", U64, []uint64{0, math.MaxUint64, 0}, differences, 1}, // modulo 2^64 the differences are -1 and 1
		{"near a base", U64, random(50, func(i int) uint64 { return 1<<60 + uint64(i*i*977)%60000 }), plain, 2},
		{"words", U64, random(50, func(int) uint64 { return uint64(r.Uint32()) }), plain, 4},
		{"any", U64, random(50, func(int) uint64 { return r.Uint64() }), plain, 8},
	} {
		for _, compressed := range []bool{false, true} {
			x := encodeNumbers(c.values, c.typ.IsSigned())
			if x.encoding != c.want || x.width != c.width {
				t.Errorf("%s: encoding %d of width %d, want %d of %d", c.name, x.encoding, x.width, c.want, c.width)
			}
			if compressed {
				new(deflater).deflate(&x)
			}
			if got := reread(t, x); true {
				values, err := got.numbers(c.typ, len(c.values))
				if err != nil || !slices.Equal(values, c.values) {
					t.Errorf("%s: %d, %v; want %d", c.name, values, err, c.values)
				}
			}
		}
	}
	list := []string{"", "add.u32", "größer", strings.Repeat("x", 300), "", "a\nb"}
	x := encodeTexts(list)
	new(deflater).deflate(&x)
	if x.flags&isDeflated == 0 {
		t.Error("300 equal letters are not deflated")
	}
	got := reread(t, x)
	if texts, err := got.texts(len(list)); err != nil || !slices.Equal(texts, list) {
		t.Errorf("%q, %v; want %q", texts, err, list)
	}
}

// reread returns the column that a reader makes of a descriptor.
func reread(t *testing.T, x storedColumn) *storedColumn {
	t.Helper()
	b := x.appendDescriptor(nil)
	if len(b) != descriptorBytes {
		t.Fatalf("a descriptor of %d bytes", len(b))
	}
	var got storedColumn
	if n := got.parseDescriptor(b); int(n) != len(x.stored) {
		t.Errorf("%d stored bytes, want %d", n, len(x.stored))
	}
	got.stored = x.stored
	return &got
}

// nested is two nested branches, of lanes with bit 0 and bit 1 of their index.
const nested = `
.visible .entry k(.param .u64 p)
{
	.reg .pred %a, %b;
	.reg .u32 %t, %x, %n;
	mov.u32 %t, %tid.x;
	and.b32 %x, %t, 1;
	setp.eq.u32 %a, %x, 0;
	mov.u32 %n, 0;
	@%a bra OUTER;
	and.b32 %x, %t, 2;
	setp.eq.u32 %b, %x, 0;
	@%b bra INNER;
	add.u32 %n, %n, 1;
INNER:
	add.u32 %n, %n, 2;
OUTER:
	add.u32 %n, %n, 4;
	ret;
}`

// TestDivergence: the events of two nested branches, which follow from the program. Lanes 0 and 2 of four jump to OUTER
// (instruction 11). Of lanes 1 and 3, lane 1 jumps to INNER (10). The stack is that of Fung et al. 2007: one group of lanes runs, and
// lanes that have arrived wait at the immediate post-dominator of their branch.
func TestDivergence(t *testing.T) {
	f := opened(t, recorded(t, Options{Contents: Contents{Stack: true}}, kernel(nested, 4, "stack")))
	name := func(i int32) string { return fmt.Sprint(i + 1) } // the first instruction is 1
	var got []string
	for i, e := range all[EventRow](t, f) {
		if e.Warp < 0 || e.Kind == WarpBegin || e.Kind == WarpEnd {
			continue
		}
		line := fmt.Sprintf("%s %s lanes %04b of %04b", e.Kind, name(e.Instruction), e.Lanes, e.Active)
		groups, err := RowsOf[GroupRow](f, "event", uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(groups, func(a, b GroupRow) int { return cmp.Compare(a.Instruction, b.Instruction) })
		for _, g := range groups {
			line += fmt.Sprintf(" %04b→%s", g.Lanes, name(g.Instruction))
		}
		stack, err := RowsOf[StackRow](f, "event", uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stack {
			line += fmt.Sprintf("; %s %04b", s.Kind, s.Lanes)
			if s.Kind == Point {
				line += fmt.Sprintf(" arrived %04b", s.Arrived)
			}
			line += fmt.Sprintf(" at %s depth %d", name(s.Instruction), s.Depth)
		}
		got = append(got, line)
	}
	want := []string{
		"instruction 1 lanes 1111 of 1111; running 1111 at 1 depth 0",
		"instruction 2 lanes 1111 of 1111",
		"instruction 3 lanes 1111 of 1111",
		"instruction 4 lanes 1111 of 1111",
		"instruction 5 lanes 0101 of 1111",
		"branch 5 lanes 0101 of 1111 1010→6 0101→11",
		"split 5 lanes 1111 of 1111 1010→6 0101→11",
		"instruction 6 lanes 1010 of 1010; running 1010 at 6 depth 1; point 1111 arrived 0101 at 11 depth 0",
		"instruction 7 lanes 1010 of 1010",
		"instruction 8 lanes 0010 of 1010",
		"branch 8 lanes 0010 of 1010 1000→9 0010→10",
		"split 8 lanes 1010 of 1010 1000→9 0010→10",
		"instruction 9 lanes 1000 of 1000; running 1000 at 9 depth 2; point 1010 arrived 0010 at 10 depth 1; point 1111 arrived 0101 at 11 depth 0",
		"reconverge 10 lanes 1010 of 1010",
		"instruction 10 lanes 1010 of 1010; running 1010 at 10 depth 1; point 1111 arrived 0101 at 11 depth 0",
		"reconverge 11 lanes 1111 of 1111",
		"instruction 11 lanes 1111 of 1111; running 1111 at 11 depth 0",
		"instruction 12 lanes 1111 of 1111",
		"exit 12 lanes 1111 of 1111",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// laneValues returns the value of each lane of a row.
func laneValues(t *testing.T, values []ValueRow, class Class, base, high uint64, stride int64, first, lanes uint64, bits uint64) string {
	t.Helper()
	var list []string
	n := first
	for lane := range 64 {
		if lanes>>lane&1 == 0 {
			continue
		}
		low, hi := base, high
		switch class {
		case Affine:
			low = base + uint64(lane)*uint64(stride)
		case Generic:
			low, hi = values[n].Low, values[n].High
			n++
		case Mask:
			low = base >> lane & 1
		case NoValue:
			low = 0
		}
		if bits < 64 {
			low &= 1<<bits - 1
		}
		list = append(list, fmt.Sprintf("%x:%x", hi, low))
	}
	return strings.Join(list, " ")
}

// warpRecords returns the instructions, returns, wakes and effects of each warp, as texts with the values of each lane.
func warpRecords(t *testing.T, b []byte) map[string][]string {
	t.Helper()
	f := opened(t, b)
	instructions, registers := all[InstructionRow](t, f), all[RegisterRow](t, f)
	values, launches := all[ValueRow](t, f), all[LaunchRow](t, f)
	results, accesses, stores := all[ResultRow](t, f), all[AccessRow](t, f), all[StoreRow](t, f)
	list := map[string][]string{}
	accessRow := uint64(0)
	for i, e := range all[EventRow](t, f) {
		for len(results) > 0 && results[0].Event < uint64(i) {
			t.Fatal("a result belongs to no event")
		}
		var text strings.Builder
		fmt.Fprintf(&text, "%s %x/%x depth %d", e.Kind, e.Lanes, e.Active, e.Depth)
		if e.Instruction >= 0 {
			text.WriteString(" " + instructions[e.Instruction].Text)
		}
		parts := false
		for ; len(results) > 0 && results[0].Event == uint64(i); results = results[1:] {
			r, reg := &results[0], &registers[results[0].Register]
			fmt.Fprintf(&text, " %s=%s", reg.Name, laneValues(t, values, r.Class, r.Base, r.High, r.Stride, r.Values, r.Lanes, uint64(reg.Bits)))
			parts = true
		}
		for n := 0; len(accesses) > 0 && accesses[0].Event == uint64(i); n++ {
			a := &accesses[0]
			fmt.Fprintf(&text, " %s %s %d %x: %s (%d, %d)", a.Kind, a.Space, a.Bytes, a.Lanes, laneValues(t, values, a.Class, a.Base, 0, a.Stride, a.Values, a.Lanes, 64), a.Sectors, a.Passes)
			row := accessRow
			accesses, accessRow, parts = accesses[1:], accessRow+1, true
			for ; len(stores) > 0 && stores[0].Access == row; stores = stores[1:] {
				s := &stores[0]
				fmt.Fprintf(&text, " %d=%s", s.Compare, laneValues(t, values, s.Class, s.Base, 0, s.Stride, s.Values, a.Lanes, uint64(s.Bits)))
			}
		}
		switch e.Kind {
		case Instruction, Effect, Trap:
		case Return, Wake:
			if !parts {
				continue // a log has them with results only
			}
		default:
			continue
		}
		key := fmt.Sprintf("%d %s %d %d", e.Launch, launches[e.Launch].Kernel, e.CTA, e.Warp)
		list[key] = append(list[key], text.String())
	}
	return list
}

// asynchronous copies 16 bytes to shared memory.
const asynchronous = `
.visible .entry k(.param .u64 p)
{
	.shared .align 16 .b8 s[64];
	.reg .u64 %p;
	.reg .u32 %s, %v;
	ld.param.u64 %p, [p];
	mov.u32 %s, s;
	cp.async.ca.shared.global [%s+16], [%p+32], 16;
	cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.u32 %v, [%s+16];
	ret;
}`

// TestAsynchronousCopy: an asynchronous copy has stages, memory on both sides, and the bytes that it writes: words 8 to 11 of the
// buffer.
func TestAsynchronousCopy(t *testing.T) {
	f := opened(t, recorded(t, Options{Contents: Contents{Accesses: true}}, kernel(asynchronous, 1, "")))
	var stages []string
	for _, x := range all[EffectRow](t, f) {
		stage := fmt.Sprintf("issued %d reads %d writes %d:", x.Issued, x.Reads, x.Writes)
		accesses, err := RowsOf[AccessRow](f, "event", x.Event)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range accesses {
			stage += fmt.Sprintf(" %s %s %d at %#x", a.Kind, a.Space, a.Bytes, a.Base)
		}
		stages = append(stages, stage)
	}
	want := []string{"issued 1 reads 0 writes 0:", fmt.Sprintf("issued 0 reads 1 writes 1: load global 16 at %#x store shared 16 at 0x10", probe.FirstAddress+32)}
	if !slices.Equal(stages, want) {
		t.Errorf("got  %q\nwant %q", stages, want)
	}
	writes, data := all[WriteRow](t, f), all[DataRow](t, f)
	var written []byte
	for _, w := range writes {
		for _, d := range data[w.Data : w.Data+w.Bytes] {
			written = append(written, d.Byte)
		}
	}
	if !bytes.Equal(written, []byte{8, 0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0, 11, 0, 0, 0}) {
		t.Errorf("written: %v", written)
	}
}

// TestLikeLog: the recording of a launch and that of its commit log have the same instructions, results, addresses, stored values
// and transactions, warp by warp. The log comes from another probe, and FromLog resolves addresses without the machine.
func TestLikeLog(t *testing.T) {
	var picture, surface uint64
	onlySurface := strings.Replace(texels, "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f0}];", "", 1) // a log has no fetches
	for name, run := range map[string]func(dev *interp.Device) error{
		"surface": fetchAndStore(onlySurface, &picture, &surface),
		"reduce":  workload("reduce", 600, nil), "histogram": workload("histogram", 700, nil), "bfs": workload("bfs", 300, nil),
		"nqueens": workload("nqueens", 6, nil), "an asynchronous copy": kernel(asynchronous, 1, ""),
	} {
		var log bytes.Buffer
		w, err := trace.NewWriter(&log, trace.Binary, &trace.Header{Version: trace.Version})
		if err != nil {
			t.Fatal(err)
		}
		logger := trace.NewRecorder(w, trace.Filter{})
		o := Options{Contents: Contents{Results: true, Accesses: true}}
		live := recorded(t, o, run, logger)
		if err := logger.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := trace.NewReader("log", &log)
		if err != nil {
			t.Fatal(err)
		}
		var converted bytes.Buffer
		if _, _, err := FromLog(&converted, r, o); err != nil {
			t.Fatal(err)
		}
		a, b := warpRecords(t, live), warpRecords(t, converted.Bytes())
		if len(a) == 0 || len(a) != len(b) {
			t.Errorf("%s: %d warps, of the log %d", name, len(a), len(b))
		}
		for warp := range a {
			if !slices.Equal(a[warp], b[warp]) {
				i := 0
				for i < len(a[warp]) && i < len(b[warp]) && a[warp][i] == b[warp][i] {
					i++
				}
				t.Errorf("%s: warp %s: record %d differs:\n%s\n%s", name, warp, i, slices.Concat(a[warp], []string{"nothing"})[i], slices.Concat(b[warp], []string{"nothing"})[i])
				break
			}
		}
	}
}

// TestTransactions: the sectors and passes of a recording add up to those that package profile counts.
func TestTransactions(t *testing.T) {
	for name, size := range map[string]int{"histogram": 3000, "transpose": 64, "reduce": 2000} {
		p := profile.New()
		f := opened(t, recorded(t, Options{Contents: Contents{Accesses: true}}, workload(name, size, nil), p))
		var sectors, passes int64
		for _, a := range all[AccessRow](t, f) {
			sectors += int64(a.Sectors)
			passes += int64(a.Passes)
		}
		total := p.Profile().Total()
		if want := total.Global.Sectors + total.Local.Sectors; sectors != want || want == 0 {
			t.Errorf("%s: %d sectors, want %d", name, sectors, want)
		}
		if want := total.Shared.Passes + total.Constant.Passes; passes != want {
			t.Errorf("%s: %d passes, want %d", name, passes, want)
		}
	}
}

// TestSameBytes: mode, engine and number of host threads do not change a recording.
func TestSameBytes(t *testing.T) {
	o := Options{Contents: Contents{true, true, true, true, true}}
	first := recorded(t, o, workload("histogram", 500, nil))
	for _, mode := range []interp.Mode{interp.Check, interp.Affine, interp.Vector} {
		for _, workers := range []int{1, 3} {
			var b bytes.Buffer
			r, err := NewRecorder(&b, o)
			if err != nil {
				t.Fatal(err)
			}
			dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}, Workers: workers})
			if err := workload("histogram", 500, func(l *interp.Launch) { l.Mode = mode })(dev); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil || !bytes.Equal(b.Bytes(), first) {
				t.Errorf("mode %v with %d workers: another recording, %v", mode, workers, err)
			}
		}
	}
}

// TestMemoryImage: the image has the contents of a buffer when a launch begins; a second launch shares the rows of equal contents.
// The 8 bytes of the argument precede the images of a launch.
func TestMemoryImage(t *testing.T) {
	const increment = `
.visible .entry k(.param .u64 p)
{
	.reg .u64 %p, %o;
	.reg .u32 %t, %v;
	ld.param.u64 %p, [p];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %o, %t, 4;
	add.u64 %p, %p, %o;
	ld.global.u32 %v, [%p];
	add.u32 %v, %v, 1;
	st.global.u32 [%p], %v;
	ret;
}`
	f := opened(t, recorded(t, Options{Contents: Contents{Memory: true}}, func(dev *interp.Device) error {
		m, err := dev.Load("test.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n"+increment))
		if err != nil {
			return err
		}
		constantBuffer, err := interp.NewBuffer(dev, []uint32{7, 7})
		if err != nil {
			return err
		}
		b, err := interp.NewBuffer(dev, []uint32{10, 20, 30})
		if err != nil {
			return err
		}
		for range 2 {
			if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(3), b); err != nil {
				return err
			}
		}
		return constantBuffer.Free()
	}))
	data := all[DataRow](t, f)
	var got []string
	allocations := all[AllocationRow](t, f)
	for _, m := range all[ImageRow](t, f) {
		text := fmt.Sprintf("launch %d, %d bytes:", m.Launch, allocations[m.Allocation].Size)
		for i := uint64(0); i < m.Bytes; i += 4 {
			text += fmt.Sprintf(" %d", uint32(data[m.Data+i].Byte)|uint32(data[m.Data+i+1].Byte)<<8)
		}
		got = append(got, fmt.Sprintf("%s from row %d", text, m.Data))
	}
	want := []string{
		"launch 0, 8 bytes: 7 7 from row 8", "launch 0, 12 bytes: 10 20 30 from row 16",
		"launch 1, 8 bytes: 7 7 from row 8", "launch 1, 12 bytes: 11 21 31 from row 36",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if frees := all[FreeRow](t, f); len(frees) != 1 || allocations[frees[0].Allocation].Size != 8 {
		t.Errorf("freed: %+v", frees)
	}
}

// TestLimits: a recording ends at its limits, says so, and leaves the launch alone.
func TestLimits(t *testing.T) {
	full := opened(t, recorded(t, Options{}, workload("histogram", 3000, nil)))
	events := all[EventRow](t, full)
	for _, limit := range []int64{1, 7, int64(len(events)) - 1} {
		f := opened(t, recorded(t, Options{MaxEvents: limit}, workload("histogram", 3000, nil)))
		if got := all[EventRow](t, f); !slices.Equal(got, events[:limit]) {
			t.Errorf("limit %d: %d events, want the first %d", limit, len(got), limit)
		}
		if ends := all[EndRow](t, f); ends[len(ends)-1].Complete != 0 {
			t.Errorf("limit %d: the launch counts as complete", limit)
		}
	}
	for _, limit := range []int64{int64(len(events)), -1} {
		f := opened(t, recorded(t, Options{MaxEvents: limit}, workload("histogram", 3000, nil)))
		if ends := all[EndRow](t, f); f.Table("events").Rows != uint64(len(events)) || ends[len(ends)-1].Complete != 1 {
			t.Errorf("limit %d: %d events of %d, %+v", limit, f.Table("events").Rows, len(events), ends)
		}
	}
	defer func(n int) { blockRows = n }(blockRows)
	blockRows = 100
	b := recorded(t, Options{MaxBytes: 20000}, workload("histogram", 3000, nil))
	f := opened(t, b)
	if n := f.Table("events").Rows; n == 0 || n >= uint64(len(events)) || !slices.Equal(all[EventRow](t, f), events[:n]) {
		t.Errorf("a file of 20,000 bytes has %d events of %d", n, len(events))
	}
	if len(b) > 20000+10000 { // the rows that are not written yet, and the directory
		t.Errorf("%d bytes", len(b))
	}
}

// failingWriter accepts n bytes.
type failingWriter struct{ n int }

var errDisk = errors.New("the disk is full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.n -= len(b); w.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

// TestFailingWriter: the first error of the writer is returned at the end.
func TestFailingWriter(t *testing.T) {
	for _, n := range []int{0, 5000} {
		r, err := NewRecorder(&failingWriter{n}, Options{})
		if err == nil {
			dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
			if err := workload("histogram", 100, nil)(dev); err != nil {
				t.Fatal(err)
			}
			err = r.Close()
		}
		if !errors.Is(err, errDisk) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestStopped: of a file that ends anywhere, the whole blocks can be read.
func TestStopped(t *testing.T) {
	defer func(n int) { blockRows = n }(blockRows)
	blockRows = 16
	b := recorded(t, Options{Contents: Contents{true, true, true, true, true}}, kernel(nested, 32, ""))
	events := all[EventRow](t, opened(t, b))
	lengths := map[int]bool{}
	for n := range b {
		f, err := Open("cut", bytes.NewReader(b[:n]), int64(n))
		if err != nil {
			if n > 4000 {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if f.Complete {
			t.Fatalf("%d of %d bytes count as complete", n, len(b))
		}
		got := all[EventRow](t, f)
		if !slices.Equal(got, events[:len(got)]) {
			t.Fatalf("%d bytes: other events", n)
		}
		lengths[len(got)] = true
	}
	if !lengths[0] || !lengths[16] {
		t.Errorf("numbers of events: %v", lengths)
	}
}

// TestDamaged: each damaged byte is found, with its place, or leaves a file without its end, except for the zeros that fill up
// blocks: those of a header, and up to seven after each column.
func TestDamaged(t *testing.T) {
	b := recorded(t, Options{Contents: Contents{true, true, true, true, true}}, kernel(nested, 32, ""))
	for i := range b {
		x := bytes.Clone(b)
		x[i] ^= 0x10
		f, err := Open("test", bytes.NewReader(x), int64(len(x)))
		for _, table := range tablesOf(f) {
			for _, c := range table.Columns {
				if err == nil && c.Type == Text {
					_, err = table.ReadTexts(c.Name, 0, table.Rows)
				} else if err == nil {
					_, err = table.ReadNumbers(c.Name, 0, table.Rows)
				}
			}
		}
		var place *Error
		switch {
		case err == nil && f.Complete && b[i] != 0:
			t.Errorf("byte %d of %d can change without an error", i, len(b))
		case err != nil && !errors.As(err, &place):
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func tablesOf(f *File) []*Table {
	if f == nil {
		return nil
	}
	return f.Tables()
}

// FuzzOpen: no file makes the reader crash, or read without end.
func FuzzOpen(f *testing.F) {
	f.Add(recorded(f, Options{Contents: Contents{true, true, true, true, true}, Uncompressed: true}, kernel(nested, 4, "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Open("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, table := range file.Tables() {
			for _, c := range table.Columns {
				if c.Type == Text {
					table.ReadTexts(c.Name, 0, table.Rows)
				} else {
					table.ReadNumbers(c.Name, 0, table.Rows)
				}
			}
		}
		Read[EventRow](file, 0, 100)
	})
}

// TestSeek: rows from any row on, across blocks, and rows of an event.
func TestSeek(t *testing.T) {
	defer func(n int) { blockRows = n }(blockRows)
	blockRows = 64
	f := opened(t, recorded(t, Options{Contents: Contents{Results: true}}, workload("histogram", 500, nil)))
	events, results := all[EventRow](t, f), all[ResultRow](t, f)
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		from, n := r.Uint64N(uint64(len(events)+10)), r.Uint64N(200)
		got, err := Read[EventRow](f, from, n)
		end := min(from+n, uint64(len(events)))
		if err != nil || !slices.Equal(got, events[min(from, end):end]) {
			t.Fatalf("rows from %d, %d: %v", from, n, err)
		}
		event := r.Uint64N(uint64(len(events)))
		of, err := RowsOf[ResultRow](f, "event", event)
		var want []ResultRow
		for _, x := range results {
			if x.Event == event {
				want = append(want, x)
			}
		}
		if err != nil || !slices.Equal(of, want) {
			t.Fatalf("results of event %d: %+v, %v; want %+v", event, of, err, want)
		}
	}
	// Steps ascend within a launch, and number its instructions.
	step := uint64(0)
	for i, e := range events {
		if e.Step < step {
			t.Fatalf("event %d: step %d after %d", i, e.Step, step)
		}
		step = e.Step
	}
	if at, err := f.Table("events").Search("step", 5, 0, math.MaxUint64); err != nil || events[at].Step != 5 || events[at-1].Step != 4 {
		t.Errorf("step 5 is at %d, %v", at, err)
	}
}

// TestFilters: a filter leaves out what it does not select, and nothing else changes.
func TestFilters(t *testing.T) {
	run := func(f trace.Filter) []EventRow {
		return all[EventRow](t, opened(t, recorded(t, Options{Filter: f}, workload("histogram", 3000, nil))))
	}
	events := run(trace.Filter{})
	for _, c := range []struct {
		filter trace.Filter
		passes func(e EventRow) bool
	}{
		{trace.Filter{CTAs: trace.Ranges{{From: 1, To: 1}}}, func(e EventRow) bool { return e.CTA == 1 }},
		{trace.Filter{Warps: trace.Ranges{{From: 0, To: 1}}}, func(e EventRow) bool { return e.Warp < 2 }},
		{trace.Filter{Kernel: "other"}, func(EventRow) bool { return false }},
	} {
		var want []EventRow
		for _, e := range events {
			if c.passes(e) {
				want = append(want, e)
			}
		}
		if got := run(c.filter); !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("%s: %d events, want %d; from event %d on: %+v, want %+v", c.filter.String(), len(got), len(want), i, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
		}
	}
}

// TestTrap: a trap is an event, and the launch ends with its error.
func TestTrap(t *testing.T) {
	const body = ".visible .entry k(.param .u64 p)\n{\n\t.reg .u32 %v;\n\t.reg .u64 %a;\n\tmov.u64 %a, 64;\n\tld.global.u32 %v, [%a];\n\tret;\n}"
	var b bytes.Buffer
	r, err := NewRecorder(&b, Options{Contents: Contents{true, true, true, true, true}})
	if err != nil {
		t.Fatal(err)
	}
	err = kernel(body, 4, "")(interp.NewDevice(interp.Config{Probes: []probe.Probe{r}}))
	var trap *probe.Trap
	if !errors.As(err, &trap) {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f := opened(t, b.Bytes())
	traps, ends := all[TrapRow](t, f), all[EndRow](t, f)
	if len(traps) != 1 || traps[0].Message != trap.Msg || len(ends) != 1 || !strings.Contains(ends[0].Error, trap.Msg) {
		t.Errorf("%+v, %+v; want %s", traps, ends, trap.Msg)
	}
	events, err := Read[EventRow](f, traps[0].Event, 1)
	if err != nil || events[0].Kind != Trap || events[0].Instruction != 1 {
		t.Errorf("%+v, %v", events, err)
	}
}

// TestNewerVersion: a reader refuses a version that it does not know, and other files.
func TestNewerVersion(t *testing.T) {
	b := recorded(t, Options{}, kernel(nested, 4, ""))
	b[7]++
	for _, c := range []struct {
		file []byte
		want string
	}{
		{b, "version 3; this gemu reads versions 1 to 2"}, {[]byte("gemu-trace 2\n"), ErrNoRecording.Error()}, {nil, ErrNoRecording.Error()}, {b[:7], ErrNoRecording.Error()},
	} {
		if _, err := Open("f", bytes.NewReader(c.file), int64(len(c.file))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.10q: %v, want %s", c.file, err, c.want)
		}
	}
}

// olderFile is a recording of version 1 that has two columns of the table launches.
func olderFile(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := &writer{out: &b}
	w.write(append([]byte(magic), 1))
	w.writeBlock(columnTable, 0, 2, []storedColumn{encodeTexts([]string{"launches", "launches"}), encodeTexts([]string{"kernel", "grid_x"}), encodeTexts([]string{"text", "u32"})})
	w.writeBlock(0, 0, 1, []storedColumn{encodeTexts([]string{"saxpy"}), encodeNumbers([]uint64{7}, false)})
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOlderVersion: a file of version 1 is read, and columns that it lacks are zero.
func TestOlderVersion(t *testing.T) {
	b := olderFile(t)
	f := opened(t, b)
	if list := all[LaunchRow](t, f); f.Version != 1 || len(list) != 1 || list[0] != (LaunchRow{Kernel: "saxpy", GridX: 7}) {
		t.Errorf("version %d: %+v", f.Version, list)
	}
	b[7] = 0
	if _, err := Open("f", bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "version 0") {
		t.Errorf("version 0: %v", err)
	}
}

// TestLongTexts: texts of many megabytes are written in blocks that a reader accepts.
func TestLongTexts(t *testing.T) {
	var b bytes.Buffer
	w, err := newWriter(&b, false)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 4<<20)
	for range 20 {
		addRow(w, &TrapRow{Message: long})
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	f := opened(t, b.Bytes())
	for i := range uint64(20) {
		if list, err := Read[TrapRow](f, i, 1); err != nil || len(list) != 1 || list[0].Message != long {
			t.Fatalf("row %d: %v", i, err)
		}
	}
}

// TestImageLimit: memory images over the limit are cut, and events are recorded all the same.
func TestImageLimit(t *testing.T) {
	f := opened(t, recorded(t, Options{Contents: Contents{Memory: true}, MaxBytes: 100}, kernel(nested, 4, "")))
	if images := all[ImageRow](t, f); len(images) != 1 || images[0].Bytes != 100 {
		t.Errorf("images: %+v, want 100 of 256 bytes", images)
	}
	if f.Table("events").Rows < 1 {
		t.Error("no events")
	}
}

// TestLogOfOthers: accesses of a foreign log are counted, or refused with their place, whatever their size.
func TestLogOfOthers(t *testing.T) {
	const head = "gemu-trace 2 by=other\nlaunch 0 kernel=k grid=1,1,1 block=32,1,1 warp=32\ncta 0 0,0,0\n"
	for access, want := range map[string]string{
		"load:shared:1000000@u:0x0":      "",
		"load:global:4@a:0x10000000+4":   "",
		"load:shared:0@u:0x0":            "launch 0, CTA 0, warp 0, line 7: an access of 0 bytes",
		"load:local:4000000000000@u:0x0": "an access of 4000000000000 bytes",
	} {
		r, err := trace.NewReader("log", strings.NewReader(head+"0 0 0 @7 f ld "+access+"\nend 0\nfinish 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, _, err = FromLog(&b, r, Options{Contents: Contents{Accesses: true}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", access, err, want)
			continue
		}
		if want != "" {
			continue
		}
		a := all[AccessRow](t, opened(t, b.Bytes()))
		if len(a) != 1 || a[0].Space == Global && a[0].Sectors != 1 || a[0].Space == Shared && a[0].Passes != 4*7813 { // of 128 bytes, for four lanes
			t.Errorf("%s: %+v", access, a)
		}
	}
}

package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// sample has every kind of record: diverged lanes, idle lanes, calls with results, barriers with results, vector
// stores, atomics, registers of 128 bits, asynchronous copies, a clock.
const sample = `.version 8.5
.target sm_90
.address_size 64
.func (.reg .u32 %o) twice (.reg .u32 %i)
{
	add.u32 %o, %i, %i;
	ret;
}
.visible .entry sample(.param .u64 out)
{
	.reg .u64 %p, %q;
	.reg .u32 %t, %n, %v, %w, %s;
	.reg .b128 %b;
	.reg .f32 %f;
	.reg .pred %c, %d;
	.shared .align 16 .b8 tile[1024];
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	mul.lo.u32 %n, %t, %t;
	mov.u32 %s, %ctaid.x; mad.lo.u32 %s, %s, 40, %t; mul.wide.u32 %q, %s, 16;
	add.u64 %p, %p, %q;
	st.global.v4.u32 [%p], {%t, %n, %n, %t};
	st.global.v2.u32 [%p], {%t, %n};
	mov.b128 %b, {%p, %q};
	setp.lt.u32 %c, %t, 5;
	@%c bra L;
	call (%v), twice, (%t);
	bra.uni M;
L:	mov.u32 %v, %clock;
M:	atom.global.add.u32 %w, [%p], 1;
	setp.eq.u32 %d, %t, 3;
	barrier.red.popc.u32 %w, 0, %d;
	mov.u32 %s, tile;
	cp.async.ca.shared.global [%s], [%p], 16;
	cp.async.wait_all;
	@%d st.shared.u8 [%s], %t;
	cvt.rn.f32.u32 %f, %t;
	rsqrt.approx.f32 %f, %f;
	st.global.f32 [%p+4], %f;
	ret;
}`

// logOf returns the log of a kernel in CTAs of 40 threads on a buffer.
func logOf(t testing.TB, src string, ctas, workers int, f Format, filter Filter) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, f, &Header{Version: Version})
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(w, filter)
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}, Workers: workers, SM: 90})
	mod, err := dev.Load("sample.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	output, err := interp.NewBuffer(dev, make([]uint32, 4*40*ctas))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "", ptx.Dim(ctas), ptx.Dim(40), output); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Err(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func memory(name string, b []byte) Source {
	return Source{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// read reads a whole log.
func read(b []byte) (list []Entry, h Header, err error) {
	r, err := NewReader("log", bytes.NewReader(b))
	if err != nil {
		return nil, h, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if err == io.EOF {
			return list, r.Header, nil
		}
		if err != nil {
			return list, r.Header, err
		}
		list = append(list, e)
	}
}

// write writes entries.
func write(t *testing.T, f Format, h Header, list []Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, f, &h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if _, ok := e.(*Finish); !ok {
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFormatsReadTheSame: all formats give the same entries, and writing them as text gives the original text.
func TestFormatsReadTheSame(t *testing.T) {
	logs := map[Format][]byte{}
	for _, f := range []Format{Text, Binary, Bare} {
		logs[f] = logOf(t, sample, 3, 0, f, Filter{})
	}
	want, h, err := read(logs[Text])
	if err != nil {
		t.Fatal(err)
	}
	if again := write(t, Text, h, want); !bytes.Equal(again, logs[Text]) {
		t.Errorf("(-read +written):\n%s", cmp.Diff(strings.Split(string(logs[Text]), "\n"), strings.Split(string(again), "\n")))
	}
	for _, f := range []Format{Binary, Bare} {
		got, h, err := read(logs[f])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Record{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("format %d (-text +it):\n%s", f, d)
		}
		if again := write(t, Text, h, got); !bytes.Equal(again, logs[Text]) {
			t.Errorf("format %d in text is not the same", f)
		}
	}
	kinds := map[Kind]int{}
	wide, missing := false, 0
	for _, e := range want {
		if r, ok := e.(*Record); ok {
			kinds[r.Kind]++
			for _, v := range r.Results {
				wide = wide || v.Bits == 128
			}
			if r.Numbers != nil {
				missing++
			}
		}
	}
	if kinds[Return] == 0 || kinds[Wake] == 0 || kinds[Effect] == 0 || !wide || missing > 0 {
		t.Errorf("kinds %v, of 128 bits %v, numbered %d", kinds, wide, missing)
	}
}

// TestRegistersSharedByFunctions: before PTX 3.0, a module can have registers shared by all functions. The record of a
// call has them as results, although the call does not name them.
func TestRegistersSharedByFunctions(t *testing.T) {
	const src = `
.version 2.3
.target sm_20
.address_size 64
.reg .pred %odd;
.reg .u16 %low;
.func parity(.reg .u32 %x)
{
	.reg .u32 %a;
	and.b32 %a, %x, 5;
	setp.eq.u32 %odd, %a, 1;
	cvt.u16.u32 %low, %a;
	ret;
}
.entry k(.param .u64 p)
{
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	call parity, (%t);
	ret;
}`
	for _, f := range []Format{Text, Binary, Bare} {
		list, _, err := read(logOf(t, src, 1, 1, f, Filter{}))
		if err != nil {
			t.Errorf("format %d: %v", f, err)
		}
		back := 0
		for _, e := range list {
			r, ok := e.(*Record)
			if !ok || r.Kind != Return {
				continue
			}
			back++
			for i := range r.Results {
				v := &r.Results[i]
				for lane := range bits.Len64(r.Lanes) {
					x := 32*r.Warp + uint64(lane)
					want := map[string]uint64{"%low": x & 5, "%odd": 0}
					if x&5 == 1 {
						want["%odd"] = 1
					}
					if got, _ := v.At(r.Lanes, lane); got != want[v.Name] {
						t.Errorf("format %d: warp %d, lane %d: %s is %d, want %d", f, r.Warp, lane, v.Name, got, want[v.Name])
					}
				}
			}
			if len(r.Results) != 2 {
				t.Errorf("format %d: results %v", f, r.Results)
			}
		}
		if back != 2 {
			t.Errorf("format %d: %d returns", f, back)
		}
	}
}

// TestCodeHasRegistersSharedByFunctions: the code of a call names the module's registers, also those that no instruction
// of the kernel names. So a log without code lines may have them as results.
func TestCodeHasRegistersSharedByFunctions(t *testing.T) {
	const src = `
.version 2.3
.target sm_20
.address_size 64
.reg .u32 %sum, %unused;
.func next() { add.u32 %sum, %sum, 1; ret; }
.entry k(.param .u64 p)
{
	mov.u32 %sum, 7;
	call next, ();
	ret;
}`
	log := logOf(t, src, 1, 1, Text, Filter{})
	list, _ := entriesOf(t, log)
	var got []Register
	for _, e := range list {
		if c, ok := e.(*Code); ok && strings.HasPrefix(c.Text, "call") {
			got = append(got, c.Writes...)
		}
	}
	if want := []Register{{"%sum", 32, ".u32"}, {"%unused", 32, ".u32"}}; !slices.Equal(got, want) {
		t.Errorf("the call writes %v, want %v", got, want)
	}
	if d, _, err := Compare(memory("other", withoutCode(t, log)), memory("log", log), Options{}); d != nil || err != nil {
		t.Errorf("%v\n%v", err, d)
	}
}

// TestProtoFileHasAllFields: trace.proto has all written fields.
func TestProtoFileHasAllFields(t *testing.T) {
	b, err := os.ReadFile("trace.proto")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	name := ""
	for _, line := range strings.Split(string(b), "\n") {
		line, _, _ = strings.Cut(line, "//")
		if m := regexp.MustCompile(`^message (\w+) {`).FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := regexp.MustCompile(`^\s+((?:repeated )?\w+) (\w+) = (\d+);`).FindStringSubmatch(line); m != nil {
			want[name] = append(want[name], fmt.Sprintf("%s %s = %s", m[1], m[2], m[3]))
		}
	}
	got := map[string][]string{
		"Entry": fields(entryMessage), "Header": fields(headerMessage), "Launch": fields(launchMessage), "Code": fields(codeMessage),
		"Register": fields(registerMessage), "CTA": fields(ctaMessage), "Record": fields(recordMessage), "Value": fields(valueMessage),
		"Filter": fields(filterMessage), "Access": fields(accessMessage), "End": fields(endMessage), "Finish": fields(finishMessage), "Index": fields(indexMessage), "Place": fields(placeMessage),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-trace.proto +wire.go):\n%s", d)
	}
}

func fields[T any](m message[T]) (list []string) {
	for i, f := range m {
		if int(f.number) != i+1 {
			list = append(list, "out of order")
		}
		list = append(list, fmt.Sprintf("%s %s = %d", f.typ, f.name, f.number))
	}
	return list
}

// TestTruncatedLog: a truncated log is an error with its place, and a corrupted log is at worst an error.
func TestTruncatedLog(t *testing.T) {
	for _, f := range []Format{Text, Bare, Binary} {
		log := logOf(t, sample, 1, 0, f, Filter{})
		whole := len(log)
		if f == Text {
			whole = bytes.Index(log, []byte("\nfinish"))
		}
		for n := 0; n < whole; n += 1 + n/15 {
			_, _, err := read(log[:n])
			var e *Error
			if f == Binary && err == nil { // the frame skipped at the end is missing
				continue
			}
			if !errors.As(err, &e) || e.Offset > int64(20*n+1) {
				t.Errorf("format %d: %d bytes: %v", f, n, err)
			}
			if d, _, err := Compare(memory("whole", log), memory("part", log[:n]), Options{}); err == nil {
				t.Errorf("format %d: %d bytes: compared, %v", f, n, d)
			}
		}
		r := rand.New(rand.NewPCG(1, uint64(f)))
		for range 100 {
			damaged := slices.Clone(log)
			for range 1 + r.IntN(3) {
				damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			}
			read(damaged)
			if d, _, _ := Compare(memory("log", log), memory("bad", damaged), Options{}); d != nil {
				_ = d.String()
				d.Slice([2]Source{memory("log", log), memory("bad", damaged)})
			}
		}
	}
}

// TestCloseWritesEndedLaunches: a log that is closed while its first launch runs has the later launches that have ended.
func TestCloseWritesEndedLaunches(t *testing.T) {
	const src = `.version 7.8
.target sm_80
.address_size 64
.visible .entry wait(.param .u64 p)
{
	.reg .u32 %r; .reg .u64 %p; .reg .pred %q;
	ld.param.u64 %p, [p];
L:	ld.acquire.gpu.global.u32 %r, [%p];
	setp.ne.u32 %q, %r, 1;
	@%q bra L;
	ret;
}
.visible .entry short() { ret; }
`
	for _, f := range []Format{Text, Bare, Binary} {
		var b bytes.Buffer
		w, err := NewWriter(&b, f, &Header{Version: Version})
		if err != nil {
			t.Fatal(err)
		}
		r := NewRecorder(w, Filter{})
		dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
		mod, err := dev.Load("two.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		flag, err := interp.NewBuffer(dev, make([]uint32, 1))
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("the test ends")
		mod.Run(t.Context(), &interp.Launch{Kernel: "wait", Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{flag}, Yield: func(*interp.Turn) interp.Resumption {
			for range 2 {
				if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "short", Grid: ptx.Dim(2), Block: ptx.Dim(1), Yield: func(*interp.Turn) interp.Resumption { return interp.Resumption{} }}); err != nil {
					t.Error(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			return interp.Resumption{Err: stop}
		}})
		list, _, err := read(b.Bytes())
		if !errors.Is(err, ErrTruncated) {
			t.Errorf("format %d: %v, want %v", f, err, ErrTruncated)
		}
		var got []string
		for _, e := range list {
			switch e := e.(type) {
			case *Launch:
				got = append(got, fmt.Sprintf("launch %d %s", e.Number, e.Kernel))
			case *CTA:
				got = append(got, fmt.Sprintf("CTA %d", e.Number))
			case *End:
				got = append(got, fmt.Sprintf("end %d %s", e.Number, e.Error))
			}
		}
		want := []string{"launch 0 wait", "end 0 " + errUnended.Error(), "launch 1 short", "CTA 0", "CTA 1", "end 1 ", "launch 2 short", "CTA 0", "CTA 1", "end 2 "}
		if !slices.Equal(got, want) {
			t.Errorf("format %d: the log has\n%q, want\n%q", f, got, want)
		}
	}
}

// TestForeignFile: a file that is no log, or a log of another version, is an error that says so.
func TestForeignFile(t *testing.T) {
	for log, want := range map[string]string{
		"":                                     "log: at byte 0: the file is empty",
		"gemu-trace 3\n":                       "log:1: at byte 0: the log has format version 3; this gemu reads versions 1 to 2",
		"gemu-trace 1 lacks=sun\n":             `log:1: at byte 0: unknown part "sun" in the header's list of missing parts: want some of`,
		"hello\n":                              "log: at byte 0: not a gemu log",
		"\x7fELF\x02\x01\x01":                  "log: at byte 0: not a gemu log",
		"gemu-trace 1\nlaunch 0 grid=1,1\n":    "log:2: at byte 13: 1,1: want X,Y,Z",
		"gemu-trace 1\nlaunch 0 block=0,0,0\n": "log:2: at byte 13: the grid or block of the launch has an extent of 0",
		"gemu-trace 1\nlaunch 0 warp=7\n":      "log:2: at byte 13: the launch has warps of 7 lanes; want a power of two up to 64",
		"gemu-trace 1\nlaunch 0\n0 0 0 @3 fffffffff add\n":                                           "log:3: at byte 22: lane 35 is active, but the warps of the launch have 32 lanes",
		"gemu-trace 1\nlaunch 0\n0 0 0 @3 1 add %r=u:0x1\nend 0\n":                                   "log:5: at byte 52: the log is incomplete: it ends here, without a finish entry",
		"gemu-trace 1\nlaunch 0\n0 0 0 @3 1 add %r=u:12\n":                                           " 12 is not a hexadecimal number such as 0x1f",
		"gemu-trace 1\nlaunch 0\n0 0 0 @3 3 add %r=g:0x1,0x2,0x3\n":                                  "log:3: at byte 22: %r: 3 values instead of 2",
		"gemu-trace 1\nlaunch 0\n0 0 0 @3 1 add load:global\n":                                       "want an access",
		"gemu-trace 1\nlaunch 0\ncta 1 1,0,0\ncta 0 0,0,0\n":                                         "log:4: at byte 34: CTA 0 comes after CTA 1; CTAs must be in ascending order",
		"gemu-trace 1\nlaunch 0\n0 99999999 0 @3 1 add\nend 0\nfinish 1\n":                           "warp number 99999999 is too large for a CTA",
		"gemu-trace 1\nlaunch 0\nend 0\nfinish 7\n":                                                  "log:4: at byte 28: the finish entry counts 7 records, but the log has 0",
		"gemu-trace 1\nlaunch 0 warp=32\n0 0 0 @3 3 st store:global:16@u:0x1=u:0x1\nend 0\nfinish 1": "a stored element has 128 bits; want at most 64",
	} {
		_, _, err := Compare(memory("log", []byte(log)), memory("log", []byte(log)), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", log, err, want)
		}
	}
}

// TestCTAsAreWrittenInOrder: CTAs that wait for earlier CTAs are kept in memory and on disk, and are written in order.
func TestCTAsAreWrittenInOrder(t *testing.T) {
	want := logOf(t, sample, 70, 1, Text, Filter{})
	defer func(c, w int) { chunkBytes, maxWaitingBytes = c, w }(chunkBytes, maxWaitingBytes)
	for _, room := range []int{0, 100, 5000} {
		chunkBytes, maxWaitingBytes = room, 2*room
		if got := logOf(t, sample, 70, 8, Text, Filter{}); !bytes.Equal(got, want) {
			t.Errorf("with room for %d bytes, the log is another", room)
		}
	}
}

// TestInterleavedCTAs: in a log without CTA entries, records of different CTAs may be interleaved.
func TestInterleavedCTAs(t *testing.T) {
	log := logOf(t, sample, 9, 0, Text, Filter{})
	list, h, err := read(log)
	if err != nil {
		t.Fatal(err)
	}
	queues := make([][]Entry, 9)
	var mixed []Entry
	for _, e := range list {
		if r, ok := e.(*Record); ok {
			queues[r.CTA] = append(queues[r.CTA], e)
		} else if _, ok := e.(*CTA); !ok {
			mixed = append(mixed, e)
		}
	}
	position := slices.IndexFunc(mixed, func(e Entry) bool { _, ok := e.(*End); return ok })
	r := rand.New(rand.NewPCG(1, 2))
	var records []Entry
	for left := 9; left > 0; {
		if q := &queues[r.IntN(9)]; len(*q) > 0 {
			records, *q = append(records, (*q)[0]), (*q)[1:]
			if len(*q) == 0 {
				left--
			}
		}
	}
	mixed = slices.Insert(mixed, position, records...)
	defer func(w int) { maxWaitingBytes = w }(maxWaitingBytes)
	for _, room := range []int{1 << 20, 1000} {
		maxWaitingBytes = room
		for _, f := range []Format{Text, Bare} {
			d, _, err := Compare(memory("log", log), memory("mixed", write(t, f, h, mixed)), Options{})
			if d != nil || err != nil {
				t.Errorf("%v\n%v", err, d)
			}
		}
	}
}

// TestFilterKeepsNumbers: filtered records keep their numbers of the whole log.
func TestFilterKeepsNumbers(t *testing.T) {
	numbers := func(b []byte, keep func(r *Record, c *Code) bool) (list []string) {
		counts := map[[2]uint64]uint64{}
		code := map[uint64]*Code{}
		entries, _, err := read(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			switch e := e.(type) {
			case *Code:
				code[e.Index] = e
			case *Record:
				for lane := range 64 {
					key := [2]uint64{e.CTA, 32*e.Warp + uint64(lane)}
					if e.Kind != Instruction || e.Active>>lane&1 == 0 {
						continue
					}
					if e.Numbers != nil {
						counts[key], _ = e.Numbers.At(e.Active, lane)
					}
					if keep(e, code[e.Code-1]) {
						list = append(list, fmt.Sprint(key, counts[key], e.Line))
					}
					counts[key]++
				}
			}
		}
		return list
	}
	whole := logOf(t, sample, 6, 0, Text, Filter{})
	for _, c := range []struct {
		filter Filter
		keep   func(r *Record, c *Code) bool
	}{
		{Filter{CTAs: Ranges{{1, 2}, {5, 9}}}, func(r *Record, _ *Code) bool { return r.CTA == 1 || r.CTA == 2 || r.CTA == 5 }},
		{Filter{Warps: Ranges{{1, 1}}}, func(r *Record, _ *Code) bool { return r.Warp == 1 }},
		{Filter{Lines: Ranges{{5, 8}, {30, 40}}}, func(r *Record, _ *Code) bool { return r.Line >= 5 && r.Line <= 8 || r.Line >= 30 && r.Line <= 40 }},
		{Filter{Classes: []string{"memory"}}, func(_ *Record, c *Code) bool { return c.Class == "memory" }},
		{Filter{Kernel: "other"}, func(*Record, *Code) bool { return false }},
	} {
		want := numbers(whole, c.keep)
		got := numbers(logOf(t, sample, 6, 0, Bare, c.filter), func(*Record, *Code) bool { return true })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v (-whole +filtered):\n%s", c.filter, cmp.Diff(want, got))
		}
	}
}

// TestChangedModifierDiffersFirst: for a kernel with a changed modifier, the changed instruction is the first
// difference.
func TestChangedModifierDiffersFirst(t *testing.T) {
	whole := logOf(t, sample, 2, 0, Binary, Filter{})
	for _, c := range []struct{ from, to, line, what string }{
		{"mul.lo.u32 %n", "mul.hi.u32 %n", "line 19:", "the result %n"},
		{"mul.wide.u32 %q, %s, 16", "mul.wide.u32 %q, %s, 0", "line 20:", "the result %q"},
		{"setp.lt.u32 %c", "setp.le.u32 %c", "line 25:", "the result %c"},
		{"@%c bra", "@!%c bra", "line 26:", "the guard of the instruction"},
		{"add.u32 %o, %i, %i", "add.sat.s32 %o, %i, 1", "line 6:", "the result %o"},
		{"barrier.red.popc.u32 %w, 0, %d", "barrier.red.popc.u32 %w, 0, !%d", "line 32:", "the result %w"},
		{"st.shared.u8", "st.shared.u16", "line 36:", "the kind of access"},
		{"[%p+4], %f", "[%p+8], %f", "line 39:", "the address"},
		{"st.global.v2.u32 [%p], {%t, %n}", "st.global.v2.u32 [%p], {%n, %n}", "line 23:", "the stored value"},
		{"rsqrt.approx.f32", "rsqrt.approx.ftz.f32", "", ""},
		{"%clock;", "%clock_hi;", "", ""},
	} {
		other := strings.Replace(sample, c.from, c.to, 1)
		if other == sample {
			t.Fatalf("no %s", c.from)
		}
		d, _, err := Compare(memory("whole", whole), memory("edited", logOf(t, other, 2, 0, Binary, Filter{})), Options{})
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.to, err)
		case d == nil && c.what == "":
		case d == nil || d.Text != c.what || !strings.Contains(d.String(), c.line):
			t.Errorf("%s: %v, want %s at %s", c.to, d, c.what, c.line)
		}
	}
}

// adds has an atomic operation without operands and results in the log.
const adds = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p;
	ld.param.u64 %p, [out];
	red.global.add.u32 [%p], 1;
	ret;
}`

// TestChangedAtomicOperationDiffers: a different operation on memory is a difference, even without different values.
func TestChangedAtomicOperationDiffers(t *testing.T) {
	whole := logOf(t, adds, 1, 0, Binary, Filter{})
	for from, part := range map[string]string{".add.": "the operation on memory", ".zzz.": ""} {
		other := strings.Replace(adds, from, ".max.", 1)
		d, _, err := Compare(memory("whole", whole), memory("edited", logOf(t, other, 1, 0, Text, Filter{})), Options{})
		if err != nil || (d == nil) != (part == "") || d != nil && (d.Text != part || !strings.Contains(d.String(), "line 8:")) {
			t.Errorf("%s: %v %v, want %s", from, d, err, part)
		}
	}
}

// undoneSource has lanes that wait for other lanes of a shuffle, at two places.
const undoneSource = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %t, %v, %m;
	.reg .pred %d;
	activemask.b32 %m;
	mov.u32 %t, %laneid;
	setp.lt.u32 %d, %t, 5;
	@%d bra L;
	shfl.sync.idx.b32 %v, %t, 3, 31, %m;
	bra.uni M;
L:
	shfl.sync.idx.b32 %v, %t, 3, 31, %m;
M:
	ret;
}`

// TestWaitingInstructionIsNotLogged: an instruction that must wait is not in the log until it has executed.
func TestWaitingInstructionIsNotLogged(t *testing.T) {
	list, _, err := read(logOf(t, undoneSource, 1, 0, Text, Filter{Warps: Ranges{{1, 1}}}))
	if err != nil {
		t.Fatal(err)
	}
	seq, shuffled := uint64(0), uint64(0)
	for _, e := range list {
		r, ok := e.(*Record)
		if !ok {
			continue
		}
		if r.Seq != seq || r.Numbers != nil {
			t.Errorf("line %d is number %d of the warp, want %d", r.Line, r.Seq, seq)
		}
		seq++
		if strings.HasPrefix(r.Name, "shfl") {
			if r.Lanes&shuffled != 0 {
				t.Errorf("lanes %#x shuffle twice", r.Lanes&shuffled)
			}
			shuffled |= r.Lanes
			if v, _ := r.Results[0].At(r.Lanes, bits.TrailingZeros64(r.Lanes)); v != 3 {
				t.Errorf("they get %d", v)
			}
		}
	}
	if shuffled != 0xff {
		t.Errorf("lanes %#x have shuffled", shuffled)
	}
}

// TestSkippedVectorElements: the log names the skipped elements of a vector.
func TestSkippedVectorElements(t *testing.T) {
	log := string(logOf(t, `.version 8.8
.target sm_100
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p;
	ld.param.u64 %p, [out];
	st.global.v4.b64 [%p], {%p, _, _, %p};
	ret;
}`, 1, 0, Text, Filter{}))
	if !strings.Contains(log, "0 0 1 1@8 ffffffff st.global.v4.b64 store:global:32@u:0x10000000=u:0x10000000=_=_=u:0x10000000\n") {
		t.Error(log)
	}
}

// TestIndexPointsToCTAs: each place of an index is the beginning of a CTA.
func TestIndexPointsToCTAs(t *testing.T) {
	// Incompressible: 1500 records of 32 random values take more than a frame.
	var list []Entry
	r := rand.New(rand.NewPCG(3, 4))
	list = append(list, &Launch{Kernel: "k", WarpSize: 32})
	for cta := range uint64(40) {
		list = append(list, &CTA{Number: cta, ID: []uint64{cta, 0, 0}})
		for seq := range uint64(300) {
			v := Value{Name: "%r", Bits: 64, Structure: Generic}
			for range 32 {
				v.List = append(v.List, r.Uint64())
			}
			list = append(list, &Record{CTA: cta, Seq: seq, Lanes: 1<<32 - 1, Active: 1<<32 - 1, Results: []Value{v}})
		}
	}
	list = append(list, &End{})
	log := write(t, Binary, Header{Version: Version}, list)
	places, err := ReadIndex(bytes.NewReader(log), int64(len(log)))
	if err != nil || len(places) < 3 {
		t.Fatal(places, err)
	}
	for _, p := range places {
		d, err := zstd.NewReader(bytes.NewReader(log[p.Offset:]))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		in := bufio.NewReader(d)
		if _, err := in.Discard(int(p.FrameOffset)); err != nil {
			t.Fatal(err)
		}
		b, _, err := readDelimited(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[PlaceKind]Entry{CTAPlace: &CTA{Number: p.CTA, ID: []uint64{p.CTA, 0, 0}}, LaunchPlace: list[0], EndPlace: &End{}}[p.Kind]
		if e, err := (protobuf{}).parse(b); err != nil || !reflect.DeepEqual(e, want) || p.Records != 300*p.CTA && p.Kind == CTAPlace {
			t.Errorf("%+v: %v %v", p, e, err)
		}
	}
	log = write(t, Text, Header{Version: Version}, list)
	n := 0
	if places, err = ReadIndex(bytes.NewReader(log), int64(len(log))); err != nil || len(places) < 3 {
		t.Error(places, err)
	}
	for _, m := range regexp.MustCompile(`(?m)^index 0 (\d+) (\d+) \d+$`).FindAllSubmatch(log, -1) {
		position, err := strconv.Atoi(string(m[2]))
		if n++; err != nil || !bytes.HasPrefix(log[position:], fmt.Appendf(nil, "cta %s ", m[1])) {
			t.Errorf("%s: %.40s", m[0], log[position:])
		}
	}
	if n < 3 {
		t.Errorf("an index of %d places", n)
	}
}

// TestValueText: descriptions of values.
func TestValueText(t *testing.T) {
	of := func(list ...uint64) []uint64 { return append(list, make([]uint64, 64-len(list))...) }
	wide := make([]uint64, 64) // -1, -3 … of 64 lanes
	for i := range wide {
		wide[i] = ^uint64(2 * i)
	}
	broken := slices.Clone(wide)
	broken[40]++
	for _, c := range []struct {
		bits, lanes uint64
		values      []uint64
		want        string
	}{
		{32, 0xf, of(7, 7, 7, 7), "u:0x7"},
		{32, 0xe, of(1, 7, 7, 7), "u:0x7"},
		{32, 0x4, of(1, 2, 9), "u:0x9"},
		{32, 0xf, of(10, 8, 6, 4), "a:0xa-2"},
		{32, 0xf, of(0xffff_fffe, 0xffff_ffff, 0, 1), "a:0xfffffffe+1"},
		{64, 0xf, of(0xffff_fffe, 0xffff_ffff, 0, 1), "g:0xfffffffe,0xffffffff,0x0,0x1"},
		{32, 0xa, of(0, 5, 0, 9), "a:0x3+2"},
		{32, 0xa, of(0, 5, 0, 8), "g:0x5,0x8"},
		{16, 0x3, of(0, 0x8000), "a:0x0-32768"},
		{32, 0x7, of(1, 2, 4), "g:0x1,0x2,0x4"},
		{1, 0x7, of(1, 1, 1), "u:0x1"},
		{1, 0x1f, of(1, 0, 1, 0, 1), "g:0x15"},
		{1, 0x3, of(0, 1), "g:0x2"},
		{64, 1<<64 - 1, wide, "a:0xffffffffffffffff-2"},
		{32, 1<<64 - 1, wide, "a:0xffffffff-2"},
		{8, 0xff << 30, wide, "a:0xff-2"},
	} {
		v := NewValue("", c.bits, c.lanes, c.values, nil)
		if got := string(appendValue(nil, &v)); got != c.want {
			t.Errorf("%v in lanes %#x, %d bits: %s, want %s", c.values, c.lanes, c.bits, got, c.want)
		}
		for lane := range 64 {
			if c.lanes>>lane&1 == 0 {
				continue
			}
			if low, _ := v.At(c.lanes, lane); low != width(c.values[lane], c.bits) {
				t.Errorf("%s in lane %d: %#x", c.want, lane, low)
			}
		}
	}
	if v := NewValue("", 32, 1<<64-1, broken, nil); v.Structure != Generic {
		t.Error("a value is affine that is not in its upper half")
	}
	high := of(1, 1, 2)
	if v := NewValue("", 128, 7, of(5, 5, 5), high); string(appendValue(nil, &v)) != "g:0x10000000000000005,0x10000000000000005,0x20000000000000005" {
		t.Error(string(appendValue(nil, &v)))
	}
}

// full is a file system without room.
type full struct{ remaining int }

func (f *full) Write(b []byte) (int, error) {
	n := min(f.remaining, len(b))
	if f.remaining -= n; n < len(b) {
		return n, errors.New("no space left")
	}
	return n, nil
}

// TestUnwritableLogEndsLaunch: a log that cannot be written ends the launch.
func TestUnwritableLogEndsLaunch(t *testing.T) {
	for _, f := range []Format{Text, Binary, Bare} {
		w, err := NewWriter(&full{1000}, f, &Header{Version: Version})
		if err != nil {
			t.Fatal(err)
		}
		r := NewRecorder(w, Filter{})
		dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}, Workers: 1})
		mod, err := dev.Load("loop.ptx", []byte(strings.ReplaceAll(loop, "3300", "1000000")))
		if err != nil {
			t.Fatal(err)
		}
		output, err := interp.NewBuffer(dev, make([]uint32, 32))
		if err != nil {
			t.Fatal(err)
		}
		res, err := mod.Launch(context.Background(), "", ptx.Dim(1), ptx.Dim(32), output)
		if err == nil || !strings.Contains(err.Error(), "no space left") || r.Close() == nil {
			t.Errorf("format %d: %v after %v", f, err, res)
		}
	}
}

// TestToleranceInULPs: approximate results may differ by some units in the last place.
func TestToleranceInULPs(t *testing.T) {
	a := logOf(t, sample, 1, 0, Text, Filter{})
	list, h, err := read(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if r, ok := e.(*Record); ok && r.Name == "rsqrt.approx.f32" {
			v := &r.Results[0]
			v.List[3] += 2
		}
		if r, ok := e.(*Record); ok && len(r.Accesses) > 0 && r.Line == 39 {
			r.Accesses[0].Store = nil
		}
	}
	h.Missing = []string{"stored"}
	b := write(t, Text, h, list)
	for ulp, same := range map[uint64]bool{0: false, 1: false, 2: true} {
		if d, _, err := Compare(memory("a", a), memory("b", b), Options{ULP: ulp}); err != nil || (d == nil) != same {
			t.Errorf("%d: %v %v", ulp, err, d)
		}
	}
}

// loop is a kernel for benchmarks: 20,000 instructions of a warp, in a mix.
const loop = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p, %q;
	.reg .u32 %t, %i, %v;
	.reg .pred %d;
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %q, %t, 4;
	add.u64 %p, %p, %q;
	mov.u32 %i, 0;
L:	ld.global.u32 %v, [%p];
	mad.lo.u32 %v, %v, 1664525, %t;
	st.global.u32 [%p], %v;
	add.u32 %i, %i, 1;
	setp.lt.u32 %d, %i, 3300;
	@%d bra L;
	ret;
}`

// BenchmarkWrite measures the records per second of a log in each format.
func BenchmarkWrite(b *testing.B) {
	for f, name := range []string{"text", "binary", "bare"} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = len(logOf(b, loop, 1, 1, Format(f), Filter{}))
			}
			const records = 2 * (6 + 6*3300)
			b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "warp-instr/s")
			b.ReportMetric(float64(n)/records, "bytes/instr")
		})
	}
}

// BenchmarkCompare measures the comparison of two equal logs in each format.
func BenchmarkCompare(b *testing.B) {
	for f, name := range []string{"text", "binary", "bare"} {
		b.Run(name, func(b *testing.B) {
			log := logOf(b, loop, 1, 1, Format(f), Filter{})
			for b.Loop() {
				if d, _, err := Compare(memory("a", log), memory("b", log), Options{}); d != nil || err != nil {
					b.Fatal(d, err)
				}
			}
			b.ReportMetric(2*(6+6*3300)*float64(b.N)/b.Elapsed().Seconds(), "warp-instr/s")
		})
	}
}

package trace

// This file tests partial reading of logs: filters, the index, and records that wait on disk.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
)

// filtersOfAll are filters of each kind, and combinations.
var filtersOfAll = []Filter{
	{CTAs: Ranges{{1, 2}, {5, 9}}}, {Warps: Ranges{{1, 1}}}, {Lines: Ranges{{15, 21}, {30, 40}}}, {Classes: []string{"memory", "control"}},
	{CTAs: Ranges{{3, 3}}, Lines: Ranges{{20, 36}}, Classes: []string{"memory"}}, {Kernel: "sample"}, {Kernel: "other"},
}

// TestComparedUnderBothFilters: a log states its filter, and a comparison is limited to the entries that pass
// both filters.
func TestComparedUnderBothFilters(t *testing.T) {
	part.SkipShort(t)
	whole := logOf(t, sample, 6, 0, Binary, Filter{})
	for _, f := range filtersOfAll {
		for _, format := range []Format{Text, Binary, Bare} {
			chunk := filteredLog(t, format, f)
			_, h := entriesOf(t, chunk)
			if !reflect.DeepEqual(h.Filter, f) {
				t.Errorf("%s: the header has %s", &f, &h.Filter)
			}
			for _, logs := range [][2][]byte{{whole, chunk}, {chunk, whole}, {chunk, chunk}} {
				a, b := memory("a", logs[0]), memory("b", logs[1])
				if d, _, err := Compare(a, b, Options{}); d != nil || err != nil {
					t.Errorf("%s: %v %v", &f, d, err)
				}
				says, err := Restricted(a, b, Filter{})
				if want := "only parts that both logs have are compared: " + f.String(); err != nil || (says == want) == bytes.Equal(logs[0], logs[1]) {
					t.Errorf("%q %v, want %q", says, err, want)
				}
			}
		}
	}
}

func filteredLog(t *testing.T, format Format, f Filter) []byte {
	t.Helper()
	list, _ := entriesOf(t, logOf(t, sample, 6, 0, format, f))
	return write(t, format, Header{Version: Version, Filter: f}, list)
}

// TestFilteredRecordsDoNotDiffer: filtered entries make no difference, also between unfiltered logs; the first
// difference is the first among the remaining entries.
func TestFilteredRecordsDoNotDiffer(t *testing.T) {
	whole := logOf(t, sample, 6, 0, Binary, Filter{})
	list, h := entriesOf(t, whole)
	for _, r := range at(list, Instruction, 19) { // mul.lo.u32 %n
		if r.CTA >= 2 {
			r.Results[0].List[5] ^= 8
		}
	}
	damaged := write(t, Text, h, list)
	for _, c := range []struct {
		filter Filter
		cta    int
	}{{Filter{}, 2}, {Filter{CTAs: Ranges{{0, 1}}}, -1}, {Filter{CTAs: Ranges{{4, 5}}}, 4}, {Filter{Lines: Ranges{{20, 99}}}, -1}, {Filter{Classes: []string{"mul"}}, 2}, {Filter{Classes: []string{"memory"}}, -1}} {
		for _, by := range []string{"options", "log"} {
			b, o := whole, Options{Filter: c.filter}
			if by == "log" {
				b, o = filteredLog(t, Binary, c.filter), Options{}
			}
			d, _, err := Compare(memory("bad", damaged), memory("other", b), o)
			switch {
			case err != nil:
				t.Error(err)
			case d == nil && c.cta < 0:
			case d == nil || c.cta < 0 || int(d.CTA.Number) != c.cta || d.Thread != 5 || d.Number != 2:
				t.Errorf("%s, by %s: %v, want cta %d", &c.filter, by, d, c.cta)
			}
		}
	}
}

// withoutCode returns a log without its code lines.
func withoutCode(t *testing.T, log []byte) []byte {
	t.Helper()
	list, h := entriesOf(t, log)
	list = slices.DeleteFunc(list, func(e Entry) bool {
		if r, ok := e.(*Record); ok {
			r.Code = 0
		}
		_, ok := e.(*Code)
		return ok
	})
	h.Missing = []string{"code"}
	return write(t, Text, h, list)
}

// TestFilterByCodeOfOtherLog: a log without code lines takes the classes of instructions from the lines of the
// second log.
func TestFilterByCodeOfOtherLog(t *testing.T) {
	otherLog := memory("other", withoutCode(t, logOf(t, sample, 1, 0, Text, Filter{})))
	o := Options{Filter: Filter{Classes: []string{"memory"}}}
	whole := memory("whole", logOf(t, sample, 1, 0, Binary, Filter{}))
	if d, _, err := Compare(otherLog, whole, o); d != nil || err != nil {
		t.Errorf("%v %v", d, err)
	}
	if _, _, err := Compare(otherLog, otherLog, o); err == nil || !strings.Contains(err.Error(), "neither log records the class of an instruction") {
		t.Error(err)
	}
}

// counted is a log in a file with a count of the bytes read.
type counted struct {
	*bytes.Reader
	read *int
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	*c.read += n
	return n, err
}

func (c counted) Close() error { return nil }

func inFile(name string, b []byte, read *int) Source {
	return Source{name, func() (io.ReadCloser, error) { return counted{bytes.NewReader(b), read}, nil }}
}

// passes is a kernel whose CTAs load values stored by the first launch; its log has some megabytes.
const passes = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p, %q;
	.reg .u32 %t, %i, %v, %c;
	.reg .pred %d;
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;
	mul.wide.u32 %q, %t, 4; add.u64 %p, %p, %q;
	mul.wide.u32 %q, %c, 160; add.u64 %q, %p, %q;
	mul.lo.u32 %v, %t, %t; mad.lo.u32 %v, %v, 7919, %c;
	st.global.u32 [%q], %v;
	mov.u32 %i, 0;
L:	mad.lo.u32 %v, %v, 1664525, 1013904223;
	add.u32 %i, %i, 1;
	setp.lt.u32 %d, %i, 40;
	@%d bra L;
	and.b32 %v, %c, 1; setp.eq.u32 %d, %v, 1;
	@%d ld.global.u32 %v, [%q+-160];
	ret;
}`

// TestSeekReadsOneCTA: reading a single CTA of a log with an index reads little else, and gives the same as
// reading the whole log.
func TestSeekReadsOneCTA(t *testing.T) {
	defer func(n int) { frameBytes = n }(frameBytes)
	frameBytes = 1 << 13
	for _, format := range []Format{Text, Binary} {
		log := logOf(t, passes, 48, 1, format, Filter{})
		list, h := entriesOf(t, log)
		for _, r := range at(list, Instruction, 21) {
			if r.CTA == 41 && r.Lanes != 0 {
				r.Results[0].List[3] ^= 1
				break
			}
		}
		damaged := write(t, format, h, list)
		read := 0
		a, b := inFile("log", log, &read), inFile("bad", damaged, new(int))
		o := Options{Filter: Filter{CTAs: Ranges{{41, 41}}}}
		d, _, err := Compare(a, b, o)
		if err != nil || d == nil || d.CTA.Number != 41 || d.Thread != 3 {
			t.Fatalf("%v %v", d, err)
		}
		if read > len(log)/4 {
			t.Errorf("format %d: %d of %d bytes read to compare one CTA of 48", format, read, len(log))
		}
		if d, _, err = Compare(memory("log", log), memory("bad", damaged), o); err != nil || d == nil || d.CTA.Number != 41 {
			t.Fatalf("without an index: %v %v", d, err)
		}
		read = 0
		with, err1 := d.Slice([2]Source{a, b})
		far := read
		without, err2 := d.Slice([2]Source{memory("log", log), memory("bad", damaged)})
		if err1 != nil || err2 != nil || !reflect.DeepEqual(with, without) {
			t.Errorf("%v %v\n%v\n%v", err1, err2, with, without)
		}
		if !strings.Contains(fmt.Sprint(with), "st.global.u32 [%q], %v: stores") || far > len(log)/2 {
			t.Errorf("format %d: %d of %d bytes read\n%v", format, far, len(log), with)
		}
	}
}

// TestWrongIndex: an index with wrong places is an error; an invalid index is not used.
func TestWrongIndex(t *testing.T) {
	defer func(n int) { frameBytes = n }(frameBytes)
	frameBytes = 1 << 13
	log := logOf(t, passes, 48, 1, Text, Filter{})
	o := Options{Filter: Filter{CTAs: Ranges{{41, 41}}}}
	places, err := ReadIndex(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	wrong := log
	for _, p := range places {
		if p.Kind == CTAPlace {
			now := p
			now.Offset++
			wrong = bytes.Replace(wrong, p.appendLine(nil), now.appendLine(nil), 1)
		}
	}
	if _, _, err := Compare(inFile("wrong", wrong, new(int)), inFile("log", log, new(int)), o); err == nil {
		t.Error("a wrong index is no error")
	}
	for _, line := range []string{"index 0 41 99999999", "index 1 2 3", "index launch"} { // as in version 1; not in order; no index
		none := append(bytes.Clone(log), line+"\n"...)
		if d, _, err := Compare(inFile("none", none, new(int)), inFile("log", log, new(int)), o); d != nil || err != nil {
			t.Errorf("%s: %v %v", line, d, err)
		}
	}
}

// TestIndexThatLacksALaunch: if the index lacks a launch, a slice reads the whole log.
func TestIndexThatLacksALaunch(t *testing.T) {
	one, h := entriesOf(t, logOf(t, copies, 1, 1, Text, Filter{}))
	var list []Entry
	for n := range uint64(2) {
		for _, e := range one {
			switch x := e.(type) {
			case *Launch:
				l := *x
				l.Number, e = n, &l
			case *End:
				e = &End{Number: n}
			case *Finish:
				continue
			}
			list = append(list, e)
		}
	}
	log := write(t, Text, h, list)
	last := list[len(list)-2].(*Record)
	for _, e := range list[len(list)/2:] {
		if r, ok := e.(*Record); ok && r.Kind == Instruction && r.Line == 20 {
			last = r
		}
	}
	again := *last
	again.Results = []Value{last.Results[0]}
	other(bits.TrailingZeros64(last.Lanes))(&again)
	position := slices.IndexFunc(list, func(e Entry) bool { return e == Entry(last) })
	position += 1 + slices.IndexFunc(list[position+1:], func(e Entry) bool { return e == Entry(last) }) // in the second launch
	list[position] = &again
	damaged := write(t, Text, h, list)
	want := sliceOf(t, memory("log", log), memory("bad", damaged))
	incomplete := regexp.MustCompile(`(?m)^index 1 launch .*\n`).ReplaceAll(log, nil)
	if len(incomplete) == len(log) {
		t.Fatal("no launch 1 in the index")
	}
	for _, log := range [][]byte{log, incomplete} {
		if got := sliceOf(t, inFile("log", log, new(int)), inFile("bad", damaged, new(int))); !slices.Equal(got, want) {
			t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestDataAfterTheEnd: data after the end of a log is an error with its place.
func TestDataAfterTheEnd(t *testing.T) {
	for _, f := range []Format{Text, Bare, Binary} {
		log := logOf(t, adds, 1, 0, f, Filter{})
		for _, more := range []string{"0 0 0 @3 1 add\n", "gemu-trace 2\n", "\x00", "index", string(log)} {
			_, _, err := read(append(bytes.Clone(log), more...))
			var e *Error
			if !errors.As(err, &e) || e.Offset == 0 || f != Binary && e.Offset != int64(len(log)) {
				t.Errorf("format %d, %.20q behind %d bytes: %v", f, more, len(log), err)
			}
		}
	}
	if _, _, err := read(append(logOf(t, adds, 1, 0, Text, Filter{}), "\n\n"...)); err != nil {
		t.Error(err)
	}
}

// turned returns the log with the order of its warps reversed.
func turned(t *testing.T, log []byte) []byte {
	t.Helper()
	list, h := entriesOf(t, log)
	var out, cta []Entry
	flush := func() {
		for warp := 63; warp >= 0; warp-- {
			for _, e := range cta {
				if e.(*Record).Warp == uint64(warp) {
					out = append(out, e)
				}
			}
		}
		cta = nil
	}
	for _, e := range list {
		if _, ok := e.(*Record); ok {
			cta = append(cta, e)
			continue
		}
		flush()
		out = append(out, e)
	}
	return write(t, Binary, h, out)
}

// TestLogsInAnotherOrder: logs with different orders of warps are compared in little memory, and a difference is
// found in the same place.
func TestLogsInAnotherOrder(t *testing.T) {
	log := logOf(t, sample, 3, 0, Binary, Filter{})
	back := turned(t, log)
	damaged := turned(t, changed(t, log, Instruction, 38, other(3)))
	defer func(n int) { maxWaitingBytes = n }(maxWaitingBytes)
	for _, room := range []int{64 << 20, 1000} {
		maxWaitingBytes = room
		if d, _, err := Compare(memory("log", log), memory("back", back), Options{}); d != nil || err != nil {
			t.Errorf("room for %d bytes: %v %v", room, d, err)
		}
		d, _, err := Compare(memory("log", log), memory("bad", damaged), Options{})
		if err != nil || d == nil || d.Thread != 35 || !strings.Contains(d.String(), "line 38:") {
			t.Errorf("room for %d bytes: %v %v", room, d, err)
		}
	}
}

// TestWaitingRecordsAreBounded: waiting records in memory stay within the bound; further records are on disk.
func TestWaitingRecordsAreBounded(t *testing.T) {
	defer func(n int) { maxWaitingBytes = n }(maxWaitingBytes)
	maxWaitingBytes = 1 << 12
	list, _ := entriesOf(t, logOf(t, sample, 1, 0, Text, Filter{}))
	r, err := NewReader("log", bytes.NewReader(logOf(t, sample, 1, 0, Text, Filter{})))
	if err != nil {
		t.Fatal(err)
	}
	for r.cta == nil { // reads the code
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	c := &comparison{launch: [2]*Launch{list[0].(*Launch), list[0].(*Launch)}}
	c.logs = [2]*cursor{{Reader: r}, {Reader: r}}
	defer c.second.spool.close()
	var records []*Record
	for _, e := range list {
		if x, ok := e.(*Record); ok && x.Kind == Instruction && x.Warp == 0 {
			records = append(records, x)
		}
	}
	const times = 40
	for range times {
		for _, x := range records {
			if err := c.addWaiting(x); err != nil {
				t.Fatal(err)
			}
			if c.second.memoryBytes > maxWaitingBytes {
				t.Fatalf("%d bytes in memory", c.second.memoryBytes)
			}
		}
	}
	// All threads read their records, each separately; then no record is kept.
	for lane := range 32 {
		for range times {
			for _, want := range records {
				if want.Active>>lane&1 == 0 {
					continue
				}
				x, err := c.nextStep(lane)
				if err != nil || x == nil || x.Line != want.Line {
					t.Fatalf("lane %d: %v %v, want line %d", lane, x, err, want.Line)
				}
			}
		}
	}
	l := c.second.warp(0)
	if c.second.shorten(l); c.second.comparisons != 0 || len(l.list) != 0 {
		t.Errorf("%d steps and %d records are left", c.second.comparisons, len(l.list))
	}
}

// BenchmarkCompareInAnotherOrder compares logs with different orders of warps.
func BenchmarkCompareInAnotherOrder(b *testing.B) {
	log := logOf(b, strings.Replace(loop, "3300", "1000", 1), 1, 1, Binary, Filter{})
	back := turned(&testing.T{}, log)
	for b.Loop() {
		if d, _, err := Compare(memory("a", log), memory("b", back), Options{}); d != nil || err != nil {
			b.Fatal(d, err)
		}
	}
	b.ReportMetric(2*(6+6*1000)*float64(b.N)/b.Elapsed().Seconds(), "warp-instr/s")
}

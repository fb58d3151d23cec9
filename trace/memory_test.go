package trace

// This file tests the contents of logs about memory: operands, asynchronous writes, and the origins of loaded values.

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"
	"testing"
)

// entriesOf reads a log.
func entriesOf(t *testing.T, b []byte) ([]Entry, Header) {
	t.Helper()
	list, h, err := read(b)
	if err != nil {
		t.Fatal(err)
	}
	return list, h
}

// at returns the records of a line of the PTX, of a kind.
func at(list []Entry, kind Kind, line uint64) (found []*Record) {
	for _, e := range list {
		if r, ok := e.(*Record); ok && r.Kind == kind && r.Line == line {
			found = append(found, r)
		}
	}
	return found
}

// accesses has instructions that write memory, on lines whose numbers the test knows.
const accesses = `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p, %q;
	.reg .u32 %t, %v, %s;
	.reg .pred %g;
	.shared .align 16 .b8 tile[1024];
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x; mov.u32 %s, tile;
	atom.global.add.u32 %v, [%p], %t;
	atom.global.cas.b32 %v, [%p+4], %t, 77;
	red.global.add.v2.f32 [%p+8], {1.0, 2.0};
	shl.b32 %v, %t, 4; add.u32 %s, %s, %v;
	setp.lt.u32 %g, %t, 32;
	@%g stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%t};
	ret;
}`

// TestOperandsOfAtomicsAreLogged: a log has the operands of atomics, for .cas also the comparison value, and the rows
// of stored matrices, composed from registers of several lanes.
func TestOperandsOfAtomicsAreLogged(t *testing.T) {
	for _, f := range []Format{Text, Binary} {
		list, _ := entriesOf(t, logOf(t, accesses, 1, 0, f, Filter{}))
		text := func(v []Value) string {
			var s []string
			for i := range v {
				s = append(s, string(appendValue(nil, &v[i])))
			}
			return strings.Join(s, " ")
		}
		for _, c := range []struct {
			line           uint64
			store, compare string
		}{
			{12, "a:0x0+1", ""},
			{13, "u:0x4d", "a:0x0+1"},
			{14, "u:0x3f800000 u:0x40000000", ""},
		} {
			a := at(list, Instruction, c.line)[0].Accesses[0]
			if text(a.Store) != c.store || text(a.Compare) != c.compare {
				t.Errorf("line %d: %s, compared %s; want %s, %s", c.line, text(a.Store), text(a.Compare), c.store, c.compare)
			}
		}
		// Lane i stores two elements, of 32 bits together, of row i/4 (manual, figure of stmatrix .m8n8).
		r := at(list, Instruction, 17)[0]
		for row := range 8 {
			for k := range 2 {
				got, _ := r.Accesses[0].Store[k].At(r.lanes(&r.Accesses[0]), row)
				if want := uint64(4*row+2*k) | uint64(4*row+2*k+1)<<32; got != want {
					t.Errorf("row %d, element %d: %#x, want %#x", row, k, got, want)
				}
			}
		}
	}
}

// copies has a value that passes through an atomic, a copy, and single bytes.
const copies = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p, %q;
	.reg .u32 %t, %v, %s, %b;
	.reg .pred %g;
	.shared .align 16 .b8 tile[1024];
	ld.param.u64 %p, [out];
	mov.u32 %t, %tid.x; mov.u32 %s, tile;
	mul.wide.u32 %q, %t, 16;
	add.u64 %q, %q, %p;
	mad.lo.u32 %v, %t, 3, 5;
	st.global.u32 [%q], %v;
	atom.global.add.u32 %b, [%q], 2;
	shl.b32 %b, %t, 4; add.u32 %s, %s, %b;
	cp.async.ca.shared.global [%s], [%q], 4;
	cp.async.wait_all;
	ld.shared.u32 %v, [%s];
	st.shared.u8 [%s+8], %t;
	st.shared.u8 [%s+9], %b;
	st.shared.u16 [%s+10], %v;
	ld.shared.u32 %b, [%s+8];
	atom.shared.add.u32 %v, [tile+1000], 1;
	ret;
}`

// TestAsynchronousWritesAreLogged: a log has the bytes written by asynchronous operations.
func TestAsynchronousWritesAreLogged(t *testing.T) {
	for _, f := range []Format{Text, Binary, Bare} {
		list, _ := entriesOf(t, logOf(t, copies, 1, 0, f, Filter{}))
		seen := 0
		for _, r := range at(list, Effect, 18) {
			if _, _, _, writes, _ := r.EffectStage(); !writes {
				continue
			}
			seen++
			lane := bits.TrailingZeros64(r.Lanes)
			v := byte(3*(32*int(r.Warp)+lane) + 5 + 2)
			a := r.Accesses[len(r.Accesses)-1]
			if !bytes.Equal(a.Data, []byte{v, 0, 0, 0}) || a.Kind != Store {
				t.Errorf("warp %d lane %d: %s of %x, want %x", r.Warp, lane, a.Kind, a.Data, v)
			}
		}
		if seen != 40 {
			t.Errorf("%d copies write", seen)
		}
	}
}

// changed returns a log in which the first record of a line, of a kind, is changed.
func changed(t *testing.T, log []byte, kind Kind, line uint64, change func(r *Record)) []byte {
	t.Helper()
	list, h := entriesOf(t, log)
	change(at(list, kind, line)[0])
	return write(t, Text, h, list)
}

// other returns a change of a lane's result.
func other(lane int) func(r *Record) {
	return func(r *Record) {
		v := &r.Results[0]
		low := make([]uint64, 64)
		for i := range low {
			if r.Lanes>>i&1 != 0 {
				low[i], _ = v.At(r.Lanes, i)
			}
		}
		low[lane] ^= 1 << 7
		*v = NewValue(v.Name, v.Bits, r.Lanes, low, nil)
	}
}

// sliceOf returns the slice of the first difference of two logs, without irrelevant operands.
func sliceOf(t *testing.T, a, b Source) (lines []string) {
	t.Helper()
	d, _, err := Compare(a, b, Options{})
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	list, err := d.Slice([2]Source{a, b})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		lines = append(lines, fmt.Sprintf("%d cta %d thread %d %s", o.Depth, o.CTA, o.Thread, o))
	}
	return lines
}

// checkLines reports the texts that are missing in lines, in order.
func checkLines(t *testing.T, lines []string, want ...string) {
	t.Helper()
	n := 0
	for _, line := range lines {
		if n < len(want) && strings.Contains(line, want[n]) {
			n++
		}
	}
	if n < len(want) {
		t.Errorf("no %q in\n%s", want[n], strings.Join(lines, "\n"))
	}
}

// TestSliceThroughMemory: a slice continues from a load to the writers of its value.
func TestSliceThroughMemory(t *testing.T) {
	log := logOf(t, copies, 1, 0, Binary, Filter{})
	from := func(line uint64, lane int) []string {
		return sliceOf(t, memory("log", log), memory("other", changed(t, log, Instruction, line, other(lane))))
	}
	// By a copy, from an atomic, from a store.
	checkLines(t, from(20, 7), "0 cta 0 thread 7 12 line 20: ld.shared.u32 %v, [%s]: %v = 0x1c", "1 cta 0 thread 7 10 line 18: cp.async.ca.shared.global [%s], [%q], 4: stores 0x1c (asynchronous)",
		"2 cta 0 thread 7 7 line 16: atom.global.add.u32 %b, [%q], 2: %b = 0x1a, operand 0x2", "3 cta 0 thread 7 6 line 15: st.global.u32 [%q], %v: stores 0x1a", "line 14: mad.lo.u32 %v, %t, 3, 5: %v = 0x1a")
	// All stores that contribute to the value.
	lines := from(24, 3)
	checkLines(t, lines, "line 24", "line 21: st.shared.u8 [%s+8]")
	checkLines(t, lines, "line 24", "line 22: st.shared.u8 [%s+9]")
	checkLines(t, lines, "line 24", "line 23: st.shared.u16 [%s+10]")
	// Atomics of a single warp, lane by lane.
	lines = from(25, 9)
	for lane := 9; lane >= 5; lane-- {
		checkLines(t, lines, fmt.Sprintf("%d cta 0 thread %d 17 line 25: atom.shared.add.u32 %%v, [tile+1000], 1: %%v = %#x", 9-lane, lane, lane))
	}
}

// TestSliceSkipsFailedCompareAndSwap: a failed compare-and-swap is no writer.
func TestSliceSkipsFailedCompareAndSwap(t *testing.T) {
	src := strings.NewReplacer("atom.global.add.u32 %b, [%q], 2", "atom.global.cas.b32 %b, [%q], 1000, 2").Replace(copies)
	log := logOf(t, src, 1, 0, Binary, Filter{})
	lines := sliceOf(t, memory("log", log), memory("other", changed(t, log, Instruction, 20, other(7))))
	checkLines(t, lines, "line 20: ld.shared", "line 18: cp.async", "line 15: st.global.u32")
	if strings.Contains(strings.Join(lines, "\n"), "cas") {
		t.Errorf("by .cas:\n%s", strings.Join(lines, "\n"))
	}
}

// TestSliceMemoryIsBounded: the memory of a slice is bounded.
func TestSliceMemoryIsBounded(t *testing.T) {
	log := logOf(t, copies, 1, 0, Binary, Filter{})
	damaged := changed(t, log, Instruction, 15, func(r *Record) { r.Accesses[0].Store[0].Base ^= 1 })
	checkLines(t, sliceOf(t, memory("log", log), memory("other", damaged)), "line 15", "line 11: mov.u32 %t, %tid.x", "line 14: mad.lo.u32 %v, %t, 3, 5: %v = 0x5")
	defer func(n int) { sliceHistory = n }(sliceHistory)
	sliceHistory = 2
	checkLines(t, sliceOf(t, memory("log", log), memory("other", damaged)), "line 15", "line 14: mad.lo.u32 %v, %t, 3, 5: %v = 0x5 (no earlier write of %t is known)")
}

// TestDifferencesInMemory: operands of atomics and asynchronous writes are compared.
func TestDifferencesInMemory(t *testing.T) {
	log := logOf(t, copies, 1, 0, Binary, Filter{})
	for _, c := range []struct{ from, to, what, says string }{
		{"ret;", "ret ;", "", ""},
		{"atom.global.add.u32 %b, [%q], 2", "atom.global.add.u32 %b, [%q], 3", "the operand of the atomic", "stored is 0x2"},
		{"[%q], 4;", "[%q], 8;", "in an asynchronous operation: the kind of access", "access is load of 4 bytes"},
		{"[%s], [%q], 4;", "[%s+4], [%q], 4;", "in an asynchronous operation: the address", "address is shared 0x0"},
	} {
		b := logOf(t, strings.Replace(copies, c.from, c.to, 1), 1, 0, Text, Filter{})
		d, _, err := Compare(memory("log", log), memory("edited", b), Options{})
		if err != nil || (d == nil) != (c.what == "") || d != nil && (d.Text != c.what || !strings.Contains(d.String(), c.says)) {
			t.Errorf("%s: %v %v, want %s", c.to, err, d, c.what)
		}
	}
	damaged := changed(t, log, Effect, 18, func(*Record) {})
	list, h := entriesOf(t, damaged)
	for _, r := range at(list, Effect, 18) {
		if a := r.Accesses; len(a) > 0 && len(a[len(a)-1].Data) > 0 && r.Lanes == 1<<5 {
			a[len(a)-1].Data[2] ^= 0x10
			break
		}
	}
	damaged = write(t, Bare, h, list)
	d, _, err := Compare(memory("log", log), memory("bad", damaged), Options{})
	if err != nil || d == nil || d.Text != "in an asynchronous operation: the written bytes, from byte 0 of 4 on" || d.Thread != 5 || d.Value != [2]string{"0x16", "0x100016"} || d.Number != 10 {
		t.Errorf("%v %+v", err, d)
	}
	checkLines(t, sliceOf(t, memory("log", log), memory("bad", damaged)), "0 cta 0 thread 5 10 line 18: cp.async", "line 16: atom.global.add", "line 15: st.global")

	// Parts missing in a log are not compared: in version 1 all of these.
	for _, missing := range [][]string{{"operands", "effects"}, nil} {
		old := h
		if old.Missing = missing; missing == nil {
			old.Version = 1
		}
		for _, e := range list {
			if r, ok := e.(*Record); ok {
				for i := range r.Accesses {
					if a := &r.Accesses[i]; a.Kind == Atomic {
						a.Store, a.Compare = nil, nil
					}
				}
			}
		}
		if d, _, err := Compare(memory("log", log), memory("old", write(t, Text, old, list)), Options{}); d != nil || err != nil {
			t.Errorf("lacks %v, version %d: %v %v", missing, old.Version, d, err)
		}
	}
	h.Missing = nil
	if d, _, err := Compare(memory("log", log), memory("old", write(t, Text, h, list)), Options{}); d == nil || err != nil || d.Text != "the number of operands of the atomic" {
		t.Errorf("%v %v", d, err)
	}
}

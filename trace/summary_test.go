package trace

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// recounted returns the counts of a log's records, by thread, as Summary counts.
func recounted(t *testing.T, log []byte) (s Summary) {
	t.Helper()
	list, _, err := read(log)
	if err != nil {
		t.Fatal(err)
	}
	code := map[uint64]*Code{}
	for _, e := range list {
		switch e := e.(type) {
		case *Launch:
			s.Launches.Compared++
			s.Extents.Compared++
		case *Code:
			code[e.Index] = e
		case *CTA:
			s.CTAs.Compared++
		case *Record:
			lanes := uint64(bits.OnesCount64(e.Lanes))
			results := lanes * uint64(len(e.Results))
			switch {
			case e.Kind == Effect:
				_, _, reads, writes, _ := e.EffectStage()
				for _, does := range []bool{reads, writes} {
					if does {
						s.Effects.Compared++
					}
				}
			case e.Kind == Instruction:
				s.Instructions.Compared += uint64(bits.OnesCount64(e.Active))
				s.Masks.Compared += uint64(bits.OnesCount64(e.Active))
			}
			if e.Code > 0 && slices.Contains(code[e.Code-1].Flags, "clock") {
				s.Clocks += results
			} else {
				s.Results.Compared += results
			}
			for _, a := range e.Accesses {
				n := lanes
				if a.Lanes != 0 {
					n = uint64(bits.OnesCount64(a.Lanes))
				}
				s.Addresses.Compared += n
				given := n * uint64(len(a.Store)+len(a.Compare))
				if len(a.Data) > 0 {
					given = 1
				}
				if a.Kind == Atomic {
					s.Operands.Compared += given
				} else {
					s.Stored.Compared += given
				}
			}
		}
	}
	return s
}

// TestSummaryCountsEverythingOnce: every item of a log is compared once with the same log, with records in the same or
// in a different order.
func TestSummaryCountsEverythingOnce(t *testing.T) {
	log := logOf(t, sample, 3, 0, Text, Filter{})
	want := recounted(t, log)
	list, h, err := read(log)
	if err != nil {
		t.Fatal(err)
	}
	// Warp 1 of each CTA before warp 0: no record is at the same position.
	var turned []Entry
	for warp := range uint64(2) {
		for _, e := range list {
			if r, ok := e.(*Record); ok && r.Kind != Effect && r.Warp == 1-warp {
				turned = append(turned, e)
			}
		}
	}
	for _, e := range list {
		if r, ok := e.(*Record); ok && r.Kind == Effect {
			turned = append(turned, e)
		}
	}
	position := slices.IndexFunc(list, func(e Entry) bool { _, ok := e.(*CTA); return ok })
	mixed := append(slices.Clone(list[:position]), turned...)
	mixed = append(mixed, list[len(list)-2:]...)
	for name, other := range map[string][]byte{"the same": log, "turned": write(t, Text, h, mixed)} {
		d, got, err := Compare(memory("log", log), memory("other", other), Options{})
		if d != nil || err != nil {
			t.Fatalf("%s: %v %v", name, d, err)
		}
		got.Names, got.Missing = want.Names, want.Missing
		if fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s:\ncompared %+v\n     has %+v", name, *got, want)
		}
		if got.Empty() || want.Clocks == 0 || want.Operands.Compared == 0 || want.Effects.Compared == 0 {
			t.Errorf("%s: the sample has too little: %+v", name, want)
		}
	}
}

// TestMissingItemsAreCounted: items missing in a log are counted as not compared.
func TestMissingItemsAreCounted(t *testing.T) {
	log := logOf(t, sample, 2, 0, Text, Filter{})
	whole := recounted(t, log)
	list, h, err := read(log)
	if err != nil {
		t.Fatal(err)
	}
	bare := slices.Clone(list)
	for i, e := range bare {
		r, ok := e.(*Record)
		if !ok {
			continue
		}
		x := *r
		if x.Kind == Instruction {
			x.Results, x.Accesses = nil, nil
		}
		bare[i] = &x
	}
	bare = slices.DeleteFunc(bare, func(e Entry) bool { r, ok := e.(*Record); return ok && r.Kind != Instruction })
	h.Missing = []string{"results", "addresses", "stored", "operands", "effects", "wake"}
	other := write(t, Text, h, bare)
	d, s, err := Compare(memory("log", log), memory("other", other), Options{})
	if d != nil || err != nil {
		t.Fatal(d, err)
	}
	if s.Instructions != whole.Instructions || s.Masks != whole.Masks {
		t.Errorf("%+v and %+v, want those of %+v", s.Instructions, s.Masks, whole)
	}
	effects := Tally{}
	async := Summary{} // accesses of asynchronous operations count for the operations only
	for _, e := range list {
		if r, ok := e.(*Record); ok && r.Kind == Effect {
			effects.Skipped++
			for i := range r.Accesses {
				async.Addresses.Compared++
				async.elements(&r.Accesses[i]).Compared++
			}
		}
	}
	if s.Effects != effects {
		t.Errorf("effects %+v, want %+v", s.Effects, effects)
	}
	for name, x := range map[string][2]Tally{
		"results":   {s.Results, {0, whole.Results.Compared}},
		"addresses": {s.Addresses, {0, whole.Addresses.Compared - async.Addresses.Compared}},
		"operands":  {s.Operands, {0, whole.Operands.Compared - async.Operands.Compared}},
	} {
		if x[0] != x[1] {
			t.Errorf("%s: %+v, want %+v", name, x[0], x[1])
		}
	}
	if text := s.String(); !strings.Contains(text, "other lacks results, addresses, stored, wake, operands, effects\n") {
		t.Error(text)
	}
}

// plain is a kernel with two instructions on a line.
const plain = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u64 %p;
	.reg .u32 %first, %second;
	ld.param.u64 %p, [out];
	mov.u32 %first, 1; mov.u32 %second, 2;
	add.u32 %first, %first, %second;
	ret;
}`

// foreign returns a log of plain in the form of another simulator.
func foreign(header string, results ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "gemu-trace 2 by=x lacks=%s\nlaunch 0 kernel=k grid=1,1,1 block=40,1,1 warp=32\n", header)
	n := 0
	for warp, lanes := range []string{"ffffffff", "ff"} {
		for seq, line := range []int{8, 9, 9, 10, 11} {
			fmt.Fprintf(&b, "0 %d %d @%d %s -", warp, seq, line, lanes)
			if seq < len(results) && results[seq] != "" {
				fmt.Fprintf(&b, " %s", results[seq])
			}
			b.WriteByte('\n')
			n++
		}
	}
	fmt.Fprintf(&b, "end 0\nfinish %d\n", n)
	return b.Bytes()
}

// TestResultOfWrongRegister: a result of a register that the instruction does not write is an error with its place, in
// either log and with any missing parts; if the line has several instructions it is a difference.
func TestResultOfWrongRegister(t *testing.T) {
	run := logOf(t, plain, 1, 0, Binary, Filter{})
	for _, c := range []struct {
		missing string
		results []string
		want    string // expected error
		differs string // or expected difference
	}{
		{"results,addresses,wake", []string{"", "%first.32=u:0x1", "%second.32=u:0x2", "%first.32=u:0x3"}, "", ""},
		{"results,addresses,wake", []string{"", "first.32=u:0x1"}, `:4: at byte 117: line 9 of the PTX has no result first; it writes %first, %second (did you mean %first?)`, ""},
		{"results,addresses,wake", []string{"", "", "", "%third.32=u:0x3"}, `:6: at byte 157: line 10 of the PTX has no result %third; it writes %first`, ""},
		{"results,addresses,wake", []string{"", "", "", "", "%first.32=u:0x3"}, `line 11 of the PTX has no result %first; it writes no register`, ""},
		{"addresses,wake", []string{"%p=u:0x10000000", "%first.32=u:0x1", "%second.32=u:0x2", "%second.32=u:0x3"}, "line 10 of the PTX has no result %second; it writes %first", ""},
		{"addresses,wake", []string{"%p=u:0x10000000", "%second.32=u:0x1", "%second.32=u:0x2", "%first.32=u:0x3"}, "", "the written register"},
		{"results,addresses,wake", []string{"", "%second.32=u:0x1"}, "", "the written register"},
		{"results,addresses,wake", []string{"", "=u:0x1"}, "", ""},
		{"results,addresses,wake", []string{"", "=u:0x1", "", "%first.32=u:0x4"}, "", "the result %first"},
	} {
		log := foreign(c.missing, c.results...)
		for _, turned := range []bool{false, true} {
			a, b := memory("x.log", log), memory("run", run)
			if turned {
				a, b = b, a
			}
			d, _, err := Compare(a, b, Options{})
			switch {
			case c.want != "":
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.log:") {
					t.Errorf("%v: %v %v, want %s", c.results, err, d, c.want)
				}
			case err != nil || (d == nil) != (c.differs == "") || d != nil && d.Text != c.differs:
				t.Errorf("%v: %v %v, want %q", c.results, err, d, c.differs)
			}
		}
	}
}

// TestSliceByCodeOfOtherLog: a log without code lines is sliced by the code of the second log, also on a line with
// several instructions, and the slice states the missing parts.
func TestSliceByCodeOfOtherLog(t *testing.T) {
	run := memory("run", logOf(t, plain, 1, 0, Binary, Filter{}))
	otherLog := memory("x.log", foreign("results,addresses,wake", "", "%first.32=u:0x1", "%second.32=u:0x2", "%first.32=u:0x4"))
	for i, logs := range [][2]Source{{otherLog, run}, {run, otherLog}} {
		d, _, err := Compare(logs[0], logs[1], Options{})
		if d == nil || err != nil {
			t.Fatal(d, err)
		}
		for side, want := range [2]string{
			"3 line 10: add.u32 %first, %first, %second: %first = 0x4\n1 line 9: mov.u32 %first, 1: %first = 0x1\n2 line 9: mov.u32 %second, 2: %second = 0x2\n",
			"3 line 10: add.u32 %first, %first, %second: %first = 0x3\n1 line 9: mov.u32 %first, 1: %first = 0x1\n2 line 9: mov.u32 %second, 2: %second = 0x2\n",
		} {
			list, err := d.SliceOf((side+i)%2, logs)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, o := range list {
				got += o.String() + "\n"
			}
			if got != want {
				t.Errorf("log %d of %d:\n%swant\n%s", (side+i)%2, i, got, want)
			}
		}
	}
	// Without results, a log does not identify the movs of the line.
	bare := memory("x.log", foreign("results,addresses,wake", "", "", "", "%first.32=u:0x4"))
	logs := [2]Source{bare, run}
	d, _, err := Compare(logs[0], logs[1], Options{})
	if d == nil || err != nil {
		t.Fatal(d, err)
	}
	list, err := d.SliceOf(0, logs)
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Note, "no earlier write of %second is known") {
		t.Errorf("%v %v", list, err)
	}
	if list, err := d.SliceOf(0, [2]Source{bare, bare}); list != nil || err != nil {
		t.Errorf("no log says what instructions read: %v %v", list, err)
	}
}

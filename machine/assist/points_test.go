package assist

import (
	"strings"
	"testing"
)

const pointProgram = head + `.entry k(.param .u64 in)
{
	.reg .f32 %x;
	.reg .u32 %n, %m;
	.reg .pred %p;
	mov.u32 %n, 1;
HERE:
	add.u32 %m, %n, 1;
SAME:
	ret;
}
.entry other(.param .u64 in)
{
SAME:
	ret;
LAST:
}
`

// pointRoutine returns a source with a routine.
func pointRoutine(function, pragma string) Source {
	return Source{"r.ptx", []byte(head + function + "\n{\n\t.pragma \"gemu.assist priority=high " + pragma + "\";\n\tret;\n}\n")}
}

// TestWrongPoints: a routine for a program point that the program does not have, or with registers of another type, is an error with its
// place.
func TestWrongPoints(t *testing.T) {
	const none, one, both = ".func f", ".func f(.reg .b32 %a)", ".func (.reg .b32 %r) f(.reg .b32 %a)"
	for _, c := range []struct{ function, pragma, want string }{
		{none, "trigger=pc:NOWHERE", "r.ptx:4: routine f: trigger=pc:NOWHERE: p.ptx has no such label in a function with a body"},
		{none, "trigger=pc:other:HERE", "trigger=pc:other:HERE: p.ptx has no such label"},
		{none, "trigger=pc:SAME", "trigger=pc:SAME: k and other both have this label: want trigger=pc:FUNCTION:SAME"},
		{none, "trigger=pc:LAST", "trigger=pc:LAST: no instruction of other follows the label"},
		{none, "trigger=pc:", "trigger=pc:: want pc:LABEL, or pc:FUNCTION:LABEL"},
		{one, "trigger=pc:HERE", "f has 1 parameters and 0 results: want 0 for livein and 0 for liveout and skip"},
		{one, "trigger=pc:HERE livein=%q", "livein=%q: k has no such register"},
		{one, "trigger=pc:HERE livein=%x", "livein=%x: the register of k has type .f32: want .b32, the type of %a"},
		{one, "trigger=pc:HERE livein=%p", "livein=%p: the register of k has type .pred"},
		{both, "trigger=pc:HERE livein=%n liveout=%x", "liveout=%x: the register of k has type .f32: want .b32, the type of %r"},
		{both, "trigger=pc:HERE livein=%n skip=NOWHERE", "skip=NOWHERE: k has no such label"},
		{".func (.reg .b64 %r) f", "trigger=pc:HERE skip=SAME", "want .reg .b32 as the first result of f: with skip=… it is not 0 in the lanes that go on at SAME"},
		{one, "trigger=pc:HERE livein=%n livein=%n", "livein=%n: want a value, once"},
		{one, "trigger=pc:HERE livein=", "livein=: want a value, once"},
		{one, "trigger=pc:HERE livein=%n regs=0", "regs=0: want a number of registers from 1 to 255"},
		{".func (.reg .b32 %count) f(.reg .b64 %register, .reg .b64 %addresses, .reg .b64 %address, .reg .b32 %instruction)", "trigger=miss:l1 livein=%n", "livein=…, liveout=… and skip=… are for trigger=pc:LABEL"},
		{".func f(.reg .b64 %form, .reg .b64 %line)", "trigger=fill:bdi:8-1", "trigger=fill:bdi:8-1 is an event of a machine: gemu machine --assist runs it; want trigger=pc:LABEL"},
	} {
		_, err := Insert("p.ptx", pointProgram, pointRoutine(c.function, c.pragma))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.function, c.pragma, err, c.want)
		}
	}
	oneLine := pointRoutine(none, "trigger=pc:HERE")
	oneLine.Text = []byte(strings.Replace(string(oneLine.Text), head, ".version 6.0 .target sm_30, debug .address_size 64\n", 1))
	if _, err := Insert("p.ptx", pointProgram, oneLine); err != nil {
		t.Errorf("a header on one line: %v", err)
	}
	low := Source{"r.ptx", []byte(head + ".func f { .pragma \"gemu.assist priority=low trigger=pc:HERE\"; ret; }")}
	if _, err := Insert("p.ptx", pointProgram, low); err == nil || !strings.Contains(err.Error(), "priority=low: want priority=high") {
		t.Errorf("low priority: %v", err)
	}
	// Two addresses of 8 bytes are live at the beginning.
	two := Source{"r.ptx", []byte(head + ".func f(.reg .b64 %form, .reg .b64 %line) { .pragma \"gemu.assist priority=high trigger=fill:bdi:8-1 regs=3\"; st.b64 [%form], %line; ret; }")}
	if _, err := Insert("p.ptx", pointProgram, two); err == nil || !strings.Contains(err.Error(), "regs=3: 4 registers are live at the same time") {
		t.Errorf("too few registers: %v", err)
	}
	newer := pointRoutine(none, "trigger=pc:HERE")
	newer.Text = []byte(strings.Replace(string(newer.Text), ".version 6.0", ".version 7.0", 1))
	if _, err := Insert("p.ptx", pointProgram, newer); err == nil || !strings.Contains(err.Error(), "r.ptx has .version 7.0, and p.ptx has .version 6.0") {
		t.Errorf("a newer version: %v", err)
	}
	higher := pointRoutine(none, "trigger=pc:HERE")
	higher.Text = []byte(strings.Replace(string(higher.Text), "sm_30", "sm_35", 1))
	if _, err := Insert("p.ptx", pointProgram, higher); err == nil || !strings.Contains(err.Error(), "r.ptx is for sm_35, and p.ptx for sm_30") {
		t.Errorf("a higher target: %v", err)
	}
}

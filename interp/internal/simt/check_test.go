package simt

import (
	"slices"
	"testing"

	"gemu/interp/internal/code"
)

// TestSettle: what an instruction on the lanes reads is compared, but for rows that have
// been compared or copied in the block and are what they were.
func TestSettle(t *testing.T) {
	reg := func(i int32) rowPair { // register i
		return rowPair{code.Row{Slot: code.R, Row: i}, code.Row{Slot: code.R, Row: 10 + i}}
	}
	moved := rowPair{reg(1).row, reg(7).ref} // another register in the row of register 1
	instr := func(op code.Op, exec code.Exec, guard int32, writes []rowPair, reads ...rowPair) pair {
		return pair{in: &code.Instr{Op: op, How: code.How{Exec: exec}, Guard: guard}, ref: &code.Instr{Op: op, Guard: guard}, reads: reads, writes: writes}
	}
	lanes := func(d rowPair, reads ...rowPair) pair {
		return instr(code.Named("add.s32"), code.OnLanes, 0, []rowPair{d}, reads...)
	}
	a, b, c, d := reg(1), reg(2), reg(3), reg(4)
	for _, e := range []struct {
		name  string
		block []pair // the last one is looked at
		fresh []rowPair
	}{
		{"first", []pair{lanes(d, a, b)}, []rowPair{a, b}},
		{"read", []pair{lanes(d, a, b), lanes(d, b, c)}, []rowPair{c}},
		{"written", []pair{lanes(c, a, b), lanes(d, c, b)}, nil},
		{"overwritten by another register", []pair{lanes(d, a, b), lanes(moved, b, b), lanes(d, a, b)}, []rowPair{a}},
		{"in another row", []pair{lanes(d, a, b), lanes(rowPair{reg(5).row, a.ref}, b, b), lanes(d, a, b)}, []rowPair{a}},
		{"read with a guard", []pair{instr(code.Named("add.s32"), code.OnLanes, 1, []rowPair{c}, a, b), lanes(d, a, c)}, []rowPair{a, c}},
		{"written with a guard", []pair{lanes(c, a, b), instr(code.Named("add.s32"), code.OnLanes, 1, []rowPair{c}, a, b), lanes(d, c, b)}, nil},
		{"overwritten with a guard", []pair{lanes(d, a, b), instr(code.Named("add.s32"), code.OnLanes, 1, []rowPair{moved}, b, b), lanes(d, a, b)}, []rowPair{a}},
		{"written compactly", []pair{lanes(d, a, b), instr(code.Named("add.s32"), code.CompactTwo, 0, []rowPair{a}, c, c), lanes(d, a, b)}, []rowPair{a}},
		{"read compactly", []pair{lanes(d, a, b), instr(code.Named("add.s32"), code.CompactTwo, 0, []rowPair{c}, a, a), lanes(d, a, b)}, []rowPair{a}},
		{"a constant, computed again", []pair{lanes(d, a, b), {ref: &code.Instr{}, writes: []rowPair{{code.Row{Slot: code.R, Row: -3}, a.ref}}}, lanes(d, a, b)}, []rowPair{a}},
		{"behind a collective", []pair{lanes(d, a, b), instr(code.VoteSync, code.OnLanes, 0, nil), lanes(d, a, b)}, []rowPair{a, b}},
		{"compact itself", []pair{lanes(d, a, b), instr(code.Named("add.s32"), code.CompactTwo, 0, []rowPair{d}, a, b)}, []rowPair{a, b}},
	} {
		settle(e.block)
		if got := e.block[len(e.block)-1].fresh; !slices.Equal(got, e.fresh) {
			t.Errorf("%s: compared are %v, want %v", e.name, got, e.fresh)
		}
	}
}

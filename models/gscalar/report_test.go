package gscalar

import (
	"math"
	"testing"

	"gemu/models"
)

// TestFiguresFromCounts derives the figures of a few counts by hand.
func TestFiguresFromCounts(t *testing.T) {
	c := Counts{Instructions: 200, Divergent: 50, ByValue: 20}
	c.Eligible[Headline] = Eligible{ALU: 40, SFU: 4, Memory: 16, Half: 2, Divergent: 10}
	c.Reads = [2]Accesses{{ScalarValue: 3, DivergentAccess: 1}, {ScalarValue: 4}}
	c.Writes = [2]Accesses{{ThreeBytes: 6, Other: 2}, {}}
	c.Schemes[Vectors] = [2]Scheme{{FullWrites: 1024, Bytes: 1024, Writes: 8, Arrays: 80}, {FullWrites: 512, Bytes: 512, Writes: 4, Arrays: 20}}
	c.Schemes[Bytewise] = [2]Scheme{{FullWrites: 1024, Bytes: 500, Writes: 8, Arrays: 30, Small: 10, Moves: 1, MoveArrays: 8, MoveSmall: 2}, {FullWrites: 512, Bytes: 12, Writes: 4, Arrays: 2, Small: 6}}
	c.Schemes[ScalarFile] = [2]Scheme{{FullWrites: 1024, Bytes: 900, Writes: 8, Arrays: 60, Small: 5}, {}}
	divergent, scalar := c.Divergence()
	alu, otherUnits, half, lanes := c.Scalar(Headline)
	low, all := c.Similar(OnlyReads, true), c.Similar(ReadsAndWrites, false)
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"divergent", divergent, 25},
		{"divergent scalar", scalar, 10},
		{"ALU", alu, 20},
		{"SFU and memory", otherUnits, 10},
		{"half", half, 1},
		{"by mask", lanes, 5},
		{"scalar low words read", low[ScalarValue], 75},
		{"divergent low words read", low[DivergentAccess], 25},
		{"scalar", all[ScalarValue], 100 * 7. / 16},
		{"three bytes", all[ThreeBytes], 100 * 6. / 16},
		{"moves", c.Moves(), .5},
		{"ratio", c.Ratio(Bytewise, false, false), 1536. / 512},
		{"… of low words", c.Ratio(Bytewise, true, false), 1024. / 500},
		{"… with 6 bits for each of 12", c.Ratio(Bytewise, false, true), 1536. / (512 + 9)},
		{"energy", c.Power(Bytewise, true, false), 100 * (32./8 + .052*16) / (100. / 8)},
		{"… of low words", c.Power(Bytewise, true, true), 100 * (30./8 + .052*10) / (80. / 8)},
		{"… without moves", c.Power(Bytewise, false, false), 100 * (24./8 + .052*14) / (100. / 8)},
		{"… of the file of scalars", c.Power(ScalarFile, true, false), 100 * (60./8 + .052*5) / (100. / 8)},
		{"… of its arrays", c.ArrayPower(ScalarFile), 60},
	} {
		if math.Abs(v.got-v.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", v.name, v.got, v.want)
		}
	}
	var none Counts
	if none.Power(Bytewise, true, false) != 100 || none.Ratio(Bytewise, false, false) != 1 || none.Moves() != 0 {
		t.Error("of nothing")
	}
}

// TestReportHasAllColumns: tables have a value for each column.
func TestReportHasAllColumns(t *testing.T) {
	for _, m := range []*Model{{}, {File: Affine}} {
		m.byWidth = map[int]*Counts{32: {Instructions: 1}, 64: {}}
		for _, table := range m.Report().Tables {
			if len(table.Rows) == 0 || table.Unit == "" || table.Title == "" {
				t.Errorf("%s: %+v", m.Name(), table)
			}
			for _, r := range table.Rows {
				if len(r.Values) != len(table.Columns) {
					t.Errorf("%s, %s: %d values in %d columns", m.Name(), table.Name, len(r.Values), len(table.Columns))
				}
			}
			if table.Name == "accesses" && table.Plot != models.NoPlot {
				t.Error("accesses are drawn")
			}
		}
	}
}

package gscalar

// This file computes the paper's figures from counts.

import (
	"fmt"
	"maps"
	"slices"

	"gemu/internal/notation"
	"gemu/models"
)

// Divergence returns figure 1, in percent of instructions: divergent instructions, and divergent instructions with
// scalar sources by value.
func (c *Counts) Divergence() (divergent, scalar float64) {
	return notation.Percentage(c.Divergent, c.Instructions), notation.Percentage(c.ByValue, c.Instructions)
}

// Operands selects the accesses of figure 8.
type Operands int

// The choices.
const (
	ReadsAndWrites Operands = iota // both together
	OnlyReads                      // reads of vector registers
	OnlyWrites                     // writes of vector registers
)

// Similar returns figure 8: accesses to vector registers by class, in percent. If low is true, only the lowest words of
// registers count.
func (c *Counts) Similar(operands Operands, low bool) (shares [similarities]float64) {
	var sum Accesses
	for high := range 2 {
		if high == 1 && low {
			continue
		}
		if operands != OnlyWrites {
			sum.add(&c.Reads[high])
		}
		if operands != OnlyReads {
			sum.add(&c.Writes[high])
		}
	}
	for k, n := range sum {
		shares[k] = notation.Percentage(n, sum.Total())
	}
	return shares
}

// Scalar returns figure 9, in percent of instructions: instructions that may execute as scalars on the ALU, on other
// units, in groups of 16 lanes, and under divergence. Each instruction counts once.
func (c *Counts) Scalar(r Interpretation) (alu, otherUnits, half, divergent float64) {
	n, total := &c.Eligible[r], c.Instructions
	return notation.Percentage(n.ALU, total), notation.Percentage(n.SFU+n.Memory, total), notation.Percentage(n.Half, total), notation.Percentage(n.Divergent, total)
}

// Ratio returns the compression ratio of written registers: their uncompressed bytes divided by the stored bytes. If low is
// true, only the lowest words of registers count. If encodings is true, six bits are added to each stored register.
func (c *Counts) Ratio(scheme int, low, encodings bool) float64 {
	s := c.words(scheme, low)
	stored := float64(s.Bytes)
	if encodings {
		stored += 6.0 / 8 * float64(s.Writes)
	}
	if stored == 0 {
		return 1
	}
	return float64(s.FullWrites) / stored
}

// Power returns figure 12: the energy of a scheme's accesses in percent of the energy of Vectors. If moves is false, the
// scheme's moves do not count. If low is true, only the lowest words of registers count.
func (c *Counts) Power(scheme int, moves, low bool) float64 {
	base, s := c.words(Vectors, low), c.words(scheme, low)
	baseline := base.Energy(Vectors, true)
	if baseline == 0 {
		return 100
	}
	return 100 * s.Energy(scheme, moves) / baseline
}

// ArrayPower is Power with moves and all words, but without the accesses to small arrays.
func (c *Counts) ArrayPower(scheme int) float64 {
	base, s := c.Scheme(Vectors), c.Scheme(scheme)
	return notation.Percentage(s.Arrays, base.Arrays)
}

// Moves returns the special moves of the paper's scheme, in percent of instructions.
func (c *Counts) Moves() float64 {
	s := c.Scheme(Bytewise)
	return notation.Percentage(s.Moves, c.Instructions)
}

func (c *Counts) words(scheme int, low bool) Scheme {
	if low {
		return c.Schemes[scheme][0]
	}
	return c.Scheme(scheme)
}

// Report returns the figures, with a row for each width of warps. If File is Affine, it reports only energy, sizes and
// accesses of registers, not scalar execution.
func (m *Model) Report() *models.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &models.Report{Model: m.Name(), Title: "Liu et al., HPCA 2017: registers compressed byte by byte, and scalar execution by their encodings"}
	tables, shown := figures, []int{Vectors, ScalarFile, BDI, Warped, Bytewise, Halves}
	if m.file() == Affine {
		r.Title = "tags for base and stride, then byte-wise compression; not from a paper"
		shown = []int{Vectors, Bytewise, Affine}
		tables = []figure{energies(shown[1:]...), ratios(shown[1:]...)}
	}
	widths := slices.Sorted(maps.Keys(m.byWidth))
	for _, f := range tables {
		t := f.Table
		for _, width := range widths {
			t.Rows = append(t.Rows, models.Row{Name: fmt.Sprintf("warps of %d", width), Values: f.row(m.byWidth[width])})
		}
		r.Tables = append(r.Tables, t)
	}
	accesses := models.Table{Name: "accesses", Title: "accesses to the register file", Unit: "accesses", Columns: []string{"reads", "writes", "banks", "arrays", "small array", "special moves"}}
	for _, width := range widths {
		for _, i := range shown {
			s := m.byWidth[width].Scheme(i)
			name := schemes[i].name
			if len(widths) > 1 {
				name += fmt.Sprintf(", warps of %d", width)
			}
			row := models.Row{Name: name}
			for _, n := range []int64{s.Reads, s.Writes, s.Banks, s.Arrays, s.Small, s.Moves} {
				row.Values = append(row.Values, float64(n))
			}
			accesses.Rows = append(accesses.Rows, row)
		}
	}
	r.Tables = append(r.Tables, accesses)
	return r
}

// figure is a table with a function that computes its rows.
type figure struct {
	models.Table
	row func(c *Counts) []float64
}

// figures are the paper's figures.
var figures = []figure{
	{models.Table{Name: "figure1", Title: "figure 1: divergent instructions", Unit: "% of instructions", Plot: models.Bars, Columns: []string{"divergent", "divergent scalar"}},
		func(c *Counts) []float64 { d, s := c.Divergence(); return []float64{d, s} }},
	{models.Table{Name: "figure8", Title: "figure 8: bytes that the lanes of a register share", Unit: "% of accesses", Plot: models.Stacked, Columns: []string{"scalar", "3-byte", "2-byte", "1-byte", "other", "divergent"}},
		func(c *Counts) []float64 {
			s := c.Similar(ReadsAndWrites, false)
			return []float64{s[ScalarValue], s[ThreeBytes], s[TwoBytes], s[OneByte], s[Other], s[DivergentAccess]}
		}},
	{models.Table{Name: "figure9", Title: "figure 9: instructions that may execute as scalars", Unit: "% of instructions", Plot: models.Stacked, Columns: []string{"ALU scalar", "SFU and memory", "half scalar", "divergent scalar"}},
		func(c *Counts) []float64 {
			alu, otherUnits, half, divergent := c.Scalar(Headline)
			return []float64{alu, otherUnits, half, divergent}
		}},
	energies(ScalarFile, BDI, Warped, Bytewise, Halves),
	ratios(BDI, Warped, Bytewise, Halves),
}

// energies returns figure 12 for some schemes.
func energies(list ...int) figure {
	return figure{models.Table{Name: "figure12", Title: "figure 12: energy of the register file, first order", Unit: "% of vectors", Plot: models.Bars, Columns: names(list)},
		func(c *Counts) (p []float64) {
			for _, i := range list {
				p = append(p, c.Power(i, true, false))
			}
			return p
		}}
}

// ratios returns the compression ratios of section 5.3 for some schemes.
func ratios(list ...int) figure {
	return figure{models.Table{Name: "ratio", Title: "compression ratio of register writes", Unit: "times", Plot: models.Bars, Columns: names(list)},
		func(c *Counts) (p []float64) {
			for _, i := range list {
				p = append(p, c.Ratio(i, false, false))
			}
			return p
		}}
}

func names(list []int) (out []string) {
	for _, i := range list {
		out = append(out, schemes[i].name)
	}
	return out
}

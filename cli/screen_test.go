package cli

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
)

// TestBarCells shows the distribution of a bar's cells: the sum is the width, and each nonzero part has a cell.
func TestBarCells(t *testing.T) {
	for _, c := range []struct {
		width int
		parts []int64
		want  []int
	}{
		{10, []int64{0, 0, 0}, []int{0, 0, 0}},
		{10, []int64{1, 1, 0}, []int{5, 5, 0}},
		{10, []int64{1, 1, 1}, []int{4, 3, 3}},
		{10, []int64{1, 999999, 0}, []int{1, 9, 0}},
		{10, []int64{1, 1, 999999}, []int{1, 1, 8}},
		{3, []int64{1, 1, 999999}, []int{1, 1, 1}},
		{10, []int64{26, 0, 74}, []int{3, 0, 7}},
	} {
		if got := cells(c.width, c.parts); !slices.Equal(got, c.want) {
			t.Errorf("cells(%d, %v) = %v, want %v", c.width, c.parts, got, c.want)
		}
	}
}

// TestColumnChart shows the characters of a chart with columns of eighths.
func TestColumnChart(t *testing.T) {
	got := columns([]int64{8, 0, 4, 1, 1000000}, 1, 2)
	if want := []string{"    █", "▁ ▁▁█"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = columns([]int64{16, 4, 12}, 3, 2)
	if want := []string{"██    ▄▄ ", "██ ▄▄ ██ "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := columns([]int64{0, 0}, 1, 1); got[0] != "  " {
		t.Errorf("a chart of nothing is %q", got)
	}
}

// TestCountText shows counts with three digits and a unit from a million on.
func TestCountText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999_999: "999999", 1_000_000: "1.00M", 1_234_567: "1.23M", 12_345_678: "12.3M", 123_456_789: "123M",
		999_400_000: "999M", 999_600_000: "1.00G", 1_234_567_890_123: "1.23T", 1<<63 - 1: "9.22E",
	} {
		if got := countText(n); got != want {
			t.Errorf("countText(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestPercentText shows percentages with a number of decimals; only 0 and 100 are printed as such.
func TestPercentText(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 1, "0.0"}, {0.04, 1, "<0.1"}, {0.06, 1, "0.1"}, {99.94, 1, "99.9"}, {99.96, 1, ">99.9"}, {100, 1, "100.0"},
		{0, 0, "0"}, {0.4, 0, "<1"}, {0.6, 0, "1"}, {99.6, 0, ">99"}, {100, 0, "100"}, {-3.25, 1, "-3.2"},
	} {
		if got := percentText(c.v, c.decimals); got != c.want {
			t.Errorf("percentText(%v, %d) = %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}

// TestWrapText shows where text is broken into lines.
func TestWrapText(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"a b c", 0, "a b c"}, {"a b c", 5, "a b c"}, {"a b c", 3, "a b|c"}, {"toolong a", 3, "toolong|a"}, {"", 5, ""}, {"é é é", 3, "é é|é"},
	} {
		if got := strings.Join(wrap(c.text, c.columns), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
	if got := cut("ééééé", 3); got != "éé…" {
		t.Errorf("cut to 3: %q", got)
	}
	if got := cut("ééé", 3); got != "ééé" {
		t.Errorf("cut to what it is: %q", got)
	}
}

// TestColoursAndWidth: a writer that is no terminal has no colours, and has a width only if COLUMNS is set.
func TestColoursAndWidth(t *testing.T) {
	var out bytes.Buffer
	for columns, want := range map[string]int{"": 0, "72": 72, "-3": 0, "wide": 0} {
		t.Setenv("COLUMNS", columns)
		if s := newScreen(&out); s.width != want || s.color {
			t.Errorf("COLUMNS=%s: width %d, colours %v; want %d and none", columns, s.width, s.color, want)
		}
	}
	shares := affinetrack.ClassCounts{Uniform: 1, Generic: 1}
	if got := (&screen{}).bar(4, shares); got != "██░░" {
		t.Errorf("bar %q", got)
	}
	if got, want := (&screen{color: true}).bar(4, shares), "\x1b[36m██\x1b[0m\x1b[33m░░\x1b[0m"; got != want {
		t.Errorf("bar %q, want %q", got, want)
	}
}

// TestPercentIsNearest: printed percentages are correctly rounded, and only 0 and 100 are printed as such.
func TestPercentIsNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(part.Seed(t), 4))
	for range 2000 {
		decimals := r.IntN(3)
		step := []float64{1, 0.1, 0.01}[decimals]
		v := 100 * math.Pow(r.Float64(), 3)
		switch r.IntN(4) {
		case 0:
			v = step * r.Float64()
		case 1:
			v = 100 - step*r.Float64()
		}
		text := percentText(v, decimals)
		of, err := strconv.ParseFloat(strings.TrimLeft(text, "<>"), 64)
		switch {
		case err != nil || decimals > 0 && len(text)-strings.Index(text, ".")-1 != decimals:
			t.Errorf("%v: %q", v, text)
		case text[0] == '<':
			if v >= step/2 || of != step {
				t.Errorf("%v: %q", v, text)
			}
		case text[0] == '>':
			if v < 100-step/2 || math.Abs(of-(100-step)) > 1e-9 {
				t.Errorf("%v: %q", v, text)
			}
		case math.Abs(of-v) > step/2+1e-9 || of == 0 && v != 0 || of == 100 && v != 100:
			t.Errorf("%v: %q", v, text)
		}
	}
}

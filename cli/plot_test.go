package cli

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemu/models"
	"gemu/papers"
)

// drawn is the part of a picture that the tests check: its size, its rectangles and its texts.
type drawn struct {
	width, height float64
	rects, texts  []drawnElement
}

type drawnElement struct {
	class, text, title string
	x, y, w            float64
	anchor             string
	size               float64
	pale               bool // the element has a fill-opacity, as bars of a paper have
}

// readPicture reads an SVG picture. It checks that all numbers in attributes are finite and no width is negative.
func readPicture(t *testing.T, svg string) *drawn {
	t.Helper()
	d := &drawn{}
	var open []*drawnElement
	inTitle := false
	r := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := r.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			n := &drawnElement{size: 12}
			for _, a := range e.Attr {
				v, _ := strconv.ParseFloat(a.Value, 64)
				switch a.Name.Local {
				case "class":
					n.class = a.Value
				case "x":
					n.x = v
				case "y":
					n.y = v
				case "width":
					n.w = v
				case "text-anchor":
					n.anchor = a.Value
				case "font-size":
					n.size = v
				case "fill-opacity":
					n.pale = true
				}
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || a.Name.Local == "width" && v < 0 {
					t.Errorf("%s %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
				if e.Name.Local == "svg" && a.Name.Local == "width" {
					d.width = v
				}
				if e.Name.Local == "svg" && a.Name.Local == "height" {
					d.height = v
				}
			}
			inTitle = e.Name.Local == "title"
			open = append(open, n)
		case xml.CharData:
			switch {
			case inTitle:
				open[len(open)-2].title = string(e)
			case len(open) > 0:
				open[len(open)-1].text += string(e)
			}
		case xml.EndElement:
			n := open[len(open)-1]
			open = open[:len(open)-1]
			inTitle = false
			switch e.Name.Local {
			case "rect":
				d.rects = append(d.rects, *n)
			case "text":
				d.texts = append(d.texts, *n)
			}
		}
	}
}

// bars returns the rectangles with titles, by title: the bars, and the parts of stacked bars.
func (d *drawn) bars() map[string]drawnElement {
	m := map[string]drawnElement{}
	for _, r := range d.rects {
		if r.title != "" {
			m[r.title] = r
		}
	}
	return m
}

// tick returns the x of the axis label with the text that is nearest to x; +Inf if there is none.
func (d *drawn) tick(t *testing.T, text string, x float64) float64 {
	t.Helper()
	nearest := math.Inf(1)
	for _, e := range d.texts {
		if e.text == text && e.anchor == "middle" && math.Abs(e.x-x) < math.Abs(nearest-x) && e.class == "soft" {
			nearest = e.x
		}
	}
	return nearest
}

// checkTexts checks that all texts are inside the picture, with estimated widths of letters.
func (d *drawn) checkTexts(t *testing.T) {
	t.Helper()
	for _, e := range d.texts {
		w := e.size * 0.58 * float64(len([]rune(e.text)))
		left := map[string]float64{"start": e.x, "middle": e.x - w/2, "end": e.x - w}[e.anchor]
		if left < 0 || left+w > d.width || e.y < 8 || e.y > d.height {
			t.Errorf("%q from x %.0f to %.0f, at y %.0f, is not inside the picture of %.0f × %.0f", e.text, left, left+w, e.y, d.width, d.height)
		}
	}
}

// TestBarsOfTable draws a made-up table. Lengths of bars are proportional to values, and the paper's bar is below ours. Missing
// values have no bar. A stacked bar consists of its parts, placed end to end.
func TestBarsOfTable(t *testing.T) {
	table := &papers.Table{Name: "t", Title: "made up & <odd>", Columns: []papers.Column{
		{Name: "a", Head: [2]string{"", "a"}, Digits: 1, Doc: strings.Repeat("what is counted here ", 6)},
		{Name: "u", Head: [2]string{"", "u"}, Doc: "part", Stack: "both", Series: "uniform"},
		{Name: "v", Head: [2]string{"uni-", "form"}, Doc: "part", Stack: "both", Series: "affine"},
		{Name: "w", Head: [2]string{"", "w"}, Doc: "part", Stack: "both", Series: "generic"},
		{Name: "n", Head: [2]string{"", "n"}, Digits: 1, Doc: "may be negative"},
	}}
	half := 0.5
	r := &papers.ComparisonInterpretation{Name: "head", Rows: []papers.ComparisonRow{
		{Name: "x", Ours: map[string]float64{"a": 10, "u": 30, "v": 20, "w": 25, "n": -4}, Paper: map[string]float64{"a": 5, "u": 40}},
		{Name: "a name that is far too long to stand before a bar", Ours: map[string]float64{"a": math.NaN(), "u": 60, "v": -40, "w": 15, "n": 8}, Paper: map[string]float64{}},
		{Name: "z", Ours: map[string]float64{}, Paper: map[string]float64{"u": 1, "v": 2}},
	}, Agreement: map[string]*papers.Agreement{"a": {Rho: new(float64), P: new(float64), Holm: &half}}}
	p := comparisonPicture(table, "a title", r)
	d := readPicture(t, p.svg())
	d.checkTexts(t)
	bars := d.bars()
	barWidth := func(title string) float64 {
		b, ok := bars[title]
		if !ok {
			t.Errorf("no bar %q", title)
		}
		return b.w
	}
	checkNear := func(quantity string, got, want float64) {
		if !(math.Abs(got-want) <= 0.3) { // negated, so that it also fails for NaN, the distance of two missing ticks
			t.Errorf("%s: %.1f, want %.1f", quantity, got, want)
		}
	}
	const long = "a name that is far too long to stand before a bar"
	checkNear("width of the paper's bar 5.0 in row x", barWidth("x, the paper: 5.0"), barWidth("x: 10.0")/2)
	checkNear("width of the part affine in row x", barWidth("x, affine: 20"), barWidth("x, uniform: 30")*2/3)
	checkNear("left end of the part affine in row x", bars["x, affine: 20"].x, bars["x, uniform: 30"].x+barWidth("x, uniform: 30"))
	checkNear("left end of the part generic in row x", bars["x, generic: 25"].x, bars["x, affine: 20"].x+barWidth("x, affine: 20"))
	checkNear("right end of the negative part affine", bars[long+", affine: -40"].x+barWidth(long+", affine: -40"), bars[long+", uniform: 60"].x)
	checkNear("left end of the part generic, after the part uniform", bars[long+", generic: 15"].x, bars[long+", uniform: 60"].x+barWidth(long+", uniform: 60"))
	checkNear("right end of the bar 10.0, at the tick 10", bars["x: 10.0"].x+barWidth("x: 10.0"), d.tick(t, "10", bars["x: 10.0"].x))
	below := bars["x: -4.0"].x
	checkNear("left end of the bar -4.0, between the ticks -5 and 0", below, d.tick(t, "-5", below)+(d.tick(t, "0", below)-d.tick(t, "-5", below))/5)
	checkNear("width of the part uniform 60, next to 30 in row x", barWidth(long+", uniform: 60"), 2*barWidth("x, uniform: 30"))
	checkNear("width of the paper's part uniform 40", barWidth("x, uniform, the paper: 40"), barWidth("x, uniform: 30")*4/3)
	checkNear("right end of the bar -4.0, at the left end of the bar 8.0", bars["x: -4.0"].x+barWidth("x: -4.0"), bars[long+": 8.0"].x)
	checkNear("width of the bar 8.0", barWidth(long+": 8.0"), 2*barWidth("x: -4.0"))
	if !bars["x, uniform, the paper: 40"].pale || bars["x, uniform: 30"].pale {
		t.Error("the paper's bar is not paler than ours")
	}
	if len(bars) != 13 {
		t.Errorf("%d bars, want 13", len(bars))
	}
	has := func(text string) bool {
		return slices.ContainsFunc(d.texts, func(e drawnElement) bool { return e.text == text })
	}
	for _, text := range []string{"uniform 40", "both", "rank correlation .00, p <.1%, corrected 50%", "paper", "-"} {
		if !has(text) {
			t.Errorf("the picture has no text %q", text)
		}
	}
	if (&picture{}).svg() != "" {
		t.Error("a picture without panels is not empty")
	}
	if got := table.Columns[2].Label(); got != "uniform" {
		t.Errorf("label %q, want uniform", got)
	}
}

// TestPlotsOfModelTables draws tables of models: with a row of zeros, and with a row of infinite and missing values. A table
// without rows or without a kind of plot has no picture.
func TestPlotsOfModelTables(t *testing.T) {
	table := &models.Table{Title: "t", Unit: "%", Plot: models.Stacked, Columns: []string{"a", "b"}, Rows: []models.Row{{Name: "r", Values: []float64{0, 0}}, {Name: "s", Values: []float64{25, 75}}}}
	d := readPicture(t, plot(table))
	d.checkTexts(t)
	if b := d.bars(); math.Abs(3*b["s, a: 25"].w-b["s, b: 75"].w) > 0.3 {
		t.Errorf("the part 75 is not three times as wide as the part 25: %+v", b)
	}
	table.Plot = models.Bars
	table.Rows[1].Values = []float64{math.Inf(1), math.NaN()}
	readPicture(t, plot(table)).checkTexts(t)
	for _, n := range []*models.Table{{Plot: models.Bars}, {Rows: table.Rows}} {
		if plot(n) != "" {
			t.Errorf("%+v has a picture, want none", n)
		}
	}
}

// TestAxisTicks: a range of values is 1 to 4 steps long. A step is 1, 2 or 5 times a power of ten.
func TestAxisTicks(t *testing.T) {
	for _, size := range []float64{1e-9, 0.3, 1, 1.01, 4, 4.1, 9.99, 30, 100, 128, 54321, 3e12} {
		step := tickStep(size)
		leading := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9))
		if n := size / step; n > 4+1e-9 || n < 1 || !slices.ContainsFunc([]float64{1, 2, 5}, func(v float64) bool { return math.Abs(v-leading) < 1e-6 }) {
			t.Errorf("%g: %g steps of %g", size, n, step)
		}
	}
	for _, c := range []struct {
		v, step float64
		want    string
	}{{0.5, 0.5, "0.5"}, {20, 10, "20"}, {0.25, 0.05, "0.25"}, {2e6, 1e6, "2e+06"}, {100, 50, "100"}, {0.2, 0.1, "0.2"}} {
		if got := tickText(c.v, c.step); got != c.want {
			t.Errorf("%g of %g: %s, want %s", c.v, c.step, got, c.want)
		}
	}
}

// TestClassesHaveTheirColours: uniform, affine and generic are blue, green and orange in all pictures, as on the pages of
// gemu structure, whatever their order; divergent is purple; other series have other colours.
func TestClassesHaveTheirColours(t *testing.T) {
	for _, c := range []struct {
		series []string
		want   []int
	}{
		{[]string{"uniform", "affine", "generic"}, []int{0, 2, 1}},
		{[]string{"generic", "affine", "uniform"}, []int{1, 2, 0}},
		{[]string{"zero", "uniform", "affine", "generic", "more"}, []int{7, 0, 2, 1, 4}},
		{[]string{"affine", "first", "second"}, []int{2, 7, 4}},
		{[]string{"first", "second", "third"}, []int{7, 4, 5}},
		{[]string{"divergent", "first", "generic"}, []int{3, 7, 1}},
	} {
		got := (&picture{series: c.series}).colours()
		if !slices.Equal(got, c.want) {
			t.Errorf("series %q have the colours %d, want %d", c.series, got, c.want)
		}
	}
	for class, dominant := range map[string]int{"uniform": 2, "affine": 1, "generic": 0} { // red, green, blue
		text := plotColours[classColours[class]].light
		var rgb [3]int
		if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); err != nil {
			t.Fatal(err)
		}
		if slices.Max(rgb[:]) != rgb[dominant] {
			t.Errorf("%s has the colour %s", class, text)
		}
	}
}

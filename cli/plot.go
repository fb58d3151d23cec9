package cli

// This file draws tables as SVG pictures: horizontal bars, in panels side by side. Pictures need no other
// files, are complete as files and in pages, and are dark if the page is dark.

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gemu/models"
)

// picture is the content of a picture.
type picture struct {
	title  string
	series []string // meanings of the colours; if empty, every bar is gemu's
	paper  bool     // some bars have values of a paper
	panels []panel
}

// panel is a chart of a picture, with an axis of its own.
type panel struct {
	title  string
	notes  []string // lines below the title
	groups []barGroup
}

// barGroup is the bars of a row of the table.
type barGroup struct {
	name string
	bars []bar
}

// bar is a bar: parts placed end to end.
type bar struct {
	paper bool   // the value is a paper's, not gemu's
	text  string // its value, formatted
	parts []barPart
}

// barPart is a part of a bar.
type barPart struct {
	series int // index in the picture's series; -1: none
	value  float64
	text   string
}

// plotColours has the colours of series, in order: on a light page, on a dark page, and of letters on light
// bars. They also differ in lightness. Bars of a paper have the same colours, paler.
var plotColours = []struct{ light, dark, letters string }{
	{"#1f5f99", "#5aa7e6", "on"}, {"#d98032", "#f0a060", "over"}, {"#4f9460", "#6fc48a", "on"}, {"#8f4a8a", "#c78bc3", "on"},
	{"#c9b458", "#d8c878", "over"}, {"#7f8c98", "#9aa7b3", "over"}, {"#b33a3a", "#ea8080", "on"}, {"#6fb7c9", "#8fd3e3", "over"},
}

// classColours has the indices in plotColours of the classes of values, and of divergence. They are the colours of the classes
// on all pages.
var classColours = map[string]int{"uniform": 0, "affine": 2, "generic": 1, "divergent": 3}

// otherColours has the indices in plotColours of the colours for other series, in order: those that mean no class come first.
var otherColours = []int{7, 4, 5, 6, 0, 1, 2, 3}

// colours returns the index in plotColours of each series. Series that are not classes of values have the remaining colours,
// in order.
func (p *picture) colours() []int {
	taken := map[int]bool{}
	for _, name := range p.series {
		if c, isClass := classColours[name]; isClass {
			taken[c] = true
		}
	}
	free := slices.DeleteFunc(slices.Clone(otherColours), func(c int) bool { return taken[c] })
	list := make([]int, len(p.series))
	next := 0
	for i, name := range p.series {
		c, isClass := classColours[name]
		if !isClass {
			c = free[next%len(free)]
			next++
		}
		list[i] = c
	}
	return list
}

// plotInks has the colours of letters by class, on a light page: main text, secondary text, and text on bars.
var plotInks = map[string]string{"ink": "#1d232b", "soft": "#5a6570", "on": "#fff", "over": "#1d232b"}

// The colours of bars without a series: bars of a paper if gemu's bars have the first colour, and bars of
// panels without series next to panels with series.
const (
	paperSeries = 1
	plainSeries = 5
)

// The measures of a picture, in its own units: pixels, unless it is scaled. Widths of letters are approximate,
// as in usual fonts.
const (
	plotMargin             = 12
	plotLetter, plotSmall  = 7, 5.7 // widths of letters of 12 and of 10 pixels
	plotLine, plotNote     = 18, 13 // heights of lines of both sizes
	plotBar, plotGap       = 12, 7  // height of a bar; gap between rows
	plotAxis               = 20
	plotPanels             = 3        // panels side by side
	plotWide, plotNarrow   = 440, 170 // longest bar with a single panel, and with several
	plotApart              = 26       // gap between panels
	plotNumber, plotNameTo = 46, 190  // room for a value after a bar; the longest name
)

// svg returns the picture as SVG, or "" if it has no bars.
func (p *picture) svg() string {
	if len(p.panels) == 0 {
		return ""
	}
	d := &drawing{bars: plotWide, across: 1, colours: p.colours()}
	if len(p.panels) > 1 {
		d.bars, d.across = plotNarrow, min(plotPanels, len(p.panels))
	}
	for i := range p.panels {
		for _, g := range p.panels[i].groups {
			d.names = max(d.names, min(plotNameTo, textWidth(g.name)))
			for _, b := range g.bars {
				d.numbers = max(d.numbers, plotNumber, textWidth(b.text)+8)
				if b.paper && len(p.series) > 0 {
					d.names = max(d.names, textWidth("paper"))
				}
			}
		}
	}
	d.names += 8
	panelWidth := d.names + float64(d.bars) + d.numbers
	width := 2*plotMargin + float64(d.across)*panelWidth + float64(d.across-1)*plotApart
	y := float64(plotMargin)
	for _, line := range wrap(p.title, int((width-2*plotMargin)/plotLetter)) {
		y += plotLine
		d.text(plotMargin, y-4, "start", "ink", `font-weight="600"`, line)
	}
	y = d.legend(p, y, width)
	for first := 0; first < len(p.panels); first += d.across {
		row := p.panels[first:min(first+d.across, len(p.panels))]
		top, bottom := y, y
		for i := range row {
			top = max(top, d.head(&row[i], plotMargin+float64(i)*(panelWidth+plotApart), y, panelWidth))
		}
		for i := range row {
			bottom = max(bottom, d.panel(p, &row[i], plotMargin+float64(i)*(panelWidth+plotApart), top))
		}
		y = bottom + plotGap
	}
	height := y + plotMargin - plotGap
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="plot" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(p.title)) +
		plotStyle + fmt.Sprintf(`<rect class="card" width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height) + d.String() + "</svg>\n"
}

// plotStyle is the style sheet with the colours on a dark page.
var plotStyle = func() string {
	var b strings.Builder
	b.WriteString("<style>@media (prefers-color-scheme: dark) { .plot .card { fill: #1b2027; } .plot .ink { fill: #e4e8ec; } .plot .soft { fill: #9aa5b1; } .plot .grid { stroke: #333b45; } .plot .zero { stroke: #9aa5b1; } .plot .on, .plot .over { fill: #10151a; }")
	for i, c := range plotColours {
		fmt.Fprintf(&b, " .plot .s%d { fill: %s; stroke: %s; }", i, c.dark, c.dark)
	}
	b.WriteString(" }</style>\n")
	return b.String()
}()

// drawing is a picture under construction.
type drawing struct {
	strings.Builder
	bars, across   int
	names, numbers float64 // widths before and after the bars
	colours        []int   // indices in plotColours of the picture's series
}

func (d *drawing) text(x, y float64, anchor, class, more, s string) {
	if more != "" {
		more = " " + more
	}
	fmt.Fprintf(d, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", class, x, y, anchor, plotInks[class], more, html.EscapeString(s))
}

// rect draws a rectangle of a series.
func (d *drawing) rect(series int, paper bool, x, y, width, height float64, title string) {
	series %= len(plotColours)
	more := ` stroke-width="0"`
	if paper {
		more = ` fill-opacity="0.45"`
	}
	colour := plotColours[series].light
	if title != "" {
		title = "<title>" + html.EscapeString(title) + "</title>"
	}
	fmt.Fprintf(d, `<rect class="s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" stroke="%s"%s>%s</rect>`+"\n", series, x, y, width, height, colour, colour, more, title)
}

// legend writes the meanings of the colours from y on, and returns the y of its end.
func (d *drawing) legend(p *picture, y, width float64) float64 {
	x := 0.0
	entry := func(series int, paper bool, name string) {
		size := 30 + textWidth(name)
		if x == 0 || x+size > width-plotMargin {
			x, y = plotMargin, y+plotLine
		}
		d.rect(series, paper, x, y-13, 10, 10, "")
		d.text(x+15, y-4, "start", "ink", "", name)
		x += size
	}
	for i, name := range p.series {
		entry(d.colours[i], false, name)
	}
	switch {
	case !p.paper:
	case len(p.series) > 0:
		entry(d.colours[0], true, "paler: the paper")
	default:
		entry(0, false, "gemu")
		entry(paperSeries, false, "the paper")
	}
	return y + plotGap
}

// head writes the title and notes of a chart from y on, and returns the y of its end.
func (d *drawing) head(n *panel, x, y, width float64) float64 {
	for _, line := range wrap(n.title, int(width/plotLetter)) {
		if line != "" {
			y += plotLine
			d.text(x, y-5, "start", "ink", `font-weight="600"`, line)
		}
	}
	for _, note := range n.notes {
		for _, line := range wrap(note, int(width/plotSmall)) {
			y += plotNote
			d.text(x, y-4, "start", "soft", `font-size="10"`, line)
		}
	}
	return y + 4
}

// panel draws a chart with its upper left corner at x, y, and returns the y of its end.
func (d *drawing) panel(p *picture, n *panel, x, y float64) float64 {
	low, high := n.extent()
	step := tickStep(high - low)
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	left := x + d.names
	xOf := func(v float64) float64 { return left + (v-low)/(high-low)*float64(d.bars) }
	top, bottom := y, y
	for i := range n.groups {
		bottom += float64(len(n.groups[i].bars)*plotBar + plotGap)
	}
	for i := range int(math.Round((high-low)/step)) + 1 {
		v := low + float64(i)*step
		class, colour := "grid", "#e3e6e9"
		if math.Abs(v) < step/2 {
			v, class, colour = 0, "zero", "#5a6570"
		}
		fmt.Fprintf(d, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", class, xOf(v), top, xOf(v), bottom, colour)
		d.text(xOf(v), bottom+12, "middle", "soft", `font-size="10"`, tickText(v, step))
	}
	y += plotGap / 2.
	for i := range n.groups {
		g := &n.groups[i]
		for k, b := range g.bars {
			switch {
			case k == 0:
				d.text(left-6, y+plotBar-2, "end", "ink", "", cut(g.name, int(d.names/plotLetter)))
			case b.paper && len(p.series) > 0:
				d.text(left-6, y+plotBar-2, "end", "soft", "", "paper")
			}
			d.bar(p, g, &b, xOf, y)
			y += plotBar
		}
		y += plotGap
	}
	return bottom + plotAxis
}

// bar draws a bar at height y. xOf returns the horizontal position of a value.
func (d *drawing) bar(p *picture, g *barGroup, b *bar, xOf func(v float64) float64, y float64) {
	up, down := 0.0, 0.0 // negative parts extend in the opposite direction
	for _, segment := range b.parts {
		from := &up
		if segment.value < 0 {
			from = &down
		}
		x1, x2 := xOf(*from), xOf(*from+segment.value)
		*from += segment.value
		series, source := segment.series, g.name
		pale := b.paper
		switch {
		case series >= 0:
			source += ", " + p.series[series]
			series = d.colours[series]
		case len(p.series) > 0:
			series = plainSeries
		case b.paper:
			series, pale = paperSeries, false
		default:
			series = 0
		}
		if b.paper {
			source += ", the paper"
		}
		d.rect(series, pale, min(x1, x2), y+.5, math.Abs(x2-x1), plotBar-1, source+": "+segment.text)
		if len(b.parts) > 1 && math.Abs(x2-x1) > plotSmall*float64(len(segment.text))+4 {
			class := plotColours[series%len(plotColours)].letters
			if pale {
				class = "ink"
			}
			d.text((x1+x2)/2, y+plotBar-3, "middle", class, `font-size="9.5"`, segment.text)
		}
	}
	d.text(max(xOf(up), xOf(0))+4, y+plotBar-2, "start", "ink", `font-size="11"`, b.text)
}

// extent returns the range of values of the bars, including 0.
func (n *panel) extent() (low, high float64) {
	for i := range n.groups {
		for _, b := range n.groups[i].bars {
			up, down := 0.0, 0.0
			for _, segment := range b.parts {
				up, down = up+max(0, segment.value), down+min(0, segment.value)
			}
			low, high = min(low, down), max(high, up)
		}
	}
	if low == high {
		high = 1
	}
	return low, high
}

// tickStep returns the distance of the ticks of an axis: 1, 2 or 5 times a power of ten, for at most five
// ticks.
func tickStep(size float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(size/4)))
	for _, by := range []float64{1, 2, 5} {
		if size/(by*step) <= 4 {
			return by * step
		}
	}
	return 10 * step
}

// tickText writes the value of a tick: with the decimals of a step.
func tickText(v, step float64) string {
	if math.Abs(v) >= 1e6 {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.*f", max(0, int(math.Ceil(-math.Log10(step)-1e-9))), v)
}

func textWidth(s string) float64 { return plotLetter * float64(utf8.RuneCountInString(s)) }

// finite reports whether a value can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// plot draws a table of a model; it returns "" for a table without bars.
func plot(t *models.Table) string {
	if t.Plot == models.NoPlot || len(t.Rows) == 0 {
		return ""
	}
	n := panel{}
	for _, r := range t.Rows {
		g := barGroup{name: r.Name}
		whole, sum := bar{}, 0.0
		for i, v := range r.Values {
			if !finite(v) {
				continue
			}
			segment := barPart{i, v, valueText(v)}
			if sum += v; t.Plot == models.Stacked {
				whole.parts = append(whole.parts, segment)
			} else {
				g.bars = append(g.bars, bar{text: segment.text, parts: []barPart{segment}})
			}
		}
		if t.Plot == models.Stacked {
			whole.text = valueText(sum)
			g.bars = []bar{whole}
		}
		n.groups = append(n.groups, g)
	}
	if !slices.ContainsFunc(t.Rows, func(r models.Row) bool {
		return slices.ContainsFunc(r.Values, func(v float64) bool { return v != 0 && finite(v) })
	}) {
		return "" // an axis without bars says less than the table
	}
	return (&picture{title: t.Title + ", " + t.Unit, series: t.Columns, panels: []panel{n}}).svg()
}

// valueText formats a value of a table: integers as they are, fractions with up to two decimals.
func valueText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	if math.Abs(v) < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

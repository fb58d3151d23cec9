package main

// This file draws tables as SVG pictures.

import (
	"fmt"
	"html"
	"math"
	"strings"

	"gemu/regfile/model"
)

// plotColours are those of the columns of a table, in turn; they differ in lightness, too.
var plotColours = []string{"#1f4e79", "#d98032", "#5f9e6e", "#9b4f96", "#c9b458", "#7f8c98", "#b33a3a", "#6fb7c9"}

// The measures of a plot, in its own units, which are pixels unless it is scaled.
const (
	plotLeft, plotRight    = 150, 64 // names before the bars, numbers behind them
	plotBars               = 420     // the longest bar
	plotBar, plotGap       = 16, 10
	plotLegend, plotLetter = 18, 6.6
)

// plot draws a table, nothing if it is not one to be drawn. The picture needs nothing from elsewhere.
func plot(t *model.Table) string {
	if t.Plot == model.NoPlot || len(t.Rows) == 0 {
		return ""
	}
	longest := 0.0
	for _, r := range t.Rows {
		sum := 0.0
		for _, v := range r.Values {
			if sum += v; t.Plot == model.Bars {
				longest = math.Max(longest, v)
			}
		}
		if t.Plot == model.Stacked {
			longest = math.Max(longest, sum)
		}
	}
	if longest == 0 {
		longest = 1
	}
	const width = plotLeft + plotBars + plotRight
	var b strings.Builder
	y := plotLegend
	text := func(x, y int, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
	}
	text(0, y, "start", t.Title+", "+t.Unit)
	x := 0
	y += plotLegend
	for i, name := range t.Columns {
		size := 24 + int(plotLetter*float64(len(name)))
		if x > 0 && x+size > width {
			x, y = 0, y+plotLegend
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/>`+"\n", x, y-9, plotColours[i%len(plotColours)])
		text(x+14, y, "start", name)
		x += size
	}
	y += plotGap
	scale := plotBars / longest
	bar := func(x float64, y, column int, name string, v float64) float64 {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s: %s</title></rect>`+"\n", x, y, v*scale, plotBar, plotColours[column%len(plotColours)], html.EscapeString(name+", "+t.Columns[column]), valueText(v))
		return x + v*scale
	}
	for _, r := range t.Rows {
		end, sum := float64(plotLeft), 0.0
		text(plotLeft-8, y+plotBar-4, "end", r.Name)
		for i, v := range r.Values {
			sum += v
			if t.Plot == model.Stacked {
				end = bar(end, y, i, r.Name, v)
				continue
			}
			text(int(bar(plotLeft, y, i, r.Name, v))+5, y+plotBar-4, "start", valueText(v))
			y += plotBar
		}
		if t.Plot == model.Stacked {
			text(int(end)+5, y+plotBar-4, "start", valueText(sum))
			y += plotBar
		}
		y += plotGap
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="#333" role="img" aria-label="%s">`+"\n", width, y, width, y, html.EscapeString(t.Title)) +
		fmt.Sprintf(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, y) + b.String() + "</svg>\n"
}

// valueText writes a value of a table: whole ones as they are, others with up to two decimals.
func valueText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	if math.Abs(v) < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

package strip

// This file draws strips as an SVG picture, light or dark as the reader prefers.

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// MaxSVG is the size up to which SVG keeps every step, in bytes. A larger picture has fewer columns than steps.
const MaxSVG = 50 << 10

// The measures of a picture, in pixels.
const (
	svgWidth   = 600
	svgMargin  = 14
	svgLine    = 20  // height of a line of text
	svgNames   = 96  // width of the names of lanes
	svgLetter  = 7.4 // mean width of a letter of 14 pixels
	svgLane    = 5   // height of a lane in a group of lanes
	svgGroup   = 22  // least height of a group of lanes, if there are few groups
	svgSingle  = 7   // height of a lane where there are many groups
	svgMany    = 6   // number of groups from which on there are many
	svgColumns = 420 // largest number of columns
	svgStep    = 9   // least width of a step with a letter
)

// svgColours are the colours of blocks, on a light and on a dark page. They differ from the colours of classes of values.
var svgColours = [Colours]struct{ light, dark string }{
	{"#56647a", "#a9b7cb"}, {"#6d3fa8", "#c9a7f2"}, {"#0f766e", "#6fd0c6"}, {"#b0307c", "#f29ac9"}, {"#6f6a00", "#d6cf62"}, {"#2b6f8f", "#8cc4e0"}, {"#8a4b1f", "#dfae84"}, {"#3d4a9e", "#a9b5f5"},
}

// svgStyle is the style sheet of pictures. Texts: h heading, s small, m centred, e error, l letter. Paths: p and the number of a
// colour (f1, f2: lanes run in some steps of a column; o: their guard is false), k lanes to their sectors, w wait, x wait at a barrier, g lines between
// steps, t end by an error. Rectangles: b and the number of a colour, c the background.
var svgStyle = func() string {
	var light, dark strings.Builder
	for i, c := range svgColours {
		fmt.Fprintf(&light, ".b%d{fill:%s}.p%d{stroke:%s}", i, c.light, i, c.light)
		fmt.Fprintf(&dark, ".b%d{fill:%s}.p%d{stroke:%s}", i, c.dark, i, c.dark)
	}
	return "<style>text{font:14px system-ui,sans-serif;fill:#1d232b}path{fill:none}.h{font-weight:600}.s{font-size:13px;fill:#4f5964}.m{text-anchor:middle}.e{fill:#b3261e}.l{fill:#fff;font-weight:600;text-anchor:middle}.c{fill:#fff}" +
		".w,.x{stroke:#6d7885;stroke-width:1}.x{stroke-dasharray:3 2;stroke-width:2}.g{stroke:#fff;stroke-width:1;stroke-opacity:.45}.t{stroke:#b3261e;stroke-width:3}.f1{stroke-opacity:.7}.f2,.o{stroke-opacity:.4;fill-opacity:.4}" + light.String() +
		"@media(prefers-color-scheme:dark){text{fill:#e4e8ec}.s{fill:#b3bcc6}.e{fill:#ff9d94}.l{fill:#10151a}.c{fill:#14181d}.w,.x{stroke:#8d98a5}.g{stroke:#14181d}.t{stroke:#ff9d94}" + dark.String() + "}</style>\n"
}()

// SVG draws strips as a picture with a title. All strips have the same scale of time. The picture has a text alternative.
func SVG(title string, groups []Group) []byte {
	for columns := svgColumns; ; columns /= 2 {
		d := &svg{groups: groups, columns: columns}
		if b := d.draw(title); len(b) <= MaxSVG || columns < 40 {
			return b
		}
	}
}

// svg is a picture under construction.
type svg struct {
	strings.Builder
	groups  []Group
	columns int     // largest number of columns
	steps   int     // steps that are drawn: those of the longest strip that ends without an error
	per     int     // steps of a column
	scale   float64 // width of a step
	y       float64
}

func (d *svg) draw(title string) []byte {
	d.steps = d.longest(func(g *Group) bool { return g.Err == nil })
	if d.steps == 0 {
		d.steps = max(d.longest(func(*Group) bool { return true }), 1)
	}
	steps := d.steps
	d.per = (steps + d.columns - 1) / d.columns
	d.scale = min((svgWidth-2*svgMargin-svgNames-16)/float64((steps+d.per-1)/d.per*d.per), 40)
	d.y = svgMargin
	d.lines("h", title, 0)
	for i := range d.groups {
		d.group(&d.groups[i])
	}
	d.legend()
	return d.file(title, d.description())
}

// longest returns the largest number of steps of a warp of the selected strips; 0 if none is selected.
func (d *svg) longest(selects func(g *Group) bool) (steps int) {
	for i := range d.groups {
		if g := &d.groups[i]; selects(g) {
			for _, w := range g.Warps {
				steps = max(steps, w.Steps)
			}
		}
	}
	return steps
}

// description says the strips in words, up to a number of sentences.
func (d *svg) description() string {
	const most = 16
	var b strings.Builder
	for i := range d.groups {
		g := &d.groups[i]
		fmt.Fprintf(&b, "%s. ", g.Title())
		for _, w := range g.Warps {
			list := g.Sentences(w)
			for _, text := range list[:min(len(list), most)] {
				fmt.Fprintf(&b, "%s. ", text)
			}
			if n := len(list) - most; n > 0 {
				fmt.Fprintf(&b, "And so on, up to step %d. ", w.Steps)
			}
			if text := g.FinalText(w); text != "" {
				fmt.Fprintf(&b, "%s. ", text)
			}
		}
		if text := g.EndText(); text != "" {
			fmt.Fprintf(&b, "%s. ", text)
		}
	}
	return strings.TrimSpace(b.String())
}

func (d *svg) text(class string, x, y float64, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(d, `<text%s x="%.1f" y="%.1f">%s</text>`+"\n", class, x, y, html.EscapeString(s))
}

// lines writes a text in as many lines as it needs.
func (d *svg) lines(class, s string, indent float64) {
	width := int((svgWidth - 2*svgMargin - indent) / svgLetter)
	if class == "s" {
		width = width * 14 / 13
	}
	for _, line := range wrapped(s, width) {
		d.y += svgLine
		d.text(class, svgMargin+indent, d.y-5, line)
	}
}

// group draws the strips of the warps of a launch.
func (d *svg) group(g *Group) {
	d.y += 8
	d.lines("h", g.Title(), 0)
	for _, w := range g.Warps {
		if t := g.WarpTitle(w); t != "" {
			d.lines("", t, 0)
		}
		d.warp(g, w)
		if w.Steps > d.steps {
			d.lines("e", fmt.Sprintf("… and so on up to step %d", w.Steps), svgNames)
		}
		switch text := g.FinalText(w); {
		case w.Cut:
			d.lines("s", cutText, svgNames)
		case text != "":
			d.lines("e", text, svgNames)
		}
	}
	if text := g.EndText(); text != "" {
		d.lines("e", text, svgNames)
	}
	if g.OtherWarps > 0 {
		d.lines("s", notShown(g.OtherWarps)+" not shown", svgNames)
	}
}

// warp draws the strip of a warp.
func (d *svg) warp(g *Group, w *Warp) {
	const left = svgMargin + svgNames
	d.y += 14
	d.text("s", svgMargin, d.y-2, "step")
	drawn := min(w.Steps, d.steps)
	apart := float64(14 + 8*len(fmt.Sprint(drawn))) // distance of numbers
	for c := 0; c*d.per < drawn; c += max(1, int(math.Ceil(apart/(d.scale*float64(d.per))))) {
		d.text("s m", left+(float64(c*d.per)+.5)*d.scale, d.y-2, fmt.Sprint(c*d.per+1))
	}
	d.y += 2
	top := d.y
	groups := w.LaneGroups()
	pens := map[pen]*penPath{}
	// line draws a horizontal line.
	line := func(p pen, x, y, width float64) {
		if pens[p] == nil {
			pens[p] = &penPath{}
		}
		pens[p].line(x, y, width)
	}
	var letters []func()
	named := -svgLine * 2.0
	for _, lanes := range groups {
		height := float64(max(svgGroup, svgLane*bits.OnesCount64(lanes)))
		if len(groups) > svgMany {
			height = float64(svgSingle * bits.OnesCount64(lanes))
		}
		if middle := d.y + height/2; middle-named >= svgLine-4 {
			d.text("s", svgMargin, middle+4, w.shortLanes(lanes, 14))
			named = middle
		}
		gap := 1.0
		for _, c := range joined(w.columns(bits.TrailingZeros64(lanes), d.per)) {
			if c.steps = min(c.steps, d.steps-c.first+1); c.steps <= 0 {
				break
			}
			x, y, width := left+float64(c.first-1)*d.scale, d.y, float64(c.steps)*d.scale
			switch c.state {
			case Executes, Excluded:
				class := fmt.Sprintf("p%d", c.block%Colours)
				switch {
				case c.state == Excluded:
					class += " o"
				case c.shade > 0:
					class += fmt.Sprintf(" f%d", c.shade)
				}
				line(pen{class, height - gap}, x, y+(height-gap)/2, width)
				if height >= 14 && width >= svgStep && d.per == 1 {
					letter := string(g.Blocks[c.block].Letter)
					middle := x + (float64((c.steps-1)/2)+.5)*d.scale // in a step, not on the line between two
					letters = append(letters, func() { d.text("l", middle, y+height/2+4.5, letter) })
				}
			case Waits:
				line(pen{class: "w"}, x, y+height/2, width)
			case Stopped:
				line(pen{class: "x"}, x, y+height/2, width)
			}
		}
		d.y += height
	}
	order := slices.SortedFunc(maps.Keys(pens), func(a, b pen) int {
		return cmp.Or(strings.Compare(a.class, b.class), cmp.Compare(a.width, b.width))
	})
	for _, p := range order {
		if p.width > 0 {
			fmt.Fprintf(d, `<path class="%s" stroke-width="%s" d="%s"/>`+"\n", p.class, number(p.width), pens[p])
		} else {
			fmt.Fprintf(d, `<path class="%s" d="%s"/>`+"\n", p.class, pens[p])
		}
	}
	if d.per == 1 && d.scale >= svgStep {
		d.WriteString(`<path class="g" d="`)
		for step := 1; step < drawn; step++ {
			fmt.Fprintf(d, "M%s %sv%s", number(left+float64(step)*d.scale), number(top), number(d.y-top))
		}
		d.WriteString("\"/>\n")
	}
	end := left + float64(drawn)*d.scale + 2
	switch {
	case w.Steps > drawn: // arrows: the strip goes on
		d.WriteString(`<path class="t" d="`)
		for y := top + 4; y+14 <= d.y+4; y += 20 {
			fmt.Fprintf(d, "M%s %sl6 5l-6 5", number(end+1), number(y))
		}
		d.WriteString("\"/>\n")
	case g.Err != nil && len(w.Final) > 0:
		fmt.Fprintf(d, `<path class="t" d="M%s %sv%s"/>`+"\n", number(end), number(top), number(d.y-top))
	}
	for _, draw := range letters {
		draw()
	}
}

// pen is the appearance of lines.
type pen struct {
	class string
	width float64 // stroke width in pixels; 0: that of the class
}

// penPath is the horizontal lines of a pen, as data of a path.
type penPath struct {
	strings.Builder
	x, y float64 // the end of the last line
}

// line draws a line. Relative moves add up, so each is rounded from where the moves before have led.
func (p *penPath) line(x, y, width float64) {
	round := func(f float64) float64 { return math.Round(f*10) / 10 }
	switch from := round(x); {
	case p.Len() == 0 || p.y != y:
		fmt.Fprintf(p, "M%s %s", number(from), number(y))
		p.x, p.y = from, y
	case p.x != from:
		fmt.Fprintf(p, "m%s 0", number(from-p.x))
		p.x = from
	}
	to := round(x + width)
	fmt.Fprintf(p, "h%s", number(to-p.x))
	p.x = to
}

// number formats a coordinate with at most one decimal.
func number(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// legend writes the letters and colours of blocks, and the meaning of lines.
func (d *svg) legend() {
	d.y += 10
	x := float64(svgMargin)
	d.y += svgLine
	entry := func(draw func(x, y float64), text string) {
		width := 24 + svgLetter*float64(len([]rune(text))) + 14
		if x > svgMargin && x+width > svgWidth-svgMargin {
			x, d.y = svgMargin, d.y+svgLine
		}
		draw(x, d.y-16)
		d.text("", x+20, d.y-5, text)
		x += width
	}
	states := map[State]bool{}
	for i := range d.groups {
		for _, w := range d.groups[i].Warps {
			for k := range w.Runs {
				r := &w.Runs[k]
				states[Excluded] = states[Excluded] || r.Active != r.Lanes
				for _, x := range r.Waits {
					states[Waits], states[Stopped] = states[Waits] || x.Kind != Blocked, states[Stopped] || x.Kind == Blocked
				}
			}
		}
	}
	for _, b := range executedBlocks(d.groups) {
		entry(func(x, y float64) {
			fmt.Fprintf(d, `<rect class="b%d" x="%.1f" y="%.1f" width="13" height="13"/>`, b%Colours, x, y)
		}, d.groups[0].BlockText(b))
	}
	line := func(class string) func(x, y float64) {
		return func(x, y float64) {
			fmt.Fprintf(d, `<path class="%s" d="M%.1f %.1fh14"/>`, class, x, y+7)
		}
	}
	if states[Waits] {
		entry(line("w"), "the lanes wait")
	}
	if states[Stopped] {
		entry(line("x"), "they wait at a barrier or a collective instruction")
	}
	if states[Excluded] {
		entry(func(x, y float64) {
			fmt.Fprintf(d, `<rect class="b0 o" x="%.1f" y="%.1f" width="13" height="13"/>`, x, y)
		}, "pale: the guard is false")
	}
	if d.per > 1 {
		d.lines("s", fmt.Sprintf("A column is %d steps; paler: the lanes run in some of them.", d.per), 0)
	}
}

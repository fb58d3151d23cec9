package strip

// This file draws strips with characters.

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

// Screen is the place where Print draws.
type Screen struct {
	Width int // columns; 0 is 80
	// Paint colours a text with colour number n of Colours, as the background of letters; nil: no colours.
	Paint func(n int, text string) string
	// Bold emphasises a text; nil: no emphasis.
	Bold func(text string) string
	// Newest draws a column for each step, of the last steps only where not all fit.
	Newest bool
}

// Colours is the number of colours of blocks: block i has colour i modulo Colours.
const Colours = 8

// The characters of a lane, other than letters.
const (
	waitsGlyph   = '·'
	stoppedGlyph = '='
)

// shades are the characters of a lane that executes in all steps of a column, in half of them or more, and in fewer.
var shades = [...]rune{'█', '▓', '▒'}

// labelWidth is the largest width of the names of lanes.
const labelWidth = 20

// Print draws strips with characters: a row for each group of lanes that do the same, a column for each step. Where there are
// more steps than columns, a column is several steps; with Screen.Newest the first steps are left out instead.
func Print(to io.Writer, groups []Group, screen Screen) {
	if screen.Width <= 0 {
		screen.Width = 80
	}
	if screen.Bold == nil {
		screen.Bold = func(text string) string { return text }
	}
	if screen.Newest {
		groups = newest(groups, screen.Width)
	}
	used := legend{}
	for i := range groups {
		g := &groups[i]
		if i > 0 {
			fmt.Fprintln(to)
		}
		for _, line := range wrapped(g.Title(), screen.Width) {
			fmt.Fprintln(to, screen.Bold(line))
		}
		for _, w := range g.Warps {
			used.add(w, g.printWarp(to, w, &screen))
			g.fprintEnd(to, w, "  ", screen.Width)
		}
		g.fprintNotes(to, screen.Width)
	}
	fprintBlocks(to, groups, screen.Width)
	used.fprint(to, screen.Width)
}

// newest returns the groups with only the last steps of the warps that do not fit into a width, with a column for each step.
func newest(groups []Group, width int) []Group {
	room := max(width-labelWidth-4, 10)
	short := slices.Clone(groups)
	for i := range short {
		s := *groups[i].Strip
		s.Warps = slices.Clone(s.Warps)
		for k, w := range s.Warps {
			if w.Steps > room {
				s.Warps[k] = w.from(w.Steps - room + 1)
			}
		}
		short[i].Strip = &s
	}
	return short
}

// legend is the characters that a drawing uses.
type legend struct {
	letters, folded  bool
	excluded, waits  bool
	stopped, hasEnds bool
}

// add adds a warp, drawn with per steps in a column.
func (l *legend) add(w *Warp, per int) {
	l.letters, l.folded = l.letters || per == 1, l.folded || per > 1
	for i := range w.Runs {
		r := &w.Runs[i]
		l.excluded = l.excluded || r.Lanes != r.Active
		l.hasEnds = l.hasEnds || r.Alive() != w.Lanes
		l.stopped = l.stopped || r.blocked() != 0
		l.waits = l.waits || r.Alive() != r.Active|r.blocked()
	}
}

// fprint writes the meaning of the characters.
func (l *legend) fprint(to io.Writer, width int) {
	var list []string
	add := func(used bool, text string) {
		if used {
			list = append(list, text)
		}
	}
	add(l.letters, "Letter: the lane runs")
	add(l.letters && l.excluded, "small letter: its guard is false")
	add(l.folded, fmt.Sprintf("%c: the lane runs in all steps of the column, %c: in half of them or more, %c: in fewer", shades[0], shades[1], shades[2]))
	add(l.waits, fmt.Sprintf("%c: it waits", waitsGlyph))
	add(l.stopped, fmt.Sprintf("%c: it waits at a barrier or collective instruction", stoppedGlyph))
	add(l.hasEnds, "blank: it has ended")
	fprintWrapped(to, "", strings.Join(list, "; ")+".", width)
}

// printWarp draws a warp, and returns the number of steps of a column.
func (g *Group) printWarp(to io.Writer, w *Warp, screen *Screen) (per int) {
	groups := w.LaneGroups()
	names, width := make([]string, len(groups)), len("step")
	for i, lanes := range groups {
		names[i] = w.shortLanes(lanes, labelWidth)
		width = max(width, len([]rune(names[i])))
	}
	title, first := g.WarpTitle(w), w.first()
	room, steps := max(screen.Width-width-4, 10), w.Steps-first+1
	per = max((steps+room-1)/room, 1)
	switch {
	case first > 1:
		title = fmt.Sprintf("%s, steps %d to %d; earlier steps are not shown", title, first, w.Steps)
	case per > 1:
		title = fmt.Sprintf("%s, each column is %d steps", title, per)
	}
	if title = strings.TrimPrefix(title, ", "); title != "" {
		fmt.Fprintf(to, "  %s\n", title)
	}
	fmt.Fprintf(to, "  %-*s  %s\n", width, "step", ruler(first, (steps+per-1)/per, per))
	for i, lanes := range groups {
		row := g.row(w, bits.TrailingZeros64(lanes), per, screen)
		fmt.Fprintf(to, "  %s%s  %s\n", names[i], strings.Repeat(" ", width-len([]rune(names[i]))), strings.TrimRight(row, " "))
	}
	return per
}

// ruler returns a line with the numbers of steps above their columns, of per steps from step first on.
func ruler(first, columns, per int) string {
	line := []byte{}
	for c := 0; c < columns; {
		text := fmt.Sprint(first + c*per)
		if c > 0 && c+len(text) > columns {
			break
		}
		for len(line) < c {
			line = append(line, ' ')
		}
		line = append(line, text...)
		if c += 10; per == 1 { // the first step, then 10, 20 …
			c -= (first + c) % 10
		}
		for c <= len(line) {
			c += 10
		}
	}
	return string(line)
}

// row draws a lane.
func (g *Group) row(w *Warp, lane, per int, screen *Screen) string {
	var b strings.Builder
	pending, colour := []rune{}, -1
	flush := func() {
		if colour >= 0 && screen.Paint != nil {
			b.WriteString(screen.Paint(colour, string(pending)))
		} else {
			b.WriteString(string(pending))
		}
		pending = pending[:0]
	}
	for _, c := range w.columns(lane, per) {
		glyph, paint := g.glyph(c, per)
		if paint != colour {
			flush()
			colour = paint
		}
		pending = append(pending, glyph)
	}
	flush()
	return b.String()
}

// glyph returns the character of a column and its colour; -1 for none.
func (g *Group) glyph(c column, per int) (glyph rune, colour int) {
	switch c.state {
	case Executes, Excluded:
		if per > 1 {
			return shades[c.shade], -1
		}
		letter := g.Blocks[c.block].Letter
		if c.state == Excluded {
			letter = unicode.ToLower(letter)
		}
		return letter, c.block % Colours
	case Stopped:
		return stoppedGlyph, -1
	case Waits:
		return waitsGlyph, -1
	}
	return ' ', -1
}

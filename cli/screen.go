package cli

// This file writes to terminals: width, colours, bars and charts made of characters.

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"gemu/affinetrack"
	"gemu/internal/document"
	"gemu/internal/strip"
)

// screen is the destination of text.
type screen struct {
	io.Writer
	width int  // columns; 0: lines of any length
	color bool // colours are supported
}

// chartWidth is the width of charts on a screen without a width.
const chartWidth = 80

// newScreen returns the screen of a writer. Terminals have colours, unless NO_COLOR is set
// (https://no-color.org) or the terminal is dumb. The width is the terminal's; for a writer that is
// no terminal it is COLUMNS.
func newScreen(w io.Writer) *screen {
	s := &screen{Writer: w}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	}
	if f, ok := terminal(w); ok {
		s.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			s.width = n
		}
	}
	return s
}

// chart returns the width available to charts.
func (s *screen) chart() int {
	if s.width == 0 {
		return chartWidth
	}
	return min(max(s.width, 40), 100)
}

func (s *screen) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// paint is the appearance of text.
type paint string

// The paints, as parameters of the terminal's "select graphic rendition".
const (
	plain   paint = ""
	bold    paint = "1"
	dim     paint = "2"
	cyan    paint = "36"
	green   paint = "32"
	yellow  paint = "33"
	magenta paint = "35"
)

// blockPaints are the colours of basic blocks in strips: letters on a background.
var blockPaints = [strip.Colours]paint{"97;100", "97;45", "30;46", "30;105", "30;43", "97;44", "30;101", "30;104"}

// classGlyphs fill bars on screens without colours.
var classGlyphs = [3]rune{'█', '▓', '░'}

// classPaints are the colours of uniform, affine and generic; yellow is the terminal's colour nearest to the orange of pages.
var classPaints = map[affinetrack.Class]paint{affinetrack.Uniform: cyan, affinetrack.Affine: green, affinetrack.Generic: yellow}

// paint colours a text, if the screen has colours.
func (s *screen) paint(p paint, text string) string {
	if !s.color || p == plain || text == "" {
		return text
	}
	return p.sequence() + text + plain.sequence()
}

// sequence returns the escape sequence at the beginning of the paint.
func (p paint) sequence() string {
	if p == plain {
		return "\x1b[0m"
	}
	return "\x1b[" + string(p) + "m"
}

// styles lists the escape sequences sent by gemu itself.
func styles() (list []string) {
	for _, p := range slices.Concat([]paint{plain, bold, dim, cyan, green, yellow, magenta}, blockPaints[:]) {
		list = append(list, p.sequence())
	}
	return list
}

// heading prints the title of a section.
func (s *screen) heading(text string) { s.printf("\n%s\n", s.paint(bold, text)) }

// fitted pads a text to a number of columns: on the right, or on the left if the number is
// negative.
func fitted(text string, columns int) string {
	n := utf8.RuneCountInString(text)
	if columns < 0 {
		return strings.Repeat(" ", max(-columns-n, 0)) + text
	}
	return text + strings.Repeat(" ", max(columns-n, 0))
}

// cut shortens a text to a number of columns; 0 means no limit.
func cut(text string, columns int) string {
	if r := []rune(text); columns > 0 && len(r) > columns {
		return string(r[:columns-1]) + "…"
	}
	return text
}

// wrap breaks a text at blanks into lines of at most the given number of columns; 0 means no limit.
// It does not break words.
func wrap(text string, columns int) []string {
	if columns <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// countText formats a number in at most six characters: 999999, 1.23M, 45.6G.
func countText(n int64) string {
	if n < 1_000_000 {
		return strconv.FormatInt(n, 10)
	}
	f := float64(n)
	for _, unit := range "MGTPE" {
		if f /= 1000; f < 999.5e3 {
			f /= 1000
			return strconv.FormatFloat(f, 'f', max(0, 2-int(math.Log10(f))), 64) + string(unit)
		}
	}
	panic("BUG: a count beyond 64 bits")
}

// percentText formats a percentage with a number of decimals. A value that would be rounded to 0 or
// 100 without being equal is "<0.1" or ">99.9".
func percentText(v float64, decimals int) string {
	step := math.Pow(10, -float64(decimals))
	switch {
	case v > 0 && v < step/2:
		return fmt.Sprintf("<%.*f", decimals, step)
	case v < 100 && v >= 100-step/2:
		return fmt.Sprintf(">%.*f", decimals, 100-step)
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// bar draws shares of a whole with a number of cells. Each nonzero share has at least a cell.
func (s *screen) bar(width int, shares affinetrack.ClassCounts) string {
	var b strings.Builder
	for i, n := range cells(width, document.ClassShares(shares)) {
		b.WriteString(s.paint(classPaints[document.Classes[i]], strings.Repeat(string(classGlyphs[i]), n)))
	}
	return b.String()
}

// cells divides a number of cells in proportion, by largest remainders, with at least a cell for
// each nonzero part.
func cells(width int, parts []int64) []int {
	total := int64(0)
	for _, p := range parts {
		total += p
	}
	out := make([]int, len(parts))
	if total == 0 {
		return out
	}
	remaining := make([]float64, len(parts))
	left := width
	for i, p := range parts {
		exact := float64(p) / float64(total) * float64(width)
		if out[i] = int(exact); p > 0 && out[i] == 0 {
			out[i], exact = 1, 0
		}
		remaining[i] = exact - float64(out[i])
		left -= out[i]
	}
	for ; left > 0; left-- {
		i := slices.Index(remaining, slices.Max(remaining))
		out[i]++
		remaining[i]--
	}
	for ; left < 0; left++ {
		out[slices.Index(out, slices.Max(out))]--
	}
	return out
}

// columns draws a chart of values: each is a column of width characters (including a blank, if
// there is more than one character), in height lines, top first. The largest value is as high as
// the chart; every nonzero value is visible.
func columns(values []int64, width, height int) []string {
	lines := make([]string, height)
	top := max(slices.Max(values), 1)
	for _, v := range values {
		eighths := int(math.Round(float64(v) / float64(top) * float64(8*height)))
		if v > 0 {
			eighths = max(eighths, 1)
		}
		for i := range lines {
			level := min(max(eighths-8*(height-1-i), 0), 8)
			lines[i] += fitted(strings.Repeat(string([]rune(" ▁▂▃▄▅▆▇█")[level]), max(width-1, 1)), width)
		}
	}
	return lines
}

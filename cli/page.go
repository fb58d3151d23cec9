package cli

// This file makes the page of "gemu structure --html" and "gemu profile --html": a single file that needs no
// other files. Its template is page.html.

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"gemu/ptx"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// pageData is the data for the template page.html.
type pageData struct {
	*structureReport
	Title     string
	PolicyDoc string
	Sources   []pageSource // for a profile, shown first on the page
	Columns   []pageHead   // columns of a profile in addition to the columns of value structure
	Launches  []string
	Summary   []summaryRow
	Bars      []pageBar
	Lanes     pageHistogram
	Listings  []pageListing
}

// pageHead is the name and the description of a column.
type pageHead struct{ Name, Title string }

// pageSource is a source file of the PTX's compilation.
type pageSource struct {
	Name string
	Rows []pageLine
}

// pageLine is a line of a source file, with counts of its instructions and links to the listings. Execs is
// "" for a line without instructions.
type pageLine struct {
	Line                int
	Text                string
	Execs, Share, Lanes string
	Width               float64 // Share, in percent
	Class, Label        string
	Parts               []pagePart
	More                []string // cells of pageData.Columns
	Title               string
}

// pageBar is a structureBar.
type pageBar struct {
	Name  string
	Total int64
	Parts []pagePart
}

// pagePart is a part of a bar.
type pagePart struct {
	Class, Kind, Percent string
	Count                int64
	Width                float64 // percent
}

// pageHistogram is the histogram of active lanes, in the coordinates of an SVG
// picture.
type pageHistogram struct {
	Width, Height, Base int // Base is the y of the axis
	Bars                []pageColumn
	Top                 string // label of the axis' maximum
}

// pageColumn is a column of the histogram.
type pageColumn struct {
	X, Y, W, H float64
	Tick       string
	Title      string

	Active int    // number of active lanes
	Count  int64  // number of instructions
	Share  string // of all instructions, in percent
}

// pageListing is the listing of a function.
type pageListing struct {
	Title string
	Depth int // columns of control flow
	Width int // width of the pictures of control flow: two units per column
	Rows  []pageRow
}

// pageRow is a row of a listing.
type pageRow struct {
	Kind                    string // "instruction", "label" or "source"
	Line                    int
	Guard, Opcode, Operands string // for an instruction
	Text                    string // for a label or source line
	Title                   string
	Chips                   []chip
	Parts                   []pagePart
	Execs                   string
	Lanes                   string
	LanesWidth              float64  // percent of the warp
	Flow                    string   // SVG path in cells of 2×2
	Arrow                   bool     // a line of control flow ends at this row
	More                    []string // cells of pageData.Columns

	in *ptx.Instr // for an instruction
}

// page returns the page as HTML.
func (r *structureReport) page() ([]byte, error) {
	return r.pageData("Value structure of " + r.File).html()
}

// html executes the template.
func (d *pageData) html() ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, d); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// pageData returns the data of the page about value structure.
func (r *structureReport) pageData(title string) *pageData {
	d := &pageData{structureReport: r, Title: title, PolicyDoc: r.structure.Policy.Doc, Summary: informative(summaryRows(r.structure)), Lanes: r.pageLanes()}
	for _, g := range r.groups {
		d.Launches = append(d.Launches, g.String())
	}
	for _, b := range r.bars {
		d.Bars = append(d.Bars, pageBar{b.Name, b.Shares.Total(), pageParts(b.Kinds, classShares(b.Shares))})
	}
	for _, l := range r.listings {
		d.Listings = append(d.Listings, r.pageListing(l))
	}
	return d
}

func pageParts(kinds [3]string, counts []int64) []pagePart {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	var parts []pagePart
	for i, n := range counts {
		p := share(n, total)
		parts = append(parts, pagePart{classes[i].String(), kinds[i], percentText(p, 1), n, p})
	}
	return parts
}

func (r *structureReport) pageLanes() pageHistogram {
	const left, step, height, base = 44, 18, 180, 150
	counts := r.structure.Lanes[1:]
	total := r.structure.Total().Execs
	top := max(slices.Max(counts), 1)
	h := pageHistogram{Width: left + step*len(counts) + 8, Height: height, Base: base, Top: percentText(share(top, total), 0) + " %"}
	for i, n := range counts {
		c := pageColumn{
			X: left + step*float64(i) + 2, W: step - 4, H: float64(n) / float64(top) * (base - 12),
			Active: i + 1, Count: n, Share: percentText(share(n, total), 1),
		}
		c.Title = fmt.Sprintf("%d active: %d instructions, %s %%", c.Active, c.Count, c.Share)
		if n > 0 {
			c.H = max(c.H, 1)
		}
		c.Y = base - c.H
		if i == 0 || (i+1)%max(len(counts)/8, 1) == 0 {
			c.Tick = fmt.Sprint(i + 1)
		}
		h.Bars = append(h.Bars, c)
	}
	return h
}

func (r *structureReport) pageListing(l *listing) pageListing {
	page := pageListing{Title: l.title(), Depth: l.flow.depth(), Width: 2 * l.flow.depth()}
	for i := range l.rows {
		row := &l.rows[i]
		p := pageRow{Kind: "instruction", Line: row.line, Flow: l.flow.path(i), Arrow: l.flow.to[i]}
		switch c := row.counts; {
		case row.source:
			p.Kind, p.Text = "source", row.text
		case c == nil:
			p.Kind, p.Text = "label", row.text
		default:
			p.in = row.in
			p.Guard, p.Opcode, p.Operands = splitInstruction(row.text)
			p.Execs, p.Lanes = countText(c.Execs), fmt.Sprintf("%.1f", row.lanes())
			p.LanesWidth = row.lanes() / float64(r.Warp) * 100
			p.Title = "never executed"
			if c.Execs > 0 {
				p.Chips = row.chips()
				_, doc := chipText(p.Chips)
				p.Title = fmt.Sprintf("%d executions; %s", c.Execs, doc)
			}
			if p.Parts = pageParts(valueKinds, classShares(c.Label)); row.paths.Divergent > 0 {
				together := c.Execs - row.paths.Divergent
				p.Parts = []pagePart{
					{"d", "divergent", percentText(share(row.paths.Divergent, c.Execs), 1), row.paths.Divergent, share(row.paths.Divergent, c.Execs)},
					{"u", "together", percentText(share(together, c.Execs), 1), together, share(together, c.Execs)},
				}
			}
			if row.place != "" {
				p.Title += "; from " + row.place
			}
		}
		page.Rows = append(page.Rows, p)
	}
	return page
}

// splitInstruction splits a line of PTX into its guard, opcode and operands.
func splitInstruction(text string) (guard, opcode, operands string) {
	if strings.HasPrefix(text, "@") {
		guard, text, _ = strings.Cut(text, " ")
	}
	opcode, operands, found := strings.Cut(text, " ")
	if !found {
		return guard, strings.TrimSuffix(opcode, ";"), ";"
	}
	return guard, opcode, operands
}

// path returns the control-flow lines of a row as an SVG path, in cells of 2×2.
func (f *flow) path(row int) string {
	var b strings.Builder
	for i, c := range f.cells[row] {
		x := 2*i + 1
		for _, side := range []struct {
			cell cell
			path string
		}{{upward, "V0"}, {downward, "V2"}, {leftward, fmt.Sprintf("H%d", x-1)}, {rightward, fmt.Sprintf("H%d", x+1)}} {
			if c&side.cell != 0 {
				fmt.Fprintf(&b, "M%d 1%s", x, side.path)
			}
		}
	}
	return b.String()
}

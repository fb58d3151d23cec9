package cli

// This file makes the page of "gemu structure --html", "gemu profile --html" and "gemu machine --html": a single file that
// needs no other files. The page, of web/src/report.ts, draws the data of this file.

import (
	"fmt"
	"strings"

	"gemu/internal/document"
	"gemu/internal/strip"
	"gemu/play/site"
	"gemu/ptx"
)

// pageData is the contents of the page. web/src/report-data.ts has the same types.
type pageData struct {
	Title    string         `json:"title"`
	Launches []string       `json:"launches"` // the launched kernels, with their extents
	About    string         `json:"about"`    // how the values were counted
	Columns  []pageHead     `json:"columns"`  // columns of a profile in addition to the columns of value structure
	Sources  []*pageListing `json:"sources"`  // for a profile, source files of the PTX's compilation, shown first
	Listings []*pageListing `json:"listings"`
	Shares   []pageShares   `json:"shares"`
	Lanes    []pageLanes    `json:"lanes"` // by number of active lanes, from 1 on
	Summary  []summaryRow   `json:"summary"`
	Sections []pageSection  `json:"sections"` // tables and charts besides those of value structure
}

// pageSection is a part of the page.
type pageSection struct {
	Title  string      `json:"title"`
	Notes  []string    `json:"notes"`
	Blocks []pageBlock `json:"blocks"`
}

// pageBlock is a table, or a chart with a table of the same values; or texts about lines. At most one of Bars, Plot and Heat is set.
type pageBlock struct {
	Title string      `json:"title"`
	Notes []string    `json:"notes"`
	Table *pageTable  `json:"table,omitempty"`
	Bars  *pageBars   `json:"bars,omitempty"`
	Plot  *pagePlot   `json:"plot,omitempty"`
	Heat  *pageHeat   `json:"heat,omitempty"`
	Texts []pageTexts `json:"texts,omitempty"`
}

// pageTable is a table. Each row has a cell for each column.
type pageTable struct {
	Head []pageHead `json:"head"`
	Rows [][]string `json:"rows"`
}

// pageBars is horizontal bars of parts, a bar for each row.
type pageBars struct {
	Series []string     `json:"series"` // names of the parts
	Rows   []pageBarRow `json:"rows"`
	Most   float64      `json:"most"` // value of a bar of full length
}

// pageBarRow is a bar: its name, its value as text, and the values of its parts.
type pageBarRow struct {
	Name   string    `json:"name"`
	Text   string    `json:"text"`
	Values []float64 `json:"values"`
}

// pagePlot is lines over named places.
type pagePlot struct {
	X     string     `json:"x"`     // name of the horizontal axis
	Ticks []string   `json:"ticks"` // its places
	Unit  string     `json:"unit"`  // text after the values
	Most  float64    `json:"most"`  // value at the top
	Lines []pageLine `json:"lines"`
}

// pageLine is a line of a plot: a value for each place.
type pageLine struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// pageHeat is a map of values by row and column.
type pageHeat struct {
	RowName    string      `json:"rowName"`
	ColumnName string      `json:"columnName"`
	Unit       string      `json:"unit"`
	Rows       []string    `json:"rows"`
	Columns    []string    `json:"columns"`
	Values     [][]float64 `json:"values"`
	Most       float64     `json:"most"`            // value of the full colour
	Texts      [][]string  `json:"texts,omitempty"` // texts in the cells of a small map
	Mark       *[2]int     `json:"mark,omitempty"`  // row and column of the launch
}

// pageTexts is sentences about a line.
type pageTexts struct {
	Place string   `json:"place"`
	Code  string   `json:"code"`
	List  []string `json:"list"`
}

// addBar adds a bar to a chart. text is the value of the whole bar.
func (b *pageBars) addBar(name, text string, values ...float64) {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	b.Most = max(b.Most, sum)
	b.Rows = append(b.Rows, pageBarRow{name, text, values})
}

// pageHead is the name and the meaning of a column.
type pageHead struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Text bool   `json:"text,omitempty"` // the cells are texts, which are aligned to the left
}

// pageListing is the lines of a function or of a source file.
type pageListing struct {
	Title string    `json:"title"`
	Rows  []pageRow `json:"rows"`
	Plain bool      `json:"plain,omitempty"` // a source file whose lines have the columns of pageData.Columns only
	Jumps [][2]int  `json:"jumps,omitempty"` // branches, from a row to a row
}

// pageRow is a row of a listing.
type pageRow struct {
	Kind   string      `json:"kind"` // "instruction", "label", "source" (a source line of a listing of PTX) or "line" (of a source file)
	Text   string      `json:"text"`
	Line   int         `json:"line,omitempty"`   // line of the PTX or of the source file
	Letter string      `json:"letter,omitempty"` // letter of the basic block that begins at this instruction
	Block  int         `json:"block,omitempty"`  // number of this basic block, which gives its colour
	Counts *pageCounts `json:"counts,omitempty"` // nil for a row without instructions

	in *ptx.Instr // for an instruction
}

// pageCounts are the counts of a row.
type pageCounts struct {
	Title        string     `json:"title"`           // the counts in words
	Execs        string     `json:"execs,omitempty"` // number of executions; "" without executions
	Chips        []chip     `json:"chips,omitempty"`
	Parts        []pagePart `json:"parts,omitempty"`
	Share        string     `json:"share,omitempty"` // for a line of a source file, share of all executions
	SharePercent float64    `json:"sharePercent,omitempty"`
	Lanes        string     `json:"lanes,omitempty"`        // mean number of active lanes
	LanesPercent float64    `json:"lanesPercent,omitempty"` // of the warp
	More         []string   `json:"more,omitempty"`         // cells of pageData.Columns
}

// pageShares is a structureBar.
type pageShares struct {
	Name  string     `json:"name"`
	Parts []pagePart `json:"parts"` // empty if there was nothing to count
}

// pagePart is a part of a bar.
type pagePart struct {
	Class   string  `json:"class"`
	Kind    string  `json:"kind"`
	Percent string  `json:"percent"`
	Count   int64   `json:"count"`
	Width   float64 `json:"width"` // percent
}

// pageLanes is the warp instructions with a number of active lanes.
type pageLanes struct {
	Count int64  `json:"count"`
	Share string `json:"share"` // of all instructions, in percent
}

// page returns the page as HTML.
func (r *structureReport) page() ([]byte, error) {
	return r.pageData("Value structure of " + r.File).html()
}

// html returns the page with its data.
func (d *pageData) html() ([]byte, error) { return site.ReportFile(d.Title, d) }

// pageData returns the data of the page about value structure.
func (r *structureReport) pageData(title string) *pageData {
	d := &pageData{
		Title: title, About: fmt.Sprintf("Warps of %d. Policy %s: %s.", r.Warp, r.Policy, r.structure.Policy.Doc),
		Launches: []string{}, Columns: []pageHead{}, Sources: []*pageListing{}, Listings: []*pageListing{}, Sections: []pageSection{}, Summary: informative(summaryRows(r.structure)),
	}
	for _, g := range r.groups {
		d.Launches = append(d.Launches, g.String())
	}
	for _, b := range r.bars {
		s := pageShares{Name: b.Name, Parts: []pagePart{}}
		if b.Shares.Total() > 0 {
			s.Parts = pageParts(b.Kinds, document.ClassShares(b.Shares))
		}
		d.Shares = append(d.Shares, s)
	}
	total := r.structure.Total().Execs
	for _, n := range r.structure.Lanes[1:] {
		d.Lanes = append(d.Lanes, pageLanes{n, percentText(share(n, total), 1)})
	}
	letters := r.letters()
	for _, l := range r.listings {
		d.Listings = append(d.Listings, r.pageListing(l, letters))
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
		parts = append(parts, pagePart{document.Classes[i].String(), kinds[i], percentText(p, 1), n, p})
	}
	return parts
}

// blockLetter is the letter and the number of a basic block.
type blockLetter struct {
	letter string
	number int
}

// letters returns the letters of the basic blocks, as in strips. They begin again at each kernel.
func (r *structureReport) letters() map[*ptx.Block]blockLetter {
	all := map[*ptx.Block]blockLetter{}
	var blocks []*ptx.Block
	add := func() {
		for i, letter := range strip.Letters(blocks) {
			all[blocks[i]] = blockLetter{string(letter), i}
		}
		blocks = nil
	}
	for _, l := range r.listings {
		if l.fn.Entry {
			add()
		}
		for i := range l.rows {
			if b := l.rows[i].block; b != nil {
				blocks = append(blocks, b)
			}
		}
	}
	add()
	return all
}

func (r *structureReport) pageListing(l *listing, letters map[*ptx.Block]blockLetter) *pageListing {
	page := &pageListing{Title: l.title()}
	for _, j := range l.jumps {
		page.Jumps = append(page.Jumps, [2]int{j.from, j.to})
	}
	for i := range l.rows {
		row := &l.rows[i]
		p := pageRow{Kind: "instruction", Line: row.line, Text: row.text, in: row.in}
		if b, ok := letters[row.block]; ok {
			p.Letter, p.Block = b.letter, b.number
		}
		switch c := row.counts; {
		case row.source:
			p.Kind = "source"
		case row.in == nil:
			p.Kind = "label"
		default:
			p.Counts = &pageCounts{Title: "never executed"}
			if c != nil && c.Execs > 0 {
				p.Counts = r.pageCounts(row)
			}
			if row.place != "" {
				p.Counts.Title += "; from " + row.place
			}
		}
		page.Rows = append(page.Rows, p)
	}
	return page
}

// pageCounts returns the counts of an executed instruction.
func (r *structureReport) pageCounts(row *listingRow) *pageCounts {
	c, chips := row.counts, row.chips()
	_, doc := chipText(chips)
	p := &pageCounts{
		Title: fmt.Sprintf("%d executions; %s", c.Execs, doc), Execs: countText(c.Execs), Chips: chips, Parts: pageParts(document.ValueKinds, document.ClassShares(c.Label)),
		Lanes: fmt.Sprintf("%.1f", row.lanes()), LanesPercent: row.lanes() / float64(r.Warp) * 100,
	}
	if row.paths.Divergent > 0 {
		together := c.Execs - row.paths.Divergent
		p.Parts = []pagePart{
			{"d", "divergent", percentText(share(row.paths.Divergent, c.Execs), 1), row.paths.Divergent, share(row.paths.Divergent, c.Execs)},
			{"u", "together", percentText(share(together, c.Execs), 1), together, share(together, c.Execs)},
		}
	}
	return p
}

// capitalized returns a title with an upper-case first letter, which must be in ASCII.
func capitalized(title string) string { return strings.ToUpper(title[:1]) + title[1:] }

package cli

// This file is "gemu profile --show cliffs": the resident warps by threads and registers of a block, and the smallest
// changes of the block that change them.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gemu/internal/document"
	"gemu/interp"
	"gemu/occupancy"
	"gemu/ptx"
	"gemu/spill"
)

// The sources of a number of registers.
const (
	registersGiven    = "--regs"
	registersMaximum  = ".maxnreg"
	registersEstimate = "estimate"
	registersUnknown  = "unknown"
)

// blockCliffs is a launched block whose cliffs are shown.
type blockCliffs struct {
	document.Block
	registersBy string // source of the number of registers
	unknown     error  // reason for an unknown number of registers
}

// on returns the block on a generation. A compiler uses no more registers than a thread of the generation has, but a
// number given by the user is left as it is.
func (c *blockCliffs) on(g *occupancy.Limits) occupancy.Block {
	b := c.Block.Block
	if c.registersBy != registersGiven {
		b.Registers = min(b.Registers, g.PerThread)
	}
	return b
}

// findCliffs adds the launched blocks to r.cliffs, with estimated registers if they are unknown. The error is that of the
// context.
func (r *profileReport) findCliffs(a *app) error {
	estimates := map[*ptx.Func]spill.Range{}
	for _, b := range r.blocks {
		c := blockCliffs{Block: b, registersBy: registersMaximum}
		switch {
		case r.flags.Regs > 0:
			c.registersBy = registersGiven
		case b.Registers == 0:
			c.registersBy = registersEstimate
			estimate, ok := estimates[b.Kernel]
			if !ok {
				var err error
				if estimate, err = spill.RangeOf(a.ctx, b.Kernel); err != nil {
					unsupported := (*spill.Error)(nil)
					if !errors.As(err, &unsupported) {
						return err
					}
					c.registersBy, c.unknown = registersUnknown, err
					break
				}
				estimates[b.Kernel] = estimate
			}
			c.Registers = min(estimate.Base, occupancy.MaxRegisters)
		}
		r.cliffs = append(r.cliffs, c)
	}
	return nil
}

// cliffLimits returns the limits of the generation whose surface is shown.
func (r *profileReport) cliffLimits() *occupancy.Limits {
	if r.flags.SM == 0 {
		return occupancy.LimitsOf(interp.DefaultSM)
	}
	return occupancy.LimitsOf(r.flags.SM)
}

// printCliffs prints the cliffs of each launched block.
func (r *profileReport) printCliffs(s *screen) {
	g := r.cliffLimits()
	for _, c := range r.cliffs {
		s.heading("cliffs of " + c.Kernel.Name)
		s.printf("blocks of %s, %s of shared memory, %s\n", counted(c.Threads, "thread"), counted(c.Shared, "byte"), c.registersText())
		switch c.registersBy {
		case registersEstimate:
			s.printf("The estimate is the least number without spilling. ptxas -v prints the real one;\nset it with --regs.\n")
		case registersUnknown:
			s.printf("The number cannot be estimated: %s\nSet it with --regs; ptxas -v prints it.\n", c.unknown)
		}
		surface := g.Surface(c.Shared)
		if r.plain {
			printSurfaceWords(s, g, surface, &c)
		} else {
			printSurface(s, g, surface, &c)
		}
		printNextCliffs(s, g, c.on(g))
		printPorting(s, g, &c)
	}
}

// registersText says the number of registers of a thread, and how it is known.
func (c *blockCliffs) registersText() string {
	return map[string]string{
		registersGiven:    counted(c.Registers, "register"),
		registersMaximum:  fmt.Sprintf("at most %s (.maxnreg)", counted(c.Registers, "register")),
		registersEstimate: counted(c.Registers, "register") + " (estimated)",
		registersUnknown:  "number of registers unknown",
	}[c.registersBy]
}

// pageCliffs returns a section for each launched block: its surface as a map, and the cliffs around it.
func (r *profileReport) pageCliffs() (list []pageSection) {
	g := r.cliffLimits()
	for i := range r.cliffs {
		c := &r.cliffs[i]
		section := pageSection{"Cliffs of " + c.Kernel.Name, []string{fmt.Sprintf("Blocks of %s, %s of shared memory, %s.", counted(c.Threads, "thread"), counted(c.Shared, "byte"), c.registersText())}, nil}
		switch c.registersBy {
		case registersEstimate:
			section.Notes = append(section.Notes, "The estimate is the least number without spilling. ptxas -v prints the real one; set it with --regs.")
		case registersUnknown:
			section.Notes = append(section.Notes, fmt.Sprintf("The number cannot be estimated: %s Set it with --regs; ptxas -v prints it.", c.unknown))
		}
		surface := g.Surface(c.Shared)
		heat := &pageHeat{RowName: "threads", ColumnName: "registers", Unit: "warps", Most: float64(g.Warps)}
		table := &pageTable{Head: []pageHead{{Name: "threads"}}}
		for _, n := range surface.Registers {
			heat.Columns, table.Head = append(heat.Columns, fmt.Sprint(n)), append(table.Head, pageHead{Name: fmt.Sprint(n), Doc: counted(n, "register")})
		}
		for i, points := range surface.Points {
			row, values := []string{fmt.Sprint(surface.Threads[i])}, []float64{}
			for _, p := range points {
				row, values = append(row, fmt.Sprint(p.Warps)), append(values, float64(p.Warps))
			}
			heat.Rows, heat.Values, table.Rows = append(heat.Rows, row[0]), append(heat.Values, values), append(table.Rows, row)
		}
		if row, column := surface.Cell(c.on(g)); column >= 0 && row < len(heat.Rows) && column < len(heat.Columns) {
			heat.Mark = &[2]int{row, column}
		}
		now := g.Point(c.on(g))
		next := pageBlock{Title: fmt.Sprintf("Next cliffs on sm_%d, from %s limited by %s", g.SM, counted(now.Warps, "warp"), now.Limit), Notes: []string{}}
		for _, f := range g.Cliffs(c.on(g)) {
			if next.Table == nil {
				next.Table = &pageTable{Head: []pageHead{{Name: "resource", Text: true}, {Name: "change"}, {Name: "to"}, {Name: "warps"}, {Name: "limited by", Text: true}}}
			}
			next.Table.Rows = append(next.Table.Rows, []string{string(f.Resource), fmt.Sprintf("%+d", f.Change), fmt.Sprint(amount(f)), fmt.Sprint(f.To.Warps), string(f.To.Limit)})
		}
		if next.Table == nil {
			next.Notes = append(next.Notes, "None.")
		}
		section.Blocks = []pageBlock{{Title: fmt.Sprintf("Resident warps on sm_%d", g.SM), Notes: []string{}, Heat: heat, Table: table}, next, c.pagePorting()}
		list = append(list, section)
	}
	return list
}

// pagePorting returns the resident warps on all generations.
func (c *blockCliffs) pagePorting() pageBlock {
	block := pageBlock{Title: "The same block on all generations", Notes: []string{}, Bars: &pageBars{Series: []string{"resident warps", "free warps"}}, Table: &pageTable{Head: []pageHead{{Name: "sm"}, {Name: "blocks"}, {Name: "warps"}, {Name: "at most"}, {Name: "limited by", Text: true}}}}
	for i := range occupancy.Generations {
		g := &occupancy.Generations[i]
		p := g.Point(c.on(g))
		block.Bars.addBar(fmt.Sprintf("sm_%d", g.SM), fmt.Sprintf("%d/%d, by %s", p.Warps, g.Warps, p.Limit), float64(p.Warps), float64(g.Warps-p.Warps))
		block.Table.Rows = append(block.Table.Rows, []string{fmt.Sprintf("sm_%d", g.SM), fmt.Sprint(p.Blocks), fmt.Sprint(p.Warps), fmt.Sprint(g.Warps), string(p.Limit)})
	}
	return block
}

// surfaceGlyphs draw the resident warps in eighths of the most, rounded up; the first is for none.
var surfaceGlyphs = []rune("·▁▂▃▄▅▆▇█")

// printSurface draws a surface as a map: a line for each block size, and two characters for each number of registers.
func printSurface(s *screen, g *occupancy.Limits, surface *occupancy.Surface, c *blockCliffs) {
	row, column := surface.Cell(c.on(g))
	launch := "●"
	if column < 0 {
		launch = "▶"
	}
	s.printf("\nresident warps on sm_%d, in eighths of %d from ▁ to █; · none; %s this launch\n", g.SM, g.Warps, launch)
	const every = 4 // columns for a label
	head := fitted("threads", 9)
	for i := every - 1; i < len(surface.Registers); i += every {
		head += fitted(fmt.Sprint(surface.Registers[i]), -2*every)
	}
	s.printf("%s\n", s.paint(dim, head+" registers"))
	for i, points := range surface.Points {
		mark, style := " ", plain
		if i == row {
			mark, style = "▶", bold
		}
		line := fitted(fmt.Sprint(surface.Threads[i]), -7) + mark + " "
		for j, p := range points {
			glyph := string(surfaceGlyphs[(8*p.Warps+g.Warps-1)/g.Warps])
			if i == row && j == column {
				line += "●" + glyph
			} else {
				line += glyph + glyph
			}
		}
		s.printf("%s\n", s.paint(style, line))
	}
}

// surfaceThreads are the block sizes of a surface in words.
var surfaceThreads = []int{32, 64, 128, 192, 256, 384, 512, 768, 1024}

// printSurfaceWords prints some block sizes of a surface in words, and that of the launch.
func printSurfaceWords(s *screen, g *occupancy.Limits, surface *occupancy.Surface, c *blockCliffs) {
	s.printf("\nresident warps on sm_%d, at most %d\n", g.SM, g.Warps)
	launched, _ := surface.Cell(c.on(g))
	for i, points := range surface.Points {
		if i != launched && !slices.Contains(surfaceThreads, surface.Threads[i]) {
			continue
		}
		text := fmt.Sprintf("blocks of %d threads:", surface.Threads[i])
		if i == launched {
			text = fmt.Sprintf("blocks of %d threads, as this launch:", c.Threads)
		}
		from := 1
		for j, p := range points {
			if j+1 < len(points) && points[j+1].Warps == p.Warps {
				continue
			}
			warps := "none"
			if p.Warps > 0 {
				warps = counted(p.Warps, "warp")
			}
			text += fmt.Sprintf(" %s with %d to %s,", warps, from, counted(surface.Registers[j], "register"))
			from = surface.Registers[j] + 1
		}
		for j, line := range wrap(strings.TrimSuffix(text, ","), chartWidth-2) {
			if j > 0 {
				line = "  " + line
			}
			s.printf("%s\n", line)
		}
	}
}

// printNextCliffs prints the cliffs around a block.
func printNextCliffs(s *screen, g *occupancy.Limits, b occupancy.Block) {
	now := g.Point(b)
	s.printf("\nnext cliffs on sm_%d, from %s limited by %s\n", g.SM, counted(now.Warps, "warp"), now.Limit)
	cliffs := g.Cliffs(b)
	if len(cliffs) == 0 {
		s.printf("none\n")
		return
	}
	s.printf("%s\n", s.paint(dim, fitted("resource", 15)+fitted("change", -8)+fitted("to", -9)+fitted("warps", -8)+"  limited by"))
	for _, f := range cliffs {
		s.printf("%s%s%s%s  %s\n", fitted(string(f.Resource), 15), fitted(fmt.Sprintf("%+d", f.Change), -8), fitted(fmt.Sprint(amount(f)), -9), fitted(fmt.Sprint(f.To.Warps), -8), f.To.Limit)
	}
}

// amount returns the amount of a cliff's resource in the changed block.
func amount(c occupancy.Cliff) int {
	switch c.Resource {
	case occupancy.Threads:
		return c.To.Threads
	case occupancy.Registers:
		return c.To.Registers
	}
	return c.To.Shared
}

// printPorting prints the resident warps on all generations, and the smallest changes with which fewer are resident.
func printPorting(s *screen, shown *occupancy.Limits, c *blockCliffs) {
	s.printf("\nthe same block on all generations, with the nearest changes to fewer warps\n")
	s.printf("%s\n", s.paint(dim, fitted("warps", -7)+"  "+fitted("limited by", 13)+fitted("threads", -12)+fitted("regs.", -6)+fitted("shared", -9)+"  sm"))
	var rows []string // rows common to several generations
	var columns [][]string
	for i := range occupancy.Generations {
		g := &occupancy.Generations[i]
		b := c.on(g)
		p := g.Point(b)
		less, more := "-", map[occupancy.Resource]string{occupancy.Threads: "-", occupancy.Registers: "-", occupancy.Shared: "-"}
		for _, f := range g.Cliffs(b) {
			switch change := fmt.Sprintf("%+d", f.Change); {
			case f.To.Warps > p.Warps:
			case f.Change > 0:
				more[f.Resource] = change
			default: // registers and shared memory have no falls here
				less = change
			}
		}
		row := fitted(fmt.Sprintf("%d/%d", p.Warps, g.Warps), -7) + "  " + fitted(string(p.Limit), 13) + fitted(less, -6) + fitted(more[occupancy.Threads], -6) +
			fitted(more[occupancy.Registers], -6) + fitted(more[occupancy.Shared], -9)
		n := slices.Index(rows, row)
		if n < 0 {
			n = len(rows)
			rows, columns = append(rows, row), append(columns, nil)
		}
		columns[n] = append(columns[n], fmt.Sprint(g.SM))
	}
	for i, row := range rows {
		style := plain
		if slices.Contains(columns[i], fmt.Sprint(shown.SM)) {
			style = bold
		}
		for j, list := range wrap(strings.Join(columns[i], " "), chartWidth-len(row)-2) {
			if j > 0 {
				row = fitted("", len(row))
			}
			s.printf("%s\n", s.paint(style, row+"  "+list))
		}
	}
}

// cliffsJSON returns the cliffs for --json.
func (r *profileReport) cliffsJSON() (list []document.Cliffs) {
	for _, c := range r.cliffs {
		g := r.cliffLimits()
		surface := g.Surface(c.Shared)
		j := document.Cliffs{
			Kernel: c.Kernel.Name, Threads: c.Threads, Shared: c.Shared, Registers: c.Registers, RegistersBy: c.registersBy,
			Surface: document.CliffSurface{SM: g.SM, Threads: surface.Threads, Registers: surface.Registers},
		}
		for _, points := range surface.Points {
			var warps []int
			for _, p := range points {
				warps = append(warps, p.Warps)
			}
			j.Surface.Warps = append(j.Surface.Warps, warps)
		}
		for i := range occupancy.Generations {
			g := &occupancy.Generations[i]
			b := c.on(g)
			p := g.Point(b)
			n := document.CliffGeneration{SM: g.SM, Blocks: p.Blocks, Warps: p.Warps, MaxWarps: g.Warps, Limit: string(p.Limit), Cliffs: []document.Cliff{}}
			for _, f := range g.Cliffs(b) {
				n.Cliffs = append(n.Cliffs, document.Cliff{Resource: string(f.Resource), Change: f.Change, Warps: f.To.Warps, Limit: string(f.To.Limit)})
			}
			j.Generations = append(j.Generations, n)
		}
		list = append(list, j)
	}
	return list
}

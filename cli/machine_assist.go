package cli

// This file is "gemu machine --show assist": the assist warps of machines with a clock, and their lines of the source.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gemu/machine/core"
	"gemu/machine/stream"
)

var assistPart = machinePart{name: "assist", doc: "assist warps of machines with a clock (--with caba=…, --assist): their instructions, and the lines of the source from which they come", extra: true, allLaunches: true, clocked: true, begin: func(in *machineRun) machineView {
	in.addClocks()
	return assistView{cyclesView{"assist", in.clocks}}
}}

// assistView is the assist warps of the machines.
type assistView struct{ cyclesView }

func (v assistView) addJSON(r *machineReport) error {
	if !slices.ContainsFunc(v.clocks, func(c machineClock) bool { return c[0].HasAssists() }) {
		return errors.New("no machine has assist warps: want --with caba=bdi, another value with assist warps, or --assist FILE.ptx")
	}
	return v.cyclesView.addJSON(r)
}

// assistColumns are the columns of the assist warps.
var assistColumns = []pageHead{
	{Name: "cycles", Doc: "cycles of all launches"}, {Name: "instructions", Doc: "executed instructions of warps, without those of assist warps"}, {Name: "of assist", Doc: "executed instructions of assist warps"},
	{Name: "fills", Doc: "lines that assist warps decompress"}, {Name: "stores", Doc: "stores of whole lines that assist warps compress"}, {Name: "merged", Doc: "stores of a part of a compressed line: assist warps decompress the line, and compress it again"},
	{Name: "misses", Doc: "misses of loads in the L1 that begin a routine"}, {Name: "raw", Doc: "stores of whole lines that find no place in the buffer, and are sent raw"}, {Name: "bursts", Doc: "bursts of 32 bytes that memory transfers"},
}

// assistCells returns the cells of a machine.
func (v assistView) assistCells(r *machineReport, i int) []string {
	c := r.Machines[i].Clock
	n := &c.Counts
	m := v.clocks[i][0].Memory().Total().Memory
	cells := []string{countText(c.Cycles), countText(n.Instructions)}
	for _, count := range []int64{n.AssistInstructions, n.AssistFills, n.AssistStores, n.MergedStores, n.AssistMisses, n.RawStores} {
		if v.clocks[i][0].HasAssists() {
			cells = append(cells, countText(count))
		} else {
			cells = append(cells, "-")
		}
	}
	cells = append(cells, countText(m.ReadBursts+m.WriteBursts))
	if len(r.Machines) > 1 {
		cells = append(cells, c.ratioText(r.firstClock().Clock))
	}
	return cells
}

// assistLines returns the lines of a machine with cycles of assist warps, those with the most first.
func (c *machineClockJSON) assistLines() []machineClockLineJSON {
	list := slices.DeleteFunc(slices.Clone(c.Lines), func(l machineClockLineJSON) bool { return l.Stalls.Assist == 0 })
	slices.SortStableFunc(list, func(a, b machineClockLineJSON) int { return cmp.Compare(b.Stalls.Assist, a.Stalls.Assist) })
	return list
}

// assistCell returns the instructions of assist warps for a line, and their share of the cycles of schedulers.
func assistCell(stalls *core.Stalls, total int64) string {
	return fmt.Sprintf("%s (%s %%)", countText(stalls.Assist), percentText(share(stalls.Assist, total), 1))
}

// assistTitle is the title of the lines of a machine.
func assistTitle(machine string) string {
	return "lines for whose accesses assist warps run, on " + machine
}

// misses says what the routines of misses have done on a machine; "" without them.
func (c *machineClockJSON) misses(machine string) string {
	n := &c.Counts
	if n.AssistMisses == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %s misses began a routine", machine, countText(n.AssistMisses))
	if n.EndedMisses > 0 {
		text += fmt.Sprintf(", of which %s had no effect because their warp ended", countText(n.EndedMisses))
	}
	if n.DroppedMisses > 0 {
		text += fmt.Sprintf("; %s began none because their warp had four routines in progress", countText(n.DroppedMisses))
	}
	const sectors = stream.LineBytes / stream.SectorBytes // a whole line is read ahead
	return text + fmt.Sprintf(". Of %s lines that were read ahead, loads accessed %s before they left the L1.", countText(n.Prefetches/sectors), countText(n.UsedPrefetches/sectors))
}

// notes says what was compared and what the routines of misses have done.
func (v assistView) notes(r *machineReport) (list []string) {
	if text := r.compared(); text != "" {
		list = append(list, text)
	}
	for i := range r.Machines {
		if c := r.Machines[i].Clock; c != nil {
			if text := c.misses(r.Machines[i].Name); text != "" {
				list = append(list, text)
			}
		}
	}
	if list == nil {
		list = []string{"No assist warp has run."}
	}
	return list
}

// compared says what was compared; "" if no assist warp has compressed or decompressed a line.
func (r *machineReport) compared() string {
	fills, stores := int64(0), int64(0)
	for i := range r.Machines {
		if r.Machines[i].Clock == nil {
			continue
		}
		n := &r.Machines[i].Clock.Counts
		fills, stores = fills+n.AssistFills, stores+n.AssistStores
	}
	if fills+stores == 0 {
		return ""
	}
	return fmt.Sprintf("The outcome of the routines was compared with that of package codec, once for each different line of %s fills and %s stores, and is equal. "+
		"The results of the kernel are those without assist warps by construction: the machine counts the accesses of an execution.", countText(fills), countText(stores))
}

func (v assistView) print(r *machineReport, s *screen) {
	s.heading("assist warps")
	r.printMachines(s, v.part, assistColumns, 13, ratioHead.Name, func(i int) []string { return v.assistCells(r, i) })
	for _, note := range v.notes(r) {
		s.printf("%s\n", note)
	}
	for i := range r.Machines {
		if !v.clocks[i][0].HasAssists() || r.Machines[i].Clock == nil {
			continue
		}
		s.heading(assistTitle(r.Machines[i].Name))
		c := r.Machines[i].Clock
		list := c.assistLines()
		s.printf("%s\n", s.paint(dim, "instructions of assist warps, and their share of the cycles of all schedulers"))
		for k := range list {
			if k == r.flags.Top {
				s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", len(list)-k)))
				break
			}
			l := &list[k]
			text := fitted(assistCell(&l.Stalls, c.Stalls.Total()), -22) + "  "
			s.printf("%s%s\n", text, s.cutToFit(l.place()+"  "+r.texts[machinePlace{l.File, l.Line}], len(text)))
		}
	}
}

// page returns the assist warps of the machines.
func (v assistView) page(r *machineReport) []pageSection {
	b := pageBlock{Title: "Assist warps", Notes: v.notes(r), Table: &pageTable{Head: append([]pageHead{{Name: "machine", Text: true}}, assistColumns...)}}
	if len(r.Machines) > 1 {
		b.Table.Head = append(b.Table.Head, ratioHead)
	}
	blocks := []pageBlock{b}
	for i := range r.Machines {
		if blocks[0].addRefusal(&r.Machines[i], v.part) {
			continue
		}
		blocks[0].Table.Rows = append(blocks[0].Table.Rows, append([]string{r.Machines[i].Name}, v.assistCells(r, i)...))
		c := r.Machines[i].Clock
		if list := c.assistLines(); len(list) > 0 {
			lines := pageBlock{Title: capitalized(assistTitle(r.Machines[i].Name)), Notes: []string{}, Table: &pageTable{Head: []pageHead{{Name: "line", Text: true}, {Name: "instructions", Doc: "instructions of assist warps, and their share of the cycles of all schedulers"}}}}
			for k := range list[:min(len(list), r.flags.Top)] {
				l := &list[k]
				lines.Table.Rows = append(lines.Table.Rows, []string{l.place() + "  " + r.texts[machinePlace{l.File, l.Line}], assistCell(&l.Stalls, c.Stalls.Total())})
			}
			blocks = append(blocks, lines)
		}
	}
	return []pageSection{{"Assist warps", []string{}, blocks}}
}

package cli

// This file is "gemu machine --show readings": the unknown numbers of machines with a clock.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

var readingsPart = machinePart{name: "readings", doc: "unknown numbers of machines with a clock: the assumed value of each, and its range", extra: true, clocked: true, begin: func(in *machineRun) machineView {
	in.addClocks()
	return readingsView{cyclesView{"readings", in.clocks}}
}}

// readingsView is the unknown numbers of the machines. In JSON they are those of the cycles.
type readingsView struct{ cyclesView }

// readingsTable is the readings of machines with the same ones.
type readingsTable struct {
	machines []string
	rows     [][]string // by reading: its name, and the cells of readingsColumns
}

// readingsColumns are the columns of the readings, after their names.
var readingsColumns = []pageHead{{Name: "assumed"}, {Name: "fast", Doc: "end of the range for the faster machine"}, {Name: "slow", Doc: "the other end"}}

// readings returns the readings, once for machines with the same ones.
func (r *machineReport) readings() (list []*readingsTable) {
	for i := range r.Machines {
		if r.Machines[i].Clock == nil {
			continue
		}
		var rows [][]string
		for _, x := range r.Machines[i].Clock.Readings {
			name := strings.Join(append([]string{x.Name}, x.With...), ", ")
			rows = append(rows, []string{name, strconv.FormatInt(x.Value, 10), strconv.FormatInt(x.Fast, 10), strconv.FormatInt(x.Slow, 10)})
		}
		k := slices.IndexFunc(list, func(t *readingsTable) bool { return slices.EqualFunc(t.rows, rows, slices.Equal) })
		if k < 0 {
			k = len(list)
			list = append(list, &readingsTable{rows: rows})
		}
		list[k].machines = append(list[k].machines, r.Machines[i].Name)
	}
	return list
}

// title names the machines of the table.
func (t *readingsTable) title(r *machineReport) string {
	if n := len(r.Machines); n > 1 && len(t.machines) == n {
		return "readings of all machines"
	}
	return "readings of " + strings.Join(t.machines, "; ")
}

func (v readingsView) print(r *machineReport, s *screen) {
	for _, t := range r.readings() {
		s.heading(t.title(r) + ": unknown numbers, and their ranges")
		width := 0
		for _, row := range t.rows {
			width = max(width, len(row[0]))
		}
		row := func(first string, cells ...string) string {
			text := fitted(first, width)
			for _, cell := range cells {
				text += fitted(cell, -9)
			}
			return text
		}
		if len(t.rows) == 0 {
			s.printf("none\n")
			continue
		}
		s.printf("%s\n", s.paint(dim, row("", readingsColumns[0].Name, readingsColumns[1].Name, readingsColumns[2].Name)))
		for _, cells := range t.rows {
			s.printf("%s\n", row(cells[0], cells[1:]...))
		}
	}
}

// readingsBlocks returns the readings as tables.
func (r *machineReport) readingsBlocks() (list []pageBlock) {
	for _, t := range r.readings() {
		if len(t.rows) == 0 {
			continue
		}
		title := t.title(r)
		list = append(list, pageBlock{Title: capitalized(title) + ": unknown numbers, and their ranges", Notes: []string{}, Table: &pageTable{Head: append([]pageHead{{Name: "parameter", Text: true}}, readingsColumns...), Rows: t.rows}})
	}
	return list
}

// page returns the readings, unless the page has them with the cycles.
func (v readingsView) page(r *machineReport) []pageSection {
	if slices.Contains(r.flags.Show, cyclesPart.name) || slices.Contains(r.flags.Show, stallsPart.name) {
		return nil
	}
	return []pageSection{{"Readings", []string{}, append([]pageBlock{}, r.readingsBlocks()...)}}
}

// readingsHint says of which numbers "all fast" and "all slow" are the ends; "" if the machines have no readings.
func (r *machineReport) readingsHint() string {
	least, most := math.MaxInt, 0
	for i := range r.Machines {
		if r.Machines[i].Clock == nil {
			continue
		}
		n := len(r.Machines[i].Clock.Readings)
		least, most = min(least, n), max(most, n)
	}
	count := counted(most, "reading")
	switch {
	case most == 0:
		return ""
	case least < most:
		count = fmt.Sprintf("%d to %s", least, count)
	}
	return "all fast and all slow: " + count + " (unknown numbers) at one end of their ranges; --show readings lists them"
}

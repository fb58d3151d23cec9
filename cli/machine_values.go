package cli

// This file is "gemu machine --show values": loads that would have seen another value in the order of a machine than in the execution.

import (
	"cmp"
	"path/filepath"
	"slices"

	"gemu/machine"
	"gemu/probe"
	"gemu/profile"
)

var valuesPart = machinePart{name: "values", doc: "loads that would have seen another value in the order of the machine, and bytes of memory that would differ; with --show cycles also in the order of the clock", extra: true, labelled: true, begin: func(in *machineRun) machineView {
	in.data, in.values = true, true
	return &valuesView{in}
}}

// machineValuesJSON is the differences between the order of a machine and the execution.
type machineValuesJSON struct {
	Image   machine.ImageCounts  `json:"image"`   // loads and bytes
	Changed []machineChangedJSON `json:"changed"` // lines of the source with loads that would have seen another value

	Trapped int64 `json:"trapped"` // launches that trapped; their memory at the end is not compared
	Skipped int64 `json:"skipped"` // launches that are not compared: their execution had ended before the machine could start them
}

// machineChangedJSON is loads of a line of the source.
type machineChangedJSON struct {
	File  string `json:"file"`  // file name in .file, or of the PTX
	Line  int    `json:"line"`  // number of the line, from 1 on
	Count int64  `json:"count"` // transactions that would have seen another value
}

// valuesView compares the values of the machines of a run.
type valuesView struct{ in *machineRun }

// changedLines sums the loads of launches that would have seen another value by line.
type changedLines map[machinePlace]int64

// add adds the loads of a launch, by index of the instruction.
func (c changedLines) add(l *probe.LaunchInfo, counts map[int]int64, listing bool) {
	for index, n := range counts {
		instr, f := l.Program.At(index)
		frame := profile.Frames(f, instr, listing)[0]
		c[machinePlace{frame.File, frame.Line}] += n
	}
}

// sorted returns the lines in their order.
func (c changedLines) sorted() []machineChangedJSON {
	list := []machineChangedJSON{}
	for at, n := range c {
		list = append(list, machineChangedJSON{at.file, at.line, n})
	}
	slices.SortFunc(list, func(a, b machineChangedJSON) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list
}

func (v *valuesView) addJSON(r *machineReport) error {
	for i, m := range v.in.machines {
		out, changed := &machineValuesJSON{}, changedLines{}
		for _, l := range r.flags.reported(m) {
			out.Image.Add(&l.Image)
			if l.Err != nil {
				out.Trapped++
			}
			changed.add(l.LaunchInfo, l.Changed, r.flags.PTX)
		}
		out.Changed = changed.sorted()
		r.Machines[i].Values = out
	}
	for i := range v.in.clocks {
		if v.in.clocks[i].err() != nil { // a part with a clock has the reason
			continue
		}
		c := v.in.clocks[i][0]
		out, changed := &machineValuesJSON{}, changedLines{}
		list := c.Launches()
		if r.flags.Launch > 0 {
			list = list[r.flags.Launch-1 : r.flags.Launch]
		}
		for _, l := range list {
			if l.Err != nil {
				out.Trapped++
			}
			x := c.Values(l)
			if x == nil {
				out.Skipped++
				continue
			}
			out.Image.Add(&x.ImageCounts)
			changed.add(l.LaunchInfo, x.Changed, r.flags.PTX)
		}
		out.Changed = changed.sorted()
		r.Machines[i].ClockValues = out
	}
	return nil
}

// valuesRow is the differences on a machine.
type valuesRow struct {
	name string
	*machineValuesJSON
}

// valuesRows returns the differences on each machine, without and with a clock.
func (r *machineReport) valuesRows() (list []valuesRow) {
	for i := range r.Machines {
		m := &r.Machines[i]
		if m.refusal(valuesPart.name) == "" {
			list = append(list, valuesRow{m.Name, m.Values})
		}
		if m.ClockValues != nil {
			list = append(list, valuesRow{m.Name + " with a clock", m.ClockValues})
		}
	}
	return list
}

// valuesColumns are the columns of the differences.
var valuesColumns = []pageHead{
	{Name: "loads", Doc: "lines that loads access, and that are compared"}, {Name: "changed", Doc: "those that would have seen another value"},
	{Name: "uncompared", Doc: "further lines that loads access, which cannot be compared: an asynchronous copy has written them, or their buffer is freed"},
	{Name: "unknown", Doc: "lines that asynchronous copies write, whose bytes are unknown until the launch ends"}, {Name: "bytes", Doc: "bytes of memory that would differ at the end, without those lines"},
}

func (v *valuesRow) cells() []string {
	return []string{countText(v.Image.Loads), countText(v.Image.Changed), countText(v.Image.Uncompared), countText(v.Image.Unknown), countText(v.Image.Different)}
}

// launchesText returns a number of launches.
func launchesText(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return countText(n) + " launches"
}

// gaps says which values of the row are not compared.
func (v *valuesRow) gaps() (list []string) {
	if n := v.Trapped; n > 0 {
		list = append(list, v.name+": "+launchesText(n)+" trapped: memory at the end is not compared.")
	}
	if n := v.Skipped; n > 0 {
		list = append(list, v.name+": "+launchesText(n)+" not compared: the machine was still busy with earlier launches when the execution ended. Launch one after another.")
	}
	if n := v.Image.Uncompared; n > 0 {
		list = append(list, v.name+": "+counted(int(n), "load")+" could not be compared: asynchronous copies write their lines, with bytes that are unknown until the launch ends, or their buffer is freed.")
	}
	if v.Image.Unknown > 0 {
		list = append(list, v.name+": memory at the end is compared without the lines that asynchronous copies write.")
	}
	return list
}

// valuesVerdict says what the differences mean, and what is not compared.
func (r *machineReport) valuesVerdict() (list []string) {
	differs := false
	for _, row := range r.valuesRows() {
		differs = differs || row.Image.Changed+row.Image.Different > 0
		list = append(list, row.gaps()...)
	}
	switch {
	case differs:
		return append([]string{"A launch is executed before a machine orders its accesses. Changed loads have the value of the execution, not that of the machine: the kernel has races, or its warps wait in a way that the model leaves out, as in loops that read memory. In another order they may take another path."}, list...)
	case len(list) > 0:
		return append([]string{"No compared load would have seen another value. Not all is compared, so the order of the machine could still change what the kernel does:"}, list...)
	}
	return []string{"No load would have seen another value: the order of the machine does not change what the kernel does."}
}

func (v *valuesView) print(r *machineReport, s *screen) {
	s.heading("values in the order of the machine")
	for i := range r.Machines {
		if reason := r.Machines[i].refusal(valuesPart.name); reason != "" {
			s.printRefusal(r.Machines[i].Name, len(r.Machines[i].Name), reason)
		}
	}
	rows, width := r.valuesRows(), 0
	for i := range rows {
		width = max(width, len(rows[i].name))
	}
	header := fitted("", width)
	for _, c := range valuesColumns {
		header += fitted(c.Name, -12)
	}
	s.printf("%s\n", s.paint(dim, header))
	for i := range rows {
		text := fitted(rows[i].name, width)
		for _, cell := range rows[i].cells() {
			text += fitted(cell, -12)
		}
		s.printf("%s\n", text)
		for _, l := range rows[i].Changed[:min(len(rows[i].Changed), r.flags.Top)] {
			s.printf("  %s  %s:%d\n", fitted(countText(l.Count), -10), filepath.Base(l.File), l.Line)
		}
	}
	for _, text := range r.valuesVerdict() {
		for _, line := range wrap(text, 100) {
			s.printf("%s\n", line)
		}
	}
}

// page returns the differences of each machine.
func (v *valuesView) page(r *machineReport) []pageSection {
	b := pageBlock{Title: "Loads that would have seen another value", Notes: r.valuesVerdict(), Table: &pageTable{Head: append(append([]pageHead{{Name: "machine", Text: true}}, valuesColumns...), pageHead{Name: "changed loads", Text: true})}}
	for i := range r.Machines {
		b.addRefusal(&r.Machines[i], valuesPart.name)
	}
	for _, row := range r.valuesRows() {
		lines := ""
		for i, l := range row.Changed[:min(len(row.Changed), r.flags.Top)] {
			lines += []string{"", ", "}[min(i, 1)] + filepath.Base(l.File) + ":" + countText(int64(l.Line)) + " " + countText(l.Count)
		}
		b.Table.Rows = append(b.Table.Rows, append(append([]string{row.name}, row.cells()...), lines))
	}
	return []pageSection{{"Values", []string{}, []pageBlock{b}}}
}

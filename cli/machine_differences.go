package cli

// This file is the part "differences" of "gemu machine": which lines and buffers two machines serve differently.

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"gemu/machine"
)

var differencesPart = machinePart{name: "differences", doc: "lines and buffers whose L1 misses, L2 misses, reads or write-backs differ between the first and the second machine", extra: true, begin: func(*machineRun) machineView {
	return machineText{(*machineReport).printDifferences, (*machineReport).pageDifferences}
}}

// countsPair is the counts of a line or a buffer on two machines.
type countsPair struct {
	text string
	a, b machine.Counts
}

// differing returns the counts of a that one compares.
func differing(c *machine.Counts) [4]int64 {
	return [4]int64{c.L1Misses, c.L2Misses, c.Reads, c.WriteBacks}
}

// weight is the sum of the differences of traffic and, with less weight, of misses.
func (d *countsPair) weight() (traffic, misses int64) {
	a, b := differing(&d.a), differing(&d.b)
	for k := range a {
		n := max(a[k]-b[k], b[k]-a[k])
		if k >= 2 {
			traffic += n
		} else {
			misses += n
		}
	}
	return traffic, misses
}

// unequalPairs returns the entries that differ, those with the largest difference of traffic first, then of misses.
func unequalPairs(list []countsPair) []countsPair {
	list = slices.DeleteFunc(list, func(d countsPair) bool { return differing(&d.a) == differing(&d.b) })
	slices.SortStableFunc(list, func(x, y countsPair) int {
		xt, xm := x.weight()
		yt, ym := y.weight()
		return cmp.Or(cmp.Compare(yt, xt), cmp.Compare(ym, xm))
	})
	return list
}

// pairsOf are the lines or buffers that two machines serve differently.
type pairsOf struct {
	what string
	list []countsPair
}

// differences returns the lines and buffers that differ on the first two machines. All machines have the same lines and buffers, but for
// buffers that only write-backs of one of them reach.
func (r *machineReport) differences() []pairsOf {
	a, b := &r.Machines[0], &r.Machines[1]
	var lines, buffers []countsPair
	for i := range a.Lines {
		l := &a.Lines[i]
		text := fmt.Sprintf("%s:%d  %s", filepath.Base(l.File), l.Line, r.texts[machinePlace{l.File, l.Line}])
		lines = append(lines, countsPair{text, l.Counts, b.Lines[i].Counts})
	}
	at := map[machineBufferJSON]int{}
	for second, m := range []*machineResultJSON{a, b} {
		for i := range m.Buffers {
			key := m.Buffers[i]
			key.Counts = machine.Counts{}
			n, ok := at[key]
			if !ok {
				n = len(buffers)
				at[key], buffers = n, append(buffers, countsPair{text: key.text()})
			}
			if second == 0 {
				buffers[n].a = m.Buffers[i].Counts
			} else {
				buffers[n].b = m.Buffers[i].Counts
			}
		}
	}
	return []pairsOf{{"lines", unequalPairs(lines)}, {"buffers", unequalPairs(buffers)}}
}

// printDifferences prints the lines and buffers that differ.
func (r *machineReport) printDifferences(s *screen) {
	if reason := r.Machines[1].refusal("differences"); reason != "" {
		s.heading("differences")
		s.printRefusal(r.Machines[1].Name, len(r.Machines[1].Name), reason)
		return
	}
	for _, list := range r.differences() {
		s.heading(fmt.Sprintf("%s with differences: %s, then %s, in sectors", list.what, r.Machines[0].Name, r.Machines[1].Name))
		found := list.list
		if len(found) == 0 {
			s.printf("none\n")
			continue
		}
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("%18s%18s%18s%18s", "L1 misses", "L2 misses", "read", "written")))
		for i := range found {
			if i == r.flags.Top {
				s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", len(found)-i)))
				break
			}
			d := &found[i]
			x, y := differing(&d.a), differing(&d.b)
			for k := range x {
				s.printf("%18s", countText(x[k])+" → "+countText(y[k]))
			}
			s.printf("  %s\n", s.cutToFit(d.text, 74))
		}
	}
}

// pageDifferences returns the lines and buffers that differ as tables.
func (r *machineReport) pageDifferences() []pageSection {
	out := pageSection{fmt.Sprintf("Differences of %s and %s", r.Machines[0].Name, r.Machines[1].Name), []string{}, []pageBlock{}}
	if reason := r.Machines[1].refusal("differences"); reason != "" {
		out.Blocks = append(out.Blocks, pageBlock{Title: "No differences", Notes: []string{r.Machines[1].Name + " has refused a launch: " + reason}})
		return []pageSection{out}
	}
	for _, list := range r.differences() {
		block := pageBlock{Title: fmt.Sprintf("Sectors of %s with differences: %s → %s", list.what, r.Machines[0].Name, r.Machines[1].Name), Notes: []string{}}
		if len(list.list) == 0 {
			block.Notes = append(block.Notes, "None.")
			out.Blocks = append(out.Blocks, block)
			continue
		}
		block.Table = &pageTable{Head: []pageHead{{Name: list.what, Text: true}, {Name: "L1 misses"}, {Name: "L2 misses"}, {Name: "read"}, {Name: "written"}}}
		for i := range list.list {
			if i == r.flags.Top {
				block.Notes = append(block.Notes, fmt.Sprintf("%d more have smaller differences (--top).", len(list.list)-i))
				break
			}
			d := &list.list[i]
			x, y := differing(&d.a), differing(&d.b)
			row := []string{d.text}
			for k := range x {
				row = append(row, countText(x[k])+" → "+countText(y[k]))
			}
			block.Table.Rows = append(block.Table.Rows, row)
		}
		out.Blocks = append(out.Blocks, block)
	}
	return []pageSection{out}
}

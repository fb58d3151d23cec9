package cli

import "strings"

// This file is "gemu machine --show descriptors": the descriptors that systems have inferred.

// descriptorsPart has the descriptors of machines with a clock.
var descriptorsPart = machinePart{name: "descriptors", doc: "the descriptor that --with inferred has inferred for each buffer, and the reason of each choice", extra: true, clocked: true, begin: func(in *machineRun) machineView {
	in.addClocks()
	return descriptorsView{in.clocks}
}}

// descriptorsView is the inferred descriptors of machines.
type descriptorsView struct{ clocks []machineClock }

func (v descriptorsView) addJSON(r *machineReport) error {
	for i := range v.clocks {
		r.Machines[i].Inferred = v.clocks[i][0].Inferred()
	}
	return nil
}

// blocks returns the title and the lines of each machine that has inferred descriptors.
func (v descriptorsView) blocks(r *machineReport) (titles []string, lines [][]string) {
	for i := range v.clocks {
		if list := v.clocks[i][0].Inferred(); len(list) > 0 {
			titles, lines = append(titles, "inferred descriptors of "+r.Machines[i].Name), append(lines, list)
		}
	}
	return titles, lines
}

func (v descriptorsView) print(r *machineReport, s *screen) {
	titles, lines := v.blocks(r)
	for i, title := range titles {
		s.heading(title)
		for _, text := range lines[i] {
			indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
			for k, line := range wrap(strings.TrimLeft(text, " "), 116-len(indent)) {
				if k > 0 {
					line = "  " + line
				}
				s.printf("%s%s\n", indent, line)
			}
		}
	}
	if len(titles) == 0 {
		s.heading("inferred descriptors")
		s.printf("%s\n", "no system has inferred any: add --with inferred")
	}
}

// page returns the same lines as notes.
func (v descriptorsView) page(r *machineReport) (list []pageSection) {
	titles, lines := v.blocks(r)
	for i, title := range titles {
		list = append(list, pageSection{capitalized(title), lines[i], []pageBlock{}})
	}
	return list
}

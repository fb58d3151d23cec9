package cli

// This file is "gemu machine --show rows": rows, banks and channels of the memory behind the L2.

import (
	"cmp"
	"fmt"
	"slices"

	"gemu/machine"
	"gemu/machine/dram"
	"gemu/machine/stream"
)

var rowsPart = machinePart{name: "rows", doc: "open rows, channels and address maps of memory, and pairs of buffers that close each other's rows", extra: true, begin: beginRows}

// rowsView observes the memories of the machines.
type rowsView struct {
	memories []*dram.Memory // of the machines
	maps     []rowsMap      // of the first machine
	buffers  []stream.Buffer
	numbers  map[stream.Buffer]int
}

// rowsMap is an address map with a placement of pages, as another memory for the first machine.
type rowsMap struct {
	spec   dram.Spec
	memory *dram.Memory
}

// mapPages are the placements of pages that are shown for each address map.
var mapPages = []string{"identity", "random:1"}

func beginRows(in *machineRun) machineView {
	v := &rowsView{numbers: map[stream.Buffer]int{}}
	for i, m := range in.machines {
		own := dram.New(m.Memory())
		own.Structure = func(buffer int) dram.Structure { return dram.Structure(v.buffers[buffer]) }
		v.memories = append(v.memories, own)
		all := []*dram.Memory{own}
		if i == 0 {
			for _, s := range dram.Schemes {
				for _, pages := range mapPages {
					spec := in.specs[0].Memory()
					spec.Map, spec.Pages = s.Name, pages
					memory := dram.New(spec)
					v.maps, all = append(v.maps, rowsMap{spec, memory}), append(all, memory)
				}
			}
		}
		in.onReported(func() {
			for _, memory := range all {
				memory.ResetCounts()
			}
		})
		m.OnTransfer(func(t *machine.Transfer) {
			buffer := v.number(t.Buffer)
			for s := range stream.LineBytes / stream.SectorBytes {
				if t.Sectors>>s&1 != 0 {
					for _, memory := range all {
						memory.Access(t.Line*stream.LineBytes+uint64(s)*stream.SectorBytes, t.Write, buffer)
					}
				}
			}
		})
	}
	return v
}

// number returns the number of a buffer.
func (v *rowsView) number(b stream.Buffer) int {
	n, ok := v.numbers[b]
	if !ok {
		n = len(v.buffers)
		v.buffers, v.numbers[b] = append(v.buffers, b), n
	}
	return n
}

// machineRowsJSON is the memory of a machine.
type machineRowsJSON struct {
	Map      string                 `json:"map"`      // address map: a name, or letters as in GPGPU-Sim
	Pages    string                 `json:"pages"`    // placement of pages
	Total    dram.Counts            `json:"total"`    // bursts of 32 bytes
	Channels []dram.Counts          `json:"channels"` // bursts of each channel
	Pairs    []machineRowsPairJSON  `json:"pairs"`    // pairs of buffers with conflicts, most conflicts first
	Maps     []machineRowsMapJSON   `json:"maps"`     // the same bursts with other address maps and placements of pages; only of the first machine
	Buffers  []machineRowBufferJSON `json:"buffers"`  // buffers, in the order of their first access
}

// machineRowsPairJSON is conflicts of two buffers.
type machineRowsPairJSON struct {
	Buffer    string `json:"buffer"`     // buffer whose burst finds another row open
	Base      uint64 `json:"base"`       // its first address
	Other     string `json:"other"`      // buffer of the burst before it in the bank
	OtherBase uint64 `json:"other_base"` // its first address
	Conflicts int64  `json:"conflicts"`  // number of such bursts
}

// machineRowsMapJSON is the memory with another address map.
type machineRowsMapJSON struct {
	Map     string      `json:"map"`     // address map
	Pages   string      `json:"pages"`   // placement of pages
	Total   dram.Counts `json:"total"`   // bursts of 32 bytes
	Balance float64     `json:"balance"` // bursts of the channel with the most, divided by the mean of all channels
}

// machineRowBufferJSON is the bursts of a buffer.
type machineRowBufferJSON struct {
	Name   string      `json:"name"`   // name as in messages
	Base   uint64      `json:"base"`   // first address; 0 for local memory
	Counts dram.Counts `json:"counts"` // bursts of 32 bytes
}

func (v *rowsView) addJSON(r *machineReport) error {
	for i, m := range v.memories {
		err := checkMemory(m)
		if err != nil && i == 0 { // the address maps are those of the first machine
			return fmt.Errorf("machine %s: %w", r.Machines[i].Name, err)
		}
		if err != nil {
			r.refuse(i, rowsPart.name, err)
			continue
		}
		spec := r.specs[i].Memory()
		out := &machineRowsJSON{Map: spec.Map, Pages: spec.Pages, Total: m.Total(), Channels: m.Channels, Pairs: []machineRowsPairJSON{}, Maps: []machineRowsMapJSON{}, Buffers: []machineRowBufferJSON{}}
		for pair, n := range m.Pairs {
			a, b := v.buffers[pair[0]], v.buffers[pair[1]]
			out.Pairs = append(out.Pairs, machineRowsPairJSON{a.Name, a.Base, b.Name, b.Base, n})
		}
		slices.SortFunc(out.Pairs, func(a, b machineRowsPairJSON) int {
			return cmp.Or(cmp.Compare(b.Conflicts, a.Conflicts), cmp.Compare(a.Base, b.Base), cmp.Compare(a.OtherBase, b.OtherBase), cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.Other, b.Other))
		})
		for n, b := range v.buffers {
			if c := m.Buffers[n]; c != nil {
				out.Buffers = append(out.Buffers, machineRowBufferJSON{b.Name, b.Base, *c})
			}
		}
		if i == 0 {
			for _, s := range v.maps {
				if err := checkMemory(s.memory); err != nil {
					return fmt.Errorf("machine %s with dram.map=%s dram.pages=%s: %w", r.Machines[i].Name, s.spec.Map, s.spec.Pages, err)
				}
				out.Maps = append(out.Maps, machineRowsMapJSON{s.spec.Map, s.spec.Pages, s.memory.Total(), s.memory.Balance()})
			}
		}
		r.Machines[i].Rows = out
	}
	return nil
}

// checkMemory returns an error if a memory has no counts, or if they contradict each other.
func checkMemory(m *dram.Memory) error {
	if err := m.Err(); err != nil {
		return err
	}
	return m.Verify()
}

// rowsCells formats the counts of a memory.
func rowsCells(c *dram.Counts) []string {
	perRow := "-"
	if n := c.Activations(); n > 0 {
		perRow = fmt.Sprintf("%.1f", float64(c.Bursts())/float64(n))
	}
	return []string{countText(c.Bursts()), countOrDash(c.Bursts(), percentText(share(c.Hits, c.Bursts()), 1)+" %"), countText(c.Conflicts), perRow}
}

// rowsColumns formats the counts of a memory for the terminal.
func rowsColumns(c *dram.Counts) (text string) {
	for i, cell := range rowsCells(c) {
		text += fitted(cell, -[]int{10, 10, 11, 12}[i])
	}
	return text
}

// page returns the memories of the machines, the address maps, and the pairs of buffers with conflicts.
func (v *rowsView) page(r *machineReport) []pageSection {
	parts := []string{"open row", "closed bank", "another row open"}
	chart := func(title, first string) pageBlock {
		return pageBlock{Title: title, Notes: []string{}, Bars: &pageBars{Series: parts}, Table: &pageTable{Head: []pageHead{{Name: first, Text: true}, {Name: "bursts"}, {Name: "row hits"}, {Name: "conflicts", Doc: "bursts that find another row open"}, {Name: "bursts/row"}, {Name: "balance", Doc: "bursts of the busiest channel by the mean of all"}}}}
	}
	add := func(b *pageBlock, name string, c dram.Counts, balance float64) {
		b.Bars.addBar(name, percentText(share(c.Hits, c.Bursts()), 1)+" %", float64(c.Hits), float64(c.Bursts()-c.Hits-c.Conflicts), float64(c.Conflicts))
		b.Table.Rows = append(b.Table.Rows, append(append([]string{name}, rowsCells(&c)...), fmt.Sprintf("%.2f", balance)))
	}
	machines := chart("Bursts that find their row open", "machine")
	for i, m := range v.memories {
		if machines.addRefusal(&r.Machines[i], rowsPart.name) {
			continue
		}
		add(&machines, r.Machines[i].Name, m.Total(), m.Balance())
	}
	first := r.specs[0].Memory()
	maps := chart("Address maps of "+r.Machines[0].Name, "map")
	maps.Notes = append(maps.Notes, fmt.Sprintf("%d channels of %d banks, rows of %d bytes, pages of %d bytes.", first.Channels, first.Banks, first.RowBytes, first.PageBytes))
	for _, m := range v.maps {
		add(&maps, m.spec.Map+" "+m.spec.Pages, m.memory.Total(), m.memory.Balance())
	}
	rows := r.Machines[0].Rows
	pairs := pageBlock{Title: "Buffers whose bursts find a row of another access open", Notes: []string{}}
	if len(rows.Pairs) == 0 {
		pairs.Notes = append(pairs.Notes, "None.")
	} else {
		pairs.Bars, pairs.Table = &pageBars{Series: []string{"conflicts"}}, &pageTable{Head: []pageHead{{Name: "buffer", Text: true}, {Name: "buffer of the access before in the bank", Text: true}, {Name: "conflicts"}}}
		for i, p := range rows.Pairs {
			if i == r.flags.Top {
				pairs.Notes = append(pairs.Notes, fmt.Sprintf("%d more pairs have fewer conflicts (--top).", len(rows.Pairs)-i))
				break
			}
			a, b := bufferText(p.Buffer, p.Base), bufferText(p.Other, p.OtherBase)
			pairs.Bars.addBar(a+", "+b, countText(p.Conflicts), float64(p.Conflicts))
			pairs.Table.Rows = append(pairs.Table.Rows, []string{a, b, countText(p.Conflicts)})
		}
	}
	return []pageSection{{"Rows of memory", []string{}, []pageBlock{machines, maps, pairs}}}
}

const rowsHeader = "    bursts  row hits  conflicts  bursts/row"

func (v *rowsView) print(r *machineReport, s *screen) {
	s.heading("rows of memory")
	width := 0
	for _, m := range v.maps {
		width = max(width, len(m.spec.Map)+1+len(m.spec.Pages))
	}
	for i := range r.Machines {
		width = max(width, len(r.Machines[i].Name))
	}
	s.printf("%s\n", s.paint(dim, fitted("", width)+rowsHeader+"  balance"))
	for i, m := range v.memories {
		if reason := r.Machines[i].refusal(rowsPart.name); reason != "" {
			s.printRefusal(r.Machines[i].Name, width, reason)
			continue
		}
		total := m.Total()
		s.printf("%s%s%s\n", fitted(r.Machines[i].Name, width), rowsColumns(&total), fitted(fmt.Sprintf("%.2f", m.Balance()), -9))
	}
	first := r.specs[0].Memory()
	s.printf("\naddress maps of %s: %d channels of %d banks, rows of %d bytes, pages of %d bytes\n", r.Machines[0].Name, first.Channels, first.Banks, first.RowBytes, first.PageBytes)
	for _, m := range v.maps {
		total := m.memory.Total()
		s.printf("%s%s%s\n", fitted(m.spec.Map+" "+m.spec.Pages, width), rowsColumns(&total), fitted(fmt.Sprintf("%.2f", m.memory.Balance()), -9))
	}
	rows := r.Machines[0].Rows
	s.heading("buffers whose bursts find a row of another access open")
	left := len(rows.Pairs) - min(len(rows.Pairs), r.flags.Top)
	if len(rows.Pairs) == 0 {
		s.printf("none: no burst finds another row open\n")
		return
	}
	s.printf("%s\n", s.paint(dim, " conflicts  buffer, and the buffer of the access before in the bank"))
	for _, p := range rows.Pairs[:len(rows.Pairs)-left] {
		s.printf("%s  %s, %s\n", fitted(countText(p.Conflicts), -10), bufferText(p.Buffer, p.Base), bufferText(p.Other, p.OtherBase))
	}
	if left > 0 {
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", left)))
	}
}

// bufferText names a buffer with its address.
func bufferText(name string, base uint64) string {
	if base == 0 {
		return name
	}
	return fmt.Sprintf("%s at %#x", name, base)
}

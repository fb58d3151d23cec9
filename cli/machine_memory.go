package cli

// This file is "gemu machine --show memory": the network, the L2 and the channels of memory of machines with a clock.

import (
	"fmt"
	"slices"

	"gemu/machine/memory"
)

var memoryPart = machinePart{name: "memory", doc: "the L2 and the channels of memory of machines with a clock: hits of lines in flight, latency of reads, queues, rows and banks", extra: true, allLaunches: true, clocked: true, begin: func(in *machineRun) machineView {
	in.addClocks()
	return memoryView{in.clocks}
}}

// machineMemoryJSON is the memory behind the L1 of a machine with a clock.
type machineMemoryJSON struct {
	Counts          memory.Counts          `json:"counts"`           // events
	Channels        []memory.ChannelCounts `json:"channels"`         // events of each channel of memory; their ticks have no unit
	ReadLatency     float64                `json:"read_latency"`     // cycles from the arrival of a read at its channel to its last data, mean
	QueueWait       float64                `json:"queue_wait"`       // of these, cycles until the command that reads
	BankParallelism float64                `json:"bank_parallelism"` // banks with a request in the queue of a channel when it serves one, mean
	BusShare        float64                `json:"bus_share"`        // share of all cycles in which the data buses transfer, in percent
}

// memoryView is the memory of the machines.
type memoryView struct{ clocks []machineClock }

func (v memoryView) addJSON(r *machineReport) error {
	return r.addEach(memoryPart.name, len(v.clocks), func(i int) error { return v.clocks[i].err() }, func(i int) {
		m := v.clocks[i][0]
		cycles := int64(0)
		for _, l := range m.Launches() {
			cycles += l.Cycles
		}
		s := m.Memory()
		total := s.Total()
		r.Machines[i].Memory = &machineMemoryJSON{total, s.Channels(), s.ReadLatency(), s.QueueWait(), total.Memory.BankParallelism(), 100 * s.BusShare(cycles)}
	})
}

// machineMemoryColumns are the columns of the memory.
var machineMemoryColumns = []pageHead{
	{Name: "L2 hits", Doc: "share of the sectors that the L2 has, in the order of the clock"},
	{Name: "in flight", Doc: "share of the sectors that are on the way from memory to the L2"},
	{Name: "reads", Doc: "requests that read lines of memory"},
	{Name: "latency", Doc: "cycles from the arrival of a read at its channel to its last data, mean"},
	{Name: "in queue", Doc: "of these, cycles until the command that reads"},
	{Name: "row hits", Doc: "share of the requests to memory that find their row open"},
	{Name: "banks", Doc: "banks with a request in the queue of a channel when it serves one, mean"},
	{Name: "bus", Doc: "share of the cycles in which the data buses of memory transfer"},
}

// compressedColumns are the further columns if a machine compresses lines.
var compressedColumns = []pageHead{
	{Name: "bursts", Doc: "bursts of 32 bytes that memory transfers: of lines, compressed or not, and of metadata"},
	{Name: "metadata", Doc: "share of the transfers of lines whose number of bursts is in the cache of metadata"},
}

// memoryColumns returns the columns of the memory.
func (r *machineReport) memoryColumns() []pageHead {
	if slices.ContainsFunc(r.Machines, func(m machineResultJSON) bool { return m.Memory != nil && m.Memory.Counts.Bursts > 0 }) {
		return slices.Concat(machineMemoryColumns, compressedColumns)
	}
	return machineMemoryColumns
}

// memoryCells returns the cells of a machine.
func (m *machineMemoryJSON) memoryCells(columns []pageHead) []string {
	c := &m.Counts
	requests := c.Memory.Requests()
	part := func(n, of int64) string { return countOrDash(of, percentText(share(n, of), 1)+" %") }
	cells := []string{
		part(c.Hits, c.Accesses), part(c.InFlight, c.Accesses), countText(c.Memory.Reads), countOrDash(c.Memory.Reads, fmt.Sprintf("%.0f", m.ReadLatency)), countOrDash(c.Memory.Reads, fmt.Sprintf("%.0f", m.QueueWait)),
		part(c.Memory.Hits, requests), countOrDash(requests, fmt.Sprintf("%.1f", m.BankParallelism)), percentText(m.BusShare, 1) + " %",
		countText(c.Memory.ReadBursts + c.Memory.WriteBursts), part(c.MetadataLookups-c.MetadataMisses, c.MetadataLookups),
	}
	return cells[:len(columns)]
}

func (v memoryView) print(r *machineReport, s *screen) {
	s.heading("L2 and memory with a clock")
	columns := r.memoryColumns()
	r.printMachines(s, memoryPart.name, columns, 10, "", func(i int) []string { return r.Machines[i].Memory.memoryCells(columns) })
}

// page returns the memory of the machines.
func (v memoryView) page(r *machineReport) []pageSection {
	columns := r.memoryColumns()
	b := pageBlock{Title: "L2 and memory with a clock", Notes: []string{}, Table: &pageTable{Head: append([]pageHead{{Name: "machine", Text: true}}, columns...)}}
	for i := range r.Machines {
		if b.addRefusal(&r.Machines[i], memoryPart.name) {
			continue
		}
		b.Table.Rows = append(b.Table.Rows, append([]string{r.Machines[i].Name}, r.Machines[i].Memory.memoryCells(columns)...))
	}
	return []pageSection{{"Memory", []string{}, []pageBlock{b}}}
}

package cli

// This file is "gemu machine --show compression": bursts of the lines that memory transfers, in compressed forms.

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gemu/machine"
	"gemu/machine/codec"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/profile"
)

var compressionPart = machinePart{name: "compression", doc: "bursts of memory with compressed lines, by algorithm, and by buffer of the first machine", extra: true, begin: beginCompression}

// compressionView observes machines that transfer whole lines.
type compressionView struct {
	machines []*machine.Machine // as those of the run, but they transfer whole lines
	counts   []*machine.Compression
}

func beginCompression(in *machineRun) machineView {
	in.data, in.encodings = true, in.flags.From == "" // a recording has no registers
	v := &compressionView{}
	for i, m := range in.machines {
		if s := in.specs[i]; !s.WholeLines {
			s.WholeLines = true
			m = machine.New(s, in.flags.Regs)
			in.feed(m)
		}
		counts := machine.NewCompression(m)
		in.onReported(counts.ResetCounts)
		v.machines, v.counts = append(v.machines, m), append(v.counts, counts)
	}
	return v
}

// machineCompressionJSON is the compressed lines of a machine.
type machineCompressionJSON struct {
	Total    machine.BurstCounts            `json:"total"`    // lines and bursts
	Drain    machine.BurstCounts            `json:"drain"`    // lines that are dirty in the L2 at the end of the last launch, as if they were written then; not in total
	Metadata machine.MetadataCounts         `json:"metadata"` // cache of metadata, which has the bursts of each line in the form of BDI
	Image    machine.ImageCounts            `json:"image"`    // differences between the order of the machine and the execution
	Changed  []machineChangedJSON           `json:"changed"`  // lines of the source with loads that would have seen another value
	Buffers  []machineCompressionBufferJSON `json:"buffers"`  // buffers, in the order of addresses
}

// machineCompressionBufferJSON is the compressed lines of a buffer.
type machineCompressionBufferJSON struct {
	Name           string              `json:"name"`            // name as in messages
	Base           uint64              `json:"base"`            // first address; 0 for local memory
	Bytes          uint64              `json:"bytes"`           // size in bytes; 0 for local memory
	Counts         machine.BurstCounts `json:"counts"`          // lines and bursts
	Drain          machine.BurstCounts `json:"drain"`           // lines that are dirty in the L2 at the end, as if they were written then; not in counts
	Fits           string              `json:"fits"`            // algorithm with the fewest bursts; "" if none saves 1 % of the bursts; of the dirty lines if no other data were transferred than those before the launch
	Encodings      map[string]int64    `json:"encodings"`       // transferred lines by their encoding of BDI
	DrainEncodings map[string]int64    `json:"drain_encodings"` // dirty lines by their encoding of BDI
	Types          []string            `json:"types"`           // types of the accesses in PTX; copies have none
	ReadBy         []machineUseJSON    `json:"read_by"`         // lines of the source with loads
	WrittenBy      []machineUseJSON    `json:"written_by"`      // lines of the source with stores and atomics
}

// machineUseJSON is a line of the source that accesses a buffer.
type machineUseJSON struct {
	File string `json:"file"` // file name in .file, or of the PTX
	Line int    `json:"line"` // number of the line, from 1 on
}

// algorithm is an algorithm with its bursts.
type algorithm struct {
	name   string
	bursts func(c *machine.BurstCounts) int64
}

// algorithms are the columns of the tables.
var algorithms = []algorithm{
	{codec.BDI.String(), func(c *machine.BurstCounts) int64 { return c.BDI }},
	{codec.FPC.String(), func(c *machine.BurstCounts) int64 { return c.FPC }},
	{codec.CPack.String(), func(c *machine.BurstCounts) int64 { return c.CPack }},
	{codec.Bytewise.String(), func(c *machine.BurstCounts) int64 { return c.Bytewise }},
	{"best", func(c *machine.BurstCounts) int64 { return c.Best }},
	{"once", func(c *machine.BurstCounts) int64 { return c.Once }},
}

// fitting are the algorithms that choose a form by the bytes of a line.
var fitting = algorithms[:4]

// fittingAlgorithm returns the algorithm with the fewest bursts, "" if none saves 1 % of the bursts.
func fittingAlgorithm(c *machine.BurstCounts) (name string) {
	fewest := c.Bursts() * 99 / 100 // rounded down
	for _, a := range fitting {
		if n := a.bursts(c); n < fewest || n == fewest && name == "" {
			name, fewest = a.name, n
		}
	}
	return name
}

func (v *compressionView) addJSON(r *machineReport) error {
	for i, counts := range v.counts {
		if err := counts.Verify(); err != nil {
			return fmt.Errorf("machine %s: %w", r.Machines[i].Name, err)
		}
		out := &machineCompressionJSON{Total: counts.Total(), Metadata: counts.Metadata, Buffers: []machineCompressionBufferJSON{}}
		uses := map[stream.Buffer]*bufferUses{}
		changed := changedLines{}
		for _, l := range r.flags.reported(v.machines[i]) {
			out.Image.Add(&l.Image)
			place := func(index int) machineUseJSON {
				instr, f := l.Program.At(index)
				frame := profile.Frames(f, instr, r.flags.PTX)[0]
				return machineUseJSON{frame.File, frame.Line}
			}
			changed.add(l.LaunchInfo, l.Changed, r.flags.PTX)
			for _, u := range l.Uses {
				if uses[u.Buffer] == nil {
					uses[u.Buffer] = newBufferUses()
				}
				instr, _ := l.Program.At(u.Instr)
				uses[u.Buffer].add(place(u.Instr), u.Kind, instr.Text)
			}
		}
		out.Changed = changed.sorted()
		for _, b := range counts.Buffers() {
			u := cmp.Or(uses[b.Buffer], newBufferUses())
			text := machineCompressionBufferJSON{Name: b.Name, Base: b.Base, Bytes: b.Bytes, Counts: b.BurstCounts, Drain: b.Drain, Fits: fittingAlgorithm(&b.BurstCounts), Encodings: encodingsOf(&b.Encodings), DrainEncodings: encodingsOf(&b.DrainEncodings)}
			out.Drain.Add(&b.Drain)
			text.Types = slices.Sorted(maps.Keys(u.types))
			text.ReadBy, text.WrittenBy = u.sorted(0), u.sorted(1)
			if text.onlyAtEnd() {
				text.Fits = fittingAlgorithm(&b.Drain)
			}
			out.Buffers = append(out.Buffers, text)
		}
		if r.flags.From != "" { // a recording has no registers
			out.Total.Once, out.Drain.Once = 0, 0
			for k := range out.Buffers {
				out.Buffers[k].Counts.Once, out.Buffers[k].Drain.Once = 0, 0
			}
		}
		r.Machines[i].Compression = out
	}
	return nil
}

// onlyAtEnd reports whether memory has received no line yet, and has sent none for a load: the L2 may have read lines, before stores of a
// part of a line, with the bytes before the launch.
func (b *machineCompressionBufferJSON) onlyAtEnd() bool {
	return b.Drain.Writes > 0 && b.Counts.Writes == 0 && (b.Counts.Reads == 0 || len(b.ReadBy) == 0)
}

// encodingsOf returns the numbers of lines by the name of their encoding.
func encodingsOf(counts *[codec.Encodings]int64) map[string]int64 {
	out := map[string]int64{}
	for e, n := range counts {
		if n > 0 {
			out[codec.Encoding(e).String()] = n
		}
	}
	return out
}

// bufferUses are the instructions that access a buffer.
type bufferUses struct {
	types map[string]bool
	lines [2]map[machineUseJSON]bool // that read, and that write
}

func newBufferUses() *bufferUses {
	return &bufferUses{map[string]bool{}, [2]map[machineUseJSON]bool{{}, {}}}
}

func (u *bufferUses) add(at machineUseJSON, kind probe.AccessKind, opcode string) {
	if t, digit := opcode[strings.LastIndexByte(opcode, '.')+1:], opcode[len(opcode)-1]; digit >= '0' && digit <= '9' && !strings.Contains(t, "::") { // copies have no type
		u.types[t] = true
	}
	if kind != probe.AccessStore {
		u.lines[0][at] = true
	}
	if kind != probe.AccessLoad {
		u.lines[1][at] = true
	}
}

func (u *bufferUses) sorted(k int) []machineUseJSON {
	list := slices.AppendSeq([]machineUseJSON{}, maps.Keys(u.lines[k]))
	slices.SortFunc(list, func(a, b machineUseJSON) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return list
}

// atEnd is the name of a row of lines that are dirty at the end.
const atEnd = "at the end"

const compressionHeader = "      read   written   bdi   fpc c-pack byte-wise  best  once    raw"

// ratioOf returns the bursts without compression by those with an algorithm; 0 without bursts.
func (a *algorithm) ratioOf(c *machine.BurstCounts) float64 {
	if n := a.bursts(c); n > 0 {
		return float64(c.Bursts()) / float64(n)
	}
	return 0
}

// compressionCells formats the counts of lines: ratios, and the share of lines that no algorithm makes smaller.
func compressionCells(c *machine.BurstCounts) []string {
	list := []string{countText(c.Reads), countText(c.Writes)}
	for i := range algorithms {
		ratio := "-"
		if n := algorithms[i].ratioOf(c); n > 0 {
			ratio = fmt.Sprintf("%.2f", n)
		}
		list = append(list, ratio)
	}
	return append(list, countOrDash(c.Reads+c.Writes, percentText(share(c.Raw, c.Reads+c.Writes), 0)+" %"))
}

// compressionColumns formats the counts of lines for the terminal.
func compressionColumns(c *machine.BurstCounts) (text string) {
	for i, cell := range compressionCells(c) {
		text += fitted(cell, -[]int{10, 10, 6, 6, 7, 10, 6, 6, 7}[i])
	}
	return text
}

func (v *compressionView) print(r *machineReport, s *screen) {
	s.heading("compressed lines of memory")
	width := 0
	for i := range r.Machines {
		if width = max(width, len(r.Machines[i].Name)); r.Machines[i].Compression.Drain.Writes > 0 {
			width = max(width, len(atEnd))
		}
	}
	s.printf("%s\n", s.paint(dim, fitted("", width)+compressionHeader+"  metadata hits"))
	for i := range r.Machines {
		if reason := r.Machines[i].refusal(compressionPart.name); reason != "" {
			s.printRefusal(r.Machines[i].Name, width, reason)
			continue
		}
		c := r.Machines[i].Compression
		hits := countOrDash(c.Metadata.Lookups, percentText(share(c.Metadata.Hits, c.Metadata.Lookups), 1)+" %")
		s.printf("%s%s%s\n", fitted(r.Machines[i].Name, width), compressionColumns(&c.Total), fitted(hits, -15))
		if c.Drain.Writes > 0 {
			s.printf("%s%s\n", fitted(atEnd, width), compressionColumns(&c.Drain))
		}
	}
	c := r.Machines[0].Compression
	s.printf("read and written are lines of 128 bytes; an algorithm's column is bursts without compression by bursts with it\n")
	if first := &r.Machines[0]; !r.specs[0].WholeLines {
		for i, line := range wrap(fmt.Sprintf("Compressed memory transfers whole lines: %s bursts without compression, %s with the best algorithm. %s itself transfers sectors: %s bursts.",
			countText(c.Total.Bursts()), countText(c.Total.Best), first.Name, countText(first.Total.Traffic())), 100) {
			s.printf("%s%s\n", []string{"", "  "}[min(i, 1)], line)
		}
	}
	for _, text := range r.systemCompression() {
		s.printf("%s\n", text)
	}
	if n := c.Total.Unknown; n > 0 {
		s.printf("%s lines have unknown bytes, and count as raw\n", countText(n))
	}
	if n := c.Image.Changed; n > 0 {
		s.printf("%s of %s loads of lines would have seen another value in the order of the machine:\n", countText(n), countText(c.Image.Loads))
		for _, l := range c.Changed[:min(len(c.Changed), r.flags.Top)] {
			s.printf("  %s  %s:%d\n", fitted(countText(l.Count), -10), filepath.Base(l.File), l.Line)
		}
	}
	if n := c.Image.Different; n > 0 {
		s.printf("%s bytes of memory would be different in the order of the machine\n", countText(n))
	}
	s.heading("compressed lines of buffers")
	list := c.byBursts()
	left := len(list) - min(len(list), r.flags.Top)
	s.printf("%s\n", s.paint(dim, compressionHeader))
	for i := range list[:len(list)-left] {
		b := &list[i]
		s.printf("%s  %s\n", compressionColumns(&b.Counts), b.text())
		if b.Drain.Writes > 0 {
			s.printf("%s  %s\n", compressionColumns(&b.Drain), atEnd)
		}
		s.printf("%s\n", s.cutToFit("            "+b.doc(), 0))
	}
	if left > 0 {
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", left)))
	}
}

// systemCompression describes the machines whose systems have a compression of their own.
func (r *machineReport) systemCompression() (list []string) {
	for i := range r.Machines {
		if c := &r.Machines[i].Compression.Total; c.System > 0 {
			list = append(list, fmt.Sprintf("%s has a compression of its own: %s bursts, %.2f times fewer", r.Machines[i].Name, countText(c.System), float64(c.Bursts())/float64(c.System)))
		}
	}
	return list
}

// byBursts returns the buffers, those with the most bursts first.
func (c *machineCompressionJSON) byBursts() []machineCompressionBufferJSON {
	list := slices.Clone(c.Buffers)
	slices.SortStableFunc(list, func(a, b machineCompressionBufferJSON) int {
		return cmp.Compare(b.Counts.Bursts()+b.Drain.Bursts(), a.Counts.Bursts()+a.Drain.Bursts())
	})
	return list
}

// text names the buffer.
func (b *machineCompressionBufferJSON) text() string {
	if b.onlyAtEnd() && b.Counts.Reads > 0 {
		return bufferText(b.Name, b.Base) + ", before the launch"
	}
	return bufferText(b.Name, b.Base)
}

// doc describes the data of the buffer: the algorithm that fits, types, encodings, and the lines that access it.
func (b *machineCompressionBufferJSON) doc() string {
	encodings := b.Encodings
	if b.onlyAtEnd() {
		encodings = b.DrainEncodings
	}
	fits := "no algorithm fits"
	if b.Fits != "" {
		fits = b.Fits + " fits"
	}
	if len(b.Types) > 0 {
		fits += "; " + strings.Join(b.Types, ", ")
	}
	return fmt.Sprintf("%s; %s%s%s", fits, encodingsText(encodings), usesText("; read by ", b.ReadBy), usesText("; written by ", b.WrittenBy))
}

// compressionHead returns the heads of the columns of compressionCells, after a column of texts.
func compressionHead(first string) []pageHead {
	head := []pageHead{{Name: first, Text: true}, {Name: "read", Doc: "lines of 128 bytes"}, {Name: "written", Doc: "lines of 128 bytes"}}
	for _, a := range algorithms {
		head = append(head, pageHead{Name: a.name, Doc: "bursts without compression by bursts with it"})
	}
	return append(head, pageHead{Name: "raw", Doc: "lines that no algorithm makes smaller"})
}

// page returns the compressed lines of each machine, and a map of the ratios of the first machine's buffers.
func (v *compressionView) page(r *machineReport) []pageSection {
	machines := pageBlock{Title: "Bursts without compression by bursts with it", Notes: []string{}, Table: &pageTable{Head: append(compressionHead("machine"), pageHead{Name: "metadata hits"})}}
	for i := range r.Machines {
		if machines.addRefusal(&r.Machines[i], compressionPart.name) {
			continue
		}
		c := r.Machines[i].Compression
		hits := countOrDash(c.Metadata.Lookups, percentText(share(c.Metadata.Hits, c.Metadata.Lookups), 1)+" %")
		machines.Table.Rows = append(machines.Table.Rows, append(append([]string{r.Machines[i].Name}, compressionCells(&c.Total)...), hits))
		if c.Drain.Writes > 0 {
			machines.Table.Rows = append(machines.Table.Rows, append(append([]string{r.Machines[i].Name + ", " + atEnd}, compressionCells(&c.Drain)...), ""))
		}
	}
	for _, text := range r.systemCompression() {
		machines.Notes = append(machines.Notes, text+".")
	}
	c := r.Machines[0].Compression
	if n := c.Total.Unknown; n > 0 {
		machines.Notes = append(machines.Notes, countText(n)+" lines have unknown bytes, and count as raw.")
	}
	if n := c.Image.Changed; n > 0 {
		machines.Notes = append(machines.Notes, fmt.Sprintf("%s of %s loads of lines would have seen another value in the order of the machine.", countText(n), countText(c.Image.Loads)))
	}
	if n := c.Image.Different; n > 0 {
		machines.Notes = append(machines.Notes, countText(n)+" bytes of memory would be different in the order of the machine.")
	}
	heat := &pageHeat{RowName: "buffer", ColumnName: "algorithm", Unit: "times fewer bursts", Most: 4}
	for _, a := range algorithms {
		heat.Columns = append(heat.Columns, a.name)
	}
	buffers := pageBlock{Title: "Buffers by algorithm: bursts without compression by bursts with it", Notes: []string{}, Heat: heat, Table: &pageTable{Head: append(compressionHead("buffer"), pageHead{Name: "data", Text: true})}}
	list := c.byBursts()
	left := len(list) - min(len(list), r.flags.Top)
	add := func(name, doc string, c *machine.BurstCounts) {
		cells, values := compressionCells(c), []float64{}
		for i := range algorithms {
			values = append(values, max(algorithms[i].ratioOf(c)-1, 0)*4/3) // a ratio of 1 has no colour, 4 the full one
		}
		heat.Rows, heat.Values, heat.Texts = append(heat.Rows, name), append(heat.Values, values), append(heat.Texts, cells[2:2+len(algorithms)])
		buffers.Table.Rows = append(buffers.Table.Rows, append(append([]string{name}, cells...), doc))
	}
	for i := range list[:len(list)-left] {
		b := &list[i]
		add(b.text(), b.doc(), &b.Counts)
		if b.Drain.Writes > 0 {
			add(b.text()+", "+atEnd, "", &b.Drain)
		}
	}
	if left > 0 {
		buffers.Notes = append(buffers.Notes, fmt.Sprintf("%d more buffers have fewer bursts (--top).", left))
	}
	return []pageSection{{"Compression", []string{}, []pageBlock{machines, buffers}}}
}

// encodingsText lists the most frequent encodings of BDI, with their shares.
func encodingsText(encodings map[string]int64) string {
	total := int64(0)
	for _, n := range encodings {
		total += n
	}
	if total == 0 {
		return "unknown bytes"
	}
	names := slices.SortedFunc(maps.Keys(encodings), func(a, b string) int {
		return cmp.Or(cmp.Compare(encodings[b], encodings[a]), cmp.Compare(a, b))
	})
	var list []string
	for _, name := range names[:min(len(names), 3)] {
		list = append(list, name+" "+percentText(share(encodings[name], total), 0)+" %")
	}
	return "bdi " + strings.Join(list, ", ")
}

// usesText lists lines of the source, at most four.
func usesText(before string, list []machineUseJSON) string {
	if len(list) == 0 {
		return ""
	}
	text := before
	for i, u := range list {
		switch {
		case i == 4:
			return text + " …"
		case i == 0 || list[i-1].File != u.File:
			text += fmt.Sprintf("%s%s:%d", map[bool]string{true: ", "}[i > 0], filepath.Base(u.File), u.Line)
		default:
			text += fmt.Sprintf(", %d", u.Line)
		}
	}
	return text
}

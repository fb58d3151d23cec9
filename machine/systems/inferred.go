package systems

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gemu/machine"
	"gemu/machine/codec"
	"gemu/machine/dispatch"
	"gemu/machine/dram"
	"gemu/machine/locality"
	"gemu/machine/stream"
	"gemu/ptx"
)

// uses are the uses of the inferred descriptors of buffers. docs/descriptors.md defines them.
type uses struct {
	order, zones, banks, codec bool
	channel                    bool // banks has each page in one channel
}

// inferredUses are the values of inferred=VALUE, with the use that each selects.
var inferredUses = []struct {
	name string
	of   func(*uses) *bool
}{
	{"order", func(u *uses) *bool { return &u.order }},
	{"zones", func(u *uses) *bool { return &u.zones }},
	{"banks", func(u *uses) *bool { return &u.banks }},
	{"codec", func(u *uses) *bool { return &u.codec }},
	{"channel", func(u *uses) *bool { return &u.channel }},
}

// minCodecSavings is the share of the bursts of a buffer that an algorithm must save for its lines to have forms.
const minCodecSavings = 0.01

// inferred returns the system inferred=value.
func inferred(value string) (*machine.System, error) { return InferredUses(value, nil) }

// InferredUses returns the system with descriptors that drive some uses: their names with hyphens between them, "" for order, zones, banks and codec. report, if
// not nil, has the descriptors after each launch of the system's machine; then there must be a single machine.
func InferredUses(value string, report *InferredReport) (*machine.System, error) {
	u := uses{order: true, zones: true, banks: true, codec: true}
	if value != "" {
		u = uses{}
		for name := range strings.SplitSeq(value, "-") {
			i := slices.IndexFunc(inferredUses, func(of struct {
				name string
				of   func(*uses) *bool
			}) bool {
				return of.name == name
			})
			if i < 0 {
				return nil, fmt.Errorf("unknown use %q of inferred descriptors: want some of order, zones, banks and codec with hyphens between them, as in inferred=order-zones; channel gives each page of banks one channel", name)
			}
			*inferredUses[i].of(&u) = true
		}
		if u.channel && !u.banks {
			return nil, fmt.Errorf("channel is a part of banks: want inferred=banks-channel")
		}
	}
	name := "inferred"
	if value != "" {
		name += "=" + value
	}
	return &machine.System{Name: name, New: func() machine.Parts {
		return (&inferredParts{uses: u, name: name, known: map[stream.Buffer]*described{}, report: report}).parts()
	}}, nil
}

// InferredReport is the descriptors that a machine has inferred.
type InferredReport struct {
	Buffers []InferredBuffer // in the order of their first launches; in that of their accesses within a launch
	Lines   int64            // pairs of a CTA and a line of global memory that it accesses, of all launches, on a machine with zones of pages
	Local   int64            // of these, pairs in which the page of the line is in the zone of the CTA
}

// InferredBuffer is the descriptor of a buffer.
type InferredBuffer struct {
	stream.Buffer
	Launch    int                   // number of the first launch that accesses the buffer, from 1 on
	Locality  []locality.Descriptor // of this launch, the most accesses first
	Accesses  int64                 // transactions of this launch
	Regular   bool                  // all of Locality are regular
	Bit       uint                  // lowest bit of the zone in an address; 0: pages have no zones
	FirstBank int                   // first of its banks
	Banks     int                   // number of its banks; 0: it shares the banks of other data
	Bursts    [3]int64              // bursts of the sampled lines by algorithm: BDI, FPC, C-Pack
	Raw       int64                 // bursts of the same lines without a form
	Codec     string                // algorithm of its lines: "bdi", "fpc" or "c-pack"; "": they are raw
}

// described is the descriptor of a buffer that does not change: its zones are those of inferredParts.pageZones.
type described struct {
	buffer   stream.Buffer
	launch   int                   // number of the first launch that accesses the buffer, from 1 on
	list     []locality.Descriptor // of this launch
	accesses int64                 // transactions of this launch
	regular  bool                  // all of list are
	bursts   [codec.Count]int64    // of its lines, by algorithm
	raw      int64                 // of its lines without a form
	codec    codec.Codec           // algorithm of its forms; codec.Count: lines are raw
}

// inferredParts are the inferred descriptors of a machine.
type inferredParts struct {
	uses
	name      string
	launches  int
	known     map[stream.Buffer]*described
	buffers   []*described          // in the order of their first launches; in that of their accesses within a launch
	current   []locality.Descriptor // of the launch in progress
	part      []int                 // zone of each CTA of the launch in progress
	pageZones *locality.Zones       // nil on a machine with one zone, and without use zones
	n         int                   // number of zones of the machine; 0 before it has a memory
	place     *inferredPlacement    // the latest memory; nil: no use places pages
	lines     int64                 // InferredReport.Lines
	local     int64                 // InferredReport.Local
	report    *InferredReport       // nil: none
	last      *described            // buffer of the latest line
}

func (p *inferredParts) parts() machine.Parts {
	parts := machine.Parts{Infer: p.infer, Inferred: p.describe, Notices: p.notices}
	if p.uses.order {
		parts.Dispatcher = p.dispatcher
	}
	if p.uses.zones || p.uses.banks {
		parts.Pages = &dram.Policy{Name: p.name, Doc: "the zones and the banks of inferred descriptors", New: p.placement}
	}
	if p.uses.codec {
		parts.Codec, parts.Compressed = p.form, &machine.Compressed{L2: true, Compress: bdiCompress, Decompress: bdiDecompress, Metadata: true}
	}
	return parts
}

// notices returns the reason why pages have no zones on a machine with zones.
func (p *inferredParts) notices() []string {
	if p.uses.zones && p.n > 1 && p.pageZones == nil {
		return []string{fmt.Sprintf("%s places no page in a zone: the machine has %d zones; want a number that is a power of two (dram.zones)", p.name, p.n)}
	}
	return nil
}

// infer describes the buffers that a launch accesses first.
func (p *inferredParts) infer(l *locality.Launch, forms []locality.Form) error {
	p.launches++
	p.last = nil // a new buffer can have its addresses
	p.current = locality.Infer(l, forms)
	if p.pageZones != nil {
		p.part = p.pageZones.Partition(l, p.current)
	}
	first := len(p.buffers)
	for i, b := range l.Buffers {
		if p.known[b] != nil || b.Bytes == 0 || i >= len(l.Uses) || l.Uses[i].Lines == 0 {
			continue
		}
		d := &described{buffer: b, launch: p.launches, accesses: l.Uses[i].Transactions, regular: true, codec: codec.Count}
		for _, of := range p.current {
			if of.Buffer == b {
				d.list = append(d.list, of)
				d.regular = d.regular && of.Regular
			}
		}
		p.known[b], p.buffers = d, append(p.buffers, d)
	}
	slices.SortStableFunc(p.buffers[first:], func(a, b *described) int { return cmp.Compare(b.accesses, a.accesses) })
	if p.uses.codec {
		if err := p.chooseCodecs(l, p.buffers[first:]); err != nil {
			return err
		}
	}
	p.countLocal(l)
	if p.report != nil {
		*p.report = *p.makeReport()
	}
	return nil
}

// makeReport returns the descriptors after the launches so far.
func (p *inferredParts) makeReport() *InferredReport {
	report := &InferredReport{Lines: p.lines, Local: p.local}
	if p.place != nil && p.uses.banks {
		p.place.choose()
	}
	for _, d := range p.buffers {
		b := InferredBuffer{Buffer: d.buffer, Launch: d.launch, Locality: d.list, Accesses: d.accesses, Regular: d.regular, Raw: d.raw}
		for i, c := range cabaCodecs {
			b.Bursts[i] = d.bursts[c]
		}
		if d.codec != codec.Count {
			b.Codec = d.codec.String()
		}
		if p.pageZones != nil {
			b.Bit, _ = p.pageZones.Bit(d.buffer)
		}
		if p.place != nil {
			b.FirstBank, b.Banks = p.place.banks[d.buffer].first, p.place.banks[d.buffer].n
		}
		report.Buffers = append(report.Buffers, b)
	}
	return report
}

// describe describes the buffers.
func (p *inferredParts) describe() (list []string) {
	for _, b := range p.makeReport().Buffers {
		list = append(list, fmt.Sprintf("%s at %#x, %d bytes: %d accesses in launch %d", cmp.Or(b.Name, "buffer"), b.Base, b.Buffer.Bytes, b.Accesses, b.Launch))
		for i := range b.Locality {
			list = append(list, "  "+b.Locality[i].String())
		}
		if p.pageZones != nil {
			switch {
			case b.Bit == 0:
				list = append(list, "  zones: pages in turn, because no launch has placed the buffer")
			case b.Buffer.Bytes < uint64(p.n)<<b.Bit:
				list = append(list, fmt.Sprintf("  zones: from bit %d on, because it has fewer pages than the machine has zones", b.Bit))
			default:
				list = append(list, fmt.Sprintf("  zones: from bit %d on, which has the most lines in the zones of their CTAs", b.Bit))
			}
		}
		if p.uses.banks {
			switch {
			case b.Banks > 0:
				list = append(list, fmt.Sprintf("  banks: %d to %d, because all its descriptors are REGULAR", b.FirstBank, b.FirstBank+b.Banks-1))
			case !b.Regular:
				list = append(list, "  banks: those of other data, because a descriptor is IRREGULAR")
			default:
				list = append(list, "  banks: those of other data, because buffers before it have all others")
			}
		}
		if p.uses.codec {
			text := ""
			for i, c := range cabaCodecs {
				text += fmt.Sprintf(", %s %d", c, b.Bursts[i])
			}
			if text = fmt.Sprintf("raw %d%s bursts", b.Raw, text); b.Codec == "" {
				list = append(list, fmt.Sprintf("  codec: none, because none saves %g %%: %s", 100*minCodecSavings, text))
			} else {
				list = append(list, fmt.Sprintf("  codec: %s, which has the fewest bursts: %s", b.Codec, text))
			}
		}
	}
	return list
}

// countLocal counts the lines of a launch that are in the zones of their CTAs.
func (p *inferredParts) countLocal(l *locality.Launch) {
	if p.pageZones == nil {
		return
	}
	for cta, lines := range l.CTAs {
		for _, n := range lines {
			line := &l.Lines[n]
			p.lines++
			if p.pageZones.Of(line.Number*stream.LineBytes, l.Buffers[line.Buffer]) == p.part[cta] {
				p.local++
			}
		}
	}
}

// chooseCodecs chooses the algorithms of buffers, from the lines that their first launch accesses: as they were before it, and again as they are
// after it if it writes them.
func (p *inferredParts) chooseCodecs(l *locality.Launch, list []*described) error {
	if l.Memory == nil {
		return fmt.Errorf("kernel %s: compressed lines need a recorder with data", l.Kernel.Name)
	}
	written := map[uint64]bool{}
	for number := range l.Memory.Written() {
		written[number] = true
	}
	for _, line := range l.Lines {
		d := p.known[l.Buffers[line.Buffer]]
		if d == nil || d.launch != p.launches {
			continue
		}
		var data codec.Line
		if l.Memory.Begin(line.Number, (*stream.Line)(&data)) {
			d.count(&data)
		}
		if written[line.Number] && l.Memory.Now(line.Number, (*stream.Line)(&data)) {
			d.count(&data)
		}
	}
	for _, d := range list {
		best := codec.BDI
		for _, c := range cabaCodecs {
			if d.bursts[c] < d.bursts[best] {
				best = c
			}
		}
		if float64(d.raw-d.bursts[best]) >= minCodecSavings*float64(d.raw) && d.raw > 0 {
			d.codec = best
		}
	}
	return nil
}

// count counts the bursts of a line.
func (d *described) count(line *codec.Line) {
	d.raw += codec.LineBursts
	for _, c := range cabaCodecs {
		bytes, _ := c.Size(line)
		d.bursts[c] += int64(codec.Bursts(bytes))
	}
}

// form returns the bytes of the form of a line.
func (p *inferredParts) form(number uint64, line *codec.Line) int {
	d, addr := p.last, number*codec.LineBytes
	if d == nil || addr-d.buffer.Base >= d.buffer.Bytes {
		d = nil
		for _, of := range slices.Backward(p.buffers) {
			if addr-of.buffer.Base < of.buffer.Bytes {
				d = of
				break
			}
		}
	}
	if d == nil || d.codec == codec.Count {
		return codec.LineBytes
	}
	p.last = d
	bytes, _ := d.codec.Size(line)
	return bytes
}

// dispatcher returns the groups of the launch, in each zone if pages have zones; nil if CTAs share no data and have no zones.
func (p *inferredParts) dispatcher(r *machine.Run) *dispatch.Policy {
	shape := locality.Clusters(r.Grid, p.current, r.SMs)
	if p.pageZones != nil {
		part := p.part
		return &dispatch.Policy{Name: p.name, Doc: "groups of CTAs in the zones of their data", New: func(l *dispatch.Launch) dispatch.Dispatcher {
			return dispatch.NewZoneGroups(l, shape, p.n, part)
		}}
	}
	if shape == ptx.Dim(1) {
		return nil
	}
	return dispatch.Clusters(shape)
}

package profile

// This file writes profiles for pprof (https://github.com/google/pprof).

import (
	"slices"

	"github.com/google/pprof/profile"

	"gemu/ptx"
)

// sampleTypes are the values of a sample, the default first.
var sampleTypes = []struct {
	name, unit string
	of         func(c *Counts) int64
}{
	{"instructions", "count", func(c *Counts) int64 { return c.Execs }},
	{"lanes", "count", func(c *Counts) int64 { return c.Lanes }},
	{"divergent", "count", func(c *Counts) int64 { return c.Divergent }},
	{"requests", "count", func(c *Counts) int64 {
		return c.Global.Requests + c.Local.Requests + c.Shared.Requests + c.Constant.Requests + c.Texture
	}},
	{"sectors", "count", (*Counts).Sectors},
	{"excess", "count", (*Counts).Excess},
	{"conflicts", "count", (*Counts).Conflicts},
}

// Pprof is the profile as pprof has it. A sample is an instruction where a sequence of calls leads to it, a
// location an instruction of the PTX with its line of the source, and the lines where that was inlined;
// with listing, its line of the PTX. The values are counts: instructions of warps, lanes that executed
// them, executions of branches that diverged, requests to memory, sectors, sectors in excess
// of the necessary number, conflicts.
func (p *Profile) Pprof(listing bool) *profile.Profile {
	b := newPprofBuilder()
	b.listing = listing
	if p.Err != nil {
		b.out.Comments = []string{"the launch did not run to its end: " + p.Err.Error()}
	}
	for _, r := range p.Roots {
		b.node(r, nil)
	}
	return b.out
}

// pprofBuilder builds a pprof profile.
type pprofBuilder struct {
	listing   bool
	out       *profile.Profile
	functions map[Frame]*profile.Function // by name and file
	locations map[*ptx.Instr]*profile.Location
}

func newPprofBuilder() *pprofBuilder {
	b := &pprofBuilder{out: &profile.Profile{PeriodType: &profile.ValueType{Type: "instructions", Unit: "count"}, Period: 1}, functions: map[Frame]*profile.Function{}, locations: map[*ptx.Instr]*profile.Location{}}
	for _, t := range sampleTypes {
		b.out.SampleType = append(b.out.SampleType, &profile.ValueType{Type: t.name, Unit: t.unit})
	}
	b.out.DefaultSampleType = sampleTypes[0].name
	return b
}

// LineCounts are the counts of a kernel at a line.
type LineCounts struct {
	Module  string  // name of the kernel's module
	Kernel  string  // name of the kernel
	Process string  // process of the launches
	File    string  // file of the line
	Line    int     // number of the line, from 1
	Counts  *Counts // of all instructions of the line
}

// PprofOfLines is a profile of several processes as pprof has it. A sample is an element of lines with its process as the label
// "process"; its location is the line, in a function that is the kernel. The values are those of Profile.Pprof.
func PprofOfLines(lines []LineCounts) *profile.Profile {
	b := newPprofBuilder()
	type place struct {
		module string
		frame  Frame
	}
	locations := map[place]*profile.Location{}
	for _, l := range lines {
		at := place{l.Module, Frame{Function: l.Kernel, File: l.File, Line: l.Line}}
		location := locations[at]
		if location == nil {
			location = &profile.Location{
				ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping(l.Module), Address: uint64(l.Line) << 8,
				Line: []profile.Line{{Function: b.function(at.frame, 0), Line: int64(l.Line)}},
			}
			locations[at] = location
			b.out.Location = append(b.out.Location, location)
		}
		b.out.Sample = append(b.out.Sample, &profile.Sample{Location: []*profile.Location{location}, Value: valuesOf(l.Counts), Label: map[string][]string{"process": {l.Process}}})
	}
	return b.out
}

// valuesOf returns the values of a sample.
func valuesOf(c *Counts) (list []int64) {
	for _, t := range sampleTypes {
		list = append(list, t.of(c))
	}
	return list
}

// node adds the samples of a node. calls leads to it, the latest call first.
func (b *pprofBuilder) node(n *Node, calls []*profile.Location) {
	for i := range n.Counts {
		if n.Counts[i].Execs == 0 {
			continue
		}
		location := b.location(n.Func, n.fn.instrs[i])
		b.out.Sample = append(b.out.Sample, &profile.Sample{Location: append([]*profile.Location{location}, calls...), Value: valuesOf(&n.Counts[i])})
	}
	for _, c := range n.Children {
		b.node(c, append([]*profile.Location{b.location(n.Func, c.Site)}, calls...))
	}
}

// location returns the location of an instruction. Its address is the PTX line shifted left by 8 plus the
// column, so that the instructions of a line are in order.
func (b *pprofBuilder) location(f *ptx.Func, instr *ptx.Instr) *profile.Location {
	l := b.locations[instr]
	if l != nil {
		return l
	}
	l = &profile.Location{ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping(f.Module().Name), Address: uint64(instr.Pos.Line)<<8 | uint64(min(instr.Pos.Col, 255))}
	frames := Frames(f, instr, b.listing)
	for i, frame := range frames {
		start := 0
		if i == len(frames)-1 && frame.File == f.Module().Name {
			start = int(f.Pos.Line)
		}
		l.Line = append(l.Line, profile.Line{Function: b.function(frame, start), Line: int64(frame.Line), Column: int64(frame.Column)})
	}
	b.locations[instr] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

func (b *pprofBuilder) function(frame Frame, start int) *profile.Function {
	key := Frame{Function: frame.Function, File: frame.File}
	f := b.functions[key]
	if f == nil {
		f = &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: frame.Function, SystemName: frame.Function, Filename: frame.File, StartLine: int64(start)}
		b.functions[key] = f
		b.out.Function = append(b.out.Function, f)
	}
	return f
}

// mapping returns the mapping of a module, marked as fully symbolised.
func (b *pprofBuilder) mapping(module string) *profile.Mapping {
	if i := slices.IndexFunc(b.out.Mapping, func(m *profile.Mapping) bool { return m.File == module }); i >= 0 {
		return b.out.Mapping[i]
	}
	m := &profile.Mapping{ID: uint64(len(b.out.Mapping) + 1), Limit: 1 << 48, File: module, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	b.out.Mapping = append(b.out.Mapping, m)
	return m
}

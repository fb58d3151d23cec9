package systems

import (
	"cmp"
	"slices"

	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/dispatch"
	"gemu/machine/locality"
	"gemu/ptx"
)

// localityParts are the Locality Descriptors of a machine.
type localityParts struct {
	all     []Locality // of all launches
	program *program   // where they come from for each launch; nil: all is given
	current []Locality // of the launch in progress, the greatest priority first

	treatment *locality.Treatment // of the lines of the launch's buffers
	buffers   int                 // number of buffers that the treatment has
}

// LocalityDescriptors returns the system with the descriptors of a file. It chooses the groups of CTAs (algorithm 1 of the thesis) and, by figure 17, the
// lines of the L1: data without reuse bypass it, data of a thread are pinned hard, irregular shared data are pinned softly. The
// prefetches of the figure need a clock.
func LocalityDescriptors(name string, list []Locality) *machine.System {
	return &machine.System{Name: name, New: func() machine.Parts { return (&localityParts{all: list}).parts() }}
}

// InferredLocality returns the system with descriptors that are inferred from the accesses of each launch.
func InferredLocality(name string) *machine.System {
	return &machine.System{Name: name, New: func() machine.Parts {
		p := &localityParts{}
		parts := p.parts()
		parts.Infer = func(l *locality.Launch, forms []locality.Form) error {
			p.all = Inferred(l, forms)
			return nil
		}
		return parts
	}}
}

func (p *localityParts) parts() machine.Parts {
	return machine.Parts{Begin: p.begin, Dispatcher: p.dispatcher, L1: p.l1, Prefetch: p.prefetch}
}

// ProgramLocality returns the system with the descriptors that the program gives: the host (SetHost), and pragmas of kernels.
func ProgramLocality(name string) *machine.System {
	return &machine.System{Name: name, New: func() machine.Parts {
		p := &localityParts{program: &program{name: name, want: "Locality Descriptor", word: localityPragma}}
		parts := p.parts()
		parts.Notices = p.program.notices
		return parts
	}}
}

// begin chooses the descriptors of a launch.
func (p *localityParts) begin(r *machine.Run) error {
	p.current, p.treatment = nil, nil
	var err error
	if p.program != nil {
		var f *File
		f, err = programFile(r)
		p.all = f.Locality
		p.program.launch(len(p.all), err)
	}
	for _, l := range p.all {
		if (l.Kernel == "" || l.Kernel == r.Kernel.Name) && (l.Grid == [3]int{} || l.Grid == r.Grid.Dims()) {
			p.current = append(p.current, l)
		}
	}
	slices.SortStableFunc(p.current, func(a, b Locality) int { return cmp.Compare(b.Priority, a.Priority) })
	return err
}

// descriptor returns the descriptor as package locality has it, without its buffer.
func (l *Locality) descriptor() locality.Descriptor {
	return locality.Descriptor{Element: max(l.Element, 1), Type: l.Type, Sharing: l.Sharing, Regular: l.Regular, Stride: l.Stride, DTile: tile(l.DTile), CTile: tile(l.CTile), Map: l.Map}
}

// dispatcher returns groups of CTAs in the shape of the descriptors; nil if no CTAs share data.
func (p *localityParts) dispatcher(r *machine.Run) *dispatch.Policy {
	var list []locality.Descriptor
	for i := range p.current {
		list = append(list, p.current[i].descriptor())
	}
	shape := locality.Clusters(r.Grid, list, r.SMs)
	if shape == ptx.Dim(1) {
		return nil
	}
	return dispatch.Clusters(shape)
}

// treat returns the treatment of the buffers that the launch has accessed so far.
func (p *localityParts) treat(r *machine.Run) *locality.Treatment {
	if p.treatment == nil || p.buffers != len(r.Buffers) {
		var list []locality.Descriptor
		for i := range p.current {
			for _, b := range r.Buffers {
				if p.current[i].is(b) {
					d := p.current[i].descriptor()
					d.Buffer = b
					list = append(list, d)
				}
			}
		}
		p.treatment, p.buffers = locality.NewTreatment(list), len(r.Buffers)
	}
	return p.treatment
}

func (p *localityParts) l1(r *machine.Run, s cache.Shape) cache.Policy {
	return cache.Pinned(s, func(a *cache.Access) cache.Priority { return p.treat(r).Priority(a) })
}

func (p *localityParts) prefetch(r *machine.Run, l1, resident int) func(line uint64) (next uint64, ok bool) {
	return func(line uint64) (next uint64, ok bool) { return p.treat(r).Prefetch(line, l1, resident) }
}

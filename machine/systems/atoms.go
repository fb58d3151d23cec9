package systems

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"gemu/machine"
	"gemu/machine/cache"
	"gemu/machine/dram"
	"gemu/machine/stream"
	"gemu/machine/xmem"
)

// atomParts are the atoms of a machine.
type atomParts struct {
	atoms    []Atom
	program  *program  // where they come from for each launch; nil: atoms are given
	active   []bool    // by atom
	fixed    []span    // units of the data that descriptors give by address, in ascending order, without overlaps
	spans    []span    // those, and the units of the data that the launch in progress has by name
	named    bool      // there are units of data by name
	buffers  int       // number of buffers of the launch in progress that are resolved
	bytes    []uint64  // mapped bytes, by atom
	share    []float64 // share of the lines of an atom that the L2 keeps
	run      *machine.Run
	capacity uint64 // bytes of the L2
	policy   *cache.Reserved
}

// span is units of xmem.Fine in a row that have the same atom. Its size does not depend on the number of units.
type span struct {
	first, last uint64 // numbers of units
	atom        int    // number of the atom
}

// Atoms returns XMem with atoms. The L2 keeps the active atoms with reuse, the greatest reuse first, as long as they fit in three quarters of
// it; of the atom that does not fit, a part of its lines (section 2.5; the share is a reading). Pages of regular atoms are in banks of
// their own (section 2.6), if the address map keeps a page in a bank.
func Atoms(name string, list []Atom) *machine.System {
	return &machine.System{Name: name, New: func() machine.Parts {
		p := &atomParts{}
		p.setAtoms(list)
		return machine.Parts{Begin: p.begin, L2: p.l2, Pages: p.pages()}
	}}
}

// ProgramAtoms returns XMem with the atoms that the program gives: the host (SetHost), and pragmas of kernels. They choose no frames of pages,
// because a page may have a frame before the launch whose kernel describes it.
func ProgramAtoms(name string) *machine.System {
	return &machine.System{Name: name, New: func() machine.Parts {
		p := &atomParts{program: &program{name: name, want: "atom", word: atomPragma}}
		return machine.Parts{Begin: p.begin, L2: p.l2, Notices: p.program.notices}
	}}
}

// setAtoms sets the atoms, none of which is active.
func (p *atomParts) setAtoms(list []Atom) {
	p.atoms, p.spans = list, nil
	p.active, p.bytes, p.share = make([]bool, len(list)), make([]uint64, len(list)), make([]float64, len(list))
	for i := range list {
		for k := range list[i].Map {
			if r := &list[i].Map[k]; r.Base != 0 && (r.Bytes != 0 || r.Width != 0) {
				p.add(i, r.ranges(r.Base, r.Bytes))
			}
		}
	}
	p.fixed = p.spans
}

// add maps ranges, in ascending order, to an atom. A unit has a single atom: that of the latest map.
func (p *atomParts) add(atom int, ranges []xmem.Range) {
	var list []span
	old, next := p.spans, uint64(0) // next is the first unit whose atom is not in the list
	copyUpTo := func(end uint64) {
		for ; len(old) > 0 && old[0].first < end; old = old[1:] {
			s := old[0]
			s.first, s.last = max(s.first, next), min(s.last, end-1)
			if s.first <= s.last {
				list = append(list, s)
			}
			if old[0].last >= end {
				return
			}
		}
	}
	for _, r := range ranges {
		if r.Bytes == 0 {
			continue
		}
		s := span{max(r.Start/xmem.Fine.UnitBytes, next), (r.Start + r.Bytes - 1) / xmem.Fine.UnitBytes, atom}
		if s.first > s.last { // the range before it has the unit
			continue
		}
		copyUpTo(s.first)
		list, next = append(list, s), s.last+1
	}
	copyUpTo(math.MaxUint64)
	p.set(list)
}

// set sets the units of atoms.
func (p *atomParts) set(list []span) {
	p.spans = list
	clear(p.bytes)
	for _, s := range list {
		p.bytes[s.atom] += (s.last - s.first + 1) * xmem.Fine.UnitBytes
	}
}

// begin makes atoms active, and chooses the data that the L2 keeps. Buffers of the launch before may be freed, and others at their addresses:
// data by name are mapped again by the first access of the launch to their buffer.
func (p *atomParts) begin(r *machine.Run) error {
	changed := p.named
	var err error
	if p.program != nil {
		var f *File
		f, err = programFile(r)
		p.program.launch(len(f.Atoms), err)
		if !reflect.DeepEqual(f.Atoms, p.atoms) { // the L2 keeps the lines of atoms that stay as they are
			p.setAtoms(f.Atoms)
			changed = true
		}
	}
	if p.named {
		p.set(p.fixed)
	}
	p.run, p.buffers, p.named = r, 0, false
	for i := range p.atoms {
		active := len(p.atoms[i].Kernels) == 0 || slices.Contains(p.atoms[i].Kernels, r.Kernel.Name)
		changed = changed || active != p.active[i]
		p.active[i] = active
	}
	if changed {
		p.choose()
	}
	return err
}

// choose sets the shares of the atoms in the L2.
func (p *atomParts) choose() {
	var order []int
	for i := range p.atoms {
		if p.share[i] = 0; p.active[i] && p.atoms[i].Reuse > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.atoms[b].Reuse, p.atoms[a].Reuse), cmp.Compare(p.bytes[a], p.bytes[b]))
	})
	budget := xmem.PinnedShare * float64(p.capacity)
	for _, i := range order {
		if size := float64(p.bytes[i]); size > budget {
			p.share[i] = budget / size
			break
		} else {
			p.share[i], budget = 1, budget-size
		}
	}
	if p.policy != nil {
		p.policy.Release()
	}
}

// of returns the number of the active atom of an address; -1 if there is none.
func (p *atomParts) of(addr uint64) int {
	unit := addr / xmem.Fine.UnitBytes
	i, _ := slices.BinarySearchFunc(p.spans, unit, func(s span, unit uint64) int { return cmp.Compare(s.last, unit) })
	if i == len(p.spans) || unit < p.spans[i].first || !p.active[p.spans[i].atom] {
		return -1
	}
	return p.spans[i].atom
}

// resolve maps the data that name a buffer.
func (p *atomParts) resolve(b stream.Buffer) {
	found := false
	for i := range p.atoms {
		for k := range p.atoms[i].Map {
			if r := &p.atoms[i].Map[k]; r.is(b) && (r.Base == 0 || r.Bytes == 0 && r.Width == 0) {
				base := max(r.Base, b.Base)
				p.add(i, r.ranges(base, b.Base+b.Bytes-base))
				found = true
			}
		}
	}
	if found {
		p.named = true
		p.choose()
	}
}

// l2 returns the policy of the L2.
func (p *atomParts) l2(s cache.Shape) cache.Policy {
	p.capacity = uint64(s.Sets) * uint64(s.Ways) * stream.LineBytes
	p.policy = cache.NewReserved(s, func(a *cache.Access) bool {
		for ; p.buffers < len(p.run.Buffers); p.buffers++ {
			p.resolve(p.run.Buffers[p.buffers])
		}
		atom := p.of(a.Line * stream.LineBytes)
		return atom >= 0 && xmem.Kept(a.Line, p.share[atom])
	})
	return p.policy
}

// frames are the frames of the pages of atoms.
type frames struct {
	*atomParts
	dram.Placement
}

// pages returns the frames of pages, as xmem.Placement chooses them by pattern and intensity. A map that spreads each page over banks leaves no choice.
func (p *atomParts) pages() *dram.Policy {
	return &dram.Policy{Name: "xmem", Doc: "the banks of the page's atom", New: func(s *dram.Spec, m *dram.Map) dram.Placement {
		plain := *s
		plain.Policy = nil
		base := dram.NewPages(plain)
		if !xmem.KeepsPages(m, s.PageBytes) {
			return base
		}
		var list []xmem.Atom
		for i := range p.atoms {
			a := &p.atoms[i]
			list = append(list, xmem.Atom{Base: uint64(i), Bytes: 1, Regular: a.Pattern == Regular && uint64(max(a.Stride, -a.Stride)) < m.RowBytes, Accesses: int64(a.Intensity) + 1})
		}
		return &frames{p, xmem.NewPlacement(list, m, s.PageBytes, base)}
	}}
}

// Frame returns the frame of a page for the last atom with data in its buffer, active or not.
func (f *frames) Frame(page uint64, of *dram.Structure) uint64 {
	atom := -1
	for i := range f.atoms {
		if slices.ContainsFunc(f.atoms[i].Map, func(r Range) bool { return r.is(stream.Buffer(*of)) }) {
			atom = i
		}
	}
	if atom < 0 {
		return f.Placement.Frame(page, &dram.Structure{})
	}
	return f.Placement.Frame(page, &dram.Structure{Base: uint64(atom), Bytes: 1})
}

package profile

// This file is where instructions come from: lines of the source, and the functions that were inlined
// there.

import (
	"cmp"
	"slices"

	"gemu/ptx"
)

// Frame is a place in a function of the source. Without .loc it is one of the PTX.
type Frame struct {
	Function string // as the linker knows it; of what was inlined, as its .loc has it
	File     string
	Line     int
	Column   int
}

// Frames are where an instruction comes from, innermost first: what was inlined, where (manual 11.5.4),
// and so on to the function that it is in. With listing it is the place in the PTX.
func Frames(f *ptx.Func, instr *ptx.Instr, listing bool) []Frame {
	m := f.Module()
	if listing || instr.Loc < 0 || f.Locs[instr.Loc].Line <= 0 {
		return []Frame{{f.Name, m.Name, int(instr.Pos.Line), int(instr.Pos.Col)}}
	}
	var list []Frame
	for l := &f.Locs[instr.Loc]; ; {
		name := f.Name
		if l.Function != "" {
			name = cmp.Or(m.DebugString(l.Function), l.Function)
		}
		list = append(list, Frame{name, m.FileName(l.File), int(l.Line), int(l.Col)})
		if l.Function == "" {
			return list
		}
		// Where it was inlined may be in something that was inlined.
		at := ptx.Loc{File: l.AtFile, Line: l.AtLine, Col: l.AtCol}
		i := slices.IndexFunc(f.Locs, func(o ptx.Loc) bool {
			return o.File == at.File && o.Line == at.Line && o.Col == at.Col && o.Function != ""
		})
		if i >= 0 && len(list) < len(f.Locs) {
			l = &f.Locs[i]
		} else {
			l = &at
		}
	}
}

// Line is what the instructions of a line have done.
type Line struct {
	File string
	Line int
	Counts
	Instrs []Instr // in the order of the functions and of the source
}

// Lines adds up by line of the source, innermost where something was inlined, or of the PTX. They
// are in the order of files as they are reached, and of lines.
func (p *Profile) Lines(listing bool) []*Line {
	type place struct {
		file string
		line int
	}
	var list []*Line
	byPlace := map[place]*Line{}
	files := map[string]int{}
	for _, f := range p.Functions() {
		for i := range f.Instrs {
			in := &f.Instrs[i]
			from := Frames(f.Func, in.Instr, listing)[0]
			key := place{from.File, from.Line}
			l := byPlace[key]
			if l == nil {
				l = &Line{File: from.File, Line: from.Line}
				byPlace[key] = l
				list = append(list, l)
				if _, ok := files[from.File]; !ok {
					files[from.File] = len(files)
				}
			}
			l.Add(&in.Counts)
			l.Instrs = append(l.Instrs, *in)
		}
	}
	slices.SortStableFunc(list, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line))
	})
	return list
}

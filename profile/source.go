package profile

// This file finds the source of instructions: lines, and inlined functions.

import (
	"cmp"
	"slices"

	"gemu/ptx"
)

// Frame is a position in a function of the source, or of the PTX if there is no .loc.
type Frame struct {
	Function string // linker name; for an inlined function, the name in .loc
	File     string // source file in .file, or name of the module; "" if .file is missing
	Line     int    // from 1
	Column   int    // from 1; 0 if .loc has no column
}

// Frames returns the positions of an instruction, innermost first: the inlined function, its inlining position
// (manual 11.5.4), and so on to the instruction's function. If listing is set, it returns the position in the PTX.
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
		// The inlining position may be inlined itself.
		at := ptx.Loc{File: l.InlinedAtFile, Line: l.InlinedAtLine, Col: l.InlinedAtCol}
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

// Line holds the counts of a source line.
type Line struct {
	File string // as Frame.File
	Line int    // from 1
	Counts
	Instrs []Instr // in the order of functions and of the source
}

// Lines adds up the counts by source line, or by line of the PTX if listing is set. Inlined code counts for the innermost
// line. Files are in the order of their first instruction in Functions, lines ascending.
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

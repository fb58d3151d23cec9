package ptx

// This file finds the loops of a function, and how they are nested.

import (
	"cmp"
	"slices"
)

// Loop is a loop of a function: blocks each of which is reached from each other without
// leaving them.
type Loop struct {
	Headers []*Block // where control enters it, in the order of the source: one, unless the loop is irreducible
	Blocks  []*Block // in the order of the source, those of loops within it too
	Parent  *Loop    // the loop that it is in; nil if there is none
	Depth   int      // from 1 on
}

// Has reports whether a block is in the loop.
func (l *Loop) Has(b *Block) bool {
	_, ok := slices.BinarySearchFunc(l.Blocks, b, func(a, b *Block) int { return cmp.Compare(a.Index, b.Index) })
	return ok
}

// Loops lists the loops, an outer one before those within it, and else in the order of the source.
// They are the strongly connected components of the graph, and again those of what is left of each
// without its headers (Steensgaard, "Sequentializing program dependence graphs for irreducible
// programs", 1993): where control enters loops at one place only, these are the natural loops, those
// of one header as one.
func (f *Func) Loops() []*Loop {
	var list []*Loop
	var find func(parent *Loop, in func(b *Block) bool)
	find = func(parent *Loop, in func(b *Block) bool) {
		for _, blocks := range f.loops(in) {
			l := &Loop{Blocks: blocks, Parent: parent, Depth: 1}
			if parent != nil {
				l.Depth = parent.Depth + 1
			}
			slices.SortFunc(blocks, func(a, b *Block) int { return cmp.Compare(a.Index, b.Index) })
			for _, b := range blocks {
				if b.Index == 0 || slices.ContainsFunc(b.Preds, func(p *Block) bool { return !l.Has(p) }) {
					l.Headers = append(l.Headers, b)
				}
			}
			if len(l.Headers) == 0 { // control does not get there
				l.Headers = blocks[:1]
			}
			list = append(list, l)
			find(l, func(b *Block) bool { return l.Has(b) && !slices.Contains(l.Headers, b) })
		}
	}
	find(nil, func(*Block) bool { return true })
	slices.SortStableFunc(list, func(a, b *Loop) int {
		return cmp.Or(cmp.Compare(a.Blocks[0].Index, b.Blocks[0].Index), cmp.Compare(a.Depth, b.Depth))
	})
	return list
}

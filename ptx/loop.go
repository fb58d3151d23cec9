package ptx

// This file finds the loops of a function and their nesting.

import (
	"cmp"
	"slices"
)

// Loop is a loop of a function: a set of blocks, each of which can be reached from each other one within the set.
type Loop struct {
	Headers []*Block // blocks where control enters the loop, in source order; more than one if the loop is irreducible
	Blocks  []*Block // blocks in source order, including nested loops
	Parent  *Loop    // the enclosing loop; nil if there is none
	Depth   int      // nesting depth, from 1
}

// Has reports whether a block is in the loop.
func (l *Loop) Has(b *Block) bool {
	_, ok := slices.BinarySearchFunc(l.Blocks, b, func(a, b *Block) int { return cmp.Compare(a.Index, b.Index) })
	return ok
}

// Loops returns the loops in source order, an outer loop before its nested loops. They are the strongly connected
// components of the graph and, recursively, of each component without its headers (Steensgaard, "Sequentializing
// program dependence graphs for irreducible programs", 1993). If control enters a loop at a single place, this is the
// natural loop; natural loops with the same header are merged.
func (f *Func) Loops() []*Loop {
	var list []*Loop
	var find func(parent *Loop, included func(b *Block) bool)
	find = func(parent *Loop, included func(b *Block) bool) {
		for _, blocks := range f.loops(included) {
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
			if len(l.Headers) == 0 { // unreachable
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

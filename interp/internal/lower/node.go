package lower

// This file is what analyses of selected code go by: its instructions with the rows they read and write.

import "gemu/interp/internal/code"

// node is an instruction of a block with the rows it reads and writes.
type node struct {
	*code.Instr
	sig           *code.Signature
	block         int
	reads, writes []code.Row
	spacing       Spacing // of what it writes
}

// collect lists the instructions of blocks, in order.
func (d *draft) collect() {
	var rows []code.Row
	d.nodes, d.firsts = nil, nil
	for b := range d.blocks {
		d.firsts = append(d.firsts, len(d.nodes))
		for i := range d.blocks[b].instrs {
			in := &d.blocks[b].instrs[i]
			start := len(rows)
			rows = d.tables.Reads(rows, in)
			mid := len(rows)
			rows = d.tables.Writes(rows, in)
			d.nodes = append(d.nodes, node{Instr: in, sig: in.Op.Signature(), block: b, reads: rows[start:mid:mid], writes: rows[mid:len(rows):len(rows)]})
		}
	}
	d.firsts = append(d.firsts, len(d.nodes))
}

// nodesOf is those of block b.
func (d *draft) nodesOf(b int) []node { return d.nodes[d.firsts[b]:d.firsts[b+1]] }

// accessed is what a memory instruction accesses.
func (d *draft) accessed(in *node) *code.Access { return &d.tables.Access[in.Side] }

// successors lists the blocks that control can go to from block i.
func (d *draft) successors(i int) []int32 {
	b := &d.blocks[i]
	return d.tables.Successors(nil, &b.Block, &b.end)
}

// elsewhere calls f for what is written otherwise than by an instruction of a block: parameters and results of
// calls, results of barriers.
func (d *draft) elsewhere(f func(o code.Row)) {
	places := func(list []code.Place) {
		for _, p := range list {
			if p.Slot != code.NoSlot {
				f(code.Row{Slot: p.Slot, Row: p.Row})
			}
		}
	}
	places(d.fn.Formals)
	places(d.fn.Results)
	for i := range d.blocks {
		for _, r := range d.tables.Writes(nil, &d.blocks[i].end) {
			f(r)
		}
	}
}

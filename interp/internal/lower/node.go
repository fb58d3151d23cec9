package lower

// This file prepares selected code for the passes space and plan: it lists its instructions with the rows that they read
// and write.

import (
	"gemu/affinetrack"
	"gemu/interp/internal/code"
)

// node is an instruction of a block with the rows it reads and writes.
type node struct {
	*code.Instr
	sig           *code.Signature
	block         int                 // index of its block
	reads, writes []code.Row          // without its guard and constants
	spacing       affinetrack.Spacing // spacing of its results
}

// collectNodes sets nodes and firstNode: the instructions of all blocks, in order.
func (d *draft) collectNodes() {
	var rows []code.Row
	d.nodes, d.firstNode = nil, nil
	for b := range d.blocks {
		d.firstNode = append(d.firstNode, len(d.nodes))
		for i := range d.blocks[b].instrs {
			instr := &d.blocks[b].instrs[i]
			start := len(rows)
			rows = d.tables.Reads(rows, instr)
			mid := len(rows)
			rows = d.tables.Writes(rows, instr)
			d.nodes = append(d.nodes, node{Instr: instr, sig: instr.Op.Signature(), block: b, reads: rows[start:mid:mid], writes: rows[mid:len(rows):len(rows)]})
		}
	}
	d.firstNode = append(d.firstNode, len(d.nodes))
}

// nodesOf returns the instructions of block b.
func (d *draft) nodesOf(b int) []node { return d.nodes[d.firstNode[b]:d.firstNode[b+1]] }

// nodeAccess returns the access of a memory instruction.
func (d *draft) nodeAccess(instr *node) *code.Access { return &d.tables.Access[instr.Side] }

// successors returns the indices of the blocks that control can reach from the end of block i.
func (d *draft) successors(i int) []int32 {
	b := &d.blocks[i]
	return d.tables.Successors(nil, &b.Block, &b.end)
}

// eachOtherWrite calls visit for the rows that change outside the nodes: rows of the function's parameters and results,
// and rows that a call or a barrier writes at the end of a block.
func (d *draft) eachOtherWrite(visit func(row code.Row)) {
	places := func(list []code.ParamPlace) {
		for _, p := range list {
			if p.Slot != code.NoSlot {
				visit(code.Row{Slot: p.Slot, Row: p.Row})
			}
		}
	}
	places(d.fn.Formals)
	places(d.fn.Results)
	for i := range d.blocks {
		for _, r := range d.tables.Writes(nil, &d.blocks[i].end) {
			visit(r)
		}
	}
}

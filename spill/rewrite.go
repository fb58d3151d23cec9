package spill

// This file applies a plan to the function.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gemu/ptx"
)

// rewriter rewrites a function.
type rewriter struct {
	*plan
	depot  string // name of the variable in local memory
	prefix string // prefix of register names
	ids    map[string]ptx.RegID
	regs   []ptx.Reg
	preds  []ptx.RegID  // by register of the source: its new number, if it is a predicate
	memory []*ptx.Instr // remaining loads and stores of slots, in order
}

// letters begin the names of physical registers, by width in bits.
var letters = map[int]string{8: "b", 16: "h", 32: "r", 64: "d", 128: "q"}

var untypedBits = map[int]ptx.Type{8: ptx.B8, 16: ptx.B16, 32: ptx.B32, 64: ptx.B64, 128: ptx.B128}

// name returns the register name of a web: its width, and the numbers of its physical registers. Names that share a
// number share that physical register.
func (r *rewriter) name(w int32) string {
	s := r.prefix + letters[r.bits(r.variableOf[w])]
	for i, u := range r.units[w] {
		if i > 0 {
			s += "_"
		}
		s += fmt.Sprint(u)
	}
	return s
}

// choose selects names that do not occur in the function.
func (r *rewriter) choose() {
	taken := r.taken()
	clash := func(with func(name string) bool) bool { return slices.ContainsFunc(taken, with) }
	r.prefix, r.depot = "%", "__spill_depot"
	for clash(func(name string) bool {
		rest, ok := strings.CutPrefix(name, r.prefix)
		return ok && len(rest) > 1 && strings.IndexByte("bhrdq", rest[0]) >= 0 && rest[1] >= '0' && rest[1] <= '9'
	}) {
		r.prefix += "_"
	}
	for clash(func(name string) bool { return name == r.depot }) {
		r.depot = "_" + r.depot
	}
}

// taken returns the names in the function that new registers and variables must not have.
func (r *rewriter) taken() (list []string) {
	for _, reg := range r.f.Regs {
		if reg.Type == ptx.Pred {
			list = append(list, reg.Name)
		}
	}
	for _, vars := range [][]*ptx.Var{r.f.Rets, r.f.Params, r.f.Vars, r.f.Module().Vars()} {
		for _, v := range vars {
			list = append(list, v.Name)
		}
	}
	for _, b := range r.f.Blocks {
		list = append(list, b.Labels...)
	}
	for _, t := range r.f.Tables {
		list = append(list, t.Name)
	}
	return list
}

// rewrite changes the function. The analysis is invalid afterwards.
func (p *plan) rewrite() error {
	r := &rewriter{plan: p, ids: map[string]ptx.RegID{}}
	r.choose()
	r.declare()
	if err := r.writeMemory(); err != nil {
		return err
	}
	bodies := make([][]*ptx.Instr, len(p.webs.blocks))
	for b := range p.webs.blocks {
		for i := range p.webs.blocks[b].ops {
			bodies[b] = r.instr(bodies[b], &p.webs.blocks[b].ops[i], b)
		}
	}
	for b, body := range bodies {
		p.f.Blocks[b].Instrs = body
	}
	p.f.Regs = r.regs
	return nil
}

// declare declares the registers: the old predicates, and the registers of webs.
func (r *rewriter) declare() {
	r.preds = make([]ptx.RegID, len(r.f.Regs))
	for i, reg := range r.f.Regs {
		if reg.Type == ptx.Pred {
			r.preds[i] = ptx.RegID(len(r.regs))
			r.regs = append(r.regs, reg)
		}
	}
	webs := make([]int32, len(r.variableOf))
	for w := range webs {
		webs[w] = int32(w)
	}
	slices.SortStableFunc(webs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.bits(r.variableOf[a]), r.bits(r.variableOf[b])), slices.Compare(r.units[a], r.units[b]))
	})
	for _, w := range webs {
		name := r.name(w)
		if _, ok := r.ids[name]; !ok {
			r.ids[name] = ptx.RegID(len(r.regs))
			r.regs = append(r.regs, ptx.Reg{Name: name, Type: untypedBits[r.bits(r.variableOf[w])]})
		}
	}
}

// writeMemory creates the loads and stores of slots, and the variable that contains the slots.
func (r *rewriter) writeMemory() error {
	if r.bytes == 0 {
		return nil
	}
	var body strings.Builder
	r.each(func(o *op) {
		if o.instr == nil && r.rematerialization[r.variableOf[o.reloads]] == nil {
			fmt.Fprintf(&body, "\tld.local.b%d %s, [%s+%d];\n", r.bits(r.variableOf[o.reloads]), r.name(o.reloads), r.depot, r.slots[r.variableOf[o.reloads]])
		}
		for _, w := range o.stores {
			fmt.Fprintf(&body, "\tst.local.b%d [%s+%d], %s;\n", r.bits(r.variableOf[w]), r.depot, r.slots[r.variableOf[w]], r.name(w))
		}
	})
	m := r.f.Module()
	var src strings.Builder
	fmt.Fprintf(&src, ".version %s\n.target %s\n.address_size %d\n.entry k()\n{\n", m.Version, strings.Join(m.Target, ", "), m.AddressSize)
	fmt.Fprintf(&src, "\t.local .align %d .b8 %s[%d];\n", 16, r.depot, r.bytes)
	for _, reg := range r.regs {
		if reg.Type != ptx.Pred {
			fmt.Fprintf(&src, "\t.reg %s %s;\n", reg.Type, reg.Name)
		}
	}
	src.WriteString(body.String() + "}\n")
	spillCode, err := ptx.ParseString(m.Name, src.String())
	if err != nil {
		return fmt.Errorf("BUG: the spill code of %s is not valid PTX: %w", r.f.Name, err)
	}
	k := spillCode.Kernels()[0]
	r.f.Vars = append(r.f.Vars, k.Vars...)
	k.EachInstr(func(instr *ptx.Instr) {
		registers(instr, func(reg *ptx.RegID, _ ptx.Access) {
			if *reg != ptx.NoReg {
				*reg = r.ids[k.Regs[*reg].Name]
			}
		})
		r.memory = append(r.memory, instr)
	})
	return nil
}

// instr appends the instructions for an operation.
func (r *rewriter) instr(body []*ptx.Instr, o *op, b int) []*ptx.Instr {
	switch {
	case o.removed:
		return body
	case o.instr == nil:
		at := r.instrBefore(b, o.index)
		if list := r.rematerialization[r.variableOf[o.reloads]]; list != nil {
			for _, instr := range list {
				body = append(body, r.rematerialize(instr, r.ids[r.name(o.reloads)], at))
			}
			return body
		}
		return append(body, r.next(at, false))
	}
	to, from, moves := o.move(r.webs)
	if moves && len(o.stores) == 0 && r.name(to) == r.name(from) {
		r.moves++
		return body
	}
	i := 0
	written := false // the instruction writes its guard
	registers(o.instr, func(reg *ptx.RegID, access ptx.Access) {
		if r.f.Regs[*reg].Type == ptx.Pred {
			written = written || *reg == o.instr.Guard.Reg && access&ptx.Write != 0
			*reg = r.preds[*reg]
			return
		}
		*reg = r.ids[r.name(o.refs[i].v)]
		i++
	})
	if o.instr.Guard.Reg != ptx.NoReg {
		o.instr.Guard.Reg = r.preds[o.instr.Guard.Reg]
	}
	body = append(body, o.instr)
	for range o.stores {
		body = append(body, r.next(o.instr, !written))
	}
	return body
}

// instrBefore returns the instruction before which a reload is inserted. In an empty block it returns the last
// preceding instruction.
func (r *rewriter) instrBefore(b, index int) *ptx.Instr {
	for ; b >= 0; b-- {
		if list := r.f.Blocks[b].Instrs; len(list) > 0 {
			return list[min(index, len(list)-1)]
		}
		index = math.MaxInt
	}
	return &ptx.Instr{Pos: r.f.Pos, Loc: -1}
}

// next returns the next load or store of a slot, with the source place of instruction at and, if guarded, its guard.
func (r *rewriter) next(at *ptx.Instr, guarded bool) *ptx.Instr {
	instr := r.memory[0]
	r.memory = r.memory[1:]
	instr.Pos, instr.Loc = at.Pos, at.Loc
	if guarded {
		instr.Guard = at.Guard
	}
	return instr
}

// rematerialize returns an instruction that recomputes a value in a register.
func (r *rewriter) rematerialize(instr *ptx.Instr, to ptx.RegID, at *ptx.Instr) *ptx.Instr {
	c := *instr
	c.Pos, c.Loc = at.Pos, at.Loc
	c.Ops = slices.Clone(instr.Ops)
	for i := range c.Ops {
		if c.Ops[i].Kind == ptx.RegOperand {
			c.Ops[i].Reg = to
		}
	}
	return &c
}

package code

// This file prints programs, as an assembly listing.

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gemu/ptx"
)

// Print writes the program as a listing. It begins with the instructions that a launch executes before it begins. Then the
// functions follow: for each the storage of its registers, then its blocks, in which the lowered instructions of a PTX
// instruction follow it. The text after a semicolon says how an instruction may execute on compact operands (compact,
// proved, or after materialising them), and what is proved of the addresses of an access (same address, contiguous, or
// strided).
//
// PTX registers have their names. r, q and p with a number are temporaries: rows of 32-bit slots, rows of 64-bit slots and
// predicates.
func (p *Program) Print(w io.Writer) error {
	out := bufio.NewWriter(w)
	if p.HasOrdered {
		fmt.Fprintln(out, "CTAs execute globally ordered instructions in order")
	}
	if len(p.Fixed) > 0 {
		fmt.Fprintln(out, "\nlaunch:")
		l := p.listing(p.Funcs[0])
		for i := range p.Fixed {
			fmt.Fprintf(out, "          %s\n", l.text(&p.Fixed[i].Instr))
		}
	}
	for _, f := range p.Funcs {
		if f.Err != nil {
			fmt.Fprintf(out, "\nfunction %s: %v\n", f.Name, f.Err)
			continue
		}
		p.function(out, f)
	}
	return out.Flush()
}

// function writes the listing of a function.
func (p *Program) function(w io.Writer, f *Func) {
	fmt.Fprintf(w, "\nfunction %s: rows %d r, %d q, %d p; %d words of local memory\n", f.Name, f.Frame.R, f.Frame.Q, f.Frame.P, f.Local)
	for i, loc := range f.Regs {
		if loc.Slot == NoSlot {
			continue
		}
		place := fmt.Sprintf("%s%d", loc.Slot, loc.Row)
		switch {
		case loc.Row < 0:
			place = "constant"
		case loc.Wide:
			place += fmt.Sprintf(" and %s%d", loc.Slot, loc.High)
		}
		kept := f.KeepingOf(Row{loc.Slot, loc.Row}).String()
		if loc.Row < 0 {
			kept = StorageFixed.String()
		}
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(fmt.Sprintf("%-12s %-10s %s", f.Func.Regs[i].Name, place, kept), " "))
	}
	l := p.listing(f)
	for i := f.Blocks.First; i < f.Blocks.End; i++ {
		b := &p.Blocks[i]
		fmt.Fprintf(w, "b%d:", i)
		if b.Caution&GloballyOrdered != 0 {
			fmt.Fprint(w, " globally ordered")
		}
		fmt.Fprintln(w)
		pc := b.First
		for s := b.Sources.First; s < b.Sources.End; s++ {
			src := &p.Sources[s]
			fmt.Fprintf(w, "  %4d  %s\n", src.Pos.Line, src.Format(f.Func))
			for ; pc < b.Last && p.Instrs[pc].Src == s; pc++ {
				fmt.Fprintf(w, "          %s\n", l.text(&p.Instrs[pc]))
			}
		}
		fmt.Fprintf(w, "          %s%s\n", l.guard(p.End(b)), l.end(b))
	}
}

func (k Storage) String() string {
	switch {
	case k&StorageFixed != 0:
		return "of the launch"
	case k&StorageProved != 0 && k&StorageBoth != 0:
		return "proved, in lanes too"
	case k&StorageProved != 0:
		return "proved"
	case k&StorageBoth != 0:
		return "compact, in lanes too"
	case k&StorageShadow != 0:
		return "compact"
	}
	return ""
}

// listing formats the instructions of a function.
type listing struct {
	*Program
	fn    *Func
	names map[Row][]ptx.RegID // registers in each row, of which at most one is live at an instruction
}

// listing returns the listing of a function.
func (p *Program) listing(f *Func) *listing {
	l := &listing{p, f, map[Row][]ptx.RegID{}}
	for i, loc := range f.Regs {
		if loc.Slot != NoSlot {
			l.names[Row{loc.Slot, loc.Row}] = append(l.names[Row{loc.Slot, loc.Row}], ptx.RegID(i))
			if loc.Wide {
				l.names[Row{loc.Slot, loc.High}] = append(l.names[Row{loc.Slot, loc.High}], ptx.RegID(i))
			}
		}
	}
	return l
}

// row returns the name of a row at the PTX instruction with index source: of the register that is live in it there, or the
// value of a constant.
func (l *listing) row(r Row, source int32) string {
	for _, id := range l.names[r] {
		loc, alive := l.fn.LocationOf(id, source)
		if !alive && r.Row >= 0 {
			continue
		}
		name := l.fn.Func.Regs[id].Name
		if loc.Wide && r.Row == loc.High {
			name += ".hi"
		}
		return name
	}
	switch {
	case r.Row == NoRow:
		return "_"
	case r.Row >= 0:
		return fmt.Sprintf("%s%d", r.Slot, r.Row)
	case r.Slot == R:
		return number(uint64(l.Consts.Value32(r.Row)))
	case r.Slot == Q:
		return number(l.Consts.Value64(r.Row))
	}
	return fmt.Sprint(l.Consts.ValueP(r.Row))
}

// number formats a constant: numbers of more than 16 bits in hexadecimal.
func number(v uint64) string {
	if v < 1<<16 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%#x", v)
}

// guard returns the guard of an instruction as PTX writes it, with a space; "" if it has none.
func (l *listing) guard(instr *Instr) string {
	if instr.Guard == 0 {
		return ""
	}
	p, negated := GuardRow(instr.Guard)
	negation := ""
	if negated {
		negation = "!"
	}
	return "@" + negation + l.row(Row{P, p}, instr.Src) + " "
}

// text returns an instruction with its operands, results first, and the notes after the semicolon.
func (l *listing) text(instr *Instr) string {
	s := instr.Op.Signature()
	var operands []string
	add := func(r Row) { operands = append(operands, l.row(r, instr.Src)) }
	if s.Dst != NoSlot {
		add(Row{s.Dst, instr.D})
	}
	if s.Dst2 != NoSlot {
		add(Row{s.Dst2, instr.F})
	}
	for i, row := range instr.Sources() {
		if s.Src[i] != NoSlot && (i < 2 || !s.Compares() || instr.Imm != 0) {
			add(Row{s.Src[i], row})
		}
	}
	elems := func(list []Elem) {
		for _, e := range list {
			if e.Slot == NoSlot {
				e.Row = NoRow
			}
			add(Row{e.Slot, e.Row})
		}
	}
	switch {
	case s.Side == AccessSide:
		operands = append(operands, l.address(instr))
		a := &l.Access[instr.Side]
		elems(a.Elems)
		if a.Atom != nil {
			elems(a.Atom.B)
			elems(a.Atom.C)
		}
	case s.Side == CallSide:
		operands = append(operands, l.places(instr))
	case s.Side == FragmentSide:
		f := &l.Fragments[instr.Side]
		for _, list := range [][]Elem{f.D, f.A, f.B, f.C, f.E} {
			elems(list)
		}
	case s.Side == TextureSide:
		x := &l.Textures[instr.Side]
		elems(x.D)
		for _, list := range x.Sources {
			elems(list)
		}
	case s.Kind == Read && (instr.Op == Frame32 || instr.Op == Frame64):
		operands = append(operands, fmt.Sprintf("frame%+d", int64(instr.Imm)))
	case instr.Op == Shared32 || instr.Op == Shared64:
		operands = append(operands, fmt.Sprintf("shared+%d", instr.Imm))
	case s.Kind == Read:
		operands = append(operands, ptx.SpecialReg(instr.Imm).String())
	case instr.Imm != 0:
		operands = append(operands, fmt.Sprintf("#%#x", instr.Imm))
	}
	text := l.guard(instr) + fmt.Sprintf("%-14s %s", s.Name, strings.Join(operands, ", "))
	var notes []string
	if instr.Plan.Exec != OnLanes {
		notes = append(notes, instr.Plan.Exec.String())
	}
	if s.Side == AccessSide && l.Access[instr.Side].Pattern != AnyPattern {
		notes = append(notes, l.Access[instr.Side].Pattern.String())
	}
	if notes != nil {
		return fmt.Sprintf("%-44s ; %s", text, strings.Join(notes, ", "))
	}
	return strings.TrimRight(text, " ")
}

// address returns the address of a memory instruction in brackets.
func (l *listing) address(instr *Instr) string {
	a := &l.Access[instr.Side]
	base := a.Space.String()
	switch {
	case a.Addr != NoSlot:
		base = strings.TrimSpace(base + " " + l.row(Row{a.Addr, instr.A}, instr.Src))
	case a.Frame:
		base += " frame"
	default:
		return fmt.Sprintf("[%s %#x]", base, a.Offset)
	}
	if a.Offset == 0 {
		return "[" + base + "]"
	}
	return fmt.Sprintf("[%s%+d]", base, int64(a.Offset))
}

// places returns the results and the arguments of a call.
func (l *listing) places(instr *Instr) string {
	site := &l.Calls[instr.Side]
	list := func(places []ParamPlace) string {
		var names []string
		for _, p := range places {
			if p.Slot == NoSlot {
				names = append(names, fmt.Sprintf("[frame%+d]", p.Offset))
			} else {
				names = append(names, l.row(Row{p.Slot, p.Row}, instr.Src))
			}
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(site.Rets) + ", " + list(site.Args)
}

// end returns the text for the end of a block.
func (l *listing) end(b *Block) string {
	instr := l.End(b)
	block := func(pc int32) int32 { return l.blockAt[pc].Index }
	switch instr.Op {
	case Jump:
		return fmt.Sprintf("jump b%d", block(b.Next))
	case Branch:
		return fmt.Sprintf("branch b%d, else b%d; reconverge at b%d", block(b.Target), block(b.Next), block(b.Reconverge))
	case BranchIndex:
		var list []string
		for _, pc := range l.Targets[instr.Side] {
			list = append(list, fmt.Sprintf("b%d", block(pc)))
		}
		return fmt.Sprintf("branch.index %s of %s; reconverge at b%d", l.row(Row{R, instr.A}, instr.Src), strings.Join(list, ", "), block(b.Reconverge))
	case Return:
		if instr.Guard == 0 {
			return "return"
		}
		return fmt.Sprintf("return, else b%d", block(b.Next))
	case Exit:
		if instr.Guard != 0 {
			return fmt.Sprintf("exit, else b%d", block(b.Next))
		}
	case Call:
		return fmt.Sprintf("call %s %s; then b%d", l.Funcs[l.Calls[instr.Side].Target].Name, l.places(instr), block(b.Next))
	case CallR, CallQ:
		return fmt.Sprintf("call %s %s; then b%d", l.row(Row{instr.Op.Signature().Src[0], instr.A}, instr.Src), l.places(instr), block(b.Next))
	case Barrier, BarrierPopc, BarrierVote, BarrierWarp:
		guard := *instr
		guard.Guard = 0
		return fmt.Sprintf("%s; then b%d", l.text(&guard), block(b.Next))
	}
	return instr.Op.String()
}

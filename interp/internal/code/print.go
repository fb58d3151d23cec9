package code

// This file prints programs, as an assembly listing.

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gemu/ptx"
)

// Print writes the program: what a launch computes before it begins; and for each
// function where its registers are and how they are kept, and its blocks, with what each
// PTX instruction has become. Behind a semicolon is how an instruction executes on
// compact operands, if it may: compact, proved, or expanded to the lanes first; and what is
// proved of the addresses of an access: that the lanes' elements are one place, or side by side.
//
// Registers of PTX have their names; r, q and p are temporaries in rows of 32-bit and
// 64-bit slots, and predicates.
func (p *Program) Print(w io.Writer) error {
	out := bufio.NewWriter(w)
	if p.Ordered {
		fmt.Fprintln(out, "CTAs take turns at visible instructions")
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

func (p *Program) function(w io.Writer, f *Func) {
	fmt.Fprintf(w, "\nfunction %s: rows %d r, %d q, %d p; %d words of local memory\n", f.Name, f.Frame.R, f.Frame.Q, f.Frame.P, f.Local)
	for i, at := range f.Regs {
		if at.Slot == NoSlot {
			continue
		}
		place := fmt.Sprintf("%s%d", at.Slot, at.Row)
		switch {
		case at.Row < 0:
			place = "constant"
		case at.Wide:
			place += fmt.Sprintf(" and %s%d", at.Slot, at.High)
		}
		kept := f.KeptIn(Row{at.Slot, at.Row}).String()
		if at.Row < 0 {
			kept = IsFixed.String()
		}
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(fmt.Sprintf("%-12s %-10s %s", f.Func.Regs[i].Name, place, kept), " "))
	}
	l := p.listing(f)
	for i := f.Blocks.First; i < f.Blocks.End; i++ {
		b := &p.Blocks[i]
		fmt.Fprintf(w, "b%d:", i)
		if b.Caution&Visible != 0 {
			fmt.Fprint(w, " visible")
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

func (k Keeping) String() string {
	switch {
	case k&IsFixed != 0:
		return "of the launch"
	case k&IsProved != 0 && k&InBoth != 0:
		return "proved, in lanes too"
	case k&IsProved != 0:
		return "proved"
	case k&InBoth != 0:
		return "compact, in lanes too"
	case k&InShadow != 0:
		return "compact"
	}
	return ""
}

// listing names the rows of a function.
type listing struct {
	*Program
	fn    *Func
	names map[Row][]ptx.RegID
}

func (p *Program) listing(f *Func) *listing {
	l := &listing{p, f, map[Row][]ptx.RegID{}}
	for i, at := range f.Regs {
		if at.Slot != NoSlot {
			l.names[Row{at.Slot, at.Row}] = append(l.names[Row{at.Slot, at.Row}], ptx.RegID(i))
			if at.Wide {
				l.names[Row{at.Slot, at.High}] = append(l.names[Row{at.Slot, at.High}], ptx.RegID(i))
			}
		}
	}
	return l
}

// row names a row at a PTX instruction.
func (l *listing) row(r Row, source int32) string {
	for _, id := range l.names[r] {
		at, alive := l.fn.Where(id, source)
		if !alive && r.Row >= 0 {
			continue
		}
		name := l.fn.Func.Regs[id].Name
		if at.Wide && r.Row == at.High {
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

func number(v uint64) string {
	if v < 1<<16 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%#x", v)
}

func (l *listing) guard(in *Instr) string {
	if in.Guard == 0 {
		return ""
	}
	p, negated := GuardRow(in.Guard)
	not := ""
	if negated {
		not = "!"
	}
	return "@" + not + l.row(Row{P, p}, in.Src) + " "
}

// text is an instruction with its operands, the results first, and how it executes.
func (l *listing) text(in *Instr) string {
	s := in.Op.Signature()
	var operands []string
	add := func(r Row) { operands = append(operands, l.row(r, in.Src)) }
	if s.Dst != NoSlot {
		add(Row{s.Dst, in.D})
	}
	if s.Dst2 != NoSlot {
		add(Row{s.Dst2, in.F})
	}
	for i, row := range in.Sources() {
		if s.Src[i] != NoSlot && (i < 2 || !s.Compares() || in.Imm != 0) {
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
		operands = append(operands, l.address(in))
		a := &l.Access[in.Side]
		elems(a.Elems)
		if a.Atom != nil {
			elems(a.Atom.B)
			elems(a.Atom.C)
		}
	case s.Side == CallSide:
		operands = append(operands, l.places(in))
	case s.Side == FragmentSide:
		f := &l.Fragments[in.Side]
		for _, list := range [][]Elem{f.D, f.A, f.B, f.C, f.E} {
			elems(list)
		}
	case s.Side == TextureSide:
		x := &l.Textures[in.Side]
		elems(x.D)
		for _, list := range x.Sources {
			elems(list)
		}
	case s.Kind == Read && (in.Op == Frame32 || in.Op == Frame64):
		operands = append(operands, fmt.Sprintf("frame%+d", int64(in.Imm)))
	case in.Op == Shared32 || in.Op == Shared64:
		operands = append(operands, fmt.Sprintf("shared+%d", in.Imm))
	case s.Kind == Read:
		operands = append(operands, ptx.SpecialReg(in.Imm).String())
	case in.Imm != 0:
		operands = append(operands, fmt.Sprintf("#%#x", in.Imm))
	}
	text := l.guard(in) + fmt.Sprintf("%-14s %s", s.Name, strings.Join(operands, ", "))
	var notes []string
	if in.How.Exec != OnLanes {
		notes = append(notes, in.How.Exec.String())
	}
	if s.Side == AccessSide && l.Access[in.Side].Pattern != AnyPattern {
		notes = append(notes, l.Access[in.Side].Pattern.String())
	}
	if notes != nil {
		return fmt.Sprintf("%-44s ; %s", text, strings.Join(notes, ", "))
	}
	return strings.TrimRight(text, " ")
}

func (l *listing) address(in *Instr) string {
	a := &l.Access[in.Side]
	base := a.Space.String()
	switch {
	case a.Addr != NoSlot:
		base = strings.TrimSpace(base + " " + l.row(Row{a.Addr, in.A}, in.Src))
	case a.Frame:
		base += " frame"
	default:
		return fmt.Sprintf("[%s %#x]", base, a.Off)
	}
	if a.Off == 0 {
		return "[" + base + "]"
	}
	return fmt.Sprintf("[%s%+d]", base, int64(a.Off))
}

func (l *listing) places(in *Instr) string {
	site := &l.Calls[in.Side]
	list := func(places []Place) string {
		var names []string
		for _, p := range places {
			if p.Slot == NoSlot {
				names = append(names, fmt.Sprintf("[frame%+d]", p.Off))
			} else {
				names = append(names, l.row(Row{p.Slot, p.Row}, in.Src))
			}
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(site.Rets) + ", " + list(site.Args)
}

// end says how control leaves a block.
func (l *listing) end(b *Block) string {
	in := l.End(b)
	at := func(pc int32) int32 { return l.blockAt[pc].Index }
	switch in.Op {
	case Jump:
		return fmt.Sprintf("jump b%d", at(b.Next))
	case Branch:
		return fmt.Sprintf("branch b%d, else b%d; meet at b%d", at(b.Target), at(b.Next), at(b.Join))
	case BranchIndex:
		var list []string
		for _, pc := range l.Targets[in.Side] {
			list = append(list, fmt.Sprintf("b%d", at(pc)))
		}
		return fmt.Sprintf("branch.index %s of %s; meet at b%d", l.row(Row{R, in.A}, in.Src), strings.Join(list, ", "), at(b.Join))
	case Return:
		if in.Guard == 0 {
			return "return"
		}
		return fmt.Sprintf("return, else b%d", at(b.Next))
	case Exit:
		if in.Guard != 0 {
			return fmt.Sprintf("exit, else b%d", at(b.Next))
		}
	case Call:
		return fmt.Sprintf("call %s %s; then b%d", l.Funcs[l.Calls[in.Side].Target].Name, l.places(in), at(b.Next))
	case CallR, CallQ:
		return fmt.Sprintf("call %s %s; then b%d", l.row(Row{in.Op.Signature().Src[0], in.A}, in.Src), l.places(in), at(b.Next))
	case Barrier, BarrierPopc, BarrierVote, BarrierWarp:
		guard := *in
		guard.Guard = 0
		return fmt.Sprintf("%s; then b%d", l.text(&guard), at(b.Next))
	}
	return in.Op.String()
}

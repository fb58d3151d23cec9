package ptx

// This file prints the IR (Module, Func, Instr) as PTX. Parsing the output gives the same IR again, except for positions.

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Fprint writes the module as PTX.
func Fprint(w io.Writer, m *Module) error {
	p := &printer{}
	p.module(m)
	_, err := io.WriteString(w, p.String())
	return err
}

// String returns the module as PTX.
func (m *Module) String() string {
	p := &printer{}
	p.module(m)
	return p.String()
}

// String returns the function as PTX.
func (f *Func) String() string {
	p := &printer{}
	p.function(f)
	return p.String()
}

// String returns the variable's declaration as PTX, without its semicolon.
func (v *Var) String() string {
	p := &printer{}
	p.variable(v)
	return p.String()
}

// Format returns the instruction as PTX, without its semicolon; f must be its function.
func (instr *Instr) Format(f *Func) string {
	p := &printer{}
	p.instr(f, instr)
	return p.String()
}

// printer collects the printed text.
type printer struct{ strings.Builder }

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// The methods module, pragma, imm, function, loc, instr, call and operand print the part of the IR that they are named for.

func (p *printer) module(m *Module) {
	p.printf(".version %s\n", m.Version)
	if len(m.Target) > 0 {
		p.printf(".target %s\n", strings.Join(m.Target, ", "))
	}
	p.printf(".address_size %d\n", m.AddressSize)
	for _, f := range m.Files {
		p.printf(".file %d %s", f.Index, strconv.Quote(f.Name))
		for _, s := range f.Stamp {
			p.printf(", %s", s)
		}
		p.WriteString("\n")
	}
	for _, s := range m.statics {
		p.static(s)
	}
	for _, d := range m.Decls {
		p.WriteString("\n")
		switch d := d.(type) {
		case *Var:
			p.variable(d)
			p.WriteString(";\n")
		case *Func:
			p.function(d)
		case *Alias:
			p.printf(".alias %s, %s;\n", d.Name, d.Target.Name)
		case Pragma:
			p.pragma(d)
		case *Sources:
			p.WriteString(".nv_intermediate_source_section {\n")
			for _, b := range d.Blocks {
				p.printf("\t.code_block {\n\t\t.ir_name: %s\n\t\t.sourceFileName: %d\n.source_begin\n%s.source_end\n\t}\n", strconv.Quote(b.Name), b.File, b.Text)
			}
			p.WriteString("}\n")
		case *Section:
			p.printf(".section %s\n{\n", d.Name)
			for _, l := range d.Lines {
				if l.Label != "" {
					p.printf("%s:\n", l.Label)
				} else {
					p.printf("\t%s %s\n", l.Type, strings.Join(l.Values, ", "))
				}
			}
			p.WriteString("}\n")
		}
	}
}

// static prints a variable in .local or .reg space. Vector registers are printed as their components, as in functions.
func (p *printer) static(s static) {
	names := []string{s.v.Name}
	if s.v.Space == RegSpace && s.d.Range {
		if s.v.Vec == 1 {
			p.printf(".reg %s %s<%d>;\n", s.v.Type, s.v.Name, s.d.Count)
			return
		}
		names = nil
		for i := range s.d.Count {
			names = append(names, s.v.Name+strconv.Itoa(i))
		}
	}
	for _, name := range names {
		if s.v.Space != RegSpace {
			p.variable(s.v)
			p.WriteString(";\n")
			continue
		}
		for i := range s.v.Vec {
			part := name
			if s.v.Vec > 1 {
				part = component(name, i)
			}
			p.printf(".reg %s %s;\n", s.v.Type, part)
		}
	}
}

func (p *printer) pragma(d Pragma) {
	p.WriteString(".pragma ")
	for i, s := range d.Text {
		if i > 0 {
			p.WriteString(", ")
		}
		p.WriteString(strconv.Quote(s))
	}
	p.WriteString(";\n")
}

// variable prints a declaration without its semicolon.
func (p *printer) variable(v *Var) {
	if v.Linkage != Internal {
		p.printf("%s ", v.Linkage)
	}
	p.printf(".%s ", v.Space)
	for _, a := range v.Attributes {
		p.printf(".attribute(%s) ", a)
	}
	if v.Align > 0 {
		p.printf(".align %d ", v.Align)
	}
	if v.Vec > 1 {
		p.printf(".v%d ", v.Vec)
	}
	p.printf("%s ", v.Type)
	if v.IsPtr {
		p.WriteString(".ptr ")
		if v.PtrSpace != Generic {
			p.printf(".%s ", v.PtrSpace)
		}
		if v.PtrType != NoType {
			p.printf("%s ", v.PtrType)
		}
		if v.PtrAlign > 0 {
			p.printf(".align %d ", v.PtrAlign)
		}
	}
	p.WriteString(v.Name)
	for _, d := range v.Dims {
		if d < 0 {
			p.WriteString("[]")
		} else {
			p.printf("[%d]", d)
		}
	}
	switch {
	case v.Fields != nil:
		p.WriteString(" = {")
		for i, f := range v.Fields {
			if i > 0 {
				p.WriteString(", ")
			}
			p.printf("%s = %s", f.Name, f.Value)
		}
		p.WriteString("}")
	case v.HasInit:
		p.WriteString(" = ")
		shape := v.Dims
		if v.Vec > 1 {
			shape = append(append([]int{}, shape...), v.Vec)
		}
		p.init(v, slices.Clone(v.Init), shape, 0)
	}
}

// init prints an array of the given shape, or an element if the shape is empty. first is the index of its first element in
// the variable, and list has the initialiser from there on. Missing elements at the end of a row are omitted. It returns
// the parts of list that follow the array.
func (p *printer) init(v *Var, list []Init, shape []int, first int) []Init {
	if len(shape) == 0 {
		e := list[0]
		if e.Sym == nil {
			size := v.Type.Size()
			p.number(v.Type, e.Data[:size])
			if len(e.Data) == size {
				return list[1:]
			}
			list[0] = Init{Elem: e.Elem + 1, Data: e.Data[size:]}
			return list
		}
		inner := e.Sym.SymbolName()
		if e.Generic {
			inner = "generic(" + inner + ")"
		}
		inner = withOffset(inner, e.Offset)
		if e.Mask != 0 {
			inner = fmt.Sprintf("%#x(%s)", e.Mask, inner)
		}
		p.WriteString(inner)
		return list[1:]
	}
	stride := 1
	for _, n := range shape[1:] {
		stride *= n
	}
	p.WriteString("{")
	for i := range shape[0] {
		if len(list) == 0 || list[0].Elem >= first+shape[0]*stride {
			break
		}
		if i > 0 {
			p.WriteString(", ")
		}
		list = p.init(v, list, shape[1:], first+i*stride)
	}
	p.WriteString("}")
	return list
}

// number prints an element of a variable.
func (p *printer) number(t Type, data []byte) {
	var bits uint64
	for i, b := range data[:min(len(data), 8)] {
		bits |= uint64(b) << (8 * i)
	}
	switch {
	case t == F32:
		p.imm(Imm{F32Imm, bits})
	case t == F64:
		p.imm(Imm{F64Imm, bits})
	case t.IsSigned():
		shift := 64 - t.Bits()
		p.printf("%d", int64(bits<<shift)>>shift)
	default:
		p.printf("%d", bits)
	}
}

// withOffset returns the text of a name or register plus an offset.
func withOffset(name string, offset int64) string {
	if offset == 0 {
		return name
	}
	return fmt.Sprintf("%s+%d", name, offset)
}

func (p *printer) imm(i Imm) {
	switch i.Kind {
	case F32Imm:
		p.printf("0f%08X", uint32(i.Bits))
	case F64Imm:
		p.printf("0d%016X", i.Bits)
	default:
		p.printf("%d", int64(i.Bits))
	}
}

// params prints parameters separated by commas, with sep before each.
func (p *printer) params(list []*Var, sep string) {
	for i, v := range list {
		if i > 0 {
			p.WriteString(",")
		}
		p.WriteString(sep)
		p.variable(v)
	}
}

// head prints "(rets) name (params) directives" of a function or prototype. sep precedes each parameter and directive; end
// follows the last parameter.
func (p *printer) head(f *Func, sep, end string) {
	if len(f.Rets) > 0 {
		p.WriteString("(")
		p.params(f.Rets, "")
		p.WriteString(") ")
	}
	p.printf("%s(", f.Name)
	if len(f.Params) > 0 {
		p.params(f.Params, sep)
		p.WriteString(end)
	}
	p.WriteString(")")
	for _, d := range f.Directives {
		if d.Name != ".attribute" {
			p.printf("%s%s", sep, d.Name)
			if len(d.Args) > 0 {
				p.printf(" %s", strings.Join(d.Args, ", "))
			}
			if d.Name == ".pragma" {
				p.WriteString(";")
			}
		}
	}
}

func (p *printer) function(f *Func) {
	if f.Linkage != Internal {
		p.printf("%s ", f.Linkage)
	}
	if f.Entry {
		p.WriteString(".entry ")
	} else {
		p.WriteString(".func ")
	}
	for _, d := range f.Directives {
		if d.Name == ".attribute" {
			p.printf(".attribute(%s) ", strings.Join(d.Args, ""))
		}
	}
	p.head(f, "\n\t", "\n")
	if !f.Defined {
		p.WriteString(";\n")
		return
	}
	p.WriteString("\n{\n")
	p.registers(f)
	for _, v := range f.Vars[f.staticVars:] {
		p.WriteString("\t")
		p.variable(v)
		p.WriteString(";\n")
	}
	for _, d := range f.Pragmas {
		p.WriteString("\t")
		p.pragma(d)
	}
	for _, t := range f.Tables {
		p.printf("%s: ", t.Name)
		switch {
		case t.Proto != nil:
			p.WriteString(".callprototype ")
			p.head(t.Proto, " ", "")
		case t.Blocks != nil:
			p.WriteString(".branchtargets ")
			for i, b := range t.Blocks {
				if i > 0 {
					p.WriteString(", ")
				}
				p.WriteString(b.Labels[0])
			}
		default:
			p.WriteString(".calltargets ")
			for i, g := range t.Funcs {
				if i > 0 {
					p.WriteString(", ")
				}
				p.WriteString(g.Name)
			}
		}
		p.WriteString(";\n")
	}
	loc := int32(-1)
	for _, b := range f.Blocks {
		for _, l := range b.Labels {
			p.printf("%s:\n", l)
		}
		for _, instr := range b.Instrs {
			if instr.Loc != loc {
				loc = instr.Loc
				p.loc(f.Locs[loc])
			}
			p.WriteString("\t")
			p.instr(f, instr)
			p.WriteString(";\n")
		}
	}
	p.WriteString("}\n")
}

func (p *printer) loc(l Loc) {
	p.printf("\t.loc %d %d %d", l.File, l.Line, l.Col)
	if l.Function != "" {
		p.printf(", function_name %s, inlined_at %d %d %d", l.Function, l.InlinedAtFile, l.InlinedAtLine, l.InlinedAtCol)
	}
	p.WriteString("\n")
	if l.IntermediateFile != 0 || l.IntermediateLine != 0 || l.IntermediateCol != 0 {
		p.printf("\t.loc_intermediate %d %d %d\n", l.IntermediateFile, l.IntermediateLine, l.IntermediateCol)
	}
}

// registers prints the register declarations, with ranges as %r<N>.
func (p *printer) registers(f *Func) {
	regs := f.Regs
	i := 0 // skip the parameters in .reg space and the module's registers: they come first and have their own declarations
	for _, list := range [][]*Var{f.Rets, f.Params} {
		for _, v := range list {
			if v.Reg != NoReg {
				i += v.Vec
			}
		}
	}
	i += len(f.staticRegs)
	for i < len(regs) {
		prefix, n, ok := splitRange(regs[i].Name)
		if ok && n == 0 {
			j := i
			for j < len(regs) && regs[j].Type == regs[i].Type && regs[j].Name == prefix+strconv.Itoa(j-i) {
				j++
			}
			p.printf("\t.reg %s %s<%d>;\n", regs[i].Type, prefix, j-i)
			i = j
			continue
		}
		p.printf("\t.reg %s %s;\n", regs[i].Type, regs[i].Name)
		i++
	}
}

func (p *printer) instr(f *Func, instr *Instr) {
	if instr.Guard.Reg != NoReg {
		p.WriteString("@")
		if instr.Guard.Neg {
			p.WriteString("!")
		}
		p.printf("%s ", f.Regs[instr.Guard.Reg].Name)
	}
	p.WriteString(instr.Text)
	if instr.Call != nil {
		p.call(f, instr.Call)
		return
	}
	first := true
	for i := range instr.Ops {
		o := &instr.Ops[i]
		if o.Kind == NoOperand {
			continue
		}
		switch {
		case instr.Form.Operands[i].Pair:
			p.WriteString("|")
		case first:
			p.WriteString(" ")
		default:
			p.WriteString(", ")
		}
		first = false
		p.operand(f, o)
	}
}

func (p *printer) call(f *Func, c *Call) {
	list := func(ops []Operand) {
		p.WriteString("(")
		for i := range ops {
			if i > 0 {
				p.WriteString(", ")
			}
			p.operand(f, &ops[i])
		}
		p.WriteString(")")
	}
	p.WriteString(" ")
	if c.Rets != nil {
		list(c.Rets)
		p.WriteString(", ")
	}
	p.operand(f, &c.Target)
	if c.Args != nil {
		p.WriteString(", ")
		list(c.Args)
	}
	if c.List != nil {
		p.printf(", %s", c.List.Name)
	}
	if c.Var != nil {
		p.printf(", %s", c.Var.Name)
	}
}

func (p *printer) operand(f *Func, o *Operand) {
	if o.Neg {
		if o.Kind == RegOperand && f.Regs[o.Reg].Type != Pred {
			p.WriteString("-")
		} else {
			p.WriteString("!")
		}
	}
	switch o.Kind {
	case RegOperand:
		p.WriteString(f.Regs[o.Reg].Name)
		if o.Sel() != "" {
			p.printf(".%s", o.Sel())
		}
	case ImmOperand:
		p.imm(o.Imm)
	case SRegOperand:
		p.WriteString(o.SReg.String())
	case SymOperand:
		p.WriteString(withOffset(o.Sym().SymbolName(), o.Offset()))
	case SinkOperand:
		p.WriteString("_")
	case LabelOperand:
		if o.Table() != nil {
			p.WriteString(o.Table().Name)
		} else {
			p.WriteString(o.Block().Labels[0])
		}
	case VecOperand:
		p.WriteString("{")
		for i := range o.Elems() {
			if i > 0 {
				p.WriteString(", ")
			}
			p.operand(f, &o.Elems()[i])
		}
		p.WriteString("}")
	case AddrOperand:
		if o.Reg != NoReg && o.Sym() != nil {
			p.WriteString(o.Sym().SymbolName())
		}
		p.WriteString("[")
		switch {
		case o.Reg != NoReg:
			p.WriteString(withOffset(f.Regs[o.Reg].Name, o.Offset()))
		case o.Sym() != nil:
			p.WriteString(withOffset(o.Sym().SymbolName(), o.Offset()))
		default:
			p.printf("%d", o.Offset())
		}
		for i := range o.Elems() {
			p.WriteString(", ")
			p.operand(f, &o.Elems()[i])
		}
		p.WriteString("]")
		if o.Unified {
			p.WriteString(".unified")
		}
	}
}

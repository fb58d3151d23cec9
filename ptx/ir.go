package ptx

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx/internal/syntax"
)

// Pos is a place in the PTX source: line and column (in bytes), both from 1. The zero Pos means no place.
type Pos struct{ Line, Col int32 }

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Module is a checked PTX module.
type Module struct {
	Name        string       // name of the source, for messages
	Version     Version      // number in the .version directive: the PTX ISA that the module needs
	Target      []string     // names in the .target directives, as written: sm_80, texmode_independent, debug …
	AddressSize int          // 32 or 64 bits; 32 without an .address_size directive
	Files       []SourceFile // .file directives, in order
	Decls       []Decl       // all module-level declarations, in order

	symbols map[string]Symbol // variables and functions by name; a definition replaces its prototypes
	statics []static          // module-level variables of each thread, in order (PTX before 3.0)
	src     string            // text from which the module was parsed
}

// static is a variable in .local or .reg space at module level. See Func.Statics.
type static struct {
	v *Var
	d *syntax.Declarator // its declaration: the name or range of names
}

// SM returns NN of the first target sm_NN or compute_NN; 0 if there is none.
func (m *Module) SM() int { return smOf(m.Target) }

// smOf returns NN of the first of the targets with the name sm_NN or compute_NN; 0 if there is none.
func smOf(targets []string) int {
	for _, t := range targets {
		var n int
		_, number, _ := strings.Cut(t, "_")
		if _, err := fmt.Sscanf(number, "%d", &n); err == nil {
			return n
		}
	}
	return 0
}

// SourceFile is a ".file" directive; .loc directives refer to it by its number.
type SourceFile struct {
	Index int      // number in the directive, to which Loc.File refers
	Name  string   // path of the file as the compiler wrote it, unquoted
	Stamp []string // modification time and size in bytes, as written; nil or shorter if not written
}

// FileName returns the name of .file number index, "" if there is none.
func (m *Module) FileName(index int32) string {
	for _, f := range m.Files {
		if f.Index == int(index) {
			return f.Name
		}
	}
	return ""
}

// Decl is a module-level declaration: *Var, *Func, *Alias, *Section, *Sources or Pragma.
type Decl interface{ decl() }

func (*Var) decl()     {}
func (*Func) decl()    {}
func (*Alias) decl()   {}
func (*Section) decl() {}
func (*Sources) decl() {}
func (Pragma) decl()   {}

// Alias is the directive ".alias Name, Target;".
type Alias struct {
	Pos    Pos    // place of the directive
	Name   string // further name of the function; Module.Lookup finds the function by it
	Target *Func  // definition of the function, or its prototype if the module does not define it
}

// Pragma is the directive ".pragma" at module level or in a body. That of a function's head is a FuncDirective (Func.AllPragmas).
type Pragma struct {
	Pos  Pos      // place of the directive
	Text []string // its strings, unquoted
}

// Section is a debug section, kept as written.
type Section struct {
	Name  string        // name, with its dot: ".debug_info"
	Lines []SectionLine // labels and data, in order
}

// Sources is a section of the texts from which the PTX was generated, kept as written.
type Sources struct {
	Blocks []SourceBlock // texts, in order
}

// SourceBlock is a text of Sources.
type SourceBlock struct {
	Name string // name of the language, such as "tile ir"
	File int    // index of the .file to which .loc_intermediate refers
	Text string // whole lines
}

// SectionLine is a label or a data directive with its values.
type SectionLine struct {
	Label  string   // label without its colon; "" for a data directive
	Type   string   // type of each value: ".b8", ".b16", ".b32" or ".b64", in old PTX also ".byte", ".4byte" or ".quad"; "" for a label
	Values []string // integers as written, or one address such as ".debug_info+12" or "end-begin"; nil for a label
}

// Vars returns the module-scope variables.
func (m *Module) Vars() []*Var {
	var vars []*Var
	for _, d := range m.Decls {
		if v, ok := d.(*Var); ok {
			vars = append(vars, v)
		}
	}
	return vars
}

// Kernels returns the .entry functions with a body.
func (m *Module) Kernels() []*Func {
	var k []*Func
	for _, d := range m.Decls {
		if f, ok := d.(*Func); ok && f.Entry && f.Defined {
			k = append(k, f)
		}
	}
	return k
}

// Lookup returns the module-scope variable or function with the name, nil if there is none. If a function is both
// declared and defined, it returns the definition. For the name of an alias it returns the alias's function.
func (m *Module) Lookup(name string) Symbol { return m.symbols[name] }

// Symbol is a variable (*Var) or function (*Func) that an operand can name.
type Symbol interface {
	SymbolName() string // name in the module, as PTX writes it
}

// SymbolName returns the variable's name.
func (v *Var) SymbolName() string { return v.Name }

// SymbolName returns the function's name.
func (f *Func) SymbolName() string { return f.Name }

// Linkage is the visibility of a symbol outside the module.
type Linkage uint8

// The linkages; Internal means no directive.
const (
	Internal Linkage = iota // visible in the module only
	Extern                  // .extern: defined in another module
	Visible                 // .visible: other modules may refer to it
	Weak                    // .weak: as Visible, and other modules may define it, too
	Common                  // .common: a .global variable, merged with variables of the same name in other modules
)

var linkageNames = [...]string{"", ".extern", ".visible", ".weak", ".common"}

func (l Linkage) String() string { return linkageNames[l] }

// Var is a variable, or a parameter or return value of a function.
type Var struct {
	Pos     Pos     // place of the name in its declaration
	Name    string  // name; a local variable whose name is taken in the function has a suffix: x$1
	Linkage Linkage // visibility outside the module; Internal for a local variable or a parameter
	Space   Space   // state space; Param or RegSpace for a parameter
	Type    Type    // type of an element
	Vec     int     // elements of a vector variable (.v2 .v4), else 1
	Dims    []int   // extents of an array, outermost first; nil if it is no array; the first is -1 for "[]" without initialiser
	Align   int     // alignment in bytes, as declared; 0 if not declared
	Init    []Init  // initialiser, in memory order; nil if there is none, or if it contains no element, as in { }
	Fields  []Field // initial properties of a texture, sampler or surface
	HasInit bool    // an initialiser is written, which may be empty
	Reg     RegID   // the register of a parameter in .reg space; else NoReg

	// The .ptr attribute of a kernel parameter.
	IsPtr    bool
	PtrSpace Space // state space of the pointed-to memory; Generic if not declared
	PtrType  Type  // .texref, .samplerref or .surfref instead of a space; else NoType
	PtrAlign int   // alignment of the pointed-to memory in bytes; 0 if not declared

	Attributes []string // .attribute(…), as written
}

// Managed reports whether the variable is in memory that the host can access, too (manual 5.4, ".attribute").
func (v *Var) Managed() bool { return slices.Contains(v.Attributes, ".managed") }

// Size returns the size of the variable in bytes; 0 for an array without a bound ("[]").
func (v *Var) Size() int {
	n := v.ElemSize()
	for _, d := range v.Dims {
		if d < 0 {
			return 0
		}
		n *= d
	}
	return n
}

// ElemSize returns the size of an array element in bytes.
func (v *Var) ElemSize() int { return v.Type.Size() * max(v.Vec, 1) }

// Unbounded reports whether the variable is an array without a bound, such as dynamic shared memory.
func (v *Var) Unbounded() bool {
	for _, d := range v.Dims {
		if d < 0 {
			return true
		}
	}
	return false
}

// Alignment returns the alignment in bytes: the declared alignment, else the natural alignment.
func (v *Var) Alignment() int {
	if v.Align > 0 {
		return v.Align
	}
	return max(v.ElemSize(), 1)
}

// Field is an initial property of a texture, sampler or surface, as written: "filter_mode = nearest" (manual 5.3). A
// number as Value is decimal.
type Field struct{ Name, Value string }

// Init is a part of an initialiser: consecutive numbers, or an address. Elements in no Init are zero.
type Init struct {
	Elem    int    // index of the first number; each component of a vector is a number of Var.Type
	Data    []byte // the numbers as bytes in memory, unless Sym is set
	Sym     Symbol // the address of a variable or function, plus Offset
	Offset  int64  // distance from Sym in bytes
	Generic bool   // generic(sym): the generic address
	Mask    uint64 // 0xff(sym): the masked byte of the address; 0 if whole
}

// Func is a kernel (.entry) or device function (.func).
type Func struct {
	Pos        Pos             // place of the name in its declaration
	Name       string          // name; "_" for a prototype of an indirect call
	Linkage    Linkage         // visibility outside the module
	Entry      bool            // the function is a kernel (.entry)
	Defined    bool            // has a body
	SM         int             // NN of sm_NN in the last .target before the function (a linked module has several); 0 if none
	Rets       []*Var          // return values, in .param or .reg space; nil for a kernel
	Params     []*Var          // parameters, in .param or .reg space; each component of a vector in .reg space is one
	Directives []FuncDirective // directives and attributes, in order; .pragma of the body is in Pragmas

	Regs    []Reg    // by RegID: results and parameters in .reg space, the module's statics, then registers of the body
	Vars    []*Var   // declared in the body: .local, .shared, .param …
	Tables  []*Table // .branchtargets, .calltargets, .callprototype
	Blocks  []*Block // in source order; Blocks[0] is the entry
	Pragmas []Pragma // .pragma directives of the body, in order
	Locs    []Loc    // the places to which Instr.Loc refers
	End     Pos      // place of the closing brace

	module     *Module
	vectors    []*Var  // parameters and results in vectors of registers
	staticRegs []RegID // registers of the module's statics; in Regs they follow the registers of parameters
	staticVars int     // number of the module's statics at the start of Vars
	ctaGroup   string  // .cta_group of the function's tcgen05 instructions; "" before the first
}

// Statics returns the function's registers and variables for the module-level .reg and .local variables of PTX before
// 3.0. Such a variable exists once for each thread, and all functions of the module share it, but each function names it
// by a register or variable of its own. Their order is the same in every function.
func (f *Func) Statics() (regs []RegID, vars []*Var) { return f.staticRegs, f.Vars[:f.staticVars] }

// Module returns the module of the function.
func (f *Func) Module() *Module { return f.module }

// FuncDirective is a directive of a function, as in ".maxntid 256, 1, 1".
type FuncDirective struct {
	Pos  Pos      // place of the directive; none in a prototype of an indirect call
	Name string   // name, with its dot
	Args []string // arguments; strings keep their quotation marks, and all numbers are decimal
}

// Directive returns the arguments of the named directive (with its dot), and whether the function has it.
func (f *Func) Directive(name string) ([]string, bool) {
	for _, d := range f.Directives {
		if d.Name == name {
			return d.Args, true
		}
	}
	return nil, false
}

// AllPragmas returns the .pragma directives of the function's head and body, in the order of the text.
func (f *Func) AllPragmas() (list []Pragma) {
	for _, d := range f.Directives {
		if d.Name == ".pragma" {
			p := Pragma{Pos: d.Pos}
			for _, text := range d.Args {
				p.Text = append(p.Text, unquote(text))
			}
			list = append(list, p)
		}
	}
	return append(list, f.Pragmas...)
}

// MaxRegisters returns the number of registers of a thread in .maxnreg (PTX ISA, "Performance-Tuning Directives"); 0 without the directive.
func (f *Func) MaxRegisters() (n int) {
	if args, ok := f.Directive(".maxnreg"); ok && len(args) == 1 {
		n, _ = strconv.Atoi(args[0])
	}
	return n
}

// has reports whether the function has the directive.
func (f *Func) has(name string) bool {
	_, ok := f.Directive(name)
	return ok
}

// PerCTAMemory returns the minimum size in bytes of the per-CTA memory requested by the kernel with .minperctamemory, 0
// without the directive.
func (f *Func) PerCTAMemory() (n uint64) {
	for _, d := range f.Directives {
		if d.Name == ".minperctamemory" {
			size, _ := strconv.ParseUint(d.Args[0], 10, 32) // the checker has validated it
			n = max(n, size)
		}
	}
	return n
}

// languages lists the languages of .language (manual 11.8.2). The directive has the number, or the name in quotation
// marks, in upper or lower case. The manual lists no numbers; the numbers of tile languages are taken from the output of
// NVIDIA's assembler.
var languages = []struct {
	name   string
	number string // "" if unknown
	tile   bool   // a thread block executes operations on tiles
}{
	{name: "unknown"}, {name: "ptx"}, {name: "nvvm"}, {name: "cuda c++"}, {"cuda c++ tile", "6", true}, {"tile ir", "7", true},
	{"python-cutile", "8", true}, {name: "fortran"}, {name: "optix"},
}

// languageNames returns the names of languages.
func languageNames() (names []string) {
	for _, l := range languages {
		names = append(names, l.name)
	}
	return names
}

// isTileLanguage reports whether an argument of .language is a tile language.
func isTileLanguage(arg string) bool {
	for _, l := range languages {
		if l.tile && (arg == l.number || strings.EqualFold(arg, `"`+l.name+`"`)) {
			return true
		}
	}
	return false
}

// Tile reports whether a .language directive of the function names a tile language.
func (f *Func) Tile() bool {
	return slices.ContainsFunc(f.Directives, func(d FuncDirective) bool {
		return d.Name == ".language" && slices.ContainsFunc(d.Args, isTileLanguage)
	})
}

// RegID is the number of a virtual register: an index into Func.Regs.
type RegID int32

// NoReg means no register.
const NoReg RegID = -1

// Reg is a virtual register.
type Reg struct {
	Name string // name, unique in the function: a name declared in several scopes gets a suffix, as in %r1$1
	Type Type   // type as declared, of 1 to 128 bits; a component has the type of its vector register
}

// Table is a list of branch or call targets, or a prototype.
type Table struct {
	Pos    Pos      // place of the directive
	Name   string   // label of the directive, unique in the function
	Blocks []*Block // .branchtargets
	Funcs  []*Func  // .calltargets
	Proto  *Func    // .callprototype; only Rets, Params and Directives are set
}

// Loc is a ".loc" directive: a place in the source from which the PTX was compiled.
type Loc struct {
	File, Line, Col                            int32  // number of the .file, line and column as written
	Function                                   string // label of the inlined function's name, "" if not inlined
	InlinedAtFile, InlinedAtLine, InlinedAtCol int32  // place where the function was inlined; zero if not inlined

	// .loc_intermediate: the place in the text between the source and PTX; zero if there is none.
	IntermediateFile, IntermediateLine, IntermediateCol int32
}

// Block is a basic block: control enters at the first instruction and leaves after the last.
type Block struct {
	Index  int      // position in Func.Blocks
	Labels []string // labels of the first instruction, unique in the function; nil for a block without a label
	Instrs []*Instr // in order; only the last may jump, return or exit; empty if only the function's end follows the labels
	Succs  []*Block // successors; the next block comes first if control can fall through to it
	Preds  []*Block // predecessors, each once, in source order
}

// Instr is an instruction. Printed form: "@%p1 add.s32 %r1, %r2, 4;".
type Instr struct {
	*Variant
	Pos   Pos       // place of the opcode
	Loc   int32     // index into Func.Locs, -1 if there is none
	Guard Guard     // predicate that decides which lanes execute the instruction
	Ops   []Operand // one for each operand of the form, NoOperand if absent; nil for a call
	Call  *Call     // nil unless it is a call

	Pending *Pending // relation to asynchronous multiplications (wgmma) in flight; nil for nearly all instructions
}

// Guard is the predicate of an instruction; Reg is NoReg if there is none.
type Guard struct {
	Reg RegID // predicate register
	Neg bool  // @!p: lanes execute the instruction if the predicate is false
}

// Arg returns the operand of the given name in the form ("d", "a" …).
func (instr *Instr) Arg(name string) *Operand {
	i := instr.Form.Operand(name)
	if i < 0 {
		panic(fmt.Sprintf("BUG: %s has no operand %s", instr.Text, name))
	}
	return &instr.Ops[i]
}

// IsSource reports whether operand i is a value that the instruction only reads. It is false for a missing operand, a
// destination, and a constant of the encoding (#a).
func (instr *Instr) IsSource(i int) bool {
	spec := &instr.Form.Operands[i]
	return spec.Reads() && !spec.Writes() && instr.Ops[i].Kind != NoOperand
}

// Sources returns the number of operands for which IsSource is true.
func (instr *Instr) Sources() int {
	n := 0
	for i := range instr.Form.Operands {
		if instr.IsSource(i) {
			n++
		}
	}
	return n
}

// Call is the target, the arguments and the results of a call.
type Call struct {
	Rets   []Operand // destinations of the results, one for each of the callee's; nil if none is written
	Target Operand   // a function, or the register with its address
	Args   []Operand // arguments; a vector register is an argument for each component; nil if none is written
	List   *Table    // targets or prototype of an indirect call
	Var    *Var      // call table of an indirect call, instead of List
}

// OperandKind is the kind of an operand.
type OperandKind uint8

// The kinds of operand.
const (
	NoOperand    OperandKind = iota
	RegOperand               // %r1
	ImmOperand               // 42, 0f3F800000
	SRegOperand              // %tid.x
	SymOperand               // address of a variable or function, plus an offset
	AddrOperand              // [%rd1+4], [var+4], [4], var[%rd1+4]
	VecOperand               // {%f1, %f2}
	LabelOperand             // $L1, or the name of a table
	SinkOperand              // _; as an element of a source: zero in mov.b32, an unchanged element of memory in a store
)

// Operand is an operand of an instruction. A module has millions of them, so rarely used fields are in operandExtra.
type Operand struct {
	Kind    OperandKind // decides which of the fields and methods have a meaning
	Neg     bool        // !%p1, or -%r1 of vmad
	Unified bool        // [a].unified
	SReg    SpecialReg  // special register of an SRegOperand
	// Reg is the register of a RegOperand. In an AddrOperand it is the register added to the address, or NoReg; with a
	// symbol, it is an index (see IndexSize).
	Reg  RegID
	Imm  Imm // number of an ImmOperand
	more *operandExtra
}

// operandExtra contains the rarely used fields of an operand.
type operandExtra struct {
	sym   Symbol
	elems []Operand
	block *Block
	table *Table
	sel   string // byte or half selector of a video operand: "b0", "h10"
}

// Offset returns the offset of a SymOperand or an AddrOperand: in bytes, or in elements if IndexSize is not 0.
func (o *Operand) Offset() int64 {
	if o.Kind != SymOperand && o.Kind != AddrOperand {
		return 0
	}
	return int64(o.Imm.Bits)
}

// IndexSize returns the size in bytes of an array element if the operand is an AddrOperand with an index in a register,
// var[%r+4], else 0. For an array of vectors it is the size of a vector's component. Index and offset then count
// elements. The distance from the variable's address is (Reg + Offset) * IndexSize bytes, computed in 32 bits (manual
// 6.4.2, and NVIDIA's assembler), where Reg stands for the register's value.
func (o *Operand) IndexSize() int {
	if v, ok := o.Sym().(*Var); ok && o.Kind == AddrOperand && o.Reg != NoReg {
		return v.Type.Size()
	}
	return 0
}

// Indexed returns the distance in bytes of the element from its variable; reg is the value of the index register. See
// IndexSize.
func (o *Operand) Indexed(reg uint64) uint64 {
	return uint64(uint32((reg + uint64(o.Offset())) * uint64(o.IndexSize())))
}

// Sym returns the symbol of a SymOperand, or the symbol in an AddrOperand; nil if there is none.
func (o *Operand) Sym() Symbol {
	if o.more == nil {
		return nil
	}
	return o.more.sym
}

// Elems returns the elements of a VecOperand, or the further parts of an AddrOperand.
func (o *Operand) Elems() []Operand {
	if o.more == nil {
		return nil
	}
	return o.more.elems
}

// Block returns the block of a LabelOperand with a label, else nil.
func (o *Operand) Block() *Block {
	if o.more == nil {
		return nil
	}
	return o.more.block
}

// Table returns the table of a LabelOperand with a table, else nil.
func (o *Operand) Table() *Table {
	if o.more == nil {
		return nil
	}
	return o.more.table
}

// Sel returns the selector of a video operand, such as "h10"; "" if it has none.
func (o *Operand) Sel() string {
	if o.more == nil {
		return ""
	}
	return o.more.sel
}

// extra returns the rarely used fields for writing; it allocates them if necessary.
func (o *Operand) extra() *operandExtra {
	if o.more == nil {
		o.more = &operandExtra{}
	}
	return o.more
}

// Imm is a constant: an integer of 64 bits, or a float.
type Imm struct {
	Kind ImmKind // format of Bits
	Bits uint64  // the integer, or the bits of the float: of an F32Imm the low 32
}

// ImmKind is the format of a constant's bits.
type ImmKind uint8

// The kinds of constant.
const (
	IntImm ImmKind = iota // integer, two's complement
	F32Imm                // 0fXXXXXXXX
	F64Imm                // 0dXXXXXXXXXXXXXXXX, or a decimal number such as 1.5
)

// Encode returns the bits of the constant as a value of type t, in the low bits. Decimal floats round to nearest even.
func (i Imm) Encode(t Type) uint64 {
	mask := ^uint64(0)
	if n := t.Bits(); n < 64 {
		mask = 1<<n - 1
	}
	switch {
	case i.Kind == F64Imm && t.Bits() == 32:
		return uint64(math.Float32bits(float32(math.Float64frombits(i.Bits))))
	case i.Kind == F32Imm && t == F64:
		return math.Float64bits(float64(math.Float32frombits(uint32(i.Bits))))
	}
	return i.Bits & mask
}

// convert returns the constant as a value of type t.
func (i Imm) convert(t Type) Imm {
	switch t {
	case F32:
		return Imm{F32Imm, i.Encode(t)}
	case F64:
		return Imm{F64Imm, i.Encode(t)}
	}
	return Imm{IntImm, i.Encode(t)}
}

// immOf returns the constant of the syntax tree.
func immOf(c syntax.Const) Imm {
	switch c.Kind {
	case syntax.F32:
		return Imm{F32Imm, c.Bits}
	case syntax.F64:
		return Imm{F64Imm, c.Bits}
	}
	return Imm{IntImm, c.Bits}
}

// Source returns the text from which the module was parsed.
func (m *Module) Source() string { return m.src }

// Line returns line n of the source, counted from 1, without its newline.
func (m *Module) Line(n int) string { return sourceLine(m.src, n) }

// Origin returns the place of an instruction in the original source according to .loc, as "file:line:col"; "" if it has
// none.
func (f *Func) Origin(instr *Instr) string {
	if instr.Loc < 0 {
		return ""
	}
	l := &f.Locs[instr.Loc]
	return fmt.Sprintf("%s:%d:%d", f.module.FileName(l.File), l.Line, l.Col)
}

// EachInstr calls do with every instruction of the function, in order.
func (f *Func) EachInstr(do func(instr *Instr)) {
	for _, b := range f.Blocks {
		for _, instr := range b.Instrs {
			do(instr)
		}
	}
}

// EachSymbol calls do with every variable and function named by the instruction.
func (instr *Instr) EachSymbol(do func(s Symbol)) {
	var visit func(ops []Operand)
	visit = func(ops []Operand) {
		for i := range ops {
			if s := ops[i].Sym(); s != nil {
				do(s)
			}
			visit(ops[i].Elems())
		}
	}
	visit(instr.Ops)
	if c := instr.Call; c != nil {
		visit(c.Rets)
		visit(c.Args)
		if s := c.Target.Sym(); s != nil {
			do(s)
		}
		if c.Var != nil {
			do(c.Var)
		}
	}
}

// DebugString returns the text in section .debug_str at "label" or "label+offset", a place to which a .loc refers
// (manual 11.5.4); "" if there is none.
func (m *Module) DebugString(place string) string {
	label, offset, _ := strings.Cut(place, "+")
	skip, err := strconv.ParseUint(cmp.Or(offset, "0"), 10, 64)
	if err != nil {
		return ""
	}
	for _, d := range m.Decls {
		s, ok := d.(*Section)
		if !ok || s.Name != ".debug_str" {
			continue
		}
		found := label == s.Name
		var text []byte
		for _, l := range s.Lines {
			if found = found || l.Label == label; !found {
				continue
			}
			for _, v := range l.Values {
				if n, err := strconv.ParseUint(v, 0, 8); err == nil && l.Type == ".b8" {
					text = append(text, byte(n))
				}
			}
		}
		if skip >= uint64(len(text)) {
			return ""
		}
		text, _, _ = bytes.Cut(text[skip:], []byte{0})
		return string(text)
	}
	return ""
}

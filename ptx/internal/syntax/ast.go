package syntax

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// File is a parsed source: its module-level statements in order.
type File struct {
	Name   string
	Items  []*Item
	Broken []string // names declared by statements with errors
}

// Item is one module-level statement (manual chapters 4 and 11). Exactly one field is set.
type Item struct {
	Pos lexer.Position

	Version     *Version     `parser:"(  @@"`
	Target      *Target      `parser:"| @@"`
	AddressSize *AddressSize `parser:"| @@"`
	File        *FileName    `parser:"| @@"`
	Section     *Section     `parser:"| @@"`
	Sources     *Sources     `parser:"| @@"`
	Dwarf       *Dwarf       `parser:"| @@"`
	Pragma      *Pragma      `parser:"| @@"`
	Alias       *Alias       `parser:"| @@"`
	Decl        *Decl        `parser:"| @@ )"`
}

// names returns the names declared by the statement, as far as it was read; item may be nil.
func (item *Item) names() []string {
	switch {
	case item == nil || item.Decl == nil:
		return nil
	case item.Decl.Entry != nil && item.Decl.Entry.Name != nil:
		return []string{item.Decl.Entry.Name.Text}
	case item.Decl.Func != nil && item.Decl.Func.Name != nil:
		return []string{item.Decl.Func.Name.Text}
	case item.Decl.Var != nil:
		var names []string
		for _, d := range item.Decl.Var.Names {
			names = append(names, d.Name)
		}
		return names
	}
	return nil
}

// body returns the body defined by the statement, nil if there is none.
func (item *Item) body() *Body {
	switch d := item.Decl; {
	case d == nil:
		return nil
	case d.Entry != nil:
		return d.Entry.Body
	case d.Func != nil:
		return d.Func.Body
	}
	return nil
}

// Version is the directive ".version 8.5".
type Version struct {
	Pos    lexer.Position
	Number Decimal `parser:"'.version' @@"`
}

// Target is the directive ".target sm_80, debug".
type Target struct {
	Pos   lexer.Position
	Names []Word `parser:"'.target' @@ ( ',' @@ )*"`
}

// AddressSize is the directive ".address_size 64".
type AddressSize struct {
	Pos  lexer.Position
	Bits Integer `parser:"'.address_size' @@"`
}

// FileName is the directive ".file 1 "k.cu", 1700000000, 1234".
type FileName struct {
	Pos   lexer.Position
	Index Integer   `parser:"'.file' @@"`
	Name  Text      `parser:"@@"`
	Stamp []Integer `parser:"( ',' @@ ( ',' @@ )? )?"`
}

// Pragma is the directive ".pragma "nounroll";".
type Pragma struct {
	Pos  lexer.Position
	Text []Text    `parser:"'.pragma' @@ ( ',' @@ )*"`
	End  Semicolon `parser:"@@"`
}

// Alias is the directive ".alias f, g;".
type Alias struct {
	Pos    lexer.Position
	Name   Word      `parser:"'.alias' @@"`
	Comma  Comma     `parser:"@@"`
	Target Word      `parser:"@@"`
	End    Semicolon `parser:"@@"`
}

// Section is ".section .debug_info { … }".
type Section struct {
	Pos  lexer.Position
	Name Dotted       `parser:"'.section' @@"`
	Body *SectionBody `parser:"@@"`
}

// Sources is ".nv_intermediate_source_section { … }": the texts from which the PTX was generated, to which
// .loc_intermediate refers.
type Sources struct {
	Pos  lexer.Position
	Body *SourcesBody `parser:"'.nv_intermediate_source_section' @@"`
}

// SourcesBody is the text in the braces of Sources. It parses itself.
type SourcesBody struct {
	Blocks []SourceBlock
}

// SourceBlock is a text of Sources:
//
//	.code_block {
//		.ir_name: "tile ir"
//		.sourceFileName: 2
//	.source_begin
//	any lines
//	.source_end
//	}
type SourceBlock struct {
	Pos  Pos
	Name string // name of the language, with its quotes
	File int32  // index of a .file
	Text string // whole lines
}

// Dwarf is a line of a debug section in PTX 1.x: "@@DWARF .section .debug_info, "", @progbits", which begins a section,
// or "@@DWARF .byte 0x01", which contains data. It parses itself.
type Dwarf struct {
	Pos     Pos
	Section string       // name of a beginning section; else ""
	Line    *SectionLine // data; nil if a section begins
}

// SectionBody is the text in the braces of a section, line by line. It parses itself.
type SectionBody struct {
	Lines []SectionLine
}

// SectionLine is a label ("label:"), or a data directive with numbers (".b8 1, 2") or an address (".b32
// .debug_info+12", ".b32 end-begin").
type SectionLine struct {
	Pos    Pos
	Label  string
	Type   string
	Values []string
}

// Decl is a kernel, a function or a variable with its linkage.
type Decl struct {
	Pos     lexer.Position
	Linkage []string `parser:"@( '.extern' | '.visible' | '.weak' | '.common' )*"`
	Entry   *Entry   `parser:"( @@"`
	Func    *Func    `parser:"| @@"`
	Var     *Var     `parser:"| @@"`
	Stray   *Stray   `parser:"| @@ )"`
}

// Entry is a kernel: a definition (Body is set) or a prototype.
type Entry struct {
	Pos        lexer.Position
	Name       *Ident             `parser:"'.entry' @@"`
	Params     []*Param           `parser:"( '(' ( @@ ( ',' @@ )* )?"`
	Close      Close              `parser:"@@ )?"`
	Directives []*KernelDirective `parser:"@@*"`
	Body       *Body              `parser:"( @@"`
	Semicolon  bool               `parser:"| @';'"`
	NoBody     *NoBody            `parser:"| @@ )"`
}

// Func is a device function: a definition (Body is set) or a prototype, which needs no semicolon.
type Func struct {
	Pos        lexer.Position
	Attributes []*Attribute `parser:"'.func' @@*"`
	Rets       []*Param     `parser:"( '(' ( @@ ( ',' @@ )* )?"`
	RetsClose  Close        `parser:"@@ )?"`
	Name       *Ident       `parser:"@@"`
	Params     []*Param     `parser:"( '(' ( @@ ( ',' @@ )* )?"`
	Close      Close        `parser:"@@ )?"`
	Directives []*Directive `parser:"@@*"`
	Body       *Body        `parser:"( @@ | ';' )?"`
}

// Ident is an identifier with its place; it parses itself.
type Ident struct {
	Pos  Pos
	Text string
}

// Directive is a performance or linking directive of a function, such as ".noreturn". It parses itself.
type Directive struct {
	Pos  Pos
	Name string // name, with its dot
	Args []string
}

// KernelDirective is a directive of a kernel, such as ".maxntid 256, 1, 1" or ".pragma "x";". It parses itself.
type KernelDirective struct{ Directive }

// Attribute is ".attribute(.unified(1, 2))" before a function's name. It parses itself.
type Attribute struct{ Directive }

// Qualifier is a word before a variable's name: a space, a type, ".align 8", ".ptr", ".v4", ".attribute(.managed)".
type Qualifier struct {
	Pos  Pos
	Name string // name, with its dot
	Args []string
}

// Param is a parameter or return value of a function. It parses itself, like a Var with a single declarator and no
// semicolon.
type Param struct{ Var }

// Var is a variable or register declaration, such as ".global .align 4 .b8 x[64];" or ".reg .b32 %r<9>;". It parses
// itself.
type Var struct {
	Pos   Pos
	Quals []Qualifier
	Names []Declarator
}

// IsRegister reports whether the declaration declares registers.
func (v *Var) IsRegister() bool {
	return slices.ContainsFunc(v.Quals, func(q Qualifier) bool { return q.Name == ".reg" })
}

// Declarator is one declared name.
type Declarator struct {
	Pos   Pos
	Name  string
	Range bool   // the name is a range %r<N>
	Count int    // N of a range
	Dims  []int  // extents, 4 and 2 for [4][2]; -1 for [], and for [0] as the first; nil without brackets
	Init  *Value // initialiser; nil if there is none
}

// Value is an initialiser: a constant, the address of a symbol, or a list.
type Value struct {
	Pos   Pos
	Field string  // property name of a texture, sampler or surface: "filter_mode = …"
	List  []Value // elements of { … }, after File.Load
	Expr
	Mask uint64 // 0xFF(…): selects a byte of the address or number; 0 without a mask
	text string // text of { … }
}

// IsList reports whether the value is { … }; Each iterates over its elements.
func (v *Value) IsList() bool { return v.text != "" }

// Expr is an evaluated constant expression: a number, or a symbol plus a number.
type Expr struct {
	Sym     string // "" for a plain number
	Index   string // register in Sym[Index] or Sym[Index+Const]; "" if there is none
	Element bool   // Sym[Const]: the number counts elements, not bytes
	Generic bool   // generic(Sym): its generic address
	Const   Const
}

// ConstKind is the kind of a number.
type ConstKind uint8

// The kinds of number (manual section 4.5). Integers are 64 bits wide, and signed by default.
const (
	Signed ConstKind = iota
	Unsigned
	F32 // 0fXXXXXXXX: the 32 bits of a float
	F64 // 0dXXXXXXXXXXXXXXXX and decimal
)

// Const is a number.
type Const struct {
	Kind ConstKind
	Bits uint64
}

// Body is a function body or a scope. The statements of a function body are read one at a time (see Each): a body may be as
// large as its file, and its tree would be many times larger.
type Body struct {
	Pos   Pos
	End   Pos    // place of the closing brace, after the body has been read
	Stmts []Stmt // statements, after File.Load
	text  string // text of a function body, with its braces
}

// Size returns the length of the body's text in bytes.
func (b *Body) Size() int { return len(b.text) }

// Stmt is a statement of a body.
type Stmt interface{ stmt() }

// Label is "name:".
type Label struct {
	Pos  Pos
	Name string
}

// Targets is "name: .branchtargets A, B;" or "name: .calltargets f, g;".
type Targets struct {
	Pos   Pos
	Name  string
	Kind  string
	Names []string
}

// Prototype is "name: .callprototype (ret) _ (params) .noreturn;".
type Prototype struct {
	Pos        Pos
	Name       string
	Rets       []*Param
	Params     []*Param
	Directives []string
}

// Loc is ".loc 1 12 5" or ".loc_intermediate 1 12 5". For code of an inlined function it also has the place of the call.
type Loc struct {
	Pos             Pos
	Intermediate    bool // .loc_intermediate, a place in a text between the source and PTX
	File, Line, Col int32
	Function        string // place of the inlined function's name in .debug_str: "label" or "label+offset"; "" if not inlined
	InlinedAt       *Loc   // place where the function was inlined; nil if not inlined
}

// PragmaStmt is ".pragma" within a body.
type PragmaStmt struct {
	Pos  Pos
	Text []string
}

// Scope is a scope "{ … }" within a body, after File.Load.
type Scope struct{ Body }

// OpenScope is the "{" of a scope, as Body.Each passes it.
type OpenScope struct{ Pos Pos }

// CloseScope is the "}" of a scope, as Body.Each passes it.
type CloseScope struct{ Pos Pos }

// Instr is an instruction.
type Instr struct {
	Pos      Pos    // place of the opcode
	Guard    string // register p of @p or @!p; "" if there is none
	GuardNot bool   // @!p
	GuardPos Pos    // place of the @
	Op       string // opcode with all modifiers
	Operands []Operand
}

// OperandKind is the notation of an operand.
type OperandKind uint8

// The kinds of operand.
const (
	Name    OperandKind = iota + 1 // register, symbol or label, optionally plus an offset
	Number                         // constant
	Vector                         // {a, b}
	Address                        // [a+4], [texture, {x, y}]
	List                           // (a, b) in a call
)

// Operand is an operand of an instruction.
type Operand struct {
	Pos      Pos
	Kind     OperandKind
	Not      bool      // !p
	Minus    bool      // -a, in vmad
	Expr               // for Name, Number, and the first part of an Address
	Elems    []Operand // elements of a Vector or List; further parts of an Address
	PairWith *Operand  // the second operand of a pair, after "|"; nil if there is none
	Selector string    // suffix of an address: ".unified"
}

func (*Label) stmt()      {}
func (*Targets) stmt()    {}
func (*Prototype) stmt()  {}
func (*Loc) stmt()        {}
func (*PragmaStmt) stmt() {}
func (*Scope) stmt()      {}
func (*OpenScope) stmt()  {}
func (*CloseScope) stmt() {}
func (*Instr) stmt()      {}
func (*Var) stmt()        {}

package debug

// This file has the syntax of conditions, which printed and watched expressions share.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"gemu/probe"
	"gemu/ptx"
)

// Condition is an expression over the registers and the memory of a thread:
//
//	%r5  r5           the value of a register in the thread, in the register's type
//	r5[3]  r5[lane+1] the value of a register in another lane of the warp
//	r5.f32            the bits of a register as another type
//	%tid.x  tid.y     a special register: tid, ntid, ctaid, nctaid, laneid, warpid …
//	lane warp cta     the thread's lane and warp, and the linear index of its CTA
//	n                 a parameter of the kernel, or a variable of one element
//	out[5].f32        element 5 of the array that a pointer parameter refers to, or of a variable; the type of a
//	                  variable may be left out
//	[%rd4+8].u32      memory at a generic address; shared[…], local[…], param[…] are memory of a state space
//	42 0x2a 1.5       numbers
//	-a !a ~a          prefix operators as in C
//	a + b             * / % + - << >> < <= > >= == != & ^ | && || and brackets as in C
//	any(a) all(a)     whether a holds for any or for all lanes of the warp split
//
// Integers have 64 bits, signed or unsigned by their type. Comparisons compare their mathematical values. "%" before a
// blank is the remainder.
type Condition struct {
	Text string // as written
	root *node

	launch   *probe.LaunchInfo      // the launch for which programs are compiled
	programs map[*ptx.Func]compiled // by function
}

// ConditionError is an error in a condition, with its place.
type ConditionError struct {
	Text   string // the condition
	Column int    // from 1
	Msg    string // the problem, without its place
}

// Error returns the message with its column.
func (e *ConditionError) Error() string { return fmt.Sprintf("%d: %s", e.Column, e.Msg) }

// Snippet returns the condition with a caret below the error.
func (e *ConditionError) Snippet() string {
	return fmt.Sprintf("   %s\n   %s^", e.Text, strings.Repeat(" ", max(e.Column-1, 0)))
}

var conditionLexer = lexer.MustSimple([]lexer.SimpleRule{
	{Name: "Float", Pattern: `(\d+\.\d*|\.\d+)([eE][-+]?\d+)?|\d+[eE][-+]?\d+`},
	{Name: "Int", Pattern: `0[xX][0-9a-fA-F]+|\d+`},
	{Name: "Type", Pattern: `\.(pred|bf16|f16|[bsuf](8|16|32|64))\b`},
	{Name: "Name", Pattern: `%?[A-Za-z_$][\w$]*(\.[xyzw]\b)?`},
	{Name: "Punct", Pattern: `\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%<>&|^!~()\[\]]`},
	{Name: "Blank", Pattern: `\s+`},
})

// chain is a sequence of terms with binary operators between them.
type chain struct {
	First *term   `parser:"@@"`
	Rest  []*link `parser:"@@*"`
}

type link struct {
	Pos  lexer.Position
	Op   string `parser:"@('||' | '&&' | '==' | '!=' | '<=' | '>=' | '<<' | '>>' | '<' | '>' | '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^')"`
	Term *term  `parser:"@@"`
}

type term struct {
	Pos    lexer.Position
	Signs  []string `parser:"@('-' | '!' | '~')*"`
	Float  *string  `parser:"( @Float"`
	Int    *string  `parser:"| @Int"`
	Group  *chain   `parser:"| '(' @@ ')'"`
	Memory *chain   `parser:"| '[' @@ ']'"`
	Name   string   `parser:"| @Name"`
	Args   *chain   `parser:"  ( '(' @@ ')'"`
	Index  *chain   `parser:"  | '[' @@ ']' )? )"`
	Type   string   `parser:"@Type?"`
}

var conditionParser = participle.MustBuild[chain](participle.Lexer(conditionLexer), participle.Elide("Blank"))

// maxConditionBytes limits the length of a condition in bytes, and so the nesting of brackets.
const maxConditionBytes = 1 << 12

// ParseCondition parses a condition. The error is a *ConditionError.
func ParseCondition(text string) (*Condition, error) {
	if len(text) > maxConditionBytes {
		return nil, &ConditionError{text[:60], 1, fmt.Sprintf("the condition has %d bytes; at most %d are allowed", len(text), maxConditionBytes)}
	}
	tree, err := conditionParser.ParseString("", text)
	if err != nil {
		var syntaxErr participle.Error
		var token *participle.UnexpectedTokenError
		switch {
		case errors.As(err, &token) && token.Unexpected.EOF():
			return nil, &ConditionError{text, len(text) + 1, "a term is missing"}
		case errors.As(err, &token):
			return nil, &ConditionError{text, token.Unexpected.Pos.Column, fmt.Sprintf("unexpected %q", token.Unexpected.Value)}
		case errors.As(err, &syntaxErr):
			return nil, &ConditionError{text, syntaxErr.Position().Column, syntaxErr.Message()}
		}
		return nil, &ConditionError{text, 1, err.Error()}
	}
	r := reader{text}
	root, err := r.chain(tree)
	if err != nil {
		return nil, err
	}
	return &Condition{Text: text, root: root}, nil
}

// nodeKind is the kind of an expression node.
type nodeKind uint8

const (
	constNode  nodeKind = iota // value
	nameNode                   // register, special register, parameter or variable name; its lane or element left, if not nil
	memoryNode                 // memory of space name at address left
	signNode                   // op left
	binaryNode                 // left op right
	anyNode                    // left holds for any lane
	allNode                    // left holds for all lanes
)

type node struct {
	kind        nodeKind
	column      int // in the condition, from 1
	op, name    string
	typ         ptx.Type // the type of access; NoType: the declared type
	left, right *node
	value       value
}

// reader builds nodes from the parsed chain.
type reader struct{ text string }

func (r *reader) fail(p lexer.Position, format string, args ...any) error {
	return &ConditionError{r.text, p.Column, fmt.Sprintf(format, args...)}
}

// binding is the precedence of binary operators: an operator with a higher number binds more tightly.
var binding = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

func (r *reader) chain(c *chain) (*node, error) {
	first, err := r.term(c.First)
	if err != nil {
		return nil, err
	}
	rest := c.Rest
	return r.climb(first, &rest, 1)
}

// climb returns the node of left and the following operators whose precedence is at least least. It removes these
// operators and their right operands from rest.
func (r *reader) climb(left *node, rest *[]*link, least int) (*node, error) {
	for len(*rest) > 0 && binding[(*rest)[0].Op] >= least {
		l := (*rest)[0]
		*rest = (*rest)[1:]
		right, err := r.term(l.Term)
		if err != nil {
			return nil, err
		}
		for len(*rest) > 0 && binding[(*rest)[0].Op] > binding[l.Op] {
			if right, err = r.climb(right, rest, binding[l.Op]+1); err != nil {
				return nil, err
			}
		}
		left = &node{kind: binaryNode, column: l.Pos.Column, op: l.Op, left: left, right: right}
	}
	return left, nil
}

func (r *reader) term(t *term) (n *node, err error) {
	n = &node{column: t.Pos.Column + len(t.Signs)}
	inner := func(c *chain) *node {
		var in *node
		if err == nil {
			in, err = r.chain(c)
		}
		return in
	}
	switch {
	case t.Float != nil:
		f, e := strconv.ParseFloat(*t.Float, 64)
		if e != nil {
			return nil, r.fail(t.Pos, "%s is too large", *t.Float)
		}
		n.value = value{class: float, f: f}
	case t.Int != nil:
		u, e := strconv.ParseUint(*t.Int, 0, 64)
		if e != nil {
			return nil, r.fail(t.Pos, "%s does not fit in 64 bits", *t.Int)
		}
		n.value = value{bits: u, signed: int64(u) >= 0}
	case t.Group != nil:
		n = inner(t.Group)
	case t.Memory != nil:
		n.kind, n.left = memoryNode, inner(t.Memory)
	case t.Args != nil && t.Name == "any":
		n.kind, n.left = anyNode, inner(t.Args)
	case t.Args != nil && t.Name == "all":
		n.kind, n.left = allNode, inner(t.Args)
	case t.Args != nil:
		return nil, r.fail(t.Pos, "unknown function %s(…): want any(…) or all(…)", t.Name)
	case t.Index != nil && memorySpaces[t.Name] != 0:
		n.kind, n.name, n.left = memoryNode, t.Name, inner(t.Index)
	default:
		n.kind, n.name = nameNode, t.Name
		if t.Index != nil {
			n.left = inner(t.Index)
		}
	}
	if err != nil {
		return nil, err
	}
	if t.Type != "" {
		if n.kind != nameNode && n.kind != memoryNode {
			return nil, r.fail(t.Pos, "%s applies only to registers and memory", t.Type)
		}
		n.typ = ptx.TypeByName(t.Type[1:])
	}
	if n.kind == memoryNode && n.typ == ptx.NoType {
		return nil, r.fail(t.Pos, "the type of the memory is missing, as in [%%rd1].u32")
	}
	for i := len(t.Signs) - 1; i >= 0; i-- {
		n = &node{kind: signNode, column: t.Pos.Column + i, op: t.Signs[i], left: n}
	}
	return n, nil
}

// memorySpaces has the state spaces that may be named before an address in brackets.
var memorySpaces = map[string]ptx.Space{"shared": ptx.Shared, "local": ptx.Local, "param": ptx.Param, "global": ptx.Global, "const": ptx.Const}

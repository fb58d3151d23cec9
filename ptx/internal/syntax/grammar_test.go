package syntax

import (
	"math/rand/v2"
	"strings"
	"testing"

	participle "github.com/alecthomas/participle/v2/ebnf"
	"golang.org/x/exp/ebnf"
)

// byHand is the grammar of the nodes that parse themselves, from the leaves to function bodies. It is written for this test.
const byHand = `
Word      = name .
Ident     = name .
Dotted    = dotted .
Text      = text .
Integer   = integer .
Decimal   = decimal .
Comma     = "," .
Close     = ")" .
Semicolon = ";" .

Directive       = dotted [ ( integer | text ) { "," ( integer | text ) } ] .
KernelDirective = Directive | Pragma .
Attribute       = ".attribute" "(" { name | integer | "," | dotted } ")" .

Param      = Qualifier { Qualifier } Declarator .
Var        = Space { Qualifier } Declarator { "," Declarator } ";" .
Space      = ".global" | ".const" | ".shared" | ".local" | ".reg" | ".param" .
Qualifier  = dotted | ".align" integer | Attribute .
Declarator = name [ "<" integer ">" ] { "[" [ integer ] "]" } [ "=" Value ] .
Value      = "{" [ Value { "," Value } ] "}" | Address | Constant | integer "(" Address ")" .
Address    = ( name | "generic" "(" name ")" ) [ "+" Constant ] | name "[" ( Constant | name [ "+" Constant ] ) "]" .
Constant   = Unary { ( "+" | "*" | "&" | "|" | "^" ) Unary } .
Unary      = integer | "-" Unary | "~" Unary | "!" Unary | "(" Constant ")" | "(" ".u64" ")" Unary | "WARP_SZ" .

SectionBody = "{" { name ":" | Data } "}" .
Data        = ( ".b8" | ".b16" | ".byte" ) Small { "," Small } | ( ".b32" | ".b64" | ".4byte" | ".quad" ) ( Whole { "," Whole } | name [ "+" integer | "-" name ] | dotted [ "+" integer ] ) .
Small       = [ "-" ] digit .
Whole       = [ "-" ] integer .
Dwarf       = "@@" "DWARF" ( ".section" dotted "," text "," "@" "progbits" | ".4byte" ( integer { "," integer } | name ) ) .

Body      = "{" { Statement } "}" .
Statement = name ":" | Var | Body | Table | Place | Pragma | Instr .
Table     = name ":" ( ".branchtargets" | ".calltargets" ) name { "," name } ";" |
            name ":" ".callprototype" [ "(" [ Param { "," Param } ] ")" ] "_" [ "(" [ Param { "," Param } ] ")" ] { dotted } ";" .
SourcesBody = "{" { ".code_block" "{" ".ir_name" ":" text ".sourceFileName" ":" digit "\n.source_begin\n} \"\n.source_end\n" "}" } "}" .
Place     = ".loc_intermediate" integer integer integer | ".loc" integer integer integer [ "," "function_name" ( name | dotted ) [ "+" integer ] "," "inlined_at" integer integer integer ] .
Instr     = [ "@" [ "!" ] name ] ( opcode [ Operand { "," Operand } ] | "call" Call ) ";" .
Call      = [ List "," ] name [ "," List ] [ "," name ] .
List      = "(" [ Operand { "," Operand } ] ")" .
Operand   = ( Simple | Vector | Memory ) [ "|" Simple ] .
Simple    = [ "!" | "-" ] name | name [ "+" Number ] | Number .
Number    = integer | decimal | "-" integer | "(" Constant ")" .
Vector    = "{" [ Operand { "," Operand } ] "}" .
Memory    = "[" ( Address | Number ) { "," Operand } "]" [ ".unified" ] .

opcode  = name dotted .
name    = letter { letter | digit } .
letter  = "a" … "z" | "A" … "Z" | "_" | "$" .
digit   = "0" … "9" .
integer = "1" … "9" [ digit ] [ digit ] .
decimal = integer "." digit .
dotted  = ".x" { letter | digit } .
text    = "\"" { letter | " " } "\"" .
`

// grammar returns the whole grammar in the notation of package ebnf: the part that participle prints, and byHand. It leaves
// out Stray and NoBody, which always report an error.
func grammar(t *testing.T) ebnf.Grammar {
	t.Helper()
	printed := parser.String()
	for _, alternative := range []string{" | Stray", " | NoBody"} {
		if !strings.Contains(printed, alternative) {
			t.Fatalf("the grammar does not contain %q", alternative)
		}
		printed = strings.ReplaceAll(printed, alternative, "")
	}
	tree, err := participle.ParseString(printed)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	var text strings.Builder
	for _, p := range tree.Productions {
		text.WriteString(p.Production + " = " + expressionText(t, p.Expression) + " .\n")
	}
	g, err := ebnf.Parse("ptx", strings.NewReader(text.String()+byHand))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	return g
}

// expressionText converts an expression of participle to Go's EBNF: [a] for a?, {a} for a*.
func expressionText(t *testing.T, e *participle.Expression) string {
	var alternatives []string
	for _, seq := range e.Alternatives {
		var terms []string
		for _, term := range seq.Terms {
			s := ""
			switch {
			case term.Name != "":
				s = term.Name
			case term.Literal != "":
				s = term.Literal
			case term.Group != nil:
				s = "( " + expressionText(t, term.Group.Expr) + " )"
			default:
				t.Fatalf("a term %v is a token of the lexer, not a node", term)
			}
			switch term.Repetition {
			case "?":
				s = "[ " + s + " ]"
			case "*":
				s = "{ " + s + " }"
			case "+":
				s += " { " + s + " }"
			}
			terms = append(terms, s)
		}
		alternatives = append(alternatives, strings.Join(terms, " "))
	}
	return strings.Join(alternatives, " | ")
}

// TestProductionsAreDefinedAndUsed checks that each production is defined and used.
func TestProductionsAreDefinedAndUsed(t *testing.T) {
	if err := ebnf.Verify(grammar(t), "Item"); err != nil {
		t.Error(err)
	}
}

// TestSentencesOfTheGrammarParse checks that every sentence of the grammar is read without an error.
func TestSentencesOfTheGrammarParse(t *testing.T) {
	g := grammar(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		s := &sentence{g: g, r: r}
		s.write(g["Item"].Expr, false)
		text := s.String()
		f, errs := Parse("sentence.ptx", text)
		if len(errs) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, errs[0], text)
		}
		if len(f.Items) != 1 {
			t.Fatalf("seed %d: %d statements instead of one\n%s", seed, len(f.Items), text)
		}
	}
}

// sentence is a random sentence of a grammar.
type sentence struct {
	strings.Builder
	g     ebnf.Grammar
	r     *rand.Rand
	depth int
}

// write appends a random text that the expression generates. token says that the text is part of a token; otherwise a space
// follows each token.
func (s *sentence) write(e ebnf.Expression, token bool) {
	s.depth++
	defer func() { s.depth-- }()
	switch e := e.(type) {
	case ebnf.Alternative:
		n := len(e)
		if s.depth > 40 {
			n = 1 // the first alternative ends soonest
		}
		s.write(e[s.r.IntN(n)], token)
	case ebnf.Sequence:
		for _, part := range e {
			s.write(part, token)
		}
	case *ebnf.Group:
		s.write(e.Body, token)
	case *ebnf.Option:
		if s.depth < 40 && s.r.IntN(2) == 0 {
			s.write(e.Body, token)
		}
	case *ebnf.Repetition:
		for s.depth < 40 && s.r.IntN(2) == 0 {
			s.write(e.Body, token)
		}
	case *ebnf.Name:
		lexical := e.String[0] >= 'a' && e.String[0] <= 'z'
		s.write(s.g[e.String].Expr, lexical)
		if lexical && !token {
			s.WriteByte(' ')
		}
	case *ebnf.Range:
		first, last := e.Begin.String[0], e.End.String[0]
		s.WriteByte(first + byte(s.r.IntN(int(last-first)+1)))
	case *ebnf.Token:
		s.WriteString(e.String)
		if !token {
			s.WriteByte(' ')
		}
	}
}

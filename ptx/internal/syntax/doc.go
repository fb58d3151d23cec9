// Package syntax turns PTX text into a syntax tree: the text as written, with positions, before names and opcodes are
// looked up. Module-level statements are parsed by a grammar for the library participle
// (github.com/alecthomas/participle). The frequent nodes (instructions and initialisers, of which a file has hundreds of
// thousands) are parsed by hand-written code (reader.go).
//
//	text ──► scanner ──► participle (module level) ──► File, Item, Decl …
//	                         │ text in braces: one token
//	                         ▼
//	                     rescan: second scanner ──► reader ──► Stmt, Instr, Operand, Value
//
// A node that parses itself has a method Parse, which participle calls (participle.Parseable). Bodies and initialisers are
// parsed when their method Each is called.
//
// Read the files in this order: ast.go (the tree), parse.go, lexer.go, leaf.go, reader.go, declaration.go,
// expression.go, body.go, section.go and print.go.
package syntax

// Package directive reads the //gemu:kernel and //gemu:compare directives of package alu, which name the operations of
// its functions.
//
//	//gemu:kernel KEY; VAR = CHOICE …; … {slow}
//	//gemu:compare KEY; VAR = CHOICE …
//
// KEY is the name of an operation. There is a kernel for each choice of VAR: the choice replaces $VAR in KEY. The operation of
// a comparison has the name cmp.KEY, and its result is combined with a predicate.
// A choice "u32|s32" gives two keys the same kernel. "T:W = u32:u64" sets two variables at once. {ftz} in KEY makes two
// kernels, the second of which flushes subnormals. "slow" omits the loop for full masks. "takes = N" marks an operation
// whose machine code is long (25 ns or more for a row): N more operations count towards the limit at which machine code exits
// to Go. "halves" applies a function of 16-bit numbers to both halves of 32-bit operands. "own loop = IMM …" gives these values of
// Instr.Imm a loop of their own in machine code, in which Imm is a constant; all other values share a loop. With IMM/MASK only
// the bits of the mask are compared, and constant. "common = FUNCTION CONDITION" names two functions with the same operands: where
// the condition is true, both functions have the same result. Machine code executes FUNCTION if the condition is true in all lanes.
//
// The function's parameters are the operands, with the types in KEY. Three parameters are no operands: a string m gets the
// choice of M as its value, a floatOp op the constant of the choice of OP (opAdd for add), and imm gets Instr.Imm.
//
// The affine rule is that of the PTX instruction KEY, or that of comparisons. An operation that is only a step of an
// instruction, so that no PTX instruction is named KEY, may name a rule with "rule = NAME". Without the name it has the rule
// of uniform operands: if all operands are uniform, it executes for one lane.
package directive

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// Kernel is a generated function of package alu that executes operations on rows, lane by lane with a function for a lane.
type Kernel struct {
	Name      string            // name of the generated Go function
	Ops       []Op              // operations that it executes
	Fn        string            // name of the function for a lane, with type arguments
	Decl      *ast.FuncDecl     // the function for a lane
	Types     map[string]string // Go types of its type parameters
	Params    []Param
	Results   []string // Go types of its results
	Slow      bool     // there is no loop for full masks
	Short     bool     // isShort of the function for a lane; no values of Instr.Imm have their own loops
	Takes     int      // operations that its machine code counts as, in addition to itself
	Halves    bool     // the function computes on 16-bit numbers, and the kernel on both halves of 32-bit slots
	OwnImms   []OwnImm // values of Instr.Imm with a loop of their own in machine code
	Common    string   // name of a function with the same result where Condition is true; "": none
	Condition string   // name of a function that returns bool
	FTZ       bool     // subnormal operands and results are flushed
	Compare   bool     // the directive is //gemu:compare
	Rule      string   // name of the affine rule; "": the rule of the PTX instruction, if there is one
}

// OwnImm selects values of Instr.Imm by the bits of a mask.
type OwnImm struct {
	Value, Mask uint64
}

// All reports whether the mask has all bits, so that there is one value.
func (o OwnImm) All() bool { return o.Mask == ^uint64(0) }

// Op is an operation that the kernel executes.
type Op struct {
	Key  string
	Src  string     // Go type of the first operand, as the key names it
	Dst  string     // Go type of the result, as the key names it
	Rule ptx.Affine // set by the generator
}

// Param is a parameter of the function.
type Param struct {
	Type  string // Go type of an operand; "" if it is not an operand
	Value string // value of a parameter that is not an operand
}

var goTypes = map[string]string{
	"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
	"b16": "uint16", "b32": "uint32", "b64": "uint64", "f32": "float32", "f64": "float64", "u16x2": "uint32",
}

// Read reads the directives of the Go files of package alu in a directory. It exits with a message if a directive is
// invalid.
func Read(dir string) []Kernel {
	fset := token.NewFileSet()
	files, constants := parse(fset, dir), Constants(dir)
	var kernels []Kernel
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, c := range fn.Doc.List {
				for _, kind := range []string{"kernel", "compare"} {
					if text, ok := strings.CutPrefix(c.Text, "//gemu:"+kind+" "); ok {
						kernels = append(kernels, expand(fset, constants, fn, text, kind == "compare")...)
					}
				}
			}
		}
	}
	return kernels
}

// parse parses the hand-written Go files of a directory, without tests.
func parse(fset *token.FileSet, dir string) (parsed []*ast.File) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		log.Fatal(err)
	}
	slices.Sort(files)
	for _, name := range files {
		if strings.HasPrefix(filepath.Base(name), "z") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			log.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	return parsed
}

// Constants returns the names of the constants that the hand-written Go files of a directory declare.
func Constants(dir string) map[string]bool {
	names := map[string]bool{}
	for _, f := range parse(token.NewFileSet(), dir) {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			for _, spec := range decl.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}

// UpperFirst returns a name with an upper-case first letter. It exits with a message if the name is empty.
func UpperFirst(name, context string) string {
	if name == "" {
		log.Fatalf("%s: an empty name", context)
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Name returns the operation's Go name: MadLoS32 for mad.lo.s32.
func (o *Op) Name() string {
	var b strings.Builder
	for _, part := range strings.Split(o.Key, ".") {
		b.WriteString(UpperFirst(part, "operation "+o.Key))
	}
	return b.String()
}

// expand makes a kernel for each combination of choices.
func expand(fset *token.FileSet, constants map[string]bool, fn *ast.FuncDecl, text string, compare bool) []Kernel {
	text, slow := strings.CutSuffix(text, " slow")
	parts := strings.Split(text, ";")
	key := strings.TrimSpace(parts[0])
	type variable struct {
		names   []string
		choices []string
	}
	var vars []variable
	rule, takes, halves := "", 0, false
	var ownImms []OwnImm
	common, condition := "", ""
	for _, p := range parts[1:] {
		if strings.TrimSpace(p) == "halves" {
			halves = true
			continue
		}
		name, list, ok := strings.Cut(p, "=")
		if !ok {
			log.Fatalf("%s: directive %q: %q is not NAME = VALUE", fn.Name.Name, text, strings.TrimSpace(p))
		}
		if strings.TrimSpace(name) == "rule" {
			rule = strings.TrimSpace(list)
			continue
		}
		if strings.TrimSpace(name) == "takes" {
			n, err := strconv.Atoi(strings.TrimSpace(list))
			if err != nil {
				log.Fatalf("%s: takes: %v", fn.Name.Name, err)
			}
			takes = n
			continue
		}
		if strings.TrimSpace(name) == "common" {
			if common, condition, ok = strings.Cut(strings.TrimSpace(list), " "); !ok {
				log.Fatalf("%s: common: %q is not FUNCTION CONDITION", fn.Name.Name, strings.TrimSpace(list))
			}
			continue
		}
		if strings.TrimSpace(name) == "own loop" {
			for _, text := range strings.Fields(list) {
				own := OwnImm{Mask: ^uint64(0)}
				value, mask, masked := strings.Cut(text, "/")
				var err error
				if masked {
					own.Mask, err = strconv.ParseUint(mask, 0, 32)
				}
				if err == nil {
					own.Value, err = strconv.ParseUint(value, 0, 32)
				}
				if err != nil || own.Value&^own.Mask != 0 {
					log.Fatalf("%s: own loop: %q is not VALUE or VALUE/MASK of 32 bits", fn.Name.Name, text)
				}
				ownImms = append(ownImms, own)
			}
			continue
		}
		vars = append(vars, variable{strings.Split(strings.TrimSpace(name), ":"), strings.Fields(list)})
	}
	var out []Kernel
	var rec func(i int, bound map[string]string)
	rec = func(i int, bound map[string]string) {
		if i < len(vars) {
			for _, c := range vars[i].choices {
				b := map[string]string{}
				for k, v := range bound {
					b[k] = v
				}
				parts := strings.Split(c, ":")
				if len(parts) != len(vars[i].names) {
					log.Fatalf("%s: choice %q of the variables %s has %d parts, want %d", fn.Name.Name, c, strings.Join(vars[i].names, ":"), len(parts), len(vars[i].names))
				}
				for j, part := range parts {
					b[vars[i].names[j]] = part
				}
				rec(i+1, b)
			}
			return
		}
		ftzs := []bool{false}
		if strings.Contains(key, "{ftz}") {
			ftzs = append(ftzs, true)
		}
		for _, ftz := range ftzs {
			k := instance(fset, constants, fn, key, bound, ftz, compare)
			k.Slow, k.Short, k.Takes, k.Rule = slow, !ftz && ownImms == nil && isShort(fn), takes, rule
			k.OwnImms, k.Common, k.Condition = ownImms, common, condition
			if halves {
				k.setHalves()
			}
			if compare {
				k.Rule = "compare"
			}
			out = append(out, k)
		}
	}
	rec(0, map[string]string{})
	return out
}

// setHalves changes the kernel of a function of 16-bit numbers into a kernel of pairs of them.
func (k *Kernel) setHalves() {
	const pair = "uint32"
	types := slices.Clone(k.Results)
	for i := range k.Params {
		if t := &k.Params[i].Type; *t != "" {
			types = append(types, *t)
			*t = pair
		}
	}
	if len(k.Results) != 1 || slices.ContainsFunc(types, func(t string) bool { return t != "uint16" }) {
		log.Fatalf("%s: halves: the types of operands and result are %v, must be uint16", k.Decl.Name.Name, types)
	}
	k.Halves, k.Results = true, []string{pair}
	for i := range k.Ops {
		k.Ops[i].Src, k.Ops[i].Dst = pair, pair
	}
}

// shortFunctions matches the functions of package fp that take a few instructions of a host.
var shortFunctions = regexp.MustCompile(`^(Canon32|Result64|Quiet64|FmaRN(32|64)|SqrtRN32|F32ToF64|NarrowF64)$`)

// isShort reports whether a function for a lane is taken for short: it has no loops, and of package fp it calls only functions
// that shortFunctions matches. Its other calls are not looked at.
func isShort(fn *ast.FuncDecl) bool {
	short := true
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			short = false
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			short = short && !(ok && x.Name == "fp" && !shortFunctions.MatchString(n.Sel.Name))
		}
		return short
	})
	return short
}

// instance makes the kernel of a function for a choice of each variable (bound).
func instance(fset *token.FileSet, constants map[string]bool, fn *ast.FuncDecl, key string, bound map[string]string, ftz, compare bool) Kernel {
	k := Kernel{FTZ: ftz, Compare: compare, Decl: fn, Types: map[string]string{}}
	key = strings.ReplaceAll(key, "{ftz}", map[bool]string{true: ".ftz"}[ftz])
	if compare {
		key = "cmp." + key
	}
	first := func(name string) string {
		c, _, _ := strings.Cut(bound[name], "|")
		return c
	}
	// resolve returns the Go type of an expression; choose selects the type of a type variable.
	resolve := func(e ast.Expr, choose func(name string) string) string {
		var b bytes.Buffer
		format.Node(&b, fset, e)
		t := b.String()
		if c := choose(t); c != "" {
			if t = goTypes[c]; t == "" {
				log.Fatalf("%s: operation %s: no Go type for %s", fn.Name.Name, key, c)
			}
		}
		return t
	}
	k.Fn = fn.Name.Name
	typed := map[string]bool{} // type parameters
	if tp := fn.Type.TypeParams; tp != nil {
		var args []string
		for _, f := range tp.List {
			for _, n := range f.Names {
				t := goTypes[first(n.Name)]
				if t == "" {
					log.Fatalf("%s: no Go type for %s = %q", fn.Name.Name, n.Name, first(n.Name))
				}
				args = append(args, t)
				typed[n.Name], k.Types[n.Name] = true, t
			}
		}
		k.Fn += "[" + strings.Join(args, ", ") + "]"
	}
	var source ast.Expr // type of the first operand
	for _, f := range fn.Type.Params.List {
		t := resolve(f.Type, first)
		for _, n := range f.Names {
			switch {
			case n.Name == "imm":
				k.Params = append(k.Params, Param{Value: "instr.Imm"})
			case t == "string":
				k.Params = append(k.Params, Param{Value: fmt.Sprintf("%q", first(strings.ToUpper(n.Name)))})
			case t == "floatOp":
				name := first(strings.ToUpper(n.Name))
				constant := "op" + UpperFirst(name, fn.Name.Name+": $"+strings.ToUpper(n.Name))
				if !constants[constant] {
					log.Fatalf("%s: operation %s: package alu has no constant %s for %q: declare it as a floatOp", fn.Name.Name, key, constant, name)
				}
				k.Params = append(k.Params, Param{Value: constant})
			default:
				k.Params = append(k.Params, Param{Type: t})
				if source == nil {
					source = f.Type
				}
			}
		}
	}
	for _, f := range fn.Type.Results.List {
		k.Results = append(k.Results, resolve(f.Type, first))
	}
	// An operation for each combination of aliases.
	names := slices.Sorted(maps.Keys(bound))
	var rec func(i int, key string, alias map[string]string)
	rec = func(i int, key string, alias map[string]string) {
		if i == len(names) {
			choose := func(name string) string { return alias[name] }
			k.Ops = append(k.Ops, Op{Key: key, Src: resolve(source, choose), Dst: resolve(fn.Type.Results.List[0].Type, choose)})
			return
		}
		choices := strings.Split(bound[names[i]], "|")
		for _, c := range choices {
			// A kernel can serve several types only if they have the same width.
			if typed[names[i]] && strings.TrimLeft(choices[0], "usbf") != strings.TrimLeft(c, "usbf") {
				log.Fatalf("%s: %s and %s differ in width", fn.Name.Name, choices[0], c)
			}
			next := maps.Clone(alias)
			next[names[i]] = c
			rec(i+1, strings.ReplaceAll(key, "$"+names[i], c), next)
		}
	}
	rec(0, key, map[string]string{})
	slices.SortFunc(k.Ops, func(a, b Op) int { return strings.Compare(a.Key, b.Key) })
	k.Name = "k_" + strings.NewReplacer(".", "_", "|", "_").Replace(k.Ops[0].Key)
	return k
}

// Slot returns the kind of row for operands of a Go type: R, Q or P.
func Slot(t string) string {
	switch t {
	case "bool":
		return "P"
	case "uint64", "int64", "float64":
		return "Q"
	}
	return "R"
}

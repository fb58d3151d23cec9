// Package directive reads the //gemu:kernel and //gemu:compare directives of package alu, which name the operations of
// its functions.
//
//	//gemu:kernel KEY; VAR = CHOICE …; … {slow}
//
// $VAR in KEY stands for each choice in turn. A choice "u32|s32" gives two keys the same kernel; "u32:u64" sets two
// type parameters ("T:W = …"). {ftz} in KEY makes two kernels, the second flushing subnormals. "slow" omits the loop
// for full masks. A function parameter that is not an operand takes its value from the directive: a string named m from
// $M, a floatOp named op from $OP, and imm from Instr.Imm.
//
// The signature is that of the function, with the types in KEY. The affine rule is that of the PTX instruction KEY. An
// operation that is only a step of an instruction has "rule = NAME"; without it, it executes once for uniform operands.
// "takes = N" marks operations whose machine code is long (25 ns or more for a row): each counts as N additional
// operations.
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

// Kernel is a function of package alu that executes operations on rows.
type Kernel struct {
	Name    string // name of the generated Go function
	Ops     []Op
	Fn      string            // call expression head, with type arguments
	Decl    *ast.FuncDecl     // the function
	Types   map[string]string // Go types of its type parameters
	Params  []Param
	Results []string // Go types
	Slow    bool
	Short   bool // few instructions for each lane
	Takes   int  // cost in operations, in addition to itself, as machine code; 0: none
	FTZ     bool
	Compare bool
	Rule    string // affine rule of a step
}

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

// Read reads the directives of the Go files of package alu in a directory. It exits if a directive is invalid.
func Read(dir string) []Kernel {
	fset := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		log.Fatal(err)
	}
	slices.Sort(files)
	var kernels []Kernel
	for _, name := range files {
		if strings.HasPrefix(filepath.Base(name), "z") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			log.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, c := range fn.Doc.List {
				for _, kind := range []string{"kernel", "compare"} {
					if text, ok := strings.CutPrefix(c.Text, "//gemu:"+kind+" "); ok {
						kernels = append(kernels, expand(fset, fn, text, kind == "compare")...)
					}
				}
			}
		}
	}
	return kernels
}

// Name returns the operation's Go name: MadLoS32 for mad.lo.s32.
func (o *Op) Name() string {
	var b strings.Builder
	for _, part := range strings.Split(o.Key, ".") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// expand makes a kernel for each combination of choices.
func expand(fset *token.FileSet, fn *ast.FuncDecl, text string, compare bool) []Kernel {
	text, slow := strings.CutSuffix(text, " slow")
	parts := strings.Split(text, ";")
	key := strings.TrimSpace(parts[0])
	type variable struct {
		names   []string
		choices []string
	}
	var vars []variable
	rule, takes := "", 0
	for _, p := range parts[1:] {
		name, list, ok := strings.Cut(p, "=")
		if !ok {
			log.Fatalf("%s: bad directive %q", fn.Name.Name, text)
		}
		if strings.TrimSpace(name) == "rule" {
			rule = strings.TrimSpace(list)
			continue
		}
		if strings.TrimSpace(name) == "takes" {
			n, err := strconv.Atoi(strings.TrimSpace(list))
			if err != nil {
				log.Fatalf("%s: %v", fn.Name.Name, err)
			}
			takes = n
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
				for j, part := range strings.Split(c, ":") {
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
			k := instance(fset, fn, key, bound, ftz, compare)
			k.Slow, k.Short, k.Takes, k.Rule = slow, !ftz && isShort(fn), takes, rule
			if compare {
				k.Rule = "compare"
			}
			out = append(out, k)
		}
	}
	rec(0, map[string]string{})
	return out
}

// shortFunctions matches the functions of package fp that take a few instructions of a host.
var shortFunctions = regexp.MustCompile(`^(Canon32|Result64|Quiet64|FmaRN(32|64)|SqrtRN32|F32ToF64|NarrowF64)$`)

// isShort reports whether a function takes a few instructions for each lane: it has no loops, and calls only functions
// of package fp that shortFunctions matches.
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

func instance(fset *token.FileSet, fn *ast.FuncDecl, key string, bound map[string]string, ftz, compare bool) Kernel {
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
			return goTypes[c]
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
				k.Params = append(k.Params, Param{Value: "op" + strings.ToUpper(name[:1]) + name[1:]})
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

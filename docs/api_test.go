package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// publicPackages are the packages for other modules.
var publicPackages = []string{
	"accelsim", "affinetrack", "argument", "cli", "debug", "driver", "interp", "kernels", "models", "models/catalog", "occupancy", "papers",
	"probe", "profile", "ptx", "record", "regfile", "sanitize", "sanitize/finding", "structure", "texture", "trace",
}

// variables are the exported variables that are no errors, each with a reason.
var variables = map[string]string{
	"affinetrack.Policies":  "a table of values that tests of policies extend",
	"affinetrack.Variants":  "a table, as Policies",
	"affinetrack.Rules":     "the table of rules, which is too large to copy for each use",
	"driver.Variables":      "the table of environment variables, for documents",
	"kernels/cuda.Header":   "the embedded CUDA header",
	"kernels.Studies":       "a table of sources",
	"kernels.Compilations":  "a table of sources",
	"models/catalog.Known":  "the list of models",
	"occupancy.Generations": "a table, which is too large to copy for each use",
	"papers.All":            "the list of papers",
	"sanitize.Tools":        "the list of sanitizers",
	"trace.MissingParts":    "a list of names",
}

// selfEvident are the methods of the interfaces error and fmt.Stringer, which need no comment.
var selfEvident = map[string]bool{"Error": true, "Unwrap": true, "String": true}

// importablePackages returns the directories of the packages that other modules can import: publicPackages, and packages
// for single tasks such as sanitize/race and fuzz, which promise less.
func importablePackages(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil || !d.IsDir() || path == "..":
			return err
		case name == "internal" || name == "testdata" || name == "cmd" || name == "tools" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"):
			return fs.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if slices.ContainsFunc(files, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }) {
			list = append(list, filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range publicPackages {
		if !slices.Contains(list, pkg) {
			t.Errorf("there is no package %s", pkg)
		}
	}
	return list
}

// TestPublicAPI: a public package exports no alias of an internal type, and no variable but errors. In every importable
// package, every exported type, function, method, field, constant and variable has a comment.
func TestPublicAPI(t *testing.T) {
	found := map[string]int{}
	for _, pkg := range importablePackages(t) {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			fail := func(n ast.Node, format string, args ...any) {
				t.Errorf("%s: "+format, append([]any{set.Position(n.Pos())}, args...)...)
			}
			if slices.Contains(publicPackages, pkg) {
				checkExports(pkg, parsed, fail)
			}
			forEachExported(set, parsed, func(n ast.Node, kind, name string, commented bool) {
				found[kind]++
				if !commented {
					fail(n, "%s %s has no comment", kind, name)
				}
			})
		}
	}
	for _, kind := range []string{"type", "function", "method", "field", "constant", "variable"} {
		if found[kind] < 10 {
			t.Errorf("%d exported declarations of kind %s: the test does not find them", found[kind], kind)
		}
	}
}

// checkExports fails for an alias of an internal type, and for an exported variable that is neither an error nor in
// variables.
func checkExports(pkg string, file *ast.File, fail func(n ast.Node, format string, args ...any)) {
	internal := map[string]bool{} // names of imported internal packages
	for _, i := range file.Imports {
		if path := strings.Trim(i.Path.Value, `"`); strings.Contains(path, "internal/") {
			internal[path[strings.LastIndex(path, "/")+1:]] = true
		}
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if x, ok := s.Type.(*ast.SelectorExpr); ok && s.Name.IsExported() && s.Assign != 0 && internal[x.X.(*ast.Ident).Name] {
					fail(s, "%s is an alias of an internal type", s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					name := pkg + "." + n.Name
					if g.Tok == token.VAR && n.IsExported() && !strings.HasPrefix(n.Name, "Err") && variables[name] == "" {
						fail(n, "%s is an exported variable", name)
					}
				}
			}
		}
	}
}

// forEachExported calls visit for every exported declaration of a file: types with their fields and methods, functions,
// constants and variables. A comment above a group of constants is a comment of each, and the comment of a type in a single
// line is a comment of its fields; of all else, each line needs a comment of its own.
func forEachExported(set *token.FileSet, file *ast.File, visit func(n ast.Node, kind, name string, commented bool)) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			if d.Recv == nil {
				visit(d, "function", d.Name.Name, d.Doc != nil)
			} else if receiver := receiverType(d); ast.IsExported(receiver) {
				visit(d, "method", receiver+"."+d.Name.Name, d.Doc != nil || selfEvident[d.Name.Name])
			}
		case *ast.GenDecl:
			alone := d.Doc != nil && !d.Lparen.IsValid() // its comment is the comment of its only line
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						visit(s, "type", s.Name.Name, alone || s.Doc != nil || s.Comment != nil)
						oneLine := set.Position(s.Pos()).Line == set.Position(s.End()).Line
						forEachField(s.Name.Name, s.Type, oneLine, visit)
					}
				case *ast.ValueSpec:
					kind, commented := "variable", alone || s.Doc != nil || s.Comment != nil
					if d.Tok == token.CONST {
						kind, commented = "constant", commented || d.Doc != nil
					}
					for _, n := range s.Names {
						if n.IsExported() {
							visit(n, kind, n.Name, commented)
						}
					}
				}
			}
		}
	}
}

// forEachField calls visit for the exported fields of a struct, the methods of an interface, and the fields of unnamed
// structs in them. If described is set, the comment of the type describes them, too.
func forEachField(owner string, t ast.Expr, described bool, visit func(n ast.Node, kind, name string, commented bool)) {
	ast.Inspect(t, func(n ast.Node) bool {
		fields, kind := (*ast.FieldList)(nil), ""
		switch x := n.(type) {
		case *ast.StructType:
			fields, kind = x.Fields, "field"
		case *ast.InterfaceType:
			fields, kind = x.Methods, "method"
		case *ast.FuncType:
			return false
		default:
			return true
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				if n.IsExported() {
					visit(n, kind, owner+"."+n.Name, described || f.Doc != nil || f.Comment != nil || kind == "method" && selfEvident[n.Name])
				}
			}
		}
		return true
	})
}

// receiverType is the name of a method's type, without its star and type parameters.
func receiverType(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// publicPackages are the packages for other modules.
var publicPackages = []string{
	"accelsim", "affinetrack", "argument", "cli", "debug", "driver", "interp", "kernels", "models", "models/catalog", "papers", "probe",
	"profile", "ptx", "record", "regfile", "sanitize", "sanitize/finding", "structure", "texture", "trace",
}

// variables are the exported variables that are no errors, each with a reason.
var variables = map[string]string{
	"affinetrack.Policies": "a table of values that tests of policies extend",
	"affinetrack.Variants": "a table, as Policies",
	"affinetrack.Rules":    "the table of rules, which is too large to copy for each use",
	"driver.Variables":     "the table of environment variables, for documents",
	"kernels.Header":       "the embedded CUDA header",
	"kernels.Studies":      "a table of sources",
	"kernels.Compilations": "a table of sources",
	"models/catalog.Known": "the list of models",
	"papers.All":           "the list of papers",
	"sanitize.Tools":       "the list of sanitizers",
	"trace.MissingParts":   "a list of names",
}

// TestPublicAPI: a public package exports no alias of an internal type, and no variable but errors; and the comments of packages
// interp, probe, record, structure and texture describe every exported type, function and field.
func TestPublicAPI(t *testing.T) {
	documented := map[string]bool{"interp": true, "probe": true, "record": true, "structure": true, "texture": true}
	types, fields := 0, 0
	for _, pkg := range publicPackages {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("package %s: %d files, %v", pkg, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, source, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			internal := map[string]bool{} // names of imported internal packages
			for _, i := range parsed.Imports {
				if path := strings.Trim(i.Path.Value, `"`); strings.Contains(path, "internal/") {
					internal[path[strings.LastIndex(path, "/")+1:]] = true
				}
			}
			fail := func(n ast.Node, format string, args ...any) {
				t.Errorf("%s: "+format, append([]any{set.Position(n.Pos())}, args...)...)
			}
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && documented[pkg] && f.Name.IsExported() && f.Recv == nil && f.Doc == nil {
					fail(f, "function %s has no comment", f.Name.Name)
				}
				g, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range g.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if !s.Name.IsExported() {
							continue
						}
						types++
						if x, ok := s.Type.(*ast.SelectorExpr); ok && s.Assign != 0 && internal[x.X.(*ast.Ident).Name] {
							fail(s, "%s is an alias of an internal type", s.Name.Name)
						}
						if documented[pkg] && g.Doc == nil && s.Doc == nil {
							fail(s, "type %s has no comment", s.Name.Name)
						}
						if x, ok := s.Type.(*ast.StructType); ok && documented[pkg] {
							for _, f := range x.Fields.List {
								if len(f.Names) > 0 && f.Names[0].IsExported() {
									fields++
									if f.Doc == nil && f.Comment == nil {
										fail(f, "field %s.%s has no comment", s.Name.Name, f.Names[0].Name)
									}
								}
							}
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
	}
	if types < 100 || fields < 100 {
		t.Errorf("%d types and %d fields: the test does not find them", types, fields)
	}
}

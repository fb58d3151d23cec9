package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeStructs: docs/design/packages.md gives a reason for each struct with more than 20 fields, and for no others. An
// embedded struct counts as one field.
func TestLargeStructs(t *testing.T) {
	const page, limit = "design/packages.md", 20
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Which structs have more than 20 fields, and why?\n")
	if !ok {
		t.Fatalf("%s has no section on structs", page)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				listed[m[1]] = true
			}
		}
	}
	large := largeStructs(t, "..", limit)
	if len(large) < 10 {
		t.Fatalf("%d structs have more than %d fields: the test does not find them", len(large), limit)
	}
	for name, n := range large {
		if !listed[name] {
			t.Errorf("%s has %d fields: split it, or give a reason in the table of %s", name, n, page)
		}
	}
	for name := range listed {
		if large[name] == 0 {
			t.Errorf("%s: %s has no more than %d fields: take it out of the table", page, name, limit)
		}
	}
}

// largeStructs returns the number of fields of each struct type with more than limit, by package and name. Tests do not count.
func largeStructs(t *testing.T, root string, limit int) map[string]int {
	t.Helper()
	large := map[string]int{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "tools") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			fields := 0
			for _, f := range s.Fields.List {
				fields += max(len(f.Names), 1)
			}
			if fields > limit {
				large[filepath.ToSlash(dir)+"."+spec.Name.Name] = fields
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return large
}

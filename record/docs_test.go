package record

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/recording.md")

// TestDocument: docs/recording.md has each table and column with its type and the comment of its field.
func TestDocument(t *testing.T) {
	const name, begin, end = "../docs/recording.md", "<!-- tables: begin -->\n", "<!-- tables: end -->\n"
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	written, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", name)
	}
	want := describedTables(t)
	if written == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not current: go test ./record -run Document -update writes it", name)
	}
	if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o666); err != nil {
		t.Fatal(err)
	}
}

// describedTables returns the tables as Markdown, from the comments of tables.go.
func describedTables(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "tables.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}          // of types
	fields := map[string]map[string]string{} // of their fields
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		spec := g.Specs[0].(*ast.TypeSpec)
		comments[spec.Name.Name] = strings.Join(strings.Fields(g.Doc.Text()), " ")
		if s, ok := spec.Type.(*ast.StructType); ok {
			fields[spec.Name.Name] = map[string]string{}
			for _, f := range s.Fields.List {
				for _, n := range f.Names {
					fields[spec.Name.Name][n.Name] = strings.TrimSpace(f.Comment.Text())
				}
			}
		}
	}
	var out strings.Builder
	for _, s := range schemas {
		_, comment, ok := strings.Cut(comments[s.row.Name()], " the table "+s.name)
		if !ok {
			t.Errorf("the comment of %s does not name its table", s.row.Name())
		}
		fmt.Fprintf(&out, "\n### %s\n", s.name)
		if comment = strings.TrimLeft(comment, ":, "); comment != "" && comment != "." {
			fmt.Fprintf(&out, "\n%s%s\n", strings.ToUpper(comment[:1]), comment[1:])
		}
		fmt.Fprintf(&out, "\n| column | type | contents |\n|---|---|---|\n")
		for i, c := range s.columns {
			contents := fields[s.row.Name()][s.row.Field(i).Name]
			if contents == "" {
				t.Errorf("field %s of %s has no comment", s.row.Field(i).Name, s.row.Name())
			}
			if names := s.enums[c.Name]; names != nil {
				var values []string
				for v, name := range names {
					values = append(values, fmt.Sprintf("%d %s", v, name))
				}
				contents = strings.TrimSpace(contents + " (" + strings.Join(values, ", ") + ")")
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s |\n", c.Name, c.Type, contents)
		}
	}
	return out.String() + "\n"
}

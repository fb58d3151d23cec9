package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gemu/driver"
	"gemu/fuzz"
	"gemu/internal/document"
	"gemu/machine"
	"gemu/machine/systems"
	"gemu/models"
	"gemu/papers"
	"gemu/profile"
	"gemu/report"
	"gemu/sanitize"
)

// jsonOutput is a type of JSON output.
type jsonOutput struct {
	schema, byCommand string
	value             any
}

// reports lists the JSON output, by schema.
var reports = []jsonOutput{
	{"gemu-run/2", "`gemu run --json`, and `gemu_report` of libgemu", document.Run{}},
	{"gemu-findings/1", "`GEMU_SANITIZE_LOG=FILE.json`, and `gemu_report` of libgemu", sanitize.Report{}},
	{"gemu-exec/1", "`gemu exec --json`", report.Report{}},
	{"gemu-process/1", "`GEMU_REPORT`, and `gemu_process_report` of libcuda.so.1", driver.ProcessReport{}},
	{"gemu-structure/2", "`gemu structure --json`, and `gemu_report` of libgemu", document.Structure{}},
	{"gemu-profile/2", "`gemu profile --json`, and `gemu_report` of libgemu", document.Profile{}},
	{"counts", "`gemu profile --json`, of all, of a line, and of a loop", profile.Counts{}},
	{"gemu-machine/1", "`gemu machine --json`", machineJSON{}},
	{"gemu-descriptors/1", "`gemu machine --write-descriptors`, and read by `--with ldesc=FILE` and `--with xmem=FILE`", systems.File{}},
	{"machine counts", "`gemu machine --json`, of all, of a line, and of a buffer", machine.Counts{}},
	{"gemu-regfile/2", "`gemu regfile --json`", regfileReport{}},
	{"report", "`gemu regfile --json` and `GEMU_STATS`, of a model", models.Report{}},
	{"gemu-reconverge/1", "`gemu reconverge --json`", reconvergeJSON{}},
	{"gemu-compare/3", "`gemu compare --json`", papers.Comparison{}},
	{"gemu-bench/1", "`gemu bench --json`", benchJSON{}},
	{"gemu-bench-watch/1", "`gemu bench --watch --json`", watchJSON{}},
	{"gemu-bench-ops/1", "`gemu bench --ops --json`", opsJSON{}},
	{"gemu-spill/2", "`gemu spill --json`", spillJSON{}},
	{"gemu-phases/1", "`gemu phases --json`", phasesJSON{}},
	{"gemu-isa/1", "`gemu isa --json`", isaJSON{}},
	{"gemu-fuzz/1", "`gemu fuzz --out`, as NAME.json", fuzz.Description{}},
	{"gemu-module/1", "`gemu_describe` of libgemu", driver.ModuleDescription{}},
	{"gemu-statistics/2", "`GEMU_STATS`, and `gemu_report` of libgemu", driver.Statistics{}},
}

const jsonHead = `# JSON output

Each object names its schema and version in ` + "`schema`" + `. A version may get new fields. A removed field, or a field
with a changed meaning, makes a new version. A question mark marks optional fields. This page is generated from the
comments in the source (` + "`go test ./cli -run JSONFields -update`" + `).

Terms are in the [glossary](glossary.md).

` + "```console\n$ gemu isa trap --json\n{\n  \"schema\": \"gemu-isa/1\",\n  \"forms\": [\n…\n```" + `
`

// TestJSONFields: docs/json.md has every field of the JSON output.
func TestJSONFields(t *testing.T) {
	var b strings.Builder
	b.WriteString(jsonHead)
	comments := map[string]map[string]string{}
	for _, r := range reports {
		fmt.Fprintf(&b, "\n## %s\n\nBy %s.\n\n| field | type | meaning |\n|---|---|---|\n", r.schema, r.byCommand)
		fieldsOf(t, &b, comments, reflect.TypeOf(r.value), "", r.schema)
	}
	const file = "../docs/json.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the source says (%v): go test ./cli -run JSONFields -update", file, err)
	}
}

// fieldsOf writes rows of the fields of a type, with a prefix before their names.
func fieldsOf(t *testing.T, b *strings.Builder, comments map[string]map[string]string, typ reflect.Type, prefix, schema string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fieldsOf(t, b, comments, f.Type, prefix, schema)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			t.Errorf("%s: field %s.%s has no name", schema, typ, f.Name)
		}
		noun := commentOf(t, comments, typ, f.Name)
		if name == "schema" {
			noun = fmt.Sprintf("%q", schema)
			if prefix != "" {
				noun = "its own"
			}
		}
		if noun == "" {
			t.Errorf("%s: field %s.%s has no comment", schema, typ, f.Name)
		}
		optional := ""
		if strings.Contains(options, "omit") {
			optional = "?"
		}
		inner, kind := elements(f.Type)
		fmt.Fprintf(b, "| `%s%s`%s | %s | %s |\n", prefix, name, optional, kind, strings.ReplaceAll(noun, "|", "\\|"))
		if inner != nil && !slices.ContainsFunc(reports, func(r jsonOutput) bool { return inner == reflect.TypeOf(r.value) }) { // the inner type has no table of its own
			fieldsOf(t, b, comments, inner, prefix+name+strings.Repeat("[]", strings.Count(kind, " of "))+".", schema)
		}
	}
}

// elements returns the JSON type of a Go type, and the struct inside it, if any.
func elements(typ reflect.Type) (inner reflect.Type, kind string) {
	if m, ok := typ.MethodByName("MarshalText"); ok && m.Type.NumIn() == 1 {
		return nil, "string"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return elements(typ.Elem())
	case reflect.Slice, reflect.Array:
		inner, kind = elements(typ.Elem())
		return inner, "array of " + kind
	case reflect.Map:
		inner, kind = elements(typ.Elem())
		return inner, "object of " + kind
	case reflect.Struct:
		return typ, "object"
	case reflect.String:
		return nil, "string"
	case reflect.Bool:
		return nil, "boolean"
	}
	return nil, "number"
}

// commentOf returns the comment of a field of a type of this module.
func commentOf(t *testing.T, comments map[string]map[string]string, typ reflect.Type, field string) string {
	pkg := typ.PkgPath()
	if comments[pkg] == nil {
		comments[pkg] = map[string]string{}
		dir := filepath.Join("..", strings.TrimPrefix(strings.TrimPrefix(pkg, "gemu"), "/"))
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok {
					if st, ok := s.Type.(*ast.StructType); ok {
						for _, f := range st.Fields.List {
							for _, name := range f.Names {
								text := f.Comment.Text()
								if text == "" {
									text = f.Doc.Text()
								}
								comments[pkg][s.Name.Name+"."+name.Name] = strings.Join(strings.Fields(text), " ")
							}
						}
					}
				}
				return true
			})
		}
	}
	return comments[pkg][typ.Name()+"."+field]
}

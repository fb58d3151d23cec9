package cli

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gemu/docs"
)

// TestHelp shows that the help of a command is the text of its --help, and that unknown topics are bad usage.
func TestHelp(t *testing.T) {
	run := func(args ...string) (string, int) {
		var out bytes.Buffer
		status := run(t.Context(), args, strings.NewReader(""), &out, &out)
		return out.String(), status
	}
	for topic, same := range map[string][]string{"": {"--help"}, "run": {"run", "--help"}, "isa": {"isa", "--help"}} {
		want, _ := run(same...)
		if got, status := run(append([]string{"help"}, strings.Fields(topic)...)...); got != want || status != exitGood {
			t.Errorf("gemu help %s: status %d, and not what %v prints:\n%s", topic, status, same, got)
		}
	}
	for _, bad := range [][]string{{"help", "nonsense"}, {"help", "terms", "nonsense"}, {"help", "--"}, {"help", "--nonsense"}} {
		if out, status := run(bad...); status != exitBad {
			t.Errorf("%v: status %d, not %d: %s", bad, status, exitBad, out)
		}
	}
	if all, _ := run("help", "terms"); strings.Count(all, "\n") < 3*len(glossary(docs.Glossary)) || strings.Contains(all, "`") {
		t.Errorf("gemu help terms does not print the glossary:\n%s", all)
	}
	if one, _ := run("help", "terms", "Warp", "Split"); !strings.Contains(one, "warp split\n") || strings.Contains(one, "running split") {
		t.Errorf("gemu help terms warp split: %s", one)
	}
	if found, _ := run("help", "terms", "wavefront"); !strings.Contains(found, "  warp\n") {
		t.Errorf("a word of other texts does not lead to its entry: %s", found)
	}
}

// TestHelpOfFlags shows that the help of each flag states its default exactly once, and that the manual page has each flag.
func TestHelpOfFlags(t *testing.T) {
	x := new(Extensions)
	model := x.newParser(new(cli)).Model
	page, flags := manual(model), 0
	for _, command := range model.Leaves(true) {
		for _, v := range command.Positional {
			if text := describeValue(v); strings.Contains(text, "${") {
				t.Errorf("gemu %s %s: %s", command.Name, v.Name, text)
			}
		}
		for _, f := range command.Flags {
			flags++
			text := describeValue(f.Value)
			if f.HasDefault && f.Default != "" && !strings.Contains(text, "default: "+f.Default) && f.Tag.Get("unset") == "" {
				t.Errorf("gemu %s --%s does not state its default %s: %s", command.Name, f.Name, f.Default, text)
			}
			if strings.Count(text, "default") > 1 || strings.Contains(text, "${") {
				t.Errorf("gemu %s --%s: %s", command.Name, f.Name, text)
			}
			if entry := fmt.Sprintf(".TP\n.B %s\n%s\n", roff(f.String()), roff(text)); strings.Count(page, entry) != 1 {
				t.Errorf("the manual page has gemu %s --%s %d times", command.Name, f.Name, strings.Count(page, entry))
			}
		}
	}
	if flags < 200 {
		t.Errorf("the commands have only %d flags", flags)
	}
}

// TestGlossary shows that no term has two entries, and that the Go names of the glossary exist.
func TestGlossary(t *testing.T) {
	names := declaredNames(t)
	qualified := regexp.MustCompile("(package )?`([a-zA-Z.]+)`")
	seen := map[string]bool{}
	for _, e := range glossary(docs.Glossary) {
		if seen[e.term] {
			t.Errorf("%s has two entries", e.term)
		}
		seen[e.term] = true
		if e.meaning == "" {
			t.Errorf("%s has no meaning", e.term)
		}
		for _, m := range qualified.FindAllStringSubmatch(e.inGo, -1) {
			if !names[m[2]] {
				t.Errorf("%s: there is no %s%s", e.term, m[1], m[2])
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("the glossary has %d terms", len(seen))
	}
}

// declaredNames returns the names of packages, and of their types, functions, constants and variables as package.Name.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names[f.Name.Name] = true
		add := func(id *ast.Ident) { names[f.Name.Name+"."+id.Name] = true }
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil {
					add(decl.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name)
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							add(id)
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

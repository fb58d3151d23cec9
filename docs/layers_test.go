package docs_test

import (
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "gemu"

// TestImportsFollowLayers holds the packages to the table of docs/design/packages.md: each package stands in one row,
// each row names packages that exist, and each import points to a row above its own in the table. Files of all hosts
// count; tests do not.
func TestImportsFollowLayers(t *testing.T) {
	const page = "design/packages.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	layers, names := readLayers(t, string(text))
	if len(names) < 10 {
		t.Fatalf("%s: the table has %d rows", page, len(names))
	}
	imports := importsOf(t, "..")
	for pkg := range layers {
		if imports[pkg] == nil {
			t.Errorf("%s: there is no package %s; take it out of the layer %q", page, pkg, names[layers[pkg]])
		}
	}
	for pkg, list := range imports {
		layer, ok := layers[pkg]
		if !ok {
			t.Errorf("%s: no layer has package %s; add it to the row after the last package that it imports", page, pkg)
			continue
		}
		for _, imported := range list {
			if below, ok := layers[imported]; ok && below >= layer {
				t.Errorf("%s (layer %q) imports %s (layer %q): imports must point to a layer above it in the table of %s", pkg, names[layer], imported, names[below], page)
			}
		}
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// readLayers reads the table of layers: the row of each package, and the names of the rows.
func readLayers(t *testing.T, text string) (layers map[string]int, names []string) {
	layers = map[string]int{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if _, twice := layers[m[1]]; twice {
				t.Errorf("package %s stands in two layers", m[1])
			}
			layers[m[1]] = len(names)
		}
		names = append(names, strings.TrimSpace(cells[1]))
	}
	return layers, names
}

// importsOf returns the imports of each package of the main module, without tests. Paths are relative to the module.
func importsOf(t *testing.T, root string) map[string][]string {
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			base := entry.Name()
			if name != root && (base[0] == '.' || base[0] == '_' || base == "testdata" || isModule(name)) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(entry.Name(), "_") || isIgnored(name) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		if imports[pkg] == nil {
			imports[pkg] = []string{}
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rel, ok := strings.CutPrefix(imported, module+"/"); ok && !slices.Contains(imports[pkg], rel) {
				imports[pkg] = append(imports[pkg], path.Clean(rel))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// isIgnored reports whether a file is built on no host, as //go:build ignore says.
func isIgnored(name string) bool {
	for _, host := range []struct{ os, arch string }{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}} {
		for _, cgo := range []bool{true, false} {
			c := build.Default
			c.GOOS, c.GOARCH, c.CgoEnabled = host.os, host.arch, cgo
			if ok, err := c.MatchFile(filepath.Dir(name), filepath.Base(name)); ok || err != nil {
				return false
			}
		}
	}
	return true
}

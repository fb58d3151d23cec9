package main

// This file reads the scope of mutation, and finds its functions.

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

// scopeLine is a line of a scope file: a pattern for files, and patterns for functions ("name" or "type.name"). A
// pattern after a minus excludes functions; a pattern after a tilde marks functions that affect costs only. If all
// patterns are of these two kinds, or there is none, all functions are included.
type scopeLine struct {
	number             int
	text               string
	file               string
	included, excluded []string
	costOnly           []string
	wantFunc           map[string]bool // patterns without a match so far
}

// readScope reads a scope file.
func readScope(name string) ([]*scopeLine, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []*scopeLine
	s := bufio.NewScanner(file)
	for n := 1; s.Scan(); n++ {
		text, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		l := &scopeLine{number: n, text: text, file: words[0], wantFunc: map[string]bool{}}
		for _, w := range words {
			if _, err := path.Match(w, ""); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", name, n, w, err)
			}
		}
		for _, w := range words[1:] {
			l.wantFunc[strings.TrimLeft(w, "-~")] = true
			if pattern, ok := strings.CutPrefix(w, "-"); ok {
				l.excluded = append(l.excluded, pattern)
			} else if pattern, ok := strings.CutPrefix(w, "~"); ok {
				l.costOnly = append(l.costOnly, pattern)
			} else {
				l.included = append(l.included, w)
			}
		}
		list = append(list, l)
	}
	return list, s.Err()
}

// matches reports whether a function in a file of the line is included, and whether it affects costs only.
func (l *scopeLine) matches(fn string) (included, costOnly bool) {
	match := func(list []string) bool {
		found := false
		for _, p := range list {
			if ok, _ := path.Match(p, fn); ok {
				delete(l.wantFunc, p)
				found = true
			}
		}
		return found
	}
	costOnly = match(l.costOnly)
	included = match(l.included) || len(l.included) == 0
	return !match(l.excluded) && included, costOnly
}

// instrumented is a file with mutants.
type instrumented struct {
	name    string // absolute
	src     []byte
	base    int       // offset in the file set
	clause  int       // offset after "package name"
	mutants []*Mutant // mutants of functions in scope
}

// find loads the packages of a scope and returns all mutants, in the order of files and lines.
func find(root string, scope []*scopeLine) ([]*instrumented, error) {
	lines := map[string][]*scopeLine{} // by absolute file name
	var dirs []string
	seen := map[string]bool{}
	for _, l := range scope {
		names, err := filepath.Glob(filepath.Join(root, l.file))
		if err != nil {
			return nil, err
		}
		matched := false
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			matched = true
			lines[name] = append(lines[name], l)
			if dir := filepath.Dir(name); !seen[dir] {
				seen[dir] = true
				dirs = append(dirs, dir)
			}
		}
		if !matched {
			return nil, fmt.Errorf("scope, line %d: no file is %s", l.number, l.file)
		}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: filepath.Join(root, "tools")}, dirs...)
	if err != nil {
		return nil, err
	}
	var list []*instrumented
	for _, p := range pkgs {
		for _, e := range p.Errors {
			return nil, e
		}
		for _, file := range p.Syntax {
			name := p.Fset.Position(file.Package).Filename
			if lines[name] == nil {
				continue
			}
			source, err := findIn(root, p, file, name, lines[name])
			if err != nil {
				return nil, err
			}
			list = append(list, source)
		}
	}
	var stale []error
	for _, l := range scope {
		for _, p := range slices.Sorted(maps.Keys(l.wantFunc)) {
			stale = append(stale, fmt.Errorf("scope, line %d: no function of %s is %s", l.number, l.file, p))
		}
	}
	if err := errors.Join(stale...); err != nil {
		return nil, err
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	number(list)
	return list, nil
}

// findIn returns the mutants of a file.
func findIn(root string, p *packages.Package, file *ast.File, name string, lines []*scopeLine) (*instrumented, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	source := &instrumented{name: name, src: src, base: p.Fset.File(file.Package).Base()}
	source.clause = int(file.Name.End()) - source.base
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		short, long := funcName(p, fn)
		inScope, costOnly := false, false
		for _, l := range lines {
			included, marked := l.matches(short)
			inScope, costOnly = inScope || included, costOnly || marked
		}
		if !inScope {
			continue
		}
		f := &finder{pkg: p, src: src, base: source.base, fn: long, file: filepath.ToSlash(rel), tailStmts: map[ast.Stmt]bool{}}
		f.function(fn.Body)
		for _, m := range f.found {
			m.CostOnly = costOnly
		}
		source.mutants = append(source.mutants, f.found...)
	}
	return source, nil
}

// funcName returns a function's name as in scopes, and as in reports.
func funcName(p *packages.Package, fn *ast.FuncDecl) (short, long string) {
	sig := p.TypesInfo.Defs[fn.Name].Type().(*types.Signature)
	r := sig.Recv()
	if r == nil {
		return fn.Name.Name, p.Name + "." + fn.Name.Name
	}
	t, star := r.Type(), ""
	if ptr, ok := t.(*types.Pointer); ok {
		t, star = ptr.Elem(), "*"
	}
	recv := types.Unalias(t).(*types.Named).Obj().Name()
	return recv + "." + fn.Name.Name, p.Name + ".(" + star + recv + ")." + fn.Name.Name
}

// number gives the mutants their numbers, and their ordinals among equal mutants of a function.
func number(list []*instrumented) {
	id := 0
	count := map[string]int{}
	for _, source := range list {
		for _, m := range source.mutants {
			id++
			m.ID = id
			key := m.key()
			count[key]++
			m.Ordinal = count[key]
		}
	}
}

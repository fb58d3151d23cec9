package main

// This file writes the instrumented files, and builds programs with them.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"gemu/internal/trial/mutant"
)

// insertedText is text to insert at an offset. At the same offset, ends of earlier insertions come first, from the
// inner to the outer insertions, then beginnings, from the outer to the inner insertions.
type insertedText struct {
	offset int
	rank   int
	text   string
}

// write returns the text of a file with mutants.
func (source *instrumented) write(mutants []*Mutant) []byte {
	pieces := []insertedText{{source.clause, 0, fmt.Sprintf("; import %s %q", hook, mutantPath)}}
	rank := 0
	for _, m := range mutants {
		for _, i := range m.insertion {
			rank++
			id := strconv.Itoa(m.ID)
			pieces = append(pieces,
				insertedText{int(i.before) - source.base, rank, strings.ReplaceAll(i.open, "@@", id)},
				insertedText{int(i.after) - source.base, -rank, strings.ReplaceAll(i.close, "@@", id)})
		}
	}
	sort.SliceStable(pieces, func(i, j int) bool {
		a, b := pieces[i], pieces[j]
		return a.offset < b.offset || a.offset == b.offset && a.rank < b.rank
	})
	var out bytes.Buffer
	last := 0
	for _, p := range pieces {
		out.Write(source.src[last:p.offset])
		out.WriteString(p.text)
		last = p.offset
	}
	out.Write(source.src[last:])
	return out.Bytes()
}

// mutantPath is the package that instrumented code imports.
const mutantPath = "gemu/internal/trial/mutant"

// build builds the program at path with all mutants in it.
func build(root, program, dir string, files []*instrumented, chosen map[*Mutant]bool) (string, error) {
	replace := map[string]string{}
	for i, source := range files {
		var list []*Mutant
		for _, m := range source.mutants {
			if chosen[m] {
				list = append(list, m)
				if m.ID >= mutant.Max {
					return "", fmt.Errorf("more than %d mutants", mutant.Max)
				}
			}
		}
		if len(list) == 0 {
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%d_%s", i, filepath.Base(source.name)))
		if err := os.WriteFile(name, source.write(list), 0o666); err != nil {
			return "", err
		}
		replace[source.name] = name
	}
	if err := writeOverlay(dir, replace); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "try")
	// Programs of tools are in a module of their own, which also sees the programs of the main module.
	return binary, goTool(filepath.Join(root, "tools"), "build", "-overlay", overlayIn(dir), "-o", binary, path.Join("gemu", program))
}

// overlayIn returns the name of the overlay file in a folder.
func overlayIn(dir string) string { return filepath.Join(dir, "overlay.json") }

// writeOverlay writes the overlay file in a folder.
func writeOverlay(dir string, replace map[string]string) error {
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(overlayIn(dir), overlay, 0o666)
}

// goTool runs the go command in a folder, to build a program with mutants.
func goTool(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the mutants do not build: %w\n%s", err, out)
	}
	return nil
}

// buildTest builds the tests of a package. The overlay file must exist.
func buildTest(root, pkg, dir string) (binary string, err error) {
	binary = filepath.Join(dir, path.Base(pkg)+".test")
	return binary, goTool(root, "test", "-c", "-overlay", overlayIn(dir), "-o", binary, pkg)
}

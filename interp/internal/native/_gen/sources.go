package main

// This file reads the C sources of the stencils.

import (
	"os"
	"path/filepath"
	"slices"
)

// tables has the names of a baseline's tables.
var tables = []string{lanes, halves, conversions, narrow, agreed, scalar, machine, memory, patterns, vectors}

const (
	lanes       = "lanes"
	halves      = "halves"
	conversions = "conversions"
	narrow      = "narrow"
	agreed      = "agreed"
	scalar      = "scalar"
	machine     = "machine"
	memory      = "memory"
	patterns    = "patterns"
	vectors     = "vectors"
)

// sources is the C of the stencils for a target.
type sources struct {
	target *target
	dir    string
	files  []file      // headers first
	ops    [][2]string // pairs of an operation and its kernel
	inGo   []string    // messages: the reasons for which kernels run in Go
}

type file struct {
	name, text string
	table      string   // table for the file's stencils; unused for headers
	operands   string   // letters of the source operands of its stencils
	weak       bool     // a stencil that fails to compile is omitted: Go runs its operation
	functions  string   // C of the functions that the kernels call
	kernels    []kernel // kernels in the file; empty for a handwritten file
	flags      []string // further flags of the compiler
}

// kernel is the C of a kernel's stencils.
type kernel struct {
	name, text string
	cost       int // duration, in instructions beyond the first; more in table narrow
}

// readSources reads the C for a target and generates the C of the kernels.
func readSources(dir string, t *target) (*sources, error) {
	s := &sources{target: t, dir: dir}
	for _, name := range append(slices.Clone(t.headers), "go.h", "half.h", "c/stencil.h", "c/vector.h", "c/full.h", "c/masked.h", "c/masked256.h", "c/masked512.h", "c/rows.h", "c/warp.h", "c/narrow.h", "c/numbers.h", "c/control.c", "c/divergence.c", "c/scheduler.c", "c/compact.c", "c/check.c", "c/row.c", "c/access.h", "c/pointer.h", "c/memory.c", "c/pattern.c", "c/fixed.c", "c/pointer.c", "c/collective.c", "c/matrix.c", "c/tile.c", "c/fragment.c", "c/atomic.c", "c/async.c", "c/observed.c") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f := file{name: filepath.Base(name), text: string(text), table: machine, operands: "ABC"}
		switch f.name {
		case "memory.c":
			f.table, f.operands = memory, "AB" // the fewest operands: this file takes longest to compile
		case "pattern.c":
			f.table, f.operands = patterns, "AB"
		case "fixed.c":
			f.table, f.operands = vectors, "AB"
		case "pointer.c":
			f.table, f.operands = vectors, letters
		case "atomic.c":
			f.table, f.operands = vectors, "BC"
		case "observed.c":
			f.operands = "A"
		}
		s.files = append(s.files, f)
	}
	return s, s.arithmetic(filepath.Join(dir, "../../alu"))
}

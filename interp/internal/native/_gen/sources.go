package main

// This file reads the C that the stencils are compiled from.

import (
	"os"
	"path/filepath"
	"slices"
)

// tables are the files written for a host, each of some stencils.
var tables = []string{lanes, narrow, agreed, scalar, machine, memory, patterns, vectors}

const (
	lanes    = "lanes"
	narrow   = "narrow"
	agreed   = "agreed"
	scalar   = "scalar"
	machine  = "machine"
	memory   = "memory"
	patterns = "patterns"
	vectors  = "vectors"
)

// sources are the C that the stencils are made of, for a host.
type sources struct {
	target *target
	dir    string
	files  []file      // headers first
	ops    [][2]string // operations and their kernels
	inGo   []string    // why kernels run in Go
}

type file struct {
	name, text string
	table      string   // of its stencils; headers have none
	operands   string   // sources that its stencils have at most
	weak       bool     // a stencil that cannot be had is left out: its operation runs in Go
	kernels    []kernel // that it is of; none: only the file as a whole
	flags      []string // besides those of all
}

// kernel is the C of a kernel's stencils.
type kernel struct {
	name, text string
	cost       int // as long as so many instructions, besides itself; narrow ones take longer
}

// readSources reads and generates the C.
func readSources(dir string, t *target) (*sources, error) {
	s := &sources{target: t, dir: dir}
	for _, name := range append(slices.Clone(t.headers), "go.h", "c/stencil.h", "c/vector.h", "c/full.h", "c/masked.h", "c/masked256.h", "c/masked512.h", "c/rows.h", "c/warp.h", "c/narrow.h", "c/numbers.h", "c/control.c", "c/divergence.c", "c/scheduler.c", "c/compact.c", "c/check.c", "c/row.c", "c/access.h", "c/memory.c", "c/pattern.c", "c/fixed.c", "c/collective.c", "c/atomic.c") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f := file{name: filepath.Base(name), text: string(text), table: machine, operands: "ABC"}
		switch f.name {
		case "memory.c":
			f.table, f.operands = memory, "AB" // it takes longest
		case "pattern.c":
			f.table, f.operands = patterns, "AB"
		case "fixed.c":
			f.table, f.operands = vectors, "AB"
		case "atomic.c":
			f.table = vectors
		}
		s.files = append(s.files, f)
	}
	return s, s.arithmetic(filepath.Join(dir, "../../alu"))
}

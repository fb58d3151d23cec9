package kernels

// This file makes the further versions of workloads. They have the same sources and host references as the library's own
// versions, but are compiled with fewer optimisations, or for different block sizes.

import (
	"fmt"
	"io/fs"
	"slices"
)

// Compilation is an alternative compilation of a workload; the library's own is clang's -O2.
type Compilation struct {
	Name string // part of the version's name after the slash: "rolled" in "aes/rolled"
	Doc  string // difference from the library's own compilation, as the end of a sentence
}

// Compilations lists the alternative compilations, which the workloads of table 1 of Kim et al. 2013 have. The flags are
// in the first lines of cuda/compiled/*.ptx. They do not change the effect of unroll pragmas in the sources, nor
// conditional values that are written without an if.
var Compilations = []Compilation{
	{"branches", "compiled without if-conversion: no code is executed before its branch, and conditions are not merged"},
	{"rolled", "compiled without unrolling"},
	{"plain", "compiled without if-conversion and unrolling"},
}

// Versions lists the further versions of a workload, which All omits: the library's Compilations, such as
// "aes/rolled", and versions with different Blocks, such as "hotspot32".
func (w *Workload) Versions() []*Workload { return slices.Clone(w.versions) }

// addVersions sets the block size and the versions of the workload: a version for each file in cuda/compiled, and for each further block size.
// Kernels that are not compiled for a block size, as NAME32.ptx, read it from %ntid.
func (w *Workload) addVersions() {
	add := func(name, ptx, doc string) *Workload {
		v := *w
		v.Name, v.ptx, v.Version, v.Doc, v.versions = name, ptx, doc, w.Doc+"; "+doc, nil
		w.versions = append(w.versions, &v)
		return &v
	}
	if len(w.Blocks) > 0 {
		w.Block = w.Blocks[0]
	}
	for _, c := range Compilations {
		ptx := "compiled/" + w.Name + "." + c.Name
		if _, err := fs.Stat(files, "cuda/"+ptx+".ptx"); err == nil {
			add(w.Name+"/"+c.Name, ptx, c.Doc)
		}
	}
	for i, side := range w.Blocks {
		if i > 0 {
			name, ptx, doc := fmt.Sprint(w.Name, side), fmt.Sprint(w.ptx, side), fmt.Sprintf("blocks of %d×%d", side, side)
			if _, err := fs.Stat(files, "cuda/"+ptx+".ptx"); err != nil {
				ptx = w.ptx
			}
			if w.BlockThreads {
				doc = fmt.Sprintf("blocks of %d threads", side)
			}
			add(name, ptx, doc).Block = side
		}
	}
}

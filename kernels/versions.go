package kernels

// This file holds further versions of workloads: from the same sources and with the same host references, but compiled
// with fewer optimisations, or with different block sizes.

import (
	"fmt"
	"io/fs"
	"slices"
)

// Compilation is an alternative compilation of a workload; the library's own is clang's -O2.
type Compilation struct {
	Name string // after the workload's name and a slash, as in "aes/rolled"
	Doc  string // difference from the library's compilation, as the end of a sentence
}

// Compilations lists them, for the workloads of table 1 of Kim et al. 2013. The flags are in the first lines of
// cuda/compiled/*.ptx. Requests in the sources remain in effect: loops with unroll pragmas, and conditional values
// written without an if.
var Compilations = []Compilation{
	{"branches", "compiled without if-conversion: no code is executed before its branch, and conditions are not merged"},
	{"rolled", "compiled without unrolling"},
	{"plain", "compiled without if-conversion and unrolling"},
}

// Versions lists the further versions of a workload, which All omits: the library's Compilations, such as
// "aes/rolled", and versions with different Blocks, such as "hotspot32".
func (w *Workload) Versions() []*Workload { return slices.Clone(w.versions) }

// addVersions fills in the versions of the workload.
func (w *Workload) addVersions() {
	add := func(name, ptx, doc string) *Workload {
		v := *w
		v.Name, v.ptx, v.Version, v.Doc, v.versions = name, ptx, doc, w.Doc+"; "+doc, nil
		w.versions = append(w.versions, &v)
		return &v
	}
	for _, c := range Compilations {
		ptx := "compiled/" + w.Name + "." + c.Name
		if _, err := fs.Stat(files, "cuda/"+ptx+".ptx"); err == nil {
			add(w.Name+"/"+c.Name, ptx, c.Doc)
		}
	}
	for i, side := range w.Blocks {
		if i > 0 {
			name := fmt.Sprint(w.Name, side)
			add(name, name, fmt.Sprintf("blocks of %d×%d", side, side)).Block = side
		}
	}
}

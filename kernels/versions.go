package kernels

// This file is workloads in other versions than the library's own: of the same sources, and with the same host
// references, but compiled by a compiler that does less, or with other blocks.

import (
	"fmt"
	"io/fs"
	"slices"
)

// Compilation is a way to compile a workload that is not the library's own, clang's -O2.
type Compilation struct {
	Name string // after the workload's and a slash, as in "aes/rolled"
	Doc  string
}

// Compilations are those there are, of the workloads of table 1 of Kim et al. 2013. The flags are in the first
// lines of cuda/compiled/*.ptx. What the sources themselves say stays: loops that they want unrolled, and
// values that depend on conditions without an if.
var Compilations = []Compilation{
	{"branches", "compiled without if-conversion: no way is executed in advance, and no two conditions become one"},
	{"rolled", "compiled without unrolling"},
	{"plain", "compiled without if-conversion and unrolling"},
}

// Versions lists the versions of a workload besides its own, which All leaves out: those of Compilations that the
// library has of it, named as "aes/rolled", and those with other Blocks, "hotspot32".
func (w *Workload) Versions() []*Workload { return slices.Clone(w.versions) }

// addVersions finds them.
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

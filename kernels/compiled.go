package kernels

// This file is workloads compiled otherwise: the same sources, and so the same results, as a compiler
// makes PTX of them that does less.

import (
	"io/fs"
	"strings"
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

// compiled is the workload compiled in a way; nil if it is not in the library so.
func (w *Workload) compiled(way string) *Workload {
	file := "compiled/" + w.Name + "." + way
	if _, err := fs.Stat(files, "cuda/"+file+".ptx"); err != nil {
		return nil
	}
	c := *w
	c.Name, c.ptx = w.Name+"/"+way, file
	return &c
}

// source is the name of the files in cuda/ that the workload is made of.
func (w *Workload) source() string {
	name, _, _ := strings.Cut(w.Name, "/")
	return name
}

// Package kernels is the workload library: kernels that a real compiler made,
// with inputs of any size and a host reference in Go to check the result
// against.
//
// The CUDA C sources and the PTX that clang made of them are in cuda/; the first
// line of each .ptx is the command. A Workload's Run makes the inputs, launches,
// and compares: it is what "gemu run @name" does.
package kernels

//go:generate go run ./_gen

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"gemu/interp"
)

//go:embed cuda/*.cu cuda/*.ptx cuda/compiled/*.ptx
var files embed.FS

// Header is the part of CUDA that clang needs to compile kernels without a CUDA toolkit: types,
// qualifiers, the functions that are instructions. The .cu files of the library include it.
//
//go:embed cuda/gemu.h
var Header string

// Workload is a program of one or several kernels with inputs and a reference.
type Workload struct {
	Name string
	Doc  string // one line
	// N is the default size, Max the largest that runs, and SizeDoc what they
	// count.
	N, Max  int
	SizeDoc string
	// Origin is where the algorithm or benchmark comes from.
	Origin string
	// Papers are the studies of value structure that measured it, or the benchmark that
	// it is named after: keys of Studies.
	Papers []string
	// Blocks are the sides of the blocks of threads that it has versions for, the first its own; no
	// sides: its blocks are what its kernels want. Block is the side of this one.
	Blocks []int
	Block  int
	// Version is how it differs from the library's own version: "compiled without unrolling"; "": it is that.
	Version string
	Run     func(s *Session) error

	source, ptx string      // files in cuda/, without their endings
	versions    []*Workload // besides this one
}

// Studies are the papers whose benchmarks the library has, by the names that
// "gemu compare" and Workload.Papers have for them.
var Studies = map[string]string{
	"kim2013":      "Kim et al., Microarchitectural Mechanisms to Exploit Value Structure in SIMT Architectures, ISCA 2013",
	"collange2011": "Collange and Kouyoumdjian, Affine Vector Cache for memory bandwidth savings, 2011",
	"liu2017":      "Liu et al., G-Scalar: Cost-Effective Generalized Scalar Execution Architecture for Power-Efficient GPUs, HPCA 2017",
}

var workloads []*Workload

func register(w *Workload) {
	w.source, w.ptx = w.Name, w.Name
	if len(w.Blocks) > 0 {
		w.Block = w.Blocks[0]
	}
	w.addVersions()
	workloads = append(workloads, w)
}

// All lists the workloads by name, each in its own version.
func All() []*Workload {
	list := slices.Clone(workloads)
	slices.SortFunc(list, func(a, b *Workload) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Lookup finds a workload by name, or a version of one, as "aes/rolled" or "hotspot32"; nil if there is none.
func Lookup(name string) *Workload {
	for _, w := range workloads {
		if w.Name == name {
			return w
		}
		for _, v := range w.versions {
			if v.Name == name {
				return v
			}
		}
	}
	return nil
}

// Source is the workload's CUDA C, that of all its versions.
func (w *Workload) Source() string { return file(w.source + ".cu") }

// PTX is what the compiler made of it.
func (w *Workload) PTX() string { return file(w.ptx + ".ptx") }

func file(name string) string {
	b, err := files.ReadFile("cuda/" + name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(b)
}

// Session is a run of a workload: a device with the workload's module, and
// what the caller wants of the launches.
type Session struct {
	Context context.Context
	Module  *interp.Module
	N       int // size
	Block   int // the side of blocks, of workloads that have versions

	// Prepare, if set, sees every launch before it begins: to choose the warp
	// width, a step limit …
	Prepare func(l *interp.Launch)
	// Results are the launches so far.
	Results []*interp.Result
	// Summary says in a line what was computed, set by the workload.
	Summary string

	err error // of upload, kept for the next launch
}

// Start loads a workload's module into a device and readies a run of size n; 0
// means the default size.
func Start(ctx context.Context, w *Workload, dev *interp.Device, n int) (*Session, error) {
	if n > w.Max {
		return nil, fmt.Errorf("%s: a size of %d %s is too large, at most %d", w.Name, n, w.SizeDoc, w.Max)
	}
	m, err := dev.Load(w.Name+".ptx", []byte(w.PTX()))
	if err != nil {
		return nil, err
	}
	if n <= 0 {
		n = w.N
	}
	return &Session{Context: ctx, Module: m, N: n, Block: w.Block}, nil
}

// Launch runs a kernel of the module. If there was no memory for its buffers, it
// says so instead.
func (s *Session) Launch(kernel string, grid, block interp.Dim3, args ...any) error {
	return s.LaunchShared(kernel, grid, block, 0, args...)
}

// LaunchShared is Launch with bytes of dynamic shared memory.
func (s *Session) LaunchShared(kernel string, grid, block interp.Dim3, shared int, args ...any) error {
	if s.err != nil {
		return s.err
	}
	l := &interp.Launch{Kernel: kernel, Grid: grid, Block: block, Shared: shared, Args: args}
	if s.Prepare != nil {
		s.Prepare(l)
	}
	r, err := s.Module.Run(s.Context, l)
	if r != nil {
		s.Results = append(s.Results, r)
	}
	return err
}

// Mismatch is a result that differs from the host reference.
type Mismatch struct {
	Values string
	Index  int
	Got    any
	Want   any
	Count  int // differing elements
	Total  int
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s differs from the host reference in %d of %d elements, first at [%d]: got %v, want %v", m.Values, m.Count, m.Total, m.Index, m.Got, m.Want)
}

// Equal compares device results with the reference element by element.
func Equal[T comparable](what string, got, want []T) error {
	return compare(what, got, want, func(g, w T) bool { return g == w })
}

// Close compares floats: each must be within tol of the reference, relative to
// its size (absolute below 1). Infinities must be the same, NaN is close to NaN.
func Close[T float32 | float64](what string, got, want []T, tol float64) error {
	return compare(what, got, want, func(g, w T) bool {
		if g == w || g != g && w != w {
			return true
		}
		size := math.Abs(float64(w))
		return !math.IsInf(size, 0) && math.Abs(float64(g)-float64(w)) <= tol*max(1, size)
	})
}

func compare[T any](what string, got, want []T, same func(g, w T) bool) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d elements, the host reference %d", what, len(got), len(want))
	}
	var m *Mismatch
	for i := range got {
		if same(got[i], want[i]) {
			continue
		}
		if m == nil {
			m = &Mismatch{Values: what, Index: i, Got: got[i], Want: want[i], Total: len(got)}
		}
		m.Count++
	}
	if m == nil {
		return nil
	}
	return m
}

package kernels

//go:generate go run ./_gen

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

//go:embed cuda/*.cu cuda/*.ptx cuda/compiled/*.ptx cuda/caba/*.cu cuda/caba/*.ptx cuda/gv100/*.cu cuda/gv100/*.ptx cuda/thesis/*.cu cuda/thesis/*.ptx
var files embed.FS

// Workload is a program of kernels with inputs and a reference.
type Workload struct {
	Name string // unique name without spaces; that of a version has a slash or a number: "aes/rolled", "hotspot32"
	Doc  string // a line about the program
	// N is the default size, and Max the maximum, in units of SizeDoc.
	N, Max  int
	SizeDoc string // unit of sizes, as a plural: "nodes"
	// Origin is the source of the algorithm or benchmark.
	Origin string
	// Current marks a workload of current programs: tensor cores, asynchronous copies, narrow types. The others are
	// classic: benchmarks of the first ten years of CUDA. "gemu bench" prints means of both.
	Current bool
	// Flops returns the floating-point operations that the result for a size needs, such as 2·m·n·k for a matrix product.
	// Products of another type count like those of floats. Flops is nil for workloads that are no matrix products.
	Flops func(size int) float64
	// Papers lists studies, as keys of Studies. They measured this workload, or the benchmark after
	// which it is named.
	Papers []string
	// Blocks lists the sides of the thread blocks for which the workload has versions, in threads. The first is that of the
	// library's own version. Blocks is empty if the kernels determine their block size.
	Blocks []int
	Block  int // side of the thread blocks of this version, in threads; 0 if the kernels determine their block size
	// BlockThreads says that Blocks and Block are numbers of all threads of a block, not sides.
	BlockThreads bool
	// Warp is the width of warps that the kernels need, because lanes exchange values or multiply matrices together; 0 if
	// they run in warps of every width. Launches with another width return an error.
	Warp int
	// Version is the difference from the library's own version, such as "compiled without unrolling"; "" for the own
	// version.
	Version string
	Run     func(s *Session) error // launches the kernels on inputs of size s.N, and compares the results with a reference

	// source and ptx are the names of the files in cuda/, without their suffixes. The default of both is Name.
	source, ptx string
	versions    []*Workload // further versions
}

// Studies lists the papers whose benchmarks the library or Measured has, by their names in "gemu compare" and Workload.Papers.
var Studies = map[string]string{
	"kim2013":        "Kim et al., Microarchitectural Mechanisms to Exploit Value Structure in SIMT Architectures, ISCA 2013",
	"collange2011":   "Collange and Kouyoumdjian, Affine Vector Cache for memory bandwidth savings, 2011",
	"kandiah2021":    "Kandiah et al., AccelWattch: A Power Modeling Framework for Modern GPUs, MICRO 2021",
	"thesis2019":     "Vijaykumar, Enhancing Programmability, Portability, and Performance with Rich Cross-Layer Abstractions, thesis, 2019",
	"vijaykumar2016": "Vijaykumar et al., A Framework for Accelerating Bottlenecks in GPU Execution with Assist Warps, 2016",
	"liu2017":        "Liu et al., G-Scalar: Cost-Effective Generalized Scalar Execution Architecture for Power-Efficient GPUs, HPCA 2017",
}

var workloads, measured []*Workload

// register adds a workload and its versions to the library.
func register(w *Workload) {
	w.source, w.ptx = cmp.Or(w.source, w.Name), w.Name
	w.addVersions()
	workloads = append(workloads, w)
}

// registerMeasured adds a workload of a comparison. Without papers, it repeats launches measured on a GPU.
func registerMeasured(w *Workload) {
	w.source = cmp.Or(w.source, w.Name)
	w.ptx = w.source
	if w.Papers == nil {
		w.Papers = []string{"kandiah2021"}
	}
	w.addVersions()
	measured = append(measured, w)
}

// All lists the workloads by name, each in its own version.
func All() []*Workload { return byName(workloads) }

// Measured lists by name the workloads of comparisons that All omits: those that repeat launches whose counters a GPU measured
// (docs/gv100.md), with their sizes, and those after benchmarks of papers (docs/caba.md, docs/thesis2019.md). They are programs of their own.
func Measured() []*Workload { return byName(measured) }

// byName returns a sorted copy of a list.
func byName(list []*Workload) []*Workload {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Workload) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Lookup returns a workload of All or Measured by name, or a version such as "aes/rolled" or "hotspot32"; nil if there is
// none.
func Lookup(name string) *Workload {
	for _, w := range slices.Concat(workloads, measured) {
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

// Source returns the workload's CUDA C, which is the same for all versions; several workloads may have the same source.
func (w *Workload) Source() string { return file(w.source + ".cu") }

// PTX returns the workload's compiled PTX.
func (w *Workload) PTX() string { return file(w.ptx + ".ptx") }

// file returns the text of a file in cuda/.
func file(name string) string {
	b, err := files.ReadFile("cuda/" + name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(b)
}

// Session is a run of a workload: a device with the workload's module, and the caller's options for launches.
type Session struct {
	Context context.Context // ends the launches when it is done
	Module  *interp.Module  // loaded PTX of the workload
	N       int             // size, in units of Workload.SizeDoc
	Block   int             // Workload.Block
	Warp    int             // Workload.Warp

	// Prepare, if not nil, is called before every launch and may change it: warp width, step limit …
	Prepare func(l *interp.Launch)
	// Results are the results of the launches so far.
	Results []*interp.Result
	// Summary describes the computed result in one line; the workload sets it.
	Summary string

	err error // first error of upload, which the next launch returns
}

// Start loads a workload's module into a device and prepares a run of size n; 0 means the default size.
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
	return &Session{Context: ctx, Module: m, N: n, Block: w.Block, Warp: w.Warp}, nil
}

// Launch runs a kernel of the module. It returns an earlier error of upload instead, if any.
func (s *Session) Launch(kernel string, grid, block ptx.Dim3, args ...any) error {
	return s.LaunchShared(kernel, grid, block, 0, args...)
}

// threadEach launches a kernel with a thread for each of n elements, in blocks of Session.Block threads.
func (s *Session) threadEach(kernel string, n int, args ...any) error {
	return s.Launch(kernel, ptx.Dim(blocks(n, s.Block)), ptx.Dim(s.Block), args...)
}

// LaunchShared is Launch with dynamic shared memory, in bytes.
func (s *Session) LaunchShared(kernel string, grid, block ptx.Dim3, shared int, args ...any) error {
	if s.err != nil {
		return s.err
	}
	l := &interp.Launch{Kernel: kernel, Grid: grid, Block: block, Shared: shared, Args: args}
	if s.Prepare != nil {
		s.Prepare(l)
	}
	if width := cmp.Or(l.WarpSize, 32); s.Warp != 0 && width != s.Warp {
		return fmt.Errorf("kernel %s needs warps of %d threads, but the launch has warps of %d", kernel, s.Warp, width)
	}
	r, err := s.Module.Run(s.Context, l)
	if r != nil {
		s.Results = append(s.Results, r)
	}
	return err
}

// Mismatch is a result that differs from the host reference.
type Mismatch struct {
	Values string // name of the compared buffer
	Index  int    // index of the first wrong element
	Got    any    // its value
	Want   any    // the value of the host reference
	Count  int    // number of differing elements
	Total  int    // number of elements
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s differs from the host reference in %d of %d elements, first at [%d]: got %v, want %v", m.Values, m.Count, m.Total, m.Index, m.Got, m.Want)
}

// Equal compares the results of a kernel with the reference, element by element. name is the name of the results. The
// error is a *Mismatch, or says that the lengths differ.
func Equal[T comparable](name string, got, want []T) error {
	return compare(name, got, want, func(_ int, g, w T) bool { return g == w })
}

// Close is Equal for floats that may differ from the reference by tol times its magnitude, or by tol if the magnitude is
// below 1. Infinities must be equal, and NaN equals NaN.
func Close[T float32 | float64](name string, got, want []T, tol float64) error {
	return compare(name, got, want, func(_ int, g, w T) bool {
		if g == w || g != g && w != w {
			return true
		}
		magnitude := math.Abs(float64(w))
		return !math.IsInf(magnitude, 0) && math.Abs(float64(g)-float64(w)) <= tol*max(1, magnitude)
	})
}

// within is Equal for numbers of which element i may differ from the reference by bound(i).
func within(name string, got, want []float64, bound func(i int) float64) error {
	return compare(name, got, want, func(i int, g, w float64) bool { return math.Abs(g-w) <= bound(i) })
}

// compare is Equal with another comparison of elements.
func compare[T any](name string, got, want []T, same func(i int, g, w T) bool) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d elements, the host reference %d", name, len(got), len(want))
	}
	var m *Mismatch
	for i := range got {
		if same(i, got[i], want[i]) {
			continue
		}
		if m == nil {
			m = &Mismatch{Values: name, Index: i, Got: got[i], Want: want[i], Total: len(got)}
		}
		m.Count++
	}
	if m == nil {
		return nil
	}
	return m
}

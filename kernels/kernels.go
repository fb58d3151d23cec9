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

//go:embed cuda/*.cu cuda/*.ptx
var files embed.FS

// Workload is a program of one or several kernels with inputs and a reference.
type Workload struct {
	Name string
	Doc  string // one line
	// N is the default size, and SizeDoc what it counts.
	N       int
	SizeDoc string
	// Origin is where the algorithm or benchmark comes from.
	Origin string
	Run    func(s *Session) error
}

var workloads []*Workload

func register(w *Workload) { workloads = append(workloads, w) }

// All lists the workloads by name.
func All() []*Workload {
	list := slices.Clone(workloads)
	slices.SortFunc(list, func(a, b *Workload) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Lookup finds a workload by name; nil if there is none.
func Lookup(name string) *Workload {
	for _, w := range workloads {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// Source is the workload's CUDA C.
func (w *Workload) Source() string { return w.file(".cu") }

// PTX is what the compiler made of it.
func (w *Workload) PTX() string { return w.file(".ptx") }

func (w *Workload) file(ext string) string {
	b, err := files.ReadFile("cuda/" + w.Name + ext)
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

	// Prepare, if set, sees every launch before it begins: to choose the warp
	// width, a step limit …
	Prepare func(l *interp.Launch)
	// Results are the launches so far.
	Results []*interp.Result
	// Summary says in a line what was computed, set by the workload.
	Summary string
}

// Start loads a workload's module into a device and readies a run of size n; 0
// means the default size.
func Start(ctx context.Context, w *Workload, dev *interp.Device, n int) (*Session, error) {
	m, err := dev.Load(w.Name+".ptx", []byte(w.PTX()))
	if err != nil {
		return nil, err
	}
	if n <= 0 {
		n = w.N
	}
	return &Session{Context: ctx, Module: m, N: n}, nil
}

// Launch runs a kernel of the module.
func (s *Session) Launch(kernel string, grid, block interp.Dim3, args ...any) error {
	return s.LaunchShared(kernel, grid, block, 0, args...)
}

// LaunchShared is Launch with bytes of dynamic shared memory.
func (s *Session) LaunchShared(kernel string, grid, block interp.Dim3, shared int, args ...any) error {
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
	What  string
	Index int
	Got   any
	Want  any
	Count int // differing elements
	Of    int
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s differs from the host reference in %d of %d elements, first at [%d]: got %v, want %v", m.What, m.Count, m.Of, m.Index, m.Got, m.Want)
}

// Equal compares device results with the reference element by element.
func Equal[T comparable](what string, got, want []T) error {
	return compare(what, got, want, func(g, w T) bool { return g == w })
}

// Close compares floats: each must be within tol of the reference, relative to
// its size (absolute below 1).
func Close[T float32 | float64](what string, got, want []T, tol float64) error {
	return compare(what, got, want, func(g, w T) bool {
		d := math.Abs(float64(g) - float64(w))
		return d <= tol*max(1, math.Abs(float64(w))) || g != g && w != w || g == w
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
			m = &Mismatch{What: what, Index: i, Got: got[i], Want: want[i], Of: len(got)}
		}
		m.Count++
	}
	if m == nil {
		return nil
	}
	return m
}

// upload allocates a buffer with a copy of data.
func upload[T interp.Element](s *Session, data []T) (*interp.Buffer, error) {
	return interp.NewBuffer(s.Module.Device(), data)
}

// blocks is the number of blocks of size b that cover n.
func blocks(n, b int) int { return (n + b - 1) / b }

// rng is a small generator, so that inputs are the same everywhere (xorshift64*,
// Marsaglia 2003, Vigna 2016).
type rng uint64

func newRNG(seed uint64) *rng {
	r := rng(seed*0x9e3779b97f4a7c15 | 1)
	return &r
}

func (r *rng) uint64() uint64 {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = rng(x)
	return x * 0x2545f4914f6cdd1d
}

// intn is in [0, n).
func (r *rng) intn(n int) int { return int(r.uint64() >> 33 % uint64(n)) }

// float is in [0, 1).
func (r *rng) float() float32 { return float32(r.uint64()>>40) / (1 << 24) }

package kernels

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// start prepares a run on a new device.
func start(t testing.TB, name string, cfg interp.Config, n int) *Session {
	t.Helper()
	s, err := Start(t.Context(), Lookup(name), interp.NewDevice(cfg), n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWorkloadsMatchReferences compares every workload with its reference at small and odd sizes, and with GEMU_TEST=ci
// at the default size, too.
func TestWorkloadsMatchReferences(t *testing.T) {
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			sizes := []int{1, 2, 3, 7, 33, 100}
			switch {
			case part.TrySample():
				sizes = append(sizes, 257, 1000, w.N)
			case testing.Short():
				sizes = []int{1, 2, 33}
			}
			for _, n := range sizes {
				if n > w.N && n > 257 || n > 4*w.N || n > w.Max {
					continue // too slow: with a small w.N the work grows fast with n
				}
				s := start(t, w.Name, interp.Config{}, n)
				if err := w.Run(s); err != nil {
					t.Errorf("n = %d: %v", n, err)
				}
				if s.Summary == "" || strings.Contains(s.Summary, "\n") {
					t.Errorf("n = %d: summary %q, want a line", n, s.Summary)
				}
				if len(s.Results) == 0 {
					t.Errorf("n = %d: no results of launches", n)
				}
			}
		})
	}
}

// engine is a way to execute launches: a mode, a policy, and whether value structure is counted.
type engine struct {
	mode   interp.Mode
	policy *affinetrack.Policy
	stats  bool
}

func (e engine) String() string {
	s := e.mode.String()
	if e.policy != nil {
		s += " " + e.policy.Name
	}
	if e.stats {
		s += " with statistics"
	}
	return s
}

// engines lists the ways to execute launches. Affine mode is also tried without a policy, so without a probe.
func engines() []engine {
	list := []engine{{mode: interp.Vector}, {mode: interp.Affine}}
	for _, p := range affinetrack.Policies {
		list = append(list, engine{interp.Check, p, true})
		if !p.Ideal {
			list = append(list, engine{interp.Affine, p, true})
		}
	}
	return list
}

// TestWorkloadsOnEveryEngine compares every workload with its reference in every mode, under every policy, in warps of
// several widths; in warps of another width than Workload.Warp its launches return an error. A sixth of the modes and
// policies is tried on each workload with one width, with GEMU_TEST=ci half of them, and with GEMU_TEST=all all of them
// with all widths; and with Workload.Warp in any case.
func TestWorkloadsOnEveryEngine(t *testing.T) {
	part.SkipShort(t)
	n, widths := part.Count(9, 17, 33), []int{1, 4, 8, 16, 32, 64}
	each, isTried, seed := part.Count(1, 1, len(widths)), part.Share(t, 6, 2, 1), part.Seed(t)
	for i, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			list := engines()
			for j, at := range rng.Perm(len(list)) {
				if !isTried(i + j) {
					continue
				}
				e, tried := list[at], []int{}
				for _, k := range rng.Perm(len(widths))[:each] {
					tried = append(tried, widths[k])
				}
				if each == 1 && tried[0] == 1 && e.mode != interp.Vector {
					tried[0] = widths[1+rng.IntN(len(widths)-1)]
				}
				if w.Warp != 0 && !slices.Contains(tried, w.Warp) {
					tried = append(tried, w.Warp)
				}
				for _, width := range tried {
					if width == 1 && e.mode != interp.Vector {
						continue // with one lane, every value is uniform
					}
					s := start(t, w.Name, interp.Config{}, min(n, 1+w.N/16)) // small if an element needs much work
					s.Prepare = func(l *interp.Launch) {
						l.WarpSize, l.Mode, l.Policy, l.Structure = width, e.mode, e.policy, e.stats
					}
					err := w.Run(s)
					var wrong *Mismatch
					var trap *probe.Trap
					switch {
					case w.Warp != 0 && width != w.Warp:
						if err == nil || errors.As(err, &wrong) || errors.Is(err, probe.ErrMismatch) || errors.As(err, &trap) {
							t.Errorf("%v, warps of %d: %v, want an error before the first launch", e, width, err)
						}
					case err != nil:
						t.Errorf("%v, warps of %d: %v", e, width, err)
					}
				}
			}
		})
	}
}

// TestCountsDoNotDependOnWorkers: the counts of a launch do not depend on the number of workers, so no kernel has a
// harmful race.
func TestCountsDoNotDependOnWorkers(t *testing.T) {
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			var counts [2][]interp.Result
			for i, workers := range []int{1, 4} {
				n := min(w.N, 5000)
				if w.N < 1000 {
					n = min(w.N, 40)
				}
				s := start(t, w.Name, interp.Config{Workers: workers}, n)
				if err := w.Run(s); err != nil {
					t.Fatal(err)
				}
				for _, r := range s.Results {
					r.Duration = 0
					counts[i] = append(counts[i], *r)
				}
			}
			if diff := cmp.Diff(counts[0], counts[1], cmp.Comparer(func(a, b *interp.Reconverger) bool { return a == b })); diff != "" {
				t.Errorf("1 and 4 workers (-1 +4):\n%s", diff)
			}
		})
	}
}

// TestFailingRuns checks the errors of runs on a device with little memory, with a context that has ended, and with a size
// that is too large.
func TestFailingRuns(t *testing.T) {
	part.SkipShort(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, w := range All() {
		s, err := Start(t.Context(), w, interp.NewDevice(interp.Config{Memory: 8 << 10}), 0)
		if err == nil {
			err = w.Run(s)
		}
		if !errors.Is(err, interp.ErrOutOfMemory) {
			t.Errorf("%s in 8 KiB: %v, want %v", w.Name, err, interp.ErrOutOfMemory)
		}
		s = start(t, w.Name, interp.Config{}, 0)
		s.Context = done
		if err := w.Run(s); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", w.Name, err)
		}
		if _, err := Start(t.Context(), w, interp.NewDevice(interp.Config{}), w.Max+1); err == nil {
			t.Errorf("%s: a size of %d is accepted", w.Name, w.Max+1)
		}
	}
}

// TestFloatingPointOperations compares numbers of operations with the shapes in the workloads' descriptions: sgemm and the
// products by mma multiply 256×128 by 128×192, attention twice 256×64 by 64×256 for each of two heads.
func TestFloatingPointOperations(t *testing.T) {
	product, attention := 2.0*256*192*128, 2*2*2.0*256*256*64
	for name, want := range map[string]float64{"sgemm": product, "gemm_f16": product, "gemm_bf16": product, "gemm_s8": product, "gemm_wgmma": product, "gemm_tcgen05": product, "attention": attention} {
		if got := Lookup(name).Flops(256); got != want {
			t.Errorf("%s: %g operations, want %g", name, got, want)
		}
	}
}

// TestListOfWorkloads shows that every workload has a description, an origin and sizes, and is found by its name.
func TestListOfWorkloads(t *testing.T) {
	all := All()
	var names, used []string
	for _, w := range all {
		names, used = append(names, w.Name), append(used, w.source)
		if w.Doc == "" || w.Origin == "" || w.SizeDoc == "" || w.N < 1 || w.Max < w.N {
			t.Errorf("%s lacks a doc, an origin or a size: %+v", w.Name, w)
		}
		if strings.Contains(w.Doc+w.Origin+w.SizeDoc, "\n") || strings.HasSuffix(w.Doc, ".") {
			t.Errorf("%s: doc %q, want a phrase", w.Name, w.Doc)
		}
		for _, paper := range w.Papers {
			if Studies[paper] == "" {
				t.Errorf("%s: no study %q", w.Name, paper)
			}
		}
		if Lookup(w.Name) != w {
			t.Errorf("Lookup(%q) returns a different workload", w.Name)
		}
		if !strings.Contains(w.Source(), "__global__") {
			t.Errorf("%s.cu has no kernel", w.Name)
		}
		first, _, _ := strings.Cut(w.PTX(), "\n")
		if want := " " + w.source + ".cu -o " + w.Name + ".ptx"; !(strings.HasPrefix(first, map[bool]string{false: "// clang-19 ", true: "// nvcc "}[w.Current]) && strings.HasSuffix(first, want)) && !strings.HasPrefix(first, "// Hand-written ") {
			t.Errorf("%s.ptx begins %q, want its command", w.Name, first)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	if Lookup("no such workload") != nil {
		t.Error("Lookup returns a workload for an unknown name")
	}
	sources, err := filepath.Glob("cuda/*.cu")
	if err != nil {
		t.Fatal(err)
	}
	for i := range sources {
		sources[i] = strings.TrimSuffix(filepath.Base(sources[i]), ".cu")
	}
	compiled, err := filepath.Glob("cuda/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob("cuda/compiled/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	files := len(compiled) + len(others)
	for _, w := range All() {
		files -= 1 + len(w.Versions())
	}
	if files != 0 {
		t.Errorf("%d more files of PTX than workloads and versions", files)
	}
	slices.Sort(used)
	if diff := cmp.Diff(slices.Compact(used), sources); diff != "" {
		t.Errorf("sources of workloads and files (-workload +file):\n%s", diff)
	}
}

// TestWorkloadsAreDocumented checks that docs/workloads.md lists the current workloads, with their kernels and default
// sizes, and the workloads of all studies but kim2013 and vijaykumar2016, which have pages of their own, with their kernels, default sizes and studies.
func TestWorkloadsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|(.*)\\|$").FindAllStringSubmatch(string(text), -1) {
		for _, cell := range strings.Split(m[2], "|") {
			rows[m[1]] = append(rows[m[1]], strings.TrimSpace(cell))
		}
	}
	entry := regexp.MustCompile(`(?m)^\.visible \.entry (\w+)`)
	for _, w := range All() {
		row := rows[w.Name]
		delete(rows, w.Name)
		listedPapers := slices.DeleteFunc(slices.Clone(w.Papers), func(p string) bool { return p == "vijaykumar2016" })
		if !w.Current && !slices.ContainsFunc(listedPapers, func(p string) bool { return p != "kim2013" }) {
			if row != nil {
				t.Errorf("%s has a row, but is not current and belongs to no study of the table", w.Name)
			}
			continue
		}
		var names []string
		for _, m := range entry.FindAllStringSubmatch(w.PTX(), -1) {
			names = append(names, "`"+m[1]+"`")
		}
		want := 5 // cells
		if w.Current {
			want = 3
		}
		if len(row) != want {
			t.Errorf("%s: row %q", w.Name, row)
			continue
		}
		listed := strings.Split(row[0], ", ")
		slices.Sort(names)
		slices.Sort(listed)
		if diff := cmp.Diff(names, listed); diff != "" {
			t.Errorf("%s: kernels (-PTX +table):\n%s", w.Name, diff)
		}
		if w.Current {
			row = slices.Insert(row, 1, "") // no column of blocks
		}
		if size, _, _ := strings.Cut(row[2], " "); size != fmt.Sprint(w.N) {
			t.Errorf("%s: size %s, want %d", w.Name, row[2], w.N)
		}
		if papers := strings.Join(listedPapers, ", "); !w.Current && row[3] != papers {
			t.Errorf("%s: papers %s, want %s", w.Name, row[3], papers)
		}
	}
	for name := range rows {
		t.Errorf("%s is no workload", name)
	}
}

// nvccRelease matches the version of nvcc in PTX.
var nvccRelease = regexp.MustCompile(`release [0-9.]+, V[0-9.]+`)

// TestPTXIsCurrent checks for some workloads that the committed PTX is the compiler's output for the source.
func TestPTXIsCurrent(t *testing.T) {
	for _, name := range []string{"saxpy", "reduce", "histogram", "bsearch/plain", "gemm_s8", "gemm_wgmma", "softmax"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, committed, _ := strings.Cut(Lookup(name).PTX(), "\n")
			args := strings.Fields(strings.TrimPrefix(command, "//"))
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skip("no compiler to compare with: ", err)
			}
			if release := nvccRelease.FindString(committed); release != "" {
				if version, err := exec.Command(args[0], "--version").Output(); err != nil || !bytes.Contains(version, []byte(release)) {
					t.Skipf("the compiler is not that of %s: %s %v", release, version, err)
				}
			}
			args[len(args)-1] = "-" // the value of -o: standard output
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = "cuda"
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			if diff := cmp.Diff(committed, string(out)); diff != "" {
				t.Errorf("run go generate (-committed +generated):\n%s", diff)
			}
		})
	}
}

// TestWrongResult checks that Run detects a wrong result of a launch.
func TestWrongResult(t *testing.T) {
	s := start(t, "saxpy", interp.Config{}, 1000)
	s.Prepare = func(l *interp.Launch) { l.Args[0] = 997 } // the kernel omits the last three elements
	err := Lookup("saxpy").Run(s)
	var m *Mismatch
	if !errors.As(err, &m) || m.Index != 997 || m.Count != 3 || m.Total != 1000 {
		t.Errorf("saxpy of 997 of 1000 elements: %v", err)
	}
}

// TestEqualReportsFirstDifference shows the report of elements that differ from a reference.
func TestEqualReportsFirstDifference(t *testing.T) {
	want := []int32{1, 2, 3, 4}
	if err := Equal("x", slices.Clone(want), want); err != nil {
		t.Error(err)
	}
	err := Equal("x", []int32{1, 2, 0, 5}, want)
	if err == nil || err.Error() != "x differs from the host reference in 2 of 4 elements, first at [2]: got 0, want 3" {
		t.Error(err)
	}
	if err := Equal("x", want[:3], want); err == nil {
		t.Error("Equal accepts 3 elements where the reference has 4")
	}
}

// TestCloseTolerance shows which floats count as close: within a thousandth, relative or absolute.
func TestCloseTolerance(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want float64
		good      bool
	}{
		{1, 1, true}, {1, 1.0005, true}, {1, 1.002, false},
		{1e6, 1e6 + 999, true}, {1e6, 1e6 + 2000, false}, // relative
		{1e-9, 2e-9, true}, {0.5, 0.502, false}, // absolute below 1
		{nan, nan, true}, {nan, 1, false}, {1, nan, false},
		{inf, inf, true}, {inf, -inf, false}, {inf, 1, false}, {1, inf, false},
	} {
		if err := Close("x", []float64{c.got}, []float64{c.want}, 1e-3); (err == nil) != c.good {
			t.Errorf("Close(%v, %v) = %v", c.got, c.want, err)
		}
	}
}

// TestWithinBounds shows that each element has its own bound, and that NaN is in none.
func TestWithinBounds(t *testing.T) {
	bounds := []float64{0, 0.5, 1}
	check := func(got []float64) (index int) {
		var m *Mismatch
		switch err := within("x", got, []float64{1, 2, 3}, func(i int) float64 { return bounds[i] }); {
		case err == nil:
			return -1
		case errors.As(err, &m):
			return m.Index
		}
		return -2
	}
	for _, c := range []struct {
		got   []float64
		index int // of the first wrong element, or -1
	}{
		{[]float64{1, 2, 3}, -1}, {[]float64{1, 2.5, 2}, -1}, {[]float64{1.01, 2, 3}, 0}, {[]float64{1, 2.6, 3}, 1}, {[]float64{1, 2, 1.9}, 2}, {[]float64{1, 2, math.NaN()}, 2},
	} {
		if index := check(c.got); index != c.index {
			t.Errorf("%v: first wrong element %d, want %d", c.got, index, c.index)
		}
	}
}

// TestFMA32RoundsOnce compares the fused multiply-add of references with exact arithmetic of math/big, rounded once.
func TestFMA32RoundsOnce(t *testing.T) {
	check := func(a, b, c float32) {
		t.Helper()
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(a))
		exact.Mul(exact, big.NewFloat(float64(b)))
		exact.Add(exact, big.NewFloat(float64(c)))
		if want, _ := exact.Float32(); fma32(a, b, c) != want {
			t.Errorf("fma32(%v, %v, %v) = %v, want %v", a, b, c, fma32(a, b, c), want)
		}
	}
	// If it were rounded twice, the last digit of this result would be one too large.
	check(math.Float32frombits(0x39800001), math.Float32frombits(0x397ffffe), math.Float32frombits(0x3f800001))
	check(0, 0, 0)
	check(1, -1, 1)
	r := newRNG(1)
	any := func() float32 { // of either sign, from 2^-30 up to 2^30
		return float32(math.Ldexp(float64(2*r.float()-1), r.intn(61)-30))
	}
	for range 100000 {
		check(any(), any(), any())
	}
}

// BenchmarkWorkloads measures the threads per second of each workload in each mode.
func BenchmarkWorkloads(b *testing.B) {
	for _, w := range All() {
		for _, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
			b.Run(w.Name+"/"+mode.String(), func(b *testing.B) {
				var threads, seconds float64
				for b.Loop() {
					s := start(b, w.Name, interp.Config{}, 0)
					s.Prepare = func(l *interp.Launch) { l.Mode = mode }
					if err := w.Run(s); err != nil {
						b.Fatal(err)
					}
					for _, r := range s.Results {
						threads += float64(r.ThreadInstructions)
						seconds += r.Duration.Seconds()
					}
				}
				b.ReportMetric(threads/seconds, "thread-instr/s")
			})
		}
	}
}

// TestVersionsOfWorkloads checks that the versions of a workload have the same source and reference, and are compiled with
// the documented flags or block size.
func TestVersionsOfWorkloads(t *testing.T) {
	compilations, wide := map[string]bool{}, 0 // names of the compilations found, and number of versions with other blocks
	for _, own := range All() {
		for _, w := range own.Versions() {
			if Lookup(w.Name) != w || w.Source() != own.Source() || w.Version == "" || own.Version != "" || w.PTX() == own.PTX() || len(w.Versions()) > 0 || slices.Contains(All(), w) {
				t.Errorf("%s is not found, or is no version of %s", w.Name, own.Name)
			}
			first, _, _ := strings.Cut(w.PTX(), "\n")
			command, files, _ := strings.Cut(strings.TrimPrefix(first, "// clang-19 "), " -S ")
			want := own.Name + ".cu -o " + w.Name + ".ptx"
			var flags []string
			if _, compilation, ok := strings.Cut(w.Name, "/"); ok {
				compilations[compilation] = true
				want = own.Name + ".cu -o compiled/" + own.Name + "." + compilation + ".ptx"
				if compilation != "rolled" {
					flags = append(flags, "-two-entry-phi-node-folding-threshold=0")
				}
				if compilation != "branches" {
					flags = append(flags, "-fno-unroll-loops")
				}
			} else {
				wide++
				flags = []string{fmt.Sprint("-DBLOCK=", w.Block)}
				if w.Block == own.Block || w.Name != fmt.Sprint(own.Name, w.Block) {
					t.Errorf("%s has blocks of %d, %s of %d", w.Name, w.Block, own.Name, own.Block)
				}
			}
			var found []string
			for _, f := range strings.Fields(command) {
				if strings.HasPrefix(f, "-DBLOCK") || f == "-fno-unroll-loops" || strings.HasPrefix(f, "-two-entry") {
					found = append(found, f)
				}
			}
			if files != want || !slices.Equal(found, flags) {
				t.Errorf("%s begins %q, want %q in its command, and files %q", w.Name, first, flags, want)
			}
			t.Run(w.Name, func(t *testing.T) {
				t.Parallel()
				for _, n := range []int{1, 33, 100} {
					if w.Block == 0 {
						n = min(n, 1+w.N/16)
					}
					s := start(t, w.Name, interp.Config{}, n)
					s.Prepare = func(l *interp.Launch) {
						if w.Block != 0 && l.Block != ptx.Dim(w.Block, w.Block) {
							t.Errorf("a block of %v", l.Block)
						}
					}
					if err := w.Run(s); err != nil {
						t.Errorf("n = %d: %v", n, err)
					}
				}
			})
		}
	}
	if len(compilations) != len(Compilations) || wide == 0 {
		t.Errorf("versions compiled as %v, want all of %v; %d with other blocks", compilations, Compilations, wide)
	}
	for _, name := range []string{"aes/", "aes/faster", "aes/rolled/plain", "aes/../aes", "saxpy/rolled", "none/rolled", "hotspot/32", "hotspot16", "saxpy32"} {
		if w := Lookup(name); w != nil {
			t.Errorf("%s is %s", name, w.Name)
		}
	}
}

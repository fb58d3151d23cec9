package ptx

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gemu/internal/part"
)

// corpus returns all valid PTX files of the repository.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{"../testdata/insn/*.ptx", "../testdata/control/*.ptx", "../testdata/nvcc/*.ptx", "../testdata/good/*.ptx", "../kernels/cuda/*.ptx"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			b, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			files[n] = b
		}
	}
	if len(files) < 3 {
		t.Fatalf("found only %d files", len(files))
	}
	return files
}

// sameIR compares modules without file names and positions.
var sameIR = cmp.Options{
	cmpopts.IgnoreTypes(Pos{}),
	cmpopts.IgnoreFields(Module{}, "Name"),
	cmpopts.IgnoreUnexported(Module{}, Func{}),
	cmp.AllowUnexported(Operand{}, operandExtra{}),
	cmp.Comparer(func(a, b *Variant) bool { return a.Text == b.Text }),
	// References to blocks and symbols are compared by name or number only.
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[Symbol]() },
		cmp.Comparer(func(a, b Symbol) bool {
			return (a == nil) == (b == nil) && (a == nil || a.SymbolName() == b.SymbolName())
		})),
	reference(func(b *Block) int { return b.Index }, "Succs", "Preds", "block"),
	reference(func(f *Func) string { return f.Name }, "Funcs", "Target"),
	reference(func(t *Table) string { return t.Name }, "table", "List"),
	reference(func(v *Var) string { return v.Name }, "Var"),
}

// reference compares pointers by a key if they are in one of the fields.
func reference[T any, K comparable](key func(*T) K, fields ...string) cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		for _, step := range p[max(0, len(p)-3):] {
			if f, ok := step.(cmp.StructField); ok && slices.Contains(fields, f.Name()) {
				return true
			}
		}
		return false
	}, cmp.Comparer(func(a, b *T) bool { return a == nil && b == nil || a != nil && b != nil && key(a) == key(b) }))
}

// TestRoundTrip checks that parsing a printed module gives the same module: for a twentieth of the files, with GEMU_TEST=ci
// for every file.
func TestRoundTrip(t *testing.T) {
	part.SkipShort(t)
	files, isTried := corpus(t), part.Share(t, 20, 1, 1)
	for i, name := range slices.Sorted(maps.Keys(files)) {
		src := files[name]
		if !isTried(i) {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			roundTrip(t, name, src)
		})
	}
}

func roundTrip(t *testing.T, name string, src []byte) {
	t.Helper()
	m, err := Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	text := m.String()
	again, err := Parse("printed", []byte(text))
	if err != nil {
		t.Fatalf("the printed module does not parse: %v\n%s", err, err.(ErrorList)[0].Snippet())
	}
	if d := cmp.Diff(m, again, sameIR); d != "" {
		t.Errorf("parse∘print∘parse is not the identity (-first +second):\n%s", d)
	}
	if text2 := again.String(); text2 != text {
		t.Errorf("printing twice differs:\n%s", cmp.Diff(text, text2))
	}
}

// FuzzParse checks that every input gives a module or errors, never a panic, and that a module survives printing.
func FuzzParse(f *testing.F) {
	for _, src := range corpus(f) {
		if len(src) < part.Count(3, 8, 8)<<10 {
			f.Add(string(src))
		}
	}
	f.Add(".version 7.0\n.target sm_80\n.address_size 64\n.global .u32 x[2] = {1, 2};\n")
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse("fuzz.ptx", []byte(src))
		if (m == nil) == (err == nil) {
			t.Fatalf("module %v and error %v", m != nil, err)
		}
		if err != nil {
			for _, e := range err.(ErrorList) {
				_ = e.Error() + e.Snippet()
			}
			return
		}
		roundTrip(t, "fuzz.ptx", []byte(src))
	})
}

// largeSource returns about size bytes of clang's output.
func largeSource(t testing.TB, size int) string {
	var src strings.Builder
	body := benchmarkFunction(t)
	src.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n")
	for i := 0; src.Len() < size; i++ {
		src.WriteString(strings.ReplaceAll(body, "NAME", "kx"+strconv.Itoa(i)))
	}
	return src.String()
}

// TestMemoryOfModules checks that a module takes a small multiple of its text in memory. The goal of the command is ten
// times the file's size, including the overhead of the garbage collector.
func TestMemoryOfModules(t *testing.T) {
	for name, src := range map[string]string{
		"kernels": largeSource(t, 8<<20), "registers": string(manyRegisters(1_000_000)),
		"initialiser": ".version 8.0\n.target sm_80\n.address_size 64\n.global .b8 x[] = {" + strings.Repeat("255, ", 1<<20) + "0};\n",
	} {
		if name == "registers" && !part.TrySample() { // it takes half a minute
			continue
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, err := ParseString("large.ptx", src)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(src))
		runtime.GC()
		runtime.ReadMemStats(&after)
		live := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(src))
		t.Logf("%s: %.1f times the text allocated, %.1f times kept", name, allocated, live)
		if allocated > 25 || live > 8 {
			t.Errorf("%s: %.1f times the text allocated, %.1f times kept", name, allocated, live)
		}
		runtime.KeepAlive(m)
	}
}

// BenchmarkParse parses and checks 10 MB of clang's output.
func BenchmarkParse(b *testing.B) {
	text := []byte(largeSource(b, 10<<20))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("bench.ptx", text); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkFunction returns the largest kernel of the corpus that was compiled with clang; its name is replaced by
// NAME.
func benchmarkFunction(b testing.TB) string {
	best, bestName := "", ""
	for file, src := range corpus(b) {
		if !strings.Contains(file, "cuda") {
			continue
		}
		for _, part := range strings.Split(string(src), "\n.visible .entry ")[1:] {
			name, _, _ := strings.Cut(part, "(")
			end := strings.Index(part, "\n}\n")
			if end < 0 {
				end = len(part) - 3
			}
			body := ".visible .entry " + part[:end] + "\n}\n"
			if _, err := Parse("", []byte(".version 7.0\n.target sm_80\n.address_size 64\n"+body)); err == nil && len(body) > len(best) {
				best, bestName = body, name
			}
		}
	}
	return strings.ReplaceAll(best, bestName, "NAME")
}

package main

// This file compiles stencils in all forms, and finds the bytes that depend on whether an operand is a constant.

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
)

const compiler = "clang-19"

// flags returns the compiler's flags: no jump tables, no libm, and no optimisation that changes results of C operations.
func (t *target) flags() []string {
	return slices.Concat([]string{
		"-O3", t.march, "-std=gnu17", "-fno-pic", t.model, "-ffunction-sections", "-ffreestanding", "-fwrapv",
		"-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-fno-stack-protector", "-fno-asynchronous-unwind-tables",
		"-fno-jump-tables",
	}, t.extraFlags, []string{
		"-Wall", "-Wno-unused-function",
		fmt.Sprintf("-DSHARED_WINDOW=%#xul", probe.SharedWindow),
		fmt.Sprintf("-DALLOCATION_BASE=%d", unsafe.Offsetof(mem.Allocation{}.Base)), fmt.Sprintf("-DALLOCATION_SIZE=%d", unsafe.Offsetof(mem.Allocation{}.Size)),
		fmt.Sprintf("-DALLOCATION_PTR=%d", unsafe.Offsetof(mem.Allocation{}.Ptr)), fmt.Sprintf("-DCONTEXT_NOTIFY_EVERY_BLOCK=%d", native.NotifyEveryBlockAt),
		"-Wno-pass-failed", "-Wno-unused-variable", "-Wno-unused-parameter", "-Wno-bitwise-op-parentheses", "-Wno-shift-op-parentheses", "-Wno-unused-but-set-variable",
	})
}

// The maximum stack of a stencil in bytes: without calls, and with a call of a function (which must not call further
// functions).
const (
	stackBound       = 1024
	callerStackBound = 256
)

// maxVariantBytes is the maximum size of a stencil of a higher level, in bytes of code. Longer stencils are of rare operations,
// which use the baseline's stencil.
const maxVariantBytes = 8192

// version returns the version of the compiler.
var version = sync.OnceValue(func() string {
	text, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		log.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return first
})

// compile compiles the stencils of the target in all forms. It also returns messages about operations left to Go.
func (s *sources) compile() (all []*stencil, refused []string, err error) {
	tmp, err := os.MkdirTemp("", "stencils")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(tmp)
	for _, f := range s.files {
		if err := os.WriteFile(filepath.Join(tmp, f.name), []byte(f.text), 0o644); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range s.files {
		if !strings.HasSuffix(f.name, ".c") || !slices.Contains(s.target.tables, f.table) {
			continue
		}
		learned, err := s.compileForms(tmp, f)
		if err != nil {
			return nil, nil, err
		}
		for _, k := range f.kernels {
			for _, form := range []string{"_full", "_masked"} {
				if st := learned[k.name+form].stencil; st != nil {
					st.cost = k.cost
				}
			}
		}
		if err := s.compileNarrow(tmp, f, learned); err != nil {
			return nil, nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(learned)) {
			switch o := learned[name]; {
			case o.err == nil:
				if o.stencil.table = cmp.Or(o.stencil.table, f.table); strings.HasSuffix(name, comparingSuffix) {
					o.stencil.table = agreed
				}
				all = append(all, o.stencil)
			case f.weak:
				refused = append(refused, fmt.Sprintf("%s runs in Go: %v", name, o.err))
			default:
				return nil, nil, fmt.Errorf("%s: %v", name, o.err)
			}
		}
	}
	slices.SortFunc(all, func(a, b *stencil) int { return strings.Compare(a.name, b.name) })
	return all, refused, nil
}

// compiledStencil is a stencil, or the reason for which there is none.
type compiledStencil struct {
	stencil *stencil
	err     error
}

// isIncomplete reports whether the stencil is missing or an operand cannot be a constant.
func (o compiledStencil) isIncomplete() bool {
	return o.err != nil || o.stencil != nil && len(o.stencil.neverConstant) > 0
}

// compileForms compiles a file in all forms and returns its stencils by name.
func (s *sources) compileForms(tmp string, f file) (map[string]compiledStencil, error) {
	out := map[string]compiledStencil{}
	for _, form := range []string{"", "-DMASKED"} {
		objects, err := s.objects(tmp, f, form)
		if err != nil {
			return nil, err
		}
		for name, st := range objects[""] {
			why := st.learn(f.operands, objects)
			out[name] = compiledStencil{st, why}
		}
	}
	return out, nil
}

// compileNarrow compiles the kernels of a file with incomplete stencils again. First it reads the bases of operands from
// the context, to get the same code for constants; then it also handles fewer lanes at a time, which takes less stack. Only
// stencils for fewer lanes are in table narrow, with a higher cost.
func (s *sources) compileNarrow(tmp string, f file, learned map[string]compiledStencil) error {
	for _, width := range []int{32, 8, 4, 1} {
		n := file{name: fmt.Sprintf("narrow%d_%s", width, f.name), operands: f.operands, flags: []string{fmt.Sprintf("-DWIDTH=%d", width)}}
		n.text = "#include \"rows.h\" // and \"stencil.h\"\n" + f.functions + "#include \"narrow.h\"\n#include \"numbers.h\"\n"
		costs := map[string]int{}
		for _, k := range f.kernels {
			if learned[k.name].isIncomplete() || learned[k.name+"_full"].isIncomplete() || learned[k.name+"_masked"].isIncomplete() {
				n.text += k.text
				costs[k.name+"_full"], costs[k.name+"_masked"] = k.cost, k.cost
			}
		}
		if len(costs) == 0 {
			return nil
		}
		if err := os.WriteFile(filepath.Join(tmp, n.name), []byte(n.text), 0o644); err != nil {
			return err
		}
		others, err := s.compileForms(tmp, n)
		if err != nil {
			return err
		}
		for name, o := range others {
			if was := learned[name]; was.isIncomplete() && o.err == nil && (was.err != nil || !o.isIncomplete()) {
				o.stencil.cost = costs[name]
				if width < 32 {
					o.stencil.table, o.stencil.cost = narrow, native.SlowCost
				}
				learned[name] = o
			}
		}
	}
	return nil
}

// objects compiles a file once for each set of constant operands: none, each one, all.
func (s *sources) objects(tmp string, f file, form string) (map[string]map[string]*stencil, error) {
	sets := append(strings.Split(f.operands, ""), "", f.operands)
	slices.Sort(sets)
	sets = slices.Compact(sets)
	read, errs := make([]map[string]*stencil, len(sets)), make([]error, len(sets))
	var all sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for i, bases := range sets {
		all.Go(func() {
			slots <- true
			defer func() { <-slots }()
			read[i], errs[i] = s.object(tmp, f, form, bases)
		})
	}
	all.Wait()
	objects := map[string]map[string]*stencil{}
	for i, bases := range sets {
		objects[bases] = read[i]
	}
	return objects, errors.Join(errs...)
}

// object compiles a file and reads its stencils. An unusable stencil has no code.
func (s *sources) object(tmp string, f file, form, bases string) (map[string]*stencil, error) {
	args := append(s.target.flags(), "-fstack-usage")
	args = append(args, f.flags...)
	if strings.Contains(f.text, `"rows.h"`) {
		args = append(args, fmt.Sprintf("-DCONTEXT_PARALLEL=%d", native.ParallelAt), fmt.Sprintf("-DALLOCATIONS_KNOWN=%d", code.HitsPerAccess), fmt.Sprintf("-DGATHER_COST=%d", native.GatherCost))
	}
	if strings.Contains(f.text, `"warp.h"`) {
		args = append(args, fmt.Sprintf("-DBUDGET_USED=%d", native.BudgetUsed), fmt.Sprintf("-DRECONVERGES=%d", native.Reconverges), fmt.Sprintf("-DNO_SPLIT=%d", native.NoSplit),
			fmt.Sprintf("-DSWITCHED_WARP=%d", native.SwitchedWarp), fmt.Sprintf("-DCONTEXT_BARRIER_BLOCK=%d", native.BarrierBlockAt), fmt.Sprintf("-DSCHEDULER_EXIT_BRANCHES=%d", native.ExitBranchesAt))
	}
	if strings.Contains(f.text, `"pointer.h"`) {
		args = append(args, fmt.Sprintf("-DCONTEXT_ADDRESSES=%d", native.AddressesAt))
	}
	if f.name == "matrix.c" {
		args = append(args, fmt.Sprintf("-DCONTEXT_FRAGMENTS=%d", native.FragmentsAt), fmt.Sprintf("-DFRAGMENTS_BYTES=%d", unsafe.Sizeof(native.Fragments{})))
	}
	if f.name == "observed.c" {
		args = append(args, fmt.Sprintf("-DCONTEXT_LOG=%d", native.LogAt), fmt.Sprintf("-DLOGGED_LOAD_BYTES=%d", native.LoggedAccessBytes))
	}
	if f.name == "async.c" {
		args = append(args, fmt.Sprintf("-DCONTEXT_COPIES=%d", native.CopiesAt), fmt.Sprintf("-DWARP_COPY_BYTES=%d", native.WarpCopyBytes))
	}
	if f.name == "compact.c" || f.name == "check.c" {
		// A vector written in two halves cannot be read from the store buffer.
		args = append(args, "-fno-slp-vectorize")
	}
	if form != "" {
		args = append(args, form)
	}
	for _, b := range bases {
		args = append(args, fmt.Sprintf("-DCONSTANT_%c", b))
	}
	o, err := s.compiled(tmp, f, args)
	if err != nil {
		return nil, err
	}
	stencils, err := s.target.readObject(o)
	if err != nil {
		return nil, err
	}
	usage, err := os.ReadFile(strings.TrimSuffix(o, ".o") + ".su")
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(strings.TrimSpace(string(usage)), "\n") {
		cols := strings.Split(line, "\t")
		if len(cols) != 3 {
			continue
		}
		name := cols[0][strings.LastIndex(cols[0], ":")+1:]
		st := stencils[name]
		if n, err := strconv.Atoi(cols[1]); st != nil && err == nil && (n > stackBound || st.calls && n > callerStackBound || cols[2] != "static") {
			stencils[name] = &stencil{name: fmt.Sprintf("%d bytes of stack", n)}
		}
	}
	return stencils, nil
}

// compiled returns the path of a source's object file, next to which is the compiler's report of stack use (.su). It keeps the
// files in the user's cache directory, because a source takes minutes in all forms.
func (s *sources) compiled(tmp string, f file, args []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, version(), args, f.name, significant(f.text))
	for _, header := range s.headersOf(f) {
		fmt.Fprintln(h, header.name, significant(header.text))
	}
	dir := tmp
	if cache, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(cache, "gemu-stencils")
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", err
		}
	}
	name := fmt.Sprintf("%x", h.Sum(nil)[:16])
	o := filepath.Join(dir, name+".o")
	if _, err := os.Stat(o); err == nil {
		return o, nil
	}
	cmd := exec.Command(compiler, append(args, "-c", "-o", name+".o", f.name)...)
	cmd.Dir = tmp
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %v\n%s", f.name, err, text)
	} else if len(text) > 0 {
		log.Printf("%s", text)
	}
	for _, ext := range []string{".su", ".o"} {
		if err := move(filepath.Join(tmp, name+ext), filepath.Join(dir, name+ext)); err != nil {
			return "", err
		}
	}
	return o, nil
}

// headersOf returns the headers included by a file, directly or indirectly.
func (s *sources) headersOf(f file) (list []file) {
	has := map[string]bool{}
	var add func(text string)
	add = func(text string) {
		for _, h := range s.files {
			if !has[h.name] && strings.HasSuffix(h.name, ".h") && (strings.Contains(text, strconv.Quote(h.name)) || strings.Contains(text, "<"+h.name+">")) {
				has[h.name] = true
				add(h.text)
			}
		}
	}
	add(f.text)
	for _, h := range s.files {
		if has[h.name] {
			list = append(list, h)
		}
	}
	return list
}

// move moves a file, also to another file system.
func move(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a source without functions has no report of stack use
		return err
	}
	part := to + ".part"
	if err := os.WriteFile(part, text, 0o666); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// learn finds the bytes of code that depend on whether an operand is a constant, by comparison with the objects for
// constants. If the code differs in more than bytes, the operand cannot be a constant.
func (s *stencil) learn(operands string, objects map[string]map[string]*stencil) error {
	if s.code == nil {
		return fmt.Errorf("%s", s.name)
	}
	all := slices.Clone(s.code)
	for _, op := range strings.Split(operands, "") {
		o := objects[op][s.name]
		if !slices.Equal(o.refs, s.refs) || len(o.code) != len(s.code) {
			s.neverConstant = append(s.neverConstant, op+"!no")
			continue
		}
		for i := range s.code {
			if x := o.code[i] ^ s.code[i]; x != 0 {
				s.flips = append(s.flips, flip{op[0], i, x})
				all[i] ^= x
			}
		}
	}
	// If two operands change the same byte, the code for both as constants may differ from both changes together.
	o := objects[operands][s.name]
	if overlap(s.flips) || len(s.neverConstant) == 0 && (!slices.Equal(o.refs, s.refs) || !bytes.Equal(o.code, all)) {
		return fmt.Errorf("%s: two operands change what only one can", s.name)
	}
	return nil
}

// overlap reports whether different operands change the same byte.
func overlap(flips []flip) bool {
	by := map[int]byte{}
	for _, f := range flips {
		if operand, ok := by[f.offset]; ok && operand != f.operand {
			return true
		}
		by[f.offset] = f.operand
	}
	return false
}

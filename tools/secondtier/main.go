// Secondtier measures the gain of a second tier of machine code, which gemu does not have: hot blocks whose values stay in
// vector registers. In gemu each instruction loads the rows of its operands and stores the row of its result.
//
// For each workload it counts the executed instructions, and translates the arithmetic of its blocks into C in three forms:
// a load and a store of a row for each instruction, as in gemu; all lanes of a value in vector registers from one instruction
// to the next; and the same for one group of lanes after the other, as many as a vector register has. Clang allocates the
// registers, which bounds the gain of an allocator of our own from above. Instructions that are not translated (accesses,
// branches, barriers, rare operations) read and write rows in all forms. The translation serves to measure time: results of the
// three forms are compared with each other, and not with gemu's. The time that a workload would gain is compared with its
// time in vector mode, measured in the same run:
//
//	go run -C tools ./secondtier [-march x86-64-v3] [WORKLOAD…]
//
// It needs clang 19. The result is quoted in docs/design/machine-code.md.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gemu/interp"
	"gemu/kernels"
	"gemu/probe"
	"gemu/profile"
	"gemu/ptx"
)

func main() {
	march := flag.String("march", "x86-64-v3", "instruction set of the C code: x86-64-v3 (AVX2) or x86-64-v4 (AVX-512)")
	flag.Parse()
	list := kernels.All()
	if flag.NArg() > 0 {
		list = nil
		for _, name := range flag.Args() {
			w := kernels.Lookup(name)
			if w == nil {
				fatal(fmt.Errorf("there is no workload %q", name))
			}
			list = append(list, w)
		}
	}
	fmt.Printf("ns per warp instruction: of all in gemu, and of translated ones in three forms (%s)\n%-14s %10s %10s %10s %10s %10s %14s %11s\n",
		*march, "", "translated", "gemu", "rows", "registers", "groups", "gain:registers", "gain:groups")
	var gains, arithmetic [len(result{}.forms)]float64 // logarithms
	for _, w := range list {
		r, err := measure(context.Background(), w, *march)
		if err != nil {
			fatal(fmt.Errorf("%s: %w", w.Name, err))
		}
		fmt.Printf("%-14s %9.0f%% %10.2f %10.2f %10.2f %10.2f %13.2fx %10.2fx\n", w.Name, 100*r.translated/r.all, r.ns/r.all,
			r.forms[rows]/r.translated, r.forms[registers]/r.translated, r.forms[groups]/r.translated, r.gain(registers), r.gain(groups))
		for form := range gains {
			gains[form] += math.Log(r.gain(form)) / float64(len(list))
			arithmetic[form] += math.Log(r.forms[rows]/r.forms[form]) / float64(len(list))
		}
	}
	fmt.Printf("geometric means of the gains: %.3f (registers), %.3f (groups); of the translated instructions alone: %.2f, %.2f\n",
		math.Exp(gains[registers]), math.Exp(gains[groups]), math.Exp(arithmetic[registers]), math.Exp(arithmetic[groups]))
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "secondtier:", err)
	os.Exit(2)
}

// result is the measurement of a workload.
type result struct {
	all, translated float64    // executed warp instructions, and of them translated ones
	ns              float64    // time of the launches in vector mode
	forms           [3]float64 // time of the translated instructions in the three forms, in ns
}

// gain returns the workload's speed-up if its arithmetic ran in a form.
func (r *result) gain(form int) float64 { return r.ns / (r.ns - r.forms[rows] + r.forms[form]) }

// measure measures a workload.
func measure(ctx context.Context, w *kernels.Workload, march string) (*result, error) {
	r := new(result)
	for i := range 3 { // the fastest of three launches
		ns, err := launch(ctx, w)
		if err != nil {
			return nil, err
		}
		if i == 0 || ns < r.ns {
			r.ns = ns
		}
	}
	p := profile.New()
	if _, err := launch(ctx, w, p); err != nil {
		return nil, err
	}
	var blocks []*block
	for _, f := range p.Profile().Functions() {
		execs := map[*ptx.Instr]float64{}
		for _, in := range f.Instrs {
			execs[in.Instr] = float64(in.Execs)
			r.all += float64(in.Execs)
		}
		for _, b := range findBlocks(f.Func) {
			if b.execs = execs[b.instrs[0]]; b.execs > 0 {
				blocks = append(blocks, b)
				r.translated += b.execs * b.translated
			}
		}
	}
	if len(blocks) == 0 {
		return nil, errors.New("nothing is translated")
	}
	times, err := execute(blocks, march)
	if err != nil {
		return nil, err
	}
	for i, t := range times {
		for form := range r.forms {
			r.forms[form] += t[form] * blocks[i].execs
		}
	}
	return r, nil
}

// launch runs a workload at its own size in vector mode on one core, and returns the time of its launches in ns.
func launch(ctx context.Context, w *kernels.Workload, probes ...probe.Probe) (ns float64, err error) {
	c := interp.Config{Workers: 1, Probes: probes}
	s, err := kernels.Start(ctx, w, interp.NewDevice(c), w.N)
	if err != nil {
		return 0, err
	}
	s.Prepare = func(l *interp.Launch) { l.Mode, l.Engine = interp.Vector, interp.Native }
	if err := w.Run(s); err != nil {
		return 0, err
	}
	for _, launched := range s.Results {
		ns += float64(launched.Duration.Nanoseconds())
	}
	return ns, nil
}

// execute compiles the blocks in all forms for an instruction set and returns the ns of an execution of each.
func execute(blocks []*block, march string) ([][3]float64, error) {
	dir, err := os.MkdirTemp("", "secondtier")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	group := 8 // lanes of 32 bits in a vector register
	flags := []string{"-O3", "-march=" + march, "-ffp-contract=off", "-fno-strict-aliasing", "-w"}
	if march == "x86-64-v4" {
		group = 16
		flags = append(flags, "-mprefer-vector-width=512")
	}
	var objects []string
	for form, lanes := range []int{32, 32, group} {
		file := filepath.Join(dir, fmt.Sprintf("form%d.c", form))
		if err := os.WriteFile(file, []byte(source(blocks, form, lanes)), 0o666); err != nil {
			return nil, err
		}
		objects = append(objects, file)
	}
	file := filepath.Join(dir, "main.c")
	if err := os.WriteFile(file, []byte(driver(blocks)), 0o666); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "program")
	args := append(append(flags, "-o", program, file), objects...)
	if out, err := exec.Command("clang-19", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("clang-19: %w\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	times := make([][3]float64, len(blocks))
	for lines := bytes.NewBuffer(out); ; {
		var i, form int
		var ns float64
		if n, _ := fmt.Fscan(lines, &i, &form, &ns); n < 3 {
			break
		}
		times[i][form] = ns
	}
	return times, nil
}

// driver returns the C of the program that compares the results of all blocks in the three forms and measures them: the fastest of
// seven rounds of each.
func driver(blocks []*block) string {
	var b strings.Builder
	fmt.Fprintln(&b, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>")
	for i := range blocks {
		for form := range 3 {
			fmt.Fprintf(&b, "void block%d_%d(char *);\n", i, form)
		}
	}
	fmt.Fprintln(&b, "static const struct { void (*forms[3])(char *); int results[64]; } blocks[] = {")
	most := 0 // registers of a function
	for i, k := range blocks {
		fmt.Fprintf(&b, "\t{{block%d_0, block%d_1, block%d_2}, {", i, i, i)
		for _, r := range k.results() {
			fmt.Fprintf(&b, "%d, ", r)
		}
		fmt.Fprintln(&b, "-1}},")
		most = max(most, len(k.f.Regs))
	}
	fmt.Fprintf(&b, `};
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(void) {
	enum { size = %d * 256 };
	char *rows = aligned_alloc(64, size), *want = aligned_alloc(64, size);
	for (int i = 0; i < %d; i++) for (int form = 0; form < 3; form++) {
		double best = 1e30;
		for (int round = 0; round < 7; round++) {
			for (int k = 0; k < size / 4; k++) ((float *)rows)[k] = 1 + (k * 7 %% 1000) / 1000.0f;
			blocks[i].forms[form](rows);
			if (round == 0 && form == 0) memcpy(want, rows, size);
			if (round == 0) for (const int *r = blocks[i].results; *r >= 0; r++)
				if (memcmp(rows + *r * 256, want + *r * 256, 256)) {
					fprintf(stderr, "block %%d: register %%d differs in form %%d\n", i, *r, form);
					return 1;
				}
			double start = now();
			int n = 300;
			for (int k = 0; k < n; k++) blocks[i].forms[form](rows);
			double ns = (now() - start) / n;
			if (ns < best) best = ns;
		}
		printf("%%d %%d %%g\n", i, form, best);
	}
}
`, most+1, len(blocks))
	return b.String()
}

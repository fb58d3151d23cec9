package spill

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/ptx"
)

// writer generates random kernels that are hard to allocate: registers of both widths and copies of them, guards,
// critical edges, and loops with back edges through a table, to two headers, or from their middle.
type writer struct {
	*rand.Rand
	bytes.Buffer
	words, longs, labels int
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) word() string { return fmt.Sprintf("%%r%d", w.IntN(w.words)) }
func (w *writer) long() string { return fmt.Sprintf("%%d%d", w.IntN(w.longs)) }

func (w *writer) label() string {
	w.labels++
	return fmt.Sprintf("L%d", w.labels)
}

// condition sets a new predicate that differs between lanes.
func (w *writer) condition() string {
	w.labels++
	p := fmt.Sprintf("%%p%d", w.labels)
	w.line("\t.reg .pred %s;\n\tand.b32 %%t, %s, %d;\n\tsetp.lt.u32 %s, %%t, %d;", p, w.word(), 1+w.IntN(31), p, w.IntN(16))
	return p
}

// counter declares a register that counts the iterations of a loop, and initialises it.
func (w *writer) counter() string {
	w.labels++
	c := fmt.Sprintf("%%c%d", w.labels)
	w.line("\t.reg .u32 %s;\n\tmov.u32 %s, 0;", c, c)
	return c
}

// step writes a random computation on registers.
func (w *writer) step() {
	switch w.IntN(10) {
	case 0:
		w.line("\tmov.u64 %s, %s;", w.long(), w.long())
	case 1:
		w.line("\tadd.u64 %s, %s, %s;", w.long(), w.long(), w.long())
	case 2:
		w.line("\tmad.wide.u32 %s, %s, %s, %s;", w.long(), w.word(), w.word(), w.long())
	case 3:
		w.line("\tcvt.u32.u64 %s, %s;", w.word(), w.long())
	case 4:
		w.line("\tmov.u32 %s, %s;", w.word(), w.word())
	case 5:
		p := w.condition()
		w.line("@%s\txor.b32 %s, %s, %s;", p, w.word(), w.word(), w.word())
	case 6:
		p := w.condition()
		w.line("@!%s\tadd.u64 %s, %s, %s;", p, w.long(), w.long(), w.long())
	case 7: // it writes its own guard
		p := w.condition()
		w.line("@%s\tlop3.or.b32 %s|%s, %s, %s, %s, 0x96, %s;", p, w.word(), p, w.word(), w.word(), w.word(), p)
	default:
		w.line("\tmad.lo.u32 %s, %s, %s, %s;", w.word(), w.word(), w.word(), w.word())
	}
}

// body writes statements, nested up to a depth.
func (w *writer) body(depth int) {
	for range 1 + w.IntN(4) {
		kind := w.IntN(9)
		if depth == 0 {
			kind = 0
		}
		switch kind {
		case 3: // if
			p, end := w.condition(), w.label()
			w.line("@%s\tbra %s;", p, end)
			w.body(depth - 1)
			w.line("%s:", end)
		case 4: // if-else; one path continues at the end from its middle
			p, branch, end := w.condition(), w.label(), w.label()
			w.line("@%s\tbra %s;", p, branch)
			w.body(depth - 1)
			w.line("@%s\tbra %s;", w.condition(), end)
			w.body(depth - 1)
			w.line("\tbra %s;\n%s:", end, branch)
			w.body(depth - 1)
			w.line("%s:", end)
		case 5: // a loop with break and continue in its middle
			c, begin, end, p := w.counter(), w.label(), w.label(), w.label()
			w.line("\t.reg .pred %%%s;\n%s:", p, begin)
			w.line("\tadd.u32 %s, %s, 1;\n\tsetp.gt.u32 %%%s, %s, 3;\n@%%%s\tbra %s;", c, c, p, c, p, end)
			w.body(depth - 1)
			w.line("@%s\tbra %s;", w.condition(), begin)
			w.body(depth - 1)
			w.line("@%s\tbra %s;", w.condition(), end)
			w.line("\tbra %s;\n%s:", begin, end)
		case 6: // two loops with back edges through one table
			c, outer, inner, end, table := w.counter(), w.label(), w.label(), w.label(), w.label()
			w.line("\t.reg .pred %%%s;\n\t.reg .u32 %%i%s;\n%s:", table, table, outer)
			w.body(depth - 1)
			w.line("%s:", inner)
			w.body(depth - 1)
			w.line("\tadd.u32 %s, %s, 1;\n\tsetp.gt.u32 %%%s, %s, 4;", c, c, table, c)
			w.line("\tand.b32 %%i%s, %s, 1;\n@%%%s\tmov.u32 %%i%s, 2;", table, c, table, table)
			w.line("%s:\t.branchtargets %s, %s, %s;\n\tbrx.idx %%i%s, %s;\n%s:", table, outer, inner, end, table, table, end)
		case 7: // a loop with a back edge through a table
			c, begin, end, table := w.counter(), w.label(), w.label(), w.label()
			w.line("\t.reg .pred %%%s;\n\t.reg .u32 %%i%s;\n%s:", table, table, begin)
			w.body(depth - 1)
			w.line("\tadd.u32 %s, %s, 1;\n\tsetp.gt.u32 %%%s, %s, 3;\n\tselp.u32 %%i%s, 1, 0, %%%s;", c, c, table, c, table, table)
			w.line("%s:\t.branchtargets %s, %s;\n\tbrx.idx %%i%s, %s;\n%s:", table, begin, end, table, table, end)
		case 8: // two loops; the inner one begins after a block that can go back to either
			c, outer, inner, back, end, p := w.counter(), w.label(), w.label(), w.label(), w.label(), w.label()
			w.line("\t.reg .pred %%%s;\n%s:", p, outer)
			w.body(depth - 1)
			w.line("\tbra %s;\n%s:", inner, back)
			w.body(depth - 1)
			w.line("@%s\tbra %s;\n%s:", w.condition(), outer, inner)
			w.line("\tadd.u32 %s, %s, 1;\n\tsetp.gt.u32 %%%s, %s, 4;\n@%%%s\tbra %s;", c, c, p, c, p, end)
			w.body(depth - 1)
			w.line("\tbra %s;\n%s:", back, end)
		default:
			w.step()
		}
	}
}

// kernel returns a kernel that stores all its registers.
func (w *writer) kernel() string {
	w.line(".version 8.2\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out)\n{")
	w.line("\t.reg .u32 %%t, %%r<%d>;\n\t.reg .u64 %%o, %%d<%d>;", w.words, w.longs)
	w.line("\tmov.u32 %%t, %%tid.x;")
	for i := range w.words {
		w.line("\tmad.lo.u32 %%r%d, %%t, %d, %d;", i, w.Uint32()|1, w.Uint32())
	}
	for i := range w.longs {
		w.line("\tmad.wide.u32 %%d%d, %%t, %d, %d;", i, w.Uint32()|1, w.Uint32())
	}
	w.body(2)
	w.line("\tmov.u32 %%t, %%tid.x;\n\tld.param.u64 %%o, [out];\n\tmad.wide.u32 %%o, %%t, %d, %%o;", 8*(w.words+w.longs))
	for i := range w.words {
		w.line("\tst.global.u32 [%%o+%d], %%r%d;", 8*i, i)
	}
	for i := range w.longs {
		w.line("\tst.global.u64 [%%o+%d], %%d%d;", 8*(w.words+i), i)
	}
	w.line("\tret;\n}")
	return w.String()
}

// random returns a random kernel.
func random(seed uint64) (*writer, string) {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 7)), words: 3, longs: 3}
	w.words += w.IntN(6)
	w.longs += w.IntN(6)
	return w, w.kernel()
}

// TestRandomKernels rewrites random kernels to few registers and compares their results. A guarded write must not be
// stored in lanes where the guard does not hold.
func TestRandomKernels(t *testing.T) {
	spilled := 0
	for seed := range uint64(part.Count(10, 40, 3000)) {
		w, src := random(seed)
		m, err := ptx.ParseString("k.ptx", src)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		want := w.run(t, src)
		minimum, err := MinRegs(t.Context(), m.Kernels()[0])
		if err != nil {
			t.Fatal(err)
		}
		for regs := minimum; regs < minimum+9; regs += 2 {
			out, funcs, err := Module(t.Context(), m, regs)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := guarded(out); err != nil {
				t.Errorf("seed %d, %d registers: %v", seed, regs, err)
			}
			spilled += funcs[0].Loads
			if got := w.run(t, physical(out, regs)); !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %d registers: another result", seed, regs)
			}
		}
	}
	if spilled == 0 {
		t.Error("nothing is spilled")
	}
}

// run returns the bytes that a kernel stores.
func (w *writer) run(t *testing.T, src string) []byte {
	t.Helper()
	dev := interp.NewDevice(interp.Config{Workers: 1})
	mod, err := dev.Load("k.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc(32 * 8 * (w.words + w.longs))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: interp.Vector}); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return b.Bytes()
}

var (
	long    = regexp.MustCompile(`%d(\d+)_(\d+)`)
	writes  = regexp.MustCompile(`^\s*(?:@\S+\s+)?[a-z0-9.]+\s+%d(\d+)_(\d+),`) // the first operand
	declare = regexp.MustCompile(`\.reg \.b32 %r[\d<].*`)
)

// physical makes 64-bit registers consist of the 32-bit registers in their names. In PTX alone they would be unrelated.
func physical(src string, regs int) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(declare.ReplaceAllString(src, ""), "\n") {
		if strings.Contains(line, ".reg") || !long.MatchString(line) {
			b.WriteString(line)
			if strings.HasPrefix(line, "{") {
				fmt.Fprintf(&b, "\t.reg .b32 %%r<%d>;\n", regs)
			}
			continue
		}
		for _, n := range long.FindAllStringSubmatch(line, -1) {
			fmt.Fprintf(&b, "\tmov.b64 %s, {%%r%s, %%r%s};\n", n[0], n[1], n[2])
		}
		b.WriteString(line)
		if n := writes.FindStringSubmatch(line); n != nil {
			fmt.Fprintf(&b, "\tmov.b64 {%%r%s, %%r%s}, %%d%s_%s;\n", n[1], n[2], n[1], n[2])
		}
	}
	return b.String()
}

// guarded checks that a guarded instruction's result is stored under the same guard, so that the memory of idle lanes
// stays unchanged, unless the instruction also writes its guard.
func guarded(src string) error {
	m, err := ptx.ParseString("spilled.ptx", src)
	if err != nil {
		return err
	}
	for _, f := range m.Kernels() {
		for _, b := range f.Blocks {
			var from *ptx.Instr // the writing instruction
			for _, instr := range b.Instrs {
				if space, _ := instr.Space(); space != ptx.Local || !instr.Form.Effects.HasAll(ptx.Writes) {
					from = instr
					continue
				}
				want := from.Guard
				for r := range from.Defs() {
					if r == want.Reg {
						want = ptx.Guard{Reg: ptx.NoReg}
					}
				}
				if instr.Guard != want {
					return fmt.Errorf("line %d: %s is under another guard than %s", instr.Pos.Line, instr.Text, from.Text)
				}
			}
		}
	}
	return nil
}

// TestPlacementFits checks that the variables live in registers at the start and end of each block are among the
// placement's, and fit. Results alone do not show it: an excess is only noticed when a variable finds no colour.
func TestPlacementFits(t *testing.T) {
	for seed := range uint64(part.Count(20, 100, 3000)) {
		_, src := random(seed)
		m, err := ptx.ParseString("k.ptx", src)
		if err != nil {
			t.Fatal(err)
		}
		a, err := newAnalysis(t.Context(), m.Kernels()[0])
		if err != nil {
			t.Fatal(err)
		}
		for regs := a.minRegs; regs < a.minRegs+9; regs += 2 {
			p, err := a.place(regs, make([]bool, a.program.n))
			if err != nil {
				t.Fatal(err)
			}
			placed := &program{p.blocks, a.program.n, a.program.units}
			l := placed.liveness()
			for b := range placed.blocks {
				begins, ends := p.entry[b], p.exit[b].clone()
				for _, o := range placed.blocks[b].ops { // reloadAtEnd adds reloads at the end
					if o.instr == nil && !p.bound(b) {
						ends.add(o.reloads)
					}
				}
				for _, c := range []struct {
					where         string
					live, allowed set
				}{{"begin", l.in[b], begins}, {"end", l.out[b], ends}} {
					c.live.each(func(v int32) {
						if !c.allowed.contains(v) {
							t.Errorf("seed %d, %d registers: %s is live at the %s of block %d, and not in a register there", seed, regs, a.f.Regs[a.regs[v]].Name, c.where, b)
						}
					})
				}
				live := l.out[b].clone()
				for i := len(placed.blocks[b].ops) - 1; i >= 0; i-- {
					o := &placed.blocks[b].ops[i]
					if n := placed.size(live.union(sorted(o.defs))); n > regs {
						t.Errorf("seed %d, %d registers: %d are live in block %d", seed, regs, n, b)
					}
					live.before(o)
				}
			}
		}
	}
}

// sorted returns a list as a set.
func sorted(list []int32) (s set) {
	for _, v := range list {
		s.add(v)
	}
	return s
}

// TestColouringOrder compares the colouring order with one that recomputes all costs for each variable.
func TestColouringOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n, regs := 1+r.IntN(60), 1+r.IntN(12)
		c := &coloring{program: &program{n: n}, neighbours: make([][]int32, n), width: make([]int, n)}
		for range n {
			c.program.units = append(c.program.units, 1+r.IntN(2))
			c.cost = append(c.cost, float64(r.IntN(5)))
		}
		for v := range n {
			for w := range v {
				if r.IntN(3) == 0 {
					c.neighbours[v], c.neighbours[w] = append(c.neighbours[v], int32(w)), append(c.neighbours[w], int32(v))
					c.width[v] += c.program.units[w]
					c.width[w] += c.program.units[v]
				}
			}
		}
		// If no variable fits, the next has the least worth of the remaining.
		width, removed := slices.Clone(c.width), make([]bool, n)
		order := c.stack(regs)
		if len(order) != n {
			t.Fatalf("%d of %d variables", len(order), n)
		}
		for _, next := range slices.Backward(order) {
			best, fits := int32(-1), false
			cost := func(v int32) float64 { return c.cost[v] / float64(max(width[v], 1)*c.program.units[v]) }
			for v := range int32(n) {
				if !removed[v] {
					fits = fits || c.program.units[v]+width[v] <= regs
					if best < 0 || cost(v) < cost(best) {
						best = v
					}
				}
			}
			switch {
			case fits && c.program.units[next]+width[next] > regs:
				t.Fatalf("%d goes before what fits", next)
			case !fits && next != best:
				t.Fatalf("%d goes, want %d", next, best)
			}
			removed[next] = true
			for _, w := range c.neighbours[next] {
				width[w] -= c.program.units[next]
			}
		}
	}
}

// BenchmarkStraightLine rewrites straight-line code of several lengths: the time for each instruction should not grow.
func BenchmarkStraightLine(b *testing.B) {
	for _, n := range []int{4000, 16000, 64000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var src strings.Builder
			fmt.Fprintf(&src, ".version 8.2\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p)\n{\n\t.reg .u32 %%r<%d>;\n\t.reg .u64 %%a;\n\tld.param.u64 %%a, [p];\n\tld.global.u32 %%r0, [%%a];\n", n)
			for i := 1; i < n; i++ {
				fmt.Fprintf(&src, "\tadd.u32 %%r%d, %%r%d, %%r%d;\n", i, i-1, max(0, i-1-i*7919%300))
			}
			fmt.Fprintf(&src, "\tst.global.u32 [%%a], %%r%d;\n\tret;\n}\n", n-1)
			m, err := ptx.ParseString("k.ptx", src.String())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := Module(b.Context(), m, 20); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/instr")
		})
	}
}

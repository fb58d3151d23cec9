package ptx

import (
	"fmt"
	"gemu/internal/part"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// function parses a body of labels and branches.
func function(t testing.TB, body string) *Func {
	t.Helper()
	m, err := Parse("test.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .pred %p<9>;\n.reg .u32 %r<9>;\n.reg .u64 %rd<9>;\n"+body+"\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels()[0]
}

// postDominators computes post-dominators by their definition, by data flow over sets: b post-dominates a if every path
// from a to the exit contains b. A block without a path to the exit has all blocks as post-dominators.
func postDominators(f *Func) [][]bool {
	n := len(f.Blocks)
	pdom := make([][]bool, n)
	for i := range pdom {
		pdom[i] = make([]bool, n)
		for j := range pdom[i] {
			pdom[i][j] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			b := f.Blocks[i]
			next := make([]bool, n)
			if !f.MayLeave(b) {
				for j := range next {
					next[j] = true
				}
				for _, s := range b.Succs {
					for j := range next {
						next[j] = next[j] && pdom[s.Index][j]
					}
				}
			}
			next[i] = true
			if !slices.Equal(next, pdom[i]) {
				pdom[i] = next
				changed = true
			}
		}
	}
	return pdom
}

// TestImmediatePostDominatorsByDefinition checks immediate post-dominators of random graphs against the definition: of the
// blocks on every path to the exit, the nearest.
func TestImmediatePostDominatorsByDefinition(t *testing.T) {
	seed := part.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 400 {
		n := 2 + r.IntN(9)
		var body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, "L%d:\n", i)
			switch r.IntN(5) {
			case 0:
				fmt.Fprintf(&body, "bra L%d;\n", r.IntN(n))
			case 1:
				fmt.Fprintln(&body, "ret;")
			case 2:
				body.WriteString("@%p1 exit;\n")
			default:
				fmt.Fprintf(&body, "@%%p1 bra L%d;\n", r.IntN(n))
			}
		}
		fmt.Fprint(&body, "ret;")
		f := function(t, body.String())
		pdom := postDominators(f)
		// The definition is complete only if every block can reach the exit.
		mayLeave := make([]bool, len(f.Blocks))
		for range f.Blocks {
			for i, b := range f.Blocks {
				mayLeave[i] = mayLeave[i] || f.MayLeave(b)
				for _, s := range b.Succs {
					mayLeave[i] = mayLeave[i] || mayLeave[s.Index]
				}
			}
		}
		endless := slices.Contains(mayLeave, false)
		for i, got := range f.ImmediatePostDominators() {
			if endless {
				if got >= len(f.Blocks) || got < -1 {
					t.Fatalf("seed %d: block %d has post-dominator %d\n%s", seed, i, got, body.String())
				}
				continue
			}
			want := -1
			for j := range f.Blocks {
				if j == i || !pdom[i][j] {
					continue
				}
				// All post-dominators of i post-dominate the immediate one.
				immediate := true
				for k := range f.Blocks {
					if k != i && k != j && pdom[i][k] && !pdom[j][k] {
						immediate = false
					}
				}
				if immediate {
					want = j
				}
			}
			if got != want {
				t.Fatalf("seed %d: block %d has immediate post-dominator %d, want %d\n%s", seed, i, got, want, body.String())
			}
		}
	}
}

// TestPostDominatorsOfInfiniteLoops shows that branches within a loop without an exit reconverge within the loop.
func TestPostDominatorsOfInfiniteLoops(t *testing.T) {
	// L1 and L2 loop forever; L0 also reaches the exit.
	f := function(t, "@%p1 bra L1;\nret;\nL1:\n@%p2 bra L2;\nadd.u32 %r1, %r1, 1;\nL2:\nbra L1;")
	got := f.ImmediatePostDominators()
	// Within the loop the paths of the branch reconverge at L2 (block 4).
	if want := []int{-1, -1, 4, 4, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []bool{false, false, true, true, true}; !slices.Equal(f.Endless(), want) {
		t.Errorf("endless: got %v, want %v", f.Endless(), want)
	}
}

// TestLiveness shows which registers are live into each block of a function worked out by hand.
func TestLiveness(t *testing.T) {
	f := function(t, `
	mov.u32 %r1, 1;
	mov.u32 %r2, 2;
	setp.eq.u32 %p1, %r1, 0;
L1:
	add.u32 %r3, %r1, %r2;
	@%p2 mov.u32 %r4, 0;
	@%p1 bra L1;
	add.u32 %r5, %r4, %r3;
	ret;`)
	live := f.Liveness()
	names := func(b int) string {
		var list []string
		for r := range live.EachLiveIn(b) {
			list = append(list, f.Regs[r].Name)
		}
		return strings.Join(list, " ")
	}
	// %r4 is live into the loop, because its guarded write may not happen. %p2 is live, because nothing writes it.
	for i, want := range []string{"%p2 %r4", "%p1 %p2 %r1 %r2 %r4", "%r3 %r4"} {
		if got := names(i); got != want {
			t.Errorf("live into block %d: got %q, want %q", i, got, want)
		}
	}
}

// TestLivenessByDefinition checks that a register is live into a block if a path leads from there to a read, or to the
// end of the function for a return value, without an unguarded write.
func TestLivenessByDefinition(t *testing.T) {
	seed := part.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var body strings.Builder
		n := 1 + r.IntN(12)
		const regs = 9
		for i := range n {
			fmt.Fprintf(&body, "L%d:\n", i)
			for range r.IntN(4) {
				guard := ""
				if r.IntN(3) == 0 {
					guard = fmt.Sprintf("@%%p%d ", r.IntN(3))
				}
				fmt.Fprintf(&body, "%sadd.u32 %%r%d, %%r%d, %%r%d;\n", guard, r.IntN(regs), r.IntN(regs), r.IntN(regs))
			}
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&body, "bra L%d;\n", r.IntN(n))
			case 1:
				fmt.Fprintf(&body, "@%%p%d bra L%d;\n", r.IntN(3), r.IntN(n))
			case 2:
				fmt.Fprintf(&body, "@%%p%d ret;\n", r.IntN(3))
			}
		}
		src := ".version 7.0\n.target sm_80\n.address_size 64\n.func (.reg .u32 %out) k(.reg .u32 %in)\n{\n.reg .pred %p<3>;\n.reg .u32 %r<9>;\n" +
			"mov.u32 %r1, %in;\n" + body.String() + "@%p1 mov.u32 %out, %r2;\n}\n"
		m, err := Parse("test.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		f := m.Lookup("k").(*Func)
		live := f.Liveness()
		for _, b := range f.Blocks {
			for i, lives := range live.LiveAfter(b) {
				for reg := range f.Regs {
					reg := RegID(reg)
					if want := liveAfter(f, b, i, reg); lives(reg) != want {
						t.Fatalf("seed %d: %s live after %q: %v, want %v in\n%s", seed, f.Regs[reg].Name, b.Instrs[i].Text, !want, want, src)
					}
				}
			}
		}
		for reg := range f.Regs {
			reg := RegID(reg)
			first, last := -1, -1
			addPlace := func(place int) {
				if first < 0 {
					first = place
				}
				last = max(last, place)
			}
			for i, b := range f.Blocks {
				in, out := liveFrom(f, b, reg), false
				for _, s := range b.Succs {
					out = out || liveFrom(f, s, reg)
				}
				out = out || f.MayLeave(b) && reg == f.Rets[0].Reg
				if live.LiveIn(i, reg) != in || live.LiveOut(i, reg) != out {
					t.Fatalf("seed %d: %s in block %d: in %v, out %v; want %v, %v in\n%s", seed, f.Regs[reg].Name, i, live.LiveIn(i, reg), live.LiveOut(i, reg), in, out, src)
				}
				if in {
					addPlace(i)
				}
				if out {
					addPlace(i + 1)
				}
			}
			if a, b, ok := live.Extent(reg); ok != (first >= 0) || ok && (a != first || b != last) {
				t.Fatalf("seed %d: %s from %d to %d (%v); want %d to %d in\n%s", seed, f.Regs[reg].Name, a, b, ok, first, last, src)
			}
		}
	}
}

// liveFrom reports whether a path leads from the start of a block to a read.
func liveFrom(f *Func, from *Block, reg RegID) bool { return liveAfter(f, from, -1, reg) }

// liveAfter reports whether a path leads from the end of instruction i of a block to a read.
func liveAfter(f *Func, from *Block, i int, reg RegID) bool {
	seen := map[*Block]bool{}
	var visit func(b *Block, list []*Instr) bool
	visit = func(b *Block, list []*Instr) bool {
		for _, instr := range list {
			for u := range instr.Uses() {
				if u == reg {
					return true
				}
			}
			for d := range instr.Defs() {
				if d == reg && instr.Guard.Reg == NoReg {
					return false
				}
			}
		}
		if f.MayLeave(b) && reg == f.Rets[0].Reg {
			return true
		}
		return slices.ContainsFunc(b.Succs, func(s *Block) bool {
			if seen[s] {
				return false
			}
			seen[s] = true
			return visit(s, s.Instrs)
		})
	}
	return visit(from, from.Instrs[i+1:])
}

// manyRegisters returns a kernel of n registers with a branch every 20 registers.
func manyRegisters(n int) []byte {
	var s strings.Builder
	fmt.Fprintf(&s, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\t.reg .b32 %%r<%d>;\n\t.reg .pred %%p;\n", n+1)
	for i := range n {
		fmt.Fprintf(&s, "\tadd.u32 %%r%d, %%r%d, 1;\n", i+1, i)
		if i%20 == 19 {
			fmt.Fprintf(&s, "\tsetp.eq.u32 %%p, %%r%d, 0;\n\t@%%p bra L%d;\n\tadd.u32 %%r%d, %%r%d, %%r0;\nL%d:\n", i, i, i+1, i, i)
		}
	}
	s.WriteString("\tret;\n}\n")
	return []byte(s.String())
}

// TestLivenessOfManyRegisters checks that the memory for liveness does not grow with registers times blocks, which
// would be a gigabyte here.
func TestLivenessOfManyRegisters(t *testing.T) {
	m, err := Parse("many.ptx", manyRegisters(200_000))
	if err != nil {
		t.Fatal(err)
	}
	f := m.Kernels()[0]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	live := f.Liveness()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
		t.Errorf("%d MB for %d registers in %d blocks", got>>20, len(f.Regs), len(f.Blocks))
	}
	// %r0 is read everywhere, %r1 once.
	if last := len(f.Blocks) - 2; !live.LiveIn(last, 0) || live.LiveIn(last, 1) {
		t.Errorf("live into block %d: %%r0 %v, %%r1 %v", last, live.LiveIn(last, 0), live.LiveIn(last, 1))
	}
}

// TestLoopsThatMayWait shows which loops count as possible spin-waits: loops with an atomic, with a volatile load, with a
// load and a fence, or with a call.
func TestLoopsThatMayWait(t *testing.T) {
	// A loop with an atomic; a loop with a plain load and a fence; a loop with a plain load; a block that is its own
	// successor, with a volatile load; a loop with a call.
	f := function(t, `
A:
	add.u32 %r1, %r1, 1;
	atom.global.cas.b32 %r2, [%rd1], 0, 1;
	@%p1 bra A;
B:
	ld.global.u32 %r2, [%rd1];
	@%p2 bra B2;
	membar.gl;
B2:
	@%p1 bra B;
C:
	ld.global.u32 %r2, [%rd1];
	@%p1 bra C;
D:
	ld.volatile.global.u32 %r2, [%rd1];
	@%p1 bra D;
E:
	mov.u64 %rd2, %rd1;
	@%p1 bra E;
	ret;`)
	if got, want := f.MayWait(false), []bool{true, true, true, true, false, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	f = function(t, "atom.global.cas.b32 %r2, [%rd1], 0, 1;\nA:\n@%p1 bra A;\nret;")
	if got, want := f.MayWait(true), []bool{false, false, false}; !slices.Equal(got, want) {
		t.Errorf("an atomic before the loop: got %v, want %v", got, want)
	}
}

// TestReversePostorder shows that a block is numbered after its predecessors, and that a block without a path to it
// comes last.
func TestReversePostorder(t *testing.T) {
	// The last block in the text precedes the common successor of both paths. One block is dead.
	f := function(t, "@%p1 bra L1;\nbra L2;\nL3:\nret;\nL1:\nbra L2;\nL2:\nret;")
	got := f.ReversePostorder()
	// Blocks: 0 branch, 1 bra L2, 2 L3 (dead), 3 L1, 4 L2.
	if got[0] != 0 || got[4] != 3 || got[1]+got[3] != 3 || got[2] != len(f.Blocks) {
		t.Errorf("got %v", got)
	}
}

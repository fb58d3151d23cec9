package ptx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// function parses a body of labels and branches.
func function(t testing.TB, body string) *Func {
	t.Helper()
	m, err := Parse("test.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .pred %p<9>;\n.reg .u32 %r<9>;\n"+body+"\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels()[0]
}

// postDominators is the definition, by data flow over sets: b post-dominates a
// if every path from a to the exit goes through b. Blocks without a path to the
// exit get everything.
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
			if !f.leaves(b) {
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

func TestImmediatePostDominatorsByDefinition(t *testing.T) {
	seed := rand.Uint64()
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
		// Only where every block can leave does the definition say everything.
		canLeave := make([]bool, len(f.Blocks))
		for range f.Blocks {
			for i, b := range f.Blocks {
				canLeave[i] = canLeave[i] || f.leaves(b)
				for _, s := range b.Succs {
					canLeave[i] = canLeave[i] || canLeave[s.Index]
				}
			}
		}
		endless := slices.Contains(canLeave, false)
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
				// The immediate one is post-dominated by all the others.
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

func TestPostDominatorsOfInfiniteLoops(t *testing.T) {
	// L1 and L2 go round for ever; L0 also reaches the exit.
	f := function(t, "@%p1 bra L1;\nret;\nL1:\n@%p2 bra L2;\nadd.u32 %r1, %r1, 1;\nL2:\nbra L1;")
	got := f.ImmediatePostDominators()
	// Within the loop the paths of the branch meet at L2 (block 4).
	if want := []int{-1, -1, 4, 4, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []bool{false, false, true, true, true}; !slices.Equal(f.Endless(), want) {
		t.Errorf("endless: got %v, want %v", f.Endless(), want)
	}
}

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
	names := func(s RegSet) string {
		var out []string
		s.Each(func(r RegID) { out = append(out, f.Regs[r].Name) })
		return strings.Join(out, " ")
	}
	// %r4 lives into the loop, for its guarded write may not happen; so does %p2,
	// which nobody writes.
	for i, want := range []string{"%p2 %r4", "%p1 %p2 %r1 %r2 %r4", "%r3 %r4"} {
		if got := names(live.In[i]); got != want {
			t.Errorf("live into block %d: got %q, want %q", i, got, want)
		}
	}
}

package ptx

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/internal/part"
)

// loopsText writes each loop with the first labels of its blocks.
func loopsText(f *Func) (list []string) {
	name := func(blocks []*Block) string {
		var names []string
		for _, b := range blocks {
			names = append(names, append(b.Labels, "-")[0])
		}
		return strings.Join(names, " ")
	}
	for _, l := range f.Loops() {
		list = append(list, fmt.Sprintf("%d: %s of %s", l.Depth, name(l.Headers), name(l.Blocks)))
	}
	return list
}

// TestLoopsOfSmallFunctions shows the loops, headers and nesting of functions worked out by hand.
func TestLoopsOfSmallFunctions(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"none", "@%p1 bra A; A: ret;", nil},
		{"itself", "A: @%p1 bra A; ret;", []string{"1: A of A"}},
		{"nested", "A: B: add.u32 %r1, %r1, 1; C: @%p1 bra C; @%p2 bra A; ret;", []string{"1: A of A C -", "2: C of C"}},
		{"one header, two back edges", "A: @%p1 bra B; bra A; B: @%p2 bra A; ret;", []string{"1: A of A - B"}},
		{"one after the other", "A: @%p1 bra A; B: @%p1 bra B; ret;", []string{"1: A of A", "1: B of B"}},
		{"irreducible", "@%p1 bra B; A: add.u32 %r1, %r1, 1; B: @%p2 bra A; ret;", []string{"1: A B of A B"}},
		{"irreducible, with a loop in it", "@%p1 bra B; A: add.u32 %r1, %r1, 1; C: @%p1 bra C; B: @%p2 bra A; ret;", []string{"1: A B of A C B", "2: C of C"}},
		{"endless", "A: bra A;", []string{"1: A of A"}},
		{"unreachable", "ret; A: B: @%p1 bra A; ret;", []string{"1: A of A"}},
	} {
		if diff := cmp.Diff(c.want, loopsText(function(t, c.body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestLoopsByDefinition checks the loops of random graphs against the definition: within a loop all blocks reach each
// other, in a nested loop without passing the outer headers, and every cycle contains a header.
func TestLoopsByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(part.Seed(t), 0))
	for range 300 {
		n := 2 + r.IntN(9)
		var body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, "L%d:\nadd.u32 %%r1, %%r1, 1;\n", i)
			if r.IntN(4) > 0 {
				fmt.Fprintf(&body, "@%%p1 bra L%d;\n", r.IntN(n))
			}
			if r.IntN(6) == 0 {
				fmt.Fprintln(&body, "ret;")
			}
		}
		body.WriteString("ret;")
		f := function(t, body.String())
		loops := f.Loops()
		headers := map[*Block]bool{}
		for _, l := range loops {
			for _, h := range l.Headers {
				headers[h] = true
			}
			for _, a := range l.Blocks {
				for _, b := range l.Blocks {
					if !reaches(a, b, l.Has) {
						t.Fatalf("block %d does not reach %d in its loop\n%s", a.Index, b.Index, &body)
					}
				}
				if l.Parent != nil && (!l.Parent.Has(a) || l.Depth != l.Parent.Depth+1) {
					t.Fatalf("block %d is not in the loop around its loop\n%s", a.Index, &body)
				}
			}
			if len(l.Headers) == 1 && reachable(f, l.Headers[0]) { // natural loop: the header dominates the other blocks
				h := l.Headers[0]
				for _, b := range l.Blocks {
					if b != h && reaches(f.Blocks[0], b, func(b *Block) bool { return b != h }) && f.Blocks[0] != h && l.Parent == nil {
						t.Fatalf("block %d can be reached without passing the header %d\n%s", b.Index, h.Index, &body)
					}
				}
			}
		}
		for _, b := range f.Blocks { // no cycle without a header
			if !headers[b] && reaches(b, b, func(b *Block) bool { return !headers[b] }) {
				t.Fatalf("block %d is in a cycle without a header\n%s", b.Index, &body)
			}
		}
	}
}

// reaches reports whether a path of at least one edge leads from a block to another within the set of blocks.
func reaches(from, to *Block, in func(b *Block) bool) bool {
	seen := map[*Block]bool{}
	work := []*Block{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range b.Succs {
			if !in(s) || seen[s] {
				continue
			}
			if s == to {
				return true
			}
			seen[s] = true
			work = append(work, s)
		}
	}
	return false
}

func reachable(f *Func, b *Block) bool {
	return b.Index == 0 || reaches(f.Blocks[0], b, func(*Block) bool { return true })
}

// TestDebugStringOfLoc looks up texts at places of .loc directives.
func TestDebugStringOfLoc(t *testing.T) {
	m, err := ParseString("k.ptx", ".version 7.2\n.target sm_80\n.address_size 64\n.section .debug_str\n{\n.b8 120, 0\nname:\n.b8 97, 98\n.b8 0\nlast:\n.b8 99\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{"name": "ab", "name+1": "b", "name+3": "c", ".debug_str": "x", ".debug_str+2": "ab", "last": "c", "last+9": "", "other": "", "name+-1": ""} {
		if got := m.DebugString(place); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}

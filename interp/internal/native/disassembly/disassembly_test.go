package disassembly

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryStencilIsDisassembled: every line of every table is instructions from its first byte to its last, and no hole lies
// outside of them.
func TestEveryStencilIsDisassembled(t *testing.T) {
	tables, err := filepath.Glob("../*_a*64*.txt")
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	stencils := 0
	for _, table := range tables {
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.ContainsAny(line[:1], "#=") {
				continue
			}
			s, err := Parse(Arch(table), line)
			if err != nil {
				t.Fatalf("%s: %v", table, err)
			}
			if err := s.Print(io.Discard); err != nil {
				t.Errorf("%s: %v", table, err)
			}
			if n := len(s.notes); n > 0 && (s.notes[0].offset < 0 || s.notes[n-1].offset >= len(s.code)) {
				t.Errorf("%s: stencil %s has a hole outside of its %d bytes", table, s.Name, len(s.code))
			}
			stencils++
		}
	}
	t.Logf("%d stencils", stencils)
}

// TestPrint: the text of one short stencil. GNU objdump and llvm-objdump read the same instructions in these bytes.
func TestPrint(t *testing.T) {
	s, err := Parse("amd64", "fill\txMF5bsXF/n+HAAAAAOkAAAAA\tD9+32 _o14 !takes2 A!no a6^1\n")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	want := `fill: 18 bytes; counts as 2 more instructions; operand A cannot be a constant
     0  vmovd xmm0, r13d
     5  vmovdqu ymmword ptr [rdi], ymm0                  ; constant A: byte 0x6 ^ 0x1; operand D+32
     d  jmp 0x12                                         ; other
`
	if b.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &b, want)
	}
	for _, line := range []string{"name\tAA", "name\t!\t", "name\tAA\tZ9"} {
		if _, err := Parse("amd64", line); err == nil {
			t.Errorf("%q is a stencil", line)
		}
	}
}

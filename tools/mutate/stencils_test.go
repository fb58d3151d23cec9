package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// toyStencil is nop of 8 bytes; mov eax, [HA+4]; vpaddd ymm0, ymm0, [constant]; jump to other.
const toyStencil = "toy\tDx+EAAAAAACLhwAAAADF/f4FAAAAAOkAAAAA\tA10+4 _p18:01000000 _o23 a9^6 B!no"

// TestStencilMutants: there are mutants of all kinds; each changes only the stated part, and a seed always gives the
// same mutants.
func TestStencilMutants(t *testing.T) {
	lines, err := readStencils("table", "# a comment\n=add\ttoy\n"+toyStencil+"\n")
	if err != nil || len(lines) != 1 || lines[0].String() != toyStencil || lines[0].number != 3 {
		t.Fatalf("%v, %v", lines, err)
	}
	c := &config{seed: 1}
	list, text, err := c.mutants(lines, 150)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, m := range list {
		kinds[m.Op]++
		code, _, _ := strings.Cut(strings.TrimPrefix(text[m], "toy\t"), "\t")
		if same := strings.HasPrefix(toyStencil, "toy\t"+code+"\t"); text[m] == toyStencil || same != (m.Op != "bit") {
			t.Errorf("%s: %s", m.row(), text[m])
		}
	}
	for _, op := range stencilOps {
		if kinds[op.name] == 0 {
			t.Errorf("no mutants of kind %s", op.name)
		}
	}
	again, text2, _ := c.mutants(lines, 150)
	if !slices.EqualFunc(list, again, func(a, b *Mutant) bool { return text[a] == text2[b] }) {
		t.Error("another time there are other mutants")
	}
}

// TestStencilMutantFromText shows that the text of each mutant, as recorded in a sample, makes the same mutant again,
// and that a text whose subject is missing makes none.
func TestStencilMutantFromText(t *testing.T) {
	lines, err := readStencils("table", toyStencil)
	if err != nil {
		t.Fatal(err)
	}
	list, text, err := (&config{seed: 1}).mutants(lines, 150)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if got := lines[0].changed(m.Op, m.Text); got == nil || got.String() != text[m] {
			t.Errorf("%s makes %v, want %s", m.row(), got, text[m])
		}
	}
	for text, op := range map[string]string{
		"byte 8 of 30: bit 1":  "bit", // the code has 27 bytes
		"byte 27 of 27: bit 1": "bit",
		"byte 8 of 27: bit 8":  "bit",
		"A11 → A12":            "place",
		"A10+4":                "drop",
	} {
		if got := lines[0].changed(op, text); got != nil {
			t.Errorf("%s, %s makes %v", op, text, got)
		}
	}
}

// TestFlippedBits: flipped bits are neither in holes nor in instructions without an effect.
func TestFlippedBits(t *testing.T) {
	lines, err := readStencils("table", toyStencil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	changed := map[int]bool{}
	for range 2000 {
		s := &stencilLine{code: slices.Clone(lines[0].code), holes: lines[0].holes}
		if opName := stencilOps[0].change(s, r); opName == "" {
			continue
		}
		for i := range s.code {
			if s.code[i] != lines[0].code[i] {
				changed[i] = true
			}
		}
	}
	for i := range lines[0].code {
		if want := i == 8 || i == 9 || i >= 14 && i < 18 || i == 22; changed[i] != want {
			t.Errorf("byte %d is changed: %v", i, changed[i])
		}
	}
}

// TestChangedConstants: changed bits of constants are bits that the instruction reads: here vmovq xmm0, [constant], the
// second half of a constant, and vpblendd ymm0, ymm0, [constant], 5, whose number is after the address.
func TestChangedConstants(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump")
	}
	op := stencilOps[slices.IndexFunc(stencilOps, func(o struct {
		name   string
		change func(*stencilLine, *rand.Rand) string
	}) bool {
		return o.name == "constant"
	})]
	r := rand.New(rand.NewPCG(1, 2))
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for _, c := range []struct {
		code     []byte
		hole     string
		size     int
		from, to int // bytes read
	}{
		{[]byte{0xc5, 0xfa, 0x7e, 0x05, 0, 0, 0, 0}, "_p4:", 16, 0, 8},
		{[]byte{0xc5, 0xfa, 0x7e, 0x05, 0, 0, 0, 0}, "_p4+8:", 16, 8, 16},
		{[]byte{0xc4, 0xe3, 0x7d, 0x02, 0x05, 0, 0, 0, 0, 5}, "_p5-1:", 32, 0, 32},
		{[]byte{0xc4, 0xe3, 0x7d, 0x02, 0x05, 0, 0, 0, 0, 5}, "_p5+31:", 64, 32, 64},
	} {
		changed := map[int]bool{}
		for range 400 {
			s := &stencilLine{file: "x_amd64.txt", code: c.code, holes: []string{c.hole + zeros(c.size)}}
			op.change(s, r)
			digits := strings.TrimPrefix(s.holes[0], c.hole)
			changed[strings.IndexFunc(digits, func(r rune) bool { return r != '0' })/2] = true
		}
		for i := range c.size {
			if changed[i] != (i >= c.from && i < c.to) {
				t.Errorf("% x %s: byte %d is changed: %v", c.code, c.hole, i, changed[i])
			}
		}
	}
}

// TestFamilies: a scope chooses stencils by name; each family has half of the mutants, however many stencils it has; and a
// pattern without a stencil, or a family without a pattern, is an error.
func TestFamilies(t *testing.T) {
	scope := func(text string) []stencilFamily {
		t.Helper()
		file := filepath.Join(t.TempDir(), "scope.txt")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := readFamilies(file)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	var lines []*stencilLine
	var names []string
	for _, name := range []string{"one", "many_a", "many_b", "many_c", "many_d", "many_e", "none"} {
		lines = append(lines, &stencilLine{name: name, code: make([]byte, 100)})
		names = append(names, name)
	}
	families := scope("# a comment\nsingle one\nrest many_[a-c] many_* # another\n")
	chosen, err := assignFamilies(families, lines, names)
	if err != nil || len(chosen) != 6 || chosen[0].family != "single" || chosen[5].family != "rest" {
		t.Fatalf("%v, %v", chosen, err)
	}
	list, _, err := (&config{seed: 1}).mutants(chosen, 200)
	if err != nil {
		t.Fatal(err)
	}
	single := 0
	for _, m := range list {
		if m.Func == "one" {
			single++
		}
	}
	if single < 70 || single > 130 {
		t.Errorf("%d of %d mutants are of one of two families", single, len(list))
	}
	if _, err := assignFamilies(scope("x one two*"), lines, names); err == nil || !strings.Contains(err.Error(), "no stencil matches two*") {
		t.Errorf("a pattern that matches nothing: %v", err)
	}
	file := filepath.Join(t.TempDir(), "scope.txt")
	for text, want := range map[string]string{"\nx": `scope.txt:2: a family must have`, "x [": "scope.txt:1: [: syntax error"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readFamilies(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCurrentFamilies: each pattern of the scope of current kernels has a stencil in the tables of the repository.
func TestCurrentFamilies(t *testing.T) {
	families, err := readFamilies("current.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := (&config{root: "../..", stencils: stencilPackage + "/*_amd64.txt"}).stencilLines()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range lines {
		names = append(names, l.name)
	}
	if _, err := assignFamilies(families, lines, names); err != nil {
		t.Error(err)
	}
}

// TestBadTable: an invalid line is an error with its place.
func TestBadTable(t *testing.T) {
	for text, want := range map[string]string{"\ntoy\tAA": "table:2: 2 columns", "toy\t!\t": "table:1: illegal base64"} {
		if _, err := readStencils("table", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSameInstructions: bits ignored by an instruction make no mutants, and bits used by it do.
func TestSameInstructions(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump")
	}
	code := func(bytes ...byte) *stencilLine { return &stencilLine{file: "x_amd64.txt", code: bytes} }
	lea := code(0x4c, 0x8d, 0x8e, 0, 0, 0, 0) // lea r9, [rsi]
	and := func(p1, p2 byte) *stencilLine { return code(0x62, 0xf1, p1, p2, 0xdb, 0x96, 0, 0, 0, 0) }
	for _, c := range []struct {
		one, other *stencilLine
		same       bool
	}{
		{lea, code(0x4e, 0x8d, 0x8e, 0, 0, 0, 0), true},                    // REX.X, without an index
		{lea, code(0x48, 0x8d, 0x8e, 0, 0, 0, 0), false},                   // rcx
		{lea, code(0x4c, 0x8d, 0x8e, 0, 0, 0, 1), false},                   // a different address
		{lea, code(0x44, 0x8d, 0x8e, 0, 0, 0, 0), false},                   // r9d
		{lea, code(0x4c, 0x8d, 0x8c, 0x26, 0, 0, 0), false},                // with an index, and shorter
		{and(0xf5, 0x48), and(0x75, 0x48), true},                           // with elements of 64 or of 32 bits
		{and(0xf5, 0x49), and(0x75, 0x49), false},                          // with a mask of elements
		{and(0xf5, 0x58), and(0x75, 0x58), false},                          // with an element for all
		{code(0x90, 0x85, 0xc0), code(0x64, 0x85, 0xc0), false},            // nop, and a segment prefix in its place
		{code(0x2e, 0x85, 0xc0), code(0x64, 0x85, 0xc0), true},             // segment prefixes of test eax, eax
		{code(0x2e, 0x8b, 0x00), code(0x64, 0x8b, 0x00), false},            // segment prefix of mov eax, [rax]
		{code(0xc5, 0xfd, 0x10, 0x00), code(0xc5, 0xfc, 0x10, 0x00), true}, // vmovupd, vmovups
	} {
		if unfit, err := isUnfitFlip(c.one, c.other); unfit != c.same || err != nil {
			t.Errorf("% x, % x: %v, %v", c.one.code, c.other.code, unfit, err)
		}
	}
}

// TestForeignStack: a flip that moves an operand to or from the host's stack is unfit; a flip of an operand that stays there is a mutant.
func TestForeignStack(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump")
	}
	code := func(b ...byte) *stencilLine { return &stencilLine{file: "x_amd64.txt", code: b} }
	state := code(0x49, 0x8b, 0x84, 0x24, 0x38, 1, 0, 0) // mov rax, [r12+0x138]
	stack := code(0x48, 0x8b, 0x84, 0x24, 0x38, 1, 0, 0) // mov rax, [rsp+0x138]
	next := code(0x48, 0x8b, 0x84, 0x24, 0x39, 1, 0, 0)  // mov rax, [rsp+0x139]
	for _, c := range []struct {
		from, mutant *stencilLine
		unfit        bool
	}{{state, stack, true}, {stack, state, true}, {stack, next, false}} {
		if got, err := isUnfitFlip(c.from, c.mutant); got != c.unfit || err != nil {
			t.Errorf("% x, % x: %v, %v", c.from.code, c.mutant.code, got, err)
		}
	}
}

// TestSameMeaning: instructions have the same meaning if they have the same effect for all contents of registers and
// memory.
func TestSameMeaning(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"vmovups %ymm3,(%r9)", "vmovdqu  %ymm3,(%r9)", true},
		{"vmovaps %ymm3,(%r9)", "vmovups %ymm3,(%r9)", false}, // requires alignment
		{"vpand %ymm1,%ymm2,%ymm3", "vandpd %ymm1,%ymm2,%ymm3", true},
		{"vpand %ymm1,%ymm2,%ymm3", "vpandn %ymm1,%ymm2,%ymm3", false},
		{"vpermd (%r8),%ymm1,%ymm2", "vpermps (%r8),%ymm1,%ymm2", true},
		{"vpinsrd $0x2,%eax,%xmm5,%xmm7", "vpinsrd $0xa,%eax,%xmm5,%xmm7", true},
		{"vpinsrd $0x2,%eax,%xmm5,%xmm7", "vpinsrd $0x3,%eax,%xmm5,%xmm7", false},
		{"shr $0x20,%rax", "shr $0x21,%rax", false},
	} {
		if same := normalise(c.a) == normalise(c.b); same != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, same)
		}
	}
}

// TestMutantsDiffer: an equal instruction is never drawn as a mutant.
func TestMutantsDiffer(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("there is no objdump")
	}
	lines, err := readStencils("x_amd64.txt", "toy\tTI2OAAAAAA\tA3\n") // lea r9, [rsi+HA]
	if err != nil {
		t.Fatal(err)
	}
	list, text, err := (&config{seed: 1}).mutants(lines, 60)
	if err != nil {
		t.Fatal(err)
	}
	bits := 0
	for _, m := range list {
		if m.Op == "bit" {
			bits++
		}
		if strings.HasPrefix(text[m], "toy\tTo2O") { // with REX.X
			t.Errorf("%s is the same", m.Text)
		}
	}
	if bits != 3*8-1 {
		t.Errorf("%d mutants of single bits, of 23 that there are", bits)
	}
}

// TestArguedStencils reads arguments: of two levels of processors, each has its own file, and only the stencils of that level;
// an argument for a mutant that the table does not make is an error.
func TestArguedStencils(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll("tools/mutate", 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, row string) {
		if err := os.WriteFile(filepath.Join("tools/mutate", name), []byte("# a comment\n"+row+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	first, err := readStencils("x_amd64.txt", toyStencil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := readStencils("x_amd64_v4.txt", strings.Replace(toyStencil, "toy", "other", 1))
	if err != nil {
		t.Fatal(err)
	}
	const row = "toy\tdrop\tA10+4 → nothing\t1"
	write("stencils_amd64-argued.txt", row+"\tno reason")
	argued, list, text, err := (&config{}).arguedStencils(slices.Concat(first, second))
	if err != nil || len(list) != 1 || argued[row] != "no reason" || list[0].row() != row || list[0].File != "x_amd64.txt" || strings.Contains(text[list[0]], "A10+4") {
		t.Errorf("%v, %v, %v: %v", argued, list, text, err)
	}
	write("stencils_amd64_v4-argued.txt", row+"\tno reason")
	if _, _, _, err := (&config{}).arguedStencils(slices.Concat(first, second)); err == nil || !strings.Contains(err.Error(), row) {
		t.Errorf("an argument for a stencil of another level: %v", err)
	}
	if _, _, _, err := (&config{equivalentFile: "missing.txt"}).arguedStencils(first); err == nil {
		t.Error("a missing file of -argued is no error")
	}
}

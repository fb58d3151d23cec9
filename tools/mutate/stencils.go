package main

// This file makes mutants of the tables of stencils (package native): of the machine code and of its patch
// descriptions. Each runs in a process of its own.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stencilPackage is the package of the tables, and stencilProgram is the program that tries them. stencilTimeout is the
// time limit of a mutant in this program, 20 to 400 times the time without a mutant. stencilTestTimeout is the time limit
// of tests, 20 times their time.
const (
	stencilPackage     = "interp/internal/native"
	stencilProgram     = "./interp/internal/native/harness/mutants"
	stencilTimeout     = 20 * time.Second
	stencilTestTimeout = 80 * time.Second
)

// maxSubjects is the largest number of suites that try a stencil. Comparisons, for instance, are in very many suites.
const maxSubjects = 6

// stencilLine is a line of a table: its place, name, code and holes.
type stencilLine struct {
	file   string // path of the table from the root
	number int
	name   string
	code   []byte
	holes  []string
	text   string // the code disassembled, once it has been
}

// stencilOps make mutants of a stencil. They change it and return a description, or "" if they do not apply. Half of
// all mutants are of the first operator.
var stencilOps = []struct {
	name   string
	change func(s *stencilLine, r *rand.Rand) string
}{
	{"bit", func(s *stencilLine, r *rand.Rand) string { // a bit of the code, not in a hole
		at := r.IntN(len(s.code))
		if isPadding(s.code, at) || slices.ContainsFunc(s.holes, func(h string) bool { o, ok := offset(h); return ok && at >= o && at < o+4 }) {
			return ""
		}
		bit := r.IntN(8)
		s.code[at] ^= 1 << bit
		return fmt.Sprintf("byte %d of %d: bit %d", at, len(s.code), bit)
	}},
	{"drop", func(s *stencilLine, r *rand.Rand) string { // a hole is not filled, a flip not made, a constant allowed
		return s.hole(r, regexp.MustCompile(""), func([]string) string { return "" })
	}},
	{"place", func(s *stencilLine, r *rand.Rand) string { // the place of a hole or a flip, by a byte
		return s.hole(r, regexp.MustCompile(`^(_?[A-Za-z01])(\d+)(.*)$`), func(m []string) string {
			n, _ := strconv.Atoi(m[2])
			if n += 2*r.IntN(2) - 1; n < 0 || n+4 > len(s.code) && !strings.Contains(m[3], "^") || n >= len(s.code) {
				return m[0]
			}
			return m[1] + strconv.Itoa(n) + m[3]
		})
	}},
	{"addend", func(s *stencilLine, r *rand.Rand) string { // 1 more, or the next lane
		return s.hole(r, regexp.MustCompile(`^(_?[A-Z01nolp]\d+)([+-]\d+)?(:.*)?$`), func(m []string) string {
			n, _ := strconv.Atoi(cmp.Or(m[2], "0"))
			return fmt.Sprintf("%s%+d%s", m[1], n+[]int{1, 4, -4}[r.IntN(3)], m[3])
		})
	}},
	{"operand", func(s *stencilLine, r *rand.Rand) string { // another operand
		return s.hole(r, regexp.MustCompile(`^([A-F01])(\d.*)$`), func(m []string) string {
			return string("DFABCE01"[r.IntN(8)]) + m[2]
		})
	}},
	{"jump", func(s *stencilLine, r *rand.Rand) string { // elsewhere
		return s.hole(r, regexp.MustCompile(`^_([nol])(.*)$`), func(m []string) string {
			return "_" + string("nol"[r.IntN(3)]) + m[2]
		})
	}},
	{"constant", func(s *stencilLine, r *rand.Rand) string { // a bit of the part that is read
		return s.hole(r, regexp.MustCompile(`^_p\d+([+-]\d+)?:[0-9a-f]+$`), func(m []string) string {
			head, digits, _ := strings.Cut(m[0], ":")
			from, to, err := s.reads(head, len(digits)/2)
			if err != nil || from >= to { // unknown: any bit of the constant
				from, to = 0, len(digits)/2
			}
			at := 2*from + r.IntN(2*(to-from))
			v, _ := strconv.ParseUint(digits[at:at+1], 16, 8)
			return head + ":" + digits[:at] + strconv.FormatUint(v^1<<r.IntN(4), 16) + digits[at+1:]
		})
	}},
	{"flip", func(s *stencilLine, r *rand.Rand) string { // the flip of another bit
		return s.hole(r, regexp.MustCompile(`^([a-f]\d+\^)(\d+)$`), func(m []string) string {
			n, _ := strconv.Atoi(m[2])
			return m[1] + strconv.Itoa(n^1<<r.IntN(8))
		})
	}},
}

// isPadding reports whether a byte belongs to a no-op, which compilers put in front of loops.
func isPadding(code []byte, at int) bool {
	sizes := map[byte]int{0x00: 3, 0x40: 4, 0x44: 5, 0x80: 7, 0x84: 8} // by the third byte
	for from := max(0, at-15); from <= at; from++ {
		n := from
		for n < len(code) && (code[n] == 0x66 || code[n] == 0x2e) { // prefixes
			n++
		}
		if n+2 < len(code) && code[n] == 0x0f && code[n+1] == 0x1f && at < n+sizes[code[n+2]] {
			return true
		}
	}
	return false
}

// holeAt matches a hole in the table: its contents, its offset, and the rest.
var holeAt = regexp.MustCompile(`^(?:[A-F01]|_[nolp])(\d+)(?:[+-]\d+)?(?::.*)?$`)

// offset returns the offset of a hole of four bytes; ok is false for all other entries.
func offset(hole string) (o int, ok bool) {
	m := holeAt.FindStringSubmatch(hole)
	if m == nil {
		return 0, false
	}
	o, err := strconv.Atoi(m[1])
	return o, err == nil
}

// hole changes a random hole that matches a pattern to the result of change; the result "" removes the hole.
func (s *stencilLine) hole(r *rand.Rand, like *regexp.Regexp, change func(parts []string) string) string {
	var list []int
	for i, h := range s.holes {
		if like.MatchString(h) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return ""
	}
	i := list[r.IntN(len(list))]
	old := s.holes[i]
	changed := change(like.FindStringSubmatch(old))
	if changed == old {
		return ""
	}
	if s.holes[i] = changed; changed == "" {
		s.holes = slices.Delete(s.holes, i, i+1)
		changed = "nothing"
	}
	return old + " → " + changed
}

// String returns the line of the table.
func (s *stencilLine) String() string {
	return s.name + "\t" + base64.RawStdEncoding.EncodeToString(s.code) + "\t" + strings.Join(s.holes, " ")
}

// readStencils reads the stencils of a table.
func readStencils(file, table string) (list []*stencilLine, err error) {
	for n, line := range strings.Split(table, "\n") {
		if line == "" || line[0] == '#' || line[0] == '=' {
			continue
		}
		parts := strings.Split(line, "\t")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s:%d: %d columns, but a stencil has three: name, code and holes", file, n+1, len(parts))
		}
		code, err := base64.RawStdEncoding.DecodeString(parts[1])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
		list = append(list, &stencilLine{file: file, number: n + 1, name: parts[0], code: code, holes: strings.Fields(parts[2])})
	}
	return list, nil
}

// insignificantCode has patterns of disassembled text that shows ignored bits of an x86-64 instruction, with their
// replacements. An instruction ignores the bits for an index, a 64-bit operand or a segment if it has none, and the element
// size if it is a bitwise operation or a move without element mask and broadcast.
var insignificantCode = []struct {
	text *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`^[c-gs]s ([^(]*)$`), "$1"},
	{regexp.MustCompile(`^vmovdqu(?:8|16|32|64) ([^{]*)$`), "vmovu $1"},
	{regexp.MustCompile(`^vmovdqa(?:32|64) ([^{]*)$`), "vmova $1"},
	{regexp.MustCompile(`^vp(and|andn|or|xor)[dq] ([^{]*)$`), "v$1 $2"},
	{regexp.MustCompile(`^rex\.\w+ `), ""},
	{regexp.MustCompile(`,%riz,\d`), ""},
	{regexp.MustCompile(`^vmovup[sd] |^vmovdqu `), "vmovu "},
	{regexp.MustCompile(`^vmovap[sd] |^vmovdqa `), "vmova "},
	{regexp.MustCompile(`^vp?(and|andn|or|xor)(?:p[sd])? `), "v$1 "},
	{regexp.MustCompile(`^vperm(?:d|ps) `), "vperm "},
}

// withNumber matches an instruction with an immediate. readBits are the bits of the immediate that an instruction
// reads.
var (
	withNumber = regexp.MustCompile(`^(\w+) \$0x([0-9a-f]+),(.*)$`)
	readBits   = map[string]uint64{
		"vpinsrd": 3, "vpextrd": 3, "vpinsrq": 1, "vpextrq": 1, "vpinsrw": 7, "vpextrw": 7, "vpinsrb": 15, "vpextrb": 15, "vextractps": 3,
		"vinserti128": 1, "vextracti128": 1, "vinsertf128": 1, "vextractf128": 1,
	}
)

// normalise returns a disassembled instruction without insignificant parts.
func normalise(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, n := range insignificantCode {
		text = n.text.ReplaceAllString(text, n.by)
	}
	if m := withNumber.FindStringSubmatch(text); m != nil && readBits[m[1]] != 0 {
		v, _ := strconv.ParseUint(m[2], 16, 64)
		text = fmt.Sprintf("%s $%#x,%s", m[1], v&readBits[m[1]], m[3])
	}
	return text
}

// onStack matches an operand in memory that is addressed through rsp.
var onStack = regexp.MustCompile(`\(%[re]sp[,)]`)

// isUnfitFlip reports whether a flipped bit of an x86-64 stencil makes no mutant to try: both codes are the same
// instructions and differ in ignored bits only; or they differ in the number of operands on the host's stack. Code of the
// latter kind reads memory of the calling thread, so that its outcome is not the same each time. The host's disassembler
// decides.
func isUnfitFlip(from, flipped *stencilLine) (bool, error) {
	if !strings.Contains(from.file, "_amd64") {
		return false, nil
	}
	x, err := from.disassembled()
	if err != nil {
		return false, err
	}
	y, err := flipped.disassembled()
	return x == y || len(onStack.FindAllString(x, -1)) != len(onStack.FindAllString(y, -1)), err
}

// operandSizes matches the size of an operand in memory, in Intel's syntax.
var operandSizes = regexp.MustCompile(`\b(BYTE|WORD|DWORD|QWORD|XMMWORD|YMMWORD|ZMMWORD) (?:PTR|BCST) \[rip`)

// reads returns the range of bytes of a constant that the instruction with the hole reads. On all other hosts it is the
// whole constant.
func (s *stencilLine) reads(hole string, size int) (from, to int, err error) {
	if !strings.Contains(s.file, "_amd64") {
		return 0, size, nil
	}
	list, err := s.instructions("intel")
	if err != nil {
		return 0, 0, err
	}
	m := regexp.MustCompile(`^_p(\d+)([+-]\d+)?$`).FindStringSubmatch(hole)
	offset, _ := strconv.Atoi(m[1])
	from, _ = strconv.Atoi(cmp.Or(m[2], "0"))
	i := slices.IndexFunc(list, func(instr instruction) bool { return offset < instr.end })
	if i < 0 {
		return 0, 0, fmt.Errorf("%s: no instruction at %d", s.name, offset)
	}
	from += list[i].end - (offset + 4) // the addend is relative to the hole, the host's address to the end of the instruction
	operands := operandSizes.FindStringSubmatch(list[i].text)
	if operands == nil {
		return 0, 0, fmt.Errorf("%s: nothing says how much %q reads", s.name, list[i].text)
	}
	bytes := map[string]int{"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}[operands[1]]
	return max(from, 0), min(from+bytes, size), nil
}

// disassembled returns the normalised instructions of the code.
func (s *stencilLine) disassembled() (string, error) {
	if s.text != "" {
		return s.text, nil
	}
	list, err := s.instructions("att")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, instr := range list {
		fmt.Fprintf(&b, "%x %s\n", instr.end, normalise(instr.text))
	}
	s.text = b.String()
	return s.text, nil
}

// instruction is a disassembled instruction and the offset of its end.
type instruction struct {
	text string
	end  int
}

// instructions disassembles the code in the given syntax.
func (s *stencilLine) instructions(syntax string) (list []instruction, err error) {
	dir, err := os.MkdirTemp("", "stencil")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "code")
	if err := os.WriteFile(file, s.code, 0o666); err != nil {
		return nil, err
	}
	out, err := exec.Command("objdump", "-D", "-w", "-z", "-b", "binary", "-m", "i386:x86-64", "-M", syntax, file).Output()
	if err != nil {
		return nil, fmt.Errorf("objdump, of binutils: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if parts := strings.SplitN(line, "\t", 3); len(parts) == 3 {
			at, err := strconv.ParseInt(strings.Trim(parts[0], " :"), 16, 64)
			if err != nil {
				return nil, fmt.Errorf("objdump: %q", line)
			}
			list = append(list, instruction{parts[2], int(at) + len(strings.Fields(parts[1]))})
		}
	}
	return list, nil
}

// mutants draws n mutants of a table and returns them with their lines.
func (c *config) mutants(lines []*stencilLine, n int) (list []*Mutant, text map[*Mutant]string, err error) {
	r := rand.New(rand.NewPCG(c.seed, 0))
	text = map[*Mutant]string{}
	present := map[string]bool{}
	for tries := 0; len(list) < n && tries < 100*n; tries++ {
		op := stencilOps[max(0, r.IntN(2*len(stencilOps))-len(stencilOps))]
		from := lines[r.IntN(len(lines))]
		s := &stencilLine{file: from.file, number: from.number, name: from.name, code: slices.Clone(from.code), holes: slices.Clone(from.holes)}
		opName := op.change(s, r)
		if opName == "" || present[s.String()] {
			continue
		}
		if op.name == "bit" {
			if unfit, err := isUnfitFlip(from, s); err != nil {
				return nil, nil, err
			} else if unfit {
				continue
			}
		}
		present[s.String()] = true
		m := &Mutant{ID: len(list) + 1, File: s.file, Line: s.number, Func: s.name, Op: op.name, Text: opName, Ordinal: 1}
		list, text[m] = append(list, m), s.String()
	}
	sortStencils(list)
	return list, text, nil
}

// chooseStencils returns the mutants to try with their lines, and the sample of -expect, if any.
func (c *config) chooseStencils(lines []*stencilLine) (list []*Mutant, text map[*Mutant]string, s *sample, err error) {
	if c.expect == "" {
		n := c.sample
		if n <= 0 {
			n = 1000
		}
		list, text, err = c.mutants(lines, n)
		return list, text, nil, err
	}
	if s, err = readSample(c.expect, c.rewrite); err != nil {
		return nil, nil, nil, err
	}
	byName := map[string]*stencilLine{}
	for _, l := range lines {
		if byName[l.name] != nil {
			return nil, nil, nil, fmt.Errorf("-expect: the files of -stencils must be of one level of processors: both %s and %s have %s", byName[l.name].file, l.file, l.name)
		}
		byName[l.name] = l
	}
	text = map[*Mutant]string{}
	var missing []string
	for _, row := range slices.Sorted(maps.Keys(s.rows)) {
		f := strings.Split(row, "\t")
		changed := byName[f[0]].changed(f[1], f[2])
		if changed != nil && f[1] == "bit" {
			if unfit, err := isUnfitFlip(byName[f[0]], changed); err != nil {
				return nil, nil, nil, err
			} else if unfit {
				changed = nil
			}
		}
		if changed == nil {
			missing = append(missing, row)
			continue
		}
		m := &Mutant{ID: len(list) + 1, File: changed.file, Line: changed.number, Func: f[0], Op: f[1], Text: f[2], Ordinal: 1}
		list, text[m] = append(list, m), changed.String()
	}
	if !c.rewrite {
		if err := s.missing(missing); err != nil {
			return nil, nil, nil, err
		}
	} else if n := max(c.sample, len(s.rows)); n > len(list) {
		drawn, line, err := c.mutants(lines, n)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, m := range drawn {
			if len(list) < n && s.rows[m.row()] == nil {
				list, text[m] = append(list, m), line[m]
			}
		}
	}
	sortStencils(list)
	return list, text, s, nil
}

// bitText matches the description of a mutant of the operator bit.
var bitText = regexp.MustCompile(`^byte (\d+) of (\d+): bit ([0-7])$`)

// changed returns a copy of the line with the change that a mutant describes; nil if the line lacks its subject.
func (s *stencilLine) changed(op, text string) *stencilLine {
	if s == nil {
		return nil
	}
	c := &stencilLine{file: s.file, number: s.number, name: s.name, code: slices.Clone(s.code), holes: slices.Clone(s.holes)}
	if op == "bit" {
		m := bitText.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		at, _ := strconv.Atoi(m[1])
		bit, _ := strconv.Atoi(m[3])
		if m[2] != strconv.Itoa(len(c.code)) || at >= len(c.code) {
			return nil
		}
		c.code[at] ^= 1 << bit
		return c
	}
	from, to, _ := strings.Cut(text, " → ")
	i := slices.Index(c.holes, from)
	if i < 0 || to == "" {
		return nil
	}
	if c.holes[i] = to; to == "nothing" {
		c.holes = slices.Delete(c.holes, i, i+1)
	}
	return c
}

// sortStencils sorts mutants by table and line.
func sortStencils(list []*Mutant) {
	slices.SortStableFunc(list, func(a, b *Mutant) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) })
}

// matches reports whether a name matches a pattern.
func matches(pattern, name string) bool {
	ok, err := filepath.Match(pattern, name)
	return ok && err == nil
}

// stencilTester is the suites of the program that try a stencil, or else tests of a package.
type stencilTester struct {
	Suites       []string
	Package, Run string
}

// hasSubjects reports whether anything tries the stencil.
func (t *stencilTester) hasSubjects() bool { return t != nil && (len(t.Suites) > 0 || t.Package != "") }

// stencilTesters are the testers of stencils, by mark of their processor level and by name.
type stencilTesters map[string]map[string]*stencilTester

// mark returns the mark of the processor level in the name of a table's file: see package native.
func mark(file string) string { return marks.FindString(strings.TrimSuffix(file, ".txt")) }

var marks = regexp.MustCompile(`_v\d+$`)

// find returns the tester of a stencil.
func (t stencilTesters) find(file, name string) *stencilTester { return t[mark(file)][name] }

// load asks the program for the testers of a level, once.
func (t stencilTesters) load(binary, mark string) error {
	if t[mark] != nil {
		return nil
	}
	out, err := exec.Command(binary, "stencils", mark).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return fmt.Errorf("without a mutant: %w", err)
	}
	var testers map[string]*stencilTester
	if err := json.Unmarshal(out, &testers); err != nil {
		return err
	}
	t[mark] = testers
	return nil
}

// runStencils runs the command for mutants of tables, of all stencils with a tester.
func (c *config) runStencils(w io.Writer) (good bool, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	binary, err := build(c.root, stencilProgram, dir, nil, nil)
	if err != nil {
		return false, err
	}
	lines, err := c.stencilLines()
	if err != nil {
		return false, err
	}
	testers := stencilTesters{}
	for _, s := range lines {
		if err := testers.load(binary, mark(s.file)); err != nil {
			return false, err
		}
	}
	lines = slices.DeleteFunc(lines, func(s *stencilLine) bool {
		t := testers.find(s.file, s.name)
		return !t.hasSubjects() || c.subjectsOnly && len(t.Suites) == 0 || !matches(c.only, s.name)
	})
	if len(lines) == 0 {
		return false, errors.New("no stencil with a suite or test matches -stencils and -only")
	}
	list, text, sample, err := c.chooseStencils(lines)
	if err != nil {
		return false, err
	}
	verdicts := map[*Mutant]Verdict{}
	if !c.list {
		if err := unchanged(binary, testers, lines, list); err != nil {
			return false, err
		}
		p := &stencilPrograms{root: c.root, binary: binary, tests: map[string]string{}}
		if err := p.build(testers, list, dir); err != nil {
			return false, err
		}
		if verdicts, err = c.tryStencils(p, testers, list, text); err != nil {
			return false, err
		}
	}
	c.exitIsKill = true
	c.print(w, list, verdicts)
	if c.list {
		return true, nil
	}
	byOp := slices.Clone(list)
	slices.SortStableFunc(byOp, func(a, b *Mutant) int { return strings.Compare(a.Op, b.Op) })
	if c.rewrite {
		byOp = list // the order of the file
	}
	return c.report(w, byOp, verdicts, nil, sample, func(m *Mutant) string { return "stencils, " + m.Op })
}

// unchanged returns an error if a stencil fails without a mutant, because then all its mutants would count as
// noticed.
func unchanged(binary string, testers stencilTesters, lines []*stencilLine, list []*Mutant) error {
	p := &stencilPrograms{binary: binary}
	for _, s := range lines {
		t := testers.find(s.file, s.name)
		if len(t.Suites) == 0 || !slices.ContainsFunc(list, func(m *Mutant) bool { return m.File == s.file && m.Func == s.name }) {
			continue
		}
		v, err := p.runSubjects(s.String(), mark(s.file), spreadNames(t.Suites))
		if err == nil && v.Outcome != Survived {
			err = fmt.Errorf("%s:%d: without a mutant %s: %v %s", s.file, s.number, s.name, v.Outcome, v.Input)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stencilLines reads the stencils of the tables.
func (c *config) stencilLines() (list []*stencilLine, err error) {
	files, err := filepath.Glob(filepath.Join(c.root, c.stencils))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		table, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(c.root, file)
		if err != nil {
			return nil, err
		}
		lines, err := readStencils(filepath.ToSlash(name), string(table))
		if err != nil {
			return nil, err
		}
		list = append(list, lines...)
	}
	return list, nil
}

// tryStencils tries mutants of stencils.
func (c *config) tryStencils(p *stencilPrograms, testers stencilTesters, list []*Mutant, text map[*Mutant]string) (map[*Mutant]Verdict, error) {
	verdicts := map[*Mutant]Verdict{}
	var mu sync.Mutex
	var first error
	work := make(chan *Mutant)
	var wait sync.WaitGroup
	for range c.workers {
		wait.Go(func() {
			for m := range work {
				v, err := p.try(testers.find(m.File, m.Func), m, text[m])
				mu.Lock()
				verdicts[m] = v
				first = cmp.Or(first, err)
				mu.Unlock()
			}
		})
	}
	for _, m := range list {
		work <- m
	}
	close(work)
	wait.Wait()
	return verdicts, first
}

// spreadNames returns a sample of a list, spread evenly.
func spreadNames(list []string) (sample []string) {
	for i := range min(maxSubjects, len(list)) {
		sample = append(sample, list[i*len(list)/min(maxSubjects, len(list))])
	}
	return sample
}

// stencilPrograms are the programs that try stencils: the program of the suites, and the tests by package.
type stencilPrograms struct {
	root, binary string
	tests        map[string]string
}

// stencilVariable is the environment variable with the line that tests add to the table; stencilMark has the mark of
// the level that they use. stencilHook is a file of package native that reads both.
const (
	stencilVariable = "MUTANT_STENCIL"
	stencilMark     = "MUTANT_MARK"
	stencilHook     = `package native

import "os"

func init() {
	level := LevelByMark(os.Getenv("MUTANT_MARK"))
	levels = []*Level{level}
	level.Tables = append(level.Tables, os.Getenv("MUTANT_STENCIL"))
}
`
)

// build builds the tests for mutants in a folder.
func (p *stencilPrograms) build(testers stencilTesters, list []*Mutant, dir string) error {
	hook := filepath.Join(dir, "hook.go")
	if err := os.WriteFile(hook, []byte(stencilHook), 0o666); err != nil {
		return err
	}
	if err := writeOverlay(dir, map[string]string{filepath.Join(p.root, filepath.FromSlash(stencilPackage), "zhook.go"): hook}); err != nil {
		return err
	}
	for _, m := range list {
		t := testers.find(m.File, m.Func)
		pkg := t.Package
		if len(t.Suites) > 0 || p.tests[pkg] != "" {
			continue
		}
		binary, err := buildTest(p.root, "./"+pkg, dir)
		if err != nil {
			return err
		}
		p.tests[pkg] = binary
	}
	return nil
}

// try runs a changed line of the table on the stencil's tester.
func (p *stencilPrograms) try(t *stencilTester, m *Mutant, line string) (Verdict, error) {
	if len(t.Suites) > 0 {
		return p.runSubjects(line, mark(m.File), spreadNames(t.Suites))
	}
	return p.runTests(t, m, line)
}

// runTests runs the stencil's tests with a changed line, with a seed.
func (p *stencilPrograms) runTests(t *stencilTester, m *Mutant, line string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stencilTestTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.tests[t.Package], "-test.short", "-test.failfast", "-test.run", t.Run)
	cmd.Dir = filepath.Join(p.root, filepath.FromSlash(t.Package))
	cmd.Env = append(os.Environ(), "GEMU_SEED=1", "GEMU_TEST=", "GEMU_STENCIL="+m.Func, stencilVariable+"="+line, stencilMark+"="+mark(m.File))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Verdict{Outcome: Survived}, nil
	case ctx.Err() != nil:
		return Verdict{Hang, t.Run, ""}, nil
	case !errors.As(err, &exit):
		return Verdict{}, err
	case exit.ExitCode() == 1:
		return Verdict{Killed, t.Run, ""}, nil
	}
	return Verdict{Crash, t.Run, reason(string(out))}, nil
}

// suites is the deciding input of a mutant that suites of package harness try; the detail has the rest.
const suites = "suites"

// runSubjects runs suites with a changed line.
func (p *stencilPrograms) runSubjects(line, mark string, subjects []string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stencilTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.binary, append([]string{"stencil", mark}, subjects...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(line), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Verdict{Outcome: Survived}, nil
	case ctx.Err() != nil:
		return Verdict{Hang, suites, ""}, nil
	case !errors.As(err, &exit):
		return Verdict{}, err
	case exit.ExitCode() == 1:
		return Verdict{Killed, suites, snippet(stdout.String())}, nil
	}
	return Verdict{Crash, suites, reason(stderr.String())}, nil
}

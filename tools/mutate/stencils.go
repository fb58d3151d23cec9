package main

// This file makes mutants of the tables of stencils (package native): of the machine code and of its patch
// descriptions. stencil_try.go runs them.

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// stencilLine is a line of a table: its place, name, code and holes.
type stencilLine struct {
	file   string // path of the table from the root
	family string // family of the stencil in the scope; "" without a scope
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

// mutants draws n mutants of stencils and returns them with their lines. All families have the same chance, however many
// stencils they have.
func (c *config) mutants(lines []*stencilLine, n int) (list []*Mutant, text map[*Mutant]string, err error) {
	byFamily := map[string][]*stencilLine{}
	for _, l := range lines {
		byFamily[l.family] = append(byFamily[l.family], l)
	}
	families := slices.Sorted(maps.Keys(byFamily))
	r := rand.New(rand.NewPCG(c.seed, 0))
	text = map[*Mutant]string{}
	present := map[string]bool{}
	for tries := 0; len(list) < n && tries < 100*n; tries++ {
		op := stencilOps[max(0, r.IntN(2*len(stencilOps))-len(stencilOps))]
		if len(families) > 1 {
			lines = byFamily[families[r.IntN(len(families))]]
		}
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
	list, text, missing, err := listedStencils(byName, slices.Sorted(maps.Keys(s.rows)))
	if err != nil {
		return nil, nil, nil, err
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

// listedStencils returns the mutants of the rows of a list with their lines, and the rows that are no mutants.
func listedStencils(byName map[string]*stencilLine, rows []string) (list []*Mutant, text map[*Mutant]string, missing []string, err error) {
	text = map[*Mutant]string{}
	for _, row := range rows {
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
	return list, text, missing, nil
}

// tableHost matches the host and the level of processors in the name of a table.
var tableHost = regexp.MustCompile(`_(?:amd64|arm64)(?:_v\d+)?\.txt$`)

// arguedStencils returns the argued mutants of the tables of stencils, also as a list with their lines: the file of
// -argued, or a file for each level of processors, if it has one.
func (c *config) arguedStencils(lines []*stencilLine) (argued equivalentMutants, list []*Mutant, text map[*Mutant]string, err error) {
	byHost := map[string]map[string]*stencilLine{}
	for _, l := range lines {
		host := strings.TrimSuffix(tableHost.FindString(l.file), ".txt")
		if byHost[host] == nil {
			byHost[host] = map[string]*stencilLine{}
		}
		byHost[host][l.name] = l
	}
	argued, text = equivalentMutants{}, map[*Mutant]string{}
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		ofHost, err := readEquivalent(cmp.Or(c.equivalentFile, "tools/mutate/stencils"+host+"-argued.txt"))
		if c.equivalentFile == "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, nil, err
		}
		mutants, lines, missing, err := listedStencils(byHost[host], slices.Sorted(maps.Keys(ofHost)))
		if err != nil {
			return nil, nil, nil, err
		}
		if len(missing) > 0 {
			return nil, nil, nil, fmt.Errorf("argued, but these mutants no longer exist:\n%s", strings.Join(missing, "\n"))
		}
		maps.Copy(argued, ofHost)
		maps.Copy(text, lines)
		list = append(list, mutants...)
	}
	sortStencils(list)
	return argued, list, text, nil
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

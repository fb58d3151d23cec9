// Package disassembly prints a stencil of package native as assembly, with the names of its holes.
package disassembly

import (
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// Stencil is a line of a table of stencils.
type Stencil struct {
	Name string
	arch string // as Go names it
	code []byte

	notes  []note // notes of instructions, by offset
	extras []string
}

// note is the text next to the instruction with the byte at an offset.
type note struct {
	offset int
	text   string
}

// Parse reads a line of a table for a host, by Go's name of its architecture: "amd64" or "arm64".
func Parse(arch, line string) (*Stencil, error) {
	columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if len(columns) != 3 {
		return nil, fmt.Errorf("a stencil has %d columns, want 3: its name, code and holes", len(columns))
	}
	code, err := base64.RawStdEncoding.DecodeString(columns[1])
	if err != nil {
		return nil, fmt.Errorf("stencil %s: %w", columns[0], err)
	}
	s := &Stencil{Name: columns[0], arch: arch, code: code}
	for _, hole := range strings.Fields(columns[2]) {
		if err := s.addHole(hole); err != nil {
			return nil, fmt.Errorf("stencil %s: %w", s.Name, err)
		}
	}
	slices.SortStableFunc(s.notes, func(a, b note) int { return a.offset - b.offset })
	return s, nil
}

var (
	holeText = regexp.MustCompile(`^([A-F01]|_[nolp])(\d+)([+-]\d+)?(?::([0-9a-f]+))?$`)
	flipText = regexp.MustCompile(`^([a-e])(\d+)\^(\d+)$`)
)

// addHole notes an entry of the third column, which table.go of package native describes.
func (s *Stencil) addHole(hole string) error {
	if m := holeText.FindStringSubmatch(hole); m != nil {
		places := map[string]string{"_n": "next", "_o": "other", "_l": "leave", "_p": "constant " + m[4], "0": "number 0", "1": "number 1"}
		name, ok := places[m[1]]
		if !ok {
			name = "operand " + m[1]
		}
		offset, err := strconv.Atoi(m[2])
		s.notes = append(s.notes, note{offset, name + m[3]})
		return err
	}
	if m := flipText.FindStringSubmatch(hole); m != nil {
		offset, err := strconv.Atoi(m[2])
		if err != nil {
			return err
		}
		bits, err := strconv.ParseUint(m[3], 10, 8)
		s.notes = append(s.notes, note{offset, fmt.Sprintf("constant %s: byte %#x ^ %#x", strings.ToUpper(m[1]), offset, bits)})
		return err
	}
	if cost, ok := strings.CutPrefix(hole, "!takes"); ok {
		s.extras = append(s.extras, "counts as "+cost+" more instructions")
		return nil
	}
	if operand, ok := strings.CutSuffix(hole, "!no"); ok {
		s.extras = append(s.extras, "operand "+operand+" cannot be a constant")
		return nil
	}
	return fmt.Errorf("hole %q is of no known kind", hole)
}

// Print writes the stencil: a heading, then a line for each instruction with its offset, its text, and the holes and the
// changes for constants in its bytes.
func (s *Stencil) Print(w io.Writer) error {
	if _, err := fmt.Fprintln(w, strings.Join(append([]string{fmt.Sprintf("%s: %d bytes", s.Name, len(s.code))}, s.extras...), "; ")); err != nil {
		return err
	}
	notes := s.notes
	for at := 0; at < len(s.code); {
		text, size, err := s.decode(at)
		if err != nil {
			return fmt.Errorf("stencil %s, offset %#x: %w", s.Name, at, err)
		}
		var beside []string
		for len(notes) > 0 && notes[0].offset < at+size {
			beside, notes = append(beside, notes[0].text), notes[1:]
		}
		if len(beside) > 0 {
			text = fmt.Sprintf("%-48s ; %s", text, strings.Join(beside, "; "))
		}
		if _, err := fmt.Fprintf(w, "%6x  %s\n", at, text); err != nil {
			return err
		}
		at += size
	}
	return nil
}

// decode returns the text of the instruction at an offset, and its size in bytes.
func (s *Stencil) decode(at int) (text string, size int, err error) {
	if s.arch == "arm64" {
		instr, err := arm64asm.Decode(s.code[at:])
		return arm64asm.GNUSyntax(instr), 4, err
	}
	instr, err := x86asm.Decode(s.code[at:], 64)
	if err != nil {
		return "", 0, err
	}
	text = x86asm.IntelSyntax(instr, uint64(at), nil)
	return strings.Replace(text, "ptr []", "ptr [rip]", 1), instr.Len, nil // the library omits rip where its distance is 0
}

// Arch returns Go's name of the architecture of a table's file.
func Arch(file string) string {
	if strings.Contains(file, "_arm64") {
		return "arm64"
	}
	return "amd64"
}

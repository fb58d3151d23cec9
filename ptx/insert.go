package ptx

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Insertion is a text before an instruction.
type Insertion struct {
	Before *Instr // instruction of the module whose text is changed
	Text   string // text, without a newline at its end
}

// guardText is the guard of an instruction at the end of the text before its opcode, with spaces and comments after it.
var guardText = regexp.MustCompile(`@\s*!?\s*[%$\w]+(\s|//[^\n]*\n|/\*([^*]|\*+[^*/])*\*+/)*$`)

// InsertText returns the text of a module with further texts before instructions that were parsed from it, those before the same instruction in the order of the
// list. A text has a line of its own if the instruction begins its line. The error names an instruction whose guard was not found.
func InsertText(text string, list []Insertion) (string, error) {
	begins := []int{0} // of lines
	for i, c := range text {
		if c == '\n' {
			begins = append(begins, i+1)
		}
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Insertion) int {
		return cmp.Or(cmp.Compare(a.Before.Pos.Line, b.Before.Pos.Line), cmp.Compare(a.Before.Pos.Col, b.Before.Pos.Col))
	})
	var out strings.Builder
	done := 0
	for _, x := range list {
		at := x.Before.Pos
		begin := begins[at.Line-1] + int(at.Col) - 1
		if x.Before.Guard.Reg != NoReg && begin > done {
			guard := guardText.FindStringIndex(text[done:begin])
			if guard == nil {
				return "", fmt.Errorf("line %s: the guard before %s was not found", at, x.Before.Text)
			}
			begin = done + guard[0]
		}
		line := strings.LastIndexByte(text[:begin], '\n') + 1
		if begin > done {
			out.WriteString(text[done:begin])
			done = begin
		}
		out.WriteString(x.Text)
		if indent := text[line:begin]; strings.TrimSpace(indent) == "" {
			out.WriteString("\n" + indent)
		} else {
			out.WriteString(" ")
		}
	}
	out.WriteString(text[done:])
	return out.String(), nil
}

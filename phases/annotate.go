package phases

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// Word is the first word of the .pragma directive of a phase: .pragma "gemu.phase registers=24 shared=4224". The phase begins at the next
// instruction of the text.
const Word = "gemu.phase"

// Annotate returns the text of a module with a directive for each phase. A text that gives statements a line each keeps all its lines.
func Annotate(name, text string, kernels []*Kernel) (string, error) {
	var list []ptx.Insertion
	for _, k := range kernels {
		for i := range k.Phases {
			p := &k.Phases[i]
			if p.Pragma != (ptx.Pos{}) {
				return "", errorAt(k.Func, p.Pragma, "%s has phases already", k.Func.Name)
			}
			list = append(list, ptx.Insertion{Before: p.First, Text: p.directive()})
		}
	}
	out, err := ptx.InsertText(text, list)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if _, err := ptx.ParseString(name, out); err != nil {
		return "", fmt.Errorf("the text with phases is not valid PTX; give each statement a line (gemu dump does): %w", err)
	}
	return out, nil
}

// directive returns the directive that declares the phase.
func (p *Phase) directive() string {
	return fmt.Sprintf(".pragma \"%s registers=%d shared=%d\";", Word, p.Registers, p.Shared)
}

// Maximum values of a directive.
const (
	maxRegisters = 255
	maxShared    = 1 << 20
)

// declared returns the phases that the kernel's directives declare; nil if it has none. Before the first directive a phase has inferred resources.
func (k *Kernel) declared() (list []Phase, err error) {
	type mark struct {
		first int
		Phase
	}
	var marks []mark
	if err := checkPlaces(k.Func.Module()); err != nil {
		return nil, err
	}
	for _, d := range k.Func.AllPragmas() {
		for _, text := range d.Text {
			words := strings.Fields(text)
			if len(words) == 0 || words[0] != Word {
				continue
			}
			r, err := parse(words[1:])
			if err != nil {
				return nil, errorAt(k.Func, d.Pos, ".pragma %q: %s", Word, err)
			}
			first := slices.IndexFunc(k.Instrs, func(o Instr) bool { return isAfter(o.Pos, d.Pos) })
			if first < 0 {
				return nil, errorAt(k.Func, d.Pos, ".pragma %q: no instruction of %s follows it", Word, k.Func.Name)
			}
			if k.Instrs[first].Divergent {
				return nil, errorAt(k.Func, d.Pos, ".pragma %q: lanes of a warp may have taken another path: move it to a place where all paths have joined", Word)
			}
			if n := len(marks); n > 0 && marks[n-1].first == first {
				return nil, errorAt(k.Func, d.Pos, ".pragma %q: the directive in line %d is before the same instruction: leave one of them out", Word, marks[n-1].Pragma.Line)
			}
			marks = append(marks, mark{first, Phase{k.Instrs[first].Instr, r, d.Pos}})
		}
	}
	if marks == nil {
		return nil, nil
	}
	var begins []int
	if marks[0].first != 0 {
		marks = slices.Insert(marks, 0, mark{0, Phase{First: k.Instrs[0].Instr}})
	}
	for _, m := range marks {
		begins = append(begins, m.first)
	}
	needs, _ := k.needs(begins)
	for i := range marks {
		switch p := &marks[i].Phase; {
		case p.Pragma == (ptx.Pos{}):
			p.Resources = needs[i]
		case p.Registers < needs[i].Registers:
			return nil, errorAt(k.Func, p.Pragma, ".pragma %q: registers=%d, but %d are live in the phase: want at least these", Word, p.Registers, needs[i].Registers)
		}
		list = append(list, marks[i].Phase)
	}
	return list, nil
}

// checkPlaces returns an error for a directive outside of kernels.
func checkPlaces(m *ptx.Module) error {
	for _, d := range m.Decls {
		var pragmas []ptx.Pragma
		switch d := d.(type) {
		case ptx.Pragma:
			pragmas = []ptx.Pragma{d}
		case *ptx.Func:
			if !d.Entry {
				pragmas = d.AllPragmas()
			}
		}
		for _, p := range pragmas {
			for _, text := range p.Text {
				if words := strings.Fields(text); len(words) > 0 && words[0] == Word {
					return &Error{m.Name, p.Pos, fmt.Sprintf(".pragma %q: it is outside of a kernel: want it before an instruction of a kernel", Word)}
				}
			}
		}
	}
	return nil
}

// isAfter reports whether place a is after b.
func isAfter(a, b ptx.Pos) bool { return a.Line > b.Line || a.Line == b.Line && a.Col > b.Col }

// parse parses the words after Word.
func parse(words []string) (r Resources, err error) {
	r = Resources{math.MinInt, math.MinInt}
	fields := []struct {
		name string
		most int
		to   *int
	}{{"registers", maxRegisters, &r.Registers}, {"shared", maxShared, &r.Shared}}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		i := slices.IndexFunc(fields, func(f struct {
			name string
			most int
			to   *int
		}) bool {
			return f.name == name
		})
		if !ok || i < 0 {
			return r, fmt.Errorf("%s: want registers=N and shared=N", word)
		}
		f := &fields[i]
		if *f.to != math.MinInt {
			return r, fmt.Errorf("%s is given twice", name)
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > f.most {
			return r, fmt.Errorf("%s: want a number from 0 to %d", word, f.most)
		}
		*f.to = n
	}
	for _, f := range fields {
		if *f.to == math.MinInt {
			return r, fmt.Errorf("want %s=N", f.name)
		}
	}
	return r, nil
}

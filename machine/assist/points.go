package assist

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gemu/ptx"
)

// header are the directives of a module that it can have once, and addressSize is the last of them.
var (
	header      = regexp.MustCompile(`\.version[ \t]+[0-9.]+|\.target[ \t]+\w+([ \t]*,[ \t]*\w+)*|\.address_size[ \t]+[0-9]+`)
	addressSize = regexp.MustCompile(`(?m)^[ \t]*\.address_size[ \t]+64[^\n]*\n`)
)

// call is a call of a routine before an instruction.
type call struct {
	*Routine
	in    *ptx.Func
	label string
	first *ptx.Instr
}

// Insert returns the text of a module with the routines of a source, all of which must be for Point, and a call of each at its labels. Calls at
// the same label are in the order of the routines' text. It returns an error with its place for a label that does not exist or is that of
// several functions, for a register that the program does not have, or has with another type, and for a routine for another event.
func Insert(name, text string, source Source) (string, error) {
	m, err := ptx.ParseString(name, text)
	if err != nil {
		return "", err
	}
	own, err := ptx.Parse(source.Name, source.Text)
	if err != nil {
		return "", err
	}
	routines, err := Routines(own)
	switch {
	case err != nil:
		return "", err
	case routines == nil:
		return "", fmt.Errorf("%s: no .func has .pragma %q", source.Name, Pragma)
	case m.Version.Less(own.Version):
		return "", fmt.Errorf("%s has .version %s, and %s has .version %s: want the version of the program at least as high", source.Name, own.Version, name, m.Version)
	case own.SM() > m.SM():
		return "", fmt.Errorf("%s is for sm_%d, and %s for sm_%d: want the target of the program at least as high", source.Name, own.SM(), name, m.SM())
	}
	var calls []call
	for _, r := range routines {
		for _, t := range r.Triggers {
			c, err := findPoint(m, r, t)
			if err != nil {
				return "", fmt.Errorf("%s:%d: routine %s: %w", source.Name, r.Func.Pos.Line, r.Name(), err)
			}
			calls = append(calls, c)
		}
	}
	prefix := "%assist_"
	for strings.Contains(text, prefix) {
		prefix = "%_" + prefix[1:]
	}
	var list []ptx.Insertion
	for i := range calls {
		list = append(list, ptx.Insertion{Before: calls[i].first, Text: calls[i].text(prefix)})
	}
	if text, err = ptx.InsertText(text, list); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	end := addressSize.FindStringIndex(text)
	if end == nil {
		return "", fmt.Errorf("%s: want .address_size 64 on a line of its own, after which the routines are inserted", name)
	}
	functions := header.ReplaceAllString(string(source.Text), "")
	text = text[:end[1]] + "\n// Assist routines of " + source.Name + ".\n" + strings.TrimSpace(functions) + "\n// End of the assist routines.\n" + text[end[1]:]
	if _, err := ptx.ParseString(name, text); err != nil {
		return "", fmt.Errorf("the program with the routines is not valid PTX: want other names in %s than in the program, and a line for each statement (gemu dump): %w", source.Name, err)
	}
	return text, nil
}

// findPoint returns the call of a routine at the place of a trigger.
func findPoint(m *ptx.Module, r *Routine, t Trigger) (c call, err error) {
	if t.Event != Point {
		return c, fmt.Errorf("trigger=%s is an event of a machine: gemu machine --assist runs it; want trigger=pc:LABEL", t)
	}
	function, label, ok := strings.Cut(t.Label, ":")
	if !ok {
		function, label = "", t.Label
	}
	for _, d := range m.Decls {
		f, _ := d.(*ptx.Func)
		if f == nil || !f.Defined || function != "" && f.Name != function {
			continue
		}
		for _, b := range f.Blocks {
			if !slices.Contains(b.Labels, label) {
				continue
			}
			if c.in != nil {
				return c, fmt.Errorf("trigger=%s: %s and %s both have this label: want trigger=pc:FUNCTION:%s", t, c.in.Name, f.Name, label)
			}
			if len(b.Instrs) == 0 {
				return c, fmt.Errorf("trigger=%s: no instruction of %s follows the label", t, f.Name)
			}
			c = call{r, f, label, b.Instrs[0]}
		}
	}
	if c.in == nil {
		return c, fmt.Errorf("trigger=%s: %s has no such label in a function with a body", t, m.Name)
	}
	if r.Skip != "" && !slices.ContainsFunc(c.in.Blocks, func(b *ptx.Block) bool { return slices.Contains(b.Labels, r.Skip) }) {
		return c, fmt.Errorf("skip=%s: %s has no such label", r.Skip, c.in.Name)
	}
	results := r.Func.Rets[r.results()-len(r.LiveOut):]
	for i, list := range [][]string{r.LiveIn, r.LiveOut} {
		vars, word := r.Func.Params, "livein"
		if i == 1 {
			vars, word = results, "liveout"
		}
		for k, name := range list {
			reg := slices.IndexFunc(c.in.Regs, func(x ptx.Reg) bool { return x.Name == name })
			if reg < 0 {
				return c, fmt.Errorf("%s=%s: %s has no such register", word, name, c.in.Name)
			}
			if got, want := c.in.Regs[reg].Type, vars[k].Type; got == ptx.Pred || got.Bits() != want.Bits() || got.IsFloat() != want.IsFloat() {
				return c, fmt.Errorf("%s=%s: the register of %s has type %s: want %s, the type of %s", word, name, c.in.Name, got, want, vars[k].Name)
			}
		}
	}
	return c, nil
}

// text returns the statement that calls the routine.
func (c *call) text(prefix string) string {
	arguments := ""
	if len(c.LiveIn) > 0 {
		arguments = ", (" + strings.Join(c.LiveIn, ", ") + ")"
	}
	if c.Skip == "" {
		results := ""
		if len(c.LiveOut) > 0 {
			results = "(" + strings.Join(c.LiveOut, ", ") + "), "
		}
		return fmt.Sprintf("call %s%s%s;", results, c.Name(), arguments)
	}
	var declared, moved strings.Builder
	results := []string{prefix + "skips"}
	for i, name := range c.LiveOut {
		result := fmt.Sprint(prefix, i)
		results = append(results, result)
		t := c.Func.Rets[i+1].Type
		fmt.Fprintf(&declared, " .reg %s %s;", t, result)
		fmt.Fprintf(&moved, " @%sp mov%s %s, %s;", prefix, moveType(t), name, result)
	}
	return fmt.Sprintf("{ .reg .b32 %sskips; .reg .pred %sp;%s call (%s), %s%s; setp.ne.u32 %sp, %sskips, 0;%s @%sp bra %s; }",
		prefix, prefix, declared.String(), strings.Join(results, ", "), c.Name(), arguments, prefix, prefix, moved.String(), prefix, c.Skip)
}

// moveType returns a type of mov, with its dot, that has the size of a type.
func moveType(t ptx.Type) string {
	if t.IsFloat() {
		return t.String()
	}
	return fmt.Sprintf(".b%d", t.Bits())
}

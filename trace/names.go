package trace

// This file checks the registers that a log names without saying which instructions it has: a misspelt
// name must not pass for a result that is missing.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/internal/spell"
)

// names are the registers that the code of the other log writes.
type names struct {
	byLine map[uint64][]string
	all    []string
}

// checkNames checks the records of the launch that follow against the code of the other log.
func (c *cursor) checkNames(otherLog *cursor) {
	if len(otherLog.code) == 0 {
		return
	}
	c.names = &names{byLine: map[uint64][]string{}}
	for _, code := range otherLog.code {
		list := c.names.byLine[code.Line]
		for _, r := range code.Writes {
			if !slices.Contains(list, r.Name) {
				list = append(list, r.Name)
			}
		}
		slices.Sort(list)
		c.names.byLine[code.Line] = list
	}
}

// registers are all that the code writes, in order.
func (n *names) registers() []string {
	if n.all == nil {
		for _, list := range n.byLine {
			n.all = append(n.all, list...)
		}
		slices.Sort(n.all)
		n.all = slices.Compact(n.all)
	}
	return n.all
}

// checkRecord is an error if a record has a result of a register that no instruction of its line writes.
// A call and a barrier may give back registers that they do not name.
func (c *cursor) checkRecord(r *Record) error {
	if c.names == nil || r.Code != 0 || r.Kind == Trap {
		return nil
	}
	list, known := c.names.byLine[r.Line]
	writer := fmt.Sprintf("line %d of the PTX", r.Line)
	if r.Kind == Return || r.Kind == Wake {
		list, writer = c.names.registers(), "the kernel"
	} else if !known { // the comparison reports another instruction
		return nil
	}
	for i := range r.Results {
		if name := r.Results[i].Name; name != "" && !slices.Contains(list, name) {
			return c.fail(unknownRegister(name, writer, list))
		}
	}
	return nil
}

// unknownRegister is the error of a name that is none of a list.
func unknownRegister(name, writer string, list []string) error {
	writes := "no register"
	if n := len(list); n > 0 {
		writes = strings.Join(list[:min(n, 8)], ", ")
		if n > 8 {
			writes += fmt.Sprintf(" and %d more", n-8)
		}
	}
	return fmt.Errorf("the result %s: %s writes %s%s", quoted(name), writer, writes, didYouMean(name, list))
}

// didYouMean is the end of a message about a name that is none of a list.
func didYouMean(name string, list []string) string {
	if nearest := spell.Nearest(name, list); nearest != "" {
		return fmt.Sprintf(" (did you mean %s?)", nearest)
	}
	return ""
}

// foreignName is a result of a log without code that the other log's instruction does not write: its line has
// several instructions, of which another one does.
func (c *comparison) foreignName(x step, y *step, differ differFunc) *Difference {
	for i, r := range []*Record{x.Record, y.Record} {
		other := c.code(1-i, []*Record{y.Record, x.Record}[i])
		if r.Code != 0 || r.Kind != Instruction || other == nil {
			continue
		}
		for k := range r.Results {
			name := r.Results[k].Name
			if name == "" || slices.ContainsFunc(other.Writes, func(w Register) bool { return w.Name == name }) {
				continue
			}
			var writes []string
			for _, w := range other.Writes {
				writes = append(writes, w.Name)
			}
			texts := [2]string{name, strings.Join(writes, ", ")}
			if texts[1] == "" {
				texts[1] = "none"
			}
			if i == 1 {
				texts[0], texts[1] = texts[1], texts[0]
			}
			return differ("register", texts[0], texts[1], "the register that it writes")
		}
	}
	return nil
}

package trace

// This file checks the register names in a log without code lines against the code of the other log. Without this check a
// misspelt name would count as a missing result.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/internal/notation"
)

// names holds the names of registers that the code of the other log writes.
type names struct {
	byLine map[uint64][]string // sorted names, by line of the PTX
	all    []string            // sorted names of all lines; nil until registers makes it
}

// checkNames makes the cursor check the following records of the launch against the code of the other log.
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

// registers returns all registers that the code writes, sorted.
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

// checkRecord returns an error if a record has a result in a register that no instruction of the record's line writes.
// A record of kind Return or Wake may have any register that the kernel writes.
func (c *cursor) checkRecord(r *Record) error {
	if c.names == nil || r.Code != 0 || r.Kind == Trap {
		return nil
	}
	list, known := c.names.byLine[r.Line]
	writer := fmt.Sprintf("line %d of the PTX", r.Line)
	if r.Kind == Return || r.Kind == Wake {
		list, writer = c.names.registers(), "the kernel"
	} else if !known { // the comparison will report that the instructions differ
		return nil
	}
	for i := range r.Results {
		if name := r.Results[i].Name; name != "" && !slices.Contains(list, name) {
			return c.fail(unknownRegister(name, writer, list))
		}
	}
	return nil
}

// unknownRegister returns the error for a result in a register that is not in list. list has the registers that writer, a
// line or the kernel, writes.
func unknownRegister(name, writer string, list []string) error {
	writes := "no register"
	if n := len(list); n > 0 {
		writes = strings.Join(list[:min(n, 8)], ", ")
		if n > 8 {
			writes += fmt.Sprintf(" and %d more", n-8)
		}
	}
	return fmt.Errorf("%s has no result %s; it writes %s%s", writer, quoted(name), writes, didYouMean(name, list))
}

// didYouMean returns a suggestion for a name that is not in list, or "".
func didYouMean(name string, list []string) string {
	if nearest := notation.Nearest(name, list); nearest != "" {
		return fmt.Sprintf(" (did you mean %s?)", nearest)
	}
	return ""
}

// foreignName returns a difference if a record without code has a result in a register that the other log's instruction does
// not write. checkRecord does not find such a name if another instruction of the same line writes the register.
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
			return differ("register", texts[0], texts[1], "the written register")
		}
	}
	return nil
}

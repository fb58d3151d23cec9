package trace

// This file takes the code of a log without code lines from the second log.

import (
	"slices"
	"strings"

	"gemu/ptx"
)

// codeByLine is the code of a launch by line.
type codeByLine map[uint64][]*Code

// borrowCode reads the code of the second log's launches up to number last. It reports whether launch last
// has code.
func (s *slicer) borrowCode(otherLog Source, last uint64) (known bool, err error) {
	c, err := otherLog.open()
	if err != nil {
		return false, err
	}
	defer c.close()
	s.borrowed = map[uint64]codeByLine{}
	for {
		l, err := c.nextLaunch()
		if err != nil || l == nil || l.Number > last {
			return known, err
		}
		lines := codeByLine{}
		for _, code := range c.code {
			lines[code.Line] = append(lines[code.Line], code)
		}
		s.borrowed[l.Number] = lines
		known = known || l.Number == last && len(lines) > 0
	}
}

// codeOf returns the instruction of a record, or nil if neither log tells.
func (s *slicer) codeOf(r *Record) *Code {
	if code := s.c.codeOf(r); code != nil || s.borrowed == nil || s.c.launch == nil {
		return code
	}
	list := s.borrowed[s.c.launch.Number][r.Line]
	if len(list) > 1 { // several instructions on the line
		list = slices.DeleteFunc(slices.Clone(list), func(c *Code) bool { return !c.mayBe(r) })
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// mayBe reports whether a record without an instruction may belong to this instruction.
func (c *Code) mayBe(r *Record) bool {
	if name := c.name(); r.Name != "" && r.Name != name && !strings.HasPrefix(name, r.Name+".") {
		return false
	}
	for i := range r.Results {
		if r.Results[i].Name != "" && !c.writes(r.Results[i].Name) {
			return false
		}
	}
	return true
}

// writes reports whether the instruction writes a register.
func (c *Code) writes(name string) bool {
	return slices.ContainsFunc(c.Writes, func(w Register) bool { return w.Name == name })
}

// noteMissing notes the missing parts of an instruction: results, addresses.
func (s *slicer) noteMissing(n *node) {
	if n.Kind != Instruction || n.Lanes == 0 {
		return
	}
	if n.incomplete && len(n.Results) < len(n.code.Writes) {
		n.note("the log lacks its result")
	}
	if len(n.Accesses) == 0 && n.code.Class == ptx.ClassMemory.String() && s.c.isMissing("addresses") {
		n.note("the log lacks its addresses")
	}
}

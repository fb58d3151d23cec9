package trace

// This file identifies the instructions of a log that has no code lines: it uses the code lines of the other log.

import (
	"slices"
	"strings"

	"gemu/ptx"
)

// codeByLine has the instructions of a launch, by line of the PTX.
type codeByLine map[uint64][]*Code

// borrowCode reads the code of the launches of the other log, up to the launch with number last. It reports whether launch
// last has code.
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

// codeOf returns the instruction of a record, or nil if neither log identifies it.
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

// mayBe reports whether a record that does not name its instruction may be a record of this instruction.
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

// noteMissing adds notes to an instruction whose result or addresses the log lacks.
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

package ptx

import (
	"slices"
	"strconv"

	"gemu/internal/notation"
)

// entity is the meaning of a name within a function.
type entity struct {
	kind  entityKind
	typ   Type   // type of a register, or of a vector register's components
	reg   RegID  // the register; the first of a range or a vector register
	count int    // N of a register range %r<N>
	vec   int    // number of components of a vector register (reg, reg+1 …); 1 for any other register
	v     *Var   // variable or parameter
	table *Table // label of a list of targets or of a prototype
	block *Block // label
}

type entityKind uint8

const (
	entReg entityKind = iota + 1
	entVar
	entTable
	entLabel
)

// nameScope is a { } scope of a function.
type nameScope struct {
	parent *nameScope
	names  map[string]entity
	ranges map[string]entity // ranges %r<N> by prefix
}

// newScope returns an empty scope within parent.
func newScope(parent *nameScope) *nameScope {
	return &nameScope{parent: parent, names: map[string]entity{}, ranges: map[string]entity{}}
}

// lookup finds a name in the scope or an enclosing scope; a member of a register range is found by its number.
func (s *nameScope) lookup(name string) (entity, bool) {
	prefix, n, isRange := splitRange(name)
	for ; s != nil; s = s.parent {
		if e, ok := s.names[name]; ok {
			return e, true
		}
		if isRange {
			if e, ok := s.ranges[prefix]; ok && n < e.count {
				e.reg += RegID(n * e.vec)
				return e, true
			}
		}
	}
	return entity{}, false
}

// splitRange splits "%r12" into "%r" and 12. ok is false if the name does not end with a number of at most 8 digits, or if
// the number has a leading zero.
func splitRange(name string) (prefix string, n int, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || len(name)-i > 8 || name[i] == '0' && len(name)-i > 1 {
		return name, 0, false
	}
	for _, c := range name[i:] {
		n = 10*n + int(c-'0')
	}
	return name[:i], n, true
}

// declareName declares a name in the current scope.
func (b *funcBuilder) declareName(pos Pos, name string, e entity) {
	_, dup := b.scope.names[name]
	if prefix, i, ok := splitRange(name); ok && i < b.scope.ranges[prefix].count {
		dup = true
	}
	if dup {
		b.errorf(pos, "%s is declared twice in this scope", name)
		return
	}
	b.scope.names[name] = e
}

// unique returns a name that the flattened function does not use yet, and records it: the name, or the name with a suffix
// such as $1.
func (b *funcBuilder) unique(name string) string {
	u := name
	for b.uses(u) || u != name && b.mod.symbols[u] != nil {
		b.usedNames[name] = max(b.usedNames[name], 1)
		u = name + "$" + strconv.Itoa(b.usedNames[name])
		b.usedNames[name]++
	}
	b.addName(u)
	return u
}

// uses reports whether the flattened function has the name.
func (b *funcBuilder) uses(name string) bool {
	if b.usedNames[name] > 0 {
		return true
	}
	prefix, n, ok := splitRange(name)
	return ok && n < b.ranges[prefix]
}

// addName records a name of the flattened function.
func (b *funcBuilder) addName(name string) {
	b.usedNames[name]++
	if prefix, _, ok := splitRange(name); ok {
		b.numberedNames[prefix] = true
	}
}

// newReg adds a register to the function. It alters the name if the function already uses it.
func (b *funcBuilder) newReg(name string, t Type) RegID {
	b.fn.Regs = append(b.fn.Regs, Reg{b.unique(name), t})
	return RegID(len(b.fn.Regs) - 1)
}

// newVector makes the registers of a vector register with n components, and returns the first.
func (b *funcBuilder) newVector(name string, t Type, n int) RegID {
	first := RegID(len(b.fn.Regs))
	for i := range n {
		b.newReg(component(name, i), t)
	}
	return first
}

// component returns the name of a component of a vector register.
func component(name string, i int) string { return name + "_" + "xyzw"[i:i+1] }

// newRange makes the registers of a range. A range may have a million registers.
func (b *funcBuilder) newRange(prefix string, n int, t Type) {
	b.fn.Regs = slices.Grow(b.fn.Regs, n)
	if b.ranges[prefix] > 0 || b.numberedNames[prefix] {
		for i := range n {
			b.newReg(prefix+strconv.Itoa(i), t)
		}
		return
	}
	b.ranges[prefix] = n
	// All names are substrings of one string.
	text := make([]byte, 0, n*(len(prefix)+len(strconv.Itoa(n-1))))
	ends := make([]int32, n)
	for i := range n {
		text = strconv.AppendInt(append(text, prefix...), int64(i), 10)
		ends[i] = int32(len(text))
	}
	names, place := string(text), int32(0)
	for _, end := range ends {
		b.fn.Regs = append(b.fn.Regs, Reg{names[place:end], t})
		place = end
	}
}

// nearestName returns the visible name most similar to name, "" if none is.
func (b *funcBuilder) nearestName(name string) string {
	var names []string
	for s := b.scope; s != nil; s = s.parent {
		for n := range s.names {
			names = append(names, n)
		}
		for p, e := range s.ranges {
			// Offer a single member of the range, with the same number: a range may have a million members.
			_, n, ok := splitRange(name)
			if ok && n < e.count {
				names = append(names, p+strconv.Itoa(n))
			}
		}
	}
	names = append(names, b.symbolNames()...)
	slices.Sort(names)
	return notation.Nearest(name, names)
}

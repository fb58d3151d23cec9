package ptx

// This file reads the operands of a form in the notation of the instruction table,
// and says what a variant wants of them: types, numbers of registers, state spaces.

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gemu/internal/brackets"
)

// Access is what an instruction does with the registers of an operand.
type Access uint8

// The ways to access. An operand that names no register, a label or a constant of the
// encoding, has neither.
const (
	Read Access = 1 << iota
	Write
)

// OperandSpec describes one operand of a form.
type OperandSpec struct {
	Name         string
	Access       Access
	Optional     bool
	Pair         bool          // joined with "|" to the operand before it
	Address      bool          // [a]
	AddressParts []OperandSpec // of an address: what stands behind its base
	Label        bool          // a label, or with Targets the name of a list
	Targets      bool
	Const        bool         // an integer constant
	Only         *Constants   // the integer constants that may stand; nil if any may
	Register     bool         // no constant may stand
	NoSum        bool         // nor the sum of a register and a constant
	List         bool         // (a, b, …): arguments and results of a call
	Negate       bool         // may be written !p or -a
	Extended     bool         // Negate is not in the manual: NVIDIA's assembler takes it
	Selector     bool         // may name bytes or halves of a register: a.b0, a.h10
	Sink         bool         // may be _: the result is not wanted
	Symbol       bool         // may be the address of a variable or function
	Vector       bool         // {a, b, …}, of as many registers as Variant.Count says
	Alt          *OperandSpec // of another shape, which may stand instead
	Wider        bool         // a register may be wider than the type
	Integer      bool         // a register is an integer or untyped one of 32 or 64 bits
	NoFloat      bool         // an integer is not in a register of floats or halves
	Untyped      bool         // a register is of a .b type
	Base         Type         // of an address that is in a register and no variable's: the register's type; else NoType
	requires     string       // the slot or modifier without which it may not be written
	count        count
	typ          Type // fixed type, or NoType
	slot         string
	wide         bool // twice the width of the slot's type
	element      bool // of a vector or a list
}

// Constants are integers from Least to Most, in steps.
type Constants struct{ Min, Max, Step int64 }

// parseConstants reads 128, 0..1, 0..64/8.
func parseConstants(text string) (*Constants, error) {
	bounds, step, steps := strings.Cut(text, "/")
	minimum, maximum, isRange := strings.Cut(bounds, "..")
	if !isRange {
		maximum = minimum
	}
	if !steps {
		step = "1"
	}
	c := &Constants{}
	for i, n := range []*int64{&c.Min, &c.Max, &c.Step} {
		var err error
		if *n, err = strconv.ParseInt([]string{minimum, maximum, step}[i], 10, 64); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Constants) contains(n int64) bool {
	return c.Min <= n && n <= c.Max && (n-c.Min)%c.Step == 0
}

func (c *Constants) String() string {
	switch {
	case c.Min == c.Max:
		return fmt.Sprint(c.Min)
	case c.Step == 1:
		return fmt.Sprintf("%d..%d", c.Min, c.Max)
	case c.Max-c.Min == c.Step:
		return fmt.Sprintf("%d or %d", c.Min, c.Max)
	}
	return fmt.Sprintf("%d..%d in steps of %d", c.Min, c.Max, c.Step)
}

// Writes reports whether the instruction writes the operand's registers.
func (o *OperandSpec) Writes() bool { return o.Access&Write != 0 }

// Reads reports whether it reads them.
func (o *OperandSpec) Reads() bool { return o.Access&Read != 0 }

// parseOperands reads a list such as "d|p?:pred, [a, <b*2>], #c".
func parseOperands(f *Form, text string) ([]OperandSpec, error) {
	var list []OperandSpec
	for _, field := range brackets.Split(text, ", ") {
		for i, s := range brackets.Split(field, "|") {
			first, other, hasAlt := brackets.Cut(s, " or ")
			o, err := parseOperand(f, first)
			if err == nil && hasAlt {
				var alt OperandSpec
				alt, err = parseOperand(f, other)
				o.Alt = &alt
			}
			if err != nil {
				return nil, err
			}
			o.Pair = i > 0
			list = append(list, o)
		}
	}
	return list, nil
}

// parseOperand reads one operand.
func parseOperand(f *Form, text string) (o OperandSpec, err error) {
	s, typ := text, ""
	if parts := brackets.Split(text, ":"); len(parts) == 2 {
		s, typ = parts[0], parts[1]
	}
	if parts := brackets.Split(s, "?"); len(parts) == 2 {
		s, o.Optional, o.requires = parts[0], true, parts[1]
		if o.requires != "" && !f.HasSlot(o.requires) {
			return o, fmt.Errorf("operand %q: no slot %s", text, o.requires)
		}
	}
	s, o.Sink = strings.CutPrefix(s, "_")
	inout := strings.HasPrefix(s, "+")
	s = strings.TrimPrefix(s, "+")
	s, o.Selector = strings.CutSuffix(s, ".sel")
	s, only, limited := strings.Cut(s, "=")
	if limited {
		if o.Only, err = parseConstants(only); err != nil {
			return o, err
		}
	}
	s, o.Register = strings.CutPrefix(s, "%")
	s, o.NoSum = strings.CutPrefix(s, "%")
	o.NoSum = o.NoSum || o.Selector
	number := ""
	switch s[0] {
	case '!', '-':
		o.Negate = true
		s, o.Extended = strings.CutPrefix(s[1:], "!")
	case '[':
		o.Address = true
		parts := brackets.Split(s[1:len(s)-1], ", ")
		s = parts[0]
		if len(parts) > 1 {
			o.AddressParts, err = parseOperands(f, strings.Join(parts[1:], ", "))
		}
	case '<':
		o.Vector = true
		s, number, _ = strings.Cut(s[1:len(s)-1], "*")
		o.count, err = parseCount(f, number, strings.Contains(text, "*"))
	case '(':
		o.List = true
		s = s[1 : len(s)-1]
	case '#':
		o.Const = true
		s = s[1:]
	case '&':
		o.Label = true
		s, o.Targets = strings.CutPrefix(s[1:], "*")
	}
	if err != nil {
		return o, err
	}
	s, o.Symbol = strings.CutPrefix(s, "@")
	o.Name = s
	switch {
	case o.Label || o.Const:
	case inout:
		o.Access = Read | Write
	case !o.Address && (s == "d" || s == "p" || s == "q"):
		o.Access = Write
	default:
		o.Access = Read
	}
	switch {
	case typ == "any" || typ == "" && (o.Address || o.Label || o.List):
		return o, nil
	case typ == "int":
		o.Integer = true
		return o, nil
	case o.Address && TypeByName(typ) != NoType:
		o.Base = TypeByName(typ)
		return o, nil
	case typ == "":
		typ = "type"
	}
	typ, o.Wider = strings.CutSuffix(typ, "+")
	typ, o.NoFloat = strings.CutSuffix(typ, "-")
	typ, o.Untyped = strings.CutSuffix(typ, "!")
	typ, o.wide = strings.CutSuffix(typ, "*2")
	if o.typ = TypeByName(typ); o.typ == NoType {
		o.slot = typ
	}
	if _, _, space := spaceByName(typ); o.typ == NoType && typ != "type" && !f.HasSlot(typ) && !(o.Address && (space || typ == Generic.String())) {
		return o, fmt.Errorf("operand %q: no type or slot %q", s, typ)
	}
	return o, nil
}

// count is how many registers a vector has: a factor, times a number that a slot gives,
// or the registers that hold a lane's part of a matrix.
type count struct {
	kind   countKind
	factor int
	slot   string // countSlot
	dims   string // countFragment: of the matrix, among m, n and k
	div    int    // countFragment: of the elements, one in so many is there; countSlot: the number is divided by it, and rounded up
}

type countKind uint8

const (
	countVec      countKind = iota // as .vec says: one without, which needs no braces
	countAny                       // any number
	countSlot                      // factor times the number in a slot
	countSpatial                   // the coordinates in space that slot geom has
	countImage                     // two less than the dimensions that slot dim has: those in space
	countStride                    // one less than the dimensions that slot dim has
	countFragment                  // factor × dims ÷ div elements, shared out to 32 lanes
)

// parseCount reads what stands behind the star of <a*4>, <a*2num>, <a*mk/2>.
func parseCount(f *Form, text string, star bool) (count, error) {
	c := count{kind: countVec, factor: 1, div: 1}
	if !star {
		if !f.HasSlot("vec") {
			return c, fmt.Errorf("a vector without a number, and no slot vec")
		}
		return c, nil
	}
	if text == "" {
		c.kind = countAny
		return c, nil
	}
	if text == "xyz" {
		c.kind = countSpatial
		return c, nil
	}
	if text == "dhw" {
		c.kind = countImage
		return c, nil
	}
	if text == "dim-1" {
		c.kind = countStride
		return c, nil
	}
	c.kind = countSlot
	name := strings.TrimLeft(text, "0123456789")
	if digits := text[:len(text)-len(name)]; digits != "" {
		c.factor, _ = strconv.Atoi(digits)
	}
	if strings.Trim(name, "mnk/0123456789") != "" {
		name, div, divided := strings.Cut(name, "/")
		if divided {
			c.div, _ = strconv.Atoi(div)
		}
		c.slot = name
		if !f.HasSlot(name) {
			return c, fmt.Errorf("%q: no slot %s", text, name)
		}
		return c, nil
	}
	if name != "" {
		dims, div, divided := strings.Cut(name, "/")
		c.kind, c.dims = countFragment, dims
		if divided {
			c.div, _ = strconv.Atoi(div)
		}
	}
	return c, nil
}

// single reports whether the operand is <a*1>.
func (o *OperandSpec) single() bool {
	return o.count.kind == countSlot && o.count.slot == "" && o.count.factor == 1
}

// braced reports whether the operand wants braces around a single register: what has as many
// as a matrix or a tensor wants, and gradients; .vec, coordinates of textures and <a*1> do not.
func (o *OperandSpec) braced() bool {
	return o.count.kind == countFragment || o.count.kind == countImage || o.count.kind == countStride || o.count.kind == countSpatial && !o.Optional || o.count.kind == countSlot && o.count.slot != "geom" && !o.single()
}

// Count says how many registers an operand of the form holds that is a vector: from
// least to most.
func (v *Variant) Count(o *OperandSpec) (minimum, maximum int) {
	c := o.count
	n := c.factor
	switch c.kind {
	case countVec:
		n = v.VecLen()
	case countAny:
		return 1, maxVector
	case countSlot:
		if c.slot != "" {
			n = (n*numberOf(v.Slot(c.slot)) + c.div - 1) / c.div
		}
		if c.slot == "geom" {
			if n == 3 {
				n = 4 // padded, except in an example of the manual (9.7.10.3)
			}
			return n, 4 // the elements after the coordinates are ignored (manual 9.7.10.3)
		}
	case countSpatial:
		if n = geometries[v.Slot("geom")].spatial; n == 3 {
			n = 4
		}
		if o.Optional {
			return n, 4 // offsets: the assembler takes longer vectors, as for coordinates
		}
	case countImage:
		n = max(numberOf(v.Slot("dim"))-2, 1)
	case countStride:
		n = max(numberOf(v.Slot("dim"))-1, 1)
	case countFragment:
		t := v.elementType(o)
		reg := max(t.Bits(), 32)
		bits := c.factor * t.Bits()
		for _, d := range c.dims {
			bits *= v.Extent(byte(d))
		}
		n = max(bits/(32*reg*c.div), 1)
	}
	return n, n
}

// lengths are the numbers of registers that an operand of the form may hold that is a vector.
func (v *Variant) lengths(o *OperandSpec) (list []int) {
	minimum, maximum := v.Count(o)
	for n := minimum; n <= maximum; n++ {
		if n != 3 || !o.padded() { // no vector register has three elements
			list = append(list, n)
		}
	}
	return list
}

// padded reports whether elements may follow those that the geometry needs.
func (o *OperandSpec) padded() bool {
	return o.count.slot == "geom" || o.count.kind == countSpatial && o.Optional
}

// maxVector bounds vectors whose length the table leaves to a rule.
const maxVector = 8

// geometries are the numbers of coordinates of textures and surfaces: all, and those
// that are neither index nor sample.
var geometries = map[string]struct{ all, spatial int }{
	"1d": {1, 1}, "2d": {2, 2}, "3d": {3, 3}, "a1d": {2, 1}, "a2d": {3, 2}, "cube": {3, 3}, "acube": {4, 3}, "2dms": {3, 2}, "a2dms": {4, 2},
}

// indices is how many elements of a vector of coordinates stand in front of those in space:
// the index of an array, the number of a sample. They are .u32, whatever the others are.
func (v *Variant) indices(o *OperandSpec) int {
	if o.count.slot != "geom" {
		return 0
	}
	g := geometries[v.Slot("geom")]
	return g.all - g.spatial
}

// coordinates is how many elements of a vector are coordinates: all of them, unless the vector
// is longer than its geometry needs.
func (v *Variant) coordinates(o *OperandSpec, n int) int {
	g := geometries[v.Slot("geom")]
	switch {
	case !o.padded():
		return n
	case o.count.kind == countSpatial:
		return min(g.spatial, n)
	}
	return min(g.all, n)
}

// numberOf is the number that a modifier has: 4 of x4, 2 of 2d and of a1d.
func numberOf(mod string) int {
	if g, ok := geometries[mod]; ok {
		return g.all
	}
	n, _ := strconv.Atoi(strings.Trim(mod, "xd"))
	return n
}

// Extent is the m, n or k of the matrix shape among the modifiers, as in m16n8k16.
func (v *Variant) Extent(dim byte) int {
	for _, m := range v.mods {
		var e [3]int
		if n, _ := fmt.Sscanf(m, "m%dn%dk%d", &e[0], &e[1], &e[2]); n == 3 {
			return e[strings.IndexByte("mnk", dim)]
		}
	}
	panic(fmt.Sprintf("BUG: %s has no shape", v.Text))
}

// elementType is the type that the table gives an operand, before it says in which
// registers the values are.
func (v *Variant) elementType(o *OperandSpec) Type {
	if o.typ != NoType {
		return o.typ
	}
	if o.slot == "" || o.Address {
		return NoType
	}
	t := v.SlotType(o.slot)
	if t == NoType && o.slot == "type" {
		t = v.Type()
	}
	if o.wide {
		t = t.Wide()
	}
	return t
}

// TakesConstant reports whether any constant may stand for the i-th operand: it is read, and
// is no vector of packed numbers.
func (v *Variant) TakesConstant(i int) bool {
	o := &v.Form.Operands[i]
	return o.Reads() && !o.Register && o.Only == nil && !v.elementType(o).packed()
}

// allows reports whether a constant is one that may stand. A mask of all lanes may be written as -1.
func (o *OperandSpec) allows(i Imm) bool {
	n := int64(i.Bits)
	if n == -1 && o.Only != nil && o.Only.Min == math.MaxUint32 {
		n = math.MaxUint32
	}
	return o.Only == nil || i.Kind == IntImm && o.Only.contains(n)
}

// specType is the type that the registers of an operand must have.
func (v *Variant) specType(o *OperandSpec) Type {
	t := v.elementType(o)
	if o.Vector && o.count.kind == countFragment && t.Bits() < 32 || t == TF32 {
		return B32 // packed, or a format that registers do not have
	}
	switch t.Kind() {
	case Float:
		// Formats that registers do not have travel in bit registers. A .bf16
		// operand keeps its type, which says how cvt reads the bits.
		if !t.IsFundamental() && t != BF16 {
			return bitsOf(t.Bits())
		}
	case Bits:
		if !t.IsFundamental() || t == F16x2 || t == BF16x2 {
			return bitsOf(t.Bits())
		}
	}
	return t
}

// bitsOf is the untyped type that holds n bits.
func bitsOf(n int) Type {
	switch {
	case n <= 8:
		return B8
	case n <= 16:
		return B16
	case n <= 32:
		return B32
	case n <= 64:
		return B64
	default:
		return B128
	}
}

// fragmentType is what registers hold that have no type for it: several numbers, or such as make up a
// fragment; NoType if their type says it.
func (v *Variant) fragmentType(o *OperandSpec) Type {
	t := v.elementType(o)
	switch {
	case t.packed():
		return t
	case o.count.kind != countFragment:
	case t == F16:
		return F16x2
	case t == BF16:
		return BF16x2
	case t == TF32, t == E2M1:
		return t
	}
	return NoType
}

// acceptsType reports whether a register of type r, or a vector of registers that make it, may stand for
// an operand that has to be of type want.
func (v *Variant) acceptsType(o *OperandSpec, want, r Type) bool {
	fragment := v.fragmentType(o)
	switch {
	case o.Integer:
		return r.holdsAddress()
	case want == NoType:
		return true
	case fragment != NoType && !fragment.packedIn(r):
		return false
	case o.Untyped && r != bitsOf(r.Bits()):
		return false
	case r == F16x2 && o.typ.IsInt(): // the type of an operand; that of an instruction takes it
		return false
	case o.NoFloat && (r.IsFloat() || r == F16x2) && !v.elementType(o).IsFloat():
		return false
	}
	return want.agrees(r, o.Wider)
}

// HasModifierOf reports whether the variant has the modifier that an optional operand goes with.
func (v *Variant) HasModifierOf(o *OperandSpec) bool {
	return o.requires != "" && v.Slot(o.requires) != ""
}

// SpaceOf is the state space in which an address operand lies.
func (v *Variant) SpaceOf(o *OperandSpec) Space {
	if o.slot == "" {
		s, _ := v.Space()
		return s
	}
	name := o.slot
	if v.Form.HasSlot(name) {
		name = v.Slot(name)
	}
	s, _, _ := spaceByName(name)
	return s
}

// String is the operand as messages write it.
func (o *OperandSpec) String() string {
	s := o.Name
	for i := range o.AddressParts {
		s += ", " + o.AddressParts[i].String()
	}
	switch {
	case o.Address:
		s = "[" + s + "]"
	case o.Vector:
		s = "{" + s + "}"
	case o.List:
		s = "(" + s + ")"
	}
	if o.Optional {
		s = "{" + s + "}"
	}
	return s
}

// operandList writes the operands of a form for a message.
func operandList(f *Form) string {
	if len(f.Operands) == 0 {
		return "none"
	}
	s := ""
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Pair:
			s += "|"
		case i > 0:
			s += ", "
		}
		if o.requires == "" {
			s += o.String()
			continue
		}
		for _, m := range f.mods {
			if m.slot == o.requires {
				s += fmt.Sprintf("{%s with .%s}", o.Name, m.values[0])
			}
		}
	}
	return s
}

package ptx

// This file reads the operands of a form in the notation of the instruction table, and derives the requirements of a
// variant: types, numbers of registers, state spaces.

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gemu/internal/notation"
)

// Access is the use of an operand's registers by an instruction.
type Access uint8

// The kinds of access. A label or a constant of the encoding has no registers, so its Access is 0.
const (
	Read  Access = 1 << iota // the instruction reads the registers
	Write                    // the instruction writes the registers
)

// OperandSpec describes an operand of a form.
type OperandSpec struct {
	Name         string        // name in the manual's syntax, such as "d" or "a"; the key of Instr.Arg
	Access       Access        // use of the operand's registers; 0 for a label or a constant of the encoding
	Optional     bool          // may be left out; if it depends on a slot (requires), it is present exactly if the slot is filled
	Pair         bool          // joined with "|" to the operand before it
	Address      bool          // [a]
	AddressParts []OperandSpec // the parts of an address after its base
	Label        bool          // a label; with Targets, the name of a list
	Targets      bool          // a label that names a list: .branchtargets, or targets or prototype of a call
	Const        bool          // an integer constant
	Allowed      *Constants    // the allowed integer constants; nil if all are allowed
	Register     bool          // must not be a constant
	NoSum        bool          // must not be the sum of a register and a constant
	List         bool          // (a, b, …): arguments and results of a call
	Negate       bool          // may be written !p or -a
	Extended     bool          // Negate comes from NVIDIA's assembler; the manual does not mention it
	Selector     bool          // may select bytes or halves of a register: a.b0, a.h10
	Sink         bool          // may be _, which discards the result
	Symbol       bool          // may be the address of a variable or function
	Vector       bool          // {a, b, …}, with Variant.Count registers
	Alt          *OperandSpec  // alternative shape of the operand
	MayBeWider   bool          // a register may be wider than the type
	Integer      bool          // a register is an integer or untyped one of 32 or 64 bits
	NoFloat      bool          // an integer must not be in a register of floats or halves
	Untyped      bool          // a register must have a .b type
	Base         Type          // register type of an address that must be a register and no variable; else NoType
	requires     string        // the slot on which an optional operand depends; "" if there is none
	count        count         // number of registers in a vector
	typ          Type          // type given in the table; NoType if slot or nothing decides it
	slot         string        // slot with the type or, for an address, slot or name of the state space; "" if none decides
	wide         bool          // twice the width of the slot's type
	element      bool          // element of a vector or a list
}

// Constants are the integers from Min to Max, both included, with the distance Step, which is at least 1.
type Constants struct{ Min, Max, Step int64 }

// parseConstants reads constants such as 128, 0..1 and 0..64/8.
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

// Reads reports whether the instruction reads the operand's registers.
func (o *OperandSpec) Reads() bool { return o.Access&Read != 0 }

// parseOperands reads a list such as "d|p?:pred, [a, <b*2>], #c".
func parseOperands(f *Form, text string) ([]OperandSpec, error) {
	var list []OperandSpec
	for _, field := range notation.Split(text, ", ") {
		for i, s := range notation.Split(field, "|") {
			first, other, hasAlt := notation.Cut(s, " or ")
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

// parseOperand reads an operand.
func parseOperand(f *Form, text string) (o OperandSpec, err error) {
	s, typ := text, ""
	if parts := notation.Split(text, ":"); len(parts) == 2 {
		s, typ = parts[0], parts[1]
	}
	if parts := notation.Split(s, "?"); len(parts) == 2 {
		s, o.Optional, o.requires = parts[0], true, parts[1]
		if o.requires != "" && !f.HasSlot(o.requires) {
			return o, fmt.Errorf("operand %q: no slot %s", text, o.requires)
		}
	}
	s, o.Sink = strings.CutPrefix(s, "_")
	inout := strings.HasPrefix(s, "+")
	s = strings.TrimPrefix(s, "+")
	s, o.Selector = strings.CutSuffix(s, ".sel")
	s, constants, limited := strings.Cut(s, "=")
	if limited {
		if o.Allowed, err = parseConstants(constants); err != nil {
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
		parts := notation.Split(s[1:len(s)-1], ", ")
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
	typ, o.MayBeWider = strings.CutSuffix(typ, "+")
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

// count determines the number of registers in a vector: a factor times the number in a slot, or the registers of a
// lane's part of a matrix.
type count struct {
	kind   countKind
	factor int
	slot   string // for countSlot: the slot
	dims   string // for countFragment: the dimensions of the matrix, among m, n and k
	// div is a divisor, at least 1. countSlot divides the number by div and rounds up. countFragment has only one of div
	// elements in registers.
	div int
}

type countKind uint8

const (
	countVec      countKind = iota // the length of .vec; 1 without .vec, where braces are optional
	countAny                       // any number
	countSlot                      // factor times the number in a slot
	countSpatial                   // the spatial coordinates of slot geom
	countImage                     // two less than the dimensions of slot dim: the spatial dimensions
	countStride                    // one less than the dimensions of slot dim
	countFragment                  // factor × dims ÷ div elements, distributed to 32 lanes
)

// parseCount reads the text after the star of <a*4>, <a*2num>, <a*mk/2>.
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

// braced reports whether even a single register needs braces. It is true for matrices, tensors and gradients, and false
// for .vec, coordinates of textures and <a*1>.
func (o *OperandSpec) braced() bool {
	return o.count.kind == countFragment || o.count.kind == countImage || o.count.kind == countStride || o.count.kind == countSpatial && !o.Optional || o.count.kind == countSlot && o.count.slot != "geom" && !o.single()
}

// Count returns the minimum and maximum number of registers in a vector operand.
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
			return n, 4 // offsets: NVIDIA's assembler accepts longer vectors, as for coordinates
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

// lengths returns the allowed numbers of registers in a vector operand.
func (v *Variant) lengths(o *OperandSpec) (list []int) {
	minimum, maximum := v.Count(o)
	for n := minimum; n <= maximum; n++ {
		if n != 3 || !o.padded() { // no vector register has three elements
			list = append(list, n)
		}
	}
	return list
}

// padded reports whether more elements than the geometry needs are allowed.
func (o *OperandSpec) padded() bool {
	return o.count.slot == "geom" || o.count.kind == countSpatial && o.Optional
}

// maxVector bounds the length of vectors for which the table gives no length. A function of rules checks their length.
const maxVector = 8

// geometries gives, by the word in slot geom, the number of coordinates of a texture or surface: all, and the spatial
// coordinates, without the array index and the sample number.
var geometries = map[string]struct{ all, spatial int }{
	"1d": {1, 1}, "2d": {2, 2}, "3d": {3, 3}, "a1d": {2, 1}, "a2d": {3, 2}, "cube": {3, 3}, "acube": {4, 3}, "2dms": {3, 2}, "a2dms": {4, 2},
}

// indices returns the number of elements before the spatial coordinates of a vector: an array index or a sample number.
// They are .u32, regardless of the type of the coordinates.
func (v *Variant) indices(o *OperandSpec) int {
	if o.count.slot != "geom" {
		return 0
	}
	g := geometries[v.Slot("geom")]
	return g.all - g.spatial
}

// coordinates returns the number of coordinates in a vector of n elements: all of them, unless the vector is longer
// than its geometry needs.
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

// numberOf returns the number in a modifier: 4 for x4, and the number of coordinates for a geometry (2 for 2d and a1d).
func numberOf(mod string) int {
	if g, ok := geometries[mod]; ok {
		return g.all
	}
	n, _ := strconv.Atoi(strings.Trim(mod, "xd"))
	return n
}

// Extent returns the m, n or k of the matrix shape among the modifiers, such as m16n8k16.
func (v *Variant) Extent(dim byte) int {
	for _, m := range v.mods {
		if e, ok := parseShape(m); ok {
			return e[strings.IndexByte("mnk", dim)]
		}
	}
	panic(fmt.Sprintf("BUG: %s has no shape", v.Text))
}

// parseShape returns the m, n and k of a modifier with the shape of a matrix, such as m16n8k16. It runs for every vector
// of a matrix instruction, so it does not use package fmt.
func parseShape(mod string) (extents [3]int, ok bool) {
	for i := range extents {
		rest, found := strings.CutPrefix(mod, "mnk"[i:i+1])
		mod = strings.TrimLeft(rest, "0123456789")
		n, err := strconv.Atoi(rest[:len(rest)-len(mod)])
		if !found || err != nil {
			return extents, false
		}
		extents[i] = n
	}
	return extents, mod == ""
}

// elementType returns the operand's type according to the table, which may differ from the type of its registers.
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

// TakesConstant reports whether the i-th operand can be any constant: it is read, and is no vector of packed numbers.
func (v *Variant) TakesConstant(i int) bool {
	o := &v.Form.Operands[i]
	return o.Reads() && !o.Register && o.Allowed == nil && !v.elementType(o).packed()
}

// allows reports whether the constant is allowed. Where only the mask of all lanes is allowed (0xffffffff), -1 is, too.
func (o *OperandSpec) allows(i Imm) bool {
	n := int64(i.Bits)
	if n == -1 && o.Allowed != nil && o.Allowed.Min == math.MaxUint32 {
		n = math.MaxUint32
	}
	return o.Allowed == nil || i.Kind == IntImm && o.Allowed.contains(n)
}

// specType returns the required type of an operand's registers; NoType if any type is allowed.
func (v *Variant) specType(o *OperandSpec) Type {
	t := v.elementType(o)
	if o.Vector && o.count.kind == countFragment && t.Bits() < 32 || t == TF32 {
		return B32 // packed, or a format without registers of its own
	}
	switch t.Kind() {
	case Float:
		// Formats without registers of their own use untyped registers. A .bf16 operand keeps its type, which tells cvt
		// how to read the bits.
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

// bitsOf returns the untyped type of n bits, rounded up to a type of PTX.
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

// fragmentType returns the type of the contents if the register type does not show it: packed numbers, or parts of a
// fragment. It returns NoType otherwise.
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

// acceptsType reports whether a register of type r, or a vector whose registers together have type r, is allowed for an
// operand of type want.
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
	case r == F16x2 && o.typ.IsInt(): // rejected only if the table gives the type; a type in a slot accepts it
		return false
	case o.NoFloat && (r.IsFloat() || r == F16x2) && !v.elementType(o).IsFloat():
		return false
	}
	return want.agrees(r, o.MayBeWider)
}

// HasModifierOf reports whether the variant has the modifier on which the optional operand depends.
func (v *Variant) HasModifierOf(o *OperandSpec) bool {
	return o.requires != "" && v.Slot(o.requires) != ""
}

// SpaceOf returns the state space of an address operand.
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

// String returns the operand in the notation of messages.
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

// operandList returns the operands of a form in the notation of messages.
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

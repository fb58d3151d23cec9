package ptx

// This file checks declarations: variables and parameters with their types and initialisers (manual chapter 5, 7.1).

import (
	"slices"
	"strconv"
	"strings"

	"gemu/internal/notation"
	"gemu/ptx/internal/syntax"
)

// variables builds the variables of declarator i of a declaration: one variable, or N for "name<N>"; nil after a problem.
func (c *checker) variables(d *syntax.Var, i int, link Linkage) []*Var {
	n := &d.Names[i]
	v := c.variable(d, i, link)
	if v == nil {
		return nil
	}
	if !n.Range {
		return []*Var{v}
	}
	switch {
	case len(n.Dims) > 0 || n.Init != nil:
		c.errorf(v.Pos, "%s<%d>: a range of names cannot have an array size or an initialiser", v.Name, n.Count)
		return nil
	case n.Count > syntax.MaxRange:
		c.errorf(v.Pos, "%s<%d>: a range of variables has at most %d names", v.Name, n.Count, syntax.MaxRange)
		return nil
	}
	vars := make([]*Var, n.Count)
	for j := range vars {
		member := *v
		member.Name = v.Name + strconv.Itoa(j)
		vars[j] = &member
	}
	return vars
}

// variable builds the variable of declarator i of a declaration; nil after a problem. For a range name<N> it has the
// name without the number.
func (c *checker) variable(d *syntax.Var, i int, link Linkage) *Var {
	n := &d.Names[i]
	// Clone the name: messages about freed memory keep names longer than the module, and a substring would keep the
	// whole source.
	v := &Var{Pos: Pos(n.Pos), Name: strings.Clone(n.Name), Linkage: link, Vec: 1, Dims: n.Dims, Reg: NoReg}
	if !c.qualify(v, d.Quals) {
		c.broken[v.Name] = true
		return nil
	}
	if msg := badType(v); msg != "" {
		c.errorf(v.Pos, "%s: %s", v.Name, msg)
		c.broken[v.Name] = true
		return nil
	}
	size := v.ElemSize()
	for j, n := range v.Dims {
		if n < 0 && j == 0 {
			continue
		}
		if n <= 0 || size > 1<<40/n {
			c.errorf(v.Pos, "%s: bad array size: extents must be positive, and an array has at most 2^40 bytes", v.Name)
			c.broken[v.Name] = true
			return nil
		}
		size *= n
	}
	if v.Unbounded() && n.Init == nil && link != Extern && v.Space != Param {
		c.errorf(v.Pos, "%s: an array without an initialiser must have a size", v.Name)
		c.broken[v.Name] = true
		return nil
	}
	return v
}

// pointedTo lists the state spaces permitted after .ptr (manual 6.4.2.1).
var pointedTo = []string{"const", "global", "local", "shared"}

// The order of the words in a declaration: a space, .align and .attribute in any order, then a vector length and the
// type. A kernel parameter continues with .ptr, the space or opaque type it points to, and the alignment.
const (
	atSpace = iota
	atVector
	atType
	atPtr
	atPtrSpace
	atPtrAlign
)

// qualify checks the words before a variable's name and stores their meaning in v. It reports whether all are valid.
func (c *checker) qualify(v *Var, quals []syntax.Qualifier) bool {
	valid := true
	last := atSpace // position of the last word
	fail := func(q *syntax.Qualifier, format string, args ...any) {
		c.errorf(Pos(q.Pos), format, args...)
		valid = false
	}
	place := func(q *syntax.Qualifier, p int) {
		if p < last || p == last && p != atSpace {
			fail(q, "%s: %s must come earlier in the declaration", v.Name, q.Name)
		}
		last = max(last, p)
	}
	texture := false
	for i := range quals {
		q := &quals[i]
		word := strings.TrimPrefix(q.Name, ".")
		if t := TypeByName(word); t != NoType {
			if v.IsPtr && v.PtrType == NoType && t.Kind() == Opaque {
				place(q, atPtrSpace)
				v.PtrType = t
				continue
			}
			if v.Type != NoType {
				fail(q, "%s: a second type, %s", v.Name, q.Name)
				continue
			}
			place(q, atType)
			v.Type = t
			continue
		}
		if s, _, ok := spaceByName(word); ok {
			space, p := &v.Space, atSpace
			if v.IsPtr {
				space, p = &v.PtrSpace, atPtrSpace
				if !slices.Contains(pointedTo, word) {
					fail(q, "%s: %s after .ptr, want .const, .global, .local or .shared", v.Name, q.Name)
					continue
				}
			}
			if *space != Generic {
				fail(q, "%s: a second state space, %s", v.Name, q.Name)
				continue
			}
			place(q, p)
			*space = s
			continue
		}
		switch q.Name {
		case ".align":
			a, _ := strconv.Atoi(q.Args[0])
			if a <= 0 || a&(a-1) != 0 || a > 1<<31 {
				fail(q, ".align %s: must be a power of two up to 2^31", q.Args[0])
			}
			if v.IsPtr {
				place(q, atPtrAlign)
				v.PtrAlign = a
			} else {
				place(q, atSpace)
				v.Align = a
			}
		case ".ptr":
			place(q, atPtr)
			v.IsPtr = true
		case ".v2", ".v4":
			if v.Vec > 1 {
				fail(q, "%s: a second vector length, %s", v.Name, q.Name)
				continue
			}
			place(q, atVector)
			v.Vec = int(q.Name[2] - '0')
		case ".attribute":
			place(q, atSpace)
			if !areAttributes(q.Args) {
				fail(q, "%s: want .attribute(.managed) or .attribute(.unified(NUMBER, NUMBER))", v.Name)
			}
			v.Attributes = append(v.Attributes, strings.Join(q.Args, ""))
		case ".tex": // ".tex .u32 t" is the old spelling of ".global .texref t"
			place(q, atSpace)
			v.Space, texture = Global, true
		default:
			c.report(Pos(q.Pos), notation.Nearest(q.Name, declWords), "unknown word %s in a declaration", q.Name)
			valid = false
		}
	}
	if v.Type == NoType && valid {
		c.errorf(v.Pos, "%s is declared without a type", v.Name)
		valid = false
	}
	if texture {
		if v.Type != U32 && v.Type != U64 && valid {
			c.errorf(v.Pos, "%s: a .tex variable is .u32 or .u64, not %s", v.Name, v.Type)
			valid = false
		}
		v.Type = TexRef
	}
	return valid
}

// areAttributes reports whether tokens are the text within the parentheses of an .attribute (manual 5.4.8): .managed and
// .unified(NUMBER, NUMBER), separated by commas.
func areAttributes(tokens []string) bool {
	isNumber := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	for {
		switch n := len(tokens); {
		case n >= 1 && tokens[0] == ".managed":
			tokens = tokens[1:]
		case n >= 6 && tokens[0] == ".unified" && tokens[1] == "(" && isNumber(tokens[2]) && tokens[3] == "," && isNumber(tokens[4]) && tokens[5] == ")":
			tokens = tokens[6:]
		default:
			return false
		}
		if len(tokens) == 0 {
			return true
		}
		if tokens[0] != "," {
			return false
		}
		tokens = tokens[1:]
	}
}

var declWords = func() []string {
	words := []string{".align", ".ptr", ".v2", ".v4", ".attribute", ".reg", ".const", ".global", ".local", ".param", ".shared"}
	for t := NoType + 1; t < typeCount; t++ {
		words = append(words, t.String())
	}
	return words
}()

// badType returns the reason why a variable cannot have its type (manual 5.2, 5.3, 5.4.2), "" if it can.
func badType(v *Var) string {
	bits := v.Type.Bits() * v.Vec
	switch {
	case v.Space == RegSpace && !v.Type.IsFundamental():
		return v.Type.String() + " is not a register type"
	case v.Space == RegSpace && len(v.Dims) > 0:
		return "a register cannot have an array size"
	case v.Space != RegSpace && v.Type == Pred:
		return "a .pred variable can only be a register"
	case v.Linkage == Common && v.Space != Global:
		return "only a .global variable can be .common"
	case v.Type.Kind() == Opaque && v.Space != Global && v.Space != Param:
		return "a " + v.Type.String() + " can only be a .global variable or a kernel parameter"
	case v.Type.Kind() != Opaque && !v.Type.IsFundamental():
		return v.Type.String() + " is a data format of instructions, not a type of variables"
	case v.Vec > 1 && (v.Type == Pred || v.Type.Kind() == Opaque):
		return "vectors of " + v.Type.String() + " do not exist"
	case v.Vec > 1 && bits > 128:
		return "a vector of " + strconv.Itoa(bits) + " bits, more than 128 bits"
	}
	return ""
}

// params builds the parameters or the return values of a function.
func (c *checker) params(f *Func, list []*syntax.Param) []*Var {
	var vars []*Var
	for i, p := range list {
		v := c.variable(&p.Var, 0, Internal)
		if v == nil {
			continue
		}
		switch n := &p.Names[0]; {
		case v.Space == RegSpace && f.Entry:
			c.errorf(v.Pos, "kernel parameter %s: must be in .param space", v.Name)
		case v.Space != RegSpace && v.Space != Param:
			c.errorf(v.Pos, "parameter %s: must be in .param or .reg space", v.Name)
		case n.Range || n.Init != nil:
			c.errorf(v.Pos, "parameter %s: a range of names or an initialiser is not allowed", v.Name)
		case v.Space == Param && v.Vec > 1:
			c.errorf(v.Pos, "parameter %s: a vector is not allowed in .param space", v.Name)
		case v.IsPtr && !f.Entry:
			c.errorf(v.Pos, "parameter %s: .ptr is allowed only for kernel parameters", v.Name)
		case v.Name == "_" && f.Name != "_":
			c.errorf(v.Pos, "a parameter must have a name: _ is allowed only in a .callprototype")
		case v.Type.Kind() == Opaque && !f.Entry:
			c.errorf(v.Pos, "parameter %s: a %s can only be a parameter of a kernel", v.Name, v.Type)
		case v.Unbounded() && (f.Entry || i < len(list)-1):
			c.errorf(v.Pos, "parameter %s: only the last parameter of a .func may be an array without a size", v.Name)
		}
		if v.Space != RegSpace || v.Vec == 1 {
			vars = append(vars, v)
			continue
		}
		// A vector in registers is passed as its components.
		f.vectors = append(f.vectors, v)
		for i := range v.Vec {
			part := *v
			part.Name, part.Vec = component(v.Name, i), 1
			vars = append(vars, &part)
		}
	}
	return vars
}

// initialiser checks an initialiser and stores its elements in v.Init, in memory order. scope has the names of the
// function's body; nil at module level.
func (c *checker) initialiser(v *Var, init *syntax.Value, scope *nameScope) {
	v.HasInit = true
	pos := Pos(init.Pos)
	switch {
	case v.Space != Global && v.Space != Const:
		c.errorf(pos, ".%s variable %s cannot have an initialiser", v.Space, v.Name)
		return
	case v.Linkage == Extern:
		c.errorf(pos, ".extern variable %s cannot have an initialiser", v.Name)
		return
	case v.Type == F16 || v.Type == F16x2:
		c.errorf(pos, "%s: a variable of type %s cannot have an initialiser", v.Name, v.Type)
		return
	case v.Type.Kind() == Opaque:
		c.fields(v, init)
		return
	}
	shape := slices.Clone(v.Dims)
	if v.Vec > 1 {
		shape = append(shape, v.Vec)
	}
	next := 0
	n := c.fill(v, init, shape, &next, scope)
	if !v.Unbounded() {
		return
	}
	// The initialiser determines the size of an array "[]".
	if init.IsList() && n == 0 {
		c.errorf(pos, "%s: an array must have at least one element", v.Name)
		return
	}
	v.Dims = slices.Clone(v.Dims)
	v.Dims[0] = n
}

// fill stores a value of the given shape. *next is the index of its first element in the variable; fill advances it past
// the value. Braces group values without placing them: the values after an incomplete row continue the row, as in
// NVIDIA's assembler. fill returns the number of elements in the outermost list of the value.
func (c *checker) fill(v *Var, val *syntax.Value, shape []int, next *int, scope *nameScope) (n int) {
	switch {
	case !val.IsList() && len(shape) > 0:
		c.errorf(Pos(val.Pos), "%s: the initialiser of an array must be a list { … }", v.Name)
		return 0
	case !val.IsList():
		c.initElem(v, val, *next, scope)
		*next++
		return 0
	case len(shape) == 0:
		c.errorf(Pos(val.Pos), "%s: too many braces", v.Name)
		return 0
	}
	errs := val.Each(func(e *syntax.Value) {
		switch {
		case shape[0] < 0 || n < shape[0]:
			c.fill(v, e, shape[1:], next, scope)
		case n == shape[0]:
			c.errorf(Pos(e.Pos), "%s: the initialiser has more than %d elements", v.Name, shape[0])
		}
		n++
	})
	for _, e := range errs {
		c.report(Pos(e.Pos), e.Hint, "%s", e.Msg)
	}
	if v.Vec > 1 && len(shape) == 1 && n < shape[0] {
		c.errorf(Pos(val.Pos), "%s: a vector has %d elements, but its initialiser has %d", v.Name, v.Vec, n)
	}
	return n
}

// initElem checks one element, a number or an address, and stores it as element number index of the variable.
func (c *checker) initElem(v *Var, val *syntax.Value, index int, scope *nameScope) {
	e := Init{Elem: index, Mask: val.Mask}
	pos := Pos(val.Pos)
	switch {
	case val.Field != "":
		c.errorf(pos, "%s: %s has no field %s", v.Name, v.Type, val.Field)
		return
	case e.Mask != 0 && !byteMask(e.Mask):
		c.errorf(pos, "%s: mask %#x must select one byte", v.Name, e.Mask)
		return
	}
	if val.Sym == "" {
		imm := immOf(val.Const)
		if e.Mask != 0 {
			imm.Bits = imm.Bits & e.Mask / (e.Mask & -e.Mask)
		}
		switch {
		case imm.Kind == IntImm && v.Type.IsFloat():
			c.errorf(pos, "%s: the initial value of %s is an integer, want a float such as %d.0", v.Name, v.Type, int64(imm.Bits))
		case imm.Kind != IntImm && (v.Type.IsInt() || v.Type.Bits() < 32):
			c.errorf(pos, "%s: the initial value of %s is a float, want an integer", v.Name, v.Type)
		}
		v.number(index, imm.Encode(v.Type))
		return
	}
	var sym Symbol
	if scope != nil {
		if ent, ok := scope.lookup(val.Sym); ok && ent.v != nil {
			sym = ent.v
		}
	}
	if sym == nil {
		sym = c.mod.symbols[val.Sym]
	}
	if sym == nil {
		c.unknown(pos, "unknown name", val.Sym, notation.Nearest(val.Sym, c.symbolNames()))
		return
	}
	e.Sym, e.Generic, e.Offset = sym, val.Generic, offset(sym, &val.Expr)
	target, isVar := sym.(*Var)
	switch {
	case isVar && target.Space != Global && target.Space != Const:
		c.errorf(pos, "%s: the address of %s is not a constant, because it is in .%s space", v.Name, target.Name, target.Space)
	case val.Index != "":
		c.errorf(pos, "%s: the index %s of %s is not a constant", v.Name, val.Index, val.Sym)
	case v.Type.Bits() > 64 || v.Type.IsFloat() || e.Mask == 0 && v.Type.Size() < c.mod.AddressSize/8 && v.Type.Size() != 4:
		c.errorf(pos, "%s: %s does not hold an address", v.Name, v.Type)
	}
	v.Init = append(v.Init, e)
}

// number stores the bits of element number index. Consecutive numbers share an Init.
func (v *Var) number(index int, bits uint64) {
	size := v.Type.Size()
	n := len(v.Init)
	if n == 0 || v.Init[n-1].Sym != nil || v.Init[n-1].Elem+len(v.Init[n-1].Data)/size != index {
		v.Init = append(v.Init, Init{Elem: index})
		n++
	}
	run := &v.Init[n-1]
	for i := range size {
		b := byte(0)
		if i < 8 {
			b = byte(bits >> (8 * i))
		}
		run.Data = append(run.Data, b)
	}
}

// offset returns the distance in bytes of an expression from its symbol.
func offset(s Symbol, e *syntax.Expr) int64 {
	if v, ok := s.(*Var); ok && e.Element {
		return int64(e.Const.Bits) * int64(v.Type.Size()) // an index into a vector counts its numbers
	}
	return int64(e.Const.Bits)
}

// byteMask reports whether the mask selects one of the eight bytes.
func byteMask(m uint64) bool {
	for i := 0; i < 64; i += 8 {
		if m == 0xff<<i {
			return true
		}
	}
	return false
}

// fields checks the initial values of the properties of a texture, sampler or surface (manual 5.3).
func (c *checker) fields(v *Var, init *syntax.Value) {
	if !init.IsList() || len(v.Dims) > 0 {
		c.errorf(Pos(init.Pos), "%s: a %s needs a list of properties { name = value, … }", v.Name, v.Type)
		return
	}
	errs := init.Each(func(f *syntax.Value) {
		value := f.Sym
		if value == "" {
			value = strconv.FormatUint(f.Const.Bits, 10)
		}
		words, known := opaqueFields[f.Field]
		switch {
		case !known:
			c.errorf(Pos(f.Pos), "%s: want a property of a %s, such as filter_mode = nearest", v.Name, v.Type)
		case f.IsList() || words == nil && (f.Sym != "" || f.Const.Kind >= syntax.F32) || words != nil && !slices.Contains(words, f.Sym):
			want := "a number"
			if words != nil {
				want = strings.Join(words, ", ")
			}
			c.errorf(Pos(f.Pos), "%s: bad value of %s, want %s", v.Name, f.Field, want)
		}
		v.Fields = append(v.Fields, Field{f.Field, value})
	})
	for _, e := range errs {
		c.report(Pos(e.Pos), e.Hint, "%s", e.Msg)
	}
}

// opaqueFields maps each property to its possible words; nil means a number.
var opaqueFields = map[string][]string{
	"width": nil, "height": nil, "depth": nil, "channel_data_type": nil, "channel_order": nil,
	"normalized_coords": nil, "force_unnormalized_coords": nil, "array_size": nil,
	"num_mipmap_levels": nil, "num_samples": nil, "memory_layout": nil,
	"filter_mode": {"nearest", "linear"},
	"addr_mode_0": addressModes, "addr_mode_1": addressModes, "addr_mode_2": addressModes,
}

var addressModes = []string{"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"}

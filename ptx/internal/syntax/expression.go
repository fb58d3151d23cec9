package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// precedence contains the binary operators (manual section 4.5.3); an operator with a greater number binds tighter.
var precedence = map[string]int{
	"?": 1, "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7,
	"<": 8, "<=": 8, ">": 8, ">=": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}

// expr reads an expression that begins with a name (symbol), or reads and evaluates a constant expression.
func (r *reader) expr(depth int) (Expr, *Error) {
	if t := r.peek(); t.typ == tokIdent && t.text != "WARP_SZ" {
		return r.symbol(depth)
	}
	c, err := r.binary(1, depth)
	return Expr{Const: c}, err
}

// symbol reads an expression that begins with a name: the name plus a constant, name[…], or generic(name) plus a constant.
// The constant may be missing.
func (r *reader) symbol(depth int) (e Expr, err *Error) {
	e.Sym = r.next().text
	if r.peek().typ == tokDot { // a component separated by white space
		e.Sym += r.next().text
	}
	switch {
	case r.accept("["):
		return e, r.element(&e, depth)
	case e.Sym == "generic" && r.accept("("):
		e.Generic = true
		if e.Sym, _, err = r.ident("a name"); err == nil {
			err = r.expect(")")
		}
		if err != nil {
			return e, err
		}
	}
	switch {
	case r.isNext("-"):
		return e, r.unexpected(fmt.Sprintf(`"+" after %s, as in %s+-4`, e.Sym, e.Sym))
	case r.accept("+"):
		e.Const, err = r.offset(depth)
	}
	return e, err
}

// offset reads an integer expression.
func (r *reader) offset(depth int) (Const, *Error) {
	pos := r.peek().pos
	c, err := r.binary(1, depth+1)
	if err == nil && c.Kind >= F32 {
		err = &Error{Pos: pos, Msg: "the offset is a float, want an integer"}
	}
	return c, err
}

// element reads the text after "name[", with its "]" (manual 6.4.2): a constant index, or a register with the index, plus
// a constant.
func (r *reader) element(e *Expr, depth int) *Error {
	pos := r.peek().pos
	i, err := r.expr(depth + 1)
	switch {
	case err != nil:
		return err
	case i.Const.Kind >= F32 || i.Generic || i.Element || i.Index != "":
		return &Error{Pos: pos, Msg: "an index must be an integer, or a register plus an integer"}
	}
	e.Element, e.Index, e.Const = i.Sym == "", i.Sym, i.Const
	return r.expect("]")
}

// integer reads an integer literal, which must be next.
func (r *reader) integer() (Const, *Error) {
	t := r.peek()
	if t.typ != tokInt {
		return Const{}, r.unexpected("an integer")
	}
	return r.unary(0)
}

// binary reads and evaluates an expression of operators with at least the given precedence.
func (r *reader) binary(lowest, depth int) (Const, *Error) {
	left, err := r.unary(depth)
	if err != nil {
		return left, err
	}
	return r.binaryAfter(left, lowest, depth)
}

// binaryAfter is binary after its first operand, left, has been read.
func (r *reader) binaryAfter(left Const, lowest, depth int) (Const, *Error) {
	var err *Error
	for err == nil {
		t := r.peek()
		if t.typ != tokPunct {
			return left, nil
		}
		prec := precedence[t.text]
		if prec < lowest {
			return left, nil
		}
		r.next()
		pos := t.pos
		if t.text == "?" {
			left, err = r.choice(left, pos, depth)
			continue
		}
		var right Const
		if right, err = r.binary(prec+1, depth+1); err != nil {
			return left, err
		}
		left, err = fold(t.text, left, right, pos)
	}
	return left, err
}

// choice reads "a : b" after "cond ?" (manual 4.5.5), and returns a or b. Both must be integers or both floats; the result
// is unsigned if a or b is.
func (r *reader) choice(cond Const, pos Pos, depth int) (Const, *Error) {
	a, err := r.binary(1, depth+1)
	if err != nil {
		return a, err
	}
	if err := r.expect(":"); err != nil {
		return a, err
	}
	b, err := r.binary(1, depth+1)
	switch {
	case err != nil:
		return b, err
	case cond.Kind >= F32:
		return a, &Error{Pos: pos, Msg: "operator ? needs an integer as its condition"}
	}
	kind, err := common("?", a, b, pos)
	if cond.Bits == 0 {
		a = b
	}
	a.Kind = kind
	return a, err
}

// unary reads and evaluates a number, an expression in parentheses, or one of these after unary operators or casts.
func (r *reader) unary(depth int) (Const, *Error) {
	t := r.peek()
	pos := t.pos
	if depth > maxNesting {
		return Const{}, nestingError(pos, "expression")
	}
	switch t.typ {
	case tokInt:
		r.next()
		c, ok := integer(t.text)
		if !ok {
			return c, &Error{Pos: pos, Msg: fmt.Sprintf("number %s does not fit in 64 bits", t.text)}
		}
		return c, nil
	case tokFloat:
		r.next()
		return float(t.text), nil
	case tokIdent:
		if t.text != "WARP_SZ" {
			return Const{}, &Error{Pos: pos, Msg: fmt.Sprintf("%s is not a constant", t.text)}
		}
		r.next()
		return Const{Signed, 32}, nil
	case tokPunct:
		switch t.text {
		case "-", "+", "!", "~":
			r.next()
			c, err := r.unary(depth + 1)
			if err != nil {
				return c, err
			}
			return c, c.apply(t.text, pos)
		case "(":
			r.next()
			if t := r.peek(); t.typ == tokDot && (t.text == ".s64" || t.text == ".u64") { // cast
				r.next()
				if err := r.expect(")"); err != nil {
					return Const{}, err
				}
				c, err := r.unary(depth + 1)
				if err != nil {
					return c, err
				}
				return c, c.apply(t.text, pos)
			}
			c, err := r.binary(1, depth+1)
			if err != nil {
				return c, err
			}
			return c, r.expect(")")
		}
	}
	return Const{}, r.unexpected("an operand")
}

// apply applies a unary operator or a cast to the constant.
func (c *Const) apply(op string, pos Pos) *Error {
	switch {
	case op == "-" && c.Kind == F64:
		c.Bits ^= 1 << 63
	case op == "-" && c.Kind == F32:
		c.Bits ^= 1 << 31
	case op == "-":
		c.Bits = -c.Bits
	case c.Kind >= F32 && op != "+":
		return &Error{Pos: pos, Msg: fmt.Sprintf("operator %s needs an integer", op)}
	case op == "!":
		*c = truth(c.Bits == 0)
	case op == "~":
		*c = Const{Unsigned, ^c.Bits}
	case op == ".s64":
		c.Kind = Signed
	case op == ".u64":
		c.Kind = Unsigned
	}
	return nil
}

// truth returns the value of a logical expression: 1 if b, else 0.
func truth(b bool) Const {
	if b {
		return Const{Signed, 1}
	}
	return Const{Signed, 0}
}

// integer evaluates an integer literal. It is truncated to 64 bits without a message, as in NVIDIA's assembler. ok is false
// if the digits before the last one already give 2^63 or more.
func integer(s string) (c Const, ok bool) {
	if strings.HasSuffix(s, "U") {
		c.Kind, s = Unsigned, s[:len(s)-1]
	}
	base := uint64(10)
	if len(s) > 1 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			base, s = 16, s[2:]
		case 'b', 'B':
			base, s = 2, s[2:]
		default:
			base, s = 8, s[1:]
		}
	}
	for i := range len(s) {
		if c.Bits > math.MaxInt64 {
			return c, false
		}
		digit := uint64(s[i] - '0')
		if s[i] > '9' {
			digit = uint64(s[i]|0x20-'a') + 10
		}
		c.Bits = c.Bits*base + digit
	}
	if c.Bits > math.MaxInt64 {
		c.Kind = Unsigned
	}
	return c, true
}

// float evaluates a float literal.
func float(s string) Const {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			v, _ := strconv.ParseUint(s[2:], 16, 32)
			return Const{F32, v}
		case 'd', 'D':
			v, _ := strconv.ParseUint(s[2:], 16, 64)
			return Const{F64, v}
		}
	}
	v, _ := strconv.ParseFloat(s, 64) // out of range gives ±Inf, as the manual requires
	return Const{F64, math.Float64bits(v)}
}

// fold applies a binary operator (manual sections 4.5.5, 4.5.6); pos is its place.
func fold(op string, x, y Const, pos Pos) (Const, *Error) {
	kind, err := common(op, x, y, pos)
	if err != nil {
		return x, err
	}
	if kind == F64 {
		return foldFloat(op, x, y, pos)
	}
	signed := kind == Signed
	var v uint64
	p, q := x.Bits, y.Bits
	switch op {
	case "+":
		v = p + q
	case "-":
		v = p - q
	case "*":
		v = p * q
	case "/", "%":
		switch {
		case q == 0:
			return x, &Error{Pos: pos, Msg: "division by zero"}
		case op == "%": // always computed on unsigned numbers
			v, kind = p%q, Signed
		case signed && int64(q) == -1:
			v = -p
		case signed:
			v = uint64(int64(p) / int64(q))
		default:
			v = p / q
		}
	case "<<":
		v, kind = p<<q, x.Kind
	case ">>":
		kind = x.Kind
		if kind == Signed {
			v = uint64(int64(p) >> q)
		} else {
			v = p >> q
		}
	case "&":
		v = p & q
	case "|":
		v = p | q
	case "^":
		v = p ^ q
	case "&&":
		return truth(p != 0 && q != 0), nil
	case "||":
		return truth(p != 0 || q != 0), nil
	case "==":
		return truth(p == q), nil
	case "!=":
		return truth(p != q), nil
	case "<":
		return truth(signed && int64(p) < int64(q) || !signed && p < q), nil
	case "<=":
		return truth(signed && int64(p) <= int64(q) || !signed && p <= q), nil
	case ">":
		return truth(signed && int64(p) > int64(q) || !signed && p > q), nil
	case ">=":
		return truth(signed && int64(p) >= int64(q) || !signed && p >= q), nil
	}
	return Const{kind, v}, nil
}

// common returns the kind to which two operands are converted: unsigned if either is unsigned. Integers and floats do
// not mix, and 0f constants are not allowed (manual 4.5.2, 4.5.4).
func common(op string, x, y Const, pos Pos) (ConstKind, *Error) {
	switch {
	case x.Kind == F32 || y.Kind == F32:
		return F64, &Error{Pos: pos, Msg: fmt.Sprintf("operator %s does not apply to a 0f constant", op)}
	case (x.Kind == F64) != (y.Kind == F64):
		return F64, &Error{Pos: pos, Msg: fmt.Sprintf("operator %s needs two integers or two floats", op)}
	}
	return max(x.Kind, y.Kind), nil
}

// foldFloat applies a binary operator to floats.
func foldFloat(op string, x, y Const, pos Pos) (Const, *Error) {
	p, q := math.Float64frombits(x.Bits), math.Float64frombits(y.Bits)
	var v float64
	switch op {
	case "+":
		v = p + q
	case "-":
		v = p - q
	case "*":
		v = p * q
	case "/":
		v = p / q
	case "==":
		return truth(p == q), nil
	case "!=":
		return truth(p != q), nil
	case "<":
		return truth(p < q), nil
	case "<=":
		return truth(p <= q), nil
	case ">":
		return truth(p > q), nil
	case ">=":
		return truth(p >= q), nil
	default:
		return Const{}, &Error{Pos: pos, Msg: fmt.Sprintf("operator %s needs integers", op)}
	}
	return Const{F64, math.Float64bits(v)}, nil
}

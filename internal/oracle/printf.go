package oracle

// This file formats the output of device printf (CUDA C++ programming guide, "Formatted Output"): C's conversions,
// except %n.

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gemu/ptx"
)

// arguments reads the buffer with printf's arguments: each at its natural alignment, integers of 4 or 8 bytes, pointers
// and doubles of 8.
type arguments struct {
	t    *thread
	addr uint64
	n    int // read so far
}

func (a *arguments) next(size int) uint64 {
	a.addr = align(a.addr, uint64(size))
	v := valueOf(a.t.load(ptx.Generic, a.addr, size)).lo
	a.addr += uint64(size)
	a.n++
	return v
}

// conversion is a conversion specification: %[flags][width][.prec][length]verb.
type conversion struct {
	minus, plus, space, alt, zero bool
	width, prec                   int // prec is -1 if absent
	length                        string
	verb                          byte
}

// sprintf formats with the arguments at an address. It returns the text and the number of consumed arguments.
func (t *thread) sprintf(format string, addr uint64) (string, int) {
	args := &arguments{t: t, addr: addr}
	var out strings.Builder
	for {
		text, rest, found := strings.Cut(format, "%")
		out.WriteString(text)
		if !found {
			return out.String(), args.n
		}
		c, n := parseConversion(rest, args)
		if n == 0 { // not a conversion: printed unchanged
			out.WriteByte('%')
			format = rest
			continue
		}
		out.WriteString(c.format(args))
		format = rest[n:]
	}
}

// parseConversion parses the text after a percent sign. n is the length of the conversion; 0 if there is none.
func parseConversion(s string, args *arguments) (c conversion, n int) {
	i := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '-':
			c.minus = true
			continue
		case '+':
			c.plus = true
			continue
		case ' ':
			c.space = true
			continue
		case '#':
			c.alt = true
			continue
		case '0':
			c.zero = true
			continue
		}
		break
	}
	number := func() int {
		if i < len(s) && s[i] == '*' {
			i++
			return int(int32(args.next(4)))
		}
		n := 0
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n = min(10*n+int(s[i]-'0'), 1<<20)
		}
		return n
	}
	if c.width = number(); c.width < 0 {
		c.minus, c.width = true, -c.width
	}
	c.prec = -1
	if i < len(s) && s[i] == '.' {
		i++
		c.prec = max(number(), -1)
	}
	start := i
	for i < len(s) && strings.IndexByte("hlqjzt", s[i]) >= 0 {
		i++
	}
	c.length = s[start:i]
	if i == len(s) || strings.IndexByte("%diuoxXcspfFeEgGaA", s[i]) < 0 {
		return c, 0
	}
	c.verb = s[i]
	return c, i + 1
}

// format converts the next argument.
func (c conversion) format(args *arguments) string {
	switch c.verb {
	case '%':
		return "%"
	case 'd', 'i', 'u', 'o', 'x', 'X':
		return c.integer(args)
	case 'c':
		return c.pad("", string([]byte{byte(args.next(4))}), false)
	case 's':
		s := "(null)"
		if addr := args.next(8); addr != 0 {
			s = args.t.cstring(addr)
		}
		if c.prec >= 0 && c.prec < len(s) {
			s = s[:c.prec]
		}
		return c.pad("", s, false)
	case 'p':
		if addr := args.next(8); addr != 0 {
			return c.pad("0x", strconv.FormatUint(addr, 16), false)
		}
		return c.pad("", "(nil)", false)
	}
	return c.float(math.Float64frombits(args.next(8)))
}

// integer formats d, i, u, o, x and X.
func (c conversion) integer(args *arguments) string {
	bits := 32
	size := 4
	switch c.length {
	case "hh":
		bits = 8
	case "h":
		bits = 16
	case "":
	default:
		bits, size = 64, 8
	}
	v := low(args.next(size), bits)
	sign := ""
	if c.verb == 'd' || c.verb == 'i' {
		s := int64(signExtend(v, bits))
		sign = c.sign(s < 0)
		if s < 0 {
			v = -uint64(s)
		}
	}
	base := map[byte]int{'o': 8, 'x': 16, 'X': 16}[c.verb]
	if base == 0 {
		base = 10
	}
	digits := strconv.FormatUint(v, base)
	if v == 0 && c.prec == 0 {
		digits = ""
	}
	digits = strings.Repeat("0", max(0, c.prec-len(digits))) + digits
	switch {
	case c.alt && base == 8 && !strings.HasPrefix(digits, "0"):
		digits = "0" + digits
	case c.alt && base == 16 && v != 0:
		sign = "0x"
	}
	if c.verb == 'X' {
		sign, digits = strings.ToUpper(sign), strings.ToUpper(digits)
	}
	return c.pad(sign, digits, c.prec < 0)
}

func (c conversion) sign(neg bool) string {
	switch {
	case neg:
		return "-"
	case c.plus:
		return "+"
	case c.space:
		return " "
	}
	return ""
}

// float formats f, e, g and a, and their capitals.
func (c conversion) float(x float64) string {
	sign := c.sign(math.Signbit(x))
	upper := c.verb < 'a'
	verb := c.verb | 0x20
	abs := math.Abs(x)
	var s string
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x):
		if s = "nan"; math.IsInf(x, 0) {
			s = "inf"
		}
		if upper {
			s = strings.ToUpper(s)
		}
		return c.pad(sign, s, false)
	case verb == 'a':
		sign += "0x"
		s = strings.TrimPrefix(strconv.FormatFloat(abs, 'x', c.prec, 64), "0x")
		mantissa, exp, _ := strings.Cut(s, "p")
		if len(exp) == 3 && exp[1] == '0' { // Go writes p+00 for C's p+0
			exp = exp[:1] + exp[2:]
		}
		s = mantissa + "p" + exp
	default:
		prec := c.prec
		if prec < 0 {
			prec = 6
		}
		if verb == 'g' {
			prec = max(prec, 1)
		}
		flag := ""
		if c.alt {
			flag = "#"
		}
		s = fmt.Sprintf("%"+flag+"."+strconv.Itoa(prec)+string(verb), abs)
	}
	if upper {
		sign, s = strings.ToUpper(sign), strings.ToUpper(s)
	}
	return c.pad(sign, s, true)
}

// pad fills prefix and digits up to the width: with blanks, or, if zeros is set and the conversion has the 0 flag, with
// zeros between them.
func (c conversion) pad(prefix, digits string, zeros bool) string {
	fill := max(0, c.width-len(prefix)-len(digits))
	switch {
	case c.minus:
		return prefix + digits + strings.Repeat(" ", fill)
	case c.zero && zeros:
		return prefix + strings.Repeat("0", fill) + digits
	}
	return strings.Repeat(" ", fill) + prefix + digits
}

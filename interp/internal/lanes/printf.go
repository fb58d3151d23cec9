package lanes

// This file has vprintf, which CUDA's printf calls. It formats as C's printf does.

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// vprintf prints like CUDA's printf. The arguments are in a buffer, each at its natural alignment. The output of a CTA is
// in the order of lanes, and the output of the launch in the order of CTA indices.
func vprintf(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr := builtinArgument(w, h, f, instr, 0, lane)
		format, ok := readString(w, h, lane, addr)
		if !ok {
			t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrOutOfBounds, "%v: the format of vprintf at %s", probe.ErrOutOfBounds, machine.HexAddr(addr))
			t.Addr = addr
			return
		}
		n, bad := formatPrintf(w, w.SourceOf(instr), h, lane, format, builtinArgument(w, h, f, instr, 1, lane))
		if bad != 0 {
			t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrOutOfBounds, "%v: an argument of vprintf at %s", probe.ErrOutOfBounds, machine.HexAddr(bad))
			t.Addr = bad
			return
		}
		setBuiltinResult(w, h, f, instr, lane, uint64(uint32(n)))
	}
}

// formatPrintf appends the formatted text to the CTA's output. args is the address of the argument buffer. It returns the
// number of arguments and, if an argument or string cannot be read, its address.
func formatPrintf(w *machine.Warp, src *code.Source, h, lane int, format string, args uint64) (n int, bad uint64) {
	out := &w.CTA.Output
	offset := uint64(0)
	next := func(size int) uint64 {
		s := uint64(size)
		offset = (offset + s - 1) / s * s
		emitPrint(w, src, h, lane, args+offset, size)
		v, ok := readGuestMemory(w, h, lane, args+offset, size)
		if !ok && bad == 0 {
			bad = args + offset
		}
		offset += s
		n++
		return v
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		start := i
		i++
		if i < len(format) && format[i] == '%' {
			out.WriteByte('%')
			continue
		}
		var flags strings.Builder
		for i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0 {
			flags.WriteByte(format[i])
			i++
		}
		number := func() (int, bool) {
			if i < len(format) && format[i] == '*' {
				i++
				return int(int32(next(4))), true
			}
			v, found := 0, false
			for i < len(format) && format[i] >= '0' && format[i] <= '9' {
				v, found = min(v*10+int(format[i]-'0'), 1<<16), true
				i++
			}
			return v, found
		}
		width, hasWidth := number()
		if width < 0 {
			flags.WriteByte('-')
			width = -width
		}
		prec, hasPrec := 0, false
		if i < len(format) && format[i] == '.' {
			i++
			prec, _ = number()
			hasPrec = prec >= 0
		}
		size := 4
		half := 0
		for i < len(format) && strings.IndexByte("lhzjtL", format[i]) >= 0 {
			switch format[i] {
			case 'h':
				half++
			default:
				size = 8
			}
			i++
		}
		if i >= len(format) {
			out.WriteString(format[start:])
			break
		}
		spec := "%" + flags.String()
		if hasWidth {
			spec += fmt.Sprint(min(width, 1<<12))
		}
		if hasPrec {
			spec += fmt.Sprintf(".%d", min(prec, 1<<12))
		}
		switch c := format[i]; c {
		case 'd', 'i':
			v := int64(next(size))
			if size == 4 {
				v = int64(int32(v))
			}
			switch half {
			case 1:
				v = int64(int16(v))
			case 2:
				v = int64(int8(v))
			}
			out.WriteString(formatInt(spec, "d", v, 0, flags.String(), hasPrec, prec))
		case 'u', 'o', 'x', 'X':
			v := next(size)
			switch half {
			case 1:
				v = uint64(uint16(v))
			case 2:
				v = uint64(uint8(v))
			}
			verb := string(c)
			if c == 'u' {
				verb = "d"
			}
			out.WriteString(formatInt(spec, verb, 0, v, flags.String(), hasPrec, prec))
		case 'c':
			v := string([]byte{byte(next(4))})
			fmt.Fprintf(out, strings.ReplaceAll(spec, "0", "")+"s", v)
		case 's':
			p := next(8)
			s, ok := readString(w, h, lane, p)
			switch {
			case p == 0:
				s = "(null)"
			case !ok && bad == 0:
				bad = p
			}
			fmt.Fprintf(out, spec+"s", s)
		case 'p':
			v := "(nil)"
			if p := next(8); p != 0 {
				v = fmt.Sprintf("%#x", p)
			}
			s := "%" + flags.String()
			if hasWidth {
				s += fmt.Sprint(width)
			}
			fmt.Fprintf(out, s+"s", v)
		case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
			out.WriteString(formatFloat(spec, c, math.Float64frombits(next(8)), hasPrec, prec, flags.String()))
		default: // an unknown conversion is printed without change
			out.WriteString(format[start : i+1])
		}
		if bad != 0 {
			return n, bad
		}
	}
	return n, 0
}

// emitPrint emits the event for an argument of vprintf, called at src, that a lane is about to print. addr is the generic address of the argument.
func emitPrint(w *machine.Warp, src *code.Source, h, lane int, addr uint64, size int) {
	if !w.CTA.IsSubscribed(probe.OnPrint) {
		return
	}
	view := access.View(w)
	place, err := view.Find(&mem.Access{Request: probe.Request{Bytes: 1}}, addr)
	if err != nil {
		return
	}
	s := w.CTA.Stream
	event.FillEvent(s, &s.Event, w, src, 1<<(32*h+lane))
	s.Event.Memory, s.Event.Offset, s.Event.Bytes = place.Alloc.Public(), place.Offset, size
	event.Emit(s, &s.Event, probe.OnPrint)
}

// formatInt formats an integer as C does. For verb d without u it formats the signed v, otherwise the unsigned u. Go's
// verbs differ from C's for a precision with the flag 0, and for "%.0d" of 0.
func formatInt(spec, verb string, v int64, u uint64, flags string, hasPrec bool, prec int) string {
	var digits, sign string
	switch {
	case v != 0 || u == 0 && verb == "d":
		mag := uint64(v)
		if v < 0 {
			mag, sign = -uint64(v), "-"
		} else if strings.Contains(flags, "+") {
			sign = "+"
		} else if strings.Contains(flags, " ") {
			sign = " "
		}
		digits = fmt.Sprint(mag)
	default:
		digits = fmt.Sprintf("%"+verb, u)
	}
	if hasPrec {
		if prec == 0 && digits == "0" {
			digits = ""
		}
		for len(digits) < prec {
			digits = "0" + digits
		}
	}
	if strings.Contains(flags, "#") && u != 0 {
		switch verb {
		case "x":
			sign = "0x"
		case "X":
			sign = "0X"
		case "o":
			if !strings.HasPrefix(digits, "0") {
				digits = "0" + digits
			}
		}
	}
	return pad(spec, sign, digits, flags, !hasPrec)
}

// pad pads sign and digits to the width in spec. zeros permits the flag 0.
func pad(spec, sign, digits, flags string, zeros bool) string {
	width := 0
	for _, c := range strings.SplitN(strings.TrimLeft(spec[1:], "-+ #0"), ".", 2)[0] {
		width = width*10 + int(c-'0')
	}
	fill := max(width-len(sign)-len(digits), 0)
	switch {
	case strings.Contains(flags, "-"):
		return sign + digits + strings.Repeat(" ", fill)
	case strings.Contains(flags, "0") && zeros:
		return sign + strings.Repeat("0", fill) + digits
	}
	return strings.Repeat(" ", fill) + sign + digits
}

// formatFloat formats a double as C does.
func formatFloat(spec string, verb byte, v float64, hasPrec bool, prec int, flags string) string {
	sign := ""
	switch {
	case math.Signbit(v):
		sign = "-"
	case strings.Contains(flags, "+"):
		sign = "+"
	case strings.Contains(flags, " "):
		sign = " "
	}
	upper := verb >= 'A' && verb <= 'Z'
	if math.IsNaN(v) || math.IsInf(v, 0) {
		s := "nan"
		if math.IsInf(v, 0) {
			s = "inf"
		}
		if upper {
			s = strings.ToUpper(s)
		}
		return pad(spec, sign, s, flags, false)
	}
	if !hasPrec {
		prec = 6
	}
	v = math.Abs(v)
	alternative := ""
	if strings.Contains(flags, "#") {
		alternative = "#"
	}
	var s string
	switch verb {
	case 'f', 'F':
		s = fmt.Sprintf("%.*f", prec, v)
	case 'e', 'E':
		s = fmt.Sprintf("%.*e", prec, v)
	case 'g', 'G':
		s = formatG(v, max(prec, 1), alternative != "")
	default: // a, A: Go's %x differs from C's %a only in the digits of the exponent
		if hasPrec {
			s = fmt.Sprintf("%.*x", prec, v)
		} else {
			s = fmt.Sprintf("%x", v)
		}
		s = strings.Replace(strings.Replace(s, "p+0", "p+", 1), "p-0", "p-", 1)
		if strings.HasSuffix(s, "p+") || strings.HasSuffix(s, "p-") {
			s = s[:len(s)-1] + "+0"
		}
	}
	if upper {
		s = strings.ToUpper(s)
	}
	return pad(spec, sign, s, flags, true)
}

// formatG formats as C's %g: the shorter of %e and %f with prec significant digits. Trailing zeros are removed unless
// alternative is set (the flag #).
func formatG(v float64, prec int, alternative bool) string {
	exp := 0
	if v != 0 {
		e := fmt.Sprintf("%.*e", prec-1, v)
		fmt.Sscanf(e[strings.IndexByte(e, 'e')+1:], "%d", &exp)
	}
	trim := func(s string) string {
		if alternative || !strings.Contains(s, ".") {
			return s
		}
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if exp < -4 || exp >= prec {
		s := fmt.Sprintf("%.*e", prec-1, v)
		i := strings.IndexByte(s, 'e')
		return trim(s[:i]) + s[i:]
	}
	return trim(fmt.Sprintf("%.*f", prec-1-exp, v))
}

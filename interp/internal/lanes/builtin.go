package lanes

// This file has the functions that the CUDA run-time provides inside a kernel: vprintf, malloc, free and __assertfail.

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
	"gemu/ptx"
	"gemu/regfile"
)

// builtinArgument returns argument i of a builtin call for a lane; 0 if there is none.
func builtinArgument(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, i, lane int) uint64 {
	args := w.CTA.Code.Calls[instr.Side].Args
	if i >= len(args) {
		return 0
	}
	p := args[i]
	switch p.Slot {
	case code.R:
		return uint64(f.Src32(p.Row)[lane])
	case code.Q:
		return f.Src64(p.Row)[lane]
	}
	return w.Local[h].Load(4*w.Frame.Local+p.Offset, lane, min(p.Size, 8))
}

// setBuiltinResult writes the result of a builtin call for a lane.
func setBuiltinResult(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, lane int, v uint64) {
	rets := w.CTA.Code.Calls[instr.Side].Rets
	if len(rets) == 0 {
		return
	}
	p := rets[0]
	switch p.Slot {
	case code.R:
		f.Row32(p.Row)[lane] = uint32(v)
	case code.Q:
		f.Row64(p.Row)[lane] = v
	default:
		w.Local[h].Store(4*w.Frame.Local+p.Offset, lane, min(p.Size, 8), v)
	}
}

// loadByte reads a byte at a generic address.
func loadByte(w *machine.Warp, h, lane int, addr uint64) (byte, bool) {
	v, ok := readGuestMemory(w, h, lane, addr, 1)
	return byte(v), ok
}

// readGuestMemory reads size bytes at a generic address, without a trap.
func readGuestMemory(w *machine.Warp, h, lane int, addr uint64, size int) (uint64, bool) {
	n := uint64(size)
	var p []byte
	view := access.View(w)
	switch space := view.SpaceOf(addr, true); space {
	case ptx.Shared:
		place, err := view.Find(&mem.Access{Request: probe.Request{Bytes: 1}}, addr)
		if err != nil || n > place.Alloc.Size-place.Offset {
			return 0, false
		}
		p = place.Alloc.Data[place.Offset:]
	case ptx.Local:
		addr -= probe.LocalWindow
		if top := 4 * uint64(w.LocalTop()); addr > top || n > top-addr {
			return 0, false
		}
		return w.Local[h].Load(int(addr), lane, size), true
	default:
		a := w.CTA.Grid.Device.Memory.Find(addr)
		if a == nil || a.Freed || n > a.Size-(addr-a.Base) {
			return 0, false
		}
		p = a.Data[addr-a.Base:]
	}
	v := uint64(0)
	for i := range size {
		v |= uint64(p[i]) << (8 * i)
	}
	return v, true
}

// readString reads a C string at a generic address.
func readString(w *machine.Warp, h, lane int, addr uint64) (string, bool) {
	var s []byte
	for {
		c, ok := loadByte(w, h, lane, addr+uint64(len(s)))
		if !ok || len(s) > 1<<20 {
			return string(s), false
		}
		if c == 0 {
			return string(s), true
		}
		s = append(s, c)
	}
}

// vprintf prints like CUDA's printf: arguments lie in a buffer, each at its natural alignment. The output of a CTA
// appears in lane order, and the output of the CTAs in the order of their index.
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
		n, bad := formatPrintf(w, h, lane, format, builtinArgument(w, h, f, instr, 1, lane))
		if bad != 0 {
			t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrOutOfBounds, "%v: an argument of vprintf at %s", probe.ErrOutOfBounds, machine.HexAddr(bad))
			t.Addr = bad
			return
		}
		setBuiltinResult(w, h, f, instr, lane, uint64(uint32(n)))
	}
}

// formatPrintf formats into the CTA's output. It returns the number of arguments, and the address of an unreadable
// argument.
func formatPrintf(w *machine.Warp, h, lane int, format string, args uint64) (n int, bad uint64) {
	out := &w.CTA.Output
	offset := uint64(0)
	next := func(size int) uint64 {
		s := uint64(size)
		offset = (offset + s - 1) / s * s
		emitPrint(w, h, lane, args+offset, size)
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
		default: // printed as it stands
			out.WriteString(format[start : i+1])
		}
		if bad != 0 {
			return n, bad
		}
	}
	return n, 0
}

// emitPrint emits the event of an argument that a lane is about to print, at a generic address.
func emitPrint(w *machine.Warp, h, lane int, addr uint64, size int) {
	if !w.CTA.IsSubscribed(probe.OnPrint) {
		return
	}
	view := access.View(w)
	place, err := view.Find(&mem.Access{Request: probe.Request{Bytes: 1}}, addr)
	if err != nil {
		return
	}
	s := w.CTA.Stream
	event.FillEvent(s, &s.Event, w, s.StepPlace.SourceInstr, 1<<(32*h+lane))
	s.Event.Memory, s.Event.Offset, s.Event.Bytes = place.Alloc.Public(), place.Offset, size
	event.Emit(s, &s.Event, probe.OnPrint)
}

// formatInt formats a signed (verb d, u zero) or unsigned integer as C does.
// Go's verbs differ where a precision meets the flag 0, and for "%.0d" of 0.
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

// pad pads sign and digits to the width in spec.
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
	alt := ""
	if strings.Contains(flags, "#") {
		alt = "#"
	}
	var s string
	switch verb {
	case 'f', 'F':
		s = fmt.Sprintf("%.*f", prec, v)
	case 'e', 'E':
		s = fmt.Sprintf("%.*e", prec, v)
	case 'g', 'G':
		s = formatG(v, max(prec, 1), alt != "")
	default: // a, A: Go's %x lacks C's choice of digits only
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

// formatG formats as C's %g: the shorter of %e and %f with a number of significant digits, without trailing zeros
// unless alt.
func formatG(v float64, prec int, alt bool) string {
	exp := 0
	if v != 0 {
		e := fmt.Sprintf("%.*e", prec-1, v)
		fmt.Sscanf(e[strings.IndexByte(e, 'e')+1:], "%d", &exp)
	}
	trim := func(s string) string {
		if alt || !strings.Contains(s, ".") {
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

// heapBlock is the number of bytes by which a block of the heap counts against the limit besides its own bytes: about
// the size of the host's record. Freed blocks do not count: the map keeps records of at most 2*mem.KeepDead of them,
// about 30 MB.
const heapBlock = 256

// malloc allocates from the device heap; it returns 0 when that is full.
func malloc(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	g := w.CTA.Grid
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		size := builtinArgument(w, h, f, instr, 0, lane)
		addr := uint64(0)
		if size > 0 && size <= g.Device.Heap && g.Device.HeapUsed+size+heapBlock <= g.Device.Heap {
			if a, err := g.Device.Memory.Alloc(size, probe.HeapMemory, ""); err == nil {
				g.Device.HeapUsed += size + heapBlock
				addr = a.Base
				event.EmitMemory(w, probe.OnAlloc, instr, 32*h+lane, a)
			}
		}
		setBuiltinResult(w, h, f, instr, lane, addr)
	}
	w.CTA.Changed = true
}

func free(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	g := w.CTA.Grid
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr := builtinArgument(w, h, f, instr, 0, lane)
		if addr == 0 {
			continue
		}
		a := g.Device.Memory.Find(addr)
		if a == nil || a.Kind != probe.HeapMemory || a.Base != addr || a.Freed {
			what := "which malloc did not return"
			if a != nil && a.Freed {
				what = "which was freed already"
			}
			t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrHeap, "%v of %s, %s", probe.ErrHeap, machine.HexAddr(addr), what)
			t.Addr = addr
			return
		}
		g.Device.HeapUsed -= a.Size + heapBlock
		event.EmitMemory(w, probe.OnFree, instr, 32*h+lane, a)
		g.Device.Memory.Free(a)
	}
	w.CTA.Changed = true
}

// assertFail executes a failed assert: message, file, line, function.
func assertFail(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	lane := bits.TrailingZeros32(m) & 31
	str := func(i int) string {
		s, _ := readString(w, h, lane, builtinArgument(w, h, f, instr, i, lane))
		return s
	}
	w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), probe.ErrAssert, "%v: %s:%d: %s: `%s'", probe.ErrAssert, str(1), uint32(builtinArgument(w, h, f, instr, 2, lane)), str(3), str(0))
}

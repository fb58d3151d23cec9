package debug

// This file prints expressions and memory.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// cmdPrint prints the value of an expression, or of a register in a range of lanes.
func (c *Console) cmdPrint(ctx context.Context, args string) error {
	hex := false
	if rest, ok := strings.CutPrefix(args, "/x"); ok {
		hex, args = true, strings.TrimSpace(rest)
	}
	if args == "" {
		return errors.New("print needs an expression")
	}
	if name, from, to, ok := laneRange(args); ok {
		r, ok := c.Register(name)
		if !ok {
			return fmt.Errorf("no register %s", name)
		}
		if from > to || to >= c.info.WarpSize {
			return fmt.Errorf("%s: want FROM..TO, in ascending order and within lanes 0 to %d", args, c.info.WarpSize-1)
		}
		lanes := ^uint64(0) >> (63 - to) &^ (1<<from - 1)
		c.values++
		c.printf("$%d = {%s}\n", c.values, r.Lanes(lanes))
		return nil
	}
	if r, ok := c.Register(args); ok {
		split, err := c.Context()
		if err != nil {
			return err
		}
		lanes, stale := split.Lanes, ""
		if !r.Live {
			w, err := c.LastWritten(ctx, r.Name)
			if err != nil {
				return fmt.Errorf("register %s is not live here, and its last value is unknown: %w", r.Name, err)
			}
			if w == nil {
				return fmt.Errorf("register %s is not live here: the thread has not written it", r.Name)
			}
			r, lanes, stale = &w.Register, w.Lanes, "; "+w.stale()
		}
		v := r.Value(c.focus.Lane)
		if hex {
			v = formatWide(r.Row[c.focus.Lane], r.high(c.focus.Lane))
		}
		c.values++
		c.printf("$%d = %s   (%s of %s: %s%s)\n", c.values, v, r.Type, probe.LaneText(lanes), r.Text(lanes), stale)
		return nil
	}
	text, err := c.Evaluate(args)
	if err != nil {
		return err
	}
	if hex {
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			text = fmt.Sprintf("%#x", uint64(n))
		}
	}
	c.values++
	c.printf("$%d = %s\n", c.values, text)
	return nil
}

// laneRange splits "REG[A..B]".
func laneRange(s string) (name string, from, to int, ok bool) {
	name, rest, ok := strings.Cut(s, "[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return "", 0, 0, false
	}
	a, b, ok := strings.Cut(strings.TrimSuffix(rest, "]"), "..")
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := strconv.Atoi(strings.TrimSpace(b))
	return name, from, to, ok && err1 == nil && err2 == nil && from >= 0 && to >= 0
}

// cmdExamine prints memory.
func (c *Console) cmdExamine(_ context.Context, args string) error {
	const maxCount = 1 << 12
	count, format, unit := 1, byte(0), 0
	if rest, ok := strings.CutPrefix(args, "/"); ok {
		spec, memory, _ := strings.Cut(rest, " ")
		args = strings.TrimSpace(memory)
		digits := 0
		for digits < len(spec) && spec[digits] >= '0' && spec[digits] <= '9' {
			digits++
		}
		if digits > 0 {
			n, err := strconv.Atoi(spec[:digits])
			if err != nil || n < 1 || n > maxCount {
				return fmt.Errorf("x/%s: want a count from 1 to %d", spec, maxCount)
			}
			count = n
		}
		for _, f := range []byte(spec[digits:]) {
			switch f {
			case 'b', 'h', 'w', 'g':
				unit = map[byte]int{'b': 1, 'h': 2, 'w': 4, 'g': 8}[f]
			case 'x', 'd', 'u', 'f':
				format = f
			default:
				return fmt.Errorf("x/%s: formats are x d u f, units b h w g", spec)
			}
		}
	}
	if args == "" {
		return errors.New("x needs an address, or memory such as out[0].f32")
	}
	cond, err := ParseCondition(args)
	if err != nil {
		return err
	}
	sc := c.focusScope()
	location, convErr := c.locate(cond)
	t := location.Type
	if convErr != nil {
		v, err := c.evaluate(cond)
		if err != nil || v.class == float {
			return convErr
		}
		location, t = sc.place(0, v.bits, ptx.B32), ptx.B32
	}
	if unit == 0 {
		if unit = max(t.Size(), 1); unit > 8 {
			unit = 8
		}
	}
	t = formatType(format, unit, t)
	data, err := sc.bytes(location, c.focus.Lane, count*unit)
	if err != nil {
		return err
	}
	space := ""
	switch {
	case location.Local:
		space = "local "
	case location.Space == ptx.Shared:
		space = "shared "
	}
	perLine := max(16/unit, 1)
	for i := 0; i < count; i += perLine {
		var cells []string
		for cell := i; cell < min(i+perLine, count); cell++ {
			cells = append(cells, formatBytes(t, data[cell*unit:][:unit]))
		}
		c.printf("%s%#x:\t%s\n", space, location.Addr+uint64(i*unit), strings.Join(cells, "\t"))
	}
	return nil
}

// formatType returns the type of the values that the command x prints: of a format (x, d, u or f) and a size of unit
// bytes. Format 0 gives type t if its size is unit, else .b.
func formatType(format byte, unit int, t ptx.Type) ptx.Type {
	if format == 0 && t.Size() == unit {
		return t
	}
	prefix := map[byte]string{'d': "s", 'u': "u", 'f': "f"}[format]
	if found := ptx.TypeByName(fmt.Sprintf("%s%d", prefix, 8*unit)); prefix != "" && found != ptx.NoType {
		return found
	}
	return ptx.TypeByName(fmt.Sprintf("b%d", 8*unit))
}

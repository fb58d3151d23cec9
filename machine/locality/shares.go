package locality

import (
	"cmp"
	"slices"
)

// term is a number in an equation of addresses: factor · k, for all integers k from low to high.
type term struct {
	factor    int64
	low, high int64
	differs   bool // it is the distance of the two accesses, which must not be 0 in all such terms
}

// maxNodes is the maximum number of values that a search tries. Beyond it, data count as shared.
const maxNodes = 1 << 16

// shareInCTA reports whether two threads of a CTA access a byte in common.
func (d *Descriptor) shareInCTA(grid [3]int) bool {
	return d.share(grid, func(f, g *Form) []term {
		var list []term
		for k := range 3 {
			list = append(list, term{factor: f.Thread[k], low: int64(f.Low[k] - g.High[k]), high: int64(f.High[k] - g.Low[k]), differs: true})
		}
		return list
	}, true)
}

// shareAlong reports whether two CTAs that differ in some dimensions only access a byte in common. The forms must be affine.
func (d *Descriptor) shareAlong(dims [3]bool, grid [3]int) bool {
	return d.share(grid, func(f, g *Form) []term {
		var list []term
		for k, n := range grid {
			if dims[k] {
				list = append(list, term{factor: f.CTA[k], low: int64(1 - n), high: int64(n - 1), differs: true})
			}
		}
		return list
	}, false)
}

// share reports whether two accesses whose distance is that of the terms have a byte in common. An access of g is by thread t of CTA c, and
// that of f is by thread t + e of CTA c + e': the distance e or e' are the terms of distance.
func (d *Descriptor) share(grid [3]int, distance func(f, g *Form) []term, threads bool) bool {
	nodes := 0
	for i := range d.forms {
		for k := range d.forms[:i+1] {
			f, g := &d.forms[i], &d.forms[k]
			list := distance(f, g)
			for n := range 3 {
				list = append(list, term{factor: f.CTA[n] - g.CTA[n], high: int64(grid[n] - 1)})
				if threads {
					list = append(list, term{factor: f.Thread[n] - g.Thread[n], low: int64(g.Low[n]), high: int64(g.High[n])})
					continue
				}
				list = append(list, term{factor: f.Thread[n], low: int64(f.Low[n]), high: int64(f.High[n])})
				list = append(list, term{factor: -g.Thread[n], low: int64(g.Low[n]), high: int64(g.High[n])})
			}
			list = append(list, stepTerms(f.Steps, 1)...)
			list = append(list, stepTerms(g.Steps, -1)...)
			// f's access begins at most f.Bytes - 1 before g's, and at most g.Bytes - 1 after it.
			if meets(merged(list), f.Base-g.Base, int64(1-f.Bytes), int64(g.Bytes-1), false, &nodes) {
				return true
			}
		}
	}
	return false
}

// stepTerms returns the terms of steps, or of all numbers between the least and the greatest if the steps are not regular.
func stepTerms(steps []int64, sign int64) (list []term) {
	if len(steps) < 2 {
		return nil
	}
	axes, ok := axesOf(steps)
	if !ok {
		low, high := slices.Min(steps), slices.Max(steps)
		return []term{{factor: sign, low: low, high: high}}
	}
	inner := int(axes[0].n)
	list = append(list, term{factor: sign * steps[1], high: int64(inner - 1)})
	if inner < len(steps) {
		list = append(list, term{factor: sign * steps[inner], high: axes[1].n - 1})
	}
	return list
}

// merged adds up the terms with equal factors, greatest factors first. Terms that are always 0 are left out.
func merged(list []term) (out []term) {
	for _, t := range list {
		if t.low == 0 && t.high == 0 || t.factor == 0 && !t.differs {
			continue
		}
		if t.factor < 0 {
			t.factor, t.low, t.high = -t.factor, -t.high, -t.low
		}
		i := slices.IndexFunc(out, func(o term) bool { return o.factor == t.factor && !o.differs && !t.differs })
		if i < 0 {
			out = append(out, t)
			continue
		}
		out[i].low += t.low
		out[i].high += t.high
	}
	slices.SortStableFunc(out, func(a, b term) int { return cmp.Compare(b.factor, a.factor) })
	return out
}

// meets reports whether sum plus a value of each term can be from low to high, with a term that differs and is not 0; differs says that one
// was. nodes counts the tried values.
func meets(list []term, sum, low, high int64, differs bool, nodes *int) bool {
	if *nodes++; *nodes > maxNodes {
		return true
	}
	if len(list) == 0 {
		return differs && low <= sum && sum <= high
	}
	t, least, most := list[0], int64(0), int64(0) // of the terms after it
	for _, o := range list[1:] {
		least += o.factor * o.low
		most += o.factor * o.high
	}
	from, to := t.low, t.high
	if t.factor == 0 { // a distance in a dimension without effect
		return meets(list[1:], sum, low, high, true, nodes)
	}
	// low <= sum + factor·k + rest <= high for some rest from least to most
	from, to = max(from, ceilDiv(low-most-sum, t.factor)), min(to, -ceilDiv(-(high-least-sum), t.factor))
	for k := from; k <= to; k++ {
		if meets(list[1:], sum+t.factor*k, low, high, differs || t.differs && k != 0, nodes) {
			return true
		}
	}
	return false
}

// ceilDiv divides and rounds up. b must be positive.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

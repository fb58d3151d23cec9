package validity

// This file follows what lanes of a warp exchange, and tells what was found.

import (
	"fmt"
	"strings"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// given is what lanes have brought to an instruction that they may execute with others, which come
// to it elsewhere.
type given struct {
	text   [64]string // of the instruction; "": none
	bits   [64]uint64
	origin [64]uint32
}

// gather notes what lanes bring.
func (c *cta) gather(e *interp.Event, w *warp, f *frame, s *step) {
	if len(s.actions) == 0 || len(s.actions[0].sources) == 0 {
		return
	}
	a := &s.actions[0]
	r := a.sources[0]
	if w.given == nil && (r < 0 || f.dirty[r]&e.Lanes == 0) {
		return
	}
	if w.given == nil {
		w.given = new(given)
	}
	each(e.Lanes, func(lane int) {
		w.given.text[lane] = s.instr.Text
		w.given.bits[lane], w.given.origin[lane] = f.invalid(r, lane)
		if w.given.bits[lane] != 0 {
			w.given.origin[lane] = c.origin(e.Index, w.given.origin[lane], a.op.Sources[0].Reg)
		}
	})
}

// apart follows a collective instruction that lanes have executed together with others at other
// places, of which no operations are told.
func (c *cta) apart(e *interp.Event, w *warp, f *frame, s *step) {
	if len(s.actions) != 1 {
		return
	}
	a := &s.actions[0]
	some, from := uint64(0), uint32(0)
	if g := w.given; g != nil {
		for lane := range 64 {
			if g.bits[lane] != 0 && g.text[lane] == s.instr.Text {
				if some |= 1 << lane; from == 0 {
					from = g.origin[lane]
				}
			}
		}
	}
	for _, r := range a.results {
		if r >= 0 {
			f.dirty[r] &^= e.Lanes
		}
	}
	if some == 0 || a.does < doesShuffle {
		return
	}
	switch a.does {
	case doesShuffle:
		b, okB := c.operand(e, s, "b")
		k, okC := c.operand(e, s, "c")
		each(e.Lanes, func(lane int) {
			if !okB || !okC {
				f.set(a.results[0], lane, ones(32), from)
				return
			}
			if to := source(s.instr, lane, uint32(b(lane)), uint32(k(lane))); to >= 0 {
				if w.given.text[to] == s.instr.Text {
					f.set(a.results[0], lane, w.given.bits[to], w.given.origin[to])
				}
			}
		})
	case doesBallot:
		each(e.Lanes, func(lane int) { f.set(a.results[0], lane, some&ones(32), from|computed) })
	default:
		for i, r := range a.results {
			each(e.Lanes, func(lane int) { f.set(r, lane, c.bitsOf(a, i), from|computed) })
		}
	}
}

// operand reads an operand of an instruction that has been executed, if that is still there.
func (c *cta) operand(e *interp.Event, s *step, name string) (value func(lane int) uint64, ok bool) {
	switch o := s.instr.Arg(name); {
	case o.Kind == ptx.ImmOperand:
		return func(int) uint64 { return o.Imm.Bits }, true
	case o.Kind == ptx.RegOperand:
		for d := range s.instr.Defs() {
			if d == o.Reg {
				return nil, false
			}
		}
		v, ok := e.Read(o.Reg)
		return func(lane int) uint64 { return v.Low[lane] }, ok
	}
	return nil, false
}

// source is the lane that a lane of shfl reads, -1 if it is its own because the other is out of
// bounds (manual 9.7.9.6).
func source(in *ptx.Instr, lane int, b, c uint32) int {
	half, i := lane&^31, uint32(lane&31)
	bound, segment := c&31, c>>8&31
	most := i&segment | bound&^segment
	least := i & segment
	to, ok := i, false
	switch b &= 31; {
	case in.Has("up"):
		to = i - b
		ok = int32(to) >= int32(most)
	case in.Has("down"):
		to = i + b
		ok = to <= most
	case in.Has("bfly"):
		to = i ^ b
		ok = to <= most
	default:
		to = least | b&^segment
		ok = to <= most
	}
	if !ok {
		return lane
	}
	return half + int(to&31)
}

// exchange follows operations whose results depend on several lanes, where one has invalid bits.
func (c *cta) exchange(e *interp.Event, f *frame, a *action) {
	lanes := e.Lanes
	switch a.does {
	case doesShuffle:
		r := a.sources[0]
		var bits [64]uint64
		var origins [64]uint32
		each(lanes, func(lane int) {
			if f.rowDirty(a.sources[1], lane) || f.rowDirty(a.sources[2], lane) {
				origin, _ := c.anyInvalid(e, f, a, 1<<lane)
				bits[lane], origins[lane] = ones(32), origin
				return
			}
			from := source(e.Instr, lane, uint32(e.Source(1).Lane(lane)), uint32(e.Source(2).Lane(lane)))
			if lanes>>from&1 != 0 {
				if bits[lane], origins[lane] = f.invalid(r, from); bits[lane] != 0 {
					origins[lane] = c.origin(e.Index, origins[lane], a.op.Sources[0].Reg)
				}
			}
		})
		each(lanes, func(lane int) {
			f.set(a.results[0], lane, bits[lane], origins[lane])
			if len(a.results) > 1 && a.results[1] >= 0 {
				p := uint64(0)
				if f.rowDirty(a.sources[1], lane) || f.rowDirty(a.sources[2], lane) {
					p = 1
				}
				f.set(a.results[1], lane, p, origins[lane])
			}
		})
	case doesVote, doesBallot, doesWarp:
		for half := uint64(0); half < 64; half += 32 {
			m := lanes & (ones(32) << half)
			if m == 0 {
				continue
			}
			origin, some := c.anyInvalid(e, f, a, m)
			if some && a.replaces(e, lowest(m)) {
				origin, some = c.invalidBut(e, f, a, m, a.added)
			}
			bad := uint64(0) // of the first source
			if r := a.sources[0]; r >= 0 {
				bad = f.dirty[r] & m
			}
			if some && a.does == doesVote && c.decided(e, m&^bad) {
				some = false
			}
			for i, r := range a.results {
				if r < 0 {
					continue
				}
				f.dirty[r] &^= m
				if !some {
					continue
				}
				bits := c.bitsOf(a, i)
				if a.does == doesBallot {
					bits = bad >> half
				}
				each(m, func(lane int) { f.set(r, lane, bits, origin) })
			}
		}
	}
}

// replaces reports whether wgmma replaces its accumulator and does not add to it. Then it does not read it.
func (a *action) replaces(e *interp.Event, lane int) bool {
	if a.scale < 0 {
		return false
	}
	if o := &a.op.Sources[a.scale]; o.Kind == interp.ConstantOperand {
		return o.Value == 0
	}
	return e.Source(a.scale).Lane(lane) == 0
}

// decided reports whether lanes with valid predicates decide a vote.
func (c *cta) decided(e *interp.Event, valid uint64) bool {
	some, all := e.Instr.Has("any"), e.Instr.Has("all")
	yes, no := false, false
	each(valid, func(lane int) {
		if e.Source(0).Lane(lane) != 0 { // of !%p the complement
			yes = true
		} else {
			no = true
		}
	})
	return some && yes || all && no || !some && !all && yes && no
}

func (f *frame) rowDirty(row, lane int) bool { return row >= 0 && f.dirty[row]>>lane&1 != 0 }

// found tells of a use by lanes.
func (c *cta) found(e *interp.Event, k kind, lanes uint64, origin uint32, in *memory) {
	t := &kinds[k]
	f := finding.Finding{Tool: Name, Kind: t.name, Severity: t.severity, Message: t.says, At: finding.At(e, t.role, lowest(lanes)), Notes: notes(c.tool.originText(origin))}
	if lanes&(lanes-1) != 0 {
		f.At.Lanes = lanesText(lanes)
	}
	c.tool.log.Add(e, f)
}

// lanesText lists lanes: "0-3,7".
func lanesText(lanes uint64) string {
	var list []string
	for i := 0; i < 64; i++ {
		first := i
		for i < 64 && lanes>>i&1 != 0 {
			i++
		}
		switch {
		case i == first:
		case i == first+1:
			list = append(list, fmt.Sprint(first))
		default:
			list = append(list, fmt.Sprintf("%d-%d", first, i-1))
		}
	}
	return strings.Join(list, ",")
}

// place is where an instruction is, for notes.
func (p *plan) place(index int) string {
	in, fn := p.program.At(index)
	return finding.Where(in, fn)
}

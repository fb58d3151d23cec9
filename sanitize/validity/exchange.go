package validity

// This file handles the exchange of values between the lanes of a warp, and reports findings.

import (
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// exchanged holds the operands of lanes at a collective instruction that lanes at different places may execute
// together.
type exchanged struct {
	text   [64]string // text of the instruction, by lane; "": none
	bits   [64]uint64
	origin [64]uint32
}

// contributeLanes stores the operands of lanes.
func (c *cta) contributeLanes(e *probe.Event, w *warp, f *frame, s *step) {
	if len(s.actions) == 0 || len(s.actions[0].sources) == 0 {
		return
	}
	a := &s.actions[0]
	r := a.sources[0]
	if w.exchanged == nil && (r < 0 || f.dirty[r]&e.Lanes == 0) {
		return
	}
	if w.exchanged == nil {
		w.exchanged = new(exchanged)
	}
	each(e.Lanes, func(lane int) {
		w.exchanged.text[lane] = s.instr.Text
		w.exchanged.bits[lane], w.exchanged.origin[lane] = f.invalid(r, lane)
		if w.exchanged.bits[lane] != 0 {
			w.exchanged.origin[lane] = c.origin(e.Index, w.exchanged.origin[lane], a.op.Sources[0].Reg)
		}
	})
}

// exchangeAcrossPlaces handles a collective instruction that lanes executed together at different places. It
// has no operation events.
func (c *cta) exchangeAcrossPlaces(e *probe.Event, w *warp, f *frame, s *step) {
	if len(s.actions) != 1 {
		return
	}
	a := &s.actions[0]
	any, from := uint64(0), uint32(0)
	if g := w.exchanged; g != nil {
		for lane := range 64 {
			if g.bits[lane] != 0 && g.text[lane] == s.instr.Text {
				if any |= 1 << lane; from == 0 {
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
	if any == 0 || a.behavior < behaviorShuffle {
		return
	}
	switch a.behavior {
	case behaviorShuffle:
		b, okB := c.operand(e, s, "b")
		k, okC := c.operand(e, s, "c")
		each(e.Lanes, func(lane int) {
			if !okB || !okC {
				f.set(a.results[0], lane, lowBits(32), from)
				return
			}
			if to := source(s.instr, lane, uint32(b(lane)), uint32(k(lane))); to >= 0 {
				if w.exchanged.text[to] == s.instr.Text {
					f.set(a.results[0], lane, w.exchanged.bits[to], w.exchanged.origin[to])
				}
			}
		})
	case behaviorBallot:
		each(e.Lanes, func(lane int) { f.set(a.results[0], lane, any&lowBits(32), from|computed) })
	default:
		for i, r := range a.results {
			each(e.Lanes, func(lane int) { f.set(r, lane, c.bitsOf(a, i), from|computed) })
		}
	}
}

// operand returns the value of an operand after execution. ok is false if the instruction overwrote it.
func (c *cta) operand(e *probe.Event, s *step, name string) (value func(lane int) uint64, ok bool) {
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

// source returns the lane whose value a lane of shfl reads: its own if the source lane is out of bounds (manual
// 9.7.9.6).
func source(instr *ptx.Instr, lane int, b, c uint32) int {
	width, i := lane&^31, uint32(lane&31)
	bound, segment := c&31, c>>8&31
	most := i&segment | bound&^segment
	least := i & segment
	to, ok := i, false
	switch b &= 31; {
	case instr.Has("up"):
		to = i - b
		ok = int32(to) >= int32(most)
	case instr.Has("down"):
		to = i + b
		ok = to <= most
	case instr.Has("bfly"):
		to = i ^ b
		ok = to <= most
	default:
		to = least | b&^segment
		ok = to <= most
	}
	if !ok {
		return lane
	}
	return width + int(to&31)
}

// exchange handles an operation whose results depend on several lanes, with invalid bits in at least one.
func (c *cta) exchange(e *probe.Event, f *frame, a *action) {
	lanes := e.Lanes
	switch a.behavior {
	case behaviorShuffle:
		r := a.sources[0]
		var bits [64]uint64
		var origins [64]uint32
		each(lanes, func(lane int) {
			if f.rowDirty(a.sources[1], lane) || f.rowDirty(a.sources[2], lane) {
				origin, _ := c.anyInvalid(e, f, a, 1<<lane)
				bits[lane], origins[lane] = lowBits(32), origin
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
	case behaviorVote, behaviorBallot, behaviorWarp:
		for half := uint64(0); half < 64; half += 32 {
			m := lanes & (lowBits(32) << half)
			if m == 0 {
				continue
			}
			origin, any := c.anyInvalid(e, f, a, m)
			if any && a.replaces(e, lowest(m)) {
				origin, any = c.invalidBut(e, f, a, m, a.added)
			}
			invalidBits := uint64(0) // invalid bits of the first source
			if r := a.sources[0]; r >= 0 {
				invalidBits = f.dirty[r] & m
			}
			if any && a.behavior == behaviorVote && c.decided(e, m&^invalidBits) {
				any = false
			}
			for i, r := range a.results {
				if r < 0 {
					continue
				}
				f.dirty[r] &^= m
				if !any {
					continue
				}
				bits := c.bitsOf(a, i)
				if a.behavior == behaviorBallot {
					bits = invalidBits >> half
				}
				each(m, func(lane int) { f.set(r, lane, bits, origin) })
			}
		}
	}
}

// replaces reports whether wgmma overwrites its accumulator without reading it.
func (a *action) replaces(e *probe.Event, lane int) bool {
	if a.scale < 0 {
		return false
	}
	if o := &a.op.Sources[a.scale]; o.Kind == probe.ConstantOperand {
		return o.Value == 0
	}
	return e.Source(a.scale).Lane(lane) == 0
}

// decided reports whether the lanes with valid predicates alone decide a vote.
func (c *cta) decided(e *probe.Event, valid uint64) bool {
	any, all := e.Instr.Has("any"), e.Instr.Has("all")
	anyTrue, anyFalse := false, false
	each(valid, func(lane int) {
		if e.Source(0).Lane(lane) != 0 { // for !%p: the complement
			anyTrue = true
		} else {
			anyFalse = true
		}
	})
	return any && anyTrue || all && anyFalse || !any && !all && anyTrue && anyFalse
}

func (f *frame) rowDirty(row, lane int) bool { return row >= 0 && f.dirty[row]>>lane&1 != 0 }

// found adds a finding for a use by lanes.
func (c *cta) found(e *probe.Event, k kind, lanes uint64, origin uint32, in *memory) {
	t := &kinds[k]
	f := finding.Finding{Tool: Name, Kind: t.name, Severity: t.severity, Message: t.message, Place: finding.PlaceOf(e, t.role, lowest(lanes)), Notes: notes(c.tool.originText(origin))}
	f.Place.Lanes = finding.Lanes(lanes)
	c.tool.log.Add(e, f)
}

// place returns the source position of an instruction, for notes.
func (p *plan) place(index int) string {
	instr, fn := p.program.At(index)
	return finding.SourcePlace(instr, fn)
}

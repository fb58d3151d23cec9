package gscalar

// This file gives the encodings of registers to other consumers of a launch, at the stores that write them to memory (docs/compress-once.md).

import (
	"gemu/machine/codec"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// Encodings is a stream.Encoder with the encodings of the registers of G-Scalar. It counts nothing.
type Encodings struct{ model Model }

// NewEncodings returns the encodings of the registers of all launches.
func NewEncodings() *Encodings { return &Encodings{Model{encodings: true}} }

// Subscription returns the events with results of instructions.
func (x *Encodings) Subscription() probe.Subscription {
	s := x.model.Subscription()
	s.Values, s.Results = false, true
	return s
}

// CTA returns the registers of a CTA.
func (x *Encodings) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) stream.EncoderSink {
	return x.model.CTA(l, index, id).(*cta)
}

// encodedLanes is the number of lanes of a warp whose stores are encoded: a register is then a line.
const encodedLanes = 32

// Stored implements stream.EncoderSink.
func (c *cta) Stored(e *probe.Event, a *probe.Access) (r codec.Registers) {
	f := e.Instr.Form
	if e.Lanes != c.allLanes || c.width != encodedLanes || a.Lanes != e.Lanes || a.Bulk() || f.Family != ptx.FamilyStore || f.Effects.Any(ptx.Async) {
		return r
	}
	var elems []ptx.Operand
	for i := range e.Instr.Ops {
		if o := &e.Instr.Ops[i]; o.Kind == ptx.VecOperand {
			elems = o.Elems()
		} else if o.Kind == ptx.RegOperand || o.Kind == ptx.ImmOperand {
			elems = e.Instr.Ops[i : i+1]
		} else {
			continue
		}
		break
	}
	if len(elems) == 0 || a.Bytes%(4*len(elems)) != 0 || a.Bytes > 4*codec.MaxWords || a.Bytes&(a.Bytes-1) != 0 {
		return r
	}
	regs, offsets := c.frame(e, e.Func), c.offsets[e.Func]
	for i := range elems {
		for k := range a.Bytes / 4 / len(elems) {
			if o := &elems[i]; o.Kind == ptx.RegOperand {
				if reg := &regs[offsets[o.Reg]+int32(k)]; reg.written && !reg.divergent {
					r.Of[r.Words] = reg.codes
				}
			} else {
				r.Of[r.Words] = codec.Word{codec.SharedBase: uint8(Scalar)}
			}
			r.Words++
		}
	}
	return r
}

// codes returns the encoding of a register by each method.
func (s *writeShape) codes() (w codec.Word) {
	moved, size := vector{}, 0
	for i, v := range s.vector[:s.n] {
		size = max(size, bytesOf(int32(v)))
		moved[i] = codec.FromSign(v)
	}
	w[codec.SharedBase] = uint8(s.enc)
	w[codec.ZeroBase] = uint8(4 - size)
	w[codec.SignMagnitude] = uint8(encode(&moved, lowLanes(s.n)))
	return w
}

package main

import (
	"math"
	"math/bits"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// nan is a sanitizer that reports instructions of type f32 and f64 whose result is NaN.
type nan struct {
	log *finding.Log
}

func (n *nan) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Values: true}
}

func (n *nan) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return n }

func (n *nan) OnEvent(e *probe.Event) {
	if e.Kind != probe.OnAfter {
		return
	}
	for i := range e.Writes {
		lanes := uint64(0)
		for left := e.Lanes; left != 0; left &= left - 1 {
			if lane := bits.TrailingZeros64(left); isNaN(&e.Writes[i], lane) {
				lanes |= 1 << lane
			}
		}
		if lanes == 0 {
			continue
		}
		place := finding.PlaceOf(e, "computed", bits.TrailingZeros64(lanes))
		place.Lanes = finding.Lanes(lanes)
		n.log.Add(e, finding.Finding{Tool: "nan", Kind: "nan", Severity: finding.Error, Message: "the result is NaN", Place: place})
	}
}

func isNaN(v *probe.Value, lane int) bool {
	switch v.Type {
	case ptx.F32:
		f := math.Float32frombits(uint32(v.Low[lane]))
		return f != f
	case ptx.F64:
		return math.IsNaN(math.Float64frombits(v.Low[lane]))
	}
	return false
}

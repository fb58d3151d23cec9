package recount

// This file counts the bytes that models of register files store for written registers, by docs/regfile.md.

import (
	"fmt"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Written counts the registers that the instructions of a line have written, without predicates.
type Written struct {
	Writes, Bytes int            // Bytes counts full vectors
	Stored        map[string]int // bytes, by model
	Sets          map[string]int // writes, by the models that store them in less than a vector: "kim gscalar"
}

// MachineAndWrites is a probe for warps of 32 lanes that recounts "kim", "avc", "gscalar" and "combined".
type MachineAndWrites struct {
	Machine
	Written map[int32]*Written // by line of the PTX

	lanesWritten map[[2]int]map[string]*Word // values written by lanes, by CTA and warp, and by depth, function, register and word
}

// Total adds up the lines.
func (b *MachineAndWrites) Total() Written {
	t := Written{Stored: map[string]int{}, Sets: map[string]int{}}
	for _, w := range b.Written {
		t.Writes += w.Writes
		t.Bytes += w.Bytes
		for name, n := range w.Stored {
			t.Stored[name] += n
		}
		for name, n := range w.Sets {
			t.Sets[name] += n
		}
	}
	return t
}

// Subscription adds calls to the events of the machine.
func (b *MachineAndWrites) Subscription() probe.Subscription {
	w := b.Machine.Subscription()
	w.Events |= probe.OnCall
	return w
}

// CTA returns the probe itself for all CTAs.
func (b *MachineAndWrites) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return b }

// OnEvent counts the registers that an instruction writes.
func (b *MachineAndWrites) OnEvent(e *probe.Event) {
	b.Machine.OnEvent(e)
	warp := [2]int{e.CTA, e.Warp}
	switch e.Kind {
	case probe.OnWarp: // it begins with empty registers
		if b.lanesWritten == nil {
			b.lanesWritten = map[[2]int]map[string]*Word{}
		}
		b.lanesWritten[warp] = map[string]*Word{}
	case probe.OnCall: // registers of the function are empty in the lanes that call it
		for name, w := range b.lanesWritten[warp] {
			if strings.HasPrefix(name, fmt.Sprint(e.Depth, " ", e.Callee.Name, " ")) {
				for lane := range w.Present {
					w.Present[lane] = w.Present[lane] && e.Lanes>>lane&1 == 0
				}
			}
		}
	}
	if e.Kind != probe.OnAfter || e.Lanes == 0 {
		return
	}
	n := 0 // number of written registers, without predicates
	for i := range e.Writes {
		v := &e.Writes[i]
		if v.Type == ptx.Pred {
			continue
		}
		words := max(1, v.Type.Bits()/32)
		all := 128 * words
		stored := map[string]int{"kim": b.Machine.written[n]}
		n++
		for k := range words {
			w := Word{}
			for lane := range w.Present {
				w.Present[lane], w.Value[lane] = e.Lanes>>lane&1 != 0, uint32(v.Low[lane]>>(32*k))
			}
			name := fmt.Sprint(e.Depth, " ", e.Func.Name, " ", v.Reg, " ", k)
			whole := b.lanesWritten[warp][name] // with the values of the remaining lanes
			if whole == nil {
				whole = &Word{}
				b.lanesWritten[warp][name] = whole
			}
			for _, lane := range w.lanes() {
				whole.Present[lane], whole.Value[lane] = true, w.Value[lane]
			}
			bytes := 128
			if _, _, ok := whole.findLine(); ok {
				bytes = 8 // instead of 128 bytes: an AVC line holds 16 vectors
			}
			stored["avc"] += bytes
			bytes, combined := 128, 128
			if len(w.lanes()) == 32 {
				bytes = gscalarBytes(&w)
				if combined = bytes; combined > 8 && w.isProgression() {
					combined = 8
				}
			}
			stored["gscalar"] += bytes
			stored["combined"] += combined
		}
		if b.Written == nil {
			b.Written = map[int32]*Written{}
		}
		line := b.Written[e.Instr.Pos.Line]
		if line == nil {
			line = &Written{Stored: map[string]int{}, Sets: map[string]int{}}
			b.Written[e.Instr.Pos.Line] = line
		}
		line.Writes++
		line.Bytes += all
		var set []string
		for _, name := range []string{"kim", "avc", "gscalar", "combined"} {
			line.Stored[name] += stored[name]
			if stored[name] < all {
				set = append(set, name)
			}
		}
		line.Sets[strings.Join(set, " ")]++
	}
}

// gscalarBytes returns the stored bytes of a word that all lanes write: leading bytes (pairs of hexadecimal digits)
// that all lanes share are stored once.
func gscalarBytes(w *Word) int {
	equalBytes := 0
	for equalBytes < 4 {
		for _, v := range w.Value {
			if fmt.Sprintf("%08x", v)[:2*equalBytes+2] != fmt.Sprintf("%08x", w.Value[0])[:2*equalBytes+2] {
				return equalBytes + 32*(4-equalBytes)
			}
		}
		equalBytes++
	}
	return 4
}

// isProgression reports whether the difference from lane to lane is constant modulo 2^32.
func (w *Word) isProgression() bool {
	for i := 1; i < 32; i++ {
		if w.Value[i]-w.Value[i-1] != w.Value[1]-w.Value[0] {
			return false
		}
	}
	return true
}

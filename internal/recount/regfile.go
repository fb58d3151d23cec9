package recount

// This file is what models of register files store of what instructions write, by docs/regfile.md.

import (
	"fmt"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// Written is the registers that the instructions of a line have written, predicates left out.
type Written struct {
	Writes, Bytes int            // as vectors
	Stored        map[string]int // bytes, by model
	Sets          map[string]int // writes, by the models that keep them in less than a vector: "kim gscalar"
}

// Beside is a probe of warps of 32 lanes that knows of "kim", "avc", "gscalar" and "combined".
type Beside struct {
	Machine
	Written map[int32]*Written // by line of the PTX
}

// Total adds up the lines.
func (b *Beside) Total() Written {
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

// CTA has nothing of its own.
func (b *Beside) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink { return b }

// Tell counts what an instruction writes.
func (b *Beside) Tell(e *interp.Event) {
	b.Machine.Tell(e)
	if e.Kind != interp.OnAfter || e.Lanes == 0 {
		return
	}
	n := 0 // of what is no predicate
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
			for lane := range w.Has {
				w.Has[lane], w.Value[lane] = e.Lanes>>lane&1 != 0, uint32(v.Low[lane]>>(32*k))
			}
			bytes := 128
			if _, _, ok := w.line(); ok {
				bytes = 8 // of 128 bytes, a line of 16 vectors
			}
			stored["avc"] += bytes
			bytes, combined := 128, 128
			if len(w.lanes()) == 32 {
				bytes = byteWise(&w)
				if combined = bytes; combined > 8 && w.progression() {
					combined = 8
				}
			}
			stored["gscalar"] += bytes
			stored["combined"] += combined
		}
		if b.Written == nil {
			b.Written = map[int32]*Written{}
		}
		to := b.Written[e.Instr.Pos.Line]
		if to == nil {
			to = &Written{Stored: map[string]int{}, Sets: map[string]int{}}
			b.Written[e.Instr.Pos.Line] = to
		}
		to.Writes++
		to.Bytes += all
		var set []string
		for _, name := range []string{"kim", "avc", "gscalar", "combined"} {
			to.Stored[name] += stored[name]
			if stored[name] < all {
				set = append(set, name)
			}
		}
		to.Sets[strings.Join(set, " ")]++
	}
}

// byteWise is the bytes of a word that is written whole: those of its hexadecimal digits that all lanes share from
// the left, in pairs, stand once.
func byteWise(w *Word) int {
	same := 0
	for same < 4 {
		for _, v := range w.Value {
			if fmt.Sprintf("%08x", v)[:2*same+2] != fmt.Sprintf("%08x", w.Value[0])[:2*same+2] {
				return same + 32*(4-same)
			}
		}
		same++
	}
	return 4
}

// progression reports whether lanes go up by the same number, any, modulo 2^32.
func (w *Word) progression() bool {
	for i := 1; i < 32; i++ {
		if w.Value[i]-w.Value[i-1] != w.Value[1]-w.Value[0] {
			return false
		}
	}
	return true
}

package core

import (
	"math/bits"
	"slices"

	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// This file has forms in the L1, and stores of parts of lines that wait for each other, on a multiprocessor with assist warps.

// keepForm notes the form in which a reply leaves its line in the L1. With further tags other lines of the set leave for it.
func (s *sm) keepForm(line *l1Line, r *memory.Reply) {
	a := s.assists
	if a.L1Tags < 2 && !a.DirectLoad {
		return
	}
	line.form = uint8(r.Bursts)
	if a.L1Tags < 2 {
		return
	}
	s.l1.Trim(r.Line, s.run.plan.L1.Ways*memory.LineBursts, func(line *l1Line) int {
		switch {
		case line.valid == 0: // in flight
			return 0
		case line.form > 0:
			return int(line.form)
		default:
			return memory.LineBursts
		}
	}, func(uint64, *l1Line) {})
}

// dropForm removes a line from the L1 that a store or an atomic changes, if it is in a form.
func (s *sm) dropForm(number uint64, line *l1Line) {
	if line.form > 0 {
		s.l1.Remove(number)
	}
}

// loadForm starts an assist warp for a load of a line that the L1 has in a form, or merges the load with another one of the line. It returns false
// if the load must wait for an MSHR.
func (s *sm) loadForm(load int32, line uint64, bursts uint8, now int64) bool {
	inFlight, room := s.mshrs.Look(line)
	if !room {
		s.blocked = true
		return false
	}
	s.mshrs.Add(line, allSectors, load)
	s.loads[load].missing++
	if inFlight != 0 {
		return true
	}
	s.run.unanswered++
	s.run.counts.AssistHits++
	reply := memory.Reply{SM: s.number, ID: lineReply, Line: line, Sectors: allSectors, At: now, Bursts: int(bursts)}
	if !s.takeReply(&reply, now) {
		s.deliver(&reply, now)
	}
	return true
}

// readsForms reports whether a load takes its bytes from forms in no time: if a request accesses several lines, and of one of them a part.
func (s *sm) readsForms(w *stream.Warp, q *stream.Request) bool {
	return s.assists != nil && s.assists.DirectLoad && q.N > 1 && slices.ContainsFunc(w.Transactions[q.First:][:q.N], func(t stream.Transaction) bool { return t.Sectors != allSectors })
}

// combinedStore is stores of parts of a line that wait in the buffer for further ones.
type combinedStore struct {
	request memory.Request // of the latest store
	bytes   stream.ByteSet // of all stores
	line    stream.Line    // has these bytes
	load    int32          // of the latest store, which waits until the line is sent
	instr   int32          // its instruction
}

// findCombined returns the index of the stores of a line that wait in the buffer; -1: there are none.
func (a *assists) findCombined(line uint64) int {
	return slices.IndexFunc(a.combined, func(g combinedStore) bool { return g.request.Line == line })
}

// sendCombinedOf sends the combined stores of a line before another access of it. It returns false if the access must wait, because the memory
// takes no request.
func (s *sm) sendCombinedOf(line uint64, now int64) bool {
	if s.assists == nil {
		return true
	}
	i := s.assists.findCombined(line)
	return i < 0 || s.sendCombined(i, now)
}

// makeRoom sends combined stores before a store or an atomic: those of its line if it cannot be combined with them, or the oldest if it needs a place
// in the buffer. It returns false if the access must wait, because the memory takes no request.
func (s *sm) makeRoom(q *memory.Request, content *stream.Content, now int64) bool {
	a := s.assists
	switch {
	case q.Kind != probe.AccessStore || !content.Known():
		return s.sendCombinedOf(q.Line, now)
	case a.findCombined(q.Line) < 0 && a.buffered >= a.StoreBuffer && len(a.combined) > 0:
		return s.sendCombined(0, now)
	}
	return true
}

// combine takes a store of a part of a line into the buffer. It returns false if the buffer has no place.
func (s *sm) combine(q *memory.Request, content *stream.Content, load, instr int32, now int64) bool {
	a := s.assists
	i := a.findCombined(q.Line)
	if i < 0 {
		if a.buffered >= a.StoreBuffer {
			return false
		}
		a.buffered++
		i = len(a.combined)
		a.combined = append(a.combined, combinedStore{request: *q})
	} else {
		s.run.counts.CombinedStores++
		defer s.arrived(a.combined[i].load, now) // the line waits for the latest store
	}
	s.loads[load].missing++
	g := &a.combined[i]
	g.load, g.instr = load, instr
	g.request.CTA, g.request.Warp, g.request.Instr = q.CTA, q.Warp, q.Instr
	g.line.Write(content)
	g.request.Bytes, g.request.Sectors, g.request.Whole = 0, 0, 0
	for sector := range g.bytes {
		g.bytes[sector] |= content.Bytes[sector]
		n := bits.OnesCount32(g.bytes[sector])
		g.request.Bytes += n
		if n > 0 {
			g.request.Sectors |= 1 << sector
		}
		if n == stream.SectorBytes {
			g.request.Whole |= 1 << sector
		}
	}
	if g.bytes != stream.WholeLine {
		return true
	}
	whole := g.request
	all := &stream.Content{Bytes: stream.WholeLine, Data: slices.Clone(g.line[:])}
	whole.Content = all
	bursts, compress := s.run.plan.Forms.Store(s.number, whole.Line, all)
	whole.Bursts = bursts
	w := &assistWarp{Execution: compress, slot: int(s.loads[load].slot), instr: instr, load: load, store: &whole}
	a.combined = slices.Delete(a.combined, i, i+1)
	if compress == nil {
		a.unsent = append(a.unsent, w)
		return true
	}
	s.run.counts.AssistStores++
	a.trigger(w, now)
	return true
}

// dropCombined removes the combined stores of a line that a store overwrites.
func (s *sm) dropCombined(line uint64, now int64) {
	a := s.assists
	if i := a.findCombined(line); i >= 0 {
		load := a.combined[i].load
		a.combined = slices.Delete(a.combined, i, i+1)
		a.buffered--
		s.arrived(load, now)
	}
}

// sendCombined sends the stores of a line that wait in the buffer as a store of a part of it. It returns false, and keeps them, if the memory
// takes no request.
func (s *sm) sendCombined(i int, now int64) bool {
	a := s.assists
	g := a.combined[i]
	content := &stream.Content{Bytes: g.bytes}
	for sector, set := range g.bytes {
		if set != 0 {
			content.Data = append(content.Data, g.line[sector*stream.SectorBytes:][:stream.SectorBytes]...)
		}
	}
	g.request.Content, g.request.Acknowledged = content, true
	g.request.ID = a.newPartial(&g.request, g.load)
	if !s.send(&g.request, now) {
		a.free = append(a.free, g.request.ID-firstPartial)
		return false
	}
	a.buffered--
	a.combined = slices.Delete(a.combined, i, i+1)
	return true
}

// warpHasIssuedAll reports whether the warp of the latest of combined stores has issued its last instruction.
func (s *sm) warpHasIssuedAll(g *combinedStore) bool {
	w := &s.slots[s.loads[g.load].slot]
	return w.next == len(w.Executed)
}

// mustSendCombined reports whether stores wait in the buffer whose warp has issued its last instruction: they must be sent as soon as memory takes them.
func (s *sm) mustSendCombined() bool {
	return slices.ContainsFunc(s.assists.combined, func(g combinedStore) bool { return s.warpHasIssuedAll(&g) })
}

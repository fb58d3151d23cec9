package async

// This file executes cp.async. A warp issues one object for all lanes of an instruction, a WarpCopy. Its lanes behave like
// separate effects: each has its own place in the order of issue, and a wait executes the copies of its lanes in turn. If
// the memory of all lanes is found at once, their bytes are copied without further checks. Otherwise each lane is issued on its
// own. A lane executes as an AsyncEffect for probes, and if its memory is not located.

import (
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// laneCopyBytes is the number of bytes that the pending copy of a lane counts against the memory limit of the CTA.
const laneCopyBytes = uint64(unsafe.Sizeof(machine.AsyncEffect{}))

// queueOf returns the cp.async work of half h of a warp.
func queueOf(w *machine.Warp, h int) *machine.CopyQueue {
	a, halves := &w.CTA.AsyncState, len(w.Files)
	if len(a.Copies) == 0 {
		n := len(w.CTA.Warps) * halves
		a.Copies = slices.Grow(a.Copies, n)[:n]
		for i := range a.Copies {
			q := &a.Copies[i]
			q.Sets = append(q.Sets[:0], machine.CommitLanes{Lanes: uint32(w.CTA.Warps[i/halves].AllLanes() >> (32 * (i % halves)))})
		}
	}
	return &a.Copies[w.ID*halves+h]
}

// groupsOf returns the number of groups that a lane has committed.
func groupsOf(q *machine.CopyQueue, lane int) int {
	for _, s := range q.Sets {
		if s.Lanes>>lane&1 != 0 {
			return s.Groups
		}
	}
	return 0
}

// commitCopies commits a group in each lane of m.
func commitCopies(q *machine.CopyQueue, m uint32) {
	if len(q.Sets) == 1 && q.Sets[0].Lanes&^m == 0 {
		q.Sets[0].Groups++
		return
	}
	var sets []machine.CommitLanes
	add := func(lanes uint32, groups int) {
		i := slices.IndexFunc(sets, func(s machine.CommitLanes) bool { return s.Groups == groups })
		switch {
		case lanes == 0:
		case i >= 0:
			sets[i].Lanes |= lanes
		default:
			sets = append(sets, machine.CommitLanes{Lanes: lanes, Groups: groups})
		}
	}
	for _, s := range q.Sets {
		add(s.Lanes&m, s.Groups+1)
		add(s.Lanes&^m, s.Groups)
	}
	q.Sets = sets
}

// dropDoneCopies removes the objects without pending lanes from a queue.
func dropDoneCopies(a *machine.AsyncState, q *machine.CopyQueue) {
	n := 0
	for _, p := range q.Pending {
		if p.Lanes == 0 {
			a.FreeCopies = append(a.FreeCopies, p)
			continue
		}
		q.Pending[n] = p
		n++
	}
	q.Pending = q.Pending[:n]
}

// cloneCopyQueues returns a copy of queues. The copy shares nothing that changes, and refers to no memory of a device.
func cloneCopyQueues(queues []machine.CopyQueue) []machine.CopyQueue {
	queues = slices.Clone(queues)
	for i := range queues {
		q := &queues[i]
		q.Sets, q.Pending = slices.Clone(q.Sets), slices.Clone(q.Pending)
		for k, p := range q.Pending {
			c := *p
			c.Source = nil
			q.Pending[k] = &c
		}
	}
	return queues
}

// AsyncCopy executes the cp.async instructions that copy.
func AsyncCopy(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	c := w.CTA
	p := newObject(&c.AsyncState.FreeCopies)
	p.Src, p.Warp, p.Half, p.Active, p.Imm, p.Issued, p.Lanes = w.SourceOf(instr), w.ID, h, w.Mask, instr.Imm, m, m
	_, _, p.Size = code.CopyOf(instr.Imm)
	readSizes(p, f, instr.C)
	to, from := f.Src64(instr.A), f.Src64(instr.B)
	if p.IsContiguous = p.IsWhole && m == regfile.Full && areAdjacent(from, uint64(p.Size)) && areAdjacent(to, uint64(p.Size)); p.IsContiguous {
		p.To[0], p.From[0] = to[0], from[0]
	} else {
		p.To, p.From = *to, *from
	}
	if locateCopies(c, p) {
		w.Err = issueCopies(w, p)
		return
	}
	op, sizes := code.AsyncOf(instr.Imm), f.Src32(instr.C)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := laneEffect(c, p, lane)
		if e.Bytes = uint64(sizes[lane]); e.Bytes > uint64(op.Bytes) {
			failAsync(w, e, "a source size of %d bytes for a copy of %d bytes", e.Bytes, op.Bytes)
			return
		}
		if resolveEffect(w, e) {
			w.Err = issueCopies(w, copyOfLanes(&c.AsyncState, p, 1<<lane))
		}
	}
	c.AsyncState.FreeCopies = append(c.AsyncState.FreeCopies, p)
}

// areAdjacent reports whether the addresses of neighbouring lanes are size bytes apart.
func areAdjacent(addresses *regfile.Row64, size uint64) bool {
	want := addresses[0]
	if addresses[1] != want+size {
		return false
	}
	var other uint64
	for i := 0; i < regfile.Lanes; i += 4 {
		a := (*[4]uint64)(addresses[i:])
		other |= (a[0] ^ want) | (a[1] ^ (want + size)) | (a[2] ^ (want + 2*size)) | (a[3] ^ (want + 3*size))
		want += 4 * size
	}
	return other == 0
}

// addressesOf returns the addresses of a lane.
func addressesOf(p *machine.WarpCopy, lane int) (to, from uint64) {
	if p.IsContiguous {
		distance := uint64(lane * p.Size)
		return p.To[0] + distance, p.From[0] + distance
	}
	return p.To[lane], p.From[lane]
}

// readSizes reads the number of bytes that each lane copies from row i. Numbers above p.Size become p.Size+1.
func readSizes(p *machine.WarpCopy, f *regfile.File, i int32) {
	sizes := f.Src32(i)
	p.Reads = p.Issued
	if p.IsWhole = i < 0 && sizes[0] == uint32(p.Size); p.IsWhole { // a constant
		return
	}
	whole := uint32(0)
	for lane, n := range sizes {
		switch n {
		case 0:
			p.Reads &^= 1 << lane
		case uint32(p.Size):
			whole |= 1 << lane
		}
		p.Bytes[lane] = uint8(min(n, uint32(p.Size+1)))
	}
	p.IsWhole = p.Issued&^whole == 0
}

// bytesOf returns the number of bytes that a lane reads.
func bytesOf(p *machine.WarpCopy, lane int) uint64 {
	if p.IsWhole {
		return uint64(p.Size)
	}
	return uint64(p.Bytes[lane])
}

// copyOfLanes returns a copy of p for some of its lanes.
func copyOfLanes(a *machine.AsyncState, p *machine.WarpCopy, lanes uint32) *machine.WarpCopy {
	q := newObject(&a.FreeCopies)
	*q = *p
	for i := range q.To {
		q.To[i], q.From[i] = addressesOf(p, i)
	}
	q.Issued, q.Lanes, q.Reads, q.IsContiguous = lanes, lanes, q.Reads&lanes, false
	return q
}

// laneEffect returns the copy of a lane as an effect.
func laneEffect(c *machine.CTA, p *machine.WarpCopy, lane int) *machine.AsyncEffect {
	n := bytesOf(p, lane)
	to, from := addressesOf(p, lane)
	return &machine.AsyncEffect{
		CTA: c, Sequence: p.LaneSequence(lane), Src: p.Src, Warp: p.Warp, Lane: 32*p.Half + lane, Active: p.Active, Group: p.Group, Op: code.AsyncOf(p.Imm),
		To: to, From: from, Bytes: n, Fill: uint64(p.Size) - n, KeptBytes: laneCopyBytes,
	}
}

// locateCopies finds the memory of all issued lanes. It returns false, with Source nil, if a lane may be invalid, or if the
// sources are in several allocations: then each lane must be checked separately.
//
//go:norace
func locateCopies(c *machine.CTA, p *machine.WarpCopy) bool {
	p.Source = nil
	toSpace, fromSpace, _ := code.CopyOf(p.Imm)
	size := uint64(p.Size)
	if toSpace != ptx.Shared || fromSpace != ptx.Global || size&(size-1) != 0 {
		return false
	}
	source, first := c.SharedMem, bits.TrailingZeros32(p.Reads)&31
	if p.Reads != 0 {
		if source = sourceAt(c, p.From[first]); source == nil {
			return false
		}
	}
	toBase, fromBase := c.SharedMem.Base-probe.SharedWindow, source.Base
	toFirst, toLast, fromLast, unaligned := ^uint64(0), uint64(0), uint64(0), uint64(0)
	switch {
	case p.IsContiguous:
		toFirst, fromLast = p.To[0]-toBase, p.From[0]-fromBase
		toLast, fromLast = toFirst+(regfile.Lanes-1)*size, fromLast+(regfile.Lanes-1)*size
		unaligned = p.To[0] | p.From[0]
		if toLast < toFirst {
			return false
		}
	case p.IsWhole && p.Issued == regfile.Full:
		for i := range regfile.Lanes {
			to, from := p.To[i], p.From[i]
			unaligned |= to | from
			to -= toBase
			toFirst, toLast, fromLast = min(toFirst, to), max(toLast, to), max(fromLast, from-fromBase)
		}
	default:
		for m := p.Issued; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			to := p.To[i] - toBase
			toFirst, toLast = min(toFirst, to), max(toLast, to)
			unaligned |= p.To[i]
			switch n := bytesOf(p, i); {
			case n > size:
				return false
			case n > 0: // otherwise no source is read, and its address may have any value
				unaligned |= p.From[i]
				fromLast = max(fromLast, p.From[i]-fromBase)
			}
		}
	}
	if unaligned&(size-1) != 0 || !isWithin(toLast, size, c.SharedMem.Size) || !isWithin(fromLast, size, source.Size) {
		return false
	}
	p.Source, p.SourceEnd, p.ToFirst, p.ToEnd = source, fromLast+size, toFirst, toLast+size
	return true
}

// sourceAt returns the allocation at an address if cp.async can read all of it; otherwise nil.
//
//go:norace
func sourceAt(c *machine.CTA, addr uint64) *mem.Allocation {
	source := c.AsyncState.LastSource
	if source != nil && !source.Freed && addr-source.Base < source.Size {
		return source
	}
	source = c.Grid.Device.Memory.Find(addr)
	request := mem.Access{Request: probe.Request{Space: ptx.Global, Kind: probe.AccessLoad}}
	if source == nil || source.Freed || source.MayFault() || !request.Allowed(source) {
		return nil
	}
	c.AsyncState.LastSource = source
	return source
}

// isWithin reports whether n bytes from offset on end at or before end.
func isWithin(offset, n, end uint64) bool { return offset <= end && n <= end-offset }

// issueCopies issues the copies of all lanes of p, whose addresses must be valid, and takes over p.
func issueCopies(w *machine.Warp, p *machine.WarpCopy) error {
	c, q := w.CTA, queueOf(w, p.Half)
	a, lanes, eager := &c.AsyncState, p.Issued, c.Grid.EagerEffects
	n := uint64(bits.OnesCount32(lanes))
	i := slices.IndexFunc(q.Sets, func(s machine.CommitLanes) bool { return s.Lanes&lanes == lanes })
	if i < 0 || n > 1 && !eager && a.KeptBytes+n*laneCopyBytes > MaxEffectBytes(c.Grid) {
		// The lanes have committed different numbers of groups, or the oldest effects happen before the last lane issues its copy.
		for m := lanes; m != 0; m &= m - 1 {
			if err := issueCopies(w, copyOfLanes(a, p, m&-m)); err != nil {
				return err
			}
		}
		a.FreeCopies = append(a.FreeCopies, p)
		return nil
	}
	c.Changed = true
	p.Group, p.Sequence = q.Sets[i].Groups, c.Cluster.Sequence
	c.Cluster.Sequence += int64(n)
	a.KeptBytes += n * laneCopyBytes
	if c.IsSubscribed(probe.OnEffect) && (eager || !emitCopies(c, p, true)) {
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			emitEffect(laneEffect(c, p, lane), machine.StageIssued)
			if eager {
				if err := executeLane(c, p, lane); err != nil {
					return err
				}
			}
		}
		if eager {
			a.FreeCopies = append(a.FreeCopies, p)
			return nil
		}
	}
	if eager {
		err := executeCopies(c, []*machine.WarpCopy{p}, lanes)
		a.FreeCopies = append(a.FreeCopies, p)
		return err
	}
	q.Pending = append(q.Pending, p)
	return limitEffects(c)
}

// awaitCopies completes a wait for groups of cp.async in the lanes of m. Lane i waits for all its groups except the last
// keepGroups[i]; uniform says that all elements of keepGroups are equal. With all, it first commits the open group, as
// cp.async.wait_all does. Copies happen lane after lane, for each lane in the order of issue.
func awaitCopies(c *machine.CTA, q *machine.CopyQueue, all bool, keepGroups *regfile.Row32, uniform bool, m uint32) error {
	if all {
		commitCopies(q, m)
	}
	if len(q.Pending) == 0 {
		return nil
	}
	first := bits.TrailingZeros32(m) & 31
	if limit := q.Sets[0].Groups - keptGroups(keepGroups[first]); uniform && q.Sets[0].Lanes&m == m {
		n := 0
		for n < len(q.Pending) && q.Pending[n].Group < limit {
			n++
		}
		if !slices.ContainsFunc(q.Pending[n:], func(p *machine.WarpCopy) bool { return p.Lanes&m != 0 && p.Group < limit }) {
			err := executeCopies(c, q.Pending[:n], m)
			dropDoneCopies(&c.AsyncState, q)
			return err
		}
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		limit := groupsOf(q, lane) - keptGroups(keepGroups[lane])
		for _, p := range q.Pending {
			if p.Group < limit {
				if err := executeLane(c, p, lane); err != nil {
					return err
				}
			}
		}
	}
	dropDoneCopies(&c.AsyncState, q)
	return nil
}

// executeCopiesBefore executes the pending copies that a lane has issued before the effect with the given Sequence.
func executeCopiesBefore(c *machine.CTA, q *machine.CopyQueue, lane int, sequence int64) error {
	if len(q.Pending) == 0 {
		return nil
	}
	for _, p := range q.Pending {
		if p.LaneSequence(lane) < sequence {
			if err := executeLane(c, p, lane); err != nil {
				return err
			}
		}
	}
	dropDoneCopies(&c.AsyncState, q)
	return nil
}

// executeLane executes the copy of a lane, if it is pending.
func executeLane(c *machine.CTA, p *machine.WarpCopy, lane int) error {
	if p.Lanes>>lane&1 == 0 {
		return nil
	}
	if !c.IsSubscribed(probe.OnEffect) && isLocated(c, p) {
		copyLanes(c, p, 1<<lane)
		noteCopied(c, p, 1<<lane)
		return nil
	}
	e := laneEffect(c, p, lane)
	p.Lanes &^= 1 << lane
	return executeEffect(e)
}

// executeCopies executes the pending copies of the list in the lanes of m: lane after lane, for each lane in the order of
// the list.
func executeCopies(c *machine.CTA, list []*machine.WarpCopy, m uint32) error {
	watched := c.IsSubscribed(probe.OnEffect)
	located, apart, end := true, true, uint64(0)
	for _, p := range list {
		located = located && isLocated(c, p)
		apart = apart && p.ToFirst >= end
		end = p.ToEnd
	}
	if !apart && watched {
		apart = areApart(list)
	}
	switch {
	case watched && located && apart && canEmitCopies(c, list, m):
		for _, p := range list {
			emitCopies(c, p, false)
			copyLanes(c, p, p.Lanes)
		}
	case !located || watched:
		for ; m != 0; m &= m - 1 {
			for _, p := range list {
				if err := executeLane(c, p, bits.TrailingZeros32(m)&31); err != nil {
					return err
				}
			}
		}
		return nil
	case apart || len(list) == 1: // the order of the list gives the same bytes
		for _, p := range list {
			copyLanes(c, p, m&p.Lanes)
		}
	default:
		for r := m; r != 0; r &= r - 1 {
			for _, p := range list {
				copyLanes(c, p, r&-r&p.Lanes)
			}
		}
	}
	for _, p := range list {
		noteCopied(c, p, m&p.Lanes)
	}
	return nil
}

// areApart reports whether the copies of a short list write to separate ranges.
func areApart(list []*machine.WarpCopy) bool {
	const maxLength = 32
	if len(list) > maxLength {
		return false
	}
	for i, p := range list {
		for _, q := range list[:i] {
			if p.ToFirst < q.ToEnd && q.ToFirst < p.ToEnd {
				return false
			}
		}
	}
	return true
}

// noteCopied makes the lanes of m, whose bytes have been copied, no longer pending.
func noteCopied(c *machine.CTA, p *machine.WarpCopy, m uint32) {
	p.Lanes &^= m
	c.Changed = true
	c.AsyncState.KeptBytes -= uint64(bits.OnesCount32(m)) * laneCopyBytes
}

// isLocated reports whether the memory of all lanes is known and still accessible.
//
//go:norace
func isLocated(c *machine.CTA, p *machine.WarpCopy) bool {
	return p.Source != nil && !p.Source.Freed && p.SourceEnd <= p.Source.Size || locateCopies(c, p)
}

// copyLanes copies the bytes of the lanes of m, in ascending order. The memory of p must be located.
//
//go:norace
func copyLanes(c *machine.CTA, p *machine.WarpCopy, m uint32) {
	shared, source := c.SharedMem.Ptr, p.Source.Ptr
	toBase, fromBase := c.SharedMem.Base-probe.SharedWindow, p.Source.Base
	switch {
	case p.IsContiguous && m == regfile.Full:
		n := regfile.Lanes * p.Size
		copy(unsafe.Slice((*byte)(unsafe.Add(shared, p.To[0]-toBase)), n), unsafe.Slice((*byte)(unsafe.Add(source, p.From[0]-fromBase)), n))
	case p.IsWhole && m == regfile.Full && p.Size == 4:
		copyElements[uint32](shared, source, toBase, fromBase, p)
	case p.IsWhole && m == regfile.Full && p.Size == 8:
		copyElements[uint64](shared, source, toBase, fromBase, p)
	case p.IsWhole && m == regfile.Full:
		copyElements[[2]uint64](shared, source, toBase, fromBase, p)
	default:
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			to, from := addressesOf(p, lane)
			n := bytesOf(p, lane)
			target := unsafe.Slice((*byte)(unsafe.Add(shared, to-toBase)), p.Size)
			if n > 0 {
				copy(target, unsafe.Slice((*byte)(unsafe.Add(source, from-fromBase)), n))
			}
			clear(target[n:])
		}
	}
}

// copyElements copies an element of type E for each lane.
//
//go:norace
func copyElements[E uint32 | uint64 | [2]uint64](shared, source unsafe.Pointer, toBase, fromBase uint64, p *machine.WarpCopy) {
	for i := range regfile.Lanes {
		*(*E)(unsafe.Add(shared, p.To[i]-toBase)) = *(*E)(unsafe.Add(source, p.From[i]-fromBase))
	}
}

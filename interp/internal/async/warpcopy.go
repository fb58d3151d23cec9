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
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// laneCopyBytes is the number of bytes that the pending copy of a lane counts against the memory limit of the CTA.
const laneCopyBytes = uint64(unsafe.Sizeof(machine.AsyncEffect{}))

// queueOf returns the cp.async work of half h of a warp.
func queueOf(w *machine.Warp, h int) *native.CopyQueue {
	a, halves := &w.CTA.AsyncState, len(w.Files)
	if len(a.Copies) == 0 {
		n := len(w.CTA.Warps) * halves
		a.Copies = slices.Grow(a.Copies, n)[:n]
		for i := range a.Copies {
			q := &a.Copies[i]
			q.Sets = append(q.Sets[:0], native.CommitLanes{Lanes: uint32(w.CTA.Warps[i/halves].AllLanes() >> (32 * (i % halves)))})
			q.CopyPlace = native.CopyPlace{Warp: int32(i / halves), Half: int32(i % halves)}
		}
		a.MaxBytes, a.LaneBytes, a.IsEager = MaxEffectBytes(w.CTA.Grid), laneCopyBytes, w.CTA.Grid.EagerEffects
	}
	return &a.Copies[w.ID*halves+h]
}

// groupsOf returns the number of groups that a lane has committed.
func groupsOf(q *native.CopyQueue, lane int) int {
	for _, s := range q.Sets {
		if s.Lanes>>lane&1 != 0 {
			return int(s.Groups)
		}
	}
	return 0
}

// commitCopies commits a group in each lane of m.
func commitCopies(q *native.CopyQueue, m uint32) {
	if len(q.Sets) == 1 && q.Sets[0].Lanes&^m == 0 {
		q.Sets[0].Groups++
		return
	}
	var sets []native.CommitLanes
	add := func(lanes uint32, groups int64) {
		i := slices.IndexFunc(sets, func(s native.CommitLanes) bool { return s.Groups == groups })
		switch {
		case lanes == 0:
		case i >= 0:
			sets[i].Lanes |= lanes
		default:
			sets = append(sets, native.CommitLanes{Lanes: lanes, Groups: groups})
		}
	}
	for _, s := range q.Sets {
		add(s.Lanes&m, s.Groups+1)
		add(s.Lanes&^m, s.Groups)
	}
	q.Sets = sets
}

// dropDoneCopies removes the objects without pending lanes from a queue.
func dropDoneCopies(a *machine.AsyncState, q *native.CopyQueue) {
	n := 0
	for _, i := range q.Pending {
		if p := a.Objects[i]; p.Lanes == 0 {
			a.Release(p)
			continue
		}
		q.Pending[n] = i
		n++
	}
	q.Pending = q.Pending[:n]
}

// cloneCopies makes the cp.async work of a CTA a copy of another CTA's work. The copy shares nothing that changes, and refers
// to no memory of a device.
func cloneCopies(a, other *machine.AsyncState) {
	a.Copies = slices.Clone(other.Copies)
	for i := range a.Copies {
		q := &a.Copies[i]
		q.Sets, q.Pending = slices.Clone(q.Sets), slices.Clone(q.Pending)
		for k, number := range q.Pending {
			p := copyOf(a, other.Objects[number])
			p.IsLocated, p.Source = false, native.NoSource
			q.Pending[k] = p.Number
		}
	}
}

// copyOf returns a new object with the contents of p.
func copyOf(a *machine.AsyncState, p *native.WarpCopy) *native.WarpCopy {
	q := a.Copy()
	number := q.Number
	*q = *p
	q.Number = number
	return q
}

// AsyncCopy executes the cp.async instructions that copy.
func AsyncCopy(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	c := w.CTA
	p := c.AsyncState.Copy()
	p.Src, p.CopyPlace, p.Active, p.Imm, p.Issued, p.Lanes = instr.Src, native.CopyPlace{Warp: int32(w.ID), Half: int32(h)}, w.Mask, instr.Imm, m, m
	_, _, size := code.CopyOf(instr.Imm)
	p.Size = int32(size)
	readSizes(p, f, instr.C)
	to, from := f.Src64(instr.A), f.Src64(instr.B)
	if p.IsContiguous = p.IsWhole && m == regfile.Full && areAdjacent(from, uint64(size)) && areAdjacent(to, uint64(size)); p.IsContiguous {
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
	c.AsyncState.Release(p)
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
func addressesOf(p *native.WarpCopy, lane int) (to, from uint64) {
	if p.IsContiguous {
		distance := uint64(lane) * uint64(p.Size)
		return p.To[0] + distance, p.From[0] + distance
	}
	return p.To[lane], p.From[lane]
}

// readSizes reads the number of bytes that each lane copies from row i. Numbers above p.Size become p.Size+1.
func readSizes(p *native.WarpCopy, f *regfile.File, i int32) {
	sizes := f.Src32(i)
	p.Reads, p.ReadsParts = p.Issued, false
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
	p.IsWhole, p.ReadsParts = p.Issued&^whole == 0, p.Reads&^whole != 0
}

// bytesOf returns the number of bytes that a lane reads.
func bytesOf(p *native.WarpCopy, lane int) uint64 {
	if p.IsWhole {
		return uint64(p.Size)
	}
	return uint64(p.Bytes[lane])
}

// copyOfLanes returns a copy of p for some of its lanes.
func copyOfLanes(a *machine.AsyncState, p *native.WarpCopy, lanes uint32) *native.WarpCopy {
	q := copyOf(a, p)
	for i := range q.To {
		q.To[i], q.From[i] = addressesOf(p, i)
	}
	q.Issued, q.Lanes, q.Reads, q.IsContiguous = lanes, lanes, q.Reads&lanes, false
	return q
}

// laneEffect returns the copy of a lane as an effect.
func laneEffect(c *machine.CTA, p *native.WarpCopy, lane int) *machine.AsyncEffect {
	n := bytesOf(p, lane)
	to, from := addressesOf(p, lane)
	return &machine.AsyncEffect{
		CTA: c, Sequence: p.LaneSequence(lane), Src: &c.Code.Sources[p.Src], Warp: int(p.Warp), Lane: int(32*p.Half) + lane, Active: p.Active, Group: int(p.Group), Op: code.AsyncOf(p.Imm),
		To: to, From: from, Bytes: n, Fill: uint64(p.Size) - n, KeptBytes: laneCopyBytes,
	}
}

// locateCopies finds the memory of all issued lanes. It returns false, with IsLocated false, if a lane may be invalid, or if the
// sources are in several allocations: then each lane must be checked separately.
//
//go:norace
func locateCopies(c *machine.CTA, p *native.WarpCopy) bool {
	p.IsLocated, p.Source = false, native.NoSource
	toSpace, fromSpace, _ := code.CopyOf(p.Imm)
	size := uint64(p.Size)
	if toSpace != ptx.Shared || fromSpace != ptx.Global || size&(size-1) != 0 {
		return false
	}
	if p.Reads != 0 {
		if p.Source = sourceAt(c, p.From[bits.TrailingZeros32(p.Reads)&31]); p.Source == native.NoSource {
			return false
		}
	}
	source := sourceOf(c, p)
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
	p.IsLocated, p.SourceEnd, p.ToFirst, p.ToEnd = true, fromLast+size, toFirst, toLast+size
	return true
}

// sourceAt returns the index in CopyState.Sources of the allocation at an address if cp.async can read all of it; otherwise
// NoSource.
//
//go:norace
func sourceAt(c *machine.CTA, addr uint64) int32 {
	a := &c.AsyncState
	for i, source := range a.Sources {
		if addr-source.Base < source.Size { // a freed allocation has size 0
			return int32(i)
		}
	}
	source := c.Grid.Device.Memory.Find(addr)
	request := mem.Access{Request: probe.Request{Space: ptx.Global, Kind: probe.AccessLoad}}
	if source == nil || source.Freed || source.MayFault() || !request.Allowed(source) {
		return native.NoSource
	}
	return addSource(a, source)
}

// addSource puts an allocation among those that machine code searches, and returns its index in CopyState.Sources. If there is no
// room, it replaces the others in turn. Only while pending copies read from all of them, the list grows.
func addSource(a *machine.AsyncState, source *mem.Allocation) int32 {
	if len(a.Sources) < native.SearchedSources {
		a.Sources = append(a.Sources, source)
		return int32(len(a.Sources) - 1)
	}
	isRead := make([]bool, len(a.Sources))
	for i := range a.Copies {
		for _, number := range a.Copies[i].Pending {
			if k := a.Objects[number].Source; k != native.NoSource {
				isRead[k] = true
			}
		}
	}
	for range native.SearchedSources {
		a.NextSource = (a.NextSource + 1) % native.SearchedSources
		if k := a.NextSource; !isRead[k] {
			a.Sources[k] = source
			return k
		}
	}
	if k := slices.Index(isRead, false); k >= 0 {
		a.Sources[k] = source
		return int32(k)
	}
	a.Sources = append(a.Sources, source)
	return int32(len(a.Sources) - 1)
}

// sourceOf returns the allocation from which a located copy reads; shared memory if it reads nothing.
func sourceOf(c *machine.CTA, p *native.WarpCopy) *mem.Allocation {
	if p.Source == native.NoSource {
		return c.SharedMem
	}
	return c.AsyncState.Sources[p.Source]
}

// isWithin reports whether n bytes from offset on end at or before end.
func isWithin(offset, n, end uint64) bool { return offset <= end && n <= end-offset }

// issueCopies issues the copies of all lanes of p, whose addresses must be valid, and takes over p.
func issueCopies(w *machine.Warp, p *native.WarpCopy) error {
	c, q := w.CTA, queueOf(w, int(p.Half))
	a, lanes, eager := &c.AsyncState, p.Issued, c.Grid.EagerEffects
	n := uint64(bits.OnesCount32(lanes))
	i := slices.IndexFunc(q.Sets, func(s native.CommitLanes) bool { return s.Lanes&lanes == lanes })
	if i < 0 || n > 1 && !eager && a.KeptBytes+n*laneCopyBytes > MaxEffectBytes(c.Grid) {
		// The lanes have committed different numbers of groups, or the oldest effects happen before the last lane issues its copy.
		for m := lanes; m != 0; m &= m - 1 {
			if err := issueCopies(w, copyOfLanes(a, p, m&-m)); err != nil {
				return err
			}
		}
		a.Release(p)
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
			a.Release(p)
			return nil
		}
	}
	if eager {
		err := executeCopies(c, []int32{p.Number}, lanes)
		a.Release(p)
		return err
	}
	q.Add(p)
	return limitEffects(c)
}

// awaitCopies completes a wait for groups of cp.async in the lanes of m. Lane i waits for all its groups except the last
// keepGroups[i]; uniform says that all elements of keepGroups are equal. With all, it first commits the open group, as
// cp.async.wait_all does. Copies happen lane after lane, for each lane in the order of issue.
func awaitCopies(c *machine.CTA, q *native.CopyQueue, all bool, keepGroups *regfile.Row32, uniform bool, m uint32) error {
	if all {
		commitCopies(q, m)
	}
	a := &c.AsyncState
	if len(q.Pending) == 0 {
		return nil
	}
	first := bits.TrailingZeros32(m) & 31
	if limit := q.Sets[0].Groups - int64(keptGroups(keepGroups[first])); uniform && q.Sets[0].Lanes&m == m {
		n := 0
		for n < len(q.Pending) && a.Objects[q.Pending[n]].Group < limit {
			n++
		}
		if !slices.ContainsFunc(q.Pending[n:], func(i int32) bool { return a.Objects[i].Lanes&m != 0 && a.Objects[i].Group < limit }) {
			err := executeCopies(c, q.Pending[:n], m)
			dropDoneCopies(a, q)
			return err
		}
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		limit := int64(groupsOf(q, lane) - keptGroups(keepGroups[lane]))
		for _, i := range q.Pending {
			if p := a.Objects[i]; p.Group < limit {
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
func executeCopiesBefore(c *machine.CTA, q *native.CopyQueue, lane int, sequence int64) error {
	if len(q.Pending) == 0 {
		return nil
	}
	for _, i := range q.Pending {
		if p := c.AsyncState.Objects[i]; p.LaneSequence(lane) < sequence {
			if err := executeLane(c, p, lane); err != nil {
				return err
			}
		}
	}
	dropDoneCopies(&c.AsyncState, q)
	return nil
}

// executeLane executes the copy of a lane, if it is pending.
func executeLane(c *machine.CTA, p *native.WarpCopy, lane int) error {
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
func executeCopies(c *machine.CTA, list []int32, m uint32) error {
	objects := c.AsyncState.Objects
	watched := c.IsSubscribed(probe.OnEffect)
	located, apart, end := true, true, uint64(0)
	for _, i := range list {
		p := objects[i]
		located = located && isLocated(c, p)
		apart = apart && p.ToFirst >= end
		end = p.ToEnd
	}
	if !apart && watched {
		apart = areApart(objects, list)
	}
	switch {
	case watched && located && apart && canEmitCopies(c, list, m):
		for _, i := range list {
			p := objects[i]
			emitCopies(c, p, false)
			copyLanes(c, p, p.Lanes)
		}
	case !located || watched:
		for ; m != 0; m &= m - 1 {
			for _, i := range list {
				if err := executeLane(c, objects[i], bits.TrailingZeros32(m)&31); err != nil {
					return err
				}
			}
		}
		return nil
	case apart || len(list) == 1: // the order of the list gives the same bytes
		for _, i := range list {
			p := objects[i]
			copyLanes(c, p, m&p.Lanes)
		}
	default:
		for r := m; r != 0; r &= r - 1 {
			for _, i := range list {
				p := objects[i]
				copyLanes(c, p, r&-r&p.Lanes)
			}
		}
	}
	for _, i := range list {
		p := objects[i]
		noteCopied(c, p, m&p.Lanes)
	}
	return nil
}

// areApart reports whether the copies of a short list write to separate ranges.
func areApart(objects []*native.WarpCopy, list []int32) bool {
	const maxLength = 32
	if len(list) > maxLength {
		return false
	}
	for i, number := range list {
		p := objects[number]
		for _, other := range list[:i] {
			if q := objects[other]; p.ToFirst < q.ToEnd && q.ToFirst < p.ToEnd {
				return false
			}
		}
	}
	return true
}

// noteCopied makes the lanes of m, whose bytes have been copied, no longer pending.
func noteCopied(c *machine.CTA, p *native.WarpCopy, m uint32) {
	p.Lanes &^= m
	c.Changed = true
	c.AsyncState.KeptBytes -= uint64(bits.OnesCount32(m)) * laneCopyBytes
}

// isLocated reports whether the memory of all lanes is known and still accessible.
//
//go:norace
func isLocated(c *machine.CTA, p *native.WarpCopy) bool {
	if p.IsLocated {
		if p.SourceEnd <= sourceOf(c, p).Size { // a freed allocation has size 0
			return true
		}
	}
	return locateCopies(c, p)
}

// copyLanes copies the bytes of the lanes of m, in ascending order. The memory of p must be located.
//
//go:norace
func copyLanes(c *machine.CTA, p *native.WarpCopy, m uint32) {
	alloc := sourceOf(c, p)
	shared, source := c.SharedMem.Ptr, alloc.Ptr
	toBase, fromBase := c.SharedMem.Base-probe.SharedWindow, alloc.Base
	switch {
	case p.IsContiguous && m == regfile.Full:
		n := regfile.Lanes * int(p.Size)
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
func copyElements[E uint32 | uint64 | [2]uint64](shared, source unsafe.Pointer, toBase, fromBase uint64, p *native.WarpCopy) {
	for i := range regfile.Lanes {
		*(*E)(unsafe.Add(shared, p.To[i]-toBase)) = *(*E)(unsafe.Add(source, p.From[i]-fromBase))
	}
}

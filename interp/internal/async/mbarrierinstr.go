package async

// This file executes the instructions on mbarriers (manual 9.7.13.15): barriers in shared memory at which threads and
// asynchronous operations arrive, and which threads test.

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// MbarrierLanes executes the instructions that change mbarriers, lane by lane.
func MbarrierLanes(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.MbarrierOf(instr.Imm), w.CTA
	own := op.NoComplete || instr.Op == code.MbarrierInit || instr.Op == code.MbarrierInval
	addresses, found := f.Src64(instr.A), mbarrierFinder{}
	var counts *regfile.Row32
	if instr.Op != code.MbarrierInval {
		counts = f.Src32(instr.B)
	}
	var states *regfile.Row64
	if instr.Op == code.MbarrierArrive {
		states = f.Row64(instr.D)
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		if !found.find(w, h, instr, lane, op.Space, addresses[lane], own) {
			return
		}
		b, addr := found.mbarrier, found.shared
		if before := *b; m == regfile.Full && states != nil && arriveTogether(b, op, addresses, counts, states) {
			c.Changed = true
			noteChange(w, instr, uint64(m)<<(32*h), addr, before, *b)
			return
		}
		if instr.Op == code.MbarrierInit {
			maxCount := uint32(maxMbarrierCount)
			if op.V1 {
				maxCount = maxMbarrierCountV1
			}
			n, ok := mbarrierCountOf(w, h, instr, lane, addr, counts[lane], 1, maxCount)
			if !ok {
				return
			}
			*b = newMbarrier(n, op.V1)
			c.Changed = true
			noteUse(w, instr, &probe.MbarrierUse{Kind: probe.MbarrierReset, Lanes: 1 << (32*h + lane), Address: addr})
			continue
		}
		if !b.valid() {
			failMbarrier(w, h, instr, lane, addr, notAnMbarrier)
			return
		}
		after, bad := mbarrier(0), "" // mbarrier.inval stores 0, which is not an mbarrier
		if instr.Op != code.MbarrierInval {
			n, ok := mbarrierCountOf(w, h, instr, lane, addr, counts[lane], 0, maxMbarrierCount)
			if !ok {
				return
			}
			if instr.Op == code.MbarrierTx {
				after, bad = b.transaction(op, n)
			} else {
				after, bad = b.arrival(op, n)
				states[lane] = uint64(*b)
			}
		}
		if bad != "" {
			failMbarrier(w, h, instr, lane, addr, bad)
			return
		}
		c.Changed = c.Changed || after != *b
		if instr.Op == code.MbarrierInval {
			noteUse(w, instr, &probe.MbarrierUse{Kind: probe.MbarrierReset, Lanes: 1 << (32*h + lane), Address: addr})
		} else {
			noteChange(w, instr, 1<<(32*h+lane), addr, *b, after)
		}
		*b = after
	}
}

// noteChange notes for probes that lanes change an mbarrier.
func noteChange(w *machine.Warp, instr *code.Instr, lanes, addr uint64, before, after mbarrier) {
	if w.CTA.IsSubscribed(probe.OnAfter) {
		noteUse(w, instr, &probe.MbarrierUse{Kind: probe.MbarrierChange, Lanes: lanes, Address: addr, Completes: before.phase() != after.phase()})
	}
}

// noteUse notes a use of an mbarrier for the event OnAfter of the instruction, if it has one.
func noteUse(w *machine.Warp, instr *code.Instr, u *probe.MbarrierUse) {
	s := w.CTA.Stream
	if !w.CTA.IsSubscribed(probe.OnAfter) || s.Step.Instr != w.SourceOf(instr).Instr {
		return
	}
	if n := len(s.Mbarriers); n > 0 {
		if last := &s.Mbarriers[n-1]; last.Kind == u.Kind && last.Address == u.Address && !last.Completes {
			last.Lanes, last.Completes = last.Lanes|u.Lanes, u.Completes
			return
		}
	}
	s.Mbarriers = append(s.Mbarriers, *u)
}

// arriveTogether executes an arrival of all lanes at b, the mbarrier of lane 0, if they arrive at the same mbarrier, equally often,
// and no lane but the last completes its phase. Otherwise it does nothing and returns false.
func arriveTogether(b *mbarrier, op code.Mbarrier, addresses *regfile.Row64, counts *regfile.Row32, states *regfile.Row64) bool {
	n := uint64(counts[0])
	if op.Expect || op.Drop || n == 0 || n > maxMbarrierCount || !b.valid() || n*regfile.Lanes > b.pending() || !isSame(addresses, regfile.Full) || !isSame(counts, regfile.Full) {
		return false
	}
	after := (*b - mbarrier(n*regfile.Lanes)).complete()
	if op.NoComplete && after.phase() != b.phase() {
		return false
	}
	for lane := range states {
		states[lane] = uint64(*b) - uint64(lane)*n
	}
	*b = after
	return true
}

// isSame reports whether all lanes of m, which has some, have the same value.
func isSame[T mem.Slot](row *[regfile.Lanes]T, m uint32) bool {
	first, other := row[bits.TrailingZeros32(m)&31], T(0)
	if m == regfile.Full {
		for i := 0; i < regfile.Lanes; i += 4 {
			a := (*[4]T)(row[i:])
			other |= (a[0] ^ first) | (a[1] ^ first) | (a[2] ^ first) | (a[3] ^ first)
		}
		return other == 0
	}
	for ; m != 0; m &= m - 1 {
		other |= row[bits.TrailingZeros32(m)&31] ^ first
	}
	return other == 0
}

// MbarrierMany executes an instruction that changes the mbarriers of several CTAs, lane by lane. A mask of ranks selects
// the CTAs.
func MbarrierMany(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.MbarrierOf(instr.Imm), w.CTA
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		base, ok := mbarrierAt(w, h, instr, lane, op.Space, f.Src64(instr.A)[lane], false)
		if !ok {
			return
		}
		for ranks := f.Src32(instr.C)[lane]; ranks != 0; ranks &= ranks - 1 {
			rank := bits.TrailingZeros32(ranks)
			if rank >= c.Grid.ClusterSize {
				w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank, c.Grid.ClusterSizeText())
				return
			}
			addr := machine.AddressInRank(base, rank)
			b := mbarrierOf(c, addr)
			if !b.valid() {
				failMbarrier(w, h, instr, lane, addr, notAnMbarrier)
				return
			}
			n, ok := mbarrierCountOf(w, h, instr, lane, addr, f.Src32(instr.B)[lane], 0, maxMbarrierCount)
			if !ok {
				return
			}
			change := mbarrier.transaction
			if op.Arrives {
				change = mbarrier.arrival
			}
			after, bad := change(*b, op, n)
			if bad != "" {
				failMbarrier(w, h, instr, lane, addr, bad)
				return
			}
			c.Changed = c.Changed || after != *b
			noteChange(w, instr, 1<<(32*h+lane), addr, *b, after)
			*b = after
		}
	}
}

// MbarrierLayout executes mbarrier.check_layout.
func MbarrierLayout(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, valid := code.MbarrierOf(instr.Imm), uint32(0)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		addr, ok := mbarrierAt(w, h, instr, lane, op.Space, f.Src64(instr.A)[lane], true)
		if !ok {
			return
		}
		b := *mbarrierOf(w.CTA, addr)
		if !b.valid() {
			failMbarrier(w, h, instr, lane, addr, notAnMbarrier)
			return
		}
		if b.v1() == op.V1 {
			valid |= 1 << lane
		}
	}
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, valid)
	}
}

// MbarrierWait executes mbarrier.test_wait and mbarrier.try_wait. try_wait does not suspend the thread either: the program
// must test again. After a failed test the warp lets other warps run.
func MbarrierWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.MbarrierOf(instr.Imm), w.CTA
	done, parity := uint32(0), instr.Op == code.MbarrierParity
	var failed [2]uint64
	failedWaits := failed[:0] // addresses of mbarriers with an incomplete phase
	var reports regfile.Row32 // reports of completed phases; 0 for an incomplete phase
	var states *regfile.Row64
	var parities *regfile.Row32
	if parity {
		parities = f.Src32(instr.B)
	} else {
		states = f.Src64(instr.B)
	}
	addresses, found := f.Src64(instr.A), mbarrierFinder{}
	subscribed := c.IsSubscribed(probe.OnAfter)
	ok, state, report := false, uint64(0), uint32(0) // of the lane before: its result, its operand, its report
	tested := m
	if sameAddress := instr.A < 0 || isSame(addresses, m); sameAddress && instr.F == code.NoRow && (parity && (instr.B < 0 || isSame(parities, m)) || !parity && isSame(states, m)) {
		tested = m & -m // one test has the result of all lanes
	}
	for n := tested; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		operand := uint64(0)
		if parity {
			operand = uint64(parities[lane])
		} else {
			operand = states[lane]
		}
		if found.mbarrier == nil || addresses[lane] != found.addr || operand != state { // otherwise the result is that of the lane before
			if !found.find(w, h, instr, lane, op.Space, addresses[lane], true) {
				return
			}
			b, bad := *found.mbarrier, ""
			state, report = operand, 0
			if ok, bad = b.test(op, parity, operand); bad != "" {
				failMbarrier(w, h, instr, lane, found.shared, bad)
				return
			}
			if ok {
				report = b.report()
			} else if !slices.Contains(failedWaits, found.shared) {
				failedWaits = append(failedWaits, found.shared)
			}
		}
		kind := probe.MbarrierFailed
		if reports[lane] = report; ok {
			done |= 1 << lane
			kind = probe.MbarrierPassed
		}
		if subscribed {
			lanes := uint64(1) << lane
			if tested != m {
				lanes = uint64(m)
			}
			noteUse(w, instr, &probe.MbarrierUse{Kind: kind, Lanes: lanes << (32 * h), Address: found.shared})
		}
	}
	if tested != m && done != 0 {
		done = m
	}
	w.AwaitedMbarrier, w.Yields = 0, w.Yields || len(failedWaits) > 0
	for _, addr := range failedWaits {
		w.AwaitedMbarrier = addr + 1
		if err := executeEffectsAt(c, addr); err != nil {
			w.Err = err
			return
		}
	}
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, done)
	}
	if instr.F != code.NoRow {
		reportRow := f.Row32(instr.F)
		for n := m; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			reportRow[lane] = reports[lane]
		}
	}
}

// test returns the result of a test for the phase with a parity, or for the phase of a state. It returns the reason if the
// test is invalid.
func (b mbarrier) test(op code.Mbarrier, parity bool, operand uint64) (ok bool, bad string) {
	if !b.valid() {
		return false, notAnMbarrier
	}
	if !parity {
		state := mbarrier(operand)
		age := (b.phase() - state.phase()) & 3
		if !state.valid() || age > 1 {
			return false, fmt.Sprintf("state %#x is not from an arrival in the current or the previous phase", operand)
		}
		return age == 1, ""
	}
	if operand > 1 {
		return false, fmt.Sprintf("a parity of %d, want 0 or 1", operand)
	}
	if op.Condition {
		return b.conditional()&1 != operand, ""
	}
	return b.parity() != operand, ""
}

// executeEffectsAt is called after a failed test of an mbarrier. It executes the oldest pending effects at this mbarrier,
// up to and including the effect that completes the phase. If all pending effects together do not complete the phase, it
// executes none.
func executeEffectsAt(c *machine.CTA, addr uint64) error {
	pending := c.Cluster.Pending
	list := pending[addr]
	if len(list) == 0 {
		return nil
	}
	b := *mbarrierOf(c, addr)
	phase, n := b.phase(), 0
	for bad := ""; b.phase() == phase; n++ {
		if n == len(list) {
			return nil
		}
		if b, bad = notify(list[n], b); bad != "" { // the execution of the effect will trap
			n++
			break
		}
	}
	pending[addr] = list[n:]
	for i, e := range list[:n] {
		if err := executeEffect(e); err != nil {
			return err
		}
		if list[i] = nil; e.Tensor == nil && !isPipeOp(e) { // the lists of threads and pipes have the others
			freeEffect(e)
		}
	}
	if n == len(list) {
		pending[addr] = list[:0]
	}
	return nil
}

// AwaitedMbarrierText describes the missing arrivals and bytes of the mbarrier whose last test by the warp failed. It
// returns "" if there is none.
func AwaitedMbarrierText(w *machine.Warp) string {
	if w.AwaitedMbarrier == 0 {
		return ""
	}
	addr := w.AwaitedMbarrier - 1
	b := *mbarrierOf(w.CTA, addr)
	if !b.valid() {
		return ""
	}
	return fmt.Sprintf("%s: %v%s", mbarrierName(w.CTA, addr), b, pendingText(w.CTA.Cluster, addr))
}

// pendingText describes the bytes and arrivals of pending effects at an mbarrier, for messages.
func pendingText(cl *machine.Cluster, addr uint64) string {
	arrivals, bytes := 0, uint64(0)
	for _, e := range cl.Pending[addr] {
		if e.Arrives {
			arrivals++
		}
		bytes += transactionsOf(e)
	}
	s := ""
	if bytes > 0 {
		s += fmt.Sprintf("; pending operations bring %d bytes", bytes)
	}
	if arrivals > 0 {
		s += fmt.Sprintf("; pending copies bring %d arrivals", arrivals)
	}
	return s
}

// DescribeMbarrier describes the access of an mbarrier operation for probes. If withAddresses is set, it includes the
// address of each lane.
func DescribeMbarrier(w *machine.Warp, instr *code.Instr, description *probe.Access, lanes uint64, withAddresses bool) {
	description.Reset(probe.Request{Space: code.MbarrierOf(instr.Imm).Space, Bytes: 8, Kind: machine.AccessKinds[instr.Op]}, lanes, description.Machine)
	if withAddresses {
		description.Reserve(regfile.Lanes * len(w.Files))
		for h := range w.Files {
			access.ReadRow(w, (*regfile.Row64)(description.Addr[regfile.Lanes*h:]), h, code.Row{Slot: code.Q, Row: instr.A})
		}
	}
}

// mbarrierOf returns the mbarrier at an address in .shared space, in the shared memory of this or another CTA of the
// cluster.
func mbarrierOf(c *machine.CTA, addr uint64) *mbarrier {
	return (*mbarrier)(unsafe.Pointer(&c.CTAAt(addr).Shared[machine.AddressInRank(addr, 0)]))
}

// mbarrierFinder finds the mbarriers of lanes. If a lane has the address of the lane before, it finds the same mbarrier
// without further checks.
type mbarrierFinder struct {
	mbarrier *mbarrier // nil: none has been found yet
	addr     uint64    // address as the lane has it
	shared   uint64    // address in .shared space
}

// find finds the mbarrier at a lane's address. It traps and returns false if there is none: see mbarrierAt.
func (p *mbarrierFinder) find(w *machine.Warp, h int, instr *code.Instr, lane int, space ptx.Space, addr uint64, own bool) bool {
	if p.mbarrier != nil && addr == p.addr {
		return true
	}
	shared, ok := mbarrierAt(w, h, instr, lane, space, addr, own)
	if ok {
		p.mbarrier, p.addr, p.shared = mbarrierOf(w.CTA, shared), addr, shared
	}
	return ok
}

// mbarrierAt converts a lane's address of an mbarrier to an address in .shared space. It traps and returns false if the
// address is not in shared memory or, with own, not in the CTA's own shared memory.
func mbarrierAt(w *machine.Warp, h int, instr *code.Instr, lane int, space ptx.Space, addr uint64, own bool) (sharedAddr uint64, ok bool) {
	m, first := w.CTA.SharedMem, uint64(probe.SharedWindow) // first: the address of .shared space
	if space == ptx.Shared {
		first = 0
	}
	if sharedAddr = addr - first; (space == ptx.Shared || space == ptx.Generic) && sharedAddr%8 == 0 && isWithin(sharedAddr-(m.Base-probe.SharedWindow), 8, m.Size) {
		return sharedAddr, true // in the CTA's own shared memory
	}
	location, ok := placeOfMbarrier(w, h, instr, lane, &mem.Access{Request: probe.Request{Space: space, Bytes: 8, Kind: probe.AccessAtomic}}, addr)
	if !ok {
		return 0, false
	}
	place := ""
	switch {
	case location.Alloc == nil || location.Alloc.Kind != probe.SharedMemory:
		place = "not in shared memory"
	case own && location.Alloc != w.CTA.SharedMem:
		place = "in shared memory of another CTA: only arrivals and tx-counts are allowed there"
	default:
		return location.Alloc.Base - probe.SharedWindow + location.Offset, true
	}
	t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrWrongSpace, "the mbarrier at %s is %s", machine.HexAddr(addr), place)
	t.Addr, t.Bytes = addr, 8
	return 0, false
}

// placeOfMbarrier finds the memory at a lane's address. It traps and returns false if there is none.
func placeOfMbarrier(w *machine.Warp, h int, instr *code.Instr, lane int, request *mem.Access, addr uint64) (mem.Location, bool) {
	view := access.View(w)
	place, fault := view.Resolve(request, addr)
	if fault != nil {
		t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), fault.Kind, "%s", fault.Msg)
		t.Addr, t.Bytes, t.Nearby = addr, request.Bytes, fault.Near
		return place, false
	}
	return place, true
}

// mbarrierCountOf returns the count operand n. It traps and returns false if n is out of range.
func mbarrierCountOf(w *machine.Warp, h int, instr *code.Instr, lane int, addr uint64, n, minCount, maxCount uint32) (uint64, bool) {
	if n < minCount || n > maxCount {
		failMbarrier(w, h, instr, lane, addr, fmt.Sprintf("a count of %d, want %d to %d", n, minCount, maxCount))
		return 0, false
	}
	return uint64(n), true
}

// mbarrierName returns the name of the mbarrier at an address in .shared space, for messages.
func mbarrierName(c *machine.CTA, addr uint64) string {
	owner, offset := "", machine.AddressInRank(addr, 0)
	if c.Grid.Clustered() {
		owner = fmt.Sprintf(" of cta %s", c.CTAAt(addr).ID)
	}
	for _, v := range c.Code.Shared {
		if varOffset := offset - uint64(v.Offset); offset >= uint64(v.Offset) && (varOffset < uint64(v.Var.Size()) || v.Var.Size() == 0) {
			if varOffset == 0 {
				return fmt.Sprintf("mbarrier %s%s (shared memory %#x)", v.Var.Name, owner, addr)
			}
			return fmt.Sprintf("mbarrier %s+%d%s (shared memory %#x)", v.Var.Name, varOffset, owner, addr)
		}
	}
	return fmt.Sprintf("mbarrier at %#x of shared memory%s", addr, owner)
}

// failMbarrier stops the warp with a trap for the operation of a lane on the mbarrier at addr.
func failMbarrier(w *machine.Warp, h int, instr *code.Instr, lane int, addr uint64, why string) {
	w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrBarrier, "%v: %s: %s", probe.ErrBarrier, mbarrierName(w.CTA, addr), why)
}

const notAnMbarrier = "it has not been initialised"

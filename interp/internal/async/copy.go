package async

// This file executes the instructions that copy bytes asynchronously, and the instructions that wait for them: bulk copies,
// st.async and clusterlaunchcontrol.try_cancel. The copies of cp.async are in warpcopy.go.

import (
	"fmt"
	"math"
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// AsyncArrive executes cp.async.mbarrier.arrive.
func AsyncArrive(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.Arrives = true
		if !findMbarrier(w, h, instr, e, op.To, f.Src64(instr.A)[lane], true) {
			return
		}
		if !op.NoInc {
			b := mbarrierOf(w.CTA, e.Mbarrier)
			after, bad := b.increase()
			if bad != "" {
				failMbarrier(w, h, instr, lane, e.Mbarrier, bad)
				return
			}
			*b = after
		}
		issueEffect(w, e)
	}
}

// AsyncCommit executes cp.async.commit_group and cp.async.bulk.commit_group.
func AsyncCommit(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if bulk, _, _ := code.GroupsOf(instr.Imm); !bulk {
		commitCopies(queueOf(w, h), m)
		return
	}
	for ; m != 0; m &= m - 1 {
		threadOf(&w.CTA.AsyncState, w.CTA, w.ThreadIndex(32*h+bits.TrailingZeros32(m)&31)).Groups++
	}
}

// AsyncWait executes cp.async.wait_group, cp.async.wait_all and cp.async.bulk.wait_group.
func AsyncWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	bulk, read, all := code.GroupsOf(instr.Imm)
	c, keepGroups := w.CTA, f.Src32(instr.A)
	if !bulk {
		if c.AsyncState.IsUsed() {
			w.Err = awaitCopies(c, queueOf(w, h), all, keepGroups, instr.A < 0, m)
		}
		return
	}
	if c.AsyncState.Lanes == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		if w.Err = awaitEffects(c, threadOf(&c.AsyncState, c, w.ThreadIndex(32*h+lane)), read, keptGroups(keepGroups[lane])); w.Err != nil {
			return
		}
	}
}

// keptGroups converts the operand of a wait, the number of recent groups for which it does not wait. A thread has fewer
// than 1<<30 groups.
func keptGroups(n uint32) int { return int(min(n, 1<<30)) }

// AsyncBulk executes cp.async.bulk and cp.reduce.async.bulk.
func AsyncBulk(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, masked := code.AsyncOf(instr.Imm), instr.Op == code.AsyncMasked
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.From = f.Src64(instr.A)[lane], f.Src64(instr.B)[lane]
		mask := uint64(0)
		if masked {
			mask = f.Src64(instr.C)[lane]
			e.Bytes, mask = mask&math.MaxUint32, mask>>32
		} else {
			e.Bytes = uint64(f.Src32(instr.C)[lane])
		}
		switch {
		case e.Bytes%16 != 0:
			failAsync(w, e, "a size of %d, want a multiple of 16", e.Bytes)
			return
		case op.NotifiesMbarrier && e.Bytes > maxMbarrierCount:
			failAsync(w, e, "a size of %d, but an mbarrier can count at most %d", e.Bytes, maxMbarrierCount)
			return
		}
		if op.NotifiesMbarrier && !findMbarrier(w, h, instr, e, op.MbarrierSpace, f.Src64(instr.E)[lane], false) {
			return
		}
		if op.ReportPattern != code.NoReport && !requireReportLayout(w, h, instr, e) {
			return
		}
		list := []*machine.AsyncEffect{e}
		switch {
		case op.IgnoreOutOfBounds:
			if !setIgnoredBytes(w, e, mask&0xff, mask>>8) {
				return
			}
		case masked && op.NotifiesMbarrier:
			list = multicastEffect(w, e, uint32(mask))
		case masked:
			e.Unwritten = ^uint16(mask)
		}
		issueEffects(w, list)
	}
}

// setIgnoredBytes shortens a copy by left bytes at its beginning and right bytes at its end. Their targets in shared memory
// keep their values. It traps and returns false if the numbers or addresses are invalid.
func setIgnoredBytes(w *machine.Warp, e *machine.AsyncEffect, left, right uint64) bool {
	for _, n := range [...]uint64{left, right} {
		if n > 15 {
			failAsync(w, e, "%d ignored bytes at an end, want 0 to 15", n)
			return false
		}
	}
	for _, addr := range [...]uint64{e.To, e.From} {
		if addr%16 != 0 {
			w.Err = faultTrap(e, &mem.Fault{Kind: probe.ErrMisaligned, Msg: fmt.Sprintf("%v: %s, want a multiple of 16", probe.ErrMisaligned, machine.HexAddr(addr))}, addr)
			return false
		}
	}
	left = min(left, e.Bytes)
	e.IgnoredBytes = min(left+right, e.Bytes)
	e.To, e.From, e.Bytes = e.To+left, e.From+left, e.Bytes-e.IgnoredBytes
	return true
}

// AsyncCancel executes clusterlaunchcontrol.try_cancel. It removes a cluster from the launch immediately, in the ordered
// half of a round. The response is written later, as an asynchronous effect.
func AsyncCancel(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.Bytes = f.Src64(instr.A)[lane], uint64(op.Bytes)
		if !findMbarrier(w, h, instr, e, op.MbarrierSpace, f.Src64(instr.B)[lane], true) {
			return
		}
		e.Data, e.Persistent = w.CTA.Grid.Cancel(), true
		w.CTA.Ordered = false // this CTA's next globally ordered instruction comes after those of other CTAs
		list := []*machine.AsyncEffect{e}
		if op.All {
			list = multicastEffect(w, e, 1<<w.CTA.Grid.ClusterSize-1)
		}
		issueEffects(w, list)
	}
}

// AsyncStore executes st.async and red.async.
func AsyncStore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.Bytes, e.Persistent = f.Src64(instr.A)[lane], uint64(op.Bytes), true
		for _, word := range [...]uint64{f.Src64(instr.C)[lane], f.Src64(instr.E)[lane]} {
			for i := 0; i < 8; i++ {
				e.Data = append(e.Data, byte(word>>(8*i)))
			}
		}
		e.Data = e.Data[:op.Bytes]
		if !findMbarrier(w, h, instr, e, op.MbarrierSpace, f.Src64(instr.B)[lane], false) {
			return
		}
		if resolveEffect(w, e) {
			issueEffect(w, e)
		}
	}
}

// multicastEffect returns a copy of an effect for each CTA of the cluster in a mask of ranks. Target and mbarrier of a copy
// have the same offsets in the shared memory of its CTA. It traps and returns nil if the target is not in shared memory, or
// the cluster has no CTA of such a rank.
func multicastEffect(w *machine.Warp, e *machine.AsyncEffect, ranks uint32) (list []*machine.AsyncEffect) {
	if e.Op.To == ptx.Shared {
		e.To, e.Op.To = e.To+probe.SharedWindow, ptx.Generic
	}
	if !mem.InShared(e.To, w.CTA.Grid.ClusterSize) {
		w.Err = faultTrap(e, &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("the destination %s of a multicast copy is not in shared memory", machine.HexAddr(e.To))}, e.To)
		return nil
	}
	for ; ranks != 0; ranks &= ranks - 1 {
		rank := bits.TrailingZeros32(ranks)
		if rank >= w.CTA.Grid.ClusterSize {
			w.Fail(e.Src, 1<<e.Lane, probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank, w.CTA.Grid.ClusterSizeText())
			return nil
		}
		to := *e
		to.FurtherDestination, to.SharesTensor = len(list) > 0, true
		to.To, to.Mbarrier = machine.AddressInRank(e.To, rank), machine.AddressInRank(e.Mbarrier, rank)
		list = append(list, &to)
	}
	return list
}

// findMbarrier sets the mbarrier of an effect to the initialised mbarrier at addr. It traps and returns false if there is
// none. With own the mbarrier must be in the CTA's own shared memory.
func findMbarrier(w *machine.Warp, h int, instr *code.Instr, e *machine.AsyncEffect, space ptx.Space, addr uint64, own bool) (ok bool) {
	if e.Mbarrier, ok = mbarrierAt(w, h, instr, e.Lane&31, space, addr, own); ok && !mbarrierOf(w.CTA, e.Mbarrier).valid() {
		failMbarrier(w, h, instr, e.Lane&31, e.Mbarrier, notAnMbarrier)
		return false
	}
	return ok
}

// requireReportLayout traps and returns false unless the mbarrier of an effect with a report has .layout::v1.
func requireReportLayout(w *machine.Warp, h int, instr *code.Instr, e *machine.AsyncEffect) bool {
	if mbarrierOf(w.CTA, e.Mbarrier).v1() {
		return true
	}
	failMbarrier(w, h, instr, e.Lane&31, e.Mbarrier, "a copy with a report needs an mbarrier of .layout::v1")
	return false
}

// failAsync stops the warp with a trap for the operation of one lane.
func failAsync(w *machine.Warp, e *machine.AsyncEffect, format string, args ...any) {
	w.Fail(e.Src, 1<<e.Lane, probe.ErrAsync, "%v: %s", probe.ErrAsync, fmt.Sprintf(format, args...))
}

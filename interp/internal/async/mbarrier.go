package async

// This file executes operations on mbarriers (manual 9.7.13.15): barriers in shared memory at which threads and
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

// mbarrier is the 8 bytes of an mbarrier. An arrival returns them as the state:
//
//	bits  0–19  pending arrivals of the current phase
//	     20–39  arrivals that the next phase expects
//	     40–60  tx-count, plus 2^20
//	     61–62  the phase, modulo 4: bit 61 is its parity
//	        63  1
//
// This is .layout::v0. With .layout::v1 the counts of arrivals have nine bits each. The free bits hold a conditional
// phase and payload reports; each report is a predicate above a value of eight bits.
//
//	bits  0–8   pending arrivals of the current phase
//	      9–17  the report of the current phase
//	     18–19  the conditional phase, modulo 4
//	     20–28  arrivals that the next phase expects
//	     29–37  the report of the phase that was completed last
//	     38–39  2
//	     40–62  as above
//	        63  0
//
// Zeroed memory is not an mbarrier.
type mbarrier uint64

// maxMbarrierCount is the maximum of all counts (manual 9.7.13.15.2).
const maxMbarrierCount = 1<<20 - 1

// maxMbarrierCountV1 is the maximum of the counts of arrivals with .layout::v1.
const maxMbarrierCountV1 = 1<<9 - 1

func newMbarrier(count uint64, v1 bool) mbarrier {
	b := mbarrier((maxMbarrierCount+1)<<40 | count<<20 | count)
	if v1 {
		return b | 2<<38
	}
	return b | 1<<63
}

// v1 reports whether the mbarrier has .layout::v1.
func (b mbarrier) v1() bool { return b>>63 == 0 && b>>38&3 == 2 }

// maxArrivals returns the maximum of the mbarrier's counts of arrivals.
func (b mbarrier) maxArrivals() uint64 {
	if b.v1() {
		return maxMbarrierCountV1
	}
	return maxMbarrierCount
}

func (b mbarrier) pending() uint64 { return uint64(b) & b.maxArrivals() }

func (b mbarrier) expected() uint64 { return uint64(b) >> 20 & b.maxArrivals() }

func (b mbarrier) tx() int64 { return int64(uint64(b)>>40&(1<<21-1)) - (maxMbarrierCount + 1) }

func (b mbarrier) phase() uint64 { return uint64(b) >> 61 & 3 }

func (b mbarrier) parity() uint64 { return b.phase() & 1 }

func (b mbarrier) valid() bool { return (b>>63 != 0 || b.v1()) && b.tx() >= -maxMbarrierCount }

// conditional returns the number of completed conditional phases, modulo 4 (manual of PTX 9.4, phases of the mbarrier
// object).
func (b mbarrier) conditional() uint64 {
	if b.v1() {
		return uint64(b) >> 18 & 3
	}
	return b.phase()
}

// report returns the payload report of the phase completed last: a predicate, then a value of eight bits.
func (b mbarrier) report() uint32 {
	if b.v1() {
		return uint32(b >> 29 & 0x1ff)
	}
	return 0
}

// withReport executes the report-on operation of a copy that has found its pattern: it sets the predicate of the current
// phase and keeps its value.
func (b mbarrier) withReport() mbarrier { return b | 1<<17 }

// MbarrierPhase returns the number of completed phases of the mbarrier in eight bytes, modulo 4.
func MbarrierPhase(word uint64) uint64 { return mbarrier(word).phase() }

// MbarrierCounts returns the counts of the mbarrier in eight bytes: missing arrivals, expected arrivals of a phase, and
// the tx-count in bytes.
func MbarrierCounts(word uint64) (pending, expected uint64, tx int64) {
	b := mbarrier(word)
	return b.pending(), b.expected(), b.tx()
}

// complete begins the next phase if the current phase has completed (manual 9.7.13.15.6).
func (b mbarrier) complete() mbarrier {
	if b.pending() != 0 || b.tx() != 0 {
		return b
	}
	next := (b.phase() + 1) & 3
	after := b&^mbarrier(3<<61|b.maxArrivals()) | mbarrier(next<<61|b.expected())
	if b.v1() {
		report, conditional := b>>9&0x1ff, mbarrier(b.conditional())
		if report == 0 {
			conditional = (conditional + 1) & 3
		}
		after = after&^(0x1ff<<9|3<<18|0x1ff<<29) | conditional<<18 | report<<29
	}
	return after
}

// arrive executes the arrive-on operation (manual 9.7.13.15.7), or returns the reason why it is invalid.
func (b mbarrier) arrive(n uint64) (mbarrier, string) {
	if n > b.pending() {
		return b, fmt.Sprintf("%d arrivals, but its phase waits for only %d more", n, b.pending())
	}
	return (b - mbarrier(n)).complete(), ""
}

// increase adds an expected arrival to the current phase.
func (b mbarrier) increase() (mbarrier, string) {
	if maxAddr := b.maxArrivals(); b.pending() == maxAddr {
		return b, fmt.Sprintf("more than %d pending arrivals", maxAddr)
	}
	return b + 1, ""
}

// drop removes n expected arrivals from the next phase on.
func (b mbarrier) drop(n uint64) (mbarrier, string) {
	if n > b.expected() {
		return b, fmt.Sprintf("%d arrivals are dropped, but it expects only %d", n, b.expected())
	}
	return b - mbarrier(n<<20), ""
}

// expect executes the expect-tx operation (manual 9.7.13.15.5.1). It completes the phase if the tx-count rises to zero and
// no arrival is missing (9.7.13.15.6).
func (b mbarrier) expect(n uint64) (mbarrier, string) {
	b, bad := b.addTx(n)
	if bad == "" {
		b = b.complete()
	}
	return b, bad
}

// addTx adds n to the tx-count.
func (b mbarrier) addTx(n uint64) (mbarrier, string) {
	if int64(n)+b.tx() > maxMbarrierCount {
		return b, fmt.Sprintf("the tx-count would be %d, at most %d is possible", int64(n)+b.tx(), maxMbarrierCount)
	}
	return b + mbarrier(n<<40), ""
}

// completeTx executes the complete-tx operation (manual 9.7.13.15.5.2).
func (b mbarrier) completeTx(n uint64) (mbarrier, string) {
	if b.tx()-int64(n) < -maxMbarrierCount {
		return b, fmt.Sprintf("the tx-count would be %d, at least %d is possible", b.tx()-int64(n), -maxMbarrierCount)
	}
	return (b - mbarrier(n<<40)).complete(), ""
}

// String describes the missing arrivals and bytes of the mbarrier.
func (b mbarrier) String() string {
	s := fmt.Sprintf("%d of %d arrivals are missing in the phase of parity %d", b.pending(), max(b.expected(), b.pending()), b.parity())
	if b.pending() == 0 {
		s = fmt.Sprintf("no arrival is missing in the phase of parity %d", b.parity())
	}
	if tx := b.tx(); tx != 0 {
		s += fmt.Sprintf(", with a tx-count of %d", tx)
	}
	return s
}

// mbarrierOf returns the mbarrier at an address in .shared space, in this or another CTA's shared memory.
func mbarrierOf(c *machine.CTA, addr uint64) *mbarrier {
	return (*mbarrier)(unsafe.Pointer(&c.CTAAt(addr).Shared[machine.AddressInRank(addr, 0)]))
}

// mbarrierName returns the name of the mbarrier at an address in .shared space, for messages.
func mbarrierName(c *machine.CTA, addr uint64) string {
	of, offset := "", machine.AddressInRank(addr, 0)
	if c.Grid.Clustered() {
		of = fmt.Sprintf(" of cta %s", c.CTAAt(addr).ID)
	}
	for _, v := range c.Code.Shared {
		if in := offset - uint64(v.Offset); offset >= uint64(v.Offset) && (in < uint64(v.Var.Size()) || v.Var.Size() == 0) {
			if in == 0 {
				return fmt.Sprintf("mbarrier %s%s (shared memory %#x)", v.Var.Name, of, addr)
			}
			return fmt.Sprintf("mbarrier %s+%d%s (shared memory %#x)", v.Var.Name, in, of, addr)
		}
	}
	return fmt.Sprintf("mbarrier at %#x of shared memory%s", addr, of)
}

// mbarrierAt returns the address in .shared space of the mbarrier at a lane's address, or traps. With own the mbarrier
// must be in the CTA's own shared memory.
func mbarrierAt(w *machine.Warp, h int, instr *code.Instr, lane int, space ptx.Space, addr uint64, own bool) (at uint64, ok bool) {
	place, ok := placeOfMbarrier(w, h, instr, lane, &mem.Access{Request: probe.Request{Space: space, Bytes: 8, Kind: probe.AccessAtomic}}, addr)
	if !ok {
		return 0, false
	}
	what := ""
	switch {
	case place.Alloc == nil || place.Alloc.Kind != probe.SharedMemory:
		what = "not in shared memory"
	case own && place.Alloc != w.CTA.SharedMem:
		what = "in shared memory of another CTA: only arrivals and tx-counts are allowed there"
	default:
		return place.Alloc.Base - probe.SharedWindow + place.Offset, true
	}
	t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrWrongSpace, "the mbarrier at %s is %s", machine.HexAddr(addr), what)
	t.Addr, t.Bytes = addr, 8
	return 0, false
}

// placeOfMbarrier finds the memory that a lane accesses, or traps.
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

// failMbarrier stops the warp with a trap for the operation of a lane on an mbarrier.
func failMbarrier(w *machine.Warp, h int, instr *code.Instr, lane int, addr uint64, what string) {
	w.Fail(w.SourceOf(instr), 1<<(32*h+lane), probe.ErrBarrier, "%v: %s: %s", probe.ErrBarrier, mbarrierName(w.CTA, addr), what)
}

const notAnMbarrier = "it has not been initialised"

// mbarrierCountOf returns a count operand, or traps if it is out of range.
func mbarrierCountOf(w *machine.Warp, h int, instr *code.Instr, lane int, addr uint64, n, minCount, maxCount uint32) (uint64, bool) {
	if n < minCount || n > maxCount {
		failMbarrier(w, h, instr, lane, addr, fmt.Sprintf("a count of %d, want %d to %d", n, minCount, maxCount))
		return 0, false
	}
	return uint64(n), true
}

// DescribeMbarrier describes the accesses of an mbarrier operation, by lane.
func DescribeMbarrier(w *machine.Warp, instr *code.Instr, to *probe.Access, lanes uint64, wanted bool) {
	to.Reset(probe.Request{Space: code.MbarrierOf(instr.Imm).Space, Bytes: 8, Kind: machine.AccessKinds[instr.Op]}, lanes, to.Machine)
	if wanted {
		to.Reserve(regfile.Lanes * len(w.Files))
		for h := range w.Files {
			access.ReadRow(w, (*regfile.Row64)(to.Addr[regfile.Lanes*h:]), h, code.Row{Slot: code.Q, Row: instr.A})
		}
	}
}

// MbarrierLanes executes the instructions that change mbarriers, lane by lane.
func MbarrierLanes(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.MbarrierOf(instr.Imm), w.CTA
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		own := op.NoComplete || instr.Op == code.MbarrierInit || instr.Op == code.MbarrierInval
		addr, ok := mbarrierAt(w, h, instr, lane, op.Space, f.Src64(instr.A)[lane], own)
		if !ok {
			return
		}
		b := mbarrierOf(c, addr)
		if instr.Op == code.MbarrierInit {
			maxCount := uint32(maxMbarrierCount)
			if op.V1 {
				maxCount = maxMbarrierCountV1
			}
			n, ok := mbarrierCountOf(w, h, instr, lane, addr, f.Src32(instr.B)[lane], 1, maxCount)
			if !ok {
				return
			}
			*b = newMbarrier(n, op.V1)
			c.Changed = true
			continue
		}
		if !b.valid() {
			failMbarrier(w, h, instr, lane, addr, notAnMbarrier)
			return
		}
		after, bad := mbarrier(0), "" // invalidated memory is not an mbarrier
		if instr.Op != code.MbarrierInval {
			n, ok := mbarrierCountOf(w, h, instr, lane, addr, f.Src32(instr.B)[lane], 0, maxMbarrierCount)
			if !ok {
				return
			}
			if instr.Op == code.MbarrierTx {
				after, bad = b.transaction(op, n)
			} else {
				after, bad = b.arrival(op, n)
				f.Row64(instr.D)[lane] = uint64(*b)
			}
		}
		if bad != "" {
			failMbarrier(w, h, instr, lane, addr, bad)
			return
		}
		c.Changed = c.Changed || after != *b
		*b = after
	}
}

// arrival executes mbarrier.arrive and .arrive_drop. With .expect_tx both are a single operation, which checks the counts
// once.
func (b mbarrier) arrival(op code.Mbarrier, n uint64) (after mbarrier, bad string) {
	after = b
	if op.Expect {
		if after, bad = after.addTx(n); bad != "" {
			return after, bad
		}
		n = 1
	}
	if op.Drop {
		if after, bad = after.drop(n); bad != "" {
			return after, bad
		}
	}
	if after, bad = after.arrive(n); bad == "" && op.NoComplete && after.phase() != b.phase() {
		bad = "an arrival with .noComplete completes the phase"
	}
	return after, bad
}

// transaction executes mbarrier.expect_tx and .complete_tx.
func (b mbarrier) transaction(op code.Mbarrier, n uint64) (after mbarrier, bad string) {
	if op.Expect {
		return b.expect(n)
	}
	return b.completeTx(n)
}

// MbarrierMany executes an instruction that changes the mbarriers of several CTAs, lane by lane.
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

// MbarrierWait executes test_wait and try_wait. try_wait does not suspend either: lanes that wait test again. After a
// failed test the warp lets other warps run.
func MbarrierWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.MbarrierOf(instr.Imm), w.CTA
	done, failedWaits := uint32(0), []uint64(nil) // failedWaits: addresses of mbarriers with an incomplete phase
	var reports regfile.Row32                     // reports of completed phases; 0 for an incomplete phase
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		addr, ok := mbarrierAt(w, h, instr, lane, op.Space, f.Src64(instr.A)[lane], true)
		if !ok {
			return
		}
		b := *mbarrierOf(c, addr)
		if !b.valid() {
			failMbarrier(w, h, instr, lane, addr, notAnMbarrier)
			return
		}
		if instr.Op == code.MbarrierParity {
			parity := f.Src32(instr.B)[lane]
			if parity > 1 {
				failMbarrier(w, h, instr, lane, addr, fmt.Sprintf("a parity of %d, want 0 or 1", parity))
				return
			}
			ok = b.parity() != uint64(parity)
			if op.Condition {
				ok = b.conditional()&1 != uint64(parity)
			}
		} else {
			state := mbarrier(f.Src64(instr.B)[lane])
			age := (b.phase() - state.phase()) & 3
			if !state.valid() || age > 1 {
				failMbarrier(w, h, instr, lane, addr, fmt.Sprintf("state %#x is not from an arrival in the current or the previous phase", uint64(state)))
				return
			}
			ok = age == 1
		}
		if instr.F != code.NoRow {
			reports[lane] = 0
			if ok {
				reports[lane] = b.report()
			}
		}
		if ok {
			done |= 1 << lane
		} else if !slices.Contains(failedWaits, addr) {
			failedWaits = append(failedWaits, addr)
		}
	}
	w.AwaitedMbarrier, w.Yields = 0, w.Yields || len(failedWaits) > 0
	for _, addr := range failedWaits {
		w.AwaitedMbarrier = addr + 1
		if err := checkMbarrierWait(c, addr); err != nil {
			w.Err = err
			return
		}
	}
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, done)
	}
	if instr.F != code.NoRow {
		to := f.Row32(instr.F)
		for n := m; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			to[lane] = reports[lane]
		}
	}
}

// AwaitedMbarrierText describes the missing arrivals and bytes of the mbarrier that the warp last tested as incomplete; ""
// if there is none.
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

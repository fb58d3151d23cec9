package async

// This file has the mbarrier itself: the meaning of its 8 bytes, and the operations that change its counts (manual 9.7.13.15).

import (
	"fmt"

	"gemu/interp/internal/code"
)

// mbarrier is the value of an mbarrier, which has 8 bytes. An arrival returns it as the state. With .layout::v0:
//
//	bits  0–19  pending arrivals of the current phase
//	     20–39  arrivals that the next phase expects
//	     40–60  tx-count, plus 2^20
//	     61–62  the phase, modulo 4: bit 61 is its parity
//	        63  1
//
// With .layout::v1 each count of arrivals has nine bits. The free bits hold a conditional phase and two payload reports.
// Each report is a predicate (its upper bit) and a value of eight bits:
//
//	bits  0–8   pending arrivals of the current phase
//	      9–17  the report of the current phase
//	     18–19  the conditional phase, modulo 4
//	     20–28  arrivals that the next phase expects
//	     29–37  the report of the phase that was completed last
//	     38–39  2
//	     40–62  tx-count and phase, as with .layout::v0
//	        63  0
//
// Zeroed memory is not an mbarrier.
type mbarrier uint64

// maxMbarrierCount is the maximum of every count with .layout::v0 (manual 9.7.13.15.2), and of the tx-count with
// .layout::v1.
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
// object). A phase is conditional if it has completed with an empty report.
func (b mbarrier) conditional() uint64 {
	if b.v1() {
		return uint64(b) >> 18 & 3
	}
	return b.phase()
}

// report returns the payload report of the phase completed last: the predicate in bit 8, the value in bits 0 to 7.
func (b mbarrier) report() uint32 {
	if b.v1() {
		return uint32(b >> 29 & 0x1ff)
	}
	return 0
}

// withReport executes the report-on operation of a copy whose source contains its pattern: it sets the predicate of the
// current phase's report.
func (b mbarrier) withReport() mbarrier { return b | 1<<17 }

// MbarrierPhase returns the number of completed phases of the mbarrier with value word, modulo 4.
func MbarrierPhase(word uint64) uint64 { return mbarrier(word).phase() }

// MbarrierCounts returns the counts of the mbarrier with value word: missing arrivals, expected arrivals of a phase, and
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
	if limit := b.maxArrivals(); b.pending() == limit {
		return b, fmt.Sprintf("more than %d pending arrivals", limit)
	}
	return b + 1, ""
}

// drop reduces the expected arrivals of the next phase, and of all later phases, by n.
func (b mbarrier) drop(n uint64) (mbarrier, string) {
	if n > b.expected() {
		return b, fmt.Sprintf("%d arrivals are dropped, but it expects only %d", n, b.expected())
	}
	return b - mbarrier(n<<20), ""
}

// expect executes the expect-tx operation (manual 9.7.13.15.5.1). If the tx-count rises to zero and no arrival is missing,
// it completes the phase (9.7.13.15.6).
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

// arrival executes mbarrier.arrive and mbarrier.arrive_drop. n is the number of arrivals. With .expect_tx n is the number
// of bytes, and a single arrival follows; the two operations complete the phase at most once.
func (b mbarrier) arrival(op code.Mbarrier, n uint64) (after mbarrier, bad string) {
	if !op.Expect && !op.Drop && n < b.pending() { // the phase stays incomplete
		return b - mbarrier(n), ""
	}
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

package memory

import (
	"math"

	"gemu/probe"
)

// Request is an access to sectors of a line, from a multiprocessor.
type Request struct {
	SM      int              // number of the multiprocessor
	ID      int64            // number that the sender chooses; its reply has the same
	Line    uint64           // number of the line: its address divided by coalesce.LineBytes
	Sectors uint8            // accessed sectors, a bit each; at least one
	Whole   uint8            // sectors that a store overwrites completely, a bit each
	Kind    probe.AccessKind // load, store or atomic; a store has no reply
	Bytes   int              // bytes that a store or an atomic sends to the L2; 0 for a load
	CTA     int              // index of the CTA in its grid, for policies
	Warp    int              // index of the warp in its CTA, for policies
	Instr   int              // index of the instruction in the program of its launch, for policies

	Content      any  // bytes of a store or an atomic, for Compression.Write; nil: unknown, or none
	Bursts       int  // bursts of the compressed form of a store that overwrites a whole line; 0: it is raw
	Acknowledged bool // a store that has a reply
}

// Reply is the answer to a load, an atomic or an acknowledged store.
type Reply struct {
	SM      int    // multiprocessor of the request
	ID      int64  // number of the request
	Line    uint64 // line of the request
	Sectors uint8  // sectors of the request, or all if the line arrives in a compressed form
	At      int64  // cycle in which they arrive at the multiprocessor

	Bursts   int  // bursts of the compressed form in which the line arrives; 0: it is raw
	Returned bool // a store was not executed, because it has a part of a compressed line, which the reply has
}

// Never is the time of an event that does not happen.
const Never = math.MaxInt64

// Memory is a memory system with a clock. Calls have ascending times. In each cycle the caller calls Advance first, and then Send for the
// requests of the cycle.
type Memory interface {
	// Send takes a request in cycle now. It returns false if the queue of the multiprocessor is full. An event of the memory frees a
	// place, so the caller should try again after each Advance. Send must not keep r, which the caller reuses.
	Send(now int64, r *Request) bool
	// Next returns the cycle of the next event, which is after the cycle of the last Advance; Never if there is none. An event need not
	// be a reply.
	Next() int64
	// Advance runs all events up to cycle now, and appends the replies that arrive to replies, in the order of arrival.
	Advance(now int64, replies []Reply) []Reply
}

// Refuser is a Memory that tells in advance whether it refuses a request. Without it, a multiprocessor that waits for a place tries again in
// each cycle with an event.
type Refuser interface {
	// Refuses reports whether Send returns false in this cycle for any request of a multiprocessor. It is called in place of Send: a request that it refuses
	// counts as one that Send has refused.
	Refuses(sm int) bool
}

// Fixed is a memory without queues and contents: each reply arrives a fixed number of cycles after its request.
type Fixed struct {
	latency int64
	waiting []Reply // in the order of arrival
}

// NewFixed returns a memory with a latency in cycles, at least 1.
func NewFixed(latency int64) *Fixed { return &Fixed{latency: max(latency, 1)} }

// Send implements Memory. It takes each request.
func (f *Fixed) Send(now int64, r *Request) bool {
	if r.Kind != probe.AccessStore || r.Acknowledged {
		f.waiting = append(f.waiting, Reply{SM: r.SM, ID: r.ID, Line: r.Line, Sectors: r.Sectors, At: now + f.latency})
	}
	return true
}

// Next implements Memory.
func (f *Fixed) Next() int64 {
	if len(f.waiting) == 0 {
		return Never
	}
	return f.waiting[0].At
}

// Advance implements Memory.
func (f *Fixed) Advance(now int64, replies []Reply) []Reply {
	n := 0
	for n < len(f.waiting) && f.waiting[n].At <= now {
		n++
	}
	replies = append(replies, f.waiting[:n]...)
	f.waiting = f.waiting[n:]
	return replies
}

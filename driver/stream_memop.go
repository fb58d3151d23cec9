package driver

// This file implements stream memory operations (driver API, "Stream Memory Operations"): a stream writes a word of
// memory, or waits until a word satisfies a condition.

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"gemu/interp"
	"gemu/probe"
)

// MemoryOp is a memory operation of a stream.
type MemoryOp struct {
	Kind  MemoryOpKind // operation, and size of the word: 32 or 64 bits
	Addr  uint64       // device address of the word, aligned to its size; unused by MemoryBarrier
	Value uint64       // value to write or to compare; the low half for a word of 32 bits
	Flags uint32       // condition of a wait, as in CUstreamWaitValue_flags: 0 is ≥, 1 is ==, 2 is &, 3 is nor; for others 0 or 1
}

// MemoryOpKind is a CUstreamBatchMemOpType.
type MemoryOpKind int32

// The kinds of operation.
const (
	WaitValue32   MemoryOpKind = 1 // waits until a word of 32 bits satisfies the condition
	WriteValue32  MemoryOpKind = 2 // writes a word of 32 bits
	WaitValue64   MemoryOpKind = 4 // waits until a word of 64 bits satisfies the condition
	WriteValue64  MemoryOpKind = 5 // writes a word of 64 bits
	MemoryBarrier MemoryOpKind = 6 // orders memory operations; no effect, because they are always in order
)

// The conditions of a wait, by its flags.
const (
	waitGreaterOrEqual uint32 = iota // word - value ≥ 0, as a signed number
	waitEqual                        // word == value
	waitAnd                          // word & value != 0
	waitNor                          // ^(word | value) != 0
)

// waitFlush is CU_STREAM_WAIT_VALUE_FLUSH, the flag for a flush of remote writes. The devices do not support it.
const waitFlush uint32 = 1 << 30

// MaxMemoryOps is the maximum number of operations of a batch.
const MaxMemoryOps = 255

// waits reports whether the operation is a wait.
func (op *MemoryOp) waits() bool { return op.Kind == WaitValue32 || op.Kind == WaitValue64 }

// size returns the size of the word in bytes; 0 for an operation without a word, and for an unknown operation.
func (op *MemoryOp) size() uint64 {
	switch op.Kind {
	case WaitValue32, WriteValue32:
		return 4
	case WaitValue64, WriteValue64:
		return 8
	}
	return 0
}

// operationWord is an operation with a pointer to its word.
type operationWord struct {
	MemoryOp
	word unsafe.Pointer // address of the word in the host's memory; nil for an operation without a word
}

// load and store access the word atomically, because threads of kernels may access it at the same time.

func (w *operationWord) load() uint64 {
	if w.size() == 4 {
		return uint64(atomic.LoadUint32((*uint32)(w.word)))
	}
	return atomic.LoadUint64((*uint64)(w.word))
}

func (w *operationWord) store() {
	if w.size() == 4 {
		atomic.StoreUint32((*uint32)(w.word), uint32(w.Value))
	} else {
		atomic.StoreUint64((*uint64)(w.word), w.Value)
	}
}

// conditionHolds reports whether the condition of a wait holds.
func (w *operationWord) conditionHolds() bool {
	// Shifts by unused remove the bits above a word of 32 bits.
	current, value, unused := w.load(), w.Value, 64-8*w.size()
	switch w.Flags {
	case waitEqual:
		return current<<unused == value<<unused
	case waitAnd:
		return current&value<<unused != 0
	case waitNor:
		return ^(current|value)<<unused != 0
	}
	return int64((current-value)<<unused) >= 0
}

// StreamMemoryOps is cuStreamBatchMemOp: the operations run one after another, in the order of the stream. The
// destruction of the context ends a wait.
func (t *Thread) StreamMemoryOps(h Handle, ops []MemoryOp, flags uint32) error {
	s, err := t.enterQueue(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	switch {
	case flags != 0:
		return fail(InvalidValue, "flags %#x, want 0", flags)
	case len(ops) == 0 || len(ops) > MaxMemoryOps:
		return fail(InvalidValue, "%d operations, want 1 to %d", len(ops), MaxMemoryOps)
	case s.capture != nil:
		return s.capture.invalidate(NotSupported, "gemu does not support memory operations in a captured stream")
	}
	words := make([]operationWord, len(ops))
	for i, op := range ops {
		if words[i], err = t.d.word(op); err != nil {
			return err
		}
	}
	faultsBefore := s.ctx.faults
	s.submitOnHost("memory operations", func(o *probe.HostOrder) error {
		for i := range words {
			switch w := &words[i]; {
			case w.waits():
				var err error
				if t.d.dependOnHost(func() { err = s.ctx.waitFor(w, faultsBefore) }); err != nil {
					return err
				}
			case w.size() > 0:
				w.store()
				t.d.gpu.HostWrite(w.Addr, int(w.size()), o)
			}
		}
		return nil
	})
	return nil
}

// word checks an operation and returns it with a pointer to its word. The caller must hold d.mu.
func (d *Driver) word(op MemoryOp) (operationWord, error) {
	w := operationWord{MemoryOp: op}
	switch {
	case op.Kind == MemoryBarrier && op.Flags <= 1:
		return w, nil
	case op.size() == 0 && op.Kind != MemoryBarrier:
		return w, fail(NotSupported, "memory operation %d: gemu supports only 1, 2, 4, 5 and 6 of CUstreamBatchMemOpType", op.Kind)
	case op.waits() && op.Flags&waitFlush != 0:
		return w, fail(NotSupported, "gemu does not support CU_STREAM_WAIT_VALUE_FLUSH: leave out the flag")
	case op.waits() && op.Flags > waitNor:
		return w, fail(InvalidValue, "flags %#x of a wait, want 0 to %d", op.Flags, waitNor)
	case !op.waits() && op.Flags > 1:
		return w, fail(InvalidValue, "flags %#x, want 0 or 1", op.Flags)
	case op.Addr%op.size() != 0:
		return w, fail(InvalidValue, "address %#x is not a multiple of %d", op.Addr, op.size())
	case op.waits() && d.ordering.enabled:
		// Race detection runs all work in the order of the calls, so work of a later call could never write the value.
		return w, fail(NotSupported, "cuStreamWaitValue does not work with race detection: leave race out of GEMU_SANITIZE")
	}
	b, err := d.deviceBytes(op.Addr, op.size())
	if err == nil {
		w.word = unsafe.Pointer(unsafe.SliceData(b))
	}
	return w, err
}

// waitFor waits until the condition holds, or the context is destroyed or has a lasting fault. It returns an error if an
// operation of the context has failed since the wait was submitted, because that operation might have written the
// expected value. faultsBefore is the context's number of faults at the submission.
func (c *Context) waitFor(w *operationWord, faultsBefore int) error {
	d := c.dev.d
	for !w.conditionHolds() {
		d.mu.Lock()
		isEnded := c.dead || c.err != nil
		failed := c.faults != faultsBefore
		d.mu.Unlock()
		switch {
		case isEnded:
			return nil
		case failed:
			return fail(LaunchFailed, "the wait for the value at %#x was given up: an earlier operation of the context failed", w.Addr)
		}
		d.yield("", &interp.Turn{Stalled: true, Places: func() []string { return []string{fmt.Sprintf("wait for the value at %#x", w.Addr)} }})
	}
	return nil
}

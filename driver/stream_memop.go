package driver

// This file implements stream memory operations (driver API, "Stream Memory Operations"): a stream writes words, and
// waits for values.

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/probe"
)

// MemoryOp is a memory operation of a stream.
type MemoryOp struct {
	Kind  MemoryOpKind // decides about the size of the word: 32 or 64 bits
	Addr  uint64       // device address of the word, aligned to its size; unused by MemoryBarrier
	Value uint64       // value to write or to compare; the low bits for a word of 32
	Flags uint32       // condition of a wait: 0 is ≥, 1 is ==, 2 is &, 3 is nor (see CUstreamWaitValue_flags); else 0 or 1
}

// MemoryOpKind is a CUstreamBatchMemOpType.
type MemoryOpKind int32

// The kinds of operation.
const (
	WaitValue32   MemoryOpKind = 1 // waits until a word of 32 bits satisfies the condition
	WriteValue32  MemoryOpKind = 2 // writes a word of 32 bits
	WaitValue64   MemoryOpKind = 4 // waits until a word of 64 bits satisfies the condition
	WriteValue64  MemoryOpKind = 5 // writes a word of 64 bits
	MemoryBarrier MemoryOpKind = 6 // no effect: operations are in order anyway
)

// The conditions of a wait, by its flags: word - value ≥ 0 as signed numbers; word == value; word & value != 0; ^(word
// | value) != 0.
const (
	waitGreaterOrEqual uint32 = iota
	waitEqual
	waitAnd
	waitNor
)

// waitFlush is the flag for a flush of remote writes, which the devices do not support.
const waitFlush uint32 = 1 << 30

// MaxMemoryOps is the maximum number of operations of a batch.
const MaxMemoryOps = 255

// waits reports whether the operation is a wait.
func (op *MemoryOp) waits() bool { return op.Kind == WaitValue32 || op.Kind == WaitValue64 }

func (op *MemoryOp) size() uint64 {
	switch op.Kind {
	case WaitValue32, WriteValue32:
		return 4
	case WaitValue64, WriteValue64:
		return 8
	}
	return 0
}

// operationWord is an operation with the memory of its word.
type operationWord struct {
	MemoryOp
	addr unsafe.Pointer
}

// load and store access the word atomically, because threads of kernels may access it at the same time.

func (w *operationWord) load() uint64 {
	if w.size() == 4 {
		return uint64(atomic.LoadUint32((*uint32)(w.addr)))
	}
	return atomic.LoadUint64((*uint64)(w.addr))
}

func (w *operationWord) store() {
	if w.size() == 4 {
		atomic.StoreUint32((*uint32)(w.addr), uint32(w.Value))
	} else {
		atomic.StoreUint64((*uint64)(w.addr), w.Value)
	}
}

// conditionHolds reports whether the condition of a wait holds.
func (w *operationWord) conditionHolds() bool {
	now, value, unused := w.load(), w.Value, 64-8*w.size()
	switch w.Flags {
	case waitEqual:
		return now<<unused == value<<unused
	case waitAnd:
		return now&value<<unused != 0
	case waitNor:
		return ^(now|value)<<unused != 0
	}
	return int64((now-value)<<unused) >= 0
}

// StreamMemoryOps is cuStreamBatchMemOp: the operations run in sequence, in the order of the stream. A wait ends at
// the latest with its context.
func (t *Thread) StreamMemoryOps(h Handle, ops []MemoryOp, flags uint32) error {
	s, err := t.enterQueue(h)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	switch {
	case flags != 0:
		return fail(InvalidValue, "flags %#x", flags)
	case len(ops) == 0 || len(ops) > MaxMemoryOps:
		return fail(InvalidValue, "%d operations, want 1 to %d", len(ops), MaxMemoryOps)
	case s.capture != nil:
		return s.capture.invalidate(NotSupported, "memory operations in a captured stream")
	}
	words := make([]operationWord, len(ops))
	for i, op := range ops {
		if words[i], err = t.d.word(op); err != nil {
			return err
		}
	}
	faults := s.ctx.faults
	s.submit("memory operations", func(o *probe.HostOrder) error {
		for i := range words {
			switch w := &words[i]; {
			case w.waits():
				var err error
				if t.d.awaitHost(func() { err = s.ctx.waitFor(w, faults) }); err != nil {
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

// word checks an operation and finds its word. The caller must hold d.mu.
func (d *Driver) word(op MemoryOp) (operationWord, error) {
	w := operationWord{MemoryOp: op}
	switch {
	case op.Kind == MemoryBarrier && op.Flags <= 1:
		return w, nil
	case op.size() == 0 && op.Kind != MemoryBarrier:
		return w, fail(NotSupported, "memory operation %d", op.Kind)
	case op.waits() && op.Flags&waitFlush != 0:
		return w, fail(NotSupported, "CU_STREAM_WAIT_VALUE_FLUSH")
	case op.waits() && op.Flags > waitNor || !op.waits() && op.Flags > 1:
		return w, fail(InvalidValue, "flags %#x", op.Flags)
	case op.Addr%op.size() != 0:
		return w, fail(InvalidValue, "address %#x is not a multiple of %d", op.Addr, op.size())
	case op.waits() && d.ordering.enabled:
		// With ordering, work runs in the order of the calls, so a later call could never write the value.
		return w, fail(NotSupported, "cuStreamWaitValue with race detection (GEMU_SANITIZE=race)")
	}
	b, err := d.deviceBytes(op.Addr, op.size())
	if err == nil {
		w.addr = unsafe.Pointer(unsafe.SliceData(b))
	}
	return w, err
}

// The interval between two polls of a waiting stream doubles from minPollInterval to maxPollInterval.
const (
	minPollInterval = 10 * time.Microsecond
	maxPollInterval = time.Millisecond
)

// waitFor waits until the condition holds or the context is destroyed. It returns an error if an operation of the
// context has failed since the wait was submitted (faults is the number before), because the failed operation may have
// been the expected writer of the word.
func (c *Context) waitFor(w *operationWord, faults int) error {
	d := c.dev.d
	for interval := minPollInterval; !w.conditionHolds(); interval = min(2*interval, maxPollInterval) {
		d.mu.Lock()
		isEnded := c.dead || c.err != nil
		failed := c.faults != faults
		d.mu.Unlock()
		switch {
		case isEnded:
			return nil
		case failed:
			return fail(LaunchFailed, "the wait for the value at %#x was given up: an earlier operation of the context failed", w.Addr)
		}
		time.Sleep(interval)
	}
	return nil
}

package driver

// This file implements events shared by several processes (CU_EVENT_INTERPROCESS). The processes share a page of memory,
// the board. A process that records the event writes a record to the board, and when the preceding work has ended, the
// end of the record. A waiting process sleeps on a word of the board.

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/driver/internal/sharedmem"
	"gemu/probe"
)

// eventBoard is the shared state of an event. The records of a stream end in the order in which they were made.
// Therefore they use the same queue, which only counts them. A queue whose records have all ended may be reused by any
// stream of any process.
type eventBoard struct {
	newest recordID // the newest record; 0: none
	_      [24]byte // makes the board 4096 bytes long
	queues [boardQueues]recordQueue
}

// boardQueues is the number of queues that fit in a page of 4096 bytes.
const boardQueues = 127

// recordQueue counts the records of a stream, which end in order.
type recordQueue struct {
	pid     int32  // the recording process
	changed uint32 // number of changes of ended; processes sleep on this word
	started uint64 // start time of the recording process; see sharedmem.ProcessStart
	issued  uint64 // number of records ever made; guarded by the lock of the file
	ended   uint64 // number of ended records; if the bit failed is set, no more will end
}

// failed is a bit of recordQueue.ended.
const failed = 1 << 63

// recordID identifies a record: the index of its queue, and its number in the queue, which counts from 1. 0 is no record.
type recordID uint64

// queueShift is the position of the queue's index in a recordID.
const queueShift = 48

func (m recordID) queue() int    { return int(m >> queueShift) }
func (m recordID) count() uint64 { return uint64(m) & (1<<queueShift - 1) }

// sharedEvent is a shared event as this process has opened it.
type sharedEvent struct {
	file     *os.File
	mem      []byte
	board    *eventBoard
	imported bool             // the event was created by another process
	queues   map[int]queueUse // the last record of this process in each queue, by index; guarded by d.mu
	lastOwn  recordID         // the last record of this process; guarded by d.mu

	userCount // users of the memory; the last release unmaps it
}

// queueUse is a record that this process made in a queue.
type queueUse struct {
	stream *Stream
	count  uint64 // number of the record; see recordID
}

// newSharedEvent makes a sharedEvent from the file of its board. It owns the file from then on.
func newSharedEvent(file *os.File, imported bool) (*sharedEvent, error) {
	mem, err := sharedmem.Map(file, 0, sharedmem.WholePages(uint64(unsafe.Sizeof(eventBoard{}))))
	if err != nil {
		file.Close()
		return nil, err
	}
	e := &sharedEvent{file: file, mem: mem, board: (*eventBoard)(unsafe.Pointer(unsafe.SliceData(mem))), imported: imported, queues: map[int]queueUse{}}
	e.add()
	return e, nil
}

// drop ends a use of the event. The last drop unmaps the board.
func (e *sharedEvent) drop() {
	if e.release() {
		sharedmem.FreeAddresses(e.mem)
		e.file.Close()
	}
}

// newest returns the newest record of all processes.
func (e *sharedEvent) newest() recordID {
	return recordID(atomic.LoadUint64((*uint64)(&e.board.newest)))
}

// newRecord adds a record of a stream to the board. The caller must hold d.mu.
func (e *sharedEvent) newRecord(s *Stream) (recordID, error) {
	if err := sharedmem.Lock(e.file); err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	defer sharedmem.Unlock(e.file)
	index := -1
	for i := range e.board.queues {
		q := &e.board.queues[i]
		if e.queues[i] == (queueUse{s, q.issued}) { // the queue of the stream
			index = i
			break
		}
		if index < 0 && atomic.LoadUint64(&q.ended) == q.issued { // the first reusable queue
			index = i
		}
	}
	if index < 0 {
		return 0, fail(OutOfMemory, "too many streams have recorded the event: the records of %d are still pending", boardQueues)
	}
	started, err := ownStart()
	if err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	q := &e.board.queues[index]
	atomic.StoreInt32(&q.pid, int32(os.Getpid()))
	atomic.StoreUint64(&q.started, started)
	q.issued++
	e.queues[index] = queueUse{s, q.issued}
	e.lastOwn = recordID(uint64(index)<<queueShift | q.issued)
	atomic.StoreUint64((*uint64)(&e.board.newest), uint64(e.lastOwn))
	return e.lastOwn, nil
}

// end publishes the end of a record of this process. If success is false, the record and all later records of its queue
// never end.
func (e *sharedEvent) end(m recordID, success bool) {
	q := &e.board.queues[m.queue()]
	if success {
		atomic.StoreUint64(&q.ended, m.count())
	} else {
		atomic.OrUint64(&q.ended, failed)
	}
	atomic.AddUint32(&q.changed, 1)
	sharedmem.Wake(&q.changed)
}

// endReported reports whether the end of a record was published.
func (e *sharedEvent) endReported(m recordID) bool {
	return atomic.LoadUint64(&e.board.queues[m.queue()].ended)&^failed >= m.count()
}

// ended reports whether a record has ended; record 0 counts as ended. It returns an error if the record can never end:
// its work has failed, or its process has ended.
func (e *sharedEvent) ended(m recordID) (bool, error) {
	if m == 0 {
		return true, nil
	}
	q := &e.board.queues[m.queue()]
	pid := atomic.LoadInt32(&q.pid)
	started, err := sharedmem.ProcessStart(int(pid))
	processEnded := err != nil || started != atomic.LoadUint64(&q.started)
	// Load q.ended last: if the process has ended, it publishes nothing any more, so the loaded value is final.
	switch ended := atomic.LoadUint64(&q.ended); {
	case ended&^failed >= m.count():
		return true, nil
	case ended&failed != 0:
		return false, fail(ExternalDevice, "the work of process %d that the event follows has failed", pid)
	case processEnded:
		return false, fail(ExternalDevice, "process %d has ended before the work that the event follows", pid)
	}
	return false, nil
}

// processPollInterval is the time for which a waiting process sleeps before it checks whether the recording process
// still runs.
const processPollInterval = 100 * time.Millisecond

// wait waits until a record has ended.
func (e *sharedEvent) wait(m recordID) error {
	for {
		word := &e.board.queues[m.queue()].changed
		seen := atomic.LoadUint32(word)
		if isEnded, err := e.ended(m); isEnded || err != nil {
			return err
		}
		sharedmem.Sleep(word, seen, processPollInterval)
	}
}

// foreign reports whether the newest record was made by another process, or through another event object of this
// process. The caller must hold d.mu.
func (e *Event) foreign() bool { return e.shared != nil && e.shared.newest() != e.shared.lastOwn }

// recordEnded reports whether the end of the last record of this process was published. That may be the case before the
// record's task has ended, and a thread may know it through another process. The caller must hold d.mu.
func (e *Event) recordEnded() bool { return e.shared != nil && e.shared.endReported(e.shared.lastOwn) }

// record is EventRecord on a stream that is not captured. The caller must hold d.mu.
func (e *Event) record(s *Stream) error {
	if e.shared == nil {
		e.task = s.submit("", nil)
		return nil
	}
	m, err := e.shared.newRecord(s)
	if err != nil {
		return err
	}
	shared := e.shared
	shared.add()
	// The end must be published before the task ends, because this process may exit as soon as the task has ended.
	e.task = s.submitAlways("", func(*probe.HostOrder) {
		d := s.ctx.dev.d
		d.mu.Lock()
		success := s.ctx.err == nil
		d.mu.Unlock()
		shared.end(m, success)
		shared.drop()
	})
	return nil
}

// waitForeign makes the stream wait for the newest record, which another process has made. The caller must hold d.mu.
func (s *Stream) waitForeign(shared *sharedEvent) {
	m := shared.newest()
	shared.add()
	task := s.submitOnHost("", func(*probe.HostOrder) error {
		var err error
		s.ctx.dev.d.awaitHost(func() { err = shared.wait(m) })
		if err != nil {
			s.ctx.dev.d.message("%v", err)
		}
		return err
	})
	go func() {
		<-task.done
		shared.drop()
	}()
}

// IPCGetEventHandle is cuIpcGetEventHandle.
func (t *Thread) IPCGetEventHandle(h Handle) (handle IPCHandle, err error) {
	c, err := t.enter()
	if err != nil {
		return handle, err
	}
	defer t.d.mu.Unlock()
	e, err := t.d.event(h)
	switch {
	case err != nil:
		return handle, err
	case e.shared == nil:
		return handle, fail(InvalidHandle, "the event was created without CU_EVENT_INTERPROCESS")
	case e.shared.imported:
		return handle, fail(InvalidHandle, "the event was opened from a handle: only the process that created it can export a handle")
	}
	o := origin{Kind: eventHandle, Device: int32(c.dev.ordinal)}
	return o.handle(e.shared.file)
}

// IPCOpenEventHandle is cuIpcOpenEventHandle.
func (t *Thread) IPCOpenEventHandle(handle IPCHandle) (Handle, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	if !sharedmem.Supported {
		return 0, errNoProcesses
	}
	o, err := handle.origin(eventHandle)
	if err != nil {
		return 0, err
	}
	file, size, err := o.open(eventFile)
	if err != nil {
		return 0, err
	}
	if size < uint64(unsafe.Sizeof(eventBoard{})) {
		file.Close()
		return 0, fail(InvalidHandle, "the file of the event is too short: %d bytes", size)
	}
	shared, err := newSharedEvent(file, true)
	if err != nil {
		return 0, fail(OutOfMemory, "%v", err)
	}
	return c.addObject(&Event{ctx: c, noTiming: true, shared: shared}), nil
}

// createShared makes the shared state of a new event.
func createShared() (*sharedEvent, error) {
	if !sharedmem.Supported {
		return nil, errNoProcesses
	}
	file, err := sharedmem.Create(eventFile, sharedmem.WholePages(uint64(unsafe.Sizeof(eventBoard{}))))
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	shared, err := newSharedEvent(file, false)
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	return shared, nil
}

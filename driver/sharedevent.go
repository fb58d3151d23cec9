package driver

// This file is events that several processes know (CU_EVENT_INTERPROCESS). They have a page of memory in common, a board:
// there who records the event says so, and when what was recorded is over; who waits sleeps on it.

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/interp"
)

// eventBoard is what the processes share of an event. What was recorded on one stream is over in the order in which it was
// recorded: so such records share a lane, in which there is only to count. A lane that is over may be taken for another
// stream, of any process.
type eventBoard struct {
	newest recordID // that was recorded; 0: none
	_      [24]byte
	queues [boardQueues]recordQueue
}

const boardQueues = 127 // what a page of 4096 bytes has

// recordQueue is records of which each is over after those before it.
type recordQueue struct {
	pid     int32  // the process that records here
	changed uint32 // how often done has: what processes sleep on
	started uint64 // the process: see startOf
	issued  uint64 // how many records there ever were; the file's lock guards it
	ended   uint64 // how many of them are over; with failed, no more will be
}

// failed is a part of recordQueue.ended.
const failed = 1 << 63

// recordID is a record: a lane, and how many records there had been in it then. 0 is none.
type recordID uint64

const queueShift = 48

func (m recordID) queue() int    { return int(m >> queueShift) }
func (m recordID) count() uint64 { return uint64(m) & (1<<queueShift - 1) }

// sharedEvent is a process's view of such an event.
type sharedEvent struct {
	file     *os.File
	mem      []byte
	board    *eventBoard
	imported bool             // from another process
	queues   map[int]queueUse // the last here of each lane, by its index; d.mu guards it
	lastOwn  recordID         // the last here; likewise

	userCount // of the memory: the last gives it back
}

// queueUse is a record of this process.
type queueUse struct {
	stream *Stream
	count  uint64
}

// newSharedEvent is the event that has a board, of a page. It takes the file.
func newSharedEvent(file *os.File, imported bool) (*sharedEvent, error) {
	mem, err := mapFile(file, 0, wholePages(uint64(unsafe.Sizeof(eventBoard{}))))
	if err != nil {
		file.Close()
		return nil, err
	}
	e := &sharedEvent{file: file, mem: mem, board: (*eventBoard)(unsafe.Pointer(unsafe.SliceData(mem))), imported: imported, queues: map[int]queueUse{}}
	e.add()
	return e, nil
}

// drop is for one who used the event.
func (e *sharedEvent) drop() {
	if e.release() {
		freeAddresses(e.mem)
		e.file.Close()
	}
}

// newest is what was recorded last, by any process.
func (e *sharedEvent) newest() recordID {
	return recordID(atomic.LoadUint64((*uint64)(&e.board.newest)))
}

// newRecord is the record of a stream that is made now. d.mu is held.
func (e *sharedEvent) newRecord(s *Stream) (recordID, error) {
	if err := lockFile(e.file); err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	defer unlockFile(e.file)
	at := -1
	for i := range e.board.queues {
		l := &e.board.queues[i]
		if e.queues[i] == (queueUse{s, l.issued}) {
			at = i
			break
		}
		if at < 0 && atomic.LoadUint64(&l.ended) == l.issued {
			at = i
		}
	}
	if at < 0 {
		return 0, fail(OutOfMemory, "%d streams have recorded the event and are not so far, or never will be", boardQueues)
	}
	started, err := ownStart()
	if err != nil {
		return 0, fail(OperatingSystem, "%v", err)
	}
	l := &e.board.queues[at]
	atomic.StoreInt32(&l.pid, int32(os.Getpid()))
	atomic.StoreUint64(&l.started, started)
	l.issued++
	e.queues[at] = queueUse{s, l.issued}
	e.lastOwn = recordID(uint64(at)<<queueShift | l.issued)
	atomic.StoreUint64((*uint64)(&e.board.newest), uint64(e.lastOwn))
	return e.lastOwn, nil
}

// end tells all processes that a record of this one is over, or never will be.
func (e *sharedEvent) end(m recordID, whether bool) {
	l := &e.board.queues[m.queue()]
	if whether {
		atomic.StoreUint64(&l.ended, m.count())
	} else {
		atomic.OrUint64(&l.ended, failed)
	}
	atomic.AddUint32(&l.changed, 1)
	wake(&l.changed)
}

// endReported reports whether a record has been told to be over.
func (e *sharedEvent) endReported(m recordID) bool {
	return atomic.LoadUint64(&e.board.queues[m.queue()].ended)&^failed >= m.count()
}

// ended reports whether a record is over. The error is that it never will be.
func (e *sharedEvent) ended(m recordID) (bool, error) {
	if m == 0 {
		return true, nil
	}
	l := &e.board.queues[m.queue()]
	pid := atomic.LoadInt32(&l.pid)
	started, err := startOf(int(pid))
	ended := err != nil || started != atomic.LoadUint64(&l.started)
	switch done := atomic.LoadUint64(&l.ended); { // looked at last: what has ended says nothing more
	case done&^failed >= m.count():
		return true, nil
	case done&failed != 0:
		return false, fail(ExternalDevice, "the work of process %d that an event is behind has failed", pid)
	case ended:
		return false, fail(ExternalDevice, "process %d has ended before the work that the event follows", pid)
	}
	return false, nil
}

// processPollInterval is how long one who waits for another process sleeps before he looks whether that has ended.
const processPollInterval = 100 * time.Millisecond

// wait waits until a record is over.
func (e *sharedEvent) wait(m recordID) error {
	for {
		word := &e.board.queues[m.queue()].changed
		seen := atomic.LoadUint32(word)
		if isEnded, err := e.ended(m); isEnded || err != nil {
			return err
		}
		sleepOn(word, seen, processPollInterval)
	}
}

// foreign reports whether the event was recorded last by another process, or by another event of this one. d.mu is held.
func (e *Event) foreign() bool { return e.shared != nil && e.shared.newest() != e.shared.lastOwn }

// recordEnded reports whether other processes have been told that what this one recorded last is over: they may tell its threads,
// which ask before the record's task has ended. d.mu is held.
func (e *Event) recordEnded() bool { return e.shared != nil && e.shared.endReported(e.shared.lastOwn) }

// record is EventRecord on a stream that is not captured. d.mu is held.
func (e *Event) record(s *Stream) error {
	if e.shared == nil {
		e.task = s.submit("", noOperation)
		return nil
	}
	m, err := e.shared.newRecord(s)
	if err != nil {
		return err
	}
	shared := e.shared
	shared.add()
	// The task ends when the others have been told: this process may end after it.
	e.task = s.submitAlways("", func(*interp.HostOrder) {
		d := s.ctx.dev.d
		d.mu.Lock()
		success := s.ctx.err == nil
		d.mu.Unlock()
		shared.end(m, success)
		shared.drop()
	})
	return nil
}

// waitForeign puts into the stream's queue that it waits for what another process has recorded last. d.mu is held.
func (s *Stream) waitForeign(shared *sharedEvent) {
	m := shared.newest()
	shared.add()
	task := s.submit("", func(*interp.HostOrder) error {
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
		return handle, fail(InvalidHandle, "the event is of another process, which has its handle")
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
	if !haveVirtual {
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
		return 0, fail(InvalidHandle, "an event of %d bytes", size)
	}
	shared, err := newSharedEvent(file, true)
	if err != nil {
		return 0, fail(OutOfMemory, "%v", err)
	}
	return c.addObject(&Event{ctx: c, noTiming: true, shared: shared}), nil
}

// createShared makes what other processes may know of an event.
func createShared() (*sharedEvent, error) {
	if !haveVirtual {
		return nil, errNoProcesses
	}
	file, err := createMemory(eventFile, wholePages(uint64(unsafe.Sizeof(eventBoard{}))))
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	shared, err := newSharedEvent(file, false)
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	return shared, nil
}

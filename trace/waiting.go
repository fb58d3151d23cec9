package trace

// This file keeps records of the second log until the comparison reaches the same step in the first log. The records are
// encoded and grouped by warp. They are moved to disk if they are larger than maxWaitingBytes.

import (
	"bufio"
	"bytes"
	"math/bits"
)

// waitingRecords holds waiting records. Each record takes 56 bytes of memory. The encoded records in memory take at most
// maxWaitingBytes in addition.
type waitingRecords struct {
	warps       []*warpRecords // by index of the warp; nil: no records
	comparisons int            // number of pairs of a thread and a record that are not compared yet
	memoryBytes int            // size of the encoded records in memory
	spool       spool
}

// warpRecords holds the waiting records of a warp, in order. The records of a warp have numbers from 0, which include
// dropped records. The threads of the warp may have reached different records.
type warpRecords struct {
	list    []waitingRecord
	dropped uint64     // number of records removed from the front
	passed  [64]uint64 // for each lane, the number of records that it has passed
	trimAt  int        // length of list at which shorten is called next

	recent [4]struct { // cache of decoded records
		end uint64 // number of the record plus 1
		r   *Record
	}
}

// waitingRecord is an encoded record in memory or in the spool.
type waitingRecord struct {
	lanes   uint64
	ordinal uint64
	encoded []byte
	spilled segment
}

// clear discards all records.
func (w *waitingRecords) clear() error {
	w.warps, w.comparisons, w.memoryBytes = w.warps[:0], 0, 0
	return w.spool.forget(w.spool.segments)
}

// warp returns the waiting records of a warp.
func (w *waitingRecords) warp(warp uint64) *warpRecords {
	for uint64(len(w.warps)) <= warp {
		w.warps = append(w.warps, nil)
	}
	if w.warps[warp] == nil {
		w.warps[warp] = &warpRecords{trimAt: 64}
	}
	return w.warps[warp]
}

// addWaiting adds a record of the second log to the waiting records.
func (c *comparison) addWaiting(r *Record) error {
	w, lanes := &c.second, c.lanesOf(r)
	l := w.warp(r.Warp)
	x := waitingRecord{lanes: lanes, ordinal: r.ordinal, encoded: protobuf{}.append(nil, r, c.logs[1].codeOf(r))}
	l.list = append(l.list, x)
	w.comparisons += bits.OnesCount64(lanes)
	if w.memoryBytes += len(x.encoded); w.memoryBytes > maxWaitingBytes {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if len(l.list) >= l.trimAt {
		w.shorten(l)
	}
	return nil
}

// spill moves the encoded records to disk.
func (w *waitingRecords) spill() error {
	var all []byte
	for _, l := range w.warps {
		if l == nil {
			continue
		}
		for i := range l.list {
			if x := &l.list[i]; x.encoded != nil {
				x.spilled = segment{int64(len(all)), int64(len(x.encoded))}
				all = append(all, x.encoded...)
			}
		}
	}
	segment, err := w.spool.append(all)
	for _, l := range w.warps {
		if l == nil {
			continue
		}
		for i := range l.list {
			if x := &l.list[i]; x.encoded != nil {
				x.spilled.offset += segment.offset
				x.encoded = nil
			}
		}
	}
	w.memoryBytes = 0
	return err
}

// shorten removes the records that all threads have passed.
func (w *waitingRecords) shorten(l *warpRecords) {
	first := l.dropped + uint64(len(l.list))
	for lane := range 64 {
		l.skipTo(lane)
		first = min(first, l.passed[lane])
	}
	n := int(first - l.dropped)
	for i := range l.list[:n] {
		w.memoryBytes -= len(l.list[i].encoded)
	}
	l.list = append(l.list[:0], l.list[n:]...)
	l.dropped, l.trimAt = first, 2*len(l.list)+64
}

// skipTo skips the records without the lane. It reports whether a record with the lane follows.
func (l *warpRecords) skipTo(lane int) bool {
	end := l.dropped + uint64(len(l.list))
	n := max(l.passed[lane], l.dropped)
	for n < end && l.list[n-l.dropped].lanes>>lane&1 == 0 {
		n++
	}
	l.passed[lane] = n
	return n < end
}

// waitingRecord decodes the record that a lane has reached.
func (c *comparison) waitingRecord(l *warpRecords, lane int) (*Record, error) {
	number := l.passed[lane]
	recent := &l.recent[number%uint64(len(l.recent))]
	if recent.end == number+1 {
		return recent.r, nil
	}
	x := &l.list[number-l.dropped]
	in := bufio.NewReader(bytes.NewReader(x.encoded))
	if x.encoded == nil {
		in.Reset(c.second.spool.reader(x.spilled))
	}
	b, _, err := readDelimited(in, nil)
	if err != nil {
		return nil, err
	}
	e, err := protobuf{}.parse(b)
	if err != nil {
		return nil, err
	}
	r := e.(*Record)
	r.ordinal = x.ordinal
	recent.end, recent.r = number+1, r
	return r, c.logs[1].complete(r)
}

// pop returns the next step of a thread with waiting records.
func (c *comparison) pop(l *warpRecords, lane int) (*step, error) {
	r, err := c.waitingRecord(l, lane)
	if err != nil {
		return nil, err
	}
	l.passed[lane]++
	c.second.comparisons--
	c.growCounts(1, c.thread(1, r, 64))
	c.countLane(1, r, lane)
	return &step{r, lane, c.counts[1][c.thread(1, r, lane)] - 1}, nil
}

// nextStep returns the next step of a thread in the second log; nil after its last step. It reads the log as far as necessary.
func (c *comparison) nextStep(thread int) (*step, error) {
	size := c.warpSize(1)
	l, lane := c.second.warp(uint64(thread/size)), thread%size
	for !l.skipTo(lane) {
		r, err := c.next(1)
		if err != nil || r == nil {
			return nil, err
		}
		if err := c.addWaiting(r); err != nil {
			return nil, err
		}
	}
	return c.pop(l, lane)
}

// firstWaiting returns the first step of the lowest thread with waiting records, or nil.
func (c *comparison) firstWaiting() (*step, int, error) {
	if c.second.comparisons == 0 {
		return nil, 0, nil
	}
	for warp, l := range c.second.warps {
		for lane := range 64 {
			if l != nil && l.skipTo(lane) {
				x, err := c.pop(l, lane)
				return x, warp*c.warpSize(1) + lane, err
			}
		}
	}
	return nil, 0, nil
}

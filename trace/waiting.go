package trace

// This file is records of the second log that the first has not come to: encoded, by warp, and on disk
// where they are many.

import (
	"bufio"
	"bytes"
	"math/bits"
)

// waiting is records that wait. Of each 56 bytes stay in memory, and of what they are waitBytes in all.
type waiting struct {
	warps []*line
	some  int // of threads and records that they have to be compared in
	held  int // bytes in memory
	spool spool
}

// line is the records of a warp, in their order. Each thread has come to another.
type line struct {
	list  []waits
	first uint64     // how many have gone from its beginning
	next  [64]uint64 // by lane, how many it has come past
	trim  int        // how long the list has to be until it is looked at again

	recent [4]struct { // that have been decoded
		at uint64 // and one more
		r  *Record
	}
}

// waits is a record that waits, in memory or in the spool.
type waits struct {
	lanes   uint64
	ordinal uint64
	b       []byte
	away    piece
}

// clear forgets all.
func (w *waiting) clear() error {
	w.warps, w.some, w.held = w.warps[:0], 0, 0
	return w.spool.forget(w.spool.live)
}

// of is the records of a warp.
func (w *waiting) of(warp uint64) *line {
	for uint64(len(w.warps)) <= warp {
		w.warps = append(w.warps, nil)
	}
	if w.warps[warp] == nil {
		w.warps[warp] = &line{trim: 64}
	}
	return w.warps[warp]
}

// read has a record of the second log wait, for its threads.
func (c *comparison) read(r *Record) error {
	w, lanes := &c.second, c.lanesOf(r)
	l := w.of(r.Warp)
	x := waits{lanes: lanes, ordinal: r.ordinal, b: protobuf{}.append(nil, r, c.logs[1].codeOf(r))}
	l.list = append(l.list, x)
	w.some += bits.OnesCount64(lanes)
	if w.held += len(x.b); w.held > waitBytes {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if len(l.list) >= l.trim {
		w.shorten(l)
	}
	return nil
}

// spill puts what waits in memory on disk.
func (w *waiting) spill() error {
	var all []byte
	for _, l := range w.warps {
		if l == nil {
			continue
		}
		for i := range l.list {
			if x := &l.list[i]; x.b != nil {
				x.away = piece{int64(len(all)), int64(len(x.b))}
				all = append(all, x.b...)
			}
		}
	}
	at, err := w.spool.put(all)
	for _, l := range w.warps {
		if l == nil {
			continue
		}
		for i := range l.list {
			if x := &l.list[i]; x.b != nil {
				x.away.at += at.at
				x.b = nil
			}
		}
	}
	w.held = 0
	return err
}

// shorten forgets the records that all threads have come past.
func (w *waiting) shorten(l *line) {
	first := l.first + uint64(len(l.list))
	for lane := range 64 {
		l.come(lane)
		first = min(first, l.next[lane])
	}
	n := int(first - l.first)
	for i := range l.list[:n] {
		w.held -= len(l.list[i].b)
	}
	l.list = append(l.list[:0], l.list[n:]...)
	l.first, l.trim = first, 2*len(l.list)+64
}

// come passes over records that a thread is not in. It reports whether there is another.
func (l *line) come(lane int) bool {
	end := l.first + uint64(len(l.list))
	n := max(l.next[lane], l.first)
	for n < end && l.list[n-l.first].lanes>>lane&1 == 0 {
		n++
	}
	l.next[lane] = n
	return n < end
}

// waitingRecord is the record that a thread has come to, which waits.
func (c *comparison) waitingRecord(l *line, lane int) (*Record, error) {
	at := l.next[lane]
	recent := &l.recent[at%uint64(len(l.recent))]
	if recent.at == at+1 {
		return recent.r, nil
	}
	x := &l.list[at-l.first]
	in := bufio.NewReader(bytes.NewReader(x.b))
	if x.b == nil {
		in.Reset(c.second.spool.reader(x.away))
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
	recent.at, recent.r = at+1, r
	return r, c.logs[1].complete(r)
}

// pop is the next step of a thread that waits.
func (c *comparison) pop(l *line, lane int) (*step, error) {
	r, err := c.waitingRecord(l, lane)
	if err != nil {
		return nil, err
	}
	l.next[lane]++
	c.second.some--
	c.room(1, c.thread(1, r, 64))
	c.countLane(1, r, lane)
	return &step{r, lane, c.counts[1][c.thread(1, r, lane)] - 1}, nil
}

// take is the next step of a thread in the second log; nil if it has none.
func (c *comparison) take(thread int) (*step, error) {
	size := c.warpSize(1)
	l, lane := c.second.of(uint64(thread/size)), thread%size
	for !l.come(lane) {
		r, err := c.next(1)
		if err != nil || r == nil {
			return nil, err
		}
		if err := c.read(r); err != nil {
			return nil, err
		}
	}
	return c.pop(l, lane)
}

// left is the first thread whose records still wait, with the first of them; nil if there is none.
func (c *comparison) left() (*step, int, error) {
	if c.second.some == 0 {
		return nil, 0, nil
	}
	for warp, l := range c.second.warps {
		for lane := range 64 {
			if l != nil && l.come(lane) {
				x, err := c.pop(l, lane)
				return x, warp*c.warpSize(1) + lane, err
			}
		}
	}
	return nil, 0, nil
}

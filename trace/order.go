package trace

// This file brings CTAs that run side by side into order: those that are behind wait in memory,
// and on disk where they are long.

import (
	"io"
	"maps"
	"os"
	"slices"
)

// Room of what waits; tests have less.
var (
	chunkBytes      = 1 << 20  // of a CTA, before it goes to the log or to disk
	maxWaitingBytes = 64 << 20 // of CTAs that have ended, before those are
)

// spool is a file that pieces are put away in.
type spool struct {
	file     *os.File
	size     int64
	segments int // pieces that nobody has got back
}

// segment is where something is in a spool.
type segment struct{ offset, size int64 }

func (s *spool) append(b []byte) (segment, error) {
	if s.file == nil {
		f, err := os.CreateTemp("", "gemu-trace-*")
		if err != nil {
			return segment{}, err
		}
		s.file = f
		os.Remove(f.Name()) // where that can be done to one that is open: nothing is left of a process that is ended
	}
	p := segment{s.size, int64(len(b))}
	n, err := s.file.WriteAt(b, s.size)
	s.size += int64(n)
	s.segments++
	return p, err
}

// reader reads a piece.
func (s *spool) reader(p segment) io.Reader { return io.NewSectionReader(s.file, p.offset, p.size) }

// forget gives up pieces. The file is empty again where none are left.
func (s *spool) forget(n int) (err error) {
	if s.segments -= n; s.segments == 0 && s.file != nil {
		s.size, err = 0, s.file.Truncate(0)
	}
	return err
}

// close removes the file.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}

// ctaLog is what a CTA has in a log so far: entries in writing.
type ctaLog struct {
	cta     CTA
	buf     []byte
	spilled []segment // before buf
	records uint64
	ended   bool
	begun   bool // it is written as it comes: no CTA before it is missing
}

// ctaOrder writes the CTAs of a launch in their order.
type ctaOrder struct {
	w            *Writer
	spool        spool
	next         uint64                  // the CTA that is written as it comes
	parts        map[uint64]*ctaLog      // by number, those that wait
	waitingBytes int                     // bytes in buf of those that have ended
	after        func(cta uint64) uint64 // the one that comes after another
}

// spill puts what a part has away.
func (o *ctaOrder) spill(p *ctaLog) error {
	b := p.buf
	if p.cta.Number == o.next {
		if err := o.begin(p); err != nil {
			return err
		}
		if err := o.w.write(b); err != nil {
			return err
		}
	} else {
		segment, err := o.spool.append(b)
		if err != nil {
			return err
		}
		p.spilled = append(p.spilled, segment)
	}
	if p.buf = p.buf[:0]; p.ended {
		p.buf = nil // nothing comes any more
	}
	return nil
}

// begin writes what a part has from before it was the next.
func (o *ctaOrder) begin(p *ctaLog) error {
	if p.begun {
		return nil
	}
	p.begun = true
	if err := o.w.Write(&p.cta); err != nil {
		return err
	}
	for _, segment := range p.spilled {
		if err := o.copySegment(segment); err != nil {
			return err
		}
	}
	n := len(p.spilled)
	p.spilled = nil
	return o.spool.forget(n)
}

// copySegment writes a piece, which is whole entries.
func (o *ctaOrder) copySegment(segment segment) error {
	b := make([]byte, segment.size)
	if _, err := io.ReadFull(o.spool.reader(segment), b); err != nil {
		return err
	}
	return o.w.write(b)
}

// write writes a whole part.
func (o *ctaOrder) write(p *ctaLog) error {
	if err := o.begin(p); err != nil {
		return err
	}
	delete(o.parts, p.cta.Number)
	return o.w.encoded(p.buf, p.records)
}

// end is told that a CTA has ended, and that those before next that are not there never will be.
func (o *ctaOrder) end(p *ctaLog) error {
	p.ended = true
	o.waitingBytes += len(p.buf)
	if p.cta.Number != o.next {
		if o.waitingBytes > maxWaitingBytes && len(p.buf) > 0 {
			o.waitingBytes -= len(p.buf)
			return o.spill(p)
		}
		return nil
	}
	for p := o.parts[o.next]; p != nil && p.ended; p = o.parts[o.next] {
		o.waitingBytes -= len(p.buf)
		if err := o.write(p); err != nil {
			return err
		}
		o.next = o.after(o.next)
	}
	return nil
}

// finish writes those that are left, up to one.
func (o *ctaOrder) finish(last uint64) error {
	for _, n := range slices.Sorted(maps.Keys(o.parts)) {
		if n > last {
			break
		}
		o.next = n
		if err := o.write(o.parts[n]); err != nil {
			return err
		}
	}
	o.drop()
	return nil
}

// drop forgets all parts.
func (o *ctaOrder) drop() {
	o.parts, o.waitingBytes = map[uint64]*ctaLog{}, 0
	o.spool.close()
	o.spool = spool{}
}

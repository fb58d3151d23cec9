package trace

// This file writes the CTAs of a launch in ascending order, although they run concurrently. The entries of a CTA that must wait
// for earlier CTAs are kept in memory, and on disk if they are large.

import (
	"io"
	"maps"
	"os"
	"slices"
)

// Limits for waiting CTAs, in bytes; tests lower them.
var (
	chunkBytes      = 1 << 20  // if a CTA has more bytes of entries in memory, they are moved to the log or to disk
	maxWaitingBytes = 64 << 20 // if the ended CTAs in memory have more bytes, further ended CTAs are moved to disk
)

// maxFreeBytes is the maximum number of bytes of the buffers of written CTAs that ctaOrder keeps.
const maxFreeBytes = 16 << 20

// spool is a temporary file of segments. The first append makes the file.
type spool struct {
	file     *os.File
	size     int64
	segments int // segments still in use
}

// segment is a range of a spool, in bytes.
type segment struct{ offset, size int64 }

func (s *spool) append(b []byte) (segment, error) {
	if s.file == nil {
		f, err := os.CreateTemp("", "gemu-trace-*")
		if err != nil {
			return segment{}, err
		}
		s.file = f
		os.Remove(f.Name()) // if the system allows it, a killed process leaves no file
	}
	p := segment{s.size, int64(len(b))}
	n, err := s.file.WriteAt(b, s.size)
	s.size += int64(n)
	s.segments++
	return p, err
}

// reader returns a reader of a segment.
func (s *spool) reader(p segment) io.Reader { return io.NewSectionReader(s.file, p.offset, p.size) }

// forget releases n segments. It truncates the file when no segment is in use.
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

// ctaLog holds the encoded entries of a CTA that are not in the log yet.
type ctaLog struct {
	cta     CTA
	buf     []byte
	spilled []segment // entries before buf
	records uint64    // number of records, including written records
	ended   bool      // the CTA has ended
	begun   bool      // all earlier CTAs and the CTA entry are in the log; new entries are written directly
}

// freeBuffers are buffers of written CTAs, of any launch, for later CTAs.
type freeBuffers struct {
	list  [][]byte
	bytes int // sum of their capacities
}

// add adds a buffer, unless the buffers are too large together.
func (f *freeBuffers) add(b []byte) {
	if n := f.bytes + cap(b); cap(b) > 0 && n <= maxFreeBytes {
		f.list, f.bytes = append(f.list, b[:0]), n
	}
}

// take returns an empty buffer, which may have the memory of an earlier CTA.
func (f *freeBuffers) take() []byte {
	n := len(f.list)
	if n == 0 {
		return nil
	}
	b := f.list[n-1]
	f.list, f.bytes = f.list[:n-1], f.bytes-cap(b)
	return b
}

// noCTA is the number of no CTA.
const noCTA = ^uint64(0)

// ctaOrder writes the CTAs of a launch in ascending order.
type ctaOrder struct {
	w            *Writer
	spool        spool
	next         uint64                  // number of the CTA that is written directly; noCTA: the launch waits for an earlier launch
	parts        map[uint64]*ctaLog      // CTAs that are not completely written, by number
	waitingBytes int                     // bytes in buf, summed over ended CTAs
	free         *freeBuffers            // buffers of written CTAs, for later CTAs
	after        func(cta uint64) uint64 // returns the number of the next selected CTA after a CTA
}

// spill moves the entries of p.buf to the log or to disk.
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
		p.buf = nil // the CTA has no further entries
	}
	return nil
}

// begin writes the CTA entry of a CTA and its entries on disk.
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

// copySegment writes a segment, which holds whole entries.
func (o *ctaOrder) copySegment(segment segment) error {
	b := make([]byte, segment.size)
	if _, err := io.ReadFull(o.spool.reader(segment), b); err != nil {
		return err
	}
	return o.w.write(b)
}

// write writes the remaining entries of an ended CTA.
func (o *ctaOrder) write(p *ctaLog) error {
	if err := o.begin(p); err != nil {
		return err
	}
	delete(o.parts, p.cta.Number)
	err := o.w.encoded(p.buf, p.records)
	o.free.add(p.buf)
	p.buf = nil
	return err
}

// end marks a CTA as ended, and writes all ended CTAs before which all CTAs are written. No CTA before o.next may begin
// after the call.
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
	return o.writeEnded()
}

// open ends the launch's wait for an earlier launch. first is the number of the first CTA to be written.
func (o *ctaOrder) open(first uint64) error {
	o.next = first
	return o.writeEnded()
}

// writeEnded writes all ended CTAs before which all CTAs are written.
func (o *ctaOrder) writeEnded() error {
	for p := o.parts[o.next]; p != nil && p.ended; p = o.parts[o.next] {
		o.waitingBytes -= len(p.buf)
		if err := o.write(p); err != nil {
			return err
		}
		o.next = o.after(o.next)
	}
	return nil
}

// finish writes the remaining CTAs, and discards those of dropped.
func (o *ctaOrder) finish(dropped map[uint64]bool) error {
	for _, n := range slices.Sorted(maps.Keys(o.parts)) {
		if dropped[n] {
			continue
		}
		o.next = n
		if err := o.write(o.parts[n]); err != nil {
			return err
		}
	}
	o.drop()
	return nil
}

// drop discards all CTAs.
func (o *ctaOrder) drop() {
	o.parts, o.waitingBytes = map[uint64]*ctaLog{}, 0
	o.spool.close()
	o.spool = spool{}
}

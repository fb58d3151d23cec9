package trace

// This file reads a log CTA by CTA, also if its records are not ordered by CTA.

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Source is a log that can be read several times.
type Source struct {
	Name string // name for messages, such as the name of the file

	// Open returns a new reader at the beginning of the log. The index is used only if the reader has ReadAt and Seek, as a file.
	Open func() (io.ReadCloser, error)
}

// First returns the first launch of the log, or nil.
func (s Source) First() (*Launch, error) {
	c, err := s.open()
	if err != nil {
		return nil, err
	}
	defer c.close()
	for {
		e, err := c.Next()
		if err == io.EOF {
			return nil, nil
		}
		if l, ok := e.(*Launch); ok || err != nil {
			return l, err
		}
	}
}

// cursor reads a log: its launches, the CTAs of each launch in ascending order, and the records of each CTA.
type cursor struct {
	*Reader
	file   io.Closer
	peeked Entry          // an entry that peek has read and that is not consumed; else nil
	mixed  bool           // the records of the launch may be in any order, and are not sorted yet
	sorted *sortedRecords // records of the launch, sorted by CTA; nil if the log has them in order
	end    *End           // end of the last launch
	count  uint64         // number of records before the next record, in the order in which the cursor delivers the log
	filteredEntries
	index []Place // index of the log; nil if there is none
	names *names  // register names that records may have; nil: all names
}

// open opens a log.
func (s Source) open() (*cursor, error) {
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	r, err := NewReader(s.Name, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	places, err := r.places()
	if err != nil {
		r.Close()
		f.Close()
		return nil, err
	}
	return &cursor{Reader: r, file: f, index: places}, nil
}

// seek continues at a place of the index.
func (c *cursor) seek(p Place) error {
	if c.sorted != nil {
		c.sorted.spool.close()
		c.sorted = nil
	}
	c.peeked, c.mixed, c.count = nil, false, p.Records
	return c.Reader.seek(p)
}

// placeOf returns the last place of the index at or before a CTA of a launch. For the largest uint64 as cta, it returns the place
// of the launch's end.
func (c *cursor) placeOf(launch, cta uint64) (p Place, ok bool) {
	for _, x := range c.index {
		if x.Launch == launch && (x.Kind == CTAPlace && x.CTA <= cta || x.Kind == EndPlace && cta == ^uint64(0)) {
			p, ok = x, true
		}
	}
	return p, ok
}

// skipToCTA moves forward to the last place of the index at or before a CTA of the current launch, if the index has such a
// place.
func (c *cursor) skipToCTA(cta uint64) error {
	if p, ok := c.placeOf(c.launch.Number, cta); ok && int64(p.Position) > c.offset {
		return c.seek(p)
	}
	return nil
}

// close closes the log.
func (c *cursor) close() {
	c.Reader.Close()
	c.file.Close()
	if c.sorted != nil {
		c.sorted.spool.close()
	}
}

// peek returns the next entry without consuming it.
func (c *cursor) peek() (e Entry, err error) {
	if c.peeked == nil {
		c.peeked, err = c.Next()
	}
	return c.peeked, err
}

// nextLaunch reads the next launch that the filters select, and its code; nil after the last launch. It skips the remaining
// entries of the current launch.
func (c *cursor) nextLaunch() (*Launch, error) {
	c.names = nil
	for {
		e, err := c.peek()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		c.drop()
		if l, ok := e.(*Launch); ok && !c.all(func(f *Filter) bool { return f.SelectsKernel(l.Kernel) }) {
			if err := c.skipToCTA(^uint64(0)); err != nil {
				return nil, err
			}
		} else if ok {
			for {
				if e, err = c.peek(); err != nil {
					return nil, err
				}
				if _, ok := e.(*Code); !ok {
					break
				}
				c.peeked = nil
			}
			_, c.mixed = e.(*Record) // records before any CTA may come in any order
			return l, nil
		}
	}
}

// nextCTA begins the next CTA of the launch that the filters select; nil after the last CTA. It skips the remaining records of the
// current CTA.
func (c *cursor) nextCTA() (*CTA, error) {
	c.begin()
	if c.mixed {
		c.mixed = false
		if err := c.sort(); err != nil {
			return nil, err
		}
	}
	if c.sorted != nil {
		for {
			cta := c.sorted.nextCTA(c)
			if cta == nil || c.all(func(f *Filter) bool { return f.CTAs.Has(cta.Number) }) {
				return cta, nil
			}
		}
	}
	for {
		e, err := c.peek()
		if err != nil {
			return nil, c.earlyEnd(err)
		}
		switch e := e.(type) {
		case *CTA:
			if n := c.after(e.Number); n != e.Number {
				c.drop()
				if err := c.skipToCTA(n); err != nil {
					return nil, err
				}
				continue
			}
			c.peeked = nil
			return e, nil
		case *End:
			c.end = e
			return nil, nil
		}
		c.drop()
	}
}

// drop skips the entry that peek returned.
func (c *cursor) drop() {
	if _, ok := c.peeked.(*Record); ok {
		c.count++
	}
	c.peeked = nil
}

// earlyEnd returns the error for a log that ends inside a launch.
func (c *cursor) earlyEnd(err error) error {
	if err == io.EOF {
		err = c.fail(ErrTruncated)
	}
	return err
}

// nextRecord returns the next record of the CTA that the filters select; nil after the last record.
func (c *cursor) nextRecord() (*Record, error) {
	for {
		r, err := c.readRecord()
		if r == nil || err != nil {
			return nil, err
		}
		r.ordinal = c.count
		if c.count++; r.Warp > maxThreads {
			return nil, c.fail(fmt.Errorf("warp number %d is too large for a CTA", r.Warp))
		}
		if c.passes(r, c.codeOf(r), cmp.Or(c.launch.WarpSize, 32)) {
			return r, nil
		}
	}
}

// codeOf returns the instruction of a record, or nil if the log lacks it.
func (c *cursor) codeOf(r *Record) *Code {
	if r.Code == 0 {
		return nil
	}
	return c.code[r.Code-1]
}

// readRecord returns the next record of the CTA, without filters; nil after the last record.
func (c *cursor) readRecord() (*Record, error) {
	if c.sorted != nil {
		return c.sorted.nextRecord(c)
	}
	e, err := c.peek()
	if err != nil {
		return nil, c.earlyEnd(err)
	}
	r, ok := e.(*Record)
	if !ok {
		return nil, nil
	}
	c.peeked = nil
	return r, c.checkRecord(r)
}

// sortedRecords holds the records of a launch, sorted by CTA.
type sortedRecords struct {
	spool     spool
	parts     map[uint64]*ctaLog // records of the CTAs in remaining, by number of the CTA
	remaining []uint64           // numbers of the CTAs that are not delivered yet, ascending
	current   *bufio.Reader      // encoded records of the current CTA
	delivered uint64             // number of records before the next CTA, in the order in which the cursor delivers the log
}

// sort reads all records of a launch and groups them by CTA, on disk if necessary.
func (c *cursor) sort() error {
	if c.sorted != nil {
		c.sorted.spool.close()
	}
	s := &sortedRecords{parts: map[uint64]*ctaLog{}, delivered: c.count}
	c.sorted = s
	memoryBytes := 0
	for {
		e, err := c.peek()
		if err != nil {
			return c.earlyEnd(err)
		}
		r, ok := e.(*Record)
		if !ok {
			if _, ok := e.(*CTA); ok {
				return c.fail(errors.New("the launch has records before this first CTA entry"))
			}
			break
		}
		c.peeked = nil
		if err := c.checkRecord(r); err != nil {
			return err
		}
		p := s.parts[r.CTA]
		if p == nil {
			p = &ctaLog{cta: CTA{Number: r.CTA}}
			s.parts[r.CTA] = p
		}
		p.records++
		size := len(p.buf)
		p.buf = protobuf{}.append(p.buf, r, nil)
		if memoryBytes += len(p.buf) - size; memoryBytes < maxWaitingBytes {
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(s.parts)) {
			if p := s.parts[n]; len(p.buf) > 0 {
				segment, err := s.spool.append(p.buf)
				if err != nil {
					return err
				}
				p.spilled, p.buf = append(p.spilled, segment), nil
			}
		}
		memoryBytes = 0
	}
	s.remaining = slices.Sorted(maps.Keys(s.parts))
	return nil
}

// nextCTA begins the next CTA; nil after the last CTA.
func (s *sortedRecords) nextCTA(c *cursor) *CTA {
	c.count = s.delivered
	if len(s.remaining) == 0 {
		if e, ok := c.peeked.(*End); ok {
			c.end = e
		}
		s.spool.close()
		c.sorted = nil
		return nil
	}
	p := s.parts[s.remaining[0]]
	s.remaining = s.remaining[1:]
	delete(s.parts, p.cta.Number)
	s.delivered += p.records
	var readers []io.Reader
	for _, segment := range p.spilled {
		readers = append(readers, s.spool.reader(segment))
	}
	s.current = bufio.NewReader(io.MultiReader(append(readers, bytes.NewReader(p.buf))...))
	return &p.cta
}

// nextRecord returns the next record of the current CTA; nil after the last record.
func (s *sortedRecords) nextRecord(c *cursor) (*Record, error) {
	b, _, err := readDelimited(s.current, nil)
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := protobuf{}.parse(b)
	if err != nil {
		return nil, err
	}
	r := e.(*Record)
	return r, c.complete(r)
}

package trace

// This file reads logs of all formats, entry by entry.

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"gemu/probe"
)

// Error is an error in a log, with its place.
type Error struct {
	Name   string // name of the log
	Offset int64  // offset of the entry, in bytes; in a compressed log, in the decompressed data
	Packed bool   // the log is compressed
	Line   int64  // line in a text log, from 1; 0 in a log of another format
	Err    error  // reason
}

func (e *Error) Error() string {
	place := fmt.Sprintf("%s: at byte %d", e.Name, e.Offset)
	switch {
	case e.Packed:
		place += " of the decompressed data"
	case e.Line > 0:
		place = fmt.Sprintf("%s:%d: at byte %d", e.Name, e.Line, e.Offset)
	}
	return place + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrTruncated reports a log without a Finish entry.
var ErrTruncated = errors.New("the log is incomplete: it ends here, without a finish entry")

// maxEntry is the largest size of an entry in bytes.
const maxEntry = 64 << 20

// Reader reads a log. It is not safe for concurrent use.
type Reader struct {
	Header Header // first entry of the log, which NewReader has read

	name   string
	src    io.Reader     // the file
	in     *bufio.Reader // the decompressed entries
	zstd   *zstd.Decoder // nil if the log is not compressed
	text   bool          // the log is a text log
	offset int64         // offset of the next entry
	line   int64         // number of lines before the next entry, in a text log
	place  Error         // place of the last entry; Err is not set
	buffer []byte        // buffer for an encoded entry

	launch  *Launch
	code    map[uint64]*Code // code of the launch, by Code.Index
	cta     *CTA
	records uint64 // number of records read so far
	ended   bool   // the launch has ended, or none has begun
	done    bool   // Next has returned the Finish entry, or an error
	unread  Entry  // an entry that seek has read and Next has not returned; else nil
}

// headerTag is the first byte of a header entry after its length.
var headerTag = byte(protowire.EncodeTag(1, protowire.BytesType))

// NewReader reads the header of a log. name is the name of the log in errors.
func NewReader(name string, r io.Reader) (*Reader, error) {
	t := &Reader{name: name, src: r, in: bufio.NewReaderSize(r, 1<<16), ended: true, place: Error{Name: name}}
	head, err := t.in.Peek(4)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case len(head) == 0:
		return nil, t.fail(errors.New("the file is empty"))
	case len(head) == 4 && binary.LittleEndian.Uint32(head) == 0xfd2fb528:
		if t.zstd, err = zstd.NewReader(t.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30)); err != nil {
			return nil, err
		}
		t.in, t.place.Packed = bufio.NewReaderSize(t.zstd, 1<<16), true
	case string(head) == magic[:len(head)]:
		t.text = true
	case len(head) < 4 || head[1] != headerTag && (head[0] < 0x80 || head[2] != headerTag):
		return nil, t.fail(errors.New("not a gemu log"))
	}
	e, err := t.read()
	if err != nil {
		return nil, err
	}
	h, ok := e.(*Header)
	switch {
	case !ok:
		return nil, t.fail(errors.New("not a gemu log: it does not begin with a header"))
	case h.Version > Version || h.Version == 0:
		return nil, t.fail(fmt.Errorf("the log has format version %d; this gemu reads versions 1 to %d", h.Version, Version))
	}
	for _, s := range h.Missing {
		if !slices.Contains(MissingParts, s) {
			return nil, t.fail(fmt.Errorf("unknown part %q in the header's list of missing parts: want some of %s%s", s, strings.Join(MissingParts, ", "), didYouMean(s, MissingParts)))
		}
	}
	t.Header = *h
	return t, nil
}

// Close releases the reader's resources. It does not close the underlying reader.
func (t *Reader) Close() {
	if t.zstd != nil {
		t.zstd.Close()
	}
}

// isMissing reports whether the log lacks a part.
func (t *Reader) isMissing(part string) bool {
	return slices.Contains(t.Header.Missing, part) || t.Header.Version < 2 && slices.Contains(missingBefore2, part)
}

// allMissing returns all parts that the log lacks.
func (t *Reader) allMissing() (list []string) {
	for _, s := range MissingParts {
		if t.isMissing(s) {
			list = append(list, s)
		}
	}
	return list
}

// fail adds the place of the last entry to an error.
func (t *Reader) fail(err error) error {
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	e := t.place
	e.Err = err
	return &e
}

// Next reads the next entry. The error is io.EOF after the last entry, else an *Error.
func (t *Reader) Next() (Entry, error) {
	if t.done {
		return nil, io.EOF
	}
	e, err := t.unread, error(nil)
	if t.unread = nil; e == nil {
		e, err = t.read()
	}
	if err == nil {
		err = t.checkOrder(e)
	}
	if _, ok := e.(*Finish); ok && err == nil {
		err = t.checkEnd()
	}
	if err != nil {
		t.done = true
		return nil, t.fail(err)
	}
	if _, ok := e.(*Finish); ok {
		t.done = true
	}
	return e, nil
}

// read decodes the next entry. It does not check the order of entries.
func (t *Reader) read() (Entry, error) {
	t.place.Offset, t.place.Line = t.offset, 0
	if t.text {
		return t.readText()
	}
	b, n, err := readDelimited(t.in, t.buffer)
	if err != nil {
		return nil, t.readError(err)
	}
	t.offset += n
	t.buffer = b
	e, err := protobuf{}.parse(b)
	if err != nil {
		return nil, t.fail(err)
	}
	return e, nil
}

// checkEnd checks that only an index follows the end of the log.
func (t *Reader) checkEnd() error {
	for {
		t.place.Offset, t.place.Line = t.offset, 0
		if !t.text {
			switch _, err := t.in.Peek(1); {
			case err == io.EOF:
				return nil
			case err != nil:
				return t.fail(err)
			}
			return t.fail(errDataAfterEnd)
		}
		t.line++
		t.place.Line = t.line
		line, err := t.in.ReadString('\n')
		var p Place
		switch {
		case err == io.EOF && line == "":
			return nil
		case err != nil && err != io.EOF:
			return t.fail(err)
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indexWord+" "):
			return t.fail(errDataAfterEnd)
		case err == io.EOF && !p.parseLine(line):
			return t.readError(err)
		}
		t.offset += int64(len(line))
	}
}

var errDataAfterEnd = errors.New("data after the end of the log")

// places returns the index of the log; nil if it is not a seekable file.
func (t *Reader) places() ([]Place, error) {
	f, ok := t.src.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok || t.Header.Version < 2 {
		return nil, nil
	}
	position, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil // a pipe
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(position, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	return ReadIndex(f, size)
}

// seek continues at a place of the index. To seek to a CTA or an end, the reader must have read the launch.
func (t *Reader) seek(p Place) error {
	if _, err := t.src.(io.Seeker).Seek(int64(p.Offset), io.SeekStart); err != nil {
		return err
	}
	if t.zstd != nil {
		if err := t.zstd.Reset(t.src); err != nil {
			return err
		}
		t.in.Reset(t.zstd)
		if _, err := t.in.Discard(int(p.FrameOffset)); err != nil {
			return t.readError(err)
		}
	} else {
		t.in.Reset(t.src)
	}
	t.offset, t.line, t.records = int64(p.Position), 0, p.Records
	t.place.Offset, t.place.Line = t.offset, 0
	e, err := t.read()
	if err != nil {
		return err
	}
	ok := false
	switch e := e.(type) {
	case *Launch:
		ok = p.Kind == LaunchPlace && e.Number == p.Launch
		t.ended = true
	case *CTA:
		ok = p.Kind == CTAPlace && e.Number == p.CTA && t.launch != nil && t.launch.Number == p.Launch
		t.ended, t.cta = false, nil
	case *End:
		ok = p.Kind == EndPlace && e.Number == p.Launch
		t.ended, t.cta = false, nil
	}
	if !ok {
		return t.fail(errors.New("the index of the log names this place for another entry: the log was changed after it was written; write it again"))
	}
	t.unread, t.done = e, false
	return nil
}

// readDelimited reads a length and a message of this length. It returns the message and the number of read bytes. The error
// is io.EOF at the end. If buffer is large enough, the message is in buffer.
func readDelimited(in *bufio.Reader, buffer []byte) ([]byte, int64, error) {
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, 0, err
	}
	if size > maxEntry {
		return nil, 0, errors.New("the length of an entry is too large")
	}
	n := int64(protowire.SizeVarint(size)) + int64(size)
	if size <= uint64(max(cap(buffer), 1<<16)) {
		if uint64(cap(buffer)) < size {
			buffer = make([]byte, size)
		}
		_, err := io.ReadFull(in, buffer[:size])
		return buffer[:size], n, err
	}
	var b bytes.Buffer // grows on demand: the length may be wrong
	if _, err := io.CopyN(&b, in, int64(size)); err != nil {
		return nil, 0, io.ErrUnexpectedEOF
	}
	return b.Bytes(), n, nil
}

// readError returns the error for a failed read.
func (t *Reader) readError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrTruncated
	}
	return t.fail(err)
}

// readText reads the next entry of a text log.
func (t *Reader) readText() (Entry, error) {
	for {
		t.place.Offset = t.offset
		t.line++
		t.place.Line = t.line
		var line []byte
		for {
			chunk, err := t.in.ReadSlice('\n')
			if line = append(line, chunk...); err == nil {
				break
			}
			if err != bufio.ErrBufferFull {
				return nil, t.readError(err)
			}
			if len(line) > maxEntry {
				return nil, t.fail(errors.New("the line is too long"))
			}
		}
		t.offset += int64(len(line))
		e, err := textual{}.parse(bytes.TrimSuffix(line[:len(line)-1], []byte("\r")))
		if err != nil {
			return nil, t.fail(err)
		}
		if e != nil {
			return e, nil
		}
	}
}

// checkOrder checks that an entry may follow the entries before it, and completes a record.
func (t *Reader) checkOrder(e Entry) error {
	switch e := e.(type) {
	case *Header:
		return errors.New("the log has a second header")
	case *Launch:
		if !t.ended {
			return errors.New("a launch begins before the previous launch has ended")
		}
		t.launch, t.code, t.cta, t.ended = e, map[uint64]*Code{}, nil, false
		for _, d := range [][]uint64{e.Grid, e.Block, e.Cluster} {
			if len(d) != 0 && len(d) != 3 {
				return fmt.Errorf("an extent of the launch has %d dimensions; want 3", len(d))
			}
		}
		for _, d := range [][]uint64{e.Grid, e.Block} {
			if slices.Contains(d, 0) {
				return errors.New("the grid or block of the launch has an extent of 0")
			}
		}
		if e.WarpSize > 64 || e.WarpSize&(e.WarpSize-1) != 0 {
			return fmt.Errorf("the launch has warps of %d lanes; want a power of two up to 64", e.WarpSize)
		}
	case *Code:
		if t.ended || t.cta != nil {
			return errors.New("a code entry must come after its launch entry and before the first CTA")
		}
		t.code[e.Index] = e
	case *CTA:
		if t.ended {
			return errors.New("a CTA entry outside a launch")
		}
		if len(e.ID) != 0 && len(e.ID) != 3 {
			return fmt.Errorf("the index of CTA %d has %d dimensions; want 3", e.Number, len(e.ID))
		}
		if t.cta != nil && t.cta.Number >= e.Number {
			return fmt.Errorf("CTA %d comes after CTA %d; CTAs must be in ascending order", e.Number, t.cta.Number)
		}
		t.cta = e
	case *Record:
		t.records++
		if t.ended {
			return errors.New("a record outside a launch")
		}
		if t.cta != nil && t.cta.Number != e.CTA {
			return fmt.Errorf("a record of CTA %d among the records of CTA %d", e.CTA, t.cta.Number)
		}
		return t.complete(e)
	case *End:
		if t.ended {
			return errors.New("an end entry outside a launch")
		}
		if e.Number != t.launch.Number {
			return fmt.Errorf("an end entry of launch %d inside launch %d", e.Number, t.launch.Number)
		}
		t.ended = true
	case *Finish:
		if !t.ended {
			return fmt.Errorf("the end entry of launch %d is missing", t.launch.Number)
		}
		if e.Records != t.records {
			return fmt.Errorf("the finish entry counts %d records, but the log has %d", e.Records, t.records)
		}
	}
	return nil
}

// complete fills in the parts of a record that its encoding omits, and checks the record.
func (t *Reader) complete(r *Record) error {
	if r.Kind >= kinds {
		return fmt.Errorf("unknown kind of record %d", r.Kind)
	}
	if r.Active == 0 {
		r.Active = r.Lanes
	}
	if r.Kind == Effect && !r.hasValidNote() {
		return fmt.Errorf("bad note %q of an asynchronous effect: want the number of the operation, and some of %s, %s and %s", r.Note, noteIssued, noteReads, noteWrites)
	}
	if r.Lanes&^r.Active != 0 {
		return errors.New("the record has executing lanes that are not active")
	}
	if width := cmp.Or(t.launch.WarpSize, 32); uint64(bits.Len64(r.Active)) > width {
		return fmt.Errorf("lane %d is active, but the warps of the launch have %d lanes", bits.Len64(r.Active)-1, width)
	}
	var code *Code
	if r.Code > 0 {
		if code = t.code[r.Code-1]; code == nil {
			return fmt.Errorf("the launch has no code entry %d", r.Code-1)
		}
		if r.Line == 0 {
			r.Line = code.Line
		}
		if r.Name == "" {
			r.Name = code.name()
		}
	}
	if r.Numbers != nil {
		r.Numbers.Bits = 64
		if wrong := r.Numbers.check(r.Active); wrong != "" {
			return fmt.Errorf("the numbers of the threads: %s", wrong)
		}
	}
	for i := range r.Results {
		v := &r.Results[i]
		if code != nil && v.Name == "" && i < len(code.Writes) {
			v.Name, v.Bits = code.Writes[i].Name, code.Writes[i].Bits
		}
		if v.Bits == 0 {
			v.Bits = code.width(v.Name)
		}
		if wrong := v.check(r.Lanes); wrong != "" {
			return fmt.Errorf("%s: %s", v.Name, wrong)
		}
	}
	for i := range r.Accesses {
		if err := r.completeAccess(&r.Accesses[i]); err != nil {
			return err
		}
	}
	return nil
}

// spaces are the state spaces of accesses.
var spaces = []string{"generic", "global", "shared", "local", "param", "const"}

// hasValidNote reports whether the Note of an Effect has the form that EffectStage reads.
func (r *Record) hasValidNote() bool {
	_, _, _, _, ok := r.EffectStage()
	return ok
}

// completeAccess is complete for an access of the record.
func (r *Record) completeAccess(a *Access) error {
	lanes := r.lanes(a)
	if a.Kind >= accessKinds {
		return fmt.Errorf("unknown kind of access %d", a.Kind)
	}
	if !slices.Contains(spaces, a.Space) {
		return fmt.Errorf("%s is not a state space of an access: want one of %s%s", quoted(a.Space), strings.Join(spaces, ", "), didYouMean(a.Space, spaces))
	}
	if lanes&^r.Lanes != 0 {
		return fmt.Errorf("the access has %s, which do not execute the instruction", probe.LaneText(lanes&^r.Lanes))
	}
	a.Addr.Bits = 64
	if wrong := a.Addr.check(lanes); wrong != "" {
		return fmt.Errorf("addresses: %s", wrong)
	}
	for _, list := range [][]Value{a.Store, a.Compare} {
		for i := range list {
			v := &list[i]
			if v.Bits = 64; a.Kind != Zero {
				v.Bits = 8 * a.Bytes / uint64(len(list))
			}
			if v.Bits > 64 {
				return fmt.Errorf("a stored element has %d bits; want at most 64", v.Bits)
			}
			if wrong := v.check(lanes); wrong != "" {
				return fmt.Errorf("stored values: %s", wrong)
			}
		}
	}
	if n := uint64(len(a.Data)); n > 0 && n != a.Bytes {
		return fmt.Errorf("the access has %d bytes of data, but its size is %d bytes", n, a.Bytes)
	}
	return nil
}

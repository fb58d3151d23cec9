package trace

// This file writes logs: their entries, the zstd frames of Binary logs, and the index.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Format is the file format of a log.
type Format int

// The formats.
const (
	Text   Format = iota // text, a line per entry
	Binary               // protocol buffers in zstd frames
	Bare                 // protocol buffers without compression
)

// codec encodes entries.
type codec interface {
	append(b []byte, e Entry, code *Code) []byte
}

func (f Format) codec() codec {
	if f == Text {
		return textual{}
	}
	return protobuf{}
}

// frameBytes is the size in bytes, before compression, at which a frame ends; only the last frame can be smaller. It is also
// the approximate distance between the CTAs in the index, in bytes of entries. Tests lower it.
var frameBytes = 1 << 20

// Writer writes a log. After the first write error, every method returns this error and writes nothing. A Writer
// is not safe for concurrent use.
type Writer struct {
	format  Format
	codec   codec
	out     *bufio.Writer
	zstd    *zstd.Encoder
	err     error
	records uint64

	frame   []byte // entries of a Binary log that are not written to the file yet
	packed  []byte // buffer for a compressed frame
	written uint64 // number of bytes written to the file
	plain   uint64 // number of bytes of entries, before compression
	index   index
	launch  uint64           // number of the current launch
	code    map[uint64]*Code // code of the current launch, by index
	marked  uint64           // value of plain at the latest CTA in the index, at least 1; 0: no CTA yet
}

// NewWriter writes the header of a log.
func NewWriter(w io.Writer, f Format, h *Header) (*Writer, error) {
	t := &Writer{format: f, codec: f.codec(), out: bufio.NewWriterSize(w, 1<<16), code: map[uint64]*Code{}}
	if f == Binary {
		var err error
		if t.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
			return nil, err
		}
	}
	return t, t.Write(h)
}

// Write writes an entry. Entries must come in the order of the package comment: a CTA entry, and then all records of the CTA.
// Code entries may be left out if the header lists "code" as missing.
func (t *Writer) Write(e Entry) error {
	var code *Code
	switch e := e.(type) {
	case *Launch:
		t.launch, t.code = e.Number, map[uint64]*Code{}
		t.place(Place{Kind: LaunchPlace})
	case *CTA:
		t.place(Place{CTA: e.Number})
	case *End:
		t.place(Place{Kind: EndPlace})
	case *Code:
		t.code[e.Index] = e
	case *Record:
		t.records++
		if e.Code > 0 {
			code = t.code[e.Code-1]
		}
	}
	return t.write(t.codec.append(nil, e, code))
}

// Records returns the number of written records.
func (t *Writer) Records() uint64 { return t.records }

// encoded writes b, which has a number of encoded records.
func (t *Writer) encoded(b []byte, records uint64) error {
	t.records += records
	return t.write(b)
}

// place adds an entry to the index: every launch and end, and a CTA if the latest CTA in the index is at least frameBytes of
// entries before it.
func (t *Writer) place(p Place) {
	p.Launch, p.Offset, p.Records, p.Position = t.launch, t.written, t.records, t.plain
	if t.format == Binary {
		p.FrameOffset = uint64(len(t.frame))
	}
	if p.Kind == CTAPlace {
		if t.marked > 0 && t.plain < t.marked+uint64(frameBytes) {
			return
		}
		t.marked = max(t.plain, 1)
	}
	t.index.places = append(t.index.places, p)
}

// write writes whole encoded entries.
func (t *Writer) write(b []byte) error {
	t.plain += uint64(len(b))
	if t.format != Binary {
		t.raw(b)
		return t.err
	}
	t.frame = append(t.frame, b...)
	if len(t.frame) >= frameBytes {
		t.flush()
	}
	return t.err
}

// raw writes bytes to the file.
func (t *Writer) raw(b []byte) {
	if t.err == nil {
		_, t.err = t.out.Write(b)
		t.written += uint64(len(b))
	}
}

// flush ends a frame.
func (t *Writer) flush() {
	if len(t.frame) > 0 {
		t.packed = t.zstd.EncodeAll(t.frame, t.packed[:0])
		t.raw(t.packed)
		t.frame = t.frame[:0]
	}
}

// The index of a Binary log is in a skippable zstd frame (RFC 8878 3.1.2). The frame ends with its own length and indexMagic,
// so that a reader can find it from the end of the file.
const (
	skippable  = 0x184d2a5e
	indexMagic = "gemu-idx"
)

// Close ends the log. A log without Close is incomplete. Close does not close the underlying writer.
func (t *Writer) Close() error {
	t.Write(&Finish{t.records})
	switch t.format {
	case Text:
		for _, p := range t.index.places {
			t.raw(p.appendLine(nil))
		}
	case Binary:
		t.flush()
		b := indexMessage.append(nil, &t.index)
		frame := binary.LittleEndian.AppendUint32(nil, skippable)
		frame = binary.LittleEndian.AppendUint32(frame, uint32(len(b)+16))
		frame = append(frame, b...)
		frame = binary.LittleEndian.AppendUint64(frame, uint64(len(b)+24))
		t.raw(append(frame, indexMagic...))
	}
	return t.abandon()
}

// abandon flushes the log without a Finish entry. After it, Write returns an error.
func (t *Writer) abandon() error {
	t.flush()
	if t.err == nil {
		t.err = t.out.Flush()
	}
	err := t.err
	if err == nil {
		t.err = errClosed
	}
	return err
}

var errClosed = errors.New("the log is closed")

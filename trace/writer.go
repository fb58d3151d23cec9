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

// Writer writes a log. After the first write error, methods return this error and write nothing; the error of a frame of a Binary
// log, which another goroutine compresses, comes with a later frame. A Writer is not safe for concurrent use.
type Writer struct {
	format  Format
	codec   codec
	out     *bufio.Writer
	zstd    *zstd.Encoder
	err     error
	records uint64

	frame      []byte        // entries of a Binary log that no complete frame contains yet
	full       []byte        // entries of the frame that a goroutine compresses, while entries are added to frame
	packed     []byte        // full in compressed form, once compressed is closed
	compressed chan struct{} // closed when full is compressed; nil: no frame is being compressed
	frames     []uint64      // by number: the offset of a complete frame in the file
	written    uint64        // number of bytes written to the file
	plain      uint64        // number of bytes of entries, before compression
	index      index
	launch     uint64           // number of the current launch
	code       map[uint64]*Code // code of the current launch, by index
	marked     uint64           // value of plain at the latest CTA in the index, at least 1; 0: no CTA yet
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
	if t.format == Binary { // Close replaces the number of the frame by its offset, which is unknown before it is compressed
		p.Offset, p.FrameOffset = uint64(len(t.frames)), uint64(len(t.frame))
		if t.compressed != nil {
			p.Offset++
		}
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

// flush ends a frame: a goroutine compresses it. The next flush or finishFrame writes it to the file.
func (t *Writer) flush() {
	t.finishFrame()
	if len(t.frame) == 0 {
		return
	}
	t.frame, t.full = t.full[:0], t.frame
	done := make(chan struct{})
	t.compressed = done
	go func() {
		t.packed = t.zstd.EncodeAll(t.full, t.packed[:0])
		close(done)
	}()
}

// finishFrame waits until the latest frame is compressed, and writes it to the file.
func (t *Writer) finishFrame() {
	if t.compressed == nil {
		return
	}
	<-t.compressed
	t.compressed = nil
	t.frames = append(t.frames, t.written)
	t.raw(t.packed)
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
		t.finishFrame()
		if t.err == nil { // not closed yet
			for i := range t.index.places {
				p := &t.index.places[i]
				p.Offset = t.frames[p.Offset]
			}
		}
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
	t.finishFrame()
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

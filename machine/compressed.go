package machine

import (
	"cmp"
	"fmt"

	"gemu/machine/codec"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
)

// Compressed describes where a machine with a clock has lines in the forms of Parts.Codec. docs/caba.md has the definitions. The machine transfers
// whole lines between the L2 and memory.
type Compressed struct {
	// Registers: lines have the forms of codec once, by the encodings of the stored registers (stream.Recorder.Encode); other lines are raw. Parts.Codec is not
	// used. L2 must be true, and Assist nil.
	Registers  bool
	L2         bool // the L2 has forms, and the network transfers them; otherwise memory alone has forms
	Compress   int  // core cycles of dedicated logic that compresses a line
	Decompress int  // core cycles of dedicated logic that decompresses a line
	// Assist are assist warps that compress and decompress, of a machine whose multiprocessors have a clock; nil: dedicated logic does it. Compress and
	// Decompress must be 0, and L2 true.
	Assist   *AssistWarps
	Metadata bool // the controllers of memory know the bursts of a line from a cache (Spec.Metadata); otherwise from nowhere, in no time

	L2Tags         int  // tags of the L2 for each of its ways (memory.Compression.Tags)
	UncompressedL2 bool // the L2 keeps lines uncompressed from their first reply on (memory.Compression.Uncompressed)
}

// AssistWarps are the assist warps of a machine.
type AssistWarps struct {
	core.Assist
	Registers int // registers that a thread of each block needs in addition to those of its program
	// New returns the routines for a machine, once.
	New func(s *core.Spec) AssistRoutines
}

// AssistRoutines execute assist routines for lines. An error ends the machine's counts.
type AssistRoutines interface {
	// Fill decompresses the form of a line: it returns the executed instructions.
	Fill(line *codec.Line) (*core.Execution, error)
	// Store compresses a line for multiprocessor sm: it returns the bytes of its form, codec.LineBytes for a raw line, and the executed
	// instructions.
	Store(sm int, line *codec.Line) (bytes int, execution *core.Execution, err error)
}

// clockForms is the compressed lines of a machine with a clock. A nil *clockForms has none.
type clockForms struct {
	Compressed
	codec func(number uint64, line *codec.Line) int
	image *image // of the latest launch
	origins
	line codec.Line
	err  error // first error of the codec or of a routine

	routines AssistRoutines // nil without assist warps
}

// newClockForms returns the compressed lines of a machine; nil if its systems compress none.
func newClockForms(s *Spec, p *Parts) *clockForms {
	if p.Compressed == nil {
		return nil
	}
	f := &clockForms{Compressed: *p.Compressed, codec: p.Codec}
	if f.Assist != nil {
		own := *f.Assist
		own.StoreBuffer, own.CombineStores = cmp.Or(s.StoreBuffer, own.StoreBuffer), s.CombineStores
		f.Assist, f.routines = &own, own.New(s.clock())
	}
	return f
}

// compression returns the compressed lines for the memory of a machine; nil for none.
func (f *clockForms) compression(s *Spec) *memory.Compression {
	if f == nil {
		return nil
	}
	c := &memory.Compression{Bursts: f.bursts, Write: f.write, L2: f.L2, Kept: f.Assist != nil, Tags: f.L2Tags, Uncompressed: f.UncompressedL2, Compress: f.Compress, Decompress: f.Decompress}
	if f.Metadata {
		m := s.metadata()
		c.Metadata, c.MetadataLine = m.Shape(), m.Lines()
	}
	return c
}

// bursts returns the bursts of a line with its bytes at this moment. Local memory, and lines with unknown bytes, are raw.
func (f *clockForms) bursts(number uint64) int {
	if number >= stream.FirstLocalLine || f.image == nil || !f.image.line(number, (*stream.Line)(&f.line)) {
		return codec.LineBursts
	}
	if f.Registers {
		registers := &f.of(number).registers
		f.err = cmp.Or(f.err, registers.Check(&f.line))
		return codec.Bursts(registers.Size(codec.SharedBase))
	}
	return systemBursts(f.codec, number, &f.line, &f.err)
}

// begin begins a launch.
func (f *clockForms) begin(l *stream.Launch) error {
	if l.Memory == nil {
		return fmt.Errorf("kernel %s: compressed lines need a recorder with data", l.Kernel.Name)
	}
	f.image = newImage(l, &f.origins)
	return nil
}

// write writes the *stream.Content of a request.
func (f *clockForms) write(line uint64, content any) { f.image.write(line, content.(*stream.Content)) }

// Store implements core.Forms.
func (f *clockForms) Store(sm int, number uint64, c *stream.Content) (bursts int, compress *core.Execution) {
	if !f.L2 || !c.Known() { // an asynchronous copy has unknown bytes
		return 0, nil
	}
	if f.Registers {
		if n := c.Registers.Size(codec.SharedBase); n < codec.LineBytes {
			return codec.Bursts(n), nil
		}
		return 0, nil
	}
	if len(c.Data) == codec.LineBytes && c.Bytes == stream.WholeLine {
		f.line = codec.Line(c.Data)
	} else {
		if !f.image.line(number, (*stream.Line)(&f.line)) {
			return 0, nil
		}
		(*stream.Line)(&f.line).Write(c)
	}
	if f.routines == nil {
		return systemBursts(f.codec, number, &f.line, &f.err), nil
	}
	bytes, compress, err := f.routines.Store(sm, &f.line)
	if err != nil {
		f.err = cmp.Or(f.err, err)
		return 0, nil
	}
	return codec.Bursts(bytes), compress
}

// Fill implements core.Forms.
func (f *clockForms) Fill(_ int, number uint64) *core.Execution {
	if f.routines == nil || !f.image.line(number, (*stream.Line)(&f.line)) {
		return nil
	}
	decompress, err := f.routines.Fill(&f.line)
	f.err = cmp.Or(f.err, err)
	return decompress
}

// assist returns the controllers of assist warps; nil for none.
func (f *clockForms) assist() *core.Assist {
	if f.Assist == nil {
		return nil
	}
	return &f.Assist.Assist
}

// failure returns the first error of the codec.
func (f *clockForms) failure() error {
	if f == nil {
		return nil
	}
	return f.err
}

// Package cubin is the container in which gemu's assembler hands PTX to a host that wants an
// assembled module: a file that is ELF of machine EM_CUDA, as a cubin is, and has the text of the
// module where a cubin has machine code.
//
//	header            type EXEC, or REL where a linker is to have it; the compute capability in the flags
//	.shstrtab         the names of the sections
//	.gemu.ptx         the PTX, compressed as ELF does it (SHF_COMPRESSED, zlib) where it is large
//	section headers   which end the file: a host's pointer to it tells its size thereby
//
// There is nothing else in it: hosts hand a cubin to the driver unread.
package cubin

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	section = ".gemu.ptx"

	osABI      = 0x33 // of CUDA
	abiVersion = 7    // of CUDA: compute capabilities of one byte
	bits64     = 0x400

	headerSize  = 64
	sectionSize = 64
)

// HeaderSize is how many bytes of a container Size wants.
const HeaderSize = headerSize

// large is the size of text from which on it is compressed.
const large = 4 << 10

// Magic is what every ELF file begins with.
const Magic = elf.ELFMAG

// ErrNoPTX says that a file is ELF and not one of these: machine code, if it is a cubin.
var ErrNoPTX = errors.New("machine code without PTX")

// Pack makes a container of a module. sm is the compute capability that it was assembled for, 86 is
// 8.6; relocatable says that it is to be linked.
func Pack(text []byte, sm int, relocatable bool) []byte {
	data, flags := text, elf.SectionFlag(0)
	if len(text) >= large {
		data, flags = deflate(text), elf.SHF_COMPRESSED
	}
	names := "\x00.shstrtab\x00" + section + "\x00"
	header := elf.Header64{
		Ident:     [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), osABI, abiVersion},
		Type:      uint16(elf.ET_EXEC),
		Machine:   uint16(elf.EM_CUDA),
		Version:   uint32(elf.EV_CURRENT),
		Flags:     uint32(sm)<<16 | bits64 | uint32(sm), // of the virtual architecture, and of the real one
		Ehsize:    headerSize,
		Shentsize: sectionSize,
		Shnum:     3,
		Shstrndx:  1,
	}
	if relocatable {
		header.Type = uint16(elf.ET_REL)
	}
	dataAt := aligned(headerSize + len(names))
	header.Shoff = uint64(aligned(dataAt + len(data)))
	sections := []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: headerSize, Size: uint64(len(names)), Addralign: 1},
		{Name: uint32(len("\x00.shstrtab\x00")), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(flags), Off: uint64(dataAt), Size: uint64(len(data)), Addralign: 8},
	}
	var b bytes.Buffer
	write := func(v any) { // which a buffer always takes
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(fmt.Sprintf("BUG: %v", err))
		}
	}
	write(header)
	b.WriteString(names)
	b.Write(make([]byte, dataAt-b.Len()))
	b.Write(data)
	b.Write(make([]byte, int(header.Shoff)-b.Len()))
	write(sections)
	return b.Bytes()
}

// aligned is the next offset that a header of ELF may have.
func aligned(n int) int { return (n + 7) &^ 7 }

// deflate is the contents of a compressed section.
func deflate(text []byte) []byte {
	var b bytes.Buffer
	h := elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(len(text)), Addralign: 1}
	w := zlib.NewWriter(&b)
	if err := errors.Join(binary.Write(&b, binary.LittleEndian, h), second(w.Write(text)), w.Close()); err != nil {
		panic(fmt.Sprintf("BUG: %v", err)) // a buffer takes everything
	}
	return b.Bytes()
}

func second(_ int, err error) error { return err }

// Size is that of the ELF file of 64 bits which begins with a header, as far as the section headers
// go. It is 0 if the header is that of something else.
func Size(header []byte) uint64 {
	var h elf.Header64
	if len(header) < headerSize || string(header[:len(Magic)]) != Magic || elf.Class(header[elf.EI_CLASS]) != elf.ELFCLASS64 {
		return 0
	}
	if err := binary.Read(bytes.NewReader(header), binary.LittleEndian, &h); err != nil {
		return 0
	}
	size := uint64(h.Shnum) * sectionSize
	if h.Shoff > 1<<62 || h.Machine != uint16(elf.EM_CUDA) {
		return 0
	}
	return h.Shoff + size
}

// Unpack is the PTX in a container, of at most limit bytes. The error is ErrNoPTX if it is
// an ELF file of another kind.
func Unpack(file []byte, limit int) ([]byte, error) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoPTX, err)
	}
	s := f.Section(section)
	if f.Machine != elf.EM_CUDA || s == nil {
		return nil, ErrNoPTX
	}
	if s.Size > uint64(limit) {
		return nil, fmt.Errorf("section %s: %d bytes of PTX", section, s.Size)
	}
	text, err := io.ReadAll(io.LimitReader(s.Open(), int64(limit)))
	if err == nil && uint64(len(text)) != s.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", section, err)
	}
	return text, nil
}

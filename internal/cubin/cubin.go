// Package cubin implements the container in which gemu's assembler passes PTX to a host that expects an assembled
// module. It is an ELF file of machine EM_CUDA, like a cubin, and holds the text of the module in place of machine
// code:
//
//	header            type EXEC, or REL if it must be linked; the compute capability in the flags
//	.shstrtab         the names of the sections
//	.strtab, .symtab  no symbols; NVIDIA's nvlink rejects files without these sections
//	.gemu.ptx         the PTX, compressed in the ELF format (SHF_COMPRESSED, zlib) if it is large
//	section headers   at the end of the file, so that a host with a pointer to it can compute its size
//
// It needs nothing else: hosts pass a cubin to the driver without reading it.
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

	osABI      = 0x33 // CUDA
	abiVersion = 7    // CUDA's version with compute capabilities of a byte
	bits64     = 0x400

	headerSize  = 64
	sectionSize = 64
	programSize = 56
)

// HeaderSize is the number of bytes of a container that Size reads.
const HeaderSize = headerSize

// large is the minimum size of a text that is compressed, in bytes.
const large = 4 << 10

// Magic is the beginning of every ELF file.
const Magic = elf.ELFMAG

// ErrNoPTX reports an ELF file that is not a container: machine code, if it is a cubin.
var ErrNoPTX = errors.New("machine code without PTX")

// Pack makes a container of a module. sm is the compute capability for which it was assembled (86 is 8.6); relocatable
// reports that it must be linked.
func Pack(text []byte, sm int, relocatable bool) []byte {
	content := elfPart{name: section, data: text, Section64: elf.Section64{Type: uint32(elf.SHT_PROGBITS)}}
	if len(text) >= large {
		content.data, content.Flags = deflate(text), uint64(elf.SHF_COMPRESSED)
	}
	parts := []elfPart{
		{},
		{name: ".shstrtab", Section64: elf.Section64{Type: uint32(elf.SHT_STRTAB)}},
		{name: ".strtab", data: []byte{0}, Section64: elf.Section64{Type: uint32(elf.SHT_STRTAB)}},
		{name: ".symtab", data: make([]byte, elf.Sym64Size), Section64: elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: 2, Info: 1, Entsize: elf.Sym64Size}},
		content,
	}
	names := &parts[1].data
	for i := range parts {
		parts[i].Name = uint32(len(*names))
		*names = append(append(*names, parts[i].name...), 0)
	}
	header := elf.Header64{
		Ident:     [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), osABI, abiVersion},
		Type:      uint16(elf.ET_EXEC),
		Machine:   uint16(elf.EM_CUDA),
		Version:   uint32(elf.EV_CURRENT),
		Flags:     uint32(sm)<<16 | bits64 | uint32(sm), // virtual architecture and real architecture
		Ehsize:    headerSize,
		Shentsize: sectionSize,
		Shnum:     uint16(len(parts)),
		Shstrndx:  1,
	}
	if relocatable {
		header.Type = uint16(elf.ET_REL)
	}
	var body bytes.Buffer // the content after the header
	for i := range parts[1:] {
		p := &parts[1+i]
		p.Off, p.Size, p.Addralign = uint64(headerSize+body.Len()), uint64(len(p.data)), 8
		body.Write(p.data)
		body.Write(make([]byte, -body.Len()&7))
	}
	header.Shoff = uint64(headerSize + body.Len())
	for i := range parts {
		put(&body, parts[i].Section64)
	}
	var file bytes.Buffer
	put(&file, header)
	file.Write(body.Bytes())
	return file.Bytes()
}

// elfPart is a section: its header, name and contents.
type elfPart struct {
	elf.Section64
	name string
	data []byte
}

// put writes a header to a buffer, which cannot fail.
func put(b *bytes.Buffer, header any) {
	if err := binary.Write(b, binary.LittleEndian, header); err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
}

// deflate returns the contents of a compressed section.
func deflate(text []byte) []byte {
	var b bytes.Buffer
	put(&b, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(len(text)), Addralign: 1})
	w := zlib.NewWriter(&b)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(fmt.Sprintf("BUG: %v", err)) // writing to a buffer cannot fail
	}
	return b.Bytes()
}

// Size returns the size of a 64-bit ELF file from its header: up to the end of the section headers, or of the program
// headers, which NVIDIA's nvlink adds after them when it links a container. It returns 0 for a header of anything else.
func Size(header []byte) uint64 {
	var h elf.Header64
	if len(header) < headerSize || string(header[:len(Magic)]) != Magic || elf.Class(header[elf.EI_CLASS]) != elf.ELFCLASS64 {
		return 0
	}
	if err := binary.Read(bytes.NewReader(header), binary.LittleEndian, &h); err != nil {
		return 0
	}
	if h.Shoff > 1<<62 || h.Phoff > 1<<62 || h.Machine != uint16(elf.EM_CUDA) {
		return 0
	}
	size := h.Shoff + uint64(h.Shnum)*sectionSize
	if h.Phnum > 0 {
		size = max(size, h.Phoff+uint64(h.Phnum)*programSize)
	}
	return size
}

// Unpack returns the PTX in a container, of at most limit bytes. The error is ErrNoPTX if it is an ELF file of another
// kind.
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

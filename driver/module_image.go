package driver

// This file extracts PTX from an image. An image is a text, a container of gemu's assembler or linker (package cubin), or
// a fat binary, which holds PTX, containers and machine code for several devices.
//
// A fat binary is a header followed by entries. All numbers are little endian:
//
//	header   0 magic u32  4 version u16  6 size of the header u16  8 size of the entries u64
//	entry    0 kind u16  4 size of the entry's header u32  8 size with padding u64
//	        16 size u32  28 compute capability u32  40 flags u64  56 size uncompressed u64
//
// Compilers add a wrapper with a pointer to the fat binary: magic u32, version u32, pointer u64, and 8 bytes that are
// ignored here.

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"gemu/internal/cubin"
)

const (
	wrapperMagic = 0x466243b1
	wrapperSize  = 24
	fatbinMagic  = 0xba55ed50
	fatbinHeader = 16
	entryHeader  = 64

	// kinds of entry
	kindPTX = 1
	kindELF = 2

	// flags of an entry: its compression
	flagLZ4  = 1 << 13
	flagZstd = 1 << 15
)

// maxImage is the maximum size of an image in bytes.
const maxImage = 1 << 30

// source returns the PTX of an image in client memory, in any form accepted by cuModuleLoadData. size is 0 if it is
// unknown.
func (d *Driver) source(p unsafe.Pointer, size uint64) (src []byte, err error) {
	switch {
	case p == nil:
		return nil, fail(InvalidValue, "the image is a null pointer")
	case size > maxImage:
		return nil, fail(InvalidValue, "an image of %d bytes, at most %d are allowed", size, maxImage)
	}
	if fault := safely(func() { src, err = d.readImage(p, size) }); fault != nil {
		return nil, fault
	}
	return src, err
}

// readImage is source without protection from invalid pointers. It must be called within safely.
func (d *Driver) readImage(p unsafe.Pointer, size uint64) ([]byte, error) {
	le := binary.LittleEndian
	magic := hostBytes(p, 4)
	if le.Uint32(magic) == wrapperMagic && (size == 0 || size >= wrapperSize) {
		p, size = pointer(le.Uint64(hostBytes(p, wrapperSize)[8:])), 0
		if magic = hostBytes(p, 4); le.Uint32(magic) != fatbinMagic {
			return nil, fail(InvalidImage, "the wrapper of a fat binary does not point to a fat binary")
		}
	}
	switch {
	case size > 0 && size < 4:
	case le.Uint32(magic) == fatbinMagic && size > 0 && size < fatbinHeader:
		return nil, fail(InvalidImage, "a fat binary of %d bytes is too short", size)
	case le.Uint32(magic) == fatbinMagic:
		h := hostBytes(p, fatbinHeader)
		head, body := uint64(le.Uint16(h[6:])), le.Uint64(h[8:])
		if head < fatbinHeader || body > maxImage || size > 0 && head+body > size {
			return nil, fail(InvalidImage, "a broken fat binary: a header of %d bytes and contents of %d bytes", head, body)
		}
		return fatbinPTX(hostBytes(p, head+body)[head:], d.settings.SM)
	case string(magic) == cubin.Magic:
		file, err := cubinFile(p, size)
		if err != nil {
			return nil, err
		}
		text, err := cubinPTX(file)
		if ResultOf(err) == NoBinaryForGPU {
			return nil, fail(NoBinaryForGPU, "the image has machine code (a cubin) but no PTX, and gemu runs only PTX: compile with nvcc -ptx or -gencode arch=compute_%d,code=compute_%[1]d, or assemble with gemu ptxas", d.settings.SM)
		}
		return text, err
	}
	if size == 0 {
		size = textLength(p)
	}
	text := hostBytes(p, size)
	if i := bytes.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	return bytes.Clone(text), nil
}

// cubinFile returns the ELF file at p. size is its size in bytes, or 0 if it is unknown.
func cubinFile(p unsafe.Pointer, size uint64) ([]byte, error) {
	if size > 0 && size < cubin.HeaderSize {
		return nil, fail(InvalidImage, "an ELF file of %d bytes is too short", size)
	}
	header := hostBytes(p, cubin.HeaderSize)
	switch machine := elf.Machine(binary.LittleEndian.Uint16(header[18:])); machine { // e_machine
	case elf.EM_X86_64, elf.EM_AARCH64:
		return nil, fail(InvalidImage, "an ELF file for the machine %v is a program or library of a host, not a module", machine)
	}
	expected := cubin.Size(header)
	if expected > maxImage || size > 0 && expected > size {
		return nil, fail(InvalidImage, "the header of an ELF file gives it %d bytes: it is cut off or too large", expected)
	}
	return hostBytes(p, max(expected, cubin.HeaderSize)), nil
}

// cubinPTX returns the PTX in a container. The error has the result NoBinaryForGPU if the file is a cubin with machine
// code instead.
func cubinPTX(file []byte) ([]byte, error) {
	text, err := cubin.Unpack(file, maxImage)
	switch {
	case errors.Is(err, cubin.ErrNoPTX):
		return nil, fail(NoBinaryForGPU, "%v", err)
	case err != nil:
		return nil, fail(InvalidImage, "%v", err)
	}
	return text, nil
}

// textLength returns the length of a zero-terminated text in bytes.
func textLength(p unsafe.Pointer) (n uint64) {
	for n < maxImage && *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return n
}

// fatEntry is an entry of a fat binary.
type fatEntry struct {
	kind  uint16 // kindPTX, kindELF or another
	sm    int    // compute capability: 86 is 8.6
	flags uint64 // may contain flagLZ4 or flagZstd
	plain uint64 // uncompressed size in bytes
	data  []byte // content, possibly compressed
}

// entries reads the entries of a fat binary. rest is the fat binary after its header.
func entries(rest []byte) ([]fatEntry, error) {
	var list []fatEntry
	for len(rest) >= entryHeader {
		le := binary.LittleEndian
		head, padded, size := uint64(le.Uint32(rest[4:])), le.Uint64(rest[8:]), uint64(le.Uint32(rest[16:]))
		e := fatEntry{kind: le.Uint16(rest), sm: int(le.Uint32(rest[28:])), flags: le.Uint64(rest[40:]), plain: le.Uint64(rest[56:])}
		if e.flags&(flagLZ4|flagZstd) == 0 {
			size = padded
		}
		if head < entryHeader || head > uint64(len(rest)) || padded > uint64(len(rest))-head || size > padded {
			return nil, fail(InvalidImage, "a broken fat binary: the sizes of an entry do not fit")
		}
		e.data = rest[head:][:size]
		list = append(list, e)
		rest = rest[head+padded:]
	}
	return list, nil
}

// fatbinPTX returns the PTX for the highest compute capability that is not above the device's, or else the PTX for the
// lowest. body is the fat binary after its header. device is the device's compute capability.
func fatbinPTX(body []byte, device int) ([]byte, error) {
	list, err := entries(body)
	if err != nil {
		return nil, err
	}
	var best []byte // text of the best entry
	sm := -1        // compute capability of best
	var machineCode []string
	for i := range list {
		e := &list[i]
		if e.kind != kindPTX && e.kind != kindELF || best != nil && !isNearer(e.sm, sm, device) {
			continue
		}
		switch text, err := e.text(); {
		case ResultOf(err) == NoBinaryForGPU:
			machineCode = append(machineCode, fmt.Sprintf("machine code for sm_%d", e.sm))
		case err != nil:
			return nil, err
		default:
			best, sm = text, e.sm
		}
	}
	if best == nil {
		if machineCode == nil {
			machineCode = []string{"nothing"}
		}
		return nil, fail(NoBinaryForGPU, "gemu runs only PTX, and the fat binary has none: it contains %s; compile with nvcc -ptx or -gencode arch=compute_%d,code=compute_%[2]d",
			strings.Join(slices.Compact(machineCode), ", "), device)
	}
	return best, nil
}

// isNearer reports whether code for compute capability a suits a device better than code for b.
func isNearer(a, b, device int) bool {
	if a <= device && b <= device {
		return a > b
	}
	return a < b
}

// text returns the PTX of an entry. The error has the result NoBinaryForGPU if the entry is machine code.
func (e *fatEntry) text() ([]byte, error) {
	data, err := e.unpack()
	switch {
	case err != nil:
		return nil, err
	case e.kind == kindELF:
		return cubinPTX(data)
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		data = data[:i]
	}
	return bytes.Clone(data), nil
}

// unpack returns the uncompressed content of an entry.
func (e *fatEntry) unpack() ([]byte, error) {
	data := e.data
	var err error
	switch {
	case e.plain > maxImage:
		return nil, fail(InvalidImage, "an entry of a fat binary is too large: %d bytes", e.plain)
	case e.flags&flagLZ4 != 0:
		data = make([]byte, e.plain)
		var n int
		n, err = lz4.UncompressBlock(e.data, data)
		data = data[:max(n, 0)]
	case e.flags&flagZstd != 0:
		var r *zstd.Decoder
		if r, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxImage), zstd.WithDecoderConcurrency(1)); err == nil {
			data, err = r.DecodeAll(e.data, nil)
			r.Close()
		}
	}
	if err != nil {
		return nil, fail(InvalidImage, "compressed data in a fat binary: %v", err)
	}
	return data, nil
}

package driver

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"gemu/internal/cubin"
)

// fatEntryOf makes an entry of a fat binary with the fields where compilers have them; plain is the uncompressed size.
func fatEntryOf(kind uint16, sm uint32, flags uint64, data []byte, plain int) []byte {
	e := make([]byte, entryHeader)
	le := binary.LittleEndian
	le.PutUint16(e[0:], kind)
	le.PutUint16(e[2:], 0x101)
	le.PutUint32(e[4:], entryHeader)
	size := len(data)
	padded := (size + 7) / 8 * 8
	le.PutUint64(e[8:], uint64(padded))
	le.PutUint32(e[28:], sm)
	le.PutUint64(e[40:], flags)
	if flags != 0 {
		le.PutUint32(e[16:], uint32(size))
		le.PutUint64(e[56:], uint64(plain))
	}
	return append(append(e, data...), make([]byte, padded-size)...)
}

func fatbin(entries ...[]byte) []byte {
	h := make([]byte, fatbinHeader)
	body := slices.Concat(entries...)
	le := binary.LittleEndian
	le.PutUint32(h, fatbinMagic)
	le.PutUint16(h[4:], 1)
	le.PutUint16(h[6:], fatbinHeader)
	le.PutUint64(h[8:], uint64(len(body)))
	return append(h, body...)
}

// answer returns PTX whose kernel stores n.
func answer(n string) []byte {
	return []byte(".version 7.8\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 x) { .reg .u64 %rd; ld.param.u64 %rd, [x]; st.global.u32 [%rd], " + n + "; ret; }\n")
}

func compressLZ4(t *testing.T, src []byte) []byte {
	dst := make([]byte, lz4.CompressBlockBound(len(src)))
	n, err := new(lz4.Compressor).CompressBlock(src, dst)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return dst[:n]
}

func compressZstd(t *testing.T, src []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(src, nil)
}

// TestFatBinary shows that a fat binary is loaded by its PTX, also if that is compressed, and that damaged images are
// refused.
func TestFatBinary(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(4)
	run := func(image unsafe.Pointer, want uint32) {
		t.Helper()
		c.mod = must(c.ModuleLoadData(image, 0))(t)
		c.ok(c.launch("k", 1, 1, x))
		c.expect(x, want)
	}
	sass := fatEntryOf(kindELF, 86, 0, []byte("\x7fELF machine code"), 0)
	plain := fatEntryOf(kindPTX, 50, 0, append(answer("50"), 0), 0)
	packed := answer("75" + strings.Repeat(" ", 300))
	byLZ4 := fatEntryOf(kindPTX, 75, flagLZ4, compressLZ4(t, packed), len(packed))
	newer := answer("80" + strings.Repeat(" ", 300))
	byZstd := fatEntryOf(kindPTX, 80, flagZstd, compressZstd(t, newer), len(newer))
	tooNew := fatEntryOf(kindPTX, 90, 0, answer("90"), 0)

	newest := fatEntryOf(kindPTX, 120, 0, answer("120"), 0)

	all := fatbin(newest, sass, tooNew) // no PTX for 8.6: the nearest
	run(unsafe.Pointer(&all[0]), 90)
	all = fatbin(tooNew, sass, plain, newest)
	run(unsafe.Pointer(&all[0]), 50)
	all = fatbin(byLZ4, sass, plain)
	run(unsafe.Pointer(&all[0]), 75)
	all = fatbin(plain, byLZ4, byZstd, tooNew)
	run(unsafe.Pointer(&all[0]), 80)
	wrapper := make([]byte, wrapperSize)
	binary.LittleEndian.PutUint32(wrapper, wrapperMagic)
	binary.LittleEndian.PutUint32(wrapper[4:], 1)
	binary.LittleEndian.PutUint64(wrapper[8:], uint64(fixed(t, &all[0])))
	run(unsafe.Pointer(&wrapper[0]), 80)

	bad := func(want Result, reason string, image []byte) {
		t.Helper()
		_, err := c.ModuleLoadData(unsafe.Pointer(&image[0]), uint64(len(image)))
		c.want(want, reason, err)
	}
	bad(NoBinaryForGPU, "it contains machine code for sm_86", fatbin(sass))
	bad(NoBinaryForGPU, "it contains nothing", fatbin())
	bad(NoBinaryForGPU, "a cubin", bytes.Replace(cubin.Pack(answer("80"), 80, false), []byte(".gemu.ptx"), []byte(".text.sum"), 1))
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
		host := cubin.Pack(answer("80"), 80, false)
		binary.LittleEndian.PutUint16(host[18:], uint16(machine)) // e_machine
		bad(InvalidImage, "an ELF file for the machine "+machine.String()+" is a program or library of a host", host)
	}
	bad(InvalidImage, "an ELF file of 13 bytes is too short", []byte("\x7fELF and more"))
	// A broken fat binary is reported, wherever it is broken.
	for at := range all {
		broken := slices.Clone(all)
		broken[at] ^= 0xff
		if h, err := c.ModuleLoadData(unsafe.Pointer(&broken[0]), uint64(len(broken))); err == nil {
			c.ok(c.ModuleUnload(h))
		}
	}
	truncated := slices.Clone(all)
	binary.LittleEndian.PutUint64(truncated[8:], uint64(len(all)-fatbinHeader-1))
	bad(InvalidImage, "the sizes of an entry", truncated)
	bad(InvalidImage, "a fat binary of 14 bytes is too short", all[:14])
	for _, sizes := range [][2]uint64{{0, 4}, {fatbinHeader, 1<<64 - 8}, {fatbinHeader, 1 << 40}} {
		h := slices.Clone(all)
		binary.LittleEndian.PutUint16(h[6:], uint16(sizes[0]))
		binary.LittleEndian.PutUint64(h[8:], sizes[1])
		_, err := c.ModuleLoadData(unsafe.Pointer(&h[0]), 0) // unknown size
		c.want(InvalidImage, "a broken fat binary: a header of", err)
	}
	binary.LittleEndian.PutUint64(wrapper[8:], uint64(fixed(t, &wrapper[0])))
	bad(InvalidImage, "does not point to a fat binary", wrapper)
	_, err := c.ModuleLoadData(pointer(64), 0)
	c.want(InvalidValue, "the host has no memory", err)
}

// TestCubinOfGemu loads output of gemu's assembler: as it is, with an unknown size, and in a fat binary, where it
// counts as PTX for its device.
func TestCubinOfGemu(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(4)
	run := func(image []byte, size int, want uint32) {
		t.Helper()
		c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), uint64(size)))(t)
		c.ok(c.launch("k", 1, 1, x))
		c.expect(x, want)
	}
	small := cubin.Pack(answer("1"), 80, false)
	large := cubin.Pack(answer("2"+strings.Repeat(" ", 1<<20)), 80, false)
	if len(large) > 1<<16 {
		t.Errorf("a text of a megabyte of spaces is in %d bytes", len(large))
	}
	for _, image := range []struct {
		data []byte
		want uint32
	}{{small, 1}, {large, 2}} {
		body := append(slices.Clone(image.data), make([]byte, 100)...)
		run(body, 0, image.want)
		run(image.data, len(image.data), image.want)
		run(body, len(body), image.want)
		run(fatbin(fatEntryOf(kindELF, 80, 0, image.data, 0)), 0, image.want)
		run(fatbin(fatEntryOf(kindELF, 80, flagZstd, compressZstd(t, image.data), len(image.data))), 0, image.want)
	}
	seven := fatEntryOf(kindPTX, 70, 0, append(answer("7"), 0), 0)
	run(fatbin(seven, fatEntryOf(kindELF, 80, 0, small, 0)), 0, 1)
	run(fatbin(seven, fatEntryOf(kindELF, 90, 0, small, 0)), 0, 7)

	short := small[:len(small)-1]
	_, err := c.ModuleLoadData(unsafe.Pointer(&short[0]), uint64(len(short)))
	c.want(InvalidImage, "the header of an ELF file gives it", err)
	broken := slices.Clone(large)
	broken[bytes.Index(broken, []byte{0x78, 0x9c})+2] ^= 0xff // the first zlib block
	_, err = c.ModuleLoadData(unsafe.Pointer(&broken[0]), uint64(len(broken)))
	c.want(InvalidImage, "section .gemu.ptx", err)
}

package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

const module = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"

// TestPackedELF reads containers with the ELF reader of the standard library, which is independent of this package.
func TestPackedELF(t *testing.T) {
	for _, text := range []string{"", module, strings.Repeat(module, 1000)} {
		for _, relocatable := range []bool{false, true} {
			file := Pack([]byte(text), 86, relocatable)
			if limit := min(len(text), large) + 1000; len(file) > limit {
				t.Errorf("%d bytes of text in %d", len(text), len(file))
			}
			if Size(file) != uint64(len(file)) {
				t.Errorf("%d bytes of a file that says it has %d", len(file), Size(file))
			}
			f, err := elf.NewFile(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			want := elf.ET_EXEC
			if relocatable {
				want = elf.ET_REL
			}
			header := f.FileHeader
			if f.Machine != elf.EM_CUDA || f.Class != elf.ELFCLASS64 || f.Type != want {
				t.Errorf("machine %v, class %v, type %v", header.Machine, header.Class, header.Type)
			}
			if data, err := f.Section(section).Data(); err != nil || string(data) != text {
				t.Errorf("section %s has %d bytes, want %d (%v)", section, len(data), len(text), err)
			}
			if got, err := Unpack(file, len(text)); err != nil || string(got) != text {
				t.Errorf("unpacked %d bytes, want %d (%v)", len(got), len(text), err)
			}
			// In memory, bytes after the file do not matter.
			if got, err := Unpack(append(file, "more"...)[:Size(file)], len(text)); err != nil || string(got) != text {
				t.Errorf("unpacked %d bytes, want %d (%v)", len(got), len(text), err)
			}
		}
	}
	// The virtual and the real architecture are at the places where a host reads them (EF_CUDA_VIRTUAL_SM and
	// EF_CUDA_SM).
	if flags := Pack(nil, 86, false)[48:52]; flags[0] != 86 || flags[2] != 86 {
		t.Errorf("flags % x", flags)
	}
}

// TestSizeAfterNvlink: NVIDIA's nvlink adds program headers after the section headers.
func TestSizeAfterNvlink(t *testing.T) {
	file := Pack([]byte(module), 86, true)
	le := binary.LittleEndian
	le.PutUint64(file[32:], uint64(len(file))) // offset of the program headers
	le.PutUint16(file[54:], 56)                // size of one
	le.PutUint16(file[56:], 2)                 // their number
	file = append(file, make([]byte, 2*56)...)
	if Size(file) != uint64(len(file)) {
		t.Errorf("%d bytes of a file that says it has %d", len(file), Size(file))
	}
	if got, err := Unpack(file[:Size(file)], len(module)); err != nil || string(got) != module {
		t.Errorf("unpacked %d bytes, want %d (%v)", len(got), len(module), err)
	}
}

// TestDamagedFiles: a damaged file gives an error or the same text; a file without PTX gives ErrNoPTX.
func TestDamagedFiles(t *testing.T) {
	for _, text := range []string{module, strings.Repeat(module, 100)} {
		file := Pack([]byte(text), 86, false)
		if _, err := Unpack(file, len(text)-1); err == nil || !strings.Contains(err.Error(), "bytes of PTX") {
			t.Errorf("more text than the limit: %v", err)
		}
		for i := range file {
			for _, flip := range []byte{1, 0x80, 0xff} {
				broken := slices.Clone(file)
				broken[i] ^= flip
				Size(broken)
				_, _ = Unpack(broken, 1<<20) // it must return
			}
			if _, err := Unpack(file[:i], 1<<20); err == nil {
				t.Fatalf("%d of %d bytes are no error", i, len(file))
			}
		}
		none := bytes.Replace(slices.Clone(file), []byte(section), []byte(".text.kern"), 1)
		other := slices.Clone(file)
		other[18] = byte(elf.EM_X86_64) // the machine
		for _, file := range [][]byte{none, other, []byte("\x7fELF and more")} {
			if _, err := Unpack(file, 1<<20); !errors.Is(err, ErrNoPTX) {
				t.Errorf("%v, want %v", err, ErrNoPTX)
			}
		}
		if Size(other) != 0 {
			t.Error("the size of another machine's file is told")
		}
	}
}

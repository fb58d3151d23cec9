//go:build linux

package interp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gemu/interp/internal/exchange"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/ptx"
)

// faultPages makes n pages. With low, their addresses fit in 32 bits.
func faultPages(t *testing.T, n int, low bool) []byte {
	t.Helper()
	flags := syscall.MAP_ANON | syscall.MAP_PRIVATE
	if low {
		flags |= 0x40 // MAP_32BIT
	}
	p, err := syscall.Mmap(-1, 0, n*4096, syscall.PROT_READ|syscall.PROT_WRITE, flags)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFaultsInMachineCode: if an access of machine code faults on the host after some of its lanes, the trap, the counts and the
// memory are those of the portable engine. Lane i accesses byte 16·i of two pages, in Go, because the allocation is not known
// yet. Then it accesses byte 256·i, in machine code, and the second page is missing or read-only.
func TestFaultsInMachineCode(t *testing.T) {
	if !Native.Available() || !native.CatchesFaults() {
		t.Skip("no faults in machine code on this host")
	}
	const missing, readOnly = syscall.PROT_NONE, syscall.PROT_READ
	for _, c := range []struct {
		body    string
		protect int
		low     bool
	}{
		{"ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+4], %r2;", missing, false},
		{"st.global.u32 [%rd1], %r1;", readOnly, false},
		{"st.global.u32 [%rd1], %r1;", missing, false},
		{"ld.global.u64 %rd1, [%rd1]; st.global.u64 [%rd0], %rd1;", missing, false},
		{"ld.global.v2.u64 {%rd1, %rd2}, [%rd1];", missing, false},
		{"ld.global.v2.u64 {%rd2, %rd1}, [%rd1];", missing, false},
		{"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1]; st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};", readOnly, false},
		{"setp.gt.u32 %p1, %r1, 13; @%p1 ld.u64 %rd1, [%rd1]; @!%p1 st.global.u32 [%rd1], 7;", missing, false},
		{"setp.lt.u32 %p1, %r1, 14; @%p1 bra over; ld.global.u64 %rd1, [%rd1]; over: st.global.u32 [%rd0], 7;", missing, false},
		{"atom.global.add.u32 %r2, [%rd1], 5;", missing, false},
		{"red.global.add.u32 [%rd1], 5;", readOnly, false},
		{"ld.global.u32 %r2, [%r2]; st.global.u32 [%r0], %r2;", missing, true},
	} {
		p := faultPages(t, 2, c.low)
		text := ".version 8.0 .target sm_80 .address_size 64 .entry k(.param .u64 p) { .reg .pred %p<2>; .reg .u32 %r<6>; .reg .u64 %rd<4>; ld.param.u64 %rd0, [p]; mov.u32 %r1, %tid.x; mov.u32 %r0, 16; loop: mad.wide.u32 %rd1, %r1, %r0, %rd0; " + c.body + " mul.lo.u32 %r0, %r0, 16; bra loop; }"
		var arg any = address(p)
		if c.low {
			text = ".version 8.0 .target sm_80 .address_size 32 .entry k(.param .u32 p) { .reg .u32 %r<6>; ld.param.u32 %r0, [p]; mov.u32 %r1, %tid.x; mov.u32 %r3, 16; loop: mad.lo.u32 %r2, %r1, %r3, %r0; " + c.body + " mul.lo.u32 %r3, %r3, 16; bra loop; }"
			arg = uint32(address(p))
		}
		dev := NewDevice(Config{Workers: 1})
		m, err := dev.Load("k.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dev.Map(address(p), p, "pages", 0); err != nil {
			t.Fatal(err)
		}
		var reports []string
		for _, engine := range []Engine{Portable, Native} {
			for i := range p {
				p[i] = byte(i >> 8)
			}
			if err := syscall.Mprotect(p[4096:], c.protect); err != nil {
				t.Fatal(err)
			}
			result, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{arg}, Engine: engine, Mode: Vector})
			if err := syscall.Mprotect(p[4096:], syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
				t.Fatal(err)
			}
			var trap *probe.Trap
			if !errors.As(err, &trap) || trap.Addr != address(p)+4096 {
				t.Fatalf("%s, %s: %v", c.body, engine, err)
			}
			reports = append(reports, fmt.Sprintf("%s\n%+v, memory %#x", trap.Report(), result.Counts, crc32.ChecksumIEEE(p)))
		}
		if reports[0] != reports[1] {
			t.Errorf("%s: the portable engine gives\n%s\nthe native engine\n%s", c.body, reports[0], reports[1])
		}
		syscall.Munmap(p)
	}
}

// TestMappedMemoryInMachineCode: machine code itself accesses memory that the host may take away: it is entered a few times for
// many accesses.
func TestMappedMemoryInMachineCode(t *testing.T) {
	if !Native.Available() || !native.CatchesFaults() {
		t.Skip("no faults in machine code on this host")
	}
	m := module(t, Config{Workers: 1}, "", `mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd1, %rd0; mov.u32 %r3, 300;
	loop:
		ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;
		sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra loop;
		ret;`)
	p := faultPages(t, 1, false)
	defer syscall.Munmap(p)
	b, err := m.dev.Map(address(p), p, "page", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	entered := exchange.Entered.Load()
	if _, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{address(p)}, Engine: Native, Mode: Vector}); err != nil {
		t.Fatal(err)
	}
	if n := exchange.Entered.Load() - entered; n > 10 {
		t.Errorf("machine code is entered %d times", n)
	}
	if want := bytes.Repeat([]byte{300 - 256, 1, 0, 0}, 32); !slices.Equal(p[:128], want) || strings.Trim(string(p[128:]), "\x00") != "" {
		t.Errorf("got %v", p[:140])
	}
}

//go:build linux

package interp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gemu/interp/internal/exchange"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// hostPages makes memory outside the Go heap.
func hostPages(t *testing.T, size int) []byte {
	t.Helper()
	p, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func address(p []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&p[0]))) }

// TestMappedMemory: kernels access mapped memory at its host address, with the usual checks,
// whether or not it is sure to stay mapped.
func TestMappedMemory(t *testing.T) {
	for _, mapping := range []Mapping{0, Permanent} {
		testMappedMemory(t, mapping)
	}
}

func testMappedMemory(t *testing.T, mapping Mapping) {
	m := module(t, Config{}, "", "ld.global.u32 %r1, [%rd0]; add.u32 %r1, %r1, 1; st.global.u32 [%rd0+4], %r1; ret;")
	p := hostPages(t, 4096)
	defer syscall.Munmap(p)
	p[0] = 41
	launch := func(addr uint64) error {
		_, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(32), addr)
		return err
	}
	if err := launch(address(p)); !errors.Is(err, probe.ErrOutOfBounds) {
		t.Errorf("before it is mapped: %v", err)
	}
	b, err := m.dev.Map(address(p), p, "page", mapping)
	if err != nil {
		t.Fatal(err)
	}
	if err := launch(address(p)); err != nil || p[4] != 42 {
		t.Errorf("got %d, %v", p[4], err)
	}
	if err := launch(address(p) + 4092); !errors.Is(err, probe.ErrOutOfBounds) || !strings.Contains(err.(*probe.Trap).Nearby, "page [0x") {
		t.Errorf("past the end: %v", err)
	}
	if _, err := m.dev.Map(address(p)+4092, p[:8], "", mapping); err == nil || !strings.Contains(err.Error(), "overlaps page") {
		t.Errorf("mapped twice: %v", err)
	}
	b.Free()
	if err := launch(address(p)); !errors.Is(err, probe.ErrUseAfterFree) {
		t.Errorf("after it is unmapped: %v", err)
	}
	if b, err = m.dev.Map(address(p), p, "", ReadOnly|mapping); err != nil {
		t.Fatalf("mapped again: %v", err)
	}
	if err := launch(address(p)); !errors.Is(err, probe.ErrReadOnly) {
		t.Errorf("store to read-only memory: %v", err)
	}
	b.Free()
	if b, err = m.dev.Map(address(p)+2, p[2:], "", mapping); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := launch(address(p) + 4); err != nil {
			t.Errorf("aligned, in memory that is not: %v", err)
		}
		if err := launch(address(p) + 2); !errors.Is(err, probe.ErrMisaligned) {
			t.Errorf("misaligned: %v", err)
		}
	}
	b.Free()
	if _, err := m.dev.Map(probe.SharedWindow, p, "", mapping); err == nil {
		t.Error("mapped over the window of shared memory")
	}
}

// TestAtomicsBesideHost: atomics of kernels are atomic relative to the host's, also if CTAs
// alternate: a 32-bit sum, and a 16-bit counter in half of a word.
func TestAtomicsBesideHost(t *testing.T) {
	const threads, rounds = 32, 1000
	m := module(t, Config{HostGrace: time.Second, Workers: 1}, "", `.reg .b16 %h<3>;
		mov.u32 %r2, `+strconv.Itoa(rounds)+`;
	loop:
		atom.sys.global.add.u32 %r1, [%rd0], 1;
		red.sys.global.add.u32 [%rd0], %r1;
		sub.u32 %r1, 0, %r1;
		red.sys.global.add.u32 [%rd0], %r1;
	again:
		ld.volatile.global.b16 %h0, [%rd0+6];
		add.u16 %h1, %h0, 1;
		atom.sys.global.cas.b16 %h2, [%rd0+6], %h0, %h1;
		setp.ne.u16 %p1, %h2, %h0;
		@%p1 bra again;
		sub.u32 %r2, %r2, 1;
		setp.ne.u32 %p1, %r2, 0;
		@%p1 bra loop;
		ret;`)
	p := hostPages(t, 4096)
	defer syscall.Munmap(p)
	b, err := m.dev.Map(address(p), p, "", Permanent)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	sum, word := (*uint32)(unsafe.Pointer(&p[0])), (*uint32)(unsafe.Pointer(&p[4]))
	try := func(engine string, backend Engine, mode Mode) {
		clear(p)
		ended := make(chan error)
		go func() {
			_, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(threads), Args: []any{address(p)}, Engine: backend, Mode: mode})
			ended <- err
		}()
		var err error
		added, set := uint32(0), uint32(0)
		for running := true; running; {
			select {
			case err = <-ended:
				running = false
			default:
				atomic.AddUint32(sum, 1)
				added++
				if was := atomic.LoadUint32(word); atomic.CompareAndSwapUint32(word, was, was+1<<16) {
					set++
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := threads*rounds + added; *sum != want {
			t.Errorf("%s, %s: a sum of %d, want %d", engine, mode, *sum, want)
		}
		if want := (threads*rounds + set) << 16; *word != want {
			t.Errorf("%s, %s: counted %#x, want %#x", engine, mode, *word, want)
		}
	}
	for _, mode := range []Mode{Vector, Affine} { // check mode loads twice
		try("portable", Portable, mode)
		if Native.Available() {
			try("native", Native, mode)
		}
	}
}

// TestMappedMemoryVanishes: if the host unmaps memory during a kernel, the access is a trap, in
// every mode, and the device continues.
func TestMappedMemoryVanishes(t *testing.T) {
	m := module(t, Config{}, "", "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd1, %rd0; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2; ret;")
	try := func(mode Mode, engine Engine) {
		unmapped, mapped := hostPages(t, 1<<16), hostPages(t, 4096)
		for _, p := range [][]byte{unmapped, mapped} {
			b, err := m.dev.Map(address(p), p, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Free()
		}
		addr := address(unmapped)
		if err := syscall.Mprotect(unmapped, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		run := func(addr uint64) error {
			_, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{addr}, Mode: mode, Engine: engine})
			return err
		}
		var trap *probe.Trap
		if err := run(addr); !errors.As(err, &trap) || trap.Kind != probe.ErrOutOfBounds || trap.Addr != addr || !strings.Contains(trap.Nearby, "host memory [0x") {
			t.Errorf("%s, %s: %v", mode, engine, err)
		}
		if err := run(address(mapped)); err != nil {
			t.Errorf("%s, %s, afterwards: %v", mode, engine, err)
		}
	}
	for _, mode := range []Mode{Vector, Affine, Check} {
		for _, engine := range Engines()[1:] { // except auto, which stands for another engine of the list
			if engine.Available() {
				try(mode, engine)
			}
		}
	}
}

// TestMappedMemoryVanishesLate: if memory is missing only for a later CTA, after a barrier, the trap and the stores of the
// CTAs before it are the same on every engine, also if machine code has begun the CTA.
func TestMappedMemoryVanishesLate(t *testing.T) {
	const block, pages = 128, 8 // four warps a CTA, of which the last to arrive at the barrier continues; one page for each CTA
	m := module(t, Config{Workers: 1}, "", `mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
		mul.wide.u32 %rd1, %r2, 4096; add.u64 %rd1, %rd1, %rd0; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
		bar.sync 0;
		setp.lt.u32 %p1, %r1, 64;
		@%p1 bra end;
		ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;
	end:
		bar.sync 0; ret;`)
	for _, mode := range []Mode{Vector, Affine, Check} {
		reports := map[Engine]string{}
		for _, engine := range Engines()[1:] { // except auto, which stands for another engine of the list
			if !engine.Available() {
				continue
			}
			p := hostPages(t, pages*4096)
			b, err := m.dev.Map(address(p), p, "pages", 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mprotect(p[5*4096:6*4096], syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
			entered := exchange.Entered.Load()
			_, err = m.Run(context.Background(), &Launch{Grid: ptx.Dim(pages), Block: ptx.Dim(block), Args: []any{address(p)}, Mode: mode, Engine: engine})
			if inNative := exchange.Entered.Load() > entered; inNative != (engine == Native) {
				t.Errorf("%s, %s: machine code runs: %v", mode, engine, inNative)
			}
			var trap *probe.Trap
			if !errors.As(err, &trap) || trap.Kind != probe.ErrOutOfBounds || trap.Addr != address(p)+5*4096+96*4 || trap.Warp != 3 || trap.CTA != (ptx.Dim3{X: 5}) {
				t.Fatalf("%s, %s: %v", mode, engine, err)
			}
			for cta := range 5 {
				for i := range block {
					if got, want := p[cta*4096+4*i], map[bool]byte{true: 1}[i >= 64]; got != want {
						t.Fatalf("%s, %s: element %d of CTA %d is %d, want %d", mode, engine, i, cta, got, want)
					}
				}
			}
			reports[engine] = strings.ReplaceAll(trap.Report(), fmt.Sprintf("%x", address(p)>>16), "")
			b.Free()
			syscall.Munmap(p)
		}
		if reports[Native] != "" && reports[Native] != reports[Portable] {
			t.Errorf("%s: the portable engine reports\n%s\nthe native engine\n%s", mode, reports[Portable], reports[Native])
		}
	}
}

// TestAllocateHook: allocations come from the configured allocator, at addresses from the
// configured base on, and return there.
func TestAllocateHook(t *testing.T) {
	live := map[*byte]int{}
	cfg := Config{Base: 1 << 48, Allocate: func(size uint64) ([]byte, func(), error) {
		if size > 1000 {
			return nil, nil, errors.New("no more than 1000")
		}
		p := mem.AlignedBytes(size)
		live[unsafe.SliceData(p)]++
		return p, func() { live[unsafe.SliceData(p)]-- }, nil
	}}
	m := module(t, cfg, ".global .u32 v[4] = {1, 2, 3};", "mov.u64 %rd1, v; st.global.u32 [%rd1+4], 9; st.global.u64 [%rd0], %rd1; ret;")
	b := alloc(t, m, 8)
	if b.Addr() < 1<<48 || live[&b.Bytes()[0]] != 1 {
		t.Errorf("buffer at %#x, live %v", b.Addr(), live)
	}
	if _, err := m.dev.Alloc(1001); !errors.Is(err, ErrOutOfMemory) || !strings.Contains(err.Error(), "no more than 1000") {
		t.Errorf("got %v", err)
	}
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), b); err != nil {
		t.Fatal(err)
	}
	v := m.Var("v")
	if got := Slice[uint64](b)[0]; got != v.Addr() {
		t.Errorf("v is at %#x, the kernel says %#x", v.Addr(), got)
	}
	if got := Slice[uint32](v); !slices.Equal(got, []uint32{1, 9, 3, 0}) {
		t.Errorf("v is %v", got)
	}
	m.Reset()
	if got := Slice[uint32](v); !slices.Equal(got, []uint32{1, 2, 3, 0}) {
		t.Errorf("after the reset v is %v", got)
	}
	b.Free()
	m.Unload()
	for _, n := range live {
		if n != 0 {
			t.Fatalf("memory that is not given back: %v", live)
		}
	}
	if m.dev.Used() != 0 {
		t.Errorf("%d bytes in use", m.dev.Used())
	}
}

// TestFreedAllocationsAreRemembered: freed allocations are remembered, up to a limit.
func TestFreedAllocationsAreRemembered(t *testing.T) {
	d := NewDevice(Config{})
	var last *Buffer
	for range 3 * mem.MaxFreed {
		b, err := d.Alloc(1)
		if err != nil {
			t.Fatal(err)
		}
		b.Free()
		last = b
	}
	if n := d.mem.Len(); n < mem.MaxFreed || n > 2*mem.MaxFreed {
		t.Errorf("%d allocations are remembered", n)
	}
	if a := d.mem.Find(last.Addr()); a == nil || !a.Freed {
		t.Error("the last one is not among them")
	}
}

// TestKernelInfo shows the parameters, memory and registers that a kernel reports.
func TestKernelInfo(t *testing.T) {
	d := NewDevice(Config{})
	m, err := d.Load("k.ptx", []byte(`.version 7.8 .target sm_80 .address_size 64
	.entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[6]) { .shared .align 16 .b8 s[100]; .local .b8 l[24]; .reg .u32 %r; ld.shared.u8 %r, [s]; st.local.u32 [l], %r; ret; }`))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []Mode{Vector, Affine} {
		info, err := m.Info("k", mode)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(info.Params, []ParamInfo{{0, 1}, {8, 8}, {16, 6}}) || info.ParamBytes != 22 || info.Shared != 100 || info.Local != 24 {
			t.Errorf("%s: %+v", mode, info)
		}
	}
	if _, err := m.Info("x", Vector); err == nil {
		t.Error("a kernel that does not exist")
	}
}

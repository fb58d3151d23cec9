package interp

// This file compares the addresses of docs/addresses.md between the engine and the oracle, which
// compute them in separate code. Addresses visible only to a thread (in frames, in shared memory,
// from malloc) are in the traces of trace_test.go.

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gemu/internal/oracle"
	"gemu/probe"
	"gemu/ptx"
)

// TestAddressesOfAllModules loads all modules in sequence into an engine's and an oracle's device,
// with buffers, mapped memory and gaps between them.
func TestAddressesOfAllModules(t *testing.T) {
	dev, other := NewDevice(Config{}), oracle.NewDevice(oracle.Config{})
	alloc := func(size int) uint64 {
		t.Helper()
		b, err := dev.Alloc(size)
		addr, err2 := other.Alloc(uint64(size))
		if err != nil || err2 != nil || b.Addr() != addr {
			t.Fatalf("%d bytes: engine at %#x (%v), oracle at %#x (%v)", size, b.Addr(), err, addr, err2)
		}
		return addr
	}
	var files []string
	for _, pattern := range []string{"../testdata/good/*.ptx", "../testdata/insn/*.ptx", "../testdata/control/*.ptx", "../testdata/nvcc/*.ptx", "../kernels/cuda/*.ptx"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: no modules (%v)", pattern, err)
		}
		files = append(files, list...)
	}
	next := uint64(0)
	for i, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(filepath.Base(name), src)
		if err != nil {
			t.Fatal(err)
		}
		mod, err := dev.LoadModule(m)
		if err != nil {
			t.Fatal(err)
		}
		twin, err := other.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		compareSymbols(t, mod, twin, other)

		switch i % 5 {
		case 0: // host memory at the place of the next allocations
			addr := alloc(100) + 512 + 64*uint64(i)
			if _, err := dev.Map(addr, make([]byte, 1000), "", 0); err != nil {
				t.Fatal(err)
			}
			other.Map(addr, make([]byte, 1000), false)
		case 1:
			alloc(1 << 20)
		case 2:
			alloc(1<<20 - 1)
		case 3:
			alloc(0)
		}
		next = alloc(i)
	}
	if next < probe.FirstAddress+1<<25 {
		t.Errorf("the last allocation is at %#x: there have been pages", next)
	}
}

// compareSymbols compares the addresses of a module's symbols.
func compareSymbols(t *testing.T, m *Module, o *oracle.Module, dev *oracle.Device) {
	t.Helper()
	compare := func(s ptx.Symbol) {
		t.Helper()
		got, ok := m.symbolAddress(s)
		want, ok2 := o.Address(s)
		if got != want || ok != ok2 {
			t.Errorf("%s: %s is at %#x, for the oracle at %#x", m.Name, s.SymbolName(), got, want)
		}
		if v, isVar := s.(*ptx.Var); isVar && ok {
			if got, want := m.vars[m.definition(v)].Data, dev.Bytes(want); !bytes.Equal(got, want) {
				t.Errorf("%s: %s begins as %x, for the oracle as %x", m.Name, v.Name, got, want)
			}
		}
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			compare(d)
		case *ptx.Func:
			compare(d)
			for _, v := range d.Vars {
				compare(v)
			}
		}
	}
}

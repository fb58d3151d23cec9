package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestBlockOfTileKernel: a tile kernel launched with a single thread has the block of its .reqntid. Ordinary
// kernels, tile kernels without this directive, and launches with larger blocks have the block of the launch.
func TestBlockOfTileKernel(t *testing.T) {
	one := ptx.Dim(1)
	for _, c := range []struct {
		directives  string
		block, want ptx.Dim3
	}{
		{".language 7 .reqntid 128", one, ptx.Dim(128)},
		{".language 6 .reqntid 32, 4", one, ptx.Dim(32, 4)},
		{".language 8 .reqntid 0x20", one, ptx.Dim(32)},
		{`.language "Tile IR" .reqntid 128`, one, ptx.Dim(128)},
		{`.language "cuda C++ TILE" .reqntid 128`, one, ptx.Dim(128)},
		{`.language "python-cutile" .reqntid 128`, one, ptx.Dim(128)},
		{".language 3, 0x7U .reqntid 128", one, ptx.Dim(128)},
		{".language 3 .language 7 .reqntid 128", one, ptx.Dim(128)},
		{".language 7 .reqntid 128", ptx.Dim(2), ptx.Dim(2)},
		{".language 7 .maxntid 128", one, one},
		{".language 3 .reqntid 128", one, one}, // PTX
		{".language 5 .reqntid 128", one, one}, // CUDA C++
		{".reqntid 128", one, one},
	} {
		m, err := NewDevice(Config{}).Load("tile.ptx", []byte(fmt.Sprintf(".version 9.4 .target sm_86 .address_size 64 .entry k() %s { ret; }", c.directives)))
		if err != nil {
			t.Fatal(err)
		}
		if block, err := m.Block("k", c.block); err != nil || block != c.want {
			t.Errorf("%s: a block of %v is %v (%v), want %v", c.directives, c.block, block, err, c.want)
		}
		if r, err := m.Launch(context.Background(), "k", one, c.block); err == nil && r.Block != c.want {
			t.Errorf("%s: a launch with a block of %v runs with one of %v, want %v", c.directives, c.block, r.Block, c.want)
		}
	}
}

// TestPerCTAMemory: a launch whose CTAs need more per-CTA memory than the device has is refused; a launch returns
// its memory at its end.
func TestPerCTAMemory(t *testing.T) {
	d := NewDevice(Config{Memory: 64 << 10})
	m, err := d.Load("cta.ptx", []byte(".version 9.4 .target sm_80 .address_size 64 .entry k() .minperctamemory 5000 { ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := m.Launch(context.Background(), "k", ptx.Dim(12), ptx.Dim(1)); err != nil {
			t.Fatal(err)
		}
		if d.Used() != 0 {
			t.Fatalf("%d bytes are in use after the launch", d.Used())
		}
	}
	var refused *LaunchError
	for _, grid := range []ptx.Dim3{ptx.Dim(13), ptx.Dim(1<<31-1, 1<<16-1, 1<<16-1)} {
		_, err := m.Launch(context.Background(), "k", grid, ptx.Dim(1))
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "5120 bytes of per-CTA memory for each of") || !strings.Contains(err.Error(), ".minperctamemory") {
			t.Errorf("a grid of %v: %v", grid, err)
		}
	}
	// 2^32 bytes after rounding up to 1024: too large for %perctamemorysize.
	d = NewDevice(Config{})
	if m, err = d.Load("cta.ptx", []byte(".version 9.4 .target sm_80 .address_size 64 .entry k() .minperctamemory 4294966273 { ret; }")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1)); !errors.As(err, &refused) || !strings.Contains(err.Error(), "does not fit %perctamemorysize") {
		t.Errorf("slices of 2^32 bytes: %v", err)
	}
}

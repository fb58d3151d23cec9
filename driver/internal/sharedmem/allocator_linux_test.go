package sharedmem

import (
	"os"
	"slices"
	"testing"
)

// A block that becomes a file keeps its content and its neighbours. A process that maps the file keeps the memory when
// the block is released.
func TestSharedBlockKeepsContent(t *testing.T) {
	for _, size := range []uint64{100, 5000, 3 * SmallBlock} {
		p := &Allocator{}
		a, release, err := p.Allocate(size)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := p.Allocate(size)
		if err != nil {
			t.Fatal(err)
		}
		a[0], a[size-1], b[0] = 1, 2, 3
		file, err := p.Share(a, "gemu-test")
		if err != nil {
			t.Fatal(err)
		}
		if again, err := p.Share(a, "gemu-test"); err != nil || again != file || p.File(a) != file || p.File(b) != nil {
			t.Errorf("%d bytes: the block is two files, or its neighbour is one", size)
		}
		other, err := Map(file, 0, WholePages(size))
		if err != nil {
			t.Fatal(err)
		}
		if a[0] != 1 || a[size-1] != 2 || b[0] != 3 || other[0] != 1 || other[size-1] != 2 {
			t.Errorf("%d bytes: what was in the block is gone", size)
		}
		a[1], other[2] = 4, 5
		if other[1] != 4 || a[2] != 5 {
			t.Errorf("%d bytes: the block is not the file", size)
		}
		release()
		if b[0] != 3 || !slices.Equal(other[:3], []byte{1, 4, 5}) {
			t.Errorf("%d bytes: giving the block back has changed other memory", size)
		}
		if _, err := file.Stat(); err == nil {
			t.Errorf("%d bytes: the file is still open", size)
		}
		if size <= SmallBlock && (a[0] != 0 || a[1] != 0) {
			t.Errorf("%d bytes: the block is not zero", size)
		}
	}
}

// No process can shrink a file of Create, by its own descriptor or by another one, so its bytes stay. The file can grow.
func TestFilesKeepTheirBytes(t *testing.T) {
	file, err := Create("gemu-test", 8192)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other, size, err := Open("gemu-test", int(file.Fd()))
	if err != nil || size != 8192 {
		t.Fatal(size, err)
	}
	defer other.Close()
	for _, f := range []*os.File{file, other} {
		if err := f.Truncate(4096); err == nil {
			t.Error("the file can be shrunk")
		}
		if !KeepsBytes(f, 8192) || KeepsBytes(f, 8193) {
			t.Errorf("it keeps 8192 bytes: %v, 8193 bytes: %v", KeepsBytes(f, 8192), KeepsBytes(f, 8193))
		}
	}
	if err := file.Truncate(12288); err != nil || !KeepsBytes(other, 12288) {
		t.Errorf("the file cannot grow: %v", err)
	}
	plain, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if err := plain.Truncate(8192); err != nil || KeepsBytes(plain, 8192) {
		t.Errorf("a file that can be shrunk counts as one that keeps its bytes: %v", err)
	}
}

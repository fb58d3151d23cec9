package record

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// hostileFile returns a file with the table results, of the columns event (numbers) and name (texts), and blocks that build adds. The
// directory claims more blocks if claimed is larger than their number.
func hostileFile(t *testing.T, claimed int, build func(w *writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := &writer{out: &b}
	w.write(append([]byte(magic), Version))
	w.writeBlock(columnTable, 0, 2, []storedColumn{encodeTexts([]string{"results", "results"}), encodeTexts([]string{"event", "name"}), encodeTexts([]string{"u64", "text"})})
	build(w)
	for i := range w.directory {
		for len(w.directory[i]) < claimed {
			w.directory[i] = append(w.directory[i], 8)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deflatedTexts returns a column of n empty texts, with zeros after them.
func deflatedTexts(n, zeros int) storedColumn {
	c := storedColumn{encoding: texts, stored: make([]byte, 4*n+zeros)}
	c.plain = uint32(len(c.stored))
	new(deflater).deflate(&c)
	return c
}

// claimedTexts returns a column of texts that claims to be larger than its bytes can hold.
func claimedTexts(n int) storedColumn {
	c := deflatedTexts(n, 100)
	c.plain = maxBlockBytes
	return c
}

// equalRows adds blocks of equal rows, the smallest in a file for their number of rows.
func equalRows(blocks, rows int, text storedColumn) func(w *writer) {
	return func(w *writer) {
		for i := range blocks {
			w.writeBlock(0, uint64(i*rows), rows, []storedColumn{{encoding: constant, base: 7}, text})
		}
	}
}

// allocated returns the number of bytes that a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileSizes: a small file that claims large sizes takes no more memory than its size and the stated limits allow: it is refused
// when it is opened or read, or a part of it is read.
func TestHostileSizes(t *testing.T) {
	const mega = 1 << 20
	many := hostileFile(t, 0, equalRows(200, maxBlockRows, deflatedTexts(maxBlockRows, 0)))
	for _, c := range []struct {
		name string
		file []byte
		read func(f *File) error
		want string
		max  uint64 // bytes that opening and reading allocate
	}{
		{"a directory of many blocks", hostileFile(t, 1<<20, func(*writer) {}), nil, "the directory has more blocks than the file has room for", mega},
		{"many columns", func() []byte {
			var b bytes.Buffer
			w := &writer{out: &b, compressed: true}
			w.write(append([]byte(magic), Version))
			w.writeBlock(columnTable, 0, maxBlockRows, []storedColumn{deflatedTexts(maxBlockRows, 0), deflatedTexts(maxBlockRows, 0), deflatedTexts(maxBlockRows, 0)})
			if err := w.close(); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}(), nil, "1048576 columns; a recording has at most 65536", mega},
		{"a claimed size of texts", hostileFile(t, 0, equalRows(1, 4, claimedTexts(4))), func(f *File) error {
			_, err := f.Table("results").ReadTexts("name", 0, 4)
			return err
		}, "a column is larger than its stored bytes can hold", mega},
		{"all numbers", many, func(f *File) error {
			_, err := f.Table("results").ReadNumbers("event", 0, math.MaxUint64)
			return err
		}, "table results: 209715200 rows take more than 1073741824 bytes; read them in parts", 4 * mega},
		{"all rows", many, func(f *File) error {
			_, err := Read[ResultRow](f, 0, math.MaxUint64)
			return err
		}, "read them in parts", 4 * mega},
		{"all texts", hostileFile(t, 0, equalRows(17, 1, deflatedTexts(1, maxBlockBytes-4))), func(f *File) error {
			_, err := f.Table("results").ReadTexts("name", 0, 100)
			return err
		}, "table results: 17 rows take more than 1073741824 bytes", 4 * mega},
		{"a part", many, func(f *File) error {
			list, err := f.Table("results").ReadNumbers("event", 5*maxBlockRows-2, 4)
			if !slices.Equal(list, []uint64{7, 7, 7, 7}) {
				t.Errorf("a part: %d", list)
			}
			return err
		}, "", 20 * mega}, // two blocks of 8 MiB
	} {
		var err error
		n := allocated(func() {
			var f *File
			if f, err = Open("f", bytes.NewReader(c.file), int64(len(c.file))); err == nil && c.read != nil {
				err = c.read(f)
			}
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %d bytes: %v; want %s", c.name, len(c.file), err, c.want)
		}
		if n > c.max+16*uint64(len(c.file)) {
			t.Errorf("%s, %d bytes: %d bytes allocated, want at most %d", c.name, len(c.file), n, c.max)
		}
	}
}

// TestCacheSize: the decoded columns that a file keeps have a limit in bytes, not in number.
func TestCacheSize(t *testing.T) {
	b := hostileFile(t, 0, equalRows(60, maxBlockRows, deflatedTexts(maxBlockRows, 0)))
	f := opened(t, b)
	for row := uint64(0); row < f.Table("results").Rows; row += maxBlockRows {
		if _, err := f.Table("results").ReadNumbers("event", row, 1); err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for _, c := range f.cache {
			sum += uint64(8 * len(c.values.([]uint64)))
		}
		if sum > maxCachedBytes || sum != f.cachedBytes || sum == 0 {
			t.Fatalf("row %d: %d bytes are kept, counted are %d", row, sum, f.cachedBytes)
		}
	}
}

// TestForeignHostile: the readers in C and Python refuse files that claim large sizes, too.
func TestForeignHostile(t *testing.T) {
	for language, command := range foreignReaders(t) {
		for name, c := range map[string]struct {
			file []byte
			want string
		}{
			"a directory of many blocks": {hostileFile(t, 1<<20, func(*writer) {}), "more blocks than the file has room for"},
			"a claimed size of texts":    {hostileFile(t, 0, equalRows(1, 4, claimedTexts(4))), "a column is larger than its stored bytes can hold"},
		} {
			file := filepath.Join(t.TempDir(), "run.gemu")
			if err := os.WriteFile(file, c.file, 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(command[0], append(slices.Clone(command[1:]), file)...).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() > 2 || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "Traceback") {
				t.Errorf("%s, %s: %v %s; want %s", language, name, err, out, c.want)
			}
		}
	}
}

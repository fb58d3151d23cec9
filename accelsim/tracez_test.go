package accelsim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// unpacked reads a .tracez file like tracez_format.h and warp_trace_stream.h of accel-sim-framework
// (read_kernel_header, read_compression_header, read_index, init, load_into_buffer), and returns it as a .traceg text.
// It reports errors where that code silently misreads. places has for each CTA its cluster, its place in the cluster
// and its rank.
func unpacked(b []byte) (text []byte, places map[[3]int][7]int, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%v", e)
		}
	}()
	head, _, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return nil, nil, errors.New("the header does not end")
	}
	position := len(head) + 1
	u32 := func() int {
		position += 4
		return int(binary.LittleEndian.Uint32(b[position-4:]))
	}
	if dictionary := u32(); dictionary != 0 {
		return nil, nil, errors.New("a dictionary")
	}
	u32()
	data := position
	position = int(binary.LittleEndian.Uint64(b[len(b)-8:]))
	z, err := zstd.NewReader(nil)
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	out := bytes.NewBuffer(slices.Clone(head))
	places = map[[3]int][7]int{}
	covered := data // frames follow each other
	for range u32() {
		id := [3]int{u32(), u32(), u32()}
		places[id] = [7]int{u32(), u32(), u32(), u32(), u32(), u32(), u32()}
		fmt.Fprintf(out, "#BEGIN_TB\n\nthread block = %d,%d,%d\n", id[0], id[1], id[2])
		for warp := range u32() {
			instrs, chunks := u32(), u32()
			from := int(binary.LittleEndian.Uint64(b[position:]))
			position += 8
			var counts []int
			for range chunks {
				counts = append(counts, u32())
			}
			index := position
			if position = from; from != covered || u32() != instrs || u32() != chunks {
				return nil, nil, fmt.Errorf("warp %d of %v is not at %d", warp, id, from)
			}
			fmt.Fprintf(out, "\nwarp = %d\ninsts = %d\n", warp, instrs)
			for _, n := range counts {
				size := u32()
				frame := b[position : position+size]
				position += size
				var h zstd.Header
				if err := h.Decode(frame); err != nil || !h.HasFCS {
					return nil, nil, fmt.Errorf("a frame does not say how long it is: %v", err)
				}
				lines, err := z.DecodeAll(frame, nil)
				if err != nil || uint64(len(lines)) != h.FrameContentSize || bytes.Count(lines, []byte("\n")) != n || lines[len(lines)-1] != '\n' {
					return nil, nil, fmt.Errorf("a chunk of %d instructions: %v", n, err)
				}
				out.Write(lines)
			}
			covered, position = position, index
		}
		fmt.Fprint(out, "\n#END_TB\n\n")
	}
	if position != len(b)-8 || covered != int(binary.LittleEndian.Uint64(b[len(b)-8:])) {
		return nil, nil, errors.New("the index does not end at the end")
	}
	return out.Bytes(), places, nil
}

// TestPackedTraces: a .tracez has the content of the .traceg, in chunks, even for CTAs that were moved to the file; and
// the place of each CTA in its cluster.
func TestPackedTraces(t *testing.T) {
	part.SkipShort(t)
	const body = `.entry k(.param .u64 p) {
	.reg .u64 %p, %q; .reg .u32 %t, %i; .reg .pred %d;
	ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 4; add.u64 %p, %p, %q; mov.u32 %i, 0;
L:	st.global.u32 [%p], %i; add.u32 %i, %i, 1; setp.lt.u32 %d, %i, 2000; @%d bra L;
	ret;
}`
	defer func(r, c int) { maxBytesInMemory, chunkBytes = r, c }(maxBytesInMemory, chunkBytes)
	for _, room := range []int{1 << 30, 3000} {
		maxBytesInMemory, chunkBytes = room, 1000
		var texts [2]string
		for i := range texts {
			dir := t.TempDir()
			x, err := New(dir, 90)
			if err != nil {
				t.Fatal(err)
			}
			x.Packed = i == 1
			l := &interp.Launch{Grid: ptx.Dim(4, 2), Block: ptx.Dim(40), Cluster: ptx.Dim(2, 2)}
			if err := runOn(t, x, 90, body, l); err != nil {
				t.Fatal(err)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			_, files, err := commands(dir)
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			b, err := os.ReadFile(filepath.Join(dir, files[0]))
			if err != nil {
				t.Fatal(err)
			}
			if x.Packed {
				var places map[[3]int][7]int
				if b, places, err = unpacked(b); err != nil {
					t.Fatal(err)
				}
				for id, got := range places {
					if want := [7]int{id[0] / 2, id[1] / 2, 0, id[0] % 2, id[1] % 2, 0, id[0]%2 + 2*(id[1]%2)}; got != want {
						t.Errorf("CTA %v: %v, want %v", id, got, want)
					}
				}
				if k, err := readKernel(filepath.Join(dir, files[0])); err != nil || len(k.ctas) != 8 || len(k.ctas[[3]int{3, 1, 0}][1]) < 2*chunkInstrs-200 {
					t.Errorf("%v %v", k, err)
				}
			}
			texts[i] = string(b)
		}
		if texts[0] != texts[1] {
			t.Errorf("with room for %d bytes, packed is another", room)
		}
	}
}

// TestExportReplacesEarlierTraces: an export removes the traces of earlier exports, in either format, and nothing else.
// An export that would overwrite a foreign file changes nothing.
func TestExportReplacesEarlierTraces(t *testing.T) {
	dir := t.TempDir()
	foreign := map[string]string{
		"notes.txt": "mine", "kernel-7.traceg": "-kernel name = k\n-nvbit version = 1.7\n\n#traces\n" + madeBy + "\n", "kernel-x.traceg": "\n" + madeBy + "\n", "kernel-9.traceg.xz": "xz",
	}
	for name, text := range foreign {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	launches := func(n int, packed bool) error {
		x, err := New(dir, 80)
		if err != nil {
			return err
		}
		x.Packed = packed
		for range n {
			if err := runOn(t, x, 80, ".entry k(.param .u64 p) { ret; }", &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1)}); err != nil {
				t.Fatal(err)
			}
		}
		return x.Close()
	}
	names := func() (list []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := e.Name()
			if foreign[name] == "" {
				list = append(list, name)
			} else if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) != foreign[name] {
				t.Errorf("%s has changed", name)
			}
		}
		return list
	}
	for _, c := range []struct {
		n      int
		packed bool
		want   string
	}{
		{3, false, "kernel-1.traceg kernel-2.traceg kernel-3.traceg kernelslist.g"}, {1, false, "kernel-1.traceg kernelslist.g"},
		{2, true, "kernel-1.tracez kernel-2.tracez kernelslist.g"}, {1, false, "kernel-1.traceg kernelslist.g"},
	} {
		if err := launches(c.n, c.packed); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names(), " "); got != c.want {
			t.Errorf("after %d launches there are %s, want %s", c.n, got, c.want)
		}
	}
	if err := launches(8, false); err == nil || !strings.Contains(err.Error(), "contains kernel-7.traceg, which gemu did not write") {
		t.Errorf("over a foreign trace: %v", err)
	}
	if got := strings.Join(names(), " "); got != "kernel-1.traceg kernelslist.g" {
		t.Errorf("an export that failed has left %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, listName), []byte("MemcpyHtoD,0x10,4\nkernel-7.traceg\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir, 80); err == nil || !strings.Contains(err.Error(), "kernelslist.g, which names kernel-7.traceg") {
		t.Errorf("a foreign list: %v", err)
	}
}

// TestTrappedLaunchesAreOmitted: launches that trap are omitted and reported.
func TestTrappedLaunchesAreOmitted(t *testing.T) {
	dir := t.TempDir()
	x, err := New(dir, 80)
	if err != nil {
		t.Fatal(err)
	}
	x.Partial = true
	for _, body := range []string{"ret;", "trap;", "ret;"} {
		runOn(t, x, 80, ".entry k(.param .u64 p) { "+body+" }", &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1)})
	}
	if err := x.Close(); err == nil || !strings.Contains(err.Error(), "kernel 2, k, has no trace") {
		t.Error(err)
	}
	_, files, err := commands(dir)
	if err != nil || strings.Join(files, " ") != "kernel-1.traceg kernel-3.traceg" {
		t.Error(files, err)
	}
}

// runOn runs a kernel with a pointer to a buffer.
func runOn(t *testing.T, x *Exporter, sm int, body string, l *interp.Launch) error {
	t.Helper()
	dev := interp.NewDevice(interp.Config{SM: sm, Probes: []probe.Probe{x}})
	mod, err := dev.Load("k.ptx", fmt.Appendf(nil, ".version 8.0\n.target sm_%d\n.address_size 64\n.shared .align 16 .b8 s[1024];\n%s", sm, body))
	if err != nil {
		t.Fatal(err)
	}
	buf, err := interp.NewBuffer(dev, make([]uint32, 256))
	if err != nil {
		t.Fatal(err)
	}
	l.Args = []any{buf}
	_, err = mod.Run(t.Context(), l)
	return err
}

// opened reads a trace of either format as text.
func opened(file string) (io.Reader, error) {
	b, err := os.ReadFile(file)
	if err == nil && strings.HasSuffix(file, ".tracez") {
		b, _, err = unpacked(b)
	}
	return bytes.NewReader(b), err
}

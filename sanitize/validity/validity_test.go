package validity

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

// TestPlantedUsesOfUninitialised runs kernels with planted uses of uninitialised values, and similar correct kernels.
func TestPlantedUsesOfUninitialised(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/init/*.ptx", func(log *finding.Log) probe.Probe { return New(log) })
	t.Run("eased", func(t *testing.T) { // warps begin with reduced events, however many instructions are tainted
		easeAlways(t)
		planted.CheckFiles(t, "../../testdata/sanitize/init/[cl]*.ptx", func(log *finding.Log) probe.Probe { return New(log) })
	})
}

// easeAlways makes warps begin with reduced events in all kernels.
func easeAlways(t *testing.T) {
	before := taintedPart
	t.Cleanup(func() { taintedPart = before })
	taintedPart = 1
}

// found runs a kernel in every mode. It returns the findings as "LINE: KIND", which must be the same in all
// modes, and their notes.
func found(t *testing.T, src string, l interp.Launch, after func(dev *interp.Device, b *interp.Buffer)) (lines []string, texts string) {
	t.Helper()
	for i, mode := range []interp.Mode{interp.Vector, interp.Affine, interp.Check} {
		var log finding.Log
		dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{New(&log)}})
		mod, err := dev.Load("k.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		b, err := dev.AllocNamed("buffer", 256)
		if err != nil {
			t.Fatal(err)
		}
		l := l
		if l.Mode = mode; strings.Contains(src, ".param .u64 data") {
			l.Args = []any{b}
		}
		if _, err := mod.Run(t.Context(), &l); err != nil {
			t.Fatal(err)
		}
		if after != nil {
			after(dev, b)
		}
		var now []string
		var text bytes.Buffer
		for _, f := range log.Findings() {
			now = append(now, fmt.Sprintf("%d: %s", f.Place.Line, f.Kind))
		}
		finding.Print(&text, log.Findings(), nil, 0)
		if i > 0 && (!slices.Equal(lines, now) || texts != text.String()) {
			t.Errorf("%s: found\n%s\nand before\n%s", mode, text.String(), texts)
		}
		lines, texts = now, text.String()
	}
	return lines, texts
}

// header begins the modules.
const header = ".version 8.6\n.target sm_90\n.address_size 64\n"

// TestShuffleOfLanesAtDifferentPlaces has lanes at different places execute a shuffle together. Not all policies allow
// this.
func TestShuffleOfLanesAtDifferentPlaces(t *testing.T) {
	shuffleAtDifferentPlaces(t)
	easeAlways(t)
	shuffleAtDifferentPlaces(t)
}

func shuffleAtDifferentPlaces(t *testing.T) {
	const kernel = header + `.entry k()
{
	.reg .pred %p, %q;
	.reg .u32 %t, %x, %y; .shared .u32 board;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %q, %t, 16;
	@%q bra LOW;
	mov.u32 %x, 2;
	SHUFFLE
	setp.eq.u32 %p, %y, 5;
	@%p bra END;
	bra END;
LOW:
	SET
	SHUFFLE
	setp.eq.u32 %p, %y, 5;
	@%p bra END;
END:
	ret;
}
`
	for _, c := range []struct {
		shuffle, set string
		want         []string
	}{
		{"shfl.sync.bfly.b32 %y, %x, 16, 31, 0xffffffff;", "mov.u32 %x, 3;", nil},
		{"shfl.sync.bfly.b32 %y, %x, 16, 31, 0xffffffff;", "", []string{"14: uninitialized branch"}},
		{"shfl.sync.idx.b32 %y, %x, 16, 31, 0xffffffff;", "", nil},
		{"shfl.sync.idx.b32 %y, %x, 15, 31, 0xffffffff;", "", []string{"14: uninitialized branch", "20: uninitialized branch"}},
		{"shfl.sync.idx.b32 %y, %x, 15, 31, 0xffffffff;", "mov.u32 %x, 3;", nil},
		{"redux.sync.add.u32 %y, %x, 0xffffffff;", "", []string{"14: uninitialized branch", "20: uninitialized branch"}},
		{"redux.sync.add.u32 %y, %x, 0xffffffff;", "mov.u32 %x, 3;", nil},
		// All registers are valid, and the events reduced, when the first lanes arrive at the shuffle.
		{"shfl.sync.bfly.b32 %y, %x, 16, 31, 0xffffffff;", "ld.shared.u32 %x, [board];", []string{"14: uninitialized branch"}},
		{"shfl.sync.idx.b32 %y, %x, 16, 31, 0xffffffff;", "ld.shared.u32 %x, [board];", nil},
		{"redux.sync.add.u32 %y, %x, 0xffffffff;", "ld.shared.u32 %x, [board];", []string{"14: uninitialized branch", "20: uninitialized branch"}},
	} {
		src := strings.NewReplacer("SHUFFLE", c.shuffle, "SET", c.set).Replace(kernel)
		got, text := found(t, src, interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32)}, nil)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: found %q, want %q\n%s", c.shuffle, c.set, got, c.want, text)
		}
	}
}

// TestEaseWhileLanesWait has lanes wait at three places for a shuffle in a warp with reduced events. The first to arrive take values of
// the second, which have an unwritten operand. Before the last arrive, they handle invalid values in a function for so long that the
// full events begin, and end again.
func TestEaseWhileLanesWait(t *testing.T) {
	easeAlways(t)
	const kernel = header + `.func work()
{
	.reg .u32 %i, %z; .reg .pred %p; .shared .u32 board;
	mov.u32 %i, 0;
AGAIN:
	ld.shared.u32 %z, [board];
	mov.u32 %z, 0;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 40;
	@%p bra AGAIN;
	ret;
}
.entry k()
{
	.reg .pred %p, %q;
	.reg .u32 %t, %x, %y;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %q, %t, 16;
	@%q bra LOW;
	mov.u32 %x, 2;
	shfl.sync.bfly.b32 %y, %x, 16, 31, 0xffffffff;
	setp.eq.u32 %p, %y, 5;
	@%p bra END;
	bra END;
LOW:
	setp.lt.u32 %q, %t, 8;
	@%q bra LAST;
	shfl.sync.bfly.b32 %y, %x, 16, 31, 0xffffffff;
	bra END;
LAST:
	call work;
	mov.u32 %x, 2;
	shfl.sync.bfly.b32 %y, %x, 16, 31, 0xffffffff;
END:
	ret;
}
`
	got, text := found(t, kernel, interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32)}, nil)
	if want := []string{"26: uninitialized branch"}; !slices.Equal(got, want) || !strings.Contains(text, "lanes 24-31") {
		t.Errorf("found %q, want %q of lanes 24-31\n%s", got, want, text)
	}
}

// TestCopiesToTheHost checks that a copy to the host is reported for values computed from uninitialised values, but not
// for plain copies or unwritten memory. The store is a notice, unless it copies memory.
func TestCopiesToTheHost(t *testing.T) {
	const kernel = header + `.entry k(.param .u64 data)
{
	.reg .u32 %x, %y;
	.reg .u64 %a;
	ld.param.u64 %a, [data];
	ld.global.u32 %y, [%a+128];
	BODY
	st.global.u32 [%a+8], %y;
	ret;
}
`
	for _, c := range []struct {
		body string
		want []string
	}{
		{"mov.u32 %y, 1;", nil},
		{"mov.u32 %y, %x;", []string{"11: uninitialized store"}},
		{"", nil},
		{"add.u32 %y, %y, 1;", []string{"0: uninitialized copy to the host", "11: uninitialized store"}},
		{"add.u32 %y, %x, 1;", []string{"0: uninitialized copy to the host", "11: uninitialized store"}},
		{"xor.b32 %y, %x, 1;", []string{"0: uninitialized copy to the host", "11: uninitialized store"}},
		{"and.b32 %y, %x, 0xff;", []string{"11: uninitialized store"}}, // an unchanged byte of it
		{"and.b32 %y, %x, 0;", nil},
		{"prmt.b32 %y, %x, %x, 0x0123;", []string{"11: uninitialized store"}},
		{"popc.b32 %y, %x;", []string{"0: uninitialized copy to the host", "11: uninitialized store"}},
	} {
		src := strings.Replace(kernel, "BODY", c.body, 1)
		got, text := found(t, src, interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(1)}, func(dev *interp.Device, b *interp.Buffer) {
			b.Read(0, make([]byte, 64))
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q\n%s", c.body, got, c.want, text)
		}
		if len(c.want) > 1 && !strings.Contains(text, "byte 8 of buffer") {
			t.Errorf("%s: found\n%s", c.body, text)
		}
	}
}

// loadAndBranch is a kernel with a branch by the word at offset 16 of its argument.
const loadAndBranch = header + `.entry k(.param .u64 data)
{
	.reg .pred %p;
	.reg .u32 %x;
	.reg .u64 %a;
	ld.param.u64 %a, [data];
	ld.global.u32 %x, [%a+16];
	setp.eq.u32 %p, %x, 0;
	@%p bra END;
END:
	ret;
}
`

// TestMemoryWrittenByTheHost checks that memory written by the host is valid, and memory only allocated is not.
func TestMemoryWrittenByTheHost(t *testing.T) {
	for _, c := range []struct {
		at, bytes int
		found     bool
	}{{0, 0, true}, {0, 256, false}, {16, 4, false}, {16, 3, true}, {0, 16, true}, {20, 100, true}} {
		var log finding.Log
		dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{New(&log)}})
		mod, err := dev.Load("k.ptx", []byte(loadAndBranch))
		if err != nil {
			t.Fatal(err)
		}
		b, err := dev.AllocNamed("buffer", 256)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(c.at, make([]byte, c.bytes))
		if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}}); err != nil {
			t.Fatal(err)
		}
		list := log.Findings()
		if (len(list) == 1) != c.found {
			t.Errorf("bytes %d to %d written: found %+v", c.at, c.at+c.bytes, list)
		}
		if c.found && !strings.Contains(strings.Join(list[0].Notes, ""), "global memory (buffer)") {
			t.Errorf("found %+v", list[0])
		}
	}
}

// TestFindingText checks that a finding names the use, the threads, and the origin of the value.
func TestFindingText(t *testing.T) {
	_, text := found(t, header+`.entry k()
{
	.reg .pred %p, %q;
	.reg .u32 %t, %x, %y;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %q, %t, 3;
	@%q mov.u32 %x, 7;
	add.u32 %y, %x, 1;
	setp.eq.u32 %p, %y, 5;
	@%p bra END;
END:
	ret;
}
`, interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32)}, nil)
	want := `========= Error: init: the branch depends on an uninitialised value
=========     branch at k.ptx:13:6 in k
=========         @%p bra END;
=========         by thread (3,0,0) in cta (0,0,0): warp 0, lane 3, lanes 3-31
=========     the value was read from uninitialised register %x at k.ptx:11:2: add.u32 %y, %x, 1;
=========
========= ERROR SUMMARY: 1 error, 0 notices
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestMemoryOfTheHost checks that memory of the host that becomes a buffer is valid, also for a tool that observes the device
// before.
func TestMemoryOfTheHost(t *testing.T) {
	var log finding.Log
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{New(&log)}})
	mod, err := dev.Load("k.ptx", []byte(loadAndBranch))
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, 34)
	data := unsafe.Slice((*byte)(unsafe.Pointer(&words[uintptr(unsafe.Pointer(&words[0]))/8%2])), 256) // at a multiple of 16
	b, err := dev.AllocOver(data, "shared", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}}); err != nil {
		t.Fatal(err)
	}
	if list := log.Findings(); len(list) > 0 {
		t.Errorf("found %+v", list)
	}
}

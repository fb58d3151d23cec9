package debug_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gemu/debug"
	"gemu/interp"
	"gemu/ptx"
)

// TestStripCommand: the strip is that of the warp in focus, or of the last one in focus after the end; a warp may have none.
func TestStripCommand(t *testing.T) {
	var out bytes.Buffer
	source := read(t, "../docs/learn/scheduling.ptx")
	launch := func() *interp.Launch { return &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(64)} }
	withStrip := func(has bool) *debug.Session {
		return sessionWith(t, source, launch(), &out, debug.Options{Strip: func(to io.Writer, cta, warp, width int) bool {
			fmt.Fprintf(to, "strip of warp %d of block %d in %d columns\n", warp, cta, width)
			return has
		}}, make([]uint32, 64))
	}
	story(t, withStrip(true), `
> info cuda strip
strip of warp 0 of block 0 in 0 columns
> cuda warp 1
[Switching focus] kernel scheduling, block (0,0,0), thread (32,0,0), warp 1 lane 0; lanes 0-31
14	mov.u32 %i, %tid.x;
> info cuda str
strip of warp 1 of block 0 in 0 columns
> continue
The launch has ended, after 26 instructions.
> info cuda strip
strip of warp 1 of block 0 in 0 columns
`)
	story(t, withStrip(false), `
> info cuda strip
warp 0 of block 0 has no strip: it has not begun, or is not among the warps that began first, which have strips
`)
	story(t, session(t, source, launch(), &out, make([]uint32, 64)), `
> info cuda strip
the session records no strips of lanes
`)
}

// TestWarpCommands: the lanes and the stack of a warp, its steps in the order of the policy, and the last value of a register
// that is no longer live. The order is that of interp.TestOrderUnderTimeSlices; threads 0 to 3 of 8 take the first side.
func TestWarpCommands(t *testing.T) {
	var out bytes.Buffer
	s := session(t, read(t, "../docs/learn/scheduling.ptx"), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(8), Reconverge: interp.ReconvergerNamed("its:1")}, &out, make([]uint32, 8))
	story(t, s, `
> stepw 4
kernel scheduling, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-3
21	add.u32 %x, %x, 1;
> info cuda lanes
warp 0, lanes 0-31  RRRRPPPP -------- -------- --------
* R lanes 0-3: runs next, before line 21
  P lanes 4-7: on another path, runs later, before line 36
  - lanes 8-31: no thread
> info cuda stack
warp 0, policy its:1
  running: lanes 0-3 before line 21: add.u32 %x, %x, 1;
  ready: lanes 4-7 before line 36: add.u32 %x, %x, 100;
reconvergence point: lanes 0-7, none of them there yet, before line 27: add.u32 %x, %x, 1000;
> print %many
$1 = 0   (.pred of lanes 0-7: generic 0-3:0 4-7:1; last written at line 17, no longer live)
> info registers many
%many      .pred generic 0-3:0 4-7:1, in lanes 0-7: last written at line 17, no longer live
> stepw
kernel scheduling, block (0,0,0), thread (4,0,0), warp 0 lane 4; lanes 4-7
36	add.u32 %x, %x, 100;
> print %many
$2 = 1   (.pred of lanes 0-7: generic 0-3:0 4-7:1; last written at line 17, no longer live)
> stepw
kernel scheduling, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-3
24	add.u32 %x, %x, 2;
> stepw 2
kernel scheduling, block (0,0,0), thread (4,0,0), warp 0 lane 4; lanes 4-7
40	bra Z;
> info cuda lanes
warp 0, lanes 0-31  WWWWRRRR -------- -------- --------
  W lanes 0-3: wait before line 27 for other lanes to reconverge
* R lanes 4-7: runs next, before line 40
  - lanes 8-31: no thread
> info cuda stack
warp 0, policy its:1
  running: lanes 4-7 before line 40: bra Z;
reconvergence point: lanes 0-7, of which lanes 0-3 wait there, before line 27: add.u32 %x, %x, 1000;
> reverse-stepw
kernel scheduling, block (0,0,0), thread (4,0,0), warp 0 lane 4; lanes 4-7
39	add.u32 %x, %x, 200;
> reverse-stepw 3
kernel scheduling, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-3
21	add.u32 %x, %x, 1;
> start
kernel scheduling, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-7
14	mov.u32 %i, %tid.x;
> print %many
register %many is not live here: the thread has not written it
> stepw 100
The launch has ended, after 14 instructions.
`)
}

// TestLastValueInCurrentCall: a register of a function that is called twice has no last value until the second call writes it.
func TestLastValueInCurrentCall(t *testing.T) {
	var out bytes.Buffer
	s := session(t, `.version 8.0
.target sm_80
.address_size 64
.func (.reg .u32 %r) f(.reg .u32 %a)
{
	.reg .u32 %t;
	add.u32 %r, %a, 1;
	add.u32 %t, %a, 40;
	add.u32 %r, %r, %t;
	add.u32 %r, %r, 1;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .u32 %x;
	.reg .u64 %p;
	ld.param.u64 %p, [p];
	mov.u32 %x, 1;
	call (%x), f, (%x);
	call (%x), f, (%x);
	st.global.u32 [%p], %x;
	ret;
}
`, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(2)}, &out, make([]uint32, 1))
	answers := talk(t, s, "break 10", "break 7", "continue", "print %t", "continue", "print %t", "continue", "print %t", "continue", "print %t")
	for i, want := range map[int]string{3: "the thread has not written it", 5: "last written at line 8", 7: "the thread has not written it", 9: "last written at line 8"} {
		if !strings.Contains(answers[i], want) {
			t.Errorf("answer %d: %q, want %q; all: %q", i, answers[i], want, answers)
		}
	}
}

// TestMeaninglessInput: numbers out of range and unknown words are errors.
func TestMeaninglessInput(t *testing.T) {
	var out bytes.Buffer
	s := session(t, read(t, "../docs/wrong.ptx"), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)}, &out, iota32(32), make([]uint32, 32))
	story(t, s, `
> list 99999999999999999999
there is no line 99999999999999999999
> list 2147483647
there is no line 2147483647
> list 0
there is no line 0
> cuda warp -1
-1: want N or (X,Y,Z)
> cuda warp 1
want a warp from 0 to 0
> cuda warp 4611686018427387904
want a warp from 0 to 0
> cuda lane 3 quickly
cuda quickly: unknown word; want block, thread, warp or lane
> print out[4611686018427387909].u32
the address of out[4611686018427387909] is out of range
   out[4611686018427387909].u32
   ^
> print out[-9223372036854775807].u32
the address of out[-9223372036854775807] is out of range
   out[-9223372036854775807].u32
   ^
> continue 5
continue takes no arguments: "5"
> info breakpoints all
info breakpoints takes no arguments: "all"
> info cuda warps all
info cuda needs kernels, blocks, warps, lanes, stack, strip or threads
> until join them
there is no function or label "join them" in kernel blend or the functions that it calls
> delete 1 x
bad breakpoint number "x"
> stepi 99999999999999999999
"99999999999999999999": want a number of steps
`)
}

// TestInspectAfterTheEnd: after the end of the launch memory can be inspected, and the session can go back.
func TestInspectAfterTheEnd(t *testing.T) {
	var out bytes.Buffer
	s := session(t, read(t, "../docs/wrong.ptx"), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)}, &out, iota32(32), make([]uint32, 32))
	story(t, s, `
> break 22
Breakpoint 1 at test.ptx:22
> run
Breakpoint 1, kernel blend, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-15
22	mad.lo.u32 %y, %t, %t, %i;
> continue
The launch has ended, after 15 instructions.
> print out[5].u32 + ntid.x
$1 = 73
> x/4dw out[4].u32
0x10000210:	29	41	55	71
> print y
there is no thread: the launch has not begun, or has ended
   y
   ^
> print laneid
there is no thread: the launch has not begun, or has ended
   laneid
   ^
> print any(1)
there is no thread: the launch has not begun, or has ended
   any(1)
   ^
> print local[0].u32
there is no thread: the launch has not begun, or has ended
   local[0].u32
   ^
> print shared[0].u32
there is no thread: the launch has not begun, or has ended
   shared[0].u32
   ^
> reverse-continue
Breakpoint 1, kernel blend, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-15
22	mad.lo.u32 %y, %t, %t, %i;
> print y
$2 = 0   (.u32 of lanes 0-15: uniform 0)
> continue
The launch has ended, after 15 instructions.
> reverse-step
kernel blend, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-31
27	ret;
`)
}

// TestValuesOf128Bits: registers and variables of 128 bits are printed completely.
func TestValuesOf128Bits(t *testing.T) {
	var out bytes.Buffer
	s := session(t, `.version 8.3
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .b64 %a, %b;
	.reg .b128 %w;
	.shared .align 16 .b8 box[32];
	mov.b64 %a, 0x1122334455667788;
	cvt.u64.u32 %b, %tid.x;
	mov.b128 %w, {%a, %b};
	mov.b128 {%b, %a}, %w;
	st.shared.b64 [box], %b;
	st.shared.b64 [box+8], %a;
	ret;
}
`, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)}, &out)
	story(t, s, `
> break 12
Breakpoint 1 at test.ptx:12
> run
Breakpoint 1, kernel k, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-31
12	mov.b128 {%b, %a}, %w;
> cuda lane 3
[Switching focus] kernel k, block (0,0,0), thread (3,0,0), warp 0 lane 3; lanes 0-31
12	mov.b128 {%b, %a}, %w;
> print w[2..3]
$1 = {2:0x21122334455667788 3:0x31122334455667788}
> print w == 0
register %w has 128 bits, but numbers have 64: w.b64 is the lower half
   w == 0
   ^
> print/x w.b64
$2 = 0x1122334455667788
`)
	if output := talk(t, s, "print w", "info registers w"); !strings.HasPrefix(output[0], "$1 = 0x31122334455667788   (.b128 of lanes 0-31: generic 0:0x1122334455667788 1:0x1") || !strings.HasPrefix(output[1], "%w         .b128 generic 0:0x1122334455667788 1:0x1") {
		t.Errorf("it says %q", output)
	}
}

// TestNestedAnyAndAll: any(…) and all(…) are each evaluated once per stop, however deeply they are nested.
func TestNestedAnyAndAll(t *testing.T) {
	var out bytes.Buffer
	s := session(t, read(t, "../docs/wrong.ptx"), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)}, &out, iota32(32), make([]uint32, 32))
	said := make(chan []string)
	go func() {
		said <- talk(t, s, "tbreak 22", "run", "print "+strings.Repeat("all(lane < 32 && any(", 20)+"t == 16"+strings.Repeat("))", 20))
	}()
	select {
	case got := <-said:
		if got[2] != "$1 = 1" {
			t.Errorf("it says %q", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not come to an end")
	}
}

// TestListSource: lines of a source next to the PTX are found, too.
func TestListSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "own.cu"), []byte("one\n  two\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load(filepath.Join(dir, "own.ptx"), []byte(".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"own.cu\"\n.visible .entry k()\n{\n\t.loc 1 2 1\n\tret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := debug.Start(t.Context(), mod, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1)}, debug.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if output := talk(t, s, "start", "list own.cu:3"); !strings.Contains(output[0], "own.cu:2\ttwo\n") || !strings.Contains(output[1], "3\tthree") {
		t.Errorf("it says %q", output)
	}
}

// TestGoingBackRefused: with NoCheckpoints, each command that goes back fails with its reason.
func TestGoingBackRefused(t *testing.T) {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("test.ptx", []byte(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := debug.Start(t.Context(), mod, &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1)}, debug.Options{NoCheckpoints: "somebody counts"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const refused = "cannot go back: somebody counts"
	for i, got := range talk(t, s, "continue", "reverse-stepi", "reverse-next", "reverse-continue", "run", "info checkpoints") {
		if i > 0 && got != refused {
			t.Errorf("command %d: %s", i, got)
		}
	}
}

// typist is a user who types commands and reads the output.
type typist struct {
	t      *testing.T
	in     *io.PipeWriter
	mu     sync.Mutex
	output bytes.Buffer
}

func (y *typist) Write(p []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.output.Write(p)
}

// waitFor waits for a text in the output, and discards the output up to it.
func (y *typist) waitFor(want string) {
	y.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		y.mu.Lock()
		got := y.output.String()
		if i := strings.Index(got, want); i >= 0 {
			y.output.Next(i + len(want))
			y.mu.Unlock()
			return
		}
		y.mu.Unlock()
		if time.Now().After(end) {
			y.t.Fatalf("it says %q, and lacks %q", got, want)
		}
	}
}

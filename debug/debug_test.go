package debug_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"gemu/debug"
	"gemu/interp"
	"gemu/ptx"
)

// session begins a launch of a kernel of a file.
func session(t *testing.T, src string, l *interp.Launch, out *bytes.Buffer, args ...any) *debug.Session {
	t.Helper()
	return sessionWith(t, src, l, out, debug.Options{}, args...)
}

// sessionWith is session with options; Output is set.
func sessionWith(t *testing.T, src string, l *interp.Launch, out *bytes.Buffer, options debug.Options, args ...any) *debug.Session {
	t.Helper()
	o := debug.NewOutput(out)
	dev := interp.NewDevice(interp.Config{Stdout: o})
	mod, err := dev.Load("test.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range args {
		if data, ok := a.([]uint32); ok {
			b, err := interp.NewBuffer(dev, data)
			if err != nil {
				t.Fatal(err)
			}
			a = b
		}
		l.Args = append(l.Args, a)
	}
	options.Output = o
	s, err := debug.Start(t.Context(), mod, l, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// iota32 returns 0, 1, 2 …
func iota32(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// talk executes commands in a console, and returns the output of each.
func talk(t *testing.T, s *debug.Session, commands ...string) []string {
	t.Helper()
	var out bytes.Buffer
	c := debug.NewConsole(s, &out)
	var output []string
	for _, text := range commands {
		out.Reset()
		if err := c.Do(context.Background(), text); err != nil {
			fmt.Fprintln(&out, debug.Explain(err))
		}
		output = append(output, strings.TrimRight(out.String(), "\n"))
	}
	return output
}

// story compares the output of a session's commands with a script.
func story(t *testing.T, s *debug.Session, script string) {
	t.Helper()
	var commands, want []string
	for _, part := range strings.Split("\n"+strings.TrimSpace(script), "\n> ")[1:] {
		command, output, _ := strings.Cut(part, "\n")
		commands, want = append(commands, command), append(want, strings.TrimRight(output, "\n"))
	}
	for i, got := range talk(t, s, commands...) {
		if got != want[i] {
			t.Errorf("> %s\n%s\nwant\n%s", commands[i], got, want[i])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSessionInLines finds the wrong mad of docs/wrong.ptx with the commands of docs/debugging.md, line by line.
func TestSessionInLines(t *testing.T) {
	var out bytes.Buffer
	s := session(t, read(t, "../docs/wrong.ptx"), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)}, &out, iota32(32), make([]uint32, 32))
	story(t, s, `
> break LOWER if r5 == 1
function blend has no register r5, and there is no parameter or variable of that name
   r5 == 1
   ^
> break LOWER if x == 5 &&
a term is missing
   x == 5 &&
            ^
> break LOWER if x == == 5
unexpected "=="
   x == == 5
        ^
> break LOWER if x[lane] == 5
Breakpoint 1 at test.ptx:21
> run
Breakpoint 1, kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-15
21	add.u32 %t, %x, 1;
> info cuda warps
* warp 0 lanes 0-15         before line 21
  warp 0 lanes 16-31        wait before line 24 for other lanes to reconverge
> print %x
$1 = 5   (.u32 of lanes 0-15: affine 0 + 1*lane)
> info registers
%i         .u32  affine 0 + 1*lane
%x         .u32  affine 0 + 1*lane
%t         .u32  uniform 0
%y         .u32  uniform 0
%off       .u64  affine 0 + 4*lane
> p x*(x+1)+i
$2 = 35
> nexti
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-15
22	mad.lo.u32 %y, %t, %t, %i;
> 
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-31
24	ld.param.u64 %b, [out];
> print y
$3 = 41   (.u32 of lanes 0-31: generic 0:1 1:5 2:11 3:19 4:29 5:41 6:55 7:71 8:89 9:109 10:131 11:155 12:181 13:209 14:239 15:271 16:64 17:68 18:72 19:76 20:80 21:84 22:88 23:92 24:96 25:100 26:104 27:108 28:112 29:116 30:120 31:124)
> print y[3..6]
$4 = {3:19 4:29 5:41 6:55}
> reverse-stepi
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-15
22	mad.lo.u32 %y, %t, %t, %i;
> p t*t+i
$5 = 41
> cuda lane 20
[Switching focus] kernel blend, block (0,0,0), thread (20,0,0), warp 0 lane 20; lanes 16-31
24	ld.param.u64 %b, [out];   (waits: see why)
> why
lane 20 of warp 0 of CTA (0,0,0) waits before line 24 to reconverge; the other lanes of its warp:
   warp 0 lanes 0-15: before line 22
> until reconverge
kernel blend, block (0,0,0), thread (20,0,0), warp 0 lane 20; lanes 0-31
24	ld.param.u64 %b, [out];
> until reconverge
The lanes of the warp are together already.
> watch out[5].u32
Watchpoint 2: out[5].u32
> continue
Watchpoint 2: out[5].u32
Old value = 0
New value = 41
by lane 5 at line 26: st.global.u32 [%b], %y;
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-31
27	ret;
> x/8dw out[0].u32
0x10000200:	1	5	11	19
0x10000210:	29	41	55	71
> reverse-continue
Watchpoint 2: out[5].u32
Old value = 0
New value = 41
by lane 5 at line 26: st.global.u32 [%b], %y;
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-31
26	st.global.u32 [%b], %y;
> reverse-step
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-31
25	add.u64 %b, %b, %off;
> reverse-continue
Breakpoint 1, kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-15
21	add.u32 %t, %x, 1;
> reverse-continue
No more reverse-execution history.
kernel blend, block (0,0,0), thread (5,0,0), warp 0 lane 5; lanes 0-31
11	mov.u32 %i, %tid.x;
> info breakpoints
Num  Type        Enb Hits What
1    breakpoint  y   1    test.ptx:21
     stop only if x[lane] == 5
2    watch       y   1    out[5].u32
> delete

> tbreak opcode:st if all(y > 0) && lane == 31
Temporary breakpoint 3 at test.ptx:26
> continue
Breakpoint 3, kernel blend, block (0,0,0), thread (31,0,0), warp 0 lane 31; lanes 0-31
26	st.global.u32 [%b], %y;
> continue
The launch has ended, after 15 instructions.
> continue
the launch has ended: reverse commands go back, run starts it again
> reverse-stepi
kernel blend, block (0,0,0), thread (0,0,0), warp 0 lane 0; lanes 0-31
27	ret;
`)
}

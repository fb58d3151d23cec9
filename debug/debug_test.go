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
)

// session begins a launch of a kernel of a file.
func session(t *testing.T, src string, l *interp.Launch, out *bytes.Buffer, args ...any) *debug.Session {
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
	s, err := debug.Start(t.Context(), mod, l, debug.Options{Output: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// iota is 0, 1, 2 …
func iota32(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// talk has a console execute commands, and gives what it says to each.
func talk(t *testing.T, s *debug.Session, commands ...string) []string {
	t.Helper()
	var out bytes.Buffer
	c := debug.NewConsole(s, &out)
	var said []string
	for _, text := range commands {
		out.Reset()
		if err := c.Do(context.Background(), text); err != nil {
			fmt.Fprintln(&out, debug.Explain(err))
		}
		said = append(said, strings.TrimRight(out.String(), "\n"))
	}
	return said
}

// story is a session on a kernel and what it says.
func story(t *testing.T, s *debug.Session, script string) {
	t.Helper()
	var commands, want []string
	for _, part := range strings.Split("\n"+strings.TrimSpace(script), "\n> ")[1:] {
		command, says, _ := strings.Cut(part, "\n")
		commands, want = append(commands, command), append(want, strings.TrimRight(says, "\n"))
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

func TestStory(t *testing.T) {
	var out bytes.Buffer
	s := session(t, read(t, "../docs/wrong.ptx"), &interp.Launch{Grid: interp.Dim(1), Block: interp.Dim(32)}, &out, iota32(32), make([]uint32, 32))
	story(t, s, `
> break LOWER if r5 == 1
x
> break LOWER if x == 5 &&
x
> break LOWER if x[lane] == 5
x
> run
x
> info cuda warps
x
> print %x
x
> print x[0..20]
x
> info registers
x
> si
x
> si
x
> print %y
x
> info registers y t
x
> reverse-stepi
x
> p t*x+i
x
> p t*t+i
x
> why
x
> cuda lane 20
x
> why
x
> until join
x
> info cuda warps
x
> watch out[5].f32
x
> watch out[5].u32
x
> c
x
> x/8dw out[0].u32
x
> rc
x
> rs
x
> rc
x
> rc
x
> c
x
> c
x
> d
x
> c
x
> c
x
> rsi
x
> bt
x
> l
x
> info break
x
> info checkpoints
x
`)
}

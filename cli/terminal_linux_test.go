package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// newTerminal makes a pseudo-terminal, and skips the test where that is impossible.
func newTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip(err)
	}
	return screen, terminal
}

// onTerminal runs gemu on a terminal of its own, and returns its output.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	screen, terminal := newTerminal(t)
	cmd := exec.Command("gemu", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	err := cmd.Start()
	terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(screen) // ends with an error when no process has the terminal open
	cmd.Wait()
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestTerminalIsNotAsked: a command writes only its output to a terminal, and no questions, for whose answers it would wait.
func TestTerminalIsNotAsked(t *testing.T) {
	if got := onTerminal(t, "--version"); !strings.HasPrefix(got, "gemu ") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

// TestControlCharactersAreVisible puts control characters into all input: output of a kernel, a line and a comment of
// the PTX, the name of a source, a line of the source, the command line. None of them may reach the terminal
// unchanged.
func TestControlCharactersAreVisible(t *testing.T) {
	const hostile = "\x1b]0;title\a\x1b[2J\u009b2J\u202e"
	shown := `\x1b]0;title\x07\x1b[2J\u009b2J\u202e`
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	named := func(name string) string { return strings.Replace(trapping, "NAME", name, 1) }
	write("source.cu", "line "+hostile+"\n")
	var bytes []string
	for _, b := range []byte(hostile + "\n\x00") {
		bytes = append(bytes, fmt.Sprint(b))
	}
	prints := write("print.ptx", `.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[] = {`+strings.Join(bytes, ", ")+`};
.visible .entry k()
{
	.reg .b64 %rd<3>;
	.param .b32 r;
	.param .b64 f;
	.param .b64 a;
	mov.u64 %rd1, text;
	cvta.global.u64 %rd1, %rd1;
	st.param.b64 [f], %rd1;
	st.param.b64 [a], 0;
	call (r), vprintf, (f, a);
	ret;
}
`)
	for _, c := range [][]string{
		{"run", prints, "-g", "1", "-b", "1"},
		{"profile", prints, "-g", "1", "-b", "1"},
		{"dump", "--stage=ast", write("line.ptx", ".version 7.0\n.target sm_80\n.pragma \""+hostile+"\";\n")},
		{"run", write("source.ptx", named("source.cu")), "-g", "1", "-b", "1", "-a", "u32[1]"},
		{"run", write("name.ptx", named(hostile)), "-g", "1", "-b", "1", "-a", "u32[1]"},
		{"profile", write("name.ptx", named(hostile)), "-g", "1", "-b", "1", "-a", "u32[1]", "--show", "lines"},
		{"dump", "--stage=ast", write("ast.ptx", named(hostile))},
		{"check", hostile + ".ptx"},
		{"run", prints, "-g", "1", "-b", "1", "-k", hostile},
		{"run", "--" + hostile},
		{hostile},
	} {
		got := onTerminal(t, c...)
		if !strings.Contains(got, shown) {
			t.Errorf("%q: what is hostile is not shown:\n%q", c, got)
		}
		for _, style := range styles() {
			got = strings.ReplaceAll(got, style, "")
		}
		if strings.ContainsAny(got, "\x1b\a\r\u009b\u202e") {
			t.Errorf("%q writes to the terminal:\n%q", c, got)
		}
	}
}

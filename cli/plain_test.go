package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemu/internal/part"
)

// TestPlainText: with --plain, or GEMU_PLAIN, each command prints ASCII text without escape sequences and carriage returns.
func TestPlainText(t *testing.T) {
	part.SkipShort(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("break 40\ncontinue\ninfo warps\ninfo lanes\ninfo registers\nbacktrace\nlist\nhelp\nstepi 3\nreverse-stepi\nquit\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	recording := filepath.Join(dir, "run.gemu")
	saxpy := []string{"../kernels/cuda/saxpy.ptx", "-g", "2", "-b", "40", "-a", "70", "2.0", "f32[80]=iota", "f32[80]=1"}
	with := func(command string, extra ...string) []string {
		return append(append([]string{command}, saxpy...), extra...)
	}
	lines := [][]string{
		{"help"}, {"help", "terms"}, {"--man"}, {"isa", "lop3"}, {"kernels"}, {"kernels", "bfs"}, {"dump", "--stage=cfg", "../kernels/cuda/saxpy.ptx"},
		with("structure", "--show", "all"), with("profile", "--show", "all"), with("regfile"), with("reconverge"), with("reconverge", "--show", "table,lanes"), with("diff"), with("run", "--stats", "--sanitize=all"),
		with("record", "--with", "all", "-o", recording), {"record", recording}, with("debug", "-x", script),
		{"profile", "@nqueens", "--size", "5"}, {"structure", "@bfs", "--size", "300"}, {"compare", "kim2013", "--list"}, {"spill", "../kernels/cuda/saxpy.ptx"},
		{"run", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "40", "-a", "40", "2.0", "f32[8]", "f32[40]"},           // a trap
		{"run", "../kernels/cuda/saxpy.ptx", "-g", "1"}, {"run", "@none"}, {"run", "--colour"}, {"check", "none.ptx"}, // wrong usage
	}
	if part.TryAll() {
		lines = append(lines, []string{"isa"}) // it looks up every variant, which takes seconds
	}
	for _, command := range []string{"run", "profile", "structure", "regfile", "reconverge", "trace", "diff", "replay", "record", "compare", "bench", "fuzz", "debug", "check", "dump", "spill", "phases", "isa", "kernels", "completion"} {
		lines = append(lines, []string{command, "--help"})
	}
	drawn := 0
	for _, line := range lines {
		usual, usualMessages, want := extended(t, Extensions{}, line...)
		out, messages, status := extended(t, Extensions{}, append([]string{"--plain"}, line...)...)
		if status != want {
			t.Errorf("%q: status %d with --plain, %d without", line, status, want)
		}
		for _, text := range []string{out, messages} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r > '~' || r == '\r' || r == '\x1b' }); i >= 0 {
				t.Errorf("%q prints %q", line, text[max(0, i-40):min(len(text), i+40)])
			}
		}
		if out == "" && messages == "" {
			t.Errorf("%q prints nothing", line)
		}
		if usual+usualMessages != out+messages {
			drawn++
		}
	}
	if drawn < 10 {
		t.Errorf("--plain changes the text of %d command lines: this test compares nothing", drawn)
	}
	t.Setenv("GEMU_PLAIN", "1")
	if _, messages, _ := extended(t, Extensions{}, "run", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "40", "-a", "40", "2.0", "f32[8]", "f32[40]"); !strings.Contains(messages, "lanes 8 to 31") {
		t.Errorf("with GEMU_PLAIN: %s", messages)
	}
}

// TestPlainData: data on standard output stays as it is.
func TestPlainData(t *testing.T) {
	const printing = ".version 7.0\n.target sm_80\n.address_size 64\n// größe ─ lanes 0-3\n.entry k()\n{\n\tret;\n}\n"
	file := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(file, []byte(printing), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{
		{"record", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[8]", "-o", "-"},
		{"trace", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[8]", "--format", "binary"},
		{"structure", "../kernels/cuda/saxpy.ptx", "-g", "1", "-b", "8", "-a", "8", "2.0", "f32[8]", "f32[8]", "--html", "-"},
		{"kernels", "bfs", "--source"},
	} {
		usual, _, status := extended(t, Extensions{}, line...)
		if out, _, plain := extended(t, Extensions{}, append([]string{"--plain"}, line...)...); out != usual || status != 0 || plain != 0 || out == "" {
			t.Errorf("%q: other data with --plain (status %d and %d, %d and %d bytes)", line, status, plain, len(usual), len(out))
		}
	}
}

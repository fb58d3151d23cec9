package cli

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/argument"
	"gemu/internal/part"
	"gemu/ptx"
)

var update = flag.Bool("update", false, "rewrite the outputs in the documentation that have changed")

// TestDocs runs the commands of the documentation's console blocks and compares their output. In a block a line "$ gemu
// …" is a command, followed by its output, both streams together; a line "…" stands for any lines. Commands run in a
// directory with kernels and docs of the repository and the files of testdata/docs, on a screen of 80 columns.
// GEMU_TEST=ci and -update run the commands of all documents. By default only the commands of the README run.
func TestDocs(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	lessons, err := filepath.Glob("../docs/learn/*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(append(files, lessons...), "../README.md")
	texts := map[string]string{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"kernels", "docs"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/docs")); err != nil {
		t.Fatal(err)
	}
	writeDocsPicture(t, filepath.Join(dir, "in.png"))
	t.Chdir(dir)
	t.Setenv("COLUMNS", "80")
	t.Setenv("GITHUB_ACTIONS", "")
	for _, name := range files {
		t.Run(strings.TrimPrefix(name, "../"), func(t *testing.T) {
			if name != "../README.md" && !*update {
				part.SkipLong(t)
			}
			part.SkipShort(t)
			blocks := consoleBlocks(texts[name])
			if words := []string{"../docs/learn/README.md", "../docs/install.md", "../docs/ci.md"}; len(blocks) == 0 && !slices.Contains(words, name) {
				t.Fatal("no console blocks")
			}
			text := texts[name]
			for _, block := range blocks {
				got := runConsole(t, block)
				if matchOutput(strings.Split(block, "\n"), strings.Split(got, "\n")) {
					continue
				}
				if *update && !slices.Contains(strings.Split(block, "\n"), "…") {
					text = strings.Replace(text, block, got, 1)
					continue
				}
				t.Errorf("go test ./cli -run Docs -update rewrites (-documented +printed):\n%s", cmp.Diff(strings.Split(block, "\n"), strings.Split(got, "\n")))
			}
			if text != texts[name] {
				if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// writeDocsPicture makes the picture that the README filters.
func writeDocsPicture(t *testing.T, name string) {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 640, 640))
	for i := range img.Pix {
		img.Pix[i] = byte(i%640 ^ i/640)
	}
	b, err := argument.EncodePNG(&argument.Array{Type: ptx.U8, Shape: []int{640, 640}, Data: img.Pix})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// consoleBlocks returns the contents of the fenced blocks marked "console".
func consoleBlocks(text string) []string {
	var blocks []string
	for {
		_, rest, ok := strings.Cut(text, "\n```console\n")
		if !ok {
			return blocks
		}
		block, after, ok := strings.Cut(rest, "\n```\n")
		if !ok {
			return blocks
		}
		blocks = append(blocks, block)
		text = "\n" + after
	}
}

// runConsole runs the commands of a block and returns the expected block.
func runConsole(t *testing.T, block string) string {
	t.Helper()
	var out bytes.Buffer
	for _, line := range strings.Split(block, "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		words, err := shellWords(command)
		if err != nil || words[0] != "gemu" {
			t.Fatalf("%q is no gemu command: %v", command, err)
		}
		fmt.Fprintln(&out, line)
		run(t.Context(), words[1:], strings.NewReader(""), &out, &out)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// matchOutput compares lines; "…" in want stands for any number of them.
func matchOutput(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "…":
		for i := range len(got) + 1 {
			if matchOutput(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && got[0] == want[0] && matchOutput(want[1:], got[1:])
}

// shellWords splits a command at blanks outside quotes.
func shellWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		case strings.ContainsRune("|&;<>()$`\\*?#~", r):
			return nil, fmt.Errorf("%q wants a shell", r)
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is open")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// TestMatchOutput shows which outputs match a documented output in which … stands for any text.
func TestMatchOutput(t *testing.T) {
	for _, c := range []struct {
		want, got string
		match     bool
	}{
		{"a b", "a b", true}, {"a b", "a c", false}, {"a", "a b", false}, {"a b", "a", false},
		{"…", "", true}, {"a … c", "a b b c", true}, {"a … c", "a c", true}, {"a … c", "a b", false}, {"… c", "c c", true}, {"a …", "a", true},
	} {
		if matchOutput(strings.Fields(c.want), strings.Fields(c.got)) != c.match {
			t.Errorf("matchOutput(%q, %q) is not %v", c.want, c.got, c.match)
		}
	}
}

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// markdownFiles has the text of every Markdown file of the repository, by its path from the root.
func markdownFiles(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("..")
	texts := map[string]string{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	fencedBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headingLine  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchorless   = regexp.MustCompile(`[^\pL\pN _-]`)
)

// prose returns a Markdown text without its fenced blocks.
func prose(text string) string { return fencedBlock.ReplaceAllString(text, "") }

// anchor returns the fragment for links to a heading, as GitHub derives it.
func anchor(heading string) string {
	return strings.ReplaceAll(anchorless.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// TestDocsLinks resolves every relative link of every Markdown file: the file must exist, and so must the heading.
func TestDocsLinks(t *testing.T) {
	texts := markdownFiles(t)
	anchors := map[string]bool{}
	for name, text := range texts {
		for _, heading := range headingLine.FindAllStringSubmatch(prose(text), -1) {
			anchors[name+"#"+anchor(heading[1])] = true
		}
	}
	links := 0
	for name, text := range texts {
		for _, link := range markdownLink.FindAllStringSubmatch(prose(text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			links++
			file, fragment, _ := strings.Cut(link[1], "#")
			target := name
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: the link %s names no file", name, link[1])
			} else if fragment != "" && !anchors[target+"#"+fragment] {
				t.Errorf("%s: the link %s names no heading of %s", name, link[1], target)
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links found", links)
	}
}

// TestDocsIndex: RATIONALE.md lists every question of docs/design under the name of its page, and each page is short.
func TestDocsIndex(t *testing.T) {
	texts := markdownFiles(t)
	index := strings.Join(strings.Fields(texts["RATIONALE.md"]), " ")
	pages, questions := 0, 0
	for name, text := range texts {
		if filepath.ToSlash(filepath.Dir(name)) != "docs/design" {
			continue
		}
		pages++
		if len(text) >= 12<<10 {
			t.Errorf("%s has %d bytes; a page of decisions must be under 12 KB: split it", name, len(text))
		}
		for _, heading := range headingLine.FindAllStringSubmatch(prose(text), -1) {
			if strings.HasPrefix(heading[0], "# ") {
				continue
			}
			questions++
			if !strings.HasSuffix(heading[1], "?") {
				t.Errorf("%s: the heading %q is no question", name, heading[1])
			}
			if link := "- [" + heading[1] + "](" + name + "#" + anchor(heading[1]) + ")"; !strings.Contains(index, link) {
				t.Errorf("RATIONALE.md lacks the line\n%s", link)
			}
		}
	}
	if pages < 10 || questions < 80 {
		t.Errorf("only %d questions on %d pages found", questions, pages)
	}
}

// TestReadmeSize limits README.md to an introduction; more text belongs into docs.
func TestReadmeSize(t *testing.T) {
	if n := len(markdownFiles(t)["README.md"]); n > 6<<10 {
		t.Errorf("README.md has %d bytes; it must have at most 6 KB", n)
	}
}

// TestDocsGlossary: every page that explains gemu links the glossary.
func TestDocsGlossary(t *testing.T) {
	for name, text := range markdownFiles(t) {
		if strings.HasPrefix(name, "testdata/") || name == "docs/glossary.md" {
			continue
		}
		if !strings.Contains(text, "glossary.md") {
			t.Errorf("%s has no link to docs/glossary.md", name)
		}
	}
}

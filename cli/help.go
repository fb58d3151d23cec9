package cli

import (
	"fmt"
	"io"
	"strings"

	"gemu/docs"
)

// helpCmd prints the help of a command, or the glossary. Lines of commands are rewritten by helpArgs before they are parsed.
type helpCmd struct {
	Topic []string `arg:"" optional:"" help:"A command; or terms, which prints the glossary; or terms TERM, which prints its entries."`
}

// helpArgs rewrites "help COMMAND" to "COMMAND --help", and "help" to "--help". It returns further arguments unchanged.
func helpArgs(args []string) []string {
	switch {
	case len(args) == 0 || args[0] != "help":
	case len(args) == 1:
		return []string{"--help"}
	case args[1] != "terms" && !strings.HasPrefix(args[1], "-"):
		return append(args[1:len(args):len(args)], "--help")
	}
	return args
}

func (c *helpCmd) Run(a *app) error {
	if len(c.Topic) == 0 || c.Topic[0] != "terms" {
		return fmt.Errorf("gemu help takes a command, or terms")
	}
	entries := glossary(docs.Glossary)
	if asked := strings.Join(c.Topic[1:], " "); asked != "" {
		if entries = findTerms(entries, asked); len(entries) == 0 {
			return fmt.Errorf("the glossary has no term %q; gemu help terms prints all", asked)
		}
	}
	return printTerms(a.stdout, entries, newScreen(a.stdout).chart())
}

// A glossaryEntry is a row of a table of the glossary.
type glossaryEntry struct {
	section string // the heading of the table
	term    string
	meaning string
	inGo    string // Go types, functions and packages; may be empty
	also    string // terms of the literature; may be empty
}

// glossary reads the rows of the tables of a document in Markdown whose columns are term, meaning, in Go, also called.
func glossary(markdown string) (entries []glossaryEntry) {
	section := ""
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 4 || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| term |") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		entries = append(entries, glossaryEntry{section, cells[0], cells[1], cells[2], cells[3]})
	}
	return entries
}

// findTerms returns the entries whose term, or the literature's word for it, contains the text asked for; if a term is
// equal to the text, only its entry.
func findTerms(entries []glossaryEntry, asked string) (found []glossaryEntry) {
	asked = strings.ToLower(asked)
	for _, e := range entries {
		if strings.ToLower(e.term) == asked {
			return []glossaryEntry{e}
		}
		if strings.Contains(strings.ToLower(e.term), asked) || strings.Contains(strings.ToLower(e.also), asked) {
			found = append(found, e)
		}
	}
	return found
}

// printTerms prints entries in lines of at most width columns, with a heading before each section.
func printTerms(w io.Writer, entries []glossaryEntry, width int) error {
	const indent = "    "
	section := ""
	for _, e := range entries {
		if e.section != section {
			if section != "" {
				fmt.Fprintln(w)
			}
			section = e.section
			fmt.Fprintln(w, section)
		}
		text := []string{e.meaning}
		if e.also != "" {
			text = append(text, "Also called: "+e.also+".")
		}
		if e.inGo != "" {
			text = append(text, "In Go: "+e.inGo+".")
		}
		fmt.Fprintf(w, "  %s\n", e.term)
		for _, paragraph := range text {
			for _, line := range wrap(strings.ReplaceAll(paragraph, "`", ""), width-len(indent)) {
				if _, err := fmt.Fprintf(w, "%s%s\n", indent, line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

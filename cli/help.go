package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemu/docs"
)

// flagGroups are the groups of flags, with their headings in the help of a command. Flags without a group come first. checkFlags
// refuses the groups that do not apply to an input.
var flagGroups = []kong.Group{
	{Key: "program", Title: "Kernel and arguments:"},
	{Key: "device", Title: "Device and execution:"},
	{Key: "reports", Title: "Reports, and findings that count:"},
	{Key: "settings", Title: "Settings of the driver:"},
	{Key: "profile", Title: "Printed profile, with --profile:"},
	{Key: "page", Title: "Page:"},
	{Key: "compare", Title: "Comparison of logs:"},
	{Key: "recording", Title: "Contents of a new recording:"},
	{Key: "convert", Title: "Conversion of a log to a recording:"},
	{Key: "show", Title: "Printing of a recording:"},
	{Key: "against", Title: "Test of another implementation:"},
}

// givenFlags returns the names of the flags of a group that the command line has, of all groups for "". Flags that only environment
// variables set are left out.
func givenFlags(line *kong.Context, group string) (names []string) {
	for _, p := range line.Path {
		if p.Flag != nil && !p.Resolved && slices.Contains(line.Selected().Flags, p.Flag) && (group == "" || isInGroup(p.Flag, group)) {
			names = append(names, p.Flag.Name)
		}
	}
	return names
}

// checkFlags returns an error for the first flag on the command line that is in none of the groups. why is the reason.
func checkFlags(line *kong.Context, why string, groups ...string) error {
	var applying []string
	for _, group := range groups {
		for _, f := range line.Selected().Flags {
			if isInGroup(f, group) {
				applying = append(applying, f.Name)
			}
		}
	}
	for _, name := range givenFlags(line, "") {
		if !slices.Contains(applying, name) {
			return fmt.Errorf("%s: --%s does not apply; the flags are --%s", why, name, strings.Join(applying, ", --"))
		}
	}
	return nil
}

// isInGroup reports whether a flag is in a group.
func isInGroup(f *kong.Flag, group string) bool { return f.Group != nil && f.Group.Key == group }

// Lists of the help of flags.
var (
	argumentForms = []string{
		"NUMBER: the value of a scalar parameter",
		"bytes:HEX: the bytes of a struct, two digits for each",
		"TYPE[N]: a new buffer of N zeros, such as f32[1024]. With TYPE[N]=VALUE each element is VALUE, with =iota element i is i, with =rand:SEED elements are random",
		"@FILE: a new buffer with the contents of FILE (.npy, .png, or the bytes of any other file)",
		"&I: the buffer of argument I, a second time. Arguments count from 0",
		"tma(I,TYPE[N],box=N…): a tensor map over the buffer of argument I; tma(TYPE[N],box=N…): over a new buffer (docs/async.md)",
		"tex.2d(u8x4[HxW]=…,OPTION,…), surf.…, sampler(…): a texture, surface or sampler (docs/textures.md)",
	}
	engines = []string{
		"auto: native if this host supports it, else portable",
		"native: machine code. It needs Linux on arm64, or on x86-64 with AVX2. Unsupported operations, and launches with probes, execute in Go",
		"portable: Go",
	}
	modes = []string{
		"check: compactly where possible and also on every lane; each compact result is compared",
		"affine: compactly where possible",
		"vector: on every lane",
	}
	logFormats = []string{
		"auto: binary for FILE.gtr, else text",
		"text: a line for each entry",
		"binary: protocol buffers, compressed",
		"bare: protocol buffers, not compressed",
		"accelsim: traces for Accel-Sim, in the directory of -o (docs/accelsim.md)",
		"accelsim-tracez: as accelsim, with the trace of each warp compressed by itself",
	}
)

// helpList returns a list for the text of a flag's help: an item in each line, after the end of the first line.
func helpList(items ...string) string {
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "\n  - %s", item)
	}
	return b.String()
}

// describeValue returns the help of a flag or argument, with its default and its environment variable at the end of its first
// paragraph. The tag "unset" describes the default of a flag without a tag "default".
func describeValue(v *kong.Value) string {
	var facts []string
	switch unset := v.Tag.Get("unset"); {
	case unset != "":
		facts = append(facts, "default: "+unset)
	case v.HasDefault:
		facts = append(facts, "default: "+v.Default)
	}
	if len(v.Tag.Envs) > 0 {
		facts = append(facts, "environment: "+strings.Join(v.Tag.Envs, ", "))
	}
	if len(facts) == 0 {
		return v.Help
	}
	paragraph, list, _ := strings.Cut(v.Help, "\n")
	text := fmt.Sprintf("%s (%s)", strings.TrimRight(paragraph, ".:"), strings.Join(facts, "; "))
	if list == "" {
		return text + "."
	}
	return text + ":\n" + list
}

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

package cli

// This file makes the manual page, in roff, from the command's own grammar.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manFlag prints the manual page.
type manFlag bool

// BeforeReset prints the page before the rest of the command line is checked.
func (manFlag) BeforeReset(k *kong.Kong) error {
	fmt.Fprint(k.Stdout, manual(k.Model))
	k.Exit(0)
	return nil
}

// manual returns the manual page, in the format of man(7). It has the flags of several commands once, in a section of their own.
func manual(m *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(m.Name), m.Name, roff(strings.TrimPrefix(m.Help, m.Name+" ")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n.SH DESCRIPTION\n", m.Name, roff("COMMAND [ARGUMENTS] [FLAGS]"))
	for _, paragraph := range description {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
	}
	b.WriteString(".SH OPTIONS\n")
	manFlags(&b, m.Node.Flags)
	b.WriteString(".SH COMMANDS\n")
	commands := m.Leaves(true)
	uses := map[flagText]int{} // number of commands that have a flag
	for _, c := range commands {
		for _, f := range c.Flags {
			uses[textOf(f)]++
		}
	}
	isCommon := func(f *kong.Flag) bool { return uses[textOf(f)] > 1 }
	var common []*kong.Flag
	for _, c := range commands {
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(c.Summary()), roff(c.Help))
		for _, p := range c.Positional {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(p.Summary()), roff(describeValue(p)))
		}
		manFlags(&b, slices.DeleteFunc(slices.Clone(c.Flags), isCommon))
		var names []string
		for _, f := range c.Flags {
			if !isCommon(f) || f.Hidden {
				continue
			}
			names = append(names, "--"+f.Name)
			if !slices.ContainsFunc(common, func(g *kong.Flag) bool { return textOf(f) == textOf(g) }) {
				common = append(common, f)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, ".PP\nAlso, described under COMMON FLAGS: %s.\n", roff(strings.Join(names, ", ")))
		}
	}
	b.WriteString(".SH COMMON FLAGS\n")
	manFlags(&b, common)
	b.WriteString(".SH EXIT STATUS\n")
	for _, s := range exitStatuses {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", s.status, roff(s.meaning))
	}
	return b.String()
}

// description is the section DESCRIPTION of the manual page, by paragraphs.
var description = []string{
	"Threads execute in warps, as on a GPU: the lanes of a warp share instructions, diverge at branches and reconverge. Grids, CTAs (thread blocks) and warps are those of PTX; gemu help terms explains further words.",
	"A first example: gemu run saxpy.ptx -g 1 -b 8 -a 8 2.0 f32[8]=iota f32[8]=1 --out 3=- runs the kernel of a file on one CTA of 8 threads, with two numbers and two buffers as arguments, and prints the second buffer.",
}

// exitStatuses are the exit statuses of all commands.
var exitStatuses = []struct {
	status  int
	meaning string
}{
	{exitGood, "The command has succeeded, and every check has held."},
	{exitFailed, "The kernel has run, and has trapped or failed a check; or two logs differ; or another implementation has failed."},
	{exitBad, "The command line or an input is wrong, or a file cannot be read or written."},
	{exitFindings, "gemu exec only: sanitizers have found errors, or a launch has failed. --findings-status sets another status. Otherwise the status is that of the program, 128+n if signal n has ended it, 126 if it cannot be executed, and 127 if it does not exist."},
}

// flagText is the text of a flag in the help.
type flagText struct{ name, help string }

func textOf(f *kong.Flag) flagText { return flagText{f.String(), describeValue(f.Value)} }

// manFlags lists flags.
func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if !f.Hidden {
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(f.String()), roff(describeValue(f.Value)))
		}
	}
}

// roff escapes a text for roff: backslashes, dashes, and lines with a dot or quote at the beginning. Lists of helpList become
// indented paragraphs.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	var lines []string
	inList := false
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if item, ok := strings.CutPrefix(line, `  \- `); ok {
			if !inList {
				lines, inList = append(lines, ".RS"), true
			}
			lines = append(lines, `.IP \(bu 2`)
			line = item
		}
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		lines = append(lines, line)
	}
	if inList {
		lines = append(lines, ".RE")
	}
	return strings.Join(lines, "\n")
}

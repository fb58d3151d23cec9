package cli

// This file makes the manual page, in roff, from the command's own grammar.

import (
	"fmt"
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

// manual returns the manual page, in the format of man(7).
func manual(m *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(m.Name), m.Name, roff(m.Help))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n.SH OPTIONS\n", m.Name, roff("COMMAND [ARGUMENTS] [FLAGS]"))
	manFlags(&b, m.Node)
	b.WriteString(".SH COMMANDS\n")
	for _, c := range m.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(c.Summary()), roff(c.Help))
		for _, p := range c.Positional {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		manFlags(&b, c)
	}
	return b.String()
}

// manFlags lists the flags of a command.
func manFlags(b *strings.Builder, n *kong.Node) {
	for _, f := range n.Flags {
		if !f.Hidden {
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(f.String()), roff(f.Help))
		}
	}
}

// roff escapes a text for roff: backslashes, dashes, and lines with a dot or quote at the beginning.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

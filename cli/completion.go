package cli

// This file completes command lines for bash, zsh and fish, by the command's own grammar.

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints the code by which a shell completes command lines.
type completionCmd struct {
	Shell   string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
	Code    bool   `short:"c" help:"Print the code for the shell, not how to use it."`
	Program string `placeholder:"PROGRAM" help:"The program that the shell runs for completions (default: this one, with its path)."`
}

// completionCode maps each shell to the code that sets up completion in it; %[1]s is the command's name, %[2]s its quoted path. A
// shell runs the command with the line in COMP_LINE, and reads the possible next words, a word in each line.
var completionCode = map[string]string{
	"bash": "complete -C %[2]s %[1]s\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -C %[2]s %[1]s\n",
	"fish": "function __complete_%[1]s\n    set -lx COMP_LINE (commandline -cp)\n    test -z (commandline -ct)\n    and set COMP_LINE \"$COMP_LINE \"\n    %[2]s\nend\ncomplete -f -c %[1]s -a \"(__complete_%[1]s)\"\n",
}

// completionUse maps each shell to the instructions for installing the code.
var completionUse = map[string]string{
	"bash": "To complete command lines in bash, add this line to ~/.bashrc:\n\n    source <(%[1]s completion -c bash)\n",
	"zsh":  "To complete command lines in zsh, add this line to ~/.zshrc:\n\n    source <(%[1]s completion -c zsh)\n",
	"fish": "To complete command lines in fish, add this line to ~/.config/fish/config.fish:\n\n    %[1]s completion -c fish | source\n",
}

func (c *completionCmd) Run(a *app, k *kong.Kong) error {
	text := completionUse[c.Shell]
	if c.Code {
		text = completionCode[c.Shell]
	}
	program := c.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			program = k.Model.Name
		}
	}
	_, err := fmt.Fprintf(dataOf(a.stdout), text, k.Model.Name, "'"+strings.ReplaceAll(program, "'", `'\''`)+"'")
	return err
}

// predictor returns the possible words with a given beginning.
type predictor func(prefix string) []string

// completing reports whether a shell asks for completions, and returns the line up to the cursor.
func completing() (line string, ok bool) {
	line, ok = os.LookupEnv("COMP_LINE")
	if n, err := strconv.Atoi(os.Getenv("COMP_POINT")); err == nil && n >= 0 && n < len(line) {
		line = line[:n]
	}
	return line, ok
}

// complete returns the completions of the last word of a line.
func complete(root *kong.Node, line string, predictors map[string]predictor) []string {
	words := strings.Fields(line)
	last := ""
	if len(words) > 0 && !strings.HasSuffix(line, " ") {
		words, last = words[:len(words)-1], words[len(words)-1]
	}
	node, arguments := root, 0 // the command, and the number of its arguments so far
	var open *kong.Flag        // flag whose value is the next word
	for i, word := range words {
		switch {
		case i == 0: // the program
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-"):
			open = flagWanting(node, word)
		default:
			if child := childOf(node, word); child != nil && arguments == 0 {
				node = child
			} else {
				arguments++
			}
		}
	}
	var list []string
	switch {
	case open != nil:
		list = predict(open.Value, last, predictors)
	case strings.HasPrefix(last, "-"):
		for _, f := range flagsOf(node) {
			list = append(list, "--"+f.Name)
			if f.Short != 0 {
				list = append(list, "-"+string(f.Short))
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				list = append(list, child.Name)
			}
		}
		if n := len(node.Positional); n > 0 && (arguments < n || node.Positional[n-1].IsCumulative()) {
			list = append(list, predict(node.Positional[min(arguments, n-1)], last, predictors)...)
		}
	}
	list = slices.DeleteFunc(list, func(s string) bool { return !strings.HasPrefix(s, last) })
	slices.Sort(list)
	return slices.Compact(list)
}

// predict returns the completions of a value.
func predict(v *kong.Value, prefix string, predictors map[string]predictor) []string {
	if p := predictors[v.Tag.Get("predictor")]; p != nil {
		return p(prefix)
	}
	if v.Enum != "" {
		return strings.Split(v.Enum, ",")
	}
	return files("*")(prefix)
}

// files returns a predictor of directories, and of files with names that match a pattern.
func files(pattern string) predictor {
	return func(prefix string) (list []string) {
		dir, base := filepath.Split(prefix)
		entries, err := fs.ReadDir(os.DirFS(filepath.Join(".", dir)), ".")
		if filepath.IsAbs(dir) {
			entries, err = os.ReadDir(dir)
		}
		if err != nil {
			return nil
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".") {
				continue
			}
			st, err := os.Stat(filepath.Join(dir, e.Name()))
			match, _ := filepath.Match(pattern, e.Name())
			switch {
			case err != nil:
			case st.IsDir():
				list = append(list, dir+e.Name()+"/")
			case match:
				list = append(list, dir+e.Name())
			}
		}
		return list
	}
}

// words returns a predictor of fixed words.
func words(list ...string) predictor { return func(string) []string { return list } }

func childOf(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// flagsOf returns the flags of a command.
func flagsOf(n *kong.Node) (list []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

// flagWanting returns the flag that a word names if the flag takes its value from the next word; nil if it takes none, or if the
// word is --flag=value.
func flagWanting(n *kong.Node, word string) *kong.Flag {
	for _, f := range flagsOf(n) {
		if (word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short)) && !f.IsBool() && !f.IsCounter() {
			return f
		}
	}
	return nil
}

package debug

// This file has the console of a session, with the commands of cuda-gdb that apply to a launch.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gemu/internal/input"
)

// Console executes commands on a session and writes their output.
type Console struct {
	*Session
	More bool // more launches may follow: a breakpoint may be for a later launch
	out  io.Writer

	last   string         // last command, which an empty line repeats; "": an empty line does nothing
	listed line           // the last line shown
	stop   *Stop          // the last stop shown
	files  *input.Sources // source files of the PTX
	values int            // number of printed values
}

// NewConsole makes a console that writes to out.
func NewConsole(s *Session, out io.Writer) *Console {
	return &Console{Session: s, out: out, files: s.Sources()}
}

// ErrQuit is the error of Do when the user quits.
var ErrQuit = errors.New("quit")

// command is a command of the console.
type command struct {
	names   []string // full name first, then short names
	args    string   // arguments, for help; "": none
	doc     string   // effect, for help
	repeats bool     // an empty line repeats the command
	do      func(c *Console, ctx context.Context, args string) error
}

var commands []command

func init() {
	commands = []command{
		{[]string{"break", "b", "br"}, "[PLACE] [if COND]", "stop before PLACE: LINE, FILE:LINE, a kernel, function or label, opcode:TEXT", false, (*Console).cmdBreak},
		{[]string{"tbreak", "tb"}, "[PLACE] [if COND]", "like break, but stop only once", false, (*Console).cmdTbreak},
		{[]string{"watch"}, "MEMORY", "stop when MEMORY changes: out[5].f32, [%rd4].u32, shared[16].u32, a variable", false, watchCommand(WatchChanges)},
		{[]string{"rwatch"}, "MEMORY", "stop when MEMORY is read", false, watchCommand(WatchReads)},
		{[]string{"awatch"}, "MEMORY", "stop when MEMORY is read or written", false, watchCommand(WatchAccesses)},
		{[]string{"delete", "d"}, "[N …]", "delete breakpoints and watchpoints N …, or all", false, (*Console).cmdDelete},
		{[]string{"disable"}, "[N …]", "disable breakpoints", false, enableCommand(true)},
		{[]string{"enable"}, "[N …]", "enable disabled breakpoints", false, enableCommand(false)},
		{[]string{"condition"}, "N [COND]", "change the condition of a breakpoint", false, (*Console).cmdCondition},
		{[]string{"run", "r"}, "", "start the launch, or restart it", false, (*Console).cmdRun},
		{[]string{"start"}, "", "start the launch, and stop before its first instruction", false, (*Console).cmdStart},
		{[]string{"continue", "c", "cont"}, "", "continue until a breakpoint or the end", true, (*Console).cmdContinue},
		{[]string{"stepi", "si"}, "[N]", "run to the next instruction of the thread in focus", true, stepCommand((*Session).StepInstr, false)},
		{[]string{"nexti", "ni"}, "[N]", "like stepi, but over calls", true, stepCommand((*Session).StepInstr, true)},
		{[]string{"step", "s"}, "[N]", "run to the next line of the thread: a source line, if the PTX names it", true, stepCommand((*Session).StepLine, false)},
		{[]string{"next", "n"}, "[N]", "like step, but over calls", true, stepCommand((*Session).StepLine, true)},
		{[]string{"stepw", "sw"}, "[N]", "run to the next instruction of the warp in focus, whichever lanes execute it", true, stepWarpCommand((*Session).StepWarp)},
		{[]string{"finish", "fin"}, "", "run until the thread returns from its function", true, (*Console).cmdFinish},
		{[]string{"until", "u"}, "reconverge|PLACE", "run until the lanes of the warp reconverge, or the thread reaches PLACE", false, (*Console).cmdUntil},
		{[]string{"reverse-stepi", "rsi"}, "[N]", "go back to the previous instruction of the thread", true, stepCommand((*Session).BackInstr, false)},
		{[]string{"reverse-nexti", "rni"}, "[N]", "like reverse-stepi, but over calls", true, stepCommand((*Session).BackInstr, true)},
		{[]string{"reverse-step", "rs"}, "[N]", "go back to the beginning of the line, or of the previous line", true, stepCommand((*Session).BackLine, false)},
		{[]string{"reverse-next", "rn"}, "[N]", "like reverse-step, but over calls", true, stepCommand((*Session).BackLine, true)},
		{[]string{"reverse-stepw", "rsw"}, "[N]", "go back to the previous instruction of the warp in focus", true, stepWarpCommand((*Session).BackWarp)},
		{[]string{"reverse-continue", "rc"}, "", "go back to the last hit of a breakpoint or watchpoint, or to the beginning", true, (*Console).cmdBack},
		{[]string{"cuda"}, "[block B] [thread T] | warp W [lane L] | lane L", "set the thread in focus, or print it", false, (*Console).cmdCuda},
		{[]string{"info", "i"}, "WHAT", "print breakpoints, cuda kernels|blocks|warps|lanes|stack|threads, registers [NAME …], locals, shared, checkpoints", false, (*Console).cmdInfo},
		{[]string{"print", "p", "inspect"}, "EXPR | REG[A..B]", "print a value of the thread in focus, or a register in lanes A to B", false, (*Console).cmdPrint},
		{[]string{"x"}, "/NFU MEMORY|ADDRESS", "show memory: N times, format F of x d u f, unit U of b h w g", false, (*Console).cmdExamine},
		{[]string{"backtrace", "bt", "where"}, "", "print the calls of the thread in focus", false, (*Console).cmdBacktrace},
		{[]string{"list", "l"}, "[LINE|FILE:LINE]", "print lines of the program", true, (*Console).cmdList},
		{[]string{"why"}, "", "print the reason why the thread waits", false, (*Console).cmdWhy},
		{[]string{"help", "h"}, "", "print this list", false, (*Console).cmdHelp},
		{[]string{"quit", "q", "exit"}, "", "leave the debugger", false, func(*Console, context.Context, string) error { return ErrQuit }},
	}
}

// Commands returns the names of all commands, for completion.
func Commands() (list []string) {
	for i := range commands {
		list = append(list, commands[i].names[0])
	}
	return list
}

// lookup finds a command by its name, a short name, or a unique prefix of a name.
func lookup(word string) (*command, error) {
	var found []*command
	for i := range commands {
		if slices.Contains(commands[i].names, word) {
			return &commands[i], nil
		}
		if strings.HasPrefix(commands[i].names[0], word) {
			found = append(found, &commands[i])
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("undefined command: %q. Try \"help\"", word)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.names[0])
	}
	return nil, fmt.Errorf("ambiguous command %q: %s", word, strings.Join(names, ", "))
}

// Do executes a command; an empty line repeats the last command if it can be repeated. The error is ErrQuit, the error of the
// context, or the fault in the command.
func (c *Console) Do(ctx context.Context, text string) error {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") {
		return nil
	}
	if text == "" {
		if text = c.last; text == "" {
			return nil
		}
	}
	word, args := text, ""
	if i := strings.IndexAny(text, " \t/"); i > 0 {
		word, args = text[:i], strings.TrimSpace(text[i:])
	}
	cmd, err := lookup(word)
	if err != nil {
		return err
	}
	if cmd.args == "" && args != "" {
		return fmt.Errorf("%s takes no arguments: %q", cmd.names[0], args)
	}
	if c.last = ""; cmd.repeats {
		c.last = text
	}
	return cmd.do(c, ctx, args)
}

func (c *Console) printf(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }

// Explain returns the text of an error for the console; an error in a condition includes its place.
func Explain(err error) string {
	var condErr *ConditionError
	if errors.As(err, &condErr) {
		return fmt.Sprintf("%s\n%s", condErr.Msg, condErr.Snippet())
	}
	return err.Error()
}

func (c *Console) cmdHelp(context.Context, string) error {
	for i := range commands {
		cmd := &commands[i]
		names := strings.Join(cmd.names, ", ")
		if cmd.args != "" {
			names += " " + cmd.args
		}
		c.printf("%s\n    %s\n", names, cmd.doc)
	}
	return nil
}

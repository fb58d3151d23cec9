package debug

// This file is the session in words: those of cuda-gdb, as far as they are for one launch.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/input"
	"gemu/interp"
	"gemu/ptx"
)

// Console executes commands on a session, and writes what they say.
type Console struct {
	*Session
	More bool // launches may follow: breakpoints may be for them
	out  io.Writer

	last   string // command, which an empty line repeats
	listed line   // the last line shown
	stop   *Stop  // the last that was shown
	files  *input.Sources
	values int // printed
}

// NewConsole makes one that writes to out.
func NewConsole(s *Session, out io.Writer) *Console {
	return &Console{Session: s, out: out, files: s.Sources()}
}

// ErrQuit is what Do gives when the user wants to leave.
var ErrQuit = errors.New("quit")

// command is a word, and what it does.
type command struct {
	names   []string // the first is the whole word, others short forms
	args    string
	doc     string
	repeats bool // by an empty line
	do      func(c *Console, ctx context.Context, args string) error
}

var commands []command

func init() {
	commands = []command{
		{[]string{"break", "b", "br"}, "[PLACE] [if COND]", "stop before PLACE: LINE, FILE:LINE, a kernel, function or label, opcode:TEXT", false, (*Console).cmdBreak},
		{[]string{"tbreak", "tb"}, "[PLACE] [if COND]", "… once", false, (*Console).cmdTbreak},
		{[]string{"watch"}, "MEMORY", "stop when it changes: out[5].f32, [%rd4].u32, shared[16].u32, a variable", false, watchCommand(Changes)},
		{[]string{"rwatch"}, "MEMORY", "… when it is read", false, watchCommand(ReadsIt)},
		{[]string{"awatch"}, "MEMORY", "… when it is read or written", false, watchCommand(Touches)},
		{[]string{"delete", "d"}, "[N …]", "delete breakpoints and watches, or all", false, (*Console).cmdDelete},
		{[]string{"disable"}, "[N …]", "have breakpoints not stop", false, enableCommand(true)},
		{[]string{"enable"}, "[N …]", "have them stop again", false, enableCommand(false)},
		{[]string{"condition"}, "N [COND]", "change the condition of a breakpoint", false, (*Console).cmdCondition},
		{[]string{"run", "r"}, "", "begin the launch, or begin it again", false, (*Console).cmdRun},
		{[]string{"start"}, "", "go to its first instruction", false, (*Console).cmdStart},
		{[]string{"continue", "c", "cont"}, "", "go on", true, (*Console).cmdContinue},
		{[]string{"stepi", "si"}, "[N]", "go to the next instruction of the thread in focus", true, stepCommand((*Session).StepInstr, false)},
		{[]string{"nexti", "ni"}, "[N]", "… over calls", true, stepCommand((*Session).StepInstr, true)},
		{[]string{"step", "s"}, "[N]", "go to its next line: of the source, if the PTX says which that is", true, stepCommand((*Session).StepLine, false)},
		{[]string{"next", "n"}, "[N]", "… over calls", true, stepCommand((*Session).StepLine, true)},
		{[]string{"finish", "fin"}, "", "go on until it is back from its function", true, (*Console).cmdFinish},
		{[]string{"until", "u"}, "reconverge|PLACE", "run until its lanes reconverge, or it reaches PLACE", false, (*Console).cmdUntil},
		{[]string{"reverse-stepi", "rsi"}, "[N]", "go back to the instruction before", true, stepCommand((*Session).BackInstr, false)},
		{[]string{"reverse-nexti", "rni"}, "[N]", "… over calls", true, stepCommand((*Session).BackInstr, true)},
		{[]string{"reverse-step", "rs"}, "[N]", "go back to the begin of the line, or of the line before", true, stepCommand((*Session).BackLine, false)},
		{[]string{"reverse-next", "rn"}, "[N]", "… over calls", true, stepCommand((*Session).BackLine, true)},
		{[]string{"reverse-continue", "rc"}, "", "go back to where something was hit last, or to the begin", true, (*Console).cmdBack},
		{[]string{"cuda"}, "[block B] [thread T] | warp W [lane L] | lane L", "look at another thread, or say which is looked at", false, (*Console).cmdCuda},
		{[]string{"info", "i"}, "WHAT", "breakpoints, cuda kernels|blocks|warps|lanes|threads, registers [NAME …], locals, shared, checkpoints", false, (*Console).cmdInfo},
		{[]string{"print", "p", "inspect"}, "EXPR | REG[A..B]", "print what the thread has, or lanes of a register", false, (*Console).cmdPrint},
		{[]string{"x"}, "/NFU MEMORY|ADDRESS", "show memory: N times, format F of x d u f, unit U of b h w g", false, (*Console).cmdExamine},
		{[]string{"backtrace", "bt", "where"}, "", "the calls that the thread is in", false, (*Console).cmdBacktrace},
		{[]string{"list", "l"}, "[LINE|FILE:LINE]", "show lines", true, (*Console).cmdList},
		{[]string{"why"}, "", "say what the thread waits for", false, (*Console).cmdWhy},
		{[]string{"help", "h"}, "", "this list", false, (*Console).cmdHelp},
		{[]string{"quit", "q", "exit"}, "", "leave", false, func(*Console, context.Context, string) error { return ErrQuit }},
	}
}

// Commands are the words that there are, for completion.
func Commands() (list []string) {
	for i := range commands {
		list = append(list, commands[i].names[0])
	}
	return list
}

// lookup finds a command by its name, a short form, or the begin of one name alone.
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

// Do executes a command; an empty one repeats the last, if that is worth it. The error is ErrQuit, or that of
// the context, or says what is wrong with the command.
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

// Explain is an error as a console shows it: one of a condition with its place.
func Explain(err error) string {
	var condErr *ConditionError
	if errors.As(err, &condErr) {
		return fmt.Sprintf("%s\n%s", condErr.Msg, condErr.Snippet())
	}
	return err.Error()
}

// cutIf splits "PLACE if COND".
func cutIf(args string) (place, cond string) {
	if rest, ok := strings.CutPrefix(args, "if "); ok {
		return "", strings.TrimSpace(rest)
	}
	place, cond, _ = strings.Cut(args, " if ")
	return strings.TrimSpace(place), strings.TrimSpace(cond)
}

func (c *Console) cmdBreak(_ context.Context, args string) error { return c.breakAt(args, false) }

func (c *Console) cmdTbreak(_ context.Context, args string) error { return c.breakAt(args, true) }

func (c *Console) breakAt(args string, once bool) error {
	place, cond := cutIf(args)
	set := c.Break
	if c.More {
		set = c.BreakLater
	}
	b, err := set(place, cond)
	if err != nil {
		return err
	}
	b.Temporary = once
	kind := "Breakpoint"
	if once {
		kind = "Temporary breakpoint"
	}
	if b.err != nil {
		c.printf("%v.\n%s %d (%s) pending on later launches.\n", b.err, kind, b.Number, b.Spec)
		return nil
	}
	c.printf("%s %d at %s\n", kind, b.Number, c.linesOf(b))
	return nil
}

// linesOf says where a breakpoint is.
func (c *Console) linesOf(b *Breakpoint) string {
	if b.err != nil {
		return "<PENDING>  " + b.Spec
	}
	lines := b.Lines(c.Session)
	name := c.info.Module.Name
	if len(lines) == 1 {
		text := fmt.Sprintf("%s:%d", name, lines[0])
		if origin := c.originOf(b); origin != "" {
			text += ", from " + origin
		}
		return text
	}
	if len(lines) > 8 {
		return fmt.Sprintf("%d lines of %s", len(lines), name)
	}
	return fmt.Sprintf("%s: lines %s", name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lines)), ", "), "[]"))
}

// originOf is where the one instruction of a breakpoint comes from.
func (c *Console) originOf(b *Breakpoint) string {
	for i := range b.places {
		instr, f := c.info.Program.At(i)
		return f.Origin(instr)
	}
	return ""
}

func watchCommand(a Access) func(*Console, context.Context, string) error {
	return func(c *Console, _ context.Context, args string) error {
		if args == "" {
			return errors.New("argument required (memory to watch)")
		}
		w, err := c.Watch(args, a)
		if err != nil {
			return err
		}
		c.printf("%s %d: %s\n", a, w.Number, w.Text)
		return nil
	}
}

// numbers reads those of breakpoints.
func numbers(args string) (list []int, err error) {
	for _, f := range strings.Fields(args) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("bad breakpoint number %q", f)
		}
		list = append(list, n)
	}
	return list, nil
}

func (c *Console) cmdDelete(_ context.Context, args string) error {
	list, err := numbers(args)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		c.breakpoints, c.watches = nil, nil
	}
	for _, n := range list {
		if !c.Delete(n) {
			return noBreakpoint(n)
		}
	}
	return nil
}

func noBreakpoint(n int) error { return fmt.Errorf("no breakpoint number %d", n) }

func enableCommand(disabled bool) func(*Console, context.Context, string) error {
	return func(c *Console, _ context.Context, args string) error {
		list, err := numbers(args)
		if err != nil {
			return err
		}
		for _, n := range list {
			if c.numbered(n) == nil {
				return noBreakpoint(n)
			}
		}
		for _, b := range c.breakpoints {
			if len(list) == 0 || slices.Contains(list, b.Number) {
				b.Disabled = disabled
			}
		}
		return nil
	}
}

// numbered is the breakpoint of a number, nil if there is none.
func (c *Console) numbered(n int) *Breakpoint {
	if i := slices.IndexFunc(c.breakpoints, func(b *Breakpoint) bool { return b.Number == n }); i >= 0 {
		return c.breakpoints[i]
	}
	return nil
}

func (c *Console) cmdCondition(_ context.Context, args string) error {
	number, cond, _ := strings.Cut(args, " ")
	list, err := numbers(number)
	if err != nil || len(list) != 1 {
		return errors.New("argument required (breakpoint number)")
	}
	b := c.numbered(list[0])
	if b == nil {
		return noBreakpoint(list[0])
	}
	if err := b.SetCondition(c.Session, strings.TrimSpace(cond)); err != nil {
		return err
	}
	if b.Condition == nil {
		c.printf("Breakpoint %d now unconditional.\n", b.Number)
	}
	return nil
}

func (c *Console) cmdRun(ctx context.Context, _ string) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.arrive(c.Session.Run(ctx))
}

// start goes to the launch's begin.
func (c *Console) start(ctx context.Context) error {
	if c.Step() == 0 && !c.ended {
		return nil
	}
	return c.Restart(ctx)
}

func (c *Console) cmdStart(ctx context.Context, _ string) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	c.printFocus("")
	return nil
}

func (c *Console) cmdContinue(ctx context.Context, _ string) error { return c.arrive(c.Continue(ctx)) }

func (c *Console) cmdBack(ctx context.Context, _ string) error { return c.arrive(c.BackContinue(ctx)) }

func (c *Console) cmdFinish(ctx context.Context, _ string) error { return c.arrive(c.Finish(ctx)) }

// arrive shows where a step has come to.
func (c *Console) arrive(stop *Stop, err error) error {
	if err == nil {
		c.Show(stop)
	}
	return err
}

func stepCommand(do func(*Session, context.Context, bool) (*Stop, error), over bool) func(*Console, context.Context, string) error {
	return func(c *Console, ctx context.Context, args string) error {
		n := 1
		if args != "" {
			var err error
			if n, err = strconv.Atoi(args); err != nil || n < 1 {
				return fmt.Errorf("%q: want a number of steps", args)
			}
		}
		for {
			stop, err := do(c.Session, ctx, over)
			if err != nil {
				return err
			}
			if n--; n == 0 || stop.Reason != AtStep {
				c.Show(stop)
				return nil
			}
		}
	}
}

func (c *Console) cmdUntil(ctx context.Context, args string) error {
	if args == "reconverge" || args == "join" { // join is the former word
		return c.arrive(c.UntilReconverge(ctx))
	}
	if args == "" {
		return errors.New("until what? reconverge, or a place")
	}
	list, err := c.find(args)
	if err != nil {
		return err
	}
	places := map[int]bool{}
	for _, i := range list {
		places[i] = true
	}
	return c.arrive(c.Until(ctx, places))
}

// Greet says what launch it is.
func (c *Console) Greet() {
	c.printf("kernel %s of %s, grid %s, block %s: it has not begun\n", c.info.Kernel.Name, c.info.Module.Name, c.info.Grid, c.info.Block)
}

// Stopped is the last stop that was shown since it was asked for last; nil if there was none.
func (c *Console) Stopped() *Stop {
	stop := c.stop
	c.stop = nil
	return stop
}

// Show says where the session has stopped, and why.
func (c *Console) Show(stop *Stop) {
	c.stop = stop
	switch stop.Reason {
	case AtBreakpoint:
		var names []string
		for _, b := range stop.Breakpoints {
			names = append(names, fmt.Sprint(b.Number))
		}
		c.printFocus("Breakpoint " + strings.Join(names, ", ") + ", ")
		if stop.Note != "" {
			c.printf("%s\n", stop.Note)
		}
	case AtWatch:
		ch := stop.Change
		w := ch.Watch
		c.printf("%s %d: %s\n%s\n", w.Access, w.Number, w.Text, ch.Text())
		c.printf("by lanes %s at line %d: %s\n", LanesText(ch.Lanes), ch.Instr.Pos.Line, strings.TrimSpace(c.info.Module.Line(int(ch.Instr.Pos.Line))))
		c.printFocus("")
	case AtTrap:
		c.printf("%s\n", strings.TrimRight(stop.Trap().Report(), "\n"))
		c.printFocus("Trap in ")
	case AtEnd:
		if stop.Err != nil {
			c.printf("The launch has failed: %v\n", stop.Err)
			return
		}
		c.printf("The launch has ended, after %d instructions.\n", c.Step())
	case AtBegin:
		c.printf("No more reverse-execution history.\n")
		c.printFocus("")
	case AtExit:
		c.printf("The thread has ended.\n")
		c.printFocus("")
	case AtInterrupt:
		c.printf("Interrupted.\n")
		c.printFocus("")
	default:
		c.printFocus("")
	}
}

// word is the first eight bytes, or fewer, as a number.
func word(p []byte) (v uint64) {
	for i := min(len(p), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v
}

// formatBytes is what bytes are as a type.
func formatBytes(t ptx.Type, p []byte) string {
	if len(p) > 8 {
		return formatWide(word(p), word(p[8:]))
	}
	return valueOf(t, word(p)).String()
}

// printFocus shows the thread in focus, and its line.
func (c *Console) printFocus(reason string) {
	k, err := c.Context()
	if err != nil {
		c.printf("%v\n", err)
		return
	}
	c.printf("%skernel %s, block %s, thread %s, warp %d lane %d; lanes %s\n", reason, c.info.Kernel.Name, k.ID, c.Thread(c.focus), k.Warp, c.focus.Lane, LanesText(k.Lanes))
	c.showLine(k)
}

func (c *Console) showLine(k *Context) {
	if k.Instr == nil {
		c.printf("at the end of %s\n", k.Func.Name)
		return
	}
	c.listed = line{}
	if l := lineOf(k.Func, k.Instr); l.file > 0 {
		name := c.info.Module.FileName(l.file - 1)
		if text, ok := c.source(name, int(l.line)); ok {
			c.printf("%s:%d\t%s\n", name, l.line, strings.TrimSpace(text))
		}
	}
	mark := ""
	if k.WaitingToReconverge || k.Wait != nil {
		mark = "   (" + strings.SplitN(c.describeContext(k), " ", 2)[0] + "s: see why)"
	}
	c.printf("%d\t%s%s\n", k.Instr.Pos.Line, strings.TrimSpace(c.info.Module.Line(int(k.Instr.Pos.Line))), mark)
}

// source is a line of a file that PTX was made of; false if it cannot be read.
func (c *Console) source(name string, n int) (string, bool) {
	lines := c.files.Lines(name)
	if n < 1 || n > len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[n-1], "\r"), true
}

func (c *Console) cmdWhy(context.Context, string) error {
	text, err := c.BlockedReason()
	if err == nil {
		c.printf("%s\n", text)
	}
	return err
}

func (c *Console) cmdBacktrace(context.Context, string) error {
	k, err := c.Context()
	if err != nil {
		return err
	}
	for i, f := range c.Frames(k) {
		pos := f.Func.End
		if f.Instr != nil {
			pos = f.Instr.Pos
		}
		text := ""
		if f.Instr != nil {
			if origin := f.Func.Origin(f.Instr); origin != "" {
				text = ", from " + origin
			}
		}
		c.printf("#%d  %s () at %s:%d%s\n", i, f.Func.Name, c.info.Module.Name, pos.Line, text)
	}
	return nil
}

func (c *Console) cmdHelp(context.Context, string) error {
	for i := range commands {
		k := &commands[i]
		names := strings.Join(k.names, ", ")
		if k.args != "" {
			names += " " + k.args
		}
		c.printf("%s\n    %s\n", names, k.doc)
	}
	return nil
}

// cmdList shows lines around where the thread is, or around others.
func (c *Console) cmdList(_ context.Context, args string) error {
	const before, count = 5, 10
	at := c.listed
	switch {
	case args != "":
		file, number := "", args
		if i := strings.LastIndexByte(args, ':'); i >= 0 {
			file, number = args[:i], args[i+1:]
		}
		n, err := strconv.Atoi(number)
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && (n < 1 || n > math.MaxInt32-count):
			return fmt.Errorf("there is no line %s", number)
		case err != nil:
			list, err := c.find(args)
			if err != nil {
				return err
			}
			instr, _ := c.info.Program.At(list[0])
			n = int(instr.Pos.Line)
		}
		at = line{0, int32(max(n-before, 1))}
		if file != "" && !SameFile(file, c.info.Module.Name) {
			if at.file = c.fileNamed(file); at.file == 0 {
				return fmt.Errorf("the PTX names no file %s", file)
			}
		}
	case at == line{}:
		k, err := c.Context()
		if err != nil {
			at = line{0, max(c.info.Kernel.Pos.Line-before, 1)}
		} else if k.Instr != nil {
			at = line{0, max(k.Instr.Pos.Line-before, 1)}
		}
	}
	current := 0
	if k, err := c.Context(); err == nil && k.Instr != nil && at.file == 0 {
		current = int(k.Instr.Pos.Line)
	}
	if at.file != 0 {
		name := c.info.Module.FileName(at.file - 1)
		if err := c.files.Err(name); err != nil {
			return fmt.Errorf("%s is not read: %w", name, err)
		}
	}
	shown := 0
	lines := strings.Count(c.info.Module.Source(), "\n") + 1
	for n := int(at.line); n < int(at.line)+count; n++ {
		text, ok := "", n <= lines
		if at.file == 0 {
			text = c.info.Module.Line(n)
		} else {
			text, ok = c.source(c.info.Module.FileName(at.file-1), n)
		}
		if !ok {
			break
		}
		mark := "  "
		if n == current {
			mark = "=>"
		}
		c.printf("%s %d\t%s\n", mark, n, text)
		shown++
	}
	if shown == 0 {
		return errors.New("there are no more lines")
	}
	c.listed = line{at.file, at.line + count}
	return nil
}

// fileNamed is the number, plus one, of a file that the module names; 0 if it names none such.
func (c *Console) fileNamed(name string) int32 {
	p := c.info.Program
	for i := range p.Len() {
		if instr, f := p.At(i); instr.Loc >= 0 {
			if n := f.Locs[instr.Loc].File; SameFile(name, c.info.Module.FileName(n)) {
				return n + 1
			}
		}
	}
	return 0
}

// cmdCuda changes the focus.
func (c *Console) cmdCuda(_ context.Context, args string) error {
	if _, err := c.Context(); err != nil {
		return err
	}
	f := c.focus
	cta, thread := indexAt(f.CTA, c.info.Grid), c.Thread(f)
	words := cudaWords(args)
	changed := false
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !slices.Contains([]string{"block", "thread", "warp", "lane"}, word) {
			return fmt.Errorf("cuda %s: there are block, thread, warp and lane", word)
		}
		if i+1 == len(words) || words[i+1] != "" && words[i+1][0] >= 'a' && words[i+1][0] <= 'z' { // it is asked for
			continue
		}
		d, err := parseIndex(words[i+1])
		if err != nil {
			return err
		}
		i++
		changed = true
		switch word {
		case "block":
			cta = d
		case "thread":
			thread = d
		case "warp":
			if warps := (c.info.Block.Count() + c.info.WarpSize - 1) / c.info.WarpSize; d.X >= warps {
				return fmt.Errorf("there are warps 0 to %d", warps-1)
			}
			f.Warp, f.Lane = d.X, 0
			thread = c.Thread(f)
		case "lane":
			if d.X >= c.info.WarpSize {
				return fmt.Errorf("there are lanes 0 to %d", c.info.WarpSize-1)
			}
			f.Lane = d.X
			n := linear(thread, c.info.Block)
			thread = indexAt(n-n%c.info.WarpSize+d.X, c.info.Block)
		}
	}
	if !changed {
		k, _ := c.Context()
		c.printf("kernel %s, block %s, thread %s, warp %d, lane %d\n", c.info.Kernel.Name, k.ID, c.Thread(f), f.Warp, f.Lane)
		return nil
	}
	to, ok := c.FocusOn(cta, thread)
	if !ok {
		return fmt.Errorf("block %s thread %s: the grid is %s, a block %s", cta, thread, c.info.Grid, c.info.Block)
	}
	if err := c.SetFocus(to); err != nil {
		return err
	}
	c.printFocus("[Switching focus] ")
	return nil
}

// cudaWords splits "block (1,0,0) thread 5".
func cudaWords(args string) []string {
	args = strings.NewReplacer("(", " (", ")", ") ", ", ", ",").Replace(args)
	return strings.Fields(args)
}

// parseIndex reads N, (X,Y) or (X,Y,Z).
func parseIndex(s string) (interp.Dim3, error) {
	var n [3]int
	parts := strings.Split(strings.Trim(s, "()"), ",")
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || i >= 3 || v < 0 {
			return interp.Dim3{}, fmt.Errorf("%s: want N or (X,Y,Z)", s)
		}
		n[i] = v
	}
	return interp.Dim3{X: n[0], Y: n[1], Z: n[2]}, nil
}

// cmdPrint prints an expression, or lanes of a register.
func (c *Console) cmdPrint(_ context.Context, args string) error {
	hex := false
	if rest, ok := strings.CutPrefix(args, "/x"); ok {
		hex, args = true, strings.TrimSpace(rest)
	}
	if args == "" {
		return errors.New("print what?")
	}
	if name, from, to, ok := laneRange(args); ok {
		r, ok := c.Register(name)
		if !ok {
			return fmt.Errorf("no register %s", name)
		}
		if from > to || to >= c.info.WarpSize {
			return fmt.Errorf("%s: there are lanes 0 to %d", args, c.info.WarpSize-1)
		}
		lanes := ^uint64(0) >> (63 - to) &^ (1<<from - 1)
		c.values++
		c.printf("$%d = {%s}\n", c.values, r.Lanes(lanes))
		return nil
	}
	if r, ok := c.Register(args); ok {
		k, err := c.Context()
		if err != nil {
			return err
		}
		if !r.Live {
			return fmt.Errorf("register %s is not live here", r.Name)
		}
		v := r.Value(c.focus.Lane)
		if hex {
			v = formatWide(r.Row[c.focus.Lane], r.high(c.focus.Lane))
		}
		c.values++
		c.printf("$%d = %s   (%s of lanes %s: %s)\n", c.values, v, r.Type, LanesText(k.Lanes), r.Text(k.Lanes))
		return nil
	}
	text, err := c.Evaluate(args)
	if err != nil {
		return err
	}
	if hex {
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			text = fmt.Sprintf("%#x", uint64(n))
		}
	}
	c.values++
	c.printf("$%d = %s\n", c.values, text)
	return nil
}

// laneRange splits "REG[A..B]".
func laneRange(s string) (name string, from, to int, ok bool) {
	name, rest, ok := strings.Cut(s, "[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return "", 0, 0, false
	}
	a, b, ok := strings.Cut(strings.TrimSuffix(rest, "]"), "..")
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := strconv.Atoi(strings.TrimSpace(b))
	return name, from, to, ok && err1 == nil && err2 == nil && from >= 0 && to >= 0
}

// cmdExamine shows memory.
func (c *Console) cmdExamine(_ context.Context, args string) error {
	const most = 1 << 12
	count, format, unit := 1, byte(0), 0
	if rest, ok := strings.CutPrefix(args, "/"); ok {
		spec, what, _ := strings.Cut(rest, " ")
		args = strings.TrimSpace(what)
		digits := 0
		for digits < len(spec) && spec[digits] >= '0' && spec[digits] <= '9' {
			digits++
		}
		if digits > 0 {
			n, err := strconv.Atoi(spec[:digits])
			if err != nil || n < 1 || n > most {
				return fmt.Errorf("x/%s: want a count from 1 to %d", spec, most)
			}
			count = n
		}
		for _, f := range []byte(spec[digits:]) {
			switch f {
			case 'b', 'h', 'w', 'g':
				unit = map[byte]int{'b': 1, 'h': 2, 'w': 4, 'g': 8}[f]
			case 'x', 'd', 'u', 'f':
				format = f
			default:
				return fmt.Errorf("x/%s: formats are x d u f, units b h w g", spec)
			}
		}
	}
	if args == "" {
		return errors.New("x what? an address, or memory such as out[0].f32")
	}
	cond, err := ParseCondition(args)
	if err != nil {
		return err
	}
	sc := c.focusScope()
	location, convErr := c.locate(cond)
	t := location.Type
	if convErr != nil {
		v, err := c.evaluate(cond)
		if err != nil || v.class == float {
			return convErr
		}
		location, t = sc.place(0, v.bits, ptx.B32), ptx.B32
	}
	if unit == 0 {
		if unit = max(t.Size(), 1); unit > 8 {
			unit = 8
		}
	}
	t = formatType(format, unit, t)
	data, err := sc.bytes(location, c.focus.Lane, count*unit)
	if err != nil {
		return err
	}
	space := ""
	switch {
	case location.Local:
		space = "local "
	case location.Space == ptx.Shared:
		space = "shared "
	}
	perLine := max(16/unit, 1)
	for i := 0; i < count; i += perLine {
		var cells []string
		for k := i; k < min(i+perLine, count); k++ {
			cells = append(cells, formatBytes(t, data[k*unit:][:unit]))
		}
		c.printf("%s%#x:\t%s\n", space, location.Addr+uint64(i*unit), strings.Join(cells, "\t"))
	}
	return nil
}

// formatType is the type of a format and unit of x; format 0 is that of what is there, if it fits.
func formatType(format byte, unit int, t ptx.Type) ptx.Type {
	if format == 0 && t.Size() == unit {
		return t
	}
	prefix := map[byte]string{'d': "s", 'u': "u", 'f': "f"}[format]
	if found := ptx.TypeByName(fmt.Sprintf("%s%d", prefix, 8*unit)); prefix != "" && found != ptx.NoType {
		return found
	}
	return ptx.TypeByName(fmt.Sprintf("b%d", 8*unit))
}

// cmdInfo shows lists.
func (c *Console) cmdInfo(_ context.Context, args string) error {
	what, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	if what == "cuda" {
		what, rest, _ = strings.Cut(rest, " ")
		for i := range cudaLists {
			if rest != "" {
				break
			}
			if what != "" && strings.HasPrefix(cudaLists[i].name, what) {
				return cudaLists[i].do(c)
			}
		}
		return errors.New("info cuda: kernels, blocks, warps, lanes or threads")
	}
	for i := range infoLists {
		if what != "" && strings.HasPrefix(infoLists[i].name, what) {
			if rest != "" && infoLists[i].name != "registers" {
				return fmt.Errorf("info %s takes no arguments: %q", infoLists[i].name, rest)
			}
			return infoLists[i].do(c, strings.Fields(rest))
		}
	}
	return errors.New("info: breakpoints, cuda …, registers, locals, shared or checkpoints")
}

var infoLists = []struct {
	name string
	do   func(c *Console, names []string) error
}{
	{"breakpoints", (*Console).infoBreakpoints}, {"registers", (*Console).infoRegisters}, {"locals", (*Console).infoLocals},
	{"shared", (*Console).infoShared}, {"checkpoints", (*Console).infoCheckpoints}, {"watchpoints", (*Console).infoBreakpoints},
}

var cudaLists = []struct {
	name string
	do   func(c *Console) error
}{
	{"kernels", (*Console).cudaKernels}, {"blocks", (*Console).cudaBlocks}, {"warps", (*Console).cudaWarps},
	{"lanes", (*Console).cudaLanes}, {"threads", (*Console).cudaThreads},
}

func (c *Console) infoBreakpoints([]string) error {
	if len(c.breakpoints)+len(c.watches) == 0 {
		c.printf("No breakpoints or watchpoints.\n")
		return nil
	}
	c.printf("Num  Type        Enb Hits What\n")
	for _, b := range c.breakpoints {
		enabled, disposition := "y", "breakpoint"
		if b.Disabled {
			enabled = "n"
		}
		if b.Temporary {
			disposition = "temporary"
		}
		c.printf("%-4d %-11s %-3s %-4d %s\n", b.Number, disposition, enabled, b.Hits, c.linesOf(b))
		if b.Condition != nil {
			c.printf("     stop only if %s\n", b.Condition.Text)
		}
	}
	for _, w := range c.watches {
		c.printf("%-4d %-11s y   %-4d %s\n", w.Number, [...]string{"watch", "read watch", "acc watch"}[w.Access], w.Hits, w.Text)
	}
	return nil
}

func (c *Console) infoRegisters(names []string) error {
	k, err := c.Context()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := c.Register(name); !ok {
			return fmt.Errorf("no register %s", name)
		}
	}
	for _, r := range k.Registers() {
		wanted := slices.ContainsFunc(names, func(n string) bool { return n == r.Name || "%"+n == r.Name })
		if wanted || len(names) == 0 && r.Live {
			c.printf("%-10s %-5s %s\n", r.Name, r.Type, r.Text(k.Lanes))
		}
	}
	return nil
}

func (c *Console) infoLocals([]string) error {
	k, err := c.Context()
	if err != nil {
		return err
	}
	return c.variables(k, c.Locals(k))
}

func (c *Console) infoShared([]string) error {
	k, err := c.Context()
	if err != nil {
		return err
	}
	return c.variables(k, c.Shared())
}

// variables shows the first elements of some.
func (c *Console) variables(k *Context, list []Variable) error {
	if len(list) == 0 {
		c.printf("No variables.\n")
		return nil
	}
	const most = 8
	sc := k.scope(c.Session)
	for i := range list {
		v := &list[i]
		location := sc.place(0, v.Addr, v.Type)
		at := location.Addr
		var cells []string
		for range min(v.Count, most) {
			p, err := sc.bytes(location, c.focus.Lane, location.size())
			if err != nil {
				return err
			}
			cells = append(cells, formatBytes(location.Type, p))
			location.Addr += uint64(location.size())
		}
		if v.Count > most {
			cells = append(cells, fmt.Sprintf("… of %d", v.Count))
		}
		c.printf("%s = {%s}   (%s at %#x)\n", v.Name, strings.Join(cells, ", "), v.Type, at)
	}
	return nil
}

func (c *Console) infoCheckpoints([]string) error {
	if c.noCheckpoints != nil {
		return c.noCheckpoints
	}
	c.printf("%d checkpoints, %d bytes beside the first of %d; the session is %s\n", len(c.checkpoints), c.exec.StateBytes()-c.first, c.first, c.moment())
	return nil
}

func (c *Console) cudaKernels() error {
	ended := ""
	if c.ended {
		ended = ", ended"
	}
	c.printf("%s  grid %s block %s  warps of %d  %s%s\n", c.info.Kernel.Name, c.info.Grid, c.info.Block, c.info.WarpSize, c.info.Mode, ended)
	return nil
}

func (c *Console) cudaBlocks() error {
	last := -1
	for _, k := range c.Contexts() {
		if k.CTA == last {
			continue
		}
		last = k.CTA
		c.printf("%s block %s\n", c.mark(k.CTA == c.focus.CTA), k.ID)
	}
	return nil
}

func (c *Console) mark(current bool) string {
	if current {
		return "*"
	}
	return " "
}

// cudaWarps shows the warps of the block in focus, by context.
func (c *Console) cudaWarps() error {
	if _, err := c.Context(); err != nil {
		return err
	}
	for _, k := range c.Contexts() {
		if k.CTA == c.focus.CTA {
			c.printf("%s warp %d lanes %-12s %s\n", c.mark(c.focus.isIn(&k)), k.Warp, LanesText(k.Lanes), c.describeContext(&k))
		}
	}
	return nil
}

func (c *Console) cudaLanes() error {
	if _, err := c.Context(); err != nil {
		return err
	}
	for lane := range c.info.WarpSize {
		f := Focus{c.focus.CTA, c.focus.Warp, lane}
		for _, k := range c.Contexts() {
			if f.isIn(&k) {
				c.printf("%s lane %-2d thread %s %s\n", c.mark(f == c.focus), lane, c.Thread(f), c.describeContext(&k))
			}
		}
	}
	return nil
}

// cudaThreads shows all contexts.
func (c *Console) cudaThreads() error {
	for _, k := range c.Contexts() {
		f := Focus{k.CTA, k.Warp, lowestLane(k.Lanes)}
		c.printf("%s block %s warp %d lanes %-12s first thread %s %s\n", c.mark(c.focus.isIn(&k)), k.ID, k.Warp, LanesText(k.Lanes), c.Thread(f), c.describeContext(&k))
	}
	return nil
}

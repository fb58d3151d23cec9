package debug

// This file shows stops, source lines and calls.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Greet prints a line that describes the launch, which must not have begun.
func (c *Console) Greet() {
	c.printf("kernel %s of %s, grid %s, block %s: not started\n", c.info.Kernel.Name, c.info.Module.Name, c.info.Grid, c.info.Block)
}

// Stopped returns the last stop that Show has shown since the previous call of Stopped; nil if there was none.
func (c *Console) Stopped() *Stop {
	stop := c.stop
	c.stop = nil
	return stop
}

// Show prints the reason for a stop and its place.
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
		hit := stop.WatchHit
		w := hit.Watch
		c.printf("%s %d: %s\n%s\n", w.Access, w.Number, w.Text, hit.Text())
		c.printf("by %s at line %d: %s\n", probe.LaneText(hit.Lanes), hit.Instr.Pos.Line, strings.TrimSpace(c.info.Module.Line(int(hit.Instr.Pos.Line))))
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

// word returns the little-endian number of the first eight bytes, or of all bytes if there are fewer.
func word(p []byte) (v uint64) {
	for i := min(len(p), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v
}

// formatBytes formats bytes as a value of a type.
func formatBytes(t ptx.Type, p []byte) string {
	if len(p) > 8 {
		return formatWide(word(p), word(p[8:]))
	}
	return valueOf(t, word(p)).String()
}

// printFocus prints reason, the thread in focus, and the current line of the thread.
func (c *Console) printFocus(reason string) {
	split, err := c.Context()
	if err != nil {
		c.printf("%v\n", err)
		return
	}
	c.printf("%skernel %s, block %s, thread %s, warp %d lane %d; %s\n", reason, c.info.Kernel.Name, split.ID, c.Thread(c.focus), split.Warp, c.focus.Lane, probe.LaneText(split.Lanes))
	c.showLine(split)
}

// showLine prints the current line of a context: of the source if it can be read, and of the PTX.
func (c *Console) showLine(split *Context) {
	if split.Instr == nil {
		c.printf("at the end of %s\n", split.Func.Name)
		return
	}
	c.listed = line{}
	if l := lineOf(split.Func, split.Instr); l.file > 0 {
		name := c.info.Module.FileName(l.file - 1)
		if text, ok := c.source(name, int(l.line)); ok {
			c.printf("%s:%d\t%s\n", name, l.line, strings.TrimSpace(text))
		}
	}
	mark := ""
	if split.WaitingToReconverge || split.Wait != nil {
		mark = "   (" + strings.SplitN(c.describeContext(split), " ", 2)[0] + "s: see why)"
	}
	c.printf("%d\t%s%s\n", split.Instr.Pos.Line, strings.TrimSpace(c.info.Module.Line(int(split.Instr.Pos.Line))), mark)
}

// source returns a line of a source file; false if the file cannot be read.
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
	split, err := c.Context()
	if err != nil {
		return err
	}
	for i, f := range c.Frames(split) {
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

// cmdList shows lines around the current line of the thread, or around given lines.
func (c *Console) cmdList(_ context.Context, args string) error {
	const before, count = 5, 10
	firstLine := c.listed
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
		firstLine = line{0, int32(max(n-before, 1))}
		if file != "" && !SameFile(file, c.info.Module.Name) {
			if firstLine.file = c.fileNamed(file); firstLine.file == 0 {
				return fmt.Errorf("the PTX names no file %s", file)
			}
		}
	case firstLine == line{}:
		split, err := c.Context()
		if err != nil {
			firstLine = line{0, max(c.info.Kernel.Pos.Line-before, 1)}
		} else if split.Instr != nil {
			firstLine = line{0, max(split.Instr.Pos.Line-before, 1)}
		}
	}
	current := 0
	if split, err := c.Context(); err == nil && split.Instr != nil && firstLine.file == 0 {
		current = int(split.Instr.Pos.Line)
	}
	if firstLine.file != 0 {
		name := c.info.Module.FileName(firstLine.file - 1)
		if err := c.files.Err(name); err != nil {
			return fmt.Errorf("cannot read %s: %w", name, err)
		}
	}
	shown := 0
	lines := strings.Count(c.info.Module.Source(), "\n") + 1
	for n := int(firstLine.line); n < int(firstLine.line)+count; n++ {
		text, ok := "", n <= lines
		if firstLine.file == 0 {
			text = c.info.Module.Line(n)
		} else {
			text, ok = c.source(c.info.Module.FileName(firstLine.file-1), n)
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
	c.listed = line{firstLine.file, firstLine.line + count}
	return nil
}

// fileNamed returns the file (line.file) of a source file from which instructions of the program come; 0 if there is no
// such file.
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

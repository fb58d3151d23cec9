package debug

// This file has the commands of breakpoints and watchpoints.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cutIf splits "PLACE if COND"; either part may be missing.
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

// linesOf describes the lines of a breakpoint's places.
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

// originOf returns the source line of one of the breakpoint's places; "" if it is unknown.
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

// numbers parses a list of breakpoint numbers.
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

// numbered returns the breakpoint with number n; nil if there is none.
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

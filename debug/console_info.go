package debug

// This file has the command info: breakpoints, registers, variables and checkpoints.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gemu/probe"
)

// cmdInfo prints the list that the first word of args names.
func (c *Console) cmdInfo(ctx context.Context, args string) error {
	name, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	if name == "cuda" {
		name, rest, _ = strings.Cut(rest, " ")
		for i := range cudaLists {
			if rest != "" {
				break
			}
			if name != "" && strings.HasPrefix(cudaLists[i].name, name) {
				return cudaLists[i].do(c)
			}
		}
		return errors.New("info cuda needs kernels, blocks, warps, lanes, stack, strip or threads")
	}
	for i := range infoLists {
		if name != "" && strings.HasPrefix(infoLists[i].name, name) {
			if rest != "" && infoLists[i].name != "registers" {
				return fmt.Errorf("info %s takes no arguments: %q", infoLists[i].name, rest)
			}
			return infoLists[i].do(c, ctx, strings.Fields(rest))
		}
	}
	return errors.New("info needs breakpoints, cuda …, registers, locals, shared or checkpoints")
}

var infoLists = []struct {
	name string
	do   func(c *Console, ctx context.Context, names []string) error
}{
	{"breakpoints", (*Console).infoBreakpoints}, {"registers", (*Console).infoRegisters}, {"locals", (*Console).infoLocals},
	{"shared", (*Console).infoShared}, {"checkpoints", (*Console).infoCheckpoints}, {"watchpoints", (*Console).infoBreakpoints},
}

func (c *Console) infoBreakpoints(context.Context, []string) error {
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

func (c *Console) infoRegisters(ctx context.Context, names []string) error {
	split, err := c.Context()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := c.Register(name); !ok {
			return fmt.Errorf("no register %s", name)
		}
	}
	for _, r := range split.Registers() {
		wanted := slices.ContainsFunc(names, func(n string) bool { return n == r.Name || "%"+n == r.Name })
		if wanted || len(names) == 0 && r.Live {
			text := r.Text(split.Lanes)
			if !r.Live { // named by the user
				w, err := c.LastWritten(ctx, r.Name)
				if err != nil {
					return err
				}
				if w != nil {
					text = fmt.Sprintf("%s, in %s: %s", w.Register.Text(w.Lanes), probe.LaneText(w.Lanes), w.stale())
				}
			}
			c.printf("%-10s %-5s %s\n", r.Name, r.Type, text)
		}
	}
	return nil
}

func (c *Console) infoLocals(context.Context, []string) error {
	split, err := c.Context()
	if err != nil {
		return err
	}
	return c.variables(split, c.Locals(split))
}

func (c *Console) infoShared(context.Context, []string) error {
	split, err := c.Context()
	if err != nil {
		return err
	}
	return c.variables(split, c.Shared())
}

// variables prints the first elements of each variable of a list, as the thread in focus reads them.
func (c *Console) variables(split *Context, list []Variable) error {
	if len(list) == 0 {
		c.printf("No variables.\n")
		return nil
	}
	const most = 8
	sc := split.scope(c.Session)
	for i := range list {
		v := &list[i]
		location := sc.place(0, v.Addr, v.Type)
		addr := location.Addr
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
		c.printf("%s = {%s}   (%s at %#x)\n", v.Name, strings.Join(cells, ", "), v.Type, addr)
	}
	return nil
}

func (c *Console) infoCheckpoints(context.Context, []string) error {
	if c.noCheckpoints != nil {
		return c.noCheckpoints
	}
	c.printf("%d checkpoints, %d bytes in addition to the first with %d; the session is %s\n", len(c.checkpoints), c.exec.StateBytes()-c.firstBytes, c.firstBytes, c.moment())
	return nil
}

package debug

// This file has the commands that run the launch, forward and backward.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

func (c *Console) cmdRun(ctx context.Context, _ string) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.arrive(c.Session.Run(ctx))
}

// start goes to the beginning of the launch.
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

// arrive shows the stop at which a command ended.
func (c *Console) arrive(stop *Stop, err error) error {
	if err == nil {
		c.Show(stop)
	}
	return err
}

// stepWarpCommand returns a command that repeats a step of the warp in focus.
func stepWarpCommand(do func(*Session, context.Context) (*Stop, error)) func(*Console, context.Context, string) error {
	return stepCommand(func(s *Session, ctx context.Context, _ bool) (*Stop, error) { return do(s, ctx) }, false)
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
	if args == "reconverge" || args == "join" { // join is the word of former versions
		stop, err := c.UntilReconverge(ctx)
		if errors.Is(err, ErrNotDiverged) { // no error, so that a script can go on
			c.printf("The lanes of the warp are together already.\n")
			return nil
		}
		return c.arrive(stop, err)
	}
	if args == "" {
		return errors.New("until needs reconverge, or a place")
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

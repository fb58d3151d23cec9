package grid

import (
	"gemu/interp/internal/check"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/observe"
)

// checkingBackend is a backend with its own runner for check mode. Warps of other backends run in check mode by
// check.CheckRunner.
type checkingBackend interface{ NewCheckRunner() machine.Runner }

// observingBackend is a backend with its own runner for observed CTAs. It returns nil if their launch must run in Go.
type observingBackend interface {
	NewObservedRunner(c *machine.CTA) machine.Runner
}

// compiler is a backend that compiles the code of a launch before its first use.
type compiler interface{ Compile(g *machine.Grid) }

// CompileNative makes the backend compile the code that the launch needs first, if the backend compiles.
func CompileNative(g *machine.Grid) {
	if b, ok := g.Backend.(compiler); ok {
		b.Compile(g)
	}
}

// runnerOf returns the runner of a CTA's warps: the observing runner if a probe receives the CTA's events, a checking
// runner in check mode, otherwise the backend itself.
func runnerOf(c *machine.CTA) machine.Runner {
	switch {
	case c.Stream != nil:
		if b, ok := c.Grid.Backend.(observingBackend); ok {
			if r := b.NewObservedRunner(c); r != nil {
				return r
			}
		}
		return observe.ObservedRunner{}
	case c.Grid.Mode == machine.Check:
		if b, ok := c.Grid.Backend.(checkingBackend); ok {
			return b.NewCheckRunner()
		}
		return check.CheckRunner{}
	}
	return c.Grid.Backend
}

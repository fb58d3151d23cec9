package grid

import (
	"gemu/interp/internal/check"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/observe"
)

// checkingBackend is a backend with a runner for check mode of its own. Instructions left to Go run on the portable
// functions.
type checkingBackend interface{ NewCheckRunner() machine.Runner }

// compiler is a backend that compiles a launch's code before the first use.
type compiler interface{ Compile(g *machine.Grid) }

// CompileNative compiles the code needed first by the backend.
func CompileNative(g *machine.Grid) {
	if b, ok := g.Backend.(compiler); ok {
		b.Compile(g)
	}
}

// runnerOf returns the runner of a CTA's warps: the backend, or a runner on top of its Span.
func runnerOf(c *machine.CTA) machine.Runner {
	switch {
	case c.Stream != nil:
		return observe.ObservedRunner{}
	case c.Grid.Mode == machine.Check:
		if b, ok := c.Grid.Backend.(checkingBackend); ok {
			return b.NewCheckRunner()
		}
		return check.CheckRunner{}
	}
	return c.Grid.Backend
}

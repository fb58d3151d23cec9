package grid

import (
	"gemu/interp/internal/check"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/observe"
)

// checkingBackend is a backend that runs check mode itself. What it leaves to Go is the portable one's.
type checkingBackend interface{ NewCheckRunner() machine.Runner }

// compiler is a backend that makes something of a launch's code, when it is needed or ahead of that.
type compiler interface{ Compile(g *machine.Grid) }

// CompileNative has the backend make what it will need first.
func CompileNative(g *machine.Grid) {
	if b, ok := g.Backend.(compiler); ok {
		b.Compile(g)
	}
}

// runnerOf is what runs the warps of a CTA: their backend, or what asks it for spans.
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

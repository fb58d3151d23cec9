// Package plans keeps what tools have worked out about programs, from launch to launch.
package plans

import (
	"sync"

	"gemu/probe"
)

// maxPlans is how many programs are known at a time.
const maxPlans = 64

// Cache has what a tool knows of programs. The zero Cache is empty. CTAs may ask it at the same
// time.
type Cache[T any] struct {
	mu    sync.Mutex
	known map[key]T
}

// key is a program, and what else there is to tell apart.
type key struct {
	probe.Program
	kind string
}

// Get is what is known of a launch's program; prepare works it out where nothing is.
func (c *Cache[T]) Get(l *probe.LaunchInfo, prepare func(*probe.LaunchInfo) T) T {
	return c.GetKind(l, "", prepare)
}

// GetKind is Of for launches of one kind, of which what is known of the program differs.
func (c *Cache[T]) GetKind(l *probe.LaunchInfo, kind string, prepare func(*probe.LaunchInfo) T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{l.Program, kind}
	p, ok := c.known[k]
	if !ok {
		if len(c.known) >= maxPlans || c.known == nil {
			c.known = map[key]T{}
		}
		p = prepare(l)
		c.known[k] = p
	}
	return p
}

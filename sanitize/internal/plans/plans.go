// Package plans keeps what tools have worked out about programs, from launch to launch.
package plans

import (
	"sync"

	"gemu/interp"
)

// most is how many programs are known at a time.
const most = 64

// Cache has what a tool knows of programs. The zero Cache is empty. CTAs may ask it at the same
// time.
type Cache[T any] struct {
	mu    sync.Mutex
	known map[interp.Program]T
}

// Of is what is known of a launch's program; prepare works it out where nothing is.
func (c *Cache[T]) Of(l *interp.LaunchInfo, prepare func(*interp.LaunchInfo) T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.known[l.Program]
	if !ok {
		if len(c.known) >= most || c.known == nil {
			c.known = map[interp.Program]T{}
		}
		p = prepare(l)
		c.known[l.Program] = p
	}
	return p
}

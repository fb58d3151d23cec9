// Package plans caches the tools' analyses of programs between launches.
package plans

import (
	"sync"
	"sync/atomic"

	"gemu/probe"
)

// maxPlans is the largest number of cached analyses.
const maxPlans = 64

// Cache holds a tool's analyses of programs. The zero Cache is empty. It is safe for concurrent use.
type Cache[T any] struct {
	latest atomic.Pointer[entry[T]] // the latest result: each CTA of a launch asks again

	mu    sync.Mutex
	known map[key]T
}

// entry is an analysis of a program.
type entry[T any] struct {
	key
	value T
}

// key is a program, and a kind if a tool has several analyses of it.
type key struct {
	probe.Program
	kind string
}

// Get returns the analysis of a launch's program, from prepare if it is not cached.
func (c *Cache[T]) Get(l *probe.LaunchInfo, prepare func(*probe.LaunchInfo) T) T {
	return c.GetKind(l, "", prepare)
}

// GetKind is Get for tools with several analyses of a program.
func (c *Cache[T]) GetKind(l *probe.LaunchInfo, kind string, prepare func(*probe.LaunchInfo) T) T {
	k := key{l.Program, kind}
	if e := c.latest.Load(); e != nil && e.key == k {
		return e.value
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.known[k]
	if !ok {
		if len(c.known) >= maxPlans || c.known == nil {
			c.known = map[key]T{}
		}
		p = prepare(l)
		c.known[k] = p
	}
	c.latest.Store(&entry[T]{k, p})
	return p
}

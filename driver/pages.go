package driver

// This file is memory outside the Go heap.

import "sync"

// Blocks up to smallBlock share a chunk; larger ones are mapped by themselves.
const (
	smallBlock = 64 << 10
	chunkSize  = 1 << 20
	blockAlign = 512
)

// pages hands out memory outside the Go heap, all zero.
type pages struct {
	mu   sync.Mutex
	open *chunk // that small blocks come from; nil at first
}

// chunk holds small blocks, one behind the other.
type chunk struct {
	mem  []byte
	used int // bytes
	live int // blocks not given back
}

// allocate is for interp.Config.Allocate.
func (p *pages) allocate(size uint64) ([]byte, func(), error) {
	if size > smallBlock {
		mem, err := mapPages(size)
		if err != nil {
			return nil, nil, err
		}
		return mem[:size:size], func() { unmapPages(mem) }, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := (int(size) + blockAlign) / blockAlign * blockAlign // never empty
	c := p.open
	if c == nil || c.used+n > len(c.mem) {
		mem, err := mapPages(chunkSize)
		if err != nil {
			return nil, nil, err
		}
		if c != nil && c.live == 0 {
			unmapPages(c.mem)
		}
		c = &chunk{mem: mem}
		p.open = c
	}
	block := c.mem[c.used : c.used+int(size) : c.used+n]
	c.used += n
	c.live++
	return block, func() { p.release(c) }, nil
}

// release takes a block of a chunk back.
func (p *pages) release(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.live--
	switch {
	case c.live > 0:
	case c == p.open:
		clear(c.mem[:c.used])
		c.used = 0
	default:
		unmapPages(c.mem)
	}
}

// close gives the open chunk back, if nothing in it is in use.
func (p *pages) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil && p.open.live == 0 {
		unmapPages(p.open.mem)
		p.open = nil
	}
}

package driver

// This file is memory outside the Go heap.

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"gemu/internal/hostmem"
)

// Blocks up to smallBlock share a chunk; larger ones are mapped by themselves.
const (
	smallBlock = 64 << 10
	chunkSize  = 1 << 20
)

// pages hands out memory outside the Go heap, all zero. A block has its pages for itself, so that it can
// be shared with other processes.
type pages struct {
	mu     sync.Mutex
	open   *chunk             // that small blocks come from; nil at first
	shared map[*byte]*os.File // blocks that are files, by where they begin
}

// chunk holds small blocks, one behind the other.
type chunk struct {
	mem  []byte
	used int // bytes
	live int // blocks not given back
}

// maxPages is more bytes than the address space of a process has room for.
const maxPages = 1 << 47

// allocate is for interp.Config.Allocate.
func (p *pages) allocate(size uint64) ([]byte, func(), error) {
	if size > maxPages {
		return nil, nil, fmt.Errorf("%d bytes are more than a process can have", size)
	}
	if size > smallBlock {
		mem, err := hostmem.Reserve(wholePages(size))
		if err != nil {
			return nil, nil, err
		}
		return mem[:size:size], func() {
			p.unshare(mem)
			hostmem.Release(mem)
		}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := int(wholePages(max(size, 1))) // never empty
	c := p.open
	if c == nil || c.used+n > len(c.mem) {
		mem, err := hostmem.Reserve(chunkSize)
		if err != nil {
			return nil, nil, err
		}
		if c != nil && c.live == 0 {
			hostmem.Release(c.mem)
		}
		c = &chunk{mem: mem}
		p.open = c
	}
	block := c.mem[c.used : c.used+int(size) : c.used+n]
	c.used += n
	c.live++
	return block, func() {
		p.unshare(block)
		p.release(c)
	}, nil
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
		hostmem.Release(c.mem)
	}
}

// wholePages is how many bytes the pages have that size bytes take.
func wholePages(size uint64) uint64 {
	page := uint64(os.Getpagesize())
	return (size + page - 1) / page * page
}

// wholeBlock is a block with all of its last page.
func wholeBlock(block []byte) []byte {
	return unsafe.Slice(unsafe.SliceData(block), wholePages(uint64(len(block))))
}

// file is the file that a block was made, nil if it is none.
func (p *pages) file(block []byte) *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shared[unsafe.SliceData(block)]
}

// share makes a block, which nobody uses meanwhile, the memory of a file, until it is given back. Whoever maps the
// file has the same memory, for as long as that is mapped.
func (p *pages) share(block []byte) (*os.File, error) {
	if file := p.file(block); file != nil {
		return file, nil
	}
	file, err := shareMemory(wholeBlock(block))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared == nil {
		p.shared = map[*byte]*os.File{}
	}
	p.shared[unsafe.SliceData(block)] = file
	return file, nil
}

// unshare leaves what was shared of a block to those who have mapped it; the block is zero then.
func (p *pages) unshare(block []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := unsafe.SliceData(block)
	if file := p.shared[first]; file != nil {
		delete(p.shared, first)
		privateMemory(wholeBlock(block))
		file.Close()
	}
}

// close gives the open chunk back, if nothing in it is in use.
func (p *pages) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil && p.open.live == 0 {
		hostmem.Release(p.open.mem)
		p.open = nil
	}
}

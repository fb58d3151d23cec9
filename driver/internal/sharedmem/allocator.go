package sharedmem

// This file holds the allocator of blocks.

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"gemu/internal/hostmem"
)

// A block of at most SmallBlock bytes is in a chunk with other blocks. A larger block is mapped separately.
const (
	SmallBlock = 64 << 10
	chunkSize  = 1 << 20
)

// Allocator allocates blocks of zeroed memory outside the Go heap. No two blocks share a page, so that each can be shared
// between processes.
type Allocator struct {
	mu     sync.Mutex
	open   *chunk             // source of small blocks; nil at first
	shared map[*byte]*os.File // blocks in files, by their first byte
}

// chunk holds small blocks in sequence.
type chunk struct {
	mem  []byte
	used int // number of allocated bytes, also of released blocks
	live int // number of blocks in use
}

// maxPages is larger than the address space of a process, in bytes.
const maxPages = 1 << 47

// Allocate implements interp.Config.Allocate.
func (p *Allocator) Allocate(size uint64) ([]byte, func(), error) {
	if size > maxPages {
		return nil, nil, fmt.Errorf("%d bytes are more than the limit of shared memory of a process", size)
	}
	if size > SmallBlock {
		mem, err := hostmem.Reserve(WholePages(size))
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
	n := int(WholePages(max(size, 1))) // at least one page
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

// release returns a block to its chunk.
func (p *Allocator) release(c *chunk) {
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

// WholePages rounds size up to whole pages, in bytes.
func WholePages(size uint64) uint64 {
	page := uint64(os.Getpagesize())
	return (size + page - 1) / page * page
}

// wholeBlock extends a block to the end of its last page.
func wholeBlock(block []byte) []byte {
	return unsafe.Slice(unsafe.SliceData(block), WholePages(uint64(len(block))))
}

// File returns the file of a shared block, or nil.
func (p *Allocator) File(block []byte) *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shared[unsafe.SliceData(block)]
}

// Share turns a block into the memory of a file, until the block is released. No work may use the block during the
// call. Every process that maps the file has the same memory, until it unmaps the file.
func (p *Allocator) Share(block []byte, name string) (*os.File, error) {
	if file := p.File(block); file != nil {
		return file, nil
	}
	file, err := toFile(wholeBlock(block), name)
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

// unshare detaches a block from its file, if any. The block is then zero; processes that map the file keep its memory.
func (p *Allocator) unshare(block []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := unsafe.SliceData(block)
	if file := p.shared[first]; file != nil {
		delete(p.shared, first)
		toPrivate(wholeBlock(block))
		file.Close()
	}
}

// Close releases the open chunk if no block of it is in use.
func (p *Allocator) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil && p.open.live == 0 {
		hostmem.Release(p.open.mem)
		p.open = nil
	}
}

//go:build !unix

package driver

// Where there is no mmap, memory is in the Go heap. It does not move.

func mapPages(size uint64) ([]byte, error) { return make([]byte, size), nil }

func unmapPages([]byte) {}

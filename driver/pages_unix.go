//go:build unix

package driver

import "syscall"

// mapPages maps whole pages, at least size bytes.
func mapPages(size uint64) ([]byte, error) {
	return syscall.Mmap(-1, 0, int(wholePages(size)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// unmapPages gives back what mapPages has given.
func unmapPages(mem []byte) {
	if err := syscall.Munmap(mem); err != nil {
		panic("BUG: munmap: " + err.Error())
	}
}

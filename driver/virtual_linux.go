package driver

// This file holds the system calls for virtual memory management.

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const haveVirtual = true

// reserveAddresses reserves addresses of the process without memory.
func reserveAddresses(size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// freeAddresses releases addresses and unmaps their memory.
func freeAddresses(mem []byte) {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem))); err != nil {
		panic("BUG: munmap: " + err.Error())
	}
}

// createMemory makes a file of zeros in memory. openMemory must be given the same name.
func createMemory(name string, size uint64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), name)
	if err := file.Truncate(int64(size)); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// openMemory opens the memory of a descriptor that createMemory made, in this or another process.
func openMemory(name string, fd int) (*os.File, uint64, error) {
	own, err := duplicate(fd)
	if err != nil {
		return nil, 0, err
	}
	return checkMemory(name, own)
}

// isMemory returns an error unless path, a descriptor in /proc, is a file that createMemory made with the name.
func isMemory(name, path string) error {
	kind, err := os.Readlink(path)
	if err == nil && kind != "/memfd:"+name+" (deleted)" {
		err = fmt.Errorf("%s is of %s, and of no memory that was exported as %s", path, kind, name)
	}
	return err
}

// checkMemory returns a file that createMemory made, and its size. It takes ownership of the descriptor, which may be
// of any file.
func checkMemory(name string, fd int) (*os.File, uint64, error) {
	file := os.NewFile(uintptr(fd), name)
	err := isMemory(name, fmt.Sprintf("/proc/self/fd/%d", fd))
	var info os.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, uint64(info.Size()), nil
}

// duplicate makes a new descriptor of the same file.
func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// mapMemory maps the beginning of a file at reserved addresses.
func mapMemory(at []byte, file *os.File) error {
	_, err := unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(unsafe.SliceData(at)), uintptr(len(at)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// unmapMemory unmaps memory and keeps the addresses reserved.
func unmapMemory(at []byte) {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(at)), uintptr(len(at)), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED); err != nil {
		panic("BUG: mmap: " + err.Error())
	}
}

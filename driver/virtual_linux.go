package driver

// This file is what the operating system does for virtual memory management.

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const haveVirtual = true

// reserveAddresses takes addresses from the process, at which there is nothing.
func reserveAddresses(size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// freeAddresses gives addresses back.
func freeAddresses(mem []byte) {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem))); err != nil {
		panic("BUG: munmap: " + err.Error())
	}
}

// createMemory makes a file of zeros that is in memory only, with a name for openMemory.
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

// openMemory is the memory that a descriptor of createMemory's, perhaps from another process, stands for.
func openMemory(name string, fd int) (*os.File, uint64, error) {
	own, err := duplicate(fd)
	if err != nil {
		return nil, 0, err
	}
	return checkMemory(name, own)
}

// isMemory reports what a descriptor, by its path in /proc, is of, if that is no file of createMemory's with a name.
func isMemory(name, path string) error {
	kind, err := os.Readlink(path)
	if err == nil && kind != "/memfd:"+name+" (deleted)" {
		err = fmt.Errorf("%s is of %s, and of no memory that was exported as %s", path, kind, name)
	}
	return err
}

// checkMemory is a file of createMemory's with its size. It takes the descriptor, which may be of any file.
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

// duplicate makes another descriptor of a file.
func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// mapMemory maps the beginning of a file at addresses that were reserved.
func mapMemory(at []byte, file *os.File) error {
	_, err := unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(unsafe.SliceData(at)), uintptr(len(at)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// unmapMemory leaves the addresses reserved, with nothing there.
func unmapMemory(at []byte) {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(at)), uintptr(len(at)), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED); err != nil {
		panic("BUG: mmap: " + err.Error())
	}
}

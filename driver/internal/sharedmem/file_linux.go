package sharedmem

// This file holds the system calls for files in memory and their mappings.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported reports whether processes can share memory on this system.
const Supported = true

// ReserveAddresses reserves a range of addresses of this process, without memory.
func ReserveAddresses(size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// FreeAddresses releases a range of addresses and unmaps its memory.
func FreeAddresses(mem []byte) {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem))); err != nil {
		panic("BUG: munmap: " + err.Error())
	}
}

// Create makes a file of size zeros in memory. Open must be given the same name. No process can shrink the file, so an
// access to a mapping of its bytes never faults.
func Create(name string, size uint64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), name)
	if err := file.Truncate(int64(size)); err != nil {
		file.Close()
		return nil, err
	}
	unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL) // KeepsBytes finds out whether the system has done it
	return file, nil
}

// KeepsBytes reports whether a file has its first n bytes and will have them for ever, because no process can shrink it.
func KeepsBytes(file *os.File, n uint64) bool {
	info, err := file.Stat()
	if err != nil || uint64(info.Size()) < n {
		return false
	}
	seals, err := unix.FcntlInt(file.Fd(), unix.F_GET_SEALS, 0)
	return err == nil && seals&unix.F_SEAL_SHRINK != 0
}

// Open opens a file that Create made in this or another process, by a descriptor of this process, and returns its size in
// bytes. It does not close the descriptor.
func Open(name string, fd int) (*os.File, uint64, error) {
	own, err := Duplicate(fd)
	if err != nil {
		return nil, 0, err
	}
	return fileWithSize(name, own)
}

// checkName returns an error unless path, a descriptor in /proc, is a file made by Create with the name.
func checkName(name, path string) error {
	target, err := os.Readlink(path)
	if err == nil && target != "/memfd:"+name+" (deleted)" {
		err = fmt.Errorf("%s is %s, not memory that was exported as %s", path, target, name)
	}
	return err
}

// fileWithSize makes an os.File of a descriptor, and returns the file's size in bytes. It takes ownership of the descriptor: unless
// the descriptor is of a file made by Create with the name, it closes the descriptor and returns an error.
func fileWithSize(name string, fd int) (*os.File, uint64, error) {
	file := os.NewFile(uintptr(fd), name)
	err := checkName(name, fmt.Sprintf("/proc/self/fd/%d", fd))
	var info os.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, uint64(info.Size()), nil
}

// Duplicate makes a new descriptor of the same file.
func Duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// MapAt maps the beginning of a file at reserved addresses, over their whole length.
func MapAt(addresses []byte, file *os.File) error {
	_, err := unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(unsafe.SliceData(addresses)), uintptr(len(addresses)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// UnmapAt unmaps memory and keeps the addresses reserved.
func UnmapAt(addresses []byte) {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(addresses)), uintptr(len(addresses)), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED); err != nil {
		panic("BUG: mmap: " + err.Error())
	}
}

// toFile turns whole pages into the memory of a file with the same content.
func toFile(mem []byte, name string) (*os.File, error) {
	file, err := Create(name, uint64(len(mem)))
	if err != nil {
		return nil, err
	}
	// Segments of zeros are not written, so they take no memory in the file.
	const segmentSize = 64 << 10
	var zero [segmentSize]byte
	for offset := 0; offset < len(mem) && err == nil; offset += segmentSize {
		if segment := mem[offset:min(offset+segmentSize, len(mem))]; !bytes.Equal(segment, zero[:len(segment)]) {
			_, err = file.WriteAt(segment, int64(offset))
		}
	}
	if err == nil {
		err = MapAt(mem, file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// toPrivate replaces whole pages by zeroed pages without a file.
func toPrivate(mem []byte) {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED); err != nil {
		panic("BUG: mmap: " + err.Error())
	}
}

// Map maps size bytes of a file, beginning at offset, which must be a multiple of the page size. FreeAddresses unmaps them.
func Map(file *os.File, offset, size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(int(file.Fd()), int64(offset), nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// Discard releases the memory of size bytes of a file, beginning at offset. The bytes are zero afterwards.
func Discard(file *os.File, offset, size uint64) error {
	return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(offset), int64(size))
}

// FileID returns a number, unique among the files of Create that exist at the same time.
func FileID(file *os.File) (uint64, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(file.Fd()), &s)
	return s.Ino, err
}

// OpenFromProcess opens a file made by Create by the number of a descriptor of another process, and returns its size in bytes.
func OpenFromProcess(pid, fd int, name string) (*os.File, uint64, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if err := checkName(name, path); err != nil { // check first: opening an arbitrary file may have side effects
		return nil, 0, err
	}
	own, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fileWithSize(name, own)
}

package driver

// This file holds the system calls for memory that processes share.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shareMemory turns whole pages into the memory of a file with the same content.
func shareMemory(mem []byte) (*os.File, error) {
	file, err := createMemory(allocationFile, uint64(len(mem)))
	if err != nil {
		return nil, err
	}
	// Untouched pages take no memory, neither here nor in the file.
	const piece = 64 << 10
	var zero [piece]byte
	for at := 0; at < len(mem) && err == nil; at += piece {
		if part := mem[at:min(at+piece, len(mem))]; !bytes.Equal(part, zero[:len(part)]) {
			_, err = file.WriteAt(part, int64(at))
		}
	}
	if err == nil {
		err = mapMemory(mem, file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// privateMemory replaces whole pages by zeroed pages without a file.
func privateMemory(mem []byte) {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED); err != nil {
		panic("BUG: mmap: " + err.Error())
	}
}

// mapFile maps size bytes of a file from an offset on, which must be a multiple of the page size. freeAddresses unmaps
// them.
func mapFile(file *os.File, from, size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(int(file.Fd()), int64(from), nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// emptyFile releases the memory of a part of a file; the part is then zero.
func emptyFile(file *os.File, from, size uint64) error {
	return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(from), int64(size))
}

// fileID returns a number that no other file of createMemory has at the same time.
func fileID(file *os.File) (uint64, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(file.Fd()), &s)
	return s.Ino, err
}

// startOf returns the start time of a running process, in clock ticks since the machine started. Process number and
// start time together identify a process.
func startOf(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// proc_pid_stat(5): the fields after the name in parentheses are numbered from 3. Field 3 is the state, field 20
	// the number of threads, field 22 the start time. The first thread of a process may end before the rest.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, stat)
	}
	if state := fields[0][0]; (state == 'Z' || state == 'X') && len(fields[17]) == 1 && fields[17][0] <= '1' {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}

// openOf opens a file of createMemory by the descriptor of another process.
func openOf(pid, fd int, name string) (*os.File, uint64, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if err := isMemory(name, path); err != nil { // check first: opening an arbitrary file may have side effects
		return nil, 0, err
	}
	own, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return checkMemory(name, own)
}

// lockFile locks the file against other processes, until unlockFile or the end of this process.
func lockFile(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

func unlockFile(file *os.File) { unix.Flock(int(file.Fd()), unix.LOCK_UN) }

// Operations of futex(2).
const (
	futexWait = 0
	futexWake = 1
)

// sleepOn waits until a process calls wake for a word in shared memory, for at most maximum. It returns immediately if
// the word does not have the given value.
func sleepOn(word *uint32, value uint32, maximum time.Duration) {
	limit := unix.NsecToTimespec(int64(maximum))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), uintptr(unsafe.Pointer(&limit)), 0, 0)
}

// wake wakes all waiters of a word.
func wake(word *uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<31-1, 0, 0, 0)
}

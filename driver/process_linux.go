package driver

// This file is what the operating system does for processes that share memory.

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

// shareMemory makes whole pages the memory of a file, which has what was in them.
func shareMemory(mem []byte) (*os.File, error) {
	file, err := createMemory(allocationFile, uint64(len(mem)))
	if err != nil {
		return nil, err
	}
	// What nobody has touched takes no memory, in the file either.
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

// privateMemory makes whole pages zeros that are of no file.
func privateMemory(mem []byte) {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED); err != nil {
		panic("BUG: mmap: " + err.Error())
	}
}

// mapFile maps size bytes of a file from a page on; freeAddresses takes them back.
func mapFile(file *os.File, from, size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(int(file.Fd()), int64(from), nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// emptyFile gives the memory back of a part of a file, which is zero then.
func emptyFile(file *os.File, from, size uint64) error {
	return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(from), int64(size))
}

// fileID is a number that no other file of createMemory's has meanwhile.
func fileID(file *os.File) (uint64, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(file.Fd()), &s)
	return s.Ino, err
}

// startOf is when a process that runs began, in ticks since the machine did. Together with the process's number it
// names no other process.
func startOf(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// Fields from the third on, behind the name in parentheses (proc_pid_stat(5)): that is the state, the 20th how
	// many threads there are, the 22nd the start. The first thread of a process may be over before the others are.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, stat)
	}
	if state := fields[0][0]; (state == 'Z' || state == 'X') && len(fields[17]) == 1 && fields[17][0] <= '1' {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}

// openOf opens the file of createMemory's that a descriptor of another process is of.
func openOf(pid, fd int, name string) (*os.File, uint64, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if err := isMemory(name, path); err != nil { // before a file is opened that might mind
		return nil, 0, err
	}
	own, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return checkMemory(name, own)
}

// lockFile keeps other processes that lock the file out, until it is unlocked or this process ends.
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

// sleepOn waits until a process wakes those who sleep on a word, which shared memory has, but not if it has another
// value, and no longer than some time.
func sleepOn(word *uint32, value uint32, maximum time.Duration) {
	limit := unix.NsecToTimespec(int64(maximum))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), uintptr(unsafe.Pointer(&limit)), 0, 0)
}

// wake wakes all who sleep on a word.
func wake(word *uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<31-1, 0, 0, 0)
}

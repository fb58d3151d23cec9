package sharedmem

// This file holds the system calls by which processes wait for each other.

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ProcessStart returns the start time of a running process, in clock ticks since the machine started. Process number and
// start time together identify a process.
func ProcessStart(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// proc_pid_stat(5): the fields after the name in parentheses are numbered from 3. Field 3 is the state, field 20
	// the number of threads, field 22 the start time. The first thread of a process may end before the other threads.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat has an unknown format: %q", pid, stat)
	}
	if state := fields[0][0]; (state == 'Z' || state == 'X') && len(fields[17]) == 1 && fields[17][0] <= '1' {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}

// Lock locks the file against other processes, until Unlock or the end of this process.
func Lock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

// Unlock releases the lock.
func Unlock(file *os.File) { unix.Flock(int(file.Fd()), unix.LOCK_UN) }

// Operations of futex(2).
const (
	futexWait = 0
	futexWake = 1
)

// Sleep waits until a process calls Wake for a word in shared memory, for at most maximum. It returns immediately if
// the word does not have the given value.
func Sleep(word *uint32, value uint32, maximum time.Duration) {
	limit := unix.NsecToTimespec(int64(maximum))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), uintptr(unsafe.Pointer(&limit)), 0, 0)
}

// Wake wakes all waiters of a word.
func Wake(word *uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<31-1, 0, 0, 0)
}

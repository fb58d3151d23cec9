package main

// This file runs processes of mutants within limits of time and memory.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the time and the memory of a process.
type usage struct {
	time   time.Duration
	memory int64 // largest number of resident bytes
}

const (
	minTime      = 10 * time.Second // smallest limit of time
	maxTime      = 10 * time.Minute // limit of a process without a mutant
	memoryMargin = 2 << 30          // number of bytes that a process with a mutant may take more than without
)

// limit returns the limits of a process with a mutant, from the usage of the process without. factor is the multiple of
// the time.
func (u usage) limit(factor time.Duration) usage {
	return usage{max(minTime, factor*u.time), u.memory + memoryMargin}
}

// The causes of the end of a process that exceeds a limit.
var (
	errTime   = errors.New("takes too long")
	errMemory = errors.New("takes all memory")
)

// runBounded runs a command, whose context must be ctx, and ends its process if it exceeds a limit; the error is then
// errTime or errMemory. A limit of 0 is none.
func runBounded(limit usage, command func(ctx context.Context) *exec.Cmd) (used usage, err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	cmd := command(ctx)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	if limit.time > 0 {
		defer time.AfterFunc(limit.time, func() { cancel(errTime) }).Stop()
	}
	if limit.memory > 0 {
		done := make(chan struct{})
		defer close(done)
		go watchMemory(cmd.Process.Pid, limit.memory, done, func() { cancel(errMemory) })
	}
	err = cmd.Wait()
	used.time = time.Since(start)
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		used.memory = u.Maxrss << 10
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return used, err
}

// memoryInterval is the time between two looks at the memory of a process.
const memoryInterval = 20 * time.Millisecond

// watchMemory calls exceeded if a process has more resident bytes than limit, as Linux counts them. On all other hosts
// there is no limit.
func watchMemory(pid int, limit int64, done <-chan struct{}, exceeded func()) {
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		if residentBytes(pid) > limit {
			exceeded()
			return
		}
	}
}

// residentBytes returns the resident bytes of a process; 0 if they are unknown.
func residentBytes(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// output runs a command within limits and returns what it writes to standard output and standard error.
func output(limit usage, command func(ctx context.Context) *exec.Cmd) (stdout, stderr string, used usage, err error) {
	var out, errOut bytes.Buffer
	used, err = runBounded(limit, func(ctx context.Context) *exec.Cmd {
		cmd := command(ctx)
		cmd.Stdout, cmd.Stderr = &out, &errOut
		return cmd
	})
	return out.String(), errOut.String(), used, err
}

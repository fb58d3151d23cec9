//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gemu/internal/part"
)

// patience is the maximum wait of a test for a process, far more than it takes.
const patience = time.Minute

// hasExited reports whether a process has ended, even before a wait for it.
func hasExited(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// eventually waits for a condition.
func eventually(t *testing.T, noun string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", noun, patience)
		}
	}
}

// interrupted sends a process an interrupt and returns its exit status.
func interrupted(t *testing.T, cmd interface {
	Wait() error
}, process *os.Process, status func() int) int {
	t.Helper()
	return ended(t, cmd, process, os.Interrupt, status)
}

// ended sends a process a termination signal and returns its exit status.
func ended(t *testing.T, cmd interface {
	Wait() error
}, process *os.Process, signal os.Signal, status func() int) int {
	t.Helper()
	if err := process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	select {
	case <-ended:
		return status()
	case <-time.After(patience):
		t.Fatalf("it goes on for %v after the interrupt", patience)
		return 0
	}
}

// TestInterruptParsing: an interrupt ends commands that only parse and print, with a message and status 1. The first
// module comes through a pipe: when gemu has taken it, gemu handles signals. Without the interrupt, check would go on
// for minutes, and dump would wait for ever for a reader of its output.
func TestInterruptParsing(t *testing.T) {
	part.SkipShort(t)
	var b bytes.Buffer
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n")
	for i := range 2000 {
		fmt.Fprintf(&b, ".visible .entry k%d(.param .u64 p)\n{\n.reg .u32 %%r<9>;\n", i)
		for range 100 {
			b.WriteString("mad.lo.u32 %r1, %r2, %r3, %r4;\nadd.u32 %r5, %r6, %r7;\n")
		}
		b.WriteString("ret;\n}\n")
	}
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "large.ptx"), filepath.Join(dir, "pipe.ptx")
	if err := errors.Join(os.WriteFile(file, b.Bytes(), 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	const files = 400
	for _, verb := range []string{"check", "dump"} {
		args := []string{verb, pipe}
		if verb == "check" {
			args = append(args, slices.Repeat([]string{file}, files)...)
		}
		cmd, messages := command(t, args...)
		printed, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer printed.Close()
		defer w.Close()
		if verb == "dump" {
			cmd.Stdout = w
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(pipe, b.Bytes(), 0); err != nil {
			t.Fatal(err)
		}
		if verb == "dump" {
			if _, err := printed.Read(make([]byte, 1)); err != nil { // no more is read: the pipe fills
				t.Fatal(err)
			}
		}
		status := interrupted(t, cmd, cmd.Process, func() int { return cmd.ProcessState.ExitCode() })
		if n := strings.Count(messages.String(), "2000 kernels"); status != exitFailed || !strings.HasSuffix(messages.String(), "gemu: interrupted\n") || n >= files {
			t.Errorf("%s: status %d after %d of %d files, want %d and \"gemu: interrupted\":\n%.500s", verb, status, n, files+1, exitFailed, messages)
		}
	}
}

// TestInterruptCompiler: however gemu is ended, a compiler ends with its children, and its temporary directory is
// removed. The compiler ignores interrupts.
func TestInterruptCompiler(t *testing.T) {
	part.SkipShort(t)
	for name, signals := range map[string][]os.Signal{
		"interrupt": {os.Interrupt}, "two interrupts": {os.Interrupt, os.Interrupt}, "termination": {syscall.SIGTERM}, "hangup": {syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			dir, temporary := t.TempDir(), t.TempDir()
			pids, source := filepath.Join(dir, "pids"), filepath.Join(dir, "k.cu")
			script := "#!/bin/sh\ntrap '' INT\nsleep 100000 &\necho $$ $! >" + pids + ".new\nmv " + pids + ".new " + pids + "\nwait\n"
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "nvcc"), []byte(script), 0o700), os.WriteFile(source, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			cmd, messages := command(t, "run", source, "-g", "1", "-b", "1")
			cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+temporary)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var list []int
			eventually(t, "the compiler begins", func() bool {
				text, err := os.ReadFile(pids)
				if err != nil {
					return false
				}
				for _, f := range strings.Fields(string(text)) {
					n, err := strconv.Atoi(f)
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, n)
				}
				return len(list) == 2
			})
			for _, s := range signals[1:] {
				cmd.Process.Signal(s)
				time.Sleep(20 * time.Millisecond) // two pending signals of a kind are merged
			}
			if status := ended(t, cmd, cmd.Process, signals[0], func() int { return cmd.ProcessState.ExitCode() }); status < 1 {
				t.Errorf("status %d: %s", status, messages)
			}
			for _, pid := range list {
				eventually(t, fmt.Sprintf("process %d of the compiler ends", pid), func() bool { return hasExited(pid) })
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// TestFirstAndSecondInterrupt: the first interrupt cancels the context; the second, or some time without a launch,
// ends the process; a debugging session handles interrupts itself.
func TestFirstAndSecondInterrupt(t *testing.T) {
	var cancelled, busy atomic.Bool
	busy.Store(true)
	status := make(chan int, 1)
	var messages bytes.Buffer
	ready := func(grace time.Duration) *interrupts {
		return &interrupts{func() { cancelled.Store(true) }, grace, busy.Load, func(n int) { status <- n }, &messages}
	}
	sessions.Add(1)
	pressed := make(chan os.Signal, 2)
	pressed <- os.Interrupt
	pressed <- os.Interrupt
	close(pressed)
	ready(time.Hour).handle(pressed)
	if cancelled.Load() {
		t.Error("an interrupt of a session cancels the context")
	}
	terminated := make(chan os.Signal, 2)
	terminated <- syscall.SIGTERM
	terminated <- syscall.SIGTERM
	ready(time.Hour).handle(terminated)
	sessions.Add(-1)
	if n := <-status; n != exitFailed || !cancelled.Swap(false) {
		t.Errorf("status %d of a session that is to end", n)
	}
	start := func(grace time.Duration) chan os.Signal {
		signals := make(chan os.Signal)
		go ready(grace).handle(signals)
		return signals
	}
	signals := start(time.Hour)
	signals <- os.Interrupt
	eventually(t, "the context is cancelled", cancelled.Load)
	signals <- os.Interrupt
	if n := <-status; n != exitFailed {
		t.Errorf("status %d", n)
	}
	start(time.Millisecond) <- os.Interrupt // while a launch runs, nothing ends the process
	select {
	case <-status:
		t.Error("the process ends though a launch runs")
	case <-time.After(50 * time.Millisecond):
	}
	busy.Store(false)
	if n := <-status; n != exitFailed || !strings.Contains(messages.String(), "gemu: interrupted") {
		t.Errorf("status %d, %q", n, &messages)
	}
}

package cli

// This file runs the program of gemu exec: its signals, its end, and the processes that run on after it.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// survivorGrace is the time that processes have to end after the program. The helpers of Python's multiprocessing need it: they
// notice the end of the program by a closed pipe.
const survivorGrace = time.Second

// passedSignals are the signals that gemu exec passes on to the program, in addition to those that end other commands.
var passedSignals = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH}

// runProgram runs a program, passes on the signals that this process receives, and waits for the end of the program and, up to
// survivorGrace, of its descendants. If this process is killed, so is the program.
func runProgram(cmd *exec.Cmd) (end programEnd, err error) {
	send := setProcessGroup(cmd)
	started := make(chan struct{})
	pass := func(s os.Signal) { // waits for the start, so that no signal is lost
		<-started
		if cmd.Process != nil {
			send(s)
		}
	}
	passSignal.Store(&pass)
	defer passSignal.Store(nil)
	// The program is killed when the thread that has started it ends, so this thread must not end before the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	// This process becomes the parent of descendants whose parents have ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		end.survivorsErr = fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", err)
	}
	passed := make(chan os.Signal, 8)
	signal.Notify(passed, slices.DeleteFunc(slices.Clone(passedSignals), signal.Ignored)...)
	defer signal.Stop(passed)
	start := time.Now()
	err = cmd.Start()
	close(started)
	if err != nil {
		return end, err
	}
	childEnded := make(chan os.Signal, 1)
	signal.Notify(childEnded, syscall.SIGCHLD)
	defer signal.Stop(childEnded)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-passed:
				pass(s)
			case <-childEnded:
				reapOrphans(cmd.Process.Pid)
			case <-done:
				return
			}
		}
	}()
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		return end, err
	}
	end.duration, end.status = time.Since(start), cmd.ProcessState.ExitCode()
	if w := cmd.ProcessState.Sys().(syscall.WaitStatus); w.Signaled() {
		end.signal = int(w.Signal())
		end.status = exitSignalBase + end.signal
	}
	if end.survivorsErr == nil {
		end.survivors, end.survivorsErr = findSurvivors(survivorGrace)
	}
	return end, nil
}

// setProcessGroup puts the program into a process group of its own if this process has no terminal, so that a signal to the group
// of this process reaches the program once. With a terminal the program must be in the group of this process to read from it, and
// gets the signals of the terminal's keys itself. setProcessGroup returns the function that sends a signal to the started program,
// or to its group.
func setProcessGroup(cmd *exec.Cmd) (send func(os.Signal)) {
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	if _, ok := foregroundGroup(); ok {
		return func(s os.Signal) {
			group, ok := foregroundGroup()
			byKey := s == os.Interrupt || s == syscall.SIGQUIT || s == syscall.SIGWINCH
			if !byKey || !ok || group != unix.Getpgrp() {
				cmd.Process.Signal(s)
			}
		}
	}
	cmd.SysProcAttr.Setpgid = true
	return func(s os.Signal) { syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal)) }
}

// foregroundGroup returns the process group that receives the signals of the terminal of this process; ok is false if there is no
// terminal.
func foregroundGroup() (group int, ok bool) {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return 0, false
	}
	defer tty.Close()
	group, err = unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return group, err == nil
}

// reapOrphans removes the adopted processes that have ended from the process table. The program is left to its own waiter.
func reapOrphans(program int) {
	list, _ := descendants()
	for _, p := range list {
		if p.parent == os.Getpid() && p.ended() && p.id != program {
			unix.Wait4(p.id, nil, unix.WNOHANG, nil)
		}
	}
}

// process is a process of Linux.
type process struct {
	id, parent int
	state      string // a letter of proc_pid_stat(5), such as "R"
}

// ended reports whether the process has ended; its parent has not waited for it yet.
func (p process) ended() bool { return p.state == "Z" || p.state == "X" }

// commandLine returns the command line of the process, and nil if it has ended.
func (p process) commandLine() []string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.id), "cmdline"))
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00")
}

// findSurvivors waits up to the given time for the end of all descendants of this process, and returns those that run on.
func findSurvivors(wait time.Duration) ([]survivor, error) {
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		processes, err := descendants()
		if err != nil {
			return nil, err
		}
		var list []survivor
		for _, p := range processes {
			if program := p.commandLine(); !p.ended() && program != nil {
				list = append(list, survivor{p.id, program})
			}
		}
		if list == nil || time.Now().After(end) {
			return list, nil
		}
	}
}

// descendants returns the children of this process, their children, and so on. The error says that /proc does not list processes.
func descendants() (list []process, err error) {
	self := os.Getpid()
	if _, err := os.Stat(statFile(self)); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]process{}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil { // no process
			continue
		}
		b, err := os.ReadFile(statFile(id))
		if err != nil { // the process has ended
			continue
		}
		// The fields are the process, its program in parentheses, which may contain any characters, the state, and the parent.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], process{id, parent, fields[0]})
	}
	list = children[self]
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i].id]...)
	}
	return list, nil
}

// statFile returns the file with the state of a process (proc_pid_stat(5)).
func statFile(id int) string { return filepath.Join("/proc", strconv.Itoa(id), "stat") }

//go:build unix

package cli

import (
	"os"
	"syscall"
)

// furtherSignals are the signals that gemu exec passes on, in addition to those that end the command.
var furtherSignals = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH}

// endingSignal returns the number of the signal that has ended a process; 0: it has exited.
func endingSignal(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}

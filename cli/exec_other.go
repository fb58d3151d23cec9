//go:build !unix

package cli

import "os"

// furtherSignals are the signals that gemu exec passes on: none on this system.
var furtherSignals = []os.Signal{os.Interrupt}

// endingSignal returns 0: on this system a process has an exit status in all cases.
func endingSignal(*os.ProcessState) int { return 0 }

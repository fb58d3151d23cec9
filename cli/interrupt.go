package cli

// This file ends the command after an interrupt by the user.

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"gemu/internal/cleanup"
	"gemu/interp"
)

// exitGrace is how long an interrupted command may continue without a running launch. Then the process ends. Reading, parsing
// and lowering do not check the context of the command, so this time limits them.
const exitGrace = 700 * time.Millisecond

// sessions counts the debugging sessions that handle interrupts themselves.
var sessions atomic.Int32

// interrupts handles signals that end the command, such as an interrupt by the user. The first signal cancels the context:
// launches and compilers stop, and the command ends with their results so far. The second signal ends the process at once.
type interrupts struct {
	cancel   context.CancelFunc
	grace    time.Duration // exitGrace; tests set other durations
	running  func() bool   // reports whether a launch runs
	exit     func(status int)
	messages io.Writer
}

// newInterrupts returns the handler of the process.
func newInterrupts(cancel context.CancelFunc) *interrupts {
	return &interrupts{cancel, exitGrace, func() bool { return interp.RunningLaunches() > 0 }, cleanup.Exit, os.Stderr}
}

// endingSignals returns the signals that end the command. A signal ignored at the start of the process, as by nohup, stays
// ignored.
func endingSignals() (list []os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// handle waits for a signal that ends the command, cancels the context, and waits for the end of the command (await). It ignores
// interrupts during a debugging session, which handles them itself, and passes signals on to the program of gemu exec. If the channel is closed, it returns.
func (i *interrupts) handle(signals <-chan os.Signal) {
	for s := range signals {
		if pass := passSignal.Load(); pass != nil {
			(*pass)(s)
			continue
		}
		if s == os.Interrupt && sessions.Load() > 0 {
			continue
		}
		i.cancel()
		i.await(signals)
		return
	}
}

// await ends the process at the next signal, or when no launch has run for the time grace.
func (i *interrupts) await(signals <-chan os.Signal) {
	tick := time.NewTicker(max(i.grace/7, 1))
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-signals:
		case <-tick.C:
			if i.running() {
				last = time.Now()
			}
			if time.Since(last) < i.grace {
				continue
			}
		}
		fmt.Fprintln(i.messages, "gemu: interrupted")
		i.exit(exitFailed)
		return
	}
}

package debug

// This file implements the line-based front end: commands from a file, a pipe, or a simple terminal.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"

	"gemu/interp"
)

// Front is a front end of the debugger.
type Front interface {
	// Debug lets the user control s. If it returns nil, the launch continues to its end without the debugger. An error
	// ends the launch: ErrQuit if the user quits.
	Debug(ctx context.Context, s *Session) error
}

// Drive lets a front end debug a launch that interp.Module.Run will run.
func (s *Session) Drive(l *interp.Launch, f Front) {
	s.Prepare(l)
	l.Drive = func(ctx context.Context, e *interp.Execution) error {
		if err := s.Begin(ctx, e); err != nil {
			return err
		}
		if err := f.Debug(ctx, s); err != nil {
			return err
		}
		s.noCheckpoints = errQuitSession
		for _, c := range s.checkpoints {
			e.Release(c.state)
		}
		s.checkpoints = nil
		for !s.ended {
			if _, err := s.run(ctx, nil, neverStep); err != nil {
				return err
			}
		}
		return s.err
	}
}

// errQuitSession is the reason for no checkpoints after the user has left a launch.
var errQuitSession = errors.New("the debugger has left this launch")

// Lines is a front end that reads commands, line by line.
type Lines struct {
	in     *bufio.Scanner
	out    io.Writer
	name   string // name of the input, for messages; "": interactive input, in which a wrong command does not end the input
	prompt string
	line   int  // number of the last line read, from 1
	more   bool // more launches may follow

	mu      sync.Mutex
	waiting bool // the front end waits for a command; guarded by mu
}

// NewLines returns a line-based front end. name is the name of the input in errors. The lines of the input are echoed,
// unless name is "": that means interactive input. more means that more launches may follow.
func NewLines(in io.Reader, out io.Writer, name string, more bool) *Lines {
	return &Lines{in: bufio.NewScanner(in), out: out, name: name, prompt: "(gemu) ", more: more}
}

// Debug executes commands until the input ends. The error of a command in a file is a ScriptError.
func (f *Lines) Debug(ctx context.Context, s *Session) error {
	c := NewConsole(s, f.out)
	c.More = f.more
	c.Greet()
	if f.name == "" {
		defer f.handleInterrupts(s)()
	}
	for {
		if f.name == "" {
			f.setWaiting(s, true)
		}
		more := f.in.Scan()
		f.setWaiting(s, false)
		if !more {
			if f.name == "" {
				fmt.Fprintln(f.out)
			}
			if err := f.in.Err(); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			return ErrQuit
		}
		f.line++
		text := f.in.Text()
		if f.name != "" {
			fmt.Fprintf(f.out, "%s%s\n", f.prompt, text)
		}
		switch err := c.Do(ctx, text); {
		case err == nil:
		case errors.Is(err, ErrEnded) && f.more:
			return nil
		case errors.Is(err, ErrQuit) || ctx.Err() != nil:
			return err
		case f.name == "":
			fmt.Fprintln(f.out, Explain(err))
		default:
			return &ScriptError{f.name, f.line, err}
		}
	}
}

// setWaiting sets whether the front end waits for a command. If it waits, setWaiting prints the prompt.
func (f *Lines) setWaiting(s *Session, waiting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting = waiting; waiting {
		fmt.Fprint(f.out, f.prompt)
	} else {
		s.Ready()
	}
}

// handleInterrupts makes the user's interrupt (Ctrl-C) stop the session's current command. If the front end waits for a
// command, the interrupt prints the prompt again. The caller must call stop when the session ends.
func (f *Lines) handleInterrupts(s *Session) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		for range signals {
			f.mu.Lock()
			if f.waiting {
				fmt.Fprintf(f.out, "\n%s", f.prompt)
			} else {
				s.Interrupt()
			}
			f.mu.Unlock()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// ScriptError is the error of a command in a file.
type ScriptError struct {
	File string // name of the file
	Line int    // line of the command, from 1
	Err  error  // problem of the command
}

func (e *ScriptError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, Explain(e.Err)) }

func (e *ScriptError) Unwrap() error { return e.Err }

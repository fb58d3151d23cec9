package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gemu/interp"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gemu": func() { restrict(); Main(Extensions{}) }, "ptxas": func() { Main(Extensions{}) }, "interrupts": printInterrupts})
}

// printInterrupts is a program for gemu exec: it prints a line for each interrupt, and ends half a second after the last.
func printInterrupts() {
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt)
	fmt.Println("ready")
	for end := time.After(time.Minute); ; {
		select {
		case <-interrupts:
			fmt.Println("interrupt")
			end = time.After(time.Second / 2)
		case <-end:
			return
		}
	}
}

// TestScript runs the scripts of testdata/script, each of which states its output and exit status.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
		Condition: func(name string) (bool, error) {
			if name != "native" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return interp.Native.Available(), nil
		},
		Setup: func(e *testscript.Env) error {
			dir, err := os.Getwd()
			e.Setenv("KERNELS", dir+"/../kernels/cuda")
			return err
		},
	})
}

// exits is the script command "exits STATUS COMMAND…": exec of a command that must fail with this
// status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}

// run executes a command line of gemu without extensions.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Run(ctx, Extensions{}, args, stdin, stdout, stderr)
}

//go:build unix

package debug_test

import (
	"bytes"
	"context"
	"io"
	"syscall"
	"testing"
	"time"

	"gemu/debug"
	"gemu/interp"
	"gemu/ptx"
)

// TestInterruptLineFrontEnd: in the front end debug.NewLines, Ctrl-C stops the running command, and prints the prompt again if
// none runs; the session continues.
func TestInterruptLineFrontEnd(t *testing.T) {
	var out bytes.Buffer
	s := session(t, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\t.reg .u32 %i;\n\t.reg .pred %q;\n\tmov.u32 %i, 0;\nLOOP:\n\tadd.u32 %i, %i, 1;\n\tsetp.ne.u32 %q, %i, 0;\n\t@%q bra LOOP;\n\tret;\n}\n",
		&interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), MaxSteps: 1 << 40}, &out)
	in, w := io.Pipe()
	y := &typist{t: t, in: w}
	ended := make(chan error, 1)
	go func() { ended <- debug.NewLines(in, y, "", false).Debug(context.Background(), s) }()
	y.waitFor("(gemu) ")
	syscall.Kill(syscall.Getpid(), syscall.SIGINT)
	y.waitFor("\n(gemu) ")
	for range 2 {
		io.WriteString(w, "continue\n")
		time.Sleep(50 * time.Millisecond)
		syscall.Kill(syscall.Getpid(), syscall.SIGINT)
		y.waitFor("Interrupted.")
		y.waitFor("(gemu) ")
	}
	io.WriteString(w, "stepi\n")
	y.waitFor("kernel k")
	io.WriteString(w, "quit\n")
	if err := <-ended; err != debug.ErrQuit {
		t.Error(err)
	}
}

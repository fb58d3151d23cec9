package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// execCommand returns gemu exec of a program, without a terminal. The program does not use the driver, so the file of that is empty.
func execCommand(t *testing.T, program ...string) *exec.Cmd {
	libraries := t.TempDir()
	if err := os.WriteFile(filepath.Join(libraries, driverName), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd, _ := command(t, append([]string{"exec", "-q", "--libraries", libraries, "--"}, program...)...)
	cmd.Stdout, cmd.Stderr = nil, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// TestExecPassesInterrupts: an interrupt reaches the program once, whether gemu exec alone or its process group gets it, and also by
// a key of a terminal.
func TestExecPassesInterrupts(t *testing.T) {
	for _, c := range []struct {
		name      string
		terminal  bool
		interrupt func(pid int, screen *os.File) error
	}{
		{"process", false, func(pid int, _ *os.File) error { return syscall.Kill(pid, syscall.SIGINT) }},
		{"group", false, func(pid int, _ *os.File) error { return syscall.Kill(-pid, syscall.SIGINT) }},
		{"key", true, func(_ int, screen *os.File) error { _, err := screen.WriteString("\x03"); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := execCommand(t, "interrupts")
			var out, in *os.File
			if c.terminal {
				out, in = newTerminal(t)
				cmd.SysProcAttr.Setctty = true // standard input
				cmd.Stdin, cmd.Stdout, cmd.Stderr = in, in, in
			} else {
				var err error
				if out, in, err = os.Pipe(); err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				cmd.Stdout = in
			}
			err := cmd.Start()
			in.Close()
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for s := bufio.NewScanner(out); s.Scan(); {
				line := strings.TrimPrefix(strings.TrimSpace(s.Text()), "^C") // the terminal shows the key
				lines = append(lines, line)
				if line == "ready" {
					if err := c.interrupt(cmd.Process.Pid, out); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := cmd.Wait(); err != nil || fmt.Sprint(lines) != "[ready interrupt]" {
				t.Errorf("%v; the output is %q", err, lines)
			}
		})
	}
}

// TestExecKilled: if gemu exec is killed, the program is killed, too.
func TestExecKilled(t *testing.T) {
	cmd := execCommand(t, "sh", "-c", "echo $$; exec sleep 100")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	program, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	eventually(t, "the program ends", func() bool { return hasExited(program) })
}

// TestExecReapsOrphans: adopted processes that end while the program runs are removed from the process table.
func TestExecReapsOrphans(t *testing.T) {
	// The inner shell ends before its child, which gemu exec adopts.
	cmd := execCommand(t, "sh", "-c", `orphan=$(sh -c 'sleep 0.2 >/dev/null & echo $!'); for i in $(seq 100); do test -e /proc/$orphan || exit 0; sleep 0.1; done; exit 1`)
	if err := cmd.Run(); err != nil {
		t.Errorf("the process is there after 10 seconds: %v", err)
	}
}

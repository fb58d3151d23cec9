package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDebugOnTerminal finds the wrong mad of docs/wrong.ptx on a terminal, which tmux gives: it
// breaks in the divergent branch, looks at lane 5, goes on, and back.
func TestDebugOnTerminal(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not on the path")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	gemu := filepath.Join(dir, "gemu")
	if err := os.Symlink(self, gemu); err != nil { // by this name it is the command: see TestMain
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(tmux, append([]string{"-S", filepath.Join(dir, "socket"), "-f", "/dev/null"}, args...)...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v: %s", args[0], err, out)
		}
		return string(out)
	}
	do("-u", "new-session", "-d", "-x", "120", "-y", "48", fmt.Sprintf("%s debug ../../docs/wrong.ptx -g 1 -b 32 -a 'u32[32]=iota' 'u32[32]'; echo status $?; sleep 60", gemu))
	defer exec.Command(tmux, "-S", filepath.Join(dir, "socket"), "kill-server").Run()
	shows := func(want ...string) {
		t.Helper()
		screen := ""
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			screen = do("capture-pane", "-p", "-S", "-50")
			left := 0
			for _, w := range want {
				if !strings.Contains(screen, w) {
					left++
				}
			}
			if left == 0 {
				return
			}
		}
		t.Fatalf("the screen lacks some of %q:\n%s", want, screen)
	}
	say := func(text string) {
		t.Helper()
		do("send-keys", "-l", text)
		do("send-keys", "Enter")
	}
	shows("(gemu)", "it has not begun", "blend  block (0,0,0)")
	say("break LOWER if x == 5")
	shows("●    21", "Breakpoint 1 at")
	say("run")
	shows("Breakpoint 1, kernel blend", "thread (5,0,0)", "warp 0 lane 5", "%x       affine 0 + 1*lane")
	say("print x*(x+1) + i")
	shows("$1 = 35")
	say("stepi 2")
	shows("lanes 0-31", "%y       generic")
	say("print y")
	shows("$2 = 41")
	say("reverse-stepi")
	shows("mad.lo.u32 %y, %t, %t, %i;", "%t       affine 1 + 1*lane")
	say("print t")
	shows("$3 = 6")
	say("quit")
	shows("status 0")
}

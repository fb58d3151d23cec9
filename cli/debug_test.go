package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"
)

// TestDebugOnTerminal finds the wrong mad of docs/wrong.ptx on a terminal of tmux: it breaks in the divergent
// branch, inspects lane 5, continues, and goes back.
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
	if err := os.Symlink(self, gemu); err != nil { // under this name it is the command: see TestMain
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
	do("-u", "new-session", "-d", "-x", "120", "-y", "48", fmt.Sprintf("%s debug ../docs/wrong.ptx -g 1 -b 32 -a 'u32[32]=iota' 'u32[32]'; echo status $?; sleep 60", gemu))
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
	shows("(gemu)", "not started", "blend  block (0,0,0)")
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

// TestDebugByDAP starts the launch of a client's request, on standard input and output; stops a running
// kernel by a pause and by a breakpoint set meanwhile; and disconnects while it runs.
func TestDebugByDAP(t *testing.T) {
	dir := t.TempDir()
	const long = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
	.reg .u32 %i;
	.reg .u64 %a;
	.reg .pred %q;
	ld.param.u64 %a, [p];
	mov.u32 %i, 0;
LOOP:
	add.u32 %i, %i, 1;
	st.global.u32 [%a], %i;
	setp.ne.u32 %q, %i, 0;
	@%q bra LOOP;
	ret;
}
`
	if err := os.WriteFile(filepath.Join(dir, "long.ptx"), []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(t.Context(), []string{"debug", "--dap"}, in, out, io.Discard)
		out.Close()
	}()
	r, seq := bufio.NewReader(answers), 0
	until := func(is func(m dap.Message) bool) {
		t.Helper()
		for {
			m, err := dap.ReadProtocolMessage(r)
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := m.(*dap.ErrorResponse); ok {
				t.Fatalf("refused: %s", e.Message)
			}
			if is(m) {
				return
			}
		}
	}
	send := func(command, arguments string) {
		t.Helper()
		seq++
		b := fmt.Sprintf(`{"seq":%d,"type":"request","command":%q,"arguments":%s}`, seq, command, arguments)
		if err := dap.WriteBaseMessage(requests, []byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	stops := func(reason string) {
		t.Helper()
		until(func(m dap.Message) bool {
			e, ok := m.(*dap.StoppedEvent)
			if ok && e.Body.Reason != reason {
				t.Fatalf("it stops by %+v, want %s", e.Body, reason)
			}
			return ok
		})
	}
	send("initialize", `{"adapterID":"gemu"}`)
	send("launch", `{"program":"long.ptx","grid":1,"block":[32,1,1],"args":["u32[1]","7"],"mode":"vector"}`)
	until(func(m dap.Message) bool { _, ok := m.(*dap.InitializedEvent); return ok })
	send("configurationDone", `{}`)
	until(func(m dap.Message) bool { _, ok := m.(*dap.ConfigurationDoneResponse); return ok })
	send("pause", `{"threadId":1}`)
	stops("pause")
	send("evaluate", `{"expression":"n"}`)
	until(func(m dap.Message) bool {
		e, ok := m.(*dap.EvaluateResponse)
		if ok && e.Body.Result != "7" {
			t.Errorf("n is %s", e.Body.Result)
		}
		return ok
	})
	send("continue", `{"threadId":1}`)
	until(func(m dap.Message) bool { _, ok := m.(*dap.ContinueResponse); return ok })
	send("setFunctionBreakpoints", `{"breakpoints":[{"name":"opcode:st","condition":"i % 1000 == 0"}]}`)
	stops("breakpoint")
	send("setFunctionBreakpoints", `{"breakpoints":[]}`)
	send("continue", `{"threadId":1}`)
	until(func(m dap.Message) bool { _, ok := m.(*dap.ContinueResponse); return ok })
	send("disconnect", `{}`)
	until(func(m dap.Message) bool { _, ok := m.(*dap.DisconnectResponse); return ok })
	go io.Copy(io.Discard, r)
	select {
	case got := <-status:
		if got != 0 {
			t.Errorf("exit status %d", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

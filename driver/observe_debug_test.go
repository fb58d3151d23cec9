package driver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"gemu/debug"
	"gemu/sanitize"
)

// TestLaunchesStopInDebugger: launches stop as GEMU_DEBUG demands and continue at the user's command; their results do
// not change.
func TestLaunchesStopInDebugger(t *testing.T) {
	var messages bytes.Buffer
	script := "break opcode:st\nrun\nprint r4\nreverse-stepi\ncontinue\ndelete\ncontinue\ncontinue\nrun\nquit\n"
	front := debug.NewLines(strings.NewReader(script), &messages, "script", true)
	c := newClient(t, func(s *Settings) { s.Debug = &Debugging{Kernel: "add", Front: front} })
	at := c.alloc(256)
	c.write(at, 1, 2, 3)
	for range 3 { // debugged; quit at its first instruction; not debugged
		c.ok(c.launch("add", 1, 3, at, 10))
	}
	c.ok(c.launch("poke", 1, 1, at, 99)) // a different kernel
	c.expect(at, 99, 32, 33)
	for _, want := range []string{"Breakpoint 1, kernel add", "$1 = 11   (.u32 of lanes 0-2: affine 11 + 1*lane)", "The launch has ended, after 12 instructions", "(gemu) quit"} {
		if !strings.Contains(messages.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &messages)
		}
	}
	if n := strings.Count(messages.String(), "not started"); n != 2 {
		t.Errorf("%d launches are debugged:\n%s", n, &messages)
	}
}

// TestBreakpointInLaterKernel: a breakpoint is hit in a kernel that is launched later.
func TestBreakpointInLaterKernel(t *testing.T) {
	var messages bytes.Buffer
	front := debug.NewLines(strings.NewReader("break poke\ncontinue\ncontinue\nrun\ninfo breakpoints\nquit\n"), &messages, "script", true)
	c := newClient(t, func(s *Settings) { s.Debug = &Debugging{Front: front} })
	at := c.alloc(256)
	c.ok(c.launch("add", 1, 1, at, 10))
	c.ok(c.launch("poke", 1, 1, at, 99))
	for _, want := range []string{"Breakpoint 1 (poke) pending on later launches.", "The launch has ended", "Breakpoint 1, kernel poke, block (0,0,0)"} {
		if !strings.Contains(messages.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &messages)
		}
	}
}

// TestDebugWithLogAndSanitizers: launches with a log or sanitizers can be debugged forwards. Log and findings are the
// same as without a debugger, and going back is refused with the reason.
func TestDebugWithLogAndSanitizers(t *testing.T) {
	tools, err := sanitize.Parse("all")
	if err != nil {
		t.Fatal(err)
	}
	for _, watch := range []struct {
		why string
		by  func(s *Settings, file string)
	}{
		{"GEMU_LOG", func(s *Settings, file string) { s.Log = file }},
		{"GEMU_RECORD", func(s *Settings, file string) { s.Record = file }},
		{"GEMU_SANITIZE", func(s *Settings, file string) { s.Sanitize, s.SanitizeLog = tools, file }},
	} {
		var messages bytes.Buffer
		var logs []string
		for _, debugged := range []bool{false, true} {
			file := filepath.Join(t.TempDir(), "log")
			t.Run("", func(t *testing.T) {
				c := newClient(t, func(s *Settings) {
					if watch.by(s, file); debugged {
						s.Debug = &Debugging{Front: debug.NewLines(strings.NewReader("stepi 3\nreverse-stepi\ncontinue\ncontinue\n"), &messages, "", true)}
					}
				})
				at := c.alloc(256)
				c.ok(c.launch("add", 1, 3, at, 10)) // reads memory that was never written
			})
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, string(b))
		}
		if logs[0] != logs[1] || logs[0] == "" {
			t.Errorf("%s: debugged it is\n%s\nand else\n%s", watch.why, logs[1], logs[0])
		}
		if want := "cannot go back: "; !strings.Contains(messages.String(), want) || !strings.Contains(messages.String(), watch.why) || !strings.Contains(messages.String(), "The launch has ended") {
			t.Errorf("%s: it says\n%s", watch.why, &messages)
		}
	}
}

// TestDebugByDAP: a client attaches at the port.
func TestDebugByDAP(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	c := newClient(t, func(s *Settings) {
		if s.Debug, err = parseDebugging(fmt.Sprintf("dap:%d,add", port)); err != nil {
			t.Fatal(err)
		}
	})
	done := make(chan error)
	go func() { done <- attach(port) }()
	at := c.alloc(256)
	c.write(at, 1)
	c.ok(c.launch("add", 1, 1, at, 10))
	if err := <-done; err != nil {
		t.Error(err)
	}
	c.ok(c.launch("add", 1, 1, at, 10)) // the client has disconnected
	c.expect(at, 21)
}

// attach connects as a client, inspects the first instruction of a launch, and disconnects.
func attach(port int) error {
	var conn net.Conn
	var err error
	for conn == nil {
		if conn, err = net.Dial("tcp", fmt.Sprintf("localhost:%d", port)); err != nil {
			continue // not listening yet
		}
	}
	defer conn.Close()
	in := newMessages(conn)
	send := func(command string) {
		fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(command), command)
	}
	send(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"gemu"}}`)
	send(`{"seq":2,"type":"request","command":"attach","arguments":{"stopOnEntry":true}}`)
	if err := in.until(func(m dap.Message) bool { _, ok := m.(*dap.InitializedEvent); return ok }); err != nil {
		return err
	}
	send(`{"seq":3,"type":"request","command":"configurationDone"}`)
	if err := in.until(func(m dap.Message) bool { e, ok := m.(*dap.StoppedEvent); return ok && e.Body.Reason == "entry" }); err != nil {
		return err
	}
	send(`{"seq":4,"type":"request","command":"disconnect"}`)
	return in.until(func(m dap.Message) bool { _, ok := m.(*dap.DisconnectResponse); return ok })
}

// TestValuesOfGEMUDebug: valid and invalid values of GEMU_DEBUG.
func TestValuesOfGEMUDebug(t *testing.T) {
	for v, want := range map[string]Debugging{"1": {}, "add": {Kernel: "add"}, "dap:4711": {Port: 4711}, "dap:4711,add": {Port: 4711, Kernel: "add"}} {
		if d, err := parseDebugging(v); err != nil || *d != want {
			t.Errorf("%s: %+v, %v", v, d, err)
		}
	}
	for _, v := range []string{"dap:", "dap:x", "dap:0", "dap:70000"} {
		if _, err := parseDebugging(v); err == nil {
			t.Errorf("%s is taken", v)
		}
	}
}

// messages holds the messages of a connection.
type messages struct{ r *bufio.Reader }

func newMessages(r io.Reader) *messages { return &messages{bufio.NewReader(r)} }

// until reads up to a message of a kind.
func (m *messages) until(is func(dap.Message) bool) error {
	for {
		got, err := dap.ReadProtocolMessage(m.r)
		if err != nil || is(got) {
			return err
		}
	}
}

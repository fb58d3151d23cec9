package driver

// This file runs launches under the debugger.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"gemu/debug"
	"gemu/debug/dap"
	"gemu/internal/visible"
	"gemu/interp"
)

// Debugging selects the launches that stop before their first instruction, and the front end that controls them.
type Debugging struct {
	Kernel string // kernel whose launches stop; "": all kernels
	Port   int    // TCP port for a client of the Debug Adapter Protocol; 0: use the terminal of the process

	Front debug.Front // front end; nil: the front end that Port selects
}

// parseDebugging parses GEMU_DEBUG.
func parseDebugging(v string) (*Debugging, error) {
	d := &Debugging{Kernel: v}
	if rest, ok := strings.CutPrefix(v, "dap:"); ok {
		port, kernel, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("want dap:PORT or dap:PORT,KERNEL")
		}
		d.Port, d.Kernel = n, kernel
	}
	if d.Kernel == "1" {
		d.Kernel = ""
	}
	return d, nil
}

// debugger debugs a single launch at a time. Meanwhile launches on other streams wait.
type debugger struct {
	*Debugging
	d  *Driver
	mu sync.Mutex // held during a launch

	session *debug.Session // nil until the first launch
	output  *debug.Output
	front   debug.Front // nil until the first launch
	quit    bool        // the user has quit the debugger
}

// run runs a launch, under the debugger if the settings select it.
func (g *debugger) run(ctx context.Context, l *launch, run *interp.Launch) (*interp.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.quit && (g.Kernel == "" || g.Kernel == run.Kernel) && g.open() {
		g.session.Drive(run, g)
	}
	l.reportEngine(run)
	return l.f.module.mod.Run(ctx, run)
}

// open connects to the front end, unless it is connected. If that fails, it prints the reason, turns debugging off and
// returns false.
func (g *debugger) open() bool {
	if g.front != nil {
		return true
	}
	g.session = debug.New(debug.Options{Output: g.output, SourceDirs: g.d.settings.Source, NoCheckpoints: g.d.noCheckpoints()})
	var err error
	switch {
	case g.Front != nil:
		g.front = g.Front
	case g.Port > 0:
		g.front, err = g.listen()
	default:
		g.front, err = g.onTerminal()
	}
	if err != nil {
		g.quit = true
		g.d.message("GEMU_DEBUG: %v", err)
	}
	return err == nil
}

// onTerminal opens a front end on the terminal of the process. It does so even if the process's standard streams are
// redirected.
func (g *debugger) onTerminal() (debug.Front, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the process has no terminal: %w", err)
	}
	return debug.NewLines(tty, g.d.settings.PlainText(visible.NewWriter(tty)), "", true), nil
}

// listen waits for a client of the Debug Adapter Protocol.
func (g *debugger) listen() (debug.Front, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("localhost:%d", g.Port))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	g.d.message("GEMU_DEBUG: waiting for a client at %s", l.Addr())
	conn, err := l.Accept()
	if err != nil {
		return nil, err
	}
	s := dap.New(conn, conn)
	go func() {
		defer conn.Close()
		if err := s.Serve(context.Background(), nil); err != nil {
			g.d.message("GEMU_DEBUG: %v", err)
		}
	}()
	return s, nil
}

// Debug implements debug.Front: the front end controls the launch. After the user has quit the debugger, this launch and
// all later launches run without it.
func (g *debugger) Debug(ctx context.Context, s *debug.Session) error {
	err := g.front.Debug(ctx, s)
	if errors.Is(err, debug.ErrQuit) {
		g.quit = true
		return nil
	}
	return err
}

// noCheckpoints returns the reason why the debugger cannot go back; "" if it can.
func (d *Driver) noCheckpoints() string {
	switch s := &d.settings; {
	case s.Log != "":
		return "the log of GEMU_LOG already contains the executed instructions"
	case s.Record != "":
		return "the recording of GEMU_RECORD already contains the executed instructions"
	case s.Accelsim != "":
		return "the traces of GEMU_ACCELSIM already contain the executed instructions"
	case len(s.Sanitize) > 0:
		return "the sanitizers of GEMU_SANITIZE have already observed the executed instructions"
	case len(s.Probes) > 0:
		return "probes of the program have already observed the executed instructions"
	}
	return ""
}

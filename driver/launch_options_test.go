package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// Every variable of launchVariables exists, and documents and header name every option.
func TestLaunchOptionNames(t *testing.T) {
	for _, name := range launchVariables {
		if !slices.ContainsFunc(Variables, func(v Variable) bool { return v.Name == name }) {
			t.Errorf("no variable %s", name)
		}
	}
	for file, place := range map[string]string{"../docs/libraries.md": "`%s`", "../cmd/libgemu/gemu.h": "//  .*\\b%s\\b.*:"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(optionNames(), ", ") {
			if !regexp.MustCompile(fmt.Sprintf(place, name)).Match(text) {
				t.Errorf("%s does not name the option %s", file, name)
			}
		}
	}
}

// A launch does not mix value policies in the file of GEMU_STATS, and warps of another width do not reach models.
func TestLaunchOptionsAndProcess(t *testing.T) {
	c := newClient(t, nil)
	for _, options := range []string{"policy=kim", "policy=gemu mode=affine", "warp=16", "workers=2"} {
		if _, err := c.d.ParseLaunchOptions(options); err != nil {
			t.Errorf("%s: %v", options, err)
		}
	}
	c.d.settings.Stats = "file"
	if _, err := c.d.ParseLaunchOptions("policy=gemu"); err != nil { // the policy of the file
		t.Error(err)
	}
	_, err := c.d.ParseLaunchOptions("policy=kim")
	c.want(InvalidValue, "GEMU_POLICY", err)
	c.d.settings.Stats, c.d.settings.Accelsim = "", "directory"
	_, err = c.d.ParseLaunchOptions("warp=16")
	c.want(InvalidValue, "GEMU_ACCELSIM", err)
	c.d.settings.Accelsim = ""
}

// options parses the options of a launch.
func (c *client) options(text string) *LaunchOptions {
	c.Helper()
	return must(c.d.ParseLaunchOptions(text))(c.T)
}

// countKernel counts for centuries.
const countKernel = `.version 7.8 .target sm_80 .address_size 64 .entry count() {
	.reg .u64 %rd; .reg .pred %p; mov.u64 %rd, 0;
	L: add.u64 %rd, %rd, 1; setp.lt.u64 %p, %rd, 0x7fffffffffffffff; @%p bra L; ret; }`

// time_limit=0 lifts the limit of GEMU_TIME_LIMIT. Messages name the option if it has set the limit, and otherwise the
// variable.
func TestLaunchOptionLimits(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.TimeLimit, s.Steps = time.Microsecond, 1<<22 })
	c.mod = c.load(countKernel)
	p := launchParams(c.function("count"), 1, 1)
	for _, k := range []struct{ options, want string }{
		{"time_limit=0", "GEMU_STEPS raises the limit"},
		{"time_limit=0 steps=4000000", "launch option steps raises the limit"},
		{"steps=1000000000000", "GEMU_TIME_LIMIT sets the limit"},
		{"steps=1000000000000 time_limit=1us", "launch option time_limit sets the limit"},
	} {
		p.Options = c.options(k.options)
		_, err := c.Thread.Run(p)
		c.want(LaunchTimeout, k.want, err)
	}
}

// The message about a launch that runs in Go names the place that has selected machine code, and only such a launch has one.
func TestLaunchOptionEngine(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("there is no machine code for this host")
	}
	for _, k := range []struct {
		process bool // GEMU_ENGINE=native
		options string
		want    string // "": no message
	}{
		{false, "engine=native structure=1", "gemu: launch option engine=native: in launches observed"},
		{true, "structure=1", "gemu: GEMU_ENGINE=native: in launches observed"},
		{true, "engine=auto structure=1", ""},
		{false, "structure=1", ""},
	} {
		c := newClient(t, func(s *Settings) { s.Native = k.process })
		p := launchParams(c.function("add"), 1, 1, c.alloc(16), 1)
		p.Options = c.options(k.options)
		must(c.RunForOutcome(p))(t)
		if messages := c.messages.String(); strings.Contains(messages, "=native:") != (k.want != "") || !strings.Contains(messages, k.want) {
			t.Errorf("%+v: messages %q", k, messages)
		}
	}
}

// A launch that has begun has an outcome also if it is stopped without a fault.
func TestOutcomeOfStoppedLaunch(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.Stats = filepath.Join(t.TempDir(), "s.json") }) // so that launches can be stopped
	c.mod = c.load(countKernel)
	p := launchParams(c.function("count"), 1, 1)
	p.Options = c.options("sanitize=sync")
	p.Probes = []probe.Probe{stopAtBegin{c.d}}
	o, err := c.RunForOutcome(p)
	c.want(Unknown, errProcessEnds.Error(), err)
	if o == nil || o.Result != nil || o.Statistics.Total.Launches != 0 || o.Findings.Complete || o.Findings.Launches.NotJudged != 1 {
		t.Errorf("outcome %+v", o)
	}
}

// Interrupt stops a launch that waits for another one: it executes nothing.
func TestInterruptOfWaitingLaunch(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(countKernel)
	p := launchParams(c.function("count"), 1, 1)
	p.Options = c.options("id=1 steps=1000000000000000000")
	begun := make(chan bool, 2)
	p.Probes = []probe.Probe{launchCounter{begun}}
	context := must(c.CtxGetCurrent())(t)
	run := func(p LaunchParams) chan error {
		ended := make(chan error, 1)
		thread := c.d.NewThread()
		c.ok(thread.CtxSetCurrent(context))
		go func() {
			_, err := thread.Run(&p)
			ended <- err
		}()
		return ended
	}
	first := run(*p)
	<-begun
	p.Options = c.options("id=2 steps=1000000000000000000")
	second := run(*p)
	for c.d.Interrupt(2) != nil {
		time.Sleep(time.Millisecond)
	}
	c.ok(c.d.Interrupt(1))
	for _, ended := range []chan error{first, second} {
		c.want(LaunchTimeout, "kernel count stopped: "+errInterrupted.Error(), <-ended)
	}
	if len(begun) > 0 {
		t.Error("the second launch has begun")
	}
	c.want(NotFound, "no launch", c.d.Interrupt(2))
}

// launchCounter sends to a channel when a launch begins.
type launchCounter struct{ begun chan<- bool }

func (launchCounter) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch}
}
func (launchCounter) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }
func (p launchCounter) OnEvent(*probe.Event)                          { p.begun <- true }

// stopAtBegin stops a driver's launches when a launch begins.
type stopAtBegin struct{ d *Driver }

func (stopAtBegin) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch}
}
func (stopAtBegin) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }
func (p stopAtBegin) OnEvent(*probe.Event)                          { p.d.unended.stop(errProcessEnds) }

// Package outcome reports failed launches, and counts the launches that sanitizers have judged. It is part of
// every set of tools: a kernel that stops is an error for each of them.
package outcome

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// Name is the name of this tool in findings. Users cannot select it.
const Name = "launch"

// The kinds of findings. A trap has the kind of its probe.Trap: "out-of-bounds access".
const (
	Refused     = "launch refused"            // the launch could not begin
	Unsupported = "instruction not supported" // the kernel needs an instruction outside gemu's scope
	Stopped     = "launch stopped"            // the launch was cancelled, or the host lacked memory for it
	NotJudged   = "launch not judged"         // the tools did not watch the launch
)

// Probe reports failed launches. It is safe for concurrent launches. A launch that is restored and ends again counts once,
// if no further launch has ended meanwhile.
type Probe struct {
	log *finding.Log

	mu        sync.Mutex
	judged    uint64 // launches with an end
	notJudged uint64 // launches without a beginning, or cancelled
	last      uint64 // ID of the latest launch to end
}

// New returns a probe that writes its findings to log.
func New(log *finding.Log) *Probe { return &Probe{log: log} }

// Subscription asks for the ends of launches.
func (p *Probe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunchEnd}
}

// CTA returns nil: the probe needs no events of CTAs.
func (p *Probe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

// OnEvent handles the end of a launch.
func (p *Probe) OnEvent(e *probe.Event) {
	p.mu.Lock()
	again := e.Launch.ID == p.last
	p.last = e.Launch.ID
	p.mu.Unlock()
	if again {
		return
	}
	if e.Err == nil {
		p.count(1, 0)
		return
	}
	f := FindingOf(e.Launch.Kernel.Name, e.Err)
	if f.Kind == Stopped {
		p.count(0, 1)
	} else {
		p.count(1, 0)
	}
	// Errors of all other tools in this launch come first.
	p.log.Add(&probe.Event{Launch: e.Launch, CTA: math.MaxInt}, f)
}

func (p *Probe) count(judged, notJudged uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judged += judged
	p.notJudged += notJudged
}

// Fail reports the error of a launch that could not begin and so has no events.
func (p *Probe) Fail(kernel string, err error) {
	p.count(0, 1)
	f := FindingOf(kernel, err)
	if f.Kind == Stopped {
		f.Kind, f.Message = Refused, "the launch was refused: "+f.Message
	}
	p.log.Add(&probe.Event{CTA: math.MaxInt}, f)
}

// Miss reports n launches of a kernel without the tools, and the reason. severity is finding.Notice if another
// finding gives the cause.
func (p *Probe) Miss(kernel string, n int, severity finding.Severity, reason string) {
	p.count(0, uint64(n))
	p.log.Add(&probe.Event{CTA: math.MaxInt}, finding.Finding{
		Tool: Name, Kind: NotJudged, Severity: severity, Message: "a launch was not judged: " + reason,
		Place: finding.Place{Role: "launch", Kernel: kernel}, Count: n,
	})
}

// Counts returns the numbers of judged and not judged launches.
func (p *Probe) Counts() (judged, notJudged uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.judged, p.notJudged
}

// FindingOf describes the error of a launch as a finding. The error must not be nil.
func FindingOf(kernel string, err error) finding.Finding {
	text, _, _ := strings.Cut(err.Error(), "\n")
	f := finding.Finding{Tool: Name, Kind: Stopped, Message: text, Place: finding.Place{Role: "launch", Kernel: kernel}}
	var trap *probe.Trap
	var refused *interp.LaunchError
	var unsupported *ptx.Unsupported
	switch {
	case errors.As(err, &trap):
		f.Kind, f.Message, f.Place = trap.Kind.Error(), "trap: "+trap.Msg, finding.OfTrap(trap)
		if trap.Nearby != "" {
			f.Notes = append(f.Notes, "nearest allocation: "+trap.Nearby)
		}
		f.Notes = append(f.Notes, trap.Notes...)
	case errors.As(err, &unsupported):
		f.Kind, f.Message = Unsupported, fmt.Sprintf("%s: %s", Unsupported, unsupported.Feature)
		f.Place.File, f.Place.Line, f.Place.Column, f.Place.Instr = unsupported.File, int(unsupported.Pos.Line), int(unsupported.Pos.Col), unsupported.Line
	case errors.As(err, &refused):
		f.Kind, f.Message = Refused, "the launch was refused: "+refused.Msg
	}
	return f
}

// Package outcome reports launches that fail, and counts the launches that sanitizers have judged. It is
// part of every set of tools: a kernel that stops is an error, whatever tool was asked for.
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

// Name is the tool's name in findings. It cannot be asked for.
const Name = "launch"

// The kinds of findings. The kind of a trap is that of probe.Trap: "out-of-bounds access".
const (
	Refused     = "launch refused"            // the launch could not begin
	Unsupported = "instruction not supported" // the kernel needs an instruction that gemu does not run
	Stopped     = "launch stopped"            // the launch was cancelled, or the host lacked memory for it
	NotJudged   = "launch not judged"         // the tools have not seen the launch
)

// Probe is the tool.
type Probe struct {
	log *finding.Log

	mu        sync.Mutex
	judged    uint64 // launches that came to an end
	notJudged uint64 // launches that did not begin, or were cancelled
	last      uint64 // ID of the launch that ended last
}

// New makes the tool.
func New(log *finding.Log) *Probe { return &Probe{log: log} }

// Subscription asks for the ends of launches.
func (p *Probe) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunchEnd}
}

// CTA returns nil: a CTA alone says nothing about how its launch ends.
func (p *Probe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }

// OnEvent handles the end of a launch. A launch that is restored and ends again counts once.
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
	// Errors of the other tools in this launch come first.
	p.log.Add(&probe.Event{Launch: e.Launch, CTA: math.MaxInt}, f)
}

func (p *Probe) count(judged, notJudged uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judged += judged
	p.notJudged += notJudged
}

// Fail reports the error of a launch that no probe was told of: it could not begin.
func (p *Probe) Fail(kernel string, err error) {
	p.count(0, 1)
	f := FindingOf(kernel, err)
	if f.Kind == Stopped {
		f.Kind, f.Message = Refused, "the launch was refused: "+f.Message
	}
	p.log.Add(&probe.Event{CTA: math.MaxInt}, f)
}

// Miss reports n launches of a kernel that began without the tools, or never began. The severity is
// finding.Notice where another finding says why.
func (p *Probe) Miss(kernel string, n int, severity finding.Severity, reason string) {
	p.count(0, uint64(n))
	p.log.Add(&probe.Event{CTA: math.MaxInt}, finding.Finding{
		Tool: Name, Kind: NotJudged, Severity: severity, Message: "a launch was not judged: " + reason,
		Place: finding.Place{Role: "launch", Kernel: kernel}, Count: n,
	})
}

// Counts returns how many launches were judged, and how many were not.
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

package cli

// This file adds sanitizers to "gemu run".

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"gemu/interp"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// sanitizeFlags select the sanitizers, which find faults that do not stop a kernel.
type sanitizeFlags struct {
	Sanitize      *string `help:"Find errors that do not stop a kernel; see docs/sanitizers.md. An error makes the exit status 1. TOOL is all, or one of:${sanitizers}" unset:"none" placeholder:"TOOL,…"`
	SanitizeLimit int     `default:"100" help:"Print at most N findings of --sanitize; 0 prints all." placeholder:"N"`
	SanitizeSeeds int     `default:"1" help:"Run the kernel N times under --sanitize, each time with another schedule (--seed), and report the findings of all runs." placeholder:"N"`
	WarpSync      int     `help:"For --sanitize=race: assume that groups of N lanes run in lockstep, so that lanes of a group do not race with each other." unset:"the whole warp before sm_70, else no groups" placeholder:"N"`
}

// sanitizers returns the sanitizers selected by the flags.
func (c *sanitizeFlags) sanitizers(a *app) (*sanitize.Sanitizer, error) {
	if err := checkMinimums(minimum{"--sanitize-limit", int64(c.SanitizeLimit), 0}, minimum{"--sanitize-seeds", int64(c.SanitizeSeeds), 1}); err != nil {
		return nil, err
	}
	if c.WarpSync < 0 || c.WarpSync > 64 || c.WarpSync&(c.WarpSync-1) != 0 {
		return nil, fmt.Errorf("--warp-sync %d: want a number of lanes: 1, 2, 4, 8, 16, 32 or 64", c.WarpSync)
	}
	if c.Sanitize == nil {
		if c.SanitizeSeeds > 1 || c.WarpSync > 0 {
			return nil, errors.New("--sanitize-seeds and --warp-sync need --sanitize")
		}
		return &sanitize.Sanitizer{}, nil
	}
	tools, err := sanitize.Parse(*c.Sanitize, a.Sanitizers...)
	if err != nil {
		return nil, fmt.Errorf("--sanitize: %w", err)
	}
	return sanitize.New(tools, sanitize.Options{WarpSync: c.WarpSync}), nil
}

// findings returns the findings of the sanitizers, and their findings under further schedules. It
// returns nil without sanitizers.
func (c *runCmd) findings(a *app, watch *sanitize.Sanitizer, j *job, prepare func(l *interp.Launch)) (*sanitize.Report, error) {
	if c.Sanitize == nil {
		return nil, nil
	}
	j.copyBack()
	watch.Finish()
	list, coverage := watch.Findings(), watch.Coverage()
	for i := 1; i < c.SanitizeSeeds; i++ {
		if c.File == "-" {
			return nil, errors.New("--sanitize-seeds reads the file several times: the file cannot be standard input")
		}
		seed := c.Seed + uint64(i)
		s, err := c.sanitizers(a)
		if err != nil {
			return nil, err
		}
		j, err := c.open(a, io.Discard, s.Probes...)
		if err != nil {
			return nil, err
		}
		err = j.run(a, func(l *interp.Launch) {
			prepare(l)
			l.Seed, l.Structure, l.Probes = seed, false, nil
		})
		if a.ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			fmt.Fprintf(a.stderr, "gemu: with --seed %d: %v\n", seed, err)
		}
		j.copyBack()
		s.Finish()
		list = finding.Merge(list, s.Findings(), fmt.Sprintf("found with --seed %d", seed))
		other := s.Coverage()
		coverage.Judged += other.Judged
		coverage.NotJudged += other.NotJudged
	}
	return sanitize.NewReport(list, coverage), nil
}

// copyBack copies the buffers to the host, as a program that reads its results would: sanitizers
// check copied memory.
func (j *job) copyBack() {
	for _, name := range slices.Sorted(maps.Keys(j.arguments.Bindings)) {
		if b := j.arguments.Bindings[name].Buffer; b != nil {
			b.Read(0, make([]byte, len(b.Bytes())))
		}
	}
}

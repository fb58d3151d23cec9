package cli

// This file is "gemu replay".

import (
	"errors"
	"fmt"
	"strings"

	"gemu/internal/cleanup"
	"gemu/trace"
)

type replayCmd struct {
	Log   string   `arg:"" help:"Log of another simulator, or of another run of gemu trace."`
	File  string   `arg:"" predictor:"source" help:"Program to run for comparison: PTX file, CUDA C++, or @NAME of a workload."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	kernelFlags
	machineFlags
	filterFlags  `group:"compare"`
	compareFlags `group:"compare"`
}

func (c *replayCmd) Run(a *app) error {
	if c.Log == "-" || c.File == "-" {
		return errors.New("a log is read several times: it cannot be standard input")
	}
	filter, err := c.filter()
	if err != nil {
		return err
	}
	otherLog := logFile(c.Log)
	l, err := otherLog.First()
	if err != nil {
		return err
	}
	runCmd := traceCmd{launchFlags: launchFlags{sourceArg: sourceArg{c.File}, Extra: c.Extra, kernelFlags: c.kernelFlags}, machineFlags: c.machineFlags}
	if l != nil && !strings.HasPrefix(c.File, "@") {
		runCmd.matchLaunch(l)
	}
	dir, remove, err := cleanup.Dir("", "gemu-replay-*")
	if err != nil {
		return err
	}
	defer remove()
	run, err := runCmd.live(a, dir, "run", filter)
	if err != nil {
		return err
	}
	return c.compare(a, otherLog, run, filter)
}

// matchLaunch sets grid, block, cluster and kernel as in a launch of a log, unless flags set them.
func (c *traceCmd) matchLaunch(l *trace.Launch) {
	set := func(flag *string, d []uint64) {
		if *flag == "" && len(d) == 3 {
			*flag = fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2])
		}
	}
	set(&c.Grid, l.Grid)
	set(&c.Block, l.Block)
	set(&c.Cluster, l.Cluster)
	if c.Kernel == "" {
		c.Kernel = l.Kernel
	}
}

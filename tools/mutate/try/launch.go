package main

// This file runs the kernels made by the other files of this package. The kernels of a module are k0, k1 and so on.

import (
	"context"
	"errors"
	"fmt"

	"gemu/internal/trial"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// load loads a module on a new device.
func load(name, text string) (*interp.Module, error) {
	return interp.NewDevice(interp.Config{Workers: 1}).Load(name, []byte(text))
}

// warp returns a launch of kernel n of a module, with a single warp.
func warp(n int, eager bool, args ...any) *interp.Launch {
	return &interp.Launch{Kernel: fmt.Sprintf("k%d", n), Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: args, CompileEagerly: eager}
}

// input returns the input of a launch in check mode.
func input(name string, mod *interp.Module, l *interp.Launch) trial.Input {
	return trial.Input{Name: name, Kind: trial.Check, Run: func() trial.Result { return run(name, mod, l) }}
}

// underKim returns the input of a launch in check mode with statistics under policy kim.
func underKim(name string, mod *interp.Module, l *interp.Launch) trial.Input {
	launch := *l
	launch.Structure, launch.Policy = true, kim
	i := input(name+", under kim", mod, &launch)
	i.Kind = trial.Fallback
	return i
}

// run launches a kernel of a module with its initial values.
func run(name string, mod *interp.Module, l *interp.Launch) trial.Result {
	mod.Reset()
	n, err := mod.Run(context.Background(), l)
	if err != nil && !errors.As(err, new(*probe.Trap)) {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return result(err, []*interp.Result{n}, nil)
}

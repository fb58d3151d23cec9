package driver

// This file runs kernels on memory of the host, for clients without the driver API.

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// HostLaunch is a launch on memory of the host.
type HostLaunch struct {
	PTX         []byte   // text of the module
	Args        []uint64 // a number per parameter, which takes its low bytes
	Grid, Block ptx.Dim3 // extents of the grid in CTAs, and of a CTA in threads
	Shared      int      // dynamic shared memory, in bytes
}

// hostDevice is a device whose memory is the memory of the host.
type hostDevice struct {
	mu          sync.Mutex
	dev         *interp.Device // nil before the first launch
	modules     map[*ptx.Module]*interp.Module
	oldestFirst []*ptx.Module // the keys of modules in the order of their loading
}

// hostModules is the maximum number of loaded modules.
const hostModules = 1024

// RunHost runs the first kernel of a module and waits for it. Addresses of global memory are addresses of the host. An
// access to an address without memory is a trap. The module's variables have their initial values in every launch.
// Concurrent calls run in sequence.
func (d *Driver) RunHost(l *HostLaunch) error {
	kernel, err := d.runHost(l)
	d.kernelOutput.flush()
	switch {
	case err != nil:
		d.launchFailed(kernel, false, err)
	case len(d.settings.Sanitize) > 0:
		d.sanitizer.Miss(kernel, 1, finding.Error, "ptx_run uses the memory of the process, which sanitizers cannot observe")
	}
	if err != nil {
		return failBy(hostResult(err), err)
	}
	return nil
}

// hostResult returns the result code of a failed or unstarted launch.
func hostResult(err error) Result {
	if _, ok := err.(ptx.ErrorList); ok {
		return InvalidPTX
	}
	return faultResult(err)
}

// runHost implements RunHost. It also returns the name of the kernel for messages.
func (d *Driver) runHost(l *HostLaunch) (kernel string, err error) {
	parsed, err := d.parse("", l.PTX)
	if err != nil {
		return "a kernel", err
	}
	kernels := parsed.Kernels()
	if len(kernels) == 0 {
		return "a kernel", &interp.LaunchError{Msg: parsed.Name + " has no kernel"}
	}
	k := kernels[0]
	if len(l.Args) != len(k.Params) {
		return k.Name, &interp.LaunchError{Msg: fmt.Sprintf("kernel %s has %d parameters, %d arguments are given", k.Name, len(k.Params), len(l.Args))}
	}
	args := make([]any, len(l.Args))
	for i, p := range k.Params {
		if p.Size() > 8 {
			return k.Name, &interp.LaunchError{Msg: fmt.Sprintf("kernel %s: parameter %d has %d bytes: ptx_run passes arguments of at most 8 bytes", k.Name, i, p.Size())}
		}
		args[i] = binary.LittleEndian.AppendUint64(nil, l.Args[i])[:p.Size()]
	}
	h := &d.host
	h.mu.Lock()
	defer h.mu.Unlock()
	m, err := h.module(d, parsed)
	if err != nil {
		return k.Name, err
	}
	m.Reset()
	r, err := m.Run(context.Background(), &interp.Launch{
		Kernel: k.Name, Grid: l.Grid, Block: l.Block, Args: args, Shared: l.Shared,
		MaxSteps: d.settings.Steps, Mode: d.settings.Mode, Policy: d.settings.Policy, Reconverge: d.settings.Reconverge, EagerEffects: d.settings.Early, Structure: d.settings.Stats != "",
	})
	if err == nil {
		d.stats.add(k, r)
	}
	return k.Name, err
}

// module loads a module unless it is loaded. The caller must hold h.mu.
func (h *hostDevice) module(d *Driver, parsed *ptx.Module) (*interp.Module, error) {
	if h.dev == nil {
		if err := h.start(d); err != nil {
			return nil, err
		}
	}
	if m := h.modules[parsed]; m != nil {
		return m, nil
	}
	m, err := h.dev.LoadModule(parsed)
	if err != nil {
		return nil, err
	}
	h.modules[parsed] = m
	if h.oldestFirst = append(h.oldestFirst, parsed); len(h.oldestFirst) > hostModules {
		h.modules[h.oldestFirst[0]].Unload()
		delete(h.modules, h.oldestFirst[0])
		h.oldestFirst = h.oldestFirst[1:]
	}
	return m, nil
}

// hostBegin is the lowest address of host memory for kernels: above the windows of interp.
const hostBegin = 4 << 20

// hostEnd returns the end of the address space of a process.
func hostEnd() uint64 {
	if runtime.GOARCH == "amd64" {
		return 1<<47 - 1<<12
	}
	return 1<<48 - 1<<12
}

// hostEngine returns the engine for kernels on host memory. Machine code makes accesses that may fault in vector mode on x86-64
// only. Elsewhere it leaves each access to Go, and Go alone is faster.
func (s *Settings) hostEngine() interp.Engine {
	if runtime.GOARCH == "amd64" && s.Mode == interp.Vector {
		return s.Engine
	}
	return interp.Portable
}

// start makes the device. All addresses of the host form a single allocation, and an access to an address without memory
// causes a fault of the host.
func (h *hostDevice) start(d *Driver) error {
	dev := interp.NewDevice(interp.Config{
		Memory: d.settings.Memory, Workers: d.settings.Workers, HostMemory: d.settings.Host, Stdout: &d.kernelOutput,
		Base: firstAddress, Allocate: d.pages.Allocate, SM: d.settings.SM, Engine: d.settings.hostEngine(), TimeLimit: d.settings.TimeLimit, Tolerance: d.settings.Tolerate, OnTolerated: d.reportTolerated,
	})
	all := hostBytes(pointer(hostBegin), hostEnd()-hostBegin)
	if _, err := dev.Map(hostBegin, all, "memory of the host", 0); err != nil {
		return err
	}
	h.dev, h.modules = dev, map[*ptx.Module]*interp.Module{}
	return nil
}

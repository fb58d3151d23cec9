package driver

// This file implements kernel launches.

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// LaunchParams holds the parameters of a launch, like CUDA_KERNEL_NODE_PARAMS.
type LaunchParams struct {
	Func        Handle   // handle of a function or a kernel
	Grid, Block ptx.Dim3 // extents of the grid in CTAs, and of a CTA in threads
	Shared      uint32   // dynamic shared memory, in bytes

	Cooperative bool     // the blocks may wait for each other
	Cluster     ptx.Dim3 // cluster size in blocks; zero: the size required by the kernel, if any

	// The arguments: an array of pointers to them, an "extra" array with a description of a buffer, or the buffer
	// itself.
	Params, Extra unsafe.Pointer
	Buffer        []byte // the arguments at the offsets of the kernel's parameters; nil: not used

	// LargestShared allows all shared memory of the device, as FuncMaxDynamicShared would.
	LargestShared bool

	Probes []probe.Probe // observers of this launch

	Options *LaunchOptions // options of this launch; nil: the settings of the driver
}

// Keys of the extra array.
const (
	extraEnd     = 0
	extraPointer = 1
	extraSize    = 2
)

// launch is a checked launch with copied arguments.
type launch struct {
	f               *Function
	handle          Handle // handle by which the client named the kernel
	spec            interp.Launch
	options         *LaunchOptions // of the launch, or with the settings of the driver
	clientArguments *ClientMemory  // a C copy of the arguments; nil: no client has requested it
}

// checkExtents checks the extents and the dynamic shared memory of a launch, and whether a cooperative launch fits the
// device. It returns the cluster size, and does not use the arguments. The caller must not hold d.mu.
func (f *Function) checkExtents(d *Driver, p *LaunchParams) (cluster ptx.Dim3, err error) {
	d.mu.Lock()
	maximum, remedy := f.dynamicLimit(), "cuFuncSetAttribute raises the limit"
	if p.LargestShared {
		maximum, remedy = max(d.limits().PerBlock-f.info.Shared, 0), fmt.Sprintf("the kernel has %d bytes of static shared memory, and the device has %d for a block; another compute capability (GEMU_SM, launch option sm) may have more", f.info.Shared, d.limits().PerBlock)
	}
	cluster, err = f.clusterOf(p.Cluster)
	d.mu.Unlock()
	if err != nil {
		return cluster, d.printError(err)
	}
	if err := f.module.mod.CheckExtent(f.kernel.Name, p.Grid, p.Block, cluster); err != nil {
		return cluster, d.printError(fail(InvalidValue, "%v", err))
	}
	if int64(p.Shared) > int64(maximum) {
		return cluster, d.printError(fail(InvalidValue, "kernel %s: %d bytes of dynamic shared memory, at most %d are allowed; %s", f.kernel.Name, p.Shared, maximum, remedy))
	}
	if p.Cooperative {
		n, err := f.residency(p.Block.Count(), int(p.Shared))
		if err != nil {
			return cluster, err
		}
		if maximum := n * interp.Multiprocessors; p.Grid.Count() > maximum {
			return cluster, d.printError(fail(CooperativeLaunchTooLarge, "kernel %s: a cooperative launch of %d blocks: the device holds at most %d at once", f.kernel.Name, p.Grid.Count(), maximum))
		}
	}
	return cluster, nil
}

// prepare checks a launch and copies its arguments. The caller must not hold d.mu.
func (t *Thread) prepare(p *LaunchParams) (*launch, error) {
	f, info, err := t.prepared(p.Func)
	if err != nil {
		return nil, err
	}
	d := t.d
	params := *p
	p = &params
	if p.Block, err = f.module.mod.Block(f.kernel.Name, p.Block); err != nil {
		return nil, d.printError(fail(InvalidValue, "%v", err))
	}
	cluster, err := f.checkExtents(d, p)
	if err != nil {
		return nil, err
	}
	args, err := p.arguments(f.kernel.Name, info)
	if err != nil {
		return nil, d.printError(err)
	}
	o := p.Options
	if o == nil {
		o = d.defaultOptions()
	}
	return &launch{f: f, handle: p.Func, options: o, spec: interp.Launch{
		Kernel: f.kernel.Name, Grid: p.Grid, Block: p.Block, Args: args, Shared: int(p.Shared), Cooperative: p.Cooperative, Cluster: cluster,
		MaxSteps: o.settings.Steps, Mode: o.settings.Mode, Policy: o.settings.Policy, Reconverge: o.settings.Reconverge, EagerEffects: o.settings.Early, Structure: o.structure || o.settings.Stats != "",
		Engine: o.settings.Engine, Workers: o.settings.Workers, TimeLimit: cmp.Or(o.settings.TimeLimit, -1), WarpSize: o.warp, Seed: o.seed, SM: o.settings.SM,
		Probes: p.Probes,
	}}, nil
}

// arguments copies the arguments of a launch from the client's memory.
func (p *LaunchParams) arguments(kernel string, info *interp.KernelInfo) (args []any, err error) {
	switch {
	case len(info.Params) == 0:
		return nil, nil
	case p.Params != nil && p.Extra != nil:
		return nil, fail(InvalidValue, "kernel %s: kernelParams and extra must not both be passed", kernel)
	case p.Params == nil && p.Extra == nil && p.Buffer == nil:
		return nil, fail(InvalidValue, "kernel %s: it has %d parameters, no arguments were passed", kernel, len(info.Params))
	}
	fault := safely(func() {
		if p.Params != nil {
			for i, param := range info.Params {
				ptr := pointer(binary.LittleEndian.Uint64(hostBytes(unsafe.Add(p.Params, 8*i), 8)))
				if ptr == nil {
					err = fail(InvalidValue, "kernel %s: the pointer to argument %d is null", kernel, i)
					return
				}
				args = append(args, append([]byte(nil), hostBytes(ptr, uint64(param.Size))...))
			}
			return
		}
		buffer := p.Buffer
		if p.Extra != nil {
			if buffer, err = extraBuffer(p.Extra); err != nil {
				return
			}
		}
		for i, param := range info.Params {
			if param.Offset+param.Size > len(buffer) {
				err = fail(InvalidValue, "kernel %s: the buffer of arguments has %d bytes of %d: it does not contain argument %d at offset %d", kernel, len(buffer), info.ParamBytes, i, param.Offset)
				return
			}
			args = append(args, append([]byte(nil), buffer[param.Offset:param.Offset+param.Size]...))
		}
	})
	if fault != nil {
		return nil, fault
	}
	return args, err
}

// extraBuffer returns the buffer described by the extra array of a launch.
func extraBuffer(extra unsafe.Pointer) ([]byte, error) {
	var ptr unsafe.Pointer
	size, sized := uint64(0), false
	for i := 0; ; i += 2 {
		entry := hostBytes(unsafe.Add(extra, 8*i), 16)
		key, value := binary.LittleEndian.Uint64(entry), pointer(binary.LittleEndian.Uint64(entry[8:]))
		switch key {
		case extraEnd:
			if ptr == nil || !sized || size > 1<<16 {
				return nil, fail(InvalidValue, "the extra launch arguments need CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE")
			}
			return hostBytes(ptr, size), nil
		case extraPointer:
			ptr = value
		case extraSize:
			size, sized = binary.LittleEndian.Uint64(hostBytes(value, 8)), true
		default:
			return nil, fail(InvalidValue, "unknown extra launch argument %d", key)
		}
	}
}

// bind returns a copy of the launch with the current bindings of its module's references. It fails if the module was
// unloaded. After the submission, an unload waits for the launch. The caller must hold d.mu.
func (l *launch) bind() (*launch, error) {
	if !l.f.module.alive() {
		return nil, fail(InvalidHandle, "the module of kernel %s was unloaded", l.f.kernel.Name)
	}
	bindings, err := l.f.module.bindings()
	if err != nil {
		return nil, l.f.module.ctx.dev.d.printError(err)
	}
	bound := *l
	bound.spec.Objects = bindings
	return &bound, nil
}

// LaunchKernel is cuLaunchKernel.
func (t *Thread) LaunchKernel(p *LaunchParams, stream Handle) error {
	prepared, err := t.prepare(p)
	if err != nil {
		return t.reportRefused(p.Func, err)
	}
	if err := t.checkResident(p, prepared, stream); err != nil {
		return t.reportRefused(p.Func, err)
	}
	s, l, err := t.enterLaunch(prepared, stream)
	switch {
	case err != nil:
		return t.reportRefused(p.Func, err)
	case s.capture != nil:
		return s.record(KernelNode, prepared)
	}
	blocking := t.d.settings.Blocking
	return s.finish(s.submitLaunch(l, l.run, blocking), blocking)
}

// submitLaunch is submitFor for a launch, which run executes. The caller must hold d.mu.
func (s *Stream) submitLaunch(l *launch, run operation, awaited bool) *task {
	d := s.ctx.dev.d
	var t *task
	t = s.submitFor(awaited, "a launch", func(o *probe.HostOrder) error {
		if err := t.noteLaunch(d); err != nil {
			return err
		}
		return run(o)
	})
	d.expectLaunches(t, l.f.kernel.Name)
	return t
}

// enterLaunch locks d.mu for a launch on a stream, and binds the launch. The caller must unlock d.mu, unless enterLaunch
// returns an error.
func (t *Thread) enterLaunch(l *launch, stream Handle) (*Stream, *launch, error) {
	s, err := t.enterWork(stream)
	if err != nil {
		return nil, nil, err
	}
	if l, err = l.bind(); err == nil && l.f.module.ctx != s.ctx {
		err = fail(InvalidHandle, "kernel %s and the stream belong to different contexts", l.f.kernel.Name)
	}
	if err != nil {
		t.d.mu.Unlock()
		return nil, nil, err
	}
	return s, l, nil
}

// Run runs a kernel on the default stream and waits for it. Unlike with LaunchKernel, a fault does not affect the
// context.
func (t *Thread) Run(p *LaunchParams) (*interp.Result, error) {
	_, r, err := t.runLaunch(p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// runLaunch is Run that also returns the launch, and the result after a fault. The launch is nil if it was refused, and the
// result is nil if it did not begin.
func (t *Thread) runLaunch(p *LaunchParams) (*launch, *interp.Result, error) {
	l, err := t.prepare(p)
	if err != nil {
		return nil, nil, t.reportRefused(p.Func, err)
	}
	s, l, err := t.enterLaunch(l, 0)
	if err != nil {
		return nil, nil, t.reportRefused(p.Func, err)
	}
	ctx, end := s.ctx.dev.d.contextOf(l.options.id) // before the launch waits for its turn
	defer end()
	var r *interp.Result
	var fault error
	task := s.submitLaunch(l, func(o *probe.HostOrder) error {
		r, fault = l.execute(ctx, o)
		return nil
	}, true)
	if err := s.finish(task, true); err != nil {
		return l, nil, err
	}
	return l, r, fault
}

// execute runs a launch until ctx ends, and waits for it. If the launch has failed, the result is nil only if it did not begin: no probe
// has seen it.
func (l *launch) execute(ctx context.Context, o *probe.HostOrder) (*interp.Result, error) {
	d := l.f.module.ctx.dev.d
	run := l.spec
	run.Order = o
	run.Yield = func(turn *interp.Turn) interp.Resumption { return d.yield(l.f.kernel.Name, turn) }
	launch := func() (*interp.Result, error) {
		l.reportEngine(&run)
		return l.f.module.mod.Run(ctx, &run)
	}
	if d.debugger != nil {
		launch = func() (*interp.Result, error) { return d.debugger.run(ctx, l, &run) }
	}
	var r *interp.Result
	var err error
	if cause := context.Cause(ctx); cause != nil { // a launch that was stopped before its turn does not begin
		err = fmt.Errorf("kernel %s stopped: %w", l.f.kernel.Name, cause)
	} else {
		r, err = launch()
	}
	if err != nil {
		d.launchFailed(l.f.kernel.Name, r != nil, err)
		return r, &Error{Result: faultResult(err), Detail: explain(err, l.options), cause: err}
	}
	counted := *r
	if d.settings.Stats == "" { // only LaunchOptions has requested the structure, maybe under another policy
		counted.Structure = nil
	}
	d.stats.add(l.f.kernel, &counted)
	return r, nil
}

// reportEngine prints the reason why Go executes a launch although the user asked for machine code, once for each
// reason. run is the launch with its final probes.
func (l *launch) reportEngine(run *interp.Launch) {
	if !l.options.settings.Native {
		return
	}
	d := l.f.module.ctx.dev.d
	if reason := d.gpu.WhyNotNative(run); reason != "" {
		if _, reported := d.notNativeReasons.LoadOrStore(reason, true); !reported {
			name := l.options.nameOf("GEMU_ENGINE")
			d.message("%s=native: %s. The results are the same, but the launch is slower. %s=auto hides this message", name, reason, name)
		}
	}
}

// run executes a launch for which the client does not wait: it prints the complete fault on the driver's standard error.
func (l *launch) run(o *probe.HostOrder) error {
	d := l.f.module.ctx.dev.d
	_, err := l.execute(d.unended.ctx, o)
	if err != nil {
		d.message("%v", err)
	}
	return err
}

// faults maps kinds of fault to results. The default is LaunchFailed.
var faults = map[error]Result{
	probe.ErrOutOfBounds:   IllegalAddress,
	probe.ErrUseAfterFree:  IllegalAddress,
	probe.ErrExited:        IllegalAddress,
	probe.ErrReadOnly:      IllegalAddress,
	probe.ErrMisaligned:    MisalignedAddress,
	probe.ErrWrongSpace:    InvalidAddressSpace,
	probe.ErrTexture:       IllegalAddress,
	probe.ErrSurface:       IllegalAddress,
	probe.ErrDeadlock:      LaunchTimeout,
	probe.ErrKeptOut:       LaunchOutOfResources,
	probe.ErrEndlessLoop:   LaunchTimeout,
	probe.ErrStepLimit:     LaunchTimeout,
	probe.ErrTimeLimit:     LaunchTimeout,
	probe.ErrAssert:        Assert,
	probe.ErrStackOverflow: HardwareStackError,
	probe.ErrBadTarget:     InvalidPC,
	probe.ErrMismatch:      Unknown,
}

// faultResult returns the result of a failed launch.
func faultResult(err error) Result {
	var trap *probe.Trap
	var refused *interp.LaunchError
	var unsupported *ptx.Unsupported
	switch {
	case errors.Is(err, errInterrupted):
		return LaunchTimeout
	case errors.As(err, &trap):
		if r, ok := faults[trap.Kind]; ok {
			return r
		}
		return LaunchFailed
	case errors.As(err, &refused):
		return InvalidValue
	case errors.As(err, &unsupported):
		return NotSupported
	}
	return Unknown
}

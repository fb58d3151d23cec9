package interp

// This file has launches: arguments, checks and results.

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"gemu/affinetrack"
	"gemu/internal/hostmem"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// Limits of a launch (CUDA C++ Programming Guide, technical specifications).
const (
	maxThreads  = 1024
	maxBlockX   = 1024
	maxBlockZ   = 64
	maxGridX    = 1<<31 - 1
	maxGridYZ   = 65535
	maxShared   = 227 << 10
	maxParams   = 32764
	defaultStep = 1 << 27
)

// MaxCluster is the maximum number of CTAs in a cluster, as on an H100; 8 are portable.
const MaxCluster = 16

// LaunchError is the error of a launch that was refused before it began: the kernel does not exist, or its arguments or
// extents do not fit.
type LaunchError struct {
	// Msg says why the launch was refused.
	Msg string
	// Field is the name of the field of Launch that does not fit, such as "Cluster"; "" if the fault is not in one field.
	Field string
}

func (e *LaunchError) Error() string { return e.Msg }

func launchErrorf(format string, args ...any) error {
	return &LaunchError{Msg: fmt.Sprintf(format, args...)}
}

// fieldErrorf returns a *LaunchError of a field of Launch.
func fieldErrorf(field, format string, args ...any) error {
	return &LaunchError{Msg: fmt.Sprintf(format, args...), Field: field}
}

// Launch describes a launch of a kernel. The zero value of each field but Grid and Block has a meaning.
type Launch struct {
	// Kernel is the name of the kernel; it may be empty if the module has a single kernel.
	Kernel string
	// Grid is the number of CTAs in each dimension; of clusters, if the kernel has .blocksareclusters.
	Grid ptx.Dim3
	// Block is the number of threads of a CTA in each dimension: see Module.Block.
	Block ptx.Dim3
	// Args has an argument for each parameter: see Module.Launch.
	Args []any
	// Shared is the size of dynamic shared memory of a CTA in bytes.
	Shared int
	// Objects binds .texref, .samplerref and .surfref variables of the module, by name, from this launch on: see Module.Bind.
	Objects map[string]*Object

	// Cooperative keeps all CTAs in flight at once and provides a workspace for a grid barrier, whose address is in
	// %envreg1 (high half) and %envreg2. A grid that is too large to be in flight is refused.
	Cooperative bool
	// Cluster is the number of CTAs of a cluster in each dimension; the grid's extents must be multiples. If it is zero,
	// .reqnctapercluster applies; without it there are no clusters.
	Cluster ptx.Dim3

	// WarpSize is the number of lanes of a warp: 1, 2, 4, … 64; 0 means 32.
	WarpSize int
	// SM is the compute capability in place of Config.SM for this launch: the sums of its tensor cores, the units of shared memory
	// and the number that probes receive. 0 means Config.SM.
	SM int
	// MaxSteps is the limit of instructions per warp, after which the launch traps with probe.ErrStepLimit; 0 means 2^27.
	MaxSteps int64
	// TimeLimit replaces Config.TimeLimit for this launch. 0 means Config.TimeLimit, and a negative number means no limit.
	TimeLimit time.Duration
	// Workers is the number of host goroutines that run CTAs of this launch; 0 means Config.Workers.
	Workers int
	// Reconverge is the reconvergence policy; nil means the first of Reconvergers.
	Reconverge *Reconverger
	// Dispatch, if set, returns the order in which CTAs begin: for a grid of n CTAs, a permutation of their linear indices 0 to n-1. In
	// a launch with clusters it orders the clusters of the grid; the CTAs of a cluster begin together. Without it, CTAs begin in the
	// order of their indices. A result that depends on it is the result of a race.
	Dispatch func(grid ptx.Dim3) []int
	// Seed selects another schedule: the first warp of a CTA, and the budget of each warp. A result that depends on it is
	// the result of a race.
	Seed uint64
	// EagerEffects executes asynchronous effects when they are issued, and not as late as possible, at the wait that orders
	// them. A program with a different result then has a bug.
	EagerEffects bool

	// Mode is how instructions execute; Check is the default.
	Mode Mode
	// Engine is the code that executes instructions; DefaultEngine means the device's.
	Engine Engine
	// CompileEagerly keeps values compact wherever that is sound, even where it does not pay: to test compact execution.
	// It has no effect in vector mode.
	CompileEagerly bool

	// Probes observe this launch, in addition to the device's probes.
	Probes []probe.Probe
	// Order is the order that probes receive; nil means after all earlier launches, and before all later ones.
	Order *probe.HostOrder
	// Structure counts value structure for Result.Structure, under Policy.
	Structure bool
	// Policy is the value policy of Structure; nil means the first of affinetrack.Policies. It does not change the execution in any
	// mode: affine mode keeps values compact wherever that is sound and pays.
	Policy *affinetrack.Policy
	// Progress, if set, is called when the launch begins. Its argument poll returns, at any time, the number of CTAs that
	// have ended and the number of all CTAs. The function that it returns is called when the launch ends.
	Progress func(poll func() (done, total int64)) (stop func())
	// Drive, if set, runs the launch in Module.Run, which returns its error. It must Continue the execution until it has
	// ended, or return an error to end it. It must not use the device for other launches.
	Drive func(ctx context.Context, e *Execution) error

	// Yield, if set, lets launches of a device take turns: Run calls it after each round in which no CTA has ended. During the
	// call the device is free for other goroutines: they may run launches, allocate, and load modules, but must not unload the
	// launch's module. The launch continues when Yield returns. Without Yield, a launch keeps the device to its end. Yield has no
	// effect together with Drive. See Turn.
	Yield func(*Turn) Resumption

	rules        *affinetrack.Table // faulty rules of tests; nil means affinetrack.Rules
	verifyProofs bool               // for tests: see machine.Launch
}

// Result has the counts of a launch.
type Result struct {
	// Kernel is the name of the kernel.
	Kernel string
	// Grid is the number of CTAs in each dimension: more than Launch.Grid if a kernel's blocks are clusters (.blocksareclusters).
	Grid ptx.Dim3
	// Block is the number of threads of a CTA in each dimension.
	Block ptx.Dim3
	// Cluster is the number of CTAs of a cluster in each dimension; zero without clusters.
	Cluster ptx.Dim3
	// WarpSize is the number of lanes of a warp.
	WarpSize int
	// Duration is the time of the execution, without preparation.
	Duration time.Duration

	// Counts has the counts of the CTAs that have ended.
	probe.Counts

	// Reconverge is the reconvergence policy of the launch.
	Reconverge *Reconverger
	// Mode is the mode of the launch.
	Mode Mode
	// Structure is the value structure with Launch.Structure, if the launch has ended without an error; otherwise nil.
	Structure *structure.Structure
}

// Launch runs a kernel over grid×block threads and waits for its end. args has an argument for each parameter, converted to
// the parameter's type: Go integers and floats, *Buffer (its address), *Object (its handle), or []byte for an aggregate.
// The error is a *LaunchError, a *ptx.Unsupported, a *probe.Trap or the error of the context.
func (m *Module) Launch(ctx context.Context, kernel string, grid, block ptx.Dim3, args ...any) (*Result, error) {
	return m.Run(ctx, &Launch{Kernel: kernel, Grid: grid, Block: block, Args: args})
}

// kernelKey identifies a lowered kernel.
type kernelKey struct {
	fn *ptx.Func
	sm int // compute capability
	lower.Options
}

// Run runs a launch and waits for its end. The errors are those of Module.Launch. The result is nil if the launch has not begun: no
// probe has seen it.
func (m *Module) Run(ctx context.Context, l *Launch) (*Result, error) {
	if l.Drive != nil {
		return m.runDriven(ctx, l)
	}
	if err := m.dev.mu.acquire(true); err != nil {
		return nil, err
	}
	defer m.dev.mu.release()
	r, err := m.prepare(l)
	if err != nil {
		return nil, err
	}
	_, err = r.run(func() (bool, error) {
		if l.Yield != nil {
			return false, r.runInTurns(ctx)
		}
		return false, grid.Run(r.grid, ctx)
	})
	if l.Yield != nil && !r.begun {
		return nil, err
	}
	return r.result(err), err
}

// launched is a checked launch, with its state.
type launched struct {
	*Launch
	dev            *Device
	module         *Module
	kernel         *ptx.Func
	ctas           ptx.Dim3
	cluster        ptx.Dim3
	grid           *machine.Grid
	width          int
	policy         *Reconverger
	structureProbe *structure.Probe // with Launch.Structure
	duration       time.Duration
	parameters     []byte // the parameter block; set when the launch yields
	shadow         []byte // its shadow bytes
	begun          bool   // probes have seen the launch; set only if it takes turns
}

// running is the number of launches that execute now.
var running atomic.Int64

// RunningLaunches returns the number of launches of this process that execute now, on all devices. It does not count
// launches that pause or are being lowered.
func RunningLaunches() int { return int(running.Load()) }

// run calls visit, which runs the launch or a part of it, and measures its time.
func (r *launched) run(visit func() (paused bool, err error)) (bool, error) {
	stop := func() {}
	if r.Progress != nil {
		stop = r.Progress(func() (int64, int64) { return grid.Ended(r.grid), int64(r.ctas.Count()) })
	}
	running.Add(1)
	defer running.Add(-1)
	start := time.Now()
	paused, err := visit()
	r.duration += time.Since(start)
	stop()
	return paused, err
}

// result returns the counts of the launch.
func (r *launched) result(err error) *Result {
	n := &Result{
		Kernel: r.kernel.Name, Grid: r.ctas, Block: r.Block, Cluster: r.cluster, WarpSize: r.width, Duration: r.duration,
		Counts: grid.Counts(r.grid), Reconverge: r.policy, Mode: r.Mode,
	}
	if r.Structure && err == nil {
		n.Structure = r.structureProbe.Structure()
	}
	return n
}

// prepare checks a launch and prepares the device for it.
func (m *Module) prepare(l *Launch) (*launched, error) {
	d := m.dev
	if err := d.free(); err != nil {
		return nil, err
	}
	fn, err := m.Kernel(l.Kernel)
	if err != nil {
		return nil, err
	}
	width := l.WarpSize
	if width == 0 {
		width = 32
	}
	if width < 1 || width > 64 || width&(width-1) != 0 {
		return nil, fieldErrorf("WarpSize", "warps of %d lanes: want 1, 2, 4, 8, 16, 32 or 64", width)
	}
	if block := blockOf(fn, l.Block); block != l.Block {
		given := *l
		given.Block, l = block, &given
	}
	extent, cluster, err := extents(fn, l.Grid, l.Block, l.Cluster)
	if err != nil {
		return nil, err
	}
	if a := d.mem.Obstacle(cluster.Count()); a != nil {
		return nil, launchErrorf("kernel %s: the shared memory of a cluster of %d CTAs overlaps %v", fn.Name, cluster.Count(), a)
	}
	policy := l.Policy
	if policy == nil {
		policy = affinetrack.Policies[0]
	}
	reconverge := l.Reconverge
	if reconverge == nil {
		reconverge = reconvergers[0]
	}
	engine := cmp.Or(l.Engine, d.cfg.Engine, Portable)
	if err := engine.check(); err != nil {
		return nil, launchErrorf("%v", err)
	}
	rules := l.rules
	if rules == nil {
		rules = affinetrack.Rules
	}
	if l.Mode > Vector {
		return nil, launchErrorf("mode %d", l.Mode)
	}
	order, err := dispatchOrder(fn, l.Dispatch, extent, cluster)
	if err != nil {
		return nil, err
	}
	launch := &machine.Launch{
		Dispatch: order, TimeLimit: max(cmp.Or(l.TimeLimit, d.cfg.TimeLimit), 0), Workers: cmp.Or(l.Workers, d.cfg.Workers),
		Device: &d.simtDevice, SM: cmp.Or(l.SM, d.cfg.SM), Grid: extent, Block: l.Block, Cluster: cluster, WarpSize: width, DynamicShared: uint64(l.Shared), MaxSteps: l.MaxSteps, Seed: l.Seed, Cooperative: l.Cooperative,
		Mode: machine.Mode(l.Mode), Backend: engine.backend(), CompileEagerly: l.CompileEagerly, VerifyProofs: l.verifyProofs, EagerEffects: l.EagerEffects, Reconverge: reconverge.orDefault(), Rules: rules, Probes: slices.Concat(d.simtDevice.Probes, l.Probes), Order: l.Order,
	}
	var values *structure.Probe
	if l.Structure {
		values = structure.NewVerifying(policy, rules)
		if l.Mode != Check {
			values = structure.NewProbe(policy)
		}
		launch.Probes = append(launch.Probes, values)
	}
	code, err := m.lowered(kernelKey{fn, launch.SM, grid.Lowering(launch)})
	if err != nil {
		return nil, err
	}
	d.simtDevice.Current = nil // the parameter block no longer has the arguments of a launch in flight
	if err := m.setArgs(fn, code, l.Args); err != nil {
		return nil, err
	}
	for name, o := range l.Objects {
		if err := m.bind(name, o); err != nil {
			return nil, launchErrorf("%v", err)
		}
	}
	if l.Shared < 0 {
		return nil, fieldErrorf("Shared", "%d bytes of dynamic shared memory", l.Shared)
	}
	shared := code.SharedLen
	if l.Shared > 0 {
		shared = code.SharedDyn + uint64(l.Shared)
	}
	if shared > maxShared {
		return nil, fieldErrorf("Shared", "kernel %s: %d bytes of shared memory, at most %d are allowed", fn.Name, shared, maxShared)
	}
	if maxThreads := machine.Resident(l.Block.Count(), int(shared)); l.Cooperative && extent.Count() > maxThreads {
		return nil, fieldErrorf("Cooperative", "kernel %s: a cooperative grid of %d CTAs: the device holds at most %d of %d threads and %d bytes of shared memory at once", fn.Name, extent.Count(), maxThreads, l.Block.Count(), shared)
	}
	if frame := 4 * (code.Funcs[0].Align + code.Funcs[0].Local); frame > d.cfg.Stack {
		return nil, launchErrorf("kernel %s: its variables take %d bytes of each thread's local memory, which has %d", fn.Name, frame, d.cfg.Stack)
	}
	if launch.MaxSteps <= 0 {
		launch.MaxSteps = defaultStep
	}
	launch.Kernel, launch.Shared = code, shared
	g := grid.NewGrid(launch)
	if err := hostmem.Check(grid.MinMemory(g)); err != nil {
		return nil, launchErrorf("kernel %s: a CTA of %d threads takes %d bytes: %v", fn.Name, l.Block.Count(), grid.MinMemory(g), err)
	}
	switch most := grid.MaxAlone(g); {
	case l.Cooperative && extent.Count() > most:
		return nil, fieldErrorf("Cooperative", "kernel %s: a cooperative grid of %d CTAs: a CTA can take %d bytes of host memory, the limit for all is %d", fn.Name, extent.Count(), grid.Footprint(g), d.cfg.HostMemory)
	case cluster.Count() > most:
		return nil, fieldErrorf("Cluster", "kernel %s: a cluster of %d CTAs: a CTA can take %d bytes of host memory, the limit for all is %d", fn.Name, cluster.Count(), grid.Footprint(g), d.cfg.HostMemory)
	}
	if err := lanes.OpenCTAMemory(g); err != nil {
		return nil, launchErrorf("kernel %s: %v", fn.Name, err)
	}
	grid.CompileNative(g)
	d.simtDevice.Current = g
	return &launched{Launch: l, dev: d, module: m, kernel: fn, ctas: extent, cluster: cluster, grid: g, width: width, policy: reconverge, structureProbe: values}, nil
}

// dispatchOrder returns the order in which the clusters of a grid begin, or its CTAs without clusters; nil without Launch.Dispatch.
func dispatchOrder(fn *ptx.Func, dispatch func(ptx.Dim3) []int, extent, cluster ptx.Dim3) ([]int, error) {
	if dispatch == nil {
		return nil, nil
	}
	if cluster != (ptx.Dim3{}) {
		extent = ptx.Dim3{X: extent.X / cluster.X, Y: extent.Y / cluster.Y, Z: extent.Z / cluster.Z}
	}
	n := extent.Count()
	high, bytes := bits.Mul64(uint64(n), 9) // the order, and a byte for each index
	if high > 0 {
		bytes = math.MaxUint64
	}
	if err := hostmem.Check(bytes); err != nil {
		return nil, fieldErrorf("Dispatch", "kernel %s: the order of %d CTAs: %v", fn.Name, n, err)
	}
	order := dispatch(extent)
	if len(order) != n {
		return nil, fieldErrorf("Dispatch", "kernel %s: the order has %d CTAs or clusters, the grid has %d", fn.Name, len(order), n)
	}
	seen := make([]bool, n)
	for i, index := range order {
		if index < 0 || index >= n {
			return nil, fieldErrorf("Dispatch", "kernel %s: place %d of the order has index %d; want indices from 0 to %d", fn.Name, i, index, n-1)
		}
		if seen[index] {
			return nil, fieldErrorf("Dispatch", "kernel %s: index %d occurs twice in the order, the second time at place %d", fn.Name, index, i)
		}
		seen[index] = true
	}
	return order, nil
}

// lowered returns the lowered code of a kernel, and lowers it at the first call.
func (m *Module) lowered(key kernelKey) (*machine.Kernel, error) {
	if m.kernels == nil {
		return nil, launchErrorf("%s was unloaded", m.Name)
	}
	if c := m.kernels[key]; c != nil {
		return c, nil
	}
	c, err := m.lowerFor(key)
	if err == nil {
		m.kernels[key] = c
	}
	return c, err
}

// Kernel finds a kernel by name; an empty name means the only kernel. The error is a *LaunchError, which lists the kernels of
// the module.
func (m *Module) Kernel(name string) (*ptx.Func, error) {
	if f, ok := m.Lookup(name).(*ptx.Func); ok && f.Name == name && f.Entry && f.Defined {
		return f, nil
	}
	kernels := m.Kernels()
	if name == "" {
		switch len(kernels) {
		case 0:
			return nil, launchErrorf("%s has no kernel", m.Name)
		case 1:
			return kernels[0], nil
		}
		return nil, launchErrorf("%s has %d kernels, choose one: %s", m.Name, len(kernels), kernelNames(kernels))
	}
	if f, ok := m.Lookup(name).(*ptx.Func); ok && !f.Entry {
		return nil, launchErrorf("%s is a device function of %s, not a kernel", name, m.Name)
	}
	if len(kernels) == 0 {
		return nil, launchErrorf("%s has no kernel %s and no other kernels", m.Name, name)
	}
	return nil, launchErrorf("%s has no kernel %s; it has %s", m.Name, name, kernelNames(kernels))
}

func kernelNames(kernels []*ptx.Func) string {
	s := ""
	for i, k := range kernels {
		if i > 0 {
			s += ", "
		}
		s += k.Name
	}
	return s
}

// CheckExtent reports an error if a launch of the kernel cannot have these extents, as in Launch. It does not wait for
// launches in progress. The error is a *LaunchError.
func (m *Module) CheckExtent(kernel string, grid, block, cluster ptx.Dim3) error {
	fn, err := m.Kernel(kernel)
	if err != nil {
		return err
	}
	_, _, err = extents(fn, grid, block, cluster)
	return err
}

// Cluster returns the clusters of a launch of the kernel with the given Launch.Cluster; zero without clusters. The error is a
// *LaunchError.
func (m *Module) Cluster(kernel string, cluster ptx.Dim3) (ptx.Dim3, error) {
	fn, err := m.Kernel(kernel)
	if err != nil {
		return cluster, err
	}
	return clusterOf(fn, cluster)
}

// Block returns the block of a launch of the kernel with the given Launch.Block. They differ for a tile kernel: a program
// launches it with single-thread blocks (CUDA Tile C++ API Reference, "General Operations": <<<blocks, 1>>>), because it
// does not know how many threads run a tile. The compiler states the number with .reqntid. The error is a *LaunchError.
func (m *Module) Block(kernel string, block ptx.Dim3) (ptx.Dim3, error) {
	fn, err := m.Kernel(kernel)
	if err != nil {
		return block, err
	}
	return blockOf(fn, block), nil
}

// blockOf returns the block of a launch: see Module.Block.
func blockOf(fn *ptx.Func, block ptx.Dim3) ptx.Dim3 {
	if args, ok := fn.Directive(".reqntid"); ok && block == ptx.Dim(1) && fn.Tile() {
		return dimOf(args)
	}
	return block
}

// extents checks the extents of a launch. It returns the grid in CTAs, and the CTAs of a cluster, zero without clusters.
func extents(fn *ptx.Func, grid, block, cluster ptx.Dim3) (ptx.Dim3, ptx.Dim3, error) {
	cluster, err := clusterOf(fn, cluster)
	if err != nil {
		return grid, cluster, err
	}
	if _, ok := fn.Directive(".blocksareclusters"); ok {
		grid.X, grid.Y, grid.Z = grid.X*cluster.X, grid.Y*cluster.Y, grid.Z*cluster.Z
	}
	if err := checkExtent(fn, grid, block); err != nil {
		return grid, cluster, err
	}
	if cluster != (ptx.Dim3{}) && (grid.X%cluster.X != 0 || grid.Y%cluster.Y != 0 || grid.Z%cluster.Z != 0) {
		return grid, cluster, fieldErrorf("Cluster", "kernel %s: a grid of %s cannot be divided into clusters of %s", fn.Name, grid, cluster)
	}
	return grid, cluster, nil
}

// clusterOf returns the clusters of a launch (manual 11.7).
func clusterOf(fn *ptx.Func, cluster ptx.Dim3) (ptx.Dim3, error) {
	if args, ok := fn.Directive(".reqnctapercluster"); ok {
		want := dimOf(args)
		if cluster != (ptx.Dim3{}) && cluster != want {
			return cluster, fieldErrorf("Cluster", "kernel %s requires clusters of %s (.reqnctapercluster), not %s", fn.Name, want, cluster)
		}
		cluster = want
	}
	if _, ok := fn.Directive(".explicitcluster"); ok && cluster == (ptx.Dim3{}) {
		return cluster, fieldErrorf("Cluster", "kernel %s must be launched with clusters (.explicitcluster)", fn.Name)
	}
	if _, ok := fn.Directive(".blocksareclusters"); ok && cluster == (ptx.Dim3{}) {
		return cluster, launchErrorf("kernel %s has .blocksareclusters, but no .reqnctapercluster with the extents of the clusters", fn.Name)
	}
	if cluster == (ptx.Dim3{}) {
		return cluster, nil
	}
	if cluster.X < 1 || cluster.Y < 1 || cluster.Z < 1 {
		return cluster, fieldErrorf("Cluster", "cluster %s is empty", cluster)
	}
	if cluster.X > MaxCluster || cluster.Y > MaxCluster || cluster.Z > MaxCluster || cluster.Count() > MaxCluster {
		return cluster, fieldErrorf("Cluster", "cluster %s is too large: at most %d CTAs", cluster, MaxCluster)
	}
	if args, ok := fn.Directive(".maxclusterrank"); ok {
		if maxThreads := dimOf(args).X; cluster.Count() > maxThreads {
			return cluster, fieldErrorf("Cluster", "kernel %s allows clusters of at most %d CTAs (.maxclusterrank), not %s", fn.Name, maxThreads, cluster)
		}
	}
	return cluster, nil
}

// checkExtent checks grid and block against the limits of the machine and of the kernel.
func checkExtent(fn *ptx.Func, grid, block ptx.Dim3) error {
	if grid.X < 1 || grid.Y < 1 || grid.Z < 1 {
		return fieldErrorf("Grid", "grid %s is empty", grid)
	}
	if grid.X > maxGridX || grid.Y > maxGridYZ || grid.Z > maxGridYZ {
		return fieldErrorf("Grid", "grid %s is too large: at most (%d,%d,%d)", grid, maxGridX, maxGridYZ, maxGridYZ)
	}
	if block.X < 1 || block.Y < 1 || block.Z < 1 {
		return fieldErrorf("Block", "block %s is empty", block)
	}
	if block.X > maxBlockX || block.Y > maxBlockX || block.Z > maxBlockZ || block.Count() > maxThreads {
		return fieldErrorf("Block", "block %s is too large: at most %d threads, (%d,%d,%d)", block, maxThreads, maxBlockX, maxBlockX, maxBlockZ)
	}
	if args, ok := fn.Directive(".reqntid"); ok {
		want := dimOf(args)
		if want != block {
			return fieldErrorf("Block", "kernel %s requires blocks of %s (.reqntid), not %s", fn.Name, want, block)
		}
	}
	if args, ok := fn.Directive(".maxntid"); ok {
		if maxDim := dimOf(args); block.Count() > maxDim.Count() {
			return fieldErrorf("Block", "kernel %s allows blocks of at most %d threads (.maxntid), not %d", fn.Name, maxDim.Count(), block.Count())
		}
	}
	return nil
}

// maxThreadsOf returns the maximum number of threads in a block of the kernel.
func maxThreadsOf(fn *ptx.Func) int {
	for _, name := range []string{".reqntid", ".maxntid"} {
		if args, ok := fn.Directive(name); ok {
			return min(dimOf(args).Count(), maxThreads)
		}
	}
	return maxThreads
}

func dimOf(args []string) ptx.Dim3 {
	var n []int
	for _, a := range args {
		v, _ := strconv.Atoi(a)
		n = append(n, v)
	}
	return ptx.Dim(n...)
}

// setArgs writes the arguments into the parameter block.
func (m *Module) setArgs(fn *ptx.Func, c *machine.Kernel, args []any) error {
	if len(args) != len(c.Params) {
		return launchErrorf("kernel %s has %d parameters, %d arguments are given", fn.Name, len(c.Params), len(args))
	}
	data := m.dev.mem.SizeParams(c.ParamLen).Data
	clear(data)
	for i, p := range c.Params {
		if err := putArg(data[p.Offset:p.Offset+p.Var.Size()], p.Var, args[i]); err != nil {
			return launchErrorf("kernel %s: argument %d (%s %s): %v", fn.Name, i, p.Var.Type, p.Var.Name, err)
		}
	}
	return nil
}

// ArgBytes returns an argument of a kernel in the layout of the parameter block, converted as in Module.Launch.
func ArgBytes(p *ptx.Var, arg any) ([]byte, error) {
	b := make([]byte, p.Size())
	return b, putArg(b, p, arg)
}

// putArg converts an argument by the type of its parameter.
func putArg(dst []byte, v *ptx.Var, arg any) error {
	if b, ok := arg.([]byte); ok {
		if len(b) != len(dst) {
			return fmt.Errorf("%d bytes for a parameter of %d", len(b), len(dst))
		}
		copy(dst, b)
		return nil
	}
	if len(v.Dims) > 0 || v.Vec > 1 {
		return fmt.Errorf("a parameter of %d bytes needs a []byte, not %T", len(dst), arg)
	}
	t := v.Type
	if b, ok := arg.(*Buffer); ok {
		if t.IsFloat() || len(dst) < 8 && b.Addr()>>(8*len(dst)) != 0 {
			return fmt.Errorf("the address of a buffer does not fit")
		}
		putBits(dst, len(dst), b.Addr())
		return nil
	}
	if o, ok := arg.(*Object); ok {
		if len(dst) < 8 || t.IsFloat() {
			return fmt.Errorf("a handle does not fit")
		}
		putBits(dst, len(dst), o.Handle())
		return nil
	}
	var n int64
	var u uint64
	var f float64
	isFloat, isUnsigned := false, false
	switch a := arg.(type) {
	case int:
		n = int64(a)
	case int8:
		n = int64(a)
	case int16:
		n = int64(a)
	case int32:
		n = int64(a)
	case int64:
		n = a
	case uint8:
		n = int64(a)
	case uint16:
		n = int64(a)
	case uint32:
		n = int64(a)
	case uint:
		u, isUnsigned = uint64(a), true
	case uint64:
		u, isUnsigned = a, true
	case uintptr:
		u, isUnsigned = uint64(a), true
	case bool:
		if a {
			n = 1
		}
	case float32:
		f, isFloat = float64(a), true
	case float64:
		f, isFloat = a, true
	default:
		return fmt.Errorf("a %T cannot be an argument", arg)
	}
	if !isUnsigned {
		u = uint64(n)
	}
	switch {
	case t == ptx.F32:
		if !isFloat {
			f = float64(n)
			if isUnsigned {
				f = float64(u)
			}
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(f)))
	case t == ptx.F64:
		if !isFloat {
			f = float64(n)
			if isUnsigned {
				f = float64(u)
			}
		}
		binary.LittleEndian.PutUint64(dst, math.Float64bits(f))
	case isFloat && t.Kind() == ptx.Bits && len(dst) == 4:
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(f)))
	case isFloat && t.Kind() == ptx.Bits && len(dst) == 8:
		binary.LittleEndian.PutUint64(dst, math.Float64bits(f))
	case isFloat:
		return fmt.Errorf("a float for an integer parameter")
	default:
		bits := 8 * len(dst)
		if bits < 64 {
			fitsUnsigned := u>>bits == 0
			fitsSigned := !isUnsigned && n < 0 && n >= -1<<(bits-1)
			if !fitsUnsigned && !fitsSigned {
				return fmt.Errorf("%d does not fit in %d bits", arg, bits)
			}
		}
		putBits(dst, len(dst), u)
	}
	return nil
}

// Prepare lowers a kernel without running it, to find instructions that gemu does not run. It discards the code. The error is
// a *LaunchError or *ptx.Unsupported.
func (m *Module) Prepare(kernel string) error {
	if err := m.dev.lock(); err != nil {
		return err
	}
	defer m.dev.mu.release()
	fn, err := m.Kernel(kernel)
	if err == nil {
		_, err = m.lower(fn, lower.Options{Width: 32, Pack: true})
	}
	return err
}

// KernelInfo describes the parameters and resources of a kernel.
type KernelInfo struct {
	Params     []ParamInfo // places of the parameters, in order
	ParamBytes int         // size of all parameters together
	Shared     int         // bytes of static shared memory, with called functions
	Local      int         // bytes of local memory per thread for the kernel itself
	Registers  int         // 32-bit registers per thread for the kernel itself
	MaxThreads int         // maximum number of threads in a block
}

// ParamInfo is the place of a parameter among the parameters of a kernel, each at
// its natural alignment (manual 5.1.6.1).
type ParamInfo struct {
	Offset int // bytes from the beginning of the parameters
	Size   int // bytes of the parameter
}

// Info prepares a kernel for launches in a mode and describes it. The error is a *LaunchError or *ptx.Unsupported.
func (m *Module) Info(kernel string, mode Mode) (*KernelInfo, error) {
	if err := m.dev.lock(); err != nil {
		return nil, err
	}
	defer m.dev.mu.release()
	fn, err := m.Kernel(kernel)
	if err != nil {
		return nil, err
	}
	c, err := m.lowered(kernelKey{fn, m.dev.cfg.SM, lower.Options{Width: 32, Pack: mode == Vector}})
	if err != nil {
		return nil, err
	}
	info := &KernelInfo{
		ParamBytes: c.ParamLen, Shared: int(c.SharedLen), Local: 4 * c.Funcs[0].Local,
		Registers: c.Funcs[0].Frame.R + 2*c.Funcs[0].Frame.Q, MaxThreads: maxThreadsOf(fn),
	}
	for _, p := range c.Params {
		info.Params = append(info.Params, ParamInfo{p.Offset, p.Var.Size()})
	}
	return info, nil
}

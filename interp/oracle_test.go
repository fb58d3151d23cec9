package interp

// This file runs launches on the oracle: on a device of its own, with the same history as the
// engine's.

import (
	"context"
	"errors"
	"fmt"

	"gemu/internal/oracle"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/occupancy"
	"gemu/probe"
	"gemu/texture"
)

// Twin is a device of the oracle with the content of an engine's device at a moment: the module,
// and the same allocations with the same content. It computes addresses by the oracle's own code.
type Twin struct {
	Dev    *oracle.Device
	Mod    *oracle.Module
	engine *Module

	Tolerated int64 // tolerated accesses of the last run
}

// NewTwin makes a twin of a device with a single module. The device must not be in use; a prepared
// launch is allowed. Different addresses are an error.
func NewTwin(m *Module) (*Twin, error) {
	cfg := m.dev.cfg
	config := oracle.Config{Memory: cfg.Memory, Heap: cfg.Heap, Stack: cfg.Stack, Base: cfg.Base, SM: cfg.SM, Stdout: cfg.Stdout, WMMAAlignment: cfg.Tolerance.Has(probe.WMMAAlignment)}
	if cfg.Tolerance.Has(probe.SharedUnit) {
		config.SharedUnit = occupancy.LimitsOf(cfg.SM).Unit
	}
	t := &Twin{engine: m, Dev: oracle.NewDevice(config)}
	var errs []error
	load := func() {
		if t.Mod == nil {
			var err error
			t.Mod, err = t.Dev.Load(m.Module)
			errs = append(errs, err)
		}
	}
	m.dev.mem.Each(func(a *mem.Allocation) {
		addr := a.Base
		var err error
		switch a.Kind {
		case probe.ParameterMemory, probe.WorkspaceMemory:
			return
		case probe.VariableMemory, probe.ConstantMemory, probe.TexRefMemory, probe.SamplerRefMemory, probe.SurfRefMemory:
			load()
		case probe.ArrayMemory:
			addr, err = t.Dev.AllocArray(a.Span)
		case probe.PerCTAMemory:
			if !a.Freed {
				return // belongs to the running launch: the oracle's launch allocates its own
			}
			addr, err = t.Dev.Alloc(a.Span)
		case probe.BufferMemory:
			addr, err = t.Dev.Alloc(a.Span)
		case probe.HeapMemory:
			addr = t.Dev.Malloc(a.Span)
		case probe.HostMemory:
			t.Dev.Map(a.Base, make([]byte, a.Span), a.ReadOnly())
		default:
			err = errors.New("not of a device")
		}
		if addr != a.Base {
			err = fmt.Errorf("the oracle has it at %#x", addr)
		}
		if a.Freed {
			t.Dev.Free(addr)
		} else if copy(t.Dev.Bytes(addr), a.Data) < len(a.Data) {
			err = errors.New("the oracle does not have it")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", a, err))
		}
	})
	load()
	m.dev.simtDevice.Objects.Each(func(handle uint64, o *machine.Object) { t.Dev.Bind(handle, described(o)) })
	return t, errors.Join(errs...)
}

// described returns an object of the engine in the oracle's types.
func described(o *machine.Object) oracle.Object {
	x := &o.Texture
	n := oracle.Object{
		Type: o.Type, Geometry: x.Geometry.String(), Width: x.Width, Height: x.Height, Depth: x.Depth, Layers: x.Layers, Levels: x.Levels, Samples: x.Samples,
		Pitch: x.Pitch, Linear: x.LinearMemory, Channels: x.Format.Channels, Bits: x.Format.Bits, Signed: x.Format.Kind == texture.Signed, Float: x.Format.Kind == texture.Float,
		Normalized: x.Normalized, ReadFloat: x.ReadFloat, SRGB: x.SRGB, ForceUnnormalized: x.ForceUnnormalized, Filter: x.Sampler.Linear, Border: x.Border,
		MipFilter: x.MipLinear, Bias: x.Bias, MinLevel: x.MinLevel, MaxLevel: x.MaxLevel,
	}
	if o.Memory != nil {
		n.Addr = o.Memory.Base + o.Offset
	}
	for i, m := range x.Address {
		n.Address[i] = map[texture.AddressMode]string{texture.Wrap: "wrap", texture.ClampToEdge: "clamp_to_edge", texture.Mirror: "mirror", texture.ClampToBorder: "clamp_to_border", texture.ClampOGL: "clamp_ogl"}[m]
	}
	return n
}

// Run runs a launch on the oracle, and returns the number of executed instructions of threads;
// order and log may be nil.
func (t *Twin) Run(ctx context.Context, l *Launch, order func() oracle.Order, log func(*oracle.Step)) (int64, error) {
	k, err := t.engine.Kernel(l.Kernel)
	if err != nil {
		return 0, err
	}
	if len(l.Args) != len(k.Params) {
		return 0, launchErrorf("%d arguments for %d parameters", len(l.Args), len(k.Params))
	}
	o := &oracle.Launch{
		Kernel: k.Name, Grid: [3]int{l.Grid.X, l.Grid.Y, l.Grid.Z}, Block: [3]int{l.Block.X, l.Block.Y, l.Block.Z},
		WarpSize: l.WarpSize, Shared: l.Shared, Cooperative: l.Cooperative, Cluster: [3]int{l.Cluster.X, l.Cluster.Y, l.Cluster.Z}, MaxSteps: l.MaxSteps, Order: order, Log: log,
	}
	for i, p := range k.Params {
		arg := make([]byte, p.Size())
		if err := putArg(arg, p, l.Args[i]); err != nil {
			return 0, err
		}
		o.Args = append(o.Args, arg)
	}
	stats, err := t.Mod.Run(ctx, o)
	t.Tolerated = stats.Tolerated
	return stats.ThreadInstructions, err
}

// Each calls visit with the memory of every live allocation of both devices.
func (t *Twin) Each(visit func(a *mem.Allocation, engine, oracle []byte)) {
	t.engine.dev.mem.Each(func(a *mem.Allocation) {
		if b := t.Dev.Bytes(a.Base); a.Kind != probe.ParameterMemory && !a.Freed && b != nil {
			visit(a, a.Data, b)
		}
	})
}

// runOracle runs a launch on the oracle in place of the engine.
func runOracle(m *Module, l *Launch) error {
	t, err := NewTwin(m)
	if err != nil {
		return err
	}
	_, err = t.Run(context.Background(), l, nil, nil)
	t.Each(func(_ *mem.Allocation, engine, oracle []byte) { copy(engine, oracle) })
	return err
}

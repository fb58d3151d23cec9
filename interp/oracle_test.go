package interp

// This file connects the lane-at-a-time oracle to a device, so that it can run
// any launch in place of the warp engine.

import (
	"context"
	"fmt"

	"gemu/interp/internal/mem"
	"gemu/interp/internal/oracle"
	"gemu/ptx"
)

// oracleMemory is a device's memory as the oracle sees it.
type oracleMemory struct{ dev *Device }

func (m oracleMemory) at(space ptx.Space, addr uint64, n int, store bool) ([]byte, error) {
	al := m.dev.mem.Find(addr)
	a := mem.Access{Space: space, Bytes: n}
	if store {
		a.Kind = mem.Store
	}
	if al == nil || al.Dead || uint64(n) > al.Span-(addr-al.Base) || !a.Allowed(al) {
		return nil, fmt.Errorf("out-of-bounds access of %d bytes at %#x", n, addr)
	}
	return al.Data[addr-al.Base:][:n], nil
}

func (m oracleMemory) Load(space ptx.Space, addr uint64, p []byte) error {
	b, err := m.at(space, addr, len(p), false)
	copy(p, b)
	return err
}

func (m oracleMemory) Store(space ptx.Space, addr uint64, p []byte) error {
	b, err := m.at(space, addr, len(p), true)
	copy(b, p)
	return err
}

func (m oracleMemory) SpaceOf(addr uint64) ptx.Space {
	if al := m.dev.mem.Find(addr); al != nil {
		return al.Space()
	}
	return ptx.Generic
}

// runOracle runs a launch on the oracle.
func runOracle(m *Module, l *Launch) error {
	k, err := m.Kernel(l.Kernel)
	if err != nil {
		return err
	}
	width := l.WarpSize
	if width == 0 {
		width = 32
	}
	c, err := m.lower(k, lowerOptions{width: width}) // for its layout of memory
	if err != nil {
		return err
	}
	if err := c.setArgs(l.Args); err != nil {
		return err
	}
	shared := c.sharedLen
	if l.Shared > 0 {
		shared = c.sharedDyn + uint64(l.Shared)
	}
	o := &oracle.Launch{
		Module: m.Module, Kernel: k, Grid: [3]int{l.Grid.X, l.Grid.Y, l.Grid.Z}, Block: [3]int{l.Block.X, l.Block.Y, l.Block.Z},
		WarpSize: width, SharedBytes: l.Shared, Memory: oracleMemory{m.dev}, ParamBase: mem.ParamBase,
		Symbol: func(s ptx.Symbol) uint64 { a, _ := m.symbolAddress(s); return a },
		FuncAt: func(addr uint64) *ptx.Func {
			for f, a := range m.code {
				if a == addr {
					return f
				}
			}
			return nil
		},
		SharedWindow: mem.SharedWindow, LocalWindow: mem.LocalWindow, WindowSize: mem.WindowSize,
		SharedAddr: func(v *ptx.Var) (uint64, bool) { a, ok := c.shared[v]; return a, ok },
		SharedSize: int(shared), LocalSize: m.dev.cfg.Stack,
		Printf: func(cta int, s string) {
			if m.dev.cfg.Stdout != nil {
				fmt.Fprint(m.dev.cfg.Stdout, s)
			}
		},
		Malloc: func(size uint64) uint64 {
			a, err := m.dev.mem.Alloc(size, mem.Heap, "")
			if err != nil {
				return 0
			}
			return a.Base
		},
		Free: func(addr uint64) error {
			if a := m.dev.mem.Find(addr); a != nil && !a.Dead {
				m.dev.mem.Free(a)
				return nil
			}
			return ErrHeap
		},
		MaxSteps: l.MaxSteps,
	}
	if l.Cooperative {
		workspace := m.dev.mem.OpenWorkspace()
		defer m.dev.mem.Free(workspace)
		o.Workspace = workspace.Base
	}
	_, err = oracle.Run(context.Background(), o)
	return err
}

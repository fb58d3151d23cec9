package interp

// This file prints lowered code.

import (
	"fmt"
	"io"

	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/ptx"
)

// FprintLowered writes the lowered code of a kernel for affine mode and one-dimensional blocks, in the notation of
// code.Program.Print.
func (m *Module) FprintLowered(w io.Writer, k *ptx.Func) error {
	if err := m.dev.lock(); err != nil {
		return err
	}
	defer m.dev.mu.release()
	launch := machine.Launch{Block: ptx.Dim(maxThreadsOf(k)), WarpSize: 32, Mode: machine.Affine, Reconverge: reconvergers[0].policy}
	c, err := m.lower(k, grid.Lowering(&launch))
	if err != nil {
		return err
	}
	n := c.Consts.Size()
	fmt.Fprintf(w, "kernel %s: %d blocks, %d constants, %d bytes of parameters, %d of static shared memory\n", k.Name, len(c.Blocks), n.R+n.Q+n.P, c.ParamLen, c.SharedLen)
	return c.Print(w)
}

// SupportsVariant reports whether an instruction variant is legal PTX, and whether gemu runs it. A variant may be illegal,
// because the notation of the instruction table allows some combinations that a rule forbids.
func SupportsVariant(v *ptx.Variant) (legal, runs bool) {
	m, err := NewDevice(Config{}).Load("example.ptx", []byte(v.Example()))
	if err != nil {
		return false, false
	}
	return true, m.Prepare("") == nil
}

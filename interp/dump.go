package interp

// This file prints lowered code.

import (
	"fmt"
	"io"

	"gemu/interp/internal/lower"
	"gemu/ptx"
)

// FprintLowered writes the lowered code of a kernel, as affine mode runs it in blocks of
// one dimension: see Print of package code.
func (m *Module) FprintLowered(w io.Writer, k *ptx.Func) error {
	m.dev.mu.Lock()
	defer m.dev.mu.Unlock()
	c, err := m.lower(k, lower.Options{
		Width: 32, Pack: true, Affine: true, Lanes: 32, Keeps: Reconvergers[0].keeps, TID: threadClasses(Dim(mostThreads(k)), 32),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "kernel %s: %d blocks, %d constants, %d bytes of parameters, %d of static shared memory\n", k.Name, len(c.Blocks), len(c.Consts.R)+len(c.Consts.Q)+len(c.Consts.P), c.ParamLen, c.SharedLen)
	return c.Print(w)
}

// Supports reports whether an instruction variant is legal PTX (the table's
// notation allows some combinations that a rule forbids), and whether gemu runs
// it.
func Supports(v *ptx.Variant) (legal, runs bool) {
	m, err := NewDevice(Config{}).Load("example.ptx", []byte(v.Example()))
	if err != nil {
		return false, false
	}
	return true, m.Prepare("") == nil
}

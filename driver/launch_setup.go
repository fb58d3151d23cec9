package driver

// This file implements the launch functions that cuLaunchKernel has replaced: separate calls set the launch parameters,
// which the function keeps.

import (
	"slices"

	"gemu/ptx"
)

// launchSetup holds the parameters set by earlier calls for launches of a function.
type launchSetup struct {
	block  ptx.Dim3
	shared uint32 // dynamic shared memory, in bytes
	params []byte // the arguments, each at its offset
}

// paramLimit is the maximum size of a kernel's parameters in bytes (PTX ISA, "Kernel Function Parameters").
const paramLimit = 32764

// changeSetup changes the launch parameters of a function.
func (t *Thread) changeSetup(h Handle, change func(*launchSetup) error) error {
	f, err := t.function(h)
	if err != nil {
		return err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return change(&f.setup)
}

// FuncSetBlockShape is cuFuncSetBlockShape.
func (t *Thread) FuncSetBlockShape(h Handle, block ptx.Dim3) error {
	return t.changeSetup(h, func(s *launchSetup) error {
		if min(block.X, block.Y, block.Z) < 1 {
			return fail(InvalidValue, "a block of %d×%d×%d threads is empty", block.X, block.Y, block.Z)
		}
		s.block = block
		return nil
	})
}

// FuncSetSharedSize is cuFuncSetSharedSize, in bytes.
func (t *Thread) FuncSetSharedSize(h Handle, size uint32) error {
	return t.changeSetup(h, func(s *launchSetup) error {
		s.shared = size
		return nil
	})
}

// ParamSetSize is cuParamSetSize: it sets the size of the arguments in bytes. Unset bytes are 0.
func (t *Thread) ParamSetSize(h Handle, size uint32) error {
	return t.changeSetup(h, func(s *launchSetup) error { return s.resize(int64(size)) })
}

// ParamSet is cuParamSetv, cuParamSeti and cuParamSetf: it sets bytes of the arguments.
func (t *Thread) ParamSet(h Handle, offset int, value []byte) error {
	return t.changeSetup(h, func(s *launchSetup) error {
		if offset < 0 || offset > paramLimit {
			return fail(InvalidValue, "an argument at offset %d", offset)
		}
		if end := int64(offset) + int64(len(value)); end > int64(len(s.params)) {
			if err := s.resize(end); err != nil {
				return err
			}
		}
		copy(s.params[offset:], value)
		return nil
	})
}

// resize sets the size of the arguments in bytes.
func (s *launchSetup) resize(size int64) error {
	if size > paramLimit {
		return fail(InvalidValue, "%d bytes of arguments, at most %d are allowed", size, paramLimit)
	}
	params := make([]byte, size)
	copy(params, s.params)
	s.params = params
	return nil
}

// ParamSetTexRef is cuParamSetTexRef. It has no effect: a kernel can use all references of its module. unit must be
// CU_PARAM_TR_DEFAULT, which is -1.
func (t *Thread) ParamSetTexRef(h Handle, unit int, reference Handle) error {
	return t.changeSetup(h, func(*launchSetup) error {
		if unit != -1 {
			return fail(InvalidValue, "texture unit %d, want -1", unit)
		}
		_, err := object[*Reference](t.d, reference)
		return err
	})
}

// LaunchGrid is cuLaunchGridAsync: it launches a kernel with the parameters that earlier calls have set.
func (t *Thread) LaunchGrid(h Handle, width, height int, stream Handle) error {
	p := LaunchParams{Func: h, Grid: ptx.Dim3{X: width, Y: height, Z: 1}}
	err := t.changeSetup(h, func(s *launchSetup) error {
		p.Block, p.Shared, p.Buffer = s.block, s.shared, slices.Clone(s.params)
		return nil
	})
	if err != nil {
		return err
	}
	return t.LaunchKernel(&p, stream)
}

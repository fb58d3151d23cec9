package interp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestFabricIsNamed: a kernel with an operation between devices loads, and its launch is refused with the line and the
// reason. Another kernel of the module runs.
func TestFabricIsNamed(t *testing.T) {
	const (
		get   = "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [s], [%r, %d], %r, [s]"
		write = "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.b128 [%r, %d], [s], %r, [s]"
		red   = "fabric.try_red.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.add.u32 [%r, %d], [s], %r, [s]"
	)
	pull := "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.add.u32.sync [s], [%r, %d], %r, [s], -1"
	atom := "fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.add.u32 [%r, %d], [s], [s], [s]"
	tensor := "fabric.try_put.async.tensor.1d.multimem.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.override::global_address.relaxed.sys.b128 [%d, %r, %d, {%r}], [s], %r, [s]"
	for _, text := range []string{get, write, red, pull, atom, tensor} {
		dev := NewDevice(Config{})
		m, err := dev.Load("fabric.ptx", []byte(`.version 9.5
.target sm_107a
.address_size 64
.visible .entry other() { ret; }
.visible .entry k() {
	.reg .b64 %d;
	.reg .b32 %r;
	.shared .align 16 .b8 s[64];
	`+text+`;
	ret;
}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Launch(context.Background(), "other", ptx.Dim(1), ptx.Dim(1)); err != nil {
			t.Errorf("the kernel without the operation: %v", err)
		}
		_, err = m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1))
		var unsupported *ptx.Unsupported
		switch {
		case !errors.As(err, &unsupported):
			t.Errorf("%s: %v, want a *ptx.Unsupported", text, err)
		case unsupported.Pos.Line != 9, !strings.HasPrefix(text, unsupported.Feature), !strings.HasSuffix(err.Error(), ": gemu does not support logical endpoints"):
			t.Errorf("%s: line %d: %v", text, unsupported.Pos.Line, err)
		}
	}
}

package exchange

import (
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
)

// nativeBackend returns nil: a browser executes no machine code.
func nativeBackend() machine.Backend { return nil }

// NativeCheck returns nil, as nativeBackend.
func NativeCheck(*machine.Kernel) *native.Check { return nil }

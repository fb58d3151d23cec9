package exchange

import "gemu/interp/internal/machine"

// nativeBackend returns nil: a browser executes no machine code.
func nativeBackend() machine.Backend { return nil }

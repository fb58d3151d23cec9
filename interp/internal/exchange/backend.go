//go:build !js

package exchange

import (
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
)

// nativeBackend returns the value of Native.
func nativeBackend() machine.Backend {
	if native.Supported() {
		return MachineCode{}
	}
	return nil
}

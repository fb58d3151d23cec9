//go:build !js

package exchange

import (
	"unsafe"

	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/probe"
)

// nativeBackend returns the value of Native.
func nativeBackend() machine.Backend {
	if native.Supported() {
		return MachineCode{}
	}
	return nil
}

// NativeCheck returns the machine code of check mode for a kernel; nil unless ReferenceAdjoins.
func NativeCheck(c *machine.Kernel) *native.Check {
	if !ReferenceAdjoins(c) {
		return nil
	}
	steps := make([][]native.Step, len(c.Blocks))
	for i := range c.Blocks {
		for j := range c.CheckReference.Pairs[i] {
			steps[i] = append(steps[i], stepOf(c, &c.CheckReference.Pairs[i][j]))
		}
		end := c.CheckReference.End(&c.CheckReference.Blocks[i])
		steps[i] = append(steps[i], native.Step{IsEnd: true, Ref: end, Reads: nativePairs(c.CheckReference.CheckedBlocks[i].EndReads)})
	}
	return native.NewCheck(c.Native, c.CheckReference.Program, c.Entry.Frame, steps, native.Counts{
		Compact: unsafe.Offsetof(probe.EngineCounts{}.Compact), Quick: unsafe.Offsetof(probe.EngineCounts{}.FastForm), OnLanes: unsafe.Offsetof(probe.EngineCounts{}.VectorExecuted),
	})
}

package mem

import (
	"gemu/probe"
	"gemu/ptx"
)

// Fixed addresses. Package probe has the windows of shared and local memory, which probes need. Device allocations begin
// above the windows.
const (
	windowsEnd = probe.LocalWindow + probe.WindowSize

	// paramSize is the largest size of the parameters in bytes.
	paramSize = 0x0001_0000

	// WorkspaceBase is the address of the workspace of a cooperative launch.
	WorkspaceBase = 0x000e_0000

	// workspaceDistance is the distance between the workspaces of launches in flight.
	workspaceDistance = 64

	// CodeBase is the address of the first function. Each function has 16 bytes.
	CodeBase = 0x0400_0000

	// HandleBase is the first handle of a texture, surface or sampler. Handles are 16 apart.
	HandleBase = 0x0800_0000
)

// Window decodes a generic address. It returns ptx.Shared or ptx.Local with the offset in the window; for an address
// outside the windows, ptx.Generic with the address itself.
func Window(addr uint64) (ptx.Space, uint64) {
	switch {
	case addr-probe.SharedWindow < probe.WindowSize:
		return ptx.Shared, addr - probe.SharedWindow
	case addr-probe.LocalWindow < probe.WindowSize:
		return ptx.Local, addr - probe.LocalWindow
	}
	return ptx.Generic, addr
}

// SharedAddress returns the generic address of the shared memory of the CTA with the given rank in its cluster.
func SharedAddress(rank int) uint64 { return probe.SharedWindow + uint64(rank)<<probe.RankShift }

// InShared reports whether a generic address is in the window of shared memory of one of the n CTAs of a cluster.
func InShared(addr uint64, n int) bool {
	offset := addr - probe.SharedWindow
	return offset>>probe.RankShift < uint64(n) && offset&(1<<probe.RankShift-1) < probe.WindowSize
}

// InWindow reports whether a generic address is in the window of a space, ptx.Shared or ptx.Local.
func InWindow(addr uint64, s ptx.Space) bool {
	space, _ := Window(addr)
	return space == s
}

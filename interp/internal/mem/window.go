package mem

import "gemu/ptx"

// Generic windows of shared and local memory (manual 5.1, 9.7.9.20): the generic address of shared offset x is
// SharedWindow + x, of local offset x LocalWindow + x. They fit in 32 bits, so that modules of either address size see
// the same map. They lie below 4 MiB, where no host maps memory of a 64-bit process, so that they do not collide with
// host memory mapped at its own address. Device allocations begin above them.
const (
	SharedWindow = 0x0010_0000
	LocalWindow  = 0x0020_0000
	WindowSize   = 0x0010_0000 // bytes of each
	windowsEnd   = LocalWindow + WindowSize

	// ParamBase is the address of the running kernel's parameters, which have at most paramSize bytes.
	ParamBase = 0x000f_0000
	paramSize = 0x0001_0000

	// WorkspaceBase is the address of the workspace of a cooperative launch.
	WorkspaceBase = 0x000e_0000

	// CodeBase is the first function address: a function is 16 bytes long.
	CodeBase = 0x0400_0000

	// HandleBase is the first handle of a texture, surface or sampler: each takes 16 bytes.
	HandleBase = 0x0800_0000

	// RankShift is the position of the CTA's rank in an address of shared memory: the shared memory of rank r lies
	// r<<RankShift above that of rank 0, both in .shared space and as generic addresses.
	RankShift = 24
)

// Window decodes a generic address: ptx.Shared or ptx.Local with the offset in the window, or ptx.Generic with the
// address itself, which must be looked up in the Map.
func Window(addr uint64) (ptx.Space, uint64) {
	switch {
	case addr-SharedWindow < WindowSize:
		return ptx.Shared, addr - SharedWindow
	case addr-LocalWindow < WindowSize:
		return ptx.Local, addr - LocalWindow
	}
	return ptx.Generic, addr
}

// SharedAddress is the generic address of the shared memory of the CTA with the given rank in its cluster.
func SharedAddress(rank int) uint64 { return SharedWindow + uint64(rank)<<RankShift }

// InShared reports whether a generic address lies in the window of shared memory of one of the
// n CTAs of a cluster.
func InShared(addr uint64, n int) bool {
	offset := addr - SharedWindow
	return offset>>RankShift < uint64(n) && offset&(1<<RankShift-1) < WindowSize
}

// InWindow reports whether a generic address lies in the window of a space.
func InWindow(addr uint64, s ptx.Space) bool {
	space, _ := Window(addr)
	return space == s
}

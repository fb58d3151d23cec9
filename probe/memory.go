package probe

import (
	"fmt"
	"strings"
	"unsafe"

	"gemu/ptx"
)

// The windows of the generic address space (PTX manual, 5.1 and 9.7.9.20; docs/addresses.md). They fit in 32 bits, so that
// modules with 32-bit and 64-bit addresses see the same map. They lie below 4 MiB, where no operating system maps memory of a
// 64-bit process: host memory that is mapped at its own address does not collide with them.
const (
	// SharedWindow is the generic address of offset 0 in shared memory.
	SharedWindow = 0x0010_0000
	// LocalWindow is the generic address of offset 0 in local memory.
	LocalWindow = 0x0020_0000
	// WindowSize is the size of each window in bytes.
	WindowSize = 0x0010_0000
	// ParamBase is the address of the parameters of the running kernel.
	ParamBase = 0x000f_0000
	// FirstAddress is the default first address of device memory (interp.Config.Base).
	FirstAddress = 0x1000_0000

	// RankShift is the bit position of the CTA rank in an address of shared memory. The memory of the CTA of rank r in its cluster
	// lies r<<RankShift bytes above the memory of rank 0, for addresses in .shared space and for generic addresses.
	RankShift = 24
)

// AllocationKind is the use of an allocation.
type AllocationKind uint8

// The kinds of allocation. Loads and stores do not reach ArrayMemory and the kinds after it.
const (
	// BufferMemory is memory that the host has allocated.
	BufferMemory AllocationKind = iota
	// VariableMemory is a .global variable.
	VariableMemory
	// ConstantMemory is a .const variable.
	ConstantMemory
	// ParameterMemory is the parameter block of the kernel.
	ParameterMemory
	// HeapMemory is a block that device-side malloc has allocated.
	HeapMemory
	// SharedMemory is the shared memory of a CTA.
	SharedMemory
	// HostMemory is memory of the host that is mapped into the device's address space.
	HostMemory
	// WorkspaceMemory is the workspace of the grid barrier of a cooperative launch.
	WorkspaceMemory
	// PerCTAMemory is global memory of a launch, divided into a slice for each CTA.
	PerCTAMemory
	// ArrayMemory is the texels of an array, which only textures and surfaces reach.
	ArrayMemory
	// TexRefMemory is a .texref variable: a handle, which only its binding changes.
	TexRefMemory
	// SamplerRefMemory is a .samplerref variable.
	SamplerRefMemory
	// SurfRefMemory is a .surfref variable.
	SurfRefMemory
)

// Opaque describes the kind of memory if loads and stores do not reach it; "" for all other kinds.
func (k AllocationKind) Opaque() string {
	switch k {
	case ArrayMemory:
		return "the array of a texture or surface"
	case TexRefMemory:
		return ".texref variable"
	case SamplerRefMemory:
		return ".samplerref variable"
	case SurfRefMemory:
		return ".surfref variable"
	}
	return ""
}

// Allocation is a block of memory with bounds. The machine owns it and changes it when the memory is freed; a probe must not
// change it, apart from the bytes of Shadow. Pointers to an allocation are unique: they can be compared, and be map keys.
type Allocation struct {
	// Base is the first address. For shared memory it is a generic address.
	Base uint64
	// Size is the number of accessible bytes: 0 after the memory was freed.
	Size uint64
	// Span is the number of addresses, in bytes; it does not change when the memory is freed.
	Span uint64
	// Data is the memory itself, Size bytes; nil after the memory was freed.
	Data []byte
	// Ptr is the address of the first byte of Data, for machine code.
	Ptr unsafe.Pointer
	// Kind is the use of the memory.
	Kind AllocationKind
	// Name is the name that the host or the module gave the memory; it may be empty.
	Name string
	// Freed means that the memory was freed. The allocation remains, so that messages can name its use after free.
	Freed bool
	// OfHost means that the bytes are the caller's of interp.Device.AllocOver. The host may have written them before the
	// allocation.
	OfHost bool

	// Shadow has interp.Config.ShadowBytes bytes for each byte of Data, zero at first; nil without shadow bytes. A probe may change
	// them. The shadow bytes of shared memory belong to the CTA.
	Shadow []byte
}

// String returns the name and the address range of the allocation, for messages.
func (a *Allocation) String() string {
	return fmt.Sprintf("%s [%#x, %#x) of %d bytes", a.Label(), a.Base, a.Base+a.Span, a.Span)
}

// Label returns the name of the allocation for messages.
func (a *Allocation) Label() string {
	name := a.Name
	switch a.Kind {
	case BufferMemory:
		if name == "" {
			name = "buffer"
		} else {
			name = "buffer " + name
		}
	case VariableMemory:
		name = "variable " + name
	case ConstantMemory:
		name = ".const variable " + name
	case ParameterMemory:
		name = "kernel parameters"
	case HeapMemory:
		name = "heap block"
	case SharedMemory:
		name = "shared memory"
	case HostMemory:
		if name == "" {
			name = "host memory"
		}
	case WorkspaceMemory:
		name = "grid workspace"
	case PerCTAMemory:
		name = "per-CTA memory"
	case ArrayMemory:
		name = strings.TrimSpace("array " + name)
	case TexRefMemory, SamplerRefMemory, SurfRefMemory:
		name = a.Kind.Opaque() + " " + name
	}
	return name
}

// Space returns the state space of the allocation: .const, .param, .shared or .global.
func (a *Allocation) Space() ptx.Space {
	switch a.Kind {
	case ConstantMemory:
		return ptx.Const
	case ParameterMemory:
		return ptx.Param
	case SharedMemory:
		return ptx.Shared
	}
	return ptx.Global
}

// HasUninitialised reports whether the new allocation has no defined content. It is true for memory that the host or malloc
// allocates, and for per-CTA memory. Variables have initial values, and bytes of the host may have values.
func (a *Allocation) HasUninitialised() bool {
	return a.Kind == BufferMemory && !a.OfHost || a.Kind == HeapMemory || a.Kind == PerCTAMemory
}

// Pointer is a word of the kernel's parameters that holds an address of device memory.
type Pointer struct {
	// Offset is the offset of the word in the parameters, in bytes.
	Offset int
	// Memory is the allocation that contains the address; nil if no allocation contains it, or if loads and stores do not reach it.
	Memory *Allocation

	// Begin and End delimit the contiguous memory around the address: Memory alone, unless mapped host memory adjoins it.
	Begin, End uint64
}

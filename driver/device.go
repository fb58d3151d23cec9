package driver

// This file implements devices, their limits and their attributes.

import (
	"fmt"
	"sync"

	"gemu/driver/internal/sharedmem"
	"gemu/interp"
	"gemu/occupancy"
)

// Device is an emulated GPU.
type Device struct {
	d       *Driver
	ordinal int
	used    uint64      // bytes allocated by clients
	graphs  graphMemory // memory that graphs allocate

	primaryMu sync.Mutex // held while the primary context is made or destroyed; locked before d.mu
	primary   *Context   // nil until it is first retained
	retained  int        // number of retains without a release
	flags     uint32     // flags of the primary context
}

// limits returns the limits of the devices' compute capability.
func (d *Driver) limits() *occupancy.Limits { return occupancy.LimitsOf(d.settings.SM) }

// Limits common to all devices.
const (
	warpSize         = 32
	maxThreads       = 1024     // per block
	sharedPerBlock   = 48 << 10 // without an attribute that allows more
	constantMemory   = 64 << 10
	clockRate        = 1_000_000 // kHz: %clock counts instructions
	memoryClockRate  = 1_000_000 // kHz
	memoryBusWidth   = 256       // bits
	l2CacheSize      = 4 << 20
	textureAlignment = 512
	texturePitch     = 32 // TEXTURE_PITCH_ALIGNMENT

	// Bounds of textures and surfaces, in texels, as of compute capability 8 (CUDA C++ Programming Guide, technical
	// specifications).
	maxWidth, maxHeight, maxDepth = 131072, 65536, 16384
	maxLayeredWidth, maxLayers    = 32768, 2048
	linearTexels                  = 1 << 27
	pitchAlignment                = 512 // alignment of cuMemAllocPitch, in bytes
)

// DeviceAttribute is a CUdevice_attribute.
type DeviceAttribute int32

// attributeCount is 1 more than the largest number of an attribute.
const attributeCount DeviceAttribute = 162

// attributes returns the attributes with a value other than 0.
func (v *Device) attributes() map[DeviceAttribute]int {
	sm := v.d.settings.SM
	l := v.d.limits()
	return map[DeviceAttribute]int{
		1:   maxThreads,                  // MAX_THREADS_PER_BLOCK
		2:   1024,                        // MAX_BLOCK_DIM_X
		3:   1024,                        // MAX_BLOCK_DIM_Y
		4:   64,                          // MAX_BLOCK_DIM_Z
		5:   1<<31 - 1,                   // MAX_GRID_DIM_X
		6:   65535,                       // MAX_GRID_DIM_Y
		7:   65535,                       // MAX_GRID_DIM_Z
		8:   sharedPerBlock,              // MAX_SHARED_MEMORY_PER_BLOCK
		9:   constantMemory,              // TOTAL_CONSTANT_MEMORY
		10:  warpSize,                    // WARP_SIZE
		11:  1<<31 - 1,                   // MAX_PITCH
		12:  l.Registers,                 // MAX_REGISTERS_PER_BLOCK
		13:  clockRate,                   // CLOCK_RATE
		14:  textureAlignment,            // TEXTURE_ALIGNMENT
		15:  1,                           // GPU_OVERLAP
		16:  interp.Multiprocessors,      // MULTIPROCESSOR_COUNT
		18:  1,                           // INTEGRATED: it uses the host's memory
		19:  1,                           // CAN_MAP_HOST_MEMORY
		21:  maxWidth,                    // MAXIMUM_TEXTURE1D_WIDTH
		22:  maxWidth,                    // MAXIMUM_TEXTURE2D_WIDTH
		23:  maxHeight,                   // MAXIMUM_TEXTURE2D_HEIGHT
		24:  maxDepth,                    // MAXIMUM_TEXTURE3D_WIDTH
		25:  maxDepth,                    // MAXIMUM_TEXTURE3D_HEIGHT
		26:  maxDepth,                    // MAXIMUM_TEXTURE3D_DEPTH
		27:  maxLayeredWidth,             // MAXIMUM_TEXTURE2D_LAYERED_WIDTH
		28:  maxLayeredWidth,             // MAXIMUM_TEXTURE2D_LAYERED_HEIGHT
		29:  maxLayers,                   // MAXIMUM_TEXTURE2D_LAYERED_LAYERS
		30:  textureAlignment,            // SURFACE_ALIGNMENT
		31:  1,                           // CONCURRENT_KERNELS
		33:  v.ordinal + 1,               // PCI_BUS_ID
		36:  memoryClockRate,             // MEMORY_CLOCK_RATE
		37:  memoryBusWidth,              // GLOBAL_MEMORY_BUS_WIDTH
		38:  l2CacheSize,                 // L2_CACHE_SIZE
		39:  l.Threads(),                 // MAX_THREADS_PER_MULTIPROCESSOR
		40:  1,                           // ASYNC_ENGINE_COUNT
		41:  1,                           // UNIFIED_ADDRESSING
		42:  maxLayeredWidth,             // MAXIMUM_TEXTURE1D_LAYERED_WIDTH
		43:  maxLayers,                   // MAXIMUM_TEXTURE1D_LAYERED_LAYERS
		45:  maxLayeredWidth,             // MAXIMUM_TEXTURE2D_GATHER_WIDTH
		46:  maxLayeredWidth,             // MAXIMUM_TEXTURE2D_GATHER_HEIGHT
		51:  texturePitch,                // TEXTURE_PITCH_ALIGNMENT
		52:  maxLayeredWidth,             // MAXIMUM_TEXTURECUBEMAP_WIDTH
		53:  maxLayeredWidth,             // MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH
		54:  maxLayers / 6 * 6,           // MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS
		55:  maxLayeredWidth,             // MAXIMUM_SURFACE1D_WIDTH
		56:  maxWidth,                    // MAXIMUM_SURFACE2D_WIDTH
		57:  maxHeight,                   // MAXIMUM_SURFACE2D_HEIGHT
		58:  maxDepth,                    // MAXIMUM_SURFACE3D_WIDTH
		59:  maxDepth,                    // MAXIMUM_SURFACE3D_HEIGHT
		60:  maxDepth,                    // MAXIMUM_SURFACE3D_DEPTH
		61:  maxLayeredWidth,             // MAXIMUM_SURFACE1D_LAYERED_WIDTH
		62:  maxLayers,                   // MAXIMUM_SURFACE1D_LAYERED_LAYERS
		63:  maxLayeredWidth,             // MAXIMUM_SURFACE2D_LAYERED_WIDTH
		64:  maxLayeredWidth,             // MAXIMUM_SURFACE2D_LAYERED_HEIGHT
		65:  maxLayers,                   // MAXIMUM_SURFACE2D_LAYERED_LAYERS
		66:  maxLayeredWidth,             // MAXIMUM_SURFACECUBEMAP_WIDTH
		67:  maxLayeredWidth,             // MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH
		68:  maxLayers / 6 * 6,           // MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS
		69:  linearTexels,                // MAXIMUM_TEXTURE1D_LINEAR_WIDTH
		70:  maxWidth,                    // MAXIMUM_TEXTURE2D_LINEAR_WIDTH
		71:  65000,                       // MAXIMUM_TEXTURE2D_LINEAR_HEIGHT
		72:  2097120,                     // MAXIMUM_TEXTURE2D_LINEAR_PITCH
		73:  maxLayeredWidth,             // MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH
		74:  maxLayeredWidth,             // MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT
		75:  sm / 10,                     // COMPUTE_CAPABILITY_MAJOR
		76:  sm % 10,                     // COMPUTE_CAPABILITY_MINOR
		77:  maxLayeredWidth,             // MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
		78:  1,                           // STREAM_PRIORITIES_SUPPORTED
		79:  1,                           // GLOBAL_L1_CACHE_SUPPORTED
		80:  1,                           // LOCAL_L1_CACHE_SUPPORTED
		81:  l.Shared,                    // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
		82:  l.FileSize,                  // MAX_REGISTERS_PER_MULTIPROCESSOR
		83:  1,                           // MANAGED_MEMORY
		85:  v.ordinal,                   // MULTI_GPU_BOARD_GROUP_ID
		87:  1,                           // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
		89:  1,                           // CONCURRENT_MANAGED_ACCESS
		91:  1,                           // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
		92:  1,                           // CAN_USE_STREAM_MEM_OPS_V1
		93:  1,                           // CAN_USE_64_BIT_STREAM_MEM_OPS_V1
		94:  1,                           // CAN_USE_STREAM_WAIT_VALUE_NOR_V1
		95:  1,                           // COOPERATIVE_LAUNCH
		97:  l.PerBlock,                  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
		99:  1,                           // HOST_REGISTER_SUPPORTED
		102: number(sharedmem.Supported), // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
		103: number(sharedmem.Supported), // HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
		106: l.Blocks,                    // MAX_BLOCKS_PER_MULTIPROCESSOR
		111: l.Reserved,                  // RESERVED_SHARED_MEMORY_PER_BLOCK
		113: 1,                           // READ_ONLY_HOST_REGISTER_SUPPORTED
		115: 1,                           // MEMORY_POOLS_SUPPORTED
		119: number(sharedmem.Supported), // MEMPOOL_SUPPORTED_HANDLE_TYPES: file descriptors
		120: number(sm >= 90),            // CLUSTER_LAUNCH
		122: 1,                           // CAN_USE_64_BIT_STREAM_MEM_OPS
		123: 1,                           // CAN_USE_STREAM_WAIT_VALUE_NOR
		125: number(sharedmem.Supported), // IPC_EVENT_SUPPORTED
		126: 1,                           // MEM_SYNC_DOMAIN_COUNT
		134: -1,                          // HOST_NUMA_ID: unknown
		142: 1,                           // HOST_NUMA_MEMORY_POOLS_SUPPORTED
		144: 1,                           // HOST_MEMORY_POOLS_SUPPORTED
		149: 1,                           // LOCALITY_DOMAIN_COUNT
		157: interp.Multiprocessors,      // LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT
		160: 1<<31 - 1,                   // TENSOR_MAP_LARGE_TENSOR_MIN_SIZE: no tensor is large
	}
}

// device returns the device with an ordinal. It fails before cuInit. The caller must hold d.mu.
func (d *Driver) device(ordinal int) (*Device, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	if ordinal < 0 || ordinal >= len(d.devices) {
		return nil, fail(InvalidDevice, "no device %d: the number of devices is %d", ordinal, len(d.devices))
	}
	return d.devices[ordinal], nil
}

// lockedDevice is device for callers without d.mu.
func (d *Driver) lockedDevice(ordinal int) (*Device, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.device(ordinal)
}

// DeviceGet is cuDeviceGet: the handle of a device is its ordinal.
func (d *Driver) DeviceGet(ordinal int) (int, error) {
	_, err := d.lockedDevice(ordinal)
	return ordinal, err
}

// DeviceGetCount is cuDeviceGetCount.
func (d *Driver) DeviceGetCount() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ready {
		return 0, fail(NotInitialized, "cuInit was not called")
	}
	return len(d.devices), nil
}

// DeviceGetName is cuDeviceGetName.
func (d *Driver) DeviceGetName(dev int) (string, error) {
	_, err := d.lockedDevice(dev)
	return "gemu", err
}

// DeviceGetUUID is cuDeviceGetUuid.
func (d *Driver) DeviceGetUUID(dev int) (uuid [16]byte, err error) {
	_, err = d.lockedDevice(dev)
	copy(uuid[:], "gemu")
	uuid[15] = byte(dev)
	return uuid, err
}

// DeviceTotalMem is cuDeviceTotalMem.
func (d *Driver) DeviceTotalMem(dev int) (uint64, error) {
	_, err := d.lockedDevice(dev)
	return d.settings.Memory, err
}

// DeviceGetTexture1DLinearMaxWidth is cuDeviceGetTexture1DLinearMaxWidth: the maximum width of a texture in linear
// memory, in texels.
func (d *Driver) DeviceGetTexture1DLinearMaxWidth(format ArrayFormat, channels uint32, dev int) (uint64, error) {
	if _, err := d.lockedDevice(dev); err != nil {
		return 0, err
	}
	_, _, err := format.format(channels)
	return linearTexels, err
}

// DeviceGetAttribute is cuDeviceGetAttribute.
func (d *Driver) DeviceGetAttribute(a DeviceAttribute, dev int) (int, error) {
	v, err := d.lockedDevice(dev)
	switch {
	case err != nil:
		return 0, err
	case a < 1 || a >= attributeCount:
		return 0, fail(InvalidValue, "device attribute %d", a)
	}
	return v.attributes()[a], nil
}

// DeviceComputeCapability is cuDeviceComputeCapability.
func (d *Driver) DeviceComputeCapability(dev int) (major, minor int, err error) {
	_, err = d.lockedDevice(dev)
	return d.settings.SM / 10, d.settings.SM % 10, err
}

// DeviceGetPCIBusID is cuDeviceGetPCIBusId.
func (d *Driver) DeviceGetPCIBusID(dev int) (string, error) {
	_, err := d.lockedDevice(dev)
	return fmt.Sprintf("0000:%02x:00.0", dev+1), err
}

// DeviceGetByPCIBusID is cuDeviceGetByPCIBusId.
func (d *Driver) DeviceGetByPCIBusID(id string) (int, error) {
	var domain, bus, slot, function int
	n, _ := fmt.Sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function)
	if n < 3 {
		domain, function = 0, 0
		if n, _ = fmt.Sscanf(id, "%x:%x.%x", &bus, &slot, &function); n < 2 {
			return 0, fail(InvalidValue, "PCI bus id %q", id)
		}
	}
	if domain != 0 || slot != 0 || function != 0 {
		return 0, fail(InvalidDevice, "no device at PCI bus id %q", id)
	}
	_, err := d.lockedDevice(bus - 1)
	return bus - 1, err
}

// DeviceCanAccessPeer is cuDeviceCanAccessPeer: every device can access all devices except itself, because they share
// a memory.
func (d *Driver) DeviceCanAccessPeer(dev, peer int) (bool, error) {
	_, err := d.lockedDevice(dev)
	if err == nil {
		_, err = d.lockedDevice(peer)
	}
	return err == nil && dev != peer, err
}

// DeviceGetP2PAttribute is cuDeviceGetP2PAttribute.
func (d *Driver) DeviceGetP2PAttribute(attribute, src, dst int) (int, error) {
	ok, err := d.DeviceCanAccessPeer(src, dst)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, fail(InvalidDevice, "device %d cannot be its own peer", src)
	}
	switch attribute {
	case 1: // PERFORMANCE_RANK
		return 0, nil
	case 2, 3: // ACCESS_SUPPORTED, NATIVE_ATOMIC_SUPPORTED
		return 1, nil
	case 4: // CUDA_ARRAY_ACCESS_SUPPORTED
		return 0, nil
	}
	return 0, fail(InvalidValue, "unknown peer attribute %d", attribute)
}

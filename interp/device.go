package interp

// This file has the device: its configuration, buffers and modules.

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/internal/hostmem"
	"gemu/interp/internal/access"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// Config configures a device. The zero value is ready to use.
type Config struct {
	// Memory is the size of device memory in bytes; 0 means 16 GiB. It bounds
	// allocations and variables. A page takes host memory from its first access on.
	Memory uint64
	// Heap is the size limit of the heap of device-side malloc, in bytes; 0 means 256 MiB. Each block counts 256 bytes
	// more than its size: about the host memory that gemu uses to administer it.
	Heap uint64
	// Stack bounds the local memory of a thread in bytes; 0 means 512 KiB, and the maximum is 1 MiB.
	Stack int
	// HostMemory is the limit, in bytes, of the host memory for registers, local and shared memory of the CTAs in flight.
	// 0 means the limit of the host: three quarters of the physical memory, or less where the process has a limit (control
	// groups, ulimit -v, GOMEMLIMIT). One CTA can always run.
	HostMemory uint64
	// Workers is the number of host goroutines that run CTAs; 0 means
	// GOMAXPROCS. Results do not depend on it.
	Workers int
	// Stdout receives the output of kernels; nil discards it.
	Stdout io.Writer
	// Base is the address where device memory begins; 0 means 0x1000_0000, which
	// leaves most of it in the reach of modules of 32-bit addresses.
	Base uint64
	// Allocate, if set, provides the memory of allocations: size zero bytes at an address that is a multiple of 16, and
	// the function that releases them, which may be nil. Without Allocate, the memory is in the Go heap.
	Allocate func(size uint64) (data []byte, release func(), err error)
	// Managed, with Allocate, gives variables with .attribute(.managed) the address of their memory on the host, so that
	// the host can use their addresses.
	Managed bool
	// Probes observe all launches and the operations of the host on memory.
	Probes []probe.Probe
	// Engine executes the launches without an engine of their own; DefaultEngine means Portable.
	Engine Engine
	// SM is the compute capability of the device, 90 for 9.0; 0 means DefaultSM. Tensor cores add as in that generation:
	// see docs/tensor.md. The .target of a module has no effect.
	SM int
	// ShadowBytes is the number of bytes for probes per byte of memory, in every state space: see Access.Shadow and
	// Allocation.Shadow.
	ShadowBytes int
	// TimeLimit is the time of the host, without pauses, after which a launch traps with ErrTimeLimit; 0 means no limit.
	// The instruction at which the launch stops depends on the host.
	TimeLimit time.Duration
	// Tolerance selects the faults after which kernels continue, as on a GPU; Strict tolerates none.
	Tolerance probe.Tolerance
	// OnTolerated, unless nil, receives each instruction that continued after a fault, at the end of its launch, in the
	// order of the source. The calls do not depend on the mode, the engine or Workers. It must not use the device.
	OnTolerated func(*probe.Tolerated)
	// HostGrace is the time for which a launch may wait for the host to change memory when all its threads wait and none
	// of them changes memory. After it, the launch is in a deadlock. 0 is for hosts that do not change memory.
	HostGrace time.Duration
}

// DefaultSM is the compute capability of a device without Config.SM: 8.6.
const DefaultSM = 86

// Device is an emulated GPU: memory and the modules loaded into it. Launches on a device run in sequence, or take turns
// (Launch.Yield).
type Device struct {
	cfg Config
	mu  deviceLock
	mem *mem.Map

	simtDevice machine.Device
	paused     *Execution // the execution in progress, or nil
	funcs      uint64     // the number of functions with a code address
	loaded     int        // the number of loaded modules
}

// ErrOutOfMemory is the error of an allocation beyond the device's memory, or beyond the host's.
var ErrOutOfMemory = mem.ErrOutOfMemory

// ErrNoHostMemory is the error of an allocation when the host has no memory left.
var ErrNoHostMemory = hostmem.ErrNoMemory

// MemoryError is the error of a variable or parameter that does not fit in memory, or exceeds a limit.
type MemoryError struct {
	File     string  // name of the source file
	Pos      ptx.Pos // place of the declaration
	Line     string  // text of the source line at Pos
	Variable string  // the variable or parameter, with its size
	Err      error   // ErrOutOfMemory, ErrNoHostMemory, or the limit
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s:%s: %s: %v", e.File, e.Pos, e.Variable, e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

// Snippet returns the source line with a caret under the column, as two lines.
func (e *MemoryError) Snippet() string { return ptx.Snippet(e.Line, e.Pos) }

// devices is the number of devices that this process has made.
var devices atomic.Uint64

// NewDevice makes a device.
func NewDevice(cfg Config) *Device {
	if cfg.Memory == 0 {
		cfg.Memory = 16 << 30
	}
	if cfg.Heap == 0 {
		cfg.Heap = 256 << 20
	}
	if cfg.Stack == 0 {
		cfg.Stack = 512 << 10
	}
	cfg.Stack = min(cfg.Stack, probe.WindowSize)
	if cfg.HostMemory == 0 {
		cfg.HostMemory = hostmem.Budget()
	}
	if cfg.Base == 0 {
		cfg.Base = probe.FirstAddress
	}
	if cfg.SM == 0 {
		cfg.SM = DefaultSM
	}
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	m := mem.NewMap(cfg.Base, cfg.Memory, cfg.Allocate)
	m.ShadowBytes = max(cfg.ShadowBytes, 0)
	d := &Device{cfg: cfg, mem: m, simtDevice: machine.Device{Number: devices.Add(1), Memory: m, Heap: cfg.Heap, Stack: cfg.Stack, HostMemory: cfg.HostMemory, Stdout: cfg.Stdout, Probes: cfg.Probes, SM: cfg.SM, HostGrace: cfg.HostGrace, Tolerance: cfg.Tolerance, OnTolerated: cfg.OnTolerated}}
	d.simtDevice.EnterWorker = d.mu.enter
	return d
}

// Close releases the memory of the device. The device, its buffers and modules, and the results of Bytes and Slice must not
// be used afterwards. Without Close, the memory of large buffers stays allocated until Free.
// It waits for a launch of another goroutine; from a probe it returns ErrInProbe.
func (d *Device) Close() error {
	if err := d.lock(); err != nil {
		return err
	}
	defer d.mu.release()
	d.mem.Close()
	return nil
}

// lock acquires the device's lock for a change of memory, of which probes may receive events.
func (d *Device) lock() error {
	return d.mu.acquire(len(d.cfg.Probes) > 0 || d.cfg.Allocate != nil)
}

// Buffer is an allocation of device memory.
type Buffer struct {
	dev   *Device
	alloc *mem.Allocation
}

// Alloc allocates size zero bytes of global memory. It waits for a launch of another goroutine, as all changes of memory do. The
// errors are ErrOutOfMemory, ErrNoHostMemory and, from a probe, ErrInProbe.
func (d *Device) Alloc(size int) (*Buffer, error) { return d.AllocNamed("", size) }

// AllocNamed allocates like Alloc; traps call the buffer by its name.
func (d *Device) AllocNamed(name string, size int) (*Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("buffer of %d bytes", size)
	}
	if err := d.lock(); err != nil {
		return nil, err
	}
	defer d.mu.release()
	a, err := d.mem.Alloc(uint64(size), probe.BufferMemory, name)
	if err != nil {
		return nil, err
	}
	event.EmitHost(&d.simtDevice, probe.OnAlloc, a, 0, size, nil)
	return &Buffer{d, a}, nil
}

// AllocOver makes memory of the caller a buffer of device memory, at an address as Alloc chooses it: kernels and the caller share
// the bytes. data must begin at a multiple of 16 bytes, and must stay accessible until the buffer is freed. mapping is
// ReadOnly or 0. The errors are those of Alloc.
func (d *Device) AllocOver(data []byte, name string, mapping Mapping) (*Buffer, error) {
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%16 != 0 {
		return nil, fmt.Errorf("memory of %d bytes at %p: want an address that is a multiple of 16", len(data), data)
	}
	if mapping&^ReadOnly != 0 {
		return nil, fmt.Errorf("mapping %d: want ReadOnly or 0", mapping)
	}
	if err := d.lock(); err != nil {
		return nil, err
	}
	defer d.mu.release()
	a, err := d.mem.AllocOver(data, probe.BufferMemory, name, mem.Mapping(mapping))
	if err != nil {
		return nil, err
	}
	event.EmitHost(&d.simtDevice, probe.OnAlloc, a, 0, len(data), nil)
	return &Buffer{d, a}, nil
}

// Alignment returns the alignment, in bytes, of the address of a buffer of size bytes.
func Alignment(size uint64) uint64 { return mem.Alignment(size) }

// Map makes memory of the host accessible to kernels, as global memory at the given address, such as its own address on the
// host. Freeing the buffer unmaps it. The address must lie above the windows of shared and local memory, which end at
// 3 MiB, and outside live buffers.
func (d *Device) Map(addr uint64, data []byte, name string, mapping Mapping) (*Buffer, error) {
	return d.MapOrdered(addr, data, name, mapping, nil)
}

// MapOrdered is like Map, and gives probes the order of the operation: see Event.Order.
func (d *Device) MapOrdered(addr uint64, data []byte, name string, mapping Mapping, order *probe.HostOrder) (*Buffer, error) {
	if err := d.lock(); err != nil {
		return nil, err
	}
	defer d.mu.release()
	a, err := d.mem.Attach(addr, data, name, mem.Mapping(mapping))
	if err != nil {
		return nil, err
	}
	event.EmitHost(&d.simtDevice, probe.OnAlloc, a, 0, len(data), order)
	return &Buffer{d, a}, nil
}

// Used returns the number of allocated bytes. It can be called at any time.
func (d *Device) Used() uint64 {
	return d.mem.Used()
}

// Free releases the buffer. A kernel that still uses its address traps.
// From a probe it returns ErrInProbe.
func (b *Buffer) Free() error { return b.FreeOrdered(nil) }

// FreeOrdered is like Free, and gives probes the order of the operation: see Event.Order.
func (b *Buffer) FreeOrdered(order *probe.HostOrder) error {
	return b.dev.release(b.alloc, order)
}

// release frees an allocation of the host.
func (d *Device) release(a *mem.Allocation, order *probe.HostOrder) error {
	if err := d.lock(); err != nil {
		return err
	}
	defer d.mu.release()
	if !a.Freed {
		event.EmitHost(&d.simtDevice, probe.OnFree, a, 0, int(a.Size), order)
		d.mem.Free(a)
	}
	return nil
}

// Addr returns the buffer's device address.
func (b *Buffer) Addr() uint64 { return b.alloc.Base }

// Size returns the buffer's size in bytes.
func (b *Buffer) Size() int { return int(b.alloc.Size) }

// Bytes returns the buffer's memory itself, not a copy. It must not be used during a launch or after Free, which returns
// the memory of large buffers to the host: an access then ends the process. Probes cannot see accesses to it. To make them
// visible, use Read and Write, or report them with HostRead and HostWrite.
func (b *Buffer) Bytes() []byte { return b.alloc.Data }

// Write copies data into the buffer, starting at an offset in bytes. It drops the data beyond the buffer's end. On a device with
// probes it waits for a launch of another goroutine, after the copy. From a probe it returns ErrInProbe.
func (b *Buffer) Write(offset int, data []byte) error {
	if b.dev.mu.inCallback() {
		return ErrInProbe
	}
	n := copy(b.alloc.Data[offset:], data)
	b.dev.HostWrite(b.Addr()+uint64(offset), n, nil)
	return nil
}

// Read copies bytes of the buffer into data, starting at an offset in bytes, up to the buffer's end. On a device with probes it
// waits for a launch of another goroutine, after the copy. It may be called from a probe.
func (b *Buffer) Read(offset int, data []byte) {
	b.dev.HostRead(b.Addr()+uint64(offset), copy(data, b.alloc.Data[offset:]), nil)
}

// HostWrite reports to the device's probes a write by the host; order is Event.Order. It waits for a launch of another
// goroutine, because probes receive their events in sequence. From a probe it does nothing: actions of a probe are no part
// of the program.
func (d *Device) HostWrite(addr uint64, bytes int, order *probe.HostOrder) {
	d.emit(probe.OnHostWrite, addr, bytes, order)
}

// HostRead reports to the device's probes a read by the host, as HostWrite does.
func (d *Device) HostRead(addr uint64, bytes int, order *probe.HostOrder) {
	d.emit(probe.OnHostRead, addr, bytes, order)
}

func (d *Device) emit(kind probe.Events, addr uint64, bytes int, order *probe.HostOrder) {
	if len(d.cfg.Probes) == 0 {
		return
	}
	if d.lock() != nil { // ErrInProbe
		return
	}
	defer d.mu.release()
	if a := d.mem.Find(addr); a != nil {
		offset := addr - a.Base
		event.EmitHost(&d.simtDevice, kind, a, offset, int(min(uint64(bytes), a.Size-offset)), order)
	}
}

// Find returns the allocation at an address, which may be freed; nil if there is none. It can be called at any time, from a
// probe and from any goroutine during a launch. The allocation's fields change when it is freed.
func (d *Device) Find(addr uint64) *probe.Allocation { return d.mem.Lookup(addr).Public() }

// Element is a type that buffers can hold.
type Element interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

// NewBuffer allocates a buffer with a copy of data.
func NewBuffer[T Element](d *Device, data []T) (*Buffer, error) {
	b, err := d.Alloc(len(data) * int(unsafe.Sizeof(*new(T))))
	if err != nil {
		return nil, err
	}
	copy(Slice[T](b), data)
	d.HostWrite(b.Addr(), b.Size(), nil)
	return b, nil
}

// Slice returns the buffer's memory itself as elements of type T: see Bytes. It omits the remainder at the end that is
// shorter than an element.
func Slice[T Element](b *Buffer) []T {
	n := len(b.alloc.Data) / int(unsafe.Sizeof(*new(T)))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.alloc.Data))), n)
}

// Module is a PTX module loaded into a device: its variables have addresses.
type Module struct {
	*ptx.Module
	dev          *Device
	vars         map[*ptx.Var]*mem.Allocation
	code         map[*ptx.Func]uint64 // addresses of functions
	kernels      map[kernelKey]*machine.Kernel
	addressTaken []*ptx.Func // the result of lower.AddressTaken, once it is known
}

// Load parses, checks and loads a PTX source; name is its name in messages. Errors of the source are a ptx.ErrorList.
func (d *Device) Load(name string, src []byte) (*Module, error) {
	m, err := ptx.Parse(name, src)
	if err != nil {
		return nil, err
	}
	return d.LoadModule(m)
}

// LoadModule loads a checked module: it allocates and initialises the variables.
func (d *Device) LoadModule(m *ptx.Module) (*Module, error) {
	if err := d.lock(); err != nil {
		return nil, err
	}
	defer d.mu.release()
	mod := &Module{Module: m, dev: d, vars: map[*ptx.Var]*mem.Allocation{}, code: map[*ptx.Func]uint64{}, kernels: map[kernelKey]*machine.Kernel{}}
	var vars []*ptx.Var
	for _, decl := range m.Decls {
		switch decl := decl.(type) {
		case *ptx.Var:
			vars = append(vars, decl)
		case *ptx.Func:
			if m.Lookup(decl.Name) == ptx.Symbol(decl) {
				mod.code[decl] = mem.CodeBase + d.funcs*16
				d.funcs++
			}
			vars = append(vars, decl.Vars...)
		}
	}
	for _, v := range vars {
		if v.Space != ptx.Global && v.Space != ptx.Const {
			continue
		}
		if mod.definition(v) != v {
			continue // defined in another module
		}
		a, err := d.allocVar(v)
		if err != nil {
			mod.unload()
			return nil, &MemoryError{File: m.Name, Pos: v.Pos, Line: m.Line(int(v.Pos.Line)), Variable: fmt.Sprintf("variable %s of %d bytes", v.Name, v.Size()), Err: err}
		}
		mod.vars[v] = a
		event.EmitHost(&d.simtDevice, probe.OnAlloc, a, 0, int(a.Size), nil)
	}
	mod.initialiseAll()
	mod.defineSamplers()
	d.loaded++
	return mod, nil
}

// allocVar allocates the memory of a variable.
func (d *Device) allocVar(v *ptx.Var) (*mem.Allocation, error) {
	size := uint64(v.Size())
	switch {
	case v.Type.Kind() == ptx.Opaque:
		return d.mem.Alloc(size, access.OpaqueKind(v.Type), v.Name)
	case v.Space == ptx.Const:
		return d.mem.Alloc(size, probe.ConstantMemory, v.Name)
	case d.cfg.Managed && v.Managed() && size > 0:
		return d.mem.AllocOnHost(size, "managed variable "+v.Name)
	}
	return d.mem.Alloc(size, probe.VariableMemory, v.Name)
}

// Reset gives the module's variables their initial values again. The bindings of textures and surfaces stay.
// From a probe it returns ErrInProbe.
func (m *Module) Reset() error {
	if err := m.dev.lock(); err != nil {
		return err
	}
	defer m.dev.mu.release()
	m.reset()
	return nil
}

func (m *Module) reset() {
	for v, a := range m.vars {
		if v.Type.Kind() != ptx.Opaque {
			a.Zero()
		}
	}
	m.initialiseAll()
}

// initialiseAll writes the initial values of the variables, which must be zero.
func (m *Module) initialiseAll() {
	for v, a := range m.vars {
		if v.Type.Kind() == ptx.Opaque {
			continue
		}
		m.initialise(v, a.Data)
		event.EmitHost(&m.dev.simtDevice, probe.OnHostWrite, a, 0, int(a.Size), nil)
	}
}

// Unload frees the memory of the module's variables. Later launches are refused.
// From a probe it returns ErrInProbe.
func (m *Module) Unload() error {
	if err := m.dev.lock(); err != nil {
		return err
	}
	defer m.dev.mu.release()
	m.unload()
	return nil
}

func (m *Module) unload() {
	for _, a := range m.vars {
		event.EmitHost(&m.dev.simtDevice, probe.OnFree, a, 0, int(a.Size), nil)
		m.dev.mem.Free(a)
	}
	m.vars, m.kernels = nil, nil
}

// initialise writes the initial value of a variable, which must be zero.
func (m *Module) initialise(v *ptx.Var, data []byte) {
	size := v.Type.Size()
	for _, e := range v.Init {
		if e.Sym == nil {
			copy(data[e.Elem*size:], e.Data)
			continue
		}
		addr, _ := m.symbolAddress(e.Sym)
		bits := addr + uint64(e.Offset)
		if e.Generic {
			if sv, ok := e.Sym.(*ptx.Var); ok && sv.Space == ptx.Shared {
				bits += probe.SharedWindow
			}
		}
		if e.Mask != 0 {
			shift := 0
			for e.Mask>>shift&1 == 0 {
				shift++
			}
			bits = bits & e.Mask >> shift
		}
		putBits(data[e.Elem*size:], size, bits)
	}
}

func putBits(p []byte, size int, bits uint64) {
	switch size {
	case 1:
		p[0] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(bits))
	default:
		binary.LittleEndian.PutUint64(p, bits)
	}
}

// definition returns the variable of a declaration: an .extern variable may be defined in the same module.
func (m *Module) definition(v *ptx.Var) *ptx.Var {
	if def, ok := m.Lookup(v.Name).(*ptx.Var); ok && v.Linkage == ptx.Extern {
		return def
	}
	return v
}

// symbolAddress returns the address of a global or constant variable or of a function; ok is false for shared and local
// variables, which each CTA or thread has separately.
func (m *Module) symbolAddress(s ptx.Symbol) (uint64, bool) {
	switch s := s.(type) {
	case *ptx.Var:
		if a := m.vars[m.definition(s)]; a != nil {
			return a.Base, true
		}
	case *ptx.Func:
		if def, ok := m.Lookup(s.Name).(*ptx.Func); ok {
			s = def
		}
		if a, ok := m.code[s]; ok {
			return a, true
		}
	}
	return 0, false
}

// Var returns a .global or .const variable of the module by name, as a buffer; nil if there is none.
func (m *Module) Var(name string) *Buffer {
	if v, ok := m.Lookup(name).(*ptx.Var); ok && v.Type.Kind() != ptx.Opaque {
		if a := m.vars[v]; a != nil {
			return &Buffer{m.dev, a}
		}
	}
	return nil
}

// Device returns the device of the module.
func (m *Module) Device() *Device { return m.dev }

package driver

// This file calls the driver's functions in any order with any handles, addresses and counts: each call must return,
// after any earlier calls.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gemu/internal/part"
	"gemu/ptx"
)

// notCalled lists the methods that hostile programs do not call: they end the driver, run without a context, or access
// memory for which the caller is responsible.
var notCalled = []string{"Init", "Close", "Exit", "NewThread", "RunHost", "Trace", "Unsupported", "ExportTable", "Statistics", "Check", "Run"}

// hostileClient is a program with random calls.
type hostileClient struct {
	r       *rand.Rand
	d       *Driver
	thread  *Thread
	methods []hostileMethod

	handles   []Handle
	byKind    map[string][]Handle
	addresses []uint64
	host      []byte // source and destination of copies
	files     []int
	calls     []string
}

type hostileMethod struct {
	name string
	call reflect.Value
}

func newHostileClient(d *Driver, seed uint64) *hostileClient {
	c := &hostileClient{r: rand.New(rand.NewPCG(seed, 0xca11)), d: d, thread: d.NewThread(), host: make([]byte, 1<<16), byKind: map[string][]Handle{}}
	for _, v := range []reflect.Value{reflect.ValueOf(c.thread), reflect.ValueOf(d)} {
		for i := range v.NumMethod() {
			if name := v.Type().Method(i).Name; !slices.Contains(notCalled, name) {
				c.methods = append(c.methods, hostileMethod{name, v.Method(i)})
			}
		}
	}
	return c
}

// begin makes some objects of every kind.
func (c *hostileClient) begin() error {
	t := c.thread
	var failed error
	keep := func(kind string, h Handle, err error) Handle {
		c.keep(kind, h)
		if failed == nil {
			failed = err
		}
		return h
	}
	create := func(kind string, create func() (Handle, error)) Handle {
		h, err := create()
		return keep(kind, h, err)
	}
	create("ctx", func() (Handle, error) { return t.CtxCreate(0, 0) })
	mod := create("module", func() (Handle, error) { return t.ModuleLoadData(cString(hostileKernels), 0) })
	for _, name := range []string{"add", "poke"} {
		create("func", func() (Handle, error) { return t.ModuleGetFunction(mod, name) })
	}
	for range 2 {
		addr, err := t.MemAlloc(4096)
		if err != nil {
			return err
		}
		c.addresses = append(c.addresses, addr)
	}
	create("stream", func() (Handle, error) { return t.StreamCreate(0, 0) })
	create("event", func() (Handle, error) { return t.EventCreate(0) })
	create("array", func() (Handle, error) {
		return t.ArrayCreate(&ArrayDesc{Width: 16, Height: 16, Format: 0x20, Channels: 1})
	})
	create("library", func() (Handle, error) { return t.LibraryLoadData(cString(hostileKernels)) })
	create("link", t.LinkCreate)
	create("pool", func() (Handle, error) { return c.d.MemGetDefaultMemPool(Location{OnDevice, 0}, 1) })
	graph := create("graph", func() (Handle, error) { return t.GraphCreate(0) })
	create("node", func() (Handle, error) { return t.GraphAddEmptyNode(graph, nil) })
	create("exec", func() (Handle, error) { return t.GraphInstantiate(graph, 0) })
	return failed
}

// keep records a handle for later calls.
func (c *hostileClient) keep(kind string, h Handle) {
	if h != 0 {
		c.handles = append(c.handles, h)
		c.byKind[kind] = append(c.byKind[kind], h)
	}
}

// handleKinds maps the beginning of a method's name to the kinds of handle that it takes and returns; the first match
// counts.
var handleKinds = []struct{ prefix, takes, gives string }{
	{"StreamEndCapture", "stream", "graph"}, {"Stream", "stream", "stream"}, {"Event", "event", "event"}, {"PrimaryCtx", "ctx", "ctx"}, {"Ctx", "ctx", "ctx"},
	{"ModuleGetFunction", "module", "func"}, {"ModuleGetReference", "module", "reference"}, {"ModuleEnumerate", "module", "func"}, {"Module", "module", "module"},
	{"LibraryGetKernel", "library", "kernel"}, {"LibraryEnumerate", "library", "kernel"}, {"LibraryGetModule", "library", "module"}, {"Library", "library", "library"},
	{"KernelGetFunction", "kernel", "func"}, {"Kernel", "kernel", "library"}, {"Func", "func", "module"}, {"LaunchHostFunc", "stream", ""}, {"Launch", "func", ""}, {"Occupancy", "func", ""}, {"Param", "func", ""},
	{"Link", "link", "link"}, {"Reference", "reference", ""}, {"MipmappedArrayGetLevel", "mipmap", "array"}, {"Mipmapped", "mipmap", "mipmap"}, {"Array", "array", "array"},
	{"MemPool", "pool", "pool"}, {"MemGetDefaultMemPool", "pool", "pool"}, {"MemGetMemPool", "pool", "pool"}, {"MemAllocAsync", "pool", ""}, {"MemSetMemPool", "pool", ""}, {"Mem", "memory", "memory"},
	{"UserObject", "user", "user"}, {"GraphAdd", "graph", "node"}, {"GraphChildGraphNodeGetGraph", "node", "graph"}, {"GraphInstantiate", "graph", "exec"},
	{"GraphExec", "exec", "node"}, {"GraphLaunch", "exec", ""}, {"GraphUpload", "exec", ""}, {"GraphNode", "node", "node"}, {"GraphKernelNode", "node", "node"}, {"GraphMem", "node", "node"}, {"GraphHostNode", "node", ""},
	{"GraphEventNode", "node", "event"}, {"GraphDestroyNode", "node", ""}, {"GraphGet", "graph", "node"}, {"Graph", "graph", "graph"}, {"IPC", "event", "event"}, {"", "", ""},
}

func handleKind(method string) (takes, gives string) {
	for _, k := range handleKinds {
		if strings.HasPrefix(method, k.prefix) {
			return k.takes, k.gives
		}
	}
	return "", ""
}

// hostileKernels are the test kernels that terminate.
var hostileKernels = kernels[:strings.Index(kernels, ".visible .entry spin")]

// modest returns a plausible number.
func (c *hostileClient) modest() uint64 {
	if c.r.IntN(2) == 0 {
		return 0
	}
	return []uint64{1, 1, 1, 2, 3, 4, 8, 16, 64, 256, 4096, 65536}[c.r.IntN(12)]
}

// number returns a number of any size.
func (c *hostileClient) number() uint64 {
	switch r := c.r; r.IntN(6) {
	case 0, 1:
		return uint64(r.IntN(5))
	case 2:
		return 1 << r.IntN(64)
	case 3:
		return 1<<r.IntN(64) - 1
	case 4:
		return -uint64(r.IntN(17))
	default:
		return []uint64{16, 64, 256, 4096, 65536, 1 << 21, 1 << 32, math.MaxInt32, math.MaxInt64}[r.IntN(9)]
	}
}

// address returns a number that may be an address, or close to an address.
func (c *hostileClient) address() uint64 {
	a := c.addresses[c.r.IntN(len(c.addresses))]
	switch c.r.IntN(8) {
	case 0:
		return a + c.number()
	case 1:
		return a + uint64(c.r.IntN(5000))
	case 2:
		return 1<<62 + c.number()>>2
	}
	return a
}

// handle returns a handle made earlier, usually of the given kind; it may be stale or invalid.
func (c *hostileClient) handle(kind string) Handle {
	if list := c.byKind[kind]; len(list) > 0 && c.r.IntN(5) > 0 {
		return list[c.r.IntN(len(list))]
	}
	switch c.r.IntN(12) {
	case 0:
		return Handle(c.r.IntN(4)) // 0 and the reserved streams
	case 1:
		return Handle(c.number())
	case 2:
		return c.handles[c.r.IntN(len(c.handles))] + Handle(c.r.IntN(3))
	}
	return c.handles[c.r.IntN(len(c.handles))]
}

// value returns an argument of a type; with small, numbers are plausible. Handles are of the given kind.
func (c *hostileClient) value(t reflect.Type, small bool, kind string) reflect.Value {
	v := reflect.New(t).Elem()
	number := c.number
	if small {
		number = c.modest
	}
	switch x := v.Addr().Interface().(type) {
	case *Handle:
		*x = c.handle(kind)
		return v
	case *Location:
		if *x = (Location{OnDevice, 0}); c.r.IntN(3) == 0 {
			*x = Location{int32(number()), int32(number())}
		}
		return v
	case *NodeKind: // selects one of two functions
		*x = []NodeKind{EventWaitNode, EventRecordNode}[c.r.IntN(2)]
		return v
	case *ptx.Type:
		*x = []ptx.Type{ptx.TexRef, ptx.SurfRef}[c.r.IntN(2)]
		return v
	case *ArrayFormat:
		*x = []ArrayFormat{0x20, 0x01, 0x08, 0x10, ArrayFormat(c.number())}[c.r.IntN(5)]
		return v
	case *Place:
		*x = c.place(small)
		return v
	case *Copy3D:
		small = c.r.IntN(2) == 0
		for _, s := range []*Side{&x.Src, &x.Dst} {
			s.Place = c.place(small)
			for _, n := range []*uint64{&s.X, &s.Y, &s.Z, &s.Pitch, &s.Height} {
				*n = c.size(small)
			}
		}
		x.Width, x.Height, x.Depth = c.size(small), c.size(small), c.size(small)
		return v
	case *LaunchParams:
		x.Func = c.handle("func")
		dims := func() ptx.Dim3 {
			if c.r.IntN(3) > 0 {
				return ptx.Dim(1 + c.r.IntN(3))
			}
			return ptx.Dim3{X: int(c.number()), Y: int(c.number()), Z: int(c.number())}
		}
		x.Grid, x.Block, x.Cooperative = dims(), dims(), c.r.IntN(4) == 0
		if c.r.IntN(4) == 0 {
			x.Cluster = dims()
		}
		if c.r.IntN(4) == 0 {
			x.Shared = uint32(c.number())
		}
		pointers := make([]unsafe.Pointer, 8)
		for i := range pointers {
			argument := make([]uint64, 8)
			if argument[0] = c.number(); c.r.IntN(4) > 0 {
				argument[0] = c.addresses[0]
			}
			pointers[i] = unsafe.Pointer(&argument[0])
		}
		x.Params = unsafe.Pointer(&pointers[0])
		return v
	case *MemoryOp: // a wait may never end
		*x = MemoryOp{Kind: []MemoryOpKind{WriteValue32, WriteValue64, MemoryBarrier, 3, -1}[c.r.IntN(5)], Addr: c.address(), Value: c.number(), Flags: uint32(c.number())}
		return v
	case *HostFunc:
		*x = HostFunc{Call: func() {}}
		return v
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(c.r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Int8, reflect.Int16:
		v.SetInt(int64(number()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(number())
	case reflect.Uint64, reflect.Uint, reflect.Uintptr:
		if v.SetUint(number()); c.r.IntN(2) == 0 {
			v.SetUint(c.address())
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, math.Inf(1), math.NaN(), 1e30}[c.r.IntN(6)])
	case reflect.String:
		v.SetString([]string{"add", "poke", "v", "", "nosuch", "/dev/null", "/", strings.Repeat("x", 5000), "a\x00b", "0000:00:00.0"}[c.r.IntN(10)])
	case reflect.UnsafePointer:
		v.SetPointer([]func() unsafe.Pointer{
			func() unsafe.Pointer { return cString(hostileKernels) }, func() unsafe.Pointer { return cString("") }, func() unsafe.Pointer { return cString(".version 7.0\n.target sm_80\nnonsense") },
			func() unsafe.Pointer {
				return unsafe.Pointer(&append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 4096)...)[0])
			},
			func() unsafe.Pointer { return unsafe.Pointer(&c.host[0]) }, func() unsafe.Pointer { return nil },
		}[c.r.IntN(6)]())
	case reflect.Slice:
		n := c.r.IntN(4)
		v.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			v.Index(i).Set(c.value(t.Elem(), small, kind))
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(c.value(t.Elem(), small, kind))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				v.Field(i).Set(c.value(f.Type, small, "array"))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(c.value(t.Elem(), small, kind))
	case reflect.Func:
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
			for i := range t.NumOut() {
				out = append(out, reflect.Zero(t.Out(i)))
			}
			return out
		}))
	}
	return v
}

// size returns a number, or a small number such that the product of two fits host memory.
func (c *hostileClient) size(small bool) uint64 {
	if small {
		return uint64(c.r.IntN(9))
	}
	return c.number()
}

// place returns a place of a copy. With large sizes it is not in host memory, because the caller is responsible for
// that.
func (c *hostileClient) place(small bool) Place {
	p := Place{Kind: []PlaceKind{DevicePlace, DevicePlace, ArrayPlace, 4, 0, 77}[c.r.IntN(6)], Device: c.address(), Array: c.handle("array")}
	if small && c.r.IntN(3) == 0 {
		p.Kind, p.Host = HostPlace, unsafe.Pointer(&c.host[0])
	}
	return p
}

// step calls a method and records the handles it returns.
func (c *hostileClient) step() {
	m := c.methods[c.r.IntN(len(c.methods))]
	t := m.call.Type()
	small := c.r.IntN(2) == 0
	takes, gives := handleKind(m.name)
	var args []reflect.Value
	for i := range t.NumIn() {
		kind := takes
		if i > 0 && (t.In(i) == reflect.TypeFor[Handle]() || t.In(i).Kind() == reflect.Slice) {
			if kind = []string{"stream", "node", "event", "graph", "func", "array"}[c.r.IntN(6)]; t.In(i).Kind() == reflect.Slice {
				kind = "node"
			}
		}
		args = append(args, c.value(t.In(i), small, kind))
	}
	switch m.name {
	case "Memcpy": // byte count
		args[2].SetUint(c.size(small))
	case "MemcpyEager":
		args[2].SetUint(c.size(true))
	case "GraphConditionalHandleCreate": // avoids an endless loop
		args[1].SetUint(0)
	case "GraphAddConditionalNode":
		if ConditionalKind(args[3].Int()) == 1 {
			args[3].SetInt(0)
		}
	case "MemHostRegister", "MemHostUnregister", "MemFreeHost":
		args[0].SetPointer(unsafe.Pointer(&c.host[c.r.IntN(len(c.host)-4096)]))
		if len(args) > 1 && small {
			args[1].SetUint(uint64(c.r.IntN(4096)))
		}
	case "LinkAddData", "ModuleLoadData": // the caller is responsible for the size
		k := len(args) - 1
		for args[k].Kind() != reflect.Uint64 {
			k--
		}
		args[k].SetUint(uint64(c.r.IntN(8)))
	case "MemImport", "MemPoolImport": // descriptors belong to the caller
		args[0].SetInt(-1)
	case "Peek":
		args[0] = reflect.ValueOf(c.host[:c.r.IntN(100)])
	}
	describe := m.name
	for _, a := range args {
		if k := a.Kind(); k != reflect.Func && k != reflect.UnsafePointer {
			describe += cut(fmt.Sprintf(" %v", a))
		}
	}
	c.calls = append(c.calls, describe)
	for _, out := range m.call.Call(args) {
		switch x := out.Interface().(type) {
		case Handle:
			c.keep(gives, x)
		case []Handle:
			for _, h := range x[:min(len(x), 8)] {
				c.keep(gives, h)
			}
		case uint64:
			if x >= firstAddress {
				c.addresses = append(c.addresses, x)
			}
		case int:
			if x > 2 && (m.name == "MemExport" || m.name == "MemPoolExport") {
				c.files = append(c.files, x)
			}
		case error:
			c.calls[len(c.calls)-1] += ": " + ResultOf(x).Name()
			if ResultOf(x) == Unknown {
				panic(fmt.Sprintf("BUG: %s: an error without a result: %v", m.name, x))
			}
		}
	}
}

// hostileCalls makes random calls for a seed.
func hostileCalls(t *testing.T, seed uint64, calls int) {
	t.Helper()
	s := DefaultSettings()
	s.Stderr, s.Memory, s.Steps, s.Workers = &lockedBuffer{}, 64<<20, 1<<12, 1
	d := New(s)
	if err := d.Init(0); err != nil {
		t.Fatal(err)
	}
	c := newHostileClient(d, seed)
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	isEnded := false
	report := func() string {
		return fmt.Sprintf("seed %#x, after\n%s", seed, strings.Join(c.calls, "\n"))
	}
	guard := time.AfterFunc(2*time.Minute, func() {
		mu.Lock()
		defer mu.Unlock()
		if !isEnded {
			panic("a call does not return: " + report())
		}
	})
	defer func() {
		mu.Lock()
		isEnded = true
		mu.Unlock()
		guard.Stop()
		if e := recover(); e != nil {
			buf := make([]byte, 1<<14)
			t.Fatalf("%v\n%s\n%s", e, buf[:runtime.Stack(buf, false)], report())
		}
	}()
	for i := range calls {
		if i%16 == 0 { // calls without a context have little effect
			c.thread.CtxSetCurrent(c.byKind["ctx"][c.r.IntN(len(c.byKind["ctx"]))])
		}
		c.step()
	}
	c.calls = append(c.calls, "Close")
	d.Close()
	for _, fd := range c.files {
		os.NewFile(uintptr(fd), "exported").Close()
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapInuse > 4<<30 {
		t.Fatalf("%d MB are in use\n%s", m.HeapInuse>>20, report())
	}
}

// TestRandomCallsReturn: random programs get results.
func TestRandomCallsReturn(t *testing.T) {
	seed := part.Seed(t)
	for i := range uint64(part.Count(10, 100, 20000)) {
		hostileCalls(t, seed+i, 300)
	}
}

// FuzzCalls is TestRandomCallsReturn for more programs.
func FuzzCalls(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { hostileCalls(t, seed, 300) })
}

// cut shortens a text.
func cut(s string) string { return s[:min(len(s), 120)] }

// TestArgumentsFoundByFuzzing: calls that hostile programs have found.
func TestArgumentsFoundByFuzzing(t *testing.T) {
	c := newClient(t, nil)
	c.want(InvalidValue, "at offset", c.ParamSet(c.function("add"), math.MaxInt64, []byte{1, 2}))
	graph := must(c.GraphCreate(0))(t)
	node := must(c.GraphAddEmptyNode(graph, nil))(t)
	c.want(InvalidValue, "the list of sources has 1 nodes, the list of targets 0", c.GraphAddDependencies(graph, []Handle{node}, nil))
	_, err := c.MemHostAlloc(math.MaxUint64-1, 0)
	c.want(OutOfMemory, "more than the limit of shared memory of a process", err)
	c.want(InvalidValue, "the list of sources has 1 nodes, the list of targets 0", c.GraphRemoveDependencies(graph, []Handle{node}, nil))
}

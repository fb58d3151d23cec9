package driver

// This file holds the Driver, its table of objects by handle, and Thread, the view of a host thread.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemu/debug"
	"gemu/driver/internal/sharedmem"
	"gemu/internal/wholefile"
	"gemu/interp"
	"gemu/models/catalog"
	"gemu/probe"
	"gemu/profile"
	"gemu/sanitize"
)

// Handle names an object of a driver; 0 names none. A handle is never reused.
type Handle uint64

// firstAddress is the lowest address of device memory. It lies above every address of a host with 48-bit addresses.
const firstAddress = 1 << 48

// Driver is an emulated CUDA driver. Its methods and the methods of its threads are safe for concurrent use.
type Driver struct {
	settings     Settings
	gpu          *interp.Device // shared by all devices, which have the same address space
	pages        sharedmem.Allocator
	parsed       parseCache
	stats        *statistics
	kernelOutput output

	exportTables     sync.Map // names of the files whose code has called ExportTable
	notNativeReasons sync.Map // reasons for execution in Go that a message has named

	sanitizer *sanitize.Sanitizer
	report    processReport
	unended   unendedLaunches
	byID      launchesByID
	files     []*launchFile   // log and recording
	accelsim  *accelsimTraces // nil without GEMU_ACCELSIM
	debugger  *debugger       // nil without GEMU_DEBUG
	host      hostDevice
	virtual   virtual
	openMu    sync.Mutex // held while memory of another process is opened; must be locked before mu

	mu               sync.Mutex // guards all fields below and the contents of objects
	ready            bool       // Init was called
	devices          []*Device
	objects          map[Handle]any
	ordering         ordering
	paused           *task // all work submitted from now on runs after this task; nil: none. See pause
	queues           queues
	turns            turns
	lastHandle       Handle
	regions          regions
	freeGraphRegions regions                  // memory of allocation nodes of graphs while it is not allocated
	textures         map[uint64]*boundTexture // texture and surface objects, by handle
	buffers          int                      // number of buffers ever allocated
	captures         uint64                   // number of captures ever begun

	pools    map[poolPlace]*pools
	nextPool uint64 // address of the next stream-ordered allocation
}

// New makes a driver. Close releases its memory.
func New(s Settings) *Driver {
	s.Stderr = s.PlainText(s.Stderr)
	d := &Driver{settings: s, unended: newUnendedLaunches(&s), objects: map[Handle]any{}, pools: map[poolPlace]*pools{}, nextPool: poolAddress}
	d.queues.room = sync.NewCond(&d.mu)
	d.turns.lap, d.turns.idle, d.turns.noticeTime = 1, idleTime, noticeTime
	d.kernelOutput.w = s.Stdout
	d.sanitizer = newSanitizer(&s)
	d.announceFindings()
	probes := slices.Concat(s.Probes, d.sanitizer.Probes)
	d.stats = newStatistics(&d.settings)
	if len(s.Models) > 0 {
		d.stats.models = catalog.Watch(s.Models)
		probes = append(probes, d.stats.models)
	}
	if len(s.Machines) > 0 {
		probes = append(probes, d.stats.addMachines(s.Machines, s.MachineValues, d.reportMachine))
	}
	if s.Profile != "" {
		d.stats.profile, d.stats.profileInPTX = profile.New(), s.Profile == profilePTX
		probes = append(probes, d.stats.profile)
	}
	ordered := slices.Concat(s.Probes, d.sanitizer.Probes) // probes that may need the order of operations
	if s.Log != "" {
		d.files = append(d.files, newCommitLog(s.Log))
	}
	if s.Record != "" {
		d.files = append(d.files, newRecording(s.Record, s.RecordWith))
	}
	for _, f := range d.files {
		probes, ordered = append(probes, f.probes()...), append(ordered, f.probes()...)
	}
	if s.Accelsim != "" {
		if d.accelsim = newAccelsimTraces(&s); d.accelsim.exporter != nil {
			probes, ordered = append(probes, d.accelsim.exporter), append(ordered, d.accelsim.exporter)
		}
	}
	stdout := io.Writer(&d.kernelOutput)
	if s.Debug != nil {
		d.debugger = &debugger{Debugging: s.Debug, d: d, output: debug.NewOutput(stdout)}
		stdout, d.settings.Blocking = d.debugger.output, true
	}
	d.ordering.enabled = slices.ContainsFunc(ordered, func(p probe.Probe) bool { return p.Subscription().InOrder })
	hostGrace := memoryWaitGrace
	if d.ordering.enabled { // a launch sees only changes of memory that the order of operations permits
		hostGrace = 0
	}
	d.gpu = interp.NewDevice(interp.Config{
		Memory: s.Memory * uint64(max(s.Devices, 1)), Workers: s.Workers, HostMemory: s.Host, Stdout: stdout,
		Base: firstAddress, Allocate: d.pages.Allocate, Managed: true, Probes: probes, Engine: s.Engine,
		SM: s.SM, HostGrace: hostGrace, TimeLimit: s.TimeLimit, Tolerance: s.Tolerate, OnTolerated: d.reportTolerated,
	})
	d.parsed.limit = parseCacheSize
	d.announceReport()
	for i := range s.Devices {
		d.devices = append(d.devices, &Device{ordinal: i, d: d})
	}
	return d
}

// Init is cuInit. flags must be 0.
func (d *Driver) Init(flags uint32) error {
	if flags != 0 {
		return fail(InvalidValue, "flags %d, want 0", flags)
	}
	if len(d.devices) == 0 {
		return fail(NoDevice, "GEMU_DEVICES=0")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = true
	return nil
}

// Close ends the driver: it waits for pending work, finishes as Exit does, and releases memory. No call may follow.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.ready = false
	var all []*Context
	for _, o := range d.objects {
		if c, ok := o.(*Context); ok {
			all = append(all, c)
		}
	}
	d.mu.Unlock()
	for _, c := range all {
		c.destroy()
	}
	d.pages.Close()
	d.virtual.close()
	return d.Exit(false)
}

// Exit prints the remaining output of kernels and the findings of sanitizers, and writes the statistics. The libraries
// call it when the process ends. If sanitizers, statistics, models, logs, recordings, traces or probes observe launches,
// Exit waits until all launches have ended, for at most Settings.ExitWait, and then stops the remaining launches.
// Otherwise it does not wait, as NVIDIA's driver. inStream must be true if a host function of a stream ends the process.
// The error is or wraps a *Found if the process must end with Settings.SanitizeExit.
func (d *Driver) Exit(inStream bool) error {
	d.awaitLaunches(inStream)
	d.kernelOutput.flush()
	var errs []error
	if s := &d.settings; len(s.Sanitize) > 0 {
		err := d.printFindings()
		errs = append(errs, err)
		if n := d.sanitizer.Errors(); (n > 0 || err != nil) && s.SanitizeExit != 0 {
			errs = append(errs, &Found{n, s.SanitizeExit})
		}
	}
	for _, f := range d.files {
		if note := f.note(); note != "" {
			d.message("%s", note)
		}
		errs = append(errs, f.close())
	}
	if d.accelsim != nil {
		errs = append(errs, d.accelsim.close())
	}
	if d.settings.Stats != "" {
		errs = append(errs, d.stats.write(processFile(d.settings.Stats)))
	}
	errs = append(errs, d.closeReport())
	return errors.Join(errs...)
}

// Version is cuDriverGetVersion: 12090 is 12.9.
func (d *Driver) Version() int { return d.settings.Version }

// reportTolerated prints a fault after which a kernel has continued.
func (d *Driver) reportTolerated(t *probe.Tolerated) { d.message("%s", t.Report()) }

// reportMachine prints the first error of a machine of GEMU_MACHINE.
func (d *Driver) reportMachine(err error) {
	d.message("GEMU_MACHINE: the counts of a machine in the file of GEMU_STATS are wrong, but no result of the program: %v", err)
}

// message writes a message to the user on the driver's standard error.
func (d *Driver) message(format string, args ...any) {
	if d.settings.Stderr != nil {
		fmt.Fprintf(d.settings.Stderr, "gemu: "+format+"\n", args...)
	}
}

// handleStep is the difference between consecutive handles.
const handleStep = 16

// add gives an object a handle. The caller must hold d.mu.
func (d *Driver) add(object any) Handle {
	d.lastHandle += handleStep
	h := 0x10000 + d.lastHandle
	d.objects[h] = object
	return h
}

// object returns the object with a handle, which must be an object of type T. The caller must hold d.mu.
func object[T any](d *Driver, h Handle) (T, error) {
	o, ok := d.objects[h].(T)
	if !ok {
		return o, fail(InvalidHandle, "%#x is not the handle of a %s", uint64(h), kindName[T]())
	}
	return o, nil
}

// kindName returns the name that messages give objects of type T.
func kindName[T any]() string {
	switch any(*new(T)).(type) {
	case *Context:
		return "context"
	case *Module:
		return "module"
	case *Function:
		return "function"
	case *Stream:
		return "stream"
	case *Event:
		return "event"
	case *Graph:
		return "graph"
	case *Node:
		return "graph node"
	case *GraphExec:
		return "executable graph"
	case *Link:
		return "linker"
	case *Library:
		return "library"
	case *Kernel:
		return "kernel"
	case *array:
		return "array"
	case *mipmap:
		return "mipmapped array"
	case *Memory:
		return "created memory"
	case *UserObject:
		return "user object"
	case *Reference:
		return "texture or surface reference"
	case *GreenContext:
		return "green context"
	case *resourceDescriptor:
		return "descriptor of resources"
	}
	return "object"
}

// dump writes the PTX of a module to the directory Settings.Dump, if it is set. It returns the module's name for messages:
// the path of the written file, or name if no file was written.
func (d *Driver) dump(name string, src []byte) string {
	if d.settings.Dump == "" {
		return name
	}
	path := filepath.Join(d.settings.Dump, filepath.Base(name))
	err := os.MkdirAll(d.settings.Dump, 0o777)
	if err == nil {
		err = wholefile.Write(context.Background(), path, src)
	}
	if err != nil {
		d.message("GEMU_DUMP: %v", err)
		return name
	}
	return path
}

// output buffers the output of kernels until the next synchronisation, as a GPU does.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
	w   io.Writer // nil: the output is discarded
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w != nil && o.buf.Len() > 0 {
		o.w.Write(o.buf.Bytes())
	}
	o.buf.Reset()
}

// Thread is a host thread's view of the driver: its stack of contexts. It must not be used by two goroutines at the
// same time.
type Thread struct {
	d       *Driver
	stack   []*Context           // the last is current; entries may be nil
	streams map[*Context]*Stream // the default streams of this thread
}

// NewThread makes the view of a host thread. The client must call it before the thread's first call of the driver.
func (d *Driver) NewThread() *Thread {
	return &Thread{d: d, streams: map[*Context]*Stream{}}
}

// top returns the current context, or nil.
func (t *Thread) top() *Context {
	if n := len(t.stack); n > 0 {
		return t.stack[n-1]
	}
	return nil
}

// current returns the current context for a call that needs a context without a fault. If the context has a fault, it
// returns the context and the fault. The caller must hold d.mu.
func (t *Thread) current() (*Context, error) {
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	c := t.top()
	switch {
	case c == nil:
		return nil, fail(InvalidContext, "no context is current in this thread")
	case c.dead:
		return nil, fail(ContextIsDestroyed, "the current context was destroyed")
	}
	return c, c.err
}

// enter locks d.mu for a call in the current context. The caller must unlock it, unless enter returns an error.
func (t *Thread) enter() (*Context, error) {
	t.d.mu.Lock()
	c, err := t.current()
	if err != nil {
		t.d.mu.Unlock()
	}
	return c, err
}

// Trace prints the outcome of a call if Settings.Trace selects it, keeps it for the report of the process if gemu does not support
// the call, and returns the result of the call.
func (d *Driver) Trace(call string, err error) Result {
	r := d.printTrace(call, err)
	if r == NotSupported || r == NoBinaryForGPU {
		d.noteRefused(call, err.Error())
	}
	return r
}

// printTrace is Trace for a call that the report of the process need not have.
func (d *Driver) printTrace(call string, err error) Result {
	r := ResultOf(err)
	if d.settings.Trace > 1 || d.settings.Trace > 0 && r != Success && r != NotReady {
		switch {
		case err == nil:
			d.message("%s", call)
		default:
			d.message("%s: %v", call, err)
		}
	}
	return r
}

// Unsupported traces a call of a C function that gemu does not have, and returns NotSupported.
func (d *Driver) Unsupported(call string) Result {
	return d.Trace(call, errNoFunction)
}

// errNoFunction is the error of a call of a function that gemu does not have.
var errNoFunction = fail(NotSupported, "gemu does not have this function")

// optionalTableLibraries lists prefixes of the file names of NVIDIA's libraries that work without the export tables that
// they request.
var optionalTableLibraries = []string{"libnvrtc.", "libnvrtc-", "libnvJitLink."}

// ExportTable is cuGetExportTable, which returns tables of private functions of NVIDIA's driver. No header documents
// them, and gemu does not have them. Programs with NVIDIA's runtime end at this call. So the first call from each file
// prints a message, even if Settings.Trace is 0. caller is the name of the calling file. Calls from
// optionalTableLibraries print none.
func (d *Driver) ExportTable(caller string) Result {
	optional := slices.ContainsFunc(optionalTableLibraries, func(name string) bool { return strings.HasPrefix(filepath.Base(caller), name) })
	if _, reported := d.exportTables.LoadOrStore(caller, true); !reported && !optional {
		d.message("%s calls private functions of NVIDIA's driver (cuGetExportTable), as NVIDIA's CUDA runtime does. gemu does not have them. "+
			"Build the program with -cudart shared (in CMake, CMAKE_CUDA_RUNTIME_LIBRARY=Shared), so that it uses gemu's libcudart: see docs/libraries.md", caller)
	}
	if !optional {
		d.noteRefused("cuGetExportTable", caller+" contains NVIDIA's CUDA runtime")
	}
	return d.printTrace("cuGetExportTable", errNoFunction)
}

// hasResult reports whether err is or wraps the result r.
func hasResult(err error, r Result) bool { return errors.Is(err, r) }

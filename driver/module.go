package driver

// This file is modules and what is in them: functions and variables.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"unsafe"

	"gemu/internal/input"
	"gemu/internal/occupancy"
	"gemu/interp"
	"gemu/ptx"
)

// parseCacheSize is how much PTX, in bytes of text, is kept parsed.
const parseCacheSize = 64 << 20

// parseCache keeps parsed modules by content, so that what is loaded again is not
// parsed again.
type parseCache struct {
	mu    sync.Mutex
	limit int
	size  int
	mods  map[[sha256.Size]byte]*parsedModule
	order [][sha256.Size]byte // oldest first
}

// parsedModule is a module and the length of its text.
type parsedModule struct {
	*ptx.Module
	size int
}

// parse parses a PTX source, or finds it parsed. Messages call it by name, or, if
// that is empty, by its content.
func (d *Driver) parse(name string, src []byte) (*ptx.Module, error) {
	c := &d.parsed
	key := sha256.Sum256(append([]byte(name+"\x00"), src...))
	c.mu.Lock()
	m := c.mods[key]
	c.mu.Unlock()
	if m != nil {
		return m.Module, nil
	}
	if name == "" {
		sum := sha256.Sum256(src)
		name = "module-" + hex.EncodeToString(sum[:4]) + ".ptx"
	}
	mod, err := ptx.Parse(d.dump(name, src), src)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.mods[key]; m != nil { // another thread was faster
		return m.Module, nil
	}
	if c.mods == nil {
		c.mods = map[[sha256.Size]byte]*parsedModule{}
	}
	c.mods[key] = &parsedModule{mod, len(src)}
	c.order = append(c.order, key)
	for c.size += len(src); c.size > c.limit && len(c.order) > 1; c.order = c.order[1:] {
		c.size -= c.mods[c.order[0]].size
		delete(c.mods, c.order[0])
	}
	return mod, nil
}

// explain is an error in full: with the place in the source, where it has one.
func explain(err error) string {
	var list ptx.ErrorList
	var unsupported *ptx.Unsupported
	var trap *interp.Trap
	var b strings.Builder
	switch {
	case errors.As(err, &list):
		for i, e := range list {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(e.Error())
			if s := e.Snippet(); s != "" {
				b.WriteString("\n" + s)
			}
		}
	case errors.As(err, &unsupported):
		b.WriteString(unsupported.Error())
		if s := unsupported.Snippet(); s != "" {
			b.WriteString("\n" + s)
		}
	case errors.As(err, &trap):
		b.WriteString(trap.Report())
		if trap.Tolerable != interp.Strict {
			b.WriteString("\n   GEMU_TOLERATE=" + trap.Tolerable.String() + " lets the kernel go on, as GPUs do")
		}
		switch trap.Kind {
		case interp.ErrStepLimit:
			b.WriteString("\n   GEMU_STEPS raises the limit")
		case interp.ErrTimeLimit:
			b.WriteString("\n   GEMU_TIME_LIMIT sets the limit")
		case interp.ErrKeptOut:
			b.WriteString("\n   GEMU_HOST_MEMORY raises the limit")
		}
	default:
		b.WriteString(err.Error())
	}
	return b.String()
}

// Module is a module that is loaded into a context.
type Module struct {
	handle    Handle
	ctx       *Context
	mod       *interp.Module
	functions map[string]*Function
	library   *Library // that it came with; nil otherwise

	references map[string]*Reference // that were asked for
}

// Function is a kernel of a module.
type Function struct {
	handle Handle
	module *Module
	kernel *ptx.Func

	once sync.Once // info and bad are set
	info *interp.KernelInfo
	bad  error

	maxDynamic  int // bytes of dynamic shared memory it was allowed; 0: what all have
	carveout    int
	cluster     interp.Dim3 // as attributes have set it; zero: they have not
	nonPortable bool        // clusters may have more than 8 blocks
	scheduling  int         // of clusters: a preference
	cacheConfig int
	setup       launchSetup
}

// ModuleLoadData is cuModuleLoadData: it loads an image, of size bytes where that
// is known and 0 otherwise. What is wrong with its PTX is in the error's detail.
func (t *Thread) ModuleLoadData(image unsafe.Pointer, size uint64) (Handle, error) {
	if err := t.Check(); err != nil {
		return 0, err
	}
	src, err := t.d.source(image, size)
	if err != nil {
		return 0, t.d.printError(err)
	}
	return t.load("", src)
}

// ModuleLoad is cuModuleLoad: it loads a file.
func (t *Thread) ModuleLoad(file string) (Handle, error) {
	if err := t.Check(); err != nil {
		return 0, err
	}
	src, err := t.d.readFile(file)
	if err != nil {
		return 0, err
	}
	return t.load(file, src)
}

// readFile is the PTX in a file.
func (d *Driver) readFile(file string) ([]byte, error) {
	data, err := input.ReadFile(context.Background(), file, input.MaxText)
	if errors.As(err, new(*fs.PathError)) {
		return nil, fail(FileNotFound, "%v", err)
	}
	if err != nil {
		return nil, d.printError(fail(InvalidImage, "%s: %v", file, err))
	}
	data = append(data, 0, 0, 0, 0) // so that what looks for the beginning finds one
	src, err := d.source(unsafe.Pointer(&data[0]), uint64(len(data)))
	if err != nil {
		return nil, d.printError(fail(ResultOf(err), "%s: %v", file, err))
	}
	return src, nil
}

// printError writes an error that its result code does not explain to the driver's
// standard error, and returns it.
func (d *Driver) printError(err error) error {
	if d.settings.Trace == 0 { // which says it anyway
		d.message("%v", err)
	}
	return err
}

// load loads a PTX source into the current context.
func (t *Thread) load(name string, src []byte) (Handle, error) {
	parsed, err := t.d.compile(name, src)
	if err != nil {
		return 0, t.d.printError(err)
	}
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	t.d.mu.Unlock()
	m, err := c.load(parsed)
	if err != nil {
		return 0, t.d.printError(err)
	}
	return m.handle, nil
}

// compile parses a PTX source that a client has given. It may be for a newer device
// than this one claims to be: what a GPU could not run, gemu can.
func (d *Driver) compile(name string, src []byte) (*ptx.Module, error) {
	parsed, err := d.parse(name, src)
	if err != nil {
		return nil, fail(InvalidPTX, "%s", explain(err))
	}
	return parsed, nil
}

// load makes a module of the context. It waits for a launch under way.
func (c *Context) load(parsed *ptx.Module) (*Module, error) {
	d := c.dev.d
	mod, err := d.gpu.LoadModule(parsed)
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := &Module{ctx: c, mod: mod, functions: map[string]*Function{}}
	m.handle = c.addObject(m)
	for _, v := range parsed.Vars() {
		if b := mod.Var(v.Name); b != nil && b.Size() > 0 && d.regions.find(b.Addr()) == nil {
			kind := variableRegion
			if v.Managed() {
				kind = managedRegion
			}
			d.addRegion(&region{addr: b.Addr(), size: uint64(b.Size()), data: b.Bytes(), kind: kind, ctx: c, module: m})
		}
	}
	return m, nil
}

// ModuleUnload is cuModuleUnload: it waits for the context's work.
func (t *Thread) ModuleUnload(h Handle) error {
	d := t.d
	d.mu.Lock()
	if !d.ready {
		d.mu.Unlock()
		return fail(NotInitialized, "cuInit was not called")
	}
	m, err := object[*Module](d, h)
	if err == nil && m.library != nil {
		err = fail(NotPermitted, "the module belongs to a library")
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	d.mu.Unlock()
	m.unload()
	return nil
}

// alive reports whether the module is loaded. d.mu is held.
func (m *Module) alive() bool { return m.ctx.dev.d.objects[m.handle] == any(m) }

// unload gives the module back, once, when the work of its context is done.
func (m *Module) unload() {
	c := m.ctx
	d := c.dev.d
	d.mu.Lock()
	if !m.alive() {
		d.mu.Unlock()
		return
	}
	c.removeObject(m.handle)
	for _, f := range m.functions {
		c.removeObject(f.handle)
	}
	for _, r := range m.references {
		c.removeObject(r.handle)
		r.drop()
	}
	d.regions.take(func(r *region) bool { return r.module == m })
	tasks := c.pending()
	d.mu.Unlock()
	c.settle(tasks)
	m.mod.Unload()
}

// ModuleGetFunction is cuModuleGetFunction.
func (t *Thread) ModuleGetFunction(h Handle, name string) (Handle, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	m, err := object[*Module](t.d, h)
	if err != nil {
		return 0, err
	}
	f, err := m.function(name)
	if err != nil {
		return 0, err
	}
	return f.handle, nil
}

// function is a kernel of the module. d.mu is held.
func (m *Module) function(name string) (*Function, error) {
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	if name == "" {
		return nil, fail(InvalidValue, "no name")
	}
	k, err := m.mod.Kernel(name)
	if err != nil {
		return nil, fail(NotFound, "%v", err)
	}
	f := &Function{module: m, kernel: k}
	f.handle = m.ctx.addObject(f)
	m.functions[name] = f
	return f, nil
}

// ModuleGetFunctionCount is cuModuleGetFunctionCount.
func (t *Thread) ModuleGetFunctionCount(h Handle) (int, error) {
	list, err := t.moduleFunctions(h, false)
	return len(list), err
}

// ModuleEnumerateFunctions is cuModuleEnumerateFunctions: all kernels, in the order
// of the source.
func (t *Thread) ModuleEnumerateFunctions(h Handle) ([]Handle, error) {
	return t.moduleFunctions(h, true)
}

func (t *Thread) moduleFunctions(h Handle, wanted bool) ([]Handle, error) {
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	defer t.d.mu.Unlock()
	m, err := object[*Module](t.d, h)
	if err != nil {
		return nil, err
	}
	var list []Handle
	for _, k := range m.mod.Kernels() {
		var handle Handle
		if wanted {
			f, err := m.function(k.Name)
			if err != nil {
				return nil, err
			}
			handle = f.handle
		}
		list = append(list, handle)
	}
	return list, nil
}

// ModuleGetGlobal is cuModuleGetGlobal: where a variable is, and its size.
func (t *Thread) ModuleGetGlobal(h Handle, name string) (addr, size uint64, err error) {
	if _, err := t.enter(); err != nil {
		return 0, 0, err
	}
	defer t.d.mu.Unlock()
	m, err := object[*Module](t.d, h)
	if err != nil {
		return 0, 0, err
	}
	return m.global(name)
}

func (m *Module) global(name string) (addr, size uint64, err error) {
	b := m.mod.Var(name)
	if b == nil {
		return 0, 0, fail(NotFound, "%s has no .global or .const variable %s", m.mod.Name, name)
	}
	return b.Addr(), uint64(b.Size()), nil
}

// function is the function with a handle, which may be that of a kernel: then it is
// the current context's. The driver is not locked.
func (t *Thread) function(h Handle) (*Function, error) {
	d := t.d
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	k, isKernel := d.objects[h].(*Kernel)
	if !isKernel {
		defer d.mu.Unlock()
		return object[*Function](d, h)
	}
	d.mu.Unlock()
	return t.kernelFunction(k)
}

// prepared finds a function, with what it takes and needs.
func (t *Thread) prepared(h Handle) (*Function, *interp.KernelInfo, error) {
	f, err := t.function(h)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.prepared()
	return f, info, err
}

// prepared is what a kernel takes and needs. The first call prepares it, which
// waits for a launch under way; the error is that of PTX that gemu does not run.
func (f *Function) prepared() (*interp.KernelInfo, error) {
	f.once.Do(func() {
		d := f.module.ctx.dev.d
		var err error
		var refused *interp.LaunchError
		switch f.info, err = f.module.mod.Info(f.kernel.Name, d.settings.Mode); {
		case errors.As(err, &refused): // another thread unloads it
			f.bad = fail(InvalidHandle, "%v", err)
		case err != nil:
			f.bad = d.printError(failBy(NotSupported, err))
		}
	})
	return f.info, f.bad
}

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// The attributes of a function.
const (
	FuncMaxThreadsPerBlock FunctionAttribute = iota
	FuncSharedSize
	FuncConstSize
	FuncLocalSize
	FuncNumRegs
	FuncPTXVersion
	FuncBinaryVersion
	FuncCacheModeCA
	FuncMaxDynamicShared
	FuncCarveout
	FuncClusterMustBeSet
	FuncClusterWidth
	FuncClusterHeight
	FuncClusterDepth
	FuncNonPortableCluster
	FuncClusterPolicy
	FuncDeviceNodeUpdate
	FuncSharedMemoryMode
	funcAttributes
)

// FuncGetAttribute is cuFuncGetAttribute and cuKernelGetAttribute.
func (t *Thread) FuncGetAttribute(a FunctionAttribute, h Handle) (int, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	if a < 0 || a >= funcAttributes {
		return 0, fail(InvalidValue, "function attribute %d", a)
	}
	info, err := f.prepared()
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch a {
	case FuncMaxThreadsPerBlock:
		return info.MaxThreads, nil
	case FuncSharedSize:
		return info.Shared, nil
	case FuncConstSize:
		return f.module.constants(), nil
	case FuncLocalSize:
		return info.Local, nil
	case FuncNumRegs:
		return min(info.Registers, 255), nil
	case FuncPTXVersion:
		return f.kernel.SM, nil // the virtual architecture, not the version of the text
	case FuncBinaryVersion:
		return t.d.settings.SM, nil
	case FuncMaxDynamicShared:
		return f.dynamicLimit(), nil
	case FuncCarveout:
		return f.carveout, nil
	}
	cluster, explicit := f.required()
	switch a {
	case FuncClusterMustBeSet:
		return number(explicit), nil
	case FuncClusterWidth:
		return cluster.X, nil
	case FuncClusterHeight:
		return cluster.Y, nil
	case FuncClusterDepth:
		return cluster.Z, nil
	case FuncNonPortableCluster:
		return number(f.nonPortable), nil
	case FuncClusterPolicy:
		return f.scheduling, nil
	}
	return 0, nil // of caches, and what there is none of
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// required is the clusters that the kernel requires, by a directive or attributes; zero if it
// requires none. explicit tells that it has to be launched with some. d.mu is held.
func (f *Function) required() (cluster interp.Dim3, explicit bool) {
	cluster, err := f.module.mod.Cluster(f.kernel.Name, interp.Dim3{})
	if err != nil {
		cluster = interp.Dim3{} // it does not say which
	}
	explicit = err != nil || cluster != interp.Dim3{}
	if cluster == (interp.Dim3{}) {
		cluster = f.cluster
	}
	return cluster, explicit
}

// clusterOf is the clusters of a launch that asks for some, or none. d.mu is held.
func (f *Function) clusterOf(asked interp.Dim3) (interp.Dim3, error) {
	if asked == (interp.Dim3{}) {
		asked = f.cluster
	}
	cluster, err := f.module.mod.Cluster(f.kernel.Name, asked)
	if err != nil {
		return cluster, fail(InvalidClusterSize, "%v", err)
	}
	if n := cluster.Count(); n > f.mostCluster() {
		return cluster, fail(InvalidClusterSize, "kernel %s: a cluster of %d blocks, at most %d (cuFuncSetAttribute allows more)", f.kernel.Name, n, f.mostCluster())
	}
	return cluster, nil
}

// requireCluster sets an extent of the clusters that the kernel requires. d.mu is held.
func (f *Function) requireCluster(extent *int, value int) error {
	if _, explicit := f.required(); explicit {
		return fail(NotPermitted, "kernel %s says itself what clusters it has", f.kernel.Name)
	}
	if value < 0 {
		return fail(InvalidValue, "%d blocks of a cluster", value)
	}
	*extent = value
	return nil
}

// portableCluster is how many blocks a cluster may have that runs on every device.
const portableCluster = 8

// mostCluster is that for a kernel. d.mu is held.
func (f *Function) mostCluster() int {
	if f.nonPortable {
		return interp.MaxCluster
	}
	return portableCluster
}

// constants is the size of the module's constant variables.
func (m *Module) constants() int {
	n := 0
	for _, v := range m.mod.Vars() {
		if v.Space == ptx.Const {
			n += v.Size()
		}
	}
	return n
}

// dynamicLimit is how much dynamic shared memory a launch may ask for. d.mu is held.
func (f *Function) dynamicLimit() int {
	if f.maxDynamic > 0 {
		return f.maxDynamic
	}
	return max(sharedPerBlock-f.info.Shared, 0)
}

// FuncSetAttribute is cuFuncSetAttribute and cuKernelSetAttribute.
func (t *Thread) FuncSetAttribute(a FunctionAttribute, value int, h Handle) error {
	f, err := t.function(h)
	if err != nil {
		return err
	}
	info, err := f.prepared()
	if err != nil {
		return err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch a {
	case FuncMaxDynamicShared:
		if maximum := t.d.limits().PerBlock - info.Shared; value < 0 || value > maximum {
			return fail(InvalidValue, "%d bytes of dynamic shared memory, at most %d", value, maximum)
		}
		f.maxDynamic = value
	case FuncCarveout:
		if value < -1 || value > 100 {
			return fail(InvalidValue, "carveout %d", value)
		}
		f.carveout = value
	case FuncClusterWidth:
		return f.requireCluster(&f.cluster.X, value)
	case FuncClusterHeight:
		return f.requireCluster(&f.cluster.Y, value)
	case FuncClusterDepth:
		return f.requireCluster(&f.cluster.Z, value)
	case FuncNonPortableCluster:
		f.nonPortable = value != 0
	case FuncClusterPolicy:
		if value < 0 || value > 2 {
			return fail(InvalidValue, "preference %d of scheduling clusters", value)
		}
		f.scheduling = value
	default:
		return fail(InvalidValue, "function attribute %d cannot be set", a)
	}
	return nil
}

// FuncSetCacheConfig is cuFuncSetCacheConfig. There is no cache to configure.
func (t *Thread) FuncSetCacheConfig(h Handle, config int) error {
	f, err := t.function(h)
	switch {
	case err != nil:
		return err
	case config < 0 || config > 3:
		return fail(InvalidValue, "cache configuration %d", config)
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	f.cacheConfig = config
	return nil
}

// FuncGetModule is cuFuncGetModule.
func (t *Thread) FuncGetModule(h Handle) (Handle, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	return f.module.handle, nil
}

// FuncGetName is cuFuncGetName and cuKernelGetName.
func (t *Thread) FuncGetName(h Handle) (string, error) {
	f, err := t.function(h)
	if err != nil {
		return "", err
	}
	return f.kernel.Name, nil
}

// FuncGetParamInfo is cuFuncGetParamInfo and cuKernelGetParamInfo: the place of a
// parameter among those of the function.
func (t *Thread) FuncGetParamInfo(h Handle, i uint64) (offset, size int, err error) {
	_, info, err := t.prepared(h)
	if err != nil {
		return 0, 0, err
	}
	if i >= uint64(len(info.Params)) {
		return 0, 0, fail(InvalidValue, "parameter %d of %d", i, len(info.Params))
	}
	return info.Params[i].Offset, info.Params[i].Size, nil
}

// FuncGetParamCount is cuFuncGetParamCount and cuKernelGetParamCount.
func (t *Thread) FuncGetParamCount(h Handle) (int, error) {
	_, info, err := t.prepared(h)
	if err != nil {
		return 0, err
	}
	return len(info.Params), nil
}

// residency is how many blocks of so many threads a multiprocessor holds at once,
// by threads, blocks, shared memory and registers.
func (f *Function) residency(threads, dynamic int) (int, error) {
	info, err := f.prepared()
	if err != nil {
		return 0, err
	}
	if threads < 1 || dynamic < 0 {
		return 0, fail(InvalidValue, "blocks of %d threads with %d bytes of dynamic shared memory", threads, dynamic)
	}
	if threads > info.MaxThreads {
		return 0, nil
	}
	n, _ := f.module.ctx.dev.d.limits().Resident(occupancy.Block{Threads: threads, Registers: min(info.Registers, occupancy.MaxRegisters), Shared: info.Shared + dynamic})
	return n, nil
}

// residency is that of blocks of a function.
func (t *Thread) residency(h Handle, threads int, dynamic uint64) (*Function, int, error) {
	f, err := t.function(h)
	if err != nil {
		return nil, 0, err
	}
	n, err := f.residency(threads, int(min(dynamic, 1<<30)))
	return f, n, err
}

// OccupancyMaxActiveBlocks is cuOccupancyMaxActiveBlocksPerMultiprocessor.
func (t *Thread) OccupancyMaxActiveBlocks(h Handle, threads int, dynamic uint64) (int, error) {
	_, n, err := t.residency(h, threads, dynamic)
	return n, err
}

// OccupancyMaxActiveClusters is cuOccupancyMaxActiveClusters: how many clusters the device holds at
// once.
func (t *Thread) OccupancyMaxActiveClusters(p *LaunchParams) (int, error) {
	f, n, err := t.residency(p.Func, p.Block.Count(), uint64(p.Shared))
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	cluster, err := f.clusterOf(p.Cluster)
	if err != nil {
		return 0, t.d.printError(err)
	}
	return n * interp.Multiprocessors / max(cluster.Count(), 1), nil
}

// OccupancyMaxPotentialClusterSize is cuOccupancyMaxPotentialClusterSize: how many blocks a cluster
// of the kernel may have.
func (t *Thread) OccupancyMaxPotentialClusterSize(p *LaunchParams) (int, error) {
	f, n, err := t.residency(p.Func, p.Block.Count(), uint64(p.Shared))
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return min(f.mostCluster(), n*interp.Multiprocessors), nil
}

// OccupancyMaxPotentialBlockSize is cuOccupancyMaxPotentialBlockSize: the block size
// that fills a multiprocessor best, the largest of equals, and how many blocks fill
// the device. A limit of 0 is none.
func (t *Thread) OccupancyMaxPotentialBlockSize(h Handle, dynamicFor func(threads int) uint64, limit int) (grid, block int, err error) {
	f, info, err := t.prepared(h)
	if err != nil {
		return 0, 0, err
	}
	maximum := info.MaxThreads
	if limit > 0 {
		maximum = min(maximum, limit)
	}
	best, blocks := 0, 0
	for threads := (maximum + warpSize - 1) / warpSize * warpSize; threads > 0; threads -= warpSize {
		size := min(threads, maximum)
		n, err := f.residency(size, int(min(dynamicFor(size), 1<<30)))
		if err != nil {
			return 0, 0, err
		}
		if n*size > best {
			best, block, blocks = n*size, size, n
		}
	}
	if best == 0 {
		return 0, 0, fail(InvalidValue, "no block of the kernel fits a multiprocessor")
	}
	return blocks * interp.Multiprocessors, block, nil
}

// OccupancyAvailableDynamicShared is cuOccupancyAvailableDynamicSMemPerBlock: the
// dynamic shared memory that so many blocks of a multiprocessor may each have.
func (t *Thread) OccupancyAvailableDynamicShared(h Handle, blocks, threads int) (uint64, error) {
	f, err := t.function(h)
	if err != nil {
		return 0, err
	}
	info, err := f.prepared()
	if err != nil {
		return 0, err
	}
	if n, err := f.residency(threads, 0); err != nil || blocks < 1 || n < blocks {
		return 0, fail(InvalidValue, "%d blocks of %d threads do not fit a multiprocessor", blocks, threads)
	}
	l := t.d.limits()
	return uint64(max(min(l.Shared/blocks/l.Unit*l.Unit-l.Reserved, l.PerBlock)-info.Shared, 0)), nil
}

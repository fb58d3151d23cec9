package driver

// This file implements modules, their functions and variables, and occupancy queries.

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

// parseCacheSize is the limit of the parse cache, in bytes of PTX text.
const parseCacheSize = 64 << 20

// parseCache holds parsed modules by content, so that a module is parsed once.
type parseCache struct {
	mu    sync.Mutex
	limit int
	size  int
	mods  map[[sha256.Size]byte]*parsedModule
	order [][sha256.Size]byte // oldest first
}

// parsedModule is a module and the length of its text in bytes.
type parsedModule struct {
	*ptx.Module
	size int
}

// parse returns the parsed form of a PTX source, from the cache if possible. name is its name in messages; if it is
// empty, the name is made from the content.
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

// explain returns the full text of an error, with its place in the source if it has one.
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

// Module is a module loaded into a context.
type Module struct {
	handle    Handle
	ctx       *Context
	mod       *interp.Module
	functions map[string]*Function
	library   *Library // the library that loaded it; nil otherwise

	references map[string]*Reference // references that the client asked for
}

// Function is a kernel of a module.
type Function struct {
	handle Handle
	module *Module
	kernel *ptx.Func

	once sync.Once // sets info and bad
	info *interp.KernelInfo
	bad  error

	maxDynamic  int // allowed dynamic shared memory in bytes; 0: the default
	carveout    int
	cluster     interp.Dim3 // cluster size set by attributes; zero: not set
	nonPortable bool        // clusters may have more than 8 blocks
	scheduling  int         // scheduling preference for clusters; only stored
	cacheConfig int
	setup       launchSetup
}

// ModuleLoadData is cuModuleLoadData. size is the size of the image in bytes, or 0 if it is unknown. The detail of the
// error describes errors in the PTX.
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

// ModuleLoad is cuModuleLoad.
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

// readFile returns the PTX in a file.
func (d *Driver) readFile(file string) ([]byte, error) {
	data, err := input.ReadFile(context.Background(), file, input.MaxText)
	if errors.As(err, new(*fs.PathError)) {
		return nil, fail(FileNotFound, "%v", err)
	}
	if err != nil {
		return nil, d.printError(fail(InvalidImage, "%s: %v", file, err))
	}
	data = append(data, 0, 0, 0, 0) // source reads at least 4 bytes
	src, err := d.source(unsafe.Pointer(&data[0]), uint64(len(data)))
	if err != nil {
		return nil, d.printError(fail(ResultOf(err), "%s: %v", file, err))
	}
	return src, nil
}

// printError writes an error to the driver's standard error, because its result code does not explain it, and returns
// it.
func (d *Driver) printError(err error) error {
	if d.settings.Trace == 0 { // Trace reports the error otherwise
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

// compile parses a PTX source of a client. The source may target a newer device than the emulated one: gemu runs it
// although a GPU could not.
func (d *Driver) compile(name string, src []byte) (*ptx.Module, error) {
	parsed, err := d.parse(name, src)
	if err != nil {
		return nil, fail(InvalidPTX, "%s", explain(err))
	}
	return parsed, nil
}

// load makes a module in the context. It waits for a running launch.
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

// alive reports whether the module is loaded. The caller must hold d.mu.
func (m *Module) alive() bool { return m.ctx.dev.d.objects[m.handle] == any(m) }

// unload releases the module after the work of its context. Further calls have no effect.
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

// function returns a kernel of the module. The caller must hold d.mu.
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

// ModuleEnumerateFunctions is cuModuleEnumerateFunctions: all kernels in the order of the source.
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

// ModuleGetGlobal is cuModuleGetGlobal: the address and size of a variable.
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

// function returns the function with a handle. For the handle of a Kernel, it is the function in the current context.
// The caller must not hold d.mu.
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

// prepared returns a function and the properties of its kernel.
func (t *Thread) prepared(h Handle) (*Function, *interp.KernelInfo, error) {
	f, err := t.function(h)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.prepared()
	return f, info, err
}

// prepared returns the properties of a kernel. The first call lowers the kernel and waits for a running launch. The
// error reports PTX that gemu does not run.
func (f *Function) prepared() (*interp.KernelInfo, error) {
	f.once.Do(func() {
		d := f.module.ctx.dev.d
		var err error
		var refused *interp.LaunchError
		switch f.info, err = f.module.mod.Info(f.kernel.Name, d.settings.Mode); {
		case errors.As(err, &refused): // another thread unloads the module
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
		return f.kernel.SM, nil // the target architecture, not the version of the text
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
	return 0, nil // attributes of caches and missing features are 0
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// required returns the cluster size that the kernel requires, by a directive or by attributes; zero if it requires
// none. explicit reports that the source requires clusters. The caller must hold d.mu.
func (f *Function) required() (cluster interp.Dim3, explicit bool) {
	cluster, err := f.module.mod.Cluster(f.kernel.Name, interp.Dim3{})
	if err != nil {
		cluster = interp.Dim3{} // clusters of any size
	}
	explicit = err != nil || cluster != interp.Dim3{}
	if cluster == (interp.Dim3{}) {
		cluster = f.cluster
	}
	return cluster, explicit
}

// clusterOf returns the cluster size of a launch; asked is the requested size, or zero. The caller must hold d.mu.
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

// requireCluster sets one dimension of the required cluster size. The caller must hold d.mu.
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

// portableCluster is the maximum cluster size, in blocks, that every device supports.
const portableCluster = 8

// mostCluster returns the maximum cluster size of the kernel, in blocks. The caller must hold d.mu.
func (f *Function) mostCluster() int {
	if f.nonPortable {
		return interp.MaxCluster
	}
	return portableCluster
}

// constants returns the size of the module's constant variables in bytes.
func (m *Module) constants() int {
	n := 0
	for _, v := range m.mod.Vars() {
		if v.Space == ptx.Const {
			n += v.Size()
		}
	}
	return n
}

// dynamicLimit returns the maximum dynamic shared memory of a launch in bytes. The caller must hold d.mu.
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

// FuncSetCacheConfig is cuFuncSetCacheConfig. The value is only stored: there is no cache to configure.
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

// FuncGetParamInfo is cuFuncGetParamInfo and cuKernelGetParamInfo: the offset and size of a parameter in bytes.
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

// residency returns the number of blocks that a multiprocessor can hold at once, by threads, blocks, shared memory and
// registers. threads is the block size, dynamic its dynamic shared memory in bytes.
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

// residency returns a function and its residency.
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

// OccupancyMaxActiveClusters is cuOccupancyMaxActiveClusters: the number of clusters that the device can hold at once.
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

// OccupancyMaxPotentialClusterSize is cuOccupancyMaxPotentialClusterSize: the maximum cluster size of the kernel, in
// blocks.
func (t *Thread) OccupancyMaxPotentialClusterSize(p *LaunchParams) (int, error) {
	f, n, err := t.residency(p.Func, p.Block.Count(), uint64(p.Shared))
	if err != nil {
		return 0, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return min(f.mostCluster(), n*interp.Multiprocessors), nil
}

// OccupancyMaxPotentialBlockSize is cuOccupancyMaxPotentialBlockSize: the largest block size with the maximum number of
// resident threads, and the number of blocks that fill the device. dynamicFor returns the dynamic shared memory for a
// block size. limit bounds the block size; 0: no limit.
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

// OccupancyAvailableDynamicShared is cuOccupancyAvailableDynamicSMemPerBlock: the dynamic shared memory in bytes that
// each block can have if the given number of blocks share a multiprocessor.
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

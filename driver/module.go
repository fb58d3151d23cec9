package driver

// This file implements modules and their variables.

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
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// parseCacheSize is the limit of the parse cache, in bytes of PTX text.
const parseCacheSize = 64 << 20

// parseCache holds recently parsed modules by name and content, so that a module is not parsed for each load.
type parseCache struct {
	mu    sync.Mutex
	limit int // maximum of size
	size  int // total length of the texts, in bytes
	mods  map[[sha256.Size]byte]*parsedModule
	order [][sha256.Size]byte // oldest first
}

// parsedModule is a module and the length of its text in bytes.
type parsedModule struct {
	*ptx.Module
	size int
}

// parse returns the parsed form of a PTX source, from the cache if possible. name is the source's name in messages; if
// name is empty, the name is made from a hash of the content.
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
	if m := c.mods[key]; m != nil { // another thread has parsed the source in the meantime
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

// explain returns the full text of an error for the user: with its place in the source, if known, and with the
// environment variable or launch option that avoids it, if there is one. o has the options of the launch; nil: none.
func explain(err error, o *LaunchOptions) string {
	var list ptx.ErrorList
	var unsupported *ptx.Unsupported
	var trap *probe.Trap
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
		if trap.Tolerable != probe.Strict {
			b.WriteString("\n   GEMU_TOLERATE=" + trap.Tolerable.String() + " lets the kernel continue, as GPUs do")
		}
		switch trap.Kind {
		case probe.ErrStepLimit:
			b.WriteString("\n   " + o.nameOf("GEMU_STEPS") + " raises the limit" + o.execFlag("--steps"))
		case probe.ErrTimeLimit:
			b.WriteString("\n   " + o.nameOf("GEMU_TIME_LIMIT") + " sets the limit" + o.execFlag("--time-limit"))
		case probe.ErrKeptOut:
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
	library   *Library // library to which the module belongs; nil: none

	references map[string]*Reference // references requested by the client
}

// ModuleLoadData is cuModuleLoadData. size is the size of the image in bytes, or 0 if it is unknown. Error.Detail
// describes errors in the PTX.
func (t *Thread) ModuleLoadData(image unsafe.Pointer, size uint64) (Handle, error) {
	return t.ModuleLoadNamed("", image, size)
}

// ModuleLoadNamed is ModuleLoadData with a name for messages; "" is a name made from a hash of the PTX.
func (t *Thread) ModuleLoadNamed(name string, image unsafe.Pointer, size uint64) (Handle, error) {
	if err := t.Check(); err != nil {
		return 0, err
	}
	src, err := t.d.source(image, size)
	if err != nil {
		return 0, t.d.printError(err)
	}
	return t.load(name, src)
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
	data = append(data, 0, 0, 0, 0) // source reads at least 4 bytes, and text must end with a zero byte
	src, err := d.source(unsafe.Pointer(&data[0]), uint64(len(data)))
	if err != nil {
		return nil, d.printError(fail(ResultOf(err), "%s: %v", file, err))
	}
	return src, nil
}

// printError writes an error to the driver's standard error, and returns it. It is for errors that their result code does
// not explain.
func (d *Driver) printError(err error) error {
	if d.settings.Trace == 0 { // Trace reports the error otherwise
		d.message("%v", err)
	}
	return err
}

// load loads a PTX source into the current context, and returns the handle of the module.
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

// compile parses a PTX source of a client. The source may target a newer device than the emulated device: gemu runs it,
// although a GPU could not.
func (d *Driver) compile(name string, src []byte) (*ptx.Module, error) {
	parsed, err := d.parse(name, src)
	if err != nil {
		return nil, failBy(InvalidPTX, err)
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
		err = fail(NotPermitted, "the module belongs to a library: use cuLibraryUnload")
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

// unload waits for the work of the module's context, and releases the module. It has no effect on an unloaded module.
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
		return nil, fail(InvalidValue, "the name of the kernel is empty")
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

// moduleFunctions lists the handles of all kernels of a module. If withHandles is false, it makes no functions, and the
// handles are 0: only the length of the list has a meaning.
func (t *Thread) moduleFunctions(h Handle, withHandles bool) ([]Handle, error) {
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
		if withHandles {
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

// global returns the device address and the size in bytes of a variable.
func (m *Module) global(name string) (addr, size uint64, err error) {
	b := m.mod.Var(name)
	if b == nil {
		return 0, 0, fail(NotFound, "%s has no .global or .const variable %s", m.mod.Name, name)
	}
	return b.Addr(), uint64(b.Size()), nil
}

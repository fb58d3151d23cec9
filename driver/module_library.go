package driver

// This file implements libraries: PTX modules that belong to no context, and are loaded into each context at their first
// use there.

import (
	"unsafe"

	"gemu/ptx"
)

// Library is a PTX module that belongs to no context.
type Library struct {
	handle  Handle
	mod     *ptx.Module
	modules map[*Context]*Module // loaded modules, by context
	kernels map[string]*Kernel   // kernels with handles, by name
}

// Kernel is a kernel of a library. A call that takes a function uses the kernel's function in the current context.
type Kernel struct {
	handle  Handle
	library *Library
	name    string
}

// LibraryLoadData is cuLibraryLoadData. See ModuleLoadData.
func (t *Thread) LibraryLoadData(image unsafe.Pointer) (Handle, error) {
	src, err := t.d.source(image, 0)
	if err != nil {
		return 0, t.d.printError(err)
	}
	return t.newLibrary("", src)
}

// LibraryLoadFromFile is cuLibraryLoadFromFile.
func (t *Thread) LibraryLoadFromFile(file string) (Handle, error) {
	src, err := t.d.readFile(file)
	if err != nil {
		return 0, err
	}
	return t.newLibrary(file, src)
}

// newLibrary makes a library of a PTX source. name is the source's name in messages; see parse.
func (t *Thread) newLibrary(name string, src []byte) (Handle, error) {
	d := t.d
	parsed, err := d.compile(name, src)
	if err != nil {
		return 0, d.printError(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ready {
		return 0, fail(NotInitialized, "cuInit was not called")
	}
	l := &Library{mod: parsed, modules: map[*Context]*Module{}, kernels: map[string]*Kernel{}}
	l.handle = d.add(l)
	return l.handle, nil
}

// enterLibrary locks the driver for a call on a library, unless it returns an error.
func (t *Thread) enterLibrary(h Handle) (*Library, error) {
	t.d.mu.Lock()
	err := error(nil)
	var l *Library
	if !t.d.ready {
		err = fail(NotInitialized, "cuInit was not called")
	} else {
		l, err = object[*Library](t.d, h)
	}
	if err != nil {
		t.d.mu.Unlock()
	}
	return l, err
}

// LibraryUnload is cuLibraryUnload: it waits for the work of each context in which the library is loaded.
func (t *Thread) LibraryUnload(h Handle) error {
	l, err := t.enterLibrary(h)
	if err != nil {
		return err
	}
	delete(t.d.objects, h)
	for _, k := range l.kernels {
		delete(t.d.objects, k.handle)
	}
	var modules []*Module
	for _, m := range l.modules {
		modules = append(modules, m)
	}
	t.d.mu.Unlock()
	for _, m := range modules {
		m.unload()
	}
	return nil
}

// LibraryGetKernel is cuLibraryGetKernel: it returns the handle of a Kernel.
func (t *Thread) LibraryGetKernel(h Handle, name string) (Handle, error) {
	l, err := t.enterLibrary(h)
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	return l.kernel(t.d, name)
}

// kernel returns the handle of a kernel of the library. The caller must hold d.mu.
func (l *Library) kernel(d *Driver, name string) (Handle, error) {
	if k := l.kernels[name]; k != nil {
		return k.handle, nil
	}
	for _, f := range l.mod.Kernels() {
		if f.Name == name {
			k := &Kernel{library: l, name: name}
			k.handle = d.add(k)
			l.kernels[name] = k
			return k.handle, nil
		}
	}
	return 0, fail(NotFound, "%s has no kernel %s", l.mod.Name, name)
}

// LibraryEnumerateKernels is cuLibraryEnumerateKernels: it returns all kernels in the order of the source. The length of
// the list is the result of cuLibraryGetKernelCount.
func (t *Thread) LibraryEnumerateKernels(h Handle) ([]Handle, error) {
	l, err := t.enterLibrary(h)
	if err != nil {
		return nil, err
	}
	defer t.d.mu.Unlock()
	var list []Handle
	for _, f := range l.mod.Kernels() {
		k, err := l.kernel(t.d, f.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// LibraryGetModule is cuLibraryGetModule: it returns the library's module in the current context.
func (t *Thread) LibraryGetModule(h Handle) (Handle, error) {
	l, err := t.enterLibrary(h)
	if err != nil {
		return 0, err
	}
	t.d.mu.Unlock()
	m, err := t.libraryModule(l)
	if err != nil {
		return 0, err
	}
	return m.handle, nil
}

// libraryModule returns the module of the library in the current context, and loads it if necessary. The caller must
// not hold d.mu.
func (t *Thread) libraryModule(l *Library) (*Module, error) {
	d := t.d
	c, err := t.enter()
	if err != nil {
		return nil, err
	}
	m := l.modules[c]
	alive := m != nil && m.alive()
	d.mu.Unlock()
	if alive {
		return m, nil
	}
	loaded, err := c.load(l.mod)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	if m := l.modules[c]; m != nil && m.alive() { // another thread has loaded the module in the meantime
		d.mu.Unlock()
		loaded.unload()
		return m, nil
	}
	defer d.mu.Unlock()
	loaded.library = l
	l.modules[c] = loaded
	return loaded, nil
}

// LibraryGetGlobal is cuLibraryGetGlobal: it returns the address and size of a variable in the current context.
func (t *Thread) LibraryGetGlobal(h Handle, name string) (addr, size uint64, err error) {
	l, err := t.enterLibrary(h)
	if err != nil {
		return 0, 0, err
	}
	t.d.mu.Unlock()
	m, err := t.libraryModule(l)
	if err != nil {
		return 0, 0, err
	}
	return m.global(name)
}

// KernelGetFunction is cuKernelGetFunction: it returns the kernel's function in the current context.
func (t *Thread) KernelGetFunction(h Handle) (Handle, error) {
	t.d.mu.Lock()
	k, err := object[*Kernel](t.d, h)
	t.d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	f, err := t.kernelFunction(k)
	if err != nil {
		return 0, err
	}
	return f.handle, nil
}

// kernelFunction returns the function of a kernel in the current context. The caller must not hold d.mu.
func (t *Thread) kernelFunction(k *Kernel) (*Function, error) {
	m, err := t.libraryModule(k.library)
	if err != nil {
		return nil, err
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	return m.function(k.name)
}

// KernelGetLibrary is cuKernelGetLibrary.
func (t *Thread) KernelGetLibrary(h Handle) (Handle, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	k, err := object[*Kernel](t.d, h)
	if err != nil {
		return 0, err
	}
	return k.library.handle, nil
}

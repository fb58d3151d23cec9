package driver

// This file implements the linker. There is no machine code to link, so it merges PTX modules into a single module, and
// packs that module into a container (package cubin). The only supported library is CUDA's device runtime, for which gemu
// has its own PTX.

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"unsafe"

	"gemu/driver/internal/linker"
	"gemu/internal/cubin"
	"gemu/internal/input"
)

// Link is an invocation of the linker: its inputs and its result.
type Link struct {
	ctx    *Context
	inputs []linker.Input // modules that are always linked
	libs   []linker.Input // modules of libraries, linked only if they define a missing function
	image  []byte         // result of LinkComplete
	free   func()         // releases image; may be nil
}

// LinkInput is a kind of linker input; the numbers are the values of CUjitInputType.
type LinkInput int32

// The kinds of input.
const (
	LinkCubin   LinkInput = iota // container of gemu with PTX, in place of a cubin
	LinkPTX                      // text of PTX
	LinkFatbin                   // fat binary
	LinkObject                   // object file of the host with device code
	LinkLibrary                  // archive of object files; only libcudadevrt is supported
	LinkNVVM                     // NVVM code; not supported
)

// LinkCreate is cuLinkCreate.
func (t *Thread) LinkCreate() (Handle, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	return c.addObject(&Link{ctx: c}), nil
}

// LinkAddData is cuLinkAddData. size is the size of the data in bytes. name is the input's name in messages.
func (t *Thread) LinkAddData(h Handle, kind LinkInput, data unsafe.Pointer, size uint64, name string) error {
	switch kind {
	case LinkLibrary:
		if size > maxImage {
			return fail(InvalidValue, "a library of %d bytes, at most %d are allowed", size, maxImage)
		}
		var archive []byte
		if err := safely(func() { archive = bytes.Clone(hostBytes(data, size)) }); err != nil {
			return err
		}
		return t.linkLibrary(h, name, archive)
	case LinkCubin, LinkPTX, LinkFatbin, LinkObject:
	case LinkNVVM:
		return t.d.printError(fail(NotSupported, "%s is NVVM code (LTO-IR): gemu links only PTX", name))
	default:
		return fail(InvalidValue, "link input type %d, want a CUjitInputType from %d to %d", kind, LinkCubin, LinkNVVM)
	}
	src, err := t.d.source(data, size)
	if err != nil {
		return t.d.printError(err)
	}
	return t.linkSource(h, name, src, (*Link).addInput)
}

// LinkAddFile is cuLinkAddFile.
func (t *Thread) LinkAddFile(h Handle, kind LinkInput, file string) error {
	if _, err := os.Stat(file); err != nil {
		return fail(FileNotFound, "%v", err)
	}
	switch kind {
	case LinkCubin, LinkPTX, LinkFatbin, LinkObject:
		src, err := t.d.readFile(file)
		if err != nil {
			return err
		}
		return t.linkSource(h, file, src, (*Link).addInput)
	case LinkLibrary:
		archive, err := input.ReadFile(context.Background(), file, input.MaxText)
		if err != nil {
			return fail(FileNotFound, "%v", err)
		}
		return t.linkLibrary(h, file, archive)
	}
	return t.LinkAddData(h, kind, nil, 0, file)
}

// linkLibrary adds a library, which is an archive of object files with machine code. The only supported library is the
// device runtime; gemu's PTX replaces it.
func (t *Thread) linkLibrary(h Handle, name string, archive []byte) error {
	names, err := linker.Members(archive)
	if err != nil {
		return t.d.printError(fail(InvalidImage, "%s: %v", name, err))
	}
	for _, n := range names {
		if !strings.HasPrefix(n, "cuda_device_runtime.") {
			return t.d.printError(fail(NoBinaryForGPU, "%s contains machine code (%s): gemu links only PTX, and of NVIDIA's libraries only libcudadevrt", name, n))
		}
	}
	if err := t.linkSource(h, "libcudadevrt.ptx", linker.DeviceGroups, (*Link).addLib); err != nil {
		return err
	}
	return t.linkSource(h, "libcudadevrt_graph.ptx", linker.DeviceGraphs, (*Link).addLib)
}

// addInput adds a module that is always linked.
func (l *Link) addInput(in linker.Input) { l.inputs = append(l.inputs, in) }

// addLib adds a module of a library, unless it was added before.
func (l *Link) addLib(in linker.Input) {
	if !slices.ContainsFunc(l.libs, func(o linker.Input) bool { return o.Module == in.Module }) {
		l.libs = append(l.libs, in)
	}
}

// linkSource parses a PTX source and adds the module to a Link by add, which is addInput or addLib.
func (t *Thread) linkSource(h Handle, name string, src []byte, add func(*Link, linker.Input)) error {
	mod, err := t.d.compile(name, src)
	if err != nil {
		return t.d.printError(err)
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	l, err := t.link(h)
	if err != nil {
		return err
	}
	if l.image != nil {
		return fail(InvalidHandle, "cuLinkComplete was already called: begin a new link with cuLinkCreate")
	}
	add(l, linker.Input{Module: mod, Text: src})
	return nil
}

// link returns the Link with a handle. The caller must hold d.mu.
func (t *Thread) link(h Handle) (*Link, error) {
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	return object[*Link](t.d, h)
}

// LinkComplete is cuLinkComplete: it returns a container with the merged module. The container is valid until
// LinkDestroy.
func (t *Thread) LinkComplete(h Handle) ([]byte, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	l, err := t.link(h)
	switch {
	case err != nil:
		return nil, err
	case l.image != nil:
		return l.image, nil
	}
	inputs := l.inputs
	for _, lib := range l.libs {
		if lib.CompletesAny(inputs) {
			inputs = append(inputs, lib)
		}
	}
	if len(inputs) == 0 {
		return nil, fail(InvalidImage, "nothing to link: no PTX was added")
	}
	text := inputs[0].Text
	if len(inputs) > 1 {
		text = linker.Merge(inputs)
		if _, err := t.d.parse("linked.ptx", text); err != nil {
			return nil, t.d.printError(failBy(InvalidPTX, err))
		}
	}
	packed := cubin.Pack(text, t.d.settings.SM, false)
	image, free, err := t.d.pages.Allocate(uint64(len(packed)))
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	copy(image, packed)
	l.image, l.free = image, free
	return image, nil
}

// LinkDestroy is cuLinkDestroy.
func (t *Thread) LinkDestroy(h Handle) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	l, err := t.link(h)
	if err != nil {
		return err
	}
	l.ctx.removeObject(h)
	l.release()
	return nil
}

// release releases the image.
func (l *Link) release() {
	if l.free != nil {
		l.free()
	}
	l.image, l.free = nil, nil
}

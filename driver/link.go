package driver

// This file is the linker. It hands PTX through, and makes one PTX module of
// several: there is no machine code to link.

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"unsafe"

	"gemu/ptx"
)

// Link is a linker invocation.
type Link struct {
	ctx    *Context
	inputs []linkInput
	image  []byte // what Complete has made: text with a zero behind it
	free   func() // gives image back; may be nil
}

// linkInput is a PTX module to link.
type linkInput struct {
	mod  *ptx.Module
	text []byte
}

// LinkInput says what is given to a linker; the numbers are those of
// CUjitInputType.
type LinkInput int32

// The kinds of input.
const (
	LinkCubin LinkInput = iota
	LinkPTX
	LinkFatbin
	LinkObject
	LinkLibrary
	LinkNVVM
)

// LinkCreate is cuLinkCreate.
func (t *Thread) LinkCreate() (Handle, error) {
	c, err := t.enter()
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	return c.own(&Link{ctx: c}), nil
}

// LinkAddData is cuLinkAddData.
func (t *Thread) LinkAddData(h Handle, kind LinkInput, data unsafe.Pointer, size uint64, name string) error {
	switch kind {
	case LinkCubin, LinkObject, LinkLibrary:
		return t.d.complain(fail(NoBinaryForGPU, "%s is machine code, and gemu links PTX", name))
	case LinkPTX, LinkFatbin:
	case LinkNVVM:
		return t.d.complain(fail(NotSupported, "%s is NVVM code, and gemu links PTX", name))
	default:
		return fail(InvalidValue, "link input type %d", kind)
	}
	src, err := t.d.source(data, size)
	if err != nil {
		return t.d.complain(err)
	}
	return t.linkSource(h, name, src)
}

// LinkAddFile is cuLinkAddFile.
func (t *Thread) LinkAddFile(h Handle, kind LinkInput, file string) error {
	if _, err := os.Stat(file); err != nil {
		return fail(FileNotFound, "%v", err)
	}
	if kind != LinkPTX && kind != LinkFatbin {
		return t.LinkAddData(h, kind, nil, 0, file)
	}
	src, err := t.d.readFile(file)
	if err != nil {
		return err
	}
	return t.linkSource(h, file, src)
}

func (t *Thread) linkSource(h Handle, name string, src []byte) error {
	mod, err := t.d.compile(name, src)
	if err != nil {
		return t.d.complain(err)
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	l, err := t.link(h)
	if err != nil {
		return err
	}
	if l.image != nil {
		return fail(InvalidHandle, "the link is complete")
	}
	l.inputs = append(l.inputs, linkInput{mod, src})
	return nil
}

// link is the linker with a handle. d.mu is held.
func (t *Thread) link(h Handle) (*Link, error) {
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	return object[*Link](t.d, h)
}

// LinkComplete is cuLinkComplete: the image, with a zero behind it. It lives until
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
	case len(l.inputs) == 0:
		return nil, fail(InvalidImage, "nothing to link")
	}
	text := l.inputs[0].text
	if len(l.inputs) > 1 {
		text = merge(l.inputs)
		if _, err := t.d.parse("linked.ptx", text); err != nil {
			return nil, t.d.complain(fail(InvalidPTX, "%s", explain(err)))
		}
	}
	image, free, err := t.d.pages.allocate(uint64(len(text)) + 1)
	if err != nil {
		return nil, fail(OutOfMemory, "%v", err)
	}
	copy(image, text)
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
	l.ctx.disown(h)
	l.release()
	return nil
}

// release gives the image back.
func (l *Link) release() {
	if l.free != nil {
		l.free()
	}
	l.image, l.free = nil, nil
}

// headers are the directives that a module begins with.
var headers = regexp.MustCompile(`(?m)^[ \t]*\.(version|target|address_size)\b[^\n]*$`)

// merge makes one module of several: the text of one behind the other, with the
// headers that satisfy them all. Declarations of what others define resolve as they
// do within a module; what has the same name in two of them is an error when the
// whole is parsed.
func merge(inputs []linkInput) []byte {
	var version ptx.Version
	sm, size := 0, 0
	for _, in := range inputs {
		if version.Less(in.mod.Version) {
			version = in.mod.Version
		}
		sm, size = max(sm, in.mod.SM()), max(size, in.mod.AddressSize)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, ".version %s\n.target sm_%d\n.address_size %d\n", version, sm, size)
	for _, in := range inputs {
		fmt.Fprintf(&b, "// %s\n", in.mod.Name)
		b.Write(headers.ReplaceAll(in.text, nil))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

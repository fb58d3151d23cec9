package driver

// This file is the linker. It makes one PTX module of several, in a container: there is no machine
// code to link. Of libraries it knows CUDA's device runtime, for which gemu has PTX of its own.

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"gemu/internal/cubin"
	"gemu/internal/input"
	"gemu/ptx"
)

// What gemu has of libcudadevrt.a, of which programs may bring the rest along.
var (
	//go:embed devrt.ptx
	deviceGroups []byte
	//go:embed devrt_graph.ptx
	deviceGraphs []byte
)

// Link is a linker invocation.
type Link struct {
	ctx    *Context
	inputs []linkInput
	libs   []linkInput // of them what defines something that is missing is linked
	image  []byte      // what Complete has made
	free   func()      // gives image back; may be nil
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
	return c.addObject(&Link{ctx: c}), nil
}

// LinkAddData is cuLinkAddData.
func (t *Thread) LinkAddData(h Handle, kind LinkInput, data unsafe.Pointer, size uint64, name string) error {
	switch kind {
	case LinkLibrary:
		if size > maxImage {
			return fail(InvalidValue, "a library of %d bytes, at most %d", size, maxImage)
		}
		var archive []byte
		if err := safely(func() { archive = bytes.Clone(hostBytes(data, size)) }); err != nil {
			return err
		}
		return t.linkLibrary(h, name, archive)
	case LinkCubin, LinkPTX, LinkFatbin, LinkObject:
	case LinkNVVM:
		return t.d.printError(fail(NotSupported, "%s is NVVM code, and gemu links PTX", name))
	default:
		return fail(InvalidValue, "link input type %d", kind)
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

// linkLibrary adds a library, which is an archive of machine code: gemu has what is in
// that of the device runtime.
func (t *Thread) linkLibrary(h Handle, name string, archive []byte) error {
	names, err := members(archive)
	if err != nil {
		return t.d.printError(fail(InvalidImage, "%s: %v", name, err))
	}
	for _, n := range names {
		if !strings.HasPrefix(n, "cuda_device_runtime.") {
			return t.d.printError(fail(NoBinaryForGPU, "%s has machine code, %s, and gemu links PTX; of libraries it knows libcudadevrt", name, n))
		}
	}
	if err := t.linkSource(h, "libcudadevrt.ptx", deviceGroups, (*Link).addLib); err != nil {
		return err
	}
	return t.linkSource(h, "libcudadevrt_graph.ptx", deviceGraphs, (*Link).addLib)
}

// members lists the names of the members of an archive in the format of ar. Long names are
// in a table that is the member called "//".
func members(archive []byte) ([]string, error) {
	const magic, header = "!<arch>\n", 60
	if !bytes.HasPrefix(archive, []byte(magic)) {
		return nil, fmt.Errorf("not an archive")
	}
	var names []string
	var long string
	for rest := archive[len(magic):]; len(rest) > 0; {
		if len(rest) < header {
			return nil, fmt.Errorf("a broken archive")
		}
		name := strings.TrimRight(string(rest[:16]), " ")
		size, err := strconv.ParseUint(strings.TrimSpace(string(rest[48:58])), 10, 63)
		if err != nil || size > uint64(len(rest)-header) {
			return nil, fmt.Errorf("a broken archive: size of member %s", name)
		}
		data := rest[header:][:size]
		rest = rest[min(header+size+size%2, uint64(len(rest))):] // members begin at even places
		switch at, err := strconv.Atoi(strings.TrimPrefix(name, "/")); {
		case name == "//":
			long = string(data)
			continue
		case name == "/" || name == "/SYM64/":
			continue // the index of symbols
		case strings.HasPrefix(name, "/") && err == nil && at < len(long):
			name, _, _ = strings.Cut(long[at:], "\n")
		}
		names = append(names, strings.TrimSuffix(name, "/"))
	}
	return names, nil
}

// addInput adds what is linked in any case.
func (l *Link) addInput(in linkInput) { l.inputs = append(l.inputs, in) }

// addLib adds a library, once.
func (l *Link) addLib(in linkInput) {
	if !slices.ContainsFunc(l.libs, func(o linkInput) bool { return o.mod == in.mod }) {
		l.libs = append(l.libs, in)
	}
}

// linkSource parses a PTX source and adds it to a linker.
func (t *Thread) linkSource(h Handle, name string, src []byte, add func(*Link, linkInput)) error {
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
		return fail(InvalidHandle, "the link is complete")
	}
	add(l, linkInput{mod, src})
	return nil
}

// link is the linker with a handle. d.mu is held.
func (t *Thread) link(h Handle) (*Link, error) {
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	return object[*Link](t.d, h)
}

// LinkComplete is cuLinkComplete: a container with what was linked. It lives until LinkDestroy.
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
		if lib.wanted(inputs) {
			inputs = append(inputs, lib)
		}
	}
	if len(inputs) == 0 {
		return nil, fail(InvalidImage, "nothing to link")
	}
	text := inputs[0].text
	if len(inputs) > 1 {
		text = merge(inputs)
		if _, err := t.d.parse("linked.ptx", text); err != nil {
			return nil, t.d.printError(fail(InvalidPTX, "%s", explain(err)))
		}
	}
	packed := cubin.Pack(text, t.d.settings.SM, false)
	image, free, err := t.d.pages.allocate(uint64(len(packed)))
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

// release gives the image back.
func (l *Link) release() {
	if l.free != nil {
		l.free()
	}
	l.image, l.free = nil, nil
}

// headers are the directives that a module begins with.
var headers = regexp.MustCompile(`(?m)^[ \t]*\.(version|target|address_size)\b[^\n]*$`)

// definition is the function of a name that the input defines, nil if it does not.
func (in *linkInput) definition(name string) *ptx.Func {
	if f, ok := in.mod.Lookup(name).(*ptx.Func); ok && f.Defined {
		return f
	}
	return nil
}

// missing lists the functions that the input declares and does not define.
func (in *linkInput) missing() []*ptx.Func {
	var list []*ptx.Func
	for _, d := range in.mod.Decls {
		if f, ok := d.(*ptx.Func); ok && in.definition(f.Name) == nil {
			list = append(list, f)
		}
	}
	return list
}

// wanted reports whether a library defines a function that is missing in inputs.
func (in *linkInput) wanted(inputs []linkInput) bool {
	for _, o := range inputs {
		for _, f := range o.missing() {
			if in.definition(f.Name) != nil {
				return true
			}
		}
	}
	return false
}

// merge makes one module of several: the text of one behind the other, with the
// headers that satisfy them all, and the target of each before it (manual 11.1.2). Declarations of what others define get its linkage, and
// resolve as they do within a module; of a function that several define, weakly but for one perhaps, one
// definition stays; a module's own symbols get other names where others have theirs; what else has the same
// name in two of them is an error when the whole is parsed.
func merge(inputs []linkInput) []byte {
	var version ptx.Version
	sm, size := 0, 0
	for _, in := range inputs {
		if version.Less(in.mod.Version) {
			version = in.mod.Version
		}
		sm, size = max(sm, in.mod.SM()), max(size, in.mod.AddressSize)
	}
	kept := definitions(inputs)
	var b bytes.Buffer
	fmt.Fprintf(&b, ".version %s\n.target sm_%d\n.address_size %d\n", version, sm, size)
	for i, in := range inputs {
		text := in.text
		for _, d := range slices.Backward(in.mod.Decls) {
			if f, ok := d.(*ptx.Func); ok && f.Defined && f.Linkage == ptx.Weak && kept[f.Name] != (inputFunc{i, f}) {
				text = ownLinkage(withoutBody(text, f), kept[f.Name].f)
			}
		}
		text = rename(headers.ReplaceAll(text, nil), ownNames(inputs, i))
		for _, f := range in.missing() {
			for _, o := range inputs {
				def := o.definition(f.Name)
				if def == nil {
					continue
				}
				switch {
				case len(f.Rets) == 0 && len(def.Rets) > 0:
					text = ignoreResults(text, def)
				case len(f.Rets) > 0 && len(def.Rets) == 0:
					text = noResults(text, def)
				}
				text = ownLinkage(text, def)
			}
		}
		fmt.Fprintf(&b, "// %s\n.target sm_%d\n", in.mod.Name, in.mod.SM())
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// inputFunc is a function of one of the inputs: inputs of the same text share what is parsed of it.
type inputFunc struct {
	input int
	f     *ptx.Func
}

// definitions are the definitions of functions that others see and that stay, by name: of several the first
// that is not weak, or the first.
func definitions(inputs []linkInput) map[string]inputFunc {
	kept := map[string]inputFunc{}
	for i, in := range inputs {
		for _, d := range in.mod.Decls {
			f, ok := d.(*ptx.Func)
			if !ok || !f.Defined || f.Linkage == ptx.Internal {
				continue
			}
			if other := kept[f.Name]; other.f == nil || other.f.Linkage == ptx.Weak && f.Linkage != ptx.Weak {
				kept[f.Name] = inputFunc{i, f}
			}
		}
	}
	return kept
}

// withoutBody makes a declaration of a function's definition in the text of its module. It leaves what is
// before the body where it is.
func withoutBody(text []byte, f *ptx.Func) []byte {
	name, end := offset(text, f.Pos), offset(text, f.End)
	begin := name + bytes.IndexByte(text[name:], '{')
	return slices.Concat(text[:begin], []byte(";"), text[end+1:])
}

// offset is where a position is in a text.
func offset(text []byte, pos ptx.Pos) int {
	at := 0
	for range pos.Line - 1 {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at + int(pos.Col) - 1
}

// ownNames are new names for the symbols that the i-th input keeps to itself and another has, too.
func ownNames(inputs []linkInput, i int) map[string]string {
	taken := func(name string, except int) bool {
		for j, in := range inputs {
			if j != except && in.mod.Lookup(name) != nil {
				return true
			}
		}
		return false
	}
	names := map[string]string{}
	for _, d := range inputs[i].mod.Decls {
		var name string
		switch s := d.(type) {
		case *ptx.Var:
			if s.Linkage == ptx.Internal {
				name = s.Name
			}
		case *ptx.Func:
			if s.Linkage == ptx.Internal && !s.Entry {
				name = s.Name
			}
		}
		if name == "" || !taken(name, i) {
			continue
		}
		n := i
		other := func() string { return fmt.Sprintf("%s__%d", name, n) }
		for taken(other(), -1) {
			n += len(inputs)
		}
		names[name] = other()
	}
	return names
}

// namePattern is what a name can be part of, and a name.
var namePattern = regexp.MustCompile(`"[^"\n]*"|//[^\n]*|(?s:/\*.*?\*/)|\.?[\w$%]+`)

// rename gives names of a text others.
func rename(text []byte, names map[string]string) []byte {
	if len(names) == 0 {
		return text
	}
	return namePattern.ReplaceAllFunc(text, func(word []byte) []byte {
		if other, ok := names[string(word)]; ok {
			return []byte(other)
		}
		return word
	})
}

// ownLinkage changes the declaration of a function that is .extern, or weak, to one of a module that
// defines it, whose linkage others may name.
func ownLinkage(text []byte, def *ptx.Func) []byte {
	if def.Linkage != ptx.Visible && def.Linkage != ptx.Weak {
		return text
	}
	declaration := regexp.MustCompile(`\.(?:extern|weak)(\s+\.func\s+(?:\([^)]*\)\s*)?` + regexp.QuoteMeta(def.Name) + `\s*[(;])`)
	return declaration.ReplaceAll(text, []byte(def.Linkage.String()+"${1}"))
}

// ignoreResults changes a text that knows nothing of the results of a function: its
// declaration gets those of the definition, and calls ignore them. A language that has no
// use for a result declares the function without.
func ignoreResults(text []byte, def *ptx.Func) []byte {
	name := regexp.QuoteMeta(def.Name)
	declaration := regexp.MustCompile(`(\.func\s+)(` + name + `\s*[(;])`)
	call := regexp.MustCompile(`(\bcall(?:\.uni)?\s+)(` + name + `\s*[,;])`)
	var results []string
	for _, r := range def.Rets {
		results = append(results, r.String())
	}
	none := strings.TrimSuffix(strings.Repeat("_, ", len(def.Rets)), ", ")
	text = declaration.ReplaceAll(text, []byte("${1}("+strings.ReplaceAll(strings.Join(results, ", "), "$", "$$")+") ${2}"))
	return call.ReplaceAll(text, []byte("${1}("+none+"), ${2}"))
}

// noResults changes a text that knows results of a function which has none: its declaration loses them, and
// so do calls. What they were to be stored in keeps what it has.
func noResults(text []byte, def *ptx.Func) []byte {
	name := regexp.QuoteMeta(def.Name)
	declaration := regexp.MustCompile(`(\.func\s+)\([^)]*\)\s*(` + name + `\s*[(;])`)
	call := regexp.MustCompile(`(\bcall(?:\.uni)?\s+)\([^)]*\)\s*,\s*(` + name + `\s*[,;])`)
	text = declaration.ReplaceAll(text, []byte("${1}${2}"))
	return call.ReplaceAll(text, []byte("${1}${2}"))
}

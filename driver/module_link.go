package driver

// This file implements the linker. It merges PTX modules into one module and packs it into a container, because there
// is no machine code to link. The only known library is CUDA's device runtime, for which gemu has its own PTX.

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

// The parts of libcudadevrt.a that gemu has; programs may link further parts.
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
	libs   []linkInput // libraries: linked if they define a missing function
	image  []byte      // result of LinkComplete
	free   func()      // releases image; may be nil
}

// linkInput is a PTX module to link.
type linkInput struct {
	mod  *ptx.Module
	text []byte
}

// LinkInput is a kind of linker input; the numbers are those of CUjitInputType.
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

// linkLibrary adds a library, which is an archive of machine code. Only the device runtime is known; gemu's PTX
// replaces it.
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

// members lists the names of the members of an ar archive. Long names are in a table, the member "//".
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
		rest = rest[min(header+size+size%2, uint64(len(rest))):] // members begin at even offsets
		switch at, err := strconv.Atoi(strings.TrimPrefix(name, "/")); {
		case name == "//":
			long = string(data)
			continue
		case name == "/" || name == "/SYM64/":
			continue // symbol index
		case strings.HasPrefix(name, "/") && err == nil && at < len(long):
			name, _, _ = strings.Cut(long[at:], "\n")
		}
		names = append(names, strings.TrimSuffix(name, "/"))
	}
	return names, nil
}

// addInput adds a module that is always linked.
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

// link returns the linker with a handle. The caller must hold d.mu.
func (t *Thread) link(h Handle) (*Link, error) {
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	return object[*Link](t.d, h)
}

// LinkComplete is cuLinkComplete: it returns a container with the merged module, valid until LinkDestroy.
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

// headers matches the directives at the beginning of a module.
var headers = regexp.MustCompile(`(?m)^[ \t]*\.(version|target|address_size)\b[^\n]*$`)

// definition returns the function that the input defines under a name, or nil.
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

// wanted reports whether the library defines a function that the inputs miss.
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

// merge merges several modules into one: their texts in sequence, under headers that satisfy all of them, each after a
// directive for its own target (manual 11.1.2). A declaration gets the linkage of the definition in another input, and
// then resolves as within one module. Of several definitions of a function, at most one of which may be non-weak, one
// is kept. Internal symbols with a name used in several inputs are renamed. Any other duplicate is an error when the
// result is parsed.
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

// inputFunc is a function of one input. The index is needed because inputs with the same text share their parsed
// module.
type inputFunc struct {
	input int
	f     *ptx.Func
}

// definitions returns the definitions of external functions that are kept, by name: the first that is not weak, or the
// first.
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

// withoutBody turns the definition of a function into a declaration. Text before the body does not move.
func withoutBody(text []byte, f *ptx.Func) []byte {
	name, end := offset(text, f.Pos), offset(text, f.End)
	begin := name + bytes.IndexByte(text[name:], '{')
	return slices.Concat(text[:begin], []byte(";"), text[end+1:])
}

// offset returns the byte offset of a position in a text.
func offset(text []byte, pos ptx.Pos) int {
	at := 0
	for range pos.Line - 1 {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at + int(pos.Col) - 1
}

// ownNames returns new names for the internal symbols of input i whose names other inputs use, too.
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

// namePattern matches names, and the strings and comments that may contain names.
var namePattern = regexp.MustCompile(`"[^"\n]*"|//[^\n]*|(?s:/\*.*?\*/)|\.?[\w$%]+`)

// rename replaces names in a text.
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

// ownLinkage gives .extern and .weak declarations of a function the linkage of its external definition.
func ownLinkage(text []byte, def *ptx.Func) []byte {
	if def.Linkage != ptx.Visible && def.Linkage != ptx.Weak {
		return text
	}
	declaration := regexp.MustCompile(`\.(?:extern|weak)(\s+\.func\s+(?:\([^)]*\)\s*)?` + regexp.QuoteMeta(def.Name) + `\s*[(;])`)
	return declaration.ReplaceAll(text, []byte(def.Linkage.String()+"${1}"))
}

// ignoreResults adapts a text that declares a function without its results: the declaration gets the results of the
// definition, and calls ignore them. A language that does not use a result may declare the function without it.
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

// noResults adapts a text that declares results of a function that has none: the declaration and the calls lose the
// results. The variables for the results keep their values.
func noResults(text []byte, def *ptx.Func) []byte {
	name := regexp.QuoteMeta(def.Name)
	declaration := regexp.MustCompile(`(\.func\s+)\([^)]*\)\s*(` + name + `\s*[(;])`)
	call := regexp.MustCompile(`(\bcall(?:\.uni)?\s+)\([^)]*\)\s*,\s*(` + name + `\s*[,;])`)
	text = declaration.ReplaceAll(text, []byte("${1}${2}"))
	return call.ReplaceAll(text, []byte("${1}${2}"))
}

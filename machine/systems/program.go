package systems

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"gemu/machine"
	"gemu/machine/assist"
	"gemu/phases"
	"gemu/probe"
	"gemu/ptx"
)

// This file has descriptors that a program gives: .pragma directives in the PTX of its kernels, and the host's descriptors.

// hostDescriptors are the descriptors of SetHost.
var hostDescriptors atomic.Pointer[File]

// SetHost sets the descriptors of the host program of this process, in place of earlier ones; nil: none. The systems ldesc=program and
// xmem=program of all machines take them for launches that begin later. The caller must not change f.
func SetHost(f *File) { hostDescriptors.Store(f) }

// The pragmas of this package: a word, and pairs NAME=VALUE with the names of a Locality or an Atom in JSON, and param=NAME, the parameter of the
// kernel that points to the data.
const (
	pragmaPrefix   = "gemu."
	localityPragma = "gemu.locality"
	atomPragma     = "gemu.atom"
)

// program counts the descriptors of a program, for a system that takes them.
type program struct {
	name     string // name of the system
	want     string // kind of its descriptors
	word     string // pragma with such a descriptor
	launches int
	found    bool // a launch has descriptors
}

// launch counts a launch with n descriptors. A launch with wrong descriptors, whose error the user sees, is not counted.
func (p *program) launch(n int, err error) {
	if err != nil {
		return
	}
	p.launches++
	p.found = p.found || n > 0
}

// notices returns a message if no launch has descriptors.
func (p *program) notices() []string {
	if p.launches == 0 || p.found {
		return nil
	}
	return []string{fmt.Sprintf("%s has no effect: the program gives no %s for its launches. Want .pragma \"%s param=NAME …\" in the body of the kernel, or gemu_descriptors in the host program", p.name, p.want, p.word)}
}

// pragma is a descriptor in the PTX of a kernel.
type pragma struct {
	place    string // file and line
	param    string
	locality *Locality
	atom     *Atom
}

// programFile returns the descriptors that a program gives for a launch: first the host's, then the kernel's. With an error the file is empty,
// not nil.
func programFile(r *machine.Run) (*File, error) {
	out := &File{}
	if host := hostDescriptors.Load(); host != nil {
		*out = File{Locality: slices.Clone(host.Locality), Atoms: slices.Clone(host.Atoms)}
	}
	list, err := pragmasOf(r.Kernel, r.Module)
	if err != nil {
		return &File{}, err
	}
	for i := range list {
		p := &list[i]
		base, err := p.address(r.LaunchInfo)
		if err != nil {
			return &File{}, fmt.Errorf("%s: %w", p.place, err)
		}
		if p.locality != nil {
			p.locality.Data = Data{Base: base}
			out.Locality = append(out.Locality, *p.locality)
		} else {
			p.atom.Map[0].Data = Data{Base: base}
			out.Atoms = append(out.Atoms, *p.atom)
		}
	}
	if len(out.Atoms) > maxAtoms {
		return &File{}, fmt.Errorf("%d atoms of the host and of the kernel: want at most %d", len(out.Atoms), maxAtoms)
	}
	return out, nil
}

// address returns the value of the pragma's parameter.
func (p *pragma) address(l *probe.LaunchInfo) (uint64, error) {
	var names []string
	for _, v := range l.Program.Params() {
		names = append(names, v.Var.Name)
		if v.Var.Name != p.param {
			continue
		}
		var word [8]byte
		n, want := v.Var.Size(), l.Module.AddressSize/8
		if n != want || v.Offset+n > len(l.Parameters) {
			return 0, fmt.Errorf("parameter %s has %d bytes: want an address, of %d bytes", p.param, n, want)
		}
		copy(word[:], l.Parameters[v.Offset:][:n])
		base := binary.LittleEndian.Uint64(word[:])
		if base == 0 {
			return 0, fmt.Errorf("parameter %s is 0: want an address of memory", p.param)
		}
		return base, nil
	}
	return 0, fmt.Errorf("param=%s: kernel %s has no such parameter; it has %s", p.param, l.Kernel.Name, cmp.Or(strings.Join(names, ", "), "none"))
}

// pragmasOf returns the descriptors in the PTX of a kernel. It returns an error if the module has descriptors outside kernels, or the kernel has
// the pragma of an assist routine.
func pragmasOf(kernel *ptx.Func, m *ptx.Module) (list []pragma, err error) {
	for _, d := range m.Decls {
		var outside []ptx.Pragma
		switch d := d.(type) {
		case ptx.Pragma:
			outside = []ptx.Pragma{d}
		case *ptx.Func:
			if !d.Entry {
				outside = d.AllPragmas()
			}
		}
		for _, p := range outside {
			for _, text := range p.Text {
				if words := strings.Fields(text); isDescriptor(words) && words[0] != assist.Pragma && words[0] != phases.Word {
					return nil, fmt.Errorf("%s: .pragma %q is outside of a kernel: want it in the body of the kernel that has the parameter", placeOf(m, p.Pos), words[0])
				}
			}
		}
	}
	for _, d := range kernel.AllPragmas() {
		for _, text := range d.Text {
			words := strings.Fields(text)
			if !isDescriptor(words) {
				continue
			}
			word := words[0]
			if word == phases.Word {
				continue
			}
			if word == assist.Pragma {
				return nil, fmt.Errorf("%s: .pragma %q: %s is a kernel: want a .func", placeOf(m, d.Pos), word, kernel.Name)
			}
			p, err := parsePragma(words)
			p.place = placeOf(m, d.Pos)
			if err != nil {
				return nil, fmt.Errorf("%s: .pragma %q: %w", p.place, word, err)
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// isDescriptor reports whether the words of a pragma are for gemu.
func isDescriptor(words []string) bool {
	return len(words) > 0 && strings.HasPrefix(words[0], pragmaPrefix)
}

// placeOf returns the file and the line of a pragma.
func placeOf(m *ptx.Module, at ptx.Pos) string {
	return fmt.Sprintf("%s:%d", filepath.Base(m.Name), at.Line)
}

// parsePragma parses the words of a pragma.
func parsePragma(words []string) (p pragma, err error) {
	isAtom := words[0] == atomPragma
	if !isAtom && words[0] != localityPragma {
		return p, fmt.Errorf("unknown word: want %s or %s", localityPragma, atomPragma)
	}
	fields, data := map[string]json.RawMessage{}, map[string]json.RawMessage{} // of the descriptor, and of an atom's range
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case !ok || value == "":
			return p, fmt.Errorf("%s: want NAME=VALUE", word)
		case name != strings.ToLower(name): // the JSON decoder ignores case
			return p, fmt.Errorf("%s: names have small letters only: want %s", name, strings.ToLower(name))
		case slices.Contains(strings.Split(value, ","), ""):
			return p, fmt.Errorf("%s: a value of the list is missing", word)
		case fields[name] != nil || data[name] != nil || name == "param" && p.param != "":
			return p, fmt.Errorf("%s is given twice", name)
		case name == "param":
			p.param = value
		case slices.Contains([]string{"kernel", "kernels", "grid", "buffer", "base", "bytes", "map"}, name) && (isAtom || name != "map"):
			return p, fmt.Errorf("%s: the data are those of param=NAME, in the launches of this kernel", name)
		case isAtom && slices.Contains([]string{"offset", "width", "length", "height"}, name):
			data[name] = jsonOf(name, value)
		default:
			fields[name] = jsonOf(name, value)
		}
	}
	if p.param == "" {
		return p, errors.New("want param=NAME, the parameter of the kernel that points to the data")
	}
	buffer, err := json.Marshal("parameter " + p.param)
	if err != nil {
		return p, err
	}
	if !isAtom {
		p.locality = &Locality{}
		fields["buffer"] = buffer
		return p, decodeFields(fields, p.locality, p.locality.check)
	}
	data["buffer"] = buffer
	ranges, err := json.Marshal([]map[string]json.RawMessage{data})
	if err != nil {
		return p, err
	}
	fields["map"] = ranges
	p.atom = &Atom{}
	return p, decodeFields(fields, p.atom, p.atom.check)
}

// jsonOf returns the JSON of a value of a pragma: a number, true or false, a list with commas, or a string.
func jsonOf(name, value string) json.RawMessage {
	one := func(v string) json.RawMessage {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10)
		}
		if n, err := strconv.ParseUint(v, 10, 64); err == nil {
			return strconv.AppendUint(nil, n, 10)
		}
		if v == "true" || v == "false" {
			return json.RawMessage(v)
		}
		text, _ := json.Marshal(v) // strings have no errors
		return text
	}
	if name != "properties" && !strings.Contains(value, ",") {
		return one(value)
	}
	var list [][]byte
	for v := range strings.SplitSeq(value, ",") {
		list = append(list, one(v))
	}
	return json.RawMessage("[" + string(bytes.Join(list, []byte(","))) + "]")
}

// decodeFields decodes and checks a descriptor.
func decodeFields(fields map[string]json.RawMessage, to any, check func() error) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := valueError(d.Decode(to)); err != nil {
		return errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "json: "), "JSON ", "")) // the user has written no JSON
	}
	return check()
}

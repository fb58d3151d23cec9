package linker

// This file merges the texts of modules.

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gemu/ptx"
)

// Input is a PTX module to link: its parsed form and its text.
type Input struct {
	Module *ptx.Module
	Text   []byte
}

// headers matches the directives at the beginning of a module.
var headers = regexp.MustCompile(`(?m)^[ \t]*\.(version|target|address_size)\b[^\n]*$`)

// definition returns the function defined by the input under a name, or nil.
func (in *Input) definition(name string) *ptx.Func {
	if f, ok := in.Module.Lookup(name).(*ptx.Func); ok && f.Defined {
		return f
	}
	return nil
}

// missing lists the functions declared but not defined by the input.
func (in *Input) missing() []*ptx.Func {
	var list []*ptx.Func
	for _, d := range in.Module.Decls {
		if f, ok := d.(*ptx.Func); ok && in.definition(f.Name) == nil {
			list = append(list, f)
		}
	}
	return list
}

// CompletesAny reports whether the library in defines a missing function of any of the inputs.
func (in *Input) CompletesAny(inputs []Input) bool {
	for _, o := range inputs {
		for _, f := range o.missing() {
			if in.definition(f.Name) != nil {
				return true
			}
		}
	}
	return false
}

// Merge merges several modules: their texts in sequence, under headers sufficient for all of them, each after a
// directive for its own target (manual 11.1.2). A declaration gets the linkage of the definition in a different input,
// and then resolves as within a module. If several modules define a function, the first definition without .weak is kept, or
// else the first. Internal symbols with a name used in several inputs are renamed. Any other duplicate is an error when the
// result is parsed.
func Merge(inputs []Input) []byte {
	var version ptx.Version
	sm, size := 0, 0
	for _, in := range inputs {
		if version.Less(in.Module.Version) {
			version = in.Module.Version
		}
		sm, size = max(sm, in.Module.SM()), max(size, in.Module.AddressSize)
	}
	kept := definitions(inputs)
	var b bytes.Buffer
	fmt.Fprintf(&b, ".version %s\n.target sm_%d\n.address_size %d\n", version, sm, size)
	for i, in := range inputs {
		text := in.Text
		for _, d := range slices.Backward(in.Module.Decls) {
			if f, ok := d.(*ptx.Func); ok && f.Defined && f.Linkage == ptx.Weak && kept[f.Name] != (inputFunc{i, f}) {
				text = copyLinkage(withoutBody(text, f), kept[f.Name].f)
			}
		}
		text = rename(headers.ReplaceAll(text, nil), newNames(inputs, i))
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
					text = removeResults(text, def)
				}
				text = copyLinkage(text, def)
			}
		}
		fmt.Fprintf(&b, "// %s\n.target sm_%d\n", in.Module.Name, in.Module.SM())
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// inputFunc is a function of an input. The index is needed because inputs with the same text share their parsed
// module.
type inputFunc struct {
	input int
	f     *ptx.Func
}

// definitions returns the kept definitions of external functions, by name: the first without .weak, or the first.
func definitions(inputs []Input) map[string]inputFunc {
	kept := map[string]inputFunc{}
	for i, in := range inputs {
		for _, d := range in.Module.Decls {
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
	line := 0
	for range pos.Line - 1 {
		line += bytes.IndexByte(text[line:], '\n') + 1
	}
	return line + int(pos.Col) - 1
}

// newNames returns new names, by old name, for the internal symbols of input i whose names occur in other inputs, too.
func newNames(inputs []Input, i int) map[string]string {
	taken := func(name string, except int) bool {
		for j, in := range inputs {
			if j != except && in.Module.Lookup(name) != nil {
				return true
			}
		}
		return false
	}
	names := map[string]string{}
	for _, d := range inputs[i].Module.Decls {
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
		newName := func() string { return fmt.Sprintf("%s__%d", name, n) }
		for taken(newName(), -1) {
			n += len(inputs)
		}
		names[name] = newName()
	}
	return names
}

// namePattern matches names, and strings and comments, in which names may occur.
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

// copyLinkage gives .extern and .weak declarations of a function the linkage of its external definition.
func copyLinkage(text []byte, def *ptx.Func) []byte {
	if def.Linkage != ptx.Visible && def.Linkage != ptx.Weak {
		return text
	}
	declaration := regexp.MustCompile(`\.(?:extern|weak)(\s+\.func\s+(?:\([^)]*\)\s*)?` + regexp.QuoteMeta(def.Name) + `\s*[(;])`)
	return declaration.ReplaceAll(text, []byte(def.Linkage.String()+"${1}"))
}

// ignoreResults adapts a text in which a function is declared without its results: the declaration gets the results of
// the definition, and calls ignore them. A language may declare a function without an unused result.
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

// removeResults adapts a text in which a function without results is declared with results: it removes the results from
// the declaration and the calls. The variables for the results keep their values.
func removeResults(text []byte, def *ptx.Func) []byte {
	name := regexp.QuoteMeta(def.Name)
	declaration := regexp.MustCompile(`(\.func\s+)\([^)]*\)\s*(` + name + `\s*[(;])`)
	call := regexp.MustCompile(`(\bcall(?:\.uni)?\s+)\([^)]*\)\s*,\s*(` + name + `\s*[,;])`)
	text = declaration.ReplaceAll(text, []byte("${1}${2}"))
	return call.ReplaceAll(text, []byte("${1}${2}"))
}

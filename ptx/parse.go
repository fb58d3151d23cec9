package ptx

// This file turns the syntax tree of a module into IR: names become the things
// they stand for, opcodes rows of the instruction table, statements blocks.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx/internal/spell"
	"gemu/ptx/internal/syntax"
)

// maxErrors bounds the problems reported of one source.
const maxErrors = 50

// Parse reads and checks a PTX source; name is what messages call it. The
// error is an ErrorList of all problems found, at most 50.
func Parse(name string, src []byte) (*Module, error) {
	text := string(src)
	tree, synErrs := syntax.Parse(name, text)
	c := &checker{mod: &Module{Name: name, AddressSize: 32, symbols: map[string]Symbol{}, src: text}, broken: map[string]bool{}}
	for _, n := range tree.Broken {
		c.broken[n] = true
	}
	for _, e := range synErrs {
		c.report(Pos(e.Pos), e.Hint, "%s", e.Msg)
	}
	if len(synErrs) > 0 && len(tree.Items) == 0 {
		c.errs = c.errs[:1]
		c.errs[0].Msg += "; this does not look like PTX, which begins with .version"
	}
	c.module(tree)
	if len(c.errs) == 0 {
		return c.mod, nil
	}
	slices.SortStableFunc(c.errs, func(a, b *Error) int {
		if a.Pos.Line != b.Pos.Line {
			return int(a.Pos.Line - b.Pos.Line)
		}
		return int(a.Pos.Col - b.Pos.Col)
	})
	c.errs = slices.CompactFunc(c.errs, func(a, b *Error) bool { return a.Pos == b.Pos })
	lines := strings.Split(text, "\n")
	for _, e := range c.errs {
		if n := int(e.Pos.Line); n >= 1 && n <= len(lines) {
			e.Line = strings.TrimSuffix(lines[n-1], "\r")
		}
	}
	return nil, ErrorList(c.errs)
}

type checker struct {
	mod    *Module
	errs   []*Error
	broken map[string]bool // names whose declaration is bad: that is problem enough
	debug  *Section        // that a line "@@DWARF" belongs to
}

func (c *checker) report(pos Pos, hint, format string, args ...any) {
	if !c.full() {
		c.errs = append(c.errs, &Error{File: c.mod.Name, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// full reports whether no more problems are reported: there is no use in looking
// for them, nor for names that may have been meant.
func (c *checker) full() bool { return len(c.errs) >= maxErrors }

func (c *checker) errorf(pos Pos, format string, args ...any) { c.report(pos, "", format, args...) }

// unknown reports a name that stands for nothing, with what comes before it in
// the message and a name that may have been meant.
func (c *checker) unknown(pos Pos, what, name, hint string) {
	if !c.broken[name] {
		c.report(pos, hint, "%s %s", what, name)
	}
}

func (c *checker) module(tree *syntax.File) {
	m := c.mod
	// First everything that has a name, so that bodies may use it in any order.
	type pending struct {
		fn   *Func
		tree *syntax.Func
	}
	var bodies []pending
	var inits []func()
	for _, it := range tree.Items {
		pos := Pos{int32(it.Pos.Line), int32(it.Pos.Column)}
		switch {
		case it.Version != nil:
			if m.Version != (Version{}) {
				c.errorf(pos, "a second .version: a module has one")
			}
			major, minor, whole := strings.Cut(string(it.Version.Number), ".")
			m.Version.Major, _ = strconv.Atoi(major)
			m.Version.Minor, _ = strconv.Atoi(minor)
			if !whole || m.Version.Major < 1 || m.Version.Major > 99 {
				c.errorf(pos, ".version %s is no PTX ISA version: want MAJOR.MINOR", it.Version.Number)
			}
		case it.Target != nil:
			for _, name := range it.Target.Names {
				t := string(name)
				m.Target = append(m.Target, t)
				if !knownTarget(t) {
					c.report(pos, spell.Nearest(t, targetWords), "unknown target %q", t)
				}
			}
		case it.AddressSize != nil:
			switch bits := string(it.AddressSize.Bits); bits {
			case "32", "64":
				m.AddressSize, _ = strconv.Atoi(bits)
			default:
				c.errorf(pos, ".address_size %s: must be 32 or 64", bits)
			}
		case it.File != nil:
			n, _ := strconv.Atoi(string(it.File.Index))
			f := SourceFile{Index: n, Name: unquote(string(it.File.Name))}
			for _, s := range it.File.Stamp {
				f.Stamp = append(f.Stamp, string(s))
			}
			m.Files = append(m.Files, f)
		case it.Section != nil:
			c.section(string(it.Section.Name), it.Section.Body.Lines)
		case it.Dwarf != nil:
			c.dwarf(it.Dwarf)
		case it.Pragma != nil:
			var p Pragma
			for _, t := range it.Pragma.Text {
				p = append(p, unquote(string(t)))
			}
			m.Decls = append(m.Decls, p)
		case it.Alias != nil:
			a := &Alias{Pos: pos, Name: string(it.Alias.Name)}
			m.Decls = append(m.Decls, a)
			of := string(it.Alias.Of)
			inits = append(inits, func() {
				f, ok := m.symbols[of].(*Func)
				if c.broken[of] {
					return
				}
				if !ok {
					c.report(pos, spell.Nearest(of, c.symbolNames()), ".alias %s: %s is not a function", a.Name, of)
					return
				}
				a.Of = f
				m.symbols[a.Name] = f
			})
		case it.Decl != nil && it.Decl.Func != nil:
			f := c.function(it.Decl)
			if f == nil {
				continue
			}
			if it.Decl.Func.Body != nil {
				bodies = append(bodies, pending{f, it.Decl.Func})
			}
		case it.Decl != nil && it.Decl.Var != nil:
			link := c.linkage(it.Decl)
			for i, d := range it.Decl.Var.Names {
				for _, v := range c.variables(it.Decl.Var, i, link) {
					switch v.Space {
					case Global, Const, Shared:
					case RegSpace, Local, Param:
						c.errorf(v.Pos, ".%s variable %s at module level", v.Space, v.Name)
						continue
					default:
						c.errorf(v.Pos, "%s: want a state space (.global, .const or .shared)", v.Name)
						continue
					}
					c.declare(v.Pos, v.Name, v)
					m.Decls = append(m.Decls, v)
					if d.Init != nil {
						inits = append(inits, func() { c.initialiser(v, d.Init, nil) })
					}
				}
			}
		}
	}
	if m.Version == (Version{}) && len(c.errs) == 0 {
		c.errorf(Pos{1, 1}, "no .version directive: a PTX module begins with one")
	}
	for _, f := range inits {
		f()
	}
	for _, b := range bodies {
		fb := &funcBuilder{checker: c, fn: b.fn}
		fb.build(b.tree)
	}
}

// section enters a debug section.
func (c *checker) section(name string, lines []syntax.SectionLine) {
	s := &Section{Name: name}
	labels := map[string]bool{}
	for _, l := range lines {
		if l.Label != "" && labels[l.Label] {
			c.errorf(Pos(l.Pos), "label %s stands twice in %s", l.Label, name)
		}
		labels[l.Label] = true
		s.Lines = append(s.Lines, SectionLine{l.Label, l.Type, l.Values})
	}
	c.mod.Decls = append(c.mod.Decls, s)
}

// dwarf enters a line "@@DWARF …" in the debug section that the lines before it have
// begun. PTX 2.0 did away with them.
func (c *checker) dwarf(d *syntax.Dwarf) {
	switch {
	case c.mod.Version.Major >= 2:
		c.errorf(Pos(d.Pos), "@@DWARF stands only in modules before .version 2.0; want .section")
	case d.Section != "":
		c.debug = &Section{Name: d.Section}
		c.mod.Decls = append(c.mod.Decls, c.debug)
	case c.debug == nil:
		c.errorf(Pos(d.Pos), "@@DWARF %s stands in front of the first @@DWARF .section", d.Line.Type)
	default:
		c.debug.Lines = append(c.debug.Lines, SectionLine{"", d.Line.Type, d.Line.Values})
	}
}

var targetWords = []string{"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"}

func knownTarget(t string) bool {
	if slices.Contains(targetWords, t) {
		return true
	}
	digits, ok := strings.CutPrefix(t, "sm_")
	if !ok {
		digits, ok = strings.CutPrefix(t, "compute_")
	}
	digits = strings.TrimRight(digits, "af") // sm_90a, sm_100f
	_, err := strconv.ParseUint(digits, 10, 16)
	return ok && err == nil
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return strings.Trim(s, `"`)
}

func (c *checker) symbolNames() []string {
	var names []string
	for n := range c.mod.symbols {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// declare enters a module-scope name. Declarations may repeat: a function's
// prototypes before its definition, an .extern variable before its own.
func (c *checker) declare(pos Pos, name string, s Symbol) {
	old, ok := c.mod.symbols[name]
	if !ok {
		c.mod.symbols[name] = s
		return
	}
	switch s := s.(type) {
	case *Func:
		if o, ok := old.(*Func); ok && !(o.Defined && s.Defined) {
			if s.Defined || !o.Defined {
				c.mod.symbols[name] = s
			}
			return
		}
	case *Var:
		if o, ok := old.(*Var); ok && (o.Linkage == Extern || s.Linkage == Extern || s.Linkage == Common || s.Linkage == Weak) {
			if o.Linkage == Extern {
				c.mod.symbols[name] = s
			}
			return
		}
	}
	c.errorf(pos, "%s is declared twice", name)
}

func (c *checker) linkage(d *syntax.Decl) Linkage {
	link := Internal
	for _, l := range d.Linkage {
		for i, n := range linkageNames {
			if n == l && n != "" {
				if link != Internal {
					c.errorf(Pos{int32(d.Pos.Line), int32(d.Pos.Column)}, "%s and %s exclude each other", link, l)
				}
				link = Linkage(i)
			}
		}
	}
	return link
}

// function builds the head of a function and declares it.
func (c *checker) function(d *syntax.Decl) *Func {
	t := d.Func
	pos := Pos(t.Name.Pos)
	f := &Func{Pos: pos, Name: t.Name.Text, Linkage: c.linkage(d), Entry: t.Kind == ".entry", Defined: t.Body != nil, module: c.mod}
	if f.Entry && len(t.Rets) > 0 {
		c.errorf(pos, "kernel %s: an .entry has no return value", f.Name)
	}
	for _, list := range [][]*syntax.Directive{t.Attributes, t.Directives} {
		for _, dir := range list {
			if !slices.Contains(funcDirectives, dir.Name) {
				c.report(Pos(dir.Pos), spell.Nearest(dir.Name, funcDirectives), "unknown directive %s of a function", dir.Name)
				continue
			}
			f.Directives = append(f.Directives, FuncDirective{dir.Name, dir.Args})
		}
	}
	f.Rets = c.params(f, t.Rets)
	f.Params = c.params(f, t.Params)
	if old, ok := c.mod.symbols[f.Name].(*Func); ok {
		if msg := differ(old, f); msg != "" {
			c.errorf(pos, "%s differs from its declaration at line %d: %s", f.Name, old.Pos.Line, msg)
		}
	}
	c.declare(pos, f.Name, f)
	c.mod.Decls = append(c.mod.Decls, f)
	return f
}

// funcDirectives may follow (or, for .attribute, precede) a function's
// parameters (manual 11.4, 11.5).
var funcDirectives = []string{
	".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".noreturn", ".pragma", ".attribute",
	".explicitcluster", ".reqnctapercluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve", ".abi_preserve_control", ".unified", ".local_maxnreg",
}

// differ says in what the heads of two functions of one name differ, "" if
// they agree.
func differ(a, b *Func) string {
	if a.Entry != b.Entry {
		return "one is an .entry, the other a .func"
	}
	if len(a.Params) != len(b.Params) {
		return fmt.Sprintf("%d parameters against %d", len(a.Params), len(b.Params))
	}
	if len(a.Rets) != len(b.Rets) {
		return fmt.Sprintf("%d return values against %d", len(a.Rets), len(b.Rets))
	}
	for i := range a.Params {
		if a.Params[i].Size() != b.Params[i].Size() {
			return fmt.Sprintf("parameter %d has %d bytes against %d", i, a.Params[i].Size(), b.Params[i].Size())
		}
	}
	for i := range a.Rets {
		if a.Rets[i].Size() != b.Rets[i].Size() {
			return fmt.Sprintf("the return value has %d bytes against %d", a.Rets[i].Size(), b.Rets[i].Size())
		}
	}
	return ""
}

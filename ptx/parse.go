package ptx

// This file turns the syntax tree of a module into IR. It resolves names to variables, functions and blocks, opcodes to
// rows of the instruction table, and statements to blocks.

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"gemu/internal/notation"
	"gemu/ptx/internal/syntax"
)

// maxErrors bounds the number of problems reported for a source.
const maxErrors = 50

// Parse reads and checks a PTX source; messages use name for it. The error is an ErrorList of the problems found, at
// most 50 (maxErrors).
func Parse(name string, src []byte) (*Module, error) { return ParseString(name, string(src)) }

// ParseString is Parse for a string, which the module keeps.
func ParseString(name, text string) (*Module, error) {
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

// checker builds a module from a syntax tree, and collects the problems.
type checker struct {
	mod    *Module
	errs   []*Error
	broken map[string]bool // names with an invalid declaration: their uses are not reported
	instrs operandSlab[Instr]
	ops    operandSlab[Operand]
	debug  *Section // the section to which the next data line "@@DWARF" belongs; nil before the first section
	sm     int      // NN of sm_NN in the latest .target; 0 if there is none

	unresolved []func()      // initialisers and aliases, to be resolved after all declarations
	bodies     []unbuiltBody // bodies of functions, to be built after all declarations
}

// unbuiltBody is a function with a body that is not built yet.
type unbuiltBody struct {
	fn   *Func
	body *syntax.Body
}

// report adds a problem, unless the limit is reached; hint is the probably intended word, "" if unknown.
func (c *checker) report(pos Pos, hint, format string, args ...any) {
	if !c.full() {
		c.errs = append(c.errs, &Error{File: c.mod.Name, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// full reports whether the limit of reported problems is reached. The checker then stops searching for problems and for
// similar names.
func (c *checker) full() bool { return len(c.errs) >= maxErrors }

// errorf is report without a hint.
func (c *checker) errorf(pos Pos, format string, args ...any) { c.report(pos, "", format, args...) }

// unknown reports an undefined name; noun precedes it in the message, and hint is a similar name.
func (c *checker) unknown(pos Pos, noun, name, hint string) {
	if !c.broken[name] {
		c.report(pos, hint, "%s %s", noun, name)
	}
}

// module builds the module: first all declarations, because initialisers, aliases and bodies can use names in any order.
func (c *checker) module(tree *syntax.File) {
	m := c.mod
	for _, item := range tree.Items {
		c.item(item)
	}
	if m.Version == (Version{}) && len(c.errs) == 0 {
		c.errorf(Pos{1, 1}, "no .version directive: a PTX module begins with one")
	}
	for _, resolve := range c.unresolved {
		resolve()
	}
	c.buildBodies()
	if len(c.errs) == 0 {
		var funcs []*Func
		for _, b := range c.bodies {
			funcs = append(funcs, b.fn)
		}
		m.findPending(funcs)
	}
}

// bytesPerBuilder is the size of the bodies, in bytes of text, that make a further goroutine worth its start.
const bytesPerBuilder = 1 << 15

// buildBodies builds the bodies of functions, several at a time. A body uses only declarations of the module and of its own, so
// the problems are the same in any order of the bodies.
func (c *checker) buildBodies() {
	size := 0
	for _, b := range c.bodies {
		size += b.body.Size()
	}
	problems := make([][]*Error, len(c.bodies)) // by body
	var next atomic.Int64
	build := func() {
		own := *c // has the module's declarations, and memory and problems of its own
		own.instrs, own.ops = operandSlab[Instr]{}, operandSlab[Operand]{}
		for i := next.Add(1) - 1; i < int64(len(c.bodies)); i = next.Add(1) - 1 {
			own.errs, own.broken = slices.Clone(c.errs), maps.Clone(c.broken)
			fb := &funcBuilder{checker: &own, fn: c.bodies[i].fn}
			fb.build(c.bodies[i].body)
			problems[i] = own.errs[len(c.errs):]
		}
	}
	inParallel(min(runtime.GOMAXPROCS(0), len(c.bodies), 1+size/bytesPerBuilder), build)
	for _, list := range problems {
		c.errs = append(c.errs, list[:min(len(list), max(0, maxErrors-len(c.errs)))]...)
	}
}

// inParallel runs f n times at the same time. A panic of f becomes a panic of the caller.
func inParallel(n int, f func()) {
	if n <= 1 {
		f()
		return
	}
	panics := make(chan any, n)
	call := func() {
		defer func() { panics <- recover() }()
		f()
	}
	for range n - 1 {
		go call()
	}
	call()
	for range n {
		if p := <-panics; p != nil {
			panic(p)
		}
	}
}

// item adds a module-level statement.
func (c *checker) item(item *syntax.Item) {
	m := c.mod
	pos := Pos{int32(item.Pos.Line), int32(item.Pos.Column)}
	switch {
	case item.Version != nil:
		c.version(pos, string(item.Version.Number))
	case item.Target != nil:
		c.target(pos, item.Target)
	case item.AddressSize != nil:
		switch bits := string(item.AddressSize.Bits); bits {
		case "32", "64":
			m.AddressSize, _ = strconv.Atoi(bits)
		default:
			c.errorf(pos, ".address_size %s: must be 32 or 64", bits)
		}
	case item.File != nil:
		n, _ := strconv.Atoi(string(item.File.Index))
		f := SourceFile{Index: n, Name: strings.Clone(unquote(string(item.File.Name)))}
		for _, s := range item.File.Stamp {
			f.Stamp = append(f.Stamp, string(s))
		}
		m.Files = append(m.Files, f)
	case item.Section != nil:
		c.section(string(item.Section.Name), item.Section.Body.Lines)
	case item.Sources != nil:
		c.sources(item.Sources.Body.Blocks)
	case item.Dwarf != nil:
		c.dwarf(item.Dwarf)
	case item.Pragma != nil:
		p := Pragma{Pos: pos}
		for _, t := range item.Pragma.Text {
			p.Text = append(p.Text, unquote(string(t)))
		}
		m.Decls = append(m.Decls, p)
	case item.Alias != nil:
		c.alias(pos, item.Alias)
	case item.Decl != nil:
		c.declaration(item.Decl)
	}
}

// version sets the module's version.
func (c *checker) version(pos Pos, number string) {
	v := &c.mod.Version
	if *v != (Version{}) {
		c.errorf(pos, "a second .version: a module has only one")
	}
	major, minor, whole := strings.Cut(number, ".")
	v.Major, _ = strconv.Atoi(major)
	v.Minor, _ = strconv.Atoi(minor)
	if !whole || v.Major < 1 || v.Major > 99 {
		c.errorf(pos, ".version %s is not a PTX ISA version: want MAJOR.MINOR", number)
	}
}

// target adds the targets of a directive to the module.
func (c *checker) target(pos Pos, d *syntax.Target) {
	c.sm = 0
	for _, name := range d.Names {
		t := string(name)
		if !slices.Contains(c.mod.Target, t) {
			c.mod.Target = append(c.mod.Target, t)
		}
		if !knownTarget(t) {
			c.report(pos, notation.Nearest(t, targetWords), "unknown target %q", t)
		}
		if c.sm == 0 {
			c.sm = smOf([]string{t})
		}
	}
}

// alias adds an alias; its function is looked up after all declarations.
func (c *checker) alias(pos Pos, d *syntax.Alias) {
	a := &Alias{Pos: pos, Name: strings.Clone(string(d.Name))}
	c.mod.Decls = append(c.mod.Decls, a)
	target := string(d.Target)
	c.unresolved = append(c.unresolved, func() {
		f, ok := c.mod.symbols[target].(*Func)
		if c.broken[target] {
			return
		}
		if !ok {
			c.report(pos, notation.Nearest(target, c.symbolNames()), ".alias %s: %s is not a function", a.Name, target)
			return
		}
		a.Target = f
		c.mod.symbols[a.Name] = f
	})
}

// declaration adds a kernel, a function, or the variables of a declaration.
func (c *checker) declaration(d *syntax.Decl) {
	link := c.linkage(d)
	switch {
	case d.Entry != nil:
		f := c.kernel(d.Entry, link)
		if d.Entry.Body != nil {
			c.bodies = append(c.bodies, unbuiltBody{f, d.Entry.Body})
		}
	case d.Func != nil:
		f := c.function(d.Func, link)
		if d.Func.Body != nil {
			c.bodies = append(c.bodies, unbuiltBody{f, d.Func.Body})
		}
	case d.Var != nil:
		for i := range d.Var.Names {
			c.moduleVariables(d.Var, i, link)
		}
	}
}

// moduleVariables adds the variables of declarator i of a module-level declaration.
func (c *checker) moduleVariables(d *syntax.Var, i int, link Linkage) {
	n := &d.Names[i]
	if d.IsRegister() {
		if v := c.variable(d, i, link); v != nil {
			c.static(v, n)
		}
		return
	}
	for _, v := range c.variables(d, i, link) {
		switch v.Space {
		case Global, Const, Shared:
		case Local:
			c.static(v, n)
			continue
		case Param:
			c.errorf(v.Pos, ".param variable %s is not allowed at module level", v.Name)
			continue
		default:
			c.errorf(v.Pos, "%s: want a state space (.global, .const or .shared)", v.Name)
			continue
		}
		c.declare(v.Pos, v.Name, v)
		c.mod.Decls = append(c.mod.Decls, v)
		if n.Init != nil {
			c.unresolved = append(c.unresolved, func() { c.initialiser(v, n.Init, nil) })
		}
	}
}

// sources adds a section of intermediate sources.
func (c *checker) sources(blocks []syntax.SourceBlock) {
	s := &Sources{}
	for _, b := range blocks {
		if !slices.ContainsFunc(c.mod.Files, func(f SourceFile) bool { return f.Index == int(b.File) }) {
			c.errorf(Pos(b.Pos), ".sourceFileName: .file %d must be declared before", b.File)
		}
		s.Blocks = append(s.Blocks, SourceBlock{unquote(b.Name), int(b.File), b.Text})
	}
	c.mod.Decls = append(c.mod.Decls, s)
}

// section adds a debug section.
func (c *checker) section(name string, lines []syntax.SectionLine) {
	s := &Section{Name: name}
	labels := map[string]bool{}
	for _, l := range lines {
		if l.Label != "" && labels[l.Label] {
			c.errorf(Pos(l.Pos), "label %s occurs twice in %s", l.Label, name)
		}
		labels[l.Label] = true
		s.Lines = append(s.Lines, SectionLine{l.Label, l.Type, l.Values})
	}
	c.mod.Decls = append(c.mod.Decls, s)
}

// dwarf adds a line "@@DWARF …" to the debug section begun by an earlier line. PTX 2.0 removed these lines.
func (c *checker) dwarf(d *syntax.Dwarf) {
	switch {
	case c.mod.Version.Major >= 2:
		c.errorf(Pos(d.Pos), "@@DWARF is allowed only before .version 2.0; use .section")
	case d.Section != "":
		c.debug = &Section{Name: d.Section}
		c.mod.Decls = append(c.mod.Decls, c.debug)
	case c.debug == nil:
		c.errorf(Pos(d.Pos), "@@DWARF %s must follow an @@DWARF .section", d.Line.Type)
	default:
		c.debug.Lines = append(c.debug.Lines, SectionLine{"", d.Line.Type, d.Line.Values})
	}
}

// targetWords lists the words of .target other than sm_NN and compute_NN.
var targetWords = []string{"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"}

// knownTarget reports whether t is a word of .target; it accepts any number NN.
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

// unquote returns the text of a string in quotation marks. If its escapes are invalid, it only removes the marks.
func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return strings.Trim(s, `"`)
}

// symbolNames returns the names declared so far at module level, sorted.
func (c *checker) symbolNames() []string {
	var names []string
	for n := range c.mod.symbols {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// declare adds a module-scope name. A function may be declared again as a prototype. A variable may be declared again if a
// declaration is .extern, or if the new one is .common or .weak.
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

// linkage returns the linkage of a declaration, and reports a second one.
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

// static adds a module-level variable in .local or .reg space, of which each thread has an instance of its own. PTX
// before 3.0 has such variables.
func (c *checker) static(v *Var, d *syntax.Declarator) {
	if !c.mod.Version.Less(Version{3, 0}) {
		c.errorf(v.Pos, ".%s variable %s is not allowed at module level", v.Space, v.Name)
		return
	}
	c.mod.statics = append(c.mod.statics, static{v, d})
}

// kernel builds the signature of a kernel and declares it.
func (c *checker) kernel(t *syntax.Entry, link Linkage) *Func {
	f := &Func{Pos: Pos(t.Name.Pos), Name: strings.Clone(t.Name.Text), Linkage: link, Entry: true, Defined: t.Body != nil, SM: c.sm, module: c.mod}
	for _, d := range t.Directives {
		c.directive(f, &d.Directive)
	}
	c.head(f, nil, t.Params)
	return f
}

// function builds the signature of a device function and declares it.
func (c *checker) function(t *syntax.Func, link Linkage) *Func {
	f := &Func{Pos: Pos(t.Name.Pos), Name: strings.Clone(t.Name.Text), Linkage: link, Defined: t.Body != nil, SM: c.sm, module: c.mod}
	for _, a := range t.Attributes {
		f.Directives = append(f.Directives, FuncDirective{Pos(a.Pos), a.Name, a.Args})
	}
	for _, d := range t.Directives {
		c.directive(f, d)
	}
	if link == Common || link == Extern && f.Defined {
		c.errorf(f.Pos, "%s: an .extern function cannot have a body, and a function cannot be .common", f.Name)
	}
	if _, never := f.Directive(".noreturn"); never && len(t.Rets) > 0 {
		c.errorf(f.Pos, "%s: a .noreturn function cannot have a return value", f.Name)
	}
	c.head(f, t.Rets, t.Params)
	return f
}

// head builds the parameters of a function and declares it.
func (c *checker) head(f *Func, rets, params []*syntax.Param) {
	f.Rets = c.params(f, rets)
	f.Params = c.params(f, params)
	if old, ok := c.mod.symbols[f.Name].(*Func); ok {
		if f.Linkage == Internal && !old.Defined && (old.Linkage == Visible || old.Linkage == Weak) {
			f.Linkage = old.Linkage // the behaviour of NVIDIA's assembler; the manual does not define it
		}
		if msg := signatureMismatch(old, f); msg != "" {
			c.errorf(f.Pos, "%s differs from its declaration at line %d: %s", f.Name, old.Pos.Line, msg)
		}
	}
	c.declare(f.Pos, f.Name, f)
	c.mod.Decls = append(c.mod.Decls, f)
}

// directive checks a directive of a function and adds it to the function.
func (c *checker) directive(f *Func, d *syntax.Directive) {
	pos := Pos(d.Pos)
	i := slices.IndexFunc(funcDirectives, func(k funcDirective) bool { return k.name == d.Name })
	if i < 0 {
		var names []string
		for _, k := range funcDirectives {
			names = append(names, k.name)
		}
		c.report(pos, notation.Nearest(d.Name, names), "unknown directive %s of a function", d.Name)
		return
	}
	k := &funcDirectives[i]
	switch {
	case f.Entry && !k.kernel:
		c.errorf(pos, "directive %s is not allowed for a kernel", d.Name)
	case !f.Entry && !k.device:
		c.errorf(pos, "directive %s is allowed only for kernels", d.Name)
	case len(d.Args) < k.min || len(d.Args) > k.max:
		want := strconv.Itoa(k.min)
		if k.max > k.min {
			want += " to " + strconv.Itoa(k.max)
		}
		c.errorf(pos, "%s has %s, want %s", d.Name, counted(len(d.Args), "argument"), want)
	case k.abolished != (Version{}) && !c.mod.Version.Less(k.abolished):
		c.errorf(pos, "%s is allowed only before .version %s", d.Name, k.abolished)
	default:
		args := make([]string, len(d.Args))
		for i, a := range d.Args {
			args[i] = a
			if strings.HasPrefix(a, `"`) {
				switch {
				case d.Name == ".language" && !slices.Contains(languageNames(), strings.ToLower(strings.Trim(a, `"`))):
					c.errorf(pos, ".language %s: want one of \"%s\"", a, strings.Join(languageNames(), `", "`))
				case d.Name != ".language" && d.Name != ".pragma":
					c.errorf(pos, "%s: bad argument %s, want a number", d.Name, a)
				}
				continue
			}
			n, err := strconv.ParseUint(strings.TrimSuffix(a, "U"), 0, 32)
			args[i] = strconv.FormatUint(n, 10)
			switch {
			case d.Name == ".pragma":
				c.errorf(pos, "%s: bad argument %s, want a string", d.Name, a)
			case d.Name == ".language" && (err != nil || n > 10):
				c.errorf(pos, ".language %s: want a number from 0 to 10, or a name", a)
			case err != nil:
				c.errorf(pos, "%s %s: want a number below 2^32", d.Name, a)
			case k.positive && n == 0:
				c.errorf(pos, "%s: want a positive number", d.Name)
			}
		}
		for _, other := range k.excludes {
			if _, found := f.Directive(other); found {
				c.errorf(pos, "%s and %s exclude each other", other, d.Name)
			}
		}
		f.Directives = append(f.Directives, FuncDirective{pos, d.Name, args})
	}
}

// funcDirective is a directive permitted after a function's parameters.
type funcDirective struct {
	name           string
	kernel, device bool // allowed for kernels, for device functions
	min, max       int  // number of arguments
	positive       bool // arguments must not be zero
	excludes       []string
	abolished      Version // the first version without it
}

// funcDirectives lists the directives of functions (manual 11.4, 11.5).
var funcDirectives = []funcDirective{
	{name: ".maxnreg", kernel: true, min: 1, max: 1, positive: true},
	{name: ".maxntid", kernel: true, min: 1, max: 3, positive: true, excludes: []string{".reqntid"}},
	{name: ".reqntid", kernel: true, min: 1, max: 3, positive: true, excludes: []string{".maxntid"}},
	{name: ".minnctapersm", kernel: true, min: 1, max: 1, positive: true},
	{name: ".maxnctapersm", kernel: true, min: 1, max: 1, abolished: Version{2, 1}},
	{name: ".pragma", kernel: true, min: 1, max: 1 << 16},
	{name: ".explicitcluster", kernel: true},
	{name: ".reqnctapercluster", kernel: true, min: 1, max: 3, excludes: []string{".maxclusterrank"}},
	{name: ".maxclusterrank", kernel: true, min: 1, max: 1, excludes: []string{".reqnctapercluster"}},
	{name: ".blocksareclusters", kernel: true},
	{name: ".minperctamemory", kernel: true, min: 1, max: 1},
	{name: ".language", kernel: true, device: true, min: 1, max: 1 << 16},
	{name: ".noreturn", device: true},
	{name: ".abi_preserve", device: true, min: 1, max: 1},
	{name: ".abi_preserve_control", device: true, min: 1, max: 1},
	{name: ".local_maxnreg", kernel: true, device: true, min: 1, max: 1},
}

// signatureMismatch returns the difference between two declarations of a function, "" if they agree. The message calls
// a "there" and b "here".
func signatureMismatch(a, b *Func) string {
	if a.Entry != b.Entry {
		return "one is an .entry, the other a .func"
	}
	if a.Linkage != b.Linkage {
		return "the linkages differ"
	}
	if len(a.Params) != len(b.Params) {
		return fmt.Sprintf("%d parameters there, %d here", len(a.Params), len(b.Params))
	}
	if len(a.Rets) != len(b.Rets) {
		return fmt.Sprintf("%d return values there, %d here", len(a.Rets), len(b.Rets))
	}
	for i := range a.Params {
		if a.Params[i].Space != b.Params[i].Space {
			return fmt.Sprintf("parameter %d is in .%s space there, .%s here", i, a.Params[i].Space, b.Params[i].Space)
		}
		if a.Params[i].Size() != b.Params[i].Size() {
			return fmt.Sprintf("parameter %d has %d bytes there, %d here", i, a.Params[i].Size(), b.Params[i].Size())
		}
		if a.Params[i].Alignment() != b.Params[i].Alignment() {
			return fmt.Sprintf("parameter %d is aligned to %s there, %d here", i, counted(a.Params[i].Alignment(), "byte"), b.Params[i].Alignment())
		}
	}
	for i := range a.Rets {
		if a.Rets[i].Size() != b.Rets[i].Size() {
			return fmt.Sprintf("the return value has %d bytes there, %d here", a.Rets[i].Size(), b.Rets[i].Size())
		}
		if a.Rets[i].Alignment() != b.Rets[i].Alignment() {
			return fmt.Sprintf("the return value is aligned to %s there, %d here", counted(a.Rets[i].Alignment(), "byte"), b.Rets[i].Alignment())
		}
	}
	return ""
}

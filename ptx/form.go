package ptx

// This file reads the notation of the instruction table (see table.go) and matches written opcodes against it.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"gemu/internal/notation"
)

// Op is one mnemonic of PTX with all its forms in the manual.
type Op struct {
	Name string // mnemonic without modifiers, such as "add"

	rows  []row     // rows of the instruction table, in its order
	once  sync.Once // reads forms from rows
	forms []*Form
}

// Forms returns the forms of the mnemonic in the order of the instruction table. An opcode belongs to the first form that
// matches it.
func (o *Op) Forms() []*Form {
	o.once.Do(o.readForms)
	return o.forms
}

// Form is one line of a mnemonic's syntax in the manual: modifiers, which are literal words or slots, and operands.
type Form struct {
	Op      *Op     // mnemonic of the form
	Syntax  string  // opcode and operands in the table's notation, without the parts after the first semicolon
	Section string  // section of the manual, such as "9.7.9.8"
	Class   Class   // functional unit
	Affine  Affine  // affine rule; AffineNone if it never executes compactly
	Family  Family  // lowering function; FamilyNone if gemu does not run the form
	Effects Effects // effects apart from writing destinations
	MinPTX  Version // first .version with the form; zero if all have it
	MinSM   int     // number of the first sm_NN with the form; zero if all have it
	MaxPTX  Version // for an abolished form, the last .version with the form for all targets; else zero
	MaxSM   int     // for an abolished form, the last sm_NN with the form in every .version

	// Newer lists the constants added to an operand by later versions and targets.
	Newer []NewerConstants

	// Undocumented forms are missing in the manual, but NVIDIA's assembler accepts them.
	Undocumented bool

	mods  []modSpec
	named int // number of leading mods that belong to the instruction's name and keep their order: 1 in mul.lo!.type
	// Operands follow the order of the syntax. A pair d|p counts as two operands, an address of several parts as one.
	// Operands is nil if the form has none.
	Operands []OperandSpec
}

// notRun maps a mnemonic to the reason why gemu does not run its forms with FamilyNone.
var notRun = map[string]string{
	"fabric": "gemu does not support logical endpoints",
}

// NotRun returns the reason why gemu does not run the form, for messages after the instruction's name. It is "" if gemu
// runs the form, or if there is nothing to add to the name.
func (f *Form) NotRun() string {
	if f.Family != FamilyNone {
		return ""
	}
	return notRun[f.Op.Name]
}

// NewerConstants states the .version and sm_NN required by constants from Smallest on as an operand.
type NewerConstants struct {
	Operand  string  // name of the operand in the form
	Smallest int64   // smallest of the newer constants; each larger constant is newer, too
	MinPTX   Version // first .version with these constants
	MinSM    int     // number of the first sm_NN with these constants
}

// Since returns the first .version and the first sm_NN with the instruction and its constants.
func (instr *Instr) Since() (Version, int) {
	version, sm := instr.Form.MinPTX, instr.Form.MinSM
	for _, n := range instr.Form.Newer {
		if o := instr.Arg(n.Operand); o.Kind != ImmOperand || int64(o.Imm.Bits) < n.Smallest {
			continue
		}
		sm = max(sm, n.MinSM)
		if version.Less(n.MinPTX) {
			version = n.MinPTX
		}
	}
	return version, sm
}

// modSpec is one modifier of a form: a literal (.sync) or a slot (.rnd).
type modSpec struct {
	slot     string // "" for a literal
	values   []string
	optional bool
	joined   bool // optional, and present only together with the modifier before it
}

// Variant is one written opcode, a mnemonic with its modifiers such as "ld.global.nc.v4.f32", matched with its form.
// Variants are shared: equal texts give the same *Variant.
type Variant struct {
	Text  string   // opcode as written, without guard and operands
	Op    *Op      // mnemonic with all its forms
	Form  *Form    // form of the mnemonic that the modifiers select
	mods  []string // as written
	slots []string // one for each modSpec; "" if an optional modifier is absent
	types []Type   // one for each operand
}

// Mnemonic returns the opcode without modifiers.
func (v *Variant) Mnemonic() string { return v.Op.Name }

// Has reports whether the variant has the modifier mod, which is given without its dot.
func (v *Variant) Has(mod string) bool { return slices.Contains(v.mods, mod) }

// Canonical returns the opcode with its modifiers in the order of the form.
func (v *Variant) Canonical() string {
	var b strings.Builder
	b.WriteString(v.Op.Name)
	for _, s := range v.slots {
		if s != "" {
			b.WriteByte('.')
			b.WriteString(s)
		}
	}
	return b.String()
}

// Slot returns the modifier in the named slot of the form, "" if there is none.
func (v *Variant) Slot(name string) string {
	for i := range v.Form.mods {
		if v.Form.mods[i].slot == name && v.slots[i] != "" {
			return v.slots[i]
		}
	}
	return ""
}

// SlotType returns the type in the named slot ("type", "dtype", "atype" …).
func (v *Variant) SlotType(name string) Type { return TypeByName(v.Slot(name)) }

// Type returns the instruction type: the "type" slot, else the last modifier that is a type, else NoType.
func (v *Variant) Type() Type {
	if t := v.SlotType("type"); t != NoType {
		return t
	}
	for i := len(v.mods) - 1; i >= 0; i-- {
		if t := TypeByName(v.mods[i]); t != NoType {
			return t
		}
	}
	return NoType
}

// Types returns the modifiers that are types, in the order of the form; for mma the types of D, A, B and C.
func (v *Variant) Types() (list []Type) {
	for _, s := range v.slots {
		if t := TypeByName(s); t != NoType {
			list = append(list, t)
		}
	}
	return list
}

// Conversion returns the types to and from which cvt converts: the last two of Types.
func (v *Variant) Conversion() (to, from Type) {
	list := v.Types()
	return list[len(list)-2], list[len(list)-1]
}

// OperandType returns the required type of the i-th operand; NoType for addresses and labels, and for operands that may
// have any type.
func (v *Variant) OperandType(i int) Type {
	if i < len(v.types) {
		return v.types[i]
	}
	return NoType
}

// Space returns the state space of the variant, with its sub-qualifier ("cta", "entry" …); Generic if it names none.
func (v *Variant) Space() (Space, string) {
	for _, m := range v.mods {
		if s, sub, ok := spaceByName(m); ok {
			return s, sub
		}
	}
	return Generic, ""
}

// VecLen returns the number of elements of .v2, .v4 and .v8; 1 without such a modifier.
func (v *Variant) VecLen() int {
	switch {
	case v.Has("v2"):
		return 2
	case v.Has("v4"):
		return 4
	case v.Has("v8"):
		return 8
	}
	return 1
}

// commonSlots are the modifier sets shared by many forms. A form may define its own slot of the same name.
var commonSlots = map[string]string{
	"rnd":   "rn rz rm rp",
	"scope": "cta cluster gpu sys",
	"vec":   "v2 v4 v8",
	"l1":    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
	"l2":    "L2::evict_normal L2::evict_first L2::evict_last",
	"hint":  "L2::cache_hint",
	"pf":    "L2::64B L2::128B L2::256B",
	"cmp":   "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
	"bool":  "and or xor",
	"smem":  "shared shared::cta shared::cluster",
	// The report of a bulk copy to its mbarrier (manual 9.7.9.25.1.3).
	"report": "mbarrier::report::disabled mbarrier::report::validity::per_16bytes::80000000 mbarrier::report::validity::per_16bytes::8000 " +
		"mbarrier::report::validity::per_16bytes::80 mbarrier::report::validity::per_16bytes::8 mbarrier::report::validity::per_element::ff",
}

// parseForm reads one line of table notation:
//
//	setp.cmp.bool{.ftz}.type p|q?:pred, a, b, !c:pred; .type = f32 f64; ptx 7.0; sm 80
//	mad.f32 d, a, b, c; until ptx 3.1 sm 13
//	addc.type d, a, b; .type = u16 s16; undocumented
//	tensormap.field [a], #b=0..15; .field = elemtype; ptx 8.3; sm 90; b 13 ptx 8.7 sm 100
//
// In the last line the constants of b from 13 on need a newer version and target.
//
// The opcode lists modifiers in the manual's order. Braces enclose optional modifiers; modifiers in the same braces are
// present together or not at all ({.sem.scope}). A name defined by a ".name = values" part or by commonSlots is a slot,
// any other name is literal. Modifiers up to a "!" belong to the instruction's name, and keep their order before the
// remaining modifiers (mul.lo!.type).
//
// The operands:
//
//	d, p, q        are written (manual 9.2) unless they are addresses; +d is also read; all other operands are read
//	_d             may be the sink _
//	a?             may be left out
//	a?slot         is present exactly if that slot is filled
//	d|p            are a pair
//	[a]            is an address; [a, b] an address of several parts
//	<a>            is a vector {…} with the length of .vec; a register without .vec
//	<a*4>          is a vector of four registers
//	<a*1>          is one register, with braces or without
//	<a*num>        has the number of registers in the slot num; <a*2num> twice as many; <a*num/4> a quarter, rounded up
//	<a*xyz>        has one register for each coordinate of the .geom slot, except an index
//	<a*geom>       has one register for each coordinate; indices are always .u32
//	<a*dhw>        has two registers fewer than the .dim slot has dimensions; <a*dim-1> one fewer
//	<a*>           has any number of registers
//	               (<a*geom> and optional <a*xyz> may be longer: two or four elements)
//	<a*mk>         has the registers that hold one lane's part of a matrix of m×k elements, distributed over a warp
//	<a*4mk>        the same for four such matrices; <a*mk/2> for half a matrix
//	a or <a*4>     has one shape or the other; of two vectors, the second applies if the first written element is a
//	               register with the width of the second's type
//	#a             is a constant of the encoding
//	&a, &*a        is a label; a list of labels
//	(a)            are the arguments or results of a call
//	a=0..1, #a=128 allows only these constants; a=0..64/8 allows 0, 8, 16 … 64
//	%a, %<a*4>     must not be a constant
//	%%a            must be neither a constant nor a sum of a register and a constant
//	!a, -a         may be negated
//	!!a            may be negated according to NVIDIA's assembler; the manual does not mention it
//	@a             may be the address of a variable or function
//	a.sel          may select bytes or halves: a.b0
//	a:type         has the type of that name, or the type in the slot of that name
//	[a]:space      is an address in the state space of that name, or in the space in the slot of that name
//	[a]:u32        is an address in an integer or untyped register of that width, and not the address of a
//	               variable; [a]:b32 in an untyped register
//	a:type+        may be in a wider register
//	a:type-        must not be in a register of floats or halves, unless the type is a float
//	a:type!        is in an untyped register
//	a:type*2       has the integer type with twice the width
//	a:any          has any type
//	a:int          is an integer or untyped register of 32 or 64 bits
//
// By default an operand has the type in the .type slot.
func parseForm(line string) (*Form, error) {
	parts := strings.Split(line, ";")
	f := &Form{Syntax: strings.Join(strings.Fields(parts[0]), " ")}
	slots := map[string]string{}
	for _, p := range parts[1:] {
		p = strings.TrimSpace(p)
		switch {
		case strings.HasPrefix(p, "."):
			name, vals, ok := strings.Cut(p[1:], "=")
			if !ok {
				return nil, fmt.Errorf("%q: want .name = values", p)
			}
			slots[strings.TrimSpace(name)] = vals
		case strings.HasPrefix(p, "ptx "):
			if _, err := fmt.Sscanf(p, "ptx %d.%d", &f.MinPTX.Major, &f.MinPTX.Minor); err != nil {
				return nil, err
			}
		case strings.HasPrefix(p, "sm "):
			if _, err := fmt.Sscanf(p, "sm %d", &f.MinSM); err != nil {
				return nil, err
			}
		case p == "undocumented":
			f.Undocumented = true
		case strings.HasPrefix(p, "until "):
			if _, err := fmt.Sscanf(p, "until ptx %d.%d sm %d", &f.MaxPTX.Major, &f.MaxPTX.Minor, &f.MaxSM); err != nil {
				return nil, err
			}
		default:
			var n NewerConstants
			if _, err := fmt.Sscanf(p, "%s %d ptx %d.%d sm %d", &n.Operand, &n.Smallest, &n.MinPTX.Major, &n.MinPTX.Minor, &n.MinSM); err != nil {
				return nil, fmt.Errorf("unknown part %q", p)
			}
			f.Newer = append(f.Newer, n)
		}
	}
	opcode, operands, _ := strings.Cut(f.Syntax, " ")
	f.Syntax = strings.Replace(f.Syntax, "!", "", strings.Count(opcode, "!"))
	i := strings.IndexAny(opcode, ".{")
	if i < 0 {
		i = len(opcode)
	}
	inside := false // within braces
	for rest := opcode[i:]; rest != ""; {
		m := modSpec{optional: inside, joined: inside}
		if rest[0] == '{' {
			m.optional = true
			rest = rest[1:]
		}
		if rest[0] != '.' {
			return nil, fmt.Errorf("%q: want a modifier", rest)
		}
		n := strings.IndexAny(rest[1:], ".{}!")
		if n < 0 {
			n = len(rest) - 1
		}
		name := rest[1 : n+1]
		rest = rest[n+1:]
		inside = m.optional && !strings.HasPrefix(rest, "}")
		rest = strings.TrimPrefix(rest, "}")
		named := strings.HasPrefix(rest, "!")
		rest = strings.TrimPrefix(rest, "!")
		vals, isSlot := slots[name]
		if !isSlot {
			vals, isSlot = commonSlots[name]
		}
		if isSlot {
			m.slot, m.values = name, strings.Fields(vals)
			if strings.Contains(vals, ".") {
				return nil, fmt.Errorf("slot %s: a value with a dot", name)
			}
		} else {
			m.values = []string{name}
		}
		f.mods = append(f.mods, m)
		if named {
			f.named = len(f.mods)
		}
	}
	var err error
	if operands != "" {
		f.Operands, err = parseOperands(f, operands)
	}
	return f, err
}

// HasSlot reports whether the form has the named slot.
func (f *Form) HasSlot(name string) bool {
	return slices.ContainsFunc(f.mods, func(m modSpec) bool { return m.slot == name })
}

// Operand returns the index of the operand with this name, -1 if the form has none.
func (f *Form) Operand(name string) int {
	return slices.IndexFunc(f.Operands, func(o OperandSpec) bool { return o.Name == name })
}

// Abolished reports whether only modules of old versions or targets have the form.
func (f *Form) Abolished() bool { return f.MaxPTX != Version{} }

// supports reports whether a module may use the form. Only abolished forms are rejected: a form too new for the
// module's .version or .target is accepted.
func (m *Module) supports(f *Form) bool {
	return !f.Abolished() || !f.MaxPTX.Less(m.Version) || m.SM() <= f.MaxSM
}

// repeatable lists the modifiers with possible repetitions: NVIDIA's assembler accepts shfl.sync.sync.
var repeatable = []string{"NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"}

// kindOf returns the kind of a modifier: type, state space, matrix layout or bit operation. Modifiers of one kind keep
// their order. It returns 0 for all other modifiers.
func kindOf(mod string) int {
	_, _, isSpace := spaceByName(mod)
	switch {
	case TypeByName(mod) != NoType || mod == "b8x16" || mod == "b6x16_p32" || mod == "b4x16_p64":
		return 1
	case isSpace:
		return 2
	case mod == "row" || mod == "col":
		return 3
	case mod == "and" || mod == "xor" || mod == "popc":
		return 4
	}
	return 0
}

// match tries to place the modifiers in the form. Modifiers of the instruction's name come first, in their order. Every
// further modifier takes the first permitted free place, so they may come in any order, as in the manual's own examples;
// only modifiers of one kind (kindOf) keep their order. slots has the modifier placed at each modSpec. invalid is the
// index of the first modifier without a place, or len(mods) if all have a place. ok is false if a modifier has no place,
// or if a required modifier is missing.
func (f *Form) match(mods []string) (slots []string, invalid int, ok bool) {
	slots = make([]string, len(f.mods))
	named := 0
	for j := range f.mods[:f.named] {
		if named < len(mods) && slices.Contains(f.mods[j].values, mods[named]) {
			slots[j] = mods[named]
			named++
		}
	}
	next := [5]int{} // for each kind, the place after the last modifier of this kind
	for i := named; i < len(mods); i++ {
		m := mods[i]
		kind := kindOf(m)
		place, first := -1, max(f.named, next[kind])
		for j := first; j < len(f.mods); j++ {
			if slots[j] == "" && slices.Contains(f.mods[j].values, m) {
				place = j
				break
			}
		}
		switch {
		case place >= 0:
		case slices.Contains(repeatable, m) && slices.Contains(slots, m):
			continue
		default:
			return slots, i, false
		}
		if kind > 0 {
			next[kind] = place + 1
		}
		slots[place] = m
	}
	for j := range f.mods {
		if f.isMissing(slots, j) {
			return slots, len(mods), false
		}
	}
	return slots, len(mods), true
}

// isMissing reports whether the j-th modifier is absent although the form or a joined modifier requires it.
func (f *Form) isMissing(slots []string, j int) bool {
	if slots[j] != "" {
		return false
	}
	return !f.mods[j].optional || f.mods[j].joined && slots[j-1] != "" || j+1 < len(slots) && f.mods[j+1].joined && slots[j+1] != ""
}

// opcodeError is the reason why an opcode text matches no form.
type opcodeError struct {
	msg  string
	hint string // the probably intended word, "" if unknown
}

var (
	variantMu sync.RWMutex
	variants  = map[string]*Variant{}
)

// lookupVariant resolves an opcode text such as "add.rn.f32". It runs for every instruction, so it caches its results.
func lookupVariant(text string) (*Variant, *opcodeError) {
	variantMu.RLock()
	v := variants[text]
	variantMu.RUnlock()
	if v != nil {
		return v, nil
	}
	v, err := resolveVariant(text, func(*Form) bool { return true })
	if err != nil {
		return nil, err
	}
	variantMu.Lock()
	defer variantMu.Unlock()
	if w := variants[text]; w != nil {
		return w, nil
	}
	v.Text = strings.Clone(text) // do not keep the source alive
	for i := range v.mods {
		v.mods[i] = strings.Clone(v.mods[i])
	}
	for i := range v.slots {
		v.slots[i] = strings.Clone(v.slots[i])
	}
	variants[v.Text] = v
	return v, nil
}

// resolveVariant matches an opcode text with the first form for which allow returns true.
func resolveVariant(text string, allow func(*Form) bool) (*Variant, *opcodeError) {
	name, rest, _ := strings.Cut(text, ".")
	op := opByName[name]
	if op == nil {
		return nil, &opcodeError{fmt.Sprintf("unknown instruction %q", name), notation.Nearest(name, opNames)}
	}
	var mods []string
	if rest != "" {
		mods = strings.Split(rest, ".")
	}
	var forms []*Form
	for _, f := range op.Forms() {
		if !allow(f) {
			continue
		}
		slots, _, ok := f.match(mods)
		if ok {
			v := &Variant{Text: text, Op: op, Form: f, mods: mods, slots: slots}
			v.types = make([]Type, len(f.Operands))
			for i := range f.Operands {
				v.types[i] = v.specType(&f.Operands[i])
			}
			return v, nil
		}
		forms = append(forms, f)
	}
	invalid, missing := nearestForm(forms, mods)
	if invalid == len(mods) {
		return nil, &opcodeError{msg: fmt.Sprintf("%s: missing %s", text, oneOf(missing))}
	}
	msg := fmt.Sprintf("%s: modifier .%s is not allowed", text, mods[invalid])
	if invalid > 0 {
		msg += " after " + name + "." + strings.Join(mods[:invalid], ".")
	}
	candidates := replacements(forms, mods, invalid)
	hint := notation.Nearest(mods[invalid], candidates)
	if hint != "" {
		hint = "." + hint
	} else if c := unique(candidates); len(c) > 0 && len(c) <= 16 {
		msg += ", want " + oneOf(c)
	}
	return nil, &opcodeError{msg, hint}
}

// nearestForm returns the problem of the nearest of forms, none of which matches the modifiers: invalid is the index of the
// first modifier without a place or, if all have a place, len(mods); then missing lists the candidates for the first
// missing modifier. The nearest form places the most modifiers before the first invalid one; if it places all, a form with
// fewer missing literal modifiers is nearer.
func nearestForm(forms []*Form, mods []string) (invalid int, missing []string) {
	bestScore := math.MinInt
	var completions []string // candidates for the missing modifier of all forms that miss only one
	for _, f := range forms {
		slots, placed, _ := f.match(mods)
		score := 2 * placed
		var absent []*modSpec // required modifiers that are missing
		if placed == len(mods) {
			score++
			for j := range f.mods {
				if m := &f.mods[j]; f.isMissing(slots, j) {
					absent = append(absent, m)
					if m.slot == "" {
						score -= 2
					}
				}
			}
			if len(absent) == 1 {
				completions = append(completions, absent[0].values...)
			}
		}
		if score > bestScore {
			invalid, bestScore, missing = placed, score, nil
			if len(absent) > 0 {
				missing = absent[0].values
			}
		}
	}
	if len(completions) > 0 {
		missing = unique(completions)
	}
	return invalid, missing
}

// replacements lists the modifiers that could replace mods[invalid], the first modifier without a place.
func replacements(forms []*Form, mods []string, invalid int) (candidates []string) {
	for _, f := range forms {
		slots, placed, _ := f.match(mods[:invalid])
		if placed < invalid {
			continue
		}
		lastType := -1
		for j, s := range slots {
			if TypeByName(s) != NoType {
				lastType = j
			}
		}
		for j, m := range f.mods {
			late := slices.Contains(m.values, mods[invalid]) // the modifier is valid, but only before another one
			if slots[j] == "" && !late && (j > lastType || TypeByName(m.values[0]) == NoType) {
				candidates = append(candidates, m.values...)
			}
		}
	}
	return candidates
}

// unique removes repeated words; the first occurrence stays.
func unique(list []string) []string {
	var words []string
	for _, s := range list {
		if !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	return words
}

// oneOf returns the text ".rn", or "one of .rn .rz", of a message about possible modifiers.
func oneOf(values []string) string {
	s := "." + strings.Join(values, " .")
	if len(values) > 1 {
		return "one of " + s
	}
	return s
}

// Variants lists variants of the form: every choice of each slot at least once, and every combination of its type
// slots; optional modifiers are first left out and then added one at a time. The coverage listing ("gemu isa") counts and
// prints these variants.
func (f *Form) Variants() []*Variant {
	var texts []string
	// build completes text with choices for the modifiers from i on. free is the number of optional modifiers or
	// non-first choices that it may still add, apart from types.
	var build func(i int, text string, free int)
	build = func(i int, text string, free int) {
		if i == len(f.mods) {
			texts = append(texts, text)
			return
		}
		m := f.mods[i]
		isType := m.slot != "" && TypeByName(m.values[0]) != NoType
		if m.optional && !m.joined {
			next := i + 1
			for next < len(f.mods) && f.mods[next].joined {
				next++
			}
			build(next, text, free)
			if free == 0 {
				return
			}
			free--
		}
		for j, val := range m.values {
			switch {
			case isType || j == 0:
				build(i+1, text+"."+val, free)
			case free > 0:
				build(i+1, text+"."+val, free-1)
			}
		}
	}
	build(0, f.Op.Name, 1)
	seen := map[string]bool{}
	var list []*Variant
	for _, t := range texts {
		if seen[t] {
			continue
		}
		seen[t] = true
		if v, err := lookupVariant(t); err == nil {
			list = append(list, v)
		}
	}
	return list
}

// FormsOf returns the forms of a complete or partial opcode: "ld.global.v4.f32" has the single matching form,
// "cp.async.bulk" all forms with these modifiers. The error names the unknown word and the nearest known word.
func FormsOf(opcode string) ([]*Form, error) {
	name, rest, modified := strings.Cut(opcode, ".")
	op := opByName[name]
	if op == nil {
		msg := "unknown instruction " + opcode
		if hint := notation.Nearest(name, opNames); hint != "" {
			msg += fmt.Sprintf(" (did you mean %s?)", hint)
		}
		return nil, errors.New(msg)
	}
	if !modified {
		return op.Forms(), nil
	}
	v, err := LookupVariant(opcode)
	if err == nil {
		return []*Form{v.Form}, nil
	}
	mods := strings.Split(rest, ".")
	having := func(mods []string) (list []*Form) {
		for _, f := range op.Forms() {
			if _, placed, _ := f.match(mods); placed == len(mods) {
				list = append(list, f)
			}
		}
		return list
	}
	if list := having(mods); list != nil {
		return list, nil
	}
	// The last word may be incomplete.
	before, last := mods[:len(mods)-1], mods[len(mods)-1]
	for _, f := range having(before) {
		for _, m := range f.mods {
			for _, word := range m.values {
				if strings.HasPrefix(word, last) && having(append(slices.Clone(before), word)) != nil {
					return nil, fmt.Errorf("unknown instruction %s (did you mean .%s?)", opcode, word)
				}
			}
		}
	}
	return nil, fmt.Errorf("unknown instruction %w", err)
}

// LookupVariant resolves an opcode text such as "mad.lo.s32". The error is nil exactly if the instruction table has the
// opcode.
func LookupVariant(text string) (*Variant, error) {
	v, e := lookupVariant(text)
	if e == nil {
		return v, nil
	}
	msg := e.msg
	if e.hint != "" {
		msg += fmt.Sprintf(" (did you mean %s?)", e.hint)
	}
	return nil, fmt.Errorf("%s", msg)
}

package recount

// This file is the machine of Kim et al. 2013, tables 1 and 3, by docs/value-structure.md: what an instruction may be
// computed compactly of goes by its mnemonic as the PTX manual has it, in lists of this file, and whether its result
// can be stored compactly is tried on the lanes, one after the other.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/ptx"
)

// Machine is a probe that runs it.
type Machine struct {
	Leaves bool // lanes that have ended are nowhere (kim-leaves)
	FGSIMT bool // of table 3: branches by uniform values only, affine loads with unit stride only
	Wide   bool // any arithmetic on uniform operands (kim-wide)
	Const  bool // uniform loads of constant memory, too (kim-const)

	Lines  map[int32]*MachineCounts // by line of the PTX
	Errors []string                 // where lanes do not have what the machine would store

	*MachineCounts                         // of the instruction
	warps          map[[2]int]*machineWarp // by CTA and warp
	written        []int                   // bytes of the registers that the instruction has written, predicates left out
}

// MachineCounts are counts of instructions executed by warps, but for Lanes.
type MachineCounts struct {
	Instructions, Lanes          int
	LongLatency, Control, Memory int
	Divergent                    int
	Compact, Suppressed          int
	Compares                     int // of the compact ones
	Expansions                   int
	Reads, CompactReads          int
	Writes, CompactWrites        int
	Branches, Decided            int // conditional; by compact predicates
	DecidedAffine                int // by comparing an affine value
	Loads, CompactLoads          int // not of parameters
	AffineLoads                  int
	Stores                       int
	Int, FP, Params              int
}

// Total adds up the lines.
func (m *Machine) Total() (n MachineCounts) {
	for _, line := range m.Lines {
		to, from := reflect.ValueOf(&n).Elem(), reflect.ValueOf(line).Elem()
		for i := range to.NumField() {
			to.Field(i).SetInt(to.Field(i).Int() + from.Field(i).Int())
		}
	}
	return n
}

// Differences are lines whose instruction has other counts in a structure, and where lanes do not have what would be
// stored.
func (m *Machine) Differences(s *interp.Structure) (list []string) {
	for _, in := range s.Instrs {
		line := MachineCounts{}
		if m.Lines[in.Pos.Line] != nil {
			line = *m.Lines[in.Pos.Line]
		}
		counted := line // but for what a structure counts
		counted.Instructions, counted.Lanes, counted.Divergent = int(in.Execs), int(in.Counts.Lanes), int(in.Diverged)
		counted.Compact, counted.Suppressed, counted.Expansions = int(in.Compact), int(in.Suppressed), int(in.Expansions)
		counted.Branches, counted.Decided, counted.DecidedAffine = int(in.Branches), int(in.Decided), int(in.Counts.Affine)
		counted.Reads, counted.CompactReads = int(in.Reads.Total()), int(in.Reads.Compact())
		counted.Writes, counted.CompactWrites = int(in.Writes.Total()), int(in.Writes.Compact())
		if counted != line {
			list = append(list, fmt.Sprintf("line %d, %s: %+v, again %+v", in.Pos.Line, in.Format(in.Func), counted, line))
		}
	}
	return append(list, m.Errors[:min(3, len(m.Errors))]...)
}

// machineWarp is a warp: its registers that are compact, by depth, function and number.
type machineWarp struct {
	launched, here uint64
	compact        map[string]compact
	decided        map[string]*[64]decided // predicates, by lane
}

// decided is a predicate of a lane that a comparison of compact values has given, one of an affine value or not.
type decided struct{ yes, affine, value bool }

// compact is what an affine register holds: base + lane·stride modulo 2^bits.
type compact struct {
	base, stride uint64
	bits         int
}

func (c compact) lane(i int) uint64 { return modulo(c.base+uint64(i)*c.stride, c.bits) }

func modulo(v uint64, bits int) uint64 {
	if bits < 64 {
		v %= 1 << bits
	}
	return v
}

// signed is a value of so many bits as a signed number.
func signed(v uint64, bits int) int64 {
	v = modulo(v, bits)
	if bits < 64 && v >= 1<<(bits-1) {
		return int64(v) - 1<<bits
	}
	return int64(v)
}

// Wants are all instructions in order.
func (m *Machine) Wants() interp.Wants {
	return interp.Wants{Events: interp.OnWarp | interp.OnAfter | interp.OnExit, Values: true, InOrder: true}
}

// CTA has nothing of its own.
func (m *Machine) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink { return m }

// Tell executes an instruction.
func (m *Machine) Tell(e *interp.Event) {
	if m.warps == nil {
		m.warps, m.Lines = map[[2]int]*machineWarp{}, map[int32]*MachineCounts{}
	}
	at := [2]int{e.CTA, e.Warp}
	switch e.Kind {
	case interp.OnWarp:
		m.warps[at] = &machineWarp{e.Lanes, e.Lanes, map[string]compact{}, map[string]*[64]decided{}}
	case interp.OnExit:
		m.warps[at].here &^= e.Lanes
	case interp.OnAfter:
		if e.CTA >= 0 && e.Warp >= 0 {
			m.instruction(e, m.warps[at])
		}
	}
}

// instruction counts an instruction, and says what its results are.
func (m *Machine) instruction(e *interp.Event, w *machineWarp) {
	words := strings.Split(e.Instr.Text, ".")
	name, kind := words[0], words[len(words)-1]
	width := 0 // in bits
	if len(kind) > 1 {
		fmt.Sscan(kind[1:], &width)
	}
	float := strings.HasPrefix(kind, "f")
	space, _ := e.Instr.Space()
	control := slices.Contains([]string{"bra", "brx", "call", "ret", "exit"}, name)
	memory := slices.Contains([]string{"ld", "ldu", "st", "atom", "red", "prefetch"}, name)
	special := slices.Contains([]string{"div", "rem", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"}, name)
	multiply := slices.Contains([]string{"mul", "mad", "mul24", "mad24"}, name) && !float
	arithmetic := float && slices.Contains([]string{"add", "sub", "mul", "fma", "mad", "neg", "abs", "min", "max"}, name)
	converts := name == "cvt" && (float || strings.HasPrefix(words[len(words)-2], "f"))
	compares := name == "setp" || name == "set"
	floats := arithmetic || converts // comparisons are none (section 3.2)

	if m.Lines[e.Instr.Pos.Line] == nil {
		m.Lines[e.Instr.Pos.Line] = &MachineCounts{}
	}
	m.MachineCounts = m.Lines[e.Instr.Pos.Line]
	m.Instructions++
	m.written = nil
	for i := range 64 {
		m.Lanes += int(e.Active >> i & 1)
	}
	together := w.launched
	if m.Leaves {
		together = w.here
	}
	if e.Active != together {
		m.Divergent++
	}
	if multiply || special || floats {
		m.LongLatency++
	}
	switch {
	case control:
		m.Control++
	case memory:
		m.Memory++
	case floats || special && float:
		m.FP++
	default:
		m.Int++
	}
	if name == "ld" && space == ptx.Param {
		m.Params++
	}
	key := func(r ptx.RegID) string { return fmt.Sprint(e.Depth, " ", e.Func.Name, " ", r) }
	if name == "bra" && e.Instr.Guard.Reg != ptx.NoReg {
		m.Branches++
		p := w.decided[key(e.Instr.Guard.Reg)]
		first, all, affine := -1, p != nil, false
		for i := range 64 {
			if e.Active>>i&1 == 0 || p == nil {
				continue
			}
			if first < 0 {
				first = i
			}
			all = all && p[i].yes && p[i].value == p[first].value
			affine = affine || p[i].affine
		}
		if all {
			m.Decided++
			if affine {
				m.DecidedAffine++
			}
		}
	}
	if e.Lanes == 0 || control {
		return
	}
	for _, v := range e.Reads {
		if v.Type == ptx.Pred {
			continue
		}
		m.Reads++
		if _, ok := w.compact[key(v.Reg)]; ok {
			m.CompactReads++
		}
	}
	first := 0 // lane
	for e.Lanes>>first&1 == 0 {
		first++
	}
	n := 0 // lanes launched
	for w.launched>>n&1 != 0 {
		n++
	}

	// source gives an operand's lanes; ok is false if it is not compact.
	type lanesOf struct {
		v       []uint64
		uniform bool
		ok      bool
	}
	source := func(o *ptx.Operand, t ptx.Type) (s lanesOf) {
		s.v, s.ok = make([]uint64, n), true
		switch o.Kind {
		case ptx.ImmOperand:
			for i := range s.v {
				s.v[i] = o.Imm.As(t)
			}
		case ptx.RegOperand:
			if p := w.decided[key(o.Reg)]; p != nil {
				for i := range p {
					s.ok = s.ok && (e.Lanes>>i&1 == 0 || p[i].yes && p[i].value == p[first].value)
				}
				break
			}
			c, ok := w.compact[key(o.Reg)]
			s.ok = ok
			for i := range s.v {
				s.v[i] = c.lane(i)
			}
		case ptx.SRegOperand:
			of := e.Launch.Block
			for i := range s.v {
				thread := e.Warp*e.Launch.WarpSize + i
				v, ok := map[string]int{
					"%tid.x": thread % of.X, "%tid.y": thread / of.X % of.Y, "%tid.z": thread / of.X / of.Y,
					"%ntid.x": of.X, "%ntid.y": of.Y, "%ntid.z": of.Z,
					"%ctaid.x": e.ID.X, "%ctaid.y": e.ID.Y, "%ctaid.z": e.ID.Z,
					"%nctaid.x": e.Launch.Grid.X, "%nctaid.y": e.Launch.Grid.Y, "%nctaid.z": e.Launch.Grid.Z,
				}[o.SReg.String()]
				s.v[i], s.ok = uint64(v), s.ok && ok
			}
		case ptx.SymOperand: // whatever it is, it is so in all lanes
			for i := range s.v {
				s.v[i] = e.Writes[0].Low[first]
			}
		default:
			s.ok = false
		}
		s.uniform = s.ok
		for i := range s.v {
			s.uniform = s.uniform && s.v[i] == s.v[0]
		}
		return s
	}

	if memory {
		address := -1
		for i := range e.Instr.Ops {
			if e.Instr.Ops[i].Kind == ptx.AddrOperand {
				address = i
			}
		}
		var at lanesOf
		if o := &e.Instr.Ops[address]; o.Reg == ptx.NoReg {
			at = lanesOf{uniform: true, ok: true}
		} else {
			at = source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.U64)
		}
		size := map[string]int{"8": 1, "16": 2, "32": 4, "64": 8}[kind[1:]]
		if space != ptx.Param {
			switch {
			case name == "ld" && at.uniform:
				m.Loads, m.CompactLoads = m.Loads+1, m.CompactLoads+1
			case name == "ld" && at.ok && (!m.FGSIMT || size <= 4 && n > 1 && signed(at.v[1]-at.v[0], 32) == int64(size)):
				m.Loads, m.CompactLoads, m.AffineLoads = m.Loads+1, m.CompactLoads+1, m.AffineLoads+1
			case name == "ld":
				m.Loads++
			case name == "st":
				m.Stores++
			}
		}
		uniform := name == "ld" && (space == ptx.Param || m.Const && space == ptx.Const && at.uniform)
		for i := range e.Writes {
			m.write(e, w, key(e.Writes[i].Reg), &e.Writes[i], nil, uniform)
		}
		m.results(e, w, uniform)
		return
	}

	var in []lanesOf
	uniform, all, affine := true, true, 0
	for i := range e.Instr.Ops {
		o := &e.Instr.Ops[i]
		if !e.Instr.IsSource(i) {
			continue
		}
		s := source(o, e.Instr.OperandType(i))
		in = append(in, s)
		uniform, all = uniform && s.uniform, all && s.ok
		if s.ok && !s.uniform {
			affine++
		}
	}
	if compares {
		known := uniform && len(in) == 2
		if all && affine == 1 && len(in) == 2 && !float && !m.FGSIMT {
			one, many := in[0], in[1]
			if !one.uniform {
				one, many = many, one
			}
			less := func(x, y uint64) bool {
				if kind[0] == 's' {
					return signed(x, width) < signed(y, width)
				}
				return x < y
			}
			above, below, up, down := true, true, true, true
			last := -1 // the lane before
			for i, v := range many.v {
				if m.Leaves && w.here>>i&1 == 0 {
					continue
				}
				above, below = above && less(v, one.v[0]), below && less(one.v[0], v)
				if last >= 0 { // what wraps round in the type is no progression there
					up, down = up && less(many.v[last], v), down && less(v, many.v[last])
				}
				last = i
			}
			known = (above || below) && (up || down)
		}
		m.decide(e, w, key, known, affine > 0)
		if known { // in a mask, for whatever lanes there are
			m.Compact++
			m.Compares++
		}
		return
	}
	of := false // predicates that come of comparing affine values
	for _, v := range e.Reads {
		if p := w.decided[key(v.Reg)]; p != nil {
			of = of || p[first].affine
		}
	}
	other := slices.Contains([]string{"bar", "barrier", "membar", "fence", "shfl", "vote", "match", "activemask", "redux"}, name)
	if len(e.Writes) > 0 && e.Writes[0].Type == ptx.Pred {
		known := uniform && (name == "mov" || m.Wide && !other)
		m.decide(e, w, key, known, of)
		if known {
			m.Compact++
		}
		return
	}
	var result func(i int) uint64 // of a lane's sources; nil: whatever uniform operands give
	can := false
	bits := 0
	if len(e.Writes) > 0 {
		bits = e.Writes[0].Type.Bits()
	}
	wide := slices.Contains(words, "wide")
	extend := func(v uint64) uint64 { // of the instruction's type
		if strings.HasPrefix(kind, "s") {
			return uint64(signed(v, width))
		}
		return modulo(v, width)
	}
	// climbs: the numbers do not wrap round in the instruction's type, so that in a wider one they are a progression, too.
	climbs := func(o lanesOf) bool {
		step := int64(extend(o.v[1%n])) - int64(extend(o.v[0]))
		for i := 1; i < n; i++ {
			if int64(extend(o.v[i]))-int64(extend(o.v[i-1])) != step {
				return false
			}
		}
		return true
	}
	switch {
	case name == "mov":
		can, result = all && len(in) == 1, func(i int) uint64 { return in[0].v[i] }
	case float && arithmetic:
		can = uniform
	case float || converts:
	case name == "add":
		can, result = all, func(i int) uint64 { return in[0].v[i] + in[1].v[i] }
	case name == "sub":
		can, result = all, func(i int) uint64 { return in[0].v[i] - in[1].v[i] }
	case name == "mul" && (wide || words[1] == "lo"):
		can, result = all && (in[0].uniform || in[1].uniform) && (!wide || climbs(in[0]) && climbs(in[1])), func(i int) uint64 { return extend(in[0].v[i]) * extend(in[1].v[i]) }
	case name == "mad" && (wide || words[1] == "lo"):
		can, result = all && (in[0].uniform || in[1].uniform) && (!wide || climbs(in[0]) && climbs(in[1])), func(i int) uint64 { return extend(in[0].v[i])*extend(in[1].v[i]) + in[2].v[i] }
	case name == "mul" || name == "mad":
		can = uniform
	case name == "shl":
		can, result = all && in[1].uniform, func(i int) uint64 {
			if in[1].v[i] >= uint64(width) {
				return 0
			}
			return in[0].v[i] << in[1].v[i]
		}
	case name == "shr":
		by := func(i int) uint64 { return min(in[1].v[i], 63) }
		can, result = all && in[1].uniform, func(i int) uint64 {
			if kind[0] == 's' {
				return uint64(signed(in[0].v[i], width) >> by(i))
			}
			return modulo(in[0].v[i], width) >> by(i)
		}
		for i := range n { // exact in the stride
			can = can && modulo(in[0].v[i]-in[0].v[0], width)%(1<<by(i)) == 0
		}
	case name == "cvt":
		can, result = all, func(i int) uint64 { return extend(in[0].v[i]) }
	case name == "cvta":
		can, result = all, func(i int) uint64 {
			if in[0].v[first] == 0 && !in[0].uniform {
				return in[0].v[i]
			}
			return in[0].v[i] + e.Writes[0].Low[first] - in[0].v[first]
		}
	}
	if m.Wide && uniform && !can && !other && name != "mov" {
		can, result = true, nil
	}
	var values []uint64
	if can && result != nil {
		for i := range n {
			values = append(values, modulo(result(i), bits))
		}
		bits := max(bits, 32) // a register of 16 bits is held in 32: what wraps round is not affine
		stride := uint64(0)
		if n > 1 {
			stride = modulo(values[1]-values[0], bits)
		}
		for i := range n {
			can = can && values[i] == modulo(values[0]+uint64(i)*stride, bits)
		}
		if s := signed(stride, bits); s < -1<<15 || s >= 1<<15 {
			can = false
		}
	}
	for i := range e.Writes {
		m.write(e, w, key(e.Writes[i].Reg), &e.Writes[i], values, can)
	}
	m.results(e, w, can)
}

// whole reports whether what is written stays compact: without a guard, and by all that were launched.
func (m *Machine) whole(e *interp.Event, w *machineWarp) bool {
	together := w.launched
	if m.Leaves {
		together = w.here
	}
	return e.Active == together && e.Instr.Guard.Reg == ptx.NoReg
}

// results counts an instruction whose results can be compact, or not.
func (m *Machine) results(e *interp.Event, w *machineWarp, can bool) {
	switch {
	case len(e.Writes) == 0 || !can:
	case m.whole(e, w):
		m.Compact++
	default:
		m.Suppressed++
	}
}

// decide has predicates written, which are masks: a lane's is known by a comparison of compact values.
func (m *Machine) decide(e *interp.Event, w *machineWarp, key func(ptx.RegID) string, known, affine bool) {
	for _, v := range e.Writes {
		p := w.decided[key(v.Reg)]
		if p == nil {
			p = &[64]decided{}
			w.decided[key(v.Reg)] = p
		}
		first := 0
		for e.Lanes>>first&1 == 0 {
			first++
		}
		for i := range p {
			switch {
			case e.Lanes>>i&1 != 0:
				p[i] = decided{known, affine, v.Low[i]&1 != 0}
			case known && p[i].value != (v.Low[first]&1 != 0): // the mask is of one value
				p[i] = decided{}
			}
		}
	}
}

// write has a register written; values are nil if it is uniform, or not compact.
func (m *Machine) write(e *interp.Event, w *machineWarp, key string, v *interp.Value, values []uint64, can bool) {
	whole := m.whole(e, w)
	if _, was := w.compact[key]; was && !whole {
		m.Expansions++
	}
	delete(w.compact, key)
	m.Writes++
	words := max(1, v.Type.Bits()/32)
	if !can || !whole {
		m.written = append(m.written, 4*words*e.Launch.WarpSize)
		return
	}
	m.CompactWrites++
	bytes := 4 * words // a base; and a stride of 16 bits
	if len(values) > 1 && values[1] != values[0] {
		bytes += 2
	}
	m.written = append(m.written, bytes)
	first := 0
	for e.Lanes>>first&1 == 0 {
		first++
	}
	c := compact{bits: max(32, v.Type.Bits())}
	c.base = modulo(v.Low[first], v.Type.Bits())
	if len(values) > 1 {
		c.base, c.stride = values[0], values[1]-values[0]
	}
	for i := range 64 {
		if e.Lanes>>i&1 != 0 && modulo(v.Low[i], v.Type.Bits()) != c.lane(i) {
			m.Errors = append(m.Errors, fmt.Sprintf("%s of line %d: lane %d has %#x, stored is %#x", e.Instr.Text, e.Instr.Pos.Line, i, v.Low[i], c.lane(i)))
			break
		}
	}
	w.compact[key] = c
}

package recount

// This file has the machine of Kim et al. 2013, tables 1 and 3, by docs/kim2013.md. Lists of mnemonics of the PTX
// manual decide which instructions can execute compactly. Whether a result can be stored compactly is tested on the
// lanes, in sequence.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// Machine is a probe that runs the machine.
type Machine struct {
	IgnoresExited bool // ignores lanes that have ended (kim-leaves)
	FGSIMT        bool // machine of table 3: only branches by uniform values, only affine loads with unit stride
	Wide          bool // any arithmetic on uniform operands is compact (kim-wide)
	Const         bool // uniform loads of constant memory are compact, too (kim-const)

	Lines  map[int32]*MachineCounts // by line of the PTX
	Errors []string                 // places where lanes differ from the stored compact value

	*MachineCounts                         // counts of the current instruction
	warps          map[[2]int]*machineWarp // by CTA and warp
	written        []int                   // bytes of the registers that the current instruction has written, without predicates
}

// MachineCounts counts warp instructions; Lanes counts lanes.
type MachineCounts struct {
	Instructions, Lanes          int
	LongLatency, Control, Memory int
	Divergent                    int
	Compact, Suppressed          int
	Compares                     int // comparisons among Compact
	Materialisations             int
	Reads, CompactReads          int
	Writes, CompactWrites        int
	Branches, Decided            int // conditional branches; branches by compact predicates
	DecidedAffine                int // branches by a comparison of an affine value
	Loads, CompactLoads          int // without loads of parameters
	AffineLoads                  int
	Stores                       int
	Int, FP, Params              int
}

// Total adds up the lines.
func (m *Machine) Total() (n MachineCounts) {
	for _, line := range m.Lines {
		total, from := reflect.ValueOf(&n).Elem(), reflect.ValueOf(line).Elem()
		for i := range total.NumField() {
			total.Field(i).SetInt(total.Field(i).Int() + from.Field(i).Int())
		}
	}
	return n
}

// Differences lists lines whose counts differ from a Structure's, and places where lanes differ from the stored value.
func (m *Machine) Differences(s *structure.Structure) (list []string) {
	for _, instr := range s.Instrs {
		line := MachineCounts{}
		if m.Lines[instr.Pos.Line] != nil {
			line = *m.Lines[instr.Pos.Line]
		}
		counted := line // with the counts of the structure
		counted.Instructions, counted.Lanes, counted.Divergent = int(instr.Execs), int(instr.Counts.Lanes), int(instr.Diverged)
		counted.Compact, counted.Suppressed, counted.Materialisations = int(instr.Compact), int(instr.Suppressed), int(instr.Materialisations)
		counted.Branches, counted.Decided, counted.DecidedAffine = int(instr.Branches), int(instr.Decided), int(instr.Counts.Affine)
		counted.Reads, counted.CompactReads = int(instr.Reads.Total()), int(instr.Reads.Compact())
		counted.Writes, counted.CompactWrites = int(instr.Writes.Total()), int(instr.Writes.Compact())
		if counted != line {
			list = append(list, fmt.Sprintf("line %d, %s: %+v, again %+v", instr.Pos.Line, instr.Format(instr.Func), counted, line))
		}
	}
	return append(list, m.Errors[:min(3, len(m.Errors))]...)
}

// machineWarp is the state of a warp: its compact registers and known predicates, by depth, function and number.
type machineWarp struct {
	launched, running uint64
	compact           map[string]compact
	decided           map[string]*[64]predicateOrigin // predicates, by lane
}

// predicateOrigin describes a lane's predicate: it is known if it comes from a comparison of compact values, and affine
// if either was affine.
type predicateOrigin struct{ known, affine, value bool }

// compact is the content of a compact register: base + lane·stride modulo 2^bits.
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

// signed returns a value of the given number of bits as a signed number.
func signed(v uint64, bits int) int64 {
	v = modulo(v, bits)
	if bits < 64 && v >= 1<<(bits-1) {
		return int64(v) - 1<<bits
	}
	return int64(v)
}

// Subscription selects all instructions, in order.
func (m *Machine) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnWarp | probe.OnAfter | probe.OnExit, Values: true, InOrder: true}
}

// CTA returns the probe itself for all CTAs.
func (m *Machine) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return m }

// OnEvent executes an instruction.
func (m *Machine) OnEvent(e *probe.Event) {
	if m.warps == nil {
		m.warps, m.Lines = map[[2]int]*machineWarp{}, map[int32]*MachineCounts{}
	}
	key := [2]int{e.CTA, e.Warp}
	switch e.Kind {
	case probe.OnWarp:
		m.warps[key] = &machineWarp{e.Lanes, e.Lanes, map[string]compact{}, map[string]*[64]predicateOrigin{}}
	case probe.OnExit:
		m.warps[key].running &^= e.Lanes
	case probe.OnAfter:
		if e.CTA >= 0 && e.Warp >= 0 {
			m.countInstruction(e, m.warps[key])
		}
	}
}

// countInstruction counts an instruction and determines its results.
func (m *Machine) countInstruction(e *probe.Event, w *machineWarp) {
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
	floats := arithmetic || converts // without comparisons (section 3.2)

	if m.Lines[e.Instr.Pos.Line] == nil {
		m.Lines[e.Instr.Pos.Line] = &MachineCounts{}
	}
	m.MachineCounts = m.Lines[e.Instr.Pos.Line]
	m.Instructions++
	m.written = nil
	for i := range 64 {
		m.Lanes += int(e.Active >> i & 1)
	}
	active := w.launched
	if m.IgnoresExited {
		active = w.running
	}
	if e.Active != active {
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
			all = all && p[i].known && p[i].value == p[first].value
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
	n := 0 // number of launched lanes
	for w.launched>>n&1 != 0 {
		n++
	}

	// source returns an operand's lanes; ok is false if it is not compact.
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
				s.v[i] = o.Imm.Encode(t)
			}
		case ptx.RegOperand:
			if p := w.decided[key(o.Reg)]; p != nil {
				for i := range p {
					s.ok = s.ok && (e.Lanes>>i&1 == 0 || p[i].known && p[i].value == p[first].value)
				}
				break
			}
			c, ok := w.compact[key(o.Reg)]
			s.ok = ok
			for i := range s.v {
				s.v[i] = c.lane(i)
			}
		case ptx.SRegOperand:
			block := e.Launch.Block
			for i := range s.v {
				thread := e.Warp*e.Launch.WarpSize + i
				v, ok := map[string]int{
					"%tid.x": thread % block.X, "%tid.y": thread / block.X % block.Y, "%tid.z": thread / block.X / block.Y,
					"%ntid.x": block.X, "%ntid.y": block.Y, "%ntid.z": block.Z,
					"%ctaid.x": e.ID.X, "%ctaid.y": e.ID.Y, "%ctaid.z": e.ID.Z,
					"%nctaid.x": e.Launch.Grid.X, "%nctaid.y": e.Launch.Grid.Y, "%nctaid.z": e.Launch.Grid.Z,
				}[o.SReg.String()]
				s.v[i], s.ok = uint64(v), s.ok && ok
			}
		case ptx.SymOperand: // its value is the same in all lanes
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
		var addr lanesOf
		if o := &e.Instr.Ops[address]; o.Reg == ptx.NoReg {
			addr = lanesOf{uniform: true, ok: true}
		} else {
			addr = source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.U64)
		}
		size := map[string]int{"8": 1, "16": 2, "32": 4, "64": 8}[kind[1:]]
		if space != ptx.Param {
			switch {
			case name == "ld" && addr.uniform:
				m.Loads, m.CompactLoads = m.Loads+1, m.CompactLoads+1
			case name == "ld" && addr.ok && (!m.FGSIMT || size <= 4 && n > 1 && signed(addr.v[1]-addr.v[0], 32) == int64(size)):
				m.Loads, m.CompactLoads, m.AffineLoads = m.Loads+1, m.CompactLoads+1, m.AffineLoads+1
			case name == "ld":
				m.Loads++
			case name == "st":
				m.Stores++
			}
		}
		uniform := name == "ld" && (space == ptx.Param || m.Const && space == ptx.Const && addr.uniform)
		for i := range e.Writes {
			m.recordWrite(e, w, key(e.Writes[i].Reg), &e.Writes[i], nil, uniform)
		}
		m.countResults(e, w, uniform)
		return
	}

	var inputs []lanesOf
	uniform, all, affine := true, true, 0
	for i := range e.Instr.Ops {
		o := &e.Instr.Ops[i]
		if !e.Instr.IsSource(i) {
			continue
		}
		s := source(o, e.Instr.OperandType(i))
		inputs = append(inputs, s)
		uniform, all = uniform && s.uniform, all && s.ok
		if s.ok && !s.uniform {
			affine++
		}
	}
	if compares {
		known := uniform && len(inputs) == 2
		if all && affine == 1 && len(inputs) == 2 && !float && !m.FGSIMT {
			scalar, vector := inputs[0], inputs[1]
			if !scalar.uniform {
				scalar, vector = vector, scalar
			}
			less := func(x, y uint64) bool {
				if kind[0] == 's' {
					return signed(x, width) < signed(y, width)
				}
				return x < y
			}
			allAbove, allBelow, rising, falling := true, true, true, true
			last := -1 // previous lane
			for i, v := range vector.v {
				if m.IgnoresExited && w.running>>i&1 == 0 {
					continue
				}
				allAbove, allBelow = allAbove && less(v, scalar.v[0]), allBelow && less(scalar.v[0], v)
				if last >= 0 { // a wrap in the type breaks the progression
					rising, falling = rising && less(vector.v[last], v), falling && less(v, vector.v[last])
				}
				last = i
			}
			known = (allAbove || allBelow) && (rising || falling)
		}
		m.recordPredicates(e, w, key, known, affine > 0)
		if known { // a mask, for any active lanes
			m.Compact++
			m.Compares++
		}
		return
	}
	fromAffine := false // predicates from comparisons of affine values
	for _, v := range e.Reads {
		if p := w.decided[key(v.Reg)]; p != nil {
			fromAffine = fromAffine || p[first].affine
		}
	}
	cannotCompact := slices.Contains([]string{"bar", "barrier", "membar", "fence", "shfl", "vote", "match", "activemask", "redux"}, name)
	if len(e.Writes) > 0 && e.Writes[0].Type == ptx.Pred {
		known := uniform && (name == "mov" || m.Wide && !cannotCompact)
		m.recordPredicates(e, w, key, known, fromAffine)
		if known {
			m.Compact++
		}
		return
	}
	var result func(i int) uint64 // result of a lane's sources; nil: the results of uniform operands
	compactResult := false
	bits := 0
	if len(e.Writes) > 0 {
		bits = e.Writes[0].Type.Bits()
	}
	wide := slices.Contains(words, "wide")
	extend := func(v uint64) uint64 { // extension from the instruction's type
		if strings.HasPrefix(kind, "s") {
			return uint64(signed(v, width))
		}
		return modulo(v, width)
	}
	// climbs reports that numbers do not wrap in the instruction's type, so that they are a progression in a wider
	// type, too.
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
		compactResult, result = all && len(inputs) == 1, func(i int) uint64 { return inputs[0].v[i] }
	case float && arithmetic:
		compactResult = uniform
	case float || converts:
	case name == "add":
		compactResult, result = all, func(i int) uint64 { return inputs[0].v[i] + inputs[1].v[i] }
	case name == "sub":
		compactResult, result = all, func(i int) uint64 { return inputs[0].v[i] - inputs[1].v[i] }
	case name == "mul" && (wide || words[1] == "lo"):
		compactResult, result = all && (inputs[0].uniform || inputs[1].uniform) && (!wide || climbs(inputs[0]) && climbs(inputs[1])), func(i int) uint64 { return extend(inputs[0].v[i]) * extend(inputs[1].v[i]) }
	case name == "mad" && (wide || words[1] == "lo"):
		compactResult, result = all && (inputs[0].uniform || inputs[1].uniform) && (!wide || climbs(inputs[0]) && climbs(inputs[1])), func(i int) uint64 { return extend(inputs[0].v[i])*extend(inputs[1].v[i]) + inputs[2].v[i] }
	case name == "mul" || name == "mad":
		compactResult = uniform
	case name == "shl":
		compactResult, result = all && inputs[1].uniform, func(i int) uint64 {
			if inputs[1].v[i] >= uint64(width) {
				return 0
			}
			return inputs[0].v[i] << inputs[1].v[i]
		}
	case name == "shr":
		shift := func(i int) uint64 { return min(inputs[1].v[i], 63) }
		compactResult, result = all && inputs[1].uniform, func(i int) uint64 {
			if kind[0] == 's' {
				return uint64(signed(inputs[0].v[i], width) >> shift(i))
			}
			return modulo(inputs[0].v[i], width) >> shift(i)
		}
		for i := range n { // the shift must be exact in the stride
			compactResult = compactResult && modulo(inputs[0].v[i]-inputs[0].v[0], width)%(1<<shift(i)) == 0
		}
	case name == "cvt":
		compactResult, result = all, func(i int) uint64 { return extend(inputs[0].v[i]) }
	case name == "cvta":
		compactResult, result = all, func(i int) uint64 {
			if inputs[0].v[first] == 0 && !inputs[0].uniform {
				return inputs[0].v[i]
			}
			return inputs[0].v[i] + e.Writes[0].Low[first] - inputs[0].v[first]
		}
	}
	if m.Wide && uniform && !compactResult && !cannotCompact && name != "mov" {
		compactResult, result = true, nil
	}
	var values []uint64
	if compactResult && result != nil {
		for i := range n {
			values = append(values, modulo(result(i), bits))
		}
		bits := max(bits, 32) // a 16-bit register is stored in 32 bits: with a wrap it is not affine
		stride := uint64(0)
		if n > 1 {
			stride = modulo(values[1]-values[0], bits)
		}
		for i := range n {
			compactResult = compactResult && values[i] == modulo(values[0]+uint64(i)*stride, bits)
		}
		if s := signed(stride, bits); s < -1<<15 || s >= 1<<15 {
			compactResult = false
		}
	}
	for i := range e.Writes {
		m.recordWrite(e, w, key(e.Writes[i].Reg), &e.Writes[i], values, compactResult)
	}
	m.countResults(e, w, compactResult)
}

// isFullWarp reports whether a result stays compact: there is no guard, and all launched lanes are active.
func (m *Machine) isFullWarp(e *probe.Event, w *machineWarp) bool {
	active := w.launched
	if m.IgnoresExited {
		active = w.running
	}
	return e.Active == active && e.Instr.Guard.Reg == ptx.NoReg
}

// countResults counts an instruction with or without compact results.
func (m *Machine) countResults(e *probe.Event, w *machineWarp, compactResult bool) {
	switch {
	case len(e.Writes) == 0 || !compactResult:
	case m.isFullWarp(e, w):
		m.Compact++
	default:
		m.Suppressed++
	}
}

// recordPredicates records written predicates, which are masks. They are known after a comparison of compact values.
func (m *Machine) recordPredicates(e *probe.Event, w *machineWarp, key func(ptx.RegID) string, known, affine bool) {
	for _, v := range e.Writes {
		p := w.decided[key(v.Reg)]
		if p == nil {
			p = &[64]predicateOrigin{}
			w.decided[key(v.Reg)] = p
		}
		first := 0
		for e.Lanes>>first&1 == 0 {
			first++
		}
		for i := range p {
			switch {
			case e.Lanes>>i&1 != 0:
				p[i] = predicateOrigin{known, affine, v.Low[i]&1 != 0}
			case known && p[i].value != (v.Low[first]&1 != 0): // the mask holds a single value
				p[i] = predicateOrigin{}
			}
		}
	}
}

// recordWrite records a written register. values is nil for a uniform or generic value.
func (m *Machine) recordWrite(e *probe.Event, w *machineWarp, key string, v *probe.Value, values []uint64, compactResult bool) {
	whole := m.isFullWarp(e, w)
	if _, wasCompact := w.compact[key]; wasCompact && !whole {
		m.Materialisations++
	}
	delete(w.compact, key)
	m.Writes++
	words := max(1, v.Type.Bits()/32)
	if !compactResult || !whole {
		m.written = append(m.written, 4*words*e.Launch.WarpSize)
		return
	}
	m.CompactWrites++
	bytes := 4 * words // a base, and a stride of 16 bits
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

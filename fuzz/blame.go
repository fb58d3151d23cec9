package fuzz

// This file finds the first instruction that makes a result wrong.

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// Culprit is the instruction that makes the first wrong value on the way to a wrong word of a result.
type Culprit struct {
	Place
	Register  string // register with the wrong value; "" if Instr stored a correct value wrongly, or branched wrongly
	Got, Want uint64 // value of Register in the rival, and the expected value
	Measured  bool   // Got and Want are valid: the rival ran a program that stores the values on the way to the word

	Writer *Place // the last instruction that wrote the word; nil if none did
}

// Place is an instruction as a thread executes it.
type Place struct {
	Instr           *ptx.Instr // instruction of the program
	CTA, Warp, Lane int        // index of the CTA in the grid, of the warp in it, of the lane in the warp
}

func (p Place) String() string {
	return fmt.Sprintf("line %d, %s, in cta %d, warp %d, lane %d", p.Instr.Pos.Line, p.Instr.Text, p.CTA, p.Warp, p.Lane)
}

// String describes the culprit in several lines.
func (c *Culprit) String() string {
	switch {
	case c == nil:
		return "no instruction of the program writes the word: it is zero"
	case c.Register != "" && c.Measured:
		return fmt.Sprintf("the first wrong value: %s of %v is %#x, want %#x\nthe word is written by %v", c.Register, c.Place, c.Got, c.Want, c.Writer)
	case c.Register != "":
		return fmt.Sprintf("the value comes from %v\nthe word is written by %v", c.Place, c.Writer)
	}
	if c.Instr.EndsBlock() {
		return fmt.Sprintf("the first wrong decision: %v\nthe word is written by %v", c.Place, c.Writer)
	}
	return fmt.Sprintf("the first wrong value: the memory that %v stores, although its registers are right\nthe word is written by %v", c.Place, c.Writer)
}

// Same reports whether two culprits are the same fault of a rival: the same opcode.
func (c *Culprit) Same(o *Culprit) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.Instr.Text == o.Instr.Text
}

// Blame finds the culprit of the word at a byte of a result, which must differ. The rival runs a copy of the program
// that also stores the values on the way to the word. It cannot if its command has the size of the result as a number
// and the result has no unused words; then Measured is false, and the culprit is the instruction that made the stored
// value. The error is the context's or Run's.
func (r *Rival) Blame(ctx context.Context, p *Program, at int, dir string) (*Culprit, error) {
	m, err := ptx.ParseString("program.ptx", p.Source)
	if err != nil {
		return nil, err
	}
	s := &slicer{offset: uint64(at &^ 3), regs: map[threadRegister]*valueNode{}, memory: map[memoryByte]*valueNode{}, threads: map[threadID]*threadState{}, used: make([]bool, p.OutBytes)}
	if _, err := p.run(ctx, m, &interp.Launch{Mode: interp.Vector}, []probe.Probe{s}); err != nil {
		return nil, err
	}
	if s.writer == nil {
		return nil, nil
	}
	path := s.path()
	c, err := r.measure(ctx, p, path, s, at, dir)
	if c == nil && err == nil {
		c = guessCulprit(s.writer)
	}
	if c != nil {
		c.Writer = &s.writer.Place
	}
	return c, err
}

// guessCulprit returns the culprit without a measurement: the instruction that made the stored value, moves excepted.
func guessCulprit(writer *valueNode) *Culprit {
	for n := writer; ; {
		sources := n.sources
		if len(sources) == 0 || sources[0].reg == ptx.NoReg {
			return &Culprit{Place: n.Place, Register: n.register()}
		}
		if n = sources[0]; n.Instr.Form.Family != ptx.FamilyMove {
			return &Culprit{Place: n.Place, Register: n.register()}
		}
	}
}

// valueNode is a value of a lane: in a register, or stored.
type valueNode struct {
	Place
	fn        *ptx.Func
	reg       ptx.RegID    // NoReg: the value is in memory
	order     int          // number of its instruction in the launch
	isAddress bool         // the value is an address, or computed from an address: addresses differ between implementations
	sources   []*valueNode // values from which it is made; the values that decide whether it is made come last
	seen      bool
}

// register returns the name of the node's register.
func (n *valueNode) register() string {
	if n.reg == ptx.NoReg {
		return ""
	}
	return n.fn.Regs[n.reg].Name
}

type (
	threadID       struct{ cta, warp, lane int }
	threadRegister struct {
		threadID
		depth int
		reg   ptx.RegID
	}
	memoryByte struct {
		base   any // *mem.Allocation, or the thread whose local memory it is
		offset uint64
	}
	threadState struct {
		branch *valueNode   // the thread's last branch decision
		params []*valueNode // stores to parameters of functions
	}
)

// slicer is a probe that finds the values on the way to a word of the result.
type slicer struct {
	offset  uint64 // within the result
	word    uint64 // address
	outAddr uint64 // address of the result
	buffers int    // so far
	regs    map[threadRegister]*valueNode
	memory  map[memoryByte]*valueNode
	threads map[threadID]*threadState
	votes   []*valueNode // votes of barriers with a predicate
	writer  *valueNode   // writer of the word
	order   int
	used    []bool // bytes of the result that the program writes
}

// Subscription implements probe.Probe.
func (s *slicer) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAlloc | probe.OnBefore | probe.OnAfter | probe.OnReturn | probe.OnWake, Values: true, Addresses: true, InOrder: true}
}

// CTA implements probe.Probe.
func (s *slicer) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return s }

// OnEvent implements probe.Sink.
func (s *slicer) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnAlloc {
		if e.Memory.Kind == probe.BufferMemory {
			if s.buffers++; s.buffers == 2 {
				s.outAddr, s.word = e.Memory.Base, e.Memory.Base+s.offset
			}
		}
		return
	}
	s.order++
	if e.Kind == probe.OnBefore {
		for lane := range 64 {
			if e.Active&^e.Lanes>>lane&1 != 0 {
				s.followSkipped(e, lane)
			}
		}
		return
	}
	var collective []*valueNode // sources of lanes that exchange values
	if e.Instr.Form.Effects.Any(ptx.Collective|ptx.Barrier) || e.Instr.Form.Class == ptx.ClassWarp {
		for lane := range 64 {
			if e.Lanes>>lane&1 != 0 {
				collective = append(collective, s.sources(e, lane)...)
			}
		}
		if e.Instr.Form.Effects.HasAll(ptx.Barrier) {
			s.votes = append(s.votes, collective...)
			collective = s.votes
		}
	}
	for lane := range 64 {
		if e.Lanes>>lane&1 != 0 {
			s.followLane(e, lane, collective)
		}
	}
}

// followSkipped follows an instruction that the guard disables in a lane: because of the guard, registers keep their
// values and a branch is not taken.
func (s *slicer) followSkipped(e *probe.Event, lane int) {
	t := threadID{e.CTA, e.Warp, lane}
	state := s.thread(t)
	from := append(nonNil(s.regs[threadRegister{t, e.Depth, e.Instr.Guard.Reg}]), nonNil(state.branch)...)
	n := valueNode{Place: Place{e.Instr, e.CTA, e.Warp, lane}, fn: e.Func, order: s.order, reg: ptx.NoReg, sources: from}
	for r := range e.Instr.Defs() {
		unchanged := n
		unchanged.reg = r
		key := threadRegister{t, e.Depth, unchanged.reg}
		if old := s.regs[key]; old != nil {
			unchanged.sources, unchanged.isAddress = append([]*valueNode{old}, from...), old.isAddress
		}
		s.regs[key] = &unchanged
	}
	if e.Instr.EndsBlock() {
		state.branch = &n
	}
}

func (s *slicer) thread(t threadID) *threadState {
	state := s.threads[t]
	if state == nil {
		state = &threadState{}
		s.threads[t] = state
	}
	return state
}

// sources returns the values that an instruction reads from registers of a lane.
func (s *slicer) sources(e *probe.Event, lane int) (list []*valueNode) {
	for r := range e.Instr.Uses() {
		if n := s.regs[threadRegister{threadID{e.CTA, e.Warp, lane}, e.Depth, r}]; n != nil && r != e.Instr.Guard.Reg {
			list = append(list, n)
		}
	}
	if g := e.Instr.Guard.Reg; g != ptx.NoReg {
		if n := s.regs[threadRegister{threadID{e.CTA, e.Warp, lane}, e.Depth, g}]; n != nil {
			list = append(list, n)
		}
	}
	return list
}

// storedValue returns the value that a store takes from a register, which comes first among its sources.
func (s *slicer) storedValue(e *probe.Event, lane int) (list []*valueNode) {
	i := e.Instr.Form.Operand("b")
	if i < 0 {
		return nil
	}
	visit := func(o *ptx.Operand) {
		if o.Kind == ptx.RegOperand {
			if n := s.regs[threadRegister{threadID{e.CTA, e.Warp, lane}, e.Depth, o.Reg}]; n != nil {
				list = append(list, n)
			}
		}
	}
	o := &e.Instr.Ops[i]
	visit(o)
	for k := range o.Elems() {
		visit(&o.Elems()[k])
	}
	return list
}

// followLane follows an instruction in a lane.
func (s *slicer) followLane(e *probe.Event, lane int, collective []*valueNode) {
	t := threadID{e.CTA, e.Warp, lane}
	state := s.thread(t)
	from := append(s.sources(e, lane), collective...)
	space, _ := e.Instr.Space()
	parameter := space == ptx.Param && (e.Depth > 0 || e.Instr.Form.Family == ptx.FamilyStore || kernelParam(e) == nil)
	if parameter && e.Instr.Form.Family == ptx.FamilyLoad {
		from = append(from, state.params...)
	}
	for i := range e.Accesses {
		if a := &e.Accesses[i]; a.Kind != probe.AccessStore && a.Lanes>>lane&1 != 0 && !parameter {
			s.eachByte(a, lane, t, func(b memoryByte) {
				if n := s.memory[b]; n != nil && (len(from) == 0 || from[len(from)-1] != n) {
					from = append(from, n)
				}
			})
		}
	}
	if state.branch != nil {
		from = append(from, state.branch)
	}
	address := s.address(e, t)
	make := func(reg ptx.RegID, from []*valueNode) *valueNode {
		return &valueNode{Place: Place{e.Instr, e.CTA, e.Warp, lane}, fn: e.Func, reg: reg, order: s.order, sources: from, isAddress: address}
	}
	for i := range e.Writes {
		r := e.Writes[i].Reg
		s.regs[threadRegister{t, e.Depth, r}] = make(r, from)
	}
	if e.Instr.Form.Effects.Any(ptx.Calls|ptx.CarryOut) || e.Instr.EndsBlock() && len(from) > 0 {
		state.branch = make(ptx.NoReg, from)
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Kind == probe.AccessLoad || a.Lanes>>lane&1 == 0 {
			continue
		}
		n := make(ptx.NoReg, append(s.storedValue(e, lane), from...))
		n.isAddress = false
		if parameter {
			state.params = append(state.params, n)
			continue
		}
		s.eachByte(a, lane, t, func(b memoryByte) { s.memory[b] = n })
		from, to := a.Addr[lane], a.Addr[lane]+uint64(a.Length(lane))
		for at := max(from, s.outAddr); at < to && at-s.outAddr < uint64(len(s.used)); at++ {
			s.used[at-s.outAddr] = true
		}
		if from < s.word+4 && s.word < to {
			n.sources = append(n.sources, nonNil(s.writer)...) // the word's remaining bytes
			s.writer = n
		}
	}
}

// address reports whether an instruction makes an address: of a pointer parameter, of a variable or function, or from
// another address.
func (s *slicer) address(e *probe.Event, t threadID) bool {
	switch e.Instr.Form.Family {
	case ptx.FamilyLoad:
		v := kernelParam(e)
		return v != nil && (v.Name == "in" || v.Name == "out")
	case ptx.FamilyAtomic, ptx.FamilySetp, ptx.FamilyIsspacep:
		return false
	}
	for i := range e.Instr.Ops {
		if e.Instr.Ops[i].Kind == ptx.SymOperand {
			return true
		}
	}
	for r := range e.Instr.Uses() {
		if n := s.regs[threadRegister{t, e.Depth, r}]; n != nil && n.isAddress && r != e.Instr.Guard.Reg {
			return true
		}
	}
	return false
}

func nonNil(n *valueNode) []*valueNode {
	if n == nil {
		return nil
	}
	return []*valueNode{n}
}

// kernelParam returns the kernel parameter that an instruction loads; nil if it loads none.
func kernelParam(e *probe.Event) *ptx.Var {
	for i := range e.Instr.Ops {
		if v, ok := e.Instr.Ops[i].Sym().(*ptx.Var); ok && e.Func.Entry && slices.Contains(e.Func.Params, v) {
			return v
		}
	}
	return nil
}

// eachByte calls do for each byte that a lane accesses.
func (s *slicer) eachByte(a *probe.Access, lane int, t threadID, do func(b memoryByte)) {
	_, alloc, offset, ok := a.PlaceOf(lane)
	if !ok {
		return
	}
	b := memoryByte{base: t, offset: offset}
	if alloc != nil {
		b.base = alloc
	}
	for range a.Length(lane) {
		do(b)
		b.offset++
	}
}

// path returns the values and decisions on the way to the word, in the order in which they are made.
func (s *slicer) path() (list []*valueNode) {
	work := []*valueNode{s.writer}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if n.seen {
			continue
		}
		n.seen = true
		list = append(list, n)
		work = append(work, n.sources...)
	}
	slices.SortStableFunc(list, func(a, b *valueNode) int { return a.order - b.order })
	return list
}

// capture is an instruction whose result a copy of the program stores. For a store, and for a branch that is not
// taken, the register is NoReg: the copy stores the memory, read back, or the fact that the branch was not taken.
type capture struct {
	instr *ptx.Instr
	reg   ptx.RegID
}

// storeCode returns code that stores at most 8 bytes at an offset of %fuzz_out; "" if there is none. text is the
// instruction.
func (s capture) storeCode(f *ptx.Func, text string, at int) string {
	place := fmt.Sprintf("%%fuzz_out+%d", at)
	if s.reg != ptx.NoReg {
		reg := &f.Regs[s.reg]
		switch {
		case reg.Type == ptx.Pred:
			return fmt.Sprintf(" st.global.b32 [%s], 0; @%s st.global.b32 [%s], 1;", place, reg.Name, place)
		case reg.Type.Bits() > 64:
			return ""
		}
		return fmt.Sprintf(" st.global.b%d [%s], %s;", reg.Type.Bits(), place, reg.Name)
	}
	guard, statement := "", strings.TrimSpace(text)
	if strings.HasPrefix(statement, "@") {
		_, statement, _ = strings.Cut(statement, " ")
	}
	if g := s.instr.Guard; g.Reg != ptx.NoReg {
		guard = fmt.Sprintf("@%s%s ", map[bool]string{true: "!"}[g.Neg], f.Regs[g.Reg].Name)
	}
	if s.instr.EndsBlock() {
		if guard == "" {
			return ""
		}
		return fmt.Sprintf(" st.global.b32 [%s], 1;", place)
	}
	n, bits := s.instr.VecLen(), s.instr.Type().Bits()
	from, to := strings.IndexByte(statement, '['), strings.IndexByte(statement, ']')
	temp, ok := map[int]string{8: "%fuzz_h", 16: "%fuzz_h", 32: "%fuzz_b", 64: "%fuzz_d"}[bits]
	if space, _ := s.instr.Space(); s.instr.Form.Family != ptx.FamilyStore || space == ptx.Param || n*bits > 64 || n > 2 || from < 0 || to < from || !ok {
		return ""
	}
	register := temp
	if n == 2 {
		register = "{" + temp + ", " + temp + "2}"
	}
	opcode := "ld" + strings.TrimPrefix(s.instr.Text, "st")
	b := fmt.Sprintf(" %s%s %s, %s;", guard, opcode, register, statement[from:to+1])
	for i := range n {
		b += fmt.Sprintf(" %sst.global.b%d [%%fuzz_out+%d], %s%s;", guard, bits, at+i*bits/8, temp, []string{"", "2"}[i])
	}
	return b
}

// measure runs a copy of the program on the rival that stores the values on the way to the word. It returns nil if
// that is impossible, or if the copy does not fail in the same word.
func (r *Rival) measure(ctx context.Context, p *Program, path []*valueNode, s *slicer, at int, dir string) (*Culprit, error) {
	var captures []capture
	slot := map[capture]int{}
	for _, n := range path {
		k := capture{n.Instr, n.reg}
		if _, ok := slot[k]; !ok && !n.isAddress {
			slot[k] = len(captures)
			captures = append(captures, k)
		}
	}
	threads := p.Grid.X * p.Grid.Y * p.Grid.Z * p.Block.X * p.Block.Y * p.Block.Z
	room := 8 * len(captures)
	base := (p.OutBytes + 7) &^ 7
	q := *p
	if q.OutBytes = base + room*threads; !r.knowsSize() {
		if base = findUnused(s.used, room*threads); base < 0 {
			return nil, nil
		}
		q.OutBytes = p.OutBytes
	}
	var err error
	if q.Source, err = instrument(p, captures, base, room); err != nil {
		return nil, err
	}
	m, err := ptx.ParseString("program.ptx", q.Source)
	if err != nil {
		return nil, nil
	}
	want, err := q.run(ctx, m, &interp.Launch{Mode: interp.Vector}, nil)
	if err != nil {
		return nil, ctx.Err()
	}
	o, err := r.Run(ctx, &q, want, dir)
	if err != nil || o.Kind != Difference || !o.wordDiffers(at) {
		return nil, err
	}
	value := func(n *valueNode, result []byte) uint64 {
		thread := n.CTA*p.Block.X*p.Block.Y*p.Block.Z + 32*n.Warp + n.Lane
		return binary.LittleEndian.Uint64(result[base+thread*room+8*slot[capture{n.Instr, n.reg}]:])
	}
	wrong := func(n *valueNode) bool {
		_, ok := slot[capture{n.Instr, n.reg}]
		return ok && value(n, o.result) != value(n, want)
	}
	// In a loop, a value that is wrong in the last iteration may have been right before. A wrong value made from
	// right values comes first.
	var first *valueNode
	for _, n := range path {
		if !wrong(n) {
			continue
		}
		if first == nil {
			first = n
		}
		if !anyBefore(n, wrong) {
			first = n
			break
		}
	}
	if first == nil {
		return &Culprit{Place: s.writer.Place, Measured: true}, nil
	}
	return &Culprit{Place: first.Place, Register: first.register(), Got: value(first, o.result), Want: value(first, want), Measured: true}, nil
}

// anyBefore reports whether match holds for a value from which n is made, directly or through memory and branches.
func anyBefore(n *valueNode, match func(n *valueNode) bool) bool {
	seen := map[*valueNode]bool{}
	work := slices.Clone(n.sources)
	for len(work) > 0 {
		m := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[m] {
			continue
		}
		seen[m] = true
		if match(m) {
			return true
		}
		if m.reg == ptx.NoReg {
			work = append(work, m.sources...)
		}
	}
	return false
}

// findUnused returns the offset of n bytes of a result that nothing writes, a multiple of 8; -1 if there are none.
func findUnused(used []bool, n int) int {
	from := 0
	for i := range used {
		switch {
		case used[i]:
			from = (i + 8) &^ 7
		case i+1-from == n:
			return from
		}
	}
	return -1
}

// instrument returns a program with stores of registers after the instructions that write them. Thread t of the whole
// grid stores capture i to 8 bytes of the result at base + t·room + 8·i.
func instrument(p *Program, captures []capture, base, room int) (string, error) {
	m, err := ptx.ParseString("program.ptx", p.Source)
	if err != nil {
		return "", err
	}
	inserted := map[int]string{} // by offset of the source
	lines := lineStarts(p.Source)
	offset := func(pos ptx.Pos) int { return lines[pos.Line-1] + int(pos.Col) - 1 }
	byPos := map[ptx.Pos][]int{}
	for i, s := range captures {
		byPos[s.instr.Pos] = append(byPos[s.instr.Pos], i)
	}
	for _, d := range m.Decls {
		f, ok := d.(*ptx.Func)
		if !ok || !f.Defined {
			continue
		}
		changed := false
		f.EachInstr(func(instr *ptx.Instr) {
			for _, i := range byPos[instr.Pos] {
				end := strings.IndexByte(p.Source[offset(instr.Pos):], ';')
				if end < 0 {
					return
				}
				changed = true
				text := captures[i].storeCode(f, p.Source[offset(instr.Pos):offset(instr.Pos)+end], 8*i)
				inserted[offset(instr.Pos)+end+1] += text
			}
		})
		if changed {
			begin := strings.IndexByte(p.Source[offset(f.Pos):], '{')
			inserted[offset(f.Pos)+begin+1] = threadRoom(p, f, base, room)
		}
	}
	var b strings.Builder
	for i := range len(p.Source) {
		if text, ok := inserted[i]; ok {
			b.WriteString(text)
		}
		b.WriteByte(p.Source[i])
	}
	source := b.String()
	if strings.Contains(source, "fuzz_base") {
		source = strings.Replace(source, ".address_size 64\n", ".address_size 64\n.global .align 8 .u64 fuzz_base;\n", 1)
	}
	return source, nil
}

// threadRoom returns code for the beginning of a function. It makes %fuzz_out point to the thread's room for values.
func threadRoom(p *Program, f *ptx.Func, base, room int) string {
	var b strings.Builder
	b.WriteString("\n\t.reg .b64 %fuzz_out, %fuzz_d; .reg .b32 %fuzz_a, %fuzz_b, %fuzz_b2; .reg .b16 %fuzz_h, %fuzz_h2;")
	if f.Entry {
		fmt.Fprintf(&b, " ld.param.u64 %%fuzz_out, [out];")
		if strings.Contains(p.Source, ".func") {
			b.WriteString(" st.global.u64 [fuzz_base], %fuzz_out;")
		}
	} else {
		b.WriteString(" ld.global.u64 %fuzz_out, [fuzz_base];")
	}
	if base > 0 {
		fmt.Fprintf(&b, " add.u64 %%fuzz_out, %%fuzz_out, %d;", base)
	}
	if p.Grid != ptx.Dim(1) || p.Block != ptx.Dim(1) {
		b.WriteString(" mov.u32 %fuzz_a, %ctaid.x;")
		for _, d := range []struct {
			n    int
			name string
		}{{p.Block.Z, "z"}, {p.Block.Y, "y"}, {p.Block.X, "x"}} {
			fmt.Fprintf(&b, " mul.lo.u32 %%fuzz_a, %%fuzz_a, %d; mov.u32 %%fuzz_b, %%tid.%s; add.u32 %%fuzz_a, %%fuzz_a, %%fuzz_b;", d.n, d.name)
		}
		fmt.Fprintf(&b, " mad.wide.u32 %%fuzz_out, %%fuzz_a, %d, %%fuzz_out;", room)
	}
	return b.String()
}

// lineStarts returns the offsets of the lines of a text.
func lineStarts(text string) []int {
	list := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			list = append(list, i+1)
		}
	}
	return list
}

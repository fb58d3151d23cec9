package debug

// This file describes a stopped launch: contexts, registers, memory, and the reasons why threads wait.

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Context is a warp split of a CTA in flight, executing or waiting.
type Context struct {
	probe.WarpSplit
	WaitingToReconverge bool // the lanes wait at a reconvergence point
}

// Contexts returns the contexts of all CTAs in flight, ordered by CTA, warp and first lane.
func (s *Session) Contexts() []Context {
	var list []Context
	if s.ended && s.err == nil {
		return nil
	}
	running, err := s.exec.WarpSplits()
	if err != nil { // called while the launch runs
		return nil
	}
	for _, c := range running {
		list = append(list, Context{WarpSplit: c})
	}
	waiting, err := s.exec.WaitingSplits()
	if err != nil {
		return nil
	}
	for _, c := range waiting {
		list = append(list, Context{c, true})
	}
	slices.SortFunc(list, func(a, b Context) int {
		return cmp.Or(a.CTA-b.CTA, a.Warp-b.Warp, lowestLane(a.Lanes)-lowestLane(b.Lanes))
	})
	return list
}

// Context returns the context of the thread in focus, or ErrNoLaunch if there is none.
func (s *Session) Context() (*Context, error) {
	for _, c := range s.Contexts() {
		if s.focus.isIn(&c) {
			return &c, nil
		}
	}
	return nil, ErrNoLaunch
}

// isIn reports whether the thread belongs to a context.
func (f Focus) isIn(c *Context) bool {
	return c.CTA == f.CTA && c.Warp == f.Warp && c.Lanes>>f.Lane&1 != 0
}

// Focus returns the thread in focus; its CTA is -1 if there is none.
func (s *Session) Focus() Focus { return s.focus }

// SetFocus changes the thread in focus. It returns an error if the thread does not exist or has ended.
func (s *Session) SetFocus(f Focus) error {
	for _, c := range s.Contexts() {
		if f.isIn(&c) {
			s.focus = f
			return nil
		}
	}
	return fmt.Errorf("lane %d of warp %d of CTA %d does not exist: it has ended, or not begun", f.Lane, f.Warp, f.CTA)
}

// refocus moves the focus to another thread if the thread in focus has ended: if possible to a running thread, and
// among equals to a thread of the same warp, or else of the same CTA.
func (s *Session) refocus() {
	best, score := -1, 0
	list := s.Contexts()
	for i := range list {
		c := &list[i]
		if s.focus.isIn(c) {
			return
		}
		n := 1
		for _, valid := range []bool{c.Running, c.CTA == s.focus.CTA, c.CTA == s.focus.CTA && c.Warp == s.focus.Warp} {
			if n *= 2; valid {
				n++
			}
		}
		if n > score {
			best, score = i, n
		}
	}
	if best < 0 {
		s.focus = Focus{CTA: -1}
		return
	}
	s.focus = Focus{list[best].CTA, list[best].Warp, lowestLane(list[best].Lanes)}
}

// Thread returns the index of a thread in its CTA.
func (s *Session) Thread(f Focus) ptx.Dim3 {
	return indexAt(f.Warp*s.info.WarpSize+f.Lane, s.info.Block)
}

// FocusOn returns the thread with the given indices of CTA and thread; false if it does not exist.
func (s *Session) FocusOn(cta, thread ptx.Dim3) (Focus, bool) {
	for _, d := range []struct{ index, extent ptx.Dim3 }{{cta, s.info.Grid}, {thread, s.info.Block}} {
		if d.index.X < 0 || d.index.Y < 0 || d.index.Z < 0 || d.index.X >= d.extent.X || d.index.Y >= d.extent.Y || d.index.Z >= d.extent.Z {
			return Focus{}, false
		}
	}
	n := linear(thread, s.info.Block)
	return Focus{linear(cta, s.info.Grid), n / s.info.WarpSize, n % s.info.WarpSize}, true
}

// Register is a register of a context.
type Register struct {
	Name string   // as in PTX: "%r1"
	Type ptx.Type // type in the declaration
	Live bool     // an instruction may still read its value
	Form Form     // value structure over the context's lanes

	// By lane of the warp: bits 0 to 63, and bits 64 to 127 of .b128. Only the context's lanes are valid.
	Row, High []uint64
}

// Value formats the value of a lane.
func (r *Register) Value(lane int) string { return r.show(r.Row[lane], r.high(lane)) }

func (r *Register) high(lane int) uint64 {
	if r.High == nil {
		return 0
	}
	return r.High[lane]
}

// show formats a value of the register's type; high has bits 64 to 127 of .b128.
func (r *Register) show(low, high uint64) string {
	if r.Type.Bits() > 64 {
		return formatWide(low, high)
	}
	return valueOf(r.Type, low).String()
}

// formatWide formats a value of 128 bits.
func formatWide(low, high uint64) string {
	if high == 0 {
		return fmt.Sprintf("%#x", low)
	}
	return fmt.Sprintf("%#x%016x", high, low)
}

// Form is the value structure of a register over the lanes of a context.
type Form struct {
	Kind         string // "uniform", "affine" or "generic"
	Base, Stride uint64 // uniform and affine: lane i of the warp has Base + i·Stride, modulo 2 to the width in bits
}

// formOf returns the form of a register's values in lanes.
func formOf(row []uint64, lanes uint64, t ptx.Type) Form {
	first := lowestLane(lanes)
	f := Form{Kind: "uniform", Base: row[first]}
	remaining := lanes & (lanes - 1)
	if remaining == 0 {
		return f
	}
	mask := ^uint64(0) >> (64 - max(min(t.Bits(), 64), 1))
	second := lowestLane(remaining)
	delta := row[second] - row[first]
	apart := uint64(second - first)
	if delta&mask != 0 {
		f.Kind = "affine"
		// Sign-extend from the width of the type, for negative strides.
		signed := int64(delta<<(64-bits.Len64(mask))) >> (64 - bits.Len64(mask))
		if signed%int64(apart) != 0 || t.IsFloat() || t == ptx.Pred {
			return Form{Kind: "generic"}
		}
		f.Stride = uint64(signed / int64(apart))
		f.Base = (row[first] - uint64(first)*f.Stride) & mask
	}
	for ; remaining != 0; remaining &= remaining - 1 {
		i := lowestLane(remaining)
		if (row[i]-row[first]-uint64(i-first)*f.Stride)&mask != 0 {
			return Form{Kind: "generic"}
		}
	}
	return f
}

// Registers returns the registers of the context's function.
func (c *Context) Registers() []Register {
	list := make([]Register, len(c.Func.Regs))
	for i := range list {
		list[i] = registerOf(c.Func, ptx.RegID(i))
		if v, ok := c.Read(ptx.RegID(i)); ok {
			list[i].set(v, c.Lanes)
		}
	}
	return list
}

// registerOf returns a register of a function, without a value.
func registerOf(f *ptx.Func, r ptx.RegID) Register {
	return Register{Name: f.Regs[r].Name, Type: f.Regs[r].Type}
}

// set gives the register its value in lanes.
func (r *Register) set(v probe.Value, lanes uint64) {
	r.Live, r.Row = true, v.Low
	r.Form = formOf(v.Low, lanes, r.Type)
	if r.Type.Bits() > 64 {
		r.High = v.High
		if r.Form.Kind != "uniform" || formOf(v.High, lanes, r.Type).Kind != "uniform" {
			r.Form.Kind = "generic"
		}
	}
}

// Text formats the register in one line: its value structure, or the values of lanes if that is generic.
func (r *Register) Text(lanes uint64) string {
	if !r.Live {
		return "(not live here)"
	}
	show := func(bits uint64) string { return r.show(bits, 0) }
	switch r.Form.Kind {
	case "uniform":
		return "uniform " + r.Value(lowestLane(lanes))
	case "affine":
		stride := valueOf(ptx.S64, r.Form.Stride)
		if int64(r.Form.Stride) < 0 {
			return fmt.Sprintf("affine %s - %d*lane", show(r.Form.Base), -int64(r.Form.Stride))
		}
		return fmt.Sprintf("affine %s + %s*lane", show(r.Form.Base), stride)
	}
	return "generic " + r.Lanes(lanes)
}

// Lanes formats the values of lanes. Consecutive lanes with equal values are one entry: "0-3:7".
func (r *Register) Lanes(lanes uint64) string {
	if !r.Live {
		return "(not live here)"
	}
	var parts []string
	for m := lanes; m != 0; {
		first := lowestLane(m)
		last := first
		for last+1 < len(r.Row) && lanes>>(last+1)&1 != 0 && r.Row[last+1] == r.Row[first] && r.high(last+1) == r.high(first) {
			last++
		}
		name := fmt.Sprint(first)
		if last > first {
			name = fmt.Sprintf("%d-%d", first, last)
		}
		parts = append(parts, fmt.Sprintf("%s:%s", name, r.Value(first)))
		m &^= ^uint64(0) >> (63 - last)
	}
	return strings.Join(parts, " ")
}

// Lane formats the value of a lane.
func (r *Register) Lane(lane int) string {
	if !r.Live {
		return "(not live here)"
	}
	return r.Value(lane)
}

// Variable is a variable in shared or local memory.
type Variable struct {
	Name  string   // name in the PTX
	Type  ptx.Type // type of an element
	Count int      // number of elements
	Addr  uint64   // generic address, in the window of shared or local memory
}

// Shared returns the variables in shared memory of the kernel and its callees.
func (s *Session) Shared() []Variable {
	return variables(s.info.Program.Shared(), probe.SharedWindow)
}

// Locals returns the variables in local memory of the context's function.
func (s *Session) Locals(c *Context) []Variable {
	return variables(s.info.Program.Locals(c.Func), probe.LocalWindow+uint64(c.Frame()))
}

func variables(list []probe.Variable, base uint64) (out []Variable) {
	for _, v := range list {
		out = append(out, Variable{v.Var.Name, v.Var.Type, v.Var.Size() / max(v.Var.Type.Size(), 1), base + uint64(v.Offset)})
	}
	return out
}

// Read returns n bytes of memory, as the thread in focus reads it. addr is a generic address if space is empty, else an
// address in the state space.
func (s *Session) Read(space string, addr uint64, n int) ([]byte, error) {
	if space != "" && memorySpaces[space] == 0 {
		return nil, fmt.Errorf("no state space %s", space)
	}
	sc := s.focusScope()
	return sc.bytes(sc.place(memorySpaces[space], addr, ptx.U8), s.focus.Lane, n)
}

// locate returns the memory that an expression names, for the thread in focus. It is an error if the memory does not
// exist.
func (s *Session) locate(c *Condition) (Location, error) {
	sc := s.focusScope()
	p, err := c.programFor(sc)
	if err != nil {
		return Location{}, err
	}
	if p.location == nil {
		return Location{}, c.fail(c.root, "%s is not memory: want [%%rd1].u32, out[5].f32 or a variable", c.Text)
	}
	sc.prepare(p)
	l, err := p.location(sc, s.focus.Lane)
	if err == nil {
		_, err = sc.bytes(l, s.focus.Lane, l.size())
	}
	return l, err
}

// Evaluate formats the value of an expression for the thread in focus.
func (s *Session) Evaluate(text string) (string, error) {
	c, err := ParseCondition(text)
	if err != nil {
		return "", err
	}
	v, err := s.evaluate(c)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func (s *Session) evaluate(c *Condition) (value, error) {
	sc := s.focusScope()
	p, err := c.programFor(sc)
	if err != nil {
		return value{}, err
	}
	sc.prepare(p)
	return p.eval(sc, s.focus.Lane)
}

// Register returns the register with a name, in the context of the thread in focus; false if there is none.
func (s *Session) Register(name string) (*Register, bool) {
	c, err := s.Context()
	if err != nil {
		return nil, false
	}
	r, ok := c.scope(s).register(strings.TrimSpace(name))
	if !ok {
		return nil, false
	}
	return &c.Registers()[r], true
}

// Frame is a function on the call stack of a context.
type Frame struct {
	Func  *ptx.Func  // function of the frame
	Instr *ptx.Instr // the current instruction, a call except in the innermost frame; nil at the end of the function
	Index int        // index of Instr; -1 if it is nil
}

// Frames returns the call stack of the context, innermost first.
func (s *Session) Frames(c *Context) []Frame {
	list := []Frame{{c.Func, c.Instr, c.Index}}
	for _, call := range c.Calls {
		instr, f := s.info.Program.At(call)
		list = append(list, Frame{f, instr, call})
	}
	return list
}

// BlockedReason describes why the thread in focus waits, or says that it can run.
func (s *Session) BlockedReason() (string, error) {
	c, err := s.Context()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	thread := fmt.Sprintf("lane %d of warp %d of CTA %s", s.focus.Lane, c.Warp, c.ID)
	printOthers := func(match func(o *Context) bool) {
		for _, o := range s.Contexts() {
			if o.CTA == c.CTA && match(&o) {
				fmt.Fprintf(&b, "\n   warp %d %s: %s", o.Warp, probe.LaneText(o.Lanes), s.describeContext(&o))
			}
		}
	}
	isElsewhere := func(o *Context) bool { return o.Warp == c.Warp && o.Lanes&c.Lanes == 0 }
	switch {
	case c.WaitingToReconverge:
		fmt.Fprintf(&b, "%s waits before line %s to reconverge; the other lanes of its warp:", thread, lineText(c))
		printOthers(isElsewhere)
	case c.Wait != nil && c.Wait.Barrier < 0:
		fmt.Fprintf(&b, "%s waits at line %s for %s, to execute the instruction together; the other lanes of its warp:", thread, lineText(c), probe.LaneText(uint64(c.Wait.Members)))
		printOthers(isElsewhere)
	case c.Wait != nil:
		barrier := fmt.Sprintf("barrier %d of its CTA", c.Wait.Barrier)
		if c.Wait.Barrier == probe.ClusterBarrier {
			barrier = "the barrier of its cluster"
		}
		if c.Wait.Threads > 0 {
			barrier += fmt.Sprintf(", for %d threads", c.Wait.Threads)
		}
		fmt.Fprintf(&b, "%s waits at line %s at %s; not yet there:", thread, lineText(c), barrier)
		printOthers(func(o *Context) bool { return o.Wait == nil || o.Wait.Barrier != c.Wait.Barrier })
	case c.Running:
		fmt.Fprintf(&b, "%s can run; it is before line %s", thread, lineText(c))
	default:
		fmt.Fprintf(&b, "%s can run and is before line %s, but other lanes of its warp run first:", thread, lineText(c))
		printOthers(func(o *Context) bool { return o.Warp == c.Warp && o.Running })
	}
	return b.String(), nil
}

// describeContext describes the place of a context and its wait, if any.
func (s *Session) describeContext(c *Context) string {
	switch {
	case c.WaitingToReconverge:
		return "wait before line " + lineText(c) + " for other lanes to reconverge"
	case c.Wait != nil && c.Wait.Barrier < 0:
		return fmt.Sprintf("wait at line %s for %s", lineText(c), probe.LaneText(uint64(c.Wait.Members)))
	case c.Wait != nil && c.Wait.Barrier == probe.ClusterBarrier:
		return "wait at line " + lineText(c) + " at the barrier of the cluster"
	case c.Wait != nil:
		return fmt.Sprintf("wait at line %s at barrier %d", lineText(c), c.Wait.Barrier)
	}
	return "before line " + lineText(c)
}

// lineText returns the current line of a context in the PTX.
func lineText(c *Context) string {
	if c.Instr == nil {
		return fmt.Sprintf("%d, the end of %s", c.Func.End.Line, c.Func.Name)
	}
	return fmt.Sprint(c.Instr.Pos.Line)
}

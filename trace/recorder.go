package trace

// This file is the probe that writes logs.

import (
	"iter"
	"slices"
	"sync"

	"gemu/interp"
	"gemu/ptx"
)

// Recorder writes what the launches of a device do, of which it is a probe.
type Recorder struct {
	filter Filter

	mu       sync.Mutex
	w        *Writer
	err      error
	launches uint64
	running  map[*interp.LaunchInfo]*recording
}

// NewRecorder has a log written of what a filter lets through.
func NewRecorder(w *Writer, f Filter) *Recorder {
	return &Recorder{filter: f, w: w, running: map[*interp.LaunchInfo]*recording{}}
}

// Close ends the log. Where a launch is under way, as when a process ends in the middle of one, it is
// left as it is, which readers tell.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if len(r.running) > 0 {
		return r.w.abandon()
	}
	return r.w.Close()
}

// Err is what has kept the log from being written. Launches end by it.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// recording is a launch that is being written.
type recording struct {
	*Recorder
	order order
	code  []Code
}

// Wants are the instructions that have executed, and what comes of them later. One that is undone has
// not come to its OnAfter.
func (r *Recorder) Wants() interp.Wants {
	return interp.Wants{
		Events: interp.OnLaunch | interp.OnLaunchEnd | interp.OnCTAEnd | interp.OnBefore | interp.OnAccess | interp.OnAfter |
			interp.OnReturn | interp.OnWake | interp.OnTrap | interp.OnEffect,
		Values: true, Addresses: true,
	}
}

// Tell is told of launches that begin and end.
func (r *Recorder) Tell(e *interp.Event) {
	switch e.Kind {
	case interp.OnLaunch:
		r.begin(e.Launch)
	case interp.OnLaunchEnd:
		r.end(e)
	}
}

func (r *Recorder) begin(l *interp.LaunchInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.launches
	r.launches++
	if !r.filter.launches(l.Kernel.Name) {
		return
	}
	c := &recording{Recorder: r}
	c.order = order{w: r.w, parts: map[uint64]*part{}, after: func(cta uint64) uint64 { return r.filter.CTAs.after(cta + 1) }}
	c.order.next = r.filter.CTAs.after(0)
	r.running[l] = c
	r.keep(r.w.Write(&Launch{
		Number: number, Kernel: l.Kernel.Name, File: l.Module.Name, Grid: extentOf(l.Grid), Block: extentOf(l.Block), Cluster: clusterOf(l.Cluster),
		WarpSize: uint64(l.WarpSize), Reconverge: l.Reconverge.Name,
	}))
	for i := range l.Program.Len() {
		c.code = append(c.code, codeOf(uint64(i), l.Program))
		r.keep(r.w.Write(&c.code[i]))
	}
}

// keep notes the first error.
func (r *Recorder) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Recorder) end(e *interp.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.running[e.Launch]
	if c == nil {
		return
	}
	defer delete(r.running, e.Launch)
	// CTAs behind one that has trapped may or may not have run.
	last := ^uint64(0)
	end := &End{Number: c.w.launch}
	if e.Err != nil {
		end.Error = e.Err.Error()
	}
	if e.Trap != nil {
		t := e.Trap
		last = uint64(t.CTA.X + t.Grid.X*(t.CTA.Y+t.Grid.Y*t.CTA.Z))
	}
	r.keep(c.order.finish(last))
	r.keep(r.w.Write(end))
}

func extentOf(d interp.Dim3) []uint64 { return []uint64{uint64(d.X), uint64(d.Y), uint64(d.Z)} }

// clusterOf is the extent of clusters, nil if there are none.
func clusterOf(d interp.Dim3) []uint64 {
	if d.X*d.Y*d.Z <= 1 {
		return nil
	}
	return extentOf(d)
}

// codeOf describes an instruction of a program.
func codeOf(i uint64, p interp.Program) Code {
	in, f := p.At(int(i))
	c := Code{Index: i, Func: f.Name, Line: uint64(in.Pos.Line), Column: uint64(in.Pos.Col), Class: in.Form.Class.String(), Text: in.Format(f)}
	registers := func(list iter.Seq[ptx.RegID]) (out []Register) {
		for r := range list {
			out = append(out, Register{f.Regs[r].Name, bitsOf(f.Regs[r].Type), f.Regs[r].Type.String()})
		}
		return out
	}
	c.Writes, c.Reads = registers(in.Defs()), registers(in.Uses())
	if slices.ContainsFunc(in.Ops, measures) {
		c.Flags = append(c.Flags, "clock")
	}
	if in.Has("approx") || in.Has("full") { // div.full has a bound, too (manual 9.7.3.8)
		c.Flags = append(c.Flags, "approx"+in.Type().String())
	}
	return c
}

func measures(o ptx.Operand) bool {
	return o.Kind == ptx.SRegOperand && o.SReg.Measures() || slices.ContainsFunc(o.Elems(), measures)
}

// bitsOf is the width of a register of a type.
func bitsOf(t ptx.Type) uint64 {
	if t == ptx.Pred {
		return 1
	}
	return uint64(t.Bits())
}

// CTA begins what a CTA does.
func (r *Recorder) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.running[l]
	if c == nil || !r.filter.CTAs.Has(uint64(index)) {
		return nil
	}
	p := &part{cta: CTA{uint64(index), extentOf(id)}}
	c.order.parts[p.cta.Number] = p
	warps := (l.Block.X*l.Block.Y*l.Block.Z + l.WarpSize - 1) / l.WarpSize
	return &sink{recording: c, part: p, warps: make([]warp, warps)}
}

// warp is how far a warp has come.
type warp struct {
	seq     uint64
	numbers [64]uint64 // instructions that each lane has executed
	written [64]uint64 // … up to and with that which was written last
}

// sink writes the records of a CTA.
type sink struct {
	*recording
	part  *part
	warps []warp

	stores []gives // of the instruction that is being executed, by access
	record Record  // room
	given  interp.Given
	lanes  []uint64
	failed error // to write
}

// Tell is told what the CTA does.
func (s *sink) Tell(e *interp.Event) {
	switch e.Kind {
	case interp.OnBefore:
		s.stores = s.stores[:0]
	case interp.OnAccess:
		s.stored(e)
	case interp.OnAfter:
		s.instruction(e)
	case interp.OnReturn, interp.OnWake:
		if s.late(e) {
			s.result(e)
		}
	case interp.OnEffect:
		s.effect(e)
	case interp.OnTrap:
		s.trap(e)
	case interp.OnCTAEnd:
		s.put(func() error { return s.order.end(s.part) })
	}
	if s.failed != nil {
		e.Stop(s.failed)
	}
}

// put does something with what the CTAs share.
func (s *sink) put(do func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(do())
	s.failed = s.err
}

// lets reports whether the filter lets an instruction through.
func (s *sink) lets(e *interp.Event) bool {
	f := &s.filter
	if e.Warp >= 0 && !f.Warps.Has(uint64(e.Warp)) {
		return false
	}
	if e.Index < 0 {
		return true
	}
	c := &s.code[e.Index]
	return f.instructions(c.Line, c.Class)
}

// later reports whether the results of an instruction come when others make them: of calls and
// barriers, and of multiplications of a warpgroup.
func later(in *ptx.Instr) bool {
	return in.Form.Effects.Any(ptx.Calls|ptx.Barrier) || in.Form.Family == ptx.FamilyWgmma
}

// late reports whether the results that an instruction has come with this event, and were not
// written as it executed.
func (s *sink) late(e *interp.Event) bool {
	return len(e.Writes) > 0 && e.Instr != nil && later(e.Instr)
}

// stored notes what an instruction is about to store.
func (s *sink) stored(e *interp.Event) {
	a := &e.Accesses[len(e.Accesses)-1]
	for len(s.stores) < len(e.Accesses) {
		s.stores = append(s.stores, gives{})
	}
	to := &s.stores[len(e.Accesses)-1]
	*to = gives{}
	lanes := a.Lanes & e.Lanes
	if a.Bulk() {
		v := Value{Bits: 64}
		s.lanes = s.lanes[:0]
		for lane := range 64 {
			n := 0
			if lanes>>lane&1 != 0 {
				n = a.Length(lane)
			}
			s.lanes = append(s.lanes, uint64(n))
		}
		v.describe(lanes, s.lanes, nil)
		to.store = []Value{v}
		return
	}
	g := &s.given
	for lane := range 64 {
		if lanes>>lane&1 == 0 {
			continue
		}
		if !a.Given(g, lane) || len(g.Data) != a.Bytes {
			*to = gives{}
			return
		}
		to.store = s.element(to.store, 0, g.Data, g.Size, lane)
		to.compare = s.element(to.compare, len(g.Data), g.Compare, g.Size, lane)
	}
	s.finish(to.store, 0, lanes)
	s.finish(to.compare, a.Bytes, lanes)
	if g.Left != 0 {
		parts := max(g.Size/8, 1) // of an element
		for i := range to.store {
			if g.Left>>(i/parts)&1 != 0 {
				to.store[i] = Value{Bits: to.store[i].Bits, Structure: Left}
			}
		}
	}
}

// gives is what an instruction gives to an access: elements, in the order of memory.
type gives struct{ store, compare []Value }

// element notes what a lane gives, in elements of at most 8 bytes; room is where that is in s.lanes.
func (s *sink) element(list []Value, room int, b []byte, size, lane int) []Value {
	size = min(size, 8)
	for i := 0; i*size < len(b); i++ {
		if i == len(list) {
			list = append(list, Value{Bits: uint64(8 * size)})
		}
		at := 64*(room+i) + lane
		if at >= len(s.lanes) {
			s.lanes = append(s.lanes, make([]uint64, at+64-len(s.lanes))...)
		}
		v := uint64(0)
		for k := range size {
			v |= uint64(b[i*size+k]) << (8 * k)
		}
		s.lanes[at] = v
	}
	return list
}

// finish describes the elements that lanes have given.
func (s *sink) finish(list []Value, room int, lanes uint64) {
	for i := range list {
		list[i].describe(lanes, s.lanes[64*(room+i):][:64], nil)
	}
}

// instruction writes what a warp has executed.
func (s *sink) instruction(e *interp.Event) {
	w := &s.warps[e.Warp]
	r := &s.record
	*r = Record{CTA: s.part.cta.Number, Warp: uint64(e.Warp), Seq: w.seq, Code: uint64(e.Index) + 1, Lanes: e.Lanes, Active: e.Active, Depth: uint64(e.Depth), Results: r.Results[:0], Accesses: r.Accesses[:0]}
	w.seq++
	missing := false
	for lane := range 64 {
		if e.Active>>lane&1 != 0 {
			missing = missing || w.numbers[lane] != w.written[lane]
			w.numbers[lane]++
		}
	}
	if !s.lets(e) {
		return
	}
	if missing {
		var before [64]uint64
		for lane := range 64 {
			before[lane] = w.numbers[lane] - 1
		}
		r.Numbers = &Value{Bits: 64}
		r.Numbers.describe(e.Active, before[:], nil)
	}
	for lane := range 64 {
		if e.Active>>lane&1 != 0 {
			w.written[lane] = w.numbers[lane]
		}
	}
	c := &s.code[e.Index]
	r.Line, r.Name = c.Line, e.Instr.Text
	if e.Lanes != 0 {
		if !later(e.Instr) {
			r.results(e, e.Lanes)
		}
		for i := range e.Accesses {
			a := &e.Accesses[i]
			if a.Lanes&e.Lanes == 0 { // coordinates outside of a surface
				continue
			}
			var given gives
			if i < len(s.stores) {
				given = s.stores[i]
			}
			r.Accesses = append(r.Accesses, accessOf(e, a, given))
		}
	}
	s.write(r, c)
}

// results notes registers that lanes have got.
func (r *Record) results(e *interp.Event, lanes uint64) {
	for i := range e.Writes {
		v := &e.Writes[i]
		if len(r.Results) < cap(r.Results) {
			r.Results = r.Results[:len(r.Results)+1]
		} else {
			r.Results = append(r.Results, Value{})
		}
		to := &r.Results[len(r.Results)-1]
		to.Name, to.Bits = e.Func.Regs[v.Reg].Name, bitsOf(v.Type)
		to.describe(lanes, v.Low, v.High)
	}
}

var kindOf = map[interp.AccessKind]AccessKind{interp.AccessLoad: Load, interp.AccessStore: Store, interp.AccessAtomic: Atomic}

// accessOf describes an access of an instruction.
func accessOf(e *interp.Event, a *interp.Access, given gives) Access {
	to := Access{Kind: kindOf[a.Kind], Space: a.Space.String(), Bytes: uint64(a.Bytes), Addr: Value{Bits: 64}, Store: given.store, Compare: given.compare}
	lanes := a.Lanes & e.Lanes
	if lanes != e.Lanes {
		to.Lanes = lanes
	}
	if a.Bulk() {
		to.Kind, to.Bytes = Zero, 0
	}
	to.Addr.describe(lanes, a.Addr, nil)
	return to
}

// write encodes a record, and puts away what is too much of the part.
func (s *sink) write(r *Record, c *Code) {
	p := s.part
	p.buf = s.w.codec.append(p.buf, r, c)
	p.records++
	if len(p.buf) > chunkBytes {
		s.put(func() error { return s.order.grown(p) })
	}
}

// about begins a record that is not of an instruction as it executes.
func (s *sink) about(e *interp.Event, kind Kind) (r *Record, c *Code) {
	r = &Record{Kind: kind, CTA: s.part.cta.Number, Lanes: e.Lanes, Active: e.Lanes, Depth: uint64(e.Depth)}
	if e.Warp >= 0 {
		r.Warp, r.Seq = uint64(e.Warp), s.warps[e.Warp].seq
	}
	if e.Index >= 0 {
		c = &s.code[e.Index]
		r.Code, r.Line, r.Name = uint64(e.Index)+1, c.Line, e.Instr.Text
	}
	return r, c
}

// result writes results that come later.
func (s *sink) result(e *interp.Event) {
	if !s.lets(e) {
		return
	}
	kind := Return
	if e.Kind == interp.OnWake {
		kind = Wake
	}
	r, c := s.about(e, kind)
	r.results(e, e.Lanes)
	s.write(r, c)
}

// effect writes what an asynchronous operation does.
func (s *sink) effect(e *interp.Event) {
	if !s.lets(e) {
		return
	}
	x := e.Effect
	r, c := s.about(e, Effect)
	r.Note = effectNote(x.Number, x.Issued, x.Reads, x.Writes)
	at := func(kind AccessKind, in *interp.Allocation, off uint64, bytes int, data []byte) {
		addr := in.Base + off
		if in.Space() == ptx.Shared { // with the rank of its CTA
			addr -= interp.SharedWindow
		}
		r.Accesses = append(r.Accesses, Access{Kind: kind, Space: in.Space().String(), Bytes: uint64(bytes), Addr: Value{Bits: 64, Base: addr}, Data: data})
	}
	for _, p := range x.Pieces {
		if x.Reads && p.From != nil {
			at(Load, p.From, p.FromOff, p.Read, nil)
		}
		if x.Writes && p.To != nil { // of matrices that are read there is nothing that is written
			kind, data := Store, p.Data
			if x.Reduces {
				kind = Atomic
			}
			if p.Fill && data == nil {
				data = make([]byte, p.Bytes)
			}
			at(kind, p.To, p.ToOff, p.Bytes, data)
		}
	}
	if len(e.Writes) > 0 {
		r.Lanes, r.Active = e.Active, e.Active
		r.results(e, e.Active)
	}
	s.write(r, c)
}

// trap writes what has stopped the CTA.
func (s *sink) trap(e *interp.Event) {
	if e.Warp >= 0 && !s.filter.Warps.Has(uint64(e.Warp)) {
		return
	}
	r, c := s.about(e, Trap)
	r.Note = e.Trap.Msg
	s.write(r, c)
}

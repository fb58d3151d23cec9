package trace

// This file implements the probe that records logs.

import (
	"errors"
	"iter"
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Recorder is a probe that records the launches of a device in a log. It is safe for concurrent launches.
type Recorder struct {
	filter Filter

	mu       sync.Mutex
	w        *Writer
	err      error
	launches uint64
	free     freeBuffers
	running  map[*probe.LaunchInfo]*launchRecording
	queue    []*launchRecording // launches that are not completely in the log, in the order of their beginning; the first is being written
}

// NewRecorder returns a recorder of the launches that the filter selects.
func NewRecorder(w *Writer, f Filter) *Recorder {
	return &Recorder{filter: f, w: w, running: map[*probe.LaunchInfo]*launchRecording{}}
}

// Close ends the log. If a launch is still running, for example because the process ends, Close writes the later launches that have
// ended, but no Finish entry, so readers report ErrTruncated after the last entry. If there are such launches, the running launch has
// an End entry with an error.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if len(r.queue) == 0 {
		return r.w.Close()
	}
	if err := r.writeEnded(); err != nil {
		return errors.Join(err, r.w.abandon())
	}
	return r.w.abandon()
}

// writeEnded writes the ended launches of the queue, which wait for its first launch. The log then has an End entry with an error for
// the first launch, because launches do not overlap in a log. The caller must hold r.mu.
func (r *Recorder) writeEnded() error {
	isOpen := r.queue[0]
	for _, c := range r.queue[1:] {
		if c.end == nil {
			continue
		}
		if isOpen != nil {
			isOpen.order.drop()
			if err := r.w.Write(&End{Number: isOpen.begin.Number, Error: errUnended.Error()}); err != nil {
				return err
			}
			isOpen = nil
		}
		if err := errors.Join(c.open(), c.close()); err != nil {
			return err
		}
	}
	return nil
}

// errUnended is the error of a launch that is still running when the log ends.
var errUnended = errors.New("the launch had not ended when the log was closed")

// Err returns the first write error. After a write error the recorder ends the running launches with this error.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// launchRecording is the recording of a launch. Launches may be in flight together; the log has one after another.
type launchRecording struct {
	*Recorder
	begin *Launch
	order ctaOrder
	code  []Code
	// ascending means that CTAs begin in the order of the log. Otherwise they are written at the end of the launch.
	ascending bool
	omits     bool // the filter omits instructions or warps of a recorded CTA
	end       *End // nil: the launch has not ended
	// dropped has the CTAs that began after a trapped CTA. The log omits them: which of them have run depends on the host.
	dropped map[uint64]bool
}

// Subscription selects executed instructions, their deferred results and their asynchronous effects. An undone instruction
// (OnUndo) is not recorded, because it has no event OnAfter.
func (r *Recorder) Subscription() probe.Subscription {
	return probe.Subscription{
		Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnAccess | probe.OnAfter |
			probe.OnReturn | probe.OnWake | probe.OnTrap | probe.OnEffect,
		Results: true, Addresses: true,
	}
}

// OnEvent handles the beginning and end of launches.
func (r *Recorder) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnLaunch:
		r.begin(e.Launch)
	case probe.OnLaunchEnd:
		r.end(e)
	}
}

func (r *Recorder) begin(l *probe.LaunchInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.launches
	r.launches++
	if !r.filter.SelectsKernel(l.Kernel.Name) {
		return
	}
	f := &r.filter
	c := &launchRecording{Recorder: r, ascending: l.Ascending(), omits: len(f.Warps) > 0 || len(f.Lines) > 0 || len(f.Classes) > 0}
	c.order = ctaOrder{w: r.w, free: &r.free, next: noCTA, parts: map[uint64]*ctaLog{}, after: func(cta uint64) uint64 { return r.filter.CTAs.after(cta + 1) }}
	c.begin = &Launch{
		Number: number, Kernel: l.Kernel.Name, File: l.Module.Name, Grid: extentOf(l.Grid), Block: extentOf(l.Block), Cluster: clusterOf(l.Cluster),
		WarpSize: uint64(l.WarpSize), Reconverge: l.Reconverge.Name,
	}
	for i := range l.Program.Len() {
		c.code = append(c.code, CodeOf(uint64(i), l.Program))
	}
	r.running[l] = c
	if r.queue = append(r.queue, c); len(r.queue) == 1 {
		r.setError(c.open())
	}
}

// open begins to write a launch: its CTAs no longer wait for other launches.
func (c *launchRecording) open() error {
	if err := c.w.Write(c.begin); err != nil {
		return err
	}
	for i := range c.code {
		if err := c.w.Write(&c.code[i]); err != nil {
			return err
		}
	}
	if !c.ascending {
		return nil
	}
	return c.order.open(c.filter.CTAs.after(0))
}

// close writes the remaining entries of an ended launch that is open.
func (c *launchRecording) close() error {
	if err := c.order.finish(c.dropped); err != nil {
		return err
	}
	return c.w.Write(c.end)
}

// setError keeps the first error.
func (r *Recorder) setError(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Recorder) end(e *probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.running[e.Launch]
	if c == nil {
		return
	}
	defer delete(r.running, e.Launch)
	c.end = &End{Number: c.begin.Number}
	if e.Err != nil {
		c.end.Error = e.Err.Error()
	}
	if e.Trap != nil {
		c.dropped = map[uint64]bool{}
		for i := e.Launch.Grid.Count() - 1; i >= 0; i-- {
			at := e.Launch.CTAAt(i)
			if at == e.Trap.CTA {
				break
			}
			if n := uint64(e.Launch.Grid.Linear(at)); c.order.parts[n] != nil {
				c.dropped[n] = true
			}
		}
	}
	for len(r.queue) > 0 && r.queue[0].end != nil {
		r.setError(r.queue[0].close())
		if r.queue = r.queue[1:]; len(r.queue) > 0 {
			r.setError(r.queue[0].open())
		}
	}
}

func extentOf(d ptx.Dim3) []uint64 { return []uint64{uint64(d.X), uint64(d.Y), uint64(d.Z)} }

// clusterOf returns the extent of clusters, or nil without clusters.
func clusterOf(d ptx.Dim3) []uint64 {
	if d.X*d.Y*d.Z <= 1 {
		return nil
	}
	return extentOf(d)
}

// CodeOf describes an instruction of a program.
func CodeOf(i uint64, p probe.Program) Code {
	instr, f := p.At(int(i))
	c := Code{Index: i, Func: f.Name, Line: uint64(instr.Pos.Line), Column: uint64(instr.Pos.Col), Class: instr.Form.Class.String(), Text: instr.Format(f)}
	registers := func(list iter.Seq[ptx.RegID]) (out []Register) {
		for r := range list {
			out = append(out, Register{f.Regs[r].Name, BitsOf(f.Regs[r].Type), f.Regs[r].Type.String()})
		}
		return out
	}
	c.Writes, c.Reads = registers(slices.Values(p.Writes(int(i)))), registers(instr.Uses())
	if slices.ContainsFunc(instr.Ops, measures) {
		c.Flags = append(c.Flags, "clock")
	}
	if instr.Has("approx") || instr.Has("full") { // div.full has an error bound, too (manual 9.7.3.8)
		c.Flags = append(c.Flags, "approx"+instr.Type().String())
	}
	return c
}

// measures reports whether an operand contains a special register whose value is a time.
func measures(o ptx.Operand) bool {
	return o.Kind == ptx.SRegOperand && o.SReg.Measures() || slices.ContainsFunc(o.Elems(), measures)
}

// BitsOf returns the width of a register type in bits: 1 for predicates.
func BitsOf(t ptx.Type) uint64 {
	if t == ptx.Pred {
		return 1
	}
	return uint64(t.Bits())
}

// CTA returns the sink that records a CTA.
func (r *Recorder) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.running[l]
	if c == nil || !r.filter.CTAs.Has(uint64(index)) {
		return nil
	}
	p := &ctaLog{cta: CTA{uint64(index), extentOf(id)}, buf: r.free.take()}
	c.order.parts[p.cta.Number] = p
	warps := (l.Block.X*l.Block.Y*l.Block.Z + l.WarpSize - 1) / l.WarpSize
	return &sink{launchRecording: c, part: p, warps: make([]warp, warps)}
}

// warp counts the instructions of a warp.
type warp struct {
	seq uint64 // number of instructions that the warp has executed

	// The fields of a recorder whose filter omits instructions.
	numbers [64]uint64 // number of instructions that each lane has executed
	written [64]uint64 // value of numbers after the last recorded instruction of each lane
}

// sink records a CTA.
type sink struct {
	*launchRecording
	part  *ctaLog
	warps []warp

	accesses Accesses
	record   Record // scratch space
	failed   error  // write error
}

// OnEvent handles the events of the CTA.
func (s *sink) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnAccess:
		s.accesses.Note(e)
	case probe.OnAfter:
		s.instruction(e)
	case probe.OnReturn, probe.OnWake:
		if s.isDeferred(e) {
			s.result(e)
		}
	case probe.OnEffect:
		s.effect(e)
	case probe.OnTrap:
		s.trap(e)
	case probe.OnCTAEnd:
		s.withLog(func() error { return s.order.end(s.part) })
	}
	if s.failed != nil {
		e.Stop(s.failed)
	}
}

// withLog calls f with the lock of the log, which all sinks share.
func (s *sink) withLog(f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setError(f())
	s.failed = s.err
}

// passes reports whether the filter selects an instruction.
func (s *sink) passes(e *probe.Event) bool {
	f := &s.filter
	if e.Warp >= 0 && !f.Warps.Has(uint64(e.Warp)) {
		return false
	}
	if e.Index < 0 {
		return true
	}
	c := &s.code[e.Index]
	return f.SelectsInstruction(c.Line, c.Class)
}

// IsDeferred reports whether the results of an instruction come after its event OnAfter. This is so for calls, barriers and
// warpgroup multiplications.
func IsDeferred(instr *ptx.Instr) bool {
	return instr.Form.Effects.Any(ptx.Calls|ptx.Barrier) || instr.Form.Family == ptx.FamilyWgmma
}

// isDeferred reports whether the event has deferred results of its instruction.
func (s *sink) isDeferred(e *probe.Event) bool {
	return len(e.Writes) > 0 && e.Instr != nil && IsDeferred(e.Instr)
}

// instruction records an executed instruction.
func (s *sink) instruction(e *probe.Event) {
	w := &s.warps[e.Warp]
	r, c := s.newRecord(e, Instruction)
	r.Active = e.Active
	w.seq++
	if s.omits && !s.number(w, r, e) {
		return
	}
	if e.Lanes != 0 {
		if !IsDeferred(e.Instr) {
			r.results(e, e.Lanes)
		}
		r.Accesses = s.accesses.Append(r.Accesses, e)
	}
	s.write(r, c)
}

// number counts an executed instruction for its threads, reports whether the filter selects it, and sets Record.Numbers of a
// selected instruction before which the filter has left out instructions of its threads.
func (s *sink) number(w *warp, r *Record, e *probe.Event) (selected bool) {
	missing := false
	for m := e.Active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		missing = missing || w.numbers[lane] != w.written[lane]
		w.numbers[lane]++
	}
	if !s.passes(e) {
		return false
	}
	if missing {
		var before [64]uint64
		for lane := range 64 {
			before[lane] = w.numbers[lane] - 1
		}
		r.Numbers = &Value{Bits: 64}
		r.Numbers.Describe(e.Active, before[:], nil)
	}
	for m := e.Active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		w.written[lane] = w.numbers[lane]
	}
	return true
}

// results adds the registers of Event.Writes to Results, for a set of lanes.
func (r *Record) results(e *probe.Event, lanes uint64) {
	for i := range e.Writes {
		v := &e.Writes[i]
		if len(r.Results) < cap(r.Results) {
			r.Results = r.Results[:len(r.Results)+1]
		} else {
			r.Results = append(r.Results, Value{})
		}
		result := &r.Results[len(r.Results)-1]
		result.Name, result.Bits = e.Func.Regs[v.Reg].Name, BitsOf(v.Type)
		result.Describe(lanes, v.Low, v.High)
	}
}

// write encodes a record. If the CTA has more than chunkBytes in memory, it moves them to the log or to disk.
func (s *sink) write(r *Record, c *Code) {
	p := s.part
	p.buf = s.w.codec.append(p.buf, r, c)
	p.records++
	if len(p.buf) > chunkBytes {
		s.withLog(func() error { return s.order.spill(p) })
	}
}

// newRecord returns s.record for an event, and the instruction of the event; nil if it has none.
func (s *sink) newRecord(e *probe.Event, kind Kind) (r *Record, c *Code) {
	r = &s.record
	*r = Record{Kind: kind, CTA: s.part.cta.Number, Lanes: e.Lanes, Active: e.Lanes, Depth: uint64(e.Depth), Results: r.Results[:0], Accesses: r.Accesses[:0]}
	if e.Warp >= 0 {
		r.Warp, r.Seq = uint64(e.Warp), s.warps[e.Warp].seq
	}
	if e.Index >= 0 {
		c = &s.code[e.Index]
		r.Code, r.Line, r.Name = uint64(e.Index)+1, c.Line, e.Instr.Text
	}
	return r, c
}

// result records deferred results.
func (s *sink) result(e *probe.Event) {
	if !s.passes(e) {
		return
	}
	kind := Return
	if e.Kind == probe.OnWake {
		kind = Wake
	}
	r, c := s.newRecord(e, kind)
	r.results(e, e.Lanes)
	s.write(r, c)
}

// effect records a stage of an asynchronous operation.
func (s *sink) effect(e *probe.Event) {
	if !s.passes(e) {
		return
	}
	x := e.Effect
	r, c := s.newRecord(e, Effect)
	r.Note = effectNote(x.Number, x.Issued, x.Reads, x.Writes)
	r.Accesses = AppendEffectAccesses(r.Accesses, x)
	if len(e.Writes) > 0 {
		r.Lanes, r.Active = e.Active, e.Active
		r.results(e, e.Active)
	}
	s.write(r, c)
}

// trap records a trap of the CTA.
func (s *sink) trap(e *probe.Event) {
	if e.Warp >= 0 && !s.filter.Warps.Has(uint64(e.Warp)) {
		return
	}
	r, c := s.newRecord(e, Trap)
	r.Note = e.Trap.Msg
	s.write(r, c)
}

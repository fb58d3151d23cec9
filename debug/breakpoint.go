package debug

// This file implements breakpoints and watches: their places, and their hits.

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Breakpoint stops threads before instructions.
type Breakpoint struct {
	Number    int        // number by which the user names it; breakpoints and watches share one numbering, from 1
	Spec      string     // text from the user
	Condition *Condition // only lanes for which it holds stop; nil: all
	Temporary bool       // deleted at its first hit
	Disabled  bool       // no thread stops
	Hits      int        // stops at it, without stops of commands that run backwards

	find   func(s *Session) ([]int, error)
	places map[int]bool // indices of instructions in the launch's program
	notHit ranges       // ranges of moments (Session.Step) known to contain no hit
	err    error        // the reason why places is empty; nil if it is not
}

// Err returns the reason why the launch has no place for the breakpoint, or nil. A later launch may have the place.
func (b *Breakpoint) Err() error { return b.err }

// NoPlaceError is the error for a place that the launch does not have.
type NoPlaceError string

func (e NoPlaceError) Error() string { return string(e) }

func noPlace(format string, args ...any) error { return NoPlaceError(fmt.Sprintf(format, args...)) }

// Lines returns the lines of the breakpoint's places in the PTX, ascending.
func (b *Breakpoint) Lines(s *Session) (lines []int) {
	for i := range b.places {
		instr, _ := s.info.Program.At(i)
		lines = append(lines, int(instr.Pos.Line))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// LinesOf returns the lines of the breakpoint's places in a source file, ascending.
func (b *Breakpoint) LinesOf(s *Session, file string) (lines []int) {
	for i := range b.places {
		if instr, f := s.info.Program.At(i); instr.Loc >= 0 && s.info.Module.FileName(f.Locs[instr.Loc].File) == file {
			lines = append(lines, int(f.Locs[instr.Loc].Line))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// bind finds the places in the launch's program.
func (b *Breakpoint) bind(s *Session) {
	var list []int
	list, b.err = b.find(s)
	b.places = map[int]bool{}
	for _, i := range list {
		b.places[i] = true
	}
	if b.err == nil && b.Condition != nil {
		if b.err = b.check(s, b.Condition); b.err != nil {
			clear(b.places)
		}
	}
}

// Break sets a breakpoint at a place, on a condition, which may be empty:
//
//	LINE          a line of the PTX
//	FILE:LINE     a line of the PTX, or of a source file from which it was compiled
//	NAME          a kernel, function or label
//	opcode:TEXT   instructions whose opcode is TEXT, or begins with it: opcode:mad, opcode:ld.global
//	*INDEX        an instruction of the program, by its index
//	""            the current instruction of the thread in focus
//
// An error of the condition is a *ConditionError. The error for a place that the launch does not have is a
// NoPlaceError.
func (s *Session) Break(spec, condition string) (*Breakpoint, error) {
	return s.setBreak(spec, condition, false)
}

// BreakLater is Break, but accepts a place that only a later launch may have. Until then Breakpoint.Err is not nil.
func (s *Session) BreakLater(spec, condition string) (*Breakpoint, error) {
	return s.setBreak(spec, condition, true)
}

func (s *Session) setBreak(spec, condition string, later bool) (*Breakpoint, error) {
	b := &Breakpoint{Spec: spec}
	if spec == "" {
		c, err := s.Context()
		if err != nil {
			return nil, err
		}
		b.Spec = fmt.Sprintf("*%d", c.Index)
	}
	place, kernel := b.Spec, s.info.Kernel
	switch _, err := strconv.Atoi(place); {
	case err == nil: // a line of this file, even if the next launch is of a kernel in another file
		place = s.info.Module.Name + ":" + place
		fallthrough
	default:
		b.find = func(s *Session) ([]int, error) { return s.find(place) }
	case strings.HasPrefix(place, "*"): // an instruction of this program
		b.find = func(s *Session) ([]int, error) {
			if s.info.Kernel != kernel {
				return nil, noPlace("%s is an instruction of another kernel", place)
			}
			return s.find(place)
		}
	}
	b.bind(s)
	if _, missing := errors.AsType[NoPlaceError](b.err); b.err != nil && !(later && missing) {
		return nil, b.err
	}
	if err := b.SetCondition(s, condition); err != nil {
		return nil, err
	}
	s.lastNumber++
	b.Number = s.lastNumber
	s.breakpoints = append(s.breakpoints, b)
	return b, nil
}

// SetCondition sets the condition, or removes it if text is empty. On an error, a *ConditionError, the
// breakpoint stays unchanged.
func (b *Breakpoint) SetCondition(s *Session, text string) error {
	previous := b.Condition
	b.Condition = nil
	if text != "" {
		c, err := ParseCondition(text)
		if err != nil {
			b.Condition = previous
			return err
		}
		b.Condition = c
	}
	b.bind(s)
	if condErr, ok := errors.AsType[*ConditionError](b.err); ok {
		b.Condition = previous
		b.bind(s)
		return condErr
	}
	b.notHit = nil
	return nil
}

// check compiles a condition for each function that has a place of the breakpoint, and returns the first error.
func (b *Breakpoint) check(s *Session, c *Condition) error {
	for i := range b.places {
		_, f := s.info.Program.At(i)
		if _, err := c.programFor(&scope{s: s, fn: f}); err != nil {
			return err
		}
	}
	return nil
}

// Breakpoints returns all breakpoints by number.
func (s *Session) Breakpoints() []*Breakpoint { return s.breakpoints }

// Watches returns all watches by number.
func (s *Session) Watches() []*Watch { return s.watches }

// Delete deletes the breakpoint or watch with a number. It reports whether there was one.
func (s *Session) Delete(number int) bool {
	n := len(s.breakpoints) + len(s.watches)
	s.breakpoints = slices.DeleteFunc(s.breakpoints, func(b *Breakpoint) bool { return b.Number == number })
	s.watches = slices.DeleteFunc(s.watches, func(w *Watch) bool { return w.Number == number })
	return len(s.breakpoints)+len(s.watches) < n
}

// find returns the indices of the instructions at a place, which has a form of Break but is not empty.
func (s *Session) find(place string) ([]int, error) {
	p := s.info.Program
	if n, ok := strings.CutPrefix(place, "*"); ok {
		i, err := strconv.Atoi(n)
		if err != nil || i < 0 || i >= p.Len() {
			return nil, fmt.Errorf("%s: want the number of an instruction, below %d", place, p.Len())
		}
		return []int{i}, nil
	}
	if text, ok := strings.CutPrefix(place, "opcode:"); ok {
		var list []int
		for i := range p.Len() {
			if instr, _ := p.At(i); instr.Text == text || strings.HasPrefix(instr.Text, text+".") {
				list = append(list, i)
			}
		}
		if len(list) == 0 {
			return nil, noPlace("kernel %s has no instruction %s", s.info.Kernel.Name, text)
		}
		return list, nil
	}
	file, number := s.info.Module.Name, place
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		file, number = place[:i], place[i+1:]
	}
	if n, err := strconv.Atoi(number); err == nil {
		return s.findLine(file, n)
	}
	return s.findName(place)
}

// findLine returns, for each run of consecutive instructions of a line, the first. If the line has no instructions, the
// next line that has some counts instead.
func (s *Session) findLine(file string, number int) ([]int, error) {
	p, ptxFile := s.info.Program, SameFile(file, s.info.Module.Name)
	if ptxFile {
		if f := s.functionAt(number); f != nil && !s.runs(f) {
			return nil, noPlace("line %d belongs to %s, which kernel %s does not call", number, f.Name, s.info.Kernel.Name)
		}
	}
	best, list, known := 0, []int(nil), ptxFile
	last, lastFunc := 0, (*ptx.Func)(nil)
	for i := range p.Len() {
		instr, f := p.At(i)
		n := int(instr.Pos.Line)
		if !ptxFile {
			if n = 0; instr.Loc >= 0 && SameFile(file, s.info.Module.FileName(f.Locs[instr.Loc].File)) {
				n, known = int(f.Locs[instr.Loc].Line), true
			}
		}
		first := n != last || f != lastFunc
		last, lastFunc = n, f
		switch {
		case n < number || n == 0 || !first:
		case best == 0 || n < best:
			best, list = n, []int{i}
		case n == best:
			list = append(list, i)
		}
	}
	switch {
	case !known:
		return nil, noPlace("kernel %s has no instruction from file %s", s.info.Kernel.Name, file)
	case best == 0:
		return nil, noPlace("kernel %s has no instruction at or after line %d of %s", s.info.Kernel.Name, number, file)
	}
	return list, nil
}

// functionAt returns the function whose body contains a line of the PTX, or nil.
func (s *Session) functionAt(number int) *ptx.Func {
	for _, d := range s.info.Module.Decls {
		if f, ok := d.(*ptx.Func); ok && len(f.Blocks) > 0 && int(f.Pos.Line) <= number && number <= int(f.End.Line) {
			return f
		}
	}
	return nil
}

// runs reports whether a function is part of the launch's program.
func (s *Session) runs(f *ptx.Func) bool {
	for i := range s.info.Program.Len() {
		if _, fn := s.info.Program.At(i); fn == f {
			return true
		}
	}
	return false
}

// SameFile reports whether two names may denote the same file: they are equal, or either is the end of the
// other's path.
func SameFile(a, b string) bool {
	if x, err := filepath.Abs(a); err == nil {
		if y, err := filepath.Abs(b); err == nil && x == y {
			return true
		}
	}
	a, b = filepath.ToSlash(filepath.Clean(a)), filepath.ToSlash(filepath.Clean(b))
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// findName returns the first instruction of the function with a name, or else the instructions after all labels of that
// name.
func (s *Session) findName(name string) ([]int, error) {
	p := s.info.Program
	var labels []int
	var last *ptx.Func
	for i := range p.Len() {
		instr, f := p.At(i)
		if f != last && f.Name == name {
			return []int{i}, nil
		}
		last = f
		for _, b := range f.Blocks {
			if len(b.Instrs) > 0 && b.Instrs[0] == instr && slices.Contains(b.Labels, name) {
				labels = append(labels, i)
			}
		}
	}
	if len(labels) == 0 {
		return nil, noPlace("there is no function or label %q in kernel %s or the functions that it calls", name, s.info.Kernel.Name)
	}
	return labels, nil
}

// Access selects the accesses at which a watch stops.
type Access uint8

// The accesses at which a watch stops.
const (
	WatchChanges  Access = iota // writes that change the value
	WatchReads                  // reads
	WatchAccesses               // reads and writes, with or without change
)

// String returns the name of a watch that stops at these accesses: "Read watchpoint".
func (a Access) String() string {
	return [...]string{"Watchpoint", "Read watchpoint", "Access watchpoint"}[a]
}

// Text describes the old and the new value, or only the old value if they are equal.
func (c *WatchHit) Text() string {
	old := valueOf(c.Watch.Type, word(c.Old))
	if c.New == nil || bytes.Equal(c.Old, c.New) {
		return fmt.Sprintf("Value = %s", old)
	}
	return fmt.Sprintf("Old value = %s\nNew value = %s", old, valueOf(c.Watch.Type, word(c.New)))
}

// Watch stops after an instruction that accesses its memory.
type Watch struct {
	Number int      // as Breakpoint.Number
	Text   string   // text from the user
	Type   ptx.Type // type of the watched value, which decides the number of bytes and their printed form
	Access Access   // accesses at which it stops
	Hits   int      // stops at it, without stops of commands that run backwards

	location Location
	notHit   ranges // ranges of moments (Session.Step) known to contain no hit
}

// WatchHit is a hit of a watch: an access to its memory.
type WatchHit struct {
	Watch    *Watch     // watch with the hit
	Old, New []byte     // the watched bytes before and after the access; New is nil until they have been read again
	Instr    *ptx.Instr // accessing instruction
	Lanes    uint64     // accessing lanes

	alloc *probe.Allocation // the allocation with the watched bytes
}

// Watch watches the memory of an expression such as out[5].f32 or [%rd4].u32. The address is computed once, now, for
// the thread in focus.
func (s *Session) Watch(text string, a Access) (*Watch, error) {
	c, err := ParseCondition(text)
	if err != nil {
		return nil, err
	}
	location, err := s.locate(c)
	if err != nil {
		return nil, err
	}
	if location.Local {
		return nil, fmt.Errorf("%s is local memory, which cannot be watched", text)
	}
	s.lastNumber++
	w := &Watch{Number: s.lastNumber, Text: text, Type: location.Type, Access: a, location: location}
	s.watches = append(s.watches, w)
	return w, nil
}

// Rewatch watches the memory of w, which may be deleted, for accesses a. If the session already has such a watch, Rewatch
// returns that watch.
func (s *Session) Rewatch(w *Watch, a Access) *Watch {
	for _, existing := range s.watches {
		if existing.location == w.location && existing.Access == a && existing.Text == w.Text {
			return existing
		}
	}
	s.lastNumber++
	added := &Watch{Number: s.lastNumber, Text: w.Text, Type: w.Type, Access: a, location: w.location}
	s.watches = append(s.watches, added)
	return added
}

// Place describes the watched memory.
func (w *Watch) Place(s *Session) string {
	if w.location.Space == ptx.Shared {
		return fmt.Sprintf("shared memory of block %s at %#x", indexAt(w.location.CTA, s.info.Grid), w.location.Addr)
	}
	return fmt.Sprintf("%#x", w.location.Addr)
}

// neededEvents returns the events that breakpoints and watches need, by instruction. anyOf(f) must report whether f
// holds for any CTA that the caller searches. Breakpoints and shared-memory watches that can be hit only in other CTAs
// are left out.
func (s *Session) neededEvents(anyOf func(candidate func(cta int) bool) bool) []probe.Events {
	p := s.info.Program
	list := make([]probe.Events, p.Len())
	for _, b := range s.breakpoints {
		if b.Disabled || b.Condition != nil && !anyOf(b.Condition.candidateCTAs(s)) {
			continue
		}
		for i := range b.places {
			list[i] = probe.AllEvents
		}
	}
	watches := slices.DeleteFunc(slices.Clone(s.watches), func(w *Watch) bool {
		return w.location.Space == ptx.Shared && !anyOf(func(cta int) bool { return cta == w.location.CTA })
	})
	for i := range list {
		for _, w := range watches {
			instr, _ := p.At(i)
			e := instr.Form.Effects
			if w.Access != WatchReads && e&(ptx.Writes|ptx.Atomic) != 0 || w.Access != WatchChanges && e&(ptx.Reads|ptx.Atomic) != 0 {
				list[i] = probe.AllEvents
			}
		}
	}
	return list
}

// hit is a hit of breakpoints or of a watch.
type hit struct {
	step   int64 // the moment (Session.Step) before the instruction
	focus  Focus
	breaks []*Breakpoint // nil for a watch
	watch  *WatchHit
}

// hitFinder searches for hits of breakpoints and watches.
type hitFinder struct {
	s         *Session
	start     int64 // the moment at which the run begins: breakpoints at it are not hit; -1: none
	backwards bool  // the search is for a command that runs backwards: hits do not count
	hit       *hit  // the first hit
	scope     scope // for conditions

	checkedStep int64       // the last moment checked for breakpoints
	pending     []*WatchHit // accesses of the current instruction to watched memory
}

// newHitFinder returns a hitFinder for a run that begins at moment start, where breakpoints are not hit; -1: none.
func (s *Session) newHitFinder(start int64) *hitFinder {
	return &hitFinder{s: s, start: start, checkedStep: -1}
}

// check reports whether an event is the first hit.
func (h *hitFinder) check(e *probe.Event) bool {
	if h.hit != nil {
		return false
	}
	switch e.Kind {
	case probe.OnBefore:
		h.pending, h.checkedStep = h.pending[:0], e.Step
		if e.Step != h.start {
			return h.breaks(e)
		}
	case probe.OnAccess:
		h.access(e)
	case probe.OnUndo:
		h.pending = h.pending[:0]
	case probe.OnAfter:
		return h.afterAccesses(e)
	case probe.OnEffect:
		return h.effect(e)
	}
	return false
}

// breaks reports whether an instruction is the first hit of breakpoints.
func (h *hitFinder) breaks(e *probe.Event) bool {
	var list []*Breakpoint
	lanes := uint64(0)
	for _, b := range h.s.breakpoints {
		if b.Disabled || !b.places[e.Index] {
			continue
		}
		stopping := e.Active
		if b.Condition != nil {
			h.scope.setEvent(h.s, e)
			stopping = b.Condition.lanes(&h.scope)
		}
		if stopping != 0 {
			list, lanes = append(list, b), lanes|stopping
		}
	}
	if len(list) == 0 {
		return false
	}
	h.hit = &hit{step: e.Step, focus: h.s.focusOn(e, lanes), breaks: list}
	return true
}

// focusOn returns the focus for an event: the thread in focus if it is in lanes, else the lowest of lanes.
func (s *Session) focusOn(e *probe.Event, lanes uint64) Focus {
	if f := s.focus; f.CTA == e.CTA && f.Warp == e.Warp && lanes>>f.Lane&1 != 0 {
		return f
	}
	return Focus{e.CTA, e.Warp, lowestLane(lanes)}
}

func lowestLane(lanes uint64) int { return bits.TrailingZeros64(lanes) & 63 }

// access notes the latest access of an event if it accesses watched memory. The instruction has not been executed yet.
func (h *hitFinder) access(e *probe.Event) {
	a := &e.Accesses[len(e.Accesses)-1]
	for _, w := range h.s.watches {
		if w.Access == WatchChanges && a.Kind == probe.AccessLoad || w.Access == WatchReads && a.Kind == probe.AccessStore {
			continue
		}
		lanes, memory := uint64(0), (*probe.Allocation)(nil)
		for remaining := a.Lanes; remaining != 0; remaining &= remaining - 1 {
			lane := lowestLane(remaining)
			if _, alloc, offset, ok := a.PlaceOf(lane); ok && w.location.overlaps(h.s, e, alloc, offset, a.Length(lane)) {
				lanes, memory = lanes|1<<lane, alloc
			}
		}
		if lanes == 0 {
			continue
		}
		if i := slices.IndexFunc(h.pending, func(c *WatchHit) bool { return c.Watch == w }); i >= 0 {
			h.pending[i].Lanes |= lanes
			continue
		}
		h.pending = append(h.pending, &WatchHit{Watch: w, Old: w.location.bytesIn(memory), Instr: e.Instr, Lanes: lanes, alloc: memory})
	}
}

// afterAccesses checks the watched memory after the instruction, and reports whether a watch is hit.
func (h *hitFinder) afterAccesses(e *probe.Event) bool {
	for _, c := range h.pending {
		c.New = c.Watch.location.bytesIn(c.alloc)
		if c.Watch.Access != WatchChanges || !bytes.Equal(c.Old, c.New) {
			h.hit = &hit{step: e.Step, focus: h.s.focusOn(e, c.Lanes), watch: c}
			h.pending = h.pending[:0]
			return true
		}
	}
	h.pending = h.pending[:0]
	return false
}

// effect reports whether an asynchronous operation is about to access watched memory: the watch is hit. The session
// stops only after the operation, so stop reads the new value then.
func (h *hitFinder) effect(e *probe.Event) bool {
	for _, w := range h.s.watches {
		for _, seg := range e.Effect.Segments {
			writes := e.Effect.Writes && w.Access != WatchReads && seg.To != nil && w.location.overlaps(h.s, e, seg.To, seg.ToOffset, seg.Bytes)
			reads := e.Effect.Reads && w.Access != WatchChanges && seg.From != nil && w.location.overlaps(h.s, e, seg.From, seg.FromOffset, seg.Read)
			if writes || reads {
				memory := seg.To
				if !writes {
					memory = seg.From
				}
				h.hit = &hit{step: e.Step, focus: h.s.focusOn(e, e.Lanes), watch: &WatchHit{Watch: w, Old: w.location.bytesIn(memory), Instr: e.Instr, Lanes: e.Lanes, alloc: memory}}
				return true
			}
		}
	}
	return false
}

// stop moves the focus to the hit, counts the hit, deletes temporary breakpoints that were hit, and returns the Stop.
// Without a hit the Stop is AtStep.
func (h *hitFinder) stop() *Stop {
	s := h.s
	if h.hit == nil {
		return &Stop{Reason: AtStep}
	}
	s.focus = h.hit.focus
	stop := &Stop{Reason: AtBreakpoint, Breakpoints: h.hit.breaks}
	if c := h.hit.watch; c != nil {
		stop.Reason, stop.WatchHit = AtWatch, c
		if c.New == nil {
			c.New = c.Watch.location.bytesIn(c.alloc)
		}
		if !h.backwards {
			c.Watch.Hits++
		}
	}
	for _, b := range h.hit.breaks {
		if !h.backwards {
			b.Hits++
		}
		if b.Temporary {
			s.Delete(b.Number)
		}
	}
	return stop
}

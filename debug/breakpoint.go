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
	Number    int        // number by which the user names it; breakpoints and watches of a session count from 1 together
	Spec      string     // text from the user
	Condition *Condition // must hold in a lane that stops; nil: every lane stops
	Temporary bool       // deleted at its first hit
	Disabled  bool       // no thread stops
	Hits      int        // stops by it; commands that run backwards do not count

	find   func(s *Session) ([]int, error)
	places map[int]bool // indices of instructions
	notHit ranges       // parts of the past without a hit
	err    error        // reason for no places
}

// Err returns the reason why the launch has no place for the breakpoint, or nil. A later launch may have such
// an instruction.
func (b *Breakpoint) Err() error { return b.err }

// NoPlaceError is the error for a place that the launch does not have.
type NoPlaceError string

func (e NoPlaceError) Error() string { return string(e) }

func noPlace(format string, args ...any) error { return NoPlaceError(fmt.Sprintf(format, args...)) }

// Lines returns the lines of its places in the PTX, ascending.
func (b *Breakpoint) Lines(s *Session) (lines []int) {
	for i := range b.places {
		instr, _ := s.info.Program.At(i)
		lines = append(lines, int(instr.Pos.Line))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// LinesOf returns the lines of its places in a source file, ascending.
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
//	FILE:LINE     a line of the PTX or of a source that it was made of
//	NAME          a kernel, function or label
//	opcode:TEXT   instructions whose opcode is TEXT, or begins with it: opcode:mad, opcode:ld.global
//	*INDEX        an instruction of the program, by number
//	""            where the thread in focus is
//
// The error says what is wrong with it; an error of the condition is a *ConditionError, a place outside the
// launch is a NoPlaceError.
func (s *Session) Break(spec, condition string) (*Breakpoint, error) {
	return s.setBreak(spec, condition, false)
}

// BreakLater is Break for a place that the launch need not have (Breakpoint.Err) but a later launch of the
// session may.
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
	case err == nil: // a place in this file, even if the next launch is of another file
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

// check returns the error of a condition in the breakpoint's functions.
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

// Delete deletes a breakpoint or watch. It reports whether the number existed.
func (s *Session) Delete(number int) bool {
	n := len(s.breakpoints) + len(s.watches)
	s.breakpoints = slices.DeleteFunc(s.breakpoints, func(b *Breakpoint) bool { return b.Number == number })
	s.watches = slices.DeleteFunc(s.watches, func(w *Watch) bool { return w.Number == number })
	return len(s.breakpoints)+len(s.watches) < n
}

// find returns the instructions at a place.
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

// findLine returns the first instructions of a line, or of the next line that has any.
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

// findName returns the first instruction of a function or after a label.
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

// Access is a kind of access for a watch.
type Access uint8

// The accesses.
const (
	Changes Access = iota // writes that change the value
	ReadsIt               // reads
	Touches               // reads and writes, with or without change
)

// String returns the name of a watch for this access.
func (a Access) String() string {
	return [...]string{"Watchpoint", "Read watchpoint", "Access watchpoint"}[a]
}

// Text describes the old and the new value.
func (c *Change) Text() string {
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
	Access Access   // accesses that stop
	Hits   int      // stops by it; commands that run backwards do not count

	location Location
	notHit   ranges // parts of the past without a hit
}

// Change is a hit of a watch.
type Change struct {
	Watch    *Watch     // watch with the hit
	Old, New []byte     // bytes before and after
	Instr    *ptx.Instr // accessing instruction
	Lanes    uint64     // accessing lanes

	alloc *probe.Allocation // the accessed allocation, during the instruction
}

// Watch watches the memory of an expression such as out[5].f32 or [%rd4].u32. The address is determined now,
// for the thread in focus.
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

// Rewatch watches the memory of an existing or deleted watch for some accesses. It returns an equal watch, if
// any.
func (s *Session) Rewatch(w *Watch, a Access) *Watch {
	for _, o := range s.watches {
		if o.location == w.location && o.Access == a && o.Text == w.Text {
			return o
		}
	}
	s.lastNumber++
	n := &Watch{Number: s.lastNumber, Text: w.Text, Type: w.Type, Access: a, location: w.location}
	s.watches = append(s.watches, n)
	return n
}

// Place describes the watched memory.
func (w *Watch) Place(s *Session) string {
	if w.location.Space == ptx.Shared {
		return fmt.Sprintf("shared memory of block %s at %#x", indexAt(w.location.CTA, s.info.Grid), w.location.Addr)
	}
	return fmt.Sprintf("%#x", w.location.Addr)
}

// chosenInstrs returns the events that breakpoints and watches need, by instruction. For conditions on CTAs,
// anyOf reports whether any relevant CTA is a candidate.
func (s *Session) chosenInstrs(anyOf func(candidate func(cta int) bool) bool) []probe.Events {
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
			if w.Access != ReadsIt && e&(ptx.Writes|ptx.Atomic) != 0 || w.Access != Changes && e&(ptx.Reads|ptx.Atomic) != 0 {
				list[i] = probe.AllEvents
			}
		}
	}
	return list
}

// hit is a hit of breakpoints or a watch.
type hit struct {
	step   int64
	focus  Focus
	breaks []*Breakpoint
	change *Change
}

// hitFinder searches for hits of breakpoints and watches.
type hitFinder struct {
	s         *Session
	start     int64 // breakpoints at this moment are not hit: the run begins there
	backwards bool  // hits do not count, because the search goes back
	hit       *hit  // the first hit
	scope     scope // for conditions

	checkedStep int64     // the last moment checked for breakpoints
	changes     []*Change // changes of the current instruction
}

func (s *Session) newHits(after int64) *hitFinder {
	return &hitFinder{s: s, start: after, checkedStep: -1}
}

// check reports whether an event is the first hit.
func (h *hitFinder) check(e *probe.Event) bool {
	if h.hit != nil {
		return false
	}
	switch e.Kind {
	case probe.OnBefore:
		h.changes, h.checkedStep = h.changes[:0], e.Step
		if e.Step != h.start {
			return h.breaks(e)
		}
	case probe.OnAccess:
		h.access(e)
	case probe.OnUndo:
		h.changes = h.changes[:0]
	case probe.OnAfter:
		return h.accessed(e)
	case probe.OnEffect:
		return h.effect(e)
	}
	return false
}

// breaks checks the breakpoints at an instruction.
func (h *hitFinder) breaks(e *probe.Event) bool {
	var list []*Breakpoint
	lanes := uint64(0)
	for _, b := range h.s.breakpoints {
		if b.Disabled || !b.places[e.Index] {
			continue
		}
		of := e.Active
		if b.Condition != nil {
			h.scope.setEvent(h.s, e)
			of = b.Condition.lanes(&h.scope)
		}
		if of != 0 {
			list, lanes = append(list, b), lanes|of
		}
	}
	if len(list) == 0 {
		return false
	}
	h.hit = &hit{step: e.Step, focus: h.s.focusOn(e, lanes), breaks: list}
	return true
}

// focusOn returns the focus for an event: the current thread if it is in the lanes, else the first lane.
func (s *Session) focusOn(e *probe.Event, lanes uint64) Focus {
	if f := s.focus; f.CTA == e.CTA && f.Warp == e.Warp && lanes>>f.Lane&1 != 0 {
		return f
	}
	return Focus{e.CTA, e.Warp, lowestLane(lanes)}
}

func lowestLane(lanes uint64) int { return bits.TrailingZeros64(lanes) & 63 }

// access notes an instruction's access to watched memory before its execution.
func (h *hitFinder) access(e *probe.Event) {
	a := &e.Accesses[len(e.Accesses)-1]
	for _, w := range h.s.watches {
		if w.Access == Changes && a.Kind == probe.AccessLoad || w.Access == ReadsIt && a.Kind == probe.AccessStore {
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
		if i := slices.IndexFunc(h.changes, func(c *Change) bool { return c.Watch == w }); i >= 0 {
			h.changes[i].Lanes |= lanes
			continue
		}
		h.changes = append(h.changes, &Change{Watch: w, Old: w.location.bytesIn(memory), Instr: e.Instr, Lanes: lanes, alloc: memory})
	}
}

// accessed checks the watched memory after the instruction.
func (h *hitFinder) accessed(e *probe.Event) bool {
	for _, c := range h.changes {
		c.New = c.Watch.location.bytesIn(c.alloc)
		if c.Watch.Access != Changes || !bytes.Equal(c.Old, c.New) {
			h.hit = &hit{step: e.Step, focus: h.s.focusOn(e, c.Lanes), change: c}
			h.changes = h.changes[:0]
			return true
		}
	}
	h.changes = h.changes[:0]
	return false
}

// effect checks asynchronous operations that are about to access watched memory. Their writes are visible when
// the session has stopped.
func (h *hitFinder) effect(e *probe.Event) bool {
	for _, w := range h.s.watches {
		for _, p := range e.Effect.Segments {
			writes := e.Effect.Writes && w.Access != ReadsIt && p.To != nil && w.location.overlaps(h.s, e, p.To, p.ToOffset, p.Bytes)
			reads := e.Effect.Reads && w.Access != Changes && p.From != nil && w.location.overlaps(h.s, e, p.From, p.FromOffset, p.Read)
			if writes || reads {
				memory := p.To
				if !writes {
					memory = p.From
				}
				h.hit = &hit{step: e.Step, focus: h.s.focusOn(e, e.Lanes), change: &Change{Watch: w, Old: w.location.bytesIn(memory), Instr: e.Instr, Lanes: e.Lanes, alloc: memory}}
				return true
			}
		}
	}
	return false
}

// stop returns the stop for the hit.
func (h *hitFinder) stop() *Stop {
	s := h.s
	if h.hit == nil {
		return &Stop{Reason: AtStep}
	}
	s.focus = h.hit.focus
	stop := &Stop{Reason: AtBreakpoint, Breakpoints: h.hit.breaks}
	if c := h.hit.change; c != nil {
		stop.Reason, stop.Change = AtWatch, c
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

package debug

// This file is breakpoints and watches: where they are, and whether an event hits one.

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
	Number    int
	Spec      string // as it was asked for
	Condition *Condition
	Temporary bool // it goes away when it is hit
	Disabled  bool
	Hits      int

	find   func(s *Session) ([]int, error)
	places map[int]bool // instructions, as indices of the program
	notHit ranges       // where it was not hit
	err    error        // why there are none
}

// Err is why the launch has no place for it; nil: it has. A later launch may.
func (b *Breakpoint) Err() error { return b.err }

// NoPlaceError is the error of a place that a launch has not.
type NoPlaceError string

func (e NoPlaceError) Error() string { return string(e) }

func noPlace(format string, args ...any) error { return NoPlaceError(fmt.Sprintf(format, args...)) }

// Lines are the places in the PTX, ascending.
func (b *Breakpoint) Lines(s *Session) (lines []int) {
	for i := range b.places {
		instr, _ := s.info.Program.At(i)
		lines = append(lines, int(instr.Pos.Line))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// LinesOf is the places in a source that the PTX was made of, ascending.
func (b *Breakpoint) LinesOf(s *Session, file string) (lines []int) {
	for i := range b.places {
		if instr, f := s.info.Program.At(i); instr.Loc >= 0 && s.info.Module.FileName(f.Locs[instr.Loc].File) == file {
			lines = append(lines, int(f.Locs[instr.Loc].Line))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// bind finds the places in the program of the launch.
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
// The error says what is wrong with it; one of the condition is a *ConditionError, that of a place that the
// launch has not a NoPlaceError.
func (s *Session) Break(spec, condition string) (*Breakpoint, error) {
	return s.setBreak(spec, condition, false)
}

// BreakLater is Break at a place that the launch need not have (Breakpoint.Err): a later one may, which the
// session debugs.
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
	case err == nil: // of this file, whatever file the next launch is of
		place = s.info.Module.Name + ":" + place
		fallthrough
	default:
		b.find = func(s *Session) ([]int, error) { return s.find(place) }
	case strings.HasPrefix(place, "*"): // of this program
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

// SetCondition has the breakpoint stop on a condition only, or always if that is empty. The error, a
// *ConditionError, is what is wrong with it; the breakpoint stays as it is then.
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

// check finds what is wrong with a condition in the functions that the breakpoint is in.
func (b *Breakpoint) check(s *Session, c *Condition) error {
	for i := range b.places {
		_, f := s.info.Program.At(i)
		if _, err := c.programFor(&scope{s: s, fn: f}); err != nil {
			return err
		}
	}
	return nil
}

// Breakpoints are those there are, by number.
func (s *Session) Breakpoints() []*Breakpoint { return s.breakpoints }

// Watches are those there are, by number.
func (s *Session) Watches() []*Watch { return s.watches }

// Delete takes a breakpoint or watch away, and reports whether there was one of that number.
func (s *Session) Delete(number int) bool {
	n := len(s.breakpoints) + len(s.watches)
	s.breakpoints = slices.DeleteFunc(s.breakpoints, func(b *Breakpoint) bool { return b.Number == number })
	s.watches = slices.DeleteFunc(s.watches, func(w *Watch) bool { return w.Number == number })
	return len(s.breakpoints)+len(s.watches) < n
}

// find is the instructions at a place.
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
			return nil, noPlace("no instruction of kernel %s is %s", s.info.Kernel.Name, text)
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

// findLine is the first instructions of a line, or of the next that has any.
func (s *Session) findLine(file string, number int) ([]int, error) {
	p, ptxFile := s.info.Program, SameFile(file, s.info.Module.Name)
	if ptxFile {
		if f := s.functionAt(number); f != nil && !s.runs(f) {
			return nil, noPlace("line %d is of %s, which kernel %s does not call", number, f.Name, s.info.Kernel.Name)
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
		return nil, noPlace("no instruction of kernel %s is from a file %s", s.info.Kernel.Name, file)
	case best == 0:
		return nil, noPlace("no instruction of kernel %s is at line %d of %s or behind it", s.info.Kernel.Name, number, file)
	}
	return list, nil
}

// functionAt is the function whose body a line of the PTX is in; nil if there is none.
func (s *Session) functionAt(number int) *ptx.Func {
	for _, d := range s.info.Module.Decls {
		if f, ok := d.(*ptx.Func); ok && len(f.Blocks) > 0 && int(f.Pos.Line) <= number && number <= int(f.End.Line) {
			return f
		}
	}
	return nil
}

// runs reports whether a function is the kernel, or is called by it.
func (s *Session) runs(f *ptx.Func) bool {
	for i := range s.info.Program.Len() {
		if _, fn := s.info.Program.At(i); fn == f {
			return true
		}
	}
	return false
}

// SameFile reports whether two names can be of the same file: one is the other, or the end of its path.
func SameFile(a, b string) bool {
	if x, err := filepath.Abs(a); err == nil {
		if y, err := filepath.Abs(b); err == nil && x == y {
			return true
		}
	}
	a, b = filepath.ToSlash(filepath.Clean(a)), filepath.ToSlash(filepath.Clean(b))
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// findName is the first instruction of a function, or behind a label.
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
		return nil, noPlace("kernel %s, and what it calls, has no function and no label %s", s.info.Kernel.Name, name)
	}
	return labels, nil
}

// Access is what a watch looks for.
type Access uint8

// The accesses.
const (
	Changes Access = iota // writes that change what is there
	ReadsIt               // reads
	Touches               // reads and writes, whether they change anything or not
)

// String is what a watch that looks for it is called.
func (a Access) String() string {
	return [...]string{"Watchpoint", "Read watchpoint", "Access watchpoint"}[a]
}

// Text is what was there and what is.
func (c *Change) Text() string {
	old := valueOf(c.Watch.Type, word(c.Old))
	if c.New == nil || bytes.Equal(c.Old, c.New) {
		return fmt.Sprintf("Value = %s", old)
	}
	return fmt.Sprintf("Old value = %s\nNew value = %s", old, valueOf(c.Watch.Type, word(c.New)))
}

// Watch stops when memory is accessed, behind the instruction that does so.
type Watch struct {
	Number int
	Text   string // as it was asked for
	Type   ptx.Type
	Access Access
	Hits   int

	location Location
	notHit   ranges // where it was not hit
}

// Change is what has hit a watch.
type Change struct {
	Watch    *Watch
	Old, New []byte // what is there, before and after
	Instr    *ptx.Instr
	Lanes    uint64 // that have accessed it

	alloc *probe.Allocation // that has it, during the instruction
}

// Watch watches the memory that an expression names, such as out[5].f32 or [%rd4].u32; it is found
// now, by the thread in focus.
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

// Rewatch watches the memory of a watch that there is, or was, for some accesses. If it is watched so already it
// gives that watch.
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

// Place is the memory that is watched, in words.
func (w *Watch) Place(s *Session) string {
	if w.location.Space == ptx.Shared {
		return fmt.Sprintf("shared memory of block %s at %#x", indexAt(w.location.CTA, s.info.Grid), w.location.Addr)
	}
	return fmt.Sprintf("%#x", w.location.Addr)
}

// chosenInstrs is the instructions that breakpoints and watches are about; of no other is anything told. Of those that
// have to do with some CTAs only, any says whether there is one of which it may be so.
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

// hit is what has hit breakpoints or a watch.
type hit struct {
	step   int64
	focus  Focus
	breaks []*Breakpoint
	change *Change
}

// hitFinder looks for hits of breakpoints and watches.
type hitFinder struct {
	s         *Session
	start     int64 // breakpoints at this moment are where it comes from
	backwards bool  // hits do not count: it goes back
	hit       *hit  // the first
	scope     scope // of conditions

	checkedStep int64     // the last moment at which breakpoints were looked for
	changes     []*Change // of the instruction under way
}

func (s *Session) newHits(after int64) *hitFinder {
	return &hitFinder{s: s, start: after, checkedStep: -1}
}

// check reports whether an event is the first to hit something.
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

// breaks looks for breakpoints at an instruction.
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

// focusOn is the lane that is looked at among some of an event: that which was, if it is one.
func (s *Session) focusOn(e *probe.Event, lanes uint64) Focus {
	if f := s.focus; f.CTA == e.CTA && f.Warp == e.Warp && lanes>>f.Lane&1 != 0 {
		return f
	}
	return Focus{e.CTA, e.Warp, lowestLane(lanes)}
}

func lowestLane(lanes uint64) int { return bits.TrailingZeros64(lanes) & 63 }

// access notes what an instruction is about to do to what is watched.
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

// accessed looks at what an instruction has done to it.
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

// effect looks for asynchronous operations that are about to write or read what is watched. What they
// write is there when the session has stopped.
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

// stop is where the session stops by the hit.
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

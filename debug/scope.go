package debug

// This file has the values that an expression can read: registers, special registers and memory of a thread.

import (
	"gemu/probe"
	"gemu/ptx"
)

// scope is where expressions are evaluated: lanes of a warp, at an event or where they stand, or nobody,
// who has no registers.
type scope struct {
	s     *Session
	fn    *ptx.Func
	cta   int
	id    ptx.Dim3
	warp  int
	mask  uint64 // lanes that are together
	frame int    // bytes in local memory where the function's frame begins

	e       *probe.Event // or
	context *Context     // …; nil both: nobody is there

	rows   []registerRow   // that the expression reads, as often as it may
	whole  []memoizedValue // what any and all have come to
	varies bool            // what the expression has come to may be another value in other lanes
}

// registerRow is a register in all lanes.
type registerRow struct {
	probe.Value
	isRead, live, isUniform bool // same: in all lanes that are together
}

// memoizedValue is a value that was computed already.
type memoizedValue struct {
	value
	err   error
	known bool
}

// setEvent makes it that of an event.
func (sc *scope) setEvent(s *Session, e *probe.Event) {
	sc.s, sc.fn, sc.cta, sc.id, sc.warp, sc.mask, sc.frame, sc.e = s, e.Func, e.CTA, e.ID, e.Warp, e.Active, e.Local, e
}

// scope is that of lanes that stand somewhere.
func (c *Context) scope(s *Session) *scope {
	return &scope{s: s, fn: c.Func, cta: c.CTA, id: c.ID, warp: c.Warp, mask: c.Lanes, frame: c.Frame(), context: c}
}

// focusScope is the scope of the thread in focus, or of nobody.
func (s *Session) focusScope() *scope {
	if c, err := s.Context(); err == nil {
		return c.scope(s)
	}
	return &scope{s: s, fn: s.info.Kernel}
}

// isEmpty reports whether no lanes are there.
func (sc *scope) isEmpty() bool { return sc.e == nil && sc.context == nil }

// read reads a register.
func (sc *scope) read(v *probe.Value, r ptx.RegID) (ok bool) {
	switch {
	case sc.e != nil:
		return sc.e.ReadTo(v, r)
	case sc.context != nil:
		*v, ok = sc.context.Read(r)
	}
	return ok
}

// find is the allocation that an address is in; nil if there is none.
func (sc *scope) find(addr uint64) *probe.Allocation {
	if sc.e != nil {
		return sc.e.Find(addr)
	}
	return sc.s.exec.Find(addr)
}

// shared is the shared memory of the CTA; nil if there is none.
func (sc *scope) shared() *probe.Allocation {
	switch {
	case sc.e != nil:
		return sc.e.Shared()
	case sc.context != nil:
		return sc.context.Shared()
	}
	return nil
}

// local copies local memory of a lane, and gives how many bytes there were.
func (sc *scope) local(p []byte, lane int, offset uint64) int {
	if sc.e != nil {
		return sc.e.LocalBytes(p, lane, offset)
	}
	return sc.context.Local(p, lane, offset)
}

package debug

// This file has the values that an expression can read: registers, special registers and memory of a thread.

import (
	"gemu/probe"
	"gemu/ptx"
)

// scope is the place at which expressions are evaluated: lanes of a warp at an event or at a pause, or no lanes, which have
// no registers.
type scope struct {
	s     *Session
	fn    *ptx.Func
	cta   int
	id    ptx.Dim3
	warp  int
	mask  uint64 // lanes of the warp split
	frame int    // offset in bytes of the function's frame in local memory

	e       *probe.Event // the event, or nil
	context *Context     // the paused lanes if e is nil; both are nil without lanes

	rows   []registerRow   // registers in the expression, one entry for each use
	whole  []memoizedValue // results of any and all, one entry for each call
	varies bool            // the result may differ between lanes
}

// registerRow is the value of a register in all lanes.
type registerRow struct {
	probe.Value
	isRead    bool // Value has been read, in this evaluation
	live      bool // the register may still be read
	isUniform bool // the value is the same in all lanes of the warp split
}

// memoizedValue is a value that is computed once.
type memoizedValue struct {
	value
	err   error
	known bool
}

// setEvent sets the scope to the lanes of an event.
func (sc *scope) setEvent(s *Session, e *probe.Event) {
	sc.s, sc.fn, sc.cta, sc.id, sc.warp, sc.mask, sc.frame, sc.e = s, e.Func, e.CTA, e.ID, e.Warp, e.Active, e.Local, e
}

// scope returns the scope of paused lanes.
func (c *Context) scope(s *Session) *scope {
	return &scope{s: s, fn: c.Func, cta: c.CTA, id: c.ID, warp: c.Warp, mask: c.Lanes, frame: c.Frame(), context: c}
}

// focusScope returns the scope of the thread in focus, or a scope without lanes.
func (s *Session) focusScope() *scope {
	if c, err := s.Context(); err == nil {
		return c.scope(s)
	}
	return &scope{s: s, fn: s.info.Kernel}
}

// isEmpty reports whether the scope has no lanes.
func (sc *scope) isEmpty() bool { return sc.e == nil && sc.context == nil }

// read reads a register into v; false if the register is not live or the scope has no lanes.
func (sc *scope) read(v *probe.Value, r ptx.RegID) (ok bool) {
	switch {
	case sc.e != nil:
		return sc.e.ReadTo(v, r)
	case sc.context != nil:
		*v, ok = sc.context.Read(r)
	}
	return ok
}

// find returns the allocation at an address; nil if there is none.
func (sc *scope) find(addr uint64) *probe.Allocation {
	if sc.e != nil {
		return sc.e.Find(addr)
	}
	return sc.s.exec.Find(addr)
}

// shared returns the shared memory of the CTA; nil if there is none.
func (sc *scope) shared() *probe.Allocation {
	switch {
	case sc.e != nil:
		return sc.e.Shared()
	case sc.context != nil:
		return sc.context.Shared()
	}
	return nil
}

// local copies local memory of a lane, from an offset in bytes on, to p and returns the number of copied bytes.
func (sc *scope) local(p []byte, lane int, offset uint64) int {
	if sc.e != nil {
		return sc.e.LocalBytes(p, lane, offset)
	}
	return sc.context.ReadLocal(p, lane, offset)
}

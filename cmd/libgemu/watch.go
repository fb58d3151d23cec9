package main

// This file passes the events of a launch to an observer in C.

/*
#include <stdlib.h>
#define GEMU_TYPES_ONLY
#include "gemu.h"

// gemu_call has an event and its values. A call with more registers than
// GEMU_MAX_VALUES is the only event that does not fit: further registers are
// left out.
enum { GEMU_MAX_VALUES = 128 };

typedef struct {
	gemu_event event;
	gemu_value values[GEMU_MAX_VALUES];
	uint64_t low[GEMU_MAX_VALUES][64];
	uint64_t high[GEMU_MAX_VALUES][64];
	uint64_t addresses[64];
} gemu_call;

// observing is 1 while this thread calls an observer.
static __thread int observing;

static inline int gemu_observing(void) { return observing; }

static inline void gemu_call_observer(gemu_observer f, const gemu_event *e, void *user)
{
	observing = 1;
	f(e, user);
	observing = 0;
}
*/
import "C"

import (
	"sync"
	"unsafe"

	"gemu/probe"
	"gemu/ptx"
)

// observing reports whether an observer calls the library. The device is then busy with the observed launch.
func observing() bool { return C.gemu_observing() != 0 }

// observer is a probe that calls a C function.
type observer struct {
	f    C.gemu_observer
	user unsafe.Pointer

	mu   sync.Mutex // held during a call
	pcs  pcs
	call *C.gemu_call // memory of the current event
}

func newObserver(f C.gemu_observer, user unsafe.Pointer) *observer {
	return &observer{f: f, user: user, pcs: pcs{}, call: (*C.gemu_call)(C.calloc(1, C.sizeof_gemu_call))}
}

// free releases the memory of the observer after the launch.
func (o *observer) free() { C.free(unsafe.Pointer(o.call)) }

// texts holds the C copies of the strings in events. They are never freed, because they stay valid for the client.
var texts sync.Map

// cString returns the C copy of a string, always the same one for equal strings.
func cString(s string) *C.char {
	if p, ok := texts.Load(s); ok {
		return p.(*C.char)
	}
	p, _ := texts.LoadOrStore(s, C.CString(s))
	return p.(*C.char)
}

// Subscription requests executed instructions with all details.
func (o *observer) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Values: true, Addresses: true}
}

// CTA makes the observer receive the events of every CTA.
func (o *observer) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return o }

// OnEvent calls the observer.
func (o *observer) OnEvent(e *probe.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.call
	c.event = o.pcs.event(e)
	n := 0
	c.event.results, c.event.n_results = o.values(e.Func, e.Writes, &n)
	c.event.sources, c.event.n_sources = o.values(e.Func, e.Reads, &n)
	if len(e.Accesses) > 0 { // the first access of several is the reading one
		a := &e.Accesses[0]
		copy(words(&c.addresses), a.Addr)
		c.event.addresses = &c.addresses[0]
		c.event.bytes = C.uint32_t(a.Bytes)
		if a.Space != ptx.Generic {
			c.event.space = cString("." + a.Space.String())
		}
	}
	C.gemu_call_observer(o.f, &c.event, o.user)
}

// words views an array of C as a slice.
func words(a *[64]C.uint64_t) []uint64 { return (*[64]uint64)(unsafe.Pointer(a))[:] }

// values copies registers of function f to the event's memory. n is the number of registers there, which it updates.
func (o *observer) values(f *ptx.Func, list []probe.Value, n *int) (first *C.gemu_value, count C.uint32_t) {
	c := o.call
	list = list[:min(len(list), len(c.values)-*n)]
	first = &c.values[min(*n, len(c.values)-1)]
	for i := range list {
		v, to := &list[i], &c.values[*n]
		*to = C.gemu_value{name: cString(f.Regs[v.Reg].Name), _type: cString(v.Type.String()), low: &c.low[*n][0]}
		copy(words(&c.low[*n]), v.Low)
		if v.Type == ptx.B128 {
			copy(words(&c.high[*n]), v.High)
			to.high = &c.high[*n][0]
		}
		*n++
	}
	return first, C.uint32_t(len(list))
}

// pcs holds the index of each instruction within its function, for the functions seen so far.
type pcs map[*ptx.Instr]C.uint32_t

// number returns the index of an instruction of f.
func (p pcs) number(f *ptx.Func, instr *ptx.Instr) C.uint32_t {
	if n, ok := p[instr]; ok {
		return n
	}
	n := C.uint32_t(0)
	f.EachInstr(func(instr *ptx.Instr) {
		p[instr] = n
		n++
	})
	return p[instr]
}

// event converts an event, without its values and addresses.
func (p pcs) event(e *probe.Event) C.gemu_event {
	c := C.gemu_event{
		cta:  [3]C.uint32_t{C.uint32_t(e.ID.X), C.uint32_t(e.ID.Y), C.uint32_t(e.ID.Z)},
		warp: C.uint32_t(max(e.Warp, 0)), active: C.uint64_t(e.Active), lanes: C.uint64_t(e.Lanes), space: cString(""),
	}
	if e.Instr != nil {
		c.pc, c.line, c.column = p.number(e.Func, e.Instr), C.uint32_t(e.Instr.Pos.Line), C.uint32_t(e.Instr.Pos.Col)
		c.function, c.instruction = cString(e.Func.Name), cString(e.Instr.Format(e.Func))
	}
	return c
}

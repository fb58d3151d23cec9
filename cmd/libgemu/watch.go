package main

// This file brings the events of a launch to an observer in C.

/*
#include <stdlib.h>
#define GEMU_TYPES_ONLY
#include "gemu.h"

static inline void gemu_call_observer(gemu_observer f, const gemu_event *e, void *user) { f(e, user); }
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"

	"gemu/interp"
	"gemu/ptx"
)

// observer is an interp.Observer that calls a function of C.
type observer struct {
	f    C.gemu_observer
	user unsafe.Pointer

	mu   sync.Mutex // held during a call
	pcs  map[*ptx.Instr]C.uint32_t
	pins runtime.Pinner
}

func newObserver(f C.gemu_observer, user unsafe.Pointer) *observer {
	return &observer{f: f, user: user, pcs: map[*ptx.Instr]C.uint32_t{}}
}

// texts are the strings that events have named, which stay.
var texts sync.Map

func text(s string) *C.char {
	if p, ok := texts.Load(s); ok {
		return p.(*C.char)
	}
	p, _ := texts.LoadOrStore(s, C.CString(s))
	return p.(*C.char)
}

// CTA gives every CTA a watcher.
func (o *observer) CTA(_ int, id interp.Dim3) interp.Watcher {
	return &watcher{observer: o, cta: [3]C.uint32_t{C.uint32_t(id.X), C.uint32_t(id.Y), C.uint32_t(id.Z)}}
}

// watcher is the interp.Watcher of a CTA. It keeps what an event points to.
type watcher struct {
	*observer
	cta    [3]C.uint32_t
	event  C.gemu_event
	values []C.gemu_value
}

// Instruction calls the observer.
func (w *watcher) Instruction(e *interp.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.pins.Unpin()
	w.event = C.gemu_event{
		cta: w.cta, warp: C.uint32_t(e.Warp), pc: w.pc(e), line: C.uint32_t(e.Instr.Pos.Line), column: C.uint32_t(e.Instr.Pos.Col),
		function: text(e.Func.Name), instruction: text(e.Instr.Format(e.Func)), active: C.uint64_t(e.Active), lanes: C.uint64_t(e.Lanes),
		n_results: C.uint32_t(len(e.Results)), n_sources: C.uint32_t(len(e.Sources)), space: text(""),
	}
	w.values = w.values[:0]
	for _, list := range [][]interp.Value{e.Results, e.Sources} {
		for i := range list {
			w.values = append(w.values, w.value(e.Func, &list[i]))
		}
	}
	if len(w.values) > 0 {
		first := unsafe.SliceData(w.values)
		w.pins.Pin(first)
		w.event.results = first
		w.event.sources = (*C.gemu_value)(unsafe.Add(unsafe.Pointer(first), len(e.Results)*C.sizeof_gemu_value))
	}
	if e.Address != nil {
		w.pins.Pin(e.Address)
		w.event.addresses = (*C.uint64_t)(&e.Address[0])
		w.event.bytes = C.uint32_t(e.Bytes)
		if e.Space != ptx.Generic {
			w.event.space = text(e.Space.String())
		}
	}
	w.pins.Pin(&w.event)
	C.gemu_call_observer(w.f, &w.event, w.user)
}

// value is a register for C.
func (w *watcher) value(f *ptx.Func, v *interp.Value) C.gemu_value {
	w.pins.Pin(v)
	c := C.gemu_value{name: text(f.Regs[v.Reg].Name), _type: text(v.Type.String()), low: (*C.uint64_t)(&v.Low[0])}
	if v.Type == ptx.B128 {
		c.high = (*C.uint64_t)(&v.High[0])
	}
	return c
}

// pc is the number of an instruction within its function.
func (w *watcher) pc(e *interp.Event) C.uint32_t {
	if n, ok := w.pcs[e.Instr]; ok {
		return n
	}
	n := C.uint32_t(0)
	e.Func.EachInstr(func(in *ptx.Instr) {
		w.pcs[in] = n
		n++
	})
	return w.pcs[e.Instr]
}

// End has nothing to do.
func (w *watcher) End() {}

package main

// This file implements launches that advance when C requests steps: gemu_start, gemu_next, gemu_read, gemu_read_shared
// and gemu_stop.

/*
#include <stdlib.h>
#define GEMU_TYPES_ONLY
#include "gemu.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"gemu/cmd/internal/process"
	"gemu/driver"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// activeStepper is the probe of the launch that advances by steps, or nil. At most one such launch exists, because it
// occupies the device.
var activeStepper atomic.Pointer[stepper]

// errStopped ends a launch for gemu_stop.
var errStopped = errors.New("stopped")

// stepper is a probe that makes the launch wait until the caller requests steps.
type stepper struct {
	begun    chan struct{}      // closed when the launch has begun
	requests chan []C.gemu_step // each request is the caller's array for steps; nil stops the launch
	answers  chan int           // for each request, the number of stored steps
	ended    chan struct{}      // closed when the launch has ended; guards result and err

	result *interp.Result // nil if the launch has failed
	err    error

	// State of the launch's goroutine, which waits while the caller runs:
	steps      []C.gemu_step // array of the current request; nil if there is none
	n          int           // number of steps in it
	stop       bool          // the launch must stop
	pcs        pcs
	memory     arena // C memory that the steps point to
	accesses   trace.Accesses
	accessList []trace.Access            // scratch space
	shared     map[int]*probe.Allocation // shared memory of the CTAs in flight, by index
}

func (p *stepper) Subscription() probe.Subscription {
	return probe.Subscription{
		Events: probe.OnLaunch | probe.OnCTA | probe.OnCTAEnd | probe.OnAfter | probe.OnReturn | probe.OnWait | probe.OnWake |
			probe.OnSplit | probe.OnReconverge | probe.OnExit | probe.OnTrap | probe.OnAccess | probe.OnEffect,
		Values: true, Addresses: true, InOrder: true,
	}
}

func (p *stepper) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

var stepKinds = map[probe.Events]C.uint32_t{
	probe.OnAfter: C.GEMU_STEP_INSTRUCTION, probe.OnReturn: C.GEMU_STEP_RETURN, probe.OnWait: C.GEMU_STEP_WAIT, probe.OnWake: C.GEMU_STEP_RELEASE,
	probe.OnSplit: C.GEMU_STEP_SPLIT, probe.OnReconverge: C.GEMU_STEP_RECONVERGE, probe.OnExit: C.GEMU_STEP_EXIT, probe.OnTrap: C.GEMU_STEP_TRAP,
	probe.OnCTA: C.GEMU_STEP_CTA, probe.OnCTAEnd: C.GEMU_STEP_CTA_END, probe.OnEffect: C.GEMU_STEP_EFFECT,
}

var accessKinds = map[trace.AccessKind]C.uint32_t{trace.Load: C.GEMU_LOAD, trace.Store: C.GEMU_STORE, trace.Atomic: C.GEMU_ATOMIC, trace.Zero: C.GEMU_ZERO}

// OnEvent makes a step from an event. When the array of the request is full, the launch waits for the next request.
func (p *stepper) OnEvent(e *probe.Event) {
	switch {
	case e.Kind == probe.OnLaunch:
		close(p.begun)
		return
	case p.stop:
		e.Stop(errStopped)
		return
	case e.Kind == probe.OnAccess:
		p.accesses.Note(e)
		return
	case p.steps == nil && !p.awaitRequest(e): // before the first step
		return
	}
	switch e.Kind {
	case probe.OnCTA:
		p.shared[e.CTA] = e.Shared()
	case probe.OnCTAEnd:
		delete(p.shared, e.CTA)
	}
	s := C.gemu_step{kind: stepKinds[e.Kind], event: p.pcs.event(e), unit: cString(""), depth: C.uint32_t(e.Depth), reconverge: -1, barrier: -1}
	if e.Instr != nil {
		s.unit = cString(e.Instr.Form.Class.String())
	}
	if e.Reconverge >= 0 {
		instr, f := e.Launch.Program.At(e.Reconverge)
		s.reconverge = C.int32_t(p.pcs.number(f, instr))
	}
	if e.Kind == probe.OnWait || e.Kind == probe.OnWake {
		s.barrier, s.generation = C.int32_t(e.Wait.Barrier), C.uint32_t(e.Wait.Generation)
	}
	if e.Trap != nil {
		s.message = cString(e.Trap.Error())
	}
	if e.Instr == nil || e.Kind != probe.OnAfter || !trace.IsDeferred(e.Instr) {
		s.event.results, s.event.n_results = p.values(e.Func, e.Writes)
	}
	s.event.sources, s.event.n_sources = p.values(e.Func, e.Reads)
	if len(e.Accesses) > 0 {
		a := &e.Accesses[0]
		s.event.addresses, s.event.bytes = p.lanes(a.Addr), C.uint32_t(a.Bytes)
		if a.Space != ptx.Generic {
			s.event.space = cString("." + a.Space.String())
		}
	}
	p.accessList = p.accessList[:0]
	switch x := e.Effect; {
	case e.Kind == probe.OnEffect:
		p.accessList = trace.AppendEffectAccesses(p.accessList, x)
		s.effect = C.uint64_t(x.Number)
		for _, phase := range []struct {
			happens bool
			flag    C.uint32_t
		}{{x.Issued, C.GEMU_EFFECT_ISSUED}, {x.Reads, C.GEMU_EFFECT_READS}, {x.Writes, C.GEMU_EFFECT_WRITES}} {
			if phase.happens {
				s.effect_now |= phase.flag
			}
		}
		if len(e.Writes) > 0 { // all lanes that issued the operation have results
			s.event.lanes = C.uint64_t(e.Active)
		}
	case e.Kind == probe.OnAfter && e.Lanes != 0:
		p.accessList = p.accesses.Append(p.accessList, e)
	}
	s.accesses, s.n_accesses = p.copyAccesses(uint64(s.event.lanes))
	p.steps[p.n] = s
	if p.n++; p.n == len(p.steps) {
		p.steps = nil
		p.answers <- p.n
		p.awaitRequest(e)
	}
}

// awaitRequest waits for a request. It returns false if the request is to stop the launch.
func (p *stepper) awaitRequest(e *probe.Event) bool {
	if p.steps = <-p.requests; p.steps == nil {
		p.stop = true
		e.Stop(errStopped)
		return false
	}
	p.n = 0
	p.memory.free()
	return true
}

// copyAccesses copies p.accessList to C memory. lanes are the lanes of the step: the accessing lanes of each access that
// names none.
func (p *stepper) copyAccesses(lanes uint64) (first *C.gemu_access, n C.uint32_t) {
	if len(p.accessList) == 0 {
		return nil, 0
	}
	copies := unsafe.Slice((*C.gemu_access)(p.memory.alloc(len(p.accessList)*C.sizeof_gemu_access)), len(p.accessList))
	for i := range p.accessList {
		a, c := &p.accessList[i], &copies[i]
		accessing := lanes
		if a.Lanes != 0 {
			accessing = a.Lanes
		}
		*c = C.gemu_access{kind: accessKinds[a.Kind], bytes: C.uint32_t(a.Bytes), space: cString(""), lanes: C.uint64_t(accessing), n_stored: C.uint32_t(len(a.Store)), n_compared: C.uint32_t(len(a.Compare))}
		if a.Space != ptx.Generic.String() {
			c.space = cString("." + a.Space)
		}
		c.addresses = p.elements([]trace.Value{a.Addr}, accessing)
		c.stored, c.compared = p.elements(a.Store, accessing), p.elements(a.Compare, accessing)
		for k := range a.Store {
			if a.Store[k].Structure == trace.NoValue {
				c.left_out |= 1 << k
			}
		}
		if len(a.Data) > 0 {
			data := p.memory.alloc(len(a.Data))
			copy(unsafe.Slice((*byte)(data), len(a.Data)), a.Data)
			c.data = data
		}
	}
	return &copies[0], C.uint32_t(len(copies))
}

// elements copies values of lanes to C memory, 64 words for each value. The result is NULL if there are none.
func (p *stepper) elements(list []trace.Value, lanes uint64) *C.uint64_t {
	if len(list) == 0 {
		return nil
	}
	first := (*C.uint64_t)(p.memory.alloc(len(list) * 64 * 8))
	words := unsafe.Slice((*uint64)(unsafe.Pointer(first)), 64*len(list))
	for i := range list {
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			words[64*i+lane], _ = list[i].At(lanes, lane)
		}
	}
	return first
}

// finish records the end of the launch, and answers the current request if there is one.
func (p *stepper) finish(r *interp.Result, err error) {
	if p.result, p.err = r, err; p.steps != nil {
		p.answers <- p.n
	}
	close(p.ended)
}

// values copies registers of function f to C memory.
func (p *stepper) values(f *ptx.Func, list []probe.Value) (first *C.gemu_value, n C.uint32_t) {
	if len(list) == 0 {
		return nil, 0
	}
	copies := unsafe.Slice((*C.gemu_value)(p.memory.alloc(len(list)*C.sizeof_gemu_value)), len(list))
	for i := range list {
		v := &list[i]
		copies[i] = C.gemu_value{name: cString(f.Regs[v.Reg].Name), _type: cString(v.Type.String()), low: p.lanes(v.Low), high: p.lanes(v.High)}
	}
	return &copies[0], C.uint32_t(len(copies))
}

// lanes copies a word for each lane to C memory. The result is NULL for nil.
func (p *stepper) lanes(v []uint64) *C.uint64_t {
	if v == nil {
		return nil
	}
	first := (*C.uint64_t)(p.memory.alloc(64 * 8))
	copy(unsafe.Slice((*uint64)(unsafe.Pointer(first)), 64), v)
	return first
}

// arena is a list of blocks of C memory that are freed together.
type arena []unsafe.Pointer

// alloc returns a zeroed block of n bytes.
func (a *arena) alloc(n int) unsafe.Pointer {
	block := C.calloc(1, C.size_t(n))
	*a = append(*a, block)
	return block
}

// free frees all blocks.
func (a *arena) free() {
	for _, block := range *a {
		C.free(block)
	}
	*a = (*a)[:0]
}

//export gemu_start
func gemu_start(params *C.gemu_launch_params, run *C.gemu_run) C.int {
	return call(func(*client) error { return startLaunch(params, nil, run) })
}

// startLaunch starts a launch that advances by steps. Without options, the settings of the driver apply.
func startLaunch(params *C.gemu_launch_params, options *driver.LaunchOptions, run *C.gemu_run) error {
	if params == nil || run == nil || params.observer != nil {
		return &driver.Error{Result: driver.InvalidValue, Detail: "gemu_start needs parameters without an observer, and a pointer for the run"}
	}
	d, err := process.Driver()
	if err != nil {
		return err
	}
	p := &stepper{begun: make(chan struct{}), requests: make(chan []C.gemu_step), answers: make(chan int), ended: make(chan struct{}), pcs: pcs{}, shared: map[int]*probe.Allocation{}}
	if !activeStepper.CompareAndSwap(nil, p) {
		return &driver.Error{Result: driver.NotPermitted, Detail: "another launch by gemu_start is in progress"}
	}
	l := launchParams(params)
	l.Options = options
	l.Probes = append(l.Probes, p)
	launcher := &client{Thread: d.NewThread()} // waits for the launch, so that the caller does not
	go func() {
		err := launcher.enter()
		var r *interp.Result
		if err == nil {
			r, err = launcher.Run(&l)
		}
		p.finish(r, err)
	}()
	select {
	case <-p.begun:
		*run = 1
		return nil
	case <-p.ended: // refused before it began
		activeStepper.Store(nil)
		return p.err
	}
}

// withStepper implements calls on the launch that advances by steps.
func withStepper(run C.gemu_run, f func(p *stepper) error) C.int {
	c, err := thisClient()
	if err != nil {
		return C.int(driver.ResultOf(err))
	}
	p := activeStepper.Load()
	switch {
	case observing():
		err = &driver.Error{Result: driver.NotPermitted, Detail: "the call of an observer, during a launch"}
	case run != 1 || p == nil:
		err = &driver.Error{Result: driver.InvalidHandle, Detail: "no launch by gemu_start is in progress"}
	default:
		err = f(p)
	}
	return c.failed(err)
}

//export gemu_next
func gemu_next(run C.gemu_run, steps *C.gemu_step, max_steps C.size_t, n *C.size_t) C.int {
	return withStepper(run, func(p *stepper) error {
		if steps == nil || max_steps == 0 || n == nil {
			return &driver.Error{Result: driver.InvalidValue, Detail: "gemu_next needs memory for steps and a pointer for their number"}
		}
		*n = 0
		select {
		case p.requests <- unsafe.Slice(steps, int(max_steps)):
			*n = C.size_t(<-p.answers)
			if *n == max_steps {
				return nil
			}
			<-p.ended
		case <-p.ended:
		}
		return p.err
	})
}

//export gemu_read
func gemu_read(run C.gemu_run, to unsafe.Pointer, from C.gemu_address, size C.size_t) C.int {
	return readMemory(run, to, size, func(c *client, _ *stepper, to []byte) error { return c.Peek(to, uint64(from)) })
}

//export gemu_read_shared
func gemu_read_shared(run C.gemu_run, block C.uint32_t, to unsafe.Pointer, from C.uint64_t, size C.size_t) C.int {
	return readMemory(run, to, size, func(_ *client, p *stepper, to []byte) error {
		alloc := p.shared[int(block)]
		switch {
		case alloc == nil:
			return &driver.Error{Result: driver.InvalidValue, Detail: fmt.Sprintf("block %d is not running, or has no shared memory", block)}
		case uint64(from) > alloc.Size || uint64(len(to)) > alloc.Size-uint64(from):
			return &driver.Error{Result: driver.InvalidValue, Detail: fmt.Sprintf("%d bytes at offset %d do not fit shared memory of %d bytes", len(to), from, alloc.Size)}
		}
		copy(to, alloc.Data[from:])
		return nil
	})
}

// readMemory implements calls that read memory while the launch waits.
func readMemory(run C.gemu_run, to unsafe.Pointer, size C.size_t, f func(c *client, p *stepper, to []byte) error) C.int {
	return withStepper(run, func(p *stepper) error {
		if size == 0 {
			return nil
		}
		if to == nil {
			return &driver.Error{Result: driver.InvalidValue, Detail: "a null pointer"}
		}
		c, err := thisClient()
		if err == nil {
			err = c.enter()
		}
		if err != nil {
			return err
		}
		return f(c, p, unsafe.Slice((*byte)(to), int(size)))
	})
}

//export gemu_stop
func gemu_stop(run C.gemu_run, counts *C.gemu_counts) C.int {
	return withStepper(run, func(p *stepper) error {
		select {
		case p.requests <- nil:
			<-p.ended
		case <-p.ended:
		}
		if counts != nil {
			*counts = C.gemu_counts{}
			if p.result != nil {
				*counts = countsOf(p.result)
			}
		}
		p.memory.free()
		activeStepper.Store(nil)
		return nil
	})
}

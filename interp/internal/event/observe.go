package event

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// ObserveInstr emits the events of an instruction that lanes of the running warp split execute outside the execution of a
// block. fn executes the instruction.
func ObserveInstr(w *machine.Warp, src *code.Source, lanes uint64, fn func()) {
	s := w.CTA.Stream
	if s == nil {
		fn()
		return
	}
	BeginStep(s, w, src, lanes)
	s.Step.Step = -1
	Emit(s, &s.Step, probe.OnBefore)
	if fn(); w.Err == nil {
		EmitAfter(s, w, src)
	}
}

// ObserveExit emits the events of an exit of lanes that are not the active mask of the running warp split.
func ObserveExit(w *machine.Warp, src *code.Source, lanes uint64) {
	if w.CTA.Stream == nil {
		return
	}
	saved := w.Mask
	w.Mask = lanes
	ObserveInstr(w, src, lanes, func() {})
	w.Mask = saved
}

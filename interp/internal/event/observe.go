package event

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// ObserveInstr emits the events of an instruction that lanes of the running warp split execute separately from the other
// instructions of their block. execute executes the instruction. The events have step -1.
func ObserveInstr(w *machine.Warp, src *code.Source, lanes uint64, execute func()) {
	s := w.CTA.Stream
	if s == nil {
		execute()
		return
	}
	BeginStep(s, w, src, lanes)
	s.Step.Step = -1
	Emit(s, &s.Step, probe.OnBefore)
	if execute(); w.Err == nil {
		EmitAfter(s, w, src)
	}
}

// ObserveExit emits the events of an exit that only a part of the lanes of the running warp split executes.
func ObserveExit(w *machine.Warp, src *code.Source, lanes uint64) {
	if w.CTA.Stream == nil {
		return
	}
	saved := w.Mask
	w.Mask = lanes
	ObserveInstr(w, src, lanes, func() {})
	w.Mask = saved
}

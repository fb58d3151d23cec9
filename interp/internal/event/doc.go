// Package event delivers the events of a launch to the sinks of its probes (package probe).
//
// An observed CTA has a machine.EventStream. BeginStep and FillEvent fill in an event, which the stream reuses. Emit calls
// each sink that subscribes to the kind of the event; EmitLanes and further functions do both. The methods of events and
// accesses (probe.Machine, probe.AccessMachine) are in probe.go and stream.go. operation.go lists the operations of a PTX
// instruction.
package event

// Package event delivers the events of a launch to the sinks of its probes (package probe).
//
// An observed CTA has an EventStream. BeginStep, Emit and EmitLanes fill in an event, which the stream reuses, and call
// each sink that subscribed to its kind. Methods of events and accesses (probe.Machine, probe.AccessMachine) are in
// probe.go and stream.go; operation.go lists the operations of a PTX instruction.
package event

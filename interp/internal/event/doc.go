// Package event delivers the events of a launch to the sinks of its probes (package probe).
//
// A CTA that is watched has an EventStream. BeginStep, Emit and EmitLanes fill in one event, which the stream reuses, and call each
// sink that subscribed to its kind. Methods of events and accesses (probe.Machine, probe.AccessMachine) are in probe.go and
// stream.go; operation.go lists the operations that a PTX instruction is made of.
package event

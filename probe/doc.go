// Package probe describes launches of PTX kernels as streams of events. It has the types of the events, which are plain data, and
// the interfaces of their receivers. Statistics, traces, sanitizers, models of hardware and debuggers are probes.
//
// A Probe subscribes to kinds of events (Subscription) and returns a Sink for each CTA. The machine, package interp, calls
// Sink.OnEvent with an *Event for each subscribed fact:
//
//	launch ─ OnLaunch                                           Probe.OnEvent
//	  CTA ── OnCTA                                              the Sink of the CTA
//	    warp ── OnWarp
//	      instruction ── OnBefore, OnAccess…, OnAfter           Event.Reads, Accesses, Writes
//	      divergence ─── OnBranch, OnSplit, OnReconverge        Event.Groups, Lanes
//	      waits ──────── OnWait, OnWake                         Event.Wait
//	    warp ── OnWarpEnd
//	  CTA ── OnCTAEnd
//	launch ─ OnLaunchEnd                                        Probe.OnEvent
//
// Events, values and addresses outside the subscription cost nothing. The stream of a CTA is the same in every mode, with every
// engine, and on any number of host cores, apart from OnMaterialise and Value.Tags, which show the storage of registers.
//
// Read probe.go first (Probe, Sink, filters), then kinds.go (the kinds of event), event.go (Event and its values) and
// access.go (accesses to memory). launch.go describes launches and programs, memory.go allocations and address windows,
// trap.go faults, operation.go the operations of an instruction, effect.go asynchronous operations, split.go warp splits.
//
// # Lifetime
//
// An Event, and everything it points to except *ptx.Instr, *ptx.Func, *LaunchInfo and *Trap, is valid during the call of
// OnEvent only: the machine reuses it. An *Allocation keeps its identity for the life of the device, so it can be a map key;
// its Data and Size change when it is freed.
//
// # Errors
//
// A *Trap is a fault of the guest program: find it with errors.As. Its kind is an Err variable of this package: test it
// with errors.Is.
//
// # Concurrency
//
// The sinks of different CTAs are called from several goroutines at a time, and so is Probe.CTA, unless the subscription is
// InOrder. Calls of OnEvent for the same sink or the same probe do not overlap. A probe must not change an event, nor the device
// of its launch: methods that change the device return interp.ErrInProbe there. Use the methods of Event to read memory and
// registers.
//
// # Compatibility
//
// New kinds of event, and new fields, may be added at any time: use AllEvents only to print or count, and name the fields of
// composite literals. Interfaces that the machine implements (Program, Machine, AccessMachine, CellMachine and SplitMachine)
// may gain methods; interfaces that users implement (Probe, Sink, LoadFilter, StoreFilter, AccessReceiver,
// EventSelector, EventReducer, Saver) do not.
package probe

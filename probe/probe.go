package probe

import (
	"sync/atomic"

	"gemu/ptx"
)

// Probe is a subscriber to the events of launches. Several probes can watch the same launch.
type Probe interface {
	// Subscription returns the events and values that the probe receives. It must return the same at every call.
	Subscription() Subscription

	// CTA is called when a CTA of a launch begins. It returns the sink for the events of this CTA, or nil to ignore the CTA. index
	// is the linear index of the CTA in the grid, id its index in three dimensions. CTA is called from several goroutines at the
	// same time, unless the subscription is InOrder.
	CTA(l *LaunchInfo, index int, id ptx.Dim3) Sink

	// Sink receives the events that belong to no CTA: OnLaunch, OnLaunchEnd, and the host's OnAlloc, OnFree, OnHostWrite and
	// OnHostRead.
	Sink
}

// Sink receives events, never concurrently.
type Sink interface {
	// OnEvent receives an event. The event is valid during the call only.
	OnEvent(e *Event)
}

// EventSelector is a probe that filters events by instruction. An instruction without selected events costs about as much as in
// an unobserved launch.
type EventSelector interface {
	// SelectEvents returns the selected events of each instruction, indexed by Event.Index; nil selects all events. The
	// selection filters the events in Selectable. All other subscribed events arrive in any case. SelectEvents is called when
	// a CTA begins, and for CTAs in flight when a paused launch continues. The caller keeps the slice: the probe must not
	// change it later.
	SelectEvents(l *LaunchInfo) []Events
}

// EventReducer is an EventSelector with a second, smaller selection. A sink switches each warp between the two selections
// (Event.ReduceEvents).
type EventReducer interface {
	EventSelector
	// ReducedEvents returns the selection for warps for which the sink called Event.ReduceEvents(true). It must not return nil.
	ReducedEvents(l *LaunchInfo) []Events
}

// LoadFilter is a Sink that does not need the event of every load before the load. Machine code then executes such loads
// without an exit, which takes a fraction of the time.
type LoadFilter interface {
	Sink
	// FilterLoads is called after the event e of a load that has no other events, with the access a. It returns the condition
	// for later loads of the same instruction and the same CTA (AccessCondition.Lasting: and later CTAs), by warps with the same
	// selection of events, until the CTA or the launch's turn on the device ends (interp.Launch.Yield). It returns false if the sink
	// needs the event of every such load before the load.
	FilterLoads(e *Event, a *Access) (c AccessCondition, ok bool)
}

// StoreFilter is a LoadFilter that does not need the event of every store before the store either. Machine code executes a store
// without an exit in launches with an InOrder subscription, if all sinks that receive its event are StoreFilters.
type StoreFilter interface {
	LoadFilter
	// FilterStores is FilterLoads for stores. A condition that is Late may not be Quiet.
	FilterStores(e *Event, a *Access) (c AccessCondition, ok bool)
}

// AccessCondition is the condition under which a sink does not need the event of a load or store before the access.
type AccessCondition struct {
	// Begin and End delimit the addresses: each lane's access must lie between them, in the state space of the request.
	Begin, End uint64
	// Unless, if it is not nil, must be 0 at the moment of the load, or all bytes that the load reads must be marked (Marks).
	Unless *atomic.Int64
	// Marks may be set if Unless is not nil. It has a mark for each byte from Begin up to End; nil: no byte is marked.
	Marks []byte
	// Mark is the value of Marks for a marked byte.
	Mark byte
	// Late means that the sink needs the event, but accepts it after the load. The event then comes before all later events of
	// the CTA, in the order of the accesses. Later instructions may have been executed, also if the sink ends the launch
	// (Event.Stop): registers and memory have later values, but Access.Stored and Access.MemoryBefore return the values at the
	// access. Late is false if the sink needs no event.
	Late bool
	// Quiet may be set if Late is true. If it is not nil, the sink needs no event of a load that executes while its value is not 0.
	Quiet *atomic.Int64
	// Lasting means that the condition does not end with the CTA. It then also holds, for the sinks of the same probe, in later CTAs
	// of the launch with the same shared memory (Event.Shared) and the same selections of events, whose FilterLoads may not be called.
	Lasting bool
}

// Selectable is the set of events that an EventSelector filters by instruction.
const Selectable = OnBefore | OnAccess | OnTexels | OnOperation | OnResult | OnAfter | OnUndo

// Saver is a probe, or a sink, whose state is saved and restored with a launch. Probes are saved first, then the sinks of CTAs
// in flight. A restore makes no new sinks: it calls Restore of the saved sinks.
type Saver interface {
	// Save returns a copy of the state.
	Save() any
	// Restore sets the state to one that Save returned. A state can be restored several times: Restore must not change it.
	Restore(state any)
}

// Subscription selects the events and values that a probe receives. Events and values that no probe of a launch selects cost
// nothing.
type Subscription struct {
	// Events is the set of subscribed kinds of event.
	Events Events
	// Values requests Event.Reads and Event.Writes with the lanes of registers: Value.Low and Value.High.
	Values bool
	// Results requests Event.Writes with the lanes of registers, as Values does, but not Event.Reads.
	Results bool
	// Tags requests Event.Reads and Event.Writes with the compact copies of registers: Value.Tags.
	Tags bool
	// Addresses requests the addresses of accesses: Access.Addr.
	Addresses bool

	// InOrder runs the launch on a single goroutine. The events of all CTAs then arrive in the order of the schedule, which is the
	// same on every host. Event.Pause and Event.Step work only if a probe of the launch has InOrder. The CUDA driver then runs
	// operations in sequence, in the order of submission; HostOrder describes the dependences between them.
	InOrder bool
}

// Union returns the subscription that selects what either subscription selects.
func (s Subscription) Union(other Subscription) Subscription {
	return Subscription{s.Events | other.Events, s.Values || other.Values, s.Results || other.Results, s.Tags || other.Tags, s.Addresses || other.Addresses, s.InOrder || other.InOrder}
}

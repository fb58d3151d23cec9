package probe

import "gemu/ptx"

// Probe is a subscriber to the events of launches. Several probes can watch the same launch.
type Probe interface {
	// Subscription returns the events and values that the probe receives. It must return the same at every call.
	Subscription() Subscription

	// CTA is called when a CTA of a launch begins. It returns the sink for the events of this CTA, nil to ignore the CTA. index is
	// the linear index of the CTA in the grid, id its index in three dimensions. CTAs run at the same time, and CTA is called from
	// several goroutines, unless the subscription is InOrder.
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
	// SelectEvents returns the selected events of each instruction, indexed as Event.Index; nil selects all events. It
	// filters OnBefore, OnAccess, OnTexels, OnOperation, OnResult, OnAfter and OnUndo. All other subscribed events arrive
	// in any case. It is called when a CTA begins, and for CTAs in flight when a paused launch continues. The caller keeps
	// the slice: the probe must not change it.
	SelectEvents(l *LaunchInfo) []Events
}

// EventReducer is a filter with a second, smaller selection. A sink switches each warp between both (Event.ReduceEvents).
type EventReducer interface {
	EventSelector
	// ReducedEvents returns the selection for warps that a sink has reduced. It must not return nil.
	ReducedEvents(l *LaunchInfo) []Events
}

// Selectable is the set of events that an EventSelector filters by instruction.
const Selectable = OnBefore | OnAccess | OnTexels | OnOperation | OnResult | OnAfter | OnUndo

// Saver is a probe, or a sink, whose state is saved and restored with a launch. Probes are saved first, then the sinks of CTAs
// in flight. The same sinks continue after a restore.
type Saver interface {
	// Save returns a copy of the state.
	Save() any
	// Restore returns to a state that Save returned. A state can be restored several times: Restore must not change it.
	Restore(state any)
}

// Subscription selects the events and values that a probe receives. Parts that no probe of a launch selects cost nothing.
type Subscription struct {
	// Events is the set of subscribed kinds of event.
	Events Events
	// Values requests Event.Reads and Event.Writes with the lanes of registers: Value.Low and Value.High.
	Values bool
	// Tags requests Event.Reads and Event.Writes with the compact copies of registers: Value.Tags.
	Tags bool
	// Addresses requests the addresses of accesses: Access.Addr.
	Addresses bool

	// InOrder runs the launch on a single goroutine: the events of all CTAs then arrive in a single order: the order of the
	// schedule, the same on every host. Only probes with InOrder can pause a launch (Event.Pause) and receive Event.Step.
	// The CUDA driver then runs operations in sequence, in the order of submission; HostOrder describes the dependences
	// between them.
	InOrder bool
}

// Union returns the subscription that covers both.
func (s Subscription) Union(other Subscription) Subscription {
	return Subscription{s.Events | other.Events, s.Values || other.Values, s.Tags || other.Tags, s.Addresses || other.Addresses, s.InOrder || other.InOrder}
}

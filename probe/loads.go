package probe

// LoadReceiver is a LoadFilter that receives late loads as lists, which takes less time than an event for each. If it is a StoreFilter,
// the lists have its late stores, too.
type LoadReceiver interface {
	LoadFilter
	// OnLoads receives the accesses for which a condition is Late, instead of their events: all of a warp since its last event,
	// in their order. The list is valid during the call only. Calls of OnLoads and OnEvent for the same sink do not overlap.
	// OnLoads must not end the launch (Event.Stop): other sinks may already have later accesses of the list.
	OnLoads(l *Loads)
}

// Loads is a list of loads and stores of a warp that have happened.
type Loads struct {
	// Warp is the index of the warp in the CTA.
	Warp int
	// List has the accesses, in their order.
	List []Load
	// Machine makes events of the loads. It is valid during the call of LoadReceiver.OnLoads only.
	Machine LoadsMachine
}

// Load is a load or store of a list.
type Load struct {
	// Index is the index of the instruction in LaunchInfo.Program.
	Index int
	// Request is the access of each lane.
	Request *Request
	// Lanes is the set of lanes that access memory; it is not empty.
	Lanes uint64
	// Addr has the address of each lane, in the space of the request.
	Addr []uint64
	// Strided means that the addresses of the lanes are Stride bytes apart from lane to lane. It may be false for such addresses, too.
	Strided bool
	// Stride is the distance from lane to lane, in bytes, if Strided is true (Access.SetStride).
	Stride int64
}

// LoadsMachine is the state of the machine at a list of loads.
type LoadsMachine interface {
	// LoadEvent returns the event of load i of a list (Loads.Event).
	LoadEvent(l *Loads, i int) *Event
}

// Event returns the event of load i, as Sink.OnEvent would receive it. It is valid until the next call.
func (l *Loads) Event(i int) *Event { return l.Machine.LoadEvent(l, i) }

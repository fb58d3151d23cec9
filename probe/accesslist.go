package probe

// AccessReceiver is a LoadFilter that receives late loads as lists, which takes less time than an event for each. If it is a StoreFilter,
// the lists have its late stores, too.
type AccessReceiver interface {
	LoadFilter
	// OnAccesses receives the accesses for which a condition is Late, instead of their events: all of a warp since its last event,
	// in their order. The list is valid during the call only. Calls of OnAccesses and OnEvent for the same sink do not overlap.
	// OnAccesses must not end the launch (Event.Stop): other sinks may already have later accesses of the list.
	OnAccesses(l *AccessList)
}

// AccessList is a list of loads and stores of a warp that have happened.
type AccessList struct {
	// Warp is the index of the warp in the CTA.
	Warp int
	// List has the accesses, in their order.
	List []ListedAccess
	// Machine makes events of the accesses. It is valid during the call of AccessReceiver.OnAccesses only.
	Machine AccessListMachine
}

// ListedAccess is a load or store of a list.
type ListedAccess struct {
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

// AccessListMachine is the state of the machine at a list of loads.
type AccessListMachine interface {
	// AccessEvent returns the event of access i of a list (AccessList.Event).
	AccessEvent(l *AccessList, i int) *Event
}

// Event returns the event of access i, as Sink.OnEvent would receive it. It is valid until the next call.
func (l *AccessList) Event(i int) *Event { return l.Machine.AccessEvent(l, i) }

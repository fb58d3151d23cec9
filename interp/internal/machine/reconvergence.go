package machine

// Reconvergence is the state of an active reconvergence point.
type Reconvergence struct {
	PC       int32          // block where the lanes reconverge
	Arrivals int32          // number of warp splits that have arrived
	Frame    *Frame         // call in which they reconverge
	Outer    *Reconvergence // the next reconvergence of the lanes; nil: none
	Depth    int            // number of outer reconvergences
	Lanes    uint64         // live lanes to reconverge here
	Arrived  uint64         // part of Lanes: the lanes that wait here
}

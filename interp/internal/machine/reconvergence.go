package machine

// Reconvergence is the record of a reconvergence point in flight.
type Reconvergence struct {
	PC       int32
	Arrivals int32 // number of arrivals of warp splits
	Frame    *Frame
	Outer    *Reconvergence // the next reconvergence of the lanes; nil: none
	Depth    int            // number of outer reconvergences
	Lanes    uint64         // live lanes to reconverge here
	Arrived  uint64         // part of Lanes: lanes waiting here
}

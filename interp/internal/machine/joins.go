package machine

// Reconvergence is lanes that meet.
type Reconvergence struct {
	PC       int32
	Arrivals int32 // how often lanes have come
	Frame    *Frame
	Outer    *Reconvergence // where they wait next
	Depth    int            // joins outside
	Lanes    uint64         // that are to meet here, and have not ended
	Arrived  uint64         // of them those that wait
}

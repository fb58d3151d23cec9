package probe

// CopyReceiver is a Sink that receives the cp.async copies of a warp's lanes together, which takes less time than an event for
// each lane.
type CopyReceiver interface {
	Sink
	// OnCopies receives a stage of the copies of all lanes that executed an instruction, instead of their events OnEffect, if the
	// targets of the lanes are separate. Otherwise it receives an event for each lane; the stage Writes may also come lane by lane
	// after the stage Issued has come for all lanes together, but not the other way round. c is valid during the call only. Calls
	// of OnCopies and OnEvent for the same sink do not overlap.
	OnCopies(c *Copies)
}

// Copies is a stage of the copies of a warp instruction, from global to shared memory.
type Copies struct {
	// Event has the CTA, the warp, the instruction and all lanes that executed it. Its Effect is nil.
	Event *Event
	// Number is the number of the effect of the first lane (Effect.Number). Each further lane has the next number.
	Number int64
	// Issued means the first stage. Otherwise the copies read and write now.
	Issued bool
	// Group is the number of groups that each lane committed before the instruction.
	Group int
	// To is the shared memory of the CTA.
	To *Allocation
	// From is the source; nil if no lane reads.
	From *Allocation
	// ToOffset and FromOffset have the offsets in To and From, by lane. The offset of a lane that reads nothing has no meaning.
	ToOffset, FromOffset [32]uint64
	// Bytes is the number of bytes that each lane writes.
	Bytes int
	// Read is the number of bytes that each lane reads. Zeros fill the rest.
	Read [32]uint8
}

package probe

// Effect is a stage of an asynchronous operation of a thread: cp.async, cp.async.bulk, copies of tensors, st.async,
// red.async, clusterlaunchcontrol.try_cancel, operations of tensor cores, and cp.async.mbarrier.arrive, which copies
// nothing. With multicast each receiving CTA has its own effect.
type Effect struct {
	// Number identifies the effect among the effects that the CTA of the event has issued. All stages of an effect have the same
	// number.
	Number int64

	// Issued means the first stage: the instruction issues the operation.
	Issued bool
	// Reads means that the operation reads its source now. An operation that copies registers does not read. Most operations
	// read and write in a single stage. An operation for whose source a wait_group.read has waited reads in an earlier stage.
	Reads bool
	// Writes means that the operation writes its destination now.
	Writes bool

	// Segments has the memory of the operation, in the order of the written bytes.
	Segments []Segment
	// Reduces means that the source is combined with the destination, not copied.
	Reduces bool

	// TensorCore means an operation of tensor cores (wgmma.mma_async, tcgen05.mma, tcgen05.cp). It reads matrices in shared memory;
	// Segments omits the registers and the tensor memory that it writes. Each warp of a warpgroup has its own effects, which belong
	// to its first lane. In the stage Writes, Event.Active has the lanes whose registers Event.Writes shows.
	TensorCore bool

	// Barrier is the shared memory of the mbarrier that the operation notifies; nil if it notifies none.
	Barrier *Allocation
	// BarrierOffset is the offset of the mbarrier in Barrier, in bytes.
	BarrierOffset uint64
	// Arrives means that the operation arrives at the mbarrier and copies nothing.
	Arrives bool
	// Commits means tcgen05.commit, which notifies the mbarrier when the earlier tensor core operations of its thread have completed.
	Commits bool
	// Bulk means that the operation belongs to the asynchronous proxy and its groups.
	Bulk bool
	// FurtherDestination means that the effect belongs to a multicast copy of which the instruction has already issued an effect, for
	// another destination.
	FurtherDestination bool
	// Group is the number of groups of its kind that its thread committed before it issued the operation.
	Group int
}

// Segment is a run of bytes of an effect.
type Segment struct {
	// To is the destination; nil for operations of tensor cores.
	To *Allocation
	// ToOffset is the offset in To, in bytes.
	ToOffset uint64
	// From is the source; nil if the bytes come from registers, are computed by the machine, or are zeros that fill a gap.
	From *Allocation
	// FromOffset is the offset in From, in bytes.
	FromOffset uint64
	// Bytes is the number of written bytes.
	Bytes int
	// Read is the number of read bytes. It differs from Bytes for packed elements of 6 bits.
	Read int
	// Zeros means that the written bytes are zeros that fill a gap.
	Zeros bool

	// Data has the bytes that are written, or combined with memory, in the stage Writes; nil for zeros.
	Data []byte
}

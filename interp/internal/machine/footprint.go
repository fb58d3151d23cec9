package machine

// MemoryNeeds is an upper bound of the memory of a kernel's CTAs, for any launch.
type MemoryNeeds struct {
	Words   int  // registers and local memory of a thread, in words
	Async   bool // the kernel has asynchronous effects
	Tensors bool // the kernel allocates tensor memory
}

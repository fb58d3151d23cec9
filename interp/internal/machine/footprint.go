package machine

// MemoryNeeds is what CTAs of a kernel can take, whatever the launch.
type MemoryNeeds struct {
	Words   int  // registers and local memory of a thread, in words
	Async   bool // it has asynchronous effects
	Tensors bool // it allocates tensor memory
}

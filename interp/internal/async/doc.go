// Package async executes asynchronous operations: cp.async and bulk copies, copies of tensors, mbarriers, wgmma and tcgen05.
//
// An operation that is issued becomes an AsyncEffect in the queue of its thread. It happens as late as the program allows:
//
//	issue ──► pending ──► source read ──► written ──► mbarrier notified
//	             └── at a wait, at a test of its mbarrier, or when the CTA ends
//
// Read async.go (queues of pending effects), effect.go (the execution of an effect), copy.go (cp.async, bulk copies, st.async),
// mbarrier.go (the value of an mbarrier) and mbarrierinstr.go (its instructions), tensorcopy.go and tensormap.go (tensor maps),
// warpgroup.go and wgmma.go (warpgroups), and tensor.go, tensoralloc.go, tensorload.go and tensorpipe.go (tensor memory,
// tcgen05). events.go emits the events of an effect.
package async

// Package async executes asynchronous operations: cp.async and bulk copies, copies of tensors, mbarriers, wgmma and tcgen05.
//
// An operation that is issued becomes an AsyncEffect in the queue of its thread. It happens as late as the program allows:
//
//	issue ──► pending ──► source read ──► written ──► mbarrier notified
//	             └── at a wait, at a test of its mbarrier, or when the CTA ends
//
// Read async.go, mbarrier.go, tensorcopy.go (tensor maps), wgmma.go (warpgroups) and tensor.go (tensor memory, tcgen05). effect.go
// emits the events of an effect.
package async

// Package async executes asynchronous operations: cp.async and bulk copies, copies of tensors, mbarriers, wgmma and
// tcgen05.
//
// An instruction that issues an operation makes an AsyncEffect, which is pending until it happens. It happens as late as
// the program allows:
//
//	issue ──► pending ──► source read ──► target written ──► mbarrier notified
//	             └── until a wait for it, a failed test of its mbarrier, or the CTA's end
//
// Read async.go (queues of pending effects), effect.go (the execution of an effect), warpcopy.go (cp.async), copy.go (bulk
// copies, st.async), mbarrier.go (the value of an mbarrier) and mbarrierinstr.go (its instructions), tensorcopy.go and tensormap.go
// (tensor maps), warpgroup.go and wgmma.go (warpgroups), and tensor.go, tensoralloc.go, tensorload.go and tensorpipe.go
// (tensor memory, tcgen05). events.go emits the events of an effect.
package async

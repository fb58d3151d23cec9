// Package exchange is the backend of machine code: it copies the state of warps to package native and back. Instructions
// without machine code execute in Go.
//
//	Go                          machine code
//	enterScheduler ───────────► runs blocks; switches warps of the CTA; diverges and reconverges
//	syncBack, importSplits ◄─── exit with a reason: budget, unsupported instruction, barrier, call, trap
//
// Read native.go (the backend and the context of a warp), native_divergence.go (warp splits), native_scheduler.go (warps of a CTA,
// and the next CTA), native_check.go (check mode in machine code).
package exchange

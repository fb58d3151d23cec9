// Package driver is the CUDA driver API over package interp: a GPU that is not
// there. It has the driver's objects (devices, contexts, modules, streams, events,
// graphs, memory), its rules (which context is current, what a stream orders, what
// a fault does to a context) and its result codes, without its C types. The shared
// libraries under cmd are thin C shells around it.
//
// A Driver is one emulated driver. A Thread is a host thread's view of it: the API
// keeps a stack of current contexts per thread, so most calls are methods of
// Thread, with the name of the C function less its "cu" and what they give as Go
// results. Objects are known by their Handle, as in C, so that a wrong handle is an
// error and not a crash.
//
// Work is asynchronous as the API says. Each operation is a task that waits for
// those before it on its stream, and where the default stream is involved on
// others (see stream.go). The first fault of a kernel stays the result of every
// later call in its context.
//
// Device memory lies outside the Go heap. Its addresses are numbers that no host
// address can be, so that the two cannot be confused; memory of the host that the
// driver hands out or is told of has the address it has on the host.
//
// RunHost is the other way in: it runs a kernel on memory of the host, for clients
// that know nothing of devices.
package driver

// Package driver implements the CUDA driver API on top of package interp, without its C types: devices, contexts,
// modules, streams, events, graphs and memory, with the rules and result codes of the API. The shared libraries under
// cmd are thin C layers around it.
//
// A Driver is an emulated driver. A Thread is the view of one host thread: the API keeps a stack of current contexts
// for each thread. So most calls are methods of Thread. A call has the name of the C function without "cu", and returns
// its results as Go values. A Handle refers to an object, as in C: a call with a wrong handle returns an error. An error
// carries a Result (see ResultOf).
//
//	Driver                 settings, objects by handle, memory that kernels can access (regions), one interp.Device
//	  Thread ...           one for each host thread: its stack of current contexts
//	  Device ...           an emulated GPU: its allocated bytes, its primary context
//	    Context ...        first fault, limits; owns modules, memory, events
//	      Stream ...       queue of tasks: launches, copies, fills, host functions
//
// Work on streams of one context, from left to right in the order of the calls; an arrow means "ends before the next begins":
//
//	default stream        A ---------> C ----------> D
//	                       \          ^ \           ^
//	blocking stream         +--> B ---+   +--> E ---+
//	non-blocking stream   F ---> G ---> H               ordered with the streams above only by events
//
// Work is asynchronous. Each operation is a task. The task comes after the previous task of its stream, after the tasks
// that the default stream orders before it, and after the events that the stream waits for (stream_task.go).
// After the first fault of a kernel, every later call in its context returns this fault, unless
// Settings.ContinueOnFault is set.
//
// Device memory lies outside the Go heap. Its addresses lie above every address of the host, so the two cannot be
// confused. Host memory allocated or registered by the driver has the same address on host and device.
//
// Driver.RunHost is for clients that do not use the driver API: it runs a kernel on memory of the host.
//
// A single mutex, Driver.mu, guards the objects. A call locks it (Thread.enter, enterStream, enterQueue, enterWork) and
// releases it while it waits for tasks.
//
// # Files in reading order
//
// Base: driver.go (Driver, Thread, handles), settings.go (environment variables), result.go, clientmemory.go,
// hostbytes.go.
//
// Devices and contexts: device.go, context.go, context_limits.go, context_primary.go, context_green.go.
//
// Streams: stream_task.go (the order of work), stream_turns.go (turns of ready work), stream.go, stream_queue.go,
// stream_event.go, stream_event_shared.go, stream_memop.go, stream_attribute.go, stream_order.go (for race detection),
// stream_capture.go.
//
// Memory: memory_region.go, memory.go, memory_copy.go, memory_pointer.go, memory_advice.go, memory_pool.go,
// memory_pool_shared.go, memory_virtual.go, memory_ipc.go.
//
// Modules: module.go, module_image.go (PTX in images), module_function.go, module_occupancy.go, module_library.go,
// module_link.go.
//
// Launches: launch.go, launch_setup.go, launch_host.go, launch_unended.go.
//
// Graphs: graph.go, graph_work.go, graph_exec.go, graph_params.go, graph_edit.go, graph_update.go, graph_event.go,
// graph_memory.go, graph_condition.go, graph_userobject.go, graph_dot.go.
//
// Textures: texture_array.go, texture.go, texture_tensormap.go.
//
// Observers of all launches: observe_statistics.go, observe_file.go, observe_accelsim.go, observe_sanitize.go,
// observe_debug.go.
//
// Packages below: internal/sharedmem (memory shared by processes), internal/linker (merging PTX).
//
// # Errors, cancellation, concurrency and compatibility
//
// A call that fails gives an *Error with the code of the CUDA driver API (Result): find it with errors.As. A sanitizer's
// findings that must end the process are a *Found. Functions take no context: Settings.TimeLimit and Settings.Steps bound
// launches, and Exit ends them. A Driver is safe for concurrent use, as the driver of a process is. Two goroutines must
// not use a Thread at the same time. Functions follow the versions of CUDA; settings and fields may be added at any time.
package driver

// Package kernels is the workload library: compiled kernels, with generated inputs of variable size and a host reference
// in Go that checks the result.
//
// The CUDA C sources and the PTX that clang made of them are in cuda/; the first line of each .ptx is the command.
// Workload.Run makes the inputs, launches the kernels, and compares the results, as "gemu run @name" does.
//
// Files in reading order: kernels.go (workloads and sessions), versions.go, host.go (helpers), then a file for each
// workload.
//
// # Errors, concurrency and compatibility
//
// A wrong result of a kernel is a *Mismatch: find it with errors.As. Errors of launches are those of package interp. The
// end of a session's context ends its launch. Workloads do not change, and are safe for concurrent use; a Session belongs
// to one goroutine. Workloads and further compilations may be added at any time.
package kernels

// Package kernels is the workload library: compiled kernels, with generated inputs of variable size and a host reference
// in Go that checks the result.
//
// The CUDA C sources and the PTX that clang and nvcc made of them are in cuda/; the first line of each .ptx is the command.
// Classic workloads are benchmarks of the first ten years of CUDA, many of them from studies of value structure; current
// workloads use tensor cores, asynchronous copies and narrow types.
// Workload.Run makes the inputs, launches the kernels, and compares the results, as "gemu run @name" does.
//
// Files in reading order: kernels.go (workloads and sessions), versions.go, host.go and formats.go (helpers), then a file for
// each workload; gemm.go and gemm_tma.go have several. measured.go and measured_sdk.go have the workloads of Measured.
//
// # Errors, concurrency and compatibility
//
// A wrong result of a kernel is a *Mismatch: find it with errors.As. Errors of launches are those of package interp. The
// end of a session's context ends its launch. Workloads do not change, and are safe for concurrent use; a Session belongs
// to one goroutine. Workloads and further compilations may be added at any time.
package kernels

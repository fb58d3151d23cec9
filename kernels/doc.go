// Package kernels is the workload library: compiler-made kernels, with inputs of any size and a host reference in Go
// that checks the result.
//
// The CUDA C sources and the PTX that clang made of them are in cuda/; the first line of each .ptx is the command.
// Workload.Run makes the inputs, launches the kernels, and compares the results, as "gemu run @name" does.
//
// Files in reading order: kernels.go (workloads and sessions), versions.go, host.go (helpers), then a file for each
// workload.
package kernels

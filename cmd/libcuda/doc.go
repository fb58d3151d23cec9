// Command libcuda is libcuda.so.1: the CUDA driver API on top of package driver. Build it with
//
//	go build -buildmode=c-shared -o libcuda.so.1 ./cmd/libcuda
//
// Each file has the functions of a part of the API. They are thin: they convert C types to Go types and back. The file
// zsymbols.c defines every function of the API that is not implemented: it returns CUDA_ERROR_NOT_SUPPORTED. Command
// _gen generates this file from the list of all names. docs/libraries.md is the documentation for users.
//
// Files in reading order: main.go (helpers for all calls), device.go, context.go, green.go, stream.go, capture.go,
// memory.go, pool.go, virtual.go, ipc.go, module.go, launch.go, graph.go, graphnode.go, graphedit.go, texture.go,
// tensormap.go; shims.c has variants of functions that only differ in their name or default stream.
package main

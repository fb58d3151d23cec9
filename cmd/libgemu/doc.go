// Command libgemu is libgemu.so: ptx_run and the functions of gemu.h, on top of package driver. Build it with
//
//	go build -buildmode=c-shared -o libgemu.so ./cmd/libgemu
//
// Files in reading order: main.go (calls), module.go (modules, memory of the host), error.go (failed calls), outcome.go (options and results), watch.go (observers
// in C), pull.go (launches step by step), text.c (functions that a child of fork may call).
// docs/libraries.md is the documentation for users.
package main

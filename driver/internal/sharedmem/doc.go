// Package sharedmem provides shared memory for the processes of a machine.
//
// An Allocator hands out blocks of zeroed memory outside the Go heap. A block starts as private memory and can become a
// file in memory; a process with a descriptor of the file can map it:
//
//	         Share                  Open, OpenFromProcess, Map (in any process)
//	block ----------> block = file <------------------------------------------- memory = file
//	  ^                    |
//	  |      release       |
//	  +--------------------+   the block is private and zero again; the file exists while a process maps it
//
// Files can also be made directly (Create), and mapped at reserved addresses (ReserveAddresses, MapAt).
//
// Processes identify each other by number and start time (ProcessStart), lock a file against concurrent use (Lock), and
// wait on a word of shared memory (Sleep, Wake).
//
// Sharing exists on Linux only: elsewhere Supported is false, and only Allocate, Close and WholePages work.
//
// Files in reading order: allocator.go, file_linux.go, process_linux.go; other.go holds the functions of all other
// systems, which are never called.
package sharedmem

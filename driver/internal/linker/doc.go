// Package linker merges PTX modules into a single module, as text.
//
// GPUs link machine code; gemu has none, so a link of modules is a new PTX text:
//
//	input 0 ---+
//	input 1 ---+--> Merge --> .version, .target, .address_size that satisfy all inputs
//	library ---+              .target of input 0, text of input 0
//	(if CompletesAny)         .target of input 1, text of input 1 ...
//
// Declarations take the linkage of their definitions, a single weak definition of several is kept, and internal
// symbols with equal names are renamed. The result must be parsed: remaining conflicts are errors of the parser.
//
// A library is an archive of machine code, of which only the names can be used (Members). For CUDA's device runtime,
// gemu has PTX (DeviceGroups, DeviceGraphs).
//
// Files in reading order: merge.go, library.go.
package linker

// Package accelsim writes launches as traces for Accel-Sim, in the format of its own tracer (an NVBit tool that traces
// SASS), so that trace-driven simulators run without a GPU. An Exporter is a probe; it makes kernelslist.g and a file
// for each launch, kernel-1.traceg and so on.
//
// gemu executes PTX, so the SASS is synthetic: each PTX instruction becomes the opcodes of its row in the table
// (table.go). Accel-Sim knows these opcodes for the binary version. They have the lanes that executed the instruction
// and the addresses that they accessed. docs/accelsim.md lists the approximations.
//
// Files in reading order: table.go (PTX to SASS), known.go, accelsim.go (launches and CTAs), warp.go (instructions),
// tracez.go (compressed files), directory.go.
package accelsim

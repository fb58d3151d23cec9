// Package cuda has the header for kernels in CUDA C++. The sources of the workload library are in the same directory.
package cuda

import _ "embed"

// Header is the part of CUDA that clang needs to compile kernels without a CUDA toolkit: types, qualifiers, and
// functions that are instructions. The .cu files of the workload library include it.
//
//go:embed gemu.h
var Header string

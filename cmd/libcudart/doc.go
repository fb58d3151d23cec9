// Package libcudart has no Go code. Its directory holds the sources of libcudart.so.12 and .so.13, the CUDA runtime API
// on top of libcuda.so.1, in C: src/cudart.h first, then src/runtime.c (initialisation), src/register.c (programs
// register their kernels) and one file for each part of the API. build.sh builds the libraries, names.txt lists their
// exports, and the tests here test them; with GEMU_CUDA, the directory that toolkit.sh fills, they also compile CUDA
// C++. docs/libraries.md is the documentation for users.
package libcudart

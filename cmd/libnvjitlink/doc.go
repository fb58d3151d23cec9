// Package libnvjitlink has no Go code. Its directory holds the source of libnvJitLink.so.12 and .so.13 in C: NVIDIA's
// linker of device code, on top of the linker of libcuda.so.1. build.sh builds the libraries, and the tests here test
// them. docs/libraries.md is the documentation for users.
package libnvjitlink

// Package libcudart has no Go code: its directory is that of libcudart.so.12 and .so.13, the CUDA
// runtime API over libcuda.so.1, in C. build.sh builds them, names.txt lists what they export, and the
// tests here try them; with GEMU_CUDA, which toolkit.sh fills, they compile CUDA C++. docs/libraries.md is for users.
package libcudart

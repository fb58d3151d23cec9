// Package libnvjitlink has no Go code: its directory is that of libnvJitLink.so.12 and .so.13, the
// linker of device code over that of libcuda.so.1, in C. build.sh builds them, and the tests here try
// them. docs/libraries.md is for users.
package libnvjitlink

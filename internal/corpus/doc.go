// Package corpus provides all programs with inputs in the same form: the cases of testdata, the kernels there that no
// case runs, and the workload library at small sizes.
//
// Files in reading order: corpus.go (programs and outcomes), compiled.go and images.go (references of compiler-made
// kernels), unseen.go (random programs from any module), hardware.go (launches for a GPU), vary.go.
package corpus

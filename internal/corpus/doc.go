// Package corpus provides all test programs, with their inputs, in one form: the cases of testdata, the kernels of testdata
// that no case runs, and the workload library at small sizes.
//
// Read the files in this order: corpus.go (programs and outcomes), compiled.go and images.go (launches and reference
// results of compiler-made kernels), unseen.go (random programs from any module), hardware.go (launches for a GPU), vary.go.
package corpus

// Package gscalar models G-Scalar, the register file and the scalar execution of Liu, Gilani, Annavaram and Kim, HPCA
// 2017. Registers are compressed byte by byte when they are written. An instruction can execute in one lane for the whole
// warp if the encodings of its sources show that all lanes have the same value. The model counts instructions that may
// execute as scalars, bytes of registers, and activated arrays. It does not model time.
//
// A [Model] is a probe of any number of launches. In addition to the paper's scheme it models other schemes for the same
// values: uncompressed vectors, a file of scalars, base and differences as in warped compression, the paper's scheme for
// each half warp, and the paper's scheme with affine tags. If Model.Verify is set, each scheme stores the lanes, and when
// an instruction reads a register, the stored lanes are compared with the values of the execution.
//
// docs/gscalar.md defines the counts, and states the interpretation of the paper's text for each section.
//
// Read gscalar.go (counts, the model), cta.go (registers of a CTA), compress.go (the schemes), report.go (the paper's figures).
package gscalar

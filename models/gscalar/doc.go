// Package gscalar models G-Scalar, the register file and the scalar execution of Liu, Gilani, Annavaram and Kim, HPCA
// 2017. Registers are compressed byte by byte when they are written; an instruction can execute in one lane for the whole
// warp if the encodings of its sources show that all lanes have the same value. The model counts instructions that may execute as
// scalars, bytes of registers, and activated arrays. It has no time.
//
// A [Model] is a probe of any number of launches. Next to the paper's file it keeps other schemes on the same values: uncompressed
// vectors, a file of scalars, the base and differences of warped compression, halves, and affine tags in front of the paper's file.
// With Model.Verify each scheme stores the lanes in its own way, and is compared with the machine whenever an
// instruction reads a register.
//
// docs/gscalar.md defines the counts, with the interpretation of the text, section by section.
//
// Read gscalar.go (counts, the model), cta.go (registers of a CTA), compress.go (the schemes), report.go (the paper's figures).
package gscalar

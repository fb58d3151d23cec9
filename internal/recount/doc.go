// Package recount repeats the counts of the register-file models independently, for tests of the models. It follows the
// papers' text and docs/avc.md, docs/caba.md, docs/kim2013.md and docs/regfile.md, and shares only the events of a launch with the
// models. Its data structures are the simplest possible: maps of words, lists that are searched from the beginning, no bit
// sets.
//
// Each file recounts a model: avc.go the Affine Vector Cache, kim.go the machine of Kim et al. 2013, regfile.go the bytes
// that models of register files store; bursts.go the bursts of compressed lines.
package recount

// Package recount counts once more, in another way, what the models of register files count: it is for
// tests of them. It is written from the papers' text and from docs/avc.md, docs/value-structure.md and
// docs/regfile.md, and shares nothing with the models but what an observer is told of a launch:
// maps of words, lists that are gone through from the beginning, and no bits.
package recount

// Package validity finds uses of uninitialised values: of registers read before they are written, and of
// memory never written since its allocation.
//
// Each bit of a register's lane and of memory is valid or invalid. Copies keep validity. A computed bit is
// invalid if it depends on an invalid bit: exactly so for logic, shifts and moves; towards higher bits for
// sums and products; as a whole for all other operations. Only uses are reported: of branches, addresses,
// printed values and similar, and of values that were computed from invalid bits and that the host copies.
// A reported value counts as valid from then on.
//
//	load, call parameter      compute               store
//	memory ─────────────► register ──────► register ──────► memory
//	invalid bits          invalid bits     rule.invalid      invalid bits, origin
//	(memory.bits)         (row.bits)          │              (memory.bits)
//	                                          ▼
//	                              use with invalid bits: finding
//
// Read the files in this order: validity.go (CTAs, registers, uses, calls), plan.go (instructions as
// actions), rule.go (dependence of result bits), access.go and memory.go (memory), exchange.go (operations
// across lanes, reports). docs/sanitizers.md lists the checks and their limits.
package validity

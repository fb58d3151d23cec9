// Package affinetrack is the theory of value structure that gemu executes by:
// which values the lanes of a warp hold can be written compactly, and which
// instructions can be executed on the compact form.
//
// # The lattice
//
// A register of a warp is described by one of
//
//	uniform(b)      every lane holds b
//	affine(b, s)    lane i holds b + i·s, modulo 2^w, with s ≠ 0
//	generic         anything
//
// ordered uniform ⊑ affine ⊑ generic. γ maps a description to the set of lane
// vectors it allows:
//
//	γ(uniform(b))   = { v : v(i) = b }
//	γ(affine(b, s)) = { v : v(i) = b + i·s mod 2^w }
//	γ(generic)      = all v
//
// Descriptions are only about the lanes that are active when they are made; what
// other lanes hold is kept apart (regfile.Compact.Mask). The lane number i counts
// within a row of 32, so lane 0 of the upper half of a 64-lane warp has its own
// base.
//
// # Rules
//
// A rule is sound if, whenever it maps descriptions of the sources to a
// description r of the result, executing the instruction on lanes taken from the
// γ of the sources gives lanes in γ(r). Addition, subtraction, negation and
// multiplication by a uniform value are sound modulo 2^w without further ado, as
// Z/2^w is a ring. Whatever looks at a value as a number (comparison, shifting
// right, widening, minimum) is sound only where the progression does not wrap;
// each rule says its condition. Rules are tested against lane-by-lane execution
// (rules_test.go), and every compact result of a launch in check mode is compared
// with the vector one.
//
// A Unit decides by the rules, as far as a Policy has them, how an instruction executes:
// affine mode asks one, and so do statistics under a policy. What rules allow of
// operands' shapes is data (Shape), from which Transfer tells classes beforehand.
// Some rules have fast forms beside them, which the tests compare with the rules.
//
// Sources: Kim, Torng, Srinath, Lockhart, Batten, "Microarchitectural Mechanisms
// to Exploit Value Structure in SIMT Architectures", ISCA 2013 (sections 2 and 4),
// and Collange, Defour, Zhang, "Dynamic Detection of Uniform and Affine Vectors in
// GPGPU Computations", 2009.
package affinetrack

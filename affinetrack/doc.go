// Package affinetrack is the theory of value structure in gemu: which values of a warp's lanes can be written
// compactly, and which instructions can execute on the compact form.
//
// # The lattice
//
// A register of a warp is described by one of
//
//	uniform(b)      every lane holds b
//	affine(b, s)    lane i holds b + i·s, modulo 2^w, with s ≠ 0
//	generic         anything
//
// ordered uniform ⊑ affine ⊑ generic. γ maps a description to the set of lane vectors it allows:
//
//	γ(uniform(b))   = { v : v(i) = b }
//	γ(affine(b, s)) = { v : v(i) = b + i·s mod 2^w }
//	γ(generic)      = all v
//
// A description applies only to the lanes that are active when it is made; regfile.Compact.Mask records these lanes.
// The lane number i counts within a row of 32, so lane 0 of the upper half of a 64-lane warp has its own base.
//
// # Rules
//
// A rule maps descriptions of the sources to a description r of the result. It is sound if executing the instruction on
// any lanes from the γ of the sources gives lanes in γ(r). Addition, subtraction, negation and multiplication by a
// uniform value are always sound modulo 2^w, as Z/2^w is a ring. Operations that interpret a value as a number
// (comparison, shifting right, widening, minimum) are sound only if the progression does not wrap; each rule states its
// condition. Tests compare the rules with lane-by-lane execution (rules_test.go), and every compact result of a launch
// in check mode is compared with the vector result.
//
// A Unit decides how an instruction executes, by the rules of a Policy. Affine mode and the statistics under a policy
// use a Unit. A Shape states which operands may be affine, so that Transfer can derive the class of a result before
// execution. A rule also lists its fast forms, for operands of certain widths; the tests compare them with the rule.
//
// Read the files in this order: value.go (descriptions), rules.go (the rules), policy.go, unit.go, fast.go (fast
// forms), static.go (Transfer), stats.go (classes and counts) and fit.go.
//
// Sources: Kim, Torng, Srinath, Lockhart, Batten, "Microarchitectural Mechanisms to Exploit Value Structure in SIMT
// Architectures", ISCA 2013 (sections 2 and 4), and Collange, Defour, Zhang, "Dynamic Detection of Uniform and Affine
// Vectors in GPGPU Computations", 2009.
package affinetrack

// Package affinetrack is the theory of value structure in gemu: which values of a warp's lanes can be written
// compactly, and which instructions can execute on the compact form. It has two domains: values, which a launch
// computes with, and spacings, which are known before the launch.
//
//	lane           0       1       2       3    …   31
//	register    ┌───────┬───────┬───────┬───────┬─ ─┬───────┐
//	            │   b   │  b+s  │ b+2·s │ b+3·s │ … │b+31·s │
//	            └───────┴───────┴───────┴───────┴─ ─┴───────┘
//	value       base b, stride s            Value:   during a launch
//	spacing     stride s; b is not known    Spacing: before a launch
//
// # Values
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
// # Spacings
//
// When a kernel is lowered, the base is not known, but the stride often is. A spacing has the stride, the number of
// neighbouring lanes for which it holds, and whether wrapping or clamping may have moved lanes closer together:
//
//	            nothing is known (the zero Spacing)
//	          ╱                 │                  ╲
//	stride 0, HalfRow    stride 4, HalfRow    …  stride 4, clamped, …
//	       │                    │                   │
//	stride 0, WholeRow   stride 4, WholeRow   …     …
//	          ╲                 │                  ╱
//	               not yet written (Unwritten)
//
// Merge is the join. Spacings with different strides merge to the top, the zero Spacing. A spacing of a whole row without
// wraps and bounds determines the class of the values: with stride 0 they are uniform, with any other affine
// (Spacing.Class).
//
// # Rules
//
// A rule says what an instruction does in both domains. Its field Apply maps values of the sources to a value r of the
// result. It is sound if executing the instruction on any lanes from the γ of the sources gives lanes in γ(r). Addition,
// subtraction, negation and multiplication by a uniform value are always sound modulo 2^w, as Z/2^w is a ring. Operations
// that interpret a value as a number (comparison, shifting right, widening, minimum) are sound only if the progression does
// not wrap; each rule states its condition. Its fast forms (Fast) are the same for operands of certain widths. Its
// transfers on spacings (Spacing) map spacings of the sources to one of the result; a rule without them knows nothing
// unless all sources are uniform.
//
// Tests compare the rules and their transfers with lane-by-lane execution (rules_test.go, spacing_test.go). They fail for
// a rule without transfers, unless spacing_test.go gives the reason. Every compact result of a launch in check mode is
// compared with the vector result.
//
// A Unit decides how an instruction executes, by the rules of a Policy. Affine mode and the statistics under a policy
// use a Unit. A Shape states which operands may be affine, so that Transfer can derive the class of a result before
// execution. Package lower walks over a kernel with TransferSpacing and finds the spacing of each address.
//
// Read the files in this order: value.go (values), rules.go (the rules), fast.go (fast forms), spacing.go (the domain of
// spacings and its transfers), static.go (Transfer), policy.go, unit.go, stats.go (classes and counts) and fit.go.
//
// Sources: Kim, Torng, Srinath, Lockhart, Batten, "Microarchitectural Mechanisms to Exploit Value Structure in SIMT
// Architectures", ISCA 2013 (sections 2 and 4), and Collange, Defour, Zhang, "Dynamic Detection of Uniform and Affine
// Vectors in GPGPU Computations", 2009.
//
// # Errors, concurrency and compatibility
//
// The functions return no errors: if the condition of a rule does not hold, its second result is false. Values, rules and
// policies do not change, and are safe for concurrent use; a Unit belongs to one goroutine. Rules, policies and fields may
// be added at any time: name the fields of composite literals.
package affinetrack

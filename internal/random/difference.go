package random

// This file lists the differences between the manual and GPUs.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx"
)

// Semantics selects the behaviour on which defined programs may depend where the manual and GPUs differ.
type Semantics int

const (
	// Manual programs avoid every difference: their results agree with the manual and with GPUs.
	Manual Semantics = iota
	// Hardware programs have instructions with differences, too. Their results are gemu's, which follows GPUs where
	// Difference.Gemu names them.
	Hardware
)

// SemanticsNames are the names of the Semantics, in their order.
var SemanticsNames = []string{"manual", "hardware"}

// Difference is a known difference between the manual and GPUs, or a result that the manual leaves undefined. The
// sources are docs/design/arithmetic.md and testdata/hw/known.txt.
type Difference struct {
	Instructions string // instructions
	Manual       string // rule of the manual; "" if it is undefined
	Hardware     string // behaviour of GPUs
	Gemu         string // "manual" or "GPU", which gemu follows; "" if programs do not reach the difference
	Programs     string // how manual programs avoid the difference

	// Defined programs avoid a difference by these functions. Without any of them it is unreachable: no statement of
	// the generator has it.
	avoided       func(v *ptx.Variant) bool        // manual programs do not have the opcode
	alwaysAvoided func(v *ptx.Variant) bool        // no defined program has the opcode
	narrowed      func(v *ptx.Variant, i int) bool // manual programs use only the lowest 8 bits of operand i
	unguarded     func(v *ptx.Variant) bool        // manual programs do not guard the opcode
	mismatched    func(first, second *ptx.Variant) bool
}

func named(names ...string) func(v *ptx.Variant) bool {
	return func(v *ptx.Variant) bool { return slices.Contains(names, v.Op.Name) }
}

func withModifier(mods ...string) func(v *ptx.Variant) bool {
	return func(v *ptx.Variant) bool { return slices.ContainsFunc(mods, v.Has) }
}

func subtracts(v *ptx.Variant) bool { return strings.HasPrefix(v.Op.Name, "sub") }

// Differences lists the known differences.
var Differences = []Difference{
	{
		Instructions: "`sub.cc`, `subc.cc` before `addc`, `madc`; `add.cc`, `addc.cc`, `mad.cc`, `madc.cc` before `subc`", Gemu: "GPU",
		Manual: "a subtraction sets the carry flag if it borrows", Hardware: "the flag is the carry of a + ¬b + 1: 1 if nothing is borrowed",
		Programs:   "avoided: `subc` follows subtractions only, `addc` and `madc` follow additions only",
		mismatched: func(first, second *ptx.Variant) bool { return subtracts(first) != subtracts(second) },
	},
	{
		Instructions: "`bfe`, `bfi` on 64 bits", Gemu: "GPU",
		Manual: "position and length are the lowest 8 bits of their operands", Hardware: "they are all 32 bits",
		Programs: "avoided: both operands are masked with 255 before",
		narrowed: func(v *ptx.Variant, i int) bool {
			o := &v.Form.Operands[i]
			return named("bfe", "bfi")(v) && v.Type().Bits() == 64 && o.Allowed != nil && !o.Const
		},
	},
	{
		Instructions: "scalar video instructions: `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`, `vmad`", Gemu: "manual",
		Manual: "intermediate results have 33 or more bits", Hardware: "GPUs since Maxwell do not have them; the instructions that the assembler emits instead differ",
		Programs: "avoided: no scalar video instructions",
		avoided: func(v *ptx.Variant) bool {
			return v.Form.Family == ptx.FamilyVideo || v.Form.Family == ptx.FamilyVmad
		},
	},
	{
		Instructions: "`fns` with the least offset, -2147483648", Gemu: "manual",
		Manual: "the offset counts bits downwards", Hardware: "another result",
		Programs: "avoided: no `fns`",
		avoided:  named("fns"),
	},
	{
		Instructions: "`neg.s16` of -32768", Gemu: "manual",
		Manual: "the result is -32768", Hardware: "the assembler assumes that there is no overflow, and widens the result as 32768",
		Programs: "avoided: no `neg.s16`",
		avoided:  func(v *ptx.Variant) bool { return v.Op.Name == "neg" && v.Type() == ptx.S16 },
	},
	{
		Instructions: "`shl`, `shr` on 16 bits by constants of 65536 and more", Gemu: "manual",
		Manual: "amounts of more than 16 bits shift by 16", Hardware: "the assembler takes the low bits of the constant",
		Programs: "avoided: the amounts of shifts on 16 bits are masked with 255 before",
		narrowed: func(v *ptx.Variant, i int) bool {
			return named("shl", "shr")(v) && v.Type().Bits() == 16 && i == 2
		},
	},
	{
		Instructions: "`testp`, `set` under a guard", Gemu: "manual",
		Manual: "lanes whose guard is false keep the destination", Hardware: "in some programs, code of the driver's compiler writes it",
		Programs:  "avoided: neither has a guard",
		unguarded: named("testp", "set"),
	},
	{
		Instructions: "`addc`, `subc`, `madc` on 16 bits, `fma.bf16` and `fma.bf16x2` with `.rz`, `.rm`, `.rp`", Gemu: "",
		Hardware:      "the assembler accepts them, but computes with 32 bits, or rounds to nearest",
		Programs:      "avoided: no forms that only the assembler has",
		alwaysAvoided: func(v *ptx.Variant) bool { return v.Form.Undocumented },
	},
	{
		Instructions: "`.ftz`", Gemu: "GPU",
		Manual: "subnormal inputs and results are zero, those of `cvt.ftz.f16.f32` too", Hardware: "results count as subnormal by the value before rounding in some instructions; `cvt.ftz.f16.f32` does not flush",
		Programs:      "avoided: no `.ftz`",
		alwaysAvoided: withModifier("ftz"),
	},
	{
		Instructions: "`.approx`, `.full`", Gemu: "",
		Manual: "a bound of the error", Hardware: "one result within the bound",
		Programs:      "avoided: no approximations",
		alwaysAvoided: withModifier("approx", "full"),
	},
	{
		Instructions: "`.satfinite`, `.oob`, `.rs`, `.scaled`", Gemu: "GPU",
		Manual: "some results of NaNs and infinities are left open", Hardware: "one result",
		Programs:      "avoided: none of these modifiers",
		alwaysAvoided: withModifier("satfinite", "oob", "rs", "scaled"),
	},
	{
		Instructions: "floating-point instructions without a rounding mode", Gemu: "manual",
		Manual: "a multiplication and an addition may be contracted", Hardware: "the assembler contracts some",
		Programs: "avoided: each has a rounding mode",
		alwaysAvoided: func(v *ptx.Variant) bool {
			return v.Form.Family == ptx.FamilyCompute && v.Form.HasSlot("rnd") && v.Slot("rnd") == ""
		},
	},
	{
		Instructions: "bits of a NaN that an instruction makes; its sign by `abs`, `neg`, `copysign`, `.xorsign`; `min`, `max` of NaNs", Gemu: "GPU",
		Hardware: "it depends on the instruction and its type",
		Programs: "avoided: a NaN becomes one NaN in the same line, before anything uses it",
	},
	{
		Instructions: "signs of zeros of `min`, `max`, `cvt`, `copysign`, `.sat`, `.relu`", Gemu: "GPU",
		Hardware: "it depends on the instruction",
		Programs: "avoided: a zero becomes +0 in the same line",
	},
	{
		Instructions: "conversion of a NaN to an integer", Gemu: "GPU",
		Hardware: "it depends on the type",
		Programs: "avoided: a NaN becomes 0 before it is converted",
	},
	{
		Instructions: "division by zero; the quotient of the least integer and -1", Gemu: "GPU",
		Hardware: "all bits are ones, or the dividend",
		Programs: "avoided: divisors are made positive",
	},
	{
		Instructions: "`shfl` from an inactive lane", Gemu: "",
		Hardware: "an undefined value",
		Programs: "avoided: `shfl` only in warps of 32 threads that are all there",
	},
	{
		Instructions: "results of `barrier.red` at which threads of a warp arrive by different instructions", Gemu: "manual",
		Manual: "all threads count", Hardware: "some threads receive one less",
		Programs: "not reachable: all threads execute the same `bar`",
	},
	{
		Instructions: "`%clock`, `%warpid`, `%nwarpid`, `%smid`, `%envreg`, addresses of local memory", Gemu: "",
		Hardware: "values of the machine",
		Programs: "not reachable: programs do not read the registers, and use addresses for accesses only",
	},
	{
		Instructions: "elements `a[%r]` of arrays; initial values of arrays of several dimensions", Gemu: "GPU",
		Manual: "bytes; rows are filled up with zeros", Hardware: "elements, in 32 bits; the next row continues in the previous row",
		Programs: "not reachable: addresses are computed, arrays have one dimension",
	},
	{
		Instructions: "parameters of results as arguments of another call, indices into parameters", Gemu: "manual",
		Manual: "parameters are memory", Hardware: "the driver loses values",
		Programs: "not reachable: each call has parameters of its own",
	},
	{
		Instructions: "depth of the stack; `.local` variables of modules before PTX 3.0", Gemu: "manual",
		Hardware: "the driver decides",
		Programs: "not reachable: functions call no functions; programs are in PTX 6.0 or later",
	},
	{
		Instructions: "`atom.add.f64` of NaNs, `multimem`, tensor instructions, `.satfinite` of `wmma`, tensor maps, asynchronous copies, `mbarrier`, textures and surfaces", Gemu: "",
		Hardware: "differs by generation and time",
		Programs: "not reachable: programs do not have them",
	},
}

// anyDifference reports whether match is true for a difference of the list.
func anyDifference(match func(d *Difference) bool) bool {
	for i := range Differences {
		if match(&Differences[i]) {
			return true
		}
	}
	return false
}

// isAvoided reports whether programs must not have an opcode.
func (sh *Shape) isAvoided(v *ptx.Variant) bool {
	return anyDifference(func(d *Difference) bool {
		return d.alwaysAvoided != nil && d.alwaysAvoided(v) || sh.Semantics == Manual && d.avoided != nil && d.avoided(v)
	})
}

// isNarrowed reports whether operand i of an opcode must be masked to 8 bits.
func (sh *Shape) isNarrowed(v *ptx.Variant, i int) bool {
	return sh.Semantics == Manual && anyDifference(func(d *Difference) bool { return d.narrowed != nil && d.narrowed(v, i) })
}

// mayGuard reports whether an opcode may have a guard.
func (sh *Shape) mayGuard(v *ptx.Variant) bool {
	return sh.Semantics != Manual || !anyDifference(func(d *Difference) bool { return d.unguarded != nil && d.unguarded(v) })
}

// canPair reports whether the second opcode may read the carry flag that the first sets.
func (sh *Shape) canPair(first, second *ptx.Variant) bool {
	return sh.Semantics != Manual || !anyDifference(func(d *Difference) bool { return d.mismatched != nil && d.mismatched(first, second) })
}

// DifferencesTable formats the list as a Markdown table, for docs/fuzz.md.
func DifferencesTable() string {
	var b strings.Builder
	b.WriteString("| instructions | manual | GPUs | gemu does as | programs |\n|---|---|---|---|---|\n")
	for _, d := range Differences {
		cell := func(s string) string {
			if s == "" {
				return "–"
			}
			return s
		}
		manual := d.Manual
		if manual == "" {
			manual = "left open"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Instructions, manual, d.Hardware, cell(d.Gemu), d.Programs)
	}
	return b.String()
}

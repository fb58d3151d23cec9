package ptx

// This file and table_*.go are the instruction table: the only definition of the instructions of PTX. The checker, the
// lowering, the affine rules, the statistics, the coverage listing of "gemu isa" and the documentation are driven by it
// or tested against it.
//
// A row gives forms of a mnemonic that have the same section of the manual (PTX ISA 8.8), class, affine rule, family and
// effects. Their notation follows the manual's; see parseForm.

import (
	"fmt"
	"slices"
	"strings"
)

// Class is the functional unit of an instruction.
type Class uint8

// The classes, with their instructions.
const (
	NoClass      Class = iota // no form has it
	ClassInt                  // integer, logic, comparison, move and conversion between integers: the integer pipeline
	ClassMul                  // integer multiplication: the integer pipeline, with a longer latency
	ClassFP                   // floating-point arithmetic, comparison and conversion
	ClassSFU                  // special functions: rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, and divisions
	ClassMemory               // loads, stores, atomics, prefetches, address policies
	ClassControl              // branches, calls, returns, exits, traps
	ClassBarrier              // barriers, fences and waits for them
	ClassWarp                 // exchange between the lanes of a warp: shfl, vote, match, redux, activemask, elect
	ClassTensor               // matrix instructions: wmma, mma, wgmma, tcgen05, ldmatrix, stmatrix, movmatrix
	ClassTexture              // textures and surfaces: tex, tld4, txq, istypep, suld, sust, sured, suq
	ClassVideo                // video instructions: vadd, vmad, vset …, on scalars, pairs and quadruples
	ClassMisc                 // hints and events without a result
	classCount
)

var classNames = [classCount]string{"?", "int", "mul", "fp", "sfu", "memory", "control", "barrier", "warp", "tensor", "texture", "video", "misc"}

func (c Class) String() string { return classNames[c] }

// LongLatency reports whether the class uses the long path through the arithmetic pipelines: multiplications, floating
// point, special functions.
func (c Class) LongLatency() bool { return c == ClassMul || c == ClassFP || c == ClassSFU }

// Affine is the affine rule of a form: how it executes on compact (uniform or affine) operands. The rules themselves
// are in package affinetrack.
type Affine uint8

// The affine rules. Every rule but AffineNone also covers the case of uniform operands: the instruction then executes
// once.
const (
	AffineNone    Affine = iota // never compact
	AffineUniform               // compact on uniform operands only
	AffineMove                  // d = a
	AffineAdd                   // bases add, strides add
	AffineSub                   // bases subtract, strides subtract
	AffineMul                   // one side uniform
	AffineMad                   // AffineMul, then AffineAdd
	AffineShl                   // by a uniform amount: multiplication by a power of two
	AffineShr                   // by a uniform amount, if every lane divides exactly or all lanes have the same result
	AffineDiv                   // by a uniform divisor, under the same condition as AffineShr
	AffineRem                   // by a uniform divisor, if the quotient is the same in every lane
	AffineBfe                   // AffineShr, then AffineAnd
	AffineNeg                   // base and stride negated
	AffineNot                   // -a-1
	AffineAbs                   // if the sign is the same in every lane
	AffineMin                   // if the same side is the smaller in every lane
	AffineMax                   // if the same side is the larger in every lane
	AffineAnd                   // with a uniform mask that keeps or clears all varying bits
	AffineOr                    // with a uniform value that sets none or all of the varying bits
	AffineXor                   // with a uniform value that flips none or all of the varying bits
	AffineSelect                // by a uniform predicate
	AffineConvert               // if no lane wraps
	AffineCompare               // if comparing the first and the last lane decides it for all lanes
	AffineAddress               // conversion between address spaces
	AffineLoad                  // uniform address: the loaded value is uniform; affine address: a vector access
	AffineStore                 // uniform or affine address
	AffineBranch                // uniform predicate
	AffineWarp                  // a single result for the whole warp
	// AffineCount is the number of rules.
	AffineCount
)

// affineNames has the names of the rules. Generated code forms the name of a rule's constant from it: Affine, and the
// name with an upper-case first letter.
var affineNames = [AffineCount]string{
	"none", "uniform", "move", "add", "sub", "mul", "mad", "shl", "shr", "div", "rem", "bfe", "neg", "not", "abs", "min", "max",
	"and", "or", "xor", "select", "convert", "compare", "address", "load", "store", "branch", "warp",
}

func (a Affine) String() string { return affineNames[a] }

// Family selects the lowering function of an instruction in package lower.
type Family uint8

// The families. A family of a single instruction has the name of the instruction:
const (
	FamilyNone    Family = iota // gemu does not run the form
	FamilyCompute               // results from sources, lane by lane; a function of package alu computes them
	FamilyMove
	FamilyConvert
	FamilyPack    // cvt.pack
	FamilyMixed   // arithmetic on pairs and quadruples of numbers of different types
	FamilyAddress // conversion between address spaces
	FamilyIsspacep
	FamilySetp
	FamilySet
	FamilySlct
	FamilyLop3 // with a predicate; lop3 without a predicate is in FamilyCompute
	FamilyMapa
	FamilyGetctarank
	FamilyLoad
	FamilyStore
	FamilyAtomic
	FamilyHint // a hint about an address, without effect in gemu
	FamilyCreatepolicy
	FamilyStacksave
	FamilyStackrestore
	FamilyAlloca
	FamilyBra
	FamilyBrx
	FamilyRet
	FamilyExit
	FamilyCall
	FamilyTrap
	FamilyBrkpt
	FamilyBarrier
	FamilyNothing // has no effect in gemu
	FamilyNanosleep
	FamilyShfl
	FamilyVote
	FamilyMatch
	FamilyActivemask
	FamilyRedux
	FamilyElect
	FamilyVideo  // scalar
	FamilyVideo2 // video instructions of two lanes
	FamilyVideo4 // video instructions of four lanes
	FamilyVmad
	FamilyMbarrier // operations on mbarriers, except mbarrier.pending_count
	FamilyTile     // ldmatrix and stmatrix
	FamilyFragment // wmma.load and wmma.store
	FamilyMovmatrix
	FamilyMma
	FamilyWmma  // wmma.mma
	FamilyWgmma // wgmma.mma_async
	FamilyWgmmaFence
	FamilyWgmmaCommit
	FamilyWgmmaWait
	FamilyTensorAlloc // tcgen05.alloc, .dealloc and .relinquish_alloc_permit
	FamilyTensorLoad
	FamilyTensorStore
	FamilyTensorWait
	FamilyTensorCopy // tcgen05.cp
	FamilyTensorShift
	FamilyTensorMma
	FamilyTensorCommit
	FamilyAsync      // asynchronous copies and reductions of memory, and waits for them
	FamilyAsyncStore // asynchronous stores and reductions of registers
	FamilyTexture
	FamilySurface
	FamilyTextureQuery
	FamilySurfaceQuery
	FamilyIstypep
	FamilyTryCancel
	FamilyQueryCancel
	FamilyTensormap
	FamilySparse // spcompress and spdecompress
	// FamilyCount is the number of families.
	FamilyCount
)

// row is an entry of the table.
type row struct {
	name    string
	section string
	class   Class
	affine  Affine
	family  Family
	effects Effects
	forms   string // one per line
}

var (
	ops      []*Op
	opNames  []string
	opByName = map[string]*Op{}
)

func init() {
	for _, rows := range [][]row{integerRows, floatRows, halfRows, alternateRows, compareRows, logicRows, moveRows, memoryRows, controlRows, syncRows, matrixRows, textureRows, videoRows, miscRows, newerRows} {
		for _, r := range rows {
			op := opByName[r.name]
			if op == nil {
				op = &Op{Name: r.name}
				opByName[r.name] = op
				ops = append(ops, op)
			}
			op.rows = append(op.rows, r)
		}
	}
	slices.SortFunc(ops, func(a, b *Op) int { return strings.Compare(a.Name, b.Name) })
	for _, op := range ops {
		opNames = append(opNames, op.Name)
	}
}

// readForms reads the forms of a mnemonic from its rows. A program needs few mnemonics, and reading the whole table would
// take most of the time of its start.
func (o *Op) readForms() {
	for _, r := range o.rows {
		for line := range strings.SplitSeq(r.forms, "\n") {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			f, err := parseForm(line)
			if err == nil && f.Syntax != r.name && !strings.HasPrefix(f.Syntax, r.name+".") && !strings.HasPrefix(f.Syntax, r.name+"{") && !strings.HasPrefix(f.Syntax, r.name+" ") {
				err = fmt.Errorf("is not a form of %s", r.name)
			}
			if err != nil {
				panic(fmt.Sprintf("BUG: instruction table, %s %q: %v", r.name, line, err))
			}
			f.Op, f.Section, f.Class, f.Affine, f.Family, f.Effects = o, r.section, r.class, r.affine, r.family, r.effects
			o.forms = append(o.forms, f)
		}
	}
}

// Ops returns the instruction table, sorted by mnemonic.
func Ops() []*Op { return ops }

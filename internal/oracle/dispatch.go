package oracle

// This file maps instructions to the functions that execute them, by chapter of the manual and mnemonic.

import (
	"strings"
	"sync"

	"gemu/ptx"
)

// handler executes t.instr for a thread whose guard is true.
type handler func(t *thread)

// chapters holds the instructions that the oracle runs. Handlers refuse forms that it does not run.
var chapters = map[string]map[string]handler{
	"9.7.1": { // integer arithmetic
		"add": add, "sub": sub, "mul": mul, "mad": mad, "clmad": clmad, "mul24": mul24, "mad24": mad24, "sad": sad,
		"div": div, "rem": rem, "abs": abs, "neg": neg, "min": minimum, "max": maximum,
		"popc": popc, "clz": clz, "bfind": bfind, "fns": fns, "brev": brev, "bfe": bfe, "bfi": bfi,
		"szext": szext, "bmsk": bmsk, "dp4a": dp4a, "dp2a": dp2a,
	},
	"9.7.2": { // extended precision
		"add": addCC, "addc": addCC, "sub": subCC, "subc": subCC, "mad": madCC, "madc": madCC,
	},
	"9.7.3": { // floating point
		"testp": testp, "copysign": copysign, "add": fadd, "sub": fsub, "mul": fmul, "fma": ffma, "mad": ffma,
		"div": fdiv, "abs": fabs, "neg": fneg, "min": fmin, "max": fmax, "rcp": rcp, "sqrt": sqrt, "rsqrt": rsqrt,
		"sin": sin, "cos": cos, "lg2": lg2, "ex2": ex2, "tanh": tanh,
	},
	"9.7.4": { // half precision
		"add": fadd, "sub": fsub, "mul": fmul, "fma": ffma, "min": fmin, "max": fmax,
		"abs": fabs, "neg": fneg, "ex2": ex2, "tanh": tanh,
	},
	"9.7.5": { // mixed precision
		"add": addMixed, "sub": subMixed, "fma": fmaMixed, "mul": mulMixed,
	},
	"9.7.6": { // comparison and selection
		"set": set, "setp": setp, "selp": selp, "slct": slct,
		"add": addFours, "sub": subFours, "mul": mulFours, "fma": fmaFours, // a chapter of PTX 9.4, of alternate formats
	},
	"9.7.7": { // comparison of half precision
		"set": set, "setp": setp,
	},
	"9.7.8": { // logic and shift
		"and": and, "or": or, "xor": xor, "not": not, "cnot": cnot, "lop3": lop3, "shf": shf, "shl": shl, "shr": shr,
	},
	"9.7.9": { // data movement and conversion
		"mov": mov, "shfl": collective, "prmt": prmt, "ld": ld, "ldu": ld, "st": st, "multimem": multimem,
		"prefetch": nop, "prefetchu": nop, "applypriority": nop, "discard": nop, "createpolicy": createpolicy, "cp": cp, "tensormap": tensormapOf,
		"isspacep": isspacep, "mapa": mapa, "getctarank": getctarank, "cvta": cvta, "cvt": cvt,
	},
	"9.7.10": { // textures
		"tex": texture, "tld4": texture, "txq": textureQuery, "istypep": istypep,
		"fabric":     nop,                                      // a chapter of PTX 9.3; nothing has issued the operations that it waits for
		"spcompress": spcompress, "spdecompress": spdecompress, // in the manual of PTX 9.4
	},
	"9.7.11": { // surfaces
		"suld": suld, "sust": sust, "sured": sured, "suq": textureQuery,
	},
	"9.7.12": { // control flow
		"bra": bra, "brx": brx, "call": call, "ret": ret, "exit": exit,
	},
	"9.7.13": { // synchronisation and communication
		"bar": bar, "barrier": bar, "membar": nop, "fence": nop, "atom": atom, "red": red,
		"vote": collective, "match": collective, "activemask": collective, "redux": collective, "elect": collective,
		"griddepcontrol": nop, "mbarrier": mbarrier, "cp": cp, "tensormap": tensormapOf, "clusterlaunchcontrol": launchControl,
	},
	"9.7.14": { // matrices of a warp
		"wmma": tensor, "mma": tensor, "ldmatrix": tensor, "stmatrix": tensor, "movmatrix": tensor,
	},
	"9.7.15": { // matrices of a warpgroup
		"wgmma": tensor,
	},
	"9.7.16": { // matrices of a CTA, or of two
		"tcgen05": tcgen05,
	},
	"9.7.17": { // stack manipulation
		"stacksave": stacksave, "stackrestore": stackrestore, "alloca": alloca,
	},
	"9.7.18": { // video; in PTX 9.4 additions to tcgen05
		"tcgen05": tcgen05,
		"vadd":    video, "vsub": video, "vabsdiff": video, "vmin": video, "vmax": video, "vset": video,
		"vshl": videoShift, "vshr": videoShift, "vmad": vmad,
		"vadd2": videoVector, "vsub2": videoVector, "vavrg2": videoVector, "vabsdiff2": videoVector, "vmin2": videoVector, "vmax2": videoVector, "vset2": videoVector,
		"vadd4": videoVector, "vsub4": videoVector, "vavrg4": videoVector, "vabsdiff4": videoVector, "vmin4": videoVector, "vmax4": videoVector, "vset4": videoVector,
	},
	"9.7.19": { // miscellaneous
		"brkpt": brkpt, "nanosleep": nanosleep, "pmevent": nop, "setmaxnreg": nop, "trap": trap,
	},
}

// handlers returns the handlers by form of the instruction table.
var handlers = sync.OnceValue(func() map[*ptx.Form]handler {
	m := map[*ptx.Form]handler{}
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms() {
			if h := chapters[chapterOf(f.Section)][op.Name]; h != nil && f.Family != ptx.FamilyNone {
				m[f] = h
			}
		}
	}
	return m
})

// chapterOf cuts a section number to its chapter: 9.7.1.12 to 9.7.1.
func chapterOf(section string) string {
	parts := strings.SplitN(section, ".", 4)
	return strings.Join(parts[:min(3, len(parts))], ".")
}

// nop executes hints, fences and waits for effects that are already complete here.
func nop(*thread) {}

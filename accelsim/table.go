package accelsim

// This file maps PTX instructions to SASS instructions.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx"
)

// table has a row for every mnemonic of PTX: choices separated by semicolons, of which the first that applies counts. A
// choice is a selector, a colon, and the opcodes for the instruction, in order. Of opcodes joined by |, the first that
// the binary version has is used. A selector is a kind of type (see kind), a state space, a modifier with its dot, or
// *.
//
// If ptxas makes a single instruction, the row has its opcode. An inline expansion or a call (division, roots, 64-bit
// arithmetic) is a sequence on the same units with about the same length; docs/accelsim.md lists the approximations.
const table = `
abs           f64: DADD; f32: FADD; half: HADD2; long: ISETP IADD3 IADD3.X SEL SEL; *: IABS
activemask    *: VOTE.ANY
add           f64: DADD; f32: FADD; f32x2: FADD FADD; half: HADD2; fours: HADD2 HADD2; long: IADD3 IADD3.X; *: IADD3
addc          long: IADD3.X IADD3.X; *: IADD3.X
alloca        *: IADD3
and           pred: PLOP3.LUT; long: LOP3.LUT LOP3.LUT; *: LOP3.LUT
applypriority *: NOP
atom          shared: ATOMS; global: ATOMG.E; *: ATOM.E
bar           .warp: WARPSYNC; .arrive: NOP; .red: BAR.RED B2R; *: BAR.SYNC
barrier       .cluster: UCGABAR_WAIT|NOP; .arrive: NOP; .red: BAR.RED B2R; *: BAR.SYNC
bfe           long: SHF.R.U64 SHF.R.U32.HI BMSK LOP3.LUT LOP3.LUT; *: SHF.R.U32.HI SGXT
bfi           long: BMSK BMSK SHF.L.U64.HI SHF.L.U32 LOP3.LUT LOP3.LUT; *: BMSK SHF.L.U32 LOP3.LUT
bfind         long: FLO.U32 FLO.U32 ISETP SEL; *: FLO
bmsk          *: BMSK
bra           *: BRA
brev          long: BREV BREV; *: BREV
brkpt         *: BPT.INT
brx           *: BRX
call          *: CALL.REL.NOINC
clmad         *: IMAD IMAD LOP3.LUT LOP3.LUT
clusterlaunchcontrol *: SYNCS|NOP
clz           long: FLO.U32 FLO.U32 ISETP SEL IADD3; *: FLO.U32 IADD3
cnot          long: ISETP SEL SEL; *: ISETP SEL
copysign      f64: LOP3.LUT; *: LOP3.LUT
cos           *: FMUL MUFU.COS
cp            .wait_all: LDGDEPBAR|NOP DEPBAR; .wait_group: DEPBAR.LE; .commit_group: LDGDEPBAR|NOP; .mbarrier: ARRIVES|NOP; .prefetch: NOP; *: LDGSTS.E|LDG.E
createpolicy  *: MOV MOV
cvt           ipack: I2IP; pack: F2FP|F2F; i2l: MOV SHF.R.S32.HI; i2i: SGXT; i2f: I2F; f2i: F2I; f2r: FRND; f2f: F2F
cvta          long: IADD3 IADD3.X; *: IADD3
discard       *: CCTL.E.RML2
div           .approx: MUFU.RCP FMUL; .full: MUFU.RCP FMUL; f32: FCHK MUFU.RCP FFMA FFMA FFMA FFMA FFMA; f64: MUFU.RCP64H DFMA DFMA DFMA DFMA DMUL DFMA DFMA; long: I2F.U64.RP MUFU.RCP IADD3 F2I.U64.TRUNC IMAD.WIDE.U32 IMAD IMAD IMAD.HI.U32 IADD3.X IMAD.WIDE.U32 IMAD IMAD IMAD.HI.U32 IADD3.X IMAD.WIDE.U32 IMAD IADD3 IADD3.X ISETP SEL SEL ISETP SEL SEL; *: I2F.RP MUFU.RCP IADD3 F2I.FTZ.U32.TRUNC.NTZ IADD3 IMAD IMAD.HI.U32 IMAD.HI.U32 IADD3 IMAD ISETP IADD3 ISETP IADD3
dp2a          *: IDP.2A
dp4a          *: IDP.4A
elect         *: ELECT|VOTE.ANY
ex2           half: MUFU.EX2 F2F; *: FMUL MUFU.EX2
exit          *: EXIT
fabric        *: NOP
fence         *: MEMBAR.SC.GPU
fma           f64: DFMA; half: HFMA2; f32x2: FFMA FFMA; fours: HFMA2 HFMA2; *: FFMA
fns           *: BMSK LOP3.LUT POPC FLO.U32 ISETP SEL
getctarank    *: SHF.R.U32.HI
griddepcontrol *: NOP
isspacep      *: QSPC.E.G
istypep       *: ISETP
ld            global: LDG.E; shared: LDS; local: LDL; const: LDC; param: MOV; *: LD.E
ldmatrix      *: LDSM.16.M88|LDS
ldu           global: LDG.E; *: LD.E
lg2           *: FMUL MUFU.LG2
lop3          .or: LOP3.LUT PLOP3.LUT; .and: LOP3.LUT PLOP3.LUT; *: LOP3.LUT
mad           f64: DFMA; f32: FFMA; .wide: IMAD.WIDE; long: IMAD.WIDE.U32 IMAD IMAD IADD3; .hi: IMAD.HI IADD3; *: IMAD
mad24         *: IMAD
madc          long: IMAD.WIDE.U32 IMAD IMAD IADD3.X; *: IMAD IADD3.X
mapa          *: LOP3.LUT
match         .all: MATCH.ALL; *: MATCH.ANY
max           f64: DSETP FSEL FSEL; f32: FMNMX; half: HMNMX2|HSETP2; long: ISETP SEL SEL; *: IMNMX
mbarrier      .init: SYNCS|NOP; .inval: SYNCS|NOP; .pending_count: SHF.R.U64; .test_wait: SYNCS|NOP; .try_wait: SYNCS|NOP; *: SYNCS|NOP
membar        *: MEMBAR.SC.GPU
min           f64: DSETP FSEL FSEL; f32: FMNMX; half: HMNMX2|HSETP2; long: ISETP SEL SEL; *: IMNMX
mma           .f64: DMMA|DFMA; .b1: BMMA|IMMA|HMMA; .s8: IMMA; .u8: IMMA; .s4: IMMA; .u4: IMMA; *: HMMA
mov           pred: PLOP3.LUT; sreg: S2R; wide: MOV MOV MOV MOV; f64: MOV MOV; long: MOV MOV; *: MOV
movmatrix     *: MOVM.16.MT88|SHFL.IDX
mul           f64: DMUL; f32: FMUL; f32x2: FMUL FMUL; half: HMUL2; fours: HMUL2 HMUL2; .wide: IMAD.WIDE; long: IMAD.WIDE.U32 IMAD IMAD; .hi: IMAD.HI; *: IMAD
mul24         *: IMAD
multimem      .ld_reduce: LDG.E; .st: STG.E; *: RED.E
nanosleep     *: NANOSLEEP
neg           f64: DADD; f32: FADD; half: HADD2; long: IADD3 IADD3.X; *: IADD3
not           pred: PLOP3.LUT; long: LOP3.LUT LOP3.LUT; *: LOP3.LUT
or            pred: PLOP3.LUT; long: LOP3.LUT LOP3.LUT; *: LOP3.LUT
pmevent       *: PMTRIG
popc          long: POPC POPC IADD3; *: POPC
prefetch      *: CCTL.E.PF2
prefetchu     *: CCTL.E.PF2
prmt          *: PRMT
rcp           f64: MUFU.RCP64H DFMA DFMA DFMA DFMA; .approx: MUFU.RCP; *: MUFU.RCP FFMA FFMA
red           shared: ATOMS; global: RED.E; *: ATOM.E
redux         *: REDUX|SHFL.BFLY
rem           long: I2F.U64.RP MUFU.RCP IADD3 F2I.U64.TRUNC IMAD.WIDE.U32 IMAD IMAD IMAD.HI.U32 IADD3.X IMAD.WIDE.U32 IMAD IMAD IMAD.HI.U32 IADD3.X IMAD.WIDE.U32 IMAD IADD3 IADD3.X ISETP SEL SEL IMAD.WIDE.U32 IMAD IMAD; *: I2F.RP MUFU.RCP IADD3 F2I.FTZ.U32.TRUNC.NTZ IADD3 IMAD IMAD.HI.U32 IMAD.HI.U32 IADD3 IMAD ISETP IADD3 ISETP IADD3
ret           *: RET.REL.NODEC
rsqrt         f64: MUFU.RSQ64H DMUL DFMA DFMA DMUL DFMA; *: MUFU.RSQ
sad           long: ISETP IADD3 IADD3.X SEL SEL IADD3 IADD3.X; *: VABSDIFF IADD3
selp          f64: SEL SEL; long: SEL SEL; f32: FSEL; *: SEL
set           f64: DSETP SEL; f32: FSET; half: HSET2; long: ISETP ISETP.EX SEL; *: ISETP SEL
setmaxnreg    *: USETMAXREG|NOP
setp          f64: DSETP; f32: FSETP; half: HSETP2; long: ISETP ISETP.EX; *: ISETP
shf           *: SHF
shfl          *: SHFL
shl           long: SHF.L.U32 SHF.L.U64.HI; *: SHF.L.U32
shr           long: SHF.R.U64 SHF.R.U32.HI; *: SHF.R.U32.HI
sin           *: FMUL MUFU.SIN
slct          f64: FSETP FSEL FSEL; long: ISETP SEL SEL; f32: FSETP FSEL; *: ISETP SEL
spcompress    *: PRMT
spdecompress  *: PRMT
sqrt          f64: MUFU.RSQ64H DMUL DFMA DFMA DFMA DMUL DFMA DFMA; .approx: MUFU.RSQ FMUL; *: MUFU.RSQ FMUL FMUL FFMA FFMA FFMA
st            global: STG.E; shared: STS; local: STL; param: MOV; *: ST.E
stackrestore  *: MOV
stacksave     *: MOV
stmatrix      *: STS
sub           f64: DADD; f32: FADD; f32x2: FADD FADD; half: HADD2; fours: HADD2 HADD2; long: IADD3 IADD3.X; *: IADD3
subc          long: IADD3.X IADD3.X; *: IADD3.X
suld          *: SULD|TLD
suq           *: SUQUERY|TXQ
sured         *: SURED|TLD
sust          *: SUST|TLD
szext         *: SGXT
tanh          half: MUFU.TANH F2F; *: MUFU.TANH
tcgen05       .mma: HGMMA|HMMA; *: NOP
tensormap     *: NOP
testp         f64: DSETP; *: FSETP
tex           *: TEX
tld4          *: TLD4
trap          *: BPT.TRAP
txq           *: TXQ
vabsdiff      *: VABSDIFF
vabsdiff2     *: PRMT VABSDIFF PRMT VABSDIFF PRMT
vabsdiff4     *: VABSDIFF4
vadd          *: IADD3
vadd2         *: PRMT IADD3 IADD3 PRMT
vadd4         *: LOP3.LUT IADD3 LOP3.LUT IADD3 LOP3.LUT
vavrg2        *: LOP3.LUT IADD3 LOP3.LUT SHF.R.U32.HI IADD3
vavrg4        *: LOP3.LUT IADD3 LOP3.LUT SHF.R.U32.HI IADD3
vmad          *: IMAD
vmax          *: IMNMX
vmax2         *: PRMT IMNMX IMNMX PRMT
vmax4         *: PRMT IMNMX IMNMX IMNMX IMNMX PRMT PRMT
vmin          *: IMNMX
vmin2         *: PRMT IMNMX IMNMX PRMT
vmin4         *: PRMT IMNMX IMNMX IMNMX IMNMX PRMT PRMT
vote          .ballot: VOTE.ANY; .any: VOTE.ANY; .all: VOTE.ALL; *: VOTE.EQ
vset          *: ISETP SEL
vset2         *: PRMT ISETP SEL ISETP SEL PRMT
vset4         *: PRMT ISETP SEL ISETP SEL ISETP SEL ISETP SEL PRMT
vshl          *: SHF.L.U32
vshr          *: SHF.R.U32.HI
vsub          *: IADD3
vsub2         *: PRMT IADD3 IADD3 PRMT
vsub4         *: LOP3.LUT IADD3 LOP3.LUT IADD3 LOP3.LUT
wgmma         .fence: WARPGROUP|NOP; .commit_group: WARPGROUP|NOP; .wait_group: WARPGROUP|NOP; *: HGMMA|HMMA
wmma          .load: LDG.E; .store: STG.E; .f64: DMMA|DFMA; .b1: BMMA|IMMA|HMMA; .s8: IMMA; .u8: IMMA; .s4: IMMA; .u4: IMMA; *: HMMA HMMA
xor           pred: PLOP3.LUT; long: LOP3.LUT LOP3.LUT; *: LOP3.LUT
`

// choice is a choice of a row.
type choice struct {
	selector string
	opcodes  [][]string // alternatives of each opcode
}

// rows holds the parsed table by mnemonic.
var rows = func() map[string][]choice {
	rows := map[string][]choice{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if rows[name] != nil {
			panic(fmt.Sprintf("BUG: two rows of %s", name))
		}
		for part := range strings.SplitSeq(rest, ";") {
			selector, opcodes, ok := strings.Cut(strings.TrimSpace(part), ": ")
			if !ok {
				panic(fmt.Sprintf("BUG: row of %s: %q", name, part))
			}
			c := choice{selector: selector}
			for _, o := range strings.Fields(opcodes) {
				c.opcodes = append(c.opcodes, strings.Split(o, "|"))
			}
			rows[name] = append(rows[name], c)
		}
	}
	return rows
}()

// kind returns the kind of type in which an instruction computes: "pred", "f64", "f32", "f32x2", "half" (16 bits, also
// in pairs), "fours" (four numbers of at most 8 bits), "long" (64-bit integers), "wide" (128 bits), "int"; for a
// conversion "i2i", "i2l" (to 64 bits), "i2f", "f2i", "f2f", "f2r" (to an integer of the same type), "pack" (to pairs
// and narrow formats) and "ipack" (cvt.pack).
func kind(instr *ptx.Instr) string {
	v := instr.Variant
	switch v.Form.Family {
	case ptx.FamilyPack:
		return "ipack"
	case ptx.FamilyNone:
		if instr.Mnemonic() == "cvt" {
			return "pack"
		}
	case ptx.FamilyConvert:
		to, from := v.Conversion()
		switch ff, ft := from.IsFloat(), to.IsFloat(); {
		case narrow(to) || narrow(from):
			return "pack"
		case ff && ft && v.Slot("rnd") != "" && strings.HasSuffix(v.Slot("rnd"), "i"):
			return "f2r"
		case ff && ft:
			return "f2f"
		case ff:
			return "f2i"
		case ft:
			return "i2f"
		case to.Bits() == 64:
			return "i2l"
		}
		return "i2i"
	}
	if v.Form.Family == ptx.FamilyMove && len(instr.Ops) > 1 && instr.Ops[1].Kind == ptx.SRegOperand {
		return "sreg"
	}
	switch t := v.Type(); {
	case t == ptx.Pred:
		return "pred"
	case t == ptx.F64:
		return "f64"
	case t == ptx.F32x2:
		return "f32x2"
	case t == ptx.F32 || t == ptx.TF32:
		return "f32"
	case v.Form.Class == ptx.ClassFP && narrow(t) && t != ptx.F16x2 && t != ptx.BF16x2:
		return "fours"
	case t == ptx.F16 || t == ptx.BF16 || t == ptx.F16x2 || t == ptx.BF16x2:
		return "half"
	case t.Bits() == 128:
		return "wide"
	case t.Bits() == 64:
		return "long"
	}
	return "int"
}

// narrow reports whether a type is a packed or narrow floating-point format.
func narrow(t ptx.Type) bool {
	switch t {
	case ptx.F16, ptx.BF16, ptx.F32, ptx.F64:
		return false
	}
	return t.IsFloat() || t.Kind() == ptx.Bits
}

// opcodes returns the opcodes of an instruction for a binary version that supports the given opcodes; nil if the
// instruction has no row.
func opcodes(instr *ptx.Instr, supported map[string]bool) (list []string) {
	space, _ := instr.Space()
	operation := kind(instr)
	for _, c := range rows[instr.Mnemonic()] {
		mod, isMod := strings.CutPrefix(c.selector, ".")
		if c.selector != "*" && c.selector != operation && !(isMod && instr.Has(mod)) && !(accesses(instr) && c.selector == space.String()) {
			continue
		}
		for _, alternatives := range c.opcodes {
			i := slices.IndexFunc(alternatives, func(o string) bool { return supported[stem(o)] })
			if i < 0 {
				return nil
			}
			list = append(list, alternatives[i])
		}
		return list
	}
	return nil
}

// accesses reports whether an instruction accesses memory, and so names a state space.
func accesses(instr *ptx.Instr) bool { return instr.Form.Effects.Any(ptx.Reads | ptx.Writes) }

// stem returns an opcode without modifiers: simulators identify it by this name.
func stem(opcode string) string {
	s, _, _ := strings.Cut(opcode, ".")
	return s
}

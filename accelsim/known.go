package accelsim

// This file lists the opcodes that Accel-Sim knows, by binary version: the names in the maps of
// gpu-simulator/ISA_Def/volta_opcode.h, turing_opcode.h, ampere_opcode.h and hopper_opcode.h of accel-sim-framework. An
// opcode that is not in the map of its version ends a simulation.

import (
	"maps"
	"slices"
	"strings"
)

const (
	volta = `FADD FADD32I FCHK FFMA32I FFMA FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD MUFU HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2
HMMA DADD DFMA DMUL DSETP BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMMA IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC SHF SHR
VABSDIFF VABSDIFF4 F2F F2I I2F I2I I2IP FRND MOV MOV32I PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P LD LDC LDG LDL LDS ST STG STL STS MATCH QSPC ATOM ATOMS ATOMG RED
CCTL CCTLL ERRBAR MEMBAR CCTLT TEX TLD TLD4 TMML TXD TXQ BMOV BPT BRA BREAK BRX BSSY BSYNC CALL EXIT JMP JMX KILL NANOSLEEP RET RPCMOV RTT WARPSYNC YIELD
B2R BAR CS2R CSMTEST DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID SETLMEMBASE VOTE VOTE_VTG`
	turing = volta + ` BMMA SHL MOVM LDSM R2UR S2UR UBMSK UBREV UCLEA UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP
UR2UP USEL USGXT USHF USHL USHR VOTEU SUATOM SULD SURED SUST BRXU JMXU`
	ampere = turing + ` HMNMX2 DMMA F2FP I2FP F2IP LDGDEPBAR LDGSTS REDUX UF2FP SUQUERY`
	hopper = ampere + ` VIADD VIADDMNMX VIMNMX VIMNMX3 CGAERRBAR UBLKCP UBLKPF UBLKRED UTMALDG UTMAPF UTMAREDG UTMASTG UTMACCTL UTMACMDFLUSH FENCE SYNCS ARRIVES
UCGABAR_ARV UCGABAR_WAIT WARPGROUP QGMMA HGMMA ELECT USETMAXREG`
)

var known = map[int]map[string]bool{70: set(volta), 75: set(turing), 80: set(ampere), 86: set(ampere), 90: set(hopper)}

func set(words string) map[string]bool {
	s := map[string]bool{}
	for _, w := range strings.Fields(words) {
		s[w] = true
	}
	return s
}

// Versions returns the supported binary versions, as in -binary version: 70, 75, 80, 86, and 90, which releases of
// Accel-Sim before 2025 do not have.
func Versions() []int { return slices.Sorted(maps.Keys(known)) }

// VersionFor returns the binary version for a compute capability: the latest that is not above it; 0 if there is none.
func VersionFor(sm int) (version int) {
	for _, v := range Versions() {
		if v <= sm {
			version = v
		}
	}
	return version
}

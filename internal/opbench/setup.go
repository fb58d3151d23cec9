package opbench

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx"
)

// setup describes the code around a measured instruction. Texts are PTX; @N in a text is the number of the copy. %lead holds in the
// first thread.
type setup struct {
	skip string // the reason why the instruction is not measured

	args      map[string]string // texts of operands, by name; for addresses, of their base
	text      string            // the instruction, if its operands are not those of Variant.Write
	table     string            // a list of labels
	guard     string            // guard of the instruction, with a space at its end
	alternate bool              // uses the second shape of operands with two shapes

	module string // variables and functions
	decls  string // registers
	before string // before the loop
	each   string // before each copy; not measured, because the empty loop executes it as well
	after  string // after each copy; measured with the instruction
	finish string // after the loop
	with   string // the opcodes of after, for the user

	copies    int    // number of copies; 0: 8, or 2 if the instruction has many results
	warps     int    // number of warps that execute the instruction together; 0: one
	shared    bool   // uses the variable s in shared memory
	rows      int    // the bytes between the addresses of lanes
	integers  []int  // values of integers, by lane; nil: random
	images    string // see Kernel
	tensorMap int    // see Kernel
}

// params returns the further parameters of the kernels.
func (s *setup) params() string {
	text := ""
	if s.images != "" {
		text += ", .param .u64 tex, .param .u64 surf"
	}
	if s.tensorMap > 0 {
		text += ", .param .align 64 .b8 map[128]"
	}
	return text
}

// operandText returns the text of an operand.
func (s *setup) operandText(o *ptx.OperandSpec) string { return s.args[o.Name] }

const allLanes = "0xffffffff"

// setupOf returns the surroundings of an instruction.
func setupOf(op Op) *setup {
	v := op.Variant
	s := &setup{args: map[string]string{}}
	s.addressOperands(v)
	switch v.Form.Family {
	case ptx.FamilyTrap, ptx.FamilyBrkpt, ptx.FamilyExit:
		s.skip = "it ends the launch"
	case ptx.FamilyRet:
		s.skip = "it is measured as a part of call"
	case ptx.FamilyShfl:
		s.args["b"], s.args["c"], s.args["e"] = "1", "31", allLanes
	case ptx.FamilyVote, ptx.FamilyMatch, ptx.FamilyRedux, ptx.FamilyElect:
		s.args["b"] = allLanes
	case ptx.FamilyBarrier:
		s.barrier(v)
	case ptx.FamilyNanosleep:
		s.args["a"] = "20"
	case ptx.FamilyBra:
		s.text = "bra NEXT@N"
		s.after, s.with = "\tadd.u32 %sum, %sum, 1;\nNEXT@N:\n", "add.u32"
		s.decls = "\t.reg .u32 %sum;\n\t.reg .pred %odd;\n"
		s.before = "\tmov.u32 %sum, 0;\n\tand.b32 %word, %tid, 1;\n\tsetp.ne.u32 %odd, %word, 0;\n"
		s.finish = "\tst.global.u32 [%mem], %sum;\n"
		s.guard = "@%odd "
		if op.Case == Uniform {
			s.before = strings.Replace(s.before, "setp.ne.u32 %odd, %word, 0", "setp.gt.u32 %odd, %word, 1", 1)
		}
		if v.Has("uni") {
			s.text = "bra.uni NEXT@N"
		}
	case ptx.FamilyBrx:
		s.table = "targets@N: .branchtargets ZERO@N, ONE@N;\n"
		s.text = v.Text + " %odd, targets@N"
		s.decls = "\t.reg .u32 %odd, %sum;\n"
		s.before = "\tmov.u32 %sum, 0;\n\tand.b32 %odd, %tid, 1;\n"
		if op.Case == Uniform {
			s.before = "\tmov.u32 %sum, 0;\n\tmov.u32 %odd, 0;\n"
		}
		s.after, s.with = "ZERO@N:\n\tadd.u32 %sum, %sum, 1;\nONE@N:\n", "add.u32"
		s.finish = "\tst.global.u32 [%mem], %sum;\n"
	case ptx.FamilyCall:
		s.module = ".func (.reg .u32 r) f(.reg .u32 x)\n{\n\tadd.u32 r, x, 1;\n\tret;\n}\n"
		s.text, s.with = v.Text+" (%sum), f, (%sum)", "add.u32, ret"
		s.decls, s.before, s.finish = "\t.reg .u32 %sum;\n", "\tmov.u32 %sum, 0;\n", "\tst.global.u32 [%mem], %sum;\n"
	case ptx.FamilyStacksave:
	case ptx.FamilyStackrestore, ptx.FamilyAlloca:
		t := v.Type()
		s.decls = fmt.Sprintf("\t.reg %s %%stack;\n", t)
		s.before = fmt.Sprintf("\tstacksave%s %%stack;\n", t)
		if v.Form.Family == ptx.FamilyStackrestore {
			s.args["a"] = "%stack"
			break
		}
		s.args["a"] = "64"
		s.after, s.with = fmt.Sprintf("\tstackrestore%s %%stack;\n", t), "stackrestore"
	case ptx.FamilyMapa, ptx.FamilyGetctarank:
		s.shared = true
		s.args["a"] = "s"
		if !v.Has("shared::cluster") {
			s.decls, s.before, s.args["a"] = fmt.Sprintf("\t.reg %s %%where;\n", v.Type()), "\tmov.u64 %wa, s;\n\tcvta.shared.u64 %wa, %wa;\n"+fmt.Sprintf("\tcvt%s.u64 %%where, %%wa;\n", v.Type()), "%where"
		}
		s.args["b"] = "0"
	case ptx.FamilyMma:
		s.matrix(v)
	case ptx.FamilyTile:
		s.shared, s.rows = true, 16
		s.inShared("a")
	case ptx.FamilyFragment:
		s.shared = true
	case ptx.FamilyWgmmaFence, ptx.FamilyWgmmaCommit, ptx.FamilyWgmmaWait:
		s.warps = 4
		s.args["a"] = "0"
	case ptx.FamilySparse:
		s.sparse(v)
	case ptx.FamilyWgmma:
		s.wgmma(v)
	case ptx.FamilyMbarrier:
		s.mbarrier(v)
	case ptx.FamilyAsync:
		s.async(v)
	case ptx.FamilyAsyncStore:
		s.asyncStore(v)
	case ptx.FamilyTexture, ptx.FamilySurface, ptx.FamilyTextureQuery, ptx.FamilySurfaceQuery, ptx.FamilyIstypep:
		s.image(v)
	case ptx.FamilyTryCancel, ptx.FamilyTensorAlloc:
		s.skip = "it changes the state of the cluster, and cannot be repeated"
	case ptx.FamilyTensorLoad, ptx.FamilyTensorStore, ptx.FamilyTensorWait, ptx.FamilyTensorCopy, ptx.FamilyTensorShift, ptx.FamilyTensorMma, ptx.FamilyTensorCommit:
		s.tensor(v)
	case ptx.FamilyTensormap:
		s.skip = "it changes a tensor map"
	case ptx.FamilyStore:
		space, _ := v.Space()
		switch {
		case space == ptx.Param:
			s.skip = "it needs a call"
		case v.Has("bulk"):
			s.shared = true
			s.inShared("a")
			s.args["b"] = "1024"
		}
	}
	return s
}

// inShared makes a generic address an address of shared memory.
func (s *setup) inShared(operand string) {
	if s.args[operand] == "%ga" {
		s.args[operand] = "%gs"
	}
}

// sparse prepares spcompress and spdecompress, whose indices must rise in each group.
func (s *setup) sparse(v *ptx.Variant) {
	indices := "0"
	switch {
	case v.Op.Name == "spcompress":
	case v.Has("sp::2:4") && v.Has("b2"):
		indices = "0x44444444"
	case v.Has("sp::2:4"), v.Has("sp::2:8"), v.Has("sp::2:16"):
		indices = "0x10101010"
	case v.Has("sp::4:8"), v.Has("sp::4:16"):
		indices = "0x32103210"
	}
	s.decls, s.before = "\t.reg .b32 %index;\n", "\tmov.b32 %index, "+indices+";\n"
	if v.Op.Name == "spcompress" {
		s.args["b"] = "%index"
		return
	}
	n, _ := v.Count(&v.Form.Operands[v.Form.Operand("a")])
	s.args["a"] = "{" + strings.Repeat("%index, ", n-1) + "%index}"
}

// addressOperands sets the texts of addresses: registers of the kernel with the address of the lane.
func (s *setup) addressOperands(v *ptx.Variant) {
	for i := range v.Form.Operands {
		o := &v.Form.Operands[i]
		if !o.Address || o.Base != ptx.NoType {
			continue
		}
		switch v.SpaceOf(o) {
		case ptx.Const:
			s.args[o.Name] = "%ca"
		case ptx.Local:
			s.args[o.Name] = "%la"
		case ptx.Shared:
			s.args[o.Name], s.shared = "%sa", true
		case ptx.Param:
			s.args[o.Name] = "in"
			s.module = ""
		default:
			s.args[o.Name] = "%ga"
		}
	}
}

// barrier prepares barriers of a CTA with one warp.
func (s *setup) barrier(v *ptx.Variant) {
	switch {
	case v.Has("warp"):
		s.args["a"] = allLanes
	case v.Has("cluster") && v.Has("wait"):
		s.skip = "it is measured as a part of barrier.cluster.arrive"
	case v.Has("cluster"):
		aligned := ""
		if v.Has("aligned") {
			aligned = ".aligned"
		}
		s.after, s.with = "\tbarrier.cluster.wait"+aligned+";\n", "barrier.cluster.wait"
	case v.Has("arrive"):
		s.args["a"], s.args["b"] = "1", "64" // every second arrival completes the barrier
	default:
		s.args["a"] = "0"
	}
}

// matrix prepares mma: metadata of sparse matrices, and selectors of scales.
func (s *setup) matrix(v *ptx.Variant) {
	sparse := v.Slot("sp") != ""
	for i := range v.Form.Operands {
		o := &v.Form.Operands[i]
		switch {
		case o.Const:
			s.args[o.Name] = fmt.Sprint(o.Allowed.Min)
		case v.OperandType(i) == ptx.U16:
			s.args[o.Name] = "{0, 0}"
		case sparse && o.Name == "e":
			s.args[o.Name] = "%meta"
			s.decls, s.before = "\t.reg .b32 %meta;\n", "\tmov.b32 %meta, 0x44444444;\n"
		}
	}
}

// fillShared stores numbers to shared memory.
const fillShared = `	mov.u32 %i, %tid;
FILL:
	mul.lo.u32 %word, %i, 4;
	mov.u32 %sa, s;
	add.u32 %sa, %sa, %word;
	mul.lo.u32 %word, %i, 0x9e3779b1;
	and.b32 %word, %word, 0x001f001f;
	or.b32 %word, %word, 0x3f803f80;
	st.shared.u32 [%sa], %word;
	mov.u32 %word, %ntid.x;
	add.u32 %i, %i, %word;
	setp.lt.u32 %more, %i, 8448;
	@%more bra FILL;
	bar.sync 0;
	mov.u32 %sa, s;
`

// wgmma prepares a multiplication by a warpgroup: descriptors of matrices in shared memory, without swizzling.
func (s *setup) wgmma(v *ptx.Variant) {
	s.warps, s.shared, s.copies = 4, true, 1
	s.decls = "\t.reg .b64 %da, %db;\n\t.reg .b32 %meta;\n"
	s.before = fillShared + "\tmov.b32 %meta, 0x44444444;\n\tmov.u64 %da, s;\n\tshr.u64 %da, %da, 4;\n\tor.b64 %da, %da, 0x800800000;\n\tmov.b64 %db, %da;\n\twgmma.fence.sync.aligned;\n"
	s.args["a"], s.args["b"], s.args["e"], s.args["f"], s.args["c"] = "%da", "%db", "%meta", "0", "1"
	s.args["g"], s.args["h"], s.args["i"], s.args["j"] = "1", "1", "0", "0"
	s.after, s.with = "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n", "wgmma.commit_group, wgmma.wait_group"
}

// mbarrierVariable is an mbarrier in shared memory.
const mbarrierVariable = ".shared .align 8 .b64 bar[2];\n"

// mbarrier prepares an mbarrier whose phase every arrival of the warp completes.
func (s *setup) mbarrier(v *ptx.Variant) {
	s.module = mbarrierVariable
	s.args["a"] = "bar"
	if space, _ := v.Space(); space == ptx.Generic {
		s.args["a"] = "%wa"
	}
	s.decls = "\t.reg .b64 %state;\n"
	initialise := func(count int) string {
		return fmt.Sprintf("\tmbarrier.init.shared.b64 [bar], %d;\n", count)
	}
	s.before = "\tmov.u64 %wa, bar;\n\tcvta.shared.u64 %wa, %wa;\n" + initialise(32) + "\tmbarrier.arrive.shared.b64 %state, [bar];\n"
	s.args["b"] = "1"
	if v.Has("multicast::cluster::32b") {
		s.args["d"], s.args["e"] = "_", "1" // gemu does not run it with a result
	}
	switch {
	case v.Has("layout::v0"), v.Has("layout::v1"), v.Has("phase_type::conditional"):
		if !v.Has("init") {
			s.skip = "it needs an mbarrier with a layout"
		}
	case v.Has("init"):
		s.args["b"] = "32"
	case v.Has("inval"):
		s.guard = "@%lead "
		s.each = initialise(32)
	case v.Has("arrive_drop"), v.Has("noComplete"):
		s.each = initialise(1 << 18)
	case v.Has("arrive") && v.Has("expect_tx"):
		s.args["b"] = "0"
	case v.Has("expect_tx"):
		s.args["b"] = "16"
		s.after, s.with = "\tmbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;\n", "mbarrier.complete_tx"
	case v.Has("complete_tx"):
		s.args["b"] = "16"
		s.each = "\tmbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;\n"
		s.skip = "it is measured as a part of mbarrier.expect_tx"
	case v.Has("parity"):
		s.args["b"] = "0" // the phase that the arrival before the loop completed
	case v.Has("test_wait"), v.Has("try_wait"):
		s.args["b"] = "%state"
	}
	if v.Has("arrive_drop") && v.Has("expect_tx") {
		s.args["b"] = "0"
	}
}

// together synchronises the warp: no thread begins a phase of the mbarrier before all threads have seen the end of the
// previous phase.
const together = "\tbar.warp.sync 0xffffffff;\n"

// waitForPhase waits for the end of the current phase of the mbarrier. %phase is its parity.
const waitForPhase = `WAIT@N:
	mbarrier.try_wait.parity.shared.b64 %done, [bar], %phase;
	@!%done bra WAIT@N;
	xor.b32 %phase, %phase, 1;
`

// transfer prepares an instruction that reports a number of bytes to the mbarrier; the first thread executes it.
func (s *setup) transfer(bytes int) {
	s.module += mbarrierVariable
	s.decls += "\t.reg .pred %done;\n\t.reg .b32 %phase;\n"
	s.before += "\t@%lead mbarrier.init.shared.b64 [bar], 1;\n\tmov.b32 %phase, 0;\n\tbar.sync 0;\n"
	s.after += fmt.Sprintf("\t@%%lead mbarrier.arrive.expect_tx.shared.b64 _, [bar], %d;\n", bytes) + waitForPhase
	s.with = "mbarrier.arrive.expect_tx, mbarrier.try_wait"
	s.guard = "@%lead "
	s.each = together
	s.shared = true
}

// awaitBulk makes each bulk copy of a number of bytes end before the next one: by a group, or by the mbarrier.
func (s *setup) awaitBulk(v *ptx.Variant, bytes int) {
	if !v.Has("bulk_group") {
		s.transfer(bytes)
		return
	}
	s.guard = "@%lead "
	s.after, s.with = "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;\n", "cp.async.bulk.commit_group, cp.async.bulk.wait_group"
}

// bulkBytes is the number of bytes of a bulk copy.
const bulkBytes = 1024

// async prepares asynchronous copies: each is waited for.
func (s *setup) async(v *ptx.Variant) {
	s.shared = true
	switch {
	case v.Has("commit_group"), v.Has("wait_group"), v.Has("wait_all"):
		s.args["a"] = "0"
	case v.Has("arrive"):
		s.module = mbarrierVariable
		s.before = "\tmbarrier.init.shared.b64 [bar], 32;\n\tmov.u64 %wa, bar;\n\tcvta.shared.u64 %wa, %wa;\n"
		s.args["a"] = "bar"
		if space, _ := v.Space(); space == ptx.Generic {
			s.args["a"] = "%wa"
		}
		if !v.Has("noinc") {
			s.skip = "it changes the count of its mbarrier, and cannot be repeated"
		}
	case v.Has("tensor"):
		s.tensorCopy(v)
	case !v.Has("bulk"):
		s.rows = 16
		s.args["c"] = "16"
		s.after, s.with = "\tcp.async.commit_group;\n\tcp.async.wait_group 0;\n", "cp.async.commit_group, cp.async.wait_group"
	default:
		s.bulk(v)
	}
}

// bulk prepares a bulk copy or reduction.
func (s *setup) bulk(v *ptx.Variant) {
	s.awaitBulk(v, bulkBytes)
	s.decls += "\t.reg .b16 %mask;\n\t.reg .b32 %from;\n"
	s.before += "\tmov.b16 %mask, 1;\n\tmov.u32 %from, s;\n\tadd.u32 %from, %from, 4096;\n"
	for i := range v.Form.Operands {
		o := &v.Form.Operands[i]
		switch {
		case o.Name == "c":
			s.args["c"] = fmt.Sprint(bulkBytes)
		case o.Name == "e" && o.Address:
			s.args["e"] = "bar"
		case o.Name == "f" && v.OperandType(i).Bits() == 16:
			s.args["f"] = "%mask"
		case o.Name == "f":
			s.args["f"] = "1"
		case o.Name == "h" || o.Name == "i":
			s.args[o.Name] = "0"
		case o.Name == "a" && o.Address && v.Has("shared::cluster"):
			s.args["a"] = "%sa"
		case o.Name == "b" && o.Address && v.Has("shared::cluster") && v.Has("shared::cta"):
			s.args["b"] = "%from"
		}
	}
}

// asyncStore prepares st.async and red.async, whose bytes the mbarrier counts.
func (s *setup) asyncStore(v *ptx.Variant) {
	s.transfer(32 * max(v.Type().Bits()/8, 1) * v.VecLen())
	s.guard, s.rows = "", 16
	s.args["a"], s.args["c"] = "%sa", "bar"
	if space, _ := v.Space(); space == ptx.Generic {
		s.args["a"], s.args["c"] = "%gs", "%wa"
		s.before += "\tmov.u64 %wa, bar;\n\tcvta.shared.u64 %wa, %wa;\n"
	}
}

// tensorCopy prepares a copy of a tile of the tensor map.
func (s *setup) tensorCopy(v *ptx.Variant) {
	dims := 0
	for _, d := range []string{"1d", "2d", "3d", "4d", "5d"} {
		if v.Has(d) {
			dims = int(d[0] - '0')
		}
	}
	for _, mode := range v.Modifiers() {
		if strings.HasPrefix(mode, "im2col") || strings.Contains(mode, "::gather4") || strings.Contains(mode, "::scatter4") || strings.HasPrefix(mode, "override") || strings.HasPrefix(mode, "mbarrier::report") {
			s.skip = "it needs another tensor map"
			return
		}
	}
	if v.Has("cta_group::2") {
		s.skip = "it needs a pair of CTAs"
		return
	}
	s.tensorMap = dims
	s.awaitBulk(v, tileBytes)
	s.decls += "\t.reg .b64 %map;\n\t.reg .b16 %mask;\n\t.reg .b32 %wmask;\n"
	s.before += "\tmov.u64 %map, map;\n\tcvta.param.u64 %map, %map;\n\tmov.b16 %mask, 1;\n\tmov.b32 %wmask, 1;\n"
	zeros := "{" + strings.Repeat("0, ", dims-1) + "0}"
	if v.Has("bulk_group") {
		s.args["a"], s.args["b"], s.args["c"], s.args["e"] = "%map", zeros, "%sa", "%sa"
	} else {
		s.args["a"], s.args["b"], s.args["c"], s.args["e"] = "%sa", "%map", zeros, "bar"
	}
	if i := v.Form.Operand("g"); i >= 0 {
		if s.args["g"] = "%mask"; v.OperandType(i).Bits() == 32 {
			s.args["g"] = "%wmask"
		}
	}
}

// tileBytes is the size of the boxes of tensor maps, in bytes.
const tileBytes = 1024

// tiles has, by the number of dimensions, the extents of the tensor of a map, which are also those of its boxes: elements
// of .u32.
var tiles = []string{1: "256", 2: "16x16", 3: "4x4x16", 4: "2x2x4x16", 5: "2x2x2x2x16"}

// image prepares textures and surfaces.
func (s *setup) image(v *ptx.Variant) {
	s.images = v.Slot("geom")
	if s.images == "" {
		s.images = "2d"
	}
	s.decls = "\t.reg .b64 %tex, %surf;\n"
	s.before = "\tld.param.u64 %tex, [tex];\n\tld.param.u64 %surf, [surf];\n"
	s.args["a"] = "%tex"
	if slices.Contains([]ptx.Family{ptx.FamilySurface, ptx.FamilySurfaceQuery}, v.Form.Family) {
		s.args["a"] = "%surf"
	}
	s.integers = []int{0, 1, 2, 3, 4, 5, 6, 7} // within every image
	if v.Form.Family == ptx.FamilySurface || v.Has("level") {
		s.integers = []int{0}
	}
}

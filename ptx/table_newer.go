package ptx

import (
	"fmt"
	"strings"
)

// This file contains forms of PTX 9.3 to 9.5. Forms of tensor copies, of copies between devices (fabric), of
// tcgen05.mma and of the compression of sparse data are generated, because they differ in one modifier or number only.

// tensorMode is the coordinate mode of a tensor copy.
type tensorMode struct {
	dim    string // modifier of the dimensions
	mode   string // modifier of the mode, in braces if it is optional
	coords string // operand of the coordinates in the table's notation, without "<" and its name
	info   string // operand of the offsets, in the same way; "" if there is none
	slots  string // definitions of the slots in dim and mode
	sm     int    // the lowest target with the mode
}

var (
	tileMode   = tensorMode{".dim", "{.tile}", "*dim>:s32", "", ".dim = 1d 2d 3d 4d 5d", 90}
	loadModes  = []tensorMode{tileMode, im2colMode, wModes, {".2d", ".tile::gather4", "*5>:s32", "", "", 100}}
	storeModes = []tensorMode{tileMode,
		{".dim", ".im2col_no_offs", "*dim>:s32", "", ".dim = 3d 4d 5d", 90},
		{".2d", ".tile::scatter4", "*5>:s32", "", "", 100}}
	im2colMode = tensorMode{".dim", ".im2col", "*dim>:s32", "*dhw>:u16", ".dim = 3d 4d 5d", 90}
	wModes     = tensorMode{".dim", ".mode", "*dim>:s32", "*2>:u16", ".dim = 3d 4d 5d; .mode = im2col::w im2col::w::128", 100}
	storeW     = tensorMode{".dim", ".im2col_no_offs::w", "*dim>:s32", "", ".dim = 3d 4d 5d", 107}
)

// override is a modifier whose operands replace parts of the tensor map (manual of PTX 9.4, 9.7.10.28.5.2).
type override struct {
	modifier string
	operands string // operands within the address of the map, each after a comma
	dim      string // modifier of the dimensions; "" for the mode's own
	slots    string // definitions of the slots in modifier and dim
}

var (
	// overrideAddress replaces the address of the memory. It may be left out.
	overrideAddress = override{modifier: "{.override}", operands: ", %i?override:b64-", slots: ".override = override::global_address"}
	// overrideShape replaces the address, and the extents and strides of a tensor in tile mode.
	overrideShape = []override{
		{".override::global_address.override::global_dim", ", %i:b64-, <j*1dim>:b16- or <j*1dim>:b8", ".dim", ".dim = 1d"},
		{".override::global_address.override::global_dim_stride", ", %i:b64-, <j*dim>:b16- or <j*dim>:b8, %<k*dim-1>:b32, %l:b16-", ".dim", ".dim = 2d 3d 4d 5d"},
	}
)

// form returns a form of a copy. name is the opcode up to the mode, in which it replaces DIM by the modifier of the
// dimensions and MODE by that of the mode. mods are the modifiers between name and the override modifier. before and after
// are the operands around the address of the map. slots are further definitions of slots.
func (m tensorMode) form(name, mods, before, after string, o override, slots string, sm int) string {
	dim, dims := m.dim, m.slots
	if o.dim != "" {
		dim, dims = o.dim, o.slots
		o.slots = ""
	}
	operands := before + "[b" + o.operands + ", <c" + m.coords + "]:global" + after
	syntax := strings.NewReplacer("DIM", dim, "MODE", m.mode).Replace(name) + mods + o.modifier
	parts := []string{syntax + " " + operands}
	for _, s := range []string{dims, o.slots, slots} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return fmt.Sprintf("%s; ptx 9.4; sm %d\n", strings.Join(parts, "; "), max(sm, m.sm))
}

// tensorLoads returns the forms of cp.async.bulk.tensor from global memory added by PTX 9.4. With narrow these are the forms
// with a multicast to 16 CTAs, which any target with the mode has; otherwise the additions of sm_107.
func tensorLoads(narrow bool) (forms string) {
	const group = ".group = cta_group::1 cta_group::2"
	for _, m := range loadModes {
		info := ""
		if m.info != "" {
			info = ", <f" + m.info
		}
		load := func(dst, mods, mask string, o override, slots string) {
			sm := 107
			if narrow {
				sm = 90
			}
			forms += m.form("cp.async.bulk.tensor!DIM.dst.globalMODE.mbarrier::complete_tx::bytes", mods, "[a]:dst, ", ", [e]:shared"+info+mask+", h?hint:b64-", o, ".dst = "+dst+"; "+group+slots, sm)
		}
		if narrow {
			load("shared::cluster", ".multicast::cluster::16b{.group}{.hint}", ", g:b16", override{}, "")
			continue
		}
		load("shared::cluster", "{.report}{.multicast}{.group}{.hint}", ", g?multicast:b16", overrideAddress, "; .multicast = multicast::cluster multicast::cluster::16b")
		load("shared::cluster", "{.report}.multicast::cluster::32b{.group}{.hint}", ", g:b32", overrideAddress, "")
		load("shared::cta", "{.report}{.group}{.hint}", "", overrideAddress, "")
		if m.mode == tileMode.mode {
			for _, o := range overrideShape {
				load("shared::cluster", "{.report}{.group}{.hint}", "", o, "")
				load("shared::cluster", "{.report}.multicast::cluster::32b{.group}{.hint}", ", g:b32", o, "")
				load("shared::cta", "{.report}{.group}{.hint}", "", o, "")
			}
		}
	}
	return forms
}

// tensorStores returns the forms of cp.async.bulk.tensor or cp.reduce.async.bulk.tensor to global memory added by
// sm_107.
func tensorStores(reduce bool) (forms string) {
	name, slots := "cp.async.bulk.tensor!DIM.global.shared::ctaMODE.bulk_group", ""
	if reduce {
		name, slots = "cp.reduce.async.bulk.tensor!DIM.global.shared::cta.opMODE.bulk_group", ".op = and or xor add inc dec min max"
	}
	store := func(m tensorMode, o override) {
		f := m.form(name, "{.hint}", "", ", [e]:shared, h?hint:b64-", o, slots, 107)
		// Use the operand names of the lowering: a is the map, b the coordinates, c the memory.
		forms += strings.NewReplacer("[b", "[a", "<c*", "<b*", "[e]", "[c]", "h?hint", "e?hint").Replace(f)
	}
	for _, m := range append(storeModes, storeW) {
		store(m, overrideAddress)
		if m.mode == tileMode.mode {
			for _, o := range overrideShape {
				store(m, o)
			}
		}
	}
	return forms
}

// tensorHints returns the forms of tensor prefetches added by sm_107.
func tensorHints() (forms string) {
	for _, h := range []struct{ name, mods, after, slots string }{
		{"cp.async.bulk.prefetch.tensor!DIM.L2.globalMODE", "{.hint}", ", h?hint:b64-", ""},
		{"cp.async.bulk.prefetch.tensor!DIM.L2.globalMODE", ".L2::evict_last", "", ""},
	} {
		forms += hints(h.name, h.mods, h.after)
	}
	return forms
}

// priorities returns the forms of applypriority.async.bulk.tensor.
func priorities() string {
	return hints("applypriority.async.bulk.tensor!DIM{.global}MODE.bulk_group", ".L2::evict_normal", "")
}

// hints returns the forms of an instruction that names elements of a tensor in global memory but transfers none to shared
// memory; see tensorMode.form for the parameters.
func hints(name, mods, after string) (forms string) {
	for _, m := range loadModes {
		info := ""
		if m.info != "" {
			info = ", <f" + m.info
		}
		forms += m.form(name, mods, "", info+after, overrideAddress, "", 107)
		if m.mode == tileMode.mode {
			for _, o := range overrideShape {
				forms += m.form(name, mods, "", info+after, o, "", 107)
			}
		}
	}
	return strings.NewReplacer("[b", "[a", "<c*", "<b*").Replace(forms)
}

// sparseForms returns the forms of spcompress or spdecompress (manual of PTX 9.4, 9.7.10.30 and 9.7.10.31). The second
// modifier, .b2 or .b4, is the size of an index; each element of compressed data has an index.
func sparseForms(decompress bool) (forms string) {
	for _, elem := range []int{8, 16} {
		for _, index := range []int{2, 4} {
			if !decompress {
				forms += fmt.Sprintf("spcompress.b%d.b%d.sp::2:4.num <d*%dnum/%d>:b32, <p*num>:b32, <a*2num>:b32, %%b:b32; .num = x1 x2 x4 x8 x16 x32 x64; ptx 9.4; sm 107\n", elem, index, index, elem)
				continue
			}
			for _, ratio := range [][2]int{{1, 2}, {1, 4}, {1, 8}, {1, 16}, {2, 4}, {2, 8}, {2, 16}, {4, 8}, {4, 16}} {
				from, to := ratio[0], ratio[1]
				if from*elem > 32 || index == 2 && to > 4 {
					continue
				}
				var nums []string
				for num := 1; num <= 64; num *= 2 {
					if bits := to * elem * num; 32 <= bits && bits <= 4096 {
						nums = append(nums, fmt.Sprint("x", num))
					}
				}
				forms += fmt.Sprintf("spdecompress.b%d.b%d.sp::%d:%d.num <d*%dnum/32>:b32, <a*%dnum/32>:b32, <b*%dnum/32>:b32; .num = %s; ptx 9.4; sm 107\n",
					elem, index, from, to, to*elem, from*index, from*elem, strings.Join(nums, " "))
			}
		}
	}
	return forms
}

// newerRows contains forms of PTX 9.3 to 9.5, and one of 8.6. Forms of FamilyNone have the section of the newer manual.
var newerRows = []row{
	{"cp", "9.7.9.25.5", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Async | MayTrap, tensorLoads(true) + tensorLoads(false) + tensorStores(false)},
	{"cp", "9.7.9.25.5", ClassMemory, AffineNone, FamilyAsync, Reads | Writes | Atomic | Async | MayTrap, tensorStores(true) + `
		cp.reduce.async.bulk.tensor!.2d.global.shared::cta.op.tile::scatter4.bulk_group{.hint} [a, <b*5>:s32]:global, [c]:shared, e?hint:b64-; .op = and or xor add inc dec min max; ptx 8.6; sm 100`},
	{"cp", "9.7.9.25.5", ClassMemory, AffineNone, FamilyHint, Hint, tensorHints()},
	{"applypriority", "9.7.9.16", ClassMemory, AffineNone, FamilyHint, Hint, priorities()},
	{"spcompress", "9.7.10.30", ClassMisc, AffineNone, FamilySparse, MayTrap, sparseForms(false)},
	{"spdecompress", "9.7.10.31", ClassMisc, AffineNone, FamilySparse, MayTrap, sparseForms(true)},
	{"tensormap", "9.7.9.27", ClassMemory, AffineNone, FamilyTensormap, Reads | MayTrap, `
		tensormap.query!.alloc_class_large{.global}.b1024 p:pred, [a]; ptx 9.5; sm 90`},
	{"createpolicy", "9.7.9.18", ClassMisc, AffineUniform, FamilyCreatepolicy, Pure, `
		createpolicy.range!.fabric.first{.second}.b64 d:type-, [a, i:b64-]:u32, b:u32, c:u32; .first = L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged; .second = L2::evict_first L2::evict_unchanged; ptx 9.4; sm 100`},
	{"ldmatrix", "9.7.14.5.15", ClassTensor, AffineNone, FamilyTile, Collective | Aligned | Reads | MayTrap, `
		ldmatrix.sync.aligned.shape.num{.ss}.s8.sfmt <d*num>:b32, [a]; .shape = m8n16; .num = x1 x2 x4; .ss = shared shared::cta; .sfmt = s4; ptx 9.4; sm 90`},
	{"tcgen05", "9.7.18.7", ClassTensor, AffineNone, FamilyTensorAlloc, Collective | Aligned | Writes | Waits | MayTrap, `
		tcgen05.alloc!.exclusive.group.sync.aligned{.ss}.b32 [a], b=32..4294967264/32:u32; .group = cta_group::1 cta_group::2; .ss = shared::cta; ptx 9.4; sm 100`},
	{"tcgen05", "9.7.18.7", ClassTensor, AffineNone, FamilyTensorAlloc, Collective | Aligned | SideEffect | MayTrap, `
		tcgen05.dealloc!.exclusive.group.sync.aligned.b32 a:u32, b=32..4294967264/32:u32; .group = cta_group::1 cta_group::2; ptx 9.4; sm 100`},
	{"tcgen05", "9.7.18.8", ClassTensor, AffineNone, FamilyTensorLoad, Collective | Aligned | Reads | Async | MayTrap, `
		tcgen05.ld!.spcompress.sync.aligned.32x32b.num.op.sp::2:4{.abs}.f32.b2 <d*num/32>:b32, <p*num/2>:b32, [a]:u32; .num = x4 x8 x16 x32 x64 x128; .op = min max; ptx 9.4; sm 107
		tcgen05.ld!.red.spcompress.sync.aligned.32x32b.num.op.sp::2:4{.abs}{.NaN}.f32.b2 <d*num/32>:b32, <p*num/2>:b32, q:b32, [a]:u32; .num = x4 x8 x16 x32 x64 x128; .op = min max; ptx 9.4; sm 107`},
	{"tcgen05", "9.7.18.10", ClassTensor, AffineNone, FamilyTensorMma, Reads | Writes | Async | MayTrap, tensorMultiplications()},
	{"tcgen05", "9.7.18.12", ClassTensor, AffineNone, FamilyTensorCommit, Barrier | Writes | Async | MayTrap, `
		tcgen05.commit!.group.mbarrier::arrive::one{.ss}.multicast::cluster::16b.b64 [a], b:u16; .group = cta_group::1 cta_group::2; .ss = shared::cluster; ptx 9.4; sm 100
		tcgen05.commit!.group.mbarrier::arrive::one{.ss}.multicast::cluster::32b.b64 [a], b:u32; .group = cta_group::1 cta_group::2; .ss = shared::cluster; ptx 9.4; sm 107
		tcgen05.commit!.group.mbarrier::arrive::one.restrict{.ss}{.multicast}.b64 [a], b?multicast:u16; .group = cta_group::1 cta_group::2; .restrict = sync_restrict::shared::read::mma::a; .ss = shared::cluster; .multicast = multicast::cluster multicast::cluster::16b; ptx 9.4; sm 107
		tcgen05.commit!.group.mbarrier::arrive::one.restrict{.ss}.multicast::cluster::32b.b64 [a], b:u32; .group = cta_group::1 cta_group::2; .restrict = sync_restrict::shared::read::mma::a; .ss = shared::cluster; ptx 9.4; sm 107`},
	{"fabric", "9.7.10.5.1", ClassMemory, AffineNone, FamilyNone, Reads | Writes | Async | MayTrap, fabricTensors("get", "bytes", "[a]:shared, ", ", [e]:shared", "", ".b128") + `
		fabric.try_get!.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.hint}{.relaxed}{.sys}.b128 [a]:shared, [b, i:u64]:u32, c:u32, [e]:shared, h?hint:b64-; ptx 9.3; sm 100`},
	{"fabric", "9.7.10.5.2", ClassMemory, AffineNone, FamilyNone, Reads | Writes | Async | MayTrap, fabricTensors("put", "16B{.counted}", "", ", [a]:shared, f:u32, [e]:shared", ", k?counted:u64", ".b128") + `
		fabric.try_put!.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.cp_mask}{.hint}{.relaxed}{.sys}.b128 [b, i:u64]:u32, [a]:shared, c:u32, [e]:shared, f?cp_mask:b16, h?hint:b64-; .cp_mask = cp_mask; ptx 9.3; sm 100
		fabric.try_put!.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.hint}{.relaxed}{.sys}.b128 [b, i:u64, j:u64]:u32, [a]:shared, c:u32, [e]:shared, h?hint:b64-; ptx 9.3; sm 100`},
	{"fabric", "9.7.10.5.3", ClassMemory, AffineNone, FamilyNone, Reads | Writes | Atomic | Async | MayTrap, fabricTensors("red", "16B{.counted}", "", ", [a]:shared, f:u32, [e]:shared", ", k?counted:u64", ".op") +
		fabricReductions("fabric.try_red!.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.hint}{.relaxed}{.sys}.op.type [b, i:u64]:u32, [a]:shared, c:u32, [e]:shared, h?hint:b64-", "", "f16 bf16") +
		fabricReductions("fabric.try_red!.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes{.hint}{.relaxed}{.sys}.op.type [b, i:u64, j:u64]:u32, [a]:shared, c:u32, [e]:shared, h?hint:b64-", "", "f16 bf16")},
	{"fabric", "9.7.10.5.4", ClassMemory, AffineNone, FamilyNone, Collective | Reads | Writes | Async | MayTrap,
		fabricReductions("fabric.try_pullred!.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}{.sys}.op.type.sync [a]:shared, [b, i:u64]:u32, c:u32, [e]:shared, #f=4294967295:u32", "pull", "f16 bf16") + `
		fabric.try_pullred!.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}{.sys}.op.type.sync [a]:shared, [b, i:u64]:u32, c:u32, [e]:shared, #f=4294967295:u32; .op = min max; .type = e4m3 e5m2; ptx 9.3; sm 100
		fabric.try_pullred!.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}{.sys}.add.acc::f16.type.sync [a]:shared, [b, i:u64]:u32, c:u32, [e]:shared, #f=4294967295:u32; .type = e4m3 e5m2; ptx 9.3; sm 100
		fabric.try_pullred!.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}{.sys}.add.acc::f32.type.sync [a]:shared, [b, i:u64]:u32, c:u32, [e]:shared, #f=4294967295:u32; .type = f16 bf16; ptx 9.3; sm 100
		fabric.try_pullred!.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}{.sys}.add.acc::f32.type.sync [a]:shared, [b, i:u64]:u32, c:u32, [e]:shared, #f=4294967295:u32; .type = e4m3 e5m2; ptx 9.3; sm 100; undocumented`},
	{"fabric", "9.7.11", ClassMemory, AffineNone, FamilyNone, Reads | Writes | Atomic | Async | MayTrap,
		fabricReductions("fabric.try_atom!.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.hint}.relaxed.sys.op.type [b, i:u64]:u32, [a]:shared, [c]:shared, [e]:shared, h?hint:b64-", "atom", "f16x2 bf16x2")},
}

// fabricTensors returns the forms of fabric.try_NAME, an operation between devices, on a tensor. The tensor map contains an
// endpoint and an offset instead of the address of its memory. A variable with the map must be in shared memory: NVIDIA's
// assembler accepts no other space. completion is the unit in which the mbarrier counts, before and after are the operands
// around the address of the map, counter is a further operand of the address, and op is the last modifier.
func fabricTensors(name, completion, before, after, counter, op string) (forms string) {
	slots, multimem := "", ""
	if strings.Contains(completion, "counted") {
		multimem = "{.multimem}" // NVIDIA's assembler accepts it for all except try_get
		completion = strings.TrimSuffix(completion, "{.counted}")
		slots = ".counted = counted::bytes"
	}
	mods := ".mbarrier::complete_tx::" + completion + ".mbarrier::report::fabric"
	if slots != "" {
		mods += "{.counted}"
	}
	if op == ".op" {
		slots += "; .op = and or xor add min max"
	}
	for _, o := range append([]override{{".override::global_address", ", %i:b64-", "", ""}}, overrideShape...) {
		o.operands = strings.Replace(o.operands, ", %i:b64-", ", m:u32, i:u64"+counter, 1)
		o.operands = strings.NewReplacer("%<k*", "%<n*", ", %l:", ", %o:").Replace(o.operands)
		o.modifier += "{.relaxed}{.sys}" + op
		f := tileMode.form("fabric.try_"+name+".async.tensor!DIM"+multimem+".shared::ctaMODE"+mods, "{.hint}", before, after+", h?hint:b64-", o, slots, 107)
		forms += strings.Replace(f, "]:global", "]:shared", 1)
	}
	return forms
}

// fabricReductions returns the forms of a syntax with .op and .type: bit operations, minima and maxima, and sums. kind is
// "pull" for fabric.try_pullred, "atom" for fabric.try_atom, which has more operations, and "" otherwise; halves are the
// types of half precision.
func fabricReductions(syntax, kind, halves string) (forms string) {
	sums := "u32 u64 f32 f64 " + halves
	if kind == "pull" {
		sums = "u32 u64 f32 " + halves
	}
	list := []string{".op = and or xor; .type = b32 b64", ".op = min max; .type = u32 s32 u64 s64 " + halves, ".op = add; .type = " + sums}
	version := "ptx 9.3; sm 100"
	if kind == "atom" {
		list = append(list, ".op = cas exch; .type = b32 b64 b128")
		version = "ptx 9.4; sm 100"
	}
	for _, slots := range list {
		forms += syntax + "; " + slots + "; " + version + "\n"
	}
	return forms
}

// tensorMultiplications returns the forms of tcgen05.mma added by sm_107: with .kind::ti16, with collector buffers for B, and
// with a matrix B of indices into a table.
func tensorMultiplications() (forms string) {
	const (
		acol  = "; .acol = collector::a::fill collector::a::use collector::a::lastuse collector::a::discard"
		short = "; .acol = collector::a::lastuse collector::a::discard"
		bcol  = "; .bcol = collector::b::fill collector::b::use collector::b::lastuse collector::b::discard"
		scale = "; .scale = scale_vec::1X scale_vec::2X scale_vec::4X block16 block32"
	)
	add := func(format string, args ...any) {
		forms += fmt.Sprintf(format, args...) + "; ptx 9.4; sm 107\n"
	}
	for _, sp := range []struct{ modifier, operand string }{{"", ""}, {".sp", ", [e]:b32"}} {
		for group, lanes := range []int{4, 8} {
			start := fmt.Sprintf("tcgen05.mma!%s.cta_group::%d", sp.modifier, group+1)
			a := "[d]:b32, a:u64 or [a]:b32, b:u64" + sp.operand + fmt.Sprintf(", c:u32, <f*%d>?:b32, !g:pred", lanes)
			shifted := strings.Replace(a, "a:u64 or ", "", 1)
			add("%s.kind{.acol}{.bcol} %s; .kind = kind::ti16"+acol+bcol, start, a)
			add("%s.kind.ashift{.acol}{.bcol} %s; .kind = kind::ti16"+short+bcol, start, shifted)
			add("%s.kind{.acol}.bcol %s, #h?:u32; .kind = kind::f16 kind::tf32 kind::f8f6f4"+acol+bcol, start, a)
			add("%s.kind.ashift{.acol}.bcol %s, #h?:u32; .kind = kind::f16 kind::tf32 kind::f8f6f4"+short+bcol, start, shifted)
			scaled := "[d]:b32, a:u64 or [a]:b32, b:u64" + sp.operand + ", c:u32, [f]:b32, [g]:b32, !h:pred"
			add("%s.kind.block_scale{.scale}{.acol}.bcol %s; .kind = kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4"+scale+acol+bcol, start, scaled)
			if sp.modifier == "" {
				table := strings.NewReplacer("b:u64,", "b:u64, [e]:b32,")
				add("%s.kind.decompress::lut::b{.acol}{.bcol} %s; .kind = kind::f8f6f4"+acol+bcol, start, table.Replace(a))
				add("%s.kind.block_scale.decompress::lut::b{.scale}{.acol}{.bcol} %s; .kind = kind::mxf8f6f4; .scale = scale_vec::1X block32"+acol+bcol, start, table.Replace(scaled))
			}
		}
		add("tcgen05.mma.ws!%s.cta_group::1.kind{.bcol} [d]:b32, a:u64 or [a]:b32, b:u64%s, c:u32, !g:pred, h?:u64; .kind = kind::ti16; .bcol = %s", sp.modifier, sp.operand, wsCollectors())
	}
	return forms
}

// wsCollectors returns the modifiers of the four collector buffers for B of tcgen05.mma.ws, separated by spaces.
func wsCollectors() string {
	var list []string
	for buffer := range 4 {
		for _, use := range []string{"fill", "use", "lastuse", "discard"} {
			list = append(list, fmt.Sprintf("collector::b%d::%s", buffer, use))
		}
	}
	return strings.Join(list, " ")
}

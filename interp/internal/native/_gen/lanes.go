package main

// This file writes the C of the stencils for kernels of package alu. They call the functions written by the translator.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/interp/internal/alu/directive"
	"gemu/interp/internal/code"
)

// arithmetic adds the C of the kernels of package alu to the sources: two files for each Go function and number of operands.
// Each file has the C of all functions that it calls, numbered within the file. So a change of a Go function, or a new one,
// leaves the other files as they are, and compiled takes their machine code from its cache.
func (s *sources) arithmetic(dir string) error {
	t, err := newTranslator(dir)
	if err != nil {
		return err
	}
	type group struct {
		function string // the Go function of its kernels
		operands int    // number of source operands
	}
	kernels := map[group][]directive.Kernel{}
	for _, k := range directive.Read(dir) {
		g := group{k.Decl.Name.Name, len(operandsOf(&k))}
		kernels[g] = append(kernels[g], k)
	}
	order := func(a, b group) int {
		return cmp.Or(strings.Compare(a.function, b.function), cmp.Compare(a.operands, b.operands))
	}
	for _, g := range slices.SortedFunc(maps.Keys(kernels), order) {
		t.state = newState()
		type laneKernel struct {
			directive.Kernel
			lane string
			own  []string // lanes for single values of Instr.Imm

			common, condition string // lanes for Common and Condition
		}
		var list []laneKernel
		for _, k := range kernels[g] {
			lane, err := t.lane(k)
			if err != nil {
				s.inGo = append(s.inGo, fmt.Sprintf("%s runs in Go: %v", k.Name, err))
				continue
			}
			own := make([]string, len(k.OwnImms))
			for i, imm := range k.OwnImms {
				if !imm.All() {
					own[i] = lane
				} else if own[i], err = t.laneFor(k, fmt.Sprintf("%s_imm%#x", lane, imm.Value), &imm.Value); err != nil {
					return err
				}
			}
			l := laneKernel{Kernel: k, lane: lane, own: own}
			if k.Common != "" {
				if l.common, err = t.laneOf(k, k.Common, lane+"_common"); err != nil {
					return err
				}
				test := k
				test.FTZ = false
				if l.condition, err = t.laneOf(test, k.Condition, lane+"_condition"); err != nil {
					return err
				}
			}
			list = append(list, l)
		}
		if len(list) == 0 {
			continue
		}
		functions := t.text()
		ofF16 := strings.Contains(functions, "go_half_WidenF16") || strings.Contains(functions, "go_half_F32ToF16RN")
		if slices.ContainsFunc(list, func(k laneKernel) bool { return k.Halves }) || strings.Contains(functions, "go_half_") {
			functions = "#include \"half.h\"\n" + functions
		}
		var rows, scalars strings.Builder
		var wrappers []kernel
		for _, k := range list {
			var text strings.Builder
			stencilsOf(&text, &k.Kernel, k.lane, k.common, k.condition, k.own, ofF16)
			rows.WriteString(text.String())
			wrappers = append(wrappers, kernel{strings.TrimPrefix(k.Name, "k_"), text.String(), k.Takes})
			if k.Halves {
				k.lane = pairOf(&scalars, &k.Kernel, k.lane)
			}
			scalarOf(&scalars, &k.Kernel, k.lane)
			for _, o := range k.Ops {
				s.ops = append(s.ops, [2]string{o.Key, strings.TrimPrefix(k.Name, "k_")})
			}
		}
		suffix := fmt.Sprintf("_%s%d.c", g.function, g.operands)
		const head = "#include \"stencil.h\"\n"
		s.files = append(s.files,
			file{name: "arithmetic" + suffix, text: head + functions + "#include \"numbers.h\"\n" + rows.String(),
				table: tableOf(list[0].Name), operands: letters[:g.operands], weak: true, functions: functions, kernels: wrappers},
			file{name: "scalar" + suffix, text: head + functions + "#ifndef MASKED\n" + scalars.String() + "#endif\n",
				table: scalar, operands: letters[:g.operands], weak: true})
	}
	return nil
}

// tableOf returns the table for the stencils of the kernel with a name.
func tableOf(kernel string) string {
	switch {
	case strings.HasPrefix(kernel, "k_cvt_"), strings.HasPrefix(kernel, "k_widen_"):
		return conversions
	case strings.Contains(kernel, "f16") || strings.Contains(kernel, "_pair_"): // pairs are of narrower formats
		return halves
	}
	return lanes
}

// letters has the letters of the source operands, in order.
const letters = "ABCE"

// operandsOf returns the Go types of a kernel's source operands.
func operandsOf(k *directive.Kernel) (types []string) {
	for _, p := range k.Params {
		if p.Type != "" {
			types = append(types, p.Type)
		}
	}
	return types
}

var cTypes = map[string]string{
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
	"float32": "f32", "float64": "f64", "bool": "bool",
}

// rowType returns the C type of the elements of a row with operands of a Go type.
func rowType(t string) string {
	switch directive.Slot(t) {
	case "Q":
		return cTypes[t]
	case "P":
		return "u32"
	}
	if t == "float32" || t == "int32" {
		return cTypes[t]
	}
	return "u32"
}

// activeElement returns the C expression of an element, of a row with operands of Go type t. Floats of idle lanes are
// replaced by zero: they may be denormals, which slow the instruction down ten times for all lanes.
func activeElement(t, of string) string {
	if c := rowType(t); strings.HasPrefix(c, "f") {
		return fmt.Sprintf("ACTIVE_%s(%s)", c, of)
	}
	return of
}

// loopsOf returns a loop for each element of k.OwnImms, and a loop for all other values of Instr.Imm. loop returns a loop that
// calls a C function with the operands, and with the value of Imm if there is one. own has the names of the functions, in the
// order of k.OwnImms; lane is the function for all values. If only some bits of Imm are known, clang omits the code for other
// values of these bits.
func loopsOf(k *directive.Kernel, lane string, own []string, loop func(function, imm string) string) string {
	var b strings.Builder
	if len(own) > 0 {
		// a copy of which clang knows nothing: a condition on Imm would make the mask in arg redundant, and clang loses the bits
		// with the mask
		b.WriteString("\tu64 imm = (u64)NUMBER(H0);\n\t__asm__(\"\" : \"+r\"(imm));\n")
	}
	for i, f := range own {
		v, mask, arg := k.OwnImms[i].Value, k.OwnImms[i].Mask, ""
		if !k.OwnImms[i].All() {
			arg = fmt.Sprintf(", (u64)NUMBER(H0) & %#x | %#x", uint32(^mask), v)
		}
		fmt.Fprintf(&b, "\tif ((imm & %#x) == %#x) {\n\t%s\n\tNEXT;\n\t}\n", mask, v, loop(f, arg))
	}
	imm := ""
	if slices.ContainsFunc(k.Params, func(p directive.Param) bool { return p.Value == "instr.Imm" }) {
		imm = ", (u64)NUMBER(H0)"
	}
	fmt.Fprintf(&b, "\t%s\n", loop(lane, imm))
	return b.String()
}

// stencilsOf writes the stencils of a kernel. own has the functions for single values of Instr.Imm; lane is the function for all
// values. common, if there is one, is the function for rows whose lanes all fulfil condition. ofF16 tells whether they convert from
// or to f16.
func stencilsOf(w *strings.Builder, k *directive.Kernel, lane, common, condition string, own []string, ofF16 bool) {
	var rows, args strings.Builder
	i := 0
	for _, p := range k.Params {
		if p.Type == "" {
			continue
		}
		x := string(letters[i])
		v := strings.ToLower(x)
		if k.Halves {
			fmt.Fprintf(&rows, "\tconst u16 *%s = ROW(u16, %s);\n", v, x)
			fmt.Fprintf(&args, ", %s[i]", v)
			i++
			continue
		}
		switch directive.Slot(p.Type) {
		case "P":
			fmt.Fprintf(&rows, "\tu32 %s = PREDICATE(%s);\n", v, x)
			fmt.Fprintf(&args, ", (bool)(%s >> i & 1)", v)
		case "Q":
			fmt.Fprintf(&rows, "\tconst %s *%s = WIDE(%[1]s, %[3]s);\n", rowType(p.Type), v, x)
			fmt.Fprintf(&args, ", %s", activeElement(p.Type, v+"[i]"))
		default:
			fmt.Fprintf(&rows, "\tconst %s *%s = ROW(%[1]s, %[3]s);\n", rowType(p.Type), v, x)
			fmt.Fprintf(&args, ", (%s)%s", cTypes[p.Type], activeElement(p.Type, v+"[i]"))
		}
		i++
	}
	callOf := func(function, imm string) string {
		return function + "(" + strings.TrimPrefix(args.String()+imm, ", ") + ")"
	}
	var call string // of the function for all values of Imm
	loopsOf(k, lane, nil, func(function, imm string) string { call = callOf(function, imm); return "" })
	name := strings.TrimPrefix(k.Name, "k_")
	d := k.Results[0]
	row := "ROW"
	if directive.Slot(d) == "Q" {
		row = "WIDE"
	}
	// Narrow results are kept zero-extended.
	value := "v"
	if rowType(d) == "u32" && d != "uint32" && d != "bool" {
		value = fmt.Sprintf("(u32)(u%s)v", strings.TrimLeft(cTypes[d], "us"))
	}
	keep := "BLEND"
	if strings.HasPrefix(rowType(d), "f") {
		keep = "KEEP_" + rowType(d)
	}
	lanes := "LANES"
	if ofF16 && !isWide(k) {
		lanes = "F16_LANES"
	}
	if k.Short {
		lanes = "SHORT_LANES"
		if isWide(k) {
			lanes = "SHORT_WIDE_LANES"
		}
		if mayBeAffine(k) {
			comparingOf(w, k, rows.String(), call, value)
		}
	}
	switch {
	case k.Halves:
		loops := loopsOf(k, lane, own, func(function, imm string) string { return fmt.Sprintf("{ PUT_HALVES(%s) }", callOf(function, imm)) })
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\tu32 *d = ROW(u32, D);\n%s\tNEXT;\n}\n", name, rows.String(), loops)
	case k.Compare: // another stencil combines the outcome with predicates
		fmt.Fprintf(w, "#ifndef MASKED\nSTENCIL(%s) {\n%s\ts8 t[32];\n\t%s t[i] = %s ? -1 : 0;\n\toutcome = packed(t);\n\tNEXT;\n}\n#endif\n", name, rows.String(), lanes, call)
	case d == "bool" && allPredicates(k):
		// all lanes at once, by the table of the function
		word := fmt.Sprintf("WORD1(%s, a)", lane)
		if len(k.Params) == 2 {
			word = fmt.Sprintf("WORD2(%s, a, b)", lane)
		}
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\tu32 v = %s;\n\tu32 *d = AT(u32, D, P);\n\t*d = MERGE(*d, v);\n\tNEXT;\n}\n", name, rows.String(), word)
	case d == "bool":
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\ts8 t[32] = {0};\n\t%s t[i] = %s ? -1 : 0;\n\tu32 v = packed(t);\n\tu32 *d = AT(u32, D, P);\n\t*d = MERGE(*d, v);\n\tNEXT;\n}\n", name, rows.String(), lanes, call)
	case len(k.Results) == 2:
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\t%s *d = %s(%[3]s, D);\n\ts8 t[32] = {0};\n\t%[8]s {\n\t\t__auto_type r = %[5]s;\n\t\t__auto_type v = r.r;\n\t\tt[i] = r.c ? -1 : 0;\n\t\td[i] = %[7]s(d[i], %[6]s);\n\t}\n\tu32 v = packed(t);\n\tu32 *f = AT(u32, F, P);\n\t*f = MERGE(*f, v);\n\tNEXT;\n}\n", name, rows.String(), rowType(d), row, call, value, keep, lanes)
	default:
		loop := func(function, imm string) string {
			return fmt.Sprintf("%s {\n\t\t__auto_type v = %s;\n\t\td[i] = %s(d[i], %s);\n\t}", lanes, callOf(function, imm), keep, value)
		}
		loops := loopsOf(k, lane, own, loop)
		if common != "" {
			loops = fmt.Sprintf("\t%s others = 0;\n\t%s others |= !%s;\n\tif (!others) {\n\t%s\n\tNEXT;\n\t}\n", flagType(k), lanes, callOf(condition, ""), loop(common, "")) + loops
		}
		fmt.Fprintf(w, "STENCIL(FORM(%s)) {\n%s\t%s *d = %s(%[3]s, D);\n%[5]s\tNEXT;\n}\n", name, rows.String(), rowType(d), row, loops)
	}
}

// flagType returns the C type of a flag that is as wide as the elements of a kernel's rows.
func flagType(k *directive.Kernel) string {
	if isWide(k) {
		return "u64"
	}
	return "u32"
}

// isWide reports whether a kernel has operands or a result of 64 bits.
func isWide(k *directive.Kernel) bool {
	return slices.ContainsFunc(append(operandsOf(k), k.Results...), func(t string) bool { return directive.Slot(t) == "Q" })
}

// mayBeAffine reports whether a kernel may have affine results.
func mayBeAffine(k *directive.Kernel) bool {
	return slices.ContainsFunc(k.Ops, func(o directive.Op) bool {
		return affinetrack.Rules[code.OpNamed(o.Key).Signature().Rule].AffineOperands != affinetrack.NoOperand
	})
}

// comparingSuffix is the suffix of the names of comparing stencils.
const comparingSuffix = "_agreed"

// comparingOf writes the stencil of check mode. It executes a kernel and compares its results with shadow F. The holes of
// operands and H0 are those of the kernel. If the shadow does not cover all lanes alone, without the row, the stencil jumps
// to OTHER and has done nothing.
func comparingOf(w *strings.Builder, k *directive.Kernel, rows, call, value string) {
	d := k.Results[0]
	if k.Compare || d == "bool" || len(k.Results) > 1 {
		return
	}
	row, kind, bits := "ROW", "r", "u32"
	if directive.Slot(d) == "Q" {
		row, kind, bits = "WIDE", "q", "u64"
	}
	fmt.Fprintf(w, `#ifndef MASKED
STENCIL(%s%s) {
	struct compact *want = SHADOW(F, %s_shadows);
	if (want->both != 0xffffffff)
		OTHER;
%s	%[5]s *d = %[6]s(%[5]s, D);
	%[7]s expected = want->base, stride = want->stride, diff = 0;
	SHORT_LANES {
		__auto_type v = %[8]s;
		%[5]s result = %[9]s;
		d[i] = result;
		diff |= __builtin_bit_cast(%[7]s, result) ^ expected;
		expected += stride;
	}
	if (diff || (want->base | want->stride) != (%[7]s)(want->base | want->stride))
		LEAVE;
	ctx->compared_compact += 32;
	NEXT;
}
#endif
`, strings.TrimPrefix(k.Name, "k_"), comparingSuffix, kind, rows, rowType(d), row, bits, call, value)
}

// pairOf writes the function that applies the function of a kernel of halves to both halves of its operands, and returns its name.
func pairOf(w *strings.Builder, k *directive.Kernel, lane string) string {
	var params, low, high []string
	for i, p := range k.Params {
		name := fmt.Sprint("p", i)
		switch {
		case p.Type != "":
			params = append(params, "u32 "+name)
			low, high = append(low, "(u16)"+name), append(high, "(u16)("+name+" >> 16)")
		case p.Value == "instr.Imm":
			params = append(params, "u64 "+name)
			low, high = append(low, name), append(high, name)
		}
	}
	name := lane + "_pair"
	fmt.Fprintf(w, "GO u32 %s(%s) { return %[3]s(%s) | (u32)%[3]s(%[5]s) << 16; }\n", name, strings.Join(params, ", "), lane, strings.Join(low, ", "), strings.Join(high, ", "))
	return name
}

// scalarOf writes the stencil that executes a kernel once, on the bases of shadows and on uniform predicates, for compact
// execution (compact.c). Kernels with a predicate as result have none, except comparisons.
func scalarOf(w *strings.Builder, k *directive.Kernel, lane string) {
	d := k.Results[0]
	if d == "bool" && !k.Compare {
		return
	}
	var args []string
	i := 0
	for _, p := range k.Params {
		if p.Type == "" {
			if p.Value == "instr.Imm" {
				args = append(args, "(u64)NUMBER(H0)")
			}
			continue
		}
		x, kind := letters[i], "r_shadows"
		switch directive.Slot(p.Type) {
		case "P":
			args = append(args, fmt.Sprintf("(PREDICATE(%c) & (u32)m) != 0", x))
			i++
			continue
		case "Q":
			kind = "q_shadows"
		}
		args = append(args, fmt.Sprintf("(%s)*(const %s *)&SHADOW(%c, %s)->base", cTypes[p.Type], rowType(p.Type), x, kind))
		i++
	}
	fmt.Fprintf(w, "STENCIL(scalar_%s) {\n\t__auto_type r = %s(%s);\n", strings.TrimPrefix(k.Name, "k_"), lane, strings.Join(args, ", "))
	v := "r"
	if len(k.Results) == 2 {
		v = "r.r"
		fmt.Fprintf(w, "\tu32 *f = AT(u32, F, P);\n\t*f = *f & ~(u32)m | -(u32)r.c & (u32)m;\n")
	}
	switch {
	case k.Compare:
		v = "r ? 0xffffffff : 0"
	case d == "float32":
		v = "__builtin_bit_cast(u32, " + v + ")"
	case d == "float64":
		v = "__builtin_bit_cast(u64, " + v + ")"
	case directive.Slot(d) == "Q":
		v = "(u64)" + v
	default:
		v = fmt.Sprintf("(u32)(u%s)%s", strings.TrimLeft(cTypes[d], "us"), v)
	}
	fmt.Fprintf(w, "\toutcome = %s;\n\tspare = 0;\n\tNEXT;\n}\n", v)
}

// allPredicates reports whether all operands are predicates.
func allPredicates(k *directive.Kernel) bool {
	return !slices.ContainsFunc(k.Params, func(p directive.Param) bool { return p.Type != "bool" })
}

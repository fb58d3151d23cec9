package lower

// This file lowers video instructions (manual 9.7.18). Each becomes one operation, whose Imm is an
// alu.Video; before it, prmt chooses the elements of packed sources with selectors.

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// videoOps maps names of instructions and comparisons to operations.
var videoOps = map[string]alu.VideoOp{
	"vadd": alu.VideoAdd, "vsub": alu.VideoSub, "vabsdiff": alu.VideoAbsDiff, "vmin": alu.VideoMin, "vmax": alu.VideoMax,
	"vadd2": alu.VideoAdd, "vsub2": alu.VideoSub, "vabsdiff2": alu.VideoAbsDiff, "vmin2": alu.VideoMin, "vmax2": alu.VideoMax, "vavrg2": alu.VideoAvrg,
	"vadd4": alu.VideoAdd, "vsub4": alu.VideoSub, "vabsdiff4": alu.VideoAbsDiff, "vmin4": alu.VideoMin, "vmax4": alu.VideoMax, "vavrg4": alu.VideoAvrg,
	"vshl": alu.VideoShl, "vshr": alu.VideoShr,
	"eq": alu.VideoEq, "ne": alu.VideoNe, "lt": alu.VideoLt, "le": alu.VideoLe, "gt": alu.VideoGt, "ge": alu.VideoGe,
}

// videoSeconds maps modifiers to the second operation, which combines the result with operand c.
var videoSeconds = map[string]alu.VideoSecond{
	"": alu.VideoMerge, "add": alu.VideoAccumulate, "min": alu.VideoSecondMin, "max": alu.VideoSecondMax,
}

// videoLanes has the operation by number of lanes, and videoLogs the logarithm of the size of an element, in bytes.
var (
	videoLanes = [...]code.Op{1: code.VideoB32, 2: code.VideoX2B32, 4: code.VideoX4B32}
	videoLogs  = [...]int{1: 2, 2: 1, 4: 0}
)

// videoShifts maps the scale modifiers of vmad to right shifts of its result, in bits.
var videoShifts = map[string]int{"": 0, "shr7": 7, "shr15": 15}

func lowerVideo(l *lowerer, instr *ptx.Instr) {
	lanes := instr.VideoLanes()
	name := instr.Slot("cmp")
	if name == "" {
		name = instr.Op.Name
	}
	product := instr.Form.Family == ptx.FamilyVmad
	second := instr.Slot("op2")
	if second == "" && instr.Has("add") {
		second = "add"
	}
	d := instr.Arg("d")
	v := alu.Video{
		Second: lookUp(videoSeconds, second),
		A:      videoElems(instr, "a"),
		B:      videoElems(instr, "b"),
		Log:    videoLogs[lanes],
		Mask:   1<<lanes - 1,
		Signed: instr.SlotType("dtype").IsSigned(),
		Sat:    instr.Has("sat"), Wrap: instr.Has("wrap"), PlusOne: instr.Has("po"),
		Shift: lookUp(videoShifts, instr.Slot("scale")),
	}
	if sel := d.Sel(); sel != "" && lanes == 1 {
		v.Log, v.At = partOf(sel)
	} else if sel != "" {
		v.Mask = 0
		for _, digit := range sel[1:] {
			v.Mask |= 1 << (digit - '0')
		}
	}
	// plain returns the row of the named operand without its sign, which is in Imm.
	plain := func(name string) int32 {
		o := instr.Arg(name)
		p := *o
		p.Neg = false
		return l.source(&p, instr.OperandType(instr.Form.Operand(name)), code.R)
	}
	a, b := plain("a"), plain("b")
	o := code.Instr{Op: videoLanes[lanes], A: l.chosen(instr, "a", a, b), B: l.chosen(instr, "b", a, b)}
	if o.C = l.constant(code.R, 0); instr.Arg("c").Kind != ptx.NoOperand {
		o.C, v.NegC = plain("c"), instr.Arg("c").Neg
	}
	if product {
		o.Op, o.Imm = code.VmadB32, v.VmadImm()
	} else {
		v.Op = lookUp(videoOps, name)
		o.Imm = v.Imm()
	}
	o.D = l.target(d, code.R)
	l.emit(o)
}

// videoElems returns the elements of the named source. A selector of a scalar instruction chooses one of them.
func videoElems(instr *ptx.Instr, name string) alu.VideoElems {
	o, lanes := instr.Arg(name), instr.VideoLanes()
	e := alu.VideoElems{Log: videoLogs[lanes], Signed: instr.OperandType(instr.Form.Operand(name)).IsSigned(), Neg: o.Neg}
	if lanes == 1 {
		e.Log, e.At = partOf(o.Sel())
	}
	return e
}

// chosen returns a row with the elements of a and b that the selector of the named source of a packed instruction chooses. Without
// a selector it is the source itself.
func (l *lowerer) chosen(instr *ptx.Instr, name string, a, b int32) int32 {
	row := a
	if name == "b" {
		row = b
	}
	sel, lanes := instr.Arg(name).Sel(), instr.VideoLanes()
	if sel == "" || lanes == 1 {
		return row
	}
	bytes := uint64(0) // of prmt: the index of each byte in the pair of a and b
	for i := range 4 {
		size := 4 / lanes
		index := int(sel[len(sel)-1-i/size] - '0')
		bytes |= uint64(index*size+i%size) << (4 * i)
	}
	d := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.PrmtB32, D: d, A: a, B: b, C: l.constant(code.R, bytes)})
	return d
}

// partOf returns the part of a register that the selector of a scalar instruction names: part index, counted from 0 in
// parts of 1 << log bytes. Without a selector it is the whole register.
func partOf(sel string) (log, index int) {
	switch {
	case sel == "":
		return 2, 0
	case sel[0] == 'h':
		return 1, int(sel[1] - '0')
	}
	return 0, int(sel[1] - '0')
}

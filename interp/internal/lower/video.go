package lower

// This file lowers video instructions (manual 9.7.18). Each becomes one operation whose Imm is an alu.Video.

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
		Second: lookUp(videoSeconds, second), Lanes: lanes,
		A:      l.videoElems(instr, "a", 0),
		B:      l.videoElems(instr, "b", 1),
		Log:    [...]int{1: 2, 2: 1, 4: 0}[lanes],
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
	o := code.Instr{Op: code.VideoB32, D: l.target(d, code.R), A: plain("a"), B: plain("b")}
	if o.C = l.constant(code.R, 0); instr.Arg("c").Kind != ptx.NoOperand {
		o.C, v.NegC = plain("c"), instr.Arg("c").Neg
	}
	if product {
		o.Op = code.VmadB32
	} else {
		v.Op = lookUp(videoOps, name)
	}
	o.Imm = v.Imm()
	l.emit(o)
}

// videoElems returns the elements that the selector of the named source chooses; index is 0 for a and 1 for b.
func (l *lowerer) videoElems(instr *ptx.Instr, name string, index int) alu.VideoElems {
	o := instr.Arg(name)
	e := alu.VideoElems{Signed: instr.OperandType(instr.Form.Operand(name)).IsSigned(), Neg: o.Neg}
	sel := o.Sel()
	lanes := instr.VideoLanes()
	switch {
	case lanes == 1:
		e.Log, e.At[0] = partOf(sel)
		e.At[0] += index * 4 >> e.Log
		return e
	case lanes == 2:
		e.Log = 1
	}
	for i := range lanes {
		if e.At[i] = index*lanes + i; sel != "" {
			e.At[i] = int(sel[len(sel)-1-i] - '0')
		}
	}
	return e
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

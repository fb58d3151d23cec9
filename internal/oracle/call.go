package oracle

// This file has calls, frames and the functions that the driver provides (manual 9.7.12.5, 7.1; vprintf, malloc, free
// and __assertfail of the CUDA device runtime).

import (
	"fmt"
	"slices"
	"strings"

	"gemu/ptx"
)

// A thread's local memory is a stack that grows upwards; docs/addresses.md describes its layout.
const (
	stackBottom = 0x10 // first offset of the stack
	frameAlign  = 16
	stackAlign  = 4 // alignment of the stack's end, and of variables in a frame
)

// pushFrame begins an activation of fn. args has the bytes of each argument.
func (t *thread) pushFrame(fn *ptx.Func, args [][]byte) {
	f := &frame{fn: fn, block: fn.Blocks[0], regs: make([]value, len(fn.Regs)), vars: map[*ptx.Var]uint64{}, base: t.sp, caller: t.instr}
	if uint64(len(t.frames)) >= t.machine.stackLimit/frameAlign {
		t.trap(KindStack, "%d calls deep", len(t.frames))
	}
	vars := frameVars(fn)
	sp := align(t.sp, frameAlign)
	for _, v := range vars {
		sp = align(sp, uint64(v.Alignment())) // powers of two: the largest alignment wins
	}
	for _, v := range vars {
		sp = align(sp, uint64(max(v.Alignment(), stackAlign)))
		f.vars[v] = sp
		sp += uint64(t.machine.varSize(v))
	}
	if !fn.Entry { // the module's variables are in the kernel's frame
		_, vars := fn.Statics()
		_, kernels := t.frames[0].fn.Statics()
		for i, v := range vars {
			f.vars[v] = t.frames[0].vars[kernels[i]]
		}
		t.copyModuleRegs(f, t.currentFrame())
	}
	sp = align(sp, stackAlign)
	t.growStack(sp)
	clear(t.local[f.base:sp])
	t.frames = append(t.frames, f)
	if fn.Entry {
		return
	}
	for i, arg := range args {
		t.setVar(fn.Params[i], arg)
	}
}

// copyModuleRegs copies the module's registers from a function's frame to the frame of another function.
func (t *thread) copyModuleRegs(to, from *frame) {
	moduleRegs, _ := to.fn.Statics()
	regs, _ := from.fn.Statics()
	for i, r := range moduleRegs {
		to.regs[r] = from.regs[regs[i]]
		t.logWrite(to.fn, r, to.regs[r])
	}
}

// frameVars returns the variables in the frame of a function, in order. The parameters of a kernel are in the parameter
// block; variables of the module are in the kernel's frame.
func frameVars(fn *ptx.Func) []*ptx.Var {
	list := fn.Vars
	if _, shared := fn.Statics(); !fn.Entry {
		list = slices.Concat(fn.Params, fn.Rets, fn.Vars[len(shared):])
	}
	return slices.DeleteFunc(slices.Clone(list), func(v *ptx.Var) bool { return v.Space != ptx.Local && v.Space != ptx.Param })
}

// growStack moves the end of the stack to sp.
func (t *thread) growStack(sp uint64) {
	if sp > t.machine.stackLimit || sp < t.sp {
		t.trap(KindStack, "%d bytes of local memory, the limit is %d", sp, t.machine.stackLimit)
	}
	if n := sp - uint64(len(t.local)); sp > uint64(len(t.local)) {
		t.local = append(t.local, make([]byte, n)...)
	}
	t.sp = sp
}

// setVar assigns a value to a parameter or variable of the current frame.
func (t *thread) setVar(v *ptx.Var, p []byte) {
	if v.Reg != ptx.NoReg {
		t.write(&ptx.Operand{Kind: ptx.RegOperand, Reg: v.Reg}, v.Type, valueOf(p))
		return
	}
	copy(t.local[t.currentFrame().vars[v]:], p)
}

// getVar returns the value of a parameter or variable of the current frame.
func (t *thread) getVar(v *ptx.Var) []byte {
	if v.Reg != ptx.NoReg {
		return bytesOf(t.currentFrame().regs[v.Reg], v.Type.Size())
	}
	return append([]byte(nil), t.local[t.currentFrame().vars[v]:][:t.machine.varSize(v)]...)
}

// popFrame ends the current activation and passes its results to the caller; for a kernel it ends the thread.
func (t *thread) popFrame() {
	f := t.currentFrame()
	if f.caller == nil {
		exit(t)
		return
	}
	var results [][]byte
	for _, v := range f.fn.Rets {
		results = append(results, t.getVar(v))
	}
	t.frames = t.frames[:len(t.frames)-1]
	t.copyModuleRegs(t.currentFrame(), f)
	t.sp = f.base
	t.instr = f.caller
	t.takeResults(results)
	if p := t.instr.Pending; p != nil { // a wait in the called function may have completed it
		for _, r := range p.Writes {
			t.logWrite(t.currentFrame().fn, r, t.currentFrame().regs[r])
		}
	}
}

// takeResults stores a call's results in the operands of the caller.
func (t *thread) takeResults(results [][]byte) {
	for i := range t.instr.Call.Rets {
		o := &t.instr.Call.Rets[i]
		if v, ok := o.Sym().(*ptx.Var); ok && o.Kind == ptx.SymOperand {
			t.setVar(v, results[i])
		} else if o.Kind == ptx.RegOperand {
			t.write(o, t.currentFrame().fn.Regs[o.Reg].Type, valueOf(results[i]))
		}
	}
}

// call (9.7.12.5) calls a function, by name or by address.
func call(t *thread) {
	c := t.instr.Call
	fn, _ := c.Target.Sym().(*ptx.Func)
	if c.Target.Kind == ptx.RegOperand {
		addr := t.read(&c.Target, ptx.NoType).lo
		if fn = t.machine.mod.functionAt(addr); fn == nil {
			t.trap(KindCall, "no function is at %#x", addr)
		}
		t.checkPrototype(c, fn)
	}
	if fn.Entry {
		t.trap(KindCall, "%s is a kernel", fn.Name)
	}
	minimum := len(fn.Params)
	if minimum > 0 && fn.Params[minimum-1].Unbounded() {
		minimum-- // an unbounded parameter may be omitted
	}
	if len(c.Args) < minimum || len(c.Args) > len(fn.Params) || len(c.Rets) > len(fn.Rets) {
		t.trap(KindCall, "%d arguments and %d results, %s has %d and %d", len(c.Args), len(c.Rets), fn.Name, len(fn.Params), len(fn.Rets))
	}
	args := make([][]byte, len(c.Args))
	for i := range args {
		args[i] = t.argument(&c.Args[i], fn.Params[i])
	}
	for i := range c.Rets {
		if c.Rets[i].Kind == ptx.SinkOperand {
			continue
		}
		if n := t.resultSize(&c.Rets[i]); n != fn.Rets[i].Size() {
			t.trap(KindCall, "result %d has %d bytes, %s gives %d", i+1, n, fn.Name, fn.Rets[i].Size())
		}
	}
	if fn.Defined {
		t.pushFrame(fn, args)
		return
	}
	provided := builtins[fn.Name]
	if provided == nil {
		t.unsupported()
	}
	var values [4]uint64
	for i, a := range args[:min(len(args), len(values))] {
		values[i] = valueOf(a).lo
	}
	result := provided(t, values)
	if len(c.Rets) > 0 {
		t.takeResults([][]byte{bytesOf(value{lo: result}, fn.Rets[0].Size())})
	}
}

// checkPrototype traps unless a call through an address may reach the function: it must be in the list of targets or in
// the call table, or have the sizes and alignments of the prototype.
func (t *thread) checkPrototype(c *ptx.Call, fn *ptx.Func) {
	if c.List != nil && c.List.Proto != nil {
		layout := func(f *ptx.Func) string {
			var s strings.Builder
			for _, list := range [][]*ptx.Var{f.Rets, f.Params} {
				for _, v := range list {
					fmt.Fprintf(&s, "%d bytes aligned to %d", v.Size(), v.Alignment())
					if v.Unbounded() {
						s.WriteString(" or more")
					}
					if v.Type == ptx.Pred {
						s.WriteString(" as a predicate")
					}
					s.WriteString(", ")
				}
				s.WriteString("; ")
			}
			return s.String()
		}
		if want, got := layout(c.List.Proto), layout(fn); want != got {
			t.trap(KindCall, "prototype %s (%s) passes %s and %s (%s) takes %s", c.List.Name, c.List.Pos, want, fn.Name, fn.Pos, got)
		}
		return
	}
	var candidates []*ptx.Func
	if c.List != nil {
		candidates = c.List.Funcs
	} else {
		for _, e := range c.Var.Init {
			if f, ok := e.Sym.(*ptx.Func); ok {
				candidates = append(candidates, f)
			}
		}
	}
	if !slices.ContainsFunc(candidates, func(f *ptx.Func) bool { return f.Name == fn.Name }) {
		t.trap(KindCall, "%s (%s) is not among the targets of the call", fn.Name, fn.Pos)
	}
}

// argument returns the bytes of an argument, in the size of the parameter.
func (t *thread) argument(o *ptx.Operand, param *ptx.Var) []byte {
	var p []byte
	v, isVar := o.Sym().(*ptx.Var)
	_, inFrame := t.currentFrame().vars[v]
	addr, isKernelParam := t.machine.params[v]
	switch {
	case o.Kind == ptx.SymOperand && isVar && inFrame:
		p = t.getVar(v)
	case o.Kind == ptx.SymOperand && isVar && isKernelParam:
		p = t.machine.dev.params.data[addr-paramBlock:][:v.Size()]
	case o.Kind == ptx.RegOperand:
		p = bytesOf(t.read(o, ptx.NoType), t.currentFrame().fn.Regs[o.Reg].Type.Size())
	default:
		p = bytesOf(t.read(o, param.Type), param.Type.Size())
	}
	if !param.Unbounded() && len(p) != param.Size() {
		t.trap(KindCall, "argument %s has %d bytes, not %d", param.Name, len(p), param.Size())
	}
	return p
}

func (t *thread) resultSize(o *ptx.Operand) int {
	if v, ok := o.Sym().(*ptx.Var); ok {
		return v.Size()
	}
	return t.currentFrame().fn.Regs[o.Reg].Type.Size()
}

// builtins are the callable functions without a body, with their arguments as integers.
var builtins = map[string]func(t *thread, args [4]uint64) uint64{
	"vprintf":      vprintf,
	"malloc":       malloc,
	"free":         free,
	"__assertfail": assertfail,
}

// vprintf(format, args) formats and prints; see printf.go.
func vprintf(t *thread, args [4]uint64) uint64 {
	if args[0] == 0 {
		return low(^uint64(0), 32) // -1
	}
	s, n := t.sprintf(t.cstring(args[0]), args[1])
	t.machine.printed[t.cta.cluster.firstCTA+t.cta.rank] += s
	return uint64(n)
}

// cstring reads the characters at a generic address up to a NUL.
func (t *thread) cstring(addr uint64) string {
	var s strings.Builder
	for ; ; addr++ {
		c := t.load(ptx.Generic, addr, 1)[0]
		if c == 0 {
			return s.String()
		}
		s.WriteByte(c)
	}
}

func malloc(t *thread, args [4]uint64) uint64 { return t.machine.dev.Malloc(args[0]) }

func free(t *thread, args [4]uint64) uint64 {
	switch a := t.machine.dev.findAllocation(args[0]); {
	case args[0] == 0:
	case a == nil || a.kind != heap || a.base != args[0]:
		t.trap(KindHeap, "free of %#x, which malloc has not given or free has taken back", args[0])
	default:
		t.machine.dev.Free(args[0])
	}
	return 0
}

// assertfail(message, file, line, function, charsize) is called by a failed assert.
func assertfail(t *thread, args [4]uint64) uint64 {
	c := t.cta.id
	t.trap(KindAssert, "%s", fmt.Sprintf("%s:%d: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.",
		t.cstring(args[1]), uint32(args[2]), t.cstring(args[3]), c[0], c[1], c[2], t.tid[0], t.tid[1], t.tid[2], t.cstring(args[0])))
	return 0
}

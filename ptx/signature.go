package ptx

// This file prints the signatures of functions and prototypes, compares the prototype of an indirect call with the called
// function, and finds the possible functions of such a call.

import (
	"fmt"
	"strings"
)

// Signature returns the results and parameters of a function or prototype in PTX notation, without names: "(.param
// .b32) (.param .align 8 .b8[16], .reg .u64)". An empty list is "()".
func (f *Func) Signature() string {
	list := func(vars []*Var) string {
		var b strings.Builder
		for i, v := range vars {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, ".%s ", v.Space)
			if v.Align > 0 {
				fmt.Fprintf(&b, ".align %d ", v.Align)
			}
			b.WriteString(v.Type.String())
			for _, n := range v.Dims {
				if n < 0 {
					b.WriteString("[]")
				} else {
					fmt.Fprintf(&b, "[%d]", n)
				}
			}
		}
		return "(" + b.String() + ")"
	}
	return list(f.Rets) + " " + list(f.Params)
}

// Mismatch returns the difference between the signatures of the function and of a prototype, "" if a call through the
// prototype passes the right values. Sizes and alignments count, as in the calling convention. Types of the same size
// are equivalent, and so are parameters in .reg and in .param space.
func (f *Func) Mismatch(proto *Func) string {
	compare := func(noun string, want, have []*Var) string {
		if len(want) != len(have) {
			return fmt.Sprintf("%s instead of %d", counted(len(have), noun), len(want))
		}
		for i := range want {
			if msg := parameterMismatch(want[i], have[i]); msg != "" {
				return fmt.Sprintf("%s %d %s", noun, i+1, msg)
			}
		}
		return ""
	}
	if msg := compare("result", proto.Rets, f.Rets); msg != "" {
		return msg
	}
	return compare("parameter", proto.Params, f.Params)
}

// parameterMismatch returns the difference of two parameters or results in the calling convention, "" if there is none.
func parameterMismatch(want, have *Var) string {
	switch {
	case want.Unbounded() != have.Unbounded():
		return "is an array without a size in only one of them"
	case want.Size() != have.Size():
		return fmt.Sprintf("has %d bytes instead of %d", have.Size(), want.Size())
	case want.Alignment() != have.Alignment():
		return fmt.Sprintf("is aligned to %s instead of %d", counted(have.Alignment(), "byte"), want.Alignment())
	case (want.Type == Pred) != (have.Type == Pred):
		return "is a predicate in only one of them"
	}
	return ""
}

// counted returns a number with its noun, in the singular or plural.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Targets returns the possible functions of a call through an address, from its list of targets or its call table.
// known is false for a direct call, and for a call with a prototype, which may reach any function.
func (c *Call) Targets() (list []*Func, known bool) {
	switch {
	case c.Target.Kind != RegOperand:
	case c.Var != nil:
		return c.Var.functions(), true
	case c.List != nil && c.List.Proto == nil:
		return c.List.Funcs, true
	}
	return nil, false
}

// functions returns the functions in the initialiser of a variable.
func (v *Var) functions() []*Func {
	var list []*Func
	for _, e := range v.Init {
		if f, ok := e.Sym.(*Func); ok {
			list = append(list, f)
		}
	}
	return list
}

package ptx

import (
	"fmt"
	"io"
	"strings"

	"gemu/ptx/internal/syntax"
)

// FprintSyntax parses a source and writes its syntax tree, before names and opcodes are looked up. The error is an
// ErrorList of the syntax errors; the tree of the valid statements is written nevertheless.
func FprintSyntax(w io.Writer, name string, src []byte) error {
	f, errs := syntax.Parse(name, string(src))
	errs = append(errs, f.Load()...)
	syntax.Fprint(w, f)
	if len(errs) == 0 {
		return nil
	}
	var list ErrorList
	for _, e := range errs {
		list = append(list, &Error{File: name, Pos: Pos(e.Pos), Msg: e.Msg, Hint: e.Hint, Line: sourceLine(string(src), int(e.Pos.Line))})
	}
	return list
}

// FprintCFG writes the control-flow graph of a function: its blocks with successors, immediate post-dominators and the
// registers live on entry.
func FprintCFG(w io.Writer, f *Func) {
	fmt.Fprintf(w, "%s: %d blocks, %d registers\n", f.Name, len(f.Blocks), len(f.Regs))
	ipdom := f.ImmediatePostDominators()
	live := f.Liveness()
	name := func(i int) string {
		if i < 0 {
			return "exit"
		}
		return fmt.Sprintf("B%d", i)
	}
	for i, b := range f.Blocks {
		var succs []string
		for _, s := range b.Succs {
			succs = append(succs, name(s.Index))
		}
		if f.MayLeave(b) {
			succs = append(succs, "exit")
		}
		fmt.Fprintf(w, "%s", name(i))
		if len(b.Labels) > 0 {
			fmt.Fprintf(w, " (%s)", strings.Join(b.Labels, " "))
		}
		fmt.Fprintf(w, ": %d instructions", len(b.Instrs))
		if len(b.Instrs) > 0 {
			fmt.Fprintf(w, ", lines %d-%d", b.Instrs[0].Pos.Line, b.Instrs[len(b.Instrs)-1].Pos.Line)
		}
		fmt.Fprintf(w, "\n  -> %s\n  reconverges at %s\n", strings.Join(succs, " "), name(ipdom[i]))
		var regs []string
		for r := range live.EachLiveIn(i) {
			regs = append(regs, f.Regs[r].Name)
		}
		if len(regs) > 0 {
			fmt.Fprintf(w, "  live in: %s\n", strings.Join(regs, " "))
		}
	}
}

// Command mutants writes small modules, a JSON object on each line, with the verdict of package ptx: a correct
// instruction of each form of the table, then the same with reordered or doubled modifiers, and with operands of
// different kinds or numbers. testdata/ptxas.py compares the verdicts with NVIDIA's assembler.
//
//	mutants [OPCODE ...]
//	mutants -forms [N] [OPCODE ...]
//	mutants -list <instructions, one JSON object on each line
//
// With -forms it writes each form with every combination of its modifiers, and instructions that differ from these in
// a modifier or in the type of a register; with N, about N of each kind for a form.
//
// With -list it reads instructions, and writes for each the verdict of package ptx, and the .version and target in the
// table.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// A mutant is a module that differs from a valid module in a single instruction.
type mutant struct {
	Base  string // the changed opcode
	Kind  string // kind of change, "" if unchanged
	Text  string // the instruction
	Src   string // source of the module; empty with -forms, where all modules are alike
	Decls string // declarations of the instruction's registers
	Error string // error of package ptx; "" if it accepts the module
	PTX   string // with -forms, the first version with the form
}

// perForm bounds the number of changed variants of a form.
const perForm = 2

func main() {
	args := os.Args[1:]
	if len(args) == 1 && args[0] == "-list" {
		if err := listed(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	sweep := len(args) > 0 && args[0] == "-forms"
	limit := 1 << 30
	if sweep {
		args = args[1:]
		if len(args) > 0 {
			if n, err := strconv.Atoi(args[0]); err == nil {
				limit, args = n, args[1:]
			}
		}
	}
	buffer := bufio.NewWriter(os.Stdout)
	out := json.NewEncoder(buffer)
	seen := map[string]bool{}
	emit := func(m mutant) {
		src := m.Src
		if sweep {
			src = ptx.ExampleModule([]string{m.Decls}, m.Text)
		}
		if seen[src] {
			return
		}
		seen[src] = true
		if _, err := ptx.Parse("mutant.ptx", []byte(src)); err != nil {
			m.Error = err.Error()
		}
		if err := out.Encode(m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, op := range ptx.Ops() {
		if len(args) > 0 && !slices.Contains(args, op.Name) {
			continue
		}
		for _, f := range op.Forms() {
			if sweep {
				if !f.Abolished() {
					forms(f, limit, emit)
				}
				continue
			}
			for _, v := range variants(f) {
				for _, m := range mutants(v) {
					emit(m)
				}
			}
		}
	}
	if err := buffer.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// variants returns variants of a form with as many modifiers as possible.
func variants(f *ptx.Form) []*ptx.Variant {
	all := f.Variants()
	slices.SortStableFunc(all, func(a, b *ptx.Variant) int { return strings.Count(b.Text, ".") - strings.Count(a.Text, ".") })
	var list []*ptx.Variant
	seen := map[string]bool{}
	for _, v := range all {
		isNew := len(list) == 0
		for _, m := range strings.Split(v.Text, ".")[1:] {
			isNew = isNew || !seen[m]
			seen[m] = true
		}
		if isNew && len(list) < perForm && v.Form == f && v.Example() != "" {
			list = append(list, v)
		}
	}
	return list
}

func mutants(v *ptx.Variant) []mutant {
	src := v.Example()
	decls, _ := v.Write(ptx.Writing{})
	at := strings.Index(src, "\t"+v.Text) + 1
	end := at + strings.IndexByte(src[at:], ';')
	text := src[at:end]
	operands := split(strings.TrimPrefix(text, v.Text))
	var list []mutant
	add := func(kind, opcode string, operands []string) {
		text := strings.TrimSpace(opcode + " " + strings.Join(operands, ", "))
		if !slices.ContainsFunc(list, func(m mutant) bool { return m.Text == text }) {
			list = append(list, mutant{Base: v.Text, Kind: kind, Text: text, Src: src[:at] + text + src[end:], Decls: strings.Join(decls, " ")})
		}
	}
	add("", v.Text, operands)
	words := strings.Split(v.Text, ".")
	for i := 1; i < len(words); i++ {
		add("modifier twice", strings.Join(slices.Insert(slices.Clone(words), i, words[i]), "."), operands)
		rest := slices.Delete(slices.Clone(words), i, i+1)
		add("modifier missing", strings.Join(rest, "."), operands)
		for _, j := range []int{1, i + 1, len(rest)} { // to the front, after the next, to the end
			add("modifier moved", strings.Join(slices.Insert(slices.Clone(rest), min(j, len(rest)), words[i]), "."), operands)
		}
	}
	for i, o := range operands {
		add("operand missing", v.Text, slices.Delete(slices.Clone(operands), i, i+1))
		for _, other := range []string{"_", "1", "1.0", "0f3F800000", "{" + o + ", " + o + "}", "[g]", "g", o + "+4", "!" + o} {
			with := slices.Clone(operands)
			with[i] = other
			add("operand "+strings.Replace(other, o, "x", 2), v.Text, with)
		}
	}
	if len(operands) > 0 {
		add("operand more", v.Text, append(slices.Clone(operands), operands[len(operands)-1]))
		add("operand more", v.Text, append(slices.Clone(operands), "1"))
	}
	return list
}

// split splits a list of operands at the commas outside brackets.
func split(s string) []string {
	var list []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" {
		list = append(list, last)
	}
	return list
}

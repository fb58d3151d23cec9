package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gemu/ptx"
)

// listedModule is a module with a listed instruction. Package ptx accepts a form that is newer than the module's
// .version.
const listedModule = ".version 9.5\n.target sm_100a\n.address_size 64\n.entry listed() {\n%s\n%s\nret;\n}\n"

// A listed instruction comes from a list that was not made from the instruction table.
type listedInstruction struct {
	Decls string // the registers that Text names
	Text  string // an instruction, or a block of instructions
}

// A verdict is the answer of package ptx to a listed instruction.
type verdict struct {
	Error  string // the reason for which the module is refused; "" if it is taken
	NotRun bool   // the table has the form, and gemu does not run it
	PTX    string // the lowest .version of the table for all instructions of the text
	SM     int    // the lowest sm_NN, likewise
}

// listed writes a verdict for each listed instruction.
func listed(in io.Reader, out io.Writer) error {
	read, write := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var l listedInstruction
		if err := read.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := write.Encode(judge(l)); err != nil {
			return err
		}
	}
}

func judge(l listedInstruction) (v verdict) {
	m, err := ptx.Parse("listed.ptx", fmt.Appendf(nil, listedModule, l.Decls, l.Text))
	if err != nil {
		v.Error = err.Error()
		return v
	}
	var lowest ptx.Version
	for _, k := range m.Kernels() {
		for _, b := range k.Blocks {
			for i := range b.Instrs {
				instr := b.Instrs[i]
				version, sm := instr.Since()
				v.NotRun = v.NotRun || instr.Form.Family == ptx.FamilyNone
				v.SM = max(v.SM, sm)
				if lowest.Less(version) {
					lowest = version
				}
			}
		}
	}
	v.PTX = fmt.Sprint(lowest)
	return v
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/ptx"
)

// maxCombinations bounds the combinations of a form's modifiers. The few forms with more are sampled; the sample
// contains every pair of modifiers.
const maxCombinations = 20000

// sample returns at most n mutants, always the same mutants.
func sample(list []mutant, n int) []mutant {
	if len(list) <= n {
		return list
	}
	random := rand.New(rand.NewPCG(uint64(len(list)), uint64(n)))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:n]
}

// commonModifiers are tried with every instruction.
var commonModifiers = []string{
	"abs", "aligned", "approx", "cc", "ftz", "full", "gpu", "hi", "lo", "NaN", "noftz", "relaxed", "relu", "rn", "rna", "rni", "rs", "rz", "sat", "satfinite",
	"sync", "uni", "v2", "v4", "v8", "volatile", "weak", "wide", "xorsign", "global", "shared", "L1::no_allocate", "L2::64B",
}

// types returns all types except texture types.
func types() (list []ptx.Type) {
	for t := ptx.Pred; t < ptx.TexRef; t++ {
		list = append(list, t)
	}
	return list
}

// forms passes the instructions of a form to emit: every combination of its modifiers, then instructions that differ
// from them in a modifier or in the type of a register; at most about limit of each kind.
func forms(f *ptx.Form, limit int, emit func(mutant)) {
	var list []mutant
	flush := func() {
		for _, m := range sample(list, limit) {
			emit(m)
		}
		list = nil
	}
	write := func(v *ptx.Variant, base, kind string, w ptx.Writing) {
		decls, text := v.Write(w)
		list = append(list, mutant{Base: base, Kind: kind, Text: text, Decls: strings.Join(decls, " "), PTX: v.Form.MinPTX.String()})
	}
	opcodes, _ := f.Combinations(min(limit, maxCombinations))
	for _, opcode := range opcodes {
		v, err := ptx.LookupVariant(opcode)
		if err != nil || v.Form != f {
			continue // it belongs to another form
		}
		write(v, opcode, "", ptx.Writing{})
		write(v, opcode, "all operands", ptx.Writing{Optional: true})
		write(v, opcode, "pair", ptx.Writing{NoPair: true})
		write(v, opcode, "other shape", ptx.Writing{AlternateShape: true})
		for n := 1; n <= 5; n++ {
			write(v, opcode, fmt.Sprint("length ", n), ptx.Writing{Optional: true, Length: n})
			write(v, opcode, fmt.Sprint("length ", n), ptx.Writing{Length: n})
		}
	}
	for _, m := range list {
		emit(m)
	}
	list = nil
	// The first few variants of each choice of types.
	var registers []func()
	perType := map[string]int{}
	for _, v := range f.Variants() {
		if v.Form != f {
			continue
		}
		key := ""
		for _, t := range v.Types() {
			key += t.String()
		}
		mods := v.Modifiers()
		if perType[key]++; perType[key] <= 12 {
			for i, old := range mods {
				others := f.Op.Modifiers()
				if ptx.TypeByName(old) != ptx.NoType {
					others = nil
					for _, t := range types() {
						others = append(others, t.String()[1:])
					}
				}
				for _, m := range others {
					if w := v.Altered(i, m); w != nil && m != old {
						write(w, v.Text, "."+m+" for ."+old, ptx.Writing{})
					}
				}
			}
			decls, text := v.Write(ptx.Writing{})
			_, operands, _ := strings.Cut(text, " ")
			addOther := func(kind string, mods []string) {
				opcode := v.Mnemonic()
				for _, m := range mods {
					opcode += "." + m
				}
				list = append(list, mutant{Base: v.Text, Kind: kind, Text: strings.TrimSpace(opcode + " " + operands), Decls: strings.Join(decls, " "), PTX: f.MinPTX.String()})
			}
			at := slices.IndexFunc(mods, func(m string) bool { return ptx.TypeByName(m) != ptx.NoType })
			if at < 0 {
				at = len(mods)
			}
			for i, m := range mods {
				addOther("no ."+m, slices.Delete(slices.Clone(mods), i, i+1))
			}
			words := slices.Concat(f.Op.Modifiers(), commonModifiers)
			slices.Sort(words)
			for _, m := range slices.Compact(words) {
				if ptx.TypeByName(m) == ptx.NoType && !slices.Contains(mods, m) {
					addOther("."+m+" more", slices.Insert(slices.Clone(mods), at, m))
				}
			}
		}
		if perType[key] > 2 {
			continue
		}
		registers = append(registers, func() {
			decls, text := v.Write(ptx.Writing{})
			plain := strings.Join(decls, " ") + text
			for i := 1; i < 16; i++ {
				for _, t := range types() {
					if !t.IsFundamental() { // no register can have it
						continue
					}
					w := ptx.Writing{Operand: i, Type: t}
					decls, text := v.Write(w)
					if strings.Join(decls, " ")+text != plain {
						write(v, v.Text, "register "+t.String(), w)
					}
				}
			}
		})
	}
	flush()
	for _, add := range registers {
		add()
	}
	flush()
}

package systems

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gemu/internal/input"
	"gemu/internal/notation"
	"gemu/machine"
	"gemu/machine/zorua"
)

// Maker makes a system from its value. Another module can make one, for Extensions of package cli.
type Maker struct {
	Name string // name of the system: a word without + and =
	Doc  string // the system and its values, for help
	// New returns the system with a value, "" without one. Its name is NAME=VALUE, or NAME.
	New func(value string) (*machine.System, error)
}

// readFile reads the descriptors in a file.
func readFile(name string) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, input.FileError("read", name, err)
	}
	return Read(name, text)
}

// Makers are the systems of this package.
var Makers = []Maker{
	{Name: "ldesc", Doc: "Locality Descriptors: ldesc=auto infers them from the addresses of each launch, ldesc=FILE reads them, ldesc=program takes those of the program (pragmas of its kernels, gemu_descriptors of its host). They choose groups of CTAs, bypass and pin lines of the L1, and prefetch on machines with a clock", New: func(value string) (*machine.System, error) {
		switch value {
		case "":
			return nil, errors.New("want ldesc=auto, ldesc=program or ldesc=FILE")
		case "auto":
			return InferredLocality("ldesc=auto"), nil
		case "program":
			return ProgramLocality("ldesc=program"), nil
		}
		f, err := readFile(value)
		if err != nil {
			return nil, err
		}
		return LocalityDescriptors("ldesc="+value, f.Locality), nil
	}},
	{Name: "xmem", Doc: "XMem: xmem=FILE reads atoms, xmem=program takes those of the program. They reserve a part of the L2, and choose the banks of memory (--show rows)", New: func(value string) (*machine.System, error) {
		switch value {
		case "program":
			return ProgramAtoms("xmem=program"), nil
		case "", "auto":
			return nil, errors.New("want xmem=FILE or xmem=program; gemu machine --write-descriptors writes a file with atoms")
		}
		f, err := readFile(value)
		if err != nil {
			return nil, err
		}
		return Atoms("xmem="+value, f.Atoms), nil
	}},
	{Name: "caba", Doc: cabaDoc(), New: caba},
	{Name: "once", Doc: "compressed lines on machines with a clock, by the encodings of the registers that a warp stores: no routine and no logic compresses a line (docs/compress-once.md)", New: once},
	{Name: "inferred", Doc: "one inferred descriptor for each buffer: order (groups of CTAs), zones (of pages and CTAs), banks (of pages) and codec (of lines, on machines with a clock), or some of them, as in inferred=order-zones (docs/descriptors.md)", New: inferred},
	warpResources("zorua", "Zorua: registers, shared memory and thread slots for the phases of a warp (gemu phases), on machines with a clock; a part of them in memory, or, with zorua=noswap, no more than the least parallelism needs", map[string]zorua.Mode{"": zorua.Phases, "noswap": zorua.Resident}),
	warpResources("wlm", "warp-level management: registers for warps instead of CTAs, on machines with a clock", map[string]zorua.Mode{"": zorua.Registers}),
	warpResources("static", "all resources for CTAs, as without a system, with the counts of zorua", map[string]zorua.Mode{"": zorua.Blocks}),
}

// Find returns the systems of a text: NAME=VALUE, or several of these with + between them. A value may have plus signs, as paths have: a text
// after + is a part of the value before it if it does not begin with a word that can be the name of a system. more are the systems of other
// modules.
func Find(text string, more []Maker) (list []*machine.System, err error) {
	all := slices.Concat(Makers, more)
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	var parts []string
	for part := range strings.SplitSeq(text, "+") {
		name, _, _ := strings.Cut(part, "=")
		if len(parts) > 0 && !slices.Contains(names, name) && (name == "" || strings.ContainsAny(name, `./\`)) {
			parts[len(parts)-1] += "+" + part
		} else {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		i := slices.Index(names, name)
		if i < 0 {
			guess := notation.Nearest(name, names)
			if guess != "" {
				guess = fmt.Sprintf(" (did you mean %s?)", guess)
			}
			return nil, fmt.Errorf("unknown system %q%s; want one of %s", name, guess, strings.Join(names, ", "))
		}
		s, err := all[i].New(value)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	_, err = machine.CombineParts(list)
	return list, err
}

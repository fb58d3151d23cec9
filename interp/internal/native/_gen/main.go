// Command _gen compiles the stencils of the native engine and writes their machine code, with its holes, to tables.
// Run it by go generate in the directory of package native. It needs clang 19.
//
// A line of a table is a stencil: its name, its code and its holes. The tables of a host are
//
//	lanes       operations on rows of lanes
//	halves      arithmetic on rows of f16, bf16 and narrower formats
//	conversions conversions of rows
//	narrow      operations that handle fewer lanes at a time
//	agreed      operations that compare their results with shadows, for check mode
//	scalar      operations on single values, for compact execution
//	memory      accesses to memory
//	patterns    accesses with addresses of a known pattern
//	vectors     vectors of elements, and atomics
//	machine     control flow, the warp scheduler, check mode, collective instructions
//
// and their files are named TABLE_HOST.txt: hosts are amd64 (x86-64-v3), amd64_v4 (with AVX-512; its lines take precedence)
// and arm64. The file sums.txt records the sources of each host's tables.
//
// Read the files in this order: sources.go, lanes.go (the C of kernels of package alu), compile.go and object.go (machine
// code and its holes), table.go, sums.go. The translator of Go functions to C is in translate.go, value.go, ctype.go,
// expression.go, call.go, statement.go and branch.go. Handwritten C is in folder c: stencil.h explains a stencil.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"

	"gemu/interp/internal/native/disassembly"
)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "check that the tables were made of these sources, and write nothing")
	show := flag.String("show", "", "print the stencil with this `name` as assembly, and write nothing")
	only := flag.String("only", "", "only the tables of this `host`: amd64 or arm64")
	flag.Parse()
	if err := run(*check, *show, *only); err != nil {
		log.Fatal(err)
	}
}

// run executes the command in the directory of package native.
func run(check bool, show, only string) error {
	hosts := slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return only != "" && only != t.name })
	if len(hosts) == 0 {
		return fmt.Errorf("no stencils for host %q: hosts are amd64 and arm64", only)
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "gemu/interp/internal/native").Output()
	if err != nil {
		return fmt.Errorf("go list: %w (run this command inside the repository)", err)
	}
	if err := os.Chdir(strings.TrimSpace(string(dir))); err != nil {
		return err
	}
	if show != "" {
		return showStencil(hosts, show)
	}
	for _, t := range hosts {
		sources, err := readSources("_gen", t)
		if err != nil {
			return err
		}
		if check {
			err = sources.checkCurrent()
		} else {
			err = sources.generate()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// generate writes the tables of a host.
func (s *sources) generate() error {
	stencils, refused, err := s.compile()
	if err != nil {
		return err
	}
	for _, r := range append(s.inGo, refused...) {
		log.Print(r)
	}
	for _, name := range s.target.tables {
		text, err := s.text(name, stencils)
		if err == nil {
			err = os.WriteFile(s.target.table(name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := s.writeSums(); err != nil {
		return err
	}
	total := 0
	for _, st := range stencils {
		total += len(st.code)
	}
	log.Printf("%v: %d stencils, %d bytes of code", s.target, len(stencils), total)
	return nil
}

// showStencil prints a stencil of each host as assembly. If there is no such stencil, the error lists all names with the
// given text in them.
func showStencil(hosts []*target, name string) error {
	found := false
	var similar []string
	for _, t := range hosts {
		for _, table := range t.tables {
			text, err := os.ReadFile(t.table(table))
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				switch other, _, _ := strings.Cut(line, "\t"); {
				case strings.ContainsAny(line[:1], "#="):
				case other == name:
					s, err := disassembly.Parse(t.name, line)
					if err != nil {
						return err
					}
					found = true
					fmt.Printf("%s: ", t.table(table))
					if err := s.Print(os.Stdout); err != nil {
						return err
					}
				case strings.Contains(other, name):
					similar = append(similar, other)
				}
			}
		}
	}
	if found {
		return nil
	}
	slices.Sort(similar)
	similar = slices.Compact(similar)
	if len(similar) == 0 {
		return fmt.Errorf("no stencil is named %q; the first column of interp/internal/native/*_amd64.txt lists the names", name)
	}
	const most = 20
	list := strings.Join(similar[:min(len(similar), most)], "\n\t")
	if len(similar) > most {
		list += fmt.Sprintf("\n\t… and %d more", len(similar)-most)
	}
	return errors.New("no stencil is named " + name + "; these names contain it:\n\t" + list)
}

// Command try runs inputs for package mutate, with mutants of the machine code's engine: what package rig tries, the
// programs of package corpus, and random ones. Each runs as machine code and in Go, and the two have to be the same.
//
// With an argument it is about mutants of stencils: "stencils" writes which subjects of package rig, or tests, try which
// stencil, in JSON; "stencil SUBJECT…" reads a line of the table, and tries the subjects with it in place of the stencil's
// own. The exit status is then 1 if something differs, and 0 if nothing does.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"gemu/interp/internal/native"
	"gemu/interp/internal/native/rig"
)

func main() {
	var err error
	switch {
	case !native.Supported():
		err = fmt.Errorf("this host executes no machine code of ours")
	case len(os.Args) == 2 && os.Args[1] == "stencils":
		err = json.NewEncoder(os.Stdout).Encode(triers())
	case len(os.Args) > 2 && os.Args[1] == "stencil":
		err = stencil(os.Stdin, os.Args[2:])
	default:
		goMutants()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// try tries a subject, always in the same way.
func try(s *rig.Subject, l *native.Library, rounds int) *rig.Result {
	return s.Try(l, rand.New(rand.NewPCG(1, uint64(len(s.Name)))), rounds)
}

// trier is what tries a stencil: subjects, or else tests.
type trier struct {
	Subjects []string
	rig.Tests
}

// triers are they, by the stencil's name.
func triers() map[string]*trier {
	l := native.Host().Library()
	by := map[string]*trier{}
	for name := range l.Names() {
		if by[name] = new(trier); !rig.Unwanted(name) {
			by[name].Tests, _ = rig.Elsewhere(name)
		}
	}
	for s := range rig.Subjects() {
		for _, name := range try(&s, l, 1).Stencils {
			by[name].Subjects = append(by[name].Subjects, s.Name)
		}
	}
	return by
}

// rounds are as many as show what stencils do.
const rounds = 60

// stencil tries subjects with another line for a stencil, and ends the process if that shows.
func stencil(in io.Reader, names []string) error {
	line, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(string(line), "\t")
	l := native.Host().Library(string(line))
	for s := range rig.Subjects() {
		if !slices.Contains(names, s.Name) {
			continue
		}
		if r := try(&s, l, rounds); r.Differs != "" {
			fmt.Println(r.Differs)
			os.Exit(1)
		} else if !slices.Contains(r.Stencils, name) {
			return fmt.Errorf("%s does not try %s", s.Name, name)
		}
	}
	return nil
}

// Command _gen compiles the stencils of the native backend and writes their machine code, with the
// holes in it, to tables, for each host: for amd64 operations on rows to lanes_amd64.txt, those of fewer lanes at a time to
// narrow_amd64.txt, those that compare what they compute to agreed_amd64.txt, on single values to scalar_amd64.txt, what accesses
// memory to memory_amd64.txt, patterns_amd64.txt and vectors_amd64.txt, and what is between and around them to machine_amd64.txt. It
// needs clang 19. What a processor with AVX-512 does faster is in *_amd64_v4.txt, which have precedence there.
//
// The C of the arithmetic is made of the functions of package alu (translate.go); that of
// memory and control is in c, whose stencil.h says what a stencil is.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "only see whether the tables are of these sources")
	only := flag.String("only", "", "the tables of this `host` only, as Go calls it")
	flag.Parse()
	if *only != "" && !slices.ContainsFunc(targets, func(t *target) bool { return t.name == *only }) {
		log.Fatalf("there are no stencils for %q", *only)
	}
	for _, t := range targets {
		if *only != "" && *only != t.name {
			continue
		}
		sources, err := readSources("_gen", t)
		if err != nil {
			log.Fatal(err)
		}
		if *check {
			err = sources.checkCurrent()
		} else {
			err = sources.generate()
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// current is an error unless the tables are of these sources.
func (s *sources) checkCurrent() error {
	for _, name := range s.target.tables {
		table, err := os.ReadFile(s.target.table(name))
		if err != nil {
			return err
		}
		if first, _, _ := strings.Cut(string(table), "\n"); !strings.HasSuffix(first, s.heading()) {
			return fmt.Errorf("%s is not of these sources: go generate ./interp/internal/native, with %s", s.target.table(name), compiler)
		}
	}
	return nil
}

// generate writes the tables.
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
	total := 0
	for _, st := range stencils {
		total += len(st.code)
	}
	log.Printf("%v: %d stencils, %d bytes of code", s.target, len(stencils), total)
	return nil
}

// heading is the end of the table's first line, which says what it is of.
func (s *sources) heading() string {
	return fmt.Sprintf(" from sources of sum %s. DO NOT EDIT.", s.sum())
}

// Command launches writes the launches of package corpus as lines of JSON, to run them on a
// GPU: first a module with its source, then each launch of it with its inputs.
//
//	go run -C tools ./hardware/launches | tools/hardware/record.py
//
// Without flags it writes the launches whose results the repository's tests compare. -vary writes
// launches of tensor cores with varied operands, and -random launches of random programs. -against
// reads launches, runs them on gemu, and reports the differences from a record; -run writes the
// results, as record.py --keep does.
//
//	go build -C tools -o "$PWD/launches" ./hardware/launches
//	./launches -random 10000 -length 1 -grid 1 -block 32 >random.jsonl
//	tools/hardware/record.py --jobs 8 <random.jsonl >left.jsonl
//	./launches -against left.jsonl <random.jsonl
//
// With -known FILE, differences that the file lists are counted and not shown. testdata/hw/known.txt
// is such a file.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemu/fuzz"
	"gemu/internal/corpus"
	"gemu/ptx"
	"gemu/tools/internal/repository"
)

func main() {
	log.SetFlags(0)
	vary := flag.Int("vary", 0, "write so many variations of each launch with a seed")
	random := flag.Int("random", 0, "write so many random programs")
	shape := fuzz.Options{Version: ptx.Version{Major: 8}}
	seed := flag.Uint64("seed", 1, "of the first random program")
	flag.IntVar(&shape.Length, "length", 100, "of random programs, in statements")
	flag.IntVar(&shape.Grid, "grid", 2, "CTAs of random programs")
	block := flag.Int("block", 64, "threads of a CTA of random programs")
	record := flag.String("against", "", "compare the launches of standard input with a record")
	known := flag.String("known", "", "with -against: a file of known differences, as testdata/hw/known.txt is one")
	run := flag.Bool("run", false, "run the launches of standard input")
	sm := flag.Int("sm", 90, "generation of the device to run them on, or to make random programs for")
	flag.Parse()
	var idle []string // flags for random programs, given without -random
	flag.Visit(func(f *flag.Flag) {
		if *random == 0 && slices.Contains([]string{"seed", "length", "grid", "block"}, f.Name) || *record == "" && f.Name == "known" {
			idle = append(idle, "-"+f.Name)
		}
	})
	modes := 0
	for _, hasArgs := range []bool{*vary > 0, *random > 0, *record != "", *run} {
		if hasArgs {
			modes++
		}
	}
	out := bufio.NewWriter(os.Stdout)
	var err error
	switch {
	case modes > 1:
		err = errors.New("launches: want one of -vary, -random, -against and -run")
	case len(idle) > 0:
		err = fmt.Errorf("launches: %s: want -random with what says how random programs are, and -against with -known", strings.Join(idle, ", "))
	case flag.NArg() > 0 || *vary < 0 || *random < 0:
		err = fmt.Errorf("launches: %q, -vary %d, -random %d: want no arguments, and no negative numbers", flag.Args(), *vary, *random)
	case *record != "":
		err = compare(*record, *known, os.Stdin, out)
	case *run:
		err = runAll(os.Stdin, *sm, json.NewEncoder(out))
	default:
		shape.SM, shape.Block = *sm, ptx.Dim(*block)
		err = list(*vary, *random, *seed, shape, out)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		log.Fatal(err)
	}
}

func list(vary, random int, seed uint64, shape fuzz.Options, out io.Writer) (err error) {
	var list []*corpus.Launch
	if random > 0 {
		list, err = randomPrograms(random, seed, shape)
	} else {
		var root string
		if root, err = repository.Root(); err != nil {
			return err
		}
		if list, err = corpus.Launches(filepath.Join(root, "testdata")); err == nil && vary > 0 {
			list, err = corpus.VaryLaunches(list, vary)
		}
	}
	if err != nil {
		return err
	}
	return corpus.WriteLaunches(out, list)
}

func runAll(in io.Reader, sm int, write *json.Encoder) error {
	list, err := corpus.ReadLaunches(in)
	if err != nil {
		return err
	}
	if err := write.Encode(map[string]any{"device": "gemu", "sm": sm}); err != nil {
		return err
	}
	for _, l := range list {
		result, err := l.Run(sm, true)
		if err != nil {
			result = &corpus.LaunchOutput{ID: l.ID, Name: l.Name, Error: err.Error()}
		}
		if err := write.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

func compare(record, known string, in io.Reader, out io.Writer) error {
	text, err := os.ReadFile(record)
	if err != nil {
		return err
	}
	list, err := corpus.ReadLaunches(in)
	if err != nil {
		return err
	}
	var reasons []*corpus.Known
	if known != "" {
		text, err := os.ReadFile(known)
		if err != nil {
			return err
		}
		if reasons, err = corpus.ReadKnown(string(text)); err != nil {
			return fmt.Errorf("%s: %w", known, err)
		}
	}
	compared, differences := corpus.Compare(text, list, reasons, true)
	n := 0
	for _, k := range reasons {
		n += k.Matched
	}
	for _, d := range differences {
		fmt.Fprintln(out, d)
	}
	fmt.Fprintf(out, "%d of %d launches compared, %d differences", compared, len(list), len(differences))
	if n > 0 {
		fmt.Fprintf(out, ", and %d that are known", n)
	}
	fmt.Fprintln(out)
	if len(differences) > 0 {
		return errors.New("they differ")
	}
	return nil
}

// Command launches writes the launches of package corpus as lines of JSON, for who runs them
// elsewhere: first a module, with its source, then each launch of it with what goes into it.
//
//	go run ./internal/corpus/launches | testdata/hw/record.py
//
// Other launches than those with whose results the repository's are compared are -vary, of tensor
// cores with other operands, and -random, of random programs. -against reads launches, and says
// where what they leave on gemu is not what a record has; -run writes it, as record.py --keep does.
//
//	go run ./internal/corpus/launches -random 10000 >random.jsonl
//	testdata/hw/record.py --jobs 8 <random.jsonl >left.jsonl
//	go run ./internal/corpus/launches -against left.jsonl <random.jsonl
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

	"gemu/internal/corpus"
)

func main() {
	log.SetFlags(0)
	vary := flag.Int("vary", 0, "write so many variations of each launch with a seed")
	random := flag.Int("random", 0, "write so many random programs")
	seed := flag.Uint64("seed", 1, "of the first random program")
	against := flag.String("against", "", "compare the launches of standard input with a record")
	run := flag.Bool("run", false, "run the launches of standard input")
	sm := flag.Int("sm", 90, "generation of the device to run them on, or to make random programs for")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	var err error
	switch {
	case *against != "":
		err = compare(*against, os.Stdin, out)
	case *run:
		err = runAll(os.Stdin, *sm, json.NewEncoder(out))
	default:
		err = list(*vary, *random, *seed, *sm, json.NewEncoder(out))
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		log.Fatal(err)
	}
}

// module is a line that has the source of a module.
type module struct {
	Source string `json:"source"` // its name
	Text   string `json:"text"`
}

func list(vary, random int, seed uint64, sm int, write *json.Encoder) (err error) {
	var list []*corpus.Launch
	if random > 0 {
		list, err = corpus.Random(random, seed, sm)
	} else if list, err = corpus.Launches("testdata"); err == nil && vary > 0 {
		list, err = corpus.Vary(list, vary)
	}
	if err != nil {
		return err
	}
	written := map[string]bool{}
	for _, l := range list {
		if !written[l.Module] {
			written[l.Module] = true
			if err := write.Encode(module{l.Module, l.Source}); err != nil {
				return err
			}
		}
		if err := write.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// read reads launches.
func read(in io.Reader) (list []*corpus.Launch, err error) {
	sources := map[string]string{}
	for lines := json.NewDecoder(in); ; {
		var line struct {
			module
			corpus.Launch
		}
		switch err := lines.Decode(&line); {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, err
		case line.module.Source != "":
			sources[line.module.Source] = line.Text
			continue
		}
		line.Launch.Source = sources[line.Module]
		list = append(list, &line.Launch)
	}
}

func runAll(in io.Reader, sm int, write *json.Encoder) error {
	list, err := read(in)
	if err != nil {
		return err
	}
	for _, l := range list {
		left, err := l.Run(sm, true)
		if err != nil {
			left = &corpus.Left{ID: l.ID, Name: l.Name, Error: err.Error()}
		}
		if err := write.Encode(left); err != nil {
			return err
		}
	}
	return nil
}

func compare(record string, in io.Reader, out io.Writer) error {
	text, err := os.ReadFile(record)
	if err != nil {
		return err
	}
	list, err := read(in)
	if err != nil {
		return err
	}
	compared, differences := corpus.Compare(text, list)
	for _, d := range differences {
		fmt.Fprintln(out, d)
	}
	fmt.Fprintf(out, "%d of %d launches compared, %d differences\n", compared, len(list), len(differences))
	return nil
}

// Command launches writes the launches of package corpus as lines of JSON, for who runs them
// elsewhere: first the modules, with their sources, then each launch with what goes into it.
//
//	go run ./internal/corpus/launches | testdata/hw/record.py
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"maps"
	"os"
	"slices"

	"gemu/internal/corpus"
)

func main() {
	log.SetFlags(0)
	list, sources, err := corpus.Launches("testdata")
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	write := json.NewEncoder(out)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err := write.Encode(map[string]string{"source": name, "text": sources[name]}); err != nil {
			log.Fatal(err)
		}
	}
	for _, l := range list {
		if err := write.Encode(l); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

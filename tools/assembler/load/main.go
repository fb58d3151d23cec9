// Command load loads modules, lowers all their kernels without running them, and writes the
// outcome of each module as a line of JSON. tools/assembler/unseen.py counts the failures.
//
//	go run -C tools ./assembler/load <names of files, one a line
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"log"
	"os"

	"gemu/interp"
	"gemu/ptx"
)

// outcome is the outcome of a file.
type outcome struct {
	File        string
	Error       string   // error of the module, "" if it loads
	Kernels     int      // that it has
	Unsupported []string `json:"NotRun"`   // of kernels with legal instructions that do not run
	LowerErrors []string `json:"NotLower"` // of kernels that cannot be lowered for other reasons
}

func main() {
	log.SetFlags(0)
	write := json.NewEncoder(os.Stdout)
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		if err := write.Encode(load(names.Text())); err != nil {
			log.Fatal(err)
		}
	}
	if err := names.Err(); err != nil {
		log.Fatal(err)
	}
}

func load(file string) outcome {
	o := outcome{File: file}
	src, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	m, err := interp.NewDevice(interp.Config{}).Load(file, src)
	if err != nil {
		o.Error = err.Error()
		return o
	}
	for _, k := range m.Kernels() {
		o.Kernels++
		var unsupported *ptx.Unsupported
		switch err := m.Prepare(k.Name); {
		case errors.As(err, &unsupported):
			o.Unsupported = append(o.Unsupported, err.Error())
		case err != nil:
			o.LowerErrors = append(o.LowerErrors, err.Error())
		}
	}
	return o
}

// Command _gen compiles kernels/cuda/*.cu to PTX with Debian's clang-19 (packages clang-19 and libclang-common-19-dev)
// and writes the command into the first line of each file. A .ptx file marked as hand-written in its first line is not
// changed. Some sources have further versions: compiled with different flags, in cuda/compiled. A source with a macro
// BLOCK, the side of the thread blocks, is also compiled for blocks of 32×32 threads, as NAME32.ptx. Run it by "go
// generate ./kernels", or in kernels/ by "go run ./_gen NAME …" to compile only the named sources.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// table1 lists the workloads of table 1 of Kim et al. 2013, which are compiled with all sets of flags.
var table1 = strings.Fields("aes bfs bilat bsearch cmult conv cp kmeansum lps median mfilt nnet nqueens sgemm")

// compilations gives the additional flags, by the names in kernels.Compilations.
var compilations = map[string]string{
	"branches": noIfs,
	"rolled":   noUnrolling,
	"plain":    noIfs + " " + noUnrolling,
}

const (
	noIfs = "-mllvm -phi-node-folding-threshold=0 -mllvm -two-entry-phi-node-folding-threshold=0 -mllvm -speculate-one-expensive-inst=0 " +
		"-mllvm -spec-exec-max-speculation-cost=0 -mllvm -bonus-inst-threshold=0 -mllvm -simplifycfg-branch-fold-threshold=0 -mllvm -simplifycfg-hoist-common=0"
	noUnrolling = "-fno-unroll-loops"
)

func main() {
	log.SetFlags(0)
	if err := os.Chdir("cuda"); err != nil {
		log.Fatal(err)
	}
	sources, err := filepath.Glob("*.cu")
	if err != nil {
		log.Fatal(err)
	}
	for _, src := range sources {
		name := strings.TrimSuffix(src, ".cu")
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], name) {
			continue
		}
		if old, err := os.ReadFile(name + ".ptx"); err == nil && bytes.HasPrefix(old, []byte("// Hand-written")) {
			continue
		}
		compile(src, name+".ptx", "")
		if slices.Contains(table1, name) {
			for compilation, flags := range compilations {
				compile(src, "compiled/"+name+"."+compilation+".ptx", flags)
			}
		}
		if text, err := os.ReadFile(src); err != nil {
			log.Fatal(err)
		} else if bytes.Contains(text, []byte("#ifndef BLOCK\n")) {
			compile(src, name+"32.ptx", "-DBLOCK=32")
		}
	}
}

// compile compiles a source with additional flags to the file output, and writes the command into its first line.
func compile(src, output, flags string) {
	args := strings.Fields("-x cuda --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 --cuda-device-only -nocudainc -nocudalib -O2 " + flags + " -S " + src + " -o " + output)
	cmd := exec.Command("clang-19", args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatalf("%s: %v", src, err)
	}
	ptx, err := os.ReadFile(output)
	if err != nil {
		log.Fatal(err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "// clang-19 %s\n", strings.Join(args, " "))
	text.Write(ptx)
	if err := os.WriteFile(output, text.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

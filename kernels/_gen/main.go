// Command _gen compiles kernels/cuda/*.cu to PTX with Debian's clang-19
// (packages clang-19 and libclang-common-19-dev) and writes the command into the
// first line of each file. A .ptx whose first line says that it is hand-written is
// left alone. Some sources are compiled in other ways, too, to cuda/compiled. Run it by
// "go generate ./kernels", or in kernels/ by "go run ./_gen NAME …" to compile only those.
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

// otherwise are the workloads of table 1 of Kim et al. 2013, which are compiled in all ways.
var otherwise = strings.Fields("aes bfs bilat bsearch cmult conv cp kmeansum lps median mfilt nnet nqueens sgemm")

// ways are flags of other ways to compile, by kernels.Compilations' names.
var ways = map[string]string{
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
		if slices.Contains(otherwise, name) {
			for way, flags := range ways {
				compile(src, "compiled/"+name+"."+way+".ptx", flags)
			}
		}
	}
}

// compile compiles a source with further flags, and writes the command into the first line.
func compile(src, to, flags string) {
	args := strings.Fields("-x cuda --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 --cuda-device-only -nocudainc -nocudalib -O2 " + flags + " -S " + src + " -o " + to)
	cmd := exec.Command("clang-19", args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatalf("%s: %v", src, err)
	}
	ptx, err := os.ReadFile(to)
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "// clang-19 %s\n", strings.Join(args, " "))
	out.Write(ptx)
	if err := os.WriteFile(to, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

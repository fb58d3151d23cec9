// Command _gen compiles kernels/cuda/*.cu, and those of its folders caba, gv100 and thesis, to PTX with Debian's clang-19 (packages clang-19 and
// libclang-common-19-dev) and writes the command into the first line of each file. A .ptx file marked as hand-written in its first line is not
// changed. Some sources have further versions: compiled with different flags, in cuda/compiled. A source with a macro
// BLOCK, the side of the thread blocks, is also compiled for blocks of 32×32 threads, as NAME32.ptx. Run it by "go
// generate ./kernels", or in kernels/ by "go run ./_gen NAME …" to compile only the named workloads.
//
// nvcc compiles the current workloads (kernels.Workload.Current). These packages have it:
//
//	pip install nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37 nvidia-cuda-cccl
//
// The folder nvidia/cu13/bin of the installed packages must be on the path. Without nvcc these files stay as they are.
package main

import (
	"bytes"
	"cmp"
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

// current lists the current workloads, which nvcc compiles.
var current = map[string]struct {
	source string // name of the source without its suffix, if not the name of the workload
	flags  string
}{
	"attention":    {flags: "-arch=sm_80"},
	"bytecount":    {flags: "-arch=sm_80"},
	"fft":          {flags: "-arch=sm_80"},
	"fifthpower":   {flags: "-arch=sm_80"},
	"gemm_bf16":    {"gemm", "-arch=sm_80 -DELEMENT=BF16"},
	"gemm_f16":     {"gemm", "-arch=sm_80 -DELEMENT=F16"},
	"gemm_s8":      {"gemm", "-arch=sm_80 -DELEMENT=S8"},
	"gemm_tcgen05": {flags: "-arch=sm_100a"},
	"gemm_wgmma":   {flags: "-arch=sm_90a"},
	"layernorm":    {flags: "-arch=sm_80"},
	"quantise":     {flags: "-arch=sm_89"}, // cvt to e4m3
	"radixsort":    {flags: "-arch=sm_80"},
	"softmax":      {flags: "-arch=sm_80"},
	"zonemap":      {flags: "-arch=sm_80"},
}

func main() {
	log.SetFlags(0)
	if err := os.Chdir("cuda"); err != nil {
		log.Fatal(err)
	}
	sources, err := filepath.Glob("*.cu")
	if err != nil {
		log.Fatal(err)
	}
	for _, folder := range []string{"caba", "gv100", "thesis"} {
		list, err := filepath.Glob(folder + "/*.cu")
		if err != nil {
			log.Fatal(err)
		}
		sources = append(sources, list...)
	}
	named := func(name string) bool { return len(os.Args) == 1 || slices.Contains(os.Args[1:], name) }
	byNvcc := map[string]bool{} // sources of current workloads
	for name, w := range current {
		source := cmp.Or(w.source, name) + ".cu"
		byNvcc[source] = true
		if _, err := exec.LookPath("nvcc"); err != nil && named(name) {
			log.Printf("%s.ptx: not compiled: %v", name, err)
		} else if named(name) {
			compile("nvcc", "-ptx "+w.flags, source, name+".ptx")
		}
	}
	for _, src := range sources {
		name := strings.TrimSuffix(src, ".cu")
		if byNvcc[src] || !named(name) {
			continue
		}
		if old, err := os.ReadFile(name + ".ptx"); err == nil && bytes.HasPrefix(old, []byte("// Hand-written")) {
			continue
		}
		text, err := os.ReadFile(src)
		if err != nil {
			log.Fatal(err)
		}
		flags := ""
		if bytes.Contains(text, []byte("#pragma clang fp contract(off)\n")) {
			flags = "-ffp-contract=off" // the back end ignores the pragma
		}
		compileClassic(src, name+".ptx", flags)
		if slices.Contains(table1, name) {
			for compilation, flags := range compilations {
				compileClassic(src, "compiled/"+name+"."+compilation+".ptx", flags)
			}
		}
		if bytes.Contains(text, []byte("#ifndef BLOCK\n")) {
			compileClassic(src, name+"32.ptx", "-DBLOCK=32")
		}
	}
}

// compileClassic compiles a source by clang with additional flags to the file output.
func compileClassic(src, output, flags string) {
	compile("clang-19", "-x cuda --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 --cuda-device-only -nocudainc -nocudalib -O2 "+flags+" -S", src, output)
}

// compile compiles a source with a compiler and its flags to the file output, and writes the command into its first line.
func compile(compiler, flags, src, output string) {
	args := append(strings.Fields(flags), src, "-o", output)
	cmd := exec.Command(compiler, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatalf("%s: %v", src, err)
	}
	ptx, err := os.ReadFile(output)
	if err != nil {
		log.Fatal(err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "// %s %s\n", compiler, strings.Join(args, " "))
	text.Write(ptx)
	if err := os.WriteFile(output, text.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

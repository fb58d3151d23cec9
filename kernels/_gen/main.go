// Command _gen compiles kernels/cuda/*.cu to PTX with Debian's clang-19
// (packages clang-19 and libclang-common-19-dev) and writes the command into the
// first line of each file. A .ptx whose first line says that it is hand-written is
// left alone. Run it by "go generate ./kernels", or in kernels/ by "go run ./_gen
// NAME …" to compile only those. Of what has a BLOCK, the side of its blocks of threads, there is a
// version with blocks of 32, NAME32.ptx.
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
		if text, err := os.ReadFile(src); err != nil {
			log.Fatal(err)
		} else if bytes.Contains(text, []byte("#ifndef BLOCK\n")) {
			compile(src, name+"32.ptx", "-DBLOCK=32")
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

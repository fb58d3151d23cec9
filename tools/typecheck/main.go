// Command typecheck checks the types of the command's packages on other hosts, from source. It takes a fifth of the time of
// compiling them, and finds a file or a function in Go that a host lacks; .ci/full release compiles, with assembly, and links.
//
//	go run -C tools ./typecheck windows/amd64 darwin/arm64
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"

	"gemu/tools/internal/repository"
)

func main() {
	root, err := repository.Root()
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(2)
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "typecheck: no host: want typecheck HOST..., such as windows/amd64")
		os.Exit(2)
	}
	good := true
	for _, host := range os.Args[1:] {
		n, errs, err := check(root, host, "./cmd/gemu")
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %v\n", host, err)
			os.Exit(2)
		}
		for _, e := range errs {
			fmt.Printf("%s: %v\n", host, e)
		}
		good = good && len(errs) == 0
		fmt.Printf("%s: %d packages, %d errors\n", host, n, len(errs))
	}
	if !good {
		os.Exit(1)
	}
}

// check checks the types of the packages that match a pattern and of all packages that they import, without cgo, and
// returns the number of these packages. A host is an operating system and a processor, such as windows/amd64.
func check(dir, host, pattern string) (n int, errs []packages.Error, err error) {
	system, processor, ok := strings.Cut(host, "/")
	if !ok {
		return 0, nil, fmt.Errorf("a host must be an operating system and a processor, such as windows/amd64")
	}
	roots, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:  dir,
		Env:  append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
	}, pattern)
	packages.Visit(roots, nil, func(p *packages.Package) {
		n++
		errs = append(errs, p.Errors...)
	})
	return n, errs, err
}

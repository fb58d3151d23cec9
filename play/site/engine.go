package site

// This file finds or builds the engine in WebAssembly.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"gemu/internal/cleanup"
)

// Engine is the engine in WebAssembly, and the script of Go that loads it. Both must come from the same version of Go.
type Engine struct {
	Module   []byte // gemu.wasm
	Loader   []byte // wasm_exec.js
	Licenses []byte // the licenses of Go and of the modules in the engine, as text
}

// Names of the engine's files, which FindEngine looks for in ../lib/gemu and next to the command.
const (
	moduleName   = "gemu.wasm"
	loaderName   = "wasm_exec.js"
	licensesName = "gemu.wasm.licenses.txt"
)

// Files returns the files of the engine by name: in ../lib/gemu from a command or next to it, FindEngine finds them.
func (e *Engine) Files() map[string][]byte {
	return map[string][]byte{moduleName: e.Module, loaderName: e.Loader, licensesName: e.Licenses}
}

// FindEngine returns the engine: from files near the running command, or built by Go from the source of the command. It calls
// building before a build; the first build takes up to a minute. The error names the missing file or program and a remedy.
func FindEngine(ctx context.Context, building func()) (*Engine, error) {
	e, beside, err := besideCommand()
	if e != nil || err != nil {
		return e, err
	}
	source := sourceDir()
	program, err := exec.LookPath("go")
	switch {
	case err != nil:
		return nil, fmt.Errorf("the engine for browsers is missing: there is no %s and %s in %s, next to the command, or in ../lib/gemu, and no Go (https://go.dev/dl) on the path to build it", moduleName, loaderName, beside)
	case source == "":
		return nil, fmt.Errorf("the engine for browsers is missing: there is no %s and %s in %s, next to the command, or in ../lib/gemu, and the source of gemu is not here to build it: run the command in a clone of gemu", moduleName, loaderName, beside)
	}
	building()
	return BuildEngine(ctx, program, source)
}

// besideCommand returns the engine from ../lib/gemu, seen from the running command, or from the directory of the command; nil if it is
// in neither. dir is the directory of the command, for messages.
func besideCommand() (e *Engine, dir string, err error) {
	command, err := os.Executable()
	if err != nil {
		return nil, "the directory of the command", nil // where it is cannot be known
	}
	if resolved, err := filepath.EvalSymlinks(command); err == nil {
		command = resolved
	}
	dir = filepath.Dir(command)
	for _, of := range []string{filepath.Join(dir, "..", "lib", "gemu"), dir} {
		module, err := os.ReadFile(filepath.Join(of, moduleName))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, dir, err
		}
		e = &Engine{Module: module}
		for name, to := range map[string]*[]byte{loaderName: &e.Loader, licensesName: &e.Licenses} {
			if *to, err = os.ReadFile(filepath.Join(of, name)); err != nil {
				return nil, dir, fmt.Errorf("%s is not complete: %w", filepath.Join(of, moduleName), err)
			}
		}
		return e, dir, nil
	}
	return nil, dir, nil
}

// sourceDir returns the directory of package play/wasm: in the source from which the command was built, or else below the current
// directory; "" if it is in neither.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	for _, dir := range []string{filepath.Join(filepath.Dir(file), "..", "wasm"), filepath.Join("play", "wasm")} {
		if _, err := os.Stat(filepath.Join(dir, "main.go")); err == nil && (filepath.IsAbs(dir) || isModule()) {
			return dir
		}
	}
	return ""
}

// isModule reports whether the current directory is the root of gemu's source.
func isModule() bool {
	b, err := os.ReadFile("go.mod")
	return err == nil && bytes.HasPrefix(b, []byte("module gemu\n"))
}

// coldPackages are the packages whose functions are built without inlining, because the engine is downloaded: they are large, and run
// once for a module or a launch.
var coldPackages = []string{
	"encoding/json", "fmt", "log", "math/big", "os", "reflect", "regexp", "regexp/syntax", "text/scanner", "time",
	"github.com/alecthomas/participle/v2", "github.com/alecthomas/participle/v2/lexer",
	"gemu/argument", "gemu/internal/tensormap", "gemu/ptx", "gemu/ptx/internal/syntax", "gemu/structure", "gemu/trace",
}

// BuildEngine builds the engine with a Go command, from the directory of package play/wasm.
func BuildEngine(ctx context.Context, program, source string) (*Engine, error) {
	dir, remove, err := cleanup.Dir("", "gemu-wasm-*")
	if err != nil {
		return nil, err
	}
	defer remove()
	out := filepath.Join(dir, moduleName)
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", out}
	for _, name := range coldPackages {
		args = append(args, "-gcflags="+name+"=-l")
	}
	if _, err := runGo(ctx, program, source, "js", "wasm", false, append(args, ".")...); err != nil {
		return nil, err
	}
	module, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	root, err := goroot(ctx, program, source)
	if err != nil {
		return nil, err
	}
	loader, err := os.ReadFile(filepath.Join(root, "lib", "wasm", loaderName))
	if err != nil {
		return nil, err
	}
	texts, err := Licenses(ctx, program, source, "js", "wasm", ".")
	if err != nil {
		return nil, err
	}
	return &Engine{module, loader, texts}, nil
}

// goroot returns the directory of the Go that builds a package: the go.mod there can choose another version of Go.
func goroot(ctx context.Context, program, dir string) (string, error) {
	text, err := runGo(ctx, program, dir, "", "", false, "env", "GOROOT")
	return strings.TrimSpace(string(text)), err
}

// runGo runs a Go command for a system and a processor in a directory, and returns its output.
func runGo(ctx context.Context, program, dir, system, processor string, cgo bool, args ...string) ([]byte, error) {
	var messages bytes.Buffer
	run := exec.CommandContext(ctx, program, args...)
	run.Dir, run.Stderr = dir, &messages
	run.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	if cgo {
		run.Env = append(run.Env, "CGO_ENABLED=1")
	}
	text, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(run.Args, " "), err, messages.Bytes())
	}
	return text, nil
}

// licenseFile matches the names of files with a license.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)(\.\w+)?$`)

// Licenses returns the licenses of Go and of the modules that packages for a system and a processor contain. The packages are programs
// and libraries of gemu, as paths below a directory; program is the command of Go.
func Licenses(ctx context.Context, program, dir, system, processor string, packages ...string) ([]byte, error) {
	root, err := goroot(ctx, program, dir)
	if err != nil {
		return nil, err
	}
	const form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\n{{.Path}} {{.Version}}\t{{$.Dir}}\n{{end}}{{end}}"
	cgo := system != "js" // the libraries' packages are Go packages only with cgo; go list compiles nothing
	list, err := runGo(ctx, program, dir, system, processor, cgo, append([]string{"list", "-deps", "-f", form}, packages...)...)
	if err != nil {
		return nil, err
	}
	dirs := strings.FieldsFunc(string(list), func(r rune) bool { return r == '\n' })
	slices.Sort(dirs) // a module before its packages
	var to bytes.Buffer
	to.WriteString("gemu contains Go and these modules.\n")
	for _, line := range slices.Compact(append([]string{"Go\t" + root}, dirs...)) {
		name, dir, _ := strings.Cut(line, "\t")
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.IsDir() || !licenseFile.MatchString(f.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&to, "\n%s\n\n%s\n", name, bytes.TrimSpace(text))
		}
	}
	return to.Bytes(), nil
}

package main

// This file builds the files of a host: those that a user finds below a prefix such as /usr.

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"gemu/internal/cleanup"
	"gemu/play/site"
)

// file is a file of a release.
type file struct {
	data       []byte
	executable bool
	link       string // not "": a symbolic link to this path, relative to the directory of the link
}

// tree maps paths below the prefix to files. Paths have slashes on every host.
type tree map[string]file

// glibc is the oldest version of glibc with which the libraries for Linux run. docs/design/libraries.md has the reasons.
const glibc = "2.17"

// targets maps each host with shared libraries to zig's name of it.
var targets = map[string]string{
	"linux/amd64":   "x86_64-linux-gnu." + glibc,
	"linux/arm64":   "aarch64-linux-gnu." + glibc,
	"windows/amd64": "x86_64-windows-gnu",
}

// files returns the files of a host.
func (b *builder) files(ctx context.Context, system, processor string) (tree, error) {
	dir, remove, err := cleanup.Dir("", "gemu-release-*")
	if err != nil {
		return nil, err
	}
	defer remove()
	command := "bin/gemu"
	if system == "windows" {
		command += ".exe"
	}
	env := []string{"GOOS=" + system, "GOARCH=" + processor}
	_, err = output(ctx, b.root, append(env, "CGO_ENABLED=0"), b.program, "build", "-trimpath", "-buildvcs=auto", "-ldflags", "-s -w", "-o", filepath.Join(dir, filepath.FromSlash(command)), "./cmd/gemu")
	if err != nil {
		return nil, err
	}
	packages := []string{"./cmd/gemu"}
	target := targets[system+"/"+processor]
	withLibraries := b.zig != nil && target != ""
	if withLibraries {
		if _, err := output(ctx, b.root, append(env, "CC="+b.zig.command+" cc -target "+target), "bash", "cmd/libraries.sh", dir); err != nil {
			return nil, err
		}
		packages = append(packages, "./cmd/libgemu")
		if system == "linux" {
			packages = append(packages, "./cmd/libcuda")
		}
	}
	files, err := readTree(dir)
	if err != nil {
		return nil, err
	}
	if withLibraries && system == "linux" {
		files["lib/gemu/ptxas"] = file{link: "../../bin/gemu"}
	}
	texts, err := site.Licenses(ctx, b.program, b.root, system, processor, packages...)
	if err != nil {
		return nil, err
	}
	if withLibraries {
		more, err := b.zig.licenses(system)
		if err != nil {
			return nil, err
		}
		texts = append(texts, more...)
	}
	files["share/doc/gemu/licenses.txt"] = file{data: texts}
	for name, data := range b.engine.Files() {
		files["lib/gemu/"+name] = file{data: data}
	}
	for name, f := range b.common {
		files[name] = f
	}
	return files, nil
}

// readTree returns the files below a directory.
func readTree(dir string) (tree, error) {
	files := tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if d.Type() == fs.ModeSymlink {
			link, err := os.Readlink(name)
			files[below] = file{link: link}
			return err
		}
		data, err := os.ReadFile(name)
		files[below] = file{data: data, executable: path.Dir(below) == "bin" || strings.Contains(path.Base(below), ".so")}
		return err
	})
	return files, err
}

// accompanying returns the files that every host has: the manual page, completions and the list of changes.
func (b *builder) accompanying(ctx context.Context) (tree, error) {
	files := tree{}
	for name, args := range map[string][]string{
		"share/man/man1/gemu.1":                     {"--man"},
		"share/bash-completion/completions/gemu":    {"completion", "-c", "bash", "--program", "gemu"},
		"share/fish/vendor_completions.d/gemu.fish": {"completion", "-c", "fish", "--program", "gemu"},
		"share/doc/gemu/completion.zsh":             {"completion", "-c", "zsh", "--program", "gemu"},
	} {
		text, err := output(ctx, b.root, []string{"CGO_ENABLED=0"}, b.program, append([]string{"run", "-trimpath", "./cmd/gemu"}, args...)...)
		if err != nil {
			return nil, err
		}
		files[name] = file{data: text}
	}
	changes, err := os.ReadFile(filepath.Join(b.root, "CHANGELOG.md"))
	files["share/doc/gemu/CHANGELOG.md"] = file{data: changes}
	return files, err
}

// zigCompiler is zig, whose C compiler builds the libraries.
type zigCompiler struct {
	command string // the words of the command, separated by spaces
	lib     string // the directory of its C libraries
}

// libDir matches the directory of zig's libraries in the output of zig env.
var libDir = regexp.MustCompile(`lib_dir"?\s*[=:]\s*"([^"]+)"`)

// findZig returns the zig on the path, or that of the Python package ziglang.
func findZig(ctx context.Context) (*zigCompiler, error) {
	var tried []string
	for _, command := range []string{"zig", "python3 -m ziglang"} {
		words := strings.Fields(command)
		text, err := output(ctx, "", nil, words[0], append(words[1:], "env")...)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		m := libDir.FindSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%s env prints no lib_dir: want zig 0.13 or later", command)
		}
		return &zigCompiler{command, string(m[1])}, nil
	}
	return nil, fmt.Errorf("zig, the C compiler of the libraries, is missing: python3 -m pip install ziglang, or -libraries=false\n%s", strings.Join(tried, "\n"))
}

// licenses returns the licenses of the parts of zig, and of the C library, that are linked into the libraries for a system.
func (z *zigCompiler) licenses(system string) ([]byte, error) {
	texts := map[string]string{"zig's compiler_rt": filepath.Join(z.lib, "..", "LICENSE"), "start files of glibc": filepath.Join(z.lib, "libc", "glibc", "LICENSES")}
	names := []string{"zig's compiler_rt", "start files of glibc"}
	if system == "windows" {
		names[1] = "mingw-w64"
		texts["mingw-w64"] = filepath.Join(z.lib, "libc", "mingw", "COPYING")
	}
	var to bytes.Buffer
	for _, name := range names {
		text, err := os.ReadFile(texts[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&to, "\n%s, in the shared libraries\n\n%s\n", name, bytes.TrimSpace(text))
	}
	return to.Bytes(), nil
}

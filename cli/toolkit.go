package cli

// This file is "gemu toolkit", which lays out a CUDA toolkit from Python packages.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

type toolkitCmd struct {
	Dir    string `arg:"" type:"path" help:"Directory of the toolkit. It must be new, empty, or made by this command."`
	Python string `default:"python3" help:"Python interpreter that has NVIDIA's packages." placeholder:"PROGRAM"`
	Cuda   int    `enum:"0,12,13" default:"0" help:"Major version of CUDA: 12 or 13." unset:"13 if its packages are there, else 12" placeholder:"N"`
	Ptxas  string `enum:"gemu,nvidia" default:"gemu" help:"The assembler that nvcc runs: gemu's packs PTX, which runs on gemu, nvidia's writes machine code. gemu or nvidia." placeholder:"WHOSE"`
}

// toolkitMark is a file of each directory that gemu toolkit has made.
const toolkitMark = ".gemu-toolkit"

// toolkitParts are the parts of a toolkit, and the names of the Python packages that have them; * stands for the suffix of the
// major version.
var toolkitParts = []struct {
	name, doc string
	file      string // pattern of a file, relative to the toolkit, by which the part is found
	packages  string
}{
	{"NVRTC", "compiles CUDA C++ in a process", "lib64/libnvrtc.so.*", "nvidia-cuda-nvrtc*"},
	{"headers", "cuda.h, cuda_runtime.h", "include/cuda_runtime.h", "nvidia-cuda-runtime*"},
	{"C++ headers", "Thrust, CUB, libcu++", "include/cccl/cuda/std/version", "nvidia-cuda-cccl*"},
	{"nvcc", "compiles files of CUDA C++", "bin/nvcc", "nvidia-cuda-nvcc* nvidia-cuda-crt*"},
	{"NVVM", "the compiler of nvcc", "nvvm/bin/cicc", "nvidia-nvvm*"},
}

// Run lays out the toolkit.
func (c *toolkitCmd) Run(a *app) error {
	if runtime.GOOS != "linux" {
		return &failure{errOtherSystem, exitBad}
	}
	if _, err := exec.LookPath(c.Python); err != nil {
		return fmt.Errorf("--python: %w", err)
	}
	roots, major := c.roots(sitePackages(a.ctx, c.Python))
	if len(roots) == 0 {
		return fmt.Errorf("%s has none of NVIDIA's packages: %s", c.Python, c.install(max(c.Cuda, 13), nil))
	}
	if err := c.clear(); err != nil {
		return err
	}
	t := &toolkit{dir: c.Dir}
	for _, root := range roots {
		for _, tree := range [][2]string{{"bin", "bin"}, {"include", "include"}, {"lib", "lib64"}, {"lib64", "lib64"}, {"nvvm", "nvvm"}} {
			t.merge(filepath.Join(root, tree[0]), filepath.Join(c.Dir, tree[1]))
		}
	}
	t.finish(c.Ptxas == "gemu", major)
	if t.err != nil {
		return &failure{fmt.Errorf("%s: %w", c.Dir, t.err), exitBad}
	}
	return c.describe(a, major)
}

// roots returns the directories of packages that have parts of a toolkit, and their major version. Packages of CUDA 13 share a
// directory, those of CUDA 12 have one each.
func (c *toolkitCmd) roots(sites []string) (roots []string, major int) {
	for _, site := range sites {
		if dir := filepath.Join(site, "nvidia", "cu13"); isDirectory(dir) && c.Cuda != 12 {
			return []string{dir}, 13
		}
	}
	if c.Cuda == 13 {
		return nil, 0
	}
	for _, site := range sites {
		dirs, _ := filepath.Glob(filepath.Join(site, "nvidia", "cuda_*"))
		more, _ := filepath.Glob(filepath.Join(site, "nvidia", "nvjitlink"))
		roots = append(append(roots, dirs...), more...)
	}
	return roots, 12
}

func isDirectory(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

// install returns the command that installs packages: those of the missing parts, or of all parts if missing is nil.
func (c *toolkitCmd) install(major int, missing []string) string {
	suffix := ""
	if major == 12 {
		suffix = "-cu12"
	}
	var packages []string
	for _, p := range toolkitParts {
		if missing == nil || slices.Contains(missing, p.name) {
			packages = append(packages, strings.ReplaceAll(p.packages, "*", suffix))
		}
	}
	return fmt.Sprintf("%s -m pip install %s", c.Python, strings.Join(packages, " "))
}

// clear makes the directory, or removes the toolkit that it has.
func (c *toolkitCmd) clear() error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if !isFile(filepath.Join(c.Dir, toolkitMark)) {
			return fmt.Errorf("%s is not empty, and gemu toolkit has not made it: name another directory", c.Dir)
		}
		if err := os.RemoveAll(c.Dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, toolkitMark), []byte("gemu toolkit may replace this directory.\n"), 0o666)
}

// describe prints the parts, and how to use the toolkit.
func (c *toolkitCmd) describe(a *app, major int) error {
	var missing []string
	for _, p := range toolkitParts {
		state := "missing"
		if found, _ := filepath.Glob(filepath.Join(c.Dir, p.file)); len(found) > 0 {
			state = "found"
		} else {
			missing = append(missing, p.name)
		}
		fmt.Fprintf(a.stdout, "%-12s %-8s %s\n", p.name, state, p.doc)
	}
	if len(missing) > 0 {
		fmt.Fprintf(a.stderr, "gemu: %s installs the missing parts; then run this command again\n", c.install(major, missing))
	}
	fmt.Fprintf(a.stdout, "\nCUDA %d in %s\ngemu exec --toolkit %[2]s -- PROGRAM uses it; CUDA_PATH=%[2]s names it to other programs\n", major, c.Dir)
	return nil
}

// toolkit is a directory that a toolkit is laid out in. After an error its methods do nothing.
type toolkit struct {
	dir string
	err error
}

// try keeps the first error.
func (t *toolkit) try(err error) {
	if t.err == nil {
		t.err = err
	}
}

// link makes a link, unless a file of this name exists.
func (t *toolkit) link(target, name string) {
	if t.err != nil {
		return
	}
	if err := os.Symlink(target, name); !errors.Is(err, fs.ErrExist) {
		t.try(err)
	}
}

// merge links the files of a directory into another, and merges its directories.
func (t *toolkit) merge(from, to string) {
	entries, err := os.ReadDir(from)
	if t.err != nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	t.try(err)
	t.try(os.MkdirAll(to, 0o777))
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.IsDir():
			t.merge(source, target)
		case e.Name() == "nvcc" || e.Name() == "nvcc.profile": // nvcc finds its files relative to its own, with links resolved
			t.copy(source, target)
		default:
			t.link(source, target)
		}
	}
}

// copy makes a second name of a file, or copies it to another file system.
func (t *toolkit) copy(from, to string) {
	if t.err != nil || os.Link(from, to) == nil {
		return
	}
	in, err := os.Open(from)
	if err != nil {
		t.try(err)
		return
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o777)
	if err != nil {
		t.try(err)
		return
	}
	_, err = io.Copy(out, in)
	t.try(errors.Join(err, out.Close()))
}

// soname matches the name of a shared library with its version.
var soname = regexp.MustCompile(`^(lib.+\.so)\.[0-9.]+$`)

// finish adds what the packages lack: names of libraries without a version, by which linkers find them, the directories of other
// layouts, gemu's assembler and driver, and the version.
func (t *toolkit) finish(ptxas bool, major int) {
	lib := filepath.Join(t.dir, "lib64")
	t.try(os.MkdirAll(filepath.Join(lib, "stubs"), 0o777))
	t.try(os.MkdirAll(filepath.Join(t.dir, "include"), 0o777))
	entries, err := os.ReadDir(lib)
	t.try(err)
	for _, e := range entries {
		if m := soname.FindStringSubmatch(e.Name()); m != nil {
			t.link(e.Name(), filepath.Join(lib, m[1]))
		}
	}
	t.link("lib64", filepath.Join(t.dir, "lib"))
	target := filepath.Join(t.dir, "targets", map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH])
	t.try(os.MkdirAll(target, 0o777))
	t.link("../../include", filepath.Join(target, "include"))
	t.link("../../lib64", filepath.Join(target, "lib"))
	if libraries, err := findLibraries(os.Getenv("GEMU_LIBRARIES")); err == nil { // programs that link libcuda
		t.link(filepath.Join(libraries, driverName), filepath.Join(lib, "stubs", "libcuda.so"))
	}
	if self, err := os.Executable(); ptxas && err == nil && isDirectory(filepath.Join(t.dir, "bin")) {
		name := filepath.Join(t.dir, "bin", ptxasName)
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.try(err)
		}
		t.link(self, name)
	}
	version := fmt.Sprintf("%d.0.0", major)
	if found, _ := filepath.Glob(filepath.Join(lib, fmt.Sprintf("libnvrtc-builtins.so.%d.*", major))); len(found) > 0 {
		version = strings.TrimPrefix(filepath.Base(found[0]), "libnvrtc-builtins.so.") + ".0"
	}
	text, err := json.Marshal(map[string]any{"cuda": map[string]string{"name": "CUDA SDK", "version": version}})
	t.try(err)
	t.try(os.WriteFile(filepath.Join(t.dir, "version.json"), append(text, '\n'), 0o666))
}

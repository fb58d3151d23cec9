package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gemu/internal/cleanup"
)

// platforms maps each host to the platform tag of its wheel (packaging.python.org, "Platform compatibility tags"). The tags of Linux
// name the glibc of the libraries; Go's programs run on macOS 12 or later (go.dev/doc/go1.26).
var platforms = map[string]string{
	"linux/amd64":   "manylinux2014_x86_64.manylinux_2_17_x86_64",
	"linux/arm64":   "manylinux2014_aarch64.manylinux_2_17_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// writeWheel writes the wheel of a host into a directory and returns its name. The build hook of the Python package
// (python/hatch_build.py) chooses the place of each file.
func writeWheel(ctx context.Context, root, out, host string, files tree, date time.Time) (name string, err error) {
	platform, ok := platforms[host]
	if !ok {
		return "", fmt.Errorf("there is no platform tag of a wheel for %s", host)
	}
	dir, remove, err := cleanup.Dir("", "gemu-wheel-*")
	if err != nil {
		return "", err
	}
	defer remove()
	prefix := filepath.Join(dir, "prefix")
	if err := files.write(prefix); err != nil {
		return "", err
	}
	source := filepath.Join(dir, "python")
	if err := copyPackage(ctx, filepath.Join(root, "python"), source); err != nil {
		return "", err
	}
	env := []string{"GEMU_WHEEL_PREFIX=" + prefix, "GEMU_WHEEL_PLATFORM=" + platform, fmt.Sprint("SOURCE_DATE_EPOCH=", date.Unix())}
	if out, err = filepath.Abs(out); err != nil {
		return "", err
	}
	if _, err := output(ctx, source, env, "python3", "-m", "hatchling", "build", "-t", "wheel", "-d", filepath.Join(dir, "dist")); err != nil {
		return "", fmt.Errorf("%w\nhatchling builds the wheels: python3 -m pip install hatchling; without wheels: -kinds archive,deb,image", err)
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "dist", "*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("hatchling has made %d wheels: %w", len(wheels), err)
	}
	data, err := os.ReadFile(wheels[0])
	if err != nil {
		return "", err
	}
	name = filepath.Join(out, filepath.Base(wheels[0]))
	return name, os.WriteFile(name, data, 0o666)
}

// copyPackage copies the files of the Python package that git knows, or all of them outside a clone: a directory of work also has
// libraries for tests.
func copyPackage(ctx context.Context, from, to string) error {
	files, err := readTree(from)
	if err != nil {
		return err
	}
	if list, err := output(ctx, from, nil, "git", "ls-files", "-z"); err == nil && len(list) > 0 {
		known := tree{}
		for _, name := range bytes.Split(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
			if f, ok := files[string(name)]; ok {
				known[string(name)] = f
			}
		}
		files = known
	}
	for name, f := range files {
		if strings.HasPrefix(name, "tests/") || path.Ext(name) == ".pyc" {
			delete(files, name)
			continue
		}
		if f.link != "" { // to a file outside the package
			data, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				return err
			}
			files[name] = file{data: data}
		}
	}
	return files.write(to)
}

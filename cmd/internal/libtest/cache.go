package libtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unusedFor is the time after which a library that no test has asked for is removed from the cache.
const unusedFor = 24 * time.Hour

// build returns the path of a library of a package, by its name in the cache, and builds it if it is not there. inputs are
// files besides those of Go packages that the result depends on.
func build(t *testing.T, pkg, name string, inputs []string, flags ...string) string {
	t.Helper()
	key := sha256.New()
	fmt.Fprintf(key, "%q %q\n%s", name, flags, run(t, "go", "env", "-json",
		"GOVERSION", "GOFLAGS", "GOEXPERIMENT", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CC", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS"))
	for _, file := range append(sources(t, pkg), inputs...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(key, "%s %d\n%s", file, len(data), data)
	}
	cache, err := cacheDirectory()
	if err != nil {
		t.Fatal(err)
	}
	lib, err := cached(cache, fmt.Sprintf("%x", key.Sum(nil)), name, func(path string) error {
		run(t, "go", append(append([]string{"build", "-o", path}, flags...), pkg)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// sources returns the paths of all files of a package and its dependencies, without the standard library.
func sources(t *testing.T, pkg string) (files []string) {
	t.Helper()
	const lists = ".GoFiles .CgoFiles .CFiles .HFiles .SFiles .SysoFiles .EmbedFiles"
	var format strings.Builder
	for list := range strings.FieldsSeq(lists) {
		fmt.Fprintf(&format, `{{range %s}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, list)
	}
	out := run(t, "go", "list", "-deps", "-f", "{{if not .Standard}}"+format.String()+"{{end}}", pkg)
	for file := range strings.Lines(out) {
		if file = strings.TrimSpace(file); file != "" {
			files = append(files, file)
		}
	}
	return files
}

// cacheDirectory returns the directory that has the libraries of all test processes of this user.
func cacheDirectory() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir() // there is no home directory
	}
	dir := filepath.Join(base, "gemu-test-libraries")
	return dir, os.MkdirAll(dir, 0o777)
}

// cached returns the path of the file of a name under a key. If it is missing, make must write it at the path that it
// gets; files next to it are kept, too. Of several processes that ask at the same time, one makes the file and the others
// wait. A file appears whole or not at all.
func cached(cache, key, name string, make func(path string) error) (path string, err error) {
	unlock, err := lock(filepath.Join(cache, name+".lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	entry := filepath.Join(cache, key)
	if _, err := os.Stat(entry); err == nil {
		now := time.Now()
		return filepath.Join(entry, name), os.Chtimes(entry, now, now)
	}
	if err := removeUnused(cache); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(cache, "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) // if it could not be made
	if err := make(filepath.Join(dir, name)); err != nil {
		return "", err
	}
	return filepath.Join(entry, name), os.Rename(dir, entry)
}

// removeUnused removes libraries that no test has asked for in the last day, and rests of processes that were killed.
func removeUnused(cache string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || time.Since(info.ModTime()) < unusedFor {
			continue // a file is a lock; an entry that has vanished was removed by another process
		}
		if err := os.RemoveAll(filepath.Join(cache, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// lock locks a file, which it makes if it is missing, against other processes and other callers of lock.
func lock(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}
